/* dev.c - instance tables of a group and their evaluation. */
#include "dev_lin.h"

#include <string.h>

#include "hot.h"

void dev_group_init(dev_group *g, arena *mem, mdl_model *m, const int32_t *inst, const int32_t *row,
                    int32_t nb)
{
    *g = (dev_group){.model = m, .nb = nb};
    g->inst = arena_array(mem, int32_t, nb);
    g->row_of = arena_array(mem, int32_t, nb);
    memcpy(g->inst, inst, (size_t)nb * sizeof *inst);
    for (int32_t i = 0; i < nb; i++) {
        g->n_row += i == 0 || row[i] != row[i - 1];
        g->row_of[i] = g->n_row - 1;
    }
    g->row = arena_array(mem, int32_t, g->n_row);
    for (int32_t i = 0; i < nb; i++)
        g->row[g->row_of[i]] = row[i];
}

void dev_group_fini(dev_group *g)
{
    for (int f = 0; f < MDL_N_FORM; f++)
        vec_free(g->form[f].run);
}

/* Outputs of one kind that follow each other make one run. */
static void find_runs(dev_form *f)
{
    for (int32_t k = 0; k < f->n_out; k++) {
        const uint8_t kind = f->variant->out[k].kind;
        if (kind != IR_OUT_RES && kind != IR_OUT_REACT && kind != IR_OUT_G && kind != IR_OUT_J &&
            kind != IR_OUT_LIMITED && kind != IR_OUT_BOUND_STEP)
            continue;
        if (vec_len(f->run) && vec_last(f->run).kind == kind && vec_last(f->run).end == k)
            vec_last(f->run).end++;
        else
            vec_push(f->run, (dev_run){kind, k, k + 1});
    }
}

/* -- packs -- */

/* Breaks the instances into packs of g->lanes, at changes of the row if one_row. first NULL: only
 * counts them. */
static int32_t break_packs(const dev_group *g, bool one_row, int32_t *first)
{
    int32_t n = 0;
    for (int32_t i = 0, lane = 0; i < g->nb; i++, lane++)
        if (i == 0 || lane == g->lanes || (one_row && g->row_of[i] != g->row_of[i - 1])) {
            if (first)
                first[n] = i;
            n++;
            lane = 0;
        }
    if (first)
        first[n] = g->nb;
    return n;
}

/* Instances that are put together when they moved mostly have few neighbours of their row: below
 * this many a row, packs are of any. */
enum { ROW_MANY = 64 };

/* One row for each pack unless that makes more than 3 packs of 2. */
static void make_packs(dev_group *g, arena *mem, int32_t lanes)
{
    g->lanes = lanes;
    const int32_t mixed = break_packs(g, false, NULL), apart = break_packs(g, true, NULL);
    g->row_per_lane = apart > mixed + (g->n_variant > 1 ? 0 : mixed / 2);
    g->row_per_lane |= g->gathers && g->n_row > 1 && g->nb < ROW_MANY * g->n_row;
    g->n_pack = g->row_per_lane ? mixed : apart;
    g->first = arena_array(mem, int32_t, g->n_pack + 1);
    (void)break_packs(g, !g->row_per_lane, g->first);
    g->pack_row = arena_array(mem, int32_t, g->n_pack);
    for (int32_t p = 0; p < g->n_pack; p++)
        g->pack_row[p] = g->row_of[g->first[p]];
}

