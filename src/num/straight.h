/* straight.h - straight-line arithmetic on doubles as machine code.
 * A circuit's pattern fixes once what every Newton iteration repeats: sums of contributions, LU of
 * a tiny matrix. Written as instructions it needs neither loops nor indices.
 * Use:    straight_new; straight_* append an instruction each; straight_done makes it callable;
 *         straight_free.
 * Method: scalar doubles of x86-64, so results are those of the same operations in C, bit by bit.
 *         The same operations have a third operand where the processor has AVX, which saves copies.
 *         Products with a difference round once where it has FMA, if the caller asks for these.
 *         The memory is written first and made executable and read-only then.
 *
 * A function has up to 6 arrays of doubles and registers 0..11. An operand is array[index]. */
#ifndef STRAIGHT_H
#define STRAIGHT_H

#include "vs.h"

enum { STRAIGHT_MAX_ARRAYS = 6, STRAIGHT_MAX_REGISTERS = 12 };

typedef void (*straight_fn)(const double *a0, const double *a1, double *a2, double *a3, double *a4,
                            double *a5);
typedef struct straight straight;

/* max: larger operand, the second one (source) if one is a NaN; min likewise */
typedef enum straight_op {
    STRAIGHT_ADD,
    STRAIGHT_SUB,
    STRAIGHT_MUL,
    STRAIGHT_DIV,
    STRAIGHT_MIN,
    STRAIGHT_MAX
} straight_op;

/* NULL: not on this machine. */
straight *straight_new(void);
void straight_free(straight **p); /* its function becomes invalid */

void straight_load(straight *l, int r, int array, int32_t index);  /* r = array[index] */
void straight_store(straight *l, int r, int array, int32_t index); /* array[index] = r */
void straight_mem(straight *l, straight_op op, int r, int array,
                  int32_t index);                             /* r = r op array[index] */
void straight_reg(straight *l, straight_op op, int r, int s); /* r = r op s */
/* r = s op array[index], r = s op u; any of the registers may be the same. */
void straight_from_mem(straight *l, straight_op op, int r, int s, int array, int32_t index);
void straight_from(straight *l, straight_op op, int r, int s, int u);
void straight_copy(straight *l, int r, int s);
void straight_abs(straight *l, int r);
void straight_neg(straight *l, int r);
void straight_zero(straight *l, int r);
void straight_inverse(straight *l, int r, int s); /* r = 1 / s */
/* r = r - s u with one rounding. Only where straight_fuses. */
void straight_minus_product(straight *l, int r, int s, int u);
void straight_minus_product_mem(straight *l, int r, int s, int array, int32_t index);
bool straight_fuses(const straight *l);

/* As if the processor had neither AVX nor FMA: for tests. */
void straight_without_avx(straight *l);

/* The function; NULL when the code could not be made executable. Belongs to l. */
straight_fn straight_done(straight *l);

#endif
