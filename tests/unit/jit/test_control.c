/* Regions, loops, every array of a batch: machine code against the interpreter, whole and in small
 * pieces. */
#include "jit_check.h"

static const int PIECE[] = {-1, 0, 2, 10}; /* of loop tests */

static ir_val probe(ir_fn *fn, int k) { return ir_in(fn, IR_IN_PROBE, k, IR_F64, false); }

/* Two unknowns, all outputs in order, 200 random points and some special ones. */
static void check_fn(ir_fn *fn, int piece)
{
    simple_layout s;
    jit *j = open_pieces(NULL, piece);
    simple_layout_init(&s, fn, 2);
    jit_kernel kernel = compile(j, fn, &s.lay);
    const int32_t nodes[2] = {1, 2};
    for (int i = 0; i < 200; i++) {
        double x[3] = {0, (rand() % 2001 - 1000) / 100.0, (rand() % 21 - 10) / 4.0};
        double got[64], want[64];
        jit_batch b = {.x = x, .map = nodes, .out = got};
        if (i == 0)
            x[1] = NAN;
        kernel(&b, 0, 1);
        b.out = want;
        ck_assert_int_eq(jit_interpret(fn, &s.lay, &b, 0, 1), VS_OK);
        for (int k = 0; k < s.lay.n_out; k++)
            ck_assert_msg(same(got[k], want[k]), "%s out %d: %.17g, %.17g at %g %g", fn->name, k,
                          got[k], want[k], x[1], x[2]);
    }
    jit_close(&j);
    ir_fn_fini(fn);
}

START_TEST(nested_branches_choose_their_values)
{
    ir_fn fn;
    ir_fn_init(&fn, "nested");
    ir_val a = probe(&fn, 0), b = probe(&fn, 1), zero = ir_const(&fn, 0);
    ir_val i1 = ir_if(&fn, ir_bin(&fn, IR_FLT, a, zero));
    ir_val i2 = ir_if(&fn, ir_bin(&fn, IR_FLT, b, zero));
    ir_val p = ir_bin(&fn, IR_MUL, a, b);
    ir_else(&fn);
    ir_val q = ir_un(&fn, IR_EXP, a);
    ir_end(&fn);
    ir_val r = ir_phi(&fn, i2, p, q);
    ir_else(&fn);
    ir_val t = ir_bin(&fn, IR_SUB, a, b);
    ir_end(&fn);
    ir_val u = ir_phi(&fn, i1, r, t), w = ir_phi(&fn, i1, b, a);
    ir_out_add(&fn, IR_OUT_RES, 0, 0, u);
    ir_out_add(&fn, IR_OUT_RES, 1, 0, w);
    ir_out_add(&fn, IR_OUT_RES, 2, 0, u);
    ir_out_add(&fn, IR_OUT_RES, 3, 0, ir_bin(&fn, IR_ADD, u, w));
    check_fn(&fn, PIECE[_i]);
}
END_TEST

/* sum and count over k while k*k < |a|, with values exchanged each round */
START_TEST(loops_carry_values_and_may_not_run_at_all)
{
    ir_fn fn;
    ir_fn_init(&fn, "loop");
    ir_val a = ir_un(&fn, IR_ABS, probe(&fn, 0)), b = probe(&fn, 1);
    ir_val k0 = ir_const_i(&fn, 0), one = ir_const_i(&fn, 1);
    ir_val l = ir_loop(&fn);
    ir_val k = ir_lphi(&fn, l, k0), s = ir_lphi(&fn, l, b), t = ir_lphi(&fn, l, a);
    ir_val kf = ir_un(&fn, IR_I2F, k);
    ir_while(&fn, ir_bin(&fn, IR_FLT, ir_bin(&fn, IR_MUL, kf, kf), a));
    ir_val i = ir_if(&fn, ir_bin(&fn, IR_FLT, s, t));
    ir_val p = ir_bin(&fn, IR_ADD, s, kf);
    ir_else(&fn);
    ir_end(&fn);
    ir_val q = ir_phi(&fn, i, p, s);
    ir_val k1 = ir_bin(&fn, IR_IADD, k, one);
    ir_endloop(&fn);
    fn.inst[k].c = k1;
    fn.inst[s].c = t; /* exchange */
    fn.inst[t].c = q;
    ir_out_add(&fn, IR_OUT_RES, 0, 0, s);
    ir_out_add(&fn, IR_OUT_RES, 1, 0, t);
    ir_out_add(&fn, IR_OUT_OPVAR, 0, 0, k);
    check_fn(&fn, PIECE[_i]);
}
END_TEST

