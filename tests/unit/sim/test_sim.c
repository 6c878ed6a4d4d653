/* Tests of the run engine: a change gives what a deck that says so gives, as little as possible is
 * made again, wrong changes are messages and can be taken back. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "sim.h"

typedef struct bench {
    diag d;
    str_pool names;
    mdl_lib *lib;
    sim *s;
} bench;

static void bench_init(bench *b)
{
    diag_init(&b->d);
    str_pool_init(&b->names);
    b->s = sim_new(&b->d, &b->names);
    ck_assert_ptr_nonnull(b->s);
    const mdl_opt mo = {.interpret = true};
    ck_assert_int_eq(mdl_lib_new(&b->lib, &b->d, &b->names, &mo), VS_OK);
    sim_opts(b->s)->lib = b->lib;
    sim_opts(b->s)->keep = SIM_KEEP_ALL;
}

static void bench_fini(bench *b)
{
    sim_free(&b->s);
    mdl_lib_free(&b->lib);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
}

static vs_status read_text(bench *b, const char *text)
{
    char *deck = malloc(strlen(text) + 32);
    const net_opt no = {0};
    sprintf(deck, "deck\n%s\n.end\n", text);
    vs_status st = sim_read_text(b->s, "deck.sp", deck, strlen(deck), &no);
    free(deck);
    if (!st)
        st = sim_read_options(b->s);
    return st ? st : sim_flatten(b->s);
}

static vs_status run_deck(bench *b)
{
    size_t n;
    const flat_ana *todo = sim_todo(b->s, &n);
    vs_status st = VS_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = sim_run(b->s, &todo[i]);
    return st;
}

static vs_status run_card(bench *b, const char *text)
{
    flat_ana a;
    const vs_status st = sim_parse(b->s, &a, text, DIAG_NOWHERE);
    return st ? st : sim_run(b->s, &a);
}

static const char *word(bench *b, const char *text) { return str_intern0(&b->names, text); }

static bool said(const bench *b, const char *text)
{
    for (size_t i = 0; i < vec_len(b->d.msg); i++)
        if (strstr(b->d.msg[i].text, text))
            return true;
    return false;
}

static const post_vec *vector(bench *b, const char *name)
{
    const post_vec *v = post_plot_find(sim_plots(b->s)->current, name);
    ck_assert_msg(v != NULL, "no vector %s", name);
    return v;
}

static double last(bench *b, const char *name)
{
    const post_vec *v = vector(b, name);
    return v->v[v->n - 1];
}

static void same_vector(bench *a, bench *b, const char *name)
{
    const post_vec *v = vector(a, name), *w = vector(b, name);
    ck_assert_msg(v->n == w->n, "%s has %lld points, not %lld", name, (long long)v->n,
                  (long long)w->n);
    ck_assert_msg(!memcmp(v->v, w->v, (size_t)v->n * sizeof *v->v), "%s has other bits", name);
}

static void alter(bench *b, const char *name, bool model, const char *param, double value)
{
    const sim_change c = {.name = word(b, name),
                          .model = model,
                          .param = word(b, param),
                          .value = &value,
                          .n = 1,
                          .span = DIAG_NOWHERE};
    sim_alter(b->s, &c);
}

/* -- changes -- */

/* A low pass with a diode; %s: resistance, dc value, saturation current, option, temperature. */
static const char deck_form[] = ".param rv=%s\n"
                                "v1 in 0 dc %s sin(0.2 0.5 1k)\n"
                                "r1 in out {rv}\n"
                                "c1 out 0 100n\n"
                                "d1 out 0 dm\n"
                                ".model dm d is=%s\n"
                                ".option reltol=%s\n"
                                ".temp %s\n"
                                "%s\n";

typedef struct values {
    const char *r, *v, *is, *reltol, *temp;
} values;
static const values as_read = {"1000", "2", "1e-14", "1e-3", "27"};

static void read_values(bench *b, const values *v, const char *card)
{
    char text[600];
    bench_init(b);
    snprintf(text, sizeof text, deck_form, v->r, v->v, v->is, v->reltol, v->temp, card);
    ck_assert_int_eq(read_text(b, text), VS_OK);
}

