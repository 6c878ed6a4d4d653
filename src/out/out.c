#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"
#include "out_name.h"

enum { BUFFER_BYTES = 1 << 16, COUNT_WIDTH = 12, MOST_PARTS = 1000 };

struct out_file {
    int fd;
    out_format format;
    bool can_seek; /* a pipe keeps the count of 0 that it was given */
    bool sync;
    char *buf;
    size_t used;
    off_t written;            /* bytes given to the system */
    off_t count_at;           /* place of the point count in the file */
    off_t point_end;          /* where the last point ends, */
    off_t whole;              /* and the last one that is in the file as a whole */
    int64_t n_point, n_shown; /* points so far; the count that the file states */
    int32_t n_vec;
    bool complex;   /* a value is a real and an imaginary part */
    bool in_points; /* behind the header of a plot */
    int n_plot;
    const out_stamp *stamp;
    out_manner manner;
    double last_flush; /* seconds */
    int64_t n_ticked;  /* points at the last out_tick */
    vs_status status;  /* the first failure */
    int why;           /* its errno */
    off_t *count;      /* vec: places of point counts, which change while a plot grows */
    hash128 sum;       /* of the blocks before `summed` (out_image) */
    off_t summed;
    bool goes_on;   /* the file is longer than `written`: the first write cuts that off */
    file_new to;    /* the new file that fd belongs to; path NULL: fd is no new file's */
    heap_owned own; /* lets the heap write the points in buf and close fd if memory is missing */
};

static void fail(out_file *f, int why)
{
    f->status = VS_EIO;
    f->why = why;
}

/* Returns how many bytes went through. */
static size_t write_some(out_file *f, const char *s, size_t n)
{
    size_t done = 0;
    while (done < n && !f->status) {
        ssize_t k = write(f->fd, s + done, n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            fail(f, k ? errno : ENOSPC);
        else
            done += (size_t)k;
    }
    f->written += (off_t)done;
    return done;
}

static void show_count(out_file *f)
{
    char text[COUNT_WIDTH + 1];
    int n = snprintf(text, sizeof text, "%-*lld", COUNT_WIDTH, (long long)f->n_shown);
    for (int at = 0; at < n;) {
        const ssize_t k = pwrite(f->fd, text + at, (size_t)(n - at), f->count_at + at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            fail(f, k ? errno : ENOSPC);
            return;
        }
        at += (int)k;
    }
}

/* After a failure: n bytes of the buffer were written. The file is cut behind the last whole point.
 * In text a point ends with its line, or, in ASCII raw files, with an empty one. */
static void cut_off(out_file *f, size_t n)
{
    const off_t from = f->written - (off_t)n;
    const off_t bytes = (off_t)f->n_vec * (1 + f->complex) * (off_t)sizeof(double);
    if (f->in_points && f->format == OUT_RAW) {
        const off_t k = (f->written - f->whole) / bytes;
        f->n_shown += k;
        f->whole += k * bytes;
    }
    for (size_t i = 0; f->in_points && f->format != OUT_RAW && i < n; i++)
        if (f->buf[i] == '\n' && (f->format == OUT_CSV || !i || f->buf[i - 1] == '\n')) {
            f->n_shown++;
            f->whole = from + (off_t)i + 1;
        }
    if (f->can_seek && !ftruncate(f->fd, f->whole) && f->in_points && f->format != OUT_CSV)
        show_count(f);
}

/* Cuts the file at the place that the image gave, just before the first bytes are written there: a
 * run that is refused earlier leaves the file as it was. */
static void cut_back(out_file *f)
{
    f->goes_on = false;
    if (ftruncate(f->fd, f->written) || lseek(f->fd, f->written, SEEK_SET) < 0)
        fail(f, errno);
}

/* Writes the points first and then their number, so that the number is never too high. */
static void flush(out_file *f)
{
    if (f->goes_on && f->used)
        cut_back(f);
    if (f->status) {
        f->used = 0;
        return;
    }
    const size_t n = write_some(f, f->buf, f->used);
    f->used = 0;
    f->last_flush = vs_coarse_seconds();
    if (f->status) {
        cut_off(f, n);
        return;
    }
    if (f->in_points && f->n_shown != f->n_point) {
        f->n_shown = f->n_point;
        f->whole = f->point_end;
        if (f->format != OUT_CSV && f->can_seek)
            show_count(f);
    }
    if (f->sync && f->can_seek && fdatasync(f->fd))
        fail(f, errno);
}

static void drop_fd(void *fd, size_t n)
{
    (void)n;
    close((int)(intptr_t)fd);
}

/* The heap calls this when memory is missing: writes all points so far and closes the file. */
static void drop(void *what, size_t n)
{
    out_file *f = what;
    (void)n;
    flush(f);
    if (f->to.path)
        (void)file_end(&f->to, false);
    else
        close(f->fd);
}

/* Makes an out_file of fd, which it owns from now on, also when it fails. */
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

static int close_as(int fd, int why)
{
    close(fd);
    errno = why;
    return -1;
}

/* Opens and locks a file in place.  empty  true: drops its contents; false: goes to its end
 * -1: errno says why it cannot. */
static int open_in_place(const char *path, files_role role, bool empty)
{
    struct stat sb;
    if (!files_claim(path, role))
        return -1;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666); /* out_image reads */
    if (fd < 0 && errno == EACCES)
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &sb) || !S_ISREG(sb.st_mode))
        return fd;
    if (!file_lock(fd) || (empty && ftruncate(fd, 0)) || lseek(fd, 0, SEEK_END) < 0)
        return close_as(fd, errno);
    return fd;
}

