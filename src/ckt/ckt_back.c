/* ckt_back.c - see ckt_back.h. */
#include "ckt_back.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckt_aside.h"
#include "ckt_wait.h"

/* A setup value whose second difference is more than this share of the first has a kink. Smooth
 * ones have about the relative step, 1e-5, times the exponent with which they follow. */
#define KINK 1e-2
#define ROUNDING 1e-9                 /* of the value itself, for differences that nearly vanish */
#define MOST_TURNS ((size_t)32 << 20) /* bytes for the sums of lines of a group */

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
} inst;

typedef struct pull {  /* a weight of a device */
    int32_t at, place; /* behind its first one; the unknown of the circuit whose row it is of */
    bool charge;
} pull;

typedef struct place {   /* of an instance's sums */
    size_t group, first; /* first: in those of a pairing; they are `lanes` apart */
} place;

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
    ckt_wait wait;
    size_t n_w, n_out; /* weights, sums of a pairing */
    int32_t *pack_of;  /* [nb] */
    int32_t *state;    /* [n_read] the weights that the kernels read: places in their states */
    int32_t n_read;
    pull *pull;            /* those of device i: from pull_of[i] to pull_of[i + 1] */
    int32_t *pull_of;      /* [nb + 1] */
    int32_t *part, n_part; /* devices that have left the point where they wait, of which a sweep */
    uint8_t *go;           /* is; [nb] which these are, */
    uint8_t *wanted, *now; /* [n_pack] which packs have them, and weights for them too */
    double *weight;        /* [n_pairing][n_pack][n_read][lanes] summed over the points that wait */
    double *turn;          /* [n_pairing][wires of a device][n_pack][n_read][lanes] beside */
    double *row;           /* [n_read] scratch of weigh */
    double *sum;           /* [n_pairing][n_pack][outputs][lanes] */
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
    place *place;        /* [n_inst] sums of an instance by its number */
    size_t n_pairing;
    ckt_sizes size;
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

/* The weights that the sweep reads: of rows that are others' none is. */
static void find_weights(ckt_back *b, group *g, const mdl_variant *v)
{
    g->state = arena_array(&b->mem, int32_t, v->lay.n_state + 1);
    for (size_t i = 0; i < vec_len(v->eval.in); i++)
        if (v->eval.in[i].kind == IR_IN_STATE)
            g->state[g->n_read++] = v->eval.in[i].k;
    qsort(g->state, (size_t)g->n_read, sizeof *g->state, vec_by_number);
}

static void find_pulls(ckt_back *b, group *g, const int32_t *device)
{
    const int32_t n_u = (int32_t)g->wait.n_u;
    g->pull = arena_array(&b->mem, pull, (size_t)g->wait.nb * (size_t)g->n_read + 1);
    g->pull_of = arena_array(&b->mem, int32_t, g->wait.nb + 1);
    for (int32_t i = 0; i < g->wait.nb; i++) {
        const int32_t *unknown = &b->c->unk[b->c->inst[device[i]].first];
        int32_t n = g->pull_of[i];
        for (int32_t r = 0; r < g->n_read; r++) {
            const int32_t u = unknown[g->state[r] % n_u];
            if (u > 0)
                g->pull[n++] = (pull){r * g->of.dev.lanes, u, g->state[r] >= n_u};
        }
        g->pull_of[i + 1] = n;
    }
}

static void make_sums(ckt_back *b, group *g, int32_t n_out)
{
    const dev_group *d = &g->of.dev;
    const size_t packs = (size_t)d->n_pack * (size_t)d->lanes, most = (size_t)g->wait.most;
    g->n_w = packs * (size_t)g->n_read;
    g->n_out = packs * (size_t)n_out;
    g->weight = arena_array(&b->mem, double, b->n_pairing * g->n_w + 1);
    g->wait.lines = b->n_pairing * most * g->n_w * sizeof(double) <= MOST_TURNS;
    if (g->wait.lines)
        g->turn = arena_array(&b->mem, double, b->n_pairing *most * g->n_w + 1);
    g->row = arena_array(&b->mem, double, g->n_read + 1);
    g->sum = arena_array(&b->mem, double, b->n_pairing * g->n_out + 1);
}

static void make_group(ckt_back *b, size_t first, size_t end)
{
    const int32_t n = (int32_t)(end - first);
    int32_t *device = arena_array(&b->mem, int32_t, n), *row = arena_array(&b->mem, int32_t, n);
    mdl_variant *v = b->inst[first].variant;
    for (int32_t i = 0; i < n; i++) {
        device[i] = b->inst[first + (size_t)i].device;
        row[i] = b->inst[first + (size_t)i].row;
    }
    vec_push(b->group, ((group){.first = first}));
    group *g = &vec_last(b->group);
    ckt_wait_init(&g->wait, b->c, &b->mem, v, device, n);
    ckt_aside_init(&g->of, b->c, &b->mem, MDL_BACK, v, device, row, g->wait.unknown, n);
    find_weights(b, g, v);
    find_pulls(b, g, device);
    make_sums(b, g, v->lay.n_out);
    const dev_group *d = &g->of.dev;
    const size_t pack = (size_t)v->lay.n_out * (size_t)d->lanes;
    g->pack_of = arena_array(&b->mem, int32_t, n);
    g->part = arena_array(&b->mem, int32_t, n);
    g->go = arena_array(&b->mem, uint8_t, n);
    g->wanted = arena_array(&b->mem, uint8_t, d->n_pack);
    g->now = arena_array(&b->mem, uint8_t, d->n_pack);
    for (int32_t p = 0; p < d->n_pack; p++)
        for (int32_t i = d->first[p]; i < d->first[p + 1]; i++) {
            g->pack_of[i] = p;
            b->place[b->inst[first + (size_t)i].number] =
                (place){vec_len(b->group) - 1, (size_t)p * pack + (size_t)(i - d->first[p])};
        }
}