static void set_r(bench *b) { sim_set_param(b->s, word(b, "rv"), 2000); }
static void set_v(bench *b) { alter(b, "v1", false, "", 3); }
static void set_is(bench *b) { alter(b, "dm", true, "is", 2e-13); }
static void set_reltol(bench *b)
{
    ck_assert_int_eq(sim_set_option_number(b->s, "reltol", 1e-5, DIAG_NOWHERE), VS_OK);
}
static void set_temp(bench *b) { ck_assert_int_eq(sim_set_temp(b->s, 85, DIAG_NOWHERE), VS_OK); }

static const struct {
    const char *name;
    void (*set)(bench *b);
    values now;
} changes[] = {
    {"parameter", set_r, {"2000", "2", "1e-14", "1e-3", "27"}},
    {"source", set_v, {"1000", "3", "1e-14", "1e-3", "27"}},
    {"model", set_is, {"1000", "2", "2e-13", "1e-3", "27"}},
    {"option", set_reltol, {"1000", "2", "1e-14", "1e-5", "27"}},
    {"temperature", set_temp, {"1000", "2", "1e-14", "1e-3", "85"}},
};

static void check_changes(const char *card, bool many)
{
    for (size_t i = 0; i < VS_COUNT(changes); i++) {
        bench changed, fresh;
        read_values(&changed, &as_read, card);
        if (many)
            sim_many(changed.s);
        ck_assert_int_eq(run_deck(&changed), VS_OK);
        const double before = last(&changed, "v(out)");
        changes[i].set(&changed);
        ck_assert_int_eq(run_deck(&changed), VS_OK);
        read_values(&fresh, &changes[i].now, card);
        ck_assert_int_eq(run_deck(&fresh), VS_OK);
        same_vector(&changed, &fresh, "v(out)");
        same_vector(&changed, &fresh, "i(v1)");
        const bool op =
            strstr(card, ".op") != NULL;        /* a transient does not see the dc value, nor */
        if (op && changes[i].set != set_reltol) /* may an operating point see reltol */
            ck_assert_msg(last(&changed, "v(out)") != before, "%s: no change", changes[i].name);
        bench_fini(&fresh);
        bench_fini(&changed);
    }
}

START_TEST(a_change_gives_the_operating_point_of_a_deck_that_says_so)
{
    check_changes(".op", false);
}
END_TEST
START_TEST(so_it_does_when_dependences_are_known) { check_changes(".op", true); }
END_TEST
START_TEST(a_change_gives_the_transient_of_a_deck_that_says_so)
{
    check_changes(".tran 10u 1m", true);
}
END_TEST

START_TEST(values_are_made_again_in_place)
{
    bench b;
    read_values(&b, &as_read, ".op");
    sim_many(b.s);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    set_r(&b);
    ck_assert_int_eq(run_deck(&b), VS_OK); /* the second expansion notes what depends on what */
    const sim_stat before = *sim_stats(b.s);
    for (int i = 1; i <= 5; i++) {
        sim_set_param(b.s, word(&b, "rv"), 1000.0 * i + 1);
        ck_assert_int_eq(run_deck(&b), VS_OK);
    }
    ck_assert_int_eq(sim_stats(b.s)->built, before.built);
    ck_assert_int_eq(sim_stats(b.s)->expanded, before.expanded);
    ck_assert_int_eq(sim_stats(b.s)->redone, before.redone + 5);
    ck_assert_int_eq(sim_stats(b.s)->rows, before.rows + 5); /* r1's, no other */
    ck_assert_int_eq(sim_stats(b.s)->sources, before.sources);
    bench_fini(&b);
}
END_TEST

START_TEST(what_decides_the_elements_makes_the_circuit_anew)
{
    bench b;
    bench_init(&b);
    ck_assert_int_eq(read_text(&b, ".param two=0\nv1 in 0 1\nr1 in out 1k\nr2 out 0 1k\n"
                                   ".if (two)\nr3 out x 1k\nr4 x 0 1k\n.endif\n.op"),
                     VS_OK);
    sim_many(b.s);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    const int64_t built = sim_stats(b.s)->built;
    const int32_t unknowns = sim_stats(b.s)->unknowns;
    ck_assert_double_eq_tol(last(&b, "v(out)"), 0.5, 1e-9);
    sim_set_param(b.s, word(&b, "two"), 1);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert_int_eq(sim_stats(b.s)->built, built + 1);
    ck_assert_int_eq(sim_stats(b.s)->unknowns, unknowns + 1);
    ck_assert_double_eq_tol(last(&b, "v(out)"), 0.4, 1e-9); /* 1k against 1k and 2k beside it */
    bench_fini(&b);
}
END_TEST

