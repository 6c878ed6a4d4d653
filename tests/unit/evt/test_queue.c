/* Values and their resolution; the queue, the journal, the record, images. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "../suite.h"
#include "evt_unit.h"

static const evt_value S0 = 0, S1 = 1, SU = 2;

/* -- values -- */

START_TEST(texts_are_read_back)
{
    for (int v = 0; v < EVT_N_VALUE; v++)
        ck_assert_int_eq(evt_read(evt_text((evt_value)v), 2), v);
    ck_assert_int_eq(evt_read("us", 2), evt_of(EVT_U, EVT_STRONG));
    ck_assert_int_eq(evt_read("2s", 2), -1);
    ck_assert_int_eq(evt_read("0s1", 3), -1);
}
END_TEST

START_TEST(order_of_two_drivers_does_not_matter)
{
    for (int a = 0; a < EVT_N_VALUE; a++)
        for (int b = 0; b < EVT_N_VALUE; b++)
            ck_assert_int_eq(evt_resolve((evt_value)a, (evt_value)b),
                             evt_resolve((evt_value)b, (evt_value)a));
}
END_TEST

/* XSPICE's table of two drivers: of each pair of texts what they give. */
START_TEST(two_drivers_give_what_the_manual_says)
{
    static const char *const t[][3] = {
        {"0s", "0s", "0s"}, {"0s", "1s", "Us"}, {"1s", "0r", "1s"}, {"0s", "1z", "0s"},
        {"0s", "0u", "0s"}, {"0s", "1u", "Us"}, {"1s", "Uu", "Us"}, {"Us", "0r", "Us"},
        {"0r", "1r", "Ur"}, {"1r", "0z", "1r"}, {"0r", "0u", "0u"}, {"0r", "1u", "Uu"},
        {"Ur", "1r", "Ur"}, {"0z", "1z", "Uz"}, {"1z", "1z", "1z"}, {"1z", "Uz", "Uz"},
        {"0z", "0u", "0u"}, {"1z", "0u", "Uu"}, {"Uz", "1u", "Uu"}, {"0u", "1u", "Uu"},
        {"1u", "1u", "1u"}, {"Uz", "0r", "0r"}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        ck_assert_str_eq(
            evt_text(evt_resolve((evt_value)evt_read(t[i][0], 2), (evt_value)evt_read(t[i][1], 2))),
            t[i][2]);
}
END_TEST

/* -- the queue: one driver into a chain of two buffers, 1 ns and 2 ns -- */

typedef struct chain {
    evt *e;
    int32_t a, b, c, driver;
} chain;

static chain new_chain(bool inertial)
{
    chain x = {.e = evt_new()};
    const double slow[] = {2e-9, 2e-9, inertial}, fast[] = {1e-9, 1e-9, inertial};
    x.a = evt_add_node(x.e, "a", EVT_DIGITAL);
    x.b = evt_add_node(x.e, "b", EVT_DIGITAL);
    x.c = evt_add_node(x.e, "c", EVT_DIGITAL);
    x.driver = evt_add_driver(x.e, "in", (evt_pin){x.a, false});
    add_gate(x.e, "d_buffer", &x.a, 1, x.b, fast);
    add_gate(x.e, "d_buffer", &x.b, 1, x.c, slow);
    evt_finish(x.e);
    evt_drive(x.e, x.driver, S0);
    ck_assert_int_eq(evt_settle(x.e), VS_OK);
    evt_start(x.e);
    return x;
}

static void run(evt *e, double t)
{
    bool changed;
    do
        ck_assert_int_eq(evt_run(e, t, 1 << 20, &changed), VS_OK);
    while (changed);
}

static void check_record(evt *e, const char *want)
{
    char text[512] = "";
    size_t n, at = 0;
    evt_commit(e, evt_horizon(e));
    const evt_change *c = evt_record(e, &n);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%s@%g", i ? " " : "",
                               evt_node_name(e, c[i].node), evt_text(c[i].value), c[i].t * 1e9);
    ck_assert_str_eq(text, want);
}

