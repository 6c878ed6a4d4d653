/* mdl_idle.c - unknowns that are 0 whatever the others are: what the equation form tells of them.
 * An analysis of m->full, which it leaves as it is. Two kinds, marked in m->quiet:
 *   QUIET     an internal node that only a noise source moves (a correlated source's own node); a
 *             circuit without noise analysis leaves it out;
 *   MAY_IDLE  internal unknowns that with some parameters are 0 together (a part that a flag
 *             switches off), and ports that are no voltages (the temperature of a device that does
 *             not heat itself), which count where they have a node of their own. Which of them a
 *             row leaves out is found when it is made (mdl_row.c).
 */
#include "mdl_pass.h"

#include <string.h>

/* Whether value k is 0 when the inputs in `is_zero` are; zero [n_inst] of the values before. */
static bool vanishes(const ir_fn *fn, ir_val k, const uint8_t *is_zero, const uint8_t *zero)
{
    const ir_inst *in = &fn->inst[k];
    switch ((ir_op)in->op) {
    case IR_IN: return is_zero[in->a];
    case IR_CONST: return in->type == IR_F64 && fn->con[in->a] == 0;
    case IR_NEG:
    case IR_LIMIT:
    case IR_DIV: return zero[in->a];
    case IR_MUL: return zero[in->a] || zero[in->b];
    case IR_ADD:
    case IR_SUB: return zero[in->a] && zero[in->b];
    case IR_SELECT:
    case IR_PHI: return zero[in->b] && zero[in->c];
    default: return false;
    }
}

/* All probes of an internal node u measure it to the reference, and its row is 0 whenever V(u) is:
 * V(u) = 0 solves it whatever the other unknowns are. */
static bool is_quiet(const mdl_model *m, int32_t u, uint8_t *is_zero, uint8_t *zero)
{
    const ir_fn *fn = &m->full;
    bool probed = false;
    for (size_t i = 0; i < vec_len(fn->in); i++) {
        const va_probe *p = fn->in[i].kind == IR_IN_PROBE ? &m->probe[fn->in[i].k] : NULL;
        if (p && (p->hi == u || p->lo == u) && (p->hi < 0 ? -1 : p->lo) >= 0)
            return false;
        is_zero[i] = p && (p->hi == u || p->lo == u);
        probed |= is_zero[i];
    }
    for (size_t k = 0; probed && k < vec_len(fn->inst); k++)
        zero[k] = vanishes(fn, (ir_val)k, is_zero, zero);
    for (size_t o = 0; probed && o < vec_len(fn->out); o++)
        if ((fn->out[o].kind == IR_OUT_RES || fn->out[o].kind == IR_OUT_REACT) &&
            fn->out[o].a == u && !zero[fn->out[o].v])
            return false;
    return probed;
}

void mdl_mark_still(const mdl_model *m, ir_fn *fn)
{
    uint8_t *is_zero = vs_calloc(vec_len(fn->in) + 1, 1);
    uint8_t *zero = vs_calloc(vec_len(fn->inst) + 1, 1);
    for (size_t i = 0; i < vec_len(fn->in); i++) {
        const va_probe *p = fn->in[i].kind == IR_IN_PROBE ? &m->probe[fn->in[i].k] : NULL;
        is_zero[i] = p && p->lo < 0 && p->hi >= 0 && m->unknown[p->hi].kind == VA_IMPLICIT;
    }
    for (size_t k = 0; k < vec_len(fn->inst); k++)
        zero[k] = vanishes(fn, (ir_val)k, is_zero, zero);
    for (size_t o = 0; o < vec_len(fn->out); o++)
        fn->out[o].still = fn->out[o].kind == IR_OUT_G && zero[fn->out[o].v];
    vs_free(is_zero);
    vs_free(zero);
}

static bool is_equation(const ir_out *o)
{
    return o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT || o->kind == IR_OUT_G ||
           o->kind == IR_OUT_C || o->kind == IR_OUT_J;
}

