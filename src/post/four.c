/* four.c - Fourier series and spectra. See four.h. */
#include "four.h"

#include <math.h>
#include <string.h>

#include "fft.h"
#include "post_priv.h"

enum { MAX_LINES = 10000000 };

/* A real vector of two values or more, over an axis that does not go back, as that of two runs
 * does, or of a sweep in a sweep. false: a message was given. */
static bool check_curve(post_env *e, const post_val *v, const char *what)
{
    const post_vec *a = post_axis(v);
    if (!a || a->n < 2)
        return post_fail(e, "%s needs a vector over time; '%s' has no axis", what, v->name);
    if (v->complex)
        return post_fail(e, "%s needs a real vector: '%s' is complex", what, v->name);
    for (int64_t k = 1; k < a->n; k++)
        if (!(post_axis_at(v, k) >= post_axis_at(v, k - 1)))
            return post_fail(e, "%s needs a rising axis: the %s of '%s' goes from %g to %g", what,
                             a->name, v->name, post_axis_at(v, k - 1), post_axis_at(v, k));
    return true;
}

bool post_over_time(post_env *e, const post_val *v, double **x, double **y, const char *what)
{
    if (!check_curve(e, v, what))
        return false;
    const post_vec *a = post_axis(v);
    *x = arena_array(e->mem, double, a->n);
    *y = arena_array(e->mem, double, a->n);
    for (int64_t k = 0; k < a->n; k++) {
        (*x)[k] = post_axis_at(v, k);
        (*y)[k] = creal(post_at(v, k));
    }
    return true;
}

/* Whether v [n] are curves over the same axis, whose lines one frequency axis can have. false: a
 * message was given. */
static bool check_curves(post_env *e, const post_val *v, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        if (!check_curve(e, &v[i], what))
            return false;
        const int64_t last = v[i].n - 1;
        if (last != v[0].n - 1 || post_axis_at(&v[i], 0) < post_axis_at(&v[0], 0) ||
            post_axis_at(&v[i], 0) > post_axis_at(&v[0], 0) ||
            post_axis_at(&v[i], last) < post_axis_at(&v[0], last) ||
            post_axis_at(&v[i], last) > post_axis_at(&v[0], last))
            return post_fail(e, "%s needs vectors over one axis: that of '%s' is not that of '%s'",
                             what, v[i].name, v[0].name);
    }
    return true;
}

bool post_fourier(post_env *e, const post_val *v, double freq, int n, int grid, post_four *f)
{
    double *x, *y;
    *f = (post_four){.n = n > 0 ? n : 10, .grid = grid > 0 ? grid : 200, .freq = freq};
    if (!(freq > 0))
        return post_fail(e, "the fundamental frequency must be positive, not %g", freq);
    if (2 * (int64_t)(f->n - 1) >= f->grid && f->n > 1)
        return post_fail(e,
                         "%d harmonics are not told apart by %d points of a period: nfreqs is at "
                         "most half of fourgridsize",
                         f->n - 1, f->grid);
    if (!post_over_time(e, v, &x, &y, "a Fourier series"))
        return false;
    double end = x[v->n - 1], start = end - 1 / freq;
    if (start < x[0] - 1e-9 / freq)
        return post_fail(e, "the transient of %g s is shorter than a period of %g Hz", end - x[0],
                         freq);
    f->mag = arena_array(e->mem, double, f->n);
    f->phase = arena_array(e->mem, double, f->n);
    double *g = arena_array(e->mem, double, f->grid), square = 0;
    for (int i = 0; i < f->grid; i++)
        g[i] = post_interpolate(x, y, v->n, fmax(start + i / (freq * f->grid), x[0]));
    for (int k = 0; k < f->n; k++) {
        double s = 0, c = 0;
        for (int i = 0; i < f->grid; i++) {
            double angle = 2 * M_PI * (double)((int64_t)k * i % f->grid) / f->grid;
            s += g[i] * sin(angle);
            c += g[i] * cos(angle);
        }
        f->mag[k] = k ? 2 * hypot(s, c) / f->grid : c / f->grid;
        f->phase[k] = k ? atan2(c, s) * 180 / M_PI : 0;
        square += k > 1 ? f->mag[k] * f->mag[k] : 0;
    }
    f->thd = f->n > 1 && !(f->mag[1] <= 0) ? 100 * sqrt(square) / f->mag[1] : 0;
    return true;
}

