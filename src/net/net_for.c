/* net_for.c - .for loops, indices and sums, as text: binding a loop variable replaces its name;
 * when all are bound, indices are evaluated and sums written out. */
#include "net_for.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net_priv.h"
#include "stream.h"
#include "vec.h"

enum {
    MAX_TURNS = 4000000,
    MAX_BYTES = 1 << 29,
    MAX_DEPTH = 64,
    PIECE = 1 << 20,
    MANY_TURNS = 1000
};

void net_for_init(net_for *l, diag *d, str_pool *names, const net_opt *opt)
{
    *l = (net_for){.d = d, .names = names, .opt = opt};
}

void net_for_fini(net_for *l)
{
    map_free(&l->param_of);
    vec_free(l->param);
}

static void fail(net_for *l, diag_span at, const char *text)
{
    if (!l->failed)
        diag_error(l->d, at, "%s", text);
    l->failed = true;
}

/* -- characters -- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

static size_t word_len(const char *s, size_t n)
{
    size_t k = 0;
    if (n && !isdigit((unsigned char)s[0]))
        while (k < n && is_word(s[k]))
            k++;
    return k;
}

/* Is s[i] the start of a name? "1k" and "x1.k" have none at k. */
static bool name_starts(const char *s, size_t i)
{
    return word_len(s + i, 1) &&
           (i == 0 || (!is_word(s[i - 1]) && s[i - 1] != '.' && s[i - 1] != '#'));
}

static bool same(const char *s, size_t n, const char *name)
{
    return strlen(name) == n && !str_ncasecmp(s, name, n);
}

size_t net_index_len(const char *s, size_t n)
{
    size_t i = 1;
    if (!n || s[0] != '[')
        return 0;
    for (;;) {
        i += i < n && s[i] == '-';
        const size_t from = i;
        while (i < n && isdigit((unsigned char)s[i]))
            i++;
        if (i == from || i >= n)
            return 0;
        if (s[i] == ']')
            return i + 1;
        if (s[i++] != ',')
            return 0;
    }
}

/* The place of the bracket that closes the one at s[i]; n: none. All kinds nest. */
static size_t closing(const char *s, size_t n, size_t i)
{
    int depth = 0;
    for (; i < n; i++) {
        depth += s[i] == '(' || s[i] == '[' || s[i] == '{';
        depth -= s[i] == ')' || s[i] == ']' || s[i] == '}';
        if (depth == 0)
            return i;
    }
    return n;
}

/* The end of the part of a comma list that starts at s[i]: a comma outside all brackets, or n. */
static size_t part_end(const char *s, size_t n, size_t i)
{
    int depth = 0;
    for (; i < n && !(s[i] == ',' && depth == 0); i++) {
        depth += s[i] == '(' || s[i] == '[' || s[i] == '{';
        depth -= s[i] == ')' || s[i] == ']' || s[i] == '}';
    }
    return i;
}

static void trim(const char **s, size_t *n)
{
    while (*n && isspace((unsigned char)**s))
        (*s)++, (*n)--;
    while (*n && isspace((unsigned char)(*s)[*n - 1]))
        (*n)--;
}

/* -- numbers -- */

static bool value_of(net_for *l, const char *s, size_t n, double *y);

static bool param_value(net_for *l, const char *name, double *y)
{
    for (size_t i = 0; l->opt && i < l->opt->n_define; i++)
        if (!str_casecmp(l->opt->define[i].name, name)) {
            *y = l->opt->define[i].value;
            l->opt->define[i].used = true;
            return true;
        }
    const int32_t k = map_get(&l->param_of, map_key(name), -1);
    if (k < 0 || l->depth >= MAX_DEPTH)
        return false;
    const diag_span at = l->param[k];
    l->depth++;
    const bool ok = value_of(l, l->d->file[at.file].text + at.off, at.len, y);
    l->depth--;
    return ok;
}

