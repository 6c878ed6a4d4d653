/* The original Verilog-A sources of the IHP SG13G2 kit (PyPI ihp-gdsfactory, tests/peers.txt): they
 * compile unedited, and the kit's psp103.va (103.6) gives the currents of our models/psp103.va
 * (103.4) wherever the two share equations: all 103.6 parameters at their defaults
 * (docs/models/psp103.md). Skipped (exit 77) where build/peers does not have the kit. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/suite.h"
#include "dut.h"

static char folder[512];

static const struct {
    const char *file, *module;
    int ports;
} originals[] = {{"psp103/psp103.va", "PSP103VA", 4},   {"psp103/psp103_nqs.va", "PSPNQS103VA", 4},
                 {"psp103/psp103t.va", "PSP103TVA", 5}, {"psp103/juncap200.va", "JUNCAP200", 2},
                 {"r3_cmc/r3_cmc.va", "r3_cmc", 3},     {"mosvar/mosvar.va", "mosvar", 3}};

START_TEST(originals_compile_unedited)
{
    for (size_t i = 0; i < VS_COUNT(originals); i++) {
        dut t;
        char path[600];
        dut_open(&t, false, false);
        snprintf(path, sizeof path, "%s/%s", folder, originals[i].file);
        dut_file(&t, path);
        ck_assert_int_eq(t.d.n_error, 0);
        dut_model(&t, originals[i].module);
        ck_assert_int_ge(t.n_port, originals[i].ports);
        ck_assert_int_eq(mdl_module(t.m)->n_state, 0);
        dut_set(&t, "", "", 27, 1e-12);
        double v[8] = {0.3, 0.6, 0, -0.1}, cur[8], sum = 0, largest = 0;
        ck_assert_msg(dut_solve(&t, v, cur), "%s does not converge", path);
        for (int k = 0; k < t.n_port; k++) {
            if (strcmp(mdl_unknown(t.m, k)->unit, "V"))
                continue; /* a temperature */
            sum += cur[k];
            largest = fmax(largest, fabs(cur[k]));
        }
        ck_assert_msg(fabs(sum) <= 1e-9 * largest + 1e-18, "%s: currents sum to %g", path, sum);
        dut_close(&t);
    }
}
END_TEST

static double uniform(uint64_t *s, double lo, double hi)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(*s >> 11) * 0x1p-53;
}

static double bound(double want)
{
    double a = fabs(want);
    return (a > 1e-9 ? 1e-9 : a > 1e-12 ? 1e-7 : 2e-6) * a + 1e-18;
}

START_TEST(psp103_of_the_kit_gives_our_currents)
{
    static const char *const set[] = {"", " swigate=1 swimpact=1 swgidl=1",
                                      " swigate=1 swimpact=1 swgidl=1 swjuncap=3"};
    static const char *const geometry[] = {"w=10u l=1u",
                                           "w=0.5u l=0.2u ad=0.25p as=0.25p pd=2u ps=2u"};
    static const double temp[] = {27, -40, 125};
    char path[600], type[32], inc[512], card[16384];
    dut ours, kit;
    dut_open(&ours, false, false);
    dut_model(&ours, "psp103va");
    dut_open(&kit, false, false);
    snprintf(path, sizeof path, "%s/psp103/psp103.va", folder);
    dut_file(&kit, path);
    dut_model(&kit, "PSP103VA");
    ck_assert(mdl_module(ours.m) != mdl_module(kit.m));
    uint64_t seed = 1;
    double worst = 0;
    for (int p = 0; p < 2; p++)
        for (int s = 0; s < 3; s++)
            for (int g = 0; g < 6; g++) {
                char *base = card_of(source_path(inc, "netlists/psp103_models.inc"),
                                     p ? "psp103p" : "psp103n", type);
                snprintf(card, sizeof card, "%s%s", base, set[s]);
                vs_free(base);
                dut_set(&ours, card, geometry[g % 2], temp[g / 2], 0);
                dut_set(&kit, card, geometry[g % 2], temp[g / 2], 0);
                for (int k = 0; k < 100; k++) {
                    double sign = p ? -1 : 1, a[4], b[4];
                    double v[4] = {sign * uniform(&seed, -0.2, 1.2),
                                   sign * uniform(&seed, -0.2, 1.2), 0,
                                   -sign * uniform(&seed, 0, 1)};
                    ck_assert(dut_solve(&ours, v, a));
                    ck_assert(dut_solve(&kit, v, b));
                    for (int i = 0; i < 4; i++) {
                        double r = fabs(a[i] - b[i]) / bound(b[i]);
                        worst = fmax(worst, r);
                        ck_assert_msg(r <= 1,
                                      "set %d terminal %d at %g %g %g: ours %.15g, kit %.15g", s, i,
                                      v[0], v[1], v[3], a[i], b[i]);
                    }
                    if (k % 20 == 0) {
                        double ga[16], gb[16], ca[16], cb[16], gm = 0, cm = 0;
                        dut_y(&ours, 6.28e6, ga, ca);
                        dut_y(&kit, 6.28e6, gb, cb);
                        for (int i = 0; i < 16; i++) {
                            gm = fmax(gm, fabs(gb[i]));
                            cm = fmax(cm, fabs(cb[i]));
                        }
                        for (int i = 0; i < 16; i++) {
                            ck_assert_double_le(fabs(ga[i] - gb[i]), 1e-8 * gm + 1e-18);
                            ck_assert_double_le(fabs(ca[i] - cb[i]), 1e-8 * cm);
                        }
                    }
                }
            }
    printf("psp103 of the kit against ours: 3600 points, worst error/bound %.3g\n", worst);
    dut_close(&ours);
    dut_close(&kit);
}
END_TEST

int main(void)
{
    if (!dut_kit(folder))
        return 77;
    Suite *s = suite_create("originals");
    TCase *t = tcase_create("originals");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, originals_compile_unedited);
    tcase_add_test(t, psp103_of_the_kit_gives_our_currents);
    suite_add_tcase(s, t);
    return run_suite(s);
}
