/* Tests of other values in the same circuit (ckt_redo.c), of times, start values and waveforms
 * (ckt_time.c), and of the messages about many nodes (ckt_topo.c). */
#include "../suite.h"
#include "ckt_bench.h"

enum { R1, R2, R3, R4 }; /* rows of the resistor */

/* r1 and r2 share a row, r3 has its own; %d devices, 1 source. */
static void add_three(int32_t shared, int32_t own, double v)
{
    add_v("v1", "in", "0", v);
    add(&res, shared, "r1", "in", "out");
    add(&res, shared, "r2", "out", "0");
    add(&res, own, "r3", "out", "0");
    ckt_add_ic(c, ckt_node(c, "out"), 0, v / 2);
}

static void conductances(void)
{
    static const double g[] = {1e-3, 3e-3, 7e-3, 11e-3};
    for (size_t i = 0; i < VS_COUNT(g); i++)
        res.param[i] = g[i];
}

static vs_status redo(int32_t shared, int32_t own, double v, ckt_redone *what)
{
    ck_assert(ckt_redo_begin(c));
    ckt_redo_at(c, (ckt_place){0, 0, 0});
    add_three(shared, own, v);
    return ckt_redo_end(c, 300, NULL, what);
}

typedef struct loaded {
    double f[8], max[8], val[16];
} loaded;

static loaded load_at(const ckt_env *e)
{
    loaded l = {0};
    for (int i = 1; i <= ckt_n(c); i++)
        x[i] = 0.3 * i;
    ck_assert_int_eq(load(e), VS_OK);
    memcpy(l.f, f, sizeof l.f);
    memcpy(l.max, fmx, sizeof l.max);
    memcpy(l.val, ckt_pattern(c)->val, (size_t)csc_nnz(ckt_pattern(c)) * sizeof(double));
    return l;
}

static void equal(const loaded *a, const loaded *b) { ck_assert(!memcmp(a, b, sizeof *a)); }

START_TEST(changed_values_load_as_a_circuit_built_with_them)
{
    ckt_redone what;
    conductances();
    add_three(R1, R2, 5);
    ck_assert_int_eq(finish(), VS_OK);
    const loaded before = load_at(&dc);
    ck_assert_int_eq(redo(R1, R3, 6, &what), VS_OK);
    ck_assert_int_eq(what.rows, 1);
    ck_assert_int_eq(what.sources, 1);
    ck_assert_int_eq(what.ics, 1);
    ck_assert_uint_eq(what.other & (CKT_OTHER_DC | CKT_OTHER_START | CKT_OTHER_STATIC),
                      CKT_OTHER_DC | CKT_OTHER_START | CKT_OTHER_STATIC);
    const loaded changed = load_at(&dc), moving = load_at(&tran);
    ck_assert(memcmp(&before, &changed, sizeof before));
    double uic[64];
    ckt_uic(c, uic);
    ck_assert_double_eq(uic[ckt_find(c, "out")], 3);
    end();
    begin();
    conductances();
    add_three(R1, R3, 6);
    ck_assert_int_eq(finish(), VS_OK);
    const loaded fresh = load_at(&dc), fresh_moving = load_at(&tran);
    equal(&changed, &fresh);
    equal(&moving, &fresh_moving);
}
END_TEST

START_TEST(the_same_values_reach_nothing)
{
    ckt_redone what;
    conductances();
    add_three(R1, R2, 5);
    ck_assert_int_eq(finish(), VS_OK);
    const loaded before = load_at(&dc);
    const int n_setup = res.n_setup;
    ck_assert_int_eq(redo(R1, R2, 5, &what), VS_OK);
    ck_assert_int_eq(what.rows, 0);
    ck_assert_uint_eq(what.other, 0);
    ck_assert_int_eq(res.n_setup, n_setup);
    const loaded after = load_at(&dc);
    equal(&before, &after);
}
END_TEST

START_TEST(a_row_that_is_shared_moves_as_a_whole)
{
    ckt_redone what;
    conductances();
    add_three(R1, R2, 5);
    ck_assert_int_eq(finish(), VS_OK);
    const int n_setup = res.n_setup;
    ck_assert_int_eq(redo(R4, R2, 5, &what), VS_OK);
    ck_assert_int_gt(res.n_setup, n_setup);
    const loaded changed = load_at(&dc);
    end();
    begin();
    conductances();
    add_three(R4, R2, 5);
    ck_assert_int_eq(finish(), VS_OK);
    const loaded fresh = load_at(&dc);
    equal(&changed, &fresh);
}
END_TEST

START_TEST(what_shares_a_row_cannot_change_in_place)
{
    ckt_redone what;
    conductances();
    add_three(R1, R2, 5);
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert_int_eq(redo(R1, R1, 5, &what), VS_REJECT); /* r3 joins r1 and r2 */
    ck_assert_str_eq(what.why, "which instances share a row");
}
END_TEST

