/* api_result.c - results of runs: plots, vectors, measures (result.h). */
#include <math.h>
#include <string.h>

#include "api_priv.h"
#include "meas.h"

static post_set *plots_of(const vsim_run *r)
{
    return r->state == API_UNDER_WAY ? sim_plots(r->d->sim) : (post_set *)(uintptr_t)&r->plots;
}

/* -- plots -- */

static const vsim_plot *outside(const post_plot *p) { return api_plot(p); }
static const post_plot *inside(const vsim_plot *p) { return (const post_plot *)p; }

size_t vsim_run_plot_count(const vsim_run *r) { return vec_len(plots_of(r)->plot); }

const vsim_plot *vsim_run_plot(const vsim_run *r, size_t i)
{
    const post_set *s = plots_of(r);
    return i < vec_len(s->plot) ? outside(s->plot[i]) : NULL;
}

const char *vsim_plot_name(const vsim_plot *p) { return inside(p)->what; }
const char *vsim_plot_id(const vsim_plot *p) { return inside(p)->name; }
const char *vsim_plot_title(const vsim_plot *p) { return inside(p)->title; }
const char *vsim_plot_date(const vsim_plot *p) { return inside(p)->date; }
size_t vsim_plot_vector_count(const vsim_plot *p) { return vec_len(inside(p)->vec); }

static const char *unit_of(const char *kind)
{
    static const struct {
        const char *kind, *unit;
    } known[] = {{"time", "s"}, {"voltage", "V"}, {"current", "A"}, {"frequency", "Hz"}};
    for (size_t i = 0; i < VS_COUNT(known); i++)
        if (!strcmp(known[i].kind, kind))
            return known[i].unit;
    return "";
}

static bool give(const post_vec *from, vsim_vector *to)
{
    if (!from)
        return false;
    *to = (vsim_vector){.name = from->name,
                        .kind = from->type,
                        .unit = unit_of(from->type),
                        .complex_values = from->complex,
                        .n = (size_t)from->n,
                        .v = from->v};
    return true;
}

bool vsim_plot_vector(const vsim_plot *p, size_t i, vsim_vector *v)
{
    return i < vec_len(inside(p)->vec) && give(inside(p)->vec[i], v);
}

bool vsim_plot_find(const vsim_plot *p, const char *name, vsim_vector *v)
{
    return give(post_plot_find(inside(p), name), v);
}

bool vsim_plot_axis(const vsim_plot *p, vsim_vector *v) { return give(inside(p)->scale, v); }

/* -- of the first plot -- */

static void no_vector(diag *d, const post_plot *p, const char *name)
{
    const char **known = NULL;
    diag_error(d, DIAG_NOWHERE, "the run has no vector '%s'", name);
    for (size_t i = 0; p && i < vec_len(p->vec); i++)
        vec_push(known, p->vec[i]->name);
    diag_suggest(d, name, known, vec_len(known));
    vec_free(known);
}

static vs_status do_vector(void *arg)
{
    const api_args *a = arg;
    const post_set *s = plots_of(a->r);
    for (size_t i = 0; i < vec_len(s->plot); i++)
        if (give(post_plot_find(s->plot[i], a->name), a->out))
            return VS_OK;
    no_vector(&a->r->d->s->d, vec_len(s->plot) ? s->plot[0] : NULL, a->name);
    return VS_EINPUT;
}

vsim_status vsim_run_vector(vsim_run *r, const char *name, vsim_vector *v)
{
    api_args a = {.r = r, .name = name, .out = v};
    return api_enter(r->d->s, do_vector, &a);
}

static vs_status do_value(void *arg)
{
    const api_args *a = arg;
    vsim_vector v;
    api_args of = *a;
    of.out = &v;
    const vs_status st = do_vector(&of);
    if (st)
        return st;
    if (!v.n || v.complex_values) {
        diag_error(&a->r->d->s->d, DIAG_NOWHERE,
                   v.n ? "'%s' is complex: see vsim_run_vector" : "'%s' has no values", v.name);
        return VS_EINPUT;
    }
    *(double *)a->out = v.v[v.n - 1];
    return VS_OK;
}

vsim_status vsim_run_value(vsim_run *r, const char *name, double *value)
{
    api_args a = {.r = r, .name = name, .out = value};
    return api_enter(r->d->s, do_value, &a);
}

/* -- measures -- */

/* What is no vector: earlier measures, parameters of the deck, values inside devices. */
static bool number_of(void *user, const char *name, double *value)
{
    const vsim_run *r = user;
    for (size_t i = 0; i < vec_len(r->measured); i++)
        if (!str_casecmp(r->measured[i].name, name)) {
            *value = r->measured[i].value;
            return true;
        }
    str_pool *names = &r->d->s->names;
    return sim_param(r->d->sim, str_intern_lower(names, name, strlen(name)), value) ||
           sim_device_value(r->d->sim, name, value);
}

