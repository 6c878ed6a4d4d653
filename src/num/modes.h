/* modes.h - the modes of a coupled line: one transformation that makes its matrices diagonal, if
 * there is one.
 * Method: with v = T v_m, i = T^-T i_m the line's equations -dv/dz = (R + sL) i, -di/dz = (G + sC)
 *         v have the matrices T^-1 (R + sL) T^-T and T^T (G + sC) T. For M1 = C + a G = A A^T and
 *         M2 = L + b R with a, b > 0 (weights that make both parts of one size) the eigenvectors Q
 *         of A^T M2 A give T = A^-T Q, which makes M1 and M2 diagonal; that each of the four is
 *         diagonal is tested; losses that are negligible beside the impedances of the modes may lie
 * off the diagonal, where they are left out (some decks write 1e-6 ohm because ngspice wants a
 * resistance).
 * Source: Paul, "Analysis of Multiconductor Transmission Lines", ch. 4;
 *         eigenvectors by Jacobi's rotations (Golub & Van Loan, 8.5). */
#ifndef MODES_H
#define MODES_H

#include <stdbool.h>

enum { MODES_MOST = 16 };

typedef struct modes {
    int n;
    double t[MODES_MOST][MODES_MOST]; /* v_k = sum_j t[k][j] v_m,j; largest of a column: 1 */
    double r[MODES_MOST], l[MODES_MOST], g[MODES_MOST], c[MODES_MOST]; /* of each mode */
} modes;

typedef double modes_matrix[MODES_MOST][MODES_MOST]; /* symmetric */

/* NULL, or why there are none. */
const char *modes_find(modes *m, int n, modes_matrix r, modes_matrix l, modes_matrix g,
                       modes_matrix c);
/* The modes of l and c alone; r and g of each are 0.
 *   *loss  out  how large r is beside the impedances of the modes, and g beside their admittances:
 *               the larger row sum of |r_ij| / sqrt(z_i z_j) and |g_ij| sqrt(z_i z_j) */
const char *modes_without_loss(modes *m, int n, modes_matrix r, modes_matrix l, modes_matrix g,
                               modes_matrix c, double *loss);

#endif
