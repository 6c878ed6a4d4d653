/* xf.c - transfer from every independent source to one output, by one adjoint solution: with
 * (G + j omega C)' y = c, c the output's unit vector, the output per unit of a source that drives
 * the rows b is b' y, whatever their number. dc: of the static equations, omega = 0.
 * Source: Director & Rohrer, IEEE Trans. Circuit Theory 16(3), 1969. */
#include <math.h>
#include <string.h>

#include "small.h"

typedef struct xf {
    small s;
    const ana_output *out;
    const ana_table *t;
    bool ac;
    double *y;   /* [2 (n+1)] */
    double *b;   /* [2 (n+1)] a source */
    double *row; /* vec */
    small_feeds feeds;
} xf;

static vs_status begin(xf *w)
{
    const ana_table *t = w->t;
    const ckt *c = w->s.a->c;
    ana_column *col = NULL;
    if (w->ac)
        vec_push(col, ((ana_column){"frequency", "frequency"}));
    for (int32_t i = 0; i < ckt_n_source(c); i++)
        vec_push(col,
                 ((ana_column){ckt_source_at(c, i).name, w->out->current ? "current" : "voltage"}));
    const vs_status st =
        t->begin(t->user, w->ac ? "AC Transfer Functions" : "DC Transfer Functions", col,
                 (int32_t)vec_len(col), w->ac);
    vec_free(col);
    return st;
}

/* Whether gmin alone carries what the source feeds into a part: there is no transfer then. A share
 * is told. */
static bool is_open(xf *w, int32_t i, double transfer, double f)
{
    small_feeds_sum sum = {0};
    if (!w->feeds.any)
        return false;
    small_feeds_add_source(&w->feeds, &w->s, i, &sum);
    const small_answer v = {.f = f,
                            .value = transfer,
                            .share = small_feeds_share(&sum),
                            .b = w->b,
                            .what = "the gain from"};
    if (small_feeds_will_tell(&w->feeds, &w->s, &v))
        small_drive(&w->s, i, w->b);
    return small_feeds_is_none(&w->feeds, &w->s, &v, ckt_source_at(w->s.a->c, i).name);
}

static void add_source(xf *w, int32_t i, double hz)
{
    const ckt_source_facts f = ckt_source_at(w->s.a->c, i);
    double to[2]; /* the transfer, real and imaginary part */
    for (int part = 0; part < 2; part++) {
        const double *y = w->y + part;
        to[part] = f.is_v ? y[2 * f.k] : f.m * (y[2 * f.n] - y[2 * f.p]);
    }
    const bool open = is_open(w, i, hypot(to[0], to[1]), hz);
    for (int part = 0; part < 1 + w->ac; part++)
        vec_push(w->row, open ? NAN : to[part]);
}

static vs_status at_frequency(void *work, double f)
{
    xf *w = work;
    const vs_status st = small_factor(&w->s, 2 * acos(-1) * f);
    if (st != VS_OK)
        return st;
    small_adjoint(&w->s, w->out, w->y);
    small_solve_t(&w->s, w->y);
    small_feeds_tell_level(&w->feeds, &w->s, w->out, w->y);
    (void)small_feeds_of(&w->feeds, &w->s, w->y);
    vec_clear(w->row);
    if (w->ac) {
        vec_push(w->row, f);
        vec_push(w->row, 0.0);
    }
    for (int32_t i = 0; i < ckt_n_source(w->s.a->c); i++)
        add_source(w, i, f);
    return w->t->row(w->t->user, w->row);
}

vs_status ana_xf(ana *a, const ana_output *out, const ana_freq *freq, const ana_table *t)
{
    xf w = {.out = out, .t = t, .ac = freq != NULL};
    vs_status st = freq ? small_begin(&w.s, a, false) : small_begin_static(&w.s, a);
    w.y = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.y);
    w.b = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.b);
    if (st == VS_OK && !ckt_n_source(a->c)) {
        diag_error(a->d, DIAG_NOWHERE, "the circuit has no independent source");
        st = VS_EINPUT;
    }
    if (st == VS_OK)
        st = begin(&w);
    if (st == VS_OK)
        st = freq_plot_of(a, freq, at_frequency, &w, t);
    small_fini(&w.s);
    vs_free(w.y);
    vs_free(w.b);
    small_feeds_fini(&w.feeds);
    vec_free(w.row);
    return st;
}
