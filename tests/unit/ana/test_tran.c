/* Tests of the transient on the mock circuit: exact solutions, order, corners, rejection, messages.
 */
#include <check.h>
#include <malloc.h>

#include "../suite.h"
#include "ana.h"
#include "ana_priv.h"
#include "mock_ckt.h"

static ckt c;
static diag d;
static option_set opt;
static ana *a;

typedef struct record {
    int n;
    int32_t unknown;
    double t[20000], v[20000];
    int alloc_at; /* heap in use at this point and at the last */
    size_t heap_then, heap_last;
    int stop_at;
} record;
static record rec;

static vs_status keep(void *user, double t, const double *x)
{
    record *r = user;
    ck_assert_int_lt(r->n, 20000);
    r->t[r->n] = t;
    r->v[r->n++] = x[r->unknown];
    if (r->n == r->alloc_at)
        r->heap_then = mallinfo2().uordblks;
    r->heap_last = mallinfo2().uordblks;
    return VS_OK;
}
static bool stop(void *user)
{
    record *r = user;
    return r->stop_at && r->n >= r->stop_at;
}

static void setup(void)
{
    memset(&c, 0, sizeof c);
    memset(&rec, 0, sizeof rec);
    diag_init(&d);
    option_default(&opt);
    a = NULL;
}
static void teardown(void)
{
    ana_free(&a);
    mock_drop(&c);
    diag_fini(&d);
}
static vs_status run(const char *node, ana_tran_opt o)
{
    if (!c.a.colptr)
        mock_finish(&c);
    ana_free(&a);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_OK);
    rec.n = 0;
    rec.unknown = mock_node(&c, node);
    ana_sink sink = {.point = keep, .stop = stop, .user = &rec};
    return ana_tran(a, &o, &sink);
}
static bool said(const char *text)
{
    for (size_t i = 0; i < vec_len(d.msg); i++)
        if (strstr(d.msg[i].text, text))
            return true;
    return false;
}
static bool has_point(double t)
{
    for (int i = 0; i < rec.n; i++)
        if (rec.t[i] == t)
            return true;
    return false;
}

/* 1 kOhm, 1 uF behind a sine of 1 V, 200 Hz; and its exact voltage from rest. */
static const double W = 6.283185307179586 * 200, TAU = 1e-3;
static void rc_sine(void)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 0)->w = (mock_wave){.amp = 1, .freq = 200};
    mock_add(&c, MOCK_R, "r1", "in", "out", 1e3);
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-6);
}
static double rc_sine_exact(double t)
{
    double k = 1 / (1 + W * W * TAU * TAU);
    return k * (sin(W * t) - W * TAU * cos(W * t) + W * TAU * exp(-t / TAU));
}
static double worst_error(double (*exact)(double))
{
    double worst = 0;
    for (int i = 0; i < rec.n; i++)
        worst = fmax(worst, fabs(rec.v[i] - exact(rec.t[i])));
    return worst;
}
/* Error at steps of h: truncation never limits. */
static double error_with_step(double h)
{
    opt.trtol = 1e9;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = h, .tstop = 10e-3, .tmax = h}), VS_OK);
    return worst_error(rc_sine_exact);
}

/* Points of a run of rc_sine beside a node `in2` of 1 mV and 20 kHz, 1 ohm and 10 nF. */
static int points_beside_small(bool inside)
{
    memset(&c, 0, sizeof c);
    rc_sine();
    mock_add(&c, MOCK_I, "i2", "0", "in2", 0)->w = (mock_wave){.amp = 1e-3, .freq = 20e3};
    mock_add(&c, MOCK_R, "r2", "in2", "0", 1);
    mock_add(&c, MOCK_C, "c2", "in2", "0", 10e-9);
    mock_add(&c, MOCK_R, "m1", "out", "in2", 1e9);
    c.u[mock_node(&c, "in2")].internal = inside;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-4, .tstop = 10e-3, .tmax = 1e-4}),
                     VS_OK);
    ck_assert_double_le(worst_error(rc_sine_exact), 2e-3);
    ana_free(&a);
    mock_drop(&c);
    return rec.n;
}

