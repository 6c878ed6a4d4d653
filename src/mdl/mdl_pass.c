/* mdl_pass.c - the passes in their order, and what surrounds each: requirements, verifier, dump. */
#include "mdl_pass.h"

#include <string.h>

#include "heap.h"

/* -- the list -- */

typedef struct pass_info {
    const char *name, *file;
    unsigned needs, gives, breaks;
} pass_info;

static const pass_info info[MDL_N_PASS] = {
#define HEAD MDL_HAS_HEAD
#define SMALL MDL_HAS_SMALL
#define ROWS MDL_HAS_ROWS
#define NO_DDT MDL_HAS_NO_DDT
#define SCALED MDL_HAS_SCALED
#define JACOBIAN MDL_HAS_JACOBIAN
#define NO_NOISE MDL_HAS_NO_NOISE
#define FORM MDL_HAS_FORM
#define DECIDED MDL_HAS_DECIDED
#define PLACED MDL_HAS_PLACED
#define APART MDL_HAS_APART
#define LANES MDL_HAS_LANES
#define X(id, name, file, needs, gives, breaks) {name, file, needs, gives, breaks},
    MDL_PASS_LIST(X)
#undef X
#undef HEAD
#undef SMALL
#undef ROWS
#undef NO_DDT
#undef SCALED
#undef JACOBIAN
#undef NO_NOISE
#undef FORM
#undef DECIDED
#undef PLACED
#undef APART
#undef LANES
};

static const uint8_t module_passes[] = {MDL_PASS_LOWER, MDL_PASS_OPT,   MDL_PASS_CHARGE,
                                        MDL_PASS_MULT,  MDL_PASS_ZERO,  MDL_PASS_OPT,
                                        MDL_PASS_DERIV, MDL_PASS_QUIET, MDL_PASS_OPT};
static const uint8_t form_passes[] = {MDL_PASS_PICK};
static const uint8_t variant_passes[] = {MDL_PASS_SCCP,   MDL_PASS_MERGE, MDL_PASS_OPT,
                                         MDL_PASS_RECIP,  MDL_PASS_SPLIT, MDL_PASS_IFCONV,
                                         MDL_PASS_REVERSE};

const char *mdl_pass_name(int pass)
{
    return pass >= 0 && pass < MDL_N_PASS ? info[pass].name : NULL;
}

int mdl_pass_find(const char *name)
{
    int found = MDL_DUMP_NONE;
    for (int k = 0; k < MDL_N_PASS; k++)
        if (!strcmp(info[k].name, name))
            found = k;
    return !strcmp(name, "all") ? MDL_DUMP_ALL : found;
}

/* -- small helpers of passes -- */

ir_val mdl_find_out(const ir_fn *fn, int kind, int32_t a)
{
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == kind && fn->out[o].a == a)
            return fn->out[o].v;
    return IR_NONE;
}

ir_val mdl_sum(ir_fn *fn, ir_val a, ir_val b)
{
    return a == IR_NONE ? b : b == IR_NONE ? a : ir_bin(fn, IR_ADD, a, b);
}

ir_val mdl_as_f64(ir_fn *fn, ir_val v)
{
    const int t = fn->inst[v].type;
    return t == IR_I32 ? ir_un(fn, IR_I2F, v) : t == IR_BOOL ? ir_un(fn, IR_B2F, v) : v;
}

/* -- running one -- */

static bool special(const mdl_pipe *p) { return !p->m->lib->opt.no_specialize; }

/* The result of a pass that writes a new function. */
static void take(mdl_pipe *p, ir_fn *to)
{
    if (p->in == &p->fn)
        ir_fn_fini(&p->fn);
    p->fn = *to;
    p->in = &p->fn;
}

static void run_opt(mdl_pipe *p)
{
    const bool variant = p->has & MDL_HAS_DECIDED; /* those are optimised to the end */
    const ir_opt_flags flags = {.once = !variant, .fold_zero = variant && special(p)};
    ir_fn to;
    ir_opt(&to, p->in, flags);
    take(p, &to);
}

