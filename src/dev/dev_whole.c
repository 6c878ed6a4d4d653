/* dev_whole.c - linearisations of a group in a small circuit, see dev_lin.h.
 * All arrays have the lanes of the group's own packs, S of them to a pack: W, but at least WIDE.
 * Lanes without an instance are copies of the last one, as in the kernels, or, from lane W on, 0;
 * what they hold nobody reads. A load is lane by lane the same few operations, without a table of
 * instances. Only evaluations of a few instances go through packs of their own: those that moved,
 * put together, if that makes fewer packs of DEV_WHOLE_PACK. So decisions and results of bypass are
 * the same for any W. */
#include "dev_lin_priv.h"

/* Places are those of lane 0 in a pack. */
typedef struct row {    /* a current or charge, an output of the form TRAN */
    int32_t to, at;     /* there, and in what is held */
    int32_t begin, end; /* terms */
    int32_t charge;     /* 0, 1 */
} row;

typedef struct term { /* + held[at] * dv[col] */
    int32_t at, col;
    int32_t fixed; /* of held[at], -1: none */
} term;

typedef struct entry { /* J: out[to] = held[g] + alpha held[c] */
    int32_t to, g, c;
} entry;

#define MASK(p) (*(wide_mask *)(p))

struct dev_whole {
    int32_t stride;            /* S */
    int32_t limited;           /* LIMITED's place in the load's array, -1: none */
    int32_t n_row, n_entry[3]; /* entries with both parts, then with G alone, then with C alone */
    row *row;
    term *term;
    entry *entry;
    int32_t *row_at; /* [n_pack][n_row][S] places in weights; 0: none */
    double *now,
        *was;       /* [n_pack][n_out of APART][S] of the last evaluation and of the one before */
    double *spread; /* [n_pack][n_out][W] where S is not W; else NULL */
    double *fixed;  /* [n_pack][n_fixed][S] */
    int32_t *at;    /* [n_pack][n_col][S] unknowns of the columns */
    double *v0, *v,
        *dv;        /* [n_pack][n_col][S] voltages at the last evaluation, in this load, v - v0 */
    int64_t *moved; /* [n_pack][S] -1: its bound does not hold in this load; 0 */
    int64_t *real;  /* [n_pack][S] -1: the lane has an instance of its own; 0 */
    int32_t *order; /* [nb] pack * W + lane of the instances, as the circuit has them in a row, */
    int32_t *look;  /* [nb] and their places in `moved`; NULL: they are never evaluated apart */
    int32_t *list;  /* [n_buffer][1 + nb] how many items a buffer is arranged for, and which */
    const double **from; /* [n_pack][S] where outputs of those that are evaluated apart stand */
    bool nothing;        /* no bound holds */
    int32_t n_x;         /* unknowns up to the last that an instance has */
    double *x0;          /* [n_x] x of the last evaluation, if it made no v0: */
    bool late;
    double alpha; /* for which the load's array has J; NAN: for none */
};

/* Lanes of a pack that are worked on: those with instances, in whole vectors. */
static inline int32_t lanes_of(const dev_group *g, int32_t p)
{
    return (g->first[p + 1] - g->first[p] + WIDE - 1) & ~(WIDE - 1);
}

static size_t pack_of(const struct dev_whole *w, int32_t p, int32_t n)
{
    return (size_t)p * (size_t)n * (size_t)w->stride;
}

int32_t dev_whole_stride(const dev_group *g) { return g->lanes < WIDE ? WIDE : g->lanes; }

static void list_rows(const dev_group *g, struct dev_whole *w)
{
    const struct dev_lin *l = g->lin;
    const dev_form *f = &g->form[MDL_TRAN];
    const int32_t s = w->stride;
    int32_t n = 0;
    w->limited = -1;
    for (int32_t r = 0; r < f->n_out; r++) {
        const dev_lin_out *o = &l->out[r];
        if (o->kind == IR_OUT_LIMITED)
            w->limited = r * s;
        if (!dev_lin_is_row(o))
            continue;
        row *to = &w->row[w->n_row++];
        *to = (row){.to = r * s, .at = o->at * s, .begin = n, .charge = o->kind == IR_OUT_REACT};
        for (int32_t t = o->begin; t < o->end; t++)
            w->term[n++] = (term){l->term[t].at * s, l->term[t].col * s,
                                  l->term[t].fixed < 0 ? -1 : l->term[t].fixed * s};
        to->end = n;
    }
}

