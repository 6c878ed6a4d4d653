/* va_parse.c - Verilog-A parser: natures, disciplines, modules, paramsets and their declarations.
 * Source: Verilog-AMS LRM 2.4, annex A.1 to A.4.
 * Errors: one message at the first wrong token, then on behind the next ';' or at the next word
 * that
 *         begins something; the rest of the text is checked too. */
#include "va_ast.h"

#include <stdlib.h>
#include <string.h>

static va_sym *new_symbol(va_parser *p, sy_kind kind, const va_tok *name)
{
    va_sym *s = arena_new(&p->c->mem, va_sym);
    s->kind = (uint8_t)kind;
    s->name = name->s;
    s->span = name->span;
    s->macro = name->macro;
    s->n = s->step = 1;
    s->type = VA_REAL;
    s->index = -1;
    return s;
}

static bool at_kw(const va_parser *p, va_kw kw)
{
    return p->t->kind == T_NAME && p->t->kw == (int16_t)kw;
}

/* A name; words like `inf` that have a meaning elsewhere are names too. */
static const va_tok *expect_name(va_parser *p, const char *what)
{
    if (va_is_name(p->t))
        return p->t++;
    if (p->t->kind == T_NAME && strchr("=;,()[", p->t[1].kind < 128 ? p->t[1].kind : '?')) {
        va_error(p->c, p->t->span, p->t->macro, "expected %s, not '%s', which is a reserved word",
                 what, p->t->s);
        p->mod ? (void)(p->mod->bad = true) : (void)0;
        return p->t++;
    }
    va_expected(p, what);
    return NULL;
}

static void semi(va_parser *p, const char *after)
{
    if (!va_expect(p, ';', after))
        va_skip_to_semi(p);
}

/* "(*" name ["=" expression] {"," ...} "*)" */
va_attr *va_parse_attrs(va_parser *p)
{
    va_attr *first = NULL, **end = &first;
    while (va_accept(p, T_ATTR_OPEN)) {
        while (p->t->kind == T_NAME) {
            va_attr *a = arena_new(&p->c->mem, va_attr);
            a->name = p->t->s;
            p->t++;
            if (va_accept(p, '='))
                a->value = va_parse_expr(p);
            *end = a;
            end = &a->next;
            if (!va_accept(p, ','))
                break;
        }
        if (!va_accept(p, T_ATTR_CLOSE)) {
            va_expected(p, "'*)' at the end of the attributes");
            while (p->t->kind != T_EOF && p->t->kind != T_ATTR_CLOSE && p->t->kind != ';')
                p->t++;
            va_accept(p, T_ATTR_CLOSE);
        }
    }
    return first;
}

/* -- text of expressions, for people -- */

static void put_token(char **buf, const va_tok *t, va_parser *p)
{
    const char *s;
    if (t->kind == T_STRING) {
        s = arena_printf(&p->c->mem, "\"%s\"", t->s);
    } else if (t->kind == T_INT || t->kind == T_REAL) {
        s = arena_printf(&p->c->mem, "%.6g", t->num);
        for (int prec = 7; strtod(s, NULL) != t->num && prec <= 17; prec++)
            s = arena_printf(&p->c->mem, "%.*g", prec, t->num);
    } else if (t->kind == T_NAME || t->kind == T_SYSNAME) {
        s = t->s;
    } else {
        s = va_tok_text(p, t);
        s = arena_strndup(&p->c->mem, s + 1, strlen(s) > 2 ? strlen(s) - 2 : 0);
    }
    size_t n = strlen(s), old = vec_len(*buf);
    char last = old ? (*buf)[old - 1] : ' ';
    bool after_word = last == '_' || (last >= '0' && last <= '9') || (last >= 'A' && last <= 'z');
    bool word = t->kind == T_NAME || t->kind == T_INT || t->kind == T_REAL;
    if (after_word && (word || (t->kind == '(' && old >= 4 && !memcmp(*buf + old - 4, "from", 4))))
        vec_push(*buf, ' ');
    old = vec_len(*buf);
    vec_extend(*buf, n);
    memcpy(*buf + old, s, n);
    if (t->kind == ',' || (t->kind == T_NAME && (t->kw == KW_FROM || t->kw == KW_EXCLUDE)))
        vec_push(*buf, ' ');
}

static const char *token_text(va_parser *p, const va_tok *from, const va_tok *to)
{
    enum { MAX_SHOWN = 200 };
    char *buf = NULL;
    for (const va_tok *t = from; t < to && vec_len(buf) < MAX_SHOWN; t++)
        put_token(&buf, t, p);
    size_t n = vec_len(buf);
    while (n && buf[n - 1] == ' ')
        n--;
    const char *s = str_intern(p->c->names, buf ? buf : "", n);
    vec_free(buf);
    return s;
}

/* -- dimensions, types, ranges -- */

