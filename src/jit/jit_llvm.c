/* jit_llvm.c - SSA to an object file with LLVM; the only file besides jit_math.c that includes
 * LLVM. Built as a shared module of its own (libvsim-llvm) that jit.c loads only when it must
 * compile.
 * Use:    vsim_llvm_emit (type jit_emit_fn).
 * Method: one LLVM function: a loop over packs of instances whose body is the eval function, in the
 *         order of jit_order.c; an SSA value is a vector with a lane for each instance of the pack.
 *         A long one is cut (jit_cut.c): a function for each piece, and the kernel calls one after
 *         the other for a few packs together; values that later pieces read wait in its frame. The
 *         pieces of an object are made by a call of its own: several threads make the objects of a
 *         kernel, which is in the last. Loops run while any lane wants, and arms of branches where
 *         one does; both keep the values of the others. Our own passes have already optimised the
 *         code, so that LLVM runs almost no IR passes; it selects instructions and allocates
 *         registers.
 * Numbers: every operation is the IEEE operation of ir_eval_op: no fast-math flags. A product that
 *         only one sum uses is fused with it where the processor can, by rules of our own
 *         (jit_cut.c), the same for every width; not with jit_opt.exact. Mathematical functions are
 *         those of jit_math.c, or calls of libm under names that LLVM does not know.
 * Lanes:  values have the type lane_type(), and all loads, stores, constants and calls go through
 *         helpers that work for `lanes` instances at once. No operation looks at another lane, so
 *         that the results of an instance depend neither on its neighbours nor on the width. */
#include "heap.h"
#include "jit_math.h"
#include "jit_priv.h"
#include "jit_build.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LLVM's calling convention intel_ocl_bicc: with AVX-512 the callee keeps zmm16 to zmm31, with AVX
 * ymm8 to ymm15, so that values of the caller stay in registers; the usual convention keeps none.
 */
#define KEEPS_UPPER_REGISTERS 77u
#define EXPORT __attribute__((visibility("default")))
EXPORT extern const char vsim_llvm_version[];
EXPORT int vsim_llvm_emit(const ir_fn *fn, const jit_layout *lay, const jit_cut *cut, int32_t q,
                          const jit_emit_opt *opt, void **obj, size_t *size, char **err);
const char vsim_llvm_version[] = JIT_GENERATOR;

/* An open `if` or `loop`. */
typedef struct region {
    ir_op op;                       /* IR_IF or IR_LOOP */
    LLVMBasicBlockRef other, after; /* IF: else and merge block; LOOP: header and exit */
    LLVMBasicBlockRef then_end, else_end;
    LLVMValueRef rounds; /* LOOP: phi that counts */
    LLVMValueRef on;     /* lanes that run the body, or the arm */
    ir_val first;        /* LOOP: its instruction */
} region;

typedef struct emitter {
    const ir_fn *fn;
    const jit_layout *lay;
    int lanes;
    jit_vec vec; /* for mathematical functions */
    bool exact;
    LLVMContextRef cx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    LLVMTypeRef f64, i64, i32, i1, ptr;
    LLVMValueRef kernel;
    LLVMValueRef *val; /* [n_inst] */
    uint8_t *in_phi;   /* [n_inst] an operand of a phi */
    const jit_cut *cut;
    int32_t object; /* the one being made */
    int32_t piece;  /* being made: the eval function from `begin` to `end` */
    ir_val begin, end;
    int32_t *to_keep; /* [n_inst] slot of a value that is not stored there yet, or -1 */
    LLVMValueRef
        kept;     /* memory of the pack for values that wait: slot s at kept[(s - middle_slot)*W] */
    region *open; /* vec */
    region closed;                /* the last region that ended: its phis follow */
    int32_t *out_head, *out_next; /* outputs of each value, [n_inst] and [n_out]; -1 ends */
    ir_val *pending;              /* vec; phis whose outputs are not stored yet */
    LLVMValueRef *out_ptr;        /* [n_out] */
    /* per pack, made at the head of the body */
    LLVMValueRef x, map_row, cache_row, dyn, state_row, limold_row;
    LLVMValueRef *unknown; /* vec [n_u], NULL until loaded */
    int n_in_block;
    LLVMValueRef endless; /* memory [lanes] of i32: a loop did not end; NULL: there is no loop */
    LLVMValueRef md_out;  /* alias scope list of the output arrays */
    unsigned kind_scope, kind_noalias;
    const char *bad; /* what is not supported */
    heap_owned own;  /* cx, mod, b */
} emitter;

/* -- lanes: everything that depends on the number of instances evaluated at once -- */

static LLVMTypeRef lane_type(const emitter *g, int type)
{
    LLVMTypeRef t = type == IR_F64 ? g->f64 : type == IR_I32 ? g->i32 : g->i1;
    return g->lanes == 1 ? t : LLVMVectorType(t, (unsigned)g->lanes);
}

static LLVMValueRef splat(emitter *g, LLVMValueRef scalar)
{
    const unsigned n = (unsigned)g->lanes;
    LLVMValueRef v[8];
    if (n == 1)
        return scalar;
    for (unsigned k = 0; k < n; k++)
        v[k] = scalar;
    if (LLVMIsConstant(scalar))
        return LLVMConstVector(v, n);
    LLVMValueRef none = LLVMGetUndef(LLVMVectorType(LLVMTypeOf(scalar), n));
    LLVMValueRef one = LLVMBuildInsertElement(g->b, none, scalar, LLVMConstInt(g->i32, 0, 0), "");
    return LLVMBuildShuffleVector(g->b, one, none, LLVMConstNull(LLVMVectorType(g->i32, n)), "");
}

static LLVMValueRef const_f64(emitter *g, double x)
{
    uint64_t w;
    memcpy(&w, &x, sizeof w);
    LLVMValueRef bits = LLVMConstInt(g->i64, w, 0);
    return splat(g, LLVMConstBitCast(bits, g->f64)); /* exact, NaN included */
}

static LLVMValueRef const_i32(emitter *g, int32_t i)
{
    return splat(g, LLVMConstInt(g->i32, (uint32_t)i, 0));
}

static LLVMValueRef const_bool(emitter *g, bool b) { return splat(g, LLVMConstInt(g->i1, b, 0)); }

/* A call of a scalar function, lane by lane. */
static LLVMValueRef call_lanes(emitter *g, LLVMTypeRef type, LLVMValueRef f, LLVMValueRef *arg,
                               int n)
{
    if (g->lanes == 1)
        return LLVMBuildCall2(g->b, type, f, arg, (unsigned)n, "");
    LLVMValueRef w = LLVMGetUndef(lane_type(g, IR_F64));
    for (int k = 0; k < g->lanes; k++) {
        LLVMValueRef lane = LLVMConstInt(g->i32, (unsigned)k, 0), one[2];
        for (int a = 0; a < n; a++)
            one[a] = LLVMBuildExtractElement(g->b, arg[a], lane, "");
        LLVMValueRef r = LLVMBuildCall2(g->b, type, f, one, (unsigned)n, "");
        w = LLVMBuildInsertElement(g->b, w, r, lane, "");
    }
    return w;
}

/* -- memory -- */

static LLVMValueRef element(emitter *g, LLVMTypeRef type, LLVMValueRef base, int64_t k)
{
    LLVMValueRef at = LLVMConstInt(g->i64, (uint64_t)k, 1);
    return LLVMBuildInBoundsGEP2(g->b, type, base, &at, 1, "");
}

/* A load from an input array; no output array overlaps it. */
static LLVMValueRef load_input(emitter *g, LLVMTypeRef type, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(g->b, type, at, "");
    LLVMSetMetadata(v, g->kind_noalias, g->md_out);
    return v;
}

