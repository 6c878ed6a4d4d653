/* Device tables of the peers: terminal currents, conductances, capacitances and noise of
 * models/psp103.va against VACASK, of the classic models against ngspice (tests/data, where the
 * origin is stated). */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/suite.h"
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

static void note(worst *w, double got, double want, double bound, const char *fmt, int row,
                 const char *what)
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
    } sets[] = {{"ring", ""},
                {"swcur", " swigate=1 swimpact=1 swgidl=1"},
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
    double g[25], c[25], gmax = 0, cmax = 0, gw[16], cw[16];
    char col[16];
    ck_assert_int_le(dev->n_port, 5);
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
        const int at = k / n * dev->n_port + k % n; /* terminals that the table has not come last */
        note(w, g[at], gw[k], bound_g * gmax + floor_g, ROW_TEXT, row, col);
        col[0] = 'C';
        note(w, c[at], cw[k], bound_c * cmax + 1e-26, ROW_TEXT, row, col);
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
        note(&w, dut_noise(&dev, 0, table_num(&t, row, "frequency"), NULL), want, 1e-9 * want,
             ROW_TEXT, row, "onoise");
    }
    printf("psp103_noise.csv: %d rows, worst error/bound %.3g (%s)\n", t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s", w.where);
    dut_close(&dev);
    table_free(&t);
}
END_TEST

/* -- SPICE models -- */

typedef struct classic { /* a device of the tables of ngspice */
    const char *module, *cards;
    const char *terminal; /* letters of the columns: "Id", "Vd", "G_dg" */
    bool bulk;            /* MOS: Vbs instead of Vb, sizes W and L */
    bool approximate;     /* conductances of ngspice are not always the derivatives of its currents:
                           * rows where they differ are left out (docs/models/basic.md) */
} classic;

static const classic diode = {"diode", "tests/data/models.inc", "ac", false, false};
static const classic mos1 = {"mos1", "tests/data/models.inc", "dgsb", true, false};
static const classic mos2 = {"mos2", "tests/data/models_mos2.inc", "dgsb", true, true};
static const classic mos3 = {"mos3", "tests/data/models_mos3.inc", "dgsb", true, true};
static const classic bjt = {"bjt", "tests/data/models.inc", "cbes", false, true};
static const classic vbic = {"vbic", "tests/data/models_vbic.inc", "cbes", false, false};
static const classic jfet = {"jfet", "tests/data/models.inc", "dgs", false, false};

static bool same_cell(const table *t, int row, const char *name)
{
    return table_col(t, name) < 0 || !strcmp(table_str(t, row, name), table_str(t, row - 1, name));
}

/* Junctions of the decks: 0.5 um deep, drawn at the width of the gate. */
static void mos_instance(const table *t, int row, char *text, size_t n)
{
    double w = table_num(t, row, "W"), l = table_num(t, row, "L");
    snprintf(text, n, "w=%.17g l=%.17g ad=%.17g as=%.17g pd=%.17g ps=%.17g", w, l, w * 0.5e-6,
             w * 0.5e-6, 2 * w + 1e-6, 2 * w + 1e-6);
}

static void set_model(dut *dev, const classic *k, const table *t, int row, const char *inst,
                      double gmin)
{
    char path[512], type[32], text[4096];
    char *card = card_of(source_path(path, k->cards), table_str(t, row, "model"), type);
    const bool p = !strcmp(type, "pmos") || !strcmp(type, "pnp") || !strcmp(type, "pjf");
    snprintf(text, sizeof text, "%s%s", card, p ? " type=-1" : "");
    dut_set(dev, text, inst, table_num(t, row, "temp_C"), gmin);
    vs_free(card);
}

static void spice_setup(dut *dev, const classic *k, const table *t, int row)
{
    if (row && same_cell(t, row, "model") && same_cell(t, row, "W") && same_cell(t, row, "Vbs"))
        return;
    char inst[256] = "";
    if (k->bulk)
        mos_instance(t, row, inst, sizeof inst);
    else if (!strcmp(table_str(t, row, "model"), "dsw"))
        strcpy(inst, "pj=1");
    set_model(dev, k, t, row, inst, 0);
}

