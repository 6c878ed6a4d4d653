/* Small-signal analyses of whole decks against closed forms. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "sim.h"

#include <complex.h>
#undef complex /* a name in headers */

typedef double _Complex cplx;

static const double boltzmann = 1.38064852e-23,
                    charge = 1.6021766208e-19; /* of models/include/spice.vams */
static const double kelvin = 300.15;

static diag d;
static str_pool names;
static sim *s;
static mdl_lib *lib;

static void setup(void)
{
    diag_init(&d);
    str_pool_init(&names);
    s = sim_new(&d, &names);
    ck_assert_ptr_nonnull(s);
    sim_opts(s)->keep = SIM_KEEP_ALL;
    const mdl_opt mo = {.interpret = true};
    ck_assert_int_eq(mdl_lib_new(&lib, &d, &names, &mo), VS_OK);
    sim_opts(s)->lib = lib;
}

static void teardown(void)
{
    sim_free(&s);
    mdl_lib_free(&lib);
    str_pool_fini(&names);
    diag_fini(&d);
}

/* Runs the analyses of a deck; the status of the last. */
static vs_status run(const char *text)
{
    char path[] = "/tmp/vsim-small-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *fp = fdopen(fd, "w");
    fprintf(fp, "deck\n%s\n.end\n", text);
    fclose(fp);
    const net_opt no = {0};
    vs_status st = sim_read(s, path, &no);
    unlink(path);
    if (!st)
        st = sim_read_options(s);
    if (!st)
        st = sim_flatten(s);
    size_t n;
    const flat_ana *todo = sim_todo(s, &n);
    for (size_t i = 0; i < n && !st; i++)
        st = sim_run(s, &todo[i]);
    return st;
}

static void must_run(const char *text)
{
    const vs_status st = run(text);
    for (size_t i = 0; i < vec_len(d.msg); i++)
        printf("%s\n", d.msg[i].text);
    ck_assert_int_eq(st, VS_OK);
}

/* Runs a deck with a Verilog-A module; deck: with one %s, for the module's file. */
static void run_module(const char *module, const char *deck)
{
    char path[] = "/tmp/vsim-small-XXXXXX.va", text[512];
    FILE *fp = fdopen(mkstemps(path, 3), "w");
    fputs(module, fp);
    fclose(fp);
    snprintf(text, sizeof text, deck, path);
    must_run(text);
    unlink(path);
}

static bool said(const char *text)
{
    for (size_t i = 0; i < vec_len(d.msg); i++)
        if (strstr(d.msg[i].text, text))
            return true;
    return false;
}

static const post_vec *vector(const char *name)
{
    const post_vec *v = post_plot_find(sim_plots(s)->current, name);
    ck_assert_msg(v != NULL, "no vector %s", name);
    return v;
}

static cplx value(const char *name, int64_t k)
{
    const post_vec *v = vector(name);
    ck_assert_int_lt(k, v->n);
    return v->complex ? v->v[2 * k] + I * v->v[2 * k + 1] : v->v[k];
}

static double real(const char *name) { return creal(value(name, 0)); }

static int64_t points(const char *name) { return vector(name)->n; }

static void check_near(cplx a, cplx b, double rel, const char *text)
{
    ck_assert_msg(cabs(a - b) <= rel * cabs(b), "%s: %.12g %+.12gj, not %.12g %+.12gj", text,
                  creal(a), cimag(a), creal(b), cimag(b));
}
#define assert_near(a, b, rel) check_near(a, b, rel, #a)

/* -- ac -- */

START_TEST(series_resonance_has_its_transfer_function)
{
    must_run("V1 in 0 dc 1 ac 2 30\nR1 in a 50\nL1 a b 10u\nC1 b 0 1n\n.ac dec 20 100k 100meg");
    ck_assert_int_eq(points("frequency"), 61);
    for (int64_t k = 0; k < 61; k++) {
        const cplx w = 2 * M_PI * creal(value("frequency", k)) * I, e = 2 * cexp(I * M_PI / 6);
        const cplx i = e / (50 + w * 10e-6 + 1 / (w * 1e-9));
        assert_near(value("v(b)", k), i / (w * 1e-9), 1e-12);
        assert_near(value("i(v1)", k), -i, 1e-12);
        assert_near(value("i(l1)", k), i, 1e-12);
    }
}
END_TEST

