/* out_read.c - reads the files that out.c writes; also those of ngspice and other SPICEs.
 * A stream is read forwards: if somebody cuts the file off meanwhile, the reader finds fewer points
 * and the program goes on. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "out.h"
#include "vec.h"
#include "stream.h"

enum { MAX_VECTORS = 1 << 24 };

struct out_reader {
    FILE *fp;
    char *line; /* the last line, without its end */
    size_t cap;
    bool held;                /* next_line is to give it once more */
    int64_t line_at, next_at; /* offsets of the line and of the one behind it */
    const out_sink *sink;     /* rows of text go there; NULL: to the plot */
    out_place *place;         /* rows of binary plots are passed over; NULL: they are read */
    bool table;               /* comma separated values */
    bool end;                 /* there is no further plot, or the file is damaged here */
};

/* The next line; NULL: there is none. */
static char *next_line(out_reader *r)
{
    if (!r->held) {
        ptrdiff_t n = stream_line(&r->line, &r->cap, r->fp);
        if (n < 0)
            return NULL;
        r->line_at = r->next_at;
        r->next_at += n;
        while (n && (r->line[n - 1] == '\n' || r->line[n - 1] == '\r'))
            r->line[--n] = 0;
    }
    r->held = false;
    return r->line;
}

static const char *after(const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncasecmp(line, key, n))
        return NULL;
    line += n;
    return line + strspn(line, " \t");
}

/* -- raw files -- */

static bool add_variable(out_plot *p, char *line)
{
    char *save = NULL, *no = strtok_r(line, " \t", &save), *name = strtok_r(NULL, " \t", &save);
    char *type = strtok_r(NULL, " \t", &save);
    if (!no || !name)
        return false;
    vec_push(p->name, vs_strdup(name));
    vec_push(p->type, vs_strdup(type ? type : "notype"));
    p->n_vec++;
    return true;
}

static const char *read_variables(out_reader *r, out_plot *p, long long n_vec)
{
    if (p->name)
        return "has two lists of variables";
    if (n_vec < 1 || n_vec > MAX_VECTORS)
        return "states no sensible number of variables";
    for (long long i = 0; i < n_vec; i++) {
        char *line = next_line(r);
        if (!line || !add_variable(p, line))
            return "lists fewer variables than it states";
    }
    return NULL;
}

/* Header up to "Binary:" or "Values:". *n_point: as stated. */
static const char *read_header(out_reader *r, out_plot *p, bool *binary)
{
    long long n_vec = -1;
    for (char *line; (line = next_line(r));) {
        const char *v, *why = NULL;
        if ((v = after(line, "Title:"))) {
            vs_free(p->title);
            p->title = vs_strdup(v);
        } else if ((v = after(line, "Plotname:"))) {
            vs_free(p->plot);
            p->plot = vs_strdup(v);
        } else if ((v = after(line, "No. Variables:"))) {
            n_vec = atoll(v);
        } else if ((v = after(line, "No. Points:"))) {
            p->n_point = atoll(v);
        } else if ((v = after(line, "Flags:"))) {
            p->complex = strstr(v, "complex") != NULL;
        } else if (after(line, "Variables:")) {
            why = read_variables(r, p, n_vec);
        } else if ((*binary = after(line, "Binary:") != NULL) || after(line, "Values:")) {
            return p->name ? NULL : "has no list of variables";
        }
        if (why)
            return why;
    }
    return "has no values";
}

/* Passes over the points and counts those that the file has. */
static void pass_binary(out_reader *r, out_plot *p)
{
    const int64_t row = (int64_t)p->n_vec * (1 + p->complex) * (int64_t)sizeof(double);
    const int64_t size = fseeko(r->fp, 0, SEEK_END) ? -1 : (int64_t)ftello(r->fp);
    const int64_t there = size > r->next_at ? (size - r->next_at) / row : 0;
    r->end = there < p->n_point;
    p->n_point = r->end ? there : p->n_point;
    r->next_at += p->n_point * row;
    if (fseeko(r->fp, (off_t)r->next_at, SEEK_SET))
        r->end = true;
}

/* Reads as many points as the header states, or fewer if the file ends before. */
static void read_binary(out_reader *r, out_plot *p)
{
    const size_t row = (size_t)p->n_vec * (1 + p->complex) * sizeof(double);
    const int64_t stated = p->n_point, few = (int64_t)((1 << 20) / row) + 1;
    int64_t cap = stated < few ? stated : few, n = 0;
    p->data = vs_malloc((size_t)cap * row + 1);
    while (n < stated) {
        if (n == cap) {
            cap = stated - cap < cap ? stated : 2 * cap;
            p->data = vs_realloc(p->data, (size_t)cap * row + 1);
        }
        const size_t want = (size_t)(cap - n);
        const size_t got = fread((char *)p->data + (size_t)n * row, row, want, r->fp);
        n += (int64_t)got;
        r->next_at += (int64_t)(got * row);
        if (got < want) {
            r->end = true;
            break;
        }
    }
    p->n_point = n;
}

