/* slopes.c - see slopes.h. */
#include "slopes.h"

#include <math.h>
#include <string.h>

static const double step = 3e-3; /* V, A */
enum { REACH = 4 };
/* Weights of differences to the values 1, 2, ... steps away; the first derivative's are odd. */
static const double first[REACH] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
static const double second[REACH] = {8. / 5, -1. / 5, 8. / 315, -1. / 560};

/* Of the direction: of nodes, whose voltages are what devices bend with (slopes of voltages, which
 * models may have as unknowns, are larger by omega); or of all. */
static double largest(const slopes_work *w, bool of_nodes)
{
    double most = 0;
    for (int32_t i = 1; i <= w->s->a->n; i++)
        if (!of_nodes || w->s->a->u[i].node)
            most = fmax(most, fabs(w->dir[i]));
    return most;
}

/* G', C', G'', C'' along w->dir. Status: VS_OK; VS_NOCONV (message). */
static vs_status differentiate(slopes_work *w, double *const to[4])
{
    ana *a = w->s->a;
    const ckt_env env = small_env(a);
    const size_t nz = (size_t)w->nnz;
    const double most = largest(w, true) > 0 ? largest(w, true) : largest(w, false);
    for (int k = 0; k < 4; k++)
        memset(to[k], 0, (nz + 1) * sizeof(double));
    const double h = most > 0 ? step / most : 0;
    for (int i = 0; i < 2 * REACH && h > 0; i++) {
        const int k = i < REACH ? i - REACH : i - REACH + 1, reach = k > 0 ? k : -k;
        const double odd = first[reach - 1] / (k > 0 ? h : -h), even = second[reach - 1] / (h * h);
        for (int32_t j = 1; j <= a->n; j++)
            w->x[j] = w->s->x[j] + k * h * w->dir[j];
        const vs_status st = ckt_load_ac(a->c, &env, w->x, false, w->g, w->c);
        if (st != VS_OK) {
            diag_error(a->d, DIAG_NOWHERE,
                       "a device gives a conductance or capacitance that is not finite within %g V "
                       "of the operating point",
                       REACH * step);
            return st;
        }
        for (size_t p = 0; p < nz; p++) {
            const double g = w->g[p] - w->g0[p], c = w->c[p] - w->c0[p]; /* 0 where linear */
            to[0][p] += odd * g;
            to[1][p] += odd * c;
            to[2][p] += even * g;
            to[3][p] += even * c;
        }
    }
    return VS_OK;
}

/* Devices keep what they computed at the last load, as delays do, which must be this one. */
static vs_status load_point(const slopes_work *w)
{
    const ckt_env env = small_env(w->s->a);
    return ckt_load_ac(w->s->a->c, &env, w->s->x, false, w->g0, w->c0);
}

vs_status slopes_of(slopes_work *w, const cplx *x, const slopes *once, const slopes *twice)
{
    vs_status st = VS_OK;
    for (int k = 0; k < (twice ? 3 : 2) && st == VS_OK; k++) {
        for (int32_t i = 0; i <= w->s->a->n; i++)
            w->dir[i] = (k == 1 ? 0 : creal(x[i])) + (k == 0 ? 0 : cimag(x[i]));
        st = differentiate(w, w->along[k]);
    }
    double *const *re = w->along[0], *const *im = w->along[1], *const *sum = w->along[2];
    for (int32_t p = 0; p < w->nnz && st == VS_OK; p++) {
        once->g[p] = re[0][p] + I * im[0][p];
        once->c[p] = re[1][p] + I * im[1][p];
        if (!twice)
            continue;
        twice->g[p] = re[2][p] - im[2][p] + I * (sum[2][p] - re[2][p] - im[2][p]);
        twice->c[p] = re[3][p] - im[3][p] + I * (sum[3][p] - re[3][p] - im[3][p]);
    }
    return st == VS_OK && ckt_has_delays(w->s->a->c) ? load_point(w) : st;
}

vs_status slopes_begin(slopes_work *w, const small *s)
{
    const size_t n1 = (size_t)s->a->n + 1, nz = (size_t)csc_nnz(s->a->jac) + 1;
    double **const of_entries[] = {&w->g, &w->c, &w->g0, &w->c0};
    *w = (slopes_work){.s = s, .nnz = csc_nnz(s->a->jac)};
    w->x = vs_calloc(n1, sizeof *w->x);
    w->dir = vs_calloc(n1, sizeof *w->dir);
    for (size_t k = 0; k < VS_COUNT(of_entries); k++)
        *of_entries[k] = vs_calloc(nz, sizeof(double));
    for (int k = 0; k < 12; k++)
        w->along[k / 4][k % 4] = vs_calloc(nz, sizeof(double));
    return load_point(w);
}

void slopes_end(slopes_work *w)
{
    void *const own[] = {w->x, w->dir, w->g, w->c, w->g0, w->c0};
    for (size_t k = 0; k < VS_COUNT(own); k++)
        vs_free(own[k]);
    for (int k = 0; k < 12; k++)
        vs_free(w->along[k / 4][k % 4]);
    *w = (slopes_work){0};
}

void slopes_new(const slopes_work *w, slopes *s)
{
    s->g = vs_calloc((size_t)w->nnz + 1, sizeof(cplx));
    s->c = vs_calloc((size_t)w->nnz + 1, sizeof(cplx));
}

void slopes_free(slopes *s)
{
    vs_free(s->g);
    vs_free(s->c);
    *s = (slopes){0};
}
