/* mdl_form.c - from the lowered module to the equations that analyses solve.
 * Use:    mdl_form_build once per model, mdl_form_get per analysis form.
 * Method, numbered as in mdl_form_build:
 *   1. ddt(): a symbol that reaches residuals only, linearly and with static coefficients, becomes
 *      charge: REACT_r = sum dRES_r/dsymbol * argument (d/dt commutes with static factors and
 * sums). Any other gets an unknown u = d/dt argument with row RES = u, REACT = -argument. In
 * operating-point variables a linear ddt symbol counts 0: they show the static part.
 *   2. Multiplicity: node rows are those of m devices in parallel, m * RES. Rows of branch currents
 *      and implicit equations hold for one device. m independent sources average: PSD / m, while
 * the node rows carry m * gain, in all m * PSD.
 *   3. ir_ad by probes, limited probes and noise symbols. G and C gather the probes by unknown;
 * gains are the derivatives by the noise symbols, which are 0 from here on.
 *   4. Limiting: the row is linearised at the limited value, RES += dRES/dv_lim * (v - v_lim).
 *   5. Internal nodes that stay 0 unless a noise source moves them (a correlated source's own node)
 * are marked; a circuit without noise analysis leaves them out. Internal unknowns that with some
 * parameters are 0 together, whatever the others are (a part that a flag switches off), are marked
 * too: which of them a row leaves out is found when it is made (mdl_row.c). */
#include "mdl_priv.h"

#include "bits.h"

#include <stdlib.h>
#include <string.h>

typedef struct build {
    mdl_model *m;
    ir_fn fn; /* the function so far */
    int32_t n_row;
    ir_val *res, *react; /* [n_row] value or IR_NONE */
    uint8_t *implicit;   /* [n_ddt] */
    int32_t *unknown_of; /* [n_ddt] implicit unknown, -1 */
} build;

static bool is_node(const mdl_model *m, int32_t u)
{
    return m->unknown[u].kind == VA_PORT || m->unknown[u].kind == VA_NODE;
}

static ir_val find_out(const ir_fn *fn, int kind, int32_t a)
{
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == kind && fn->out[o].a == a)
            return fn->out[o].v;
    return IR_NONE;
}

static void replace_fn(ir_fn *fn, ir_fn *with)
{
    ir_fn_fini(fn);
    *fn = *with;
}

static void optimise(ir_fn *fn)
{
    ir_fn to;
    ir_opt(&to, fn, (ir_opt_flags){.once = true}); /* variants are optimised to the end */
    replace_fn(fn, &to);
}

/* a + b where either may be IR_NONE (zero) */
static ir_val add(ir_fn *fn, ir_val a, ir_val b)
{
    return a == IR_NONE ? b : b == IR_NONE ? a : ir_bin(fn, IR_ADD, a, b);
}

static ir_val sub(ir_fn *fn, ir_val a, ir_val b)
{
    return b == IR_NONE ? a : a == IR_NONE ? ir_un(fn, IR_NEG, b) : ir_bin(fn, IR_SUB, a, b);
}

static ir_val as_f64(ir_fn *fn, ir_val v)
{
    int t = fn->inst[v].type;
    return t == IR_I32 ? ir_un(fn, IR_I2F, v) : t == IR_BOOL ? ir_un(fn, IR_B2F, v) : v;
}

/* -- 1. which ddt symbols are linear -- */

