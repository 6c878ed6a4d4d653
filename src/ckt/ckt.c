/* ckt.c - building a circuit: unknowns, devices, sources, groups. */

#include "ckt_priv.h"
#include "nat_delay.h"

#include <math.h>
#include <string.h>

/* -- names and unknowns -- */

/* The pool interns names that are asked for, also unknown ones. */
const char *ckt_own_name(const ckt *c, const char *name) { return str_intern0(c->names, name); }

/* A name that the client interned if the pool is its own: unknowns are found by pointers. (Asking
 * the pool would take a third of the time that a large circuit takes to be made.) */
static const char *given_name(const ckt *c, const char *name)
{
    if (c->names == &c->own_names)
        return ckt_own_name(c, name);
#ifndef __OPTIMIZE__ /* a debug build */
    assert(str_known(c->names, name, strlen(name)) == name);
#endif
    return name;
}

/* Where the unknown of an interned name stands in the table, or would. */
static size_t name_place(const ckt_names *t, const ckt_unknown *unknown, const char *name)
{
    const uint64_t h = map_key(name) * 0x9e3779b97f4a7c15u;
    size_t k = (size_t)(h ^ (h >> 32)) & (t->cap - 1);
    while (t->slot[k] && unknown[t->slot[k] - 1].name != name)
        k = (k + 1) & (t->cap - 1);
    return k;
}

static void grow_names(ckt_names *t, const ckt_unknown *unknown)
{
    ckt_names bigger = {.cap = t->cap ? t->cap * 2 : 16, .n = t->n};
    bigger.slot = vs_calloc(bigger.cap, sizeof *bigger.slot);
    for (size_t i = 0; i < t->cap; i++)
        if (t->slot[i])
            bigger.slot[name_place(&bigger, unknown, unknown[t->slot[i] - 1].name)] = t->slot[i];
    vs_free(t->slot);
    *t = bigger;
}

/* The last unknown gets its name, unless one before it has that. */
static void note_name(ckt *c)
{
    ckt_names *t = &c->by_name;
    if (t->n * 2 >= t->cap)
        grow_names(t, c->unknown);
    int32_t *slot = &t->slot[name_place(t, c->unknown, vec_last(c->unknown).name)];
    if (*slot)
        return;
    *slot = (int32_t)vec_len(c->unknown);
    t->n++;
}

/* The unknown of an interned name; -1: there is none. */
static int32_t find_name(const ckt *c, const char *name)
{
    return c->by_name.n ? c->by_name.slot[name_place(&c->by_name, c->unknown, name)] - 1 : -1;
}

static int32_t add_unknown(ckt *c, const char *name, ckt_kind kind, bool internal, bool node)
{
    const int32_t k = (int32_t)vec_len(c->unknown);
    if (c->redoing) {
        ckt_redo_fails(c, "other unknowns");
        return 0;
    }
    vec_push(c->unknown,
             (ckt_unknown){.name = name, .kind = kind, .internal = internal, .node = node});
    note_name(c);
    return k;
}

static int32_t new_unknown(ckt *c, const char *name, ckt_kind kind, bool internal, bool node)
{
    return add_unknown(c, ckt_own_name(c, name), kind, internal, node);
}

/* 2e6 operations take some 20 us with 8 lanes; threads that spin are there within 1 us, those that
 * sleep within 10 to 50. */
static void make_pool(ckt *c)
{
    enum { MOST_BY_DEFAULT = 8 };
    int n = c->opt.threads;
    if (n <= 0) {
        n = pool_processors();
        n = n < MOST_BY_DEFAULT ? n : MOST_BY_DEFAULT;
    }
    c->pool = n > 1 ? pool_new(n) : NULL;
    c->parallel_min = c->opt.parallel_min > 0 ? c->opt.parallel_min : 2e6;
}

struct pool *ckt_pool(const ckt *c) { return c->pool; }

double ckt_parallel_min(const ckt *c) { return c->parallel_min; }

/* A loop over some vectors takes as long as some OPERATIONS of a kernel for an element, and to hand
 * it over some 1,000 elements. */
bool ckt_shares_vectors(const ckt *c, int32_t m)
{
    enum { OPERATIONS = 250 };
    return c->pool && (double)m * OPERATIONS >= c->parallel_min;
}

