/* va_lower_analog.c - branches, contributions and analog operators.
 * Source: Verilog-AMS LRM 2.4, clauses 4.5 and 5.6. The limiting functions are those of SPICE:
 *         Nagel, UCB/ERL M520, 1975, and the ngspice manual. */
#include "va_lower.h"

#include <math.h>
#include <string.h>

/* -- nodes and branches -- */

/* Number of a node expression, -1 for the reference. */
static int32_t node_number(lw *L, const va_expr *e, int32_t offset)
{
    const va_sym *y = e->sym;
    int32_t k, pos = offset;
    if (!y || y->ground || y->index < 0)
        return -1;
    if (e->n_arg) {
        if (!lw_const_index(L, e->arg[0], &k)) {
            lw_error(L, e->arg[0]->span, e->arg[0]->macro,
                     "index of '%s' must be constant, a genvar or "
                     "the variable of a loop with constant bounds",
                     y->name);
            return y->index;
        }
        pos = (k - y->first) * y->step;
        if (pos < 0 || pos >= y->n) {
            lw_error(L, e->arg[0]->span, e->arg[0]->macro, "index %d is outside of '%s[%d:%d]'", k,
                     y->name, y->first, y->first + y->step * (y->n - 1));
            return y->index;
        }
    }
    if (pos >= y->n)
        pos = 0;
    L->node_used[y->index + pos] = true;
    return y->index + pos;
}

static uint64_t pair_key(int32_t a, int32_t b)
{
    return (uint64_t)(uint32_t)(a + 1) << 32 | (uint32_t)(b + 1);
}

static const char *node_name(const lw *L, int32_t n)
{
    if (n < 0)
        return "0";
    for (size_t i = 0; i < vec_len(L->m->node); i++) {
        const va_sym *y = L->m->node[i];
        if (n >= y->index && n < y->index + y->n)
            return y->array ? arena_printf(L->keep, "%s[%d]", y->name,
                                           y->first + y->step * (n - y->index))
                            : y->name;
    }
    return "?";
}

/* The unnamed branch between two nodes; there is one, whichever way round it is written. */
static int32_t unnamed_branch(lw *L, int32_t hi, int32_t lo, diag_span span, int *sign)
{
    int32_t k = map_get(&L->br_of, pair_key(hi, lo), -1);
    if (k >= 0)
        return k;
    k = map_get(&L->br_of, pair_key(lo, hi), -1);
    if (k >= 0) {
        *sign = -*sign;
        return k;
    }
    lw_branch b = {.hi = hi, .lo = lo, .span = span, .slot = -1};
    b.name = lo < 0 ? arena_printf(L->keep, "(%s)", node_name(L, hi))
                    : arena_printf(L->keep, "(%s,%s)", node_name(L, hi), node_name(L, lo));
    k = (int32_t)vec_len(L->br);
    vec_push(L->br, b);
    map_set(&L->br_of, pair_key(hi, lo), k);
    return k;
}

static int32_t branch_number(lw *L, const va_expr *e)
{
    const va_sym *y = e->sym;
    int32_t k = 0, pos = 0;
    if (e->n_arg) {
        if (!lw_const_index(L, e->arg[0], &k))
            lw_error(L, e->arg[0]->span, e->arg[0]->macro, "index of '%s' must be constant",
                     y->name);
        else
            pos = (k - y->first) * y->step;
        if (pos < 0 || pos >= y->n) {
            lw_error(L, e->arg[0]->span, e->arg[0]->macro, "index %d is outside of '%s[%d:%d]'", k,
                     y->name, y->first, y->first + y->step * (y->n - 1));
            pos = 0;
        }
    }
    lw_branch *b = &L->br[y->index + pos];
    if (!b->name) {
        int32_t hi = node_number(L, y->hi, pos), lo = y->lo ? node_number(L, y->lo, pos) : -1;
        b->hi = hi;
        b->lo = lo;
        b->name =
            y->array ? arena_printf(L->keep, "%s[%d]", y->name, y->first + y->step * pos) : y->name;
        b->span = y->span;
    }
    if (b->hi >= 0)
        L->node_used[b->hi] = true;
    if (b->lo >= 0)
        L->node_used[b->lo] = true;
    return y->index + pos;
}

