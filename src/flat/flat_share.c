/* flat_share.c - behavioural expressions that many elements have in common are evaluated once.
 *
 * All behavioural expressions of the circuit become one graph in which equal subexpressions are one
 * value (hash-consing: operator, operands, resolved nodes and numbers are compared, not text). A
 * value that is heavy, reads several unknowns and is used by several elements becomes an unknown x
 * of its own with the row  x - expression = 0 ; its users read v(x). The Jacobian then has one row
 * with the expression's many derivatives, and one entry in each user, where it had all of them in
 * each user. Light values stay in their users: an unknown costs more than evaluating them again. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

/* An unknown costs its row in the solver, its evaluation and one entry per user: about what 200
 * simple operations cost per Newton iteration (docs/numerics.md). */
enum { LEAST_OPS = 8, LEAST_SAVED = 200, LEAST_LEAVES = 2 };

typedef struct value {  /* one distinct subexpression */
    const net_expr *e;  /* one of its trees */
    int32_t arg;        /* first of its operands in graph.arg */
    double ops, leaves; /* of the tree; shared parts count each time */
    double weight;      /* how often it is evaluated in one load */
    int32_t lo, hi;     /* first and last element that uses it */
    bool memory;        /* ddt, idt, laplace: has a state of its own in each element */
    bool chosen;
    int32_t node; /* of its unknown, 0: none */
} value;

typedef struct graph {
    flat *f;
    str_pool *names;
    arena *mem;
    value *v;     /* vec; operands stand before their users */
    int32_t *arg; /* vec */
    map of_tree;  /* net_expr -> value */
    map by_hash;  /* hash, hash + 1, ... -> value */
    map node_names;
    int32_t n_named;
} graph;

/* -- the graph -- */

static double op_cost(const net_expr *e)
{
    switch (e->op) {
    case NET_NUM:
    case NET_VNODE:
    case NET_IBRANCH:
    case NET_TIME:
    case NET_TEMPER:
    case NET_HERTZ:
    case NET_S:
    case NET_STR:
    case NET_PARAM: return 0;
    case NET_DIV:
    case NET_MOD: return 4;
    case NET_POW: return 20;
    case NET_CALL:
        return e->fn == NET_FN_MIN || e->fn == NET_FN_MAX || e->fn == NET_FN_ABS ? 1 : 15;
    default: return 1;
    }
}

static bool same_value(const graph *g, const value *v, const net_expr *e, const int32_t *arg)
{
    const net_expr *o = v->e;
    if (o->op != e->op || o->n_arg != e->n_arg ||
        (e->op == NET_CALL && (o->fn != e->fn || o->name != e->name)))
        return false;
    switch (e->op) {
    case NET_NUM: return !memcmp(&o->num, &e->num, sizeof e->num);
    case NET_VNODE: return o->node[0] == e->node[0] && o->node[1] == e->node[1];
    case NET_IBRANCH:
    case NET_STR:
    case NET_PARAM: return o->name == e->name;
    default: return !e->n_arg || !memcmp(&g->arg[v->arg], arg, (size_t)e->n_arg * sizeof *arg);
    }
}

static uint64_t hash_of(const net_expr *e, const int32_t *arg)
{
    uint64_t key[6] = {(uint64_t)e->op << 32 | (uint32_t)e->n_arg};
    if (e->op == NET_CALL)
        key[1] = (uint64_t)e->fn;
    if (e->op == NET_NUM)
        memcpy(&key[2], &e->num, sizeof e->num);
    if (e->op == NET_VNODE)
        key[3] = (uint64_t)(uint32_t)e->node[0] << 32 | (uint32_t)e->node[1];
    if (e->op == NET_IBRANCH || e->op == NET_STR || e->op == NET_PARAM)
        key[4] = map_key(e->name);
    key[5] = e->n_arg ? str_hash(arg, (size_t)e->n_arg * sizeof *arg) : 0;
    return str_hash(key, sizeof key);
}