/* The first plot that has one of the vectors, else the first. NULL: there is none. */
static post_plot *first_with(const post_set *s, const char *const *name)
{
    for (size_t i = 0; i < vec_len(s->plot); i++)
        for (size_t k = 0; k < vec_len(name); k++)
            if (post_plot_find(s->plot[i], name[k]))
                return s->plot[i];
    return vec_len(s->plot) ? s->plot[0] : NULL;
}

/* word: for the analysis, as .meas cards have it; NULL: of the plots in their order */
static vs_status measure(vsim_run *r, const char *word, const char *text, diag_span at,
                         post_meas *m)
{
    post_set *set = plots_of(r);
    const char **name = NULL;
    post_measure_names(&r->d->s->names, text, &name);
    arena mem;
    uint64_t seed = 1;
    post_plot *was = set->current;
    arena_init(&mem);
    post_env e = {.set = set,
                  .d = &r->d->s->d,
                  .span = at,
                  .line = text,
                  .line_at = at,
                  .mem = &mem,
                  .seed = &seed,
                  .number = number_of,
                  .user = r};
    set->current = word ? post_set_of(set, sim_result_plots(word), name, vec_len(name))
                        : first_with(set, name);
    vec_free(name);
    const vs_status st = post_measure(&e, text, at, m);
    set->current = was;
    if (!st && !m->ok)
        diag_warning(&r->d->s->d, at, "the measure '%s' failed: %s", m->name,
                     m->why ? m->why : "no such value");
    m->why = NULL;
    arena_fini(&mem);
    return st;
}

static vs_status do_measure(void *arg)
{
    const api_args *a = arg;
    vsim *s = a->r->d->s;
    post_meas m;
    const size_t len = strlen(a->name);
    s->own_file = vec_len(s->d.file) + 1;
    const int32_t file = diag_add_file(&s->d, "measure", a->name, len, DIAG_NOWHERE);
    const vs_status st = measure(a->r, NULL, a->name, (diag_span){file, 0, (uint32_t)len}, &m);
    if (!st)
        *(double *)a->out = m.ok ? m.value : NAN;
    return st;
}

vsim_status vsim_run_measure(vsim_run *r, const char *text, double *value)
{
    api_args a = {.r = r, .name = text, .out = value};
    return api_enter(r->d->s, do_measure, &a);
}

/* The text of a .meas card behind its analysis, *word, if it is for analyses like this run's. */
static const char *measure_card(const vsim_run *r, arena *mem, const net_card *card, diag_span *at,
                                const char **word)
{
    if (strcmp(card->name, "meas") && strcmp(card->name, "measure"))
        return NULL;
    const char *text = sim_card_text(r->d->sim, mem, card, 1, at);
    const size_t n = strcspn(text, " \t"), skip = n + strspn(text + n, " \t");
    *word = arena_strndup(mem, text, n);
    if (!sim_result_of(&r->a, *word))
        return NULL;
    at->off += (uint32_t)skip;
    at->len -= (uint32_t)skip;
    return text + skip;
}

void api_want_measures(vsim_run *r)
{
    const flat *f = sim_flat(r->d->sim);
    arena mem;
    const char *word;
    diag_span at;
    arena_init(&mem);
    for (size_t i = 0; i < vec_len(f->post) && r->o.keep != VSIM_KEEP_NOTHING; i++) {
        const char *text = measure_card(r, &mem, f->post[i], &at, &word);
        if (text)
            post_measure_names(&r->d->s->names, text, &r->keep);
    }
    arena_fini(&mem);
}

vs_status api_measure_all(vsim_run *r)
{
    const flat *f = sim_flat(r->d->sim);
    arena mem;
    const char *word;
    diag_span at;
    vs_status st = VS_OK;
    arena_init(&mem);
    for (size_t i = 0; i < vec_len(f->post) && r->o.keep != VSIM_KEEP_NOTHING; i++) {
        const char *text = measure_card(r, &mem, f->post[i], &at, &word);
        post_meas m;
        if (!text)
            continue;
        const vs_status one = measure(r, word, text, at, &m);
        if (!one)
            vec_push(r->measured, (vsim_measured){m.name, m.ok ? m.value : NAN});
        st = st ? st : one;
    }
    arena_fini(&mem);
    return st;
}

size_t vsim_run_measured_count(const vsim_run *r) { return vec_len(r->measured); }

bool vsim_run_measured(const vsim_run *r, size_t i, vsim_measured *m)
{
    if (i >= vec_len(r->measured))
        return false;
    *m = r->measured[i];
    return true;
}
