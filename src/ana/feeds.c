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

/* The next shunt of a part that has a node outside of devices: a model may leave one that nothing
 * reads to itself. */
static bool next_level(const small *s, size_t *i, ckt_level *l)
{
    const ckt_env env = small_env(s->a);
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
    return next_level(s, &i, &l);
}

/* -- outputs -- */

/* s_p of a part, to seed[0..1]. */
static void seed_of(const small *s, const ckt_level *l, const double *y, double *seed)
{
    const int32_t p = l->node;
    int32_t q = p;
    for (int32_t k = 0; k < l->n; k++)
        if (distance(y, l->of[k], p) > distance(y, q, p))
            q = l->of[k];
    for (int part = 0; part < 2; part++) {
        const double at_p = y[2 * p + part], at_q = y[2 * q + part];
        seed[part] = at_p * (l->siemens / gmin_of(s)) + (at_q - at_p);
    }
}

bool small_feeds_of(small_feeds *w, small *s, const double *y)
{
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    double most = 0;
    ckt_level l;
    for (size_t i = 0; next_level(s, &i, &l);) {
        double seed[2];
        seed_of(s, &l, y, seed);
        if (!(hypot(seed[0], seed[1]) > 0))
            continue;
        if (!w->lambda)
            w->lambda = vs_calloc(n2, sizeof *w->lambda);
        if (!(most > 0))
            memset(w->lambda, 0, n2 * sizeof *w->lambda);
        w->lambda[2 * l.node] += l.siemens * seed[0];
        w->lambda[2 * l.node + 1] += l.siemens * seed[1];
        most = fmax(most, hypot(seed[0], seed[1]));
    }
    w->any = most > 0;
    w->least = many_devices * gmin_of(s) * most;
    if (w->any)
        small_solve_t(s, w->lambda);
    return w->any;
}

void small_feeds_follow(small_feeds *w, const small *s, const double *lambda)
{
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    if (!w->lambda)
        w->lambda = vs_calloc(n2, sizeof *w->lambda);
    if (!w->any) {
        memset(w->lambda, 0, n2 * sizeof *w->lambda);
        w->least = 0;
    }
    for (size_t i = 0; i < n2; i++)
        w->lambda[i] += lambda[i];
    w->any = true;
}

void small_feeds_fini(small_feeds *w) { vs_free(w->lambda); }

void small_feeds_add(const small_feeds *w, int32_t row, double re, double im, small_feeds_sum *to)
{
    const double *y = w->lambda + 2 * (size_t)row;
    to->re += y[0] * re - y[1] * im;
    to->im += y[0] * im + y[1] * re;
    to->terms += hypot(y[0], y[1]) * hypot(re, im);
    to->least += w->least * hypot(re, im);
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
    for (size_t i = 0; next_level(s, &i, &l);)
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

vs_status small_feeds_judge(small_feeds *w, small *s, const small_answer *v)
{
    ana *a = s->a;
    const bool all = small_feeds_are_all(v->share, v->value);
    if (!feeds_matter(s, v->share, v->value) || (w->told && !all))
        return VS_OK;
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
    if (!w->told)
        diag_warning(s->a->d, DIAG_NOWHERE,
                     "nothing but gmin carries what '%s' feeds into %s: for it, and for others of "
                     "the kind, the result is nan",
                     source, ana_unknown_text(s->a, small_fed_node(s, b)));
    w->told = true;
}

void small_feeds_tell_level(small_feeds *w, small *s, const ana_output *o, const double *y)
{
    ckt_level l;
    for (size_t i = 0; !w->told_level && !o->current && next_level(s, &i, &l);) {
        if (l.n < 2 || !(l.siemens * size_of(y, l.node) > most_share))
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

int32_t small_fed(const small *s, const double *z, double *current)
{
    bool *in = NULL;
    int32_t node = 0;
    ckt_level l;
    for (size_t i = 0; !node && next_level(s, &i, &l);) {
        if (!l.judged)
            continue;
        *current = l.siemens * size_of(z, l.node);
        if (!in)
            in = vs_calloc((size_t)s->a->n + 1, sizeof *in);
        if (*current > least && *current > least_share * currents_of(s, z, &l, in))
            node = l.node;
    }
    vs_free(in);
    return node;
}

int32_t small_level_of(const small *s, int32_t node)
{
    int32_t level = 0;
    ckt_level l;
    for (size_t i = 0; !level && next_level(s, &i, &l);)
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
    for (size_t i = 0; !open && next_level(s, &i, &l);)
        open = l.siemens * size_of(z, l.node) > most_share;
    return open;
}

vs_status small_refuse_fed(small *s, const double *z, double f)
{
    ana *a = s->a;
    double current;
    const int32_t node = small_fed(s, z, &current);
    if (!node)
        return VS_OK;
    diag_error(a->d, DIAG_NOWHERE,
               "no solution at %.6g Hz: %s would be at %.3g V, where gmin alone carries the "
               "current (%.3g A)",
               f, ana_unknown_text(a, node), current / gmin_of(s), current);
    note_balance(a);
    return VS_ESINGULAR;
}
