/* mdl_kin.c - kins: rows that differ in the number of one parameter.
 * Why:    a netlist of extracted wires has a million resistors with values of their own. A row as
 *         others have it takes 700 bytes and 19,000 instructions: defaults, ranges, topology and
 *         decisions are evaluated for each.
 * Method: static code is traced with one row, the pattern (ir_trace.c): what depends on the number
 *         is a handful of operations. Another row runs them. As long as branches go the pattern's
 *         way and the decisions are the pattern's, it needs no memory but its number; where they
 *         are not, the row is made as others are (mdl_row_data).
 * No module is known by name: a kin exists where the static code has neither loops nor effects on
 * the pattern's way, and no unknown may be idle. Rows are found by their number in an open table,
 * which a circuit that is made has no use for: it is made again when somebody asks. A row that
 * belongs to a kin is not found by the hash of its key. */
#include "mdl_pass.h"

#include <math.h>
#include <string.h>

typedef struct kin_trace { /* of one function */
    ir_trace t;
    int32_t *from; /* vec [t.n_in]; which of row_kin.value each input is */
    uint8_t *type; /* vec [t.n_in]; ir_type */
    int32_t *vary; /* vec; those of t.out that vary */
} kin_trace;

typedef struct kin_form { /* the decisions of one form */
    enum { KIN_NEW, KIN_TRACED, KIN_CANNOT } state;
    kin_trace trace;
    const uint8_t *code; /* of the pattern; [decisions of the form] */
} kin_form;

typedef struct kin_setup { /* the setup values of one variant */
    const mdl_variant *v;
    kin_trace trace;
    double *fixed; /* [n_cache]; of the pattern */
    uint8_t *type; /* vec; ir_type of each of trace.t.out */
    int32_t *slot; /* vec; where it goes */
    bool ok;
} kin_setup;

struct row_kin {
    row_data *like;   /* the pattern, owned */
    int32_t param;    /* in which the rows differ */
    int32_t *differ;  /* vec: parameters whose values after defaults depend on it */
    double *value;    /* vec, as differ: parameters of the row that was asked for last */
    ir_num *input;    /* vec: of a trace */
    uint8_t *depends; /* [n_param] */
    kin_trace params, topology;
    kin_form form[MDL_N_FORM];
    kin_setup *setup; /* vec */
    int32_t *table;   /* [cap] rows; FREE, GONE: one was here */
    size_t cap, n;    /* n: places that are not FREE */
    bool away;        /* it has rows, and no table */
};
enum { FREE = -1, GONE = -2 };
enum { MOST_KINS = 32 }; /* of a model: each new row is compared with all of them */

/* -- the table -- */

static size_t hash_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    u *= 0x9e3779b97f4a7c15u;
    return (size_t)(u ^ (u >> 32));
}

static double value_of_row(const mdl_model *m, const row_kin *k, int32_t row)
{
    const row_place *at = &m->row[row];
    return at->is_number ? at->value : at->full->given[k->param];
}

static void put(row_kin *k, int32_t row, double value)
{
    size_t i = hash_of(value) & (k->cap - 1);
    while (k->table[i] != FREE)
        i = (i + 1) & (k->cap - 1);
    k->table[i] = row;
    k->n++;
}

static void make_room(const mdl_model *m, row_kin *k)
{
    if (4 * (k->n + 1) <= 3 * k->cap)
        return;
    const size_t before = k->cap;
    int32_t *old = k->table;
    size_t live = 0;
    for (size_t i = 0; i < before; i++)
        live += old[i] >= 0;
    k->cap = 64;
    while (2 * (live + 1) > k->cap)
        k->cap *= 2;
    k->table = vs_malloc(k->cap * sizeof *k->table);
    memset(k->table, 0xff, k->cap * sizeof *k->table);
    k->n = 0;
    for (size_t i = 0; i < before; i++)
        if (old[i] >= 0)
            put(k, old[i], value_of_row(m, k, old[i]));
    vs_free(old);
}

static void drop_table(row_kin *k)
{
    vs_free(k->table);
    k->table = NULL;
    k->cap = k->n = 0;
}

/* The tables that are away. */
static void bring_tables(mdl_model *m)
{
    for (size_t i = 0; i < vec_len(m->row); i++)
        if (m->row[i].kin >= 0 && m->kin[m->row[i].kin]->away) {
            row_kin *k = m->kin[m->row[i].kin];
            make_room(m, k);
            put(k, (int32_t)i, value_of_row(m, k, (int32_t)i));
        }
    for (size_t i = 0; i < vec_len(m->kin); i++)
        m->kin[i]->away = false;
}

