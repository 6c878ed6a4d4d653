/* Device tables of the peers: terminal currents, conductances, capacitances and noise of
 * models/psp103.va against VACASK, of diode and mos1 against ngspice (tests/data, where the origin is
 * stated). */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dut.h"

static const char terminals[] = "dgsb";

/* The bound of a current: the model's own conditioning below 1 nA (MANIFEST of the tables). */
static double current_bound(double want)
{
    double a = fabs(want);
    return (a > 1e-9 ? 1e-9 : a > 1e-12 ? 1e-7 : 2e-6) * a + 1e-18;
}

typedef struct worst {
    double ratio; /* error over bound */
    char where[256];
} worst;

static void note(worst *w, double got, double want, double bound, const char *fmt, int row, const char *what)
{
    double r = fabs(got - want) / bound;
    if (!(r <= w->ratio)) {
        w->ratio = isnan(r) ? 1e300 : r;
        snprintf(w->where, sizeof w->where, fmt, row, what, got, want);
    }
}
#define ROW_TEXT "row %d %s: got %.15g, table %.15g"

static void psp_card(const table *t, int row, char *card, size_t n)
{
    static char *base[2];
    static const char *const model[] = {"psp103n", "psp103p"};
    static const struct {
        const char *set, *extra;
    } sets[] = {{"ring", ""}, {"swcur", " swigate=1 swimpact=1 swgidl=1"},
                {"swall", " swigate=1 swimpact=1 swgidl=1 swjuncap=3"}};
    int p = *table_str(t, row, "type") == 'P';
    char path[512], type[32];
    if (!base[p])
        base[p] = card_of(source_path(path, "netlists/psp103_models.inc"), model[p], type);
    const char *extra = NULL;
    for (size_t i = 0; i < VS_COUNT(sets); i++)
        if (!strcmp(sets[i].set, table_str(t, row, "set")))
            extra = sets[i].extra;
    ck_assert_ptr_nonnull(extra);
    snprintf(card, n, "%s%s", base[p], extra);
}

static void psp_instance(const table *t, int row, char *text, size_t n)
{
    double w = table_num(t, row, "W"), l = table_num(t, row, "L"), ld = 0.5e-6;
    bool wrapped = table_num(t, row, "wrapper") != 0;
    double a = wrapped ? w * ld : 0, p = wrapped ? 2 * (w + ld) : 0;
    snprintf(text, n, "w=%.17g l=%.17g ad=%.17g as=%.17g pd=%.17g ps=%.17g", w, l, a, a, p, p);
}

/* Sets the device up when the first six columns (set .. temperature) change. */
static void psp_setup(dut *dev, const table *t, int row)
{
    if (row)
        for (int c = 0;; c++) {
            if (c == 6)
                return;
            if (strcmp(t->cell[row][c], t->cell[row - 1][c]))
                break;
        }
    static char card[16384];
    char inst[512];
    psp_card(t, row, card, sizeof card);
    psp_instance(t, row, inst, sizeof inst);
    dut_set(dev, card, inst, table_num(t, row, "temp_C"), 0);
}

static void psp_bias(const table *t, int row, double v[4])
{
    v[0] = table_num(t, row, "Vds");
    v[1] = table_num(t, row, "Vgs");
    v[2] = 0;
    v[3] = table_num(t, row, "Vbs");
}

static void check_psp_dc(const char *file)
{
    static const char *const col[] = {"Id", "Ig", "Is", "Ib"};
    table t;
    table_read(&t, file);
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, "psp103va");
    worst w = {0};
    for (int row = 0; row < t.n_row; row++) {
        double v[4], i[4];
        psp_setup(&dev, &t, row);
        psp_bias(&t, row, v);
        ck_assert_msg(dut_solve(&dev, v, i), "row %d does not converge", row);
        for (int k = 0; k < 4; k++) {
            double want = table_num(&t, row, col[k]);
            note(&w, i[k], want, current_bound(want), ROW_TEXT, row, col[k]);
        }
        ck_assert_double_le(fabs(i[0] + i[1] + i[2] + i[3]), 1e-15 * (1 + fabs(i[0])));
    }
    printf("%s: %d rows, worst error/bound %.3g (%s)\n", file, t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s: %s", file, w.where);
    dut_close(&dev);
    table_free(&t);
}

