/* va_lower.c - a checked module to va_module: parameters, unknowns, rows, outputs. Rows (va.h): for
 * each branch with flow i from hi to lo, row(hi) += i and row(lo) -= i. A branch with
 * a current unknown i_br has the row  V(hi,lo) - v = 0  where it is a potential source, and i_br =
 * 0 (or i_br - i = 0 if somebody reads I(branch)) where it is a flow source. */
#include "va_lower.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void lw_error(lw *L, diag_span at, int32_t macro, const char *fmt, ...)
{
    uint64_t key = ((uint64_t)(uint32_t)at.file << 32 | at.off) * 31 + map_key(fmt);
    L->failed = true;
    L->m->bad = true;
    if (map_get(&L->c->said, key, 0))
        return; /* said before: the statement was unrolled or inlined again */
    map_set(&L->c->said, key, 1);
    va_list ap;
    va_start(ap, fmt);
    char buf[512];
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    va_error(L->c, at, macro, "%s", buf);
}

/* -- attributes -- */

static const char *attr_text(const va_attr *a, const char *name)
{
    for (; a; a = a->next)
        if (!strcmp(a->name, name))
            return a->value && a->value->kind == EX_STR    ? a->value->name
                   : a->value && a->value->kind == EX_NAME ? a->value->name
                                                           : "";
    return NULL;
}

static const char *or_empty(const char *s) { return s ? s : ""; }

static const char *unit_text(const va_attr *a)
{
    const char *u = attr_text(a, "units");
    return or_empty(u ? u : attr_text(a, "unit"));
}

static const char *elem_name(lw *L, const va_sym *y, int32_t k)
{
    if (!y->array)
        return y->name;
    char buf[300];
    snprintf(buf, sizeof buf, "%.250s[%d]", y->name, y->first + y->step * k);
    return str_intern0(L->c->names, buf);
}

/* -- parameters -- */

static bool is_instance(const va_sym *y)
{
    const char *t = attr_text(y->attr, "type");
    return t && (!strcmp(t, "instance") || !strcmp(t, "both"));
}

static bool uses_instance(const lw *L, const va_expr *e)
{
    if (e->kind == EX_CALL && e->op == FN_MFACTOR)
        return true;
    if (e->kind == EX_NAME && e->sym && e->sym->kind == SY_PARAM) {
        int32_t k = e->sym->pset ? e->sym->index : L->param_base + e->sym->index;
        return (size_t)k < vec_len(L->pinst) && L->pinst[k];
    }
    for (int i = 0; i < e->n_arg; i++)
        if (uses_instance(L, e->arg[i]))
            return true;
    return false;
}

static void describe_param(lw *L, const va_sym *y, int32_t elem)
{
    va_param p = {.name = elem_name(L, y, elem),
                  .type = (va_type)y->type,
                  .inst = is_instance(y),
                  .local = y->local || (L->pset && !y->pset),
                  .span = y->span};
    p.desc = or_empty(attr_text(y->attr, "desc"));
    p.unit = unit_text(y->attr);
    p.dflt = or_empty(y->text_dflt);
    p.range = or_empty(y->text_range);
    vec_push(L->out->param, p);
    vec_push(L->pinst, p.inst || uses_instance(L, y->bound ? y->bound : y->init));
}

/* Parameters of a module or paramset, then the aliases of them: a generated module has thousands.
 */
static void describe_params_of(lw *L, const va_mod *owner)
{
    map at = {0};
    for (size_t i = 0; i < vec_len(owner->param); i++) {
        const va_sym *y = owner->param[i];
        if (!y->array)
            map_set(&at, map_key(y), (int32_t)vec_len(L->out->param));
        for (int32_t k = 0; k < y->n; k++)
            describe_param(L, y, k);
    }
    for (size_t i = 0; i < vec_len(owner->decl); i++) {
        const va_sym *y = owner->decl[i];
        const int32_t k = y->kind == SY_ALIAS ? map_get(&at, map_key(y->alias_of), -1) : -1;
        if (k >= 0 && !L->out->param[k].local)
            vec_push(L->out->param[k].alias, y->name);
    }
    map_free(&at);
}

