/* ir_eval.c - the meaning of the operations, and the interpreter.
 * The list of pure operations below is expanded twice, into ir_eval_op (folding) and into the
 * interpreter's switch, so that both compute the same bits. */
#include "ir_priv.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Conversions and integer operations of ir.h, defined for all operands. */
static int32_t f2i(double x)
{
    x = round(x);
    return x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : x == x ? (int32_t)x : 0;
}

static int32_t idiv(int32_t a, int32_t b)
{
    return b == 0 ? 0 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}

static int32_t imod(int32_t a, int32_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static int32_t ishl(int32_t a, int32_t b)
{
    return (uint32_t)b > 31 ? 0 : (int32_t)((uint32_t)a << b);
}
static int32_t ishr(int32_t a, int32_t b)
{
    return (uint32_t)b > 31 ? 0 : (int32_t)((uint32_t)a >> b);
}

double ir_atan2(double y, double x) { return atan2(y + 0.0, x + 0.0); /* -0 + 0 is 0 */ }

/* P1: of a; P2: of a and b. (op, member of ir_num that has the result, expression) */
/* clang-format off */
#define PURE_LIST(P1, P2)                                                                          \
    P1(NEG, f, -a.f) P2(ADD, f, a.f + b.f) P2(SUB, f, a.f - b.f) P2(MUL, f, a.f *b.f)              \
    P2(DIV, f, a.f / b.f) P2(MIN, f, a.f < b.f ? a.f : b.f) P2(MAX, f, a.f > b.f ? a.f : b.f)      \
    P1(ABS, f, fabs(a.f)) P1(FLOOR, f, floor(a.f)) P1(CEIL, f, ceil(a.f))                          \
    P2(FMOD, f, fmod(a.f, b.f)) P1(SQRT, f, sqrt(a.f)) P1(EXP, f, exp(a.f)) P1(LN, f, log(a.f))    \
    P2(POW, f, pow(a.f, b.f)) P1(LOG10, f, log10(a.f)) P1(SIN, f, sin(a.f)) P1(COS, f, cos(a.f))   \
    P1(TAN, f, tan(a.f)) P1(ASIN, f, asin(a.f)) P1(ACOS, f, acos(a.f)) P1(ATAN, f, atan(a.f))      \
    P2(ATAN2, f, ir_atan2(a.f, b.f)) P1(SINH, f, sinh(a.f)) P1(COSH, f, cosh(a.f))                 \
    P1(TANH, f, tanh(a.f)) P1(ASINH, f, asinh(a.f)) P1(ACOSH, f, acosh(a.f))                       \
    P1(ATANH, f, atanh(a.f)) P2(HYPOT, f, hypot(a.f, b.f)) P1(EXPM1, f, expm1(a.f))                \
    P1(LOG1P, f, log1p(a.f)) P2(FLT, i, a.f < b.f) P2(FLE, i, a.f <= b.f) P2(FEQ, i, a.f == b.f)   \
    P2(FNE, i, a.f != b.f) P1(INEG, i, (int32_t)(0u - (uint32_t)a.i))                              \
    P2(IADD, i, (int32_t)((uint32_t)a.i + (uint32_t)b.i))                                          \
    P2(ISUB, i, (int32_t)((uint32_t)a.i - (uint32_t)b.i))                                          \
    P2(IMUL, i, (int32_t)((uint32_t)a.i * (uint32_t)b.i)) P2(IDIV, i, idiv(a.i, b.i))              \
    P2(IMOD, i, imod(a.i, b.i)) P2(ISHL, i, ishl(a.i, b.i)) P2(ISHR, i, ishr(a.i, b.i))            \
    P2(IAND, i, a.i &b.i) P2(IOR, i, a.i | b.i) P2(IXOR, i, a.i ^ b.i) P1(INOT, i, ~a.i)           \
    P2(ILT, i, a.i < b.i) P2(ILE, i, a.i <= b.i) P2(IEQ, i, a.i == b.i) P2(INE, i, a.i != b.i)     \
    P2(BAND, i, a.i &b.i) P2(BOR, i, a.i | b.i) P2(BXOR, i, a.i ^ b.i) P1(BNOT, i, !a.i)           \
    P1(I2F, f, (double)a.i) P1(F2I, i, f2i(a.f)) P1(B2I, i, a.i) P1(B2F, f, (double)a.i)
/* clang-format on */

/* Results; bytes that their type does not use are 0. */
#define NUM_f(x) ((ir_num){.f = (x)})
static inline ir_num num_i(int32_t i)
{
    ir_num r = {.f = 0};
    r.i = i;
    return r;
}
#define NUM_i(x) num_i(x)

ir_num ir_eval_op(ir_op op, ir_num a, ir_num b, ir_num c)
{
    switch (op) {
#define P1(name, m, expr) \
    case IR_##name: return NUM_##m(expr);
        PURE_LIST(P1, P1)
#undef P1
    case IR_SELECT: return a.i ? b : c;
    default: assert(!"not a pure operation"); return (ir_num){0};
    }
}

/* Gives the lphis of the loop at `loop` their next values, all at once. */
static void step_lphis(const ir_fn *fn, ir_val loop, ir_num *val)
{
    const ir_inst *inst = fn->inst;
    ir_val n = 0;
    bool crossing = false; /* an lphi's next value is an earlier lphi of this loop */
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++, n++)
        crossing |= inst[k].c > loop && inst[k].c < k;
    if (!crossing) {
        for (ir_val k = loop + 1; k <= loop + n; k++)
            val[k] = val[inst[k].c];
        return;
    }
    ir_num few[32], *next = n <= (ir_val)VS_COUNT(few) ? few : vs_malloc((size_t)n * sizeof *next);
    for (ir_val k = 0; k < n; k++)
        next[k] = val[inst[loop + 1 + k].c];
    memcpy(val + loop + 1, next, (size_t)n * sizeof *next);
    if (next != few)
        vs_free(next);
}

