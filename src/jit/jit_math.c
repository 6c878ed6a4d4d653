/* jit_math.c - exp, ln, pow and their kin as straight vector code, one instance in each lane.
 * Use:    jit_math, from jit_llvm.c; this file and that one are all that includes LLVM.
 * Method: reduction to a small interval, a polynomial, reconstruction; special cases by selects.
 *         Where a step would cost more than half an ulp it is done in two doubles ("hi" and "lo").
 *         docs/math.md has the equations, the sources and the measured errors. pow has two ways: by
 *         a table of logarithms where nothing is special, and without for everything. Rounding
 *         errors of products need a fused multiply-add, or Dekker's splitting without one; both
 *         give the same exact value. Elsewhere mad() is fused where that is possible: there the
 *         last bit of a result depends on the processor, never on the width.
 * Source: Tang, "Table-driven implementation of the exponential function", ACM TOMS 15(2), 1989,
 *         for the reductions; Dekker, Numer. Math. 18, 1971, for two-double steps; Muller et al.,
 *         Handbook of Floating-Point Arithmetic, ch. 11. Coefficients: tools/math_coef.py. */
#include "jit_math.h"

#include "jit_ln_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef jit_vec *M;
typedef LLVMValueRef V;

static const double EXP[11] = {0x1p-1,
                               0x1.5555555555557p-3,
                               0x1.5555555555556p-5,
                               0x1.11111111100dcp-7,
                               0x1.6c16c16c162d4p-10,
                               0x1.a01a01abe7fe1p-13,
                               0x1.a01a01a6d889cp-16,
                               0x1.71de0231960ebp-19,
                               0x1.27e4db646b17ep-22,
                               0x1.af4de97ca4194p-26,
                               0x1.1f730349868cep-29};
static const double LN[7] = {0x1.5555555555558p-1, 0x1.9999999995273p-2, 0x1.2492492dfd86cp-2,
                             0x1.c71c62d5e53e0p-3, 0x1.7462b91b8df65p-3, 0x1.39fdcceb4bb45p-3,
                             0x1.2b5f68a50d903p-3};
static const double LN_TAIL[8] = {0x1.999999999999ap-2, 0x1.2492492492522p-2, 0x1.c71c71c6ea5acp-3,
                                  0x1.745d177ad436ap-3, 0x1.3b1395b82701ep-3, 0x1.1118cd67251c5p-3,
                                  0x1.df7ba1f4809c3p-4, 0x1.e03a7acf07f85p-4};
static const double LN_1P[7] = {
    0x1.5555555555555p-2, -0x1p-2, 0x1.999999999999ap-3, -0x1.5555555555555p-3,
    0x1.2492492492492p-3, -0x1p-3, 0x1.c71c71c71c71cp-4}; /* 1/3 - r/4 + ... */
static const double SINH[7] = {0x1.5555555555555p-3,  0x1.11111111110fdp-7,  0x1.a01a01a01ee70p-13,
                               0x1.71de3a4e14f40p-19, 0x1.ae6460fae3728p-26, 0x1.611cb330c1fe8p-33,
                               0x1.b41232cf9950fp-41};
static const double ATAN[13] = {-0x1.5555555555555p-2, 0x1.99999999998e1p-3,  -0x1.2492492488296p-3,
                                0x1.c71c71c01b24cp-4,  -0x1.745d16026efd7p-4, 0x1.3b138e6372dcap-4,
                                -0x1.110ea50256abfp-4, 0x1.e1a7b2562efc5p-5,  -0x1.ad44da04adea3p-5,
                                0x1.7b20b751c966ap-5,  -0x1.37d750492dd9bp-5, 0x1.99b4e0c058248p-6,
                                -0x1.2dfbaab9786efp-7};
static const double SIN[6] = {-0x1.5555555555555p-3, 0x1.1111111110bb1p-7,   -0x1.a01a019e8357dp-13,
                              0x1.71de37961e4c6p-19, -0x1.ae600a926c89ap-26, 0x1.5e0af186af739p-33};
static const double COS[6] = {0x1.5555555555555p-5,  -0x1.6c16c16c16966p-10,
                              0x1.a01a019f4e867p-16, -0x1.27e4fa17a41b4p-22,
                              0x1.1eeb68b109173p-29, -0x1.907d7aebd5e3dp-37};
static const double LN2[2] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};
static const double PI_2[3] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e037073p-69};
static const double PI_2_DD[2] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const double TWO_3[2] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
static const double MAGIC = 0x1.8p52; /* x + MAGIC is x rounded to an integer, in the low bits */
static const double LOG2_E = 0x1.71547652b82fep0;

/* -- vocabulary -- */

