/* Tests of src/ckt and src/dev on hand-built models: unknowns, pattern, stamps, limits, topology.
 */
#include <check.h>
#include <stdlib.h>

#include "../suite.h"
#include "ckt_bench.h"

START_TEST(divider_stamps_f_and_j)
{
    res.param[0] = 0.5;
    res.param[1] = 0.25;
    add_v("v1", "in", "0", 3);
    add(&res, 0, "r1", "in", "out");
    add(&res, 1, "r2", "out", "0");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert_int_eq(vec_len(d.msg), 0);
    ck_assert_int_eq(ckt_n(c), 3);
    ck_assert_int_eq(ckt_find(c, "v1#branch"), 2);
    ck_assert_int_eq(ckt_find(c, "nowhere"), -1);
    const int32_t in = ckt_find(c, "in"), out = ckt_find(c, "out"), br = ckt_find(c, "v1#branch");
    x[in] = 2;
    x[out] = 1;
    x[br] = -0.1;
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert_double_eq(f[in], 0.5 - 0.1);
    ck_assert_double_eq(f[out], -0.5 + 0.25);
    ck_assert_double_eq(f[br], 2 - 3);
    ck_assert_double_eq(f[0], 0);
    ck_assert_double_eq(fmx[in], 0.5);
    ck_assert_double_eq(fmx[br], 3);
    ck_assert_double_eq(entry("out", "out"), 0.75);
    ck_assert_double_eq(entry("in", "v1#branch"), 1);
    ck_assert_double_eq(entry("v1#branch", "in"), 1);
    ck_assert(isnan(entry("v1#branch", "out")));
    ck_assert_int_eq(csc_nnz(ckt_pattern(c)), 6);
    ck_assert_ptr_nonnull(ckt_diag(c, out));
    ck_assert_double_eq(*ckt_diag(c, out), 0.75);
    ck_assert_ptr_null(ckt_diag(c, br));
    ck_assert_int_eq(res.n_setup, 2); /* two rows, two forms */
    ck_assert_int_eq(ckt_stats(c)->n_eval, 2);
    ckt_env half = dc;
    half.srcfact = 0.5;
    ck_assert_int_eq(load(&half), VS_OK);
    ck_assert_double_eq(f[br], 2 - 1.5);
}
END_TEST

START_TEST(pattern_is_sorted_and_merged)
{
    res.param[0] = 1;
    add_v("v1", "n0", "0", 1);
    for (int i = 0; i < 10; i++) {
        char a[16], b[16], name[16];
        snprintf(a, sizeof a, "n%d", i);
        snprintf(b, sizeof b, "n%d", (i * 7 + 1) % 10);
        snprintf(name, sizeof name, "r%d", i);
        add(&res, 0, name, a, b);
    }
    add(&res, 0, "rg", "n5", "0");
    finish();
    const csc *a = ckt_pattern(c);
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t p = a->colptr[j] + 1; p < a->colptr[j + 1]; p++)
            ck_assert_int_gt(a->row[p], a->row[p - 1]);
}
END_TEST

START_TEST(currents_and_charges_of_a_floating_part_sum_to_zero)
{
    res.param[0] = 0.3;
    cap.param[0] = 1e-6;
    ind.param[0] = 2e-3;
    add(&res, 0, "r1", "a", "b");
    add(&cap, 0, "c1", "b", "d");
    add(&ind, 0, "l1", "d", "a");
    ck_assert_int_eq(finish(), VS_OK);
    for (int i = 1; i < 5; i++)
        x[i] = 0.37 * i * i;
    ck_assert_int_eq(load(&tran), VS_OK);
    double sf = 0, sq = 0;
    for (int i = 1; i <= ckt_n(c); i++)
        if (ckt_unknowns(c)[i].node) {
            sf += f[i];
            sq += q[i];
        }
    ck_assert_double_eq_tol(sf, x[ckt_find(c, "a")], 1e-15); /* 1 S gives the part its level */
    ck_assert_double_eq_tol(sq, 0, 1e-20);
    ck_assert(ckt_unknowns(c)[ckt_find(c, "b")].has_q);
    ck_assert(!ckt_unknowns(c)[ckt_find(c, "a")].has_q);
    ck_assert(ckt_unknowns(c)[ckt_find(c, "l1#branch")].has_q);
    ck_assert_double_eq_tol(entry("b", "b"), 0.3 + 1e-6 * 1e3, 1e-15);
    ck_assert_double_eq_tol(entry("l1#branch", "l1#branch"), -2e-3 * 1e3, 1e-15);
    ck_assert_double_eq_tol(qmx[ckt_find(c, "l1#branch")], 2e-3 * fabs(x[ckt_find(c, "l1#branch")]),
                            1e-18);
}
END_TEST

