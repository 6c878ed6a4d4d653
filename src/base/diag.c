#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "io.h"

enum { MAX_FILE_BYTES = 1 << 30 };

void diag_init(diag *d)
{
    *d = (diag){.max_error = 50};
    arena_init(&d->mem);
}

void diag_fini(diag *d)
{
    diag_forget_files(d, 0);
    vec_free(d->file);
    vec_free(d->msg);
    vec_free(d->told);
    arena_fini(&d->mem);
}

static void free_file(diag_file *f)
{
    vs_free((char *)(uintptr_t)f->text);
    vs_free((char *)(uintptr_t)f->name);
    f->text = f->name = NULL;
}

bool diag_is_place(const diag *d, diag_span at)
{
    if (at.file < 0 || at.file >= (int32_t)vec_len(d->file) || !d->file[at.file].text)
        return false;
    const size_t len = d->file[at.file].len;
    return at.off <= len && at.len <= len - at.off;
}

void diag_forget_files(diag *d, size_t n)
{
    for (size_t i = n; i < vec_len(d->file); i++)
        free_file(&d->file[i]);
    if (vec_len(d->file) > n)
        vec_head_of(d->file)->len = n;
}

void diag_drop_files(diag *d, size_t from, size_t to)
{
    for (size_t i = from; i < to && i < vec_len(d->file); i++) {
        free_file(&d->file[i]);
        d->file[i] = (diag_file){.name = vs_strdup(""), .text = vs_calloc(1, 1), .gone = true};
    }
    size_t n = vec_len(d->file);
    while (n && d->file[n - 1].gone)
        n--;
    diag_forget_files(d, n);
}

static int32_t own_file(diag *d, const char *name, char *text, size_t len, diag_span from)
{
    diag_file f = {.name = vs_strdup(name), .text = text, .len = len, .from = from};
    vec_push(d->file, f);
    return (int32_t)vec_len(d->file) - 1;
}

int32_t diag_add_file_later(diag *d, const char *name, size_t len, diag_span from)
{
    return own_file(d, name, NULL, len, from);
}

int32_t diag_add_file(diag *d, const char *name, const char *text, size_t len, diag_span from)
{
    char *copy = vs_malloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    return own_file(d, name, copy, len, from);
}