static void say_if_heard(void *user, const char *text)
{
    const ckt *c = user;
    if (c->line)
        c->line(c->line_user, text);
}

ckt *ckt_new(const ckt_opt *opt, diag *d)
{
    ckt *c = vs_calloc(1, sizeof *c);
    arena_init(&c->mem);
    str_pool_init(&c->own_names);
    c->names = opt->names ? opt->names : &c->own_names;
    c->d = d;
    c->opt = *opt;
    if (opt->simparam) {
        double *copy = arena_array(&c->mem, double, IR_N_SIMPARAM);
        memcpy(copy, opt->simparam, IR_N_SIMPARAM * sizeof(double));
        c->opt.simparam = copy;
    }
    make_pool(c);
    c->nat.host = (nat_host){&c->mem, d, c->opt.simparam, say_if_heard, c};
    c->sources = nat_sources_of(&c->nat);
    vec_extend(c->tol, 1);
    new_unknown(c, "0", CKT_VOLTAGE, false, false);
    return c;
}

void ckt_free(ckt **pc)
{
    ckt *c = *pc;
    if (!c)
        return;
    ckt_small_drop(c);
    ckt_redo_free(c);
    lu_fini(&c->spare);
    for (size_t i = 0; i < vec_len(c->group); i++)
        dev_group_fini(&c->group[i]);
    ckt_latent_free(c);
    ckt_pairs_free(c);
    vec_free(c->group);
    nat_free(&c->nat);
    pool_free(&c->pool);
    vec_free(c->unknown);
    vec_free(c->tol);
    vec_free(c->inst);
    vec_free(c->unk);
    for (size_t i = 0; i < VS_COUNT(c->shape); i++) {
        vec_free(c->shape[i].topo);
        vec_free(c->shape[i].root);
        vec_free(c->shape[i].is_usual);
    }
    vec_free(c->wrap);
    vec_free(c->ic);
    vec_free(c->fix);
    vec_free(c->firm);
    vec_free(c->still.at);
    vec_free(c->still.node);
    vec_free(c->moving.at);
    vec_free(c->moving.node);
    vec_free(c->noise);
    vec_free(c->said);
    vec_free(c->noise_gain);
    map_free(&c->inst_by_name);
    vs_free(c->by_name.slot);
    map_free(&c->source_by_name);
    str_pool_fini(&c->own_names);
    arena_fini(&c->rows_mem);
    arena_fini(&c->mem);
    vs_free(c);
    *pc = NULL;
}

int32_t ckt_node(ckt *c, const char *name)
{
    if (!strcmp(name, "gnd"))
        return 0;
    name = given_name(c, name);
    const int32_t k = find_name(c, name);
    return k >= 0 ? k : add_unknown(c, name, CKT_VOLTAGE, false, true);
}

int32_t ckt_unknown_of_event(ckt *c, const char *name)
{
    const int32_t k = new_unknown(c, name, CKT_OTHER, false, false);
    c->unknown[k].digital = true;
    return k;
}

int32_t ckt_branch_of_event(ckt *c, const char *name)
{
    return new_unknown(c, arena_printf(&c->mem, "%s#branch", name), CKT_CURRENT, false, false);
}

int32_t ckt_inner_node(ckt *c, const char *name)
{
    return new_unknown(c, name, CKT_VOLTAGE, true, true);
}

int32_t ckt_find(const ckt *c, const char *name)
{
    if (!strcmp(name, "gnd"))
        return 0;
    return find_name(c, ckt_own_name(c, name));
}

/* -- devices -- */

/* The unknown that u is one with: itself, another, -1 reference, -2 not in use. */
static int32_t root_of(const int32_t *topo, int32_t n, int32_t u)
{
    for (int32_t i = 0; i < n && u >= 0 && topo[u] != u; i++)
        u = topo[u];
    return u;
}

static bool is_unit(const va_unknown *v, const char *unit)
{
    return !v->unit || !v->unit[0] || !strcmp(v->unit, unit);
}

ckt_tolerance ckt_tolerance_of(const ckt *c, int32_t unknown)
{
    return c->tol[c->unknown[unknown].tolerance];
}