/* "[" expression ":" expression "]" | "[" expression "]" (elements 0 .. n-1) */
static void parse_dims(va_parser *p, va_sym *s)
{
    while (va_accept(p, '[')) {
        if (s->array) {
            va_error(p->c, p->t[-1].span, p->t[-1].macro,
                     "arrays with two dimensions are not supported");
            p->mod->bad = true;
        }
        s->array = true;
        s->left = va_parse_expr(p);
        s->right = va_accept(p, ':') ? va_parse_expr(p) : NULL;
        va_expect(p, ']', "after the bounds");
    }
}

static bool accept_type(va_parser *p, va_type *type)
{
    if (va_accept_kw(p, KW_REAL) || va_accept_kw(p, KW_REALTIME) || va_accept_kw(p, KW_TIME))
        *type = VA_REAL;
    else if (va_accept_kw(p, KW_INTEGER))
        *type = VA_INTEGER;
    else if (va_accept_kw(p, KW_STRING))
        *type = VA_STRING;
    else
        return false;
    return true;
}

/* interval = ("[" | "(") bound ":" bound ("]" | ")") ; list = "'{" ... "}" | value */
static va_range *parse_range(va_parser *p, bool exclude)
{
    va_range *r = arena_new(&p->c->mem, va_range);
    r->exclude = exclude;
    if (p->t->kind != '[' && p->t->kind != '(') {
        r->is_list = true;
        r->lo = va_parse_expr(p);
        return r;
    }
    const va_tok *start = p->t;
    r->lo_open = p->t++->kind == '(';
    r->lo = va_parse_expr(p);
    if (r->lo_open && exclude && p->t->kind == ')') { /* exclude (value) */
        p->t = start;
        r->lo_open = false;
        r->is_list = true;
        r->lo = va_parse_expr(p);
        return r;
    }
    va_expect(p, ':', "between the bounds of the range");
    r->hi = va_parse_expr(p);
    r->hi_open = p->t->kind == ')';
    if (!va_accept(p, ')') && !va_accept(p, ']'))
        va_expected(p, "']' or ')' at the end of the range");
    return r;
}

static void parse_ranges(va_parser *p, va_sym *s)
{
    va_range **end = &s->range;
    const va_tok *from = p->t;
    while (at_kw(p, KW_FROM) || at_kw(p, KW_EXCLUDE)) {
        bool exclude = p->t++->kw == KW_EXCLUDE;
        *end = parse_range(p, exclude);
        end = &(*end)->next;
    }
    s->text_range = token_text(p, from, p->t);
}

/* ("parameter" | "localparam") [type] [dims] name [dims] "=" expression {range} {"," ...} */
static void parse_param_decl(va_parser *p, va_attr *attr, bool closing_semi)
{
    bool local = p->t++->kw == KW_LOCALPARAM;
    va_sym model = {0};
    va_type type = VA_REAL;
    bool untyped = !accept_type(p, &type);
    va_accept_kw(p, KW_SIGNED);
    parse_dims(p, &model);
    do {
        const va_tok *name = expect_name(p, "the name of a parameter");
        if (!name) {
            va_skip_to_semi(p);
            return;
        }
        va_sym *s = new_symbol(p, SY_PARAM, name);
        s->local = local;
        s->type = (uint8_t)type;
        s->untyped = untyped;
        s->attr = attr;
        s->array = model.array;
        s->left = model.left;
        s->right = model.right;
        parse_dims(p, s);
        if (va_expect(p, '=', "after the name of a parameter")) {
            const va_tok *from = p->t;
            s->init = va_parse_expr(p);
            s->text_dflt = token_text(p, from, p->t);
        } else {
            s->init = va_new_expr(p, EX_ERROR, p->t);
            s->text_dflt = "";
        }
        parse_ranges(p, s);
        vec_push(p->mod->decl, s);
        if (!closing_semi && p->t->kind == ',' && p->t[1].kind == T_NAME &&
            (p->t[1].kw == KW_PARAMETER || p->t[1].kw == KW_LOCALPARAM))
            return;
    } while (va_accept(p, ','));
    if (closing_semi)
        semi(p, "after the declaration");
}

/* type [dims] name [dims] ["=" expression] {"," ...} ";" */
void va_parse_var_decl(va_parser *p, va_sym ***decl, va_attr *attr)
{
    va_sym model = {0};
    va_type type = VA_REAL;
    if (p->t->kind == T_NAME && p->t->kw == KW_REG)
        p->t++;
    accept_type(p, &type);
    parse_dims(p, &model);
    do {
        const va_tok *name = expect_name(p, "the name of a variable");
        if (!name) {
            va_skip_to_semi(p);
            return;
        }
        va_sym *s = new_symbol(p, SY_VAR, name);
        s->type = (uint8_t)type;
        s->attr = attr;
        s->array = model.array;
        s->left = model.left;
        s->right = model.right;
        s->in_func = p->func != NULL;
        parse_dims(p, s);
        if (va_accept(p, '='))
            s->init = va_parse_expr(p);
        vec_push(*decl, s);
    } while (va_accept(p, ','));
    semi(p, "after the declaration");
}