/* The tolerance of a node of 1 mV is 1e-3 of that, inside of a device at a node of 0.6 V 1e-3 of a
 * tenth of it, sixty times as much: steps are 60^(1/3) = 4 times as long. */
START_TEST(a_small_voltage_inside_of_a_device_is_judged_by_the_others)
{
    const int outside = points_beside_small(false), inside = points_beside_small(true);
    ck_assert_int_lt(2 * inside, outside);
}
END_TEST

/* Points of a run with 1 uF at two sources in series: 1 V and 200 Hz; amp and 20 kHz, whose part of
 * the current is 100 times that of the voltage. */
static int points_of_current(double amp)
{
    memset(&c, 0, sizeof c);
    mock_add(&c, MOCK_V, "v1", "n1", "0", 0)->w = (mock_wave){.amp = 1, .freq = 200};
    mock_add(&c, MOCK_V, "v2", "in", "n1", 0)->w = (mock_wave){.amp = amp, .freq = 20e3};
    mock_add(&c, MOCK_C, "c1", "in", "0", 1e-6);
    ck_assert_int_eq(run("in", (ana_tran_opt){.tstep = 1e-4, .tstop = 4e-3, .tmax = 1e-4}), VS_OK);
    ana_free(&a);
    mock_drop(&c);
    return rec.n;
}

/* A thousandth of the largest is its tolerance, whatever reltol is. */
START_TEST(a_current_without_memory_is_followed_to_a_thousandth)
{
    opt.reltol = 1e-5;
    const int smooth = points_of_current(0);
    ck_assert_int_lt(points_of_current(1e-6), 2 * smooth); /* 1e-4 of the current */
    ck_assert_int_gt(points_of_current(1e-3), 2 * smooth); /* a tenth */
}
END_TEST

/* The same two currents, each from a source of its own: the small one has no say. */
START_TEST(a_current_that_is_nothing_beside_another_is_not_followed)
{
    static const double other[] = {1e-9, 1e-6}; /* farad at a source of 1 V, 200 Hz */
    int points[2];
    opt.reltol = 1e-5;
    for (int k = 0; k < 2; k++) {
        memset(&c, 0, sizeof c);
        mock_add(&c, MOCK_V, "v1", "n1", "0", 0)->w = (mock_wave){.amp = 1, .freq = 200};
        mock_add(&c, MOCK_C, "c1", "n1", "0", other[k]);
        mock_add(&c, MOCK_V, "v2", "in", "0", 0)->w = (mock_wave){.amp = 1e-6, .freq = 20e3};
        mock_add(&c, MOCK_C, "c2", "in", "0", 1e-6);
        ck_assert_int_eq(run("n1", (ana_tran_opt){.tstep = 1e-4, .tstop = 4e-3, .tmax = 1e-4}),
                         VS_OK);
        points[k] = rec.n;
        ana_free(&a);
        mock_drop(&c);
    }
    ck_assert_int_gt(points[0], 2 * points[1]);
}
END_TEST

typedef struct charged {
    int32_t in, mid, branch;
    double t, i, sum, worst; /* of the row before; charge under lines so far, distance from it */
    int n;
} charged;

enum { RAMP_STEP_PART = 4096 }; /* of a step: where the other side of a corner is shown */
#define C_IN 1e-9
#define C_MID 2e-9
#define RAMP_STEP 20e-9

static vs_status add_charge(void *user, double t, const double *x)
{
    charged *s = user;
    s->sum += s->n ? (t - s->t) * (x[s->branch] + s->i) / 2 : 0;
    s->worst = fmax(s->worst, fabs(s->sum + C_IN * x[s->in] + C_MID * x[s->mid]));
    s->t = t;
    s->i = x[s->branch];
    s->n++;
    return VS_OK;
}