static void list_entries(const dev_group *g, struct dev_whole *w)
{
    const struct dev_lin *l = g->lin;
    const int32_t s = w->stride;
    int32_t n = 0;
    for (int what = 0; what < 3; what++) {
        for (int32_t k = 0; k < g->form[MDL_TRAN].n_out; k++) {
            const dev_lin_out *o = &l->out[k];
            if (o->kind == IR_OUT_J && (o->g >= 0) == (what < 2) && (o->c >= 0) == (what != 1))
                w->entry[n++] = (entry){k * s, o->g * s, o->c * s};
        }
        w->n_entry[what] = n;
    }
}

static void place_rows(const dev_group *g, struct dev_whole *w)
{
    const dev_form *f = &g->form[MDL_TRAN];
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t k = 0; k < w->n_row; k++) {
            const int32_t u = f->variant->out[w->row[k].to / w->stride].a;
            dev_lin_unknowns(g, f, p, u,
                             &w->row_at[pack_of(w, p, w->n_row) + (size_t)(k * w->stride)]);
        }
}

void dev_whole_fix(dev_group *g)
{
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0; i < g->lanes; i++) {
            const int32_t inst = g->first[p] + i, last = g->first[p + 1] - 1;
            const int32_t r = g->row_of[inst < last ? inst : last];
            double *to = &w->fixed[pack_of(w, p, l->n_fixed) + (size_t)i];
            for (int32_t k = 0; k < l->n_fixed; k++)
                to[k * w->stride] = l->fixed[(size_t)r * (size_t)l->n_fixed + (size_t)k];
        }
    for (int i = 0; w->order && i < l->n_buffer; i++) /* setup values have changed */
        w->list[i * (g->nb + 1)] = 0;
}

static int32_t packs_for(int32_t n) { return (n + DEV_WHOLE_PACK - 1) / DEV_WHOLE_PACK; }

