/* Tests of src/dev: rows shared by instances, runs of outputs, limiting and hidden state. */
#include <check.h>
#include <stdlib.h>

#include "../suite.h"
#include "../ckt/mock_mdl.h"
#include "dev_lin.h"

static arena mem;
static mdl_model m;
static dev_group g;

static void begin(void) { arena_init(&mem); }

static void end(void)
{
    dev_group_fini(&g);
    vec_free(m.variant[MDL_APART].eval.in);
    vec_free(m.variant[MDL_APART].eval.inst);
    vec_free(m.variant[MDL_APART].eval.out);
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

static void begins_line(const void *p) { ck_assert_uint_eq((uintptr_t)p % 64, 0); }

/* A vector of 8 lanes across two lines of a cache takes two accesses. */
START_TEST(what_lanes_have_begins_a_line_of_the_cache)
{
    static const int32_t row[] = {0, 1, 2, 3, 4, 5, 5};
    for (int n = 0; n < 4; n++) {
        mock_resistor(&m);
        for (int f = MDL_DC; f <= MDL_TRAN; f++)
            m.variant[f].lay.lanes = 8;
        m.variant[MDL_TRAN].lay.n_lim = m.variant[MDL_TRAN].lay.n_state = 1;
        for (int r = 0; r < MOCK_MAX_ROW; r++)
            m.param[r] = r + 1;
        arena_alloc(&mem, 16 * (size_t)(n + 1));
        make(row, 7);
        ck_assert(g.row_per_lane);
        begins_line(g.form[MDL_TRAN].cache);
        begins_line(g.state);
        begins_line(g.state_new);
        for (int k = 0; k < DEV_N_LIM; k++)
            begins_line(g.lim[k]);
        end();
        begin();
        memset(&m, 0, sizeof m);
        memset(&g, 0, sizeof g);
    }
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

/* -- kept linearisations: i = k v^2, q = k v^3 between p and n -- */

static int n_square;

static void eval_square(const double *c, const double *dyn, const double *u, const double *state,
                        const double *limold, double *out, double *state_new, double *limnew)
{
    (void)dyn, (void)state, (void)limold, (void)state_new, (void)limnew;
    const double v = u[0] - u[1], k = v > 2 ? NAN : c[0], i = k * v * v, q = k * v * v * v,
                 cap = 3 * k * v * v, di = 2 * k * v;
    const double o[] = {i, -i, q, -q, di, -di, -di, di, cap, -cap, -cap, cap};
    memcpy(out, o, sizeof o);
    n_square++;
}

/* i = g v + v^2 / 2, q = 0; g is a setup value. */
static void eval_shunted(const double *c, const double *dyn, const double *u, const double *state,
                         const double *limold, double *out, double *state_new, double *limnew)
{
    (void)dyn, (void)state, (void)limold, (void)state_new, (void)limnew;
    const double v = u[0] - u[1], i = c[0] * v + 0.5 * v * v, di = c[0] + v;
    const double o[] = {i, -i, 0, 0, di, -di, -di, di, 0, 0, 0, 0};
    memcpy(out, o, sizeof o);
    n_square++;
}

/* Its function, as far as it tells what the slopes are made of. */
static void write_shunted(ir_fn *fn)
{
    static const ir_inst code[] = {{.op = IR_IN, .type = IR_F64, .a = 1},
                                   {.op = IR_IN, .type = IR_F64, .a = 0},
                                   {.op = IR_ADD, .type = IR_F64, .a = 0, .b = 1},
                                   {.op = IR_NEG, .type = IR_F64, .a = 2}};
    vec_push(fn->in, (ir_input){.kind = IR_IN_CACHE, .type = IR_F64});
    for (size_t k = 0; k < VS_COUNT(code); k++)
        vec_push(fn->inst, code[k]);
    for (int32_t k = 0; k < 12; k++) {
        const bool slope = k >= 4 && k < 8;
        vec_push(fn->out, (ir_out){.kind = slope ? IR_OUT_G : IR_OUT_RES,
                                   .v = !slope             ? 1
                                        : k == 4 || k == 7 ? 2
                                                           : 3});
    }
}

static void entries(mdl_form_kind f, ir_out_kind kind)
{
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            mock_out(&m, f, kind, a, b);
}

enum { N_SQUARE = 11, N_PLACE = 4 * (N_SQUARE + 1) };
static double sum_gc[2 * N_PLACE], sum_i[N_SQUARE + 2], sum_q[N_SQUARE + 2];
static const dev_lin_sums sums = {sum_gc, sum_i, sum_q};

static void make_elements(mock_eval eval, double setup, int buffers)
{
    int32_t row[N_SQUARE] = {0}, slot[N_SQUARE * 8];
    mock_two_ports(&m, "square");
    static const mdl_form_kind form[] = {MDL_TRAN, MDL_APART};
    for (int k = 0; k < 2; k++)
        for (int32_t a = 0; a < 4; a++)
            mock_out(&m, form[k], a < 2 ? IR_OUT_RES : IR_OUT_REACT, a % 2, 0);
    entries(MDL_TRAN, IR_OUT_J);
    entries(MDL_APART, IR_OUT_G);
    entries(MDL_APART, IR_OUT_C);
    m.eval[MDL_APART] = eval;
    static const int32_t hi[] = {0}, lo[] = {1};
    vec_push(m.variant[MDL_APART].eval.in, (ir_input){.kind = IR_IN_PROBE, .type = IR_F64});
    m.variant[MDL_APART].lay.probe_hi = hi;
    m.variant[MDL_APART].lay.probe_lo = lo;
    if (eval == eval_shunted)
        write_shunted(&m.variant[MDL_APART].eval);
    m.param[0] = setup;
    int32_t inst[N_SQUARE], unk[N_SQUARE][2];
    const int32_t *unknown[N_SQUARE];
    for (int32_t i = 0; i < N_SQUARE; i++) {
        inst[i] = i;
        unk[i][0] = i + 1;
        unk[i][1] = 0;
        unknown[i] = unk[i];
        for (int32_t k = 0; k < 8; k++)
            slot[i * 8 + k] = k < 4 ? unk[i][k % 2] : k == 4 ? i : N_PLACE - 1;
    }
    dev_group_init(&g, &mem, &m, inst, row, N_SQUARE);
    dev_form_add(&g, &mem, MDL_TRAN, &m.variant[MDL_TRAN], unknown, false);
    dev_form_add(&g, &mem, MDL_APART, &m.variant[MDL_APART], unknown, true);
    dev_state_init(&g, &mem);
    g.form[MDL_TRAN].slot = arena_array(&mem, int32_t, N_SQUARE * 8);
    memcpy(g.form[MDL_TRAN].slot, slot, sizeof slot);
    dev_lin_init(&g, &mem, buffers);
    memset(sum_gc, 0, sizeof sum_gc);
    memset(sum_i, 0, sizeof sum_i);
    memset(sum_q, 0, sizeof sum_q);
}

static void make_squares(int buffers) { make_elements(eval_square, 0.5, buffers); }

/* A load whose evaluations correct the sums; how many instances were evaluated. */
static int32_t load_squares_at(const dev_lin_at *at)
{
    dev_lin_begin(&g, at);
    dev_lin_select(&g, at, 0, g.n_pack);
    const int32_t n = dev_lin_gather(&g);
    for (int32_t p = 0; p < n; p++) {
        ck_assert_int_eq(dev_lin_eval(&g, at, p, p + 1, 0), VS_OK);
        dev_lin_add(&g, p, p + 1, 0, &sums);
    }
    return g.lin->n_item;
}

static int32_t load_squares(const double *x, const double *weight)
{
    static const double dyn[IR_N_DYN];
    return load_squares_at(&(dev_lin_at){.x = x, .dyn = dyn, .weight = weight, .alpha = 1});
}

START_TEST(instances_that_hardly_move_keep_their_linearisation)
{
    static const int32_t lanes[] = {1, 4, 8};
    mock_lanes = lanes[_i];
    make_squares(1);
    double x[N_SQUARE + 1] = {0}, weight[N_SQUARE + 1] = {0};
    for (int i = 1; i <= N_SQUARE; i++) {
        x[i] = 0.1 * i;
        weight[i] = 1e3; /* 1 mA or 1 mA/alpha may be left out */
    }
    ck_assert_int_eq(load_squares(x, weight), N_SQUARE); /* nothing is kept yet */
    n_square = 0;
    ck_assert_int_eq(load_squares(x, weight), 0);
    ck_assert_int_eq(n_square, 0);
    x[3] += 2e-3; /* 0.5 dv^2 is below 1 mA */
    x[7] += 6e-3; /* farther than a bound may hold */
    ck_assert_int_eq(load_squares(x, weight), 1);
    ck_assert_double_eq_tol(sum_i[3] + sum_gc[2 * (2)] * x[3],
                            0.5 * 0.3 * 0.3 + 2 * 0.5 * 0.3 * 2e-3, 1e-15); /* on the tangent */
    ck_assert_double_eq_tol(sum_i[7] + sum_gc[2 * (6)] * x[7], 0.5 * 0.706 * 0.706,
                            1e-15); /* on the curve */
    ck_assert_double_eq_tol(sum_q[7] + sum_gc[2 * (6) + 1] * x[7], 0.5 * 0.706 * 0.706 * 0.706,
                            1e-15);
    double max[N_SQUARE + 1] = {0};
    dev_lin_accept(&g);
    x[5] += 6e-3;
    ck_assert_int_eq(load_squares(x, weight), 1);
    dev_lin_sizes(&g, false, 0, dev_lin_n_sizes(&g, false), false, max, NULL);
    ck_assert_double_eq_tol(max[5], 0.5 * x[5] * x[5], 1e-15);
    ck_assert_double_eq(max[7], 0); /* not since the accepted point */
    double own[N_SQUARE + 1] = {0}, shared[N_SQUARE + 1] = {0};
    dev_lin_sizes(&g, true, 0, dev_lin_n_sizes(&g, true), false, own, NULL);
    for (int i = dev_lin_n_sizes(&g, true); i-- > 0;)
        dev_lin_sizes(&g, true, i, i + 1, true, shared, NULL);
    for (int i = 1; i <= N_SQUARE; i++)
        ck_assert_double_eq(own[i], shared[i]);
    mock_lanes = 1;
}
END_TEST

START_TEST(corrected_sums_are_those_made_anew)
{
    make_squares(1);
    double x[N_SQUARE + 1] = {0}, weight[N_SQUARE + 1] = {0};
    for (int i = 1; i <= N_SQUARE; i++)
        weight[i] = 1e6;
    for (int n = 0; n < 50; n++) {
        for (int i = 1; i <= N_SQUARE; i++)
            x[i] = 0.3 + 0.01 * ((i * 7 + n * (i % 4) * 3) % 11);
        load_squares(x, weight);
    }
    double was_i[N_SQUARE + 2], was_g[2 * N_PLACE];
    memcpy(was_i, sum_i, sizeof sum_i);
    memcpy(was_g, sum_gc, sizeof sum_gc);
    memset(sum_i, 0, sizeof sum_i);
    memset(sum_gc, 0, sizeof sum_gc);
    dev_lin_add_all(&g, &sums);
    for (int i = 1; i <= N_SQUARE; i++) {
        ck_assert_double_ne(sum_i[i], 0);
        ck_assert_double_eq_tol(was_i[i], sum_i[i], 1e-15);
        ck_assert_double_eq_tol(was_g[2 * (i - 1)], sum_gc[2 * (i - 1)], 1e-15);
    }
    ck_assert_int_eq(g.lin->wear, 1);
    x[2] = 3;
    load_squares(x, weight);
    ck_assert_int_eq(g.lin->wear, DEV_LIN_EVERY); /* what is not finite never leaves sums */
}
END_TEST

/* Output k of instance i after a load of the whole group. */
static double of_square(const double *out, int32_t i, int32_t k)
{
    const int32_t p = dev_pack_of(&g, i);
    return out[(p * 8 + k) * dev_whole_stride(&g) + i - g.first[p]];
}

START_TEST(of_a_group_held_as_a_whole_what_moved_is_evaluated)
{
    static const int32_t lanes[] = {1, 2, 4, 8};
    static const double dyn[IR_N_DYN];
    mock_lanes = lanes[_i];
    make_squares(0);
    double x[N_SQUARE + 1] = {0}, weight[N_SQUARE + 1] = {0}, out[N_SQUARE * 8 * 8],
                        again[N_SQUARE * 8 * 8];
    dev_lin_at at = {.x = x, .dyn = dyn, .weight = weight, .alpha = 1};
    for (int i = 1; i <= N_SQUARE; i++) {
        x[i] = 0.1 * i;
        weight[i] = 1e3; /* 1 mA or 1 mA/alpha may be left out */
    }
    ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK); /* nothing is kept yet */
    ck_assert_int_eq(g.lin->n_item, N_SQUARE);
    n_square = 0;
    x[3] += 2e-3; /* 0.5 dv^2 is below 1 mA */
    at.alpha = 2;
    ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
    ck_assert_int_eq(g.lin->n_item, 0);
    ck_assert_int_eq(n_square, 0);
    ck_assert_double_eq_tol(of_square(out, 2, 0), 0.5 * 0.3 * 0.3 + 2 * 0.5 * 0.3 * 2e-3,
                            1e-15); /* on the tangent */
    ck_assert_double_eq_tol(of_square(out, 2, 3),
                            -(0.5 * 0.3 * 0.3 * 0.3 + 3 * 0.5 * 0.3 * 0.3 * 2e-3), 1e-15);
    ck_assert_double_eq_tol(of_square(out, 2, 4), 0.3 + 2 * 3 * 0.5 * 0.3 * 0.3,
                            1e-15);          /* G + alpha C */
    for (int32_t p = 0; p < g.n_pack; p++) { /* as the general function has them */
        dev_lin_outputs(&g, &at, p, p + 1, again);
        for (int32_t i = g.first[p]; i < g.first[p + 1]; i++)
            for (int32_t k = 0; k < 8; k++)
                ck_assert_double_eq(again[k * g.lanes + i - g.first[p]], of_square(out, i, k));
    }
    x[7] += 6e-3; /* farther than a bound may hold */
    ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
    ck_assert_int_eq(g.lin->n_item, 1);
    ck_assert_double_eq_tol(of_square(out, 6, 0), 0.5 * x[7] * x[7], 1e-15); /* on the curve */
    ck_assert_double_eq_tol(of_square(out, 6, 5), -(x[7] + 2 * 1.5 * x[7] * x[7]), 1e-15);
    ck_assert_double_eq_tol(of_square(out, 2, 0), 0.5 * 0.3 * 0.3 + 2 * 0.5 * 0.3 * 2e-3,
                            1e-15);     /* still on the tangent */
    for (int i = 4; i <= N_SQUARE; i++) /* eight: a pack, where all take two */
        x[i] += 6e-3;
    ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
    ck_assert_int_eq(g.lin->n_item, 8);
    for (int i = 1; i <= N_SQUARE; i++) /* nine take as many packs as all */
        x[i] += i < 3 ? 0 : 6e-3;
    ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
    ck_assert_int_eq(g.lin->n_item, N_SQUARE);
    for (int i = 1; i <= N_SQUARE; i++) {
        ck_assert_double_eq_tol(of_square(out, i - 1, 0), 0.5 * x[i] * x[i], 1e-15);
        ck_assert_double_eq_tol(of_square(out, i - 1, 5), -(x[i] + 2 * 1.5 * x[i] * x[i]), 1e-15);
    }
    x[2] = 3; /* what is not finite holds nowhere */
    for (int n = 0; n < 2; n++) {
        ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
        ck_assert_int_eq(g.lin->n_item, 1);
    }
    x[2] = 0.2;
    for (int n = 0; n < 2; n++) {
        ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
        ck_assert_int_eq(g.lin->n_item, n ? 0 : 1);
    }
    at.weight = NULL; /* without tolerances nothing may be left out, and nothing is kept */
    ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
    at.weight = weight;
    ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
    ck_assert_int_eq(g.lin->n_item, N_SQUARE);
    mock_lanes = 1;
}
END_TEST

/* The first bound is 20/V times the slopes of a row, and fades by 4: 10 uA may be left out, and so
 * 2 * 0.6 S that voltages change allow 1.3 mV, 2 * 2000 S would allow 22 uV. */
START_TEST(what_no_voltage_changes_has_no_curvature)
{
    static const int32_t lanes[] = {1, 2, 4, 8};
    static const double dyn[IR_N_DYN];
    static const double place[] = {0.6, 0.61, 0.611, 0.617};
    static const bool moved[] = {true, true, false, true};
    double x[N_SQUARE + 1] = {0}, weight[N_SQUARE + 1] = {0}, out[N_SQUARE * 8 * 8];
    const dev_lin_at at = {.x = x, .dyn = dyn, .weight = weight, .alpha = 1};
    for (int whole = 0; whole < 2; whole++) {
        mock_lanes = lanes[_i];
        make_elements(eval_shunted, 1000, 1 - whole);
        m.param[0] = 2000; /* another row of the same variant */
        ck_assert_uint_ne(dev_rows_changed(&g, (const int32_t[]){0}, 1), 0);
        for (int n = 0; n < 4; n++) {
            for (int i = 1; i <= N_SQUARE; i++) {
                x[i] = place[n];
                weight[i] = 1e5;
            }
            n_square = 0;
            if (whole)
                ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
            else
                load_squares(x, weight);
            ck_assert_int_eq(n_square != 0, moved[n]);
        }
        end();
        begin();
        memset(&m, 0, sizeof m);
        memset(&g, 0, sizeof g);
    }
    mock_lanes = 1;
}
END_TEST

/* At 0.3 V the first bound is 20/V 2 (0.3 S + 0.135 F alpha) d^2: 0.758 mV where 10 uA may be left
 * out, and 8 times as far in a load that no point ends with; 5 mV at most, or 20 mV. */
START_TEST(a_load_that_ends_no_point_leaves_out_more)
{
    static const int32_t lanes[] = {1, 2, 4, 8};
    static const double dyn[IR_N_DYN];
    static const struct {
        double weight, move;
        bool strict, rough; /* evaluated? */
    } load[] = {{1e5, 0.7e-3, false, false}, {1e5, 0.8e-3, true, false}, {1e5, 6e-3, true, false},
                {1e5, 6.2e-3, true, true},   {10, 4e-3, false, false},   {10, 19e-3, true, false},
                {10, 21e-3, true, true}};
    double x[N_SQUARE + 1] = {0}, weight[N_SQUARE + 1] = {0}, out[N_SQUARE * 8 * 8];
    for (size_t k = 0; k < VS_COUNT(load); k++)
        for (int what = 0; what < 4; what++) {
            const bool whole = what & 1, rough = what & 2;
            dev_lin_at at = {.x = x, .dyn = dyn, .weight = weight, .alpha = 1};
            mock_lanes = lanes[_i];
            make_squares(1 - whole);
            for (int i = 1; i <= N_SQUARE; i++) {
                x[i] = 0.3;
                weight[i] = load[k].weight;
            }
            if (whole)
                ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
            else
                ck_assert_int_eq(load_squares_at(&at), N_SQUARE);
            x[3] += load[k].move;
            at.rough = rough;
            if (whole)
                ck_assert_int_eq(dev_whole_load(&g, &at, out), VS_OK);
            else
                (void)load_squares_at(&at);
            ck_assert_int_eq(g.lin->n_item, rough ? load[k].rough : load[k].strict);
            end();
            begin();
            memset(&m, 0, sizeof m);
            memset(&g, 0, sizeof g);
        }
    mock_lanes = 1;
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
    tcase_add_test(t, what_lanes_have_begins_a_line_of_the_cache);
    tcase_add_test(t, outputs_of_one_kind_make_one_run);
    tcase_add_test(t, state_advances_only_when_accepted);
    tcase_add_test(t, limits_follow_iterations_and_return);
    tcase_add_loop_test(t, instances_that_hardly_move_keep_their_linearisation, 0, 3);
    tcase_add_test(t, corrected_sums_are_those_made_anew);
    tcase_add_loop_test(t, of_a_group_held_as_a_whole_what_moved_is_evaluated, 0, 4);
    tcase_add_loop_test(t, what_no_voltage_changes_has_no_curvature, 0, 4);
    tcase_add_loop_test(t, a_load_that_ends_no_point_leaves_out_more, 0, 4);
    suite_add_tcase(s, t);
    return run_suite(s);
}
