/* ckt_block.c - static loads of the devices of a few rows. See ckt_block.h. */
#include "ckt_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckt_priv.h"
#include "full.h"
#include "hash.h"
#include "norm.h"

enum {
    SAMPLES = 16, /* points from which the strength of a device's entries is known */
    SETTLE = 6    /* Newton iterations of its inner unknowns at each */
};
#define KNOWN_GRID 1e-3  /* V: known voltages that count as equal */
#define SANE_CURRENT 1.0 /* A: see `sample` */
/* A device belongs to a row where one of its entries is this part of the row's largest: the gates
 * that a node drives do not. */
#define BELONGS 1e-5

typedef struct place { /* an instance of a group */
    int32_t group, inst;
} place;

struct ckt_blocks {
    ckt *c;
    bool is_beside; /* what is not of the present block is another one's */
    ckt_env env;
    const bool *known;
    double *dyn;
    double *x0;       /* [n+1] where native devices are linear */
    double *f0, *val; /* [n+1], [nnz+1]: what they add there */
    bool *native;     /* [n+1] they add to the row */
    int32_t *col_of;  /* [nnz+1] unknown; 0 for the reference */
    int32_t *begin;   /* [n+2] of the devices of a row in `of_row` */
    place *of_row;
    int32_t *mark;           /* [instances] the block that an instance was last seen in */
    int32_t n_begun;         /* blocks that were begun */
    int32_t *local;          /* [n+1] number in the present block, -1: outside */
    int32_t *nz;             /* [nnz+1] place in the present block's matrix, -1: outside */
    double *out;             /* outputs of a pack */
    double *limits, *states; /* what a pack tells besides; nobody asks */
    int64_t *n_eval;         /* [groups] instances evaluated in blocks */
    ckt_block now;           /* the present block: */
    int32_t *unknown;        /* vec */
    place *device;           /* vec */
    csc a;                   /* colptr, row and val are vecs */
    int32_t *slot;           /* vec: of its matrix entries in the circuit */
    double *f;               /* vec */
    int64_t *word;           /* vec: what is hashed */
};

static const dev_form *form_of(const ckt_blocks *p, const dev_group *g)
{
    return &g->form[ckt_group_form(p->c, g, CKT_STATIC)];
}

/* -- native devices, and what the topology check added -- */

static void load_natives(ckt_blocks *p)
{
    ckt *c = p->c;
    const size_t n1 = vec_len(c->unknown);
    double *sum = vs_calloc(n1, sizeof *sum), *low = vs_calloc(n1, sizeof *low);
    double *most = vs_calloc(n1, sizeof *most), *max = vs_calloc(n1, sizeof *max);
    nat_sums to = {.f = p->f0,
                   .fmax = max,
                   .q = sum,
                   .qlo = low,
                   .qmax = most,
                   .val = p->val,
                   .bound = INFINITY};
    nat_load(&c->nat, true, &p->env, p->x0, &to);
    nat_load(&c->nat, false, &p->env, p->x0, &to);
    for (size_t i = 0; i < vec_len(c->fix); i++) {
        const ckt_fix *k = &c->fix[i];
        const double g = ckt_fix_value(k, &p->env);
        p->f0[k->unknown] += g * p->x0[k->unknown];
        p->val[k->slot] += g;
    }
    for (size_t i = 0; i < n1; i++)
        p->native[i] = p->f0[i] != 0;
    for (int32_t k = 0; k < csc_nnz(&c->a); k++)
        if (p->val[k] != 0)
            p->native[c->a.row[k] + 1] = true;
    vs_free(sum);
    vs_free(low);
    vs_free(most);
    vs_free(max);
}

static bool spread(double *x, bool *known, nat_source *s, const ckt_env *env)
{
    if (!s->is_v || known[s->p] == known[s->n])
        return false;
    const double e = x ? nat_source_value(s, env) : 0;
    if (x && known[s->n])
        x[s->p] = x[s->n] + e;
    else if (x)
        x[s->n] = x[s->p] - e;
    known[s->p] = known[s->n] = known[s->k] = true;
    return true;
}

