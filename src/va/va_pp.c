/* va_pp.c - Verilog-A preprocessor: file -> tokens of the unit (va_ctx.tok).
 * Source: Verilog-AMS LRM 2.4, clause 10 (compiler directives).
 * Method: macro bodies are stored as tokens, their parameters as numbers. A use expands its
 *         arguments first and then the body, so a macro is active only while its own body is read:
 *         `MAX(a, `MAX(b, c)) is fine, a body that reaches itself is an error.
 * Places: a token from a body stands where the outermost macro is used and remembers the macro; a
 *         token from an argument stands where it was written. */
#define _GNU_SOURCE /* memmem */
#include "va_ast.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct cond {
    bool taken; /* one of its arms was read, or is being read */
    bool in_else;
    diag_span at;
    const char *word; /* "ifdef" or "ifndef" */
} cond;

/* Where tokens come from: a file, or a list (macro body, or an argument on its way). */
typedef struct source {
    va_lexer *lx; /* NULL: list */
    const va_tok *tok;
    size_t i, n;
    va_tok **arg;         /* expanded arguments for T_PARAM */
    const diag_span *use; /* inside a macro: place that its tokens get */
    int32_t macro;        /* and their macro */
} source;

typedef struct pp {
    va_ctx *c;
    va_tok **out; /* where tokens go */
    cond *cond;   /* vec */
    int n_include, n_expand;
    size_t n_token;    /* in all, arguments included */
    const char **path; /* vec: files being read */
} pp;

static void process(pp *p, source *s);

static va_tok next_raw(source *s)
{
    if (s->lx)
        return va_lex(s->lx);
    if (s->i < s->n)
        return s->tok[s->i++];
    return (va_tok){.kind = T_EOF, .macro = -1, .span = DIAG_NOWHERE};
}

static diag_span place(const source *s, const va_tok *t) { return s->use ? *s->use : t->span; }

static void fatal(pp *p, diag_span at, const char *text)
{
    if (!p->c->fatal)
        diag_error(p->c->d, at, "%s", text);
    p->c->fatal = true;
}

static void emit(pp *p, const source *s, va_tok t)
{
    if (s && s->use) {
        t.span = *s->use;
        t.macro = s->macro;
    }
    if (++p->n_token > VA_MAX_TOKEN)
        fatal(p, t.span, "macros expand to more than 20 million tokens");
    if (!p->c->fatal)
        vec_push(*p->out, t);
}

static va_macro *find_macro(pp *p, const char *name)
{
    int32_t k = map_get(&p->c->macro_of, map_key(name), -1);
    return k < 0 || p->c->macro[k].undefined ? NULL : &p->c->macro[k];
}

/* -- conditionals -- */

static bool is(const char *word, const char *text) { return !strcmp(word, text); }

/* In a skipped part of a file only directives count: the text may be anything. */
static bool skip_text_to_tick(va_lexer *l)
{
    while (l->pos < l->len) {
        char ch = l->text[l->pos], next = l->pos + 1 < l->len ? l->text[l->pos + 1] : 0;
        if (ch == '`')
            return true;
        if (ch == '/' && (next == '/' || next == '*')) {
            const char *from = l->text + l->pos + 2;
            size_t left = l->len - l->pos - 2;
            const char *end = next == '/' ? memchr(from, '\n', left) : memmem(from, left, "*/", 2);
            l->pos = end ? (size_t)(end - l->text) + 1 : l->len;
        } else if (ch == '"') {
            do
                l->pos++;
            while (l->pos < l->len && l->text[l->pos] != '\n' &&
                   (l->text[l->pos] != '"' || l->text[l->pos - 1] == '\\'));
            l->pos += l->pos < l->len;
        } else {
            l->pos++;
        }
    }
    return false;
}

static va_tok next_directive(source *s)
{
    va_tok t;
    if (!s->lx) {
        do
            t = next_raw(s);
        while (t.kind != T_TICK && t.kind != T_EOF);
        return t;
    }
    s->lx->quiet = true;
    bool more;
    do {
        more = skip_text_to_tick(s->lx);
        t = va_lex(s->lx);
    } while (more && t.kind != T_TICK && t.kind != T_EOF);
    s->lx->quiet = false;
    return t;
}

