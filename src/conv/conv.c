/* conv.c - formats by name and first bytes; raw files and CSV. See conv.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv_priv.h"
#include "out.h"
#include "stream.h"

const char conv_endings[] = ".raw .csv .h5 .parquet .mat .s1p .s2p ... .ts .psf .vcd";

/* -- words -- */

bool conv_format_of(const char *path, conv_format *f)
{
    static const struct {
        const char *ending;
        conv_format format;
    } known[] = {{"raw", CONV_RAW},      {"csv", CONV_CSV},        {"h5", CONV_HDF5},
                 {"hdf5", CONV_HDF5},    {"hdf", CONV_HDF5},       {"parquet", CONV_PARQUET},
                 {"mat", CONV_MAT},      {"ts", CONV_TOUCHSTONE2}, {"psf", CONV_PSF},
                 {"psfascii", CONV_PSF}, {"vcd", CONV_VCD}};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < VS_COUNT(known); i++)
        if (!str_casecmp(dot + 1, known[i].ending)) {
            *f = known[i].format;
            return true;
        }
    char *end;
    const bool port = dot && str_lower_char(dot[1]) == 's' && strtol(dot + 2, &end, 10) > 0 &&
                      !str_casecmp(end, "p");
    if (port)
        *f = CONV_TOUCHSTONE;
    return port;
}

conv_room conv_room_of(conv_format f)
{
    return f == CONV_PARQUET ? CONV_FAMILY
           : f == CONV_TOUCHSTONE || f == CONV_TOUCHSTONE2 || f == CONV_PSF || f == CONV_VCD
               ? CONV_ONE
               : CONV_MANY;
}

vs_status conv_fail(conv_job *j, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(j->why, CONV_WHY, fmt, ap);
    va_end(ap);
    return VS_EINPUT;
}

void conv_left_out(const conv_job *j, const char *fmt, ...)
{
    va_list ap;
    conv_notes *n = j->o->notes;
    if (!n || n->n++ >= CONV_NOTES)
        return;
    va_start(ap, fmt);
    vsnprintf(n->text[n->n - 1], CONV_WHY, fmt, ap);
    va_end(ap);
}

bool conv_note(const conv_notes *n, size_t k, char text[CONV_WHY])
{
    if (k >= n->n || k > CONV_NOTES)
        return false;
    if (k < CONV_NOTES)
        memcpy(text, n->text[k], CONV_WHY);
    else
        snprintf(text, CONV_WHY, "%zu more are not read", n->n - CONV_NOTES);
    return true;
}

const char *conv_column_name(arena *mem, const char *matrix, uint64_t k)
{
    return arena_printf(mem, "%s_%llu", matrix, (unsigned long long)k + 1);
}

/* -- values -- */

int64_t conv_points(const post_plot *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < vec_len(p->vec); i++)
        n = p->vec[i]->n > n ? p->vec[i]->n : n;
    return n;
}

double conv_re(const post_vec *v, int64_t k)
{
    k = k < v->n ? k : v->n - 1;
    return k < 0 ? NAN : v->complex ? v->v[2 * k] : v->v[k];
}

double conv_im(const post_vec *v, int64_t k)
{
    k = k < v->n ? k : v->n - 1;
    return k < 0 || !v->complex ? 0 : v->v[2 * k + 1];
}

const char *conv_node(arena *mem, const post_vec *v)
{
    const size_t n = strlen(v->name);
    const bool node = n > 3 && !str_ncasecmp(v->name, "v(", 2) && v->name[n - 1] == ')';
    return arena_strndup(mem, v->name + (node ? 2 : 0), n - (node ? 3 : 0));
}

bool conv_value_of(const post_plot *p, size_t i, conv_value *v)
{
    const char *s = strstr(p->what, ", ");
    if (!s || !strchr(s, '='))
        return false;
    for (s += 2;; s++) {
        s += strspn(s, " ");
        const size_t n = strcspn(s, "= "), k = s[n] == '=' ? strcspn(s + n + 1, " ") : 0;
        if (!n || s[n] != '=')
            return false;
        if (!i--) {
            char *end;
            snprintf(v->name, sizeof v->name, "%.*s", (int)n, s);
            snprintf(v->text, sizeof v->text, "%.*s", (int)k, s + n + 1);
            v->x = strtod(v->text, &end);
            v->number = *v->text && !*end;
            return true;
        }
        s += n + 1 + k;
        if (!*s)
            return false;
    }
}

double conv_middle(const post_plot *p)
{
    double lo = NAN, hi = NAN;
    for (size_t i = 0; i < vec_len(p->vec); i++) {
        const post_vec *v = p->vec[i];
        for (int64_t k = 0; k < v->n && !strcmp(v->type, "voltage"); k++) {
            const double x = conv_re(v, k);
            lo = isfinite(x) && !(x >= lo) ? x : lo;
            hi = isfinite(x) && !(x <= hi) ? x : hi;
        }
    }
    return (lo + hi) / 2;
}

