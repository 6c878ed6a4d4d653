/* sim_gradient_dc.c - .sens op, .sens dc: gradients of measures of the deck's operating point or dc
 * sweep. The run gives the rows, whose solutions are kept, the measures their derivatives by these
 * (post_measure_slope), and ana_gradient_static the derivatives by the parameters. Where loops
 * sweep more than sources, rows at which temperature and parameters are the same are a group: for
 * each the circuit is built and the parameters are moved at its values. */
#include <string.h>

#include "sim_gradient.h"
#include "vec.h"

typedef struct static_gradient {
    gradient *of;
    ckt_vary *vary;
    sim_points x;
    ana_seed *seed;  /* vec: of all rows */
    ana_seed *now;   /* vec: of a group's rows */
    ana_push *push;  /* vec */
    size_t *line;    /* vec: the parameter of each ckt_line_side */
    int32_t *source; /* vec: those that are swept, */
    double *level;   /* vec: [rows][vec_len(source)] and their values */
} static_gradient;

static bool is_source(const flat_sweep *w) { return w->what == FLAT_SWEEP_SOURCE; }

static int n_loop(const gradient *g) { return g->run.kind == FLAT_DCSWEEP ? g->run.n_sweep : 0; }

/* The place of a row in a loop; the first one is the inner one. */
static size_t place_in(const gradient *g, size_t row, int loop)
{
    for (int k = 0; k < loop; k++)
        row /= vec_len(g->run.sweep[k].value);
    return row % vec_len(g->run.sweep[loop].value);
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

static vs_status find_sources(static_gradient *w)
{
    gradient *g = w->of;
    vec_clear(w->source);
    for (int k = 0; k < n_loop(g); k++) {
        int32_t source;
        if (!is_source(&g->run.sweep[k]))
            continue;
        const vs_status st = sim_source_of(g->s, g->run.sweep[k].name, g->span, &source);
        if (st != VS_OK)
            return st;
        vec_push(w->source, source);
    }
    return VS_OK;
}

static void find_levels(static_gradient *w)
{
    const gradient *g = w->of;
    for (size_t row = 0; row < vec_len(w->x.at); row++)
        for (int k = 0; k < n_loop(g); k++)
            if (is_source(&g->run.sweep[k]))
                vec_push(w->level, g->run.sweep[k].value[place_in(g, row, k)]);
}

/* The circuit is built, parameters were moved: adds what the rows of w->now give. */
static vs_status differentiate(static_gradient *w)
{
    gradient *g = w->of;
    vec_clear(w->push);
    vec_clear(w->line);
    vs_status st = sim_gradient_vary(g, &w->vary);
    if (st == VS_OK)
        st = find_sources(w);
    if (st == VS_OK) {
        find_pushes(w);
        st = sim_gradient_lines(g, &w->line);
    }
    if (st == VS_OK && vec_len(w->x.at) > 1) /* of a single point the interpreter is done sooner */
        st = ckt_vary_ready(w->vary, vec_len(g->meas));
    const char **name = sim_gradient_names(g);
    const ana_static_opt o = {.x = w->x.x,
                              .at = w->x.at,
                              .swept = w->source,
                              .n_swept = (int32_t)vec_len(w->source),
                              .level = w->level,
                              .seed = w->now,
                              .vary = w->vary,
                              .push = w->push,
                              .line = w->line,
                              .n_line = vec_len(w->line),
                              .n_seed = vec_len(w->now),
                              .n_measure = vec_len(g->meas),
                              .n_param = vec_len(g->by),
                              .name = name,
                              .n_push = vec_len(w->push)};
    if (st == VS_OK)
        st = ana_gradient_static(g->s->ana, &o, sim_sink(g->s, &g->s->sink), g->to);
    vs_free(name);
    sim_count(g->s);
    ckt_line_no_sides(g->s->ckt);
    ckt_vary_free(&w->vary);
    return st;
}

/* -- groups -- */

/* Rows with the same values of all loops that sweep no source have the same number. */
static size_t group_of(const gradient *g, size_t row)
{
    size_t number = 0;
    for (int k = n_loop(g) - 1; k >= 0; k--)
        if (!is_source(&g->run.sweep[k]))
            number = number * vec_len(g->run.sweep[k].value) + place_in(g, row, k);
    return number;
}

/* A loop sets the parameter itself. */
static bool sets(const flat_sweep *w, const flat_target *t)
{
    switch (w->what) {
    case FLAT_SWEEP_TEMP: return t->kind == FLAT_SET_TEMP;
    case FLAT_SWEEP_PARAM:
        return t->kind == FLAT_SET_PARAM && t->name == (w->param ? w->param : w->name);
    case FLAT_SWEEP_INST:
        return t->kind == FLAT_SET_INST && t->name == w->name &&
               !strcmp(t->param, !w->param || !strcmp(w->param, "value") ? "" : w->param);
    default: return false;
    }
}

static vs_status put_values(const gradient *g, size_t row)
{
    vs_status st = VS_OK;
    for (int k = n_loop(g) - 1; k >= 0 && st == VS_OK; k--)
        if (!is_source(&g->run.sweep[k]))
            st = sim_dc_put(g->s, &g->run.sweep[k], g->run.sweep[k].value[place_in(g, row, k)]);
    return st;
}

static vs_status at_group(static_gradient *w)
{
    gradient *g = w->of;
    vs_status st = put_values(g, (size_t)w->now[0].row);
    if (st == VS_OK)
        st = sim_gradient_move(g);
    if (st == VS_OK)
        st = sim_ready(g->s, &g->run);
    if (st == VS_OK)
        st = sim_start(g->s);
    if (st == VS_OK)
        st = differentiate(w);
    sim_gradient_unmove(g);
    return st;
}

/* Each group that measures look at; what was moved at the deck's own values is kept beside. */
static vs_status each_group(static_gradient *w)
{
    gradient *g = w->of, kept = *g;
    sim_saved *was = sim_save(g->s);
    const size_t n = vec_len(w->seed);
    bool *done = arena_array(&g->mem, bool, n + 1);
    vs_status st = VS_OK;
    g->by = NULL;
    g->ic_node = NULL;
    g->now = (sim_vary){0};
    g->base = (gradient_side){0};
    for (size_t i = 0; i < vec_len(kept.by); i++) {
        gradient_by b = {.t = kept.by[i].t};
        for (int k = 0; k < n_loop(g); k++)
            b.held |= sets(&g->run.sweep[k], &b.t);
        vec_push(g->by, b);
    }
    for (size_t i = 0; i < n && st == VS_OK; i++) {
        const size_t group = group_of(g, (size_t)w->seed[i].row);
        vec_clear(w->now);
        for (size_t k = i; k < n && !done[i]; k++)
            if (group_of(g, (size_t)w->seed[k].row) == group) {
                vec_push(w->now, w->seed[k]);
                done[k] = k > i;
            }
        if (!done[i])
            st = at_group(w);
    }
    vec_free(g->by);
    vec_free(g->ic_node);
    g->by = kept.by;
    g->ic_node = kept.ic_node;
    g->now = kept.now;
    g->base = kept.base;
    sim_restore(g->s, was);
    sim_saved_free(&was);
    return st;
}

static bool only_sources(const gradient *g)
{
    bool only = true;
    for (int k = 0; k < n_loop(g); k++)
        only &= is_source(&g->run.sweep[k]);
    return only;
}

vs_status sim_gradient_of_static(gradient *g)
{
    static_gradient w = {.of = g};
    vs_status st = sim_gradient_refuse_small(g);
    if (st == VS_OK)
        st = run(&w);
    if (st == VS_OK)
        st = sim_gradient_measure(g);
    if (st == VS_OK)
        st = sim_gradient_seeds(g, &w.seed);
    if (st == VS_OK)
        find_levels(&w);
    if (st == VS_OK && only_sources(g)) {
        w.now = w.seed;
        w.seed = NULL;
        if (n_loop(g) > 1) /* whose end leaves the circuit to be built */
            st = sim_ready(g->s, &g->run);
        if (st == VS_OK && n_loop(g) > 1)
            st = sim_start(g->s);
        if (st == VS_OK)
            st = differentiate(&w);
    } else if (st == VS_OK) {
        st = each_group(&w);
    }
    vec_free(w.x.x);
    vec_free(w.x.at);
    vec_free(w.seed);
    vec_free(w.now);
    vec_free(w.push);
    vec_free(w.line);
    vec_free(w.source);
    vec_free(w.level);
    return st;
}
