/* ckt_latent.c - cells of unknowns that fall asleep: see ckt_latent.h. */
#include "ckt_latent.h"

#include <math.h>
#include <string.h>

#include "bits.h"
#include "ckt_block.h"
#include "ckt_latent_priv.h"

enum { LEAST_UNKNOWNS = 1000 }; /* fewer: nothing is won */

typedef ckt_two two;

int32_t ckt_latent_n_cell(const ckt *c) { return c->latent->n_cell; }
int32_t ckt_latent_n_pinned(const ckt *c) { return c->latent->n_pinned; }
int32_t ckt_latent_n_awake(const ckt *c) { return c->latent->n_awake; }
const int32_t *ckt_latent_seats(const ckt *c) { return c->latent->seat; }
const int32_t *ckt_latent_unknowns(const ckt *c) { return c->latent->at_seat; }
const int32_t *ckt_latent_cells(const ckt *c) { return c->latent->cell_at; }
const int32_t *ckt_latent_slots(const ckt *c) { return c->latent->slot_of; }
int32_t ckt_latent_first(const ckt *c, int32_t cell) { return c->latent->with[cell]; }
int32_t ckt_latent_n_latent(const ckt *c) { return ckt_n(c) + 1 - c->latent->n_up; }
const double *ckt_latent_rest(const ckt *c) { return c->latent->rest; }

/* -- lists -- */

static void mark_group(bool *mark, const dev_group *g)
{
    for (int f = 0; f < MDL_N_FORM; f++)
        for (int32_t i = 0; g->form[f].variant && i < g->nb * g->form[f].n_u; i++)
            mark[g->form[f].map[i]] = true;
}

/* Unknowns that every load looks at: at native devices and at others that keep nothing. */
static void mark_watched(const ckt *c, bool *mark)
{
    csc_entry *e = NULL;
    nat_entries(&c->nat, true, &e);
    for (size_t i = 0; i < vec_len(e); i++)
        mark[csc_entry_row(e[i])] = mark[csc_entry_col(e[i])] = true;
    vec_free(e);
    for (size_t i = 0; i < vec_len(c->sources->all); i++) {
        const nat_source *s = &c->sources->all[i];
        mark[s->p] = mark[s->n] = mark[s->k] = true;
    }
    for (size_t i = 0; i < vec_len(c->fix); i++)
        mark[c->fix[i].unknown] = true;
    for (int32_t i = 1; i <= ckt_n(c); i++)
        mark[i] |= c->unknown[i].kind == CKT_CURRENT && !c->unknown[i].has_q;
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (!c->group[i].lin && !ckt_is_paired(c, i))
            mark_group(mark, &c->group[i]);
}

/* What no source holds is pinned with all that resistors join it to: a solution moves them
 * together, and would leave what does not move. */
static void pin_cells(const ckt *c, ckt_latent *l)
{
    const size_t n1 = (size_t)ckt_n(c) + 1;
    bool *mark = vs_calloc(n1, sizeof *mark);
    int32_t *order = vs_malloc(n1 * sizeof *order), *size = vs_malloc(n1 * sizeof *size);
    ckt_known_voltages(c, NULL, NULL, l->pinned); /* which their sources hold */
    mark_watched(c, mark);
    const int32_t n = ckt_wires(c, l->pinned, order, size);
    for (int32_t w = 0, i = 0; i < n; i += size[w++]) {
        bool pinned = false;
        for (int32_t k = 0; k < size[w]; k++)
            pinned |= mark[order[i + k]];
        for (int32_t k = 0; k < size[w] && pinned; k++)
            l->pinned[order[i + k]] = true;
    }
    vs_free(mark);
    vs_free(order);
    vs_free(size);
}

/* Cells from that of seat `begin` on to that of seat end - 1 are one. */
static void join_cells(ckt_latent *l, int32_t begin, int32_t end)
{
    const int32_t first = l->with[begin / CKT_CELL];
    for (int32_t k = begin / CKT_CELL + 1; k <= (end - 1) / CKT_CELL; k++)
        l->with[k] = first;
}

static void sit(ckt_latent *l, int32_t unknown, int32_t at)
{
    l->at_seat[at] = unknown;
    l->seat[unknown] = at;
}

/* A wire (ckt_wires.c) that does not fit into what is left of a cell begins a new one, as long as
 * CKT_SEATS allows it. Returns the first seat that is free. */
static int32_t seat_wires(const ckt *c, ckt_latent *l, int32_t at)
{
    const int32_t n1 = ckt_n(c) + 1;
    int32_t *order = vs_malloc((size_t)n1 * sizeof *order),
            *size = vs_malloc((size_t)n1 * sizeof *size);
    int32_t wasted = 0;
    const int32_t n = ckt_wires(c, l->pinned, order, size);
    for (int32_t w = 0, i = 0; i < n; i += size[w++]) {
        const int32_t left = -at & (CKT_CELL - 1);
        if (size[w] > left && wasted + left <= CKT_SPARE(n1 - 1)) {
            at += left;
            wasted += left;
        }
        for (int32_t k = 0; k < size[w]; k++)
            sit(l, order[i + k], at + k);
        join_cells(l, at, at + size[w]);
        at += size[w];
    }
    vs_free(order);
    vs_free(size);
    return at;
}

static int32_t to_cell(int32_t at) { return (at + CKT_CELL - 1) / CKT_CELL * CKT_CELL; }

static void take_seats(const ckt *c, ckt_latent *l)
{
    const int32_t n1 = ckt_n(c) + 1, all = CKT_SEATS(n1 - 1);
    int32_t at = 0;
    memset(l->at_seat, -1, (size_t)all * sizeof *l->at_seat);
    for (int32_t k = 0; k < all / CKT_CELL; k++)
        l->with[k] = k;
    for (int32_t i = 0; i < n1; i++)
        if (l->pinned[i])
            sit(l, i, at++);
    at = to_cell(at);
    l->n_pinned = at / CKT_CELL;
    at = to_cell(seat_wires(c, l, at));
    assert(at <= all);
    l->n_cell = at / CKT_CELL;
}

