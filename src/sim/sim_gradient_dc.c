/* sim_gradient_dc.c - .sens op, .sens dc: gradients of measures of the deck's operating point or dc
 * sweep. The run gives the rows, whose solutions are kept, the measures their derivatives by these
 * (post_measure_slope), and ana_gradient_static the derivatives by the parameters. */
#include "sim_gradient.h"
#include "vec.h"

typedef struct static_gradient {
    gradient *of;
    ckt_vary *vary;
    double *x;      /* vec: [rows][n+1] */
    ana_seed *seed; /* vec */
    ana_push *push; /* vec */
    size_t *line;   /* vec: the parameter of each ckt_line_side */
} static_gradient;

static bool is_monotonic(const flat_sweep *w)
{
    bool up = true, down = true;
    for (size_t k = 1; k < vec_len(w->value); k++) {
        up &= w->value[k] > w->value[k - 1];
        down &= w->value[k] < w->value[k - 1];
    }
    return up || down;
}

static vs_status refuse(const gradient *g)
{
    const sim *s = g->s;
    if (g->run.kind == FLAT_DCSWEEP && g->run.sweep[0].what != FLAT_SWEEP_SOURCE) {
        diag_error(s->d, g->span,
                   ".sens dc: the deck's .dc sweeps '%s', which is no source; there are gradients "
                   "of sweeps of a source",
                   g->run.sweep[0].name);
        return VS_EUNSUPPORTED;
    }
    if (g->run.kind == FLAT_DCSWEEP && g->run.n_sweep > 1) {
        diag_error(s->d, g->span,
                   ".sens dc: the deck's .dc has %d loops; there are gradients of sweeps of one "
                   "source, and .step makes them again at other values",
                   g->run.n_sweep);
        return VS_EUNSUPPORTED;
    }
    if (g->run.kind == FLAT_DCSWEEP && !is_monotonic(&g->run.sweep[0])) {
        diag_error(s->d, g->span,
                   ".sens dc: the values of the deck's .dc go up and down; there are gradients of "
                   "sweeps in one direction");
        return VS_EUNSUPPORTED;
    }
    return sim_gradient_refuse_small(g);
}

/* What clients hear of points is not meant: this run is our own. */
static vs_status run(static_gradient *w)
{
    gradient *g = w->of;
    sim_hook *h = &g->s->opt.hook;
    const sim_hook was = *h;
    h->value = NULL;
    h->device = NULL;
    h->begin = NULL;
    g->s->solution = &w->x;
    const vs_status st = sim_kind_of(g->run.kind)->run(g->s, &g->run);
    g->s->solution = NULL;
    *h = was;
    return st;
}

static void add_source(static_gradient *w, size_t p, int32_t source)
{
    const gradient *g = w->of;
    const gradient_by *b = &g->by[p];
    const bool is_v = ckt_source_at(g->s->ckt, source).is_v;
    double value[2];
    for (int k = 0; k < 2; k++) {
        const sim_vary_wave *v = sim_vary_wave_of(&g->now, &b->side[k].at, source);
        value[k] = (is_v ? 1 : v->m) * wave_dc(&v->w);
    }
    vec_push(w->push, ((ana_push){source, (int32_t)p,
                                  (value[1] - value[0]) / (b->side[1].value - b->side[0].value)}));
}

static void find_pushes(static_gradient *w)
{
    gradient_source *moved = NULL;
    sim_gradient_sources(w->of, &moved);
    for (size_t i = 0; i < vec_len(moved); i++)
        add_source(w, moved[i].p, moved[i].source);
    vec_free(moved);
}

static vs_status differentiate(static_gradient *w)
{
    gradient *g = w->of;
    int32_t swept = -1;
    vs_status st = VS_OK;
    if (g->run.kind == FLAT_DCSWEEP)
        st = sim_source_of(g->s, g->run.sweep[0].name, g->span, &swept);
    const ana_static_opt o = {.x = w->x,
                              .swept = swept,
                              .level = swept >= 0 ? g->run.sweep[0].value : NULL,
                              .seed = w->seed,
                              .vary = w->vary,
                              .push = w->push,
                              .line = w->line,
                              .n_line = vec_len(w->line),
                              .n_seed = vec_len(w->seed),
                              .n_measure = vec_len(g->meas),
                              .n_param = vec_len(g->by),
                              .n_push = vec_len(w->push)};
    if (st == VS_OK &&
        g->run.kind == FLAT_DCSWEEP) /* of a single point the interpreter is done sooner */
        st = ckt_vary_ready(w->vary, vec_len(g->meas));
    if (st == VS_OK)
        st = ana_gradient_static(g->s->ana, &o, sim_sink(g->s, &g->s->sink), g->to);
    sim_count(g->s);
    return st;
}

vs_status sim_gradient_of_static(gradient *g)
{
    static_gradient w = {.of = g};
    vs_status st = refuse(g);
    if (st == VS_OK)
        st = run(&w);
    if (st == VS_OK)
        st = sim_gradient_measure(g);
    if (st == VS_OK)
        st = sim_gradient_seeds(g, &w.seed);
    if (st == VS_OK)
        st = sim_gradient_vary(g, &w.vary);
    if (st == VS_OK) {
        find_pushes(&w);
        st = sim_gradient_lines(g, &w.line);
    }
    if (st == VS_OK)
        st = differentiate(&w);
    if (g->s->ckt)
        ckt_line_no_sides(g->s->ckt);
    vec_free(w.line);
    ckt_vary_free(&w.vary);
    vec_free(w.x);
    vec_free(w.seed);
    vec_free(w.push);
    return st;
}
