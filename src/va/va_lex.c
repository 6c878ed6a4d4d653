/* va_lex.c - Verilog-A lexer: one token at a time from one text.
 * Source: Verilog-AMS LRM 2.4, clause 2. Used by va_pp.c only; it skips comments itself. */
#define _GNU_SOURCE /* memmem */
#include "va_ast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return is_alpha(c) || is_digit(c) || c == '$'; }
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static char peek(const va_lexer *l, size_t k)
{
    return l->pos + k < l->len ? l->text[l->pos + k] : 0;
}

static diag_span span_from(const va_lexer *l, size_t start)
{
    return (diag_span){l->file, (uint32_t)start, (uint32_t)(l->pos - start)};
}

static void lex_error(va_lexer *l, size_t start, const char *text)
{
    if (!l->quiet)
        diag_error(l->c->d, span_from(l, start), "%s", text);
}

static va_kw keyword_of(const va_ctx *c, const char *name)
{
    return (va_kw)map_get(&c->kw, map_key(name), KW_NONE);
}

static void skip_block_comment(va_lexer *l)
{
    size_t start = l->pos;
    const char *end =
        l->len - l->pos >= 4 ? memmem(l->text + l->pos + 2, l->len - l->pos - 2, "*/", 2) : NULL;
    l->pos += 2;
    if (!end)
        lex_error(l, start, "comment is not closed: expected '*/'");
    l->pos = end ? (size_t)(end - l->text) + 2 : l->len;
}

/* To the newline, which is not taken. In a macro body a backslash before it continues the line. */
static void skip_line_comment(va_lexer *l)
{
    const char *nl = memchr(l->text + l->pos, '\n', l->len - l->pos);
    size_t end = nl ? (size_t)(nl - l->text) : l->len, last = end;
    while (last > l->pos && is_blank(l->text[last - 1]))
        last--;
    bool goes_on = l->line_mode && nl && last > l->pos && l->text[last - 1] == '\\';
    l->pos = goes_on ? end + 1 : end;
}

/* `\` blanks newline: length, or 0 if it is something else. */
static size_t continuation(const va_lexer *l)
{
    size_t k = 1;
    while (is_blank(peek(l, k)))
        k++;
    return peek(l, k) == '\n' ? k + 1 : 0;
}