static void list_rows(ckt *c, ckt_latent *l)
{
    const csc *a = &c->a;
    const int32_t n = a->n, nnz = csc_nnz(a);
    l->row_at = arena_array(&c->mem, int32_t, n + 2);
    l->col = arena_array(&c->mem, int32_t, nnz + 1);
    l->place = arena_array(&c->mem, int32_t, nnz + 1);
    for (int32_t k = 0; k < nnz; k++)
        l->row_at[a->row[k] + 2]++; /* of row + 1, one further on: see below */
    for (int32_t i = 0; i < n; i++)
        l->row_at[i + 2] += l->row_at[i + 1];
    for (int32_t j = 0; j < n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            const int32_t at = l->row_at[a->row[k] + 1]++; /* they move to their ends */
            l->col[at] = j + 1;
            l->place[at] = k;
        }
}

/* The cells of a device that let it be looked at, each once, to cell [most]: those that are not
 * pinned. */
static int32_t cells_of(const ckt_latent *l, const dev_form *f, int32_t i, int32_t *cell,
                        int32_t most)
{
    int32_t n = 0;
    for (int32_t u = 0; u < f->n_u; u++) {
        const int32_t unknown = f->map[(size_t)i * (size_t)f->n_u + (size_t)u];
        const int32_t k = ckt_cell_of(l, unknown);
        bool have = l->pinned[unknown];
        for (int32_t j = 0; j < n && !have; j++)
            have = cell[j] == k;
        if (!have && n < most)
            cell[n++] = k;
    }
    return n;
}

enum { MOST_CELLS = 250 }; /* numbers of them are bytes */

static void put_device(ckt_latent *l, int32_t cell, int32_t group, int32_t i, bool fill)
{
    const int32_t at = l->in_at[cell]++;
    if (fill) {
        l->in_group[at] = group;
        l->in_inst[at] = i;
    }
}

/* A pair with an end in a pinned cell is always looked at: the row there has all its terms. */
static int32_t cells_of_pair(const ckt_latent *l, const ckt_pair_at *p, int32_t *cell)
{
    const int32_t a = ckt_cell_of(l, p->p), b = ckt_cell_of(l, p->n);
    if (l->pinned[p->p] || (p->n && l->pinned[p->n]))
        return 0;
    cell[0] = a;
    cell[1] = b;
    return p->n && a != b ? 2 : 1;
}

static void walk_pairs(const ckt *c, ckt_latent *l, bool fill)
{
    int32_t n, cell[2];
    const ckt_pair_at *p = ckt_pairs_list(c, &n);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = cells_of_pair(l, &p[i], cell) - 1; k >= 0; k--)
            put_device(l, cell[k], (int32_t)vec_len(c->group), i, fill);
}

/* The cells of all held devices, group by group; of a group by parts of its instances. */
typedef struct cells_found {
    const ckt *c;
    const ckt_latent *l;
    int32_t n_part;
    int32_t **cell; /* [groups * n_part] vecs; of instance i n_of[i] */
} cells_found;

static void find_cells(void *user, int32_t part, int worker)
{
    const cells_found *f = user;
    (void)worker;
    for (size_t gi = 0; gi < vec_len(f->c->group); gi++) {
        const dev_group *g = &f->c->group[gi];
        int32_t **to = &f->cell[gi * (size_t)f->n_part + (size_t)part], cell[MOST_CELLS];
        const int32_t end = g->lin ? pool_part(g->nb, part + 1, f->n_part) : 0;
        for (int32_t i = pool_part(g->nb, part, f->n_part); i < end; i++) {
            const int32_t n = cells_of(f->l, &g->form[MDL_APART], i, cell, MOST_CELLS);
            f->l->n_of[gi][i] = (uint8_t)n;
            for (int32_t k = 0; k < n; k++)
                vec_push(*to, cell[k]);
        }
    }
}

/* Two passes: counts, then fills. */
static void walk_devices(const cells_found *f, ckt_latent *l, bool fill)
{
    walk_pairs(f->c, l, fill);
    for (size_t gi = 0; gi < vec_len(f->c->group); gi++) {
        const dev_group *g = &f->c->group[gi];
        for (int32_t part = 0; g->lin && part < f->n_part; part++) {
            const int32_t *cell = f->cell[gi * (size_t)f->n_part + (size_t)part];
            const int32_t end = pool_part(g->nb, part + 1, f->n_part);
            for (int32_t i = pool_part(g->nb, part, f->n_part); i < end; i++)
                for (int32_t k = 0; k < l->n_of[gi][i]; k++)
                    put_device(l, *cell++, (int32_t)gi, i, fill);
        }
    }
}

/* What counts cells, and marks what is looked at. */
static void init_devices(ckt *c, ckt_latent *l)
{
    l->n_in = arena_array(&c->mem, uint8_t *, vec_len(c->group) + 1);
    l->n_of = arena_array(&c->mem, uint8_t *, vec_len(c->group));
    (void)ckt_pairs_list(c, &l->n_pair);
    l->n_in[vec_len(c->group)] = l->visit_pair = arena_array(&c->mem, uint8_t, l->n_pair + 8);
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        if (!g->lin)
            continue;
        l->n_in[gi] = arena_array(&c->mem, uint8_t, g->nb);
        l->n_of[gi] = arena_array(&c->mem, uint8_t, g->nb);
        g->lin->visit = arena_array(&c->mem, uint8_t, g->n_pack + 8);
        g->lin->pack_of = arena_array(&c->mem, int32_t, g->nb);
        for (int32_t p = 0; p < g->n_pack; p++)
            for (int32_t i = g->first[p]; i < g->first[p + 1]; i++)
                g->lin->pack_of[i] = p;
    }
}

