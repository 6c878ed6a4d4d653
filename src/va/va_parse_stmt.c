/* va_parse_stmt.c - Verilog-A parser: expressions and analog statements.
 * Source: Verilog-AMS LRM 2.4, annex A.6 (behavioral statements), A.8 (expressions). */
#include "va_ast.h"

#include <string.h>

/* -- tokens -- */

bool va_is_name(const va_tok *t) { return t->kind == T_NAME && (t->kw == 0 || t->kw > KW_FREE); }

const char *va_tok_text(va_parser *p, const va_tok *t)
{
    static const char *const multi[] = {"<+",  "<=", ">=", "==", "!=", "&&", "||", "<<", ">>",
                                        ">>>", "**", "~^", "~&", "~|", "(*", "*)", "'{"};
    if (t->kind == T_EOF)
        return "end of file";
    if (t->kind == T_INT || t->kind == T_REAL)
        return arena_printf(&p->c->mem, "'%.15g'", t->num);
    if (t->kind == T_STRING)
        return "a string";
    if (t->kind == T_NAME || t->kind == T_SYSNAME)
        return arena_printf(&p->c->mem, "'%s'", t->s);
    if (t->kind >= T_CONTRIB)
        return arena_printf(&p->c->mem, "'%s'", multi[t->kind - T_CONTRIB]);
    return arena_printf(&p->c->mem, "'%c'", t->kind);
}

/* Gives one message for a place, and none where a macro or an earlier error left nothing useful. */
void va_expected(va_parser *p, const char *what)
{
    p->mod ? (void)(p->mod->bad = true) : (void)0;
    if (p->t->kind == T_ERROR || p->gave_up || p->t == p->complained)
        return;
    p->complained = p->t;
    va_error(p->c, p->t->span, p->t->macro, "expected %s, not %s", what, va_tok_text(p, p->t));
}

static void give_up(va_parser *p)
{
    p->gave_up = true;
    while (p->t->kind != T_EOF)
        p->t++;
}

void va_limit_errors(va_parser *p)
{
    if (diag_full(p->c->d, p->c->n_error))
        give_up(p);
}

bool va_accept(va_parser *p, int kind)
{
    if (p->t->kind != kind)
        return false;
    p->t++;
    return true;
}

bool va_accept_kw(va_parser *p, va_kw kw)
{
    if (p->t->kind != T_NAME || p->t->kw != (int16_t)kw)
        return false;
    p->t++;
    return true;
}

static const char *kind_text(va_parser *p, int kind)
{
    va_tok t = {.kind = (int16_t)kind};
    return kind == T_NAME ? "a name" : va_tok_text(p, &t);
}

/* The place to report a missing ';': behind the last token, not at the next one. */
static bool on_later_line(const va_parser *p, const va_tok *last)
{
    const diag_file *f = &p->c->d->file[last->span.file];
    size_t from = last->span.off + last->span.len;
    size_t to = p->t->span.file == last->span.file ? p->t->span.off : f->len;
    return to > from && memchr(f->text + from, '\n', to - from);
}

bool va_expect(va_parser *p, int kind, const char *after)
{
    if (va_accept(p, kind))
        return true;
    const va_tok *last = p->t > p->c->tok ? p->t - 1 : NULL;
    if (kind == ';' && last && last->macro < 0 && p->t->kind != T_ERROR && !p->gave_up &&
        on_later_line(p, last)) {
        p->mod ? (void)(p->mod->bad = true) : (void)0;
        va_error(p->c, (diag_span){last->span.file, last->span.off + last->span.len, 0}, -1,
                 "expected ';' %s", after);
        return false;
    }
    va_expected(p, after ? arena_printf(&p->c->mem, "%s %s", kind_text(p, kind), after)
                         : kind_text(p, kind));
    return false;
}