START_TEST(grids_are_those_of_ngspice)
{
    must_run("V1 a 0 ac 1\nR1 a 0 1\n.ac dec 3 1 5");
    ck_assert_int_eq(points("frequency"), 3); /* the step is stretched to the end */
    assert_near(value("frequency", 1), sqrt(5), 1e-12);
    assert_near(value("frequency", 2), 5, 1e-12);
}
END_TEST

START_TEST(octaves_keep_their_step)
{
    must_run("V1 a 0 ac 1\nR1 a 0 1\n.ac oct 2 1 5");
    ck_assert_int_eq(points("frequency"), 5);
    assert_near(value("frequency", 4), 4, 1e-12);
}
END_TEST

START_TEST(a_floating_node_is_named)
{
    ck_assert_int_eq(
        run("I1 0 a dc 0 ac 1\nL1 a 0 1u\nC1 b c 1p\nL2 b c 1u\nV1 c 0 0\nV2 d e 0\nG1 d e d e 1\n"
            "R1 a 0 1k\n.options gmin=1e-12\n.ac lin 1 1 1"),
        VS_OK);
    ck_assert(said("'d'") || said("'e'"));
}
END_TEST

START_TEST(a_sweep_chooses_pivots_once)
{
    must_run(
        "V1 n0 0 ac 1\nR1 n0 n1 1k\nC1 n1 0 1n\nR2 n1 n2 1k\nC2 n2 0 1n\nR3 n2 n3 2k\nC3 n3 0 2n\n"
        ".ac dec 100 1k 1meg");
    ck_assert_int_eq(points("frequency"), 301);
    ck_assert_int_le(ana_stats(sim_ana(s))->n_factor, 8);
}
END_TEST

START_TEST(expressions_know_the_frequency)
{
    must_run(
        "V1 in 0 ac 1\nR0 in 0 1k\nB1 out 0 v=v(in)/(1+hertz/1k)\nR1 out 0 1k\n.ac lin 3 1k 3k");
    for (int64_t k = 0; k < 3; k++)
        assert_near(value("v(out)", k), 1.0 / (double)(k + 2), 1e-12);
}
END_TEST

/* -- noise -- */

START_TEST(noise_of_rc_is_kt_over_c)
{
    must_run("V1 in 0 ac 1\nR1 in out 1k\nC1 out 0 1p\n.noise v(out) V1 dec 50 1 1e13 1");
    assert_near(real("onoise_total"), sqrt(boltzmann * kelvin / 1e-12), 1e-4);
    assert_near(real("onoise_total_r1"), real("onoise_total"), 1e-12);
    sim_plots(s)->current = sim_plots(s)->plot[0];
    for (int64_t k = 0; k < points("frequency"); k += 50) {
        const double x = 2 * M_PI * creal(value("frequency", k)) * 1e-9;
        assert_near(value("onoise_spectrum", k), sqrt(4 * boltzmann * kelvin * 1e3 / (1 + x * x)),
                    1e-6);
        assert_near(value("inoise_spectrum", k), sqrt(4 * boltzmann * kelvin * 1e3), 1e-6);
        assert_near(value("onoise_r1_thermal", k), value("onoise_spectrum", k), 1e-12);
    }
}
END_TEST

START_TEST(noise_of_two_resistors_adds_in_power)
{
    must_run("I1 0 a ac 1\nR1 a 0 1k\nR2 a 0 4k\n.noise v(a) I1 lin 2 1k 2k 1");
    sim_plots(s)->current = sim_plots(s)->plot[0];
    const double r = 800, n1 = r * sqrt(4 * boltzmann * kelvin / 1e3),
                 n2 = r * sqrt(4 * boltzmann * kelvin / 4e3);
    assert_near(value("onoise_r1", 0), n1, 1e-6);
    assert_near(value("onoise_r2", 0), n2, 1e-6);
    assert_near(value("onoise_spectrum", 0), hypot(n1, n2), 1e-6);
    assert_near(value("inoise_spectrum", 0), hypot(n1, n2) / r, 1e-6);
}
END_TEST

/* Transistors in saturation, one for each nlev, the first without: the density at 100 Hz from id
 * and gm. */