/* Marks in used [n_inst] what the equations need where gmin is 0: not beyond a value that is 0 then
 * (zero [n_inst]). Values of a loop come from below, too: where there is one, all are needed. */
static void mark_used(const ir_fn *fn, const uint8_t *zero, uint8_t *used)
{
    bool loops = false;
    for (size_t o = 0; o < vec_len(fn->out); o++)
        used[fn->out[o].v] |= is_equation(&fn->out[o]) && !zero[fn->out[o].v];
    for (size_t k = vec_len(fn->inst); k-- > 0;) {
        const ir_inst *in = &fn->inst[k];
        const ir_val of[3] = {in->a, in->b, in->c};
        const int n = in->op == IR_PHI ? 3 : ir_op_arity((ir_op)in->op); /* and the phi's IF */
        loops |= in->op == IR_LOOP;
        for (int j = 0; j < n && used[k]; j++)
            used[of[j]] |= !zero[of[j]];
    }
    if (loops)
        memset(used, 1, vec_len(fn->inst));
}

void mdl_mark_gmin(ir_fn *fn)
{
    uint8_t *is_zero = vs_calloc(vec_len(fn->in) + 1, 1);
    uint8_t *zero = vs_calloc(vec_len(fn->inst) + 1, 1);
    uint8_t *used = vs_calloc(vec_len(fn->inst) + 1, 1);
    for (size_t i = 0; i < vec_len(fn->in); i++)
        is_zero[i] = fn->in[i].kind == IR_IN_DYN && fn->in[i].k == IR_DYN_GMIN;
    for (size_t k = 0; k < vec_len(fn->inst); k++)
        zero[k] = vanishes(fn, (ir_val)k, is_zero, zero);
    for (size_t o = 0; o < vec_len(fn->out); o++)
        fn->out[o].by_gmin = is_equation(&fn->out[o]) && zero[fn->out[o].v];
    mark_used(fn, zero, used);
    for (size_t i = 0; i < vec_len(fn->in); i++)
        fn->in[i].by_gmin = fn->in[i].kind == IR_IN_PROBE;
    for (size_t k = 0; k < vec_len(fn->inst); k++)
        if (fn->inst[k].op == IR_IN)
            fn->in[fn->inst[k].a].by_gmin &= !used[k];
    vs_free(is_zero);
    vs_free(zero);
    vs_free(used);
}

void mdl_find_quiet(mdl_model *m)
{
    uint8_t *is_zero = vs_calloc(vec_len(m->full.in) + 1, 1);
    uint8_t *zero = vs_calloc(vec_len(m->full.inst) + 1, 1);
    for (size_t u = 0; u < vec_len(m->unknown); u++) {
        bool node = m->unknown[u].kind == VA_NODE;
        vec_push(m->quiet, node && is_quiet(m, (int32_t)u, is_zero, zero) ? QUIET : 0);
    }
    vs_free(is_zero);
    vs_free(zero);
}

typedef struct vanishing {
    const ir_fn *fn;
    const uint8_t *cls, *ran;
    const ir_num *val;
    const uint8_t *is_zero; /* [n_in] */
    uint8_t *zero;          /* [n_inst] of the values before */
} vanishing;

/* Value of a select or phi: the one chosen, where the condition is static. */
static bool choice_vanishes(const vanishing *z, ir_val cond, ir_val yes, ir_val no)
{
    if (!ir_class_static(z->cls[cond]))
        return z->zero[yes] && z->zero[no];
    if (!z->val)
        return z->zero[yes] || z->zero[no];
    return z->ran[cond] && (z->val[cond].i ? z->zero[yes] : z->zero[no]);
}