static void list_devices(ckt *c, ckt_latent *l)
{
    enum { OPERATIONS = 300 }; /* an instance's cells take as long */
    cells_found f = {.c = c, .l = l};
    const bool many = c->pool && (double)vec_len(c->inst) * OPERATIONS >= c->parallel_min;
    f.n_part = many ? pool_size(c->pool) : 1;
    f.cell = vs_calloc(vec_len(c->group) * (size_t)f.n_part + 1, sizeof *f.cell);
    init_devices(c, l);
    pool_run_each(many ? c->pool : NULL, POOL_OTHER, f.n_part, find_cells, &f);
    l->in_at = arena_array(&c->mem, int32_t, l->n_cell + 1);
    walk_devices(&f, l, false);
    const int32_t sum = csc_begins(l->in_at, l->n_cell);
    l->in_group = arena_array(&c->mem, int32_t, sum + 1);
    l->in_inst = arena_array(&c->mem, int32_t, sum + 1);
    walk_devices(&f, l, true);
    csc_ends_to_begins(l->in_at, l->n_cell);
    for (size_t k = 0; k < vec_len(c->group) * (size_t)f.n_part; k++)
        vec_free(f.cell[k]);
    vs_free(f.cell);
}

/* Where the pieces of each column begin that a part has of held entries. */
static void list_pieces(ckt *c, ckt_latent *l)
{
    const csc_cut *cut = c->rows ? ckt_bypass_held_rows(c) : NULL;
    if (!cut)
        return;
    l->piece_at = arena_array(&c->mem, int32_t *, cut->n_part);
    for (int32_t part = 0; part < cut->n_part; part++) {
        int32_t *at = l->piece_at[part] = arena_array(&c->mem, int32_t, c->a.n + 1);
        int32_t p = cut->piece_at[part];
        for (int32_t j = 0; j < c->a.n; j++) {
            at[j] = p;
            while (p < cut->piece_at[part + 1] && cut->piece[p].col == j)
                p++;
        }
        at[c->a.n] = p;
    }
}

static void make(ckt *c)
{
    ckt_latent *l = c->latent = arena_new(&c->mem, ckt_latent);
    const int32_t n1 = ckt_n(c) + 1;
    const int32_t all = CKT_SEATS(n1 - 1);
    l->seat = arena_array(&c->mem, int32_t, n1);
    l->at_seat = arena_array(&c->mem, int32_t, all);
    l->with = arena_array(&c->mem, int32_t, all / CKT_CELL);
    l->pinned = arena_array(&c->mem, bool, n1);
    pin_cells(c, l);
    take_seats(c, l);
    l->up = arena_array(&c->mem, int32_t, l->n_cell *CKT_CELL);
    l->place_of = arena_array(&c->mem, int32_t, n1);
    l->listed = arena_array(&c->mem, uint8_t, l->n_cell);
    l->is_asked = arena_array(&c->mem, uint8_t, n1);
    l->n_asked = arena_array(&c->mem, uint8_t, l->n_cell);
    l->near = arena_array(&c->mem, int32_t, l->n_cell);
    l->near_all = arena_array(&c->mem, int32_t, l->n_cell);
    l->is_near = arena_array(&c->mem, uint64_t, bits_words(l->n_cell));
    l->is_stale = arena_array(&c->mem, uint64_t, bits_words(l->n_cell));
    l->fq = arena_array(&c->mem, two, n1);
    l->row_awake = arena_array(&c->mem, uint8_t, n1);
    l->cell_at = arena_array(&c->mem, int32_t, l->n_cell);
    l->slot_of = arena_array(&c->mem, int32_t, l->n_cell);
    double **v[] = {&l->f, &l->q, &l->fmax, &l->qmax, &l->weight, &l->rest, &l->told, &l->reach};
    for (size_t i = 0; i < VS_COUNT(v); i++)
        *v[i] = arena_array(&c->mem, double, all + CKT_PADDING);
    list_rows(c, l);
    const ckt_hub_rows rows = {&c->a, l->row_at, l->col, l->pinned, l->seat, l->n_cell, CKT_CELL};
    ckt_hubs_make(&l->hubs, &rows, &c->mem);
    list_devices(c, l);
    list_pieces(c, l);
}

void ckt_latent_free(ckt *c)
{
    if (!c->latent)
        return;
    ckt_region_end(c);
    ckt_hubs_free(&c->latent->hubs);
    vec_free(c->latent->woken);
    c->latent = NULL; /* the rest is the arena's */
}

/* -- loops -- */

/* A loop over what is awake, by parts. */
typedef struct job {
    ckt *c;
    int32_t n_part;
    const double *x, *weight;
    const dev_lin_sums *sums;
    const dev_lin_at *at;
    double *f, *q, *fmax, *qmax;
    double least, *size;    /* ckt_latent_sizes */
    const double *const *v; /* [2] ckt_latent_subtract */
    double *const *r;
} job;

/* By the circuit's threads if it is large enough for that. */
static bool is_shared(const ckt *c)
{
    return c->rows && ckt_shares_vectors(c, c->latent->n_awake * CKT_CELL);
}

static void run(job *j, pool_fn fn)
{
    const ckt *c = j->c;
    const bool many = is_shared(c);
    j->n_part = many ? pool_size(c->pool) : 1;
    pool_run_each(many ? c->pool : NULL, POOL_STAMP, j->n_part, fn, j);
}

typedef struct range {
    int32_t begin, end;
} range;

/* Of n, those of a part. */
static range part_of(const job *j, int32_t n, int32_t part)
{
    return (range){pool_part(n, part, j->n_part), pool_part(n, part + 1, j->n_part)};
}

/* Places in vectors: whole slots, each with its own unknowns. */
static range places_of(const job *j, int32_t part)
{
    const range r = part_of(j, j->c->latent->n_awake, part);
    return (range){r.begin * CKT_CELL, r.end * CKT_CELL};
}

/* -- who is awake -- */

static void look_at(const ckt *c, int32_t group, int32_t i, bool yes)
{
    if (group == (int32_t)vec_len(c->group))
        return; /* a pair */
    const dev_group *g = &c->group[group];
    const int32_t p = g->lin->pack_of[i];
    const uint8_t bit = (uint8_t)(1u << (i - g->first[p]));
    if (yes)
        g->lin->visit[p] |= bit;
    else
        g->lin->visit[p] &= (uint8_t)~bit;
}

static void count_near(ckt_latent *l, int32_t cell, int32_t by)
{
    l->near[cell] += by;
    if (l->near[cell])
        bits_set(l->is_near, (size_t)cell);
    else
        bits_clear(l->is_near, (size_t)cell);
}

