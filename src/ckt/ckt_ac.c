/* ckt_ac.c - the circuit linearised at a point: G, C, noise sources, what ac sources drive.
 * Source: LRM 4.5 (small-signal functions), 5.11 (analysis()): in the small-signal phase
 *         analysis("ac") or analysis("noise") holds and analysis("static") does not. */
#include "ckt_priv.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct load {
    ckt *c;
    double *g, *cap;
    bool noise;
    int32_t n_source; /* of the module of the group */
    int32_t *place;   /* vec [n_source] of ckt.noise, -1: none */
    int32_t *out[2];  /* vecs: which outputs of the group are G, C */
} load;

/* -- noise -- */

static ckt_noise *noise_of(load *l, int32_t device, int32_t source)
{
    ckt *c = l->c;
    if (l->place[source] < 0) {
        l->place[source] = (int32_t)vec_len(c->noise);
        vec_push(c->noise, ((ckt_noise){.device = device, .source = source}));
    }
    return &c->noise[l->place[source]];
}

/* Gains of one source stand together: those of an instance are sorted by source. */
static void take_gains(load *l, const dev_form *fm, const double *out, int32_t lanes,
                       const int32_t *to, int32_t source, ckt_noise *s)
{
    s->first = (int32_t)vec_len(l->c->noise_gain);
    for (int32_t k = 0; k < fm->n_out; k++) {
        const mdl_out *o = &fm->variant->out[k];
        const bool rate = o->kind == IR_OUT_NOISE_GAINC;
        if ((o->kind == IR_OUT_NOISE_GAIN || rate) && o->a == source && to[o->b] > 0)
            vec_push(l->c->noise_gain, ((ckt_noise_gain){to[o->b], rate, out[k * lanes]}));
    }
    s->end = (int32_t)vec_len(l->c->noise_gain);
}

static void take_noise(load *l, const dev_group *g, const dev_form *fm, int32_t i,
                       const double *out)
{
    const int32_t *to = &fm->map[(size_t)i * (size_t)fm->n_u];
    const size_t first = vec_len(l->c->noise);
    for (int32_t k = 0; k < l->n_source; k++)
        l->place[k] = -1;
    for (int32_t k = 0; k < fm->n_out; k++) {
        const mdl_out *o = &fm->variant->out[k];
        if (o->kind == IR_OUT_NOISE_PSD)
            noise_of(l, g->inst[i], o->a)->psd = out[k * g->lanes];
        else if (o->kind == IR_OUT_NOISE_EXP)
            noise_of(l, g->inst[i], o->a)->exponent = out[k * g->lanes];
    }
    for (size_t k = first; k < vec_len(l->c->noise); k++) {
        ckt_noise *s = &l->c->noise[k];
        take_gains(l, fm, out, g->lanes, to, s->source, s);
    }
}

static int by_device(const void *va, const void *vb)
{
    const ckt_noise *a = va, *b = vb;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->source < b->source ? -1 : a->source > b->source;
}

const ckt_noise *ckt_noises(const ckt *c, size_t *n, const ckt_noise_gain **gain)
{
    *n = vec_len(c->noise);
    *gain = c->noise_gain;
    return c->noise;
}

static const va_noise *noise_facts(const ckt *c, const ckt_noise *s)
{
    return &mdl_module(c->inst[s->device].model)->noise[s->source];
}

const char *ckt_noise_name(const ckt *c, const ckt_noise *s)
{
    if (s->device >= ckt_n_device(c))
        return nat_osdi_kind.noise_name(c->nat.set[NAT_OSDI], s->device - ckt_n_device(c),
                                        s->source);
    const char *name = noise_facts(c, s)->name;
    return name ? name : "";
}

/* Piecewise linear, with log_table in the logarithms; constant outside (LRM 4.6.4.3, 4.6.4.4). */
static double table_density(const va_noise *t, double f)
{
    const size_t n = vec_len(t->table) / 2;
    if (!n || f <= t->table[0])
        return n ? t->table[1] : 0;
    size_t k = 1;
    while (k < n && t->table[2 * k] < f)
        k++;
    if (k == n)
        return t->table[2 * n - 1];
    const double f0 = t->table[2 * k - 2], p0 = t->table[2 * k - 1];
    const double f1 = t->table[2 * k], p1 = t->table[2 * k + 1];
    if (t->log_table && f0 > 0 && p0 > 0 && p1 > 0)
        return p0 * pow(p1 / p0, log(f / f0) / log(f1 / f0));
    return p0 + (p1 - p0) * (f - f0) / (f1 - f0);
}

