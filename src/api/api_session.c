/* api_session.c - commands one at a time (session.h): circuits, plots that outlive them, and the
 * interpreter of src/ctl that works on the current one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api_priv.h"
#include "ctl.h"
#include "stream.h"

enum { MAX_CIRCUITS = 64 };

typedef struct circuit {
    vsim_deck *deck;
    size_t file_from, file_to; /* texts in the diag that go with it */
} circuit;

struct vsim_session {
    vsim *s;
    vsim_session *next;
    arena mem;
    vsim_session_options o;
    post_set plots;
    const char *program; /* as raw files have it */
    sim *none;           /* an engine without elements, for when there is no circuit */
    circuit *circuit;    /* vec, oldest first */
    size_t current;      /* of them; vec_len: none */
    ctl *ctl;
    FILE *log; /* of the interpreter, passed on line by line */
    char *log_text;
    char **line; /* vec: of blocks whose end has not come; of circbyline */
    char **card;
    int depth;
    const post_plot *begun; /* the plot that `begin` was told of */
    bool quit;
    int code;
    double *at; /* vec, rising: times at which steps end */
};

void vsim_session_options_init_size(vsim_session_options *o, size_t size)
{
    memset(o, 0, size);
    o->size = size;
}

/* -- what is printed -- */

static void give_line(vsim_session *p, vsim_output to, const char *text)
{
    if (!p->o.line)
        return;
    api_leave_to_host(p->s);
    p->o.line(p->o.user, to, text);
    api_back_from_host(p->s);
}

static void give_lines(vsim_session *p, vsim_output to, char *text)
{
    while (*text) {
        char *end = text + strcspn(text, "\n");
        const bool more = *end;
        *end = 0;
        give_line(p, to, text);
        text = end + more;
    }
}

static void give_message(vsim_session *p, const vsim_message *m)
{
    if (p->o.message) {
        api_leave_to_host(p->s);
        p->o.message(p->o.user, m);
        api_back_from_host(p->s);
        return;
    }
    const size_t n = vsim_message_format(m, NULL, 0) + 1;
    char *text = vs_malloc(n);
    (void)vsim_message_format(m, text, n);
    give_lines(p, VSIM_TO_ERR, text);
    vs_free(text);
}

/* What was printed and said since the last time. */
static void flush(void *user)
{
    vsim_session *p = user;
    if (ftell(p->log) > 0) {
        FILE *log = p->log;
        char *text;
        (void)stream_close(log);
        text = p->log_text;
        p->log = stream_text(&p->log_text, NULL);
        ctl_set_log(p->ctl, p->log);
        give_lines(p, VSIM_TO_OUT, text);
        vs_free(text);
    }
    const size_t from = vec_len(p->s->message);
    api_take_messages(p->s);
    for (size_t i = from; i < vec_len(p->s->message); i++)
        give_message(p, &p->s->message[i]);
}

/* -- what the engine tells -- */

static void print_line(void *user, const char *text) { give_line(user, VSIM_TO_OUT, text); }

static bool asked(vsim_session *p)
{
    if (!p->o.stop)
        return false;
    api_leave_to_host(p->s);
    const bool stop = p->o.stop(p->o.user);
    api_back_from_host(p->s);
    return stop;
}

static bool asked_to_stop(void *user)
{
    vsim_session *p = user;
    return !(p->ctl && ctl_in_transient(p->ctl)) && asked(p);
}

static void tell_plot(vsim_session *p, void (*hear)(void *, const vsim_plot *))
{
    if (!hear)
        return;
    api_leave_to_host(p->s);
    hear(p->o.user, api_plot(p->plots.current));
    api_back_from_host(p->s);
}

static void tell_point(vsim_session *p)
{
    if (p->begun != p->plots.current) {
        p->begun = p->plots.current;
        tell_plot(p, p->o.begin);
    }
    tell_plot(p, p->o.point);
}

