/* The library as a host sees it: runs in pieces, checkpoints, runs that are paused and stopped. */
#define _GNU_SOURCE
#include <unistd.h>

#include "deck.h"

/* -- pieces -- */

START_TEST(pieces_have_the_bits_of_the_whole)
{
    const uint64_t want = whole(rectifier, "tran 10u 3m");
    for (int n = 2; n <= 300; n *= 4) {
        vsim *s = simulator();
        vsim_run *r;
        ck_done(s, vsim_run_card(deck_of(s, rectifier), "tran 10u 3m", NULL, &r));
        double last = -1;
        for (int i = 1; i < n; i++) {
            const double t = 3e-3 * i / n;
            ck_assert_int_eq(vsim_run_until(r, t), VSIM_PAUSED);
            ck_assert_double_ge(vsim_run_axis(r), t);
            ck_assert_double_ge(vsim_run_axis(r), last);
            last = vsim_run_axis(r);
        }
        ck_done(s, vsim_run_go(r));
        ck_assert_uint_eq(bits_of(r), want);
        ck_assert_int_eq(vsim_run_go(r), VSIM_EINPUT); /* it has ended */
        vsim_free(&s);
    }
}
END_TEST

/* Memory of each kind: corners, an ideal and a lossy line, a random source, a transistor. */
static const char memory[] = "what a transient remembers\n"
                             "v1 in 0 pulse(0 2 0 1n 1n 10n 33n)\n"
                             "r1 in a 50\n"
                             "t1 a 0 b 0 z0=50 td=4.3n\n"
                             "r2 b 0 75\n"
                             ".model lm ltra r=12.45 g=0 l=8.972e-9 c=0.468e-12 len=16\n"
                             "o1 b 0 g 0 lm\n"
                             "r3 g 0 60\n"
                             "c3 g 0 3p\n"
                             "vt t 0 trnoise(0.1 0.7n 1.2 0.05)\n"
                             "r4 t q 10k\n"
                             "q1 c q 0 qm\n"
                             "vc vc 0 3\n"
                             "rc vc c 1k\n"
                             ".model qm npn bf=80 cje=1p cjc=1p tf=1n\n"
                             ".end\n";

static void hop(const char *text, const char *card, int n, double until, const char *path)
{
    const uint64_t want = whole(text, card);
    for (int i = 0; i < n; i++) {
        vsim *s = simulator();
        vsim_run *r;
        ck_done(s, vsim_run_card(deck_of(s, text), card, NULL, &r));
        if (i)
            ck_assert_int_eq(vsim_run_restart(r, path), VSIM_PAUSED);
        ck_assert_int_eq(vsim_run_until(r, until * (i + 1) / (n + 1)), VSIM_PAUSED);
        ck_done(s, vsim_run_checkpoint(r, path));
        if (i % 2) { /* who was kept goes on too */
            ck_done(s, vsim_run_go(r));
            ck_assert_uint_eq(bits_of(r), want);
        }
        vsim_free(&s);
    }
    vsim *s = simulator();
    vsim_run *r;
    ck_done(s, vsim_run_card(deck_of(s, text), card, NULL, &r));
    ck_assert_int_eq(vsim_run_restart(r, path), VSIM_PAUSED);
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(bits_of(r), want);
    vsim_free(&s);
}

/* An .ac needs more of the models; a circuit that had one is still that of the checkpoint. */
START_TEST(checkpoints_fit_circuits_that_had_other_analyses)
{
    char path[] = "/tmp/vsim-kept-XXXXXX";
    close(mkstemp(path));
    vsim *s[2] = {simulator(), simulator()};
    vsim_run *r[2];
    for (int i = 0; i < 2; i++) {
        vsim_deck *d = deck_of(s[i], rectifier);
        if (i == 0)
            (void)run_of(s[i], d, "ac dec 2 1 1k");
        ck_done(s[i], vsim_run_card(d, "tran 10u 3m", NULL, &r[i]));
    }
    ck_assert_int_eq(vsim_run_until(r[0], 1e-3), VSIM_PAUSED);
    ck_done(s[0], vsim_run_checkpoint(r[0], path));
    const vsim_status st = vsim_run_restart(r[1], path);
    ck_assert_msg(st == VSIM_PAUSED, "%s", said(s[1]));
    unlink(path);
    for (int i = 0; i < 2; i++)
        ck_done(s[i], vsim_run_go(r[i]));
    ck_assert_uint_eq(bits_of(r[0]), bits_of(r[1]));
    for (int i = 0; i < 2; i++)
        vsim_free(&s[i]);
}
END_TEST

