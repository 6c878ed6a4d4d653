/* ckt_back.c - see ckt_back.h. */
#include "ckt_back.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckt_aside.h"

/* A setup value whose second difference is more than this share of the first has a kink. Smooth
 * ones have about the relative step, 1e-5, times the exponent with which they follow. */
#define KINK 1e-2
#define ROUNDING 1e-9 /* of the value itself, for differences that nearly vanish */
/* How far an unknown may go from the point where its device was swept, of its largest size, if that
 * is below 1: derivatives change by 1e-8 V / 26 mV, 4e-7 of themselves, where they are exponential
 * in a voltage. */
#define STAYS 1e-8

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

typedef struct wire {  /* an unknown of a device that is one of the circuit's */
    int32_t of, place; /* which of the device; in the circuit */
} wire;

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
    size_t first;          /* of inst */
    wire *wire;            /* those of device i: from wire_of[i] to wire_of[i + 1] */
    int32_t *wire_of;      /* [nb + 1] */
    double *x;             /* the devices' own unknowns at the point that waits, [0] is 0 */
    double dyn[IR_N_DYN];  /* of that point */
    uint8_t *read;         /* [IR_N_DYN] which of them decide on values */
    uint8_t *go;           /* [nb] the device has left the point that waits */
    uint8_t *wanted, *now; /* [n_pack] has such devices; has weights for them too */
    double *weight;        /* [n_pairing][states of the group] summed over the points that wait */
    double *sum;           /* [n_pairing][n_pack][outputs][lanes] */
    bool begun;
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
    double *most; /* [n+1] the largest size of each unknown so far */
    double *out;  /* [packs of a batch][outputs][lanes] */
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

/* Weights and sums of a pairing. */
static size_t n_weight(const group *g)
{
    const dev_group *d = &g->of.dev;
    return (size_t)d->n_pack * (size_t)d->form[MDL_BACK].variant->lay.n_state * (size_t)d->lanes;
}

static size_t n_sum(const group *g)
{
    const dev_group *d = &g->of.dev;
    return (size_t)d->n_pack * (size_t)d->form[MDL_BACK].n_out * (size_t)d->lanes;
}

