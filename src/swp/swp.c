/* swp.c - points of a sweep: their values, what they change, the run of one. See swp.h. */
#include "swp_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream.h"

enum { LABEL = 2000 };

bool swp_wanted(const sim *s) { return vec_len(sim_flat(s)->step) || sim_flat(s)->mc; }

void swp_rec_fini(swp_rec *r)
{
    vs_free(r->value);
    vs_free(r->text);
    vs_free(r->msg);
    *r = (swp_rec){0};
}

/* -- numbers of points -- */

/* The index in step `i`; the sample is the first digit. */
static int64_t digit(const swp *w, int64_t point, size_t i)
{
    point /= w->mc ? w->mc : 1;
    for (size_t k = 0; k < i; k++)
        point /= w->step[k].n;
    return point % w->step[i].n;
}

void swp_values(const swp *w, int64_t point, char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target) && n < size; c++) {
            const int64_t k = digit(w, point, i);
            if (w->step[i].form == FLAT_STEP_WORDS)
                n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "," : "", w->step[i].word[k]);
            else
                n += (size_t)snprintf(text + n, size - n, "%s%.12g", n ? "," : "",
                                      flat_step_value(&w->step[i], k, c));
        }
    if (w->mc && n < size)
        snprintf(text + n, size - n, "%s%lld", n ? "," : "", (long long)(point % w->mc + 1));
}

void swp_label(const swp_book *b, const char *csv, char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (size_t i = 0; i < vec_len(b->step) && n < size; i++) {
        const size_t len = strcspn(csv, ",");
        n += (size_t)snprintf(text + n, size - n, "%s%s=%.*s", i ? " " : "", b->step[i], (int)len,
                              csv);
        csv += len + (csv[len] == ',');
    }
}

/* -- changes -- */

/* The deck once more, with other options. Standard input cannot be read twice: its text is still
 * there. */
static vs_status read_again(const swp *w, net_deck *deck, diag *d, arena *mem, net_opt no)
{
    const char *path = w->o->deck;
    if (!no.define) {
        no.define = sim_params(w->s);
        no.n_define = vec_len(sim_params(w->s));
    }
    for (size_t i = 0; i < vec_len(sim_diag(w->s)->file) && !strcmp(path, "/dev/stdin"); i++) {
        const diag_file *f = &sim_diag(w->s)->file[i];
        if (!strcmp(f->name, path))
            return net_read_text(deck, d, sim_names(w->s), mem, path, f->text, f->len, &no);
    }
    return net_read(deck, d, sim_names(w->s), mem, path, &no);
}

/* Steps of parameters that the reader asked for: an expression may ask for others at other values.
 */
static void note_loops(swp *w, const net_define *with)
{
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            for (size_t k = 0; k < vec_len(with); k++)
                if (with[k].used && w->step[i].target[c].kind == FLAT_SET_PARAM &&
                    with[k].name == w->step[i].target[c].name) {
                    vec_extend(w->loops, vec_len(w->loops) ? 0 : w->n_step);
                    w->loops[i] = true;
                }
}

/* A deck whose loops depend on what is stepped is read for each point that changes that, and not
 * kept. */
static vs_status set_loops(swp *w, int64_t point, const net_opt *no)
{
    sim *s = w->s;
    arena *mem = &w->loop_mem[w->loop_turn];
    net_deck *d = &w->loop_deck[w->loop_turn];
    const size_t told = strlen(sim_why(s));
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            if (w->step[i].target[c].kind == FLAT_SET_PARAM)
                sim_set_param(s, w->step[i].target[c].name,
                              flat_step_value(&w->step[i], digit(w, point, i), c));
    sim_why_cut(s, told);
    for (size_t i = 0; i < w->n_step; i++)
        if (w->loops[i] && w->at[i] != digit(w, point, i))
            sim_deep(s, w->step[i].target[0].text);
    sim_drop_netlist(s); /* it looks into the deck that was there */
    if (vec_len(sim_diag(s)->file) == w->file_to)
        diag_forget_files(sim_diag(s), w->file_from);
    w->file_from = vec_len(sim_diag(s)->file);
    w->files_new = true;
    arena_fini(mem);
    arena_init(mem);
    vs_status st = read_again(w, d, sim_diag(s), mem, *no);
    w->file_to = vec_len(sim_diag(s)->file);
    note_loops(w, sim_params(s));
    d->stepping = true;
    w->loop_turn ^= !st;
    return st ? st : sim_use_deck(s, d);
}