START_TEST(checkpoints_have_the_bits_of_the_whole)
{
    char path[] = "/tmp/vsim-kept-XXXXXX";
    close(mkstemp(path));
    hop(rectifier, "tran 10u 3m", 9, 3e-3, path);
    hop(memory, "tran 1n 300n", 9, 300e-9, path);
    vsim *s = simulator();
    vsim_run *r;
    const char *const other[] = {"tran 1n 301n", "op"};
    for (size_t i = 0; i < 2; i++) {
        vsim_deck *d = deck_of(s, memory);
        ck_done(s, vsim_run_card(d, other[i], NULL, &r));
        ck_assert_int_eq(vsim_run_restart(r, path), VSIM_EINPUT);
        ck_done(s, vsim_run_card(deck_of(s, rectifier), "tran 1n 300n", NULL, &r));
        ck_assert_int_eq(vsim_run_checkpoint(r, path), VSIM_EINPUT);
        ck_assert_int_eq(vsim_run_restart(r, path), VSIM_EINPUT);
    }
    unlink(path);
    ck_done(s, vsim_run_card(deck_of(s, rectifier), "tran 1n 300n", NULL, &r));
    ck_assert_int_eq(vsim_run_restart(r, path), VSIM_EIO);
    vsim_free(&s);
}
END_TEST

static vsim_action pause_at_the_end(void *user, const vsim_point *p)
{
    const double *end = user;
    return p->axis >= *end ? VSIM_DO_PAUSE : VSIM_GO_ON;
}

START_TEST(a_run_that_pauses_at_its_last_point_can_be_kept)
{
    char path[] = "/tmp/vsim-kept-XXXXXX";
    close(mkstemp(path));
    double end = 3e-3;
    const uint64_t want = whole(rectifier, "tran 10u 3m");
    vsim *s[2] = {simulator(), simulator()};
    vsim_run *r[2];
    vsim_run_options o;
    vsim_run_options_init(&o);
    o.point = pause_at_the_end;
    o.user = &end;
    for (int i = 0; i < 2; i++)
        ck_done(s[i], vsim_run_card(deck_of(s[i], rectifier), "tran 10u 3m", &o, &r[i]));
    ck_assert_int_eq(vsim_run_go(r[0]), VSIM_PAUSED);
    ck_assert_double_eq(vsim_run_axis(r[0]), end);
    ck_done(s[0], vsim_run_checkpoint(r[0], path));
    ck_assert_int_eq(vsim_run_restart(r[1], path), VSIM_PAUSED);
    unlink(path);
    for (int i = 0; i < 2; i++) {
        ck_done(s[i], vsim_run_go(r[i]));
        ck_assert_uint_eq(bits_of(r[i]), want);
        vsim_free(&s[i]);
    }
}
END_TEST

/* Many digital events between two changes of what circuits see: a ring, divided by 200. */
static const char digital[] = "a digital part that looks ahead\n"
                              "v1 in 0 sin(0.4 0.5 1meg)\n"
                              "r1 in x 10k\n"
                              "c1 x 0 20p\n"
                              "aadc [x] [g] adc\n"
                              "a1 [g q3] q1 nand\n"
                              "a2 q1 q2 inv\n"
                              "a3 q2 q3 inv\n"
                              "adiv q1 d div\n"
                              "adac [d] [o] dac\n"
                              "ro o 0 1k\n"
                              ".model adc adc_bridge(in_low=0.5 in_high=0.5)\n"
                              ".model nand d_nand(rise_delay=0.3n fall_delay=0.2n)\n"
                              ".model inv d_inverter(rise_delay=0.3n fall_delay=0.4n)\n"
                              ".model div d_fdiv(div_factor=200)\n"
                              ".model dac dac_bridge(t_rise=5n t_fall=5n)\n"
                              ".end\n";

