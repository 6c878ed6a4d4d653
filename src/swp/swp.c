/* swp.c - points of a sweep: their values, what they change, the run of one. See swp.h. */
#include "swp_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "pool.h"
#include "stream.h"

bool swp_wanted(const sim *s) { return fam_wanted(s); }

void swp_rec_fini(swp_rec *r)
{
    vs_free(r->value);
    vs_free(r->text);
    vs_free(r->msg);
    vs_free(r->limit);
    vs_free(r->compare);
    *r = (swp_rec){0};
}

char *swp_label(const swp_book *b, const char *csv)
{
    return fam_label(b->step, vec_len(b->step), csv);
}

/* -- the run of a point -- */

static void print_line(void *user, const char *text)
{
    const swp_now *now = user;
    fprintf(now->text.to, "%s\n", text);
}

static bool asked_to_stop(void *user)
{
    swp *w = ((const swp_now *)user)->w;
    return swp_stopped(w);
}

bool swp_stopped(swp *w)
{
    w->stopped |= w->client.stop && w->client.stop(w->client.user);
    return w->stopped;
}

/* The column of a result; cards of one name and analysis have theirs in turn. A card of an .alter
 * block may have the name with another analysis. */
static size_t column_of(const swp *w, const char *name, const char *analysis, const int64_t *taken)
{
    const size_t n = vec_len(w->meas);
    size_t at = n, by_name = n;
    for (size_t i = n; i-- > 0;)
        if (w->meas[i] == name) {
            by_name = i;
            if (!str_casecmp(w->meas_of[i], analysis) && (at == n || taken[i] <= taken[at]))
                at = i;
        }
    return at < n ? at : by_name;
}

static void take_results(const swp *w, const ctl *c, swp_rec *r)
{
    const size_t n = vec_len(w->meas);
    const char *name, *analysis;
    double y;
    int64_t *taken = vs_calloc(n + 1, sizeof *taken); /* results of a column so far */
    for (size_t k = 0; c && ctl_result_at(c, k, &name, &analysis, &y); k++) {
        const size_t at = column_of(w, name, analysis, taken);
        if (at < n)
            r->value[at] = y;
        taken[at]++;
    }
    vs_free(taken);
}

bool swp_is_far(const swp *w) { return w->o->link && w->o->link->rank > 0; }

bool swp_has_name(const swp *w)
{
    struct stat sb;
    return w->o->out && strcmp(w->o->out, "-") != 0 &&
           (swp_is_far(w) ? w->sees : stat(w->o->out, &sb) || S_ISREG(sb.st_mode));
}

/* Spools of rank 0 have names, so that a kill leaves the results that a point had so far; those of
 * other ranks where a checkpoint needs them. */
static bool is_visible(const swp *w)
{
    return swp_has_name(w) && (!swp_is_far(w) || w->o->checkpoint);
}

char *swp_spool_name(const swp *w, int i)
{
    return swp_is_far(w) ? vs_text("%s.point-%d.%d", w->o->out, w->o->link->rank, i)
                         : vs_text("%s.point-%d", w->o->out, i);
}

/* The lock says that a process of a run before still computes there: other ranks outlive rank 0,
 * whose lock the result file has. */
static int open_spool_file(const char *name)
{
    int fd = -1;
    if (files_claim(name, FILES_JOURNAL))
        fd = io_open(name, O_RDWR | O_CREAT);
    if (fd < 0 || (file_lock(fd) && !ftruncate(fd, 0)))
        return fd;
    const int why = errno;
    (void)io_close(fd);
    errno = why;
    return -1;
}

int swp_spool(const swp *w, int i)
{
    const bool visible = i >= 0 && is_visible(w);
    char *name = visible                             ? swp_spool_name(w, i)
                 : swp_has_name(w) && !swp_is_far(w) ? vs_text("%s.part-XXXXXX", w->o->out)
                                                     : vs_strdup("/tmp/vsim.part-XXXXXX");
    const int fd = visible ? open_spool_file(name) : io_nameless(name);
    vs_free(name);
    return fd;
}