/* -- nodes and branches -- */

static va_sym *find_decl(va_sym **v, const char *name, sy_kind kind)
{
    for (size_t i = 0; i < vec_len(v); i++)
        if (v[i]->name == name && v[i]->kind == kind)
            return v[i];
    return NULL;
}

/* The node of that name, made at its first mention (a port is declared up to three times). */
static va_sym *mention_node(va_parser *p, const va_tok *name, const va_sym *model)
{
    va_sym *s = find_decl(p->mod->decl, name->s, SY_NODE);
    if (!s) {
        s = new_symbol(p, SY_NODE, name);
        vec_push(p->mod->decl, s);
    }
    if (model->array && !s->array) {
        s->array = true;
        s->left = model->left;
        s->right = model->right;
    }
    return s;
}

/* ("input" | "output" | "inout") [discipline] [dims] name {"," name} */
static void parse_direction(va_parser *p, bool in_header)
{
    va_sym model = {0};
    const va_tok *disc = NULL;
    int kw = p->t++->kw;
    va_accept_kw(p, KW_WIRE);
    if (va_is_name(p->t) && (va_is_name(p->t + 1) || p->t[1].kind == '['))
        if (va_is_name(p->t + 1) || map_get(&p->c->disc_of, map_key(p->t->s), -1) >= 0)
            disc = p->t++;
    parse_dims(p, &model);
    do {
        const va_tok *name = expect_name(p, "the name of a port");
        if (!name) {
            if (!in_header)
                va_skip_to_semi(p);
            return;
        }
        va_sym *s =
            in_header ? mention_node(p, name, &model) : find_decl(p->mod->port, name->s, SY_NODE);
        if (!s) {
            va_error(p->c, name->span, name->macro, "'%s' is not in the port list of module '%s'",
                     name->s, p->mod->name);
            p->mod->bad = true;
            s = mention_node(p, name, &model);
        }
        if (!in_header)
            mention_node(p, name, &model);
        else if (!s->port)
            vec_push(p->mod->port, s);
        s->port = true;
        s->input = s->input || kw != KW_OUTPUT;
        s->output = s->output || kw != KW_INPUT;
        if (disc) {
            s->disc_name = disc->s;
            s->disc_span = disc->span;
        }
        if (in_header && p->t->kind == ',' &&
            !(va_is_name(p->t + 1) && (p->t[2].kind == ',' || p->t[2].kind == ')')))
            return;
    } while (va_accept(p, ','));
    if (!in_header)
        semi(p, "after the declaration");
}

/* discipline [dims] name [dims] ["=" expression] {"," ...} ";" */
static void parse_net_decl(va_parser *p, va_attr *attr)
{
    const va_tok *disc = p->t++;
    va_sym model = {0};
    parse_dims(p, &model);
    do {
        const va_tok *name = expect_name(p, "the name of a node");
        if (!name) {
            va_skip_to_semi(p);
            return;
        }
        va_sym *s = mention_node(p, name, &model);
        if (s->disc_name && s->disc_name != disc->s) {
            va_error(p->c, name->span, name->macro, "node '%s' already has the discipline '%s'",
                     name->s, s->disc_name);
            p->mod->bad = true;
        } else if (s->disc_name && !s->port) {
            va_error(p->c, name->span, name->macro, "'%s' is declared twice", name->s);
            diag_note(p->c->d, s->span, "first here");
            p->mod->bad = true;
        }
        s->disc_name = disc->s;
        s->disc_span = disc->span;
        s->attr = s->attr ? s->attr : attr;
        if (p->t->kind == '[' && !s->array)
            parse_dims(p, s);
        if (va_accept(p, '=')) {
            va_warning(p->c, p->t[-1].span, p->t[-1].macro, "initial value of a node is ignored");
            va_parse_expr(p);
        }
    } while (va_accept(p, ','));
    semi(p, "after the declaration");
}

static void parse_ground(va_parser *p)
{
    va_sym model = {0};
    p->t++;
    if (va_is_name(p->t) && va_is_name(p->t + 1)) /* ground electrical gnd */
        p->t++;
    do {
        const va_tok *name = expect_name(p, "the name of a node");
        if (!name) {
            va_skip_to_semi(p);
            return;
        }
        va_sym *s = mention_node(p, name, &model);
        if (s->port) {
            va_error(p->c, name->span, name->macro, "port '%s' cannot be the ground", name->s);
            p->mod->bad = true;
        }
        s->ground = !s->port;
    } while (va_accept(p, ','));
    semi(p, "after the declaration");
}

