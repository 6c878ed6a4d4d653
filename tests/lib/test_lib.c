/* The library as a host sees it: runs in pieces, values, messages, sources of the host, equations,
 * and what a host must not notice. */
#define _GNU_SOURCE
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "deck.h"

static const char rectifier[] = "a rectifier\n"
                                "v1 in 0 sin(0 5 1k)\n"
                                "d1 in out dm\n"
                                "r1 out 0 1k\n"
                                "c1 out 0 1u\n"
                                ".model dm d is=1e-14 rs=1 cjo=10p tt=5n\n"
                                ".end\n";

/* -- pieces -- */

static uint64_t whole(const char *text, const char *card)
{
    vsim *s = simulator();
    const uint64_t h = bits_of(run_of(s, deck_of(s, text), card));
    vsim_free(&s);
    return h;
}

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

/* -- analyses from structs -- */

typedef struct same {
    const char *card;
    vsim_analysis a;
} same;

START_TEST(structs_are_the_cards)
{
    const double v[] = {0, 0.25, 0.5, 0.75, 1}, r[] = {1e3, 2e3};
    same all[10];
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < 10; i++)
        vsim_analysis_init(&all[i].a, VSIM_OP);
    all[0].card = "op";
    all[1].card = "dc v1 0 1 0.25 r1 1k 2k 1k";
    all[1].a.kind = VSIM_DC;
    all[1].a.sweep[0] = (vsim_dc_sweep){"v1", v, 5};
    all[1].a.sweep[1] = (vsim_dc_sweep){"r1", r, 2};
    all[1].a.n_sweep = 2;
    all[2].card = "tran 10u 1m 0.1m 5u uic";
    all[2].a.kind = VSIM_TRAN;
    all[2].a.tstep = 10e-6;
    all[2].a.tstop = 1e-3;
    all[2].a.tstart = 1e-4;
    all[2].a.tmax = 5e-6;
    all[2].a.uic = true;
    all[3].card = "ac oct 3 10 1e5";
    all[3].a.kind = VSIM_AC;
    all[4].card = "noise v(out) v1 oct 3 10 1e5 2";
    all[4].a.kind = VSIM_NOISE;
    all[4].a.summary = 2;
    all[5].card = "sens v(out) ac oct 3 10 1e5";
    all[5].a.kind = VSIM_SENS;
    for (size_t i = 3; i < 6; i++) {
        all[i].a.grid = VSIM_OCT;
        all[i].a.n_freq = 3;
        all[i].a.f_from = 10;
        all[i].a.f_to = 1e5;
    }
    all[6].card = "tf v(out) v1";
    all[6].a.kind = VSIM_TF;
    all[7].card = "pz in 0 out 0 vol pz";
    all[7].a.kind = VSIM_PZ;
    all[7].a.in[0] = "in";
    all[7].a.in[1] = "0";
    all[8].card = "sens v(out)";
    all[8].a.kind = VSIM_SENS;
    all[9].card = "pz out 0 in 0 cur pol";
    all[9].a = all[7].a;
    all[9].a.in[0] = "out";
    all[9].a.current_input = all[9].a.no_zeros = true;
    for (size_t i = 4; i < 10; i++) {
        all[i].a.out = i == 7 ? "v(out,0)" : i == 9 ? "v(in,0)" : "v(out)";
        all[i].a.source = "v1";
    }
    for (size_t i = 0; i < 10; i++) {
        vsim *s = simulator();
        vsim_deck *d = deck_of(s, rectifier);
        vsim_run *by_struct;
        ck_done(s, vsim_run_analysis(d, &all[i].a, NULL, &by_struct));
        const vsim_status st = vsim_run_go(by_struct);
        ck_assert_msg(st == VSIM_OK, "%s: %s", all[i].card, said(s));
        ck_assert_msg(bits_of(by_struct) == bits_of(run_of(s, d, all[i].card)), "%s", all[i].card);
        vsim_free(&s);
    }
}
END_TEST

static const char two_tones[] = "two sources\n"
                                "v1 in a sin(0 1 1k)\n"
                                "v2 a 0 sin(0 0.2 1.7k)\n"
                                "d1 in out dm\n"
                                "r1 out 0 1k\n"
                                ".model dm d is=1e-14 rs=1\n";
static const char oscillator[] = "LC with a cubic conductance\n"
                                 "l1 a 0 1n\n"
                                 "c1 a 0 1p\n"
                                 "r1 a 0 500\n"
                                 "b1 a 0 i=-2.3m*v(a)+0.1m*v(a)*v(a)*v(a)\n"
                                 ".ic v(a)=0.1\n";
#define LOOP(i)                                                                    \
    "e" i "1 x" i " 0 0 f" i " 200\nr" i " x" i " a" i " 1k\nc" i " a" i " 0 1u\n" \
    "vp" i " a" i " b" i " 0\nr" i "2 b" i " f" i " 10k\nc" i "2 f" i " 0 1n\n"
static const char loops[] = "a pair of loops\n" LOOP("1") LOOP("2") ".ac dec 2 1k 1meg\n";

typedef struct periodic { /* a run on a new deck behind the run of another card */
    const char *deck, *first, *card;
    vsim_analysis a;
} periodic;

static void grid_of(vsim_analysis *a)
{
    a->grid = VSIM_DEC;
    a->n_freq = 2;
    a->f_from = 1e3;
    a->f_to = 1e6;
    a->out = "v(a)";
    a->source = "v1";
}

static void expect_same_bits(const periodic *p)
{
    vsim *s = simulator(), *other = simulator();
    vsim_deck *d = deck_of(s, p->deck), *by_card = deck_of(other, p->deck);
    (void)run_of(s, d, p->first);
    (void)run_of(other, by_card, p->first);
    vsim_run *by_struct;
    ck_done(s, vsim_run_analysis(d, &p->a, NULL, &by_struct));
    const vsim_status st = vsim_run_go(by_struct);
    ck_assert_msg(st == VSIM_OK, "%s: %s", p->card, said(s));
    ck_assert_msg(bits_of(by_struct) == bits_of(run_of(other, by_card, p->card)), "%s", p->card);
    vsim_free(&s);
    vsim_free(&other);
}

