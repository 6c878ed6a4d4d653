#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"

enum { BUFFER_BYTES = 1 << 16, COUNT_WIDTH = 12 };

struct out_file {
    int fd;
    out_format format;
    bool can_seek; /* a pipe keeps the count of 0 that it was given */
    char *buf;
    size_t used;
    off_t written;            /* bytes given to the system */
    off_t count_at;           /* place of the point count in the file */
    int64_t n_point, n_shown; /* points so far; the count that the file states */
    int32_t n_vec;
    bool complex; /* a value is a real and an imaginary part */
    int n_plot;
    const out_stamp *stamp;
    double last_flush; /* seconds */
    vs_status status;  /* the first failure sticks, */
    int why;           /* with its errno */
    heap_owned own;    /* the points that are in buf, and fd */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(out_file *f, int why)
{
    f->status = VS_EIO;
    f->why = why;
}

static void write_all(out_file *f, const char *s, size_t n)
{
    while (n && !f->status) {
        ssize_t k = write(f->fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            fail(f, k ? errno : ENOSPC);
            return;
        }
        s += k;
        n -= (size_t)k;
        f->written += k;
    }
}

/* The points first, then their number, so that the number never promises too much. */
static void flush(out_file *f)
{
    write_all(f, f->buf, f->used);
    f->used = 0;
    f->last_flush = now();
    if (f->format == OUT_CSV || !f->can_seek || f->n_shown == f->n_point || f->status)
        return;
    char text[COUNT_WIDTH + 1];
    int n = snprintf(text, sizeof text, "%-*lld", COUNT_WIDTH, (long long)f->n_point);
    if (pwrite(f->fd, text, (size_t)n, f->count_at) != n)
        fail(f, errno);
    f->n_shown = f->n_point;
}

static void drop_fd(void *fd, size_t n)
{
    (void)n;
    close((int)(intptr_t)fd);
}

/* Where memory ended the run, the file has all points so far. */
static void drop(void *what, size_t n)
{
    out_file *f = what;
    (void)n;
    flush(f);
    close(f->fd);
}

/* Owns fd, also when it fails. */
static vs_status take_fd(out_file **f, int fd, out_format format, bool can_seek)
{
    heap_hold(drop_fd, (void *)(intptr_t)fd, 0);
    out_file *o = vs_calloc(1, sizeof *o);
    o->buf = vs_malloc(BUFFER_BYTES);
    heap_unhold(drop_fd, (void *)(intptr_t)fd);
    heap_own(&o->own, drop, o);
    struct stat sb;
    o->fd = fd;
    o->format = format;
    o->can_seek = can_seek && !fstat(fd, &sb) && S_ISREG(sb.st_mode);
    *f = o;
    return VS_OK;
}

vs_status out_open(out_file **f, const char *path, out_format format)
{
    bool to_stdout = !strcmp(path, "-");
    int fd =
        to_stdout ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? VS_EIO : take_fd(f, fd, format, !to_stdout);
}

vs_status out_open_fd(out_file **f, int fd, out_format format)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return own < 0 ? VS_EIO : take_fd(f, own, format, true);
}

void out_set_stamp(out_file *f, const out_stamp *stamp) { f->stamp = stamp; }

static void put(out_file *f, const char *s, size_t n)
{
    if (f->used + n > BUFFER_BYTES)
        flush(f);
    if (n > BUFFER_BYTES) {
        write_all(f, s, n);
        return;
    }
    memcpy(f->buf + f->used, s, n);
    f->used += n;
}

static void puts_to(out_file *f, const char *s) { put(f, s, strlen(s)); }

/* A name as one field: control characters would break the header's lines. */
static void put_line_text(out_file *f, const char *s)
{
    for (; *s; s++) {
        char c = (unsigned char)*s < 32 ? ' ' : *s;
        put(f, &c, 1);
    }
}

