/* fuzz_rank.c - the target `rank`: what the processes of an MPI job send to each other, and the
 * parts of a sweep that are merged; without MPI, over a pair of sockets.
 * Input:  the first byte says what, the second one how; then edits or steps.
 *   0, rank 0      steps of 4 bytes of two other ranks: their workers, answers to the points that
 *                  they were given (whole, in pieces, late, edited, cut), deaths, ends, anything
 *   1, another one steps of 4 bytes of rank 0: points, their number, other frames
 *   2, parts       edits of 16 bytes, as `sweep` has them, of two or three shards and their
 *                  journals, whose sums are made to fit if `how` says so; in any order
 * Whatever ranks answer, as long as no record is edited, the results must be those of one process.
 * Parts that are edited without their sums are refused, or make no difference. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_swept.h"
#include "io.h"
#include "swp_priv.h"

static const char rank_deck[] = "points with text and measures\n.param r=1k\n"
                                "V1 a 0 pulse(0 1.8 1n 1n 1n 8n 20n)\nR1 a b {r}\nC1 b 0 1p\n"
                                ".op\n.tran 1n 9n\n.meas tran m1 avg v(b)\n.print op v(b)\n"
                                ".step param r list 1k 2k 3k 4k 5k\n.end\n";
enum { POINTS = 5, SIZE = 3, WAIT = 20 /* ms, for a point to come */ };
#define OUT "rank.raw"
#define TABLE "rank.csv"
#define GO_FILE "rank.go"
#define SAID_FILE "rank.said"

static kept_file whole[] = {{OUT, NULL, 0}, {TABLE, NULL, 0}};
static kept_file agreed = {GO_FILE, NULL, 0};

/* What a rank answered for each point: a record, then pieces of results. */
typedef struct answer {
    char *record, *data; /* vecs */
} answer;
static answer answers[POINTS];

/* -- a sweep of this process -- */

/* How often a text stands in another. */
static int64_t count(const char *s, const char *part)
{
    int64_t n = 0;
    for (; (s = strstr(s, part)); s += strlen(part))
        n++;
    return n;
}

/* Nothing fails silently: a sweep that fails as a whole has an error, and each point that the table
 * says has failed was told. */
static void check_told(vs_status st, int n_error, const char *said, const char *table)
{
    const int64_t told = count(said, ") failed: ");
    if (st < 0 && !n_error && !told)
        finding("status %d without a message", st);
    if (!table || n_error)
        return;
    kept_file now = {table, NULL, 0};
    read_back(&now);
    if (now.bytes)
        now.bytes[now.n] = 0;
    const int64_t failed = now.bytes ? count(now.bytes, ",failed\n") : 0;
    if (failed != told)
        finding("%lld points failed, %lld were told", (long long)failed, (long long)told);
    free(now.bytes);
}

static vs_status run_sweep(const char *out, const char *table, rank_link *link, int shard,
                           int n_shard)
{
    char *said = NULL;
    size_t n_said = 0;
    FILE *say = open_memstream(&said, &n_said);
    if (!say)
        finding("no stream for messages");
    const swp_opt o = {.log = nowhere(),
                       .say = say,
                       .out = out,
                       .measures = table,
                       .link = link,
                       .shard = shard,
                       .n_shard = n_shard,
                       .redo = true};
    int n_error;
    const vs_status st = run_swept(rank_deck, sizeof rank_deck - 1, &o, &(sim_hook){0}, &n_error);
    fclose(say);
    check_told(st, n_error, said, link && link->rank ? NULL : table);
    free(said);
    return st;
}

/* -- the other end -- */

typedef void peer(int fd, const char *text, size_t n);

/* Forks who speaks for the others. Returns this process' end. */
static int start(peer *p, const char *text, size_t n, pid_t *pid)
{
    int pair[2];
    fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || (*pid = fork()) < 0)
        finding("no process for the other ranks");
    if (*pid) {
        close(pair[1]);
        return pair[0];
    }
    close(pair[0]);
    signal(SIGPIPE, SIG_IGN);
    alarm(300);
    p(pair[1], text, n);
    _exit(0);
}

static void end(int fd, pid_t pid)
{
    int how;
    close(fd);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(how) || WEXITSTATUS(how))
        finding("the other ranks ended by %d", how);
}

