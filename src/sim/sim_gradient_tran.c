/* sim_gradient_tran.c - .sens tran: gradients of measures of the deck's transient.
 *  1. The transient runs and is recorded (ana_tape).
 *  2. The measures give their derivatives by the rows of the run (post_measure_slope).
 *  3. The adjoint of the run gives the weights of what each parameter adds to the equations at each
 *     point; differences of single devices, with what was noted when it was moved, are that. */
#include <math.h>
#include <string.h>

#include "sim_gradient.h"
#include "vec.h"

#define ROUNDING 1e-9 /* of a derivative of a waveform, for one that does not jump */

typedef struct tran_gradient {
    gradient *of;
    ana_tape *tape;
    ana_tape_rows rows;
    ckt_vary *vary;
    gradient_source *source; /* vec */
    size_t *line;            /* vec: the parameter of each ckt_line_side */
    size_t n;                /* measures, and as many feeds of theirs, where parts are isolated */
    double *to;              /* [n][parameters] */
} tran_gradient;

static vs_status refuse(const gradient *g)
{
    const sim *s = g->s;
    const char *who = ckt_vary_refuses(s->ckt);
    if (s->flat.trannoise.on)
        diag_error(s->d, g->span,
                   ".sens tran: there are no gradients of runs with noise; leave "
                   ".trannoise out");
    else if (s->option.rcreduce > 0)
        diag_error(s->d, g->span,
                   ".sens tran: option rcreduce joins elements that parameters belong to; leave it "
                   "out");
    else if (ckt_has_delays(s->ckt) && g->run.uic)
        diag_error(s->d, g->span,
                   ".sens tran: with transmission lines or delays there are no gradients of a run "
                   "with uic; .ic without it gives nodes a start");
    else if (ckt_is_digital(s->ckt))
        diag_error(s->d, g->span,
                   ".sens tran: the times at which digital parts change have no adjoint here");
    else if (who)
        diag_error(s->d, g->span,
                   ".sens tran: '%s' remembers more than charges, or is of an OSDI library: it has "
                   "no adjoint here",
                   who);
    else
        return VS_OK;
    return VS_EUNSUPPORTED;
}

/* The derivative by the time of a jump is none that values at the points of a run have. */
static vs_status refuse_jumps(const tran_gradient *w)
{
    const gradient *g = w->of;
    for (size_t i = 0; i < vec_len(w->source); i++) {
        const gradient_by *b = &g->by[w->source[i].p];
        const int32_t k = w->source[i].source;
        if (!wave_jump_moves(&sim_vary_wave_of(&g->now, &b->side[0].at, k)->w,
                             &sim_vary_wave_of(&g->now, &b->side[1].at, k)->w))
            continue;
        diag_error(g->s->d, b->t.span,
                   "'%s' moves the time of a jump of '%s': there is no derivative by it; give the "
                   "jump a rise time",
                   b->t.text, ckt_source_at(g->s->ckt, k).name);
        return VS_EUNSUPPORTED;
    }
    return VS_OK;
}

/* -- the run, and its rows part by part -- */

static size_t n_vec(const sim *s) { return vec_len(s->mem_vec) + 1; }

static void clear_rows(void *user)
{
    const tran_gradient *w = user;
    const gradient *g = w->of;
    for (size_t i = 0; i < n_vec(g->s); i++)
        g->plots.current->vec[i]->n = 0;
}

static vs_status take_rows(void *user)
{
    const tran_gradient *w = user;
    const vs_status st = sim_gradient_piece(w->of);
    clear_rows(user);
    return st;
}

static vs_status add_row(void *user, double axis, const double *x)
{
    const tran_gradient *w = user;
    sim_plot_again(w->of->s, w->of->plots.current, axis, x);
    return VS_OK;
}

/* The row that was added last becomes the first. */
static void move_to_front(const gradient *g)
{
    for (size_t i = 0; i < n_vec(g->s); i++) {
        post_vec *v = g->plots.current->vec[i];
        const double last = v->v[v->n - 1];
        memmove(v->v + 1, v->v, (size_t)(v->n - 1) * sizeof *v->v);
        v->v[0] = last;
    }
}

static vs_status find_seeds(void *user, const ana_tape_part *part, ana_seed **seed)
{
    const tran_gradient *w = user;
    gradient *g = w->of;
    if (part->before) {
        (void)add_row(user, part->axis_before, part->before);
        move_to_front(g);
    }
    if (part->behind)
        (void)add_row(user, part->axis_behind, part->behind);
    const int64_t end = part->first + part->n;
    const vs_status st =
        sim_gradient_slopes(g, part->first - (part->before != NULL), part->first, end);
    return st == VS_OK ? sim_gradient_seeds(g, seed) : st;
}