static void run_zero(mdl_pipe *p, int kind)
{
    uint8_t *is_zero = vs_calloc(vec_len(p->fn.in) + 1, 1);
    for (size_t i = 0; i < vec_len(p->fn.in); i++)
        is_zero[i] = p->fn.in[i].kind == kind;
    ir_zero(&p->fn, is_zero);
    vs_free(is_zero);
}

static void run_sccp(mdl_pipe *p)
{
    ir_fn to;
    ir_sccp(&to, p->in, p->facts.known, p->facts.val, (ir_opt_flags){.fold_zero = special(p)},
            p->stats);
    take(p, &to);
}

static void run_recip(mdl_pipe *p)
{
    ir_fn to;
    if (!special(p) || p->m->lib->opt.exact_division)
        return;
    ir_recip(&to, p->in);
    take(p, &to);
}

static void run_split(mdl_pipe *p)
{
    ir_fn to;
    p->n_cache = ir_split(&p->setup, &to, p->in);
    take(p, &to);
}

/* Both evaluation and kernel. */
static void run_reverse(mdl_pipe *p)
{
    ir_fn to;
    if (p->form != MDL_BACK)
        return;
    (void)ir_reverse(&to, &p->kernel, (int32_t)vec_len(p->m->unknown));
    take(p, &to);
    ir_fn_fini(&p->kernel);
    ir_opt(&p->kernel, p->in, (ir_opt_flags){0});
}

static void run_pick(mdl_pipe *p)
{
    ir_fn to;
    mdl_pick(p->m, p->form, &to, p->in);
    take(p, &to);
}

static void run_pass(mdl_pipe *p, mdl_pass pass)
{
    const int32_t *topology = special(p) ? p->topology : NULL;
    switch (pass) {
    case MDL_PASS_LOWER: break; /* done by va_lower.c */
    case MDL_PASS_OPT: run_opt(p); break;
    case MDL_PASS_CHARGE: mdl_charge(p->m, &p->fn); break;
    case MDL_PASS_MULT: mdl_mult(p->m, &p->fn); break;
    case MDL_PASS_ZERO: run_zero(p, IR_IN_DDT); break;
    case MDL_PASS_DERIV: mdl_deriv(p->m, &p->fn); break;
    case MDL_PASS_QUIET: run_zero(p, IR_IN_NOISE); break;
    case MDL_PASS_PICK: run_pick(p); break;
    case MDL_PASS_SCCP: run_sccp(p); break;
    case MDL_PASS_MERGE: mdl_merge(&p->fn, topology, vec_len(p->m->mod->noise)); break;
    case MDL_PASS_RECIP: run_recip(p); break;
    case MDL_PASS_SPLIT: run_split(p); break;
    case MDL_PASS_IFCONV: ir_ifconv(&p->kernel, p->in, p->ifconv); break;
    case MDL_PASS_REVERSE: run_reverse(p); break;
    case MDL_N_PASS: assert(!"not a pass");
    }
}

/* -- what surrounds it -- */

const char *mdl_form_name(int form)
{
    static const char *const name[] = {
        [MDL_DC] = "dc",       [MDL_TRAN] = "tran",          [MDL_AC] = "ac",
        [MDL_APART] = "apart", [MDL_BACK] = "back",          [MDL_ASKED] = "asked",
        [MDL_FULL] = "full",   [FORM_TOPOLOGY] = "topology", [FORM_IDLE] = "idle"};
    return form == MDL_NO_FORM ? NULL : name[form];
}

