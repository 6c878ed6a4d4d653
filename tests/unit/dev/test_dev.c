/* Tests of src/dev: rows shared by instances, runs of outputs, limiting and hidden state. */
#include <check.h>
#include <stdlib.h>

#include "../ckt/mock_mdl.h"
#include "dev.h"

static arena mem;
static mdl_model m;
static dev_group g;

static void begin(void)
{
    arena_init(&mem);
}

static void end(void)
{
    dev_group_fini(&g);
    mock_fini(&m);
    arena_fini(&mem);
}

static void make(const int32_t *row, int32_t nb)
{
    int32_t inst[64], unk[64][MOCK_MAX_U];
    const int32_t *unknown[64];
    for (int32_t i = 0; i < nb; i++) {
        inst[i] = 100 + i;
        unk[i][0] = i + 1;
        unk[i][1] = 0;
        unknown[i] = unk[i];
    }
    dev_group_init(&g, &mem, &m, inst, row, nb);
    for (int f = MDL_DC; f <= MDL_TRAN; f++)
        dev_form_add(&g, &mem, f, &m.variant[f], unknown, true);
    dev_state_init(&g, &mem);
}

START_TEST(instances_of_one_row_share_its_setup)
{
    static const int32_t row[] = {0, 0, 0, 2, 2, 5};
    mock_resistor(&m);
    for (int r = 0; r < MOCK_MAX_ROW; r++)
        m.param[r] = r + 1;
    make(row, 6);
    ck_assert_int_eq(g.n_row, 3);
    ck_assert_int_eq(m.n_setup, 6); /* three rows, two forms */
    ck_assert_ptr_eq(g.form[MDL_DC].map, g.form[MDL_TRAN].map);
    double x[8] = {0, 1, 1, 1, 1, 1, 1}, out[6 * 6], dyn[IR_N_DYN] = {0};
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 6, false, out), VS_OK);
    static const double want[] = {1, 1, 1, 3, 3, 6};
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(out[6 * i], want[i]);
    double part[6];
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 3, 4, false, part), VS_OK);
    ck_assert_double_eq(part[0], 3);
}
END_TEST

/* out[0] of instance i, evaluated with everything and by its pack alone */
static void check_packs(int32_t nb, const double *want)
{
    double x[65] = {0}, out[64 * 6 * 8], dyn[IR_N_DYN] = {0};
    for (int32_t i = 1; i <= nb; i++)
        x[i] = i;
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, g.n_pack, false, out), VS_OK);
    for (int32_t i = 0; i < nb; i++) {
        const int32_t p = dev_pack_of(&g, i), lane = i - g.first[p];
        double one[6 * 8];
        ck_assert_int_lt(lane, g.lanes);
        ck_assert_double_eq(out[p * 6 * g.lanes + lane], want[i]);
        ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, p, p + 1, false, one), VS_OK);
        ck_assert_double_eq(one[lane], want[i]);
    }
}

START_TEST(packs_break_where_the_row_changes)
{
    static const int32_t row[] = {0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2};
    mock_resistor(&m);
    for (int f = MDL_DC; f <= MDL_TRAN; f++)
        m.variant[f].lay.lanes = 4;
    for (int r = 0; r < MOCK_MAX_ROW; r++)
        m.param[r] = r + 1;
    make(row, 11);
    ck_assert(!g.row_per_lane);
    ck_assert_int_eq(g.n_pack, 4); /* 4 + 2, 4 + 1 */
    ck_assert_int_eq(g.first[2], 6);
    ck_assert_int_eq(g.form[MDL_DC].lane_map[1 * 2 * 4 + 3], 6); /* padding repeats the last one */
    check_packs(11, (const double[]){1, 2, 3, 4, 5, 6, 21, 24, 27, 30, 33});
}
END_TEST

