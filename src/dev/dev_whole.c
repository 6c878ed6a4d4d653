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
} row;

typedef struct term { /* + held[at] * dv[col] */
    int32_t at, col;
    int32_t fixed; /* of held[at] */
    double volt;   /* 1: of a voltage, 0: of another unknown */
} term;

typedef struct entry { /* J: out[to] = held[g] + alpha held[c] */
    int32_t to, g, c;
} entry;

#define MASK(p) (*(wide_mask *)(p))

/* Which lane of a buffer evaluates an item. Items stay in their lanes from load to load: those that
 * move are mostly the ones of the load before. */
typedef struct seats {
    int32_t *item;      /* [n_lane] pack * W + lane; -1: of nobody yet */
    int32_t *lane;      /* [n_pack * W] by items, where they were last */
    const double **out; /* [n_lane] where the lane's first output stands; the next ones S further */
} seats;

struct dev_whole {
    int32_t stride;           /* S */
    int32_t limited;          /* LIMITED's place in the load's array, -1: none */
    int32_t n_row, n_current; /* currents, then charges */
    int32_t n_entry[3];       /* entries with both parts, then with G alone, then with C alone */
    row *row;
    term *term;
    int32_t n_other, *other; /* [n_other] what is held and is neither a row nor a term */
    entry *entry;
    int32_t *row_at; /* [n_pack][n_row][S] places in weights; 0: none */
    double *now,
        *was;       /* [n_pack][n_out of APART][S] of the last evaluation and of the one before */
    double *spread; /* [n_pack][n_out][W] where S is not W; else NULL */
    double *apart;  /* [packs of a buffer][n_out][S] likewise */
    double *fixed;  /* [n_pack][n_fixed + 1][S], the last ones 0: of what has none */
    int32_t *at;    /* [n_pack][n_col][S] unknowns of the columns */
    double *v0, *v,
        *dv;        /* [n_pack][n_col][S] voltages at the last evaluation, in this load, v - v0 */
    int64_t *moved; /* [n_pack][S] -1: its bound does not hold in this load; 0 */
    int64_t *real;  /* [n_pack][S] -1: the lane has an instance of its own; 0 */
    int32_t *order; /* [nb] items, pack * W + lane, as the circuit has the instances in a row, */
    int32_t *look;  /* [nb] and their places in `moved`; NULL: they are never evaluated apart */
    int32_t *list;  /* [nb] items that moved */
    seats *seat;    /* [n_buffer] */
    int32_t *home;  /* [n_pack * W] by items, their places in `moved` */
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

/* The rows of currents, or those of charges, and their terms. */
static void list_rows(const dev_group *g, struct dev_whole *w, bool charges)
{
    const struct dev_lin *l = g->lin;
    const int32_t s = w->stride;
    int32_t n = w->n_row ? w->row[w->n_row - 1].end : 0;
    for (int32_t r = 0; r < g->form[MDL_TRAN].n_out; r++) {
        const dev_lin_out *o = &l->out[r];
        if (!dev_lin_is_row(o) || (o->kind == IR_OUT_REACT) != charges)
            continue;
        row *to = &w->row[w->n_row++];
        *to = (row){.to = r * s, .at = o->at * s, .begin = n};
        for (int32_t t = o->begin; t < o->end; t++)
            w->term[n++] =
                (term){l->term[t].at * s, l->term[t].col * s,
                       (l->term[t].fixed < 0 ? l->n_fixed : l->term[t].fixed) * s, l->term[t].volt};
        to->end = n;
    }
}

static void list_others(const dev_group *g, struct dev_whole *w, arena *mem)
{
    const int32_t n = g->lin->apart->n_out, s = w->stride;
    bool *listed = vs_calloc((size_t)n + 1, sizeof *listed);
    for (const row *r = w->row, *end = r + w->n_row; r < end; r++) {
        assert(!listed[r->at / s]);
        listed[r->at / s] = true;
        for (int32_t t = r->begin; t < r->end; t++) {
            assert(!listed[w->term[t].at / s]);
            listed[w->term[t].at / s] = true;
        }
    }
    w->other = arena_array(mem, int32_t, n);
    for (int32_t j = 0; j < n; j++)
        if (!listed[j])
            w->other[w->n_other++] = j * s;
    vs_free(listed);
}

static int32_t place_of_limited(const dev_group *g, int32_t s)
{
    int32_t at = -1;
    for (int32_t r = 0; r < g->form[MDL_TRAN].n_out; r++)
        if (g->lin->out[r].kind == IR_OUT_LIMITED)
            at = r * s;
    return at;
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

static void leave_seats(const struct dev_lin_buffer *b, const seats *at)
{
    for (int32_t k = 0; k < b->n_lane; k++)
        at->item[k] = -1;
}

void dev_whole_fix(dev_group *g)
{
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0; i < g->lanes; i++) {
            const int32_t inst = g->first[p] + i, last = g->first[p + 1] - 1;
            const int32_t r = g->row_of[inst < last ? inst : last];
            double *to = &w->fixed[pack_of(w, p, l->n_fixed + 1) + (size_t)i];
            for (int32_t k = 0; k < l->n_fixed; k++)
                to[k * w->stride] = l->fixed[(size_t)r * (size_t)l->n_fixed + (size_t)k];
        }
    for (int i = 0; w->order && i < l->n_buffer; i++) /* setup values have changed */
        leave_seats(&l->buffer[i], &w->seat[i]);
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
    w->home = arena_array(mem, int32_t, g->n_pack * g->lanes);
    for (int32_t k = 0; k < g->nb; k++) {
        const int32_t p = dev_pack_of(g, order[k]), lane = order[k] - g->first[p];
        order[k] = p * g->lanes + lane;
        w->look[k] = w->home[order[k]] = (int32_t)pack_of(w, p, 1) + lane;
    }
    w->from = arena_array(mem, const double *, pack_of(w, g->n_pack, 1));
    w->list = arena_array(mem, int32_t, g->nb);
    l->n_buffer = packs_for(g->nb) - 1;
    if (w->spread)
        w->apart = arena_vectors(
            mem, pack_of(w, l->n_buffer * DEV_WHOLE_PACK / g->lanes, l->apart->n_out));
    l->buffer = arena_array(mem, struct dev_lin_buffer, l->n_buffer);
    w->seat = arena_array(mem, seats, l->n_buffer);
    for (int i = 0; i < l->n_buffer; i++) {
        struct dev_lin_buffer *b = &l->buffer[i];
        dev_lin_init_buffer(g, mem, b, (i + 1) * DEV_WHOLE_PACK / g->lanes);
        for (int32_t k = 0; k < b->n_lane / g->lanes; k++)
            b->row[k] = g->pack_row[0]; /* without a row per lane there is one row */
        w->seat[i].item = arena_array(mem, int32_t, b->n_lane);
        w->seat[i].lane = arena_array(mem, int32_t, g->n_pack * g->lanes);
        w->seat[i].out = arena_array(mem, const double *, b->n_lane);
        for (int32_t k = 0; k < b->n_lane; k++)
            w->seat[i].out[k] = (w->apart ? w->apart : b->out) + dev_lin_lane_in(g, k) +
                                pack_of(w, dev_lin_pack_in(g, k), l->apart->n_out);
        leave_seats(b, &w->seat[i]);
    }
    for (size_t k = 0; k < pack_of(w, g->n_pack, 1); k++)
        w->from[k] = w->seat[0].out[0]; /* of lanes that have not moved: read, not taken */
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
    list_rows(g, w, false);
    w->n_current = w->n_row;
    list_rows(g, w, true);
    list_others(g, w, mem);
    w->limited = place_of_limited(g, s);
    list_entries(g, w);
    w->row_at = arena_array(mem, int32_t, pack_of(w, g->n_pack, w->n_row));
    place_rows(g, w);
    w->now = arena_vectors(mem, pack_of(w, g->n_pack, f->n_out));
    w->was = arena_vectors(mem, pack_of(w, g->n_pack, f->n_out));
    w->spread = s == g->lanes ? NULL : arena_vectors(mem, pack_of(w, g->n_pack, f->n_out));
    w->fixed = arena_vectors(mem, pack_of(w, g->n_pack, l->n_fixed + 1));
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
    const double far = dev_lin_farthest(a), most = dev_lin_most(a), *x = a->x;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0, n = lanes_of(g, p); i < n; i += WIDE) {
            const size_t at = pack_of(w, p, n_col) + (size_t)i;
            const double *b = &l->bound[pack_of(w, p, 2) + (size_t)i];
            const int32_t *u = &w->at[at];
            const double *v0 = &w->v0[at];
            double *to = &w->v[at], *off = &w->dv[at];
            wide d = {0};
            for (int32_t c = 0; c < n_col; c++, u += s, v0 += s, to += s, off += s) {
                const wide v = {x[u[0]], x[u[1]], x[u[2]], x[u[3]]}, dv = v - GET(v0);
                PUT(to, v);
                PUT(off, dv);
                d = LARGER(MAGNITUDE(dv), d);
            }
            const size_t lane = pack_of(w, p, 1) + (size_t)i;
            MASK(&w->moved[lane]) =
                MASK(&w->real[lane]) &
                ~((d <= far) & ((GET(b) + a->alpha * GET(b + s)) * (d * d) <= most));
        }
}

