/* swp_book.c - results in the order of the points: the result file, the table of measures, the
 * journal. The journal has a line for each point whose results are in the files, with the lengths
 * of the files behind it. It is written last, in one write, so a point without a whole line was not
 * finished. */
#include "swp_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"
#include "stream.h"

enum { BLOCK = 1 << 16, TAIL = sizeof "\t#0123456789abcdef\n" - 1 };

static vs_status fail(swp_book *b, vs_status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b->why, sizeof b->why, fmt, ap);
    va_end(ap);
    return st;
}

/* Checksum FNV-1a of bytes that follow those of `sum`. */
#define SUM_BEGIN 0xcbf29ce484222325u
static uint64_t add_sum(uint64_t sum, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ (unsigned char)s[i]) * 0x100000001b3u;
    return sum;
}

static vs_status write_all(swp_book *b, int fd, const char *s, size_t n, off_t *end,
                           const char *path)
{
    uint64_t *sum = fd == b->fd ? &b->sum : fd == b->mfd ? &b->msum : NULL;
    if (sum)
        *sum = add_sum(*sum, s, n);
    while (n) {
        const ssize_t k = write(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return fail(b, VS_EIO, "'%s' could not be written: %s", path,
                        strerror(k ? errno : ENOSPC));
        s += k;
        n -= (size_t)k;
        *end += k;
    }
    return VS_OK;
}

/* -- the journal: each line ends with the sum of all lines up to it, so that one that is damaged,
 * missing or out of order is seen, and a point's has the sums of its results -- */

#define HEAD "vsim-sweep "
static const char version[] = HEAD "2";

/* Writes n bytes of lines to the journal, with the checksum of the chain behind each line. */
static vs_status write_lines(swp_book *b, const char *text, size_t n)
{
    char *with = NULL;
    size_t n_with = 0;
    off_t end = 0;
    FILE *fp = stream_text(&with, &n_with);
    for (size_t from = 0; from < n;) {
        const size_t len = strcspn(text + from, "\n");
        b->chain = add_sum(b->chain, text + from, len);
        fprintf(fp, "%.*s\t#%016llx\n", (int)len, text + from, (unsigned long long)b->chain);
        from += len + 1;
    }
    stream_close(fp);
    const vs_status st = write_all(b, b->jfd, with, n_with, &end, b->journal);
    vs_free(with);
    return st;
}

static vs_status begin_journal(swp_book *b)
{
    char *text = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&text, &n);
    b->chain = SUM_BEGIN;
    fprintf(fp, "%s\nid %016llx\ntotal %lld %d %d %d %lld\n", version, (unsigned long long)b->id,
            (long long)b->total, b->shard, b->n_shard, b->format, (long long)b->mc);
    for (size_t i = 0; i < vec_len(b->meas); i++)
        fprintf(fp, "meas %s %a %a\n", b->meas[i], b->min[i], b->max[i]);
    for (size_t i = 0; i < vec_len(b->step); i++)
        fprintf(fp, "step %s\n", b->step[i]);
    fputs("points\n", fp);
    stream_close(fp);
    vs_status st = write_lines(b, text, n);
    vs_free(text);
    return st;
}

static vs_status note_point(swp_book *b, const swp_rec *r, const char *label, bool new_header)
{
    if (b->jfd < 0)
        return VS_OK;
    char *text = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&text, &n);
    if (new_header)
        fprintf(fp, "h %.*s\n", (int)vec_len(b->last_header), b->last_header);
    fprintf(fp, "p %lld %d %d %lld %lld %016llx %016llx\t%s\t", (long long)r->point, (int)r->status,
            (int)b->elided, (long long)b->end, (long long)b->mend, (unsigned long long)b->sum,
            (unsigned long long)b->msum, label);
    b->sum = b->msum = SUM_BEGIN;
    for (size_t i = 0; i < vec_len(b->meas); i++)
        fprintf(fp, "%a ", r->value[i]);
    fputs(".\n", fp);
    stream_close(fp);
    vs_status st = write_lines(b, text, n);
    vs_free(text);
    return st;
}

static bool read_line(swp_journal *j)
{
    const ssize_t n = stream_line(&j->line, &j->cap, j->fp);
    char *mark = n > TAIL && j->line[n - 1] == '\n' ? j->line + n - TAIL : NULL, *end;
    if (!mark || mark[0] != '\t' || mark[1] != '#' || strlen(j->line) != (size_t)n)
        return false;
    const uint64_t chain = add_sum(j->chain, j->line, (size_t)(mark - j->line));
    if (strtoull(mark + 2, &end, 16) != chain || *end != '\n')
        return false;
    j->chain = chain;
    *mark = 0;
    j->good += n;
    return true;
}