START_TEST(structs_are_the_cards_of_periodic_states)
{
    static const char hb[] = "hb tones=1k 1.7k nharms=5 3 intmodmax=6",
                      osc[] = "hbosc tone=5g nharms=15 probenode=a tstab=20n uic",
                      shot[] = "pss 1k 1m 0 65 9 uic method=shooting integration=gear",
                      near[] = "pss 1k 0 0 281 9 method=shooting start=hb halvings=0";
    periodic all[] = {
        {two_tones, "op", hb, {0}},
        {oscillator, "op", osc, {0}},
        {rectifier, "hb 1k nharms=8 points=50", "hbac dec 2 1k 1meg sidebands=2", {0}},
        {rectifier, "hb 1k", "hbnoise v(out) v1 dec 2 1k 1meg 1 sideband=-1", {0}},
        {oscillator, osc, "phasenoise v(a) dec 2 1k 1meg sideband=3", {0}},
        {loops, "op", "lstb vsource=vp1", {0}},
        {loops, "op", "lstb mode=diff vsource=vp1,vp2 dec 2 1k 1meg", {0}},
        {rectifier, "op", shot, {0}},
        {rectifier, "op", near, {0}},
        {rectifier, "hb 1k nharms=8", "hbxf v(out) dec 2 1k 1meg sidebands=2 sideband=-1", {0}},
        {two_tones, "op", hb, {0}},
        {two_tones, "op", "hb tones=1k 1.7k", {0}}};
    static const vsim_kind kind[] = {VSIM_HB,      VSIM_HB,   VSIM_HBAC, VSIM_HBNOISE,
                                     VSIM_HBNOISE, VSIM_LSTB, VSIM_LSTB, VSIM_HB,
                                     VSIM_HB,      VSIM_HBXF, VSIM_HB,   VSIM_HB};
    static const double tones[] = {1e3, 1.7e3};
    static const int64_t harmonics[] = {5, 3};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        vsim_analysis *a = &all[i].a;
        vsim_analysis_init(a, kind[i]);
        if ((i >= 2 && i != 5 && i < 7) || i == 9)
            grid_of(a);
        a->sideband = i == 2 ? 2 : i == 4 ? 3 : -1;
        a->phase = i == 4;
        a->probe[0] = i == 1 ? "a" : "vp1";
        a->probe[1] = i == 6 ? "vp2" : NULL;
        a->loop = i == 6 ? VSIM_LOOP_DIFF : VSIM_LOOP_SINGLE;
    }
    all[0].a.n_tone = 2;
    all[0].a.tone[0] = 1e3;
    all[0].a.tone[1] = 1.7e3;
    all[0].a.harmonics[0] = 5;
    all[0].a.harmonics[1] = 3;
    all[0].a.intmodmax = 6;
    all[1].a.n_tone = 1;
    all[1].a.tone[0] = 5e9;
    all[1].a.harmonics[0] = 15;
    all[1].a.tstab = 20e-9;
    all[1].a.uic = all[1].a.oscillator = true;
    all[3].a.out = all[9].a.out = "v(out)";
    all[9].a.sidebands = 2;
    all[3].a.summary = 1;
    all[7].a.n_tone = 1;
    all[7].a.tone[0] = 1e3;
    all[7].a.harmonics[0] = 9;
    all[7].a.points = 65;
    all[7].a.tstab = 1e-3;
    all[7].a.uic = all[7].a.shooting = true;
    all[7].a.integration = VSIM_GEAR;
    all[8].a = (vsim_analysis){.size = sizeof all[8].a,
                               .kind = VSIM_HB,
                               .tone = {1e3},
                               .harmonics = {9},
                               .n_tone = 1,
                               .shooting = true,
                               .halvings = -1,
                               .start_hb = true};
    for (size_t i = 10; i < 12; i++) {
        all[i].a.n_tone = 2;
        all[i].a.tones = tones;
    }
    all[10].a.tone_harmonics = harmonics;
    all[10].a.intmodmax = 6;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect_same_bits(&all[i]);
}
END_TEST

START_TEST(structs_are_the_cards_of_noise_and_scattering_on_orbits)
{
    static const char ports[] = "mixer\nvlo lo 0 sin(0 1 1k)\nv1 a 0 portnum 1 z0 50\n"
                                "b1 m 0 v=2*v(a)*v(lo)\nr1 a 0 60\nr2 m b 50\n"
                                "v2 b 0 portnum 2 z0 50\n",
                      hb[] = "hb 1k nharms=8";
    static const int64_t harm[] = {1, 0}, both[] = {1, -1, 0}, of[] = {1, 1, 2};
    periodic all[] = {
        {rectifier, hb, "hbnoise v(out) v1 lin 2 100 400 0 sideband=1 modulated", {0}},
        {rectifier, hb, "hbnoise v(out) v1 lin 2 100 400 strobe=0.2m", {0}},
        {rectifier, hb, "hbnoise v(in) v1 lin 2 100 400 cross=0.1", {0}},
        {rectifier, hb, "hbnoise v(in) v1 lin 2 100 400 cross=0.1 fall=1", {0}},
        {ports, hb, "hbsp lin 2 100 400 harms=1 0 donoise", {0}},
        {ports, hb, "hbsp lin 2 100 400", {0}},
        {ports, hb, "hbsp lin 2 100 400 harms=(1 -1) 0 donoise", {0}}};
    static const vsim_noise_form form[] = {VSIM_NOISE_MODULATED, VSIM_NOISE_STROBE,
                                           VSIM_NOISE_CROSS, VSIM_NOISE_CROSS};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        vsim_analysis *a = &all[i].a;
        vsim_analysis_init(a, i < 4 ? VSIM_HBNOISE : VSIM_HBSP);
        grid_of(a);
        a->grid = VSIM_LIN;
        a->f_from = 100;
        a->f_to = 400;
        a->out = i < 2 ? "v(out)" : "v(in)";
        a->source = "v1";
        a->sideband = i == 0;
        a->noise_form = i < 4 ? form[i] : VSIM_NOISE_SIDEBAND;
        a->noise_at = i == 1 ? 0.2e-3 : 0.1;
        a->noise_edge = i == 3 ? -1 : 0;
        a->port_harmonic = i == 4 ? harm : NULL;
        a->n_port_harmonic = i == 4 ? 2 : 0;
        a->noise = i == 4 || i == 6;
        if (i == 6) {
            a->port_harmonic = both;
            a->harmonic_port = of;
            a->n_port_harmonic = 3;
        }
        expect_same_bits(&all[i]);
    }
}
END_TEST

