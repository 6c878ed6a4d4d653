/* rep_profile.c - `vsim profile DECK`: where the time of a run goes, and what decided its steps.
 *
 * The analyses tell when they pass from one phase to the next (ana_trace.h); each passage is one
 * reading of the clock, whose own cost is taken off. docs/profile.md explains the figures and the
 * trace. */
#include <math.h>
#include <string.h>

#include "ana_trace.h"
#include "rep.h"
#include "rep_activity.h"
#include "rep_threads.h"
#include "stream.h"
#include "vec.h"

enum {
    TRACE_EVENTS =
        60000, /* phases and iterations one by one, some 6 MB; then a chunk of points each */
    FIRST_CHUNK =
        1000,      /* points; chunks grow with the run, so that a trace has at most some thousand */
    MAX_ITER = 32, /* runs of Newton with more iterations are counted together */
    TIME_BINS = 24,
    STEP_BINS = 128, /* octaves of the step around 1 s */
    TOP = 10
};

/* Rows of the table. A load is split by the circuit's own clock. */
enum {
    ROW_EVALUATE,
    ROW_STAMP,
    ROW_LOAD,
    ROW_TEST,
    ROW_FACTOR,
    ROW_REFACTOR,
    ROW_SOLVE,
    ROW_PREDICT,
    ROW_LTE,
    ROW_PRODUCT,
    ROW_OUTPUT,
    ROW_OTHER,
    N_ROW
};
static const char *const row_name[N_ROW] = {
    "evaluate", "stamp",   "load, rest",       "convergence test", "factor", "refactor",
    "solve",    "predict", "truncation error", "products",         "output", "other"};
static const int row_of[ANA_N_PHASE] = {[ANA_IN_OTHER] = ROW_OTHER,
                                        [ANA_IN_LOAD] = ROW_LOAD,
                                        [ANA_IN_TEST] = ROW_TEST,
                                        [ANA_IN_FACTOR] = ROW_FACTOR,
                                        [ANA_IN_REFACTOR] = ROW_REFACTOR,
                                        [ANA_IN_SOLVE] = ROW_SOLVE,
                                        [ANA_IN_PREDICT] = ROW_PREDICT,
                                        [ANA_IN_LTE] = ROW_LTE,
                                        [ANA_IN_PRODUCT] = ROW_PRODUCT,
                                        [ANA_IN_OUTPUT] = ROW_OUTPUT,
                                        [ANA_IN_WATCH] = N_ROW};

typedef struct time_bin {
    int64_t points, rejected;
    double least, most; /* s, accepted steps */
} time_bin;

typedef struct decider {
    int64_t steps;         /* steps whose length, or rejection, its error decided */
    int64_t updates, rows; /* iterations that its update, or its row, kept from converging */
} decider;

struct rep_profile {
    rep_profile_opt o;
    sim *s;
    ana_watch watch;
    double clock;        /* s, measured for an empty phase */
    double start, since; /* s, begin of the run, of the phase */
    ana_phase phase;
    double seconds[N_ROW + 1], total;
    double overhead, measured; /* s spent in this file; in reading the clock */
    int64_t calls[N_ROW + 1];
    double eval0, stamp0; /* the circuit's clocks at the begin of a load */
    const ckt *ckt;       /* whose loads are counted */

    int64_t iterations, by_iterations[MAX_ITER + 1]; /* accepted points of transients */
    int point_iterations;                            /* of the present point */
    int64_t n_static, n_accepted, n_verdict[ANA_STEP_EVENT + 1], n_corner;
    int64_t by_step[STEP_BINS];
    time_bin bin[TIME_BINS];
    double bin_width;    /* s */
    bool before_run;     /* a static point was the last: bins are of a transient before */
    decider *by_unknown; /* [n+1] vec */
    int64_t n_by_error, n_by_other; /* steps */
    double last_best;               /* s, step that the errors of the last one allow; 0: unknown */
    int32_t last_worst;