static void describe_params(lw *L)
{
    if (L->pset)
        describe_params_of(L, L->pset);
    L->param_base = (int32_t)vec_len(L->out->param);
    describe_params_of(L, L->m);
}

static ir_val equal(lw *L, ir_val a, ir_val b)
{
    bool real = L->fn->inst[a].type == IR_F64 || L->fn->inst[b].type == IR_F64;
    return real ? lw_bin(L, IR_FEQ, lw_real(L, a), lw_real(L, b))
                : lw_bin(L, IR_IEQ, lw_int(L, a), lw_int(L, b));
}

/* "v inside the range r" */
static ir_val inside(lw *L, const va_range *r, ir_val v)
{
    if (r->is_list) {
        bool list = r->lo->kind == EX_LIST;
        ir_val any = lw_b(L, false);
        for (int i = 0; i < (list ? r->lo->n_arg : 1); i++)
            any = lw_bin(L, IR_BOR, any, equal(L, v, lw_expr(L, list ? r->lo->arg[i] : r->lo)));
        return any;
    }
    v = lw_real(L, v);
    ir_val lo = lw_real(L, lw_expr(L, r->lo)), hi = lw_real(L, lw_expr(L, r->hi));
    ir_val above = lw_bin(L, r->lo_open && r->lo->kind != EX_INF ? IR_FLT : IR_FLE, lo, v);
    ir_val below = lw_bin(L, r->hi_open && r->hi->kind != EX_INF ? IR_FLT : IR_FLE, v, hi);
    return lw_bin(L, IR_BAND, above, below);
}

/* Inside one of the `from` ranges, if there are any, and in no `exclude`. */
static ir_val param_ok(lw *L, const va_sym *y, ir_val v)
{
    ir_val from = IR_NONE, ok = lw_b(L, true);
    for (const va_range *r = y->range; r; r = r->next) {
        ir_val in = inside(L, r, v);
        if (r->exclude)
            ok = lw_bin(L, IR_BAND, ok, lw_un(L, IR_BNOT, in));
        else
            from = from < 0 ? in : lw_bin(L, IR_BOR, from, in);
    }
    return from < 0 ? ok : lw_bin(L, IR_BAND, ok, from);
}

static ir_val default_value(lw *L, const va_sym *y, int32_t elem)
{
    const va_expr *e = y->bound ? y->bound : y->init;
    ir_type t = lw_ir_type(y->type);
    if (y->array && e->kind == EX_LIST)
        e = e->arg[elem];
    else if (y->array && e->kind == EX_NAME && e->sym)
        return lw_as(L, L->pval[(e->sym->pset ? 0 : L->param_base) + e->sym->index + elem], t);
    return lw_as(L, lw_expr(L, e), t);
}

static void lower_param(lw *L, const va_sym *y, int32_t first)
{
    for (int32_t i = 0; i < y->n; i++) {
        int32_t k = first + y->index + i;
        const va_param *p = &L->out->param[k];
        ir_val v = default_value(L, y, i);
        if (!p->local) {
            ir_val given = ir_in(L->fn, IR_IN_GIVEN, k, IR_BOOL, p->inst);
            v = lw_sel(L, given, ir_in(L->fn, IR_IN_PARAM, k, lw_ir_type(y->type), p->inst), v);
        }
        L->pval[k] = v;
        ir_val ok = y->local ? lw_b(L, true) : param_ok(L, y, v);
        ir_out_add(L->fn, IR_OUT_PARAM, k, 0, v);
        ir_out_add(L->fn, IR_OUT_PARAM_OK, k, 0, ok);
    }
}

static void begin_function(lw *L, ir_fn *fn, const char *name)
{
    ir_fn_fini(fn);
    ir_fn_init(fn, name);
    L->fn = fn;
    L->zero_f = lw_f(L, 0);
    L->zero_i = lw_i(L, 0);
    L->zero_b = lw_b(L, false);
    L->event_cond = IR_NONE;
    L->own_pot = -1;
}