static bool name_is_defined(pp *p, source *s, const va_tok *dir)
{
    va_tok t = next_raw(s);
    if (t.kind != T_NAME) {
        diag_error(p->c->d, place(s, dir), "expected the name of a macro after '`%s'", dir->s);
        return false;
    }
    return find_macro(p, t.s) != NULL;
}

/* Skips a part whose condition is false; stops behind the `else, `elsif that is read, or `endif. */
static void skip_part(pp *p, source *s)
{
    int nest = 0;
    for (;;) {
        va_tok t = next_directive(s);
        if (t.kind == T_EOF)
            return;
        if (is(t.s, "ifdef") || is(t.s, "ifndef")) {
            nest++;
        } else if (is(t.s, "endif")) {
            if (nest-- == 0) {
                (void)vec_pop(p->cond);
                return;
            }
        } else if (nest == 0 && (is(t.s, "else") || is(t.s, "elsif"))) {
            cond *k = &vec_last(p->cond);
            if (k->in_else)
                diag_error(p->c->d, place(s, &t), "'`%s' after '`else'", t.s);
            k->in_else = k->in_else || is(t.s, "else");
            bool yes = is(t.s, "else") || name_is_defined(p, s, &t);
            if (yes && !k->taken) {
                k->taken = true;
                return;
            }
        }
    }
}

static void do_ifdef(pp *p, source *s, const va_tok *t)
{
    bool yes = name_is_defined(p, s, t) == is(t->s, "ifdef");
    vec_push(p->cond, (cond){yes, false, place(s, t), t->s});
    if (!yes)
        skip_part(p, s);
}

/* `else or `elsif behind a part that was read: the rest is skipped. */
static void do_else(pp *p, source *s, const va_tok *t, size_t base)
{
    if (vec_len(p->cond) <= base) {
        diag_error(p->c->d, place(s, t), "'`%s' without '`ifdef'", t->s);
        return;
    }
    cond *k = &vec_last(p->cond);
    if (k->in_else)
        diag_error(p->c->d, place(s, t), "'`%s' after '`else'", t->s);
    k->in_else = k->in_else || is(t->s, "else");
    skip_part(p, s);
}

/* -- definitions -- */

/* "(" name {"," name} ")"; true if it was well formed */
static bool read_params(pp *p, va_lexer *l, const char ***param)
{
    va_tok t = va_lex(l);
    if (t.kind == ')')
        return true;
    for (;;) {
        if (t.kind != T_NAME) {
            diag_error(p->c->d, t.span, "expected the name of a macro parameter");
            l->pos = t.span.off;
            return false;
        }
        vec_push(*param, t.s);
        t = va_lex(l);
        if (t.kind == ')')
            return true;
        if (t.kind != ',') {
            diag_error(p->c->d, t.span, "expected ',' or ')' in the parameters of a macro");
            l->pos = t.span.off;
            return false;
        }
        t = va_lex(l);
    }
}

static void read_body(va_macro *m, va_lexer *l, const char **param)
{
    for (;;) {
        va_tok t = va_lex(l);
        if (t.kind == T_NEWLINE || t.kind == T_EOF)
            return;
        for (size_t i = 0; t.kind == T_NAME && i < vec_len(param); i++) {
            if (t.s == param[i]) {
                t.kind = T_PARAM;
                t.macro = (int32_t)i;
            }
        }
        vec_push(m->body, t);
    }
}

static bool is_directive(const char *name)
{
    static const char *const word[] = {"define",
                                       "undef",
                                       "ifdef",
                                       "ifndef",
                                       "elsif",
                                       "else",
                                       "endif",
                                       "include",
                                       "resetall",
                                       "timescale",
                                       "default_discipline",
                                       "default_nettype",
                                       "default_transition",
                                       "line",
                                       "begin_keywords",
                                       "end_keywords",
                                       "celldefine",
                                       "endcelldefine",
                                       "pragma",
                                       "unconnected_drive",
                                       "nounconnected_drive",
                                       "undefineall"};
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (is(name, word[i]))
            return true;
    return false;
}