    rep_activity *activity;
    rep_threads *threads;
    rep_steps *steps; /* NULL: not wanted */
    FILE *trace;
    bool detail; /* events one by one */
    int64_t n_event;
    double iter_start, point_start; /* clock, NAN: not begun */
    int64_t chunk_points, chunk_size, chunk_iterations, chunk_rejected;
    double chunk_start, chunk_t, last_t; /* clock, s, s */
};

/* -- trace: complete events of chrome's format, microseconds from the begin of the run -- */

static void event(rep_profile *p, const char *name, const char *category, double from, double to)
{
    fprintf(p->trace,
            "%s{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,"
            "\"dur\":%.3f",
            p->n_event++ ? ",\n" : "", name, category, 1e6 * (from - p->start),
            1e6 * fmax(to - from, 0));
}

/* Writes a counter event: the shares that the last step worked on. */
static void trace_activity(rep_profile *p, double now)
{
    fprintf(p->trace,
            ",\n{\"name\":\"worked on, %%\",\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"args\":{",
            1e6 * (now - p->start));
    for (int k = 0; k < REP_N_ACTIVITY; k++)
        fprintf(p->trace, "%s\"%s\":%.4g", k ? "," : "", rep_activity_name(k),
                100 * rep_activity_last(p->activity, k));
    fputs("}}", p->trace);
    p->n_event++;
}

static void end_chunk(rep_profile *p, double now, double t)
{
    if (!p->chunk_points)
        return;
    char name[64];
    snprintf(name, sizeof name, "%lld points", (long long)p->chunk_points);
    event(p, name, "points", p->chunk_start, now);
    fprintf(p->trace,
            ",\"args\":{\"from\":%.9g,\"to\":%.9g,\"points\":%lld,\"rejected\":%lld,\"iterations\":"
            "%lld}}",
            p->chunk_t, t, (long long)p->chunk_points, (long long)p->chunk_rejected,
            (long long)p->chunk_iterations);
    trace_activity(p, now);
    p->chunk_points = p->chunk_rejected = p->chunk_iterations = 0;
    p->chunk_start = now;
    p->chunk_t = t;
    const int64_t hundredth = (p->n_accepted + p->n_static) / 100;
    p->chunk_size = hundredth > FIRST_CHUNK ? hundredth : FIRST_CHUNK;
}

static void trace_point(rep_profile *p, const ana_step *s, double now)
{
    static const char *const verdict[] = {"accepted",
                                          "accepted at a jump",
                                          "accepted as rounding",
                                          "rejected: truncation error",
                                          "rejected: Newton",
                                          "rejected: an event within it"};
    if (!p->trace)
        return;
    p->last_t = s->t;
    if (!p->detail) {
        p->chunk_points++;
        p->chunk_iterations += p->point_iterations;
        p->chunk_rejected += s->verdict >= ANA_STEP_LTE;
        if (p->chunk_points >= p->chunk_size)
            end_chunk(p, now, s->t);
        return;
    }
    if (!isnan(p->point_start)) {
        event(p,
              s->is_static                 ? "static point"
              : s->verdict >= ANA_STEP_LTE ? "rejected step"
                                           : "time point",
              "point", p->point_start, now);
        fprintf(p->trace, ",\"args\":{\"axis\":%.9g", s->t);
        if (!s->is_static)
            fprintf(p->trace, ",\"step\":%.6g,\"verdict\":\"%s\"", s->h, verdict[s->verdict]);
        fprintf(p->trace, ",\"iterations\":%d}}", p->point_iterations);
        if (!s->is_static)
            trace_activity(p, now);
    }
    p->point_start = NAN;
    p->detail = p->n_event < TRACE_EVENTS;
    p->chunk_start = now;
    p->chunk_t = s->t;
}

static void trace_phase(rep_profile *p, double now, double eval, double stamp)
{
    if (!p->trace || !p->detail || p->phase == ANA_IN_WATCH || p->phase == ANA_IN_OTHER)
        return;
    event(p, ana_phase_name(p->phase), "phase", p->since, now);
    if (p->phase == ANA_IN_LOAD)
        fprintf(p->trace, ",\"args\":{\"evaluate us\":%.3f,\"stamp us\":%.3f}", 1e6 * eval,
                1e6 * stamp);
    fputc('}', p->trace);
}

