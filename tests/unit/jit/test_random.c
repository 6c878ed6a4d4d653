/* Random structured functions of every operation: machine code against the interpreter, bit for
 * bit; whole and in pieces of some instructions. */
#include "jit_check.h"

enum { N_FN = 150, N_POINT = 40, N_PROBE = 4, MAX_DEPTH = 4 };

static uint32_t state;
static uint32_t rnd(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 10) % n;
}

/* Values in scope, by type; a region's values go when it ends. */
typedef struct scope {
    ir_fn fn;
    ir_val *v[IR_BOOL + 1]; /* vecs */
} scope;

static ir_val pick(scope *s, ir_type t)
{
    size_t n = vec_len(s->v[t]);
    size_t back = rnd(3) ? rnd(8) : rnd((uint32_t)n);
    return s->v[t][n - 1 - (back < n ? back : n - 1)];
}

static void keep(scope *s, ir_val v) { vec_push(s->v[s->fn.inst[v].type], v); }

static ir_type operand_type(ir_op op)
{
    if (op >= IR_INEG && op <= IR_INE)
        return IR_I32;
    if (op >= IR_BAND && op <= IR_BNOT)
        return IR_BOOL;
    return op == IR_I2F ? IR_I32 : op == IR_B2I || op == IR_B2F ? IR_BOOL : IR_F64;
}

static void add_op(scope *s)
{
    ir_op op = (ir_op)(IR_NEG + (int)rnd(IR_SELECT - IR_NEG + 1));
    if (rnd(3) == 0)
        op = (ir_op)(IR_ADD + (int)rnd(4)); /* as in real functions */
    if (op == IR_SELECT) {
        ir_type t = (ir_type)(IR_F64 + (int)rnd(3));
        ir_val a = pick(s, t), b = pick(s, t);
        keep(s, ir_select(&s->fn, pick(s, IR_BOOL), a, b));
        return;
    }
    ir_val a = pick(s, operand_type(op)), b = pick(s, operand_type(op));
    keep(s, ir_op_arity(op) == 1 ? ir_un(&s->fn, op, a) : ir_bin(&s->fn, op, a, b));
}

static void add_block(scope *s, int depth, int n);

typedef struct mark {
    size_t len[IR_BOOL + 1];
} mark;

static mark enter(const scope *s)
{
    mark m;
    for (int t = IR_F64; t <= IR_BOOL; t++)
        m.len[t] = vec_len(s->v[t]);
    return m;
}

static void leave(scope *s, mark m)
{
    for (int t = IR_F64; t <= IR_BOOL; t++)
        vec_head_of(s->v[t])->len = m.len[t];
}

static void add_if(scope *s, int depth)
{
    ir_val iff = ir_if(&s->fn, pick(s, IR_BOOL)), arm[2][3], k[3];
    mark m = enter(s);
    for (int a = 0; a < 2; a++) {
        if (a)
            ir_else(&s->fn);
        add_block(s, depth + 1, (int)rnd(8));
        for (int p = 0; p < 3; p++)
            arm[a][p] = pick(s, (ir_type)(IR_F64 + p));
        leave(s, m);
    }
    ir_end(&s->fn);
    for (int p = 0; p < 3; p++)
        k[p] = ir_phi(&s->fn, iff, arm[0][p], arm[1][p]);
    for (int p = 0; p < 3; p++)
        keep(s, k[p]);
}

/* Up to 7 rounds: a counter, and a condition now and then. */
static void add_loop(scope *s, int depth)
{
    ir_fn *fn = &s->fn;
    ir_val zero = ir_const_i(fn, 0), init[3], p[3], end = ir_const_i(fn, (int32_t)rnd(8));
    ir_val one = ir_const_i(fn, 1);
    for (int t = 0; t < 3; t++)
        init[t] = pick(s, (ir_type)(IR_F64 + t));
    ir_val loop = ir_loop(fn), k = ir_lphi(fn, loop, zero);
    for (int t = 0; t < 3; t++)
        p[t] = ir_lphi(fn, loop, init[t]);
    mark m = enter(s);
    keep(s, k);
    for (int t = 0; t < 3; t++)
        keep(s, p[t]);
    ir_val more = ir_bin(fn, IR_ILT, k, end);
    if (rnd(2))
        more = ir_bin(fn, IR_BAND, more, pick(s, IR_BOOL));
    ir_while(fn, more);
    add_block(s, depth + 1, (int)rnd(6));
    ir_val next = ir_bin(fn, IR_IADD, k, one); /* moves inst */
    fn->inst[k].c = next;
    for (int t = 0; t < 3; t++)
        fn->inst[p[t]].c = rnd(4) ? pick(s, (ir_type)(IR_F64 + t)) : p[t];
    ir_endloop(fn);
    leave(s, m);
    keep(s, k);
    for (int t = 0; t < 3; t++)
        keep(s, p[t]);
}

