/* dev_lin.c - see dev_lin.h. Loops over lanes are compiled for each W; nothing is fused or summed in another order. */
#include "dev_lin.h"

#include <math.h>
#include <string.h>

#include "bits.h"

enum { MAX_LANES = 8 };
/* No bypass beyond this distance, V: an exponential of 25 mV then grows by 22 %, and A and B still hold. */
#define FARTHEST 5e-3
/* Distances below this tell nothing about curvature: the difference is rounding, V. */
#define MEASURABLE 1e-4
/* |i(v) - i0 - G dv| <= 1/2 |G| dv^2 / 25 mV if i follows exp(v / 25 mV), and less for everything slower. */
#define STEEPEST 20.0
/* A measurement in one direction says little about others: at least this part of the bound above stays, a new
 * one counts four times, and an old one fades by this at each evaluation. */
#define LEAST_PART (1.0 / 64)
#define SAFETY 4
#define FADING 0.25

struct dev_lin_buffer {
    int32_t *map;  /* [DEV_BLOCK / W][n_u][W] */
    int32_t *row;  /* [DEV_BLOCK / W] */
    double *out;   /* [DEV_BLOCK / W][n_out][W] */
};

/* -- tables -- */

static int32_t find_place(const mdl_variant *v, int kind, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < v->lay.n_out; k++)
        if (v->out[k].kind == kind && v->out[k].a == a && (b < 0 || v->out[k].b == b))
            return k;
    return -1;
}

static bool same_outputs(const mdl_variant *tran, const mdl_variant *apart)
{
    for (int32_t k = 0; k < tran->lay.n_out; k++) {
        const mdl_out *o = &tran->out[k];
        const bool row = o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT;
        if ((!row && o->kind != IR_OUT_J) || (row && find_place(apart, o->kind, o->a, -1) < 0))
            return false;
    }
    for (int32_t k = 0; k < apart->lay.n_out; k++) {
        const mdl_out *o = &apart->out[k];
        const int row = o->kind == IR_OUT_G ? IR_OUT_RES : IR_OUT_REACT;
        if (o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT) {
            if (find_place(tran, o->kind, o->a, -1) < 0)
                return false;
        } else if ((o->kind != IR_OUT_G && o->kind != IR_OUT_C) || find_place(tran, row, o->a, -1) < 0 ||
                   find_place(tran, IR_OUT_J, o->a, o->b) < 0) {
            return false;
        }
    }
    return true;
}

/* Local unknowns that derivatives are by, as bits. */
static void find_columns(const mdl_variant *v, uint64_t *set)
{
    for (int32_t k = 0; k < v->lay.n_out; k++)
        if (v->out[k].kind == IR_OUT_G || v->out[k].kind == IR_OUT_C)
            bits_set(set, (size_t)v->out[k].b);
}

/* Those that probes read. */
static void find_probed(const mdl_variant *v, uint64_t *set)
{
    for (size_t i = 0; i < vec_len(v->eval.in); i++) {
        const ir_input *in = &v->eval.in[i];
        if (in->kind != IR_IN_PROBE)
            continue;
        if (v->lay.probe_hi[in->k] >= 0)
            bits_set(set, (size_t)v->lay.probe_hi[in->k]);
        if (v->lay.probe_lo[in->k] >= 0)
            bits_set(set, (size_t)v->lay.probe_lo[in->k]);
    }
}

enum { MAX_U = 256 };

static bool inputs_suit(const mdl_model *m, const mdl_variant *v)
{
    uint64_t probed[MAX_U / 64] = {0};
    int n = 0;
    for (size_t i = 0; i < vec_len(v->eval.in); i++) {
        const ir_input *in = &v->eval.in[i];
        const bool moves = in->kind == IR_IN_DYN &&
                           (in->k == IR_DYN_ITER || in->k == IR_DYN_ALPHA || in->k == IR_DYN_ABSTIME);
        if (moves || (in->kind != IR_IN_CACHE && in->kind != IR_IN_PROBE && in->kind != IR_IN_DYN))
            return false;
    }
    if (v->lay.n_u > MAX_U)
        return false;
    find_probed(v, probed);
    find_columns(v, probed);
    for (int32_t u = 0; u < v->lay.n_u; u++)
        if (bits_get(probed, (size_t)u)) {
            const va_unknown_kind kind = mdl_unknown(m, u)->kind;
            n++;
            if (kind != VA_PORT && kind != VA_NODE)
                return false; /* distances are volts */
        }
    return n > 0 && n <= DEV_LIN_COLS;
}

