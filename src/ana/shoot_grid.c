/* shoot_grid.c - shooting: the steps of the period, and the rules of integration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integ.h"
#include "shoot.h"
#include "vec.h"

/* Cuts nearer than this, in periods, are one. */
static const double same = 1e-10;
enum { PROBES = 97 };
static const double repeats = 1e-6; /* of a source's range */
enum { MOST_CORNERS = 100000 };

/* -- rules -- */

typedef struct table { /* of a diagonally implicit method that is stiffly accurate */
    int32_t n;
    double c[SHOOT_STAGES], a[SHOOT_STAGES][SHOOT_STAGES];
} table;

#define GAMMA INTEG_SDIRK_GAMMA
static const table euler = {1, {1}, {{1}}}, sdirk2 = {2, {GAMMA, 1}, {{GAMMA}, {1 - GAMMA, GAMMA}}},
                   sdirk4 = {5,
                             {1. / 4, 3. / 4, 11. / 20, 1. / 2, 1},
                             {{1. / 4},
                              {1. / 2, 1. / 4},
                              {17. / 50, -1. / 25, 1. / 4},
                              {371. / 1360, -137. / 2720, 15. / 544, 1. / 4},
                              {25. / 24, -49. / 48, 125. / 16, -85. / 12, 1. / 4}}};

const double shoot_embedded[SHOOT_STAGES] = {-3. / 4, -27. / 8, 25. / 8, 0, 1};

static double start_of(const ana_shot *s, int32_t k) { return k ? s->step[k - 1].end : 0; }

static int32_t from_table(const table *t, double from, double part, double period, shoot_stage *to)
{
    const double gamma = t->a[0][0];
    for (int32_t i = 0; i < t->n; i++) {
        to[i] = (shoot_stage){.part = from + t->c[i] * part,
                              .alpha = 1 / (gamma * part * period),
                              .number = i,
                              .ends = i == t->n - 1};
        for (int32_t j = 0; j < i; j++)
            to[i].w[j] = -t->a[i][j] / gamma;
    }
    return t->n;
}

int32_t shoot_stages(const ana_shot *s, int32_t k, shoot_stage to[SHOOT_STAGES])
{
    const double from = start_of(s, k), part = s->step[k].end - from;
    if (s->rule == ANA_SHOOT_EULER)
        return from_table(&euler, from, part, s->period, to);
    if (s->rule == ANA_SHOOT_SDIRK4)
        return from_table(&sdirk4, from, part, s->period, to);
    if (s->step[k].fresh)
        return from_table(&sdirk2, from, part, s->period, to);
    integ_coef c;
    const double past = (from - start_of(s, k - 1)) * s->period;
    const bool gear = s->rule == ANA_SHOOT_GEAR;
    integ_corrector(gear ? INTEG_GEAR : INTEG_TRAP, 2, part * s->period, &past, &c);
    to[0] = (shoot_stage){.part = s->step[k].end,
                          .alpha = c.alpha,
                          .a = gear ? c.a[1] : 0,
                          .b = gear ? 0 : c.b,
                          .ends = true};
    return 1;
}

int32_t shoot_n_stage(const ana_shot *s)
{
    shoot_stage st[SHOOT_STAGES];
    int32_t n = 0;
    for (size_t k = 0; k < vec_len(s->step); k++)
        n += shoot_stages(s, (int32_t)k, st);
    return n;
}

/* -- sources -- */

static double source_at(const ana_shot *s, int32_t i, double periods)
{
    return ckt_source_value(s->a->c, i, s->t0 + periods * s->period);
}

static vs_status check_source(const ana_shot *s, int32_t i)
{
    double lo = INFINITY, hi = -INFINITY, miss = 0;
    for (int k = 0; k < PROBES; k++) {
        const double part = (k + 0.381966) / PROBES, v = source_at(s, i, part),
                     w = source_at(s, i, part + 1), u = source_at(s, i, part + 7);
        lo = fmin(lo, fmin(v, w));
        hi = fmax(hi, fmax(v, w));
        miss = fmax(miss, fmax(fabs(v - w), fabs(v - u)));
    }
    if (s->o.osc ? hi == lo : miss <= repeats * (hi - lo))
        return VS_OK;
    const ckt_source_facts v = ckt_source_at(s->a->c, i);
    if (s->o.osc) {
        diag_error(s->a->d, v.span,
                   "'%s' moves: the period of an oscillator is free only if no "
                   "source gives another",
                   v.name);
        return VS_EINPUT;
    }
    diag_error(s->a->d, v.span, "'%s' does not repeat after the period of %.9g s", v.name,
               s->period);
    diag_note(s->a->d, s->o.span,
              "the frequency of .pss is one that every source repeats with: of dividers and of "
              "several sources the common one");
    return VS_EINPUT;
}