/* base[k] for all lanes */
static LLVMValueRef load_shared(emitter *g, LLVMValueRef base, int64_t k)
{
    return splat(g, load_input(g, g->f64, element(g, g->f64, base, k)));
}

/* base[k*W + lane] */
static LLVMValueRef load_lanes(emitter *g, LLVMValueRef base, int64_t k)
{
    LLVMValueRef at = element(g, g->f64, base, k * g->lanes);
    LLVMValueRef v = load_input(g, lane_type(g, IR_F64), at);
    LLVMSetAlignment(v, 8);
    return v;
}

static LLVMValueRef batch_field(emitter *g, LLVMValueRef batch, size_t offset)
{
    LLVMValueRef at = LLVMConstInt(g->i64, offset, 0);
    at = LLVMBuildInBoundsGEP2(g->b, LLVMInt8TypeInContext(g->cx), batch, &at, 1, "");
    return load_input(g, g->ptr, at);
}

/* &base[i * stride] */
static LLVMValueRef row_of(emitter *g, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef i,
                           int32_t stride)
{
    LLVMValueRef k = LLVMBuildMul(g->b, i, LLVMConstInt(g->i64, (uint64_t)stride, 0), "");
    return LLVMBuildInBoundsGEP2(g->b, type, base, &k, 1, "");
}

static LLVMValueRef load_at_node(emitter *g, LLVMValueRef node_at)
{
    LLVMValueRef k = LLVMBuildSExt(g->b, load_input(g, g->i32, node_at), g->i64, "");
    return load_input(g, g->f64, LLVMBuildInBoundsGEP2(g->b, g->f64, g->x, &k, 1, ""));
}

static LLVMValueRef load_unknown(emitter *g, int32_t u)
{
    if (u < 0)
        return const_f64(g, 0.0);
    if (g->unknown[u])
        return g->unknown[u];
    LLVMValueRef v = LLVMGetUndef(lane_type(g, IR_F64));
    for (int k = 0; k < g->lanes; k++) {
        LLVMValueRef one =
            load_at_node(g, element(g, g->i32, g->map_row, (int64_t)u * g->lanes + k));
        v = g->lanes == 1
                ? one
                : LLVMBuildInsertElement(g->b, v, one, LLVMConstInt(g->i32, (unsigned)k, 0), "");
    }
    if (!vec_len(g->open)) /* visible everywhere */
        g->unknown[u] = v;
    return v;
}

/* -- inputs -- */

static LLVMValueRef from_f64(emitter *g, LLVMValueRef v, int type)
{
    if (type == IR_I32)
        return LLVMBuildFPToSI(g->b, v, lane_type(g, IR_I32), "");
    if (type == IR_BOOL)
        return LLVMBuildFCmp(g->b, LLVMRealUNE, v, const_f64(g, 0.0), "");
    return v;
}

static LLVMValueRef emit_probe(emitter *g, int32_t k)
{
    LLVMValueRef hi = load_unknown(g, g->lay->probe_hi[k]);
    if (g->lay->probe_lo[k] < 0)
        return hi;
    return LLVMBuildFSub(g->b, hi, load_unknown(g, g->lay->probe_lo[k]), "");
}

static LLVMValueRef emit_in(emitter *g, const ir_input *in)
{
    switch ((ir_in_kind)in->kind) {
    case IR_IN_PROBE: return emit_probe(g, in->k);
    case IR_IN_CACHE:
        return from_f64(g,
                        g->lay->row_per_lane ? load_lanes(g, g->cache_row, in->k)
                                             : load_shared(g, g->cache_row, in->k),
                        in->type);
    case IR_IN_DYN: return from_f64(g, load_shared(g, g->dyn, in->k), in->type);
    case IR_IN_ABSTIME: return load_shared(g, g->dyn, IR_DYN_ABSTIME);
    case IR_IN_STATE: return from_f64(g, load_lanes(g, g->state_row, in->k), in->type);
    case IR_IN_LIMOLD: return load_lanes(g, g->limold_row, in->k);
    default: g->bad = "an input that a kernel cannot have"; return const_f64(g, 0.0);
    }
}

/* -- values that wait for later pieces -- */

/* The slot that g->kept points to: a signed byte of displacement reaches 128 vectors both ways. */
static int32_t middle_slot(const emitter *g)
{
    return g->cut->n_slot < 128 ? g->cut->n_slot / 2 : 64;
}

/* Memory for one pack: the slots, and one more for endless loops. */
static int32_t kept_doubles(const emitter *g) { return (g->cut->n_slot + 1) * g->lanes; }

/* Packs that a piece runs for before the next one: while one waits for a result the next one works.
 * Their values together should not be much more than the first-level cache holds. */
static int32_t packs_at_once(const emitter *g)
{
    enum { MOST = 8, BYTES = 40960 };
    const int32_t fit = BYTES / (kept_doubles(g) * 8);
    return fit < 1 ? 1 : fit > MOST ? MOST : fit;
}

static LLVMValueRef slot_at(emitter *g, int32_t slot)
{
    return element(g, g->f64, g->kept, (int64_t)(slot - middle_slot(g)) * g->lanes);
}

/* Integers and truth values wait as 64 bits. */
static LLVMTypeRef slot_type(const emitter *g, int type)
{
    LLVMTypeRef t = type == IR_F64 ? g->f64 : g->i64;
    return g->lanes == 1 ? t : LLVMVectorType(t, (unsigned)g->lanes);
}

static LLVMValueRef load_kept(emitter *g, ir_val k)
{
    const int type = g->fn->inst[k].type;
    LLVMValueRef v = load_input(g, slot_type(g, type), slot_at(g, g->cut->slot[k]));
    LLVMSetAlignment(v, (unsigned)g->lanes * 8);
    if (type == IR_BOOL)
        return LLVMBuildICmp(g->b, LLVMIntSLT, v, LLVMConstNull(slot_type(g, type)), "");
    return type == IR_I32 ? LLVMBuildTrunc(g->b, v, lane_type(g, type), "") : v;
}

static void keep(emitter *g, ir_val k)
{
    const int type = g->fn->inst[k].type;
    LLVMValueRef v = g->val[k];
    if (type != IR_F64)
        v = LLVMBuildSExt(g->b, v, slot_type(g, type), "");
    LLVMValueRef s = LLVMBuildStore(g->b, v, slot_at(g, g->to_keep[k]));
    LLVMSetAlignment(s, (unsigned)g->lanes * 8);
    LLVMSetMetadata(s, g->kind_scope, g->md_out);
    g->to_keep[k] = -1;
}

static LLVMValueRef emit_const(emitter *g, const ir_inst *in)
{
    const double x = g->fn->con[in->a];
    return in->type == IR_F64   ? const_f64(g, x)
           : in->type == IR_I32 ? const_i32(g, (int32_t)x)
                                : const_bool(g, x != 0);
}

/* The value of an operand. Setup values and those of earlier pieces are loaded anew at each use, so
 * that the load becomes an operand of the instruction; loaded once, they would wait on the stack.
 */
static LLVMValueRef use(emitter *g, ir_val v)
{
    const ir_inst *in = &g->fn->inst[v];
    if (g->val[v])
        return g->val[v];
    if (in->op == IR_CONST)
        return emit_const(g, in);
    return in->op == IR_IN && g->cut->slot[v] < 0 ? emit_in(g, &g->fn->in[in->a]) : load_kept(g, v);
}

static bool loads_at_use(const emitter *g, ir_val k)
{
    return g->fn->in[g->fn->inst[k].a].kind == IR_IN_CACHE && !g->in_phi[k];
}

static void find_phi_operands(emitter *g)
{
    for (size_t k = 0; k < vec_len(g->fn->inst); k++) {
        const ir_inst *in = &g->fn->inst[k];
        if (in->op == IR_PHI || in->op == IR_LPHI)
            g->in_phi[in->b] = g->in_phi[in->c] = 1;
    }
}

