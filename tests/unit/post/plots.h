/* plots.h - a plot of known curves for the tests of src/post:
 *   tran1: time 0, 0.1 .. 1; v(up) = time; v(wave) = sin(2 pi time) on 0.001; i(v1) = -time
 *   ac1:   frequency 1, 10, 100; v(out) = 1/(1 + j f/10) */
#ifndef PLOTS_H
#define PLOTS_H

#include <check.h>
#include <math.h>

#include "expr.h"
#include "vec.h"

typedef struct bench {
    diag d;
    str_pool names;
    arena mem;
    post_set set;
    post_env e;
} bench;

static inline void bench_init(bench *b)
{
    diag_init(&b->d);
    str_pool_init(&b->names);
    arena_init(&b->mem);
    post_set_init(&b->set, &b->names);
    b->e = (post_env){.set = &b->set, .d = &b->d, .span = DIAG_NOWHERE, .mem = &b->mem};
    post_plot *p = post_plot_new(&b->set, "ac", "t", "AC Analysis");
    p->scale = post_plot_add(&b->set, p, "frequency", "frequency", false);
    post_vec *out = post_plot_add(&b->set, p, "v(out)", "voltage", true);
    for (int k = 0; k < 3; k++) {
        double f = pow(10, k), d = 1 + f * f / 100;
        post_vec_push(p->scale, f, 0);
        post_vec_push(out, 1 / d, -f / 10 / d);
    }
    p = post_plot_new(&b->set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    post_vec *up = post_plot_add(&b->set, p, "v(up)", "voltage", false);
    post_vec *wave = post_plot_add(&b->set, p, "v(wave)", "voltage", false);
    post_vec *i = post_plot_add(&b->set, p, "i(v1)", "current", false);
    for (int k = 0; k <= 1000; k++) {
        double t = k / 1000.0;
        post_vec_push(p->scale, t, 0);
        post_vec_push(up, t, 0);
        post_vec_push(wave, sin(2 * M_PI * t), 0);
        post_vec_push(i, -t, 0);
    }
}

static inline void bench_fini(bench *b)
{
    post_set_fini(&b->set);
    arena_fini(&b->mem);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
}

#endif
