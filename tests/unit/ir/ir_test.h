/* ir_test.h - what the tests of src/ir share: functions from and to text, and random functions. */
#ifndef IR_TEST_H
#define IR_TEST_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"
#include "stream.h"
#include "../suite.h"

static arena test_mem;
static void begin_mem(void) { arena_init(&test_mem); }
static void end_mem(void) { arena_fini(&test_mem); }

static inline ir_fn fn_of(const char *text)
{
    ir_fn fn;
    const char *why = NULL;
    vs_status st = ir_read(&fn, text, &test_mem, &why);
    ck_assert_msg(st == VS_OK, "%s", why ? why : "?");
    return fn;
}

/* The printed form, in test_mem. */
static inline const char *text_of(const ir_fn *fn)
{
    char *buf = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&buf, &n);
    ir_print(fn, fp);
    fclose(fp);
    char *s = arena_strndup(&test_mem, buf, n);
    vs_free(buf);
    return s;
}

static inline void check_valid(const ir_fn *fn)
{
    const char *why = NULL;
    bool ok = ir_verify(fn, &test_mem, &why);
    ck_assert_msg(ok, "%s\n%s", why ? why : "?", ok ? "" : text_of(fn));
}

/* Number of instructions with this operation. */
static inline int count_op(const ir_fn *fn, ir_op op)
{
    int n = 0;
    for (size_t i = 0; i < vec_len(fn->inst); i++)
        n += fn->inst[i].op == op;
    return n;
}

/* Values of all outputs, interpreted; inputs found by kind and k through `value`. NaN for an output
 * in a region that did not run; did_run (if not NULL) tells it from a NaN that was computed. */
typedef ir_num (*input_fn)(const ir_input *in, void *user);

/* What the effects of the last run_fn reported: a sum, so that the order plays no part. */
static uint64_t effects_seen;
static inline void note_effect(void *user, const ir_fn *fn, const ir_effect *eff, const ir_num *val)
{
    (void)user;
    uint64_t h = (uint64_t)eff->where * 1099511628211u + eff->kind;
    for (size_t k = 0; k < vec_len(eff->arg); k++) {
        ir_val a = eff->arg[k];
        double x = fn->inst[a].type == IR_F64 ? val[a].f : val[a].i;
        uint64_t bits;
        if (isnan(x))
            x = NAN;
        memcpy(&bits, &x, sizeof bits);
        h = (h ^ bits ^ bits >> 31) * 1099511628211u;
    }
    effects_seen += h;
}

static inline double *run_fn_ran(const ir_fn *fn, input_fn value, void *user, uint8_t **did_run)
{
    size_t n = vec_len(fn->inst);
    ir_num *in = arena_array(&test_mem, ir_num, vec_len(fn->in) + 1);
    ir_num *val = arena_array(&test_mem, ir_num, n + 1);
    uint8_t *ran = arena_array(&test_mem, uint8_t, n + 1);
    double *out = arena_array(&test_mem, double, vec_len(fn->out) + 1);
    uint8_t *out_ran = arena_array(&test_mem, uint8_t, vec_len(fn->out) + 1);
    for (size_t k = 0; k < vec_len(fn->in); k++)
        in[k] = value(&fn->in[k], user);
    ir_host host = {note_effect, NULL};
    effects_seen = 0;
    ck_assert_int_eq(ir_interp(fn, in, val, ran, &host), VS_OK);
    for (size_t k = 0; k < vec_len(fn->out); k++) {
        ir_val v = fn->out[k].v;
        out_ran[k] = ran[v];
        out[k] = !ran[v] ? NAN : fn->inst[v].type == IR_F64 ? val[v].f : val[v].i;
    }
    if (did_run)
        *did_run = out_ran;
    return out;
}
static inline double *run_fn(const ir_fn *fn, input_fn value, void *user)
{
    return run_fn_ran(fn, value, user, NULL);
}

static inline bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* ---- random functions ---- */

static inline uint32_t rnd(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 33);
}
static inline int rnd_to(uint64_t *s, int n) { return (int)(rnd(s) % (uint32_t)n); }

typedef struct gen {
    ir_fn *fn;
    uint64_t seed;
    ir_val *pool; /* vec: values visible now */
    bool smooth;  /* only functions that are smooth and finite where they are used */
    int budget;
} gen;

static inline ir_val pick(gen *g, ir_type t)
{
    size_t n = vec_len(g->pool);
    for (int k = 0; k < 40; k++) {
        /* rather a late one */
        size_t back =
            (size_t)rnd_to(&g->seed, rnd_to(&g->seed, 3) ? (n < 12 ? (int)n : 12) : (int)n);
        ir_val v = g->pool[n - 1 - back];
        if (g->fn->inst[v].type == t)
            return v;
    }
    ir_val v;
    static const double some[] = {0, 1, -1, 2, 0.5, -0.0, 3.25, 1e3, 4};
    if (t == IR_F64)
        v = ir_const(g->fn, g->smooth ? 0.5 + rnd_to(&g->seed, 4) : some[rnd_to(&g->seed, 9)]);
    else if (t == IR_I32)
        v = ir_const_i(g->fn, rnd_to(&g->seed, 7) - 2);
    else
        v = ir_const_b(g->fn, rnd_to(&g->seed, 2));
    vec_push(g->pool, v);
    return v;
}

