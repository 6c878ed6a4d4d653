/* test_meas.c - each form of .measure on curves whose answer is known. */
#include <string.h>

#include "../suite.h"
#include "meas.h"
#include "plots.h"

/* v(wave) = sin(2 pi t) over one period, v(up) = t */
static const struct {
    const char *text;
    double value, part[2];
    int n_part;
} forms[] = {
    {"a trig v(up) val=0.25 rise=1 targ v(up) val=0.75 rise=1", 0.5, {0.75, 0.25}, 2},
    {"a trig v(wave) val=0.5 rise=1 targ v(wave) val=0.5 fall=1", 1.0 / 3, {5.0 / 12, 1.0 / 12}, 2},
    {"a trig at=0.1 targ v(wave) val=0 cross=1", 0.4, {0.5, 0.1}, 2},
    {"a targ v(up) val=0.5 trig at=0", 0.5, {0.5, 0}, 2},
    {"a trig v(wave) val=0.5 td=0.2 cross=1 targ v(wave) val=-0.5 cross=last",
     0.5,
     {11.0 / 12, 5.0 / 12},
     2},
    {"a find v(up) at=0.3", 0.3, {0}, 0},
    {"a find v(wave) at = 0.25", 1, {0}, 0},
    {"a find v(up) when v(wave)=-0.5 fall=1", 7.0 / 12, {0}, 0},
    {"a find v(up)*2 when v(wave) = v(up) cross=1 td=0.1", 0.858736, {0}, 0},
    {"a when v(wave)=0.5 cross=2", 5.0 / 12, {0}, 0},
    {"a when v(wave)=0.5 rise=last", 1.0 / 12, {0}, 0},
    {"a when v(up)=0.5 from=0.2 to=0.8", 0.5, {0}, 0},
    {"a deriv v(up) at=0.5", 1, {0}, 0},
    {"a deriv v(wave) when v(up)=0.5", -2 * M_PI, {0}, 0},
    {"a derivative v(wave) at=0.1", 2 * M_PI * 0.80901699, {0}, 0},
    {"a avg v(up)", 0.5, {0, 1}, 2},
    {"a avg v(up) from=0.2 to=0.4", 0.3, {0.2, 0.4}, 2},
    {"a avg v(up) from=0.2005 to=0.2015", 0.201, {0.2005, 0.2015}, 2},
    {"a rms v(wave)", M_SQRT1_2, {0, 1}, 2},
    {"a integ v(up) from=0.5", 0.375, {0.5, 1}, 2},
    {"a integral i(v1)", -0.5, {0, 1}, 2},
    {"a min v(wave)", -1, {0.75}, 1},
    {"a max v(wave) from=0 to=0.5", 1, {0.25}, 1},
    {"a max v(wave) from=0.5", 0, {0.5}, 1},
    {"a pp v(wave)", 2, {0, 1}, 2},
    {"a min_at v(wave)", 0.75, {-1}, 1},
    {"a max_at v(wave)", 0.25, {1}, 1},
    {"a param='2*3+1'", 7, {0}, 0},
    {"a param = '1 < 2 ? 5 : 6'", 5, {0}, 0},
    {"a find par('v(up)+1') at='0.1*2'", 1.2, {0}, 0},
    {"a find v(up,wave) at={0.25}", -0.75, {0}, 0},
    {"a FIND V(up) AT=0.3", 0.3, {0}, 0},
};

START_TEST(each_form_gives_its_value)
{
    bench b;
    bench_init(&b);
    post_meas m;
    ck_assert_int_eq(post_measure(&b.e, forms[_i].text, DIAG_NOWHERE, &m), VS_OK);
    ck_assert_msg(m.ok, "%s: %s", forms[_i].text, m.why ? m.why : "");
    ck_assert_str_eq(m.name, "a");
    ck_assert_msg(fabs(m.value - forms[_i].value) < 1e-4 * (1e-2 + fabs(forms[_i].value)),
                  "%s: %.9g", forms[_i].text, m.value);
    ck_assert_int_eq(m.n_part, forms[_i].n_part);
    for (int k = 0; k < m.n_part; k++)
        ck_assert_msg(fabs(m.part_value[k] - forms[_i].part[k]) < 1e-4, "%s: %.9g", forms[_i].text,
                      m.part_value[k]);
    bench_fini(&b);
}
END_TEST

