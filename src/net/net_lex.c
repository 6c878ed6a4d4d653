/* net_lex.c - characters to logical lines of tokens: comments, continuation, quotes, braces.
 * A logical line costs no allocation of its own: its tokens replace those of the line before. */
#include <string.h>

#include "net_for.h"
#include "net_priv.h"
#include "pool.h"
#include "vec.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* The bits of characters from a to b in a set of four words. */
#define CHARS(a, b) (~(uint64_t)0 >> (63 - ((b) - (a))) << ((a) & 63))
#define CHAR(a) CHARS(a, a)

typedef struct charset {
    uint64_t bits[4];
} charset;

/* A letter or digit, or another character that has no meaning for the lexer. */
static const charset simple = {
    {CHARS('0', '9') | CHAR('.') | CHAR('-') | CHAR('+') | CHAR(':') | CHAR('#'),
     CHARS('a', 'z') | CHARS('A', 'Z') | CHAR('_')}};
/* What else the line of an element may have without a look at its tokens. */
static const charset plain = {{CHARS('0', '9') | CHAR('.') | CHAR('-') | CHAR('+') | CHAR(':') |
                                   CHAR('#') | CHAR('=') | CHAR(' ') | CHAR('\t') | CHAR('\r') |
                                   CHAR('\f') | CHAR('\v'),
                               CHARS('a', 'z') | CHARS('A', 'Z') | CHAR('_')}};

static uint64_t has(const charset *set, char c)
{
    const unsigned char u = (unsigned char)c;
    return set->bits[u >> 6] >> (u & 63) & 1;
}

static bool is_word_end(char c)
{
    static const bool ends[256] = {
        [' '] = 1, ['\t'] = 1, ['\r'] = 1, ['\n'] = 1, ['\f'] = 1, ['\v'] = 1, ['='] = 1, [','] = 1,
        ['('] = 1, [')'] = 1,  ['{'] = 1,  ['}'] = 1,  ['\''] = 1, ['"'] = 1,  [';'] = 1};
    return ends[(unsigned char)c];
}

void net_lex_init(net_lex *l, diag *d, str_pool *names, int32_t file)
{
    const diag_file *f = &d->file[file];
    *l = (net_lex){.d = d, .names = names, .s = f->text, .len = (uint32_t)f->len, .file = file};
    if (l->len >= 3 && !memcmp(l->s, "\xef\xbb\xbf", 3))
        l->pos = 3; /* byte order mark */
    const char *nul = memchr(l->s, 0, l->len);
    if (nul) {
        diag_error(d, (diag_span){file, (uint32_t)(nul - l->s), 1},
                   "zero byte: '%s' is not a text file; the rest of it is not read", f->name);
        l->len = (uint32_t)(nul - l->s);
    }
}

static uint32_t skip_blank(const char *s, uint32_t len, uint32_t p)
{
    while (p < len && is_blank(s[p]))
        p++;
    return p;
}

static uint32_t line_end(const char *s, uint32_t len, uint32_t p)
{
    const char *nl = memchr(s + p, '\n', len - p);
    return nl ? (uint32_t)(nl - s) : len;
}

/* A node of PSpice's digital parts: $d_hi, $g_dpwr. It may begin a continuation line. */
static bool is_digital_node(const net_lex *l, uint32_t p)
{
    return p + 2 < l->len && strchr("dgDG", l->s[p + 1]) && l->s[p + 2] == '_';
}

/* A comment that reaches to the end of the line? Within a line it needs a blank before it, so that
 * names with '$' and paths with "//" stay whole; ';' does not. */
static bool is_comment(const net_lex *l, uint32_t p, bool at_start)
{
    const char *s = l->s;
    char c = s[p], next = p + 1 < l->len ? s[p + 1] : '\n';
    if (c == ';')
        return true;
    bool apart = at_start || is_blank(s[p - 1]) || s[p - 1] == ',';
    if (c == '/' && next == '/')
        return apart;
    return c == '$' && apart &&
           ((at_start && !is_digital_node(l, p)) || is_blank(next) || next == '\n');
}

/* Is a closing bracket alone on its line? It ends a model card above and needs no card of its own.
 */
static bool is_lone_bracket(const char *s, uint32_t len, uint32_t p)
{
    const uint32_t q = skip_blank(s, len, p + 1);
    return s[p] == ')' && (q >= len || s[q] == '\n');
}

