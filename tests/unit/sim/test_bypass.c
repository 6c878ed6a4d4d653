/* Tests of ckt_bypass.c on a circuit of many equal elements: instances that did not move contribute
 * their held linearisation, the others are evaluated, and no load is off by more than was allowed.
 *
 * Element k is i = G v^3, q = C v^2 from node k to ground, so both are known in closed form. */
#include <math.h>
#include <string.h>

#include "../suite.h"
#include "tran_deck.h"

enum { N = 140, FEW = 24 }; /* more than small circuits have, which hold groups as a whole */
#define CONDUCTANCE 1e-3
#define CAPACITANCE 1e-12
#define ALPHA 1e9

static tran_deck built;
static ckt *c;
static int32_t node[N];
static double *x, *f, *q, *fmx, *qmx, *weight;
static double **const vectors[] = {&x, &f, &q, &fmx, &qmx, &weight};
static bool limited;
static int count = N;
static double blur; /* V: a voltage that is off by this explains what may be left out too */

/* One element: its number and its node's. */
static void write_power(FILE *deck, int k)
{
    fprintf(deck, "b%d n%d 0 i={%g*v(n%d)**3 + ddt(%g*v(n%d)**2)}\n", k, k, CONDUCTANCE, k,
            CAPACITANCE, k);
}

static void write_diode(FILE *deck, int k) { fprintf(deck, "d%d n%d 0 dm\n", k, k); }

static void write_deck(FILE *deck, void (*write)(FILE *deck, int k))
{
    fprintf(deck, "deck\n.option bypass=1\n.tran 1n 10n\n.model dm d is=1e-14 tnom=27\n");
    for (int k = 0; k < count; k++)
        write(deck, k);
    fprintf(deck, ".end\n");
}

static void write_powers(FILE *deck) { write_deck(deck, write_power); }
static void write_diodes(FILE *deck) { write_deck(deck, write_diode); }

static void make(void (*write)(FILE *deck))
{
    c = tran_deck_init(&built, write);
    tran_deck_vectors(vectors, VS_COUNT(vectors), (size_t)ckt_n(c) + 1 + CKT_PADDING);
    for (int k = 0; k < count; k++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", k);
        node[k] = ckt_find(c, name);
        ck_assert_int_gt(node[k], 0);
        x[node[k]] = 0.5 + 0.002 * k;
    }
    for (int32_t i = 1; i <= ckt_n(c); i++)
        weight[i] = 1 / 1e-6; /* an ampere may leave out a millionth */
}

static void setup(void) { make(write_powers); }
static void setup_diodes(void) { make(write_diodes); }

static void setup_few(void)
{
    count = FEW;
    make(write_powers);
}

static void teardown(void)
{
    tran_deck_free_vectors(vectors, VS_COUNT(vectors));
    tran_deck_fini(&built);
    count = N;
    blur = 0;
}

/* One load; how many elements it evaluated. */
static int64_t evaluations_at(const double *allowed, double alpha)
{
    ckt_env env = tran_deck_env(allowed, alpha);
    env.blur = blur;
    const ckt_stat before = *ckt_stats(c);
    ck_assert_int_eq(ckt_load(c, &env, x, f, q, fmx, qmx, &limited), VS_OK);
    const int64_t n = count - (ckt_stats(c)->n_bypass - before.n_bypass);
    ck_assert_int_ge(n, 0);
    return n;
}

static int64_t evaluations(const double *allowed) { return evaluations_at(allowed, ALPHA); }

/* What the load is off by at most, in i + alpha q. */
static double worst(void)
{
    double most = 0;
    for (int k = 0; k < count; k++) {
        const double v = x[node[k]], i = CONDUCTANCE * v * v * v, charge = CAPACITANCE * v * v;
        most = fmax(most, fabs(f[node[k]] - i + ALPHA * (q[node[k]] - charge)));
    }
    return most;
}

/* f + alpha q of a node is a sum of six terms of at most 2 mA: 6 * 2e-3 * 2^-53 is 1.3e-18, and
 * each term is a product of a few factors. */
#define ROUNDING 1e-17

/* Loads at places so far apart that all is evaluated, which also measures the curvature. */
static void measure(void)
{
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count; i++)
            x[node[i]] += k % 2 ? -0.02 : 0.02;
        (void)evaluations(weight);
    }
}

START_TEST(the_first_load_evaluates_all_and_is_right)
{
    ck_assert_int_eq(evaluations(weight), N);
    ck_assert_double_le(worst(), ROUNDING);
}
END_TEST

START_TEST(what_stands_still_is_not_evaluated_again)
{
    (void)evaluations(weight);
    ck_assert_int_eq(evaluations(weight), 0);
    ck_assert_double_le(worst(), ROUNDING);
}
END_TEST