/* From fd to buf[0..cap) what there is; sets *bad on an error. */
static size_t read_some(int fd, char *buf, size_t cap, bool *bad)
{
    size_t n = 0;
    while (n < cap) {
        const ssize_t got = read(fd, buf + n, cap - n);
        if (got < 0 && errno == EINTR)
            continue;
        *bad |= got < 0;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    return n;
}

/* The whole stream; also for pipes, whose size is unknown. */
static char *slurp(int fd, size_t guess, size_t *len, const char **why)
{
    size_t cap = guess < MAX_FILE_BYTES ? guess + 1 : MAX_FILE_BYTES, n = 0;
    char *buf = vs_malloc(cap + 1);
    bool bad = false;
    for (;;) {
        n += read_some(fd, buf + n, cap - n, &bad);
        if (n < cap)
            break;
        if (cap >= MAX_FILE_BYTES) {
            *why = "is larger than 1 GiB";
            vs_free(buf);
            return NULL;
        }
        buf = vs_realloc(buf, cap * 2 + 1);
        cap *= 2;
    }
    if (bad) {
        *why = "could not be read";
        vs_free(buf);
        return NULL;
    }
    buf[n] = 0;
    *len = n;
    return buf;
}

const char *diag_text(const diag *d, int32_t file)
{
    diag_file *f = &d->file[file];
    const char *why = NULL;
    size_t len = 0;
    if (f->text)
        return f->text;
    const int fd = io_open(f->name, O_RDONLY);
    char *text = fd >= 0 ? slurp(fd, f->len, &len, &why) : NULL;
    if (fd >= 0)
        io_close(fd);
    if (text && len != f->len) {
        vs_free(text);
        text = NULL;
    }
    f->len = text ? len : 0;
    f->text = text ? text : vs_calloc(1, 1);
    return f->text;
}

bool diag_has_file(const diag *d, const char *path)
{
    struct stat sb;
    size_t n;
    return (d->client_file && d->client_file(d->client_user, path, &n)) || !stat(path, &sb);
}

static vs_status read_file(diag *d, const char *path, bool pipe, diag_span from, int32_t *file,
                           const char **why)
{
    struct stat sb;
    size_t n;
    const char *own = d->client_file ? d->client_file(d->client_user, path, &n) : NULL;
    *why = NULL;
    if (own) {
        *file = diag_add_file(d, path, own, n, from);
        return VS_OK;
    }
    if (stat(path, &sb)) {
        *why = errno == ENOENT   ? "does not exist"
               : errno == EACCES ? "may not be read"
                                 : "could not be opened";
        return VS_EIO;
    }
    if (S_ISDIR(sb.st_mode)) {
        *why = "is a directory";
        return VS_EIO;
    }
    if (!S_ISREG(sb.st_mode) && !(pipe && S_ISFIFO(sb.st_mode))) {
        *why = "is not a regular file";
        return VS_EIO;
    }
    if (!files_input(path)) {
        *why = "would be overwritten by an output of this run";
        return VS_EINPUT;
    }
    const int fd = io_open(path, O_RDONLY);
    if (fd < 0) {
        *why = errno == EACCES ? "may not be read" : "could not be opened";
        return VS_EIO;
    }
    size_t len = 0;
    char *text = slurp(fd, S_ISREG(sb.st_mode) ? (size_t)sb.st_size : 1 << 16, &len, why);
    io_close(fd);
    if (!text)
        return VS_EIO;
    *file = own_file(d, path, text, len, from);
    return VS_OK;
}

vs_status diag_read_file(diag *d, const char *path, diag_span from, int32_t *file, const char **why)
{
    return read_file(d, path, false, from, file, why);
}

vs_status diag_read_first(diag *d, const char *path, int32_t *file, const char **why)
{
    return read_file(d, path, true, DIAG_NOWHERE, file, why);
}

static void add_msg(diag *d, diag_level level, diag_span at, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *text = arena_alloc(&d->mem, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    vec_push(d->msg, (diag_msg){level, at, text, (uint32_t)str_hash(fmt, strlen(fmt)), 0});
}

void diag_error(diag *d, diag_span at, const char *fmt, ...)
{
    d->drop_notes = d->n_error++ >= d->max_error;
    if (d->drop_notes) {
        d->n_dropped++;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    add_msg(d, DIAG_ERROR, at, fmt, ap);
    va_end(ap);
}

void diag_warning(diag *d, diag_span at, const char *fmt, ...)
{
    d->drop_notes = d->n_warning++ >= d->max_error * 4;
    if (d->drop_notes)
        return;
    va_list ap;
    va_start(ap, fmt);
    add_msg(d, DIAG_WARNING, at, fmt, ap);
    va_end(ap);
}

void diag_note(diag *d, diag_span at, const char *fmt, ...)
{
    if (d->drop_notes)
        return;
    va_list ap;
    va_start(ap, fmt);
    add_msg(d, DIAG_NOTE, at, fmt, ap);
    va_end(ap);
}

void diag_kind(diag *d, uint64_t kind)
{
    if (!d->drop_notes && vec_len(d->msg))
        vec_last(d->msg).kind = kind;
}

void diag_suggest(diag *d, const char *name, const char *const *cand, size_t n_cand)
{
    const char *near = d->drop_notes ? NULL : str_nearest(name, cand, n_cand);
    if (near)
        diag_note(d, DIAG_NOWHERE, "did you mean '%s'?", near);
}

void diag_where(const diag *d, diag_span at, int *line, int *col)
{
    *line = *col = 1;
    if (at.file < 0)
        return;
    const diag_file *f = &d->file[at.file];
    const char *text = diag_text(d, at.file);
    for (size_t i = 0; i < at.off && i < f->len; i++) {
        if (text[i] == '\n') {
            ++*line;
            *col = 1;
        } else
            ++*col;
    }
}

void diag_clear(diag *d)
{
    enum { MOST_TOLD = 10000 };
    for (size_t i = 0; i < vec_len(d->msg) && !d->first; i++)
        if (d->msg[i].level == DIAG_ERROR) {
            d->first = d->msg[i].text;
            d->first_at = d->msg[i].span;
        }
    for (size_t i = 0; i < vec_len(d->msg) && vec_len(d->told) < MOST_TOLD; i++)
        if (d->msg[i].kind)
            vec_push(d->told, str_hash(d->msg[i].text, strlen(d->msg[i].text)));
    vec_clear(d->msg);
    d->told_full |= d->n_dropped > 0;
    d->n_dropped = 0;
}

bool diag_said(const diag *d, diag_span at)
{
    for (size_t i = 0; i < vec_len(d->msg); i++) {
        const diag_span *s = &d->msg[i].span;
        if (s->file == at.file && s->off == at.off && s->len == at.len)
            return true;
    }
    return false;
}

diag_mark diag_try(const diag *d)
{
    return (diag_mark){.n_msg = vec_len(d->msg),
                       .n_error = d->n_error,
                       .n_warning = d->n_warning,
                       .n_dropped = d->n_dropped,
                       .drop_notes = d->drop_notes,
                       .told_full = d->told_full};
}

void diag_soften(diag *d, diag_mark m)
{
    for (size_t i = m.n_msg; i < vec_len(d->msg); i++)
        if (d->msg[i].level == DIAG_ERROR)
            d->msg[i].level = DIAG_WARNING;
    d->n_warning += d->n_error - m.n_error;
    d->n_error = m.n_error;
}

void diag_take_back(diag *d, diag_mark m)
{
    if (vec_len(d->msg) > m.n_msg)
        vec_head_of(d->msg)->len = m.n_msg;
    d->n_error = m.n_error;
    d->n_warning = m.n_warning;
    d->n_dropped = m.n_dropped;
    d->drop_notes = m.drop_notes;
    d->told_full = m.told_full;
}

void diag_quiet_init(diag *quiet, const diag *like)
{
    *quiet = (diag){.max_error = 1, .file = like ? like->file : NULL};
    arena_init(&quiet->mem);
}

void diag_quiet_fini(diag *quiet)
{
    vec_free(quiet->msg);
    arena_fini(&quiet->mem);
}

void diag_keep_errors(diag *d)
{
    size_t n = 0;
    bool keep = true;
    for (size_t i = 0; i < vec_len(d->msg); i++) {
        if (d->msg[i].level != DIAG_NOTE)
            keep = d->msg[i].level == DIAG_ERROR;
        if (keep)
            d->msg[n++] = d->msg[i];
    }
    if (d->msg)
        vec_head_of(d->msg)->len = n;
}

diag_span diag_join(diag_span a, diag_span b)
{
    if (a.file != b.file || b.off + b.len < a.off)
        return a;
    a.len = b.off + b.len - a.off;
    return a;
}
