/* ckt_stamp.c - one load: evaluate every device at x, sum up f, q and J.
 * Groups, batches, instances and outputs are stamped in a fixed order: sums do not depend on
 * threads. */
#include "ckt_priv.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "hot.h"
#include "ckt_latent.h"
#include "norm.h"

static const double loop_ohm = 1e-6; /* in dc, of a branch in a loop of voltage-defined branches */

/* Reading the clock costs as much as evaluating a few resistors, and a load reads it three times a
 * group: in circuits of few devices one load in 16 is timed and counts for 16. */
enum { TIMED_EVERY = 256, SMALL = 1024 };

/* Operations of a kernel per output, above which evaluation is worth more than twice the stamp
 * (some 1 ns per output, 0.1 ns per operation of 8 lanes). */
enum { PARALLEL_PER_OUT = 30 };

typedef struct load { /* where a load goes */
    double *f, *q, *qlo, *fmax, *qmax, *val;
    dev_lin_at at; /* the same for groups that keep linearisations */
    bool charges;  /* q is asked for */
    bool limited;
    bool finite; /* parts that are not finite count as nothing */
    double bound, asked;
    int timed; /* 0: no; else what its seconds are multiplied by */
} load;

/* Seconds that one reading of the clock takes. */
static double clock_cost(void)
{
    double best = 1;
    for (int i = 0; i < 20; i++) {
        const double t0 = vs_seconds(), t1 = vs_seconds();
        if (t1 - t0 < best)
            best = t1 - t0;
    }
    return best;
}

/* What `analysis()` and its kin see. LRM, table of return values of analysis(): the operating point
 * of a transient is "tran", "static" and "ic", but not "dc". */
void ckt_fill_dyn(double *dyn, const ckt_env *env)
{
    const bool fixed = env->mode == CKT_STATIC;
    memset(dyn, 0, IR_N_DYN * sizeof *dyn);
    dyn[IR_DYN_ALPHA] = fixed ? 0 : env->alpha;
    dyn[IR_DYN_GMIN] = env->gmin;
    dyn[IR_DYN_SRCFACT] = env->srcfact;
    dyn[IR_DYN_ITER] = env->iter;
    dyn[IR_DYN_INITIAL_STEP] = env->initial_step;
    dyn[IR_DYN_FINAL_STEP] = env->final_step;
    dyn[IR_DYN_LIMIT] = env->limit;
    dyn[IR_DYN_IS_STATIC] = fixed;
    dyn[IR_DYN_IS_DC] = fixed && !env->tran_op;
    dyn[IR_DYN_IS_IC] = fixed && env->tran_op;
    dyn[IR_DYN_IS_TRAN] = !fixed || env->tran_op;
    dyn[IR_DYN_ABSTIME] = env->time;
    dyn[IR_DYN_FREQ] = env->freq;
}

/* -- native parts -- */

static bool is_firm_moving(const ckt_fix *k, bool leaks)
{
    return k->firm && !k->second && !leaks && !k->soft;
}

static bool is_firm(const ckt_fix *k, const ckt_env *env)
{
    return env->mode == CKT_STATIC ? (k->stiff || k->held) && !k->soft
                                   : is_firm_moving(k, k->loose);
}

double ckt_fix_value(const ckt_fix *k, const ckt_env *env)
{
    if (k->kind != CKT_FIX_SHUNT)
        return k->kind == CKT_FIX_SERIES ? -loop_ohm : 1;
    return is_firm(k, env) ? CKT_FIRM_SIEMENS : ckt_shunt(env->gmin);
}

double ckt_fix_ac_value(const ckt_fix *k, const ckt_env *env)
{
    const bool leaks = k->loose && env->mode != CKT_STATIC; /* signals leak nothing */
    return is_firm_moving(k, leaks) ? CKT_FIRM_SIEMENS : ckt_shunt(env->gmin);
}

void ckt_soften(ckt *c, bool soft)
{
    for (size_t i = 0; i < vec_len(c->fix); i++)
        c->fix[i].soft = soft;
}