static int by_variant(const void *va, const void *vb)
{
    const inst *a = va, *b = vb;
    if (a->variant != b->variant)
        return (uintptr_t)a->variant < (uintptr_t)b->variant ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* Which entries of the environment the sweep reads. */
static void find_read(group *g, const mdl_variant *v)
{
    for (size_t i = 0; i < vec_len(v->eval.in); i++) {
        const ir_input *in = &v->eval.in[i];
        if (in->kind == IR_IN_DYN)
            g->read[in->k] = 1;
        if (in->kind == IR_IN_ABSTIME)
            g->read[IR_DYN_ABSTIME] = 1;
    }
}

/* Each device has unknowns of its own: devices wait at different points. */
static const int32_t *const *own_unknowns(ckt_back *b, group *g, const int32_t *device, int32_t n)
{
    const int32_t n_u = mdl_n_unknown(b->c->inst[device[0]].model);
    const int32_t **own = arena_array(&b->mem, const int32_t *, n);
    int32_t n_wire = 0;
    g->wire = arena_array(&b->mem, wire, n * n_u + 1);
    g->wire_of = arena_array(&b->mem, int32_t, n + 1);
    for (int32_t i = 0; i < n; i++) {
        const int32_t *unknown = &b->c->unk[b->c->inst[device[i]].first];
        int32_t *u = arena_array(&b->mem, int32_t, n_u + 1);
        for (int32_t k = 0; k < n_u; k++) {
            u[k] = unknown[k] > 0 ? 1 + i * n_u + k : unknown[k];
            if (unknown[k] > 0)
                g->wire[n_wire++] = (wire){k, unknown[k]};
        }
        own[i] = u;
        g->wire_of[i + 1] = n_wire;
    }
    return own;
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
    ckt_aside_init(&g->of, b->c, &b->mem, MDL_BACK, v, device, row, own_unknowns(b, g, device, n),
                   n);
    const dev_group *d = &g->of.dev;
    const size_t n_out = (size_t)v->lay.n_out, lanes = (size_t)d->lanes;
    g->read = arena_array(&b->mem, uint8_t, IR_N_DYN);
    find_read(g, v);
    g->x = arena_array(&b->mem, double, n *(v->lay.n_state / 2) + 1);
    g->go = arena_array(&b->mem, uint8_t, n);
    g->wanted = arena_array(&b->mem, uint8_t, d->n_pack);
    g->now = arena_array(&b->mem, uint8_t, d->n_pack);
    g->weight = arena_array(&b->mem, double, b->n_pairing *n_weight(g) + 1);
    g->sum = arena_array(&b->mem, double, b->n_pairing *n_sum(g) + 1);
    for (int32_t p = 0; p < d->n_pack; p++)
        for (int32_t i = d->first[p]; i < d->first[p + 1]; i++)
            b->place[b->inst[first + (size_t)i].number] = (place){
                vec_len(b->group) - 1, (size_t)p * n_out * lanes + (size_t)(i - d->first[p])};
}

void ckt_back_ready(ckt_back *b, size_t n_pairing)
{
    const size_t n = vec_len(b->inst);
    size_t most = 0;
    b->place = arena_array(&b->mem, place, n + 1);
    b->n_pairing = n_pairing;
    b->most = arena_array(&b->mem, double, vec_len(b->c->unknown));
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
}

/* -- sums -- */

/* Marks the devices whose unknowns have left the point that waits, or all; false: there are none.
 */
static bool find_gone(const ckt_back *b, group *g, const double *x, bool all)
{
    const dev_group *d = &g->of.dev;
    const int32_t n_u = d->form[MDL_BACK].variant->lay.n_state / 2;
    bool any = false;
    for (int32_t p = 0; p < d->n_pack; p++) {
        g->wanted[p] = 0;
        for (int32_t i = d->first[p]; i < d->first[p + 1]; i++) {
            const double *at = g->x + 1 + (size_t)i * (size_t)n_u;
            bool go = all;
            for (int32_t k = g->wire_of[i]; k < g->wire_of[i + 1] && !go; k++) {
                const wire w = g->wire[k];
                go = !(fabs(x[w.place] - at[w.of]) <= STAYS * fmin(b->most[w.place], 1));
            }
            g->go[i] = go;
            g->wanted[p] |= go;
        }
        any |= g->wanted[p];
    }
    return any;
}

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
    const size_t n = n_weight(g) / (size_t)d->n_pack;
    bool some = false;
    for (int32_t p = 0; p < d->n_pack; p++) {
        const double *from = weight + (size_t)p * n;
        bool any = false;
        for (size_t i = 0; i < n && g->wanted[p] && !any; i++)
            any = from[i] != 0;
        g->now[p] = any;
        some |= any;
        if (any)
            memcpy(d->state + (size_t)p * n, from, n * sizeof *from);
    }
    return some;
}

/* Those of an instance, `lanes` apart. */
static double *weights_of(const group *g, double *weight, int32_t p, int32_t i)
{
    const dev_group *d = &g->of.dev;
    const size_t n = (size_t)d->form[MDL_BACK].variant->lay.n_state * (size_t)d->lanes;
    return weight + (size_t)p * n + (i - d->first[p]);
}

static void clear(const group *g, double *weight, int32_t p, int32_t i)
{
    const dev_group *d = &g->of.dev;
    const int32_t n_u = d->form[MDL_BACK].variant->lay.n_state / 2;
    double *w = weights_of(g, weight, p, i);
    for (int32_t k = g->wire_of[i]; k < g->wire_of[i + 1]; k++)
        w[g->wire[k].of * d->lanes] = w[(n_u + g->wire[k].of) * d->lanes] = 0;
}

