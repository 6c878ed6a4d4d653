/* sim_alter.c - values that were altered: what an `alter` does to the flat netlist. It is put into
 * it for good, each time it is made; or it is tried beside it: then the circuit notes which rows
 * its devices would have, and netlist and circuit are as they were before and behind. */
#include <string.h>

#include "sim_priv.h"
#include "vec.h"

int32_t sim_instance(const sim *s, const char *name)
{
    const int32_t k = s->elab ? elab_find(s->elab, name) : -1;
    for (size_t i = 0; i < vec_len(s->flat.inst) && k < 0; i++)
        if (s->flat.inst[i].name == name)
            return (int32_t)i;
    return k;
}

static flat_inst *find_instance(sim *s, const char *name)
{
    const int32_t k = sim_instance(s, name);
    return k < 0 ? NULL : &s->flat.inst[k];
}

/* -- model cards by name -- */

void sim_forget_cards(sim *s)
{
    map_free(&s->cards.first);
    map_free(&s->cards.first_user);
    vec_free(s->cards.next);
    vec_free(s->cards.user);
    s->cards = (sim_cards){0};
}

int32_t sim_card(sim *s, const char *name)
{
    sim_cards *c = &s->cards;
    const size_t n = vec_len(s->flat.model);
    if (!c->first.n && n) {
        vec_extend(c->next, n);
        for (size_t i = n; i-- > 0;) {
            const uint64_t key = map_key(s->flat.model[i]->name);
            c->next[i] = map_get(&c->first, key, -1);
            map_set(&c->first, key, (int32_t)i);
        }
    }
    return map_get(&c->first, map_key(name), -1);
}

bool sim_has_card(sim *s, const char *name) { return sim_card(s, name) >= 0; }

static void add_user(sim_cards *c, const char *name, int32_t inst)
{
    const int32_t next = map_get(&c->first_user, map_key(name), -1);
    if (next >= 0 && c->user[next].inst == inst)
        return;
    map_set(&c->first_user, map_key(name), (int32_t)vec_len(c->user));
    vec_push(c->user, ((sim_user){inst, next}));
}

int32_t sim_card_user(sim *s, const char *name)
{
    sim_cards *c = &s->cards;
    for (size_t i = c->first_user.n ? 0 : vec_len(s->flat.inst); i-- > 0;) {
        const flat_rare *r = s->flat.inst[i].rare;
        if (r->model)
            add_user(c, r->model->name, (int32_t)i);
        for (size_t k = 0; k < vec_len(r->bin); k++)
            add_user(c, r->bin[k]->name, (int32_t)i);
    }
    return map_get(&c->first_user, map_key(name), -1);
}

/* -- what an alter does -- */

void sim_instances(const sim *s, map *of)
{
    for (size_t i = 0; i < vec_len(s->change); i++)
        if (!s->change[i].model)
            map_set(of, map_key(s->change[i].name), -1);
    for (size_t i = 0; i < vec_len(s->flat.inst) && of->n; i++)
        if (map_get(of, map_key(s->flat.inst[i].name), 0) < 0)
            map_set(of, map_key(s->flat.inst[i].name), (int32_t)i);
}

const char *sim_element_name(sim *s, const char *name)
{
    if (!name[0] || name[1] != '.' || find_instance(s, name))
        return name;
    const char *own = str_intern0(s->names, name + 2);
    const flat_inst *in = find_instance(s, own);
    return in && in->letter == name[0] ? own : name;
}

static bool is_dropped(const flat_param *p, const char *const *drop)
{
    for (size_t k = 0; drop[k]; k++)
        if (!strcmp(p->name, drop[k]))
            return true;
    return false;
}

/* Where a change goes: into the netlist for good, or into copies beside it. */
typedef struct place {
    sim *s;
    arena *mem;
    bool aside;
} place;

/* `old` without the parameters of `drop` (NULL-terminated), then `add`: a new array in the arena.
 * If it has `add` and none to drop it takes the value, unless it is to stay. */
static flat_param *replace_param(place at, flat_param *old, const char *const *drop, flat_param add)
{
    flat_param *same = NULL;
    size_t n = 0;
    bool any = false;
    for (size_t i = 0; i < vec_len(old); i++) {
        any |= old[i].name != add.name && is_dropped(&old[i], drop);
        same = old[i].name == add.name ? &old[i] : same;
    }
    if (same && !any && !at.aside) {
        *same = add;
        return old;
    }
    vec_head *h = arena_alloc(at.mem, sizeof *h + (vec_len(old) + 1) * sizeof *old);
    flat_param *p = (flat_param *)(h + 1);
    for (size_t i = 0; i < vec_len(old); i++)
        if (old[i].name != add.name && !is_dropped(&old[i], drop))
            p[n++] = old[i];
    p[n++] = add;
    h->len = h->cap = n;
    if (at.s->plan && !at.aside)
        flat_plan_moved(at.s->plan, old, p, add.name);
    return p;
}