START_TEST(changes_come_one_delay_after_another)
{
    chain x = new_chain(false);
    evt_post(x.e, x.driver, S1, 1e-9);
    run(x.e, 10e-9);
    check_record(x.e, "a=1s@1 b=1s@2 c=1s@4");
    ck_assert_double_eq(evt_horizon(x.e), 10e-9);
    ck_assert(isinf(evt_next(x.e)));
    evt_free(&x.e);
}
END_TEST

START_TEST(transport_delay_lets_short_pulses_pass)
{
    chain x = new_chain(false);
    evt_post(x.e, x.driver, S1, 1e-9);
    evt_post(x.e, x.driver, S0, 1.5e-9);
    run(x.e, 10e-9);
    check_record(x.e, "a=1s@1 a=0s@1.5 b=1s@2 b=0s@2.5 c=1s@4 c=0s@4.5");
    evt_free(&x.e);
}
END_TEST

/* 0.5 ns into 1 ns: nothing comes out. */
START_TEST(inertial_delay_swallows_short_pulses)
{
    chain x = new_chain(true);
    evt_post(x.e, x.driver, S1, 1e-9);
    evt_post(x.e, x.driver, S0, 1.5e-9);
    run(x.e, 10e-9);
    check_record(x.e, "a=1s@1 a=0s@1.5");
    evt_free(&x.e);
}
END_TEST

START_TEST(a_later_decision_replaces_pending_ones)
{
    chain x = new_chain(false);
    evt_post(x.e, x.driver, S1, 3e-9);
    evt_post(x.e, x.driver, SU, 5e-9);
    evt_post(x.e, x.driver, S1, 2e-9); /* both are behind it */
    run(x.e, 4e-9);
    check_record(x.e, "a=1s@2 b=1s@3");
    evt_free(&x.e);
}
END_TEST

START_TEST(a_removed_event_is_not_the_next_one)
{
    chain x = new_chain(false);
    bool changed;
    evt_post(x.e, x.driver, S1, 3e-9);
    evt_post(x.e, x.driver, S0, 2e-9); /* nothing changes */
    ck_assert_int_eq(evt_run(x.e, 10e-9, 1, &changed), VS_OK);
    ck_assert_double_eq(evt_horizon(x.e), 2e-9);
    ck_assert(isinf(evt_next(x.e)));
    evt_rollback(x.e, 1e-9);
    ck_assert_double_eq(evt_next(x.e), 2e-9);
    run(x.e, 10e-9);
    check_record(x.e, "");
    evt_free(&x.e);
}
END_TEST

START_TEST(rollback_undoes_and_runs_again_the_same)
{
    chain x = new_chain(false);
    evt_post(x.e, x.driver, S1, 1e-9);
    evt_post(x.e, x.driver, S0, 3e-9);
    for (int i = 0; i < 3; i++) {
        run(x.e, 10e-9);
        ck_assert_int_eq(evt_before(x.e, x.c, 5e-9), S1);
        ck_assert_int_eq(evt_now(x.e, x.c), S0);
        evt_rollback(x.e, (3 - i) * 1e-9);
        ck_assert_double_eq(evt_horizon(x.e), (3 - i) * 1e-9);
        ck_assert_int_eq(evt_now(x.e, x.a), i == 0 ? S0 : S1);
    }
    run(x.e, 10e-9);
    check_record(x.e, "a=1s@1 b=1s@2 a=0s@3 c=1s@4 b=0s@4 c=0s@6");
    evt_free(&x.e);
}
END_TEST

START_TEST(a_post_after_rollback_changes_what_follows)
{
    chain x = new_chain(false);
    evt_post(x.e, x.driver, S1, 1e-9);
    run(x.e, 10e-9);
    evt_rollback(x.e, 1.5e-9);
    evt_post(x.e, x.driver, SU, 1.5e-9);
    run(x.e, 10e-9);
    check_record(x.e, "a=1s@1 a=Us@1.5 b=1s@2 b=Us@2.5 c=1s@4 c=Us@4.5");
    evt_free(&x.e);
}
END_TEST

START_TEST(commit_keeps_what_was_and_frees_events)
{
    chain x = new_chain(false);
    for (int i = 1; i <= 20000; i++) {
        evt_post(x.e, x.driver, i % 2 ? S1 : S0, i * 10e-9);
        run(x.e, i * 10e-9 + 5e-9);
        evt_commit(x.e, i * 10e-9 + 4e-9);
    }
    size_t n;
    const evt_change *c = evt_record(x.e, &n);
    ck_assert_uint_eq(n, 3 * 20000);
    for (size_t i = 1; i < n; i++)
        ck_assert(c[i].t >= c[i - 1].t && c[i].value != c[i].old);
    evt_free(&x.e);
}
END_TEST