void ckt_known_voltages(const ckt *c, const ckt_env *env, double *x, bool *known)
{
    bool again = true;
    known[0] = true;
    while (again) {
        again = false;
        for (size_t i = 0; c->sources && i < vec_len(c->sources->all); i++)
            again |= spread(x, known, &c->sources->all[i], env);
    }
}

/* -- devices of rows -- */

static int64_t voltage_step(double v, double grid)
{
    return llround(fmin(fmax(v / grid, -1e15), 1e15));
}

/* A number from 0 to 1 that looks random: splitmix64. */
static double scatter(uint64_t k)
{
    k += 0x9e3779b97f4a7c15u;
    k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9u;
    k = (k ^ k >> 27) * 0x94d049bb133111ebu;
    return (double)((k ^ k >> 31) >> 11) * 0x1p-53;
}

/* A device at one sample, unknowns of its own numbering. */
typedef struct probe {
    const dev_form *fm;
    const int32_t *to; /* [n_u] unknowns of the circuit */
    int32_t n_u, pack, lane;
    bool *inner;       /* [n_u] its own, to be solved for */
    double *jac, *rhs; /* [n_u * n_u] by rows, [n_u] */
    double *x;         /* [n+1] */
} probe;

static bool is_slope(const dev_form *fm, int32_t k)
{
    return fm->variant->out[k].kind == IR_OUT_G || fm->variant->out[k].kind == IR_OUT_J;
}

static vs_status eval_probe(ckt_blocks *p, dev_group *g, const probe *d)
{
    return dev_eval(g, ckt_group_form(p->c, g, CKT_STATIC), p->dyn, d->x, d->pack, d->pack + 1,
                    false, p->out);
}

/* One Newton update of the inner unknowns, others as they are. */
static void settle_once(const ckt_blocks *p, const dev_group *g, const probe *d, double most)
{
    const int32_t n = d->n_u;
    memset(d->jac, 0, (size_t)(n * n) * sizeof *d->jac);
    memset(d->rhs, 0, (size_t)n * sizeof *d->rhs);
    for (int32_t k = 0; k < d->fm->n_out; k++) {
        const mdl_out *o = &d->fm->variant->out[k];
        const double v = p->out[k * g->lanes + d->lane];
        if (is_slope(d->fm, k) && d->inner[o->a] && d->inner[o->b])
            d->jac[o->a * n + o->b] += v;
        else if (o->kind == IR_OUT_RES && d->inner[o->a])
            d->rhs[o->a] += v;
    }
    for (int32_t k = 0; k < n; k++) { /* outer ones stay, and those that no equation has */
        bool empty = true;
        for (int32_t j = 0; j < n && empty; j++)
            empty = d->jac[k * n + j] == 0;
        if (empty) {
            d->jac[k * n + k] = 1;
            d->rhs[k] = 0;
        }
    }
    if (!full_solve(d->jac, d->rhs, n) || !norm_finite(d->rhs, n))
        return;
    for (int32_t k = 0; k < n; k++)
        if (d->inner[k])
            d->x[d->to[k]] -= fmin(fmax(d->rhs[k], -most), most);
}

/* Largest |f| of the last evaluation. */
static double most_current(const ckt_blocks *p, const dev_group *g, const probe *d)
{
    double most = 0;
    for (int32_t k = 0; k < d->fm->n_out; k++)
        if (d->fm->variant->out[k].kind == IR_OUT_RES)
            most = fmax(most, fabs(p->out[k * g->lanes + d->lane]));
    return most;
}

/* Sample s: terminals anywhere between the supplies unless they are known. */
static vs_status take_sample(ckt_blocks *p, dev_group *g, const probe *d, int s, double lo,
                             double hi)
{
    vs_status st = VS_OK;
    for (int32_t k = 0; k < d->n_u; k++)
        if (d->inner[k])
            d->x[d->to[k]] = 0;
        else if (d->to[k] && !p->known[d->to[k]])
            d->x[d->to[k]] = lo + (hi - lo) * scatter((uint64_t)s << 32 | (uint32_t)k);
    for (int i = 0; i < SETTLE && st == VS_OK; i++) {
        st = eval_probe(p, g, d);
        settle_once(p, g, d, (hi - lo) / 2);
    }
    return st == VS_OK ? eval_probe(p, g, d) : st;
}

