/* mdl_row.c - parameter rows: one distinct parameter set in one environment.
 * A row is found by the hash of its complete input, so that ten thousand equal instances share one
 * row at the price of a look-up each. A new row runs the module's params function (defaults,
 * ranges), then the topology form (node collapse, messages of static code), and looks for unknowns
 * that this set leaves idle. */
#include "mdl_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

ir_num mdl_as_input(double x, int type)
{
    if (type == IR_F64)
        return (ir_num){.f = x};
    ir_num r = {.f = 0};
    r.i = type == IR_BOOL ? x != 0 : ir_eval_op(IR_F2I, (ir_num){.f = x}, r, r).i;
    return r;
}

static double as_double(ir_num v, int type) { return type == IR_F64 ? v.f : (double)v.i; }

/* Value of an input; rest: of the row; `param` [n_param] are the parameters' values: those given
 * for the params function, those after defaults for all others. */
static double static_input(const mdl_model *m, const double *rest, const double *param,
                           const ir_input *in)
{
    const size_t n_param = vec_len(m->mod->param);
    switch ((ir_in_kind)in->kind) {
    case IR_IN_PARAM: return param[in->k];
    case IR_IN_GIVEN: return rest[key_given(m) - n_param + (size_t)in->k];
    case IR_IN_PORTCONN: return rest[key_port(m) - n_param + (size_t)in->k];
    case IR_IN_MFACTOR: return rest[key_mfactor(m) - n_param];
    case IR_IN_TEMP: return rest[key_temp(m) - n_param];
    case IR_IN_SIMPARAM: return rest[key_simparam(m) - n_param + (size_t)in->k];
    default: return 0.0;
    }
}

static void fill_inputs(const mdl_model *m, const row_data *r, const double *param, const ir_fn *fn,
                        ir_num *input)
{
    for (size_t i = 0; i < vec_len(fn->in); i++)
        input[i] = mdl_as_input(static_input(m, r->rest->v, param, &fn->in[i]), fn->in[i].type);
}

void mdl_row_inputs(const mdl_model *m, const row_data *r, const ir_fn *fn, ir_num *input)
{
    fill_inputs(m, r, r->param, fn, input);
}

void mdl_given_inputs(const mdl_model *m, const row_data *r, const ir_fn *fn, ir_num *input)
{
    fill_inputs(m, r, r->given, fn, input);
}

arena_pos mdl_work(mdl_model *m)
{
    if (!m->work.top)
        (void)arena_alloc(&m->work, 1); /* its first chunk stays */
    return arena_mark(&m->work);
}

void mdl_rest_free(row_rest *rest)
{
    if (rest && --rest->n_user == 0)
        vs_free(rest);
}

void mdl_row_free(row_data *r)
{
    mdl_rest_free(r->rest);
    vec_free(r->message);
    vs_free(r);
}

/* The rest of a key; shared with the last new row if both are the same. */
static row_rest *rest_of(mdl_model *m, const double *v)
{
    const size_t bytes = (key_len(m) - vec_len(m->mod->param)) * sizeof *v;
    if (!m->last_rest || memcmp(m->last_rest->v, v, bytes) != 0) {
        mdl_rest_free(m->last_rest);
        m->last_rest = vs_malloc(sizeof *m->last_rest + bytes);
        m->last_rest->n_user = 1;
        memcpy(m->last_rest->v, v, bytes);
    }
    m->last_rest->n_user++;
    return m->last_rest;
}

row_data *mdl_row_alone(mdl_model *m, const double *key)
{
    const size_t n_param = vec_len(m->mod->param), n_unknown = vec_len(m->unknown);
    row_data *r =
        vs_calloc(1, sizeof *r + 2 * n_param * sizeof(double) + n_unknown * sizeof(int32_t));
    r->rest = rest_of(m, key + n_param);
    r->given = (double *)(r + 1);
    r->param = r->given + n_param;
    r->topology = (int32_t *)(r->param + n_param);
    memcpy(r->given, key, n_param * sizeof *key);
    r->next = -1;
    return r;
}

void mdl_key_of(const mdl_model *m, const row_data *r, double *key)
{
    const size_t n_param = vec_len(m->mod->param);
    memcpy(key, r->given, n_param * sizeof *key);
    memcpy(key + n_param, r->rest->v, (key_len(m) - n_param) * sizeof *key);
}

static bool has_key(const mdl_model *m, const row_data *r, const double *key)
{
    const size_t n_param = vec_len(m->mod->param);
    return !memcmp(r->given, key, n_param * sizeof *key) &&
           !memcmp(r->rest->v, key + n_param, (key_len(m) - n_param) * sizeof *key);
}