bool ckt_stiffen(ckt *c, bool stiff)
{
    bool any = false;
    for (size_t i = 0; i < vec_len(c->fix); i++) {
        ckt_fix *k = &c->fix[i];
        const bool to = stiff && k->firm && !k->soft;
        any |= to != k->stiff;
        k->stiff = to;
    }
    return any;
}

int32_t ckt_most_stiff(const ckt *c, const double *x)
{
    int32_t node = 0;
    for (size_t i = 0; i < vec_len(c->fix); i++)
        if (c->fix[i].stiff && !c->fix[i].held && fabs(x[c->fix[i].unknown]) > fabs(x[node]))
            node = c->fix[i].unknown;
    return node;
}

/* What leaves each part by gmin, A: the sum over its shunts, of which a charge may part two. A vec.
 */
static double *part_currents(const ckt *c, const double *x, double gmin)
{
    double *sum = NULL;
    vec_extend(sum, vec_len(c->unknown));
    for (size_t i = 0; i < vec_len(c->fix); i++)
        if (c->fix[i].kind == CKT_FIX_SHUNT)
            sum[c->fix[i].whole] += ckt_shunt(gmin) * x[c->fix[i].unknown];
    return sum;
}

void ckt_begin_shunts(ckt *c, const double *x, double gmin, double most)
{
    double *leak = x && vec_len(c->firm) ? part_currents(c, x, gmin) : NULL;
    for (size_t i = 0; i < vec_len(c->fix); i++) {
        ckt_fix *k = &c->fix[i];
        k->loose = k->firm && k->fed && leak && fabs(leak[k->whole]) > most;
    }
    vec_free(leak);
}

const ckt_firm *ckt_next_firm(const ckt *c, size_t *i)
{
    while (*i < vec_len(c->firm)) {
        const ckt_firm *k = &c->firm[(*i)++];
        if (!c->fix[k->fix].loose && !c->fix[k->fix].soft)
            return k;
    }
    return NULL;
}

const int32_t *ckt_part(const ckt *c, const ckt_firm *k, int32_t *n)
{
    const int32_t from = c->moving.at[k->part];
    *n = c->moving.at[k->part + 1] - from;
    return c->moving.node + from;
}

/* The nodes whose level a shunt gives, at rest or else. */
static void list_level(const ckt *c, const ckt_fix *k, bool still, ckt_level *l)
{
    const ckt_sets *s = still && k->set ? &c->still : &c->moving;
    const int32_t set = still && k->set ? k->set : k->whole;
    l->n = set ? s->at[set + 1] - s->at[set] : 1;
    l->of = set ? s->node + s->at[set] : &k->unknown;
}

bool ckt_next_level(const ckt *c, const ckt_env *env, bool still, size_t *i, ckt_level *l)
{
    while (*i < vec_len(c->fix)) {
        const ckt_fix *k = &c->fix[(*i)++];
        const bool isolated = k->always && k->firm && !k->second && k->whole;
        if (k->kind != CKT_FIX_SHUNT || k->soft || !(still || isolated))
            continue;
        *l = (ckt_level){.node = k->unknown,
                         .siemens = still ? ckt_fix_value(k, env) : ckt_fix_ac_value(k, env),
                         .judged = isolated && k->fed};
        list_level(c, k, still, l);
        return true;
    }
    return false;
}

static void stamp_fix(const ckt_fix *k, const ckt_env *env, const double *x, load *l)
{
    if (env->mode != CKT_STATIC && !k->always)
        return;
    const double g = ckt_fix_value(k, env);
    nat_add(l->f, l->fmax, k->unknown, g * x[k->unknown]);
    l->val[k->slot] += g;
}

void ckt_add_shunts(const ckt *c, const ckt_env *env, const double *x, double *f)
{
    for (size_t i = 0; i < vec_len(c->fix); i++) {
        const ckt_fix *k = &c->fix[i];
        const bool carries = (env->mode == CKT_STATIC || k->always) && !is_firm(k, env);
        if (k->kind == CKT_FIX_SHUNT && carries)
            f[k->unknown] += ckt_fix_value(k, env) * x[k->unknown];
    }
}

