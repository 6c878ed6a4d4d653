/* va_lower_stmt.c - slots, regions, statements and inlined functions. See va_lower.h. */
#include "va_lower.h"

#include <math.h>
#include <string.h>

/* -- slots -- */

int32_t lw_new_slot(lw *L, ir_type t, ir_val init)
{
    vec_push(L->cur, init);
    vec_push(L->type, (uint8_t)t);
    vec_push(L->stamp, 0);
    vec_push(L->then_val, IR_NONE);
    return (int32_t)vec_len(L->cur) - 1;
}

/* Ends the slots from n on and drops their entries in the log since mark. */
static void forget_slots(lw *L, size_t mark, int32_t n)
{
    size_t to = mark;
    for (size_t i = mark; i < vec_len(L->log); i++)
        if (L->log[i].slot < n)
            L->log[to++] = L->log[i];
    while (vec_len(L->log) > to)
        (void)vec_pop(L->log);
    while (vec_len(L->cur) > (size_t)n) {
        (void)vec_pop(L->cur);
        (void)vec_pop(L->type);
        (void)vec_pop(L->stamp);
        (void)vec_pop(L->then_val);
    }
}

void lw_set(lw *L, int32_t slot, ir_val v)
{
    vec_push(L->log, (lw_log){slot, L->cur[slot]});
    L->cur[slot] = v;
}

int32_t lw_slot_of(const lw *L, const va_sym *y)
{
    return y->in_func ? L->frame + y->index : y->index;
}

/* -- if regions -- */

/* Undoes the assignments logged since mark; returns slot and last value of each changed slot. */
static lw_log *take_changes(lw *L, size_t mark)
{
    lw_log *mod = NULL;
    int32_t now = ++L->now;
    size_t n_slot = vec_len(L->cur);
    for (size_t i = vec_len(L->log); i-- > mark;) {
        int32_t s = L->log[i].slot;
        assert((size_t)s < n_slot);
        if (L->stamp[s] != now)
            vec_push(mod, (lw_log){s, L->cur[s]});
        L->stamp[s] = now;
        L->cur[s] = L->log[i].old;
    }
    while (vec_len(L->log) > mark)
        (void)vec_pop(L->log);
    return mod;
}

lw_region lw_if(lw *L, ir_val c)
{
    return (lw_region){.iff = ir_if(L->fn, c), .mark = vec_len(L->log)};
}

void lw_else(lw *L, lw_region *r)
{
    r->then_mod = take_changes(L, r->mark);
    ir_else(L->fn);
}

static void join_slot(lw *L, ir_val iff, int32_t slot, ir_val a, ir_val b)
{
    if (a == b && a == L->cur[slot])
        return;
    lw_set(L, slot, a == b ? a : a < 0 || b < 0 ? IR_NONE : ir_phi(L->fn, iff, a, b));
}

static void join_slots(lw *L, lw_region *r, const lw_log *else_mod)
{
    int32_t now = ++L->now;
    for (size_t i = 0; i < vec_len(r->then_mod); i++) {
        int32_t s = r->then_mod[i].slot;
        L->stamp[s] = now;
        L->then_val[s] = r->then_mod[i].old;
    }
    for (size_t i = 0; i < vec_len(else_mod); i++) {
        int32_t s = else_mod[i].slot;
        ir_val a = L->stamp[s] == now ? L->then_val[s] : L->cur[s];
        L->stamp[s] = 0;
        join_slot(L, r->iff, s, a, else_mod[i].old);
    }
    for (size_t i = 0; i < vec_len(r->then_mod); i++) {
        int32_t s = r->then_mod[i].slot;
        if (L->stamp[s] == now)
            join_slot(L, r->iff, s, r->then_mod[i].old, L->cur[s]);
    }
}

ir_val lw_end_value(lw *L, lw_region *r, ir_val then_v, ir_val else_v)
{
    lw_log *else_mod = take_changes(L, r->mark);
    ir_end(L->fn);
    ir_val v = then_v < 0 ? IR_NONE : ir_phi(L->fn, r->iff, then_v, else_v);
    join_slots(L, r, else_mod);
    vec_free(r->then_mod);
    vec_free(else_mod);
    return v;
}