static void set_macro(pp *p, va_macro m)
{
    int32_t k = map_get(&p->c->macro_of, map_key(m.name), -1);
    if (k >= 0 && !p->c->macro[k].active) {
        vec_free(p->c->macro[k].body);
        p->c->macro[k] = m;
        return;
    }
    vec_push(p->c->macro, m);
    map_set(&p->c->macro_of, map_key(m.name), (int32_t)vec_len(p->c->macro) - 1);
}

static void do_define(pp *p, source *s, const va_tok *dir)
{
    va_lexer *l = s->lx;
    if (!l) {
        diag_error(p->c->d, place(s, dir), "'`define' inside a macro is not supported");
        s->i = s->n;
        return;
    }
    l->line_mode = true;
    va_tok name = va_lex(l);
    va_macro m = {.name = name.s, .def = name.span, .n_param = -1};
    const char **param = NULL;
    bool ok = name.kind == T_NAME;
    if (!ok) {
        diag_error(p->c->d, name.span, "expected the name of a macro after '`define'");
        l->pos = name.span.off;
    } else if (is_directive(name.s)) {
        diag_error(p->c->d, name.span, "a directive cannot be redefined as a macro");
        ok = false;
    }
    if (ok && l->pos < l->len && l->text[l->pos] == '(') {
        (void)va_lex(l); /* "(", or "(*" if the parameter list is malformed */
        ok = read_params(p, l, &param);
        m.n_param = (int32_t)vec_len(param);
    }
    read_body(&m, l, param);
    l->line_mode = false;
    vec_free(param);
    if (ok)
        set_macro(p, m);
    else
        vec_free(m.body);
}

static void do_undef(pp *p, source *s, const va_tok *dir)
{
    va_tok t = next_raw(s);
    if (t.kind != T_NAME)
        diag_error(p->c->d, place(s, dir), "expected the name of a macro after '`undef'");
    else if (find_macro(p, t.s))
        find_macro(p, t.s)->undefined = true;
}

/* -- files -- */

static void read_file(pp *p, int32_t file)
{
    const diag_file *f = &p->c->d->file[file];
    va_lexer l = {.c = p->c, .text = f->text, .len = f->len, .file = file};
    if (l.len >= 3 && !memcmp(l.text, "\xef\xbb\xbf", 3))
        l.pos = 3; /* byte order mark */
    source s = {.lx = &l, .macro = -1};
    size_t base = vec_len(p->cond);
    process(p, &s);
    while (vec_len(p->cond) > base) {
        cond k = vec_pop(p->cond);
        if (!p->c->fatal)
            diag_error(p->c->d, k.at,
                       "'`%s' is not closed: expected '`endif' before the end of the file", k.word);
    }
}

static vs_status try_path(pp *p, const char *dir, size_t n, const char *name, diag_span at,
                          int32_t *file, const char **why)
{
    const char *sep = n && dir[n - 1] != '/' ? "/" : "";
    const char *path = arena_printf(&p->c->mem, "%.*s%s%s", (int)n, dir, sep, name);
    vs_status st = diag_read_file(p->c->d, path, at, file, why);
    if (st)
        vec_push(p->c->absent, str_intern0(p->c->names, path));
    return st;
}

static vs_status try_builtin(pp *p, const char *name, diag_span at, int32_t *file)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    size_t len;
    const char *text = va_builtin_file(base, &len);
    if (!text)
        return VS_EIO;
    *file = diag_add_file(p->c->d, arena_printf(&p->c->mem, VA_BUILTIN_FOLDER "%s", base), text,
                          len, at);
    return VS_OK;
}

/* The including file's folder, that of the file that it is a link to, then opt->include, then the
 * built-in texts. */