/* Lists the items that moved. Returns how many there are. */
static int32_t list_moved(const dev_group *g)
{
    const struct dev_whole *w = g->lin->whole;
    const int32_t *order = w->order, *look = w->look;
    int32_t *list = w->list, n = 0;
    for (int32_t k = 0, nb = g->nb; k < nb; k++) {
        list[n] = order[k];
        n -= (int32_t)w->moved[look[k]];
    }
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

/* Of a wide lane: what the linearisations are measured by. Either `now` has the last evaluation and
 * `was` the one before; or `now` has the one before, and in lanes that are -1 in `which` the last
 * one is taken to it from the places of `from`. */
typedef struct lane_view {
    double *now;
    const double *was, *dv, *fixed;
    const int32_t *row_at;
    const double *from[WIDE];
    wide_mask which;
} lane_view;

typedef struct both { /* evaluations of one output */
    wide now, was;
} both;

static inline __attribute__((always_inline)) both take(const lane_view *x, int32_t at)
{
    const wide old = GET(x->now + at),
               next = {x->from[0][at], x->from[1][at], x->from[2][at], x->from[3][at]},
               now = CHOOSE(x->which, next, old);
    PUT(x->now + at, now);
    return (both){now, old};
}

static inline __attribute__((always_inline)) both see(const lane_view *x, int32_t at,
                                                      const bool takes)
{
    return takes ? take(x, at) : (both){GET(x->now + at), GET(x->was + at)};
}

typedef struct missed { /* by rows of one kind, in parts of tolerances */
    wide off, steep;    /* the largest error of the prediction; the largest change of slopes */
    wide zero;          /* 0 unless something new is not finite */
} missed;

static inline __attribute__((always_inline)) void note_miss(missed *m, wide unit, wide miss,
                                                            wide slope)
{
    miss = unit * MAGNITUDE(miss);
    slope = unit * slope;
    m->off = LARGER(miss, m->off);
    m->steep = LARGER(slope, m->steep);
}

/* Rows of currents (charge: 0) or of charges (1). by: A's and B's part. */
static inline __attribute__((always_inline)) void miss_of(const struct dev_whole *w,
                                                          const lane_view *x, const int charge,
                                                          const dev_lin_at *a, const bool takes,
                                                          missed by[2])
{
    const int32_t from = charge ? w->n_current : 0, end = charge ? w->n_row : w->n_current;
    const double *weight = a->weight;
    const int32_t *u = x->row_at + from * w->stride;
    for (const row *r = w->row + from, *last_row = w->row + end; r < last_row; r++) {
        const wide unit = {weight[u[0]], weight[u[1]], weight[u[2]], weight[u[3]]};
        const both value = see(x, r->at, takes);
        wide miss = value.now - value.was, slope = {0}, steepest = {0};
        for (const term *t = w->term + r->begin, *last = w->term + r->end; t < last; t++) {
            const both part = see(x, t->at, takes);
            miss -= part.was * GET(x->dv + t->col);
            const wide curved = part.now - GET(x->fixed + t->fixed);
            slope += MAGNITUDE(curved);
            steepest = LARGER(MAGNITUDE(curved) * t->volt, steepest);
        }
        by[charge].zero += 0 * value.now + 0 * slope;
        const dev_lin_units in = dev_lin_units_of(unit, a, charge, steepest);
        note_miss(&by[0], in.a, miss, slope);
        if (charge)
            note_miss(&by[1], in.b, miss, slope);
        u += w->stride;
    }
}

/* What the prediction was off by, and the bounds that follow from it, in lanes that are -1 in
 * x->which. p: pack, i: its lanes from i on. takes: x has `from`, else `was`. */
static inline __attribute__((always_inline)) void measure(const struct dev_lin *l,
                                                          const dev_lin_at *a, int32_t p, int32_t i,
                                                          const lane_view *x, const bool takes)
{
    const struct dev_whole *w = l->whole;
    const int32_t s = w->stride;
    for (int32_t k = 0; takes && k < w->n_other; k++)
        (void)take(x, w->other[k]);
    missed by[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    miss_of(w, x, 0, a, takes, by);
    miss_of(w, x, 1, a, takes, by);
    double *bound = &l->bound[pack_of(w, p, 2) + (size_t)i];
    const wide none = {INFINITY, INFINITY, INFINITY, INFINITY};
    wide d = {0}, zero = by[0].zero + by[1].zero; /* 0 also where limiting did not act */
    for (int32_t c = 0; c < l->n_col; c++)
        d = LARGER(MAGNITUDE(GET(x->dv + c * s)), d);
    if (l->limited >= 0)
        zero += GET(x->now + l->limited * s);
    for (int b = 0; b < 2; b++) {
        const wide old = GET(bound + b * s), most = STEEPEST * by[b].steep,
                   least = LEAST_PART * most, held = LARGER(old, least);
        const wide fading = LARGER(FADING * old, least), seen = SAFETY * by[b].off / (d * d),
                   measured = LARGER(seen, fading);
        const wide from_old = CHOOSE(d < MEASURABLE, held, measured);
        const wide next = CHOOSE(MAGNITUDE(old) < INFINITY, from_old, most);
        const wide kept = CHOOSE(zero == 0, next, none);
        PUT(bound + b * s, CHOOSE(x->which, kept, old));
    }
}

/* Of lanes i on of pack p, without `was`, `from` and `which`. */
static inline __attribute__((always_inline)) lane_view view(const struct dev_lin *l, int32_t p,
                                                            int32_t i)
{
    const struct dev_whole *w = l->whole;
    return (lane_view){.now = &w->now[pack_of(w, p, l->apart->n_out) + (size_t)i],
                       .dv = &w->dv[pack_of(w, p, l->n_col) + (size_t)i],
                       .fixed = &w->fixed[pack_of(w, p, l->n_fixed + 1) + (size_t)i],
                       .row_at = &w->row_at[pack_of(w, p, w->n_row) + (size_t)i]};
}

VS_CLONES static void measure_all(const dev_group *g, const dev_lin_at *a)
{
    const struct dev_lin *l = g->lin;
    struct dev_whole *w = l->whole;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0, n = lanes_of(g, p); i < n; i += WIDE) {
            lane_view x = view(l, p, i);
            x.was = &w->was[pack_of(w, p, l->apart->n_out) + (size_t)i];
            x.which = (wide_mask){-1, -1, -1, -1};
            measure(l, a, p, i, &x, false);
        }
    w->nothing = false;
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
    default: call((n)); break;  \
    }

/* The first packs, up to the last one that has instances in lanes from i on. */
static int32_t packs_beyond(const dev_group *g, int32_t i)
{
    int32_t n = g->n_pack;
    while (n > 0 && lanes_of(g, n - 1) <= i)
        n--;
    return n;
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
        FOR_EACH_PACKS(packs_beyond(g, i), JACOBIAN)
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
        FOR_EACH_PACKS(packs_beyond(g, i), ROWS)
    }
}

