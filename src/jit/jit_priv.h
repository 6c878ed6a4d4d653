/* jit_priv.h - between the files of src/jit. */
#ifndef JIT_PRIV_H
#define JIT_PRIV_H

#include "jit.h"

/* -- pieces of a long kernel (jit_cut.c) -- */
enum {
    JIT_PIECE_WIDE = 700,
    JIT_PIECE_NARROW = 1500,
    JIT_PIECE_ONE_PACK = 13500,
    JIT_LONG = 2000
}; /* instructions */
typedef struct jit_cut {
    int32_t n_piece; /* at least 1 */
    ir_val *order;   /* vec [n_inst] instructions as they are to be made: before their readers,
                        regions whole */
    ir_val
        *begin; /* vec [n_piece + 1] piece p is order[begin[p] .. begin[p + 1]); no region is cut */
    int32_t *home; /* vec [n_inst] piece that computes a value; a probe: the first that reads it */
    int32_t *slot; /* vec [n_inst] place of a value that a later piece reads, -1: none does, or it
                    * is a constant or an input other than a probe and is made anew there */
    int32_t n_slot;
    /* vec [n_object + 1] pieces object[q] .. object[q + 1] are an object of their own, so that the
     * objects of one kernel can be made at the same time */
    int32_t *object;
    int32_t n_object; /* at least 1; depends on the function and the options only */
    uint8_t *fused; /* vec [n_inst] MUL: computed with its sum; ADD, SUB: 1, 2: which operand is */
    bool one_pack;
} jit_cut;
typedef struct jit_cut_opt {
    bool fuse;       /* products are computed with the sum that alone uses them */
    bool interleave; /* chains run beside each other (jit_order.c) */
    /* a long kernel of less than 8 lanes whose calls are of one pack, mostly: no other pack fills
     * the time in which results wait, and its instructions are fetched for one pack alone */
    bool one_pack;
    int limit; /* of instructions in a piece, by a rough count; 0: one piece */
} jit_cut_opt;
void jit_cut_init(jit_cut *cut, const ir_fn *fn, jit_cut_opt opt);
void jit_cut_fini(jit_cut *cut);
/* Appends the instructions of fn to *order (jit_order.c). */
void jit_order(ir_val **order, const ir_fn *fn, const uint8_t *fused, bool one_pack);
/* Values that instruction k reads, with those of the product that is fused with it. */
int jit_operands(const ir_fn *fn, const uint8_t *fused, ir_val k, ir_val v[4]);

/* -- the code generator, in its own shared module (jit_llvm.c) -- */
typedef struct jit_emit_opt {
    int opt_level;
    const char *cpu; /* NULL: this machine */
    bool exact;
    bool fma;                         /* the processor has fused multiply-add */
    bool scalef;                      /* and AVX-512 for all widths */
    void *(*room)(void *p, size_t n); /* vs_try_realloc of the caller: for *obj and *err */
} jit_emit_opt;
enum { JIT_NO_MEMORY = 2 };
/* Object q of one eval function cut by `cut`, as a file. The last object has the kernel, which
 * calls the pieces of the others. Functions of several threads may run at once. Returns 0 and *obj;
 * JIT_NO_MEMORY; otherwise *err is a text. Its temporary memory is not in the caller's heap; where
 * LLVM finds none, what it has taken until then is not given back. */
typedef int (*jit_emit_fn)(const ir_fn *fn, const jit_layout *lay, const jit_cut *cut, int32_t q,
                           const jit_emit_opt *opt, void **obj, size_t *size, char **err);
/* Opens the module with LLVM (jit_load.c). NULL: there is none in the places where it may be. Where
 * memory is missing it does not return (vs_no_memory). */
void *jit_load(const jit_opt *o);
/* Around a thread's calls to LLVM (jit_memory.c), for guard_run within: where LLVM finds no memory
 * the guard returns VS_ENOMEM. jit_memory_left: it was LLVM that found none, so that its objects of
 * this call are in no state to be freed. */
void jit_memory_begin(void);
bool jit_memory_left(void);
void jit_memory_end(void);
#define JIT_EMIT_SYMBOL "vsim_llvm_emit"
#define JIT_VERSION_SYMBOL "vsim_llvm_version" /* const char[]: JIT_GENERATOR of its build */
#define JIT_KERNEL_SYMBOL "vsim_kernel"
#define JIT_PIECE_SYMBOL "vsim_piece" /* and the number of the piece */

/* A loop is left after this many rounds, and the outputs of its instance become NaN; the
 * interpreter has the same limit. */
enum { JIT_LOOP_LIMIT = 10000000 };

/* Mathematical functions that generated code calls. The names are ours ("vm_exp"), so that LLVM
 * cannot fold or replace the calls: kernel and interpreter use the same libm routine.
 * X(op, C function, operands) */
/* clang-format off */
#define JIT_MATH_LIST(X)                                                                           \
    X(FMOD, fmod, 2) X(EXP, exp, 1) X(LN, log, 1) X(POW, pow, 2) X(LOG10, log10, 1)                \
    X(SIN, sin, 1) X(COS, cos, 1) X(TAN, tan, 1) X(ASIN, asin, 1) X(ACOS, acos, 1)                 \
    X(ATAN, atan, 1) X(ATAN2, ir_atan2, 2) X(SINH, sinh, 1) X(COSH, cosh, 1) X(TANH, tanh, 1)      \
    X(ASINH, asinh, 1) X(ACOSH, acosh, 1) X(ATANH, atanh, 1) X(HYPOT, hypot, 2)                    \
    X(EXPM1, expm1, 1) X(LOG1P, log1p, 1)
/* clang-format on */

/* -- the loader (jit_obj.c) -- */
typedef struct jit_code { /* one mapped object */
    void *base;
    size_t bytes; /* of the mapping */
    size_t text_bytes;
    size_t data_at; /* what stands before may be executed */
} jit_code;
typedef struct jit_symbol { /* a function of an object that others call */
    const char *name;       /* in the object */
    void *addr;
} jit_symbol;
/* Maps a relocatable object and finds JIT_KERNEL_SYMBOL. The object is only read.
 *   known   in/out  vec: pieces that the object may call; its own are appended. NULL: none
 *   kernel  out     NULL: the object needs none
 * Status: VS_OK; VS_EUNSUPPORTED: not an object for this machine, or it uses a relocation or a
 * symbol that the loader does not know. *why is a static text. */
VS_MUST_USE vs_status jit_obj_load(const void *obj, size_t size, jit_symbol **known, jit_code *code,
                                   jit_kernel *kernel, const char **why);
void jit_obj_unload(jit_code *code);
/* jit_own_code for one object. false: its code cannot be executed any more. */
bool jit_obj_own(const jit_code *code);
/* NULL, or why no object can be loaded on this machine. */
const char *jit_obj_unsupported(void);

/* -- the objects of one kernel, one behind the other (jit_pack.c) -- */
typedef struct jit_object {
    void *obj; /* for vs_free */
    size_t size;
} jit_object;
/* For vs_free. */
void *jit_pack_make(const jit_object *object, int32_t n, size_t *size);
/* Maps all objects of a pack, which is only read. *code: vec, also when it fails; the caller
 * unloads it.
 * Status: as jit_obj_load. */
VS_MUST_USE vs_status jit_pack_load(const void *pack, size_t size, jit_code **code,
                                    jit_kernel *kernel, const char **why);
void jit_pack_unload(jit_code **code);

#endif
