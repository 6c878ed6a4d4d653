/* modes.c - see modes.h. */
#include "modes.h"

#include <math.h>
#include <string.h>

static const double WEIGHT[2] = {0.6180339887, 0.4142135624}; /* of G beside C, of R beside L */
static const double NOTHING = 1e-6; /* losses of the whole line beside its impedance */
static const double DIAGONAL =
    1e-9; /* off-diagonal entries up to this part of the diagonal ones are rounding */

static double largest(int n, modes_matrix a)
{
    double x = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x = fmax(x, fabs(a[i][j]));
    return x;
}

/* a/|a| + w b/|b| */
static void add_parts(int n, modes_matrix a, modes_matrix b, double w, modes_matrix sum)
{
    const double na = largest(n, a), nb = largest(n, b);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum[i][j] = (na > 0 ? a[i][j] / na : 0) + (nb > 0 ? w * b[i][j] / nb : 0);
}

/* Lower triangle a of m = a a^T. */
static bool cholesky(int n, modes_matrix m, modes_matrix a)
{
    memset(a, 0, sizeof(modes_matrix));
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double s = m[i][j];
            for (int k = 0; k < j; k++)
                s -= a[i][k] * a[j][k];
            if (i > j)
                a[i][j] = s / a[j][j];
            else if (s > 1e-12 * m[j][j])
                a[j][j] = sqrt(s);
            else
                return false;
        }
    return true;
}

/* out = p^T m p */
static void congruent(int n, modes_matrix p, modes_matrix m, modes_matrix out)
{
    modes_matrix mp;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            mp[i][j] = 0;
            for (int k = 0; k < n; k++)
                mp[i][j] += m[i][k] * p[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i][j] = 0;
            for (int k = 0; k < n; k++)
                out[i][j] += p[k][i] * mp[k][j];
        }
}

static void rotate(int n, modes_matrix s, modes_matrix q, int i, int j)
{
    const double theta = (s[j][j] - s[i][i]) / (2 * s[i][j]);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + hypot(theta, 1)), c = 1 / hypot(t, 1),
                 w = t * c;
    for (int k = 0; k < n; k++) {
        const double a = s[k][i], b = s[k][j];
        s[k][i] = c * a - w * b;
        s[k][j] = w * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        const double a = s[i][k], b = s[j][k], u = q[k][i], v = q[k][j];
        s[i][k] = c * a - w * b;
        s[j][k] = w * a + c * b;
        q[k][i] = c * u - w * v;
        q[k][j] = w * u + c * v;
    }
}

/* Eigenvectors of a symmetric matrix, which becomes diagonal. */
static void eigenvectors(int n, modes_matrix s, modes_matrix q)
{
    enum { SWEEPS = 60 };
    memset(q, 0, sizeof(modes_matrix));
    for (int i = 0; i < n; i++)
        q[i][i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool done = true;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                if (fabs(s[i][j]) > 1e-17 * sqrt(fabs(s[i][i] * s[j][j]))) {
                    rotate(n, s, q, i, j);
                    done = false;
                }
        if (done)
            return;
    }
}

/* free [n]: an entry up to NOTHING times the roots of both does not count. */
static bool take_diagonal(int n, modes_matrix a, const double *free, double *d)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && fabs(a[i][j]) > DIAGONAL * sqrt(fabs(a[i][i] * a[j][j])) +
                                              1e-14 * largest(n, a) +
                                              NOTHING * sqrt(free[i] * free[j]))
                return false;
    for (int i = 0; i < n; i++)
        d[i] = fmax(a[i][i], 0);
    return true;
}

/* Largest entry of each column 1. */
static void scale(modes *m)
{
    for (int j = 0; j < m->n; j++) {
        double d = 0;
        for (int k = 0; k < m->n; k++)
            d = fabs(m->t[k][j]) > fabs(d) ? m->t[k][j] : d;
        for (int k = 0; k < m->n; k++)
            m->t[k][j] /= d;
        m->c[j] /= d * d;
        m->g[j] /= d * d;
        m->l[j] *= d * d;
        m->r[j] *= d * d;
    }
}