/* "branch" "(" node ["," node] ")" [dims] name {"," name} ";" */
static void parse_branch(va_parser *p)
{
    p->t++;
    va_expr *hi = NULL, *lo = NULL;
    if (!va_expect(p, '(', "after 'branch'")) {
        va_skip_to_semi(p);
        return;
    }
    hi = p->t->kind == '<' ? NULL : va_parse_expr(p);
    if (!hi) {
        va_error(p->c, p->t->span, p->t->macro,
                 "port branches are not supported: write I(<port>) where the current is read");
        p->mod->bad = true;
        va_skip_to_semi(p);
        return;
    }
    if (va_accept(p, ','))
        lo = va_parse_expr(p);
    va_expect(p, ')', "after the terminals of the branch");
    va_sym model = {0};
    parse_dims(p, &model);
    do {
        const va_tok *name = expect_name(p, "the name of a branch");
        if (!name) {
            va_skip_to_semi(p);
            return;
        }
        va_sym *s = new_symbol(p, SY_BRANCH, name);
        s->hi = hi;
        s->lo = lo;
        s->array = model.array;
        s->left = model.left;
        s->right = model.right;
        parse_dims(p, s);
        vec_push(p->mod->decl, s);
    } while (va_accept(p, ','));
    semi(p, "after the declaration");
}

/* "aliasparam" name "=" name {"," ...} ";" */
static void parse_alias(va_parser *p)
{
    p->t++;
    do {
        const va_tok *name = expect_name(p, "the name of the alias");
        if (!name || !va_expect(p, '=', "after the name of the alias") ||
            !(va_is_name(p->t) || p->t->kind == T_SYSNAME)) {
            if (name && p->t[-1].kind == '=')
                va_expected(p, "the name of a parameter");
            va_skip_to_semi(p);
            return;
        }
        va_sym *s = new_symbol(p, SY_ALIAS, name);
        s->target = p->t->s;
        s->disc_span = p->t->span;
        p->t++;
        vec_push(p->mod->decl, s);
    } while (va_accept(p, ','));
    semi(p, "after the declaration");
}

static void parse_genvar(va_parser *p)
{
    p->t++;
    do {
        const va_tok *name = expect_name(p, "the name of a genvar");
        if (!name) {
            va_skip_to_semi(p);
            return;
        }
        va_sym *s = new_symbol(p, SY_GENVAR, name);
        s->type = VA_INTEGER;
        vec_push(p->mod->decl, s);
    } while (va_accept(p, ','));
    semi(p, "after the declaration");
}

/* -- functions -- */

static void declared_twice(va_parser *p, const va_sym *first, diag_span at)
{
    va_error(p->c, at, first->macro, "'%s' is declared twice", first->name);
    diag_note(p->c->d, first->span, "first here");
    p->mod->bad = true;
}

static void function_arg(va_parser *p, va_func *f, const va_tok *name, bool in, bool out,
                         const va_sym *model)
{
    va_sym *s = find_decl(f->decl, name->s, SY_VAR);
    if (!s) {
        s = new_symbol(p, SY_VAR, name);
        s->in_func = true;
        s->type = model->type;
        vec_push(f->decl, s);
    }
    s->array = s->array || model->array;
    s->left = model->left ? model->left : s->left;
    s->right = model->right ? model->right : s->right;
    if (s->input || s->output)
        declared_twice(p, s, name->span);
    s->input = in;
    s->output = out;
    vec_push(f->arg, s);
}

/* ("input" | "output" | "inout") [type] [dims] name {"," name} */
static void parse_function_dir(va_parser *p, va_func *f, bool in_header)
{
    bool in = p->t->kw != KW_OUTPUT, out = p->t->kw != KW_INPUT;
    va_sym model = {0};
    va_type type = VA_REAL;
    p->t++;
    accept_type(p, &type);
    model.type = (uint8_t)type;
    parse_dims(p, &model);
    do {
        if (in_header && p->t->kind == T_NAME && !va_is_name(p->t))
            return;
        const va_tok *name = expect_name(p, "the name of an argument");
        if (!name) {
            va_skip_to_semi(p);
            return;
        }
        function_arg(p, f, name, in, out, &model);
        if (in_header && p->t->kind == ')')
            return;
    } while (va_accept(p, ','));
    if (!in_header)
        semi(p, "after the declaration");
}

/* Gives arguments the types of their second declaration. */
static void parse_function_vars(va_parser *p, va_func *f)
{
    va_sym **more = NULL;
    va_parse_var_decl(p, &more, NULL);
    for (size_t i = 0; i < vec_len(more); i++) {
        va_sym *old = find_decl(f->decl, more[i]->name, SY_VAR);
        if (old && old->typed)
            declared_twice(p, old, more[i]->span);
        (old ? old : more[i])->typed = true;
        if (!old) {
            vec_push(f->decl, more[i]);
            continue;
        }
        old->type = more[i]->type;
        old->array = old->array || more[i]->array;
        old->left = more[i]->left ? more[i]->left : old->left;
        old->right = more[i]->right ? more[i]->right : old->right;
        if (more[i]->init && !old->init)
            old->init = more[i]->init;
    }
    vec_free(more);
}

