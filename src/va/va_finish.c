/* va_finish.c - from the raw function to va_module.eval: ddx(), port currents, hidden state,
 * outputs that only a static value makes valid.
 * ddx: each potential was lowered as probe + p_node, where p is an input that stands for 0. The
 *      derivative of a value by V(node) is the one by p; ir_ad makes it beside the value, so it is
 *      visible where ddx() was written. Then the p vanish.
 * State: every variable begins with IN STATE (its value at the last accepted point). That is kept
 *      only where a later point can really see it; everywhere else the variable's initial value is
 *      what is read, and static values stay static. See keep_state below. */
#include "va_lower.h"

#include <string.h>

/* -- copying with replacement -- */

static ir_val mapped(const ir_val *vmap, ir_val v) { return v < 0 ? v : vmap[v]; }

ir_val lw_copy_inst(ir_fn *to, const ir_fn *from, ir_val i, const ir_val *vmap)
{
    const ir_inst *p = &from->inst[i];
    switch ((ir_op)p->op) {
    case IR_CONST: {
        double x = from->con[p->a];
        return p->type == IR_F64   ? ir_const(to, x)
               : p->type == IR_I32 ? ir_const_i(to, (int32_t)x)
                                   : ir_const_b(to, x != 0);
    }
    case IR_IN: {
        const ir_input *in = &from->in[p->a];
        return ir_in(to, (ir_in_kind)in->kind, in->k, (ir_type)in->type, in->inst);
    }
    case IR_LIMIT: return ir_emit(to, IR_LIMIT, IR_F64, vmap[p->a], p->b, IR_NONE);
    case IR_IF: return ir_if(to, vmap[p->a]);
    case IR_ELSE: ir_else(to); return IR_NONE;
    case IR_END: ir_end(to); return IR_NONE;
    case IR_PHI: return ir_phi(to, vmap[p->a], vmap[p->b], vmap[p->c]);
    case IR_LOOP: return ir_loop(to);
    case IR_LPHI: return ir_lphi(to, vmap[p->a], vmap[p->b]);
    case IR_WHILE: ir_while(to, vmap[p->a]); return IR_NONE;
    case IR_ENDLOOP: ir_endloop(to); return IR_NONE;
    case IR_EFFECT: {
        ir_effect e = from->eff[p->a];
        e.arg = NULL;
        for (size_t k = 0; k < vec_len(from->eff[p->a].arg); k++)
            vec_push(e.arg, vmap[from->eff[p->a].arg[k]]);
        ir_effect_add(to, e);
        return IR_NONE;
    }
    default: {
        int n = ir_op_arity((ir_op)p->op);
        return ir_emit(to, (ir_op)p->op, (ir_type)p->type, n > 0 ? vmap[p->a] : IR_NONE,
                       n > 1 ? vmap[p->b] : IR_NONE, n > 2 ? vmap[p->c] : IR_NONE);
    }
    }
}

static void finish_copy(ir_fn *to, const ir_fn *from, const ir_val *vmap)
{
    for (size_t i = 0; i < vec_len(from->inst); i++)
        if (from->inst[i].op == IR_LPHI)
            to->inst[vmap[i]].c = mapped(vmap, from->inst[i].c);
    for (size_t i = 0; i < vec_len(from->out); i++) {
        const ir_out *o = &from->out[i];
        ir_out_add(to, (ir_out_kind)o->kind, o->a, o->b, vmap[o->v]);
    }
}

/* The values that an instruction uses. */
static int operands(const ir_inst *p, ir_val op[3])
{
    int n = 0;
    if (p->op == IR_PHI || p->op == IR_LPHI) {
        op[n++] = p->b;
        op[n++] = p->c;
    } else {
        int k = ir_op_arity((ir_op)p->op);
        for (int j = 0; j < k; j++)
            op[n++] = j == 0 ? p->a : j == 1 ? p->b : p->c;
    }
    return n;
}

static int32_t dyn_k(const ir_fn *fn, ir_val v)
{
    const ir_inst *p = &fn->inst[v];
    return p->op == IR_IN && fn->in[p->a].kind == IR_IN_DYN ? fn->in[p->a].k : 0;
}

/* -- ddx -- */

static bool is_pert(const ir_fn *fn, ir_val v) { return dyn_k(fn, v) >= LW_PERT_NODE; }

