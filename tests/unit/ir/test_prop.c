/* Properties of the passes on random functions: what a pass writes computes the same bits. */
#include "ir_test.h"

enum { N_FN = 3000, N_INPUT = 6 };

static void expect_same(const ir_fn *f, const ir_fn *g, const values *v, uint64_t seed,
                        const char *what)
{
    arena_pos pos = arena_mark(&test_mem);
    ck_assert_uint_eq(vec_len(f->out), vec_len(g->out));
    double *a = run_fn(f, value_of_input, (void *)v);
    uint64_t effects = effects_seen;
    double *b = run_fn(g, value_of_input, (void *)v);
    ck_assert_msg(effects == effects_seen, "%s, function %d: other effects\n%s\n%s", what,
                  (int)seed, text_of(f), text_of(g));
    for (size_t k = 0; k < vec_len(f->out); k++)
        ck_assert_msg(same_bits(a[k], b[k]),
                      "%s, function %d, output %zu: %.17g is not %.17g\n%s\n%s", what, (int)seed, k,
                      b[k], a[k], text_of(f), text_of(g));
    arena_release(&test_mem, pos);
}

START_TEST(optimised_function_computes_the_same_bits)
{
    for (uint64_t seed = 0; seed < N_FN; seed++) {
        ir_fn f = random_fn(seed, 5 + (int)(seed % 90), false), g, h;
        check_valid(&f);
        ir_opt(&g, &f, (ir_opt_flags){0});
        check_valid(&g);
        ck_assert_uint_le(vec_len(g.inst), vec_len(f.inst) + vec_len(f.con));
        ir_sccp(&h, &f, NULL, NULL, (ir_opt_flags){0}, NULL);
        check_valid(&h);
        for (uint64_t j = 0; j < N_INPUT; j++) {
            values v = random_values(seed * 100 + j, false);
            expect_same(&f, &g, &v, seed, "opt");
            expect_same(&f, &h, &v, seed, "sccp");
        }
        ir_fn_fini(&f);
        ir_fn_fini(&g);
        ir_fn_fini(&h);
        end_mem();
        begin_mem();
    }
}
END_TEST

/* What ir_interp_static knows, given to ir_sccp for all values or as decisions only. */
START_TEST(specialised_function_computes_the_same_bits)
{
    for (uint64_t seed = 0; seed < N_FN; seed++) {
        ir_fn f = random_fn(seed + 100000, 5 + (int)(seed % 90), false);
        size_t n = vec_len(f.inst);
        uint8_t *cls = arena_array(&test_mem, uint8_t, n),
                *ran = arena_array(&test_mem, uint8_t, n);
        ir_num *in = arena_array(&test_mem, ir_num, vec_len(f.in)),
               *val = arena_array(&test_mem, ir_num, n);
        ir_classes(&f, cls);
        for (uint64_t j = 0; j < 3; j++) {
            values v = random_values(seed * 100 + j, false);
            for (size_t k = 0; k < vec_len(f.in); k++)
                in[k] = value_of_input(&f.in[k], &v);
            ck_assert_int_eq(ir_interp_static(&f, cls, in, val, ran, NULL), VS_OK);
            for (int only_decisions = 0; only_decisions < 2; only_decisions++) {
                for (size_t i = 0; i < n && only_decisions; i++)
                    ran[i] = ran[i] && f.inst[i].type == IR_BOOL ? 2 : 0;
                ir_fn g;
                ir_sccp_stats st;
                ir_sccp(&g, &f, ran, val, (ir_opt_flags){0}, &st);
                check_valid(&g);
                ck_assert_int_le(st.n_branch_decided, st.n_branch);
                ck_assert_int_le(st.n_block_dead, st.n_block);
                for (uint64_t m = 0; m < 3; m++) {
                    values w = v, other = random_values(seed * 1000 + m, false);
                    memcpy(w.probe, other.probe, sizeof w.probe);
                    expect_same(&f, &g, &w, seed, "specialised");
                }
                ir_fn_fini(&g);
            }
        }
        ir_fn_fini(&f);
        end_mem();
        begin_mem();
    }
}
END_TEST