START_TEST(structs_are_the_cards_of_distortion_and_mismatch)
{
    static const char deck[] = "random\nv1 a 0 1 ac 1 distof1 1 distof2 0.5\n"
                               "r1 a b {agauss(1k,10,1)}\nr2 b 0 {aunif(2k,10)}\n"
                               "b1 b 0 i=1u*v(b)*v(b)\nc1 b 0 1n\n";
    periodic all[] = {{deck, "op", "dcmatch v(b) threshold=0.1", {0}},
                      {deck, "op", "acmatch v(b) dec 2 1k 1meg threshold=0.1", {0}},
                      {deck, "op", "disto dec 2 1k 1meg", {0}},
                      {deck, "op", "disto dec 2 1k 1meg 0.5", {0}}};
    static const vsim_kind kind[] = {VSIM_DCMATCH, VSIM_ACMATCH, VSIM_DISTO, VSIM_DISTO};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        vsim_analysis *a = &all[i].a;
        vsim_analysis_init(a, kind[i]);
        grid_of(a);
        a->out = "v(b)";
        a->threshold = 0.1;
        a->f2_over_f1 = i == 3 ? 0.5 : 0;
        expect_same_bits(&all[i]);
    }
}
END_TEST

/* Noise in time: as with the card in the deck; other draws with another seed. */
START_TEST(a_struct_asks_for_the_noise_of_devices)
{
    static const char rc[] = "noise\nv1 a 0 0\nr1 a b 1meg\nc1 b 0 1p\n";
    char with_card[200];
    vsim_analysis a;
    vsim_run *r[2];
    vsim_analysis_init(&a, VSIM_TRAN);
    a.tstep = 1e-7;
    a.tstop = 5e-6;
    a.device_noise = true;
    a.noise_scale = 100;
    a.noise_seed = 7;
    snprintf(with_card, sizeof with_card, "%s.trannoise scale=100 seed=7\n", rc);
    vsim *s = simulator(), *other = simulator();
    vsim_deck *d = deck_of(s, rc), *by_card = deck_of(other, with_card);
    const uint64_t quiet = bits_of(run_of(s, d, "tran 0.1u 5u"));
    for (int i = 0; i < 2; i++, a.noise_seed++) {
        ck_done(s, vsim_run_analysis(d, &a, NULL, &r[i]));
        ck_done(s, vsim_run_go(r[i]));
    }
    const uint64_t loud = bits_of(run_of(other, by_card, "tran 0.1u 5u"));
    ck_assert(bits_of(r[0]) == loud);
    ck_assert(bits_of(r[1]) != loud && quiet != loud);
    ck_assert(bits_of(run_of(s, d, "tran 0.1u 5u")) == quiet); /* of that run alone */
    vsim_free(&s);
    vsim_free(&other);
}
END_TEST

START_TEST(structs_of_periodic_states_are_checked)
{
    static const int64_t gap[] = {1, 3};
    static const double tones[11] = {1e3};
    static const struct {
        vsim_analysis a;
        const char *text;
    } wrong[] = {
        {{.kind = VSIM_HB}, "1 to 4 tones"},
        {{.kind = VSIM_HB, .n_tone = 5}, "1 to 4 tones"},
        {{.kind = VSIM_HB, .n_tone = 11, .tones = tones}, "1 to 10 tones"},
        {{.kind = VSIM_HB, .n_tone = 1, .tone = {-1}}, "a frequency above 0"},
        {{.kind = VSIM_HB, .n_tone = 1, .tone = {1e3}, .oscillator = true}, "node is missing"},
        {{.kind = VSIM_HB, .n_tone = 2, .tone = {1, 2}, .shooting = true}, "has one tone"},
        {{.kind = VSIM_HB, .n_tone = 1, .tone = {1}, .integration = (vsim_integration)9},
         "none of vsim_integration"},
        {{.kind = VSIM_HBNOISE, .out = "v(out)"}, "source is missing"},
        {{.kind = VSIM_HBNOISE, .source = "v1"}, "output is missing"},
        {{.kind = VSIM_HBNOISE, .out = "v(out)", .source = "v1", .noise_form = (vsim_noise_form)9},
         "none of vsim_noise_form"},
        {{.kind = VSIM_HBXF}, "output is missing"},
        {{.kind = VSIM_HBSP, .n_port_harmonic = 1}, "harmonics of the ports are missing"},
        {{.kind = VSIM_HBSP, .n_port_harmonic = 2, .port_harmonic = gap, .harmonic_port = gap},
         "does not count the ports"},
        {{.kind = VSIM_LSTB}, "a probe of the loop is missing"},
        {{.kind = VSIM_LSTB, .probe = {"v1"}, .loop = VSIM_LOOP_DIFF}, "a probe of the loop"},
        {{.kind = VSIM_LSTB, .probe = {"v1"}, .loop = (vsim_loop)9}, "none of vsim_loop"},
        {{.kind = VSIM_AC, .grid = (vsim_grid)9}, "none of vsim_grid"},
        {{.kind = VSIM_TRAN, .tstep = 1, .tstop = 2, .device_noise = true, .noise_fmax = -1},
         "noise_fmax is no frequency"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vsim *s = simulator();
        vsim_analysis a = wrong[i].a;
        vsim_run *r;
        a.size = sizeof a;
        ck_assert_int_eq(vsim_run_analysis(deck_of(s, rectifier), &a, NULL, &r), VSIM_EINPUT);
        ck_assert_msg(strstr(said(s), wrong[i].text) != NULL, "%s: %s", wrong[i].text, said(s));
        vsim_free(&s);
    }
}
END_TEST

/* -- lists and values -- */

static const char divider[] = "a divider\n"
                              ".param top=1k bottom={2*top}\n"
                              ".subckt half a b\n"
                              "r1 a b {top}\n"
                              ".ends\n"
                              "v1 in 0 dc 3 ac 1 sin(0 1 1k)\n"
                              "x1 in out half\n"
                              "r2 out 0 {bottom}\n"
                              "m1 d in 0 0 nch w=10u l=1u\n"
                              "vd d 0 2\n"
                              ".model nch nmos level=1 vto=0.7 kp=100u\n"
                              ".op\n"
                              ".tran 1u 1m\n"
                              ".meas tran high MAX v(out)\n"
                              ".end\n";

START_TEST(lists_name_what_there_is)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    size_t n;
    ck_assert_str_eq(vsim_deck_title(d), "a divider");
    ck_assert_uint_eq(vsim_deck_card_count(d), 2);
    ck_assert_int_eq(vsim_deck_card_kind(d, 1), VSIM_TRAN);
    ck_done(s, vsim_device_count(d, &n));
    ck_assert_uint_eq(n, 5);
    bool seen = false;
    for (size_t i = 0; i < n; i++) {
        vsim_device dev;
        ck_done(s, vsim_device_at(d, i, &dev));
        if (!strcmp(dev.name, "m1")) {
            seen = true;
            ck_assert_str_eq(dev.type, "mos1");
            ck_assert_str_eq(dev.model, "nch");
            ck_assert_uint_eq(dev.n_node, 4);
            ck_assert_str_eq(dev.node[0], "d");
            ck_assert_str_eq(dev.node[3], "0");
        }
        if (!strcmp(dev.name, "v1"))
            ck_assert_str_eq(dev.type, "v");
        if (dev.name[0] == 'x')
            ck_assert_str_eq(dev.name, "x1.r1");
    }
    ck_assert(seen);
    ck_done(s, vsim_model_count(d, &n));
    ck_assert_uint_eq(n, 1);
    vsim_model m;
    ck_done(s, vsim_model_at(d, 0, &m));
    ck_assert_str_eq(m.type, "nmos");
    ck_done(s, vsim_param_count(d, &n));
    ck_assert_uint_eq(n, 2);
    const char *name;
    ck_done(s, vsim_param_at(d, 1, &name));
    ck_assert_str_eq(name, "bottom");
    ck_assert_int_eq(vsim_param_at(d, 2, &name), VSIM_EINPUT);
    ck_done(s, vsim_unknown_count(d, &n));
    for (size_t i = 1; i <= n; i++) {
        vsim_unknown u;
        size_t k;
        ck_done(s, vsim_unknown_at(d, i, &u));
        ck_done(s, vsim_unknown_find(d, u.name, &k));
        ck_assert_uint_eq(k, i);
        if (!u.internal)
            ck_assert_str_eq(u.unit, u.node ? "V" : "A");
    }
    size_t ground;
    ck_done(s, vsim_unknown_find(d, "0", &ground));
    ck_assert_uint_eq(ground, 0);
    vsim_free(&s);
}
END_TEST