START_TEST(jacobian_is_the_derivative)
{
    res.param[0] = 0.3;
    cap.param[0] = 1e-6;
    ind.param[0] = 2e-3;
    add_v("v1", "a", "0", 1);
    add(&res, 0, "r1", "a", "b");
    add(&cap, 0, "c1", "b", "0");
    add(&ind, 0, "l1", "b", "0");
    ck_assert_int_eq(finish(), VS_OK);
    const int32_t n = ckt_n(c);
    double r0[16], r1[16], jac[16][16] = {{0}};
    for (int i = 1; i <= n; i++)
        x[i] = i;
    ck_assert_int_eq(load(&tran), VS_OK);
    const csc *a = ckt_pattern(c);
    for (int32_t j = 0; j < n; j++)
        for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++)
            jac[a->row[p] + 1][j + 1] = a->val[p];
    for (int i = 1; i <= n; i++)
        r0[i] = f[i] + tran.alpha * q[i];
    for (int j = 1; j <= n; j++) {
        x[j] += 1;
        ck_assert_int_eq(load(&tran), VS_OK);
        x[j] -= 1;
        for (int i = 1; i <= n; i++) {
            r1[i] = f[i] + tran.alpha * q[i];
            ck_assert_double_eq_tol(r1[i] - r0[i], jac[i][j], 1e-12);
        }
    }
}
END_TEST

START_TEST(gmin_holds_a_node_without_dc_path)
{
    cap.param[0] = 1e-6;
    res.param[0] = 1;
    add_v("v1", "in", "0", 1);
    add(&cap, 0, "c1", "in", "x1.mid");
    add(&res, 0, "r1", "x1.mid", "x1.end");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(said("no dc path to ground from nodes 'x1.mid', 'x1.end'"));
    x[ckt_find(c, "x1.mid")] = 1;
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert_double_eq(entry("x1.mid", "x1.mid"), 1 + 1e-12);
    ck_assert_double_eq(entry("x1.end", "x1.end"), 1);
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert_double_eq(entry("x1.mid", "x1.mid"), 1 + 1e-3); /* the charge holds it: no leak */
}
END_TEST

START_TEST(lonely_terminal_is_named)
{
    res.param[0] = 1;
    add_v("v1", "in", "0", 1);
    add(&res, 0, "r1", "in", "open");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(said("node 'open' is connected to one terminal only, of 'r1'"));
    ck_assert(!said("dc path"));
}
END_TEST

START_TEST(current_source_gives_no_dc_path)
{
    cap.param[0] = 1e-12;
    add_i("i1", "0", "a", 1e-6);
    add(&cap, 0, "c1", "a", "0");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(said("no dc path to ground from node 'a'"));
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert_double_eq(f[ckt_find(c, "a")], -1e-6);
}
END_TEST

START_TEST(loop_of_sources_is_an_error_with_its_members)
{
    res.param[0] = 1;
    add_v("v1", "a", "0", 1);
    add_v("v2", "b", "a", 1);
    add_v("v3", "b", "0", 2);
    add(&res, 0, "r1", "b", "0");
    ck_assert_int_eq(finish(), VS_EINPUT);
    ck_assert(said("'v3' closes a loop of voltage sources"));
    ck_assert(said("'v1' is part"));
    ck_assert(said("'v2' is part"));
}
END_TEST

START_TEST(shorted_source_is_an_error)
{
    add_v("v1", "a", "a", 1);
    ck_assert_int_eq(finish(), VS_EINPUT);
    ck_assert(said("same node"));
}
END_TEST

START_TEST(inductor_across_a_source_gets_a_resistance_in_dc)
{
    ind.param[0] = 1e-3;
    add_v("v1", "a", "0", 1);
    add(&ind, 0, "l1", "a", "0");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert(said("loop of inductors"));
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert_double_eq(entry("l1#branch", "l1#branch"), -1e-6);
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert_double_eq(entry("l1#branch", "l1#branch"), -1);
}
END_TEST