/* The start of the first line at or after p that is neither blank nor all comment; len: none. */
static uint32_t content_line(const char *s, uint32_t len, uint32_t p)
{
    while (p < len) {
        uint32_t q = skip_blank(s, len, p);
        char next = q + 1 < len ? s[q + 1] : '\n';
        if (q >= len)
            return len;
        if (s[q] != '\n' && s[q] != '*' && s[q] != ';' && s[q] != '$' &&
            !(s[q] == '/' && next == '/') && !is_lone_bracket(s, len, q))
            return q;
        p = line_end(s, len, q) + 1;
    }
    return len;
}

uint32_t net_lex_join(const char *s, uint32_t len, uint32_t nl)
{
    if (nl >= len)
        return 0;
    uint32_t q = content_line(s, len, nl + 1);
    return q < len && s[q] == '+' ? q + 1 : 0;
}

static void push(net_lex *l, net_tok_kind kind, uint32_t from, uint32_t to, bool glued)
{
    net_tok t = {.off = from, .len = to - from, .kind = (uint8_t)kind, .glued = glued};
    if (l->brief && vec_len(l->tok) && l->tok[0].text && l->tok[0].text[0] != '.')
        t.text = NULL;
    else if (kind == NET_T_WORD) {
        const size_t n = l->names->n;
        t.text = str_intern_lower(l->names, l->s + from, to - from);
        if (!vec_len(l->tok))
            l->first = l->names->n > n;
    } else if (kind == NET_T_STR) {
        bool closed = to - from >= 2 && l->s[to - 1] == '"';
        t.text = str_intern(l->names, l->s + from + 1, to - from - (closed ? 2 : 1));
    } else if (kind == NET_T_PUNCT)
        t.punct = l->s[from];
    vec_push(l->tok, t);
}

/* The end of a quoted text that starts at p, after its closing character. A brace may span
 * continuation lines; nothing else ends it but the end of the logical line. */
static uint32_t scan_quoted(net_lex *l, uint32_t p)
{
    char open = l->s[p], close = open == '{' ? '}' : open;
    int depth = 0;
    for (uint32_t q = p + 1; q <= l->len; q++) {
        char c = q < l->len ? l->s[q] : '\n';
        if (c == '\n') {
            uint32_t next = open == '"' ? 0 : net_lex_join(l->s, l->len, q);
            if (!next) {
                l->bad = true;
                if (!l->quiet)
                    diag_error(l->d, (diag_span){l->file, p, 1}, "no closing %s",
                               open == '{'   ? "brace '}'"
                               : open == '"' ? "quote '\"'"
                                             : "quote (')");
                while (q > p + 1 && is_blank(l->s[q - 1]))
                    q--;
                return q;
            }
            q = next - 1;
        } else if (c == close && depth-- == 0) {
            return q + 1;
        } else if (c == open) {
            depth++;
        }
    }
    return l->len;
}

static uint32_t scan_word(const net_lex *l, uint32_t p)
{
    uint32_t q = p + 1;
    while (q < l->len && !is_word_end(l->s[q])) {
        const size_t index = l->s[q] == '[' ? net_index_len(l->s + q, l->len - q) : 0;
        q += index ? (uint32_t)index : 1;
    }
    /* a backslash before the line end joins lines */
    if (q > p + 1 && l->s[q - 1] == '\\' && skip_blank(l->s, l->len, q) < l->len &&
        l->s[skip_blank(l->s, l->len, q)] == '\n')
        q--;
    return q;
}

/* After a line's last token: the start of its continuation, or 0 */
static uint32_t end_of_line(net_lex *l, uint32_t p)
{
    p = line_end(l->s, l->len, p);
    l->pos = p < l->len ? p + 1 : l->len;
    return net_lex_join(l->s, l->len, p);
}

static bool is_joined(const net_lex *l, uint32_t p)
{
    if (l->s[p] != '\\')
        return false;
    while (p < l->len && l->s[p] == '\\')
        p++;
    uint32_t q = skip_blank(l->s, l->len, p);
    return q < l->len && l->s[q] == '\n';
}