/* -- operations -- */

static LLVMValueRef intrinsic(emitter *g, const char *name, LLVMValueRef *arg, int n)
{
    LLVMTypeRef type = LLVMTypeOf(arg[0]);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->mod, id, &type, 1);
    return LLVMBuildCall2(g->b, LLVMIntrinsicGetType(g->cx, id, &type, 1), f, arg, (unsigned)n, "");
}

static void add_attribute(emitter *g, LLVMValueRef f, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->cx, kind, value));
}

/* Values on the stack are aligned as wide registers need it: without it half of all accesses would
 * touch two cache lines. */
static void align_stack(emitter *g, LLVMValueRef f)
{
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(g->cx, "stackrealign", 12, "", 0));
}

static void is_pure(emitter *g, LLVMValueRef f)
{
    add_attribute(g, f, "nounwind", 0);
    add_attribute(g, f, "willreturn", 0);
    add_attribute(g, f, "memory", 0); /* none; ignored by versions without it */
}

static LLVMValueRef call_math(emitter *g, const char *name, LLVMValueRef *arg, int n)
{
    LLVMTypeRef par[2] = {g->f64, g->f64};
    LLVMTypeRef type = LLVMFunctionType(g->f64, par, (unsigned)n, 0);
    LLVMValueRef f = LLVMGetNamedFunction(g->mod, name);
    if (!f) {
        f = LLVMAddFunction(g->mod, name, type);
        is_pure(g, f);
    }
    return call_lanes(g, type, f, arg, n);
}

static const char *math_name(ir_op op)
{
    switch (op) {
#define X(o, f, arity) \
    case IR_##o: return "vm_" #f;
        JIT_MATH_LIST(X)
#undef X
    default: return NULL;
    }
}

static LLVMValueRef call_libm(void *user, ir_op op, LLVMValueRef x)
{
    return call_math(user, math_name(op), &x, 1);
}

/* A function of the module, all lanes at once, of x and y. NULL: it has a body already. */
static LLVMBasicBlockRef begin_own(emitter *g, const char *name, LLVMValueRef *f)
{
    LLVMTypeRef v = lane_type(g, IR_F64), par[2] = {v, v};
    *f = LLVMGetNamedFunction(g->mod, name);
    if (*f)
        return NULL;
    *f = LLVMAddFunction(g->mod, name, LLVMFunctionType(v, par, 2, 0));
    LLVMSetLinkage(*f, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(*f, KEEPS_UPPER_REGISTERS);
    is_pure(g, *f);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->cx, *f, ""));
    return here;
}

static LLVMValueRef call_own(emitter *g, LLVMValueRef f, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef v[2] = {x, y}, r = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, v, 2, "");
    LLVMSetInstructionCallConv(r, KEEPS_UPPER_REGISTERS);
    return r;
}

/* What jit_math has, as a function. */
static LLVMValueRef own_math(emitter *g, ir_op op, const char *name)
{
    LLVMValueRef f;
    LLVMBasicBlockRef here = begin_own(g, name, &f);
    if (here) {
        LLVMBuildRet(g->b,
                     jit_math(&g->vec, op, LLVMGetParam(f, 0), LLVMGetParam(f, 1), NULL, NULL));
        LLVMPositionBuilderAtEnd(g->b, here);
    }
    return f;
}

/* The short way, and the long one if any lane needs it, for these lanes. */
static LLVMValueRef own_pow(emitter *g)
{
    LLVMValueRef f, slow = own_math(g, IR_POW, "vsim_pow_slow"), sure;
    LLVMBasicBlockRef here = begin_own(g, "vsim_pow", &f);
    if (!here)
        return f;
    LLVMValueRef x = LLVMGetParam(f, 0), y = LLVMGetParam(f, 1),
                 r = jit_math_pow(&g->vec, x, y, &sure);
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(g->cx, f, ""),
                      other = LLVMAppendBasicBlockInContext(g->cx, f, "");
    LLVMBuildCondBr(g->b, jit_math_all(&g->vec, sure), done, other);
    LLVMPositionBuilderAtEnd(g->b, done);
    LLVMBuildRet(g->b, r);
    LLVMPositionBuilderAtEnd(g->b, other);
    LLVMBuildRet(g->b, LLVMBuildSelect(g->b, sure, r, call_own(g, slow, x, y), ""));
    LLVMPositionBuilderAtEnd(g->b, here);
    return f;
}

/* x in the lanes that want the open arms, 1 in the others. These often bring what the condition is
 * there to keep from pow, as 1 - v/vj beyond the built-in voltage, and would need the long way. */
static LLVMValueRef harmless(emitter *g, LLVMValueRef x)
{
    for (size_t k = g->lanes > 1 ? vec_len(g->open) : 0; k > 0; k--)
        if (g->open[k - 1].op == IR_IF)
            x = LLVMBuildSelect(g->b, g->open[k - 1].on, x, const_f64(g, 1), "");
    return x;
}

/* Vector code where there is some, else a call for each lane. What is long stands in a module once,
 * as a function; so do exp and ln where all code is fetched for one pack. */
static LLVMValueRef emit_math(emitter *g, ir_op op, LLVMValueRef *v, int n)
{
    if (op == IR_POW && !g->exact)
        return call_own(g, own_pow(g), harmless(g, v[0]), v[1]);
    if ((op == IR_EXP || op == IR_LN) && !g->exact && g->cut->one_pack)
        return call_own(g, own_math(g, op, op == IR_EXP ? "vsim_exp" : "vsim_ln"), v[0], v[0]);
    LLVMValueRef r = g->exact ? NULL : jit_math(&g->vec, op, v[0], v[1], call_libm, g);
    return r ? r : call_math(g, math_name(op), v, n);
}

/* x/0 is 0; x/-1 is -x, x%-1 is 0, without the trap of INT_MIN/-1. */
static LLVMValueRef emit_idiv(emitter *g, ir_op op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef zero = const_i32(g, 0), one = const_i32(g, 1);
    LLVMValueRef is0 = LLVMBuildICmp(g->b, LLVMIntEQ, b, zero, "");
    LLVMValueRef is_1 = LLVMBuildICmp(g->b, LLVMIntEQ, b, const_i32(g, -1), "");
    LLVMValueRef odd = LLVMBuildOr(g->b, is0, is_1, "");
    LLVMValueRef safe = LLVMBuildSelect(g->b, odd, one, b, "");
    LLVMValueRef by_1 = op == IR_IDIV ? LLVMBuildSub(g->b, zero, a, "") : zero;
    LLVMValueRef r =
        op == IR_IDIV ? LLVMBuildSDiv(g->b, a, safe, "") : LLVMBuildSRem(g->b, a, safe, "");
    r = LLVMBuildSelect(g->b, is_1, by_1, r, "");
    return LLVMBuildSelect(g->b, is0, zero, r, "");
}

/* Nearest, ties away from zero, saturating, NaN 0. */
static LLVMValueRef emit_f2i(emitter *g, LLVMValueRef a)
{
    LLVMValueRef r = intrinsic(g, "llvm.round", &a, 1);
    LLVMTypeRef type[2] = {lane_type(g, IR_I32), lane_type(g, IR_F64)};
    unsigned id = LLVMLookupIntrinsicID("llvm.fptosi.sat", 15);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->mod, id, type, 2);
    return LLVMBuildCall2(g->b, LLVMIntrinsicGetType(g->cx, id, type, 2), f, &r, 1, "");
}