static void set_tolerance(ckt *c, int32_t unknown, ckt_tolerance t)
{
    int32_t k = (int32_t)vec_len(c->tol);
    while (k > 0 && (c->tol[k - 1].x != t.x || c->tol[k - 1].row != t.row))
        k--;
    if (!k) {
        vec_push(c->tol, t);
        k = (int32_t)vec_len(c->tol);
    }
    c->unknown[unknown].tolerance = k - 1;
}

/* Whether its tolerances are those of options (volt and ampere). */
static bool is_usual(const va_unknown *v)
{
    return v->kind == VA_PORT || v->kind == VA_NODE ? is_unit(v, "V")
                                                    : v->kind == VA_CURRENT && is_unit(v, "A");
}

/* Tolerances as the model declares them. */
static void declare_tolerances(ckt *c, int32_t unknown, const va_unknown *v)
{
    if (is_usual(v))
        return;
    if (v->kind == VA_PORT || v->kind == VA_NODE)
        c->unknown[unknown].kind = CKT_OTHER;
    set_tolerance(c, unknown, (ckt_tolerance){v->abstol, v->res_abstol});
}

static int32_t n_currents(const mdl_model *m, const int32_t *topo)
{
    const va_unknown *all = mdl_unknown(m, 0); /* side by side */
    int32_t n = 0;
    for (int32_t u = 0, end = mdl_n_unknown(m); u < end; u++)
        n += all[u].kind == VA_CURRENT && topo[u] == u;
    return n;
}

/* The unknown u = d/dt argument that src/mdl puts behind those of the module. */
static bool is_rate(const mdl_model *m, int32_t u)
{
    return u >= (int32_t)vec_len(mdl_module(m)->unknown);
}

/* A rate is as exact as its argument over the step; it has no test of its own, hence this large
 * tolerance. */
static const double RATE_ABSTOL = 1e30;

static int32_t new_device_unknown(ckt *c, const char *inst, const mdl_model *m, int32_t u,
                                  bool only_current)
{
    const va_unknown *v = mdl_unknown(m, u);
    const bool node = v->kind == VA_PORT || v->kind == VA_NODE;
    const bool current = v->kind == VA_CURRENT;
    const char *name =
        arena_printf(&c->mem, "%s#%s", inst, current && only_current ? "branch" : v->name);
    const ckt_kind kind = node ? CKT_VOLTAGE : current ? CKT_CURRENT : CKT_OTHER;
    const int32_t k = new_unknown(c, name, kind, !(current && only_current), node);
    declare_tolerances(c, k, v);
    if (is_rate(m, u))
        set_tolerance(c, k, (ckt_tolerance){RATE_ABSTOL, ckt_tolerance_of(c, k).row});
    return k;
}

/* Two ports that a device makes one stay two nodes with a source of 0 V between them. */
static vs_status short_ports(ckt *c, const ckt_inst *inst, int32_t a, int32_t b)
{
    if (a == b)
        return VS_OK;
    const wave zero = {.kind = WAVE_DC, .dc_given = true};
    const char *name = arena_printf(&c->mem, "%s#short%d", inst->name, (int)a);
    return ckt_add_vsource(c, name, a, b, &zero, 1, ckt_inst_span(inst));
}

/* The shape of devices with this topology, made again, in place of the oldest, where none of those
 * that are kept is it. */
static const ckt_shape *shape_of(ckt *c, const mdl_model *m, const int32_t *topo)
{
    ckt_shape *s = c->shape;
    for (const ckt_shape *end = s + VS_COUNT(c->shape); s < end; s++)
        if (s->model == m && !memcmp(s->topo, topo, vec_len(s->topo) * sizeof *topo))
            return s; /* the row may be another one */
    s = &c->shape[c->n_shape++ % VS_COUNT(c->shape)];
    const int32_t n = mdl_n_unknown(m), n_port = mdl_module(m)->n_port;
    s->model = m;
    vec_clear(s->topo);
    s->only_current = n_currents(m, topo) == 1;
    vec_clear(s->root);
    vec_clear(s->is_usual);
    for (int32_t u = 0; u < n; u++) {
        vec_push(s->topo, topo[u]);
        vec_push(s->root, root_of(topo, n, u));
    }
    for (int32_t u = 0; u < n_port; u++)
        vec_push(s->is_usual, is_usual(mdl_unknown(m, u)));
    return s;
}