static inline ir_type rnd_type(gen *g)
{
    int k = rnd_to(&g->seed, 8);
    return g->smooth || k < 5 ? IR_F64 : k < 6 ? IR_I32 : IR_BOOL;
}

static inline void gen_pure(gen *g)
{
    static const ir_op smooth[] = {IR_NEG,   IR_ADD,    IR_SUB,   IR_MUL,   IR_DIV,  IR_SQRT,
                                   IR_EXP,   IR_LN,     IR_POW,   IR_LOG10, IR_SIN,  IR_COS,
                                   IR_TAN,   IR_ATAN,   IR_ATAN2, IR_SINH,  IR_COSH, IR_TANH,
                                   IR_ASINH, IR_HYPOT,  IR_EXPM1, IR_LOG1P, IR_MIN,  IR_MAX,
                                   IR_ABS,   IR_SELECT, IR_FLT,   IR_ADD,   IR_MUL,  IR_SUB};
    ir_op op = g->smooth ? smooth[rnd_to(&g->seed, (int)VS_COUNT(smooth))]
                         : (ir_op)(IR_NEG + rnd_to(&g->seed, IR_SELECT - IR_NEG + 1));
    ir_val v;
    switch (op) {
    case IR_SELECT: {
        ir_type t = rnd_type(g);
        ir_val c = pick(g, IR_BOOL), x = pick(g, t);
        v = ir_select(g->fn, c, x, pick(g, t));
        break;
    }
    case IR_I2F:
    case IR_B2I:
    case IR_B2F:
    case IR_F2I:
    default: {
        ir_type t = op == IR_I2F                                                       ? IR_I32
                    : op == IR_B2I || op == IR_B2F || (op >= IR_BAND && op <= IR_BNOT) ? IR_BOOL
                    : op >= IR_INEG && op <= IR_INE                                    ? IR_I32
                                                                                       : IR_F64;
        ir_val a = pick(g, t);
        v = ir_op_arity(op) == 1 ? ir_un(g->fn, op, a) : ir_bin(g->fn, op, a, pick(g, t));
        break;
    }
    }
    vec_push(g->pool, v);
}

static inline void gen_effect(gen *g)
{
    ir_effect e = {.kind = IR_EFF_INFO, .where = rnd_to(&g->seed, 1000)};
    for (int k = rnd_to(&g->seed, 3); k > 0; k--) {
        ir_val arg = pick(g, rnd_type(g));
        vec_push(e.arg, arg);
    }
    ir_effect_add(g->fn, e);
}

static inline void gen_block(gen *g, int depth, int len);

static inline void shrink(gen *g, size_t to)
{
    while (vec_len(g->pool) > to)
        (void)vec_pop(g->pool);
}

static inline void gen_if(gen *g, int depth)
{
    enum { MAX_PHI = 4 };
    ir_val b[MAX_PHI], c[MAX_PHI];
    ir_type t[MAX_PHI];
    int n = rnd_to(&g->seed, MAX_PHI + 1);
    for (int k = 0; k < n; k++)
        t[k] = rnd_type(g);
    ir_val cond = pick(g, IR_BOOL), iff = ir_if(g->fn, cond);
    size_t mark = vec_len(g->pool);
    gen_block(g, depth + 1, rnd_to(&g->seed, 6));
    for (int k = 0; k < n; k++)
        b[k] = pick(g, t[k]);
    shrink(g, mark);
    ir_else(g->fn);
    gen_block(g, depth + 1, rnd_to(&g->seed, 6));
    for (int k = 0; k < n; k++)
        c[k] = pick(g, t[k]);
    shrink(g, mark);
    ir_end(g->fn);
    for (int k = 0; k < n; k++)
        vec_push(g->pool, ir_phi(g->fn, iff, b[k], c[k]));
}

/* A counter up to a small limit (constant, or a masked value), some other lphis. */
static inline void gen_loop(gen *g, int depth)
{
    enum { MAX_LPHI = 3 };
    ir_type t[MAX_LPHI];
    ir_val init[MAX_LPHI], lphi[MAX_LPHI + 1];
    int n = rnd_to(&g->seed, MAX_LPHI + 1);
    for (int k = 0; k < n; k++) {
        t[k] = rnd_type(g);
        init[k] = pick(g, t[k]);
    }
    ir_val zero = ir_const_i(g->fn, 0), limit = ir_const_i(g->fn, rnd_to(&g->seed, 4));
    if (!g->smooth && rnd_to(&g->seed, 2)) {
        ir_val x = pick(g, IR_I32), three = ir_const_i(g->fn, 3);
        limit = ir_bin(g->fn, IR_IAND, x, three);
    }
    ir_val loop = ir_loop(g->fn);
    ir_val count = ir_lphi(g->fn, loop, zero);
    for (int k = 0; k < n; k++)
        lphi[k] = ir_lphi(g->fn, loop, init[k]);
    size_t outer = vec_len(g->pool);
    vec_push(g->pool, count);
    for (int k = 0; k < n; k++)
        vec_push(g->pool, lphi[k]);
    gen_block(g, depth + 1, rnd_to(&g->seed, 3));
    ir_val more = ir_bin(g->fn, IR_ILT, count, limit);
    vec_push(g->pool, more);
    ir_while(g->fn, more);
    gen_block(g, depth + 1, rnd_to(&g->seed, 6));
    ir_val one = ir_const_i(g->fn, 1);
    ir_val next_count = ir_bin(g->fn, IR_IADD, count, one);
    g->fn->inst[count].c = next_count;
    for (int k = 0; k < n; k++) {
        ir_val next = pick(g, t[k]);
        g->fn->inst[lphi[k]].c = next;
    }
    ir_endloop(g->fn);
    shrink(g, outer);
    vec_push(g->pool, count);
    for (int k = 0; k < n; k++)
        vec_push(g->pool, lphi[k]);
}