/* What evaluations of a few of the instances need. */
static void prepare_items(dev_group *g, arena *mem)
{
    struct dev_lin *l = g->lin;
    struct dev_whole *w = l->whole;
    int32_t *order = w->order = arena_array(mem, int32_t, g->nb);
    for (int32_t i = 0; i < g->nb; i++) { /* by insertion: they are few */
        int32_t k = i;
        for (; k > 0 && g->inst[order[k - 1]] > g->inst[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    w->look = arena_array(mem, int32_t, g->nb);
    for (int32_t k = 0; k < g->nb; k++) {
        const int32_t p = dev_pack_of(g, order[k]), lane = order[k] - g->first[p];
        order[k] = p * g->lanes + lane;
        w->look[k] = (int32_t)pack_of(w, p, 1) + lane;
    }
    w->from = arena_array(mem, const double *, pack_of(w, g->n_pack, 1));
    dev_lin_init_items(g, mem);
    l->n_buffer = packs_for(g->nb) - 1;
    l->buffer = arena_array(mem, struct dev_lin_buffer, l->n_buffer);
    w->list = arena_array(mem, int32_t, l->n_buffer *(g->nb + 1));
    for (int i = 0; i < l->n_buffer; i++)
        dev_lin_init_buffer(g, mem, &l->buffer[i], (g->nb + g->lanes - 1) / g->lanes);
}

void dev_whole_init(dev_group *g, arena *mem)
{
    struct dev_lin *l = g->lin;
    struct dev_whole *w = l->whole = arena_new(mem, struct dev_whole);
    const dev_form *f = l->apart;
    const int32_t n_tran = g->form[MDL_TRAN].n_out, s = w->stride = dev_whole_stride(g);
    w->row = arena_array(mem, row, n_tran);
    w->term = arena_array(mem, term, f->n_out);
    w->entry = arena_array(mem, entry, n_tran);
    list_rows(g, w);
    list_entries(g, w);
    w->row_at = arena_array(mem, int32_t, pack_of(w, g->n_pack, w->n_row));
    place_rows(g, w);
    w->now = arena_vectors(mem, pack_of(w, g->n_pack, f->n_out));
    w->was = arena_vectors(mem, pack_of(w, g->n_pack, f->n_out));
    w->spread = s == g->lanes ? NULL : arena_vectors(mem, pack_of(w, g->n_pack, f->n_out));
    w->fixed = arena_vectors(mem, pack_of(w, g->n_pack, l->n_fixed));
    dev_whole_fix(g);
    double **const v[] = {&w->v0, &w->v, &w->dv};
    for (size_t i = 0; i < VS_COUNT(v); i++)
        *v[i] = arena_vectors(mem, pack_of(w, g->n_pack, l->n_col));
    l->bound = arena_vectors(mem, pack_of(w, g->n_pack, 2));
    w->at = s == g->lanes ? l->at : dev_lin_columns(g, mem, s);
    w->n_x = 1;
    for (size_t k = 0; k < pack_of(w, g->n_pack, l->n_col); k++)
        w->n_x = w->at[k] >= w->n_x ? w->at[k] + 1 : w->n_x;
    w->x0 = arena_array(mem, double, w->n_x);
    w->moved = arena_array(mem, int64_t, pack_of(w, g->n_pack, 1));
    w->real = arena_array(mem, int64_t, pack_of(w, g->n_pack, 1));
    for (int32_t p = 0; p < g->n_pack; p++)
        memset(&w->real[pack_of(w, p, 1)], -1,
               (size_t)(g->first[p + 1] - g->first[p]) * sizeof *w->real);
    if (packs_for(g->nb) > 1)
        prepare_items(g, mem);
}

/* Sets the bounds of lanes in use to infinity: no linearisation holds. */
static void forget(dev_group *g)
{
    const struct dev_lin *l = g->lin;
    struct dev_whole *w = l->whole;
    for (int32_t p = 0; p < g->n_pack && !w->nothing; p++)
        for (int32_t b = 0; b < 2; b++)
            for (int32_t i = 0; i < g->lanes; i++)
                l->bound[pack_of(w, p, 2) + (size_t)(b * w->stride + i)] = INFINITY;
    w->nothing = true;
}

void dev_whole_fresh(dev_group *g)
{
    struct dev_lin *l = g->lin;
    struct dev_whole *w = l->whole;
    memset(w->now, 0, pack_of(w, g->n_pack, l->apart->n_out) * sizeof *w->now);
    memset(w->v0, 0, pack_of(w, g->n_pack, l->n_col) * sizeof *w->v0);
    memset(l->dyn_at, 0, sizeof l->dyn_at);
    w->alpha = NAN;
    w->late = false;
    forget(g);
}

/* -- a load -- */

/* v, v - v0, and which lanes have a bound that does not hold. A bound that is not a number does
 * not. */
VS_CLONES static void find_moved(const dev_group *g, const dev_lin_at *a)
{
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    const int32_t s = w->stride, n_col = l->n_col;
    const double far = dev_lin_farthest(a), most = dev_lin_most(a);
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0, n = lanes_of(g, p); i < n; i += WIDE) {
            const size_t at = pack_of(w, p, n_col) + (size_t)i;
            const double *b = &l->bound[pack_of(w, p, 2) + (size_t)i];
            wide d = {0};
            for (int32_t c = 0; c < n_col; c++) {
                const size_t k = at + (size_t)(c * s);
                const int32_t *u = &w->at[k];
                const wide v = {a->x[u[0]], a->x[u[1]], a->x[u[2]], a->x[u[3]]},
                           dv = v - GET(&w->v0[k]);
                PUT(&w->v[k], v);
                PUT(&w->dv[k], dv);
                d = LARGER(MAGNITUDE(dv), d);
            }
            const size_t lane = pack_of(w, p, 1) + (size_t)i;
            MASK(&w->moved[lane]) =
                MASK(&w->real[lane]) &
                ~((d <= far) & ((GET(b) + a->alpha * GET(b + s)) * (d * d) <= most));
        }
}

/* Puts the instances that moved into packs, in the circuit's order: neighbours move together, so
 * that lanes mostly keep their setup values. Returns how many there are. */
static int32_t list_moved(const dev_group *g)
{
    struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    int32_t n = 0;
    for (int32_t k = 0; k < g->nb; k++) {
        l->item[n] = w->order[k];
        n -= (int32_t)w->moved[w->look[k]];
    }
    l->n_pack = 0;
    for (int32_t k = 0; k < n; k += g->lanes)
        l->first[l->n_pack++] = k;
    l->first[l->n_pack] = n;
    return n;
}

/* How many instances are to be evaluated: all, if that takes as few packs. */
static int32_t count_moved(const dev_group *g, const dev_lin_at *a)
{
    const struct dev_whole *w = g->lin->whole;
    find_moved(g, a);
    if (w->order) {
        const int32_t n = list_moved(g);
        return n > 0 && packs_for(n) == packs_for(g->nb) ? g->nb : n;
    }
    int64_t any = 0; /* a group of one pack of eight */
    for (int32_t k = 0; k < g->n_pack * w->stride; k++)
        any |= w->moved[k];
    return any ? g->nb : 0;
}

/* What the prediction was off by, and the bounds that follow from it, in lanes that are -1 in
 * `which`. p: pack, i: its lanes from i on. */
static inline __attribute__((always_inline)) void
measure(const struct dev_lin *l, const double *weight, int32_t p, int32_t i, wide_mask which)
{
    const struct dev_whole *w = l->whole;
    const int32_t s = w->stride;
    const size_t place = pack_of(w, p, l->apart->n_out) + (size_t)i;
    const double *now = &w->now[place], *was = &w->was[place],
                 *dv = &w->dv[pack_of(w, p, l->n_col) + (size_t)i],
                 *fixed = &w->fixed[pack_of(w, p, l->n_fixed) + (size_t)i];
    const int32_t *u = &w->row_at[pack_of(w, p, w->n_row) + (size_t)i];
    double *bound = &l->bound[pack_of(w, p, 2) + (size_t)i];
    const wide none = {INFINITY, INFINITY, INFINITY, INFINITY};
    wide off[2] = {0}, steep[2] = {0}, d = {0},
         zero = {0}; /* 0 unless something new is not finite, or limiting acted */
    for (int32_t c = 0; c < l->n_col; c++)
        d = LARGER(MAGNITUDE(GET(dv + c * s)), d);
    for (const row *r = w->row, *end = r + w->n_row; r < end; r++, u += s) {
        const wide unit = {weight[u[0]], weight[u[1]], weight[u[2]], weight[u[3]]},
                   value = GET(now + r->at);
        wide miss = value - GET(was + r->at), slope = {0};
        for (const term *t = w->term + r->begin, *last = w->term + r->end; t < last; t++) {
            miss -= GET(was + t->at) * GET(dv + t->col);
            wide curved = GET(now + t->at);
            if (t->fixed >= 0)
                curved -= GET(fixed + t->fixed);
            slope += MAGNITUDE(curved);
        }
        zero += 0 * value + 0 * slope;
        miss = unit * MAGNITUDE(miss);
        slope = unit * slope;
        off[r->charge] = LARGER(miss, off[r->charge]);
        steep[r->charge] = LARGER(slope, steep[r->charge]);
    }
    if (l->limited >= 0)
        zero += GET(now + l->limited * s);
    for (int b = 0; b < 2; b++) {
        const wide old = GET(bound + b * s), most = STEEPEST * steep[b], least = LEAST_PART * most,
                   held = LARGER(old, least);
        const wide fading = LARGER(FADING * old, least), seen = SAFETY * off[b] / (d * d),
                   measured = LARGER(seen, fading);
        const wide from_old = CHOOSE(d < MEASURABLE, held, measured);
        const wide next = CHOOSE(MAGNITUDE(old) < INFINITY, from_old, most);
        const wide kept = CHOOSE(zero == 0, next, none);
        PUT(bound + b * s, CHOOSE(which, kept, old));
    }
}

VS_CLONES static void measure_all(const dev_group *g, const double *weight)
{
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0, n = lanes_of(g, p); i < n; i += WIDE)
            measure(g->lin, weight, p, i, (wide_mask){-1, -1, -1, -1});
    g->lin->whole->nothing = false;
}

/* Loops over packs are inside of those over entries and rows, whose places are read from a table,
 * and for few packs they are unrolled. */
#define FOR_EACH_PACKS(n, call) \
    switch (n) {                \
    case 1: call(1); break;     \
    case 2: call(2); break;     \
    case 3: call(3); break;     \
    case 4: call(4); break;     \
    case 5: call(5); break;     \
    case 6: call(6); break;     \
    default: call(n); break;    \
    }

/* J of lanes i to i + WIDE of n packs. */
static inline __attribute__((always_inline)) void
jacobian_of(const dev_group *g, double alpha, int32_t i, const int32_t n, double *restrict out)
{
    const struct dev_whole *w = g->lin->whole;
    const ptrdiff_t from = g->lin->apart->n_out * w->stride,
                    to = g->form[MDL_TRAN].n_out * w->stride;
    const double *now = w->now + i;
    const entry *e = w->entry;
    for (const entry *end = w->entry + w->n_entry[0]; e < end; e++)
        for (int32_t p = 0; p < n; p++)
            PUT(out + e->to + p * to,
                GET(now + e->g + p * from) + alpha * GET(now + e->c + p * from));
    for (const entry *end = w->entry + w->n_entry[1]; e < end; e++)
        for (int32_t p = 0; p < n; p++)
            PUT(out + e->to + p * to, GET(now + e->g + p * from));
    for (const entry *end = w->entry + w->n_entry[2]; e < end; e++)
        for (int32_t p = 0; p < n; p++)
            PUT(out + e->to + p * to, alpha * GET(now + e->c + p * from));
}

VS_CLONES static void give_jacobian(const dev_group *g, double alpha, double *restrict out)
{
    for (int32_t i = 0, s = g->lin->whole->stride; i < s; i += WIDE) {
#define JACOBIAN(n) jacobian_of(g, alpha, i, n, out + i)
        FOR_EACH_PACKS(g->n_pack, JACOBIAN)
    }
}

/* Currents and charges where v0 is where x is, of lanes i to i + WIDE of n packs. */
static inline __attribute__((always_inline)) void rows_of(const dev_group *g, int32_t i,
                                                          const int32_t n, double *restrict out)
{
    const struct dev_whole *w = g->lin->whole;
    const ptrdiff_t from = g->lin->apart->n_out * w->stride,
                    to = g->form[MDL_TRAN].n_out * w->stride;
    const double *now = w->now + i;
    for (const row *r = w->row, *end = r + w->n_row; r < end; r++)
        for (int32_t p = 0; p < n; p++)
            PUT(out + r->to + p * to, GET(now + r->at + p * from));
    if (w->limited >= 0)
        for (int32_t p = 0; p < n; p++)
            PUT(out + w->limited + p * to, GET(now + g->lin->limited * w->stride + p * from));
}

VS_CLONES static void copy_rows(const dev_group *g, double *restrict out)
{
    for (int32_t i = 0, s = g->lin->whole->stride; i < s; i += WIDE) {
#define ROWS(n) rows_of(g, i, n, out + i)
        FOR_EACH_PACKS(g->n_pack, ROWS)
    }
}

/* Currents and charges at v0 + dv, by the linearisations. */
VS_CLONES static void extrapolate_rows(const dev_group *g, double *restrict out)
{
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    const int32_t s = w->stride;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0, n = lanes_of(g, p); i < n; i += WIDE) {
            const double *now = &w->now[pack_of(w, p, l->apart->n_out) + (size_t)i];
            const double *dv = &w->dv[pack_of(w, p, l->n_col) + (size_t)i];
            double *to = out + pack_of(w, p, g->form[MDL_TRAN].n_out) + (size_t)i;
            for (const row *r = w->row, *end = r + w->n_row; r < end; r++) {
                wide sum = GET(now + r->at);
                for (const term *t = w->term + r->begin, *last = w->term + r->end; t < last; t++)
                    sum += GET(now + t->at) * GET(dv + t->col);
                PUT(to + r->to, sum);
            }
            if (w->limited >= 0) /* where limiting acted nothing is held: 0 in those at rest */
                PUT(to + w->limited, GET(now + l->limited * s));
        }
}