static bool tree_value(net_for *l, const net_expr *e, double *y)
{
    double x[8];
    char why[200];
    if (e->op == NET_NUM) {
        *y = e->num;
        return true;
    }
    if (e->op == NET_PARAM)
        return param_value(l, e->name, y);
    if (e->n_arg < 1 || e->n_arg > 8 || (e->op == NET_CALL && e->fn >= NET_FN_GAUSS))
        return false;
    for (int32_t i = 0; i < e->n_arg; i++)
        if (!tree_value(l, e->arg[i], &x[i]))
            return false;
    if (e->op == NET_COND) {
        *y = x[x[0] != 0 ? 1 : 2];
        return true;
    }
    if (e->op == NET_AND || e->op == NET_OR) {
        *y = e->op == NET_AND ? x[0] != 0 && x[1] != 0 : x[0] != 0 || x[1] != 0;
        return true;
    }
    return net_apply(e->op, e->fn, x, e->n_arg, y, why, sizeof why);
}

/* The value of a text, an expression of known numbers. false, without a message: it has none. */
static bool value_of(net_for *l, const char *s, size_t n, double *y)
{
    trim(&s, &n);
    while (n >= 2 && (s[0] == '{' || s[0] == '(') && closing(s, n, 0) == n - 1) {
        s++;
        n -= 2;
        trim(&s, &n);
    }
    char *end, few[32];
    if (n && n < sizeof few && isdigit((unsigned char)s[0])) {
        memcpy(few, s, n);
        few[n] = 0;
        *y = (double)strtol(few, &end, 10);
        if (!*end)
            return true;
    }
    if (!n)
        return false;
    diag quiet;
    arena mem;
    diag_init(&quiet);
    arena_init(&mem);
    const int32_t file = diag_add_file(&quiet, "", s, n, DIAG_NOWHERE);
    const net_expr *e =
        net_expr_parse(&quiet, l->names, &mem, (diag_span){file, 0, (uint32_t)n}, NULL);
    const bool ok = e && tree_value(l, e, y) && isfinite(*y);
    arena_fini(&mem);
    diag_fini(&quiet);
    return ok;
}

/* A whole number below 1e15, as "%.0f" writes it. */
static void put_whole(FILE *out, double y)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = (uint64_t)fabs(y);
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (signbit(y))
        digits[--at] = '-';
    fwrite(digits + at, 1, sizeof digits - at, out);
}

static void put_number(FILE *out, double y, bool bare)
{
    if (y == floor(y) && fabs(y) < 1e15) {
        fputs(bare || y >= 0 ? "" : "(", out);
        put_whole(out, y);
        fputs(bare || y >= 0 ? "" : ")", out);
    } else {
        fprintf(out, bare ? "%.17g" : "(%.17g)", y);
    }
}

void net_for_param(net_for *l, const net_card *c)
{
    for (int32_t i = 1; i + 2 < c->n_tok; i++) {
        if (c->tok[i].kind != NET_T_WORD || c->tok[i + 1].punct != '=')
            continue;
        int32_t last = i + 2;
        while (last + 1 < c->n_tok && !(last + 2 < c->n_tok && c->tok[last + 2].punct == '='))
            last++;
        map_set(&l->param_of, map_key(c->tok[i].text), (int32_t)vec_len(l->param));
        vec_push(l->param,
                 diag_join(net_tok_span(c, &c->tok[i + 2]), net_tok_span(c, &c->tok[last])));
    }
}

/* -- binding a variable -- */

static bool is_expression_line(const char *s, size_t n)
{
    static const char *const word[] = {".for", ".if", ".elseif", ".var", ".param", ".params"};
    size_t k = 0;
    while (k < n && (is_word(s[k]) || s[k] == '.'))
        k++;
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (same(s, k, word[i]))
            return true;
    return false;
}

typedef struct walk { /* where a scan over text is */
    int brace;        /* braces and brackets open */
    bool quote;       /* in '...' */
    bool line;        /* on a line that is an expression altogether */
} walk;