/* The list of static instructions against the function with everything in it. */
START_TEST(static_values_are_the_same_without_the_rest)
{
    size_t n_static = 0;
    for (uint64_t seed = 0; seed < N_FN; seed++) {
        ir_fn f = random_fn(seed + 600000, 5 + (int)(seed % 90), false);
        const size_t n = vec_len(f.inst);
        uint8_t *cls = arena_array(&test_mem, uint8_t, n),
                *ran = arena_array(&test_mem, uint8_t, n),
                *own_ran = arena_array(&test_mem, uint8_t, n);
        ir_num *in = arena_array(&test_mem, ir_num, vec_len(f.in)),
               *val = arena_array(&test_mem, ir_num, n), *own = arena_array(&test_mem, ir_num, n);
        ir_val *all = arena_array(&test_mem, ir_val, n);
        ir_static list;
        for (size_t i = 0; i < n; i++)
            all[i] = (ir_val)i;
        ir_classes(&f, cls);
        ir_static_init(&list, &f, cls, all, n);
        const values v = random_values(seed, false);
        for (size_t k = 0; k < vec_len(f.in); k++)
            in[k] = value_of_input(&f.in[k], (void *)&v);
        ck_assert_int_eq(ir_interp_static(&f, cls, in, val, ran, NULL), VS_OK);
        ck_assert_int_eq(ir_static_run(&list, &f, in, own, own_ran), VS_OK);
        for (size_t i = 0; i < n; i++) {
            const ir_val at = list.want[i];
            ck_assert(at != IR_NONE || !ran[i]);
            if (at == IR_NONE)
                continue;
            n_static++;
            ck_assert_int_eq(ran[i], own_ran[at]);
            ck_assert(!ran[i] || (f.inst[i].type == IR_F64 ? same_bits(val[i].f, own[at].f)
                                                           : val[i].i == own[at].i));
        }
        ck_assert_uint_le(vec_len(list.inst), n);
        ir_static_fini(&list);
        ir_fn_fini(&f);
        end_mem();
        begin_mem();
    }
    ck_assert_uint_gt(n_static, N_FN);
}
END_TEST

/* The trace of one evaluation, run with other numbers: the bits of the interpreter, or none. */
START_TEST(trace_computes_the_same_bits_on_the_same_way)
{
    size_t n_run = 0, n_left = 0, n_vary = 0;
    for (uint64_t seed = 0; seed < N_FN; seed++) {
        ir_fn f = random_fn(seed + 700000, 5 + (int)(seed % 60), false);
        const size_t n = vec_len(f.inst), n_in = vec_len(f.in);
        uint8_t *cls = arena_array(&test_mem, uint8_t, n),
                *vary = arena_array(&test_mem, uint8_t, n_in + 1),
                *ran = arena_array(&test_mem, uint8_t, n);
        ir_num *in = arena_array(&test_mem, ir_num, n_in + 1),
               *val = arena_array(&test_mem, ir_num, n),
               *few = arena_array(&test_mem, ir_num, n_in + 1);
        ir_val *all = arena_array(&test_mem, ir_val, n);
        for (size_t i = 0; i < n; i++)
            all[i] = (ir_val)i;
        ir_classes(&f, cls);
        const values v = random_values(seed, false);
        for (size_t k = 0; k < n_in; k++) {
            in[k] = value_of_input(&f.in[k], (void *)&v);
            vary[k] = f.in[k].kind == IR_IN_PARAM || f.in[k].kind == IR_IN_GIVEN;
        }
        ir_trace t;
        if (!ir_trace_init(&t, &f, cls, in, vary, all, n)) {
            ir_fn_fini(&f);
            continue; /* a loop on its way */
        }
        for (uint64_t j = 0; j < N_INPUT; j++) {
            values w = v;
            const values other = random_values(seed * 100 + j, false);
            memcpy(w.f, other.f, sizeof w.f);
            memcpy(w.b, other.b, sizeof w.b);
            w.i = other.i;
            size_t m = 0;
            for (size_t k = 0; k < n_in; k++) {
                in[k] = value_of_input(&f.in[k], &w);
                if (vary[k])
                    few[m++] = in[k];
            }
            ck_assert_int_eq((int)m, t.n_in);
            if (!ir_trace_run(&t, few)) {
                n_left++;
                continue;
            }
            n_run++;
            ck_assert_int_eq(ir_interp_static(&f, cls, in, val, ran, NULL), VS_OK);
            for (size_t i = 0; i < n; i++) {
                const ir_trace_out *o = &t.out[i];
                ck_assert_int_eq(o->ran, ran[i]);
                const ir_num x = o->varies ? t.val[o->at] : o->fixed;
                n_vary += o->varies;
                ck_assert(!ran[i] ||
                          (f.inst[i].type == IR_F64 ? same_bits(val[i].f, x.f) : val[i].i == x.i));
            }
        }
        ir_trace_fini(&t);
        ir_fn_fini(&f);
        end_mem();
        begin_mem();
    }
    ck_assert_uint_gt(n_run, N_FN / 4);
    ck_assert_uint_gt(n_left, N_FN / 4);
    ck_assert_uint_gt(n_vary, n_run);
}
END_TEST