/* Outputs of the form TRAN. n: instances that were evaluated. */
static void give(const dev_group *g, double alpha, int32_t n, double *out)
{
    if (n == g->nb)
        copy_rows(g, out);
    else
        extrapolate_rows(g, out);
    if (n || alpha != g->lin->whole->alpha)
        give_jacobian(g, alpha, out);
}

/* Outputs of fewer lanes than S to their places; what is behind stays 0. */
static void spread(const dev_group *g, int32_t n)
{
    const struct dev_whole *w = g->lin->whole;
    for (int32_t j = 0; j < n; j++)
        memcpy(&w->now[j * w->stride], &w->spread[j * g->lanes], (size_t)g->lanes * sizeof *w->now);
}

static vs_status evaluate_all(dev_group *g, const dev_lin_at *a)
{
    const struct dev_lin *l = g->lin;
    struct dev_whole *w = l->whole;
    double *t = w->was;
    w->was = w->now;
    w->now = t;
    dev_begin(g, MDL_APART, a->x);
    const vs_status st =
        dev_eval(g, MDL_APART, a->dyn, a->x, 0, g->n_pack, false, w->spread ? w->spread : w->now);
    dev_advance(g);
    if (w->spread)
        spread(g, g->n_pack * l->apart->n_out);
    return st;
}

