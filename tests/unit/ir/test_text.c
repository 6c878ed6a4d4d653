/* Tests of ir_text.c and of the verifier in ir.c. */
#include "ir_test.h"

START_TEST(text_form_is_as_documented)
{
    const char *text = "fn \"diode\"\n"
                       "  v0 = in f64 param 2 inst\n"
                       "  v1 = in f64 probe 0\n"
                       "  v2 = const f64 0.5\n"
                       "  v3 = flt v2, v1\n"
                       "  if v3\n"
                       "    v5 = mul v0, v1\n"
                       "  else\n"
                       "    v7 = limit v1, 3\n"
                       "    effect strobe 12 \"v=%g\\x0a\", v1, v7\n"
                       "  end\n"
                       "  v10 = phi v5, v7\n"
                       "  v11 = const i32 0\n"
                       "  v12 = const bool true\n"
                       "  loop\n"
                       "    v14 = lphi v11, v18\n"
                       "    v15 = ilt v14, v11\n"
                       "  while v15\n"
                       "    v17 = const i32 -1\n"
                       "    v18 = iadd v14, v17\n"
                       "  endloop\n"
                       "  out res 0 0 v10\n"
                       "  out G 0 1 v14\n";
    ir_fn fn = fn_of(text);
    ck_assert_str_eq(text_of(&fn), text);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(literals_become_constants_of_the_type_that_is_wanted)
{
    ir_fn fn = fn_of("fn f  x = in f64 probe 0  y = mul x, 2  z = select true, 1, 3  # comment\n"
                     "w = iadd z, 4; out res 0 0 y out res 1 0 w");
    ck_assert_str_eq(text_of(&fn), "fn \"f\"\n"
                                   "  v0 = in f64 probe 0\n"
                                   "  v1 = const f64 2.0\n"
                                   "  v2 = mul v0, v1\n"
                                   "  v3 = const bool true\n"
                                   "  v4 = const i32 1\n"
                                   "  v5 = const i32 3\n"
                                   "  v6 = select v3, v4, v5\n"
                                   "  v7 = const i32 4\n"
                                   "  v8 = iadd v6, v7\n"
                                   "  out res 0 0 v2\n"
                                   "  out res 1 0 v8\n");
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(constants_keep_their_bits)
{
    static const uint64_t bits[] = {0,
                                    0x8000000000000000u,
                                    0x3ff0000000000001u,
                                    1,
                                    0x7ff0000000000000u,
                                    0xfff0000000000000u,
                                    0x7ff8000000000000u,
                                    0xfff8000000000123u,
                                    0x7fefffffffffffffu,
                                    0x3fb999999999999au};
    ir_fn fn;
    ir_fn_init(&fn, "f");
    for (size_t k = 0; k < VS_COUNT(bits); k++) {
        double x;
        memcpy(&x, &bits[k], sizeof x);
        ir_out_add(&fn, IR_OUT_RES, (int32_t)k, 0, ir_const(&fn, x));
    }
    ck_assert_uint_eq(vec_len(fn.con), VS_COUNT(bits)); /* none merged */
    ir_fn back = fn_of(text_of(&fn));
    for (size_t k = 0; k < VS_COUNT(bits); k++)
        ck_assert(!memcmp(&back.con[k], &bits[k], sizeof bits[k]));
    ir_fn_fini(&fn);
    ir_fn_fini(&back);
}
END_TEST

START_TEST(wrong_text_is_refused_with_line_and_reason)
{
    static const struct {
        const char *text, *why;
    } t[] = {
        {"", "line 1: expected 'fn'"},
        {"fn f\n x = sinn 1", "line 2: no operation 'sinn'"},
        {"fn f\n\n x = sin y", "line 3: no value 'y'"},
        {"fn f x = sin 1\n x = sin 2", "line 2: 'x' is defined twice"},
        {"fn f\n else", "line 2: 'else' does not fit here"},
        {"fn f if true else while true end", "line 1: 'while' does not fit here"},
        {"fn f if true", "line 1: a region is not closed"},
        {"fn f loop endloop", "line 1: 'endloop' does not fit here"},
        {"fn f x = in f64 voltage 1", "line 1: expected a kind of input"},
        {"fn f x = iadd 1.5, 2", "line 1: expected an integer"},
        {"fn f x = const f32 1", "line 1: expected a type: f64, i32 or bool"},
        {"fn f out res 0 0 x", "line 1: no value 'x'"},
        {"fn f y = phi x, x", "line 1: a phi stands right behind the end of its if"},
        {"fn f effect strobe 1 \"abc", "line 1: expected a string or null"},
        {"fn f x = add 1, ?", "line 1: expected the name of a value"},
        {"fn f a = const i32 1 loop p = lphi a, q while true endloop", "line 1: no value 'q'"},
    };
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        ir_fn fn;
        const char *why = NULL;
        ck_assert_int_eq(ir_read(&fn, t[k].text, &test_mem, &why), VS_EINPUT);
        ck_assert_str_eq(why, t[k].why);
        ir_fn_fini(&fn);
    }
}
END_TEST

START_TEST(invalid_function_is_refused)
{
    static const struct {
        const char *text, *why;
    } t[] = {
        {"fn f x = const i32 1 y = sin x", "v1 (sin): v0 has the wrong type"},
        {"fn f x = in f64 probe 0 if x else end", "v1 (if): v0 has the wrong type"},
        {"fn f if true x = sin 1 else end y = cos x", "v6 (cos): v3 is not visible here"},
        {"fn f if true x = sin 1 else y = cos x end", "v5 (cos): v3 is not visible here"},
        {"fn f if true x = sin 1 else end y = phi x, x", "v6 (phi): v3 is not visible here"},
        {"fn f if true x = sin 1 else end out res 0 0 x",
         "v3 (sin): output 0 is not visible at the end"},
        {"fn f if true x = sin 1 else y = ineg 2 end z = phi x, y",
         "v8 (phi): v6 has the wrong type"},
        {"fn f a = const i32 0 loop p = lphi a, q while false if true q = ineg p else end endloop",
         "v2 (lphi): v7 is not visible here"},
        {"fn f a = const i32 0 loop p = lphi a, q while false q = sin 1 endloop",
         "v2 (lphi): v6 has the wrong type"},
        {"fn f loop x = sin 1 while false endloop y = cos x", "v6 (cos): v2 is not visible here"},
        {"fn f x = select true, 1, 2.0", "v3 (select): v2 has the wrong type"},
        {"fn f if true x = sin 1 else end effect info 1 null, x",
         "v6 (effect): argument is not visible here"},
    };
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        ir_fn fn;
        const char *why = NULL;
        ck_assert_int_eq(ir_read(&fn, t[k].text, &test_mem, &why), VS_EINPUT);
        ck_assert_str_eq(why, t[k].why);
        ir_fn_fini(&fn);
    }
}
END_TEST