/* The decks with other sections of libraries or .alter blocks are read once and kept. */
static vs_status set_deck(swp *w, int64_t point)
{
    int32_t *section = NULL, alter = 0;
    size_t which = 0, radix = 1;
    vs_status st = VS_OK;
    for (size_t i = 0; i < w->n_step; i++)
        if (w->step[i].form == FLAT_STEP_WORDS) {
            if (w->step[i].target[0].kind == FLAT_SET_ALTER)
                alter = (int32_t)digit(w, point, i);
            else
                vec_push(section, (int32_t)digit(w, point, i));
            which += radix * (size_t)digit(w, point, i);
            radix *= (size_t)w->step[i].n;
        }
    net_opt no = w->o->read ? *w->o->read : (net_opt){0};
    no.section = section;
    no.n_section = vec_len(section);
    no.alter = alter;
    if (!w->loops && which >= vec_len(w->deck))
        vec_extend(w->deck, which + 1 - vec_len(w->deck));
    if (!w->loops && !w->deck[which]) {
        net_deck *d = arena_new(&w->mem, net_deck);
        st = read_again(w, d, sim_diag(w->s), &w->mem, no);
        d->stepping = true;
        if (!st)
            w->deck[which] = d;
    }
    if (w->loops)
        st = set_loops(w, point, &no);
    else if (!st)
        st = sim_use_deck(w->s, w->deck[which]);
    for (size_t i = 0; i < w->n_step; i++)
        if (w->step[i].form != FLAT_STEP_WORDS)
            w->at[i] = -1; /* options are those of the deck again */
    vec_free(section);
    return st;
}

static vs_status set_target(swp *w, const flat_target *t, double y)
{
    sim *s = w->s;
    switch (t->kind) {
    case FLAT_SET_PARAM: sim_set_param(s, t->name, y); return VS_OK;
    case FLAT_SET_TEMP: return sim_set_temp(s, y, t->span);
    case FLAT_SET_OPTION: return sim_set_option_number(s, t->name, y, t->span);
    case FLAT_SET_INST:
    case FLAT_SET_MODEL: {
        const sim_change c = {.name = t->name,
                              .model = t->kind == FLAT_SET_MODEL,
                              .param = t->param,
                              .value = &y,
                              .n = 1,
                              .span = t->span};
        sim_alter(s, &c);
        return VS_OK;
    }
    case FLAT_SET_LIB:
    case FLAT_SET_ALTER: break;
    }
    return VS_OK;
}

/* Only what differs from the point before is set. */
static vs_status set_point(swp *w, int64_t point)
{
    vs_status st = VS_OK;
    bool lib = false;
    for (size_t i = 0; i < w->n_step && !st; i++)
        lib |= (w->step[i].form == FLAT_STEP_WORDS || (w->loops && w->loops[i])) &&
               w->at[i] != digit(w, point, i);
    if (lib)
        st = set_deck(w, point);
    for (size_t i = 0; i < w->n_step && !st; i++) {
        const flat_step *a = &w->step[i];
        const int64_t k = digit(w, point, i);
        if (k == w->at[i])
            continue;
        w->at[i] = k;
        for (size_t c = 0; c < vec_len(a->target) && !st && a->form != FLAT_STEP_WORDS; c++)
            st = set_target(w, &a->target[c], flat_step_value(a, k, c));
        if (st)
            w->at[i] = -1;
    }
    if (w->mc)
        sim_set_sample(w->s, w->seed, point % w->mc + 1);
    w->any = true;
    return st;
}