/* Sweeps the devices that go, at the point where they wait, with what waits for them. */
static vs_status sweep(ckt_back *b, group *g)
{
    const dev_group *d = &g->of.dev;
    const size_t size = n_weight(g);
    vs_status st = VS_OK;
    for (size_t k = 0; k < b->n_pairing && st == VS_OK; k++) {
        summed s = {g, g->sum + k * n_sum(g)};
        if (load_weights(g, g->weight + k * size))
            st = ckt_aside_eval(&g->of, g->dyn, g->x, g->now, b->out, add_pack, &s);
        for (int32_t p = 0; p < d->n_pack; p++)
            for (int32_t i = d->first[p]; i < d->first[p + 1]; i++)
                if (g->go[i])
                    clear(g, g->weight + k * size, p, i);
    }
    return st;
}

/* The devices that went wait here now. */
static void wait_at(group *g, const double *dyn, const double *x)
{
    const dev_group *d = &g->of.dev;
    const size_t n_u = (size_t)d->form[MDL_BACK].variant->lay.n_state / 2;
    for (int32_t i = 0; i < d->nb; i++)
        for (int32_t k = g->wire_of[i]; k < g->wire_of[i + 1] && g->go[i]; k++)
            g->x[1 + (size_t)i * n_u + (size_t)g->wire[k].of] = x[g->wire[k].place];
    memcpy(g->dyn, dyn, sizeof g->dyn);
    g->begun = true;
}

/* Adds the weights of the rows. */
static void weigh(group *g, double *weight, const ckt_pairing *with, bool charges)
{
    const dev_group *d = &g->of.dev;
    const int32_t n_u = d->form[MDL_BACK].variant->lay.n_state / 2;
    for (int32_t p = 0; p < d->n_pack; p++)
        for (int32_t i = d->first[p]; i < d->first[p + 1]; i++) {
            double *w = weights_of(g, weight, p, i);
            for (int32_t k = g->wire_of[i]; k < g->wire_of[i + 1]; k++) {
                const wire u = g->wire[k];
                w[u.of * d->lanes] += with->f[u.place];
                if (charges)
                    w[(n_u + u.of) * d->lanes] -= with->q[u.place];
            }
        }
}

static bool other_environment(const group *g, const double *dyn)
{
    bool other = !g->begun;
    for (int k = 0; k < IR_N_DYN; k++)
        other |= g->read[k] && dyn[k] != g->dyn[k];
    return other;
}

vs_status ckt_back_add(ckt_back *b, const double *dyn, bool charges, const double *x,
                       const ckt_pairing *with, size_t n)
{
    vs_status st = VS_OK;
    for (size_t u = 1; vec_len(b->group) && u < vec_len(b->c->unknown); u++)
        b->most[u] = fmax(b->most[u], fabs(x[u]));
    for (size_t i = 0; i < vec_len(b->group) && st == VS_OK; i++) {
        group *g = &b->group[i];
        if (find_gone(b, g, x, other_environment(g, dyn))) {
            st = sweep(b, g);
            wait_at(g, dyn, x);
        }
        for (size_t k = 0; k < n; k++)
            weigh(g, g->weight + k * n_weight(g), &with[k], charges);
    }
    return st;
}

vs_status ckt_back_total(ckt_back *b, size_t n, size_t n_param, double *to)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(b->group) && st == VS_OK; i++)
        if (find_gone(b, &b->group[i], NULL, true))
            st = sweep(b, &b->group[i]);
    for (size_t k = 0; k < n && st == VS_OK; k++)
        for (size_t i = 0; i < vec_len(b->chain); i++) {
            const chain *c = &b->chain[i];
            const place at = b->place[c->inst];
            const group *g = &b->group[at.group];
            const double *of = g->sum + k * n_sum(g) + at.first;
            double d = 0;
            for (size_t j = c->of.first; j < c->of.end; j++)
                d += b->slope[j].by * of[b->slope[j].out * g->of.dev.lanes];
            to[k * n_param + (size_t)c->param] += d;
        }
    for (size_t i = 0; i < vec_len(b->group); i++) {
        group *g = &b->group[i];
        memset(g->sum, 0, b->n_pairing * n_sum(g) * sizeof *g->sum);
        g->begun = false;
    }
    return st;
}