static void end_region(lw *L, lw_region *r) { lw_end_value(L, r, IR_NONE, IR_NONE); }

/* -- what a loop body assigns -- */

static void add_slots(lw *L, int32_t **set, int32_t slot, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        if (L->stamp[slot + k] == L->now)
            continue;
        L->stamp[slot + k] = L->now;
        vec_push(*set, slot + k);
    }
}

static void assigned_by_expr(lw *L, const va_expr *e, int32_t **set)
{
    if (e->kind == EX_CALL && e->op == FN_USER)
        for (int i = 0; i < e->n_arg; i++)
            if (e->sym->func->arg[i]->output && e->arg[i]->sym)
                add_slots(L, set, lw_slot_of(L, e->arg[i]->sym), e->arg[i]->sym->n);
    for (int i = 0; i < e->n_arg; i++)
        assigned_by_expr(L, e->arg[i], set);
}

static void assigned_by(lw *L, const va_stmt *s, int32_t **set)
{
    if (!s)
        return;
    if (s->kind == ST_ASSIGN && s->lhs->sym)
        add_slots(L, set, lw_slot_of(L, s->lhs->sym), s->lhs->sym->n);
    if (s->kind == ST_CONTRIB) {
        int32_t slot = lw_contrib_slot(L, s->lhs);
        if (slot >= 0)
            add_slots(L, set, slot, 4);
    }
    if (s->kind == ST_TASK && s->rhs->op == FN_BOUND_STEP)
        add_slots(L, set, L->bound, 1);
    if (s->lhs)
        assigned_by_expr(L, s->lhs, set);
    if (s->rhs)
        assigned_by_expr(L, s->rhs, set);
    for (int i = 0; i < s->n_body; i++)
        assigned_by(L, s->body[i], set);
}

/* -- loops -- */

typedef struct loop {
    ir_val head;
    int32_t *slot; /* vec: assigned inside */
    ir_val *phi;   /* vec */
} loop;

static loop begin_loop(lw *L, const va_stmt *s, bool with_init)
{
    loop l = {0};
    L->now++;
    for (int i = with_init ? 0 : s->kind == ST_FOR; i < s->n_body; i++)
        assigned_by(L, s->body[i], &l.slot);
    assigned_by_expr(L, s->rhs, &l.slot);
    l.head = ir_loop(L->fn);
    for (size_t i = 0; i < vec_len(l.slot); i++) {
        int32_t k = l.slot[i];
        ir_val init = L->cur[k] >= 0 ? L->cur[k] : L->type[k] == IR_F64 ? L->zero_f : L->zero_i;
        ir_val v = ir_lphi(L->fn, l.head, init);
        vec_push(l.phi, v);
        lw_set(L, k, v);
    }
    L->loop_depth++;
    return l;
}

static void end_loop(lw *L, loop *l)
{
    for (size_t i = 0; i < vec_len(l->slot); i++) {
        L->fn->inst[l->phi[i]].c = L->cur[l->slot[i]];
        lw_set(L, l->slot[i], l->phi[i]);
    }
    ir_endloop(L->fn);
    L->loop_depth--;
    vec_free(l->slot);
    vec_free(l->phi);
}

static void real_loop(lw *L, const va_stmt *s)
{
    loop l = begin_loop(L, s, false);
    ir_while(L->fn, lw_bool(L, lw_expr(L, s->rhs)));
    if (s->kind == ST_FOR) {
        lw_stmt(L, s->body[2]);
        lw_stmt(L, s->body[1]);
    } else {
        lw_stmt(L, s->body[0]);
    }
    end_loop(L, &l);
}

