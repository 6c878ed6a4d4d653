/* dev_homes.c - groups with linearisations that several threads share, each of which keeps its
 * instances: it evaluates them and adds what that changed. Sums that instances of one thread alone
 * have, it adds to at once, in the order of instances, as one thread does with all. Changes of sums
 * in common (supplies, what lies between two parts of a circuit) are kept until all are evaluated,
 * and then added in that order. So each sum has the bits of one thread. */
#include "dev_lin_priv.h"

typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

/* Whose a sum is: home + 1. */
enum { NOBODYS = 0, IN_COMMON = -1 };

/* What a group adds to: rows of currents, rows of charges, matrix entries. */
typedef struct sums {
    int32_t n_row, n_place;
    int32_t *owner; /* [2 n_row + n_place] */
} sums;

/* Where entry k of `add` goes: a row for currents and charges, else a place of the matrix. */
static inline int32_t target(const dev_group *g, int32_t inst, int32_t k)
{
    const dev_form *f = &g->form[MDL_TRAN];
    return f->slot[(size_t)inst * (size_t)f->n_out + (size_t)g->lin->add[k]];
}

static inline int32_t *owner_of(const dev_group *g, const sums *s, int32_t inst, int32_t k)
{
    const int32_t to = target(g, inst, k), *n_add = g->lin->n_add;
    return &s->owner[k < n_add[0] ? to : k < n_add[1] ? s->n_row + to : 2 * s->n_row + to];
}

/* Whether somebody reads the sum: not the reference's row, nor what is behind the matrix. */
static inline bool is_read(const dev_group *g, const sums *s, int32_t inst, int32_t k)
{
    return target(g, inst, k) != (k < g->lin->n_add[1] ? 0 : s->n_place - 1);
}

/* -- who is at home where -- */

/* The home of most rows of a pack's instances. count [n_home]: work */
static int32_t home_of_pack(const dev_group *g, int32_t p, const int32_t *part, int n_home,
                            int32_t *count)
{
    int32_t best = 0;
    memset(count, 0, (size_t)n_home * sizeof *count);
    for (int32_t i = g->first[p]; i < g->first[p + 1]; i++)
        for (int32_t k = 0; k < g->lin->n_add[0]; k++)
            if (target(g, i, k))
                count[part[target(g, i, k)]]++;
    for (int w = 1; w < n_home; w++)
        best = count[w] > count[best] ? w : best;
    return best;
}

/* Packs side by side of one home are a run. Returns how many there are; run NULL: counts. */
static int32_t list_runs(const dev_lin_homes *h, const int32_t *home, int32_t n_pack,
                         dev_lin_packs *run)
{
    int32_t n = 0;
    for (int w = 0; w < h->n_home; w++) {
        h->at[w] = n;
        for (int32_t p = 0, end; p < n_pack; p = end) {
            for (end = p + 1; end < n_pack && home[end] == home[p];)
                end++;
            if (home[p] != w)
                continue;
            if (run)
                run[n] = (dev_lin_packs){p, end};
            n++;
        }
    }
    return h->at[h->n_home] = n;
}

static void find_owners(const dev_group *g, const int32_t *home, sums *s)
{
    s->owner = vs_calloc(2 * (size_t)s->n_row + (size_t)s->n_place, sizeof *s->owner);
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = g->first[p]; i < g->first[p + 1]; i++)
            for (int32_t k = 0; k < g->lin->n_add[2]; k++) {
                int32_t *owner = owner_of(g, s, i, k);
                *owner = *owner == NOBODYS || *owner == home[p] + 1 ? home[p] + 1 : IN_COMMON;
            }
}

/* Whether entries of less than one of MOST_COMMON are in common: one thread adds to these. */
static bool few_in_common(const dev_group *g, const sums *s)
{
    enum { MOST_COMMON = 8 };
    const int32_t n = g->lin->n_add[2];
    const size_t most = (size_t)g->nb * (size_t)n / MOST_COMMON;
    size_t n_late = 0;
    for (int32_t i = 0; i < g->nb && n_late <= most; i++)
        for (int32_t k = 0; k < n; k++)
            n_late += is_read(g, s, i, k) && *owner_of(g, s, i, k) == IN_COMMON;
    return n_late <= most;
}

/* Where an instance of home w adds at once; lists what it does not. Of the elements that nobody
 * reads each home has its own, for threads that write the same line of the cache wait. */