typedef struct linear {
    const ir_fn *fn;
    uint8_t *cls;
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

/* The symbols of v appear in value k, times a factor that is static or not. */
static void carry(linear *l, ir_val k, ir_val v, bool is_static)
{
    bits_or(dep_of(l, k), dep_of(l, v), l->words);
    if (!is_static)
        spoil(l, v);
}

static void scan_inst(linear *l, ir_val k)
{
    const ir_inst *in = &l->fn->inst[k];
    const uint8_t *cls = l->cls;
    switch ((ir_op)in->op) {
    case IR_IN:
        if (l->fn->in[in->a].kind == IR_IN_DDT)
            bits_set(dep_of(l, k), (size_t)l->fn->in[in->a].k);
        break;
    case IR_NEG: carry(l, k, in->a, true); break;
    case IR_ADD:
    case IR_SUB: carry(l, k, in->a, true), carry(l, k, in->b, true); break;
    case IR_MUL:
        carry(l, k, in->a, ir_class_static(cls[in->b]));
        carry(l, k, in->b, ir_class_static(cls[in->a]));
        break;
    case IR_DIV: carry(l, k, in->a, ir_class_static(cls[in->b])), spoil(l, in->b); break;
    case IR_SELECT:
        spoil(l, in->a);
        carry(l, k, in->b, ir_class_static(cls[in->a]));
        carry(l, k, in->c, ir_class_static(cls[in->a]));
        break;
    case IR_PHI: {
        bool is_static = ir_class_static(cls[l->fn->inst[in->a].a]);
        carry(l, k, in->b, is_static), carry(l, k, in->c, is_static);
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

static void find_linear(build *b)
{
    size_t n = vec_len(b->fn.inst), n_ddt = (size_t)b->m->mod->n_ddt;
    linear l = {.fn = &b->fn, .words = bits_words(n_ddt)};
    arena mem;
    arena_init(&mem);
    l.cls = arena_array(&mem, uint8_t, n);
    l.dep = arena_array(&mem, uint64_t, n *l.words);
    l.bad = arena_array(&mem, uint64_t, l.words);
    ir_classes(&b->fn, l.cls);
    for (size_t k = 0; k < n; k++)
        scan_inst(&l, (ir_val)k);
    for (size_t o = 0; o < vec_len(b->fn.out); o++)
        if (b->fn.out[o].kind != IR_OUT_RES && b->fn.out[o].kind != IR_OUT_OPVAR)
            spoil(&l, b->fn.out[o].v);
    for (size_t k = 0; k < n_ddt; k++)
        b->implicit[k] = bits_get(l.bad, k);
    arena_fini(&mem);
}

/* -- symbols out -- */

/* A mini pass: inputs that `is_zero` names are 0, and so is every product with them (a symbol
 * stands for a small or absent quantity, so 0*inf does not arise); sums lose them. ir_opt does the
 * rest. */
typedef struct zeroing {
    ir_fn *fn;
    uint8_t *zero; /* [n_inst] */
    ir_val *same;  /* [n_inst] the value to use instead */
    int32_t con;   /* index of the constant 0 */
} zeroing;

static void make_zero(zeroing *z, ir_val k)
{
    ir_inst *in = &z->fn->inst[k];
    if (in->type != IR_F64)
        return;
    in->op = IR_CONST;
    in->a = z->con;
    in->b = in->c = IR_NONE;
    z->zero[k] = 1;
}

static void rename_operands(zeroing *z, ir_val k)
{
    ir_inst *in = &z->fn->inst[k];
    bool phi = in->op == IR_PHI || in->op == IR_LPHI;
    int n = ir_op_arity(in->op);
    ir_val *v[3] = {phi ? &in->b : &in->a, phi ? &in->c : &in->b, &in->c};
    for (int a = 0; a < n; a++)
        *v[a] = z->same[*v[a]]; /* lphi.c: a later value, renamed at the end */
}

static void simplify_zero(zeroing *z, ir_val k)
{
    ir_inst *in = &z->fn->inst[k];
    const uint8_t *zero = z->zero;
    switch ((ir_op)in->op) {
    case IR_NEG:
        if (zero[in->a])
            make_zero(z, k);
        break;
    case IR_MUL:
        if (zero[in->a] || zero[in->b])
            make_zero(z, k);
        break;
    case IR_DIV:
        if (zero[in->a])
            make_zero(z, k);
        break;
    case IR_ADD:
    case IR_SUB:
        if (zero[in->a] && zero[in->b])
            make_zero(z, k);
        else if (zero[in->b])
            z->same[k] = in->a;
        else if (zero[in->a] && in->op == IR_ADD)
            z->same[k] = in->b;
        else if (zero[in->a])
            in->op = IR_NEG, in->a = in->b, in->b = IR_NONE;
        break;
    case IR_SELECT:
        if (zero[in->b] && zero[in->c])
            make_zero(z, k);
        break;
    case IR_PHI: /* stays, phis stand together: ir_opt sees that it is constant */
        z->zero[k] = zero[in->b] && zero[in->c];
        break;
    default: break;
    }
}

/* is_zero [n_in]. A phi's operand may be renamed to a value outside its arm: it is visible there.
 */
static void zero_inputs(ir_fn *fn, const uint8_t *is_zero)
{
    zeroing z = {.fn = fn};
    ir_val dummy = ir_const(fn, 0.0);
    size_t n = vec_len(fn->inst);
    z.con = fn->inst[dummy].a;
    z.zero = vs_calloc(n + 1, 1);
    vec_extend(z.same, n);
    for (size_t k = 0; k < n; k++)
        z.same[k] = (ir_val)k;
    for (size_t k = 0; k < n; k++) {
        ir_inst *in = &fn->inst[k];
        if (in->op == IR_IN && is_zero[in->a]) {
            make_zero(&z, (ir_val)k);
            continue;
        }
        if (in->op == IR_IN || in->op == IR_CONST || in->op == IR_LPHI)
            continue;
        rename_operands(&z, (ir_val)k);
        simplify_zero(&z, (ir_val)k);
    }
    for (size_t k = 0; k < n; k++)
        if (fn->inst[k].op == IR_LPHI)
            rename_operands(&z, (ir_val)k);
    for (size_t o = 0; o < vec_len(fn->out); o++)
        fn->out[o].v = z.same[fn->out[o].v];
    for (size_t e = 0; e < vec_len(fn->eff); e++)
        for (size_t a = 0; a < vec_len(fn->eff[e].arg); a++)
            fn->eff[e].arg[a] = z.same[fn->eff[e].arg[a]];
    free(z.zero);
    vec_free(z.same);
}

static void zero_kind(ir_fn *fn, int kind)
{
    uint8_t *is_zero = vs_calloc(vec_len(fn->in) + 1, 1);
    for (size_t i = 0; i < vec_len(fn->in); i++)
        is_zero[i] = fn->in[i].kind == kind;
    zero_inputs(fn, is_zero);
    free(is_zero);
}

/* -- 1. charges and implicit unknowns -- */

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
    if (vec_len(b->m->mod->unknown) < vec_len(b->m->unknown))
        optimise(&b->fn);
}

static void read_rows(build *b)
{
    for (int32_t r = 0; r < b->n_row; r++)
        b->res[r] = find_out(&b->fn, IR_OUT_RES, r);
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
                ir_val d = deriv[i * n_seed + s], q = find_out(&to, IR_OUT_DDT_ARG, symbol[s]);
                if (d != IR_NONE && q != IR_NONE)
                    b->react[row[i]] =
                        add(&to, b->react[row[i]], ir_bin(&to, IR_MUL, d, as_f64(&to, q)));
            }
        replace_fn(&b->fn, &to);
        read_rows(b);
        free(deriv);
        free(moved);
    }
    free(want);
    free(row);
    vec_free(seed);
    vec_free(symbol);
}

/* Row of the implicit unknown u = d/dt arg: RES = u, REACT = -arg. */
static void add_implicit_rows(build *b)
{
    ir_fn *fn = &b->fn;
    for (int32_t k = 0; k < b->m->mod->n_ddt; k++) {
        int32_t u = b->unknown_of[k];
        ir_val q = u < 0 ? IR_NONE : find_out(fn, IR_OUT_DDT_ARG, k);
        if (u < 0)
            continue;
        int32_t p = (int32_t)vec_len(b->m->mod->probe) + u - (int32_t)vec_len(b->m->mod->unknown);
        b->res[u] = ir_in(fn, IR_IN_PROBE, p, IR_F64, false);
        if (q != IR_NONE)
            b->react[u] = ir_un(fn, IR_NEG, as_f64(fn, q));
    }
}

/* -- 2. multiplicity -- */

static void scale_rows(build *b)
{
    ir_fn *fn = &b->fn;
    ir_val mult = ir_in(fn, IR_IN_MFACTOR, 0, IR_F64, true);
    for (int32_t r = 0; r < b->n_row; r++) {
        if (!is_node(b->m, r))
            continue;
        if (b->res[r] != IR_NONE)
            b->res[r] = ir_bin(fn, IR_MUL, mult, b->res[r]);
        if (b->react[r] != IR_NONE)
            b->react[r] = ir_bin(fn, IR_MUL, mult, b->react[r]);
    }
    ir_val is0 = ir_bin(fn, IR_FEQ, mult, ir_const(fn, 0.0));
    ir_val safe = ir_select(fn, is0, ir_const(fn, 1.0), mult); /* m = 0: gains are 0, PSD finite */
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == IR_OUT_NOISE_PSD)
            fn->out[o].v = ir_bin(fn, IR_DIV, as_f64(fn, fn->out[o].v), safe);
}

