/* svg.c - see svg.h. Curves of more points than pixels keep the extremes of each pixel column. */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "post_priv.h"

typedef struct scale {
    double lo, hi; /* in the data's unit; log: their logarithms */
    bool log;
    double at, len; /* pixels; len < 0: upwards */
} scale;

typedef struct frame {
    FILE *out;
    scale x, y;
    int width, height;
} frame;

static const char *const color[] = {"#1f5fbf", "#d1372c", "#23883a", "#8a3fb0", "#c77a00",
                                    "#00838f", "#5d4037", "#7a7a00", "#ad1457", "#455a64"};

static double value_at(const post_val *v, int64_t k)
{
    cplx x = post_at(v, k);
    return v->complex ? cabs(x) : creal(x);
}

static double axis_at(const post_val *v, const post_val *axis, int64_t k)
{
    return axis ? value_at(axis, k) : post_axis_at(v, k);
}

static bool usable(double x, bool log) { return isfinite(x) && (!log || x > 0); }

static void widen(scale *s, double x)
{
    if (!usable(x, s->log))
        return;
    x = s->log ? log10(x) : x;
    s->lo = isnan(s->lo) || x < s->lo ? x : s->lo;
    s->hi = isnan(s->hi) || x > s->hi ? x : s->hi;
}

/* The step of a grid with about n lines: 1, 2 or 5 times a power of ten. */
static double grid_step(double span, int n)
{
    double raw = span / n, base = pow(10, floor(log10(raw))), m = raw / base;
    return base * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

static void close_scale(scale *s, double lo, double hi)
{
    if (usable(lo, s->log))
        s->lo = s->log ? log10(lo) : lo;
    if (usable(hi, s->log))
        s->hi = s->log ? log10(hi) : hi;
    if (isnan(s->lo) || isnan(s->hi))
        s->lo = 0, s->hi = 1;
    if (!(s->hi - s->lo > 1e-12 * (fabs(s->hi) + fabs(s->lo)))) {
        double half = s->lo != 0 ? fabs(s->lo) / 10 : 1;
        s->lo -= half;
        s->hi += half;
    }
}

/* The value range to whole grid steps. */
static void round_scale(scale *s, bool keep_lo, bool keep_hi)
{
    double step = s->log ? 1 : grid_step(s->hi - s->lo, 8);
    if (!keep_lo)
        s->lo = floor(s->lo / step + 1e-9) * step;
    if (!keep_hi)
        s->hi = ceil(s->hi / step - 1e-9) * step;
}

static double place(const scale *s, double x)
{
    double u = ((s->log ? log10(x) : x) - s->lo) / (s->hi - s->lo);
    return s->at + s->len * fmin(fmax(u, -10), 11);
}

static void put_text(FILE *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        default: fputc((unsigned char)*s < 32 ? ' ' : *s, out);
        }
}

/* "1.5u", "200k": short enough for an axis. */
static void engineering(char *s, size_t size, double x)
{
    static const char *const unit[] = {"a", "f", "p", "n", "u", "m", "", "k", "M", "G", "T"};
    int e = x != 0 ? (int)floor(log10(fabs(x)) / 3 + 1e-9) : 0;
    if (e < -6 || e > 4)
        snprintf(s, size, "%.3g", x);
    else
        snprintf(s, size, "%.4g%s", x / pow(10, 3 * e), unit[e + 6]);
}

static void draw_tick(const frame *f, const scale *s, double x, bool is_x, bool minor)
{
    char label[32];
    double p = place(s, x);
    engineering(label, sizeof label, x);
    const char *style = minor ? "#eee" : "#ccc";
    if (is_x)
        fprintf(f->out, "<path d='M%.1f %.1fV%.1f' stroke='%s'/>\n", p, f->y.at, f->y.at + f->y.len,
                style);
    else
        fprintf(f->out, "<path d='M%.1f %.1fH%.1f' stroke='%s'/>\n", f->x.at, p, f->x.at + f->x.len,
                style);
    if (minor)
        return;
    if (is_x)
        fprintf(f->out, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", p, f->y.at + 16,
                label);
    else
        fprintf(f->out, "<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", f->x.at - 6, p + 4,
                label);
}

static void draw_grid(const frame *f, const scale *s, bool is_x)
{
    if (s->log) {
        int first = (int)floor(s->lo + 1e-9), last = (int)ceil(s->hi - 1e-9);
        int every = 1 + (last - first) / 20;
        for (int d = first; d <= last; d++)
            for (int m = 1; m < (every > 1 ? 2 : 10); m++) {
                double x = m * pow(10, d), l = log10(x);
                if (l >= s->lo - 1e-9 && l <= s->hi + 1e-9)
                    draw_tick(f, s, x, is_x, m > 1 || (d - first) % every);
            }
        return;
    }
    double step = grid_step(s->hi - s->lo, is_x ? 10 : 8);
    for (double k = ceil(s->lo / step - 1e-9); k <= s->hi / step + 1e-9; k++)
        draw_tick(f, s, fabs(k) < 0.5 ? 0 : k * step, is_x, false);
}

