/* lu_panel.c - see lu_panel.h. A row of an octet is two words of four columns. */
#include "lu_panel.h"

enum { TILE = 32 }; /* rows */
#define INLINE static inline __attribute__((always_inline))

#define LANES 4
#define ROWS 2
#define OF_WORDS(name) name##_4
#include "lu_panel_words.h"

/* Words of eight columns, where the compiler can ask for them in one function. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LANES 8
#define ROWS 4
#define OF_WORDS(name) name##_8
#include "lu_panel_words.h"
#define HAS_EIGHT __builtin_cpu_supports("avx512f")
#define FOR_EIGHT __attribute__((target("avx512f")))
#else
#define subtract_tiles_8 subtract_tiles_4
#define HAS_EIGHT false
#define FOR_EIGHT
#endif

enum { WORDS = LU_OCTET / 4 };
typedef word_4 word;
typedef int64_t mask __attribute__((vector_size(32), may_alias));

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

/* Rows id[0] .. id[m - 1] become U's part. Returns the octets from which a product is to be
 * subtracted, one bit each. */
VS_CLONES static uint32_t take_upper(const int32_t *id, const double *l, int32_t ld, int32_t rows,
                                     int32_t m, uint32_t members, int64_t apart, double *x,
                                     double *u)
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
    return octets;
}

VS_CLONES static void subtract_by_four(const int32_t *id, const double *l, int32_t ld, int32_t rows,
                                       int32_t m, uint32_t octets, int64_t apart, double *x,
                                       const double *u)
{
    subtract_tiles_4(id, l, (size_t)ld, rows, m, octets, apart, x, u);
}

FOR_EIGHT static void subtract_by_eight(const int32_t *id, const double *l, int32_t ld,
                                        int32_t rows, int32_t m, uint32_t octets, int64_t apart,
                                        double *x, const double *u)
{
    subtract_tiles_8(id, l, (size_t)ld, rows, m, octets, apart, x, u);
}

void lu_panel_eliminate(const int32_t *id, const double *l, int32_t ld, int32_t rows, int32_t m,
                        uint32_t members, int64_t apart, double *x, double *u)
{
    const uint32_t octets = take_upper(id, l, ld, rows, m, members, apart, x, u);
    if (!octets)
        return;
    if (HAS_EIGHT)
        subtract_by_eight(id + m, l + m, ld, rows - m, m, octets, apart, x, u);
    else
        subtract_by_four(id + m, l + m, ld, rows - m, m, octets, apart, x, u);
}