/* -- devices -- */

/* out[k * lanes] is output k of an instance: those of its pack are interleaved. */
static inline void stamp_rows(double *restrict sum, double *restrict max, const double *out,
                              int32_t lanes, const int32_t *slot, int32_t begin, int32_t end)
{
    for (int32_t k = begin; k < end; k++) {
        const double v = out[k * lanes], a = fabs(v);
        const int32_t r = slot[k];
        sum[r] += v;
        max[r] = a > max[r] ? a : max[r];
    }
}

/* The same with the rounding errors of the sums kept in `low` (two-sum: Knuth, TAOCP 2, 4.2.2). */
static inline void stamp_charges(double *restrict sum, double *restrict low, double *restrict max,
                                 const double *out, int32_t lanes, const int32_t *slot,
                                 int32_t begin, int32_t end)
{
    for (int32_t k = begin; k < end; k++) {
        const double v = out[k * lanes], a = fabs(v);
        const int32_t r = slot[k];
        const double s = sum[r], t = s + v, w = t - s;
        sum[r] = t;
        low[r] += (s - (t - w)) + (v - w);
        max[r] = a > max[r] ? a : max[r];
    }
}

static void stamp_instance(const dev_form *fm, const double *out, int32_t lanes,
                           const int32_t *slot, load *l)
{
    for (size_t r = 0; r < vec_len(fm->run); r++) {
        const dev_run *run = &fm->run[r];
        switch (run->kind) {
        case IR_OUT_RES: stamp_rows(l->f, l->fmax, out, lanes, slot, run->begin, run->end); break;
        case IR_OUT_REACT:
            if (l->charges)
                stamp_charges(l->q, l->qlo, l->qmax, out, lanes, slot, run->begin, run->end);
            break;
        case IR_OUT_G:
        case IR_OUT_J:
            for (int32_t k = run->begin; k < run->end; k++)
                l->val[slot[k]] += out[k * lanes];
            break;
        case IR_OUT_LIMITED:
            for (int32_t k = run->begin; k < run->end; k++)
                l->limited |= out[k * lanes] != 0;
            break;
        case IR_OUT_BOUND_STEP:
            for (int32_t k = run->begin; k < run->end; k++)
                ckt_take_bound(out[k * lanes], &l->bound, &l->asked);
            break;
        default: break;
        }
    }
}

/* Currents and derivatives of an instance that are not finite become 0. */
static void leave_out(const dev_form *fm, double *out, int32_t lanes, load *l)
{
    for (int32_t k = 0; k < fm->n_out; k++) {
        const uint8_t kind = fm->variant->out[k].kind;
        const bool current = kind == IR_OUT_RES;
        if ((current || kind == IR_OUT_G || kind == IR_OUT_J) && !isfinite(out[k * lanes])) {
            out[k * lanes] = 0;
            l->limited |= current;
        }
    }
}

/* Packs [begin, end), instance by instance: the order of sums does not depend on the lanes. */
static void stamp_packs(const dev_group *g, const dev_form *fm, double *outputs, int32_t begin,
                        int32_t end, load *l)
{
    const size_t n_out = (size_t)fm->n_out;
    for (int32_t p = begin; p < end; p++) {
        double *out = outputs + (size_t)(p - begin) * n_out * (size_t)g->lanes;
        for (int32_t i = 0; l->finite && i < g->first[p + 1] - g->first[p]; i++)
            leave_out(fm, out + i, g->lanes, l);
        for (int32_t i = g->first[p]; i < g->first[p + 1]; i++)
            stamp_instance(fm, out + (i - g->first[p]), g->lanes, fm->slot + (size_t)i * n_out, l);
    }
}

/* -- threads: batches are evaluated at once and stamped one after the other, in their order -- */

typedef struct parallel {
    ckt *c;
    dev_group *g;
    mdl_form_kind form;
    const double *x;
    load *l;
    int32_t batch;      /* packs of a batch */
    _Atomic int status; /* of an evaluation that failed, else VS_OK */
    double s_stamp;
} parallel;