static lw_target target_of(lw *L, const va_expr *e)
{
    lw_target t = {.branch = -1, .hi = -1, .lo = -1, .sign = 1};
    if (e->arg[0]->sym->kind == SY_BRANCH) {
        t.branch = branch_number(L, e->arg[0]);
        t.hi = L->br[t.branch].hi;
        t.lo = L->br[t.branch].lo;
        return t;
    }
    t.hi = node_number(L, e->arg[0], 0);
    t.lo = e->n_arg > 1 ? node_number(L, e->arg[1], 0) : -1;
    return t;
}

/* The target with a branch number. A branch from the reference is turned round. */
static lw_target branch_target(lw *L, const va_expr *e)
{
    lw_target t = target_of(L, e);
    if (t.branch >= 0)
        return t;
    if (t.hi == t.lo) {
        lw_error(L, e->span, e->macro, "both terminals of the branch are the same node");
        return t;
    }
    if (t.hi < 0) {
        t.hi = t.lo;
        t.lo = -1;
        t.sign = -1;
    }
    t.branch = unnamed_branch(L, t.hi, t.lo, e->span, &t.sign);
    return t;
}

/* -- probes -- */

static int32_t probe_number(lw *L, lw_probe_kind kind, int32_t a, int32_t b)
{
    uint64_t key = pair_key(a, b) * 4 + (uint64_t)kind;
    int32_t k = map_get(&L->probe_of, key, -1);
    if (k >= 0)
        return k;
    k = (int32_t)vec_len(L->probe);
    vec_push(L->probe, (lw_probe){kind, a, b});
    map_set(&L->probe_of, key, k);
    return k;
}

static ir_val probe_value(lw *L, int32_t k) { return ir_in(L->fn, IR_IN_PROBE, k, IR_F64, false); }

/* Adds what ddx() derives by; va_finish removes it again. */
static ir_val perturb_nodes(lw *L, ir_val v, int32_t hi, int32_t lo)
{
    if (hi >= 0 && L->node_ddx[hi])
        v = ir_bin(L->fn, IR_ADD, v, ir_in(L->fn, IR_IN_DYN, LW_PERT_NODE + hi, IR_F64, false));
    if (lo >= 0 && L->node_ddx[lo])
        v = ir_bin(L->fn, IR_SUB, v, ir_in(L->fn, IR_IN_DYN, LW_PERT_NODE + lo, IR_F64, false));
    return v;
}

ir_val lw_node_probe(lw *L, int32_t hi, int32_t lo)
{
    if (hi == lo)
        return lw_f(L, 0);
    bool turn = hi < 0 || (map_get(&L->probe_of, pair_key(hi, lo) * 4, -1) < 0 &&
                           map_get(&L->probe_of, pair_key(lo, hi) * 4, -1) >= 0);
    if (turn)
        return lw_un(L, IR_NEG, lw_node_probe(L, lo, hi));
    return perturb_nodes(L, probe_value(L, probe_number(L, LW_NODES, hi, lo)), hi, lo);
}

ir_val lw_flow_probe(lw *L, int32_t b)
{
    ir_val v = probe_value(L, probe_number(L, LW_FLOW, b, 0));
    if (L->m->has_ddx)
        v = ir_bin(L->fn, IR_ADD, v, ir_in(L->fn, IR_IN_DYN, LW_PERT_FLOW + b, IR_F64, false));
    return v;
}

/* The flow of a switch branch, which va_read.c puts in: its unknown or the sum of its flows. */
static ir_val switch_flow(lw *L, int32_t b)
{
    ir_val v = ir_in(L->fn, IR_IN_DYN, LW_READ + b, IR_F64, false);
    L->br[b].probe = probe_number(L, LW_FLOW, b, 0);
    if (L->m->has_ddx)
        v = ir_bin(L->fn, IR_ADD, v, ir_in(L->fn, IR_IN_DYN, LW_PERT_FLOW + b, IR_F64, false));
    L->has_read = true;
    return v;
}

ir_val lw_implicit_probe(lw *L, int32_t k)
{
    return probe_value(L, probe_number(L, LW_IMPLICIT, k, 0));
}