START_TEST(setup_and_eval_compute_what_the_function_does)
{
    for (uint64_t seed = 0; seed < N_FN; seed++) {
        ir_fn f = random_fn(seed + 200000, 5 + (int)(seed % 90), false), setup, eval;
        int n_cache = ir_split(&setup, &eval, &f);
        check_valid(&setup);
        check_valid(&eval);
        for (size_t k = 0; k < vec_len(eval.in); k++)
            ck_assert(eval.in[k].kind == IR_IN_CACHE || eval.in[k].kind == IR_IN_PROBE);
        ck_assert_int_eq(n_cache,
                         (int)vec_len(setup.out) - ((int)vec_len(f.out) - (int)vec_len(eval.out)));
        int n_in = 0;
        for (size_t k = 0; k < vec_len(eval.in); k++)
            n_in += eval.in[k].kind == IR_IN_CACHE;
        ck_assert_int_eq(n_in, n_cache);
        for (uint64_t j = 0; j < N_INPUT; j++) {
            values v = random_values(seed * 100 + j, false);
            double *want = run_fn(&f, value_of_input, &v);
            uint64_t effects = effects_seen;
            uint8_t *ran;
            double *s = run_fn_ran(&setup, value_of_input, &v, &ran);
            effects -= effects_seen;
            ir_num *cache = arena_array(&test_mem, ir_num, n_cache + 1);
            size_t at_setup = 0, at_eval = 0;
            for (size_t k = 0; k < vec_len(setup.out); k++) {
                ir_out o = setup.out[k];
                if (o.kind != IR_OUT_CACHE)
                    continue;
                at_setup = k + 1;
                if (!ran[k])
                    continue;
                if (setup.inst[o.v].type == IR_F64)
                    cache[o.a].f = s[k];
                else
                    cache[o.a].i = (int32_t)s[k];
            }
            v.cache = cache;
            double *e = run_fn(&eval, value_of_input, &v);
            ck_assert_msg(effects == effects_seen, "function %d: other effects\n%s\n%s\n%s",
                          (int)seed, text_of(&f), text_of(&setup), text_of(&eval));
            for (size_t k = 0; k < vec_len(f.out); k++) {
                bool eval_has = at_eval < vec_len(eval.out) && eval.out[at_eval].a == f.out[k].a &&
                                eval.out[at_eval].kind == f.out[k].kind;
                double got = eval_has ? e[at_eval++] : s[at_setup++];
                ck_assert_msg(same_bits(got, want[k]),
                              "function %d, output %zu: %.17g is not %.17g\n%s\n%s\n%s", (int)seed,
                              k, got, want[k], text_of(&f), text_of(&setup), text_of(&eval));
            }
        }
        ir_fn_fini(&f);
        ir_fn_fini(&setup);
        ir_fn_fini(&eval);
        end_mem();
        begin_mem();
    }
}
END_TEST

/* No value on the way is infinite or NaN: there the chain rule may give 0 * inf. */
static bool all_finite(const ir_fn *f, values *v)
{
    size_t n = vec_len(f->inst);
    ir_num *val = arena_array(&test_mem, ir_num, n),
           *in = arena_array(&test_mem, ir_num, vec_len(f->in));
    uint8_t *ran = arena_array(&test_mem, uint8_t, n);
    for (size_t k = 0; k < vec_len(f->in); k++)
        in[k] = value_of_input(&f->in[k], v);
    ck_assert_int_eq(ir_interp(f, in, val, ran, NULL), VS_OK);
    for (size_t i = 0; i < n; i++)
        if (ran[i] && f->inst[i].type == IR_F64 && !isfinite(val[i].f))
            return false;
    return true;
}

