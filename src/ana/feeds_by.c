/* feeds_by.c - what gmin alone carries, of derivatives by parameters.
 * A parameter adds -b to rows: the derivative of an output is y' b, and gmin's share of it lambda'
 * b (feeds.c). What a measure takes of several points, or of one by several ways, adds up first. */
#include <math.h>
#include <string.h>

#include "small.h"
#include "vec.h"

typedef struct visitor {
    void (*row)(void *user, int32_t param, int32_t row, double re, double im);
    void *user;
} visitor;

static void visit_source(const small *s, int32_t source, int32_t param, double re, double im,
                         const visitor *v)
{
    const ckt_source_facts f = ckt_source_at(s->a->c, source);
    if (f.is_v) {
        v->row(v->user, param, f.k, re, im);
        return;
    }
    if (f.p)
        v->row(v->user, param, f.p, -re, -im);
    if (f.n)
        v->row(v->user, param, f.n, re, im);
}

/* All that parameters add, as right sides. */
static void visit_all(const small *s, const small_moved *m, const visitor *v)
{
    for (size_t k = 0; k < vec_len(m->entry); k++) {
        const ckt_vary_entry *e = &m->entry[k];
        const double *z = e->col ? m->z + 2 * (size_t)e->col : NULL, cap = m->omega * e->c;
        const double re = z ? e->g * z[0] - cap * z[1] : e->g,
                     im = z ? e->g * z[1] + cap * z[0] : 0;
        v->row(v->user, e->param, e->row, -m->sign * re, -m->sign * im);
    }
    for (size_t k = 0; k < m->n_push; k++)
        visit_source(s, m->push[k].source, m->push[k].param, m->sign * m->push[k].by, 0, v);
    for (size_t k = 0; k < m->n_drive; k++)
        visit_source(s, m->drive[k].source, m->drive[k].param, m->sign * m->drive[k].re,
                     m->sign * m->drive[k].im, v);
}

/* -- shares -- */

typedef struct adding {
    small_shares *to;
    const small_feeds *by;
} adding;

static void add_row(void *user, int32_t param, int32_t row, double re, double im)
{
    const adding *w = user;
    small_feeds_add(w->by, row, re, im, &w->to->sum[param]);
}

typedef struct picking { /* the right side of one parameter */
    int32_t param;
    double *b; /* [2 (n+1)] */
    bool any;
} picking;

static void pick_row(void *user, int32_t param, int32_t row, double re, double im)
{
    picking *w = user;
    if (param != w->param)
        return;
    w->b[2 * row] += re;
    w->b[2 * row + 1] += im;
    w->any = true;
}

static void find_nodes(small_shares *to, small *s, const small_moved *what)
{
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    double *b = NULL;
    for (size_t p = 0; p < to->n; p++) {
        if (to->node[p] || !(small_feeds_share(&to->sum[p]) > 0))
            continue;
        if (!b)
            b = vs_calloc(n2, sizeof *b);
        picking w = {.param = (int32_t)p, .b = b};
        memset(b, 0, n2 * sizeof *b);
        visit_all(s, what, &(visitor){pick_row, &w});
        to->node[p] = w.any ? small_fed_node(s, b) : 0;
    }
    vs_free(b);
}

void small_shares_begin(small_shares *w, size_t n)
{
    *w = (small_shares){.n = n};
    w->sum = vs_calloc(n + 1, sizeof *w->sum);
    w->node = vs_calloc(n + 1, sizeof *w->node);
}

void small_shares_end(small_shares *w)
{
    vs_free(w->sum);
    vs_free(w->node);
}

void small_shares_add(small_shares *to, const small_feeds *by, small *s, const small_moved *what)
{
    adding w = {to, by};
    if (!by->any)
        return;
    visit_all(s, what, &(visitor){add_row, &w});
    find_nodes(to, s, what);
}

void small_shares_add_value(small_shares *to, size_t param, double share)
{
    to->sum[param].re += share;
    to->sum[param].terms += fabs(share);
}

void small_shares_value(const small_shares *w, size_t param, double *re, double *im)
{
    const bool any = small_feeds_share(&w->sum[param]) > 0;
    *re = any ? w->sum[param].re : 0;
    *im = any ? w->sum[param].im : 0;
}

/* -- judgement -- */

static const char *fed_by(const small_shares *w, const small *s, size_t p)
{
    return w->node[p] ? ana_unknown_text(s->a, w->node[p]) : "a part that nothing joins to ground";
}

void small_shares_judge(const small_shares *w, const small *s, const char *const *name,
                        double *value)
{
    diag *d = s->a->d;
    size_t part = w->n, none = w->n; /* the first of each */
    for (size_t p = 0; p < w->n; p++) {
        const double share = small_feeds_share(&w->sum[p]), size = fabs(value[p]);
        if (small_feeds_are_all(share, size)) {
            none = none < w->n ? none : p;
            value[p] = NAN;
        } else if (share > s->a->opt.reltol * size && part == w->n) {
            part = p;
        }
    }
    if (none < w->n)
        diag_warning(d, DIAG_NOWHERE,
                     "nothing but gmin carries what '%s' feeds into %s: for it, and for others of "
                     "the kind, the result is nan",
                     name[none], fed_by(w, s, none));
    if (part < w->n)
        diag_warning(d, DIAG_NOWHERE,
                     "%.2g %% of the derivative by '%s' is of what flows into %s, which gmin alone "
                     "carries",
                     100 * small_feeds_share(&w->sum[part]) / fabs(value[part]), name[part],
                     fed_by(w, s, part));
}