static void add_block(scope *s, int depth, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t what = rnd(12);
        if (what == 0 && depth < MAX_DEPTH)
            add_if(s, depth);
        else if (what == 1 && depth < MAX_DEPTH)
            add_loop(s, depth);
        else
            add_op(s);
    }
}

static void build(scope *s)
{
    static const double con[] = {0, -0.0, 1, -1, 0.5, 2, 1e-3, 1e300, 300};
    *s = (scope){0};
    ir_fn_init(&s->fn, "random");
    for (int k = 0; k < N_PROBE; k++)
        keep(s, ir_in(&s->fn, IR_IN_PROBE, k, IR_F64, false));
    keep(s, ir_in(&s->fn, IR_IN_CACHE, 0, IR_F64, false));
    keep(s, ir_in(&s->fn, IR_IN_CACHE, 1, IR_I32, false));
    keep(s, ir_in(&s->fn, IR_IN_CACHE, 2, IR_BOOL, false));
    for (size_t k = 0; k < VS_COUNT(con); k++)
        keep(s, ir_const(&s->fn, con[k]));
    keep(s, ir_const_i(&s->fn, -3));
    keep(s, ir_const_b(&s->fn, true));
    add_block(s, 0, 60);
    for (int o = 0; o < 12; o++)
        ir_out_add(&s->fn, IR_OUT_RES, o, 0, pick(s, (ir_type)(IR_F64 + o % 3)));
}

static const int PIECE[] = {-1, 0, 4, 25};
static jit *exact[VS_COUNT(PIECE)],
    *fast[VS_COUNT(PIECE)]; /* exact and fast code in each size of pieces */
static void open_all(void)
{
    for (size_t k = 0; k < VS_COUNT(PIECE); k++) {
        exact[k] = open_pieces(NULL, PIECE[k]);
        fast[k] = jit_open(&(jit_opt){.no_cache = true, .opt_level = 2, .piece = PIECE[k]});
    }
}
static void close_all(void)
{
    for (size_t k = 0; k < VS_COUNT(PIECE); k++) {
        jit_close(&exact[k]);
        jit_close(&fast[k]);
    }
}

START_TEST(random_function_equals_interpreter)
{
    scope s;
    simple_layout l;
    state = 12345u + 7919u * (uint32_t)_i;
    build(&s);
    simple_layout_init(&l, &s.fn, N_PROBE);
    l.lay.n_cache = 3;
    jit_kernel kernel = compile(exact[_i % (int)VS_COUNT(PIECE)], &s.fn, &l.lay);
    const int32_t nodes[N_PROBE] = {1, 2, 3, 4}, row = 0;
    for (int i = 0; i < N_POINT; i++) {
        double x[N_PROBE + 1] = {0}, got[12], want[12];
        for (int k = 1; k <= N_PROBE; k++)
            x[k] = rnd(8) ? ((double)rnd(2001) - 1000) / 100 : rnd(2) ? 0 : 1e12 * (double)rnd(9);
        double cache[3] = {(double)rnd(100) / 7, (double)rnd(9) - 4, rnd(2)};
        jit_batch b = {.x = x, .map = nodes, .cache = cache, .row_of = &row, .out = got};
        kernel(&b, 0, 1);
        b.out = want;
        ck_assert_int_eq(jit_interpret(&s.fn, &l.lay, &b, 0, 1), VS_OK);
        for (int k = 0; k < 12; k++)
            ck_assert_msg(same(got[k], want[k]), "function %d out %d: kernel %.17g, not %.17g", _i,
                          k, got[k], want[k]);
    }
    for (int t = IR_F64; t <= IR_BOOL; t++)
        vec_free(s.v[t]);
    ir_fn_fini(&s.fn);
}
END_TEST

/* The same functions without branches, N_INST instances in packs of each width: with exact code the
 * interpreter's bits, with fast code those of one lane. Rows for each pack or each lane. */
enum { N_INST = 24, N_OUT = 12, N_CACHE = 3, N_ROW = 3 };

typedef struct packed {
    int32_t nodes[N_PROBE * N_INST], row_of[N_INST];
    double cache[N_CACHE * N_INST], out[N_OUT * N_INST];
} packed;

static int32_t row_of(int i, int lanes, bool per_lane)
{
    return (per_lane ? i : i / lanes) % N_ROW;
}