/* Whether a new journal may replace the file. */
bool swp_is_journal(const char *path)
{
    char head[sizeof HEAD] = "";
    FILE *fp = stream_open(path);
    const size_t n = fp ? fread(head, 1, sizeof head - 1, fp) : 0;
    if (fp)
        stream_close(fp);
    return !strncmp(head, HEAD, n);
}

bool swp_journal_open(swp_journal *j, const char *path, arena *mem)
{
    *j = (swp_journal){.fp = stream_open(path), .chain = SUM_BEGIN};
    unsigned long long id;
    long long total, mc;
    bool ok = j->fp && read_line(j) && !strcmp(j->line, version) && read_line(j) &&
              sscanf(j->line, "id %llx", &id) == 1 && read_line(j) &&
              sscanf(j->line, "total %lld %d %d %d %lld", &total, &j->shard, &j->n_shard,
                     &j->format, &mc) == 5 &&
              total >= 0 && mc >= 0 && j->n_shard >= 1 && j->shard >= 0 && j->shard < j->n_shard &&
              j->format >= OUT_RAW && j->format <= OUT_CSV;
    bool points = false;
    while (ok && !points && (ok = read_line(j))) {
        char *name = j->line + 5, *end = name + strcspn(name, " ");
        points = !strcmp(j->line, "points");
        if (!strncmp(j->line, "meas ", 5)) {
            char *next;
            vec_push(j->meas, arena_strndup(mem, name, (size_t)(end - name)));
            vec_push(j->min, strtod(end, &next));
            vec_push(j->max, strtod(next, NULL));
        } else if (!strncmp(j->line, "step ", 5)) {
            vec_push(j->step, arena_strndup(mem, name, strlen(name)));
        }
    }
    if (!ok) {
        swp_journal_close(j);
        return false;
    }
    j->id = id;
    j->total = total;
    j->mc = mc;
    j->rec.value = vs_calloc(vec_len(j->meas) + 1, sizeof *j->rec.value);
    return true;
}

/* Reads the next point.  before  the header of the points so far
 * false: its line is not whole. */
static bool read_point(swp_journal *j, const char *before, arena *mem)
{
    do {
        if (!read_line(j))
            return false;
        if (!strncmp(j->line, "h ", 2))
            j->header = arena_strndup(mem, j->line + 2, strlen(j->line + 2));
    } while (!strncmp(j->line, "h ", 2));
    long long point, end, mend;
    unsigned long long sum, msum;
    int status, elided, at = 0;
    const size_t n = strlen(j->line);
    if (n < 2 || j->line[n - 1] != '.' ||
        sscanf(j->line, "p %lld %d %d %lld %lld %llx %llx%n", &point, &status, &elided, &end, &mend,
               &sum, &msum, &at) != 7 ||
        j->line[at] != '\t' || point != j->shard + j->n_point * j->n_shard || point >= j->total ||
        end < j->end || mend < j->mend)
        return false;
    char *v = strchr(j->line + at + 1, '\t');
    if (!v)
        return false;
    *v++ = 0;
    j->label = j->line + at + 1;
    j->start = j->end;
    j->mstart = j->mend;
    j->end = (off_t)end;
    j->mend = (off_t)mend;
    j->sum = sum;
    j->msum = msum;
    j->n_point++;
    j->elided = elided ? before : NULL;
    j->rec.point = point;
    j->rec.status = status;
    j->rec.n_bytes = j->end - j->start;
    for (size_t i = 0; i < vec_len(j->meas); i++)
        j->rec.value[i] = strtod(v, &v);
    return true;
}

/* Takes back the point that was read last: its files are not as its line says. */
static void take_back(swp_journal *j)
{
    j->good = j->good_before;
    j->header = j->before;
    j->chain = j->chain_before;
}

bool swp_journal_next(swp_journal *j, arena *mem)
{
    j->before = j->header;
    j->good_before = j->good;
    j->chain_before = j->chain;
    if (read_point(j, j->before, mem))
        return true;
    take_back(j); /* a header without its point does not count either */
    return false;
}

