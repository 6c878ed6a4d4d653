/* jit_math.h - mathematical functions as vector code, for the code generator. docs/math.md has the
 * methods and the measured errors. */
#ifndef JIT_MATH_H
#define JIT_MATH_H

#include "ir.h"

#include <llvm-c/Core.h>

typedef struct jit_vec { /* where code goes */
    LLVMContextRef cx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    int lanes;   /* 1: scalars */
    bool fma;    /* the processor has fused multiply-add */
    bool scalef; /* and vscalefpd for all widths (AVX-512), which changes no result */
} jit_vec;

/* Code for op(a, b), b only where the operation has two operands. Each lane's result depends on its
 * operands and on `fma` only.
 *   libm  a function of doubles, from the C library, lane by lane, for arguments that are out of
 * reach Returns NULL if there is no vector code for the operation. */
LLVMValueRef jit_math(jit_vec *m, ir_op op, LLVMValueRef a, LLVMValueRef b,
                      LLVMValueRef (*libm)(void *user, ir_op op, LLVMValueRef x), void *user);
/* x^y in less than half the operations of jit_math, where x is positive and normal and the result
 * far from the ends of the range: in lanes of *sure. */
LLVMValueRef jit_math_pow(jit_vec *m, LLVMValueRef x, LLVMValueRef y, LLVMValueRef *sure);
/* Whether c [lanes] holds in all lanes. */
LLVMValueRef jit_math_all(jit_vec *m, LLVMValueRef c);

#endif