void swp_end_spool(swp *w, int i, int fd, bool keep)
{
    struct stat sb;
    if (fd < 0)
        return;
    keep &= is_visible(w) && !fstat(fd, &sb) && sb.st_size > 0;
    (void)io_close(fd);
    if (!is_visible(w))
        return;
    if (!keep)
        swp_keep_drop(w, i);
    char *name = swp_spool_name(w, i);
    if (!keep)
        unlink(name);
    else if (w->o->say)
        fprintf(w->o->say, "vsim: what a point under way had is in '%s'\n", name);
    vs_free(name);
}

static vs_status open_spool(swp *w, bool empty)
{
    sim *s = w->s;
    if (!w->o->out)
        return VS_OK;
    if ((empty && ftruncate(w->spool, 0)) || lseek(w->spool, 0, SEEK_SET) ||
        out_open_fd(&sim_opts(s)->out, w->spool, w->o->format))
        return VS_EIO;
    out_set_stamp(sim_opts(s)->out, &w->stamp);
    out_set_manner(sim_opts(s)->out, &sim_opts(s)->manner);
    return VS_OK;
}

static vs_status close_spool(swp *w, vs_status st)
{
    int why = 0;
    if (!out_close(&sim_opts(w->s)->out, &why))
        return st;
    diag_error(sim_diag(w->s), DIAG_NOWHERE, "the results could not be written: %s", strerror(why));
    return VS_EIO;
}

/* Runs the deck's analyses for the point.  im  NULL, or a checkpoint that its transient goes on
 * from */
static vs_status run_analyses(swp_now *now, swp_rec *r, image *im)
{
    swp *w = now->w;
    const ctl_opt co = {
        .log = now->text.to, .quiet = true, .no_measures = true, .version = w->o->version};
    vs_status st = open_spool(w, !im);
    if (st)
        return st;
    now->c = ctl_new(w->s, &co);
    if (im)
        st = swp_keep_give(now, im);
    if (!st)
        st = ctl_deck(now->c, true);
    sim_opts(w->s)->take_up = NULL;
    take_results(w, now->c, r);
    ctl_free(&now->c);
    return close_spool(w, st);
}

/* Adds the figures of the process that computed the point up to its checkpoint. */
static void count_earlier(swp_now *now)
{
    const sim_figures then = {.st = now->then}, before = {.st = now->before.st};
    sim_figures none = {0};
    sim_figures_less(&none, &then);
    sim_figures_less(&now->w->told, &before);
    sim_figures_less(&now->w->told, &none);
    now->before.st = now->then;
}

static void forget_earlier(swp_text *t)
{
    vs_free(t->earlier);
    t->earlier = NULL;
}

static vs_status run_point(swp_now *now, swp_rec *r)
{
    swp *w = now->w;
    image im;
    uint8_t *bytes;
    const diag_mark said = diag_try(sim_diag(w->s));
    if (w->o->checkpoint)
        swp_keep_drop(w, w->station); /* of the point before */
    const bool held = w->o->out && swp_keep_read(now, &im, &bytes);
    sim_opts(w->s)->hook.kept |= held;
    vs_status st = run_analyses(now, r, held ? &im : NULL);
    if (held && !im.wrong)
        count_earlier(now);
    r->went_on = held && !im.wrong && swp_is_far(w);
    if (held && im.wrong) {
        diag_take_back(sim_diag(w->s), said);
        diag_warning(sim_diag(w->s), DIAG_NOWHERE,
                     "the checkpoint of a point does not fit: %s; the point begins anew", im.wrong);
        forget_earlier(&now->text);
        forget_earlier(&now->limits);
        sim_forget_plots(w->s);
        st = run_analyses(now, r, NULL);
    }
    if (held)
        vec_free(bytes);
    r->n_bytes = w->o->out ? (int64_t)lseek(w->spool, 0, SEEK_END) : 0;
    return st;
}

/* Closes the text, with what there was before a checkpoint in front of it. Returns its length. */
static uint32_t end_text(swp_text *t)
{
    stream_close(t->to);
    if (t->earlier) {
        char *all = vs_text("%s%s", t->earlier, *t->said);
        vs_free(*t->said);
        forget_earlier(t);
        *t->said = all;
        t->n = strlen(all);
    }
    return (uint32_t)t->n;
}

