/* dev_lin.c - see dev_lin.h. Nothing is fused or summed in another order, whatever the processor.
 */
#include "dev_lin_priv.h"

#include <stdatomic.h>

#include "bits.h"

enum { MAX_LANES = 8 };

/* What a bypassed instance may leave out is 1: terms below this leave a rounding of at most 2e-3 in
 * sums, 0.6 in DEV_LIN_EVERY loads. Larger ones count as so many more loads. Charges over steps of
 * 0.1 ps with reltol 1e-6 are 1e12, resistances beside rows with no more than leakage 1e14. */
#define WILD 1e13

/* -- tables -- */

static int32_t find_place(const mdl_variant *v, int kind, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < v->lay.n_out; k++)
        if (v->out[k].kind == kind && v->out[k].a == a && (b < 0 || v->out[k].b == b))
            return k;
    return -1;
}

/* Outputs that both forms have. */
static bool has_place(uint8_t kind)
{
    return kind == IR_OUT_RES || kind == IR_OUT_REACT || kind == IR_OUT_LIMITED;
}

static bool same_outputs(const mdl_variant *tran, const mdl_variant *apart)
{
    for (int32_t k = 0; k < tran->lay.n_out; k++) {
        const mdl_out *o = &tran->out[k];
        if (o->kind != IR_OUT_J &&
            (!has_place(o->kind) || find_place(apart, o->kind, o->a, -1) < 0))
            return false;
    }
    for (int32_t k = 0; k < apart->lay.n_out; k++) {
        const mdl_out *o = &apart->out[k];
        const int row = o->kind == IR_OUT_G ? IR_OUT_RES : IR_OUT_REACT;
        if (has_place(o->kind)) {
            if (find_place(tran, o->kind, o->a, -1) < 0)
                return false;
        } else if ((o->kind != IR_OUT_G && o->kind != IR_OUT_C) ||
                   find_place(tran, row, o->a, -1) < 0 ||
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

/* The local unknowns that probes read, as bits. */
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
        const bool moves =
            in->kind == IR_IN_DYN &&
            (in->k == IR_DYN_ITER || in->k == IR_DYN_ALPHA || in->k == IR_DYN_ABSTIME);
        if (moves || (in->kind != IR_IN_CACHE && in->kind != IR_IN_PROBE &&
                      in->kind != IR_IN_LIMOLD && in->kind != IR_IN_DYN))
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
    return n > 0 && n <= DEV_LIN_COLS && v->lay.n_out <= DEV_LIN_OUTS;
}

bool dev_lin_suits(const mdl_model *m, const mdl_variant *tran, const mdl_variant *apart)
{
    return !tran->has_effects && !tran->has_state && inputs_suit(m, apart) &&
           same_outputs(tran, apart);
}

static int32_t column_of(const struct dev_lin *l, int32_t u)
{
    int32_t c = 0;
    while (c < l->n_col && l->col[c] != u)
        c++;
    return c;
}

/* A column that has the unknown u of every instance; -1: u is the reference in all; n_col: there is
 * none. */
static int32_t same_column(const dev_group *g, const struct dev_lin *l, int32_t u)
{
    const dev_form *f = l->apart;
    for (int32_t c = -1; c < l->n_col; c++) {
        int32_t i = 0;
        while (i < g->nb &&
               f->map[(size_t)i * (size_t)f->n_u + (size_t)u] ==
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

/* Lists what an instance gives to the sums. */
static void list_sums(struct dev_lin *l, const mdl_variant *tran, const mdl_variant *apart,
                      arena *mem)
{
    const int32_t zero = apart->lay.n_out;
    static const int kind[] = {IR_OUT_RES, IR_OUT_REACT, IR_OUT_J};
    int32_t n = 0, n_sum = 0;
    l->add = arena_array(mem, int32_t, tran->lay.n_out);
    l->sum = arena_array(mem, int32_t, 2 * tran->lay.n_out + WIDE);
    l->is_slope = arena_array(mem, uint8_t, apart->lay.n_out);
    for (int what = 0; what < 3; what++) {
        for (int32_t k = 0; k < tran->lay.n_out; k++) {
            const dev_lin_out *o = &l->out[k];
            if (o->kind != kind[what])
                continue;
            l->add[n++] = k;
            if (what < 2) {
                l->sum[n_sum++] = o->at;
                continue;
            }
            l->sum[n_sum++] = o->g >= 0 ? o->g : zero;
            l->sum[n_sum++] = o->c >= 0 ? o->c : zero;
            for (int part = 0; part < 2; part++)
                if ((part ? o->c : o->g) >= 0)
                    l->is_slope[part ? o->c : o->g] = 1;
        }
        l->n_add[what] = n;
    }
    while (n_sum % WIDE)
        l->sum[n_sum++] = zero;
    l->n_sum = n_sum;
}

static bool is_voltage(const dev_group *g, int32_t u)
{
    const char *unit = mdl_unknown(g->model, u)->unit;
    return unit && strcmp(unit, "V") == 0;
}

static void list_outputs(const dev_group *g, struct dev_lin *l, const int32_t *fixed, arena *mem)
{
    const mdl_variant *tran = g->form[MDL_TRAN].variant, *apart = l->apart->variant;
    int32_t n = 0;
    l->out = arena_array(mem, dev_lin_out, tran->lay.n_out);
    l->term = arena_array(mem, dev_lin_term, apart->lay.n_out);
    l->limited = -1;
    for (int32_t k = 0; k < tran->lay.n_out; k++) {
        const mdl_out *o = &tran->out[k];
        dev_lin_out *w = &l->out[k];
        *w = (dev_lin_out){.kind = o->kind, .begin = n, .g = -1, .c = -1};
        if (o->kind == IR_OUT_J) {
            w->g = find_place(apart, IR_OUT_G, o->a, o->b);
            w->c = find_place(apart, IR_OUT_C, o->a, o->b);
        } else if (o->kind == IR_OUT_LIMITED) {
            w->at = l->limited = find_place(apart, o->kind, o->a, -1);
        } else {
            const int of = o->kind == IR_OUT_RES ? IR_OUT_G : IR_OUT_C;
            w->at = find_place(apart, o->kind, o->a, -1);
            for (int32_t j = 0; j < apart->lay.n_out; j++)
                if (apart->out[j].kind == of && apart->out[j].a == o->a)
                    l->term[n++] = (dev_lin_term){j, column_of(l, apart->out[j].b), fixed[j],
                                                  is_voltage(g, apart->out[j].b)};
        }
        w->end = n;
    }
    list_sums(l, tran, apart, mem);
}

/* No lane has the setup values of a row. */
static void forget_rows(const dev_group *g)
{
    const struct dev_lin *l = g->lin;
    for (int i = 0; i < l->n_buffer && g->row_per_lane; i++)
        for (int32_t k = 0; k < l->buffer[i].n_lane; k++)
            l->buffer[i].has[k] = -1;
}

void dev_lin_init_buffer(const dev_group *g, arena *mem, struct dev_lin_buffer *b, int32_t packs)
{
    const dev_form *f = &g->form[MDL_APART];
    const size_t w = (size_t)g->lanes, most = (size_t)packs;
    b->n_lane = packs * g->lanes;
    b->map = arena_array(mem, int32_t, most *(size_t)f->n_u *w);
    b->row = arena_array(mem, int32_t, most);
    b->lane = arena_array(mem, int32_t, most *w);
    for (int k = 0; k < 2; k++)
        b->lim[k] = arena_vectors(mem, most * (size_t)f->variant->lay.n_lim * w);
    if (g->row_per_lane) {
        b->cache = arena_vectors(mem, most * (size_t)f->n_cache * w);
        b->has = arena_array(mem, int32_t, most *w);
    }
    b->out = arena_vectors(mem, most * (size_t)f->n_out * w);
}

int32_t *dev_lin_columns(const dev_group *g, arena *mem, int32_t stride)
{
    const struct dev_lin *l = g->lin;
    const size_t n = (size_t)l->n_col * (size_t)stride;
    int32_t *at = arena_array(mem, int32_t, (size_t)g->n_pack *n);
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t c = 0; c < l->n_col; c++)
            dev_lin_unknowns(g, l->apart, p, l->col[c], &at[(size_t)p * n + (size_t)(c * stride)]);
    return at;
}

/* There are no linearisations; v0, held, mask and is_recent are 0. */
static void begin_fresh(dev_group *g)
{
    struct dev_lin *l = g->lin;
    const size_t lanes = (size_t)g->n_pack * (size_t)g->lanes;
    for (size_t i = 0; i < 2 * lanes; i++)
        l->bound[i] = INFINITY;
    memset(l->dyn_at, 0, sizeof l->dyn_at);
    l->n_recent = 0;
    l->all_limits = true;
    l->wear = 1;
}

void dev_lin_init(dev_group *g, arena *mem, int buffers)
{
    const dev_form *f = &g->form[MDL_APART];
    const size_t w = (size_t)g->lanes, packs = (size_t)g->n_pack;
    struct dev_lin *l = g->lin = arena_new(mem, struct dev_lin);
    l->apart = f;
    list_inputs(g, l, mem);
    int32_t *fixed = arena_array(mem, int32_t, f->n_out);
    dev_fixed_init(g, l, fixed, mem);
    list_outputs(g, l, fixed, mem);
    l->at = dev_lin_columns(g, mem, g->lanes);
    if (buffers == 0) {
        dev_whole_init(g, mem);
        forget_rows(g);
        dev_whole_fresh(g);
        return;
    }
    l->v0 = arena_vectors(mem, packs * (size_t)l->n_col * w);
    l->held = arena_array(mem, double, (size_t)g->nb *(size_t)f->n_out);
    l->bound = arena_vectors(mem, packs * 2 * w);
    l->mask = arena_array(mem, uint8_t, packs);
    l->recent = arena_array(mem, int32_t, g->nb);
    l->is_recent = arena_array(mem, uint8_t, g->nb);
    l->is_worn = arena_array(mem, uint8_t, g->nb);
    l->item = arena_array(mem, int32_t, g->nb);
    l->first = arena_array(mem, int32_t, g->nb + 1);
    l->buffer = arena_array(mem, struct dev_lin_buffer, buffers);
    l->n_buffer = buffers;
    for (int i = 0; i < buffers; i++) {
        dev_lin_init_buffer(g, mem, &l->buffer[i], DEV_BATCH / g->lanes);
        l->buffer[i].change = arena_array(mem, double, DEV_BATCH *(size_t)l->n_sum);
    }
    forget_rows(g);
    begin_fresh(g); /* the rest is 0: whoever has an instance touches its pages first */
}

void dev_lin_rows_changed(dev_group *g)
{
    dev_fixed_rows(g, g->lin);
    if (g->lin->whole)
        dev_whole_fix(g);
    forget_rows(g);
}

void dev_lin_fresh(dev_group *g)
{
    struct dev_lin *l = g->lin;
    const size_t lanes = (size_t)g->n_pack * (size_t)g->lanes;
    if (l->whole) {
        dev_whole_fresh(g);
        return;
    }
    memset(l->v0, 0, lanes * (size_t)l->n_col * sizeof *l->v0);
    memset(l->held, 0, (size_t)g->nb * (size_t)l->apart->n_out * sizeof *l->held);
    memset(l->mask, 0, (size_t)g->n_pack);
    memset(l->is_recent, 0, (size_t)g->nb);
    begin_fresh(g);
}

/* -- what is to be evaluated -- */

void dev_lin_begin(dev_group *g, const dev_lin_at *at)
{
    struct dev_lin *l = g->lin;
    const bool same = dev_lin_same_dyn(l, at->dyn);
    dev_begin(g, MDL_APART, at->x);
    l->wear = 1;
    l->moved = false;
    for (size_t i = 0; !same && i < (size_t)g->n_pack * 2 * (size_t)g->lanes; i++)
        l->bound[i] = INFINITY;
}

/* Lanes whose bound does not hold. A bound that is not a number does not; an x that is none makes
 * sums that are none. */
static inline __attribute__((always_inline)) unsigned
select_pack(const struct dev_lin *l, int32_t p, const dev_lin_at *a, const int w)
{
    const int32_t *at = &l->at[(size_t)p * (size_t)l->n_col * (size_t)w];
    const double *v0 = &l->v0[(size_t)p * (size_t)l->n_col * (size_t)w];
    const double *b = &l->bound[(size_t)p * 2 * (size_t)w];
    const double *x = a->x, alpha = a->alpha, far = dev_lin_farthest(a), most = dev_lin_most(a);
    double d[MAX_LANES] = {0};
    unsigned mask = 0;
    for (int32_t c = 0; c < l->n_col; c++)
        for (int i = 0; i < w; i++) {
            const double v = fabs(x[at[c * w + i]] - v0[c * w + i]);
            d[i] = v > d[i] ? v : d[i];
        }
    for (int i = 0; i < w; i++)
        mask |= (unsigned)!(d[i] <= far && (b[i] + alpha * b[w + i]) * (d[i] * d[i]) <= most) << i;
    return mask;
}

/* The first pack from p on that is looked at. */
static inline int32_t next_pack(const struct dev_lin *l, int32_t p, int32_t end)
{
    uint64_t word = 0;
    while (l->partly && p < end && !l->visit[p]) {
        memcpy(&word, l->visit + p, sizeof word);
        p += word ? __builtin_ctzll(word) / 8 : 8;
    }
    return p < end ? p : end;
}

static inline __attribute__((always_inline)) void
select_packs(const dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end, const int w)
{
    struct dev_lin *l = g->lin;
    for (int32_t p = next_pack(l, begin, end); p < end; p = next_pack(l, p + 1, end)) {
        const unsigned real = l->partly ? l->visit[p] : (1u << (g->first[p + 1] - g->first[p])) - 1;
        l->mask[p] = (uint8_t)(real & (a->weight ? select_pack(l, p, a, w) : ~0u));
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

static void note_recent(dev_group *g, int32_t code)
{
    struct dev_lin *l = g->lin;
    const int32_t i = dev_lin_instance_of(g, code);
    if (!l->is_recent[i])
        l->recent[l->n_recent++] = i;
    l->is_recent[i] = l->is_worn[i] = 1;
}

typedef struct gathered { /* new packs, items; the first new pack of the home; row of the last */
    int32_t n_pack, n, first, row;
} gathered;

/* Puts what is marked in the packs of a run into new packs. These are of one row each; with a row
 * per lane of any. */
static void gather_packs(const dev_group *g, dev_lin_packs run, gathered *to)
{
    struct dev_lin *l = g->lin;
    for (int32_t p = next_pack(l, run.begin, run.end); p < run.end;
         p = next_pack(l, p + 1, run.end)) {
        const int32_t before = to->n;
        for (unsigned m = l->mask[p]; m; m &= m - 1)
            l->item[to->n++] = p * g->lanes + __builtin_ctz(m);
        l->mask[p] = 0;
        for (int32_t i = before; i < to->n; i++) {
            if (to->n_pack == to->first || i - l->first[to->n_pack - 1] == g->lanes ||
                (!g->row_per_lane && to->row != g->pack_row[p]))
                l->first[to->n_pack++] = i;
            to->row = g->pack_row[p];
        }
    }
}

int32_t dev_lin_gather(dev_group *g)
{
    struct dev_lin *l = g->lin;
    const dev_lin_homes *h = l->homes;
    gathered to = {.row = -1};
    if (!h)
        gather_packs(g, (dev_lin_packs){0, g->n_pack}, &to);
    for (int w = 0; h && w < h->n_home; w++) {
        h->begin[w] = to.first = to.n_pack;
        for (int32_t k = h->at[w]; k < h->at[w + 1]; k++)
            gather_packs(g, h->run[k], &to);
    }
    if (h)
        h->begin[h->n_home] = to.n_pack;
    l->first[to.n_pack] = to.n;
    l->n_item = to.n;
    for (int32_t i = 0; i < to.n; i++)
        note_recent(g, l->item[i]);
    return l->n_pack = to.n_pack;
}

/* -- evaluation -- */

static size_t place(const dev_group *g, int32_t code, int32_t n)
{
    return (size_t)dev_lin_pack_in(g, code) * (size_t)n * (size_t)g->lanes +
           (size_t)dev_lin_lane_in(g, code);
}

static int32_t item_in(int32_t lane) { return lane < 0 ? -1 - lane : lane; }

/* What dev_lin_eval reads and writes of an item. */
static inline void ask_for_item(const dev_group *g, int32_t code)
{
    const struct dev_lin *l = g->lin;
    const size_t w = (size_t)g->lanes, v0 = place(g, code, l->n_col), bound = place(g, code, 2);
    for (int32_t c = 0; c < l->n_col; c++)
        __builtin_prefetch(&l->v0[v0 + (size_t)c * w]);
    for (size_t b = 0; b < 2; b++)
        __builtin_prefetch(&l->bound[bound + b * w]);
    __builtin_prefetch(&g->row_of[dev_lin_instance_of(g, code)]);
    dev_lin_ask_for_instance(g, dev_lin_instance_of(g, code));
}

/* A lane without an item gets a copy: of one whose setup values it has, or of the last. */
static int32_t copy_for(const dev_group *g, int32_t p, int32_t has)
{
    const struct dev_lin *l = g->lin;
    int32_t at = l->first[p + 1] - 1;
    for (int32_t i = l->first[p]; i < l->first[p + 1] && g->row_per_lane; i++)
        if (g->row_of[dev_lin_instance_of(g, l->item[i])] == has)
            at = i;
    return -1 - at;
}

/* Which lanes of a new pack its items take: where each lane has a row, one that has the item's row
 * already, if there is one. Which items move changes from load to load, so that places in their
 * order would find the rows of others. */
static void arrange(const dev_group *g, int32_t p, const int32_t *has, int32_t *lane)
{
    const struct dev_lin *l = g->lin;
    const int32_t w = g->lanes;
    uint8_t taken[MAX_LANES] = {0}, placed[MAX_LANES] = {0};
    for (int pass = g->row_per_lane ? 0 : 1; pass < 2; pass++)
        for (int32_t i = l->first[p], j = 0; i < l->first[p + 1]; i++, j++) {
            const int32_t row = pass ? -1 : g->row_of[dev_lin_instance_of(g, l->item[i])];
            int32_t k = placed[j] ? w : 0;
            while (k < w && (taken[k] || (!pass && has[k] != row)))
                k++;
            if (k == w)
                continue;
            lane[k] = i;
            taken[k] = placed[j] = 1;
        }
    for (int32_t k = 0; k < w; k++)
        if (!taken[k])
            lane[k] = copy_for(g, p, has ? has[k] : -1);
}

static inline void seat(const dev_group *g, struct dev_lin_buffer *b, int32_t lane, int32_t code)
{
    const struct dev_lin *l = g->lin;
    const int32_t w = g->lanes, n_cache = l->apart->n_cache;
    int32_t *x = &b->map[place(g, lane, l->apart->n_u)];
    const int32_t *at = &l->at[place(g, code, l->n_col)];
    for (int32_t j = 0; j < l->n_probed; j++)
        x[l->probed[j] * w] = l->probed_col[j] < 0 ? 0 : at[l->probed_col[j] * w];
    if (!g->row_per_lane)
        return;
    const int32_t row = g->row_of[dev_lin_instance_of(g, code)];
    if (b->has[lane] == row)
        return;
    double *cache = &b->cache[place(g, lane, n_cache)];
    const double *of = &l->apart->rows[(size_t)row * (size_t)n_cache];
    for (int32_t j = 0; j < n_cache; j++)
        cache[j * w] = of[j];
    b->has[lane] = row;
}

void dev_lin_seat(const dev_group *g, struct dev_lin_buffer *b, int32_t lane, int32_t code)
{
    seat(g, b, lane, code);
}

/* Gives the items of packs [begin, end), as l->first has them, lanes of the buffer. Where each lane
 * has a row, they mostly find their setup values there. */
static void seat_items(const dev_group *g, int32_t begin, int32_t end, struct dev_lin_buffer *b)
{
    const struct dev_lin *l = g->lin;
    const int32_t w = g->lanes;
    for (int32_t p = begin, at = 0; p < end; p++, at += w) {
        arrange(g, p, g->row_per_lane ? &b->has[at] : NULL, &b->lane[at]);
        for (int32_t k = at; k < at + w; k++) {
            const int32_t code = l->item[item_in(b->lane[k])];
            if (b->lane[k] >= 0)
                ask_for_item(g, code);
            seat(g, b, k, code);
        }
        b->row[p - begin] = g->pack_row[dev_lin_pack_in(g, l->item[l->first[p]])];
    }
}

/* Limited voltages of the instances in the buffer's lanes. */
static void fill_limits(const dev_group *g, int32_t begin, int32_t end,
                        const struct dev_lin_buffer *b)
{
    const struct dev_lin *l = g->lin;
    const int32_t w = g->lanes, n_lim = g->n_lim, n = (end - begin) * w;
    for (int32_t k = 0; k < n && n_lim; k++) {
        const double *from = &g->lim[DEV_LIM_OLD][place(g, l->item[item_in(b->lane[k])], n_lim)];
        double *to = b->lim[0] + place(g, k, n_lim);
        for (int32_t j = 0; j < n_lim; j++)
            to[j * w] = from[j * w];
    }
}

/* What the instances limited to is what their next evaluations compare with; the others' stays. */
static void keep_limits(const dev_group *g, int32_t begin, int32_t end,
                        const struct dev_lin_buffer *b)
{
    const struct dev_lin *l = g->lin;
    const int32_t w = g->lanes, n_lim = g->n_lim, n = (end - begin) * w;
    for (int32_t k = 0; k < n && n_lim; k++) {
        if (b->lane[k] < 0)
            continue;
        double *to = &g->lim[DEV_LIM_OLD][place(g, l->item[b->lane[k]], n_lim)];
        const double *from = b->lim[1] + place(g, k, n_lim);
        for (int32_t j = 0; j < n_lim; j++)
            to[j * w] = from[j * w];
    }
}

/* With --check-kernels: compares the new packs, of the buffer's lanes, with the
 * interpreter. */
static void compare_items(const dev_group *g, int32_t begin, int32_t end, const jit_batch *batch,
                          const struct dev_lin_buffer *b)
{
    int32_t *item = NULL; /* vec */
    for (int32_t k = 0; k < (end - begin) * g->lanes; k++)
        vec_push(item, g->lin->item[item_in(b->lane[k])]);
    dev_compare(g, MDL_APART, batch, begin, end - begin, item);
    vec_free(item);
}

vs_status dev_lin_run(dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end,
                      struct dev_lin_buffer *b)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = l->apart;
    fill_limits(g, begin, end, b);
    const jit_batch batch = {.x = a->x,
                             .map = b->map,
                             .cache = g->row_per_lane ? b->cache : f->cache,
                             .row_of = b->row,
                             .dyn = a->dyn,
                             .limold = b->lim[0],
                             .limnew = b->lim[1],
                             .out = b->out};
    const vs_status st = mdl_eval(f->variant, g->row_per_lane, &batch, 0, end - begin);
    if (st == VS_OK && mdl_compare_wanted(g->model))
        compare_items(g, begin, end, &batch, b);
    keep_limits(g, begin, end, b);
    return st;
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

/* A pack of new linearisations beside the old ones, lane by lane. S lanes, WIDE at a time: W, but
 * at least WIDE. */
typedef struct lin_pack {
    const double *now;                  /* [n_out][S] outputs of the form APART */
    double padded[DEV_LIN_OUTS * WIDE]; /* these, where a kernel has fewer lanes */
    /* [n_out][S], then now - was; in the places of currents and charges of i0 - G v0, q0 - C v0;
     * [n_out] is 0 */
    double was[(DEV_LIN_OUTS + 1) * MAX_LANES];
    double none[2 * DEV_LIN_OUTS + WIDE];   /* what lanes without an instance write */
    double fixed[DEV_LIN_OUTS * MAX_LANES]; /* [n_fixed][S] */
    double v[DEV_LIN_COLS * MAX_LANES],
        dv[DEV_LIN_COLS * MAX_LANES]; /* [n_col][S] the place, and from the old one */
    double off[2][MAX_LANES];         /* how far the prediction was off, currents and charges, */
    double steep[2][MAX_LANES];       /* how far it can be off at 1 V, */
    double
        size[MAX_LANES]; /* and the size of terms: all in units of what may be left out in a row */
    double now_0[MAX_LANES],
        change_0[MAX_LANES]; /* 0 unless something new, or its change, is not finite */
    int32_t item[MAX_LANES]; /* what is in a lane, -1: nothing; */
    int32_t inst[MAX_LANES]; /* its number in the group */
} lin_pack;

static int stride_of(const dev_group *g) { return g->lanes < WIDE ? WIDE : g->lanes; }

static void pad_outputs(lin_pack *k, int32_t n_out, int32_t w)
{
    memset(k->padded, 0, (size_t)(n_out * WIDE) * sizeof *k->padded);
    for (int32_t j = 0; j < n_out; j++)
        memcpy(&k->padded[j * WIDE], &k->now[j * w], (size_t)w * sizeof *k->padded);
    k->now = k->padded;
}

/* The fixed parts of an instance's slopes to its lane; packs of one row have them in all lanes. */
static void fetch_fixed(const dev_group *g, int32_t inst, int lane, int32_t s, lin_pack *k)
{
    const struct dev_lin *l = g->lin;
    const double *restrict from = &l->fixed[(size_t)g->row_of[inst] * (size_t)l->n_fixed];
    for (int32_t j = 0; j < l->n_fixed; j++)
        if (g->row_per_lane)
            k->fixed[j * s + lane] = from[j];
        else
            for (int32_t i = 0; i < s; i++)
                k->fixed[j * s + i] = from[j];
}

/* Four elements of two vectors, by place: 0 to 3 in a, 4 to 7 in b. gcc before 12 knows only the
 * first form, clang only the second. */
#ifdef __clang__
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIX(a, b, ...) __builtin_shuffle(a, b, (wide_mask){__VA_ARGS__})
#endif

/* Rows of four lanes from four instances, or back: element j of lane q is of[q][j], and to or
 * from[row[j]][q] (row NULL: j). */
#define TURN(a, b, c, d, call)                                               \
    do {                                                                     \
        const wide ab0 = MIX(a, b, 0, 4, 2, 6), ab1 = MIX(a, b, 1, 5, 3, 7), \
                   cd0 = MIX(c, d, 0, 4, 2, 6), cd1 = MIX(c, d, 1, 5, 3, 7); \
        call(0, MIX(ab0, cd0, 0, 1, 4, 5));                                  \
        call(1, MIX(ab1, cd1, 0, 1, 4, 5));                                  \
        call(2, MIX(ab0, cd0, 2, 3, 6, 7));                                  \
        call(3, MIX(ab1, cd1, 2, 3, 6, 7));                                  \
    } while (0)

VS_CLONES static void lanes_from(const double *const *of, int32_t n, double *restrict to, int s)
{
    for (int at = 0; at < s; at += WIDE, of += WIDE) {
        int32_t j = 0;
        for (; j + WIDE <= n; j += WIDE) {
#define TO_ROW(k, v) PUT(to + (j + (k)) * s + at, v)
            TURN(GET(of[0] + j), GET(of[1] + j), GET(of[2] + j), GET(of[3] + j), TO_ROW);
        }
        for (; j < n; j++)
            for (int q = 0; q < WIDE; q++)
                to[j * s + at + q] = of[q][j];
    }
}

VS_CLONES static void lanes_to(double *const *of, int32_t n, const double *restrict from,
                               const int32_t *row, int s)
{
    for (int at = 0; at < s; at += WIDE, of += WIDE) {
        int32_t j = 0;
        for (; j + WIDE <= n; j += WIDE) {
#define ROW(k) GET(from + (row ? row[j + (k)] : j + (k)) * s + at)
#define TO_LANE(k, v) PUT(of[k] + j, v)
            TURN(ROW(0), ROW(1), ROW(2), ROW(3), TO_LANE);
        }
        for (; j < n; j++)
            for (int q = 0; q < WIDE; q++)
                of[q][j] = from[(row ? row[j] : j) * s + at + q];
    }
}

/* The lanes of a new pack with what is held of their instances; lane [W] as dev_lin_buffer has it.
 * Lanes from W on are copies of the first. */
static void fetch(const dev_group *g, const dev_lin_at *a, const int32_t *lane, lin_pack *k)
{
    const struct dev_lin *l = g->lin;
    const int32_t w = g->lanes, s = stride_of(g), n_out = l->apart->n_out, n_col = l->n_col;
    const double *held[MAX_LANES];
    for (int i = 0; i < s; i++) {
        const int32_t at = item_in(lane[i < w ? i : 0]), inst = dev_lin_instance_of(g, l->item[at]);
        const size_t from = place(g, l->item[at], n_col);
        const double *restrict v0 = &l->v0[from];
        const int32_t *restrict unknown = &l->at[from];
        k->item[i] = i < w && lane[i] >= 0 ? at : -1;
        k->inst[i] = inst;
        held[i] = &l->held[(size_t)inst * (size_t)n_out];
        for (int32_t c = 0; c < n_col; c++) {
            const double v = a->x[unknown[c * w]];
            k->v[c * s + i] = v;
            k->dv[c * s + i] = v - v0[c * w];
        }
        if (g->row_per_lane || i == 0)
            fetch_fixed(g, inst, i, s, k);
    }
    lanes_from(held, n_out, k->was, s);
    memset(k->was + n_out * s, 0, (size_t)s * sizeof *k->was);
    if (w < s)
        pad_outputs(k, n_out, w);
}

#define PUT_LARGER(p, v) PUT(p, LARGER(v, GET(p)))

/* One row of WIDE lanes from k's lane `at`: currents of i0 + G dv, or charges.
 * (G v)_now - (G v)_was = (now - was) v + was dv. */
static inline __attribute__((always_inline)) void
compare_row(const struct dev_lin *l, const dev_lin_out *o, const dev_lin_at *a,
            const double *weight, lin_pack *k, const int s, const int at)
{
    const double *now = k->now + at, *was = k->was + at, *v = k->v + at, *dv = k->dv + at,
                 *fixed = k->fixed + at;
    const int charge = o->kind == IR_OUT_REACT;
    const double scale = charge ? a->alpha : 1;
    const wide w = GET(weight);
    wide off = GET(now + o->at * s) - GET(was + o->at * s), at_0 = off, slope = {0};
    wide size = MAGNITUDE(GET(now + o->at * s)), steepest = {0};
    for (const dev_lin_term *t = l->term + o->begin, *end = l->term + o->end; t < end; t++) {
        const wide gn = GET(now + t->at * s), gw = GET(was + t->at * s), x = GET(v + t->col * s);
        const wide before = gw * GET(dv + t->col * s);
        off -= before;
        at_0 -= (gn - gw) * x + before;
        wide curved = gn;
        if (t->fixed >= 0)
            curved -= GET(fixed + t->fixed * s);
        slope += MAGNITUDE(curved);
        steepest = LARGER(MAGNITUDE(curved) * t->volt, steepest);
        size += MAGNITUDE(gn * x);
    }
    PUT(&k->was[o->at * s + at], at_0);
    const dev_lin_units u = dev_lin_units_of(w, a, charge, steepest);
    PUT_LARGER(&k->off[0][at], u.a * MAGNITUDE(off));
    PUT_LARGER(&k->steep[0][at], u.a * slope);
    if (charge) {
        PUT_LARGER(&k->off[1][at], u.b * MAGNITUDE(off));
        PUT_LARGER(&k->steep[1][at], u.b * slope);
    }
    PUT_LARGER(&k->size[at], w * scale * size);
}

static inline __attribute__((always_inline)) void
subtract_slopes(const struct dev_lin *l, lin_pack *k, const int s, const int at)
{
    wide now_0 = {0}, change_0 = {0};
    for (int32_t j = 0; j < l->apart->n_out; j++) {
        const wide now = GET(k->now + j * s + at), was = GET(k->was + j * s + at);
        wide change = was;
        if (l->is_slope[j])
            change = now - was;
        PUT(&k->was[j * s + at], change);
        now_0 += 0 * now;
        change_0 += 0 * change;
    }
    PUT(&k->now_0[at], now_0);
    PUT(&k->change_0[at], change_0);
}

static inline __attribute__((always_inline)) void
compare_pack(const dev_group *g, const dev_lin_at *a, lin_pack *k, const int s)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = &g->form[MDL_TRAN];
    memset(k->off, 0, sizeof k->off);
    memset(k->steep, 0, sizeof k->steep);
    memset(k->size, 0, sizeof k->size);
    for (int32_t r = 0; r < f->n_out; r++) {
        const dev_lin_out *o = &l->out[r];
        double weight[MAX_LANES] = {0};
        if (!dev_lin_is_row(o))
            continue;
        for (int i = 0; i < s && a->weight; i++)
            if (k->item[i] >= 0)
                weight[i] = a->weight[f->slot[(size_t)k->inst[i] * (size_t)f->n_out + (size_t)r]];
        for (int at = 0; at < s; at += WIDE)
            compare_row(l, o, a, weight + at, k, s, at);
    }
    for (int at = 0; at < s; at += WIDE)
        subtract_slopes(l, k, s, at);
}

VS_CLONES static void compare_8(const dev_group *g, const dev_lin_at *a, lin_pack *k)
{
    compare_pack(g, a, k, 8);
}
VS_CLONES static void compare_4(const dev_group *g, const dev_lin_at *a, lin_pack *k)
{
    compare_pack(g, a, k, 4);
}

/* size: of an instance's terms, in WILD. Pieces of a load may do this at the same time. */
static void note_wear(struct dev_lin *l, double size)
{
    const int32_t wear = size < DEV_LIN_EVERY ? (int32_t)size + 1 : DEV_LIN_EVERY;
    int32_t most = l->wear;
    while (wear > most && !atomic_compare_exchange_weak(&l->wear, &most, wear)) {
    }
}

/* Keeps the place and the bounds of the new linearisation of lane i. */
static void hold(dev_group *g, const dev_lin_at *a, const lin_pack *k, int i)
{
    struct dev_lin *l = g->lin;
    const int32_t w = g->lanes, s = stride_of(g), code = l->item[k->item[i]];
    double *v0 = &l->v0[place(g, code, l->n_col)], *bound = &l->bound[place(g, code, 2)];
    const bool limited = l->limited >= 0 && k->now[l->limited * s + i] != 0;
    double d = 0;
    for (int32_t c = 0; c < l->n_col; c++) {
        v0[c * w] = k->v[c * s + i];
        d = larger(d, fabs(k->dv[c * s + i]));
    }
    for (int b = 0; b < 2; b++) /* without weights there are no tolerances yet */
        bound[b * w] = a->weight && k->now_0[i] == 0 && !limited
                           ? new_bound(bound[b * w], k->off[b][i], k->steep[b][i], d)
                           : INFINITY;
    note_wear(l, k->change_0[i] == 0 ? k->size[i] / WILD : INFINITY);
    if (limited)
        l->moved = true;
}

/* Keeps the new linearisations of a pack, and notes what they change; change [DEV_BATCH][n_sum] of
 * items from `begin` on. */
static void hold_pack(dev_group *g, const dev_lin_at *a, lin_pack *k, int32_t begin, double *change)
{
    const struct dev_lin *l = g->lin;
    const int32_t s = stride_of(g), n_out = l->apart->n_out;
    double *held[MAX_LANES], *changed[MAX_LANES];
    for (int i = 0; i < s; i++) {
        held[i] = changed[i] = k->none;
        if (k->item[i] < 0)
            continue;
        held[i] = &l->held[(size_t)k->inst[i] * (size_t)n_out];
        changed[i] = change + (size_t)(k->item[i] - begin) * (size_t)l->n_sum;
        hold(g, a, k, i);
    }
    lanes_to(held, n_out, k->now, NULL, s);
    lanes_to(changed, l->n_sum, k->was, l->sum, s);
}

vs_status dev_lin_eval(dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end, int buffer)
{
    const struct dev_lin *l = g->lin;
    struct dev_lin_buffer *b = &l->buffer[buffer];
    const size_t n_out = (size_t)l->apart->n_out;
    seat_items(g, begin, end, b);
    const vs_status st = dev_lin_run(g, a, begin, end, b);
    lin_pack k;
    for (int32_t p = begin; p < end && st == VS_OK; p++) {
        k.now = b->out + (size_t)(p - begin) * n_out * (size_t)g->lanes;
        fetch(g, a, &b->lane[(p - begin) * g->lanes], &k);
        if (g->lanes == 8)
            compare_8(g, a, &k);
        else
            compare_4(g, a, &k);
        hold_pack(g, a, &k, l->first[begin], b->change);
    }
    return st;
}

/* -- sums -- */

typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

/* Adds what an instance gives, or changes, [n_sum]. */
static void add_instance(const dev_group *g, int32_t inst, const double *restrict of,
                         const dev_lin_sums *to)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = &g->form[MDL_TRAN];
    const int32_t *slot = &f->slot[(size_t)inst * (size_t)f->n_out], *add = l->add;
    double *restrict i = to->i, *restrict q = to->q;
    two *restrict gc = (two *)to->gc;
    int32_t k = 0;
    for (; k < l->n_add[0]; k++)
        i[slot[add[k]]] += of[k];
    for (; k < l->n_add[1]; k++)
        q[slot[add[k]]] += of[k];
    for (of += k; k < l->n_add[2]; k++, of += 2)
        gc[slot[add[k]]] += *(const two *)of;
}

void dev_lin_add(const dev_group *g, int32_t begin, int32_t end, int buffer, const dev_lin_sums *to)
{
    const struct dev_lin *l = g->lin;
    const double *change = l->buffer[buffer].change;
    for (int32_t i = l->first[begin]; i < l->first[end]; i++, change += l->n_sum)
        add_instance(g, dev_lin_instance_of(g, l->item[i]), change, to);
}

/* What an instance holds, held[k * step], and the distance of x (NULL: of 0) from where it does. */
typedef struct held_at {
    const double *held;
    size_t step;
    double dv[DEV_LIN_COLS];
} held_at;

static void find_held(const dev_group *g, int32_t pack, int32_t lane, const double *x, held_at *k)
{
    const struct dev_lin *l = g->lin;
    const size_t s = (size_t)(l->whole ? dev_whole_stride(g) : g->lanes);
    const int32_t *at = &l->at[place(g, pack * g->lanes + lane, l->n_col)];
    const double *v0 = l->whole ? NULL : &l->v0[place(g, pack * g->lanes + lane, l->n_col)];
    k->step = l->whole ? s : 1;
    k->held = l->whole ? dev_whole_held(g, pack, lane, &v0)
                       : &l->held[(size_t)(g->first[pack] + lane) * (size_t)l->apart->n_out];
    for (int32_t c = 0; c < l->n_col; c++)
        k->dv[c] = (x ? x[at[c * g->lanes]] : 0) - v0[(size_t)c * s];
}

static double part_of(const held_at *k, int32_t at) { return k->held[(size_t)at * k->step]; }

/* i0 + G dv or q0 + C dv */
static double value_at(const struct dev_lin *l, const dev_lin_out *o, const held_at *k)
{
    double sum = part_of(k, o->at);
    for (int32_t t = o->begin; t < o->end; t++)
        sum += part_of(k, l->term[t].at) * k->dv[l->term[t].col];
    return sum;
}

/* What instance i gives to the sums, of [2 * DEV_LIN_OUTS + WIDE]. */
static void give(const dev_group *g, int32_t pack, int32_t i, double *of)
{
    const struct dev_lin *l = g->lin;
    const int32_t n_out = l->apart->n_out;
    double held[DEV_LIN_OUTS + 1];
    held_at at;
    find_held(g, pack, i - g->first[pack], NULL, &at);
    for (int32_t k = 0; k < n_out; k++)
        held[k] = part_of(&at, k);
    held[n_out] = 0;
    for (int32_t k = 0; k < l->n_add[1]; k++)
        of[k] = value_at(l, &l->out[l->add[k]], &at);
    for (int32_t k = l->n_add[1]; k < l->n_sum; k++)
        of[k] = held[l->sum[k]];
}

void dev_lin_add_all(dev_group *g, const dev_lin_sums *to)
{
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = g->first[p]; i < g->first[p + 1]; i++) {
            double of[2 * DEV_LIN_OUTS + WIDE];
            give(g, p, i, of);
            add_instance(g, i, of, to);
        }
    dev_lin_renewed(g);
}

void dev_lin_renewed(dev_group *g) { memset(g->lin->is_worn, 0, (size_t)g->nb); }

static bool is_in(const dev_lin_seats *s, int32_t unknown)
{
    return s->seat[unknown] >= s->begin && s->seat[unknown] < s->end;
}

void dev_lin_add_at(const dev_group *g, int32_t i, const dev_lin_seats *s, const dev_lin_sums *to)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = &g->form[MDL_TRAN];
    const mdl_out *out = f->variant->out;
    const int32_t *slot = &f->slot[(size_t)i * (size_t)f->n_out],
                  *at = &f->map[(size_t)i * (size_t)f->n_u];
    two *gc = (two *)to->gc;
    double of[2 * DEV_LIN_OUTS + WIDE];
    int32_t k = 0;
    give(g, l->pack_of[i], i, of);
    for (; k < l->n_add[1]; k++) {
        const int32_t row = slot[l->add[k]];
        if (is_in(s, row))
            *(k < l->n_add[0] ? &to->i[row] : &to->q[row]) += of[k];
    }
    for (const double *slope = of + k; k < l->n_add[2]; k++, slope += 2) {
        const int32_t row = at[out[l->add[k]].a], col = at[out[l->add[k]].b];
        if (is_in(s, s->seat[col] < s->first ? row : col))
            gc[slot[l->add[k]]] += *(const two *)slope;
    }
}

/* The reference's row, which nobody reads, stays as it is where threads share. */
static void sizes_of(const dev_group *g, int32_t inst, bool shared, double *fmax, double *qmax)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = &g->form[MDL_TRAN];
    const int32_t *slot = &f->slot[(size_t)inst * (size_t)f->n_out];
    const double *held = &l->held[(size_t)inst * (size_t)l->apart->n_out];
    for (int what = 0; what < (qmax ? 2 : 1); what++) {
        double *max = what ? qmax : fmax;
        for (int32_t k = what ? l->n_add[0] : 0; k < l->n_add[what]; k++) {
            const double v = fabs(held[l->sum[k]]);
            const int32_t r = slot[l->add[k]];
            if (!shared)
                max[r] = v > max[r] ? v : max[r];
            else if (r)
                dev_lin_raise_common(&max[r], v);
        }
    }
}

int32_t dev_lin_n_sizes(const dev_group *g, bool all) { return all ? g->nb : g->lin->n_recent; }

void dev_lin_sizes(const dev_group *g, bool all, int32_t begin, int32_t end, bool shared,
                   double *fmax, double *qmax)
{
    const struct dev_lin *l = g->lin;
    enum { AHEAD = 4 };
    for (int32_t k = begin; all && k < end; k++)
        sizes_of(g, k, shared, fmax, qmax);
    for (int32_t k = begin; !all && k < end; k++) {
        if (k + AHEAD < end)
            dev_lin_ask_for_instance(g, l->recent[k + AHEAD]);
        sizes_of(g, l->recent[k], shared, fmax, qmax);
    }
}

static void corners_of(const dev_group *g, int32_t inst, const held_at *at, double alpha,
                       double *by)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = &g->form[MDL_TRAN];
    const int32_t *slot = &f->slot[(size_t)inst * (size_t)f->n_out];
    double d = 0;
    for (int32_t c = 0; c < l->n_col; c++)
        d = fmax(d, fabs(at->dv[c]));
    for (int32_t k = 0; k < l->n_add[1]; k++) {
        const dev_lin_out *o = &l->out[l->add[k]];
        double slope = 0;
        for (int32_t t = o->begin; t < o->end; t++)
            slope += fabs(part_of(at, l->term[t].at));
        const double off = (o->kind == IR_OUT_REACT ? alpha : 1) * slope * d;
        by[slot[l->add[k]]] += isfinite(off) ? off : 0;
    }
}

