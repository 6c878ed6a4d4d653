/* straight.c - see straight.h.
 * Encoding (Intel SDM 2): scalar doubles are F2 [REX] 0F op modrm; register to register moves and
 * logic on all bits 66 [REX] 0F op modrm. Memory operands are [base + disp8 or disp32]. With AVX a
 * VEX prefix has REX, F2 or 66, and the first source: C5, then R vvvv L pp, or, if rm is above 7,
 * C4, R X B mmmmm, W vvvv L pp; R, X, B and vvvv inverted. */
#include "straight.h"

#if defined(__x86_64__) && defined(__unix__)

#include <string.h>
#include <sys/mman.h>

#include "io.h"
#include "vec.h"

enum { PAGE = 4096 };
enum { SPARE = 12 };                              /* register of straight_from without AVX */
enum { ABS_MASK = 13, SIGN_MASK = 14, ONE = 15 }; /* registers with constants */
enum { PP_66 = 1, PP_F2 = 3 };                    /* prefixes as VEX has them */
enum { VFNMADD231SD = 0xbd };
enum { MOVSD_LOAD = 0x10, MOVSD_STORE = 0x11, MOVAPD = 0x28, ANDPD = 0x54, XORPD = 0x57 };

static const uint8_t arg_register[STRAIGHT_MAX_ARRAYS] = {7, 6, 2,
                                                          1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */
static const uint8_t opcode[] = {
    [STRAIGHT_ADD] = 0x58, [STRAIGHT_SUB] = 0x5c, [STRAIGHT_MUL] = 0x59,
    [STRAIGHT_DIV] = 0x5e, [STRAIGHT_MIN] = 0x5d, [STRAIGHT_MAX] = 0x5f};

/* How the constants are made: pcmpeqd x, x; then psrlq x, 1: all but the sign; psllq x, 63: the
 * sign; psllq 54, psrlq 2: 1.0 */
static const uint8_t make_abs[] = {0x66, 0x45, 0x0f, 0x76, 0xed, 0x66, 0x41, 0x0f, 0x73, 0xd5, 1};
static const uint8_t make_sign[] = {0x66, 0x45, 0x0f, 0x76, 0xf6, 0x66, 0x41, 0x0f, 0x73, 0xf6, 63};
static const uint8_t make_one[] = {0x66, 0x45, 0x0f, 0x76, 0xff, 0x66, 0x41, 0x0f, 0x73,
                                   0xf7, 54,   0x66, 0x41, 0x0f, 0x73, 0xd7, 2};

struct straight {
    uint8_t *code; /* vec */
    bool avx, fma;
    bool abs, sign, one; /* constants that are needed */
    void *map;
    size_t mapped;
};

static void bytes(straight *l, const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vec_push(l->code, b[i]);
}

static void prefix(straight *l, uint8_t first, int reg, int rm, uint8_t op)
{
    const uint8_t rex = (uint8_t)(0x40 | (reg > 7) << 2 | (rm > 7));
    vec_push(l->code, first);
    if (rex != 0x40)
        vec_push(l->code, rex);
    vec_push(l->code, 0x0f);
    vec_push(l->code, op);
}

/* s: the first source; 0 where the operation has none. */
static void vex(straight *l, uint8_t pp, int reg, int s, int rm, uint8_t op)
{
    const uint8_t r = reg > 7 ? 0 : 0x80, last = (uint8_t)((~s & 15) << 3 | pp);
    if (rm > 7) {
        vec_push(l->code, 0xc4);
        vec_push(l->code, (uint8_t)(r | 0x41)); /* map 0F, no index, B */
        vec_push(l->code, last);
    } else {
        vec_push(l->code, 0xc5);
        vec_push(l->code, (uint8_t)(r | last));
    }
    vec_push(l->code, op);
}

static void address(straight *l, int r, int array, int32_t index)
{
    assert(array >= 0 && array < STRAIGHT_MAX_ARRAYS && r >= 0 && r < STRAIGHT_MAX_REGISTERS);
    assert(index >= 0 && index < 1 << 27);
    const int base = arg_register[array];
    const int32_t disp = index * 8;
    vec_push(l->code, (uint8_t)((disp < 128 ? 0x40 : 0x80) | (r & 7) << 3 | (base & 7)));
    for (int k = 0; k < (disp < 128 ? 1 : 4); k++)
        vec_push(l->code, (uint8_t)((uint32_t)disp >> 8 * k));
}

/* r = r op array[index], or a move. */
static void with_memory(straight *l, uint8_t op, int r, int array, int32_t index)
{
    const int base = arg_register[array];
    const bool moves = op == MOVSD_LOAD || op == MOVSD_STORE;
    if (l->avx)
        vex(l, PP_F2, r, moves ? 0 : r, base, op);
    else
        prefix(l, 0xf2, r, base, op);
    address(l, r, array, index);
}

/* r = r op s, or a move. */
static void with_register(straight *l, uint8_t pp, uint8_t op, int r, int s)
{
    if (l->avx)
        vex(l, pp, r, op == MOVAPD ? 0 : r, s, op);
    else
        prefix(l, pp == PP_66 ? 0x66 : 0xf2, r, s, op);
    vec_push(l->code, (uint8_t)(0xc0 | (r & 7) << 3 | (s & 7)));
}

void straight_from_mem(straight *l, straight_op op, int r, int s, int array, int32_t index)
{
    if (l->avx) {
        vex(l, PP_F2, r, s, arg_register[array], opcode[op]);
        address(l, r, array, index);
        return;
    }
    if (r != s)
        straight_copy(l, r, s);
    straight_mem(l, op, r, array, index);
}

void straight_from(straight *l, straight_op op, int r, int s, int u)
{
    if (l->avx) {
        vex(l, PP_F2, r, s, u, opcode[op]);
        vec_push(l->code, (uint8_t)(0xc0 | (r & 7) << 3 | (u & 7)));
        return;
    }
    const int to = r == u && r != s ? SPARE : r;
    if (to != s)
        straight_copy(l, to, s);
    straight_reg(l, op, to, u);
    if (to != r)
        straight_copy(l, r, to);
}

straight *straight_new(void)
{
    straight *l = vs_calloc(1, sizeof *l);
    l->avx = __builtin_cpu_supports("avx");
    l->fma = l->avx && __builtin_cpu_supports("fma");
    return l;
}

void straight_without_avx(straight *l) { l->avx = l->fma = false; }

bool straight_fuses(const straight *l) { return l->fma; }

void straight_free(straight **p)
{
    straight *l = *p;
    if (!l)
        return;
    if (l->map)
        io_unmap(l->map, l->mapped);
    vec_free(l->code);
    vs_free(l);
    *p = NULL;
}

void straight_load(straight *l, int r, int array, int32_t index)
{
    with_memory(l, MOVSD_LOAD, r, array, index);
}
void straight_store(straight *l, int r, int array, int32_t index)
{
    with_memory(l, MOVSD_STORE, r, array, index);
}

void straight_mem(straight *l, straight_op op, int r, int array, int32_t index)
{
    with_memory(l, opcode[op], r, array, index);
}

void straight_reg(straight *l, straight_op op, int r, int s)
{
    with_register(l, PP_F2, opcode[op], r, s);
}
void straight_copy(straight *l, int r, int s) { with_register(l, PP_66, MOVAPD, r, s); }
void straight_abs(straight *l, int r)
{
    l->abs = true;
    with_register(l, PP_66, ANDPD, r, ABS_MASK);
}
void straight_neg(straight *l, int r)
{
    l->sign = true;
    with_register(l, PP_66, XORPD, r, SIGN_MASK);
}
void straight_zero(straight *l, int r) { with_register(l, PP_66, XORPD, r, r); }
void straight_inverse(straight *l, int r, int s)
{
    l->one = true;
    straight_from(l, STRAIGHT_DIV, r, ONE, s);
}

/* vfnmadd231sd r, s, rm: VEX of three bytes, map 0F38, W1, 66. */
static void fused(straight *l, int r, int s, int rm)
{
    assert(l->fma);
    vec_push(l->code, 0xc4);
    vec_push(l->code, (uint8_t)((r > 7 ? 0 : 0x80) | (rm > 7 ? 0x40 : 0x60) | 2));
    vec_push(l->code, (uint8_t)(0x80 | (~s & 15) << 3 | PP_66));
    vec_push(l->code, VFNMADD231SD);
}

void straight_minus_product(straight *l, int r, int s, int u)
{
    fused(l, r, s, u);
    vec_push(l->code, (uint8_t)(0xc0 | (r & 7) << 3 | (u & 7)));
}

void straight_minus_product_mem(straight *l, int r, int s, int array, int32_t index)
{
    fused(l, r, s, arg_register[array]);
    address(l, r, array, index);
}

/* Where in its page a piece of code begins. Six pieces run one after the other at each point of a
 * small circuit; if all began with their page, all would be in the same sets of the processor's
 * caches. Mappings that follow each other lie in neighbouring pages. */
static size_t place_in_page(const void *map)
{
    enum { LINES_APART = 11 };
    return (uintptr_t)map / PAGE * LINES_APART % (PAGE / VS_LINE) * VS_LINE;
}

/* The constants before everything else: the code has no jumps. */
static void add_constants(straight *l)
{
    uint8_t *const code = l->code;
    l->code = NULL;
    if (l->abs)
        bytes(l, make_abs, sizeof make_abs);
    if (l->sign)
        bytes(l, make_sign, sizeof make_sign);
    if (l->one)
        bytes(l, make_one, sizeof make_one);
    bytes(l, code, vec_len(code));
    uint8_t *old = code;
    vec_free(old);
}

straight_fn straight_done(straight *l)
{
    const uint8_t ret = 0xc3;
    straight_fn fn;
    add_constants(l);
    bytes(l, &ret, 1);
    l->mapped = vec_len(l->code) + PAGE;
    l->map = io_map(-1, l->mapped);
    if (!l->map)
        return NULL;
    uint8_t *at = (uint8_t *)l->map + place_in_page(l->map);
    memcpy(at, l->code, vec_len(l->code));
    vec_free(l->code);
    if (mprotect(l->map, l->mapped, PROT_READ | PROT_EXEC))
        return NULL;
    memcpy(&fn, &at, sizeof fn); /* no cast between data and code in ISO C */
    return fn;
}

#else /* another machine: callers have loops */

straight *straight_new(void) { return NULL; }
void straight_free(straight **p) { *p = NULL; }
void straight_load(straight *l, int r, int array, int32_t index)
{
    (void)l, (void)r, (void)array, (void)index;
}
void straight_store(straight *l, int r, int array, int32_t index)
{
    (void)l, (void)r, (void)array, (void)index;
}
void straight_mem(straight *l, straight_op op, int r, int array, int32_t index)
{
    (void)l, (void)op, (void)r, (void)array, (void)index;
}
void straight_reg(straight *l, straight_op op, int r, int s)
{
    (void)l, (void)op, (void)r, (void)s;
}
void straight_from_mem(straight *l, straight_op op, int r, int s, int array, int32_t index)
{
    (void)l, (void)op, (void)r, (void)s, (void)array, (void)index;
}
void straight_from(straight *l, straight_op op, int r, int s, int u)
{
    (void)l, (void)op, (void)r, (void)s, (void)u;
}
void straight_copy(straight *l, int r, int s) { (void)l, (void)r, (void)s; }
void straight_abs(straight *l, int r) { (void)l, (void)r; }
void straight_neg(straight *l, int r) { (void)l, (void)r; }
void straight_zero(straight *l, int r) { (void)l, (void)r; }
void straight_inverse(straight *l, int r, int s) { (void)l, (void)r, (void)s; }
void straight_without_avx(straight *l) { (void)l; }
bool straight_fuses(const straight *l) { return (void)l, false; }
void straight_minus_product(straight *l, int r, int s, int u)
{
    (void)l, (void)r, (void)s, (void)u;
}
void straight_minus_product_mem(straight *l, int r, int s, int array, int32_t index)
{
    (void)l, (void)r, (void)s, (void)array, (void)index;
}
straight_fn straight_done(straight *l) { return (void)l, (straight_fn)NULL; }

#endif