static jit_batch pack(packed *p, const double *x, const double *row, int lanes, bool per_lane)
{
    for (int i = 0; i < N_INST; i++) {
        int at = i / lanes, lane = i % lanes;
        for (int k = 0; k < N_PROBE; k++)
            p->nodes[(at * N_PROBE + k) * lanes + lane] = 1 + i * N_PROBE + k;
        p->row_of[at] = row_of(i, lanes, per_lane);
        for (int k = 0; k < N_CACHE && per_lane; k++)
            p->cache[(at * N_CACHE + k) * lanes + lane] = row[row_of(i, lanes, true) * N_CACHE + k];
    }
    return (jit_batch){.x = x,
                       .map = p->nodes,
                       .cache = per_lane ? p->cache : row,
                       .row_of = per_lane ? NULL : p->row_of,
                       .out = p->out};
}

static double out_of(const packed *p, int i, int k, int lanes)
{
    return p->out[(i / lanes * N_OUT + k) * lanes + i % lanes];
}

static void check_width(jit *j, const ir_fn *fn, const double *x, const double *row, int lanes,
                        bool per_lane, const packed *want, const char *what)
{
    static packed p;
    simple_layout l;
    simple_layout_init(&l, fn, N_PROBE);
    l.lay.n_cache = N_CACHE;
    l.lay.lanes = lanes;
    l.lay.row_per_lane = per_lane;
    jit_batch b = pack(&p, x, row, lanes, per_lane);
    compile(j, fn, &l.lay)(&b, 0, N_INST / lanes);
    for (int i = 0; i < N_INST; i++)
        for (int k = 0; k < N_OUT; k++)
            ck_assert_msg(same(out_of(&p, i, k, lanes), want->out[i * N_OUT + k]),
                          "%s: function %u, %d lanes, instance %d out %d: %.17g, not %.17g", what,
                          state, lanes, i, k, out_of(&p, i, k, lanes), want->out[i * N_OUT + k]);
}

START_TEST(lanes_do_not_see_each_other)
{
    scope s;
    ir_fn fn;
    simple_layout l;
    static packed want;
    double x[1 + N_PROBE * N_INST] = {0}, row[N_CACHE * N_ROW];
    state = 999u + 7919u * (uint32_t)_i;
    build(&s);
    ir_ifconv(&fn, &s.fn, NULL);
    for (int k = 1; k <= N_PROBE * N_INST; k++)
        x[k] = rnd(8) ? ((double)rnd(2001) - 1000) / 100 : rnd(2) ? 0 : 1e12 * (double)rnd(9);
    for (int k = 0; k < N_ROW; k++)
        row[k * N_CACHE] = (double)rnd(100) / 7, row[k * N_CACHE + 1] = (double)rnd(9) - 4,
                row[k * N_CACHE + 2] = rnd(2);
    const int in_pieces = 1 + _i % ((int)VS_COUNT(PIECE) - 1);
    for (int lanes = 2; lanes <= 8; lanes *= 2)
        for (int per_lane = 0; per_lane < 2; per_lane++) {
            /* one lane, in the rows that the packs have */
            double each[N_CACHE * N_INST];
            for (int i = 0; i < N_INST; i++)
                memcpy(&each[i * N_CACHE], &row[row_of(i, lanes, per_lane) * N_CACHE],
                       N_CACHE * sizeof *row);
            simple_layout_init(&l, &fn, N_PROBE);
            l.lay.n_cache = N_CACHE;
            jit_batch b = pack(&want, x, each, 1, false);
            for (int i = 0; i < N_INST; i++)
                want.row_of[i] = i;
            ck_assert_int_eq(jit_interpret(&fn, &l.lay, &b, 0, N_INST), VS_OK);
            check_width(exact[in_pieces], &fn, x, row, lanes, per_lane, &want, "exact");
            compile(fast[0], &fn, &l.lay)(&b, 0, N_INST);
            check_width(fast[0], &fn, x, row, lanes, per_lane, &want, "fast");
            check_width(fast[in_pieces], &fn, x, row, lanes, per_lane, &want, "fast, in pieces");
        }
    for (int t = IR_F64; t <= IR_BOOL; t++)
        vec_free(s.v[t]);
    ir_fn_fini(&s.fn);
    ir_fn_fini(&fn);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit random");
    TCase *t = tcase_create("random");
    tcase_add_unchecked_fixture(t, open_all, close_all);
    tcase_add_loop_test(t, random_function_equals_interpreter, 0, N_FN);
    tcase_add_loop_test(t, lanes_do_not_see_each_other, 0, 25);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