static void place(const dev_group *g, dev_lin_homes *h, const sums *s, int32_t inst, int32_t w,
                  dev_lin_late **late)
{
    const int32_t n = g->lin->n_add[2], nowhere = DEV_LIN_NOWHERE * w;
    int32_t *to = &h->to[(size_t)inst * (size_t)n];
    for (int32_t k = 0; k < n; k++) {
        const bool read = is_read(g, s, inst, k), own = read && *owner_of(g, s, inst, k) > NOBODYS;
        to[k] = own ? target(g, inst, k) : nowhere + (k < g->lin->n_add[1] ? s->n_row : s->n_place);
        if (read && !own)
            vec_push(*late, ((dev_lin_late){k, target(g, inst, k)}));
    }
    h->late_at[inst + 1] = (int32_t)vec_len(*late);
}

static dev_lin_homes *place_all(const dev_group *g, const int32_t *home, const sums *s, int n_home)
{
    dev_lin_homes *h = vs_calloc(1, sizeof *h);
    dev_lin_late *late = NULL; /* vec */
    *h = (dev_lin_homes){.n_home = n_home,
                         .n_row = s->n_row,
                         .at = vs_calloc((size_t)n_home + 1, sizeof *h->at),
                         .begin = vs_calloc((size_t)n_home + 1, sizeof *h->begin),
                         .of = vs_malloc((size_t)g->nb * sizeof *h->of),
                         .to = vs_malloc((size_t)g->nb * (size_t)g->lin->n_add[2] * sizeof *h->to),
                         .late_at = vs_calloc((size_t)g->nb + 1, sizeof *h->late_at)};
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = g->first[p]; i < g->first[p + 1]; i++) {
            h->of[i] = home[p];
            place(g, h, s, i, home[p], &late);
        }
    const size_t n_late = vec_len(late);
    h->run = vs_malloc(((size_t)list_runs(h, home, g->n_pack, NULL) + 1) * sizeof *h->run);
    (void)list_runs(h, home, g->n_pack, h->run);
    h->late = vs_malloc((n_late + 1) * sizeof *h->late);
    h->change = vs_calloc(2 * n_late + 2, sizeof *h->change);
    h->waits = vs_calloc((size_t)g->nb + sizeof(uint64_t), sizeof *h->waits);
    if (n_late)
        memcpy(h->late, late, n_late * sizeof *late);
    vec_free(late);
    return h;
}

void dev_homes_find(dev_group *g, int n_home, const int32_t *part, int32_t n_row, int32_t n_place)
{
    enum { LEAST_RUN = 4 }; /* packs: one thread goes from run to run */
    sums s = {.n_row = n_row, .n_place = n_place};
    int32_t *home = vs_malloc(((size_t)g->n_pack + 1) * sizeof *home),
            *count = vs_malloc((size_t)n_home * sizeof *count), n_run = 0;
    for (int32_t p = 0; p < g->n_pack; p++) {
        home[p] = home_of_pack(g, p, part, n_home, count);
        n_run += p == 0 || home[p] != home[p - 1];
    }
    if (n_run * LEAST_RUN <= g->n_pack) {
        find_owners(g, home, &s);
        if (few_in_common(g, &s))
            g->lin->homes = place_all(g, home, &s, n_home);
        vs_free(s.owner);
    }
    vs_free(home);
    vs_free(count);
}

void dev_homes_keep(dev_group *g, arena *mem)
{
    dev_lin_homes *h = g->lin->homes;
    if (!h)
        return;
    const size_t n = (size_t)g->nb, n_home = (size_t)h->n_home + 1;
    const size_t n_late = (size_t)h->late_at[g->nb] + 1, n_run = (size_t)h->at[h->n_home] + 1;
    arena_adopt(mem, h, sizeof *h);
    arena_adopt(mem, h->at, n_home * sizeof *h->at);
    arena_adopt(mem, h->begin, n_home * sizeof *h->begin);
    arena_adopt(mem, h->of, n * sizeof *h->of);
    arena_adopt(mem, h->to, n * (size_t)g->lin->n_add[2] * sizeof *h->to);
    arena_adopt(mem, h->late_at, (n + 1) * sizeof *h->late_at);
    arena_adopt(mem, h->run, n_run * sizeof *h->run);
    arena_adopt(mem, h->late, n_late * sizeof *h->late);
    arena_adopt(mem, h->change, 2 * n_late * sizeof *h->change);
    arena_adopt(mem, h->waits, n + sizeof(uint64_t));
}

/* -- sums -- */