/* What the rows of a part take, each: vectors, curves of expressions, slopes and seeds. */
static size_t bytes_of_row(const gradient *g)
{
    enum { N_CURVE = 16 };
    const size_t n = n_vec(g->s), m = vec_len(g->meas);
    return (n + N_CURVE) * sizeof(double) + m * n * sizeof(post_slope) + 2 * m * sizeof(ana_seed);
}

/* Values inside devices have no derivatives, and are not known at points of the past. */
static vs_status refuse_details(const gradient *g)
{
    const elab_out *o = NULL;
    for (size_t i = 0; i < vec_len(g->card); i++) {
        const char **name = NULL;
        if (g->card[i].wanted)
            post_measure_names(g->s->names, g->card[i].text, &name);
        for (size_t k = 0; k < vec_len(name); k++)
            for (size_t j = 0; j < vec_len(g->s->mem_vec) && !o; j++) {
                const elab_out *v = &g->s->mem_vec[j];
                o = v->is_detail && post_name_matches(v->name, name[k]) ? v : NULL;
            }
        vec_free(name);
        if (o)
            return sim_gradient_no_detail(g, &g->card[i], o);
    }
    return VS_OK;
}

static vs_status run(tran_gradient *w)
{
    gradient *g = w->of;
    static const sim_axis axis = {"time", "time", "s"};
    sim *s = g->s;
    const flat_ana *a = &g->run;
    const ana_tran_opt o = sim_tran_options(s, a);
    vs_status st = sim_plot_begin(s, "tran", "Transient Analysis", &axis, false);
    if (st == VS_OK)
        st = refuse_details(g);
    if (st != VS_OK)
        return st;
    w->rows = (ana_tape_rows){.bytes = bytes_of_row(g),
                              .full = take_rows,
                              .begin = clear_rows,
                              .row = add_row,
                              .seeds = find_seeds,
                              .user = w};
    if (s->opt.hook.begin)
        s->opt.hook.begin(s->opt.hook.user, "sens");
    st = ana_tape_run(&w->tape, s->ana, &o, sim_sink(s, &s->sink), &w->rows, g->memory);
    return sim_plot_end(s, st);
}

/* -- sums over the points of the adjoint -- */

/* d/dp of the rows of a source that both sides or one of them changes, times f. */
static void add_source(const tran_gradient *w, size_t p, int32_t source, const ana_adjoint *at)
{
    const gradient *g = w->of;
    const gradient_by *b = &g->by[p];
    const ckt_source_facts f = ckt_source_at(g->s->ckt, source);
    const double t = at->env.mode == CKT_STATIC ? 0 : at->env.time;
    const sim_vary_wave *lo = sim_vary_wave_of(&g->now, &b->side[0].at, source),
                        *hi = sim_vary_wave_of(&g->now, &b->side[1].at, source);
    const double span = b->side[1].value - b->side[0].value;
    const wave *now = &g->now.wave[source].w;
    const double value = 0.5 * (sim_vary_wave_value(lo, t) + sim_vary_wave_value(hi, t));
    double dv = wave_slope(now, &lo->w, &hi->w, span, t, at->behind || at->after);
    double dm = (hi->m - lo->m) / span;
    if (at->behind) {
        dv -= wave_slope(now, &lo->w, &hi->w, span, t, false);
        dm = 0;
    }
    const double di = 0.5 * (lo->m + hi->m) * dv + dm * value;
    for (size_t m = 0; m < w->n; m++) {
        const double *y = at->f[m];
        w->to[m * vec_len(g->by) + p] +=
            f.is_v ? -y[f.k] * dv : ((f.p ? y[f.p] : 0) - (f.n ? y[f.n] : 0)) * di;
    }
}

static void add_line(const tran_gradient *w, size_t i, const ana_adjoint *at)
{
    const gradient *g = w->of;
    const double *noted = at->noted ? at->noted + NAT_LINE_NOTE * i : NULL;
    if (at->behind && !noted)
        return;
    for (size_t m = 0; m < w->n; m++) {
        double *to = &w->to[m * vec_len(g->by) + w->line[i]];
        *to += ckt_line_side_sum(g->s->ckt, (int32_t)i, at->x, noted, at->behind, at->f[m]);
        if (at->after && noted)
            *to += ckt_line_side_sum(g->s->ckt, (int32_t)i, at->x, noted, true, at->f[m]);
    }
}

/* Start values: those of uic are x itself, those of .ic are held by conductances. */
static void add_starts(const tran_gradient *w, const ana_adjoint *at)
{
    const gradient *g = w->of;
    for (size_t p = 0; p < vec_len(g->by); p++) {
        const gradient_side *k = g->by[p].side;
        const double *one = k[0].ic ? k[0].ic : g->base.ic, *two = k[1].ic ? k[1].ic : g->base.ic;
        if (one == two)
            continue;
        for (size_t i = 0; i < vec_len(g->base.ic); i++) {
            const double d = (two[i] - one[i]) / (k[1].value - k[0].value);
            const size_t node = at->given ? i : (size_t)g->ic_node[i];
            for (size_t m = 0; m < w->n && d != 0; m++)
                w->to[m * vec_len(g->by) + p] += d * at->f[m][node] * (at->given ? 1 : -at->force);
        }
    }
}

