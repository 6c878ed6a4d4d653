/* mock_ckt.h - a circuit of a few hand-written devices behind the functions of ckt.h, so that the
 * analyses are tested alone: R, C, L, sources, diode with limiting, cubic and tanh conductances.
 * Include it in one test program; its definitions come before those of the library. */
#ifndef MOCK_CKT_H
#define MOCK_CKT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckt.h"
#include "ckt_latent.h"
#include "ckt_block.h"

typedef enum mock_kind {
    MOCK_R,
    MOCK_C,
    MOCK_L,
    MOCK_V,
    MOCK_I,
    MOCK_D,
    MOCK_CUBIC,
    MOCK_TANH
} mock_kind;

typedef struct mock_wave {
    double v1, v2, td, tr, tf, pw, per; /* pulse; tr > 0 */
    double amp, freq;                   /* plus amp sin(2 pi freq t) */
} mock_wave;

typedef struct mock_dev {
    mock_kind kind;
    const char *name;
    int32_t p, n, cp, cn, br; /* nodes, controlling nodes, branch unknown */
    double val, val2;
    mock_wave w;
    double is, nvt, cjo, m, vj;  /* diode */
    double vlim, vlim_ok, vcrit; /* limited voltage now, at the accepted point */
} mock_dev;

#define MOCK_MAX 256
struct ckt {
    int32_t n;
    ckt_unknown u[MOCK_MAX + 1];
    mock_dev dev[MOCK_MAX];
    int n_dev;
    csc a;
    double *trash;
    ckt_stat stat;
    bool nonfinite;                  /* loads report a NaN */
    double no_conv_from, no_conv_to; /* between these times devices never stop limiting */
    int64_t n_accept, n_restore;
    double ic[MOCK_MAX + 1];
    double bound_step;
    double jump_time, jump_value; /* an unannounced jump of all sources */
    bool same_start;
};

static inline int32_t mock_unknown(ckt *c, const char *name, ckt_kind kind, bool node)
{
    for (int32_t i = 1; i <= c->n; i++)
        if (strcmp(c->u[i].name, name) == 0)
            return i;
    c->n++;
    c->u[c->n] = (ckt_unknown){.name = name, .kind = kind, .node = node};
    return c->n;
}

static inline int32_t mock_node(ckt *c, const char *name)
{
    return strcmp(name, "0") == 0 ? 0 : mock_unknown(c, name, CKT_VOLTAGE, true);
}

static inline mock_dev *mock_add(ckt *c, mock_kind k, const char *name, const char *p,
                                 const char *n, double val)
{
    mock_dev *d = &c->dev[c->n_dev++];
    *d =
        (mock_dev){.kind = k, .name = name, .p = mock_node(c, p), .n = mock_node(c, n), .val = val};
    if (k == MOCK_V || k == MOCK_L) {
        char *b = vs_malloc(strlen(name) + 8);
        strcpy(b, name);
        strcat(b, "#branch");
        d->br = mock_unknown(c, b, CKT_CURRENT, false);
        c->u[d->br].has_q = k == MOCK_L;
    }
    if (k == MOCK_C)
        c->u[d->p].has_q = c->u[d->n].has_q = true;
    if (k == MOCK_D) {
        d->is = 1e-14;
        d->nvt = 0.02585;
        d->vj = 1;
        d->m = 0.5;
    }
    return d;
}

static inline void mock_finish(ckt *c)
{
    size_t n = (size_t)c->n;
    c->a.n = c->n;
    c->a.colptr = vs_calloc(n + 1, sizeof(int32_t));
    c->a.row = vs_calloc(n * n, sizeof(int32_t));
    c->a.val = vs_calloc(n * n + 1, sizeof(double));
    bool *on = vs_calloc(n * n + 1, sizeof(bool));
    for (int k = 0; k < c->n_dev; k++) {
        const mock_dev *d = &c->dev[k];
        const int32_t t[] = {d->p, d->n, d->cp, d->cn, d->br};
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                if (t[i] && t[j])
                    on[(size_t)(t[j] - 1) * n + (size_t)t[i] - 1] = true;
    }
    int32_t nnz = 0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            if (on[j * n + i])
                c->a.row[nnz++] = (int32_t)i;
        c->a.colptr[j + 1] = nnz;
    }
    vs_free(on);
}

