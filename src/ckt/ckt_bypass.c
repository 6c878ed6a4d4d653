/* ckt_bypass.c - loads of groups that hold linearisations of their instances (dev_lin.h).
 *
 * Over all these groups G, C, i0 - G v0 and q0 - C v0 are summed by places of the circuit. A load
 * evaluates the instances that moved, adds what this changes, and has
 *   f += sum(i0 - G v0) + G x,   q += sum(q0 - C v0) + C x,   J += G + alpha C.
 * Static loads do not use the sums. A load evaluates everything and makes the sums anew if it has
 * no tolerances, if it is the first of a transient, or where the rounding of the loads since may be
 * that of DEV_LIN_EVERY ordinary ones. While parts of the circuit are latent, it makes those anew
 * that may have changed (ckt_latent_renew); all of them, with the rows of supplies, where it may be
 * that of DEV_LIN_ALL. */
#include "ckt_priv.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef double two __attribute__((vector_size(16), aligned(8)));

struct ckt_bypass_work {
    dev_lin_sums sums;
    two *fq;        /* [n+1] f and q of a load */
    csc held;       /* the entries that a held group adds to: in circuits with wires a third */
    int32_t *place; /* [nnz of held] of an entry, in the circuit's matrix */
    csc_cut *rows;  /* held in the parts of c->rows; NULL: there are none */
    int age;        /* ordinary loads since the sums were made; < 0: they must be made, */
    int age_of_all; /* and since all of them were */
    bool fresh;     /* this load makes them */
    bool moved;     /* in this load limiting acted */
};

/* Marks the places of the circuit's matrix that instances of g add to. */
static void mark_held(const dev_group *g, bool *is_held)
{
    const dev_form *f = &g->form[MDL_TRAN];
    const struct dev_lin *l = g->lin;
    for (int32_t i = 0; i < g->nb; i++)
        for (int32_t k = l->n_add[1]; k < l->n_add[2]; k++)
            is_held[f->slot[(size_t)i * (size_t)f->n_out + (size_t)l->add[k]]] = true;
}

static void list_held(ckt *c, struct ckt_bypass_work *b)
{
    const csc *a = &c->a;
    bool *is_held = vs_calloc((size_t)csc_nnz(a) + 1, sizeof *is_held);
    int32_t n = 0;
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (c->group[i].lin && !c->group[i].lin->whole)
            mark_held(&c->group[i], is_held);
    for (int32_t k = 0; k < csc_nnz(a); k++)
        n += is_held[k];
    b->held = (csc){.n = a->n,
                    .colptr = arena_array(&c->rows_mem, int32_t, a->n + 1),
                    .row = arena_array(&c->rows_mem, int32_t, n + 1)};
    b->place = arena_array(&c->rows_mem, int32_t, n + 1);
    n = 0;
    for (int32_t j = 0; j < a->n; j++) {
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            if (is_held[k]) {
                b->held.row[n] = a->row[k];
                b->place[n++] = k;
            }
        b->held.colptr[j + 1] = n;
    }
    vs_free(is_held);
    if (c->rows)
        b->rows = csc_cut_like(&c->rows_mem, &b->held, c->rows);
}

/* What threads make beside each other: homes of each group, and the held entries. */
typedef struct making {
    ckt *c;
    struct ckt_bypass_work *b;
    int32_t *part; /* [n+1] whose a row is */
    dev_group **g; /* vec */
} making;

static void make_piece(void *user, int32_t i, int worker)
{
    const making *m = user;
    const ckt *c = m->c;
    (void)worker;
    if (i < (int32_t)vec_len(m->g))
        dev_homes_find(m->g[i], c->rows->n_part, m->part, c->a.n + 1, csc_nnz(&c->a) + 1);
    else
        list_held(m->c, m->b);
}

/* Groups go to the threads that have the rows of their instances. */
static void share_groups(ckt *c, struct ckt_bypass_work *b)
{
    making m = {.c = c, .b = b};
    if (c->rows && POOL_HOME_SLOTS * c->rows->n_part <= c->n_buffer) {
        c->piece_home = arena_array(&c->mem, int32_t, c->rows->n_part + 1);
        vec_extend(m.part, c->a.n + 1);
        for (int32_t i = 1; i <= c->a.n; i++)
            m.part[i] = csc_cut_part(c->rows, i - 1);
        for (size_t i = 0; i < vec_len(c->group); i++)
            if (c->group[i].lin && !c->group[i].lin->whole)
                vec_push(m.g, &c->group[i]);
    }
    pool_run(vec_len(m.g) ? c->pool : NULL, POOL_OTHER, (int32_t)vec_len(m.g) + 1, make_piece, &m);
    for (size_t i = 0; i < vec_len(m.g); i++)
        dev_homes_keep(m.g[i], &c->mem);
    vec_free(m.part);
    vec_free(m.g);
}

