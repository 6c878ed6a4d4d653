/* Missing memory at any place is a status of the call; the simulator can then be freed, and nothing
 * is left. In a build with the address sanitizer leaks are seen when a case ends. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "api_priv.h"

/* Of the allocations of a case each of the first fails in turn, then some of the others, evenly
 * spread; these are PLACES in all, or VSIM_PLACES of the environment. */
enum { FIRST = 150, PLACES = 500 };

static const char circuit[] = "amplifier\n"
                              ".param w=10u\n"
                              ".model nch nmos level=1 vto=0.7 kp=100u lambda=0.02\n"
                              ".subckt stage in out vdd\n"
                              "m1 out in 0 0 nch w={w} l=1u\n"
                              "r1 vdd out 10k\n"
                              "c1 out 0 1p ic=0\n"
                              ".ends\n"
                              "vdd vdd 0 5\n"
                              "vin in 0 dc 1 ac 1 pulse(0 5 0 1n 1n 10n 20n)\n"
                              "x1 in a vdd stage\n"
                              "x2 a out vdd stage\n"
                              "d1 out 0 dx\n"
                              ".model dx d is=1e-15 cjo=1p\n"
                              "b1 q 0 v='v(out)*v(a)'\n"
                              "rq q 0 1k\n"
                              ".step param w list 10u 20u 30u\n"
                              ".meas tran high max v(out)\n"
                              ".end\n";

/* What a client does; the first status that is not VSIM_OK ends it. */
typedef vsim_status client(vsim *s, vsim_deck **d);

static vsim_status read_it(vsim *s, vsim_deck **d)
{
    return vsim_deck_text(s, "amplifier.sp", circuit, strlen(circuit), NULL, d);
}

static vsim_status run_card(vsim_deck *d, const char *card)
{
    vsim_run *r;
    double v;
    vsim_status st = vsim_run_card(d, card, NULL, &r);
    if (!st)
        st = vsim_run_go(r);
    if (!st && !strncmp(card, "op", 2))
        st = vsim_run_value(r, "v(out)", &v);
    if (r)
        vsim_run_free(&r);
    return st;
}

static vsim_status op(vsim *s, vsim_deck **d)
{
    const vsim_status st = read_it(s, d);
    return st ? st : run_card(*d, "op");
}

static vsim_status tran(vsim *s, vsim_deck **d)
{
    const vsim_status st = read_it(s, d);
    return st ? st : run_card(*d, "tran 0.1n 20n");
}

static vsim_status small_signals(vsim *s, vsim_deck **d)
{
    static const char *const card[] = {"ac dec 3 1 1meg", "noise v(out) vin dec 2 1 1k",
                                       "tf v(out) vin", "pz in 0 out 0 vol pz", "sens v(out)"};
    vsim_status st = read_it(s, d);
    for (size_t i = 0; !st && i < VS_COUNT(card); i++)
        st = run_card(*d, card[i]);
    return st;
}

static vsim_status sweep(vsim *s, vsim_deck **d)
{
    vsim_status st = read_it(s, d);
    for (int k = 0; !st && k < 3; k++) {
        st = vsim_set_param(*d, "w", 1e-5 * (k + 1));
        if (!st)
            st = run_card(*d, "dc vin 0 5 1");
    }
    return st;
}

static vsim_status change(vsim *s, vsim_deck **d)
{
    size_t n = 0;
    vsim_status st = read_it(s, d);
    if (!st)
        st = vsim_device_count(*d, &n);
    if (!st)
        st = vsim_set_device(*d, "x1.m1", "w", 20e-6);
    if (!st)
        st = vsim_set_options(*d, "reltol=1e-4");
    return st ? st : run_card(*d, "op");
}

static vsim *begin(void)
{
    vsim_settings set;
    vsim *s;
    vsim_settings_init(&set);
    set.interpret = true;
    ck_assert_int_eq(vsim_new(&s, &set), VSIM_OK);
    return s;
}

static int64_t allocations(client *c)
{
    vsim *s = begin();
    vsim_deck *d = NULL;
    const int64_t before = heap_count(s->heap);
    const vsim_status st = c(s, &d);
    size_t n;
    const vsim_message *m = vsim_messages(s, &n);
    ck_assert_msg(st == VSIM_OK, "%s: %s", vsim_status_text(st), n ? m[0].text : "");
    const int64_t all = heap_count(s->heap) - before;
    vsim_free(&s);
    ck_assert_ptr_null(s);
    return all;
}