bool dev_lin_suits(const mdl_model *m, const mdl_variant *tran, const mdl_variant *apart)
{
    return !tran->has_effects && !tran->has_state && !vec_len(mdl_module(m)->lim_probe) && inputs_suit(m, apart) &&
           same_outputs(tran, apart);
}

static int32_t column_of(const struct dev_lin *l, int32_t u)
{
    int32_t c = 0;
    while (c < l->n_col && l->col[c] != u)
        c++;
    return c;
}

/* A column that has the unknown u of every instance; -1: u is the reference in all; n_col: there is none. */
static int32_t same_column(const dev_group *g, const struct dev_lin *l, int32_t u)
{
    const dev_form *f = l->apart;
    for (int32_t c = -1; c < l->n_col; c++) {
        int32_t i = 0;
        while (i < g->nb && f->map[(size_t)i * (size_t)f->n_u + (size_t)u] ==
                                (c < 0 ? 0 : f->map[(size_t)i * (size_t)f->n_u + (size_t)l->col[c]]))
            i++;
        if (i == g->nb)
            return c;
    }
    return l->n_col;
}

static void list_inputs(const dev_group *g, struct dev_lin *l, arena *mem)
{
    const mdl_variant *v = l->apart->variant;
    uint64_t column[MAX_U / 64] = {0}, probed[MAX_U / 64] = {0};
    find_columns(v, column);
    find_probed(v, probed);
    for (int32_t u = 0; u < v->lay.n_u; u++)
        if (bits_get(column, (size_t)u))
            l->col[l->n_col++] = u;
    l->probed = arena_array(mem, int32_t, v->lay.n_u);
    l->probed_col = arena_array(mem, int32_t, v->lay.n_u);
    for (int32_t u = 0; u < v->lay.n_u; u++) {
        if (!bits_get(probed, (size_t)u))
            continue;
        const int32_t c = bits_get(column, (size_t)u) ? column_of(l, u) : same_column(g, l, u);
        if (c == l->n_col)
            l->col[l->n_col++] = u;
        l->probed[l->n_probed] = u;
        l->probed_col[l->n_probed++] = c;
    }
    for (size_t i = 0; i < vec_len(v->eval.in); i++)
        if (v->eval.in[i].kind == IR_IN_DYN)
            l->dyn[l->n_dyn++] = v->eval.in[i].k;
}

static void list_outputs(struct dev_lin *l, const mdl_variant *tran, const mdl_variant *apart, arena *mem)
{
    int32_t n = 0;
    l->out = arena_array(mem, dev_lin_out, tran->lay.n_out);
    l->term = arena_array(mem, dev_lin_term, apart->lay.n_out);
    for (int32_t k = 0; k < tran->lay.n_out; k++) {
        const mdl_out *o = &tran->out[k];
        dev_lin_out *w = &l->out[k];
        *w = (dev_lin_out){.kind = o->kind, .begin = n, .g = -1, .c = -1};
        if (o->kind == IR_OUT_J) {
            w->g = find_place(apart, IR_OUT_G, o->a, o->b);
            w->c = find_place(apart, IR_OUT_C, o->a, o->b);
        } else {
            const int of = o->kind == IR_OUT_RES ? IR_OUT_G : IR_OUT_C;
            w->at = find_place(apart, o->kind, o->a, -1);
            for (int32_t j = 0; j < apart->lay.n_out; j++)
                if (apart->out[j].kind == of && apart->out[j].a == o->a)
                    l->term[n++] = (dev_lin_term){j, column_of(l, apart->out[j].b)};
        }
        w->end = n;
    }
}