/* The largest |entry| of outputs k [n_out], and behind them the largest -entry. */
static void note_sample(const ckt_blocks *p, const dev_group *g, const probe *d, double *most)
{
    const int32_t n_out = d->fm->n_out;
    for (int32_t k = 0; k < n_out; k++) {
        const double v = p->out[k * g->lanes + d->lane];
        if (!isfinite(v))
            continue;
        most[k] = fmax(most[k], fabs(v));
        most[n_out + k] = fmax(most[n_out + k], -v);
    }
}

/* What instance i does at SAMPLES points: most [2 n_out]. Samples with an absurd current do not
 * count if there are others: a junction that conducts hides the transistor. */
static vs_status sample(ckt_blocks *p, dev_group *g, int32_t i, double lo, double hi, double *x,
                        double *most)
{
    const size_t bytes = 2 * (size_t)form_of(p, g)->n_out * sizeof *most;
    const dev_form *fm = form_of(p, g);
    probe d = {.fm = fm,
               .to = &fm->map[(size_t)i * (size_t)fm->n_u],
               .n_u = fm->n_u,
               .pack = dev_pack_of(g, i),
               .x = x};
    const size_t n = (size_t)d.n_u;
    d.lane = i - g->first[d.pack];
    d.inner = vs_calloc(n + 1, sizeof *d.inner);
    d.jac = vs_malloc((n * n + 1) * sizeof *d.jac);
    d.rhs = vs_malloc((n + 1) * sizeof *d.rhs);
    for (int32_t k = 0; k < d.n_u; k++)
        d.inner[k] = d.to[k] && p->c->unknown[d.to[k]].internal && !p->known[d.to[k]];
    vs_status st = VS_OK;
    bool sane = false;
    memset(most, 0, bytes);
    for (int s = 0; s < SAMPLES && st == VS_OK; s++) {
        st = take_sample(p, g, &d, s, lo, hi);
        const bool now = most_current(p, g, &d) < SANE_CURRENT;
        if (sane && !now)
            continue;
        if (now && !sane)
            memset(most, 0, bytes);
        sane = now;
        if (st == VS_OK)
            note_sample(p, g, &d, most);
    }
    vs_free(d.inner);
    vs_free(d.jac);
    vs_free(d.rhs);
    return st;
}

/* The rows to which an instance belongs, each once: to row [n_out]. most: of its group's row. */
static int32_t rows_of(const ckt_blocks *p, const dev_form *fm, int32_t i, const double *most,
                       const double *row_max, int32_t *row)
{
    const int32_t *slot = &fm->slot[(size_t)i * (size_t)fm->n_out];
    int32_t n = 0;
    for (int32_t k = 0; k < fm->n_out; k++) {
        if (!is_slope(fm, k) || !p->col_of[slot[k]])
            continue;
        const int32_t r = p->c->a.row[slot[k]] + 1;
        bool have = p->known[r] || !(most[k] > BELONGS * row_max[r]);
        for (int32_t j = 0; j < n && !have; j++)
            have = row[j] == r;
        if (!have)
            row[n++] = r;
    }
    return n;
}

typedef struct ability { /* of all instances: see sample_all */
    double *all;         /* vec */
    int32_t *which;      /* [instances] */
} ability;

/* A walk over the instances of all groups, one group after the other, cut for threads. */
typedef struct walk {
    ckt_blocks *p;
    int32_t n, n_part;
    uint64_t *key; /* [n] known_key */
    ability what;
    double *strength, *conducts; /* see ckt_blocks_strength */
    double *row_max;             /* [n+1] of strengths */
    int32_t **begin;             /* [n_part][n+1] counts of a row, then places in of_row */
    bool fill;                   /* of_row */
} walk;

/* The k-th of all instances. */
typedef void visit(walk *w, int32_t part, place at, int32_t k, void *scratch);

static void walk_part(walk *w, int32_t part, visit *fn, void *scratch)
{
    const int32_t from = pool_part(w->n, part, w->n_part),
                  to = pool_part(w->n, part + 1, w->n_part);
    int32_t k = 0;
    for (size_t gi = 0; gi < vec_len(w->p->c->group); gi++) {
        const int32_t before = k, nb = w->p->c->group[gi].nb;
        for (k = from > before ? from : before; k < before + nb && k < to; k++)
            fn(w, part, (place){(int32_t)gi, k - before}, k, scratch);
        k = before + nb;
    }
}