static int32_t add_value(graph *g, const net_expr *e, const int32_t *arg)
{
    uint64_t h = hash_of(e, arg) | 1;
    int32_t k;
    while ((k = map_get(&g->by_hash, h, -1)) >= 0 && !same_value(g, &g->v[k], e, arg))
        h += 2;
    if (k >= 0) {
        if (!g->v[k].e->label && e->label)
            g->v[k].e = e;
        return k;
    }
    k = (int32_t)vec_len(g->v);
    map_set(&g->by_hash, h, k);
    value v = {.e = e,
               .arg = (int32_t)vec_len(g->arg),
               .ops = op_cost(e),
               .lo = INT32_MAX,
               .hi = -1,
               .leaves = e->op == NET_VNODE || e->op == NET_IBRANCH,
               .memory = e->op == NET_CALL && e->fn >= NET_FN_DDT};
    for (int32_t i = 0; i < e->n_arg; i++) {
        const value *a = &g->v[arg[i]];
        vec_push(g->arg, arg[i]);
        v.ops += a->ops;
        v.leaves += a->leaves;
        v.memory |= a->memory;
    }
    vec_push(g->v, v);
    return k;
}

static int32_t value_of(graph *g, const net_expr *e)
{
    int32_t k = map_get(&g->of_tree, map_key(e), -1);
    if (k >= 0)
        return k;
    int32_t few[8], *arg = few;
    if (e->n_arg > 8)
        arg = arena_array(g->mem, int32_t, e->n_arg);
    for (int32_t i = 0; i < e->n_arg; i++)
        arg[i] = value_of(g, e->arg[i]);
    if ((e->op == NET_ADD || e->op == NET_MUL) && arg[0] > arg[1]) { /* these commute exactly */
        const int32_t t = arg[0];
        arg[0] = arg[1];
        arg[1] = t;
    }
    k = add_value(g, e, arg);
    map_set(&g->of_tree, map_key(e), k);
    return k;
}

/* -- choosing -- */

static bool worth(const value *v)
{
    return !v->memory && v->hi > v->lo && v->leaves >= LEAST_LEAVES && v->ops >= LEAST_OPS &&
           (v->weight - 1) * v->ops >= LEAST_SAVED &&
           v->weight * v->leaves >= 2 * (v->weight + v->leaves);
}

static const char *free_name(graph *g, const value *v)
{
    const char *name = v->e->label;
    if (name && map_get(&g->node_names, map_key(name), -1) < 0)
        return name;
    if (name)
        return str_intern0(g->names, arena_printf(g->mem, "%s#var", name));
    return str_intern0(g->names, arena_printf(g->mem, "shared#%d", (int)++g->n_named));
}

/* Proposes values, users before operands: a proposed value is evaluated once, and so evaluates its
 * operands once. */
static void propose(graph *g)
{
    for (int32_t k = (int32_t)vec_len(g->v) - 1; k >= 0; k--) {
        value *v = &g->v[k];
        v->chosen = worth(v);
        for (int32_t i = 0; i < v->e->n_arg; i++) {
            value *a = &g->v[g->arg[v->arg + i]];
            a->weight += v->chosen ? 1 : v->weight;
            a->lo = v->lo < a->lo ? v->lo : a->lo;
            a->hi = v->hi > a->hi ? v->hi : a->hi;
        }
    }
}

/* Settles the proposals, operands before users, by what is left of a value when its chosen operands
 * are unknowns. */
static bool settle(graph *g, bool dry)
{
    bool any = false;
    for (size_t k = 0; k < vec_len(g->v); k++) {
        value *v = &g->v[k];
        if (!v->e->n_arg)
            continue;
        v->ops = op_cost(v->e);
        v->leaves = 0;
        for (int32_t i = 0; i < v->e->n_arg; i++) {
            const value *a = &g->v[g->arg[v->arg + i]];
            v->ops += a->node ? 0 : a->ops;
            v->leaves += a->node ? 1 : a->leaves;
        }
        if (!v->chosen || !worth(v))
            continue;
        if (dry)
            return true;
        const char *name = free_name(g, v);
        v->node = (int32_t)vec_len(g->f->node);
        vec_push(g->f->node, name);
        map_set(&g->node_names, map_key(name), v->node);
        any = true;
    }
    return any;
}

/* -- rewriting -- */