/* Logical shifts; a count outside 0..31 gives 0. */
static LLVMValueRef emit_shift(emitter *g, ir_op op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef fits = LLVMBuildICmp(g->b, LLVMIntULT, b, const_i32(g, 32), "");
    LLVMValueRef n = LLVMBuildSelect(g->b, fits, b, const_i32(g, 0), "");
    LLVMValueRef r = op == IR_ISHL ? LLVMBuildShl(g->b, a, n, "") : LLVMBuildLShr(g->b, a, n, "");
    return LLVMBuildSelect(g->b, fits, r, const_i32(g, 0), "");
}

static LLVMValueRef compare_f(emitter *g, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildFCmp(g->b, p, a, b, "");
}

static LLVMValueRef compare_i(emitter *g, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(g->b, p, a, b, "");
}

static LLVMValueRef emit_fused(emitter *g, const ir_inst *in, bool second)
{
    const ir_inst *mul = &g->fn->inst[second ? in->b : in->a];
    LLVMValueRef v[3] = {use(g, mul->a), use(g, mul->b), use(g, second ? in->a : in->b)};
    if (in->op == IR_SUB && second)
        v[0] = LLVMBuildFNeg(g->b, v[0], "");
    if (in->op == IR_SUB && !second)
        v[2] = LLVMBuildFNeg(g->b, v[2], "");
    return intrinsic(g, "llvm.fma", v, 3);
}

/* NEG .. LIMIT */
static LLVMValueRef emit_pure(emitter *g, ir_val k)
{
    const ir_inst *in = &g->fn->inst[k];
    LLVMBuilderRef b = g->b;
    LLVMValueRef v[3] = {0};
    if (g->cut->fused[k])
        return in->op == IR_MUL ? NULL : emit_fused(g, in, g->cut->fused[k] == 2);
    int n = ir_op_arity(in->op);
    v[0] = n > 0 ? use(g, in->a) : NULL;
    v[1] = n > 1 ? use(g, in->b) : NULL;
    v[2] = n > 2 ? use(g, in->c) : NULL;
    switch ((ir_op)in->op) {
    case IR_NEG: return LLVMBuildFNeg(b, v[0], "");
    case IR_ADD: return LLVMBuildFAdd(b, v[0], v[1], "");
    case IR_SUB: return LLVMBuildFSub(b, v[0], v[1], "");
    case IR_MUL: return LLVMBuildFMul(b, v[0], v[1], "");
    case IR_DIV: return LLVMBuildFDiv(b, v[0], v[1], "");
    case IR_MIN: return LLVMBuildSelect(b, compare_f(g, LLVMRealOLT, v[0], v[1]), v[0], v[1], "");
    case IR_MAX: return LLVMBuildSelect(b, compare_f(g, LLVMRealOGT, v[0], v[1]), v[0], v[1], "");
    case IR_ABS: return intrinsic(g, "llvm.fabs", v, 1);
    case IR_FLOOR: return intrinsic(g, "llvm.floor", v, 1);
    case IR_CEIL: return intrinsic(g, "llvm.ceil", v, 1);
    case IR_SQRT: return intrinsic(g, "llvm.sqrt", v, 1);
#define X(op, f, arity) \
    case IR_##op: return emit_math(g, IR_##op, v, arity);
        JIT_MATH_LIST(X)
#undef X
    case IR_FLT: return compare_f(g, LLVMRealOLT, v[0], v[1]);
    case IR_FLE: return compare_f(g, LLVMRealOLE, v[0], v[1]);
    case IR_FEQ: return compare_f(g, LLVMRealOEQ, v[0], v[1]);
    case IR_FNE: return compare_f(g, LLVMRealUNE, v[0], v[1]);
    case IR_INEG: return LLVMBuildNeg(b, v[0], "");
    case IR_IADD: return LLVMBuildAdd(b, v[0], v[1], "");
    case IR_ISUB: return LLVMBuildSub(b, v[0], v[1], "");
    case IR_IMUL: return LLVMBuildMul(b, v[0], v[1], "");
    case IR_IDIV:
    case IR_IMOD: return emit_idiv(g, in->op, v[0], v[1]);
    case IR_ISHL:
    case IR_ISHR: return emit_shift(g, in->op, v[0], v[1]);
    case IR_IAND:
    case IR_BAND: return LLVMBuildAnd(b, v[0], v[1], "");
    case IR_IOR:
    case IR_BOR: return LLVMBuildOr(b, v[0], v[1], "");
    case IR_IXOR:
    case IR_BXOR: return LLVMBuildXor(b, v[0], v[1], "");
    case IR_INOT:
    case IR_BNOT: return LLVMBuildNot(b, v[0], "");
    case IR_ILT: return compare_i(g, LLVMIntSLT, v[0], v[1]);
    case IR_ILE: return compare_i(g, LLVMIntSLE, v[0], v[1]);
    case IR_IEQ: return compare_i(g, LLVMIntEQ, v[0], v[1]);
    case IR_INE: return compare_i(g, LLVMIntNE, v[0], v[1]);
    case IR_I2F: return LLVMBuildSIToFP(b, v[0], lane_type(g, IR_F64), "");
    case IR_F2I: return emit_f2i(g, v[0]);
    case IR_B2I: return LLVMBuildZExt(b, v[0], lane_type(g, IR_I32), "");
    case IR_B2F: return LLVMBuildUIToFP(b, v[0], lane_type(g, IR_F64), "");
    case IR_SELECT: return LLVMBuildSelect(b, v[0], v[1], v[2], "");
    case IR_LIMIT: return v[0];
    default: g->bad = ir_op_name(in->op); return const_f64(g, 0.0);
    }
}

/* -- outputs: stored as soon as they are known, which keeps live ranges short -- */

static void store_f64(emitter *g, LLVMValueRef v, LLVMValueRef at)
{
    LLVMValueRef s = LLVMBuildStore(g->b, v, at);
    LLVMSetAlignment(s, 8);
    LLVMSetMetadata(s, g->kind_scope, g->md_out);
}

static LLVMValueRef as_f64(emitter *g, LLVMValueRef v, int type)
{
    if (type == IR_I32)
        return LLVMBuildSIToFP(g->b, v, lane_type(g, IR_F64), "");
    if (type == IR_BOOL)
        return LLVMBuildUIToFP(g->b, v, lane_type(g, IR_F64), "");
    return v;
}

static bool is_stored(const emitter *g, ir_val k)
{
    return g->out_head[k] >= 0 || g->to_keep[k] >= 0;
}

/* Stores value k for later pieces and as outputs where that is not done yet. */
static void store_value(emitter *g, ir_val k)
{
    if (g->to_keep[k] >= 0)
        keep(g, k);
    for (int32_t o = g->out_head[k]; o >= 0; o = g->out_next[o])
        store_f64(g, as_f64(g, use(g, k), g->fn->inst[k].type), g->out_ptr[o]);
    g->out_head[k] = -1;
}

static void store_pending(emitter *g)
{
    for (size_t i = 0; i < vec_len(g->pending); i++)
        store_value(g, g->pending[i]);
    vec_clear(g->pending);
}

/* -- regions -- */

static LLVMBasicBlockRef new_block(emitter *g)
{
    return LLVMAppendBasicBlockInContext(g->cx, g->kernel, "");
}

static LLVMValueRef any_lane(emitter *g, LLVMValueRef mask)
{
    return g->lanes == 1 ? mask : intrinsic(g, "llvm.vector.reduce.or", &mask, 1);
}

static void begin_if(emitter *g, const ir_inst *in)
{
    LLVMBasicBlockRef then = new_block(g);
    region r = {.op = IR_IF, .other = new_block(g), .after = new_block(g), .on = use(g, in->a)};
    LLVMBuildCondBr(g->b, any_lane(g, r.on), then, r.other);
    LLVMPositionBuilderAtEnd(g->b, then);
    vec_push(g->open, r);
}

/* The phis behind an `if` that several lanes run if one of them wants to: those that do not want it
 * take the other value. */
