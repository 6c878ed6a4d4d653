/* sim_limit.c - points of an operating point, a dc sweep or a transient at which a device is beyond
 * a limit of its card (option warn): warnings, of each sort of limit the first `maxwarns`, and what
 * the others came to. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim_priv.h"
#include "vec.h"

/* A sort of limit in one analysis. */
typedef struct sort {
    int64_t n, told;     /* points and devices beyond it; warnings of them */
    double worst, ratio; /* the farthest: value, and how far in limits; 0: none yet */
    double axis;         /* where */
    elab_limit one;      /* which */
} sort;

struct sim_limits {
    elab_limit *limit;   /* vec */
    ckt_detail *current; /* vec: of the terms that have one, limit by limit */
    double *value;       /* vec: theirs at the point under way */
    const char *axis;    /* "time", "v-sweep"; NULL: none */
    sort sort[ELAB_LIMIT_ROWS];
};

static void find_limits(sim *s)
{
    sim_limits *w = s->limits;
    vec_clear(w->limit);
    vec_clear(w->current);
    elab_limits(&w->limit, s->ckt, &s->flat, s->temp);
    for (size_t i = 0; i < vec_len(w->limit); i++)
        for (int k = 0; w->limit[i].kind != ELAB_LIMIT_VOLTAGE && k < w->limit[i].n_term; k++)
            vec_push(w->current, w->limit[i].term[k].current);
    vec_clear(w->value);
    vec_extend(w->value, vec_len(w->current));
}

void sim_limits_free(sim *s)
{
    if (!s->limits)
        return;
    vec_free(s->limits->limit);
    vec_free(s->limits->current);
    vec_free(s->limits->value);
    vs_free(s->limits);
    s->limits = NULL;
}

void sim_limits_begin(sim *s, const char *word, const char *axis)
{
    sim_limits_free(s);
    if (!s->option.warn || (strcmp(word, "op") && strcmp(word, "dc") && strcmp(word, "tran")))
        return;
    s->limits = vs_calloc(1, sizeof *s->limits);
    s->limits->axis = axis;
    find_limits(s);
}

/* The rebuilt circuit of a sweep has limits of its own; what was counted stays. */
void sim_limits_follow(sim *s)
{
    if (s->limits)
        find_limits(s);
}

static double temperature(const elab_limit *l, const double *x)
{
    return l->te_node > 0 ? x[l->te_node] : l->te;
}

/* What is compared with the limit; a voltage with its sign. current: of the terms. */
static double value_of(const elab_limit *l, const double *x, const double *current)
{
    double sum = 0;
    switch (l->kind) {
    case ELAB_LIMIT_VOLTAGE: return x[l->term[0].hi] - x[l->term[0].lo];
    case ELAB_LIMIT_CURRENT: return fabs(current[0] / l->m);
    case ELAB_LIMIT_TEMPERATURE: return temperature(l, x);
    case ELAB_LIMIT_POWER: break;
    }
    for (int k = 0; k < l->n_term; k++)
        sum += fabs(current[k] * (x[l->term[k].hi] - x[l->term[k].lo]));
    return sum;
}

static double most_of(const elab_limit *l, const double *x)
{
    const double above = l->derating ? temperature(l, x) - l->tnom : 0;
    return above > 0 ? fmax(l->value - l->derating * above, 0) : l->value;
}

static const char *unit_of(const elab_limit *l)
{
    static const char *const unit[] = {"V", "A", "W", "degrees Celsius"};
    return unit[l->kind];
}

/* " at time=1.5e-09": where the point is, "" at an operating point. buf [>= 64] */
static const char *place(const sim *s, double axis, char *buf, size_t size)
{
    buf[0] = 0;
    if (s->limits->axis)
        snprintf(buf, size, " at %s=%.6g", s->limits->axis, axis);
    return buf;
}

static void note_beyond(sim *s, const elab_limit *l, double axis, double value, double most)
{
    sort *k = &s->limits->sort[l->row];
    const double ratio = fabs(value) / fmax(fabs(most), 1e-12); /* of pd_max at its end: 0 */
    char where[64];
    k->n++;
    /* diag keeps 4 max_error warnings: room is left for what the others came to */
    if ((uint64_t)k->told < s->option.maxwarns && s->d->n_warning < 2 * s->d->max_error) {
        k->told++;
        diag_warning(s->d, l->span, "%s: %s=%.4g %s is beyond %s=%.4g %s%s", l->device, l->quantity,
                     value, unit_of(l), l->name, most, unit_of(l),
                     place(s, axis, where, sizeof where));
    }
    if (!(ratio > k->ratio))
        return;
    *k = (sort){k->n, k->told, value, ratio, axis, *l};
    k->one.device = str_intern0(s->names, l->device); /* outlives the circuit */
}

vs_status sim_limits_point(sim *s, double axis, const double *x)
{
    sim_limits *w = s->limits;
    if (!w || !vec_len(w->limit))
        return VS_OK;
    const ckt_env env = sim_env(s, axis);
    const vs_status st = ckt_details(s->ckt, &env, x, w->current, vec_len(w->current), w->value);
    const double *current = w->value;
    for (size_t i = 0; i < vec_len(w->limit) && !st; i++) {
        const elab_limit *l = &w->limit[i];
        const double v = value_of(l, x, current), most = most_of(l, x);
        const double compared =
            l->kind == ELAB_LIMIT_VOLTAGE ? (l->sign ? l->sign * v : fabs(v)) : v;
        if (l->kind != ELAB_LIMIT_VOLTAGE)
            current += l->n_term;
        if (compared > most)
            note_beyond(s, l, axis, v, most);
    }
    return st;
}

void sim_limits_end(sim *s)
{
    char where[64];
    for (size_t i = 0; s->limits && i < ELAB_LIMIT_ROWS; i++) {
        const sort *k = &s->limits->sort[i];
        if (k->n > k->told)
            diag_warning(
                s->d, k->one.span,
                "further points beyond %s, of all devices: %lld; the farthest: %s: %s=%.4g %s%s "
                "(option maxwarns shows more)",
                k->one.name, (long long)(k->n - k->told), k->one.device, k->one.quantity, k->worst,
                unit_of(&k->one), place(s, k->axis, where, sizeof where));
    }
    sim_limits_free(s);
}