static vs_status take_point(void *user, double axis, const double *x, const double *z)
{
    vsim_session *p = user;
    (void)axis;
    (void)x;
    (void)z;
    tell_point(p);
    if (p->circuit[p->current].deck->host_wrong)
        return VS_EINPUT;
    return ctl_is_break(p->ctl) || (ctl_in_transient(p->ctl) && asked(p)) ? VS_PAUSED : VS_OK;
}

static vs_status take_row(void *user, const double *row, size_t n)
{
    (void)row;
    (void)n;
    tell_point(user);
    return VS_OK;
}

static void take_progress(void *user, double fraction, double axis, const char *unit,
                          const ana_stat *st)
{
    vsim_session *p = user;
    const vsim_progress now = {fraction, axis, unit, st->points_accepted, st->iterations};
    if (!p->o.progress)
        return;
    api_leave_to_host(p->s);
    p->o.progress(p->o.user, &now);
    api_back_from_host(p->s);
}

static bool take_step(void *user, double time, double *h, double last, bool refused)
{
    vsim_session *p = user;
    api_leave_to_host(p->s);
    const bool again = p->o.sync(p->o.user, time, h, last, refused);
    api_back_from_host(p->s);
    return again;
}

static double next_time(void *user, double t)
{
    const vsim_session *p = user;
    for (size_t i = 0; i < vec_len(p->at); i++)
        if (p->at[i] > t)
            return p->at[i];
    return INFINITY;
}

static double next_stop(void *user, double t)
{
    const vsim_session *p = user;
    return ctl_next_stop(p->ctl, t);
}

static void tell_end(vsim_session *p, bool paused)
{
    if (p->o.end) {
        api_leave_to_host(p->s);
        p->o.end(p->o.user, api_plot(p->begun), paused);
        api_back_from_host(p->s);
    }
    p->begun = NULL;
}

static void analysed(void *user, const flat_ana *a, const sim_stat *before, double t0, vs_status st)
{
    vsim_session *p = user;
    (void)a;
    (void)before;
    (void)t0;
    tell_end(p, st == VS_PAUSED);
    flush(p);
}

static void listen(vsim_session *p, sim *e)
{
    sim_opt *o = sim_opts(e);
    o->hook = (sim_hook){.line = print_line,
                         .progress = take_progress,
                         .stop = asked_to_stop,
                         .point = take_point,
                         .row = take_row,
                         .sync = p->o.sync ? take_step : NULL,
                         .next = next_time,
                         .mark = next_stop,
                         .user = p};
    o->keep = SIM_KEEP_ALL;
    o->plots = &p->plots;
    o->manner = (out_manner){.program = p->program, .ngspice = p->o.ngspice};
}

/* -- external sources -- */

typedef struct external {
    vsim_deck *deck;
    const char *name;
} external;

static double ask_value(void *user, double t)
{
    const external *e = user;
    vsim_session *p = e->deck->session;
    api_leave_to_host(p->s);
    const double v = p->o.source(p->o.user, e->name, t);
    api_back_from_host(p->s);
    if (isfinite(v))
        return v;
    if (!e->deck->host_wrong)
        diag_error(&p->s->d, DIAG_NOWHERE,
                   "the host gives source '%s' a value that is not finite at t = %.9g s", e->name,
                   t);
    e->deck->host_wrong = true;
    return 0;
}

/* Sources that the deck calls external get their values from the host. */
static void connect(vsim_session *p, vsim_deck *d)
{
    const flat *f = sim_flat(d->sim);
    for (size_t i = 0; i < vec_len(f->inst) && f->n_external && p->o.source; i++) {
        const flat_inst *in = &f->inst[i];
        if (!in->rare->source || !in->rare->source->external)
            continue;
        external *e = arena_new(&d->mem, external);
        e->deck = d;
        const bool deep = (in->name[0] | 0x20) == 'x'; /* in a subcircuit */
        e->name = deep ? arena_printf(&d->mem, "%c.%s", in->letter, in->name) : in->name;
        sim_set_wave(d->sim, in->name, &(nat_wave){.value = ask_value, .user = e});
    }
}

/* -- circuits -- */

static bool is_current(const vsim_session *p) { return p->current < vec_len(p->circuit); }

