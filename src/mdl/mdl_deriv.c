/* mdl_deriv.c - the Jacobian, the gains of noise sources, and the correction of limited values.
 * Requires: RES and REACT before all other outputs; inputs at the head, each once; no DDT inputs.
 * Gives:    G, C, J = G + alpha C by row and unknown; NOISE_GAIN, NOISE_GAINC.
 * Breaks:   small, head. NOISE inputs are 0 from here on (ir_zero takes them out).
 * Method:   ir_ad by probes, limited probes and noise symbols. G and C gather the derivatives by
 *           the probes for each unknown; gains are the derivatives by the noise symbols. A row is
 *           linearised at the limited value: RES += dRES/dv_lim * (v - v_lim). */
#include "mdl_pass.h"

static ir_val difference(ir_fn *fn, ir_val a, ir_val b)
{
    return b == IR_NONE ? a : a == IR_NONE ? ir_un(fn, IR_NEG, b) : ir_bin(fn, IR_SUB, a, b);
}

typedef struct jacobian {
    int32_t *seed; /* vec; inputs by index, ~k limited probes */
    int n_want;
    int32_t *row;      /* [n_want] */
    uint8_t *reactive; /* [n_want] */
    ir_val *deriv;     /* [n_want * n_seed] */
    ir_fn to;
} jacobian;

void mdl_probe_seeds(const mdl_model *m, const ir_fn *fn, int32_t **seed)
{
    const size_t n_lim = vec_len(m->mod->lim_probe);
    uint8_t *limited = vs_calloc(n_lim + 1, 1);
    for (size_t i = 0; i < vec_len(fn->in); i++)
        if (fn->in[i].kind == IR_IN_PROBE || fn->in[i].kind == IR_IN_NOISE)
            vec_push(*seed, (int32_t)i);
    for (size_t k = 0; k < vec_len(fn->inst); k++) {
        const ir_inst *in = &fn->inst[k];
        if (in->op == IR_LIMIT && (size_t)in->b < n_lim && !limited[in->b]) {
            limited[in->b] = 1;
            vec_push(*seed, ~in->b);
        }
    }
    vs_free(limited);
}

static void differentiate(const mdl_model *m, const ir_fn *fn, jacobian *j)
{
    size_t n_out = vec_len(fn->out);
    ir_val *want = vs_calloc(n_out + 1, sizeof *want);
    ir_val *moved = vs_calloc(vec_len(fn->inst) + 1, sizeof *moved);
    mdl_probe_seeds(m, fn, &j->seed);
    j->row = vs_calloc(n_out + 1, sizeof *j->row);
    j->reactive = vs_calloc(n_out + 1, 1);
    for (size_t o = 0; o < n_out; o++) {
        const ir_out *w = &fn->out[o];
        if (w->kind != IR_OUT_RES && w->kind != IR_OUT_REACT)
            continue;
        j->row[j->n_want] = w->a;
        j->reactive[j->n_want] = w->kind == IR_OUT_REACT;
        want[j->n_want++] = w->v;
    }
    j->deriv = vs_calloc((size_t)j->n_want * vec_len(j->seed) + 1, sizeof *j->deriv);
    ir_ad(&j->to, fn, j->seed, (int)vec_len(j->seed), want, j->n_want, j->deriv, moved);
    vs_free(want);
    vs_free(moved);
}

/* Adds sign * d to the entry of column u. */
static void gather(ir_fn *fn, ir_val *entry, int32_t u, ir_val d, bool minus)
{
    if (u >= 0)
        entry[u] = minus ? difference(fn, entry[u], d) : mdl_sum(fn, entry[u], d);
}

void mdl_by_unknown(const mdl_model *m, ir_fn *fn, const int32_t *seed, const ir_val *deriv,
                    ir_val *entry)
{
    for (int32_t u = 0; u < (int32_t)vec_len(m->unknown); u++)
        entry[u] = IR_NONE;
    for (size_t s = 0; s < vec_len(seed); s++) {
        const int32_t i = seed[s];
        if (deriv[s] == IR_NONE || (i >= 0 && fn->in[i].kind != IR_IN_PROBE))
            continue;
        int32_t p = i >= 0 ? fn->in[i].k : m->mod->lim_probe[~i];
        gather(fn, entry, m->probe[p].hi, deriv[s], false);
        gather(fn, entry, m->probe[p].lo, deriv[s], true);
    }
}

