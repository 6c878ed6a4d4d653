/* fuzz_relay.c - the target `relay`: the first process of a rank (rank_mpi.c) between its simulator
 * and the other ranks. Both are played here, by an MPI of the target's own (mpi/mpi.h): each time
 * the relay sleeps, the next step of the input is taken.
 * Input:  a head of 4 bytes (rank, ranks, what the launcher said, the simulator's end), then steps
 *         of 4 bytes (what, who, ...): see `take_step`.
 * What a rank sent must come to the simulator whole and in its order, and what the simulator sent
 * to the ranks, until one of them is silent, MPI reports an error of its messages, or the simulator
 * ends. After the steps everybody answers, and the relay must end by itself, with the exit code of
 * its rank, and finalize MPI if no rank is gone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "io.h"
#include "mpi.h"
#include "rank.h"
#undef ppoll

enum { MOST_RANKS = 4, MOST_STEPS = 64, LONG = 4200, BY_SIGNAL = 200, EXIT_LOST = 4 };
static const double SILENCE = 0.25, PULSE = 0.01, STALL = 0.05, LIMIT = 20; /* s */
#define SAID "it says why\n"

struct fuzz_letter {
    char *bytes; /* vec: a frame, or less */
    int from;
};

struct fuzz_request {
    MPI_Message letter; /* NULL: a sending */
    char *bytes;        /* the relay's: of a sending, room for a letter */
    int rank;           /* the other one */
    int left;           /* questions until it is done; -1: never */
};

/* Frames of one way, and how much of them has come. */
typedef struct way {
    char *bytes; /* vec */
    size_t came;
} way;

typedef struct other {
    way here, there;     /* to our simulator, and from it */
    bool silent, faulty; /* it sends nothing more; MPI may report an error, or has */
    bool failed;         /* MPI did, while there was work to lose */
    bool bad_send, bad_receive, bad_test;
    int slow;    /* questions until a message is done; -1: never */
    double sign; /* s: its last sign of life */
} other;

static struct play {
    int rank, size, end;
    const unsigned char *step;
    size_t n_step;
    int sim;         /* the simulator's end of the socket; -1: it has ended */
    int tell;        /* pipe: ends the simulator's process with the code of a byte */
    int code;        /* it ends with */
    bool deaf, says; /* the simulator reads nothing; it said why it ended */
    size_t piece;    /* bytes that it writes at a time */
    char *out, *in;  /* vecs: what it has not written yet; what it has read */
    bool place;      /* it must be told its rank first */
    other one[MOST_RANKS];
    MPI_Message *mail; /* vec */
    MPI_Request *open; /* vec: messages on their way */
    bool end_sent, last_sent, abandons, finalized, stalled;
    double begun, looked;
} play;

/* -- frames -- */

static char *add_frame(char *to, int kind, int rank, int64_t n, int seed)
{
    const rank_frame f = {.kind = kind, .rank = rank, .n = n};
    const size_t at = vec_len(to);
    vec_extend(to, sizeof f + (size_t)n);
    memcpy(to + at, &f, sizeof f);
    for (int64_t i = 0; i < n; i++)
        to[at + sizeof f + (size_t)i] = (char)(seed + i * 7 + i / 251);
    return to;
}

static bool is_next(const way *w, const void *bytes, size_t n)
{
    return vec_len(w->bytes) - w->came >= n && !memcmp(w->bytes + w->came, bytes, n);
}

/* The next bytes of a way are those that came. */
static void check_next(way *w, const void *bytes, size_t n, const char *what, int rank)
{
    if (!is_next(w, bytes, n))
        finding("relay: %s rank %d is not what was sent next", what, rank);
    w->came += n;
}

static bool may_be_lost(int rank)
{
    return play.one[rank].silent || play.one[rank].faulty || play.stalled;
}

/* -- the simulator -- */

/* Its process: it ends when it is told, or when the relay closes the socket. */
static void be_simulator(int sim, int tell)
{
    struct pollfd p[] = {{.fd = tell, .events = POLLIN}, {.fd = sim, .events = 0}};
    unsigned char code = 0;
    signal(SIGTERM, SIG_DFL);
    alarm(300);
    while (poll(p, 2, -1) < 0 && errno == EINTR)
        ;
    if ((p[0].revents & POLLIN) && read(tell, &code, 1) == 1 && code >= BY_SIGNAL)
        kill(getpid(), SIGTERM);
    _exit(code);
}