void ckt_back_ready(ckt_back *b, size_t n_pairing)
{
    const size_t n = vec_len(b->inst);
    size_t most = 0;
    b->place = arena_array(&b->mem, place, n + 1);
    b->n_pairing = n_pairing;
    ckt_wait_sizes(&b->size, b->c, &b->mem);
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
    b->out = arena_vectors(&b->mem, most + 1);
}

/* -- sums -- */

typedef struct summed { /* the sums of a pairing, of a group */
    const group *of;
    double *sum;
} summed;

/* to += out; false: one is not finite. 0 times a number is 0 or not a number: a sum of these tells,
 * without a branch. */
VS_CLONES static bool add_all(double *restrict to, const double *restrict out, int32_t n)
{
    double odd[4] = {0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) {
            to[i + k] += out[i + k];
            odd[k] += 0 * out[i + k];
        }
    for (; i < n; i++) {
        to[i] += out[i];
        odd[0] += 0 * out[i];
    }
    return odd[0] + odd[1] + odd[2] + odd[3] == 0;
}

/* Adds the outputs of the devices that go; those that wait are swept again when they go. */
static vs_status add_pack(void *user, int32_t p, const double *out)
{
    const summed *s = user;
    const dev_group *d = &s->of->of.dev;
    const int32_t n_out = d->form[MDL_BACK].n_out, n = d->first[p + 1] - d->first[p];
    const uint8_t *go = s->of->go + d->first[p];
    double *to = s->sum + (size_t)p * (size_t)n_out * (size_t)d->lanes;
    bool all = n == d->lanes;
    for (int32_t l = 0; l < n; l++)
        all &= go[l];
    if (all)
        return add_all(to, out, n_out * n) ? VS_OK : VS_NOCONV;
    bool finite = true;
    for (int32_t l = 0; l < n; l++)
        for (int32_t o = 0; o < n_out && go[l]; o++) {
            const double y = out[o * d->lanes + l];
            to[o * d->lanes + l] += y;
            finite &= fabs(y) <= DBL_MAX;
        }
    return finite ? VS_OK : VS_NOCONV;
}

/* The weights of a pairing to the states of the kernels (mdl.h), and which packs have any; false:
 * none has. */
static bool load_weights(group *g, const double *weight)
{
    dev_group *d = &g->of.dev;
    const size_t lanes = (size_t)d->lanes, n = (size_t)g->n_read * lanes;
    const size_t n_state = 2 * g->wait.n_u;
    bool some = false;
    for (int32_t p = 0; p < d->n_pack; p++) {
        const double *from = weight + (size_t)p * n;
        double *to = d->state + (size_t)p * n_state * lanes;
        bool any = false;
        for (size_t i = 0; i < n && g->wanted[p] && !any; i++)
            any = from[i] != 0;
        g->now[p] = any;
        some |= any;
        for (int32_t r = 0; r < g->n_read && any; r++)
            memcpy(to + (size_t)g->state[r] * lanes, from + (size_t)r * lanes,
                   lanes * sizeof *from);
    }
    return some;
}

/* Those of an instance, `lanes` apart. */
static inline double *weights_of(const group *g, double *weight, int32_t i)
{
    const dev_group *d = &g->of.dev;
    const int32_t p = g->pack_of[i];
    return weight + (size_t)p * (size_t)g->n_read * (size_t)d->lanes + (i - d->first[p]);
}

/* Of the devices that go, those that were beside their point in their wire j, or all with j < 0:
 * which these are, and their packs. false: there are none. */
static bool choose_part(group *g, int32_t j)
{
    const dev_group *d = &g->of.dev;
    const ckt_wait *w = &g->wait;
    g->n_part = 0;
    for (int32_t k = 0; k < w->n_gone; k++) {
        const int32_t i = w->gone[k], wire = w->wire_of[i] + j;
        if (j < 0 || (wire < w->wire_of[i + 1] && w->aside[wire] != 0))
            g->part[g->n_part++] = i;
    }
    if (!g->n_part)
        return false;
    memset(g->go, 0, (size_t)d->nb);
    memset(g->wanted, 0, (size_t)d->n_pack);
    for (int32_t k = 0; k < g->n_part; k++) {
        g->go[g->part[k]] = 1;
        g->wanted[g->pack_of[g->part[k]]] = 1;
    }
    return true;
}