START_TEST(a_shared_row_cannot_be_parted_in_place)
{
    ckt_redone what;
    conductances();
    add_three(R1, R2, 5);
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(ckt_redo_begin(c));
    ckt_redo_at(c, (ckt_place){1, 0, 0}); /* r2 alone */
    add(&res, R3, "r2", "out", "0");
    ck_assert_int_eq(ckt_redo_end(c, 300, NULL, &what), VS_REJECT);
    ck_assert_str_eq(what.why, "which instances share a row");
}
END_TEST

START_TEST(other_terminals_and_nodes_cannot_be_taken_in_place)
{
    ckt_redone what;
    conductances();
    add_three(R1, R2, 5);
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(ckt_redo_begin(c));
    ckt_redo_at(c, (ckt_place){2, 0, 0});
    const int32_t t[2] = {ckt_node(c, "in"), 0};
    ck_assert_int_eq(ckt_add_device(c, "r3", &res, R3, t, DIAG_NOWHERE), VS_REJECT);
    ck_assert_int_eq(ckt_redo_end(c, 300, NULL, &what), VS_REJECT);
    ck_assert_str_eq(what.why, "other models or terminals");
    res.topology[R3][1] = 0; /* a row that joins the device's nodes */
    ck_assert(ckt_redo_begin(c));
    ckt_redo_at(c, (ckt_place){2, 0, 0});
    const int32_t same[2] = {ckt_node(c, "out"), 0};
    ck_assert_int_eq(ckt_add_device(c, "r3", &res, R3, same, DIAG_NOWHERE), VS_REJECT);
    ck_assert_int_eq(ckt_redo_end(c, 300, NULL, &what), VS_REJECT);
    ck_assert_str_eq(what.why, "nodes of devices that are one");
}
END_TEST

static const wave pulse = {.kind = WAVE_PULSE,
                           .arg = (const double[]){2, 5, 1, 1, 1, 1, 9},
                           .n_arg = 7};

START_TEST(of_a_waveform_an_operating_point_sees_its_values_only)
{
    static const struct {
        double arg[7];
        unsigned other;
    } t[] = {
        {{2, 5, 1, 1, 1, 1, 9}, 0},
        {{2, 7, 1, 1, 1, 1, 9}, 0}, /* what comes later */
        {{3, 5, 1, 1, 1, 1, 9}, CKT_OTHER_DC | CKT_OTHER_START},
    };
    ckt_redone what;
    res.param[0] = 1;
    ck_assert_int_eq(ckt_add_vsource(c, "v1", ckt_node(c, "a"), 0, &pulse, 1, DIAG_NOWHERE), VS_OK);
    add(&res, 0, "r1", "a", "0");
    ck_assert_int_eq(finish(), VS_OK);
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        const wave w = {.kind = WAVE_PULSE, .arg = t[i].arg, .n_arg = 7};
        ck_assert(ckt_redo_begin(c));
        ckt_redo_at(c, (ckt_place){0, 0, 0});
        ck_assert_int_eq(ckt_add_vsource(c, "v1", ckt_node(c, "a"), 0, &w, 1, DIAG_NOWHERE), VS_OK);
        ck_assert_int_eq(ckt_redo_end(c, 300, NULL, &what), VS_OK);
        ck_assert_msg(what.other == t[i].other, "%zu: %x", i, what.other);
        ck_assert_double_eq(ckt_source_dc(c, 0), t[i].arg[0]);
    }
}
END_TEST

/* -- time -- */

START_TEST(sources_give_their_nodes_at_the_moment_after)
{
    const wave w3 = {.kind = WAVE_DC, .dc = 3, .dc_given = true};
    ck_assert_int_eq(/* against the order in which they follow from ground */
                     ckt_add_vsource(c, "v2", ckt_node(c, "b"), ckt_node(c, "a"), &pulse, 1,
                                     DIAG_NOWHERE),
                     VS_OK);
    ck_assert_int_eq(ckt_add_vsource(c, "v1", 0, ckt_node(c, "a"), &w3, 1, DIAG_NOWHERE), VS_OK);
    ck_assert_int_eq(
        ckt_add_vsource(c, "v3", ckt_node(c, "f"), ckt_node(c, "g"), &w3, 1, DIAG_NOWHERE), VS_OK);
    (void)!finish();
    const int32_t at = ckt_find(c, "f"), under = ckt_find(c, "g");
    x[at] = 0.25;
    x[under] = 0.125;
    ckt_switch_on(c, x);
    ck_assert_double_eq(x[ckt_find(c, "a")], -3);
    ck_assert_double_eq(x[ckt_find(c, "b")], -1); /* the pulse begins at 2 */
    ck_assert_double_eq(x[at], 0.25);             /* nothing ties them to ground */
    ck_assert_double_eq(x[under], 0.125);
}
END_TEST

