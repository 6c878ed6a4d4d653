/* The library as a host sees it: its files, messages, sources and callbacks, and what it must not
 * notice. */
#define _GNU_SOURCE
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "deck.h"

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
    const TTest *const all[] = {the_host_serves_files,
                                the_cache_folder_is_that_of_the_command,
                                messages_are_records,
                                wrong_settings_and_cards_are_told,
                                a_source_of_the_host_is_a_pwl,
                                a_host_that_answers_nonsense_ends_the_run,
                                the_hosts_thread_is_as_it_was,
                                numbers_have_a_point_in_every_locale,
                                callbacks_may_read_and_nothing_else,
                                decks_of_one_simulator_do_not_disturb_each_other,
                                results_go_to_files_too,
                                nothing_is_kept_if_nothing_is_wanted};
    return run_tests("lib/host", all, sizeof all / sizeof *all);
}