/* Copies a comment or a "text" at s[i]; the place behind it, i if none is there. */
static size_t copy_opaque(FILE *out, const char *s, size_t n, size_t i, walk *w)
{
    const bool start = i == 0 || s[i - 1] == '\n';
    size_t to = i;
    if (start) {
        size_t k = i;
        while (k < n && (s[k] == ' ' || s[k] == '\t'))
            k++;
        if (k < n && s[k] != '+')
            w->line = is_expression_line(s + k, n - k);
        if (k < n && (s[k] == '*' || s[k] == ';'))
            while (to < n && s[to] != '\n')
                to++;
    }
    if (to == i && s[i] == ';')
        while (to < n && s[to] != '\n')
            to++;
    if (to == i && s[i] == '"') {
        for (to++; to < n && s[to] != '"' && s[to] != '\n';)
            to++;
        to += to < n && s[to] == '"';
    }
    fwrite(s + i, 1, to - i, out);
    return to;
}

static void track(walk *w, char c)
{
    w->brace += c == '{' || c == '[';
    w->brace -= (c == '}' || c == ']') && w->brace > 0;
    if (c == '\'')
        w->quote = !w->quote;
}

/* Writes s[0..n) with the loop variable `name` replaced by its value. */
static void bind(FILE *out, const char *s, size_t n, const char *name, double value, bool inside)
{
    walk w = {.brace = inside};
    for (size_t i = 0; i < n;) {
        const size_t skip = inside ? i : copy_opaque(out, s, n, i, &w);
        if (skip > i) {
            i = skip;
            continue;
        }
        const size_t k =
            (w.brace || w.quote || w.line) && name_starts(s, i) ? word_len(s + i, n - i) : 0;
        if (k && same(s + i, k, name) && !(i + k < n && s[i + k] == '(')) {
            put_number(out, value, false);
            i += k;
        } else if (k) {
            fwrite(s + i, 1, k, out);
            i += k;
        } else {
            track(&w, s[i]);
            putc(s[i++], out);
        }
    }
}

/* -- indices and sums -- */

static void finish(net_for *l, FILE *out, const char *s, size_t n, diag_span at, bool inside);

/* "[...]" behind a name: its parts as whole numbers. false: they are something else, nothing was
 * written. */
static bool put_index(net_for *l, FILE *out, const char *s, size_t n)
{
    double y[16];
    int k = 0;
    for (size_t i = 0; i <= n && k < 16; k++) {
        const size_t to = part_end(s, n, i);
        if (!value_of(l, s + i, to - i, &y[k]) || y[k] != floor(y[k]) || fabs(y[k]) > 1e9)
            return false;
        i = to + 1;
    }
    putc('[', out);
    for (int j = 0; j < k; j++) {
        fputs(j ? "," : "", out);
        put_whole(out, y[j]);
    }
    putc(']', out);
    return true;
}

/* Terms first .. last of a sum, as a balanced tree of additions. */
static void put_terms(net_for *l, FILE *out, const char *name, double first, int64_t n, double step,
                      const char *s, size_t len, diag_span at)
{
    putc('(', out);
    if (n == 1) {
        char *text = NULL;
        size_t size = 0;
        FILE *f = stream_text(&text, &size);
        bind(f, s, len, name, first, true);
        stream_close(f);
        finish(l, out, text, size, at, true);
        vs_free(text);
    } else {
        put_terms(l, out, name, first, n / 2, step, s, len, at);
        putc('+', out);
        put_terms(l, out, name, first + step * (double)(n / 2), n - n / 2, step, s, len, at);
    }
    putc(')', out);
}