/* Currents and charges at v0 + dv, by the linearisations, of lanes i to i + WIDE of n packs. */
static inline __attribute__((always_inline)) void lines_of(const dev_group *g, int32_t i,
                                                           const int32_t n, double *restrict out)
{
    enum { AT_ONCE = 6 }; /* packs */
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    const ptrdiff_t from = l->apart->n_out * w->stride, to = g->form[MDL_TRAN].n_out * w->stride,
                    by = l->n_col * w->stride;
    for (int32_t first = 0; first < n; first += AT_ONCE) {
        const int32_t m = n - first < AT_ONCE ? n - first : AT_ONCE;
        const double *now = w->now + i + first * from, *dv = w->dv + i + first * by;
        double *o = out + first * to;
        for (const row *r = w->row, *end = r + w->n_row; r < end; r++) {
            wide sum[AT_ONCE];
            for (int32_t p = 0; p < m; p++)
                sum[p] = GET(now + r->at + p * from);
            for (const term *t = w->term + r->begin, *last = w->term + r->end; t < last; t++)
                for (int32_t p = 0; p < m; p++)
                    sum[p] += GET(now + t->at + p * from) * GET(dv + t->col + p * by);
            for (int32_t p = 0; p < m; p++)
                PUT(o + r->to + p * to, sum[p]);
        }
        if (w->limited >= 0) /* where limiting acted nothing is held: 0 in those at rest */
            for (int32_t p = 0; p < m; p++)
                PUT(o + w->limited + p * to, GET(now + l->limited * w->stride + p * from));
    }
}

