/* mdl_compare.c: a right kernel is within its bound, a wrong one is found and named. */
#include "mdl_check.h"
#include "mdl_compare.h"
#include "stream.h"

static const char DIODE[] = "`include \"disciplines.vams\"\n"
                            "module dio(a, c); inout a, c; electrical a, c;\n"
                            "parameter real is = 1e-14; parameter real cj = 1e-12;\n"
                            "analog begin\n"
                            "  I(a,c) <+ is * (limexp(V(a,c)/$vt) - 1) + ddt(cj * V(a,c));\n"
                            "  I(a,c) <+ white_noise(3.2e-19 * is, \"shot\");\n"
                            "end endmodule\n";

/* What the wrong kernel does: kernels have no argument of their own. */
static struct {
    jit_kernel right;
    int32_t out;
    double factor;
} wrong;

static void wrong_kernel(const jit_batch *b, int64_t begin, int64_t end)
{
    wrong.right(b, begin, end);
    b->out[wrong.out] *= wrong.factor;
}

static const char *who(const void *user, int32_t which)
{
    (void)user;
    return which == 7 ? "d7" : "?";
}

static int32_t find_output(const mdl_variant *v, int kind)
{
    for (int32_t k = 0; k < v->lay.n_out; k++)
        if (v->out[k].kind == kind)
            return k;
    ck_abort_msg("the variant has no such output");
    return -1;
}

/* Evaluates a diode at some voltages, output `kind` times `factor`, and compares. text: the report,
 * to be freed. */
static mdl_compared compare(mdl_form_kind form, int kind, double factor, int each, char **text)
{
    static const int32_t number[1] = {7};
    size_t size;
    bench b;
    inst i;
    diag_init(&b.d);
    str_pool_init(&b.names);
    strcpy(b.cache, "/tmp/vsim-mdl-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b.cache));
    const mdl_opt opt = {.check_kernels = each, /* not exact: with rounding of its own */
                         .jit = {.cache_dir = b.cache, .opt_level = 2, .lanes = 1}};
    ck_assert_int_eq(mdl_lib_new(&b.lib, &b.d, &b.names, &opt), VS_OK);
    ck_assert_int_eq(mdl_load_text(b.lib, "dio.va", DIODE), VS_OK);
    mdl_model *m = mdl_find(b.lib, "dio");
    inst_open(&i, m, row_with(&b, m, standard_env(), 0, NULL, NULL), form);
    ck_assert_ptr_nonnull(i.v->kernel[0]);
    wrong.right = i.v->kernel[0];
    wrong.out = find_output(i.v, kind);
    wrong.factor = factor;
    i.v->kernel[0] = wrong_kernel;
    i.dyn[IR_DYN_ALPHA] = form == MDL_TRAN ? 1e9 : 0;
    ck_assert(mdl_compare_wanted(m));
    for (int k = 0; k < 60; k++) {
        const jit_batch batch = inst_batch(&i);
        i.x[1] = 0.02 * k - 0.2;
        inst_eval(&i);
        mdl_compare_batch(i.v, false, &batch, 0, 1, number, who, NULL);
    }
    FILE *out = stream_text(text, &size);
    const mdl_compared found = mdl_compare_report(b.lib, out);
    fclose(out);
    inst_close(&i);
    bench_close(&b);
    return found;
}

START_TEST(right_kernels_are_within_the_bound)
{
    static const struct {
        mdl_form_kind form;
        int kind;
    } of[] = {{MDL_DC, IR_OUT_RES}, {MDL_TRAN, IR_OUT_J}, {MDL_AC, IR_OUT_G}};
    for (size_t k = 0; k < VS_COUNT(of); k++) {
        char *text;
        const mdl_compared c = compare(of[k].form, of[k].kind, 1, 1, &text);
        ck_assert_int_eq(c.n_call, 60);
        ck_assert_int_ge(c.n_value, 60 * 4);
        ck_assert_int_eq(c.n_beyond, 0);
        ck_assert_int_eq(c.n_loose, 0);
        ck_assert_ptr_null(strstr(text, "BEYOND"));
        vs_free(text);
    }
}
END_TEST

/* 1e-10 is far above rounding (1e-14 at the condition of exp(V/Vt)) and far below what a look at
 * a waveform shows. */
START_TEST(a_wrong_kernel_is_found_and_named)
{
    static const struct {
        mdl_form_kind form;
        int kind;
        const char *name, *form_name;
    } of[] = {{MDL_DC, IR_OUT_RES, "residual(a)", "dc"},
              {MDL_DC, IR_OUT_G, "G(a,a)", "dc"},
              {MDL_TRAN, IR_OUT_REACT, "charge(a)", "tran"},
              {MDL_TRAN, IR_OUT_J, "jacobian(a,a)", "tran"},
              {MDL_AC, IR_OUT_C, "C(a,a)", "ac"},
              {MDL_AC, IR_OUT_NOISE_PSD, "noise power(shot)", "ac"},
              {MDL_AC, IR_OUT_NOISE_GAIN, "noise gain(shot,a)", "ac"}};
    for (size_t k = 0; k < VS_COUNT(of); k++) {
        char *text, line[200];
        const mdl_compared c = compare(of[k].form, of[k].kind, 1 + 1e-10, 1, &text);
        ck_assert_msg(c.n_beyond > 40, "%s: %d beyond\n%s", of[k].name, (int)c.n_beyond, text);
        snprintf(line, sizeof line, "  %-12s %-5s %-20s", "dio", of[k].form_name, of[k].name);
        const char *at = strstr(text, line);
        ck_assert_msg(at != NULL, "no '%s' in\n%s", line, text);
        char *row = vs_strndup(at, strcspn(at, "\n"));
        ck_assert_ptr_nonnull(strstr(row, " d7 "));
        ck_assert_ptr_nonnull(strstr(row, "BEYOND"));
        ck_assert_ptr_nonnull(strstr(row, " 1e-10 ")); /* the relative difference */
        vs_free(row);
        vs_free(text);
    }
}
END_TEST

START_TEST(each_third_call_is_compared)
{
    char *text;
    const mdl_compared c = compare(MDL_DC, IR_OUT_RES, 1, 3, &text);
    ck_assert_int_eq(c.n_call, 20);
    vs_free(text);
}
END_TEST

START_TEST(nan_and_infinity_are_beyond)
{
    char *text;
    mdl_compared c = compare(MDL_DC, IR_OUT_RES, NAN, 1, &text);
    ck_assert_int_eq(c.n_beyond, 60);
    vs_free(text);
    c = compare(MDL_DC, IR_OUT_G, INFINITY, 1, &text);
    ck_assert_int_eq(c.n_beyond, 60);
    vs_free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mdl compare");
    TCase *t = tcase_create("all");
    tcase_add_test(t, right_kernels_are_within_the_bound);
    tcase_add_test(t, a_wrong_kernel_is_found_and_named);
    tcase_add_test(t, each_third_call_is_compared);
    tcase_add_test(t, nan_and_infinity_are_beyond);
    suite_add_tcase(s, t);
    return run_suite(s);
}
