/* va_check.h - a Verilog-A text on the bench: compile, set parameters and unknowns, interpret,
 * look.
 * Use:  bench b = bench_new("module m(a); ..."); bench_set(&b, "r", 50); bench_x(&b, "a", 1.5);
 *       bench_run(&b); ck_assert(res(&b, "a") == ...); bench_free(&b);
 * Text without the disciplines gets them by an include at its head, on line 1 before the text. */
#ifndef VA_CHECK_H
#define VA_CHECK_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "va.h"
#include "stream.h"

#define HEAD "`include \"disciplines.vams\"\n"

typedef struct bench {
    diag d;
    str_pool names;
    va_unit u;
    va_module *m;
    vs_status st;
    double param[200], x[100], state[50], dyn[IR_N_DYN], temp, mfactor, ddt[50], noise[50];
    double limold[20], time;
    bool given[200], portconn[20];
    ir_num *val;
    int n_effect;
    char effect[500]; /* formats of the messages given, joined by | */
} bench;

static inline char *bench_messages(bench *b)
{
    char *buf = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&buf, &n);
    diag_render(&b->d, fp, false);
    fclose(fp);
    return buf;
}

static inline void bench_compile(bench *b, const char *text)
{
    *b = (bench){.temp = 300.15, .mfactor = 1};
    diag_init(&b->d);
    str_pool_init(&b->names);
    b->st = va_compile_text(&b->u, &b->d, &b->names, "t.va", text, strlen(text), NULL);
    b->m = vec_len(b->u.module) ? b->u.module[vec_len(b->u.module) - 1] : NULL;
}

static inline void check_ir(const bench *b)
{
    arena a;
    const char *why = "";
    arena_init(&a);
    for (size_t i = 0; i < vec_len(b->u.module); i++) {
        ck_assert_msg(ir_verify(&b->u.module[i]->eval, &a, &why), "eval: %s", why);
        ck_assert_msg(ir_verify(&b->u.module[i]->params, &a, &why), "params: %s", why);
    }
    arena_fini(&a);
}

static inline bench bench_new(const char *text)
{
    bench b;
    char *full = vs_malloc(strlen(text) + sizeof HEAD);
    sprintf(full, "%s%s", HEAD, text);
    bench_compile(&b, full);
    vs_free(full);
    if (b.st) {
        char *msg = bench_messages(&b);
        ck_abort_msg("%s", msg);
    }
    ck_assert_ptr_nonnull(b.m);
    check_ir(&b);
    for (int i = 0; i < 20; i++)
        b.portconn[i] = true;
    b.dyn[IR_DYN_LIMIT] = 1;
    b.dyn[IR_DYN_GMIN] = 1e-12;
    return b;
}

static inline void bench_free(bench *b)
{
    va_unit_fini(&b->u);
    diag_fini(&b->d);
    str_pool_fini(&b->names);
    vs_free(b->val);
}

static inline int32_t unknown_of(const bench *b, const char *name)
{
    for (size_t i = 0; i < vec_len(b->m->unknown); i++)
        if (!strcmp(b->m->unknown[i].name, name))
            return (int32_t)i;
    ck_abort_msg("no unknown %s", name);
    return -1;
}

static inline void bench_set(bench *b, const char *name, double v)
{
    int32_t k = va_find_param(b->m, name);
    ck_assert_msg(k >= 0, "no parameter %s", name);
    b->param[k] = v;
    b->given[k] = true;
}

static inline void bench_x(bench *b, const char *name, double v) { b->x[unknown_of(b, name)] = v; }

static inline ir_num input_value(const bench *b, const ir_input *in, bool eval)
{
    double v = 0;
    switch ((ir_in_kind)in->kind) {
    case IR_IN_PARAM: v = b->param[in->k]; break;
    case IR_IN_GIVEN: v = b->given[in->k]; break;
    case IR_IN_PORTCONN: v = b->portconn[in->k]; break;
    case IR_IN_MFACTOR: v = b->mfactor; break;
    case IR_IN_TEMP: v = b->temp; break;
    case IR_IN_SIMPARAM: v = in->k == IR_SIMPARAM_tnom ? 27 : 1; break;
    case IR_IN_ABSTIME: v = b->time; break;
    case IR_IN_DYN: v = b->dyn[in->k]; break;
    case IR_IN_STATE: v = b->state[in->k]; break;
    case IR_IN_LIMOLD: v = b->limold[in->k]; break;
    case IR_IN_DDT: v = b->ddt[in->k]; break;
    case IR_IN_NOISE: v = b->noise[in->k]; break;
    case IR_IN_PROBE: {
        const va_probe *p = &b->m->probe[in->k];
        v = (p->hi < 0 ? 0 : b->x[p->hi]) - (p->lo < 0 ? 0 : b->x[p->lo]);
        break;
    }
    default: ck_abort_msg("unexpected input %d", in->kind);
    }
    ck_assert(eval || in->kind < IR_IN_CACHE);
    return in->type == IR_F64 ? (ir_num){.f = v} : (ir_num){.i = (int32_t)v};
}