/* Whether other circuits of this simulator use its models: those of the session are not built. */
static bool others_use_models(const vsim_session *p)
{
    bool any = p->next || p->s->session != p;
    for (const vsim_deck *d = p->s->deck; d && !any; d = d->next)
        any = d->session != p;
    return any;
}

static void use(vsim_session *p, size_t k)
{
    ctl_use(p->ctl, p->none, true); /* ends what is paused */
    if (is_current(p))
        sim_drop_netlist(p->circuit[p->current].deck->sim);
    p->current = k;
    if (!is_current(p))
        return;
    sim *e = p->circuit[k].deck->sim;
    sim_opts(e)->shared_models = others_use_models(p);
    ctl_use(p->ctl, e, false);
}

static void forget_circuit(vsim_session *p, size_t k)
{
    const circuit c = p->circuit[k];
    for (size_t i = k; i + 1 < vec_len(p->circuit); i++)
        p->circuit[i] = p->circuit[i + 1];
    (void)vec_pop(p->circuit);
    (void)api_drop_deck(c.deck);
    diag_drop_files(&p->s->d, c.file_from, c.file_to);
}

/* The current one; the newest of the others follows. */
static void remove_current(vsim_session *p)
{
    const size_t k = p->current;
    use(p, SIZE_MAX);
    p->current = SIZE_MAX;
    forget_circuit(p, k);
    if (vec_len(p->circuit))
        use(p, vec_len(p->circuit) - 1);
}

static vs_status run_blocks(vsim_session *p, sim *e)
{
    const diag_span *line = sim_deck(e)->control;
    return ctl_has_block(e) ? ctl_lines(p->ctl, line, vec_len(line), &p->quit, &p->code) : VS_OK;
}

/* text NULL: `name` is a file. */
static vs_status load(vsim_session *p, const char *name, const char *text, size_t len,
                      const vsim_read *how)
{
    vsim_deck *d = NULL;
    circuit c = {.file_from = vec_len(p->s->d.file)};
    const int errors = p->s->d.n_error;
    vs_status st = api_read_deck(p->s, name, text, len, how, p->o.ngspice, &d);
    c.file_to = vec_len(p->s->d.file);
    if (!st) {
        d->session = p;
        connect(p, d);
        use(p, SIZE_MAX); /* its circuit goes before the models of the new one come */
        listen(p, d->sim);
        sim_opts(d->sim)->shared_models = others_use_models(p);
        ctl_want(d->sim);
        sim_opts(d->sim)->keep = SIM_KEEP_ALL;
        if (vec_len(sim_flat(d->sim)->inst))
            st = sim_build(d->sim);
        if (!st)
            st = ctl_check(d->sim, false);
        if (!st && p->s->d.n_error > errors)
            st = VS_EINPUT;
    }
    flush(p);
    if (st) {
        if (d)
            (void)api_drop_deck(d);
        diag_drop_files(&p->s->d, c.file_from, c.file_to);
        if (!is_current(p) && vec_len(p->circuit))
            use(p, vec_len(p->circuit) - 1);
        return st;
    }
    c.deck = d;
    vec_push(p->circuit, c);
    p->current = vec_len(p->circuit) - 1;
    use(p, p->current);
    if (vec_len(p->circuit) > MAX_CIRCUITS) {
        forget_circuit(p, 0);
        p->current--;
    }
    return run_blocks(p, d->sim);
}

/* -- commands of the interpreter that only a session has -- */

/* As ngspice, the newest is number 1. */
static void list_circuits(vsim_session *p)
{
    fputs("List of circuits loaded:\n\n", p->log);
    const size_t n = vec_len(p->circuit);
    for (size_t i = n; i-- > 0;)
        fprintf(p->log, "%s\t%zu\t%s\n", i == p->current ? "Current" : "", n - i,
                vsim_deck_title(p->circuit[i].deck));
}

static vs_status set_circuit(vsim_session *p, const char *text)
{
    char *end;
    if (!*text) {
        list_circuits(p);
        return VS_OK;
    }
    const size_t n = vec_len(p->circuit);
    const unsigned long k = strtoul(text, &end, 10);
    if (*end || k < 1 || k > n)
        return ctl_fail(p->ctl, "setcirc takes the number of a circuit, from 1 to %zu", n);
    use(p, n - k);
    return VS_OK;
}