/* -- the key -- */

/* Fills m->scratch. Simulator parameters that the module does not read count as 0. */
static vs_status fill_key(mdl_model *m, const mdl_given *given, size_t n_given, const mdl_env *env,
                          diag_span where, const char *who)
{
    if (!m->scratch)
        m->scratch = vs_calloc(key_len(m) + 1, sizeof *m->scratch);
    double *key = m->scratch;
    vs_status st = VS_OK;
    memset(key, 0, key_len(m) * sizeof *key);
    for (size_t i = 0; i < n_given; i++) {
        const va_param *p = &m->mod->param[given[i].param];
        if (p->local) {
            diag_error(m->lib->d, where, "%s: '%s' of %s is a constant and cannot be set", who,
                       p->name, m->mod->name);
            st = VS_EINPUT;
        }
        if (isnan(given[i].value)) {
            diag_error(m->lib->d, where, "%s: parameter '%s' is not a number", who, p->name);
            st = VS_EINPUT;
        }
        key[given[i].param] = given[i].value + 0.0; /* -0 and 0 are one key */
        key[key_given(m) + (size_t)given[i].param] = 1.0;
    }
    key[key_temp(m)] = m->temp_used ? env->temp : 0.0;
    key[key_mfactor(m)] = env->mfactor;
    for (int k = 0; k < IR_N_SIMPARAM; k++)
        if (m->simparam_used >> k & 1)
            key[key_simparam(m) + (size_t)k] = env->simparam[k];
    key[key_no_noise(m)] = env->no_noise;
    for (int32_t k = 0; k < m->mod->n_port; k++)
        key[key_port(m) + (size_t)k] = env->portconn ? env->portconn[k] : 1;
    return st;
}

/* -- parameters -- */

/* Who asks for a row: what messages say. */
typedef struct asker {
    const char *who; /* NULL: no messages */
    diag_span where; /* the instance */
    const diag_span *card;
    const mdl_given *given; /* [n_given] */
    size_t n_given;
} asker;

/* Where the value of a parameter was given; the instance, if nowhere. */
static diag_span place_of(const asker *a, int32_t param)
{
    for (size_t i = 0; i < a->n_given; i++)
        if (a->given[i].param == param && a->given[i].at.len)
            return a->given[i].at;
    return a->where;
}

static void range_error(const mdl_model *m, const row_data *r, int32_t k, const asker *a)
{
    const va_param *p = &m->mod->param[k];
    diag *d = m->lib->d;
    const char *who = a->who;
    const diag_span where = place_of(a, k);
    const char *space = p->unit && *p->unit ? " " : "", *unit = p->unit ? p->unit : "";
    if (p->type == VA_STRING)
        diag_error(d, where, "%s: parameter '%s' is \"%s\", which is not allowed%s%s", who, p->name,
                   str_of_id(m->lib->names, (int32_t)r->param[k]), *p->range ? "; allowed: " : "",
                   p->range);
    else
        diag_error(d, where, "%s: parameter '%s' is %.9g%s%s, outside its range %s", who, p->name,
                   r->param[k], space, unit, p->range);
    diag_note(d, p->span, "'%s' of module '%s' is declared here", p->name, m->mod->name);
}

static vs_status eval_params(mdl_model *m, row_data *r, const asker *a)
{
    mdl_need(m, MOD_PARAMS);
    const ir_fn *fn = &m->mod->params;
    const arena_pos mark = mdl_work(m);
    ir_num *val = arena_array(&m->work, ir_num, vec_len(fn->inst) + 1);
    ir_num *input = arena_array(&m->work, ir_num, vec_len(fn->in) + 1);
    fill_inputs(m, r, r->given, fn, input);
    vs_status st = ir_interp(fn, input, val, NULL, NULL);
    if (st != VS_OK && a->who)
        diag_error(m->lib->d, a->where, "%s: the defaults of module '%s' do not end", a->who,
                   m->mod->name);
    if (st != VS_OK)
        st = VS_EINPUT;
    for (size_t o = 0; o < vec_len(fn->out) && st == VS_OK; o++)
        if (fn->out[o].kind == IR_OUT_PARAM)
            r->param[fn->out[o].a] = as_double(val[fn->out[o].v], fn->inst[fn->out[o].v].type);
    vs_status ranges = st;
    for (size_t o = 0; o < vec_len(fn->out) && st == VS_OK; o++)
        if (fn->out[o].kind == IR_OUT_PARAM_OK && !val[fn->out[o].v].i) {
            if (a->who)
                range_error(m, r, fn->out[o].a, a);
            ranges = VS_EINPUT;
        }
    arena_release(&m->work, mark);
    return ranges;
}

