/* sim_limit.c - points of an operating point, a dc sweep or a transient at which a device is beyond
 * a limit of its card (option warn): warnings, or lines of a log as ngspice writes them, of each
 * sort of limit the first `maxwarns`, and what the others came to. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim_priv.h"
#include "vec.h"

#include "hot.h"

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
    ckt_kept *kept;      /* their kernels, see sim_details_at */
    double *value;       /* vec: theirs at the point under way */
    const char *axis;    /* "time", "v-sweep"; NULL: none */
    int64_t logged;      /* lines of the log */
    sort sort[ELAB_LIMIT_ROWS];
};

/* Terms that have a current. */
static int n_current(const elab_limit *l)
{
    return l->kind == ELAB_LIMIT_CURRENT || l->kind == ELAB_LIMIT_POWER ? l->n_term : 0;
}

static void find_limits(sim *s)
{
    sim_limits *w = s->limits;
    ckt_kept_free(&w->kept);
    vec_clear(w->limit);
    vec_clear(w->current);
    elab_limits(&w->limit, s->ckt, &s->flat, s->option.warn >= 2, s->temp);
    for (size_t i = 0; i < vec_len(w->limit); i++)
        for (int k = 0; k < n_current(&w->limit[i]); k++)
            vec_push(w->current, w->limit[i].term[k].current);
    vec_clear(w->value);
    vec_extend(w->value, vec_len(w->current));
}