void dev_lin_corners(const dev_group *g, const double *x, double alpha, double *by)
{
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = g->first[p]; i < g->first[p + 1]; i++) {
            held_at at;
            find_held(g, p, i - g->first[p], x, &at);
            corners_of(g, i, &at, alpha, by);
        }
}

void dev_lin_accept(dev_group *g)
{
    struct dev_lin *l = g->lin;
    for (int32_t k = 0; k < l->n_recent; k++)
        l->is_recent[l->recent[k]] = 0;
    l->n_recent = 0;
}

void dev_lin_resistances(const dev_group *g, int32_t i, double least, int32_t **ends)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = l->apart;
    const int32_t *unknown = &f->map[(size_t)i * (size_t)f->n_u];
    const double *fixed = &l->fixed[(size_t)g->row_of[i] * (size_t)l->n_fixed];
    const int32_t n_out = l->n_fixed ? g->form[MDL_TRAN].n_out : 0;
    for (const dev_lin_out *o = l->out, *end = l->out + n_out; o < end; o++) {
        if (o->kind != IR_OUT_RES)
            continue;
        for (const dev_lin_term *t = l->term + o->begin; t < l->term + o->end; t++) {
            const mdl_out *slope = &f->variant->out[t->at];
            if (t->fixed < 0 || -fixed[t->fixed] < least)
                continue;
            vec_push(*ends, unknown[slope->a]);
            vec_push(*ends, unknown[slope->b]);
        }
    }
}

void dev_lin_outputs(const dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end,
                     double *out)
{
    const struct dev_lin *l = g->lin;
    const int32_t n = g->form[MDL_TRAN].n_out;
    held_at at;
    for (int32_t p = begin; p < end; p++)
        for (int32_t lane = 0; lane < g->first[p + 1] - g->first[p]; lane++) {
            find_held(g, p, lane, a->x, &at);
            for (int32_t k = 0; k < n; k++) {
                const dev_lin_out *o = &l->out[k];
                out[((p - begin) * n + k) * g->lanes + lane] =
                    o->kind != IR_OUT_J ? value_at(l, o, &at) /* LIMITED has no terms */
                                        : (o->g >= 0 ? part_of(&at, o->g) : 0) +
                                              (o->c >= 0 ? a->alpha * part_of(&at, o->c) : 0);
            }
        }
}
