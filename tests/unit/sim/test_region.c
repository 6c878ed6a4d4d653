/* Tests of ckt_region.c: a load in which the cells that are awake are a region of their own gives
 * what the same load gives without one. A chain of elements i = G v^3, q = C v^2 whose nodes also
 * hang on a supply (more of them than ckt_hubs.c asks for) and, by resistors, on a source of their
 * own; its far end sleeps. */
#include <math.h>

#include "../suite.h"
#include "ckt_latent_priv.h"
#include "tran_deck.h"

enum { N = 400, AWAKE = 6 }; /* nodes; cells that stay awake besides pinned ones */
enum { APART = 40 };         /* nodes that no chain has */
#define ALPHA 1e9

static tran_deck built;
static ckt *c;
static double *start, *x, *weight, *sum[4]; /* sum: f, q, fmax, qmax */
static double **const vectors[] = {&start, &x, &weight, &sum[0], &sum[1], &sum[2], &sum[3]};

static void write_deck(FILE *deck)
{
    fprintf(deck, "deck\n.option bypass=1\n.tran 1n 10n\nvdd vdd 0 1\nvin in 0 0.5\n");
    for (int k = 0; k < N; k++) {
        fprintf(deck, "b%d n%d n%d i={1e-3*v(n%d,n%d)**3 + ddt(1e-12*v(n%d,n%d)**2)}\n", k, k,
                (k + 1) % N, k, (k + 1) % N, k, (k + 1) % N);
        fprintf(deck, "bs%d vdd n%d i={1e-4*v(vdd,n%d)**3 + ddt(1e-13*v(vdd,n%d)**2)}\n", k, k, k,
                k);
        if (k % 50 == 0)
            fprintf(deck, "r%d in n%d 1k\nc%d n%d 0 1p\n", k, k, k, k);
    }
    for (int k = 0; k < APART; k++) /* joined with the rest by the supply alone */
        fprintf(deck, "ba%d a%d vdd i={1e-3*v(a%d,a%d)**3 + ddt(1e-12*v(a%d,vdd)**2)}\n", k, k, k,
                (k + 1) % APART, k);
    fprintf(deck, ".end\n");
}

static int32_t n_slots(void) { return ckt_latent_n_cell(c) * CKT_CELL; }

/* The unknown at a place, 0: none. */
static int32_t unknown_at(int32_t place)
{
    const int32_t cell = ckt_latent_cells(c)[place / CKT_CELL];
    const int32_t i = ckt_latent_unknowns(c)[cell * CKT_CELL + place % CKT_CELL];
    return i > 0 ? i : 0;
}

static void load(void)
{
    const ckt_env env = tran_deck_env(weight, ALPHA);
    bool limited;
    ck_assert_int_eq(ckt_load(c, &env, x, sum[0], sum[1], sum[2], sum[3], &limited), VS_OK);
}

/* Unknowns that are awake move, each by another distance. */
static void move(double far)
{
    for (int32_t p = ckt_latent_n_pinned(c) * CKT_CELL; p < ckt_latent_n_awake(c) * CKT_CELL; p++)
        if (unknown_at(p))
            x[p] += far * (1 + unknown_at(p) % 7);
}

static void fall_asleep(void)
{
    double tol[CKT_CELL];
    for (int k = 0; k < CKT_CELL; k++)
        tol[k] = 1e-6;
    for (int32_t k = ckt_latent_n_cell(c) - 1; k >= ckt_latent_n_pinned(c) + AWAKE; k--)
        (void)ckt_latent_sleep(c, k, x + (size_t)k * CKT_CELL, tol);
}

static void setup(void)
{
    c = tran_deck_init(&built, write_deck);
    const size_t room = (size_t)CKT_SEATS(ckt_n(c)) + CKT_PADDING;
    tran_deck_vectors(vectors, VS_COUNT(vectors), room);
    for (int32_t i = 1; i <= ckt_n(c); i++)
        start[i] = 0.5 + 0.3 * sin(i);
    ck_assert(ckt_latent_begin(c, start));
    for (int32_t p = 0; p < n_slots(); p++) {
        x[p] = start[unknown_at(p)];
        weight[p] = unknown_at(p) ? 1e6 : 0;
    }
    load();
    fall_asleep();
    move(1e-3);
    load();
}

static void teardown(void)
{
    tran_deck_free_vectors(vectors, VS_COUNT(vectors));
    ckt_latent_end(c);
    tran_deck_fini(&built);
}

/* Sums of some hundred terms of at most 1 (the largest are sources' rows and alpha C), in another
 * order. */
static void check_close(double a, double b)
{
    ck_assert_double_le(fabs(a - b), 1e-13 * (1 + fabs(a)));
}

/* Every entry of the region's matrix is that of the circuit's; there are all in rows that are
 * awake, of columns that are. */
