/* sim_client.c - functions for programs other than the command: changes that are taken back,
 * waveforms of sources, single values, the equations at a point. See sim.h. */
#include "sim_priv.h"

#include <math.h>
#include <string.h>

#include "vec.h"

/* -- changes that are taken back -- */

struct sim_saved {
    flat_override *over; /* vec */
    sim_change *change;  /* vec; their numbers in `value`, one after the other */
    double *value;       /* vec */
    double temp;
    bool vary, seed_given;
    uint64_t seed, deck_seed;
    int64_t sample;
    net_deck deck; /* and its options: for a change to another deck */
    option_set option;
};

sim_saved *sim_save(const sim *s)
{
    sim_saved *k = vs_calloc(1, sizeof *k);
    for (size_t i = 0; i < vec_len(s->over); i++)
        vec_push(k->over, s->over[i]);
    for (size_t i = 0; i < vec_len(s->change); i++) {
        vec_push(k->change, s->change[i]);
        for (int32_t j = 0; j < s->change[i].n; j++)
            vec_push(k->value, s->change[i].value[j]);
    }
    k->temp = s->temp;
    k->vary = s->deck.vary;
    k->deck_seed = s->deck.seed;
    k->sample = s->deck.sample;
    k->seed = s->option.seed;
    k->seed_given = s->option.given[OPTION_seed];
    k->deck = s->deck;
    k->option = s->option;
    return k;
}

void sim_restore(sim *s, const sim_saved *k)
{
    const double *value = k->value;
    vec_clear(s->over);
    for (size_t i = 0; i < vec_len(k->over); i++)
        vec_push(s->over, k->over[i]);
    vec_clear(s->change);
    sim_forget_changes(s);
    for (size_t i = 0; i < vec_len(k->change); i++) {
        sim_change c = k->change[i];
        double *own = arena_array(&s->mem, double, c.n);
        memcpy(own, value, (size_t)c.n * sizeof *own);
        value += c.n;
        c.value = own;
        c.node = -1;
        vec_push(s->change, c);
    }
    if (s->deck.top != k->deck.top) {
        sim_change_deck(s, &k->deck);
        s->option = k->option;
        elab_simparam(s->simparam, &s->option);
    }
    s->temp = k->temp;
    s->deck.vary = k->vary;
    s->deck.seed = k->deck_seed;
    s->deck.sample = k->sample;
    s->option.seed = k->seed;
    s->option.given[OPTION_seed] = k->seed_given;
    sim_deep(s, "taken back");
}

void sim_saved_free(sim_saved **saved)
{
    sim_saved *k = *saved;
    *saved = NULL;
    if (!k)
        return;
    vec_free(k->over);
    vec_free(k->change);
    vec_free(k->value);
    vs_free(k);
}

/* -- waveforms of the client -- */

void sim_set_wave(sim *s, const char *name, const nat_wave *w)
{
    const nat_wave none = {0};
    size_t i = 0;
    while (i < vec_len(s->wave) && s->wave[i].name != name)
        i++;
    if (i == vec_len(s->wave))
        vec_push(s->wave, (sim_wave){.name = name});
    s->wave[i].w = w ? *w : none;
}

/* Does the client give the source's value? It may answer otherwise each time, so no earlier
 * operating point holds. */
static bool has_wave(const sim *s, const char *name)
{
    for (size_t i = 0; i < vec_len(s->wave); i++)
        if (s->wave[i].name == name && s->wave[i].w.value)
            return true;
    return false;
}

/* An external source whose value nobody gives is an error (message). */
static vs_status check_external(const sim *s)
{
    for (size_t i = 0; i < vec_len(s->flat.inst) && s->flat.n_external; i++) {
        const flat_inst *in = &s->flat.inst[i];
        if (!in->rare->source || !in->rare->source->external || has_wave(s, in->name))
            continue;
        diag_error(s->d, in->rare->source->span,
                   "source '%s' is external: a program that uses the library gives its value",
                   in->name);
        return VS_EINPUT;
    }
    return VS_OK;
}

vs_status sim_put_waves(sim *s)
{
    if (!vec_len(s->wave))
        return check_external(s);
    for (size_t i = 0; i < vec_len(s->wave); i++) {
        const sim_wave *w = &s->wave[i];
        const int32_t src = ckt_find_source(s->ckt, w->name);
        if (src >= 0)
            ckt_set_source_wave(s->ckt, src, w->w.value ? &w->w : NULL);
    }
    sim_number_changed(s, SIM_OF_DC);
    sim_number_changed(s, SIM_OF_START);
    return check_external(s);
}

/* -- single values -- */

const double *sim_last_op(const sim *s)
{
    return s->ckt && !s->stale && s->x_valid && s->n_x == ckt_n(s->ckt) ? s->x : NULL;
}

bool sim_detail_value(sim *s, const ckt_detail *d, double time, const double *x, double *value)
{
    const bool transient = s->transient;
    if (!s->ckt || (!x && !sim_last_op(s)))
        return false;
    s->transient = x != NULL;
    const ckt_env env = sim_env(s, time);
    s->transient = transient;
    return ckt_details(s->ckt, &env, x ? x : s->x, d, 1, value) == VS_OK;
}

/* -- equations -- */

typedef struct places { /* in s->linear */
    double *x, *f, *q, *fmax, *qmax, *none, *g, *c;
} places;

static places make_room(sim *s)
{
    const size_t n = (size_t)ckt_n(s->ckt) + 1 + CKT_PADDING;
    const size_t nnz = (size_t)csc_nnz(ckt_pattern(s->ckt)) + 1;
    vec_clear(s->linear);
    vec_extend(s->linear, 6 * n + 2 * nnz);
    double *p = s->linear;
    return (places){p,         p + n,     p + 2 * n, p + 3 * n,
                    p + 4 * n, p + 5 * n, p + 6 * n, p + 6 * n + nnz};
}

/* Sources have their dc values in f; q is that of a load that has charges. */
static vs_status load_all(sim *s, const places *p)
{
    bool limited;
    const bool transient = s->transient;
    s->transient = false;
    ckt_env env = sim_env(s, 0);
    s->transient = transient;
    sim_fresh(s);
    ckt_reset_limits(s->ckt);
    env.mode = CKT_TRAN;
    vs_status st = ckt_load(s->ckt, &env, p->x, p->f, p->q, p->fmax, p->qmax, &limited);
    env.mode = CKT_STATIC;
    if (!st)
        st = ckt_load(s->ckt, &env, p->x, p->f, p->none, p->fmax, p->qmax, &limited);
    if (!st)
        st = ckt_load_ac(s->ckt, &env, p->x, false, p->g, p->c);
    if (st == VS_NOCONV)
        diag_error(s->d, DIAG_NOWHERE, "a device gives a value that is not finite at this point");
    return st;
}

vs_status sim_linearise(sim *s, const double *x, sim_linear *l)
{
    vs_status st = sim_build_for(s, FLAT_TRAN);
    if (!st)
        st = sim_build_for(s, FLAT_AC);
    if (!st)
        st = sim_start_op(s, false);
    if (st)
        return st;
    const places p = make_room(s);
    if (x)
        memcpy(p.x, x, ((size_t)ckt_n(s->ckt) + 1) * sizeof *x);
    else
        st = ana_op(s->ana, p.x, false, false);
    p.x[0] = 0;
    if (!st)
        st = load_all(s, &p);
    sim_count(s);
    sim_end_analysis(s);
    *l = (sim_linear){ckt_pattern(s->ckt), p.g, p.c, p.f, p.q, p.x};
    return st;
}
