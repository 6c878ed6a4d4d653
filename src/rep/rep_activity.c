/* rep_activity.c - how much of a circuit a transient works on, over time (docs/profile.md).
 * A slice is one or more attempts of steps: what was worked on and all that could have been. When
 * the slices are full, each two become one. */
#include <math.h>
#include <string.h>

#include "chart.h"
#include "rep_activity.h"

enum { MOST_SLICES = 512 };

static const char *const names[REP_N_ACTIVITY] = {"devices", "unknowns", "factor columns"};

typedef struct slice {
    double to; /* s, its end */
    double done[REP_N_ACTIVITY], all[REP_N_ACTIVITY];
} slice;

struct rep_activity {
    slice slice[MOST_SLICES], total; /* total: of all transients */
    int n, per_slice, in_last;       /* slices; attempts of one, and of the last one so far */
    bool before_run; /* a static point was the last: what is there is of a transient before */
    const ckt *ckt;  /* whose counters: */
    ckt_stat was;
    int64_t columns;
};

rep_activity *rep_activity_new(void)
{
    rep_activity *a = vs_calloc(1, sizeof *a);
    a->per_slice = 1;
    return a;
}

void rep_activity_free(rep_activity **a)
{
    vs_free(*a);
    *a = NULL;
}

static void add(slice *to, const slice *s)
{
    to->to = s->to;
    for (int k = 0; k < REP_N_ACTIVITY; k++) {
        to->done[k] += s->done[k];
        to->all[k] += s->all[k];
    }
}

/* The work since the last call, by the circuit's counters. Factors that need new pivots count twice
 * in an iteration. A device whose old linearisation served counts as bypassed, whether its voltages
 * were compared or not. */
static slice since_last(rep_activity *a, ckt *c, const ana_step *step)
{
    const ckt_stat now = *ckt_stats(c);
    const bool other = a->ckt != c || now.n_load < a->was.n_load;
    const ckt_stat was = other ? (ckt_stat){0} : a->was;
    const int64_t columns = other || step->columns < a->columns ? 0 : a->columns;
    const double n = ckt_n(c), loads = (double)(now.n_load - was.n_load),
                 eval = (double)(now.n_eval - was.n_eval), made = (double)(step->columns - columns);
    a->ckt = c;
    a->was = now;
    a->columns = step->columns;
    return (slice){
        .to = step->t,
        .done = {eval, loads * n - (double)(now.n_latent - was.n_latent), made},
        .all = {eval + (double)(now.n_bypass - was.n_bypass), loads * n, fmax(loads * n, made)}};
}

static void halve(rep_activity *a)
{
    for (int i = 0; i < MOST_SLICES / 2; i++) {
        a->slice[i] = a->slice[2 * i];
        add(&a->slice[i], &a->slice[2 * i + 1]);
    }
    a->n = MOST_SLICES / 2;
    a->per_slice *= 2;
}

void rep_activity_see(rep_activity *a, ckt *c, const ana_step *step)
{
    const slice s = since_last(a, c, step);
    if (step->is_static) {
        a->before_run = true;
        return;
    }
    if (a->before_run) {
        a->before_run = false;
        a->n = a->in_last = 0;
        a->per_slice = 1;
    }
    add(&a->total, &s);
    if (a->n && a->in_last < a->per_slice) {
        add(&a->slice[a->n - 1], &s);
        a->in_last++;
        return;
    }
    if (a->n == MOST_SLICES)
        halve(a);
    a->slice[a->n++] = s;
    a->in_last = 1;
}

static double share(const slice *s, int what)
{
    return s->all[what] > 0 ? s->done[what] / s->all[what] : 0;
}

double rep_activity_last(const rep_activity *a, int what)
{
    return a->n ? share(&a->slice[a->n - 1], what) : 0;
}

const char *rep_activity_name(int what) { return names[what]; }

void rep_activity_text(const rep_activity *a, FILE *out)
{
    if (!a->total.all[1])
        return;
    fputs("  worked on, in the mean of all iterations:", out);
    for (int k = 0; k < REP_N_ACTIVITY; k++)
        if (a->total.all[k] > 0)
            fprintf(out, "%s %.1f %% of the %s", k ? "," : "", 100 * share(&a->total, k), names[k]);
    fputc('\n', out);
}

void rep_activity_json(const rep_activity *a, FILE *out)
{
    fputs("  \"activity\": {", out);
    for (int k = 0; k < REP_N_ACTIVITY; k++)
        fprintf(out, "\"%s\": %.6g, ", names[k], share(&a->total, k));
    fputs("\"over_time\": [", out);
    for (int i = 0; i < a->n; i++) {
        fprintf(out, "%s{\"to\": %.9g", i ? ",\n    " : "", a->slice[i].to);
        for (int k = 0; k < REP_N_ACTIVITY; k++)
            fprintf(out, ", \"%s\": %.6g", names[k], share(&a->slice[i], k));
        fputc('}', out);
    }
    fputs("]},\n", out);
}

vs_status rep_activity_picture(const rep_activity *a, const char *title, FILE *out,
                               const char **why)
{
    double x[MOST_SLICES], y[REP_N_ACTIVITY][MOST_SLICES];
    chart_curve curve[REP_N_ACTIVITY];
    for (int i = 0; i < a->n; i++)
        x[i] = a->slice[i].to;
    for (int k = 0; k < REP_N_ACTIVITY; k++) {
        for (int i = 0; i < a->n; i++)
            y[k][i] = 100 * share(&a->slice[i], k);
        curve[k] = (chart_curve){
            .name = names[k], .x = x, .y = y[k], .n = a->n, .colour = k, .shade = NAN};
    }
    const chart_panel panel = {.kind = CHART_XY,
                               .x = {.label = "time", .unit = "s", .lo = NAN, .hi = NAN},
                               .y = {.label = "worked on", .unit = "%", .lo = 0, .hi = NAN},
                               .curve = curve,
                               .n_curve = REP_N_ACTIVITY,
                               .style = CHART_LINES};
    const chart c = {.title = title, .panel = &panel, .n_panel = 1};
    return chart_write(&c, CHART_SVG, out, why);
}