/* "sum(k, a, b, expression)" at s; its length if it is that, else 0. */
static size_t put_sum(net_for *l, FILE *out, const char *s, size_t n, diag_span at)
{
    const size_t end = closing(s, n, 3);
    size_t from[5] = {4}, k = 0;
    if (end == n)
        return 0;
    while (k < 4 && from[k] <= end) {
        from[k + 1] = part_end(s, end, from[k]) + 1;
        k++;
    }
    if (k != 4 || from[4] <= end)
        return 0;
    const char *name = s + from[0];
    size_t len = from[1] - 1 - from[0];
    trim(&name, &len);
    double a, b;
    if (!len || len > NET_FOR_NAME || word_len(name, len) != len)
        return 0;
    if (!value_of(l, s + from[1], from[2] - 1 - from[1], &a) ||
        !value_of(l, s + from[2], from[3] - 1 - from[2], &b)) {
        fail(l, at, "the bounds of sum() must be numbers known before the run");
        return end + 1;
    }
    const double turns = floor(b - a + 1e-9) + 1;
    l->n_turn += turns > 0 && turns < MAX_TURNS ? (int64_t)turns : 0;
    if (turns >= MAX_TURNS || l->n_turn > MAX_TURNS) {
        fail(l, at, "loops and sums of more than 4000000 turns");
        return end + 1;
    }
    char var[NET_FOR_NAME + 1];
    memcpy(var, name, len);
    var[len] = 0;
    if (turns < 1)
        fputs("0", out);
    else
        put_terms(l, out, var, a, (int64_t)turns, 1, s + from[3], end - from[3], at);
    return end + 1;
}

/* A word before a brace that is part of the language, not of a name: VALUE{...}. */
static bool is_keyword_before(const char *s, size_t i)
{
    static const char *const word[] = {"value", "table",   "vol",  "cur",  "v",
                                       "i",     "laplace", "freq", "poly", "q"};
    size_t from = i;
    while (from > 0 && is_word(s[from - 1]))
        from--;
    for (size_t k = 0; k < VS_COUNT(word); k++)
        if (same(s + from, i - from, word[k]))
            return true;
    return false;
}

/* A brace that is an index: glued to a name, or inside another brace or a bracket. */
static bool put_braced(net_for *l, FILE *out, const char *s, size_t n, size_t i, size_t end,
                       bool nested)
{
    const bool glued =
        (i > 0 && (is_word(s[i - 1]) || s[i - 1] == ']') && !is_keyword_before(s, i)) ||
        (end + 1 < n && is_word(s[end + 1]));
    double y;
    if (!(glued || nested) || !value_of(l, s + i + 1, end - i - 1, &y))
        return false;
    put_number(out, y, glued);
    return true;
}

/* Copies s[0..n) with indices and sums done. inside: it is (part of) an expression. */
static void finish(net_for *l, FILE *out, const char *s, size_t n, diag_span at, bool inside)
{
    walk w = {0};
    for (size_t i = 0; i < n && !l->failed;) {
        const size_t skip = inside ? i : copy_opaque(out, s, n, i, &w);
        if (skip > i) {
            i = skip;
            continue;
        }
        const size_t end = s[i] == '{' || s[i] == '[' ? closing(s, n, i) : n;
        const bool glued = i > 0 && (is_word(s[i - 1]) || s[i - 1] == '}');
        if (s[i] == '{' && end < n) {
            if (!put_braced(l, out, s, n, i, end, inside)) {
                putc('{', out);
                finish(l, out, s + i + 1, end - i - 1, at, true);
                putc('}', out);
            }
            i = end + 1;
        } else if (s[i] == '[' && glued && end < n && put_index(l, out, s + i + 1, end - i - 1)) {
            i = end + 1;
        } else if (s[i] == '[' && glued && end < n && memchr(s + i, '{', end - i)) {
            fail(l, at, "an index must be a whole number known before the run");
        } else if (name_starts(s, i)) {
            const size_t k = word_len(s + i, n - i);
            size_t done = 0;
            if (same(s + i, k, "sum") && i + k < n && s[i + k] == '(')
                done = put_sum(l, out, s + i, n - i, at);
            if (!done)
                fwrite(s + i, 1, k, out);
            i += done ? done : k;
        } else {
            putc(s[i++], out);
        }
    }
}

