/* func.c - functions of vectors. See expr.h, and docs/control.md for the list with meanings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "fft.h"
#include "post_priv.h"

typedef struct fargs {
    post_env *e;
    post_val *a;
    int n;
    post_val *out;
    const char *name;
} fargs;
typedef bool (*fn_run)(fargs *f);

static double angle_out(const post_env *e, double x) { return e->degrees ? x * 180 / M_PI : x; }
static double angle_in(const post_env *e, double x) { return e->degrees ? x * M_PI / 180 : x; }

static post_val same_shape(fargs *f, bool complex)
{
    post_val r = post_new_val(f->e, f->a[0].n, complex);
    r.plot = f->a[0].plot;
    r.type = f->a[0].type;
    r.derived = f->a[0].derived;
    return r;
}

/* -- value by value -- */

static bool real_part(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = creal(post_at(f->a, k));
    return true;
}

static bool imag_part(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = cimag(post_at(f->a, k));
    return true;
}

static bool magnitude(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = cabs(post_at(f->a, k));
    return true;
}

static bool phase(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = angle_out(f->e, carg(post_at(f->a, k)));
    f->out->type = "phase";
    return true;
}

/* The phase without jumps of a turn. */
static bool continuous_phase(fargs *f)
{
    double turn = 0, last = 0;
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++) {
        double p = carg(post_at(f->a, k));
        if (k)
            turn -= 2 * M_PI * round((p - last) / (2 * M_PI));
        last = p;
        f->out->v[k] = angle_out(f->e, p + turn);
    }
    f->out->type = "phase";
    return true;
}

static bool decibel(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = post_decibel(post_at(f->a, k));
    f->out->type = "decibel";
    return true;
}

/* A real value outside of lo ... hi makes all complex. */
static bool each(fargs *f, double (*re)(double), cplx (*cx)(cplx), double lo, double hi)
{
    bool complex = f->a->complex;
    for (int64_t k = 0; k < f->a->n && !complex; k++)
        complex = f->a->v[k] < lo || f->a->v[k] > hi;
    *f->out = same_shape(f, complex);
    for (int64_t k = 0; k < f->out->n; k++) {
        cplx x = post_at(f->a, k);
        post_put(f->out, k, complex ? cx(x) : re(creal(x)));
    }
    f->out->type = "notype";
    return true;
}

static cplx minus_complex(cplx x) { return -x; }
static double minus_real(double x) { return -x; }
static cplx conj_complex(cplx x) { return conj(x); }
static double same_real(double x) { return x; }
static cplx log10_complex(cplx x) { return clog(x) / M_LN10; }
static cplx floor_complex(cplx x) { return floor(creal(x)) + I * floor(cimag(x)); }
static cplx ceil_complex(cplx x) { return ceil(creal(x)) + I * ceil(cimag(x)); }
static cplx round_complex(cplx x) { return nearbyint(creal(x)) + I * nearbyint(cimag(x)); }
static double positive_real(double x) { return x > 0; }
static cplx positive_complex(cplx x) { return creal(x) > 0; }
static double sign_real(double x) { return (x > 0) - (x < 0); }
static cplx sign_complex(cplx x) { return sign_real(creal(x)); }

