/* ckt_line.c - see ckt_line.h. */
#include "ckt_line.h"

#include <math.h>
#include <string.h>

#define CORNER_RATIO 0.02   /* a slope that changes by less, relative, is no corner */
#define CORNER_VOLT 1e-6    /* nor one that moves the wave by less than this part of its largest value in td */

#define SHORT 1e-9          /* resistance in dc, part of z: a line from a port to itself has a solution */

typedef struct point { /* of the history */
    double t, a[2];    /* v + z i of port 1, 2 */
    bool corner;
} point;

typedef struct line {
    const char *name;
    int32_t node[4];   /* p1 n1 p2 n2 */
    int32_t k[2];      /* current unknowns */
    double z, td, m;
    diag_span span;
    int32_t slot[16];  /* (p1,k1) (n1,k1) (p2,k2) (n2,k2); row k1: p1 n1 k1 p2 n2 k2; row k2 likewise */
    point *past;       /* vec; oldest first */
    double *brk;       /* vec; pending breakpoints, ascending */
    double size;       /* largest |a| so far */
    double t_last, e[2]; /* incident waves at t_last; NAN: none yet */
} line;

struct ckt_lines {
    line *line; /* vec */
};

static line *lines_of(const ckt *c)
{
    return c->lines ? c->lines->line : NULL;
}

bool ckt_has_line(const ckt *c)
{
    return vec_len(lines_of(c)) > 0;
}

bool ckt_has_delays(const ckt *c)
{
    return ckt_has_line(c);
}

void ckt_line_free(ckt *c)
{
    line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        vec_free(all[i].past);
        vec_free(all[i].brk);
    }
    vec_free(all);
}

vs_status ckt_add_line(ckt *c, const char *name, const int32_t node[4], double z, double td, double m,
                       diag_span span)
{
    assert(!c->finished && z > 0 && td > 0);
    if (!c->lines)
        c->lines = arena_new(&c->mem, ckt_lines);
    line l = {.name = ckt_own_name(c, name), .z = z, .td = td, .m = m, .span = span, .t_last = NAN};
    memcpy(l.node, node, sizeof l.node);
    for (int p = 0; p < 2; p++)
        l.k[p] = ckt_new_unknown(c, arena_printf(&c->mem, "%s#i%d", name, p + 1), CKT_CURRENT, true, false);
    vec_push(c->lines->line, l);
    return VS_OK;
}

bool ckt_line_at(const ckt *c, int32_t i, const int32_t **node, const char **name, diag_span *span)
{
    line *all = lines_of(c);
    if (i >= (int32_t)vec_len(all))
        return false;
    *node = all[i].node;
    *name = all[i].name;
    *span = all[i].span;
    return true;
}

/* -- pattern -- */

/* Entry k of a line in the order of line.slot. */
static ckt_entry entry(const line *l, int k)
{
    if (k < 4)
        return ckt_entry_of(l->node[k], l->k[k / 2]);
    const int row = (k - 4) / 6, j = (k - 4) % 6;
    const int port = j < 3 ? row : 1 - row;
    const int32_t col = j % 3 == 2 ? l->k[port] : l->node[2 * port + j % 3];
    return ckt_entry_of(l->k[row], col);
}

void ckt_line_entries(const ckt *c, ckt_entry **e)
{
    const line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all); i++)
        for (int k = 0; k < 16; k++)
            vec_push(*e, entry(&all[i], k));
}

void ckt_line_place(ckt *c)
{
    line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all); i++)
        for (int k = 0; k < 16; k++) {
            const ckt_entry e = entry(&all[i], k);
            all[i].slot[k] = ckt_slot_of(&c->a, ckt_entry_row(e), ckt_entry_col(e));
        }
}

/* -- history -- */

