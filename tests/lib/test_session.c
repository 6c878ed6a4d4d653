/* Sessions: commands one at a time, runs that pause, plots that outlive circuits. */
#define _GNU_SOURCE
#include <malloc.h>
#include <unistd.h>

#include "deck.h"

static const char halved[] = "a divider\n"
                             "v1 in 0 dc 2\n"
                             "r1 in out 1k\n"
                             "r2 out 0 1k\n"
                             ".op\n"
                             ".end\n";
static const char filter[] = "a filter\n"
                             "v1 in 0 sin(0 1 1k)\n"
                             "r1 in out 1k\n"
                             "c1 out 0 100n\n"
                             ".tran 10u 3m\n"
                             ".end\n";

typedef struct ears {
    char text[2][8000]; /* what came to out and err */
    long n_begin, n_point, n_stop_asked, stop_at;
} ears;

static void hear_line(void *user, vsim_output to, const char *text)
{
    char *t = ((ears *)user)->text[to];
    const size_t n = strlen(t);
    snprintf(t + n, sizeof((ears *)user)->text[0] - n, "%s\n", text);
}

static void hear_begin(void *user, const vsim_plot *p)
{
    ck_assert_uint_gt(vsim_plot_vector_count(p), 0);
    ((ears *)user)->n_begin++;
}

static void hear_point(void *user, const vsim_plot *p)
{
    vsim_vector v;
    ears *e = user;
    ck_assert(vsim_plot_vector(p, 0, &v));
    ck_assert_uint_gt(v.n, 0);
    e->n_point++;
}

static bool asked(void *user)
{
    ears *e = user;
    return e->stop_at && e->n_point >= e->stop_at;
}

static vsim_session *session_like(vsim *s, ears *e, bool ngspice)
{
    vsim_session *p;
    vsim_session_options o;
    vsim_session_options_init(&o);
    o.line = hear_line;
    o.begin = hear_begin;
    o.point = hear_point;
    o.stop = asked;
    o.ngspice = ngspice;
    o.user = e;
    memset(e, 0, sizeof *e);
    ck_done(s, vsim_session_new(s, &o, &p));
    return p;
}

static vsim_session *session_of(vsim *s, ears *e) { return session_like(s, e, false); }

static void load(vsim *s, vsim_session *p, const char *text)
{
    ck_done(s, vsim_session_text(p, "deck.cir", text, strlen(text), NULL));
}

static double last_of(const vsim_session *p, const char *name)
{
    vsim_vector v;
    ck_assert(vsim_plot_find(vsim_session_current(p), name, &v) && v.n);
    return v.v[v.n - 1];
}

START_TEST(commands_need_no_circuit_unless_they_are_about_one)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    ck_done(s, vsim_session_command(p, "let x = 2*3"));
    ck_done(s, vsim_session_command(p, "print x"));
    ck_assert_str_eq(e.text[VSIM_TO_OUT], "x = 6.000000e+00\n");
    ck_assert_int_eq(vsim_session_command(p, "run"), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], "there is no circuit"));
    ck_assert_ptr_null(vsim_session_deck(p));
    vsim_free(&s);
}
END_TEST