/* G, C, and J = G + alpha C of one row each */
static void add_entries(mdl_model *m, jacobian *j)
{
    const size_t n = vec_len(m->unknown);
    ir_val *entry = vs_malloc((2 * n * n + 1) * sizeof *entry);
    ir_val *g = entry, *c = entry + n * n;
    for (size_t k = 0; k < 2 * n * n; k++)
        entry[k] = IR_NONE;
    for (int w = 0; w < j->n_want; w++)
        mdl_by_unknown(m, &j->to, j->seed, j->deriv + (size_t)w * vec_len(j->seed),
                       (j->reactive[w] ? c : g) + (size_t)j->row[w] * n);
    ir_val alpha = ir_in(&j->to, IR_IN_DYN, IR_DYN_ALPHA, IR_F64, false);
    for (size_t k = 0; k < n * n; k++) {
        int32_t r = (int32_t)(k / n), u = (int32_t)(k % n);
        if (g[k] != IR_NONE)
            ir_out_add(&j->to, IR_OUT_G, r, u, g[k]);
        if (c[k] != IR_NONE)
            ir_out_add(&j->to, IR_OUT_C, r, u, c[k]);
        m->n_derivative += (g[k] != IR_NONE) + (c[k] != IR_NONE);
        ir_val ac = c[k] == IR_NONE ? IR_NONE : ir_bin(&j->to, IR_MUL, alpha, c[k]);
        ir_val sum = mdl_sum(&j->to, g[k], ac);
        if (sum != IR_NONE)
            ir_out_add(&j->to, IR_OUT_J, r, u, sum);
    }
    vs_free(entry);
}

static void add_gains(jacobian *j)
{
    int n_seed = (int)vec_len(j->seed);
    for (int w = 0; w < j->n_want; w++)
        for (int s = 0; s < n_seed; s++) {
            int32_t i = j->seed[s];
            ir_val d = j->deriv[w * n_seed + s];
            if (d == IR_NONE || i < 0 || j->to.in[i].kind != IR_IN_NOISE)
                continue;
            ir_out_add(&j->to, j->reactive[w] ? IR_OUT_NOISE_GAINC : IR_OUT_NOISE_GAIN,
                       j->to.in[i].k, j->row[w], d);
        }
}

/* -- limiting -- */

/* v - v_lim of limited probe k, with v_lim the value used in this evaluation */
static ir_val limit_move(const mdl_model *m, ir_fn *fn, int32_t k)
{
    ir_val used = mdl_find_out(fn, IR_OUT_LIMNEW, k);
    if (used == IR_NONE)
        return IR_NONE;
    ir_val v = ir_in(fn, IR_IN_PROBE, m->mod->lim_probe[k], IR_F64, false);
    return ir_bin(fn, IR_SUB, v, used);
}

static void correct_limited(const mdl_model *m, jacobian *j)
{
    int n_seed = (int)vec_len(j->seed);
    for (int s = 0; s < n_seed; s++) {
        if (j->seed[s] >= 0)
            continue;
        ir_val move = limit_move(m, &j->to, ~j->seed[s]);
        for (int w = 0; w < j->n_want && move != IR_NONE; w++) {
            ir_val d = j->deriv[w * n_seed + s];
            ir_out *o = &j->to.out[w]; /* RES and REACT stand first, in the order of want */
            if (d != IR_NONE)
                o->v = ir_bin(&j->to, IR_ADD, o->v, ir_bin(&j->to, IR_MUL, d, move));
        }
    }
}

void mdl_deriv(mdl_model *m, ir_fn *fn)
{
    jacobian j = {0};
    differentiate(m, fn, &j);
    correct_limited(m, &j);
    add_entries(m, &j);
    add_gains(&j);
    ir_fn_fini(fn);
    *fn = j.to;
    vec_free(j.seed);
    vs_free(j.row);
    vs_free(j.reactive);
    vs_free(j.deriv);
}