static double *copy_numbers(arena *mem, const double *x, size_t n)
{
    vec_head *h = arena_alloc(mem, sizeof *h + n * sizeof *x);
    memcpy(h + 1, x, n * sizeof *x);
    h->len = h->cap = n;
    return (double *)(h + 1);
}

/* The place of a waveform's number by its name, as Xyce and the manual of ngspice have it; -1: it
 * has none of this name. */
static int wave_number(flat_wave_kind kind, const char *name)
{
    static const struct {
        flat_wave_kind wave;
        const char *name[7];
    } of[] = {{FLAT_PULSE, {"v1", "v2", "td", "tr", "tf", "pw", "per"}},
              {FLAT_SIN, {"v0", "va", "freq", "td", "theta", "phase"}},
              {FLAT_EXP, {"v1", "v2", "td1", "tau1", "td2", "tau2"}},
              {FLAT_SFFM, {"v0", "va", "fc", "mdi", "fs"}}};
    for (size_t i = 0; i < VS_COUNT(of); i++)
        for (int k = 0; of[i].wave == kind && k < (int)VS_COUNT(of[i].name) && of[i].name[k]; k++)
            if (!strcmp(of[i].name[k], name))
                return k;
    return !strcmp(name, "vo") && (kind == FLAT_SIN || kind == FLAT_SFFM) ? 0 : -1;
}

/* Numbers that the card leaves out before this one become 0, which stands for their defaults. */
static void set_wave_number(place at, flat_source *s, int k, double value)
{
    const size_t old = vec_len(s->arg), n = old > (size_t)k ? old : (size_t)k + 1;
    if (n > old || at.aside) {
        vec_head *h = arena_alloc(at.mem, sizeof *h + n * sizeof *s->arg);
        double *arg = memset(h + 1, 0, n * sizeof *arg);
        if (old)
            memcpy(arg, s->arg, old * sizeof *arg);
        h->len = h->cap = n;
        s->arg = arg;
    }
    s->arg[k] = value;
}

static vs_status change_source(place at, flat_inst *in, const sim_change *c)
{
    static const struct {
        const char *name;
        flat_wave_kind wave;
    } form[] = {{"pulse", FLAT_PULSE},     {"sin", FLAT_SIN},          {"exp", FLAT_EXP},
                {"pwl", FLAT_PWL},         {"sffm", FLAT_SFFM},        {"am", FLAT_AM},
                {"trnoise", FLAT_TRNOISE}, {"trrandom", FLAT_TRRANDOM}};
    for (size_t i = 0; i < VS_COUNT(form); i++)
        if (!strcmp(c->param, form[i].name)) {
            in->rare->source->wave = form[i].wave;
            if (vec_len(in->rare->source->arg) == (size_t)c->n && !at.aside)
                memcpy(in->rare->source->arg, c->value, (size_t)c->n * sizeof *c->value);
            else
                in->rare->source->arg = copy_numbers(at.mem, c->value, (size_t)c->n);
            return VS_OK;
        }
    const int number = wave_number(in->rare->source->wave, c->param);
    if (number >= 0) {
        set_wave_number(at, in->rare->source, number, c->value[0]);
    } else if (!*c->param || !strcmp(c->param, "dc") || !strcmp(c->param, "dcv0")) {
        in->rare->source->dc = c->value[0];
        in->rare->source->dc_given = true;
    } else if (!strcmp(c->param, "acmag") || !strcmp(c->param, "ac")) {
        in->rare->source->ac_mag = c->value[0];
        in->rare->source->ac_phase = c->n > 1 ? c->value[1] : in->rare->source->ac_phase;
    } else if (!strcmp(c->param, "acphase")) {
        in->rare->source->ac_phase = c->value[0];
    } else {
        diag_error(at.s->d, c->span,
                   "a source has dc, acmag, acphase, its waveform and the numbers of that (v1, va, "
                   "freq, td ...) to alter, not '%s'",
                   c->param);
        return VS_EINPUT;
    }
    return VS_OK;
}