static ir_val with_sign(lw *L, ir_val v, int sign) { return sign < 0 ? lw_un(L, IR_NEG, v) : v; }

/* -- accumulators of a branch: flow, potential, is potential, is literal zero -- */

static int32_t branch_slots(lw *L, int32_t b)
{
    if (L->br[b].slot < 0) {
        int32_t s = lw_new_slot(L, IR_F64, L->zero_f);
        lw_new_slot(L, IR_F64, L->zero_f);
        lw_new_slot(L, IR_BOOL, L->zero_b);
        lw_new_slot(L, IR_BOOL, L->zero_b);
        L->br[b].slot = s;
    }
    return L->br[b].slot;
}

int32_t lw_contrib_slot(lw *L, const va_expr *e)
{
    if (e->kind != EX_CALL || e->op != FN_ACCESS)
        return -1;
    lw_target t = branch_target(L, e);
    return t.branch < 0 ? -1 : branch_slots(L, t.branch);
}

/* I(branch). A branch with a current unknown gives that; one that only ever gets flow gives its
 * sum, which must be complete by then. */
static ir_val read_flow(lw *L, const va_expr *e)
{
    lw_target t = branch_target(L, e);
    if (t.branch < 0)
        return L->zero_f;
    lw_branch *b = &L->br[t.branch];
    if (b->has_pot || b->need_current) {
        const bool own = L->own_pot == t.branch;
        b->probed = b->probed || !own;
        return with_sign(
            L, own || !b->has_pot ? lw_flow_probe(L, t.branch) : switch_flow(L, t.branch), t.sign);
    }
    if (!b->first_read)
        b->first_read = ++L->seq;
    if (L->loop_depth)
        b->need_current = L->again = true;
    int32_t slot = branch_slots(L, t.branch);
    return with_sign(L, L->cur[slot], t.sign);
}

ir_val lw_access(lw *L, const va_expr *e)
{
    if (e->num == 2) {
        L->has_port = true;
        return ir_in(L->fn, IR_IN_DYN, LW_PORT + e->arg[0]->sym->index, IR_F64, false);
    }
    if (e->num != 0)
        return read_flow(L, e);
    lw_target t = target_of(L, e);
    return lw_node_probe(L, t.hi, t.lo);
}

static void note_contribution(lw *L, lw_branch *b, bool pot)
{
    b->last_contrib = ++L->seq;
    if (b->first_read && !b->need_current && !b->has_pot)
        b->need_current = L->again = true; /* an earlier read missed this part of the flow */
    if (pot && !b->has_pot) {
        b->has_pot = true;
        if (b->first_read)
            L->again = true;
    }
}

static bool is_literal_zero(const lw *L, ir_val v)
{
    double x;
    return lw_konst(L, v, &x) && x == 0;
}

/* A contribution of one kind discards what the other kind has accumulated (LRM 5.6.1.2). */
void lw_contrib(lw *L, const va_stmt *s)
{
    bool pot = s->lhs->num == 0;
    lw_target t = branch_target(L, s->lhs);
    if (t.branch < 0)
        return;
    int32_t slot = branch_slots(L, t.branch), outer = L->own_pot;
    if (pot) {
        note_contribution(L, &L->br[t.branch], true);
        L->own_pot = t.branch;
    }
    ir_val v = with_sign(L, lw_real(L, lw_expr(L, s->rhs)), t.sign);
    L->own_pot = outer;
    if (!pot)
        note_contribution(L, &L->br[t.branch], false);
    L->br[t.branch].has_flow |= !pot;
    int32_t mine = slot + (pot ? 1 : 0), other = slot + (pot ? 0 : 1);
    ir_val old = L->cur[mine];
    bool zero = pot && is_literal_zero(L, v) && is_literal_zero(L, old);
    lw_set(L, mine, is_literal_zero(L, old) ? v : lw_bin(L, IR_ADD, old, v));
    lw_set(L, other, L->zero_f);
    lw_set(L, slot + 2, lw_b(L, pot));
    lw_set(L, slot + 3, lw_b(L, zero));
}

/* -- operators -- */