/* The buffer for the n instances that moved, arranged for them. */
static struct dev_lin_buffer *arranged(const dev_group *g, int32_t n)
{
    const struct dev_lin *l = g->lin;
    const int32_t k = packs_for(n) - 1;
    int32_t *list = l->whole->list + k * (g->nb + 1);
    const size_t size = (size_t)n * sizeof *l->item;
    if (*list != n || memcmp(list + 1, l->item, size) != 0) {
        dev_lin_arrange(g, 0, l->n_pack, &l->buffer[k]);
        *list = n;
        memcpy(list + 1, l->item, size);
    }
    return &l->buffer[k];
}

/* Where the outputs of each instance stand that a buffer was arranged for. */
static void find_outputs(const dev_group *g, const struct dev_lin_buffer *b)
{
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    const int32_t lanes = g->lanes, n = l->n_pack * lanes;
    const double *from = b->out;
    for (int32_t k = 0; k < g->n_pack * w->stride; k++)
        w->from[k] = from;
    for (int32_t k = 0, lane = 0; k < n; k++) {
        if (b->lane[k] >= 0) {
            const int32_t code = l->item[b->lane[k]];
            w->from[code / lanes * w->stride + code % lanes] = from + lane;
        }
        if (++lane == lanes)
            from += lanes * l->apart->n_out, lane = 0;
    }
}