static void forget_cards(vsim_session *p)
{
    for (size_t i = 0; i < vec_len(p->card); i++)
        vs_free(p->card[i]);
    vec_clear(p->card);
}

/* The lines of a circuit one by one; .end loads it. */
static vs_status circuit_by_line(vsim_session *p, const char *text)
{
    char *copy = vs_strdup(text);
    vec_push(p->card, copy);
    if (str_casecmp(text, ".end"))
        return VS_OK;
    char *all = NULL;
    size_t n = 0;
    FILE *f = stream_text(&all, &n);
    for (size_t i = 0; i < vec_len(p->card); i++)
        fprintf(f, "%s\n", p->card[i]);
    (void)stream_close(f);
    forget_cards(p);
    const vs_status st = load(p, "circbyline", all, n, NULL);
    vs_free(all);
    return st;
}

static vs_status source(vsim_session *p, const char *text)
{
    char **w = ctl_words(p->ctl, text);
    vs_status st = vec_len(w) == 1 ? VS_OK : ctl_fail(p->ctl, "source takes one file");
    if (!st)
        st = load(p, w[0], NULL, 0, NULL);
    vec_free(w);
    return st;
}

static vs_status change_folder(vsim_session *p, const char *text)
{
    if (!p->o.folder)
        return ctl_fail(p->ctl, "'cd' is refused: the folder is the host's");
    char **w = ctl_words(p->ctl, text);
    api_leave_to_host(p->s);
    const int bad = p->o.folder(p->o.user, vec_len(w) ? w[0] : "");
    api_back_from_host(p->s);
    const vs_status st =
        bad ? ctl_fail(p->ctl, "folder '%s' cannot be entered", vec_len(w) ? w[0] : "") : VS_OK;
    vec_free(w);
    return st;
}

static vs_status session_command(void *user, const char *word, const char *text)
{
    vsim_session *p = user;
    if (!str_casecmp(word, "source"))
        return source(p, text);
    if (!str_casecmp(word, "setcirc"))
        return set_circuit(p, text);
    if (!str_casecmp(word, "circbyline"))
        return circuit_by_line(p, text);
    if (!str_casecmp(word, "cd"))
        return change_folder(p, text);
    if (!is_current(p)) /* remcirc */
        return ctl_fail(p->ctl, "there is no circuit to remove");
    remove_current(p);
    return VS_OK;
}

static int start_program(void *user, const char *command)
{
    vsim_session *p = user;
    api_leave_to_host(p->s);
    const int status = p->o.shell(p->o.user, command);
    api_back_from_host(p->s);
    return status;
}

/* -- begin, end -- */

typedef struct request { /* of a host */
    vsim *s;
    vsim_session *p;
    const vsim_session_options *o;
    const char *name, *text; /* a command: text */
    size_t len;
    const vsim_read *how;
} request;

static void copy_options(vsim_session *p, const vsim_session_options *o)
{
    vsim_session_options_init(&p->o);
    if (o)
        memcpy(&p->o, o, o->size < sizeof p->o ? o->size : sizeof p->o);
    const char *version = p->o.version;
    p->program = arena_printf(&p->mem, "vsim %s", vsim_version());
    p->o.version = version ? arena_strndup(&p->mem, version, strlen(version)) : p->program;
}

/* Names of results, expressions and variables need an engine, circuit or not. */
static vs_status make_empty(vsim_session *p)
{
    static const char text[] = "no circuit\n.end\n";
    static const net_opt plain = {0};
    p->none = sim_new(&p->s->d, &p->s->names);
    sim_opts(p->none)->lib = p->s->lib;
    listen(p, p->none);
    vs_status st = sim_read_text(p->none, "no circuit", text, sizeof text - 1, &plain);
    if (!st)
        st = sim_read_options(p->none);
    if (!st)
        st = sim_flatten(p->none);
    return st;
}