/* Recovery: behind the next ';', or before a word that ends or begins something larger. */
void va_skip_to_semi(va_parser *p)
{
    int nest = 0;
    for (; p->t->kind != T_EOF; p->t++) {
        if (p->t->kind == ';' && nest <= 0) {
            p->t++;
            return;
        }
        nest += (p->t->kind == '(') - (p->t->kind == ')');
        if (p->t->kind != T_NAME)
            continue;
        switch (p->t->kw) {
        case KW_END:
        case KW_BEGIN:
        case KW_ENDMODULE:
        case KW_MODULE:
        case KW_ENDFUNCTION:
        case KW_ENDCASE:
        case KW_ANALOG:
        case KW_PARAMETER:
        case KW_ENDDISCIPLINE:
        case KW_ENDNATURE:
        case KW_ENDPARAMSET:
        case KW_IF:
        case KW_ELSE:
        case KW_FOR:
        case KW_WHILE: return;
        default:
            if (nest > 0 && (p->t->kw == KW_REAL || p->t->kw == KW_INTEGER))
                return;
        }
    }
}

/* -- expressions -- */

va_expr *va_new_expr(va_parser *p, ex_kind kind, const va_tok *t)
{
    va_expr *e = arena_new(&p->c->mem, va_expr);
    e->kind = (uint8_t)kind;
    e->span = e->at = t->span;
    e->macro = t->macro;
    e->type = TY_ERROR;
    return e;
}

/* Guards every recursion of the parser; one message for the whole unit. */
static bool enter(va_parser *p)
{
    if (++p->depth <= VA_MAX_NEST)
        return true;
    if (!p->gave_up)
        va_error(p->c, p->t->span, p->t->macro, "nested more than %d levels deep", VA_MAX_NEST);
    give_up(p);
    return false;
}

static void set_args(va_parser *p, va_expr *e, int32_t n, va_expr *const *arg)
{
    e->arg = arena_array(&p->c->mem, va_expr *, n);
    e->n_arg = n;
    for (int32_t i = 0; i < n; i++) {
        e->arg[i] = arg[i];
        e->depth = arg[i]->depth >= e->depth ? arg[i]->depth + 1 : e->depth;
        if (arg[i]->span.off + arg[i]->span.len > e->span.off + e->span.len)
            e->span = diag_join(e->span, arg[i]->span);
    }
    if (e->depth > VA_MAX_NEST && !p->gave_up) {
        va_error(p->c, e->at, e->macro, "expression has more than %d levels", VA_MAX_NEST);
        give_up(p);
    }
    if (e->depth > VA_MAX_NEST) {
        e->kind = EX_ERROR;
        e->n_arg = e->depth = 0;
    }
}

/* argument = expression | "<" name ">" | nothing */
static va_expr *parse_arg(va_parser *p)
{
    if (p->t->kind == ',' || p->t->kind == ')')
        return va_new_expr(p, EX_NULL, p->t);
    if (p->t->kind == '<' && va_is_name(p->t + 1) && p->t[2].kind == '>') {
        va_expr *e = va_new_expr(p, EX_PORT, p->t + 1);
        e->name = p->t[1].s;
        p->t += 3;
        return e;
    }
    return va_parse_expr(p);
}

/* list = item {"," item} close */
static void parse_list(va_parser *p, va_expr *e, int close)
{
    va_expr **arg = NULL;
    if (p->t->kind != close) {
        do
            vec_push(arg, parse_arg(p));
        while (va_accept(p, ','));
    }
    diag_span end = p->t->span;
    if (va_expect(p, close, NULL))
        e->span = diag_join(e->span, end);
    set_args(p, e, (int32_t)vec_len(arg), arg);
    vec_free(arg);
}

/* name | name "(" list ")" | name "[" expression "]" */
static va_expr *parse_name(va_parser *p)
{
    bool sys = p->t->kind == T_SYSNAME;
    va_expr *e = va_new_expr(p, sys ? EX_CALL : EX_NAME, p->t);
    e->name = p->t->s;
    p->t++;
    if (va_accept(p, '(')) {
        e->kind = EX_CALL;
        parse_list(p, e, ')');
    } else if (!sys && va_accept(p, '[')) {
        va_expr *i = va_parse_expr(p);
        diag_span end = p->t->span;
        if (va_expect(p, ']', "after the index"))
            e->span = diag_join(e->span, end);
        set_args(p, e, 1, &i);
    } else if (!sys && p->t->kind == '.' && va_is_name(p->t + 1)) {
        va_error(p->c, p->t->span, p->t->macro, "hierarchical names are not supported");
        if (p->mod)
            p->mod->bad = true;
        p->t += 2;
        e->kind = EX_ERROR;
    }
    return e;
}