/* Terminal voltages: what has no column is 0 V, but for the collector of the Gummel plots. */
static void spice_bias(const classic *k, const table *t, int row, double v[4])
{
    char col[4];
    for (int i = 0; k->terminal[i]; i++) {
        snprintf(col, sizeof col, "V%c", k->terminal[i]);
        v[i] = table_col(t, col) >= 0 ? table_num(t, row, col) : 0;
        if (k->terminal[i] == 'c' && k->terminal[0] == 'c' && table_col(t, col) < 0)
            v[i] = table_num(t, row, "Vb") < 0 ? -2 : 2;
    }
    if (k->bulk && table_col(t, "Vbs") >= 0)
        v[3] = table_num(t, row, "Vbs");
}

/* Behind a series resistance of 1 ohm or more a current is a difference of voltages up to 5 V:
 * table and test carry its rounding, in ampere, and 20 ohm does the same to conductances, in
 * siemens. */
#define SERIES_A 2e-15
#define SERIES_G 5e-17

/* Errors relative to the largest current of the row: the tables are good to 1e-9 of that. */
static void check_spice_dc(const char *file, const classic *k)
{
    const int n = (int)strlen(k->terminal);
    table t;
    table_read(&t, file);
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, k->module);
    worst w = {0};
    for (int row = 0; row < t.n_row; row++) {
        double v[4] = {0}, i[4], want[4], scale = 0;
        char col[4];
        spice_setup(&dev, k, &t, row);
        spice_bias(k, &t, row, v);
        ck_assert_msg(dut_solve(&dev, v, i), "%s row %d does not converge", file, row);
        for (int j = 0; j < n; j++) {
            snprintf(col, sizeof col, "I%c", k->terminal[j]);
            want[j] = table_num(&t, row, col);
            scale = fmax(scale, fabs(want[j]));
        }
        for (int j = 0; j < n; j++) {
            snprintf(col, sizeof col, "I%c", k->terminal[j]);
            note(&w, i[j], want[j], 1e-6 * fabs(want[j]) + 1e-8 * scale + SERIES_A, ROW_TEXT, row,
                 col);
        }
    }
    printf("%s: %d rows, worst error/bound %.3g (%s)\n", file, t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s: %s", file, w.where);
    dut_close(&dev);
    table_free(&t);
}

static void check_spice_ac(const char *file, const classic *k)
{
    table t;
    table_read(&t, file);
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, k->module);
    const int n = (int)strlen(k->terminal);
    worst w = {0};
    int n_left_out = 0;
    for (int row = 0; row < t.n_row; row++) {
        double v[4] = {0}, i[4];
        worst g = {0};
        spice_setup(&dev, k, &t, row);
        spice_bias(k, &t, row, v);
        ck_assert(dut_solve(&dev, v, i));
        check_matrices(&g, &dev, &t, row, n, k->terminal, 1e-6, INFINITY, SERIES_G);
        if (k->approximate && g.ratio > 1)
            n_left_out++;
        else
            check_matrices(&w, &dev, &t, row, n, k->terminal, 1e-6, 1e-5, SERIES_G);
    }
    printf("%s: %d rows but %d, worst error/bound %.3g (%s)\n", file, t.n_row, n_left_out, w.ratio,
           w.where);
    ck_assert_int_le(n_left_out, t.n_row * 3 / 5);
    ck_assert_msg(w.ratio <= 1, "%s: %s", file, w.where);
    dut_close(&dev);
    table_free(&t);
}

START_TEST(diode_currents_equal_ngspice)
{
    check_spice_dc("diode_dc_t27.csv", &diode);
    check_spice_dc("diode_dc_t100.csv", &diode);
}
END_TEST

START_TEST(diode_capacitances_equal_ngspice)
{
    check_spice_ac("diode_cv_t27.csv", &diode);
    check_spice_ac("diode_cv_t100.csv", &diode);
}
END_TEST

static void check_mos(const classic *k)
{
    static const char *const sweep[] = {"idvg_n_t27", "idvg_n_t100", "idvg_p_t27", "idvg_p_t100",
                                        "idvd_n_t27", "idvd_n_t100", "idvd_p_t27", "idvd_p_t100"};
    for (size_t i = 0; i < VS_COUNT(sweep); i++) {
        char file[64];
        snprintf(file, sizeof file, "%s_%s.csv", k->module, sweep[i]);
        check_spice_dc(file, k);
    }
}

START_TEST(mos1_currents_equal_ngspice) { check_mos(&mos1); }
END_TEST
START_TEST(mos2_currents_equal_ngspice) { check_mos(&mos2); }
END_TEST
START_TEST(mos3_currents_equal_ngspice) { check_mos(&mos3); }
END_TEST

