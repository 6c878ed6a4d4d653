/* va_read.c - the flow of a switch branch, where the module reads it.
 * A switch branch is V(a,b) <+ ... or I(a,b) <+ ... as parameters have it. Its flow is an unknown
 * where it is a potential source. Where it is none its flow is the sum of what was contributed, but
 * text that reads it may stand before that. So the function is computed twice: a first time for
 * the sums, then with these in the place of what is read. Of the first copy stays what the sums
 * need. A sum with a ddt() or noise in it, or that itself needs a flow which is read, is left to
 * an unknown in all cases.
 * Use: va_find_reads when all statements are lowered, va_put_reads when all outputs are there. */
#include "va_lower.h"

#include <string.h>

static int32_t read_of(const ir_fn *fn, ir_val v)
{
    const ir_inst *p = &fn->inst[v];
    const int32_t k =
        p->op == IR_IN && fn->in[p->a].kind == IR_IN_DYN ? fn->in[p->a].k - LW_READ : -1;
    return k >= 0 && k < LW_PORT - LW_READ ? k : -1;
}

/* Whether v is an input that no sum may have. */
static bool is_foul(const ir_fn *fn, ir_val v)
{
    const ir_inst *p = &fn->inst[v];
    return p->op == IR_IN && (read_of(fn, v) >= 0 || fn->in[p->a].kind == IR_IN_DDT ||
                              fn->in[p->a].kind == IR_IN_NOISE);
}

void va_find_reads(lw *L)
{
    if (!L->has_read)
        return;
    const size_t n = vec_len(L->fn->inst);
    uint8_t *foul = vs_calloc(n + 1, 1);
    for (size_t i = 0; i < n; i++)
        foul[i] = is_foul(L->fn, (ir_val)i);
    ir_spread(L->fn, foul);
    for (size_t i = 0; i < vec_len(L->br); i++) {
        lw_branch *b = &L->br[i];
        if (b->has_pot && b->has_flow && b->probed && b->slot >= 0)
            b->is_sum = !foul[L->cur[b->slot]] && !foul[L->cur[b->slot + 2]];
    }
    vs_free(foul);
}

/* What is read of branches whose flow always is an unknown. Returns whether there are others. */
static bool put_unknowns(lw *L)
{
    ir_fn *fn = L->fn;
    bool others = false;
    for (size_t i = 0, n = vec_len(fn->inst); i < n; i++) {
        const int32_t b = read_of(fn, (ir_val)i);
        others |= b >= 0 && L->br[b].is_sum;
        if (b < 0 || L->br[b].is_sum)
            continue;
        const ir_val u = ir_in(fn, IR_IN_PROBE, L->br[b].probe, IR_F64, false);
        fn->inst[i].a = fn->inst[u].a;
    }
    return others;
}

/* Copies all instructions. flow [branches]: what is read; NULL: the copy that makes the sums. */
static void copy_all(ir_fn *to, const ir_fn *from, const ir_val *flow, ir_val *vmap)
{
    for (size_t i = 0; i < vec_len(from->inst); i++) {
        const int32_t b = read_of(from, (ir_val)i);
        if (b >= 0)
            vmap[i] = flow ? flow[b] : ir_const(to, 0);
        else if (flow || from->inst[i].op != IR_EFFECT)
            vmap[i] = lw_copy_inst(to, from, (ir_val)i, vmap);
    }
    for (size_t i = 0; i < vec_len(from->inst); i++)
        if (from->inst[i].op == IR_LPHI)
            to->inst[vmap[i]].c = vmap[from->inst[i].c];
}

void va_put_reads(lw *L)
{
    if (!put_unknowns(L))
        return;
    const ir_fn *from = L->fn;
    ir_fn to;
    const size_t n = vec_len(from->inst);
    ir_val *first = arena_array(&L->c->mem, ir_val, n + 1),
           *second = arena_array(&L->c->mem, ir_val, n + 1),
           *flow = arena_array(&L->c->mem, ir_val, vec_len(L->br) + 1);
    ir_fn_init(&to, from->name);
    copy_all(&to, from, NULL, first);
    for (size_t i = 0; i < vec_len(L->br); i++) {
        const lw_branch *b = &L->br[i];
        if (!b->is_sum)
            continue;
        const ir_val u = ir_in(&to, IR_IN_PROBE, b->probe, IR_F64, false);
        flow[i] = ir_select(&to, first[L->cur[b->slot + 2]], u, first[L->cur[b->slot]]);
    }
    copy_all(&to, from, flow, second);
    for (size_t i = 0; i < vec_len(from->out); i++) {
        const ir_out *o = &from->out[i];
        ir_out_add(&to, (ir_out_kind)o->kind, o->a, o->b, second[o->v]);
    }
    for (size_t i = 0; i < vec_len(L->ddx); i++)
        L->ddx[i].e = second[L->ddx[i].e];
    ir_fn_fini(L->fn);
    *L->fn = to;
}