static bool minus(fargs *f)
{
    const char *type = f->a->type;
    bool ok = each(f, minus_real, minus_complex, -INFINITY, INFINITY);
    f->out->type = type;
    return ok;
}
static bool conjugate(fargs *f) { return each(f, same_real, conj_complex, -INFINITY, INFINITY); }
static bool f_log(fargs *f) { return each(f, log10, log10_complex, 0, INFINITY); }
static bool f_ln(fargs *f) { return each(f, log, clog, 0, INFINITY); }
static bool f_exp(fargs *f) { return each(f, exp, cexp, -INFINITY, INFINITY); }
static bool f_sqrt(fargs *f) { return each(f, sqrt, csqrt, 0, INFINITY); }
static bool f_sinh(fargs *f) { return each(f, sinh, csinh, -INFINITY, INFINITY); }
static bool f_cosh(fargs *f) { return each(f, cosh, ccosh, -INFINITY, INFINITY); }
static bool f_tanh(fargs *f) { return each(f, tanh, ctanh, -INFINITY, INFINITY); }
static bool f_asinh(fargs *f) { return each(f, asinh, casinh, -INFINITY, INFINITY); }
static bool f_acosh(fargs *f) { return each(f, acosh, cacosh, 1, INFINITY); }
static bool f_atanh(fargs *f) { return each(f, atanh, catanh, -1, 1); }
static bool f_floor(fargs *f) { return each(f, floor, floor_complex, -INFINITY, INFINITY); }
static bool f_ceil(fargs *f) { return each(f, ceil, ceil_complex, -INFINITY, INFINITY); }
static bool f_nint(fargs *f) { return each(f, nearbyint, round_complex, -INFINITY, INFINITY); }
static bool f_pos(fargs *f)
{
    return each(f, positive_real, positive_complex, -INFINITY, INFINITY);
}
static bool f_sgn(fargs *f) { return each(f, sign_real, sign_complex, -INFINITY, INFINITY); }

static bool of_angle(fargs *f, double (*re)(double), cplx (*cx)(cplx))
{
    *f->out = same_shape(f, f->a->complex);
    for (int64_t k = 0; k < f->out->n; k++) {
        cplx x = post_at(f->a, k);
        post_put(f->out, k,
                 f->a->complex ? cx(f->e->degrees ? x * M_PI / 180 : x)
                               : re(angle_in(f->e, creal(x))));
    }
    f->out->type = "notype";
    return true;
}
static bool f_sin(fargs *f) { return of_angle(f, sin, csin); }
static bool f_cos(fargs *f) { return of_angle(f, cos, ccos); }
static bool f_tan(fargs *f) { return of_angle(f, tan, ctan); }

static bool to_angle(fargs *f, double (*re)(double))
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = angle_out(f->e, re(creal(post_at(f->a, k))));
    f->out->type = "notype";
    return true;
}
static bool f_atan(fargs *f) { return to_angle(f, atan); }
static bool f_asin(fargs *f) { return to_angle(f, asin); }
static bool f_acos(fargs *f) { return to_angle(f, acos); }

/* i times x */
static bool f_j(fargs *f)
{
    *f->out = same_shape(f, true);
    for (int64_t k = 0; k < f->out->n; k++)
        post_put(f->out, k, I * post_at(f->a, k));
    return true;
}

/* -- vectors as a whole -- */

static bool f_length(fargs *f)
{
    *f->out = post_number(f->e, (double)f->a->n);
    return true;
}

static bool f_mean(fargs *f)
{
    cplx sum = 0;
    for (int64_t k = 0; k < f->a->n; k++)
        sum += post_at(f->a, k);
    *f->out = post_new_val(f->e, 1, f->a->complex);
    post_put(f->out, 0, f->a->n ? sum / (double)f->a->n : NAN);
    f->out->type = f->a->type;
    return true;
}

static bool f_sum(fargs *f)
{
    cplx sum = 0;
    for (int64_t k = 0; k < f->a->n; k++)
        sum += post_at(f->a, k);
    *f->out = post_new_val(f->e, 1, f->a->complex);
    post_put(f->out, 0, sum);
    f->out->type = f->a->type;
    return true;
}

static bool f_stddev(fargs *f)
{
    double mean = 0, sum = 0;
    for (int64_t k = 0; k < f->a->n; k++)
        mean += creal(post_at(f->a, k)) / (double)f->a->n;
    for (int64_t k = 0; k < f->a->n; k++)
        sum += pow(creal(post_at(f->a, k)) - mean, 2);
    *f->out = post_number(f->e, f->a->n > 1 ? sqrt(sum / (double)(f->a->n - 1)) : 0);
    return true;
}

