/* ir_reverse.c - reverse automatic differentiation: one sweep gives a weighted sum's derivatives by
 * all setup values, whatever their number.
 * Requires: no branch.  Keeps: nothing; outputs are new.  Breaks: small.
 * Refuses:  derivatives through a loop, hidden state.
 * Method: 1. active: the values that a setup value moves, and that move an output;
 *         2. the code is copied; 3. from the last value to the first, each active value's adjoint
 *         (the sum's derivative by it) times the operation's slopes goes to its operands.
 * Arms that are not taken: a select hands them the adjoint 0, but slopes in them may be infinite.
 *         Where all parts of an adjoint came through a select and it is 0, products with it are 0.
 * Source: Griewank & Walther, Evaluating Derivatives, ch. 3. */
#include "ir_priv.h"

enum { ZERO = IR_SLOPE_ZERO, ONE = IR_SLOPE_ONE, MINUS_ONE = IR_SLOPE_MINUS_ONE };

typedef struct reverse {
    const ir_fn *from;
    ir_fn *to;
    ir_slope k;
    ir_val *map;     /* [n] */
    uint8_t *active; /* [n] */
    ir_val *adj;     /* [n] values of `to`; IR_NONE: 0 */
    uint8_t *open;   /* [n] a part of the adjoint did not come through a select */
} reverse;

/* -- 1. what is active -- */

static bool is_setup_value(const ir_fn *f, const ir_inst *p)
{
    return p->op == IR_IN && p->type == IR_F64 && f->in[p->a].kind == IR_IN_CACHE;
}

/* The number of operands to which an adjoint goes; LIMIT has the value of its first one. */
static int n_carried(const ir_inst *p)
{
    return p->op == IR_LIMIT ? 1 : ir_carries_slope(p) ? ir_op_table[p->op].arity : 0;
}

/* Marks as active what depends on a setup value. A loop is walked again until no lphi is new. */
static void mark_moved(reverse *r)
{
    const ir_inst *inst = r->from->inst;
    for (ir_val i = 0; i < (ir_val)vec_len(inst); i++) {
        const ir_inst *p = &inst[i];
        bool grown = false;
        r->active[i] |= is_setup_value(r->from, p);
        for (int k = 0; k < n_carried(p) && p->op != IR_LPHI; k++)
            r->active[i] |= r->active[ir_operand(p, k)];
        if (p->op == IR_LPHI)
            r->active[i] |= r->active[p->b];
        for (ir_val k = p->a + 1; p->op == IR_ENDLOOP && inst[k].op == IR_LPHI; k++) {
            grown |= inst[k].type == IR_F64 && r->active[inst[k].c] && !r->active[k];
            r->active[k] |= inst[k].type == IR_F64 && r->active[inst[k].c];
        }
        if (grown)
            i = p->a;
    }
}

static bool is_row(const ir_out *o) { return o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT; }

/* Makes active values passive that no output needs; false: a needed one belongs to a loop. */
static bool keep_needed(reverse *r)
{
    const ir_fn *f = r->from;
    const size_t n = vec_len(f->inst);
    uint8_t *need = vs_calloc(n + 1, 1);
    bool straight = true;
    for (size_t o = 0; o < vec_len(f->out); o++)
        if (is_row(&f->out[o]))
            need[f->out[o].v] = 1;
    for (size_t i = n; i-- > 0;) {
        const ir_inst *p = &f->inst[i];
        r->active[i] &= need[i];
        if (!r->active[i])
            continue;
        straight &= p->op != IR_LPHI;
        for (int k = 0; k < n_carried(p); k++)
            need[ir_operand(p, k)] = 1;
    }
    vs_free(need);
    return straight;
}

/* -- 3. adjoints -- */

static ir_val bin(const reverse *r, ir_op op, ir_val a, ir_val b)
{
    return ir_bin(r->to, op, a, b);
}

/* Adds `part` to the adjoint of operand x. */
static void give(reverse *r, ir_val x, ir_val part, bool open)
{
    if (part == ZERO || !r->active[x])
        return;
    r->adj[x] = r->adj[x] == IR_NONE ? part : bin(r, IR_ADD, r->adj[x], part);
    r->open[x] |= open;
}

/* adj[i] times a slope */
static ir_val times(const reverse *r, ir_val i, ir_val slope)
{
    const ir_val a = r->adj[i];
    if (slope == ZERO || slope == ONE)
        return slope == ONE ? a : ZERO;
    if (slope == MINUS_ONE)
        return ir_un(r->to, IR_NEG, a);
    const ir_val product = bin(r, IR_MUL, a, slope);
    if (r->open[i])
        return product;
    return ir_select(r->to, bin(r, IR_FEQ, a, r->k.zero), r->k.zero, product);
}

/* -- each gives the adjoint of i, times its slopes, to its active operands -- */

/* v = a/b: dv/da = 1/b, dv/db = -v/b. */
static void give_div(reverse *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    const ir_val by = bin(r, IR_DIV, r->k.one, r->map[p->b]);
    give(r, p->a, times(r, i, by), r->open[i]);
    if (!r->active[p->b])
        return;
    const ir_val slope = ir_un(r->to, IR_NEG, bin(r, IR_MUL, r->map[i], by));
    give(r, p->b, times(r, i, slope), r->open[i]);
}