static void by_parts(walk *w, pool_fn fn)
{
    pool_run_each(w->n_part > 1 ? w->p->c->pool : NULL, POOL_OTHER, w->n_part, fn, w);
}

/* Most outputs or unknowns of a group's static form. */
static size_t most_of(const ckt_blocks *p, bool outputs)
{
    int32_t most = 1;
    for (size_t gi = 0; gi < vec_len(p->c->group); gi++) {
        const dev_form *fm = form_of(p, &p->c->group[gi]);
        const int32_t n = outputs ? fm->n_out : fm->n_u;
        most = n > most ? n : most;
    }
    return (size_t)most;
}

/* Equal for instances of a group whose known terminals have equal voltages. */
static void find_key(walk *w, int32_t part, place at, int32_t k, void *scratch)
{
    const ckt_blocks *p = w->p;
    const dev_form *fm = form_of(p, &p->c->group[at.group]);
    const int32_t *to = &fm->map[(size_t)at.inst * (size_t)fm->n_u];
    int64_t *word = scratch;
    (void)part;
    word[0] = at.group;
    for (int32_t u = 0; u < fm->n_u; u++)
        word[u + 1] = p->known[to[u]] ? voltage_step(p->x0[to[u]], KNOWN_GRID) : INT64_MIN;
    w->key[k] = hash128_of(word, ((size_t)fm->n_u + 1) * sizeof *word).w[0];
}

static void find_keys(void *user, int32_t part, int worker)
{
    walk *w = user;
    int64_t *word = vs_malloc((most_of(w->p, false) + 1) * sizeof *word);
    (void)worker;
    walk_part(w, part, find_key, word);
    vs_free(word);
}

/* Strengths are computed once for each group and set of voltages at known terminals, and used for
 * all its instances: sizes differ, but not by orders of magnitude. Of w->what:
 *   all    vec of [2 n_out] for each
 *   which  of each instance: where its own begins in `all` */
static vs_status sample_all(walk *w, double lo, double hi)
{
    ckt_blocks *p = w->p;
    ckt *c = p->c;
    double *x = vs_calloc(vec_len(c->unknown), sizeof *x);
    map at_key = {0};
    vs_status st = VS_OK;
    memcpy(x, p->x0, vec_len(c->unknown) * sizeof *x);
    by_parts(w, find_keys);
    int32_t k = 0;
    for (size_t gi = 0; gi < vec_len(c->group) && st == VS_OK; gi++) {
        dev_group *g = &c->group[gi];
        for (int32_t i = 0; i < g->nb && st == VS_OK; i++, k++) {
            int32_t at = map_get(&at_key, w->key[k], -1);
            if (at < 0) {
                at = (int32_t)vec_len(w->what.all);
                map_set(&at_key, w->key[k], at);
                vec_extend(w->what.all, 2 * form_of(p, g)->n_out);
                st = sample(p, g, i, lo, hi, x, w->what.all + at);
            }
            w->what.which[k] = at;
        }
    }
    map_free(&at_key);
    vs_free(x);
    return st;
}

/* scratch: which of the two sums; each is made in the order of instances. */
static void add_strength(walk *w, int32_t part, place at, int32_t k, void *scratch)
{
    const bool *conducts = scratch;
    const dev_form *fm = form_of(w->p, &w->p->c->group[at.group]);
    const int32_t *slot = &fm->slot[(size_t)at.inst * (size_t)fm->n_out];
    const double *most = w->what.all + w->what.which[k] + (*conducts ? fm->n_out : 0);
    double *to = *conducts ? w->conducts : w->strength;
    (void)part;
    for (int32_t o = 0; o < fm->n_out; o++)
        if (is_slope(fm, o))
            to[slot[o]] += most[o];
}

static void add_strengths(void *user, int32_t i, int worker)
{
    walk all = *(const walk *)user;
    const int32_t nnz = csc_nnz(&all.p->c->a);
    bool conducts = i == 1;
    (void)worker;
    all.n_part = 1;
    for (int32_t k = 0; k <= nnz; k++)
        if (conducts)
            all.conducts[k] = fmax(-all.p->val[k], 0);
        else
            all.strength[k] = fabs(all.p->val[k]);
    walk_part(&all, 0, add_strength, &conducts);
    (conducts ? all.conducts : all.strength)[nnz] = 0;
}

