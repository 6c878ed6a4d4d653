/* ckt_back.c - see ckt_back.h. */
#include "ckt_back.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckt_aside.h"

/* A setup value whose second difference is more than this share of the first has a kink. Smooth
 * ones have about the relative step, 1e-5, times the exponent with which they follow. */
#define KINK 1e-2
#define ROUNDING 1e-9 /* of the value itself, for differences that nearly vanish */

typedef struct slope { /* d(setup value)/dp */
    int32_t out;       /* of the variant's outputs */
    double by;
} slope;

typedef struct range { /* of slopes */
    size_t first, end;
} range;

typedef struct chain { /* a device and a parameter */
    size_t inst;
    int32_t param;
    range of;
} chain;

typedef struct inst {
    int32_t device, row;
    mdl_variant *variant;
    size_t number; /* in ckt_back.inst as it was filled; chains name it */
    size_t sum;    /* place of its sums in those of a pairing */
} inst;

typedef struct known { /* slopes that another device of equal rows has already */
    const mdl_variant *variant;
    int32_t row;
    size_t n_part;
    size_t part; /* in ckt_back.part */
    range of;
    bool fits;
} known;

typedef struct group {
    ckt_aside of;
    size_t first; /* of inst */
} group;

struct ckt_back {
    ckt *c;
    arena mem;
    inst *inst;          /* vec; after ckt_back_ready sorted by group */
    chain *chain;        /* vec, in the order in which they were taken */
    slope *slope;        /* vec */
    known *known;        /* vec */
    map known_of;        /* a hash: the last one with it */
    ckt_back_part *part; /* vec: of known */
    group *group;        /* vec */
    size_t *place;       /* [n_inst] sums of an instance by its number */
    size_t n_sum;
    double *sum; /* [n_pairing][n_sum] */
    double *out; /* [packs of a batch][outputs][lanes] */
};

ckt_back *ckt_back_new(ckt *c)
{
    ckt_back *b = vs_calloc(1, sizeof *b);
    b->c = c;
    arena_init(&b->mem);
    return b;
}

void ckt_back_free(ckt_back **pb)
{
    ckt_back *b = *pb;
    *pb = NULL;
    if (!b)
        return;
    for (size_t i = 0; i < vec_len(b->group); i++)
        dev_group_fini(&b->group[i].of.dev);
    vec_free(b->group);
    vec_free(b->inst);
    vec_free(b->chain);
    vec_free(b->slope);
    vec_free(b->known);
    vec_free(b->part);
    map_free(&b->known_of);
    arena_fini(&b->mem);
    vs_free(b);
}

/* -- slopes of setup values -- */

/* The variant that all rows may use; NULL: there is none whose sweep says anything. */
static vs_status find_variant(const ckt_inst *in, const ckt_back_part *part, size_t n,
                              mdl_variant **variant)
{
    int32_t *row = NULL;
    mdl_variant *other;
    vec_push(row, in->row);
    for (size_t i = 0; i < n; i++)
        vec_push(row, part[i].row);
    vs_status st = mdl_variant_meet(in->model, row, n + 1, MDL_BACK, variant);
    if (st == VS_OK && !*variant) {
        st = mdl_variant_get(in->model, in->row, MDL_BACK, variant);
        for (size_t i = 0; i < n && st == VS_OK && *variant; i++) {
            st = mdl_variant_get(in->model, part[i].row, MDL_BACK, &other);
            *variant = other == *variant ? other : NULL;
        }
    }
    if (st == VS_OK && *variant && !(*variant)->lay.n_out)
        *variant = NULL;
    vec_free(row);
    return st;
}

/* Values that decide are the same in all rows of the parameter. cache: of the instance, then of
 * the parts. */
static bool same_decisions(const mdl_variant *v, double *const *cache, size_t n)
{
    for (size_t i = 0; i < vec_len(v->eval.in); i++) {
        const ir_input *in = &v->eval.in[i];
        for (size_t k = 1; k <= n && in->kind == IR_IN_CACHE && in->type != IR_F64; k++)
            if (cache[k][in->k] != cache[0][in->k])
                return false;
    }
    return true;
}

