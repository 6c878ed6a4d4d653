/* conv_touchstone.c - Touchstone files: S (Y, Z) parameters over frequency.
 * Source: IBIS Open Forum, "Touchstone File Format Specification", versions 1.1 and 2.0.
 * Version 1 is written by out_touchstone.c; its two-ports stand by columns. Version 2 keeps a
 * reference resistance for each port. Read are both, parameters S, Y and Z, formats RI, MA and DB;
 * Y and Z of version 1 are normalised to the reference. Noise behind the data is left out. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv_priv.h"
#include "out.h"
#include "stream.h"

enum { MOST_PORTS = 1000 };

/* -- writing -- */

/* "S_2_1"; NULL: there is none. */
static const post_vec *s_of(const post_plot *p, int i, int k)
{
    char name[40];
    snprintf(name, sizeof name, "s_%d_%d", i, k);
    for (size_t m = 0; m < vec_len(p->vec); m++)
        if (!str_casecmp(p->vec[m]->name, name))
            return p->vec[m];
    return NULL;
}

static int ports_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && str_lower_char(dot[1]) == 's' ? atoi(dot + 2) : 0;
}

/* Version 2. s [n n], row by row. */
static void put_network(conv_job *j, const post_plot *p, int n, const post_vec *const *s,
                        const double *z0)
{
    const int64_t points = conv_points(p);
    fprintf(j->fp,
            "! S-parameters by vsim\n[Version] 2.0\n# Hz S RI R %.17g\n[Number of Ports] %d\n",
            z0[0], n);
    if (n == 2)
        fputs("[Two-Port Data Order] 12_21\n", j->fp);
    fprintf(j->fp, "[Number of Frequencies] %lld\n[Reference]", (long long)points);
    for (int i = 0; i < n; i++)
        fprintf(j->fp, " %.17g", z0[i]);
    fputs("\n[Network Data]\n", j->fp);
    for (int64_t k = 0; k < points; k++) {
        fprintf(j->fp, "%.17g", conv_re(p->scale, k));
        for (int m = 0; m < n * n; m++)
            fprintf(j->fp, "%s %.17g %.17g", m && n > 2 && m % n == 0 ? "\n" : "", conv_re(s[m], k),
                    conv_im(s[m], k));
        fputc('\n', j->fp);
    }
    fputs("[End]\n", j->fp);
}

/* Writes version 1; the file's name says the number of ports. */
static vs_status write_old(conv_job *j, const post_plot *p, int n, const post_vec *const *s,
                           const double *z0)
{
    double *row = vs_calloc((size_t)(2 * n * n), sizeof *row);
    out_touchstone *f = out_touchstone_stream(j->fp, z0, n);
    vs_status st = VS_OK;
    for (int64_t k = 0; k < conv_points(p) && !st; k++) {
        for (int m = 0; m < n * n; m++) {
            row[2 * m] = conv_re(s[m], k);
            row[2 * m + 1] = conv_im(s[m], k);
        }
        st = out_touchstone_point(f, conv_re(p->scale, k), row);
    }
    vs_free(row);
    const vs_status end = out_touchstone_close(&f);
    return st ? st : end;
}

vs_status conv_write_touchstone(conv_job *j)
{
    const post_plot *p = j->plot[0];
    int n = 0;
    while (n < MOST_PORTS && s_of(p, n + 1, n + 1))
        n++;
    if (!n || !p->scale || strcmp(p->scale->type, "frequency") != 0)
        return conv_fail(j,
                         "is of S-parameters (S_1_1, S_1_2, ... over frequency, as .sp gives "
                         "them), which the plot '%s' has not",
                         p->what);
    const int named = ports_of(j->path);
    if (j->format == CONV_TOUCHSTONE && named != n)
        return conv_fail(j, "says %d port%s by its name, and the plot has %d: call it .s%dp", named,
                         named == 1 ? "" : "s", n, n);
    const post_vec **s = vs_calloc((size_t)(n * n), sizeof *s);
    double *z0 = vs_calloc((size_t)n, sizeof *z0);
    vs_status st = VS_OK;
    const double *given = j->o->n_z0 ? j->o->z0 : p->z0; /* what the plot was read with */
    const size_t n_given = j->o->n_z0 ? j->o->n_z0 : vec_len(p->z0);
    for (int i = 0; i < n; i++) {
        z0[i] = n_given ? given[(size_t)i < n_given ? (size_t)i : n_given - 1] : 50;
        for (int k = 0; k < n && !st; k++)
            if (!(s[i * n + k] = s_of(p, i + 1, k + 1)))
                st = conv_fail(j, "needs S_%d_%d, which the plot has not", i + 1, k + 1);
    }
    if (!st && j->format == CONV_TOUCHSTONE)
        st = write_old(j, p, n, s, z0);
    else if (!st)
        put_network(j, p, n, s, z0);
    vs_free(s);
    vs_free(z0);
    return st;
}