static void send_frame(int fd, int kind, int rank, const void *data, int64_t n)
{
    const rank_frame f = {.kind = kind, .rank = rank, .n = n};
    (void)(io_write(fd, &f, sizeof f) && n > 0 && io_write(fd, data, (size_t)n));
}

/* A frame that came within `ms`; its bytes in *data. */
static bool next_frame(int fd, int ms, rank_frame *f, char **data)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0 || !io_read(fd, f, sizeof *f))
        return false;
    vec_clear(*data);
    vec_extend(*data, (size_t)f->n + 1);
    return io_read(fd, *data, (size_t)f->n);
}

static void wait_for_end(int fd)
{
    rank_frame f;
    char *data = NULL;
    while (next_frame(fd, -1, &f, &data))
        ;
    vec_free(data);
}

/* Takes down what rank 0 sends first. */
static void note_agreement(int fd, const char *text, size_t n)
{
    rank_frame f;
    char *data = NULL;
    (void)text;
    (void)n;
    if (!next_frame(fd, -1, &f, &data) || f.kind != RANK_GO)
        _exit(1);
    write_file(GO_FILE, data, (size_t)f.n);
    for (int r = 1; r < SIZE; r++)
        send_frame(fd, RANK_GONE, r, "", 0);
    wait_for_end(fd);
}

/* Asks for all points and takes down the frames that come. */
static void note_answers(int fd, const char *text, size_t n)
{
    FILE *to = fopen(SAID_FILE, "wb");
    rank_frame f;
    char *data = NULL;
    int64_t all[POINTS];
    (void)text;
    (void)n;
    for (int k = 0; k < POINTS; k++)
        all[k] = k;
    send_frame(fd, RANK_POINT, 0, all, sizeof all);
    for (int left = POINTS; to && left > 0 && next_frame(fd, 100000, &f, &data);) {
        int64_t bytes = 0;
        if (f.kind == RANK_RESULT) {
            memcpy(&bytes, data + offsetof(swp_rec, n_bytes), sizeof bytes);
            left -= !bytes;
        }
        left -= f.kind == RANK_DATA && f.n < RANK_PIECE; /* the last piece */
        fwrite(&f, sizeof f, 1, to);
        fwrite(data, 1, (size_t)f.n, to);
    }
    if (!to || fclose(to))
        _exit(1);
}

static void read_answers(void)
{
    kept_file said = {SAID_FILE, NULL, 0};
    rank_frame f;
    int at = -1;
    read_back(&said);
    for (size_t i = 0; i + sizeof f <= said.n; i += sizeof f + (size_t)f.n) {
        memcpy(&f, said.bytes + i, sizeof f);
        if (f.kind == RANK_RESULT)
            at++;
        if (at < 0 || at >= POINTS)
            continue;
        char **to = f.kind == RANK_RESULT ? &answers[at].record : &answers[at].data;
        if (f.kind != RANK_RESULT && f.kind != RANK_DATA)
            continue;
        const size_t had = vec_len(*to);
        vec_extend(*to, (size_t)f.n);
        memcpy(*to + had, said.bytes + i + sizeof f, (size_t)f.n);
    }
    free(said.bytes);
    if (at != POINTS - 1)
        finding("a rank answers %d of %d points", at + 1, POINTS);
}

static rank_link link_of(int rank, int fd)
{
    rank_link l = {.rank = rank, .size = SIZE, .fd = fd, .go = rank ? 1 : 0};
    if (!rank)
        return l;
    l.head = (rank_frame){RANK_GO, 0, (int64_t)agreed.n};
    vec_extend(l.data, agreed.n + 1);
    memcpy(l.data, agreed.bytes, agreed.n);
    return l;
}

static void make_all(void)
{
    pid_t pid;
    signal(SIGPIPE, SIG_IGN); /* as the command does */
    if (run_sweep(OUT, TABLE, NULL, 0, 1))
        finding("the sweep fails");
    for (size_t i = 0; i < VS_COUNT(whole); i++)
        read_back(&whole[i]);
    rank_link l = link_of(0, start(note_agreement, NULL, 0, &pid));
    if (run_sweep(OUT, TABLE, &l, 0, 1))
        finding("the sweep fails beside lost ranks");
    end(l.fd, pid);
    vec_free(l.data);
    read_back(&agreed);
    l = link_of(1, start(note_answers, NULL, 0, &pid));
    if (run_sweep(OUT, TABLE, &l, 0, 1) != VS_STOP)
        finding("a rank does not stop when its link ends");
    end(l.fd, pid);
    vec_free(l.data);
    read_answers();
}