static void lower_params(lw *L)
{
    ir_fn raw = {0};
    begin_function(L, &raw, L->out->name);
    L->params = true;
    L->pval = arena_array(&L->c->mem, ir_val, vec_len(L->out->param) + 1);
    for (size_t i = 0; i < vec_len(L->out->param); i++)
        L->pval[i] = IR_NONE;
    for (size_t i = 0; L->pset && i < vec_len(L->pset->param); i++)
        lower_param(L, L->pset->param[i], 0);
    for (size_t i = 0; i < vec_len(L->m->param); i++)
        lower_param(L, L->m->param[i], L->param_base);
    L->params = false;
    ir_opt(&L->out->params, &raw, (ir_opt_flags){0});
    ir_fn_fini(&raw);
    vec_clear(L->cur);
    vec_clear(L->log);
}

/* -- a pass over the analog blocks -- */

static void free_noise(va_module *out)
{
    for (size_t i = 0; i < vec_len(out->noise); i++)
        vec_free(out->noise[i].table);
    vec_free(out->noise);
}

static void begin_pass(lw *L)
{
    free_noise(L->out);
    vec_clear(L->out->lim_probe);
    vec_clear(L->cur);
    vec_clear(L->type);
    vec_clear(L->stamp);
    vec_clear(L->then_val);
    vec_clear(L->log);
    vec_clear(L->probe);
    vec_clear(L->ddx);
    vec_clear(L->ddt);
    vec_clear(L->psd);
    vec_clear(L->nexp);
    vec_clear(L->limnew);
    vec_clear(L->implicit);
    vec_clear(L->native);
    vec_clear(L->state);
    vec_clear(L->state_in);
    map_free(&L->probe_of);
    for (size_t i = 0; i < vec_len(L->br); i++) {
        lw_branch *b = &L->br[i];
        b->has_flow = b->probed = b->is_sum = false;
        b->slot = -1;
        b->last_contrib = b->first_read = 0;
    }
    L->again = L->bound_used = L->has_read = false;
    L->seq = L->now = 0;
    L->work = 0;
    L->frame = 0;
    L->inline_depth = L->loop_depth = 0;
}

static void declare_slots(lw *L)
{
    for (size_t i = 0; i < vec_len(L->m->var); i++) {
        const va_sym *y = L->m->var[i];
        ir_type t = lw_ir_type(y->type);
        for (int32_t k = 0; k < y->n; k++)
            lw_new_slot(L, t, t == IR_F64 ? L->zero_f : L->zero_i);
    }
    L->limited = lw_new_slot(L, IR_BOOL, L->zero_b);
    L->bound = lw_new_slot(L, IR_F64, lw_f(L, HUGE_VAL));
}

/* Initialisers and `analog initial` give the values before the first point; from there on a
 * variable begins with what it had at the last one (IN STATE, numbered by slot until va_finish). */
static void lower_initial(lw *L)
{
    for (size_t i = 0; i < vec_len(L->m->var); i++) {
        const va_sym *y = L->m->var[i];
        for (int32_t k = 0; y->init && k < y->n; k++) {
            const va_expr *e = y->array && y->init->kind == EX_LIST ? y->init->arg[k] : y->init;
            if (e->type <= VA_STRING)
                lw_set(L, y->index + k, lw_as(L, lw_expr(L, e), lw_ir_type(y->type)));
        }
    }
    for (size_t i = 0; i < vec_len(L->m->initial); i++)
        lw_stmt(L, L->m->initial[i]);
    L->init_val = arena_array(&L->c->mem, ir_val, L->m->n_slot + 1);
    for (size_t i = 0; i < vec_len(L->m->var); i++) {
        const va_sym *y = L->m->var[i];
        for (int32_t k = 0; k < y->n && y->kind == SY_VAR; k++) {
            int32_t s = y->index + k;
            L->init_val[s] = L->cur[s];
            L->cur[s] = ir_in(L->fn, IR_IN_STATE, s, lw_ir_type(y->type), false);
        }
    }
    for (int32_t k = 0; k < L->most_state; k++)
        vec_push(L->state_in, ir_in(L->fn, IR_IN_STATE, L->m->n_slot + k, IR_F64, false));
    vec_clear(L->log);
}