static void parse_function_body(va_parser *p, va_func *f)
{
    va_stmt **body = NULL;
    const va_tok *start = p->t;
    while (p->t->kind != T_EOF && !at_kw(p, KW_ENDFUNCTION) && !at_kw(p, KW_ENDMODULE) &&
           !at_kw(p, KW_MODULE) && !at_kw(p, KW_ANALOG)) {
        const va_tok *before = p->t;
        if (at_kw(p, KW_INPUT) || at_kw(p, KW_OUTPUT) || at_kw(p, KW_INOUT))
            parse_function_dir(p, f, false);
        else if (at_kw(p, KW_REAL) || at_kw(p, KW_INTEGER) || at_kw(p, KW_STRING))
            parse_function_vars(p, f);
        else
            vec_push(body, va_parse_stmt(p));
        if (p->t == before)
            p->t++;
    }
    if (!va_accept_kw(p, KW_ENDFUNCTION)) {
        va_expected(p, "'endfunction'");
        if (!p->gave_up)
            diag_note(p->c->d, f->sym->span, "of the function that begins here");
    }
    va_stmt *b = arena_new(&p->c->mem, va_stmt);
    b->kind = ST_BLOCK;
    b->span = start->span;
    b->macro = start->macro;
    b->n_body = (int32_t)vec_len(body);
    b->body = arena_array(&p->c->mem, va_stmt *, b->n_body);
    for (int32_t i = 0; i < b->n_body; i++)
        b->body[i] = body[i];
    vec_free(body);
    f->body = b;
}

/* "analog" "function" [type] name ["(" arguments ")"] ";" {declaration} statement "endfunction" */
static void parse_function(va_parser *p)
{
    va_func *f = arena_new(&p->c->mem, va_func);
    va_type type = VA_REAL;
    p->t++;
    accept_type(p, &type);
    const va_tok *name = expect_name(p, "the name of the function");
    if (!name) {
        va_skip_to_semi(p);
        return;
    }
    va_sym *s = new_symbol(p, SY_FUNC, name);
    s->type = (uint8_t)type;
    s->func = f;
    f->sym = s;
    p->func = f;
    f->result = new_symbol(p, SY_VAR, name);
    f->result->type = (uint8_t)type;
    f->result->in_func = true;
    vec_push(f->decl, f->result);
    if (va_accept(p, '(')) {
        while (at_kw(p, KW_INPUT) || at_kw(p, KW_OUTPUT) || at_kw(p, KW_INOUT))
            parse_function_dir(p, f, true);
        va_expect(p, ')', "after the arguments");
    }
    semi(p, "after the head of the function");
    parse_function_body(p, f);
    p->func = NULL;
    va_own(p->c, f->arg);
    va_own(p->c, f->decl);
    vec_push(p->mod->decl, s);
}

/* -- modules -- */

/* Behind the ';' of a statement, or behind the 'end' if it is a block. */
static void skip_statement(va_parser *p)
{
    for (int nest = 0; p->t->kind != T_EOF && !at_kw(p, KW_ENDMODULE); p->t++) {
        nest += at_kw(p, KW_BEGIN) + at_kw(p, KW_CASE) + (p->t->kind == '(');
        nest -= at_kw(p, KW_END) + at_kw(p, KW_ENDCASE) + (p->t->kind == ')');
        if (nest <= 0 && (p->t->kind == ';' || at_kw(p, KW_END) || at_kw(p, KW_ENDCASE))) {
            p->t++;
            return;
        }
    }
}

static void refuse_item(va_parser *p, const char *what)
{
    va_error(p->c, p->t->span, p->t->macro, "%s", what);
    p->mod->bad = true;
    p->t++;
    skip_statement(p);
}

/* name name "(" or name "#": an instance of another module */
static bool at_instance(const va_parser *p)
{
    return va_is_name(p->t) &&
           (p->t[1].kind == '#' || (va_is_name(p->t + 1) && p->t[2].kind == '('));
}

static void parse_name_item(va_parser *p, va_attr *attr)
{
    if (at_instance(p)) {
        va_error(p->c, p->t->span, p->t->macro,
                 "instances of other modules inside a module are not supported ('%s')", p->t->s);
        p->mod->bad = true;
        while (p->t->kind != ';' && p->t->kind != T_EOF && !at_kw(p, KW_ENDMODULE))
            p->t++;
        va_accept(p, ';');
    } else if (map_get(&p->c->disc_of, map_key(p->t->s), -1) >= 0 || va_is_name(p->t + 1) ||
               p->t[1].kind == '[') {
        parse_net_decl(p, attr);
    } else {
        va_expected(p, "a declaration or 'analog'");
        p->t++;
        va_skip_to_semi(p);
    }
}

static void parse_analog(va_parser *p)
{
    p->t++;
    if (at_kw(p, KW_FUNCTION)) {
        parse_function(p);
    } else if (va_accept_kw(p, KW_INITIAL)) {
        vec_push(p->mod->initial, va_parse_stmt(p));
    } else {
        vec_push(p->mod->analog, va_parse_stmt(p));
    }
}

/* A loop or choice around `analog` blocks is the same loop or choice inside one. */
static void parse_generate(va_parser *p)
{
    p->generate = true;
    vec_push(p->mod->analog, va_parse_stmt(p));
    p->generate = false;
}