static inline void mock_drop(ckt *c)
{
    for (int k = 0; k < c->n_dev; k++)
        if (c->dev[k].br)
            vs_free((char *)c->u[c->dev[k].br].name);
    vs_free(c->a.colptr);
    vs_free(c->a.row);
    vs_free(c->a.val);
    memset(c, 0, sizeof *c);
}

static inline double *mock_at(ckt *c, int32_t i, int32_t j)
{
    if (i > 0 && j > 0)
        for (int32_t k = c->a.colptr[j - 1]; k < c->a.colptr[j]; k++)
            if (c->a.row[k] == i - 1)
                return &c->a.val[k];
    return &c->a.val[csc_nnz(&c->a)];
}

static inline double mock_wave_value(const mock_wave *w, double t)
{
    double s = w->amp * sin(6.283185307179586 * w->freq * t), x = t - w->td;
    if (w->tr <= 0 || x <= 0)
        return w->v1 + s;
    if (w->per > 0)
        x = fmod(x, w->per);
    if (x < w->tr)
        return s + w->v1 + (w->v2 - w->v1) * x / w->tr;
    x -= w->tr;
    if (x < w->pw)
        return s + w->v2;
    x -= w->pw;
    return s + (x < w->tf ? w->v2 + (w->v1 - w->v2) * x / w->tf : w->v1);
}

/* Currents and charges of one row, into the vectors of the load. */
typedef struct mock_out {
    ckt *c;
    double alpha;
    double *f, *q, *fmax, *qmax;
} mock_out;

static inline void mock_f(mock_out *o, int32_t row, double v)
{
    o->f[row] += v;
    o->fmax[row] = fmax(o->fmax[row], fabs(v));
}
static inline void mock_q(mock_out *o, int32_t row, double v)
{
    if (!o->q)
        return;
    o->q[row] += v;
    o->qmax[row] = fmax(o->qmax[row], fabs(v));
}
static inline void mock_j(mock_out *o, int32_t i, int32_t j, double g)
{
    *mock_at(o->c, i, j) += g;
}
static inline void mock_cond(mock_out *o, int32_t p, int32_t n, int32_t cp, int32_t cn, double g)
{
    mock_j(o, p, cp, g);
    mock_j(o, p, cn, -g);
    mock_j(o, n, cp, -g);
    mock_j(o, n, cn, g);
}

static inline double mock_pnjlim(double v, double old, double vt, double vcrit, bool *limited)
{
    if (v > vcrit && fabs(v - old) > 2 * vt) {
        *limited = true;
        if (old > 0) {
            double arg = 1 + (v - old) / vt;
            return arg > 0 ? old + vt * log(arg) : vcrit;
        }
        return vt * log(v / vt);
    }
    return v;
}

static inline void mock_diode(mock_out *o, mock_dev *d, const ckt_env *env, const double *x,
                              bool *limited)
{
    double vcrit = d->nvt * log(d->nvt / (1.414 * d->is)), v = x[d->p] - x[d->n], vd = v;
    if (env->limit && d->val2 == 0) { /* val2 = 1: no limiting */
        bool here = false;
        vd = mock_pnjlim(v, d->vlim, d->nvt, vcrit, &here);
        *limited |= here;
        d->vlim = vd;
    }
    double e = exp(fmin(vd / d->nvt, d->val2 != 0 ? 600 : 80)),
           i = d->is * (e - 1) + env->gmin * vd;
    double g = d->is * e / d->nvt + env->gmin;
    i += g * (v - vd);
    mock_f(o, d->p, i);
    mock_f(o, d->n, -i);
    mock_cond(o, d->p, d->n, d->p, d->n, g);
    if (d->cjo > 0 && o->q) {
        double fc = 0.5, q, cap, vb = v;
        if (vb < fc * d->vj) {
            double y = 1 - vb / d->vj;
            cap = d->cjo * pow(y, -d->m);
            q = d->cjo * d->vj / (1 - d->m) * (1 - pow(y, 1 - d->m));
        } else {
            double f1 = d->vj / (1 - d->m) * (1 - pow(1 - fc, 1 - d->m));
            double f2 = pow(1 - fc, 1 + d->m), f3 = 1 - fc * (1 + d->m);
            cap = d->cjo / f2 * (f3 + d->m * vb / d->vj);
            q = d->cjo * (f1 + (f3 * (vb - fc * d->vj) +
                                d->m / (2 * d->vj) * (vb * vb - fc * fc * d->vj * d->vj)) /
                                   f2);
        }
        mock_q(o, d->p, q);
        mock_q(o, d->n, -q);
        mock_cond(o, d->p, d->n, d->p, d->n, o->alpha * cap);
    }
}

