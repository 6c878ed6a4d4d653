/* swp_keep.c - checkpoints of points under way: a sweep that goes on need not begin a long
 * transient anew. docs/checkpoint.md tells what users see.
 * Files:  RESULTS.point-I             results of the point that worker I computes (swp_spool)
 *         RESULTS.point-I.checkpoint  its number, results, text, cards and transient
 *         RESULTS.held-N, RESULTS.held-N.checkpoint  both of point N, since a sweep went on
 * The next worker I computes another point, so both get the number of theirs before anybody
 * computes. They stay until the results of the point are written. */
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
static const char CHECKPOINT[] = ".checkpoint", HELD[] = ".held-";

static char *state_name(const swp *w, int i)
{
    char *spool = swp_spool_name(w, i), *name = vs_text("%s%s", spool, CHECKPOINT);
    vs_free(spool);
    return name;
}

static char *held_name(const swp *w, int64_t point, const char *ending)
{
    return vs_text("%s%s%lld%s", w->o->out, HELD, (long long)point, ending);
}

static void drop_file(char *name)
{
    if (!access(name, F_OK) && files_claim(name, FILES_CHECKPOINT))
        unlink(name);
    vs_free(name);
}

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

static void text_image(swp_now *now, image *im)
{
    char *all = NULL;
    fflush(now->text);
    for (const char *p = now->earlier; p && *p; p++)
        vec_push(all, *p);
    for (size_t i = 0; *now->said && i < *now->n_said; i++)
        vec_push(all, (*now->said)[i]);
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
    text_image(now, im);
    IMAGE_ONE(im, before);
    ctl_image(now->c, im);
    if (im->wrong)
        return im->wrong;
    return sim_tran_image(now->w->s, im) ? im->wrong : NULL;
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
    if (why && w->o->say)
        fprintf(w->o->say, "vsim: warning: no checkpoint could be written to '%s': %s\n", name,
                why);
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
    if (w->o->say)
        fprintf(w->o->say,
                "vsim: warning: the checkpoint '%s' is not used: %s; its point begins "
                "anew\n",
                name, why);
}

/* Whether the results of the point are written: a kill may come before its checkpoint is removed.
 */
static bool is_written(const swp *w, int64_t point, int64_t next)
{
    return point < swp_mine(w, next);
}

/* Renames the checkpoint that worker i left after its point. */
static void hold(const swp *w, int i, int64_t next)
{
    image im;
    uint8_t *bytes;
    const char *why;
    int64_t point = -1;
    char *state = state_name(w, i), *spool = swp_spool_name(w, i);
    if (access(state, F_OK))
        goto end;
    if (!sim_checkpoint_read(&im, &bytes, state, &why)) {
        identity_image(w, &point, &im);
        why = im.wrong;
        vec_free(bytes);
    }
    if (why)
        not_used(w, state, why);
    if (why || is_written(w, point, next)) {
        swp_keep_drop(w, i);
        goto end;
    }
    char *held = held_name(w, point, ""), *held_state = held_name(w, point, CHECKPOINT);
    /* in this order: a kill in between leaves a state whose results have their new name already */
    if (files_claim(held, FILES_CHECKPOINT) && files_claim(held_state, FILES_CHECKPOINT))
        (void)(rename(spool, held) | rename(state, held_state));
    vs_free(held);
    vs_free(held_state);
end:
    vs_free(state);
    vs_free(spool);
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

/* BASE.point-3.checkpoint.part-4711-0: a kill came while it was written (file_begin). */
static bool is_part(const char *name, const char *base)
{
    const char *end = behind(name, base, ".point-");
    const size_t n = strlen(CHECKPOINT);
    return end && !strncmp(end, CHECKPOINT, n) && !strncmp(end + n, ".part-", strlen(".part-"));
}

/* Removes unfinished files that a killed run left, and the checkpoints of points whose results are
 * written; if the sweep begins anew (next 0), those of all points. */
static void drop_left(const swp *w, int64_t next)
{
    const char *slash = strrchr(w->o->out, '/'), *base = slash ? slash + 1 : w->o->out;
    bool found;
    arena mem;
    arena_init(&mem);
    const char *folder = arena_strndup(&mem, w->o->out, (size_t)(base - w->o->out));
    const char **name = io_names(&mem, slash ? folder : ".", &found);
    for (size_t i = 0; i < vec_len(name); i++) {
        const int64_t point = held_point(name[i], base);
        const bool over = point >= 0 && (!w->o->resume || is_written(w, point, next));
        if (over || is_part(name[i], base))
            drop_file(vs_text("%s%s", folder, name[i]));
    }
    vec_free(name);
    arena_fini(&mem);
}

void swp_keep_find(const swp *w, int64_t next)
{
    if (!swp_has_name(w))
        return;
    for (int i = 0; i < SWP_MOST_JOBS; i++)
        if (w->o->resume)
            hold(w, i, next);
        else
            swp_keep_drop(w, i);
    drop_left(w, next);
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
        now->earlier = image_text(im, NULL);
        IMAGE_ONE(im, now->then);
        ctl_image(now->c, im);
    }
    if (!im->wrong && now->w->o->say && !now->w->o->quiet)
        fprintf(now->w->o->say, "vsim: point %lld goes on from its checkpoint\n",
                (long long)now->point + 1);
    sim_opts(s)->take_up = im->wrong ? NULL : im;
    return im->wrong ? VS_EINPUT : VS_OK;
}