START_TEST(flicker_noise_of_nlev)
{
    const double cox = 3.9 * 8.854187817e-12 / 20e-9, w = 8e-6, l = 2e-6, f = 100, kf = 1e-24,
                 af = 1.2;
    const double vov = 0.8, gm = 50e-6 * w / l * vov, id = 0.5 * gm * vov, p = kf * pow(id, af);
    const double of_gm = kf * gm * gm / (w * l * cox * pow(f, af));
    const double want[] = {p / (w * l * cox * cox * f), p / (l * l * cox * f),
                           p / (w * l * cox * f), of_gm, of_gm};
#define N_(k, nlev)                               \
    "M" k " x g 0 0 n" k " w=8u l=2u\n.model n" k \
    " nmos vto=0.7 kp=50u tox=20n kf=1e-24 af=1.2 " nlev "\n"
    must_run("VD x1 0 3\nVG g 0 dc 1.5 ac 1\nR1 x1 x 1\n" N_("1", "") N_("2", "nlev=0") N_(
        "3", "nlev=1") N_("4", "nlev=2") N_("5", "nlev=3") ".noise v(x) VG lin 1 100 100 1");
#undef N_
    sim_plots(s)->current = sim_plots(s)->plot[0];
    for (int k = 0; k < 5; k++) {
        char name[32];
        snprintf(name, sizeof name, "onoise_m%d_1overf", k + 1);
        assert_near(value(name, 0), sqrt(want[k]), 1e-4);
    }
}
END_TEST

/* Collector current 1 mA from a current source at the emitter of an ideal transistor: shot noise of
 * the collector, the load's, and the base's through its resistor. */
START_TEST(noise_of_a_transistor_stage)
{
    must_run(".model qn npn is=1e-16 bf=1e6\nVCC vcc 0 10\nV1 b 0 dc 0.8 ac 1\nRC vcc c 1k\nQ1 c b "
             "0 qn\n"
             ".noise v(c) V1 lin 1 1k 1k 1\n.op\n.save v(c) @q1[ic] @q1[gm]");
    const double ic = real("@q1[ic]"), gm = real("@q1[gm]");
    sim_plots(s)->current = sim_plots(s)->plot[0];
    const double thermal = 4 * boltzmann * kelvin / 1e3, shot = 2 * charge * ic;
    assert_near(value("onoise_q1_ic", 0), 1e3 * sqrt(shot), 1e-5);
    assert_near(value("onoise_spectrum", 0), 1e3 * sqrt(shot + thermal), 1e-5);
    assert_near(value("inoise_spectrum", 0), sqrt(shot + thermal) / gm, 1e-4);
}
END_TEST

/* One source through an internal node into two branches: amplitudes add with their signs. */
START_TEST(correlated_noise_adds_in_amplitude)
{
    run_module(
        "`include \"disciplines.vams\"\nmodule corr(a, b);\n  inout a, b; electrical a, b, x;\n  "
        "analog begin\n"
        "    I(x) <+ V(x) + white_noise(1e-18, \"common\");\n    I(a) <+ 3.0 * V(x);\n    I(b) <+ "
        "-2.0 * V(x);\n"
        "    I(b) <+ ddt(1n * V(x));\n    I(a) <+ white_noise(4e-18, \"own\");\n  end\nendmodule\n",
        ".hdl \"%s\"\n.model m corr\nN1 a b m\nG1 a 0 a 0 1\nG2 b 0 b 0 1\nI1 0 a ac 1\n"
        ".noise v(a,b) I1 lin 1 1meg 1meg 1");
    sim_plots(s)->current = sim_plots(s)->plot[0];
    const double w = 2 * M_PI * 1e6;
    assert_near(value("onoise_n1_common", 0), 1e-9 * hypot(5, w * 1e-9), 1e-9);
    assert_near(value("onoise_n1_own", 0), 2e-9, 1e-9);
    assert_near(value("onoise_n1", 0), 1e-9 * hypot(hypot(5, w * 1e-9), 2), 1e-9);
}
END_TEST

/* A contribution to the potential discards what the branch had of flow, its noise too, whether the
 * parameter decides (n1) or a voltage (n2); n3 stays a source of current. */