/* Is the brace at s[i] that of an index? */
static bool index_brace(const char *s, size_t n, size_t i)
{
    if (s[i] == '{')
        return i > 0 && (is_word(s[i - 1]) || s[i - 1] == '[') && !is_keyword_before(s, i);
    return i + 1 < n && is_word(s[i + 1]);
}

bool net_for_wanted(const char *s, size_t n)
{
    const char *const end = s + n;
    for (const char *p = s; (p = memchr(p, '(', (size_t)(end - p))); p++)
        if (p - s >= 3 && !str_ncasecmp(p - 3, "sum", 3) && name_starts(s, (size_t)(p - 3 - s)))
            return true;
    for (int k = 0; k < 2; k++)
        for (const char *p = s; (p = memchr(p, "{}"[k], (size_t)(end - p))); p++)
            if (index_brace(s, n, (size_t)(p - s)))
                return true;
    return false;
}

char *net_for_card(net_for *l, diag_span at, size_t *len)
{
    char *text = NULL;
    FILE *out = stream_text(&text, len);
    l->failed = false;
    finish(l, out, l->d->file[at.file].text + at.off, at.len, at, false);
    stream_close(out);
    l->n_byte += *len;
    if (l->n_byte > MAX_BYTES)
        fail(l, at, "loops and sums make more than 512 MiB of text");
    if (!l->failed)
        return text;
    vs_free(text);
    return NULL;
}

/* -- loops -- */

/* The first word of the line at s[i]; its length 0 on blank lines. */
static size_t line_word(const char *s, size_t n, size_t *i)
{
    size_t k = 0;
    while (*i < n && (s[*i] == ' ' || s[*i] == '\t' || s[*i] == '\r'))
        (*i)++;
    while (*i + k < n && (is_word(s[*i + k]) || s[*i + k] == '.'))
        k++;
    return k;
}

static size_t line_end(const char *s, size_t n, size_t i)
{
    const char *nl = i < n ? memchr(s + i, '\n', n - i) : NULL;
    return nl ? (size_t)(nl - s) + 1 : n;
}

/* The next " to " or " step " in s[i..n), outside brackets; n: none. */
static size_t find_word(const char *s, size_t n, size_t i, const char *word)
{
    for (; i < n; i++)
        if (name_starts(s, i) && same(s + i, word_len(s + i, n - i), word))
            return i;
    return n;
}

/* "name = a to b [step s]" */
static bool parse_head(net_for *l, const char *s, size_t n, diag_span at, net_turns *h)
{
    trim(&s, &n);
    const size_t k = word_len(s, n);
    size_t i = k;
    while (i < n && isspace((unsigned char)s[i]))
        i++;
    if (!k || k > NET_FOR_NAME || i >= n || s[i] != '=') {
        fail(l, at, ".for needs: variable = first to last [step number]");
        return false;
    }
    memcpy(h->name, s, k);
    h->name[k] = 0;
    const size_t to = find_word(s, n, ++i, "to"), step = find_word(s, n, to, "step");
    h->step = 1;
    if (to == n || !value_of(l, s + i, to - i, &h->from) ||
        !value_of(l, s + to + 2, step - to - 2, &h->to) ||
        (step < n && !value_of(l, s + step + 4, n - step - 4, &h->step))) {
        fail(l, at,
             "the bounds of .for must be numbers known before the run: variable = first to last "
             "[step number]");
        return false;
    }
    if (h->step == 0) {
        fail(l, at, "the step of .for is 0");
        return false;
    }
    return true;
}

static void expand(net_for *l, FILE *out, const char *s, size_t n, diag_span at, int depth);