static double ramp(void *user, double t) { return *(double *)user * t; }
static double each_second(void *user, double t)
{
    (void)user;
    return floor(t) + 1;
}

START_TEST(a_client_gives_a_waveform_and_takes_it_back)
{
    double slope = 4;
    const nat_wave own = {.value = ramp, .next = each_second, .user = &slope};
    res.param[0] = 1;
    ck_assert_int_eq(ckt_add_vsource(c, "v1", ckt_node(c, "a"), 0, &pulse, 1, DIAG_NOWHERE), VS_OK);
    add(&res, 0, "r1", "a", "0");
    ck_assert_int_eq(finish(), VS_OK);
    const int32_t branch = ckt_find(c, "v1#branch");
    ckt_env at = tran;
    at.time = 2.5;
    ck_assert(!ckt_gets_breaks(c));
    ck_assert_int_eq(load(&at), VS_OK);
    ck_assert_double_eq(f[branch], -5); /* the pulse's upper value: v(a) - 5 */
    ckt_set_source_wave(c, 0, &own);
    ck_assert(ckt_gets_breaks(c));
    ck_assert_int_eq(load(&at), VS_OK);
    ck_assert_double_eq(f[branch], -10);
    ck_assert_double_eq(ckt_next_break(c, 2.5), 3);
    ckt_set_source_wave(c, 0, NULL);
    ck_assert(!ckt_gets_breaks(c));
    ck_assert_int_eq(load(&at), VS_OK);
    ck_assert_double_eq(f[branch], -5);
    ck_assert_double_eq(ckt_next_break(c, 2.5), 3); /* its fall */
}
END_TEST

/* Currents and voltages, at 1 ps of a piece that ends at 2 ps: is it the slope of a current alone,
 * at nodes with charges, that jumps? */
START_TEST(slopes_of_currents_at_capacitors_jump_alone)
{
    static const double kink[] = {0, 0, 1e-12, 0, 2e-12, 5e-5}, last[] = {0, 0, 1e-12, 5e-5},
                        jump[] = {0, 0, 1e-12, 0, 1e-12, 5e-5, 2e-12, 6e-5},
                        fall[] = {0, 5e-5, 1e-12, 5e-5, 1e-12, 0};
    static const struct {
        const double *arg;
        int n_arg;
        wave_kind kind;
        bool is_v;
        const char *node;
        bool alone;
    } t[] = {{kink, 6, WAVE_PWL, false, "c", true},  {last, 4, WAVE_PWL, false, "c", true},
             {jump, 8, WAVE_PWL, false, "c", false}, {fall, 6, WAVE_PWL, false, "c", false},
             {kink, 6, WAVE_PWL, true, "c", false},  {kink, 6, WAVE_PWL, false, "r", false}};
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        const wave w = {.kind = t[k].kind, .arg = t[k].arg, .n_arg = t[k].n_arg, .pwl_repeat = -1};
        if (k) {
            end();
            begin();
        }
        res.param[0] = 1;
        cap.param[0] = 1e-15;
        const int32_t at = ckt_node(c, t[k].node);
        ck_assert_int_eq(t[k].is_v ? ckt_add_vsource(c, "s", at, 0, &w, 1, DIAG_NOWHERE)
                                   : ckt_add_isource(c, "s", at, 0, &w, 1, DIAG_NOWHERE),
                         VS_OK);
        add(&res, 0, "r1", "r", "c");
        add(&res, 0, "r2", "c", "0");
        add(&cap, 0, "c1", "c", "0");
        ck_assert_int_eq(finish(), VS_OK);
        ck_assert_double_eq(ckt_next_break(c, 0), 1e-12);
        ck_assert_msg(ckt_slopes_alone(c, 1e-12, 1e-26, 2e-12) == t[k].alone, "row %zu", k);
        ck_assert(ckt_slopes_alone(c, 1.5e-12, 1e-26, 2e-12)); /* nothing is there */
    }
}
END_TEST

START_TEST(source_terms_are_what_the_unknowns_do_not_change)
{
    double s[64], rest[2][64];
    conductances();
    ck_assert_int_eq(ckt_add_vsource(c, "v1", ckt_node(c, "a"), 0, &pulse, 1, DIAG_NOWHERE), VS_OK);
    add_i("i1", "b", "0", 0.5);
    add(&res, R1, "r1", "a", "b");
    ck_assert_int_eq(finish(), VS_OK);
    x[1] = 0.75;
    x[2] = -0.5;
    for (int k = 0; k < 2; k++) {
        ckt_env at = tran;
        at.time = k ? 2.5 : 0.5;
        ck_assert_int_eq(load(&at), VS_OK);
        ckt_source_terms(c, &at, s);
        for (int32_t i = 1; i <= ckt_n(c); i++)
            rest[k][i] = f[i] - s[i];
    }
    for (int32_t i = 1; i <= ckt_n(c); i++) /* the values are sums of few bits: no rounding */
        ck_assert_double_eq_tol(rest[0][i], rest[1][i], 0x1p-50);
    ck_assert_double_eq(s[ckt_find(c, "v1#branch")], -5);
    ck_assert_double_eq(s[ckt_find(c, "b")], 0.5);
}
END_TEST

