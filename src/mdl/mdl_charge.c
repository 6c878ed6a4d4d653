/* mdl_charge.c - ddt() becomes charge, or an unknown of its own.
 * Requires: RES outputs by row, DDT inputs and DDT_ARG outputs, inputs at the head, each once.
 * Gives:    RES and REACT by row, rows in order. DDT inputs stay in operating-point variables only.
 * Breaks:   small.
 * Method:   a symbol that reaches residuals only, linearly and with static coefficients, becomes
 *           charge: REACT_r = sum dRES_r/dsymbol * argument (d/dt commutes with static factors and
 *           sums). Any other gets an unknown u = d/dt argument with the row RES = u,
 *           REACT = -argument. In operating-point variables a linear symbol counts 0 (ir_zero):
 *           they show the static part. Coefficients are judged without noise: a branch that
 *           voltages choose does nothing to a charge where it only adds noise to the flow. */
#include "mdl_pass.h"

#include "bits.h"

#include <string.h>

typedef struct build {
    mdl_model *m;
    ir_fn fn; /* the function so far */
    int32_t n_row;
    ir_val *res, *react; /* [n_row] value or IR_NONE */
    uint8_t *implicit;   /* [n_ddt] */
    int32_t *unknown_of; /* [n_ddt] implicit unknown, -1 */
} build;

static void replace_fn(ir_fn *fn, ir_fn *with)
{
    ir_fn_fini(fn);
    *fn = *with;
}

/* -- which ddt symbols are linear -- */

typedef struct linear {
    const ir_fn *fn;
    uint8_t *fixed; /* [n_inst] 1: a coefficient may have this factor, a branch this condition */
    size_t words;
    uint64_t *dep; /* [n_inst * words] symbols a value contains linearly */
    uint64_t *bad; /* [words] symbols used in another way */
} linear;

static uint64_t *dep_of(const linear *l, ir_val v) { return l->dep + (size_t)v * l->words; }

static bool any_dep(const linear *l, ir_val v)
{
    for (size_t w = 0; w < l->words; w++)
        if (dep_of(l, v)[w])
            return true;
    return false;
}

static void spoil(linear *l, ir_val v) { bits_or(l->bad, dep_of(l, v), l->words); }

/* Adds to value k the symbols of v, which it has times a factor. */
static void carry(linear *l, ir_val k, ir_val v, bool is_fixed)
{
    bits_or(dep_of(l, k), dep_of(l, v), l->words);
    if (!is_fixed)
        spoil(l, v);
}

static void scan_inst(linear *l, ir_val k)
{
    const ir_inst *in = &l->fn->inst[k];
    const uint8_t *fixed = l->fixed;
    switch ((ir_op)in->op) {
    case IR_IN:
        if (l->fn->in[in->a].kind == IR_IN_DDT)
            bits_set(dep_of(l, k), (size_t)l->fn->in[in->a].k);
        break;
    case IR_NEG: carry(l, k, in->a, true); break;
    case IR_ADD:
    case IR_SUB: carry(l, k, in->a, true), carry(l, k, in->b, true); break;
    case IR_MUL:
        carry(l, k, in->a, fixed[in->b]);
        carry(l, k, in->b, fixed[in->a]);
        break;
    case IR_DIV: carry(l, k, in->a, fixed[in->b]), spoil(l, in->b); break;
    case IR_SELECT:
        spoil(l, in->a);
        carry(l, k, in->b, fixed[in->a]);
        carry(l, k, in->c, fixed[in->a]);
        break;
    case IR_PHI: {
        bool is_fixed = fixed[l->fn->inst[in->a].a];
        carry(l, k, in->b, is_fixed), carry(l, k, in->c, is_fixed);
        break;
    }
    case IR_LPHI: carry(l, k, in->b, false); break;
    case IR_ENDLOOP:
        for (ir_val p = in->a + 1; l->fn->inst[p].op == IR_LPHI; p++)
            spoil(l, l->fn->inst[p].c);
        break;
    case IR_IF:
    case IR_WHILE: spoil(l, in->a); break;
    default: {
        const ir_val v[3] = {in->a, in->b, in->c};
        for (int a = 0; a < ir_op_arity(in->op); a++)
            if (any_dep(l, v[a]))
                carry(l, k, v[a], false);
    }
    }
}

/* bad [words]: gets the symbols that are not linear in fn with fixed coefficients. */
static void scan_fn(const ir_fn *fn, uint8_t *fixed, size_t words, arena *mem, uint64_t *bad)
{
    const size_t n = vec_len(fn->inst);
    linear l = {.fn = fn, .fixed = fixed, .words = words, .bad = bad};
    l.dep = arena_array(mem, uint64_t, n *words);
    for (size_t k = 0; k < n; k++)
        scan_inst(&l, (ir_val)k);
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind != IR_OUT_RES && fn->out[o].kind != IR_OUT_OPVAR)
            spoil(&l, fn->out[o].v);
}

