/* ir_skip.c - what only one arm of a select needs is left out where no lane takes that arm.
 * Requires: lanes (ir_ifconv).  Keeps: outputs in their order, all results.
 * Method: the operands that a select alone has, and what only they need, move into an `if` on the
 *         select's condition, if they are worth a branch: limiting of a junction's voltage takes a
 *         logarithm, and acts in few iterations. Selects that follow each other with one condition
 *         share the `if`. Several lanes run the `if` when one of them wants it. Selects in an arm
 *         get their own `if` within. Functions with branches or loops stay as they are. */
#include "ir_priv.h"

enum { FUNCTION = 40, WORTH = 15 }; /* operations: of exp and the like; that are worth a branch */
enum { REACH = 2000 }; /* values before a select that are looked at: time is linear in length */
enum { DEPTH = 32 };   /* of ifs within each other */

typedef struct skip {
    const ir_fn *from;
    ir_fn to;
    ir_val n;
    ir_val *map;   /* [n] */
    int32_t *uses; /* [n] operands and outputs that are this value */
    int32_t *seen; /* [n] of them: in the arm that was looked at last, */
    int32_t *when; /* [n] which had this number */
    int32_t now;
    ir_val *place; /* [n] the first select of the group whose `if` it stands in, IR_NONE: of none */
    ir_val *last;  /* [n] of the first select of a group: its last one, IR_NONE: no group */
    bool *inverted; /* [n] the same: the arm is that of `false` */
} skip;

static int weight_of(ir_op op)
{
    switch (op) {
    case IR_DIV:
    case IR_SQRT: return 5;
    case IR_POW: return 3 * FUNCTION;
    default: return op == IR_FMOD || (op >= IR_EXP && op <= IR_LOG1P) ? FUNCTION : 1;
    }
}

static bool is_straight(const ir_fn *fn)
{
    for (size_t k = 0; k < vec_len(fn->inst); k++)
        if (fn->inst[k].op >= IR_IF)
            return false;
    return true;
}

static bool may_move(const skip *s, ir_val v)
{
    return s->from->inst[v].op >= IR_NEG && s->from->inst[v].op <= IR_LIMIT;
}

static void count_uses(skip *s)
{
    for (ir_val k = 0; k < s->n; k++) {
        const ir_inst *p = &s->from->inst[k];
        const ir_val v[3] = {p->a, p->b, p->c};
        for (int i = 0; i < ir_op_arity(p->op); i++)
            s->uses[v[i]]++;
    }
    for (size_t o = 0; o < vec_len(s->from->out); o++)
        s->uses[s->from->out[o].v]++;
}

static void see(skip *s, ir_val v)
{
    s->seen[v] = s->when[v] == s->now ? s->seen[v] + 1 : 1;
    s->when[v] = s->now;
}

static bool only_here(const skip *s, ir_val v)
{
    return s->when[v] == s->now && s->seen[v] == s->uses[v];
}

static ir_val begin_of(ir_val first) { return first > REACH ? first - REACH : 0; }

static ir_val arm_of(const ir_inst *p, bool inverted) { return inverted ? p->c : p->b; }

/* The group's selects are first to last. Returns the weight of what the arm alone needs; with
 * `move` that is given its place. */
static int look_at(skip *s, ir_val first, ir_val last, bool inverted, bool move)
{
    const ir_inst *inst = s->from->inst;
    int weight = 0;
    s->now++;
    for (ir_val k = first; k <= last; k++)
        see(s, arm_of(&inst[k], inverted));
    for (ir_val v = first - 1; v >= begin_of(first); v--) {
        if (!only_here(s, v) || !may_move(s, v))
            continue;
        const ir_val of[3] = {inst[v].a, inst[v].b, inst[v].c};
        for (int i = 0; i < ir_op_arity(inst[v].op); i++)
            see(s, of[i]);
        weight += weight_of(inst[v].op);
        if (move)
            s->place[v] = first;
    }
    return weight;
}

