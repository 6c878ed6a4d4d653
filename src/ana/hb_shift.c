/* hb_shift.c - harmonic balance: small signals of an oscillator, whose orbit may shift in time.
 * A shift in time is another orbit: A u = 0 for omega = 0 and the tangent u = j omega_k X_k. With
 * finitely many harmonics A u = m is small but not 0, which would stop the growth of responses
 * towards the carrier. A - m w', with w = conj(u) / |u|^2, has the null vector; Sherman and
 * Morrison's formula solves with it. */
#include <math.h>
#include <string.h>

#include "hb.h"

static size_t length(const ana_orbit *h) { return (size_t)h->n * (size_t)h->n_k; }

void hb_shift_begin(hb_shift *w, ana_orbit *h, bool transposed)
{
    const size_t nk = (size_t)h->n_k, all = length(h);
    double size = 0;
    *w = (hb_shift){.h = h, .transposed = transposed, .turn_f = NAN};
    if (!h->o.osc)
        return;
    w->miss = vs_calloc(all + 1, sizeof *w->miss);
    w->along = vs_calloc(all + 1, sizeof *w->along);
    w->turn = vs_calloc(all + 1, sizeof *w->turn);
    for (size_t i = 0; i < all; i++)
        w->along[i] = I * h->omega[i % nk] * h->x[nk + i];
    hb_product(h, 0, w->along, w->miss);
    for (size_t i = 0; i < all; i++)
        size += creal(w->along[i] * conj(w->along[i]));
    for (size_t i = 0; i < all; i++)
        w->along[i] = conj(w->along[i]) / size;
}

void hb_shift_end(hb_shift *w)
{
    vs_free(w->miss);
    vs_free(w->along);
    vs_free(w->turn);
}

static vs_status solve(const hb_shift *w, double f, hb_cplx *b)
{
    return (w->transposed ? hb_solve_t : hb_solve)(w->h, 2 * M_PI * f, b);
}

/* y solves A y = b: becomes the solution of (A - m w') y = b, or both transposed. */
static vs_status correct(hb_shift *w, double f, hb_cplx *y)
{
    const size_t all = length(w->h);
    const hb_cplx *from = w->transposed ? w->along : w->miss,
                  *by = w->transposed ? w->miss : w->along;
    hb_cplx *z = w->turn, with_y = 0, with_z = 0;
    if (f != w->turn_f) {
        memcpy(z, from, (all + 1) * sizeof *z);
        const vs_status st = solve(w, f, z);
        if (st != VS_OK)
            return st;
        w->turn_f = f;
    }
    for (size_t i = 0; i < all; i++) {
        with_y += by[i] * y[i];
        with_z += by[i] * z[i];
    }
    for (size_t i = 0; i < all; i++)
        y[i] += z[i] * with_y / (1 - with_z);
    return VS_OK;
}

vs_status hb_shift_solve(hb_shift *w, double f, hb_cplx *b)
{
    const vs_status st = solve(w, f, b);
    return st == VS_OK && w->miss ? correct(w, f, b) : st;
}