static bool vanishes_in_row(const vanishing *z, ir_val k)
{
    const ir_inst *in = &z->fn->inst[k];
    if (z->val && in->type == IR_F64 && ir_class_static(z->cls[k]))
        return z->ran[k] && z->val[k].f == 0;
    if (in->op == IR_SELECT)
        return choice_vanishes(z, in->a, in->b, in->c);
    if (in->op == IR_PHI)
        return choice_vanishes(z, z->fn->inst[in->a].a, in->b, in->c);
    return vanishes(z->fn, k, z->is_zero, z->zero);
}

static void set_zero_inputs(const mdl_model *m, const ir_fn *fn, const uint8_t *idle,
                            uint8_t *is_zero)
{
    for (size_t i = 0; i < vec_len(fn->in); i++) {
        const va_probe *p = fn->in[i].kind == IR_IN_PROBE ? &m->probe[fn->in[i].k] : NULL;
        is_zero[i] = p && (p->hi < 0 || idle[p->hi]) && (p->lo < 0 || idle[p->lo]);
    }
}

void mdl_form_idle(const mdl_model *m, const ir_fn *fn, const uint8_t *cls, const ir_num *val,
                   const uint8_t *ran, uint8_t *idle)
{
    uint8_t *is_zero = vs_calloc(vec_len(fn->in) + 1, 1),
            *zero = vs_calloc(vec_len(fn->inst) + 1, 1);
    const vanishing z = {fn, cls, ran, val, is_zero, zero};
    for (bool again = true; again;) {
        again = false;
        set_zero_inputs(m, fn, idle, is_zero);
        for (size_t k = 0; k < vec_len(fn->inst); k++)
            zero[k] = vanishes_in_row(&z, (ir_val)k);
        for (size_t o = 0; o < vec_len(fn->out); o++) {
            const ir_out *w = &fn->out[o];
            if ((w->kind == IR_OUT_RES || w->kind == IR_OUT_REACT) && idle[w->a] && !zero[w->v]) {
                idle[w->a] = 0;
                again = true;
            }
        }
    }
    vs_free(is_zero);
    vs_free(zero);
}

/* No port of voltage: one that is alone stands for an experiment that the user wants to see. */
static bool is_other_port(const va_unknown *u)
{
    return u->kind == VA_PORT && u->discipline && strcmp(u->discipline, "electrical") != 0;
}

/* port: one that is taken to be alone, -1: none. */
static void find_may_idle(mdl_model *m, const uint8_t *cls, int32_t port, uint8_t *idle)
{
    const ir_fn *fn = &m->full;
    for (size_t u = 0; u < vec_len(m->unknown); u++)
        idle[u] = m->unknown[u].kind != VA_PORT || (int32_t)u == port;
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == IR_OUT_NOISE_GAIN || fn->out[o].kind == IR_OUT_NOISE_GAINC)
            idle[fn->out[o].b] = 0;
    for (size_t i = 0; i < vec_len(m->mod->native); i++) /* the circuit drives them */
        for (int k = 0; k < VA_NATIVE_UNKNOWNS; k++)
            if (m->mod->native[i].unknown[k] >= 0)
                idle[m->mod->native[i].unknown[k]] = 0;
    mdl_form_idle(m, fn, cls, NULL, NULL, idle);
    for (size_t u = 0; u < vec_len(m->unknown); u++)
        m->quiet[u] |= idle[u] ? MAY_IDLE : 0;
}

void mdl_find_may_idle(mdl_model *m)
{
    uint8_t *idle = vs_calloc(vec_len(m->unknown) + 1, 1),
            *cls = vs_calloc(vec_len(m->full.inst) + 1, 1);
    ir_classes(&m->full, cls);
    find_may_idle(m, cls, -1, idle);
    for (int32_t u = 0; u < m->mod->n_port; u++)
        if (is_other_port(&m->unknown[u]))
            find_may_idle(m, cls, u, idle);
    vs_free(idle);
    vs_free(cls);
}

bool mdl_may_hold(mdl_model *m, int32_t port)
{
    (void)mdl_ready(m);
    return m->quiet[port] & MAY_IDLE;
}