bool swp_sum_is(int fd, off_t from, off_t to, uint64_t sum)
{
    struct stat sb;
    char block[BLOCK];
    uint64_t found = SUM_BEGIN;
    if (fd < 0 || fstat(fd, &sb) || !S_ISREG(sb.st_mode))
        return true; /* no regular file: it cannot be read again */
    while (from < to) {
        const size_t n = to - from < BLOCK ? (size_t)(to - from) : BLOCK;
        const ssize_t k = pread(fd, block, n, from);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno == EBADF) /* open for writing only */
            return sb.st_size >= to;
        if (k <= 0)
            return false;
        found = add_sum(found, block, (size_t)k);
        from += k;
    }
    return found == sum;
}

void swp_journal_close(swp_journal *j)
{
    if (j->fp)
        stream_close(j->fp);
    vs_free(j->line);
    vs_free(j->rec.value);
    vec_free(j->step);
    vec_free(j->meas);
    vec_free(j->min);
    vec_free(j->max);
    *j = (swp_journal){0};
}

/* -- the table of measures -- */

static vs_status begin_measures(swp_book *b)
{
    char *text = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&text, &n);
    fputs("point", fp);
    for (size_t i = 0; i < vec_len(b->step); i++)
        fprintf(fp, ",%s", b->step[i]);
    for (size_t i = 0; i < vec_len(b->meas); i++)
        fprintf(fp, ",%s", b->meas[i]);
    fputs(",status\n", fp);
    stream_close(fp);
    vs_status st = write_all(b, b->mfd, text, n, &b->mend, b->measures);
    vs_free(text);
    return st;
}

static vs_status write_measures(swp_book *b, const swp_rec *r, const char *label)
{
    if (b->mfd < 0)
        return VS_OK;
    char *text = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&text, &n);
    fprintf(fp, "%lld,%s", (long long)r->point + 1, label);
    for (size_t i = 0; i < vec_len(b->meas); i++)
        if (isnan(r->value[i]))
            fputs(",nan", fp);
        else
            fprintf(fp, ",%.17g", r->value[i]);
    fprintf(fp, ",%s\n", r->status ? "failed" : "done");
    stream_close(fp);
    vs_status st = write_all(b, b->mfd, text, n, &b->mend, b->measures);
    vs_free(text);
    return st;
}

/* -- the log of limits: lines of a point stand behind one that names it -- */

static vs_status write_limits(swp_book *b, const swp_rec *r, const char *label)
{
    if (!r->n_limit)
        return VS_OK;
    b->n_beyond++;
    char *values = swp_label(b, label);
    char *text = vs_text(SWP_POINT_LINE "%lld: %s\n%.*s", (long long)r->point + 1, values,
                         (int)r->n_limit, r->limit);
    vs_status st = VS_OK;
    if (b->lfd >= 0)
        st = write_all(b, b->lfd, text, strlen(text), &b->lend, b->limits);
    else
        fputs(text, b->log);
    vs_free(values);
    vs_free(text);
    return st;
}

/* Where the lines of points from number `next` (from 0) on begin: they have no results yet. A line
 * without end is one of them.  n_point  out  points in front of that */
static off_t limits_end(int fd, int64_t next, int64_t *n_point)
{
    char block[BLOCK], head[40];
    size_t n_head = 0;
    off_t begin = 0, at = 0;
    long long point;
    for (ssize_t n; (n = pread(fd, block, sizeof block, at)) > 0;)
        for (ssize_t i = 0; i < n; i++, at++) {
            if (n_head + 1 < sizeof head)
                head[n_head++] = block[i];
            if (block[i] != '\n')
                continue;
            head[n_head] = 0;
            n_head = 0;
            const bool names = sscanf(head, SWP_POINT_LINE "%lld:", &point) == 1;
            if (names && point > next)
                return begin;
            *n_point += names;
            begin = at + 1;
        }
    return begin;
}

static void print_head(swp_book *b)
{
    if (!b->table)
        return;
    fprintf(b->log, "%8s", "point");
    for (size_t i = 0; i < vec_len(b->step); i++)
        fprintf(b->log, "  %-12s", b->step[i]);
    for (size_t i = 0; i < vec_len(b->meas); i++)
        fprintf(b->log, "  %-14s", b->meas[i]);
    fputc('\n', b->log);
}

