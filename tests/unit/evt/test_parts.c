/* Each model by its truth table, driven from outside; times of what it puts out. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "../suite.h"
#include "evt_unit.h"

/* One part; every input has a driver, every output a node. */
typedef struct bench {
    evt *e;
    int32_t driver[16], out[8];
    int n_in, n_out;
} bench;

/* n: connections of each port; par as the model has them, NULL: its defaults. */
static bench new_bench(const char *type, const int32_t *n, const double *par,
                       const evt_table *table)
{
    static const char *const names[] = {"n0", "n1", "n2",  "n3",  "n4",  "n5",  "n6",  "n7",
                                        "n8", "n9", "n10", "n11", "n12", "n13", "n14", "n15"};
    bench b = {.e = evt_new()};
    evt_pin pin[16];
    int at = 0;
    evt_part p = {.name = type, .model = evt_find_model(type), .pin = pin};
    ck_assert_ptr_nonnull(p.model);
    for (int i = 0; i < EVT_MOST_PARAMS && p.model->param[i].name; i++)
        p.par[i] = par ? par[i] : p.model->param[i].absent;
    for (int i = 0; i < EVT_MOST_PORTS && p.model->port[i].name; i++) {
        p.n[i] = n[i];
        for (int32_t k = 0; k < n[i]; k++) {
            const int32_t node = evt_add_node(b.e, names[at], EVT_DIGITAL);
            pin[at++] = (evt_pin){node, false};
            if (p.model->port[i].out)
                b.out[b.n_out++] = node;
            else
                b.driver[b.n_in++] = evt_add_driver(b.e, "in", (evt_pin){node, false});
        }
    }
    if (table)
        p.table = *table;
    evt_add_part(b.e, &p);
    evt_finish(b.e);
    return b;
}

static evt_value strong(char c) { return c == 'U' ? EVT_U : (evt_value)(c - '0'); }

static void drive(bench *b, const char *in)
{
    for (int i = 0; i < b->n_in; i++)
        evt_drive(b->e, b->driver[i], strong(in[i]));
    ck_assert_int_eq(evt_settle(b->e), VS_OK);
}

/* At time t (ns) the inputs become these; what changes then is done by t + 50. */
static void step(bench *b, double t, const char *in)
{
    bool changed;
    for (int i = 0; i < b->n_in; i++)
        evt_post(b->e, b->driver[i], strong(in[i]), t * 1e-9);
    ck_assert_int_eq(evt_run(b->e, (t + 50) * 1e-9, 1000, &changed), VS_OK);
    evt_commit(b->e, (t + 50) * 1e-9);
}

static char state(const bench *b, int k)
{
    return "01U"[evt_state((evt_value)evt_now(b->e, b->out[k]))];
}

/* -- gates -- */

static void check_gate(const char *type, const char *const (*t)[2], size_t n_row, int32_t n_in)
{
    for (size_t i = 0; i < n_row; i++) {
        const int32_t n[] = {n_in, 1};
        bench b = new_bench(type, n, NULL, NULL);
        drive(&b, t[i][0]);
        ck_assert_msg(state(&b, 0) == t[i][1][0], "%s %s gives %c, not %s", type, t[i][0],
                      state(&b, 0), t[i][1]);
        /* the same as a change of a transient, from all 0 */
        evt_begin(b.e);
        drive(&b, "000");
        evt_start(b.e);
        step(&b, 1, t[i][0]);
        ck_assert_int_eq(state(&b, 0), t[i][1][0]);
        evt_free(&b.e);
    }
}

