/* The library as a host sees it: analyses from structs are those of cards. */
#include "deck.h"

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

int main(void)
{
    const TTest *const all[] = {structs_are_the_cards,
                                structs_are_the_cards_of_periodic_states,
                                structs_are_the_cards_of_noise_and_scattering_on_orbits,
                                structs_are_the_cards_of_distortion_and_mismatch,
                                a_struct_asks_for_the_noise_of_devices,
                                structs_of_periodic_states_are_checked};
    return run_tests("lib/structs", all, sizeof all / sizeof *all);
}
