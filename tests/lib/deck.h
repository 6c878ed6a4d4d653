/* deck.h - for tests of the library: simulators, decks, what a run gave as one number; a main. */
#ifndef TEST_LIB_DECK_H
#define TEST_LIB_DECK_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vsim/vsim.h>

#include "../unit/suite.h"

/* Fails with the messages of the call. */
#define ck_done(s, call)                                                         \
    do {                                                                         \
        const vsim_status st_ = (call);                                          \
        if (st_ != VSIM_OK)                                                      \
            ck_abort_msg("%s: %s\n%s", #call, vsim_status_text(st_), said((s))); \
    } while (0)

/* The messages of the last call, as the command prints them; static. */
static inline const char *said(const vsim *s)
{
    static _Thread_local char text[4000];
    size_t n, len = 0;
    const vsim_message *m = vsim_messages(s, &n);
    text[0] = 0;
    for (size_t i = 0; i < n && len < sizeof text; i++)
        len += vsim_message_format(&m[i], text + len, sizeof text - len);
    return text;
}

static inline vsim *simulator(void)
{
    vsim *s;
    vsim_settings set;
    vsim_settings_init(&set);
    set.models = getenv("VSIM_TEST_MODELS");
    set.cache = getenv("VSIM_TEST_CACHE");
    const vsim_status st = vsim_new(&s, &set);
    ck_assert_msg(st == VSIM_OK, "vsim_new: %s", vsim_status_text(st));
    return s;
}

static inline vsim_deck *deck_of(vsim *s, const char *text)
{
    vsim_deck *d;
    ck_done(s, vsim_deck_text(s, "deck", text, strlen(text), NULL, &d));
    return d;
}

static inline vsim_run *run_of(vsim *s, vsim_deck *d, const char *card)
{
    vsim_run *r;
    ck_done(s, vsim_run_card(d, card, NULL, &r));
    ck_done(s, vsim_run_go(r));
    return r;
}

static inline uint64_t add_bits(uint64_t h, const void *p, size_t bytes)
{
    const unsigned char *c = p;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ c[i]) * 0x100000001b3u;
    return h;
}

/* All vectors of all plots: names and values, to the last bit. */
static inline uint64_t bits_of(const vsim_run *r)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t k = 0; k < vsim_run_plot_count(r); k++) {
        vsim_vector v;
        for (size_t i = 0; vsim_plot_vector(vsim_run_plot(r, k), i, &v); i++) {
            h = add_bits(h, v.name, strlen(v.name));
            h = add_bits(h, v.v, v.n * (v.complex_values ? 2 : 1) * sizeof *v.v);
        }
    }
    return h;
}

static const char rectifier[] = "a rectifier\n"
                                "v1 in 0 sin(0 5 1k)\n"
                                "d1 in out dm\n"
                                "r1 out 0 1k\n"
                                "c1 out 0 1u\n"
                                ".model dm d is=1e-14 rs=1 cjo=10p tt=5n\n"
                                ".end\n";

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

/* The bits of a whole run. */
static inline uint64_t whole(const char *text, const char *card)
{
    vsim *s = simulator();
    const uint64_t h = bits_of(run_of(s, deck_of(s, text), card));
    vsim_free(&s);
    return h;
}

static inline double out_of(vsim *s, vsim_deck *d)
{
    double v;
    vsim_run *r = run_of(s, d, "op");
    ck_done(s, vsim_run_value(r, "v(out)", &v));
    vsim_run_free(&r);
    return v;
}

/* A divider: exact but for what Newton leaves open and gmin, far below 1e-6. */
#define ck_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-6)

static inline int run_tests(const char *name, const TTest *const *test, size_t n)
{
    TCase *t = tcase_create(name);
    tcase_set_timeout(t, 120);
    return run_case(name, t, test, n);
}

#endif