/* -- what the analyses tell -- */

static void see_phase(void *user, ana_phase next)
{
    rep_profile *p = user;
    const double now = vs_seconds();
    double dt = fmax(now - p->since - p->clock, 0), eval = 0, stamp = 0;
    const ckt_stat *c = ckt_stats(sim_ckt(p->s));
    if (p->phase == ANA_IN_LOAD) {
        eval = c->s_eval - p->eval0;
        stamp = c->s_stamp - p->stamp0;
        p->seconds[ROW_EVALUATE] += eval;
        p->seconds[ROW_STAMP] += stamp;
        p->calls[ROW_EVALUATE]++;
        p->calls[ROW_STAMP]++;
        dt = fmax(dt - eval - stamp - p->clock, 0); /* the circuit's own reading of the clock */
    }
    if (p->phase != next || p->phase == ANA_IN_LOAD) {
        trace_phase(p, now, eval, stamp);
        p->calls[row_of[p->phase]]++;
    }
    p->seconds[row_of[p->phase]] += dt;
    rep_threads_see(p->threads, ckt_pool(sim_ckt(p->s)));
    if (next == ANA_IN_LOAD) {
        p->eval0 = c->s_eval;
        p->stamp0 = c->s_stamp;
        if (p->ckt != sim_ckt(p->s)) { /* a circuit not seen before */
            p->ckt = sim_ckt(p->s);
            ckt_time_all(sim_ckt(p->s), true);
        }
        if (isnan(p->iter_start))
            p->iter_start = now;
    }
    if ((next == ANA_IN_LOAD || next == ANA_IN_PREDICT) && isnan(p->point_start))
        p->point_start = now;
    p->phase = next;
    p->since = vs_seconds();
    p->overhead += p->since - now;
}

static void see_iteration(void *user, const ana_iteration *it)
{
    rep_profile *p = user;
    if (p->trace && p->detail && !isnan(p->iter_start)) {
        event(p, it->converged ? "last iteration" : "iteration", "iteration", p->iter_start,
              vs_seconds());
        fprintf(p->trace, ",\"args\":{\"number\":%d}}", it->iter);
    }
    p->iter_start = NAN;
    p->iterations++;
    p->point_iterations++;
    if (it->converged || it->nonfinite)
        return;
    const double dx = it->worst_dx ? fabs(it->dx) / it->dx_tol : 0,
                 r = it->worst_r ? fabs(it->r) / it->r_tol : 0;
    const int32_t who = dx >= r ? it->worst_dx : it->worst_r;
    const int32_t n = ckt_n(sim_ckt(p->s));
    if ((int32_t)vec_len(p->by_unknown) <= n)
        vec_extend(p->by_unknown, n + 1 - (int32_t)vec_len(p->by_unknown));
    if (who && dx >= r)
        p->by_unknown[who].updates++;
    else if (who)
        p->by_unknown[who].rows++;
}

/* Bins of equal width from 0 on; when the time leaves them, pairs become one. */
static time_bin *bin_at(rep_profile *p, double t, double h)
{
    if (!(p->bin_width > 0))
        p->bin_width = h;
    while (t >= p->bin_width * TIME_BINS) {
        for (int i = 0; i < TIME_BINS; i++) {
            time_bin b = {0};
            for (int k = 2 * i; k < 2 * i + 2 && k < TIME_BINS; k++) {
                const time_bin *a = &p->bin[k];
                b.least = a->points && (!b.points || a->least < b.least) ? a->least : b.least;
                b.most = fmax(b.most, a->most);
                b.points += a->points;
                b.rejected += a->rejected;
            }
            p->bin[i] = b;
        }
        p->bin_width *= 2;
    }
    const int i = (int)(t / p->bin_width); /* the quotient of a time just below may be TIME_BINS */
    return &p->bin[i < TIME_BINS ? i : TIME_BINS - 1];
}

