/* test_rcnet.c - networks of R and C that lose nodes: what stays has the same conductances, and
 * admittances within the bound. */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <string.h>

#include "../suite.h"
#include "rcnet.h"

enum { MOST = 40, PORTS = 4 };

typedef struct element {
    int32_t a, b;
    double g, c;
} element;

static uint32_t state;

static double chance(void) /* of 0 to 1 */
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static int32_t below(int32_t n) { return (int32_t)(chance() * n); }

/* Admittances at nodes 1 .. PORTS of elements between n nodes, the others eliminated exactly. */
static void admittance(const element *e, int32_t n_element, int32_t n, double omega,
                       double complex y[MOST][MOST])
{
    memset(y, 0, sizeof(double complex) * MOST * MOST);
    for (int32_t k = 0; k < n_element; k++) {
        const double complex v = e[k].g + I * omega * e[k].c;
        y[e[k].a][e[k].a] += v;
        y[e[k].b][e[k].b] += v;
        y[e[k].a][e[k].b] -= v;
        y[e[k].b][e[k].a] -= v;
    }
    for (int32_t p = n - 1; p > PORTS; p--)
        for (int32_t i = 0; y[p][p] != 0 && i < p; i++)
            for (int32_t j = 0; j < p; j++)
                y[i][j] -= y[i][p] * y[p][j] / y[p][p];
}

/* Elements of a random network in which every node has a way of conductances to node 1. */
static int32_t make(element *e, int32_t n, uint32_t seed)
{
    int32_t k = 0;
    state = seed;
    for (int32_t i = 2; i < n; i++)
        e[k++] = (element){i, 1 + below(i - 1), 1e-3 * (0.1 + chance()), 0};
    for (int32_t i = 1; i < n; i++)
        e[k++] = (element){0, i, 0, 1e-15 * (0.1 + chance())};
    for (int32_t i = 0; i < n / 2; i++) {
        const int32_t a = 1 + below(n - 1), b = 1 + below(n - 1);
        if (a != b)
            e[k++] = chance() < 0.5 ? (element){a, b, 0, 1e-15 * chance()}
                                    : (element){a, b, 1e-3 * chance(), 0};
    }
    return k;
}

/* The network after the reduction, as elements; how many. */
static int32_t reduce(const element *e, int32_t n_element, int32_t n, double tolerance,
                      double omega, element *out, bool *gone, double *bound)
{
    bool keep[MOST] = {false};
    for (int32_t i = 1; i <= PORTS; i++)
        keep[i] = true;
    rcnet *net = rcnet_new(n, keep);
    for (int32_t k = 0; k < n_element; k++)
        rcnet_add(net, e[k].a, e[k].b, e[k].g, e[k].c);
    *bound = rcnet_reduce(net, tolerance, omega, gone);
    int32_t n_edge, m = 0;
    const rcnet_edge *edge = rcnet_edges(net, &n_edge);
    for (int32_t k = 0; k < n_edge; k++)
        if (!edge[k].gone) {
            ck_assert(!gone[edge[k].a] && !gone[edge[k].b]);
            out[m++] = (element){edge[k].a, edge[k].b, edge[k].g, edge[k].c};
        }
    rcnet_free(&net);
    return m;
}

/* |x^H E x| of voltages x, and omega x^H C x of the capacitances that stay with the ports. */
static void forms(double complex a[MOST][MOST], double complex b[MOST][MOST],
                  const double complex *x, double *error, double *size)
{
    double complex e = 0;
    double s = 0;
    for (int i = 1; i <= PORTS; i++)
        for (int j = 1; j <= PORTS; j++) {
            e += conj(x[i]) * (a[i][j] - b[i][j]) * x[j];
            s += cimag(conj(x[i]) * b[i][j] * x[j]);
        }
    *error = cabs(e);
    *size = s;
}

static element before[4 * MOST], after[4 * MOST * MOST];
static double complex ya[MOST][MOST], yb[MOST][MOST];

/* The bound is of the first order in the tolerance; what is left out is of the order of its square,
 * for 1 % less than a tenth of it. Nodes that stay beside the ports only make the imaginary part of
 * the form less than omega x^H C x: the test takes networks in which all but the ports go. */
START_TEST(the_error_is_within_the_bound)
{
    const double tolerance = 0.01, omega = 1e9;
    int complete = 0;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        bool gone[MOST];
        double bound;
        const int32_t n = PORTS + 2 + (int32_t)(seed % 12), k = make(before, n, seed);
        const int32_t m = reduce(before, k, n, tolerance, omega, after, gone, &bound);
        int32_t out = 0;
        for (int32_t i = 0; i < n; i++)
            out += gone[i];
        ck_assert_double_le(bound, tolerance);
        if (out < n - 1 - PORTS)
            continue;
        complete++;
        admittance(before, k, n, omega, ya);
        admittance(after, m, n, omega, yb);
        for (int t = 0; t < 20; t++) {
            double complex x[PORTS + 1];
            double error, size;
            for (int i = 1; i <= PORTS; i++)
                x[i] = chance() - 0.5 + I * (chance() - 0.5);
            forms(ya, yb, x, &error, &size);
            ck_assert_double_le(error, 1.1 * bound * size);
        }
    }
    ck_assert_int_gt(complete, 50);
}
END_TEST