/* A cell becomes awake (by 1) or latent (-1): its rows, the columns that they have entries in. */
static void come_near(ckt_latent *l, int32_t cell, int32_t by)
{
    count_near(l, cell, by);
    for (int32_t s = cell * CKT_CELL; s < (cell + 1) * CKT_CELL; s++) {
        const int32_t i = l->at_seat[s];
        l->n_up += i >= 0 ? by : 0;
        if (i > 0)
            l->row_awake[i] = by > 0;
        for (int32_t k = ckt_row_begin(l, i); i > 0 && !l->hubs.is[i] && k < ckt_row_end(l, i); k++)
            count_near(l, ckt_cell_of(l, l->col[k]), by);
    }
}

/* Cells when all are awake: as if each had come near to none. */
static void begin_cells(void *user, int32_t part, int worker)
{
    const job *j = user;
    const csc *a = &j->c->a;
    ckt_latent *l = j->c->latent;
    const range r = part_of(j, l->n_cell, part);
    (void)worker;
    for (int32_t cell = r.begin; cell < r.end; cell++) {
        l->near[cell] = 1;
        for (int32_t s = cell * CKT_CELL; s < (cell + 1) * CKT_CELL; s++) {
            const int32_t i = l->at_seat[s];
            if (i <= 0)
                continue;
            l->row_awake[i] = 1;
            for (int32_t k = a->colptr[i - 1]; k < a->colptr[i]; k++)
                l->near[cell] += !l->hubs.is[a->row[k] + 1];
        }
        l->near_all[cell] = l->near[cell];
    }
}

static int32_t larger_of(int32_t a, int32_t b) { return a > b ? a : b; }

/* All devices are looked at; each counts its cells. */
static void look_at_all(ckt *c)
{
    ckt_latent *l = c->latent;
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        for (int32_t i = 0; g->lin && i < g->nb; i++)
            l->n_in[gi][i] = (uint8_t)larger_of(l->n_of[gi][i], 1); /* of pinned ones: always */
        for (int32_t p = 0; g->lin && p < g->n_pack; p++)
            g->lin->visit[p] = (uint8_t)((1u << (g->first[p + 1] - g->first[p])) - 1);
        if (g->lin)
            g->lin->partly = true;
    }
    int32_t n, cell[2];
    const ckt_pair_at *p = ckt_pairs_list(c, &n);
    for (int32_t i = 0; i < n; i++)
        l->visit_pair[i] = (uint8_t)larger_of(cells_of_pair(l, &p[i], cell), 1);
    ckt_pairs_visit(c, l->visit_pair);
}

static bool suits(const ckt *c)
{
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (c->group[i].lin && c->group[i].lin->whole)
            return false;
    return c->bypass && !c->has_effects && nat_only_sources(&c->nat) && !vec_len(c->wrap) &&
           (c->opt.bypass == CKT_BYPASS_ALL || ckt_n(c) >= LEAST_UNKNOWNS);
}

/* Did a redo change which instances are pairs? */
static bool is_other(const ckt *c)
{
    int32_t n;
    (void)ckt_pairs_list(c, &n);
    return n != c->latent->n_pair;
}

bool ckt_latent_begin(ckt *c, const double *x)
{
    if (!suits(c))
        return false;
    ckt_pairs_make(c);
    if (c->latent && is_other(c))
        ckt_latent_free(c);
    if (!c->latent)
        make(c);
    ckt_latent *l = c->latent;
    const size_t bytes = (size_t)(ckt_n(c) + 1) * sizeof *x;
    for (int32_t s = 0; s < l->n_cell; s++)
        l->slot_of[s] = l->cell_at[s] = s;
    l->n_awake = l->n_cell;
    l->n_up = ckt_n(c) + 1;
    memset(l->is_near, 0xff, bits_words(l->n_cell) * sizeof *l->is_near);
    memset(l->is_stale, 0xff, bits_words(l->n_cell) * sizeof *l->is_stale);
    memcpy(l->up, l->at_seat, (size_t)l->n_cell * CKT_CELL * sizeof *l->up);
    memcpy(l->place_of, l->seat, (size_t)(ckt_n(c) + 1) * sizeof *l->seat);
    run(&(job){.c = c}, begin_cells);
    c->is_latent = true;
    memcpy(c->x, x, bytes);
    memcpy(l->told, x, bytes);
    memset(l->weight, 0, bytes); /* rows that fall asleep before the first load have none */
    memset(l->is_asked, 0, (size_t)(ckt_n(c) + 1) * sizeof *l->is_asked);
    memset(l->n_asked, 0, (size_t)l->n_cell * sizeof *l->n_asked);
    look_at_all(c);
    return true;
}

void ckt_latent_end(ckt *c)
{
    c->is_latent = false;
    ckt_pairs_visit(c, NULL);
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (c->group[i].lin)
            c->group[i].lin->partly = false;
}

/* The unknowns of a cell that came to another slot. */
static void put_unknowns(ckt_latent *l, int32_t cell)
{
    for (int32_t k = 0; k < CKT_CELL; k++) {
        const int32_t i = l->at_seat[cell * CKT_CELL + k], at = l->slot_of[cell] * CKT_CELL + k;
        l->up[at] = i;
        if (i >= 0)
            l->place_of[i] = at;
    }
}

static void change_places(ckt_latent *l, ckt_swap s)
{
    const int32_t a = l->cell_at[s.a], b = l->cell_at[s.b];
    l->cell_at[s.a] = b;
    l->cell_at[s.b] = a;
    l->slot_of[a] = s.b;
    l->slot_of[b] = s.a;
    put_unknowns(l, a);
    put_unknowns(l, b);
}

void ckt_latent_exchange(ckt *c, ckt_swap s)
{
    assert(s.a >= c->latent->n_pinned && s.b >= c->latent->n_pinned && !c->latent->region);
    change_places(c->latent, s);
}