static void count_step(rep_profile *p, const ana_step *s)
{
    time_bin *b = bin_at(p, s->t - 0.5 * s->h, s->h);
    p->n_verdict[s->verdict]++;
    p->n_corner += s->corner && s->verdict < ANA_STEP_LTE;
    if (p->last_worst && fabs(s->h - p->last_best) <= 1e-6 * s->h) {
        p->by_unknown[p->last_worst].steps++;
        p->n_by_error++;
    } else {
        p->n_by_other++;
    }
    p->last_worst = isfinite(s->best) ? s->worst : 0;
    p->last_best = s->best;
    if (s->verdict >= ANA_STEP_LTE) {
        b->rejected++;
        return;
    }
    const int octave = ilogb(s->h) + STEP_BINS - 16;
    p->by_step[octave < 0 ? 0 : octave >= STEP_BINS ? STEP_BINS - 1 : octave]++;
    b->least = b->points && b->least < s->h ? b->least : s->h;
    b->most = fmax(b->most, s->h);
    b->points++;
    p->n_accepted++;
    p->by_iterations[p->point_iterations < MAX_ITER ? p->point_iterations : MAX_ITER]++;
}

static void see_step(void *user, const ana_step *s)
{
    rep_profile *p = user;
    const double now = vs_seconds();
    const int32_t n = ckt_n(sim_ckt(p->s));
    if ((int32_t)vec_len(p->by_unknown) <= n)
        vec_extend(p->by_unknown, n + 1 - (int32_t)vec_len(p->by_unknown));
    if (s->is_static) {
        p->n_static++;
        p->last_worst = 0;
        p->before_run = true;
    } else {
        if (p->before_run) {
            p->bin_width = 0;
            memset(p->bin, 0, sizeof p->bin);
        }
        p->before_run = false;
        count_step(p, s);
    }
    rep_activity_see(p->activity, sim_ckt(p->s), s);
    trace_point(p, s, now);
    if (p->steps)
        rep_steps_see(p->steps, s, p->point_iterations);
    p->point_iterations = 0;
    const double spent = vs_seconds() - now; /* not part of the present phase */
    p->since += spent;
    p->overhead += spent;
}

/* -- begin, end -- */

/* Measures the time of a phase without work: the clock and the calls around it. */
static void calibrate(rep_profile *p)
{
    double least = 1;
    for (int batch = 0; batch < 20; batch++) {
        p->seconds[ROW_TEST] = 0;
        p->phase = ANA_IN_TEST;
        p->since = vs_seconds();
        for (int i = 0; i < 500; i++)
            see_phase(p, ANA_IN_TEST);
        least = fmin(least, p->seconds[ROW_TEST] / 500);
    }
    p->clock = least;
    p->phase = ANA_IN_OTHER;
    p->seconds[ROW_TEST] = p->overhead = 0;
}

rep_profile *rep_profile_begin(const rep_profile_opt *o, sim *s)
{
    rep_profile *p = vs_calloc(1, sizeof *p);
    *p = (rep_profile){.o = *o,
                       .s = s,
                       .iter_start = NAN,
                       .point_start = NAN,
                       .chunk_size = FIRST_CHUNK,
                       .detail = true};
    p->watch =
        (ana_watch){.phase = see_phase, .iteration = see_iteration, .step = see_step, .user = p};
    if (o->steps)
        p->steps = rep_steps_open(sim_diag(s), o->steps, sim_flat(s)->title);
    if (o->trace)
        p->trace = rep_create(sim_diag(s), o->trace, FILES_TRACE);
    if ((o->steps && !p->steps) || (o->trace && !p->trace)) {
        const bool bad = (p->steps && rep_steps_close(&p->steps)) ||
                         (p->trace && rep_close(sim_diag(s), p->trace, o->trace));
        vs_free(p);
        return (void)bad, NULL; /* a message was given */
    }
    if (p->trace)
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", p->trace);
    sim_opts(s)->watch = &p->watch;
    p->activity = rep_activity_new();
    p->threads = rep_threads_new(o->as_if);
    calibrate(p);
    p->start = p->since = vs_seconds();
    return p;
}

/* -- report -- */