/* What the results of a point are called. */
typedef struct point_names {
    char *values, *label, *touchstone;
} point_names;

static point_names name_point(swp *w, int64_t point)
{
    sim_opt *o = sim_opts(w->s);
    point_names n = {.values = fam_values(&w->fam, point)};
    n.label = swp_label(&w->book, n.values);
    if (w->touchstone)
        n.touchstone = vs_text("%s.point-%lld", w->touchstone, (long long)point + 1);
    w->stamp.values = n.values;
    o->label = n.label;
    o->touchstone = n.touchstone;
    return n;
}

static void forget_names(swp *w, point_names *n)
{
    w->stamp.values = NULL;
    sim_opts(w->s)->label = sim_opts(w->s)->touchstone = NULL;
    vs_free(n->touchstone);
    vs_free(n->label);
    vs_free(n->values);
}

void swp_point(swp *w, int64_t point, swp_rec *r)
{
    sim *s = w->s;
    if (w->fam.start_first && !w->fam.have_first)
        fam_find_first(&w->fam);
    size_t n_msg = 0, n_file = vec_len(sim_diag(s)->file);
    arena_pos mark = arena_mark(&sim_diag(s)->mem);
    *r = (swp_rec){.point = point, .value = vs_malloc((vec_len(w->meas) + 1) * sizeof *r->value)};
    for (size_t i = 0; i < vec_len(w->meas); i++)
        r->value[i] = NAN;
    FILE *msg = stream_text(&r->msg, &n_msg);
    point_names called = name_point(w, point);
    swp_now now = {
        .w = w, .point = point, .text = {.said = &r->text}, .limits = {.said = &r->limit}};
    now.text.to = stream_text(&r->text, &now.text.n);
    now.limits.to = stream_text(&r->limit, &now.limits.n);
    sim_opts(s)->limit_log = w->o->limits ? now.limits.to : NULL;
    sim_opts(s)->hook = (sim_hook){.line = print_line, .stop = asked_to_stop, .user = &now};
    swp_keep_hook(w, &sim_opts(s)->hook);
    w->kept_at = vs_coarse_seconds();
    const double t0 = vs_seconds();
    const diag_mark said = diag_try(sim_diag(s));
    sim_figures_now(s, &now.before);
    sim_why_cut(s, 0);
    w->fam.files_new = false;
    sim_fresh(s);
    vs_status st = fam_set(&w->fam, point);
    if (!st)
        st = run_point(&now, r);
    sim_tell_setup(s);
    if (!st && sim_diag(s)->n_error > said.n_error)
        st = VS_EINPUT;
    if (st == VS_STOP && !w->stopped && sim_diag(s)->n_error > said.n_error)
        st = VS_EINPUT; /* a model ended it */
    r->status = st;
    r->seconds = vs_seconds() - t0;
    snprintf(r->why, sizeof r->why, "%s", sim_why(s));
    sim_figures_now(s, &r->own);
    r->figures = r->own;
    sim_figures_less(&r->figures, &w->told);
    w->told = r->own;
    sim_figures_less(&r->own, &now.before);
    if (w->o->quiet)
        diag_keep_errors(sim_diag(s));
    diag_render_marked(sim_diag(s), msg);
    diag_clear(sim_diag(s));
    diag_take_back(sim_diag(s), said);
    if (vec_len(sim_diag(s)->file) == n_file && !w->fam.files_new)
        arena_release(&sim_diag(s)->mem, mark);
    stream_close(msg);
    sim_opts(s)->limit_log = NULL;
    r->n_text = end_text(&now.text);
    r->n_limit = end_text(&now.limits);
    r->n_msg = (uint32_t)n_msg;
    forget_names(w, &called);
    sim_opts(s)->hook = (sim_hook){0};
    sim_forget_plots(s); /* a sweep of any length needs the memory of one point */
}

/* -- the sweep -- */

/* Builds the first and the last point. If both fail, the deck is wrong as a whole, and one message
 * says so in place of one for each point. */