/* Puts the derivatives where ddx() was, and takes the perturbations out. */
static void substitute_ddx(ir_fn *to, const ir_fn *from, const ir_val *deriv)
{
    size_t n = vec_len(from->inst);
    ir_val *vmap = NULL;
    vec_extend(vmap, n);
    ir_fn_init(to, from->name);
    ir_val zero = ir_const(to, 0);
    for (size_t i = 0; i < n; i++) {
        const ir_inst *p = &from->inst[i];
        int32_t k = dyn_k(from, (ir_val)i);
        if (k >= LW_PERT_NODE)
            vmap[i] = zero;
        else if (k >= LW_DDX)
            vmap[i] = deriv[k - LW_DDX] < 0 ? zero : vmap[deriv[k - LW_DDX]];
        else if ((p->op == IR_ADD || p->op == IR_SUB) && is_pert(from, p->b))
            vmap[i] = vmap[p->a];
        else
            vmap[i] = lw_copy_inst(to, from, (ir_val)i, vmap);
    }
    finish_copy(to, from, vmap);
    vec_free(vmap);
}

static int seed_index(const int32_t *pert, int32_t k)
{
    for (size_t i = 0; i < vec_len(pert); i++)
        if (pert[i] == k)
            return (int)i;
    return -1;
}

/* Derives for all ddx() at once, with one seed for each unknown that one of them derives by. */
static void resolve_ddx(lw *L, ir_fn *to, const ir_fn *raw)
{
    int32_t *seed = NULL, *pert = NULL;
    ir_val *want = NULL;
    size_t n = vec_len(L->ddx), n_inst = vec_len(raw->inst);
    for (size_t i = 0; i < vec_len(raw->in); i++) {
        if (raw->in[i].kind == IR_IN_DYN && raw->in[i].k >= LW_PERT_NODE) {
            vec_push(seed, (int32_t)i);
            vec_push(pert, raw->in[i].k);
        }
    }
    for (size_t i = 0; i < n; i++)
        vec_push(want, L->ddx[i].e);
    size_t n_seed = vec_len(seed);
    ir_val *deriv = NULL, *vmap = NULL, *chosen = NULL;
    vec_extend(deriv, n * n_seed + 1);
    vec_extend(vmap, n_inst);
    ir_fn with;
    ir_ad(&with, raw, seed, (int)n_seed, want, (int)n, deriv, vmap);
    for (size_t i = 0; i < n; i++) {
        int s = seed_index(pert, L->ddx[i].by);
        vec_push(chosen, s < 0 ? IR_NONE : deriv[i * n_seed + (size_t)s]);
    }
    substitute_ddx(to, &with, chosen);
    ir_fn_fini(&with);
    vec_free(seed);
    vec_free(pert);
    vec_free(want);
    vec_free(deriv);
    vec_free(vmap);
    vec_free(chosen);
}

/* -- port currents -- */

/* The current of a port is the sum of its row, known only when everything else is. The function is
 * copied twice. The first copy gives the equations. The second, in which I(<port>) has its value,
 * gives the operating-point variables that use it. Equations must not use it, since that would be a
 * loop. */
typedef struct ports {
    const ir_fn *fn;
    uint8_t *uses; /* [n_inst] depends on a port current */
} ports;

static bool is_port(const ir_fn *fn, ir_val v)
{
    int32_t k = dyn_k(fn, v);
    return k >= LW_PORT && k < LW_DDX;
}

static void find_port_users(ports *p)
{
    const ir_fn *fn = p->fn;
    for (int round = 0; round < 2; round++) { /* twice for loops */
        for (size_t i = 0; i < vec_len(fn->inst); i++) {
            const ir_inst *q = &fn->inst[i];
            ir_val op[3];
            int n = operands(q, op);
            if (is_port(fn, (ir_val)i) || (q->op == IR_PHI && p->uses[fn->inst[q->a].a]))
                p->uses[i] = 1;
            for (int k = 0; k < n; k++)
                p->uses[i] |= op[k] >= 0 && p->uses[op[k]];
        }
    }
}

static bool effect_uses(const ports *p, ir_val i)
{
    const ir_effect *e = &p->fn->eff[p->fn->inst[i].a];
    bool yes = false;
    for (size_t k = 0; k < vec_len(e->arg); k++)
        yes = yes || p->uses[e->arg[k]];
    return yes;
}