/* Slopes of one parameter to the vec; false: there is a jump, a kink or only one side. */
static bool add_slopes(ckt_back *b, const mdl_variant *v, const ckt_back_part *part, size_t n,
                       double *const *cache)
{
    if (n != 2 || !same_decisions(v, cache, n))
        return false;
    for (int32_t o = 0; o < v->lay.n_out; o++) {
        const int32_t k = v->out[o].a;
        const double here = cache[0][k], one = cache[1][k], two = cache[2][k];
        const double by = part[0].weight * one + part[1].weight * two;
        if (one == two && one == here)
            continue;
        if (!(fabs(one - 2 * here + two) <= KINK * fabs(two - one) + ROUNDING * fabs(here)) ||
            !isfinite(by))
            return false;
        vec_push(b->slope, ((slope){o, by}));
    }
    return true;
}

static range find_slopes(ckt_back *b, const mdl_variant *v, int32_t row, const ckt_back_part *part,
                         size_t n, bool *fits)
{
    const size_t first = vec_len(b->slope), n_cache = (size_t)v->lay.n_cache + 1;
    double *cache[3], *all = vs_malloc(3 * n_cache * sizeof *all);
    *fits = n <= 2;
    for (size_t i = 0; i <= n && *fits; i++) {
        cache[i] = all + i * n_cache;
        mdl_setup(v, i ? part[i - 1].row : row, cache[i]);
    }
    *fits = *fits && add_slopes(b, v, part, n, cache);
    while (!*fits && vec_len(b->slope) > first)
        (void)vec_pop(b->slope);
    vs_free(all);
    return (range){first, vec_len(b->slope)};
}

static bool is_known(const ckt_back *b, const known *k, const mdl_variant *v, int32_t row,
                     const ckt_back_part *part, size_t n)
{
    bool same = k->variant == v && k->row == row && k->n_part == n;
    for (size_t i = 0; i < n && same; i++)
        same = b->part[k->part + i].row == part[i].row &&
               b->part[k->part + i].weight == part[i].weight;
    return same;
}

static uint64_t hash_of(const mdl_variant *v, int32_t row, const ckt_back_part *part, size_t n)
{
    uint64_t h = map_key(v) ^ (uint64_t)(uint32_t)row * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint64_t)(uint32_t)part[i].row) * 0x9e3779b97f4a7c15u;
    return h;
}

/* Slopes of the parts of one parameter, made or found. */
static range slopes_of(ckt_back *b, const mdl_variant *v, int32_t row, const ckt_back_part *part,
                       size_t n, bool *fits)
{
    const uint64_t h = hash_of(v, row, part, n);
    const int32_t at = map_get(&b->known_of, h, -1);
    if (at >= 0 && is_known(b, &b->known[at], v, row, part, n)) {
        *fits = b->known[at].fits;
        return b->known[at].of;
    }
    const range r = find_slopes(b, v, row, part, n, fits);
    map_set(&b->known_of, h, (int32_t)vec_len(b->known));
    vec_push(b->known, ((known){v, row, n, vec_len(b->part), r, *fits}));
    for (size_t i = 0; i < n; i++)
        vec_push(b->part, part[i]);
    return r;
}

vs_status ckt_back_take(ckt_back *b, int32_t device, ckt_back_part *part, size_t n)
{
    const ckt_inst *in = &b->c->inst[device];
    const size_t number = vec_len(b->inst);
    mdl_variant *v;
    bool any = false;
    const vs_status st = find_variant(in, part, n, &v);
    if (st != VS_OK || !v)
        return st;
    for (size_t i = 0, j; i < n; i = j) {
        bool fits;
        for (j = i + 1; j < n && part[j].param == part[i].param;)
            j++;
        const range r = slopes_of(b, v, in->row, &part[i], j - i, &fits);
        for (size_t k = i; k < j; k++)
            part[k].taken = fits;
        any |= fits;
        if (fits)
            vec_push(b->chain, ((chain){number, part[i].param, r}));
    }
    if (any)
        vec_push(b->inst,
                 ((inst){.device = device, .row = in->row, .variant = v, .number = number}));
    return VS_OK;
}

/* -- groups -- */