static vs_status do_new(void *arg)
{
    request *a = arg;
    vsim *s = a->s;
    if (!api_may_change(s, "vsim_session_new"))
        return VS_EINPUT;
    if (!s->lib) {
        diag_error(&s->d, DIAG_NOWHERE, "the simulator could not be made, see vsim_new");
        return VS_EINPUT;
    }
    vsim_session *p = a->p = vs_calloc(1, sizeof *p);
    p->s = s;
    p->next = s->session;
    s->session = p;
    p->current = SIZE_MAX;
    arena_init(&p->mem);
    post_set_init(&p->plots, &s->names);
    copy_options(p, a->o);
    p->log = stream_text(&p->log_text, NULL);
    const vs_status st = make_empty(p);
    if (st)
        return st;
    const ctl_opt co = {.log = p->log,
                        .version = p->o.version,
                        .analysed = analysed,
                        .flush = flush,
                        .shell = p->o.shell ? start_program : NULL,
                        .session = session_command,
                        .user = p};
    p->ctl = ctl_new(p->none, &co);
    ctl_use(p->ctl, p->none, true);
    return VS_OK;
}

static void forget_lines(vsim_session *p)
{
    for (size_t i = 0; i < vec_len(p->line); i++)
        vs_free(p->line[i]);
    vec_clear(p->line);
    p->depth = 0;
}

void api_drop_session(vsim_session *p)
{
    vsim_session **at = &p->s->session;
    while (*at != p)
        at = &(*at)->next;
    if (p->ctl)
        ctl_use(p->ctl, p->none, true);
    *at = p->next;
    while (vec_len(p->circuit))
        forget_circuit(p, vec_len(p->circuit) - 1);
    vec_free(p->circuit);
    ctl_free(&p->ctl);
    sim_free(&p->none);
    (void)stream_close(p->log);
    vs_free(p->log_text);
    forget_lines(p);
    vec_free(p->line);
    forget_cards(p);
    vec_free(p->card);
    vec_free(p->at);
    post_set_fini(&p->plots);
    arena_fini(&p->mem);
    vs_free(p);
}

static vs_status do_free(void *arg)
{
    api_drop_session(arg);
    return VS_OK;
}

vsim_status vsim_session_new(vsim *s, const vsim_session_options *o, vsim_session **out)
{
    request a = {.s = s, .o = o};
    *out = NULL;
    const vsim_status st = api_enter(s, do_new, &a);
    if (!st)
        *out = a.p;
    else if (a.p)
        api_release(s, do_free, a.p);
    return st;
}

void vsim_session_free(vsim_session **p)
{
    if (*p)
        api_release((*p)->s, do_free, *p);
    *p = NULL;
}

/* -- calls -- */

static vs_status ending(const vsim_session *p, vs_status st)
{
    if (p->quit)
        return VS_STOP;
    return st;
}

static vs_status do_load(void *arg)
{
    const request *a = arg;
    if (!api_may_change(a->p->s, "vsim_session_file"))
        return VS_EINPUT;
    const vs_status st = load(a->p, a->name, a->text, a->len, a->how);
    flush(a->p);
    return ending(a->p, st);
}

vsim_status vsim_session_file(vsim_session *p, const char *path, const vsim_read *how)
{
    request a = {.p = p, .name = path, .how = how};
    return api_enter(p->s, do_load, &a);
}

vsim_status vsim_session_text(vsim_session *p, const char *name, const char *text, size_t len,
                              const vsim_read *how)
{
    request a = {.p = p, .name = name, .text = text, .len = len, .how = how};
    return api_enter(p->s, do_load, &a);
}