START_TEST(nobody_asks_for_a_step_before_a_load)
{
    res.param[0] = 1;
    add_v("v1", "a", "0", 1);
    add(&res, 0, "r1", "a", "0");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(isinf(ckt_bound_step(c)) && isinf(ckt_asked_step(c)));
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert(isinf(ckt_bound_step(c)) && isinf(ckt_asked_step(c)));
    ck_assert(isinf(ckt_next_break(c, 0)));
    double by;
    ck_assert_int_eq(ckt_wrapped(c, 0, x, &by), -1);
}
END_TEST

START_TEST(a_line_remembers_and_its_waves_are_breakpoints)
{
    const wave step = {.kind = WAVE_PWL,
                       .arg = (const double[]){0, 0, 1, 0, 1.001, 1},
                       .n_arg = 6,
                       .pwl_repeat = -1};
    res.param[0] = 0.02;
    ck_assert_int_eq(ckt_add_vsource(c, "v1", ckt_node(c, "a"), 0, &step, 1, DIAG_NOWHERE), VS_OK);
    const int32_t node[4] = {ckt_node(c, "a"), 0, ckt_node(c, "b"), 0};
    ckt_add_line(c, "t1", node, 50, 0.5, 1, DIAG_NOWHERE);
    add(&res, 0, "r1", "b", "0");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(ckt_has_delays(c) && ckt_gets_breaks(c));
    static const double time[] = {0, 0.5, 1, 1.001, 1.1, 1.2};
    const int32_t a = ckt_find(c, "a"), i1 = ckt_find(c, "t1#i1");
    for (size_t k = 0; k < VS_COUNT(time); k++) {
        ckt_env at = tran;
        at.time = time[k];
        at.reltol = 1e-3;
        at.initial_step = k == 0;
        x[a] = time[k] > 1 ? 1 : 0;
        x[i1] = x[a] / 50;
        ck_assert_int_eq(load(&at), VS_OK);
        ck_assert_int_eq(ckt_accept(c, &at, x), VS_OK);
        (void)ckt_next_break(c, time[k]); /* as a time loop asks: the next point may be a corner */
    }
    const double first = ckt_next_break(c, 1.2); /* the corner of 1 s, at the other end */
    ck_assert_double_eq_tol(first, 1.5, 1e-9);
    ck_assert_double_eq_tol(ckt_next_break(c, first), 1.501, 1e-9);
}
END_TEST

/* -- many nodes -- */

START_TEST(a_flood_of_floating_nodes_is_counted)
{
    cap.param[0] = 1e-12;
    add_v("v1", "in", "0", 1);
    for (int i = 0; i < 13; i++) {
        char name[16], node[16];
        snprintf(name, sizeof name, "c%d", i);
        snprintf(node, sizeof node, "n%d", i);
        add(&cap, 0, name, "in", node);
        snprintf(name, sizeof name, "d%d", i);
        add(&cap, 0, name, node, "0");
    }
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(said("no dc path to ground from node 'n0'"));
    ck_assert(said("no dc path to ground from node 'n9'"));
    ck_assert(!said("from node 'n10'"));
    ck_assert(said("3 more groups of nodes without a dc path to ground"));
}
END_TEST

int main(void)
{
    const TTest *const test[] = {changed_values_load_as_a_circuit_built_with_them,
                                 the_same_values_reach_nothing,
                                 a_row_that_is_shared_moves_as_a_whole,
                                 what_shares_a_row_cannot_change_in_place,
                                 a_shared_row_cannot_be_parted_in_place,
                                 other_terminals_and_nodes_cannot_be_taken_in_place,
                                 of_a_waveform_an_operating_point_sees_its_values_only,
                                 sources_give_their_nodes_at_the_moment_after,
                                 a_client_gives_a_waveform_and_takes_it_back,
                                 slopes_of_currents_at_capacitors_jump_alone,
                                 source_terms_are_what_the_unknowns_do_not_change,
                                 nobody_asks_for_a_step_before_a_load,
                                 a_line_remembers_and_its_waves_are_breakpoints,
                                 a_flood_of_floating_nodes_is_counted};
    Suite *s = suite_create("change");
    TCase *tc = tcase_create("change");
    tcase_add_checked_fixture(tc, begin, end);
    for (size_t k = 0; k < VS_COUNT(test); k++)
        tcase_add_test(tc, test[k]);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