static double *batch_buffer(const ckt *c, int32_t i)
{
    return c->out + (size_t)(i % c->n_buffer) * c->out_size;
}

static int32_t batch_end(const parallel *p, int32_t i)
{
    const int32_t e = (i + 1) * p->batch;
    return e < p->g->n_pack ? e : p->g->n_pack;
}

static void eval_batch(void *user, int32_t i, int worker)
{
    parallel *p = user;
    (void)worker;
    const vs_status st = dev_eval(p->g, p->form, p->c->dyn, p->x, i * p->batch, batch_end(p, i),
                                  false, batch_buffer(p->c, i));
    if (st != VS_OK)
        p->status = st;
}

static void stamp_batch(void *user, int32_t i, int worker)
{
    parallel *p = user;
    (void)worker;
    const double t0 = p->l->timed ? vs_seconds() : 0;
    stamp_packs(p->g, &p->g->form[p->form], batch_buffer(p->c, i), i * p->batch, batch_end(p, i),
                p->l);
    if (p->l->timed)
        p->s_stamp += vs_seconds() - t0;
}

/* Evaluation and stamping together are `evaluate` in the figures but for the time of the stamps. */
static vs_status load_group_parallel(ckt *c, dev_group *g, mdl_form_kind form, const double *x,
                                     load *l)
{
    parallel p = {.c = c, .g = g, .form = form, .x = x, .l = l, .batch = DEV_BATCH / g->lanes};
    const double t0 = l->timed ? vs_seconds() : 0;
    pool_run_ordered(c->pool, POOL_EVALUATE, (g->n_pack + p.batch - 1) / p.batch, c->n_buffer,
                     eval_batch, stamp_batch, &p);
    if (l->timed) {
        const double all = vs_seconds() - t0;
        c->stat.s_stamp += l->timed * p.s_stamp;
        c->stat.s_eval += l->timed * fmax(all - p.s_stamp, 0);
        g->s_eval += l->timed * all;
    }
    return (vs_status)p.status;
}

/* Whether threads save more on a group than it costs to wake them, and the evaluation is what takes
 * the time: stamps are made by one thread at a time. */
static bool is_parallel(const ckt *c, const dev_group *g, const dev_form *fm)
{
    const double one = (double)vec_len(fm->variant->eval.inst);
    return c->pool && one * g->nb >= c->parallel_min && one >= PARALLEL_PER_OUT * fm->n_out;
}

static vs_status load_group_here(ckt *c, dev_group *g, mdl_form_kind form, const double *x, load *l)
{
    const dev_form *fm = &g->form[form];
    vs_status st = VS_OK;
    double t0 = l->timed ? vs_seconds() : 0;
    const int32_t batch = DEV_BATCH / g->lanes;
    for (int32_t b = 0; b < g->n_pack && st == VS_OK; b += batch) {
        const int32_t e = b + batch < g->n_pack ? b + batch : g->n_pack;
        st = dev_eval(g, form, c->dyn, x, b, e, false, c->out);
        const double t1 = l->timed ? vs_seconds() : 0;
        stamp_packs(g, fm, c->out, b, e, l);
        const double t2 = l->timed ? vs_seconds() : 0;
        c->stat.s_eval += l->timed * fmax(t1 - t0 - c->s_clock, 0);
        c->stat.s_stamp += l->timed * fmax(t2 - t1 - c->s_clock, 0);
        g->s_eval += l->timed * fmax(t2 - t0 - 2 * c->s_clock, 0);
        t0 = t2;
    }
    return st;
}

static vs_status load_group(ckt *c, dev_group *g, mdl_form_kind form, const double *x, load *l)
{
    const dev_form *fm = &g->form[form];
    assert(fm->variant); /* the form was asked for in ckt_finish */
    if (g->lin && l->charges)
        return ckt_bypass_eval(c, g, is_parallel(c, g, fm), &l->at, l->timed);
    dev_begin(g, form, x);
    const vs_status st = is_parallel(c, g, fm) ? load_group_parallel(c, g, form, x, l)
                                               : load_group_here(c, g, form, x, l);
    dev_advance(g);
    if (g->lin)
        g->lin->all_limits = true;
    g->n_eval += g->nb;
    c->stat.n_eval += g->nb;
    return st;
}