START_TEST(mos_capacitances_equal_ngspice)
{
    check_spice_ac("mos1_ac_n_t27.csv", &mos1);
    check_spice_ac("mos1_ac_p_t27.csv", &mos1);
    check_spice_ac("mos2_ac_n_t27.csv", &mos2);
    check_spice_ac("mos2_ac_p_t27.csv", &mos2);
    check_spice_ac("mos3_ac_n_t27.csv", &mos3);
    check_spice_ac("mos3_ac_p_t27.csv", &mos3);
}
END_TEST

START_TEST(bjt_currents_equal_ngspice)
{
    static const char *const file[] = {"bjt_gummel_npn_t27.csv", "bjt_gummel_npn_t100.csv",
                                       "bjt_gummel_pnp_t27.csv", "bjt_gummel_pnp_t100.csv",
                                       "bjt_output_npn_t27.csv", "bjt_output_npn_t100.csv",
                                       "bjt_output_pnp_t27.csv", "bjt_output_pnp_t100.csv"};
    for (size_t i = 0; i < VS_COUNT(file); i++)
        check_spice_dc(file[i], &bjt);
}
END_TEST

START_TEST(bjt_capacitances_equal_ngspice)
{
    check_spice_ac("bjt_ac_t27.csv", &bjt);
    check_spice_ac("bjt_ac_t100.csv", &bjt);
}
END_TEST

/* 1e-4 of the largest current, and 1e-6 of each above 1 pA: gmin lies elsewhere there (docs). */
START_TEST(vbic_currents_equal_ngspice)
{
    table t;
    table_read(&t, "vbic_gummel.csv");
    dut dev;
    dut_open(&dev, false, false);
    dut_model(&dev, vbic.module);
    worst w = {0};
    for (int row = 0; row < t.n_row; row++) {
        double v[5] = {0}, i[5];
        if (!row || !same_cell(&t, row, "temp_C"))
            dev.row = -1;
        if (dev.row < 0 || !same_cell(&t, row, "model"))
            set_model(&dev, &vbic, &t, row, "", 1e-15);
        spice_bias(&vbic, &t, row, v);
        ck_assert_msg(dut_solve(&dev, v, i), "row %d does not converge", row);
        for (int j = 0; j < 4; j++) {
            char col[4];
            snprintf(col, sizeof col, "I%c", vbic.terminal[j]);
            const double want = table_num(&t, row, col);
            note(&w, i[j], want, 1e-6 * fabs(want) + 2e-14, ROW_TEXT, row, col);
        }
    }
    printf("vbic_gummel.csv: %d rows, worst error/bound %.3g (%s)\n", t.n_row, w.ratio, w.where);
    ck_assert_msg(w.ratio <= 1, "%s", w.where);
    dut_close(&dev);
    table_free(&t);
}
END_TEST

START_TEST(jfet_currents_equal_ngspice)
{
    static const char *const file[] = {"jfet_idvg_n_t27.csv", "jfet_idvg_n_t100.csv",
                                       "jfet_idvg_p_t27.csv", "jfet_idvg_p_t100.csv",
                                       "jfet_idvd_n_t27.csv", "jfet_idvd_n_t100.csv",
                                       "jfet_idvd_p_t27.csv", "jfet_idvd_p_t100.csv"};
    for (size_t i = 0; i < VS_COUNT(file); i++)
        check_spice_dc(file[i], &jfet);
}
END_TEST

START_TEST(jfet_capacitances_equal_ngspice)
{
    check_spice_ac("jfet_ac_t27.csv", &jfet);
    check_spice_ac("jfet_ac_t100.csv", &jfet);
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
    tcase_add_test(t, mos2_currents_equal_ngspice);
    tcase_add_test(t, mos3_currents_equal_ngspice);
    tcase_add_test(t, mos_capacitances_equal_ngspice);
    tcase_add_test(t, bjt_currents_equal_ngspice);
    tcase_add_test(t, bjt_capacitances_equal_ngspice);
    tcase_add_test(t, vbic_currents_equal_ngspice);
    tcase_add_test(t, jfet_currents_equal_ngspice);
    tcase_add_test(t, jfet_capacitances_equal_ngspice);
    suite_add_tcase(s, t);
    return run_suite(s);
}
