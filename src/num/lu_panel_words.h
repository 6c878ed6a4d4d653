/* lu_panel_words.h - what a supernode's block does to rows of a panel, by words of LANES columns.
 * Whoever includes it defines LANES, the rows ROWS that are computed at a time, and OF_WORDS(name),
 * the name of a function or type for these words; all are undefined again at the end. */
typedef double OF_WORDS(word) __attribute__((vector_size(8 * LANES), aligned(32), may_alias));
#define WORD OF_WORDS(word)
#define N_WORD (LU_OCTET / LANES)

/* t [n][N_WORD] = the products of the first group of 1 to 4 columns; first 0: plus those of another
 * four. The order of sums is that of `multiply` in lu_super.c. */
INLINE void OF_WORDS(add_group)(WORD t[][N_WORD], const double *restrict l, size_t ld,
                                const WORD *restrict u, const int n, const int first)
{
    const double *a = l, *b = a + ld, *d = b + ld, *e = d + ld;
    for (int w = 0; w < N_WORD; w++)
        for (int r = 0; r < n; r++)
            t[r][w] = first == 1   ? a[r] * u[w]
                      : first == 2 ? a[r] * u[w] + b[r] * u[N_WORD + w]
                      : first == 3 ? (a[r] * u[w] + b[r] * u[N_WORD + w]) + d[r] * u[2 * N_WORD + w]
                      : first == 4
                          ? (a[r] * u[w] + b[r] * u[N_WORD + w]) +
                                (d[r] * u[2 * N_WORD + w] + e[r] * u[3 * N_WORD + w])
                          : t[r][w] + ((a[r] * u[w] + b[r] * u[N_WORD + w]) +
                                       (d[r] * u[2 * N_WORD + w] + e[r] * u[3 * N_WORD + w]));
}

/* n rows, known to the compiler. */
INLINE void OF_WORDS(subtract_rows)(WORD *restrict x, const int32_t *restrict id,
                                    const double *restrict l, size_t ld, const WORD *restrict u,
                                    int32_t m, const int n, const int first)
{
    WORD t[ROWS][N_WORD];
    OF_WORDS(add_group)(t, l, ld, u, n, first);
    for (int32_t c = first; c < m; c += 4)
        OF_WORDS(add_group)(t, l + (size_t)c * ld, ld, u + c * N_WORD, n, 0);
    for (int r = 0; r < n; r++)
        for (int w = 0; w < N_WORD; w++)
            x[id[r] * (int64_t)N_WORD + w] -= t[r][w];
}

INLINE void OF_WORDS(subtract_from)(WORD *restrict x, const int32_t *restrict id,
                                    const double *restrict l, size_t ld, int32_t rows,
                                    const WORD *restrict u, int32_t m, const int first)
{
    int32_t r = 0;
    for (; r + ROWS <= rows; r += ROWS)
        OF_WORDS(subtract_rows)(x, id + r, l + r, ld, u, m, ROWS, first);
    for (; r < rows; r++)
        OF_WORDS(subtract_rows)(x, id + r, l + r, ld, u, m, 1, first);
}

/* Row tiles of the block stay in the first cache for all octets. */
INLINE void OF_WORDS(subtract_tiles)(const int32_t *id, const double *l, size_t ld, int32_t rows,
                                     int32_t m, uint32_t octets, int64_t apart, double *x,
                                     const double *u)
{
    for (int32_t r = 0; r < rows; r += TILE) {
        const int32_t n = rows - r < TILE ? rows - r : TILE;
        for (uint32_t left = octets; left; left &= left - 1) {
            const int q = __builtin_ctz(left);
            WORD *restrict xw = (WORD *)(x + q * apart);
            const WORD *restrict uw = (const WORD *)(u + (int64_t)q * m * LU_OCTET);
            switch ((m - 1) % 4 + 1) {
            case 1: OF_WORDS(subtract_from)(xw, id + r, l + r, ld, n, uw, m, 1); break;
            case 2: OF_WORDS(subtract_from)(xw, id + r, l + r, ld, n, uw, m, 2); break;
            case 3: OF_WORDS(subtract_from)(xw, id + r, l + r, ld, n, uw, m, 3); break;
            default: OF_WORDS(subtract_from)(xw, id + r, l + r, ld, n, uw, m, 4);
            }
        }
    }
}

#undef N_WORD
#undef WORD
#undef OF_WORDS
#undef ROWS
#undef LANES
