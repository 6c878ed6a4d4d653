/* hb_small.c - small signals on a periodic orbit: the response to ac sources. */
#include <math.h>
#include <string.h>

#include "cyclo.h"

/* -- common -- */

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

/* -- response -- */

typedef struct response {
    ana_orbit *h;
    hb_shift shift;
    const ana_hbac_opt *o;
    void *user;
    double *drive; /* [2 (n+1)] of the ac sources */
    hb_cplx *b;    /* [n n_k + 1] */
    hb_cplx *z;    /* [2 most + 1][n+1] the answer, sideband by sideband */
    small levels;  /* shunts of isolated parts, means of the matrix; val NULL: there are none */
    ckt_env env;
} response;

static vs_status judge(response *w, double f)
{
    const ana_orbit *h = w->h;
    if (!w->levels.val)
        return VS_OK;
    for (int32_t p = 0; p < h->nnz; p++) {
        w->levels.val[2 * p] = h->g0[p];
        w->levels.val[2 * p + 1] = 2 * M_PI * f * h->c0[p];
    }
    return cyclo_refuse_fed(&w->levels, (ana_steady){.orbit = w->h}, w->z, w->o->most, f);
}

static void begin_judge(response *w)
{
    w->levels = cyclo_levels((ana_steady){.orbit = w->h}, &w->env);
    if (small_has_levels(&w->levels))
        w->levels.val = vs_calloc(2 * ((size_t)w->h->nnz + 1), sizeof *w->levels.val);
}

static vs_status at_frequency(void *work, double f)
{
    response *w = work;
    ana_orbit *h = w->h;
    const int32_t zero = hb_sideband(h, 0), most = w->o->most;
    const size_t n1 = (size_t)h->n + 1, nk = (size_t)h->n_k;
    memset(w->b, 0, ((n1 - 1) * nk + 1) * sizeof *w->b);
    for (size_t i = 1; i < n1; i++)
        w->b[(i - 1) * nk + (size_t)zero] = w->drive[2 * i] + I * w->drive[2 * i + 1];
    vs_status st = hb_shift_solve(&w->shift, f, w->b);
    if (st != VS_OK)
        return st;
    for (int32_t s = -most; s <= most; s++) {
        const size_t at = (size_t)hb_sideband(h, s);
        hb_cplx *z = w->z + (size_t)(s + most) * n1;
        for (size_t i = 1; i < n1; i++)
            z[i] = w->b[(i - 1) * nk + at];
    }
    st = judge(w, f);
    return st == VS_OK ? w->o->point(w->user, f, (const double *)w->z) : st;
}

vs_status ana_hbac(ana_steady on, const ana_hbac_opt *o, const ana_table *t)
{
    if (on.shot)
        return shoot_ac(on.shot, o, t);
    ana_orbit *h = on.orbit;
    const size_t n1 = (size_t)h->n + 1;
    response w = {.h = h, .o = o, .user = t->user};
    double *f = ana_frequencies(&o->freq);
    w.drive = vs_calloc(2 * n1, sizeof *w.drive);
    w.b = vs_calloc((size_t)h->n * (size_t)h->n_k + 1, sizeof *w.b);
    w.z = vs_calloc((2 * (size_t)o->most + 1) * n1, sizeof *w.z);
    h->m.factored = false;
    hb_shift_begin(&w.shift, h, false);
    ckt_ac_drive(h->a->c, w.drive);
    begin_judge(&w);
    const vs_status st = freq_run_table(h->a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    hb_shift_end(&w.shift);
    vs_free(w.levels.val);
    vs_free(w.b);
    vs_free(w.z);
    vs_free(w.drive);
    vec_free(f);
    return st;
}
