/* ir_recip.c - divisions by the same value become multiplications by one reciprocal.
 * Requires: small (equal divisions are one).  Keeps: small.
 * Why:    a vector division costs as much as a dozen multiplications, and the derivative of x/d
 *         needs 1/d in any case. The results change: x * (1/d) has two roundings, and it overflows
 *         or is NaN where d is below the smallest normal number.
 * Method: a denominator gets a reciprocal, right behind its definition, if two divisions use it or
 *         if it is static (then ir_split computes the reciprocal in setup); a division by a
 *         constant multiplies by the constant's reciprocal. Divisions of static values stay: setup
 *         runs once, and its values are those of the model text, rounding for rounding. */
#include "ir_priv.h"

#include <math.h>

typedef struct recip {
    const ir_fn *from;
    ir_fn to;
    uint8_t *cls, *uses; /* [n] class; divisions by the value, counted to 2: it gets a reciprocal */
    ir_val *map;         /* [n] */
    ir_val *of;          /* [n] the reciprocal in `to`, or IR_NONE */
} recip;

/* 1/x if both x and 1/x are normal numbers, else 0. */
static double normal_reciprocal(double x) { return isnormal(x) && isnormal(1 / x) ? 1 / x : 0; }

static void find_denominators(recip *r)
{
    const ir_fn *f = r->from;
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const ir_inst *p = &f->inst[i];
        if (p->op != IR_DIV || ir_class_static(r->cls[i]))
            continue;
        const ir_inst *d = &f->inst[p->b];
        if (d->op == IR_CONST)
            r->uses[p->b] = normal_reciprocal(f->con[d->a]) != 0 ? 2 : 0;
        else if (r->uses[p->b] < 2)
            r->uses[p->b] += ir_class_static(r->cls[p->b]) ? 2 : 1;
    }
}

static void emit_reciprocal(recip *r, ir_val d)
{
    const ir_inst *p = &r->from->inst[d];
    if (p->op == IR_CONST) {
        r->of[d] = ir_const(&r->to, normal_reciprocal(r->from->con[p->a]));
        return;
    }
    ir_val one = ir_const(&r->to, 1);
    r->of[d] = ir_bin(&r->to, IR_DIV, one, r->map[d]);
}

static void copy_or_multiply(recip *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    if (p->op == IR_DIV && !ir_class_static(r->cls[i]) && r->of[p->b] != IR_NONE)
        r->map[i] = ir_bin(&r->to, IR_MUL, r->map[p->a], r->of[p->b]);
    else
        ir_copy_inst(&r->to, r->from, i, r->map);
}

static void walk(recip *r)
{
    const ir_inst *inst = r->from->inst;
    ir_val n = (ir_val)vec_len(inst), first = 0; /* values from `first` on still wait for theirs */
    for (ir_val i = 0; i < n; i++) {
        copy_or_multiply(r, i);
        bool more_phis = i + 1 < n && (inst[i + 1].op == IR_PHI || inst[i + 1].op == IR_LPHI);
        for (; first <= i && !more_phis; first++)
            if (r->uses[first] >= 2)
                emit_reciprocal(r, first);
    }
}

void ir_recip(ir_fn *to, const ir_fn *from)
{
    size_t n = vec_len(from->inst) + 1;
    recip r = {.from = from, .cls = vs_calloc(n, 1), .uses = vs_calloc(n, 1)};
    r.map = vs_malloc(n * sizeof *r.map);
    r.of = vs_malloc(n * sizeof *r.of);
    assert(r.cls && r.uses && r.map && r.of);
    for (size_t i = 0; i < n; i++)
        r.of[i] = IR_NONE;
    ir_fn_init(&r.to, from->name);
    ir_copy_tables(&r.to, from);
    ir_classes(from, r.cls);
    find_denominators(&r);
    walk(&r);
    for (size_t k = 0; k < vec_len(from->out); k++) {
        ir_out o = from->out[k];
        ir_out_add(&r.to, o.kind, o.a, o.b, r.map[o.v]);
    }
    ir_opt(to, &r.to, (ir_opt_flags){0});
    ir_fn_fini(&r.to);
    vs_free(r.cls);
    vs_free(r.uses);
    vs_free(r.map);
    vs_free(r.of);
}