void ckt_bypass_make(ckt *c)
{
    const size_t n1 = vec_len(c->unknown), nv = (size_t)csc_nnz(&c->a) + 1;
    bool any = false;
    for (size_t i = 0; i < vec_len(c->group); i++) {
        any |= c->group[i].lin && !c->group[i].lin->whole;
        c->asks_weight |= c->group[i].lin != NULL;
    }
    if (!any)
        return;
    struct ckt_bypass_work *b = c->bypass = arena_new(&c->mem, struct ckt_bypass_work);
    const size_t nowhere = c->rows ? DEV_LIN_NOWHERE * (size_t)c->rows->n_part : 0;
    b->sums = (dev_lin_sums){.gc = arena_array(&c->mem, double, 2 * (nv + nowhere)),
                             .i = arena_array(&c->mem, double, n1 + nowhere),
                             .q = arena_array(&c->mem, double, n1 + nowhere)};
    b->fq = arena_array(&c->mem, two, n1);
    b->age = -1;
    share_groups(c, b);
}

bool ckt_asks_weight(const ckt *c) { return c->asks_weight; }

void ckt_bypass_fresh(ckt *c) { c->bypass->age = -1; }

void ckt_bypass_begin(ckt *c, const dev_lin_at *at)
{
    struct ckt_bypass_work *b = c->bypass;
    const size_t n1 = vec_len(c->unknown), nv = (size_t)csc_nnz(&c->a) + 1;
    const bool old = b->age >= DEV_LIN_EVERY;
    b->fresh = !at->weight || b->age < 0 || b->age_of_all >= DEV_LIN_ALL;
    if (old && !b->fresh)
        b->fresh = !ckt_is_latent(c) || !ckt_latent_renew(c, &b->sums);
    b->age = b->fresh || old ? 0 : b->age + 1;
    b->age_of_all = b->fresh ? 0 : b->age_of_all + 1;
    b->moved = false;
    if (!b->fresh)
        return;
    memset(b->sums.gc, 0, 2 * nv * sizeof(double));
    memset(b->sums.i, 0, n1 * sizeof(double));
    memset(b->sums.q, 0, n1 * sizeof(double));
}

/* -- instances that moved -- */

typedef struct moved {
    ckt *c;
    dev_group *g;
    const dev_lin_at *at;
    int32_t packs, n; /* of a piece; in all */
    int32_t *home;    /* of groups with homes: pieces of each; home[0] = 0 */
    _Atomic int status;
} moved;

static int32_t piece_end(const moved *m, int32_t i)
{
    const int32_t e = (i + 1) * m->packs;
    return e < m->n ? e : m->n;
}

static void select_piece(void *user, int32_t i, int worker)
{
    moved *m = user;
    (void)worker;
    dev_lin_select(m->g, m->at, i * m->packs, piece_end(m, i));
}

static void eval_piece(void *user, int32_t i, int worker)
{
    moved *m = user;
    (void)worker;
    const vs_status st =
        dev_lin_eval(m->g, m->at, i * m->packs, piece_end(m, i), i % m->c->n_buffer);
    if (st != VS_OK)
        m->status = st;
}

static void add_piece(void *user, int32_t i, int worker)
{
    moved *m = user;
    (void)worker;
    if (!m->c->bypass->fresh && m->status == VS_OK)
        dev_lin_add(m->g, i * m->packs, piece_end(m, i), i % m->c->n_buffer, &m->c->bypass->sums);
}

static int32_t cut(moved *m, int32_t packs, int32_t n)
{
    m->packs = packs;
    m->n = n;
    return (n + packs - 1) / packs;
}

/* -- of groups that are at home with threads -- */

static void select_run(void *user, int32_t i, int worker)
{
    moved *m = user;
    const dev_lin_packs *r = &m->g->lin->homes->run[i];
    (void)worker;
    dev_lin_select(m->g, m->at, r->begin, r->end);
}

/* Packs of piece i. Those of a home begin with its first. */
static dev_lin_packs packs_of(const moved *m, int32_t i)
{
    const dev_lin_homes *h = m->g->lin->homes;
    int w = 0;
    while (i >= m->home[w + 1])
        w++;
    const int32_t begin = h->begin[w] + (i - m->home[w]) * m->packs, end = begin + m->packs;
    return (dev_lin_packs){begin, end < h->begin[w + 1] ? end : h->begin[w + 1]};
}

static int buffer_of(const moved *m, int32_t i)
{
    return pool_home_buffer(m->home, m->g->lin->homes->n_home, i);
}