void mdl_put_away(mdl_lib *lib)
{
    for (size_t i = 0; i < vec_len(lib->model); i++)
        for (size_t k = 0; k < vec_len(lib->model[i]->kin); k++) {
            row_kin *kin = lib->model[i]->kin[k];
            kin->away |= kin->n > 0;
            drop_table(kin);
        }
}

void mdl_kin_enter(mdl_model *m, int32_t kin, int32_t row, double value)
{
    if (m->kin[kin]->away) {
        bring_tables(m); /* with this row */
        return;
    }
    make_room(m, m->kin[kin]);
    put(m->kin[kin], row, value);
}

static size_t place_in_table(const mdl_model *m, const row_kin *k, double value)
{
    size_t i = hash_of(value) & (k->cap - 1);
    while (k->table[i] != FREE && (k->table[i] == GONE || value_of_row(m, k, k->table[i]) != value))
        i = (i + 1) & (k->cap - 1);
    return i;
}

/* Its row with this value; -1: there is none yet. */
static int32_t find(const mdl_model *m, int32_t kin, double value)
{
    const row_kin *k = m->kin[kin];
    return k->cap ? k->table[place_in_table(m, k, value)] : -1;
}

void mdl_kin_forget(mdl_model *m, int32_t row)
{
    row_kin *k = m->kin[m->row[row].kin];
    if (!k->away)
        k->table[place_in_table(m, k, value_of_row(m, k, row))] = GONE;
    m->row[row].kin = -1;
}

/* -- keys -- */

double mdl_kin_value(const mdl_model *m, int32_t kin, const double *key)
{
    return key[m->kin[kin]->param];
}

/* Whether two rows of numbers agree but at places p and q. */
static bool agree(const double *a, const double *b, size_t n, size_t p, size_t q)
{
    for (size_t i = 0; i < n; i++)
        if (i != p && i != q && memcmp(&a[i], &b[i], sizeof *a) != 0)
            return false;
    return true;
}

/* q: another parameter that may differ too */
static bool is_like(const mdl_model *m, const row_kin *k, const double *given, const double *rest,
                    size_t q)
{
    const size_t n_param = vec_len(m->mod->param);
    return agree(k->like->given, given, n_param, (size_t)k->param, q) &&
           !memcmp(k->like->rest->v, rest, (key_len(m) - n_param) * sizeof *rest);
}

int32_t mdl_kin_of_key(const mdl_model *m, const double *key)
{
    for (size_t i = 0; i < vec_len(m->kin); i++) {
        const row_kin *k = m->kin[i];
        if (is_like(m, k, key, key + vec_len(m->mod->param), (size_t)k->param))
            return (int32_t)i;
    }
    return -1;
}

void mdl_kin_key(const mdl_model *m, int32_t row, double *key)
{
    const row_kin *k = m->kin[m->row[row].kin];
    mdl_key_of(m, k->like, key);
    key[k->param] = m->row[row].value;
}

const row_data *mdl_kin_like(const mdl_model *m, int32_t kin) { return m->kin[kin]->like; }

/* -- traces -- */

static void drop_trace(kin_trace *t)
{
    ir_trace_fini(&t->t);
    vec_free(t->from);
    vec_free(t->type);
    vec_free(t->vary);
}

static int32_t place_in(const int32_t *v, int32_t x)
{
    int32_t at = 0;
    while (v[at] != x)
        at++;
    return at;
}

/* A trace of fn with inputs of the pattern, in which those of the parameters `depends` vary. */
static bool trace_fn(row_kin *k, const ir_fn *fn, const uint8_t *cls, const ir_num *input,
                     const uint8_t *depends, const ir_val *want, size_t n_want, kin_trace *t)
{
    const size_t n = vec_len(fn->in);
    uint8_t *vary = vs_calloc(n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        vary[i] = fn->in[i].kind == IR_IN_PARAM && depends[fn->in[i].k];
        if (!vary[i])
            continue;
        vec_push(t->from, depends == k->depends ? place_in(k->differ, fn->in[i].k) : 0);
        vec_push(t->type, fn->in[i].type);
    }
    const bool ok = ir_trace_init(&t->t, fn, cls, input, vary, want, n_want);
    for (size_t o = 0; ok && o < n_want; o++)
        if (t->t.out[o].varies)
            vec_push(t->vary, (int32_t)o);
    vs_free(vary);
    while (vec_len(k->input) < vec_len(t->from))
        vec_push(k->input, (ir_num){.f = 0});
    return ok;
}