static void parse_item(va_parser *p)
{
    va_attr *attr = va_parse_attrs(p);
    if (p->t->kind != T_NAME || va_is_name(p->t)) {
        if (va_is_name(p->t)) {
            parse_name_item(p, attr);
        } else if (p->t->kind != ';') {
            va_expected(p, "a declaration or 'analog'");
            p->t += p->t->kind != T_EOF;
            va_skip_to_semi(p);
        } else {
            p->t++;
        }
        return;
    }
    switch (p->t->kw) {
    case KW_INPUT:
    case KW_OUTPUT:
    case KW_INOUT: parse_direction(p, false); break;
    case KW_PARAMETER:
    case KW_LOCALPARAM: parse_param_decl(p, attr, true); break;
    case KW_ALIASPARAM: parse_alias(p); break;
    case KW_REAL:
    case KW_INTEGER:
    case KW_STRING:
    case KW_REALTIME:
    case KW_TIME: va_parse_var_decl(p, &p->mod->decl, attr); break;
    case KW_GENVAR: parse_genvar(p); break;
    case KW_BRANCH: parse_branch(p); break;
    case KW_GROUND: parse_ground(p); break;
    case KW_ANALOG: parse_analog(p); break;
    case KW_FUNCTION: parse_function(p); break;
    case KW_GENERATE:
    case KW_ENDGENERATE: p->t++; break;
    case KW_FOR:
    case KW_IF:
    case KW_CASE: parse_generate(p); break;
    case KW_INITIAL:
    case KW_ALWAYS:
    case KW_ASSIGN:
    case KW_REG:
    case KW_WREAL:
    case KW_TASK: refuse_item(p, "digital behaviour is not supported"); break;
    case KW_DEFPARAM: refuse_item(p, "'defparam' is not supported"); break;
    case KW_WIRE: parse_net_decl(p, attr); break;
    default:
        va_expected(p, "a declaration or 'analog'");
        p->t++;
        va_skip_to_semi(p);
    }
}

/* "#" "(" parameter declarations ")" */
static void parse_header_params(va_parser *p)
{
    p->t++;
    va_expect(p, '(', "after '#'");
    while (at_kw(p, KW_PARAMETER) || at_kw(p, KW_LOCALPARAM)) {
        parse_param_decl(p, NULL, false);
        if (!va_accept(p, ','))
            break;
    }
    va_expect(p, ')', "after the parameters");
}

/* "(" [port {"," port}] ")"; port = name | direction ... */
static void parse_ports(va_parser *p)
{
    va_sym model = {0};
    if (!va_accept(p, '(') || va_accept(p, ')'))
        return;
    do {
        va_attr *attr = va_parse_attrs(p);
        if (at_kw(p, KW_INPUT) || at_kw(p, KW_OUTPUT) || at_kw(p, KW_INOUT)) {
            parse_direction(p, true);
            continue;
        }
        const va_tok *name = expect_name(p, "the name of a port");
        if (!name)
            break;
        va_sym *s = mention_node(p, name, &model);
        if (s->port) {
            va_error(p->c, name->span, name->macro, "port '%s' stands twice in the list", name->s);
            p->mod->bad = true;
        } else {
            vec_push(p->mod->port, s);
        }
        s->port = true;
        s->attr = attr;
    } while (va_accept(p, ','));
    if (!va_expect(p, ')', "after the ports"))
        while (p->t->kind != T_EOF && p->t->kind != ';' && p->t->kind != ')')
            p->t++;
    va_accept(p, ')');
}

/* "module" name [parameters] [ports] ";" {item} "endmodule" */
static void parse_module(va_parser *p, va_attr *attr)
{
    p->t++;
    const va_tok *name = expect_name(p, "the name of the module");
    va_mod *m = arena_new(&p->c->mem, va_mod);
    m->name = name ? name->s : "";
    m->span = name ? name->span : p->t->span;
    m->attr = attr;
    m->bad = !name;
    p->mod = m;
    if (p->t->kind == '#')
        parse_header_params(p);
    parse_ports(p);
    semi(p, "after the head of the module");
    while (p->t->kind != T_EOF && !at_kw(p, KW_ENDMODULE)) {
        const va_tok *before = p->t;
        if (at_kw(p, KW_MODULE) || at_kw(p, KW_NATURE) || at_kw(p, KW_DISCIPLINE) ||
            at_kw(p, KW_PARAMSET))
            break;
        parse_item(p);
        if (p->t == before)
            p->t++;
        va_limit_errors(p);
    }
    if (!va_accept_kw(p, KW_ENDMODULE)) {
        va_expected(p, "'endmodule'");
        if (!p->gave_up)
            diag_note(p->c->d, m->span, "of the module that begins here");
    }
    if (p->t[-1].kind == T_NAME && p->t->kind == ':' && va_is_name(p->t + 1))
        p->t += 2;
    va_own(p->c, m->port);
    va_own(p->c, m->decl);
    va_own(p->c, m->initial);
    va_own(p->c, m->analog);
    va_own(p->c, m->bind);
    vec_push(p->c->mod, m);
    p->mod = NULL;
}