static void blend_phis(emitter *g, const region *r, ir_val end)
{
    const ir_inst *inst = g->fn->inst;
    for (ir_val k = end + 1; k < (ir_val)vec_len(inst) && inst[k].op == IR_PHI; k++)
        g->val[k] = LLVMBuildSelect(g->b, r->on, use(g, inst[k].b), use(g, inst[k].c), "");
}

static void begin_else(emitter *g, const ir_inst *in)
{
    region *r = &vec_last(g->open);
    if (g->lanes > 1)
        blend_phis(g, r, in->b);
    r->then_end = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, r->after);
    LLVMPositionBuilderAtEnd(g->b, r->other);
}

static void end_if(emitter *g)
{
    g->closed = vec_pop(g->open);
    g->closed.else_end = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, g->closed.after);
    LLVMPositionBuilderAtEnd(g->b, g->closed.after);
}

static LLVMValueRef emit_phi(emitter *g, ir_val k)
{
    const ir_inst *in = &g->fn->inst[k];
    LLVMValueRef phi = LLVMBuildPhi(g->b, lane_type(g, in->type), "");
    LLVMValueRef v[2] = {g->lanes > 1 ? g->val[k] : g->val[in->b], g->val[in->c]};
    LLVMBasicBlockRef from[2] = {g->closed.then_end, g->closed.else_end};
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

static void begin_loop(emitter *g, ir_val first)
{
    if (g->lanes > 1 && vec_len(g->open) && vec_last(g->open).op == IR_IF)
        g->bad = "loops in branches cannot run for several lanes";
    region r = {.op = IR_LOOP, .other = new_block(g), .after = new_block(g), .first = first};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMValueRef zero = LLVMConstInt(g->i32, 0, 0);
    LLVMBuildBr(g->b, r.other);
    LLVMPositionBuilderAtEnd(g->b, r.other);
    r.rounds = LLVMBuildPhi(g->b, g->i32, "");
    LLVMAddIncoming(r.rounds, &zero, &before, 1);
    r.then_end = before;
    vec_push(g->open, r);
}

static LLVMValueRef emit_lphi(emitter *g, const ir_inst *in)
{
    LLVMValueRef phi = LLVMBuildPhi(g->b, lane_type(g, in->type), "");
    LLVMAddIncoming(phi, &g->val[in->b], &vec_last(g->open).then_end, 1);
    return phi;
}

static LLVMValueRef endless_lanes(emitter *g)
{
    LLVMValueRef v = LLVMBuildLoad2(g->b, lane_type(g, IR_I32), g->endless, "");
    return LLVMBuildICmp(g->b, LLVMIntNE, v, const_i32(g, 0), "");
}

/* The lanes whose condition holds run the body, unless one of their loops did not end. */
static void emit_while(emitter *g, const ir_inst *in)
{
    LLVMBasicBlockRef body = new_block(g);
    size_t k = vec_len(g->open);
    while (g->open[k - 1].op != IR_LOOP)
        k--;
    region *r = &g->open[k - 1];
    r->on = LLVMBuildAnd(g->b, use(g, in->a), LLVMBuildNot(g->b, endless_lanes(g), ""), "");
    LLVMBuildCondBr(g->b, any_lane(g, r->on), body, r->after);
    LLVMPositionBuilderAtEnd(g->b, body);
}

/* Lanes that are still on after too many rounds are endless. */
static void count_round(emitter *g, const region *r, LLVMValueRef n)
{
    LLVMValueRef over =
        LLVMBuildICmp(g->b, LLVMIntUGT, n, LLVMConstInt(g->i32, JIT_LOOP_LIMIT, 0), "");
    LLVMValueRef bad = LLVMBuildAnd(g->b, r->on, splat(g, over), "");
    bad = LLVMBuildOr(g->b, bad, endless_lanes(g), "");
    LLVMBuildStore(g->b, LLVMBuildZExt(g->b, bad, lane_type(g, IR_I32), ""), g->endless);
}

static void end_loop(emitter *g)
{
    region r = vec_pop(g->open);
    const ir_inst *inst = g->fn->inst;
    LLVMValueRef n = LLVMBuildAdd(g->b, r.rounds, LLVMConstInt(g->i32, 1, 0), ""), *next = NULL;
    count_round(g, &r, n);
    for (ir_val k = r.first + 1; inst[k].op == IR_LPHI; k++)
        vec_push(next, g->lanes == 1
                           ? g->val[inst[k].c]
                           : LLVMBuildSelect(g->b, r.on, g->val[inst[k].c], g->val[k], ""));
    LLVMBasicBlockRef end = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, r.other);
    LLVMAddIncoming(r.rounds, &n, &end, 1);
    for (size_t k = 0; k < vec_len(next); k++)
        LLVMAddIncoming(g->val[r.first + 1 + (ir_val)k], &next[k], &end, 1);
    vec_free(next);
    LLVMPositionBuilderAtEnd(g->b, r.after);
}

/* -- the function -- */

/* Instruction selection and scheduling take more than linear time in the length of a block. */
static void break_block(emitter *g)
{
    enum { MAX_IN_BLOCK = 200 };
    if (++g->n_in_block < MAX_IN_BLOCK)
        return;
    g->n_in_block = 0;
    LLVMBasicBlockRef next = new_block(g);
    LLVMBuildBr(g->b, next);
    LLVMPositionBuilderAtEnd(g->b, next);
}

static void emit_inst(emitter *g, ir_val k)
{
    const ir_inst *in = &g->fn->inst[k];
    if (in->op != IR_PHI)
        store_pending(g);
    if (in->op >= IR_NEG && in->op <= IR_SELECT)
        break_block(g);
    switch ((ir_op)in->op) {
    case IR_CONST: g->val[k] = emit_const(g, in); break;
    case IR_IN:
        if (!loads_at_use(g, k) && g->cut->home[k] == g->piece)
            g->val[k] = emit_in(g, &g->fn->in[in->a]);
        break;
    case IR_IF: begin_if(g, in); break;
    case IR_ELSE: begin_else(g, in); break;
    case IR_END: end_if(g); break;
    case IR_PHI: g->val[k] = emit_phi(g, k); break;
    case IR_LOOP: begin_loop(g, k); break;
    case IR_LPHI: g->val[k] = emit_lphi(g, in); break;
    case IR_WHILE: emit_while(g, in); break;
    case IR_ENDLOOP: end_loop(g); break;
    case IR_EFFECT: break;
    default: g->val[k] = emit_pure(g, k); break;
    }
    /* an lphi has the value that the outputs mean only behind its loop */
    if (g->cut->home[k] == g->piece && is_stored(g, k) && in->op != IR_LPHI && !vec_len(g->open)) {
        if (in->op == IR_PHI)
            vec_push(g->pending, k);
        else
            store_value(g, k);
    }
}

/* Which outputs each value feeds, and where they go. */
static void place_outputs(emitter *g, LLVMValueRef batch, LLVMValueRef i)
{
    size_t n = vec_len(g->fn->inst), n_out = vec_len(g->fn->out);
    const jit_layout *lay = g->lay;
    LLVMValueRef out = NULL, state = NULL, lim = NULL;
    memset(g->out_head, 0xff, n * sizeof *g->out_head);
    for (size_t o = n_out; o-- > 0;) {
        const ir_out *w = &g->fn->out[o];
        LLVMValueRef *base = w->kind == IR_OUT_STATE    ? &state
                             : w->kind == IR_OUT_LIMNEW ? &lim
                                                        : &out;
        if (!*base) {
            size_t at = base == &state ? offsetof(jit_batch, state_new)
                        : base == &lim ? offsetof(jit_batch, limnew)
                                       : offsetof(jit_batch, out);
            int32_t stride = base == &state ? lay->n_state : base == &lim ? lay->n_lim : lay->n_out;
            *base = row_of(g, g->f64, batch_field(g, batch, at), i, stride * g->lanes);
        }
        g->out_ptr[o] = element(g, g->f64, *base, (int64_t)lay->out_slot[o] * g->lanes);
        g->out_next[o] = g->out_head[w->v];
        g->out_head[w->v] = (int32_t)o;
    }
}

