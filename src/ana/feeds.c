/* feeds.c - what gmin alone carries, in small signals.
 * An isolated part has a shunt of g from a node p to ground: A = A0 + g e_p e_p', where A0 is
 * singular if nothing else joins the part to ground: A0' l = 0 with l = 1 in its rows. Of a right
 * side b,
 *   I = l' b  flows into the part and leaves it by the shunt: I = g z_p, A z = b.
 * An output c has of it I y_p, A' y = c; gmin in place of g would bring I y_p g / gmin. Besides, p
 * was chosen: were it q, from where I leaves, I (y_q - y_p) would come to it. So
 *   share of b = | sum over parts of I s_p |,  s_p = y_p g / gmin + y_q - y_p,
 * q the node of the part where that differs most. As I = g e_p' A^-1 b, one more solution has the
 * shares of all b:
 *   share of b = | lambda' b |,  A' lambda = sum over parts of g s_p e_p.
 * What enters and leaves a part between its nodes is I = 0. */
#include <math.h>
#include <string.h>

#include "small.h"

/* Sums of terms that cancel to this part are 0. */
static const double rounding = 1e-9;
/* gmin of so many devices, by which what is outside of a part moves it, is no feed: A per V. */
static const double many_devices = 100;
/* Of an output, from which on gmin's share makes it none. */
static const double most_share = 0.5;
/* What gmin carries from a part is refused above `least`, A, and `least_share` of the currents
 * between its nodes: feeds in balance leave rounding there, and gmin of devices. */
static const double least = 1e-12, least_share = 1e-6;

static double gmin_of(const small *s) { return ckt_shunt(s->a->opt.gmin); }

static double size_of(const double *v, int32_t i) { return hypot(v[2 * i], v[2 * i + 1]); }

static double distance(const double *v, int32_t i, int32_t j)
{
    return hypot(v[2 * i] - v[2 * j], v[2 * i + 1] - v[2 * j + 1]);
}

bool small_next_level(const small *s, size_t *i, ckt_level *l)
{
    const ckt_env env = s->env ? *s->env : small_env(s->a);
    while (ckt_next_level(s->a->c, &env, s->still, i, l))
        for (int32_t k = 0; k < l->n; k++)
            if (!s->a->u[l->of[k]].internal)
                return true;
    return false;
}

bool small_has_levels(const small *s)
{
    size_t i = 0;
    ckt_level l;
    return small_next_level(s, &i, &l);
}

/* -- outputs -- */

bool small_feeds_seed(small_feeds *w, const small *s, const ckt_level *l, const double *y,
                      size_t stride, const double *level, double *seed)
{
    const double *p = y + stride * (size_t)(l->node - 1), *q = p;
    double far = 0;
    for (int32_t k = 0; k < l->n; k++) {
        const double *at = y + stride * (size_t)(l->of[k] - 1);
        const double d = hypot(at[0] - p[0], at[1] - p[1]);
        q = d > far ? at : q;
        far = fmax(far, d);
    }
    for (int part = 0; part < 2; part++)
        seed[part] = (level ? level : p)[part] * (l->siemens / gmin_of(s)) + (q[part] - p[part]);
    const double size = hypot(seed[0], seed[1]), least_now = many_devices * gmin_of(s) * size;
    w->any |= size > 0;
    w->node = least_now > w->least ? l->node : w->node;
    w->least = fmax(w->least, least_now);
    for (int part = 0; part < 2; part++)
        seed[part] *= l->siemens;
    return size > 0;
}

double small_feeds_level(const ckt_level *l, const small_columns *by, bool *inside, const double *y,
                         size_t stride)
{
    const csc *j = by->jac;
    double sum = 0;
    for (int32_t i = 0; i < l->n; i++)
        inside[l->of[i] - 1] = true;
    for (int32_t i = 0; i < l->n; i++) {
        const int32_t c = l->of[i] - 1;
        sum += by->v ? by->scale * by->v[stride * (size_t)c] : 0;
        for (int32_t p = j->colptr[c]; p < j->colptr[c + 1]; p++)
            if (!inside[j->row[p]])
                sum -= by->g[p] * y[stride * (size_t)j->row[p]];
    }
    for (int32_t i = 0; i < l->n; i++)
        inside[l->of[i] - 1] = false;
    return sum / l->siemens;
}