vs_status out_open(out_file **f, const char *path, out_format format)
{
    const bool to_stdout = !strcmp(path, "-");
    const int fd = to_stdout ? dup(STDOUT_FILENO) : open_in_place(path, FILES_RESULTS, true);
    return fd < 0 ? VS_EIO : take_fd(f, fd, format, !to_stdout);
}

vs_status out_go_on(out_file **f, const char *path, out_format format)
{
    const int fd = open_in_place(path, FILES_RESULTS, false);
    return fd < 0 ? VS_EIO : take_fd(f, fd, format, true);
}

vs_status out_create(out_file **f, const char *path, out_format format)
{
    file_new to;
    if (!file_begin(&to, path, FILES_BLOCK))
        return VS_EIO;
    const vs_status st = take_fd(f, to.fd, format, true);
    (*f)->to = to;
    return st;
}

vs_status out_append(out_file **f, const char *path, out_format format)
{
    const int fd = open_in_place(path, FILES_BLOCK, false);
    if (fd < 0)
        return VS_EIO;
    const vs_status st = take_fd(f, fd, format, true);
    const off_t end = (*f)->can_seek ? lseek(fd, 0, SEEK_CUR) : 0;
    (*f)->written = (*f)->whole = end > 0 ? end : 0;
    return st;
}

vs_status out_unique(out_file **f, const char *stem, char **path)
{
    int fd = -1;
    *path = NULL;
    for (int i = 1; fd < 0 && i <= MOST_PARTS; i++) {
        vs_free(*path);
        *path = i > 1 ? vs_text("%s.part-%d.raw", stem, i) : vs_text("%s.part.raw", stem);
        fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        vs_free(*path);
        return VS_EIO;
    }
    return take_fd(f, fd, OUT_RAW, true);
}

vs_status out_open_fd(out_file **f, int fd, out_format format)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return own < 0 ? VS_EIO : take_fd(f, own, format, true);
}

void out_set_stamp(out_file *f, const out_stamp *stamp) { f->stamp = stamp; }
void out_set_manner(out_file *f, const out_manner *m) { f->manner = *m; }

static void put(out_file *f, const char *s, size_t n)
{
    if (f->used + n > BUFFER_BYTES)
        flush(f);
    if (n > BUFFER_BYTES) {
        if (!f->status && write_some(f, s, n) < n)
            cut_off(f, 0);
        return;
    }
    memcpy(f->buf + f->used, s, n);
    f->used += n;
}

static void puts_to(out_file *f, const char *s) { put(f, s, strlen(s)); }

/* Writes a name, with blanks for control characters, which would break the header's lines. */
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

