/* line.h - straight-line arithmetic on doubles as machine code: what a circuit's pattern fixes once
 * and every Newton iteration repeats (sums of contributions, LU of a tiny matrix) without loops or
 * indices. Use:    line_new; line_* append an instruction each; line_done makes it callable;
 * line_free. Method: x86-64 with SSE2 only, so the results are those of the same operations in C,
 * bit by bit. The memory is written first and made executable and read-only then.
 *
 * A function has up to 6 arrays of doubles and registers 0..12. An operand is array[index]. */
#ifndef LINE_H
#define LINE_H

#include "vs.h"

enum { LINE_MAX_ARRAYS = 6, LINE_MAX_REGISTERS = 13 };

typedef void (*line_fn)(const double *a0, const double *a1, double *a2, double *a3, double *a4,
                        double *a5);
typedef struct line line;

/* max: larger operand, the second one (source) if one is a NaN; min likewise */
typedef enum line_op { LINE_ADD, LINE_SUB, LINE_MUL, LINE_DIV, LINE_MIN, LINE_MAX } line_op;

/* NULL: not on this machine, or no memory. */
line *line_new(void);
void line_free(line **p); /* its function becomes invalid */

void line_load(line *l, int r, int array, int32_t index);            /* r = array[index] */
void line_store(line *l, int r, int array, int32_t index);           /* array[index] = r */
void line_mem(line *l, line_op op, int r, int array, int32_t index); /* r = r op array[index] */
void line_reg(line *l, line_op op, int r, int s);                    /* r = r op s */
void line_copy(line *l, int r, int s);
void line_abs(line *l, int r);
void line_neg(line *l, int r);
void line_zero(line *l, int r);
void line_one(line *l, int r);

/* The function; NULL when the code could not be made executable. Belongs to l. */
line_fn line_done(line *l);

#endif