/* Copies the function.  second  I(<port>) is row[port], and only messages that use one are kept */
static void copy_ports(const ports *p, ir_fn *to, ir_val *vmap, const ir_val *row, ir_val zero)
{
    for (size_t i = 0; i < vec_len(p->fn->inst); i++) {
        const ir_inst *q = &p->fn->inst[i];
        if (is_port(p->fn, (ir_val)i))
            vmap[i] = row ? row[dyn_k(p->fn, (ir_val)i) - LW_PORT] : zero;
        else if (q->op != IR_EFFECT || effect_uses(p, (ir_val)i) == (row != NULL))
            vmap[i] = lw_copy_inst(to, p->fn, (ir_val)i, vmap);
    }
    for (size_t i = 0; i < vec_len(p->fn->inst); i++)
        if (p->fn->inst[i].op == IR_LPHI)
            to->inst[vmap[i]].c = vmap[p->fn->inst[i].c];
}

static void resolve_ports(lw *L, ir_fn *to, const ir_fn *from)
{
    arena *mem = &L->c->mem;
    size_t n = vec_len(from->inst);
    ports p = {.fn = from, .uses = arena_alloc(mem, n + 1)};
    ir_val *first = arena_array(mem, ir_val, n + 1), *second = arena_array(mem, ir_val, n + 1);
    ir_val *row = arena_array(mem, ir_val, vec_len(L->out->unknown) + 1);
    find_port_users(&p);
    ir_fn_init(to, from->name);
    ir_val zero = ir_const(to, 0);
    copy_ports(&p, to, first, NULL, zero);
    for (int32_t k = 0; k < L->out->n_port; k++)
        row[k] = zero;
    for (size_t i = 0; i < vec_len(from->out); i++)
        if (from->out[i].kind == IR_OUT_RES && from->out[i].a < L->out->n_port)
            row[from->out[i].a] = first[from->out[i].v];
    copy_ports(&p, to, second, row, zero);
    for (size_t i = 0; i < vec_len(from->out); i++) {
        const ir_out *o = &from->out[i];
        bool uses = p.uses[o->v] && (o->kind == IR_OUT_OPVAR || o->kind == IR_OUT_STATE);
        if (p.uses[o->v] && !uses)
            lw_error(L, L->m->port_flow, -1,
                     "the current of a port, I(<port>), is used in the equations of "
                     "module '%s': only output variables may use it",
                     L->out->name);
        ir_out_add(to, (ir_out_kind)o->kind, o->a, o->b, (uses ? second : first)[o->v]);
    }
}

/* -- hidden state -- */

/* The place of an instruction: an arm of an IF, which is in the place `up` itself. */
typedef struct place {
    int32_t up; /* -1: top level */
    ir_val cond;
    bool arm;
} place;

typedef struct fact {
    ir_val cond;
    bool value;
} fact;

typedef struct states {
    const ir_fn *fn;
    uint8_t *cls;
    place *place;   /* vec */
    int32_t *at;    /* [n_inst] place of an instruction, -1 */
    int32_t *first; /* [n_inst + 1] uses of a value in use[] */
    int32_t *use;
    int32_t *out_first, *out_use; /* the same for outputs */
    ir_val *in;                   /* vec: IN STATE instruction of each state read */
    int32_t *slot;                /* vec: its slot */
    ir_val *final;                /* vec: OUT STATE value, IR_NONE if there is none */
    int32_t *by_slot;             /* [n_slot] -> index above, -1 */
    bool *alive;                  /* vec */
    int32_t *in_set;              /* [n_inst] stamp: value may be the state being looked at */
    int32_t now;
    ir_val s;   /* the state being looked at */
    fact *fact; /* vec: what is known on the path */
    int budget;
} states;

static void find_places(states *st)
{
    int32_t now = -1;
    for (size_t i = 0; i < vec_len(st->fn->inst); i++) {
        const ir_inst *p = &st->fn->inst[i];
        if (p->op == IR_END)
            now = st->place[now].up;
        if (p->op == IR_ELSE) {
            place other = {st->place[now].up, st->place[now].cond, false};
            vec_push(st->place, other);
            now = (int32_t)vec_len(st->place) - 1;
        }
        st->at[i] = now;
        if (p->op == IR_IF) {
            vec_push(st->place, (place){now, p->a, true});
            now = (int32_t)vec_len(st->place) - 1;
        }
    }
}