VS_CLONES static void extrapolate_rows(const dev_group *g, double *restrict out)
{
    for (int32_t i = 0, s = g->lin->whole->stride; i < s; i += WIDE) {
#define LINES(n) lines_of(g, i, n, out + i)
        FOR_EACH_PACKS(packs_beyond(g, i), LINES)
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

/* n outputs of fewer lanes than S to their places; what is behind stays 0. */
static void spread(const dev_group *g, const double *from, int32_t n, double *to)
{
    const int32_t s = g->lin->whole->stride;
    for (int32_t j = 0; j < n; j++)
        memcpy(&to[j * s], &from[j * g->lanes], (size_t)g->lanes * sizeof *to);
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
        spread(g, w->spread, g->n_pack * l->apart->n_out, w->now);
    return st;
}

/* A lane that no item of this load has; if there is one, with setup values that the item needs. */
static int32_t free_lane(const dev_group *g, const struct dev_lin_buffer *b, int32_t n_lane,
                         int32_t code)
{
    const int32_t wanted = g->row_per_lane ? g->row_of[dev_lin_instance_of(g, code)] : -1;
    int32_t at = -1;
    for (int32_t k = n_lane - 1; k >= 0; k--) {
        if (b->lane[k] >= 0)
            continue;
        at = k;
        if (wanted >= 0 && b->has[k] == wanted)
            break;
    }
    return at;
}

/* Lane k of the buffer evaluates the item in this load. */
static void give_lane(const struct dev_whole *w, struct dev_lin_buffer *b, const seats *at,
                      int32_t k, int32_t code)
{
    b->lane[k] = at->lane[code] = k;
    w->from[w->home[code]] = at->out[k];
}

/* Seats the n items that moved in the lanes of as few packs. Lanes without an item evaluate who was
 * there last. */
static struct dev_lin_buffer *seat_moved(const dev_group *g, int32_t n)
{
    struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    struct dev_lin_buffer *b = &l->buffer[packs_for(n) - 1];
    const seats *at = &w->seat[packs_for(n) - 1];
    int32_t n_new = 0;
    l->item = at->item;
    l->n_pack = dev_lin_pack_in(g, n + g->lanes - 1);
    const int32_t n_lane = l->n_pack * g->lanes;
    for (int32_t k = 0; k < n_lane; k++)
        b->lane[k] = -1 - k;
    for (int32_t i = 0; i < n; i++) {
        const int32_t code = w->list[i], k = at->lane[code];
        if (k < n_lane && at->item[k] == code)
            give_lane(w, b, at, k, code);
        else
            w->list[n_new++] = code;
    }
    for (int32_t i = 0; i < n_new; i++) {
        const int32_t code = w->list[i], k = free_lane(g, b, n_lane, code);
        dev_lin_seat(g, b, k, code);
        at->item[k] = code;
        give_lane(w, b, at, k, code);
    }
    for (int32_t k = 0; k < n_lane && n_new; k++)
        if (at->item[k] < 0) { /* of nobody yet */
            at->item[k] = w->list[0];
            dev_lin_seat(g, b, k, w->list[0]);
        }
    return b;
}

/* Takes the outputs of those that were evaluated apart to their own lanes, measures, and makes
 * their voltages those of the last evaluation. */
VS_CLONES static void take_moved(const dev_group *g, const dev_lin_at *a)
{
    const struct dev_lin *l = g->lin;
    const struct dev_whole *w = l->whole;
    const int32_t s = w->stride, n_col = l->n_col;
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = 0, n = lanes_of(g, p); i < n; i += WIDE) {
            const size_t lane = pack_of(w, p, 1) + (size_t)i;
            const wide_mask which = MASK(&w->moved[lane]);
            if (!(which[0] | which[1] | which[2] | which[3]))
                continue;
            lane_view x = view(l, p, i);
            x.which = which;
            for (int k = 0; k < WIDE; k++)
                x.from[k] = w->from[lane + (size_t)k];
            measure(l, a, p, i, &x, true);
            size_t k = pack_of(w, p, n_col) + (size_t)i;
            for (int32_t c = 0; c < n_col; c++, k += (size_t)s) {
                PUT(&w->v0[k], CHOOSE(which, GET(&w->v[k]), GET(&w->v0[k])));
                PUT(&w->dv[k], CHOOSE(~which, GET(&w->dv[k]), (wide){0}));
            }
        }
}

static vs_status evaluate_moved(dev_group *g, const dev_lin_at *a)
{
    const struct dev_lin *l = g->lin;
    struct dev_lin_buffer *b = seat_moved(g, l->n_item);
    dev_begin(g, MDL_APART, a->x);
    const vs_status st = dev_lin_run(g, a, 0, l->n_pack, b);
    if (st != VS_OK)
        return st;
    if (l->whole->apart)
        spread(g, b->out, l->n_pack * l->apart->n_out, l->whole->apart);
    take_moved(g, a);
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
        measure_all(g, a);
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
