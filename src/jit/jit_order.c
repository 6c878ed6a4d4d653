/* jit_order.c - the order in which a kernel computes its values.
 * Use:    jit_order (jit_priv.h).
 * Why:    a processor looks ahead by some 200 vector instructions. In the order of the source text
 *         a compact model is one chain after another, each with quotients and roots that wait for
 *         sums and the other way round, so that multipliers and divider take turns. Here chains run
 *         beside each other.
 * Method: list scheduling of the straight code between regions: of the values whose operands are
 *         there, the one with the longest way to an output comes next, on a machine with two
 *         multipliers and one divider. A product that is fused stands before its sum. No operation
 *         changes, so that no result does.
 * Source: Muchnick, Advanced Compiler Design and Implementation, 1997, section 17.1. */
#include "jit_priv.h"

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

typedef struct item {
    int64_t key;
    ir_val v;
} item;

static bool before(item a, item b) { return a.key != b.key ? a.key < b.key : a.v < b.v; }

/* A binary heap; the least key is taken first. */
static void heap_push(item **h, item x)
{
    vec_push(*h, x);
    size_t i = vec_len(*h) - 1;
    for (; i && before(x, (*h)[(i - 1) / 2]); i = (i - 1) / 2)
        (*h)[i] = (*h)[(i - 1) / 2];
    (*h)[i] = x;
}

static item heap_pop(item **h)
{
    const item top = (*h)[0], x = vec_pop(*h);
    const size_t n = vec_len(*h);
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && before((*h)[k + 1], (*h)[k]);
        if (!before((*h)[k], x))
            break;
        (*h)[i] = (*h)[k];
    }
    if (n)
        (*h)[i] = x;
    return top;
}

typedef struct scheduler {
    const ir_fn *fn;
    const uint8_t *fused;
    bool one_pack;
    ir_val begin, end; /* the stretch */
    int32_t *n_before; /* [n_inst] operands in the stretch that are not computed yet */
    int64_t *tail;     /* [n_inst] half cycles from the start of a value to the end of all */
    int64_t *ready;    /* [n_inst] when its operands are there */
    int32_t *head;     /* [n_inst] list of readers, -1 ends */
    struct reader {
        ir_val v;
        int32_t next;
    } *reader;                     /* vec */
    item *wait, *can, *can_divide; /* vec; heaps by ready, and by -tail */
    ir_val **order;                /* vec */
} scheduler;

/* Half cycles: how long a result takes, the multipliers, the divider. */
typedef struct op_cost {
    int late, slots, divider;
} op_cost;
static op_cost cost_of(const scheduler *s, ir_val k)
{
    const ir_op op = s->fn->inst[k].op;
    const bool half = s->one_pack; /* of 8 lanes */
    switch (op) {
    case IR_DIV: return half ? (op_cost){30, 1, 16} : (op_cost){48, 3, 32};
    case IR_SQRT: return half ? (op_cost){38, 1, 18} : (op_cost){64, 3, 48};
    case IR_EXP:
    case IR_EXPM1: return (op_cost){150, 35, 0};
    case IR_LN:
    case IR_LOG1P:
    case IR_LOG10: return (op_cost){180, 45, 32};
    case IR_POW: return (op_cost){300, 90, 0};
    case IR_SELECT: return (op_cost){6, 1, 0};
    case IR_NEG:
    case IR_ABS: return (op_cost){2, 1, 0};
    default: return (op_cost){8, 1, 0};
    }
}

static bool inside_sum(const scheduler *s, ir_val k)
{
    return s->fn->inst[k].op == IR_MUL && s->fused[k];
}

static void add_reader(scheduler *s, ir_val of, ir_val by)
{
    if (of < s->begin || of >= s->end)
        return;
    vec_push(s->reader, (struct reader){by, s->head[of]});
    s->head[of] = (int32_t)vec_len(s->reader) - 1;
    s->n_before[by]++;
}

static void find_readers(scheduler *s)
{
    ir_val v[4];
    for (ir_val k = s->begin; k < s->end; k++)
        s->n_before[k] = 0, s->ready[k] = 0, s->tail[k] = 0, s->head[k] = -1;
    vec_clear(s->reader);
    for (ir_val k = s->begin; k < s->end; k++)
        for (int i = 0, m = jit_operands(s->fn, s->fused, k, v); i < m; i++)
            add_reader(s, v[i], k);
    for (ir_val k = s->end; k-- > s->begin;) {
        for (int32_t r = s->head[k]; r >= 0; r = s->reader[r].next)
            s->tail[k] = later(s->tail[k], s->tail[s->reader[r].v]);
        s->tail[k] += cost_of(s, k).late;
    }
}