static void clear_part(const group *g, double *weight)
{
    for (int32_t j = 0; j < g->n_part; j++) {
        const int32_t i = g->part[j];
        double *w = weights_of(g, weight, i);
        for (int32_t k = g->pull_of[i]; k < g->pull_of[i + 1]; k++)
            w[g->pull[k].at] = 0;
    }
}

/* The weights beside the point where devices wait, in their wire j. */
static double *turns_of(const group *g, size_t pairing, int32_t j)
{
    return g->turn + (pairing * (size_t)g->wait.most + (size_t)j) * g->n_w;
}

/* Sweeps the devices of the part with these weights, which are then 0. */
static vs_status sweep_part(ckt_back *b, group *g, size_t pairing, double *weight)
{
    summed s = {g, g->sum + pairing * g->n_out};
    vs_status st = VS_OK;
    if (load_weights(g, weight))
        st = ckt_aside_eval(&g->of, g->wait.dyn, g->wait.x, g->now, b->out, add_pack, &s);
    clear_part(g, weight);
    return st;
}

/* Beside the point where they wait, in their wire j. */
static vs_status sweep_beside(ckt_back *b, group *g, int32_t j)
{
    ckt_wait *w = &g->wait;
    vs_status st = VS_OK;
    for (int32_t k = 0; k < g->n_part; k++)
        ckt_wait_beside(w, g->part[k], j);
    for (size_t k = 0; k < b->n_pairing && st == VS_OK; k++)
        st = sweep_part(b, g, k, turns_of(g, k, j));
    for (int32_t k = 0; k < g->n_part; k++)
        ckt_wait_back(w, g->part[k], j);
    return st;
}

/* Sweeps the devices that go, at the point where they wait and beside it, with what waits for them.
 */
static vs_status sweep(ckt_back *b, group *g)
{
    vs_status st = VS_OK;
    for (int32_t j = 0; j < g->wait.most && g->wait.lines && st == VS_OK; j++)
        if (choose_part(g, j))
            st = sweep_beside(b, g, j);
    if (st == VS_OK && choose_part(g, -1))
        for (size_t k = 0; k < b->n_pairing && st == VS_OK; k++)
            st = sweep_part(b, g, k, g->weight + k * g->n_w);
    return st;
}

/* Adds the weights of the rows to those of an instance. */
static void weigh(const ckt_back *b, group *g, int32_t i, const double *x, const ckt_pairing *with,
                  size_t n, bool charges)
{
    const pull *of = g->pull + g->pull_of[i];
    const int32_t n_pull = g->pull_of[i + 1] - g->pull_of[i];
    const int32_t n_share = ckt_wait_shares(&g->wait, &b->size, i, x);
    double *row = g->row;
    for (size_t m = 0; m < n; m++) {
        const double *f = with[m].f, *q = with[m].q;
        for (int32_t k = 0; k < n_pull; k++)
            row[k] = !of[k].charge ? f[of[k].place] : charges ? -q[of[k].place] : 0;
        for (int32_t j = 0; j < n_share; j++) {
            const ckt_share s = g->wait.share[j];
            double *w =
                weights_of(g, s.wire < 0 ? g->weight + m * g->n_w : turns_of(g, m, s.wire), i);
            for (int32_t k = 0; k < n_pull; k++)
                w[of[k].at] += s.part * row[k];
        }
    }
}

vs_status ckt_back_add(ckt_back *b, const double *dyn, bool charges, const double *x,
                       const ckt_pairing *with, size_t n)
{
    vs_status st = VS_OK;
    if (vec_len(b->group))
        ckt_wait_see(&b->size, b->c, x);
    for (size_t i = 0; i < vec_len(b->group) && st == VS_OK; i++) {
        group *g = &b->group[i];
        if (ckt_wait_left(&g->wait, &b->size, dyn, x)) {
            st = sweep(b, g);
            ckt_wait_here(&g->wait, dyn, x);
        }
        for (int32_t k = 0; k < g->of.dev.nb; k++)
            weigh(b, g, k, x, with, n, charges);
    }
    return st;
}

vs_status ckt_back_total(ckt_back *b, size_t n, size_t n_param, double *to)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(b->group) && st == VS_OK; i++)
        if (ckt_wait_left(&b->group[i].wait, &b->size, NULL, NULL))
            st = sweep(b, &b->group[i]);
    for (size_t k = 0; k < n && st == VS_OK; k++)
        for (size_t i = 0; i < vec_len(b->chain); i++) {
            const chain *c = &b->chain[i];
            const place at = b->place[c->inst];
            const group *g = &b->group[at.group];
            const double *of = g->sum + k * g->n_out + at.first;
            double d = 0;
            for (size_t j = c->of.first; j < c->of.end; j++)
                d += b->slope[j].by * of[b->slope[j].out * g->of.dev.lanes];
            to[k * n_param + (size_t)c->param] += d;
        }
    for (size_t i = 0; i < vec_len(b->group); i++) {
        group *g = &b->group[i];
        memset(g->sum, 0, b->n_pairing * g->n_out * sizeof *g->sum);
        g->wait.begun = false;
    }
    return st;
}