static void count_uses(states *st, bool fill)
{
    const ir_fn *fn = st->fn;
    size_t n = vec_len(fn->inst);
    for (size_t i = 0; i < n; i++) {
        ir_val op[3];
        int k = operands(&fn->inst[i], op);
        for (int j = 0; j < k; j++) {
            if (fill)
                st->use[--st->first[op[j]]] = (int32_t)i;
            else
                st->first[op[j]]++;
        }
        if (fn->inst[i].op == IR_EFFECT)
            for (size_t j = 0; j < vec_len(fn->eff[fn->inst[i].a].arg); j++) {
                ir_val v = fn->eff[fn->inst[i].a].arg[j];
                if (fill)
                    st->use[--st->first[v]] = (int32_t)i;
                else
                    st->first[v]++;
            }
    }
    for (size_t i = 0; i < vec_len(fn->out); i++) {
        if (fill)
            st->out_use[--st->out_first[fn->out[i].v]] = (int32_t)i;
        else
            st->out_first[fn->out[i].v]++;
    }
}

static void sum_up(int32_t *first, size_t n)
{
    for (size_t i = 1; i <= n; i++)
        first[i] += first[i - 1];
}

static void find_uses(states *st, arena *mem)
{
    size_t n = vec_len(st->fn->inst);
    st->first = arena_array(mem, int32_t, n + 1);
    st->out_first = arena_array(mem, int32_t, n + 1);
    count_uses(st, false);
    sum_up(st->first, n);
    sum_up(st->out_first, n);
    st->use = arena_array(mem, int32_t, st->first[n] + 1);
    st->out_use = arena_array(mem, int32_t, st->out_first[n] + 1);
    count_uses(st, true);
}

static void find_states(states *st, int32_t n_slot)
{
    const ir_fn *fn = st->fn;
    for (int32_t i = 0; i < n_slot; i++)
        st->by_slot[i] = -1;
    for (size_t i = 0; i < vec_len(fn->inst); i++) {
        const ir_inst *p = &fn->inst[i];
        if (p->op != IR_IN || fn->in[p->a].kind != IR_IN_STATE || st->by_slot[fn->in[p->a].k] >= 0)
            continue;
        st->by_slot[fn->in[p->a].k] = (int32_t)vec_len(st->in);
        vec_push(st->in, (ir_val)i);
        vec_push(st->slot, fn->in[p->a].k);
        vec_push(st->final, IR_NONE);
        vec_push(st->alive, false);
    }
    for (size_t i = 0; i < vec_len(fn->out); i++)
        if (fn->out[i].kind == IR_OUT_STATE && st->by_slot[fn->out[i].a] >= 0)
            st->final[st->by_slot[fn->out[i].a]] = fn->out[i].v;
}

/* -- facts about conditions -- */

/* Records that c has this value, and what follows for the parts of c. */
static void assume(states *st, ir_val c, bool value)
{
    const ir_inst *p = &st->fn->inst[c];
    vec_push(st->fact, (fact){c, value});
    if (p->op == IR_BNOT) {
        assume(st, p->a, !value);
    } else if ((p->op == IR_BAND && value) || (p->op == IR_BOR && !value)) {
        assume(st, p->a, value);
        assume(st, p->b, value);
    }
}

/* 1, 0, or -1: not known */
static int known(const states *st, ir_val c)
{
    for (size_t i = vec_len(st->fact); i-- > 0;)
        if (st->fact[i].cond == c)
            return st->fact[i].value;
    const ir_inst *p = &st->fn->inst[c];
    if (p->op == IR_BNOT) {
        int k = known(st, p->a);
        return k < 0 ? -1 : !k;
    }
    if (p->op == IR_BAND || p->op == IR_BOR) {
        int a = known(st, p->a), b = known(st, p->b), strong = p->op == IR_BOR;
        if (a == strong || b == strong)
            return strong;
        return a < 0 || b < 0 ? -1 : !strong;
    }
    return -1;
}

static void assume_place(states *st, int32_t at)
{
    for (; at >= 0; at = st->place[at].up)
        assume(st, st->place[at].cond, st->place[at].arm);
}

static void forget(states *st, size_t mark)
{
    while (vec_len(st->fact) > mark)
        (void)vec_pop(st->fact);
}

/* A phi, or the select that ir_opt makes of one: b if the condition holds, else c. */
static bool is_choice(const ir_inst *p) { return p->op == IR_PHI || p->op == IR_SELECT; }
static ir_val phi_cond(const states *st, const ir_inst *p)
{
    return p->op == IR_SELECT ? p->a : st->fn->inst[p->a].a;
}
static bool in_set(const states *st, ir_val v) { return st->in_set[v] == st->now; }
static bool spend(states *st) { return --st->budget > 0; }

