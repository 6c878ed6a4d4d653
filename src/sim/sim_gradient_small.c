/* sim_gradient_small.c - .sens ac, .sens noise: gradients of measures of the deck's .ac or .noise.
 * The run gives the rows, the measures their derivatives by these (post_measure_slope), and
 * ana_gradient the derivatives by the parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim_gradient.h"
#include "vec.h"

typedef struct small_gradient {
    gradient *of;
    ckt_vary *vary;
    ana_spectral_seed *seed;   /* vec */
    ana_push *push;            /* vec */
    ana_gradient_drive *drive; /* vec */
    size_t *line;              /* vec: the parameter of each ckt_line_side */
} small_gradient;

vs_status sim_gradient_refuse_small(const gradient *g)
{
    const sim *s = g->s;
    const char *word = sim_analysis_word(g->run.kind);
    if (s->option.rcreduce > 0)
        diag_error(s->d, g->span,
                   ".sens %s: option rcreduce joins elements that parameters belong to; leave it "
                   "out",
                   word);
    else if (ckt_n_osdi(s->ckt))
        diag_error(s->d, g->span,
                   ".sens %s: parameters of devices of OSDI libraries ('%s') cannot be moved here; "
                   "vsim compiles the Verilog-A source of the model itself",
                   word, ckt_osdi_at(s->ckt, 0).name);
    else
        return VS_OK;
    return VS_EUNSUPPORTED;
}

/* -- seeds -- */

static int compare_seeds(const void *va, const void *vb)
{
    const ana_spectral_seed *a = va, *b = vb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->measure != b->measure)
        return a->measure < b->measure ? -1 : 1;
    return a->unknown < b->unknown ? -1 : a->unknown > b->unknown;
}

static vs_status add_phasor(small_gradient *w, const gradient_card *c, int32_t m,
                            const post_slope *p)
{
    const elab_out *o = sim_gradient_vector(w->of, c, p);
    if (!o)
        return VS_EINPUT;
    const double re = p->by * o->factor, im = p->by_im * o->factor;
    if (o->hi)
        vec_push(w->seed, ((ana_spectral_seed){p->point, m, o->hi, re, im}));
    if (o->lo)
        vec_push(w->seed, ((ana_spectral_seed){p->point, m, o->lo, -re, -im}));
    return VS_OK;
}

static vs_status add_density(small_gradient *w, const gradient_card *c, int32_t m,
                             const post_slope *p)
{
    const gradient *g = w->of;
    const char *name = g->plots.current->vec[p->vec]->name;
    const bool in = !strcmp(name, "inoise_spectrum");
    if (!in && strcmp(name, "onoise_spectrum")) {
        diag_error(g->s->d, c->at,
                   "the measure '%s' has no derivative: '%s' is the part of a device; "
                   "onoise_spectrum and inoise_spectrum have one",
                   c->name, name);
        return VS_EINPUT;
    }
    vec_push(w->seed, ((ana_spectral_seed){p->point, m, in, p->by, 0}));
    return VS_OK;
}

static vs_status seeds_of(small_gradient *w)
{
    const gradient *g = w->of;
    for (size_t m = 0; m < vec_len(g->meas); m++) {
        const gradient_card *c = sim_gradient_find_card(g, g->meas[m]);
        for (size_t i = 0; i < vec_len(c->got.slope); i++) {
            const post_slope *p = &c->got.slope[i];
            const vs_status st = g->run.kind == FLAT_AC ? add_phasor(w, c, (int32_t)m, p)
                                                        : add_density(w, c, (int32_t)m, p);
            if (st != VS_OK)
                return st;
        }
    }
    if (vec_len(w->seed))
        qsort(w->seed, vec_len(w->seed), sizeof *w->seed, compare_seeds);
    return VS_OK;
}

/* -- sources -- */

static void add_source(small_gradient *w, size_t p, int32_t source)
{
    const gradient *g = w->of;
    const gradient_by *b = &g->by[p];
    const bool is_v = ckt_source_at(g->s->ckt, source).is_v;
    const double span = b->side[1].value - b->side[0].value;
    double dc = 0, re = 0, im = 0;
    for (int k = 0; k < 2; k++) {
        const sim_vary_wave *v = sim_vary_wave_of(&g->now, &b->side[k].at, source);
        const double by = (k ? 1 : -1) * (is_v ? 1 : v->m) / span;
        const double angle = v->w.ac_phase * (M_PI / 180);
        dc += by * wave_dc(&v->w);
        re += by * v->w.ac_mag * cos(angle);
        im += by * v->w.ac_mag * sin(angle);
    }
    vec_push(w->push, ((ana_push){source, (int32_t)p, dc}));
    vec_push(w->drive, ((ana_gradient_drive){source, (int32_t)p, re, im}));
}

static void add_sources(small_gradient *w)
{
    gradient_source *moved = NULL;
    sim_gradient_sources(w->of, &moved);
    for (size_t i = 0; i < vec_len(moved); i++)
        add_source(w, moved[i].p, moved[i].source);
    vec_free(moved);
}

/* -- the gradient -- */

static vs_status run(gradient *g)
{
    const vs_status st =
        g->run.kind == FLAT_AC ? sim_run_ac(g->s, &g->run) : sim_run_noise(g->s, &g->run);
    if (st == VS_OK && g->run.kind == FLAT_NOISE)
        g->plots.current = g->plots.plot[vec_len(g->plots.plot) - 2]; /* the last has the totals */
    return st;
}

static vs_status differentiate(small_gradient *w)
{
    gradient *g = w->of;
    ana_noise_opt noise = {.summary = 0};
    vs_status st = VS_OK;
    if (g->run.kind == FLAT_NOISE) {
        st = sim_output_of(g->s, &g->run, &noise.out);
        if (st == VS_OK)
            st = sim_source_of(g->s, g->run.source, g->span, &noise.source);
    }
    const char **name = sim_gradient_names(g);
    const ana_gradient_opt o = {.noise = g->run.kind == FLAT_NOISE ? &noise : NULL,
                                .f = g->plots.current->scale->v,
                                .seed = w->seed,
                                .vary = w->vary,
                                .push = w->push,
                                .drive = w->drive,
                                .line = w->line,
                                .n_line = vec_len(w->line),
                                .n_seed = vec_len(w->seed),
                                .n_measure = vec_len(g->meas),
                                .n_param = vec_len(g->by),
                                .name = name,
                                .n_push = vec_len(w->push),
                                .n_drive = vec_len(w->drive)};
    if (st == VS_OK)
        st = ana_gradient(g->s->ana, &o, sim_sink(g->s, &g->s->sink), g->to);
    vs_free(name);
    sim_count(g->s);
    return st;
}

vs_status sim_gradient_of_small(gradient *g)
{
    small_gradient w = {.of = g};
    vs_status st = sim_gradient_refuse_small(g);
    if (st == VS_OK)
        st = run(g);
    if (st == VS_OK)
        st = sim_gradient_measure(g);
    if (st == VS_OK)
        st = seeds_of(&w);
    if (st == VS_OK)
        st = sim_gradient_vary(g, &w.vary);
    if (st == VS_OK) {
        add_sources(&w);
        st = sim_gradient_lines(g, &w.line);
    }
    if (st == VS_OK)
        st = differentiate(&w);
    if (g->s->ckt)
        ckt_line_no_sides(g->s->ckt);
    vec_free(w.line);
    ckt_vary_free(&w.vary);
    vec_free(w.seed);
    vec_free(w.push);
    vec_free(w.drive);
    return st;
}