/* A line that a bus and a circuit drive: Newton stops at corners of the bridge's curve. */
static const char bus[] = "a bridge in both directions\n"
                          "v1 in 0 sin(0.5 0.7 1meg)\n"
                          "r1 in line 300\n"
                          "c1 line 0 5p\n"
                          "ab [line] [d] null bi\n"
                          "vc c 0 1\n"
                          "aosc c clk osc\n"
                          "atri clk clk d tri\n"
                          ".model bi bidi_bridge(in_low=0.6 in_high=0.5 t_rise=4n t_fall=7n)\n"
                          ".model tri d_tristate(delay=3n)\n"
                          ".model osc d_osc(cntl_array=[0 1] freq_array=[5meg 7meg])\n"
                          ".end\n";

/* Keeping a run moves no step of it. */
static void keep_often(const char *text, const char *card, double until, const char *path)
{
    const uint64_t want = whole(text, card);
    vsim *s = simulator();
    vsim_run *r;
    ck_done(s, vsim_run_card(deck_of(s, text), card, NULL, &r));
    for (int i = 1; i < 100; i++) {
        ck_assert_int_eq(vsim_run_until(r, until * i / 100), VSIM_PAUSED);
        ck_done(s, vsim_run_checkpoint(r, path));
    }
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(bits_of(r), want);
    vsim_free(&s);
}

START_TEST(checkpoints_leave_digital_parts_where_they_are)
{
    char path[] = "/tmp/vsim-kept-XXXXXX";
    close(mkstemp(path));
    hop(digital, "tran 20n 4u 0 20n", 9, 4e-6, path);
    keep_often(digital, "tran 20n 4u 0 20n", 4e-6, path);
    hop(bus, "tran 10n 4u", 9, 4e-6, path);
    keep_often(bus, "tran 10n 4u", 4e-6, path);
    unlink(path);
}
END_TEST

static vsim_action pause_each_third(void *user, const vsim_point *p)
{
    long *n = user;
    (void)p;
    return ++*n % 3 ? VSIM_GO_ON : VSIM_DO_PAUSE;
}

static void pause_often(const char *text, const char *card, long *n, long *pauses)
{
    vsim *s = simulator();
    vsim_run *r;
    vsim_run_options o;
    vsim_vector t;
    vsim_status st;
    *n = *pauses = 0;
    vsim_run_options_init(&o);
    o.point = pause_each_third;
    o.user = n;
    ck_done(s, vsim_run_card(deck_of(s, text), card, &o, &r));
    while ((st = vsim_run_go(r)) == VSIM_PAUSED)
        ++*pauses;
    ck_assert_int_eq(st, VSIM_OK);
    ck_done(s, vsim_run_vector(r, "time", &t));
    ck_assert_uint_eq((size_t)*n, t.n);
    ck_assert_uint_eq(bits_of(r), whole(text, card));
    vsim_free(&s);
}

START_TEST(callbacks_pause_without_a_trace)
{
    long n, pauses;
    pause_often(rectifier, "tran 10u 3m", &n, &pauses);
    ck_assert_int_eq(pauses, n / 3);
    pause_often(bus, "tran 10n 1u", &n, &pauses); /* rows of one step pause it once, behind them */
    ck_assert_int_le(pauses, n / 3);
}
END_TEST

START_TEST(a_stopped_run_keeps_its_points_and_lets_others_start)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, rectifier);
    vsim_run *r, *other;
    vsim_vector v;
    ck_done(s, vsim_run_card(d, "tran 10u 3m", NULL, &r));
    ck_assert_int_eq(vsim_run_until(r, 1e-3), VSIM_PAUSED);
    ck_assert_int_eq(vsim_run_card(d, "op", NULL, &other), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "under way"));
    vsim_run_stat st;
    vsim_run_stats(r, &st);
    ck_done(s, vsim_run_vector(r, "v(out)", &v));
    ck_assert_uint_ge(v.n, (size_t)st.accepted + 1); /* and rows behind corners */
    ck_assert_uint_le(v.n, (size_t)st.accepted + 2);
    const double *x = vsim_run_point(r);
    size_t out;
    ck_done(s, vsim_unknown_find(d, "out", &out));
    ck_assert_double_eq(x[out], v.v[v.n - 1]);
    ck_done(s, vsim_run_stop(r));
    const size_t n = v.n;
    other = run_of(s, d, "op");
    ck_done(s, vsim_run_vector(r, "v(out)", &v));
    ck_assert_uint_eq(v.n, n);
    vsim_run_free(&other);
    vsim_free(&s);
}
END_TEST