/* -- what ranks tell rank 0 -- */

typedef struct others {
    int fd;
    int64_t *has[SIZE]; /* vecs: turns that were given */
    bool gone[SIZE];
    int n_death[POINTS];
} others;

static void take_points(others *o, int ms)
{
    rank_frame f;
    char *data = NULL;
    while (next_frame(o->fd, ms, &f, &data)) {
        for (size_t i = 0; f.kind == RANK_POINT && i < (size_t)f.n / sizeof(int64_t); i++) {
            int64_t k;
            memcpy(&k, data + i * sizeof k, sizeof k);
            if (f.rank < 1 || f.rank >= SIZE || k < 0 || k >= POINTS)
                _exit(3);
            vec_push(o->has[f.rank], k);
        }
        ms = 0;
    }
    vec_free(data);
}

/* A turn that the rank has, taken off its list; -1: it has none. */
static int64_t some_point(others *o, int rank, bool last)
{
    if (!vec_len(o->has[rank]))
        take_points(o, WAIT);
    const size_t n = vec_len(o->has[rank]);
    if (!n)
        return -1;
    const size_t at = last ? n - 1 : 0;
    const int64_t k = o->has[rank][at];
    memmove(o->has[rank] + at, o->has[rank] + at + 1, (n - 1 - at) * sizeof k);
    (void)vec_pop(o->has[rank]);
    return k;
}

/* piece: bytes of its results in a frame */
static void send_answer(others *o, int rank, int64_t k, size_t piece)
{
    const answer *a = &answers[k];
    send_frame(o->fd, RANK_RESULT, rank, a->record, (int64_t)vec_len(a->record));
    for (size_t i = 0; i < vec_len(a->data); i += piece) {
        const size_t left = vec_len(a->data) - i;
        send_frame(o->fd, RANK_DATA, rank, a->data + i, (int64_t)(left < piece ? left : piece));
    }
}

/* Its record with other bytes, or another length. */
static void send_edited(others *o, int rank, int64_t k, const unsigned char c[4], bool cut)
{
    const answer *a = &answers[k];
    const size_t n = vec_len(a->record);
    char *copy = vs_calloc(n + 256, 1);
    memcpy(copy, a->record, n);
    const size_t at = (c[2] * 7u + c[1] / 16u) % n;
    if (!cut)
        memset(copy + at, c[3], 1 + c[1] / 16u % 8 < n - at ? 1 + c[1] / 16u % 8 : n - at);
    send_frame(o->fd, RANK_RESULT, rank, copy, (int64_t)(cut ? at + c[3] % 256 : n));
    send_frame(o->fd, RANK_DATA, rank, a->data, (int64_t)vec_len(a->data));
    vs_free(copy);
}

enum {
    WORKERS,
    ANSWER,
    LATEST,
    PIECES,
    EDITED,
    CUT,
    STRAY,
    DEATH,
    NO_DEATH,
    GONE,
    KIND,
    NOBODY,
    N_STEP
};

/* Whether the results may be others: a record was edited, or one point died twice. */
static bool changes_results(const char *text, size_t n)
{
    int n_death = 0;
    for (; n >= 4; text += 4, n -= 4) {
        const int step = (unsigned char)text[0] % N_STEP;
        n_death += step == DEATH || step == NO_DEATH;
        if (step == EDITED || step == CUT)
            return true;
    }
    return n_death > 1;
}