static vs_status map_ports(ckt *c, const ckt_inst *inst, const int32_t *terminal,
                           const ckt_shape *s, int32_t *unk)
{
    const int32_t n_port = (int32_t)vec_len(s->is_usual);
    for (int32_t u = 0; u < n_port; u++) {
        if (terminal[u] >= 0) {
            unk[u] = terminal[u];
            if (terminal[u] > 0 && !s->is_usual[u])
                declare_tolerances(c, terminal[u], mdl_unknown(inst->model, u));
        } else if (s->root[u] == u) {
            unk[u] = new_device_unknown(c, inst->name, inst->model, u, s->only_current);
        }
    }
    for (int32_t u = 0; u < n_port; u++) {
        const int32_t r = s->root[u];
        if (r == u || r < -1)
            continue;
        const int32_t other = r < 0 ? 0 : unk[r];
        if (terminal[u] < 0)
            unk[u] = other;
        else if (short_ports(c, inst, unk[u], other) != VS_OK)
            return VS_EINPUT;
    }
    return VS_OK;
}

static void map_internal(ckt *c, const ckt_inst *inst, const ckt_shape *s, int32_t *unk)
{
    const int32_t n_port = (int32_t)vec_len(s->is_usual), n = (int32_t)vec_len(s->root);
    for (int32_t u = n_port; u < n; u++)
        if (s->root[u] == u)
            unk[u] = new_device_unknown(c, inst->name, inst->model, u, s->only_current);
    for (int32_t u = n_port; u < n; u++) {
        const int32_t r = s->root[u];
        if (r != u)
            unk[u] = r < 0 ? 0 : unk[r];
    }
}

/* What the language cannot express: delays and unknowns that count modulo. */
static void add_native_parts(ckt *c, const va_module *m, const int32_t *unk)
{
    for (size_t i = 0; i < vec_len(m->native); i++) {
        const int32_t *u = m->native[i].unknown;
        if (m->native[i].kind == VA_WRAP)
            vec_push(c->wrap, ((ckt_wrap){unk[u[0]], unk[u[1]]}));
        else
            nat_delay_add(&c->nat, unk[u[0]], unk[u[1]], unk[u[2]], u[3] < 0 ? -1 : unk[u[3]]);
    }
}

vs_status ckt_add_device(ckt *c, const char *name, mdl_model *m, int32_t row,
                         const int32_t *terminal, diag_span span)
{
    if (c->redoing)
        return ckt_redo_device(c, m, row, terminal);
    assert(!c->finished);
    const ckt_shape *shape = shape_of(c, m, mdl_row_topology(m, row));
    const ckt_inst inst = {
        .name = given_name(c, name),
        .model = m,
        .row = row,
        .first = (int32_t)vec_len(c->unk),
        .off = span.off,
        .file = (uint16_t)(span.file >= 0 && span.file < UINT16_MAX ? span.file + 1 : 0),
        .len = (uint16_t)(span.len < UINT16_MAX ? span.len : UINT16_MAX)};
    vec_push(c->inst, inst);
    vec_extend(c->unk, vec_len(shape->root));
    int32_t *unk = &c->unk[inst.first];
    if (map_ports(c, &inst, terminal, shape, unk) != VS_OK)
        return VS_EINPUT;
    map_internal(c, &inst, shape, unk);
    add_native_parts(c, mdl_module(m), unk);
    return VS_OK;
}

/* -- sources -- */

static vs_status add_source(ckt *c, const char *name, nat_source s)
{
    assert(!c->finished);
    s.name = ckt_own_name(c, name);
    if (map_get(&c->source_by_name, map_key(s.name), -1) >= 0) {
        diag_error(c->d, s.span, "there is already a source '%s'", name);
        return VS_EINPUT;
    }
    map_set(&c->source_by_name, map_key(s.name), (int32_t)vec_len(c->sources->all));
    nat_source_add(&c->nat, &s);
    return VS_OK;
}

vs_status ckt_add_vsource(ckt *c, const char *name, int32_t p, int32_t n, const wave *w, double m,
                          diag_span span)
{
    if (c->redoing)
        return ckt_redo_source(c, true, p, n, w, m);
    const char *branch = arena_printf(&c->mem, "%s#branch", name);
    const int32_t k = new_unknown(c, branch, CKT_CURRENT, false, false);
    return add_source(
        c, name, (nat_source){.is_v = true, .p = p, .n = n, .k = k, .m = m, .w = *w, .span = span});
}