START_TEST(values_before_a_time_go_both_ways)
{
    chain x = new_chain(false);
    evt_post(x.e, x.driver, S1, 1e-9);
    run(x.e, 10e-9);
    static const double t[] = {1e-9, 4.1e-9, 2e-9, 2.1e-9, 0.5e-9, 9e-9};
    static const char *const want[] = {"000", "111", "100", "110", "000", "111"};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        for (int32_t k = 0; k < 3; k++)
            ck_assert_int_eq(evt_before(x.e, k, t[i]), want[i][k] - '0');
    evt_free(&x.e);
}
END_TEST

START_TEST(a_watched_node_stops_the_run)
{
    chain x = new_chain(false);
    bool changed;
    evt_watch(x.e, x.b, false);
    evt_post(x.e, x.driver, S1, 1e-9);
    ck_assert_int_eq(evt_run(x.e, 10e-9, 100, &changed), VS_OK);
    ck_assert(changed);
    ck_assert_double_eq(evt_horizon(x.e), 2e-9);
    evt_free(&x.e);
}
END_TEST

START_TEST(a_loop_without_delay_is_named)
{
    evt *e = evt_new();
    bool changed;
    const double none[] = {0, 0, 0};
    const int32_t n = evt_add_node(e, "ring", EVT_DIGITAL),
                  in[] = {n, evt_add_node(e, "go", EVT_DIGITAL)};
    const int32_t go = evt_add_driver(e, "go", (evt_pin){in[1], false});
    add_gate(e, "d_nand", in, 2, n, none);
    evt_finish(e);
    evt_drive(e, go, S0);
    ck_assert_int_eq(evt_settle(e), VS_OK);
    evt_start(e);
    evt_post(e, go, S1, 1e-9);
    ck_assert_int_eq(evt_run(e, 1, 100, &changed), VS_NOCONV);
    ck_assert_str_eq(evt_blame(e).node, "ring");
    ck_assert_double_eq(evt_blame(e).time, 1e-9);
    evt_begin(e);
    evt_drive(e, go, S1);
    ck_assert_int_eq(evt_settle(e), VS_NOCONV);
    ck_assert_str_eq(evt_blame(e).node, "ring");
    evt_free(&e);
}
END_TEST

/* The image of a run that is ahead goes on in another evt as in the first. */
START_TEST(an_image_goes_on)
{
    chain x = new_chain(true), y = new_chain(true);
    for (int i = 1; i < 9; i++)
        evt_post(x.e, x.driver, i % 2 ? S1 : S0, i * 1.7e-9);
    run(x.e, 9e-9);
    evt_commit(x.e, 5e-9);
    image im = image_take();
    evt_image(x.e, &im);
    image back = image_give(im.bytes, image_size(&im));
    evt_image(y.e, &back);
    ck_assert_ptr_null(back.wrong);
    run(x.e, 40e-9);
    run(y.e, 40e-9);
    evt_commit(x.e, 40e-9);
    evt_commit(y.e, 40e-9);
    size_t n, m;
    const evt_change *a = evt_record(x.e, &n), *b = evt_record(y.e, &m);
    ck_assert_uint_eq(n, m);
    ck_assert_uint_ge(n, 16);
    for (size_t i = 0; i < n; i++)
        ck_assert(a[i].t == b[i].t && a[i].node == b[i].node && a[i].value == b[i].value);
    vec_free(im.bytes);
    evt_free(&x.e);
    evt_free(&y.e);
}
END_TEST