static bool extreme(fargs *f, bool largest)
{
    if (f->n == 2) { /* of two vectors, point by point */
        int64_t n = f->a[0].n > f->a[1].n ? f->a[0].n : f->a[1].n;
        post_val r = post_new_val(f->e, n, false);
        r.plot = f->a[0].n == n ? f->a[0].plot : f->a[1].plot;
        for (int64_t k = 0; k < n; k++) {
            double x = creal(post_at(&f->a[0], k)), y = creal(post_at(&f->a[1], k));
            r.v[k] = largest ? fmax(x, y) : fmin(x, y);
        }
        *f->out = r;
        return true;
    }
    double m = NAN;
    for (int64_t k = 0; k < f->a->n; k++) {
        double x = creal(post_at(f->a, k));
        m = isnan(m) || (largest ? x > m : x < m) ? x : m;
    }
    *f->out = post_number(f->e, m);
    f->out->type = f->a->type;
    return true;
}
static bool f_max(fargs *f) { return extreme(f, true); }
static bool f_min(fargs *f) { return extreme(f, false); }

/* Mean of the values up to each. */
static bool f_avg(fargs *f)
{
    cplx sum = 0;
    *f->out = same_shape(f, f->a->complex);
    for (int64_t k = 0; k < f->a->n; k++) {
        sum += post_at(f->a, k);
        post_put(f->out, k, sum / (double)(k + 1));
    }
    return true;
}

/* The places of the least value, of the next, and so on. */
static bool f_sortorder(fargs *f)
{
    const int64_t n = f->a[0].n;
    if (f->a[0].complex)
        return post_fail(f->e, "sortorder() takes real values");
    vec_placed *p = arena_array(f->e->mem, vec_placed, (size_t)n + 1);
    for (int64_t k = 0; k < n; k++)
        p[k] = (vec_placed){f->a[0].v[k], k};
    qsort(p, (size_t)n, sizeof *p, vec_by_placed);
    *f->out = same_shape(f, false);
    f->out->type = "notype";
    for (int64_t k = 0; k < n; k++)
        f->out->v[k] = (double)p[k].at;
    return true;
}

static bool f_norm(fargs *f)
{
    double m = 0;
    for (int64_t k = 0; k < f->a->n; k++)
        m = fmax(m, cabs(post_at(f->a, k)));
    *f->out = same_shape(f, f->a->complex);
    for (int64_t k = 0; k < f->a->n; k++)
        post_put(f->out, k, m > 0 ? post_at(f->a, k) / m : 0);
    return true;
}

static bool make_vector(fargs *f, bool unit)
{
    double n = creal(post_at(f->a, 0));
    if (!(n >= 0 && n <= 1e8))
        return post_fail(f->e, "%s() takes a length from 0 to 1e8, not %g", f->name, n);
    *f->out = post_new_val(f->e, (int64_t)n, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = unit ? 1 : (double)k;
    return true;
}
static bool f_vector(fargs *f) { return make_vector(f, false); }
static bool f_unitvec(fargs *f) { return make_vector(f, true); }

static double axis_at(const post_vec *x, int64_t k) { return x->complex ? x->v[2 * k] : x->v[k]; }

static const post_vec *need_axis(fargs *f)
{
    const post_vec *x = post_axis(f->a);
    if (!x)
        post_fail(f->e, "%s() needs a vector with an axis, as an analysis gives it", f->name);
    return x;
}

/* Slope of the parabola through three neighbours, at the point k. */
static cplx slope(const post_val *y, const post_vec *x, int64_t k)
{
    int64_t m = k < 1 ? 1 : k > y->n - 2 ? y->n - 2 : k;
    if (y->n < 3)
        return y->n < 2 ? 0 : (post_at(y, 1) - post_at(y, 0)) / (axis_at(x, 1) - axis_at(x, 0));
    double x0 = axis_at(x, m - 1), x1 = axis_at(x, m), x2 = axis_at(x, m + 1), at = axis_at(x, k);
    cplx d01 = (post_at(y, m) - post_at(y, m - 1)) / (x1 - x0);
    cplx d12 = (post_at(y, m + 1) - post_at(y, m)) / (x2 - x1);
    if (x1 == x0 || x2 == x1)
        return x1 == x0 ? d12 : d01;
    return d01 + (d12 - d01) / (x2 - x0) * (2 * at - x0 - x1);
}

static bool f_deriv(fargs *f)
{
    const post_vec *x = need_axis(f);
    if (!x)
        return false;
    *f->out = same_shape(f, f->a->complex);
    for (int64_t k = 0; k < f->a->n; k++)
        post_put(f->out, k, slope(f->a, x, k));
    f->out->type = "notype";
    return true;
}

static bool f_integ(fargs *f)
{
    const post_vec *x = need_axis(f);
    cplx sum = 0;
    if (!x)
        return false;
    *f->out = same_shape(f, f->a->complex);
    for (int64_t k = 0; k < f->a->n; k++) {
        if (k)
            sum +=
                (post_at(f->a, k) + post_at(f->a, k - 1)) * (axis_at(x, k) - axis_at(x, k - 1)) / 2;
        post_put(f->out, k, sum);
    }
    f->out->type = "notype";
    return true;
}

/* -d phase / d omega */
static bool f_group_delay(fargs *f)
{
    const post_vec *x = need_axis(f);
    if (!x)
        return false;
    bool degrees = f->e->degrees;
    f->e->degrees = false;
    post_val p;
    fargs g = {f->e, f->a, 1, &p, f->name};
    continuous_phase(&g);
    f->e->degrees = degrees;
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < p.n; k++)
        f->out->v[k] = -creal(slope(&p, x, k)) / (2 * M_PI);
    f->out->type = "time";
    return true;
}

