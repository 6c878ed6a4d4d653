/* The library as a host sees it: points of families. */
#define _GNU_SOURCE
#include <unistd.h>

#include "deck.h"

static const char family_text[] = "a family\n.param r=1k\n"
                                  "v1 in 0 pulse(0 5 0 1u 1u 20u 50u)\nr1 in out {r}\n"
                                  "d1 out 0 dm\nc1 out 0 {agauss(1n,0.1n,1)}\n"
                                  ".model dm d is=1e-14\n.step param r list 1k 2k 5k\n"
                                  ".step temp 0 100 50\n.mc 2 seed=7\n.end\n";

/* A new run of point k of that family. */
static vsim_run *run_of_point(vsim *s, int64_t k)
{
    vsim_run *r;
    vsim_deck *d = deck_of(s, family_text);
    ck_done(s, vsim_family_set(d, k, NULL));
    ck_done(s, vsim_run_card(d, "tran 1u 50u", NULL, &r));
    return r;
}

/* A sweep of the host's keeps the point under way, and goes on with it in another process. */
START_TEST(points_of_a_family_go_on_from_checkpoints)
{
    static const int64_t point[] = {0, 7, 17}, other[] = {1, 13, 15};
    char path[] = "/tmp/vsim-kept-XXXXXX";
    close(mkstemp(path));
    for (size_t i = 0; i < 3; i++) {
        vsim *s[3] = {simulator(), simulator(), simulator()};
        vsim_run *r = run_of_point(s[0], point[i]);
        ck_assert_int_eq(vsim_run_until(r, 20e-6), VSIM_PAUSED);
        ck_done(s[0], vsim_run_checkpoint(r, path));
        ck_done(s[0], vsim_run_go(r));
        vsim_run *later = run_of_point(s[1], point[i]);
        ck_assert_int_eq(vsim_run_restart(later, path), VSIM_PAUSED);
        ck_done(s[1], vsim_run_go(later));
        ck_assert_uint_eq(bits_of(later), bits_of(r));
        ck_assert_int_eq(vsim_run_restart(run_of_point(s[2], other[i]), path), VSIM_EINPUT);
        for (size_t k = 0; k < 3; k++)
            vsim_free(&s[k]);
    }
    unlink(path);
}
END_TEST

START_TEST(points_of_a_family_are_runs_of_their_own)
{
    static const double r[] = {1e3, 2e3, 5e3};
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, family_text);
    vsim_family f;
    const char *label;
    uint64_t bits[18];
    double v;
    ck_done(s, vsim_family_of(d, &f));
    ck_assert_int_eq(f.n_point, 18);
    ck_assert_uint_eq(f.n_column, 3);
    ck_assert_str_eq(f.column[0], "r");
    ck_assert_str_eq(f.column[2], "sample");
    for (int64_t k = 17; k >= 0; k--) { /* in any order */
        char want[100];
        ck_done(s, vsim_family_set(d, k, &label));
        snprintf(want, sizeof want, "r=%g temp=%g sample=%d", r[k / 2 % 3], 50.0 * (double)(k / 6),
                 (int)(k % 2) + 1);
        ck_assert_str_eq(label, want);
        ck_done(s, vsim_get_device(d, "r1", "", &v));
        ck_assert_double_eq(v, r[k / 2 % 3]);
        ck_assert_double_eq(vsim_get_temp(d), 50.0 * (double)(k / 6));
        ck_done(s, vsim_family_value(d, k, 1, &v));
        ck_assert_double_eq(v, 50.0 * (double)(k / 6));
        vsim_run *run = run_of(s, d, "tran 1u 50u");
        bits[k] = bits_of(run);
        vsim_run_free(&run);
        for (int64_t i = k + 1; i < 18; i++)
            ck_assert_uint_ne(bits[i], bits[k]);
    }
    ck_done(s, vsim_set_device(d, "r1", "", 1)); /* goes with the next point's own value? no: */
    ck_done(s, vsim_family_set(d, 3, NULL));     /* a change of a device wins until vsim_reset */
    ck_done(s, vsim_get_device(d, "r1", "", &v));
    ck_assert_double_eq(v, 1);
    ck_done(s, vsim_reset(d));
    ck_done(s, vsim_family_set(d, 3, NULL));
    ck_assert_uint_eq(bits_of(run_of(s, d, "tran 1u 50u")), bits[3]);
    ck_assert_int_eq(vsim_family_set(d, 18, NULL), VSIM_EINPUT);
    vsim_free(&s);
    s = simulator(); /* each point by itself */
    d = deck_of(s, family_text);
    ck_done(s, vsim_set_param(d, "r", 2e3));
    ck_done(s, vsim_set_temp(d, 50));
    ck_done(s, vsim_set_sample(d, 7, 2));
    ck_assert_uint_eq(bits_of(run_of(s, d, "tran 1u 50u")), bits[1 + 2 * 1 + 6 * 1]);
    d = deck_of(s, divider);
    ck_done(s, vsim_family_of(d, &f));
    ck_assert_int_eq(f.n_point, 0);
    ck_assert_int_eq(vsim_family_set(d, 0, NULL), VSIM_EINPUT);
    vsim_free(&s);
}
END_TEST

int main(void)
{
    const TTest *const all[] = {points_of_a_family_go_on_from_checkpoints,
                                points_of_a_family_are_runs_of_their_own};
    return run_tests("lib/families", all, sizeof all / sizeof *all);
}