vs_status shoot_find_corners(ana_shot *s)
{
    double t = s->t0;
    for (int32_t i = 0; i < ckt_n_source(s->a->c); i++) {
        const vs_status st = check_source(s, i);
        if (st != VS_OK)
            return st;
    }
    vec_clear(s->corner);
    for (size_t i = 0; !s->o.osc && i < vec_len(s->c.corner); i++) {
        const double part = (s->c.corner[i] - s->t0) / s->period;
        if (part > same && part < 1 - same)
            vec_push(s->corner, part);
    }
    while (!s->o.osc && vec_len(s->corner) < MOST_CORNERS) {
        t = ckt_next_break(s->a->c, t * (1 + 4e-16));
        const double part = (t - s->t0) / s->period;
        if (!(part < 1 - same))
            break;
        if (part > same)
            vec_push(s->corner, part);
    }
    if (vec_len(s->corner))
        qsort(s->corner, vec_len(s->corner), sizeof *s->corner, vec_by_value);
    return VS_OK;
}

/* -- steps -- */

static double sample_part(const ana_shot *s, int32_t m) { return (double)m / s->n_sample; }

static double shown_part(const ana_shot *s, int64_t k)
{
    return (double)k / (double)(s->n_shown - 1);
}

/* Ascending, behind 0; the last is 1. To the vec. */
static double *find_cuts(const ana_shot *s)
{
    double *all = NULL, *cut = NULL;
    for (int32_t m = 1; m <= s->n_sample; m++)
        vec_push(all, sample_part(s, m));
    for (int64_t k = 1; k + 1 < s->n_shown; k++)
        vec_push(all, shown_part(s, k));
    for (size_t i = 0; i < vec_len(s->corner); i++)
        vec_push(all, s->corner[i]);
    if (vec_len(all))
        qsort(all, vec_len(all), sizeof *all, vec_by_value);
    for (size_t i = 0; i < vec_len(all); i++)
        if (i == 0 || all[i] - vec_last(cut) > same)
            vec_push(cut, all[i]);
    vec_free(all);
    vec_last(cut) = 1;
    return cut;
}

/* Points of the transient from before it up to `part`. *k as cycle_at. */
static int32_t recorded(const ana_shot *s, double part, size_t *k)
{
    const size_t before = *k;
    while (*k < vec_len(s->c.t) && s->c.t[*k] <= s->c.begin + part * s->c.period)
        ++*k;
    return (int32_t)(*k - before);
}

/* The step that ends at a part of the period. */
static int32_t step_at(const ana_shot *s, double part)
{
    size_t lo = 0, hi = vec_len(s->step) - 1;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (s->step[mid].end < part - same)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (int32_t)lo;
}

static void add_steps(ana_shot *s, double from, double to, int32_t n, bool fresh)
{
    for (int32_t i = 1; i <= n; i++)
        vec_push(s->step,
                 ((shoot_step){i == n ? to : from + (to - from) * i / n, fresh && i == 1, -1}));
}

/* The steps at whose ends samples and points are. */
static void find_places(ana_shot *s)
{
    for (int32_t m = 1; m <= s->n_sample; m++)
        s->sample_at[m - 1] = step_at(s, sample_part(s, m));
    for (int64_t m = 0; m < s->n_shown; m++)
        s->shown_at[m] = m ? step_at(s, shown_part(s, m)) : -1;
}

void shoot_make_grid(ana_shot *s, int level)
{
    double *cut = find_cuts(s);
    size_t k = 0, corner = 0;
    bool fresh = true;
    const int32_t stages = s->rule == ANA_SHOOT_SDIRK4 ? 4 : 1;
    vec_clear(s->step);
    (void)recorded(s, 0, &k);
    for (size_t i = 0; i < vec_len(cut); i++) {
        const int32_t n = (recorded(s, cut[i], &k) + stages - 1) / stages;
        add_steps(s, i ? cut[i - 1] : 0, cut[i], (n > 1 ? n : 1) << level, fresh);
        fresh = corner < vec_len(s->corner) && s->corner[corner] <= cut[i] + same;
        while (corner < vec_len(s->corner) && s->corner[corner] <= cut[i] + same)
            corner++;
    }
    find_places(s);
    vec_free(cut);
}