/* -- bytes -- */

char *conv_bytes(const char *path, size_t *n)
{
    FILE *fp = stream_open(path);
    char *s = NULL;
    *n = 0;
    if (!fp)
        return NULL;
    for (size_t cap = 0, got = 1; got; *n += got) {
        if (cap < *n + (1 << 16)) {
            cap = 2 * cap + (1 << 17);
            s = vs_realloc(s, cap);
        }
        got = fread(s + *n, 1, cap - *n - 1, fp);
    }
    s[*n] = 0;
    const bool bad = ferror(fp) != 0;
    const int error = errno;
    stream_close(fp);
    if (!bad)
        return s;
    vs_free(s);
    errno = error;
    return NULL;
}

void conv_put(FILE *fp, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(x >> 8 * i & 255), fp);
}

void conv_put_double(FILE *fp, double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    conv_put(fp, u, 8);
}

/* -- raw files and CSV -- */

/* Writes a plot whose values are not in memory, in rows as the file has them, but with a real axis.
 */
static vs_status copy_rows(out_file *f, const post_plot *p, size_t n)
{
    enum { BYTES = 4 << 20 };
    const post_vec *any = p->vec[n - 1];
    const size_t w = n * (1 + any->complex);
    const int64_t points = any->n, most = (int64_t)(BYTES / (w * sizeof(double))) + 1;
    double *row = vs_malloc((size_t)most * w * sizeof *row);
    vs_status st = VS_OK;
    for (int64_t at = 0; at < points && !st; at += most) {
        const int64_t k = points - at < most ? points - at : most;
        st = post_rows(p, at, k, row) ? VS_OK : VS_EINPUT;
        for (int64_t i = 0; i < k && !st; i++) {
            if (any->complex && p->scale)
                row[(size_t)i * w + 1] = 0;
            st = out_point(f, row + (size_t)i * w);
        }
    }
    vs_free(row);
    return st;
}

static vs_status write_plot(out_file *f, const post_plot *p)
{
    const size_t n = vec_len(p->vec);
    out_vector *col = vs_calloc(n + 1, sizeof *col);
    bool complex = false;
    const post_vec **v = vs_calloc(n + 1, sizeof *v); /* the axis is the first */
    size_t at = 0;
    if (p->scale)
        v[at++] = p->scale;
    for (size_t i = 0; i < n; i++)
        if (p->vec[i] != p->scale)
            v[at++] = p->vec[i];
    for (size_t i = 0; i < n; i++) {
        col[i] = (out_vector){v[i]->name, v[i]->type};
        complex |= v[i]->complex;
    }
    double *row = vs_calloc(2 * n + 1, sizeof *row);
    vs_status st = out_plot_begin(f, p->title, p->what, col, (int32_t)n, complex);
    if (p->from && !st)
        st = copy_rows(f, p, n);
    const int64_t points = p->from ? 0 : conv_points(p);
    for (int64_t k = 0; k < points && !st; k++) {
        for (size_t i = 0; i < n; i++) {
            row[complex ? 2 * i : i] = conv_re(v[i], k);
            if (complex)
                row[2 * i + 1] = conv_im(v[i], k);
        }
        st = out_point(f, row);
    }
    vs_free(row);
    vs_free(v);
    vs_free(col);
    return st ? st : out_plot_end(f);
}

static vs_status write_out(conv_job *j)
{
    static const out_format format[] = {OUT_RAW, OUT_ASCII, OUT_CSV};
    out_file *f;
    int why = 0;
    if (out_create(&f, j->path, format[j->format])) {
        snprintf(j->why, CONV_WHY, "%s", files_why(errno));
        return VS_EIO;
    }
    vs_status st = VS_OK;
    for (size_t i = 0; i < j->n && !st; i++)
        st = write_plot(f, j->plot[i]);
    if (st == VS_EINPUT) {
        snprintf(j->why, CONV_WHY, "is not written: what it is made from ended meanwhile");
        out_drop(&f);
    } else if (out_close(&f, &why)) {
        snprintf(j->why, CONV_WHY, "%s", files_why(why));
        st = VS_EIO;
    }
    return st;
}

/* -- all -- */

static bool begins(const char *head, size_t n, const char *with, size_t bytes)
{
    return n >= bytes && !memcmp(head, with, bytes);
}