/* A branch whose flow is read but that nothing contributes to is an ammeter: V = 0. */
static void find_ammeters(lw *L)
{
    for (size_t i = 0; i < vec_len(L->br); i++) {
        lw_branch *b = &L->br[i];
        if (b->first_read && !b->last_contrib && !b->need_current) {
            b->need_current = true;
            L->again = true;
        }
    }
}

static void lower_analog(lw *L, ir_fn *raw)
{
    int tries = 0;
    do {
        begin_function(L, raw, L->out->name);
        begin_pass(L);
        declare_slots(L);
        lower_initial(L);
        for (size_t i = 0; i < vec_len(L->m->analog); i++)
            lw_stmt(L, L->m->analog[i]);
        find_ammeters(L);
    } while (L->again && !L->failed && ++tries < 8);
}

/* -- unknowns -- */

static const va_sym *node_sym(const lw *L, int32_t n, int32_t *elem)
{
    for (size_t i = 0; i < vec_len(L->m->node); i++) {
        const va_sym *y = L->m->node[i];
        *elem = n - y->index;
        if (*elem >= 0 && *elem < y->n)
            return y;
    }
    return NULL;
}

static void set_nature(va_unknown *u, const va_nature *own, const va_nature *row)
{
    u->unit = or_empty(own ? own->units : NULL);
    u->abstol = own ? own->abstol : 0;
    u->res_abstol = row ? row->abstol : 0;
}

static int32_t add_node(lw *L, int32_t n)
{
    int32_t elem;
    const va_sym *y = node_sym(L, n, &elem);
    va_unknown u = {.name = elem_name(L, y, elem), .kind = y->port ? VA_PORT : VA_NODE};
    u.discipline = y->disc ? y->disc->name : NULL;
    set_nature(&u, y->disc ? y->disc->pot : NULL, y->disc ? y->disc->flow : NULL);
    vec_push(L->out->unknown, u);
    return (int32_t)vec_len(L->out->unknown) - 1;
}

static int32_t add_current(lw *L, const lw_branch *b)
{
    int32_t elem;
    const va_sym *y = node_sym(L, b->hi >= 0 ? b->hi : b->lo, &elem);
    va_unknown u = {.name =
                        arena_printf(L->keep, b->name[0] == '(' ? "flow%s" : "flow(%s)", b->name),
                    .kind = VA_CURRENT};
    if (y && y->disc) {
        u.discipline = y->disc->name;
        set_nature(&u, y->disc->flow, y->disc->pot);
    } else {
        set_nature(&u, NULL, NULL);
    }
    vec_push(L->out->unknown, u);
    return (int32_t)vec_len(L->out->unknown) - 1;
}

typedef struct layout {
    int32_t *node;    /* [n_node] unknown of a node, -1: not used */
    int32_t *flow;    /* [branches] current unknown, -1 */
    int32_t *listed;  /* [branches] index in va_module.branch, -1 */
    int32_t implicit; /* first implicit equation */
} layout;