/* Whatever bytes of an image are changed, what it gives back can run. */
START_TEST(a_damaged_image_is_refused_or_runs)
{
    chain x = new_chain(true);
    evt_post(x.e, x.driver, S1, 1e-9);
    evt_post(x.e, x.driver, S0, 7e-9);
    run(x.e, 3e-9);
    evt_commit(x.e, 3e-9);
    image im = image_take();
    evt_image(x.e, &im);
    const size_t n = image_size(&im);
    for (size_t i = 0; i < n; i++)
        for (int by = 0; by < 3; by++) {
            static const uint8_t with[] = {0x01, 0x80, 0xff};
            chain y = new_chain(true);
            im.bytes[i] ^= with[by];
            image back = image_give(im.bytes, n);
            evt_image(y.e, &back);
            bool changed;
            const vs_status st = evt_run(y.e, 100e-9, 1000, &changed);
            ck_assert(st == VS_OK || st == VS_NOCONV);
            im.bytes[i] ^= with[by];
            evt_free(&y.e);
        }
    vec_free(im.bytes);
    evt_free(&x.e);
}
END_TEST

/* A bit becomes -1 or 1, y = 2 x + y/4 with a delay of 2 ns, and z is -y at each edge to 1. */
typedef struct filter {
    evt *e;
    int32_t driver, y, z;
} filter;

static filter new_filter(void)
{
    filter f = {.e = evt_new()};
    const int32_t a = evt_add_node(f.e, "a", EVT_DIGITAL), x = evt_add_node(f.e, "x", EVT_NUMBER);
    f.y = evt_add_node(f.e, "y", EVT_NUMBER);
    f.z = evt_add_node(f.e, "z", EVT_NUMBER);
    f.driver = evt_add_driver(f.e, "in", (evt_pin){a, false});
    const struct {
        const char *type;
        evt_pin pin[3];
        int32_t n[3];
        double par[5];
    } part[] = {{"d_to_real", {{a, false}, {x, false}}, {1, 0, 1}, {-1, 1, 1e-9}},
                {"real_gain", {{x, false}, {f.y, false}}, {1, 1}, {0, 2, 0, 2e-9, 0}},
                {"real_gain", {{f.y, false}, {f.y, false}}, {1, 1}, {0, 0.25, 0, 2e-9, 0}},
                {"real_delay", {{f.y, false}, {a, false}, {f.z, true}}, {1, 1, 1}, {1e-9}}};
    for (size_t i = 0; i < VS_COUNT(part); i++) {
        evt_part p = {
            .name = part[i].type, .model = evt_find_model(part[i].type), .pin = part[i].pin};
        memcpy(p.n, part[i].n, sizeof part[i].n);
        memcpy(p.par, part[i].par, sizeof part[i].par);
        evt_add_part(f.e, &p);
    }
    evt_finish(f.e);
    evt_drive(f.e, f.driver, S0);
    ck_assert_int_eq(evt_settle(f.e), VS_OK);
    evt_start(f.e);
    return f;
}

/* Values of y and z up to 40 ns, going back again and again or not. */
static size_t filtered(filter *f, bool back, evt_change *to, size_t most)
{
    for (int i = 1; i < 5; i++)
        evt_post(f->e, f->driver, i % 2 ? S1 : S0, i * 7.3e-9);
    for (int i = 1; i <= 40; i++) {
        if (back)
            run(f->e, (i + 17) * 1e-9);
        evt_rollback(f->e, (i - 1) * 1e-9);
        run(f->e, i * 1e-9);
        evt_commit(f->e, i * 1e-9);
    }
    size_t n;
    const evt_change *c = evt_record(f->e, &n);
    ck_assert_uint_le(n, most);
    memcpy(to, c, n * sizeof *c);
    return n;
}

START_TEST(numbers_pass_and_are_taken_back)
{
    static evt_change a[400], b[400];
    filter f = new_filter(), g = new_filter();
    const size_t n = filtered(&f, false, a, VS_COUNT(a)), m = filtered(&g, true, b, VS_COUNT(b));
    ck_assert_uint_eq(n, m);
    double y = 0, z = 0;
    int edges = 0;
    for (size_t i = 0; i < n; i++) {
        ck_assert(a[i].t == b[i].t && a[i].node == b[i].node && a[i].value == b[i].value);
        if (a[i].node == f.z) {
            ck_assert_double_eq(a[i].value, z);
            edges++;
        }
        y = a[i].node == f.y ? a[i].value : y;
        z = a[i].node == 0 && a[i].value == EVT_1 ? -y : z;
    }
    ck_assert_int_eq(edges, 2);
    /* x is -1 from 30.2 ns on, y tends to 2 x (1 + 1/4 + ...), and has taken four steps */
    ck_assert_double_eq_tol(y, -8.0 / 3, 16.0 / 3 * pow(0.25, 4));
    evt_free(&f.e);
    evt_free(&g.e);
}
END_TEST