START_TEST(small_moves_are_left_to_the_linearisation_within_the_allowance)
{
    measure();
    for (int k = 0; k < N; k++)
        x[node[k]] += 1e-5;
    ck_assert_int_eq(evaluations(weight), 0);
    ck_assert_double_le(worst(), 1e-6);
    ck_assert_double_gt(worst(), 10 * ROUNDING); /* second order: it was not evaluated */
}
END_TEST

START_TEST(no_move_is_off_by_more_than_is_allowed)
{
    measure();
    for (int k = 0; k < 40; k++) {
        for (int i = 0; i < N; i++)
            x[node[i]] += 1e-4 * (i % 7 - 3);
        (void)evaluations(weight);
        ck_assert_msg(worst() <= 1e-6, "load %d is off by %g", k, worst());
    }
}
END_TEST

START_TEST(one_that_moves_far_is_evaluated_alone)
{
    measure();
    x[node[17]] += 0.1;
    ck_assert_int_eq(evaluations(weight), 1);
    ck_assert_double_le(worst(), 1e-6);
}
END_TEST

START_TEST(without_an_allowance_all_is_evaluated)
{
    measure();
    ck_assert_int_eq(evaluations(NULL), N);
    ck_assert_double_le(worst(), ROUNDING);
}
END_TEST

START_TEST(a_tight_allowance_evaluates_what_a_wide_one_leaves)
{
    for (int32_t i = 1; i <= ckt_n(c); i++)
        weight[i] = 1 / 1e-18;
    measure();
    for (int k = 0; k < N; k++)
        x[node[k]] += 1e-5;
    ck_assert_int_eq(evaluations(weight), N);
}
END_TEST

START_TEST(a_fresh_circuit_knows_nothing)
{
    measure();
    ck_assert_int_eq(evaluations(weight), 0);
    ckt_fresh(c);
    ck_assert_int_eq(evaluations(weight), N);
}
END_TEST

/* -- what a voltage explains -- */

static void allow(double ampere)
{
    for (int32_t i = 1; i <= ckt_n(c); i++)
        weight[i] = 1 / ampere;
}

/* By how much a load's currents and charges are off at most, in parts of what may be left out:
 * `ampere` (of charges in a time of 1 / alpha), or what v + blur changes. */
static double worst_part(double ampere, double alpha)
{
    double most = 0;
    for (int k = 0; k < count; k++) {
        const double v = x[node[k]], i = CONDUCTANCE * v * v * v, charge = CAPACITANCE * v * v;
        const double by_i = fmax(ampere, 3 * CONDUCTANCE * v * v * blur);
        const double by_q = fmax(ampere / alpha, 2 * CAPACITANCE * v * blur);
        most = fmax(most, (fabs(f[node[k]] - i) - ROUNDING) / by_i);
        most = fmax(most, (fabs(q[node[k]] - charge) - ROUNDING / ALPHA) / by_q);
    }
    return most;
}

/* A row that carries nothing allows nothing, yet its voltages are known to `blur` only. */
START_TEST(what_a_voltage_explains_may_be_left_out)
{
    allow(1e-18);
    blur = 1e-6;
    measure();
    for (int k = 0; k < count; k++)
        x[node[k]] += 1e-4; /* second order: 2e-8 of 0.5 V */
    ck_assert_int_eq(evaluations(weight), 0);
    ck_assert_double_gt(worst(), 10 * ROUNDING);
    ck_assert_double_le(worst_part(1e-18, ALPHA), 1);
    for (int k = 0; k < count; k++)
        x[node[k]] += 2e-3; /* 8e-6 of it */
    ck_assert_int_eq(evaluations(weight), count);
}
END_TEST

/* Steps become shorter and longer between the evaluation that measures and the load that asks. */
START_TEST(at_no_step_more_is_left_out_than_a_voltage_or_a_row_explains)
{
    static const double ampere[] = {1e-18, 1e-11, 1e-8, 1e-6};
    const double alpha = ALPHA * pow(10, _i % 7 - 3);
    const double allowed = ampere[_i / 7];
    int64_t n = 0;
    allow(allowed);
    blur = 1e-6;
    measure();
    for (int k = 0; k < 60; k++) {
        const double now = k % 3 ? alpha : ALPHA;
        for (int i = 0; i < count; i++)
            x[node[i]] += 1e-5 * ((i * 5 + k) % 7 - 3) * (1 + k % 9);
        n += evaluations_at(weight, now);
        ck_assert_msg(worst_part(allowed, now) <= 1, "load %d is off by %g", k,
                      worst_part(allowed, now));
    }
    ck_assert_int_lt(n, 60 * count); /* and not all were evaluated */
}
END_TEST

/* -- diodes: their voltages are limited -- */