/* "'{" list "}" | "{" list "}", with n{...} repetition inside */
static va_expr *parse_braces(va_parser *p)
{
    va_expr *e = va_new_expr(p, EX_LIST, p->t), **arg = NULL;
    if (!enter(p))
        return e;
    p->t++;
    do {
        va_expr *x = va_parse_expr(p);
        if (p->t->kind == '{') { /* n{a, b} */
            va_expr *rep = parse_braces(p);
            double n = 0;
            if (!va_const_value(x, &n) || n < 1 || n > VA_MAX_ARRAY) {
                va_error(p->c, x->span, x->macro, "expected a constant count of repetitions");
                n = 1;
            }
            if (n * rep->n_arg + (double)vec_len(arg) > VA_MAX_ARRAY) {
                va_error(p->c, x->span, x->macro, "a list has at most %d elements",
                         (int)VA_MAX_ARRAY);
                n = 0;
            }
            for (int i = 0; i < (int)n; i++)
                for (int32_t k = 0; k < rep->n_arg; k++)
                    vec_push(arg, rep->arg[k]);
        } else {
            vec_push(arg, x);
        }
    } while (va_accept(p, ','));
    diag_span end = p->t->span;
    if (va_expect(p, '}', "at the end of the list"))
        e->span = diag_join(e->span, end);
    p->depth--;
    set_args(p, e, (int32_t)vec_len(arg), arg);
    vec_free(arg);
    return e;
}

static va_expr *parse_parens(va_parser *p)
{
    const va_tok *open = p->t++;
    va_expr *e = va_parse_expr(p);
    diag_span end = p->t->span;
    if (va_expect(p, ')', NULL))
        e->span = diag_join(open->span, end);
    return e;
}

/* primary = number | string | name ... | "(" expression ")" | list | "inf" */
static va_expr *parse_primary(va_parser *p)
{
    va_expr *e;
    switch (p->t->kind) {
    case T_INT:
    case T_REAL:
        e = va_new_expr(p, EX_NUM, p->t);
        e->num = p->t->num;
        e->type = p->t->kind == T_INT ? VA_INTEGER : VA_REAL;
        p->t++;
        return e;
    case T_STRING:
        e = va_new_expr(p, EX_STR, p->t);
        e->name = p->t->s;
        p->t++;
        return e;
    case T_SYSNAME: return parse_name(p);
    case '(': return parse_parens(p);
    case '{':
    case T_APOS_BRACE: return parse_braces(p);
    case T_ERROR:
        e = va_new_expr(p, EX_ERROR, p->t++);
        if (p->mod)
            p->mod->bad = true;
        if (va_accept(p, '(')) /* arguments of an unknown macro */
            parse_list(p, e, ')');
        e->n_arg = 0;
        return e;
    case T_ATTR_OPEN: /* "(*" can only begin an attribute here: f (* attr *) (x) */
        va_parse_attrs(p);
        return parse_primary(p);
    default:
        if (va_accept_kw(p, KW_INF)) {
            e = va_new_expr(p, EX_INF, p->t - 1);
            e->num = 1;
            return e;
        }
        if (va_is_name(p->t))
            return parse_name(p);
        va_expected(p, "an expression");
        return va_new_expr(p, EX_ERROR, p->t);
    }
}

