/* Pieces and order of a kernel: what jit_cut promises to the code generator. */
#include "jit_check.h"

static ir_val probe(ir_fn *fn, int k) { return ir_in(fn, IR_IN_PROBE, k, IR_F64, false); }

/* Two chains that have nothing to do with each other, one after the other: x/(c + x) n times. */
static void build_chains(ir_fn *fn, int n, ir_val end[2])
{
    ir_fn_init(fn, "chains");
    ir_val in[2] = {probe(fn, 0), probe(fn, 1)}, one = ir_const(fn, 1);
    for (int c = 0; c < 2; c++) {
        ir_val x = in[c];
        for (int i = 0; i < n; i++)
            x = ir_bin(fn, IR_DIV, x, ir_bin(fn, IR_ADD, ir_bin(fn, IR_MUL, x, in[c]), one));
        ir_out_add(fn, IR_OUT_RES, c, 0, end[c] = x);
    }
}

/* Places of the instructions in the order; each stands there once. */
static ir_val *places(const jit_cut *cut, const ir_fn *fn)
{
    const ir_val n = (ir_val)vec_len(fn->inst);
    ir_val *at = NULL;
    vec_extend(at, n);
    ck_assert_uint_eq(vec_len(cut->order), (size_t)n);
    for (ir_val k = 0; k < n; k++)
        at[k] = IR_NONE;
    for (ir_val i = 0; i < n; i++) {
        ck_assert_int_eq(at[cut->order[i]], IR_NONE);
        at[cut->order[i]] = i;
    }
    return at;
}

static int32_t piece_of(const jit_cut *cut, ir_val place)
{
    int32_t p = 0;
    while (cut->begin[p + 1] <= place)
        p++;
    return p;
}

/* Operands come first, in memory where they come from another piece; what is read later keeps its
 * place till then. */
static void check_cut(const jit_cut *cut, const ir_fn *fn)
{
    ir_val *at = places(cut, fn), v[4], *owner = NULL;
    const ir_val n = (ir_val)vec_len(fn->inst);
    vec_extend(owner, (size_t)cut->n_slot + 1);
    for (int32_t s = 0; s < cut->n_slot; s++)
        owner[s] = IR_NONE;
    for (ir_val i = 0; i < n; i++) {
        const ir_val k = cut->order[i];
        for (int a = 0, m = jit_operands(fn, cut->fused, k, v); a < m; a++) {
            const ir_op op = fn->inst[v[a]].op;
            ck_assert_int_lt(at[v[a]], i);
            if (op == IR_CONST || cut->home[v[a]] == piece_of(cut, i))
                continue;
            ck_assert_int_lt(cut->home[v[a]], piece_of(cut, i));
            ck_assert_int_ge(cut->slot[v[a]], 0);
            if (op != IR_IN)
                ck_assert_int_eq(owner[cut->slot[v[a]]], v[a]);
        }
        if (cut->slot[k] >= 0)
            owner[cut->slot[k]] = k;
    }
    vec_free(at);
    vec_free(owner);
}

START_TEST(a_long_function_is_cut_into_pieces)
{
    ir_fn fn;
    ir_val end[2];
    jit_cut cut;
    build_chains(&fn, 100, end);
    for (int limit = 1; limit < 300; limit = limit * 2 + 1) {
        jit_cut_init(
            &cut, &fn,
            (jit_cut_opt){
                .fuse = _i & 1, .interleave = _i > 1, .one_pack = _i == 3, .limit = limit});
        ck_assert_int_ge(cut.n_piece, 600 / limit);
        ck_assert_int_eq(cut.begin[0], 0);
        ck_assert_int_eq(cut.begin[cut.n_piece], (int)vec_len(fn.inst));
        /* of each chain one value, or a product and what it is divided by, and the probe */
        ck_assert_int_le(cut.n_slot, 6 + 2);
        check_cut(&cut, &fn);
        jit_cut_fini(&cut);
    }
    jit_cut_init(&cut, &fn, (jit_cut_opt){.interleave = _i > 1});
    ck_assert_int_eq(cut.n_piece, 1);
    ck_assert_int_eq(cut.n_slot, 0);
    jit_cut_fini(&cut);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(chains_run_beside_each_other)
{
    ir_fn fn;
    ir_val end[2];
    jit_cut cut;
    build_chains(&fn, 30, end);
    jit_cut_init(&cut, &fn, (jit_cut_opt){.fuse = _i, .interleave = true});
    ir_val *at = places(&cut, &fn), *half = NULL;
    for (ir_val k = 0; k < end[1]; k++)
        if (fn.inst[k].op == IR_DIV)
            vec_push(half, at[k]);
    for (int i = 1; i < 29; i++) { /* division i of one chain is near that of the other */
        ck_assert_int_lt(abs(half[i] - half[30 + i]), 12);
        ck_assert_int_lt(half[i], half[i + 1]);
    }
    vec_free(at);
    vec_free(half);
    jit_cut_fini(&cut);
    ir_fn_fini(&fn);
}
END_TEST

/* Nothing is cut, or moved, between `if` and the last phi, or between `loop` and `endloop`. */
START_TEST(regions_stay_whole)
{
    ir_fn fn;
    jit_cut cut;
    ir_fn_init(&fn, "regions");
    ir_val a = probe(&fn, 0), zero = ir_const(&fn, 0), x = ir_un(&fn, IR_SQRT, a);
    ir_val iff = ir_if(&fn, ir_bin(&fn, IR_FLT, x, zero)), y = ir_un(&fn, IR_EXP, x);
    ir_else(&fn);
    ir_val z = ir_un(&fn, IR_NEG, x);
    ir_end(&fn);
    ir_val p = ir_phi(&fn, iff, y, z), q = ir_phi(&fn, iff, x, y == z ? x : a),
           m = ir_bin(&fn, IR_MUL, p, q);
    ir_val l = ir_loop(&fn), w = ir_lphi(&fn, l, m), c = ir_bin(&fn, IR_FLT, w, zero);
    ir_while(&fn, c);
    ir_val next = ir_bin(&fn, IR_ADD, w, x);
    fn.inst[w].c = next;
    ir_endloop(&fn);
    ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_bin(&fn, IR_ADD, w, x));
    jit_cut_init(&cut, &fn, (jit_cut_opt){.interleave = true, .limit = 1});
    ir_val *at = places(&cut, &fn);
    for (ir_val k = iff; k < q; k++)
        ck_assert_int_eq(at[k + 1], at[k] + 1);
    ck_assert_int_eq(piece_of(&cut, at[iff]), piece_of(&cut, at[q]));
    for (ir_val k = l; k < next + 1; k++)
        ck_assert_int_eq(at[k + 1], at[k] + 1);
    ck_assert_int_eq(piece_of(&cut, at[l]), piece_of(&cut, at[next + 1]));
    ck_assert_int_lt(piece_of(&cut, at[q]), piece_of(&cut, at[m]));
    ck_assert_int_lt(piece_of(&cut, at[m]), piece_of(&cut, at[l]));
    vec_free(at);
    jit_cut_fini(&cut);
    ir_fn_fini(&fn);
}
END_TEST