static void eval_home_piece(void *user, int32_t i, int worker)
{
    moved *m = user;
    const dev_lin_packs p = packs_of(m, i);
    (void)worker;
    const vs_status st = dev_lin_eval(m->g, m->at, p.begin, p.end, buffer_of(m, i));
    if (st != VS_OK)
        m->status = st;
}

static void add_home_piece(void *user, int32_t i, int worker)
{
    moved *m = user;
    const dev_lin_packs p = packs_of(m, i);
    (void)worker;
    if (!m->c->bypass->fresh && m->status == VS_OK)
        dev_homes_add(m->g, p.begin, p.end, buffer_of(m, i), &m->c->bypass->sums);
}

/* Each thread evaluates what is at home with it and adds what that changed to the sums that are its
 * own; then one adds to those in common, in the order of instances. */
static void move_at_home(moved *m)
{
    const dev_lin_homes *h = m->g->lin->homes;
    pool_run_homes(m->c->pool, POOL_EVALUATE, h->at[h->n_home], h->at, h->n_home, select_run, m);
    (void)dev_lin_gather(m->g);
    m->packs = DEV_BATCH / m->g->lanes;
    m->home = m->c->piece_home;
    for (int w = 0; w < h->n_home; w++)
        m->home[w + 1] = m->home[w] + (h->begin[w + 1] - h->begin[w] + m->packs - 1) / m->packs;
    pool_run_homes_ordered(m->c->pool, POOL_EVALUATE, m->home, h->n_home, eval_home_piece,
                           add_home_piece, m);
    dev_homes_end(m->g, m->c->bypass->fresh || m->status ? NULL : &m->c->bypass->sums);
}

/* To look at an instance takes some 3 ns: pieces are larger. */
static void select_moved(moved *m, bool many)
{
    enum { LOOKED_AT = 4096 };
    const int32_t n = cut(m, LOOKED_AT / m->g->lanes, m->g->n_pack);
    if (many)
        pool_run(m->c->pool, POOL_EVALUATE, n, select_piece, m);
    else
        for (int32_t i = 0; i < n; i++)
            select_piece(m, i, 0);
}

static void eval_moved(moved *m, bool many)
{
    const int32_t n = cut(m, DEV_BATCH / m->g->lanes, dev_lin_gather(m->g));
    if (many)
        pool_run_ordered(m->c->pool, POOL_EVALUATE, n, m->c->n_buffer, eval_piece, add_piece, m);
    for (int32_t i = 0; i < n && !many; i++) {
        eval_piece(m, i, 0);
        add_piece(m, i, 0);
    }
}

/* Evaluations left the rounding of `wear` ordinary loads; from DEV_LIN_EVERY on it may be anything.
 */
static void grow_old(struct ckt_bypass_work *b, int32_t wear)
{
    const int more = wear < DEV_LIN_EVERY ? wear - 1 : DEV_LIN_ALL;
    b->age += more;
    b->age_of_all += more;
}

vs_status ckt_bypass_eval(ckt *c, dev_group *g, bool many, const dev_lin_at *at, int timed)
{
    struct ckt_bypass_work *b = c->bypass;
    moved m = {.c = c, .g = g, .at = at};
    const double t0 = timed ? vs_seconds() : 0;
    dev_lin_begin(g, at);
    if (many && g->lin->homes) {
        move_at_home(&m);
    } else {
        select_moved(&m, many);
        eval_moved(&m, many);
    }
    grow_old(b, m.status == VS_OK ? g->lin->wear : INT32_MAX);
    if (b->fresh)
        dev_lin_add_all(g, &b->sums);
    c->bypass->moved |= g->lin->moved;
    g->n_eval += g->lin->n_item;
    c->stat.n_eval += g->lin->n_item;
    g->n_bypass += g->nb - g->lin->n_item;
    c->stat.n_bypass += g->nb - g->lin->n_item;
    if (timed) {
        const double s = timed * fmax(vs_seconds() - t0 - c->s_clock, 0);
        c->stat.s_eval += s;
        g->s_eval += s;
    }
    return (vs_status)m.status;
}

/* -- sums -- */

/* fq += (G x, C x) and val += G + alpha C by the held entries [from, end) of column j: both sums of
 * a row lie side by side and are one addition. */
static inline void multiply(const struct ckt_bypass_work *b, const ckt_all *l, double *restrict val,
                            int32_t j, int32_t from, int32_t end)
{
    const two *gc = (const two *)b->sums.gc;
    const int32_t *row = b->held.row, *place = b->place;
    two *restrict fq = b->fq;
    const two x = {l->x[j + 1], l->x[j + 1]};
    for (int32_t k = from; k < end; k++) {
        const two slopes = gc[place[k]];
        fq[row[k] + 1] += slopes * x;
        val[place[k]] += slopes[0] + l->alpha * slopes[1];
    }
}