static void list_rows(walk *w, int32_t part, place at, int32_t k, void *scratch)
{
    const ckt_blocks *p = w->p;
    const dev_form *fm = form_of(p, &p->c->group[at.group]);
    int32_t *row = scratch;
    const int32_t n = rows_of(p, fm, at.inst, w->what.all + w->what.which[k], w->row_max, row);
    for (int32_t r = 0; r < n; r++) {
        const int32_t to = w->begin[part][row[r]]++;
        if (w->fill)
            p->of_row[to] = at;
    }
}

static void list_part(void *user, int32_t part, int worker)
{
    walk *w = user;
    int32_t *row = vs_malloc(most_of(w->p, true) * sizeof *row);
    (void)worker;
    walk_part(w, part, list_rows, row);
    vs_free(row);
}

/* Counts become places in of_row: row by row, those of part 0 first, which are the first instances.
 */
static int32_t begin_rows(walk *w)
{
    int32_t sum = 0, n = ckt_n(w->p->c);
    for (int32_t r = 0; r <= n; r++) {
        w->p->begin[r] = sum;
        for (int32_t part = 0; part < w->n_part; part++) {
            const int32_t count = w->begin[part][r];
            w->begin[part][r] = sum;
            sum += count;
        }
    }
    return w->p->begin[n + 1] = sum;
}

/* Two passes: lengths, then places. */
static void make_lists(walk *w)
{
    ckt_blocks *p = w->p;
    const ckt *c = p->c;
    const size_t n1 = (size_t)ckt_n(c) + 1;
    w->row_max = vs_calloc(n1, sizeof *w->row_max);
    for (int32_t k = 0; k < csc_nnz(&c->a); k++)
        w->row_max[c->a.row[k] + 1] = fmax(w->row_max[c->a.row[k] + 1], w->strength[k]);
    w->begin = vs_calloc((size_t)w->n_part, sizeof *w->begin);
    for (int32_t part = 0; part < w->n_part; part++)
        w->begin[part] = vs_calloc(n1, sizeof **w->begin);
    by_parts(w, list_part);
    p->of_row = vs_calloc((size_t)begin_rows(w) + 1, sizeof *p->of_row);
    w->fill = true;
    by_parts(w, list_part);
    for (int32_t part = 0; part < w->n_part; part++)
        vs_free(w->begin[part]);
    vs_free(w->begin);
    vs_free(w->row_max);
}

vs_status ckt_blocks_strength(ckt_blocks *p, double lo, double hi, double *strength,
                              double *conducts)
{
    enum { OPERATIONS = 250 }; /* of a kernel that an instance takes as long as */
    walk w = {.p = p, .strength = strength, .conducts = conducts};
    for (size_t gi = 0; gi < vec_len(p->c->group); gi++)
        w.n += p->c->group[gi].nb;
    w.n_part = (double)w.n * OPERATIONS >= p->c->parallel_min ? pool_size(p->c->pool) : 1;
    w.key = vs_malloc(((size_t)w.n + 1) * sizeof *w.key);
    w.what.which = vs_malloc(((size_t)w.n + 1) * sizeof *w.what.which);
    const vs_status st = sample_all(&w, lo, hi);
    if (st == VS_OK) {
        pool_run(w.n_part > 1 ? p->c->pool : NULL, POOL_OTHER, 2, add_strengths, &w);
        make_lists(&w);
    }
    vs_free(w.key);
    vs_free(w.what.which);
    vec_free(w.what.all);
    return st;
}

bool ckt_blocks_see_all(const ckt_blocks *p) { return nat_only_sources(&p->c->nat); }

/* -- the object -- */

/* Limits and states of the largest pack. */
static size_t most_told(const ckt *c)
{
    size_t most = 0;
    for (size_t i = 0; i < vec_len(c->group); i++) {
        const dev_group *g = &c->group[i];
        const size_t n = (size_t)g->lanes * (size_t)(g->n_lim > g->n_state ? g->n_lim : g->n_state);
        most = n > most ? n : most;
    }
    return most;
}