START_TEST(changes_wait_while_a_run_is_paused)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, rectifier);
    vsim_run *r;
    double v;
    ck_done(s, vsim_run_card(d, "tran 10u 3m", NULL, &r));
    ck_assert_int_eq(vsim_run_until(r, 1e-3), VSIM_PAUSED);
    ck_done(s, vsim_set_device(d, "r1", "", 100));
    ck_done(s, vsim_get_device(d, "d1", "gd", &v)); /* at the point of the run */
    ck_assert(isfinite(v));
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(bits_of(r), whole(rectifier, "tran 10u 3m"));
    vsim_run *next = run_of(s, d, "tran 10u 3m");
    ck_assert_uint_ne(bits_of(next), bits_of(r));
    vsim_free(&s);
}
END_TEST

static vsim_action stop_at_once(void *user, const vsim_point *p)
{
    (void)user;
    (void)p;
    return VSIM_DO_STOP;
}

static bool ask_to_stop(void *user) { return ++*(int *)user == 1; }

START_TEST(a_poll_stops_a_run_and_is_not_asked_at_each_point)
{
    static const char *const card[] = {"tran 1n 1", "ac lin 9000000 1 1meg", "dc v1 0 1 1u"};
    for (size_t i = 0; i < sizeof card / sizeof *card; i++) {
        int n = 0;
        vsim *s = simulator();
        vsim_deck *d = deck_of(s, rectifier);
        vsim_run *r;
        vsim_run_options o;
        vsim_run_options_init(&o);
        o.poll = ask_to_stop;
        o.user = &n;
        ck_done(s, vsim_run_card(d, card[i], &o, &r));
        ck_assert_int_eq(vsim_run_go(r), VSIM_STOP);
        ck_assert_int_eq(n, 1);
        ck_assert_uint_eq(vsim_run_plot_count(r), 1);
        (void)run_of(s, d, "op");
        vsim_free(&s);
    }
}
END_TEST

START_TEST(every_analysis_can_be_stopped_by_its_points)
{
    static const char *const card[] = {"op",
                                       "dc v1 0 1 0.1",
                                       "tran 10u 1m",
                                       "ac dec 5 1 1meg",
                                       "noise v(out) v1 dec 5 1 1meg",
                                       "tf v(out) v1",
                                       "dc r1 1k 2k 100"};
    for (size_t i = 0; i < sizeof card / sizeof *card; i++) {
        vsim *s = simulator();
        vsim_run *r;
        vsim_run_options o;
        vsim_run_options_init(&o);
        o.point = stop_at_once;
        ck_done(s, vsim_run_card(deck_of(s, rectifier), card[i], &o, &r));
        ck_assert_msg(vsim_run_go(r) == VSIM_STOP, "%s: %s", card[i], said(s));
        vsim_free(&s);
    }
}
END_TEST

int main(void)
{
    const TTest *const all[] = {pieces_have_the_bits_of_the_whole,
                                checkpoints_have_the_bits_of_the_whole,
                                checkpoints_leave_digital_parts_where_they_are,
                                a_run_that_pauses_at_its_last_point_can_be_kept,
                                checkpoints_fit_circuits_that_had_other_analyses,
                                callbacks_pause_without_a_trace,
                                a_stopped_run_keeps_its_points_and_lets_others_start,
                                changes_wait_while_a_run_is_paused,
                                a_poll_stops_a_run_and_is_not_asked_at_each_point,
                                every_analysis_can_be_stopped_by_its_points};
    return run_tests("lib/pieces", all, sizeof all / sizeof *all);
}