static void print_row(swp_book *b, const swp_rec *r, const char *label)
{
    if (!b->table)
        return;
    fprintf(b->log, "%8lld", (long long)r->point + 1);
    for (size_t i = 0; i < vec_len(b->step); i++) {
        const int n = (int)strcspn(label, ",");
        fprintf(b->log, "  %-12.*s", n, label);
        label += n + (label[n] == ',');
    }
    for (size_t i = 0; i < vec_len(b->meas); i++)
        if (isnan(r->value[i]))
            fprintf(b->log, "  %-14s", "failed");
        else
            fprintf(b->log, "  %-14.7g", r->value[i]);
    fputc('\n', b->log);
}

/* -- the result file -- */

enum { CSV_HEADER, CSV_DATA, CSV_LINE_END };

/* Writes sections of CSV. A section whose header equals the last one written goes on in its table.
 */
static vs_status put_csv(swp_book *b, const char *s, size_t n, bool *new_header)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < n && !st;) {
        if (b->csv_state == CSV_LINE_END && s[i] == '\n') {
            b->csv_state = CSV_HEADER;
            i++;
            continue;
        }
        const char *stop = memchr(s + i, '\n', n - i);
        const size_t len = stop ? (size_t)(stop - s) - i + 1 : n - i;
        if (b->csv_state != CSV_HEADER) {
            st = write_all(b, b->fd, s + i, len, &b->end, b->path);
            b->csv_state = stop ? CSV_LINE_END : CSV_DATA;
            i += len;
            continue;
        }
        for (size_t k = 0; k < len - (stop != NULL); k++)
            vec_push(b->header, s[i + k]);
        i += len;
        if (!stop)
            continue;
        const size_t m = vec_len(b->header);
        const bool first = !b->any_header;
        b->any_header = true;
        b->elided = first && m == vec_len(b->last_header) && !memcmp(b->header, b->last_header, m)
                        ? true
                        : b->elided;
        if (m != vec_len(b->last_header) || memcmp(b->header, b->last_header, m)) {
            char *was = b->last_header;
            if (b->end)
                st = write_all(b, b->fd, "\n", 1, &b->end, b->path);
            if (!st)
                st = write_all(b, b->fd, b->header, m, &b->end, b->path);
            if (!st)
                st = write_all(b, b->fd, "\n", 1, &b->end, b->path);
            b->last_header = b->header;
            b->header = was;
            *new_header = true;
        }
        vec_clear(b->header);
        b->csv_state = CSV_LINE_END;
    }
    return st;
}