/* Whether the facts rule out that u is the state. */
static bool never_state(states *st, ir_val u)
{
    if (!in_set(st, u))
        return true;
    const ir_inst *p = &st->fn->inst[u];
    if (u == st->s || !is_choice(p) || !spend(st))
        return false;
    int k = known(st, phi_cond(st, p));
    if (k >= 0)
        return never_state(st, k ? p->b : p->c);
    bool ok = true;
    for (int arm = 1; arm >= 0 && ok; arm--) {
        size_t mark = vec_len(st->fact);
        assume(st, phi_cond(st, p), arm);
        ok = never_state(st, arm ? p->b : p->c);
        forget(st, mark);
    }
    return ok;
}

/* Whether f is the state wherever u is: then u is read where the variable was not assigned. */
static bool untouched(states *st, ir_val u, ir_val f)
{
    if (u == f || !in_set(st, u))
        return true;
    const ir_inst *pu = &st->fn->inst[u], *pf = &st->fn->inst[f];
    if (!spend(st))
        return false;
    const ir_inst *p = is_choice(pf) && in_set(st, f) ? pf : is_choice(pu) ? pu : NULL;
    if (!p)
        return false;
    int k = known(st, phi_cond(st, p));
    bool ok = true;
    for (int arm = 1; arm >= 0 && ok; arm--) {
        if (k >= 0 && k != arm)
            continue;
        size_t mark = vec_len(st->fact);
        if (k < 0)
            assume(st, phi_cond(st, p), arm);
        ir_val next = arm ? p->b : p->c;
        ok = p == pf ? untouched(st, u, next) : untouched(st, next, f);
        forget(st, mark);
    }
    return ok;
}

/* -- one state -- */

typedef struct reach {
    ir_val *set;        /* vec: values that may be the state: itself and phis */
    bool dynamic;       /* a condition on the way is dynamic */
    bool static_leaves; /* what is assigned is static */
} reach;

static void reach_state(states *st, reach *r)
{
    r->static_leaves = true;
    vec_push(r->set, st->s);
    st->in_set[st->s] = st->now;
    for (size_t i = 0; i < vec_len(r->set); i++) {
        ir_val u = r->set[i];
        for (int32_t k = st->first[u]; k < st->first[u + 1]; k++) {
            ir_val v = st->use[k];
            const ir_inst *p = &st->fn->inst[v];
            if ((!is_choice(p) && p->op != IR_LPHI) || in_set(st, v))
                continue;
            st->in_set[v] = st->now;
            vec_push(r->set, v);
            ir_val c = is_choice(p) ? phi_cond(st, p) : st->fn->inst[st->fn->inst[p->a].a].a;
            r->dynamic = r->dynamic || !ir_class_static(st->cls[c]);
        }
    }
    for (size_t i = 1; i < vec_len(r->set); i++) {
        const ir_inst *p = &st->fn->inst[r->set[i]];
        ir_val arm[2] = {p->b, p->c};
        for (int k = 0; k < 2; k++)
            if (!in_set(st, arm[k]) && !ir_class_static(st->cls[arm[k]]))
                r->static_leaves = false;
    }
}

static bool read_is_harmless(states *st, ir_val u, int32_t at, ir_val f, bool dynamic)
{
    forget(st, 0);
    assume_place(st, at);
    st->budget = 2000;
    if (never_state(st, u))
        return true;
    st->budget = 2000;
    return !dynamic && f >= 0 && untouched(st, u, f);
}

/* Whether some point can see a value that an earlier point stored:
 *  - a read sees the state on a path where the variable is assigned afterwards, or
 *  - conditions on the way are dynamic: the variable may have been assigned at the last point.
 * A read sees only the initial value if on its path the variable is not assigned at all and static
 * conditions alone decide that. Values that are static under static conditions are the same at
 * every point, so a state for them would store nothing new. */
