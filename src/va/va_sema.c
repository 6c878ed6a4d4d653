/* va_sema.c - Verilog-A declarations and statements: names, scopes, numbering.
 * Names are bound for the whole scope at its begin; a scope that ends gives back what it shadowed.
 */
#include "va_ast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ERR(s, y, ...) ((s)->m->bad = true, va_error((s)->c, (y)->span, (y)->macro, __VA_ARGS__))

static void bind(va_sema *s, va_sym *y, bool same_scope_is_error)
{
    int32_t old = map_get(&s->bind, map_key(y->name), -1);
    if (old >= 0 && same_scope_is_error) {
        ERR(s, y, "'%s' is declared twice", y->name);
        diag_note(s->c->d, s->sym[old]->span, "first here");
        return;
    }
    y->shadowed = old;
    map_set(&s->bind, map_key(y->name), (int32_t)vec_len(s->sym));
    vec_push(s->sym, y);
}

/* -- dimensions -- */

static bool const_bound(va_sema *s, va_expr *e, int32_t *out)
{
    double v;
    va_sema_expr(s, e);
    if (va_const_value(e, &v) && v == floor(v) && fabs(v) < 1e9) {
        *out = (int32_t)v;
        return true;
    }
    if (e->type != TY_ERROR) {
        s->m->bad = true;
        va_error(s->c, e->span, e->macro,
                 "array bound must be a constant integer (literals and localparams)");
    }
    return false;
}

/* Sets first, step, n. "[n]" means [0:n-1]. */
static void set_dims(va_sema *s, va_sym *y)
{
    int32_t a = 0, b = 0;
    if (!y->array || !y->left)
        return;
    bool ok = const_bound(s, y->left, &a);
    if (!y->right) {
        b = a - 1;
        a = 0;
    } else {
        ok = const_bound(s, y->right, &b) && ok;
    }
    int64_t n = ok ? llabs((int64_t)b - a) + 1 : 1;
    if (ok && !y->right && b < 0) {
        ERR(s, y, "'%s' has no elements", y->name);
        ok = false;
    } else if (n > VA_MAX_ARRAY) {
        ERR(s, y, "'%s' has more than %d elements", y->name, VA_MAX_ARRAY);
        ok = false;
    }
    y->bad_dims = !ok;
    n = ok ? n : 1;
    y->first = ok ? a : 0;
    y->step = b >= a ? 1 : -1;
    y->n = (int32_t)n;
}

/* -- nodes and branches -- */

static void set_discipline(va_sema *s, va_sym *y)
{
    if (!y->disc_name || !strcmp(y->disc_name, "wire"))
        return;
    int32_t k = map_get(&s->c->disc_of, map_key(y->disc_name), -1);
    if (k >= 0) {
        y->disc = s->c->disc[k];
        if (y->disc->discrete) {
            s->m->bad = true;
            va_error(s->c, y->disc_span, -1,
                     "nodes of the discrete discipline '%s' are not supported", y->disc_name);
        }
        return;
    }
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(s->c->disc); i++)
        vec_push(cand, s->c->disc[i]->name);
    s->m->bad = true;
    va_error(s->c, y->disc_span, -1, "unknown discipline '%s'", y->disc_name);
    if (!vec_len(cand))
        diag_note(s->c->d, DIAG_NOWHERE,
                  "add `include \"disciplines.vams\" at the head of the file");
    diag_suggest(s->c->d, y->disc_name, cand, vec_len(cand));
    vec_free(cand);
}

static void check_port(va_sema *s, const va_sym *y)
{
    if (!y->input && !y->output && !y->disc_name)
        ERR(s, y, "port '%s' is not declared: expected 'inout %s;' and 'electrical %s;'", y->name,
            y->name, y->name);
    else if (!y->input && !y->output)
        ERR(s, y, "port '%s' has no direction: expected 'inout %s;'", y->name, y->name);
}

static void number_nodes(va_sema *s, va_sym **list, bool ports)
{
    for (size_t i = 0; i < vec_len(list); i++) {
        va_sym *y = list[i];
        if (y->kind != SY_NODE || y->port != ports || y->index >= 0)
            continue;
        set_dims(s, y);
        set_discipline(s, y);
        if (ports)
            check_port(s, y);
        if (y->ground) {
            if (y->port)
                ERR(s, y, "port '%s' cannot be the ground", y->name);
            continue;
        }
        if ((int64_t)s->m->n_node + y->n > VA_MAX_ARRAY) {
            ERR(s, y, "module has more than %d nodes", VA_MAX_ARRAY);
            y->n = 1;
        }
        y->index = s->m->n_node;
        s->m->n_node += y->n;
        vec_push(s->m->node, y);
    }
}