static void one_step(others *o, const unsigned char c[4])
{
    const int step = c[0] % N_STEP, rank = 1 + c[1] % (SIZE - 1);
    const int32_t hello[2] = {c[2] == 255 ? -1 : c[2] % 5, c[3] & 1};
    int64_t death[2] = {0, c[3]}, k = -1;
    if (o->gone[rank] && step != NOBODY)
        return;
    if (step == ANSWER || step == LATEST || step == PIECES || step == EDITED || step == CUT ||
        step == DEATH) {
        k = some_point(o, rank, step == LATEST);
        if (k < 0)
            return;
    }
    switch (step) {
    case WORKERS: send_frame(o->fd, RANK_HELLO, rank, hello, sizeof hello); break;
    case ANSWER:
    case LATEST: send_answer(o, rank, k, RANK_PIECE); break;
    case PIECES: send_answer(o, rank, k, 1 + c[2]); break;
    case EDITED:
    case CUT: send_edited(o, rank, k, c, step == CUT); break;
    case STRAY: send_frame(o->fd, RANK_DATA, rank, answers[0].data, c[2]); break;
    case DEATH:
    case NO_DEATH:
        death[0] = k >= 0 ? k : c[2] - 8;
        send_frame(o->fd, RANK_DIED, rank, death, (int64_t)sizeof death);
        break;
    case GONE:
        send_frame(o->fd, RANK_GONE, rank, "so it says", c[2] % 11);
        o->gone[rank] = true;
        break;
    case KIND: send_frame(o->fd, c[2] - 4, rank, answers[0].record, c[3]); break;
    case NOBODY: send_frame(o->fd, c[3] % 14, c[2] < 8 ? -1 : SIZE + c[2], "nobody", 6); break;
    }
}

static void be_others(int fd, const char *text, size_t n)
{
    others o = {.fd = fd};
    rank_frame f;
    char *data = NULL;
    if (!next_frame(fd, -1, &f, &data) || f.kind != RANK_GO)
        _exit(2);
    for (; n >= 4; text += 4, n -= 4)
        one_step(&o, (const unsigned char *)text);
    for (int r = 1; r < SIZE; r++)
        send_frame(fd, RANK_GONE, r, "the end", 7);
    wait_for_end(fd);
}

static void check_same(const char *what, kept_file now)
{
    for (size_t i = 0; i < VS_COUNT(whole); i++) {
        if (strcmp(strrchr(now.name, '.'), strrchr(whole[i].name, '.')) != 0)
            continue;
        read_back(&now);
        if (now.n != whole[i].n || memcmp(now.bytes, whole[i].bytes, now.n) != 0)
            finding("%s: '%s' is another", what, now.name);
        free(now.bytes);
    }
}

static void as_rank_0(const char *text, size_t n)
{
    pid_t pid;
    rank_link l = link_of(0, start(be_others, text, n, &pid));
    const vs_status st = run_sweep(OUT, TABLE, &l, 0, 1);
    end(l.fd, pid);
    vec_free(l.data);
    if (changes_results(text, n))
        return;
    if (st)
        finding("a sweep of ranks fails: %d", st);
    for (size_t i = 0; i < VS_COUNT(whole); i++)
        check_same("a sweep of ranks", (kept_file){whole[i].name, NULL, 0});
}

/* -- what rank 0 tells another -- */

static void be_rank_0(int fd, const char *text, size_t n)
{
    rank_frame f;
    char *data = NULL;
    int64_t asked = 0, came = 0;
    for (; n >= 4; text += 4, n -= 4) {
        const unsigned char *c = (const unsigned char *)text;
        int64_t k[4] = {c[1] % POINTS, c[2] % POINTS, c[3] % POINTS, c[3] * INT64_C(0x100000001)};
        const int step = c[0] % 8;
        if (step < 5)
            send_frame(fd, RANK_POINT, 0, k, 8 * (step % 3 + 1));
        else if (step == 5)
            send_frame(fd, RANK_POINT, 0, k, c[1] % 32);
        else if (step == 6)
            send_frame(fd, RANK_POINT, 0, k + 3, 8);
        else
            send_frame(fd, c[2] % 16, c[3] - 2, k, c[1] % 32);
        asked += step < 5 ? step % 3 + 1 : 0;
    }
    while (came < asked && next_frame(fd, 5 * WAIT, &f, &data)) {
        if (f.kind != RANK_RESULT && f.kind != RANK_DATA && f.kind != RANK_HELLO &&
            f.kind != RANK_DIED)
            _exit(2);
        came += f.kind == RANK_RESULT;
        if (f.kind == RANK_DIED)
            _exit(3);
    }
}