START_TEST(parameters_of_devices_have_units_and_can_be_read)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    size_t n, computed = 0;
    vsim_parameter p;
    double v;
    vsim_run *r = run_of(s, d, "op");
    ck_done(s, vsim_device_parameter_count(d, "m1", &n));
    for (size_t i = 0; i < n; i++) {
        ck_done(s, vsim_device_parameter_at(d, "m1", i, &p));
        ck_done(s, vsim_get_device(d, "m1", p.name, &v));
        computed += p.computed;
        if (!strcmp(p.name, "gm"))
            ck_assert(p.computed && *p.unit);
    }
    ck_assert_uint_gt(computed, 5);
    ck_done(s, vsim_get_device(d, "m1", "gm", &v));
    ck_assert_double_eq_tol(v, 100e-6 * 10 * 2, 1e-8); /* kp w/l vds: in its linear region */
    ck_assert_int_eq(vsim_set_device(d, "m1", "gm", 1), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "computed"));
    ck_done(s, vsim_device_parameter_count(d, "v1", &n));
    ck_assert_uint_eq(n, 6);
    ck_done(s, vsim_model_parameter_count(d, "nch", &n));
    ck_assert_uint_gt(n, 20);
    for (size_t i = 0; i < n; i++) {
        ck_done(s, vsim_model_parameter_at(d, "nch", i, &p));
        ck_assert(!p.computed);
        ck_done(s, vsim_get_model(d, "nch", p.name, &v));
    }
    vsim_run_free(&r);
    vsim_free(&s);
}
END_TEST

static double out_of(vsim *s, vsim_deck *d)
{
    double v;
    vsim_run *r = run_of(s, d, "op");
    ck_done(s, vsim_run_value(r, "v(out)", &v));
    vsim_run_free(&r);
    return v;
}

/* A divider: exact but for what Newton leaves open and gmin, far below 1e-6. */
#define ck_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-6)

START_TEST(values_that_are_set_are_computed_with)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    double v;
    ck_near(out_of(s, d), 2);
    ck_done(s, vsim_set_param(d, "TOP", 3e3));
    ck_done(s, vsim_get_param(d, "bottom", &v));
    ck_assert_double_eq(v, 6e3);
    ck_near(out_of(s, d), 2);
    ck_done(s, vsim_set_device(d, "r2", "", 3e3));
    ck_near(out_of(s, d), 1.5);
    ck_done(s, vsim_set_device(d, "x1.r1", "r", 1e3));
    ck_near(out_of(s, d), 2.25);
    ck_done(s, vsim_get_device(d, "X1.R1", "", &v));
    ck_assert_double_eq(v, 1e3);
    ck_done(s, vsim_set_device(d, "v1", "dc", 4));
    ck_near(out_of(s, d), 3);
    ck_done(s, vsim_set_model(d, "nch", "vto", 1));
    ck_done(s, vsim_get_model(d, "nch", "vto", &v));
    ck_assert_double_eq(v, 1);
    ck_done(s, vsim_set_device(d, "m1", "w", 20e-6));
    ck_done(s, vsim_get_device(d, "m1", "w", &v));
    ck_assert_double_eq(v, 20e-6);
    ck_near(out_of(s, d), 3);
    ck_done(s, vsim_get_device(d, "m1", "id", &v));
    /* level 1, linear region: kp w/l (vgs - vto - vds/2) vds with vgs = 4, vds = 2 */
    ck_assert_double_eq_tol(v, 100e-6 * 20 * (4 - 1 - 1) * 2, 1e-8);
    ck_done(s, vsim_reset(d));
    ck_near(out_of(s, d), 2);
    ck_done(s, vsim_get_model(d, "nch", "vto", &v));
    ck_assert_double_eq(v, 0.7);
    vsim_free(&s);
}
END_TEST

START_TEST(temperature_and_options_count)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, rectifier);
    double v, cold, warm;
    ck_assert_double_eq(vsim_get_temp(d), 27);
    ck_done(s, vsim_set_device(d, "v1", "dc", 1));
    cold = out_of(s, d);
    ck_done(s, vsim_set_temp(d, 100));
    warm = out_of(s, d);
    ck_assert_double_gt(warm, cold + 0.01); /* 2 mV per kelvin */
    ck_assert_int_eq(vsim_set_temp(d, -300), VSIM_EINPUT);
    ck_done(s, vsim_set_options(d, "reltol=1e-5 method=gear"));
    ck_done(s, vsim_get_option(d, "reltol", &v));
    ck_assert_double_eq(v, 1e-5);
    ck_done(s, vsim_get_option(d, "method", &v));
    ck_assert_double_eq(v, 1);
    ck_assert_int_eq(vsim_set_options(d, "reltol=-1"), VSIM_EINPUT);
    ck_assert_int_eq(vsim_get_option(d, "retol", &v), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "did you mean 'reltol'"));
    vsim_free(&s);
}
END_TEST

