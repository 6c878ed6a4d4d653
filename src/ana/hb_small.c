/* hb_small.c - small signals on a periodic orbit: the response to ac sources. */
#include <math.h>
#include <string.h>

#include "hb.h"

/* -- common -- */

bool hb_tick(ana_orbit *h, const ana_table *t, double fraction, double f)
{
    h->a->st.points_accepted++;
    return ana_tick(h->a, &h->next_progress, fraction, f, t->progress, t->stop, t->user);
}

int32_t hb_sideband(const ana_orbit *h, int32_t s)
{
    for (int32_t k = 0; k < h->n_k; k++) {
        bool hit = h->index[k][0] == s;
        for (int32_t t = 1; t < h->o.n_tone; t++)
            hit = hit && h->index[k][t] == 0;
        if (hit)
            return k;
    }
    return -1;
}

vs_status hb_check_sideband(ana_orbit *h, int32_t s)
{
    if (hb_sideband(h, s) >= 0)
        return VS_OK;
    diag_error(h->a->d, h->o.span, "sideband %d: the orbit has %d harmonics", (int)s,
               (int)h->o.harm[0]);
    return VS_EINPUT;
}

/* -- response -- */

vs_status ana_hbac(ana_orbit *h, const ana_hbac_opt *o, const ana_table *t)
{
    const size_t n1 = (size_t)h->n + 1, nk = (size_t)h->n_k, ns = 2 * (size_t)o->most + 1;
    double *f = ana_frequencies(&o->freq);
    double *drive = vs_calloc(2 * n1, sizeof *drive);
    hb_cplx *b = vs_calloc(n1 * nk + 1, sizeof *b), *z = vs_calloc(ns * n1, sizeof *z);
    vs_status st = hb_check_sideband(h, o->most);
    const int32_t zero = hb_sideband(h, 0);
    h->m.factored = false;
    ckt_ac_drive(h->a->c, drive);
    for (size_t k = 0; k < vec_len(f) && st == VS_OK; k++) {
        memset(b, 0, (n1 * nk + 1) * sizeof *b);
        for (size_t i = 1; i < n1; i++)
            b[(i - 1) * nk + (size_t)zero] = drive[2 * i] + I * drive[2 * i + 1];
        st = hb_solve(h, 2 * M_PI * f[k], b);
        for (size_t s = 0; s < ns; s++) {
            const int32_t at = hb_sideband(h, (int32_t)s - o->most);
            for (size_t i = 1; i < n1; i++)
                z[s * n1 + i] = b[(i - 1) * nk + (size_t)at];
        }
        if (st == VS_OK)
            st = o->point(t->user, f[k], (const double *)z);
        if (hb_tick(h, t, (double)(k + 1) / (double)vec_len(f), f[k]) && st == VS_OK)
            st = VS_STOP;
    }
    vs_free(b);
    vs_free(z);
    vs_free(drive);
    vec_free(f);
    return st;
}