static pid_t start_simulator(int relay)
{
    int end[2];
    fflush(NULL);
    if (pipe(end))
        finding("relay: no pipe");
    const pid_t pid = fork();
    if (pid < 0)
        finding("relay: no process");
    if (!pid) {
        close(relay);
        close(end[1]);
        be_simulator(play.sim, end[0]);
    }
    close(end[0]);
    play.tell = end[1];
    return pid;
}

static void end_simulator(int code)
{
    const unsigned char byte = (unsigned char)code;
    if (play.sim < 0)
        return;
    play.code = code >= BY_SIGNAL ? 128 + SIGTERM : code;
    close(play.sim);
    play.sim = -1;
    if (write(play.tell, &byte, 1) != 1 && !play.rank) /* others have ended with rank 0's END */
        finding("relay: the simulator is gone");
}

/* To ranks that nobody has given up; others need not get it. */
static void say(int kind, int to, int64_t n, int seed)
{
    play.out = add_frame(play.out, kind, to, n, seed);
    for (int r = 0; r < play.size && kind != RANK_KEEPS; r++)
        if (r != play.rank && (to < 0 || to == r)) /* with the sender's number */
            play.one[r].there.bytes = add_frame(play.one[r].there.bytes, kind, play.rank, n, seed);
}

static void write_some(void)
{
    const size_t left = vec_len(play.out), n = left < play.piece ? left : play.piece;
    const ssize_t k = n ? send(play.sim, play.out, n, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (k <= 0)
        return;
    memmove(play.out, play.out + k, left - (size_t)k);
    vec_head_of(play.out)->len -= (size_t)k;
}

static void take_frame(const rank_frame *f, const char *data)
{
    if (play.place) {
        const int32_t place[] = {play.rank, play.size};
        if (f->kind != RANK_PLACE || f->n != sizeof place || memcmp(data, place, sizeof place))
            finding("relay: the simulator is told another place");
        play.place = false;
        return;
    }
    if (f->rank < 0 || f->rank >= play.size || f->rank == play.rank)
        finding("relay: a frame of rank %d", f->rank);
    way *w = &play.one[f->rank].here;
    if (f->kind == RANK_GONE && may_be_lost(f->rank) && !is_next(w, f, sizeof *f)) {
        play.one[f->rank].faulty = true; /* the relay says so, not the rank */
        return;
    }
    check_next(w, f, sizeof *f, "what comes of", f->rank);
    check_next(w, data, (size_t)f->n, "what comes of", f->rank);
}

static void read_some(void)
{
    static char block[1 << 16];
    size_t at = 0;
    rank_frame f;
    for (ssize_t k; (k = recv(play.sim, block, sizeof block, MSG_DONTWAIT)) > 0;) {
        const size_t had = vec_len(play.in);
        vec_extend(play.in, (size_t)k);
        memcpy(play.in + had, block, (size_t)k);
    }
    for (; vec_len(play.in) - at >= sizeof f; at += sizeof f + (size_t)f.n) {
        memcpy(&f, play.in + at, sizeof f);
        if (f.n < 0 || f.n > (int64_t)1 << 30)
            finding("relay: a frame of %lld bytes", (long long)f.n);
        if (vec_len(play.in) - at < sizeof f + (size_t)f.n)
            break;
        take_frame(&f, play.in + at + sizeof f);
    }
    if (at) {
        memmove(play.in, play.in + at, vec_len(play.in) - at);
        vec_head_of(play.in)->len -= at;
    }
}

/* -- the other ranks -- */

static void post(int from, int kind, int64_t n, int seed)
{
    if (play.one[from].silent)
        return;
    MPI_Message m = vs_calloc(1, sizeof *m);
    m->from = from;
    m->bytes = add_frame(NULL, kind, from, n, seed);
    vec_push(play.mail, m);
    if (kind <= RANK_GONE)
        play.one[from].here.bytes = add_frame(play.one[from].here.bytes, kind, from, n, seed);
}

static void post_signs(double now)
{
    for (int r = 0; r < play.size; r++)
        if (r != play.rank && (!play.rank || !r) && now - play.one[r].sign > PULSE) {
            play.one[r].sign = now;
            post(r, RANK_ALIVE, 0, 0);
        }
}

/* A message of the relay itself. true: it is one. */
static bool take_own(int to, const rank_frame *f, const char *data)
{
    const char *why = play.says ? SAID : "the simulator ended with ";
    switch (f->kind) {
    case RANK_ALIVE: return true;
    case RANK_END:
        if (play.rank || play.sim >= 0)
            finding("relay: an end before that of the simulator");
        post(to, RANK_BYE, 0, 0);
        return true;
    case RANK_BYE:
        if (!play.rank || to || !play.end_sent)
            finding("relay: a BYE to rank %d", to);
        if (!play.last_sent)
            post(0, play.abandons ? RANK_ABANDON : RANK_FINAL, 0, 0);
        play.last_sent = true;
        return true;
    case RANK_FINAL:
    case RANK_ABANDON:
        if (play.rank)
            finding("relay: rank %d ends the job", play.rank);
        return true;
    case RANK_GONE:
        if (play.sim >= 0 || to)
            finding("relay: GONE to rank %d", to);
        if (f->n < (int64_t)strlen(why) || memcmp(data, why, strlen(why)) != 0)
            finding("relay: rank 0 is not told why");
        return true;
    default: return false;
    }
}

/* -- steps -- */

enum step_kind {
    SAY,
    SAY_LONG,
    KEEP,
    WRITE,
    DEAF,
    POST,
    POST_LONG,
    STRAY,
    SILENT,
    SLOW,
    ENDS,
    FAULT,
    END_ALL,
    NOTHING,
    N_STEP_KIND
};

/* Ranks other than 0 speak to rank 0 alone. */
static int another(int c) { return play.rank ? 0 : 1 + c % (play.size - 1); }

static void begin_end(void)
{
    if (play.rank && !play.end_sent)
        post(0, RANK_END, 0, 0);
    play.end_sent |= play.rank > 0;
}

static void take_step(const unsigned char c[4])
{
    const int r = another(c[1]);
    other *o = &play.one[r];
    const bool runs = play.sim >= 0;
    switch ((enum step_kind)(c[0] % N_STEP_KIND)) {
    case SAY:
        if (runs)
            say(c[2] % RANK_GONE, play.rank ? 0 : c[1] % (play.size + 2) - 1, c[3], c[2]);
        break;
    case SAY_LONG:
        if (runs)
            say(RANK_DATA, r, (int64_t)c[3] * LONG, c[2]);
        break;
    case KEEP:
        if (runs)
            say(RANK_KEEPS, play.rank, 0, 0);
        break;
    case WRITE: play.piece = 1 + c[1] + 256u * c[2]; break;
    case DEAF: play.deaf = c[1] & 1; break;
    case POST: post(r, c[2] % RANK_KEEPS, c[3], c[2]); break;
    case POST_LONG: post(r, RANK_DATA, (int64_t)c[3] * LONG, c[2]); break;
    case STRAY: /* less than a frame: nobody's */
        post(r, RANK_ALIVE, 0, 0);
        if (!o->silent)
            vec_head_of(vec_last(play.mail)->bytes)->len = c[3] % sizeof(rank_frame);
        break;
    case SILENT:
        o->silent = true;
        if (c[2] & 1)
            o->slow = -1;
        break;
    case SLOW: o->slow = o->slow < 0 ? -1 : c[2] % 8; break;
    case ENDS: end_simulator(c[1]); break;
    case FAULT:
        o->bad_send |= c[2] % 3 == 0;
        o->bad_receive |= c[2] % 3 == 1;
        o->bad_test |= c[2] % 3 == 2;
        o->faulty = true;
        break;
    case END_ALL:
        if (play.rank && !play.end_sent) { /* how the job ends is said once */
            play.abandons = c[2] & 1;
            begin_end();
        }
        break;
    case NOTHING:
    case N_STEP_KIND: break;
    }
}

/* Whether all has come that must. */
static bool all_came(void)
{
    bool all = play.sim < 0 || !vec_len(play.out);
    for (int r = 0; r < play.size; r++) {
        const other *o = &play.one[r];
        if (r == play.rank || o->silent || o->faulty || play.stalled)
            continue;
        all &= o->there.came == vec_len(o->there.bytes) || play.sim < 0;
        all &= o->here.came == vec_len(o->here.bytes) || play.sim < 0;
    }
    return all && (!play.place || play.sim < 0);
}

/* After the steps: everybody answers, then the job ends. */
static void go_to_end(double now)
{
    play.deaf = false;
    play.piece = (size_t)1 << 20;
    if (now - play.begun > LIMIT)
        finding("relay: rank %d of %d does not end", play.rank, play.size);
    if (!all_came())
        return;
    if (play.rank)
        begin_end();
    else
        end_simulator(play.end);
}

static void next_step(void)
{
    const double now = vs_seconds();
    if (now - play.looked > STALL) { /* the machine gave no time, or held the process */
        play.stalled = true;
        play.begun += now - play.looked;
    }
    play.looked = now;
    post_signs(now);
    if (play.n_step) {
        take_step(play.step);
        play.step += 4;
        play.n_step--;
    } else {
        go_to_end(now);
    }
    if (play.sim >= 0)
        write_some();
    if (play.sim >= 0 && !play.deaf)
        read_some();
}

/* The relay asks once a round, also while it hears nobody. */
int fuzz_ppoll(struct pollfd *p, nfds_t n, const struct timespec *wait, const sigset_t *mask)
{
    static const struct timespec brief = {0, 50000};
    (void)wait;
    next_step();
    return ppoll(p, n, play.n_step ? &(struct timespec){0, 0} : &brief, mask);
}

/* -- MPI -- */

int MPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    if (play.finalized)
        finding("relay: MPI ends twice");
    play.finalized = true;
    return MPI_SUCCESS;
}