/* -- rows of text: to the plot's memory, or to the sink -- */

typedef struct rows {
    const out_sink *sink;
    double *v; /* vec: all rows, or with a sink the present one */
    size_t n_value;
    int64_t n; /* whole rows */
    bool given_up;
} rows;

static rows rows_begin(const out_reader *r, size_t n_value)
{
    rows t = {.sink = r->sink, .n_value = n_value};
    t.given_up = t.sink && !t.sink->begin(t.sink->user, (int64_t)n_value);
    return t;
}

static void rows_add(rows *t, double x)
{
    vec_push(t->v, x);
    if (vec_len(t->v) % t->n_value)
        return;
    t->n++;
    if (!t->sink)
        return;
    t->given_up |= !t->sink->row(t->sink->user, t->v);
    vec_clear(t->v);
}

/* Gives the plot the first n rows. */
static void rows_end(rows *t, out_plot *p, int64_t n)
{
    p->n_point = t->n < n ? t->n : n;
    const size_t bytes = t->sink ? 0 : (size_t)p->n_point * t->n_value * sizeof *t->v;
    p->data = vs_malloc(bytes + 1);
    if (bytes)
        memcpy(p->data, t->v, bytes);
    vec_free(t->v);
}

/* "index value value ...", over any number of lines; a complex value is "re,im". */
static const char *read_ascii(out_reader *r, out_plot *p)
{
    const size_t n_value = (size_t)p->n_vec * (1 + p->complex);
    const int64_t stated = p->n_point;
    rows t = rows_begin(r, n_value);
    size_t in_point = 0; /* numbers of the point under way, its index among them */
    while ((t.n < stated || in_point) && !t.given_up) {
        char *at = next_line(r), *end;
        if (!at)
            break;
        if (strchr(at, ':')) { /* the next plot begins where points are missing */
            r->held = true;
            break;
        }
        for (; *(at += strspn(at, " \t,")); at = end) {
            const double x = strtod(at, &end);
            if (end == at)
                break;
            if (in_point && t.n < stated)
                rows_add(&t, x);
            in_point = in_point == n_value ? 0 : in_point + 1;
        }
        if (*at)
            break;
    }
    rows_end(&t, p, stated);
    return t.given_up ? OUT_GIVEN_UP : NULL;
}

static const char *read_raw(out_reader *r, out_plot *p)
{
    char *line;
    bool binary = false;
    while ((line = next_line(r)) && !*line) {
    }
    if (!line)
        return OUT_NO_PLOT;
    r->held = true;
    const int64_t head = r->line_at;
    const char *why = read_header(r, p, &binary);
    if (why)
        return why;
    if (p->n_point < 0)
        return "states no sensible number of points";
    if (r->place)
        *r->place = (out_place){binary, head, r->next_at};
    if (!binary)
        return read_ascii(r, p);
    if (r->place)
        pass_binary(r, p);
    else
        read_binary(r, p);
    return NULL;
}

/* -- tables -- */

/* The next field of a header, without its quotes; NULL: there is none. */
static char *next_name(char **at)
{
    char *s = *at, *to = s, *name = s;
    if (!s)
        return NULL;
    const bool quoted = *s == '"';
    for (s += quoted; *s && (quoted || *s != ','); s++) {
        if (quoted && *s == '"' && *++s != '"')
            break;
        *to++ = *s;
    }
    *at = *s == ',' ? s + 1 : strchr(s, ',') ? strchr(s, ',') + 1 : NULL;
    *to = 0;
    return name;
}

static bool has_ending(const char *s, const char *ending)
{
    const size_t n = strlen(s), k = strlen(ending);
    return n > k && !strcmp(s + n - k, ending);
}

/* Whether the columns are an axis and, behind it, nothing but pairs NAME.re, NAME.im. */
static bool is_complex(char *const *name, size_t n)
{
    bool pairs = n >= 3 && n % 2;
    for (size_t i = 1; pairs && i < n; i += 2)
        pairs = has_ending(name[i], ".re") && has_ending(name[i + 1], ".im") &&
                strlen(name[i]) == strlen(name[i + 1]) &&
                !strncmp(name[i], name[i + 1], strlen(name[i]) - 3);
    return pairs;
}

static const char *type_of(const char *name)
{
    return !strcasecmp(name, "time")                                ? "time"
           : !strcasecmp(name, "frequency")                         ? "frequency"
           : !strncasecmp(name, "v(", 2)                            ? "voltage"
           : !strncasecmp(name, "i(", 2) || strstr(name, "#branch") ? "current"
                                                                    : "notype";
}