START_TEST(endless_loop_gives_nan_and_goes_on)
{
    ir_fn fn;
    simple_layout s;
    jit *j = open_pieces(NULL, PIECE[_i]);
    ir_fn_init(&fn, "endless");
    ir_val a = probe(&fn, 0), zero = ir_const(&fn, 0);
    ir_val l = ir_loop(&fn), p = ir_lphi(&fn, l, a);
    ir_while(&fn, ir_bin(&fn, IR_FLT, zero, p));
    ir_endloop(&fn);
    fn.inst[p].c = p;
    ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_bin(&fn, IR_ADD, p, a));
    simple_layout_init(&s, &fn, 1);
    jit_kernel kernel = compile(j, &fn, &s.lay);
    const double x[] = {0, 1, -1};
    const int32_t nodes[] = {1, 2};
    double out[2] = {5, 5};
    jit_batch b = {.x = x, .map = nodes, .out = out};
    kernel(&b, 0, 2);
    ck_assert(isnan(out[0]));
    ck_assert_double_eq(out[1], -2);
    ck_assert_int_eq(jit_interpret(&fn, &s.lay, &b, 0, 1), VS_NOCONV);
    jit_close(&j);
    ir_fn_fini(&fn);
}
END_TEST

/* All inputs and all output arrays, 5 instances in 2 parameter rows. */
static void build_all(ir_fn *fn)
{
    ir_fn_init(fn, "all");
    ir_val v = probe(fn, 0), w = probe(fn, 1);
    ir_val c = ir_in(fn, IR_IN_CACHE, 0, IR_F64, false);
    ir_val ci = ir_in(fn, IR_IN_CACHE, 1, IR_I32, false);
    ir_val cb = ir_in(fn, IR_IN_CACHE, 2, IR_BOOL, false);
    ir_val alpha = ir_in(fn, IR_IN_DYN, IR_DYN_ALPHA, IR_F64, false);
    ir_val t = ir_in(fn, IR_IN_ABSTIME, 0, IR_F64, false);
    ir_val s0 = ir_in(fn, IR_IN_STATE, 0, IR_F64, false);
    ir_val s1 = ir_in(fn, IR_IN_STATE, 1, IR_I32, false);
    ir_val lo = ir_in(fn, IR_IN_LIMOLD, 0, IR_F64, false);
    ir_val y = ir_bin(fn, IR_MUL, ir_bin(fn, IR_ADD, v, w), c);
    y = ir_select(fn, cb, y, ir_un(fn, IR_NEG, y));
    ir_out_add(fn, IR_OUT_STATE, 1, 0, ir_bin(fn, IR_IADD, s1, ci));
    ir_out_add(fn, IR_OUT_RES, 0, 0, ir_bin(fn, IR_ADD, y, ir_un(fn, IR_I2F, ci)));
    ir_out_add(fn, IR_OUT_STATE, 0, 0, ir_bin(fn, IR_ADD, s0, t));
    ir_val lim = ir_bin(fn, IR_MIN, v, ir_bin(fn, IR_ADD, lo, alpha));
    ir_out_add(fn, IR_OUT_LIMNEW, 0, 0, lim);
    ir_out_add(fn, IR_OUT_LIMITED, 0, 0, ir_bin(fn, IR_FNE, lim, v));
    ir_out_add(fn, IR_OUT_J, 0, 0, ir_bin(fn, IR_MUL, alpha, lim));
}

