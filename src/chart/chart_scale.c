/* chart_scale.c - ranges of axes, ticks and their numbers. */
#include <math.h>
#include <string.h>

#include "chart_priv.h"

bool chart_usable(double x, bool log) { return isfinite(x) && (!log || x > 0); }

void chart_widen(chart_scale *s, double x)
{
    if (!chart_usable(x, s->log))
        return;
    x = s->log ? log10(x) : x;
    s->lo = isnan(s->lo) || x < s->lo ? x : s->lo;
    s->hi = isnan(s->hi) || x > s->hi ? x : s->hi;
}

void chart_close(chart_scale *s, const chart_axis *a)
{
    if (chart_usable(a->lo, s->log))
        s->lo = s->log ? log10(a->lo) : a->lo;
    if (chart_usable(a->hi, s->log))
        s->hi = s->log ? log10(a->hi) : a->hi;
    if (isnan(s->lo) || isnan(s->hi))
        s->lo = 0, s->hi = 1;
    if (s->lo > s->hi) { /* limits were given in the other order, or lie beyond the data */
        const double t = s->lo;
        s->lo = s->hi;
        s->hi = t;
    }
    /* the range of doubles itself: a span of it has no width in doubles */
    s->lo = fmax(s->lo, -1e307);
    s->hi = fmin(s->hi, 1e307);
    if (!(s->hi - s->lo > 1e-12 * (fabs(s->hi) + fabs(s->lo)))) {
        const double half = s->log ? 0.5 : s->lo != 0 ? fabs(s->lo) / 10 : 1;
        s->lo -= half;
        s->hi += half;
    }
}

/* 1, 2 or 5 times a power of ten: about n of them in the span. */
static double round_step(double span, int n)
{
    const double raw = span / n, base = pow(10, floor(log10(raw))), m = raw / base;
    return base * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

/* The step between ticks of angles: parts of a turn. */
static double angle_step(double span, int n)
{
    static const double step[] = {15, 30, 45, 90, 180, 360};
    for (size_t i = 0; i < VS_COUNT(step); i++)
        if (span / step[i] <= n && span > 2 * step[0])
            return step[i];
    return round_step(span, n);
}

static bool has_prefix(const char *unit)
{
    static const char *const without[] = {"dB", "°", "rad", "°C", "%"};
    for (size_t i = 0; i < VS_COUNT(without); i++)
        if (!strcmp(unit, without[i]))
            return false;
    return true;
}

/* Chooses the numbers of ticks: in a small range far from 0 they are distances from an offset, else
 * multiples of one prefix. */
static void choose_numbers(chart_scale *s, const char *unit)
{
    const double most = fmax(fabs(s->lo), fabs(s->hi));
    if (most > 1e5 * s->step) {
        const double unit_of = pow(10, ceil(log10(s->hi - s->lo)));
        s->offset = floor(s->lo / unit_of) * unit_of;
    }
    const double shown = fmax(fabs(s->lo - s->offset), fabs(s->hi - s->offset));
    s->plain = !*unit && s->offset == 0;
    if (has_prefix(unit) && shown > 0) {
        const int e = 3 * (int)floor(log10(shown) / 3 + 1e-9);
        s->exponent = e < -18 || e > 12 ? 0 : e;
    }
    const double digits = s->exponent - floor(log10(s->step) + 1e-9);
    s->digits = digits > 0 ? (digits < 15 ? (int)digits : 15) : 0;
}

void chart_ticks(chart_scale *s, const chart_axis *a, int n, bool round_lo, bool round_hi)
{
    const char *unit = a->unit ? a->unit : "";
    n = n < 2 ? 2 : n;
    if (s->log) {
        s->step = fmax(1, ceil((s->hi - s->lo) / n));
        if (round_lo)
            s->lo = floor(s->lo + 1e-9);
        if (round_hi)
            s->hi = ceil(s->hi - 1e-9);
        return;
    }
    s->step = strcmp(unit, "°") != 0 ? round_step(s->hi - s->lo, n) : angle_step(s->hi - s->lo, n);
    if (round_lo)
        s->lo = floor(s->lo / s->step + 1e-9) * s->step;
    if (round_hi)
        s->hi = ceil(s->hi / s->step - 1e-9) * s->step;
    choose_numbers(s, unit);
}

double chart_place(const chart_scale *s, double x)
{
    const double u = ((s->log ? log10(x) : x) - s->lo) / (s->hi - s->lo);
    return s->at + s->len * fmin(fmax(u, -10), 11);
}

static const char *const prefix[] = {"a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T"};

void chart_engineering(char *s, size_t size, double x)
{
    const int e = x != 0 ? (int)floor(log10(fabs(x)) / 3 + 1e-9) : 0;
    if (e < -6 || e > 4)
        snprintf(s, size, "%.3g", x);
    else
        snprintf(s, size, "%.4g%s", x / pow(10, 3 * e), prefix[e + 6]);
}

/* Decades, and where one decade is wide the numbers between them. */
static void each_log_tick(const chart_scale *s, chart_tick_fn *f, void *user)
{
    char text[32];
    const int every = (int)s->step, first = (int)floor(s->lo + 1e-9);
    const int last = (int)ceil(s->hi - 1e-9);
    const bool all = s->hi - s->lo < 1.5; /* less than two decades: 2 and 5 have numbers too */
    for (int d = first; d <= last; d++)
        for (int m = 1; m < (every > 1 ? 2 : 10); m++) {
            const double x = m * pow(10, d), l = log10(x);
            if (l < s->lo - 1e-9 || l > s->hi + 1e-9)
                continue;
            const bool number = m == 1 ? (d - first) % every == 0 : all && (m == 2 || m == 5);
            chart_engineering(text, sizeof text, x);
            f(user, x, number ? text : NULL);
        }
}

void chart_each_tick(const chart_scale *s, chart_tick_fn *f, void *user)
{
    char text[64];
    if (s->log) {
        each_log_tick(s, f, user);
        return;
    }
    const double first = ceil((s->lo - s->offset) / s->step - 1e-9);
    const double last = (s->hi - s->offset) / s->step + 1e-9;
    for (double k = first; k <= last && k - first < 1000; k++) {
        const double x = fabs(k) < 0.5 ? 0 : k * s->step;
        if (s->plain)
            chart_engineering(text, sizeof text, x);
        else if (s->exponent == 0 && (fabs(x) >= 1e7 || s->digits > 6))
            snprintf(text, sizeof text, "%.4g", x);
        else
            snprintf(text, sizeof text, "%.*f", s->digits, x / pow(10, s->exponent));
        f(user, x + s->offset, text);
    }
}

void chart_axis_label(char *buf, size_t size, const chart_axis *a, const chart_scale *s)
{
    const char *label = a->label ? a->label : "", *unit = a->unit ? a->unit : "";
    char offset[32] = "";
    if (s->offset != 0)
        snprintf(offset, sizeof offset, " %c %.15g", s->offset < 0 ? '+' : '-', fabs(s->offset));
    const char *p = s->log || s->plain ? "" : prefix[s->exponent / 3 + 6];
    if (*unit || *p)
        snprintf(buf, size, "%s%s%s[%s%s]", label, offset, *label ? " " : "", p, unit);
    else
        snprintf(buf, size, "%s%s", label, offset);
}