/* -- reading -- */

typedef enum order { BY_ROWS, LOWER, UPPER } order;

typedef struct network {
    conv_job *j;
    double hz; /* of the unit of frequencies */
    char kind; /* 'S', 'Y', 'Z' */
    char form; /* 'R', 'M', 'D' */
    double r;
    int version, n;  /* ports; 0: not known yet */
    bool by_columns; /* of two ports whose whole matrix is there */
    order order;
    bool in_data;
    int64_t points; /* that the file says it has; -1: it does not */
    double *z0;     /* vec: [Reference] */
    double *x;      /* vec: all numbers of the data */
} network;

/* "# GHz S MA R 50" */
static vs_status read_option(network *w, char *line)
{
    char *save = NULL;
    for (char *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        for (char *s = word; *s; s++)
            *s = str_lower_char(*s);
        if (!strcmp(word, "hz"))
            w->hz = 1;
        else if (!strcmp(word, "khz"))
            w->hz = 1e3;
        else if (!strcmp(word, "mhz"))
            w->hz = 1e6;
        else if (!strcmp(word, "ghz"))
            w->hz = 1e9;
        else if (strlen(word) == 1 && strchr("syz", *word))
            w->kind = (char)toupper(*word);
        else if (!strcmp(word, "ri") || !strcmp(word, "ma") || !strcmp(word, "db"))
            w->form = *word == 'r' ? 'R' : *word == 'm' ? 'M' : 'D';
        else if (!strcmp(word, "r") && (word = strtok_r(NULL, " \t", &save)) && atof(word) > 0)
            w->r = atof(word);
        else
            return conv_fail(w->j, "has '%.20s' in its option line, which is not read",
                             word ? word : "R");
    }
    return VS_OK;
}

/* "[Number of Ports] 2" */
static vs_status read_keyword(network *w, const char *line)
{
    const char *end = strchr(line, ']'), *value = end ? end + 1 + strspn(end + 1, " \t") : "";
    const size_t n = end ? (size_t)(end - line - 1) : 0;
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)n, line + 1);
    if (!str_casecmp(key, "version"))
        w->version = atoi(value);
    else if (!str_casecmp(key, "number of ports"))
        w->n = atoi(value);
    else if (!str_casecmp(key, "number of frequencies"))
        w->points = atoi(value);
    else if (!str_casecmp(key, "two-port data order") || !str_casecmp(key, "two-port order"))
        w->by_columns = !strncmp(value, "21", 2);
    else if (!str_casecmp(key, "matrix format"))
        w->order = str_lower_char(*value) == 'l'   ? LOWER
                   : str_lower_char(*value) == 'u' ? UPPER
                                                   : BY_ROWS;
    else if (!str_casecmp(key, "mixed-mode order"))
        return conv_fail(w->j, "is of mixed modes, which are not read");
    else if (!str_casecmp(key, "network data"))
        w->in_data = true;
    else if (!str_casecmp(key, "noise data") || !str_casecmp(key, "end"))
        w->in_data = false;
    return VS_OK;
}

/* Numbers of a line, to the vec *x. */
static vs_status read_numbers(network *w, const char *line, double **x)
{
    for (char *end; *(line += strspn(line, " \t")); line = end) {
        const double one = strtod(line, &end);
        if (end == line)
            return conv_fail(w->j, "has '%.20s' where a number is expected", line);
        vec_push(*x, one);
    }
    return VS_OK;
}