START_TEST(batch_reads_and_writes_its_own_rows)
{
    enum { NB = 5, NU = 3 };
    ir_fn fn;
    jit *j = open_pieces(NULL, PIECE[_i]);
    build_all(&fn);
    const int32_t hi[] = {0, -1}, lo[] = {2, 1}, slot[] = {1, 2, 0, 0, 0, 1};
    jit_layout lay = {.lanes = 1,
                      .n_u = NU,
                      .n_cache = 3,
                      .n_state = 2,
                      .n_lim = 1,
                      .n_out = 3,
                      .probe_hi = hi,
                      .probe_lo = lo,
                      .n_probe = 2,
                      .out_slot = slot};
    jit_kernel kernel = compile(j, &fn, &lay);
    double x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, dyn[IR_N_DYN] = {[IR_DYN_ALPHA] = 0.25};
    const double cache[6] = {2, -3, 1, 4, 9, 0}, state[2 * NB] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const double limold[NB] = {-9, 9, -9, 9, 0};
    const int32_t row[NB] = {0, 1, 1, 0, 1};
    int32_t nodes[NB * NU];
    double out[2][3 * NB], st[2][2 * NB], lim[2][NB];
    dyn[IR_DYN_ABSTIME] = 1e-3;
    for (int i = 0; i < NB * NU; i++)
        nodes[i] = (i * 5) % 8;
    for (int m = 0; m < 2; m++) {
        memset(out[m], 0, sizeof out[m]), memset(st[m], 0, sizeof st[m]);
        memset(lim[m], 0, sizeof lim[m]);
        jit_batch b = {x, nodes, cache, row, dyn, state, limold, out[m], st[m], lim[m]};
        if (m)
            ck_assert_int_eq(jit_interpret(&fn, &lay, &b, 1, NB), VS_OK);
        else
            kernel(&b, 1, NB);
    }
    ck_assert(!memcmp(out[0], out[1], sizeof out[0]));
    ck_assert(!memcmp(st[0], st[1], sizeof st[0]));
    ck_assert(!memcmp(lim[0], lim[1], sizeof lim[0]));
    ck_assert_double_eq(out[0][0], 0); /* instance 0 was not asked for */
    ck_assert_double_eq(st[0][3], 4 + 9);
    jit_close(&j);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(unknown_inputs_are_refused)
{
    ir_fn fn;
    simple_layout s;
    jit *j = open_jit(NULL);
    const char *why = NULL;
    jit_kernel kernel;
    ir_fn_init(&fn, "param");
    ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_in(&fn, IR_IN_PARAM, 0, IR_F64, false));
    simple_layout_init(&s, &fn, 0);
    ck_assert_int_eq(jit_compile(j, &fn, &s.lay, &kernel, NULL, &why), VS_EINPUT);
    ck_assert_str_eq(why, "a kernel cannot read 'param'");
    jit_close(&j);
    ir_fn_fini(&fn);
}
END_TEST

/* a > 0 ? (b > 0 ? a^b : (-b)^a) : b */
static void build_powers(ir_fn *fn)
{
    ir_fn_init(fn, "powers");
    ir_val a = probe(fn, 0), b = probe(fn, 1), zero = ir_const(fn, 0), less = ir_un(fn, IR_NEG, b);
    ir_val i1 = ir_if(fn, ir_bin(fn, IR_FLT, zero, a));
    ir_val other = ir_bin(fn, IR_POW, less, a);
    ir_val i2 = ir_if(fn, ir_bin(fn, IR_FLT, zero, b));
    ir_val p = ir_bin(fn, IR_POW, a, b);
    ir_else(fn);
    ir_end(fn);
    ir_val q = ir_phi(fn, i2, p, other);
    ir_else(fn);
    ir_end(fn);
    ir_out_add(fn, IR_OUT_RES, 0, 0, ir_phi(fn, i1, q, b));
}

/* Lanes that want an arm, beside others whose numbers are special there: the bits of one lane. */
START_TEST(powers_in_arms_do_not_depend_on_neighbours)
{
    enum { W = 4, N = 400 };
    static const double special[] = {0, -0.0, NAN, INFINITY, -INFINITY, 1e-310, 1, -1};
    jit *j = jit_open(&(jit_opt){.no_cache = true, .opt_level = 2, .note = take_note});
    ir_fn fn;
    build_powers(&fn);
    simple_layout one, all;
    simple_layout_init(&one, &fn, 2);
    simple_layout_init(&all, &fn, 2);
    all.lay.lanes = W;
    jit_kernel alone = compile(j, &fn, &one.lay), beside = compile(j, &fn, &all.lay);
    const int32_t nodes[2 * W] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < N; i++) {
        double x[1 + 2 * W] = {0}, got[W], want;
        for (int k = 1; k <= 2 * W; k++)
            x[k] = rand() % 4 ? (rand() % 2001 - 1000) / 100.0
                              : special[(size_t)rand() % VS_COUNT(special)];
        beside(&(jit_batch){.x = x, .map = nodes, .out = got}, 0, 1);
        for (int k = 0; k < W; k++) {
            const double v[3] = {0, x[1 + k], x[1 + W + k]};
            alone(&(jit_batch){.x = v, .map = nodes, .out = &want}, 0, 1);
            ck_assert_msg(same(got[k], want), "lane %d: %.17g, %.17g at %g %g", k, got[k], want,
                          v[1], v[2]);
        }
    }
    jit_close(&j);
    ir_fn_fini(&fn);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit control");
    TCase *t = tcase_create("control");
    tcase_add_loop_test(t, nested_branches_choose_their_values, 0, VS_COUNT(PIECE));
    tcase_add_loop_test(t, loops_carry_values_and_may_not_run_at_all, 0, VS_COUNT(PIECE));
    tcase_add_loop_test(t, endless_loop_gives_nan_and_goes_on, 0, VS_COUNT(PIECE));
    tcase_add_loop_test(t, batch_reads_and_writes_its_own_rows, 0, VS_COUNT(PIECE));
    tcase_add_test(t, powers_in_arms_do_not_depend_on_neighbours);
    tcase_add_test(t, unknown_inputs_are_refused);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