void dev_lin_init(dev_group *g, arena *mem, int workers)
{
    const dev_form *f = &g->form[MDL_APART];
    const size_t w = (size_t)g->lanes, packs = (size_t)g->n_pack, most = DEV_BLOCK / w;
    struct dev_lin *l = g->lin = arena_new(mem, struct dev_lin);
    l->apart = f;
    list_inputs(g, l, mem);
    list_outputs(l, g->form[MDL_TRAN].variant, f->variant, mem);
    l->at = arena_array(mem, int32_t, packs * (size_t)l->n_col * w);
    for (size_t p = 0; p < packs; p++)
        for (int32_t c = 0; c < l->n_col; c++)
            memcpy(&l->at[(p * (size_t)l->n_col + (size_t)c) * w],
                   &f->lane_map[(p * (size_t)f->n_u + (size_t)l->col[c]) * w], w * sizeof(int32_t));
    l->v0 = arena_array(mem, double, packs * (size_t)l->n_col * w);
    l->kept = arena_array(mem, double, packs * (size_t)f->n_out * w);
    l->bound = arena_array(mem, double, packs * 2 * w);
    for (size_t i = 0; i < packs * 2 * w; i++)
        l->bound[i] = INFINITY;
    l->mask = arena_array(mem, uint8_t, packs);
    l->item = arena_array(mem, int32_t, g->nb);
    l->first = arena_array(mem, int32_t, g->nb + 1);
    l->buffer = arena_array(mem, struct dev_lin_buffer, workers);
    for (int i = 0; i < workers; i++) {
        l->buffer[i].map = arena_array(mem, int32_t, most * (size_t)f->n_u * w);
        l->buffer[i].row = arena_array(mem, int32_t, most);
        l->buffer[i].out = arena_array(mem, double, most * (size_t)f->n_out * w);
    }
}

/* -- what is to be evaluated -- */

void dev_lin_begin(dev_group *g, const dev_lin_at *at)
{
    struct dev_lin *l = g->lin;
    bool same = true;
    for (int32_t k = 0; k < l->n_dyn; k++) {
        same &= l->dyn_at[k] == at->dyn[l->dyn[k]];
        l->dyn_at[k] = at->dyn[l->dyn[k]];
    }
    for (size_t i = 0; !same && i < (size_t)g->n_pack * 2 * (size_t)g->lanes; i++)
        l->bound[i] = INFINITY;
}

/* Lanes whose bound does not hold. A bound that is not a number does not. */
static inline __attribute__((always_inline)) unsigned select_pack(const struct dev_lin *l, int32_t p,
                                                                  const double *x, double alpha, const int w)
{
    const int32_t *at = &l->at[(size_t)p * (size_t)l->n_col * (size_t)w];
    const double *v0 = &l->v0[(size_t)p * (size_t)l->n_col * (size_t)w];
    const double *b = &l->bound[(size_t)p * 2 * (size_t)w];
    double d[MAX_LANES] = {0};
    unsigned mask = 0;
    for (int32_t c = 0; c < l->n_col; c++)
        for (int i = 0; i < w; i++) {
            const double v = fabs(x[at[c * w + i]] - v0[c * w + i]);
            d[i] = v > d[i] ? v : d[i];
        }
    for (int i = 0; i < w; i++)
        mask |= (unsigned)!(d[i] <= FARTHEST && (b[i] + alpha * b[w + i]) * (d[i] * d[i]) <= 1) << i;
    return mask;
}

static inline __attribute__((always_inline)) void select_packs(const dev_group *g, const dev_lin_at *a,
                                                               int32_t begin, int32_t end, const int w)
{
    struct dev_lin *l = g->lin;
    for (int32_t p = begin; p < end; p++) {
        const unsigned real = (1u << (g->first[p + 1] - g->first[p])) - 1;
        l->mask[p] = (uint8_t)(real & (a->weight ? select_pack(l, p, a->x, a->alpha, w) : ~0u));
    }
}

VS_CLONES static void select_8(const dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end)
{
    select_packs(g, a, begin, end, 8);
}

VS_CLONES static void select_4(const dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end)
{
    select_packs(g, a, begin, end, 4);
}

void dev_lin_select(dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end)
{
    switch (g->lanes) {
    case 8: select_8(g, a, begin, end); break;
    case 4: select_4(g, a, begin, end); break;
    case 2: select_packs(g, a, begin, end, 2); break;
    default: select_packs(g, a, begin, end, 1); break;
    }
}

/* New packs are of one row each; with a row per lane setup values lie by packs, and these stay as they are. */
int32_t dev_lin_gather(dev_group *g)
{
    struct dev_lin *l = g->lin;
    int32_t n = 0, np = 0, row = -1;
    for (int32_t p = 0; p < g->n_pack; p++) {
        const int32_t before = n;
        for (unsigned m = l->mask[p]; m; m &= m - 1)
            l->item[n++] = p * g->lanes + __builtin_ctz(m);
        for (int32_t i = before; i < n; i++) {
            const bool fresh = g->row_per_lane ? i == before
                                               : np == 0 || row != g->pack_row[p] || i - l->first[np - 1] == g->lanes;
            if (fresh)
                l->first[np++] = i;
            row = g->pack_row[p];
        }
    }
    l->first[np] = n;
    l->n_item = n;
    return l->n_pack = np;
}