START_TEST(circuits_change_and_plots_stay)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    load(s, p, halved);
    ck_done(s, vsim_session_command(p, "run"));
    ck_assert_double_eq_tol(last_of(p, "out"), 1, 1e-9);
    load(s, p, filter);
    ck_assert_str_eq(vsim_deck_title(vsim_session_deck(p)), "a filter");
    ck_done(s, vsim_session_command(p, "run"));
    ck_assert_uint_eq(vsim_session_plot_count(p), 3); /* and the constants */
    ck_assert_ptr_eq(vsim_session_plot(p, 0), vsim_session_find(p, "TRAN1"));
    ck_assert_str_eq(vsim_plot_id(vsim_session_plot(p, 1)), "op1");
    ck_assert_str_eq(vsim_plot_title(vsim_session_plot(p, 1)), "a divider");
    ck_assert_int_eq(e.n_begin, 2);
    ck_done(s, vsim_session_command(p, "setcirc 2"));
    ck_done(s, vsim_session_command(p, "alter r2 = 3k"));
    ck_done(s, vsim_session_command(p, "op"));
    ck_assert_double_eq_tol(last_of(p, "v(out)"), 1.5, 1e-9);
    ck_done(s, vsim_session_command(p, "remcirc"));
    ck_assert_str_eq(vsim_deck_title(vsim_session_deck(p)), "a filter");
    ck_done(s, vsim_session_command(p, "remcirc"));
    ck_assert_ptr_null(vsim_session_deck(p));
    ck_assert_int_eq(vsim_session_command(p, "remcirc"), VSIM_EINPUT);
    ck_assert_uint_eq(vsim_session_plot_count(p), 4);
    ck_done(s, vsim_session_command(p, "destroy all"));
    ck_assert_uint_eq(vsim_session_plot_count(p), 1);
    vsim_free(&s);
}
END_TEST

START_TEST(a_block_runs_when_its_end_comes)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    static const char *const line[] = {"foreach k 1 2 3", "  if $k <> 2", "    echo <$k>", "  end"};
    for (size_t i = 0; i < 4; i++) {
        ck_done(s, vsim_session_command(p, line[i]));
        ck_assert_int_eq(vsim_session_open_blocks(p), i == 1 || i == 2 ? 2 : 1);
    }
    ck_assert_str_eq(e.text[VSIM_TO_OUT], "");
    ck_done(s, vsim_session_command(p, "end"));
    ck_assert_str_eq(e.text[VSIM_TO_OUT], "<1>\n<3>\n");
    ck_done(s, vsim_session_command(p, "while 1"));
    vsim_session_forget(p);
    ck_assert_int_eq(vsim_session_open_blocks(p), 0);
    vsim_free(&s);
}
END_TEST

/* -- pauses -- */

static uint64_t plot_bits(const vsim_plot *p)
{
    uint64_t h = 0xcbf29ce484222325u;
    vsim_vector v;
    for (size_t i = 0; vsim_plot_vector(p, i, &v); i++)
        h = add_bits(h, v.v, v.n * (v.complex_values ? 2 : 1) * sizeof *v.v);
    return h;
}

START_TEST(a_run_in_pieces_has_the_bits_of_the_whole)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    load(s, p, filter);
    /* Points lie at times of stops, whether these hold or not. */
    ck_done(s, vsim_session_command(p, "stop when time > 1m when v(out) > 100"));
    ck_done(s, vsim_session_command(p, "stop when time > 1.5m when v(out) > 100"));
    ck_done(s, vsim_session_command(p, "run"));
    const uint64_t want = plot_bits(vsim_session_current(p));
    ck_done(s, vsim_session_command(p, "delete all"));
    ck_done(s, vsim_session_command(p, "stop when time > 1m"));
    ck_done(s, vsim_session_command(p, "stop when v(out)=0 when time>1.5m"));
    ck_assert_int_eq(vsim_session_command(p, "run"), VSIM_PAUSED);
    ck_assert(vsim_session_paused(p));
    const double t1 = last_of(p, "time");
    ck_assert(t1 > 1e-3 && t1 < 1.1e-3);
    ck_done(s, vsim_session_command(p, "delete 3"));
    ck_assert_int_eq(vsim_session_command(p, "step 3"), VSIM_PAUSED);
    ck_assert_int_eq(vsim_session_command(p, "option reltol = 1e-5"), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], "a run is paused"));
    ck_assert_int_eq(vsim_session_command(p, "resume"), VSIM_PAUSED);
    ck_assert_double_gt(last_of(p, "time"), 1.5e-3);
    ck_done(s, vsim_session_command(p, "delete all"));
    ck_done(s, vsim_session_command(p, "resume"));
    ck_assert(!vsim_session_paused(p));
    ck_assert_uint_eq(plot_bits(vsim_session_current(p)), want);
    vsim_free(&s);
}
END_TEST

