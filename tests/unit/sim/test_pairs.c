/* Tests of ckt_pairs.c: resistors and capacitors of a large circuit give a load what each of them
 * has by its own formula, whatever stands beside each other, between the same nodes, either way
 * round, or with both ends at one node. */
#include <math.h>

#include "../suite.h"
#include "ckt_priv.h"
#include "tran_deck.h"

enum { N = 300, MOST = 8 * N };
#define ALPHA 1e9

typedef struct part {
    int a, b; /* nodes, -1: ground */
    double y; /* S or F */
    bool charge;
} part;

static tran_deck built;
static ckt *c;
static part list[MOST];
static int n_part;
static int32_t node[N];
static double *x, *f, *q, *fmx, *qmx, *weight;
static double **const vectors[] = {&x, &f, &q, &fmx, &qmx, &weight};

static void write_node(FILE *deck, int k)
{
    if (k < 0)
        fprintf(deck, " 0");
    else
        fprintf(deck, " n%d", k);
}

static void put(FILE *deck, bool charge, int a, int b, double value)
{
    ck_assert_int_lt(n_part, MOST);
    fprintf(deck, "%c%d", charge ? 'c' : 'r', n_part);
    write_node(deck, a);
    write_node(deck, b);
    fprintf(deck, " %.17g\n", value);
    list[n_part++] = (part){a, b, charge ? value : 1 / value, charge};
}

/* From the end to the beginning, so that nothing is in order. */
static void write_deck(FILE *deck)
{
    fprintf(deck, "deck\n.tran 1n 10n\n");
    n_part = 0;
    for (int k = N; k-- > 0;) {
        put(deck, false, k, (k + 1) % N, 100 + k % 7);
        if (k % 3 == 0)
            put(deck, false, (k + 1) % N, k, 1000 + k % 5); /* beside it, the other way round */
        if (k % 10 == 0)
            put(deck, false, k, k, 10); /* nothing flows */
        put(deck, true, k, -1, 1e-12 * (1 + k % 4));
        if (k % 2)
            put(deck, true, -1, k, 3e-12);
        if (k % 4 == 0)
            put(deck, true, k, (k + 5) % N, 2e-13);
        if (k % 8 == 0)
            put(deck, true, (k + 5) % N, k, -5e-14);
    }
    for (int k = 0; k < N; k++)
        fprintf(deck, "b%d n%d 0 i={1e-3*v(n%d)**3}\n", k, k, k);
    fprintf(deck, ".end\n");
}

static void setup(void)
{
    c = tran_deck_init(&built, write_deck);
    tran_deck_vectors(vectors, VS_COUNT(vectors), (size_t)ckt_n(c) + 1 + CKT_PADDING);
    for (int k = 0; k < N; k++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", k);
        node[k] = ckt_find(c, name);
        ck_assert_int_gt(node[k], 0);
        x[node[k]] = 0.5 + 0.3 * sin(7 * k);
    }
}

static void teardown(void)
{
    tran_deck_free_vectors(vectors, VS_COUNT(vectors));
    tran_deck_fini(&built);
}

static double voltage(int k) { return k < 0 ? 0 : x[node[k]]; }

/* The same of one row by the list of parts. */
typedef struct row {
    double f, q, fmax, qmax, own[2];
} row;

static row row_of(int k)
{
    const double v = voltage(k), i = 1e-3 * v * v * v;
    row r = {.f = i, .fmax = fabs(i), .own = {3e-3 * v * v, 0}};
    for (const part *p = list; p < list + n_part; p++) {
        if ((p->a != k && p->b != k) || p->a == p->b)
            continue;
        const double flow = p->y * (v - voltage(p->a == k ? p->b : p->a));
        *(p->charge ? &r.q : &r.f) += flow;
        double *max = p->charge ? &r.qmax : &r.fmax;
        *max = fmax(*max, fabs(flow));
        r.own[p->charge] += p->y;
    }
    return r;
}

START_TEST(rows_are_those_of_the_parts)
{
    const ckt_env env = tran_deck_env(NULL, ALPHA);
    bool limited;
    ck_assert_int_eq(ckt_load(c, &env, x, f, q, fmx, qmx, &limited), VS_OK);
    ck_assert(ckt_pairs_sums(c) != NULL);
    const csc *a = ckt_pattern(c);
    for (int k = 0; k < N; k++) {
        const row r = row_of(k);
        const int32_t i = node[k];
        /* up to eight terms of at most 10 mS 0.6 V, 16 pF 0.8 V and their slopes, each rounded */
        ck_assert_double_eq_tol(f[i], r.f, 8 * 6e-3 * 0x1p-52);
        ck_assert_double_eq_tol(q[i], r.q, 8 * 4e-12 * 0x1p-52);
        ck_assert_double_eq_tol(fmx[i], r.fmax, 6e-3 * 0x1p-51);
        ck_assert_double_eq_tol(qmx[i], r.qmax, 4e-12 * 0x1p-51);
        ck_assert_double_eq_tol(a->val[csc_find(a, i - 1, i - 1)], r.own[0] + ALPHA * r.own[1],
                                16 * 0.03 * 0x1p-52);
    }
}
END_TEST

START_TEST(pairs_are_one_between_two_nodes_and_in_their_order)
{
    ckt_pairs_make(c);
    int32_t n;
    const ckt_pair_at *p = ckt_pairs_list(c, &n);
    const int32_t n_r = ckt_pairs_n_resistor(c);
    ck_assert_int_eq(n_r, N);             /* one behind each node, what is beside it included */
    ck_assert_int_eq(n - n_r, N + N / 4); /* to ground, and five nodes farther */
    for (int32_t k = 0; k < n; k++) {
        ck_assert_int_gt(p[k].p, p[k].n);
        ck_assert_double_ge(p[k].most, fabs(p[k].y) / 2);
        if (k == 0 || k == n_r)
            continue;
        ck_assert(p[k - 1].p < p[k].p || (p[k - 1].p == p[k].p && p[k - 1].n < p[k].n));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pairs");
    TCase *t = tcase_create("pairs");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, rows_are_those_of_the_parts);
    tcase_add_test(t, pairs_are_one_between_two_nodes_and_in_their_order);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