static inline void see_effect(void *user, const ir_fn *fn, const ir_effect *e, const ir_num *val)
{
    bench *b = user;
    (void)fn;
    (void)val;
    b->n_effect++;
    if (e->format && strlen(b->effect) + strlen(e->format) < 490)
        strcat(strcat(b->effect, e->format), "|");
}

static inline void interpret(bench *b, const ir_fn *fn, bool eval)
{
    ir_num *in = vs_calloc(vec_len(fn->in) + 1, sizeof *in);
    vs_free(b->val);
    b->val = vs_calloc(vec_len(fn->inst) + 1, sizeof *b->val);
    for (size_t i = 0; i < vec_len(fn->in); i++)
        in[i] = input_value(b, &fn->in[i], eval);
    ir_host host = {see_effect, b};
    ck_assert_int_eq(ir_interp(fn, in, b->val, NULL, &host), VS_OK);
    vs_free(in);
}

static inline double as_double(const ir_fn *fn, const ir_num *val, ir_val v)
{
    return fn->inst[v].type == IR_F64 ? val[v].f : val[v].i;
}

/* An output of eval after bench_run; `absent` if there is none. */
static inline double out_or(const bench *b, ir_out_kind kind, int32_t a, double absent)
{
    const ir_fn *fn = &b->m->eval;
    for (size_t i = 0; i < vec_len(fn->out); i++)
        if (fn->out[i].kind == kind && fn->out[i].a == a)
            return as_double(fn, b->val, fn->out[i].v);
    return absent;
}

static inline double out(const bench *b, ir_out_kind kind, int32_t a)
{
    double v = out_or(b, kind, a, NAN);
    ck_assert_msg(v == v, "no output %d %d", kind, a);
    return v;
}

static inline double res(const bench *b, const char *unknown)
{
    return out_or(b, IR_OUT_RES, unknown_of(b, unknown), 0);
}

static inline double opvar(const bench *b, const char *name)
{
    for (size_t i = 0; i < vec_len(b->m->opvar); i++)
        if (!strcmp(b->m->opvar[i].name, name))
            return out(b, IR_OUT_OPVAR, (int32_t)i);
    ck_abort_msg("no output variable %s", name);
    return 0;
}

/* Values of parameters that are not given, and whether all are in range. */
static inline bool bench_params(bench *b)
{
    const ir_fn *fn = &b->m->params;
    bool ok = true;
    interpret(b, fn, false);
    for (size_t i = 0; i < vec_len(fn->out); i++) {
        double v = as_double(fn, b->val, fn->out[i].v);
        if (fn->out[i].kind == IR_OUT_PARAM)
            b->param[fn->out[i].a] = v;
        else
            ok = ok && v != 0;
    }
    return ok;
}

static inline void bench_run(bench *b)
{
    bench_params(b);
    interpret(b, &b->m->eval, true);
}

/* The point is accepted: states move on. */
static inline void bench_accept(bench *b)
{
    for (int32_t k = 0; k < b->m->n_state; k++)
        b->state[k] = out(b, IR_OUT_STATE, k);
}

/* Value of an expression: variable declarations, then statements that set y. */
static inline double value_of(const char *decl, const char *stmt)
{
    char text[4000];
    snprintf(text, sizeof text,
             "module m(a);\n inout a; electrical a;\n (*desc=\"y\"*) real y;\n %s\n"
             "analog begin\n %s\n I(a) <+ V(a);\nend\nendmodule\n",
             decl, stmt);
    bench b = bench_new(text);
    bench_x(&b, "a", 0.5);
    bench_run(&b);
    double v = opvar(&b, "y");
    bench_free(&b);
    return v;
}

#define RUN_SUITE(name, ...)                              \
    int main(void)                                        \
    {                                                     \
        const TTest *const tests[] = {__VA_ARGS__};       \
        TCase *t = tcase_create(name);                    \
        tcase_set_timeout(t, TEST_PATIENCE);              \
        return run_case(name, t, tests, VS_COUNT(tests)); \
    }

#endif