bool lw_refuse_in_loop(lw *L, const va_expr *e)
{
    if (L->loop_depth)
        lw_error(L, e->at, e->macro, "'%s' stands in a loop whose number of rounds is not constant",
                 e->name);
    return L->loop_depth > 0;
}

static ir_val lower_ddt(lw *L, const va_expr *e)
{
    ir_val q = lw_real(L, lw_expr(L, e->arg[0]));
    double x;
    if (lw_konst(L, q, &x))
        return lw_f(L, 0);
    int32_t k = (int32_t)vec_len(L->ddt), slot = lw_new_slot(L, IR_F64, L->zero_f);
    vec_push(L->ddt, slot);
    lw_set(L, slot, q);
    return ir_in(L->fn, IR_IN_DDT, k, IR_F64, false);
}

lw_equation lw_new_equation(lw *L)
{
    const int32_t k = (int32_t)vec_len(L->implicit), kd = (int32_t)vec_len(L->ddt);
    lw_equation e = {.arg = lw_new_slot(L, IR_F64, L->zero_f), .k = k};
    e.res = lw_new_slot(L, IR_F64, L->zero_f);
    lw_new_slot(L, IR_BOOL, L->zero_b);
    vec_push(L->implicit, e.res);
    vec_push(L->ddt, e.arg);
    e.y = lw_implicit_probe(L, k);
    e.dy = ir_in(L->fn, IR_IN_DDT, kd, IR_F64, false);
    lw_set(L, e.res + 1, lw_b(L, true));
    return e;
}

/* idt(x, ic, assert): unknown y with dy/dt - x = 0; y - ic = 0 in static analyses and while assert.
 */
static ir_val lower_idt(lw *L, const va_expr *e)
{
    bool has_ic = e->n_arg > 1 && e->arg[1]->kind != EX_NULL;
    bool has_assert = e->n_arg > 2 && e->arg[2]->kind != EX_NULL;
    ir_val x = lw_real(L, lw_expr(L, e->arg[0]));
    ir_val ic = has_ic ? lw_real(L, lw_expr(L, e->arg[1])) : L->zero_f;
    ir_val hold = has_ic ? lw_bool(L, lw_dyn(L, IR_DYN_IS_STATIC)) : L->zero_b;
    if (has_assert)
        hold = lw_bin(L, IR_BOR, hold, lw_bool(L, lw_expr(L, e->arg[2])));
    const lw_equation q = lw_new_equation(L);
    ir_val r = lw_bin(L, IR_SUB, q.dy, x);
    if (has_ic || has_assert)
        r = lw_sel(L, hold, lw_bin(L, IR_SUB, q.y, ic), r);
    lw_set(L, q.arg, q.y);
    lw_set(L, q.res, r);
    return q.y;
}

static ir_val new_noise(lw *L, const va_expr *e, va_noise_kind kind, int name_arg, ir_val psd,
                        ir_val nexp)
{
    const char *name = name_arg < e->n_arg ? e->arg[name_arg]->name : "";
    int32_t k = (int32_t)vec_len(L->psd);
    vec_push(L->out->noise,
             (va_noise){.name = name, .kind = kind, .log_table = e->op == FN_TABLE_LOG});
    vec_push(L->psd, lw_new_slot(L, IR_F64, L->zero_f));
    vec_push(L->nexp, lw_new_slot(L, IR_F64, L->zero_f));
    lw_set(L, L->psd[k], psd);
    lw_set(L, L->nexp[k], nexp);
    return ir_in(L->fn, IR_IN_NOISE, k, IR_F64, false);
}

static ir_val lower_noise(lw *L, const va_expr *e)
{
    if (e->op == FN_WHITE)
        return new_noise(L, e, VA_WHITE, 1, lw_real(L, lw_expr(L, e->arg[0])), L->zero_f);
    if (e->op == FN_FLICKER) {
        ir_val psd = lw_real(L, lw_expr(L, e->arg[0]));
        return new_noise(L, e, VA_FLICKER, 2, psd, lw_real(L, lw_expr(L, e->arg[1])));
    }
    ir_val v = new_noise(L, e, VA_TABLE, 1, lw_f(L, 1), L->zero_f);
    for (int i = 0; i < e->arg[0]->n_arg; i++) {
        double x = 0;
        va_const_value(e->arg[0]->arg[i], &x);
        vec_push(vec_last(L->out->noise).table, x);
    }
    return v;
}

