/* test_osdi.c - OSDI libraries: loading, parameters, evaluation, limiting, messages (with mock.c).
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "osdi.h"
#include "vec.h"

static diag d;
static osdi_lib *lib;
static const double sim[IR_N_SIMPARAM];

static const char *mock(const char *which)
{
    static char path[4096];
    const char *dir = getenv("VSIM_OSDI_MOCKS");
    ck_assert_ptr_nonnull(dir);
    snprintf(path, sizeof path, "%s/%s.osdi", dir, which);
    return path;
}

static void setup(void)
{
    diag_init(&d);
    lib = osdi_lib_new();
}

static void teardown(void)
{
    osdi_lib_free(&lib);
    diag_fini(&d);
}

static const osdi_module *load(const char *which)
{
    ck_assert_int_eq(osdi_load(lib, mock(which), &d, DIAG_NOWHERE), VS_OK);
    const osdi_module *m = osdi_find(lib, "MOCK_diode");
    ck_assert_ptr_nonnull(m);
    return m;
}

static osdi_env env_of(const char *who)
{
    return (osdi_env){.d = &d, .at = DIAG_NOWHERE, .who = who, .kelvin = 300.15, .simparam = sim};
}

static osdi_inst *device(const osdi_module *m, const osdi_set *set, size_t n, double mult)
{
    osdi_model *k = NULL;
    osdi_inst *in = NULL;
    const osdi_env env = env_of("d1");
    ck_assert_int_eq(osdi_model_get(&k, m, set, n, &env), VS_OK);
    ck_assert_int_eq(osdi_inst_new(&in, k, NULL, 0, 2, mult, &env), VS_OK);
    return in;
}

START_TEST(facts)
{
    const osdi_module *m = load(_i ? "mock3" : "mock4");
    ck_assert_int_eq(m->n_terminal, 2);
    ck_assert_int_eq(m->n_node, 3);
    ck_assert_str_eq(m->node[2].name, "i");
    ck_assert(m->node[0].volt);
    ck_assert_int_eq(osdi_param(m, "is"), osdi_param(m, "JS"));
    ck_assert_int_eq(osdi_param(m, "isx"), -1);
    ck_assert_int_eq(m->mfactor, 0);
    ck_assert(osdi_param_is_inst(m, 0) && !osdi_param_is_inst(m, 1));
    ck_assert_int_eq(osdi_load(lib, mock(_i ? "mock3" : "mock4"), &d, DIAG_NOWHERE), VS_OK);
    ck_assert_int_eq(osdi_n_module(lib), 1);
}
END_TEST

START_TEST(refused)
{
    ck_assert_int_eq(osdi_load(lib, "/nonexistent.osdi", &d, DIAG_NOWHERE), VS_EIO);
    ck_assert_int_eq(osdi_load(lib, mock("mock_future"), &d, DIAG_NOWHERE), VS_EINPUT);
    ck_assert_ptr_nonnull(strstr(vec_last(d.msg).text, "version 0.9"));
    ck_assert_int_eq(osdi_load(lib, mock("mock_limiter"), &d, DIAG_NOWHERE), VS_EINPUT);
    ck_assert_int_eq(osdi_load(lib, mock("not_a_library"), &d, DIAG_NOWHERE), VS_EINPUT);
    ck_assert_int_eq(d.n_error, 4);
    ck_assert_ptr_null(osdi_find(lib, "mock_diode"));
}
END_TEST

/* A file that was cut off would be mapped as if it were whole, and end the program. */
START_TEST(cut_off_files_are_refused)
{
    static char whole[1 << 20];
    char path[] = "/tmp/vsim-osdi-XXXXXX";
    FILE *in = fopen(mock("mock4"), "rb");
    ck_assert_ptr_nonnull(in);
    const size_t size = fread(whole, 1, sizeof whole, in);
    fclose(in);
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    for (size_t k = 0; k < 32; k++) {
        const size_t n = size * k / 32;
        ck_assert_int_eq(ftruncate(fd, 0), 0);
        ck_assert_int_eq(pwrite(fd, whole, n, 0), (ssize_t)n);
        ck_assert_int_eq(osdi_load(lib, path, &d, DIAG_NOWHERE), VS_EINPUT);
    }
    ck_assert_int_eq(d.n_error, 32);
    ck_assert_int_eq(pwrite(fd, whole, size, 0), (ssize_t)size);
    ck_assert_int_eq(osdi_load(lib, path, &d, DIAG_NOWHERE), VS_OK);
    close(fd);
    unlink(path);
}
END_TEST