/* Finds the format, by the first bytes, else by the name. */
static conv_format format_of(const char *path, const char *head, size_t n)
{
    conv_format f = CONV_RAW;
    if (begins(head, n, "\x89HDF\r\n\x1a\n", 8))
        return CONV_HDF5;
    if (begins(head, n, "PAR1", 4))
        return CONV_PARQUET;
    if (begins(head, n, "MATLAB 7.3", 10)) /* HDF5 behind 512 bytes */
        return CONV_HDF5;
    if (begins(head, n, "MATLAB 5.0", 10) || begins(head, n, "MATLAB 7.", 9))
        return CONV_MAT;
    if (begins(head, n, "HEADER", 6))
        return CONV_PSF;
    if (begins(head, n, "$date", 5) || begins(head, n, "$version", 8) ||
        begins(head, n, "$timescale", 10) || begins(head, n, "$comment", 8))
        return CONV_VCD;
    const bool named = conv_format_of(path, &f);
    const bool taken = f == CONV_TOUCHSTONE || f == CONV_TOUCHSTONE2 || f == CONV_VCD;
    /* level 4 of MATLAB has a 0 in the first four bytes, level 5 its order behind a text */
    const bool binary = n >= 4 && (memchr(head, 0, 4) != NULL || conv_mat_order(head, n));
    return named && (taken || (f == CONV_MAT && binary)) ? f : CONV_RAW;
}

/* Reads a file of another program. Plots without vectors are dropped. */
static vs_status read_other(conv_job *j, conv_format f)
{
    typedef vs_status read_fn(conv_job * j);
    static read_fn *const read[] = {[CONV_HDF5] = conv_read_hdf5,
                                    [CONV_PARQUET] = conv_read_parquet,
                                    [CONV_MAT] = conv_read_mat,
                                    [CONV_TOUCHSTONE] = conv_read_touchstone,
                                    [CONV_TOUCHSTONE2] = conv_read_touchstone,
                                    [CONV_PSF] = conv_read_psf,
                                    [CONV_VCD] = conv_read_vcd};
    const size_t before = vec_len(j->set->plot);
    const vs_status st = read[f](j);
    for (size_t i = vec_len(j->set->plot); i-- > before;) {
        post_plot *p = j->set->plot[i];
        if (vec_len(p->vec))
            continue;
        conv_left_out(j, "'%.60s' has no numbers", p->what);
        post_plot_destroy(j->set, p);
    }
    return !st && vec_len(j->set->plot) == before ? conv_fail(j, "has no numbers") : st;
}

vs_status conv_read(post_set *s, const char *path, const conv_opt *o, char why[CONV_WHY])
{
    conv_job j = {.set = s, .path = path, .o = o, .why = why};
    char head[128];
    errno = 0;
    FILE *fp = stream_open(path);
    if (!fp) {
        snprintf(why, CONV_WHY, "%s", files_why(errno));
        return VS_EIO;
    }
    /* a pipe can be read once only: it may have a text format */
    const bool seeks = !fseek(fp, 0, SEEK_END);
    rewind(fp);
    const size_t n = seeks ? fread(head, 1, sizeof head, fp) : 0;
    stream_close(fp);
    const conv_format format = format_of(path, head, n);
    if (format > CONV_CSV)
        return read_other(&j, format);
    const char *text = NULL;
    errno = 0;
    const vs_status st =
        post_load_late(s, path, o->late ? o->late : INT64_MAX, !o->axes_late, &text);
    if (st)
        snprintf(why, CONV_WHY, "%s", st == VS_EIO && errno ? files_why(errno) : text);
    return st;
}

vs_status conv_write(post_plot *const *plot, size_t n, const char *path, conv_format f,
                     const conv_opt *o, char why[CONV_WHY])
{
    static conv_write_fn *const write[] = {[CONV_HDF5] = conv_write_hdf5,
                                           [CONV_PARQUET] = conv_write_parquet,
                                           [CONV_MAT] = conv_write_mat,
                                           [CONV_TOUCHSTONE] = conv_write_touchstone,
                                           [CONV_TOUCHSTONE2] = conv_write_touchstone,
                                           [CONV_PSF] = conv_write_psf,
                                           [CONV_VCD] = conv_write_vcd};
    conv_job j = {.plot = plot, .n = n, .path = path, .o = o, .format = f, .why = why};
    if (f <= CONV_CSV)
        return write_out(&j);
    bool late = false;
    for (size_t i = 0; i < n; i++)
        late |= conv_late(plot[i]);
    if (late && (f == CONV_HDF5 || f == CONV_PARQUET || f == CONV_MAT))
        return conv_write_late(&j, write[f]);
    for (size_t i = 0; i < n; i++)
        post_fetch_all(plot[i]);
    /* the bytes are made in memory first, so that a failure replaces no file */
    char *text = NULL;
    size_t bytes = 0;
    j.fp = stream_text(&text, &bytes);
    vs_status st = write[f](&j);
    stream_close(j.fp);
    if (!st) {
        errno = 0;
        FILE *fp = stream_create(path, FILES_RESULTS);
        const bool bad = !fp || fwrite(text, 1, bytes, fp) != bytes;
        const int error = errno;
        if ((fp && stream_close(fp)) || bad) {
            snprintf(why, CONV_WHY, "%s", files_why(bad ? error : errno));
            st = VS_EIO;
        }
    }
    vs_free(text);
    return st;
}