static vs_status find_include(pp *p, const char *name, diag_span at, int32_t *file,
                              const char **why)
{
    const char *from = p->c->d->file[at.file].name, *slash = strrchr(from, '/');
    size_t n = name[0] == '/' ? 0 : slash ? (size_t)(slash - from) + 1 : 0;
    vs_status st = try_path(p, from, n, name, at, file, why);
    char real[PATH_MAX]; /* a file that is a link has its includes where it points to */
    if (st && name[0] != '/' && realpath(from, real) && strcmp(real, from) != 0)
        st = try_path(p, real, (size_t)(strrchr(real, '/') - real) + 1, name, at, file, why);
    for (size_t i = 0; st && name[0] != '/' && p->c->opt && i < p->c->opt->n_include; i++) {
        const char *dir = p->c->opt->include[i];
        st = try_path(p, dir, strlen(dir), name, at, file, why);
    }
    return st ? try_builtin(p, name, at, file) : st;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Gives the message at the outermost include, in the user's own file. */
static void too_many_includes(pp *p, diag_span at)
{
    bool itself = false;
    const diag_file *f = p->c->d->file;
    const char *name = base_name(f[at.file].name);
    for (; f[at.file].from.file >= 0; at = f[at.file].from)
        itself = itself || is(base_name(f[f[at.file].from.file].name), name);
    if (itself && !p->c->fatal)
        diag_error(p->c->d, at, "file '%s' includes itself, without end", name);
    p->c->fatal = p->c->fatal || itself;
    fatal(p, at, "files include each other more than 200 levels deep");
}

static void do_include(pp *p, source *s, const va_tok *dir)
{
    va_tok t = next_raw(s);
    if (t.kind == T_TICK && find_macro(p, t.s) && vec_len(find_macro(p, t.s)->body) == 1)
        t = find_macro(p, t.s)->body[0];
    diag_span at = place(s, &t);
    if (t.kind != T_STRING) {
        diag_error(p->c->d, place(s, dir), "expected a file name in quotes after '`include'");
        return;
    }
    if (p->n_include >= VA_MAX_INCLUDE) {
        too_many_includes(p, at);
        return;
    }
    const char *why = "was not found";
    int32_t file;
    if (find_include(p, t.s, at, &file, &why)) {
        static const char *const known[] = {"constants.vams", "disciplines.vams"};
        diag_error(p->c->d, at, "included file '%s' %s", t.s, why);
        diag_suggest(p->c->d, t.s, known, VS_COUNT(known));
        p->c->incomplete = true; /* no messages about names that the file would have defined */
        return;
    }
    p->n_include++;
    read_file(p, file);
    p->n_include--;
}

/* -- use of macros -- */

/* Raw tokens of one argument into *arg; returns the token that ended it: "," ")" or end. */
static int collect_arg(source *s, va_tok **arg)
{
    int nest = 0;
    for (;;) {
        va_tok t = next_raw(s);
        if (t.kind == T_EOF)
            return T_EOF;
        if (nest == 0 && (t.kind == ',' || t.kind == ')'))
            return t.kind;
        if (t.kind == '(' || t.kind == '[' || t.kind == '{' || t.kind == T_APOS_BRACE ||
            t.kind == T_ATTR_OPEN)
            nest++;
        else if (t.kind == ')' || t.kind == ']' || t.kind == '}' || t.kind == T_ATTR_CLOSE)
            nest--;
        vec_push(*arg, t);
    }
}

/* Expands the raw tokens in the surroundings of s. */
static va_tok *expand_arg(pp *p, const source *s, va_tok *raw)
{
    va_tok *out = NULL, **saved = p->out;
    source a = {.tok = raw, .n = vec_len(raw), .arg = s->arg, .use = s->use, .macro = s->macro};
    p->out = &out;
    process(p, &a);
    p->out = saved;
    return out;
}

/* "(" arg {"," arg} ")" -> vec of expanded arguments; false after an error */
static bool read_args(pp *p, source *s, const va_macro *m, diag_span at, va_tok ***args)
{
    va_tok t = next_raw(s);
    if (t.kind != '(' && t.kind != T_ATTR_OPEN) {
        va_error(p->c, at, -1, "macro '%s' needs %d argument%s in parentheses", m->name, m->n_param,
                 m->n_param == 1 ? "" : "s");
        diag_note(p->c->d, m->def, "defined here");
        if (s->lx)
            s->lx->pos = t.span.off;
        else if (t.kind != T_EOF)
            s->i--;
        return false;
    }
    int end;
    bool empty = true;
    int32_t want = m->n_param;
    const char *name = m->name;
    diag_span def = m->def;
    do {
        va_tok *raw = NULL;
        if (t.kind == T_ATTR_OPEN && !vec_len(*args))
            vec_push(raw, (va_tok){.kind = '*', .macro = -1, .span = t.span});
        end = collect_arg(s, &raw);
        empty = empty && !vec_len(raw);
        vec_push(*args, expand_arg(p, s, raw));
        vec_free(raw);
    } while (end == ',');
    if (end == T_EOF) {
        diag_error(p->c->d, at, "arguments of macro '%s' are not closed: expected ')'", name);
        return false;
    }
    int32_t got = want == 0 && empty && vec_len(*args) == 1 ? 0 : (int32_t)vec_len(*args);
    if (got != want) {
        diag_error(p->c->d, at, "macro '%s' takes %d argument%s, not %d", name, want,
                   want == 1 ? "" : "s", got);
        diag_note(p->c->d, def, "defined here");
    }
    return got == want;
}

static void free_args(va_tok **args)
{
    for (size_t i = 0; i < vec_len(args); i++)
        vec_free(args[i]);
    vec_free(args);
}

static void unknown_macro(pp *p, source *s, const va_tok *t)
{
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(p->c->macro); i++)
        if (!p->c->macro[i].undefined)
            vec_push(cand, p->c->macro[i].name);
    if (!p->c->incomplete) {
        diag_error(p->c->d, place(s, t), "macro '`%s' is not defined", t->s);
        if ((t->s[0] == 'M' || t->s[0] == 'P') && t->s[1] == '_' &&
            !find_macro(p, str_intern0(p->c->names, "M_PI")))
            diag_note(p->c->d, DIAG_NOWHERE,
                      "add `include \"constants.vams\" at the head of the file");
        else
            diag_suggest(p->c->d, t->s, cand, vec_len(cand));
    }
    vec_free(cand);
    emit(p, s, (va_tok){.kind = T_ERROR, .macro = -1, .span = place(s, t)});
}