/* What waits stands on the stack of a thread: a function of which everything waits is not cut. */
START_TEST(no_cut_needs_much_memory)
{
    enum { N = 6000 };
    ir_fn fn;
    jit_cut cut;
    ir_fn_init(&fn, "wide");
    ir_val *x = NULL, a = probe(&fn, 0), sum = a;
    for (int k = 0; k < N; k++)
        vec_push(x, a = ir_un(&fn, IR_SQRT, a));
    for (int k = N - 1; k >= 0; k--)
        sum = ir_bin(&fn, IR_SUB, sum, x[k]);
    ir_out_add(&fn, IR_OUT_RES, 0, 0, sum);
    jit_cut_init(&cut, &fn, (jit_cut_opt){.fuse = true, .interleave = true, .limit = 200});
    ck_assert_int_eq(cut.n_piece, 1);
    ck_assert_int_eq(cut.n_slot, 0);
    vec_free(x);
    jit_cut_fini(&cut);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(an_empty_function_is_one_piece)
{
    ir_fn fn;
    jit_cut cut;
    ir_fn_init(&fn, "empty");
    jit_cut_init(&cut, &fn, (jit_cut_opt){.fuse = true, .interleave = true, .limit = 10});
    ck_assert_int_eq(cut.n_piece, 1);
    ck_assert_int_eq(cut.begin[1], 0);
    jit_cut_fini(&cut);
    ir_fn_fini(&fn);
}
END_TEST

/* More packs than wait at a time, and a remainder; truth values and integers wait too. */
START_TEST(many_packs_run_in_pieces)
{
    enum { N = 8 * 21 + 3, W = 4, PACKS = N / W + 1 };
    ir_fn fn;
    ir_val x, b, i;
    static double unknown[1 + PACKS * W], out[PACKS * 3 * W], want[PACKS * 3 * W];
    static int32_t nodes[PACKS * W], row[PACKS];
    ir_fn_init(&fn, "packs");
    x = probe(&fn, 0);
    b = ir_bin(&fn, IR_FLT, x, ir_in(&fn, IR_IN_CACHE, 0, IR_F64, false));
    i = ir_un(&fn, IR_F2I, x);
    for (int k = 0; k < 40; k++) {
        const ir_val square = ir_bin(&fn, IR_ADD, ir_bin(&fn, IR_MUL, x, x), ir_const(&fn, 1));
        x = ir_bin(&fn, IR_DIV, x, ir_un(&fn, IR_SQRT, square));
    }
    ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_select(&fn, b, x, ir_un(&fn, IR_I2F, i)));
    ir_out_add(&fn, IR_OUT_RES, 1, 0, ir_un(&fn, IR_I2F, ir_un(&fn, IR_INEG, i)));
    ir_out_add(&fn, IR_OUT_RES, 2, 0, ir_un(&fn, IR_B2F, ir_un(&fn, IR_BNOT, b)));
    for (int k = 0; k < PACKS * W; k++) {
        unknown[1 + k] = (k * 37 % 101 - 50) / 8.0;
        nodes[k] = 1 + k;
    }
    const double cache = 0.25;
    simple_layout s;
    simple_layout_init(&s, &fn, 1);
    s.lay.n_cache = 1;
    s.lay.lanes = W;
    jit_batch batch = {.x = unknown, .map = nodes, .cache = &cache, .row_of = row, .out = out};
    jit *j = open_pieces(NULL, 12);
    compile(j, &fn, &s.lay)(&batch, 0, PACKS);
    batch.out = want;
    ck_assert_int_eq(jit_interpret(&fn, &s.lay, &batch, 0, PACKS), VS_OK);
    for (int k = 0; k < PACKS * 3 * W; k++)
        ck_assert_msg(same(out[k], want[k]), "output %d: %.17g, not %.17g", k, out[k], want[k]);
    jit_close(&j);
    ir_fn_fini(&fn);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit cut");
    TCase *t = tcase_create("cut");
    tcase_add_loop_test(t, a_long_function_is_cut_into_pieces, 0, 4);
    tcase_add_loop_test(t, chains_run_beside_each_other, 0, 2);
    tcase_add_test(t, regions_stay_whole);
    tcase_add_test(t, no_cut_needs_much_memory);
    tcase_add_test(t, an_empty_function_is_one_piece);
    tcase_add_test(t, many_packs_run_in_pieces);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