static bool has_input(const ir_fn *fn, int kind)
{
    for (size_t k = 0; k < vec_len(fn->in); k++)
        if (fn->in[k].kind == kind)
            return true;
    return false;
}

static LLVMValueRef load_row(emitter *g, LLVMValueRef batch, LLVMValueRef i)
{
    LLVMValueRef rows = batch_field(g, batch, offsetof(jit_batch, row_of));
    LLVMValueRef row = LLVMBuildInBoundsGEP2(g->b, g->i32, rows, &i, 1, "");
    return LLVMBuildSExt(g->b, load_input(g, g->i32, row), g->i64, "");
}

/* Pointers to the data of pack i. Fields that the function does not use may be NULL, so that
 * only those in use are touched. */
static void place_inputs(emitter *g, LLVMValueRef batch, LLVMValueRef i)
{
    const ir_fn *fn = g->fn;
    const jit_layout *lay = g->lay;
    if (has_input(fn, IR_IN_PROBE)) {
        g->x = batch_field(g, batch, offsetof(jit_batch, x));
        g->map_row = row_of(g, g->i32, batch_field(g, batch, offsetof(jit_batch, map)), i,
                            lay->n_u * g->lanes);
        memset(g->unknown, 0, vec_len(g->unknown) * sizeof(*g->unknown));
    }
    if (has_input(fn, IR_IN_CACHE)) {
        LLVMValueRef cache = batch_field(g, batch, offsetof(jit_batch, cache));
        g->cache_row = lay->row_per_lane
                           ? row_of(g, g->f64, cache, i, lay->n_cache * g->lanes)
                           : row_of(g, g->f64, cache, load_row(g, batch, i), lay->n_cache);
    }
    if (has_input(fn, IR_IN_DYN) || has_input(fn, IR_IN_ABSTIME))
        g->dyn = batch_field(g, batch, offsetof(jit_batch, dyn));
    if (has_input(fn, IR_IN_STATE))
        g->state_row = row_of(g, g->f64, batch_field(g, batch, offsetof(jit_batch, state)), i,
                              lay->n_state * g->lanes);
    if (has_input(fn, IR_IN_LIMOLD))
        g->limold_row = row_of(g, g->f64, batch_field(g, batch, offsetof(jit_batch, limold)), i,
                               lay->n_lim * g->lanes);
}

static bool has_loop(const ir_fn *fn)
{
    for (size_t k = 0; k < vec_len(fn->inst); k++)
        if (fn->inst[k].op == IR_LOOP)
            return true;
    return false;
}

/* Memory for the lanes with a loop that does not end, if there are loops; the last slot where there
 * are pieces. */
static void place_endless(emitter *g, LLVMBasicBlockRef entry)
{
    if (!has_loop(g->fn))
        return;
    if (g->cut->n_piece > 1) {
        g->endless = slot_at(g, g->cut->n_slot);
    } else {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
        LLVMPositionBuilderBefore(g->b, LLVMGetBasicBlockTerminator(entry));
        g->endless = LLVMBuildAlloca(g->b, lane_type(g, IR_I32), "");
        LLVMPositionBuilderAtEnd(g->b, here);
    }
    if (g->piece == 0)
        LLVMBuildStore(g->b, const_i32(g, 0), g->endless);
}

/* The outputs of endless lanes are NaN. */
static void emit_endless(emitter *g, LLVMBasicBlockRef next)
{
    if (!g->endless || g->piece + 1 < g->cut->n_piece) {
        LLVMBuildBr(g->b, next);
        return;
    }
    LLVMBasicBlockRef spoil = new_block(g);
    LLVMValueRef bad = endless_lanes(g), nan = const_f64(g, __builtin_nan(""));
    LLVMBuildCondBr(g->b, any_lane(g, bad), spoil, next);
    LLVMPositionBuilderAtEnd(g->b, spoil);
    for (size_t o = 0; o < vec_len(g->fn->out); o++) {
        LLVMValueRef was = LLVMBuildLoad2(g->b, lane_type(g, IR_F64), g->out_ptr[o], "");
        LLVMSetAlignment(was, 8);
        store_f64(g, LLVMBuildSelect(g->b, bad, nan, was, ""), g->out_ptr[o]);
    }
    LLVMBuildBr(g->b, next);
}

/* Values of earlier pieces that a phi takes, and probes that this piece is the first to read. */
static void emit_head(emitter *g)
{
    const ir_inst *inst = g->fn->inst;
    for (ir_val k = 0; g->piece && k < (ir_val)vec_len(g->fn->inst); k++)
        if (inst[k].op == IR_IN && g->cut->home[k] == g->piece) {
            g->val[k] = emit_in(g, &g->fn->in[inst[k].a]);
            store_value(g, k);
        }
    for (ir_val i = g->begin; g->piece && i < g->end; i++) {
        const ir_inst *p = &inst[g->cut->order[i]];
        const ir_val v[2] = {p->b, p->c};
        for (int a = 0; a < 2 && (p->op == IR_PHI || p->op == IR_LPHI); a++)
            if (g->cut->home[v[a]] < g->piece)
                g->val[v[a]] = use(g, v[a]);
    }
}

static void emit_body(emitter *g)
{
    emit_head(g);
    for (ir_val i = g->begin; i < g->end && !g->bad; i++)
        emit_inst(g, g->cut->order[i]);
    store_pending(g);
    for (ir_val i = g->begin; i < g->end && !g->bad; i++)
        if (g->cut->home[g->cut->order[i]] == g->piece)
            store_value(g, g->cut->order[i]);
}

/* for (i = begin; i < end; i++) body(i), as the function g->kernel; kept: memory of pack begin, or
 * NULL */
static void emit_packs(emitter *g, LLVMValueRef kept)
{
    LLVMBasicBlockRef entry = new_block(g), head = new_block(g), body = new_block(g);
    LLVMBasicBlockRef next = new_block(g), exit = new_block(g);
    LLVMValueRef batch = LLVMGetParam(g->kernel, 0), begin = LLVMGetParam(g->kernel, 1);

    LLVMPositionBuilderAtEnd(g->b, entry);
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef i = LLVMBuildPhi(g->b, g->i64, "");
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntSLT, i, LLVMGetParam(g->kernel, 2), "");
    LLVMBuildCondBr(g->b, more, body, exit);

    LLVMPositionBuilderAtEnd(g->b, body);
    if (kept)
        g->kept = row_of(g, g->f64, kept, LLVMBuildSub(g->b, i, begin, ""), kept_doubles(g));
    place_inputs(g, batch, i);
    place_outputs(g, batch, i);
    place_endless(g, entry);
    emit_body(g);
    emit_endless(g, next);

    LLVMPositionBuilderAtEnd(g->b, next);
    LLVMValueRef step = LLVMConstInt(g->i64, 1, 0);
    LLVMValueRef i1 = LLVMBuildAdd(g->b, i, step, "");
    LLVMBuildBr(g->b, head);
    LLVMAddIncoming(i, (LLVMValueRef[]){begin, i1}, (LLVMBasicBlockRef[]){entry, next}, 2);
    LLVMPositionBuilderAtEnd(g->b, exit);
    LLVMBuildRetVoid(g->b);
}

static LLVMTypeRef kernel_type(const emitter *g, unsigned n_par)
{
    LLVMTypeRef par[4] = {g->ptr, g->i64, g->i64, g->ptr};
    return LLVMFunctionType(LLVMVoidTypeInContext(g->cx), par, n_par, 0);
}