/* T and U = T^-T, which make m1 (of c) and m2 (of l) diagonal. */
static const char *transform(modes *m, modes_matrix m1, modes_matrix m2, modes_matrix u)
{
    const int n = m->n;
    modes_matrix a, s, q, inv;
    if (!cholesky(n, m1, a))
        return "c (with g) is not positive definite";
    if (!cholesky(n, m2, s))
        return "l (with r) is not positive definite";
    congruent(n, a, m2, s);
    eigenvectors(n, s, q);
    memset(inv, 0, sizeof inv); /* A^-1, lower triangle */
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = i == j;
            for (int k = j; k < i; k++)
                sum -= a[i][k] * inv[k][j];
            inv[i][j] = sum / a[i][i];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            m->t[i][j] = u[i][j] = 0;
            for (int k = 0; k < n; k++) {
                m->t[i][j] += inv[k][i] * q[k][j]; /* A^-T Q */
                u[i][j] += a[i][k] * q[k][j];      /* T^-T = A Q */
            }
        }
    return NULL;
}

/* l and c of the modes, and the impedances z (0: one of them is 0). */
static bool take_l_and_c(modes *m, modes_matrix u, modes_matrix l, modes_matrix c, double *z)
{
    const double none[MODES_MOST] = {0};
    modes_matrix x;
    congruent(m->n, u, l, x);
    bool good = take_diagonal(m->n, x, none, m->l);
    congruent(m->n, m->t, c, x);
    good &= take_diagonal(m->n, x, none, m->c);
    for (int i = 0; i < m->n; i++)
        z[i] = m->l[i] > 0 && m->c[i] > 0 ? sqrt(m->l[i] / m->c[i]) : 0;
    return good;
}

const char *modes_find(modes *m, int n, modes_matrix r, modes_matrix l, modes_matrix g,
                       modes_matrix c)
{
    modes_matrix m1, m2, u, x;
    *m = (modes){.n = n};
    const double z0 = largest(n, c) > 0 ? sqrt(largest(n, l) / largest(n, c)) : 0;
    add_parts(n, c, g, z0 > 0 && largest(n, g) * z0 <= NOTHING ? 0 : WEIGHT[0], m1);
    add_parts(n, l, r, largest(n, r) > NOTHING * z0 ? WEIGHT[1] : 0, m2);
    const char *why = transform(m, m1, m2, u);
    if (why)
        return why;
    double z[MODES_MOST] = {0}, y[MODES_MOST] = {0};
    bool good = take_l_and_c(m, u, l, c, z);
    for (int i = 0; i < n; i++)
        y[i] = z[i] > 0 ? 1 / z[i] : 0;
    congruent(n, u, r, x);
    good &= take_diagonal(n, x, z, m->r);
    congruent(n, m->t, g, x);
    good &= take_diagonal(n, x, y, m->g);
    if (!good)
        return "its losses couple the modes of l and c (r and g must be diagonal where l and c "
               "are, as in lines without losses, two equal "
               "conductors, or matrices that commute)";
    scale(m);
    return NULL;
}

static double largest_row(int n, modes_matrix a, const double *z)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += fabs(a[i][j]) / sqrt(z[i] * z[j]);
        most = fmax(most, sum);
    }
    return most;
}

const char *modes_without_loss(modes *m, int n, modes_matrix r, modes_matrix l, modes_matrix g,
                               modes_matrix c, double *loss)
{
    modes_matrix u, x;
    double z[MODES_MOST] = {0}, y[MODES_MOST] = {0};
    *m = (modes){.n = n};
    const char *why = transform(m, c, l, u);
    if (!why && !take_l_and_c(m, u, l, c, z))
        why = "l and c have no modes in double precision";
    if (why)
        return why;
    for (int i = 0; i < n; i++)
        y[i] = 1 / z[i]; /* both are positive definite */
    congruent(n, u, r, x);
    *loss = largest_row(n, x, z);
    congruent(n, m->t, g, x);
    *loss = fmax(*loss, largest_row(n, x, y));
    scale(m);
    return NULL;
}