/* unary = {"+" | "-" | "!" | "~"} primary */
static va_expr *parse_unary(va_parser *p)
{
    const va_tok *t = p->t;
    switch (t->kind) {
    case '+':
    case '-':
    case '!':
    case '~':
    case '&':
    case '|':
    case '^':
    case T_XNOR:
    case T_NAND:
    case T_NOR: break;
    default: return parse_primary(p);
    }
    if (!enter(p))
        return va_new_expr(p, EX_ERROR, p->t);
    p->t++;
    va_expr *x = parse_unary(p);
    p->depth--;
    if (x->kind == EX_INF && (t->kind == '-' || t->kind == '+')) {
        x->num = t->kind == '-' ? -x->num : x->num;
        return x;
    }
    va_expr *e = va_new_expr(p, EX_UN, t);
    e->op = t->kind;
    set_args(p, e, 1, &x);
    return e;
}

static int precedence(int kind)
{
    switch (kind) {
    case T_POW: return 11;
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case T_SHL:
    case T_SHR:
    case T_ASHR: return 8;
    case '<':
    case '>':
    case T_LE:
    case T_GE: return 7;
    case T_EQ:
    case T_NE: return 6;
    case '&': return 5;
    case '^':
    case T_XNOR: return 4;
    case '|': return 3;
    case T_AND: return 2;
    case T_OR: return 1;
    default: return 0;
    }
}

/* binary = unary {operator binary}, by precedence, all from left to right */
static va_expr *parse_binary(va_parser *p, int min)
{
    va_expr *left = parse_unary(p);
    int prec;
    while ((prec = precedence(p->t->kind)) >= min) {
        const va_tok *t = p->t++;
        va_expr *two[2] = {left, parse_binary(p, prec + 1)};
        va_expr *e = va_new_expr(p, EX_BIN, t);
        e->op = t->kind;
        e->span = left->span;
        set_args(p, e, 2, two);
        left = e;
    }
    return left;
}

/* expression = binary ["?" expression ":" expression] */
va_expr *va_parse_expr(va_parser *p)
{
    if (!enter(p))
        return va_new_expr(p, EX_ERROR, p->t);
    va_expr *e = parse_binary(p, 1);
    if (p->t->kind == '?') {
        const va_tok *t = p->t++;
        va_expr *three[3] = {e};
        three[1] = va_parse_expr(p);
        if (va_expect(p, ':', "of the '?' operator")) {
            three[2] = va_parse_expr(p);
            e = va_new_expr(p, EX_COND, t);
            e->span = three[0]->span;
            set_args(p, e, 3, three);
        }
    }
    p->depth--;
    return e;
}

/* -- statements -- */

static va_stmt *new_stmt(va_parser *p, st_kind kind, const va_tok *t)
{
    va_stmt *s = arena_new(&p->c->mem, va_stmt);
    s->kind = (uint8_t)kind;
    s->span = t->span;
    s->macro = t->macro;
    return s;
}

static void set_body(va_parser *p, va_stmt *s, int32_t n, va_stmt *const *body)
{
    s->body = arena_array(&p->c->mem, va_stmt *, n);
    s->n_body = n;
    for (int32_t i = 0; i < n; i++)
        s->body[i] = body[i];
}

static bool at_var_decl(const va_parser *p)
{
    if (p->t->kind != T_NAME)
        return false;
    switch (p->t->kw) {
    case KW_REAL:
    case KW_INTEGER:
    case KW_STRING:
    case KW_REALTIME:
    case KW_TIME: return true;
    default: return false;
    }
}

static bool at_end_of_block(const va_parser *p)
{
    if (p->t->kind == T_EOF)
        return true;
    if (p->t->kind != T_NAME)
        return false;
    switch (p->t->kw) {
    case KW_END:
    case KW_ENDMODULE:
    case KW_MODULE:
    case KW_ENDFUNCTION:
    case KW_ENDCASE:
    case KW_ENDGENERATE: return true;
    default: return false;
    }
}

