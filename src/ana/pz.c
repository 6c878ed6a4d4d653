/* pz.c - poles and zeros of a transfer function: the finite s where det(P + s Q) = 0.
 *   poles   P, Q = G, C; for a voltage input bordered by a voltage source of 0 V at the input
 *   zeros   [G e; o' 0], [C 0; 0 0]: e where the input acts, o the output's unit vector
 * (both are the numerator and denominator of o' (G + sC)^-1 e by Cramer's rule).
 *
 * Method: 1. tr((P + sQ)^-1 Q) = d/ds ln det = sum of 1/(s - s_i). Times s this is the number of
 *            roots when s is large, and of roots at 0 when s is small: the count is known first.
 *         2. Starting values: s_i = s_0 - 1/mu_i with mu_i the largest eigenvalues of
 *            (P + s_0 Q)^-1 Q (on the columns of Q that are not 0), by balancing, reduction to
 *            Hessenberg form and the QR algorithm with Wilkinson's shifts.
 *         3. All roots together by the iteration of Ehrlich and Aberth with 1/tr as Newton's step:
 *            the accuracy is that of the sparse factors, whatever the spread of the roots.
 * Source: Golub & Van Loan, Matrix Computations, ch. 7; Aberth, Math. Comp. 27(122), 1973. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "small.h"

#include "cplx.h" /* last */

enum { MAX_STATES = 400, MAX_ROUNDS = 200 };

typedef struct pencil {
    csc a;               /* pattern of P + s Q; val unused */
    double *p, *q, *val; /* [nnz], [nnz], [2 nnz] */
    lu_z lu;
    int32_t *state; /* vec: columns of Q that are not 0 */
    cplx *x;        /* [n] */
} pencil;

typedef struct entry {
    int32_t row, col;
    double p, q;
} entry;

/* -- the pencil -- */