/* Unrolls as long as the condition is known; goes on as a loop if it no longer is. */
static void lower_for_while(lw *L, const va_stmt *s)
{
    double k;
    bool is_for = s->kind == ST_FOR;
    if (is_for)
        lw_stmt(L, s->body[0]);
    for (int n = 0; s->unroll && !L->stop; n++) {
        if (!lw_konst(L, lw_bool(L, lw_expr(L, s->rhs)), &k))
            break;
        if (k == 0)
            return;
        if (n == VA_MAX_UNROLL) {
            lw_error(L, s->span, s->macro, "loop was unrolled %d times and does not end", n);
            L->stop = true;
            return;
        }
        lw_stmt(L, s->body[is_for ? 2 : 0]);
        if (is_for)
            lw_stmt(L, s->body[1]);
    }
    if (!L->stop)
        real_loop(L, s);
}

static void lower_repeat(lw *L, const va_stmt *s)
{
    double k;
    ir_val n = lw_int(L, lw_expr(L, s->rhs));
    if (s->unroll && lw_konst(L, n, &k)) {
        if (k > VA_MAX_UNROLL) {
            lw_error(L, s->span, s->macro, "loop is unrolled: more than %d rounds", VA_MAX_UNROLL);
            return;
        }
        for (int i = 0; i < (int)k && !L->stop; i++)
            lw_stmt(L, s->body[0]);
        return;
    }
    int32_t count = lw_new_slot(L, IR_I32, n);
    loop l = begin_loop(L, s, true);
    ir_val left = ir_lphi(L->fn, l.head, n);
    lw_set(L, count, left);
    ir_while(L->fn, lw_bin(L, IR_ILT, lw_i(L, 0), left));
    lw_stmt(L, s->body[0]);
    ir_val fewer = lw_bin(L, IR_ISUB, left, lw_i(L, 1)); /* first: it may move inst */
    L->fn->inst[left].c = fewer;
    end_loop(L, &l);
    lw_set(L, count, IR_NONE);
}

/* -- if, case -- */

static void lower_if(lw *L, const va_stmt *s)
{
    double k;
    ir_val c = lw_bool(L, lw_expr(L, s->rhs));
    if (lw_konst(L, c, &k)) {
        lw_stmt(L, s->body[k != 0 ? 0 : 1]);
        return;
    }
    lw_region r = lw_if(L, c);
    lw_stmt(L, s->body[0]);
    lw_else(L, &r);
    lw_stmt(L, s->body[1]);
    end_region(L, &r);
}

static ir_val case_hit(lw *L, const va_stmt *s, int item, ir_val sel)
{
    ir_val any = lw_b(L, false);
    for (int k = 0; k < s->n_item[item]; k++) {
        ir_val a = sel, b = lw_expr(L, s->item[item][k]);
        bool real = L->fn->inst[a].type == IR_F64 || L->fn->inst[b].type == IR_F64;
        ir_type t = real ? IR_F64 : IR_I32;
        ir_val hit = lw_bin(L, real ? IR_FEQ : IR_IEQ, lw_as(L, a, t), lw_as(L, b, t));
        any = lw_bin(L, IR_BOR, any, hit);
    }
    return any;
}

/* Items in order, `default` wherever it stands last; nested ifs that are closed at the end. */
static void lower_case(lw *L, const va_stmt *s)
{
    ir_val sel = lw_expr(L, s->rhs);
    lw_region *open = NULL;
    const va_stmt *dflt = NULL;
    bool decided = false;
    for (int i = 0; i < s->n_body && !decided && !L->stop; i++) {
        double k;
        if (!s->n_item[i]) {
            dflt = s->body[i];
            continue;
        }
        ir_val hit = case_hit(L, s, i, sel);
        bool known = lw_konst(L, hit, &k);
        if (known && k == 0)
            continue;
        if (known) {
            lw_stmt(L, s->body[i]);
            decided = true;
            break;
        }
        if (vec_len(open) >= VA_MAX_NEST) {
            lw_error(L, s->span, s->macro, "'case' has more than %d items", VA_MAX_NEST);
            break;
        }
        lw_region r = lw_if(L, hit);
        lw_stmt(L, s->body[i]);
        lw_else(L, &r);
        vec_push(open, r);
    }
    if (!decided)
        for (int i = 0; !dflt && i < s->n_body; i++)
            dflt = s->n_item[i] ? NULL : s->body[i];
    if (!decided && dflt)
        lw_stmt(L, dflt);
    while (vec_len(open)) {
        lw_region r = vec_pop(open);
        end_region(L, &r);
    }
    vec_free(open);
}