static double share(double part, double all) { return all > 0 ? 100 * part / all : 0; }

static void print_phases(const rep_profile *p, FILE *out)
{
    char b[2][16];
    fprintf(out, "\n  %-18s %12s %10s %10s %8s\n", "phase", "calls", "total", "mean", "share");
    for (int i = 0; i < N_ROW; i++) {
        if (!p->calls[i] && p->seconds[i] <= 0)
            continue;
        fprintf(out, "  %-18s %12lld %10s %10s %6.1f %%\n", row_name[i], (long long)p->calls[i],
                rep_si(b[0], p->seconds[i], "s"),
                p->calls[i] && i != ROW_OTHER
                    ? rep_si(b[1], p->seconds[i] / (double)p->calls[i], "s")
                    : "",
                share(p->seconds[i], p->total));
    }
    fprintf(out, "  %-18s %12s %10s   (%.3g s for watching not counted)\n", "analyses", "",
            rep_si(b[0], p->total, "s"), p->seconds[N_ROW] + p->overhead + p->measured);
}

static void print_groups(const rep_profile *p, FILE *out)
{
    const ckt *c = sim_ckt(p->s);
    char b[2][16];
    if (c != p->ckt)
        return;
    double timed = 0; /* 0: a small circuit, which evaluates all groups at once */
    for (int32_t i = 0; i < ckt_n_group(c); i++)
        timed += ckt_group(c, i).s_eval;
    const bool by_group = timed > 0.5 * (p->seconds[ROW_EVALUATE] + p->seconds[ROW_STAMP]);
    fprintf(out, "\n  %-20s %-12s %9s %12s %12s %10s %10s\n", "group", "first", "instances",
            "evaluations", "bypasses", by_group ? "time" : "", by_group ? "each" : "");
    for (int32_t i = 0; i < ckt_n_group(c); i++) {
        const ckt_group_facts g = ckt_group(c, i);
        fprintf(out, "  %-20s %-12s %9d %12lld %12lld", mdl_module(g.model)->name,
                ckt_instance_name(c, g.inst[0]), g.n_instance, (long long)g.n_eval,
                (long long)g.n_bypass);
        if (by_group && g.n_eval)
            fprintf(out, " %10s %10s", rep_si(b[0], g.s_eval, "s"),
                    rep_si(b[1], g.s_eval / (double)g.n_eval, "s"));
        fputc('\n', out);
        const char **model = g.n_variant > 1 ? rep_group_models(p->s, &g) : NULL;
        for (size_t k = 0; k < vec_len(model); k++)
            fprintf(out, "%s%s%s", k ? ", " : "    one kernel for the models ", model[k],
                    k + 1 < vec_len(model) ? "" : "\n");
        vec_free(model);
    }
}

/* Prints the mean share of unknowns over all iterations. */
static double latent_share(const rep_profile *p)
{
    const sim_stat *s = sim_stats(p->s);
    const double all = (double)s->iterations * s->unknowns;
    return all > 0 ? (double)s->latent / all : 0;
}

static void print_points(const rep_profile *p, FILE *out)
{
    const int64_t *v = p->n_verdict;
    if (p->n_static)
        fprintf(out, "\n  %lld static points\n", (long long)p->n_static);
    if (!p->n_accepted)
        return;
    fprintf(out,
            "\n  %lld time points accepted, %lld of them at corners of sources, %lld where "
            "something jumps, %lld with "
            "an error that is rounding\n  rejected: %lld for the truncation error, %lld because "
            "Newton did not converge, %lld for events of models\n",
            (long long)p->n_accepted, (long long)p->n_corner, (long long)v[ANA_STEP_JUMP],
            (long long)v[ANA_STEP_NOISE], (long long)v[ANA_STEP_LTE], (long long)v[ANA_STEP_NEWTON],
            (long long)v[ANA_STEP_EVENT]);
    fputs("  iterations of a point:", out);
    for (int i = 0; i <= MAX_ITER; i++)
        if (p->by_iterations[i])
            fprintf(out, "  %d%s: %lld", i, i == MAX_ITER ? " or more" : "",
                    (long long)p->by_iterations[i]);
    fputs("\n", out);
    rep_activity_text(p->activity, out);
}