/* min, max, select: all of it to the side that is taken, 0 to the other. */
static void give_choice(reverse *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    ir_val cond, x = p->a, y = p->b;
    if (p->op == IR_SELECT) {
        cond = r->map[p->a];
        x = p->b;
        y = p->c;
    } else if (p->op == IR_MIN) {
        cond = bin(r, IR_FLT, r->map[x], r->map[y]);
    } else {
        cond = bin(r, IR_FLT, r->map[y], r->map[x]);
    }
    if (r->active[x])
        give(r, x, ir_select(r->to, cond, r->adj[i], r->k.zero), false);
    if (r->active[y])
        give(r, y, ir_select(r->to, cond, r->k.zero, r->adj[i]), false);
}

/* pow, hypot, atan2, fmod. */
static void give_two(reverse *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    ir_val pa = ZERO, pb = ZERO;
    ir_slopes_of(&r->k, r->from, i, r->map, r->active[p->a] ? &pa : NULL,
                 r->active[p->b] ? &pb : NULL);
    give(r, p->a, times(r, i, pa), r->open[i]);
    give(r, p->b, times(r, i, pb), r->open[i]);
}

/* Any operation that may be active. */
static void give_operands(reverse *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    const bool open = r->open[i];
    switch (p->op) {
    case IR_IN: break;
    case IR_LIMIT: give(r, p->a, r->adj[i], open); break;
    case IR_ADD:
        give(r, p->a, r->adj[i], open);
        give(r, p->b, r->adj[i], open);
        break;
    case IR_SUB:
        give(r, p->a, r->adj[i], open);
        if (r->active[p->b])
            give(r, p->b, times(r, i, MINUS_ONE), open);
        break;
    case IR_MUL:
        if (r->active[p->a])
            give(r, p->a, times(r, i, r->map[p->b]), open);
        if (r->active[p->b])
            give(r, p->b, times(r, i, r->map[p->a]), open);
        break;
    case IR_DIV: give_div(r, i); break;
    case IR_MIN:
    case IR_MAX:
    case IR_SELECT: give_choice(r, i); break;
    default:
        if (ir_op_table[p->op].arity == 1)
            give(r, p->a, times(r, i, ir_slope_of(&r->k, p->op, r->map[p->a], r->map[i])), open);
        else
            give_two(r, i);
    }
}

/* -- the walk -- */

/* Adjoints of the rows' values: their weights, inputs STATE. */
static void seed_rows(reverse *r, int32_t n_row)
{
    for (size_t o = 0; o < vec_len(r->from->out); o++) {
        const ir_out *w = &r->from->out[o];
        if (is_row(w) && r->active[w->v])
            give(r, w->v,
                 ir_in(r->to, IR_IN_STATE, w->kind == IR_OUT_RES ? w->a : n_row + w->a, IR_F64,
                       false),
                 true);
    }
}

/* Copies `from`, appends the adjoints of the active values, last one first, and the outputs BY. */
static void differentiate(reverse *r, int32_t n_row)
{
    const ir_fn *f = r->from;
    const ir_val n = (ir_val)vec_len(f->inst);
    ir_copy_tables(r->to, f);
    r->k = ir_slope_begin(r->to);
    for (ir_val i = 0; i < n; i++)
        ir_copy_inst(r->to, f, i, r->map);
    seed_rows(r, n_row);
    for (ir_val i = n; i-- > 0;)
        if (r->active[i] && r->adj[i] != IR_NONE)
            give_operands(r, i);
    for (ir_val i = 0; i < n; i++)
        if (is_setup_value(f, &f->inst[i]) && r->adj[i] != IR_NONE)
            ir_out_add(r->to, IR_OUT_BY, f->in[f->inst[i].a].k, 0, r->adj[i]);
}

/* Whether it has hidden state: inputs STATE of the result are weights. */
static bool has_state(const ir_fn *f)
{
    for (size_t k = 0; k < vec_len(f->in); k++)
        if (f->in[k].kind == IR_IN_STATE)
            return true;
    return false;
}

bool ir_reverse(ir_fn *to, const ir_fn *from, int32_t n_row)
{
    const size_t n = vec_len(from->inst) + 1;
    ir_fn raw;
    reverse r = {.from = from, .to = &raw};
    r.map = vs_malloc(n * sizeof *r.map);
    r.adj = vs_malloc(n * sizeof *r.adj);
    r.active = vs_calloc(n, 1);
    r.open = vs_calloc(n, 1);
    for (size_t i = 0; i < n; i++)
        r.adj[i] = IR_NONE;
    ir_fn_init(&raw, from->name);
    mark_moved(&r);
    const bool can = keep_needed(&r) && !has_state(from);
    if (can)
        differentiate(&r, n_row);
    ir_opt(to, &raw, (ir_opt_flags){0});
    ir_fn_fini(&raw);
    vs_free(r.map);
    vs_free(r.adj);
    vs_free(r.active);
    vs_free(r.open);
    return can;
}