static int by_column(const void *va, const void *vb)
{
    const entry *a = va, *b = vb;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void pencil_fini(pencil *m)
{
    lu_z_fini(&m->lu);
    vs_free(m->a.colptr);
    vs_free(m->a.row);
    vs_free(m->p);
    vs_free(m->q);
    vs_free(m->val);
    vs_free(m->x);
    vec_free(m->state);
}

/* e: vec of entries, each place once */
static vs_status pencil_init(pencil *m, int32_t n, entry *e)
{
    const size_t nnz = vec_len(e);
    *m = (pencil){.a = {.n = n}};
    lu_z_init(&m->lu);
    if (nnz)
        qsort(e, nnz, sizeof *e, by_column);
    m->a.colptr = vs_calloc((size_t)n + 1, sizeof(int32_t));
    m->a.row = vs_calloc(nnz + 1, sizeof(int32_t));
    m->p = vs_calloc(nnz + 1, sizeof(double));
    m->q = vs_calloc(nnz + 1, sizeof(double));
    m->val = vs_calloc(2 * nnz + 2, sizeof(double));
    m->x = vs_calloc((size_t)n + 1, sizeof(cplx));
    for (size_t k = 0; k < nnz; k++) {
        m->a.colptr[e[k].col + 1]++;
        m->a.row[k] = e[k].row;
        m->p[k] = e[k].p;
        m->q[k] = e[k].q;
        if (e[k].q != 0 && (!vec_len(m->state) || vec_last(m->state) != e[k].col))
            vec_push(m->state, e[k].col);
    }
    for (int32_t j = 0; j < n; j++)
        m->a.colptr[j + 1] += m->a.colptr[j];
    return lu_z_analyze(&m->lu, &m->a);
}

static vs_status factor_at(pencil *m, cplx s)
{
    for (int32_t k = 0; k < csc_nnz(&m->a); k++) {
        m->val[2 * k] = m->p[k] + creal(s) * m->q[k];
        m->val[2 * k + 1] = cimag(s) * m->q[k];
    }
    return lu_z_factor(&m->lu, m->val);
}

/* x = (P + sQ)^-1 Q e_col with the present factors */
static void solve_column(pencil *m, int32_t col)
{
    memset(m->x, 0, (size_t)m->a.n * sizeof *m->x);
    for (int32_t k = m->a.colptr[col]; k < m->a.colptr[col + 1]; k++)
        m->x[m->a.row[k]] = m->q[k];
    lu_z_solve(&m->lu, (double *)m->x);
}

/* tr((P + sQ)^-1 Q). Status: VS_OK, VS_ESINGULAR. */
static vs_status trace_at(pencil *m, cplx s, cplx *tr)
{
    const vs_status st = factor_at(m, s);
    *tr = 0;
    for (size_t k = 0; k < vec_len(m->state) && st == VS_OK; k++) {
        solve_column(m, m->state[k]);
        *tr += m->x[m->state[k]];
    }
    return st;
}

/* -- how many roots -- */

typedef struct census {
    int n_root, n_zero; /* finite roots; of them at 0 */
    double smallest;    /* about the size of the smallest that is not 0, rad/s */
} census;

/* s tr at s = 10^-3 .. 10^24: steps from plateau to plateau, each an integer, until the numbers
 * end.
 * Status: VS_OK; VS_ESINGULAR: the determinant is 0 for all s. */
static vs_status count_roots(pencil *m, census *c)
{
    int last = -1, run = 0;
    bool any = false;
    *c = (census){.smallest = 1};
    for (int k = -6; k <= 48; k++) {
        const double s = pow(10, 0.5 * k);
        cplx tr;
        const vs_status st = trace_at(m, s, &tr);
        if (st != VS_OK) {
            run = 0;
            last = -1;
            continue;
        }
        any = true;
        const double v = s * creal(tr);
        const int near = (int)lround(fmin(fmax(v, -1), 1e6));
        const bool whole = fabs(v - near) < 0.02 && near >= 0 && near <= (int)vec_len(m->state);
        if (k == -6 && whole)
            c->n_zero = near;
        if (whole && near >= c->n_root) {
            run = near == last ? run + 1 : 1;
            last = near;
            if (run >= 3)
                c->n_root = near;
        } else {
            run = 0;
            last = -1;
        }
        if (c->smallest == 1 && v > c->n_zero + 0.3)
            c->smallest = s;
    }
    if (c->n_zero > c->n_root)
        c->n_zero = c->n_root;
    return any ? VS_OK : VS_ESINGULAR;
}

/* -- eigenvalues of a dense matrix -- */

/* Rows and columns scaled by powers of 2 until their sizes are alike. */
static void balance(int n, cplx *a)
{
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < n; i++) {
            double c = 0, r = 0, f = 1;
            for (int j = 0; j < n; j++)
                if (j != i) {
                    c += cabs(a[j * n + i]);
                    r += cabs(a[i * n + j]);
                }
            if (!(c > 0 && r > 0 && isfinite(c) && isfinite(r)))
                continue;
            const double sum = c + r;
            while (c < r / 2)
                f *= 2, c *= 4;
            while (c >= r * 2)
                f /= 2, c /= 4;
            if ((c + r) / f >= 0.95 * sum)
                continue;
            again = true;
            for (int j = 0; j < n; j++) {
                a[i * n + j] /= f;
                a[j * n + i] *= f;
            }
        }
    }
}

/* Similarity by eliminations with row exchanges. */
static void to_hessenberg(int n, cplx *a)
{
    for (int m = 1; m < n - 1; m++) {
        int p = m;
        for (int i = m + 1; i < n; i++)
            if (cabs(a[i * n + m - 1]) > cabs(a[p * n + m - 1]))
                p = i;
        if (a[p * n + m - 1] == 0)
            continue;
        for (int j = 0; j < n && p != m; j++) {
            const cplx t = a[p * n + j];
            a[p * n + j] = a[m * n + j];
            a[m * n + j] = t;
        }
        for (int i = 0; i < n && p != m; i++) {
            const cplx t = a[i * n + p];
            a[i * n + p] = a[i * n + m];
            a[i * n + m] = t;
        }
        for (int i = m + 1; i < n; i++) {
            const cplx f = a[i * n + m - 1] / a[m * n + m - 1];
            if (f == 0)
                continue;
            a[i * n + m - 1] = 0;
            for (int j = m; j < n; j++)
                a[i * n + j] -= f * a[m * n + j];
            for (int k = 0; k < n; k++)
                a[k * n + m] += f * a[k * n + i];
        }
    }
}