/* The main value of R, C, L and K has several names. */
static vs_status change_instance(place to, flat_inst *in, const sim_change *c)
{
    static const char *const alias[][5] = {{"resistance", "r", "value", NULL},
                                           {"capacitance", "c", "value", NULL},
                                           {"inductance", "l", "value", NULL},
                                           {"coupling", "k", "coef", "value"},
                                           {"gain", NULL},
                                           {NULL}};
    const char *const *drop = alias[5];
    const char *name = c->param;
    if (in->rare->source)
        return change_source(to, in, c);
    static const char letters[] = "rclk";
    const char *at = strchr(letters, in->letter);
    if (at && *at)
        drop = alias[at - letters];
    else if (strchr("efgh", in->letter))
        drop = alias[4];
    if (!strcmp(name, "m")) {
        if (in->letter == 'k') {
            diag_error(to.s->d, c->span,
                       "the mutual inductance of '%s' follows from its coupling and its inductors; "
                       "@%s[k] can be altered",
                       in->name, in->name);
            return VS_EINPUT;
        }
        in->m = c->value[0];
        return VS_OK;
    }
    bool main_value = !*name;
    for (size_t i = 0; drop[i]; i++)
        main_value |= !strcmp(name, drop[i]);
    if (main_value && in->rare->expr)
        flat_own_rare(to.mem, in)->expr = NULL;
    else if (!main_value)
        drop = alias[5];
    if (main_value)
        name = str_intern0(to.s->names, strchr("efgh", in->letter) ? "gain" : "value");
    if (in->rare != &flat_no_rare)
        (void)flat_own_rare(to.mem, in); /* and so its parameters */
    in->param = replace_param(to, in->param, drop,
                              (flat_param){.name = name, .value = c->value[0], .span = c->span});
    return VS_OK;
}

static vs_status change_model(place to, const sim_change *c)
{
    sim *s = to.s;
    static const char *const none[] = {NULL};
    const int32_t first = sim_card(s, c->name);
    for (int32_t i = first; i >= 0; i = s->cards.next[i])
        s->flat.model[i]->param =
            replace_param(to, s->flat.model[i]->param, none,
                          (flat_param){.name = c->param, .value = c->value[0], .span = c->span});
    if (first >= 0)
        return VS_OK;
    diag_error(s->d, c->span, "no model '%s' is in use", c->name);
    diag_suggest(s->d, c->name, s->flat.model_name, vec_len(s->flat.model_name));
    return VS_EINPUT;
}

static void suggest_instance(sim *s, const char *name)
{
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(s->flat.inst); i++)
        vec_push(cand, s->flat.inst[i].name);
    diag_suggest(s->d, name, cand, vec_len(cand));
    vec_free(cand);
}

vs_status sim_apply_changes(sim *s)
{
    const place here = {s, &s->ckt_mem, false};
    vs_status st = VS_OK;
    map of_inst = {0};
    sim_instances(s, &of_inst);
    for (size_t i = 0; i < vec_len(s->change); i++) {
        const sim_change *c = &s->change[i];
        const int32_t k = c->model ? -1 : map_get(&of_inst, map_key(c->name), -1);
        flat_inst *in = k < 0 ? NULL : &s->flat.inst[k];
        vs_status one = VS_EINPUT;
        if (c->model) {
            one = change_model(here, c);
        } else if (in) {
            one = change_instance(here, in, c);
        } else {
            diag_error(s->d, c->span, "there is no element '%s' to alter", c->name);
            suggest_instance(s, c->name);
        }
        if (one)
            st = one;
    }
    map_free(&of_inst);
    return st;
}

/* -- the list of changes: the newest of an element or a model is the last of its own -- */

void sim_forget_changes(sim *s)
{
    map_free(&s->places.last);
    vec_free(s->places.before);
    s->places = (sim_places){0};
}

static uint64_t changed_key(const sim_change *c) { return map_key(c->name) << 1 | c->model; }

static void note_place(sim *s, size_t i)
{
    const uint64_t key = changed_key(&s->change[i]);
    vec_push(s->places.before, map_get(&s->places.last, key, -1));
    map_set(&s->places.last, key, (int32_t)i);
}

/* The place of the change of the same parameter, -1: none; *last that of the last change of the
 * element or model. */
static int32_t find_place(sim *s, const sim_change *c, int32_t *last)
{
    while (vec_len(s->places.before) < vec_len(s->change))
        note_place(s, vec_len(s->places.before));
    int32_t k = *last = map_get(&s->places.last, changed_key(c), -1);
    while (k >= 0 && s->change[k].param != c->param)
        k = s->places.before[k];
    return k;
}