START_TEST(nan_is_found_and_blamed)
{
    res.param[0] = 1;
    res.param[1] = NAN;
    add_v("v1", "a", "0", 1);
    add(&res, 0, "r1", "a", "b");
    add(&res, 1, "r2", "b", "0");
    ck_assert_int_eq(finish(), VS_OK);
    ck_assert_int_eq(load(&dc), VS_NOCONV);
    const char *who[4];
    double amount[4];
    ck_assert_int_eq(ckt_blame(c, 0, who, amount, 4), 1);
    ck_assert_str_eq(who[0], "r2");
}
END_TEST

START_TEST(largest_contributors_come_first)
{
    for (int i = 0; i < 4; i++)
        res.param[i] = 1 + i;
    add_v("v1", "a", "0", 1);
    add(&res, 0, "r0", "a", "b");
    add(&res, 2, "r2", "b", "0");
    add(&res, 3, "r3", "b", "0");
    add(&res, 1, "r1", "b", "0");
    ck_assert_int_eq(finish(), VS_OK);
    x[ckt_find(c, "b")] = 1;
    ck_assert_int_eq(load(&dc), VS_OK);
    const char *who[2];
    double amount[2];
    ck_assert_int_eq(ckt_blame(c, ckt_find(c, "b"), who, amount, 2), 2);
    ck_assert_str_eq(who[0], "r3");
    ck_assert_double_eq(amount[0], 4);
    ck_assert_str_eq(who[1], "r2");
}
END_TEST

START_TEST(collapsed_nodes_share_an_unknown)
{
    mdl_model m;
    mock_two_ports(&m, "three");
    mock_unknown(&m, "i", VA_NODE, "V");
    mock_pair(&m, MDL_DC, IR_OUT_RES, IR_OUT_G);
    mock_pair(&m, MDL_TRAN, IR_OUT_RES, IR_OUT_J);
    m.eval[MDL_DC] = m.eval[MDL_TRAN] = mock_eval_g;
    m.topology[1][2] = 0;  /* i is p */
    m.topology[2][1] = 0;  /* ports p and n are one: stays two nodes, 0 V between */
    m.topology[3][2] = -2; /* not in use */
    add(&m, 0, "m0", "a", "b");
    add(&m, 1, "m1", "a", "b");
    add(&m, 3, "m3", "a", "b");
    ck_assert_int_ge(ckt_find(c, "m0#i"), 0);
    ck_assert_int_eq(ckt_find(c, "m1#i"), -1);
    ck_assert_int_eq(ckt_find(c, "m3#i"), -1);
    ck_assert_int_eq(ckt_n(c), 3);
    add(&m, 2, "m2", "a", "b");
    ck_assert_int_eq(ckt_n(c), 5); /* m2#i and the current of the short */
    const int32_t open[2] = {ckt_node(c, "a"), -1};
    ck_assert_int_eq(ckt_add_device(c, "m4", &m, 0, open, DIAG_NOWHERE), VS_OK);
    ck_assert_int_ge(ckt_find(c, "m4#n"), 0);
    mock_fini(&m);
}
END_TEST

/* One limited probe and one state: out LIMITED, i = the limited voltage, state counts evaluations.
 */
static void eval_limit(const double *cc, const double *dyn, const double *u, const double *state,
                       const double *limold, double *out, double *state_new, double *limnew)
{
    (void)cc, (void)dyn;
    const double v = u[0] - u[1], vl = fmin(v, limold[0] + 0.5);
    out[0] = vl + (v - vl);
    out[1] = -out[0];
    out[2] = out[5] = 1;
    out[3] = out[4] = -1;
    out[6] = vl != v;
    out[7] = 1e-3 / (1 + v * v);
    limnew[0] = vl;
    state_new[0] = state[0] + 1;
}

static void limit_model(mdl_model *m)
{
    mock_two_ports(m, "lim");
    vec_push(m->mod.probe, (va_probe){0, 1});
    vec_push(m->mod.lim_probe, 0);
    for (int k = MDL_DC; k <= MDL_TRAN; k++) {
        mock_pair(m, k, IR_OUT_RES, k == MDL_DC ? IR_OUT_G : IR_OUT_J);
        mock_out(m, k, IR_OUT_LIMITED, 0, 0);
        mock_out(m, k, IR_OUT_BOUND_STEP, 0, 0);
        m->variant[k].lay.n_lim = m->variant[k].lay.n_state = 1;
        m->variant[k].has_effects = true;
        m->eval[k] = eval_limit;
    }
}