static inline void mock_load(mock_out *o, mock_dev *d, const ckt_env *env, const double *x,
                             bool *limited)
{
    double v = x[d->p] - x[d->n], vc = x[d->cp] - x[d->cn], i, g;
    double src = env->srcfact * mock_wave_value(&d->w, env->time);
    if (o->c->jump_time > 0 && env->time >= o->c->jump_time)
        src += o->c->jump_value;
    switch (d->kind) {
    case MOCK_R:
        mock_f(o, d->p, v / d->val);
        mock_f(o, d->n, -v / d->val);
        mock_cond(o, d->p, d->n, d->p, d->n, 1 / d->val);
        break;
    case MOCK_C:
        if (o->q) {
            mock_q(o, d->p, d->val * v);
            mock_q(o, d->n, -d->val * v);
            mock_cond(o, d->p, d->n, d->p, d->n, o->alpha * d->val);
        }
        break;
    case MOCK_V:
    case MOCK_L:
        mock_f(o, d->p, x[d->br]);
        mock_f(o, d->n, -x[d->br]);
        mock_j(o, d->p, d->br, 1);
        mock_j(o, d->n, d->br, -1);
        mock_f(o, d->br, v);
        mock_j(o, d->br, d->p, 1);
        mock_j(o, d->br, d->n, -1);
        if (d->kind == MOCK_V) {
            mock_f(o, d->br, -(src + env->srcfact * d->val));
        } else if (o->q) {
            mock_q(o, d->br, -d->val * x[d->br]);
            mock_j(o, d->br, d->br, -o->alpha * d->val);
        }
        break;
    case MOCK_I:
        mock_f(o, d->p, src + env->srcfact * d->val);
        mock_f(o, d->n, -(src + env->srcfact * d->val));
        break;
    case MOCK_D: mock_diode(o, d, env, x, limited); break;
    case MOCK_CUBIC: /* i = val v + val2 v^3 */
        i = d->val * v + d->val2 * v * v * v;
        mock_f(o, d->p, i);
        mock_f(o, d->n, -i);
        mock_cond(o, d->p, d->n, d->p, d->n, d->val + 3 * d->val2 * v * v);
        break;
    case MOCK_TANH: /* i = val tanh(val2 vc) */
        i = d->val * tanh(d->val2 * vc);
        g = d->val * d->val2 / pow(cosh(d->val2 * vc), 2);
        mock_f(o, d->p, i);
        mock_f(o, d->n, -i);
        mock_cond(o, d->p, d->n, d->cp, d->cn, g);
        break;
    }
}