void small_feeds_clear(small_feeds *w)
{
    w->any = false;
    w->least = 0;
    w->node = 0;
}

bool small_feeds_of(small_feeds *w, small *s, const double *y)
{
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    ckt_level l;
    small_feeds_clear(w);
    for (size_t i = 0; small_next_level(s, &i, &l);) {
        const bool first = !w->any;
        double seed[2];
        if (!small_feeds_seed(w, s, &l, y + 2, 2, NULL, seed))
            continue;
        if (!w->lambda)
            w->lambda = vs_calloc(n2, sizeof *w->lambda);
        if (first)
            memset(w->lambda, 0, n2 * sizeof *w->lambda);
        w->lambda[2 * l.node] += seed[0];
        w->lambda[2 * l.node + 1] += seed[1];
    }
    if (w->any)
        small_solve_t(s, w->lambda);
    return w->any;
}

void small_feeds_follow(small_feeds *w, const small *s, const double *lambda)
{
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    if (!w->lambda)
        w->lambda = vs_calloc(n2, sizeof *w->lambda);
    if (!w->any)
        memset(w->lambda, 0, n2 * sizeof *w->lambda);
    for (size_t i = 0; i < n2; i++)
        w->lambda[i] += lambda[i];
    w->any = true;
}

void small_feeds_fini(small_feeds *w) { vs_free(w->lambda); }

void small_feeds_add(const small_feeds *w, int32_t row, double re, double im, small_feeds_sum *to)
{
    small_feeds_add_term(to, w->lambda + 2 * (size_t)row, re, im, w->least);
}

void small_feeds_add_source(const small_feeds *w, const small *s, int32_t source,
                            small_feeds_sum *to)
{
    const ckt_source_facts f = ckt_source_at(s->a->c, source);
    if (f.is_v)
        small_feeds_add(w, f.k, 1, 0, to);
    for (int side = 0; side < 2 && !f.is_v; side++)
        if (side ? f.n : f.p)
            small_feeds_add(w, side ? f.n : f.p, side ? f.m : -f.m, 0, to);
}

double small_feeds_share(const small_feeds_sum *sum)
{
    const double share = hypot(sum->re, sum->im);
    return share > fmax(rounding * sum->terms, sum->least) ? share : 0;
}

double small_feeds_share_of(const small_feeds *w, const small *s, const double *b)
{
    small_feeds_sum sum = {0};
    for (int32_t i = 1; i <= s->a->n; i++)
        if (b[2 * i] != 0 || b[2 * i + 1] != 0)
            small_feeds_add(w, i, b[2 * i], b[2 * i + 1], &sum);
    return small_feeds_share(&sum);
}

/* Of a source of noise, of a unit density. */
static double share_of_noise(const small_feeds *w, const ckt_noise *s, const ckt_noise_gain *gain,
                             double omega)
{
    small_feeds_sum sum = {0};
    for (int32_t k = s->first; k < s->end; k++)
        small_feeds_add(w, gain[k].row, gain[k].rate ? 0 : gain[k].gain,
                        gain[k].rate ? omega * gain[k].gain : 0, &sum);
    return small_feeds_share(&sum);
}

int32_t small_fed_node(small *s, const double *b)
{
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    double *z = vs_calloc(n2, sizeof *z), most = 0;
    int32_t node = 0;
    ckt_level l;
    memcpy(z, b, n2 * sizeof *z);
    small_solve(s, z);
    for (size_t i = 0; small_next_level(s, &i, &l);)
        if (!node || l.siemens * size_of(z, l.node) > most) {
            node = l.node;
            most = l.siemens * size_of(z, node);
        }
    vs_free(z);
    return node;
}

