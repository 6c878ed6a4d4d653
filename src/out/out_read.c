/* out_read.c - reads the files that out.c writes; also those of ngspice and other SPICEs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "out.h"
#include "vec.h"
#include "stream.h"

enum { MAX_VECTORS = 1 << 24 };

typedef struct text {
    char *s;
    size_t n, at;
} text;

static vs_status load(text *t, const char *path, const char **why)
{
    FILE *fp = stream_open(path);
    *why = "cannot be opened";
    if (!fp)
        return VS_EIO;
    vs_status st = VS_EIO;
    if (!fseek(fp, 0, SEEK_END)) {
        long size = ftell(fp);
        rewind(fp);
        t->s = size >= 0 ? vs_malloc((size_t)size + 1) : NULL;
        if (t->s) {
            t->n = fread(t->s, 1, (size_t)size, fp);
            t->s[t->n] = 0;
            st = VS_OK;
        }
    }
    stream_close(fp);
    return st;
}

/* Copy of the next line without its end, or NULL; caller frees. */
static char *next_line(text *t)
{
    if (t->at >= t->n)
        return NULL;
    const char *a = t->s + t->at, *b = memchr(a, '\n', t->n - t->at);
    size_t len = b ? (size_t)(b - a) : t->n - t->at;
    t->at += len + (b != NULL);
    if (len && a[len - 1] == '\r')
        len--;
    return vs_strndup(a, len);
}

static const char *after(const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncasecmp(line, key, n))
        return NULL;
    line += n;
    return line + strspn(line, " \t");
}

static bool add_variable(out_plot *p, char *line)
{
    char *save = NULL, *no = strtok_r(line, " \t", &save), *name = strtok_r(NULL, " \t", &save);
    char *type = strtok_r(NULL, " \t", &save);
    if (!no || !name)
        return false;
    p->name[p->n_vec] = vs_strdup(name);
    p->type[p->n_vec] = vs_strdup(type ? type : "notype");
    p->n_vec++;
    return true;
}

/* Header up to "Binary:" or "Values:". *n_point: as stated. */
static const char *read_header(out_plot *p, text *t, bool *binary)
{
    long long n_vec = -1;
    for (char *line; (line = next_line(t)); vs_free(line)) {
        const char *v;
        if ((v = after(line, "Title:"))) {
            vs_free(p->title);
            p->title = vs_strdup(v);
        } else if ((v = after(line, "Plotname:"))) {
            vs_free(p->plot);
            p->plot = vs_strdup(v);
        } else if ((v = after(line, "No. Variables:")))
            n_vec = atoll(v);
        else if ((v = after(line, "No. Points:")))
            p->n_point = atoll(v);
        else if ((v = after(line, "Flags:")))
            p->complex = strstr(v, "complex") != NULL;
        else if (after(line, "Variables:")) {
            if (n_vec < 1 || n_vec > MAX_VECTORS || (size_t)n_vec > t->n - t->at || p->name) {
                vs_free(line);
                return p->name ? "has two lists of variables"
                               : "states no sensible number of variables";
            }
            p->name = vs_calloc((size_t)n_vec, sizeof *p->name);
            p->type = vs_calloc((size_t)n_vec, sizeof *p->type);
            for (long long i = 0; i < n_vec; i++) {
                char *var = next_line(t);
                bool ok = var && p->name && p->type && add_variable(p, var);
                vs_free(var);
                if (!ok) {
                    vs_free(line);
                    return "lists fewer variables than it states";
                }
            }
        } else if ((*binary = after(line, "Binary:") != NULL) || after(line, "Values:")) {
            vs_free(line);
            return p->name ? NULL : "has no list of variables";
        }
    }
    return "has no values";
}