/* The eigenvalue of the trailing 2 x 2 block that is nearer its last entry. */
static cplx wilkinson(const cplx *a, int n, int hi)
{
    const cplx p = a[(hi - 1) * n + hi - 1], q = a[(hi - 1) * n + hi], r = a[hi * n + hi - 1],
               s = a[hi * n + hi];
    const cplx half = (p - s) / 2, root = csqrt(half * half + q * r);
    const cplx d = cabs(half + root) > cabs(half - root) ? half + root : half - root;
    return d == 0 ? s : s - q * r / d;
}

/* One step with rotations on the block lo..hi: A - shift = QR, A = RQ + shift. */
static void qr_step(cplx *a, int n, int lo, int hi, cplx shift, cplx *cs, cplx *sn)
{
    for (int i = lo; i <= hi; i++)
        a[i * n + i] -= shift;
    for (int k = lo; k < hi; k++) {
        const cplx x = a[k * n + k], y = a[(k + 1) * n + k];
        const double r = hypot(cabs(x), cabs(y));
        cs[k] = r > 0 ? x / r : 1;
        sn[k] = r > 0 ? y / r : 0;
        for (int j = k; j <= hi; j++) {
            const cplx u = a[k * n + j], v = a[(k + 1) * n + j];
            a[k * n + j] = conj(cs[k]) * u + conj(sn[k]) * v;
            a[(k + 1) * n + j] = -sn[k] * u + cs[k] * v;
        }
    }
    for (int k = lo; k < hi; k++)
        for (int i = lo; i <= (k + 2 < hi ? k + 2 : hi); i++) {
            const cplx u = a[i * n + k], v = a[i * n + k + 1];
            a[i * n + k] = u * cs[k] + v * sn[k];
            a[i * n + k + 1] = -u * conj(sn[k]) + v * conj(cs[k]);
        }
    for (int i = lo; i <= hi; i++)
        a[i * n + i] += shift;
}

/* ev [n]. Blocks that do not converge give their diagonal: they are starting values only. */
static void eigenvalues(int n, cplx *a, cplx *ev, cplx *work)
{
    balance(n, a);
    to_hessenberg(n, a);
    int hi = n - 1;
    for (int round = 0; hi >= 0;) {
        int lo = hi;
        while (lo > 0 && cabs(a[lo * n + lo - 1]) >
                             1e-15 * (cabs(a[lo * n + lo]) + cabs(a[(lo - 1) * n + lo - 1])))
            lo--;
        if (lo == hi || round > 60) {
            ev[hi] = a[hi * n + hi];
            hi--;
            round = 0;
            continue;
        }
        const bool stuck = ++round % 11 == 10; /* an unusual shift breaks cycles */
        const cplx shift = stuck ? cabs(a[hi * n + hi - 1]) + a[hi * n + hi] : wilkinson(a, n, hi);
        qr_step(a, n, lo, hi, shift, work, work + n);
    }
}

/* -- roots -- */

static int by_size(const void *va, const void *vb)
{
    const double a = cabs(*(const cplx *)va), b = cabs(*(const cplx *)vb);
    return a > b ? -1 : a < b;
}

/* Starting values of the roots that are not 0: the largest mu. */
static vs_status start_values(pencil *m, const census *c, cplx *s)
{
    const int n = (int)vec_len(m->state), want = c->n_root - c->n_zero;
    const double s0 = c->smallest * 0.37;
    cplx *a = vs_calloc((size_t)(n * n), sizeof *a), *ev = vs_calloc((size_t)(3 * n), sizeof *ev);
    vs_status st = factor_at(m, s0);
    for (int j = 0; j < n && st == VS_OK; j++) {
        solve_column(m, m->state[j]);
        for (int i = 0; i < n; i++)
            a[i * n + j] = m->x[m->state[i]];
    }
    if (st == VS_OK) {
        eigenvalues(n, a, ev, ev + n);
        for (int i = 0; i < n; i++) { /* the roots at 0 come later, exactly */
            const cplx r = ev[i] == 0 ? INFINITY : s0 - 1 / ev[i];
            ev[i] = cabs(r) < 1e-6 * s0 ? 0 : ev[i];
        }
        qsort(ev, (size_t)n, sizeof *ev, by_size);
        for (int i = 0; i < want;
             i++) { /* 1 % aside: no two are equal, and none is a root already */
            const double turn = 0.01 * sin(i + 1), far = c->smallest * pow(10, 3 + i);
            s[i] = ev[i] == 0 ? far * cexp(I * (1 + i))
                              : (s0 - 1 / ev[i]) * (1 + 1e-5 * turn + 1e-5 * I * turn);
        }
    }
    vs_free(a);
    vs_free(ev);
    return st;
}