START_TEST(a_waveform_that_is_set_is_that_of_a_card)
{
    static const char pulse[] = "RC\nv1 in 0 pulse(0 1 1u 1n 1n 5u 10u)\nr1 in out 1k\n"
                                "c1 out 0 1n\n.end\n";
    static const char other[] = "RC\nv1 in 0 sin(0 2 1k)\nr1 in out 1k\nc1 out 0 1n\n.end\n";
    const double arg[] = {0, 1, 1e-6, 1e-9, 1e-9, 5e-6, 10e-6};
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, other);
    ck_done(s, vsim_set_wave(d, "v1", "pulse", arg, 7));
    ck_assert_uint_eq(bits_of(run_of(s, d, "tran 0.1u 20u")), whole(pulse, "tran 0.1u 20u"));
    ck_assert_int_eq(vsim_set_wave(d, "v1", "puls", arg, 7), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_wave(d, "r1", "pulse", arg, 7), VSIM_EINPUT);
    vsim_free(&s);
}
END_TEST

START_TEST(a_change_that_cannot_be_built_is_taken_back)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    double v;
    ck_near(out_of(s, d), 2);
    vsim_deck *e = deck_of(s, rectifier);
    const uint64_t before = bits_of(run_of(s, e, "tran 10u 1m"));
    ck_done(s, vsim_set_model(e, "dm", "n", -1));
    ck_assert_int_eq(vsim_deck_build(e), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "'n'"));
    ck_done(s, vsim_get_model(e, "dm", "n", &v));
    ck_assert_double_eq(v, 1);
    ck_assert_uint_eq(bits_of(run_of(s, e, "tran 10u 1m")), before);
    ck_assert_int_eq(vsim_set_device(d, "m1", "l", NAN), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_device(d, "m1", "len", 1), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_device(d, "m2", "l", 1), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "did you mean '"));
    ck_assert_int_eq(vsim_set_param(d, "tpo", 1), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_model(d, "nch", "vt", 1), VSIM_EINPUT);
    vsim_free(&s);
}
END_TEST

START_TEST(measures_are_those_of_cards)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    vsim_run *r;
    vsim_measured m;
    double v;
    ck_done(s, vsim_run_deck_card(d, 1, NULL, &r));
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(vsim_run_measured_count(r), 1);
    ck_assert(vsim_run_measured(r, 0, &m));
    ck_assert_str_eq(m.name, "high");
    ck_assert_double_eq_tol(m.value, 2.0 / 3, 2e-3); /* the largest point of a sine */
    ck_done(s, vsim_run_measure(r, "a MAX v(out)", &v));
    ck_assert_double_eq(v, m.value);
    ck_done(s, vsim_run_measure(r, "x WHEN v(out)=5", &v));
    ck_assert(isnan(v));
    size_t n;
    const vsim_message *w = vsim_messages(s, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(w[0].severity, VSIM_WARNING);
    ck_assert_int_eq(vsim_run_measure(r, "x WHN v(out)=5", &v), VSIM_EINPUT);
    w = vsim_messages(s, &n);
    ck_assert_uint_ge(n, 1);
    ck_assert_str_eq(w[0].source, "x WHN v(out)=5");
    ck_assert_int_eq(w[0].column, 3);
    vsim_free(&s);
}
END_TEST

/* -- files of the host -- */

static const char *host_file(void *user, const char *name, size_t *len)
{
    static const char *const file[][2] = {
        {"lib/part.inc", "r1 in out {r}\n.include more.inc\n"},
        {"lib/more.inc", "x1 out 0 twice r=1k\n"},
        {"lib/twice.va", "`include \"disciplines.vams\"\n`include \"factor.vams\"\n"
                         "module twice(p, n); inout p, n; electrical p, n;\n"
                         "parameter real r = 1;\n"
                         "analog I(p, n) <+ V(p, n) / (`FACTOR * r); endmodule\n"},
        {"lib/factor.vams", "`define FACTOR 3\n"}};
    ++*(int *)user;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (!strcmp(name, file[i][0])) {
            *len = strlen(file[i][1]);
            return file[i][1];
        }
    return NULL;
}

START_TEST(the_host_serves_files)
{
    const char *text = "files\n.param r=1k\nv1 in 0 4\n.include part.inc\n.hdl \"twice.va\"\n"
                       ".model twice twice\n.end\n";
    int asked = 0;
    double v;
    vsim *s = simulator();
    vsim_deck *d;
    vsim_read how;
    vsim_read_init(&how);
    how.file = host_file;
    how.user = &asked;
    ck_done(s, vsim_deck_text(s, "lib/top.sp", text, strlen(text), &how, &d));
    vsim_run *r = run_of(s, d, "op");
    ck_done(s, vsim_run_value(r, "v(out)", &v));
    ck_near(v, 3);
    ck_assert_int_gt(asked, 3);
    text = "files\nv1 in 0 4\n.include nowhere.inc\n.end\n";
    ck_assert_int_eq(vsim_deck_text(s, "lib/top.sp", text, strlen(text), &how, &d), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "nowhere.inc"));
    vsim_free(&s);
}
END_TEST

/* -- families -- */

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

/* -- messages -- */

typedef struct heard {
    int n;
    char text[400];
} heard;

static void hear(void *user, const vsim_message *m)
{
    heard *h = user;
    h->n++;
    (void)vsim_message_format(m, h->text, sizeof h->text);
}

START_TEST(the_cache_folder_is_that_of_the_command)
{
    const struct {
        const char *xdg, *home, *path; /* path: NULL: none */
    } cases[] = {{"/c", "/h", "/c/vsim"},
                 {NULL, "/h", "/h/.cache/vsim"},
                 {"", "/h", "/h/.cache/vsim"},
                 {"c", "/h", "/h/.cache/vsim"},
                 {"/c", NULL, "/c/vsim"},
                 {NULL, NULL, NULL},
                 {"c", "h", NULL},
                 {NULL, "", NULL}};
    char path[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool any = vsim_cache_folder(cases[i].xdg, cases[i].home, path, sizeof path);
        ck_assert_int_eq(any, cases[i].path != NULL);
        ck_assert_str_eq(path, any ? cases[i].path : "");
    }
    ck_assert(!vsim_cache_folder("/c", NULL, path, sizeof "/c/vsim" - 1));
    ck_assert_str_eq(path, "");
    ck_assert(vsim_cache_folder("/c", NULL, path, sizeof "/c/vsim"));
    ck_assert(!vsim_cache_folder("/c", NULL, path, 0));
}
END_TEST

