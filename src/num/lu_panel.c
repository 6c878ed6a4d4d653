/* lu_panel.c - see lu_panel.h. A row of an octet is two words of four columns. */
#include "lu_panel.h"

enum { WORDS = LU_OCTET / 4, TILE = 32 };
typedef double word __attribute__((vector_size(32), may_alias));
typedef int64_t mask __attribute__((vector_size(32), may_alias));
#define INLINE static inline __attribute__((always_inline))

/* t [n][WORDS] = the products of the first group of 1 to 4 columns; first 0: plus those of another
 * four. The order of sums is that of `multiply` in lu_super.c. */
INLINE void add_group(word t[][WORDS], const double *restrict l, size_t ld, const word *restrict u,
                      const int n, const int first)
{
    const double *a = l, *b = a + ld, *d = b + ld, *e = d + ld;
    for (int w = 0; w < WORDS; w++)
        for (int r = 0; r < n; r++)
            t[r][w] = first == 1   ? a[r] * u[w]
                      : first == 2 ? a[r] * u[w] + b[r] * u[WORDS + w]
                      : first == 3 ? (a[r] * u[w] + b[r] * u[WORDS + w]) + d[r] * u[2 * WORDS + w]
                      : first == 4
                          ? (a[r] * u[w] + b[r] * u[WORDS + w]) +
                                (d[r] * u[2 * WORDS + w] + e[r] * u[3 * WORDS + w])
                          : t[r][w] + ((a[r] * u[w] + b[r] * u[WORDS + w]) +
                                       (d[r] * u[2 * WORDS + w] + e[r] * u[3 * WORDS + w]));
}

/* n rows, known to the compiler. */
INLINE void subtract_rows(word *restrict x, const int32_t *restrict id, const double *restrict l,
                          size_t ld, const word *restrict u, int32_t m, const int n,
                          const int first)
{
    word t[2][WORDS];
    add_group(t, l, ld, u, n, first);
    for (int32_t c = first; c < m; c += 4)
        add_group(t, l + (size_t)c * ld, ld, u + c * WORDS, n, 0);
    for (int r = 0; r < n; r++)
        for (int w = 0; w < WORDS; w++)
            x[id[r] * (int64_t)WORDS + w] -= t[r][w];
}

INLINE void subtract_from(word *restrict x, const int32_t *restrict id, const double *restrict l,
                          size_t ld, int32_t rows, const word *restrict u, int32_t m,
                          const int first)
{
    int32_t r = 0;
    for (; r + 2 <= rows; r += 2)
        subtract_rows(x, id + r, l + r, ld, u, m, 2, first);
    if (r < rows)
        subtract_rows(x, id + r, l + r, ld, u, m, 1, first);
}

/* u = rows f .. of the members, which become 0 in x. */
INLINE void take_rows(word *restrict x, word *restrict u, int32_t m, uint32_t members)
{
    for (int w = 0; w < WORDS; w++) {
        const int64_t m0 = members >> (4 * w) & 1, m1 = members >> (4 * w + 1) & 1,
                      m2 = members >> (4 * w + 2) & 1, m3 = members >> (4 * w + 3) & 1;
        const mask in = {-m0, -m1, -m2, -m3};
        for (int32_t c = 0; c < m; c++) {
            const mask v = (mask)x[c * WORDS + w];
            u[c * WORDS + w] = (word)(v & in);
            x[c * WORDS + w] = (word)(v & ~in);
        }
    }
}

INLINE void solve_triangle(word *restrict u, const double *restrict l, size_t ld, int32_t m)
{
    for (int32_t c = 0; c + 1 < m; c++)
        for (int32_t r = c + 1; r < m; r++)
            for (int w = 0; w < WORDS; w++)
                u[r * WORDS + w] -= l[(size_t)c * ld + (size_t)r] * u[c * WORDS + w];
}

/* One row of U for one column: words would be one eighth full. */
static void eliminate_one(const int32_t *restrict id, const double *restrict l, int32_t rows,
                          double *restrict x, double *restrict u)
{
    const double u0 = *u = x[id[0] * (int64_t)LU_OCTET];
    x[id[0] * (int64_t)LU_OCTET] = 0;
    for (int32_t r = 1; r < rows; r++)
        x[id[r] * (int64_t)LU_OCTET] -= l[r] * u0;
}

/* Row tiles of the block stay in the first cache for all octets. */
INLINE void subtract_tiles(const int32_t *id, const double *l, size_t ld, int32_t rows, int32_t m,
                           uint32_t octets, int64_t apart, double *x, const double *u)
{
    for (int32_t r = 0; r < rows; r += TILE) {
        const int32_t n = rows - r < TILE ? rows - r : TILE;
        for (uint32_t left = octets; left; left &= left - 1) {
            const int q = __builtin_ctz(left);
            word *restrict xw = (word *)(x + q * apart);
            const word *restrict uw = (const word *)(u + (int64_t)q * m * LU_OCTET);
            switch ((m - 1) % 4 + 1) {
            case 1: subtract_from(xw, id + r, l + r, ld, n, uw, m, 1); break;
            case 2: subtract_from(xw, id + r, l + r, ld, n, uw, m, 2); break;
            case 3: subtract_from(xw, id + r, l + r, ld, n, uw, m, 3); break;
            default: subtract_from(xw, id + r, l + r, ld, n, uw, m, 4);
            }
        }
    }
}

VS_CLONES void lu_panel_eliminate(const int32_t *id, const double *l, int32_t ld, int32_t rows,
                                  int32_t m, uint32_t members, int64_t apart, double *x, double *u)
{
    uint32_t octets = 0;
    for (int q = 0; q < LU_PANEL / LU_OCTET && members >> (LU_OCTET * q); q++) {
        const uint32_t in = members >> (LU_OCTET * q) & 0xff;
        double *uq = u + (int64_t)q * m * LU_OCTET, *xq = x + q * apart;
        if (m == 1 && in && !(in & (in - 1))) {
            eliminate_one(id, l, rows, xq + __builtin_ctz(in), uq + __builtin_ctz(in));
        } else if (in) {
            octets |= 1u << q;
            take_rows((word *)xq + id[0] * (int64_t)WORDS, (word *)uq, m, in);
            solve_triangle((word *)uq, l, (size_t)ld, m);
        }
    }
    subtract_tiles(id + m, l + m, (size_t)ld, rows - m, m, octets, apart, x, u);
}