/* One correction of root i of n; n_zero more roots lie at 0. False: it is as good as it gets. */
static vs_status correct(pencil *m, cplx *s, int n, int n_zero, int i, bool *moved)
{
    cplx tr;
    const vs_status st = trace_at(m, s[i], &tr);
    if (st == VS_ESINGULAR) { /* a root to the last digit */
        *moved = false;
        return VS_OK;
    }
    if (st != VS_OK)
        return st;
    cplx others = n_zero / s[i];
    for (int j = 0; j < n; j++)
        if (j != i && s[j] != s[i])
            others += 1 / (s[i] - s[j]);
    const cplx step = 1 / (tr - others);
    *moved = false;
    if (!isfinite(creal(step)) || !isfinite(cimag(step)))
        return VS_OK;
    s[i] -= step;
    *moved = cabs(step) > 4e-15 * cabs(s[i]);
    return VS_OK;
}

/* Conjugate pairs exactly, real roots real. */
static void tidy(cplx *s, int n)
{
    for (int i = 0; i < n; i++)
        if (fabs(cimag(s[i])) < 1e-9 * cabs(s[i]))
            s[i] = creal(s[i]);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n && cimag(s[i]) != 0; j++)
            if (cabs(s[i] - conj(s[j])) < 1e-6 * cabs(s[i])) {
                const cplx mean = (s[i] + conj(s[j])) / 2;
                s[i] = cimag(mean) > 0 ? mean : conj(mean);
                s[j] = conj(s[i]);
                const cplx t = s[i + 1]; /* pairs stand together */
                s[i + 1] = s[j];
                s[j] = t;
                i++;
                break;
            }
}

static int by_frequency(const void *va, const void *vb)
{
    const cplx a = *(const cplx *)va, b = *(const cplx *)vb;
    if (fabs(cabs(a) - cabs(b)) > 1e-7 * cabs(a))
        return cabs(a) < cabs(b) ? -1 : 1;
    return fabs(cimag(a)) != fabs(cimag(b)) ? (fabs(cimag(a)) < fabs(cimag(b)) ? -1 : 1)
                                            : (cimag(a) > cimag(b) ? -1 : 1);
}

/* All roots, by size; *root is a vec. Status: VS_OK; VS_STOP; VS_ESINGULAR: every s is one. */
static vs_status find_roots(ana *a, pencil *m, const ana_table *t, cplx **root)
{
    census c;
    vs_status st = count_roots(m, &c);
    if (st != VS_OK)
        return st;
    const int n = c.n_root - c.n_zero;
    cplx *s = vs_calloc((size_t)n + 1, sizeof *s);
    bool *busy = vs_calloc((size_t)n + 1, sizeof *busy);
    st = n ? start_values(m, &c, s) : VS_OK;
    bool any = true;
    for (int i = 0; i < n && busy; i++)
        busy[i] = true;
    for (int round = 0; round < MAX_ROUNDS && any && st == VS_OK; round++) {
        any = false;
        for (int i = 0; i < n && st == VS_OK; i++) {
            if (busy[i])
                st = correct(m, s, n, c.n_zero, i, &busy[i]);
            any |= busy[i];
            if (st == VS_OK && t->stop && t->stop(t->user))
                st = VS_STOP;
        }
        a->st.iterations++;
    }
    if (st == VS_OK) {
        tidy(s, n);
        for (int i = 0; i < c.n_zero; i++)
            vec_push(*root, (cplx)0);
        for (int i = 0; i < n; i++)
            vec_push(*root, s[i]);
        if (vec_len(*root))
            qsort(*root, vec_len(*root), sizeof **root, by_frequency);
    }
    vs_free(s);
    vs_free(busy);
    return st;
}