/* The rows of unknowns [begin, end), which begin with their constant terms. */
static void start_rows(const struct ckt_bypass_work *b, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++)
        b->fq[i] = (two){b->sums.i[i], b->sums.q[i]};
}

/* The other charges' rounding is in qlo (two-sum). */
static void end_rows(const ckt *c, double *f, double *q, int32_t begin, int32_t end)
{
    const two *fq = c->bypass->fq;
    for (int32_t i = begin; i < end; i++) {
        const double before = q[i], own = fq[i][1], t = before + own, w = t - before;
        f[i] += fq[i][0];
        q[i] = t;
        c->qlo[i] += (before - (t - w)) + (own - w);
    }
}

static void sum_part(ckt *c, const ckt_all *l, int32_t part)
{
    const struct ckt_bypass_work *b = c->bypass;
    const csc_cut *r = b->rows;
    const csc_run *run = r->run + r->run_at[part], *last = r->run + r->run_at[part + 1];
    const csc_piece *p = r->piece + r->piece_at[part], *end = r->piece + r->piece_at[part + 1];
    for (const csc_run *k = run; k < last; k++)
        start_rows(b, k->begin + 1, k->end + 1);
    for (; p < end; p++)
        multiply(b, l, c->a.val, p->col, p->from, p->end);
    for (const csc_run *k = run; k < last; k++)
        end_rows(c, l->f, l->q, k->begin + 1, k->end + 1);
}

void ckt_bypass_sum(ckt *c, const ckt_all *l, int32_t part)
{
    const struct ckt_bypass_work *b = c->bypass;
    const int32_t n = c->a.n;
    if (part >= 0) {
        sum_part(c, l, part);
        return;
    }
    start_rows(b, 1, n + 1);
    for (int32_t j = 0; j < n; j++)
        multiply(b, l, c->a.val, j, b->held.colptr[j], b->held.colptr[j + 1]);
    end_rows(c, l->f, l->q, 1, n + 1);
}

typedef struct sizes {
    const dev_group *g;
    bool all;
    int32_t n;
    double *fmax, *qmax;
} sizes;

/* Sizes of so few instances take as long as it takes to hand them over. */
enum { SIZES = 250 };

static void size_home(void *user, int32_t i, int worker)
{
    const sizes *s = user;
    (void)worker;
    dev_homes_sizes(s->g, i, s->all, s->fmax, s->qmax);
}

static void size_piece(void *user, int32_t i, int worker)
{
    const sizes *s = user;
    const int32_t end = (i + 1) * SIZES;
    (void)worker;
    dev_lin_sizes(s->g, s->all, i * SIZES, end < s->n ? end : s->n, true, s->fmax, s->qmax);
}

void ckt_bypass_sizes(ckt *c, double *fmax_, double *qmax)
{
    const bool all = c->bypass->fresh && !ckt_is_latent(c); /* of latent rows nobody asks */
    for (size_t i = 0; i < vec_len(c->group); i++) {
        const struct dev_lin *l = c->group[i].lin;
        if (!l)
            continue;
        sizes s = {&c->group[i], all, dev_lin_n_sizes(&c->group[i], all), fmax_, qmax};
        if (l->homes && s.n >= SIZES)
            pool_run_each(c->pool, POOL_STAMP, l->homes->n_home, size_home, &s);
        else if (c->rows && s.n > SIZES)
            pool_run(c->pool, POOL_STAMP, (s.n + SIZES - 1) / SIZES, size_piece, &s);
        else
            dev_lin_sizes(s.g, all, 0, s.n, false, fmax_, qmax);
    }
}

bool ckt_bypass_is_fresh(const ckt *c) { return c->bypass->fresh; }

const csc *ckt_bypass_held(const ckt *c, const int32_t **place)
{
    *place = c->bypass->place;
    return &c->bypass->held;
}

const csc_cut *ckt_bypass_held_rows(const ckt *c) { return c->bypass->rows; }

const dev_lin_sums *ckt_bypass_sums(const ckt *c) { return &c->bypass->sums; }

bool ckt_bypass_limited(const ckt *c) { return c->bypass->moved; }

void ckt_bypass_accept(ckt *c)
{
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (c->group[i].lin)
            dev_lin_accept(&c->group[i]);
}

void ckt_bypass_image(ckt *c, image *im)
{
    const size_t n1 = vec_len(c->unknown), nv = (size_t)csc_nnz(&c->a) + 1;
    struct ckt_bypass_work *b = c->bypass;
    IMAGE_ARRAY(im, b->sums.gc, 2 * nv);
    IMAGE_ARRAY(im, b->sums.i, n1);
    IMAGE_ARRAY(im, b->sums.q, n1);
    IMAGE_ONE(im, b->age);
    IMAGE_ONE(im, b->age_of_all);
}