static int by_variant(const void *va, const void *vb)
{
    const inst *a = va, *b = vb;
    if (a->variant != b->variant)
        return (uintptr_t)a->variant < (uintptr_t)b->variant ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void make_group(ckt_back *b, size_t first, size_t end)
{
    const int32_t n = (int32_t)(end - first);
    int32_t *device = arena_array(&b->mem, int32_t, n), *row = arena_array(&b->mem, int32_t, n);
    mdl_variant *v = b->inst[first].variant;
    for (int32_t i = 0; i < n; i++) {
        inst *k = &b->inst[first + (size_t)i];
        device[i] = k->device;
        row[i] = k->row;
        k->sum = b->n_sum;
        b->place[k->number] = k->sum;
        b->n_sum += (size_t)v->lay.n_out;
    }
    vec_push(b->group, ((group){.first = first}));
    ckt_aside_init(&vec_last(b->group).of, b->c, &b->mem, MDL_BACK, v, device, row, n);
}

void ckt_back_ready(ckt_back *b, size_t n_pairing)
{
    const size_t n = vec_len(b->inst);
    size_t most = 0;
    b->place = arena_array(&b->mem, size_t, n + 1);
    if (n)
        qsort(b->inst, n, sizeof *b->inst, by_variant);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && b->inst[j].variant == b->inst[i].variant;)
            j++;
        make_group(b, i, j);
    }
    for (size_t i = 0; i < vec_len(b->group); i++) {
        const size_t room = ckt_aside_room(&b->group[i].of);
        most = room > most ? room : most;
    }
    b->out = arena_array(&b->mem, double, most + 1);
    b->sum = arena_array(&b->mem, double, b->n_sum *n_pairing + 1);
}

/* -- sums -- */

/* Weights of the rows to the states of the kernels (mdl.h). */
static void weigh(dev_group *g, const ckt_pairing *with, bool charges)
{
    const dev_form *f = &g->form[MDL_BACK];
    const int32_t n_u = f->variant->lay.n_state / 2;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = g->first[p]; i < g->first[p + 1]; i++) {
            const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
            double *w =
                g->state + (size_t)p * 2 * (size_t)n_u * (size_t)g->lanes + (i - g->first[p]);
            for (int32_t u = 0; u < n_u; u++) {
                w[u * g->lanes] = to[u] > 0 ? with->f[to[u]] : 0;
                w[(n_u + u) * g->lanes] = to[u] > 0 && charges ? -with->q[to[u]] : 0;
            }
        }
}

typedef struct summed { /* the sums of a pairing, of a group */
    const ckt_back *b;
    const group *of;
    double *sum;
} summed;

static vs_status add_pack(void *user, int32_t p, const double *out)
{
    const summed *s = user;
    const dev_group *g = &s->of->of.dev;
    const int32_t n_out = g->form[MDL_BACK].n_out;
    double all = 0;
    for (int32_t i = g->first[p]; i < g->first[p + 1]; i++) {
        double *to = s->sum + s->b->inst[s->of->first + (size_t)i].sum;
        const double *from = out + (i - g->first[p]);
        for (int32_t o = 0; o < n_out; o++) {
            to[o] += from[o * g->lanes];
            all += 0 * from[o * g->lanes];
        }
    }
    return all == 0 ? VS_OK : VS_NOCONV;
}

vs_status ckt_back_add(ckt_back *b, const double *dyn, bool charges, const double *x,
                       const ckt_pairing *with, size_t n)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(b->group); i++)
        for (size_t k = 0; k < n && st == VS_OK; k++) {
            group *g = &b->group[i];
            summed s = {b, g, b->sum + k * b->n_sum};
            weigh(&g->of.dev, &with[k], charges);
            st = ckt_aside_eval(&g->of, dyn, x, b->out, add_pack, &s);
        }
    return st;
}

void ckt_back_total(ckt_back *b, size_t n, size_t n_param, double *to)
{
    for (size_t k = 0; k < n; k++) {
        double *sum = b->sum + k * b->n_sum;
        for (size_t i = 0; i < vec_len(b->chain); i++) {
            const chain *c = &b->chain[i];
            const double *of = sum + b->place[c->inst];
            double d = 0;
            for (size_t j = c->of.first; j < c->of.end; j++)
                d += b->slope[j].by * of[b->slope[j].out];
            to[k * n_param + (size_t)c->param] += d;
        }
        memset(sum, 0, b->n_sum * sizeof *sum);
    }
}
