/* api_family.c - the points of .step and .mc, one at a time (deck.h). */
#include "api_priv.h"

/* Once: how many points there are, and what decides loops of the deck. */
static vs_status need_family(vsim_deck *d)
{
    if (d->family_known)
        return VS_OK;
    if (fam_wanted(d->sim)) {
        if (!fam_count(&d->fam))
            return VS_EINPUT;
        (void)fam_columns(&d->fam, &d->column);
    }
    d->family_known = true;
    return VS_OK;
}

static vs_status do_family(void *arg)
{
    const api_args *a = arg;
    const vs_status st = need_family(a->d);
    *(vsim_family *)a->out = (vsim_family){a->d->fam.total, a->d->column, vec_len(a->d->column)};
    return st;
}

vsim_status vsim_family_of(vsim_deck *d, vsim_family *f)
{
    api_args a = {.d = d, .out = f};
    return api_enter(d->s, do_family, &a);
}

typedef struct point {
    vsim_deck *d;
    int64_t k;
    size_t column;
    double *value;
    const char **label;
} point;

static vs_status check_point(const point *p)
{
    const vs_status st = need_family(p->d);
    const int64_t n = p->d->fam.total;
    if (st || (p->k >= 0 && p->k < n))
        return st;
    if (n)
        diag_error(&p->d->s->d, DIAG_NOWHERE, "the family has points 0 to %lld, not %lld",
                   (long long)n - 1, (long long)p->k);
    else
        diag_error(&p->d->s->d, DIAG_NOWHERE, "the deck has no .step and no .mc");
    return VS_EINPUT;
}

static vs_status set_point(vsim_deck *d, int64_t k)
{
    api_use_files(d);
    if (!d->family_begun) {
        fam_find_loops(&d->fam);
        sim_many(d->sim);
        d->family_begun = true;
    }
    if (d->fam.start_first && !d->fam.have_first)
        fam_find_first(&d->fam);
    if (d->beside)
        fam_forget(&d->fam);
    sim_fresh(d->sim);
    const vs_status st = fam_set(&d->fam, k), built = st ? api_take_back(d, st) : api_circuit(d);
    d->beside = built != VS_OK;
    return built;
}

static vs_status do_set(void *arg)
{
    const point *p = arg;
    vsim_deck *d = p->d;
    const vs_status st = check_point(p);
    if (st)
        return st;
    const bool beside = d->beside;
    if (!api_begin_change(d, "vsim_family_set", 0))
        return VS_EINPUT;
    d->beside = beside;
    if (d->active) {
        diag_error(&d->s->d, DIAG_NOWHERE, "a run is under way: its deck stays at its point");
        return VS_EINPUT;
    }
    char *values = fam_values(&d->fam, p->k);
    char *label = fam_label(d->column, vec_len(d->column), values);
    arena_fini(&d->label_mem);
    arena_init(&d->label_mem);
    if (p->label)
        *p->label = arena_printf(&d->label_mem, "%s", label);
    vs_free(values);
    vs_free(label);
    return set_point(d, p->k);
}

vsim_status vsim_family_set(vsim_deck *d, int64_t k, const char **label)
{
    point p = {.d = d, .k = k, .label = label};
    return api_enter(d->s, do_set, &p);
}

static vs_status do_value(void *arg)
{
    const point *p = arg;
    const vs_status st = check_point(p);
    if (st)
        return st;
    if (p->column >= vec_len(p->d->column)) {
        diag_error(&p->d->s->d, DIAG_NOWHERE, "the family has %zu columns; there is no column %zu",
                   vec_len(p->d->column), p->column);
        return VS_EINPUT;
    }
    *p->value = fam_value(&p->d->fam, p->k, p->column);
    return VS_OK;
}

vsim_status vsim_family_value(vsim_deck *d, int64_t k, size_t c, double *value)
{
    point p = {.d = d, .k = k, .column = c, .value = value};
    return api_enter(d->s, do_value, &p);
}