START_TEST(an_image_of_numbers_goes_on_or_is_refused)
{
    filter f = new_filter();
    evt_post(f.e, f.driver, S1, 2e-9);
    evt_post(f.e, f.driver, S0, 9e-9);
    run(f.e, 6e-9);
    evt_commit(f.e, 6e-9);
    image im = image_take();
    evt_image(f.e, &im);
    const size_t size = image_size(&im);
    run(f.e, 60e-9);
    evt_commit(f.e, 60e-9);
    size_t n, m;
    const evt_change *c = evt_record(f.e, &n);
    for (size_t i = 0; i <= size; i++) {
        filter g = new_filter();
        if (i < size)
            im.bytes[i] ^= 0xff;
        image back = image_give(im.bytes, size);
        evt_image(g.e, &back);
        bool changed;
        const vs_status st = evt_run(g.e, 60e-9, 1000, &changed);
        ck_assert(st == VS_OK || st == VS_NOCONV);
        if (i < size) {
            im.bytes[i] ^= 0xff;
        } else {
            evt_commit(g.e, 60e-9);
            const evt_change *d = evt_record(g.e, &m);
            ck_assert_uint_eq(n, m);
            ck_assert_double_eq(c[n - 1].value, d[n - 1].value);
            ck_assert_double_eq(c[n - 1].t, d[n - 1].t);
        }
        evt_free(&g.e);
    }
    vec_free(im.bytes);
    evt_free(&f.e);
}
END_TEST

START_TEST(too_large_a_number_is_named)
{
    evt *e = evt_new();
    bool changed;
    const int32_t y = evt_add_node(e, "y", EVT_NUMBER);
    const evt_pin pin[] = {{y, false}, {y, false}};
    evt_add_part(e, &(evt_part){.name = "g",
                                .model = evt_find_model("real_gain"),
                                .pin = pin,
                                .n = {1, 1},
                                .par = {0, 1e200, 0, 1e-9, 1}});
    evt_finish(e);
    ck_assert_int_eq(evt_settle(e), VS_OK);
    ck_assert_double_eq(evt_now(e, y), 1);
    evt_start(e);
    ck_assert_int_eq(evt_run(e, 1, 1000, &changed), VS_NOCONV);
    ck_assert(evt_blame(e).overflow);
    ck_assert_str_eq(evt_blame(e).node, "y");
    ck_assert_double_eq_tol(evt_blame(e).time, 3e-9, 1e-22);
    evt_free(&e);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("queue");
    tcase_add_test(tc, numbers_pass_and_are_taken_back);
    tcase_add_test(tc, an_image_of_numbers_goes_on_or_is_refused);
    tcase_add_test(tc, too_large_a_number_is_named);
    tcase_add_test(tc, texts_are_read_back);
    tcase_add_test(tc, order_of_two_drivers_does_not_matter);
    tcase_add_test(tc, two_drivers_give_what_the_manual_says);
    tcase_add_test(tc, changes_come_one_delay_after_another);
    tcase_add_test(tc, transport_delay_lets_short_pulses_pass);
    tcase_add_test(tc, inertial_delay_swallows_short_pulses);
    tcase_add_test(tc, a_later_decision_replaces_pending_ones);
    tcase_add_test(tc, a_removed_event_is_not_the_next_one);
    tcase_add_test(tc, rollback_undoes_and_runs_again_the_same);
    tcase_add_test(tc, a_post_after_rollback_changes_what_follows);
    tcase_add_test(tc, commit_keeps_what_was_and_frees_events);
    tcase_add_test(tc, values_before_a_time_go_both_ways);
    tcase_add_test(tc, a_watched_node_stops_the_run);
    tcase_add_test(tc, a_loop_without_delay_is_named);
    tcase_add_test(tc, an_image_goes_on);
    tcase_add_test(tc, a_damaged_image_is_refused_or_runs);
    Suite *s = suite_create("evt/queue");
    suite_add_tcase(s, tc);
    return run_suite(s);
}