enum { MAX_ROUNDS = 10 * 1000 * 1000 };

vs_status ir_interp(const ir_fn *fn, const ir_num *input, ir_num *val, uint8_t *ran,
                    const ir_host *host)
{
    const ir_inst *inst = fn->inst;
    const ir_val n = (ir_val)vec_len(inst);
    if (ran)
        memset(ran, 0, (size_t)n);
    /* val[i] of an IF is the arm taken, of a LOOP the number of rounds made. */
    for (ir_val i = 0; i < n; i++) {
        const ir_inst *p = &inst[i];
        if (ran)
            ran[i] = 1;
        switch (p->op) {
        case IR_CONST: val[i] = ir_num_of_con(p->type, fn->con[p->a]); break;
        case IR_IN: val[i] = input[p->a]; break;
#define P1(name, m, expr)       \
    case IR_##name: {           \
        ir_num a = val[p->a];   \
        val[i] = NUM_##m(expr); \
        break;                  \
    }
#define P2(name, m, expr)                    \
    case IR_##name: {                        \
        ir_num a = val[p->a], b = val[p->b]; \
        val[i] = NUM_##m(expr);              \
        break;                               \
    }
            PURE_LIST(P1, P2)
#undef P1
#undef P2
        case IR_SELECT: val[i] = val[p->a].i ? val[p->b] : val[p->c]; break;
        case IR_LIMIT: val[i] = val[p->a]; break;
        case IR_IF:
            val[i] = num_i(val[p->a].i);
            if (!val[i].i)
                i = p->b;
            break;
        case IR_ELSE: i = p->b; break;
        case IR_END: break;
        case IR_PHI: val[i] = val[p->a].i ? val[p->b] : val[p->c]; break;
        case IR_LOOP: val[i] = num_i(0); break;
        case IR_LPHI: val[i] = val[p->b]; break;
        case IR_WHILE:
            if (!val[p->a].i)
                i = p->b;
            break;
        case IR_ENDLOOP:
            if (++val[p->a].i > MAX_ROUNDS)
                return VS_NOCONV;
            step_lphis(fn, p->a, val);
            for (i = p->a; inst[i + 1].op == IR_LPHI;)
                i++;
            break;
        case IR_EFFECT:
            if (host && host->effect)
                host->effect(host->user, fn, &fn->eff[p->a], val);
            break;
        default: assert(!"unknown operation");
        }
    }
    return VS_OK;
}