int MPI_Abort(int comm, int code)
{
    (void)comm;
    finding("relay: the job is aborted with %d", code);
}

/* An error of MPI, which the relay must not pass over. */
static int fail(int rank)
{
    play.one[rank].failed |= !play.last_sent && (play.rank || play.sim >= 0);
    return MPI_ERR_OTHER;
}

int MPI_Comm_rank(int comm, int *rank)
{
    (void)comm;
    *rank = play.rank;
    return MPI_SUCCESS;
}

int MPI_Comm_size(int comm, int *size)
{
    (void)comm;
    *size = play.size;
    return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(int comm, int handler)
{
    (void)comm;
    (void)handler;
    return MPI_SUCCESS;
}

static MPI_Request new_request(int rank, MPI_Message letter, void *bytes)
{
    MPI_Request q = vs_calloc(1, sizeof *q);
    *q = (struct fuzz_request){letter, bytes, rank, play.one[rank].slow};
    vec_push(play.open, q);
    return q;
}

int MPI_Isend(const void *bytes, int n, int type, int to, int tag, int comm, MPI_Request *request)
{
    rank_frame f;
    (void)type;
    (void)tag;
    (void)comm;
    if (to < 0 || to >= play.size || to == play.rank || n < (int)sizeof f)
        finding("relay: %d bytes to rank %d", n, to);
    if (play.one[to].bad_send)
        return fail(to);
    memcpy(&f, bytes, sizeof f);
    if (f.rank != play.rank || f.n != n - (int)sizeof f)
        finding("relay: a frame of %d bytes for one of %lld", n, (long long)f.n);
    if (!take_own(to, &f, (const char *)bytes + sizeof f))
        check_next(&play.one[to].there, bytes, (size_t)n, "what goes to", to);
    *request = new_request(to, NULL, (void *)(uintptr_t)bytes);
    return MPI_SUCCESS;
}

int MPI_Improbe(int from, int tag, int comm, int *there, MPI_Message *message, MPI_Status *st)
{
    (void)from;
    (void)tag;
    (void)comm;
    *there = vec_len(play.mail) > 0;
    if (!*there)
        return MPI_SUCCESS;
    *message = play.mail[0];
    st->MPI_SOURCE = play.mail[0]->from;
    st->n = (int)vec_len(play.mail[0]->bytes);
    size_t *left = &vec_head_of(play.mail)->len;
    memmove(play.mail, play.mail + 1, --*left * sizeof *play.mail);
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *st, int type, int *n)
{
    (void)type;
    *n = st->n;
    return MPI_SUCCESS;
}

static void drop_letter(MPI_Message m)
{
    vec_free(m->bytes);
    vs_free(m);
}

int MPI_Imrecv(void *bytes, int n, int type, MPI_Message *message, MPI_Request *request)
{
    MPI_Message m = *message;
    (void)type;
    if (n != (int)vec_len(m->bytes))
        finding("relay: room for %d bytes", n);
    if (play.one[m->from].bad_receive) {
        const int from = m->from;
        drop_letter(m);
        return fail(from);
    }
    memset(bytes, 0xa5, (size_t)n);
    *request = new_request(m->from, m, bytes);
    return MPI_SUCCESS;
}

static void close_request(MPI_Request q)
{
    size_t i = 0;
    while (play.open[i] != q)
        i++;
    play.open[i] = vec_last(play.open);
    (void)vec_pop(play.open);
    if (q->letter)
        drop_letter(q->letter);
    vs_free(q);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *st)
{
    MPI_Request q = *request;
    (void)st;
    if (play.one[q->rank].bad_test) {
        const int rank = q->rank;
        if (q->letter) /* the relay leaves its buffer to MPI */
            free(q->bytes);
        close_request(q);
        return fail(rank);
    }
    *done = q->left == 0;
    q->left -= q->left > 0;
    if (!*done)
        return MPI_SUCCESS;
    if (q->letter)
        memcpy(q->bytes, q->letter->bytes, vec_len(q->letter->bytes));
    close_request(q);
    return MPI_SUCCESS;
}

/* As MPI, which may write to the buffer until the message is whole: the relay leaves it. */
int MPI_Request_free(MPI_Request *request)
{
    MPI_Request q = *request;
    free(q->bytes);
    close_request(q);
    return MPI_SUCCESS;
}

static void forget_all(void)
{
    for (int r = 0; r < play.size; r++) {
        vec_free(play.one[r].here.bytes);
        vec_free(play.one[r].there.bytes);
    }
    while (vec_len(play.open)) {
        free(play.open[0]->bytes);
        close_request(play.open[0]);
    }
    for (size_t i = 0; i < vec_len(play.mail); i++)
        drop_letter(play.mail[i]);
    vec_free(play.mail);
    vec_free(play.open);
    vec_free(play.in);
    vec_free(play.out);
}

/* -- a run -- */

/* The relay has handlers and a timer of its own, as the fuzzer. */
static const int signals[] = {SIGINT, SIGTERM, SIGPIPE, SIGALRM, SIGCHLD};
typedef struct handlers {
    struct sigaction of[VS_COUNT(signals)];
    struct itimerval timer;
} handlers;

static void keep_handlers(handlers *h)
{
    for (size_t i = 0; i < VS_COUNT(signals); i++)
        sigaction(signals[i], NULL, &h->of[i]);
    getitimer(ITIMER_REAL, &h->timer);
}

static void give_back_handlers(const handlers *h)
{
    for (size_t i = 0; i < VS_COUNT(signals); i++)
        sigaction(signals[i], &h->of[i], NULL);
    setitimer(ITIMER_REAL, &h->timer, NULL);
}

static void check_end(int code, bool at_once)
{
    bool any = false;
    play.stalled |= vs_seconds() - play.looked > STALL; /* after the last question */
    for (int r = 0; r < play.size; r++) {
        any |= r != play.rank && may_be_lost(r);
        if (play.one[r].failed && !at_once)
            finding("relay: a lost message of rank %d is passed over", r);
    }
    if (play.finalized == at_once)
        finding("relay: MPI is %sfinalized, and the process ends%s", play.finalized ? "" : "not ",
                at_once ? " at once" : " with it");
    if (!any && at_once != (play.rank && play.abandons))
        finding("relay: the end is %sat once, and no rank is gone", at_once ? "" : "not ");
    const bool lost = play.rank && code == EXIT_LOST;
    if (lost ? !may_be_lost(0) : code != (play.rank ? 0 : play.code))
        finding("relay: exit code %d of rank %d, whose simulator ends with %d", code, play.rank,
                play.code);
}

void fuzz_relay(const char *text, size_t n)
{
    enum { HEAD = 4 };
    unsigned char h[HEAD] = {0};
    int pair[2];
    bool at_once = false;
    handlers kept;
    memcpy(h, text, n < HEAD ? n : HEAD);
    play = (struct play){.size = 2 + h[1] % (MOST_RANKS - 1),
                         .end = h[3],
                         .step = (const unsigned char *)text + HEAD,
                         .n_step = n > HEAD ? (n - HEAD) / 4 : 0,
                         .says = h[2] & 2,
                         .piece = (size_t)1 << 20,
                         .place = h[2] & 1};
    play.rank = h[0] % play.size;
    if (play.n_step > MOST_STEPS)
        play.n_step = MOST_STEPS;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        finding("relay: no sockets");
    play.sim = pair[1];
    write_file("said", SAID, play.says ? sizeof SAID - 1 : 0);
    const int said = open("said", O_RDONLY | O_CLOEXEC);
    const pid_t pid = start_simulator(pair[0]);
    const rank_relay_opt o = {.fd = pair[0],
                              .pid = pid,
                              .rank = play.place ? -1 : play.rank,
                              .size = play.place ? -1 : play.size,
                              .said = said,
                              .silence = SILENCE};
    keep_handlers(&kept);
    play.begun = play.looked = vs_seconds();
    const int code = rank_relay_run(&o, &at_once);
    give_back_handlers(&kept);
    check_end(code, at_once);
    if (play.sim >= 0)
        close(play.sim);
    close(play.tell);
    close(said);
    forget_all();
}