/* Declarations inside a block; parameters there are only localparam-like and refused. */
static bool parse_block_decl(va_parser *p, va_stmt *s)
{
    va_attr *attr = p->t->kind == T_ATTR_OPEN ? va_parse_attrs(p) : NULL;
    if (at_var_decl(p)) {
        va_parse_var_decl(p, &s->decl, attr);
        return true;
    }
    if (p->t->kind == T_NAME && (p->t->kw == KW_PARAMETER || p->t->kw == KW_LOCALPARAM)) {
        va_error(p->c, p->t->span, p->t->macro, "parameters inside a block are not supported");
        p->mod->bad = true;
        p->t++;
        va_skip_to_semi(p);
        return true;
    }
    return false;
}

/* block = "begin" [":" name] {declaration} {statement} "end" */
static va_stmt *parse_block(va_parser *p, bool of_if)
{
    va_stmt *s = new_stmt(p, ST_BLOCK, p->t++), **body = NULL;
    if (va_accept(p, ':') && va_expect(p, T_NAME, "of the block"))
        s->name = p->t[-1].s;
    while (!at_end_of_block(p) && !(of_if && p->t->kind == T_NAME && p->t->kw == KW_ELSE)) {
        if (parse_block_decl(p, s))
            continue;
        vec_push(body, va_parse_stmt(p));
    }
    if (!va_accept_kw(p, KW_END)) {
        va_expected(p, "'end'");
        if (!p->gave_up)
            diag_note(p->c->d, s->span, "of the block that begins here");
    } else if (p->t->kind == ':' && va_is_name(p->t + 1)) {
        p->t += 2;
    }
    set_body(p, s, (int32_t)vec_len(body), body);
    vec_free(body);
    va_own(p->c, s->decl);
    return s;
}

static va_expr *parse_condition(va_parser *p, const char *after)
{
    if (!va_expect(p, '(', after))
        return va_new_expr(p, EX_ERROR, p->t);
    va_expr *e = va_parse_expr(p);
    if (!va_expect(p, ')', NULL) && p->t->kind == '=') {
        diag_note(p->c->d, DIAG_NOWHERE, "did you mean '=='?");
        p->t++;
        (void)va_parse_expr(p);
        va_accept(p, ')');
    }
    return e;
}

/* "if" "(" expression ")" statement ["else" statement] */
static va_stmt *parse_if(va_parser *p)
{
    va_stmt *s = new_stmt(p, ST_IF, p->t++), *arm[2] = {NULL, NULL};
    s->rhs = parse_condition(p, "after 'if'");
    bool block = p->t->kind == T_NAME && p->t->kw == KW_BEGIN;
    arm[0] = block ? parse_block(p, true) : va_parse_stmt(p);
    if (va_accept_kw(p, KW_ELSE))
        arm[1] = va_parse_stmt(p);
    set_body(p, s, 2, arm);
    return s;
}

/* assignment without ';' in the head of a for loop */
static va_stmt *parse_assign(va_parser *p)
{
    va_stmt *s = new_stmt(p, ST_ASSIGN, p->t);
    if (!va_is_name(p->t)) {
        va_expected(p, "an assignment");
        s->kind = ST_NULL;
        return s;
    }
    s->lhs = parse_name(p);
    va_expect(p, '=', NULL);
    s->rhs = va_parse_expr(p);
    return s;
}

/* "for" "(" assign ";" expression ";" assign ")" statement */
static va_stmt *parse_for(va_parser *p)
{
    va_stmt *s = new_stmt(p, ST_FOR, p->t++), *part[3];
    va_expect(p, '(', "after 'for'");
    if (va_accept_kw(p, KW_GENVAR) || va_accept_kw(p, KW_INTEGER)) {
        va_error(p->c, p->t[-1].span, p->t[-1].macro, "declare the loop variable before the loop");
        p->mod->bad = true;
    }
    part[0] = parse_assign(p);
    va_expect(p, ';', "in 'for'");
    s->rhs = va_parse_expr(p);
    va_expect(p, ';', "in 'for'");
    part[1] = parse_assign(p);
    va_expect(p, ')', "in 'for'");
    part[2] = va_parse_stmt(p);
    set_body(p, s, 3, part);
    return s;
}