static bool branch_terminal(va_sema *s, va_sym *b, va_expr *e)
{
    if (e->kind == EX_NAME && !va_lookup(s, e->name)) {
        va_unknown_name(s, e, "node");
        return false;
    }
    if (e->kind != EX_NAME || (va_sema_expr(s, e), e->type != TY_NODE)) {
        if (e->kind != EX_NAME ? e->kind != EX_ERROR : e->type != TY_ERROR) {
            s->m->bad = true;
            va_error(s->c, e->span, e->macro, "terminal of branch '%s': expected a node", b->name);
        }
        return false;
    }
    e->sym->used = true;
    if (e->sym->array && !e->n_arg && e->sym->n != b->n) {
        if (b->n == 1 && !b->array) { /* vector terminals make a vector branch */
            b->array = true;
            b->first = e->sym->first;
            b->step = e->sym->step;
            b->n = e->sym->n;
            return true;
        }
        s->m->bad = true;
        va_error(s->c, e->span, e->macro, "'%s' has %d elements, branch '%s' has %d", e->sym->name,
                 e->sym->n, b->name, b->n);
        return false;
    }
    return true;
}

static void check_branch(va_sema *s, va_sym *b)
{
    set_dims(s, b);
    bool ok = branch_terminal(s, b, b->hi);
    if (b->lo)
        ok = branch_terminal(s, b, b->lo) && ok;
    if (!ok) {
        b->kind = SY_BLOCK; /* so that each use is an error */
        return;
    }
    b->index = s->m->n_branch;
    s->m->n_branch += b->n;
    vec_push(s->m->branch, b);
}

/* -- parameters -- */

static void check_bound(va_sema *s, va_sym *y, va_expr *e)
{
    if (e->kind == EX_INF || e->kind == EX_ERROR)
        return;
    va_sema_expr(s, e);
    bool string = e->type == VA_STRING, number = e->type == VA_REAL || e->type == VA_INTEGER;
    if (e->type != TY_ERROR && (y->type == VA_STRING ? !string : !number)) {
        s->m->bad = true;
        va_error(s->c, e->span, e->macro, "the range of '%s' must consist of %s", y->name,
                 y->type == VA_STRING ? "strings" : "numbers");
    }
}

static void check_ranges(va_sema *s, va_sym *y)
{
    for (va_range *r = y->range; r; r = r->next) {
        if (!r->is_list) {
            check_bound(s, y, r->lo);
            check_bound(s, y, r->hi);
            double lo, hi;
            if (!va_const_value(r->lo, &lo) || !va_const_value(r->hi, &hi))
                continue;
            if (lo > hi || (lo == hi && (r->lo_open || r->hi_open))) {
                s->m->bad = true;
                va_error(s->c, r->lo->span, r->lo->macro,
                         lo > hi ? "range is empty: %g is above %g"
                                 : "range is empty: it does not contain %g",
                         lo, hi);
            }
        } else if (r->lo->kind == EX_LIST) {
            for (int i = 0; i < r->lo->n_arg; i++)
                check_bound(s, y, r->lo->arg[i]);
        } else {
            check_bound(s, y, r->lo);
        }
    }
}

static void check_list_init(va_sema *s, va_sym *y)
{
    va_expr *e = y->init;
    if (y->bad_dims ||
        (e->kind == EX_NAME && e->type == TY_LIST && e->sym->kind == SY_PARAM && e->sym->n == y->n))
        return;
    if (e->kind != EX_LIST) {
        s->m->bad = true;
        va_error(s->c, e->span, e->macro, "'%s' is an array: expected a list '{...}", y->name);
    } else if (e->n_arg != y->n) {
        s->m->bad = true;
        va_error(s->c, e->span, e->macro, "'%s' has %d elements, the list has %d", y->name, y->n,
                 e->n_arg);
    }
}