static LLVMTypeRef lanes_of(M m, LLVMTypeRef t)
{
    return m->lanes == 1 ? t : LLVMVectorType(t, (unsigned)m->lanes);
}
static LLVMTypeRef f64s(M m) { return lanes_of(m, LLVMDoubleTypeInContext(m->cx)); }
static LLVMTypeRef i64s(M m) { return lanes_of(m, LLVMInt64TypeInContext(m->cx)); }

static V all_lanes(M m, V scalar)
{
    V v[8];
    for (int k = 0; k < m->lanes; k++)
        v[k] = scalar;
    return m->lanes == 1 ? scalar : LLVMConstVector(v, (unsigned)m->lanes);
}
static V bits(M m, uint64_t w)
{
    return all_lanes(m, LLVMConstInt(LLVMInt64TypeInContext(m->cx), w, 0));
}
static V num(M m, double x)
{
    uint64_t w;
    memcpy(&w, &x, sizeof w);
    V k = LLVMConstInt(LLVMInt64TypeInContext(m->cx), w, 0);
    return all_lanes(m, LLVMConstBitCast(k, LLVMDoubleTypeInContext(m->cx)));
}

static V add(M m, V a, V b) { return LLVMBuildFAdd(m->b, a, b, ""); }
static V sub(M m, V a, V b) { return LLVMBuildFSub(m->b, a, b, ""); }
static V mul(M m, V a, V b) { return LLVMBuildFMul(m->b, a, b, ""); }
static V quo(M m, V a, V b) { return LLVMBuildFDiv(m->b, a, b, ""); }
static V neg(M m, V a) { return LLVMBuildFNeg(m->b, a, ""); }
static V mulc(M m, V a, double c) { return mul(m, a, num(m, c)); }
static V addc(M m, V a, double c) { return add(m, a, num(m, c)); }

static V to_bits(M m, V a) { return LLVMBuildBitCast(m->b, a, i64s(m), ""); }
static V of_bits(M m, V a) { return LLVMBuildBitCast(m->b, a, f64s(m), ""); }
static V iadd(M m, V a, uint64_t w) { return LLVMBuildAdd(m->b, a, bits(m, w), ""); }
static V iand(M m, V a, uint64_t w) { return LLVMBuildAnd(m->b, a, bits(m, w), ""); }
static V shl(M m, V a, int n) { return LLVMBuildShl(m->b, a, bits(m, (uint64_t)n), ""); }
static V shr(M m, V a, int n) { return LLVMBuildLShr(m->b, a, bits(m, (uint64_t)n), ""); }

static V pick(M m, V c, V a, V b) { return LLVMBuildSelect(m->b, c, a, b, ""); }
static V both(M m, V a, V b) { return LLVMBuildAnd(m->b, a, b, ""); }
static V lt(M m, V a, double c) { return LLVMBuildFCmp(m->b, LLVMRealOLT, a, num(m, c), ""); }
static V gt(M m, V a, double c) { return LLVMBuildFCmp(m->b, LLVMRealOGT, a, num(m, c), ""); }
static V eq(M m, V a, V b) { return LLVMBuildFCmp(m->b, LLVMRealOEQ, a, b, ""); }
static V is_nan(M m, V a) { return LLVMBuildFCmp(m->b, LLVMRealUNO, a, a, ""); }
static V is_odd(M m, V i) { return LLVMBuildICmp(m->b, LLVMIntNE, iand(m, i, 1), bits(m, 0), ""); }

/* A NaN stays. */
static V at_most(M m, V a, double c) { return pick(m, gt(m, a, c), num(m, c), a); }
static V at_least(M m, V a, double c) { return pick(m, lt(m, a, c), num(m, c), a); }

static V call1(M m, const char *name, V *arg, unsigned n)
{
    LLVMTypeRef t = LLVMTypeOf(arg[0]);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    V f = LLVMGetIntrinsicDeclaration(m->mod, id, &t, 1);
    return LLVMBuildCall2(m->b, LLVMIntrinsicGetType(m->cx, id, &t, 1), f, arg, n, "");
}
static V fused(M m, V a, V b, V c) { return call1(m, "llvm.fma", (V[]){a, b, c}, 3); }
static V absolute(M m, V a) { return call1(m, "llvm.fabs", &a, 1); }
static V whole(M m, V a) { return call1(m, "llvm.floor", &a, 1); }
static V with_sign(M m, V a, V s) { return call1(m, "llvm.copysign", (V[]){a, s}, 2); }

/* a*b + c, with one rounding or two */
static V mad(M m, V a, V b, V c) { return m->fma ? fused(m, a, b, c) : add(m, mul(m, a, b), c); }
static V madc(M m, V a, double b, V c) { return mad(m, a, num(m, b), c); }

