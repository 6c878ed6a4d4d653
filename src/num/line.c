/* line.c - see line.h.
 * Encoding (Intel SDM 2): scalar doubles are F2 [REX] 0F op modrm; register to register moves and
 * logic on all bits 66 [REX] 0F op modrm. Memory operands are [base + disp32]. */
#include "line.h"

#if defined(__x86_64__) && defined(__unix__)

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vec.h"

enum { ABS_MASK = 13, SIGN_MASK = 14, ONE = 15 }; /* registers with constants */
enum { MOVSD_LOAD = 0x10, MOVSD_STORE = 0x11, MOVAPD = 0x28, ANDPD = 0x54, XORPD = 0x57 };

static const uint8_t arg_register[LINE_MAX_ARRAYS] = {7, 6, 2, 1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */
static const uint8_t opcode[] = {[LINE_ADD] = 0x58, [LINE_SUB] = 0x5c, [LINE_MUL] = 0x59,
                                 [LINE_DIV] = 0x5e, [LINE_MIN] = 0x5d, [LINE_MAX] = 0x5f};

struct line {
    uint8_t *code; /* vec */
    void *map;
    size_t mapped;
};

static void bytes(line *l, const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vec_push(l->code, b[i]);
}

static void prefix(line *l, uint8_t first, int reg, int rm, uint8_t op)
{
    const uint8_t rex = (uint8_t)(0x40 | (reg > 7) << 2 | (rm > 7));
    vec_push(l->code, first);
    if (rex != 0x40)
        vec_push(l->code, rex);
    vec_push(l->code, 0x0f);
    vec_push(l->code, op);
}

static void with_memory(line *l, uint8_t op, int r, int array, int32_t index)
{
    assert(array >= 0 && array < LINE_MAX_ARRAYS && r >= 0 && r < LINE_MAX_REGISTERS);
    assert(index >= 0 && index < 1 << 27);
    const int base = arg_register[array];
    const int32_t disp = index * 8;
    prefix(l, 0xf2, r, base, op);
    vec_push(l->code, (uint8_t)((disp < 128 ? 0x40 : 0x80) | (r & 7) << 3 | (base & 7)));
    for (int k = 0; k < (disp < 128 ? 1 : 4); k++)
        vec_push(l->code, (uint8_t)((uint32_t)disp >> 8 * k));
}

static void with_register(line *l, uint8_t first, uint8_t op, int r, int s)
{
    prefix(l, first, r, s, op);
    vec_push(l->code, (uint8_t)(0xc0 | (r & 7) << 3 | (s & 7)));
}

line *line_new(void)
{
    /* pcmpeqd x, x; then psrlq x, 1: all but the sign; psllq x, 63: the sign; psllq 54, psrlq
     * 2: 1.0 */
    static const uint8_t constants[] = {
        0x66, 0x45, 0x0f, 0x76, 0xed, 0x66, 0x41, 0x0f, 0x73, 0xd5, 0x01, 0x66, 0x45,
        0x0f, 0x76, 0xf6, 0x66, 0x41, 0x0f, 0x73, 0xf6, 0x3f, 0x66, 0x45, 0x0f, 0x76,
        0xff, 0x66, 0x41, 0x0f, 0x73, 0xf7, 0x36, 0x66, 0x41, 0x0f, 0x73, 0xd7, 0x02,
    };
    line *l = calloc(1, sizeof *l);
    if (l)
        bytes(l, constants, sizeof constants);
    return l;
}

void line_free(line **p)
{
    line *l = *p;
    if (!l)
        return;
    if (l->map)
        munmap(l->map, l->mapped);
    vec_free(l->code);
    free(l);
    *p = NULL;
}

void line_load(line *l, int r, int array, int32_t index)
{
    with_memory(l, MOVSD_LOAD, r, array, index);
}
void line_store(line *l, int r, int array, int32_t index)
{
    with_memory(l, MOVSD_STORE, r, array, index);
}

void line_mem(line *l, line_op op, int r, int array, int32_t index)
{
    with_memory(l, opcode[op], r, array, index);
}

void line_reg(line *l, line_op op, int r, int s) { with_register(l, 0xf2, opcode[op], r, s); }
void line_copy(line *l, int r, int s) { with_register(l, 0x66, MOVAPD, r, s); }
void line_abs(line *l, int r) { with_register(l, 0x66, ANDPD, r, ABS_MASK); }
void line_neg(line *l, int r) { with_register(l, 0x66, XORPD, r, SIGN_MASK); }
void line_zero(line *l, int r) { with_register(l, 0x66, XORPD, r, r); }
void line_one(line *l, int r) { line_copy(l, r, ONE); }

line_fn line_done(line *l)
{
    const uint8_t ret = 0xc3;
    line_fn fn;
    bytes(l, &ret, 1);
    l->mapped = vec_len(l->code);
    l->map = mmap(NULL, l->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (l->map == MAP_FAILED) {
        l->map = NULL;
        return NULL;
    }
    memcpy(l->map, l->code, l->mapped);
    vec_free(l->code);
    if (mprotect(l->map, l->mapped, PROT_READ | PROT_EXEC))
        return NULL;
    memcpy(&fn, &l->map, sizeof fn); /* no cast between data and code in ISO C */
    return fn;
}

#else /* another machine: callers have loops */

line *line_new(void) { return NULL; }
void line_free(line **p) { *p = NULL; }
void line_load(line *l, int r, int array, int32_t index)
{
    (void)l, (void)r, (void)array, (void)index;
}
void line_store(line *l, int r, int array, int32_t index)
{
    (void)l, (void)r, (void)array, (void)index;
}
void line_mem(line *l, line_op op, int r, int array, int32_t index)
{
    (void)l, (void)op, (void)r, (void)array, (void)index;
}
void line_reg(line *l, line_op op, int r, int s) { (void)l, (void)op, (void)r, (void)s; }
void line_copy(line *l, int r, int s) { (void)l, (void)r, (void)s; }
void line_abs(line *l, int r) { (void)l, (void)r; }
void line_neg(line *l, int r) { (void)l, (void)r; }
void line_zero(line *l, int r) { (void)l, (void)r; }
void line_one(line *l, int r) { (void)l, (void)r; }
line_fn line_done(line *l) { return (void)l, (line_fn)NULL; }

#endif