static va_stmt *parse_while(va_parser *p, st_kind kind)
{
    va_stmt *s = new_stmt(p, kind, p->t++), *body;
    s->rhs = parse_condition(p, kind == ST_WHILE ? "after 'while'" : "after 'repeat'");
    body = va_parse_stmt(p);
    set_body(p, s, 1, &body);
    return s;
}

/* item = expression {"," expression} ":" statement | "default" [":"] statement */
static void parse_case_item(va_parser *p, va_expr ***value, va_stmt **body)
{
    if (va_accept_kw(p, KW_DEFAULT)) {
        va_accept(p, ':');
    } else {
        do
            vec_push(*value, va_parse_expr(p));
        while (va_accept(p, ','));
        va_expect(p, ':', "after the values of a case item");
    }
    *body = va_parse_stmt(p);
}

static va_stmt *parse_case(va_parser *p)
{
    va_stmt *s = new_stmt(p, ST_CASE, p->t++), **body = NULL;
    if (p->t[-1].kw != KW_CASE) {
        va_error(p->c, s->span, s->macro, "'%s' is not supported in analog code: use 'case'",
                 p->t[-1].s);
        p->mod->bad = true;
    }
    va_expr ***item = NULL;
    s->rhs = parse_condition(p, "after 'case'");
    while (!at_end_of_block(p)) {
        va_expr **value = NULL;
        va_stmt *b;
        const va_tok *before = p->t;
        parse_case_item(p, &value, &b);
        vec_push(item, value);
        vec_push(body, b);
        if (p->t == before)
            p->t++;
    }
    if (!va_accept_kw(p, KW_ENDCASE)) {
        va_expected(p, "'endcase'");
        if (!p->gave_up)
            diag_note(p->c->d, s->span, "of the 'case' that begins here");
    } else if (!vec_len(body)) {
        va_error(p->c, s->span, s->macro, "'case' has no items");
        p->mod->bad = true;
    }
    int32_t n = (int32_t)vec_len(body);
    set_body(p, s, n, body);
    s->item = arena_array(&p->c->mem, va_expr **, n);
    s->n_item = arena_array(&p->c->mem, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        s->n_item[i] = (int32_t)vec_len(item[i]);
        s->item[i] = arena_array(&p->c->mem, va_expr *, s->n_item[i]);
        if (s->n_item[i])
            memcpy(s->item[i], item[i], sizeof *item[i] * vec_len(item[i]));
        vec_free(item[i]);
    }
    vec_free(item);
    vec_free(body);
    return s;
}

/* "@" "(" event {"or" event} ")" statement; event = name ["(" list ")"] */
static va_stmt *parse_event(va_parser *p)
{
    va_stmt *s = new_stmt(p, ST_EVENT, p->t++), *body;
    va_expr **event = NULL;
    if (va_expect(p, '(', "after '@'")) {
        do {
            if (p->t->kind != T_NAME) {
                va_expected(p, "an event");
                break;
            }
            vec_push(event, parse_name(p));
        } while (va_accept(p, ',') || (p->t->kind == T_NAME && !strcmp(p->t->s, "or") && p->t++));
        va_expect(p, ')', "after the event");
    }
    s->n_event = (int32_t)vec_len(event);
    s->event = arena_array(&p->c->mem, va_expr *, s->n_event);
    for (int32_t i = 0; i < s->n_event; i++)
        s->event[i] = event[i];
    vec_free(event);
    body = va_parse_stmt(p);
    set_body(p, s, 1, &body);
    return s;
}