START_TEST(a_host_that_stops_pauses_transients_alone)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    load(s, p, filter);
    e.stop_at = 20;
    ck_assert_int_eq(vsim_session_command(p, "run"), VSIM_PAUSED);
    ck_assert_int_eq(e.n_point, 20);
    e.stop_at = 0;
    ck_done(s, vsim_session_command(p, "resume"));
    ck_assert_double_eq_tol(last_of(p, "time"), 3e-3, 1e-12);
    e.stop_at = e.n_point + 3;
    ck_assert_int_eq(vsim_session_command(p, "ac lin 50 1 1k"), VSIM_STOP);
    ck_assert(!vsim_session_paused(p));
    vsim_free(&s);
}
END_TEST

START_TEST(another_analysis_ends_what_is_paused)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    load(s, p, filter);
    ck_assert_int_eq(vsim_session_command(p, "step 5"), VSIM_PAUSED);
    ck_done(s, vsim_session_command(p, "op"));
    ck_assert(!vsim_session_paused(p));
    ck_assert_int_eq(vsim_session_command(p, "step 5"), VSIM_PAUSED);
    ck_done(s, vsim_session_command(p, "destroy all"));
    ck_assert_int_eq(vsim_session_command(p, "step 5"), VSIM_PAUSED);
    load(s, p, halved);
    ck_assert_int_eq(vsim_session_command(p, "step 1"),
                     VSIM_OK); /* .op has no points to pause at */
    ck_assert_double_eq_tol(last_of(p, "out"), 1, 1e-9);
    vsim_free(&s);
}
END_TEST

/* -- what is wrong -- */

START_TEST(errors_show_the_place_in_deck_and_command)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    static const char broken[] = "broken\nr1 a 0 1k tc9=2\nq1 a b 0 nomodel\n.end\n";
    ck_assert_int_eq(vsim_session_text(p, "b.cir", broken, strlen(broken), NULL), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], "b.cir:3:10: error: "));
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], "^~~~"));
    ck_assert_ptr_null(vsim_session_deck(p));
    e.text[VSIM_TO_ERR][0] = 0;
    ck_assert_int_eq(vsim_session_command(p, "prnt 1"), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], "command:1:1: error: "));
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], "did you mean 'print'"));
    load(s, p, halved);
    e.text[VSIM_TO_ERR][0] = 0;
    ck_assert_int_eq(vsim_session_command(p, "alter r9 = 1"), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], "no element 'r9'"));
    ck_done(s, vsim_session_command(p, "run")); /* the change did not stay */
    int code;
    ck_assert_int_eq(vsim_session_command(p, "quit 3"), VSIM_STOP);
    ck_assert(vsim_session_quit(p, &code) && code == 3);
    ck_assert_int_eq(vsim_session_command(p, "shell true"), VSIM_EINPUT);
    ck_assert_int_eq(vsim_session_command(p, "cd /"), VSIM_EINPUT);
    vsim_free(&s);
}
END_TEST

START_TEST(single_numbers_and_models_by_their_elements)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    static const char deck[] = "a model\nv1 a 0 8\nr1 a 0 rm\n.model rm r res=1k\n.end\n";
    double x = 0;
    load(s, p, deck);
    ck_done(s, vsim_session_command(p, "altermod r1 res = 4k")); /* means its model */
    ck_done(s, vsim_session_command(p, "op"));
    ck_assert(vsim_session_number(p, "@r1[resistance]", &x));
    ck_assert_double_eq_tol(x, 4000, 1e-6);
    ck_assert(vsim_session_number(p, "2*v(a) + 1", &x));
    ck_assert_double_eq_tol(x, 17, 1e-9);
    ck_assert(!vsim_session_number(p, "v(nowhere)", &x));
    ck_assert_str_eq(e.text[VSIM_TO_ERR], ""); /* a question is no mistake */
    ck_assert_int_eq(vsim_session_command(p, "altermod r9 res = 4k"), VSIM_EINPUT);
    vsim_free(&s);
}
END_TEST