/* Ramps of 10 V/us into capacitors: the current jumps by 10 mA at each corner. */
START_TEST(lines_between_points_have_the_charge_that_flowed)
{
    charged s = {0};
    mock_dev *v = mock_add(&c, MOCK_V, "v1", "in", "0", 0);
    v->w = (mock_wave){.v2 = 1, .td = 1e-7, .tr = 1e-7, .pw = 2e-7, .tf = 1e-7, .per = 1e-6};
    mock_add(&c, MOCK_C, "c1", "in", "0", C_IN);
    mock_add(&c, MOCK_R, "r1", "in", "mid", 50);
    mock_add(&c, MOCK_C, "c2", "mid", "0", C_MID);
    mock_finish(&c);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_OK);
    s.in = mock_node(&c, "in");
    s.mid = mock_node(&c, "mid");
    s.branch = v->br;
    const ana_sink sink = {.point = add_charge, .user = &s};
    const ana_tran_opt o = {.tstep = RAMP_STEP, .tstop = 2e-6, .tmax = RAMP_STEP};
    ck_assert_int_eq(ana_tran(a, &o, &sink), VS_OK);
    /* eight corners, at each half of a jump for this part of a step; without that row it is half of
     * a jump for a whole one: 1e-10 C */
    ck_assert_double_le(s.worst, 8 * 0.5 * 10e-3 * RAMP_STEP / RAMP_STEP_PART + 1e-15);
    ck_assert_int_ge(s.n, 100 + 8);
}
END_TEST

START_TEST(halving_the_step_divides_the_error_by_two_to_the_order)
{
    static const struct {
        ana_method m;
        int order;
    } t[] = {{ANA_TRAP, 1}, {ANA_TRAP, 2}, {ANA_GEAR, 1}, {ANA_GEAR, 2}};
    rc_sine();
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        opt.method = t[i].m;
        opt.maxord = t[i].order;
        double e1 = error_with_step(20e-6), e2 = error_with_step(10e-6);
        double want = t[i].order == 1 ? 2 : 4;
        ck_assert_msg(fabs(e1 / e2 - want) < 0.15 * want, "%zu: %g %g", i, e1, e2);
    }
}
END_TEST

START_TEST(a_linear_circuit_takes_one_evaluation_a_point)
{
    rc_sine();
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 10e-3, .tmax = 1e-5}),
                     VS_OK);
    const ana_stat *s = ana_stats(a);
    ck_assert_int_ge(s->points_accepted, 1000);
    ck_assert_int_le(s->iterations, s->points_accepted + 30);
    ck_assert_int_lt(s->n_refactor, 30); /* equal steps keep the factors */
}
END_TEST

/* Steps that truncation error chooses, corners, a coil: each equation that a step asks for is
 * solved at its first evaluation, and each step asks for one, but for two behind corners (once more
 * if it is rejected). */
START_TEST(every_equation_of_a_linear_circuit_takes_one_iteration)
{
    enum { CORNERS = 9, AT_REST = 2 }; /* with t = 0 */
    static const ana_method method[] = {ANA_TRAP, ANA_GEAR};
    mock_add(&c, MOCK_V, "v1", "in", "0", 0)->w =
        (mock_wave){.v2 = 1, .td = 1e-4, .tr = 1e-6, .tf = 1e-6, .pw = 4e-4, .per = 1e-3};
    mock_add(&c, MOCK_R, "r1", "in", "mid", 1e2);
    mock_add(&c, MOCK_L, "l1", "mid", "out", 1e-3);
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-7);
    mock_add(&c, MOCK_R, "r2", "out", "0", 1e4);
    for (int k = 0; k < 2; k++) {
        opt.method = method[k];
        const ana_tran_opt o = {.tstep = 1e-5, .tstop = 2e-3, .tmax = 1e-4};
        ck_assert_int_eq(run("out", o), VS_OK);
        const ana_stat *s = ana_stats(a);
        const int64_t attempts = s->points_accepted + s->points_rejected;
        ck_assert_int_ge(s->points_accepted, 100);
        ck_assert_int_le(s->iterations, attempts + CORNERS + s->points_rejected + AT_REST);
    }
}
END_TEST