int32_t ckt_n(const ckt *c) { return c->n; }
const ckt_unknown *ckt_unknowns(const ckt *c) { return c->u; }
ckt_tolerance ckt_tolerance_of(const ckt *c, int32_t unknown)
{
    (void)c;
    (void)unknown;
    return (ckt_tolerance){0, 0};
}
int32_t ckt_n_device(const ckt *c) { return c->n_dev; }
const int32_t *ckt_device_unknowns(const ckt *c, int32_t device, int32_t *n)
{
    *n = 2; /* p, n */
    return &c->dev[device].p;
}
/* No row can be had a second time. */
vs_status ckt_evaluate_again(ckt *c, const ckt_env *env, const double *x, uint8_t *pick,
                             int32_t most, ckt_second *to)
{
    (void)env, (void)x, (void)most, (void)to;
    memset(pick, 0, (size_t)c->n + 1);
    return VS_OK;
}
/* It has no state but the limits, which a start sets. */
void ckt_fresh(ckt *c) { (void)c; }
void ckt_image(ckt *c, image *im) { (void)c, (void)im; }
void ckt_identity(const ckt *c, image *im) { (void)c, (void)im; }
const csc *ckt_pattern(const ckt *c) { return &c->a; }
double *ckt_diag(ckt *c, int32_t i)
{
    double *v = mock_at(c, i, i);
    return c->u[i].node && v != &c->a.val[csc_nnz(&c->a)] ? v : NULL;
}
ckt_stat *ckt_stats(ckt *c) { return &c->stat; }

int ckt_blame(const ckt *c, int32_t row, const char **name, double *amount, int n)
{
    int k = 0;
    for (int i = 0; i < c->n_dev && k < n; i++)
        if (c->dev[i].p == row || c->dev[i].n == row || row == 0) {
            name[k] = c->dev[i].name;
            amount[k++] = 1;
        }
    return k;
}

vs_status ckt_load(ckt *c, const ckt_env *env, const double *x, double *f, double *q, double *fm,
                   double *qm, bool *limited)
{
    size_t bytes = sizeof(double) * (size_t)(c->n + 1);
    bool tran = env->mode == CKT_TRAN;
    mock_out o = {.c = c,
                  .alpha = tran ? env->alpha : 0,
                  .f = f,
                  .q = tran ? q : NULL,
                  .fmax = fm,
                  .qmax = qm};
    c->stat.n_load++;
    *limited = false;
    memset(f, 0, bytes);
    memset(fm, 0, bytes);
    if (tran) {
        memset(q, 0, bytes);
        memset(qm, 0, bytes);
    }
    memset(c->a.val, 0, sizeof(double) * (size_t)(csc_nnz(&c->a) + 1));
    for (int k = 0; k < c->n_dev; k++)
        mock_load(&o, &c->dev[k], env, x, limited);
    if (tran && env->time > c->no_conv_from && env->time < c->no_conv_to)
        *limited = true;
    return c->nonfinite ? VS_NOCONV : VS_OK;
}

void ckt_source_terms(ckt *c, const ckt_env *env, double *s)
{
    memset(s, 0, sizeof(double) * (size_t)(c->n + 1));
    for (int k = 0; k < c->n_dev; k++) {
        const mock_dev *d = &c->dev[k];
        double e = env->srcfact * (mock_wave_value(&d->w, env->time) + d->val);
        if (c->jump_time > 0 && env->time >= c->jump_time)
            e += env->srcfact * c->jump_value;
        if (d->kind == MOCK_V)
            s[d->br] -= e;
        if (d->kind == MOCK_I) {
            s[d->p] += e;
            s[d->n] -= e;
        }
    }
    s[0] = 0;
}

const double *ckt_charge_rest(const ckt *c)
{
    static const double none[4096];
    assert(c->n < (int)VS_COUNT(none));
    return none;
}

vs_status ckt_accept(ckt *c, const ckt_env *env, const double *x)
{
    (void)env;
    (void)x;
    c->n_accept++;
    for (int k = 0; k < c->n_dev; k++)
        c->dev[k].vlim_ok = c->dev[k].vlim;
    return VS_OK;
}
void ckt_reset_limits(ckt *c)
{
    for (int k = 0; k < c->n_dev; k++)
        c->dev[k].vlim = 0.6;
}
void ckt_restore_limits(ckt *c)
{
    c->n_restore++;
    for (int k = 0; k < c->n_dev; k++)
        c->dev[k].vlim = c->dev[k].vlim_ok;
}

double ckt_least_supply(const ckt *c)
{
    (void)c;
    return 0;
}

bool ckt_has_gain(const ckt *c)
{
    (void)c;
    return false;
}

bool ckt_is_linear(const ckt *c)
{
    for (int k = 0; k < c->n_dev; k++)
        if (c->dev[k].kind >= MOCK_D)
            return false;
    return c->no_conv_to <= 0;
}