/* "paramset" name base ";" {declaration | "." name "=" expression ";"} "endparamset" */
static void parse_paramset(va_parser *p, va_attr *attr)
{
    p->t++;
    va_mod *m = arena_new(&p->c->mem, va_mod);
    const va_tok *name = expect_name(p, "the name of the paramset");
    const va_tok *base = name ? expect_name(p, "the name of its module") : NULL;
    p->mod = m;
    m->name = name ? name->s : "";
    m->span = name ? name->span : p->t->span;
    m->base_name = base ? base->s : "";
    m->base_span = base ? base->span : p->t->span;
    m->bad = !base;
    m->attr = attr;
    semi(p, "after the head of the paramset");
    while (p->t->kind != T_EOF && !at_kw(p, KW_ENDPARAMSET) && !at_kw(p, KW_MODULE)) {
        const va_tok *before = p->t;
        va_attr *a = va_parse_attrs(p);
        if (at_kw(p, KW_PARAMETER) || at_kw(p, KW_LOCALPARAM)) {
            parse_param_decl(p, a, true);
        } else if (at_kw(p, KW_ALIASPARAM)) {
            parse_alias(p);
        } else if (va_accept(p, '.') && va_is_name(p->t)) {
            va_sym *s = new_symbol(p, SY_PARAM, p->t++);
            va_expect(p, '=', "after the name of the parameter");
            const va_tok *from = p->t;
            s->init = va_parse_expr(p);
            s->text_dflt = token_text(p, from, p->t);
            vec_push(m->bind, s);
            semi(p, "after the assignment");
        } else {
            va_expected(p, "a parameter declaration or '.name = value'");
            p->t += p->t->kind != T_EOF;
            va_skip_to_semi(p);
        }
        if (p->t == before)
            p->t++;
    }
    if (!va_accept_kw(p, KW_ENDPARAMSET)) {
        va_expected(p, "'endparamset'");
        if (!p->gave_up)
            diag_note(p->c->d, m->span, "of the paramset that begins here");
    }
    va_own(p->c, m->port);
    va_own(p->c, m->decl);
    va_own(p->c, m->initial);
    va_own(p->c, m->analog);
    va_own(p->c, m->bind);
    vec_push(p->c->mod, m);
    p->mod = NULL;
}

/* -- natures and disciplines -- */

static va_nature *find_nature(const va_ctx *c, const char *name)
{
    int32_t k = map_get(&c->nature_of, map_key(name), -1);
    return k < 0 ? NULL : c->nature[k];
}

static void unknown_nature(va_parser *p, const va_tok *t)
{
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(p->c->nature); i++)
        vec_push(cand, p->c->nature[i]->name);
    va_error(p->c, t->span, t->macro, "unknown nature '%s'", t->s);
    diag_suggest(p->c->d, t->s, cand, vec_len(cand));
    vec_free(cand);
}

/* name "=" expression ";" of a nature */
static void parse_nature_item(va_parser *p, va_nature *n)
{
    const va_tok *key = p->t++;
    if (!va_expect(p, '=', "after the attribute of the nature")) {
        va_skip_to_semi(p);
        return;
    }
    va_expr *e = va_parse_expr(p);
    const char *text = e->kind == EX_NAME || e->kind == EX_STR ? e->name : NULL;
    if (!strcmp(key->s, "access"))
        n->access = text;
    else if (!strcmp(key->s, "units"))
        n->units = text;
    else if (!strcmp(key->s, "ddt_nature"))
        n->ddt = text;
    else if (!strcmp(key->s, "idt_nature"))
        n->idt = text;
    else if (!strcmp(key->s, "abstol") && !va_const_value(e, &n->abstol))
        va_error(p->c, e->span, e->macro, "abstol of a nature must be a constant");
    semi(p, "after the attribute");
}

/* "nature" name [":" parent] [";"] {item} "endnature" */
static void parse_nature(va_parser *p)
{
    p->t++;
    const va_tok *name = expect_name(p, "the name of the nature");
    va_nature *n = arena_new(&p->c->mem, va_nature);
    n->name = name ? name->s : "";
    n->span = name ? name->span : p->t->span;
    if (va_accept(p, ':') && va_is_name(p->t)) {
        const va_nature *parent = find_nature(p->c, p->t->s);
        if (parent) {
            const char *own = n->name;
            *n = *parent;
            n->name = own;
        } else {
            unknown_nature(p, p->t);
        }
        p->t++;
    }
    va_accept(p, ';');
    while (p->t->kind == T_NAME && !at_kw(p, KW_ENDNATURE) && va_is_name(p->t))
        parse_nature_item(p, n);
    if (!va_accept_kw(p, KW_ENDNATURE))
        va_expected(p, "'endnature'");
    if (name && find_nature(p->c, name->s)) {
        va_error(p->c, name->span, name->macro, "nature '%s' is declared twice", name->s);
        diag_note(p->c->d, find_nature(p->c, name->s)->span, "first here");
    }
    map_set(&p->c->nature_of, map_key(n->name), (int32_t)vec_len(p->c->nature));
    vec_push(p->c->nature, n);
}