static void put_csv_name(out_file *f, const char *name, const char *part)
{
    bool quote = strpbrk(name, ",\"") != NULL;
    puts_to(f, quote ? "\"" : "");
    for (const char *s = name; *s; s++)
        put(f, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    puts_to(f, part);
    puts_to(f, quote ? "\"" : "");
}

/* A complex vector has two columns, NAME.re and NAME.im; the axis is real. */
static void put_csv_header(out_file *f, const out_vector *vec, int32_t n)
{
    if (f->n_plot)
        puts_to(f, "\n");
    if (f->stamp && f->stamp->names && *f->stamp->names) {
        puts_to(f, f->stamp->names);
        puts_to(f, ",");
    }
    for (int32_t i = 0; i < n; i++) {
        bool two = f->complex && i;
        puts_to(f, i ? "," : "");
        put_csv_name(f, vec[i].name, two ? ".re" : "");
        if (two) {
            puts_to(f, ",");
            put_csv_name(f, vec[i].name, ".im");
        }
    }
    puts_to(f, "\n");
}

static void put_raw_header(out_file *f, const char *title, const char *plot, const out_vector *vec,
                           int32_t n)
{
    char line[96];
    time_t t = f->stamp ? (time_t)f->stamp->date : time(NULL);
    struct tm tm;
    localtime_r(&t, &tm);
    puts_to(f, "Title: ");
    put_line_text(f, title);
    strftime(line, sizeof line, "\nDate: %a %b %d %H:%M:%S  %Y\n", &tm);
    puts_to(f, line);
    puts_to(f, "Plotname: ");
    put_line_text(f, plot);
    snprintf(line, sizeof line,
             "\nFlags: %s\nNo. Variables: %d\nNo. Points: ", f->complex ? "complex" : "real", n);
    puts_to(f, line);
    f->count_at = f->written + (off_t)f->used;
    snprintf(line, sizeof line, "%-*d\nVariables:\n", COUNT_WIDTH, 0);
    puts_to(f, line);
    for (int32_t i = 0; i < n; i++) {
        snprintf(line, sizeof line, "\t%d\t", i);
        puts_to(f, line);
        put_line_text(f, vec[i].name);
        puts_to(f, "\t");
        put_line_text(f, vec[i].type);
        puts_to(f, "\n");
    }
    puts_to(f, f->format == OUT_RAW ? "Binary:\n" : "Values:\n");
}

vs_status out_plot_begin(out_file *f, const char *title, const char *plot, const out_vector *vec,
                         int32_t n, bool complex)
{
    f->n_vec = n;
    f->complex = complex;
    f->n_point = f->n_shown = 0;
    if (f->format == OUT_CSV)
        put_csv_header(f, vec, n);
    else
        put_raw_header(f, title, plot, vec, n);
    f->n_plot++;
    flush(f);
    return f->status;
}

static void put_text_point(out_file *f, const double *value)
{
    char s[48];
    int w = 1 + f->complex, n;
    if (f->format == OUT_ASCII) {
        n = snprintf(s, sizeof s, " %lld", (long long)f->n_point);
        put(f, s, (size_t)n);
    } else if (f->stamp && f->stamp->values && *f->stamp->values) {
        puts_to(f, f->stamp->values);
        puts_to(f, ",");
    }
    for (int32_t i = 0; i < f->n_vec; i++) {
        n = f->format == OUT_ASCII
                ? snprintf(s, sizeof s, w == 2 ? "\t%.17g," : "\t%.17g\n", value[i * w])
                : snprintf(s, sizeof s, i ? ",%.17g" : "%.17g", value[i * w]);
        put(f, s, (size_t)n);
        if (w == 1 || (f->format == OUT_CSV && !i))
            continue;
        n = snprintf(s, sizeof s, f->format == OUT_ASCII ? "%.17g\n" : ",%.17g", value[i * w + 1]);
        put(f, s, (size_t)n);
    }
    puts_to(f, "\n");
}

vs_status out_point(out_file *f, const double *value)
{
    if (f->format == OUT_RAW)
        put(f, (const char *)value, (size_t)f->n_vec * (1 + f->complex) * sizeof *value);
    else
        put_text_point(f, value);
    f->n_point++;
    if (now() - f->last_flush > OUT_FLUSH_SECONDS)
        flush(f);
    return f->status;
}

vs_status out_plot_end(out_file *f)
{
    flush(f);
    return f->status;
}

vs_status out_close(out_file **f, int *why)
{
    if (!*f)
        return VS_OK;
    flush(*f);
    heap_disown(&(*f)->own);
    if (close((*f)->fd) && !(*f)->status)
        fail(*f, errno);
    vs_status st = (*f)->status;
    if (why)
        *why = (*f)->why;
    vs_free((*f)->buf);
    vs_free(*f);
    *f = NULL;
    return st;
}