/* The tree with v(x) in place of chosen values; `self`: below this one only. */
static const net_expr *rewrite(graph *g, const net_expr *e, map *done, bool self)
{
    const int32_t k = map_get(&g->of_tree, map_key(e), -1);
    if (k >= 0 && g->v[k].node && !self) {
        net_expr *r = arena_alloc(g->mem, sizeof *r);
        *r = (net_expr){.op = NET_VNODE, .name = g->f->node[g->v[k].node], .span = e->span};
        r->node[0] = g->v[k].node;
        return r;
    }
    if (!e->n_arg)
        return e;
    const int32_t at = self ? -1 : map_get(done, map_key(e), -1);
    if (at >= 0)
        return g->v[at].e; /* rewritten before */
    const net_expr *few[8], **arg = few;
    bool changed = false;
    if (e->n_arg > 8)
        arg = arena_array(g->mem, const net_expr *, e->n_arg);
    for (int32_t i = 0; i < e->n_arg; i++) {
        arg[i] = rewrite(g, e->arg[i], done, false);
        changed |= arg[i] != e->arg[i];
    }
    if (!changed)
        return e;
    net_expr *r = arena_alloc(g->mem, sizeof *r + (size_t)e->n_arg * sizeof r->arg[0]);
    *r = *e;
    for (int32_t i = 0; i < e->n_arg; i++)
        r->arg[i] = arg[i];
    if (k >= 0 && !self) {
        g->v[k].e = r;
        map_set(done, map_key(e), k);
    }
    return r;
}

static void add_row(graph *g, const value *v, const net_expr *e)
{
    const char *name = g->f->node[v->node];
    flat_inst row = {
        .name = str_intern0(g->names, arena_printf(g->mem, "row#%s", name)),
        .letter = 'b',
        .n_node = 2,
        .node = arena_array(g->mem, int32_t, 2),
        .m = 1,
        .rare = &flat_no_rare,
        .expr_is_v = true,
        .is_row = true,
        .span = v->e->span,
    };
    flat_own_rare(g->mem, &row)->expr = e;
    row.node[0] = v->node;
    vec_push(g->f->inst, row);
}

static bool shared_off(const flat *f)
{
    bool off = false;
    for (size_t i = 0; i < vec_len(f->option); i++) {
        if (!strcmp(f->option[i].name, "noshare"))
            off = f->option[i].value != 0;
        else if (!strcmp(f->option[i].name, "share"))
            off = f->option[i].value == 0;
    }
    return off;
}

bool flat_share(flat_ctx *c, bool dry)
{
    graph g = {.f = c->f, .names = c->names, .mem = c->mem};
    const size_t n = vec_len(c->f->inst);
    bool any = false;
    if (shared_off(c->f))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!c->f->inst[i].rare->expr)
            continue;
        const int32_t k = value_of(&g, c->f->inst[i].rare->expr);
        g.v[k].weight++;
        g.v[k].lo = (int32_t)i < g.v[k].lo ? (int32_t)i : g.v[k].lo;
        g.v[k].hi = (int32_t)i > g.v[k].hi ? (int32_t)i : g.v[k].hi;
    }
    if (vec_len(g.v)) {
        for (size_t i = 0; i < vec_len(c->f->node); i++)
            map_set(&g.node_names, map_key(c->f->node[i]), (int32_t)i);
        propose(&g);
        any = settle(&g, dry);
        if (any && !dry) {
            map done = {0};
            const net_expr **row = NULL; /* trees before any is rewritten */
            for (size_t k = 0; k < vec_len(g.v); k++)
                vec_push(row, g.v[k].e);
            for (size_t k = 0; k < vec_len(g.v); k++)
                if (g.v[k].node)
                    add_row(&g, &g.v[k], rewrite(&g, row[k], &done, true));
            for (size_t i = 0; i < n; i++)
                if (c->f->inst[i].rare->expr)
                    flat_own_rare(c->mem, &c->f->inst[i])->expr =
                        rewrite(&g, c->f->inst[i].rare->expr, &done, false);
            vec_free(row);
            map_free(&done);
        }
    }
    vec_free(g.v);
    vec_free(g.arg);
    map_free(&g.of_tree);
    map_free(&g.by_hash);
    map_free(&g.node_names);
    return any;
}