static V upper_half(M m, V a) /* 26 bits; Veltkamp */
{
    V t = mulc(m, a, 134217729.0);
    return sub(m, t, sub(m, t, a));
}
/* a*b - p for p = a*b rounded, exactly */
static V product_error(M m, V a, V b, V p)
{
    if (m->fma)
        return fused(m, a, b, neg(m, p));
    V ah = upper_half(m, a), al = sub(m, a, ah), bh = upper_half(m, b), bl = sub(m, b, bh);
    V e = sub(m, mul(m, ah, bh), p);
    e = add(m, add(m, e, mul(m, ah, bl)), mul(m, al, bh));
    return add(m, e, mul(m, al, bl));
}

typedef struct dd {
    V hi, lo;
} dd; /* hi + lo */

/* a + b exactly if |a| >= |b| or a = 0 (Dekker) */
static dd sum_big(M m, V a, V b)
{
    V s = add(m, a, b);
    return (dd){s, add(m, sub(m, a, s), b)};
}
/* a + b exactly (Knuth) */
static dd sum(M m, V a, V b)
{
    V s = add(m, a, b), t = sub(m, s, a);
    return (dd){s, add(m, sub(m, a, sub(m, s, t)), sub(m, b, t))};
}
static dd product(M m, dd a, dd b)
{
    V p = mul(m, a.hi, b.hi), e = product_error(m, a.hi, b.hi, p);
    return (dd){p, add(m, e, mad(m, a.hi, b.lo, mul(m, a.lo, b.hi)))};
}

/* c[0] + c[1] x + ...: halves that do not wait for each other (Estrin) */
static V poly(M m, V x, const double *c, int n)
{
    V p[8];
    int k = (n + 1) / 2;
    for (int i = 0; i < k; i++)
        p[i] = 2 * i + 1 < n ? madc(m, x, c[2 * i + 1], num(m, c[2 * i])) : num(m, c[2 * i]);
    for (x = mul(m, x, x); k > 1; x = k > 1 ? mul(m, x, x) : x) {
        for (int i = 0; i < (k + 1) / 2; i++)
            p[i] = 2 * i + 1 < k ? mad(m, x, p[2 * i + 1], p[2 * i]) : p[2 * i];
        k = (k + 1) / 2;
    }
    return p[0];
}
#define POLY(m, x, c) poly(m, x, c, (int)(sizeof(c) / sizeof *(c)))

/* -- exp -- */

/* x = k ln 2 + r + lo, |r| <= ln(2)/2; kbits has k in its low bits */
typedef struct reduced {
    V k, kbits, r, lo;
} reduced;
static reduced reduce(M m, V x)
{
    V t = madc(m, x, LOG2_E, num(m, MAGIC)), k = sub(m, t, num(m, MAGIC));
    V h = madc(m, k, -LN2[0], x); /* exact: LN2[0] has 42 bits */
    V w = mulc(m, k, LN2[1]), r = sub(m, h, w);
    return (reduced){k, to_bits(m, t), r, sub(m, sub(m, h, r), w)};
}
/* 2^k: k in the low bits of an integer, -1022..1023 */
static V power_of_2(M m, V kbits)
{
    return of_bits(m, iadd(m, shl(m, kbits, 52), (uint64_t)1023 << 52));
}
/* a 2^k with one rounding, infinite or denormal where it must be, in one instruction */
static V scaled(M m, V a, V k)
{
    char name[] = "llvm.x86.avx512.mask.scalef.pd.000";
    LLVMTypeRef i8 = LLVMInt8TypeInContext(m->cx), i32 = LLVMInt32TypeInContext(m->cx);
    V arg[] = {a, k, a, LLVMConstInt(i8, 0xff, 0), LLVMConstInt(i32, 4, 0)}; /* 4: as MXCSR says */
    snprintf(name + sizeof name - 4, 4, "%d", 64 * m->lanes);
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    V f = LLVMGetIntrinsicDeclaration(m->mod, id, NULL, 0);
    return LLVMBuildCall2(m->b, LLVMGlobalGetValueType(f), f, arg, m->lanes == 8 ? 5 : 4, "");
}
/* (1 + a) 2^k with two roundings; else in two steps of half of k, of which the first is exact */
static V scale(M m, V a, V k)
{
    if (m->scalef && m->lanes > 1)
        return scaled(m, addc(m, a, 1), k);
    V t = madc(m, k, 0.5, num(m, MAGIC)), k1 = sub(m, t, num(m, MAGIC));
    V k2 = addc(m, sub(m, k, k1), MAGIC), half = power_of_2(m, to_bits(m, t));
    return mul(m, mad(m, a, half, half), power_of_2(m, to_bits(m, k2)));
}
/* e^r - 1 - r */
static V exp_tail(M m, V r) { return mul(m, mul(m, r, r), POLY(m, r, EXP)); }