bool ckt_asks_weight(const ckt *c)
{
    (void)c;
    return true;
}

bool ckt_same_start(const ckt *c) { return c->same_start; }

/* The limits are all that its devices remember. */
bool ckt_state_size(const ckt *c, size_t *n)
{
    *n = (size_t)c->n_dev;
    return true;
}
void ckt_state_save(const ckt *c, double *to)
{
    for (int k = 0; k < c->n_dev; k++)
        to[k] = c->dev[k].vlim;
}
void ckt_state_load(ckt *c, const double *from)
{
    for (int k = 0; k < c->n_dev; k++)
        c->dev[k].vlim = from[k];
}
void ckt_state_zero(ckt *c) { (void)c; }

bool ckt_take_lu(ckt *c, lu_kind kind, lu_solver *lu)
{
    (void)c, (void)kind, (void)lu;
    return false;
}
void ckt_give_lu(ckt *c, lu_solver *lu)
{
    (void)c;
    lu_fini(lu);
}
struct pool *ckt_pool(const ckt *c)
{
    (void)c;
    return NULL;
}

const struct csc_cut *ckt_cut(const ckt *c)
{
    (void)c;
    return NULL;
}
double ckt_parallel_min(const ckt *c)
{
    (void)c;
    return INFINITY;
}

bool ckt_shares_vectors(const ckt *c, int32_t m)
{
    (void)c;
    (void)m;
    return false;
}

bool ckt_has_delays(const ckt *c)
{
    (void)c;
    return false;
}

size_t ckt_n_note(const ckt *c)
{
    (void)c;
    return 0;
}

void ckt_note(ckt *c, double t, const double *x, double *to)
{
    (void)c, (void)t, (void)x, (void)to;
    abort();
}

nat_back *ckt_back_of_past(ckt *c, const nat_time *point, size_t n_point, int32_t n_measure)
{
    (void)c, (void)point, (void)n_point, (void)n_measure;
    abort();
}

double ckt_line_side_sum(const ckt *c, int32_t i, const double *x, const double *noted, bool behind,
                         const double *lambda)
{
    (void)c, (void)i, (void)x, (void)noted, (void)behind, (void)lambda;
    abort();
}

double _Complex ckt_line_side_phasor(const ckt *c, int32_t i, double omega,
                                     const double _Complex *y, const double _Complex *z)
{
    (void)c, (void)i, (void)omega, (void)y, (void)z;
    abort();
}

void ckt_delay_phasors(const ckt *c, double omega, const double _Complex *y,
                       const double _Complex *z, double *to)
{
    (void)c, (void)omega, (void)y, (void)z, (void)to;
}

bool ckt_is_break(const ckt *c, double t)
{
    (void)c, (void)t;
    return false;
}

bool ckt_gets_breaks(const ckt *c) { return ckt_has_delays(c); }

bool ckt_slopes_alone(const ckt *c, double t, double same, double next)
{
    (void)c, (void)t, (void)same, (void)next;
    return false;
}

double ckt_next_break(ckt *c, double t)
{
    double first = INFINITY;
    for (int k = 0; k < c->n_dev; k++) {
        const mock_wave *w = &c->dev[k].w;
        if (w->tr <= 0)
            continue;
        const double corner[] = {0, w->tr, w->tr + w->pw, w->tr + w->pw + w->tf};
        double base = w->td;
        if (w->per > 0 && t > w->td)
            base += w->per * floor((t - w->td) / w->per);
        for (int p = 0; p < 2; p++)
            for (int i = 0; i < 4; i++)
                if (base + p * w->per + corner[i] > t)
                    first = fmin(first, base + p * w->per + corner[i]);
    }
    return first;
}
bool ckt_is_digital(const ckt *c)
{
    (void)c;
    return false;
}
double ckt_change_from(ckt *c, double t)
{
    (void)c;
    (void)t;
    return INFINITY;
}
void ckt_show_at(ckt *c, double t, double *x)
{
    (void)c;
    (void)t;
    (void)x;
}
vs_status ckt_settle(ckt *c, const double *x)
{
    (void)c;
    (void)x;
    return VS_OK;
}
double ckt_asked_step(const ckt *c)
{
    (void)c;
    return INFINITY;
}