static const char *last_line;
static int n_line;
static void on_line(void *user, const char *text)
{
    (void)user;
    vs_free((void *)(uintptr_t)last_line);
    last_line = vs_strdup(text);
    n_line++;
}

START_TEST(limits_advance_accept_and_return)
{
    mdl_model m;
    limit_model(&m);
    const int32_t t[2] = {ckt_node(c, "a"), 0};
    ck_assert_int_eq(ckt_add_device(c, "d1", &m, 0, t, DIAG_NOWHERE), VS_OK);
    ck_assert_int_eq(finish(), VS_OK);
    ckt_set_line_sink(c, on_line, NULL);
    x[1] = 1;
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert(!limited); /* fresh: starts from the first iterate */
    ck_assert_double_eq_tol(ckt_bound_step(c), 0.5e-3, 1e-12);
    x[1] = 3;
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert(limited); /* 1.5 */
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert_int_eq(ckt_accept(c, &dc, x), VS_OK); /* 2 is accepted */
    ck_assert_str_eq(last_line, "d1 at 3");
    x[1] = 2.4;
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert(!limited);
    x[1] = 2.9;
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert(!limited);
    ckt_restore_limits(c);
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert(limited); /* from 2 again */
    ckt_reset_limits(c);
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert(!limited);
    mock_what = 1;
    ck_assert_int_eq(ckt_accept(c, &tran, x), VS_STOP);
    mock_what = 0;
    ck_assert_int_eq(n_line, 2);
    vs_free((void *)(uintptr_t)last_line);
    last_line = NULL;
    mock_fini(&m);
}
END_TEST

START_TEST(blame_does_not_disturb_limits)
{
    mdl_model m;
    limit_model(&m);
    const int32_t t[2] = {ckt_node(c, "a"), 0};
    ck_assert_int_eq(ckt_add_device(c, "d1", &m, 0, t, DIAG_NOWHERE), VS_OK);
    ck_assert_int_eq(finish(), VS_OK);
    x[1] = 1;
    ck_assert_int_eq(load(&dc), VS_OK);
    x[1] = 1.4;
    ck_assert_int_eq(load(&dc), VS_OK);
    const char *who[2];
    double amount[2];
    ck_assert_int_eq(ckt_blame(c, 1, who, amount, 2), 1);
    x[1] = 1.8;
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert(!limited); /* 1.8 < 1.4 + 0.5 */
    mock_fini(&m);
}
END_TEST

START_TEST(uic_spreads_from_known_nodes)
{
    const wave w = {.kind = WAVE_PULSE, .arg = (const double[]){2, 5, 1, 1, 1, 1, 9}, .n_arg = 7};
    ck_assert_int_eq(
        ckt_add_vsource(c, "v1", ckt_node(c, "b"), ckt_node(c, "a"), &w, 1, DIAG_NOWHERE), VS_OK);
    ckt_add_ic(c, ckt_node(c, "d"), ckt_node(c, "b"), 10); /* a capacitor's */
    ckt_add_ic(c, ckt_node(c, "a"), 0, 1);                 /* a node's */
    ckt_add_ic(c, ckt_node(c, "y"), ckt_node(c, "z"), 4);
    finish();
    ckt_uic(c, x);
    ck_assert_double_eq(x[ckt_find(c, "a")], 1);
    ck_assert_double_eq(x[ckt_find(c, "b")], 0); /* not through the source */
    ck_assert_double_eq(x[ckt_find(c, "d")], 10);
    ck_assert_double_eq(x[ckt_find(c, "y")] - x[ckt_find(c, "z")], 4);
}
END_TEST

