/* Tests of products that serve later solutions, and of the full complex systems in them. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "recycle.h"

#include <complex.h> /* last: `complex` is a name in headers */

typedef double complex cplx;
enum { N = 12, K = 4 };

static double some(void) { return rand() / (double)RAND_MAX - 0.5; }

static void fill(cplx *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = some() + I * some();
}

/* y = P x, of P [N][N] by rows. */
static void product(const cplx *p, const cplx *x, cplx *y)
{
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++)
            y[i] += p[i * N + j] * x[j];
    }
}

static void add(recycle *r, const cplx *p, const cplx *x)
{
    cplx y[N];
    product(p, x, y);
    recycle_add(r, (const double *)x, (const double *)y);
}

/* |(1 - t P) y - x|, with y by r */
static double missed(const recycle *r, const cplx *p, cplx t, const cplx *x)
{
    cplx y[N], py[N];
    double most = 0;
    recycle_apply(r, (const double *)x, (double *)y);
    product(p, y, py);
    for (int i = 0; i < N; i++)
        most = fmax(most, cabs(y[i] - t * py[i] - x[i]));
    return most;
}

START_TEST(without_products_it_is_the_identity)
{
    recycle r;
    cplx x[N], y[N];
    fill(x, N);
    recycle_begin(&r, N);
    recycle_prepare(&r, (double[]){1, 0});
    recycle_apply(&r, (const double *)x, (double *)y);
    ck_assert_mem_eq(x, y, sizeof x);
    recycle_end(&r);
}
END_TEST

/* P takes everything to the space of which products are known: no more than rounding is left, at
 * any t, of what lies in that space. */
START_TEST(what_is_known_is_solved)
{
    recycle r;
    cplx p[N * N], x[N];
    srand(4);
    fill(p, N * N);
    for (int i = K * N; i < N * N; i++)
        p[i] = 0;
    recycle_begin(&r, N);
    for (int k = 0; k < 2 * K; k++) { /* the later ones add nothing */
        memset(x, 0, sizeof x);
        fill(x, K);
        add(&r, p, x);
    }
    for (int k = 0; k < 3; k++) {
        const cplx t = cexp(I * k);
        recycle_prepare(&r, (const double *)&t);
        ck_assert_int_eq(r.n_basis, K);
        ck_assert_double_le(missed(&r, p, t, x), 1e-11);
    }
    recycle_end(&r);
}
END_TEST

/* The operator became another one: the newest product of a vector counts. */
START_TEST(a_later_product_corrects_an_earlier_one)
{
    recycle r;
    cplx p[N * N], x[N];
    const double one[2] = {1, 0};
    srand(5);
    fill(p, N * N);
    fill(x, N);
    recycle_begin(&r, N);
    add(&r, p, x);
    recycle_prepare(&r, one);
    for (int i = 0; i < N * N; i++)
        p[i] *= 0.7;
    cplx px[N], y[N], first[N];
    product(p, x, px);
    for (int i = 0; i < N; i++)
        first[i] = x[i] - px[i];
    add(&r, p, x);
    recycle_prepare(&r, one);
    recycle_apply(&r, (const double *)first, (double *)y); /* (1 - P) x became x */
    ck_assert_int_eq(r.n_basis, 1);
    cplx along = 0, size = 0;
    for (int i = 0; i < N; i++) {
        along += conj(x[i]) * px[i];
        size += conj(x[i]) * x[i];
    }
    /* of first, the part (x' first / x' x) x is solved, by W = P x: Sherman and Morrison */
    const cplx c = (size - along) / size / (1 - along / size);
    for (int i = 0; i < N; i++)
        ck_assert_double_le(cabs(y[i] - (first[i] + c * px[i])), 1e-12);
    recycle_end(&r);
}
END_TEST

/* 1 - t V' W is singular: nothing is known rather than divided by 0. */
START_TEST(a_singular_core_is_forgotten)
{
    recycle r;
    cplx p[N * N] = {1}, x[N] = {1}, y[N];
    recycle_begin(&r, N);
    add(&r, p, x);
    recycle_prepare(&r, (double[]){1, 0});
    recycle_apply(&r, (const double *)x, (double *)y);
    ck_assert_int_eq(r.n_basis, 0);
    ck_assert_mem_eq(x, y, sizeof x);
    recycle_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recycle");
    TCase *t = tcase_create("recycle");
    tcase_add_test(t, without_products_it_is_the_identity);
    tcase_add_test(t, what_is_known_is_solved);
    tcase_add_test(t, a_later_product_corrects_an_earlier_one);
    tcase_add_test(t, a_singular_core_is_forgotten);
    suite_add_tcase(s, t);
    return run_suite(s);
}