/* -- the run of a point -- */

static vs_status build(sim *s)
{
    sim_retake_analyses(s);
    return sim_build(s);
}

/* Every process finds it by itself, so that no point's results depend on which ones it computes. */
static void find_first(swp *w)
{
    sim *s = w->s;
    bool needed[2] = {false, false};
    const diag_mark before = diag_try(sim_diag(s));
    w->have_first = true;
    if (set_point(w, 0) == VS_OK && build(s) == VS_OK) {
        for (size_t i = 0; i < vec_len(sim_flat(s)->ana); i++)
            if (sim_flat(s)->ana[i].kind != FLAT_TRAN || !sim_flat(s)->ana[i].uic)
                needed[sim_flat(s)->ana[i].kind == FLAT_TRAN] = true;
        needed[0] |= !vec_len(sim_flat(s)->ana);
        for (int tran = 0; tran < 2; tran++)
            if (needed[tran])
                sim_find_first(s, tran);
    }
    diag_take_back(sim_diag(s), before);
}

/* What the engine tells while it computes a point. */
typedef struct listener {
    swp *w;
    FILE *text;
} listener;

static void print_line(void *user, const char *text)
{
    const listener *l = user;
    fprintf(l->text, "%s\n", text);
}

static bool asked_to_stop(void *user)
{
    swp *w = ((const listener *)user)->w;
    return swp_stopped(w);
}

bool swp_stopped(swp *w)
{
    w->stopped |= w->client.stop && w->client.stop(w->client.user);
    return w->stopped;
}

static void take_results(const swp *w, const ctl *c, swp_rec *r)
{
    const size_t n = vec_len(w->meas);
    const char *name;
    double y;
    for (size_t k = 0; c && ctl_result_at(c, k, &name, &y); k++)
        for (size_t i = 0; i < n; i++)
            if (w->meas[i] == name)
                r->value[i] = y;
}