START_TEST(messages_are_records)
{
    heard h = {0};
    vsim *s;
    vsim_deck *d;
    vsim_settings set;
    size_t n;
    vsim_settings_init(&set);
    set.message = hear;
    set.user = &h;
    ck_assert_int_eq(vsim_new(&s, &set), VSIM_OK);
    const char *text = "title\nr1 a 0 1k\nr2 a b {x*2}\n.end\n";
    ck_assert_int_eq(vsim_deck_text(s, "d.sp", text, strlen(text), NULL, &d), VSIM_EINPUT);
    ck_assert_ptr_null(d);
    const vsim_message *m = vsim_messages(s, &n);
    ck_assert_uint_ge(n, 1);
    ck_assert_int_eq(h.n, (int)n);
    ck_assert_str_eq(m[0].file, "d.sp");
    ck_assert_int_eq(m[0].line, 3);
    ck_assert_str_eq(m[0].source, "r2 a b {x*2}");
    ck_assert_int_eq(m[0].column, 9);
    ck_assert_int_eq(m[0].severity, VSIM_ERROR);
    const uint32_t code = m[0].code;
    ck_assert_ptr_nonnull(strstr(h.text, "d.sp:3:9: error: "));
    ck_assert_ptr_nonnull(strstr(h.text, "r2 a b {x*2}\n      |         ^\n"));
    char small[8];
    const size_t all = vsim_message_format(&m[0], small, sizeof small);
    ck_assert_uint_gt(all, sizeof small);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
    ck_assert_uint_eq(vsim_message_format(&m[0], NULL, 0), all);
    text = "title\nr1 a 0 1k\nr2 a b {yy+1}\n.end\n"; /* the same fault of another name */
    ck_assert_int_eq(vsim_deck_text(s, "e.sp", text, strlen(text), NULL, &d), VSIM_EINPUT);
    m = vsim_messages(s, &n);
    ck_assert_uint_eq(m[0].code, code);
    vsim_free(&s);
}
END_TEST

START_TEST(wrong_settings_and_cards_are_told)
{
    vsim *s;
    vsim_settings set;
    vsim_run *r;
    vsim_settings_init(&set);
    set.lanes = 3;
    ck_assert_int_eq(vsim_new(&s, &set), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "lanes"));
    vsim_free(&s);
    set.lanes = 0;
    set.models = "/dev/null/models"; /* which nobody can make */
    ck_assert_int_eq(vsim_new(&s, &set), VSIM_EIO);
    vsim_free(&s);
    vsim_free(&s); /* NULL now */
    s = simulator();
    vsim_deck *d;
    ck_assert_int_eq(vsim_deck_file(s, "/nonexistent.sp", NULL, &d), VSIM_EIO);
    d = deck_of(s, divider);
    ck_assert_int_eq(vsim_run_card(d, "tran 1n", NULL, &r), VSIM_EINPUT);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(vsim_run_card(d, "r9 a b 1", NULL, &r), VSIM_EINPUT);
    ck_assert_int_eq(vsim_run_deck_card(d, 2, NULL, &r), VSIM_EINPUT);
    ck_done(s, vsim_run_card(d, "op", NULL, &r));
    ck_assert_int_eq(vsim_run_until(r, 1), VSIM_EINPUT);
    ck_assert_int_eq(vsim_deck_output(d, "/tmp/x", "jpeg"), VSIM_EINPUT);
    ck_assert_int_eq(vsim_deck_output(d, "/dev/null/x", "raw"), VSIM_EIO);
    vsim_free(&s);
}
END_TEST

/* -- the host's source -- */

/* The same corners as the pwl below, and its values by the same straight lines. */
static const double corner[][2] = {{0, 0},    {1e-6, 0},  {2e-6, 1},
                                   {5e-6, 1}, {6e-6, -1}, {20e-6, -1}};
enum { N_CORNER = 6 };

static double host_value(void *user, double t)
{
    size_t k = 1;
    (*(long *)user)++;
    while (k < N_CORNER - 1 && t > corner[k][0])
        k++;
    const double *a = corner[k - 1], *b = corner[k];
    return t >= b[0] ? b[1] : a[1] + (b[1] - a[1]) * (t - a[0]) / (b[0] - a[0]);
}

static double host_event(void *user, double t)
{
    (void)user;
    for (size_t k = 0; k < N_CORNER; k++)
        if (corner[k][0] > t)
            return corner[k][0];
    return INFINITY;
}

START_TEST(a_source_of_the_host_is_a_pwl)
{
    static const char text[] = "RLC\nv1 in 0 pwl(0 0 1u 0 2u 1 5u 1 6u -1 20u -1)\nr1 in a 10\n"
                               "l1 a out 10u\nc1 out 0 1n\nr2 out 0 1k\n.end\n";
    long n = 0;
    const vsim_host_source h = {host_value, host_event, &n};
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, text);
    vsim_run *pwl = run_of(s, d, "tran 50n 20u");
    vsim_vector t, u, v, w;
    ck_done(s, vsim_set_host_source(d, "v1", &h));
    vsim_run *own = run_of(s, d, "tran 50n 20u");
    ck_assert_int_gt(n, 100);
    ck_done(s, vsim_run_vector(pwl, "time", &t));
    ck_done(s, vsim_run_vector(own, "time", &u));
    ck_done(s, vsim_run_vector(pwl, "v(out)", &v));
    ck_done(s, vsim_run_vector(own, "v(out)", &w));
    ck_assert_uint_eq(t.n, u.n); /* values differ by rounding alone, so that steps do too */
    for (size_t i = 0; i < t.n; i++) {
        ck_assert_double_eq_tol(t.v[i], u.v[i], 1e-12 * 20e-6);
        ck_assert_double_eq_tol(v.v[i], w.v[i], 1e-9);
    }
    for (size_t k = 1; k < N_CORNER; k++) { /* steps end at the events */
        bool hit = false;
        for (size_t i = 0; i < u.n; i++)
            hit |= u.v[i] == corner[k][0];
        ck_assert_msg(hit, "no point at %g", corner[k][0]);
    }
    const uint64_t before = bits_of(pwl);
    ck_done(s, vsim_set_host_source(d, "v1", NULL));
    ck_assert_uint_eq(bits_of(run_of(s, d, "tran 50n 20u")), before);
    vsim_free(&s);
}
END_TEST

static double bad_value(void *user, double t)
{
    (void)user;
    return t > 5e-6 ? NAN : 1;
}

static double late_event(void *user, double t) { return *(const double *)user < t ? t : 1e-6; }

START_TEST(a_host_that_answers_nonsense_ends_the_run)
{
    double from = 3e-6;
    const vsim_host_source h[] = {{bad_value, NULL, NULL}, {host_value, late_event, &from}};
    for (int i = 0; i < 2; i++) {
        vsim *s = simulator();
        vsim_deck *d = deck_of(s, rectifier);
        vsim_run *r;
        long n = 0;
        vsim_host_source x = h[i];
        if (i) /* its value counts calls in another variable */
            x.value = bad_value;
        (void)n;
        ck_done(s, vsim_set_host_source(d, "v1", &x));
        ck_done(s, vsim_run_card(d, "tran 1u 20u", NULL, &r));
        ck_assert_int_eq(vsim_run_go(r), VSIM_EINPUT);
        ck_assert_ptr_nonnull(strstr(said(s), "the host's source 'v1' gives"));
        vsim_free(&s);
    }
}
END_TEST