START_TEST(an_operating_point_is_looked_for_once)
{
    bench b;
    read_values(&b, &as_read, ".op");
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert_int_eq(sim_stats(b.s)->ops, 1);
    ck_assert_int_eq(sim_stats(b.s)->ops_taken, 1);
    set_reltol(&b);
    ck_assert_int_eq(run_deck(&b), VS_OK); /* tolerances decide where Newton ends */
    ck_assert_int_eq(sim_stats(b.s)->ops, 2);
    ck_assert_int_eq(sim_stats(b.s)->ops_taken, 1);
    set_r(&b);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert_int_eq(sim_stats(b.s)->ops, 3);
    bench_fini(&b);
}
END_TEST

START_TEST(reset_takes_all_changes_back)
{
    bench b, fresh;
    read_values(&b, &as_read, ".op");
    ck_assert_int_eq(run_deck(&b), VS_OK);
    set_r(&b);
    set_v(&b);
    set_is(&b);
    set_temp(&b);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    sim_reset(b.s, NULL, 0);
    ck_assert_double_eq(sim_temp(b.s), 27);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    read_values(&fresh, &as_read, ".op");
    ck_assert_int_eq(run_deck(&fresh), VS_OK);
    same_vector(&b, &fresh, "v(out)");
    bench_fini(&fresh);
    bench_fini(&b);
}
END_TEST

/* -- wrong changes -- */

START_TEST(wrong_options_and_temperatures_are_messages_and_change_nothing)
{
    bench b;
    read_values(&b, &as_read, ".op");
    ck_assert_int_eq(sim_set_temp(b.s, -300, DIAG_NOWHERE), VS_EINPUT);
    ck_assert(said(&b, "not above absolute zero"));
    ck_assert_double_eq(sim_temp(b.s), 27);
    ck_assert_int_eq(sim_set_option_number(b.s, "reltol", -1, DIAG_NOWHERE), VS_EINPUT);
    ck_assert(said(&b, "a positive number is needed"));
    ck_assert_double_eq(sim_option(b.s)->reltol, 1e-3);
    ck_assert_int_eq(sim_set_option_number(b.s, "relltol", 1, DIAG_NOWHERE), VS_EINPUT);
    ck_assert(said(&b, "no option 'relltol' to step"));
    bench_fini(&b);
}
END_TEST

START_TEST(a_change_of_what_is_not_there_can_be_taken_back)
{
    bench b;
    read_values(&b, &as_read, ".op");
    ck_assert_int_eq(run_deck(&b), VS_OK);
    const double before = last(&b, "v(out)");
    sim_saved *was = sim_save(b.s);
    alter(&b, "r7", false, "", 1);
    ck_assert_int_eq(run_deck(&b), VS_EINPUT);
    ck_assert(said(&b, "r7"));
    sim_restore(b.s, was);
    sim_saved_free(&was);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert_double_eq(last(&b, "v(out)"), before);
    bench_fini(&b);
}
END_TEST

START_TEST(cards_as_text_are_checked)
{
    bench b;
    read_values(&b, &as_read, "");
    ck_assert_int_eq(run_card(&b, "op"), VS_OK);
    ck_assert_int_eq(run_card(&b, "tran 1u"), VS_EINPUT);
    ck_assert_int_eq(run_card(&b, "dc nobody 0 1 0.1"), VS_EINPUT);
    ck_assert(said(&b, "nobody"));
    ck_assert_int_eq(run_card(&b, "print v(out)"), VS_EINPUT);
    ck_assert(said(&b, "'print v(out)' is no analysis"));
    ck_assert_int_eq(run_card(&b, "dc v1 0 1 0.25"), VS_OK);
    ck_assert_int_eq(vector(&b, "v(out)")->n, 5);
    bench_fini(&b);
}
END_TEST