ckt_swap ckt_latent_wake(ckt *c, int32_t cell)
{
    ckt_latent *l = c->latent;
    const ckt_swap s = {l->slot_of[cell], l->n_awake};
    assert(s.a >= s.b && !l->region);
    change_places(l, s);
    l->n_awake++;
    come_near(l, cell, 1);
    l->listed[cell] = 0;
    for (int32_t k = l->in_at[cell]; k < l->in_at[cell + 1]; k++) {
        const int32_t g = l->in_group[k], i = l->in_inst[k];
        if (l->n_in[g][i]++ == 0)
            look_at(c, g, i, true);
    }
    return s;
}

void ckt_latent_own(const ckt *c, int32_t unknown, double *g, double *capacitance)
{
    const int32_t k = c->diag_slot[unknown];
    const two own = k < 0 ? (two){0} : ckt_slopes_at(ckt_bypass_sums(c)->gc, ckt_pairs_sums(c), k);
    *g = own[0];
    *capacitance = own[1];
}

void ckt_latent_fill(ckt *c, double alpha)
{
    for (int32_t k = 0; k < csc_nnz(&c->a); k++) {
        const two gc = ckt_slopes_at(ckt_bypass_sums(c)->gc, ckt_pairs_sums(c), k);
        c->a.val[k] = gc[0] + alpha * gc[1];
    }
}

/* Unknown i joins the marked ones, and is looked at later. */
static void reach(uint8_t *mark, int32_t **list, int32_t i)
{
    if (mark[i])
        return;
    mark[i] = 1;
    vec_push(*list, i);
}

int32_t ckt_latent_parts(const ckt *c, uint8_t *mark)
{
    const ckt_latent *l = c->latent;
    int32_t *list = NULL; /* vec */
    for (int32_t i = 1; i <= ckt_n(c); i++) {
        const bool in = mark[i] || l->pinned[i] || ckt_cell_awake(l, ckt_cell_of(l, i));
        mark[i] = 0;
        if (in)
            reach(mark, &list, i);
    }
    for (size_t at = 0; at < vec_len(list); at++) {
        const int32_t i = list[at];
        if (l->pinned[i])
            continue;
        for (int32_t k = c->a.colptr[i - 1]; k < c->a.colptr[i]; k++)
            reach(mark, &list, c->a.row[k] + 1);
        for (int32_t k = ckt_row_begin(l, i); k < ckt_row_end(l, i); k++)
            reach(mark, &list, l->col[k]);
    }
    const int32_t n = (int32_t)vec_len(list);
    vec_free(list);
    return n;
}

/* From now on a latent cell beside unknown j, at x, is told when it moves. */
static void ask(ckt_latent *l, int32_t j, double x)
{
    l->told[j] = x;
    l->reach[j] = 0;
    l->is_asked[j] = 1;
    l->n_asked[ckt_cell_of(l, j)]++;
}

/* How little unknown j may move before row i, which falls asleep, would move by `tol`. */
static void note_reach(const ckt *c, int32_t i, double tol)
{
    ckt_latent *l = c->latent;
    const double *held = ckt_bypass_sums(c)->gc, *pairs = ckt_pairs_sums(c);
    const int32_t d = c->diag_slot[i];
    const two own = d < 0 ? (two){0} : ckt_slopes_at(held, pairs, d);
    for (int32_t k = ckt_row_begin(l, i); k < ckt_row_end(l, i); k++) {
        const int32_t j = l->col[k];
        const two gc = ckt_slopes_at(held, pairs, l->place[k]);
        const double by_g = gc[0] != 0 ? fabs(gc[0] / (own[0] * tol)) : 0;
        const double by_c = gc[1] != 0 ? fabs(gc[1] / (own[1] * tol)) : 0;
        if (!l->is_asked[j])
            ask(l, j, c->x[j]);
        l->reach[j] = fmax(l->reach[j], fmax(by_g, by_c));
    }
}

ckt_swap ckt_latent_sleep(ckt *c, int32_t cell, const double *x, const double *tol)
{
    ckt_latent *l = c->latent;
    const ckt_swap s = {l->slot_of[cell], l->n_awake - 1};
    assert(s.a <= s.b && cell >= l->n_pinned && !l->region);
    for (int32_t k = 0; k < CKT_CELL; k++) {
        const int32_t i = l->at_seat[cell * CKT_CELL + k];
        if (i < 0)
            continue;
        c->x[i] = x[k];
        note_reach(c, i, tol[k]);
    }
    change_places(l, s);
    l->n_awake--;
    come_near(l, cell, -1);
    bits_set(l->is_stale, (size_t)cell);
    for (int32_t k = l->in_at[cell]; k < l->in_at[cell + 1]; k++) {
        const int32_t g = l->in_group[k], i = l->in_inst[k];
        if (--l->n_in[g][i] == 0)
            look_at(c, g, i, false);
    }
    return s;
}

/* Tells all neighbours of unknown j that it moved: those that sleep are woken. */
static void tell(const ckt *c, int32_t j)
{
    ckt_latent *l = c->latent;
    l->is_asked[j] = 0;
    l->n_asked[ckt_cell_of(l, j)]--;
    for (int32_t k = c->a.colptr[j - 1]; k < c->a.colptr[j]; k++) {
        const int32_t cell = ckt_cell_of(l, c->a.row[k] + 1);
        if (ckt_cell_awake(l, cell) || l->listed[cell])
            continue;
        l->listed[cell] = 1;
        vec_push(l->woken, cell);
    }
}

static void look_at_moved(const ckt *c, int32_t slot, const double *x, const double *far)
{
    const ckt_latent *l = c->latent;
    for (int32_t at = slot * CKT_CELL; at < (slot + 1) * CKT_CELL; at++) {
        const int32_t i = l->up[at];
        const double d = i > 0 && l->is_asked[i] ? fabs(x[at] - l->told[i]) : 0;
        if (d > far[at] || (d > 0 && d * l->reach[i] > 1))
            tell(c, i);
    }
}

const int32_t *ckt_latent_moved(ckt *c, const double *x, const double *far)
{
    ckt_latent *l = c->latent;
    vec_clear(l->woken);
    for (int32_t slot = 0; slot < l->n_awake; slot++)
        if (l->n_asked[l->cell_at[slot]])
            look_at_moved(c, slot, x, far);
    return l->woken;
}