static void check_matrix(const csc *of)
{
    const csc *all = ckt_pattern(c);
    int32_t seen = 0, there = 0;
    for (int32_t p = 1; p <= of->n; p++)
        for (int32_t k = of->colptr[p - 1]; k < of->colptr[p]; k++) {
            const int32_t j = unknown_at(p), i = unknown_at(of->row[k] + 1);
            if (!j) {
                ck_assert_int_eq(of->row[k], p - 1);
                ck_assert_double_eq(of->val[k], 1);
                continue;
            }
            const int32_t at = csc_find(all, i - 1, j - 1);
            ck_assert_int_ge(at, 0);
            check_close(of->val[k], all->val[at]);
            seen++;
        }
    for (int32_t p = 1; p <= of->n; p++)
        for (int32_t o = 1; o <= of->n; o++)
            if (unknown_at(p) && unknown_at(o))
                there += csc_find(all, unknown_at(o) - 1, unknown_at(p) - 1) >= 0;
    ck_assert_int_eq(seen, there);
}

static double *copy_of(const double *v, int32_t n)
{
    double *to = calloc((size_t)n, sizeof *to);
    for (int32_t i = 0; i < n; i++)
        to[i] = v[i];
    return to;
}

START_TEST(it_begins_with_the_values_of_the_last_load)
{
    const csc *m = ckt_region_begin(c);
    ck_assert_int_eq(m->n, ckt_latent_n_awake(c) * CKT_CELL - 1);
    ck_assert_int_lt(ckt_latent_n_awake(c), ckt_latent_n_cell(c));
    check_matrix(m);
    ckt_region_end(c);
}
END_TEST

START_TEST(its_loads_are_those_without_it)
{
    for (int round = 0; round < 3; round++) {
        const csc *m = ckt_region_begin(c);
        move(round == 1 ? 1e-4 : 3e-2); /* some are extrapolated; all are evaluated */
        load();
        const int32_t n = m->n + 1, nnz = csc_nnz(m);
        double *val = copy_of(m->val, nnz), *f = copy_of(sum[0], n), *q = copy_of(sum[1], n);
        ckt_region_end(c);
        load();
        const csc *again = ckt_region_begin(c);
        ck_assert_int_eq(csc_nnz(again), nnz);
        for (int32_t k = 0; k < nnz; k++)
            check_close(val[k], again->val[k]);
        for (int32_t p = 0; p < n; p++) {
            check_close(f[p], sum[0][p]);
            check_close(q[p] * ALPHA, sum[1][p] * ALPHA);
        }
        ckt_region_end(c);
        free(val);
        free(f);
        free(q);
    }
}
END_TEST

START_TEST(its_products_are_those_without_it)
{
    const int32_t n = ckt_latent_n_awake(c) * CKT_CELL;
    double *v[2], *r[2], *own[2];
    for (int i = 0; i < 2; i++) {
        v[i] = copy_of(x, n);
        r[i] = calloc((size_t)n, sizeof *r[i]);
        own[i] = calloc((size_t)n, sizeof *own[i]);
        v[i][0] = 0;
    }
    for (int32_t p = 0; p < n; p++)
        v[1][p] *= -0.5;
    ckt_latent_subtract(c, (const double *[]){v[0], v[1]}, r);
    (void)ckt_region_begin(c);
    ckt_latent_subtract(c, (const double *[]){v[0], v[1]}, own);
    ckt_region_end(c);
    double most = 0;
    for (int32_t p = 1; p < n; p++) {
        if (!unknown_at(p))
            continue;
        check_close(r[0][p], own[0][p]);
        check_close(r[1][p], own[1][p]);
        ck_assert_double_eq(r[1][p], -0.5 * r[0][p]);
        most = fmax(most, fabs(r[0][p]));
    }
    ck_assert_double_gt(most, 0);
    for (int i = 0; i < 2; i++) {
        free(v[i]);
        free(r[i]);
        free(own[i]);
    }
}
END_TEST

START_TEST(who_moves_beside_it_is_told_once)
{
    double *far = calloc((size_t)n_slots(), sizeof *far);
    for (int32_t p = 0; p < n_slots(); p++)
        far[p] = 1e-3;
    (void)ckt_region_begin(c);
    const int32_t *woken = ckt_latent_moved(c, x, far); /* by the move of setup, 1000 tolerances */
    ck_assert_int_gt(vec_len(woken), 0);
    woken = ckt_latent_moved(c, x, far);
    ck_assert_int_eq(vec_len(woken), 0);
    ckt_region_end(c);
    free(far);
}
END_TEST

START_TEST(parts_that_only_a_supply_joins_are_told_apart)
{
    uint8_t *mark = calloc((size_t)ckt_n(c) + 1, 1);
    const int32_t one = ckt_find(c, "a7");
    ck_assert_int_gt(one, 0);
    ck_assert_int_eq(ckt_latent_parts(c, mark), ckt_n(c) - APART); /* all of the chain, sources */
    for (int k = 0; k < APART; k++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", k);
        ck_assert(!mark[ckt_find(c, name)]);
    }
    ck_assert(mark[ckt_find(c, "vdd")] && mark[ckt_find(c, "n399")]);
    mark[one] = 1;
    ck_assert_int_eq(ckt_latent_parts(c, mark), ckt_n(c));
    free(mark);
}
END_TEST

/* -- sums made anew where they may have changed -- */