void sim_alter(sim *s, const sim_change *c)
{
    sim_change now = *c;
    int32_t last;
    const int32_t same = find_place(s, c, &last);
    now.node = -1;
    if (same >= 0 &&
        s->change[same].n == c->n) { /* a sweep writes into the numbers that are there */
        now.value = s->change[same].value;
        now.node = s->change[same].node;
        memcpy((double *)(uintptr_t)now.value, c->value, (size_t)c->n * sizeof *c->value);
    } else {
        now.value = copy_numbers(&s->mem, c->value, (size_t)c->n);
    }
    sim_change_changed(s, &now);
    if (same < 0)
        vec_push(s->change, now);
    for (int32_t k = last; same >= 0 && k >= same; k = s->places.before[k]) {
        const sim_change was = s->change[k]; /* those behind the old one move up by one */
        s->change[k] = now;
        now = was;
    }
}

/* -- beside the netlist -- */

/* Both states of what was altered. */
typedef struct aside_model {
    flat_model *m;
    flat_param *was;
} aside_model;
struct sim_aside {
    sim *s;
    arena mem;
    flat_inst *in; /* NULL: of a model */
    flat_inst was;
    aside_model *model; /* vec */
    int32_t *inst;      /* vec: the elements that are made again */
};

static void find_reach(sim_aside *a, const sim_change *c)
{
    sim *s = a->s;
    for (int32_t i = c->model ? sim_card(s, c->name) : -1; i >= 0; i = s->cards.next[i])
        vec_push(a->model, ((aside_model){s->flat.model[i], s->flat.model[i]->param}));
    for (size_t i = 0; i < vec_len(s->flat.inst) && c->model; i++)
        if (s->flat.inst[i].rare->model && s->flat.inst[i].rare->model->name == c->name)
            vec_push(a->inst, (int32_t)i);
    if (a->in)
        vec_push(a->inst, (int32_t)(a->in - s->flat.inst));
}

/* Makes the elements again as the netlist has them now. */
static vs_status make_again(sim_aside *a)
{
    sim *s = a->s;
    ckt_redone what;
    const int n_error = s->d->n_error;
    elab_redo_begin(s->elab, s->temp, s->simparam);
    for (size_t i = 0; i < vec_len(a->model); i++)
        elab_redo_model(s->elab, a->model[i].m);
    for (size_t i = 0; i < vec_len(a->inst); i++)
        elab_redo(s->elab, a->inst[i]);
    const vs_status st = elab_redo_end(s->elab, &what);
    return s->d->n_error > n_error ? VS_EINPUT : st;
}

static vs_status put_aside(sim_aside *a, const sim_change *c)
{
    const place beside = {a->s, &a->mem, true};
    if (c->model)
        return change_model(beside, c);
    flat_rare *rare = arena_new(&a->mem, flat_rare);
    *rare = *a->in->rare;
    a->in->rare = rare;
    if (rare->source) {
        flat_source *copy = arena_new(&a->mem, flat_source);
        *copy = *rare->source;
        rare->source = copy;
    }
    return change_instance(beside, a->in, c);
}

vs_status sim_aside_begin(sim_aside **pa, sim *s, const sim_change *c)
{
    *pa = NULL;
    if (!s->plan || !s->elab || s->stale || !s->ckt)
        return VS_REJECT;
    flat_inst *in = c->model ? NULL : find_instance(s, c->name);
    if (!c->model && !in)
        return VS_REJECT;
    sim_aside *a = *pa = vs_calloc(1, sizeof *a);
    a->s = s;
    a->in = in;
    arena_init(&a->mem);
    if (in)
        a->was = *in;
    find_reach(a, c);
    ckt_redo_note(s->ckt, true);
    const vs_status st = put_aside(a, c);
    return st == VS_OK ? make_again(a) : st;
}

vs_status sim_aside_end(sim_aside **pa)
{
    sim_aside *a = *pa;
    vs_status st = VS_OK;
    *pa = NULL;
    if (!a)
        return st;
    if (a->in)
        *a->in = a->was;
    for (size_t i = 0; i < vec_len(a->model); i++) {
        a->model[i].m->param = a->model[i].was;
        elab_redo_model(a->s->elab, a->model[i].m);
    }
    /* waveforms are not noted but taken; couplings read what an element was made with last */
    if ((a->in && a->in->rare->source) || elab_redo_coupled(a->s->elab))
        st = make_again(a);
    ckt_redo_note(a->s->ckt, false);
    vec_free(a->model);
    vec_free(a->inst);
    arena_fini(&a->mem);
    vs_free(a);
    return st;
}