vs_status ckt_add_isource(ckt *c, const char *name, int32_t p, int32_t n, const wave *w, double m,
                          diag_span span)
{
    if (c->redoing)
        return ckt_redo_source(c, false, p, n, w, m);
    return add_source(c, name, (nat_source){.p = p, .n = n, .m = m, .w = *w, .span = span});
}

/* -- lines and devices of OSDI libraries -- */

static nat_line_opt line_of(ckt *c, const char *name, const int32_t node[4], double m,
                            diag_span span)
{
    assert(!c->finished);
    nat_line_opt o = {.name = ckt_own_name(c, name), .span = span, .m = m};
    memcpy(o.node, node, sizeof o.node);
    for (int p = 0; p < 2; p++)
        o.k[p] =
            new_unknown(c, arena_printf(&c->mem, "%s#i%d", name, p + 1), CKT_CURRENT, true, false);
    return o;
}

void ckt_add_line(ckt *c, const char *name, const int32_t node[4], double z, double td, double m,
                  diag_span span)
{
    const nat_line_opt o = line_of(c, name, node, m, span);
    nat_line_add(&c->nat, &o, z, td);
}

void ckt_add_lossy_line(ckt *c, const char *name, const int32_t node[4], const nat_lossy_opt *lossy,
                        double m, diag_span span)
{
    const nat_line_opt o = line_of(c, name, node, m, span);
    nat_lossy_add(&c->nat, &o, lossy);
}

static const double *own_numbers(ckt *c, const double *x, int64_t n)
{
    double *own = arena_alloc(&c->mem, (size_t)n * sizeof *own);
    memcpy(own, x, (size_t)n * sizeof *own);
    return own;
}

const nat_table *ckt_own_table(ckt *c, const nat_table *t)
{
    nat_table *own = arena_new(&c->mem, nat_table);
    int64_t n = 1;
    *own = *t;
    for (int32_t k = 0; k < t->n_axis; n *= t->n[k], k++)
        own->axis[k] = own_numbers(c, t->axis[k], t->n[k]);
    own->value = own_numbers(c, t->value, n);
    return own;
}

void ckt_add_table(ckt *c, const nat_table_opt *o)
{
    assert(!c->finished);
    nat_table_opt own = *o;
    own.name = ckt_own_name(c, o->name);
    nat_table_add(&c->nat, &own);
}

static int32_t new_osdi_unknown(ckt *c, const char *device, const osdi_node *n)
{
    const char *name = arena_printf(&c->mem, "%s#%s", device, n->name);
    const ckt_kind kind = n->flow   ? (n->ampere ? CKT_CURRENT : CKT_OTHER)
                          : n->volt ? CKT_VOLTAGE
                                    : CKT_OTHER;
    const int32_t k = new_unknown(c, name, kind, true, !n->flow);
    c->unknown[k].closed = true;
    set_tolerance(c, k, (ckt_tolerance){n->abstol, n->res_abstol});
    return k;
}

void ckt_add_osdi(ckt *c, osdi_inst *in, const int32_t *terminal, diag_span span)
{
    assert(!c->finished);
    const osdi_module *m = in->module;
    const char *name = ckt_own_name(c, in->name);
    int32_t *unk = NULL; /* vec */
    vec_extend(unk, m->n_node);
    for (int32_t i = 0; i < in->n_terminal; i++)
        unk[i] = terminal[i];
    for (int32_t i = in->n_terminal; i < m->n_node; i++)
        if (in->one_with[i] == i)
            unk[i] = new_osdi_unknown(c, name, &m->node[i]);
    for (int32_t i = in->n_terminal; i < m->n_node; i++)
        if (in->one_with[i] != i)
            unk[i] = in->one_with[i] < 0 ? 0 : unk[in->one_with[i]];
    nat_osdi_add(&c->nat, in, name, span, unk);
    vec_free(unk);
}

int32_t ckt_n_osdi(const ckt *c)
{
    const nat_set *s = c->nat.set[NAT_OSDI];
    return s ? s->kind->count(s) : 0;
}

ckt_osdi_facts ckt_osdi_at(const ckt *c, int32_t i)
{
    const nat_device d = nat_osdi_kind.at(c->nat.set[NAT_OSDI], i);
    return (ckt_osdi_facts){d.name, nat_osdi_inst(&c->nat, i), d.node, d.n_node, d.span};
}