static layout number_unknowns(lw *L)
{
    va_module *out = L->out;
    size_t nb = vec_len(L->br);
    layout y = {.node = arena_array(&L->c->mem, int32_t, L->m->n_node + 1),
                .flow = arena_array(&L->c->mem, int32_t, nb + 1),
                .listed = arena_array(&L->c->mem, int32_t, nb + 1)};
    for (size_t i = 0; i < vec_len(L->m->port); i++)
        out->n_port += L->m->port[i]->ground ? 0 : L->m->port[i]->n;
    for (int32_t n = 0; n < L->m->n_node; n++)
        y.node[n] = n < out->n_port || L->node_used[n] ? add_node(L, n) : -1;
    for (size_t i = 0; i < nb; i++) {
        const lw_branch *b = &L->br[i];
        bool current = (b->has_pot && b->slot >= 0) || b->need_current;
        y.flow[i] = current ? add_current(L, b) : -1;
        y.listed[i] = -1;
        if (!current && b->slot < 0)
            continue;
        y.listed[i] = (int32_t)vec_len(out->branch);
        vec_push(out->branch,
                 (va_branch){.name = b->name, .current = y.flow[i], .hi = b->hi, .lo = b->lo});
    }
    y.implicit = (int32_t)vec_len(out->unknown);
    for (size_t i = 0; i < vec_len(L->implicit); i++)
        vec_push(out->unknown, (va_unknown){.name = arena_printf(L->keep, "idt%d", (int)i + 1),
                                            .kind = VA_IMPLICIT,
                                            .unit = ""});
    for (size_t i = 0; i < vec_len(L->native); i++) {
        va_native n = {.kind = L->native[i].kind};
        for (int k = 0; k < VA_NATIVE_UNKNOWNS; k++)
            n.unknown[k] = L->native[i].eq[k] < 0 ? -1 : y.implicit + L->native[i].eq[k];
        vec_push(out->native, n);
    }
    for (size_t i = 0; i < vec_len(out->branch); i++) {
        va_branch *b = &out->branch[i];
        b->hi = b->hi < 0 ? -1 : y.node[b->hi];
        b->lo = b->lo < 0 ? -1 : y.node[b->lo];
    }
    return y;
}

static void fill_probes(lw *L, const layout *y)
{
    for (size_t i = 0; i < vec_len(L->probe); i++) {
        const lw_probe *p = &L->probe[i];
        va_probe q = {-1, -1};
        if (p->kind == LW_NODES)
            q = (va_probe){p->a < 0 ? -1 : y->node[p->a], p->b < 0 ? -1 : y->node[p->b]};
        else
            q.hi = p->kind == LW_FLOW ? y->flow[p->a] : y->implicit + p->a;
        vec_push(L->out->probe, q);
    }
}

/* -- rows -- */

static void add_to_row(lw *L, ir_val *row, int32_t r, ir_val v, bool minus)
{
    double x;
    if (r < 0 || (lw_konst(L, v, &x) && x == 0))
        return;
    if (row[r] < 0)
        row[r] = minus ? lw_un(L, IR_NEG, v) : v;
    else
        row[r] = lw_bin(L, minus ? IR_SUB : IR_ADD, row[r], v);
}

/* The flow of a branch with a current unknown, and the equation of that unknown. */
static ir_val current_branch(lw *L, int32_t k, const layout *y, ir_val *row)
{
    const lw_branch *b = &L->br[k];
    int32_t at = y->listed[k], u = y->flow[k];
    ir_val i_br = lw_flow_probe(L, k), v = lw_node_probe(L, b->hi, b->lo);
    if (!b->last_contrib) { /* ammeter */
        row[u] = v;
        ir_out_add(L->fn, IR_OUT_ISPOT, at, 0, lw_b(L, true));
        return i_br;
    }
    ir_val i_acc = L->cur[b->slot], v_acc = L->cur[b->slot + 1], pot = L->cur[b->slot + 2];
    double zero;
    if (!(lw_konst(L, v_acc, &zero) && zero == 0))
        v = lw_bin(L, IR_SUB, v, v_acc);
    if (!b->has_pot) { /* flow source whose current is an unknown because it is read */
        row[u] = lw_bin(L, IR_SUB, i_br, i_acc);
        return i_br;
    }
    ir_out_add(L->fn, IR_OUT_ISPOT, at, 0, pot);
    if (b->probed && !b->is_sum) {
        row[u] = lw_sel(L, pot, v, b->has_flow ? lw_bin(L, IR_SUB, i_br, i_acc) : i_br);
        return i_br;
    }
    row[u] = lw_sel(L, pot, v, i_br);
    if (!b->probed)
        ir_out_add(L->fn, IR_OUT_COLLAPSE, at, 0, L->cur[b->slot + 3]);
    ir_out_add(L->fn, IR_OUT_DROP, u, 0, lw_un(L, IR_BNOT, pot));
    return b->has_flow ? lw_sel(L, pot, i_br, i_acc) : i_br;
}