/* Index k with past[k].t <= t < past[k+1].t; the first or last interval if t lies outside. */
static size_t interval(const line *l, double t)
{
    size_t lo = 0, hi = vec_len(l->past) - 1;
    while (hi - lo > 1) {
        const size_t mid = (lo + hi) / 2;
        if (l->past[mid].t <= t)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Newton's form of the parabola through three points. */
static double parabola(const point *p0, const point *p1, const point *p2, int port, double t)
{
    const double d01 = (p1->a[port] - p0->a[port]) / (p1->t - p0->t);
    const double d12 = (p2->a[port] - p1->a[port]) / (p2->t - p1->t);
    return p0->a[port] + (t - p0->t) * (d01 + (t - p1->t) * (d12 - d01) / (p2->t - p0->t));
}

static double wave_at_time(const line *l, int port, double t)
{
    const size_t n = vec_len(l->past);
    const point *p = l->past;
    if (n == 0)
        return 0;
    if (t <= p[0].t || n == 1)
        return p[0].a[port];
    if (t >= p[n - 1].t)
        return p[n - 1].a[port];
    const size_t k = interval(l, t);
    if (k > 0 && !p[k].corner)
        return parabola(&p[k - 1], &p[k], &p[k + 1], port, t);
    if (k + 2 < n && !p[k + 1].corner)
        return parabola(&p[k], &p[k + 1], &p[k + 2], port, t);
    return p[k].a[port] + (p[k + 1].a[port] - p[k].a[port]) * (t - p[k].t) / (p[k + 1].t - p[k].t);
}

/* e_1, e_2 at a time; the same time as in the last call costs nothing. */
static const double *incident(line *l, double t)
{
    if (l->t_last != t) {
        l->e[0] = wave_at_time(l, 1, t - l->td);
        l->e[1] = wave_at_time(l, 0, t - l->td);
        l->t_last = t;
    }
    return l->e;
}

/* -- loads -- */

static void add(double *sum, double *max, int32_t row, double v)
{
    sum[row] += v;
    if (fabs(v) > max[row])
        max[row] = fabs(v);
}

static void load_static(const line *l, const double *x, double *f, double *fmax, double *val)
{
    const int32_t *n = l->node, *k = l->k;
    for (int j = 0; j < 4; j++)
        add(f, fmax, k[0], (j == 0 || j == 3 ? 1 : -1) * x[n[j]]);
    add(f, fmax, k[0], -SHORT * l->z * x[k[0]]);
    add(f, fmax, k[1], l->z * x[k[0]]);
    add(f, fmax, k[1], l->z * x[k[1]]);
    val[l->slot[4]] += 1, val[l->slot[5]] -= 1;  /* row k1: v_1 - v_2 */
    val[l->slot[7]] -= 1, val[l->slot[8]] += 1;
    val[l->slot[6]] -= SHORT * l->z;
    val[l->slot[12]] += l->z, val[l->slot[15]] += l->z; /* row k2: i_1 + i_2 */
}

static void load_tran(line *l, double t, const double *x, double *f, double *fmax, double *val)
{
    const double *e = incident(l, t);
    for (int p = 0; p < 2; p++) {
        const int32_t *n = &l->node[2 * p], k = l->k[p], *slot = &l->slot[4 + 6 * p];
        add(f, fmax, k, x[n[0]]);
        add(f, fmax, k, -x[n[1]]);
        add(f, fmax, k, -l->z * x[k]);
        add(f, fmax, k, -e[p]);
        val[slot[0]] += 1;
        val[slot[1]] -= 1;
        val[slot[2]] -= l->z;
    }
}

static void load_currents(const line *l, const double *x, double *f, double *fmax, double *val)
{
    for (int j = 0; j < 4; j++) {
        const double sign = j % 2 ? -l->m : l->m;
        add(f, fmax, l->node[j], sign * x[l->k[j / 2]]);
        val[l->slot[j]] += sign;
    }
}

void ckt_line_load(ckt *c, const ckt_env *env, const double *x, double *f, double *fmax, double *bound)
{
    line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        line *l = &all[i];
        load_currents(l, x, f, fmax, c->a.val);
        if (env->mode == CKT_STATIC)
            load_static(l, x, f, fmax, c->a.val);
        else
            load_tran(l, env->time, x, f, fmax, c->a.val);
        if (l->td / 2 < *bound) /* a corner is seen one point later, which must not be td later */
            *bound = l->td / 2;
    }
}

void ckt_line_source_terms(ckt *c, const ckt_env *env, double *s)
{
    line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all) && env->mode == CKT_TRAN; i++) {
        const double *e = incident(&all[i], env->time);
        s[all[i].k[0]] -= e[0];
        s[all[i].k[1]] -= e[1];
    }
}

