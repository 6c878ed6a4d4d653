/* shoot_ac.c - the response to ac sources in time, on the orbit that shooting found: sideband k is
 * the Fourier coefficient of the envelope (shoot_small.h). */
#include <math.h>
#include <string.h>

#include "cyclo.h"
#include "vec.h"

typedef struct response {
    shoot_small e;
    const ana_hbac_opt *o;
    void *user;
    hb_cplx *b;   /* [n] of the ac sources */
    hb_cplx *u;   /* [n_step + 1][n] */
    hb_cplx *z;   /* [2 most + 1][n+1] the answer, sideband by sideband */
    small levels; /* shunts of isolated parts, means of the matrix; val NULL: there are none */
    ckt_env env;
} response;

static vs_status judge(response *w, double f)
{
    if (!w->levels.val)
        return VS_OK;
    const vs_status st = shoot_small_mean(&w->e, 2 * M_PI * f, w->levels.val);
    return st == VS_OK
               ? cyclo_refuse_fed(&w->levels, (ana_steady){.shot = w->e.s}, w->z, w->o->most, f)
               : st;
}

static void begin_judge(response *w, ana_shot *s)
{
    w->levels = cyclo_levels((ana_steady){.shot = s}, &w->env);
    if (small_has_levels(&w->levels))
        w->levels.val = vs_calloc(2 * ((size_t)s->nnz + 1), sizeof *w->levels.val);
}

static vs_status at_frequency(void *work, double f)
{
    response *w = work;
    const size_t n = (size_t)w->e.n, ns = 2 * (size_t)w->o->most + 1;
    vs_status st = shoot_small_ac(&w->e, f, w->b, w->u);
    if (st != VS_OK)
        return st;
    memset(w->z, 0, ns * (n + 1) * sizeof *w->z);
    for (size_t k = 0; k < ns; k++) {
        const hb_cplx *to = shoot_quad_fourier(&w->e.quad, w->o->most - (int32_t)k);
        hb_cplx *z = w->z + k * (n + 1) + 1;
        for (size_t p = 0; p < vec_len(w->e.quad.point); p++)
            for (size_t i = 0; i < n; i++)
                z[i] += to[p] * w->u[p * n + i];
    }
    st = judge(w, f);
    return st == VS_OK ? w->o->point(w->user, f, (const double *)w->z) : st;
}

static void make_room(response *w)
{
    const size_t all = ((size_t)w->e.n_step + 1) * (size_t)w->e.n + 1;
    w->u = vs_realloc(w->u, all * sizeof *w->u);
}

/* Steps that are short enough at both ends of the range. */
static vs_status refine(response *w, double from, double to)
{
    bool done = false;
    vs_status st = VS_OK;
    while (st == VS_OK && !done) {
        const size_t n = vec_len(w->e.s->step);
        double *error = vs_calloc(n + 1, sizeof *error);
        double most = 0;
        make_room(w);
        for (int k = 0; k < (from == to ? 1 : 2) && st == VS_OK; k++) {
            st = shoot_small_ac(&w->e, k ? to : from, w->b, w->u);
            if (st == VS_OK)
                st = shoot_small_errors(&w->e, k ? to : from, w->b, w->u);
            for (size_t i = 0; i < n; i++)
                error[i] = fmax(error[i], w->e.s->step[i].error);
        }
        for (size_t i = 0; i < n; i++) {
            w->e.s->step[i].error = error[i];
            most = fmax(most, error[i]);
        }
        vs_free(error);
        if (st == VS_OK)
            st = shoot_small_refine(&w->e, most, &done);
    }
    return st;
}

vs_status shoot_ac(ana_shot *s, const ana_hbac_opt *o, const ana_table *t)
{
    response w = {.o = o, .user = t->user};
    const size_t n1 = (size_t)s->n + 1;
    double *f = ana_frequencies(&o->freq), *drive = vs_calloc(2 * n1, sizeof *drive);
    ckt_ac_drive(s->a->c, drive);
    w.b = vs_calloc(n1, sizeof *w.b);
    for (size_t i = 1; i < n1; i++)
        w.b[i - 1] = drive[2 * i] + I * drive[2 * i + 1];
    w.z = vs_calloc((2 * (size_t)o->most + 1) * n1, sizeof *w.z);
    begin_judge(&w, s);
    vs_status st = shoot_small_begin(&w.e, s, t, NAN);
    if (st == VS_OK)
        st = refine(&w, o->freq.from, o->freq.to);
    if (st == VS_OK)
        st = freq_run_table(s->a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    shoot_small_end(&w.e);
    vs_free(w.b);
    vs_free(w.u);
    vs_free(w.z);
    vs_free(w.levels.val);
    vs_free(drive);
    vec_free(f);
    return st;
}