/* Outputs anew: rows as held in res and react, the others as they are but for DDT_ARG. */
static void write_rows(build *b)
{
    ir_fn *fn = &b->fn;
    ir_out *out = NULL;
    for (int32_t r = 0; r < b->n_row; r++)
        if (b->res[r] != IR_NONE)
            vec_push(out, (ir_out){IR_OUT_RES, r, 0, b->res[r]});
    for (int32_t r = 0; r < b->n_row; r++)
        if (b->react[r] != IR_NONE)
            vec_push(out, (ir_out){IR_OUT_REACT, r, 0, b->react[r]});
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        int kind = fn->out[o].kind;
        if (kind != IR_OUT_RES && kind != IR_OUT_REACT && kind != IR_OUT_DDT_ARG)
            vec_push(out, fn->out[o]);
    }
    vec_free(fn->out);
    fn->out = out;
}

/* -- 3. derivatives -- */

typedef struct jacobian {
    int32_t *seed; /* vec; inputs by index, ~k limited probes */
    int n_want;
    int32_t *row;      /* [n_want] */
    uint8_t *reactive; /* [n_want] */
    ir_val *deriv;     /* [n_want * n_seed] */
    ir_fn to;
} jacobian;

static void choose_seeds(const ir_fn *fn, size_t n_lim, jacobian *j)
{
    uint8_t *limited = vs_calloc(n_lim + 1, 1);
    for (size_t i = 0; i < vec_len(fn->in); i++)
        if (fn->in[i].kind == IR_IN_PROBE || fn->in[i].kind == IR_IN_NOISE)
            vec_push(j->seed, (int32_t)i);
    for (size_t k = 0; k < vec_len(fn->inst); k++) {
        const ir_inst *in = &fn->inst[k];
        if (in->op == IR_LIMIT && (size_t)in->b < n_lim && !limited[in->b]) {
            limited[in->b] = 1;
            vec_push(j->seed, ~in->b);
        }
    }
    free(limited);
}