static bool trace_row(mdl_model *m, row_kin *k, const ir_fn *fn, const uint8_t *cls,
                      const ir_val *want, size_t n_want, kin_trace *t)
{
    ir_num *input = vs_calloc(vec_len(fn->in) + 1, sizeof *input);
    mdl_row_inputs(m, k->like, fn, input);
    const bool ok = trace_fn(k, fn, cls, input, k->depends, want, n_want, t);
    vs_free(input);
    return ok;
}

/* Runs a trace with the parameters in value. false: another way. */
static bool run(row_kin *k, kin_trace *t, const double *value)
{
    for (int32_t i = 0; i < t->t.n_in; i++)
        k->input[i] = mdl_as_input(value[t->from[i]], t->type[i]);
    return ir_trace_run(&t->t, k->input);
}

static ir_val *wanted(const ir_fn *fn)
{
    ir_val *want = NULL;
    for (size_t o = 0; o < vec_len(fn->out); o++)
        vec_push(want, fn->out[o].v);
    return want;
}

/* The parameters of a row with this number, to k->value. false: it goes another way, or one is out
 * of range. */
static bool find_params(const mdl_model *m, row_kin *k, double number)
{
    const ir_fn *fn = &m->mod->params;
    size_t n = 0;
    if (!run(k, &k->params, &number))
        return false;
    for (size_t i = 0; i < vec_len(k->params.vary); i++) {
        const ir_out *o = &fn->out[k->params.vary[i]];
        const ir_num v = k->params.t.val[k->params.t.out[k->params.vary[i]].at];
        if (o->kind == IR_OUT_PARAM)
            k->value[n++] = fn->inst[o->v].type == IR_F64 ? v.f : (double)v.i;
        else if (!v.i)
            return false;
    }
    return true;
}

/* Traces params; what depends on the parameter is noted. */
static bool begin_params(mdl_model *m, row_kin *k)
{
    mdl_need(m, MOD_PARAMS);
    const ir_fn *fn = &m->mod->params;
    ir_val *want = wanted(fn);
    ir_num *input = vs_calloc(vec_len(fn->in) + 1, sizeof *input);
    uint8_t *given = vs_calloc(vec_len(m->mod->param) + 1, 1);
    given[k->param] = 1;
    mdl_given_inputs(m, k->like, fn, input);
    const bool ok = trace_fn(k, fn, NULL, input, given, want, vec_len(fn->out), &k->params);
    for (size_t i = 0; i < vec_len(k->params.vary); i++) {
        const ir_out *o = &fn->out[k->params.vary[i]];
        if (o->kind != IR_OUT_PARAM)
            continue;
        k->depends[o->a] = 1;
        vec_push(k->differ, o->a);
        vec_push(k->value, 0);
    }
    vs_free(input);
    vs_free(given);
    vec_free(want);
    return ok;
}

static bool same_topology(row_kin *k)
{
    if (!run(k, &k->topology, k->value))
        return false;
    for (size_t i = 0; i < vec_len(k->topology.vary); i++) {
        const ir_trace_out *w = &k->topology.t.out[k->topology.vary[i]];
        if (k->topology.t.val[w->at].i != w->fixed.i)
            return false;
    }
    return true;
}

static bool begin_topology(mdl_model *m, row_kin *k)
{
    const form_fn *f = mdl_form_get(m, FORM_TOPOLOGY);
    ir_val *want = wanted(&f->fn);
    const bool ok = trace_row(m, k, &f->fn, f->cls, want, vec_len(f->fn.out), &k->topology);
    vec_free(want);
    return ok;
}

/* Which unknowns are idle, the currents of switch branches among them, may depend on numbers in
 * more ways than a trace tells. */
static bool may_idle(const mdl_model *m, const row_data *r)
{
    for (size_t u = 0; u < vec_len(m->quiet); u++)
        if (m->quiet[u] & MAY_IDLE && r->topology[u] != -1 &&
            (m->unknown[u].kind != VA_PORT || r->topology[u] == MDL_HELD))
            return true;
    return false;
}

