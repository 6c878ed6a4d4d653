/* api_deck.c - decks and their circuits (deck.h). */
#include <errno.h>
#include <string.h>

#include "api_priv.h"

/* -- what the engine tells: see api_run.c for what it tells of runs -- */

static void print_line(void *user, const char *text)
{
    vsim *s = ((vsim_deck *)user)->s;
    if (!s->set.line)
        return;
    api_leave_to_host(s);
    s->set.line(s->set.user, text);
    api_back_from_host(s);
}

/* -- reading -- */

typedef struct reading {
    vsim *s;
    vsim_deck *d;
    const char *name, *text; /* text NULL: a file */
    size_t len;
    const vsim_read *how;
    bool ngspice;
} reading;

static const char *ask_file(void *user, const char *path, size_t *len)
{
    const vsim_deck *d = user;
    *len = 0;
    api_leave_to_host(d->s);
    const char *text = d->file(d->file_user, path, len);
    api_back_from_host(d->s);
    return text;
}

void api_use_files(vsim_deck *d)
{
    d->s->d.client_file = d->file ? ask_file : NULL;
    d->s->d.client_user = d;
}

static void add_defines(vsim_deck *d, const vsim_read *how)
{
    for (size_t i = 0; i < how->n_define; i++) {
        const vsim_define *x = &how->define[i];
        const char *name = str_intern_lower(&d->s->names, x->name, strlen(x->name));
        vec_push(d->define, (flat_override){name, x->value, false});
        sim_set_param(d->sim, name, x->value);
    }
}

static vs_status read_cards(const reading *a)
{
    vsim_deck *d = a->d;
    const vsim_settings *set = &a->s->set;
    const net_opt no = {.include = set->include,
                        .n_include = set->n_include,
                        .init = set->start_files,
                        .no_title = a->how && a->how->no_title,
                        .ngspice = a->ngspice};
    const int32_t file = a->text ? (int32_t)vec_len(a->s->d.file) : -1; /* that it will be */
    if (a->how) {
        add_defines(d, a->how);
        d->file = a->how->file;
        d->file_user = a->how->user;
    }
    api_use_files(d);
    vs_status st = a->text ? sim_read_text(d->sim, a->name, a->text, a->len, &no)
                           : sim_read(d->sim, a->name, &no);
    if (!st)
        st = sim_read_options(d->sim);
    if (!st)
        st = sim_flatten(d->sim);
    const char *path = arena_strndup(&d->mem, a->name, strlen(a->name));
    fam_init(&d->fam, d->sim, path, &no, file);
    return !st && a->s->d.n_error ? VS_EINPUT : st;
}

static vs_status do_read(void *arg)
{
    reading *a = arg;
    vsim *s = a->s;
    if (!s->lib) {
        diag_error(&s->d, DIAG_NOWHERE, "the simulator could not be made, see vsim_new");
        return VS_EINPUT;
    }
    vsim_deck *d = a->d = vs_calloc(1, sizeof *d);
    arena_init(&d->mem);
    d->list.stamp = -1;
    d->s = s;
    d->next = s->deck;
    s->deck = d;
    d->sim = sim_new(&s->d, &s->names);
    sim_opt *o = sim_opts(d->sim);
    o->lib = s->lib;
    o->threads = s->set.threads;
    o->parallel_min = s->set.parallel_min;
    o->hook = (sim_hook){.line = print_line, .user = d};
    return read_cards(a);
}

vs_status api_read_deck(vsim *s, const char *name, const char *text, size_t len,
                        const vsim_read *how, bool ngspice, vsim_deck **d)
{
    reading a = {.s = s, .name = name, .text = text, .len = len, .how = how, .ngspice = ngspice};
    const vs_status st = do_read(&a);
    *d = a.d;
    return st;
}

static vs_status read_for_host(void *arg)
{
    const reading *a = arg;
    return api_may_change(a->s, "vsim_deck_file") ? do_read(arg) : VS_EINPUT;
}

static vsim_status read_deck(reading *a, vsim_deck **d)
{
    *d = NULL;
    const vsim_status st = api_enter(a->s, read_for_host, a);
    if (!st)
        *d = a->d;
    else if (a->d)
        api_free_deck(a->d);
    return st;
}

vsim_status vsim_deck_file(vsim *s, const char *path, const vsim_read *how, vsim_deck **d)
{
    reading a = {.s = s, .name = path, .how = how};
    return read_deck(&a, d);
}

vsim_status vsim_deck_text(vsim *s, const char *name, const char *text, size_t len,
                           const vsim_read *how, vsim_deck **d)
{
    reading a = {.s = s, .name = name, .text = text, .len = len, .how = how};
    return read_deck(&a, d);
}