static void name_columns(out_plot *p, char **name)
{
    const size_t n = vec_len(name);
    p->complex = is_complex(name, n);
    for (size_t i = 0; i < n; i++) {
        if (p->complex && i && i % 2 == 0) {
            vs_free(name[i]);
            continue;
        }
        if (p->complex && i)
            name[i][strlen(name[i]) - 3] = 0;
        vec_push(p->name, name[i]);
        vec_push(p->type, vs_strdup(type_of(name[i])));
    }
    p->n_vec = (int32_t)vec_len(p->name);
}

/* The end of a field: a comma outside of quotes, or the end of the line. */
static const char *field_end(const char *s)
{
    const char *quote = *s == '"' ? strchr(s + 1, '"') : NULL;
    return quote ? quote + strcspn(quote, ",") : s + strcspn(s, ",");
}

/* Adds a row. A field of words, such as a corner's section or a point's status, becomes NAN.
 * Returns why the line is none: another number of fields than n, or not one number; NULL: it is. */
static const char *add_row(rows *t, const char *at, size_t n, bool complex)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        char *end;
        const char *stop = field_end(at);
        double x = strtod(at, &end);
        const bool number = end != at && end + strspn(end, " \t") == stop;
        if (at == stop)
            return "has a row with fewer fields than its header";
        any |= number;
        rows_add(t, number ? x : NAN);
        if (complex && !i)
            rows_add(t, 0);
        at = stop + (*stop == ',');
    }
    return *at   ? "has a row with more fields than its header"
           : any ? NULL
                 : "has a row without a number";
}

static const char *read_table(out_reader *r, out_plot *p)
{
    char *line, **name = NULL, *at;
    while ((line = next_line(r)) && !*line) {
    }
    if (!line)
        return OUT_NO_PLOT;
    at = line;
    for (char *w; vec_len(name) < MAX_VECTORS && (w = next_name(&at));)
        vec_push(name, vs_strdup(w));
    const size_t n = vec_len(name);
    name_columns(p, name);
    vec_free(name);
    rows t = rows_begin(r, (size_t)p->n_vec * (1 + p->complex));
    const char *why = NULL;
    while (!why && !t.given_up && (line = next_line(r)) && *line)
        why = add_row(&t, line, n, p->complex);
    rows_end(&t, p, INT64_MAX);
    return why ? why : t.given_up ? OUT_GIVEN_UP : NULL;
}

/* -- both -- */

vs_status out_read_open(out_reader **r, const char *path, const char **why)
{
    *why = "cannot be opened";
    *r = NULL;
    FILE *fp = stream_open(path);
    if (!fp)
        return VS_EIO;
    *r = vs_calloc(1, sizeof **r);
    (*r)->fp = fp;
    errno = 0;
    const char *line = next_line(*r);
    if (!line && errno) {
        *why = "cannot be read";
        out_read_close(r);
        return VS_EIO;
    }
    (*r)->table = !line || !after(line, "Title:");
    (*r)->held = line != NULL;
    return VS_OK;
}

vs_status out_read_next(out_reader *r, out_plot *p, const char **why)
{
    *p = (out_plot){0};
    *why = r->end ? OUT_NO_PLOT : r->table ? read_table(r, p) : read_raw(r, p);
    if (!*why)
        return VS_OK;
    r->end = true;
    out_plot_free(p);
    return VS_EINPUT;
}

vs_status out_read_place(out_reader *r, out_plot *p, out_place *place, const out_sink *text,
                         const char **why)
{
    *place = (out_place){0};
    r->place = place;
    r->sink = text;
    const vs_status st = out_read_next(r, p, why);
    r->place = NULL;
    r->sink = NULL;
    return st;
}

int out_read_fd(const out_reader *r) { return fileno(r->fp); }

vs_status out_read_from(out_reader *r, int64_t head)
{
    r->held = r->end = false;
    r->next_at = head;
    clearerr(r->fp);
    return fseeko(r->fp, (off_t)head, SEEK_SET) ? VS_EIO : VS_OK;
}

void out_read_close(out_reader **r)
{
    if (!*r)
        return;
    stream_close((*r)->fp);
    vs_free((*r)->line);
    vs_free(*r);
    *r = NULL;
}

vs_status out_read(out_plot *p, const char *path, int32_t k, const char **why)
{
    out_reader *r;
    *p = (out_plot){0};
    vs_status st = out_read_open(&r, path, why);
    for (int32_t i = 0; !st && i <= k; i++) {
        out_plot_free(p);
        st = out_read_next(r, p, why);
    }
    out_read_close(&r);
    return st;
}

void out_plot_free(out_plot *p)
{
    for (int32_t i = 0; i < p->n_vec; i++) {
        vs_free(p->name[i]);
        vs_free(p->type[i]);
    }
    vec_free(p->name);
    vec_free(p->type);
    vs_free(p->title);
    vs_free(p->plot);
    vs_free(p->data);
    *p = (out_plot){0};
}