static va_nature *expect_nature(va_parser *p)
{
    const va_tok *t = expect_name(p, "the name of a nature");
    va_nature *n = t ? find_nature(p->c, t->s) : NULL;
    if (t && !n)
        unknown_nature(p, t);
    return n;
}

/* "potential" nature ";" | "flow" nature ";" | "domain" word ";" | "potential" "." name "=" ... */
static void parse_discipline_item(va_parser *p, va_discipline *d)
{
    int kw = p->t->kw;
    p->t++;
    if (kw == KW_DOMAIN) {
        d->discrete = at_kw(p, KW_DISCRETE);
        if (!va_accept_kw(p, KW_DISCRETE) && !va_accept_kw(p, KW_CONTINUOUS))
            va_expected(p, "'discrete' or 'continuous'");
    } else if (p->t->kind == '.') {
        va_nature **n = kw == KW_POTENTIAL ? &d->pot : &d->flow,
                  *own = arena_new(&p->c->mem, va_nature);
        p->t++;
        if (*n) {
            *own = **n;
            *n = own;
        }
        if (va_is_name(p->t))
            parse_nature_item(p, own);
        return;
    } else if (kw == KW_POTENTIAL) {
        d->pot = expect_nature(p);
    } else {
        d->flow = expect_nature(p);
    }
    semi(p, "after the attribute of the discipline");
}

static void parse_discipline(va_parser *p)
{
    p->t++;
    const va_tok *name = expect_name(p, "the name of the discipline");
    va_discipline *d = arena_new(&p->c->mem, va_discipline);
    d->name = name ? name->s : "";
    d->span = name ? name->span : p->t->span;
    va_accept(p, ';');
    while (at_kw(p, KW_DOMAIN) || at_kw(p, KW_POTENTIAL) || at_kw(p, KW_FLOW))
        parse_discipline_item(p, d);
    if (!va_accept_kw(p, KW_ENDDISCIPLINE)) {
        va_expected(p, "'domain', 'potential', 'flow' or 'enddiscipline'");
        while (p->t->kind != T_EOF && !va_accept_kw(p, KW_ENDDISCIPLINE) && !at_kw(p, KW_MODULE))
            p->t++;
    }
    int32_t old = map_get(&p->c->disc_of, map_key(d->name), -1);
    if (name && old >= 0) {
        va_error(p->c, name->span, name->macro, "discipline '%s' is declared twice", name->s);
        diag_note(p->c->d, p->c->disc[old]->span, "first here");
    }
    map_set(&p->c->disc_of, map_key(d->name), (int32_t)vec_len(p->c->disc));
    vec_push(p->c->disc, d);
}

static void skip_past(va_parser *p, va_kw end, const char *what)
{
    va_error(p->c, p->t->span, p->t->macro, "%s", what);
    while (p->t->kind != T_EOF && !at_kw(p, end))
        p->t++;
    p->t += p->t->kind != T_EOF;
}

/* unit = {nature | discipline | module | paramset} */
void va_parse(va_ctx *c)
{
    va_parser p = {.c = c, .t = c->tok};
    while (p.t->kind != T_EOF) {
        va_attr *attr = va_parse_attrs(&p);
        switch (p.t->kind == T_NAME ? p.t->kw : 0) {
        case KW_NATURE: parse_nature(&p); continue;
        case KW_DISCIPLINE: parse_discipline(&p); continue;
        case KW_MODULE:
        case KW_MACROMODULE: parse_module(&p, attr); continue;
        case KW_PARAMSET: parse_paramset(&p, attr); continue;
        case KW_CONNECTRULES:
            skip_past(&p, KW_ENDCONNECTRULES, "connect rules are not supported");
            continue;
        case KW_CONNECTMODULE:
            skip_past(&p, KW_ENDMODULE, "connect modules are not supported");
            continue;
        case KW_PRIMITIVE: skip_past(&p, KW_ENDPRIMITIVE, "primitives are not supported"); continue;
        default: break;
        }
        if (p.t->kind == T_EOF)
            break;
        if (p.t->kind != ';')
            va_expected(&p, "'module', 'nature', 'discipline' or 'paramset'");
        bool semi_only = p.t->kind == ';';
        p.t++;
        while (!semi_only && p.t->kind != T_EOF && !at_kw(&p, KW_MODULE) && !at_kw(&p, KW_NATURE) &&
               !at_kw(&p, KW_DISCIPLINE) && !at_kw(&p, KW_PARAMSET) && !at_kw(&p, KW_MACROMODULE))
            p.t++;
    }
    c->fatal |= p.gave_up; /* the rest of the text is not checked */
}