/* Of two values with the same way to an output the one that stands earlier in the function comes
 * first; 100 places count as EARLY * 50 half cycles. The reason: values computed far ahead have to
 * wait, in memory, and one pack has to fetch the code that moves them there and back. */
enum { EARLY = 3, EARLY_ONE_PACK = 8 };

static void offer(scheduler *s, ir_val k)
{
    const bool divides = cost_of(s, k).divider > 0;
    const int64_t early = s->one_pack ? EARLY_ONE_PACK : EARLY;
    heap_push(divides ? &s->can_divide : &s->can, (item){early * k / 2 - s->tail[k], k});
}

static void place(scheduler *s, ir_val k, int64_t now)
{
    const ir_inst *p = &s->fn->inst[k];
    const op_cost c = cost_of(s, k);
    if (s->fused[k])
        vec_push(*s->order, s->fused[k] == 2 ? p->b : p->a);
    vec_push(*s->order, k);
    for (int32_t r = s->head[k]; r >= 0; r = s->reader[r].next) {
        const ir_val v = s->reader[r].v;
        s->ready[v] = later(s->ready[v], now + later(c.late, c.slots));
        if (!--s->n_before[v])
            heap_push(&s->wait, (item){s->ready[v], v});
    }
}

/* What comes next at the time `now`: from the divider's queue if it is free and its value is the
 * more urgent. */
static ir_val take(scheduler *s, int64_t now, int64_t *divider_free)
{
    const bool can = vec_len(s->can) > 0,
               divide = vec_len(s->can_divide) > 0 && *divider_free <= now;
    if (!can && !divide)
        return IR_NONE;
    if (!divide || (can && before(s->can[0], s->can_divide[0])))
        return heap_pop(&s->can).v;
    const ir_val k = heap_pop(&s->can_divide).v;
    *divider_free = now + cost_of(s, k).divider;
    return k;
}

static void order_stretch(scheduler *s)
{
    int64_t now = 0, divider_free = 0;
    find_readers(s);
    for (ir_val k = s->begin; k < s->end; k++)
        if (!s->n_before[k] && !inside_sum(s, k))
            offer(s, k);
    while (vec_len(s->wait) || vec_len(s->can) || vec_len(s->can_divide)) {
        while (vec_len(s->wait) && s->wait[0].key <= now)
            offer(s, heap_pop(&s->wait).v);
        const ir_val k = take(s, now, &divider_free);
        if (k == IR_NONE) {
            const bool first =
                vec_len(s->wait) && (!vec_len(s->can_divide) || s->wait[0].key < divider_free);
            now = first ? s->wait[0].key : divider_free;
            continue;
        }
        place(s, k, now);
        now += cost_of(s, k).slots;
    }
}

void jit_order(ir_val **order, const ir_fn *fn, const uint8_t *fused, bool one_pack)
{
    const ir_val n = (ir_val)vec_len(fn->inst);
    scheduler s = {.fn = fn, .fused = fused, .one_pack = one_pack, .order = order};
    vec_extend(s.n_before, n);
    vec_extend(s.tail, n);
    vec_extend(s.ready, n);
    vec_extend(s.head, n);
    for (ir_val k = 0; k < n; k = s.end) {
        s.begin = s.end = k;
        int depth = 0;
        do { /* constants, inputs, markers and whole regions stay where they are */
            const ir_op op = fn->inst[s.end].op;
            depth += (op == IR_IF || op == IR_LOOP) - (op == IR_END || op == IR_ENDLOOP);
            if (!depth && op >= IR_NEG && op <= IR_LIMIT)
                break;
            vec_push(*order, s.end++);
        } while (s.end < n);
        s.begin = s.end;
        while (s.end < n && fn->inst[s.end].op >= IR_NEG && fn->inst[s.end].op <= IR_LIMIT)
            s.end++;
        order_stretch(&s);
    }
    vec_free(s.n_before);
    vec_free(s.tail);
    vec_free(s.ready);
    vec_free(s.head);
    vec_free(s.reader);
    vec_free(s.wait);
    vec_free(s.can);
    vec_free(s.can_divide);
}
