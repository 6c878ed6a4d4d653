/* out_touchstone.c - S-parameters as a Touchstone 1.1 file (.s1p, .s2p, ...).
 * Source: IBIS Open Forum, "Touchstone File Format Specification", version 1.1: the option line,
 *         two-port rows in the order S11 S21 S12 S22, other sizes row by row with at most four
 *         values a line. Version 1 knows one reference resistance: S is renormalised to that of
 *         port 1. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "out.h"
#include "stream.h"

#include <complex.h> /* last: `complex` is a name in out.h */

typedef double _Complex cplx;

struct out_touchstone {
    FILE *fp;
    int32_t n;
    double *z0;  /* [n] */
    cplx *s, *m; /* [n][n] */
    bool same;   /* all z0 are equal */
    bool own;    /* out_touchstone_close closes fp */
};

out_touchstone *out_touchstone_stream(FILE *fp, const double *z0, int32_t n)
{
    const size_t nn = (size_t)n * (size_t)n;
    out_touchstone *o = vs_calloc(1, sizeof *o);
    *o = (out_touchstone){.fp = fp,
                          .n = n,
                          .z0 = vs_calloc((size_t)n, sizeof(double)),
                          .s = vs_calloc(nn, sizeof(cplx)),
                          .m = vs_calloc(nn, sizeof(cplx)),
                          .same = true};
    for (int32_t i = 0; i < n; i++) {
        o->z0[i] = z0[i];
        o->same &= z0[i] == z0[0];
    }
    fprintf(o->fp, "! S-parameters by vsim, %d port%s\n# Hz S RI R %.17g\n", (int)n,
            n == 1 ? "" : "s", z0[0]);
    return o;
}

vs_status out_touchstone_open(out_touchstone **f, const char *path, const double *z0, int32_t n)
{
    *f = NULL;
    FILE *fp = stream_create(path, FILES_TOUCHSTONE);
    if (!fp)
        return VS_EIO;
    *f = out_touchstone_stream(fp, z0, n);
    (*f)->own = true;
    return VS_OK;
}

void out_touchstone_comment(out_touchstone *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("! ", f->fp);
    vfprintf(f->fp, fmt, ap);
    fputc('\n', f->fp);
    va_end(ap);
}

/* Solves x m = b, all n by n, by eliminating the columns of m; x takes the place of b. */
static void divide_right(int32_t n, cplx *b, cplx *m)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t p = k;
        for (int32_t j = k + 1; j < n; j++)
            if (cabs(m[k * n + j]) > cabs(m[k * n + p]))
                p = j;
        for (int32_t i = 0; i < n && p != k; i++) {
            const cplx t = m[i * n + k], u = b[i * n + k];
            m[i * n + k] = m[i * n + p];
            m[i * n + p] = t;
            b[i * n + k] = b[i * n + p];
            b[i * n + p] = u;
        }
        for (int32_t j = 0; j < n; j++) {
            const cplx f = j == k ? 0 : m[k * n + j] / m[k * n + k];
            for (int32_t i = 0; i < n && j != k; i++) {
                m[i * n + j] -= f * m[i * n + k];
                b[i * n + j] -= f * b[i * n + k];
            }
        }
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++)
            b[i * n + j] /= m[j * n + j];
}

/* S' = A^-1 (S - G)(1 - G S)^-1 A with G_i = (r - z_i)/(r + z_i), A_i = 2 sqrt(r z_i)/(r + z_i)
 * (both resistances real: Kurokawa 1965). */
static void renormalise(out_touchstone *f)
{
    const int32_t n = f->n;
    const double r = f->z0[0];
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const double g = (r - f->z0[i]) / (r + f->z0[i]);
            f->m[i * n + j] = (i == j) - g * f->s[i * n + j];
        }
    for (int32_t i = 0; i < n; i++)
        f->s[i * n + i] -= (r - f->z0[i]) / (r + f->z0[i]);
    divide_right(n, f->s, f->m);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const double ai = 2 * sqrt(r * f->z0[i]) / (r + f->z0[i]),
                         aj = 2 * sqrt(r * f->z0[j]) / (r + f->z0[j]);
            f->s[i * n + j] *= aj / ai;
        }
}

vs_status out_touchstone_point(out_touchstone *f, double hz, const double *s)
{
    const int32_t n = f->n;
    for (int32_t i = 0; i < n * n; i++)
        f->s[i] = s[2 * i] + I * s[2 * i + 1];
    if (!f->same)
        renormalise(f);
    fprintf(f->fp, "%.17g", hz);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const cplx v = n == 2 ? f->s[j * n + i] : f->s[i * n + j]; /* two ports: by columns */
            const bool fresh = n > 2 && (i || j) && j % 4 == 0;
            fprintf(f->fp, "%s %.17g %.17g", fresh ? "\n" : "", creal(v), cimag(v));
        }
    fputc('\n', f->fp);
    return ferror(f->fp) ? VS_EIO : VS_OK;
}

vs_status out_touchstone_close(out_touchstone **f)
{
    out_touchstone *o = *f;
    if (!o)
        return VS_OK;
    bool bad = ferror(o->fp);
    bad |= o->own && stream_close(o->fp) != 0;
    vs_free(o->z0);
    vs_free(o->s);
    vs_free(o->m);
    vs_free(o);
    *f = NULL;
    return bad ? VS_EIO : VS_OK;
}
