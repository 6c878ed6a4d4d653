/* swp_keep.c - checkpoints of points under way: a sweep that goes on need not begin a long
 * transient anew. docs/checkpoint.md tells what users see.
 * Files:  RESULTS.point-I             results of the point that worker I computes (swp_spool)
 *         RESULTS.point-I.checkpoint  its number, results, text, cards and transient
 *         RESULTS.point-R.I, RESULTS.point-R.I.checkpoint  of worker I of rank R, R > 0
 *         RESULTS.held-N, RESULTS.held-N.checkpoint  both of point N, since a sweep went on
 * The next worker I computes another point, so both get the number of theirs before anybody
 * computes: rank 0 does that before the others begin. They stay until the results of the point are
 * written. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "swp_priv.h"

static const double MINUTE = 60; /* s */
static const char CHECKPOINT[] = ".checkpoint", HELD[] = ".held-", POINT[] = ".point-";

static char *state_of(const char *spool) { return vs_text("%s%s", spool, CHECKPOINT); }

static char *state_name(const swp *w, int i)
{
    char *spool = swp_spool_name(w, i), *name = state_of(spool);
    vs_free(spool);
    return name;
}

static char *held_name(const swp *w, int64_t point, const char *ending)
{
    return vs_text("%s%s%lld%s", w->o->out, HELD, (long long)point, ending);
}

static void drop_as(char *name, files_role role)
{
    if (!access(name, F_OK) && files_claim(name, role))
        unlink(name);
    vs_free(name);
}

static void drop_file(char *name) { drop_as(name, FILES_CHECKPOINT); }

void swp_keep_drop(const swp *w, int i)
{
    if (swp_has_name(w))
        drop_file(state_name(w, i));
}

void swp_keep_done(const swp *w, int64_t point)
{
    if (!w->o->resume || !swp_has_name(w))
        return;
    drop_file(held_name(w, point, CHECKPOINT));
    drop_file(held_name(w, point, ""));
}

/* -- writing -- */

static void identity_image(const swp *w, int64_t *point, image *im)
{
    IMAGE_ONE(im, *point);
    IMAGE_SAME(im, w->book.id, "it is of another sweep");
}

static void text_image(const swp_text *t, image *im)
{
    char *all = NULL;
    fflush(t->to);
    for (const char *p = t->earlier; p && *p; p++)
        vec_push(all, *p);
    for (size_t i = 0; *t->said && i < t->n; i++)
        vec_push(all, (*t->said)[i]);
    vec_push(all, 0);
    (void)image_text(im, all);
    vec_free(all);
}

static const char *put_together(swp_now *now, image *im)
{
    sim_stat before = now->before.st;
    identity_image(now->w, &now->point, im);
    if (out_image(sim_opts(now->w->s)->out, im))
        return strerror(errno);
    text_image(&now->text, im);
    text_image(&now->limits, im);
    IMAGE_ONE(im, before);
    ctl_image(now->c, im);
    if (im->wrong)
        return im->wrong;
    return sim_tran_image(now->w->s, im) ? im->wrong : NULL;
}

/* Another rank's standard error is read by nobody: what it tells goes with its point. */
static void tell_warning(const swp *w, const char *text)
{
    if (swp_is_far(w))
        diag_warning(sim_diag(w->s), DIAG_NOWHERE, "%s", text);
    else if (w->o->say)
        fprintf(w->o->say, "vsim: warning: %s\n", text);
}

static void keep(void *user)
{
    swp_now *now = user;
    swp *w = now->w;
    image im = image_take();
    char *name = state_name(w, w->station);
    const char *why = put_together(now, &im);
    if (!why && sim_checkpoint_write(&im, name))
        why = files_why(errno);
    w->kept_at = vs_coarse_seconds();
    if (why) {
        char *text = vs_text("no checkpoint could be written to '%s': %s", name, why);
        tell_warning(w, text);
        vs_free(text);
    }
    vs_free(name);
    vec_free(im.bytes);
}

static bool is_due(void *user, bool ending)
{
    const swp *w = ((const swp_now *)user)->w;
    return ending ||
           (w->o->minutes > 0 && vs_coarse_seconds() - w->kept_at >= MINUTE * w->o->minutes);
}

void swp_keep_hook(const swp *w, sim_hook *h)
{
    if (!w->o->checkpoint || !swp_has_name(w))
        return;
    h->due = is_due;
    h->keep = keep;
    h->kept = true;
}

/* -- going on -- */