START_TEST(gates_of_two_inputs)
{
    static const char *const and_[][2] = {{"00", "0"}, {"01", "0"}, {"11", "1"},
                                          {"0U", "0"}, {"1U", "U"}, {"UU", "U"}};
    static const char *const nand_[][2] = {{"00", "1"}, {"01", "1"}, {"11", "0"},
                                           {"0U", "1"}, {"1U", "U"}, {"UU", "U"}};
    static const char *const or_[][2] = {{"00", "0"}, {"01", "1"}, {"11", "1"},
                                         {"0U", "U"}, {"1U", "1"}, {"UU", "U"}};
    static const char *const nor_[][2] = {{"00", "1"}, {"01", "0"}, {"11", "0"},
                                          {"0U", "U"}, {"1U", "0"}, {"UU", "U"}};
    static const char *const xor_[][2] = {{"00", "0"}, {"01", "1"}, {"11", "0"},
                                          {"0U", "U"}, {"1U", "U"}, {"UU", "U"}};
    static const char *const xnor_[][2] = {{"00", "1"}, {"01", "0"}, {"11", "1"},
                                           {"0U", "U"}, {"1U", "U"}, {"UU", "U"}};
    check_gate("d_and", and_, VS_COUNT(and_), 2);
    check_gate("d_nand", nand_, VS_COUNT(nand_), 2);
    check_gate("d_or", or_, VS_COUNT(or_), 2);
    check_gate("d_nor", nor_, VS_COUNT(nor_), 2);
    check_gate("d_xor", xor_, VS_COUNT(xor_), 2);
    check_gate("d_xnor", xnor_, VS_COUNT(xnor_), 2);
}
END_TEST

START_TEST(gates_of_one_input_and_of_three)
{
    static const char *const buffer[][2] = {{"0", "0"}, {"1", "1"}, {"U", "U"}};
    static const char *const inverter[][2] = {{"0", "1"}, {"1", "0"}, {"U", "U"}};
    static const char *const parity[][2] = {{"111", "1"}, {"110", "0"}, {"100", "1"}, {"11U", "U"}};
    check_gate("d_buffer", buffer, VS_COUNT(buffer), 1);
    check_gate("d_inverter", inverter, VS_COUNT(inverter), 1);
    check_gate("d_xor", parity, VS_COUNT(parity), 3);
}
END_TEST

static void check_values(const char *type, const char *const (*t)[2], size_t n_row,
                         const int32_t *n)
{
    for (size_t i = 0; i < n_row; i++) {
        bench b = new_bench(type, n, NULL, NULL);
        drive(&b, t[i][0]);
        ck_assert_str_eq(evt_text((evt_value)evt_now(b.e, b.out[0])), t[i][1]);
        evt_free(&b.e);
    }
}

START_TEST(strengths_of_drivers)
{
    static const char *const tristate[][2] = {
        {"01", "0s"}, {"11", "1s"}, {"10", "1z"}, {"U0", "Uz"}, {"1U", "1u"}};
    static const char *const open_c[][2] = {{"0", "0s"}, {"1", "1z"}, {"U", "Uu"}};
    static const char *const open_e[][2] = {{"0", "0z"}, {"1", "1s"}, {"U", "Uu"}};
    static const char *const up[][2] = {{"", "1r"}}, *const down[][2] = {{"", "0r"}};
    const int32_t two[] = {1, 1, 1}, one[] = {1, 1}, none[] = {1};
    check_values("d_tristate", tristate, VS_COUNT(tristate), two);
    check_values("d_open_c", open_c, VS_COUNT(open_c), one);
    check_values("d_open_e", open_e, VS_COUNT(open_e), one);
    check_values("d_pullup", up, 1, none);
    check_values("d_pulldown", down, 1, none);
}
END_TEST

/* -- flip-flops and latches: inputs in the order of ports; out and its complement -- */

typedef struct move {
    const char *in;
    char out;
} move;

static void check_moves(const char *type, int n_in, const move *m, size_t n_move)
{
    int32_t n[EVT_MOST_PORTS] = {1, 1, 1, 1, 1, 1, 1};
    bench b = new_bench(type, n, NULL, NULL);
    ck_assert_int_eq(b.n_in, n_in);
    for (size_t i = 0; i < n_move; i++) {
        if (!i) {
            drive(&b, m[i].in);
            evt_start(b.e);
        } else {
            step(&b, 100 * (double)i, m[i].in);
        }
        ck_assert_msg(state(&b, 0) == m[i].out, "%s, move %zu, %s: %c, not %c", type, i, m[i].in,
                      state(&b, 0), m[i].out);
        const char n_out = m[i].out == 'U' ? 'U' : m[i].out == '1' ? '0' : '1';
        ck_assert_int_eq(state(&b, 1), n_out);
    }
    evt_free(&b.e);
}