/* -- loads -- */

static void scatter_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    ckt *c = j->c;
    ckt_latent *l = c->latent;
    const range r = places_of(j, part);
    (void)worker;
    for (int32_t at = r.begin; at < r.end; at++) {
        const int32_t i = l->up[at];
        if (i < 0)
            continue;
        c->x[i] = j->x[at];
        l->weight[i] = j->weight ? j->weight[at] : 0;
        c->qlo[i] = l->fmax[i] = l->qmax[i] = 0;
    }
}

ckt_load_sums ckt_latent_scatter(ckt *c, const double *x, const double *weight)
{
    ckt_latent *l = c->latent;
    job j = {.c = c, .x = x, .weight = weight};
    run(&j, scatter_part);
    return (ckt_load_sums){l->f, l->q, l->fmax, l->qmax, l->weight};
}

/* Latent cells with a device that the last selection evaluated. */
static void touch_cells(const ckt *c)
{
    ckt_latent *l = c->latent;
    for (size_t gi = 0; vec_len(l->hubs.hub) && gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        const dev_form *f = &g->form[MDL_APART];
        for (int32_t k = 0; g->lin && k < g->lin->n_item; k++) {
            const int32_t code = g->lin->item[k];
            const size_t i = (size_t)(g->first[code / g->lanes] + code % g->lanes);
            for (int32_t u = 0; l->n_in[gi][i] < l->n_of[gi][i] && u < f->n_u; u++) {
                const int32_t cell = ckt_cell_of(l, f->map[i * (size_t)f->n_u + (size_t)u]);
                if (!ckt_cell_awake(l, cell))
                    bits_set(l->is_stale, (size_t)cell);
            }
        }
    }
}

/* Entries [begin, end) of the column of unknown j, for all rows. Sums of latent rows are made anew
 * when they wake. The matrix gets the entries of awake rows only (`all`: they are all awake): all
 * entries of a latent row must belong to one alpha, or a neighbour would seem to move it by the
 * ratio of two alphas. */
static inline __attribute__((always_inline)) void
multiply_column(const ckt *c, const dev_lin_sums *s, const dev_lin_at *at, int32_t j, int32_t begin,
                int32_t end, const bool all)
{
    two *restrict fq = c->latent->fq;
    double *restrict val = c->a.val;
    const double *pairs = ckt_pairs_sums(c);
    const int32_t *row = c->a.row;
    const uint8_t *awake = c->latent->row_awake;
    const two x = {at->x[j], at->x[j]};
    for (int32_t k = begin; k < end; k++) {
        const two gc = ((const two *)s->gc)[k], sum = ckt_slopes_at(s->gc, pairs, k);
        fq[row[k] + 1] += gc * x;
        if (all || awake[row[k] + 1])
            val[k] = sum[0] + at->alpha * sum[1];
    }
}

/* The column of unknown j as R and C have it, which are most of its entries. */
static inline void set_column(const ckt *c, double alpha, int32_t j, bool all)
{
    double *restrict val = c->a.val;
    const double *pairs = ckt_pairs_sums(c);
    const uint8_t *awake = c->latent->row_awake;
    for (int32_t k = c->a.colptr[j - 1]; k < c->a.colptr[j]; k++)
        if (all || awake[c->a.row[k] + 1])
            val[k] = pairs ? pairs[2 * k] + alpha * pairs[2 * k + 1] : 0;
}

/* Its held entries [begin, end), which are written again. */
static inline __attribute__((always_inline)) void multiply_held(const ckt *c, const dev_lin_sums *s,
                                                                const dev_lin_at *at, int32_t j,
                                                                int32_t begin, int32_t end,
                                                                const bool all)
{
    two *restrict fq = c->latent->fq;
    double *restrict val = c->a.val;
    const double *pairs = ckt_pairs_sums(c);
    const int32_t *place;
    const csc *held = ckt_bypass_held(c, &place);
    const uint8_t *awake = c->latent->row_awake;
    const two x = {at->x[j], at->x[j]};
    for (int32_t k = begin; k < end; k++) {
        const int32_t p = place[k], i = held->row[k] + 1;
        const two sum = ckt_slopes_at(s->gc, pairs, p);
        fq[i] += ((const two *)s->gc)[p] * x;
        if (all || awake[i])
            val[p] = sum[0] + at->alpha * sum[1];
    }
}

/* Is every row with an entry in the cell's columns awake? */
static bool all_near(const ckt_latent *l, int32_t cell)
{
    return l->near[cell] == l->near_all[cell];
}

static void set_cell(const ckt *c, double alpha, int32_t cell)
{
    const ckt_latent *l = c->latent;
    const int32_t *unknown = &l->at_seat[cell * CKT_CELL];
    for (int32_t k = 0; k < CKT_CELL; k++)
        if (unknown[k] > 0 && !l->hubs.is[unknown[k]])
            set_column(c, alpha, unknown[k], all_near(l, cell));
}

/* The same in a part of the rows; part -1: in all. */
static inline __attribute__((always_inline)) void multiply_in_part(const ckt *c,
                                                                   const dev_lin_sums *s,
                                                                   const dev_lin_at *at, int32_t j,
                                                                   int32_t part, const bool all)
{
    const int32_t *place;
    const csc *held = ckt_bypass_held(c, &place);
    if (part < 0) {
        multiply_held(c, s, at, j, held->colptr[j - 1], held->colptr[j], all);
        return;
    }
    const csc_piece *piece = ckt_bypass_held_rows(c)->piece;
    const int32_t *first = c->latent->piece_at[part];
    for (int32_t p = first[j - 1]; p < first[j]; p++)
        multiply_held(c, s, at, j, piece[p].from, piece[p].end, all);
}