START_TEST(cache_output_may_name_a_value_in_a_region)
{
    ir_fn fn = fn_of("fn f if true x = sin 1 else end out cache 0 0 x");
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(value_at_loop_exit_is_visible_behind_it)
{
    ir_fn fn = fn_of(
        "fn f a = const i32 0 loop p = lphi a, a while false endloop q = ineg p out res 0 0 q");
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(broken_partners_are_found)
{
    ir_fn fn = fn_of("fn f c = const bool true if c else end loop while c endloop");
    for (size_t i = 1; i < vec_len(fn.inst); i++) {
        ir_val *field[] = {&fn.inst[i].a, &fn.inst[i].b, &fn.inst[i].c};
        for (int k = 0; k < 3; k++) {
            ir_val was = *field[k];
            const char *why;
            if (was == IR_NONE)
                continue;
            *field[k] = 5;
            ck_assert(was == 5 || !ir_verify(&fn, &test_mem, &why));
            *field[k] = 999;
            ck_assert(!ir_verify(&fn, &test_mem, &why));
            *field[k] = was;
        }
    }
    check_valid(&fn);
    ir_fn_fini(&fn);
}
END_TEST

/* Damaged text is read or refused, never more. */
START_TEST(reader_survives_damaged_text)
{
    uint64_t s = 1;
    int n_ok = 0;
    for (int round = 0; round < 3000; round++) {
        ir_fn f = random_fn((uint64_t)round, 20, false), g;
        char *text = arena_strndup(&test_mem, text_of(&f), strlen(text_of(&f)));
        size_t n = strlen(text);
        for (int k = rnd_to(&s, 4); k >= 0; k--) {
            size_t at = (size_t)rnd_to(&s, (int)n), other = (size_t)rnd_to(&s, (int)n);
            if (rnd_to(&s, 2))
                text[at] = text[other];
            else
                memmove(text + at, text + (at > other ? other : at), n - at);
        }
        n_ok += ir_read(&g, text, &test_mem, NULL) == VS_OK;
        ir_fn_fini(&f);
        ir_fn_fini(&g);
        end_mem();
        begin_mem();
    }
    ck_assert_int_gt(n_ok, 10);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {text_form_is_as_documented,
                                 literals_become_constants_of_the_type_that_is_wanted,
                                 constants_keep_their_bits,
                                 wrong_text_is_refused_with_line_and_reason,
                                 invalid_function_is_refused,
                                 cache_output_may_name_a_value_in_a_region,
                                 value_at_loop_exit_is_visible_behind_it,
                                 broken_partners_are_found,
                                 reader_survives_damaged_text};
    return run_tests("ir/text", test, VS_COUNT(test));
}