static void emit_rows(lw *L, const layout *y)
{
    size_t n = vec_len(L->out->unknown);
    ir_val *row = arena_array(&L->c->mem, ir_val, n + 1);
    for (size_t i = 0; i < n; i++)
        row[i] = IR_NONE;
    for (size_t i = 0; i < vec_len(L->br); i++) {
        const lw_branch *b = &L->br[i];
        if (y->listed[i] < 0)
            continue;
        ir_val flow = y->flow[i] < 0 ? L->cur[b->slot] : current_branch(L, (int32_t)i, y, row);
        add_to_row(L, row, b->hi < 0 ? -1 : y->node[b->hi], flow, false);
        add_to_row(L, row, b->lo < 0 ? -1 : y->node[b->lo], flow, true);
    }
    for (size_t i = 0; i < vec_len(L->implicit); i++) {
        int32_t s = L->implicit[i];
        row[y->implicit + (int32_t)i] =
            lw_sel(L, L->cur[s + 1], L->cur[s], lw_implicit_probe(L, (int32_t)i));
    }
    for (size_t i = 0; i < n; i++)
        if (row[i] >= 0)
            ir_out_add(L->fn, IR_OUT_RES, (int32_t)i, 0, row[i]);
}

/* -- other outputs -- */

static void emit_opvars(lw *L)
{
    for (size_t i = 0; i < vec_len(L->m->decl); i++) {
        const va_sym *y = L->m->decl[i];
        const char *op = attr_text(y->attr, "op");
        bool shown = attr_text(y->attr, "desc") || attr_text(y->attr, "units") ||
                     attr_text(y->attr, "unit") || (op && !strcmp(op, "yes"));
        if (y->kind != SY_VAR || !shown || (op && !strcmp(op, "no")))
            continue;
        for (int32_t k = 0; k < y->n; k++) {
            va_opvar v = {.name = elem_name(L, y, k),
                          .desc = or_empty(attr_text(y->attr, "desc")),
                          .unit = unit_text(y->attr),
                          .type = (va_type)y->type};
            ir_out_add(L->fn, IR_OUT_OPVAR, (int32_t)vec_len(L->out->opvar), 0,
                       L->cur[y->index + k]);
            vec_push(L->out->opvar, v);
        }
    }
}

static void emit_operators(lw *L)
{
    for (size_t i = 0; i < vec_len(L->ddt); i++)
        ir_out_add(L->fn, IR_OUT_DDT_ARG, (int32_t)i, 0, L->cur[L->ddt[i]]);
    L->out->n_ddt = (int32_t)vec_len(L->ddt);
    for (size_t i = 0; i < vec_len(L->psd); i++) {
        ir_out_add(L->fn, IR_OUT_NOISE_PSD, (int32_t)i, 0, L->cur[L->psd[i]]);
        ir_out_add(L->fn, IR_OUT_NOISE_EXP, (int32_t)i, 0, L->cur[L->nexp[i]]);
    }
    for (size_t i = 0; i < vec_len(L->limnew);
         i++) { /* a limit that was not reached keeps its value */
        ir_val used = L->cur[L->limnew[i] + 1];
        ir_val old = ir_in(L->fn, IR_IN_LIMOLD, (int32_t)i, IR_F64, false);
        ir_out_add(L->fn, IR_OUT_LIMNEW, (int32_t)i, 0, lw_sel(L, used, L->cur[L->limnew[i]], old));
    }
    if (vec_len(L->limnew))
        ir_out_add(L->fn, IR_OUT_LIMITED, 0, 0, lw_un(L, IR_B2F, L->cur[L->limited]));
    if (L->bound_used)
        ir_out_add(L->fn, IR_OUT_BOUND_STEP, 0, 0, L->cur[L->bound]);
}