/* ---- static values only ---- */

typedef struct static_run {
    const ir_fn *fn;
    const uint8_t *cls;
    const ir_num *input;
    ir_num *val;
    uint8_t *ran; /* 0 not run, 1 one value, VARIED */
} static_run;
enum { VARIED = 2 };

/* Gives instruction i a value; another one than in an earlier round of its loop makes it VARIED. */
static inline void set_static(const static_run *s, ir_val i, ir_num v)
{
    if (!s->ran[i])
        s->ran[i] = 1;
    else if (!ir_num_same(s->fn->inst[i].type, s->val[i], v))
        s->ran[i] = VARIED;
    s->val[i] = v;
}

/* Gives the static lphis of a loop their next values, all at once. */
static void step_static_lphis(static_run *s, ir_val loop)
{
    const ir_inst *inst = s->fn->inst;
    ir_num *next = NULL; /* vec */
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
        if (ir_class_static(s->cls[k]))
            vec_push(next, s->val[inst[k].c]);
    size_t j = 0;
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
        if (ir_class_static(s->cls[k]))
            set_static(s, k, next[j++]);
    vec_free(next);
}

/* Long: one switch over the operations. */
vs_status ir_interp_static(const ir_fn *fn, const uint8_t *cls, const ir_num *input, ir_num *val,
                           uint8_t *ran, const ir_host *host)
{
    static_run s = {fn, cls, input, val, ran};
    const ir_inst *inst = fn->inst;
    const ir_val n = (ir_val)vec_len(inst);
    memset(ran, 0, (size_t)n);
    for (ir_val i = 0; i < n; i++) {
        const ir_inst *p = &inst[i];
        if (!ir_class_static(cls[i]))
            continue; /* voltage-dependent values; both arms of such an IF, one round of a loop */
        switch (p->op) {
        case IR_CONST: set_static(&s, i, ir_num_of_con(p->type, fn->con[p->a])); break;
        case IR_IN: set_static(&s, i, input[p->a]); break;
        case IR_IF:
            val[i] = num_i(val[p->a].i);
            if (!val[i].i)
                i = p->b;
            break;
        case IR_ELSE:
            if (ir_class_static(cls[p->a]))
                i = p->b;
            break;
        case IR_END: break;
        case IR_PHI: set_static(&s, i, val[p->a].i ? val[p->b] : val[p->c]); break;
        case IR_LOOP: val[i] = num_i(0); break;
        case IR_LPHI: set_static(&s, i, val[p->b]); break;
        case IR_WHILE:
            if (!val[p->a].i)
                i = p->b;
            break;
        case IR_ENDLOOP:
            if (!ir_class_static(cls[inst[p->a].a]))
                break;
            if (++val[p->a].i > MAX_ROUNDS)
                return VS_NOCONV;
            step_static_lphis(&s, p->a);
            for (i = p->a; inst[i + 1].op == IR_LPHI;)
                i++;
            break;
        case IR_EFFECT:
            if (host && host->effect)
                host->effect(host->user, fn, &fn->eff[p->a], val);
            break;
#define P1(name, m, expr)                 \
    case IR_##name: {                     \
        const ir_num a = val[p->a];       \
        set_static(&s, i, NUM_##m(expr)); \
        break;                            \
    }
#define P2(name, m, expr)                          \
    case IR_##name: {                              \
        const ir_num a = val[p->a], b = val[p->b]; \
        set_static(&s, i, NUM_##m(expr));          \
        break;                                     \
    }
            PURE_LIST(P1, P2)
#undef P1
#undef P2
        case IR_SELECT: set_static(&s, i, val[p->a].i ? val[p->b] : val[p->c]); break;
        case IR_LIMIT: set_static(&s, i, val[p->a]); break;
        default: assert(!"unknown operation");
        }
    }
    for (ir_val i = 0; i < n; i++)
        if (ran[i] == VARIED)
            ran[i] = 0;
    return VS_OK;
}