/* Checks the default or initial value against the type of the symbol. */
static void check_init(va_sema *s, va_sym *y)
{
    va_expr *e = y->init;
    if (e->type == TY_ERROR)
        return;
    if (y->array) {
        check_list_init(s, y);
        return;
    }
    bool string = e->type == VA_STRING, number = e->type == VA_REAL || e->type == VA_INTEGER;
    if (y->untyped) {
        y->type = e->type <= VA_STRING ? e->type : VA_REAL;
        number = e->type <= VA_STRING;
        string = false;
    } else if (y->type == VA_STRING) {
        number = false;
    } else {
        string = false;
    }
    if (!string && !number) {
        s->m->bad = true;
        va_error(s->c, e->span, e->macro, "'%s' is %s: its value must be %s", y->name,
                 y->type == VA_STRING ? "a string" : "a number",
                 y->type == VA_STRING ? "a string" : "a number");
    }
}

/* 1: e is the same constant as v; 0: another; -1: not known here */
static int same_const(const va_expr *e, const va_expr *v)
{
    double a, b;
    if (e->kind == EX_STR || v->kind == EX_STR)
        return e->kind == v->kind ? e->name == v->name : -1;
    return va_const_value(e, &a) && va_const_value(v, &b) ? a == b : -1;
}

/* 1: the range r holds the constant v; 0: it does not; -1: not known here */
static int range_holds(const va_range *r, const va_expr *v)
{
    double x, lo, hi;
    if (r->is_list && r->lo->kind == EX_LIST) {
        int found = 0;
        for (int i = 0; i < r->lo->n_arg && found == 0; i++)
            found = same_const(r->lo->arg[i], v);
        return found;
    }
    if (r->is_list)
        return same_const(r->lo, v);
    if (!va_const_value(v, &x))
        return -1;
    if (r->lo->kind == EX_INF)
        lo = -INFINITY;
    else if (!va_const_value(r->lo, &lo))
        return -1;
    if (r->hi->kind == EX_INF)
        hi = INFINITY;
    else if (!va_const_value(r->hi, &hi))
        return -1;
    return (r->lo_open ? x > lo : x >= lo) && (r->hi_open ? x < hi : x <= hi);
}

/* Warns of a default outside of its range: each use of the model that does not give the parameter
 * fails. */
static void check_default(va_sema *s, const va_sym *y)
{
    bool any = false, inside = false, excluded = false;
    if (y->array || y->init->type == TY_ERROR)
        return;
    for (const va_range *r = y->range; r; r = r->next) {
        int k = range_holds(r, y->init);
        if (k < 0)
            return;
        any = any || !r->exclude;
        inside = inside || (k && !r->exclude);
        excluded = excluded || (k && r->exclude);
    }
    if (excluded || (any && !inside))
        va_warning(s->c, y->init->span, y->init->macro,
                   "default of '%s' is outside of its range: %s", y->name, y->text_range);
}

static void check_param(va_sema *s, va_sym *y)
{
    set_dims(s, y);
    if (s->m->n_param > VA_MAX_ARRAY) {
        ERR(s, y, "module has more than %d parameters", VA_MAX_ARRAY);
        y->n = 1;
    }
    y->index = s->m->n_param;
    s->m->n_param += y->n;
    vec_push(s->m->param, y);
    s->in_params = true;
    va_sema_expr(s, y->init);
    check_init(s, y);
    check_ranges(s, y);
    check_default(s, y);
    s->in_params = false;
}

static void check_alias(va_sema *s, va_sym *y)
{
    va_sym *t = va_lookup(s, y->target);
    if (t && t->kind == SY_PARAM) {
        y->alias_of = t;
        return;
    }
    if (y->target[0] == '$') { /* aliasparam m = $mfactor: the simulator's parameter m is the same
                                  */
        s->m->bad = true;
        va_error(s->c, y->disc_span, y->macro, "alias of '%s' is not supported", y->target);
        return;
    }
    if (t) {
        s->m->bad = true;
        va_error(s->c, y->disc_span, y->macro,
                 t->kind == SY_ALIAS ? "'%s' is an alias itself: expected the name of a parameter"
                                     : "'%s' is not a parameter",
                 y->target);
        return;
    }
    va_expr e = {.kind = EX_NAME, .name = y->target, .at = y->disc_span, .macro = y->macro};
    va_unknown_name(s, &e, "parameter");
}