/* -- topology: union-find over the unknowns and the reference node -- */

typedef struct collapse {
    const mdl_model *m;
    int32_t *parent; /* [n + 1]; n is the reference */
    int32_t n;
} collapse;

static int32_t root(collapse *c, int32_t u)
{
    if (u < 0)
        u = c->n;
    while (c->parent[u] != u)
        u = c->parent[u] = c->parent[c->parent[u]];
    return u;
}

/* The reference node and ports stay; they are not one with each other. */
static bool fixed(const collapse *c, int32_t u)
{
    return u == c->n || c->m->unknown[u].kind == VA_PORT;
}

/* True if the branch vanishes, its nodes being one. */
static bool join(collapse *c, int32_t hi, int32_t lo)
{
    int32_t a = root(c, hi), b = root(c, lo);
    if (a == b)
        return true;
    if (fixed(c, a) && fixed(c, b))
        return false;
    bool keep_a = fixed(c, a) || (!fixed(c, b) && a < b);
    c->parent[keep_a ? b : a] = keep_a ? a : b;
    return true;
}

typedef struct topology_run {
    mdl_model *m;
    row_data *r;
    const char *who;
    bool fatal;
} topology_run;

static void note_effect(void *user, const ir_fn *fn, const ir_effect *eff, const ir_num *val)
{
    topology_run *t = user;
    char *text = NULL;
    if (eff->kind == IR_EFF_DISCONTINUITY || t->fatal) /* $fatal ends the evaluation */
        return;
    mdl_effect_text(t->m->lib->names, fn, eff, val, t->who, &text);
    vec_push(text, 0);
    const mdl_message line = {(ir_eff_kind)eff->kind,
                              arena_strndup(&t->m->mem, text, strlen(text))};
    vec_push(t->r->message, line);
    t->m->lib->any_message = true;
    t->fatal |= eff->kind == IR_EFF_FATAL;
    vec_free(text);
}

static void apply_topology(mdl_model *m, const ir_fn *fn, const ir_num *val, const uint8_t *ran,
                           int32_t *topology)
{
    collapse c = {.m = m, .n = (int32_t)vec_len(m->unknown)};
    const arena_pos mark = mdl_work(m);
    uint8_t *unused = arena_array(&m->work, uint8_t, c.n + 1);
    c.parent = arena_array(&m->work, int32_t, c.n + 1);
    for (int32_t u = 0; u <= c.n; u++)
        c.parent[u] = u;
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        const ir_out *w = &fn->out[o];
        if (!ran[w->v] || !val[w->v].i)
            continue;
        if (w->kind == IR_OUT_DROP)
            unused[w->a] = 1;
        if (w->kind == IR_OUT_COLLAPSE) {
            const va_branch *br = &m->mod->branch[w->a];
            if (join(&c, br->hi, br->lo) && br->current >= 0)
                unused[br->current] = 1;
        }
    }
    for (int32_t u = 0; u < c.n; u++) {
        int32_t r = root(&c, u);
        topology[u] = unused[u] ? -2 : r == c.n ? -1 : r;
    }
    arena_release(&m->work, mark);
}

static bool may_rest(const mdl_model *m, const row_data *r, size_t u)
{
    const size_t conn = key_port(m) - vec_len(m->mod->param) + u;
    return m->quiet[u] & MAY_IDLE && r->topology[u] == (int32_t)u &&
           (m->unknown[u].kind != VA_PORT || r->rest->v[conn] == MDL_ALONE);
}

/* Internal unknowns that are 0 whatever the terminals do leave the matrix: a part that a flag
 * switches off. Those that are one with others stay. Ports that are alone are held.
 * Status: VS_OK, VS_NOCONV (a loop without end). */