static void multiply_cell(const ckt *c, const dev_lin_sums *s, const dev_lin_at *at, int32_t cell,
                          int32_t part)
{
    ckt_latent *l = c->latent;
    const int32_t *unknown = &l->at_seat[cell * CKT_CELL];
    const bool all = all_near(l, cell);
    ckt_hubs_clear(&l->hubs, cell, c->rows, part, l->fq);
    for (int32_t k = 0; k < CKT_CELL; k++) {
        const int32_t j = unknown[k];
        if (j > 0 && !l->hubs.is[j] && all)
            multiply_in_part(c, s, at, j, part, true);
        else if (j > 0 && !l->hubs.is[j])
            multiply_in_part(c, s, at, j, part, false);
    }
    ckt_hubs_take(&l->hubs, cell, c->rows, part, l->fq);
}

void ckt_latent_multiply(const ckt *c, const dev_lin_sums *s, const dev_lin_at *at, int32_t cell)
{
    set_cell(c, at->alpha, cell);
    multiply_cell(c, s, at, cell, -1);
}

/* Cells whose columns are multiplied, by words of 64: those with an entry in an awake row, and
 * stale ones. */
static uint64_t cells_in(const ckt_latent *l, int32_t word)
{
    const int32_t left = l->n_cell - word * 64;
    const uint64_t there = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
    return (l->is_near[word] | l->is_stale[word]) & there;
}

/* Rows begin with their constant terms; columns with R and C. */
static void begin_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt_latent *l = j->c->latent;
    const dev_lin_sums *s = j->sums;
    const range r = places_of(j, part), words = part_of(j, (l->n_cell + 63) / 64, part);
    (void)worker;
    for (int32_t k = r.begin; k < r.end; k++)
        if (l->up[k] > 0)
            l->fq[l->up[k]] = (two){s->i[l->up[k]], s->q[l->up[k]]};
    for (int32_t w = words.begin; w < words.end; w++)
        for (uint64_t cells = cells_in(l, w); cells; cells &= cells - 1)
            set_cell(j->c, j->at->alpha, w * 64 + __builtin_ctzll(cells));
}

/* In the order of seats, the rows of a part; -1: all. */
static void multiply_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt_latent *l = j->c->latent;
    (void)worker;
    for (int32_t w = 0; w * 64 < l->n_cell; w++)
        for (uint64_t cells = cells_in(l, w); cells; cells &= cells - 1)
            multiply_cell(j->c, j->sums, j->at, w * 64 + __builtin_ctzll(cells), part);
}

static void multiply_cells(job *j)
{
    const ckt *c = j->c;
    if (is_shared(c))
        pool_run_each(c->pool, POOL_STAMP, c->rows->n_part, multiply_part, j);
    else
        multiply_part(j, -1, 0);
    memset(c->latent->is_stale, 0, bits_words(c->latent->n_cell) * sizeof(uint64_t));
}

static void sum_hub_rows(const ckt *c, const dev_lin_sums *s)
{
    ckt_latent *l = c->latent;
    for (size_t h = 0; h < vec_len(l->hubs.hub); h++) {
        const int32_t i = l->hubs.hub[h].unknown;
        l->fq[i] = ckt_hubs_row(&l->hubs, &l->hubs.hub[h], (two){s->i[i], s->q[i]});
    }
}

/* The columns of hubs in the rows of a cell. */
static void sum_hub_columns(const job *j, int32_t cell)
{
    const ckt_hubs *h = &j->c->latent->hubs;
    for (int32_t k = h->runs.at[cell]; k < h->runs.at[cell + 1]; k++) {
        const ckt_hub_run *r = &h->run[h->runs.which[k]];
        multiply_column(j->c, j->sums, j->at, r->hub, r->begin, r->end, true);
    }
}

/* What is left of the rows of awake cells: columns of hubs. Then the sums are whole. */
static void end_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt_latent *l = j->c->latent;
    const range r = part_of(j, l->n_awake, part);
    (void)worker;
    for (int32_t slot = r.begin; slot < r.end; slot++) {
        sum_hub_columns(j, l->cell_at[slot]);
        for (int32_t k = slot * CKT_CELL; k < (slot + 1) * CKT_CELL; k++)
            if (l->up[k] > 0) {
                const two sum = l->fq[l->up[k]];
                l->f[l->up[k]] = sum[0];
                l->q[l->up[k]] = sum[1];
            }
    }
}

void ckt_latent_sum(ckt *c, const dev_lin_at *at, bool fresh)
{
    const ckt_latent *l = c->latent;
    job j = {.c = c, .sums = ckt_bypass_sums(c), .at = at};
    touch_cells(c);
    if (fresh)
        memset(l->is_stale, 0xff, bits_words(l->n_cell) * sizeof *l->is_stale);
    if (l->region) {
        ckt_region_sum(c, at);
        return;
    }
    run(&j, begin_part);
    multiply_cells(&j);
    sum_hub_rows(c, j.sums);
    run(&j, end_part);
}

/* -- sums made anew -- */

/* The sums of a cell's unknowns: their rows, their columns, and the entries of their rows in pinned
 * columns. */
static void clear_sums(const ckt *c, int32_t cell, const dev_lin_sums *s)
{
    const ckt_latent *l = c->latent;
    two *gc = (two *)s->gc;
    for (int32_t at = cell * CKT_CELL; at < (cell + 1) * CKT_CELL; at++) {
        const int32_t i = l->at_seat[at];
        if (i <= 0)
            continue;
        s->i[i] = s->q[i] = 0;
        for (int32_t k = c->a.colptr[i - 1]; k < c->a.colptr[i]; k++)
            gc[k] = (two){0};
        for (int32_t k = ckt_row_begin(l, i); k < ckt_row_end(l, i); k++)
            if (ckt_cell_of(l, l->col[k]) < l->n_pinned)
                gc[l->place[k]] = (two){0};
    }
}

/* In the order of instances, as dev_lin_add_all has it. */
static void renew_cell(const ckt *c, int32_t cell, const dev_lin_sums *s)
{
    const ckt_latent *l = c->latent;
    const dev_lin_seats at = {l->seat, l->n_pinned * CKT_CELL, cell * CKT_CELL,
                              (cell + 1) * CKT_CELL};
    clear_sums(c, cell, s);
    for (int32_t k = l->in_at[cell]; k < l->in_at[cell + 1]; k++)
        if (l->in_group[k] < (int32_t)vec_len(c->group)) /* no pair */
            dev_lin_add_at(&c->group[l->in_group[k]], l->in_inst[k], &at, s);
}