/* Sets up a load at x. */
static load begin_load(ckt *c, const ckt_env *env, const double *x, double *f, double *q,
                       double *fmx, double *qmx, int timed)
{
    ckt_fill_dyn(c->dyn, env);
    return (load){.at = {.x = x,
                         .dyn = c->dyn,
                         .weight = env->mode == CKT_TRAN ? env->weight : NULL,
                         .alpha = c->dyn[IR_DYN_ALPHA],
                         .blur = env->blur,
                         .rough = env->rough},
                  .f = f,
                  .q = q,
                  .qlo = c->qlo,
                  .fmax = fmx,
                  .qmax = qmx,
                  .val = c->a.val,
                  .bound = INFINITY,
                  .asked = INFINITY,
                  .charges = env->mode == CKT_TRAN,
                  .finite = env->finite && env->mode != CKT_TRAN,
                  .timed = timed};
}

static nat_sums native_sums(const ckt *c, const ckt_env *env, const load *l)
{
    return (nat_sums){.f = l->f,
                      .fmax = l->fmax,
                      .q = l->q,
                      .qlo = l->qlo,
                      .qmax = l->qmax,
                      .val = l->val,
                      .corner = env->time == c->last_break,
                      .bound = INFINITY,
                      .asked = INFINITY};
}

static void end_load(ckt *c, load *l, const nat_sums *native, bool held, bool *limited)
{
    c->stat.n_eval += native->n_eval;
    c->stat.s_eval += native->s_eval;
    l->limited |= native->limited || (held && ckt_bypass_limited(c));
    c->bound = fmin(l->bound, native->bound);
    c->asked = fmin(l->asked, native->asked);
    *limited = l->limited;
}

static ckt_all all_of(const load *l, double *f, double *q, double *fmx, double *qmx)
{
    return (ckt_all){.x = l->at.x,
                     .f = f,
                     .q = q,
                     .fmax = fmx,
                     .qmax = qmx,
                     .charges = l->charges,
                     .alpha = l->at.alpha};
}

static void count_stamp(ckt *c, double since, int timed)
{
    c->stat.s_stamp += timed * fmax(vs_seconds() - since - c->s_clock, 0);
}

/* Everything at x the general way, added to sums in memory, batch by batch. */
static vs_status load_batches(ckt *c, const ckt_env *env, const double *x, double *f, double *q,
                              double *fmx, double *qmx, bool *limited, int timed)
{
    load l = begin_load(c, env, x, f, q, fmx, qmx, timed);
    nat_sums native = native_sums(c, env, &l);
    ckt_all all = all_of(&l, f, q, fmx, qmx);
    vs_status st = VS_OK;
    if (l.charges)
        ckt_pairs_make(c);
    all.held = c->bypass && env->mode == CKT_TRAN;
    all.paired = l.charges && ckt_pairs_sums(c);
    all.matrix = env->matrix;
    ckt_clear_all(c, &all);
    if (c->rows)
        l.at.x = all.x = c->x; /* which each thread has a part of in its cache now */
    nat_load(&c->nat, true, env, x, &native);
    for (size_t i = 0; i < vec_len(c->fix); i++)
        stamp_fix(&c->fix[i], env, x, &l);
    if (all.held)
        ckt_bypass_begin(c, &l.at);
    for (size_t i = 0; i < vec_len(c->group) && st == VS_OK; i++)
        if (!l.charges || !ckt_is_paired(c, i))
            st = load_group(c, &c->group[i], ckt_group_form(c, &c->group[i], env->mode), x, &l);
    if (st == VS_OK) {
        const double t0 = timed ? vs_seconds() : 0;
        ckt_sum_all(c, &all);
        if (all.held)
            ckt_bypass_sizes(c, fmx, qmx);
        if (timed)
            count_stamp(c, t0, timed);
        nat_load(&c->nat, false, env, x, &native);
    }
    end_load(c, &l, &native, all.held, limited);
    return st;
}