static LLVMValueRef declare_piece(emitter *g, int32_t p)
{
    char name[sizeof JIT_PIECE_SYMBOL + 12];
    snprintf(name, sizeof name, JIT_PIECE_SYMBOL "%d", (int)p);
    LLVMValueRef f = LLVMAddFunction(g->mod, name, kernel_type(g, 4));
    add_attribute(g, f, "nounwind", 0);
    return f;
}

static bool in_last_object(const emitter *g) { return g->object == g->cut->n_object - 1; }

/* void piece(const jit_batch *batch, int64_t begin, int64_t end, double *kept) */
static LLVMValueRef emit_piece(emitter *g, int32_t p)
{
    g->kernel = declare_piece(g, p);
    if (in_last_object(g))
        LLVMSetLinkage(g->kernel, LLVMInternalLinkage);
    align_stack(g, g->kernel);
    add_attribute(g, g->kernel, "noinline", 0);
    memset(g->val, 0, vec_len(g->val) * sizeof *g->val);
    g->n_in_block = 0;
    g->piece = p;
    g->begin = g->cut->begin[p];
    g->end = g->cut->begin[p + 1];
    emit_packs(g, LLVMGetParam(g->kernel, 3));
    return g->kernel;
}

static bool of_this_object(const emitter *g, int32_t p)
{
    return p >= g->cut->object[g->object] && p < g->cut->object[g->object + 1];
}

/* kernel: for (b = begin; b < end; b = e) { e = min(b + several, end); all pieces, one after the
 * other, for b .. e } */
static void emit_pieces(emitter *g, LLVMValueRef kernel)
{
    LLVMValueRef *piece = NULL;
    for (int32_t p = 0; p < g->cut->n_piece; p++)
        vec_push(piece, of_this_object(g, p) ? emit_piece(g, p) : declare_piece(g, p));
    g->kernel = kernel;
    LLVMBasicBlockRef entry = new_block(g), head = new_block(g), body = new_block(g),
                      exit = new_block(g);
    LLVMValueRef batch = LLVMGetParam(kernel, 0), begin = LLVMGetParam(kernel, 1),
                 end = LLVMGetParam(kernel, 2);
    const int32_t packs = packs_at_once(g);

    LLVMPositionBuilderAtEnd(g->b, entry);
    LLVMTypeRef memory = LLVMArrayType(g->f64, (unsigned)(packs * kept_doubles(g)));
    LLVMValueRef kept = LLVMBuildAlloca(g->b, memory, "");
    LLVMSetAlignment(kept, 64);
    kept = element(g, g->f64, kept, middle_slot(g) * g->lanes);
    LLVMBuildBr(g->b, head);

    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef b = LLVMBuildPhi(g->b, g->i64, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSLT, b, end, ""), body, exit);

    LLVMPositionBuilderAtEnd(g->b, body);
    LLVMValueRef e = LLVMBuildAdd(g->b, b, LLVMConstInt(g->i64, (uint64_t)packs, 0), "");
    e = LLVMBuildSelect(g->b, LLVMBuildICmp(g->b, LLVMIntSLT, e, end, ""), e, end, "");
    LLVMValueRef arg[4] = {batch, b, e, kept};
    for (size_t p = 0; p < vec_len(piece); p++)
        LLVMBuildCall2(g->b, kernel_type(g, 4), piece[p], arg, 4, "");
    LLVMBuildBr(g->b, head);
    LLVMAddIncoming(b, (LLVMValueRef[]){begin, e}, (LLVMBasicBlockRef[]){entry, body}, 2);

    LLVMPositionBuilderAtEnd(g->b, exit);
    LLVMBuildRetVoid(g->b);
    vec_free(piece);
}

/* void vsim_kernel(const jit_batch *batch, int64_t begin, int64_t end) */
static void emit_kernel(emitter *g)
{
    g->kernel = LLVMAddFunction(g->mod, JIT_KERNEL_SYMBOL, kernel_type(g, 3));
    add_attribute(g, g->kernel, "nounwind", 0);
    align_stack(g, g->kernel);
    if (g->cut->n_piece > 1) {
        emit_pieces(g, g->kernel);
        return;
    }
    g->end = (ir_val)vec_len(g->fn->inst);
    emit_packs(g, NULL);
}

/* One object: pieces, and the kernel if it is the last. */
static void emit_functions(emitter *g)
{
    find_phi_operands(g);
    if (in_last_object(g)) {
        emit_kernel(g);
        return;
    }
    for (int32_t p = g->cut->object[g->object]; p < g->cut->object[g->object + 1]; p++)
        emit_piece(g, p);
}

/* -- LLVM set-up -- */

/* Two arrays of a batch, one read, one written, do not overlap. */
static void make_alias_scope(emitter *g)
{
    LLVMMetadataRef name = LLVMMDStringInContext2(g->cx, "vsim", 4);
    LLVMMetadataRef domain = LLVMMDNodeInContext2(g->cx, &name, 1);
    LLVMMetadataRef scope[2] = {LLVMMDStringInContext2(g->cx, "outputs", 7), domain};
    LLVMMetadataRef list = LLVMMDNodeInContext2(g->cx, scope, 2);
    list = LLVMMDNodeInContext2(g->cx, &list, 1);
    g->md_out = LLVMMetadataAsValue(g->cx, list);
    g->kind_scope = LLVMGetMDKindIDInContext(g->cx, "alias.scope", 11);
    g->kind_noalias = LLVMGetMDKindIDInContext(g->cx, "noalias", 7);
}

static void drop_llvm(void *what, size_t n)
{
    emitter *g = what;
    (void)n;
    if (jit_memory_left())
        return;
    LLVMDisposeBuilder(g->b);
    LLVMDisposeModule(g->mod);
    LLVMContextDispose(g->cx);
}

static void make_module(emitter *g, const char *name)
{
    g->cx = LLVMContextCreate();
    g->mod = LLVMModuleCreateWithNameInContext(name, g->cx);
    g->b = LLVMCreateBuilderInContext(g->cx);
    heap_own(&g->own, drop_llvm, g);
    g->f64 = LLVMDoubleTypeInContext(g->cx);
    g->i64 = LLVMInt64TypeInContext(g->cx);
    g->i32 = LLVMInt32TypeInContext(g->cx);
    g->i1 = LLVMInt1TypeInContext(g->cx);
    g->ptr = LLVMPointerTypeInContext(g->cx, 0);
    make_alias_scope(g);
}

static void emit_begin(emitter *g)
{
    size_t n = vec_len(g->fn->inst) + 1, n_out = vec_len(g->fn->out) + 1;
    make_module(g, g->fn->name ? g->fn->name : "vsim");
    vec_extend(g->val, n);
    vec_extend(g->in_phi, n);
    vec_extend(g->to_keep, n);
    memcpy(g->to_keep, g->cut->slot, (n - 1) * sizeof *g->to_keep);
    vec_extend(g->out_head, n);
    vec_extend(g->out_next, n_out);
    vec_extend(g->out_ptr, n_out);
    vec_extend(g->unknown, (size_t)g->lay->n_u + 1);
    g->vec = (jit_vec){g->cx, g->mod, g->b, g->lanes, g->vec.fma, g->vec.scalef};
}