static vs_status drop_idle(mdl_model *m, row_data *r)
{
    size_t n_u = vec_len(m->unknown), n = 0;
    const arena_pos mark = mdl_work(m);
    uint8_t *idle = arena_array(&m->work, uint8_t, n_u + 1);
    for (size_t u = 0; u < n_u; u++)
        idle[u] = may_rest(m, r, u);
    for (size_t u = 0; u < n_u; u++)
        if (r->topology[u] >= 0 && r->topology[u] != (int32_t)u)
            idle[r->topology[u]] = 0;
    for (size_t u = 0; u < n_u; u++)
        n += idle[u];
    vs_status st = VS_OK;
    if (n) {
        const form_fn *f = mdl_form_get(m, FORM_IDLE);
        ir_num *val = arena_array(&m->work, ir_num, vec_len(f->fn.inst) + 1);
        ir_num *input = arena_array(&m->work, ir_num, vec_len(f->fn.in) + 1);
        uint8_t *ran = arena_array(&m->work, uint8_t, vec_len(f->fn.inst) + 1);
        mdl_row_inputs(m, r, &f->fn, input);
        st = ir_interp_static(&f->fn, f->cls, input, val, ran, NULL);
        mdl_form_idle(m, &f->fn, f->cls, val, ran, idle);
    }
    for (size_t u = 0; u < n_u && st == VS_OK; u++)
        if (idle[u])
            r->topology[u] = m->unknown[u].kind == VA_PORT ? MDL_HELD : -2;
    arena_release(&m->work, mark);
    return st;
}

static bool has_no_noise(const mdl_model *m, const row_data *r)
{
    return r->rest->v[key_no_noise(m) - vec_len(m->mod->param)] != 0;
}

static vs_status find_topology(mdl_model *m, row_data *r, const asker *a)
{
    const form_fn *f = mdl_form_get(m, FORM_TOPOLOGY);
    size_t n = vec_len(f->fn.inst) + 1;
    const arena_pos mark = mdl_work(m);
    ir_num *val = arena_array(&m->work, ir_num, n);
    uint8_t *ran = arena_array(&m->work, uint8_t, n);
    ir_num *input = arena_array(&m->work, ir_num, vec_len(f->fn.in) + 1);
    topology_run run = {.m = m, .r = r, .who = a->who};
    ir_host host = {.effect = note_effect, .user = &run};
    mdl_row_inputs(m, r, &f->fn, input);
    vs_status st = ir_interp_static(&f->fn, f->cls, input, val, ran, &host);
    if (st == VS_OK) {
        apply_topology(m, &f->fn, val, ran, r->topology);
        for (size_t u = 0; u < vec_len(m->quiet); u++)
            if (m->quiet[u] & QUIET && has_no_noise(m, r) && r->topology[u] == (int32_t)u)
                r->topology[u] = -2;
        st = drop_idle(m, r);
    }
    if (st != VS_OK) {
        diag_error(m->lib->d, a->where, "%s: a loop in module '%s' does not end", a->who,
                   m->mod->name);
        st = VS_EINPUT;
    }
    if (run.fatal) {
        diag_error(m->lib->d, a->where, "%s: %s", a->who, vec_last(r->message).text);
        if (a->card)
            diag_note(m->lib->d, *a->card, "the model card is here");
        st = VS_EINPUT;
    }
    arena_release(&m->work, mark);
    return st;
}

/* -- rows -- */

int32_t mdl_find_param(mdl_model *m, const char *name)
{
    int32_t p = map_get(&m->param_of, map_key(name), -2);
    if (p == -2) {
        if (!m->param_index.entry)
            va_param_index_init(&m->param_index, m->mod);
        p = va_param_index_find(&m->param_index, m->mod, name);
        if (p >= 0 && m->mod->param[p].local)
            p = -1;
        map_set(&m->param_of, map_key(name), p);
    }
    return p;
}

/* Makes the row of the key in m->scratch. */
static vs_status new_row(mdl_model *m, const asker *a, row_data **out)
{
    row_data *r = mdl_row_alone(m, m->scratch);
    vs_status st = VS_OK;
    if (!mdl_store_load_row(m, r)) {
        st = eval_params(m, r, a);
        if (st == VS_OK)
            st = find_topology(m, r, a);
    }
    if (st == VS_OK)
        *out = r;
    else
        mdl_row_free(r);
    return st;
}

/* A row that was only a number becomes a full one. */
row_data *mdl_row_data(mdl_model *m, int32_t row)
{
    const row_place at = m->row[row];
    if (!at.is_number)
        return at.full;
    const row_data *like = mdl_kin_like(m, at.kin);
    double *key = vs_malloc((key_len(m) + 1) * sizeof *key);
    mdl_kin_key(m, row, key);
    row_data *r = mdl_row_alone(m, key);
    vs_free(key);
    const vs_status st = eval_params(m, r, &(asker){NULL});
    assert(st == VS_OK); /* mdl_kin_row has seen to it */
    (void)st;
    memcpy(r->topology, like->topology, vec_len(m->unknown) * sizeof *r->topology);
    for (int f = 0; f < MDL_N_FORM; f++)
        if (at.asked >> f & 1) {
            r->variant[f] = like->variant[f];
            r->decisions[f] = like->decisions[f];
        }
    m->row[row].full = r;
    m->row[row].is_number = false;
    return r;
}