/* For the present block. */
static void make_room(ckt_blocks *p)
{
    const size_t n1 = vec_len(p->c->unknown), nv = (size_t)csc_nnz(&p->c->a) + 1;
    p->mark = vs_calloc(vec_len(p->c->inst) + 1, sizeof *p->mark);
    p->out = vs_calloc(p->c->out_size + 1, sizeof *p->out);
    p->limits = vs_calloc(most_told(p->c) + 1, sizeof *p->limits);
    p->states = vs_calloc(most_told(p->c) + 1, sizeof *p->states);
    p->n_eval = vs_calloc(vec_len(p->c->group) + 1, sizeof *p->n_eval);
    p->local = vs_malloc(n1 * sizeof *p->local);
    p->nz = vs_malloc(nv * sizeof *p->nz);
    memset(p->local, 0xff, n1 * sizeof *p->local); /* -1 */
    memset(p->nz, 0xff, nv * sizeof *p->nz);
}

ckt_blocks *ckt_blocks_new(ckt *c, const ckt_env *env, const double *x, const bool *known)
{
    const size_t n1 = vec_len(c->unknown), nv = (size_t)csc_nnz(&c->a) + 1;
    ckt_blocks *p = vs_calloc(1, sizeof *p);
    *p = (ckt_blocks){.c = c, .env = *env, .known = known};
    p->env.limit = false;
    p->env.iter = 2;
    p->dyn = vs_calloc(IR_N_DYN, sizeof *p->dyn);
    ckt_fill_dyn(p->dyn, &p->env);
    p->x0 = vs_calloc(n1, sizeof *p->x0);
    memcpy(p->x0, x, n1 * sizeof *x);
    p->f0 = vs_calloc(n1, sizeof *p->f0);
    p->val = vs_calloc(nv, sizeof *p->val);
    p->native = vs_calloc(n1, sizeof *p->native);
    p->begin = vs_calloc(n1 + 1, sizeof *p->begin);
    p->col_of = vs_calloc(nv, sizeof *p->col_of);
    make_room(p);
    for (int32_t j = 0; j < c->a.n; j++)
        for (int32_t k = c->a.colptr[j]; k < c->a.colptr[j + 1]; k++)
            p->col_of[k] = j + 1;
    load_natives(p);
    return p;
}

ckt_blocks *ckt_blocks_beside(const ckt_blocks *p)
{
    ckt_blocks *b = vs_calloc(1, sizeof *b);
    *b = (ckt_blocks){.c = p->c,
                      .is_beside = true,
                      .env = p->env,
                      .known = p->known,
                      .dyn = p->dyn,
                      .x0 = p->x0,
                      .f0 = p->f0,
                      .val = p->val,
                      .native = p->native,
                      .col_of = p->col_of,
                      .begin = p->begin,
                      .of_row = p->of_row};
    make_room(b);
    return b;
}

static void count_evaluations(const ckt_blocks *p)
{
    for (size_t i = 0; i < vec_len(p->c->group); i++) {
        p->c->group[i].n_eval += p->n_eval[i];
        p->c->stat.n_eval += p->n_eval[i];
    }
}

void ckt_blocks_free(ckt_blocks **pp)
{
    ckt_blocks *p = *pp;
    if (!p)
        return;
    count_evaluations(p);
    void *const all[] = {p->dyn, p->x0, p->f0, p->val, p->native, p->begin, p->of_row, p->col_of};
    void *const own[] = {p->mark, p->out, p->limits, p->states, p->n_eval, p->local, p->nz};
    for (size_t i = 0; i < VS_COUNT(all) && !p->is_beside; i++)
        vs_free(all[i]);
    for (size_t i = 0; i < VS_COUNT(own); i++)
        vs_free(own[i]);
    vec_free(p->unknown);
    vec_free(p->device);
    vec_free(p->a.colptr);
    vec_free(p->a.row);
    vec_free(p->a.val);
    vec_free(p->slot);
    vec_free(p->f);
    vec_free(p->word);
    vs_free(p);
    *pp = NULL;
}

/* -- one block -- */