static bool keep_state(states *st, size_t k)
{
    reach r = {0};
    st->now++;
    st->s = st->in[k];
    reach_state(st, &r);
    bool keep = false;
    for (size_t i = 0; i < vec_len(r.set) && !keep; i++) {
        ir_val u = r.set[i];
        for (int32_t j = st->first[u]; j < st->first[u + 1] && !keep; j++) {
            const ir_inst *p = &st->fn->inst[st->use[j]];
            if (!is_choice(p) && p->op != IR_LPHI)
                keep = !read_is_harmless(st, u, st->at[st->use[j]], st->final[k], r.dynamic);
        }
        for (int32_t j = st->out_first[u]; j < st->out_first[u + 1] && !keep; j++) {
            const ir_out *o = &st->fn->out[st->out_use[j]];
            if (o->kind == IR_OUT_CACHE)
                continue; /* carries an initial value, see below */
            if (o->kind == IR_OUT_STATE) {
                int32_t other = st->by_slot[o->a];
                if (o->a == st->slot[k] || other < 0 || !st->alive[other])
                    continue;
            }
            keep = !read_is_harmless(st, u, -1, st->final[k], r.dynamic);
        }
    }
    ir_val f = st->final[k];
    bool static_end = f < 0 || in_set(st, f) || ir_class_static(st->cls[f]);
    if (keep && !r.dynamic && r.static_leaves && static_end)
        keep = false;
    vec_free(r.set);
    return keep;
}

static void find_alive(states *st)
{
    bool grown = true;
    while (grown) {
        grown = false;
        for (size_t k = 0; k < vec_len(st->in); k++) {
            if (st->alive[k] || !keep_state(st, k))
                continue;
            st->alive[k] = grown = true;
        }
    }
}

/* -- rewriting -- */

/* Initial values travel through ir_opt as outputs CACHE, numbered by slot. */
static void export_initial(lw *L, ir_fn *fn)
{
    double x;
    for (size_t i = 0; i < vec_len(L->m->var); i++) {
        const va_sym *y = L->m->var[i];
        for (int32_t k = y->index; k < y->index + y->n && y->kind == SY_VAR; k++)
            if (!(lw_konst(L, L->init_val[k], &x) && x == 0))
                ir_out_add(fn, IR_OUT_CACHE, k, 0, L->init_val[k]);
    }
}

static ir_val initial_of(const ir_fn *from, int32_t slot)
{
    for (size_t i = 0; i < vec_len(from->out); i++)
        if (from->out[i].kind == IR_OUT_CACHE && from->out[i].a == slot)
            return from->out[i].v;
    return IR_NONE;
}

static ir_val zero_of(ir_fn *to, ir_type t)
{
    return t == IR_F64 ? ir_const(to, 0) : ir_const_i(to, 0);
}

/* A kept state is numbered anew. One with an initial value is accompanied by a flag, 0 before the
 * first point: value = flag ? state : initial. */
static ir_val replace_state(lw *L, const states *st, ir_fn *to, ir_val i, const ir_val *before,
                            int32_t *number)
{
    const ir_input *in = &st->fn->in[st->fn->inst[i].a];
    int32_t k = st->by_slot[in->k];
    ir_val init = mapped(before, initial_of(st->fn, in->k));
    if (!st->alive[k])
        return init >= 0 ? init : zero_of(to, (ir_type)in->type);
    number[k] = L->out->n_state;
    L->out->n_state += init >= 0 ? 2 : 1;
    ir_val s = ir_in(to, IR_IN_STATE, number[k], (ir_type)in->type, false);
    if (init < 0)
        return s;
    ir_val flag = ir_in(to, IR_IN_STATE, number[k] + 1, IR_I32, false);
    ir_val set = ir_bin(to, IR_INE, flag, ir_const_i(to, 0));
    ir_out_add(to, IR_OUT_STATE, number[k] + 1, 0, ir_const_i(to, 1));
    return ir_select(to, set, s, init);
}

/* One copy of all instructions. number NULL: the copy before the states, which makes the initial
 * values (they depend on no state); the rest of it is dead. */
static void copy_states(lw *L, const states *st, ir_fn *to, ir_val *vmap, const ir_val *before,
                        int32_t *number)
{
    const ir_fn *from = st->fn;
    for (size_t i = 0; i < vec_len(from->inst); i++) {
        const ir_inst *p = &from->inst[i];
        bool state = p->op == IR_IN && from->in[p->a].kind == IR_IN_STATE;
        if (state)
            vmap[i] = number ? replace_state(L, st, to, (ir_val)i, before, number)
                             : zero_of(to, (ir_type)p->type);
        else if (number || p->op != IR_EFFECT)
            vmap[i] = lw_copy_inst(to, from, (ir_val)i, vmap);
    }
    for (size_t i = 0; i < vec_len(from->inst); i++)
        if (from->inst[i].op == IR_LPHI)
            to->inst[vmap[i]].c = vmap[from->inst[i].c];
}