bool mdl_pass_verify(const mdl_pipe *p, mdl_pass pass, const ir_fn *fn)
{
    arena scratch;
    const char *why = NULL, *form = mdl_form_name(p->form);
    arena_init(&scratch);
    const bool ok = ir_verify(fn, &scratch, &why);
    if (!ok)
        diag_error(p->m->lib->d, p->m->mod->span,
                   "internal error: pass '%s' (%s) spoils module '%s'%s%s: %s", info[pass].name,
                   info[pass].file, p->m->mod->name, form ? ", form " : "", form ? form : "", why);
    arena_fini(&scratch);
    return ok;
}

static bool to_be_verified(const mdl_pipe *p)
{
#ifndef __OPTIMIZE__ /* a debug build */
    return true;
#endif
    return p->m->lib->opt.verify || p->m->lib->opt.dump;
}

static void show(const mdl_pipe *p, mdl_pass pass, const char *what, const ir_fn *fn)
{
    const char *form = mdl_form_name(p->form);
    FILE *out = p->m->lib->opt.dump;
    fprintf(out, "# pass %s (%s): module %s%s%s, %s, %zu instructions\n", info[pass].name,
            info[pass].file, p->m->mod->name, form ? ", form " : "", form ? form : "", what,
            vec_len(fn->inst));
    ir_print(fn, out);
    fputc('\n', out);
}

static void show_before(const mdl_pipe *p, mdl_pass pass)
{
    if (p->m->lib->opt.dump && (int)pass == p->m->lib->opt.dump_pass && pass != MDL_PASS_LOWER)
        show(p, pass, "before", p->in);
}

static void show_after(const mdl_pipe *p, mdl_pass pass)
{
    const int want = p->m->lib->opt.dump_pass;
    if (!p->m->lib->opt.dump || (want != MDL_DUMP_ALL && want != (int)pass &&
                                 (want != MDL_DUMP_LAST || pass != MDL_PASS_IFCONV)))
        return;
    if (pass == MDL_PASS_SPLIT)
        show(p, pass, "setup", &p->setup);
    if (pass == MDL_PASS_LOWER)
        show(p, pass, "parameters", &p->m->mod->params);
    show(p, pass, pass == MDL_PASS_SPLIT || pass == MDL_PASS_LOWER ? "evaluation" : "after",
         pass == MDL_PASS_IFCONV ? &p->kernel : p->in);
}

static void verify_after(const mdl_pipe *p, mdl_pass pass)
{
    if (!to_be_verified(p))
        return;
    (void)mdl_pass_verify(p, pass, pass == MDL_PASS_IFCONV ? &p->kernel : p->in);
    if (pass == MDL_PASS_SPLIT)
        (void)mdl_pass_verify(p, pass, &p->setup);
}

static void run_passes(mdl_pipe *p, const uint8_t *pass, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pass_info *about = &info[pass[i]];
        assert((p->has & about->needs) == about->needs);
        heap_poll();
        show_before(p, pass[i]);
        run_pass(p, pass[i]);
        p->has = (p->has & ~about->breaks) | about->gives;
        verify_after(p, pass[i]);
        show_after(p, pass[i]);
    }
}

mdl_pipe mdl_pipe_of(mdl_model *m, int form, const ir_fn *from)
{
    return (mdl_pipe){.m = m, .form = form, .in = from};
}

void mdl_pass_module(mdl_pipe *p) { run_passes(p, module_passes, VS_COUNT(module_passes)); }

void mdl_pass_form(mdl_pipe *p)
{
    p->has = MDL_HAS_HEAD | MDL_HAS_SMALL | MDL_HAS_ROWS | MDL_HAS_NO_DDT | MDL_HAS_SCALED |
             MDL_HAS_JACOBIAN | MDL_HAS_NO_NOISE;
    run_passes(p, form_passes, VS_COUNT(form_passes));
}

void mdl_pass_variant(mdl_pipe *p)
{
    p->has = MDL_HAS_HEAD | MDL_HAS_SMALL | MDL_HAS_FORM;
    run_passes(p, variant_passes, VS_COUNT(variant_passes));
}