static vs_status free_deck(void *arg)
{
    vsim_deck *d = arg;
    vsim_deck **at = &d->s->deck;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    while (d->run)
        api_free_run(d->run);
    if (d->sim)
        (void)out_close(&sim_opts(d->sim)->out, NULL);
    sim_saved_free(&d->saved);
    sim_free(&d->sim);
    api_free_list(&d->list);
    fam_fini(&d->fam);
    vec_free(d->column);
    arena_fini(&d->label_mem);
    vec_free(d->define);
    arena_fini(&d->mem);
    if (!d->s->deck)
        files_forget(); /* what was read may be written now */
    vs_free(d);
    return VS_OK;
}

vs_status api_drop_deck(vsim_deck *d) { return free_deck(d); }

void api_free_deck(vsim_deck *d) { api_release(d->s, free_deck, d); }

void vsim_deck_free(vsim_deck **d)
{
    if (*d)
        api_free_deck(*d);
    *d = NULL;
}

const char *vsim_deck_title(const vsim_deck *d) { return sim_deck(d->sim)->title; }

/* -- the circuit -- */

vs_status api_circuit(vsim_deck *d) { return api_circuit_for(d, FLAT_OP); }

vs_status api_take_back(vsim_deck *d, vs_status st)
{
    if (st && d->saved)
        sim_restore(d->sim, d->saved);
    sim_saved_free(&d->saved);
    return st;
}

vs_status api_circuit_for(vsim_deck *d, flat_ana_kind kind)
{
    if (d->active)
        return VS_OK;
    /* rows of models may be in use by the circuits of other decks */
    sim_opts(d->sim)->shared_models = d->s->deck != d || d->next || d->s->session;
    const int n_error = d->s->d.n_error;
    api_use_files(d);
    sim_retake_analyses(d->sim);
    vs_status st = sim_build_for(d->sim, kind);
    if (!st && d->s->d.n_error > n_error)
        st = VS_EINPUT;
    if (!st && !ckt_n(sim_ckt(d->sim))) {
        diag_error(&d->s->d, DIAG_NOWHERE,
                   "there is nothing to compute: no element has a node besides ground");
        st = VS_EINPUT;
    }
    return api_take_back(d, st);
}

static vs_status do_build(void *arg) { return api_circuit(((api_args *)arg)->d); }

vsim_status vsim_deck_build(vsim_deck *d)
{
    api_args a = {.d = d};
    return api_enter(d->s, do_build, &a);
}

/* -- result files -- */

static vs_status do_output(void *arg)
{
    static const struct {
        const char *name;
        out_format format;
    } known[] = {{"raw", OUT_RAW}, {"ascii", OUT_ASCII}, {"csv", OUT_CSV}};
    const api_args *a = arg;
    diag *d = &a->d->s->d;
    out_file **out = &sim_opts(a->d->sim)->out;
    size_t k = 0;
    while (k < VS_COUNT(known) && strcmp(known[k].name, a->part))
        k++;
    if (k == VS_COUNT(known) || !strcmp(a->name, "-") || a->d->active || *out) {
        if (k == VS_COUNT(known))
            diag_error(d, DIAG_NOWHERE, "'%s' is no format of result files; raw, ascii and csv are",
                       a->part);
        else if (!strcmp(a->name, "-"))
            diag_error(d, DIAG_NOWHERE, "the library does not write to standard output");
        else
            diag_error(d, DIAG_NOWHERE,
                       a->d->active ? "a run is under way" : "the deck has a result file already");
        return VS_EINPUT;
    }
    const vs_status st = out_open(out, a->name, known[k].format);
    if (st)
        diag_error(d, DIAG_NOWHERE, "result file '%s' cannot be written: %s", a->name,
                   files_why(errno));
    return st;
}

vsim_status vsim_deck_output(vsim_deck *d, const char *path, const char *format)
{
    api_args a = {.d = d, .name = path, .part = format};
    return api_enter(d->s, do_output, &a);
}

static vs_status do_close_output(void *arg)
{
    const api_args *a = arg;
    int why = 0;
    if (a->d->active) {
        diag_error(&a->d->s->d, DIAG_NOWHERE, "a run is under way");
        return VS_EINPUT;
    }
    if (!out_close(&sim_opts(a->d->sim)->out, &why))
        return VS_OK;
    diag_error(&a->d->s->d, DIAG_NOWHERE, "the results could not be written: %s", strerror(why));
    return VS_EIO;
}

vsim_status vsim_deck_close_output(vsim_deck *d)
{
    api_args a = {.d = d};
    return api_enter(d->s, do_close_output, &a);
}