/* -- equations -- */

static void residual(vsim *s, vsim_deck *d, const double *x, int32_t n, double *f, double *q)
{
    vsim_equations e;
    ck_done(s, vsim_equations_at(d, x, &e));
    memcpy(f, e.f, (size_t)n * sizeof *f);
    memcpy(q, e.q, (size_t)n * sizeof *q);
}

START_TEST(jacobians_are_derivatives_of_residuals)
{
    static const char text[] = "all sorts\nv1 in 0 0.7\nr1 in b 10k\nq1 c b 0 qn\nr2 vcc c 1k\n"
                               "vcc vcc 0 5\nl1 c o 1m\nc1 o 0 1n\nd1 o 0 dm\ne1 z 0 o 0 2\n"
                               "rz z 0 1k\n.model qn npn bf=100 cje=2p cjc=1p tf=1n\n"
                               ".model dm d is=1e-14 cjo=3p\n.end\n";
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, text);
    vsim_equations e;
    ck_done(s, vsim_equations_at(d, NULL, &e));
    const int32_t n = e.n;
    double *x = calloc((size_t)n + 1, sizeof *x), *g = calloc((size_t)(n * n), sizeof *g),
           *c = calloc((size_t)(n * n), sizeof *c), *f[2], *q[2];
    memcpy(x + 1, e.x, (size_t)n * sizeof *x);
    for (int32_t j = 0; j < n; j++)
        for (int32_t k = e.colptr[j]; k < e.colptr[j + 1]; k++) {
            ck_assert(k == e.colptr[j] || e.row[k] > e.row[k - 1]);
            g[e.row[k] * n + j] = e.g[k];
            c[e.row[k] * n + j] = e.c[k];
        }
    double most = 0;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, fabs(e.f[i]));
    ck_assert_double_lt(most, 1e-5); /* the operating point solves it */
    for (int k = 0; k < 2; k++) {
        f[k] = calloc((size_t)n, sizeof **f);
        q[k] = calloc((size_t)n, sizeof **q);
    }
    /* Central differences of step h: error h^2 f'''/6 (f''' = f'/vt^2 at most) and rounding. */
    const double h = 1e-6;
    for (int32_t j = 0; j < n; j++) {
        const double at = x[j + 1];
        x[j + 1] = at + h;
        residual(s, d, x, n, f[1], q[1]);
        x[j + 1] = at - h;
        residual(s, d, x, n, f[0], q[0]);
        x[j + 1] = at;
        for (int32_t i = 0; i < n; i++) {
            const double df = (f[1][i] - f[0][i]) / (2 * h), dq = (q[1][i] - q[0][i]) / (2 * h);
            ck_assert_msg(fabs(df - g[i * n + j]) <= 1e-6 * fabs(g[i * n + j]) + 1e-9,
                          "G(%d,%d): %g %g", i, j, df, g[i * n + j]);
            ck_assert_msg(fabs(dq - c[i * n + j]) <= 1e-5 * fabs(c[i * n + j]) + 1e-18,
                          "C(%d,%d): %g %g", i, j, dq, c[i * n + j]);
        }
    }
    for (int k = 0; k < 2; k++) {
        free(f[k]);
        free(q[k]);
    }
    free(x);
    free(g);
    free(c);
    vsim_free(&s);
}
END_TEST

/* -- a good guest -- */

static void silent(int sig) { (void)sig; }

START_TEST(the_hosts_thread_is_as_it_was)
{
    vsim *s = simulator();
    struct sigaction mine, now;
    memset(&mine, 0, sizeof mine);
    mine.sa_handler = silent;
    for (int sig = 1; sig < 32; sig++)
        if (sig != SIGKILL && sig != SIGSTOP && sig != SIGALRM && sig != SIGTERM && sig != SIGINT &&
            sig != SIGCHLD)
            ck_assert_int_eq(sigaction(sig, &mine, NULL), 0);
    const uint64_t want = whole(rectifier, "tran 10u 1m");
    ck_assert_int_eq(fesetround(FE_UPWARD), 0);
    feclearexcept(FE_ALL_EXCEPT);
    const uint64_t got = bits_of(run_of(s, deck_of(s, rectifier), "tran 10u 1m"));
    vsim_free(&s);
    ck_assert_int_eq(fegetround(), FE_UPWARD);
    ck_assert_int_eq(fetestexcept(FE_ALL_EXCEPT), 0);
    fesetround(FE_TONEAREST);
    ck_assert_uint_eq(got, want); /* nor does the host's rounding count */
    for (int sig = 1; sig < 32; sig++)
        if (sig != SIGKILL && sig != SIGSTOP && sig != SIGALRM && sig != SIGTERM && sig != SIGINT &&
            sig != SIGCHLD) {
            ck_assert_int_eq(sigaction(sig, NULL, &now), 0);
            ck_assert(now.sa_handler == silent);
        }
}
END_TEST

static vsim_action see_locale(void *user, const vsim_point *p)
{
    (void)p;
    *(char *)user = *localeconv()->decimal_point;
    return VSIM_GO_ON;
}

START_TEST(numbers_have_a_point_in_every_locale)
{
    char dir[] = "/tmp/vsim-locale-XXXXXX", command[200], point = 0;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             dir, dir);
    const uint64_t want = whole(rectifier, "tran 10u 1.5m");
    const bool made = !system(command);
    setenv("LOCPATH", dir, 1);
    const bool set = made && setlocale(LC_ALL, "de_DE.UTF-8");
    if (set) {
        vsim *s = simulator();
        vsim_run *r;
        vsim_run_options o;
        double v;
        vsim_run_options_init(&o);
        o.point = see_locale;
        o.user = &point;
        ck_assert_double_eq(strtod("1,5", NULL), 1.5);
        vsim_deck *d = deck_of(s, rectifier);
        ck_done(s, vsim_run_card(d, "tran 10u 1.5m", &o, &r));
        ck_done(s, vsim_run_go(r));
        ck_assert_uint_eq(bits_of(r), want);
        ck_assert_int_eq(point, ','); /* callbacks are the host's */
        ck_done(s, vsim_set_options(d, "reltol=2.5e-4"));
        ck_done(s, vsim_get_option(d, "reltol", &v));
        ck_assert_double_eq(v, 2.5e-4);
        vsim_free(&s);
        ck_assert_double_eq(strtod("1,5", NULL), 1.5);
    } else {
        printf("no locale with a comma could be made\n");
    }
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