void post_fourier_print(const post_four *f, const char *name, FILE *out)
{
    fprintf(out,
            "Fourier analysis for %s:\n  No. Harmonics: %d, THD: %g %%, Gridsize: %d, "
            "Interpolation Degree: 1\n\n",
            name, f->n, f->thd, f->grid);
    fprintf(out, "Harmonic Frequency   Magnitude   Phase       Norm. Mag   Norm. Phase\n"
                 "-------- ---------   ---------   -----       ---------   -----------\n");
    for (int k = 0; k < f->n; k++)
        fprintf(out, " %-4d    %-11g %-11g %-11g %-11g %-11g\n", k, k * f->freq, f->mag[k],
                f->phase[k], k && f->n > 1 && !(f->mag[1] <= 0) ? f->mag[k] / f->mag[1] : 0,
                k ? f->phase[k] - f->phase[1] : 0);
    fputc('\n', out);
}

/* -- equal steps -- */

static post_plot *new_plot(post_env *e, const char *type, const char *what, const char *axis,
                           const char *axis_type, const post_plot *from)
{
    post_plot *p = post_plot_new(e->set, type, from->title, what);
    if (p)
        p->scale = post_plot_add(e->set, p, axis, axis_type, false);
    return p && p->scale ? p : NULL;
}

bool post_linearize(post_env *e, const post_val *v, size_t n, double step, double from, double to)
{
    const post_plot *now = e->set->current;
    double *x, *y;
    if (!n || !now || !now->scale)
        return post_fail(e, "there is no transient to linearize");
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].name, now->scale->name) != 0 && !check_curve(e, &v[i], "linearize"))
            return false;
    if (!post_over_time(e, &v[0], &x, &y, "linearize"))
        return false;
    int64_t last = v[0].n - 1;
    double a = isnan(from) ? x[0] : from, b = isnan(to) ? x[last] : to;
    double h = step > 0 ? step : (b - a) / (double)last;
    double count = floor((b - a) / h * (1 + 1e-12) + 1e-9) + 1;
    if (!(count >= 2 && count < MAX_LINES))
        return post_fail(e, "%g points from %g to %g in steps of %g", count, a, b, h);
    const double slack = 1e-9 * (x[last] - x[0]);
    if (a < x[0] - slack || b > x[last] + slack)
        return post_fail(e, "from %g to %g is outside of the curves, which go from %g to %g", a, b,
                         x[0], x[last]);
    post_plot *p = new_plot(e, "tran", "Transient Analysis (linearized)", now->scale->name,
                            now->scale->type, now);
    for (int64_t k = 0; k < (int64_t)count; k++)
        post_vec_push(p->scale, a + (double)k * h, 0);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(v[i].name, now->scale->name))
            continue;
        if (!post_over_time(e, &v[i], &x, &y, "linearize"))
            return false;
        post_vec *w = post_plot_add(e->set, p, v[i].name, v[i].type, false);
        for (int64_t k = 0; k < (int64_t)count; k++)
            post_vec_push(
                w,
                post_interpolate(x, y, v[i].n, fmax(fmin(a + (double)k * h, x[v[i].n - 1]), x[0])),
                0);
    }
    return true;
}

/* -- windows, all with the mean 1 -- */

static double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; k < 200 && term > 1e-17 * sum; k++) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

typedef enum window {
    W_NONE,
    W_TRIANGLE,
    W_HANN,
    W_HAMMING,
    W_BLACKMAN,
    W_HARRIS,
    W_FLAT,
    W_GAUSS,
    W_KAISER
} window;

/* ngspice's names and HSPICE's. */
static const struct {
    const char *name;
    window w;
} windows[] = {{"none", W_NONE},         {"rectangular", W_NONE},  {"rect", W_NONE},
               {"bartlet", W_TRIANGLE},  {"bartlett", W_TRIANGLE}, {"bart", W_TRIANGLE},
               {"triangle", W_TRIANGLE}, {"hanning", W_HANN},      {"hann", W_HANN},
               {"cosine", W_HANN},       {"hamming", W_HAMMING},   {"hamm", W_HAMMING},
               {"blackman", W_BLACKMAN}, {"black", W_BLACKMAN},    {"harris", W_HARRIS},
               {"flattop", W_FLAT},      {"gaussian", W_GAUSS},    {"gauss", W_GAUSS},
               {"kaiser", W_KAISER}};