static void sum_awake(ckt *c, const load *l)
{
    const double t0 = vs_seconds();
    ckt_latent_sum(c, &l->at, ckt_bypass_is_fresh(c));
    ckt_bypass_sizes(c, l->fmax, l->qmax);
    count_stamp(c, t0, 1);
}

static void load_pairs(ckt *c, const load *l)
{
    const double t0 = vs_seconds();
    ckt_latent_pairs(c, l->at.x);
    count_stamp(c, t0, 1);
}

/* A load while parts are latent: held groups come first, because they set rows; all others add to
 * them. */
static vs_status load_rows(ckt *c, const ckt_env *env, const ckt_load_sums *to, bool *limited)
{
    const double *x = c->x;
    load l = begin_load(c, env, x, to->f, to->q, to->fmax, to->qmax, 1);
    nat_sums native = native_sums(c, env, &l);
    vs_status st = VS_OK;
    ckt_bypass_begin(c, &l.at);
    for (int held = 1; held >= 0; held--) {
        for (size_t i = 0; i < vec_len(c->group) && st == VS_OK; i++)
            if (!c->group[i].lin == !held && !ckt_is_paired(c, i))
                st = load_group(c, &c->group[i], ckt_group_form(c, &c->group[i], env->mode), x, &l);
        if (held && st == VS_OK)
            sum_awake(c, &l);
        if (held)
            nat_load(&c->nat, true, env, x, &native);
        if (held && ckt_pairs_sums(c))
            load_pairs(c, &l);
        for (size_t i = 0; held && i < vec_len(c->fix); i++)
            stamp_fix(&c->fix[i], env, x, &l);
    }
    if (st == VS_OK)
        nat_load(&c->nat, false, env, x, &native);
    end_load(c, &l, &native, true, limited);
    return st;
}

/* While parts are latent; vectors as ckt_latent.h has them. */
static vs_status load_awake(ckt *c, const ckt_env *env, const double *x, double *f, double *q,
                            double *fmx, double *qmx, bool *limited)
{
    ckt_env here = *env;
    const ckt_load_sums to = ckt_latent_scatter(c, x, env->weight);
    here.weight = env->weight ? to.weight : NULL;
    c->stat.n_load++;
    c->stat.n_latent += ckt_latent_n_latent(c);
    c->env = here;
    c->small_has_env = false;
    const vs_status st = load_rows(c, &here, &to, limited);
    if (st != VS_OK)
        return st;
    to.f[0] = to.fmax[0] = to.q[0] = to.qmax[0] = 0;
    c->a.val[csc_nnz(&c->a)] = 0;
    ckt_latent_gather(c, f, q, fmx, qmx);
    const int32_t m = ckt_latent_n_awake(c) * CKT_CELL;
    return norm_finite(f, m) && norm_finite(q, m) ? VS_OK : VS_NOCONV;
}

VS_HOT vs_status ckt_load(ckt *c, const ckt_env *env, const double *x, double *f, double *q,
                          double *fmx, double *qmx, bool *limited)
{
    const int32_t n = ckt_n(c), nnz = csc_nnz(&c->a);
    const bool tran = env->mode == CKT_TRAN;
    if (ckt_is_latent(c))
        return load_awake(c, env, x, f, q, fmx, qmx, limited);
    const int timed = vec_len(c->inst) > SMALL || c->time_all ? 1
                      : c->stat.n_load % TIMED_EVERY == 0     ? TIMED_EVERY
                                                              : 0;
    if (!c->loaded)
        c->s_clock = clock_cost();
    c->stat.n_load++;
    c->loaded = true;
    const bool small = c->small_has_env = tran && c->small;
    if (small)
        memcpy(c->x, x, (size_t)(n + 1) * sizeof *x);
    else
        c->env = *env;
    const vs_status st = small ? ckt_small_load(c, env, x, f, q, fmx, qmx, limited, timed)
                               : load_batches(c, env, x, f, q, fmx, qmx, limited, timed);
    if (st != VS_OK)
        return st;
    f[0] = fmx[0] = 0;
    if (tran)
        q[0] = c->qlo[0] = qmx[0] = 0;
    c->a.val[nnz] = 0;
    if (small)
        return ckt_small_is_finite(c, f, q) ? VS_OK : VS_NOCONV;
    if (c->rows)
        return ckt_finite_all(c, &(ckt_all){.f = f, .q = q, .charges = tran}) ? VS_OK : VS_NOCONV;
    return norm_finite_all(f, tran ? q : NULL, n + 1, c->a.val, nnz + 1) ? VS_OK : VS_NOCONV;
}