int32_t dev_pack_of(const dev_group *g, int32_t i)
{
    int32_t lo = i / g->lanes, step = 1; /* most packs are full: it is near */
    for (; lo + step < g->n_pack && g->first[lo + step] <= i; step *= 2)
        lo += step;
    int32_t hi = lo + step < g->n_pack ? lo + step : g->n_pack;
    while (hi - lo > 1) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (g->first[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The instance in a lane; padding repeats the last one of the pack. */
static int32_t inst_in(const dev_group *g, int32_t pack, int32_t lane)
{
    const int32_t i = g->first[pack] + lane, end = g->first[pack + 1];
    return i < end ? i : end - 1;
}

static size_t lane_place(const dev_group *g, int32_t pack, int32_t n, int32_t k, int32_t lane)
{
    return ((size_t)pack * (size_t)n + (size_t)k) * (size_t)g->lanes + (size_t)lane;
}

/* -- forms -- */

static bool same_map(const dev_form *a, const dev_form *b)
{
    return a->variant && a->map && a->n_u == b->n_u;
}

static const int32_t *copy_map(const dev_group *g, const dev_form *f, arena *mem,
                               const int32_t *const *unknown)
{
    int32_t *to = arena_array(mem, int32_t, (size_t)g->nb *(size_t)f->n_u);
    for (int32_t i = 0; i < g->nb; i++)
        memcpy(&to[(size_t)i * (size_t)f->n_u], unknown[i], (size_t)f->n_u * sizeof *to);
    return to;
}

static void fill_map(dev_group *g, dev_form *f, arena *mem, const int32_t *const *unknown)
{
    for (int k = 0; k < MDL_N_FORM && !f->map; k++)
        if (&g->form[k] != f && same_map(&g->form[k], f)) {
            f->map = g->form[k].map; /* unknowns are those of the row, not of the form */
            f->lane_map = g->form[k].lane_map;
        }
    if (f->map)
        return;
    f->map =
        g->unknown && f->n_u == mdl_n_unknown(g->model) ? g->unknown : copy_map(g, f, mem, unknown);
    f->lane_map = arena_array(mem, int32_t, (size_t)g->n_pack *(size_t)f->n_u *(size_t)g->lanes);
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t l = 0; l < g->lanes; l++)
            for (int32_t u = 0; u < f->n_u; u++)
                f->lane_map[lane_place(g, p, f->n_u, u, l)] = unknown[inst_in(g, p, l)][u];
}

/* Setup values of row r to the lanes that have it: of instances from `first` on, and of padding.
 * Returns the first instance of the next row. */
static int32_t spread_row(const dev_group *g, dev_form *f, const double *row, int32_t r,
                          int32_t first)
{
    int32_t i = first;
    for (; i < g->nb && g->row_of[i] == r; i++) {
        const int32_t p = i / g->lanes, lane = i % g->lanes;
        for (int32_t k = 0; k < f->n_cache; k++)
            for (int32_t l = lane; l == lane || (l < g->lanes && i == g->nb - 1); l++)
                f->cache[lane_place(g, p, f->n_cache, k, l)] = row[k];
    }
    return i;
}

/* The first instance of row r. */
static int32_t first_of_row(const dev_group *g, int32_t r)
{
    int32_t lo = 0, hi = g->nb;
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (g->row_of[mid] < r)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void dev_row_of_form(const dev_group *g, const dev_form *f, int32_t r, double *to)
{
    const size_t n = (size_t)f->n_cache;
    if (f->rows) {
        memcpy(to, &f->rows[(size_t)r * n], n * sizeof *to);
        return;
    }
    const int32_t i = first_of_row(g, r);
    for (int32_t k = 0; k < f->n_cache; k++)
        to[k] = f->cache[lane_place(g, i / g->lanes, f->n_cache, k, i % g->lanes)];
}

/* Setup values: a row each, or spread over the lanes. Linearisations need them by rows too. */
static void fill_cache(dev_group *g, dev_form *f, arena *mem)
{
    const size_t n = (size_t)f->n_cache;
    if (!g->row_per_lane || f == &g->form[MDL_APART])
        f->rows = arena_array(mem, double, (size_t)g->n_row *n);
    f->cache =
        g->row_per_lane ? arena_vectors(mem, (size_t)g->n_pack * n * (size_t)g->lanes) : f->rows;
    double *one = vs_malloc((n + 1) * sizeof *one);
    for (int32_t r = 0, i = 0; r < g->n_row; r++) {
        double *row = f->rows ? &f->rows[(size_t)r * n] : one;
        mdl_setup(f->variant, g->row[r], row);
        if (g->row_per_lane)
            i = spread_row(g, f, row, r, i);
    }
    vs_free(one);
}

/* The setup of row r once more. true: its values have changed. */
static bool set_row(const dev_group *g, dev_form *f, int32_t r, double *now, double *before)
{
    const size_t n = (size_t)f->n_cache;
    dev_row_of_form(g, f, r, before);
    mdl_setup(f->variant, g->row[r], now);
    if (f->rows)
        memcpy(&f->rows[(size_t)r * n], now, n * sizeof *now);
    if (g->row_per_lane)
        (void)spread_row(g, f, now, r, first_of_row(g, r));
    return memcmp(before, now, n * sizeof *now) != 0;
}

unsigned dev_rows_changed(dev_group *g, const int32_t *which, size_t n)
{
    unsigned changed = 0;
    double *work = NULL;
    for (int k = 0; k < MDL_N_FORM; k++) {
        dev_form *f = &g->form[k];
        const size_t n_cache = (size_t)f->n_cache;
        if (!f->variant || !f->evaluated)
            continue;
        vec_clear(work);
        vec_extend(work, 2 * n_cache + 1);
        for (size_t i = 0; i < n; i++)
            if (set_row(g, f, which[i], work, work + n_cache))
                changed |= 1u << k;
    }
    vec_free(work);
    if (g->lin && changed >> MDL_APART & 1)
        dev_lin_rows_changed(g);
    return changed;
}

void dev_form_add(dev_group *g, arena *mem, mdl_form_kind form, mdl_variant *v,
                  const int32_t *const *unknown, bool evaluated)
{
    dev_form *f = &g->form[form];
    assert(v->lay.n_u <= mdl_n_unknown(g->model));
    *f = (dev_form){.variant = v,
                    .evaluated = evaluated,
                    .n_u = v->lay.n_u,
                    .n_out = v->lay.n_out,
                    .n_cache = v->lay.n_cache};
    if (!g->lanes)
        make_packs(g, mem, v->lay.lanes);
    assert(g->lanes == v->lay.lanes);
    fill_map(g, f, mem, unknown);
    if (evaluated) {
        mdl_want(v, g->row_per_lane);
        fill_cache(g, f, mem);
    }
    find_runs(f);
    if (v->lay.n_lim > g->n_lim)
        g->n_lim = v->lay.n_lim;
    if (v->lay.n_state > g->n_state)
        g->n_state = v->lay.n_state;
}

/* Values of all lanes when an instance has n. */
static size_t lane_count(const dev_group *g, int32_t n)
{
    return (size_t)g->n_pack * (size_t)n * (size_t)g->lanes;
}

void dev_state_init(dev_group *g, arena *mem)
{
    for (int k = 0; k < DEV_N_LIM; k++)
        g->lim[k] = arena_vectors(mem, lane_count(g, g->n_lim));
    g->state = arena_vectors(mem, lane_count(g, g->n_state));
    g->state_new = arena_vectors(mem, lane_count(g, g->n_state));
    g->lim_fresh = true;
}

void dev_state_zero(dev_group *g)
{
    const size_t n = lane_count(g, g->n_state) * sizeof(double);
    memset(g->state, 0, n);
    memset(g->state_new, 0, n);
}

size_t dev_state_size(const dev_group *g)
{
    return DEV_N_LIM * lane_count(g, g->n_lim) + 2 * lane_count(g, g->n_state);
}

void dev_state_save(const dev_group *g, double *to)
{
    const size_t lim = lane_count(g, g->n_lim), state = lane_count(g, g->n_state);
    for (int k = 0; k < DEV_N_LIM; k++)
        memcpy(to + (size_t)k * lim, g->lim[k], lim * sizeof *to);
    memcpy(to + DEV_N_LIM * lim, g->state, state * sizeof *to);
    memcpy(to + DEV_N_LIM * lim + state, g->state_new, state * sizeof *to);
}

/* Limits of all instances have changed. */
static void note_limits(dev_group *g)
{
    if (g->lin)
        g->lin->all_limits = true;
}

void dev_state_load(dev_group *g, const double *from)
{
    const size_t lim = lane_count(g, g->n_lim), state = lane_count(g, g->n_state);
    for (int k = 0; k < DEV_N_LIM; k++)
        memcpy(g->lim[k], from + (size_t)k * lim, lim * sizeof *from);
    memcpy(g->state, from + DEV_N_LIM * lim, state * sizeof *from);
    memcpy(g->state_new, from + DEV_N_LIM * lim + state, state * sizeof *from);
    g->lim_fresh = false;
    note_limits(g);
}

void dev_state_fresh(dev_group *g)
{
    const size_t lim = lane_count(g, g->n_lim) * sizeof(double);
    for (int k = 0; k < DEV_N_LIM; k++)
        memset(g->lim[k], 0, lim);
    dev_state_zero(g);
    g->lim_fresh = true;
    if (g->lin)
        dev_lin_fresh(g);
}

static double probe_value(const va_probe *p, const int32_t *node, const double *x)
{
    return (p->hi >= 0 ? x[node[p->hi]] : 0) - (p->lo >= 0 ? x[node[p->lo]] : 0);
}

void dev_limits_at(dev_group *g, mdl_form_kind form, const double *x, int32_t begin, int32_t end)
{
    const va_module *mod = mdl_module(g->model);
    const dev_form *f = &g->form[form];
    const int32_t n = f->variant->lay.n_lim;
    const bool known = n <= (int32_t)vec_len(mod->lim_probe);
    for (int32_t p = begin; p < end; p++)
        for (int32_t l = 0; l < g->lanes; l++) {
            const int32_t *node = &f->map[(size_t)inst_in(g, p, l) * (size_t)f->n_u];
            for (int32_t k = 0; k < n && known; k++)
                g->lim[DEV_LIM_OLD][lane_place(g, p, n, k, l)] =
                    probe_value(&mod->probe[mod->lim_probe[k]], node, x);
        }
}

void dev_begin(dev_group *g, mdl_form_kind form, const double *x)
{
    if (!g->lim_fresh || !g->n_lim)
        return;
    g->lim_fresh = false;
    note_limits(g);
    dev_limits_at(g, form, x, 0, g->n_pack);
}

jit_batch dev_batch(dev_group *g, mdl_form_kind form, const double *dyn, const double *x,
                    int32_t begin, bool last, double *out)
{
    const dev_form *f = &g->form[form];
    const jit_layout *lay = &f->variant->lay;
    const size_t lim = lane_place(g, begin, lay->n_lim, 0, 0),
                 st = lane_place(g, begin, lay->n_state, 0, 0);
    /* After dev_advance the roles of OLD and NEW are exchanged: NEW is what the last one read. */
    const dev_lim from = last ? DEV_LIM_NEW : DEV_LIM_OLD, to = last ? DEV_LIM_OLD : DEV_LIM_NEW;
    return (jit_batch){
        .x = x,
        .map = f->lane_map + lane_place(g, begin, f->n_u, 0, 0),
        .cache = f->cache + (g->row_per_lane ? lane_place(g, begin, f->n_cache, 0, 0) : 0),
        .row_of = g->pack_row + begin,
        .dyn = dyn,
        .state = g->state ? g->state + st : NULL,
        .limold = g->lim[from] ? g->lim[from] + lim : NULL,
        .out = out,
        .state_new = g->state_new ? g->state_new + st : NULL,
        .limnew = g->lim[to] ? g->lim[to] + lim : NULL,
    };
}

vs_status dev_eval(dev_group *g, mdl_form_kind form, const double *dyn, const double *x,
                   int32_t begin, int32_t end, bool last, double *out)
{
    const jit_batch b = dev_batch(g, form, dyn, x, begin, last, out);
    const vs_status st = mdl_eval(g->form[form].variant, g->row_per_lane, &b, 0, end - begin);
    if (st == VS_OK && mdl_compare_wanted(g->model))
        dev_compare(g, form, &b, begin, end - begin, NULL);
    return st;
}

void dev_compare(const dev_group *g, mdl_form_kind form, const jit_batch *b, int32_t begin,
                 int32_t n, const int32_t *item)
{
    int32_t *inst = vs_calloc((size_t)(n * g->lanes) + 1, sizeof *inst);
    for (int32_t k = 0; k < n * g->lanes; k++) {
        const int32_t at = item ? item[k] : begin * g->lanes + k;
        inst[k] = g->inst[inst_in(g, at / g->lanes, at % g->lanes)];
    }
    mdl_compare_batch(g->form[form].variant, g->row_per_lane, b, 0, n, inst, g->who, g->who_user);
    vs_free(inst);
}

void dev_advance(dev_group *g)
{
    double *t = g->lim[DEV_LIM_OLD];
    g->lim[DEV_LIM_OLD] = g->lim[DEV_LIM_NEW];
    g->lim[DEV_LIM_NEW] = t;
}

/* Of a group that holds linearisations only what was evaluated: most of a large circuit rests. */
VS_HOT static void copy_limits(dev_group *g, dev_lim to, dev_lim from)
{
    struct dev_lin *l = g->lin;
    if (!l || l->whole || l->all_limits || l->n_recent > g->nb / 8) {
        memcpy(g->lim[to], g->lim[from], lane_count(g, g->n_lim) * sizeof(double));
        if (l)
            l->all_limits = false;
        return;
    }
    for (int32_t k = 0; k < l->n_recent; k++) {
        const int32_t p = dev_pack_of(g, l->recent[k]), lane = l->recent[k] - g->first[p];
        for (int32_t j = 0; j < g->n_lim; j++) {
            const size_t at = lane_place(g, p, g->n_lim, j, lane);
            g->lim[to][at] = g->lim[from][at];
        }
    }
}

VS_HOT void dev_accept(dev_group *g)
{
    if (g->n_lim)
        copy_limits(g, DEV_LIM_ACC, DEV_LIM_OLD);
    double *t = g->state;
    g->state = g->state_new;
    g->state_new = t;
}

void dev_restore(dev_group *g)
{
    if (g->n_lim)
        copy_limits(g, DEV_LIM_OLD, DEV_LIM_ACC);
}