START_TEST(many_rows_are_given_to_the_lanes)
{
    static const int32_t row[] = {0, 1, 2, 3, 4, 5, 5};
    mock_resistor(&m);
    for (int f = MDL_DC; f <= MDL_TRAN; f++)
        m.variant[f].lay.lanes = 4;
    for (int r = 0; r < MOCK_MAX_ROW; r++)
        m.param[r] = r + 1;
    make(row, 7);
    ck_assert(g.row_per_lane);
    ck_assert_int_eq(g.n_pack, 2);
    check_packs(7, (const double[]){1, 4, 9, 16, 25, 36, 42});
}
END_TEST

START_TEST(outputs_of_one_kind_make_one_run)
{
    mock_inductor(&m);
    make((const int32_t[]){0}, 1);
    const dev_run *r = g.form[MDL_TRAN].run;
    ck_assert_uint_eq(vec_len(r), 4); /* RES, J, REACT, J */
    ck_assert_int_eq(r[0].kind, IR_OUT_RES);
    ck_assert_int_eq(r[0].end, 3);
    ck_assert_int_eq(r[1].kind, IR_OUT_J);
    ck_assert_int_eq(r[1].end, 7);
    ck_assert_int_eq(r[2].kind, IR_OUT_REACT);
    ck_assert_int_eq(r[3].end, 9);
}
END_TEST

static void eval_memory(const double *c, const double *dyn, const double *u, const double *state,
                        const double *limold, double *out, double *state_new, double *limnew)
{
    (void)c, (void)dyn;
    out[0] = state[0] + limold[0];
    limnew[0] = u[0] - u[1];
    state_new[0] = state[0] + 1;
}

static void memory_model(void)
{
    mock_two_ports(&m, "memory");
    vec_push(m.mod.probe, (va_probe){0, 1});
    vec_push(m.mod.lim_probe, 0);
    for (int f = MDL_DC; f <= MDL_TRAN; f++) {
        mock_out(&m, f, IR_OUT_RES, 0, 0);
        m.variant[f].lay.n_lim = m.variant[f].lay.n_state = 1;
        m.eval[f] = eval_memory;
    }
    make((const int32_t[]){0, 0}, 2);
}

START_TEST(state_advances_only_when_accepted)
{
    memory_model();
    double x[3] = {0, 2, 3}, out[2], dyn[IR_N_DYN] = {0};
    for (int k = 0; k < 3; k++) {
        dev_begin(&g, MDL_DC, x);
        ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 2, false, out), VS_OK);
        dev_advance(&g);
    }
    ck_assert_double_eq(out[0], 0 + 2);
    dev_accept(&g);
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 2, false, out), VS_OK);
    ck_assert_double_eq(out[1], 1 + 3);
}
END_TEST

START_TEST(limits_follow_iterations_and_return)
{
    memory_model();
    double x[3] = {0, 2, 3}, out[2], dyn[IR_N_DYN] = {0};
    dev_begin(&g, MDL_DC, x);
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 2, false, out), VS_OK);
    ck_assert_double_eq(out[1], 3); /* fresh: the probe itself */
    dev_advance(&g);
    dev_accept(&g);
    x[2] = 7;
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 2, false, out), VS_OK);
    ck_assert_double_eq(out[1], 3 + 1);
    dev_advance(&g);
    double again[2];
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 2, true, again), VS_OK);
    ck_assert_double_eq(again[1], out[1]); /* repeated, with what it then compared with */
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 2, false, out), VS_OK);
    ck_assert_double_eq(out[1], 7 + 1);
    dev_advance(&g);
    dev_restore(&g);
    ck_assert_int_eq(dev_eval(&g, MDL_DC, dyn, x, 0, 2, false, out), VS_OK);
    ck_assert_double_eq(out[1], 3 + 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dev");
    TCase *t = tcase_create("dev");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, instances_of_one_row_share_its_setup);
    tcase_add_test(t, packs_break_where_the_row_changes);
    tcase_add_test(t, many_rows_are_given_to_the_lanes);
    tcase_add_test(t, outputs_of_one_kind_make_one_run);
    tcase_add_test(t, state_advances_only_when_accepted);
    tcase_add_test(t, limits_follow_iterations_and_return);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