/* The lines that wait, as one text of the diag while they run. */
static vs_status run_lines(vsim_session *p)
{
    diag *d = &p->s->d;
    diag_span *at = NULL;
    char *all = NULL;
    size_t n = 0;
    FILE *f = stream_text(&all, &n);
    const size_t from = vec_len(d->file);
    for (size_t i = 0; i < vec_len(p->line); i++) {
        const size_t blank = strspn(p->line[i], " \t"), len = strlen(p->line[i]);
        const diag_span one = {(int32_t)from, (uint32_t)((size_t)ftell(f) + blank),
                               (uint32_t)(len - blank)};
        vec_push(at, one);
        fprintf(f, "%s\n", p->line[i]);
    }
    (void)stream_close(f);
    (void)diag_add_file(d, "command", all, n, DIAG_NOWHERE);
    vs_free(all);
    forget_lines(p);
    const vs_status st = ctl_lines(p->ctl, at, vec_len(at), &p->quit, &p->code);
    flush(p);
    vec_free(at);
    bool stays = false; /* a circuit was read behind it */
    for (size_t i = 0; i < vec_len(p->circuit); i++)
        stays |= p->circuit[i].file_from >= from;
    if (stays)
        diag_drop_files(d, from, from + 1);
    else
        diag_forget_files(d, from);
    return st;
}

static vs_status do_command(void *arg)
{
    const request *a = arg;
    vsim_session *p = a->p;
    if (!api_may_change(p->s, "vsim_session_command"))
        return VS_EINPUT;
    if (is_current(p))
        api_use_files(p->circuit[p->current].deck);
    char *copy = vs_strdup(a->text);
    vec_push(p->line, copy);
    p->depth += ctl_opens(a->text);
    p->quit = false;
    p->begun = NULL;
    if (p->depth > 0)
        return VS_OK;
    p->depth = 0;
    return ending(p, run_lines(p));
}

vsim_status vsim_session_command(vsim_session *p, const char *line)
{
    request a = {.p = p, .text = line};
    return api_enter(p->s, do_command, &a);
}

static vs_status do_forget(void *arg)
{
    forget_lines(arg);
    return VS_OK;
}

void vsim_session_forget(vsim_session *p) { api_release(p->s, do_forget, p); }

typedef struct new_time {
    vsim_session *p;
    double t;
} new_time;

/* In its place among the others. */
static vs_status do_break(void *arg)
{
    const new_time *a = arg;
    vsim_session *p = a->p;
    if (a->t < 0) {
        vec_clear(p->at);
        return VS_OK;
    }
    vec_push(p->at, a->t);
    for (size_t i = vec_len(p->at) - 1; i && p->at[i - 1] > a->t; i--) {
        p->at[i] = p->at[i - 1];
        p->at[i - 1] = a->t;
    }
    return VS_OK;
}

bool vsim_session_break(vsim_session *p, double t)
{
    new_time a = {p, t};
    if (isfinite(t))
        api_release(p->s, do_break, &a);
    return isfinite(t);
}

typedef struct question {
    vsim_session *p;
    const char *text;
    double *value;
    bool ok;
} question;

static vs_status do_number(void *arg)
{
    question *a = arg;
    a->ok = a->p->s->depth == 1 && ctl_number(a->p->ctl, a->text, a->value);
    return VS_OK;
}

bool vsim_session_number(vsim_session *p, const char *expression, double *value)
{
    question a = {.p = p, .text = expression, .value = value};
    return !api_enter(p->s, do_number, &a) && a.ok;
}

/* -- what is there -- */

int vsim_session_open_blocks(const vsim_session *p) { return p->depth; }
bool vsim_session_paused(const vsim_session *p) { return p->ctl && ctl_paused(p->ctl); }

bool vsim_session_quit(const vsim_session *p, int *code)
{
    *code = p->code;
    return p->quit;
}

vsim_deck *vsim_session_deck(const vsim_session *p)
{
    return is_current(p) ? p->circuit[p->current].deck : NULL;
}

size_t vsim_session_plot_count(const vsim_session *p) { return vec_len(p->plots.plot); }

const vsim_plot *vsim_session_plot(const vsim_session *p, size_t i)
{
    const size_t n = vec_len(p->plots.plot);
    return i < n ? api_plot(p->plots.plot[n - 1 - i]) : NULL;
}

const vsim_plot *vsim_session_current(const vsim_session *p) { return api_plot(p->plots.current); }

const vsim_plot *vsim_session_find(const vsim_session *p, const char *plot)
{
    return api_plot(post_set_find(&p->plots, plot));
}