static const char *read_values(out_plot *p, text *t, bool binary)
{
    size_t n_value = (size_t)p->n_vec * (1 + p->complex), row = n_value * sizeof(double);
    if (p->n_point < 0)
        return "states no sensible number of points";
    if (binary) {
        size_t have = (t->n - t->at) / row;
        if ((size_t)p->n_point > have)
            p->n_point = (int64_t)have;
        p->data = vs_malloc((size_t)p->n_point * row + 1);
        if (!p->data)
            return "does not fit into memory";
        memcpy(p->data, t->s + t->at, (size_t)p->n_point * row);
        t->at += (size_t)p->n_point * row;
        return NULL;
    }
    double *v = NULL;
    int64_t stated = p->n_point, i = 0;
    for (; i < stated; i++) {
        char *end;
        size_t start = vec_len(v);
        strtoll(t->s + t->at, &end, 10);
        if (end == t->s + t->at)
            break;
        for (size_t k = 0; k < n_value; k++) {
            char *from = end + (*end == ',');
            double x = strtod(from, &end);
            if (end == from)
                break;
            vec_push(v, x);
        }
        if (vec_len(v) != start + n_value)
            break;
        t->at = (size_t)(end - t->s);
        t->at += strspn(t->s + t->at, "\r\n \t");
    }
    p->n_point = i;
    p->data = vs_malloc((size_t)i * row + 1);
    if (p->data && i)
        memcpy(p->data, v, (size_t)i * row);
    vec_free(v);
    return p->data ? NULL : "does not fit into memory";
}

static const char *read_csv(out_plot *p, text *t, int32_t k)
{
    char *line = NULL;
    while (k-- >= 0) {
        if (k >= 0)
            while ((line = next_line(t)) && *line)
                vs_free(line);
        else
            line = next_line(t);
        if (!line)
            return OUT_NO_PLOT;
        if (k >= 0)
            vs_free(line);
    }
    char **name = NULL, *save = NULL;
    for (char *w = strtok_r(line, ",", &save); w; w = strtok_r(NULL, ",", &save))
        vec_push(name, vs_strdup(w));
    vs_free(line);
    p->n_vec = (int32_t)vec_len(name);
    p->name = vs_calloc((size_t)p->n_vec + 1, sizeof *p->name);
    p->type = vs_calloc((size_t)p->n_vec + 1, sizeof *p->type);
    for (int32_t i = 0; i < p->n_vec; i++) {
        p->name[i] = name[i];
        p->type[i] = vs_strdup("notype");
    }
    vec_free(name);
    double *v = NULL;
    for (; (line = next_line(t)) && *line; vs_free(line)) {
        char *at = line, *end;
        int32_t n = 0;
        for (; n < p->n_vec; n++) {
            double x = strtod(at, &end);
            if (end == at)
                break;
            vec_push(v, x);
            at = *end == ',' ? end + 1 : end;
        }
        if (n < p->n_vec) {
            vs_free(line);
            line = NULL;
            vec_free(v);
            return "has a row with fewer fields than its header";
        }
    }
    vs_free(line);
    p->n_point = p->n_vec ? (int64_t)vec_len(v) / p->n_vec : 0;
    p->data = vs_malloc(vec_len(v) * sizeof *v + 1);
    if (p->data && v)
        memcpy(p->data, v, vec_len(v) * sizeof *v);
    vec_free(v);
    return p->data ? NULL : "does not fit into memory";
}

vs_status out_read(out_plot *p, const char *path, int32_t k, const char **why)
{
    text t = {0};
    *p = (out_plot){0};
    vs_status st = load(&t, path, why);
    if (st)
        return st;
    if (!after(t.s, "Title:")) {
        *why = read_csv(p, &t, k);
        vs_free(t.s);
        if (*why)
            out_plot_free(p);
        return *why ? VS_EINPUT : VS_OK;
    }
    do {
        bool binary = false;
        out_plot_free(p);
        *why = t.at >= t.n ? OUT_NO_PLOT : read_header(p, &t, &binary);
        if (!*why)
            *why = read_values(p, &t, binary);
    } while (!*why && k-- > 0);
    vs_free(t.s);
    if (*why)
        out_plot_free(p);
    return *why ? VS_EINPUT : VS_OK;
}

void out_plot_free(out_plot *p)
{
    for (int32_t i = 0; i < p->n_vec; i++) {
        vs_free(p->name[i]);
        vs_free(p->type[i]);
    }
    vs_free(p->name);
    vs_free(p->type);
    vs_free(p->title);
    vs_free(p->plot);
    vs_free(p->data);
    *p = (out_plot){0};
}
