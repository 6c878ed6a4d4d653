/* test_eye.c - eye diagrams of curves whose figures are known. */
#include <string.h>

#include "../suite.h"
#include "eye.h"
#include "meas.h"
#include "plots.h"
#include "stream.h"

enum { BITS = 400 };
#define EDGE 0.2 /* s, length of the edges; a unit interval is 1 s */

static int bit(int k)
{
    static unsigned state;
    state = k ? state : 0x5a;
    state = state >> 1 | ((state ^ state >> 1) & 1) << 6;
    return (int)(state & 1);
}

static double noise(int k) /* -1 to 1, of no order */
{
    return 2 * fmod(0.7548776662466927 * (k + 1) * (k + 1), 1) - 1;
}

static post_plot *new_curve(bench *b)
{
    post_plot *p = post_plot_new(&b->set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    (void)post_plot_add(&b->set, p, "v(y)", "voltage", false);
    return p;
}

static void point(const post_plot *p, double t, double y)
{
    post_vec_push(p->vec[0], t, 0);
    post_vec_push(p->vec[1], y, 0);
}

/* Levels 0 and 1, straight edges whose middles are `late(k)` behind k; those of rising edges later
 * by `shift`, of falling edges earlier.  t, n  out  the middles, how many */
static void trapezoids(bench *b, double (*late)(int k), double shift, double *t, int *n)
{
    const post_plot *p = new_curve(b);
    int was = 0;
    *n = 0;
    point(p, -1, 0);
    for (int k = 0; k < BITS; k++) {
        const int now = bit(k);
        if (now == was)
            continue;
        t[*n] = k + late(k) + (now ? shift : -shift);
        point(p, t[*n] - EDGE / 2, was);
        point(p, t[(*n)++] + EDGE / 2, now);
        was = now;
    }
    point(p, BITS + 1, was);
}

static double figure(bench *b, const char *card, const char *name)
{
    post_eye_card c;
    post_plot *p, *was = b->set.current;
    ck_assert(post_eye_read(&b->e, card, DIAG_NOWHERE, &c));
    ck_assert_msg(post_eye_make(&b->e, &c, &p), "%s", b->d.n_error ? b->d.msg[0].text : "");
    b->set.current = was;
    for (size_t k = 0; k < POST_N_EYE; k++)
        if (!strcmp(post_eye_word[k], name))
            return p->eye[k];
    ck_abort_msg("%s", name);
    return NAN;
}

#define IS(card, name, value, within)                                                          \
    do {                                                                                       \
        const double got_ = figure(&b, card, name);                                            \
        ck_assert_msg(fabs(got_ - (value)) <= (within), "%s %s: %.17g, not %.17g", card, name, \
                      got_, (double)(value));                                                  \
    } while (0)

static double sine(int k) { return 0.05 * sin(0.123 * k); }
static double random_jitter(int k) { return 0.08 * noise(k); }
static double none(int k) { return 0.0 * k; }

/* Straight lines between points: the middles are where the curve passes 1/2, but for rounding. */
#define EXACT 1e-12

static double (*const jitter[])(int k) = {sine, random_jitter};

/* Least squares with an offset of the rising edges, the even ones, and one of the others. */
static double best_clock(const double *t, int n)
{
    double mt[2] = {0}, mk[2] = {0}, kk = 0, kt = 0;
    for (int i = 0; i < n; i++) {
        const int of = (n + 1 - i % 2) / 2;
        mt[i % 2] += t[i] / of;
        mk[i % 2] += round(t[i]) / of;
    }
    for (int i = 0; i < n; i++) {
        kt += (round(t[i]) - mk[i % 2]) * (t[i] - mt[i % 2]);
        kk += pow(round(t[i]) - mk[i % 2], 2);
    }
    return kt / kk;
}

START_TEST(jitter_is_that_of_the_edges_against_the_best_clock)
{
    bench b;
    double t[BITS], mean = 0, square = 0, least = 1, most = -1;
    int n;
    bench_init(&b);
    trapezoids(&b, jitter[_i], 0, t, &n);
    const double ui = best_clock(t, n);
    for (int i = 0; i < n; i++)
        mean += (t[i] - round(t[i]) * ui) / n;
    for (int i = 0; i < n; i++) {
        const double d = t[i] - round(t[i]) * ui - mean;
        square += d * d / n;
        least = fmin(least, d);
        most = fmax(most, d);
    }
    IS("v(y)", "ui", ui, EXACT);
    IS("v(y)", "jitter", sqrt(square), EXACT);
    IS("v(y)", "jitterpp", most - least, EXACT);
    IS("v(y)", "width", ui - 6 * sqrt(square), 10 * EXACT);
    IS("v(y)", "openwidth", ui - (most - least), EXACT);
    IS("v(y)", "rise", 0.6 * EDGE, EXACT);
    IS("v(y)", "fall", 0.6 * EDGE, EXACT);
    IS("v(y)", "one", 1, EXACT);
    IS("v(y)", "zero", 0, EXACT);
    IS("v(y)", "openheight", 1, EXACT);
    bench_fini(&b);
}
END_TEST

START_TEST(jitter_against_a_clock_that_is_given)
{
    bench b;
    double t[BITS], mean = 0, square = 0;
    int n;
    bench_init(&b);
    trapezoids(&b, random_jitter, 0, t, &n);
    for (int i = 0; i < n; i++)
        mean += (t[i] - round(t[i])) / n;
    for (int i = 0; i < n; i++)
        square += pow(t[i] - round(t[i]) - mean, 2) / n;
    IS("v(y) ui=1", "jitter", sqrt(square), EXACT);
    IS("v(y) rate=1", "jitter", sqrt(square), EXACT);
    IS("v(y) ui=1", "offset", mean - 1, 2); /* of the first unit interval */
    IS("v(y) ui=1 offset=0.01", "jitter", sqrt(square), EXACT);
    IS("v(y) ui=1 offset=5.01", "offset", -0.99, EXACT);
    bench_fini(&b);
}
END_TEST

START_TEST(rising_edges_later_than_falling_ones)
{
    const double shift = 0.03;
    bench b;
    double t[BITS];
    int n;
    bench_init(&b);
    trapezoids(&b, none, shift, t, &n);
    IS("v(y)", "ui", 1, EXACT);
    IS("v(y) ui=1", "dcd", 2 * shift, EXACT);
    IS("v(y) ui=1", "jitterpp", 2 * shift, EXACT);
    /* shift + (level - 1/2) EDGE = -shift - (level - 1/2) EDGE */
    IS("v(y) ui=1", "level", 0.5 - shift / EDGE, 1e-11);
    IS("v(y) ui=1", "crossing", 50 - 100 * shift / EDGE, 1e-9);
    IS("v(y) ui=1 threshold=0.7", "dcd", 2 * (shift + 0.2 * EDGE), EXACT);
    IS("v(y) ui=1 low=0 high=0.8", "threshold", 0.4, EXACT);
    IS("v(y) ui=1 low=0 high=0.8", "crossing", 100 * (0.5 - shift / EDGE) / 0.8, 1e-9);
    IS("v(y) ui=1 low=0 high=0.8", "rise", 0.6 * 0.8 * EDGE, EXACT);
    IS("v(y) ui=1 low=0 high=0.8", "one", 1, EXACT);
    ck_assert(isnan(figure(&b, "v(y) ui=1 low=0 high=2 threshold=0.5", "rise")));
    bench_fini(&b);
}
END_TEST

/* Late by 0.15 and early by 0.15 at the most, with rising edges 0.1 later and falling ones earlier:
 * still nearer to their own bit than to the next. */
static double wild(int k) { return 0.15 * noise(3 * k + 1); }

START_TEST(the_unit_interval_is_found_under_jitter)
{
    bench b;
    double t[BITS];
    int n;
    bench_init(&b);
    trapezoids(&b, wild, 0.1, t, &n);
    IS("v(y)", "ui", best_clock(t, n), EXACT);
    bench_fini(&b);
}
END_TEST

START_TEST(a_single_bit_is_a_unit_interval)
{
    bench b;
    bench_init(&b);
    const post_plot *p = new_curve(&b);
    const double to[][2] = {{0, 0}, {3, 0}, {3.2, 1}, {3.9, 1}, {4.1, 0}, {9, 0}};
    for (size_t k = 0; k < VS_COUNT(to); k++)
        point(p, to[k][0], to[k][1]);
    IS("v(y)", "ui", 0.9, EXACT);
    IS("v(y)", "jitter", 0, EXACT);
    bench_fini(&b);
}
END_TEST

/* Bits through a filter of one pole, RC = 1/2: behind each bit's begin y goes on to its level by
 * exp(-2 t). After 40 equal bits the other level is reached within exp(-80); the first bit behind
 * them is the worst: at 0.4, where the window begins, the eye is open by 1 - 2 exp(-0.8). */
START_TEST(the_worst_case_of_a_filter)
{
    enum { STEPS = 1000, LONG = 40 };
    bench b;
    bench_init(&b);
    const post_plot *p = new_curve(&b);
    double y = 0;
    int k = 0;
    for (int part = 0; part < 4; part++)
        for (int i = 0; i < (part % 2 ? LONG : 100); i++, k++) {
            const int level = part % 2  ? part == 1
                              : i == 0  ? part == 0
                              : i == 99 ? part == 2
                                        : bit(i);
            const double from = y;
            for (int s = 0; s < STEPS; s++) {
                const double t = (double)s / STEPS;
                point(p, k + t, y = level + (from - level) * exp(-2 * t));
            }
            y = level + (from - level) * exp(-2);
        }
    point(p, k, y);
    point(p, k + 1, y);
    IS("v(y) ui=1 offset=0", "openheight", 1 - 2 * exp(-0.8), 1e-12);
    bench_fini(&b);
}
END_TEST

/* Ripple of three periods in each window: its integrals over them are those of the sine, but for
 * the chords of 2000 points a unit interval, (w h)^2 / 12 of them. */
START_TEST(height_and_q_of_a_known_noise)
{
    enum { STEPS = 2000 };
    const double a = 0.03, w = 2 * M_PI * 15, within = w * w / STEPS / STEPS / 12 * 6 * a;
    bench b;
    bench_init(&b);
    const post_plot *p = new_curve(&b);
    for (int k = 0; k < 50; k++) {
        const int level = bit(k);
        for (int s = 0; s < STEPS; s++)
            point(p, k + (double)s / STEPS, 2 + 3 * level + a * sin(w * s / STEPS));
    }
    const double sigma = a / sqrt(2);
    IS("v(y) ui=1 offset=0", "one", 5, within);
    IS("v(y) ui=1 offset=0", "zero", 2, within);
    IS("v(y) ui=1 offset=0", "amplitude", 3, within);
    IS("v(y) ui=1 offset=0", "height", 3 - 6 * sigma, within);
    IS("v(y) ui=1 offset=0", "openheight", 3 - 2 * a, within);
    IS("v(y) ui=1 offset=0", "q", 3 / (2 * sigma), 3 / (2 * sigma) * within / a);
    IS("v(y) ui=1 offset=0", "er", 10 * log10(2.5), within);
    bench_fini(&b);
}
END_TEST

/* An edge that goes back and forth within the band counts once, with the same integral. */
START_TEST(noise_at_the_threshold_makes_one_edge)
{
    bench b;
    bench_init(&b);
    const post_plot *p = new_curve(&b);
    const double to[][2] = {{-1, 0}, {0, 0},   {0.1, 0.52}, {0.12, 0.48}, {0.22, 1},
                            {1, 1},  {1.2, 0}, {2, 0},      {2.2, 1},     {4, 1}};
    for (size_t k = 0; k < VS_COUNT(to); k++)
        point(p, to[k][0], to[k][1]);
    /* passes 1/2 at 0.1 * 25/26, at 0.11, and 0.1 * 1/26 behind 0.12 */
    const double edge = 0.1 * 25 / 26 - 0.11 + 0.12 + 0.1 / 26;
    IS("v(y) ui=1", "jitterpp", fabs(edge - 0.1), EXACT);
    bench_fini(&b);
}
END_TEST

START_TEST(traces_stand_one_behind_the_other)
{
    bench b;
    double t[BITS];
    int n;
    post_eye_card c;
    post_plot *p, *tran;
    bench_init(&b);
    trapezoids(&b, none, 0, t, &n);
    tran = b.set.current;
    for (int periods = 1; periods <= 2; periods++) {
        b.set.current = tran;
        const char *card = periods == 1 ? "v(y) ui=1 points=10 periods=1 start=0.5 stop=20"
                                        : "v(y) ui=1 points=10 start=0.5 stop=20.5";
        ck_assert(post_eye_read(&b.e, card, DIAG_NOWHERE, &c));
        ck_assert(post_eye_make(&b.e, &c, &p));
        ck_assert_ptr_eq(b.set.current, p);
        ck_assert_int_eq(strncmp(p->name, "eye", 3), 0);
        const int64_t rows = 10 * periods + 2, traces = 19;
        ck_assert_int_eq(p->scale->n, rows * traces);
        ck_assert_int_eq(p->vec[1]->n, rows * traces);
        for (int64_t k = 0; k < rows * traces; k++) {
            const int64_t at = k % rows, unit = 1 + k / rows;
            const double way = (double)at / 10 - (periods == 1 ? 0 : 0.5);
            ck_assert_int_eq(isnan(p->vec[1]->v[k]), at == rows - 1);
            if (at == rows - 1)
                continue;
            ck_assert(fabs(p->scale->v[k] - way) < EXACT);
            double want = 0;
            const post_vec *x = tran->vec[0], *y = tran->vec[1];
            for (int64_t i = 1; i < x->n; i++)
                if (unit + way >= x->v[i - 1] && unit + way <= x->v[i])
                    want = y->v[i - 1] + (y->v[i] - y->v[i - 1]) * (unit + way - x->v[i - 1]) /
                                             (x->v[i] - x->v[i - 1]);
            ck_assert(fabs(p->vec[1]->v[k] - want) < 1e-11);
        }
    }
    bench_fini(&b);
}
END_TEST

START_TEST(measures_take_the_newest_eye_of_the_expression)
{
    bench b;
    double t[BITS];
    int n;
    post_meas m;
    bench_init(&b);
    trapezoids(&b, none, 0.03, t, &n);
    post_plot *tran = b.set.current;
    (void)figure(&b, "v(y) ui=1", "dcd");
    (void)figure(&b, "2*v(y) ui=1", "dcd");
    ck_assert_int_eq(post_measure(&b.e, "a AMPLITUDE 2*v(Y)", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(m.ok && fabs(m.value - 2) < EXACT);
    ck_assert_int_eq(post_measure(&b.e, "a amplitude y", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(m.ok && fabs(m.value - 1) < EXACT);
    ck_assert_int_eq(post_measure(&b.e, "a er v(y)", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok && strstr(m.why, "no such figure"));
    ck_assert_int_eq(post_measure(&b.e, "a er v(x)", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok && strstr(m.why, "no eye of 'v(x)'"));
    ck_assert_ptr_eq(b.set.current, tran);
    bench_fini(&b);
}
END_TEST

static const struct {
    const char *card, *says;
} wrong[] = {
    {"v(y) ui=1000", "no whole unit interval of 1000 s is between"},
    {"v(y) ui=1 start=0 stop=2.1", "no 2 whole unit intervals of 1 s"},
    {"v(y) ui=1e-9", "unit intervals of 1e-09 s: at most 16777216"},
    {"v(y) ui=1 points=1000000", "are more than 16777216: fewer points"},
    {"v(y) threshold=2", "'v(y)' has no edges: it goes from 0 to 1 and never passes 2"},
    {"v(y) start=-1 stop=0.3", "single edge"},
    {"v(y) start=-1 stop=500", "is outside the transient"},
    {"0*v(y)", "is 0 all the time"},
    {"v(y)/(time-time)", "is not a number at -1 s"},
    {"v(y)*(1,1)", "is complex"},
    {"5", "has no axis"},
    {"v(y) ui=0", "'ui' is greater than 0, not '0'"},
    {"v(y) rate=-1", "'rate' is greater than 0, not '-1'"},
    {"v(y) points=1", "'points' is a whole number of points from 2"},
    {"v(y) points=2.5", "'points' is a whole number"},
    {"v(y) periods=3", "'periods' is 1 or 2, not '3'"},
    {"v(y) stop=1 start=1", "start=1 is not before stop=1"},
    {"v(y) low=1", "low= and high= are given together"},
    {"v(y) low=1 high=1", "low below high"},
    {"v(y) pints=3", "'pints' is no word of .eye"},
    {"v(y) ui", "'ui' needs a value"},
    {"ui=1", "a vector is expected first"},
    {"v(z)", "there is no vector 'v(z)'"},
};

START_TEST(bad_input_is_told)
{
    bench b;
    double t[BITS];
    int n;
    post_eye_card c;
    post_plot *p;
    bench_init(&b);
    trapezoids(&b, none, 0, t, &n);
    post_plot *tran = b.set.current;
    const bool good =
        post_eye_read(&b.e, wrong[_i].card, DIAG_NOWHERE, &c) && post_eye_make(&b.e, &c, &p);
    ck_assert_msg(!good, "%s", wrong[_i].card);
    ck_assert_msg(strstr(b.d.msg[0].text, wrong[_i].says), "%s: %s", wrong[_i].card,
                  b.d.msg[0].text);
    ck_assert_ptr_eq(b.set.current, tran);
    bench_fini(&b);
}
END_TEST

START_TEST(a_wrong_unit_interval_is_told)
{
    bench b;
    double t[BITS];
    int n;
    bench_init(&b);
    trapezoids(&b, none, 0, t, &n);
    (void)figure(&b, "v(y) ui=1.01", "ui");
    ck_assert_int_eq(b.d.n_error, 0);
    ck_assert_ptr_nonnull(strstr(b.d.msg[0].text, "do not keep to a unit interval of 1.01 s"));
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("post/eye");
    TCase *t = tcase_create("post/eye");
    tcase_add_loop_test(t, jitter_is_that_of_the_edges_against_the_best_clock, 0, 2);
    tcase_add_test(t, jitter_against_a_clock_that_is_given);
    tcase_add_test(t, rising_edges_later_than_falling_ones);
    tcase_add_test(t, the_unit_interval_is_found_under_jitter);
    tcase_add_test(t, a_single_bit_is_a_unit_interval);
    tcase_add_test(t, the_worst_case_of_a_filter);
    tcase_add_test(t, height_and_q_of_a_known_noise);
    tcase_add_test(t, noise_at_the_threshold_makes_one_edge);
    tcase_add_test(t, traces_stand_one_behind_the_other);
    tcase_add_test(t, measures_take_the_newest_eye_of_the_expression);
    tcase_add_loop_test(t, bad_input_is_told, 0, (int)VS_COUNT(wrong));
    tcase_add_test(t, a_wrong_unit_interval_is_told);
    suite_add_tcase(s, t);
    return run_suite(s);
}
