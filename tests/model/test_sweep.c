/* What makes a new variant, and what does not: numbers are loads from the parameter row, so that a
 * sweep of one compiles nothing; a flag that flips takes other decisions and compiles one more per
 * form. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/suite.h"
#include "dut.h"

enum { N_POINT = 1000 };
static const mdl_form_kind forms[] = {MDL_DC, MDL_TRAN};
static char *card;

static void begin(dut *t)
{
    char path[512], type[32];
    dut_open(t, false, false);
    dut_model(t, "psp103va");
    if (!card)
        card = card_of(source_path(path, "netlists/psp103_models.inc"), "psp103n", type);
}

static int n_kernel(const dut *t)
{
    const jit_stat *s = mdl_jit_stats(t->lib);
    return s->n_compiled + s->n_from_cache;
}

/* The variants that a parameter set uses in each form. */
static void use(dut *t, const char *model, const char *instance, double temp,
                const mdl_variant *v[VS_COUNT(forms)])
{
    char text[16384];
    snprintf(text, sizeof text, "%s %s", card, model);
    dut_set(t, text, instance, temp, 1e-12);
    for (size_t f = 0; f < VS_COUNT(forms); f++) {
        mdl_variant *got = NULL;
        ck_assert_int_eq(mdl_variant_get(t->m, t->row, forms[f], &got), VS_OK);
        mdl_prepare(got, false);
        v[f] = got;
    }
}

static double drain_current(dut *t)
{
    double i[4];
    ck_assert(dut_solve(t, (double[]){0.6, 0.9, 0, -0.1}, i));
    return i[0];
}

/* Point k of a sweep. They pass through values that are 1 or -1, or make others so: vfbo = -1, the
 * nominal temperature, sizes of 1 um; and junctions that are off get other clips above 127 degrees.
 */
enum { VFBO, WIDTH, LENGTH, TEMPERATURE, TEMPERATURE_JUNCTIONS, N_SWEEP };
static void use_point(dut *t, int sweep, int k, const mdl_variant *v[VS_COUNT(forms)])
{
    char model[64] = "", instance[64] = "w=10u l=1u";
    double temp = 27;
    switch (sweep) {
    case VFBO: snprintf(model, sizeof model, "vfbo=%.17g", (k - 1500) / 1000.0); break;
    case WIDTH: snprintf(instance, sizeof instance, "w=%.17gu l=1u", 0.5 + k * 0.02); break;
    case LENGTH: snprintf(instance, sizeof instance, "w=10u l=%.17gu", 0.1 + k * 0.005); break;
    case TEMPERATURE: temp = -50 + k * 0.2; break;
    case TEMPERATURE_JUNCTIONS:
        strcpy(model, "swjuncap=3");
        temp = -73 + k * 0.2;
        temp = temp > 126 ? 126 : temp;
        break;
    default: break;
    }
    use(t, model, instance, temp, v);
}

START_TEST(a_sweep_of_numbers_compiles_nothing_after_the_first_point)
{
    const mdl_variant *first[VS_COUNT(forms)], *v[VS_COUNT(forms)];
    dut t;
    begin(&t);
    use_point(&t, _i, 0, first);
    const double i0 = drain_current(&t);
    const int n = n_kernel(&t);
    ck_assert_int_eq(n, VS_COUNT(forms));
    for (int k = 1; k < N_POINT; k++) {
        use_point(&t, _i, k, v);
        for (size_t f = 0; f < VS_COUNT(forms); f++)
            ck_assert_msg(v[f] == first[f], "sweep %d, point %d: another variant", _i, k);
        if (k % 100 == 0)
            ck_assert_double_ne(drain_current(&t), i0);
    }
    ck_assert_int_eq(n_kernel(&t), n);
    ck_assert_int_ge(mdl_n_row(t.m), N_POINT - 10);
    dut_close(&t);
}
END_TEST

START_TEST(a_flipped_flag_compiles_one_more_variant_per_form)
{
    static const char *const flag[] = {"swigate=1", "swgidl=1", "swimpact=1", "swjuncap=3"};
    const mdl_variant *off[VS_COUNT(forms)], *on[VS_COUNT(forms)], *again[VS_COUNT(forms)];
    dut t;
    begin(&t);
    use(&t, "", "w=10u l=1u", 27, off);
    drain_current(&t);
    const int n = n_kernel(&t);
    use(&t, flag[_i], "w=10u l=1u", 27, on);
    drain_current(&t);
    ck_assert_int_eq(n_kernel(&t), n + (int)VS_COUNT(forms));
    for (size_t f = 0; f < VS_COUNT(forms); f++)
        ck_assert_ptr_ne(on[f], off[f]);
    for (int k = 0; k < 20; k++) { /* back and forth, with other numbers */
        char model[64], size[64];
        snprintf(model, sizeof model, "%s vfbo=%g", k % 2 ? flag[_i] : "", -1.2 + 0.01 * k);
        snprintf(size, sizeof size, "w=%gu l=0.5u", 2 + 0.3 * k);
        use(&t, model, size, 30 + k, again);
        drain_current(&t);
        for (size_t f = 0; f < VS_COUNT(forms); f++)
            ck_assert_ptr_eq(again[f], k % 2 ? on[f] : off[f]);
    }
    ck_assert_int_eq(n_kernel(&t), n + (int)VS_COUNT(forms));
    dut_close(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sweep");
    TCase *c = tcase_create("sweep");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, a_sweep_of_numbers_compiles_nothing_after_the_first_point, 0, N_SWEEP);
    tcase_add_loop_test(c, a_flipped_flag_compiles_one_more_variant_per_form, 0, 4);
    suite_add_tcase(s, c);
    const int failed = run_suite(s);
    vs_free(card);
    return failed != 0;
}