static vs_status visit(void *user, const ana_adjoint *at)
{
    const tran_gradient *w = user;
    const gradient *g = w->of;
    const size_t n = w->n;
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(w->source) && !at->given; i++)
        add_source(w, w->source[i].p, w->source[i].source, at);
    for (size_t i = 0; i < vec_len(w->line) && !at->given; i++)
        add_line(w, i, at);
    if (at->given || at->env.mode == CKT_STATIC)
        add_starts(w, at);
    if (at->given || at->behind)
        return VS_OK;
    ckt_pairing *with = vs_malloc((n + 1) * sizeof *with);
    for (size_t m = 0; m < n; m++)
        with[m] = (ckt_pairing){at->f[m], at->q[m]};
    st = ckt_vary_sum(w->vary, &at->env, at->x, with, n, vec_len(g->by), w->to);
    vs_free(with);
    if (st == VS_NOCONV)
        diag_error(g->s->d, g->span, "a derivative is not finite at t = %.9g s", at->env.time);
    return st;
}

/* Whether a source's derivative by a parameter jumps at t, where a corner moves. */
static bool jumps(void *user, double t)
{
    const tran_gradient *w = user;
    const gradient *g = w->of;
    for (size_t i = 0; i < vec_len(w->source); i++) {
        const gradient_by *b = &g->by[w->source[i].p];
        const int32_t k = w->source[i].source;
        const wave *now = &g->now.wave[k].w, *lo = &sim_vary_wave_of(&g->now, &b->side[0].at, k)->w,
                   *hi = &sim_vary_wave_of(&g->now, &b->side[1].at, k)->w;
        const double span = b->side[1].value - b->side[0].value;
        const double behind = wave_slope(now, lo, hi, span, t, true);
        const double before = wave_slope(now, lo, hi, span, t, false);
        if (fabs(behind - before) > ROUNDING * (fabs(behind) + fabs(before)))
            return true;
    }
    return false;
}

static void begin_sums(tran_gradient *w)
{
    w->n = vec_len(w->of->meas) * (ana_tape_feeds(w->tape) ? 2 : 1);
    w->to = vs_calloc(w->n * vec_len(w->of->by) + 1, sizeof *w->to);
}

/* Derivatives, but nan where gmin alone carries them. */
static void take_sums(tran_gradient *w)
{
    gradient *g = w->of;
    const size_t n_by = vec_len(g->by), n = vec_len(g->meas);
    const char **name = sim_gradient_names(g);
    double *at = vs_calloc(n_by + 1, sizeof *at);
    for (size_t p = 0; p < n_by; p++)
        at[p] = g->by[p].value;
    for (size_t m = 0; m < n && w->n > n; m++)
        ana_tape_judge(w->tape, n_by, name, at, w->to + (n + m) * n_by, w->to + m * n_by);
    for (size_t i = 0; i < n * n_by; i++)
        g->to[i] += w->to[i];
    vs_free(at);
    vs_free(name);
}

static vs_status run_and_measure(tran_gradient *w)
{
    gradient *g = w->of;
    vs_status st = sim_gradient_lines(g, &w->line);
    if (st == VS_OK)
        st = run(w);
    if (st == VS_OK && g->flow)
        st = sim_gradient_piece(g);
    if (st == VS_OK)
        st = sim_gradient_values(g);
    if (st == VS_OK)
        st = sim_gradient_vary(g, &w->vary);
    if (st == VS_OK)
        begin_sums(w);
    if (st == VS_OK)
        st = ckt_vary_ready(w->vary, w->n);
    sim_gradient_sources(w->of, &w->source);
    if (st == VS_OK)
        st = refuse_jumps(w);
    if (st == VS_OK)
        st = ana_tape_back(w->tape, (int32_t)vec_len(g->meas), jumps, visit, w);
    if (st == VS_OK) {
        st = ckt_vary_total(w->vary, w->n, vec_len(g->by), w->to);
        if (st == VS_NOCONV)
            diag_error(g->s->d, g->span, "a derivative is not finite");
    }
    if (st == VS_OK)
        take_sums(w);
    return st;
}

vs_status sim_gradient_of_tran(gradient *g)
{
    tran_gradient w = {.of = g};
    vs_status st = refuse(g);
    if (st == VS_OK)
        st = sim_start_op(g->s, true);
    if (st != VS_OK)
        return st;
    st = run_and_measure(&w);
    ana_tape_free(&w.tape);
    ckt_line_no_sides(g->s->ckt);
    vs_free(w.to);
    vec_free(w.source);
    vec_free(w.line);
    ckt_vary_free(&w.vary);
    sim_count(g->s);
    return st;
}