START_TEST(d_flip_flop)
{
    static const move m[] = {/* data clk set reset */
                             {"0000", '0'}, {"1000", '0'}, {"1100", '1'}, {"0100", '1'},
                             {"0000", '1'}, {"0100", '0'}, {"0110", '1'}, {"0010", '1'},
                             {"0011", 'U'}, {"0001", '0'}, {"1101", '0'}, {"1100", '0'},
                             {"1000", '0'}, {"1U00", '0'}, {"1100", '1'}, {"U000", '1'},
                             {"U100", 'U'}, {"U10U", 'U'}, {"U101", '0'}};
    check_moves("d_dff", 4, m, VS_COUNT(m));
    static const move at_start[] = {{"0010", '1'}, {"0000", '1'}};
    check_moves("d_dff", 4, at_start, VS_COUNT(at_start));
}
END_TEST

START_TEST(jk_flip_flop)
{
    static const move m[] = {/* j k clk set reset */
                             {"00000", '0'}, {"10000", '0'}, {"10100", '1'}, {"01000", '1'},
                             {"01100", '0'}, {"11000", '0'}, {"11100", '1'}, {"11000", '1'},
                             {"11100", '0'}, {"00000", '0'}, {"00100", '0'}, {"1U000", '0'},
                             {"1U100", 'U'}, {"00001", '0'}};
    check_moves("d_jkff", 5, m, VS_COUNT(m));
}
END_TEST

START_TEST(t_flip_flop)
{
    static const move m[] = {/* t clk set reset */
                             {"0000", '0'}, {"0100", '0'}, {"1000", '0'},
                             {"1100", '1'}, {"1000", '1'}, {"1100", '0'},
                             {"U000", '0'}, {"U100", 'U'}, {"1010", '1'}};
    check_moves("d_tff", 4, m, VS_COUNT(m));
}
END_TEST

START_TEST(sr_flip_flop)
{
    static const move m[] = {/* s r clk set reset */
                             {"00000", '0'}, {"10000", '0'}, {"10100", '1'},
                             {"00000", '1'}, {"00100", '1'}, {"01000", '1'},
                             {"01100", '0'}, {"11000", '0'}, {"11100", 'U'}};
    check_moves("d_srff", 5, m, VS_COUNT(m));
}
END_TEST

START_TEST(d_latch)
{
    static const move m[] = {/* data enable set reset */
                             {"1100", '1'}, {"0100", '0'}, {"1100", '1'}, {"1000", '1'},
                             {"0000", '1'}, {"0100", '0'}, {"0110", '1'}, {"0100", '0'},
                             {"1000", '0'}, {"1001", '0'}, {"1101", '0'}, {"1100", '1'}};
    check_moves("d_dlatch", 4, m, VS_COUNT(m));
}
END_TEST

START_TEST(sr_latch)
{
    static const move m[] = {/* s r enable set reset */
                             {"10100", '1'}, {"00100", '1'}, {"01100", '0'}, {"10000", '0'},
                             {"10100", '1'}, {"11100", 'U'}, {"01000", 'U'}, {"01100", '0'}};
    check_moves("d_srlatch", 5, m, VS_COUNT(m));
}
END_TEST

START_TEST(delays_of_a_flip_flop_add_up)
{
    /* clk set reset ic rise fall: a clocked rise takes 3 + 5, a reset 2 + 7 ns */
    const double par[EVT_MOST_PARAMS] = {3e-9, 1e-9, 2e-9, 0, 5e-9, 7e-9};
    int32_t n[] = {1, 1, 1, 1, 1, 1};
    bench b = new_bench("d_dff", n, par, NULL);
    drive(&b, "1000");
    evt_start(b.e);
    step(&b, 100, "1100");
    step(&b, 200, "1101");
    size_t n_change;
    const evt_change *c = evt_record(b.e, &n_change);
    double rise = 0, fall = 0;
    for (size_t i = 0; i < n_change; i++)
        if (c[i].node == b.out[0])
            *(c[i].value == EVT_1 ? &rise : &fall) = c[i].t;
    ck_assert_double_eq_tol(rise, 108e-9, 1e-20);
    ck_assert_double_eq_tol(fall, 209e-9, 1e-20);
    evt_free(&b.e);
}
END_TEST