START_TEST(psp103_transfer_curves_equal_vacask) { check_psp_dc("psp103_id_vg.csv"); }
END_TEST
START_TEST(psp103_output_curves_equal_vacask) { check_psp_dc("psp103_id_vd.csv"); }
END_TEST

/* Matrices: every entry within bound * the largest of its matrix. */
static void check_matrices(worst *w, dut *dev, const table *t, int row, int n, const char *names,
                           double bound_g, double bound_c, double floor_g)
{
    double g[16], c[16], gmax = 0, cmax = 0, gw[16], cw[16];
    char col[16];
    dut_y(dev, 2 * acos(-1) * 1e6, g, c);
    for (int k = 0; k < n * n; k++) {
        snprintf(col, sizeof col, "G_%c%c", names[k / n], names[k % n]);
        gw[k] = table_num(t, row, col);
        col[0] = 'C';
        cw[k] = table_num(t, row, col);
        gmax = fmax(gmax, fabs(gw[k]));
        cmax = fmax(cmax, fabs(cw[k]));
    }
    for (int k = 0; k < n * n; k++) {
        snprintf(col, sizeof col, "G_%c%c", names[k / n], names[k % n]);
        note(w, g[k], gw[k], bound_g * gmax + floor_g, ROW_TEXT, row, col);
        col[0] = 'C';
        note(w, c[k], cw[k], bound_c * cmax + 1e-26, ROW_TEXT, row, col);
    }
}

START_TEST(psp103_small_signal_matrices_equal_vacask)
{
    table t;
    table_read(&t, "psp103_ac.csv");
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, "psp103va");
    worst w = {0};
    for (int row = 0; row < t.n_row; row++) {
        double v[4], i[4];
        psp_setup(&dev, &t, row);
        psp_bias(&t, row, v);
        ck_assert(dut_solve(&dev, v, i));
        check_matrices(&w, &dev, &t, row, 4, terminals, 1e-9, 1e-9, 1e-18);
    }
    printf("psp103_ac.csv: %d rows, worst error/bound %.3g (%s)\n", t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s", w.where);
    dut_close(&dev);
    table_free(&t);
}
END_TEST

START_TEST(psp103_noise_equals_vacask)
{
    table t;
    table_read(&t, "psp103_noise.csv");
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, "psp103va");
    worst w = {0};
    for (int row = 0; row < t.n_row; row++) {
        double v[4], i[4];
        psp_setup(&dev, &t, row);
        psp_bias(&t, row, v);
        ck_assert(dut_solve(&dev, v, i));
        double want = table_num(&t, row, "onoise");
        note(&w, dut_noise(&dev, 0, table_num(&t, row, "frequency"), NULL), want, 1e-9 * want, ROW_TEXT,
             row, "onoise");
    }
    printf("psp103_noise.csv: %d rows, worst error/bound %.3g (%s)\n", t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s", w.where);
    dut_close(&dev);
    table_free(&t);
}
END_TEST

/* -- SPICE models -- */

static const char *mos1_instance(const char *w)
{
    return !strcmp(w, "10u") ? "w=10u l=1u ad=5p as=5p pd=21u ps=21u" : "w=20u l=2u ad=10p as=10p pd=41u ps=41u";
}

static void spice_setup(dut *dev, const table *t, int row, bool mos)
{
    if (row && !strcmp(table_str(t, row, "model"), table_str(t, row - 1, "model")) &&
        (!mos || (!strcmp(table_str(t, row, "W"), table_str(t, row - 1, "W")) &&
                  (table_col(t, "Vbs") < 0 ||
                   !strcmp(table_str(t, row, "Vbs"), table_str(t, row - 1, "Vbs"))))))
        return;
    char path[512], type[32], text[2048];
    const char *name = table_str(t, row, "model");
    char *card = card_of(source_path(path, "tests/data/models.inc"), name, type);
    snprintf(text, sizeof text, "%s%s", card, !strcmp(type, "pmos") ? " type=-1" : "");
    dut_set(dev, text, mos ? mos1_instance(table_str(t, row, "W")) : !strcmp(name, "dsw") ? "pj=1" : "",
            table_num(t, row, "temp_C"), 0);
    free(card);
}

/* Behind a series resistance of 1 ohm or more a current is a difference of voltages up to 5 V: table
 * and test carry its rounding, in ampere, and 20 ohm does the same to conductances, in siemens. */
#define SERIES_A 2e-15
#define SERIES_G 5e-17