static void scan_static(const ir_fn *fn, size_t words, arena *mem, uint64_t *bad)
{
    const size_t n = vec_len(fn->inst);
    uint8_t *fixed = arena_array(mem, uint8_t, n);
    ir_classes(fn, fixed);
    for (size_t k = 0; k < n; k++)
        fixed[k] = ir_class_static(fixed[k]);
    scan_fn(fn, fixed, words, mem, bad);
}

/* Values that no symbol of a noise source reaches: [n_inst] of mem. */
static uint8_t *without_noise(const ir_fn *fn, arena *mem)
{
    const size_t n = vec_len(fn->inst);
    uint8_t *clean = arena_array(mem, uint8_t, n);
    for (size_t k = 0; k < n; k++)
        clean[k] = fn->inst[k].op == IR_IN && fn->in[fn->inst[k].a].kind == IR_IN_NOISE;
    ir_spread(fn, clean);
    for (size_t k = 0; k < n; k++)
        clean[k] = !clean[k];
    return clean;
}

/* The function without its noise: what sources only add to is then the same on all ways. */
static void copy_quiet(ir_fn *to, const ir_fn *from)
{
    ir_fn copy;
    uint8_t *is_zero = vs_calloc(vec_len(from->in) + 1, 1);
    ir_opt(&copy, from, (ir_opt_flags){.once = true});
    for (size_t i = 0; i < vec_len(copy.in); i++)
        is_zero[i] = copy.in[i].kind == IR_IN_NOISE;
    ir_zero(&copy, is_zero);
    ir_opt(to, &copy, (ir_opt_flags){.once = true});
    ir_fn_fini(&copy);
    vs_free(is_zero);
}

/* Symbols that are linear but for noise, and that no noise multiplies, are charges too. */
static void forgive_noise(const ir_fn *fn, size_t words, arena *mem, uint64_t *bad)
{
    ir_fn quiet;
    uint64_t *again = arena_array(mem, uint64_t, words);
    copy_quiet(&quiet, fn);
    scan_static(&quiet, words, mem, again);
    scan_fn(fn, without_noise(fn, mem), words, mem, again);
    for (size_t w = 0; w < words; w++)
        bad[w] &= again[w];
    ir_fn_fini(&quiet);
}

static void find_linear(build *b)
{
    const size_t n_ddt = (size_t)b->m->mod->n_ddt, words = bits_words(n_ddt);
    bool any = false;
    arena mem;
    arena_init(&mem);
    uint64_t *bad = arena_array(&mem, uint64_t, words);
    scan_static(&b->fn, words, &mem, bad);
    for (size_t k = 0; k < n_ddt; k++)
        any |= bits_get(bad, k);
    if (any && vec_len(b->m->mod->noise))
        forgive_noise(&b->fn, words, &mem, bad);
    for (size_t k = 0; k < n_ddt; k++)
        b->implicit[k] = bits_get(bad, k);
    arena_fini(&mem);
}

/* -- charges and implicit unknowns -- */

static int32_t add_implicit(build *b, int32_t k)
{
    mdl_model *m = b->m;
    int32_t u = (int32_t)vec_len(m->unknown);
    va_unknown w = {.kind = VA_IMPLICIT, .unit = ""};
    w.name = arena_printf(&m->mem, "ddt%d", (int)k + 1);
    vec_push(m->unknown, w);
    vec_push(m->probe, (va_probe){.hi = u, .lo = -1});
    return u;
}

/* Inputs of implicit ddt symbols become probes of their unknowns. */
static void name_implicit(build *b)
{
    for (int32_t k = 0; k < b->m->mod->n_ddt; k++)
        b->unknown_of[k] = b->implicit[k] ? add_implicit(b, k) : -1;
    size_t first = vec_len(b->m->mod->probe), n_old = vec_len(b->m->mod->unknown);
    for (size_t i = 0; i < vec_len(b->fn.in); i++) {
        ir_input *in = &b->fn.in[i];
        if (in->kind == IR_IN_DDT && b->implicit[in->k]) {
            size_t nth = (size_t)b->unknown_of[in->k] - n_old;
            in->kind = IR_IN_PROBE;
            in->k = (int32_t)(first + nth);
        }
    }
    /* the table that finds an input by its description no longer fits: made anew by a copy */
    if (vec_len(b->m->mod->unknown) < vec_len(b->m->unknown)) {
        ir_fn to;
        ir_opt(&to, &b->fn, (ir_opt_flags){.once = true});
        replace_fn(&b->fn, &to);
    }
}

static void read_rows(build *b)
{
    for (int32_t r = 0; r < b->n_row; r++)
        b->res[r] = mdl_find_out(&b->fn, IR_OUT_RES, r);
}