/* Time constants of 1 ps and 1 ms; the sum of the resistances is that of rc_sine. */
START_TEST(stiff_linear_circuits_are_as_exact_from_one_evaluation)
{
    static const ana_method method[] = {ANA_TRAP, ANA_GEAR};
    mock_add(&c, MOCK_V, "v1", "in", "0", 0)->w = (mock_wave){.amp = 1, .freq = 200};
    mock_add(&c, MOCK_R, "r1", "in", "mid", 1);
    mock_add(&c, MOCK_C, "c1", "mid", "0", 1e-12);
    mock_add(&c, MOCK_R, "r2", "mid", "out", 999);
    mock_add(&c, MOCK_C, "c2", "out", "0", 1e-6);
    for (int k = 0; k < 2; k++) {
        opt.method = method[k];
        double e1 = error_with_step(2e-6);
        ck_assert_int_le(ana_stats(a)->iterations, ana_stats(a)->points_accepted + 30);
        double e2 = error_with_step(1e-6);
        ck_assert_double_lt(e1, k ? 4e-6 : 1e-6);
        ck_assert_double_eq_tol(e1 / e2, 4, 0.1);
    }
}
END_TEST

/* A start that was only extrapolated is no solution: the tests see a diode that turns on. */
START_TEST(nonlinear_circuits_are_evaluated_until_both_tests_hold)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 0)->w = (mock_wave){.amp = 5, .freq = 1000};
    mock_add(&c, MOCK_R, "r1", "in", "out", 1e3);
    mock_add(&c, MOCK_D, "d1", "out", "0", 0);
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-12);
    opt.trtol = 1e9;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 2e-3, .tmax = 1e-5}), VS_OK);
    ck_assert_int_gt(ana_stats(a)->iterations, ana_stats(a)->points_accepted * 5 / 4);
    /* quasi static: c dv/dt is below 1 uA. Rows are solved to reltol of their largest current, 5
     * mA, but for the square of a last update: it may be some mV in an exponential of 26 mV where
     * the diode turns on */
    for (int i = 0; i < rec.n; i++) {
        double v = rec.v[i], in = 5 * sin(6.283185307179586e3 * rec.t[i]);
        double id = 1e-14 * (exp(v / 0.02585) - 1);
        ck_assert_double_eq_tol((in - v) / 1e3, id, 2e-5);
    }
}
END_TEST

/* Steps of equal length, far below what truncation asks for: a parabola misses the curve of a cubic
 * conductance by more than a first evaluation may leave, an extrapolation of higher order does not.
 */
START_TEST(equal_steps_start_from_an_extrapolation_of_higher_order)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 0)->w = (mock_wave){.amp = 1, .freq = 1000};
    mock_add(&c, MOCK_R, "r1", "in", "out", 1e3);
    mock_add(&c, MOCK_CUBIC, "x1", "out", "0", 1e-3)->val2 = 1e-2;
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-9);
    opt.reltol = 1e-6;
    opt.vntol = 1e-9;
    opt.trtol = 1e9;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-6, .tstop = 2e-3, .tmax = 1e-6}), VS_OK);
    const ana_stat *s = ana_stats(a);
    ck_assert_int_ge(s->points_accepted, 2000);
    ck_assert_int_le(s->iterations, s->points_accepted * 11 / 10);
}
END_TEST

START_TEST(tighter_tolerance_gives_smaller_error_and_more_points)
{
    rc_sine();
    double error[3];
    int64_t points[3];
    for (int i = 0; i < 3; i++) {
        opt.reltol = pow(10, -3 - i);
        opt.vntol = 1e-3 * opt.reltol;
        ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-3, .tstop = 20e-3, .tmax = 1e-3}),
                         VS_OK);
        error[i] = worst_error(rc_sine_exact);
        points[i] = ana_stats(a)->points_accepted;
    }
    ck_assert_double_lt(error[0], 10e-3);
    ck_assert_double_lt(error[1], 0.4 * error[0]);
    ck_assert_double_lt(error[2], 0.4 * error[1]);
    ck_assert_int_gt(points[1], points[0]);
    ck_assert_int_gt(points[2], points[1]);
}
END_TEST

/* Pulse 0..1 V with 1 us edges, 1 ms high, period 2 ms, into 1 kOhm, 1 uF. */
static void rc_pulse(void)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 0)->w =
        (mock_wave){.v2 = 1, .tr = 1e-6, .tf = 1e-6, .pw = 1e-3, .per = 2e-3};
    mock_add(&c, MOCK_R, "r1", "in", "out", 1e3);
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-6);
}
static double ramp(double t) { return t > 0 ? 1e6 * (t - TAU * -expm1(-t / TAU)) : 0; }
static double rc_pulse_exact(double t)
{
    double v = 0;
    for (int k = 0; k < 3; k++) {
        double b = k * 2e-3;
        v += ramp(t - b) - ramp(t - b - 1e-6) - ramp(t - b - 1.001e-3) + ramp(t - b - 1.002e-3);
    }
    return v;
}