/* -- evaluation -- */

static size_t place(const dev_group *g, int32_t code, int32_t n)
{
    const size_t w = (size_t)g->lanes;
    return (size_t)(code / g->lanes) * (size_t)n * w + (size_t)(code % g->lanes);
}

/* The lane of a new pack in which its i-th item is. */
static int32_t lane_of(const dev_group *g, int32_t pack, int32_t i)
{
    return g->row_per_lane ? g->lin->item[i] % g->lanes : i - g->lin->first[pack];
}

static void fill_map(const dev_group *g, int32_t begin, int32_t end, struct dev_lin_buffer *b)
{
    const struct dev_lin *l = g->lin;
    const int32_t w = g->lanes, n_u = l->apart->n_u;
    for (int32_t p = begin; p < end; p++) {
        const int32_t n = l->first[p + 1] - l->first[p];
        int32_t *to = &b->map[(size_t)(p - begin) * (size_t)(n_u * w)];
        for (int32_t k = 0; k < w; k++) {
            const int32_t *from = &l->at[place(g, l->item[l->first[p] + (k < n ? k : n - 1)], l->n_col)];
            for (int32_t j = 0; j < l->n_probed; j++)
                to[l->probed[j] * w + k] = l->probed_col[j] < 0 ? 0 : from[l->probed_col[j] * w];
        }
        b->row[p - begin] = g->pack_row[l->item[l->first[p]] / w];
    }
}

static vs_status run_kernel(dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end, struct dev_lin_buffer *b)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = l->apart;
    const size_t pack = (size_t)f->n_out * (size_t)g->lanes;
    vs_status st = VS_OK;
    if (!g->row_per_lane) {
        fill_map(g, begin, end, b);
        const jit_batch batch = {.x = a->x, .map = b->map, .cache = f->cache, .row_of = b->row, .dyn = a->dyn,
                                 .out = b->out};
        return mdl_eval(f->variant, false, &batch, 0, end - begin);
    }
    for (int32_t p = begin, e; p < end && st == VS_OK; p = e) {
        const int32_t at = l->item[l->first[p]] / g->lanes;
        for (e = p + 1; e < end && l->item[l->first[e]] / g->lanes == at + (e - p);)
            e++;
        st = dev_eval(g, MDL_APART, a->dyn, a->x, at, at + (e - p), false, b->out + (size_t)(p - begin) * pack);
    }
    return st;
}

/* How far the prediction was off, and how far it can be off at 1 V, in units of the rows' tolerances. */
typedef struct misses {
    double off[2], steep[2]; /* currents, charges */
} misses;

static misses compare(const dev_group *g, const dev_lin_at *a, int32_t code, const double *now, const double *was,
                      const double *dv)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = &g->form[MDL_TRAN];
    const int32_t w = g->lanes, i = g->first[code / w] + code % w;
    const int32_t *slot = &f->slot[(size_t)i * (size_t)f->n_out];
    misses m = {{0, 0}, {0, 0}};
    for (int32_t k = 0; k < f->n_out; k++) {
        const dev_lin_out *o = &l->out[k];
        if (o->kind == IR_OUT_J)
            continue;
        double line = was[o->at * w], slope = 0;
        for (int32_t t = o->begin; t < o->end; t++) {
            line += was[l->term[t].at * w] * dv[l->term[t].col];
            slope += fabs(now[l->term[t].at * w]);
        }
        const double weight = a->weight ? a->weight[slot[k]] : 0, off = weight * fabs(now[o->at * w] - line);
        const int charge = o->kind == IR_OUT_REACT;
        m.off[charge] = off > m.off[charge] ? off : m.off[charge];
        m.steep[charge] = weight * slope > m.steep[charge] ? weight * slope : m.steep[charge];
    }
    return m;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* A new bound from the old one, what was measured and what can be. */
static double new_bound(double old, double off, double steep, double d)
{
    const double most = STEEPEST * steep;
    if (!isfinite(old))
        return most;
    if (d < MEASURABLE)
        return larger(old, LEAST_PART * most);
    return larger(SAFETY * off / (d * d), larger(FADING * old, LEAST_PART * most));
}