START_TEST(conductances_are_exact)
{
    for (uint32_t seed = 1; seed <= 50; seed++) {
        bool gone[MOST];
        double bound;
        const int32_t n = 20, k = make(before, n, seed);
        const int32_t m = reduce(before, k, n, 0.9, 1e9, after, gone, &bound);
        admittance(before, k, n, 0, ya);
        admittance(after, m, n, 0, yb);
        for (int i = 1; i <= PORTS; i++)
            for (int j = 1; j <= PORTS; j++) /* sums of some 20 values of at most 1e-2 */
                ck_assert_double_le(cabs(ya[i][j] - yb[i][j]), 1e-2 * 200 * 2.3e-16);
    }
}
END_TEST

START_TEST(a_tolerance_of_zero_takes_nodes_without_capacitance)
{
    const element e[] = {
        {1, 5, 1e-3, 0}, {5, 2, 1e-3, 0}, {2, 6, 1e-3, 0}, {6, 3, 1e-3, 0}, {6, 0, 0, 1e-15}};
    bool gone[MOST];
    double bound;
    const int32_t m = reduce(e, 5, 7, 0, 1e9, after, gone, &bound);
    ck_assert(gone[5] && !gone[6]);
    ck_assert_int_eq(m, 4);
    ck_assert_double_eq(bound, 0);
    for (int32_t k = 0; k < m; k++)
        if (after[k].a == 1)
            ck_assert_double_eq_tol(after[k].g, 0.5e-3, 1e-18);
}
END_TEST

/* A star of six arms would leave 15 edges for 6. */
START_TEST(no_node_leaves_more_edges_than_it_had)
{
    element e[6];
    bool gone[MOST], keep[MOST] = {false};
    for (int32_t i = 0; i < 6; i++) {
        e[i] = (element){i + 1, 7, 1e-3, 0};
        keep[i + 1] = true;
    }
    rcnet *net = rcnet_new(8, keep);
    for (int32_t i = 0; i < 6; i++)
        rcnet_add(net, e[i].a, e[i].b, e[i].g, e[i].c);
    ck_assert_double_eq(rcnet_reduce(net, 0.5, 1e9, gone), 0);
    ck_assert(!gone[7]);
    rcnet_free(&net);
}
END_TEST

/* A chain of pieces keeps its capacitance, and its Elmore delay from any resistance before it. */
START_TEST(a_chain_keeps_its_delay)
{
    const int32_t n = 30;
    int32_t k = 0;
    bool keep[MOST] = {false}, gone[MOST];
    keep[1] = keep[2] = true;
    rcnet *net = rcnet_new(n, keep);
    double delay = 0, sum = 0;
    for (int32_t i = 3; i <= n; i++, k++) { /* 1 - 3 - 4 ... n-1 - 2 */
        rcnet_add(net, i == 3 ? 1 : i - 1, i == n ? 2 : i, 1e-2, 0);
        rcnet_add(net, i == n ? 2 : i, 0, 0, 1e-15);
        delay += (k + 1) * 100.0 * 1e-15;
        sum += 1e-15;
    }
    ck_assert_double_gt(rcnet_reduce(net, 0.1, 1e9, gone), 0);
    int32_t m;
    const rcnet_edge *e = rcnet_edges(net, &m);
    double r = 0, c1 = 0, c2 = 0, c12 = 0;
    for (int32_t i = 0; i < m; i++) {
        if (e[i].gone)
            continue;
        ck_assert_int_le(e[i].b, 2); /* all between 0, 1 and 2 */
        if (e[i].a == 1) {
            r = 1 / e[i].g;
            c12 = e[i].c;
        } else {
            *(e[i].b == 1 ? &c1 : &c2) = e[i].c;
        }
    }
    ck_assert_double_eq_tol(r, k * 100.0, 1e-9);
    ck_assert_double_eq_tol(c1 + c2, sum, 1e-26);
    ck_assert_double_eq_tol(r * c2, delay, 1e-23);
    ck_assert_double_lt(c12, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rcnet");
    TCase *t = tcase_create("rcnet");
    tcase_add_test(t, the_error_is_within_the_bound);
    tcase_add_test(t, conductances_are_exact);
    tcase_add_test(t, a_tolerance_of_zero_takes_nodes_without_capacitance);
    tcase_add_test(t, no_node_leaves_more_edges_than_it_had);
    tcase_add_test(t, a_chain_keeps_its_delay);
    suite_add_tcase(s, t);
    return run_suite(s);
}