START_TEST(noise_of_a_branch_that_becomes_a_voltage_source_is_none)
{
    run_module(
        "`include \"disciplines.vams\"\nmodule taken(a, o, k);\n  inout a, o, k; electrical a, o, "
        "k;\n  branch (a) br;\n  parameter integer s = 0;\n  analog begin\n"
        "    I(br) <+ white_noise(1e-18, \"w\");\n"
        "    if (s == 1 || V(k) > 0.5) V(br) <+ 0.0;\n    I(o) <+ -2.0 * I(br);\n"
        "  end\nendmodule\n",
        ".hdl \"%s\"\n.model m taken\n.model v taken s=1\nN1 a b 0 v\nN2 c b k m\nN3 e b 0 m\n"
        "Vk k 0 1\nGa a 0 a 0 1\nGc c 0 c 0 1\nGe e 0 e 0 1\nGb b 0 b 0 1\nI1 0 b ac 1\n"
        ".noise v(b) I1 lin 1 1meg 1meg 1");
    sim_plots(s)->current = sim_plots(s)->plot[0];
    assert_near(value("onoise_n2_w", 0), 0, 0);
    assert_near(value("onoise_n3_w", 0), 2e-9, 1e-9);
    assert_near(value("onoise_spectrum", 0), 2e-9, 1e-9);
}
END_TEST

START_TEST(summaries_thin_the_spectrum)
{
    must_run("V1 in 0 ac 1\nR1 in out 1k\nC1 out 0 1p\n.noise v(out) V1 lin 11 1 101 5");
    sim_plots(s)->current = sim_plots(s)->plot[0];
    ck_assert_int_eq(points("frequency"), 3);
    assert_near(value("frequency", 1), 51, 1e-12);
}
END_TEST

/* -- tf, sens -- */

START_TEST(transfer_function_of_an_attenuator)
{
    must_run("V1 in 0 1\nR1 in out 1k\nR2 out 0 3k\n.tf v(out) V1");
    assert_near(real("transfer_function"), 0.75, 1e-12);
    assert_near(real("output_impedance_at_v(out)"), 750, 1e-12);
    assert_near(real("v1#input_impedance"), 4000, 1e-12);
}
END_TEST

START_TEST(transfer_function_of_a_current)
{
    must_run("I1 0 a 1m\nR1 a b 1k\nV2 b 0 0\nR2 a 0 1k\n.tf i(V2) I1");
    assert_near(real("transfer_function"), 0.5, 1e-12);
    assert_near(real("i1#input_impedance"), 500, 1e-12);
    assert_near(real("v2#output_impedance"), 2000, 1e-12);
}
END_TEST

START_TEST(sensitivities_of_a_divider)
{
    must_run("V1 in 0 10\nR1 in out 1k tc1=1m\nR2 out 0 3k\n.temp 37\n.sens v(out)");
    const double r1 = 1e3 * 1.01,
                 sum = r1 + 3e3; /* of the effective resistance at 10 degrees above tnom */
    assert_near(real("r1"), -10 * 3e3 / (sum * sum) * 1.01, 1e-8);
    assert_near(real("r2"), 10 * r1 / (sum * sum), 1e-8);
    assert_near(real("r1_tc1"), -10 * 3e3 / (sum * sum) * 1e3 * 10, 1e-7);
    assert_near(real("v1"), 3e3 / sum, 1e-12);
}
END_TEST

/* The adjoint's answer for a transistor's parameters is the difference of two operating points. */
START_TEST(sensitivities_of_a_transistor_are_differences)
{
    static const char deck[] =
        ".model qn npn is=1e-16 bf=%.9g vaf=%.9g\nVCC vcc 0 10\nR1 vcc b 470k\nRC vcc c 2k\n"
        "Q1 c b 0 qn\n.options reltol=1e-9 vntol=1e-13 abstol=1e-18\n%s";
    char text[512];
    double v[4], bf, vaf;
    snprintf(text, sizeof text, deck, 100.0, 50.0, ".sens v(c)");
    must_run(text);
    bf = real("q1_bf");
    vaf = real("q1_vaf");
    for (int k = 0; k < 4; k++) {
        teardown();
        setup();
        snprintf(text, sizeof text, deck, 100.0 + (k < 2 ? 0.01 * (k ? 1 : -1) : 0),
                 50.0 + (k >= 2 ? 0.01 * (k == 3 ? 1 : -1) : 0), ".op");
        must_run(text);
        v[k] = real("v(c)");
    }
    assert_near(bf, (v[1] - v[0]) / 0.02, 1e-5);
    assert_near(vaf, (v[3] - v[2]) / 0.02, 1e-5);
}
END_TEST