bool ckt_latent_begin(ckt *c, const double *x)
{
    (void)c, (void)x;
    return false;
}
void ckt_latent_end(ckt *c) { (void)c; }
int32_t ckt_latent_n_cell(const ckt *c)
{
    (void)c;
    return 0;
}
int32_t ckt_latent_n_pinned(const ckt *c)
{
    (void)c;
    return 0;
}
int32_t ckt_latent_parts(const ckt *c, uint8_t *mark)
{
    (void)mark;
    return c->a.n;
}
int32_t ckt_latent_first(const ckt *c, int32_t cell)
{
    (void)c;
    return cell;
}
int32_t ckt_latent_n_awake(const ckt *c)
{
    (void)c;
    return 0;
}
static inline const int32_t *mock_no_list(void)
{
    static const int32_t none[1];
    return none;
}
const int32_t *ckt_latent_cells(const ckt *c)
{
    (void)c;
    return mock_no_list();
}
const int32_t *ckt_latent_slots(const ckt *c)
{
    (void)c;
    return mock_no_list();
}
const int32_t *ckt_latent_seats(const ckt *c)
{
    (void)c;
    return mock_no_list();
}
const int32_t *ckt_latent_unknowns(const ckt *c)
{
    (void)c;
    return mock_no_list();
}
ckt_swap ckt_latent_sleep(ckt *c, int32_t cell, const double *x, const double *tol)
{
    (void)c, (void)cell, (void)x, (void)tol;
    return (ckt_swap){0, 0};
}
ckt_swap ckt_latent_wake(ckt *c, int32_t cell)
{
    (void)c, (void)cell;
    return (ckt_swap){0, 0};
}
const int32_t *ckt_latent_moved(ckt *c, const double *x, const double *far)
{
    (void)c, (void)x, (void)far;
    return NULL;
}
void ckt_latent_own(const ckt *c, int32_t unknown, double *g, double *capacitance)
{
    (void)c, (void)unknown;
    *g = *capacitance = 0;
}
void ckt_latent_fill(ckt *c, double alpha) { (void)c, (void)alpha; }
void ckt_latent_exchange(ckt *c, ckt_swap s) { (void)c, (void)s; }
const csc *ckt_region_begin(ckt *c)
{
    (void)c;
    return NULL;
}
void ckt_region_end(ckt *c) { (void)c; }
void ckt_latent_subtract(ckt *c, const double *const v[2], double *const r[2])
{
    (void)c, (void)v, (void)r;
}
void ckt_latent_sizes(ckt *c, const double *x, double least, double *size)
{
    (void)c, (void)x, (void)least, (void)size;
}

int32_t ckt_wrapped(const ckt *c, int32_t i, const double *x, double *by)
{
    (void)c, (void)i, (void)x, (void)by;
    return -1;
}

double ckt_bound_step(const ckt *c) { return c->bound_step > 0 ? c->bound_step : INFINITY; }
void ckt_switch_on(const ckt *c, double *x) /* no sources of voltages from which nodes follow */
{
    (void)c;
    (void)x;
}

void ckt_uic(ckt *c, double *x)
{
    for (int32_t i = 1; i <= c->n; i++)
        if (c->ic[i] != 0)
            x[i] = c->ic[i];
}
/* Circuits of this size have no parts (op_levels.c is tested on whole decks). */
int32_t ckt_n_osdi(const ckt *c)
{
    (void)c;
    return 1;
}
void ckt_known_voltages(const ckt *c, const ckt_env *env, double *x, bool *known)
{
    (void)c;
    (void)env;
    (void)x;
    (void)known;
}
ckt_blocks *ckt_blocks_new(ckt *c, const ckt_env *env, const double *x, const bool *known)
{
    (void)c;
    (void)env;
    (void)x;
    (void)known;
    return NULL;
}
void ckt_blocks_free(ckt_blocks **p) { *p = NULL; }
ckt_blocks *ckt_blocks_beside(const ckt_blocks *p)
{
    (void)p;
    return NULL;
}
vs_status ckt_blocks_strength(ckt_blocks *p, double lo, double hi, double *strength,
                              double *conducts)
{
    (void)conducts;
    (void)p;
    (void)lo;
    (void)hi;
    (void)strength;
    return VS_NOCONV;
}
bool ckt_blocks_see_all(const ckt_blocks *p)
{
    (void)p;
    return false;
}
const ckt_block *ckt_block_begin(ckt_blocks *p, const int32_t *u, int32_t n, const double *x,
                                 double grid)
{
    (void)p;
    (void)u;
    (void)n;
    (void)x;
    (void)grid;
    return NULL;
}
vs_status ckt_block_load(ckt_blocks *p, const double *x)
{
    (void)p;
    (void)x;
    return VS_NOCONV;
}