/* of [n_sum]: what the instance changes, as l->sum has it: slopes in twos behind the rest. */
static void add_own(const dev_group *g, int32_t inst, const double *restrict of,
                    const dev_lin_sums *sum)
{
    const dev_lin_homes *h = g->lin->homes;
    const int32_t *n_add = g->lin->n_add, *restrict to = &h->to[(size_t)inst * (size_t)n_add[2]];
    const double *restrict slope = of + n_add[1];
    two *restrict gc = (two *)sum->gc;
    int32_t k = 0;
    for (; k < n_add[0]; k++)
        sum->i[to[k]] += of[k];
    for (; k < n_add[1]; k++)
        sum->q[to[k]] += of[k];
    for (; k < n_add[2]; k++)
        gc[to[k]] += *(const two *)&slope[2 * (k - n_add[1])];
    for (int32_t s = h->late_at[inst]; s < h->late_at[inst + 1]; s++) {
        const int32_t what = h->late[s].k, at = what - n_add[1];
        h->change[2 * s] = at < 0 ? of[what] : slope[2 * at];
        h->change[2 * s + 1] = at < 0 ? 0 : slope[2 * at + 1];
    }
    h->waits[inst] = 1;
}

void dev_homes_add(const dev_group *g, int32_t begin, int32_t end, int buffer,
                   const dev_lin_sums *to)
{
    const struct dev_lin *l = g->lin;
    const double *change = l->buffer[buffer].change;
    for (int32_t i = l->first[begin]; i < l->first[end]; i++, change += l->n_sum)
        add_own(g, dev_lin_instance_of(g, l->item[i]), change, to);
}

static void add_late(const dev_group *g, int32_t inst, const dev_lin_sums *to)
{
    const struct dev_lin *l = g->lin;
    const dev_lin_homes *h = l->homes;
    for (int32_t s = h->late_at[inst]; s < h->late_at[inst + 1]; s++) {
        const dev_lin_late *e = &h->late[s];
        if (e->k < l->n_add[1])
            (e->k < l->n_add[0] ? to->i : to->q)[e->to] += h->change[2 * s];
        else
            ((two *)to->gc)[e->to] += *(const two *)&h->change[2 * s];
    }
}

void dev_homes_end(const dev_group *g, const dev_lin_sums *to)
{
    const dev_lin_homes *h = g->lin->homes;
    for (int32_t i = 0; i < g->nb; i++) {
        uint64_t word; /* most instances did not move */
        memcpy(&word, h->waits + i, sizeof word);
        i += word ? __builtin_ctzll(word) / 8 : (int32_t)sizeof word - 1;
        if (!word)
            continue;
        h->waits[i] = 0;
        if (to)
            add_late(g, i, to);
    }
}

/* -- sizes -- */

/* Outputs [begin, end) of `add` that go to rows of this home alone. What goes elsewhere is raised
 * nowhere: to ask first would be guessed wrong too often. */
static void raise_own(const dev_group *g, int32_t inst, int32_t begin, int32_t end,
                      double *restrict max)
{
    const struct dev_lin *l = g->lin;
    const int32_t n_row = l->homes->n_row, *restrict sum = l->sum,
                  *restrict to = &l->homes->to[(size_t)inst * (size_t)l->n_add[2]];
    const double *restrict held = &l->held[(size_t)inst * (size_t)l->apart->n_out];
    double nowhere = 0;
    for (int32_t k = begin; k < end; k++) {
        double *at = to[k] < n_row ? &max[to[k]] : &nowhere;
        const double v = fabs(held[sum[k]]), old = *at;
        *at = v > old ? v : old;
    }
}

/* What goes to rows in common; the row that nobody reads stays as it is. qmax may be NULL. */
static void raise_late(const dev_group *g, int32_t inst, double *fmax, double *qmax)
{
    const struct dev_lin *l = g->lin;
    const dev_lin_homes *h = l->homes;
    const double *held = &l->held[(size_t)inst * (size_t)l->apart->n_out];
    for (int32_t s = h->late_at[inst]; s < h->late_at[inst + 1]; s++) {
        const dev_lin_late *e = &h->late[s];
        double *max = e->k < l->n_add[0] ? fmax : e->k < l->n_add[1] ? qmax : NULL;
        if (max)
            dev_lin_raise_common(&max[e->to], fabs(held[l->sum[e->k]]));
    }
}

void dev_homes_sizes(const dev_group *g, int home, bool all, double *fmax, double *qmax)
{
    enum { AHEAD = 8 };
    const struct dev_lin *l = g->lin;
    const int32_t n = dev_lin_n_sizes(g, all);
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = all ? k : l->recent[k];
        if (!all && k + AHEAD < n && l->homes->of[l->recent[k + AHEAD]] == home)
            dev_lin_ask_for_instance(g, l->recent[k + AHEAD]);
        if (l->homes->of[i] != home)
            continue;
        raise_own(g, i, 0, l->n_add[0], fmax);
        if (qmax)
            raise_own(g, i, l->n_add[0], l->n_add[1], qmax);
        raise_late(g, i, fmax, qmax);
    }
}