void ckt_time_all(ckt *c, bool all) { c->time_all = all; }

const double *ckt_charge_rest(const ckt *c)
{
    return ckt_is_latent(c) ? ckt_latent_rest(c) : c->qlo;
}

/* -- blame -- */

typedef struct culprit {
    const char *name;
    double amount;
} culprit;

enum { BLAMED = 16 };
typedef struct blamed { /* the n largest, largest first */
    culprit best[BLAMED];
    int have, n;
} blamed;

/* A NaN counts as infinite. */
static void blame(blamed *to, culprit k)
{
    if (isnan(k.amount))
        k.amount = INFINITY;
    int at = to->have;
    while (at > 0 && to->best[at - 1].amount < k.amount)
        at--;
    if (at >= to->n)
        return;
    for (int i = to->have < to->n ? to->have : to->n - 1; i > at; i--)
        to->best[i] = to->best[i - 1];
    to->best[at] = k;
    to->have += to->have < to->n;
}

static void blame_native(void *user, const char *name, double share)
{
    blame(user, (culprit){name, share});
}

/* |i| + alpha |q| that an instance adds to a row; row 0: infinite if any of its outputs is not
 * finite. */
static double share(const ckt *c, const dev_form *fm, const double *out, int32_t lanes,
                    const int32_t *slot, int32_t row)
{
    double sum = 0;
    for (int32_t k = 0; k < fm->n_out; k++) {
        const uint8_t kind = fm->variant->out[k].kind;
        const bool res = kind == IR_OUT_RES, react = kind == IR_OUT_REACT;
        if (row && (res || react) && slot[k] == row)
            sum += fabs(out[k * lanes]) * (res ? 1 : c->dyn[IR_DYN_ALPHA]);
        else if (!row && (res || react || kind == IR_OUT_G || kind == IR_OUT_J) &&
                 !isfinite(out[k * lanes]))
            return INFINITY;
    }
    return sum;
}

static bool touches(const dev_form *fm, const int32_t *slot, int32_t row)
{
    for (int32_t k = 0; k < fm->n_out; k++) {
        const uint8_t kind = fm->variant->out[k].kind;
        if ((kind == IR_OUT_RES || kind == IR_OUT_REACT) && slot[k] == row)
            return true;
    }
    return false;
}

static void blame_group(ckt *c, dev_group *g, int32_t row, blamed *to)
{
    const bool held = g->lin && c->env.mode == CKT_TRAN; /* as the load had them */
    const mdl_form_kind form = held ? MDL_TRAN : ckt_group_form(c, g, c->env.mode);
    const dev_form *fm = &g->form[form];
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *slot = fm->slot + (size_t)i * (size_t)fm->n_out;
        if (row && !touches(fm, slot, row))
            continue;
        const int32_t p = dev_pack_of(g, i), lane = i - g->first[p];
        if (held)
            dev_lin_outputs(g, &(dev_lin_at){.x = c->x, .alpha = c->dyn[IR_DYN_ALPHA]}, p, p + 1,
                            c->out);
        else if (dev_eval(g, form, c->dyn, c->x, p, p + 1, true, c->out) != VS_OK)
            c->out[lane] = NAN;
        const double amount = share(c, fm, c->out + lane, g->lanes, slot, row);
        if (amount > 0 || isnan(amount))
            blame(to, (culprit){c->inst[g->inst[i]].name, amount});
    }
}