START_TEST(breakpoints_of_all_sources_merge)
{
    const wave w1 = {.kind = WAVE_PULSE, .arg = (const double[]){0, 1, 1, 1, 1, 1, 10}, .n_arg = 7};
    const wave w2 = {.kind = WAVE_PWL,
                     .arg = (const double[]){0, 0, 1.5, 1, 20, 0},
                     .n_arg = 6,
                     .pwl_repeat = -1};
    ck_assert_int_eq(ckt_add_isource(c, "i1", ckt_node(c, "a"), 0, &w1, 1, DIAG_NOWHERE), VS_OK);
    ck_assert_int_eq(ckt_add_isource(c, "i2", ckt_node(c, "a"), 0, &w2, 1, DIAG_NOWHERE), VS_OK);
    finish();
    static const double want[] = {1, 1.5, 2, 3, 4, 11, 12, 13, 14, 20, 21};
    double t = 0;
    for (size_t i = 0; i < VS_COUNT(want); i++) {
        t = ckt_next_break(c, t);
        ck_assert_double_eq(t, want[i]);
    }
    ck_assert_double_eq(ckt_next_break(c, 1.7), 2); /* back after a rejected step */
    const int32_t s = ckt_find_source(c, "i1");
    ckt_set_source_dc(c, s, 0.25);
    ck_assert_double_eq(ckt_source_dc(c, s), 0.25);
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert_double_eq(f[1], 0.25);
    ck_assert_int_eq(ckt_find_source(c, "i3"), -1);
}
END_TEST

START_TEST(blocks_cover_every_instance)
{
    enum { N = 1000 };
    for (int r = 0; r < MOCK_MAX_ROW; r++)
        res.param[r] = 1 << r;
    double sum = 0;
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        add(&res, (i * 5) % MOCK_MAX_ROW, name, "a", "0");
        sum += 1 << (i * 5) % MOCK_MAX_ROW;
    }
    ck_assert_int_eq(finish(), VS_OK);
    x[1] = 2;
    ck_assert_int_eq(load(&dc), VS_OK);
    ck_assert_double_eq(f[1], 2 * sum);
    ck_assert_double_eq(fmx[1], 256);
    ck_assert_int_eq(ckt_stats(c)->n_eval, N);
    ck_assert_int_eq(res.n_setup, MOCK_MAX_ROW);
}
END_TEST

/* The functions behind mock_eval_g and mock_eval_c, by which linear groups are recognised. */
static const char *const resistor_text =
    "fn r v = in f64 probe 0 g = in f64 cache 0 i = mul g, v n = neg i m = neg g "
    "out res 0 0 i out res 1 0 n out J 0 0 g out J 0 1 m out J 1 0 m out J 1 1 g";
static const char *const capacitor_text =
    "fn c v = in f64 probe 0 c = in f64 cache 0 a = in f64 dyn 0 q = mul c, v n = neg q j = mul c, "
    "a m = neg j "
    "out react 0 0 q out react 1 0 n out J 0 0 j out J 0 1 m out J 1 0 m out J 1 1 j";
static const char *const square_text =
    "fn s v = in f64 probe 0 g = in f64 cache 0 w = mul v, v i = mul g, w n = neg i m = neg g "
    "out res 0 0 i out res 1 0 n out J 0 0 g out J 0 1 m out J 1 0 m out J 1 1 g";

static int n_kernel; /* instances that kernels evaluated */
static void eval_g(const double *cc, const double *dyn, const double *u, const double *state,
                   const double *limold, double *out, double *state_new, double *limnew)
{
    n_kernel++;
    mock_eval_g(cc, dyn, u, state, limold, out, state_new, limnew);
}

/* A ladder with sources, a floating node and, in the last rung, an inductor. */
static void add_ladder(const char *text, int rungs)
{
    arena mem;
    const char *why;
    arena_init(&mem);
    ir_fn_fini(&res.variant[MDL_TRAN].eval);
    ck_assert_int_eq(ir_read(&res.variant[MDL_TRAN].eval, text, &mem, &why), VS_OK);
    ck_assert_int_eq(ir_read(&cap.variant[MDL_TRAN].eval, capacitor_text, &mem, &why), VS_OK);
    arena_fini(&mem);
    res.eval[MDL_TRAN] = eval_g;
    for (int k = 0; k < MOCK_MAX_ROW; k++) {
        res.param[k] = 0.1 + 0.37 * k;
        cap.param[k] = 1e-6 * (1 + 0.7 * k);
    }
    ind.param[0] = 1e-3;
    add_v("v1", "n0", "0", 1.1);
    add_i("i1", "n3", "n1", 0.3);
    for (int k = 0; k < rungs; k++) {
        char name[16], a[16], b[16];
        snprintf(name, sizeof name, "r%d", k);
        snprintf(a, sizeof a, "n%d", k);
        snprintf(b, sizeof b, "n%d", k + 1);
        add(&res, k % 3, name, a, b);
        name[0] = 'c';
        add(&cap, k % 6, name, b, k % 2 ? "0" : "n0");
    }
    add(&cap, 7, "cf", "n2", "lone");
    add(&ind, 0, "l1", "n6", "0");
    ck_assert_int_eq(finish(), VS_OK);
}