START_TEST(ac_sensitivities_of_a_low_pass)
{
    must_run("V1 in 0 ac 1 45\nR1 in out 1k\nC1 out 0 1n\n.sens v(out) ac lin 2 100k 200k");
    for (int64_t k = 0; k < 2; k++) {
        const cplx w = 2 * M_PI * (k + 1) * 1e5 * I, e = cexp(I * M_PI / 4), h = 1 / (1 + w * 1e-6);
        assert_near(value("r1", k), -e * h * h * w * 1e-9, 1e-7);
        assert_near(value("c1", k), -e * h * h * w * 1e3, 1e-7);
        assert_near(value("v1_acmag", k), e * h, 1e-12);
    }
}
END_TEST

/* -- pz -- */

static int count(const char *kind)
{
    int n = 0;
    for (size_t i = 0; i < vec_len(sim_plots(s)->current->vec); i++)
        n += !strncmp(sim_plots(s)->current->vec[i]->name, kind, strlen(kind));
    return n;
}

START_TEST(poles_of_a_ladder_over_twelve_decades)
{
    /* decoupled sections: poles at 1 / (R C) exactly */
    must_run("V1 in 0 ac 1\nR1 in a 1\nC1 a 0 1\nE1 b 0 a 0 1\nR2 b c 1k\nC2 c 0 1u\nE2 d 0 c 0 "
             "1\nR3 d out 1\n"
             "C3 out 0 1p\n.pz in 0 out 0 vol pz");
    ck_assert_int_eq(count("pole"), 3);
    ck_assert_int_eq(count("zero"), 0);
    assert_near(value("pole(1)", 0), -1, 1e-10);
    assert_near(value("pole(2)", 0), -1e3, 1e-10);
    assert_near(value("pole(3)", 0), -1e12, 1e-10);
}
END_TEST

START_TEST(conjugate_poles_and_a_zero_at_the_origin)
{
    must_run("I1 0 a ac 1\nR1 a 0 1k\nL1 a 0 1m\nC1 a 0 1n\n.pz a 0 a 0 cur pz");
    const double re = -1 / (2 * 1e3 * 1e-9);
    const double im = sqrt(1 / (1e-3 * 1e-9) - re * re);
    ck_assert_int_eq(count("pole"), 2);
    ck_assert_int_eq(count("zero"), 1);
    assert_near(value("pole(1)", 0), re + I * im, 1e-12);
    assert_near(value("pole(2)", 0), re - I * im, 1e-12);
    ck_assert_double_eq(cabs(value("zero(1)", 0)), 0);
}
END_TEST

START_TEST(a_triple_pole_is_three_poles)
{
    must_run("V1 in 0 ac 1\nR1 in a 1k\nC1 a 0 1n\nE1 b 0 a 0 1\nR2 b c 1k\nC2 c 0 1n\nE2 d 0 c 0 "
             "1\nR3 d out 1k\n"
             "C3 out 0 1n\n.pz in 0 out 0 vol pol");
    ck_assert_int_eq(count("pole"), 3);
    for (int k = 1; k <= 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "pole(%d)", k);
        assert_near(value(name, 0), -1e6,
                    1e-4); /* a root of order 3 moves by the cube root of rounding */
    }
}
END_TEST

/* A capacitor across a voltage source has no pole; a right half-plane zero through a controlled
 * source. */
START_TEST(loops_of_capacitors_and_right_half_plane_zeros)
{
    must_run("V1 in 0 ac 1\nC0 in 0 1u\nR1 in a 1k\nC1 a 0 1n\nC2 a out 100p\nG1 out 0 a 0 1m\nR2 "
             "out 0 10k\n"
             ".pz in 0 out 0 vol pz");
    ck_assert_int_eq(count("pole"), 2);
    ck_assert_int_eq(count("zero"), 1);
    assert_near(value("zero(1)", 0), 1e-3 / 100e-12, 1e-10);
    /* s^2 r1 r2 c1 c2 + s (r1 (c1 + c2) + r2 c2 + g r1 r2 c2) + 1 */
    const double a = 1e3 * 1e4 * 1e-9 * 1e-10,
                 b = 1e3 * 1.1e-9 + 1e4 * 1e-10 + 1e-3 * 1e3 * 1e4 * 1e-10;
    const double root = sqrt(b * b - 4 * a);
    assert_near(value("pole(1)", 0), -2 / (b + root), 1e-10);
    assert_near(value("pole(2)", 0), -(b + root) / (2 * a), 1e-10);
}
END_TEST