static void draw_curve(const frame *f, const post_val *v, const post_val *axis, size_t index,
                       bool points)
{
    const char *c = color[index % VS_COUNT(color)];
    bool pen = false, any = false;
    double col = NAN, lo = 0, hi = 0,
           last = 0; /* the pixel column under way: its extremes and last value */
    if (!points)
        fprintf(f->out, "<path fill='none' stroke='%s' stroke-width='1.5' d='", c);
    for (int64_t k = 0; k <= v->n; k++) {
        double x = k < v->n ? axis_at(v, axis, k) : NAN, y = k < v->n ? value_at(v, k) : NAN;
        bool ok = k < v->n && usable(x, f->x.log) && usable(y, f->y.log);
        double px = ok ? place(&f->x, x) : NAN, py = ok ? place(&f->y, y) : NAN;
        if (points) {
            if (ok)
                fprintf(f->out, "<circle cx='%.1f' cy='%.1f' r='2' fill='%s'/>\n", px, py, c);
            continue;
        }
        if (ok && any && fabs(px - col) < 0.5) {
            lo = fmin(lo, py);
            hi = fmax(hi, py);
            last = py;
            continue;
        }
        if (any && hi - lo > 0.2)
            fprintf(f->out, "L%.1f %.1fL%.1f %.1fL%.1f %.1f", col, lo, col, hi, col, last);
        any = ok;
        if (!ok) {
            pen = false;
            continue;
        }
        fprintf(f->out, "%c%.1f %.1f", pen ? 'L' : 'M', px, py);
        pen = true;
        col = px;
        lo = hi = last = py;
    }
    if (!points)
        fputs("'/>\n", f->out);
}

static const char *unit_of(const char *type)
{
    static const char *const t[][2] = {{"voltage", "V"},    {"current", "A"},  {"time", "s"},
                                       {"frequency", "Hz"}, {"decibel", "dB"}, {"phase", "rad"},
                                       {"temperature", "C"}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        if (!strcmp(type, t[i][0]))
            return t[i][1];
    return "";
}

static void labels(const frame *f, const post_val *v, size_t n, const post_val *axis,
                   const post_picture *p)
{
    const post_vec *own = post_axis(&v[0]);
    const char *xname = axis ? axis->name : own ? own->name : "index";
    const char *xtype = axis ? axis->type : own ? own->type : "notype";
    const char *xunit = unit_of(xtype), *yunit = unit_of(v[0].type);
    for (size_t i = 1; i < n; i++)
        yunit = strcmp(unit_of(v[i].type), yunit) ? "" : yunit;
    fprintf(f->out, "<text x='%d' y='22' text-anchor='middle' font-size='15'>", f->width / 2);
    put_text(f->out, p->title ? p->title : v[0].plot ? v[0].plot->title : "");
    fprintf(f->out, "</text>\n<text x='%.1f' y='%d' text-anchor='middle'>", f->x.at + f->x.len / 2,
            f->height - 8);
    put_text(f->out, p->xlabel ? p->xlabel : xname);
    if (!p->xlabel && *xunit)
        fprintf(f->out, " [%s]", xunit);
    double mid = f->y.at + f->y.len / 2;
    fprintf(f->out,
            "</text>\n<text transform='translate(16 %.1f) rotate(-90)' text-anchor='middle'>", mid);
    put_text(f->out, p->ylabel ? p->ylabel : yunit);
    fputs("</text>\n", f->out);
    for (size_t i = 0; i < n; i++) {
        double x = f->x.at + 10 + 150 * (double)(i % 4), y = 38 + 14 * (double)(i / 4);
        fprintf(f->out,
                "<path d='M%.1f %.1fh18' stroke='%s' stroke-width='2'/>\n<text x='%.1f' y='%.1f'>",
                x, y, color[i % VS_COUNT(color)], x + 22, y + 4);
        put_text(f->out, v[i].complex ? "|" : "");
        put_text(f->out, v[i].name);
        put_text(f->out, v[i].complex ? "|" : "");
        fputs("</text>\n", f->out);
    }
}

bool post_svg(post_env *e, const post_val *v, size_t n, const post_val *axis, const post_picture *p,
              FILE *out)
{
    int width = p->width > 0 ? p->width : 800, height = p->height > 0 ? p->height : 500;
    double top = 42 + 14 * (double)((n + 3) / 4);
    frame f = {.out = out, .width = width, .height = height};
    f.x = (scale){NAN, NAN, p->xlog, 70, width - 90};
    f.y = (scale){NAN, NAN, p->ylog, height - 45, -(height - 45 - top)};
    int64_t points = 0;
    for (size_t i = 0; i < n; i++)
        for (int64_t k = 0; k < v[i].n; k++) {
            double x = axis_at(&v[i], axis, k), y = value_at(&v[i], k);
            bool seen = usable(x, p->xlog) && usable(y, p->ylog) && !(x < p->xlo) && !(x > p->xhi);
            if (!seen)
                continue;
            widen(&f.x, x);
            widen(&f.y, y);
            points++;
        }
    if (!points)
        return post_fail(e, "there is nothing to draw: no finite values%s",
                         p->xlog || p->ylog ? " above 0" : "");
    close_scale(&f.x, p->xlo, p->xhi);
    close_scale(&f.y, p->ylo, p->yhi);
    round_scale(&f.y, !isnan(p->ylo), !isnan(p->yhi));
    fprintf(out,
            "<?xml version='1.0' encoding='UTF-8'?>\n<svg xmlns='http://www.w3.org/2000/svg' "
            "width='%d' height='%d' "
            "viewBox='0 0 %d %d' font-family='sans-serif' font-size='12'>\n<rect width='100%%' "
            "height='100%%' "
            "fill='white'/>\n",
            width, height, width, height);
    draw_grid(&f, &f.x, true);
    draw_grid(&f, &f.y, false);
    fprintf(out,
            "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='none' "
            "stroke='black'/>\n<clipPath id='c'>"
            "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f'/></clipPath>\n<g "
            "clip-path='url(#c)'>\n",
            f.x.at, f.y.at + f.y.len, f.x.len, -f.y.len, f.x.at, f.y.at + f.y.len, f.x.len,
            -f.y.len);
    for (size_t i = 0; i < n; i++)
        draw_curve(&f, &v[i], axis, i, p->points);
    fputs("</g>\n", out);
    labels(&f, v, n, axis, p);
    fputs("</svg>\n", out);
    return !ferror(out);
}