/* -- the transfer function -- */

typedef struct pz {
    small s;
    const ana_pz_opt *o;
    int32_t source; /* a voltage source at the input, -1 */
} pz;

static entry *circuit_entries(const pz *w)
{
    entry *e = NULL;
    const csc *a = w->s.a->jac;
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            vec_push(e, ((entry){a->row[k], j, w->s.g[k], w->s.c[k]}));
    return e;
}

/* Column n: what the input drives. */
static void add_input(const pz *w, entry **e)
{
    const int32_t n = w->s.a->n;
    if (w->source >= 0) {
        vec_push(*e, ((entry){ckt_source_at(w->s.a->c, w->source).k - 1, n, 1, 0}));
        return;
    }
    for (int k = 0; k < 2; k++)
        if (w->o->in[k] > 0)
            vec_push(*e, ((entry){w->o->in[k] - 1, n, k ? -1 : 1, 0}));
}

static void add_row(const pz *w, const int32_t node[2], entry **e)
{
    for (int k = 0; k < 2; k++)
        if (node[k] > 0)
            vec_push(*e, ((entry){w->s.a->n, node[k] - 1, k ? -1 : 1, 0}));
}

static vs_status roots_of(pz *w, bool zeros, const ana_table *t, cplx **root)
{
    ana *a = w->s.a;
    entry *e = circuit_entries(w);
    const bool bordered = zeros || (w->o->voltage && w->source < 0);
    const char *what = zeros ? "zeros" : "poles";
    if (bordered) {
        add_input(w, &e);
        add_row(w, zeros ? w->o->out : w->o->in, &e);
    }
    pencil m;
    vs_status st = pencil_init(&m, a->n + bordered, e);
    if (st == VS_OK && vec_len(m.state) > MAX_STATES) {
        diag_error(a->d, DIAG_NOWHERE, "%d unknowns have charges or fluxes; .pz takes up to %d",
                   (int)vec_len(m.state), MAX_STATES);
        st = VS_EINPUT;
    }
    if (st == VS_OK)
        st = find_roots(a, &m, t, root);
    if (st == VS_ESINGULAR && zeros) { /* the transfer function is 0 */
        diag_warning(a->d, DIAG_NOWHERE,
                     "the output of .pz does not depend on its input: it has no zeros");
        st = VS_OK;
    } else if (st == VS_ESINGULAR) {
        diag_error(a->d, DIAG_NOWHERE,
                   "the circuit has no %s: its small-signal matrix is singular at every "
                   "frequency (is the input of 'vol' in a loop of voltage sources and inductors?)",
                   what);
    }
    pencil_fini(&m);
    vec_free(e);
    return st;
}

static int32_t source_across(const pz *w)
{
    const ckt *c = w->s.a->c;
    for (int32_t i = 0; i < ckt_n_source(c); i++) {
        const ckt_source_facts f = ckt_source_at(c, i);
        const int32_t *in = w->o->in;
        if (f.is_v && ((f.p == in[0] && f.n == in[1]) || (f.p == in[1] && f.n == in[0])))
            return i;
    }
    return -1;
}

static const double any_omega = 1; /* rad/s; feeds are out of balance at all frequencies */

/* The right side of the input, b [2 (n+1)]. */
static void input_drive(const pz *w, double *b)
{
    memset(b, 0, sizeof *b * 2 * ((size_t)w->s.a->n + 1));
    if (w->source >= 0)
        b[2 * ckt_source_at(w->s.a->c, w->source).k] = 1;
    for (int k = 0; k < 2 && w->source < 0; k++)
        b[2 * w->o->in[k]] += k ? -1 : 1;
    b[0] = 0;
}