/* -- events -- */

static ir_val event_condition(lw *L, const va_stmt *s)
{
    ir_val any = lw_b(L, false);
    for (int i = 0; i < s->n_event; i++) {
        const va_expr *e = s->event[i];
        if (e->op == FN_CROSS || e->op == FN_ABOVE || e->op == FN_TIMER) {
            any = lw_bin(L, IR_BOR, any, lw_event(L, e));
            continue;
        }
        bool initial = !strcmp(e->name, "initial_step");
        ir_val c = lw_bool(L, lw_dyn(L, initial ? IR_DYN_INITIAL_STEP : IR_DYN_FINAL_STEP));
        if (e->n_arg) {
            va_expr analysis = *e;
            analysis.kind = EX_CALL;
            analysis.op = FN_ANALYSIS;
            c = lw_bin(L, IR_BAND, c, lw_bool(L, lw_expr(L, &analysis)));
        }
        any = lw_bin(L, IR_BOR, any, c);
    }
    return any;
}

/* The slots of variables that only events of this kind assign. */
static uint8_t *assigned_by_event(lw *L, int when)
{
    uint8_t *mine = arena_alloc(&L->c->mem, vec_len(L->cur) + 1);
    for (size_t i = 0; i < vec_len(L->m->var); i++)
        for (int32_t k = 0; k < L->m->var[i]->n; k++)
            mine[L->m->var[i]->index + k] = L->m->var[i]->event == when;
    return mine;
}

/* The body under initial_step or final_step, run always; its results are taken only in the event.
 *  - Static values of variables that nothing but initial_step assigns are taken always: they are
 *    the same at every point, and stay static (older models have their setup there).
 *  - So are variables that only final_step assigns: they are for output, and the solution at each
 *    point is as good as the last one.
 * Messages stay conditional by event_cond. */
static void hoist(lw *L, const va_stmt *s)
{
    size_t mark = vec_len(L->log), n_slot = vec_len(L->cur);
    uint8_t *mine = assigned_by_event(L, s->when);
    ir_val c = event_condition(L, s);
    L->event_cond = c;
    lw_stmt(L, s->body[0]);
    L->event_cond = IR_NONE;
    lw_log *mod = take_changes(L, mark);
    uint8_t *cls = arena_alloc(&L->c->mem, vec_len(L->fn->inst) + 1);
    ir_classes(L->fn, cls);
    for (size_t i = 0; i < vec_len(mod); i++) {
        int32_t k = mod[i].slot;
        ir_val v = mod[i].old, old = L->cur[k];
        bool always = (size_t)k < n_slot && mine[k] && (s->when == 2 || ir_class_static(cls[v]));
        lw_set(L, k, always ? v : lw_sel(L, c, v, old));
    }
    vec_free(mod);
}

static void lower_event(lw *L, const va_stmt *s)
{
    if (s->when != 3 && L->inline_depth == 0 && L->loop_depth == 0 && vec_len(L->fn->open) == 0 &&
        L->event_cond < 0) {
        hoist(L, s);
        return;
    }
    ir_val c = event_condition(L, s);
    double k;
    if (lw_konst(L, c, &k) && k == 0)
        return;
    lw_region r = lw_if(L, c);
    lw_stmt(L, s->body[0]);
    lw_else(L, &r);
    end_region(L, &r);
}

/* -- tasks -- */

static int count_specs(const char *f)
{
    int n = 0;
    for (; *f; f++) {
        if (*f != '%')
            continue;
        while (*++f && strchr("0123456789.+-# ", *f))
            ;
        if (!*f)
            break;
        n += *f != '%' && *f != 'm' && *f != 'M' && *f != 'l' && *f != 'L';
    }
    return n;
}