int ckt_blame(const ckt *cc, int32_t row, const char **device, double *amount, int n)
{
    ckt *c =
        (ckt *)(uintptr_t)cc; /* works in the buffer of batches; limits are written as they were */
    if (n > BLAMED)
        n = BLAMED;
    if (n <= 0 || !c->loaded)
        return 0;
    if (c->small_has_env)
        c->env = ckt_small_env(c);
    ckt_fill_dyn(c->dyn, &c->env);
    blamed found = {.n = n};
    nat_share(&c->nat, true, &c->env, c->x, row, blame_native, &found);
    for (size_t i = 0; i < vec_len(c->group); i++)
        blame_group(c, &c->group[i], row, &found);
    nat_share(&c->nat, false, &c->env, c->x, row, blame_native, &found);
    for (int i = 0; i < found.have; i++) {
        device[i] = found.best[i].name;
        amount[i] = found.best[i].amount;
    }
    return found.have;
}

/* -- accepted points, limits -- */

typedef struct effects {
    ckt *c;
    const char *who;
    diag_span span;
    bool fatal;
} effects;

static void on_effect(void *user, ir_eff_kind kind, const char *text)
{
    effects *e = user;
    if (kind == IR_EFF_FATAL) {
        diag_error(e->c->d, e->span, "instance '%s' ended the analysis: %s", e->who, text);
        e->fatal = true;
    } else if (e->c->line) {
        e->c->line(e->c->line_user, text);
    }
}

static vs_status run_effects(ckt *c, dev_group *g, mdl_form_kind form, const double *x)
{
    vs_status st = VS_OK;
    const mdl_variant *v = g->form[form].variant;
    _Alignas(64) double flag[DEV_BATCH] = {0};
    bool known = false;
    for (int32_t i = 0, p = -1; i < g->nb; i++) {
        const ckt_inst *in = &c->inst[g->inst[i]];
        effects e = {.c = c, .who = in->name, .span = ckt_inst_span(in)};
        const bool next = p < 0 || i == g->first[p + 1];
        p += next;
        const jit_batch b = dev_batch(g, form, c->dyn, x, p, true, c->out);
        int what = 0;
        if (next)
            known = mdl_flagged(v, g->row_per_lane, &b, flag);
        if (known && flag[i - g->first[p]] == 0)
            continue;
        const vs_status one =
            mdl_effects(v, g->row_per_lane, &b, i - g->first[p], in->name, on_effect, &e, &what);
        if (e.fatal || one < 0)
            return VS_EINPUT;
        if (what & 3) /* $finish, $stop */
            st = VS_STOP;
    }
    return st;
}

static vs_status accept_devices(ckt *c, const ckt_env *env, const double *x)
{
    const mdl_form_kind form = ckt_form_of(c, env->mode);
    vs_status st = VS_OK;
    if (c->has_effects)
        ckt_fill_dyn(c->dyn, env);
    for (dev_group *g = c->group, *end = g + vec_len(g); g < end; g++) {
        const vs_status one = c->has_effects && g->form[form].variant->has_effects
                                  ? run_effects(c, g, form, x)
                                  : VS_OK;
        if (one != VS_OK && st >= 0)
            st = one;
        if (g->n_lim || g->n_state) /* resistors have neither */
            dev_accept(g);
    }
    return st;
}

VS_HOT vs_status ckt_accept(ckt *c, const ckt_env *env, const double *x)
{
    const bool plain = !c->has_effects && !c->has_limits;
    const vs_status st = plain ? VS_OK : accept_devices(c, env, x);
    if (c->bypass)
        ckt_bypass_accept(c); /* forgets what dev_accept looks at */
    if (plain || c->small)    /* sources alone, which accept nothing */
        return st;
    const vs_status native = nat_accept(&c->nat, env, x, env->time == c->last_break);
    return native != VS_OK && st >= 0 ? native : st;
}

void ckt_reset_limits(ckt *c)
{
    for (size_t i = 0; i < vec_len(c->group); i++)
        c->group[i].lim_fresh = true;
    nat_reset(&c->nat);
}

void ckt_restore_limits(ckt *c)
{
    for (size_t i = 0; i < vec_len(c->group); i++)
        dev_restore(&c->group[i]);
    nat_restore(&c->nat);
}