static void not_used(const swp *w, const char *name, const char *why)
{
    char *text = vs_text("the checkpoint '%s' is not used: %s; its point begins anew", name, why);
    tell_warning(w, text);
    vs_free(text);
}

/* Whether the results of the point are written: a kill may come before its checkpoint is removed.
 */
static bool is_written(const swp *w, int64_t point, int64_t next)
{
    return point < swp_mine(w, next);
}

/* Renames the checkpoint that a worker left beside its spool after its point. */
static void hold(const swp *w, const char *spool, int64_t next)
{
    image im;
    uint8_t *bytes;
    const char *why;
    int64_t point = -1;
    char *state = state_of(spool);
    if (!sim_checkpoint_read(&im, &bytes, state, &why)) {
        identity_image(w, &point, &im);
        why = im.wrong;
        vec_free(bytes);
    }
    if (why)
        not_used(w, state, why);
    if (why || is_written(w, point, next)) {
        drop_file(state);
        return;
    }
    char *held = held_name(w, point, ""), *held_state = held_name(w, point, CHECKPOINT);
    /* in this order: a kill in between leaves a state whose results have their new name already */
    if (files_claim(held, FILES_CHECKPOINT) && files_claim(held_state, FILES_CHECKPOINT))
        (void)(rename(spool, held) | rename(state, held_state));
    vs_free(held);
    vs_free(held_state);
    vs_free(state);
}

/* The rest of a name BASE WORD DIGITS REST; NULL: the name has another form. */
static const char *behind(const char *name, const char *base, const char *word)
{
    const size_t n = strlen(base), k = strlen(word);
    if (strncmp(name, base, n) != 0 || strncmp(name + n, word, k) != 0)
        return NULL;
    const char *digit = name + n + k, *end = digit;
    while (isdigit((unsigned char)*end))
        end++;
    return end > digit ? end : NULL;
}

/* 12 of BASE.held-12 and of BASE.held-12.checkpoint; -1: it has another form. */
static int64_t held_point(const char *name, const char *base)
{
    const char *end = behind(name, base, HELD);
    const bool held = end && (!*end || !strcmp(end, CHECKPOINT));
    return held ? strtoll(name + strlen(base) + strlen(HELD), NULL, 10) : -1;
}

/* The rest of BASE.point-3REST and of BASE.point-1.3REST; NULL: the name has another form. */
static const char *behind_worker(const char *name, const char *base)
{
    const char *end = behind(name, base, POINT);
    if (!end || *end != '.' || !isdigit((unsigned char)end[1]))
        return end;
    for (end++; isdigit((unsigned char)*end);)
        end++;
    return end;
}

static bool is_spool(const char *name, const char *base)
{
    const char *end = behind_worker(name, base);
    return end && !*end;
}

static bool is_state(const char *name, const char *base)
{
    const char *end = behind_worker(name, base);
    return end && !strcmp(end, CHECKPOINT);
}

/* BASE.point-3.checkpoint.part-4711-0: a kill came while it was written (file_begin). */
static bool is_part(const char *name, const char *base)
{
    const char *end = behind_worker(name, base);
    const size_t n = strlen(CHECKPOINT);
    return end && !strncmp(end, CHECKPOINT, n) && !strncmp(end + n, ".part-", strlen(".part-"));
}

/* The names in the folder of the results. */
typedef struct listing {
    arena mem;
    const char *folder, *base; /* "" or with a slash at its end; the name of the results there */
    const char **name;         /* vec */
} listing;

static listing listing_of(const swp *w)
{
    const char *slash = strrchr(w->o->out, '/');
    bool found;
    listing l = {.base = slash ? slash + 1 : w->o->out};
    arena_init(&l.mem);
    l.folder = arena_strndup(&l.mem, w->o->out, (size_t)(l.base - w->o->out));
    l.name = io_names(&l.mem, slash ? l.folder : ".", &found);
    return l;
}

static void listing_fini(listing *l)
{
    vec_free(l->name);
    arena_fini(&l->mem);
}

static char *path_of(const listing *l, size_t i) { return vs_text("%s%s", l->folder, l->name[i]); }

/* A process that was killed has its locks until it has ended, a moment later. */
static bool can_lock(int fd)
{
    enum { ROUNDS = 100, PAUSE = 10000 /* us */ };
    bool can = file_lock(fd);
    for (int i = 0; i < ROUNDS && !can; i++) {
        usleep(PAUSE);
        can = file_lock(fd);
    }
    return can;
}

/* Whether no process of an earlier run computes any more. Rank 0 has the lock of the results, but
 * other ranks may live on for a while when it died. */