/* Below -746 (e^x < 2^-1076) the result is 0 without a scaling that underflows, for which many
 * processors need 200 cycles; junctions that block have such arguments. */
static V vec_exp(M m, V x)
{
    V none = lt(m, x, -746);
    reduced e = reduce(m, pick(m, none, num(m, 0), at_most(m, x, 720)));
    V q = mad(m, mul(m, e.r, e.r), POLY(m, e.r, EXP), e.lo);
    return pick(m, none, num(m, 0), scale(m, add(m, e.r, q), e.k));
}

/* (e^x - 1) / 2 for -40 <= x <= 710 */
static dd half_expm1(M m, V x)
{
    reduced e = reduce(m, x);
    V h = of_bits(m, iadd(m, shl(m, e.kbits, 52), (uint64_t)1022 << 52)); /* 2^(k-1) */
    dd a = sum(m, h, num(m, -0.5)), s = sum_big(m, a.hi, mul(m, h, e.r));
    V rr = mul(m, e.r, e.r), rr_lo = mulc(m, product_error(m, e.r, e.r, rr), 0.5);
    V rest = mad(m, mul(m, rr, e.r), poly(m, e.r, EXP + 1, 10), add(m, rr_lo, e.lo));
    dd t = sum(m, s.hi, mul(m, h, mulc(m, rr, 0.5)));
    return sum_big(m, t.hi, add(m, mad(m, h, rest, t.lo), add(m, s.lo, a.lo)));
}

static V vec_expm1(M m, V x)
{
    dd e = half_expm1(m, at_least(m, at_most(m, x, 709.9), -40));
    return pick(m, lt(m, absolute(m, x), 0x1p-54), x, mulc(m, e.hi, 2));
}

/* y = n/d with a correction: q + (n - q d)/d */
static V divide(M m, dd n, dd d)
{
    V r = quo(m, num(m, 1), d.hi), q = mul(m, n.hi, r), p = mul(m, q, d.hi);
    V rest = m->fma ? fused(m, neg(m, q), d.hi, n.hi)
                    : sub(m, sub(m, n.hi, p), product_error(m, q, d.hi, p));
    rest = add(m, rest, sub(m, n.lo, mul(m, q, d.lo)));
    return mad(m, rest, r, q);
}

/* tanh |x| = -e/(2 + e), e = expm1(-2|x|) */
static V vec_tanh(M m, V x)
{
    V a = absolute(m, x);
    dd e = half_expm1(m, at_least(m, mulc(m, a, -2), -40));
    dd d = sum_big(m, num(m, 1), e.hi);
    d.lo = add(m, d.lo, e.lo);
    V y = divide(m, (dd){neg(m, e.hi), neg(m, e.lo)}, d);
    return with_sign(m, pick(m, lt(m, a, 0x1p-28), a, y), x);
}

/* e^a/2 +- e^-a/2 */
static V hyperbolic(M m, V a, bool plus)
{
    reduced e = reduce(m, at_most(m, a, 710.6));
    V s = of_bits(m, iadd(m, shl(m, e.kbits, 52), (uint64_t)1021 << 52)); /* 2^(k-2) */
    dd p = sum_big(m, num(m, 1), e.r);
    p = sum_big(m, p.hi, add(m, p.lo, add(m, exp_tail(m, e.r), e.lo)));
    V hi = mul(m, s, p.hi), lo = mul(m, s, p.lo);
    V inv = quo(m, num(m, plus ? 0.0625 : -0.0625), hi);
    dd t = sum_big(m, hi, inv);
    return mulc(m, add(m, t.hi, add(m, t.lo, lo)), 2);
}

static V vec_cosh(M m, V x) { return hyperbolic(m, absolute(m, x), true); }

static V vec_sinh(M m, V x)
{
    V a = absolute(m, x), z = mul(m, x, x);
    V small = mad(m, mul(m, x, z), POLY(m, z, SINH), x);
    return pick(m, lt(m, a, 1), small, with_sign(m, hyperbolic(m, a, false), x));
}

/* -- ln -- */