/* The tokens of the logical line whose first character is at p. */
static void lex_line(net_lex *l, uint32_t p)
{
    bool at_start = true;
    uint32_t last = UINT32_MAX;
    for (;;) {
        p = skip_blank(l->s, l->len, p);
        if (p >= l->len || l->s[p] == '\n' || is_comment(l, p, at_start)) {
            uint32_t next = end_of_line(l, p);
            if (!next)
                return;
            p = next;
            at_start = true;
            continue;
        }
        if (is_joined(l, p)) {
            p = line_end(l->s, l->len, p) + 1;
            continue;
        }
        at_start = false;
        char c = l->s[p];
        bool glued = p == last;
        uint32_t q = p + 1;
        if (c == '=' || c == ',' || c == '(' || c == ')' || c == '}') {
            push(l, NET_T_PUNCT, p, q, glued);
        } else if (c == '{' || c == '\'' || c == '"') {
            q = scan_quoted(l, p);
            push(l, c == '"' ? NET_T_STR : NET_T_EXPR, p, q, glued);
        } else {
            q = scan_word(l, p);
            push(l, NET_T_WORD, p, q, glued);
        }
        p = last = q;
    }
}

/* The end of a word of simple characters and indices, "x[3,4]". */
static uint32_t simple_end(const char *s, uint32_t len, uint32_t p)
{
    for (;;) {
        while (p < len && has(&simple, s[p]))
            p++;
        const size_t index = p < len && s[p] == '[' ? net_index_len(s + p, len - p) : 0;
        if (!index)
            return p;
        p += (uint32_t)index;
    }
}

/* The end of a brace without another one in it, on one line; p: there is none. */
static uint32_t brace_end(const char *s, uint32_t len, uint32_t p)
{
    uint32_t q = p + 1;
    while (q < len && s[q] != '\n' && s[q] != '{' && s[q] != '}')
        q++;
    return q < len && s[q] == '}' ? q + 1 : p;
}

bool net_three_words(const net_line *l, const char *s, uint32_t len, diag_span word[3])
{
    uint32_t p = l->off + (uint32_t)strlen(l->name);
    for (int i = 0; i < 3; i++) {
        const uint32_t from = skip_blank(s, len, p);
        p = i == 2 && from < len && s[from] == '{' ? brace_end(s, len, from)
                                                   : simple_end(s, len, from);
        if (p == from || (p < len && s[p] != '\n' && !is_blank(s[p])))
            return false;
        word[i] = (diag_span){l->file, from, p - from};
    }
    p = skip_blank(s, len, p);
    return p >= len || (s[p] == '\n' && !net_lex_join(s, len, p));
}

/* The line at p, of which only the first word's text is wanted, if no character but blanks and '='
 * has a meaning for the lexer and no line continues it: most lines of a large deck are so. false:
 * it is another one. */
static bool find_plain(const char *s, uint32_t len, uint32_t p, net_plain_line *out)
{
    const uint32_t end = line_end(s, len, p);
    uint64_t ok = 1;
    for (uint32_t q = p; q < end; q++)
        ok &= has(&plain, s[q]);
    uint32_t word = p, to = end;
    while (word < end && has(&simple, s[word]))
        word++;
    if (!ok || word == p || word == end || s[p] == '.' || s[word] == '=' || end + 1 >= len ||
        s[end + 1] == '+' || (!has(&simple, s[end + 1]) && net_lex_join(s, len, end)))
        return false;
    while (is_blank(s[to - 1]))
        to--;
    *out = (net_plain_line){.word = p,
                            .word_end = word,
                            .rest = skip_blank(s, len, word),
                            .rest_end = to,
                            .end = end + 1,
                            .hash = str_hash_folded(s + p, word - p)};
    return true;
}

static void take_plain(net_lex *l, const net_plain_line *k)
{
    const size_t n = l->names->n;
    net_tok t = {.off = k->word, .len = k->word_end - k->word, .kind = NET_T_WORD};
    t.text = str_intern_hashed(l->names, l->s + t.off, t.len, k->hash, NULL);
    vec_push(l->tok, t);
    l->first = l->names->n > n;
    if (k->rest < k->rest_end)
        vec_push(l->tok,
                 ((net_tok){.off = k->rest, .len = k->rest_end - k->rest, .kind = NET_T_WORD}));
    l->plain = true;
    l->pos = k->end;
}

/* -- ahead -- */

enum { AHEAD_LINES = 4096, AHEAD_BYTES = 1 << 18 };

/* Plain lines from a place of the text on. They depend on the text alone, so that it does not
 * matter which of them the lexer comes to. */
typedef struct stretch {
    const char *s;
    uint32_t len, from, to;
    int32_t n;
    net_plain_line line[AHEAD_LINES];
} stretch;
struct net_ahead {
    pool_ahead by; /* buffers: stretches */
    int32_t i;     /* of `now` */
};