static const char *const failures[][2] = {
    {"a when v(up)=2", "'v(up)' never crosses 2"},
    {"a when v(wave)=0.5 rise=2", "'v(wave)' rises through 0.5 only once"},
    {"a when v(wave)=0.5 cross=4", "'v(wave)' crosses 0.5 only 2 times"},
    {"a find v(up) at=3", "3 is outside the curve, which goes from 0 to 1"},
    {"a avg v(up) from=0.5 to=0.2", "FROM=0.5 is behind TO=0.2"},
    {"a avg v(up) from=2 to=3", "2 .. 3 is outside the curve"},
    {"a max v(nix)", "there is no vector 'v(nix)' in the plot tran1"},
    {"a param='1/0'", "the result is not a finite number"},
    {"a param='nix'", "there is no vector 'nix'"},
};

START_TEST(a_failed_measure_has_a_reason)
{
    bench b;
    bench_init(&b);
    post_meas m;
    ck_assert_int_eq(post_measure(&b.e, failures[_i][0], DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok);
    ck_assert_msg(m.why && strstr(m.why, failures[_i][1]), "%s: %s", failures[_i][0],
                  m.why ? m.why : "");
    ck_assert_int_eq(b.d.n_error, 0);
    bench_fini(&b);
}
END_TEST

static const char *const wrong[] = {"",
                                    "a",
                                    "a maxx v(up)",
                                    "a max",
                                    "a trig v(up) val=1",
                                    "a trig v(up) targ v(up) val=1",
                                    "a find v(up)",
                                    "a when v(up)",
                                    "a find v(up) at=",
                                    "a max v(up) foo=1",
                                    "a when v(up)=1 rise=0",
                                    "a when v(up)=1 rise=1.5",
                                    "a param",
                                    "a = 3",
                                    "= = =",
                                    "a when =",
                                    "a find at=1 at=2",
                                    "a trig trig trig"};

START_TEST(texts_that_are_no_measure_are_errors)
{
    bench b;
    bench_init(&b);
    post_meas m;
    ck_assert_msg(post_measure(&b.e, wrong[_i], DIAG_NOWHERE, &m) == VS_EINPUT, "%s", wrong[_i]);
    ck_assert_int_ge(b.d.n_error, 1);
    bench_fini(&b);
}
END_TEST

START_TEST(a_falling_axis_gives_the_same)
{
    bench b;
    bench_init(&b);
    post_plot *p = post_plot_new(&b.set, "dc", "t", "DC transfer characteristic");
    p->scale = post_plot_add(&b.set, p, "v-sweep", "voltage", false);
    post_vec *y = post_plot_add(&b.set, p, "v(y)", "voltage", false);
    for (int k = 10; k >= 0; k--) {
        post_vec_push(p->scale, k, 0);
        post_vec_push(y, 2 * k, 0);
    }
    static const struct {
        const char *text;
        double value;
    } t[] = {{"a find v(y) at=3.5", 7},
             {"a when v(y)=5", 2.5},
             {"a avg v(y) from=2 to=4", 6},
             {"a integ v(y)", 100},
             {"a max v(y) from=1 to=2.5", 5}};
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        post_meas m;
        ck_assert_int_eq(post_measure(&b.e, t[i].text, DIAG_NOWHERE, &m), VS_OK);
        ck_assert_msg(m.ok && fabs(m.value - t[i].value) < 1e-9, "%s: %g", t[i].text, m.value);
    }
    bench_fini(&b);
}
END_TEST

/* Forms over the curves of `pieces` and what they do not have; false: they need the whole curve. */
static const struct {
    const char *text;
    bool flows;
} flows[] = {
    {"a trig v(y) val=0.5 rise=1 targ v(z) val=0.1 fall=last", true},
    {"a trig v(y) val=0.5 rise=3 td=0.5 targ v(y) val={0.2*2} cross=7", true},
    {"a trig at=0.1 targ v(y) val=v(z) cross=last from=1 to=3", true},
    {"a trig at=0.1 targ at=2", true},
    {"a trig v(y) val=9 targ at=2", true},
    {"a trig v(y) val=0 rise=1000 targ at=2", true},
    {"a find v(z) at=0", true},
    {"a find v(z) at=1.2345", true},
    {"a find v(z) at=99", true},
    {"a find v(z) at=-1", true},
    {"a find v(z)*2-v(y) when v(y)=v(z) cross=12", true},
    {"a find abs(v(y)) when v(z)=0 fall=last", true},
    {"a find v(y) when v(up)=1 cross=1", true},
    {"a when v(y)=0.4 fall=20", true},
    {"a when v(y)=0.4 fall=2000", true},
    {"a when v(y)=40", true},
    {"a avg v(y)", true},
    {"a avg v(y) from=0.3 to=2.9", true},
    {"a avg 3", true},
    {"a rms v(y,z) td=0.7", true},
    {"a integ v(y)*v(z) from=0 to=5", true},
    {"a integ v(y) from=2 to=1", true},
    {"a integ v(y) from=50 to=60", true},
    {"a integ v(y) from=-2 to=-1", true},
    {"a pp v(y)>0?v(z):v(y) from=1.5 to=1.5", true},
    {"a min max(v(y),v(z)) to=3.999", true},
    {"a max v(y) from=2", true},
    {"a min_at exp(v(y))", true},
    {"a max_at v(y)/v(up) from=1", true},
    {"a avg 1/(v(up)-v(up))", true},
    {"a param='1+2'", true},
    {"a param='v(y)'", false},
    {"a deriv v(y) at=1", false},
    {"a avg sqrt(v(y))", false},
    {"a avg v(y)^2", false},
    {"a avg deriv(v(y))", false},
    {"a avg v(y)[3]", false},
    {"a avg v(none)", false},
    {"a max v(y) from=other", false},
    {"a when v(y)=other", false},
    {"a max ac1.v(out)", false},
};
enum { N_POINT = 5000 };