double post_interpolate(const double *x, const double *y, int64_t n, double t)
{
    if (n < 1)
        return NAN;
    bool up = x[n - 1] >= x[0];
    int64_t lo = 0, hi = n - 1;
    if (up ? t < x[0] || t > x[hi] : t > x[0] || t < x[hi])
        return NAN;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (up ? x[mid] <= t : x[mid] >= t)
            lo = mid;
        else
            hi = mid;
    }
    return x[hi] == x[lo] ? y[hi] : y[lo] + (y[hi] - y[lo]) * ((t - x[lo]) / (x[hi] - x[lo]));
}

/* The vector of another plot at the points of the current plot's axis; flat outside. */
static bool f_interpolate(fargs *f)
{
    const post_vec *x = need_axis(f), *to = f->e->set->current ? f->e->set->current->scale : NULL;
    if (!x || !to)
        return x ? post_fail(f->e, "interpolate() needs an axis in the current plot") : false;
    double *y = arena_array(f->e->mem, double, f->a->n),
           *at = arena_array(f->e->mem, double, f->a->n);
    for (int64_t k = 0; k < f->a->n; k++) {
        y[k] = creal(post_at(f->a, k));
        at[k] = axis_at(x, k);
    }
    *f->out = post_new_val(f->e, to->n, false);
    f->out->plot = f->e->set->current;
    f->out->type = f->a->type;
    for (int64_t k = 0; k < to->n; k++) {
        double t = axis_at(to, k), v = post_interpolate(at, y, f->a->n, t);
        bool first = fabs(t - at[0]) < fabs(t - at[f->a->n - 1]);
        f->out->v[k] = isnan(v) ? y[first ? 0 : f->a->n - 1] : v;
    }
    return true;
}

/* y at t, straight between the points of x; the first or the last one outside. */
static double held(const double *x, const double *y, int64_t n, double t)
{
    const bool rises = x[n - 1] >= x[0];
    if (rises ? t < x[0] : t > x[0])
        return y[0];
    return (rises ? t > x[n - 1] : t < x[n - 1]) ? y[n - 1] : post_interpolate(x, y, n, t);
}

/* delay(y, s): y at x - s, straight between points; the first value where that is before it, the
 * last one behind. */