/* A default may only use parameters declared before it (the values are computed in that order). */
static void check_param_order(va_sema *s, const va_sym *y, const va_expr *e)
{
    if (e->kind == EX_NAME && e->sym && e->sym->kind == SY_PARAM && e->sym->index >= y->index) {
        s->m->bad = true;
        va_error(s->c, e->at, e->macro, "'%s' is declared after '%s': its value is not known here",
                 e->name, y->name);
        return;
    }
    if (e->kind == EX_CALL && e->op == FN_PARAM_GIVEN)
        return;
    for (int i = 0; i < e->n_arg; i++)
        check_param_order(s, y, e->arg[i]);
}

/* -- variables -- */

static void number_var(va_sema *s, va_sym *y)
{
    set_dims(s, y);
    int32_t *n = s->func ? &s->func->n_slot : &s->m->n_slot;
    if ((int64_t)*n + y->n > 10 * VA_MAX_ARRAY) {
        ERR(s, y, "too many variables");
        y->n = 1;
    }
    y->index = *n;
    *n += y->n;
    if (s->func)
        vec_push(s->func->local, y);
    else
        vec_push(s->m->var, y);
    if (y->init) {
        va_sema_expr(s, y->init);
        check_init(s, y);
    }
}

/* -- statements -- */

static void check_stmt(va_sema *s, va_stmt *st);

static void check_condition(va_sema *s, va_expr *e)
{
    va_sema_expr(s, e);
    if (e->type != VA_REAL && e->type != VA_INTEGER && e->type != TY_ERROR) {
        s->m->bad = true;
        va_error(s->c, e->span, e->macro, "condition must be a number");
    }
}

static void check_block(va_sema *s, va_stmt *st)
{
    size_t n = vec_len(st->decl), mark = vec_len(s->sym);
    for (size_t i = 0; i < n; i++) {
        int32_t old = map_get(&s->bind, map_key(st->decl[i]->name), -1);
        bind(s, st->decl[i], old >= 0 && (size_t)old >= mark);
        number_var(s, st->decl[i]);
    }
    for (int i = 0; i < st->n_body; i++)
        check_stmt(s, st->body[i]);
    for (size_t i = n; i-- > 0;)
        if (va_lookup(s, st->decl[i]->name) == st->decl[i])
            map_set(&s->bind, map_key(st->decl[i]->name), st->decl[i]->shadowed);
}

/* Notes where a variable is assigned: everywhere, or under one kind of event only. */
void va_count_assign(va_sema *s, va_sym *y)
{
    y->event = y->n_assign && y->event != s->event ? 3 : (uint8_t)s->event;
    y->n_assign++;
}

static const char *kind_text(const va_sym *y)
{
    switch (y->kind) {
    case SY_PARAM:
    case SY_ALIAS: return "a parameter";
    case SY_GENVAR: return "a genvar";
    case SY_NODE: return "a node";
    case SY_BRANCH: return "a branch";
    case SY_FUNC: return "a function";
    default: return "no variable";
    }
}

static void check_target(va_sema *s, va_expr *e, bool loop_head)
{
    va_sym *y = e->kind == EX_NAME ? va_lookup(s, e->name) : NULL;
    if (!y || y->kind != SY_FUNC)
        va_sema_expr(s, e);
    if (e->kind == EX_ERROR || (e->type == TY_ERROR && !(y && y->kind == SY_FUNC)))
        return;
    const char *what = y ? kind_text(y)
                       : e->kind == EX_CALL && e->op == FN_ACCESS
                           ? "an access, to which '<+' contributes"
                           : "an expression";
    if (!y || (y->kind != SY_VAR && !(y->kind == SY_GENVAR && loop_head))) {
        s->m->bad = true;
        va_error(s->c, e->at, e->macro, "'%s' cannot be assigned to: it is %s",
                 e->name ? e->name : "this", what);
    } else {
        va_count_assign(s, y);
    }
}

static void check_assign(va_sema *s, va_stmt *st, bool loop_head)
{
    check_target(s, st->lhs, loop_head);
    va_sema_expr(s, st->rhs);
    int to = st->lhs->type, from = st->rhs->type;
    if (to == TY_ERROR || from == TY_ERROR)
        return;
    bool ok = to == VA_STRING ? from == VA_STRING : from == VA_REAL || from == VA_INTEGER;
    if (to == TY_LIST && from == TY_LIST)
        ok = st->lhs->sym->n == (st->rhs->kind == EX_LIST ? st->rhs->n_arg : st->rhs->sym->n);
    else if (to == TY_LIST)
        ok = false;
    if (ok)
        return;
    s->m->bad = true;
    if (to == TY_LIST)
        va_error(s->c, st->lhs->at, st->lhs->macro,
                 "'%s' is an array: expected an index, or a list of "
                 "the same length",
                 st->lhs->name);
    else
        va_error(s->c, st->rhs->span, st->rhs->macro, "'%s' is %s, the value assigned to it is not",
                 st->lhs->name, to == VA_STRING ? "a string" : "a number");
}

