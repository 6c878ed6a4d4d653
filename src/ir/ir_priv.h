/* ir_priv.h - what the files of src/ir share: the op table, operand access, the rewriter. */
#ifndef IR_PRIV_H
#define IR_PRIV_H

#include "ir.h"

typedef struct ir_op_info {
    const char *name;
    uint8_t result; /* ir_type; IR_VOID: marker, or the type is in the instruction */
    uint8_t arity;  /* operands that are values */
    uint8_t first;  /* 0: operands start at a; 1: at b (PHI, LPHI) */
} ir_op_info;
extern const ir_op_info ir_op_table[IR_N_OP];

/* Operand k of an instruction, 0 <= k < arity. */
static inline ir_val ir_operand(const ir_inst *p, int k)
{
    const ir_val *v = &p->a;
    return v[k + ir_op_table[p->op].first];
}
static inline void ir_set_operand(ir_inst *p, int k, ir_val x)
{
    ir_val *v = &p->a;
    v[k + ir_op_table[p->op].first] = x;
}

#define ir_op_pure(op) ((op) >= IR_NEG && (op) <= IR_SELECT)

/* Operand type of a pure operation, of LIMIT, IF, WHILE; k the operand. IR_VOID: the type of the
 * instruction (SELECT's and the phis' values). */
ir_type ir_operand_type(ir_op op, int k);

static inline bool ir_num_same(ir_type t, ir_num a, ir_num b)
{
    if (t != IR_F64)
        return a.i == b.i;
    union {
        double f;
        uint64_t u;
    } x = {a.f}, y = {b.f};
    return x.u == y.u;
}
static inline ir_num ir_num_of_con(ir_type t, double x)
{
    ir_num v = {.f = x};
    if (t != IR_F64) {
        v.f = 0;
        v.i = (int32_t)x;
    }
    return v;
}
static inline double ir_con_of_num(ir_type t, ir_num v) { return t == IR_F64 ? v.f : (double)v.i; }

/* Index of a constant in fn->con, of an input in fn->in; added if new. */
int32_t ir_con_index(ir_fn *fn, double x);
int32_t ir_in_index(ir_fn *fn, ir_input in);

/* What an analysis found out about the values of a function; NULL fields: nothing. */
enum { IR_FACT_NONE, IR_FACT_CONST, IR_FACT_DECIDES };
typedef struct ir_facts {
    const uint8_t *state; /* [n_inst] CONST: the value is val; DECIDES: only as a condition */
    const ir_num *val;
} ir_facts;
/* ir_opt with facts: `to` is initialised by it. */
void ir_rewrite(ir_fn *to, const ir_fn *from, ir_opt_flags flags, ir_facts facts);

/* Derivatives of single operations (ir_slope.c). A derivative that is 0, 1 or -1 for certain is a
 * code; >= 0: a value of `to`. */
enum { IR_SLOPE_ZERO = IR_NONE, IR_SLOPE_ONE = -2, IR_SLOPE_MINUS_ONE = -3 };
typedef struct ir_slope {
    ir_fn *to;
    ir_val zero, one, minus_one; /* constants that ir_slope_begin appends */
} ir_slope;
ir_slope ir_slope_begin(ir_fn *to);
ir_val ir_slope_value(const ir_slope *s, ir_val code);
/* The derivative of the result follows from those of the operands. */
bool ir_carries_slope(const ir_inst *p);
/* d/da of a unary operation; a, v: operand and result in `to`. */
ir_val ir_slope_of(const ir_slope *s, ir_op op, ir_val a, ir_val v);
/* The same of pow, hypot, atan2, fmod, instruction i of `from`; new_of: its values in `to`. pa,
 * pb: results, NULL: not asked for. */
void ir_slopes_of(const ir_slope *s, const ir_fn *from, ir_val i, const ir_val *new_of, ir_val *pa,
                  ir_val *pb);

/* Copies of the tables that instructions point into: constants, inputs (same indices). */
void ir_copy_tables(ir_fn *to, const ir_fn *from);
/* Appends a copy of instruction i, operands through new_of[old], and sets new_of[i]; at ENDLOOP
 * also the next values of the loop's lphis. Needs ir_copy_tables. */
void ir_copy_inst(ir_fn *to, const ir_fn *from, ir_val i, ir_val *new_of);

#endif