static void print_steps(const rep_profile *p, FILE *out)
{
    char b[3][16];
    int64_t most = 1;
    if (!p->n_accepted)
        return;
    for (int i = 0; i < STEP_BINS; i++)
        most = p->by_step[i] > most ? p->by_step[i] : most;
    fprintf(out, "\n  %-24s %12s\n", "step", "points");
    for (int i = 0; i < STEP_BINS; i++) {
        if (!p->by_step[i])
            continue;
        const double lo = ldexp(1, i - (STEP_BINS - 16));
        fprintf(out, "  %9s ... %-9s %13lld  %.*s\n", rep_si(b[0], lo, "s"),
                rep_si(b[1], 2 * lo, "s"), (long long)p->by_step[i],
                (int)ceil(40.0 * (double)p->by_step[i] / (double)most),
                "########################################");
    }
    fprintf(out, "\n  %-26s %9s %9s %11s %11s\n", "time", "accepted", "rejected", "least step",
            "largest");
    for (int i = 0; i < TIME_BINS; i++) {
        const time_bin *t = &p->bin[i];
        if (!t->points && !t->rejected)
            continue;
        fprintf(out, "  %9s ... %-11s %11lld %9lld %11s", rep_si(b[0], i * p->bin_width, "s"),
                rep_si(b[1], (i + 1) * p->bin_width, "s"), (long long)t->points,
                (long long)t->rejected, rep_si(b[2], t->least, "s"));
        fprintf(out, " %11s\n", rep_si(b[0], t->most, "s"));
    }
}

static int64_t count_of(const decider *d, int what)
{
    return what == 0 ? d->steps : what == 1 ? d->updates : d->rows;
}

/* Sorts out the TOP unknowns by count `what`, most first; returns how many there are. */
static int find_top(const rep_profile *p, int what, int32_t top[TOP])
{
    int n = 0;
    for (int32_t i = 1; i < (int32_t)vec_len(p->by_unknown); i++) {
        const int64_t k = count_of(&p->by_unknown[i], what);
        if (!k || (n == TOP && k <= count_of(&p->by_unknown[top[n - 1]], what)))
            continue;
        int at = n < TOP ? n++ : TOP - 1;
        while (at > 0 && count_of(&p->by_unknown[top[at - 1]], what) < k) {
            top[at] = top[at - 1];
            at--;
        }
        top[at] = i;
    }
    return n;
}

static const struct {
    const char *key, *text;
} deciders[] = {{"step", "its truncation error decided the step"},
                {"update", "Newton went on because its update was largest"},
                {"residual", "Newton went on because its equation was farthest off"}};

static const char *name_of(const rep_profile *p, int32_t i)
{
    return i <= ckt_n(sim_ckt(p->s)) ? ckt_unknowns(sim_ckt(p->s))[i].name : "?";
}

static void print_deciders(const rep_profile *p, FILE *out)
{
    if (p->n_by_error + p->n_by_other)
        fprintf(out,
                "\n  %lld steps were as long as the truncation error allowed, %lld were decided by "
                "corners, the "
                "largest step or growth\n",
                (long long)p->n_by_error, (long long)p->n_by_other);
    for (int what = 0; what < 3; what++) {
        int32_t top[TOP];
        const int n = find_top(p, what, top);
        if (n)
            fprintf(out, "\n  %s\n", deciders[what].text);
        for (int i = 0; i < n; i++)
            fprintf(out, "  %12lld  %s\n", (long long)count_of(&p->by_unknown[top[i]], what),
                    name_of(p, top[i]));
    }
}