/* How many turns a loop has, below 1 none. false after a message: more than there may be. */
static bool count_turns(net_for *l, const net_turns *h, diag_span at, int depth, double *count)
{
    *count = floor((h->to - h->from) / h->step + 1e-9) + 1;
    const bool ok = depth < MAX_DEPTH && *count <= MAX_TURNS &&
                    l->n_turn + (int64_t)fmax(*count, 0) <= MAX_TURNS;
    if (!ok)
        fail(l, at,
             depth >= MAX_DEPTH ? ".for is nested more than 64 deep"
                                : "loops and sums of more than 4000000 turns");
    return ok;
}

/* The lines of a loop for one value. */
static void one_turn(net_for *l, FILE *out, const net_turns *h, int64_t k, const char *s, size_t n,
                     diag_span at, int depth)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = stream_text(&text, &len);
    bind(f, s, n, h->name, h->from + (double)k * h->step, false);
    stream_close(f);
    l->n_turn++;
    l->n_byte += len;
    if (l->n_byte > MAX_BYTES)
        fail(l, at, "loops and sums make more than 512 MiB of text");
    expand(l, out, text, len, at, depth + 1);
    vs_free(text);
}

/* Expands a loop inside a loop: writes its lines once for each value. A loop of many turns is
 * copied as it is, s[i..n); the reader asks for its turns later. */
static void inner_loop(net_for *l, FILE *out, const net_turns *h, const char *s, size_t i,
                       size_t body, size_t end, size_t n, diag_span at, int depth)
{
    double count;
    if (!count_turns(l, h, at, depth, &count))
        return;
    if (count > MANY_TURNS) {
        fwrite(s + i, 1, n - i, out);
        return;
    }
    for (int64_t k = 0; (double)k < count && !l->failed; k++)
        one_turn(l, out, h, k, s + body, end - body, at, depth);
}

/* Text with loops in it, all variables of outer ones bound. */
static void expand(net_for *l, FILE *out, const char *s, size_t n, diag_span at, int depth)
{
    size_t run = 0; /* what is not in a loop begins here */
    for (size_t i = 0; i < n && !l->failed;) {
        const size_t start = i;
        const size_t k = line_word(s, n, &i), body = line_end(s, n, i);
        if (!same(s + i, k, ".for")) {
            i = body;
            continue;
        }
        finish(l, out, s + run, start - run, at, false);
        int level = 1;
        size_t end = body, next = body;
        while (next < n && level > 0) {
            end = next;
            size_t w = next;
            const size_t wl = line_word(s, n, &w);
            level += same(s + w, wl, ".for");
            level -= same(s + w, wl, ".endfor");
            next = line_end(s, n, w);
        }
        net_turns h;
        if (level > 0)
            fail(l, at, "a .for inside this one has no .endfor");
        else if (parse_head(l, s + i + k, body - i - k, at, &h))
            inner_loop(l, out, &h, s, start, body, end, next, at, depth);
        i = run = next;
    }
    finish(l, out, s + run, n - run, at, false);
}

bool net_for_start(net_for *l, net_turns *t, diag_span head, diag_span body)
{
    double count;
    l->failed = false;
    t->at = head;
    t->body = body;
    t->next = 0;
    return parse_head(l, l->d->file[head.file].text + head.off, head.len, head, t) &&
           count_turns(l, t, head, l->nested, &count);
}

char *net_for_next(net_for *l, net_turns *t, size_t *len)
{
    const double count = floor((t->to - t->from) / t->step + 1e-9) + 1;
    if ((double)t->next >= count)
        return NULL;
    char *text = NULL;
    FILE *out = stream_text(&text, len);
    l->failed = false;
    for (; (double)t->next < count && ftell(out) < PIECE && !l->failed; t->next++)
        one_turn(l, out, t, t->next, l->d->file[t->body.file].text + t->body.off, t->body.len,
                 t->at, l->nested);
    stream_close(out);
    if (!l->failed)
        return text;
    vs_free(text);
    return NULL;
}