static vs_status copy_results(swp_book *b, int src, off_t at, int64_t n, const char *header,
                              bool *new_header)
{
    char block[BLOCK];
    vs_status st = VS_OK;
    b->csv_state = CSV_HEADER;
    b->any_header = b->elided = false;
    if (header)
        st = put_csv(b, header, strlen(header), new_header);
    if (header && !st)
        st = put_csv(b, "\n", 1, new_header);
    while (n > 0 && !st) {
        const ssize_t k = pread(src, block, n < BLOCK ? (size_t)n : BLOCK, at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return fail(b, VS_EIO, "results of a point could not be read: %s",
                        strerror(k ? errno : EIO));
        st = b->csv ? put_csv(b, block, (size_t)k, new_header)
                    : write_all(b, b->fd, block, (size_t)k, &b->end, b->path);
        at += k;
        n -= k;
    }
    return st;
}

/* -- points -- */

static void remember(swp_book *b, const swp_rec *r, const char *label)
{
    b->n_done++;
    b->n_failed += r->status != VS_OK;
    b->n_again += swp_is_again(r->status);
    if (r->status && !b->worst)
        b->worst = (vs_status)r->status;
    print_row(b, r, label);
    if (!b->mc || b->n_shard > 1 || !vec_len(b->meas))
        return;
    const size_t n = vec_len(b->meas);
    if (b->n_sample * (int64_t)n >= (int64_t)vec_len(b->sample))
        vec_extend(b->sample, n);
    memcpy(b->sample + (size_t)b->n_sample * n, r->value, n * sizeof *r->value);
    if ((size_t)b->n_sample >= vec_len(b->who))
        vec_extend(b->who, 1);
    b->who[b->n_sample++] = (swp_sample){r->point % b->mc + 1, r->status != VS_OK};
    if (b->n_sample < b->mc)
        return;
    char *text = swp_label(b, label), *cut = strstr(text, " sample=");
    if (cut)
        *cut = 0;
    if (b->table)
        swp_statistics(b, cut ? text : "", b->log);
    vs_free(text);
    b->n_sample = 0;
}

static void tell_redo(swp_book *b, const swp_rec *r, const char *label)
{
    const sim_stat *st = &r->own.st;
    fprintf(b->log,
            "point %lld: %s: %lld netlists expanded, %lld circuits built, %d kernels compiled, "
            "%lld matrices ordered, "
            "%lld operating points found, %lld taken over; in place %lld rows, %lld sources (%s)\n",
            (long long)r->point + 1, label, (long long)st->expanded, (long long)st->built,
            r->own.n_compiled, (long long)st->symbolic, (long long)st->ops,
            (long long)st->ops_taken, (long long)st->rows, (long long)st->sources,
            st->expanded || st->built || st->redone ? r->why : "nothing depends on what changed");
}

/* Whether the message behind this mark is to be told. */
static bool is_news(swp_book *b, const char *mark)
{
    unsigned long long kind = 0, text = 0;
    if (sscanf(mark + 1, "%16llx%16llx", &kind, &text) != 2 || !kind)
        return true;
    if (map_get(&b->told, kind, 0) || map_get(&b->told, text, 0))
        return false;
    map_set(&b->told, kind, 1);
    return true;
}

/* The messages of a point without their marks, and without those of kinds that an earlier point
 * told; a vec. */
static char *news_of(swp_book *b, const swp_rec *r)
{
    char *news = NULL;
    bool wanted = true;
    for (size_t i = 0; i < r->n_msg;) {
        const char *line = r->msg + i, *end = memchr(line, '\n', r->n_msg - i);
        const size_t n = end ? (size_t)(end - line) + 1 : r->n_msg - i;
        const bool mark = *line == DIAG_MARK && n == DIAG_MARK_BYTES;
        if (mark)
            wanted = is_news(b, line);
        for (size_t k = 0; k < n && wanted && !mark; k++)
            vec_push(news, line[k]);
        i += n;
    }
    return news;
}

static void tell(swp_book *b, const swp_rec *r, const char *label)
{
    char *news = r->n_msg ? news_of(b, r) : NULL;
    const size_t n_news = vec_len(news);
    if (!b->redo && !r->n_text && !n_news && !r->status) {
        vec_free(news);
        return;
    }
    char *text = swp_label(b, label);
    if (b->redo)
        tell_redo(b, r, text);
    if (r->n_text)
        fprintf(b->log, "point %lld: %s\n%.*s", (long long)r->point + 1, text, (int)r->n_text,
                r->text);
    if (b->say && (n_news || r->status)) {
        fflush(b->log);
        fprintf(b->say, "vsim: point %lld (%s)%s%s\n%.*s", (long long)r->point + 1, text,
                r->status ? " failed: " : ":",
                r->status ? vs_status_text((vs_status)r->status) : "", (int)n_news,
                n_news ? news : "");
    }
    vec_free(news);
    vs_free(text);
}

/* Waits until the results, or the journal, are on disk: results first, so that the journal never
 * says more than the disk has. */
static vs_status sync_files(swp_book *b, bool results)
{
    const int fd[] = {results ? b->fd : b->jfd, results ? b->mfd : -1, results ? b->lfd : -1};
    for (size_t i = 0; i < VS_COUNT(fd) && b->fsync; i++)
        if (fd[i] >= 0 && fdatasync(fd[i]) && errno != EINVAL) /* EINVAL: a pipe */
            return fail(b, VS_EIO, "results could not be written: %s", strerror(errno));
    return VS_OK;
}

static vs_status put_point(swp_book *b, const swp_rec *r, const char *label, int src, off_t at,
                           const char *header)
{
    bool new_header = false;
    vs_status st = b->fd >= 0 ? copy_results(b, src, at, r->n_bytes, header, &new_header) : VS_OK;
    if (!st)
        st = write_measures(b, r, label);
    if (!st)
        st = write_limits(b, r, label);
    if (!st)
        st = sync_files(b, true);
    if (!st)
        st = note_point(b, r, label, new_header);
    return st ? st : sync_files(b, false);
}

vs_status swp_book_add(swp_book *b, const swp_rec *r, const char *label, int src, off_t at,
                       const char *header)
{
    const vs_status st = put_point(b, r, label, src, at, header);
    tell(b, r, label);
    remember(b, r, label);
    return st;
}

vs_status swp_book_copy(swp_book *b, const swp_journal *j, int fd, const char *limit, size_t n,
                        bool news)
{
    swp_rec r = j->rec;
    off_t at = j->start;
    r.limit = (char *)(uintptr_t)limit;
    r.n_limit = (uint32_t)n;
    if (b->csv && !j->elided && at && r.n_bytes) { /* the empty line before its header */
        at++;
        r.n_bytes--;
    }
    const vs_status st = put_point(b, &r, j->label, fd, at, b->csv ? j->elided : NULL);
    if (news)
        tell(b, &r, j->label);
    remember(b, &r, j->label);
    return st;
}

/* -- opening -- */

/* Begins anew where the head of the journal is not whole, or of another version. */
static vs_status restart(swp_book *b)
{
    char head[sizeof version] = "";
    const ssize_t n = pread(b->jfd, head, sizeof version - 1, 0);
    if (n > 0 && strncmp(head, version, (size_t)n) != 0)
        return fail(b, VS_EINPUT, "'%s' was written by another version of vsim", b->journal);
    if (ftruncate(b->jfd, 0) || lseek(b->jfd, 0, SEEK_SET) < 0)
        return fail(b, VS_EIO, "'%s' could not be cut: %s", b->journal, strerror(errno));
    return begin_journal(b);
}

/* Whether a whole line stands at `at`: then it was not a kill that broke the journal there. */
static bool has_line(int fd, off_t at)
{
    char block[BLOCK];
    const ssize_t n = pread(fd, block, sizeof block, at);
    return n > 0 && memchr(block, '\n', (size_t)n);
}

static void tell_damage(const swp_book *b, const char *path, int64_t n)
{
    if (b->say)
        fprintf(b->say,
                "vsim: '%s' is damaged behind point %lld of this run: going on from there\n", path,
                (long long)n);
}

bool swp_is_journal_of(const swp_journal *j, const swp_book *b)
{
    return j->id == b->id && j->total == b->total && j->shard == b->shard &&
           j->n_shard == b->n_shard && j->format == b->format &&
           vec_len(j->meas) == vec_len(b->meas);
}

static vs_status resume(swp_book *b, int64_t *next)
{
    swp_journal j;
    if (!swp_journal_open(&j, b->journal, &b->mem))
        return restart(b);
    if (!swp_is_journal_of(&j, b)) {
        swp_journal_close(&j);
        return fail(b, VS_EINPUT,
                    "'%s' belongs to another sweep: the deck or the options have changed",
                    b->journal);
    }
    bool same = true;
    while (same && swp_journal_next(&j, &b->mem)) {
        same = swp_sum_is(b->fd, j.start, j.end, j.sum) &&
               swp_sum_is(b->mfd, j.mstart, j.mend, j.msum);
        if (!same) {
            take_back(&j);
            break;
        }
        remember(b, &j.rec, j.label);
        b->end = j.end;
        b->mend = j.mend;
        ++*next;
    }
    for (size_t i = 0; j.header && i < strlen(j.header); i++)
        vec_push(b->last_header, j.header[i]);
    const off_t good = j.good;
    b->chain = j.chain;
    swp_journal_close(&j);
    if (!same || has_line(b->jfd, good))
        tell_damage(b, same ? b->journal : b->path ? b->path : b->measures, *next);
    if (ftruncate(b->jfd, good) || lseek(b->jfd, good, SEEK_SET) < 0)
        return fail(b, VS_EIO, "'%s' could not be cut: %s", b->journal, strerror(errno));
    return VS_OK;
}

static vs_status cut(swp_book *b, int fd, off_t end, const char *path)
{
    struct stat sb;
    if (fd < 0 || fstat(fd, &sb) || !S_ISREG(sb.st_mode))
        return VS_OK;
    if (ftruncate(fd, end) || lseek(fd, end, SEEK_SET) < 0)
        return fail(b, VS_EIO, "'%s' could not be cut: %s", path, strerror(errno));
    return VS_OK;
}

/* The heap calls this for the open files when memory is missing: it closes them and so unlocks
 * them. */
static void drop_fd(void *fd, size_t n)
{
    (void)n;
    close((int)(intptr_t)fd);
}

static vs_status check_journal(swp_book *b)
{
    if (!b->journal)
        return VS_OK;
    if (!files_claim(b->journal, FILES_JOURNAL)) /* before it is read: it is no input */
        return fail(b, VS_EINPUT, "'%s' cannot be written: %s", b->journal, files_why(errno));
    if (!swp_is_journal(b->journal))
        return fail(b, VS_EINPUT, "'%s' is no journal of a sweep and would be overwritten",
                    b->journal);
    return VS_OK;
}

static vs_status open_one(swp_book *b, const char *path, files_role role, int *fd)
{
    if (!path)
        return VS_OK;
    const bool to_stdout = !strcmp(path, "-");
    if (!to_stdout && !files_claim(path, role))
        return fail(b, VS_EINPUT, "'%s' cannot be written: %s", path, files_why(errno));
    *fd = to_stdout ? dup(STDOUT_FILENO) : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0 && errno == EACCES)
        *fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (*fd >= 0)
        heap_hold(drop_fd, (void *)(intptr_t)*fd, 0);
    if (*fd >= 0 && (to_stdout || file_lock(*fd)))
        return VS_OK;
    return fail(b, VS_EIO, "'%s' cannot be written: %s", path, files_why(errno));
}