/* -- finish -- */

/* A charge in a row is memory of that unknown. A rate u = d/dt argument has none itself: its
 * argument has, that is, the unknowns in its row. */
static void mark_form(ckt *c, const dev_group *g, const dev_form *f)
{
    for (int32_t k = 0; k < f->n_out; k++) {
        const mdl_out *o = &f->variant->out[k];
        const bool react = o->kind == IR_OUT_REACT && !is_rate(g->model, o->a);
        const bool argument =
            o->kind == IR_OUT_J && is_rate(g->model, o->a) && !is_rate(g->model, o->b);
        for (int32_t i = 0; i < g->nb && (react || argument); i++)
            c->unknown[f->map[(size_t)i * (size_t)f->n_u + (size_t)(react ? o->a : o->b)]].has_q =
                true;
    }
}

static void mark_charges(ckt *c)
{
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (c->group[i].form[MDL_TRAN].variant)
            mark_form(c, &c->group[i], &c->group[i].form[MDL_TRAN]);
    int32_t *row = NULL;
    nat_charges(&c->nat, &row);
    for (size_t i = 0; i < vec_len(row); i++)
        c->unknown[row[i]].has_q = true;
    vec_free(row);
    c->unknown[0].has_q = false;
}

static void allocate_work(ckt *c)
{
    int32_t n_out = 1;
    for (size_t g = 0; g < vec_len(c->group); g++)
        for (int f = 0; f < MDL_N_FORM; f++)
            if (c->group[g].form[f].n_out > n_out)
                n_out = c->group[g].form[f].n_out;
    c->n_buffer = ckt_buffers_of(c);
    c->out_size = (size_t)n_out * DEV_BATCH;
    c->out = arena_vectors(&c->mem, (size_t)c->n_buffer * c->out_size);
    c->x = arena_array(&c->mem, double, vec_len(c->unknown));
    c->qlo = arena_array(&c->mem, double, vec_len(c->unknown) + CKT_PADDING);
}

/* Sets what ckt_accept has to do. */
static void note_acceptance(ckt *c)
{
    c->has_effects = nat_accepts(&c->nat);
    c->has_limits = false;
    for (size_t i = 0; i < vec_len(c->group); i++) {
        const dev_group *g = &c->group[i];
        c->has_effects |= g->n_state > 0;
        c->has_limits |= g->n_lim > 0;
        for (int f = 0; f < MDL_N_FORM; f++)
            c->has_effects |= g->form[f].variant && g->form[f].variant->has_effects;
    }
}

vs_status ckt_finish(ckt *c, unsigned forms)
{
    assert(!c->finished);
    c->finished = true;
    c->forms = forms;
    vs_status st = ckt_make_groups(c);
    if (st != VS_OK)
        return st;
    mark_charges(c);
    if (forms >> MDL_DC & 1)
        st = ckt_check_topology(c);
    ckt_make_pattern(c);
    allocate_work(c);
    pool_aside_end(c->pool); /* ckt_rows_begin */
    ckt_bypass_make(c);
    note_acceptance(c);
    if (st == VS_OK && ckt_small_pays(c))
        ckt_small_make(c);
    return st;
}

/* -- facts -- */

int32_t ckt_n(const ckt *c) { return (int32_t)vec_len(c->unknown) - 1; }

const ckt_unknown *ckt_unknowns(const ckt *c) { return c->unknown; }

const csc *ckt_pattern(const ckt *c) { return &c->a; }

double *ckt_diag(ckt *c, int32_t unknown)
{
    const int32_t s = c->diag_slot[unknown];
    return unknown > 0 && s >= 0 ? &c->a.val[s] : NULL;
}

ckt_stat *ckt_stats(ckt *c) { return &c->stat; }

void ckt_set_line_sink(ckt *c, void (*line)(void *user, const char *text), void *user)
{
    c->line = line;
    c->line_user = user;
    for (size_t i = 0; line && i < vec_len(c->said); i++)
        line(user, c->said[i]);
    if (line)
        vec_clear(c->said);
}

void ckt_say(ckt *c, const char *text)
{
    if (c->line)
        c->line(c->line_user, text);
    else
        vec_push(c->said, arena_strndup(&c->mem, text, strlen(text)));
}