/* x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); x positive, also denormal */
typedef struct parts {
    V k, f, exponent;
} parts;
static const uint64_t SQRT_HALF = 0x3fe6a09e667f3bcdu, MANTISSA = 0x000fffffffffffffu;
static parts take_apart(M m, V x, bool denormal)
{
    V small = denormal ? lt(m, x, 0x1p-1022) : NULL;
    if (denormal)
        x = pick(m, small, mulc(m, x, 0x1p54), x);
    V w = iadd(m, to_bits(m, x), 0x3ff0000000000000u - SQRT_HALF), e = shr(m, w, 52);
    V bias = denormal ? pick(m, small, num(m, 0x1p52 + 1023 + 54), num(m, 0x1p52 + 1023))
                      : num(m, 0x1p52 + 1023);
    V k = sub(m, of_bits(m, LLVMBuildOr(m->b, e, bits(m, 0x4330000000000000u), "")), bias);
    V f = addc(m, of_bits(m, iadd(m, iand(m, w, MANTISSA), SQRT_HALF)), -1);
    return (parts){k, f, e};
}

/* k ln 2 + ln(1 + f) + lo = k ln 2 + f - (f^2/2 - (s (f^2/2 + R) + lo)), s = f/(2 + f), R = s^2
 * P(s^2) */
static V sum_ln(M m, parts p, V lo)
{
    V s = quo(m, p.f, addc(m, p.f, 2)), z = mul(m, s, s), h = mul(m, mulc(m, p.f, 0.5), p.f);
    V r = mad(m, z, POLY(m, z, LN), h);
    V c = lo ? madc(m, p.k, LN2[1], lo) : mulc(m, p.k, LN2[1]);
    V t = sub(m, sub(m, h, mad(m, s, r, c)), p.f);
    return sub(m, mulc(m, p.k, LN2[0]), t); /* the product is exact */
}

/* y where from < x < inf; -inf at x = from, NaN below, x above */
static V ln_cases(M m, V x, double from, V y)
{
    V edge = eq(m, x, num(m, from)), above = gt(m, x, from);
    V odd = pick(m, above, x, pick(m, edge, num(m, -INFINITY), num(m, NAN)));
    return pick(m, both(m, above, lt(m, x, INFINITY)), y, odd);
}

static V vec_ln(M m, V x) { return ln_cases(m, x, 0, sum_ln(m, take_apart(m, x, true), NULL)); }

/* ln of u = 1 + x rounded, and what the rounding lost, scaled like u */
static V vec_log1p(M m, V x)
{
    dd u = sum(m, num(m, 1), x);
    parts p = take_apart(m, u.hi, false);
    V back = LLVMBuildSub(m->b, bits(m, 2046), p.exponent, ""); /* 2^-k */
    V lost = mul(m, u.lo, of_bits(m, shl(m, back, 52)));
    lost = pick(m, gt(m, x, 0x1p60), num(m, 0), lost);
    dd f = sum(m, p.f, lost);
    p.f = f.hi;
    V y = ln_cases(m, x, -1, sum_ln(m, p, f.lo));
    return pick(m, lt(m, absolute(m, x), 0x1p-54), x, y);
}

/* ln x in two doubles, error below 2^-63 of it */
static dd long_ln(M m, V x)
{
    parts p = take_apart(m, x, true);
    V d = addc(m, p.f, 2), d_lo = sub(m, p.f, addc(m, d, -2));
    V s = quo(m, p.f, d), sd = mul(m, s, d);
    V rest =
        m->fma ? fused(m, neg(m, s), d, p.f) : sub(m, sub(m, p.f, sd), product_error(m, s, d, sd));
    rest = sub(m, rest, mul(m, s, d_lo));
    dd sh = {s, mul(m, rest, madc(m, s, -0.5, num(m, 0.5)))}; /* 1/d = (1 - s)/2 */
    dd z = product(m, sh, sh);
    dd t = sum_big(m, num(m, TWO_3[0]), mul(m, z.hi, POLY(m, z.hi, LN_TAIL)));
    t.lo = addc(m, t.lo, TWO_3[1]);
    dd v = product(m, sh, product(m, z, t)); /* s^3 (2/3 + 2/5 s^2 + ...) */
    dd l = sum_big(m, mulc(m, s, 2), v.hi);
    l.lo = add(m, l.lo, madc(m, sh.lo, 2, v.lo));
    dd h = sum_big(m, mulc(m, p.k, LN2[0]), l.hi);
    h.lo = add(m, h.lo, madc(m, p.k, LN2[1], l.lo));
    return sum_big(m, h.hi, h.lo);
}

/* -- pow -- */

/* e^(a.hi + a.lo) */
static V exp_dd(M m, dd a)
{
    V far = gt(m, absolute(m, a.hi), 800);
    reduced e = reduce(m, pick(m, far, with_sign(m, num(m, 800), a.hi), a.hi));
    dd r = sum(m, e.r, add(m, e.lo, pick(m, far, num(m, 0), a.lo)));
    V q = mad(m, mul(m, r.hi, r.hi), POLY(m, r.hi, EXP), r.lo);
    return scale(m, add(m, r.hi, q), e.k);
}