static vs_status open_all(swp_book *b)
{
    vs_status st = open_one(b, b->path, FILES_RESULTS, &b->fd);
    if (!st)
        st = open_one(b, b->measures, FILES_MEASURES, &b->mfd);
    if (!st && b->limits && strcmp(b->limits, "-") != 0)
        st = open_one(b, b->limits, FILES_LIMITS, &b->lfd);
    return st ? st : open_one(b, b->journal, FILES_JOURNAL, &b->jfd);
}

static vs_status close_all(swp_book *b)
{
    vs_status st = VS_OK;
    int *fd[] = {&b->fd, &b->mfd, &b->lfd, &b->jfd};
    for (size_t i = 0; i < VS_COUNT(fd); i++) {
        if (*fd[i] >= 0)
            heap_unhold(drop_fd, (void *)(intptr_t)*fd[i]);
        if (*fd[i] >= 0 && close(*fd[i]) && !st)
            st = fail(b, VS_EIO, "results could not be written: %s", strerror(errno));
        *fd[i] = -1;
    }
    return st;
}

void swp_book_init(swp_book *b)
{
    b->fd = b->mfd = b->lfd = b->jfd = b->old.fd = -1;
    arena_init(&b->mem);
}

vs_status swp_book_open(swp_book *b, bool again, int64_t *next)
{
    const char *of = b->path && strcmp(b->path, "-") ? b->path : b->measures;
    struct stat sb;
    *next = 0;
    b->sum = b->msum = SUM_BEGIN;
    if (of && (stat(of, &sb) || S_ISREG(sb.st_mode)))
        b->journal = arena_printf(&b->mem, "%s.journal", of);
    vs_status st = check_journal(b); /* first, so that no other file is made in vain */
    if (!st && b->journal)
        st = swp_again_find(b, again);
    if (!st)
        st = open_all(b);
    if (!st && again && b->jfd >= 0 && !b->old.there && swp_again_wanted(b, b->journal)) {
        st = swp_again_begin(b);
        (void)close_all(b);
        if (!st)
            st = open_all(b);
    }
    if (!st && b->old.there)
        st = swp_again_open(b);
    if (!st)
        print_head(b);
    const bool old = again && b->jfd >= 0 && !fstat(b->jfd, &sb) && sb.st_size > 0;
    if (!st && old)
        st = resume(b, next);
    else if (!st && b->jfd >= 0 && !(st = cut(b, b->jfd, 0, b->journal)))
        st = begin_journal(b);
    const bool fresh = !*next;
    if (!st)
        st = cut(b, b->fd, fresh ? (b->end = 0) : b->end, b->path);
    if (!st)
        st = cut(b, b->mfd, fresh ? (b->mend = 0) : b->mend, b->measures);
    if (b->lfd >= 0 && !fresh)
        b->lend = limits_end(b->lfd, b->shard + *next * b->n_shard, &b->n_beyond);
    if (!st)
        st = cut(b, b->lfd, b->lend, b->limits);
    if (!st && b->mfd >= 0 && fresh)
        st = begin_measures(b);
    return st;
}

vs_status swp_book_close(swp_book *b, bool finished)
{
    const vs_status st = close_all(b);
    swp_again_close(b, finished && !st);
    if (finished && !st && b->journal && b->n_shard == 1 && !b->n_again)
        unlink(b->journal);
    vec_free(b->header);
    vec_free(b->last_header);
    vec_free(b->sample);
    vec_free(b->who);
    map_free(&b->told);
    arena_fini(&b->mem);
    return st;
}
