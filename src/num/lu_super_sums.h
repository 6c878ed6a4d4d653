/* lu_super_sums.h - loops over the values of supernodes, which are of type VALUE; sums are double.
 * Whoever includes it defines VALUE, and SUMS(name): the name of a function for this type. */

/* t[r] = sum_c l[c * ld + r] u[c], 0 <= r < rows, m > 0 columns; lu_panel.c has the same order of
 * sums. */
WIDE static void SUMS(multiply)(const VALUE *restrict l, int32_t ld, int32_t rows,
                                const double *restrict u, int32_t m, double *restrict t)
{
    const size_t step = (size_t)ld;
    const VALUE *restrict a = l, *restrict b = a + step, *restrict d = b + step;
    int32_t c = (m - 1) % 4 + 1; /* columns before whole groups of four */
    const double ua = u[0], ub = c > 1 ? u[1] : 0, ud = c > 2 ? u[2] : 0;
    if (c == 1)
        for (int32_t r = 0; r < rows; r++)
            t[r] = a[r] * ua;
    else if (c == 2)
        for (int32_t r = 0; r < rows; r++)
            t[r] = a[r] * ua + b[r] * ub;
    else if (c == 3)
        for (int32_t r = 0; r < rows; r++)
            t[r] = (a[r] * ua + b[r] * ub) + d[r] * ud;
    else {
        const VALUE *restrict e = d + step;
        const double ue = u[3];
        for (int32_t r = 0; r < rows; r++)
            t[r] = (a[r] * ua + b[r] * ub) + (d[r] * ud + e[r] * ue);
    }
    for (; c < m; c += 4) {
        const VALUE *restrict a0 = l + (size_t)c * step, *restrict a1 = a0 + step,
                              *restrict a2 = a1 + step, *restrict a3 = a2 + step;
        const double u0 = u[c], u1 = u[c + 1], u2 = u[c + 2], u3 = u[c + 3];
        for (int32_t r = 0; r < rows; r++)
            t[r] += (a0[r] * u0 + a1[r] * u1) + (a2[r] * u2 + a3[r] * u3);
    }
}

/* x[id[r]] -= that; t: work [rows] */
static inline void SUMS(subtract_product)(double *restrict x, const int32_t *restrict id,
                                          const VALUE *restrict l, int32_t ld, int32_t rows,
                                          const double *restrict u, int32_t m, double *restrict t)
{
    const double u0 = u[0];
    if (m == 1) {
        for (int32_t r = 0; r < rows; r++)
            x[id[r]] -= l[r] * u0;
    } else if (m == 2) {
        const double u1 = u[1];
        const VALUE *restrict l1 = l + ld;
        for (int32_t r = 0; r < rows; r++)
            x[id[r]] -= l[r] * u0 + l1[r] * u1;
    } else {
        SUMS(multiply)(l, ld, rows, u, m, t);
        for (int32_t r = 0; r < rows; r++)
            x[id[r]] -= t[r];
    }
}

/* The unit triangle of m columns of a supernode is solved for y [m]. */
static inline void SUMS(solve_triangle)(double *restrict y, const VALUE *restrict l, int32_t ld,
                                        int32_t m)
{
    for (int32_t c = 0; c + 1 < m; c++) {
        const double u = y[c];
        const VALUE *restrict col = l + (size_t)c * (size_t)ld;
        for (int32_t r = c + 1; r < m; r++)
            y[r] -= col[r] * u;
    }
}

/* As subtract_rows for a supernode of one column, where each of n segments is one value; to: its
 * row of y. */
static inline const VALUE *SUMS(subtract_row)(const int32_t *restrict column, int32_t n,
                                              const VALUE *restrict u, const double *restrict y,
                                              double *to)
{
    double sum = *to;
    for (; n >= 4; n -= 4, u += 4, column += 4)
        sum -= (u[0] * y[column[0]] + u[1] * y[column[1]]) +
               (u[2] * y[column[2]] + u[3] * y[column[3]]);
    for (int32_t i = 0; i < n; i++)
        sum -= u[i] * y[column[i]];
    *to = sum;
    return u + n;
}

/* y[r] -= sum of u_rk y_k over segments [j, end) of supernode o; u: their values. Returns where
 * those end. Four segments are added up first: sums that wait for each other take longer than what
 * comes from memory. */
WIDE static const VALUE *SUMS(subtract_rows)(const lu_super *s, int32_t o, int32_t j, int32_t end,
                                             const VALUE *restrict u, double *restrict y)
{
    const int32_t w = s->start[o + 1] - s->start[o], *column = s->column;
    const uint8_t *skip = s->skip;
    double *restrict to = y + s->start[o];
    if (w == 1)
        return SUMS(subtract_row)(column + j, end - j, u, y, to);
    while (j < end) {
        const int32_t k = skip[j], m = w - k;
        double *restrict at = to + k;
        const double y0 = y[column[j]];
        if (j + 4 <= end && skip[j + 1] == k && skip[j + 2] == k && skip[j + 3] == k) {
            const double y1 = y[column[j + 1]], y2 = y[column[j + 2]], y3 = y[column[j + 3]];
            const VALUE *restrict u1 = u + m, *restrict u2 = u1 + m, *restrict u3 = u2 + m;
            for (int32_t r = 0; r < m; r++)
                at[r] -= (u[r] * y0 + u1[r] * y1) + (u2[r] * y2 + u3[r] * y3);
            u = u3 + m;
            j += 4;
        } else {
            for (int32_t r = 0; r < m; r++)
                at[r] -= u[r] * y0;
            u += m;
            j++;
        }
    }
    return u;
}