START_TEST(models)
{
    const osdi_module *m = load("mock4");
    const int32_t is = osdi_param(m, "is");
    const osdi_set a = {is, 1e-15, NULL, DIAG_NOWHERE}, b = {is, 2e-15, NULL, DIAG_NOWHERE},
                   bad = {is, -1, NULL, DIAG_NOWHERE},
                   loud = {osdi_param(m, "kind"), 0, "loud", DIAG_NOWHERE};
    const osdi_env env = env_of("d1");
    osdi_model *k1, *k2, *k3;
    ck_assert_int_eq(osdi_model_get(&k1, m, &a, 1, &env), VS_OK);
    ck_assert_int_eq(osdi_model_get(&k2, m, &b, 1, &env), VS_OK);
    ck_assert_int_eq(osdi_model_get(&k3, m, &a, 1, &env), VS_OK);
    ck_assert(k1 == k3 && k1 != k2);
    ck_assert_int_eq(osdi_model_get(&k3, m, &bad, 1, &env), VS_EINPUT);
    ck_assert_int_eq(d.n_error, 1);
    ck_assert_ptr_nonnull(strstr(d.msg[0].text, "'IS'"));
    ck_assert_int_eq(osdi_model_get(&k3, m, &loud, 1, &env), VS_OK);
    ck_assert_ptr_nonnull(strstr(vec_last(d.msg).text, "made loud"));
}
END_TEST

/* Jacobian against differences of the residual; with r (three nodes) and without (collapsed). */
START_TEST(derivatives)
{
    const osdi_module *m = load("mock4");
    const osdi_set set[] = {{osdi_param(m, "r"), _i ? 0 : 10, NULL, DIAG_NOWHERE},
                            {osdi_param(m, "cj"), 1e-12, NULL, DIAG_NOWHERE}};
    osdi_inst *in = device(m, set, 2, 3);
    ck_assert_int_eq(in->one_with[2], _i ? 0 : 2);
    const double alpha = 1e9, h = 1e-7;
    osdi_dyn y = {.flags = 0xff | OSDI_ANALYSIS_TRAN, .gmin = 1e-12, .srcfact = 1};
    double x[3] = {0.65, 0.01, 0.62}, s[2] = {0}, t[2], j[8], sum[2][3];
    osdi_begin(lib, sim, &y);
    osdi_eval(in, &y, x, s, t);
    memcpy(j, osdi_jacobian_tran(in, alpha), sizeof j);
    const double *c = osdi_jacobian_c(in);
    ck_assert_double_eq_tol(c[0], 3e-12, 1e-20);
    for (int col = 0; col < 3; col++) {
        for (int side = 0; side < 2; side++) {
            double xs[3] = {x[0], x[1], x[2]}, r[3] = {0}, q[3] = {0};
            xs[col] += side ? h : -h;
            osdi_eval(in, &y, xs, s, t);
            osdi_residual(in, r);
            osdi_charge(in, q);
            for (int k = 0; k < 3; k++)
                sum[side][k] = r[k] + alpha * q[k];
            ck_assert_double_eq_tol(r[0] + r[1] + r[2], 0, 1e-12);
        }
        for (int row = 0; row < 3; row++) {
            double given = 0;
            for (int k = 0; k < 8; k++)
                if ((int)m->abi->jacobian[k].nodes.a == row &&
                    (int)m->abi->jacobian[k].nodes.b == col)
                    given += j[k];
            const double found = (sum[1][row] - sum[0][row]) / (2 * h);
            ck_assert_double_eq_tol(given, found, 1e-5 * (fabs(found) + 1e-3));
        }
    }
}
END_TEST

/* With limiting the residual is the tangent at the limited voltage, taken at x. */
START_TEST(limiting)
{
    const osdi_module *m = load("mock4");
    osdi_inst *in = device(m, NULL, 0, 1);
    osdi_dyn y = {.flags = 0xff | OSDI_ANALYSIS_DC | OSDI_ENABLE_LIM, .srcfact = 1};
    double x[3] = {5, 0, 5}, old[1] = {0.6}, lim[1], r[3] = {0};
    osdi_begin(lib, sim, &y);
    osdi_eval(in, &y, x, old, lim);
    ck_assert(in->ret & OSDI_RET_LIM);
    ck_assert(lim[0] > 0.6 && lim[0] < 0.9);
    osdi_residual(in, r);
    const double vt = 300.15 / 11604.518, i = 1e-14 * (exp(lim[0] / vt) - 1),
                 g = 1e-14 * exp(lim[0] / vt) / vt;
    ck_assert_double_eq_tol(r[2], i + g * (5 - lim[0]), 1e-9 * fabs(g * 5));
    ck_assert_double_eq_tol(osdi_value(in, osdi_param(m, "gd")), g, 1e-12 * g);
    y.flags |= OSDI_CALC_NOISE;
    double density[1];
    osdi_noise(in, 1e3, density);
    ck_assert_double_eq_tol(density[0], 2 * 1.602176634e-19 * i, 1e-30);
    ck_assert_double_eq(osdi_bound_step(in), 1e-3);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("osdi");
    TCase *t = tcase_create("osdi");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, facts, 0, 2);
    tcase_add_test(t, refused);
    tcase_add_test(t, cut_off_files_are_refused);
    tcase_add_test(t, models);
    tcase_add_loop_test(t, derivatives, 0, 2);
    tcase_add_test(t, limiting);
    suite_add_tcase(s, t);
    return run_suite(s);
}