/* Writes the lines "Date:" and "Command:", as ngspice 44 and later do. In ngspice's manner the date
 * is part of the line "Command:", since vlsirtools expects the plot's name in the third line of a
 * header, as before ngspice 44. spicelib looks for the program in any line. */
static void put_origin(out_file *f, const char *date)
{
    const bool apart = !f->manner.ngspice || !f->manner.program || f->manner.server;
    puts_to(f, apart ? "\nDate: " : "\n");
    puts_to(f, apart ? date : "");
    puts_to(f, apart ? "\n" : "");
    if (!f->manner.program || f->manner.server)
        return;
    puts_to(f, "Command: " OUT_NGSPICE ", ");
    put_line_text(f, f->manner.program);
    puts_to(f, apart ? "" : ", ");
    puts_to(f, apart ? "" : date);
    puts_to(f, "\n");
}

static void put_variable(out_file *f, const out_vector *v)
{
    char name[OUT_NAME];
    const char *type = f->manner.ngspice ? out_ng_type(v->name, v->type) : v->type;
    put_line_text(f, f->manner.ngspice ? out_ng_name(name, v->name, type) : v->name);
    puts_to(f, "\t");
    put_line_text(f, type);
    puts_to(f, "\n");
}

static void put_raw_header(out_file *f, const char *title, const char *plot, const out_vector *vec,
                           int32_t n)
{
    char line[96], date[48];
    time_t t = f->stamp ? (time_t)f->stamp->date : time(NULL);
    struct tm tm;
    localtime_r(&t, &tm);
    if (f->manner.server && !f->n_plot)
        puts_to(f, f->manner.server);
    puts_to(f, "Title: ");
    put_line_text(f, title);
    strftime(date, sizeof date, "%a %b %d %H:%M:%S  %Y", &tm);
    put_origin(f, date);
    puts_to(f, "Plotname: ");
    put_line_text(f, plot);
    snprintf(line, sizeof line,
             "\nFlags: %s\nNo. Variables: %d\nNo. Points: ", f->complex ? "complex" : "real", n);
    puts_to(f, line);
    f->count_at = f->written + (off_t)f->used;
    vec_push(f->count, f->count_at);
    snprintf(line, sizeof line, "%-*d\nVariables:\n", COUNT_WIDTH, 0);
    puts_to(f, line);
    if (f->manner.server) { /* a line that PySpice's reader asks for */
        snprintf(line, sizeof line, "No. of Data Columns : %d  \n", n);
        puts_to(f, line);
    }
    for (int32_t i = 0; i < n; i++) {
        snprintf(line, sizeof line, "\t%d\t", i);
        puts_to(f, line);
        put_variable(f, &vec[i]);
    }
    puts_to(f, f->format == OUT_RAW ? "Binary:\n" : "Values:\n");
}

vs_status out_plot_begin(out_file *f, const char *title, const char *plot, const out_vector *vec,
                         int32_t n, bool complex)
{
    flush(f);
    f->in_points = false;
    f->whole = f->written;
    f->n_vec = n;
    f->complex = complex;
    f->n_point = f->n_shown = 0;
    if (f->format == OUT_CSV)
        put_csv_header(f, vec, n);
    else
        put_raw_header(f, title, plot, vec, n);
    f->n_plot++;
    flush(f);
    if (!f->status) {
        f->in_points = true;
        f->whole = f->written;
    }
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
    f->point_end = f->written + (off_t)f->used;
    if (vs_coarse_seconds() - f->last_flush > OUT_FLUSH_SECONDS)
        flush(f);
    return f->status;
}

void out_tick(out_file *f)
{
    const bool no_point = f->n_point == f->n_ticked; /* out_point flushes by the clock itself */
    f->n_ticked = f->n_point;
    if (no_point && f->used && vs_coarse_seconds() - f->last_flush > OUT_FLUSH_SECONDS)
        flush(f);
}

void out_flush(out_file *f)
{
    if (f->used)
        flush(f);
}

void out_last_count(const out_file *f, int64_t *place, int64_t *n)
{
    *place = (int64_t)f->count_at;
    *n = f->n_point;
}

vs_status out_plot_end(out_file *f)
{
    flush(f);
    return f->status;
}