static dev_lin_sums room_for_sums(void)
{
    const size_t n1 = (size_t)ckt_n(c) + 1, nv = (size_t)csc_nnz(ckt_pattern(c)) + 1;
    return (dev_lin_sums){.gc = calloc(2 * nv, sizeof(double)),
                          .i = calloc(n1, sizeof(double)),
                          .q = calloc(n1, sizeof(double))};
}

static void free_sums(dev_lin_sums s)
{
    free(s.gc);
    free(s.i);
    free(s.q);
}

static bool is_pinned(int32_t unknown)
{
    return ckt_latent_seats(c)[unknown] < ckt_latent_n_pinned(c) * CKT_CELL;
}

/* Rows of pinned unknowns, and their entries there, have roundings of all loads; all others are the
 * same bits. Returns how many values there are that are not 0. */
static int check_sums(const dev_lin_sums *a, const dev_lin_sums *b)
{
    const csc *m = ckt_pattern(c);
    int n = 0;
    for (int32_t i = 1; i <= ckt_n(c); i++) {
        const bool pinned = is_pinned(i);
        for (int32_t k = m->colptr[i - 1]; k < m->colptr[i]; k++)
            for (int part = 0; part < 2; part++) {
                if (pinned && is_pinned(m->row[k] + 1))
                    check_close(a->gc[2 * k + part], b->gc[2 * k + part]);
                else
                    ck_assert_double_eq(a->gc[2 * k + part], b->gc[2 * k + part]);
                n += b->gc[2 * k + part] != 0;
            }
        if (pinned) {
            check_close(a->i[i], b->i[i]);
            check_close(a->q[i], b->q[i]);
            continue;
        }
        ck_assert_double_eq(a->i[i], b->i[i]);
        ck_assert_double_eq(a->q[i], b->q[i]);
        n += b->i[i] != 0;
    }
    return n;
}

/* An unknown that is awake and not pinned. */
static int32_t one_awake(void)
{
    const int32_t i = unknown_at(ckt_latent_n_pinned(c) * CKT_CELL + 1);
    ck_assert_int_gt(i, 0);
    return i;
}

/* Adds `by` to its sums. */
static void damage(const dev_lin_sums *s, double by)
{
    const int32_t i = one_awake();
    const csc *m = ckt_pattern(c);
    s->i[i] += by;
    s->q[i] += by;
    for (int32_t k = m->colptr[i - 1]; k < m->colptr[i]; k++)
        s->gc[2 * k] += by;
}

static dev_lin_sums sums_of_all(void)
{
    const dev_lin_sums anew = room_for_sums();
    for (size_t g = 0; g < vec_len(c->group); g++)
        if (c->group[g].lin)
            dev_lin_add_all(&c->group[g], &anew);
    return anew;
}

START_TEST(worn_sums_become_those_of_all_instances)
{
    const dev_lin_sums *held = ckt_bypass_sums(c);
    for (int k = 0; k < 20; k++) {
        move(k % 3 == 0 ? -1e-3 : 1e-3);
        load();
    }
    damage(held, 1);
    ck_assert(ckt_latent_renew(c, held));
    const double right = held->i[one_awake()];
    damage(held, 1);
    ck_assert(ckt_latent_renew(c, held)); /* nothing is worn: nothing is made anew */
    ck_assert_double_eq(held->i[one_awake()], right + 1);
    move(1e-3);
    load(); /* its cells are worn again */
    ck_assert(ckt_latent_renew(c, held));
    const dev_lin_sums anew = sums_of_all();
    ck_assert_int_gt(check_sums(held, &anew), N);
    free_sums(anew);
}
END_TEST

START_TEST(where_most_are_worn_all_are_made_anew)
{
    while (ckt_latent_n_awake(c) < ckt_latent_n_cell(c))
        (void)ckt_latent_wake(c, ckt_latent_cells(c)[ckt_latent_n_awake(c)]);
    move(1e-2);
    load();
    ck_assert(!ckt_latent_renew(c, ckt_bypass_sums(c)));
}
END_TEST

START_TEST(loads_renew_worn_sums_in_time)
{
    damage(ckt_bypass_sums(c), 1);
    for (int k = 0; k <= DEV_LIN_EVERY; k++) {
        move(k & 1 ? -1e-3 : 1e-3);
        load();
    }
    const dev_lin_sums anew = sums_of_all();
    check_close(ckt_bypass_sums(c)->i[one_awake()], anew.i[one_awake()]);
    free_sums(anew);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("region");
    TCase *t = tcase_create("region");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, it_begins_with_the_values_of_the_last_load);
    tcase_add_test(t, its_loads_are_those_without_it);
    tcase_add_test(t, its_products_are_those_without_it);
    tcase_add_test(t, who_moves_beside_it_is_told_once);
    tcase_add_test(t, parts_that_only_a_supply_joins_are_told_apart);
    tcase_add_test(t, worn_sums_become_those_of_all_instances);
    tcase_add_test(t, where_most_are_worn_all_are_made_anew);
    tcase_add_test(t, loads_renew_worn_sums_in_time);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