static double signed_density(const ckt *c, const ckt_noise *s, double f)
{
    if (s->device >= ckt_n_device(c))
        return nat_osdi_kind.density(c->nat.set[NAT_OSDI], s->device - ckt_n_device(c), s->source,
                                     f);
    const va_noise *t = noise_facts(c, s);
    if (t->kind == VA_TABLE)
        return s->psd * table_density(t, f);
    return s->exponent == 0   ? s->psd
           : s->exponent == 1 ? s->psd / f
                              : s->psd * pow(f, -s->exponent);
}

/* Models give the power the sign of the current that makes it (r3_cmc's flicker noise): its size is
 * meant. */
double ckt_noise_density(const ckt *c, const ckt_noise *s, double f)
{
    return fabs(signed_density(c, s, f));
}

void ckt_noise_slopes(const ckt *c, const ckt_noise *s, double f, double *by_psd,
                      double *by_exponent)
{
    ckt_noise one = *s;
    one.psd = 1;
    *by_psd = copysign(signed_density(c, &one, f), s->psd);
    *by_exponent = noise_facts(c, s)->kind == VA_TABLE ? 0 : -log(f) * ckt_noise_density(c, s, f);
}

/* -- matrices -- */

static void stamp_instance(load *l, const dev_group *g, const dev_form *fm, int32_t i,
                           const double *out)
{
    const int32_t *slot = fm->slot + (size_t)i * (size_t)fm->n_out;
    for (int c = 0; c < 2; c++) {
        const int32_t *which = l->out[c], n = (int32_t)vec_len(which), lanes = g->lanes;
        double *to = c ? l->cap : l->g;
        for (int32_t j = 0; j < n; j++)
            to[slot[which[j]]] += out[which[j] * lanes];
    }
    if (l->noise)
        take_noise(l, g, fm, i, out);
}

static void find_outputs(load *l, const dev_form *fm)
{
    vec_clear(l->out[0]);
    vec_clear(l->out[1]);
    for (int32_t k = 0; k < fm->n_out; k++) {
        const uint8_t kind = fm->variant->out[k].kind;
        if (kind == IR_OUT_G || kind == IR_OUT_C)
            vec_push(l->out[kind == IR_OUT_C], k);
    }
}

static vs_status load_group(load *l, dev_group *g, const double *x)
{
    ckt *c = l->c;
    const dev_form *fm = &g->form[MDL_AC];
    assert(fm->variant); /* the form was asked for in ckt_finish */
    vs_status st = VS_OK;
    l->n_source = (int32_t)vec_len(mdl_module(g->model)->noise);
    vec_clear(l->place);
    vec_extend(l->place, l->n_source);
    find_outputs(l, fm);
    dev_begin(g, MDL_AC, x);
    const int32_t batch = DEV_BATCH / g->lanes;
    const size_t pack = (size_t)fm->n_out * (size_t)g->lanes;
    for (int32_t b = 0; b < g->n_pack && st == VS_OK; b += batch) {
        const int32_t e = b + batch < g->n_pack ? b + batch : g->n_pack;
        st = dev_eval(g, MDL_AC, c->dyn, x, b, e, false, c->out);
        for (int32_t p = b; p < e; p++)
            for (int32_t i = g->first[p]; i < g->first[p + 1]; i++)
                stamp_instance(l, g, fm, i, c->out + (size_t)(p - b) * pack + (i - g->first[p]));
    }
    c->stat.n_eval += g->nb;
    return st;
}

static void stamp_fixes(ckt *c, const ckt_env *env, double *g)
{
    for (size_t i = 0; i < vec_len(c->fix); i++)
        if (c->fix[i].always)
            g[c->fix[i].slot] += ckt_fix_ac_value(&c->fix[i], env);
}

/* Noise source k of native device i: numbered behind the devices of compiled models. */
static void take_native_noise(void *user, int32_t device, int32_t k, const int32_t end[2])
{
    ckt *c = user;
    ckt_noise n = {
        .device = ckt_n_device(c) + device, .source = k, .first = (int32_t)vec_len(c->noise_gain)};
    for (int side = 0; side < 2; side++)
        if (end[side] > 0)
            vec_push(c->noise_gain, ((ckt_noise_gain){end[side], false, side ? -1 : 1}));
    n.end = (int32_t)vec_len(c->noise_gain);
    if (n.end > n.first)
        vec_push(c->noise, n);
}