START_TEST(blocks_of_a_deck_run_when_it_is_loaded)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    static const char deck[] = "with a block\nv1 a 0 3\nr1 a 0 1k\n"
                               ".control\nop\nprint v(a)\n.endc\n.end\n";
    load(s, p, deck);
    ck_assert_str_eq(e.text[VSIM_TO_OUT], "v(a) = 3.000000e+00\n");
    static const char *const line[] = {"by line", "v1 a 0 4", "r1 a 0 1k", ".end"};
    for (size_t i = 0; i < 4; i++) {
        char text[80];
        snprintf(text, sizeof text, "circbyline %s", line[i]);
        ck_done(s, vsim_session_command(p, text));
    }
    ck_assert_str_eq(vsim_deck_title(vsim_session_deck(p)), "by line");
    ck_done(s, vsim_session_command(p, "op"));
    ck_assert_double_eq_tol(last_of(p, "a"), 4, 1e-9);
    vsim_free(&s);
}
END_TEST

/* log() to base 10, which a card of Xyce's asks for, is not what ngspice's clients mean. */
START_TEST(decks_of_a_session_like_ngspice_are_ngspices)
{
    static const char deck[] = "whose is it\nv1 a 0 {log(100)}\nr1 a 0 1k\n.op\n"
                               ".options timeint reltol=1e-3\n.end\n";
    const double expected[] = {2, 4.605170185988092};
    for (int as_ngspice = 0; as_ngspice < 2; as_ngspice++) {
        ears e;
        vsim *s = simulator();
        vsim_session *p = session_like(s, &e, as_ngspice);
        load(s, p, deck);
        ck_done(s, vsim_session_command(p, "op"));
        ck_assert_double_eq_tol(last_of(p, "a"), expected[as_ngspice], 1e-12);
        vsim_free(&s);
    }
}
END_TEST

START_TEST(a_circuit_comes_from_a_file)
{
    ears e;
    int code = 7;
    char path[] = "/tmp/vsim-session-XXXXXX";
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    const int fd = mkstemp(path);
    ck_assert_int_eq(write(fd, filter, sizeof filter - 1), (int)sizeof filter - 1);
    close(fd);
    ck_done(s, vsim_session_file(p, path, NULL));
    ck_assert_str_eq(vsim_deck_title(vsim_session_deck(p)), "a filter");
    unlink(path);
    ck_assert_int_ne(vsim_session_file(p, path, NULL), VSIM_OK);
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_ERR], path));
    ck_assert_str_eq(vsim_deck_title(vsim_session_deck(p)), "a filter");
    ck_assert(!vsim_session_quit(p, &code));
    vsim_session_free(&p);
    ck_assert_ptr_null(p);
    vsim_session_free(&p);
    p = session_of(s, &e); /* the simulator serves another one */
    ck_assert_ptr_null(vsim_session_deck(p));
    vsim_session_free(&p);
    vsim_free(&s);
}
END_TEST

/* Is t, to the last bit, a point of the newest plot? */
static bool has_point(const vsim_session *p, double t)
{
    vsim_vector v;
    ck_assert(vsim_plot_axis(vsim_session_current(p), &v));
    ck_assert_str_eq(v.name, "time");
    ck_assert_str_eq(v.unit, "s");
    for (size_t i = 0; i < v.n; i++)
        if (v.v[i] == t)
            return true;
    return false;
}