START_TEST(divider_by_five_is_high_for_two)
{
    const double par[EVT_MOST_PARAMS] = {5, 2, 0, 1e-9, 1e-9};
    const int32_t n[] = {1, 1};
    bench b = new_bench("d_fdiv", n, par, NULL);
    drive(&b, "0");
    evt_start(b.e);
    static const char want[] = "110001100011";
    for (int i = 0; want[i]; i++) {
        step(&b, 200 * i + 100, "1");
        ck_assert_int_eq(state(&b, 0), want[i]);
        step(&b, 200 * i + 200, "0");
        ck_assert_int_eq(state(&b, 0), want[i]);
    }
    evt_free(&b.e);
}
END_TEST

/* -- tables -- */

START_TEST(look_up_tables_count_inputs_from_the_lowest)
{
    const uint8_t one[] = {EVT_0, EVT_1, EVT_1, EVT_U};
    const evt_table t = {.value = one, .n_value = 4};
    static const char *const rows[][2] = {
        {"00", "0"}, {"10", "1"}, {"01", "1"}, {"11", "U"}, {"U0", "U"}};
    for (size_t i = 0; i < VS_COUNT(rows); i++) {
        const int32_t n[] = {2, 1};
        bench b = new_bench("d_lut", n, NULL, &t);
        drive(&b, rows[i][0]);
        ck_assert_int_eq(state(&b, 0), rows[i][1][0]);
        evt_free(&b.e);
    }
    const uint8_t two[] = {0, 1, 0, 0, 1, 1, 8, 1}; /* two outputs of two inputs; 8: Uz */
    const evt_table g = {.value = two, .n_value = 8};
    const int32_t n[] = {2, 2};
    bench b = new_bench("d_genlut", n, NULL, &g);
    drive(&b, "10");
    ck_assert_int_eq(state(&b, 0), '1');
    ck_assert_int_eq(state(&b, 1), '1');
    evt_start(b.e);
    step(&b, 1, "01");
    ck_assert_int_eq(state(&b, 0), '0');
    ck_assert_str_eq(evt_text((evt_value)evt_now(b.e, b.out[1])), "Uz");
    evt_free(&b.e);
}
END_TEST

START_TEST(a_source_plays_its_rows)
{
    const double time[] = {0, 1e-9, 4e-9};
    const uint8_t value[] = {0, 1, 1, 4, 8, 4};
    const evt_table t = {time, value, 3, 6, 3};
    const int32_t n[] = {2};
    bench b = new_bench("d_source", n, NULL, &t);
    bool changed;
    drive(&b, "");
    ck_assert_str_eq(evt_text((evt_value)evt_now(b.e, b.out[0])), "0s");
    evt_start(b.e);
    ck_assert_int_eq(evt_run(b.e, 1, 100, &changed), VS_OK);
    evt_commit(b.e, 1);
    size_t k;
    const evt_change *c = evt_record(b.e, &k);
    ck_assert_uint_eq(k, 3);
    ck_assert(c[0].t == 1e-9 && c[0].value == 1 && c[1].value == 4 && c[2].t == 4e-9);
    ck_assert_int_eq(c[2].value, 8);
    evt_free(&b.e);
}
END_TEST

/* Two bits up and down: in clk reset, outputs. */
START_TEST(a_state_machine_counts)
{
    const double row[] = {0, 3, 0, 1, 1, 0, 1, 2, 2, 1, 2, 3, 3, 2, 3, 0};
    const uint8_t value[] = {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1,
                             1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1};
    const evt_table t = {row, value, 16, 24, 8};
    const int32_t n[] = {1, 1, 1, 2};
    bench b = new_bench("d_state", n, NULL, &t);
    static const char *const in[] = {"110", "100", "110", "100", "110", "010",
                                     "000", "010", "011", "010", "000", "010"};
    static const char *const want[] = {"01", "01", "10", "10", "11", "11",
                                       "11", "10", "00", "00", "00", "11"};
    drive(&b, "100");
    evt_start(b.e);
    for (size_t i = 0; i < VS_COUNT(in); i++) {
        step(&b, 100 * (double)i + 1, in[i]);
        ck_assert_msg(state(&b, 0) == want[i][0] && state(&b, 1) == want[i][1],
                      "move %zu: %c%c, not %s", i, state(&b, 0), state(&b, 1), want[i]);
    }
    evt_free(&b.e);
}
END_TEST