static vsim_action call_back(void *user, const vsim_point *p)
{
    vsim_deck *d = *(vsim_deck **)user;
    vsim_run *r;
    size_t n;
    double v;
    (void)p;
    ck_assert_int_eq(vsim_unknown_find(d, "out", &n), VSIM_OK);
    ck_assert_int_eq(vsim_get_device(d, "r1", "", &v), VSIM_OK);
    ck_assert_int_eq(vsim_set_device(d, "r1", "", 2), VSIM_EINPUT);
    ck_assert_int_eq(vsim_run_card(d, "op", NULL, &r), VSIM_EINPUT);
    ck_assert_ptr_null(r);
    return VSIM_GO_ON;
}

START_TEST(callbacks_may_read_and_nothing_else)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, rectifier);
    vsim_run *r;
    vsim_run_options o;
    vsim_run_options_init(&o);
    o.point = call_back;
    o.user = &d;
    ck_done(s, vsim_run_card(d, "tran 10u 0.3m", &o, &r));
    ck_assert_int_ge(vsim_run_go(r), VSIM_EINPUT); /* its own end is not disturbed by them */
    ck_assert_uint_eq(bits_of(r), whole(rectifier, "tran 10u 0.3m"));
    vsim_free(&s);
}
END_TEST

START_TEST(decks_of_one_simulator_do_not_disturb_each_other)
{
    vsim *s = simulator();
    vsim_deck *a = deck_of(s, divider), *b = deck_of(s, rectifier);
    vsim_run *r;
    ck_done(s, vsim_run_card(b, "tran 10u 3m", NULL, &r));
    ck_assert_int_eq(vsim_run_until(r, 1e-3), VSIM_PAUSED);
    for (int i = 1; i <= 20; i++) {
        ck_done(s, vsim_set_device(a, "m1", "w", i * 1e-6));
        ck_done(s, vsim_set_param(a, "top", i * 1e3));
        ck_near(out_of(s, a), 2);
        ck_assert_int_eq(vsim_run_until(r, 1e-3 + i * 50e-6), VSIM_PAUSED);
    }
    vsim_deck_free(&a);
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(bits_of(r), whole(rectifier, "tran 10u 3m"));
    vsim_free(&s);
}
END_TEST

START_TEST(results_go_to_files_too)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, rectifier);
    char path[] = "/tmp/vsim-out-XXXXXX", line[200];
    close(mkstemp(path));
    ck_done(s, vsim_deck_output(d, path, "csv"));
    (void)run_of(s, d, "dc v1 0 1 0.5");
    ck_done(s, vsim_deck_close_output(d));
    FILE *f = fopen(path, "r");
    int n = 0;
    while (fgets(line, sizeof line, f))
        n++;
    fclose(f);
    unlink(path);
    ck_assert_int_eq(n, 4);
    vsim_free(&s);
}
END_TEST

START_TEST(nothing_is_kept_if_nothing_is_wanted)
{
    static const char *const name[] = {"v(out)"};
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, rectifier);
    vsim_run *r;
    vsim_run_options o;
    vsim_vector v;
    vsim_run_options_init(&o);
    o.keep = VSIM_KEEP_NOTHING;
    ck_done(s, vsim_run_card(d, "tran 10u 1m", &o, &r));
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(vsim_run_plot_count(r), 0);
    ck_assert_int_eq(vsim_run_vector(r, "v(out)", &v), VSIM_EINPUT);
    o.keep = VSIM_KEEP_NAMED;
    o.name = name;
    o.n_name = 1;
    ck_done(s, vsim_run_card(d, "tran 10u 1m", &o, &r));
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(vsim_plot_vector_count(vsim_run_plot(r, 0)), 2);
    vsim_free(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lib");
    TCase *t = tcase_create("lib");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, pieces_have_the_bits_of_the_whole);
    tcase_add_test(t, checkpoints_have_the_bits_of_the_whole);
    tcase_add_test(t, checkpoints_leave_digital_parts_where_they_are);
    tcase_add_test(t, checkpoints_fit_circuits_that_had_other_analyses);
    tcase_add_test(t, points_of_a_family_go_on_from_checkpoints);
    tcase_add_test(t, callbacks_pause_without_a_trace);
    tcase_add_test(t, a_stopped_run_keeps_its_points_and_lets_others_start);
    tcase_add_test(t, changes_wait_while_a_run_is_paused);
    tcase_add_test(t, a_poll_stops_a_run_and_is_not_asked_at_each_point);
    tcase_add_test(t, every_analysis_can_be_stopped_by_its_points);
    tcase_add_test(t, structs_are_the_cards);
    tcase_add_test(t, structs_are_the_cards_of_periodic_states);
    tcase_add_test(t, structs_are_the_cards_of_noise_and_scattering_on_orbits);
    tcase_add_test(t, structs_are_the_cards_of_distortion_and_mismatch);
    tcase_add_test(t, a_struct_asks_for_the_noise_of_devices);
    tcase_add_test(t, structs_of_periodic_states_are_checked);
    tcase_add_test(t, lists_name_what_there_is);
    tcase_add_test(t, parameters_of_devices_have_units_and_can_be_read);
    tcase_add_test(t, values_that_are_set_are_computed_with);
    tcase_add_test(t, temperature_and_options_count);
    tcase_add_test(t, a_waveform_that_is_set_is_that_of_a_card);
    tcase_add_test(t, a_change_that_cannot_be_built_is_taken_back);
    tcase_add_test(t, measures_are_those_of_cards);
    tcase_add_test(t, the_host_serves_files);
    tcase_add_test(t, points_of_a_family_are_runs_of_their_own);
    tcase_add_test(t, the_cache_folder_is_that_of_the_command);
    tcase_add_test(t, messages_are_records);
    tcase_add_test(t, wrong_settings_and_cards_are_told);
    tcase_add_test(t, a_source_of_the_host_is_a_pwl);
    tcase_add_test(t, a_host_that_answers_nonsense_ends_the_run);
    tcase_add_test(t, jacobians_are_derivatives_of_residuals);
    tcase_add_test(t, the_hosts_thread_is_as_it_was);
    tcase_add_test(t, numbers_have_a_point_in_every_locale);
    tcase_add_test(t, callbacks_may_read_and_nothing_else);
    tcase_add_test(t, decks_of_one_simulator_do_not_disturb_each_other);
    tcase_add_test(t, results_go_to_files_too);
    tcase_add_test(t, nothing_is_kept_if_nothing_is_wanted);
    suite_add_tcase(suite, t);
    SRunner *r = srunner_create(suite);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