static void check_small(const char *text, int rungs, int kernels)
{
    const ckt_opt plain = {.temp = 300, .general_load = true};
    double f1[64], q1[64], fm1[64], qm1[64], low1[64], val1[256];
    add_ladder(text, rungs);
    const size_t bytes = sizeof(double) * (size_t)(ckt_n(c) + 1),
                 nnz = (size_t)csc_nnz(ckt_pattern(c));
    for (int32_t k = 1; k <= ckt_n(c); k++)
        x[k] = sin(k * 1.7) + 20;
    n_kernel = 0;
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert_int_eq(n_kernel > 0, kernels);
    memcpy(f1, f, bytes);
    memcpy(q1, q, bytes);
    memcpy(fm1, fmx, bytes);
    memcpy(qm1, qmx, bytes);
    memcpy(low1, ckt_charge_rest(c), bytes);
    memcpy(val1, ckt_pattern(c)->val, sizeof(double) * nnz);
    ckt_free(&c);
    c = ckt_new(&plain, &d);
    add_ladder(text, rungs);
    ck_assert_int_eq(load(&tran), VS_OK);
    ck_assert_mem_eq(f, f1, bytes);
    ck_assert_mem_eq(q, q1, bytes);
    ck_assert_mem_eq(fmx, fm1, bytes);
    ck_assert_mem_eq(qmx, qm1, bytes);
    ck_assert_mem_eq(ckt_charge_rest(c), low1, bytes);
    for (size_t k = 0; k < nnz; k++)
        ck_assert_double_eq_tol(ckt_pattern(c)->val[k], val1[k], 1e-15 * (1 + fabs(val1[k])));
    ir_fn_fini(&res.variant[MDL_TRAN].eval);
    ir_fn_fini(&cap.variant[MDL_TRAN].eval);
}

START_TEST(small_loads_are_the_general_ones_without_kernels_of_linear_devices)
{
    check_small(resistor_text, 6, 0);
}
END_TEST

/* And so do those of more devices, of which some are not linear. */
START_TEST(a_function_that_is_not_linear_keeps_its_kernel)
{
    check_small(square_text, 6, 1);
    ckt_free(&c);
    c = ckt_new(&(ckt_opt){.temp = 300}, &d);
    check_small(square_text, 40, 1);
}
END_TEST

/* Every test with kernels of each width. */
static void begin_1(void) { mock_lanes = 1, begin(); }
static void begin_2(void) { mock_lanes = 2, begin(); }
static void begin_4(void) { mock_lanes = 4, begin(); }
static void begin_8(void) { mock_lanes = 8, begin(); }

int main(void)
{
    static void (*const start[])(void) = {begin_1, begin_2, begin_4, begin_8};
    const TTest *const test[] = {divider_stamps_f_and_j,
                                 pattern_is_sorted_and_merged,
                                 currents_and_charges_of_a_floating_part_sum_to_zero,
                                 jacobian_is_the_derivative,
                                 gmin_holds_a_node_without_dc_path,
                                 lonely_terminal_is_named,
                                 current_source_gives_no_dc_path,
                                 loop_of_sources_is_an_error_with_its_members,
                                 shorted_source_is_an_error,
                                 inductor_across_a_source_gets_a_resistance_in_dc,
                                 nan_is_found_and_blamed,
                                 largest_contributors_come_first,
                                 collapsed_nodes_share_an_unknown,
                                 limits_advance_accept_and_return,
                                 blame_does_not_disturb_limits,
                                 uic_spreads_from_known_nodes,
                                 breakpoints_of_all_sources_merge,
                                 blocks_cover_every_instance,
                                 small_loads_are_the_general_ones_without_kernels_of_linear_devices,
                                 a_function_that_is_not_linear_keeps_its_kernel};
    Suite *s = suite_create("ckt");
    for (size_t w = 0; w < VS_COUNT(start); w++) {
        TCase *t = tcase_create("ckt");
        tcase_add_checked_fixture(t, start[w], end);
        for (size_t k = 0; k < VS_COUNT(test); k++)
            tcase_add_test(t, test[k]);
        suite_add_tcase(s, t);
    }
    return run_suite(s);
}