static void find_stretch(void *user, int32_t i, int worker)
{
    stretch *t = user;
    uint32_t pos = t->from;
    (void)i;
    (void)worker;
    t->n = 0;
    while (pos < t->len && t->n < AHEAD_LINES && pos - t->from < AHEAD_BYTES) {
        net_plain_line *k = &t->line[t->n];
        const uint32_t p = content_line(t->s, t->len, pos);
        if (p < t->len && t->s[p] != '+' && find_plain(t->s, t->len, p, k)) {
            k->from = pos;
            pos = k->end;
            t->n++;
        } else {
            pos = p < t->len ? line_end(t->s, t->len, p) + 1 : t->len;
        }
    }
    t->to = pos;
}

static void begin_next(net_ahead *a, const net_lex *l, uint32_t from)
{
    stretch *t = a->by.next;
    t->s = l->s;
    t->len = l->len;
    t->from = from;
    pool_ahead_fill(&a->by);
}

bool net_is_shared(size_t bytes, int threads)
{
    enum { LEAST = 1 << 18 };
    return bytes >= LEAST && (threads ? threads : pool_processors()) > 1;
}

void net_lex_share(net_lex *l, int threads)
{
    if (!net_is_shared(l->len, threads))
        return;
    l->ahead = vs_calloc(1, sizeof *l->ahead);
    pool_ahead_init(&l->ahead->by, sizeof(stretch), find_stretch);
    begin_next(l->ahead, l, l->pos);
}

void net_lex_fini(net_lex *l)
{
    vec_free(l->tok);
    if (l->ahead)
        pool_ahead_fini(&l->ahead->by);
    vs_free(l->ahead);
}

/* The plain line that begins where the lexer stands, NULL: none was found. */
static const net_plain_line *plain_here(net_lex *l)
{
    net_ahead *a = l->ahead;
    if (!a)
        return NULL;
    const stretch *t = a->by.now;
    while (l->pos < l->len && l->pos >= t->to) {
        pool_ahead_turn(&a->by);
        t = a->by.now;
        a->i = 0;
        begin_next(a, l, l->pos > t->to ? l->pos : t->to);
    }
    while (a->i < t->n && t->line[a->i].from < l->pos)
        a->i++;
    return a->i < t->n && t->line[a->i].from == l->pos ? &t->line[a->i] : NULL;
}

/* Takes the line at p if it is plain. */
static bool lex_plain_line(net_lex *l, uint32_t p)
{
    net_plain_line k;
    if (!find_plain(l->s, l->len, p, &k))
        return false;
    take_plain(l, &k);
    return true;
}

bool net_lex_card(net_lex *l)
{
    vec_clear(l->tok);
    l->bad = l->plain = false;
    const net_plain_line *known = l->brief ? plain_here(l) : NULL;
    if (known) {
        take_plain(l, known);
        return true;
    }
    while (!vec_len(l->tok)) {
        uint32_t p = content_line(l->s, l->len, l->pos);
        if (p >= l->len) {
            l->pos = l->len;
            return false;
        }
        if (l->s[p] == '+') {
            if (!l->quiet)
                diag_error(l->d, (diag_span){l->file, p, 1},
                           "continuation line with no card before it");
            p++;
        } else if (l->brief && lex_plain_line(l, p)) {
            break;
        }
        lex_line(l, p);
    }
    return true;
}

/* A line that starts with no dot and ends with no backslash can be passed over at once: a line that
 * continues it starts with '+'. */
bool net_lex_dot_card(net_lex *l)
{
    for (;;) {
        const uint32_t p = content_line(l->s, l->len, l->pos), end = line_end(l->s, l->len, p);
        if (p >= l->len || l->s[p] == '.' || memchr(l->s + p, '\\', end - p)) {
            l->pos = p;
            if (!net_lex_card(l) || l->s[p] == '.')
                return vec_len(l->tok) > 0;
        } else {
            l->pos = end < l->len ? end + 1 : l->len;
        }
    }
}

diag_span net_lex_raw_line(net_lex *l)
{
    uint32_t from = l->pos, to = line_end(l->s, l->len, from);
    l->pos = to < l->len ? to + 1 : l->len;
    while (to > from && is_blank(l->s[to - 1]))
        to--;
    return (diag_span){l->file, from, to - from};
}