/* Takes the outputs of those that were evaluated apart to their own lanes, measures, and makes
 * their voltages those of the last evaluation. */
VS_CLONES static void take_moved(const dev_group *g, const double *weight)
{
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    const int32_t s = w->stride, n_out = l->apart->n_out, n_col = l->n_col;
    const ptrdiff_t lanes = g->lanes;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0, n = lanes_of(g, p); i < n; i += WIDE) {
            const size_t lane = pack_of(w, p, 1) + (size_t)i;
            const wide_mask which = MASK(&w->moved[lane]);
            if (!(which[0] | which[1] | which[2] | which[3]))
                continue;
            const double *const *from = &w->from[lane];
            const double *f0 = from[0], *f1 = from[1], *f2 = from[2], *f3 = from[3];
            double *now = &w->now[pack_of(w, p, n_out) + (size_t)i];
            double *was = &w->was[pack_of(w, p, n_out) + (size_t)i];
            for (ptrdiff_t j = 0; j < n_out; j++, now += s, was += s) {
                const wide old = GET(now),
                           next = {f0[j * lanes], f1[j * lanes], f2[j * lanes], f3[j * lanes]};
                PUT(was, old);
                PUT(now, CHOOSE(which, next, old));
            }
            measure(l, weight, p, i, which);
            size_t k = pack_of(w, p, n_col) + (size_t)i;
            for (int32_t c = 0; c < n_col; c++, k += (size_t)s) {
                PUT(&w->v0[k], CHOOSE(which, GET(&w->v[k]), GET(&w->v0[k])));
                PUT(&w->dv[k], CHOOSE(~which, GET(&w->dv[k]), (wide){0}));
            }
        }
}