/* Zeros of what gmin alone carries are none of the circuit: told, and left out. */
static bool have_zeros(pz *w, double *b, double *y)
{
    small *s = &w->s;
    const ana_output out = {.hi = w->o->out[0], .lo = w->o->out[1]};
    small_feeds feeds = {0};
    double re = 0, im = 0;
    bool have = true;
    small_adjoint(s, &out, y);
    small_solve_t(s, y);
    input_drive(w, b);
    for (int32_t i = 1; i <= s->a->n; i++) {
        re += b[2 * i] * y[2 * i];
        im += b[2 * i] * y[2 * i + 1];
    }
    if (small_feeds_of(&feeds, s, y))
        have = !small_feeds_are_all(small_feeds_share_of(&feeds, s, b), hypot(re, im));
    if (!have)
        diag_warning(s->a->d, DIAG_NOWHERE,
                     ".pz: gmin alone carries what the input feeds into %s: there are no zeros",
                     ana_unknown_text(s->a, small_fed_node(s, b)));
    small_feeds_fini(&feeds);
    return have;
}

/* A voltage at the input that no source gives would be a path. */
static vs_status look_at_zeros(pz *w, bool *have)
{
    const size_t n2 = 2 * ((size_t)w->s.a->n + 1);
    *have = true;
    if (w->o->voltage && w->source < 0)
        return VS_OK;
    double *b = vs_calloc(n2, sizeof *b), *y = vs_calloc(n2, sizeof *y);
    const vs_status st = small_factor(&w->s, any_omega);
    if (st == VS_OK)
        *have = have_zeros(w, b, y);
    vs_free(b);
    vs_free(y);
    return st;
}

static vs_status put(pz *w, const cplx *pole, const cplx *zero, const ana_table *t)
{
    ana_column *col = NULL;
    cplx *row = NULL;
    for (size_t i = 0; i < vec_len(pole); i++)
        vec_push(col, ((ana_column){arena_printf(&w->s.a->mem, "pole(%zu)", i + 1), "notype"}));
    for (size_t i = 0; i < vec_len(zero); i++)
        vec_push(col, ((ana_column){arena_printf(&w->s.a->mem, "zero(%zu)", i + 1), "notype"}));
    for (size_t i = 0; i < vec_len(pole); i++)
        vec_push(row, pole[i]);
    for (size_t i = 0; i < vec_len(zero); i++)
        vec_push(row, zero[i]);
    vs_status st = VS_OK;
    if (vec_len(row)) {
        st = t->begin(t->user, "Pole-Zero Analysis", col, (int32_t)vec_len(col), true);
        if (st == VS_OK)
            st = t->row(t->user, (const double *)row);
        if (st == VS_OK)
            st = t->end(t->user);
    } else {
        diag_warning(w->s.a->d, DIAG_NOWHERE, "the circuit has no finite poles or zeros");
    }
    vec_free(col);
    vec_free(row);
    return st;
}

vs_status ana_pz(ana *a, const ana_pz_opt *o, const ana_table *t)
{
    pz w = {.o = o};
    cplx *pole = NULL, *zero = NULL;
    if (ckt_has_delays(a->c)) {
        diag_error(a->d, DIAG_NOWHERE,
                   ".pz is not possible with transmission lines or absdelay(): a delay has no "
                   "finite number of "
                   "poles and zeros; .ac shows the answer");
        return VS_EINPUT;
    }
    if (ckt_uses_freq(a->c)) {
        diag_error(
            a->d, DIAG_NOWHERE,
            ".pz is not possible: an expression depends on 'hertz', which is no function of s; "
            "LAPLACE writes one");
        return VS_EINPUT;
    }
    vs_status st = small_begin(&w.s, a, false);
    w.source = source_across(&w);
    if (st == VS_OK && w.source >= 0 && !o->voltage) {
        diag_error(a->d, DIAG_NOWHERE,
                   "the input of .pz is held by the voltage source '%s': a current into it does "
                   "nothing; use 'vol'",
                   ckt_source_at(a->c, w.source).name);
        st = VS_EINPUT;
    }
    bool zeros = o->zeros;
    if (st == VS_OK && zeros && small_has_levels(&w.s))
        st = look_at_zeros(&w, &zeros);
    if (st == VS_OK)
        small_loosen(&w.s);
    if (st == VS_OK && o->poles)
        st = roots_of(&w, false, t, &pole);
    if (st == VS_OK && zeros)
        st = roots_of(&w, true, t, &zero);
    a->st.points_accepted++;
    if (st == VS_OK)
        st = put(&w, pole, zero, t);
    small_fini(&w.s);
    vec_free(pole);
    vec_free(zero);
    return st;
}