static void use_macro(pp *p, source *s, const va_tok *t)
{
    diag_span at = place(s, t);
    va_macro *m = find_macro(p, t->s);
    if (++p->n_token > VA_MAX_TOKEN) /* also for macros that expand to nothing */
        fatal(p, at, "macros expand to more than 20 million tokens");
    if (!m) {
        unknown_macro(p, s, t);
        return;
    }
    if (m->active) {
        diag_error(p->c->d, at, "macro '%s' uses itself", m->name);
        diag_note(p->c->d, m->def, "defined here");
        emit(p, s, (va_tok){.kind = T_ERROR, .macro = -1, .span = at});
        return;
    }
    if (p->n_expand >= VA_MAX_EXPANSION) {
        fatal(p, at, "macros are nested more than 500 levels deep");
        return;
    }
    int32_t k = (int32_t)(m - p->c->macro);
    va_tok **args = NULL;
    p->n_expand++;
    if (m->n_param < 0 || read_args(p, s, m, at, &args)) {
        m = &p->c->macro[k];
        source body = {.tok = m->body, .n = vec_len(m->body), .arg = args, .use = &at, .macro = k};
        m->active = true;
        process(p, &body);
        p->c->macro[k].active = false;
    } else {
        emit(p, s, (va_tok){.kind = T_ERROR, .macro = -1, .span = at});
    }
    p->n_expand--;
    free_args(args);
}

/* -- directives -- */

static void skip_line(source *s)
{
    if (!s->lx)
        return;
    s->lx->line_mode = s->lx->quiet = true;
    va_tok t;
    do
        t = va_lex(s->lx);
    while (t.kind != T_NEWLINE && t.kind != T_EOF);
    s->lx->line_mode = s->lx->quiet = false;
}

static void undefine_all(pp *p)
{
    for (size_t i = 0; i < vec_len(p->c->macro); i++)
        p->c->macro[i].undefined = !p->c->macro[i].active;
}