void ckt_line_load_ac(const ckt *c, double *g)
{
    const line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        const line *l = &all[i];
        for (int j = 0; j < 4; j++)
            g[l->slot[j]] += j % 2 ? -l->m : l->m;
        for (int p = 0; p < 2; p++) {
            g[l->slot[4 + 6 * p]] += 1;
            g[l->slot[5 + 6 * p]] -= 1;
            g[l->slot[6 + 6 * p]] -= l->z;
        }
    }
}

void ckt_ac_delays(const ckt *c, double omega, double *val)
{
    const line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        const line *l = &all[i];
        const double e[2] = {cos(omega * l->td), -sin(omega * l->td)};
        for (int p = 0; p < 2; p++)
            for (int j = 0; j < 3; j++) {
                const int32_t s = l->slot[7 + 6 * p + j];
                const double w = j == 0 ? 1 : j == 1 ? -1 : l->z;
                if (s < csc_nnz(&c->a)) {
                    val[2 * s] -= w * e[0];
                    val[2 * s + 1] -= w * e[1];
                }
            }
    }
}

/* -- accepted points -- */

/* A corner at point n-2 is one if the slope of a wave changed there; before the first point it was 0. */
static void note_corner(line *l)
{
    const size_t n = vec_len(l->past);
    if (n < 2 || !l->past[n - 2].corner)
        return;
    const point *p1 = &l->past[n - 2], *p2 = &l->past[n - 1], *p0 = n > 2 ? p1 - 1 : NULL;
    for (int port = 0; port < 2; port++) {
        const double right = (p2->a[port] - p1->a[port]) / (p2->t - p1->t);
        const double left = p0 ? (p1->a[port] - p0->a[port]) / (p1->t - p0->t) : 0;
        const double change = fabs(right - left);
        if (change <= CORNER_RATIO * fmax(fabs(left), fabs(right)) || change * l->td <= CORNER_VOLT * l->size)
            continue;
        vec_push(l->brk, p1->t + l->td);
        return;
    }
}

/* Points that no later time looks at go, half of the history at a time. */
static void forget(line *l, double t)
{
    const size_t n = vec_len(l->past), half = n / 2;
    if (n < 64 || l->past[half + 2].t >= t - l->td)
        return;
    memmove(l->past, l->past + half, (n - half) * sizeof *l->past);
    vec_head_of(l->past)->len = n - half;
    size_t k = 0;
    while (k < vec_len(l->brk) && l->brk[k] < t)
        k++;
    if (k) {
        memmove(l->brk, l->brk + k, (vec_len(l->brk) - k) * sizeof *l->brk);
        vec_head_of(l->brk)->len -= k;
    }
}

void ckt_line_accept(ckt *c, const ckt_env *env, const double *x, bool corner)
{
    line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all) && env->mode == CKT_TRAN; i++) {
        line *l = &all[i];
        if (env->initial_step) {
            vec_clear(l->past);
            vec_clear(l->brk);
            l->size = 0;
        }
        point p = {.t = env->time, .corner = corner || env->initial_step};
        for (int j = 0; j < 2; j++) {
            p.a[j] = x[l->node[2 * j]] - x[l->node[2 * j + 1]] + l->z * x[l->k[j]];
            l->size = fmax(l->size, fabs(p.a[j]));
        }
        vec_push(l->past, p);
        l->t_last = NAN;
        note_corner(l);
        forget(l, env->time);
    }
}

double ckt_line_next_break(const ckt *c, double t)
{
    double best = INFINITY;
    const line *all = lines_of(c);
    for (size_t i = 0; i < vec_len(all); i++)
        for (size_t k = 0; k < vec_len(all[i].brk); k++)
            if (all[i].brk[k] > t) {
                best = fmin(best, all[i].brk[k]);
                break;
            }
    return best;
}