static bool f_delay(fargs *f)
{
    const post_vec *x = need_axis(f);
    const post_val *by = &f->a[1];
    if (!x)
        return false;
    if (by->n != 1 || by->complex || !isfinite(by->v[0]))
        return post_fail(f->e, "delay() takes a curve and a number: delay(v(out), 1n)");
    const int64_t n = f->a->n;
    double *at = arena_array(f->e->mem, double, n), *y = arena_array(f->e->mem, double, n);
    *f->out = same_shape(f, f->a->complex);
    for (int part = 0; part < 1 + f->a->complex; part++) {
        for (int64_t k = 0; k < n; k++) {
            const cplx v = post_at(f->a, k);
            y[k] = part ? cimag(v) : creal(v);
            at[k] = axis_at(x, k);
        }
        for (int64_t k = 0; k < n; k++)
            f->out->v[(1 + f->a->complex) * k + part] = held(at, y, n, at[k] - by->v[0]);
    }
    return true;
}

static bool transform(fargs *f, bool inverse)
{
    *f->out = post_new_val(f->e, f->a->n, true);
    f->out->plot = f->a->plot;
    cplx *x = arena_alloc(f->e->mem, (size_t)(f->a->n + 1) * sizeof *x);
    for (int64_t k = 0; k < f->a->n; k++)
        x[k] = post_at(f->a, k);
    fft((double *)x, f->a->n, inverse);
    for (int64_t k = 0; k < f->a->n; k++)
        post_put(f->out, k, inverse ? x[k] / (double)f->a->n : x[k]);
    return true;
}
static bool f_fft(fargs *f) { return transform(f, false); }
static bool f_ifft(fargs *f) { return transform(f, true); }

/* -- random numbers -- */

/* splitmix64: Steele, Lea, Flood, OOPSLA 2014. 0 < result < 1. */
static double uniform(post_env *e)
{
    uint64_t fixed = 1, *seed = e->seed ? e->seed : &fixed, z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

/* -1 .. 1 */
static bool f_sunif(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = 2 * uniform(f->e) - 1;
    f->out->type = "notype";
    return true;
}

/* mean 0, standard deviation 1 */
static bool f_sgauss(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++) {
        double r = sqrt(-2 * log(uniform(f->e)));
        f->out->v[k] = r * cos(2 * M_PI * uniform(f->e));
    }
    f->out->type = "notype";
    return true;
}

/* whole numbers from 0 to below the value */
static bool f_rnd(fargs *f)
{
    *f->out = same_shape(f, false);
    for (int64_t k = 0; k < f->out->n; k++)
        f->out->v[k] = floor(uniform(f->e) * fabs(creal(post_at(f->a, k))));
    return true;
}

/* -- the table -- */

/* name, function, least and greatest number of arguments */
/* clang-format off */
#define FUNCTION_LIST(X) \
    X("mag", magnitude, 1, 1) X("abs", magnitude, 1, 1) X("magnitude", magnitude, 1, 1) \
    X("ph", phase, 1, 1) \
    X("phase", phase, 1, 1) X("cph", continuous_phase, 1, 1) X("cphase", continuous_phase, 1, 1) \
    X("unwrap", continuous_phase, 1, 1) X("re", real_part, 1, 1) X("real", real_part, 1, 1) \
    X("im", imag_part, 1, 1) X("imag", imag_part, 1, 1) X("conj", conjugate, 1, 1) \
    X("db", decibel, 1, 1) \
    X("log", f_ln, 1, 1) X("log10", f_log, 1, 1) X("ln", f_ln, 1, 1) X("exp", f_exp, 1, 1) \
    X("sqrt", f_sqrt, 1, 1) X("sin", f_sin, 1, 1) X("cos", f_cos, 1, 1) X("tan", f_tan, 1, 1) \
    X("asin", f_asin, 1, 1) X("acos", f_acos, 1, 1) X("atan", f_atan, 1, 1) \
    X("sinh", f_sinh, 1, 1) \
    X("cosh", f_cosh, 1, 1) X("tanh", f_tanh, 1, 1) X("asinh", f_asinh, 1, 1) \
    X("acosh", f_acosh, 1, 1) X("atanh", f_atanh, 1, 1) X("floor", f_floor, 1, 1) \
    X("ceil", f_ceil, 1, 1) \
    X("nint", f_nint, 1, 1) X("pos", f_pos, 1, 1) X("sgn", f_sgn, 1, 1) X("j", f_j, 1, 1) \
    X("length", f_length, 1, 1) X("mean", f_mean, 1, 1) X("sum", f_sum, 1, 1) \
    X("stddev", f_stddev, 1, 1) \
    X("max", f_max, 1, 2) X("maximum", f_max, 1, 1) X("vecmax", f_max, 1, 1) X("min", f_min, 1, 2) \
    X("minimum", f_min, 1, 1) X("vecmin", f_min, 1, 1) X("avg", f_avg, 1, 1) \
    X("norm", f_norm, 1, 1) X("sortorder", f_sortorder, 1, 1) \
    X("vector", f_vector, 1, 1) X("unitvec", f_unitvec, 1, 1) X("deriv", f_deriv, 1, 1) \
    X("integ", f_integ, 1, 1) X("group_delay", f_group_delay, 1, 1) \
    X("interpolate", f_interpolate, 1, 1) X("delay", f_delay, 2, 2) \
    X("fft", f_fft, 1, 1) X("ifft", f_ifft, 1, 1) X("par", real_part, 1, 1)            \
    X("sunif", f_sunif, 1, 1) X("sgauss", f_sgauss, 1, 1) X("rnd", f_rnd, 1, 1)