/* -- results -- */

START_TEST(vectors_are_kept_as_the_client_says)
{
    bench b;
    read_values(&b, &as_read, ".op");
    sim_opts(b.s)->keep = SIM_KEEP_NOTHING;
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert_ptr_null(sim_plots(b.s)->current);
    sim_opts(b.s)->keep = SIM_KEEP_NAMED;
    vec_push(sim_opts(b.s)->keep_name, word(&b, "v(out)"));
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert_ptr_nonnull(post_plot_find(sim_plots(b.s)->current, "v(out)"));
    ck_assert_ptr_null(post_plot_find(sim_plots(b.s)->current, "v(in)"));
    bench_fini(&b);
}
END_TEST

static bool stop_now(void *user) { return ++*(int *)user > 3; }

START_TEST(a_run_stops_when_the_client_asks)
{
    bench b;
    int asked = 0;
    read_values(&b, &as_read, ".tran 1u 10m");
    sim_opts(b.s)->hook = (sim_hook){.stop = stop_now, .user = &asked};
    ck_assert_int_eq(run_deck(&b), VS_STOP);
    const post_vec *t = vector(&b, "time");
    ck_assert_int_gt(t->n, 0);
    ck_assert_double_lt(t->v[t->n - 1], 10e-3);
    bench_fini(&b);
}
END_TEST

static bool stop_at_once(void *user)
{
    ++*(int *)user;
    return true;
}

START_TEST(a_search_for_an_operating_point_stops_when_the_client_asks)
{
    static const char *const card[] = {".op\n.options itl1=2", ".tran 1u 10m\n.options itl1=2"};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        int asked = 0;
        read_values(&b, &as_read, card[i]);
        sim_opts(b.s)->hook = (sim_hook){.stop = stop_at_once, .user = &asked};
        ck_assert_int_eq(run_deck(&b), VS_STOP);
        ck_assert_int_eq(asked, 1);
        ck_assert_int_eq(b.d.n_error, 0);
        sim_opts(b.s)->hook = (sim_hook){0};
        ck_assert_int_eq(run_deck(&b), VS_OK); /* from there on as if it had not begun */
        bench_fini(&b);
    }
}
END_TEST

typedef struct patience {
    int asked, most;
} patience;

static bool stop_after(void *user)
{
    patience *p = user;
    return ++p->asked > p->most;
}

static void append(char **to, const char *text)
{
    const size_t at = vec_len(*to), n = strlen(text);
    vec_extend(*to, n);
    memcpy(*to + at, text, n);
}

/* 1200 diodes in a row, each with a resistor to ground. */
static void read_large(bench *b, const char *card)
{
    char text[100], *deck = NULL;
    snprintf(text, sizeof text, ".model dm d\nv1 n0 0 5\n%s\n", card);
    append(&deck, text);
    for (int i = 0; i < 1200; i++) {
        snprintf(text, sizeof text, "d%d n%d n%d dm\nr%d n%d 0 1meg\n", i, i, i + 1, i, i + 1);
        append(&deck, text);
    }
    vec_push(deck, 0);
    bench_init(b);
    ck_assert_int_eq(read_text(b, deck), VS_OK);
    vec_free(deck);
}

START_TEST(plain_newton_of_a_large_circuit_stops_when_the_client_asks)
{
    static const char *const card[] = {".op", ".dc v1 1 5 1"};
    for (size_t i = 0; i < 2; i++)
        for (int most = 0; most < 4; most++) {
            bench b;
            patience p = {.most = most};
            read_large(&b, card[i]);
            sim_opts(b.s)->hook = (sim_hook){.stop = stop_after, .user = &p};
            ck_assert_int_eq(run_deck(&b), VS_STOP);
            ck_assert_int_eq(p.asked, most + 1);
            ck_assert_int_eq(b.d.n_error, 0);
            bench_fini(&b);
        }
}
END_TEST