static void note_balance(ana *a)
{
    diag_note(a->d, DIAG_NOWHERE,
              "what flows into the nodes that are joined to it has no way back: their feeds "
              "are not in balance");
}

/* More than tolerances allow. */
static bool feeds_matter(const small *s, double share, double value)
{
    return share > s->a->opt.reltol * value;
}

bool small_feeds_are_all(double share, double value)
{
    return share > 0 && share > most_share * value;
}

/* all: no answer is left, and that is an error. */
static void tell_share(small_feeds *w, small *s, const small_answer *v, bool all)
{
    ana *a = s->a;
    w->told = true;
    const char *who = ana_unknown_text(a, v->b ? small_fed_node(s, v->b) : v->node);
    const char *at = s->still ? "" : arena_printf(&a->d->mem, " at %.6g Hz", v->f);
    if (all)
        diag_error(a->d, DIAG_NOWHERE,
                   "no solution%s: %s is of what flows into %s, which gmin alone carries", at,
                   v->what, who);
    else
        diag_warning(a->d, DIAG_NOWHERE,
                     "%.2g %% of %s%s is of what flows into %s, which gmin alone carries",
                     100 * v->share / v->value, v->what, at, who);
    note_balance(a);
}

vs_status small_feeds_judge(small_feeds *w, small *s, const small_answer *v)
{
    const bool all = small_feeds_are_all(v->share, v->value);
    if (!feeds_matter(s, v->share, v->value) || (w->told && !all))
        return VS_OK;
    tell_share(w, s, v, all);
    return all ? VS_ESINGULAR : VS_OK;
}

vs_status small_feeds_judge_noise(small_feeds *w, small *s, const small_answer *v, double *b)
{
    const double omega = 2 * acos(-1) * v->f;
    size_t n, loudest = 0;
    const ckt_noise_gain *gain;
    const ckt_noise *source = ckt_noises(s->a->c, &n, &gain);
    double all = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const double share = share_of_noise(w, &source[i], gain, omega);
        const double d =
            share > 0 ? ckt_noise_density(s->a->c, &source[i], v->f) * share * share : 0;
        all += d;
        loudest = d > most ? i : loudest;
        most = fmax(most, d);
    }
    if (!(all > 0))
        return VS_OK;
    small_noise_drive(s, &source[loudest], gain, omega, b);
    small_answer of = *v;
    of.share = sqrt(all);
    of.b = b;
    return small_feeds_judge(w, s, &of);
}

void small_feeds_tell_none(small_feeds *w, small *s, const double *b, const char *source)
{
    if (!w->told_none)
        diag_warning(s->a->d, DIAG_NOWHERE,
                     "nothing but gmin carries what '%s' feeds into %s: for it, and for others of "
                     "the kind, the result is nan",
                     source, ana_unknown_text(s->a, b ? small_fed_node(s, b) : w->node));
    w->told_none = true;
}

bool small_feeds_will_tell(const small_feeds *w, const small *s, const small_answer *v)
{
    return small_feeds_are_all(v->share, v->value)
               ? !w->told_none
               : !w->told && feeds_matter(s, v->share, v->value);
}

bool small_feeds_is_none(small_feeds *w, small *s, const small_answer *v, const char *name)
{
    small_answer of = *v;
    const bool none = small_feeds_are_all(v->share, v->value);
    if (!small_feeds_will_tell(w, s, v))
        return none;
    if (none) {
        small_feeds_tell_none(w, s, v->b, name);
    } else {
        of.what = arena_printf(&s->a->d->mem, "%s '%s'", v->what, name);
        tell_share(w, s, &of, false);
    }
    return none;
}

/* Whether the output has one node in the part. */
static bool is_across(const ckt_level *l, const ana_output *o)
{
    int in = 0;
    for (int32_t k = 0; k < l->n; k++)
        in += (l->of[k] == o->hi) + (l->of[k] == o->lo);
    return in == 1;
}