/* clang-format on */

const char *const post_function_names[] = {
#define X(name, run, lo, hi) name,
    FUNCTION_LIST(X)
#undef X
};
const size_t post_n_function = VS_COUNT(post_function_names);

/* Is value k of the result one of value k of the argument alone, as long as no value is out of
 * range, which makes all of them complex? */
static bool value_in_range(fn_run run)
{
    return run == f_ln || run == f_log || run == f_sqrt || run == f_acosh || run == f_atanh;
}

/* Is value k of the result one of value k of the arguments alone? */
static bool value_by_value(fn_run run, int n_arg)
{
    static const fn_run list[] = {magnitude, phase,  real_part, imag_part, conjugate, decibel,
                                  f_exp,     f_sin,  f_cos,     f_tan,     f_asin,    f_acos,
                                  f_atan,    f_sinh, f_cosh,    f_tanh,    f_floor,   f_ceil,
                                  f_nint,    f_pos,  f_sgn,     f_j,       f_asinh,   minus};
    for (size_t i = 0; i < VS_COUNT(list); i++)
        if (list[i] == run)
            return true;
    return n_arg == 2 && (run == f_max || run == f_min);
}

bool post_call(post_env *e, const char *name, post_val *arg, int n_arg, post_val *out, bool *known)
{
    static const struct {
        const char *name;
        fn_run run;
        int lo, hi;
    } t[] = {
#define X(fn, run, lo, hi) {fn, run, lo, hi},
        FUNCTION_LIST(X)
#undef X
            {"unary minus", minus, 1, 1}};
    *known = false;
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        if (str_casecmp(t[i].name, name))
            continue;
        *known = true;
        const bool base10 = e->log10 && !str_casecmp(name, "log");
        const fn_run run = base10 ? f_log : t[i].run;
        if (n_arg < t[i].lo || n_arg > t[i].hi)
            return post_fail(e, "%s() takes %d argument%s, not %d", name, t[i].lo,
                             t[i].hi > 1 ? " or more" : "", n_arg);
        if (e->check) {
            *out = post_number(e, 1);
            return true;
        }
        if (arg->n < 1 && strcmp(t[i].name, "length"))
            return post_fail(e, "%s() of an empty vector", name);
        post_val r;
        fargs f = {e, arg, n_arg, &r, t[i].name};
        const bool in_range = e->ranges && value_in_range(run);
        const post_carried carried =
            e->carry ? post_carry_call(e, t[i].name, arg, n_arg, &r) : POST_CARRY_NOT;
        if (e->whole && !carried && !in_range && !value_by_value(run, n_arg))
            *e->whole = true;
        if (carried != POST_CARRY_DONE && !run(&f))
            return false;
        if (e->whole && in_range && r.complex && !arg->complex)
            *e->whole = true;
        *out = r;
        return true;
    }
    return true;
}