START_TEST(derivative_is_the_slope)
{
    int n_checked = 0;
    for (uint64_t seed = 0; seed < N_FN; seed++) {
        ir_fn f = random_fn(seed + 300000, 5 + (int)(seed % 30), true), g, d;
        size_t n_out = vec_len(f.out);
        enum { N_SEED = 3 };
        int32_t which[N_SEED];
        for (int k = 0; k < N_SEED; k++)
            for (int32_t m = 0; m < (int32_t)vec_len(f.in); m++)
                if (f.in[m].kind == IR_IN_PROBE && f.in[m].k == k)
                    which[k] = m;
        ir_val want[8], deriv[8 * N_SEED];
        for (size_t k = 0; k < n_out; k++)
            want[k] = f.out[k].v;
        ir_val *new_of = arena_array(&test_mem, ir_val, vec_len(f.inst));
        ir_ad(&g, &f, which, N_SEED, want, (int)n_out, deriv, new_of);
        check_valid(&g);
        for (size_t k = 0; k < n_out * N_SEED; k++)
            if (deriv[k] != IR_NONE)
                ir_out_add(&g, IR_OUT_G, (int32_t)k, 0, deriv[k]);
        check_valid(&g);
        ir_opt(&d, &g, (ir_opt_flags){0});
        check_valid(&d);
        for (uint64_t j = 0; j < 2; j++) {
            values v = random_values(seed * 10 + j, true);
            double *r = run_fn(&d, value_of_input, &v), *r0 = run_fn(&f, value_of_input, &v);
            for (size_t k = 0; k < n_out; k++)
                ck_assert(same_bits(r[k], r0[k]));
            for (int m = 0; m < N_SEED && all_finite(&f, &v); m++) {
                const double h = 1e-6;
                values a = v, b = v, c = v, e = v;
                a.probe[m] += h;
                b.probe[m] -= h;
                c.probe[m] += 2 * h;
                e.probe[m] -= 2 * h;
                double *ra = run_fn(&f, value_of_input, &a), *rb = run_fn(&f, value_of_input, &b);
                values a2 = v, b2 = v;
                a2.probe[m] += 30 * h;
                b2.probe[m] -= 30 * h;
                double *ra2 = run_fn(&f, value_of_input, &a2),
                       *rb2 = run_fn(&f, value_of_input, &b2);
                double *rc = run_fn(&f, value_of_input, &c), *re = run_fn(&f, value_of_input, &e);
                for (size_t k = 0; k < n_out; k++) {
                    double slope = (ra[k] - rb[k]) / (2 * h), wide = (rc[k] - re[k]) / (4 * h);
                    double wider = (ra2[k] - rb2[k]) / (60 * h), got = 0;
                    for (size_t o = n_out; o < vec_len(d.out); o++)
                        if (d.out[o].a == (int)(k * N_SEED) + m)
                            got = r[o];
                    double scale = 1 + fabs(slope) + fabs(r0[k]);
                    /* skip kinks, poles and what differences cannot resolve */
                    if (!(fabs(slope - wide) < 1e-5 * scale) ||
                        !(fabs(slope - wider) < 1e-4 * scale) || fabs(r0[k]) > 1e4)
                        continue;
                    double one_sided = (rc[k] - r0[k]) / (2 * h), other = (r0[k] - re[k]) / (2 * h);
                    if (!(fabs(one_sided - other) < 1e-3 * scale))
                        continue;
                    n_checked++;
                    ck_assert_msg(fabs(got - wider) < 3e-4 * scale,
                                  "function %d, d out %zu / d probe %d: %g, slope %g\n%s\n%s",
                                  (int)seed, k, m, got, slope, text_of(&f), text_of(&d));
                }
            }
        }
        ir_fn_fini(&f);
        ir_fn_fini(&g);
        ir_fn_fini(&d);
        end_mem();
        begin_mem();
    }
    ck_assert_int_gt(n_checked, N_FN);
}
END_TEST

START_TEST(printed_function_reads_back)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        ir_fn f = random_fn(seed + 400000, 60, false);
        const char *text = text_of(&f);
        ir_fn g = fn_of(text);
        ck_assert_str_eq(text_of(&g), text);
        ir_fn_fini(&f);
        ir_fn_fini(&g);
        end_mem();
        begin_mem();
    }
}
END_TEST

START_TEST(optimising_again_changes_nothing)
{
    int changed = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        ir_fn f = random_fn(seed + 500000, 60, false), g, h;
        ir_opt(&g, &f, (ir_opt_flags){0});
        ir_opt(&h, &g, (ir_opt_flags){0});
        changed += strcmp(text_of(&g), text_of(&h)) != 0;
        ir_fn_fini(&f);
        ir_fn_fini(&g);
        ir_fn_fini(&h);
        end_mem();
        begin_mem();
    }
    ck_assert_int_le(changed, 10); /* the number of rounds is bounded */
}
END_TEST

int main(void)
{
    const TTest *const test[] = {optimised_function_computes_the_same_bits,
                                 specialised_function_computes_the_same_bits,
                                 static_values_are_the_same_without_the_rest,
                                 trace_computes_the_same_bits_on_the_same_way,
                                 setup_and_eval_compute_what_the_function_does,
                                 derivative_is_the_slope,
                                 printed_function_reads_back,
                                 optimising_again_changes_nothing};
    return run_tests("ir/prop", test, VS_COUNT(test));
}