void sim_limits_free(sim *s)
{
    if (!s->limits)
        return;
    ckt_kept_free(&s->limits->kept);
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

static double voltage(const elab_limit_term *t, const double *x) { return x[t->hi] - x[t->lo]; }

/* What is compared with the limit; a voltage with its sign. current: of the terms. */
static double value_of(const elab_limit *l, const double *x, const double *current)
{
    double sum = 0;
    switch (l->kind) {
    case ELAB_LIMIT_REGION:
    case ELAB_LIMIT_VOLTAGE: return voltage(&l->term[0], x);
    case ELAB_LIMIT_CURRENT: return fabs(current[0] / l->m);
    case ELAB_LIMIT_TEMPERATURE: return temperature(l, x);
    case ELAB_LIMIT_POWER: break;
    }
    for (int k = 0; k < l->n_term; k++)
        sum += fabs(current[k] * voltage(&l->term[k], x));
    return sum;
}

static double most_of(const elab_limit *l, const double *x)
{
    const double above = l->derating ? temperature(l, x) - l->tnom : 0;
    return above > 0 ? fmax(l->value - l->derating * above, 0) : l->value;
}

static const char *unit_of(const elab_limit *l)
{
    static const char *const unit[] = {"V", "A", "W", "degrees Celsius", ""};
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

/* Whether this one is to be told. diag keeps 4 max_error warnings: room is left for what the others
 * came to. */
static bool may_tell(const sim *s, const sort *k)
{
    return (uint64_t)k->told < s->option.maxwarns &&
           (s->opt.limit_log || s->d->n_warning < 2 * s->d->max_error);
}

/* Begins a line of the log, as ngspice does. */
static FILE *begin_line(sim *s, const elab_limit *l, double axis)
{
    FILE *to = s->opt.limit_log;
    s->limits->logged++;
    fprintf(to, "Instance: %s Model: %s ", l->device, l->card);
    if (s->transient)
        fprintf(to, "Time: %.6g ", axis);
    return to;
}

static void end_line(sim *s, FILE *to, double axis)
{
    char where[64];
    fprintf(to, "%s\n", s->transient ? "" : place(s, axis, where, sizeof where));
}

static void note_beyond(sim *s, const elab_limit *l, double axis, double value, double most)
{
    sort *k = &s->limits->sort[l->row];
    const double ratio = fabs(value) / fmax(fabs(most), 1e-12); /* of pd_max at its end: 0 */
    char where[64];
    k->n++;
    if (may_tell(s, k)) {
        const bool size = l->kind == ELAB_LIMIT_VOLTAGE && !l->sign;
        k->told++;
        if (s->opt.limit_log) {
            FILE *to = begin_line(s, l, axis);
            fprintf(to, "%s%s%s=%.4g %s has exceeded %s=%.4g %s", size ? "|" : "", l->quantity,
                    size ? "|" : "", size ? fabs(value) : value, unit_of(l), l->name, most,
                    unit_of(l));
            end_line(s, to, axis);
        } else {
            diag_warning(s->d, l->span, "%s: %s=%.4g %s is beyond %s=%.4g %s%s", l->device,
                         l->quantity, value, unit_of(l), l->name, most, unit_of(l),
                         place(s, axis, where, sizeof where));
        }
    }
    if (!(ratio > k->ratio))
        return;
    *k = (sort){k->n, k->told, value, ratio, axis, *l};
    k->one.device = str_intern0(s->names, l->device); /* outlives the circuit */
    k->one.card = str_intern0(s->names, l->card);
}

static void note_region(sim *s, const elab_limit *l, double axis, const double *x)
{
    static const char *const region[2][2] = {{"is off", "is reverse biased"},
                                             {"is forward biased", "is in saturation"}};
    sort *k = &s->limits->sort[l->row];
    const bool be = l->sign * voltage(&l->term[0], x) > l->value;
    const bool bc = l->sign * voltage(&l->term[1], x) > l->second;
    char where[64];
    k->n++;
    k->one = *l;
    k->one.device = NULL;
    if (!may_tell(s, k))
        return;
    k->told++;
    if (s->opt.limit_log) {
        FILE *to = begin_line(s, l, axis);
        fprintf(to, "device %s", region[be][bc]);
        end_line(s, to, axis);
    } else {
        diag_warning(s->d, l->span, "%s %s%s", l->device, region[be][bc],
                     place(s, axis, where, sizeof where));
    }
}

VS_HOT vs_status sim_limits_point(sim *s, double axis, const double *x)
{
    sim_limits *w = s->limits;
    if (!w || !vec_len(w->limit))
        return VS_OK;
    const vs_status st =
        sim_details_at(s, &w->kept, axis, x, w->current, vec_len(w->current), w->value);
    const double *current = w->value;
    for (size_t i = 0; i < vec_len(w->limit) && !st; i++) {
        const elab_limit *l = &w->limit[i];
        if (l->kind == ELAB_LIMIT_REGION) {
            note_region(s, l, axis, x);
            continue;
        }
        const double v = value_of(l, x, current), most = most_of(l, x);
        const double compared =
            l->kind == ELAB_LIMIT_VOLTAGE ? (l->sign ? l->sign * v : fabs(v)) : v;
        current += n_current(l);
        if (compared > most)
            note_beyond(s, l, axis, v, most);
    }
    return st;
}

/* What the points of a sort that were not told came to. */
static void sum_up(sim *s, const sort *k)
{
    const char *more = "(option maxwarns shows more)";
    char where[64], farthest[256] = "";
    if (k->one.kind != ELAB_LIMIT_REGION)
        snprintf(farthest, sizeof farthest, "; the farthest: %s: %s=%.4g %s%s", k->one.device,
                 k->one.quantity, k->worst, unit_of(&k->one),
                 place(s, k->axis, where, sizeof where));
    const char *what = k->one.kind == ELAB_LIMIT_REGION ? "with" : "beyond";
    const long long n = k->n - k->told;
    if (!s->opt.limit_log) {
        diag_warning(s->d, k->one.span, "further points %s %s, of all devices: %lld%s %s", what,
                     k->one.name, n, farthest, more);
        return;
    }
    fprintf(s->opt.limit_log, "Further points %s %s, of all devices: %lld%s %s\n", what,
            k->one.name, n, farthest, more);
    s->limits->logged++;
}

void sim_limits_end(sim *s)
{
    for (size_t i = 0; s->limits && i < ELAB_LIMIT_ROWS; i++) {
        const sort *k = &s->limits->sort[i];
        if (k->n > k->told)
            sum_up(s, k);
    }
    if (s->limits && s->limits->logged > 0 && !s->opt.label) /* of a family at its end */
        diag_warning(s->d, DIAG_NOWHERE,
                     "devices are beyond limits of their cards: %lld lines of the log tell where",
                     (long long)s->limits->logged);
    sim_limits_free(s);
}
