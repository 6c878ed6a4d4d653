/* jit_priv.h - between the files of src/jit. */
#ifndef JIT_PRIV_H
#define JIT_PRIV_H

#include "jit.h"
#include "jit_cache.h"

/* -- the code generator, in its own shared module (jit_llvm.c) -- */
typedef struct jit_emit_opt {
    int opt_level;
    const char *cpu; /* NULL: this machine */
    bool exact;
} jit_emit_opt;
/* Object file of one eval function, from malloc.
 * Returns 0 and *obj; otherwise *err is a text from malloc. */
typedef int (*jit_emit_fn)(const ir_fn *fn, const jit_layout *lay, const jit_emit_opt *opt,
                           void **obj, size_t *size, char **err);
#define JIT_EMIT_SYMBOL "vsim_llvm_emit"
#define JIT_VERSION_SYMBOL "vsim_llvm_version" /* const char[]: JIT_GENERATOR of its build */
#define JIT_KERNEL_SYMBOL "vsim_kernel"

/* A loop is left after this many rounds, and the outputs of its instance become NaN; the
 * interpreter has the same limit. */
enum { JIT_LOOP_LIMIT = 10000000 };

/* Mathematical functions that generated code calls. The names are ours ("vm_exp"), so that LLVM
 * cannot fold or replace the calls: kernel and interpreter use the same libm routine.
 * X(op, C function, operands) */
#define JIT_MATH_LIST(X)                                                                           \
    X(FMOD, fmod, 2) X(EXP, exp, 1) X(LN, log, 1) X(POW, pow, 2) X(LOG10, log10, 1)                \
    X(SIN, sin, 1) X(COS, cos, 1) X(TAN, tan, 1) X(ASIN, asin, 1) X(ACOS, acos, 1)                 \
    X(ATAN, atan, 1) X(ATAN2, atan2, 2) X(SINH, sinh, 1) X(COSH, cosh, 1) X(TANH, tanh, 1)         \
    X(ASINH, asinh, 1) X(ACOSH, acosh, 1) X(ATANH, atanh, 1) X(HYPOT, hypot, 2)                    \
    X(EXPM1, expm1, 1) X(LOG1P, log1p, 1)

/* -- the loader (jit_obj.c) -- */
typedef struct jit_code { /* one mapped object */
    void *base;
    size_t bytes;         /* of the mapping */
    size_t text_bytes;
} jit_code;
/* Maps a relocatable object and finds JIT_KERNEL_SYMBOL. The object is only read.
 * Status: VS_OK; VS_EUNSUPPORTED: not an object for this machine, or it uses a relocation or a
 * symbol that the loader does not know; VS_ENOMEM. *why is a static text. */
VS_MUST_USE vs_status jit_obj_load(const void *obj, size_t size, jit_code *code, jit_kernel *kernel,
                                   const char **why);
void jit_obj_unload(jit_code *code);
/* NULL, or why no object can be loaded on this machine. */
const char *jit_obj_unsupported(void);

#endif