static void check_contrib(va_sema *s, va_stmt *st)
{
    va_expr *l = st->lhs;
    if (s->func) {
        ERR(s, st, "contributions cannot be used inside an analog function");
        return;
    }
    if (l->kind != EX_CALL) {
        s->m->bad = true;
        va_error(s->c, l->span, l->macro,
                 "left side of '<+' must be an access like V(a, b) or I(branch)");
        return;
    }
    va_sema_expr(s, l);
    va_sema_expr(s, st->rhs);
    if (l->type != TY_ERROR && l->op != FN_ACCESS) {
        s->m->bad = true;
        va_error(s->c, l->span, l->macro,
                 "'%s' is no access function: nothing can be contributed to it", l->name);
    }
    if (l->type != TY_ERROR && l->num == 2) {
        s->m->bad = true;
        va_error(s->c, l->span, l->macro, "nothing can be contributed to the current of a port");
    }
    if (st->rhs->type == VA_STRING || st->rhs->type >= TY_VOID) {
        s->m->bad = true;
        va_error(s->c, st->rhs->span, st->rhs->macro, "contribution must be a number");
    }
}

static void check_event(va_sema *s, va_stmt *st)
{
    if (s->func) {
        ERR(s, st, "events cannot be used inside an analog function");
        return;
    }
    for (int i = 0; i < st->n_event; i++) {
        va_expr *e = st->event[i];
        const va_builtin *b = va_find_builtin(s->c, e->name);
        if (e->kind == EX_CALL && b && b->cls == FC_EVENT) {
            s->in_event = true;
            va_sema_expr(s, e);
            s->in_event = false;
            continue;
        }
        bool known = !strcmp(e->name, "initial_step") || !strcmp(e->name, "final_step");
        if (!known) {
            s->m->bad = true;
            va_error(s->c, e->at, e->macro,
                     "event '%s' is not supported: initial_step, final_step, cross(...), "
                     "above(...) and timer(...) are",
                     e->name);
            continue;
        }
        for (int k = 0; k < e->n_arg; k++) {
            if (e->arg[k]->kind == EX_STR)
                continue;
            s->m->bad = true;
            va_error(s->c, e->arg[k]->span, e->arg[k]->macro,
                     "expected the name of an analysis in quotes");
        }
    }
    bool initial = st->n_event > 0, final = st->n_event > 0;
    for (int i = 0; i < st->n_event; i++) {
        initial = initial && !strcmp(st->event[i]->name, "initial_step") && !st->event[i]->n_arg;
        final = final && !strcmp(st->event[i]->name, "final_step");
    }
    int outer = s->event;
    st->when = initial ? 1 : final ? 2 : 3;
    s->event = outer ? 3 : st->when;
    check_stmt(s, st->body[0]);
    s->event = outer;
}

static void check_loop(va_sema *s, va_stmt *st)
{
    int before = s->n_index;
    bool genvar = false;
    if (st->kind == ST_FOR) {
        for (int i = 0; i < 2; i++)
            if (st->body[i]->kind == ST_ASSIGN)
                check_assign(s, st->body[i], true);
        const va_expr *l = st->body[0]->kind == ST_ASSIGN ? st->body[0]->lhs : NULL;
        genvar = l && l->sym && l->sym->kind == SY_GENVAR;
    }
    check_condition(s, st->rhs);
    check_stmt(s, st->body[st->n_body - 1]);
    st->unroll = genvar || s->n_index > before;
}

static void check_case(va_sema *s, va_stmt *st)
{
    int n_default = 0;
    va_sema_expr(s, st->rhs);
    for (int i = 0; i < st->n_body; i++) {
        n_default += st->n_item[i] == 0;
        for (int k = 0; k < st->n_item[i]; k++) {
            va_expr *e = st->item[i][k];
            va_sema_expr(s, e);
            if (e->type != TY_ERROR && st->rhs->type != TY_ERROR &&
                (e->type == VA_STRING) != (st->rhs->type == VA_STRING)) {
                s->m->bad = true;
                va_error(s->c, e->span, e->macro,
                         "value has another type than the selector of 'case'");
            }
        }
        check_stmt(s, st->body[i]);
    }
    if (n_default > 1)
        ERR(s, st, "'case' has more than one 'default'");
}