static bool has_initial(const ir_fn *fn)
{
    for (size_t i = 0; i < vec_len(fn->out); i++)
        if (fn->out[i].kind == IR_OUT_CACHE)
            return true;
    return false;
}

static void rewrite_states(lw *L, const states *st, ir_fn *to)
{
    const ir_fn *from = st->fn;
    size_t n = vec_len(from->inst);
    ir_val *vmap = arena_array(&L->c->mem, ir_val, n + 1),
           *before = arena_array(&L->c->mem, ir_val, n + 1);
    int32_t *number = arena_array(&L->c->mem, int32_t, vec_len(st->in) + 1);
    ir_fn_init(to, from->name);
    if (has_initial(from))
        copy_states(L, st, to, before, NULL, NULL);
    copy_states(L, st, to, vmap, before, number);
    for (size_t i = 0; i < vec_len(from->out); i++) {
        const ir_out *o = &from->out[i];
        int32_t k = o->kind == IR_OUT_STATE ? st->by_slot[o->a] : -1;
        if (o->kind == IR_OUT_STATE && k >= 0 && st->alive[k])
            ir_out_add(to, IR_OUT_STATE, number[k], 0, vmap[o->v]);
        else if (o->kind != IR_OUT_STATE && o->kind != IR_OUT_CACHE)
            ir_out_add(to, (ir_out_kind)o->kind, o->a, o->b, vmap[o->v]);
    }
}

static void resolve_states(lw *L, ir_fn *to, const ir_fn *from)
{
    arena *mem = &L->c->mem;
    size_t n = vec_len(from->inst);
    states st = {.fn = from,
                 .cls = arena_alloc(mem, n + 1),
                 .at = arena_array(mem, int32_t, n + 1),
                 .in_set = arena_array(mem, int32_t, n + 1),
                 .by_slot =
                     arena_array(mem, int32_t, (size_t)L->m->n_slot + vec_len(L->state) + 1)};
    ir_classes(from, st.cls);
    find_places(&st);
    find_uses(&st, mem);
    find_states(&st, L->m->n_slot + (int32_t)vec_len(L->state));
    find_alive(&st);
    rewrite_states(L, &st, to);
    vec_free(st.place);
    vec_free(st.in);
    vec_free(st.slot);
    vec_free(st.final);
    vec_free(st.alive);
    vec_free(st.fact);
}

/* -- outputs that only count when they are static -- */

/* Drops COLLAPSE and DROP of a switch that depends on voltages: its unknown must stay. */
static void drop_dynamic_outputs(lw *L, ir_fn *fn)
{
    uint8_t *cls = arena_alloc(&L->c->mem, vec_len(fn->inst) + 1);
    size_t to = 0;
    ir_classes(fn, cls);
    for (size_t i = 0; i < vec_len(fn->out); i++) {
        const ir_out *o = &fn->out[i];
        const ir_inst *p = &fn->inst[o->v];
        bool choice = o->kind == IR_OUT_COLLAPSE || o->kind == IR_OUT_DROP;
        bool never = p->op == IR_CONST && fn->con[p->a] == 0;
        if (!choice || (ir_class_static(cls[o->v]) && !never))
            fn->out[to++] = *o;
    }
    while (vec_len(fn->out) > to)
        (void)vec_pop(fn->out);
}

/* Replaces fn by what the pass makes of it. */
static void apply(lw *L, ir_fn *fn, void (*pass)(lw *L, ir_fn *to, const ir_fn *from))
{
    ir_fn to;
    pass(L, &to, fn);
    ir_fn_fini(fn);
    *fn = to;
}

static void optimize(lw *L, ir_fn *to, const ir_fn *from)
{
    (void)L;
    ir_opt(to, from, (ir_opt_flags){.once = true});
}

void va_finish(lw *L)
{
    export_initial(L, L->fn);
    if (L->has_read)
        va_put_reads(L);
    if (L->m->has_ddx)
        apply(L, L->fn, resolve_ddx);
    if (L->has_port)
        apply(L, L->fn, resolve_ports);
    apply(L, L->fn, optimize);
    apply(L, L->fn, resolve_states);
    apply(L, L->fn, optimize);
    drop_dynamic_outputs(L, L->fn);
    ir_opt(&L->out->eval, L->fn, (ir_opt_flags){.once = true});
}