static void free_kin(row_kin *k)
{
    mdl_row_free(k->like);
    vec_free(k->differ);
    vec_free(k->input);
    vec_free(k->value);
    vs_free(k->depends);
    drop_trace(&k->params);
    drop_trace(&k->topology);
    for (int f = 0; f < MDL_N_FORM; f++)
        drop_trace(&k->form[f].trace);
    for (size_t i = 0; i < vec_len(k->setup); i++) {
        drop_trace(&k->setup[i].trace);
        vs_free(k->setup[i].fixed);
        vec_free(k->setup[i].type);
        vec_free(k->setup[i].slot);
    }
    vec_free(k->setup);
    vs_free(k->table);
    vs_free(k);
}

void mdl_kin_free(mdl_model *m)
{
    for (size_t i = 0; i < vec_len(m->kin); i++)
        free_kin(m->kin[i]);
    vec_free(m->kin);
}

void mdl_kin_clear(mdl_model *m)
{
    for (size_t i = 0; i < vec_len(m->kin); i++) {
        drop_table(m->kin[i]);
        m->kin[i]->away = false;
    }
}

/* -- kins -- */

/* A copy of the row as pattern. */
static row_kin *kin_of(mdl_model *m, const row_data *r, const double *key, int32_t param)
{
    const size_t n_param = vec_len(m->mod->param);
    row_kin *k = vs_calloc(1, sizeof *k);
    k->param = param;
    k->depends = vs_calloc(n_param + 1, 1);
    k->like = mdl_row_alone(m, key);
    memcpy(k->like->param, r->param, n_param * sizeof *r->param);
    memcpy(k->like->topology, r->topology, vec_len(m->unknown) * sizeof *r->topology);
    memcpy(k->like->variant, r->variant, sizeof r->variant);
    memcpy(k->like->decisions, r->decisions, sizeof r->decisions);
    return k;
}

/* Takes rows that there are already into the kin. */
static void gather(mdl_model *m, int32_t kin)
{
    const row_kin *k = m->kin[kin];
    for (size_t i = 0; i < vec_len(m->row); i++) {
        row_place *at = &m->row[i];
        if (at->is_number || !at->full || at->kin >= 0 ||
            !is_like(m, k, at->full->given, at->full->rest->v, (size_t)k->param))
            continue;
        mdl_row_unhash(m, (int32_t)i);
        at->kin = kin;
        mdl_kin_enter(m, kin, (int32_t)i, at->full->given[k->param]);
    }
}

int32_t mdl_kin(mdl_model *m, int32_t row, int32_t param)
{
    if (m->row[row].kin >= 0)
        return m->kin[m->row[row].kin]->param == param ? m->row[row].kin : -1;
    const row_data *r = mdl_row_data(m, row);
    if (m->lib->opt.no_specialize || vec_len(m->kin) >= MOST_KINS || vec_len(r->message) ||
        m->mod->param[param].type == VA_STRING ||
        r->rest->v[key_given(m) - vec_len(m->mod->param) + (size_t)param] == 0 || may_idle(m, r))
        return -1;
    for (size_t i = 0; i < vec_len(m->kin); i++) /* no row may belong to two */
        if (is_like(m, m->kin[i], r->given, r->rest->v, (size_t)param))
            return -1;
    double *key = vs_malloc((key_len(m) + 1) * sizeof *key);
    mdl_key_of(m, r, key);
    row_kin *k = kin_of(m, r, key, param);
    vs_free(key);
    if (!begin_params(m, k) || !begin_topology(m, k)) {
        free_kin(k);
        return -1;
    }
    vec_push(m->kin, k);
    gather(m, (int32_t)vec_len(m->kin) - 1);
    return (int32_t)vec_len(m->kin) - 1;
}

/* A new row of the kin that is only a number; -1: this value leads another way through the model's
 * static code, and needs a row of its own. */
static int32_t add(mdl_model *m, int32_t kin, double value)
{
    row_kin *k = m->kin[kin];
    if (!find_params(m, k, value) || !same_topology(k))
        return -1;
    const int32_t row = mdl_row_add(m, (row_place){.value = value, .kin = kin, .is_number = true});
    mdl_kin_enter(m, kin, row, value);
    return row;
}

int32_t mdl_kin_row(mdl_model *m, int32_t kin, double value)
{
    value += 0.0; /* -0 and 0 are one row */
    if (isnan(value))
        return -1;
    if (m->kin[kin]->away)
        bring_tables(m);
    const int32_t row = find(m, kin, value);
    if (row < 0)
        return add(m, kin, value);
    mdl_row_take(m, row);
    return row;
}