static void check_task(va_sema *s, va_stmt *st)
{
    va_expr *e = st->rhs;
    const va_builtin *b = va_find_builtin(s->c, e->name);
    if (b && b->id == FN_SKIP) {
        va_warning(s->c, e->at, e->macro, "'%s' is not supported: it does nothing", e->name);
        return;
    }
    if (!b && e->name[0] == '$') {
        va_unknown_name(s, e, "system task");
        return;
    }
    va_sema_expr(s, e);
    if (e->type <= VA_STRING && e->op != FN_USER && e->op != FN_LIMIT)
        va_warning(s->c, e->at, e->macro, "the value of '%s' is not used", e->name);
}

static void check_stmt(va_sema *s, va_stmt *st)
{
    if (!st || diag_full(s->c->d, s->c->n_error))
        return;
    switch (st->kind) {
    case ST_BLOCK: check_block(s, st); break;
    case ST_ASSIGN: check_assign(s, st, false); break;
    case ST_CONTRIB: check_contrib(s, st); break;
    case ST_INDIRECT:
        ERR(s, st,
            "indirect branch contributions are not supported: solve for the contribution with "
            "'<+'");
        break;
    case ST_IF:
        check_condition(s, st->rhs);
        check_stmt(s, st->body[0]);
        check_stmt(s, st->body[1]);
        break;
    case ST_CASE: check_case(s, st); break;
    case ST_FOR:
    case ST_WHILE:
    case ST_REPEAT: check_loop(s, st); break;
    case ST_EVENT: check_event(s, st); break;
    case ST_TASK: check_task(s, st); break;
    default: break;
    }
}

/* -- functions -- */

static void check_function(va_sema *s, va_func *f)
{
    s->func = f;
    size_t mark = vec_len(s->sym);
    for (size_t i = 0; i < vec_len(f->decl); i++) {
        int32_t old = map_get(&s->bind, map_key(f->decl[i]->name), -1);
        bind(s, f->decl[i], old >= 0 && (size_t)old >= mark);
        number_var(s, f->decl[i]);
    }
    check_stmt(s, f->body);
    if (!f->result->n_assign && !s->m->bad)
        va_warning(s->c, f->sym->span, f->sym->macro,
                   "function '%s' never assigns its result: it is always 0", f->sym->name);
    for (size_t i = vec_len(f->decl); i-- > 0;)
        if (va_lookup(s, f->decl[i]->name) == f->decl[i])
            map_set(&s->bind, map_key(f->decl[i]->name), f->decl[i]->shadowed);
    s->func = NULL;
    va_own(s->c, f->local);
}

/* -- modules -- */

static bool is_kind(const va_sym *y, sy_kind k) { return y->kind == (uint8_t)k; }

/* Dimensions of arguments must be known before any call is checked. */
static void prepare_function(va_sema *s, va_func *f)
{
    for (size_t i = 0; i < vec_len(f->decl); i++)
        set_dims(s, f->decl[i]);
}

static void check_declarations(va_sema *s, va_sym **decl)
{
    size_t n = vec_len(decl);
    for (size_t i = 0; i < n; i++)
        if (is_kind(decl[i], SY_ALIAS))
            check_alias(s, decl[i]);
    for (size_t i = 0; i < n; i++)
        if (is_kind(decl[i], SY_PARAM))
            check_param(s, decl[i]);
    for (size_t i = 0; i < vec_len(s->m->param); i++) {
        va_sym *y = s->m->param[i];
        check_param_order(s, y, y->init);
    }
    number_nodes(s, s->m->port, true);
    number_nodes(s, decl, false);
    for (size_t i = 0; i < n; i++)
        if (is_kind(decl[i], SY_BRANCH))
            check_branch(s, decl[i]);
    for (size_t i = 0; i < n; i++)
        if (is_kind(decl[i], SY_FUNC))
            prepare_function(s, decl[i]->func);
    for (size_t i = 0; i < n; i++)
        if (is_kind(decl[i], SY_VAR) || is_kind(decl[i], SY_GENVAR))
            number_var(s, decl[i]);
}

