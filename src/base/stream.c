/* stream.c - see stream.h. Streams into memory are fopencookie's: the library's own open_memstream
 * takes its memory from elsewhere and nobody hears when there is none. Those of new files are, to
 * hear when they end. */
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"
#include "io.h"

enum { LINE_BYTES = 128 };

/* A stream into memory. */
typedef struct text_stream {
    heap_owned own;
    FILE *f;
    char *buf, **text; /* text NULL: nobody waits for it */
    size_t len, cap, *n;
    bool full; /* there was no memory */
} text_stream;

static ssize_t write_text(void *cookie, const char *p, size_t n)
{
    text_stream *s = cookie;
    if (s->cap - s->len <= n) {
        const size_t cap = s->cap + s->cap / 2 + n + 1;
        char *more = s->full ? NULL : vs_try_realloc(s->buf, cap);
        if (!more) {
            s->full = true;
            errno = ENOMEM;
            return 0;
        }
        s->buf = more;
        s->cap = cap;
    }
    memcpy(s->buf + s->len, p, n);
    s->len += n;
    s->buf[s->len] = 0;
    if (s->text)
        *s->text = s->buf;
    if (s->text && s->n)
        *s->n = s->len;
    return (ssize_t)n;
}

/* For ftell. */
static int seek_text(void *cookie, off64_t *at, int whence)
{
    const text_stream *s = cookie;
    if (whence == SEEK_END || *at != (whence == SEEK_SET ? (off64_t)s->len : 0))
        return -1;
    *at = (off64_t)s->len;
    return 0;
}

static int end_text(void *cookie)
{
    text_stream *s = cookie;
    const bool full = s->full;
    heap_disown(&s->own);
    if (s->text)
        *s->text = s->buf;
    if (s->text && s->n)
        *s->n = s->len;
    vs_free(s);
    errno = full ? ENOMEM : errno;
    return full ? -1 : 0;
}

static void drop_text(void *what, size_t n)
{
    (void)n;
    text_stream *s = what;
    s->text = NULL; /* whoever waited is gone */
    fclose(s->f);
}

FILE *stream_text(char **text, size_t *n)
{
    const cookie_io_functions_t io = {.write = write_text, .seek = seek_text, .close = end_text};
    text_stream *s = vs_calloc(1, sizeof *s);
    *s = (text_stream){.buf = vs_calloc(1, LINE_BYTES), .cap = LINE_BYTES, .text = text, .n = n};
    s->f = fopencookie(s, "w", io);
    if (!s->f)
        vs_no_memory();
    heap_own(&s->own, drop_text, s);
    return s->f;
}

static void drop_file(void *what, size_t n)
{
    (void)n;
    fclose(what);
}

static FILE *held(FILE *f)
{
    if (f)
        heap_hold(drop_file, f, 0);
    return f;
}

/* Opening waits for nobody: a pipe or a terminal is no file that a deck may name. */
FILE *stream_open(const char *path)
{
    struct stat sb;
    if (!stat(path, &sb) && !S_ISREG(sb.st_mode)) {
        errno = S_ISDIR(sb.st_mode) ? EISDIR : FILES_SPECIAL;
        return NULL;
    }
    return files_input(path) ? held(fopen(path, "re")) : NULL;
}

FILE *stream_append(const char *path, files_role role)
{
    return files_claim(path, role) ? held(fopen(path, "ae")) : NULL;
}

FILE *stream_to(int fd)
{
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = own < 0 ? NULL : fdopen(own, "w");
    if (own >= 0 && !f) {
        const int why = errno;
        close(own);
        errno = why;
    }
    return held(f);
}

/* -- new files -- */

typedef struct new_file {
    heap_owned own;
    FILE *f;
    file_new to;
    int why; /* errno of what could not be written first */
} new_file;

static ssize_t write_new(void *cookie, const char *p, size_t n)
{
    new_file *s = cookie;
    if (!s->why && !io_write(s->to.fd, p, n))
        s->why = errno ? errno : ENOSPC;
    errno = s->why;
    return s->why ? 0 : (ssize_t)n;
}

static int end_new(void *cookie)
{
    new_file *s = cookie;
    const int bad = s->why;
    heap_disown(&s->own);
    const bool ok = file_end(&s->to, !bad) && !bad;
    errno = bad ? bad : errno;
    vs_free(s);
    return ok ? 0 : -1;
}

static void drop_new(void *what, size_t n)
{
    (void)n;
    new_file *s = what;
    s->why = ECANCELED; /* it is not whole */
    fclose(s->f);
}

FILE *stream_create(const char *path, files_role role)
{
    const cookie_io_functions_t io = {.write = write_new, .close = end_new};
    new_file *s = vs_calloc(1, sizeof *s);
    if (!file_begin(&s->to, path, role)) {
        const int why = errno;
        vs_free(s);
        errno = why;
        return NULL;
    }
    s->f = fopencookie(s, "w", io);
    if (!s->f) {
        (void)file_end(&s->to, false);
        vs_no_memory();
    }
    heap_own(&s->own, drop_new, s);
    return s->f;
}

int stream_close(FILE *f)
{
    heap_unhold(drop_file, f);
    errno = 0;
    const int bad = fclose(f);
    if (bad && errno == ENOMEM)
        vs_no_memory();
    return bad;
}

ptrdiff_t stream_line(char **line, size_t *cap, FILE *f)
{
    size_t n = 0;
    for (int c; (c = fgetc(f)) != EOF;) {
        if (n + 2 > *cap) {
            *cap = *cap * 2 + LINE_BYTES;
            *line = vs_realloc(*line, *cap);
        }
        (*line)[n++] = (char)c;
        if (c == '\n')
            break;
    }
    if (n)
        (*line)[n] = 0;
    return n ? (ptrdiff_t)n : -1;
}
