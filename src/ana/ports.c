/* ports.c - see ports.h. */
#include "ports.h"

#include <string.h>

#include "full.h"

static const double boltzmann = 1.380649e-23, t0_kelvin = 290; /* IEEE reference of noise figures */

void ports_begin(ports *w, const ana_port *port, int32_t np)
{
    ports_cplx **m[] = {&w->S, &w->Y, &w->Z, &w->Cs, &w->Cy, &w->m};
    *w = (ports){.port = port, .np = np};
    for (size_t k = 0; k < VS_COUNT(m); k++)
        *m[k] = vs_calloc((size_t)np * (size_t)np, sizeof **m[k]);
}

void ports_end(ports *w)
{
    ports_cplx *m[] = {w->S, w->Y, w->Z, w->Cs, w->Cy, w->m};
    for (size_t k = 0; k < VS_COUNT(m); k++)
        vs_free(m[k]);
}

/* X of m X = b, all [n][n], in place of b; m is destroyed. NaN if m is singular. */
static void solve_dense(int32_t n, ports_cplx *m, ports_cplx *b)
{
    static const double least = 1e-13; /* of a pivot: entries are of the size of 1 */
    int32_t *pivot = vs_calloc((size_t)n + 1, sizeof *pivot);
    ports_cplx *x = vs_calloc((size_t)n + 1, sizeof *x);
    const bool good = full_z_factor(m, pivot, n, least);
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = 0; i < n; i++)
            x[i] = good ? b[i * n + j] : NAN;
        if (good)
            full_z_solve(m, pivot, n, x);
        for (int32_t i = 0; i < n; i++)
            b[i * n + j] = x[i];
    }
    vs_free(pivot);
    vs_free(x);
}

void ports_y_z(ports *w)
{
    const int32_t n = w->np;
    for (int pass = 0; pass < 2; pass++) {
        const double sign = pass ? -1 : 1; /* (1 + S)^-1 (1 - S) commute: Y; then Z */
        ports_cplx *to = pass ? w->Z : w->Y;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                w->m[i * n + j] = (i == j) + sign * w->S[i * n + j];
                to[i * n + j] = (i == j) - sign * w->S[i * n + j];
            }
        solve_dense(n, w->m, to);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                const double r = sqrt(w->port[i].z0 * w->port[j].z0);
                to[i * n + j] *= pass ? r : 1 / r;
            }
    }
}

/* Cy = A Cs A^H with A = 2 z^-1/2 (1 + S)^-1 */
void ports_cy(ports *w)
{
    const int32_t n = w->np;
    ports_cplx *cs = w->Cs;
    for (int pass = 0; pass < 2; pass++) { /* (1 + S)^-1 Cs, then the same on its other side */
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                w->m[i * n + j] = (i == j) + w->S[i * n + j];
        solve_dense(n, w->m, cs);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                w->Cy[j * n + i] = conj(cs[i * n + j]);
        memcpy(cs, w->Cy, (size_t)(n * n) * sizeof *cs);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            w->Cy[i * n + j] = 4 * cs[i * n + j] / sqrt(w->port[i].z0 * w->port[j].z0);
}

/* From the chain representation: u = -n_2 / y_21, i = n_1 - n_2 y_11 / y_21. rn = |u|^2 / 4kT0,
 * y_opt and F_min as in Hillbrand & Russer. */
double ports_figures(const ports *w, ports_cplx figure[PORTS_N_FIGURE])
{
    const ports_cplx *y = w->Y, *c = w->Cy;
    const double kt4 = 4 * boltzmann * t0_kelvin;
    const ports_cplx y11 = y[0], y21 = y[2];
    const double uu = creal(c[3]) / (cabs(y21) * cabs(y21));
    const ports_cplx ui = -c[2] / y21 + c[3] * conj(y11) / (y21 * conj(y21)); /* <u i*> */
    const double ii = creal(c[0]) - 2 * creal(c[2] * (y11 / y21)) +
                      creal(c[3]) * cabs(y11) * cabs(y11) / (cabs(y21) * cabs(y21));
    const double rn = uu / kt4, im = cimag(ui) / uu, gg = ii / uu - im * im;
    const ports_cplx yopt = sqrt(gg > 0 ? gg : 0) + I * im;
    const double fmin = 1 + (2 / kt4) * (creal(ui) + uu * creal(yopt));
    const double ys = 1 / w->port[0].z0;
    figure[0] = (ys - yopt) / (ys + yopt);
    figure[1] = 10 * log10(fmin);
    figure[2] = rn;
    return fmin + rn / ys * cabs(ys - yopt) * cabs(ys - yopt);
}

void ports_columns(ana *a, int32_t np, const char *kind, const char *type, ana_column **col)
{
    for (int32_t i = 1; i <= np; i++)
        for (int32_t j = 1; j <= np; j++)
            vec_push(*col,
                     ((ana_column){arena_printf(&a->mem, "%s_%d_%d", kind, (int)i, (int)j), type}));
}
