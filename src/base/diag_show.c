/* diag_show.c - messages as people see them: place, sentence, source line and caret. See diag.h. */
#include "diag.h"

#include <stdarg.h>
#include <string.h>

#include "vec.h"

enum { SHOWN_WIDTH = 120 };

/* Where the text goes: to a stream, or what fits of it to a buffer. */
typedef struct sink {
    FILE *out; /* NULL: buf */
    char *buf;
    size_t size, n; /* n: bytes so far, those that did not fit included */
} sink;

static void put(sink *s, const char *text, size_t n)
{
    if (s->out) {
        fwrite(text, 1, n, s->out);
        return;
    }
    const size_t room = s->n + 1 < s->size ? s->size - 1 - s->n : 0;
    if (room)
        memcpy(s->buf + s->n, text, n < room ? n : room);
    s->n += n;
}

static void put_text(sink *s, const char *text) { put(s, text, strlen(text)); }

/* Numbers and fixed words: what is as long as the user likes goes by put_text. */
static void VS_PRINTF(2, 3) put_f(sink *s, const char *fmt, ...)
{
    char text[80];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put(s, text, (size_t)n);
}

static void put_visible(sink *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const char shown = (char)(c == '\t' ? ' ' : c < 32 || c == 127 ? '?' : c);
        put(s, &shown, 1);
    }
}

static void put_many(sink *s, char c, size_t n)
{
    while (n--)
        put(s, &c, 1);
}

/* The line and a caret under the place; a long line is shown as a window around the caret. */
static void show_source(sink *s, const diag_record *r)
{
    const size_t len = strlen(r->source), at = (size_t)r->column - 1, off = at < len ? at : len;
    const size_t left = SHOWN_WIDTH * 2 / 3;
    const size_t a = off > left ? off - left : 0;
    size_t b = len - a > SHOWN_WIDTH ? a + SHOWN_WIDTH : len;
    const bool cut_right = b < len;
    if (b > a && r->source[b - 1] == '\r')
        b--;
    put_f(s, "%5d | %s", r->line, a ? "..." : "");
    put_visible(s, r->source + a, b - a);
    put_f(s, "%s\n      | ", cut_right ? "..." : "");
    put_many(s, ' ', off - a + (a ? 3 : 0));
    put(s, "^", 1);
    for (int i = 1; i < r->length && off + (size_t)i < b; i++)
        put(s, "~", 1);
    put(s, "\n", 1);
}

static void show(sink *s, const diag_record *r, bool color)
{
    static const char *const level[] = {"error", "warning", "note"};
    static const char *const paint[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    if (r->file) {
        put_text(s, r->file);
        put_f(s, ":%d:%d: ", r->line, r->column);
    } else if (r->level != DIAG_NOTE) {
        put_text(s, "vsim: ");
    }
    put_f(s, "%s%s:%s ", color ? paint[r->level] : "", level[r->level], color ? "\033[0m" : "");
    put_visible(s, r->text, strlen(r->text));
    put(s, "\n", 1);
    if (r->source)
        show_source(s, r);
}

/* -- records -- */

static void take_line(const diag *d, diag_span at, arena *mem, diag_record *r)
{
    const char *text = diag_text(d, at.file);
    const size_t len = d->file[at.file].len, off = at.off < len ? at.off : len;
    size_t a = off, b = off;
    while (a > 0 && text[a - 1] != '\n')
        a--;
    while (b < len && text[b] != '\n')
        b++;
    const size_t rest = b - off;
    char *line = arena_strndup(mem, text + a, b - a);
    for (size_t i = 0; i < b - a; i++)
        line[i] = line[i] ? line[i] : 1; /* a zero byte is shown as any control byte */
    r->source = line;
    r->length = (int)(at.len < rest ? at.len : rest);
}

diag_record diag_record_of(const diag *d, size_t i, arena *mem)
{
    const diag_msg *m = &d->msg[i];
    diag_record r = {.level = m->level, .code = m->code, .text = m->text};
    if (m->span.file < 0)
        return r;
    r.file = d->file[m->span.file].name;
    diag_where(d, m->span, &r.line, &r.column);
    take_line(d, m->span, mem, &r);
    return r;
}

bool diag_included(const diag *d, size_t i, size_t k, diag_record *r)
{
    const diag_msg *m = &d->msg[i];
    if (m->span.file < 0 || m->level == DIAG_NOTE)
        return false;
    diag_span from = d->file[m->span.file].from;
    for (; k && from.file >= 0; k--)
        from = d->file[from.file].from;
    if (from.file < 0)
        return false;
    *r = (diag_record){
        .level = DIAG_NOTE, .file = d->file[from.file].name, .text = "included from here"};
    diag_where(d, from, &r->line, &r->column);
    return true;
}

size_t diag_format(const diag_record *r, char *buf, size_t size)
{
    sink s = {.buf = buf, .size = size};
    show(&s, r, false);
    if (size)
        buf[s.n < size ? s.n : size - 1] = 0;
    return s.n;
}

static void put_mark(FILE *out, uint64_t kind, const char *text)
{
    fprintf(out, "%c%016llx%016llx\n", DIAG_MARK, (unsigned long long)kind,
            (unsigned long long)str_hash(text, strlen(text)));
}

static void render(const diag *d, FILE *out, bool color, bool marked)
{
    sink s = {.out = out};
    arena mem;
    arena_init(&mem);
    for (size_t i = 0; i < vec_len(d->msg); i++) {
        if (marked && d->msg[i].level != DIAG_NOTE)
            put_mark(out, d->msg[i].kind, d->msg[i].text);
        diag_record r = diag_record_of(d, i, &mem);
        show(&s, &r, color);
        for (size_t k = 0; diag_included(d, i, k, &r); k++)
            show(&s, &r, color);
    }
    arena_fini(&mem);
    if (d->n_dropped && !d->told_full && marked)
        put_mark(out, 0, "");
    if (d->n_dropped && !d->told_full)
        fprintf(out, "vsim: there are more than %d errors; no others are shown\n", d->max_error);
}

void diag_render(const diag *d, FILE *out, bool color) { render(d, out, color, false); }
void diag_render_marked(const diag *d, FILE *out) { render(d, out, false, true); }