/* Two words of one bit: data address write select. */
START_TEST(a_memory_reads_what_was_written)
{
    const int32_t n[] = {1, 1, 1, 1, 1};
    const double par[EVT_MOST_PARAMS] = {1e-9, 1, 2};
    bench b = new_bench("d_ram", n, par, NULL);
    static const char *const in[] = {"1011", "1001", "0111", "0101", "0001", "0000", "00U1"};
    static const char *const want[] = {"1z", "1s", "0z", "0s", "1s", "Uz", "0z"};
    drive(&b, "0001");
    ck_assert_str_eq(evt_text((evt_value)evt_now(b.e, b.out[0])), "Us");
    evt_start(b.e);
    for (size_t i = 0; i < VS_COUNT(in); i++) {
        step(&b, 100 * (double)i + 1, in[i]);
        ck_assert_str_eq(evt_text((evt_value)evt_now(b.e, b.out[0])), want[i]);
    }
    evt_free(&b.e);
}
END_TEST

/* ~ inverts at inputs and at outputs. */
START_TEST(pins_invert)
{
    for (int by = 0; by < 4; by++) {
        evt *e = evt_new();
        const int32_t a = evt_add_node(e, "a", EVT_DIGITAL), y = evt_add_node(e, "y", EVT_DIGITAL),
                      in = evt_add_driver(e, "in", (evt_pin){a, false});
        const evt_pin pin[] = {{a, by & 1}, {y, by >> 1}};
        evt_add_part(
            e,
            &(evt_part){.name = "g", .model = evt_find_model("d_buffer"), .pin = pin, .n = {1, 1}});
        evt_finish(e);
        evt_drive(e, in, EVT_1);
        ck_assert_int_eq(evt_settle(e), VS_OK);
        ck_assert_int_eq(evt_now(e, y), by == 1 || by == 2 ? EVT_0 : EVT_1);
        evt_free(&e);
    }
}
END_TEST

/* Two drivers of one node, as open collectors with a pull-up have. */
START_TEST(a_wired_and_needs_all)
{
    for (int in = 0; in < 4; in++) {
        evt *e = evt_new();
        const double par[] = {1e-9, 1e-9, 0};
        const int32_t y = evt_add_node(e, "y", EVT_DIGITAL);
        const evt_pin out = {y, false};
        for (int k = 0; k < 2; k++) {
            const int32_t a = evt_add_node(e, k ? "b" : "a", EVT_DIGITAL);
            (void)evt_add_driver(e, "in", (evt_pin){a, false});
            add_gate(e, "d_open_c", &a, 1, y, par);
        }
        evt_add_part(
            e,
            &(evt_part){.name = "up", .model = evt_find_model("d_pullup"), .pin = &out, .n = {1}});
        evt_finish(e);
        for (int32_t k = 0; k < 2; k++)
            evt_drive(e, 2 * k, in >> k & 1);
        ck_assert_int_eq(evt_settle(e), VS_OK);
        ck_assert_str_eq(evt_text((evt_value)evt_now(e, y)), in == 3 ? "1r" : "0s");
        evt_free(&e);
    }
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("parts");
    tcase_add_test(tc, gates_of_two_inputs);
    tcase_add_test(tc, gates_of_one_input_and_of_three);
    tcase_add_test(tc, strengths_of_drivers);
    tcase_add_test(tc, d_flip_flop);
    tcase_add_test(tc, jk_flip_flop);
    tcase_add_test(tc, t_flip_flop);
    tcase_add_test(tc, sr_flip_flop);
    tcase_add_test(tc, d_latch);
    tcase_add_test(tc, sr_latch);
    tcase_add_test(tc, delays_of_a_flip_flop_add_up);
    tcase_add_test(tc, divider_by_five_is_high_for_two);
    tcase_add_test(tc, look_up_tables_count_inputs_from_the_lowest);
    tcase_add_test(tc, a_source_plays_its_rows);
    tcase_add_test(tc, a_state_machine_counts);
    tcase_add_test(tc, a_memory_reads_what_was_written);
    tcase_add_test(tc, pins_invert);
    tcase_add_test(tc, a_wired_and_needs_all);
    Suite *s = suite_create("evt/parts");
    suite_add_tcase(s, tc);
    return run_suite(s);
}
