/* ckt_bench.h - one circuit of hand-built models and what its loads gave. Include once per test
 * program. */
#ifndef CKT_BENCH_H
#define CKT_BENCH_H

#include <check.h>
#include <stdlib.h>

#include "ckt.h"
#include "mock_mdl.h"
#include "wave.h"

#define MAYBE_UNUSED __attribute__((unused))

static diag d;
static ckt *c;
static mdl_model res, cap, ind;
static double x[64], f[64], q[64], fmx[64], qmx[64];
static bool limited;

static void begin(void)
{
    diag_init(&d);
    mock_resistor(&res);
    mock_capacitor(&cap);
    mock_inductor(&ind);
    const ckt_opt opt = {.temp = 300};
    c = ckt_new(&opt, &d);
    memset(x, 0, sizeof x);
}

static void end(void)
{
    ckt_free(&c);
    diag_fini(&d);
    mock_fini(&res);
    mock_fini(&cap);
    mock_fini(&ind);
}

MAYBE_UNUSED static void add(mdl_model *m, int32_t row, const char *name, const char *p,
                             const char *n)
{
    const int32_t t[2] = {ckt_node(c, p), ckt_node(c, n)};
    ck_assert_int_eq(ckt_add_device(c, name, m, row, t, DIAG_NOWHERE), VS_OK);
}

MAYBE_UNUSED static void add_v(const char *name, const char *p, const char *n, double v)
{
    const wave w = {.kind = WAVE_DC, .dc = v, .dc_given = true};
    ck_assert_int_eq(ckt_add_vsource(c, name, ckt_node(c, p), ckt_node(c, n), &w, 1, DIAG_NOWHERE),
                     VS_OK);
}

MAYBE_UNUSED static void add_i(const char *name, const char *p, const char *n, double v)
{
    const wave w = {.kind = WAVE_DC, .dc = v, .dc_given = true};
    ck_assert_int_eq(ckt_add_isource(c, name, ckt_node(c, p), ckt_node(c, n), &w, 1, DIAG_NOWHERE),
                     VS_OK);
}

MAYBE_UNUSED static vs_status finish(void) { return ckt_finish(c, 1 << MDL_DC | 1 << MDL_TRAN); }

MAYBE_UNUSED static const ckt_env dc = {.mode = CKT_STATIC,
                                        .srcfact = 1,
                                        .gmin = 1e-12,
                                        .iter = 1,
                                        .limit = true};
MAYBE_UNUSED static const ckt_env tran = {.mode = CKT_TRAN,
                                          .srcfact = 1,
                                          .gmin = 1e-12,
                                          .iter = 1,
                                          .limit = true,
                                          .alpha = 1e3,
                                          .time = 1};

MAYBE_UNUSED static vs_status load(const ckt_env *e)
{
    return ckt_load(c, e, x, f, q, fmx, qmx, &limited);
}

MAYBE_UNUSED static double entry(const char *row, const char *col)
{
    const csc *a = ckt_pattern(c);
    const int32_t i = ckt_find(c, row) - 1, j = ckt_find(c, col) - 1;
    for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++)
        if (a->row[p] == i)
            return a->val[p];
    return NAN;
}

MAYBE_UNUSED static bool said(const char *text)
{
    for (size_t i = 0; i < vec_len(d.msg); i++)
        if (strstr(d.msg[i].text, text))
            return true;
    return false;
}

#endif