static void differentiate(build *b, jacobian *j)
{
    size_t n_out = vec_len(b->fn.out);
    ir_val *want = vs_calloc(n_out + 1, sizeof *want);
    ir_val *moved = vs_calloc(vec_len(b->fn.inst) + 1, sizeof *moved);
    choose_seeds(&b->fn, vec_len(b->m->mod->lim_probe), j);
    j->row = vs_calloc(n_out + 1, sizeof *j->row);
    j->reactive = vs_calloc(n_out + 1, 1);
    for (size_t o = 0; o < n_out; o++) {
        const ir_out *w = &b->fn.out[o];
        if (w->kind != IR_OUT_RES && w->kind != IR_OUT_REACT)
            continue;
        j->row[j->n_want] = w->a;
        j->reactive[j->n_want] = w->kind == IR_OUT_REACT;
        want[j->n_want++] = w->v;
    }
    j->deriv = vs_calloc((size_t)j->n_want * vec_len(j->seed) + 1, sizeof *j->deriv);
    ir_ad(&j->to, &b->fn, j->seed, (int)vec_len(j->seed), want, j->n_want, j->deriv, moved);
    free(want);
    free(moved);
}

/* Adds sign * d to the entry of column u. */
static void gather(ir_fn *fn, ir_val *entry, int32_t u, ir_val d, bool minus)
{
    if (u >= 0)
        entry[u] = minus ? sub(fn, entry[u], d) : add(fn, entry[u], d);
}

/* Derivatives of one row by its unknowns; entry [n_row]. */
static void gather_row(build *b, jacobian *j, int want, ir_val *entry)
{
    int n_seed = (int)vec_len(j->seed);
    for (int32_t u = 0; u < b->n_row; u++)
        entry[u] = IR_NONE;
    for (int s = 0; s < n_seed; s++) {
        ir_val d = j->deriv[want * n_seed + s];
        int32_t i = j->seed[s];
        if (d == IR_NONE || (i >= 0 && j->to.in[i].kind != IR_IN_PROBE))
            continue;
        int32_t p = i >= 0 ? j->to.in[i].k : b->m->mod->lim_probe[~i];
        gather(&j->to, entry, b->m->probe[p].hi, d, false);
        gather(&j->to, entry, b->m->probe[p].lo, d, true);
    }
}