START_TEST(values_inside_devices_belong_to_the_last_operating_point)
{
    bench b;
    double id, v;
    read_values(&b, &as_read, ".op");
    ck_assert(!sim_device_value(b.s, "@d1[id]", &id));
    ck_assert_int_eq(run_deck(&b), VS_OK);
    ck_assert(sim_device_value(b.s, "@d1[id]", &id));
    ck_assert_double_eq_tol(id, (2 - last(&b, "v(out)")) / 1000, 1e-3 * id + 1e-12);
    ck_assert(!sim_device_value(b.s, "@d1[nothing]", &v));
    ck_assert(!sim_device_value(b.s, "@d9[id]", &v));
    bench_fini(&b);
}
END_TEST

START_TEST(parameters_and_elements_are_found_by_name)
{
    bench b;
    double y = 0;
    bench_init(&b);
    ck_assert_int_eq(read_text(&b, ".param a=2 b={3*a}\n.subckt s p\nr1 p 0 1k\n.ends\n"
                                   "v1 in 0 1\nx1 in s\n.op"),
                     VS_OK);
    ck_assert(sim_param(b.s, word(&b, "b"), &y));
    ck_assert_double_eq(y, 6);
    sim_set_param(b.s, word(&b, "a"), 5);
    ck_assert(sim_param(b.s, word(&b, "b"), &y));
    ck_assert_double_eq(y, 15);
    ck_assert(!sim_param(b.s, word(&b, "c"), &y));
    ck_assert_str_eq(sim_element_name(b.s, word(&b, "r.x1.r1")), "x1.r1");
    ck_assert_str_eq(sim_element_name(b.s, word(&b, "x1.r1")), "x1.r1");
    ck_assert_str_eq(sim_element_name(b.s, word(&b, "r.x1.r9")), "r.x1.r9");
    bench_fini(&b);
}
END_TEST

START_TEST(figures_of_processes_add_up)
{
    bench a, b;
    sim_figures before, own;
    read_values(&a, &as_read, ".op");
    read_values(&b, &as_read, ".op");
    ck_assert_int_eq(run_deck(&a), VS_OK);
    sim_figures_now(a.s, &before);
    set_r(&a);
    ck_assert_int_eq(run_deck(&a), VS_OK);
    sim_figures_now(a.s, &own);
    sim_figures_less(&own, &before); /* of the second run alone */
    ck_assert_int_eq(own.st.ops, 1);
    ck_assert_int_gt(own.st.iterations, 0);
    ck_assert_int_eq(run_deck(&b), VS_OK);
    const int64_t iterations = sim_stats(b.s)->iterations;
    sim_figures_add(b.s, &own);
    ck_assert_int_eq(sim_stats(b.s)->iterations, iterations + own.st.iterations);
    ck_assert_int_eq(sim_stats(b.s)->ops, 2);
    bench_fini(&a);
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim");
    TCase *tc = tcase_create("engine");
    tcase_add_test(tc, a_change_gives_the_operating_point_of_a_deck_that_says_so);
    tcase_add_test(tc, so_it_does_when_dependences_are_known);
    tcase_add_test(tc, a_change_gives_the_transient_of_a_deck_that_says_so);
    tcase_add_test(tc, values_are_made_again_in_place);
    tcase_add_test(tc, what_decides_the_elements_makes_the_circuit_anew);
    tcase_add_test(tc, an_operating_point_is_looked_for_once);
    tcase_add_test(tc, reset_takes_all_changes_back);
    tcase_add_test(tc, wrong_options_and_temperatures_are_messages_and_change_nothing);
    tcase_add_test(tc, a_change_of_what_is_not_there_can_be_taken_back);
    tcase_add_test(tc, cards_as_text_are_checked);
    tcase_add_test(tc, vectors_are_kept_as_the_client_says);
    tcase_add_test(tc, a_run_stops_when_the_client_asks);
    tcase_add_test(tc, a_search_for_an_operating_point_stops_when_the_client_asks);
    tcase_add_test(tc, plain_newton_of_a_large_circuit_stops_when_the_client_asks);
    tcase_add_test(tc, values_inside_devices_belong_to_the_last_operating_point);
    tcase_add_test(tc, parameters_and_elements_are_found_by_name);
    tcase_add_test(tc, figures_of_processes_add_up);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