static vs_status evaluate_moved(dev_group *g, const dev_lin_at *a)
{
    struct dev_lin *l = g->lin;
    struct dev_lin_buffer *b = arranged(g, l->n_item);
    dev_begin(g, MDL_APART, a->x);
    const vs_status st = dev_lin_run(g, a, 0, l->n_pack, b);
    if (st != VS_OK)
        return st;
    find_outputs(g, b);
    take_moved(g, a->weight);
    return VS_OK;
}

static void swap_voltages(struct dev_whole *w)
{
    double *t = w->v0;
    w->v0 = w->v;
    w->v = t;
}

static vs_status evaluate(dev_group *g, const dev_lin_at *a)
{
    struct dev_whole *w = g->lin->whole;
    const vs_status st = evaluate_all(g, a);
    w->late = !a->weight;
    if (a->weight)
        swap_voltages(w);
    else
        memcpy(w->x0, a->x, (size_t)w->n_x * sizeof *w->x0);
    if (a->weight && st == VS_OK)
        measure_all(g, a->weight);
    else
        forget(g); /* without weights there are no tolerances yet */
    return st;
}

vs_status dev_whole_load(dev_group *g, const dev_lin_at *a, double *out)
{
    struct dev_lin *l = g->lin;
    struct dev_whole *w = l->whole;
    vs_status st = VS_OK;
    if (!dev_lin_same_dyn(l, a->dyn))
        forget(g);
    l->n_item = a->weight ? count_moved(g, a) : g->nb;
    if (l->n_item == g->nb)
        st = evaluate(g, a);
    else if (l->n_item)
        st = evaluate_moved(g, a);
    give(g, a->alpha, l->n_item, out);
    w->alpha = a->alpha;
    return st;
}

/* Makes x0, the x of the last evaluation, the voltages v0. */
static void settle(const dev_group *g)
{
    struct dev_whole *w = g->lin->whole;
    for (size_t k = 0; w->late && k < pack_of(w, g->n_pack, g->lin->n_col); k++)
        w->v0[k] = w->x0[w->at[k]];
    w->late = false;
}

const double *dev_whole_held(const dev_group *g, int32_t pack, int32_t lane, const double **v0)
{
    const struct dev_whole *w = g->lin->whole;
    settle(g);
    *v0 = &w->v0[pack_of(w, pack, g->lin->n_col) + (size_t)lane];
    return &w->now[pack_of(w, pack, g->lin->apart->n_out) + (size_t)lane];
}

void dev_whole_arrays(dev_group *g, double **now, double **v0)
{
    struct dev_whole *w = g->lin->whole;
    settle(g);
    w->nothing = false; /* bounds may be given */
    *now = w->now;
    *v0 = w->v0;
    w->alpha = NAN;
}