START_TEST(steps_land_on_corners_and_corners_cost_no_accuracy)
{
    rc_pulse();
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-6, .tstop = 5e-3, .tmax = 1e-6}), VS_OK);
    ck_assert(has_point(1e-6) && has_point(2e-3));
    ck_assert_double_lt(worst_error(rc_pulse_exact), 1e-7); /* backward Euler restarts: 6e-5 */
    ck_assert_double_eq(rec.t[rec.n - 1], 5e-3);
    ck_assert_int_le(rec.n, 5100);
}
END_TEST

START_TEST(every_corner_is_followed_by_a_first_step_within_the_piece)
{
    rc_pulse();
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-3, .tstop = 5e-3, .tmax = 1e-3}), VS_OK);
    int inside = 0; /* the 1 us edges have at least 4 steps each */
    for (int i = 0; i < rec.n; i++)
        inside += rec.t[i] > 0 && rec.t[i] < 1e-6;
    ck_assert_int_ge(inside, 3);
    ck_assert_double_lt(worst_error(rc_pulse_exact), 10e-3);
    ck_assert_int_lt(rec.n, 400);
}
END_TEST

START_TEST(output_starts_at_tstart_and_ends_at_tstop)
{
    rc_sine();
    ck_assert_int_eq(
        run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 3.3e-3, .tstart = 1.23456e-3}), VS_OK);
    ck_assert_double_eq(rec.t[0], 1.23456e-3);
    ck_assert_double_eq(rec.t[rec.n - 1], 3.3e-3);
    ck_assert_double_lt(worst_error(rc_sine_exact), 1e-4);
}
END_TEST

START_TEST(oscillator_keeps_its_amplitude_with_the_trapezoidal_rule)
{
    mock_add(&c, MOCK_L, "l1", "out", "0", 1e-3);
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-6);
    mock_finish(&c);
    c.ic[mock_node(&c, "out")] = 1;
    double period = 6.283185307179586 * sqrt(1e-9), h = period / 400;
    opt.trtol = 1e9;
    ck_assert_int_eq(
        run("out", (ana_tran_opt){.tstep = h, .tstop = 10 * period, .tmax = h, .uic = true}),
        VS_OK);
    double top = 0;
    for (int i = rec.n - 410; i < rec.n; i++)
        top = fmax(top, rec.v[i]);
    ck_assert_double_eq_tol(top, 1, 0.02); /* the two first steps with uic damp a little */
    ck_assert_double_eq_tol(rec.v[rec.n - 1], top, 0.01);
    ck_assert_str_eq(ana_stats(a)->op_method, "uic");
}
END_TEST

/* van der Pol, mu = 5: C v' = -(i_L) + g (v - v^3/3), L i' = v with L = C = 1 s. Period 11.6122. */
START_TEST(relaxation_oscillator_has_its_period)
{
    mock_add(&c, MOCK_L, "l1", "x", "0", 1);
    mock_add(&c, MOCK_C, "c1", "x", "0", 1);
    mock_add(&c, MOCK_CUBIC, "n1", "x", "0", -5)->val2 = 5.0 / 3;
    mock_finish(&c);
    c.ic[mock_node(&c, "x")] = 2;
    for (int m = 0; m < 2; m++) {
        opt.method = m ? ANA_GEAR : ANA_TRAP;
        opt.reltol = 1e-5;
        opt.vntol = 1e-8;
        ck_assert_int_eq(run("x", (ana_tran_opt){.tstep = 1, .tstop = 100, .tmax = 1, .uic = true}),
                         VS_OK);
        double first = 0, last = 0;
        int cycles = -1;
        for (int i = 1; i < rec.n; i++)
            if (rec.t[i] > 20 && rec.v[i - 1] < 0 && rec.v[i] >= 0) {
                last = rec.t[i - 1] -
                       rec.v[i - 1] * (rec.t[i] - rec.t[i - 1]) / (rec.v[i] - rec.v[i - 1]);
                if (++cycles == 0)
                    first = last;
            }
        ck_assert_int_ge(cycles, 5);
        ck_assert_double_eq_tol((last - first) / cycles, 11.6122, 0.02);
        ck_assert_int_gt(ana_stats(a)->points_rejected, 0);
    }
}
END_TEST