static vs_status check_ends(swp *w)
{
    sim *s = w->s;
    const diag_mark before = diag_try(sim_diag(s));
    vs_status st = fam_set(&w->fam, 0);
    if (!st)
        st = fam_build(s);
    if (!st)
        return VS_OK;
    const diag_mark first = diag_try(sim_diag(s));
    vs_status last = w->fam.total > 1 ? fam_set(&w->fam, w->fam.total - 1) : st;
    if (!last)
        last = fam_build(s);
    diag_take_back(sim_diag(s), last ? first : before);
    return last ? st : VS_OK;
}

static vs_status check_limits(swp *w)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(sim_flat(w->s)->limit); i++) {
        const flat_limit *l = &sim_flat(w->s)->limit[i];
        bool found = false;
        for (size_t k = 0; k < vec_len(w->meas); k++)
            if (w->meas[k] == l->name) {
                w->book.min[k] = l->min;
                w->book.max[k] = l->max;
                found = true;
            }
        if (found)
            continue;
        diag_error(sim_diag(w->s), l->span, "no measure '%s' that could have limits", l->name);
        diag_suggest(sim_diag(w->s), l->name, w->meas, vec_len(w->meas));
        st = VS_EINPUT;
    }
    return st;
}

static uint64_t identity(const swp *w)
{
    const diag *d = sim_diag(w->s);
    uint64_t id = (uint64_t)w->fam.total * 31 + w->fam.seed + (uint64_t)w->o->format;
    if (w->touchstone) /* points that are done have their files, under any name */
        id = id * 31 + 1;
    for (size_t i = 0; i < vec_len(d->file); i++) {
        const char *text = diag_text(d, (int32_t)i);
        id = id * 0x100000001b3u ^ str_hash(text, d->file[i].len);
    }
    for (size_t i = 0; i < vec_len(sim_params(w->s)); i++)
        id = id * 0x100000001b3u ^ str_hash(&sim_params(w->s)[i].value, sizeof(double)) ^
             str_hash(sim_params(w->s)[i].name, strlen(sim_params(w->s)[i].name));
    return id;
}

static void name_columns(swp *w)
{
    swp_book *b = &w->book;
    (void)fam_columns(&w->fam, &b->step);
    ctl_measure_names(w->s, &w->meas, &w->meas_of);
    b->meas = w->meas;
    for (size_t i = 0; i < vec_len(w->meas); i++) {
        vec_push(b->min, -INFINITY);
        vec_push(b->max, INFINITY);
    }
    const char *names = "";
    for (size_t i = 0; i < vec_len(b->step); i++)
        names = arena_printf(&w->mem, "%s%s%s", names, i ? "," : "", b->step[i]);
    w->stamp.names = names;
}

static int64_t date_of(const char *deck)
{
    struct stat sb;
    return stat(deck, &sb) ? 0 : (int64_t)sb.st_mtime;
}

static vs_status begin(swp *w, int64_t *next)
{
    sim *s = w->s;
    const swp_opt *o = w->o;
    name_columns(w);
    if (!fam_count(&w->fam) || check_limits(w))
        return VS_EINPUT;
    if (!swp_is_far(w))
        ctl_tell_lost_measures(s);
    fam_find_loops(&w->fam);
    w->stamp.date = date_of(o->deck);
    const bool pipe = o->out && !strcmp(o->out, "-");
    w->book.path = o->out;
    w->book.measures = o->measures;
    w->book.limits = o->limits;
    w->book.format = (int)o->format;
    w->book.csv = o->format == OUT_CSV;
    w->book.quiet = o->quiet;
    w->book.redo = o->redo;
    w->book.fsync = o->fsync;
    w->book.table = vec_len(w->meas) && !o->quiet;
    w->book.log = o->log;
    w->book.say = o->say;
    w->book.total = w->fam.total;
    w->book.n_mine = o->shard < w->fam.total ? (w->fam.total - o->shard - 1) / o->n_shard + 1 : 0;
    w->book.mc = w->fam.mc;
    w->book.shard = o->shard;
    w->book.n_shard = o->n_shard;
    w->book.id = identity(w);
    sim_many(s);
    ctl_want(s);
    vs_status st = check_ends(w);
    if (!st && (o->resume || o->n_shard > 1) && (!o->out || pipe) && !o->measures) {
        diag_error(sim_diag(s), DIAG_NOWHERE, "%s needs a result file",
                   o->resume ? "--resume" : "--shard");
        st = VS_EINPUT;
    }
    if (!st && swp_is_far(w))
        return swp_ranks_check(w);
    if (!st && o->checkpoint && !swp_has_name(w)) {
        diag_error(sim_diag(s), DIAG_NOWHERE, "--checkpoint of a sweep needs a result file");
        st = VS_EINPUT;
    }
    if (st)
        return st;
    st = swp_book_open(&w->book, o->resume, next);
    if (!st)
        st = swp_keep_find(w, *next);
    if (st)
        diag_error(sim_diag(s), DIAG_NOWHERE, "%s", w->book.why);
    return st;
}

