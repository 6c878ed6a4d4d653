/* chart_round.c - Smith and polar charts: the complex plane inside a circle.
 * Source: P. H. Smith, "Transmission Line Calculator", Electronics 12(1), 1939: with reflection g
 *         and normalised impedance z = (1 + g)/(1 - g), Re z = r is the circle around r/(1 + r)
 *         with radius 1/(1 + r), Im z = x the one around 1 + j/x with radius 1/|x|. */
#include <math.h>
#include <string.h>

#include "chart_priv.h"

typedef struct plane {
    chart_surface *s;
    double x, y, r; /* the origin, and half the side */
    double most;    /* modulus at the rim */
} plane;

static const double TURN = 6.283185307179586;

/* The part of a circle that lies inside the rim. */
static void arc(const plane *p, double re, double im, double radius, const chart_pen *pen)
{
    double *xy = NULL;
    const int n = 180;
    for (int k = 0; k <= n; k++) {
        const double a = TURN * k / n, u = re + radius * cos(a), v = im + radius * sin(a);
        if (hypot(u, v) <= p->most * (1 + 1e-9)) {
            vec_push(xy, p->x + p->r * u / p->most);
            vec_push(xy, p->y - p->r * v / p->most);
        }
        if ((hypot(u, v) > p->most * (1 + 1e-9) || k == n) && vec_len(xy)) {
            p->s->path(p->s, xy, vec_len(xy) / 2, pen);
            vec_clear(xy);
        }
    }
    vec_free(xy);
}

static void write_at(const plane *p, double re, double im, const chart_theme *t, const char *text)
{
    p->s->text(p->s, p->x + p->r * re / p->most, p->y - p->r * im / p->most, 0.5, false, 0.8,
               t->text, text);
}

static void smith_grid(const plane *p, const chart_theme *t)
{
    static const double value[] = {0.2, 0.5, 1, 2, 5};
    const chart_pen thin = {.rgb = t->grid, .width = 0.8}, rim = {.rgb = t->frame, .width = 1};
    char text[16];
    for (size_t i = 0; i < VS_COUNT(value) && p->s->grid; i++) {
        const double v = value[i], angle = 2 * atan2(1, v);
        arc(p, v / (1 + v), 0, 1 / (1 + v), &thin);
        snprintf(text, sizeof text, "%g", v);
        write_at(p, (v - 1) / (v + 1), 0.015, t, text);
        for (int sign = -1; sign <= 1; sign += 2) {
            double *xy = NULL;
            /* from g = 1 to the rim: r from infinity to 0 at z = r + j v */
            for (int k = 0; k <= 90; k++) {
                const double r = tan(TURN / 4 * (1 - k / 90.0) * 0.99999),
                             d = (r + 1) * (r + 1) + v * v;
                vec_push(xy, p->x + p->r * ((r * r - 1 + v * v) / d) / p->most);
                vec_push(xy, p->y - p->r * (sign * 2 * v / d) / p->most);
            }
            p->s->path(p->s, xy, vec_len(xy) / 2, &thin);
            vec_free(xy);
            snprintf(text, sizeof text, "%sj%g", sign < 0 ? "-" : "", v);
            write_at(p, 1.06 * cos(angle), sign * 1.06 * sin(angle) - 0.02, t, text);
        }
    }
    arc(p, 0, 0, 1, &rim);
    p->s->path(p->s, (double[]){p->x - p->r / p->most, p->y, p->x + p->r / p->most, p->y}, 2, &rim);
}