/* What the load is off by at most in parts of a current: is (exp(v/vt) - 1) + gmin v. */
static double worst_diode(void)
{
    const double vt = 1.38064852e-23 / 1.6021766208e-19 * 300.15;
    double most = 0;
    for (int k = 0; k < N; k++) {
        const double v = x[node[k]], i = 1e-14 * expm1(v / vt) + 1e-12 * v;
        most = fmax(most, fabs(f[node[k]] / i - 1));
    }
    return most;
}

static void place(double v)
{
    for (int k = 0; k < N; k++)
        x[node[k]] = v;
}

START_TEST(where_limiting_acted_nothing_is_held)
{
    place(0.4);
    (void)evaluations(weight);
    ck_assert(!limited);
    place(0.9); /* from 0.4 V limiting allows some 0.7 V */
    ck_assert_int_eq(evaluations(weight), N);
    ck_assert(limited);
    ck_assert_double_gt(worst_diode(), 0.5); /* the tangent at another voltage */
    int rounds = 0;
    while (limited && rounds++ < 20) /* what was held would be that tangent for ever */
        ck_assert_int_eq(evaluations(weight), N);
    ck_assert(!limited);
    ck_assert_double_le(worst_diode(), 1e-6);
    ck_assert_int_eq(evaluations(weight), 0);
    ck_assert(!limited);
    ck_assert_double_le(worst_diode(), 1e-6);
}
END_TEST

START_TEST(limiting_compares_with_an_instances_own_last_evaluation)
{
    place(0.75);
    while (evaluations(weight) && limited)
        ;
    x[node[5]] = 0.3; /* evaluated alone, in a pack that others share */
    ck_assert_int_eq(evaluations(weight), 1);
    ck_assert(!limited);
    x[node[5]] = 0.75; /* from 0.3 V this is too far, for one that stood at 0.75 V it is not */
    ck_assert_int_eq(evaluations(weight), 1);
    ck_assert(limited);
    while (limited) /* it alone is evaluated, until its voltage is that of the circuit */
        ck_assert_int_eq(evaluations(weight), 1);
    ck_assert_double_le(worst_diode(), 1e-6);
}
END_TEST

static void accept(void)
{
    const ckt_env env = {.mode = CKT_TRAN, .srcfact = 1, .time = 1e-9};
    ck_assert_int_eq(ckt_accept(c, &env, x), VS_OK);
}

START_TEST(a_rejected_step_returns_the_limits_of_what_it_evaluated)
{
    place(0.75);
    while (evaluations(weight) && limited)
        ;
    accept(); /* all */
    x[node[5]] = 0.3;
    ck_assert_int_eq(evaluations(weight), 1);
    accept(); /* one: its accepted voltage is 0.3 V now, that of the others 0.75 V still */
    x[node[5]] = x[node[6]] = 0.5;
    ck_assert_int_eq(evaluations(weight), 2);
    ck_assert(!limited);
    ckt_restore_limits(c);
    x[node[5]] = x[node[6]] = 0.75;
    ck_assert_int_eq(evaluations(weight), 2);
    ck_assert(limited); /* from 0.3 V; from 0.5 V both would be */
    ck_assert_double_le(fabs(f[node[6]] / f[node[7]] - 1), 1e-6);
    ck_assert_double_gt(fabs(f[node[5]] / f[node[7]] - 1), 0.5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bypass");
    TCase *tc = tcase_create("bypass");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_first_load_evaluates_all_and_is_right);
    tcase_add_test(tc, what_stands_still_is_not_evaluated_again);
    tcase_add_test(tc, small_moves_are_left_to_the_linearisation_within_the_allowance);
    tcase_add_test(tc, no_move_is_off_by_more_than_is_allowed);
    tcase_add_test(tc, one_that_moves_far_is_evaluated_alone);
    tcase_add_test(tc, without_an_allowance_all_is_evaluated);
    tcase_add_test(tc, a_tight_allowance_evaluates_what_a_wide_one_leaves);
    tcase_add_test(tc, a_fresh_circuit_knows_nothing);
    tcase_add_test(tc, what_a_voltage_explains_may_be_left_out);
    tcase_add_loop_test(tc, at_no_step_more_is_left_out_than_a_voltage_or_a_row_explains, 0, 28);
    suite_add_tcase(suite, tc);
    tc = tcase_create("few");
    tcase_add_checked_fixture(tc, setup_few, teardown);
    tcase_add_test(tc, what_a_voltage_explains_may_be_left_out);
    tcase_add_loop_test(tc, at_no_step_more_is_left_out_than_a_voltage_or_a_row_explains, 0, 28);
    suite_add_tcase(suite, tc);
    tc = tcase_create("limits");
    tcase_add_checked_fixture(tc, setup_diodes, teardown);
    tcase_add_test(tc, where_limiting_acted_nothing_is_held);
    tcase_add_test(tc, limiting_compares_with_an_instances_own_last_evaluation);
    tcase_add_test(tc, a_rejected_step_returns_the_limits_of_what_it_evaluated);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