static inline void gen_block(gen *g, int depth, int len)
{
    for (int k = 0; k < len && g->budget > 0; k++) {
        g->budget--;
        int what = rnd_to(&g->seed, 12);
        if (what == 0 && depth < 5)
            gen_if(g, depth);
        else if (what == 1 && depth < 3)
            gen_loop(g, depth);
        else if (what == 2 && !g->smooth)
            vec_push(g->pool, ir_emit(g->fn, IR_LIMIT, IR_F64, pick(g, IR_F64), 0, IR_NONE));
        else if (what == 3 && rnd_to(&g->seed, 3) == 0)
            gen_effect(g);
        else
            gen_pure(g);
    }
}

/* Inputs: F64 PARAM 0..2, I32 PARAM 3, BOOL GIVEN 0..1 static; F64 PROBE 0..2, BOOL-like dynamic.
 */
static inline ir_fn random_fn(uint64_t seed, int size, bool smooth)
{
    ir_fn fn;
    ir_fn_init(&fn, "random");
    gen g = {.fn = &fn, .seed = seed * 2654435761u + 12345, .smooth = smooth, .budget = size};
    for (int k = 0; k < 3; k++) {
        vec_push(g.pool, ir_in(&fn, IR_IN_PARAM, k, IR_F64, k == 1));
        vec_push(g.pool, ir_in(&fn, IR_IN_PROBE, k, IR_F64, false));
    }
    vec_push(g.pool, ir_in(&fn, IR_IN_PARAM, 3, IR_I32, false));
    vec_push(g.pool, ir_in(&fn, IR_IN_GIVEN, 0, IR_BOOL, false));
    vec_push(g.pool, ir_in(&fn, IR_IN_GIVEN, 1, IR_BOOL, false));
    vec_push(g.pool, ir_in(&fn, IR_IN_TEMP, 0, IR_F64, false));
    gen_block(&g, 0, size);
    int n = smooth ? 3 : 8;
    for (int k = 0; k < n; k++) {
        ir_val v = pick(&g, smooth ? IR_F64 : rnd_type(&g));
        ir_out_add(&fn, k == 7 ? IR_OUT_COLLAPSE : IR_OUT_RES, k, 0, v);
    }
    vec_free(g.pool);
    return fn;
}

/* Values for these inputs from a seed; some are round numbers. */
typedef struct values {
    double f[8], probe[8];
    int32_t i;
    bool b[2];
    double temp;
    const ir_num *cache;
} values;
static inline values random_values(uint64_t seed, bool smooth)
{
    static const double some[] = {0, 1, -1, 2, -0.0, 0.5};
    uint64_t s = seed * 77777 + 5;
    values v = {.i = rnd_to(&s, 5) - 1, .temp = smooth ? 1.2 : 300};
    for (int k = 0; k < 3; k++) {
        v.f[k] = 0.3 + rnd_to(&s, 1000) / 500.0;
        v.probe[k] = 0.3 + rnd_to(&s, 1000) / 700.0;
        if (!smooth && rnd_to(&s, 2))
            v.f[k] = some[rnd_to(&s, 6)];
        if (!smooth && rnd_to(&s, 2))
            v.probe[k] = some[rnd_to(&s, 6)];
    }
    v.b[0] = rnd_to(&s, 2);
    v.b[1] = rnd_to(&s, 2);
    return v;
}
static inline ir_num value_of_input(const ir_input *in, void *user)
{
    const values *v = user;
    switch (in->kind) {
    case IR_IN_PARAM: return in->type == IR_F64 ? (ir_num){.f = v->f[in->k]} : (ir_num){.i = v->i};
    case IR_IN_GIVEN: return (ir_num){.i = v->b[in->k]};
    case IR_IN_PROBE: return (ir_num){.f = v->probe[in->k]};
    case IR_IN_TEMP: return (ir_num){.f = v->temp};
    case IR_IN_CACHE: return v->cache[in->k];
    default: ck_abort_msg("no value for this input"); return (ir_num){0};
    }
}

static inline int run_tests(const char *name, const TTest *const *test, size_t n)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, begin_mem, end_mem);
    tcase_set_timeout(t, TEST_PATIENCE);
    return run_case(name, t, test, n);
}

#endif