/* C11 F.10.4.4: signs, zeros, infinities; y = 0 or x = 1 gives 1 whatever the other is. */
static V pow_cases(M m, V x, V y, V a, V r)
{
    V zero = num(m, 0), one = num(m, 1), inf = num(m, INFINITY), half = mulc(m, y, 0.5);
    V integer = eq(m, whole(m, y), y);
    V odd = both(m, integer, LLVMBuildNot(m->b, eq(m, whole(m, half), half), ""));
    V is0 = eq(m, a, zero), down = LLVMBuildXor(m->b, is0, lt(m, y, 0), "");
    V end = LLVMBuildOr(m->b, is0, eq(m, a, inf), "");
    r = pick(m, end, pick(m, down, zero, inf), r);
    V fraction = both(m, lt(m, x, 0), both(m, LLVMBuildNot(m->b, integer, ""), lt(m, a, INFINITY)));
    r = pick(m, fraction, num(m, NAN), r);
    r = pick(m, odd, with_sign(m, r, x), r);
    r = pick(m, LLVMBuildOr(m->b, is_nan(m, x), is_nan(m, y), ""), num(m, NAN), r);
    return pick(m, LLVMBuildOr(m->b, eq(m, y, zero), eq(m, x, one), ""), one, r);
}

static V vec_pow(M m, V x, V y)
{
    V a = absolute(m, x), big = num(m, 0x1p70); /* beyond, the result is 0, 1 or infinite */
    V to = pick(m, gt(m, absolute(m, y), 0x1p70), with_sign(m, big, y), y);
    dd l = long_ln(m, a);
    V p = mul(m, to, l.hi);
    V r = exp_dd(m, (dd){p, mad(m, to, l.lo, product_error(m, to, l.hi, p))});
    return pow_cases(m, x, y, a, r);
}

/* A constant of the module: LN_TABLE. */
static V ln_table(M m)
{
    enum { ROWS = sizeof LN_TABLE / sizeof *LN_TABLE };
    V table = LLVMGetNamedGlobal(m->mod, "vsim_ln_table"), row[ROWS];
    if (table)
        return table;
    LLVMTypeRef f64 = LLVMDoubleTypeInContext(m->cx), of = LLVMArrayType(f64, 4);
    jit_vec scalar = *m;
    scalar.lanes = 1;
    for (int i = 0; i < ROWS; i++) {
        V v[4];
        for (int k = 0; k < 4; k++)
            v[k] = num(&scalar, LN_TABLE[i][k]);
        row[i] = LLVMConstArray(f64, v, 4);
    }
    table = LLVMAddGlobal(m->mod, LLVMArrayType(of, ROWS), "vsim_ln_table");
    LLVMSetInitializer(table, LLVMConstArray(of, row, ROWS));
    LLVMSetGlobalConstant(table, 1);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMSetAlignment(table, 64);
    return table;
}

static V shuffle(M m, V a, V b, const int *lane, int n)
{
    V index[8];
    for (int k = 0; k < n; k++)
        index[k] = LLVMConstInt(LLVMInt32TypeInContext(m->cx), (unsigned)lane[k], 0);
    return LLVMBuildShuffleVector(m->b, a, b, LLVMConstVector(index, (unsigned)n), "");
}

/* Columns 0, 1, 2 of two or four rows. */
static void transpose(M m, const V *row, int n, V col[3])
{
    static const int even[4] = {0, 4, 2, 6}, odd[4] = {1, 5, 3, 7}, low[4] = {0, 1, 4, 5},
                     high[4] = {2, 3, 6, 7};
    V e = shuffle(m, row[0], row[1], even, 4), o = shuffle(m, row[0], row[1], odd, 4), e2 = e,
      o2 = o;
    if (n == 4) {
        e2 = shuffle(m, row[2], row[3], even, 4);
        o2 = shuffle(m, row[2], row[3], odd, 4);
    }
    col[0] = shuffle(m, e, e2, low, n);
    col[1] = shuffle(m, o, o2, low, n);
    col[2] = shuffle(m, e, e2, high, n);
}

/* The row of LN_TABLE for each lane of i (4 times its number): its three numbers. Loads of rows,
 * and no gathers, which some processors are slow at. */
