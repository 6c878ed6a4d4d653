/* mdl_check.h - one instance of a model at a bias; shared by the tests of src/mdl. */
#ifndef MDL_CHECK_H
#define MDL_CHECK_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "mdl_priv.h"

typedef struct bench { /* a library of its own */
    diag d;
    str_pool names;
    mdl_lib *lib;
    char cache[32];
} bench;

static inline void bench_open_opt(bench *b, mdl_opt opt)
{
    diag_init(&b->d);
    str_pool_init(&b->names);
    strcpy(b->cache, "/tmp/vsim-mdl-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->cache));
    opt.jit.cache_dir = b->cache;
    opt.verify = true;
    opt.jit.opt_level = 2;
    opt.jit.lanes = 1;
    opt.jit.exact = true; /* so that kernel and interpreter agree bit by bit */
    ck_assert_int_eq(mdl_lib_new(&b->lib, &b->d, &b->names, &opt), VS_OK);
}

static inline void bench_open(bench *b, bool interpret, bool no_specialize)
{
    bench_open_opt(b, (mdl_opt){.interpret = interpret, .no_specialize = no_specialize});
}

static inline void bench_close(bench *b)
{
    char cmd[64];
    mdl_lib_free(&b->lib);
    snprintf(cmd, sizeof cmd, "rm -rf %s", b->cache);
    ck_assert_int_eq(system(cmd), 0);
    diag_fini(&b->d);
    str_pool_fini(&b->names);
}

static inline void bench_show(bench *b) { diag_render(&b->d, stderr, false); }

static const double SIMPARAM_DEFAULT[IR_N_SIMPARAM] = {
#define X(name, type, dflt, ...) dflt,
    IR_SIMPARAM_LIST(X)
#undef X
};

static inline mdl_env standard_env(void)
{
    return (mdl_env){.temp = 300.15, .mfactor = 1, .simparam = SIMPARAM_DEFAULT};
}

/* The row of parameters given as name, value pairs; -1 and messages if it is refused. */
static inline int32_t row_with(bench *b, mdl_model *m, mdl_env env, size_t n,
                               const char *const *name, const double *value)
{
    mdl_given given[64] = {0};
    int32_t row = -1;
    for (size_t i = 0; i < n; i++) {
        given[i] = (mdl_given){va_find_param(mdl_module(m), name[i]), value[i], DIAG_NOWHERE};
        ck_assert_msg(given[i].param >= 0, "no parameter %s", name[i]);
    }
    vs_status st = mdl_row(m, given, n, &env, DIAG_NOWHERE, "x1", &row);
    (void)b;
    return st == VS_OK ? row : -1;
}

/* One instance: local unknown u at x[1 + u], all in use. */
typedef struct inst {
    mdl_variant *v;
    double *x, *cache, *out, *state, *state_new, *limold, *limnew;
    int32_t *nodes, row_of;
    double dyn[IR_N_DYN];
} inst;

static inline void inst_open(inst *s, mdl_model *m, int32_t row, mdl_form_kind form)
{
    *s = (inst){0};
    ck_assert_int_ge(row, 0);
    ck_assert_int_eq(mdl_variant_get(m, row, form, &s->v), VS_OK);
    const jit_layout *l = &s->v->lay;
    s->x = vs_calloc((size_t)l->n_u + 2, sizeof(double));
    s->nodes = vs_calloc((size_t)l->n_u + 1, sizeof(int32_t));
    s->cache = vs_calloc((size_t)l->n_cache + 1, sizeof(double));
    s->out = vs_calloc((size_t)l->n_out + 1, sizeof(double));
    s->state = vs_calloc((size_t)l->n_state + 1, sizeof(double));
    s->state_new = vs_calloc((size_t)l->n_state + 1, sizeof(double));
    s->limold = vs_calloc((size_t)l->n_lim + 1, sizeof(double));
    s->limnew = vs_calloc((size_t)l->n_lim + 1, sizeof(double));
    for (int32_t u = 0; u < l->n_u; u++)
        s->nodes[u] = u + 1;
    s->dyn[IR_DYN_GMIN] = 1e-12;
    s->dyn[IR_DYN_SRCFACT] = 1;
    s->dyn[IR_DYN_ITER] = 2;
    s->dyn[IR_DYN_IS_TRAN] = form == MDL_TRAN;
    s->dyn[IR_DYN_IS_AC] = s->dyn[IR_DYN_IS_NOISE] = form == MDL_AC;
    s->dyn[IR_DYN_IS_DC] = s->dyn[IR_DYN_IS_STATIC] = form == MDL_DC || form == MDL_FULL;
    mdl_setup(s->v, row, s->cache);
    mdl_prepare(s->v, false);
}

static inline void inst_close(inst *s)
{
    vs_free(s->x), vs_free(s->nodes), vs_free(s->cache), vs_free(s->out);
    vs_free(s->state), vs_free(s->state_new), vs_free(s->limold), vs_free(s->limnew);
}

static inline jit_batch inst_batch(inst *s)
{
    return (jit_batch){s->x,     s->nodes,  s->cache, &s->row_of,   s->dyn,
                       s->state, s->limold, s->out,   s->state_new, s->limnew};
}

static inline void inst_eval(inst *s)
{
    jit_batch b = inst_batch(s);
    ck_assert_int_eq(mdl_eval(s->v, false, &b, 0, 1), VS_OK);
}

/* Output of a kind at a place; 0 if there is none. */
static inline double inst_out(const inst *s, int kind, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < s->v->lay.n_out; k++)
        if (s->v->out[k].kind == kind && s->v->out[k].a == a && s->v->out[k].b == b)
            return s->out[k];
    return 0;
}

static inline bool inst_has(const inst *s, int kind, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < s->v->lay.n_out; k++)
        if (s->v->out[k].kind == kind && s->v->out[k].a == a && s->v->out[k].b == b)
            return true;
    return false;
}

#define NEAR(a, b, rel)                                                                     \
    ck_assert_msg(fabs((a) - (b)) <= (rel) * fabs(b) + 1e-300, "%s = %.17g, not %.17g", #a, \
                  (double)(a), (double)(b))

#endif