/* Blanks and comments; stops at a newline in line mode. */
static void skip_blank(va_lexer *l)
{
    while (l->pos < l->len) {
        char ch = l->text[l->pos];
        size_t n;
        if (is_blank(ch) || (ch == '\n' && !l->line_mode))
            l->pos++;
        else if (ch == '/' && peek(l, 1) == '/')
            skip_line_comment(l);
        else if (ch == '/' && peek(l, 1) == '*')
            skip_block_comment(l);
        else if (ch == '\\' && (n = continuation(l)) != 0)
            l->pos += n;
        else
            return;
    }
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c = str_lower_char(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* [size] ' [s] base digits: the value wraps to 32 bits. */
static va_tok lex_based(va_lexer *l, size_t start)
{
    va_tok t = {.kind = T_INT, .macro = -1};
    l->pos++;
    if (str_lower_char(peek(l, 0)) == 's')
        l->pos++;
    char base = str_lower_char(peek(l, 0));
    int radix = base == 'h' ? 16 : base == 'o' ? 8 : base == 'b' ? 2 : 10;
    l->pos++;
    while (is_blank(peek(l, 0)))
        l->pos++;
    uint64_t v = 0;
    bool any = false;
    while (digit_value(peek(l, 0)) < radix || peek(l, 0) == '_') {
        if (peek(l, 0) != '_') {
            v = (v * (uint64_t)radix + (uint64_t)digit_value(peek(l, 0))) & 0xffffffffu;
            any = true;
        }
        l->pos++;
    }
    bool more = is_word(peek(l, 0)) || peek(l, 0) == '?';
    while (is_word(peek(l, 0)) || peek(l, 0) == '?')
        l->pos++;
    if (!any && !more)
        lex_error(l, start, "number has no digits after its base");
    else if (more)
        lex_error(l, start,
                  "malformed number: a digit does not belong to its base (x and z digits are "
                  "not supported)");
    t.num = (int32_t)(uint32_t)v;
    t.span = span_from(l, start);
    return t;
}

static bool is_based(const va_lexer *l)
{
    if (peek(l, 0) != '\'')
        return false;
    char c = str_lower_char(peek(l, 1));
    if (c == 's')
        c = str_lower_char(peek(l, 2));
    return c == 'h' || c == 'd' || c == 'o' || c == 'b';
}

/* Exponent of ten of a scale factor, 0 if none. LRM 2.6.2. */
static int scale_factor(char c)
{
    switch (c) {
    case 'T': return 12;
    case 'G': return 9;
    case 'M': return 6;
    case 'K':
    case 'k': return 3;
    case 'm': return -3;
    case 'u': return -6;
    case 'n': return -9;
    case 'p': return -12;
    case 'f': return -15;
    case 'a': return -18;
    default: return 0;
    }
}

static void copy_digits(va_lexer *l, char *buf, size_t cap, size_t *n)
{
    while (is_digit(peek(l, 0)) || (peek(l, 0) == '_' && *n)) {
        if (peek(l, 0) != '_' && *n < cap)
            buf[(*n)++] = peek(l, 0);
        l->pos++;
    }
}

/* digits [. digits] [exponent | scale] */
static va_tok lex_number(va_lexer *l)
{
    enum { CAP = 400 };
    char buf[CAP + 40];
    size_t n = 0, start = l->pos;
    bool real = false;
    va_tok t = {.macro = -1};
    copy_digits(l, buf, CAP, &n);
    if (is_based(l))
        return lex_based(l, start);
    if (peek(l, 0) == '.' && (is_digit(peek(l, 1)) || n)) {
        real = true;
        l->pos++;
        buf[n++] = '.';
        copy_digits(l, buf, CAP, &n);
    }
    int scale = scale_factor(peek(l, 0));
    size_t sign = peek(l, 1) == '+' || peek(l, 1) == '-';
    if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') && is_digit(peek(l, 1 + sign))) {
        real = true;
        buf[n++] = 'e';
        if (sign)
            buf[n++] = peek(l, 1);
        l->pos += 1 + sign;
        size_t from = n;
        copy_digits(l, buf, from + 20, &n);
    } else if (scale && !is_word(peek(l, 1))) {
        real = true;
        l->pos++;
        n += (size_t)snprintf(buf + n, sizeof buf - n, "e%d", scale);
    }
    buf[n] = 0;
    t.num = strtod(buf, NULL);
    t.kind = real || t.num > INT32_MAX ? T_REAL : T_INT;
    if (is_alpha(peek(l, 0)) || peek(l, 0) == '.') {
        if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') && sign)
            l->pos += 2;
        while (is_word(peek(l, 0)) || peek(l, 0) == '.')
            l->pos++;
        lex_error(l, start,
                  "malformed number: expected digits with an optional exponent or one of "
                  "the scale factors T G M K k m u n p f a");
    }
    t.span = span_from(l, start);
    return t;
}

static int octal(const va_lexer *l, size_t *k)
{
    int v = 0;
    for (int i = 0; i < 3 && peek(l, *k) >= '0' && peek(l, *k) <= '7'; i++)
        v = v * 8 + (peek(l, (*k)++) - '0');
    return v & 255;
}

/* The character an escape stands for; l->pos behind it. */
static int escape(va_lexer *l)
{
    char e = peek(l, 1);
    size_t k = 1;
    if (e >= '0' && e <= '7') {
        int v = octal(l, &k);
        l->pos += k;
        return v;
    }
    l->pos += 2;
    return e == 'n' ? '\n' : e == 't' ? '\t' : e;
}

static va_tok lex_string(va_lexer *l)
{
    size_t start = l->pos++, n = 0;
    va_tok t = {.kind = T_STRING, .macro = -1};
    const char *q = memchr(l->text + l->pos, '"', l->len - l->pos);
    size_t cap = q ? (size_t)(q - l->text) - l->pos : l->len - l->pos;
    char small[512], *buf = cap < sizeof small ? small : NULL;
    char *big = NULL;
    for (;;) {
        char ch = peek(l, 0);
        if (l->pos >= l->len || (ch == '\n')) {
            lex_error(l, start, "string is not closed: expected '\"' before the end of the line");
            break;
        }
        if (ch == '"') {
            l->pos++;
            break;
        }
        size_t cont = ch == '\\' ? continuation(l) : 0;
        if (cont) {
            l->pos += cont;
            continue;
        }
        int out = ch == '\\' && l->pos + 1 < l->len ? escape(l) : (l->pos++, ch);
        if (buf && n < sizeof small) {
            buf[n++] = (char)out;
            continue;
        }
        if (buf) {
            vec_extend(big, n);
            memcpy(big, buf, n);
            buf = NULL;
        }
        vec_push(big, (char)out);
    }
    t.s = buf ? str_intern(l->c->names, buf, n)
              : str_intern(l->c->names, big ? big : "", vec_len(big));
    vec_free(big);
    t.span = span_from(l, start);
    return t;
}

static va_tok lex_name(va_lexer *l, int kind)
{
    size_t start = l->pos, from = l->pos + (kind != T_NAME);
    l->pos = from;
    while (is_word(peek(l, 0)))
        l->pos++;
    va_tok t = {.kind = (int16_t)kind, .macro = -1};
    if (kind == T_TICK || kind == T_NAME)
        t.s = str_intern(l->c->names, l->text + from, l->pos - from);
    else
        t.s = str_intern(l->c->names, l->text + start, l->pos - start);
    if (kind == T_NAME)
        t.kw = (int16_t)keyword_of(l->c, t.s);
    t.span = span_from(l, start);
    return t;
}

/* \name up to the next white space; the backslash is not part of the name. */
static va_tok lex_escaped(va_lexer *l)
{
    size_t start = l->pos++;
    while (l->pos < l->len && (unsigned char)l->text[l->pos] > ' ')
        l->pos++;
    va_tok t = {.kind = T_NAME, .macro = -1};
    t.s = str_intern(l->c->names, l->text + start + 1, l->pos - start - 1);
    t.span = span_from(l, start);
    if (l->pos - start == 1)
        lex_error(l, start, "stray '\\': expected a name behind it");
    return t;
}

/* Bytes outside of ASCII and control characters: one message for a run of them. */
static bool is_odd(const va_lexer *l)
{
    unsigned char ch = (unsigned char)peek(l, 0);
    return l->pos < l->len && (ch >= 0x80 || (ch < ' ' && ch != '\n' && !is_blank((char)ch)));
}

static int punctuation(const va_lexer *l, size_t *n)
{
    static const struct {
        char text[5];
        int16_t kind;
    } op[] = {
        {"===", T_EQ},        {"!==", T_NE}, {"<<<", T_SHL},      {">>>", T_ASHR},
        {"<+", T_CONTRIB},    {"<=", T_LE},  {">=", T_GE},        {"==", T_EQ},
        {"!=", T_NE},         {"&&", T_AND}, {"||", T_OR},        {"<<", T_SHL},
        {">>", T_SHR},        {"**", T_POW}, {"~^", T_XNOR},      {"^~", T_XNOR},
        {"~&", T_NAND},       {"~|", T_NOR}, {"(*", T_ATTR_OPEN}, {"*)", T_ATTR_CLOSE},
        {"'{", T_APOS_BRACE},
    };
    for (size_t i = 0; i < VS_COUNT(op); i++) {
        size_t k = strlen(op[i].text);
        if (l->len - l->pos < k || memcmp(l->text + l->pos, op[i].text, k))
            continue;
        if (op[i].kind == T_ATTR_OPEN && peek(l, 2) == ')')
            continue; /* the @(*) of digital Verilog */
        *n = k;
        return op[i].kind;
    }
    *n = 1;
    return (unsigned char)l->text[l->pos];
}

va_tok va_lex(va_lexer *l)
{
    for (;;) {
        skip_blank(l);
        size_t start = l->pos;
        if (l->pos >= l->len)
            return (va_tok){.kind = T_EOF, .macro = -1, .span = span_from(l, start)};
        char ch = l->text[l->pos];
        if (is_alpha(ch))
            return lex_name(l, T_NAME);
        if (is_digit(ch) || (ch == '.' && is_digit(peek(l, 1))) || is_based(l))
            return lex_number(l);
        if (ch == '"')
            return lex_string(l);
        if (ch == '`' && is_alpha(peek(l, 1)))
            return lex_name(l, T_TICK);
        if (ch == '$' && is_word(peek(l, 1)))
            return lex_name(l, T_SYSNAME);
        if (ch == '\\')
            return lex_escaped(l);
        va_tok t = {.macro = -1};
        if (ch == '\n') {
            l->pos++;
            t.kind = T_NEWLINE;
            t.span = span_from(l, start);
            return t;
        }
        size_t n;
        int kind = punctuation(l, &n);
        l->pos += n;
        t.kind = (int16_t)kind;
        t.span = span_from(l, start);
        if (kind >= 256 || (kind && strchr("+-*/%<>!&|^~?:;,.=()[]{}@#", kind)))
            return t;
        while (is_odd(l))
            l->pos++;
        lex_error(l, start,
                  ch == '`' ? "stray '`': expected the name of a macro or directive"
                            : "character has no meaning in Verilog-A");
    }
}
