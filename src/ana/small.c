/* small.c - see small.h. */
#include "small.h"

#include <math.h>
#include <string.h>

ckt_env small_env(const ana *a)
{
    ckt_env env = ana_static_eq(a, false).env;
    env.limit = false;
    env.iter = 1;
    return env;
}

static void allocate(small *s, ana *a)
{
    const size_t nnz = (size_t)csc_nnz(a->jac) + 1;
    *s = (small){.a = a};
    ana_lu_z_init(a, &s->lu);
    s->x = vs_calloc((size_t)a->n + 1, sizeof(double));
    s->g = vs_calloc(nnz, sizeof(double));
    s->c = vs_calloc(nnz, sizeof(double));
    s->val = vs_calloc(2 * nnz, sizeof(double));
}

void small_fini(small *s)
{
    if (!s->a)
        return;
    lu_z_fini(&s->lu);
    vs_free(s->x);
    vs_free(s->g);
    vs_free(s->c);
    vs_free(s->val);
}

static vs_status singular(small *s, double omega)
{
    ana *a = s->a;
    const int32_t u = s->lu.singular + 1;
    const char *who = u > 0 ? arena_printf(&a->d->mem, " at %s", ana_unknown_text(a, u)) : "";
    diag_error(a->d, DIAG_NOWHERE, "the small-signal matrix is singular%s at %.6g Hz", who,
               omega / (2 * acos(-1)));
    diag_note(a->d, DIAG_NOWHERE,
              "a node without a conducting path, or a loop of voltage sources and "
              "inductors, has no small-signal solution there; option rshunt puts a resistor at "
              "every node");
    return VS_ESINGULAR;
}

static void add_shunts(small *s)
{
    ana *a = s->a;
    for (int32_t i = 1; i <= a->n && a->opt.rshunt > 0; i++)
        if (a->gdiag[i])
            s->g[a->gdiag[i] - a->jac->val] += 1 / a->opt.rshunt;
}

static vs_status prepare(small *s)
{
    const vs_status st = lu_z_analyze(&s->lu, s->a->jac);
    add_shunts(s);
    return st == VS_ESINGULAR ? singular(s, 0) : st;
}

static vs_status linearise(small *s, double f)
{
    ana *a = s->a;
    ckt_env env = small_env(a);
    env.freq = f;
    const vs_status st = ckt_load_ac(a->c, &env, s->x, s->noise, s->g, s->c);
    if (st == VS_NOCONV)
        diag_error(a->d, DIAG_NOWHERE,
                   "a device gives a conductance or capacitance that is not finite at the "
                   "operating point");
    return st;
}

static vs_status operating_point(small *s, ana *a)
{
    allocate(s, a);
    return ana_op(a, s->x, false, false);
}

vs_status small_begin(small *s, ana *a, bool noise)
{
    vs_status st = operating_point(s, a);
    if (st != VS_OK)
        return st;
    s->noise = noise;
    s->delays = true;
    s->by_freq = ckt_uses_freq(a->c);
    st = linearise(s, 0);
    return st == VS_OK ? prepare(s) : st;
}

static vs_status load_static(small *s)
{
    ana *a = s->a;
    const ckt_env env = small_env(a);
    bool limited;
    const vs_status st = ckt_load(a->c, &env, s->x, a->f, a->q, a->fmax, a->qmax, &limited);
    if (st != VS_OK)
        diag_error(a->d, DIAG_NOWHERE,
                   "a device gives a value that is not finite at the operating point");
    else
        memcpy(s->g, a->jac->val, sizeof(double) * (size_t)csc_nnz(a->jac));
    return st;
}

vs_status small_begin_static(small *s, ana *a)
{
    vs_status st = operating_point(s, a);
    s->still = true;
    if (st == VS_OK)
        st = load_static(s);
    return st == VS_OK ? prepare(s) : st;
}

vs_status small_static_at(small *s, ana *a, const double *x)
{
    const bool first = !s->a;
    if (first)
        allocate(s, a);
    s->still = true;
    memcpy(s->x, x, ((size_t)a->n + 1) * sizeof *x);
    const vs_status st = load_static(s);
    if (st == VS_OK && first)
        return prepare(s);
    if (st == VS_OK)
        add_shunts(s);
    return st;
}

vs_status small_factor(small *s, double omega)
{
    const int32_t nnz = csc_nnz(s->a->jac);
    if (s->by_freq) {
        const vs_status st = linearise(s, omega / (2 * acos(-1)));
        if (st != VS_OK)
            return st;
        add_shunts(s);
    }
    for (int32_t k = 0; k < nnz; k++) {
        s->val[2 * k] = s->g[k];
        s->val[2 * k + 1] = omega * s->c[k];
    }
    if (s->delays)
        ckt_ac_delays(s->a->c, omega, s->val);
    const double t0 = vs_seconds();
    const vs_status st = lu_z_factor(&s->lu, s->val);
    s->a->st.s_factor += vs_seconds() - t0;
    return st == VS_ESINGULAR ? singular(s, omega) : st;
}

void small_solve(small *s, double *b)
{
    const double t0 = vs_seconds();
    b[0] = b[1] = 0;
    lu_z_solve(&s->lu, b + 2);
    s->a->st.n_solve++;
    s->a->st.s_solve += vs_seconds() - t0;
}

void small_solve_t(small *s, double *b)
{
    const double t0 = vs_seconds();
    b[0] = b[1] = 0;
    lu_z_solve_t(&s->lu, b + 2);
    s->a->st.n_solve++;
    s->a->st.s_solve += vs_seconds() - t0;
}

void small_output(const ana_output *o, const double *z, double *re, double *im)
{
    *re = z[2 * o->hi] - z[2 * o->lo];
    *im = z[2 * o->hi + 1] - z[2 * o->lo + 1];
}

void small_adjoint(const small *s, const ana_output *o, double *b)
{
    memset(b, 0, sizeof(double) * 2 * ((size_t)s->a->n + 1));
    b[2 * o->hi] += 1;
    b[2 * o->lo] -= 1;
    b[0] = 0;
}

void small_drive(const small *s, int32_t source, double *b)
{
    const ckt_source_facts v = ckt_source_at(s->a->c, source);
    memset(b, 0, sizeof(double) * 2 * ((size_t)s->a->n + 1));
    if (v.is_v) {
        b[2 * v.k] = 1;
    } else {
        b[2 * v.p] -= v.m;
        b[2 * v.n] += v.m;
        b[0] = 0;
    }
}

void small_noise_drive(const small *s, const ckt_noise *source, const ckt_noise_gain *gain,
                       double omega, double *b)
{
    memset(b, 0, sizeof(double) * 2 * ((size_t)s->a->n + 1));
    for (int32_t k = source->first; k < source->end; k++)
        b[2 * gain[k].row + gain[k].rate] += gain[k].gain * (gain[k].rate ? omega : 1);
    b[0] = b[1] = 0;
}