static void fill(bench *b, post_plot *p, int from, int to)
{
    static const char *const name[] = {"time", "v(up)", "v(y)", "v(z)"};
    for (size_t i = 0; i < VS_COUNT(name); i++) {
        post_vec *v = post_plot_find(p, name[i]);
        if (!v)
            v = post_plot_add(&b->set, p, name[i], i ? "voltage" : "time", false);
        p->scale = i ? p->scale : v;
        v->n = 0;
        for (int k = from; k < to; k++) {
            const double t = (k + 0.3 * sin(k * 7.1) * (k > 0)) * (4.0 / N_POINT);
            const double y[] = {t, t, sin(40 * t) + 0.1 * sin(1e4 * t), cos(29 * t) * (2 - t / 3)};
            post_vec_push(v, y[i], 0);
        }
    }
}

START_TEST(pieces_give_the_bits_of_the_whole)
{
    bench b;
    bench_init(&b);
    post_plot *whole = post_plot_new(&b.set, "tran", "t", "Transient Analysis");
    fill(&b, whole, 0, N_POINT);
    post_plot *piece = post_plot_new(&b.set, "tran", "t", "Transient Analysis");
    const char **later = NULL;
    vec_push(later, "other");
    unsigned seed = 17;
    for (size_t i = 0; i < VS_COUNT(flows); i++) {
        const char *text = flows[i].text;
        post_flow *f = post_flow_new();
        post_meas a = {0}, c = {0};
        bool flowing = true;
        for (int k = 0, n; k < N_POINT && flowing; k += n) {
            seed = seed * 1103515245 + 12345;
            n = 1 + (int)(seed >> 8) % (i % 2 ? 3 : 2000);
            n = k + n > N_POINT ? N_POINT - k : k ? n : n + 1;
            b.set.current = piece;
            fill(&b, piece, k, k + n);
            flowing =
                (k || post_flow_add(f, &b.e, text, DIAG_NOWHERE, later)) && post_flow_take(f, &b.e);
        }
        ck_assert_msg(flowing == flows[i].flows, "%s", text);
        b.set.current = whole;
        if (flowing && post_flow_result(f, DIAG_NOWHERE, &b.mem, &c)) {
            ck_assert_int_eq(post_measure(&b.e, text, DIAG_NOWHERE, &a), VS_OK);
            ck_assert_msg(a.ok == c.ok && !memcmp(&a.value, &c.value, sizeof a.value) &&
                              a.n_part == c.n_part &&
                              !memcmp(a.part_value, c.part_value, sizeof a.part_value),
                          "%s: %.17g %.17g", text, a.value, c.value);
            ck_assert_str_eq(a.why ? a.why : "", c.why ? c.why : "");
        } else {
            ck_assert(!flowing || strstr(text, "param"));
        }
        post_flow_free(&f);
    }
    vec_free(later);
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("post/meas");
    TCase *t = tcase_create("post/meas");
    tcase_add_loop_test(t, each_form_gives_its_value, 0, (int)VS_COUNT(forms));
    tcase_add_loop_test(t, a_failed_measure_has_a_reason, 0, (int)VS_COUNT(failures));
    tcase_add_loop_test(t, texts_that_are_no_measure_are_errors, 0, (int)VS_COUNT(wrong));
    tcase_add_test(t, a_falling_axis_gives_the_same);
    tcase_add_test(t, pieces_give_the_bits_of_the_whole);
    suite_add_tcase(s, t);
    return run_suite(s);
}