static void forget_block(ckt_blocks *p)
{
    for (size_t i = 0; i < vec_len(p->unknown); i++)
        p->local[p->unknown[i]] = -1;
    for (size_t k = 0; k < vec_len(p->slot); k++)
        p->nz[p->slot[k]] = -1;
    vec_clear(p->unknown);
    vec_clear(p->device);
    vec_clear(p->slot);
    vec_clear(p->a.colptr);
    vec_clear(p->a.row);
    vec_clear(p->a.val);
    vec_clear(p->f);
    vec_clear(p->word);
}

static bool stands_before(place a, place b)
{
    return a.group != b.group ? a.group < b.group : a.inst < b.inst;
}

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return stands_before(*x, *y) ? -1 : stands_before(*y, *x);
}

/* In the order of groups. Most blocks have a handful of devices, a supply's mesh has thousands. */
static void sort_devices(place *at, size_t n)
{
    enum { FEW = 32 };
    if (n > FEW) {
        qsort(at, n, sizeof *at, compare_places);
        return;
    }
    for (size_t k = 1; k < n; k++) {
        const place p = at[k];
        size_t i = k;
        for (; i && stands_before(p, at[i - 1]); i--)
            at[i] = at[i - 1];
        at[i] = p;
    }
}

static void list_devices(ckt_blocks *p, const int32_t *u, int32_t n)
{
    p->n_begun++;
    for (int32_t j = 0; j < n; j++)
        for (int32_t k = p->begin[u[j]]; k < p->begin[u[j] + 1]; k++) {
            const place at = p->of_row[k];
            int32_t *mark = &p->mark[p->c->group[at.group].inst[at.inst]];
            if (*mark == p->n_begun)
                continue;
            *mark = p->n_begun;
            vec_push(p->device, at);
        }
    sort_devices(p->device, vec_len(p->device));
}

/* Unknowns in the order in which devices name them, then the others. */
static void number(ckt_blocks *p, const int32_t *u, int32_t n)
{
    enum { INSIDE = -2 };
    for (int32_t j = 0; j < n; j++)
        p->local[u[j]] = INSIDE;
    for (size_t i = 0; i < vec_len(p->device); i++) {
        const place at = p->device[i];
        const dev_form *fm = form_of(p, &p->c->group[at.group]);
        const int32_t *to = &fm->map[(size_t)at.inst * (size_t)fm->n_u];
        for (int32_t k = 0; k < fm->n_u; k++)
            if (p->local[to[k]] == INSIDE) {
                p->local[to[k]] = (int32_t)vec_len(p->unknown);
                vec_push(p->unknown, to[k]);
            }
    }
    for (int32_t j = 0; j < n; j++)
        if (p->local[u[j]] == INSIDE) {
            p->local[u[j]] = (int32_t)vec_len(p->unknown);
            vec_push(p->unknown, u[j]);
        }
}

/* Devices, where they are connected inside, what voltage they see outside. */
static uint64_t hash_block(ckt_blocks *p, const double *x, double grid)
{
    for (size_t i = 0; i < vec_len(p->device); i++) {
        const place at = p->device[i];
        const dev_group *g = &p->c->group[at.group];
        const dev_form *fm = form_of(p, g);
        const int32_t *to = &fm->map[(size_t)at.inst * (size_t)fm->n_u];
        vec_push(p->word, (int64_t)at.group << 32 | (uint32_t)g->row_of[at.inst]);
        for (int32_t k = 0; k < fm->n_u; k++) {
            const int32_t l = p->local[to[k]];
            vec_push(p->word, l >= 0 ? INT64_MIN + l : voltage_step(x[to[k]], grid));
        }
    }
    return hash128_of(p->word, vec_len(p->word) * sizeof *p->word).w[0];
}

static void make_matrix(ckt_blocks *p)
{
    const csc *all = &p->c->a;
    const size_t n = vec_len(p->unknown);
    for (size_t j = 0; j < n; j++) {
        const int32_t col = p->unknown[j] - 1;
        vec_push(p->a.colptr, (int32_t)vec_len(p->slot));
        for (int32_t k = all->colptr[col]; k < all->colptr[col + 1]; k++)
            if (p->local[all->row[k] + 1] >= 0) {
                p->nz[k] = (int32_t)vec_len(p->slot);
                vec_push(p->a.row, p->local[all->row[k] + 1]);
                vec_push(p->slot, k);
            }
    }
    vec_push(p->a.colptr, (int32_t)vec_len(p->slot));
    vec_extend(p->a.val, vec_len(p->slot) + 1);
    vec_extend(p->f, n + 1);
    p->a.n = (int32_t)n;
}