static bool are_alone(swp *w, const listing *l)
{
    bool alone = true;
    for (size_t i = 0; i < vec_len(l->name) && alone; i++) {
        if (!is_spool(l->name[i], l->base))
            continue;
        char *path = path_of(l, i);
        const int fd = io_open(path, O_RDWR);
        alone = fd < 0 || can_lock(fd);
        if (!alone)
            snprintf(w->book.why, sizeof w->book.why,
                     "'%s': %s: a process of the run before, which computes a point", path,
                     files_why(errno));
        if (fd >= 0)
            (void)io_close(fd);
        vs_free(path);
    }
    return alone;
}

/* Removes what a killed run left: spools, unfinished files, and the checkpoints of points whose
 * results are written; if the sweep begins anew, those of all points. */
static void drop_left(const swp *w, const listing *l, int64_t next)
{
    for (size_t i = 0; i < vec_len(l->name); i++) {
        const int64_t point = held_point(l->name[i], l->base);
        const bool over = point >= 0 && (!w->o->resume || is_written(w, point, next));
        if (is_spool(l->name[i], l->base))
            drop_as(path_of(l, i), FILES_JOURNAL);
        else if (over || is_part(l->name[i], l->base) || is_state(l->name[i], l->base))
            drop_file(path_of(l, i));
    }
}

static void hold_all(const swp *w, const listing *l, int64_t next)
{
    for (size_t i = 0; i < vec_len(l->name); i++)
        if (is_state(l->name[i], l->base)) {
            char *path = path_of(l, i);
            path[strlen(path) - strlen(CHECKPOINT)] = 0;
            hold(w, path, next);
            vs_free(path);
        }
}

vs_status swp_keep_find(swp *w, int64_t next)
{
    if (!swp_has_name(w))
        return VS_OK;
    listing l = listing_of(w);
    const bool alone = are_alone(w, &l);
    if (alone && w->o->resume)
        hold_all(w, &l, next);
    listing_fini(&l);
    if (!alone)
        return VS_EIO;
    l = listing_of(w);
    drop_left(w, &l, next);
    listing_fini(&l);
    return VS_OK;
}

void swp_keep_over(const swp *w)
{
    if (!w->o->checkpoint || !w->o->link || !swp_has_name(w))
        return;
    listing l = listing_of(w);
    drop_left(w, &l, w->book.n_mine);
    listing_fini(&l);
}

/* Copies the whole file `from` to the beginning of `to`. */
static bool copy_file(int from, int to)
{
    char some[1 << 16];
    ssize_t n = 0;
    if (ftruncate(to, 0) || lseek(to, 0, SEEK_SET))
        return false;
    while ((n = read(from, some, sizeof some)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && !io_write(to, some, (size_t)n))
            return false;
    return !n;
}

static bool copy_results(const swp *w, const char *held)
{
    const int from = io_open(held, O_RDONLY);
    const bool ok = from >= 0 && copy_file(from, w->spool);
    if (from >= 0)
        (void)io_close(from);
    return ok;
}

bool swp_keep_read(swp_now *now, image *im, uint8_t **bytes)
{
    const swp *w = now->w;
    const char *why = NULL;
    int64_t point = -1;
    *bytes = NULL;
    if (!w->o->resume || !swp_has_name(w))
        return false;
    char *held = held_name(w, now->point, ""), *state = held_name(w, now->point, CHECKPOINT);
    const bool there = !access(state, F_OK);
    if (there && !sim_checkpoint_read(im, bytes, state, &why)) {
        identity_image(w, &point, im);
        why = im->wrong;
        if (!why && !copy_results(w, held))
            why = files_why(errno);
    }
    if (why) {
        not_used(w, state, why);
        vec_free(*bytes);
    }
    vs_free(held);
    vs_free(state);
    return there && !why;
}

vs_status swp_keep_give(swp_now *now, image *im)
{
    sim *s = now->w->s;
    vs_status st = out_image(sim_opts(s)->out, im);
    if (st == VS_EIO)
        im->wrong = "its results cannot be read";
    if (!im->wrong) {
        now->text.earlier = image_text(im, NULL);
        now->limits.earlier = image_text(im, NULL);
        IMAGE_ONE(im, now->then);
        ctl_image(now->c, im);
    }
    if (!im->wrong && !swp_is_far(now->w) && now->w->o->say && !now->w->o->quiet)
        fprintf(now->w->o->say, "vsim: point %lld goes on from its checkpoint\n",
                (long long)now->point + 1);
    sim_opts(s)->take_up = im->wrong ? NULL : im;
    return im->wrong ? VS_EINPUT : VS_OK;
}