static vs_status read_lines(network *w, char *text)
{
    bool option = false, reference = false;
    vs_status st = VS_OK;
    char *save = NULL;
    for (char *line = strtok_r(text, "\r\n", &save); line && !st;
         line = strtok_r(NULL, "\r\n", &save)) {
        line[strcspn(line, "!")] = 0;
        line += strspn(line, " \t");
        if (*line == '#') {
            st = option ? VS_OK : read_option(w, line + 1); /* further ones have no effect */
            option = true;
            w->in_data |= w->version < 2;
            continue;
        }
        if (*line == '[') {
            st = read_keyword(w, line);
            reference = !str_ncasecmp(line, "[Reference]", 11);
            line += reference ? 11 : strlen(line);
        }
        if (!st && (reference || w->in_data))
            st = read_numbers(w, line, reference ? &w->z0 : &w->x);
    }
    return st;
}

static void put_value(const network *w, post_vec *v, const double *x)
{
    const double size = w->form == 'D' ? pow(10, x[0] / 20) : x[0],
                 a = x[1] * (3.141592653589793 / 180);
    double re = w->form == 'R' ? x[0] : size * cos(a), im = w->form == 'R' ? x[1] : size * sin(a);
    const double scale = w->version > 1 || w->kind == 'S' ? 1 : w->kind == 'Z' ? w->r : 1 / w->r;
    post_vec_push(v, re * scale, im * scale);
}

/* Where the element (i, k) stands among those of a point. */
static int place_of(const network *w, int i, int k)
{
    const int n = w->n;
    if (n == 2 && w->by_columns && w->order == BY_ROWS)
        return 2 * k + i;
    if (w->order == LOWER)
        return i >= k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i;
    if (w->order == UPPER) {
        const int a = i < k ? i : k, b = i < k ? k : i;
        return a * n - a * (a - 1) / 2 + b - a;
    }
    return i * n + k;
}

static vs_status make_plot(network *w)
{
    const int n = w->n, each = w->order == BY_ROWS ? n * n : n * (n + 1) / 2;
    const size_t row = 1 + 2 * (size_t)each;
    char name[40];
    post_plot *p = post_plot_new(w->j->set, "sp", w->j->path, "SP Analysis");
    p->scale = post_plot_append(w->j->set, p, "frequency", "frequency", false);
    for (int m = 0; m < n * n; m++) {
        snprintf(name, sizeof name, "%c_%d_%d", w->kind, m / n + 1, m % n + 1);
        (void)post_plot_append(w->j->set, p, name, "notype", true);
    }
    double last = -INFINITY;
    for (size_t at = 0; at + row <= vec_len(w->x); at += row) {
        if (w->version < 2 && n == 2 && w->x[at] * w->hz < last)
            return VS_OK; /* noise: its frequencies begin anew */
        if (w->version < 2 && w->x[at] * w->hz < last)
            return conv_fail(w->j, "has frequencies that go back");
        last = w->x[at] * w->hz;
        post_vec_push(p->scale, last, 0);
        for (int m = 0; m < n * n; m++)
            put_value(w, p->vec[m + 1], w->x + at + 1 + 2 * place_of(w, m / n, m % n));
    }
    if (w->kind == 'S')
        for (int i = 0; i < n; i++)
            vec_push(p->z0, (size_t)i < vec_len(w->z0) ? w->z0[i] : w->r);
    const size_t rest = vec_len(w->x) % row;
    if (!p->scale->n)
        return conv_fail(w->j, "has no data behind an option line, as '# GHz S MA R 50'");
    if (w->points >= 0 && p->scale->n != w->points)
        return conv_fail(w->j, "has %lld frequencies, and says that there are %lld",
                         (long long)p->scale->n, (long long)w->points);
    return !rest || (w->version < 2 && n == 2 && rest % 5 == 0)
               ? VS_OK
               : conv_fail(w->j, "ends in the middle of a point");
}

vs_status conv_read_touchstone(conv_job *j)
{
    size_t bytes;
    char *text = conv_bytes(j->path, &bytes);
    if (!text)
        return conv_fail(j, "cannot be read");
    network w = {.j = j,
                 .hz = 1e9,
                 .kind = 'S',
                 .form = 'M',
                 .r = 50,
                 .version = 1,
                 .points = -1,
                 .n = ports_of(j->path),
                 .by_columns = true};
    vs_status st = read_lines(&w, text);
    if (!st && (w.n < 1 || w.n > MOST_PORTS))
        st = conv_fail(j, "states no sensible number of ports");
    if (!st)
        st = make_plot(&w);
    vec_free(w.x);
    vec_free(w.z0);
    vs_free(text);
    return st;
}
