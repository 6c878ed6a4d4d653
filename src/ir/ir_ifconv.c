/* ir_ifconv.c - branches become straight code and selects, so that lanes with different conditions
 * can run together; loops stay loops that never run for a lane which does not enter them.
 * Requires: nothing.  Keeps: outputs in their order.  Gives: lanes (no branch; effects are left
 * out).
 * Method: both arms of an `if` are computed, a phi becomes a select on the condition: nothing in
 *         the IR traps or has a side effect. A loop inside an arm must not run where the arm does
 *         not (it might not end there): its condition is and-ed with that of the arms and loops
 *         around it, the mask. In a round that a lane does not take part in, the code generator
 *         keeps the lane's lphis, so that the condition of a lane that has left stays false.
 * ir_flag: the masks of the places where effects stand, or-ed, are its only output. */
#include "ir_priv.h"

typedef struct frame {
    ir_val head;  /* IF or LOOP in `from` */
    ir_val outer; /* mask around the region, a value of `to`; IR_NONE: always on */
    ir_val mask;  /* mask at this place in the region, likewise */
} frame;

typedef struct ifconv {
    const ir_fn *from;
    ir_fn to;
    ir_val *map;      /* [n] */
    bool *holds_loop; /* [n] of an IF: a loop is in one of its arms, so that masks are needed; */
    bool flags;       /* or an effect, whose masks are or-ed: */
    ir_val flag;      /* IR_NONE: none yet */
    bool plain;       /* no effect stands outside of all IFs, or in a loop */
    frame *open;      /* vec */
    ir_ifconv_stats st;
} ifconv;

/* Fills in holds_loop. */
static void find_loops(ifconv *s)
{
    ir_val *open = NULL; /* vec of IFs */
    for (size_t i = 0; i < vec_len(s->from->inst); i++) {
        const ir_inst *p = &s->from->inst[i];
        if (p->op == IR_IF)
            vec_push(open, (ir_val)i);
        else if (p->op == IR_END)
            (void)vec_pop(open);
        else if (p->op == IR_LOOP || (s->flags && p->op == IR_EFFECT))
            for (size_t k = 0; k < vec_len(open); k++)
                s->holds_loop[open[k]] = true;
    }
    vec_free(open);
}

/* mask and cond; mask IR_NONE: always on. */
static ir_val both(ifconv *s, ir_val mask, ir_val cond)
{
    return mask == IR_NONE ? cond : ir_bin(&s->to, IR_BAND, mask, cond);
}

/* The lanes that take part here; IR_NONE: all. */
static ir_val mask_here(const ifconv *s)
{
    return vec_len(s->open) ? vec_last(s->open).mask : IR_NONE;
}

/* -- enter, turn, pass: what stands in `to` for one marker or phi of `from` -- */

static void enter_if(ifconv *s, ir_val i)
{
    frame f = {.head = i, .outer = mask_here(s), .mask = IR_NONE};
    if (s->holds_loop[i])
        f.mask = both(s, f.outer, s->map[s->from->inst[i].a]);
    vec_push(s->open, f);
    s->st.n_branch++;
}

static void turn_to_else(ifconv *s)
{
    frame *f = &vec_last(s->open);
    if (!s->holds_loop[f->head])
        return;
    ir_val no = ir_un(&s->to, IR_BNOT, s->map[s->from->inst[f->head].a]);
    f->mask = both(s, f->outer, no);
}

static void pass_phi(ifconv *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val cond = s->map[s->from->inst[p->a].a];
    s->map[i] = s->map[p->b] == s->map[p->c] ? s->map[p->b]
                                             : ir_select(&s->to, cond, s->map[p->b], s->map[p->c]);
}

static void enter_loop(ifconv *s, ir_val i)
{
    ir_val outer = mask_here(s);
    ir_copy_inst(&s->to, s->from, i, s->map);
    vec_push(s->open, (frame){.head = i, .outer = outer, .mask = outer});
    s->st.n_loop++;
}

static void pass_while(ifconv *s, ir_val i)
{
    frame *f = &vec_last(s->open);
    f->mask = both(s, f->outer, s->map[s->from->inst[i].a]);
    ir_while(&s->to, f->mask);
}

static void pass_effect(ifconv *s)
{
    const ir_val here = mask_here(s);
    for (size_t k = 0; k < vec_len(s->open); k++)
        s->plain &= s->from->inst[s->open[k].head].op == IR_IF;
    s->plain &= here != IR_NONE;
    if (s->flags && s->plain)
        s->flag = s->flag == IR_NONE ? here : ir_bin(&s->to, IR_BOR, s->flag, here);
}

/* The walk over `from`. */
static void convert(ifconv *s)
{
    for (ir_val i = 0; i < (ir_val)vec_len(s->from->inst); i++)
        switch (s->from->inst[i].op) {
        case IR_IF: enter_if(s, i); break;
        case IR_ELSE: turn_to_else(s); break;
        case IR_PHI: pass_phi(s, i); break;
        case IR_LOOP: enter_loop(s, i); break;
        case IR_WHILE: pass_while(s, i); break;
        case IR_END: (void)vec_pop(s->open); break;
        case IR_EFFECT: pass_effect(s); break;
        case IR_ENDLOOP:
            (void)vec_pop(s->open);
            /* fall through */
        default: ir_copy_inst(&s->to, s->from, i, s->map);
        }
}

static ifconv begin(const ir_fn *from, bool flags)
{
    const size_t n = vec_len(from->inst) + 1;
    ifconv s = {.from = from,
                .map = vs_malloc(n * sizeof *s.map),
                .holds_loop = vs_calloc(n, 1),
                .flags = flags,
                .flag = IR_NONE,
                .plain = true};
    assert(s.map && s.holds_loop);
    ir_fn_init(&s.to, from->name);
    ir_copy_tables(&s.to, from);
    find_loops(&s);
    return s;
}

static void end(ifconv *s)
{
    ir_fn_fini(&s->to);
    vs_free(s->map);
    vs_free(s->holds_loop);
    vec_free(s->open);
}

void ir_ifconv(ir_fn *to, const ir_fn *from, ir_ifconv_stats *st)
{
    ifconv s = begin(from, false);
    convert(&s);
    for (size_t k = 0; k < vec_len(from->out); k++) {
        ir_out o = from->out[k];
        ir_out_add(&s.to, o.kind, o.a, o.b, s.map[o.v]);
    }
    ir_opt(to, &s.to, (ir_opt_flags){0}); /* both arms may compute the same */
    for (size_t k = 0; k < vec_len(to->inst); k++) {
        s.st.n_left += to->inst[k].op == IR_IF;
        s.st.n_select += to->inst[k].op == IR_SELECT;
    }
    if (st)
        *st = s.st;
    end(&s);
}

bool ir_flag(ir_fn *to, const ir_fn *from)
{
    ifconv s = begin(from, true);
    convert(&s);
    const bool plain = s.plain && s.flag != IR_NONE;
    if (plain) {
        const ir_val yes = ir_const(&s.to, 1), no = ir_const(&s.to, 0);
        ir_out_add(&s.to, IR_OUT_LIMITED, 0, 0, ir_select(&s.to, s.flag, yes, no));
        ir_opt(to, &s.to, (ir_opt_flags){0});
    }
    end(&s);
    return plain;
}