const ckt_block *ckt_block_begin(ckt_blocks *p, const int32_t *u, int32_t n, const double *x,
                                 double grid)
{
    forget_block(p);
    list_devices(p, u, n);
    number(p, u, n);
    bool alike = vec_len(p->device) > 0;
    for (int32_t j = 0; j < n; j++)
        alike = alike && !p->native[u[j]];
    make_matrix(p);
    p->now = (ckt_block){.n = n,
                         .unknown = p->unknown,
                         .a = &p->a,
                         .f = p->f,
                         .alike = alike,
                         .key = alike ? hash_block(p, x, grid) : 0};
    return &p->now;
}

static void stamp(ckt_blocks *p, const dev_group *g, int32_t i, int32_t lane)
{
    const dev_form *fm = form_of(p, g);
    const int32_t *slot = &fm->slot[(size_t)i * (size_t)fm->n_out];
    for (size_t r = 0; r < vec_len(fm->run); r++) {
        const dev_run *run = &fm->run[r];
        const bool res = run->kind == IR_OUT_RES;
        if (!res && run->kind != IR_OUT_G && run->kind != IR_OUT_J)
            continue;
        for (int32_t k = run->begin; k < run->end; k++) {
            const double v = p->out[k * g->lanes + lane];
            const int32_t to = res ? p->local[slot[k]] : p->nz[slot[k]];
            if (to >= 0)
                (res ? p->f : p->a.val)[to] += v;
        }
    }
}

/* What the native devices add: f0 + J (x - x0). */
static void stamp_natives(ckt_blocks *p, const double *x)
{
    for (int32_t j = 0; j < p->now.n; j++) {
        const double dx = x[p->unknown[j]] - p->x0[p->unknown[j]];
        p->f[j] += p->f0[p->unknown[j]];
        for (int32_t k = p->a.colptr[j]; k < p->a.colptr[j + 1]; k++) {
            const double g = p->val[p->slot[k]];
            p->a.val[k] += g;
            p->f[p->a.row[k]] += g * dx;
        }
    }
}

/* Blocks of two threads may have instances of one pack. */
static vs_status eval_pack(ckt_blocks *p, dev_group *g, const double *x, int32_t pack)
{
    const mdl_form_kind form = ckt_group_form(p->c, g, CKT_STATIC);
    jit_batch b = dev_batch(g, form, p->dyn, x, pack, false, p->out);
    b.limnew = b.limnew ? p->limits : NULL;
    b.state_new = b.state_new ? p->states : NULL;
    const vs_status st = mdl_eval(g->form[form].variant, g->row_per_lane, &b, 0, 1);
    if (st == VS_OK && mdl_compare_wanted(g->model))
        dev_compare(g, form, &b, pack, 1, NULL);
    return st;
}

vs_status ckt_block_load(ckt_blocks *p, const double *x)
{
    memset(p->f, 0, (size_t)p->now.n * sizeof *p->f);
    memset(p->a.val, 0, (vec_len(p->slot) + 1) * sizeof *p->a.val);
    stamp_natives(p, x);
    int32_t group = -1, pack = -1; /* evaluated last */
    for (size_t i = 0; i < vec_len(p->device); i++) {
        const place at = p->device[i];
        dev_group *g = &p->c->group[at.group];
        const int32_t its = dev_pack_of(g, at.inst);
        if (at.group != group || its != pack) {
            if (eval_pack(p, g, x, its) != VS_OK)
                return VS_NOCONV;
            p->n_eval[at.group] += g->first[its + 1] - g->first[its];
            group = at.group;
            pack = its;
        }
        stamp(p, g, at.inst, at.inst - g->first[its]);
    }
    return norm_finite_all(p->f, NULL, p->now.n, p->a.val, (int32_t)vec_len(p->slot)) ? VS_OK
                                                                                      : VS_NOCONV;
}