START_TEST(steps_end_where_the_host_breaks_them)
{
    const double t[] = {0.12345e-3, 1.98765e-3};
    ears e;
    vsim_vector v;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    load(s, p, filter);
    ck_done(s, vsim_session_command(p, "run"));
    ck_assert(!has_point(p, t[0]) && !has_point(p, t[1]));
    for (int i = 0; i < 2; i++)
        ck_assert(vsim_session_break(p, t[i]));
    ck_assert(!vsim_session_break(p, NAN) && !vsim_session_break(p, INFINITY));
    ck_done(s, vsim_session_command(p, "run"));
    ck_assert(has_point(p, t[0]) && has_point(p, t[1]));
    const vsim_plot *tran = vsim_session_current(p);
    ck_assert_str_eq(vsim_plot_name(tran), "Transient Analysis");
    ck_assert_uint_gt(strlen(vsim_plot_date(tran)), 0);
    ck_assert(vsim_session_break(p, -1)); /* forgotten */
    ck_done(s, vsim_session_command(p, "run"));
    ck_assert(!has_point(p, t[0]) && !has_point(p, t[1]));
    ck_done(s, vsim_session_command(p, "op"));
    ck_assert(!vsim_plot_axis(vsim_session_current(p), &v));
    ck_done(s, vsim_session_command(p, "version"));
    ck_assert_ptr_nonnull(strstr(e.text[VSIM_TO_OUT], vsim_version()));
    vsim_free(&s);
}
END_TEST

static void one_round(vsim *s, vsim_session *p, int i)
{
    char text[400];
    snprintf(text, sizeof text,
             "round\nv1 in 0 pulse(0 1 0 1u 1u 10u 20u)\nr1 in out %d\nd1 out 0 dm\n"
             ".model dm d is=1e-14 cjo=1p\n.tran 1u 20u\n.meas tran m max v(out)\n.end\n",
             1000 + i % 5);
    ck_done(s, vsim_session_text(p, "round.cir", text, strlen(text), NULL));
    ck_done(s, vsim_session_command(p, "alter r1 = 500"));
    ck_done(s, vsim_session_command(p, "run"));
    ck_done(s, vsim_session_command(p, "foreach k 1 2"));
    ck_done(s, vsim_session_command(p, "let y = 2*v(out)*$k"));
    ck_done(s, vsim_session_command(p, "end"));
    ck_done(s, vsim_session_command(p, "op"));
    ck_done(s, vsim_session_command(p, "meas tran top max v(out)"));
    ck_done(s, vsim_session_command(p, "destroy all"));
}

/* Circuits are loaded again and again without remcirc: once 64 are there, a load frees one. What
 * grows is the list of files alone, some 50 bytes for each. */
START_TEST(sessions_do_not_grow)
{
    ears e;
    vsim *s = simulator();
    vsim_session *p = session_of(s, &e);
    enum { ROUNDS = 300 };
    for (int i = 0; i < 100; i++)
        one_round(s, p, i);
    e.text[VSIM_TO_OUT][0] = 0;
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < ROUNDS; i++) {
        one_round(s, p, i);
        e.text[VSIM_TO_OUT][0] = 0;
    }
    const size_t after = mallinfo2().uordblks;
    ck_assert_uint_lt(after, before + (size_t)ROUNDS * 200 + 65536);
    vsim_free(&s);
}
END_TEST

int main(void)
{
    const TTest *const all[] = {commands_need_no_circuit_unless_they_are_about_one,
                                circuits_change_and_plots_stay,
                                a_block_runs_when_its_end_comes,
                                a_run_in_pieces_has_the_bits_of_the_whole,
                                a_host_that_stops_pauses_transients_alone,
                                another_analysis_ends_what_is_paused,
                                errors_show_the_place_in_deck_and_command,
                                single_numbers_and_models_by_their_elements,
                                blocks_of_a_deck_run_when_it_is_loaded,
                                decks_of_a_session_like_ngspice_are_ngspices,
                                a_circuit_comes_from_a_file,
                                steps_end_where_the_host_breaks_them,
                                sessions_do_not_grow};
    return run_tests("lib/session", all, sizeof all / sizeof *all);
}