static ir_val lower_ddx(lw *L, const va_expr *e)
{
    ir_val v = lw_real(L, lw_expr(L, e->arg[0]));
    const va_expr *u = e->arg[1];
    int32_t by;
    int sign = 1;
    if (u->num == 0) {
        lw_target t = target_of(L, u);
        if (t.hi < 0)
            return lw_f(L, 0);
        by = LW_PERT_NODE + t.hi;
    } else {
        lw_target t = branch_target(L, u);
        if (t.branch < 0)
            return L->zero_f;
        by = LW_PERT_FLOW + t.branch;
        sign = t.sign;
    }
    int32_t k = (int32_t)vec_len(L->ddx);
    vec_push(L->ddx, (lw_ddx){v, by});
    return with_sign(L, ir_in(L->fn, IR_IN_DYN, LW_DDX + k, IR_F64, false), sign);
}

/* -- limiting -- */

#define ADD(a, b) lw_bin(L, IR_ADD, a, b)
#define SUB(a, b) lw_bin(L, IR_SUB, a, b)
#define MUL(a, b) lw_bin(L, IR_MUL, a, b)
#define DIV(a, b) lw_bin(L, IR_DIV, a, b)
#define LN(a) lw_un(L, IR_LN, a)
#define LT(a, b) lw_bin(L, IR_FLT, a, b)
#define GE(a, b) lw_bin(L, IR_FLE, b, a)
#define MIN(a, b) lw_bin(L, IR_MIN, a, b)
#define MAX(a, b) lw_bin(L, IR_MAX, a, b)
#define AND(a, b) lw_bin(L, IR_BAND, a, b)
#define SEL(c, a, b) lw_sel(L, c, a, b)
#define K(x) lw_f(L, x)

/* Junction: above vcrit a step of more than 2 vt becomes a step in the logarithm of the current;
 * below 0 at most a doubling (and 1 V) toward breakdown. */
static ir_val pnjlim(lw *L, ir_val v, ir_val old, ir_val vt, ir_val vcrit)
{
    ir_val arg = DIV(SUB(v, old), vt);
    ir_val up = ADD(old, MUL(vt, ADD(K(2), LN(MAX(SUB(arg, K(2)), K(1e-30))))));
    ir_val down = SUB(old, MUL(vt, ADD(K(2), LN(MAX(SUB(K(2), arg), K(1e-30))))));
    ir_val cold = MUL(vt, LN(MAX(DIV(v, vt), K(1e-30))));
    ir_val fwd = SEL(LT(K(0), old), SEL(LT(K(0), arg), up, down), cold);
    ir_val far = LT(MUL(K(2), vt), lw_un(L, IR_ABS, SUB(v, old)));
    ir_val floor = SEL(LT(K(0), old), SUB(lw_un(L, IR_NEG, old), K(1)), SUB(MUL(K(2), old), K(1)));
    ir_val rev = SEL(LT(v, K(0)), MAX(v, floor), v);
    return SEL(AND(LT(vcrit, v), far), fwd, rev);
}

/* Gate-source voltage of an FET with threshold vto. */
static ir_val fetlim(lw *L, ir_val v, ir_val old, ir_val vto)
{
    ir_val hi = ADD(lw_un(L, IR_ABS, MUL(K(2), SUB(old, vto))), K(2));
    ir_val lo = ADD(lw_un(L, IR_ABS, SUB(old, vto)), K(1)), vtox = ADD(vto, K(3.5));
    ir_val falls = GE(K(0), SUB(v, old));
    ir_val strong = SEL(falls, SEL(GE(v, vtox), MAX(v, SUB(old, lo)), MAX(v, ADD(vto, K(2)))),
                        MIN(v, ADD(old, hi)));
    ir_val middle = SEL(falls, MAX(v, SUB(vto, K(0.5))), MIN(v, ADD(vto, K(4))));
    ir_val vtemp = ADD(vto, K(0.5));
    ir_val off =
        SEL(falls, MAX(v, SUB(old, hi)), SEL(GE(vtemp, v), MIN(v, ADD(old, lo)), MIN(v, vtemp)));
    return SEL(GE(old, vto), SEL(GE(old, vtox), strong, middle), off);
}