/* Errors relative to the largest current of the row: the tables are good to 1e-9 of that. */
static void check_spice_dc(const char *file, const char *module)
{
    bool mos = !strcmp(module, "mos1");
    const char *names = mos ? terminals : "ac";
    int n = mos ? 4 : 2;
    table t;
    table_read(&t, file);
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, module);
    worst w = {0};
    for (int row = 0; row < t.n_row; row++) {
        double v[4] = {0}, i[4], want[4], scale = 0;
        char col[4];
        spice_setup(&dev, &t, row, mos);
        if (mos) {
            v[0] = table_num(&t, row, "Vd");
            v[1] = table_num(&t, row, "Vg");
            v[3] = table_num(&t, row, "Vbs");
        } else
            v[0] = table_num(&t, row, "Va");
        ck_assert_msg(dut_solve(&dev, v, i), "%s row %d does not converge", file, row);
        for (int k = 0; k < n; k++) {
            snprintf(col, sizeof col, "I%c", names[k]);
            want[k] = table_num(&t, row, col);
            scale = fmax(scale, fabs(want[k]));
        }
        for (int k = 0; k < n; k++) {
            snprintf(col, sizeof col, "I%c", names[k]);
            note(&w, i[k], want[k], 1e-6 * fabs(want[k]) + 1e-8 * scale + SERIES_A, ROW_TEXT, row, col);
        }
    }
    printf("%s: %d rows, worst error/bound %.3g (%s)\n", file, t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s: %s", file, w.where);
    dut_close(&dev);
    table_free(&t);
}

START_TEST(diode_currents_equal_ngspice)
{
    check_spice_dc("diode_dc_t27.csv", "diode");
    check_spice_dc("diode_dc_t100.csv", "diode");
}
END_TEST

START_TEST(mos1_currents_equal_ngspice)
{
    static const char *const file[] = {
        "mos1_idvg_n_t27.csv", "mos1_idvg_n_t100.csv", "mos1_idvg_p_t27.csv", "mos1_idvg_p_t100.csv",
        "mos1_idvd_n_t27.csv", "mos1_idvd_n_t100.csv", "mos1_idvd_p_t27.csv", "mos1_idvd_p_t100.csv"};
    for (size_t i = 0; i < VS_COUNT(file); i++)
        check_spice_dc(file[i], "mos1");
}
END_TEST

static void check_spice_ac(const char *file, const char *module)
{
    bool mos = !strcmp(module, "mos1");
    table t;
    table_read(&t, file);
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, module);
    worst w = {0};
    for (int row = 0; row < t.n_row; row++) {
        double v[4], i[4];
        const char *const col[2][4] = {{"Va", "Vc"}, {"Vd", "Vg", "Vs", "Vb"}};
        spice_setup(&dev, &t, row, mos);
        for (int k = 0; k < (mos ? 4 : 2); k++)
            v[k] = table_num(&t, row, col[mos][k]);
        ck_assert(dut_solve(&dev, v, i));
        check_matrices(&w, &dev, &t, row, mos ? 4 : 2, mos ? terminals : "ac", 1e-6, 1e-5, SERIES_G);
    }
    printf("%s: %d rows, worst error/bound %.3g (%s)\n", file, t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s: %s", file, w.where);
    dut_close(&dev);
    table_free(&t);
}

START_TEST(diode_capacitances_equal_ngspice)
{
    check_spice_ac("diode_cv_t27.csv", "diode");
    check_spice_ac("diode_cv_t100.csv", "diode");
}
END_TEST

START_TEST(mos1_capacitances_equal_ngspice)
{
    check_spice_ac("mos1_ac_n_t27.csv", "mos1");
    check_spice_ac("mos1_ac_p_t27.csv", "mos1");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tables");
    TCase *t = tcase_create("tables");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, psp103_transfer_curves_equal_vacask);
    tcase_add_test(t, psp103_output_curves_equal_vacask);
    tcase_add_test(t, psp103_small_signal_matrices_equal_vacask);
    tcase_add_test(t, psp103_noise_equals_vacask);
    tcase_add_test(t, diode_currents_equal_ngspice);
    tcase_add_test(t, diode_capacitances_equal_ngspice);
    tcase_add_test(t, mos1_currents_equal_ngspice);
    tcase_add_test(t, mos1_capacitances_equal_ngspice);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