static void json_tail(const rep_profile *p, FILE *out)
{
    bool first = true;
    fprintf(out, "  \"steps\": [");
    for (int i = 0; i < STEP_BINS; i++)
        if (p->by_step[i]) {
            fprintf(out, "%s{\"from\": %.17g, \"points\": %lld}", first ? "" : ", ",
                    ldexp(1, i - (STEP_BINS - 16)), (long long)p->by_step[i]);
            first = false;
        }
    fprintf(out, "],\n  \"history\": [");
    first = true;
    for (int i = 0; i < TIME_BINS; i++)
        if (p->bin[i].points || p->bin[i].rejected) {
            fprintf(out,
                    "%s{\"from\": %.17g, \"accepted\": %lld, \"rejected\": %lld, \"least_step\": "
                    "%.17g, "
                    "\"largest_step\": %.17g}",
                    first ? "" : ",\n    ", i * p->bin_width, (long long)p->bin[i].points,
                    (long long)p->bin[i].rejected, p->bin[i].least, p->bin[i].most);
            first = false;
        }
    fprintf(out, "],\n  \"steps_by_error\": %lld, \"steps_by_limits\": %lld,\n  \"decided\": {",
            (long long)p->n_by_error, (long long)p->n_by_other);
    for (int what = 0; what < 3; what++) {
        int32_t top[TOP];
        const int n = find_top(p, what, top);
        fprintf(out, "%s\"%s\": [", what ? ",\n    " : "", deciders[what].key);
        for (int i = 0; i < n; i++) {
            fputs(i ? ", {\"unknown\": " : "{\"unknown\": ", out);
            rep_json_string(out, name_of(p, top[i]));
            fprintf(out, ", \"times\": %lld}", (long long)count_of(&p->by_unknown[top[i]], what));
        }
        fputc(']', out);
    }
    fputs("}\n}\n", out);
}

static rep_threads_of seconds_by_kind(const rep_profile *p)
{
    rep_threads_of of = {
        .total = p->total,
        .phase = {[POOL_EVALUATE] = p->seconds[ROW_EVALUATE],
                  [POOL_STAMP] = p->seconds[ROW_STAMP],
                  [POOL_FACTOR] = p->seconds[ROW_FACTOR] + p->seconds[ROW_REFACTOR],
                  [POOL_SOLVE] = p->seconds[ROW_SOLVE],
                  [POOL_VECTOR] =
                      p->seconds[ROW_TEST] + p->seconds[ROW_PREDICT] + p->seconds[ROW_LTE]}};
    double rest = p->total;
    for (int k = 0; k < POOL_N_KIND; k++)
        rest -= of.phase[k];
    of.phase[POOL_OTHER] = rest;
    return of;
}

static void print_json(const rep_profile *p, FILE *out)
{
    const int64_t *v = p->n_verdict;
    fprintf(out, "{\n  \"seconds\": %.9g,\n  \"phases\": [\n", p->total);
    for (int i = 0; i < N_ROW; i++)
        fprintf(out, "    {\"phase\": \"%s\", \"calls\": %lld, \"seconds\": %.9g}%s\n", row_name[i],
                (long long)p->calls[i], p->seconds[i], i + 1 < N_ROW ? "," : "");
    fprintf(out, "  ],\n  \"groups\": [\n");
    const int32_t n = ckt_n_group(sim_ckt(p->s));
    for (int32_t i = 0; i < n; i++) {
        const ckt_group_facts g = ckt_group(sim_ckt(p->s), i);
        fprintf(out, "    {\"model\": \"%s\", \"first\": ", mdl_module(g.model)->name);
        rep_json_string(out, ckt_instance_name(sim_ckt(p->s), g.inst[0]));
        fprintf(out, ", \"joined\": %d, \"models\": [", (int)g.n_variant);
        const char **model = rep_group_models(p->s, &g);
        for (size_t k = 0; k < vec_len(model); k++) {
            fputs(k ? ", " : "", out);
            rep_json_string(out, model[k]);
        }
        vec_free(model);
        fprintf(out,
                "], \"instances\": %d, \"evaluations\": %lld, \"bypasses\": %lld, \"seconds\": "
                "%.9g}%s\n",
                g.n_instance, (long long)g.n_eval, (long long)g.n_bypass, g.s_eval,
                i + 1 < n ? "," : "");
    }
    fprintf(out,
            "  ],\n  \"static_points\": %lld, \"accepted\": %lld, \"at_corners\": %lld, "
            "\"at_jumps\": %lld, "
            "\"as_rounding\": %lld,\n  \"rejected\": {\"truncation_error\": %lld, \"newton\": "
            "%lld, \"event\": %lld},\n"
            "  \"latent\": %.4g, \"iterations\": %lld, \"iterations_of_a_point\": {",
            (long long)p->n_static, (long long)p->n_accepted, (long long)p->n_corner,
            (long long)v[ANA_STEP_JUMP], (long long)v[ANA_STEP_NOISE], (long long)v[ANA_STEP_LTE],
            (long long)v[ANA_STEP_NEWTON], (long long)v[ANA_STEP_EVENT], latent_share(p),
            (long long)p->iterations);
    bool first = true;
    for (int i = 0; i <= MAX_ITER; i++)
        if (p->by_iterations[i]) {
            fprintf(out, "%s\"%d\": %lld", first ? "" : ", ", i, (long long)p->by_iterations[i]);
            first = false;
        }
    fputs("},\n", out);
    const rep_threads_of by_kind = seconds_by_kind(p);
    rep_threads_json(p->threads, &by_kind, out);
    rep_activity_json(p->activity, out);
    json_tail(p, out);
}