/* The first of the selects before `last` that are one group with it. */
static ir_val group_of(const skip *s, ir_val last)
{
    const ir_inst *inst = s->from->inst;
    ir_val first = last;
    while (first > 0 && inst[first - 1].op == IR_SELECT && inst[first - 1].a == inst[last].a &&
           s->place[first - 1] == s->place[last])
        first--;
    for (ir_val k = last; k > first; k--) /* none is an operand of another one */
        if (inst[k].b >= first || inst[k].c >= first)
            return last;
    return first;
}

static bool is_deep(const skip *s, ir_val k)
{
    int depth = 0;
    for (ir_val at = s->place[k]; at != IR_NONE && depth < DEPTH; at = s->place[at])
        depth++;
    return depth == DEPTH;
}

static void find_groups(skip *s)
{
    for (ir_val k = s->n - 1; k >= 0; k--) {
        if (s->from->inst[k].op != IR_SELECT || is_deep(s, k))
            continue;
        const ir_val first = group_of(s, k);
        const int yes = look_at(s, first, k, false, false), no = look_at(s, first, k, true, false);
        if (yes < WORTH && no < WORTH)
            continue;
        (void)look_at(s, first, k, yes < no, true);
        s->last[first] = k;
        s->inverted[first] = yes < no;
        k = first;
    }
}

static void write_stretch(skip *s, ir_val begin, ir_val end, ir_val place);

static void write_group(skip *s, ir_val first)
{
    const ir_inst *inst = s->from->inst;
    const bool inverted = s->inverted[first];
    const ir_val c = s->map[inst[first].a];
    const ir_val head = ir_if(&s->to, inverted ? ir_un(&s->to, IR_BNOT, c) : c);
    write_stretch(s, begin_of(first), first, first);
    ir_else(&s->to);
    ir_end(&s->to);
    for (ir_val k = first; k <= s->last[first]; k++)
        s->map[k] = ir_phi(&s->to, head, s->map[arm_of(&inst[k], inverted)],
                           s->map[arm_of(&inst[k], !inverted)]);
}

/* What stands in one `if`, or in none. */
static void write_stretch(skip *s, ir_val begin, ir_val end, ir_val place)
{
    for (ir_val k = begin; k < end; k++) {
        if (s->place[k] != place)
            continue;
        if (s->last[k] == IR_NONE) {
            ir_copy_inst(&s->to, s->from, k, s->map);
        } else {
            write_group(s, k);
            k = s->last[k];
        }
    }
}

void ir_skip(ir_fn *to, const ir_fn *from)
{
    const ir_val n = (ir_val)vec_len(from->inst);
    const size_t room = (size_t)n + 1;
    skip s = {.from = from,
              .n = n,
              .map = vs_malloc(room * sizeof *s.map),
              .uses = vs_calloc(room, sizeof *s.uses),
              .seen = vs_calloc(room, sizeof *s.seen),
              .when = vs_calloc(room, sizeof *s.when),
              .place = vs_malloc(room * sizeof *s.place),
              .last = vs_malloc(room * sizeof *s.last),
              .inverted = vs_calloc(room, sizeof *s.inverted)};
    ir_fn_init(&s.to, from->name);
    ir_copy_tables(&s.to, from);
    for (ir_val k = 0; k < n; k++)
        s.place[k] = s.last[k] = IR_NONE;
    count_uses(&s);
    if (is_straight(from))
        find_groups(&s);
    write_stretch(&s, 0, n, IR_NONE);
    for (size_t o = 0; o < vec_len(from->out); o++) {
        const ir_out *w = &from->out[o];
        ir_out_add(&s.to, w->kind, w->a, w->b, s.map[w->v]);
    }
    *to = s.to;
    vs_free(s.map);
    vs_free(s.uses);
    vs_free(s.seen);
    vs_free(s.when);
    vs_free(s.place);
    vs_free(s.last);
    vs_free(s.inverted);
}