static int window_find(const char *name)
{
    for (size_t k = 0; k < VS_COUNT(windows); k++)
        if (!str_casecmp(name, windows[k].name))
            return (int)windows[k].w;
    return -1;
}

/* At r from -1 to 1, u = 2 pi (r + 1) / 2. */
static double window_at(window w, double r, double u, double order)
{
    switch (w) {
    case W_NONE: return 1;
    case W_TRIANGLE: return 1 - fabs(r);
    case W_HANN: return 1 - cos(u);
    case W_HAMMING: return 1 - 0.46 / 0.54 * cos(u);
    case W_BLACKMAN: return 0.42 - 0.5 * cos(u) + 0.08 * cos(2 * u);
    case W_HARRIS: return 0.35875 - 0.48829 * cos(u) + 0.14128 * cos(2 * u) - 0.01168 * cos(3 * u);
    case W_FLAT:
        return 1 - 1.93 * cos(u) + 1.29 * cos(2 * u) - 0.388 * cos(3 * u) + 0.032 * cos(4 * u);
    case W_GAUSS: return exp(-0.5 * pow(order * r, 2));
    case W_KAISER: return bessel_i0(order * M_PI * sqrt(fmax(0, 1 - r * r)));
    }
    return 1;
}

bool post_window_values(post_env *e, const char *name, double order, int64_t n, double *out)
{
    const int w = window_find(name);
    double mean = 0;
    if (w < 0) {
        const char *names[VS_COUNT(windows)];
        for (size_t k = 0; k < VS_COUNT(windows); k++)
            names[k] = windows[k].name;
        post_fail(e, "there is no window '%s'", name);
        diag_suggest(e->d, name, names, VS_COUNT(names));
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        const double r = 2 * (double)i / (double)n - 1;
        out[i] = window_at((window)w, r, 2 * M_PI * (double)i / (double)n, order);
        mean += out[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) /* of a single point most windows have nothing */
        out[i] = mean > 1e-9 ? out[i] / mean : 1;
    return true;
}

int post_window_lobe(const char *name, double order)
{
    static const int zero[] = {[W_NONE] = 1,     [W_TRIANGLE] = 2, [W_HANN] = 2, [W_HAMMING] = 2,
                               [W_BLACKMAN] = 3, [W_HARRIS] = 4,   [W_FLAT] = 5};
    const int w = window_find(name);
    if (w == W_GAUSS) /* of a normal curve of deviation order / pi lines */
        return (int)ceil(sqrt(2 * log(1e6)) * order / M_PI);
    if (w == W_KAISER) /* first zero: Kaiser & Schafer, IEEE Trans. ASSP 28(1), 1980 */
        return (int)ceil(sqrt(1 + order * order)) - 1;
    return w < 0 ? 0 : zero[w] - 1;
}

/* -- spectra -- */

static double order_of(post_window w) { return w.order > 0 ? w.order : 2; }

static const char *name_of(post_window w) { return w.name ? w.name : "hanning"; }

static bool window_values(post_env *e, post_window w, int64_t n, double *out)
{
    return post_window_values(e, name_of(w), order_of(w), n, out);
}

static const char *spectrum_name(post_env *e, const post_val *v)
{
    return arena_printf(e->mem, "%s", v->name);
}

/* Sums of 2 m + 1 neighbours, divided by their number. */
static void smooth(post_env *e, double *p, int64_t n, int m)
{
    double *sum = arena_array(e->mem, double, n + 1);
    for (int64_t k = 0; k < n; k++)
        sum[k + 1] = sum[k] + p[k];
    for (int64_t k = 0; k < n; k++) {
        int64_t lo = k - m < 0 ? 0 : k - m, hi = k + m >= n ? n - 1 : k + m;
        p[k] = (sum[hi + 1] - sum[lo]) / (double)(hi - lo + 1);
    }
}

/* x[0..n) at equal steps; the curve's end belongs to the next period. */
static bool sample(post_env *e, const post_val *v, cplx **out, int64_t *n, double *span,
                   const char *what)
{
    double *x, *y;
    if (!post_over_time(e, v, &x, &y, what))
        return false;
    *n = v->n - 1;
    *span = x[*n] - x[0];
    if (!(*span > 0))
        return post_fail(e, "%s needs a curve over a rising axis", what);
    *out = arena_alloc(e->mem, (size_t)*n * sizeof **out);
    for (int64_t k = 0; k < *n; k++)
        (*out)[k] = post_interpolate(x, y, v->n, x[0] + *span * (double)k / (double)*n);
    return true;
}

bool post_fft(post_env *e, const post_val *v, size_t n, post_window w, bool psd, int average)
{
    const post_plot *now = e->set->current;
    post_plot *p = NULL;
    if (!check_curves(e, v, n, psd ? "psd" : "fft"))
        return false;
    for (size_t i = 0; i < n; i++) {
        cplx *x;
        int64_t m;
        double span;
        if (!sample(e, &v[i], &x, &m, &span, psd ? "psd" : "fft"))
            return false;
        double *win = arena_array(e->mem, double, m);
        if (!window_values(e, w, m, win))
            return false;
        for (int64_t k = 0; k < m; k++)
            x[k] *= win[k];
        fft((double *)x, m, false);
        int64_t lines = m / 2 + 1;
        if (!p) {
            p = new_plot(e, "sp", psd ? "PSD" : "Spectrum", "frequency", "frequency", now);
            p->lobe = post_window_lobe(name_of(w), order_of(w));
            for (int64_t k = 0; k < lines; k++)
                post_vec_push(p->scale, (double)k / span, 0);
        }
        post_vec *s = post_plot_add(e->set, p, spectrum_name(e, &v[i]), v[i].type, !psd);
        double *power = arena_array(e->mem, double, lines);
        for (int64_t k = 0; k < lines; k++) {
            const bool once = k == 0 || 2 * k == m; /* others stand for -k, too */
            cplx a = x[k] * (once ? 1.0 : 2.0) / (double)m;
            power[k] = cabs(a) * cabs(a) * (once ? 1 : 0.5);
            if (!psd)
                post_vec_push(s, creal(a), cimag(a));
        }
        if (psd && average > 0)
            smooth(e, power, lines, average);
        for (int64_t k = 0; psd && k < lines; k++)
            post_vec_push(s, power[k], 0);
    }
    return true;
}

bool post_spec(post_env *e, const post_val *v, size_t n, post_window w, double from, double to,
               double step)
{
    const post_plot *now = e->set->current;
    double lines = floor((to - from) / step * (1 + 1e-12) + 1e-9) + 1;
    if (!(step > 0) || !(from >= 0) || !(lines >= 1 && lines < MAX_LINES))
        return post_fail(e, "frequencies from %g to %g in steps of %g", from, to, step);
    post_plot *p = NULL;
    if (!check_curves(e, v, n, "spec"))
        return false;
    for (size_t i = 0; i < n; i++) {
        cplx *x;
        int64_t m;
        double span;
        if (!sample(e, &v[i], &x, &m, &span, "spec"))
            return false;
        const double half = (double)m / span / 2, top = from + (lines - 1) * step;
        if (top > half * (1 + 1e-9))
            return post_fail(e, "%g Hz is above half the rate of the points, %g Hz", top, half);
        double *win = arena_array(e->mem, double, m);
        if (!window_values(e, w, m, win))
            return false;
        if (!p)
            p = new_plot(e, "sp", "Spectrum", "frequency", "frequency", now);
        post_vec *s = post_plot_add(e->set, p, spectrum_name(e, &v[i]), v[i].type, true);
        for (int64_t k = 0; k < (int64_t)lines; k++) {
            double f = from + (double)k * step;
            cplx sum = 0;
            for (int64_t t = 0; t < m; t++)
                sum += x[t] * win[t] * cexp(-2 * I * M_PI * f * span * (double)t / (double)m);
            sum *= (f > 0 && f < half * (1 - 1e-9) ? 2.0 : 1.0) / (double)m;
            post_vec_push(s, creal(sum), cimag(sum));
            if (!i)
                post_vec_push(p->scale, f, 0);
        }
    }
    return true;
}