/* REACT_r = sum dRES_r/dsymbol * argument, over the linear symbols. */
static void make_charges(build *b)
{
    int32_t *seed = NULL, *symbol = NULL;
    for (size_t i = 0; i < vec_len(b->fn.in); i++)
        if (b->fn.in[i].kind == IR_IN_DDT) {
            vec_push(seed, (int32_t)i);
            vec_push(symbol, b->fn.in[i].k);
        }
    int n_seed = (int)vec_len(seed), n_want = 0;
    ir_val *want = vs_calloc((size_t)b->n_row + 1, sizeof *want);
    int32_t *row = vs_calloc((size_t)b->n_row + 1, sizeof *row);
    for (int32_t r = 0; r < b->n_row; r++)
        if (b->res[r] != IR_NONE)
            row[n_want] = r, want[n_want++] = b->res[r];
    if (n_seed && n_want) {
        ir_fn to;
        ir_val *deriv = vs_calloc((size_t)n_want * (size_t)n_seed, sizeof *deriv);
        ir_val *moved = vs_calloc(vec_len(b->fn.inst), sizeof *moved);
        ir_ad(&to, &b->fn, seed, n_seed, want, n_want, deriv, moved);
        for (int i = 0; i < n_want; i++)
            for (int s = 0; s < n_seed; s++) {
                ir_val d = deriv[i * n_seed + s], q = mdl_find_out(&to, IR_OUT_DDT_ARG, symbol[s]);
                if (d != IR_NONE && q != IR_NONE)
                    b->react[row[i]] =
                        mdl_sum(&to, b->react[row[i]], ir_bin(&to, IR_MUL, d, mdl_as_f64(&to, q)));
            }
        replace_fn(&b->fn, &to);
        read_rows(b);
        vs_free(deriv);
        vs_free(moved);
    }
    vs_free(want);
    vs_free(row);
    vec_free(seed);
    vec_free(symbol);
}

/* Row of the implicit unknown u = d/dt arg: RES = u, REACT = -arg. */
static void add_implicit_rows(build *b)
{
    ir_fn *fn = &b->fn;
    for (int32_t k = 0; k < b->m->mod->n_ddt; k++) {
        int32_t u = b->unknown_of[k];
        ir_val q = u < 0 ? IR_NONE : mdl_find_out(fn, IR_OUT_DDT_ARG, k);
        if (u < 0)
            continue;
        int32_t p = (int32_t)vec_len(b->m->mod->probe) + u - (int32_t)vec_len(b->m->mod->unknown);
        b->res[u] = ir_in(fn, IR_IN_PROBE, p, IR_F64, false);
        if (q != IR_NONE)
            b->react[u] = ir_un(fn, IR_NEG, mdl_as_f64(fn, q));
    }
}

/* Lists the outputs anew: rows from res and react, all others as they were, without DDT_ARG. */
static void write_rows(build *b)
{
    ir_fn *fn = &b->fn;
    ir_out *out = NULL;
    for (int32_t r = 0; r < b->n_row; r++)
        if (b->res[r] != IR_NONE)
            vec_push(out, (ir_out){.kind = IR_OUT_RES, .a = r, .v = b->res[r]});
    for (int32_t r = 0; r < b->n_row; r++)
        if (b->react[r] != IR_NONE)
            vec_push(out, (ir_out){.kind = IR_OUT_REACT, .a = r, .v = b->react[r]});
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        int kind = fn->out[o].kind;
        if (kind != IR_OUT_RES && kind != IR_OUT_REACT && kind != IR_OUT_DDT_ARG)
            vec_push(out, fn->out[o]);
    }
    vec_free(fn->out);
    fn->out = out;
}

void mdl_charge(mdl_model *m, ir_fn *fn)
{
    build b = {.m = m, .fn = *fn};
    const size_t n_ddt = (size_t)m->mod->n_ddt;
    b.implicit = vs_calloc(n_ddt + 1, 1);
    b.unknown_of = vs_calloc(n_ddt + 1, sizeof *b.unknown_of);
    find_linear(&b);
    name_implicit(&b);
    b.n_row = (int32_t)vec_len(m->unknown);
    b.res = vs_malloc(((size_t)b.n_row + 1) * sizeof *b.res);
    b.react = vs_malloc(((size_t)b.n_row + 1) * sizeof *b.react);
    memset(b.react, 0xff, ((size_t)b.n_row + 1) * sizeof *b.react); /* IR_NONE */
    read_rows(&b);
    make_charges(&b);
    add_implicit_rows(&b);
    write_rows(&b);
    *fn = b.fn;
    vs_free(b.implicit);
    vs_free(b.unknown_of);
    vs_free(b.res);
    vs_free(b.react);
}