static void polar_grid(const plane *p, const chart_theme *t)
{
    const chart_pen thin = {.rgb = t->grid, .width = 0.8}, rim = {.rgb = t->frame, .width = 1};
    char text[32];
    for (int k = 1; k <= 4; k++) {
        if (p->s->grid || k == 4)
            arc(p, 0, 0, p->most * k / 4, k == 4 ? &rim : &thin);
        chart_engineering(text, sizeof text, p->most * k / 4);
        if (p->s->grid)
            write_at(p, p->most * k / 4, 0.01 * p->most, t, text);
    }
    for (int a = 0; a < 360; a += 30) {
        const double c = cos(TURN * a / 360), s = sin(TURN * a / 360);
        if (p->s->grid)
            p->s->path(p->s, (double[]){p->x, p->y, p->x + p->r * c, p->y - p->r * s}, 2, &thin);
        snprintf(text, sizeof text, "%d°", a > 180 ? a - 360 : a);
        write_at(p, 1.07 * p->most * c, 1.07 * p->most * s - 0.02 * p->most, t, text);
    }
}

static double greatest(const chart_panel *p)
{
    double most = 0;
    for (size_t i = 0; i < p->n_curve; i++)
        for (int64_t k = 0; k < p->curve[i].n; k++) {
            const double m = hypot(p->curve[i].x[k], p->curve[i].y[k]);
            most = isfinite(m) && m > most ? m : most;
        }
    return most;
}

/* Draws a curve that goes to and fro, so not by columns: leaves out points that are nearer to the
 * one before than the eye sees. */
static void draw(const plane *p, const chart_curve *c, chart_style style, uint32_t rgb)
{
    const chart_pen pen = {.rgb = rgb, .width = 1.5};
    double *xy = NULL;
    for (int64_t k = 0; k <= c->n; k++) {
        const bool ok = k < c->n && isfinite(c->x[k]) && isfinite(c->y[k]);
        const double x = ok ? p->x + p->r * fmin(fmax(c->x[k] / p->most, -10), 10) : 0,
                     y = ok ? p->y - p->r * fmin(fmax(c->y[k] / p->most, -10), 10) : 0;
        const size_t n = vec_len(xy);
        if (ok && n && k + 1 < c->n && hypot(x - xy[n - 2], y - xy[n - 1]) < p->s->fine)
            continue;
        if (ok && style != CHART_LINES)
            p->s->dot(p->s, x, y, 2, rgb);
        if (ok) {
            vec_push(xy, x);
            vec_push(xy, y);
        } else if (n) {
            if (n == 2)
                p->s->dot(p->s, xy[0], xy[1], 2, rgb);
            else if (style != CHART_POINTS)
                p->s->path(p->s, xy, n / 2, &pen);
            vec_clear(xy);
        }
    }
    vec_free(xy);
}

void chart_draw_round(chart_surface *s, const chart_panel *p, const chart_theme *t, bool dark,
                      double x, double y, double r)
{
    plane g = {s, x, y, r - 1.6 * s->line, 1};
    const double most = fmin(greatest(p), 1e300); /* products with it are finite */
    if (p->kind == CHART_SMITH && most > 1) {     /* active devices: the plane beyond the circle */
        g.most = most * 1.02;
    } else if (p->kind == CHART_POLAR && most > 0) {
        const double step = pow(10, floor(log10(most) + 1e-12));
        const double round = ceil(most / step / 0.4 - 1e-9) * 0.4 * step;
        g.most = round > 0 && round < INFINITY ? round : most; /* the step of 1e-323 is 0 */
    }
    if (p->kind == CHART_SMITH)
        smith_grid(&g, t);
    else
        polar_grid(&g, t);
    s->clip(s, x - r, y - r, 2 * r, 2 * r);
    for (size_t i = 0; i < p->n_curve; i++)
        draw(&g, &p->curve[i], p->style, chart_colour(&p->curve[i], dark));
    s->clip(s, 0, 0, 0, 0);
    for (size_t i = 0; i < p->n_mark; i++) {
        const double mx = g.x + g.r * p->mark[i].x / g.most, my = g.y - g.r * p->mark[i].y / g.most;
        s->dot(s, mx, my, 3, t->text);
        s->text(s, mx + s->em, my, 0, false, 0.9, t->text, p->mark[i].text);
    }
}