START_TEST(a_run_allocates_nothing_per_point)
{
    rc_pulse();
    rec.alloc_at = 50;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 5e-3}), VS_OK);
    ck_assert_int_gt(rec.n, 200);
    ck_assert_uint_eq(rec.heap_last, rec.heap_then);
}
END_TEST

START_TEST(newton_failures_shorten_the_step_and_then_name_the_place)
{
    rc_sine();
    c.no_conv_from = 2e-3;
    c.no_conv_to = 1;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 5e-3}), VS_ESTEP);
    ck_assert(said("time step too small at t = 0.0019999") ||
              said("time step too small at t = 0.002"));
    ck_assert(said("limiting"));
    ck_assert_double_le(rec.t[rec.n - 1], 2e-3);
    ck_assert_int_gt(c.n_restore, 5);
}
END_TEST

START_TEST(a_short_stretch_without_convergence_is_passed)
{
    rc_sine();
    c.no_conv_from = 2e-3;
    c.no_conv_to = 2.0001e-3; /* steps of 10 us can miss it */
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 5e-3}), VS_OK);
}
END_TEST

START_TEST(an_unannounced_jump_is_passed)
{
    rc_sine();
    mock_add(&c, MOCK_R, "r2", "in", "mid", 1e3);
    mock_add(&c, MOCK_R, "r3", "mid", "0", 1e3);
    c.jump_time = 2.1234567e-3;
    c.jump_value = 3;
    ck_assert_int_eq(run("mid", (ana_tran_opt){.tstep = 1e-5, .tstop = 5e-3}), VS_OK);
    ck_assert_double_eq_tol(rec.v[rec.n - 1], 0.5 * (sin(W * 5e-3) + 3), 1e-6);
    ck_assert_int_lt(ana_stats(a)->points_rejected, 60);
}
END_TEST

START_TEST(steps_obey_the_bound_of_models)
{
    rc_sine();
    c.bound_step = 3e-6;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-3, .tstop = 1e-3, .tmax = 1e-3}), VS_OK);
    for (int i = 1; i < rec.n; i++)
        ck_assert_double_le(rec.t[i] - rec.t[i - 1], 3e-6 * (1 + 1e-9));
}
END_TEST

START_TEST(initial_conditions_start_the_run)
{
    mock_add(&c, MOCK_R, "r1", "out", "0", 1e3);
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-6);
    mock_finish(&c);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_OK);
    ana_node_value v = {mock_node(&c, "out"), 2};
    ana_set_ic(a, &v, 1);
    rec.unknown = v.unknown;
    ana_sink sink = {.point = keep, .user = &rec};
    ana_tran_opt o = {.tstep = 1e-5, .tstop = 1e-3};
    ck_assert_int_eq(ana_tran(a, &o, &sink), VS_OK);
    ck_assert_double_eq_tol(rec.v[0], 2, 1e-6);
    ck_assert_double_eq_tol(rec.v[rec.n - 1], 2 * exp(-1), 1e-4);
    rec.n = 0;
    o.uic = true;
    ck_assert_int_eq(ana_tran(a, &o, &sink), VS_OK);
    ck_assert_double_eq_tol(rec.v[rec.n - 1], 2 * exp(-1), 1e-3);
}
END_TEST

START_TEST(a_request_stops_the_run_in_order)
{
    rc_sine();
    rec.stop_at = 20;
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 5e-3}), VS_STOP);
    ck_assert_int_eq(rec.n, 20);
    ck_assert_int_eq(d.n_error, 0);
}
END_TEST