static vs_status report(swp *w, vs_status st)
{
    const swp_book *b = &w->book;
    if (!w->o->quiet)
        fprintf(w->o->log, "sweep: %lld of %lld points%s, %lld failed\n", (long long)b->n_done,
                (long long)b->n_mine, w->o->n_shard > 1 ? " of this shard" : "",
                (long long)b->n_failed);
    if (!st && b->n_again && b->journal && !w->o->quiet)
        fprintf(w->o->log,
                "memory or processes failed for %lld of these; to compute them: the same command "
                "with --resume\n",
                (long long)b->n_again);
    if (b->n_beyond)
        diag_warning(sim_diag(w->s), DIAG_NOWHERE,
                     "devices are beyond limits of their cards at %lld points: the log tells which",
                     (long long)b->n_beyond);
    if (st == VS_STOP && w->o->checkpoint && !w->o->quiet)
        fprintf(w->o->log, "stopped; to go on: the same command with --resume\n");
    return st ? st : b->worst;
}

/* Number of the deck's text in the diag if it came from standard input, which cannot be read again;
 * -1: the deck is a file. */
static int32_t file_of(const sim *s, const char *deck)
{
    for (size_t i = 0; i < vec_len(sim_diag(s)->file) && !strcmp(deck, "/dev/stdin"); i++)
        if (!strcmp(sim_diag(s)->file[i].name, deck))
            return (int32_t)i;
    return -1;
}

vs_status swp_run(sim *s, const swp_opt *o)
{
    swp w = {.s = s, .o = o, .spool = -1};
    const sim_hook hook = sim_opts(s)->hook;
    int64_t next = 0;
    for (size_t i = 0; i < vec_len(sim_diag(s)->told); i++) /* of the deck as it is */
        map_set(&w.book.told, sim_diag(s)->told[i], 1);
    fam_init(&w.fam, s, o->deck, o->read, file_of(s, o->deck));
    arena_init(&w.mem);
    swp_book_init(&w.book);
    w.client = hook;
    w.touchstone = sim_opts(s)->touchstone;
    sim_opts(s)->hook = (sim_hook){0};
    vs_status st = begin(&w, &next);
    const bool begun = !st, serves = begun && swp_is_far(&w);
    if (begun) {
        const int jobs = o->jobs ? o->jobs : pool_processors();
        if (o->link)
            swp_stay();
        st = serves                ? swp_serve(&w, jobs)
             : jobs > 1 || o->link ? swp_workers(&w, next, jobs)
                                   : swp_alone(&w, next);
        if (!st && !serves)
            swp_keep_over(&w);
    }
    const vs_status end = swp_book_close(&w.book, !st);
    if (begun && (st < 0 || end) && *w.book.why)
        diag_error(sim_diag(s), DIAG_NOWHERE, "%s", w.book.why);
    if (begun && !serves)
        st = report(&w, st ? st : end);
    sim_opts(s)->hook = hook;
    sim_opts(s)->label = NULL;
    sim_opts(s)->touchstone = w.touchstone;
    vec_free(w.meas);
    vec_free(w.meas_of);
    vec_free(w.book.step);
    vec_free(w.book.min);
    vec_free(w.book.max);
    sim_drop_netlist(s); /* it looks into decks of the sweep */
    fam_fini(&w.fam);
    arena_fini(&w.mem);
    return st;
}