/* Keeps a new linearisation: now[k * W] are the outputs of the form APART at x. */
static void keep(dev_group *g, const dev_lin_at *a, int32_t code, const double *now)
{
    struct dev_lin *l = g->lin;
    const int32_t w = g->lanes, n_out = l->apart->n_out;
    const int32_t *at = &l->at[place(g, code, l->n_col)];
    double *v0 = &l->v0[place(g, code, l->n_col)], *was = &l->kept[place(g, code, n_out)];
    double *bound = &l->bound[place(g, code, 2)];
    double dv[DEV_LIN_COLS], d = 0;
    for (int32_t c = 0; c < l->n_col; c++) {
        dv[c] = a->x[at[c * w]] - v0[c * w];
        d = larger(d, fabs(dv[c]));
        v0[c * w] = a->x[at[c * w]];
    }
    if (a->weight) {
        const misses m = compare(g, a, code, now, was, dv);
        for (int k = 0; k < 2; k++)
            bound[k * w] = new_bound(bound[k * w], m.off[k], m.steep[k], d);
    } else {
        bound[0] = bound[w] = INFINITY; /* no row has a tolerance yet */
    }
    bool finite = true;
    for (int32_t k = 0; k < n_out; k++) {
        was[k * w] = now[k * w];
        finite &= isfinite(now[k * w]) != 0;
    }
    if (!finite)
        bound[0] = INFINITY;
}

vs_status dev_lin_eval(dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end, int worker)
{
    const struct dev_lin *l = g->lin;
    struct dev_lin_buffer *b = &l->buffer[worker];
    const size_t pack = (size_t)l->apart->n_out * (size_t)g->lanes;
    const vs_status st = run_kernel(g, a, begin, end, b);
    for (int32_t p = begin; p < end && st == VS_OK; p++)
        for (int32_t i = l->first[p]; i < l->first[p + 1]; i++)
            keep(g, a, l->item[i], b->out + (size_t)(p - begin) * pack + lane_of(g, p, i));
    return st;
}

/* -- outputs -- */

static inline __attribute__((always_inline)) void output_pack(const struct dev_lin *l, const dev_form *f, int32_t p,
                                                              const double *x, double alpha, double *restrict out,
                                                              const int w)
{
    const int32_t *at = &l->at[(size_t)p * (size_t)l->n_col * (size_t)w];
    const double *v0 = &l->v0[(size_t)p * (size_t)l->n_col * (size_t)w];
    const double *kept = &l->kept[(size_t)p * (size_t)l->apart->n_out * (size_t)w];
    double dv[DEV_LIN_COLS * MAX_LANES];
    for (int32_t c = 0; c < l->n_col; c++)
        for (int i = 0; i < w; i++)
            dv[c * w + i] = x[at[c * w + i]] - v0[c * w + i];
    for (int32_t k = 0; k < f->n_out; k++) {
        const dev_lin_out *o = &l->out[k];
        double sum[MAX_LANES];
        if (o->kind != IR_OUT_J) {
            for (int i = 0; i < w; i++)
                sum[i] = kept[o->at * w + i];
            for (int32_t t = o->begin; t < o->end; t++) {
                const double *s = &kept[l->term[t].at * w], *v = &dv[l->term[t].col * w];
                for (int i = 0; i < w; i++)
                    sum[i] += s[i] * v[i];
            }
        } else {
            for (int i = 0; i < w; i++)
                sum[i] = (o->g >= 0 ? kept[o->g * w + i] : 0) + (o->c >= 0 ? alpha * kept[o->c * w + i] : 0);
        }
        for (int i = 0; i < w; i++)
            out[k * w + i] = sum[i];
    }
}

static inline __attribute__((always_inline)) void output_packs(const dev_group *g, const dev_lin_at *a, int32_t begin,
                                                               int32_t end, double *out, const int w)
{
    const dev_form *f = &g->form[MDL_TRAN];
    for (int32_t p = begin; p < end; p++)
        output_pack(g->lin, f, p, a->x, a->alpha, out + (size_t)(p - begin) * (size_t)(f->n_out * w), w);
}

VS_CLONES static void output_8(const dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end, double *out)
{
    output_packs(g, a, begin, end, out, 8);
}

VS_CLONES static void output_4(const dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end, double *out)
{
    output_packs(g, a, begin, end, out, 4);
}

void dev_lin_outputs(const dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end, double *out)
{
    switch (g->lanes) {
    case 8: output_8(g, a, begin, end, out); break;
    case 4: output_4(g, a, begin, end, out); break;
    case 2: output_packs(g, a, begin, end, out, 2); break;
    default: output_packs(g, a, begin, end, out, 1); break;
    }
}