/* lvalue "=" expression ";" | access "<+" expression ";" | access ":" expression ";" | call ";" */
static va_stmt *parse_simple(va_parser *p)
{
    const va_tok *t = p->t;
    va_expr *lhs = parse_name(p);
    va_stmt *s = new_stmt(p, ST_TASK, t);
    bool ok = true;
    if (va_accept(p, '=')) {
        s->kind = ST_ASSIGN;
        s->lhs = lhs;
        s->rhs = va_parse_expr(p);
    } else if (va_accept(p, T_CONTRIB)) {
        s->kind = ST_CONTRIB;
        s->lhs = lhs;
        s->rhs = va_parse_expr(p);
    } else if (va_accept(p, ':')) {
        s->kind = ST_INDIRECT;
        s->lhs = lhs;
        s->rhs = va_parse_expr(p);
    } else if (lhs->kind == EX_CALL) {
        s->rhs = lhs;
    } else {
        va_expected(p, lhs->kind == EX_NAME ? "'=', '<+' or '('" : "a statement");
        s->kind = ST_NULL;
        ok = false;
    }
    if (!ok) {
        s->kind = ST_NULL;
        va_skip_to_semi(p);
    } else if (!va_expect(p, ';', "at the end of the statement")) {
        if (p->t->kind == '<' && p->t[1].kind == '+')
            diag_note(p->c->d, DIAG_NOWHERE, "did you mean '<+'?");
        if (s->kind == ST_TASK)
            s->kind = ST_NULL;
        va_skip_to_semi(p);
    }
    return s;
}

static va_stmt *refuse(va_parser *p, const char *what)
{
    va_stmt *s = new_stmt(p, ST_NULL, p->t);
    va_error(p->c, p->t->span, p->t->macro, "%s", what);
    if (p->mod)
        p->mod->bad = true;
    p->t++;
    va_skip_to_semi(p);
    return s;
}

static va_stmt *parse_keyword_stmt(va_parser *p)
{
    switch (p->t->kw) {
    case KW_BEGIN: return parse_block(p, false);
    case KW_IF: return parse_if(p);
    case KW_FOR: return parse_for(p);
    case KW_WHILE: return parse_while(p, ST_WHILE);
    case KW_REPEAT: return parse_while(p, ST_REPEAT);
    case KW_CASE:
    case KW_CASEX:
    case KW_CASEZ: return parse_case(p);
    case KW_GENERATE: p->t++; return va_parse_stmt(p);
    case KW_FOREVER: return refuse(p, "'forever' never ends: expected another loop");
    case KW_ANALOG: {
        if (!p->generate)
            break;
        p->generate = false;
        p->t++;
        va_stmt *s = va_parse_stmt(p);
        p->generate = true;
        return s;
    }
    case KW_ASSIGN: return refuse(p, "'assign' is not supported in analog code");
    case KW_ELSE: return refuse(p, "'else' without 'if'");
    case KW_REAL:
    case KW_INTEGER:
    case KW_STRING: return refuse(p, "declarations must stand at the begin of a block");
    default: break;
    }
    va_expected(p, "a statement");
    va_stmt *s = new_stmt(p, ST_NULL, p->t);
    if (!at_end_of_block(p)) {
        p->t++;
        va_skip_to_semi(p);
    }
    return s;
}

va_stmt *va_parse_stmt(va_parser *p)
{
    if (!enter(p))
        return new_stmt(p, ST_NULL, p->t);
    va_stmt *s;
    while (p->t->kind == T_ATTR_OPEN)
        va_parse_attrs(p);
    const va_tok *t = p->t;
    if (p->generate && (va_is_name(t) || t->kind == T_SYSNAME)) {
        s = refuse(p, "a generate construct can only hold 'analog' blocks");
    } else if (va_is_name(t) || t->kind == T_SYSNAME) {
        s = parse_simple(p);
    } else if (t->kind == T_NAME) {
        s = parse_keyword_stmt(p);
    } else if (t->kind == '@') {
        s = parse_event(p);
    } else if (t->kind == ';') {
        s = new_stmt(p, ST_NULL, p->t++);
    } else if (t->kind == T_ERROR) {
        s = new_stmt(p, ST_NULL, t);
        if (p->mod)
            p->mod->bad = true;
        va_parse_expr(p);
        va_accept(p, ';');
    } else {
        s = new_stmt(p, ST_NULL, t);
        va_expected(p, "a statement");
        if (t->kind != T_EOF)
            p->t++;
        va_skip_to_semi(p);
    }
    va_limit_errors(p);
    p->depth--;
    return s;
}
