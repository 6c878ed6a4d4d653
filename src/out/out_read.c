/* out_read.c - reads the files that out.c writes; also those of ngspice and other SPICEs.
 * A stream is read forwards: of a file that somebody cuts off meanwhile there is less, no more. */
#include <errno.h>
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
    char *line; /* the last one, without its end */
    size_t cap;
    bool held;  /* it is to be given once more */
    bool table; /* comma separated values */
    bool end;   /* nothing follows, or nothing that could be read */
};

/* The next line; NULL: there is none. */
static char *next_line(out_reader *r)
{
    if (!r->held) {
        ptrdiff_t n = stream_line(&r->line, &r->cap, r->fp);
        if (n < 0)
            return NULL;
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

/* The header's number is believed for as much as is there. */
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
        if (got < want) {
            r->end = true;
            break;
        }
    }
    p->n_point = n;
}

/* "index value value ...", over any number of lines; a complex value is "re,im". */
static void read_ascii(out_reader *r, out_plot *p)
{
    const size_t n_value = (size_t)p->n_vec * (1 + p->complex);
    const int64_t stated = p->n_point;
    double *v = NULL;
    size_t in_point = 0; /* numbers of the point under way, its index among them */
    while ((int64_t)(vec_len(v) / n_value) < stated || in_point) {
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
            if (in_point)
                vec_push(v, x);
            in_point = in_point == n_value ? 0 : in_point + 1;
        }
        if (*at)
            break;
    }
    p->n_point = (int64_t)(vec_len(v) / n_value);
    p->n_point = p->n_point < stated ? p->n_point : stated;
    const size_t bytes = (size_t)p->n_point * n_value * sizeof *v;
    p->data = vs_malloc(bytes + 1);
    if (bytes)
        memcpy(p->data, v, bytes);
    vec_free(v);
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
    const char *why = read_header(r, p, &binary);
    if (why)
        return why;
    if (p->n_point < 0)
        return "states no sensible number of points";
    if (binary)
        read_binary(r, p);
    else
        read_ascii(r, p);
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

/* Is it an axis, and behind it pairs NAME.re, NAME.im alone? */
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

/* One row; false: it has fewer fields than `n`. */
static bool add_row(double **v, const char *at, size_t n, bool complex)
{
    for (size_t i = 0; i < n; i++) {
        char *end;
        const double x = strtod(at, &end);
        if (end == at)
            return false;
        vec_push(*v, x);
        if (complex && !i)
            vec_push(*v, 0);
        at = end + strspn(end, " \t");
        at += *at == ',';
    }
    return true;
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
    double *v = NULL;
    bool whole = true;
    while (whole && (line = next_line(r)) && *line)
        whole = add_row(&v, line, n, p->complex);
    if (whole && v) {
        p->n_point = (int64_t)(vec_len(v) / ((size_t)p->n_vec * (1 + p->complex)));
        p->data = vs_malloc(vec_len(v) * sizeof *v + 1);
        memcpy(p->data, v, vec_len(v) * sizeof *v);
    } else if (whole) {
        p->data = vs_malloc(1);
    }
    vec_free(v);
    return whole ? NULL : "has a row with fewer fields than its header";
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