/* -- rows that are only a number -- */

/* Its parameters to k->value. */
static row_kin *open_row(const mdl_model *m, int32_t row)
{
    row_kin *k = m->kin[m->row[row].kin];
    const bool ok = find_params(m, k, m->row[row].value);
    assert(ok); /* they were in range when it was made */
    (void)ok;
    return k;
}

double mdl_kin_param(const mdl_model *m, int32_t row, int32_t param)
{
    const row_kin *k = m->kin[m->row[row].kin];
    if (!k->depends[param])
        return k->like->param[param];
    (void)open_row(m, row);
    return k->value[place_in(k->differ, param)];
}

static vs_status begin_form(mdl_model *m, row_kin *k, mdl_form_kind form)
{
    kin_form *kf = &k->form[form];
    const form_fn *f = mdl_form_get(m, (int)form);
    mdl_variant *v;
    const vs_status st = mdl_variant_of_row(m, k->like, form, &v);
    if (st != VS_OK)
        return st;
    kf->code = k->like->decisions[form];
    kf->state = trace_row(m, k, &f->fn, f->cls, f->decide, vec_len(f->decide), &kf->trace)
                    ? KIN_TRACED
                    : KIN_CANNOT;
    return VS_OK;
}

static bool same_decisions(const mdl_model *m, row_kin *k, mdl_form_kind form)
{
    kin_form *kf = &k->form[form];
    const form_fn *f = &m->form[form];
    if (!run(k, &kf->trace, k->value))
        return false;
    for (size_t i = 0; i < vec_len(kf->trace.vary); i++) {
        const int32_t o = kf->trace.vary[i];
        const ir_val at = f->decide[o];
        const ir_num v = kf->trace.t.val[kf->trace.t.out[o].at];
        if (mdl_decide_code(v, &f->fn.inst[at], f->cls[at]) != kf->code[o])
            return false;
    }
    return true;
}

vs_status mdl_kin_variant(mdl_model *m, int32_t row, mdl_form_kind form, mdl_variant **variant)
{
    row_kin *k = m->kin[m->row[row].kin];
    *variant = NULL;
    if (k->form[form].state == KIN_NEW) {
        const vs_status st = begin_form(m, k, form);
        if (st != VS_OK)
            return st;
    }
    if (k->form[form].state == KIN_TRACED && same_decisions(m, open_row(m, row), form))
        *variant = k->like->variant[form];
    return VS_OK;
}

static double as_setup(ir_num x, uint8_t type) { return type == IR_F64 ? x.f : (double)x.i; }

static kin_setup *setup_of(mdl_model *m, row_kin *k, const mdl_variant *v)
{
    for (size_t i = 0; i < vec_len(k->setup); i++)
        if (k->setup[i].v == v)
            return &k->setup[i];
    const ir_fn *fn = &v->setup;
    ir_val *want = NULL;
    kin_setup s = {.v = v, .fixed = vs_calloc((size_t)v->lay.n_cache + 1, sizeof *s.fixed)};
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == IR_OUT_CACHE) {
            vec_push(want, fn->out[o].v);
            vec_push(s.type, fn->inst[fn->out[o].v].type);
            vec_push(s.slot, fn->out[o].a);
        }
    s.ok = trace_row(m, k, fn, NULL, want, vec_len(want), &s.trace);
    for (size_t o = 0; o < vec_len(want) && s.ok; o++)
        s.fixed[s.slot[o]] = as_setup(s.trace.t.out[o].fixed, s.type[o]);
    vec_free(want);
    vec_push(k->setup, s);
    return &vec_last(k->setup);
}

bool mdl_kin_setup(mdl_model *m, const mdl_variant *v, int32_t row, double *cache)
{
    row_kin *k = open_row(m, row);
    kin_setup *s = setup_of(m, k, v);
    if (!s->ok || !run(k, &s->trace, k->value))
        return false;
    memcpy(cache, s->fixed, (size_t)v->lay.n_cache * sizeof *cache);
    for (size_t i = 0; i < vec_len(s->trace.vary); i++) {
        const int32_t o = s->trace.vary[i];
        cache[s->slot[o]] = as_setup(s->trace.t.val[s->trace.t.out[o].at], s->type[o]);
    }
    return true;
}
