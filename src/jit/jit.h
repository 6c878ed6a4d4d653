/* jit.h - SSA to machine code: a kernel evaluates one form of one variant for many instances.
 * Use:    jit_open; jit_compile per eval function; call the kernel; jit_close.
 * Method: our own passes have shrunk the function; LLVM (C API) makes an object file of it, which
 *         goes to the cache on disk; a small loader maps an object, fresh or cached, into memory,
 *         so a warm start does not touch LLVM (libvsim-llvm is loaded with dlopen only to compile).
 */
#ifndef JIT_H
#define JIT_H

#include "hash.h"
#include "ir.h"

/* What a kernel reads and writes. W instances (lanes) make a pack and are evaluated together;
 * arrays with a value per instance are interleaved within the pack: value k of n of lane l in pack
 * p is at
 * [(p*n + k)*W + l]. Lanes that are padding have entries like the others (best: copies of one).
 * Local unknown u is at x[map[..u..]]; x[0] is the reference node and holds 0; unknowns that are
 * not in use map to 0 too. A pack has one parameter row, or each of its lanes has setup values of
 * its own (jit_layout.row_per_lane). Strides are compiled in. Arrays that the function does not use
 * may be NULL. The arrays written do not overlap those read (state_new is not state). */
typedef struct jit_batch {
    const double *x;       /* [1 + unknowns of the circuit] */
    const int32_t *map;    /* [packs][n_u][W] */
    const double *cache;   /* [rows][n_cache] setup values; I32 and BOOL as exact doubles;
                            * row_per_lane: [packs][n_cache][W] */
    const int32_t *row_of; /* [packs]; not used with row_per_lane */
    const double *dyn;     /* [IR_N_DYN] */
    const double *state;   /* [packs][n_state][W] */
    const double *limold;  /* [packs][n_lim][W] */
    double *out;           /* [packs][n_out][W] in the order of the function's other outputs */
    double *state_new;     /* [packs][n_state][W] */
    double *limnew;        /* [packs][n_lim][W] */
} jit_batch;
typedef void (*jit_kernel)(const jit_batch *b, int64_t begin, int64_t end); /* packs */

/* The fixed sizes of a kernel. out_slot[i] is the place of eval->out[i] in its array: STATE in
 * state_new, LIMNEW in limnew (both by their index a), all others in out. */
typedef struct jit_layout {
    int32_t lanes; /* W: 1, 2, 4 or 8 */
    bool row_per_lane;
    int32_t n_u, n_cache, n_state, n_lim, n_out;
    const int32_t *probe_hi, *probe_lo; /* [n_probe] local unknowns, -1: reference */
    int32_t n_probe;
    const int32_t *out_slot; /* [vec_len(eval->out)] */
} jit_layout;

typedef struct jit_opt {
    const char *cache_dir;  /* NULL: nothing is stored on disk */
    const char *plugin_dir; /* of plugin_open; NULL: where this program or library is */
    bool no_cache;
    int opt_level;   /* 0..3, default 2 */
    int lanes;       /* W: 1, 2, 4, 8; 0: what suits the processor */
    const char *cpu; /* LLVM's name of a processor type; NULL: this machine */
    bool exact;      /* results are the interpreter's, bit by bit: functions of the C library;
                      * false: own vector code (docs/math.md), fused multiply-add */
    int piece;       /* instructions in a piece of a long kernel, roughly; 0: what suits the width,
                      * -1: no pieces; results do not depend on it */
    int threads;     /* that compile at once; 0: as many as there are processors */
    bool verbose;    /* notes about the cache through note() */
    void (*note)(void *user, const char *text);
    void *user;
    /* called when a kernel is not on disk. Another process may have written it by the time this
     * returns, so it is looked for again before it is compiled. NULL: it is compiled at once */
    void (*missing)(void *user);
    void *missing_user;
    /* Runs work(arg) in a process of its own, with the same memory and limits, and returns what it
     * returned; -1: it ended otherwise. NULL: the process is not the client's own, and LLVM is
     * loaded untried and unguarded (jit_load.c). */
    int (*apart)(int (*work)(const void *arg), const void *arg);
    /* Lets abort() in this thread call leave(), which does not return; NULL: as before. With apart.
     * false: it cannot. */
    bool (*on_abort)(void (*leave)(void));
} jit_opt;
typedef struct jit_stat {
    int n_compiled, n_from_cache, n_cache_bad;
    double seconds_compile; /* wall clock while kernels were compiled */
    size_t code_bytes;
} jit_stat;

typedef struct jit jit;

/* opt NULL: optimisation level 2, the rest zero. Without a cache folder a note says so, and kernels
 * are not kept on disk. The caller closes it. */
jit *jit_open(const jit_opt *opt);
void jit_close(jit **j); /* kernels become invalid */

/* Lanes that kernels of this machine should have. Results do not depend on it. */
int jit_lanes(const jit *j);

/* A hash of everything that a kernel takes from a function. */
hash128 jit_fn_key(const ir_fn *fn);

typedef struct jit_job { /* one kernel to be made */
    /* NULL: get(user) returns it if it must be compiled; n_out and fn_key describe it until then */
    const ir_fn *eval;
    const jit_layout *lay;
    const ir_fn *(*get)(void *user);
    void *user;
    hash128 fn_key;
    size_t n_out;
    /* out */
    vs_status st;
    jit_kernel kernel;
    size_t code_bytes;
    double seconds;  /* of its threads, in LLVM */
    bool from_cache; /* found on disk */
} jit_job;
/* Machine code for eval functions (inputs CACHE PROBE DYN ABSTIME STATE LIMOLD; ABSTIME is
 * dyn[IR_DYN_ABSTIME]; EFFECT is skipped), those that are new compiled at the same time, with the
 * same result as one after another. The cache key is a hash of the function, the layout, the CPU's
 * features, the code generator's and LLVM's version. *why, of the last that failed, lives until the
 * next call. A loop without end leaves NaN in the outputs of its lane. An arm of a branch (IR_IF)
 * runs where a lane wants it, so a loop in an arm needs lanes = 1: see ir_ifconv.
 * Status of a job: VS_OK; VS_EUNSUPPORTED: no code generator and not in the cache, or a machine
 * other than x86-64 with ELF, which the loader does not know; *why says so; VS_EINPUT: the function
 * has an input that is not allowed. */
void jit_compile_all(jit *j, jit_job *job, size_t n, const char **why);
VS_MUST_USE vs_status jit_compile(jit *j, const ir_fn *eval, const jit_layout *lay,
                                  jit_kernel *kernel, size_t *code_bytes, const char **why);
const jit_stat *jit_stats(const jit *j);
/* After a fork: copies the code to pages that this process shares with no other, since processes
 * that fetch long kernels from the same physical pages slow each other down (docs/sweeps.md).
 * false: the system refused, and kernels cannot be called any more. */
bool jit_own_code(const jit *j);

/* Does what a kernel does by the interpreter, lane by lane: for --interpret, and as the oracle of
 * tests.
 * Status: VS_OK, VS_NOCONV (a loop without end). */
VS_MUST_USE vs_status jit_interpret(const ir_fn *eval, const jit_layout *lay, const jit_batch *b,
                                    int64_t begin, int64_t end);

/* What the inputs of eval are for instance i (lane i % W of pack i / W): input [vec_len(eval->in)],
 * in their types. */
void jit_inputs(const ir_fn *eval, const jit_layout *lay, const jit_batch *b, int64_t i,
                ir_num *input);

/* Features of this machine that generated code, and the C library's rounding, depend on, as text.
 */
void jit_cpu_text(char *buf, size_t size);

#endif