/* -- a file that another process goes on with -- */

enum { SUM_BLOCK = 1 << 20 };

/* Reads n bytes of the file from `at` on. Counts of points, which change later, are read as blanks.
 * false: errno says why it cannot. */
static bool read_still(const out_file *f, char *buf, size_t n, off_t at)
{
    for (size_t done = 0; done < n;) {
        const ssize_t k = pread(f->fd, buf + done, n - done, at + (off_t)done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            errno = k ? errno : ENODATA;
            return false;
        }
        done += (size_t)k;
    }
    for (size_t i = 0; i < vec_len(f->count); i++)
        for (off_t p = f->count[i]; p < f->count[i] + COUNT_WIDTH; p++)
            if (p >= at && p < at + (off_t)n)
                buf[p - at] = ' ';
    return true;
}

/* Checksum of the file up to `end`: goes on from the checksum of its earlier blocks. */
static bool sum_to(out_file *f, off_t end, hash128 *sum)
{
    struct {
        hash128 before, block;
    } link;
    char *buf = vs_malloc(SUM_BLOCK);
    bool ok = true;
    for (hash128 now = f->sum; ok; now = *sum) {
        const off_t left = end - f->summed;
        const size_t n = left < SUM_BLOCK ? (size_t)left : (size_t)SUM_BLOCK;
        ok = read_still(f, buf, n, f->summed);
        link.before = now;
        link.block = hash128_of(buf, n);
        *sum = hash128_of(&link, sizeof link);
        if (n < SUM_BLOCK)
            break;
        f->sum = *sum;
        f->summed += SUM_BLOCK;
    }
    vs_free(buf);
    return ok;
}

static void place_image(out_file *f, image *im)
{
    IMAGE_ONE(im, f->count_at);
    IMAGE_VEC(im, f->count);
    IMAGE_ONE(im, f->n_point);
    IMAGE_ONE(im, f->n_shown);
    IMAGE_ONE(im, f->n_vec);
    IMAGE_ONE(im, f->complex);
    IMAGE_ONE(im, f->in_points);
    IMAGE_ONE(im, f->n_plot);
}

vs_status out_image(out_file *f, image *im)
{
    static const char other[] = "the results are not those that it goes on from";
    hash128 now = {{0}}, then;
    struct stat sb;
    if (!f->can_seek) {
        errno = ESPIPE;
        return VS_EIO;
    }
    flush(f);
    off_t end = f->written;
    IMAGE_ONE(im, end);
    IMAGE_SAME(im, f->format, "its results are of another format");
    place_image(f, im);
    if (f->status || im->wrong)
        return f->status ? f->status : VS_EINPUT;
    const bool there = !im->giving || (!fstat(f->fd, &sb) && end >= 0 && sb.st_size >= end);
    if (there && (!sum_to(f, end, &now) || (!im->giving && fdatasync(f->fd))))
        return VS_EIO;
    then = now;
    IMAGE_ONE(im, then);
    if (!there || memcmp(&now, &then, sizeof now) != 0)
        im->wrong = other;
    if (im->wrong || !im->giving)
        return im->wrong ? VS_EINPUT : VS_OK;
    f->written = f->whole = f->point_end = end;
    f->goes_on = true;
    return VS_OK;
}

void out_set_sync(out_file *f, bool on) { f->sync = on; }

static void end_file(out_file **f, bool keep)
{
    out_file *o = *f;
    heap_disown(&o->own);
    const bool bad = o->to.path ? !file_end(&o->to, keep) : close(o->fd) != 0;
    if (bad && !o->status)
        fail(o, errno);
}

static void free_file(out_file **f)
{
    vs_free((*f)->buf);
    vec_free((*f)->count);
    vs_free(*f);
    *f = NULL;
}

vs_status out_close(out_file **f, int *why)
{
    if (!*f)
        return VS_OK;
    flush(*f);
    end_file(f, !(*f)->status);
    const vs_status st = (*f)->status;
    if (why)
        *why = (*f)->why;
    free_file(f);
    return st;
}

void out_drop(out_file **f)
{
    if (!*f)
        return;
    (*f)->used = 0;
    end_file(f, false);
    free_file(f);
}