/* A text for the caller; without memory for it there is none. */
static char *say(const jit_emit_opt *opt, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = opt->room(NULL, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

/* A text of LLVM's, which has none if it found no memory. */
static char *had(char *text)
{
    if (!text)
        vs_no_memory();
    return text;
}

/* The target for this very machine, or for a type of processor. */
static LLVMTargetMachineRef new_machine(const jit_emit_opt *opt, char **err)
{
    static const LLVMCodeGenOptLevel level[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                LLVMCodeGenLevelDefault,
                                                LLVMCodeGenLevelAggressive};
    LLVMTargetRef target = NULL;
    LLVMTargetMachineRef tm = NULL;
    char *triple = had(LLVMGetDefaultTargetTriple()), *msg = NULL;
    char *cpu = had(LLVMGetHostCPUName()), *features = had(LLVMGetHostCPUFeatures());
    if (LLVMGetTargetFromTriple(triple, &target, &msg)) {
        *err = say(opt, had(msg));
        LLVMDisposeMessage(msg);
    } else {
        int k = opt->opt_level < 0 ? 0 : opt->opt_level > 3 ? 3 : opt->opt_level;
        tm = LLVMCreateTargetMachine(target, triple, opt->cpu ? opt->cpu : cpu,
                                     opt->cpu ? "" : features, level[k], LLVMRelocPIC,
                                     LLVMCodeModelSmall);
        if (!tm)
            *err = say(opt, "LLVM has no target machine for this computer");
    }
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return tm;
}

static int emit_object(emitter *g, const jit_emit_opt *opt, void **obj, size_t *size, char **err)
{
    LLVMTargetMachineRef tm = new_machine(opt, err);
    if (!tm)
        return 1;
    char *triple = had(LLVMGetTargetMachineTriple(tm)), *msg = NULL;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
    LLVMSetTarget(g->mod, triple);
    LLVMSetModuleDataLayout(g->mod, layout);
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    LLVMMemoryBufferRef buf = NULL;
    int failed = LLVMTargetMachineEmitToMemoryBuffer(tm, g->mod, LLVMObjectFile, &msg, &buf);
    if (failed) {
        *err = say(opt, msg ? msg : "LLVM wrote no object");
        LLVMDisposeMessage(msg);
    } else if (!buf) {
        vs_no_memory();
    } else {
        *size = LLVMGetBufferSize(buf);
        *obj = opt->room(NULL, *size + 1);
        if (*obj)
            memcpy(*obj, LLVMGetBufferStart(buf), *size);
        LLVMDisposeMemoryBuffer(buf);
    }
    LLVMDisposeTargetMachine(tm);
    return failed ? 1 : *obj ? 0 : JIT_NO_MEMORY;
}

static int check_module(emitter *g, const jit_emit_opt *opt, char **err)
{
    if (g->bad) {
        *err = say(opt, g->bad);
        return 1;
    }
#ifndef NDEBUG
    char *msg = NULL;
    if (LLVMVerifyModule(g->mod, LLVMReturnStatusAction, &msg)) {
        *err = say(opt, msg);
        LLVMDisposeMessage(msg);
        return 1;
    }
    LLVMDisposeMessage(msg);
#endif
    return 0;
}

typedef struct emission {
    emitter g;
    const jit_emit_opt *opt;
    void **obj;
    size_t *size;
    char **err;
    int failed;
} emission;

static vs_status emit(void *user)
{
    emission *e = user;
    emit_begin(&e->g);
    emit_functions(&e->g);
    e->failed = check_module(&e->g, e->opt, e->err);
    if (!e->failed)
        e->failed = emit_object(&e->g, e->opt, e->obj, e->size, e->err);
    return VS_OK;
}

/* for (i = 0; i < n; i++) x[i] = x[i] < 1 ? exp(x[i]) : sin(x[i]): constants, a choice, a function
 * and a call within a loop, as kernels have them. */
static void emit_sample(emitter *g)
{
    LLVMTypeRef par[] = {g->ptr, g->i64};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->cx), par, VS_COUNT(par), 0);
    g->kernel = LLVMAddFunction(g->mod, "sample", type);
    g->lanes = 4;
    g->vec = (jit_vec){g->cx, g->mod, g->b, g->lanes, g->vec.fma, g->vec.scalef};
    LLVMBasicBlockRef entry = new_block(g), body = new_block(g), exit = new_block(g);
    LLVMPositionBuilderAtEnd(g->b, entry);
    LLVMBuildBr(g->b, body);

    LLVMPositionBuilderAtEnd(g->b, body);
    LLVMValueRef i = LLVMBuildPhi(g->b, g->i64, "");
    LLVMValueRef at =
        LLVMBuildInBoundsGEP2(g->b, lane_type(g, IR_F64), LLVMGetParam(g->kernel, 0), &i, 1, "");
    LLVMValueRef x = load_input(g, lane_type(g, IR_F64), at);
    LLVMValueRef small = LLVMBuildFCmp(g->b, LLVMRealOLT, x, const_f64(g, 1), "");
    LLVMValueRef y = jit_math(&g->vec, IR_EXP, x, NULL, call_libm, g);
    LLVMValueRef z = call_libm(g, IR_SIN, x);
    LLVMBuildStore(g->b, LLVMBuildSelect(g->b, small, y, z, ""), at);
    LLVMValueRef next = LLVMBuildAdd(g->b, i, LLVMConstInt(g->i64, 1, 0), "");
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntSLT, next, LLVMGetParam(g->kernel, 1), "");
    LLVMValueRef from[] = {LLVMConstInt(g->i64, 0, 0), next};
    LLVMAddIncoming(i, from, (LLVMBasicBlockRef[]){entry, LLVMGetInsertBlock(g->b)}, 2);
    LLVMBuildCondBr(g->b, more, body, exit);

    LLVMPositionBuilderAtEnd(g->b, exit);
    LLVMBuildRetVoid(g->b);
}

static vs_status warm_up(void *user)
{
    const jit_emit_opt *opt = user;
    emitter *g = vs_calloc(1, sizeof *g);
    void *obj;
    size_t size;
    char *err;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    make_module(g, "sample");
    g->vec.fma = opt->fma;
    g->vec.scalef = opt->scalef;
    emit_sample(g);
    (void)emit_object(g, opt, &obj, &size, &err); /* it will fail again, and be told then */
    return VS_OK;
}

/* What LLVM makes once for all threads, its targets, its list of passes, the tables that its passes
 * make when they first meet code, one thread makes here, from samples: a thread without memory that
 * left LLVM while it held a lock would let the others wait forever.
 * false: this was tried, and there was no memory; LLVM may not be called any more. */
static bool get_ready(const jit_emit_opt *opt)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static enum { COLD, WARM, LOST } state;
    pthread_mutex_lock(&lock);
    if (state == COLD) {
        jit_emit_opt own = *opt;
        own.room = vs_try_realloc;
        heap *h = heap_new(0);
        jit_memory_begin();
        state = h && guard_run(h, warm_up, &own) == VS_OK ? WARM
                : h && jit_memory_left()                  ? LOST
                                                          : COLD;
        heap_free(&h);
        jit_memory_end();
    }
    const bool warm = state == WARM;
    pthread_mutex_unlock(&lock);
    return warm;
}

/* All that an emission allocates and makes goes with a heap of its own. */
int vsim_llvm_emit(const ir_fn *fn, const jit_layout *lay, const jit_cut *cut, int32_t q,
                   const jit_emit_opt *opt, void **obj, size_t *size, char **err)
{
    emission e = {.g = {.fn = fn,
                        .lay = lay,
                        .cut = cut,
                        .object = q,
                        .lanes = lay->lanes,
                        .exact = opt->exact,
                        .vec.fma = opt->fma,
                        .vec.scalef = opt->scalef},
                  .opt = opt,
                  .obj = obj,
                  .size = size,
                  .err = err};
    *obj = NULL;
    *err = NULL;
    if (!get_ready(opt))
        return JIT_NO_MEMORY;
    heap *h = heap_new(0);
    jit_memory_begin();
    if (!h || guard_run(h, emit, &e))
        e.failed = JIT_NO_MEMORY;
    heap_free(&h);
    jit_memory_end();
    return e.failed;
}