static void take_rows(M m, V i, V col[3])
{
    static const int both[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    LLVMTypeRef f64 = LLVMDoubleTypeInContext(m->cx), four = LLVMVectorType(f64, 4);
    V table = ln_table(m), row[8];
    for (int l = 0; l < m->lanes; l++) {
        V k = m->lanes == 1
                  ? i
                  : LLVMBuildExtractElement(
                        m->b, i, LLVMConstInt(LLVMInt32TypeInContext(m->cx), (unsigned)l, 0), "");
        V at = LLVMBuildGEP2(m->b, f64, table, &k, 1, "");
        row[l] = LLVMBuildLoad2(m->b, four, at, "");
        LLVMSetAlignment(row[l], 32);
    }
    if (m->lanes == 1) {
        for (unsigned c = 0; c < 3; c++)
            col[c] = LLVMBuildExtractElement(m->b, row[0],
                                             LLVMConstInt(LLVMInt32TypeInContext(m->cx), c, 0), "");
        return;
    }
    transpose(m, row, m->lanes < 4 ? 2 : 4, col);
    if (m->lanes == 8) {
        V high[3];
        transpose(m, row + 4, 4, high);
        for (int c = 0; c < 3; c++)
            col[c] = shuffle(m, col[c], high[c], both, 8);
    }
}

/* ln x of a positive normal x in two doubles: x = 2^k z, z f = 1 + r exactly, ln x = k ln 2 - ln f
 * + ln(1 + r). */
static dd table_ln(M m, V x)
{
    V w = iadd(m, to_bits(m, x), 0x3ff0000000000000u - LN_FROM), col[3];
    V e = LLVMBuildOr(m->b, shr(m, w, 52), bits(m, 0x4330000000000000u), "");
    V k = addc(m, of_bits(m, e), -(0x1p52 + 1023)),
      z = of_bits(m, iadd(m, iand(m, w, MANTISSA), LN_FROM));
    take_rows(m, iand(m, shr(m, w, 43), 127 * 4), col);
    V p = m->fma ? NULL : mul(m, z, col[0]);
    V r = p ? add(m, addc(m, p, -1), product_error(m, z, col[0], p))
            : fused(m, z, col[0], num(m, -1));
    dd t = sum_big(m, madc(m, k, LN2[0], col[1]), r);  /* its product and sum are exact */
    V rr = mul(m, r, r), hi = madc(m, rr, -0.5, t.hi); /* and so are halves */
    V t_lo = add(m, t.lo, madc(m, rr, -0.5, sub(m, t.hi, hi)));
    V lo = madc(m, product_error(m, r, r, rr), -0.5, madc(m, k, LN2[1], col[2]));
    lo = add(m, t_lo, mad(m, mul(m, r, rr), POLY(m, r, LN_1P), lo));
    return sum_big(m, hi, lo);
}

/* e^r to 2^-14 of it, |r| <= ln(2)/2 */
static V exp_coarse(M m, V r, V rr)
{
    V half = mad(m, rr, num(m, 1.0 / 24), madc(m, r, 1.0 / 6, num(m, 0.5)));
    return mad(m, rr, half, addc(m, r, 1));
}

V jit_math_pow(jit_vec *m, V x, V y, V *sure)
{
    dd l = table_ln(m, x);
    V p = mul(m, y, l.hi), p_lo = mad(m, y, l.lo, product_error(m, y, l.hi, p));
    reduced e = reduce(m, p);
    /* e^(r + lo) = e^r + lo e^r: |lo| < 2^-42, and r need not wait for it */
    V rr = mul(m, e.r, e.r), lo = mul(m, add(m, e.lo, p_lo), exp_coarse(m, e.r, rr));
    V a = add(m, e.r, mad(m, rr, POLY(m, e.r, EXP), lo)), b = power_of_2(m, e.kbits);
    V normal = both(m, LLVMBuildNot(m->b, lt(m, x, 0x1p-1022), ""), lt(m, x, INFINITY));
    if (!m->fma) /* product_error multiplies y by 2^27 */
        normal = both(m, normal, lt(m, absolute(m, y), 0x1p900));
    *sure = both(m, normal, lt(m, absolute(m, p), 700)); /* a NaN in x or y makes one in p */
    return mad(m, a, b, b);
}

V jit_math_all(jit_vec *m, V c)
{
    return m->lanes == 1 ? c : call1(m, "llvm.vector.reduce.and", &c, 1);
}

/* -- atan, sin, cos -- */

/* |x| = c + d, c = 0, pi/4 or pi/2:  atan |x| = c + atan t */
static V vec_atan(M m, V x)
{
    V a = absolute(m, x), mid = gt(m, a, 0.5), big = gt(m, a, 2), one = num(m, 1);
    V n = pick(m, big, num(m, -1), pick(m, mid, addc(m, a, -1), a));
    V d = pick(m, big, a, pick(m, mid, addc(m, a, 1), one));
    V c = pick(m, big, num(m, PI_2_DD[0]), pick(m, mid, num(m, PI_2_DD[0] / 2), num(m, 0)));
    V lo = pick(m, big, num(m, PI_2_DD[1]), pick(m, mid, num(m, PI_2_DD[1] / 2), num(m, 0)));
    V t = quo(m, n, d), z = mul(m, t, t), td = mul(m, t, d);
    V rest = sub(m, sub(m, n, td), product_error(m, t, d, td)); /* n - t d, for d = a + 1 rounded */
    rest = sub(m, rest, mul(m, t, sub(m, a, addc(m, d, -1))));
    dd s = sum_big(m, c, t);
    lo = add(m, lo, pick(m, both(m, mid, LLVMBuildNot(m->b, big, "")), quo(m, rest, d), num(m, 0)));
    V y = add(m, s.hi, add(m, s.lo, mad(m, mul(m, t, z), POLY(m, z, ATAN), lo)));
    return with_sign(m, y, x);
}

static const double TRIG_LIMIT = 0x1p19; /* quarter turns that the three parts of pi/2 allow for */

/* x = k pi/2 + r.hi + r.lo (Cody & Waite, three parts of 33, 33 and 53 bits) */
static dd quarter_turns(M m, V x, V *kbits)
{
    V t = madc(m, x, 1 / PI_2_DD[0], num(m, MAGIC)), k = sub(m, t, num(m, MAGIC));
    *kbits = to_bits(m, t);
    dd r = sum(m, sub(m, x, mulc(m, k, PI_2[0])), neg(m, mulc(m, k, PI_2[1])));
    r.lo = madc(m, k, -PI_2[2], r.lo);
    return sum_big(m, r.hi, r.lo);
}

static V sin_or_cos(M m, V x, bool is_cos)
{
    V i;
    dd r = quarter_turns(m, x, &i);
    V z = mul(m, r.hi, r.hi), h = mulc(m, z, 0.5), w = sub(m, num(m, 1), h);
    V s = mad(m, mul(m, r.hi, z), POLY(m, z, SIN), mul(m, r.lo, w));
    s = add(m, r.hi, s);
    V c = mad(m, mul(m, z, z), POLY(m, z, COS), neg(m, mul(m, r.hi, r.lo)));
    c = add(m, w, add(m, sub(m, sub(m, num(m, 1), w), h), c));
    if (is_cos)
        i = iadd(m, i, 1);
    V y = pick(m, is_odd(m, i), c, s);
    return pick(m, is_odd(m, shr(m, i, 1)), neg(m, y), y);
}

/* Beyond the limit, and for what is not finite, the C library; it is called if any lane needs it.
 */
static V vec_trig(M m, V x, ir_op op, V (*libm)(void *, ir_op, V), void *user)
{
    V y = sin_or_cos(m, x, op == IR_COS), a = absolute(m, x);
    V far = LLVMBuildNot(m->b, lt(m, a, TRIG_LIMIT), "");
    V any = m->lanes == 1 ? far : call1(m, "llvm.vector.reduce.or", &far, 1);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(m->b);
    V fn = LLVMGetBasicBlockParent(here);
    LLVMBasicBlockRef slow = LLVMAppendBasicBlockInContext(m->cx, fn, "");
    LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(m->cx, fn, "");
    LLVMBuildCondBr(m->b, any, slow, next);
    LLVMPositionBuilderAtEnd(m->b, slow);
    V z = pick(m, far, libm(user, op, x), y);
    slow = LLVMGetInsertBlock(m->b);
    LLVMBuildBr(m->b, next);
    LLVMPositionBuilderAtEnd(m->b, next);
    V r = LLVMBuildPhi(m->b, f64s(m), "");
    LLVMAddIncoming(r, (V[]){y, z}, (LLVMBasicBlockRef[]){here, slow}, 2);
    /* sin -0 is -0; below this, x itself */
    return op == IR_SIN ? pick(m, lt(m, a, 0x1p-30), x, r) : r;
}

LLVMValueRef jit_math(jit_vec *m, ir_op op, LLVMValueRef a, LLVMValueRef b,
                      LLVMValueRef (*libm)(void *user, ir_op op, LLVMValueRef x), void *user)
{
    switch (op) {
    case IR_EXP: return vec_exp(m, a);
    case IR_LN: return vec_ln(m, a);
    case IR_POW: return vec_pow(m, a, b);
    case IR_TANH: return vec_tanh(m, a);
    case IR_SINH: return vec_sinh(m, a);
    case IR_COSH: return vec_cosh(m, a);
    case IR_EXPM1: return vec_expm1(m, a);
    case IR_LOG1P: return vec_log1p(m, a);
    case IR_ATAN: return vec_atan(m, a);
    case IR_SIN:
    case IR_COS: return vec_trig(m, a, op, libm, user);
    default: return NULL;
    }
}