/* Drain-source voltage. */
static ir_val limvds(lw *L, ir_val v, ir_val old)
{
    ir_val high =
        SEL(LT(old, v), MIN(v, ADD(MUL(K(3), old), K(2))), SEL(LT(v, K(3.5)), MAX(v, K(2)), v));
    ir_val low = SEL(LT(old, v), MIN(v, K(4)), MAX(v, K(-0.5)));
    return SEL(GE(old, K(3.5)), high, low);
}

static ir_val limited_value(lw *L, const va_expr *e, ir_val v, ir_val old)
{
    const va_expr *how = e->arg[1];
    ir_val *arg = NULL;
    vec_push(arg, v);
    vec_push(arg, old);
    for (int i = 2; i < e->n_arg; i++)
        vec_push(arg, lw_real(L, lw_expr(L, e->arg[i])));
    ir_val r = v;
    if (how->sym) {
        va_func *f = how->sym->func;
        for (size_t i = 0; i < vec_len(arg); i++)
            arg[i] = lw_as(L, arg[i], lw_ir_type(f->arg[i]->type));
        r = lw_real(L, lw_inline(L, e, f, arg, NULL));
    } else if (!strcmp(how->name, "pnjlim")) {
        r = pnjlim(L, v, old, arg[2], arg[3]);
    } else if (!strcmp(how->name, "fetlim")) {
        r = fetlim(L, v, old, arg[2]);
    } else if (!strcmp(how->name, "limvds") || !strcmp(how->name, "vdslim")) {
        r = limvds(L, v, old);
    }
    vec_free(arg);
    return r;
}

/* $limit(V(a, b), ...): LIMIT k acts on a probe of its own orientation. */
static ir_val lower_limit(lw *L, const va_expr *e)
{
    const va_expr *a = e->arg[0];
    if (e->n_arg < 2 || a->num == 2 || (e->arg[1]->kind == EX_STR && a->num != 0))
        return lw_expr(L, a);
    lw_target t = a->num == 0 ? target_of(L, a) : branch_target(L, a);
    if (a->num != 0 || t.hi < 0 || t.hi == t.lo)
        return lw_expr(L, a); /* flows and potentials against a turned reference are not limited */
    int32_t p = probe_number(L, LW_NODES, t.hi, t.lo), k = (int32_t)vec_len(L->limnew);
    ir_val raw = probe_value(L, p), old = ir_in(L->fn, IR_IN_LIMOLD, k, IR_F64, false);
    ir_val lim = limited_value(L, e, raw, old);
    lim = lw_sel(L, lw_bool(L, lw_dyn(L, IR_DYN_LIMIT)), lim, raw);
    ir_val v = ir_emit(L->fn, IR_LIMIT, IR_F64, lim, k, IR_NONE);
    int32_t slot = lw_new_slot(L, IR_F64, L->zero_f);
    lw_new_slot(L, IR_BOOL, L->zero_b);
    vec_push(L->limnew, slot);
    vec_push(L->out->lim_probe, p);
    lw_set(L, slot, v);
    lw_set(L, slot + 1, lw_b(L, true));
    lw_set(L, L->limited, lw_bin(L, IR_BOR, L->cur[L->limited], lw_bin(L, IR_FNE, v, raw)));
    return perturb_nodes(L, v, t.hi, t.lo);
}

ir_val lw_operator(lw *L, const va_expr *e)
{
    if (e->op != FN_DDX && lw_refuse_in_loop(L, e))
        return L->zero_f;
    switch (e->op) {
    case FN_DDT: return lower_ddt(L, e);
    case FN_DDX: return lower_ddx(L, e);
    case FN_IDT: return lower_idt(L, e);
    case FN_LIMIT: return lower_limit(L, e);
    case FN_TRANSITION:
    case FN_SLEW:
    case FN_LAPLACE:
    case FN_IDTMOD:
    case FN_ABSDELAY:
    case FN_LAST_CROSSING: return lw_time_operator(L, e);
    default: return lower_noise(L, e);
    }
}