/* Butterworth low-pass of order 5 between 50 ohm, 10 MHz. */
START_TEST(butterworth_poles_lie_on_a_circle)
{
    const double w = 2 * M_PI * 1e7, g[] = {0.618033988749895, 1.618033988749895, 2,
                                            1.618033988749895, 0.618033988749895};
    char text[512];
    snprintf(text, sizeof text,
             "I1 0 1 ac 1\nRS 1 0 50\nC1 1 0 %.15g\nL2 1 2 %.15g\nC3 2 0 %.15g\nL4 2 3 %.15g\n"
             "C5 3 0 %.15g\nRL 3 0 50\n.pz 1 0 3 0 cur pz",
             g[0] / (w * 50), g[1] * 50 / w, g[2] / (w * 50), g[3] * 50 / w, g[4] / (w * 50));
    must_run(text);
    ck_assert_int_eq(count("pole"), 5);
    ck_assert_int_eq(count("zero"), 0);
    for (int k = 1; k <= 5; k++) {
        char name[16];
        snprintf(name, sizeof name, "pole(%d)", k);
        const cplx p = value(name, 0) / w;
        ck_assert_double_eq_tol(cabs(p), 1, 1e-9);
        ck_assert_double_lt(cabs(cpow(p, 10) - 1), 1e-7); /* -(-p^2)^5 = -1 */
    }
}
END_TEST

/* -- sp -- */

START_TEST(s_parameters_of_a_pi_attenuator)
{
    must_run("V1 a 0 dc 0 ac 1 portnum 1 z0 50\nV2 b 0 dc 0 portnum 2 z0 50\nR1 a 0 96.25\nR2 a b "
             "71.15\n"
             "R3 b 0 96.25\n.sp lin 2 1meg 2meg donoise");
    const double y11 = 1 / 96.25 + 1 / 71.15, y12 = -1 / 71.15, y = 0.02;
    const double den = (y + y11) * (y + y11) - y12 * y12;
    assert_near(value("s_1_1", 1), ((y - y11) * (y + y11) + y12 * y12) / den, 1e-9);
    assert_near(value("s_2_1", 1), -2 * y * y12 / den, 1e-12);
    assert_near(value("y_1_1", 0), y11, 1e-10);
    assert_near(value("y_2_1", 0), y12, 1e-10);
    assert_near(value("z_1_2", 0), -y12 / (y11 * y11 - y12 * y12), 1e-10);
    /* a passive network at temperature T: Cy = 4 k T Re Y */
    assert_near(value("cy_1_1", 0), 4 * boltzmann * kelvin * y11, 1e-6);
    assert_near(value("cy_1_2", 0), 4 * boltzmann * kelvin * y12, 1e-6);
    /* a matched attenuator of loss L: F = 1 + (L - 1) T / T0 */
    const double s21 = creal(value("s_2_1", 0)), s11 = creal(value("s_1_1", 0));
    const double gain =
        s21 * s21 / (1 - s11 * s11); /* available, S11 = S22 and the source matched */
    assert_near(value("nf", 0), 10 * log10(1 + (1 / gain - 1) * kelvin / 290), 1e-4);
}
END_TEST

START_TEST(ports_of_different_impedance)
{
    must_run("V1 a 0 dc 0 ac 1 portnum 1 z0 50\nV2 b 0 dc 0 portnum=2 z0=100\nR1 a b 25\n.sp dec 1 "
             "1meg 10meg");
    assert_near(value("s_1_1", 0), (125.0 - 50) / 175, 1e-12);
    assert_near(value("s_2_2", 0), (75.0 - 100) / 175, 1e-12);
    assert_near(value("s_2_1", 0), 2 * sqrt(50.0 * 100) / 175, 1e-12);
}
END_TEST

START_TEST(touchstone_has_one_reference)
{
    char path[] = "/tmp/vsim-small-XXXXXX", file[64], line[256];
    close(mkstemp(path));
    sim_opts(s)->touchstone = path;
    must_run("V1 a 0 dc 0 ac 1 portnum 1 z0 50\nV2 b 0 dc 0 portnum 2 z0 100\nR1 a b 25\n.sp lin 1 "
             "1meg 1meg");
    snprintf(file, sizeof file, "%s.s2p", path);
    FILE *fp = fopen(file, "r");
    ck_assert(fp != NULL);
    double f = 0, v[8] = {0};
    bool option = false;
    while (fgets(line, sizeof line, fp)) {
        option |= !strcmp(line, "# Hz S RI R 50\n");
        if (line[0] != '!' && line[0] != '#')
            ck_assert_int_eq(sscanf(line, "%lf %lf %lf %lf %lf %lf %lf %lf %lf", &f, v, v + 1,
                                    v + 2, v + 3, v + 4, v + 5, v + 6, v + 7),
                             9);
    }
    fclose(fp);
    unlink(file);
    unlink(path);
    ck_assert(option);
    ck_assert_double_eq(f, 1e6);
    ck_assert_double_eq_tol(v[0], 25.0 / 125,
                            1e-9); /* a series resistor between 50 ohm on both sides */
    ck_assert_double_eq_tol(v[2], 100.0 / 125, 1e-9);
    ck_assert_double_eq_tol(v[6], 25.0 / 125, 1e-9);
}
END_TEST

