/* spa_mm.c - Matrix Market files.
 * Source: Boisvert, Pozo & Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996. */
#include "spa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stream.h"
#include "vec.h"

#define MAX_INDEX (1 << 30)

typedef struct reader {
    diag *d;
    int32_t file;
    const char *text, *at, *end;
} reader;

typedef struct entry {
    int32_t row, col;
    double v;
} entry;

static diag_span span_of(const reader *r, const char *from, const char *to)
{
    return (diag_span){r->file, (uint32_t)(from - r->text), (uint32_t)(to > from ? to - from : 1)};
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Past blanks, and with `lines` also past ends of lines and comment lines. */
static void skip(reader *r, bool lines)
{
    for (;;) {
        while (r->at < r->end && (is_blank(*r->at) || (lines && *r->at == '\n')))
            r->at++;
        bool line_start = r->at == r->text || r->at[-1] == '\n';
        if (!lines || r->at >= r->end || *r->at != '%' || !line_start)
            return;
        while (r->at < r->end && *r->at != '\n')
            r->at++;
    }
}

static const char *word_end(const reader *r)
{
    const char *e = r->at;
    while (e < r->end && !is_blank(*e) && *e != '\n')
        e++;
    return e;
}

/* -- header -- */

static bool header_word(reader *r, const char *what, const char *const *choice, size_t n,
                        int *index)
{
    skip(r, false);
    const char *e = word_end(r);
    size_t len = (size_t)(e - r->at);
    for (size_t i = 0; i < n; i++)
        if (strlen(choice[i]) == len && !str_ncasecmp(r->at, choice[i], len)) {
            *index = (int)i;
            r->at = e;
            return true;
        }
    if (!len) {
        diag_error(r->d, span_of(r, r->at, e), "the %s is missing; expected '%s'%s", what,
                   choice[0], n > 1 ? " or another" : "");
    } else {
        char word[32];
        snprintf(word, sizeof word, "%.*s", (int)(len < 31 ? len : 31), r->at);
        diag_error(r->d, span_of(r, r->at, e), "unknown %s '%s'", what, word);
        diag_suggest(r->d, word, choice, n);
    }
    char all[128] = "";
    for (size_t i = 0, at = 0; i < n; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", choice[i]);
    diag_note(r->d, DIAG_NOWHERE, "known: %s", all);
    return false;
}

static vs_status bad_header(reader *r, const char *line, const char *why)
{
    diag_error(r->d, span_of(r, line, r->at), "%s", why);
    return VS_EINPUT;
}

static vs_status read_header(reader *r, spa_mm *m)
{
    static const char *const banner[] = {"%%MatrixMarket"}, *const object[] = {"matrix"},
                             *const format[] = {"coordinate", "array"},
                             *const field[] = {"real", "complex", "integer", "pattern", "double"},
                             *const sym[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    int none, f = 0, k = 0, s = 0;
    const char *line = r->at;
    if (!header_word(r, "banner", banner, 1, &none) ||
        !header_word(r, "object", object, 1, &none) || !header_word(r, "format", format, 2, &f) ||
        !header_word(r, "field", field, 5, &k) || !header_word(r, "symmetry", sym, 4, &s))
        return VS_EINPUT;
    skip(r, false);
    if (r->at < r->end && *r->at != '\n')
        return bad_header(r, r->at, "the first line ends after the symmetry");
    *m = (spa_mm){.array = f == 1, .field = k == 4 ? SPA_REAL : (spa_field)k, .sym = (spa_sym)s};
    if (m->array && m->field == SPA_PATTERN)
        return bad_header(r, line, "a pattern has no array format; expected 'coordinate'");
    if (m->sym == SPA_HERMITIAN && m->field != SPA_COMPLEX)
        return bad_header(r, line, "only a complex matrix can be hermitian; expected 'symmetric'");
    if (m->sym == SPA_SKEW && m->field == SPA_PATTERN)
        return bad_header(r, line, "a pattern has no sign; expected 'symmetric' or 'general'");
    return VS_OK;
}

/* -- numbers -- */

static bool read_index(reader *r, bool lines, const char *what, int64_t least, int64_t most,
                       int64_t *v)
{
    skip(r, lines);
    const char *from = r->at, *e = word_end(r);
    int64_t x = 0;
    const char *c = from;
    for (; c < e && *c >= '0' && *c <= '9'; c++)
        x = x > INT64_MAX / 20 ? x : 10 * x + (*c - '0');
    if (c == e && e > from && x >= least && x <= most) {
        r->at = e;
        *v = x;
        return true;
    }
    if (from >= r->end)
        diag_error(r->d, span_of(r, from - (from > r->text), from),
                   "the file ends where %s is expected", what);
    else if (c < e || e == from)
        diag_error(r->d, span_of(r, from, e), "expected %s, a whole number", what);
    else
        diag_error(r->d, span_of(r, from, e), "%s must lie between %lld and %lld", what,
                   (long long)least, (long long)most);
    return false;
}

static bool read_value(reader *r, bool lines, double *v)
{
    skip(r, lines);
    const char *from = r->at, *e = word_end(r);
    char *stop = NULL;
    *v = from < r->end ? strtod(from, &stop) : 0;
    if (from < e && stop == e && isfinite(*v)) {
        r->at = e;
        return true;
    }
    if (from >= r->end)
        diag_error(r->d, span_of(r, from - (from > r->text), from),
                   "the file ends where a value is expected");
    else if (stop == e && e > from)
        diag_error(r->d, span_of(r, from, e), "the value is not a finite number");
    else
        diag_error(r->d, span_of(r, from, e), "expected a value, a number");
    return false;
}

static bool read_scalar(reader *r, const spa_mm *m, bool lines, double *v)
{
    double im;
    if (m->field == SPA_PATTERN) {
        *v = 1;
        return true;
    }
    if (!read_value(r, lines, v))
        return false;
    if (m->field != SPA_COMPLEX)
        return true;
    if (!read_value(r, lines, &im))
        return false;
    *v = hypot(*v, im);
    return true;
}

/* -- entries -- */

static void keep(const spa_mm *m, entry **e, int32_t i, int32_t j, double v)
{
    vec_push(*e, (entry){i, j, v});
    if (m->sym != SPA_GENERAL && i != j) /* of complex matrices only sizes are kept */
        vec_push(*e, (entry){j, i, m->sym == SPA_SKEW && m->field != SPA_COMPLEX ? -v : v});
}

static bool end_of_line(reader *r)
{
    skip(r, false);
    if (r->at >= r->end || *r->at == '\n')
        return true;
    diag_error(r->d, span_of(r, r->at, word_end(r)), "more than one entry on a line");
    return false;
}

static vs_status read_coordinates(reader *r, const spa_mm *m, int64_t n, int64_t nnz, entry **e)
{
    for (int64_t k = 0; k < nnz; k++) {
        int64_t i, j;
        double v;
        skip(r, true);
        const char *from = r->at;
        if (from >= r->end) {
            diag_error(r->d, span_of(r, r->end - (r->end > r->text), r->end),
                       "the file ends after %lld of %lld entries", (long long)k, (long long)nnz);
            return VS_EINPUT;
        }
        if (!read_index(r, true, "a row", 1, n, &i) ||
            !read_index(r, false, "a column", 1, n, &j) || !read_scalar(r, m, false, &v) ||
            !end_of_line(r))
            return VS_EINPUT;
        if (m->sym != SPA_GENERAL && (i < j || (i == j && m->sym == SPA_SKEW))) {
            diag_error(r->d, span_of(r, from, r->at),
                       "of a %s matrix only entries %s the diagonal are given",
                       m->sym == SPA_SKEW        ? "skew-symmetric"
                       : m->sym == SPA_HERMITIAN ? "hermitian"
                                                 : "symmetric",
                       m->sym == SPA_SKEW ? "below" : "on and below");
            return VS_EINPUT;
        }
        keep(m, e, (int32_t)i - 1, (int32_t)j - 1, v);
    }
    return VS_OK;
}

/* Column by column; of symmetric matrices the part on and below the diagonal. */
static vs_status read_array(reader *r, spa_mm *m, int64_t n, entry **e)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = m->sym == SPA_GENERAL ? 0 : m->sym == SPA_SKEW ? j + 1 : j; i < n; i++) {
            double v;
            if (!read_scalar(r, m, true, &v))
                return VS_EINPUT;
            m->n_given++;
            if (v != 0)
                keep(m, e, (int32_t)i, (int32_t)j, v);
        }
    return VS_OK;
}

static vs_status read_entries(reader *r, spa_mm *m, int32_t *n_out, entry **e)
{
    int64_t n, n_col, nnz = 0;
    skip(r, true);
    const char *line = r->at;
    if (!read_index(r, true, "the number of rows", 1, MAX_INDEX, &n) ||
        !read_index(r, false, "the number of columns", 1, MAX_INDEX, &n_col) ||
        (!m->array && !read_index(r, false, "the number of entries", 0, MAX_INDEX, &nnz)) ||
        !end_of_line(r))
        return VS_EINPUT;
    if (n != n_col) {
        diag_error(r->d, span_of(r, line, r->at),
                   "%lld rows and %lld columns: the matrix must be square", (long long)n,
                   (long long)n_col);
        return VS_EINPUT;
    }
    int64_t most = r->end - r->at; /* an entry takes at least 4 bytes, a value of an array 2 */
    if (m->array
            ? n > most || n * (n - (m->sym != SPA_GENERAL)) / (m->sym != SPA_GENERAL ? 4 : 2) > most
            : nnz > most / 3) {
        diag_error(r->d, span_of(r, line, r->at), "the file is too short for that many entries");
        return VS_EINPUT;
    }
    m->n_given = m->array ? 0 : nnz;
    *n_out = (int32_t)n;
    vs_status st = m->array ? read_array(r, m, n, e) : read_coordinates(r, m, n, nnz, e);
    if (st != VS_OK)
        return st;
    skip(r, true);
    if (r->at < r->end) {
        diag_error(r->d, span_of(r, r->at, word_end(r)),
                   "more entries than the %lld that were announced", (long long)m->n_given);
        return VS_EINPUT;
    }
    if (vec_len(*e) < MAX_INDEX)
        return VS_OK;
    diag_error(r->d, span_of(r, line, line), "more than %d entries", MAX_INDEX);
    return VS_EINPUT;
}

/* Sorted by two counting sorts, rows first; values of equal places are added. */
static void to_csc(csc *a, spa_mm *m, int32_t n, const entry *e, arena *mem)
{
    const size_t len = vec_len(e);
    a->n = n;
    a->colptr = arena_array(mem, int32_t, n + 1);
    a->row = arena_array(mem, int32_t, len);
    a->val = m->field == SPA_PATTERN ? NULL : arena_array(mem, double, len + 1);
    int32_t *start = vs_calloc((size_t)n + 2, sizeof *start),
            *by_row = vs_malloc((len + 1) * sizeof *by_row);
    for (size_t k = 0; k < len; k++)
        start[e[k].row + 1]++;
    for (int32_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    for (size_t k = 0; k < len; k++)
        by_row[start[e[k].row]++] = (int32_t)k;
    memset(start, 0, ((size_t)n + 2) * sizeof *start);
    for (size_t k = 0; k < len; k++)
        start[e[k].col + 1]++;
    for (int32_t j = 0; j < n; j++)
        start[j + 1] += start[j];
    memcpy(a->colptr, start, ((size_t)n + 1) * sizeof *start);
    for (size_t k = 0; k < len; k++) {
        const entry *one = &e[by_row[k]];
        int32_t at = start[one->col]++;
        a->row[at] = one->row;
        if (a->val)
            a->val[at] = one->v;
    }
    int32_t to = 0;
    for (int32_t j = 0, from = 0; j < n; j++) {
        const int32_t end = a->colptr[j + 1], first = to;
        for (; from < end; from++) {
            if (to > first && a->row[to - 1] == a->row[from]) {
                m->n_double++;
                if (a->val)
                    a->val[to - 1] += a->val[from];
                continue;
            }
            a->row[to] = a->row[from];
            if (a->val)
                a->val[to] = a->val[from];
            to++;
        }
        a->colptr[j + 1] = to;
    }
    vs_free(start);
    vs_free(by_row);
}

vs_status spa_mm_read(csc *a, spa_mm *info, diag *d, const char *path, arena *mem)
{
    reader r = {.d = d};
    const char *why = NULL;
    vs_status st = diag_read_file(d, path, DIAG_NOWHERE, &r.file, &why);
    if (st != VS_OK) {
        diag_error(d, DIAG_NOWHERE, "'%s' cannot be read: it %s", path, why);
        return st;
    }
    r.text = r.at = d->file[r.file].text;
    r.end = r.text + d->file[r.file].len;
    entry *e = NULL;
    int32_t n = 0;
    st = read_header(&r, info);
    if (st == VS_OK)
        st = read_entries(&r, info, &n, &e);
    if (st == VS_OK)
        to_csc(a, info, n, e, mem);
    vec_free(e);
    return st;
}

bool spa_mm_is(const char *path)
{
    static const char banner[] = "%%MatrixMarket";
    char line[sizeof banner] = "";
    struct stat what;
    FILE *fp = !stat(path, &what) && S_ISREG(what.st_mode) ? stream_open(path)
                                                           : NULL; /* no pipe is emptied */
    if (!fp)
        return false;
    size_t n = fread(line, 1, sizeof banner - 1, fp);
    stream_close(fp);
    return n == sizeof banner - 1 && !str_ncasecmp(line, banner, n);
}

void spa_mm_write(const csc *a, const char *title, const char *const *name, FILE *fp)
{
    fprintf(fp, "%%%%MatrixMarket matrix coordinate %s general\n%% %s\n",
            a->val ? "real" : "pattern", title);
    for (int32_t j = 0; name && j < a->n; j++)
        fprintf(fp, "%% %d %s\n", j + 1, name[j]);
    fprintf(fp, "%d %d %d\n", a->n, a->n, csc_nnz(a));
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            fprintf(fp, "%d %d", a->row[k] + 1, j + 1);
            if (a->val)
                fprintf(fp, " %.17g", a->val[k]);
            fputc('\n', fp);
        }
}