void small_feeds_tell_level(small_feeds *w, small *s, const ana_output *o, const double *y)
{
    ckt_level l;
    for (size_t i = 0; !w->told_level && !o->current && small_next_level(s, &i, &l);) {
        const bool seen = y ? l.siemens * size_of(y, l.node) > most_share : is_across(&l, o);
        if (l.n < 2 || !seen)
            continue;
        w->told_level = true;
        diag_warning(s->a->d, DIAG_NOWHERE,
                     "'%s' is a voltage to ground, to which nothing joins its node: %s counts as "
                     "ground",
                     o->name, ana_unknown_text(s->a, l.node));
    }
}

/* -- solutions -- */

/* The sum of currents between the nodes of a part, by differences to its level. in [n+1]: false
 * before and afterwards. */
static double currents_of(const small *s, const double *z, const ckt_level *l, bool *in)
{
    const csc *m = s->a->jac;
    double all = 0;
    for (int32_t i = 0; i < l->n; i++)
        in[l->of[i]] = true;
    for (int32_t i = 0; i < l->n; i++) {
        const int32_t k = l->of[i];
        const double v = distance(z, k, l->node);
        for (int32_t p = m->colptr[k - 1]; p < m->colptr[k]; p++)
            all += in[m->row[p] + 1] ? size_of(s->val, p) * v : 0;
    }
    for (int32_t i = 0; i < l->n; i++)
        in[l->of[i]] = false;
    return all;
}

/* Of z[at] among n. */
static int32_t fed_among(const small *s, const double *z, size_t n, size_t at, double *current)
{
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    bool *in = NULL;
    int32_t node = 0;
    ckt_level l;
    for (size_t i = 0; !node && small_next_level(s, &i, &l);) {
        if (!l.judged)
            continue;
        *current = l.siemens * size_of(z + at * n2, l.node);
        if (!(*current > least))
            continue;
        if (!in)
            in = vs_calloc((size_t)s->a->n + 1, sizeof *in);
        double inside = 0;
        for (size_t k = 0; k < n; k++)
            inside += currents_of(s, z + k * n2, &l, in);
        if (*current > least_share * inside)
            node = l.node;
    }
    vs_free(in);
    return node;
}

int32_t small_fed(const small *s, const double *z, double *current)
{
    return fed_among(s, z, 1, 0, current);
}

int32_t small_level_of(const small *s, int32_t node)
{
    int32_t level = 0;
    ckt_level l;
    for (size_t i = 0; !level && small_next_level(s, &i, &l);)
        for (int32_t k = 0; k < l.n; k++)
            level = l.of[k] == node ? l.node : level;
    return level;
}

void small_loosen(small *s)
{
    ana *a = s->a;
    const ckt_env env = small_env(a);
    ckt_level l;
    for (size_t i = 0; ckt_next_level(a->c, &env, s->still, &i, &l);)
        s->g[a->gdiag[l.node] - a->jac->val] += gmin_of(s) - l.siemens;
}

bool small_is_open(const small *s, const double *z)
{
    bool open = false;
    ckt_level l;
    for (size_t i = 0; !open && small_next_level(s, &i, &l);)
        open = l.siemens * size_of(z, l.node) > most_share;
    return open;
}

vs_status small_refuse_fed(small *s, const double *z, double f)
{
    return small_refuse_fed_among(s, z, 1, 0, f);
}

vs_status small_refuse_fed_among(small *s, const double *z, size_t n, size_t at, double f)
{
    ana *a = s->a;
    double current;
    const int32_t node = fed_among(s, z, n, at, &current);
    if (!node)
        return VS_OK;
    diag_error(a->d, DIAG_NOWHERE,
               "no solution at %.6g Hz: %s would be at %.3g V, where gmin alone carries the "
               "current (%.3g A)",
               f, ana_unknown_text(a, node), current / gmin_of(s), current);
    note_balance(a);
    return VS_ESINGULAR;
}