/* -- values inside devices -- */

START_TEST(details_of_devices_are_vectors)
{
    must_run(".model dm d is=1e-14\nV1 in 0 dc 5 ac 1\nR1 in a 1k\nD1 a 0 dm\n.save v(a) @r1[i] "
             "@d1[gd] @v1[i] @r1[r]\n"
             ".dc V1 1 5 1");
    for (int64_t k = 0; k < 5; k++) {
        const double v = creal(value("v(a)", k)), i = ((double)k + 1 - v) / 1e3;
        assert_near(value("@r1[i]", k), i, 1e-12);
        assert_near(value("@v1[i]", k), -i, 1e-3);
        assert_near(value("@d1[gd]", k), i / (boltzmann / charge * kelvin), 1e-3);
        assert_near(value("@r1[r]", k), 1e3, 1e-15);
    }
}
END_TEST

START_TEST(sweep_over_a_resistor)
{
    must_run("V1 in 0 1\nR1 in out 1k\nR2 out 0 1k\n.dc R2 1k 3k 1k V1 1 2 1");
    ck_assert_int_eq(points("v(out)"), 6);
    assert_near(value("v(out)", 2), 0.75, 1e-12);
    assert_near(value("v(out)", 5), 1.5, 1e-12);
}
END_TEST

START_TEST(sweep_over_a_parameter_of_an_element)
{
    must_run("V1 in 0 1\nR1 in out 1k\nR2 out 0 1k tc1=0\n.temp 127\n.dc r2[tc1] 0 10m 5m");
    ck_assert_int_eq(points("v(out)"), 3);
    assert_near(value("v(out)", 2), 2.0 / 3, 1e-12);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim/small");
    TCase *t = tcase_create("small");
    tcase_set_timeout(t, TEST_PATIENCE);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, series_resonance_has_its_transfer_function);
    tcase_add_test(t, grids_are_those_of_ngspice);
    tcase_add_test(t, octaves_keep_their_step);
    tcase_add_test(t, a_floating_node_is_named);
    tcase_add_test(t, a_sweep_chooses_pivots_once);
    tcase_add_test(t, expressions_know_the_frequency);
    tcase_add_test(t, noise_of_rc_is_kt_over_c);
    tcase_add_test(t, noise_of_two_resistors_adds_in_power);
    tcase_add_test(t, flicker_noise_of_nlev);
    tcase_add_test(t, noise_of_a_transistor_stage);
    tcase_add_test(t, correlated_noise_adds_in_amplitude);
    tcase_add_test(t, noise_of_a_branch_that_becomes_a_voltage_source_is_none);
    tcase_add_test(t, summaries_thin_the_spectrum);
    tcase_add_test(t, transfer_function_of_an_attenuator);
    tcase_add_test(t, transfer_function_of_a_current);
    tcase_add_test(t, sensitivities_of_a_divider);
    tcase_add_test(t, sensitivities_of_a_transistor_are_differences);
    tcase_add_test(t, ac_sensitivities_of_a_low_pass);
    tcase_add_test(t, poles_of_a_ladder_over_twelve_decades);
    tcase_add_test(t, conjugate_poles_and_a_zero_at_the_origin);
    tcase_add_test(t, a_triple_pole_is_three_poles);
    tcase_add_test(t, loops_of_capacitors_and_right_half_plane_zeros);
    tcase_add_test(t, butterworth_poles_lie_on_a_circle);
    tcase_add_test(t, s_parameters_of_a_pi_attenuator);
    tcase_add_test(t, ports_of_different_impedance);
    tcase_add_test(t, touchstone_has_one_reference);
    tcase_add_test(t, details_of_devices_are_vectors);
    tcase_add_test(t, sweep_over_a_resistor);
    tcase_add_test(t, sweep_over_a_parameter_of_an_element);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