static void append(char **buf, const char *s)
{
    size_t n = strlen(s), old = vec_len(*buf);
    vec_extend(*buf, n);
    memcpy(*buf + old, s, n);
}

/* Makes a message: a string is the format of the values behind it; a value without one gets its
 * default format. */
static void print_args(lw *L, const va_expr *e, int from, ir_effect *eff)
{
    char *f = NULL;
    int pending = 0;
    for (int i = from; i < e->n_arg; i++) {
        const va_expr *a = e->arg[i];
        if (a->kind == EX_STR && pending == 0) {
            append(&f, a->name);
            pending = count_specs(a->name);
            continue;
        }
        if (a->kind == EX_NULL) {
            append(&f, " ");
            continue;
        }
        ir_val v = lw_expr(L, a);
        if (L->fn->inst[v].type == IR_BOOL)
            v = lw_int(L, v);
        vec_push(eff->arg, v);
        if (pending)
            pending--;
        else
            append(&f, a->type == VA_STRING ? "%s" : a->type == VA_INTEGER ? "%d" : "%g");
    }
    eff->format = f ? str_intern(L->c->names, f, vec_len(f)) : NULL;
    vec_free(f);
}

static void add_effect(lw *L, ir_effect eff)
{
    if (L->event_cond < 0) {
        ir_effect_add(L->fn, eff);
        return;
    }
    lw_region r = lw_if(L, L->event_cond); /* hoisted body: only its messages stay conditional */
    ir_effect_add(L->fn, eff);
    lw_else(L, &r);
    end_region(L, &r);
}

/* $bound_step(x): x > 0 counts; below 0 the output has another meaning. */
static void lower_bound_step(lw *L, ir_val x)
{
    const ir_val wish = lw_sel(L, lw_bin(L, IR_FLT, lw_f(L, 0), x), x, lw_f(L, HUGE_VAL));
    L->bound_used = true;
    lw_set(L, L->bound, lw_bin(L, IR_MIN, L->cur[L->bound], wish));
}

static void lower_task(lw *L, const va_stmt *s)
{
    const va_expr *e = s->rhs;
    ir_effect eff = {0};
    int line, col;
    switch (e->op) {
    case FN_BOUND_STEP: lower_bound_step(L, lw_real(L, lw_expr(L, e->arg[0]))); return;
    case FN_USER:
    case FN_LIMIT: (void)lw_expr(L, e); return;
    case FN_PRINT:
    case FN_FINISH:
        eff.kind = (uint8_t)va_builtins[(int)e->num].op;
        print_args(L, e, e->op == FN_FINISH && e->n_arg && e->arg[0]->kind != EX_STR, &eff);
        break;
    case FN_DISCONTINUITY:
        eff.kind = IR_EFF_DISCONTINUITY;
        vec_push(eff.arg, e->n_arg ? lw_int(L, lw_expr(L, e->arg[0])) : lw_i(L, 0));
        break;
    default: return;
    }
    diag_where(L->c->d, s->span, &line, &col);
    eff.where = line;
    add_effect(L, eff);
}

/* -- functions -- */

static void bind_args(lw *L, const va_func *f, const ir_val *arg)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(f->arg); i++)
        for (int32_t k = 0; k < f->arg[i]->n; k++, n++)
            if (f->arg[i]->input)
                lw_set(L, lw_slot_of(L, f->arg[i]) + k, arg[n]);
}

/* Inlines a call. arg: values, arrays element by element; out: expressions that take outputs back,
 * or NULL. A frame of slots exists during the call. */