/* How many rows without users are remembered: a value that comes back, as in a search or in
 * differences, finds its row. */
enum { MOST_RELEASED = 16 };

static void count_row(const row_data *r, int32_t by)
{
    for (int f = 0; f < MDL_N_FORM; f++)
        if (r->variant[f])
            r->variant[f]->n_row += by;
}

/* The row is no longer found by the hash of its key. */
void mdl_row_unhash(mdl_model *m, int32_t row)
{
    const row_data *r = m->row[row].full;
    int32_t k = map_get(&m->row_of_hash, r->hash, -1);
    if (k == row && r->next < 0)
        map_remove(&m->row_of_hash, r->hash);
    else if (k == row)
        map_set(&m->row_of_hash, r->hash, r->next);
    while (k >= 0 && k != row) {
        row_data *before = m->row[k].full;
        k = before->next;
        if (k == row)
            before->next = r->next;
    }
}

static void drop_row(mdl_model *m, int32_t row)
{
    if (m->row[row].kin >= 0)
        mdl_kin_forget(m, row);
    else
        mdl_row_unhash(m, row);
    mdl_row_free(m->row[row].full);
    m->row[row] = (row_place){.kin = -1};
    vec_push(m->free_row, row);
}

static void take_released(mdl_model *m, int32_t row)
{
    size_t i = 0;
    while (m->released[i] != row)
        i++;
    for (; i + 1 < vec_len(m->released); i++)
        m->released[i] = m->released[i + 1];
    (void)vec_pop(m->released);
    m->row[row].full->released = false;
    count_row(m->row[row].full, 1);
}

void mdl_row_take(mdl_model *m, int32_t row)
{
    if (!m->row[row].is_number && m->row[row].full->released)
        take_released(m, row);
}

void mdl_row_release(mdl_model *m, int32_t row)
{
    row_data *r = mdl_row_data(m, row);
    count_row(r, -1);
    r->released = true;
    vec_push(m->released, row);
    if (vec_len(m->released) <= MOST_RELEASED)
        return;
    const int32_t oldest = m->released[0];
    take_released(m, oldest);
    count_row(m->row[oldest].full, -1);
    drop_row(m, oldest);
}

int32_t mdl_row_add(mdl_model *m, row_place at)
{
    if (vec_len(m->free_row)) {
        const int32_t row = vec_pop(m->free_row);
        m->row[row] = at;
        return row;
    }
    vec_push(m->row, at);
    return (int32_t)vec_len(m->row) - 1;
}

/* The row of the key in m->scratch in a kin, made if it is new. */
static vs_status row_of_kin(mdl_model *m, int32_t kin, const asker *a, int32_t *row)
{
    const double value = mdl_kin_value(m, kin, m->scratch);
    *row = mdl_kin_row(m, kin, value);
    if (*row >= 0)
        return VS_OK;
    row_data *r = NULL;
    const vs_status st = new_row(m, a, &r);
    if (st != VS_OK)
        return st;
    r->next = -1;
    *row = mdl_row_add(m, (row_place){.full = r, .kin = kin});
    mdl_kin_enter(m, kin, *row, value);
    return VS_OK;
}

/* Of a thousand numbers most are 0: the others count, each with its place. */
static uint64_t hash_of_key(const double *key, size_t n)
{
    enum { N = 8 };
    uint64_t h = 0, word[N];
    for (size_t i = 0; i < n; i += N) {
        const size_t m = n - i < N ? n - i : N;
        uint64_t any = 0;
        memset(word, 0, sizeof word);
        memcpy(word, key + i, m * sizeof *word);
        for (size_t k = 0; k < N; k++)
            any |= word[k];
        for (size_t k = 0; k < N && any; k++)
            if (word[k]) {
                h = (h ^ word[k]) * 0x9e3779b97f4a7c15u + i + k;
                h ^= h >> 29;
            }
    }
    return h;
}