static void as_another(const char *text, size_t n, unsigned how)
{
    pid_t pid;
    rank_link l = link_of(1, start(be_rank_0, text, n, &pid));
    if (how % 8 == 7)
        l.data[how / 8 * 5 % agreed.n] ^= 1;
    const vs_status st = run_sweep(OUT, TABLE, &l, 0, 1);
    end(l.fd, pid);
    vec_free(l.data);
    if (st >= 0 && st != VS_STOP)
        finding("a rank ends with status %d", st);
}

/* -- parts -- */

enum { MOST_PARTS = 3, N_SET = 2 };
typedef struct part {
    char name[3][40]; /* results, journal, table */
    kept_file file[3];
} part;
static part parts[N_SET][MOST_PARTS]; /* of two and of three */

static void make_parts(void)
{
    static const char *const ending[] = {".raw", ".raw.journal", ".csv"};
    for (int s = 0; s < N_SET; s++)
        for (int k = 0; k < s + 2; k++) {
            part *p = &parts[s][k];
            for (int i = 0; i < 3; i++) {
                snprintf(p->name[i], sizeof p->name[i], "p%d-%d%s", s + 2, k, ending[i]);
                p->file[i].name = p->name[i];
            }
            if (run_sweep(p->name[0], p->name[2], NULL, k, s + 2))
                finding("a shard fails");
            for (int i = 0; i < 3; i++)
                read_back(&p->file[i]);
        }
}

/* A file of part k with its edits. */
static void write_part(const part *p, int k, int which, bool seal, const char *text, size_t n,
                       bool *any)
{
    enum { SHORTER = 1 };
    const kept_file *f = &p->file[which];
    size_t end_at = f->n;
    char *copy = malloc(f->n + 1);
    memcpy(copy, f->bytes, f->n);
    for (; n >= 16; text += 16, n -= 16) {
        const unsigned char *c = (const unsigned char *)text;
        const size_t bytes = (size_t)1 << (c[1] & 3);
        uint32_t at;
        memcpy(&at, text + 4, sizeof at);
        if (c[0] / 16 % 2 != which || c[0] / 32 % MOST_PARTS != k)
            continue;
        *any = true;
        if (text[0] & SHORTER)
            end_at = at % (f->n + 1);
        else if (bytes <= f->n)
            memcpy(copy + at % (f->n - bytes + 1), text + 8, bytes);
    }
    if (which == 1 && seal)
        write_sealed(f->name, copy, end_at);
    else
        write_file(f->name, copy, end_at);
    free(copy);
}

static void merge_parts(const char *text, size_t n, unsigned how)
{
    const int set = how / 2 % N_SET, n_part = set + 2;
    const bool seal = how & 1;
    const char *name[MOST_PARTS];
    char why[300] = "";
    bool any = false;
    vs_status worst = VS_OK;
    if (!parts[0][0].file[0].bytes)
        make_parts();
    for (int k = 0; k < n_part; k++) {
        for (int i = 0; i < 2; i++)
            write_part(&parts[set][k], k, i, seal, text, n, &any);
        name[(k + (int)(how / 8)) % n_part] = parts[set][k].name[0];
    }
    if (how / 64 == 3) /* one of them twice */
        name[0] = name[1];
    const vs_status st = swp_merge("merged.raw", "merged.csv", name, (size_t)n_part, nowhere(),
                                   nowhere(), &worst, why);
    if (st && !*why)
        finding("parts are refused without a word");
    if (st && !any && how / 64 != 3)
        finding("whole parts are refused: %s", why);
    if (!st && how / 64 == 3 && !seal)
        finding("a part that is there twice is taken");
    if (!st && !seal) {
        check_same("merged parts", (kept_file){"merged.raw", NULL, 0});
        check_same("merged parts", (kept_file){"merged.csv", NULL, 0});
    }
}

void fuzz_rank(const char *text, size_t n)
{
    if (n < 2)
        return;
    if (!whole[0].bytes)
        make_all();
    const unsigned what = (unsigned char)text[0] % 3, how = (unsigned char)text[1];
    if (what == 0)
        as_rank_0(text + 2, n - 2);
    else if (what == 1)
        as_another(text + 2, n - 2, how);
    else
        merge_parts(text + 2, n - 2, how);
}