static void close_scope(va_sema *s)
{
    map_free(&s->bind);
    map_free(&s->unknown);
    vec_free(s->sym);
    va_own(s->c, s->m->param);
    va_own(s->c, s->m->var);
    va_own(s->c, s->m->node);
    va_own(s->c, s->m->branch);
}

static va_mod *find_module(va_ctx *c, const va_mod *user)
{
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(c->mod); i++) {
        va_mod *m = c->mod[i];
        if (m->name == user->base_name && m != user) {
            vec_free(cand);
            return m;
        }
        if (m != user)
            vec_push(cand, m->name);
    }
    va_error(c, user->base_span, -1, "unknown module '%s'", user->base_name);
    diag_suggest(c->d, user->base_name, cand, vec_len(cand));
    vec_free(cand);
    return NULL;
}

static va_sym *param_of(const va_mod *m, const char *name)
{
    for (size_t i = 0; i < vec_len(m->decl); i++)
        if (m->decl[i]->name == name && is_kind(m->decl[i], SY_PARAM))
            return m->decl[i];
        else if (m->decl[i]->name == name && is_kind(m->decl[i], SY_ALIAS))
            return m->decl[i]->alias_of;
    return NULL;
}

static void check_bind(va_sema *s, va_sym *b)
{
    va_sym *t = param_of(s->m->base, b->name);
    s->in_params = true;
    va_sema_expr(s, b->init);
    s->in_params = false;
    if (!t || t->local) {
        const char **cand = NULL;
        for (size_t i = 0; i < vec_len(s->m->base->param); i++)
            vec_push(cand, s->m->base->param[i]->name);
        ERR(s, b, "module '%s' has no parameter '%s'", s->m->base_name, b->name);
        diag_suggest(s->c->d, b->name, cand, vec_len(cand));
        vec_free(cand);
        return;
    }
    for (size_t i = 0; s->m->bind[i] != b; i++) {
        if (s->m->bind[i]->alias_of != t)
            continue;
        ERR(s, b, "'%s' is set twice", b->name);
        diag_note(s->c->d, s->m->bind[i]->span, "first here");
    }
    b->alias_of = t;
    b->type = t->type;
    b->array = t->array;
    b->n = t->n;
    check_init(s, b);
}

/* A paramset: its own parameters, and a value for some of those of its module. */
static void check_paramset(va_sema *s)
{
    va_mod *m = s->m;
    m->base = find_module(s->c, m);
    if (!m->base) {
        m->bad = true;
        return;
    }
    if (m->base->base_name) {
        m->bad = true;
        va_error(s->c, m->base_span, -1, "a paramset of another paramset is not supported");
        return;
    }
    for (size_t i = 0; i < vec_len(m->decl); i++) {
        bind(s, m->decl[i], true);
        m->decl[i]->pset = true;
    }
    check_declarations(s, m->decl);
    for (size_t i = 0; i < vec_len(m->bind); i++)
        check_bind(s, m->bind[i]);
}

void va_sema_module(va_ctx *c, va_mod *m)
{
    va_sema s = {.c = c, .m = m};
    for (size_t i = 0; c->mod[i] != m; i++) {
        if (c->mod[i]->name != m->name)
            continue;
        va_error(c, m->span, -1, "module '%s' is declared twice", m->name);
        diag_note(c->d, c->mod[i]->span, "first here");
        m->bad = true;
        break;
    }
    if (m->base_name) {
        check_paramset(&s);
        close_scope(&s);
        return;
    }
    for (size_t i = 0; i < vec_len(m->decl); i++)
        bind(&s, m->decl[i], true);
    check_declarations(&s, m->decl);
    for (size_t i = 0; i < vec_len(m->decl); i++)
        if (is_kind(m->decl[i], SY_FUNC))
            check_function(&s, m->decl[i]->func);
    for (size_t i = 0; i < vec_len(m->initial); i++)
        check_stmt(&s, m->initial[i]);
    for (size_t i = 0; i < vec_len(m->analog); i++)
        check_stmt(&s, m->analog[i]);
    for (size_t i = 0; i < vec_len(m->port) && !m->bad; i++)
        if (!m->port[i]->disc_name)
            va_warning(c, m->port[i]->span, m->port[i]->macro,
                       "port '%s' has no discipline: expected a "
                       "declaration like 'electrical %s;'",
                       m->port[i]->name, m->port[i]->name);
    close_scope(&s);
}