/* The row of the key in m->scratch, made if it is new. */
static vs_status row_of_scratch(mdl_model *m, const asker *a, int32_t *row)
{
    const int32_t kin = mdl_kin_of_key(m, m->scratch);
    if (kin >= 0)
        return row_of_kin(m, kin, a, row);
    uint64_t hash = hash_of_key(m->scratch, key_len(m));
    int32_t first = map_get(&m->row_of_hash, hash, -1);
    for (int32_t k = first; k >= 0; k = m->row[k].full->next)
        if (has_key(m, m->row[k].full, m->scratch)) {
            *row = k;
            mdl_row_take(m, k);
            return VS_OK;
        }
    row_data *r = NULL;
    const vs_status st = new_row(m, a, &r);
    if (st != VS_OK)
        return st;
    r->next = first;
    r->hash = hash;
    *row = mdl_row_add(m, (row_place){.full = r, .kin = -1});
    map_set(&m->row_of_hash, hash, *row);
    return VS_OK;
}

vs_status mdl_row(mdl_model *m, const mdl_given *given, size_t n_given, const mdl_env *env,
                  diag_span where, const char *who, int32_t *row)
{
    const vs_status st = fill_key(m, given, n_given, env, where, who);
    const asker a = {who, where, env->card, given, n_given};
    return st != VS_OK ? st : row_of_scratch(m, &a, row);
}

size_t mdl_key_len(const mdl_model *m) { return key_len(m); }

void mdl_row_key(const mdl_model *m, int32_t row, double *key)
{
    if (m->row[row].is_number)
        mdl_kin_key(m, row, key);
    else
        mdl_key_of(m, m->row[row].full, key);
}

bool mdl_row_has_key(const mdl_model *m, int32_t row, const double *key)
{
    if (m->row[row].is_number)
        return mdl_kin_of_key(m, key) == m->row[row].kin &&
               mdl_kin_value(m, m->row[row].kin, key) == m->row[row].value;
    return has_key(m, m->row[row].full, key);
}

vs_status mdl_row_of_key(mdl_model *m, const double *key, int32_t *row)
{
    const asker a = {.who = m->mod->name, .where = DIAG_NOWHERE};
    memcpy(m->scratch, key, key_len(m) * sizeof *key);
    return row_of_scratch(m, &a, row);
}

vs_status mdl_row_vary(mdl_model *m, int32_t row, int32_t param, double value, row_data **out)
{
    double *key = vs_malloc((key_len(m) + 1) * sizeof *key);
    mdl_row_key(m, row, key);
    key[param] = value;
    key[key_given(m) + (size_t)param] = 1.0;
    row_data *r = mdl_row_alone(m, key);
    vs_free(key);
    memcpy(r->topology, mdl_row_topology(m, row), vec_len(m->unknown) * sizeof *r->topology);
    const vs_status st = eval_params(m, r, &(asker){NULL});
    if (st == VS_OK)
        *out = r;
    else
        mdl_row_free(r);
    return st;
}

void mdl_drop_rows(mdl_lib *lib, int32_t most)
{
    for (size_t i = 0; i < vec_len(lib->model); i++) {
        mdl_model *m = lib->model[i];
        if ((int64_t)vec_len(m->row) <= most)
            continue;
        for (size_t k = 0; k < vec_len(m->row); k++)
            if (!m->row[k].is_number && m->row[k].full)
                mdl_row_free(m->row[k].full);
        mdl_kin_clear(m);
        vec_clear(m->free_row);
        vec_clear(m->released);
        for (size_t k = 0; k < vec_len(m->variant); k++)
            m->variant[k]->v.n_row = 0;
        vec_clear(m->row);
        map_free(&m->row_of_hash);
        m->row_of_hash = (map){0};
    }
}

int32_t mdl_n_row(const mdl_model *m) { return (int32_t)vec_len(m->row); }

bool mdl_row_is_new(mdl_model *m, int32_t row)
{
    const bool first = !m->row[row].seen;
    m->row[row].seen = true;
    return first;
}

double mdl_row_param(const mdl_model *m, int32_t row, int32_t param)
{
    return m->row[row].is_number ? mdl_kin_param(m, row, param) : m->row[row].full->param[param];
}

const int32_t *mdl_row_topology(mdl_model *m, int32_t row)
{
    const row_place *at = &m->row[row];
    return (at->is_number ? mdl_kin_like(m, at->kin) : at->full)->topology;
}

bool mdl_any_message(const mdl_lib *lib) { return lib->any_message; }

const mdl_message *mdl_row_messages(const mdl_model *m, int32_t row, size_t *n)
{
    *n = m->row[row].is_number ? 0 : vec_len(m->row[row].full->message);
    return *n ? m->row[row].full->message : NULL;
}