/* The estimate falls with the fourth power of the step. */
void shoot_split(ana_shot *s, double most)
{
    enum { MOST_PIECES = 8 };
    shoot_step *old = s->step;
    double from = 0;
    s->step = NULL;
    for (size_t k = 0; k < vec_len(old); k++) {
        const double n = ceil(sqrt(sqrt(old[k].error / most)));
        const int32_t pieces = n > MOST_PIECES ? MOST_PIECES : n > 1 ? (int32_t)n : 1;
        add_steps(s, from, old[k].end, pieces, old[k].fresh);
        from = old[k].end;
    }
    vec_free(old);
    find_places(s);
}

void shoot_take_steps(ana_shot *s, const double *end, size_t n)
{
    vec_clear(s->step);
    for (size_t k = 0; k < n; k++)
        vec_push(s->step, ((shoot_step){fabs(end[k]), end[k] < 0, -1}));
    find_places(s);
}

/* -- polynomials -- */

void shoot_weights(const double *t, int32_t n, double at, double *value, double *first,
                   double *second)
{
    for (int32_t i = 0; i < n; i++) {
        double p = 1, d = 0, dd = 0; /* the product so far, its derivatives */
        for (int32_t j = 0; j < n; j++) {
            if (j == i)
                continue;
            const double by = 1 / (t[i] - t[j]), f = (at - t[j]) * by;
            dd = dd * f + 2 * d * by;
            d = d * f + p * by;
            p *= f;
        }
        if (value)
            value[i] = p;
        if (first)
            first[i] = d;
        if (second)
            second[i] = dd;
    }
}

/* -- steps for small signals -- */

int32_t shoot_node_at(const ana_shot *s, double part)
{
    return part > same && part < 1 - same ? step_at(s, part) + 1 : (int32_t)vec_len(s->step);
}

/* A step ends at `part`, and a piece behind it. */
static void cut_at(ana_shot *s, double part)
{
    if (!(part > same && part < 1 - same))
        return;
    const size_t k = (size_t)step_at(s, part);
    if (fabs(s->step[k].end - part) > same) {
        const shoot_step last = vec_last(s->step);
        vec_push(s->step, last);
        memmove(s->step + k + 1, s->step + k, (vec_len(s->step) - 1 - k) * sizeof *s->step);
        s->step[k].end = part;
    }
    s->step[k + 1].fresh = true;
}

/* Into how many parts step k has to be split beside one of length `beside`. */
static bool grow_beside(double length, double beside, int32_t *parts)
{
    static const double ratio = 4;
    const double n = ceil(length / (ratio * beside) * (1 - 1e-9));
    if (!(n > *parts))
        return false;
    *parts = (int32_t)n;
    return true;
}

static double length_of(const ana_shot *s, size_t k)
{
    return s->step[k].end - start_of(s, (int32_t)k);
}

/* Makes steps of a piece differ by no more than a ratio from their neighbours. */
static void level_out(const ana_shot *s, int32_t *parts)
{
    const size_t n = vec_len(s->step);
    for (bool again = true; again;) {
        again = false;
        for (size_t k = 1; k < n; k++)
            if (!s->step[k].fresh)
                again |=
                    grow_beside(length_of(s, k), length_of(s, k - 1) / parts[k - 1], &parts[k]);
        for (size_t k = n - 1; k > 0; k--)
            if (!s->step[k].fresh)
                again |=
                    grow_beside(length_of(s, k - 1), length_of(s, k) / parts[k], &parts[k - 1]);
    }
}

void shoot_grade(ana_shot *s, double cut)
{
    enum { LEAST = 4 }; /* steps of a piece, for cubics and their errors */
    cut_at(s, cut);
    const size_t n = vec_len(s->step);
    int32_t *parts = vs_malloc((n + 1) * sizeof *parts);
    for (size_t k = 0, next; k < n; k = next) {
        for (next = k + 1; next < n && !s->step[next].fresh;)
            next++;
        for (size_t i = k; i < next; i++)
            parts[i] = next - k < LEAST ? (int32_t)((LEAST + next - k - 1) / (next - k)) : 1;
    }
    level_out(s, parts);
    shoot_step *old = s->step;
    double from = 0;
    s->step = NULL;
    for (size_t k = 0; k < n; k++) {
        add_steps(s, from, old[k].end, parts[k], old[k].fresh);
        from = old[k].end;
    }
    vec_free(old);
    vs_free(parts);
    find_places(s);
}