static void directive(pp *p, source *s, const va_tok *t, size_t base)
{
    const char *w = t->s;
    if (is(w, "define")) {
        do_define(p, s, t);
    } else if (is(w, "undef")) {
        do_undef(p, s, t);
    } else if (is(w, "ifdef") || is(w, "ifndef")) {
        do_ifdef(p, s, t);
    } else if (is(w, "else") || is(w, "elsif")) {
        do_else(p, s, t, base);
    } else if (is(w, "endif")) {
        if (vec_len(p->cond) > base)
            (void)vec_pop(p->cond);
        else
            diag_error(p->c->d, place(s, t), "'`endif' without '`ifdef'");
    } else if (is(w, "include")) {
        do_include(p, s, t);
    } else if (is(w, "undefineall")) {
        undefine_all(p);
    } else if (!is(w, "resetall") && !is(w, "celldefine") && !is(w, "endcelldefine") &&
               !is(w, "nounconnected_drive") && !is(w, "end_keywords")) {
        skip_line(s);
    }
}

static void process(pp *p, source *s)
{
    size_t base = vec_len(p->cond);
    while (!p->c->fatal) {
        va_tok t = next_raw(s);
        p->c->fatal |= diag_full(p->c->d, p->c->n_error);
        if (t.kind == T_EOF)
            break;
        if (t.kind == T_PARAM) {
            for (size_t i = 0; i < vec_len(s->arg[t.macro]); i++)
                emit(p, NULL, s->arg[t.macro][i]);
        } else if (t.kind == T_TICK) {
            /* only a name that is no directive is looked up: most are macros */
            if (!find_macro(p, t.s) && is_directive(t.s))
                directive(p, s, &t, base);
            else
                use_macro(p, s, &t);
        } else if (t.kind != T_NEWLINE) {
            emit(p, s, t);
        }
    }
    if (!s->lx && vec_len(p->cond) > base) {
        diag_error(p->c->d, vec_last(p->cond).at,
                   "'`%s' is not closed: expected '`endif' in the same macro",
                   vec_last(p->cond).word);
        while (vec_len(p->cond) > base)
            (void)vec_pop(p->cond);
    }
}

/* "NAME" or "NAME=text" from the options */
static bool is_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(s[i] == '_' || (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
              (i && ((s[i] >= '0' && s[i] <= '9') || s[i] == '$'))))
            return false;
    return n > 0;
}

static void define_option(pp *p, const char *def)
{
    const char *eq = strchr(def, '=');
    size_t n = eq ? (size_t)(eq - def) : strlen(def);
    const char *text = eq ? eq + 1 : "1";
    int32_t file = diag_add_file(p->c->d, VA_OPTIONS_FILE, text, strlen(text), DIAG_NOWHERE);
    va_lexer l = {.c = p->c,
                  .text = p->c->d->file[file].text,
                  .len = strlen(text),
                  .file = file,
                  .line_mode = true};
    const char *name = str_intern(p->c->names, def, n);
    if (!is_name(def, n) || is_directive(name)) {
        diag_error(p->c->d, DIAG_NOWHERE,
                   is_name(def, n) ? "the macro '%s', set from outside, has the name of a directive"
                                   : "'%s', set from outside, is not the name of a macro",
                   name);
        return;
    }
    va_macro m = {.name = name, .def = {file, 0, 0}, .n_param = -1};
    read_body(&m, &l, NULL);
    set_macro(p, m);
}

vs_status va_preprocess(va_ctx *c, int32_t file)
{
    static const char *const predefined[] = {"__VAMS_ENABLE__", "__VAMS_COMPACT_MODELING__",
                                             "__OPENVAF__", "__VSIM__"};
    pp p = {.c = c, .out = &c->tok};
    for (size_t i = 0; i < VS_COUNT(predefined); i++)
        define_option(&p, predefined[i]);
    for (size_t i = 0; c->opt && i < c->opt->n_define; i++)
        define_option(&p, c->opt->define[i]);
    read_file(&p, file);
    diag_span end = {file, (uint32_t)c->d->file[file].len, 0};
    for (int i = 0; i < 4; i++) /* the parser looks up to three tokens ahead */
        vec_push(c->tok, (va_tok){.kind = T_EOF, .macro = -1, .span = end});
    vec_free(p.cond);
    return VS_OK;
}