static void emit_states(lw *L)
{
    for (size_t i = 0; i < vec_len(L->m->var); i++) {
        const va_sym *y = L->m->var[i];
        for (int32_t k = 0; k < y->n && y->kind == SY_VAR; k++)
            ir_out_add(L->fn, IR_OUT_STATE, y->index + k, 0, L->cur[y->index + k]);
    }
    for (size_t i = 0; i < vec_len(L->state); i++)
        ir_out_add(L->fn, IR_OUT_STATE, L->m->n_slot + (int32_t)i, 0, L->cur[L->state[i]]);
}

/* -- modules -- */

static void mark_ddx(lw *L)
{
    for (size_t i = 0; i < vec_len(L->m->node); i++) {
        const va_sym *y = L->m->node[i];
        for (int32_t k = 0; y->ddx && k < y->n; k++)
            L->node_ddx[y->index + k] = true;
    }
    for (size_t i = 0; i < vec_len(L->m->branch); i++) /* ddx by V(branch): by its first terminal */
        if (L->m->branch[i]->ddx && L->m->branch[i]->hi->sym->index >= 0)
            for (int32_t k = 0; k < L->m->branch[i]->hi->sym->n; k++)
                L->node_ddx[L->m->branch[i]->hi->sym->index + k] = true;
}

static void begin_module(lw *L)
{
    L->node_used = arena_array(&L->c->mem, bool, L->m->n_node + 1);
    L->node_ddx = arena_array(&L->c->mem, bool, L->m->n_node + 1);
    for (int32_t i = 0; i < L->m->n_branch; i++)
        vec_push(L->br, (lw_branch){.slot = -1});
    mark_ddx(L);
}

static void end_module(lw *L)
{
    vec_free(L->cur);
    vec_free(L->type);
    vec_free(L->stamp);
    vec_free(L->then_val);
    vec_free(L->log);
    vec_free(L->br);
    vec_free(L->probe);
    vec_free(L->ddx);
    vec_free(L->ddt);
    vec_free(L->psd);
    vec_free(L->nexp);
    vec_free(L->limnew);
    vec_free(L->implicit);
    vec_free(L->native);
    vec_free(L->state);
    vec_free(L->state_in);
    vec_free(L->pinst);
    map_free(&L->br_of);
    map_free(&L->probe_of);
}

static void bind_base(lw *L, bool on)
{
    for (size_t i = 0; L->pset && i < vec_len(L->pset->bind); i++) {
        va_sym *b = L->pset->bind[i];
        if (b->alias_of)
            b->alias_of->bound = on ? b->init : NULL;
    }
}

vs_status va_lower_module(va_ctx *c, va_unit *u, va_mod *m)
{
    lw L = {.c = c, .m = m->base ? m->base : m, .pset = m->base ? m : NULL, .keep = &u->mem};
    va_module *out = arena_new(&u->mem, va_module);
    out->name = m->name;
    out->span = m->span;
    out->desc = or_empty(attr_text(m->attr, "desc"));
    L.out = out;
    ir_fn raw = {0};
    begin_module(&L);
    bind_base(&L, true);
    describe_params(&L);
    lower_params(&L);
    lower_analog(&L, &raw);
    if (!L.failed) {
        va_find_reads(&L);
        layout y = number_unknowns(&L);
        emit_rows(&L, &y);
        fill_probes(&L, &y);
        emit_opvars(&L);
        emit_operators(&L);
        emit_states(&L);
        va_finish(&L);
    }
    bind_base(&L, false);
    ir_fn_fini(&raw);
    end_module(&L);
    vec_push(u->module, out);
    return L.failed ? VS_EINPUT : VS_OK;
}