/* Marks the cells of an instance; returns how many were not. */
static int32_t mark_cells(const ckt_latent *l, const dev_form *f, int32_t i, uint64_t *mark)
{
    int32_t cell[MOST_CELLS], n = 0;
    for (int32_t k = cells_of(l, f, i, cell, MOST_CELLS) - 1; k >= 0; k--) {
        n += !bits_get(mark, (size_t)cell[k]);
        bits_set(mark, (size_t)cell[k]);
    }
    return n;
}

/* Marks the cells of devices that were evaluated; returns how many there are. */
static int32_t mark_worn(const ckt *c, uint64_t *is_worn)
{
    int32_t n = 0;
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        for (int32_t i = 0; g->lin && i < g->nb; i++)
            if (g->lin->is_worn[i])
                n += mark_cells(c->latent, &g->form[MDL_APART], i, is_worn);
    }
    return n;
}

bool ckt_latent_renew(ckt *c, const dev_lin_sums *s)
{
    ckt_latent *l = c->latent;
    uint64_t *is_worn = vs_calloc(bits_words(l->n_cell), sizeof *is_worn);
    const bool few = 2 * mark_worn(c, is_worn) < l->n_cell;
    for (int32_t cell = l->n_pinned; few && cell < l->n_cell; cell++)
        if (bits_get(is_worn, (size_t)cell)) {
            renew_cell(c, cell, s);
            bits_set(l->is_stale, (size_t)cell);
        }
    for (size_t gi = 0; few && gi < vec_len(c->group); gi++)
        if (c->group[gi].lin)
            dev_lin_renewed(&c->group[gi]);
    vs_free(is_worn);
    return few;
}

/* -- pairs -- */

static void pairs_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt_latent *l = j->c->latent;
    (void)worker;
    ckt_pairs_load_part(j->c, part, j->x, l->f, l->q, l->fmax, l->qmax);
}

void ckt_latent_pairs(ckt *c, const double *x)
{
    const ckt_latent *l = c->latent;
    job j = {.c = c, .x = x};
    if (is_shared(c))
        pool_run_each(c->pool, POOL_STAMP, c->rows->n_part, pairs_part, &j);
    else
        ckt_pairs_load(c, x, l->f, l->q, l->fmax, l->qmax);
}

static void gather_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt_latent *l = j->c->latent;
    const range r = places_of(j, part);
    (void)worker;
    for (int32_t at = r.begin; at < r.end; at++) {
        const int32_t i = l->up[at];
        const bool any = i > 0;
        j->f[at] = any ? l->f[i] : 0;
        j->q[at] = any ? l->q[i] : 0;
        l->rest[at] = any ? j->c->qlo[i] : 0;
        j->fmax[at] = any ? l->fmax[i] : 0;
        j->qmax[at] = any ? l->qmax[i] : 0;
    }
}

void ckt_latent_gather(ckt *c, double *f, double *q, double *fmax_, double *qmax)
{
    job j = {.c = c, .f = f, .q = q, .fmax = fmax_, .qmax = qmax};
    if (c->latent->region)
        ckt_region_take(c);
    run(&j, gather_part);
}

void ckt_latent_source_terms(ckt *c, const ckt_env *env, double *to)
{
    const ckt_latent *l = c->latent;
    double *s = l->fmax; /* free between loads */
    for (int32_t at = 0; at < l->n_pinned * CKT_CELL; at++)
        if (l->at_seat[at] >= 0)
            s[l->at_seat[at]] = 0;
    nat_terms(&c->nat, env, s);
    for (int32_t at = 0; at < l->n_pinned * CKT_CELL; at++)
        to[at] = l->at_seat[at] > 0 ? s[l->at_seat[at]] : 0;
}

/* -- products -- */

static void subtract_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt *c = j->c;
    const ckt_latent *l = c->latent;
    const range r = places_of(j, part);
    const int32_t awake = l->n_awake * CKT_CELL; /* their places come first */
    const double *v = j->v[0], *v2 = j->v[1];
    (void)worker;
    for (int32_t at = r.begin; at < r.end; at++) {
        const int32_t i = l->up[at];
        double sum = 0, sum2 = 0;
        for (int32_t k = ckt_row_begin(l, i > 0 ? i : 1); i > 0 && k < ckt_row_end(l, i); k++) {
            const int32_t from = l->place_of[l->col[k]];
            if (from >= awake)
                continue;
            sum += c->a.val[l->place[k]] * v[from];
            sum2 += c->a.val[l->place[k]] * v2[from];
        }
        j->r[0][at] -= sum;
        j->r[1][at] -= sum2;
    }
}

void ckt_latent_subtract(ckt *c, const double *const v[2], double *const r[2])
{
    job j = {.c = c, .v = v, .r = r};
    if (!c->latent->region) {
        run(&j, subtract_part);
        return;
    }
    for (int i = 0; i < 2; i++)
        ckt_region_subtract(c, v[i], r[i]);
}

static void size_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt *c = j->c;
    const ckt_latent *l = c->latent;
    const range r = places_of(j, part);
    (void)worker;
    for (int32_t at = r.begin; at < r.end; at++) {
        const int32_t i = l->up[at];
        double sum = 0;
        for (int32_t k = ckt_row_begin(l, i > 0 ? i : 1); i > 0 && k < ckt_row_end(l, i); k++) {
            const int32_t u = l->col[k];
            const bool awake = ckt_cell_awake(l, ckt_cell_of(l, u));
            const double xu = fabs(awake ? j->x[l->place_of[u]] : c->x[u]);
            const bool volt = c->unknown[u].kind == CKT_VOLTAGE;
            sum += fabs(c->a.val[l->place[k]]) * (volt && xu < j->least ? j->least : xu);
        }
        j->size[at] = sum;
    }
}

void ckt_latent_sizes(ckt *c, const double *x, double least, double *size)
{
    job j = {.c = c, .x = x, .least = least, .size = size};
    if (c->latent->region)
        ckt_region_store(c);
    run(&j, size_part);
}