/* G, C, and J = G + alpha C of one row each */
static void add_entries(build *b, jacobian *j)
{
    size_t n = (size_t)b->n_row;
    ir_val *entry = vs_malloc((2 * n * n + 1) * sizeof *entry);
    ir_val *g = entry, *c = entry + n * n;
    for (size_t k = 0; k < 2 * n * n; k++)
        entry[k] = IR_NONE;
    for (int w = 0; w < j->n_want; w++)
        gather_row(b, j, w, (j->reactive[w] ? c : g) + (size_t)j->row[w] * n);
    ir_val alpha = ir_in(&j->to, IR_IN_DYN, IR_DYN_ALPHA, IR_F64, false);
    for (size_t k = 0; k < n * n; k++) {
        int32_t r = (int32_t)(k / n), u = (int32_t)(k % n);
        if (g[k] != IR_NONE)
            ir_out_add(&j->to, IR_OUT_G, r, u, g[k]);
        if (c[k] != IR_NONE)
            ir_out_add(&j->to, IR_OUT_C, r, u, c[k]);
        b->m->n_derivative += (g[k] != IR_NONE) + (c[k] != IR_NONE);
        ir_val ac = c[k] == IR_NONE ? IR_NONE : ir_bin(&j->to, IR_MUL, alpha, c[k]);
        ir_val sum = add(&j->to, g[k], ac);
        if (sum != IR_NONE)
            ir_out_add(&j->to, IR_OUT_J, r, u, sum);
    }
    free(entry);
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

/* -- 4. limiting -- */

/* v - v_lim of limited probe k, with v_lim the value used in this evaluation */
static ir_val limit_move(build *b, ir_fn *fn, int32_t k)
{
    ir_val used = find_out(fn, IR_OUT_LIMNEW, k);
    if (used == IR_NONE)
        return IR_NONE;
    ir_val v = ir_in(fn, IR_IN_PROBE, b->m->mod->lim_probe[k], IR_F64, false);
    return ir_bin(fn, IR_SUB, v, used);
}

static void correct_limited(build *b, jacobian *j)
{
    int n_seed = (int)vec_len(j->seed);
    for (int s = 0; s < n_seed; s++) {
        if (j->seed[s] >= 0)
            continue;
        ir_val move = limit_move(b, &j->to, ~j->seed[s]);
        for (int w = 0; w < j->n_want && move != IR_NONE; w++) {
            ir_val d = j->deriv[w * n_seed + s];
            ir_out *o = &j->to.out[w]; /* RES and REACT stand first, in the order of want */
            if (d != IR_NONE)
                o->v = ir_bin(&j->to, IR_ADD, o->v, ir_bin(&j->to, IR_MUL, d, move));
        }
    }
}

static void add_jacobian(build *b)
{
    jacobian j = {0};
    differentiate(b, &j);
    correct_limited(b, &j);
    add_entries(b, &j);
    add_gains(&j);
    replace_fn(&b->fn, &j.to);
    vec_free(j.seed);
    free(j.row);
    free(j.reactive);
    free(j.deriv);
}

/* -- 5. nodes that only noise moves -- */

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

static void find_quiet(mdl_model *m)
{
    uint8_t *is_zero = vs_calloc(vec_len(m->full.in) + 1, 1);
    uint8_t *zero = vs_calloc(vec_len(m->full.inst) + 1, 1);
    for (size_t u = 0; u < vec_len(m->unknown); u++) {
        bool node = m->unknown[u].kind == VA_NODE;
        vec_push(m->quiet, node && is_quiet(m, (int32_t)u, is_zero, zero) ? QUIET : 0);
    }
    free(is_zero);
    free(zero);
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
    free(is_zero);
    free(zero);
}

/* Internal unknowns of a part that some parameters leave without a drive; no noise source reaches
 * it. */
static void find_may_idle(mdl_model *m)
{
    const ir_fn *fn = &m->full;
    uint8_t *idle = vs_calloc(vec_len(m->unknown) + 1, 1),
            *cls = vs_calloc(vec_len(fn->inst) + 1, 1);
    ir_classes(fn, cls);
    for (size_t u = 0; u < vec_len(m->unknown); u++)
        idle[u] = m->unknown[u].kind != VA_PORT;
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
    free(idle);
    free(cls);
}

void mdl_form_build(mdl_model *m)
{
    build b = {.m = m};
    size_t n_ddt = (size_t)m->mod->n_ddt;
    for (size_t u = 0; u < vec_len(m->mod->unknown); u++)
        vec_push(m->unknown, m->mod->unknown[u]);
    for (size_t p = 0; p < vec_len(m->mod->probe); p++)
        vec_push(m->probe, m->mod->probe[p]);
    b.implicit = vs_calloc(n_ddt + 1, 1);
    b.unknown_of = vs_calloc(n_ddt + 1, sizeof *b.unknown_of);
    ir_opt(&b.fn, &m->mod->eval, (ir_opt_flags){.once = true});

    find_linear(&b); /* 1 */
    name_implicit(&b);
    b.n_row = (int32_t)vec_len(m->unknown);
    b.res = vs_malloc(((size_t)b.n_row + 1) * sizeof *b.res);
    b.react = vs_malloc(((size_t)b.n_row + 1) * sizeof *b.react);
    memset(b.react, 0xff, ((size_t)b.n_row + 1) * sizeof *b.react); /* IR_NONE */
    read_rows(&b);
    make_charges(&b);
    add_implicit_rows(&b);
    scale_rows(&b); /* 2 */
    write_rows(&b);
    zero_kind(&b.fn, IR_IN_DDT);
    optimise(&b.fn);
    add_jacobian(&b); /* 3, 4 */
    zero_kind(&b.fn, IR_IN_NOISE);
    optimise(&b.fn);
    m->full = b.fn;
    find_quiet(m); /* 5 */
    find_may_idle(m);
    free(b.implicit);
    free(b.unknown_of);
    free(b.res);
    free(b.react);
}

/* -- forms -- */

static bool belongs(int form, int kind)
{
    if (form == FORM_IDLE)
        return kind == IR_OUT_RES || kind == IR_OUT_REACT;
    switch (kind) {
    case IR_OUT_RES: return form != MDL_AC && form != FORM_TOPOLOGY;
    case IR_OUT_STATE:
    case IR_OUT_LIMNEW:
    case IR_OUT_LIMITED: return form != MDL_AC && form != FORM_TOPOLOGY;
    case IR_OUT_REACT: return form == MDL_TRAN || form == MDL_APART || form == MDL_FULL;
    case IR_OUT_BOUND_STEP: return form == MDL_TRAN || form == MDL_APART || form == MDL_FULL;
    case IR_OUT_G: return form == MDL_DC || form == MDL_AC || form == MDL_APART || form == MDL_FULL;
    case IR_OUT_C: return form == MDL_AC || form == MDL_APART || form == MDL_FULL;
    case IR_OUT_J: return form == MDL_TRAN;
    case IR_OUT_NOISE_PSD:
    case IR_OUT_NOISE_EXP:
    case IR_OUT_NOISE_GAIN:
    case IR_OUT_NOISE_GAINC: return form == MDL_AC || form == MDL_FULL;
    case IR_OUT_OPVAR: return form == MDL_FULL;
    case IR_OUT_ISPOT:
    case IR_OUT_COLLAPSE:
    case IR_OUT_DROP: return form == FORM_TOPOLOGY;
    default: return false;
    }
}

/* Effects of dynamic code belong to the forms of accepted points, those of static code to the
 * topology form. The others become constants that nothing uses; true if there were any. */
static bool drop_effects(ir_fn *fn, int form)
{
    size_t n = vec_len(fn->inst);
    uint8_t *cls = vs_calloc(n + 1, 1);
    int32_t con = -1;
    ir_classes(fn, cls);
    for (size_t k = 0; k < n; k++) {
        if (fn->inst[k].op != IR_EFFECT)
            continue;
        bool is_static = ir_class_static(cls[k]);
        if (form == FORM_TOPOLOGY ? is_static : !is_static && form != MDL_AC && form != FORM_IDLE)
            continue;
        if (con < 0)
            con = fn->inst[ir_const(fn, 0.0)].a;
        fn->inst[k] =
            (ir_inst){.op = IR_CONST, .type = IR_F64, .a = con, .b = IR_NONE, .c = IR_NONE};
    }
    free(cls);
    return con >= 0;
}

/* Values of static class that dynamic code or an output uses, and the conditions that choose
 * dynamic code: they are what a variant is specialised for. */
typedef struct border {
    const form_fn *f;
    uint8_t *used;        /* [n_inst] 1 as a number, 2 as a condition */
    ir_val *open;         /* vec of IFs */
    uint8_t *has_dynamic; /* vec; per open IF */
} border;

static void use_value(border *b, ir_val v)
{
    if (ir_class_static(b->f->cls[v]) && b->f->fn.inst[v].op != IR_CONST)
        b->used[v] |= 1;
}

static void close_if(border *b)
{
    ir_val k = vec_pop(b->open);
    uint8_t dynamic = vec_pop(b->has_dynamic);
    ir_val cond = b->f->fn.inst[k].a;
    if (!dynamic)
        return;
    if (ir_class_static(b->f->cls[cond]))
        b->used[cond] |= 2;
    if (vec_len(b->open))
        vec_last(b->has_dynamic) = 1;
}

static void scan_border(border *b, ir_val k)
{
    const ir_inst *in = &b->f->fn.inst[k];
    const ir_val v[3] = {in->a, in->b, in->c};
    if (in->op == IR_IF) {
        vec_push(b->open, k);
        vec_push(b->has_dynamic, 0);
        return;
    }
    if (in->op == IR_END) {
        close_if(b);
        return;
    }
    if (ir_class_static(b->f->cls[k]) || in->op == IR_ELSE || in->op == IR_ENDLOOP)
        return;
    if (vec_len(b->open))
        vec_last(b->has_dynamic) = 1;
    if (in->op == IR_PHI) {
        ir_val cond = b->f->fn.inst[in->a].a;
        if (ir_class_static(b->f->cls[cond]))
            b->used[cond] |= 2;
        use_value(b, in->b), use_value(b, in->c);
    } else if (in->op == IR_LPHI) {
        use_value(b, in->b), use_value(b, in->c);
    } else if (in->op == IR_SELECT) {
        if (ir_class_static(b->f->cls[in->a]))
            b->used[in->a] |= 2;
        use_value(b, in->b), use_value(b, in->c);
    } else if (in->op != IR_IN && in->op != IR_LOOP) {
        for (int a = 0; a < ir_op_arity(in->op); a++)
            use_value(b, v[a]);
    }
}

static void find_border(form_fn *f)
{
    size_t n = vec_len(f->fn.inst);
    border b = {.f = f, .used = vs_calloc(n + 1, 1)};
    for (size_t k = 0; k < n; k++)
        scan_border(&b, (ir_val)k);
    for (size_t o = 0; o < vec_len(f->fn.out); o++)
        use_value(&b, f->fn.out[o].v);
    for (size_t k = 0; k < n; k++)
        if (b.used[k]) {
            vec_push(f->decide, (ir_val)k);
            vec_push(f->how, b.used[k] & 1 ? 1 : 2);
        }
    free(b.used);
    vec_free(b.open);
    vec_free(b.has_dynamic);
}

const form_fn *mdl_form_get(mdl_model *m, int form)
{
    form_fn *f = &m->form[form];
    if (f->made || mdl_keep_load_form(m, form, f))
        return f;
    mdl_need(m, MOD_FULL);
    ir_fn part, view = m->full; /* the same code with fewer outputs */
    view.out = NULL;
    for (size_t o = 0; o < vec_len(m->full.out); o++) {
        const ir_out *w = &m->full.out[o];
        if (belongs(form, w->kind) && (form != FORM_IDLE || m->quiet[w->a] & MAY_IDLE))
            vec_push(view.out, *w);
    }
    ir_opt(&part, &view, (ir_opt_flags){.once = true});
    vec_free(view.out);
    if (drop_effects(&part, form))
        optimise(&part);
    f->fn = part;
    f->cls = vs_calloc(vec_len(f->fn.inst) + 1, 1);
    ir_classes(&f->fn, f->cls);
    find_border(f);
    f->made = true;
    mdl_keep_form(m, form, f);
    return f;
}

void mdl_form_free(form_fn *f)
{
    if (f->kept)
        mdl_keep_drop_fn(&f->fn);
    if (!f->made || f->kept)
        return;
    ir_fn_fini(&f->fn);
    free(f->cls);
    vec_free(f->decide);
    vec_free(f->how);
    f->made = false;
}