double ckt_source_dc(const ckt *c, int32_t s) { return c->dev[s].val; }
void ckt_set_source_dc(ckt *c, int32_t s, double v) { c->dev[s].val = v; }

/* Devices without noise (tran_noise.c is tested on whole decks). */
vs_status ckt_load_ac(ckt *c, const ckt_env *env, const double *x, bool noise, double *g,
                      double *cap)
{
    (void)c, (void)env, (void)x, (void)noise, (void)g, (void)cap;
    return VS_OK;
}
vs_status ckt_load_slopes(ckt *c, const ckt_env *env, const double *x, double *g, double *cap)
{
    (void)c, (void)env, (void)x, (void)g, (void)cap;
    return VS_OK;
}
vs_status ckt_load_apart(ckt *c, const ckt_env *env, const double *x, double *g, double *cap)
{
    (void)c, (void)env, (void)x, (void)g, (void)cap;
    return VS_OK;
}
const ckt_noise *ckt_noises(const ckt *c, size_t *n, const ckt_noise_gain **gain)
{
    (void)c;
    *n = 0;
    *gain = NULL;
    return NULL;
}
double ckt_noise_density(const ckt *c, const ckt_noise *s, double f)
{
    (void)c, (void)s, (void)f;
    return 0;
}
ckt_source_facts ckt_source_at(const ckt *c, int32_t i)
{
    (void)c, (void)i;
    return (ckt_source_facts){0};
}
bool ckt_uses_freq(const ckt *c)
{
    (void)c;
    return false;
}
void ckt_ac_delays(const ckt *c, double omega, double *val) { (void)c, (void)omega, (void)val; }
const char *ckt_device_name(const ckt *c, int32_t device)
{
    (void)c, (void)device;
    return "";
}

/* No OSDI libraries, no lines. */
void ckt_osdi_nodes(const ckt *c, int32_t **node) { (void)c, (void)node; }
bool ckt_leak(ckt *c, double gmin)
{
    (void)c, (void)gmin;
    return false;
}
bool ckt_anchor(ckt *c, int32_t k)
{
    (void)c, (void)k;
    return false;
}
void ckt_begin_shunts(ckt *c, const double *x, double gmin, double most)
{
    (void)c, (void)x, (void)gmin, (void)most;
}
void ckt_soften(ckt *c, bool soft) { (void)c, (void)soft; }
bool ckt_next_level(const ckt *c, const ckt_env *env, bool still, size_t *i, ckt_level *l)
{
    (void)c, (void)env, (void)still, (void)i, (void)l;
    return false;
}
bool ckt_stiffen(ckt *c, bool stiff)
{
    (void)c, (void)stiff;
    return false;
}
int32_t ckt_most_stiff(const ckt *c, const double *x)
{
    (void)c, (void)x;
    return 0;
}
const ckt_firm *ckt_next_firm(const ckt *c, size_t *i)
{
    (void)c, (void)i;
    return NULL;
}
const int32_t *ckt_part(const ckt *c, const ckt_firm *k, int32_t *n)
{
    (void)c, (void)k;
    *n = 0;
    return NULL;
}
void ckt_add_shunts(const ckt *c, const ckt_env *env, const double *x, double *f)
{
    (void)c, (void)env, (void)x, (void)f;
}

#endif