void ckt_fill_dyn_ac(double *dyn, const ckt_env *env, bool noise)
{
    ckt_fill_dyn(dyn, env);
    dyn[IR_DYN_IS_STATIC] = dyn[IR_DYN_IS_DC] = dyn[IR_DYN_IS_IC] = dyn[IR_DYN_IS_TRAN] = 0;
    dyn[IR_DYN_IS_AC] = !noise;
    dyn[IR_DYN_IS_NOISE] = noise;
    dyn[IR_DYN_LIMIT] = 0;
}

/* Groups whose slopes the last load summed: they need no evaluation. */
static bool is_summed(const ckt *c, size_t group)
{
    const struct dev_lin *l = c->group[group].lin;
    return (c->bypass && l && !l->whole) || (ckt_pairs_sums(c) && ckt_is_paired(c, group));
}

static void add_sums(const double *gc, double *g, double *cap, size_t nv)
{
    for (size_t k = 0; k < nv; k++) {
        g[k] += gc[2 * k];
        cap[k] += gc[2 * k + 1];
    }
}

/* With c->dyn as it is. after_load: of a load at x, whose sums hold. */
static vs_status load_parts(ckt *c, const ckt_env *env, const double *x, bool noise,
                            bool after_load, double *g, double *cap)
{
    const size_t nv = (size_t)csc_nnz(&c->a) + 1;
    load l = {.c = c, .g = g, .cap = cap, .noise = noise};
    memset(g, 0, nv * sizeof *g);
    memset(cap, 0, nv * sizeof *cap);
    vec_clear(c->noise);
    vec_clear(c->noise_gain);
    c->stat.n_load++;
    nat_ac native = {g, cap, noise, take_native_noise, c};
    nat_load_ac(&c->nat, true, env, x, &native);
    stamp_fixes(c, env, g);
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(c->group) && st == VS_OK; i++)
        if (!after_load || !is_summed(c, i))
            st = load_group(&l, &c->group[i], x);
    if (after_load && c->bypass)
        add_sums(ckt_bypass_sums(c)->gc, g, cap, nv);
    if (after_load && ckt_pairs_sums(c))
        add_sums(ckt_pairs_sums(c), g, cap, nv);
    nat_load_ac(&c->nat, false, env, x, &native);
    vec_free(l.place);
    vec_free(l.out[0]);
    vec_free(l.out[1]);
    if (vec_len(c->noise))
        qsort(c->noise, vec_len(c->noise), sizeof *c->noise, by_device);
    g[nv - 1] = cap[nv - 1] = 0;
    for (size_t k = 0; k < nv && st == VS_OK; k++)
        if (!(fabs(g[k]) <= DBL_MAX && fabs(cap[k]) <= DBL_MAX))
            st = VS_NOCONV;
    return st;
}

vs_status ckt_load_ac(ckt *c, const ckt_env *env, const double *x, bool noise, double *g,
                      double *cap)
{
    ckt_fill_dyn_ac(c->dyn, env, noise);
    return load_parts(c, env, x, noise, false, g, cap);
}

vs_status ckt_load_apart(ckt *c, const ckt_env *env, const double *x, double *g, double *cap)
{
    ckt_fill_dyn(c->dyn, env);
    c->dyn[IR_DYN_LIMIT] = 0;
    return load_parts(c, env, x, false, false, g, cap);
}

vs_status ckt_load_slopes(ckt *c, const ckt_env *env, const double *x, double *g, double *cap)
{
    ckt_fill_dyn_ac(c->dyn, env, false);
    return load_parts(c, env, x, false, !c->small && !ckt_is_latent(c), g, cap);
}

void ckt_ac_delays(const ckt *c, double omega, double *val)
{
    nat_at_omega(&c->nat, omega, &c->a, val);
}

void ckt_ac_delays_slope(const ckt *c, double omega, double *val)
{
    nat_by_omega(&c->nat, omega, &c->a, val);
}

bool ckt_uses_freq(const ckt *c)
{
    for (size_t g = 0; g < vec_len(c->group); g++) {
        const mdl_variant *v = c->group[g].form[MDL_AC].variant;
        for (size_t k = 0; v && k < vec_len(v->eval.in); k++)
            if (v->eval.in[k].kind == IR_IN_DYN && v->eval.in[k].k == IR_DYN_FREQ)
                return true;
    }
    return false;
}

void ckt_ac_drive(const ckt *c, double *b)
{
    memset(b, 0, 2 * vec_len(c->unknown) * sizeof *b);
    nat_drive(&c->nat, b);
    b[0] = b[1] = 0;
}