START_TEST(impossible_times_are_refused)
{
    rc_sine();
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = -1}), VS_EINPUT);
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 0, .tstop = 1}), VS_EINPUT);
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 1, .tstart = 2}), VS_EINPUT);
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-30, .tstop = 1}), VS_EINPUT);
    ck_assert_int_eq(run("out", (ana_tran_opt){.tstep = 1e-5, .tstop = 1, .tmax = 1e-20}),
                     VS_EINPUT);
    ck_assert_int_eq(d.n_error, 5);
}
END_TEST

/* Of a circuit of 200 unknowns: 0, no two over each other, each at a line of the cache, and 16 that
 * follow each other at different places of a page. */
START_TEST(vectors_of_an_analysis_are_one_block)
{
    enum { N = 200, MANY = 40, LINE = 64, PAGE = 4096, NEAR = 16 };
    static char name[N + 1][8];
    for (int i = 1; i <= N; i++) {
        snprintf(name[i], sizeof name[i], "n%d", i);
        mock_add(&c, MOCK_R, "r", name[i], i > 1 ? name[i - 1] : "0", 1e3);
    }
    mock_finish(&c);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_OK);
    double *v[MANY], **to[MANY];
    for (int k = 0; k < MANY; k++)
        to[k] = &v[k];
    ana_vectors(a, to, MANY);
    for (int k = 0; k < MANY; k++)
        for (int i = 0; i < CKT_SEATS(N); i++) {
            ck_assert_double_eq(v[k][i], 0);
            v[k][i] = k + 1;
        }
    for (int k = 0; k < MANY; k++) {
        ck_assert_int_eq((uintptr_t)v[k] % LINE, 0);
        for (int i = 0; i < CKT_SEATS(N); i++)
            ck_assert_double_eq(v[k][i], k + 1);
        for (int j = k + 1; j < MANY && j < k + NEAR; j++)
            ck_assert_int_ne(((uintptr_t)v[j] - (uintptr_t)v[k]) % PAGE, 0);
        if (k > 0)
            ck_assert_int_lt(v[k] - v[k - 1], CKT_SEATS(N) + PAGE / 8);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tran");
    TCase *tc = tcase_create("tran");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, TEST_PATIENCE);
    tcase_add_test(tc, a_small_voltage_inside_of_a_device_is_judged_by_the_others);
    tcase_add_test(tc, a_current_without_memory_is_followed_to_a_thousandth);
    tcase_add_test(tc, a_current_that_is_nothing_beside_another_is_not_followed);
    tcase_add_test(tc, lines_between_points_have_the_charge_that_flowed);
    tcase_add_test(tc, halving_the_step_divides_the_error_by_two_to_the_order);
    tcase_add_test(tc, a_linear_circuit_takes_one_evaluation_a_point);
    tcase_add_test(tc, every_equation_of_a_linear_circuit_takes_one_iteration);
    tcase_add_test(tc, stiff_linear_circuits_are_as_exact_from_one_evaluation);
    tcase_add_test(tc, nonlinear_circuits_are_evaluated_until_both_tests_hold);
    tcase_add_test(tc, equal_steps_start_from_an_extrapolation_of_higher_order);
    tcase_add_test(tc, tighter_tolerance_gives_smaller_error_and_more_points);
    tcase_add_test(tc, steps_land_on_corners_and_corners_cost_no_accuracy);
    tcase_add_test(tc, every_corner_is_followed_by_a_first_step_within_the_piece);
    tcase_add_test(tc, output_starts_at_tstart_and_ends_at_tstop);
    tcase_add_test(tc, oscillator_keeps_its_amplitude_with_the_trapezoidal_rule);
    tcase_add_test(tc, relaxation_oscillator_has_its_period);
    tcase_add_test(tc, a_run_allocates_nothing_per_point);
    tcase_add_test(tc, newton_failures_shorten_the_step_and_then_name_the_place);
    tcase_add_test(tc, a_short_stretch_without_convergence_is_passed);
    tcase_add_test(tc, an_unannounced_jump_is_passed);
    tcase_add_test(tc, steps_obey_the_bound_of_models);
    tcase_add_test(tc, initial_conditions_start_the_run);
    tcase_add_test(tc, a_request_stops_the_run_in_order);
    tcase_add_test(tc, impossible_times_are_refused);
    tcase_add_test(tc, vectors_of_an_analysis_are_one_block);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