ir_val lw_inline(lw *L, const va_expr *at, va_func *f, const ir_val *arg, va_expr *const *out)
{
    if (f->active || L->inline_depth >= 200) {
        lw_error(L, at->at, at->macro,
                 "function '%s' calls itself, which is not possible in an analog "
                 "function",
                 f->sym->name);
        return lw_as(L, L->zero_f, lw_ir_type(f->sym->type));
    }
    int32_t old_frame = L->frame, frame = (int32_t)vec_len(L->cur);
    size_t log_mark = vec_len(L->log);
    for (size_t i = 0; i < vec_len(f->local); i++) {
        const va_sym *y = f->local[i];
        ir_type t = lw_ir_type(y->type);
        for (int32_t k = 0; k < y->n; k++)
            lw_new_slot(L, t, t == IR_F64 ? L->zero_f : L->zero_i);
    }
    L->frame = frame;
    f->active = true;
    L->inline_depth++;
    bind_args(L, f, arg);
    for (size_t i = 0; i < vec_len(f->local); i++)
        if (f->local[i]->init && !f->local[i]->array)
            lw_assign_elem(L, f->local[i], NULL, lw_expr(L, f->local[i]->init));
    lw_stmt(L, f->body);
    L->inline_depth--;
    f->active = false;
    ir_val result = L->cur[lw_slot_of(L, f->result)], *back = NULL;
    for (size_t i = 0; i < vec_len(f->arg); i++)
        for (int32_t k = 0; k < f->arg[i]->n; k++)
            vec_push(back, L->cur[lw_slot_of(L, f->arg[i]) + k]);
    L->frame = old_frame;
    forget_slots(L, log_mark, frame);
    for (size_t i = 0, n = 0; i < vec_len(f->arg); n += (size_t)f->arg[i]->n, i++) {
        if (!out || !f->arg[i]->output || !out[i]->sym)
            continue;
        if (!f->arg[i]->array)
            lw_assign_elem(L, out[i]->sym, out[i]->n_arg ? out[i]->arg[0] : NULL, back[n]);
        else
            for (int32_t k = 0; k < f->arg[i]->n; k++)
                lw_set(L, lw_slot_of(L, out[i]->sym) + k,
                       lw_as(L, back[n + (size_t)k], lw_ir_type(out[i]->sym->type)));
    }
    vec_free(back);
    return result;
}

/* -- statements -- */

/* a = b or a = '{...} for whole arrays */
static void assign_array(lw *L, const va_stmt *s)
{
    const va_sym *y = s->lhs->sym;
    ir_val *v = NULL;
    for (int32_t k = 0; k < y->n; k++) {
        va_expr index = {.kind = EX_NUM, .type = VA_INTEGER}, one = *s->rhs, *arg = &index;
        if (s->rhs->kind == EX_LIST) {
            vec_push(v, lw_expr(L, s->rhs->arg[k]));
            continue;
        }
        index.num = s->rhs->sym->first + s->rhs->sym->step * k;
        one.arg = &arg;
        one.n_arg = 1;
        vec_push(v, lw_expr(L, &one));
    }
    for (int32_t k = 0; k < y->n; k++)
        lw_set(L, lw_slot_of(L, y) + k, lw_as(L, v[k], lw_ir_type(y->type)));
    vec_free(v);
}

static void lower_assign(lw *L, const va_stmt *s)
{
    const va_sym *y = s->lhs->sym;
    if (!y)
        return;
    if (y->array && !s->lhs->n_arg)
        assign_array(L, s);
    else
        lw_assign_elem(L, y, s->lhs->n_arg ? s->lhs->arg[0] : NULL, lw_expr(L, s->rhs));
}

void lw_stmt(lw *L, const va_stmt *s)
{
    if (!s || L->stop)
        return;
    if (++L->work > VA_MAX_WORK) {
        lw_error(L, s->span, s->macro,
                 "unrolled loops and inlined functions execute more than %d "
                 "statements",
                 VA_MAX_WORK);
        L->stop = true;
        return;
    }
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->n_body; i++)
            lw_stmt(L, s->body[i]);
        break;
    case ST_ASSIGN: lower_assign(L, s); break;
    case ST_CONTRIB: lw_contrib(L, s); break;
    case ST_IF: lower_if(L, s); break;
    case ST_CASE: lower_case(L, s); break;
    case ST_FOR:
    case ST_WHILE: lower_for_while(L, s); break;
    case ST_REPEAT: lower_repeat(L, s); break;
    case ST_EVENT: lower_event(L, s); break;
    case ST_TASK: lower_task(L, s); break;
    default: break;
    }
}