static vs_status close_trace(rep_profile *p, double now)
{
    if (!p->trace)
        return VS_OK;
    end_chunk(p, now, p->last_t);
    fprintf(p->trace, "\n],\"otherData\":{\"deck\":");
    rep_json_string(p->trace, p->o.deck);
    fprintf(p->trace, ",\"points one by one\":\"%s\"}}\n",
            p->detail ? "all" : "the first ones, then chunks");
    FILE *fp = p->trace;
    p->trace = NULL;
    return rep_close(sim_diag(p->s), fp, p->o.trace);
}

static vs_status draw_activity(const rep_profile *p)
{
    diag *d = sim_diag(p->s);
    const char *why = NULL;
    char *picture;
    size_t n;
    FILE *fp = stream_text(&picture, &n);
    vs_status st = rep_activity_picture(p->activity, sim_flat(p->s)->title, fp, &why);
    (void)stream_close(fp);
    if (st == VS_EINPUT)
        diag_error(d, DIAG_NOWHERE, "'%s' was not drawn: %s", p->o.svg, why);
    fp = st ? NULL : rep_create(d, p->o.svg, FILES_PICTURE);
    if (fp) {
        fwrite(picture, 1, n, fp);
        st = rep_close(d, fp, p->o.svg);
    } else if (!st) {
        st = VS_EIO;
    }
    vs_free(picture);
    return st;
}

vs_status rep_profile_end(rep_profile *p, FILE *out)
{
    const double now = vs_seconds();
    double sum = 0;
    sim_opts(p->s)->watch = NULL;
    p->total = now - p->start - p->seconds[N_ROW] - p->overhead;
    for (int i = 0; i < N_ROW; i++)
        sum += i == ROW_OTHER ? 0 : p->seconds[i];
    int64_t passages = 0;
    for (int i = 0; i <= N_ROW; i++)
        passages += p->calls[i];
    p->measured = p->clock * (double)passages;
    p->total = fmax(p->total - p->measured, sum);
    p->seconds[ROW_OTHER] = p->total - sum;
    p->calls[ROW_OTHER] = 0;
    const rep_threads_of by_kind = seconds_by_kind(p);
    if (out && p->o.json) {
        print_json(p, out);
    } else if (out) {
        print_phases(p, out);
        rep_threads_text(p->threads, &by_kind, out);
        print_groups(p, out);
        print_points(p, out);
        print_steps(p, out);
        print_deciders(p, out);
    }
    vs_status st = close_trace(p, now);
    if (p->steps && rep_steps_close(&p->steps))
        st = VS_EIO;
    if (p->o.svg && out && draw_activity(p) != VS_OK)
        st = VS_EIO;
    rep_activity_free(&p->activity);
    rep_threads_free(&p->threads);
    vec_free(p->by_unknown);
    vs_free(p);
    return st;
}