int swp_spool(const swp *w)
{
    const bool far = w->o->link && w->o->link->rank > 0; /* there need not be such a folder */
    const char *near = w->o->out && strcmp(w->o->out, "-") && !far ? w->o->out : "/tmp/vsim";
    char *name = vs_malloc(strlen(near) + 16);
    if (!name)
        return -1;
    sprintf(name, "%s.part-XXXXXX", near);
    int fd = mkstemp(name);
    if (fd >= 0) {
        unlink(name);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    vs_free(name);
    return fd;
}

static vs_status run_point(swp *w, FILE *text, swp_rec *r)
{
    sim *s = w->s;
    ctl_opt co = {.log = text,
                  .allow_shell = w->o->allow_shell,
                  .quiet = true,
                  .no_measures = true,
                  .version = w->o->version};
    if (w->o->out) {
        if (ftruncate(w->spool, 0) || lseek(w->spool, 0, SEEK_SET) ||
            out_open_fd(&sim_opts(s)->out, w->spool, w->o->format))
            return VS_EIO;
        out_set_stamp(sim_opts(s)->out, &w->stamp);
    }
    ctl *c = ctl_new(s, &co);
    vs_status st = c ? VS_OK : VS_ENOMEM;
    if (!st)
        st = ctl_deck(c, true);
    take_results(w, c, r);
    ctl_free(&c);
    int why = 0;
    if (out_close(&sim_opts(s)->out, &why)) {
        diag_error(sim_diag(s), DIAG_NOWHERE, "the results could not be written: %s",
                   strerror(why));
        st = VS_EIO;
    }
    r->n_bytes = w->o->out ? (int64_t)lseek(w->spool, 0, SEEK_END) : 0;
    return st;
}

void swp_point(swp *w, int64_t point, swp_rec *r)
{
    sim *s = w->s;
    if (w->start_first && !w->have_first)
        find_first(w);
    size_t n_text = 0, n_msg = 0, n_file = vec_len(sim_diag(s)->file);
    char values[LABEL], label[LABEL];
    arena_pos mark = arena_mark(&sim_diag(s)->mem);
    *r = (swp_rec){.point = point, .value = vs_malloc((vec_len(w->meas) + 1) * sizeof *r->value)};
    for (size_t i = 0; i < vec_len(w->meas); i++)
        r->value[i] = NAN;
    FILE *text = stream_text(&r->text, &n_text), *msg = stream_text(&r->msg, &n_msg);
    swp_values(w, point, values, sizeof values);
    swp_label(&w->book, values, label, sizeof label);
    sim_opts(s)->label = label;
    w->stamp.values = values;
    listener l = {w, text};
    sim_opts(s)->hook = (sim_hook){.line = print_line, .stop = asked_to_stop, .user = &l};
    const double t0 = vs_seconds();
    const diag_mark said = diag_try(sim_diag(s));
    sim_figures before;
    sim_figures_now(s, &before);
    sim_why_cut(s, 0);
    w->files_new = false;
    sim_fresh(s);
    vs_status st = set_point(w, point);
    if (!st)
        st = run_point(w, text, r);
    if (!st && sim_diag(s)->n_error > said.n_error)
        st = VS_EINPUT;
    if (st == VS_STOP && !w->stopped && sim_diag(s)->n_error > said.n_error)
        st = VS_EINPUT; /* a model ended it */
    r->status = st;
    r->seconds = vs_seconds() - t0;
    snprintf(r->why, sizeof r->why, "%s", sim_why(s));
    sim_figures now;
    sim_figures_now(s, &now);
    r->own = r->figures = now;
    sim_figures_less(&r->own, &before);
    sim_figures_less(&r->figures, &w->told);
    w->told = now;
    if (w->o->quiet)
        diag_keep_errors(sim_diag(s));
    diag_render(sim_diag(s), msg, false);
    diag_clear(sim_diag(s));
    diag_take_back(sim_diag(s), said);
    if (vec_len(sim_diag(s)->file) == n_file && !w->files_new)
        arena_release(&sim_diag(s)->mem, mark);
    stream_close(text);
    stream_close(msg);
    r->n_text = (uint32_t)n_text;
    r->n_msg = (uint32_t)n_msg;
    sim_opts(s)->label = NULL;
    sim_opts(s)->hook = (sim_hook){0};
    sim_forget_plots(s); /* a sweep of any length needs the memory of one point */
}

/* -- the sweep -- */

static bool count_points(swp *w)
{
    const int64_t most = INT64_C(1) << 62;
    w->total = w->mc ? w->mc : 1;
    for (size_t i = 0; i < w->n_step; i++) {
        if (w->step[i].n > most / w->total) {
            diag_error(sim_diag(w->s), w->step[i].span,
                       "the nested steps have more than 4.6e18 points together");
            return false;
        }
        w->total *= w->step[i].n;
    }
    return true;
}

/* A deck that fails at both ends is wrong as a whole; that is said once. */
static vs_status check_ends(swp *w)
{
    sim *s = w->s;
    const diag_mark before = diag_try(sim_diag(s));
    vs_status st = set_point(w, 0);
    if (!st)
        st = build(s);
    if (!st)
        return VS_OK;
    const diag_mark first = diag_try(sim_diag(s));
    vs_status last = w->total > 1 ? set_point(w, w->total - 1) : st;
    if (!last)
        last = build(s);
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

/* Loops and indices are written out when the deck is read. Which steps decide them at the first
 * point? */
static void find_loops(swp *w)
{
    net_define *with = NULL;
    net_opt no = w->o->read ? *w->o->read : (net_opt){0};
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            if (w->step[i].target[c].kind == FLAT_SET_PARAM)
                vec_push(with, ((net_define){.name = w->step[i].target[c].name,
                                             .value = flat_step_value(&w->step[i], 0, c)}));
    if (!with)
        return;
    for (size_t i = 0; i < vec_len(sim_params(w->s)); i++)
        vec_push(with, sim_params(w->s)[i]);
    diag quiet;
    arena mem;
    net_deck deck;
    diag_init(&quiet);
    quiet.variable = sim_diag(w->s)->variable;
    quiet.variable_user = sim_diag(w->s)->variable_user;
    arena_init(&mem);
    no.define = with;
    no.n_define = vec_len(with);
    (void)!read_again(w, &deck, &quiet, &mem, no);
    note_loops(w, with);
    arena_fini(&mem);
    diag_fini(&quiet);
    vec_free(with);
}

static uint64_t identity(const swp *w)
{
    const diag *d = sim_diag(w->s);
    uint64_t id = (uint64_t)w->total * 31 + w->seed + (uint64_t)w->o->format;
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
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            vec_push(b->step, w->step[i].target[c].text);
    if (w->mc)
        vec_push(b->step, "sample");
    ctl_measure_names(w->s, &w->meas);
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
    if (!count_points(w) || check_limits(w))
        return VS_EINPUT;
    find_loops(w);
    w->stamp.date = date_of(o->deck);
    const bool pipe = o->out && !strcmp(o->out, "-");
    w->book.path = o->out;
    w->book.measures = o->measures;
    w->book.format = (int)o->format;
    w->book.csv = o->format == OUT_CSV;
    w->book.quiet = o->quiet;
    w->book.redo = o->redo;
    w->book.table = vec_len(w->meas) && !o->quiet;
    w->book.log = o->log;
    w->book.say = o->say;
    w->book.total = w->total;
    w->book.n_mine = o->shard < w->total ? (w->total - o->shard - 1) / o->n_shard + 1 : 0;
    w->book.mc = w->mc;
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
    if (!st && o->link && o->link->rank > 0)
        return swp_ranks_check(w);
    if (st)
        return st;
    if ((st = swp_book_open(&w->book, o->resume, next)))
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
    return st ? st : b->worst;
}

vs_status swp_run(sim *s, const swp_opt *o)
{
    swp w = {.s = s,
             .o = o,
             .n_step = vec_len(sim_flat(s)->step),
             .step = sim_flat(s)->step,
             .mc = sim_flat(s)->mc,
             .seed = sim_flat(s)->mc_seed,
             .spool = -1};
    const sim_hook hook = sim_opts(s)->hook;
    int64_t next = 0;
    w.start_first = sim_option(s)->stepstart;
    arena_init(&w.mem);
    arena_init(&w.book.mem);
    for (int i = 0; i < 2; i++)
        arena_init(&w.loop_mem[i]);
    w.book.fd = w.book.mfd = w.book.jfd = -1;
    w.at = arena_array(&w.mem, int64_t, w.n_step + 1);
    for (size_t i = 0; i < w.n_step; i++)
        w.at[i] = -1;
    w.client = hook;
    sim_opts(s)->hook = (sim_hook){0};
    vs_status st = begin(&w, &next);
    if (!st) {
        const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        const int jobs = o->jobs ? o->jobs : cpus > 0 ? (int)cpus : 1;
        const bool serves = o->link && o->link->rank > 0;
        st = serves                ? swp_serve(&w, jobs)
             : jobs > 1 || o->link ? swp_workers(&w, next, jobs)
                                   : swp_alone(&w, next);
        vs_status end = swp_book_close(&w.book, !st);
        if ((st < 0 || end) && *w.book.why)
            diag_error(sim_diag(s), DIAG_NOWHERE, "%s", w.book.why);
        st = serves ? st : report(&w, st ? st : end);
    }
    sim_opts(s)->hook = hook;
    sim_opts(s)->label = NULL;
    vec_free(w.deck);
    vec_free(w.loops);
    vec_free(w.meas);
    vec_free(w.book.step);
    vec_free(w.book.min);
    vec_free(w.book.max);
    sim_drop_netlist(s); /* it looks into decks of the sweep */
    for (int i = 0; i < 2; i++)
        arena_fini(&w.loop_mem[i]);
    arena_fini(&w.book.mem);
    arena_fini(&w.mem);
    return st;
}