/* The k-th allocation fails; on: all after it too. */
static void without(client *c, int64_t k, bool on)
{
    vsim *s = begin();
    vsim_deck *d = NULL;
    size_t n;
    heap_fail_at(s->heap, k, on);
    const vsim_status st = c(s, &d);
    ck_assert_msg(st == VSIM_ENOMEM, "allocation %lld: %s", (long long)k, vsim_status_text(st));
    ck_assert_ptr_nonnull(strstr(vsim_messages(s, &n)->text, "out of memory"));
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(read_it(s, &d), VSIM_ENOMEM); /* from now on */
    vsim_free(&s);
}

static void at_all_places(client *c)
{
    const char *asked = getenv("VSIM_PLACES");
    const int64_t all = allocations(c), most = asked ? atoll(asked) : PLACES;
    const int64_t n = most < all ? most : all, others = n - FIRST;
    ck_assert_int_gt(others, 0);
    for (int64_t i = 1; i <= FIRST; i++)
        without(c, i, i % 2 != 0);
    for (int64_t i = 1; i <= others; i++)
        without(c, FIRST + i * (all - FIRST) / others, i % 2 != 0);
    printf("%lld of %lld allocations failed in turn\n", (long long)n, (long long)all);
}

START_TEST(of_an_operating_point) { at_all_places(op); }
END_TEST
START_TEST(of_a_transient) { at_all_places(tran); }
END_TEST
START_TEST(of_small_signals) { at_all_places(small_signals); }
END_TEST
START_TEST(of_runs_between_changes) { at_all_places(sweep); }
END_TEST
START_TEST(of_lists_and_changes) { at_all_places(change); }
END_TEST

START_TEST(a_limit_of_the_host_is_kept)
{
    vsim_settings set;
    vsim *s;
    vsim_deck *d;
    vsim_settings_init(&set);
    set.interpret = true;
    set.memory = 100;
    ck_assert_int_eq(vsim_new(&s, &set), VSIM_ENOMEM);
    ck_assert_ptr_null(s);
    set.memory = 1 << 20;
    ck_assert_int_eq(vsim_new(&s, &set), VSIM_OK);
    const vsim_status st = tran(s, &d);
    ck_assert_int_eq(st, VSIM_ENOMEM);
    ck_assert_uint_le(heap_peak(s->heap), set.memory);
    vsim_free(&s);
}
END_TEST

static int n_told;
static void hear(void *user, const vsim_message *m)
{
    (void)user;
    n_told += m->severity == VSIM_ERROR;
}

/* Calls from within a callback: the host's frames stand between two guards. */
typedef struct visitor {
    vsim *s;
    vsim_deck *d;
    vsim_status st;
    int n_call;
} visitor;

static vsim_action visit(void *user, const vsim_point *p)
{
    visitor *v = user;
    size_t n;
    (void)p;
    v->n_call++;
    heap_fail_at(v->s->heap, 1, true);
    v->st = vsim_device_count(v->d, &n);
    return VSIM_GO_ON;
}

START_TEST(a_call_from_a_callback_returns_to_it)
{
    vsim_settings set;
    visitor v = {0};
    vsim_run *r;
    vsim_run_options o;
    vsim_settings_init(&set);
    set.interpret = true;
    set.message = hear;
    n_told = 0;
    ck_assert_int_eq(vsim_new(&v.s, &set), VSIM_OK);
    ck_assert_int_eq(read_it(v.s, &v.d), VSIM_OK);
    vsim_run_options_init(&o);
    o.point = visit;
    o.user = &v;
    ck_assert_int_eq(vsim_run_card(v.d, "tran 0.1n 20n", &o, &r), VSIM_OK);
    ck_assert_int_eq(vsim_run_go(r), VSIM_ENOMEM);
    ck_assert_int_eq(v.st, VSIM_ENOMEM);
    ck_assert_int_eq(v.n_call, 1);
    ck_assert_int_eq(n_told, 1);
    vsim_run_free(&r);
    vsim_deck_free(&v.d);
    vsim_free(&v.s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("api/memory");
    TCase *tc = tcase_create("memory");
    tcase_set_timeout(tc, TEST_PATIENCE);
    tcase_add_test(tc, of_an_operating_point);
    tcase_add_test(tc, of_a_transient);
    tcase_add_test(tc, of_small_signals);
    tcase_add_test(tc, of_runs_between_changes);
    tcase_add_test(tc, of_lists_and_changes);
    tcase_add_test(tc, a_limit_of_the_host_is_kept);
    tcase_add_test(tc, a_call_from_a_callback_returns_to_it);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
