/* rank_mpi.c - the first process of a rank: carries frames between MPI and its simulator. See
 * rank.h. It never waits inside MPI, since most MPI libraries wait by spinning and the processor is
 * the simulator's: it looks for messages now and then, more often when there were some, and sleeps
 * in ppoll in between. The end: the simulator of rank 0 ends; END goes to all, each stops its
 * simulator and says BYE; if all did, all are told to finalize MPI (a collective call, which would
 * wait for ever for a rank that is gone), else to leave without. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "rank.h"
#include "rank_build.h"
#include "vec.h"

enum { EXIT_LOST = 4 /* of a rank that lost rank 0 */, EXIT_MEMORY = 7 }; /* vsim.1 */
enum {
    TAG = 1,
    SENDS = 8,             /* at a time, of a simulator's results */
    RECEIVES = 64,         /* at a time */
    HELD = 4 * RANK_PIECE, /* bytes for a simulator that does not take them: nobody is heard */
    SAID = 2000
};
static const long BRISK_NS = 100000, CALM_NS = 1000000; /* length of a sleep */
static const int BRISK = 100;             /* rounds without a message until sleeps become long */
static const double PULSE = 1, GRACE = 2; /* s between signs of life; before an end by a signal */

typedef struct sending {
    MPI_Request request;
    char *bytes;
    int to;
} sending;

/* A message of which the first part has arrived. Its sender may end before it has sent the rest, so
 * nobody waits for it. */
typedef struct receiving {
    MPI_Request request;
    char *bytes;
    int n, from;
} receiving;

typedef struct relay {
    const rank_relay_opt *o;
    int rank, size;
    int code;         /* of the simulator */
    int fd;           /* to the simulator; -1: it ended */
    char *in, *out;   /* vecs: bytes from it, and to it */
    size_t written;   /* of out */
    sending *send;    /* vec */
    receiving *recv;  /* vec, oldest first */
    double *heard;    /* [size] s, last sign of life of each rank; ranks other than 0 know rank 0's
                         */
    bool *gone, *bye; /* [size] */
    double pulse;
    bool end, final, abandon;
    bool lost;  /* rank 0 is gone */
    bool keeps; /* the simulator writes checkpoints when it is to end */
    int idle;   /* rounds without a message */
} relay;

static volatile sig_atomic_t simulator; /* its pid: it gets the signals of this process */

static void hand_on(int sig)
{
    if (simulator > 0)
        kill((pid_t)simulator, sig);
}

/* MPI_Init waits until all ranks are there. If one never comes, the simulator of rank 0 does all
 * the work meanwhile, and this process waits no longer than for a rank that goes silent later. The
 * other ranks cannot know that, so they wait RANK_START times as long. */
static unsigned int patience;

static void simulator_ended_early(int sig)
{
    (void)sig;
    alarm(patience);
}

static void give_up(int sig)
{
    int how = 0;
    (void)sig;
    if (waitpid((pid_t)simulator, &how, WNOHANG) > 0)
        _exit(WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how));
}

static void no_beginning(int sig)
{
    static const char text[] =
        "vsim: MPI did not begin: a rank ended, or never came; this one ends "
        "(VSIM_RANK_TIMEOUT)\n";
    (void)sig;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_LOST);
    kill((pid_t)simulator, SIGKILL);
    _exit(EXIT_LOST);
}

static void start_mpi(const rank_relay_opt *o)
{
    struct sigaction child = {.sa_handler = simulator_ended_early, .sa_flags = SA_NOCLDSTOP},
                     timer = {.sa_handler = o->rank ? no_beginning : give_up};
    patience = o->silence > 1 ? (unsigned int)o->silence : 1;
    if (!o->rank)
        sigaction(SIGCHLD, &child, NULL);
    sigaction(SIGALRM, &timer, NULL);
    if (o->rank)
        alarm(RANK_START * patience);
    MPI_Init(NULL, NULL);
    signal(SIGCHLD, SIG_DFL);
    alarm(0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/* -- what fails -- */

static void no_memory(void)
{
    fputs("vsim: out of memory for messages between ranks\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_MEMORY);
}

static void to_simulator(relay *r, int from, rank_kind kind, const void *data, size_t n)
{
    const rank_frame f = {.kind = kind, .rank = from, .n = (int64_t)n};
    if (r->fd < 0)
        return;
    const size_t at = vec_len(r->out);
    vec_extend(r->out, sizeof f + n);
    memcpy(r->out + at, &f, sizeof f);
    if (n)
        memcpy(r->out + at + sizeof f, data, n);
}

static void drop(relay *r, size_t i)
{
    size_t *n = &vec_head_of(r->recv)->len;
    memmove(r->recv + i, r->recv + i + 1, (--*n - i) * sizeof *r->recv);
}

/* To call when a rank is gone. Buffers of messages that it had begun to send stay: a rank that only
 * seems to be gone may still write there. */
static void lose(relay *r, int rank, const char *why)
{
    if (r->gone[rank])
        return;
    r->gone[rank] = true;
    for (size_t i = vec_len(r->recv); i-- > 0;)
        if (r->recv[i].from == rank)
            drop(r, i);
    to_simulator(r, rank, RANK_GONE, why, strlen(why));
}

/* Somebody waits for ever for a message that does not arrive, so its rank counts as gone. */
static const char lost_message[] = "MPI lost a message to it or of it\n";

/* -- to other ranks -- */

static void send_to(relay *r, int to, rank_kind kind, const void *data, size_t n)
{
    const rank_frame f = {.kind = kind, .rank = r->rank, .n = (int64_t)n};
    if (to == r->rank || r->gone[to])
        return;
    if (n > INT_MAX - sizeof f) {
        lose(r, to, "a message to it has more than 2 GiB\n");
        return;
    }
    sending s = {.to = to, .bytes = malloc(sizeof f + n)};
    if (!s.bytes)
        no_memory();
    memcpy(s.bytes, &f, sizeof f);
    if (n)
        memcpy(s.bytes + sizeof f, data, n);
    if (MPI_Isend(s.bytes, (int)(sizeof f + n), MPI_BYTE, to, TAG, MPI_COMM_WORLD, &s.request) ==
        MPI_SUCCESS) {
        vec_push(r->send, s);
        return;
    }
    free(s.bytes);
    lose(r, to, lost_message);
}

static void send_all(relay *r, rank_kind kind, const void *data, size_t n)
{
    for (int i = 0; i < r->size; i++)
        send_to(r, i, kind, data, n);
}

static void finish_sends(relay *r)
{
    for (size_t i = 0; i < vec_len(r->send);) {
        int done = 0;
        const bool ok = MPI_Test(&r->send[i].request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        if (ok && !done) {
            i++;
            continue;
        }
        if (!ok)
            lose(r, r->send[i].to, lost_message);
        free(r->send[i].bytes);
        r->send[i] = vec_last(r->send);
        (void)vec_pop(r->send);
        r->idle = 0;
    }
}

/* -- the simulator -- */

static void write_out(relay *r)
{
    while (r->fd >= 0 && r->written < vec_len(r->out)) {
        const ssize_t k = send(r->fd, r->out + r->written, vec_len(r->out) - r->written,
                               MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k <= 0 && errno != EINTR)
            return;
        r->written += k > 0 ? (size_t)k : 0;
    }
    vec_clear(r->out);
    r->written = 0;
}

/* Sends the simulator's whole frames to their ranks. */
static void pass_frames(relay *r)
{
    size_t at = 0;
    rank_frame f;
    while (vec_len(r->in) - at >= sizeof f) {
        memcpy(&f, r->in + at, sizeof f);
        if (vec_len(r->in) - at < sizeof f + (size_t)f.n)
            break;
        if (f.kind == RANK_KEEPS)
            r->keeps = true;
        else if (f.rank < 0)
            send_all(r, (rank_kind)f.kind, r->in + at + sizeof f, (size_t)f.n);
        else if (f.rank < r->size)
            send_to(r, f.rank, (rank_kind)f.kind, r->in + at + sizeof f, (size_t)f.n);
        at += sizeof f + (size_t)f.n;
    }
    if (at) {
        memmove(r->in, r->in + at, vec_len(r->in) - at);
        vec_head_of(r->in)->len -= at;
    }
}

static void send_sign(relay *r)
{
    const double now = vs_seconds();
    if (now - r->pulse < PULSE)
        return;
    r->pulse = now;
    if (r->rank == 0)
        send_all(r, RANK_ALIVE, NULL, 0);
    else
        send_to(r, 0, RANK_ALIVE, NULL, 0);
}

/* Ends the simulator: it sees the end of its socket, or after a while gets a signal. */
static int wait_for_simulator(relay *r)
{
    const double t0 = vs_seconds();
    int how = 0;
    close(r->fd);
    r->fd = -1;
    while (r->end && vs_seconds() - t0 < (r->keeps ? RANK_KEEPING : GRACE)) {
        if (waitpid(r->o->pid, &how, WNOHANG) > 0)
            return how;
        send_sign(r);
        finish_sends(r);
        usleep(1000);
    }
    if (r->end)
        kill(r->o->pid, SIGKILL); /* nobody waits for its results any more */
    while (waitpid(r->o->pid, &how, 0) < 0 && errno == EINTR)
        ;
    return how;
}

/* To call when the simulator has ended. That of rank 0 begins the end of all; of another rank, rank
 * 0 is told why. */
static void simulator_ended(relay *r)
{
    const int how = wait_for_simulator(r);
    simulator = 0;
    for (int i = 0; i < r->size; i++)
        r->heard[i] = vs_seconds(); /* nobody was listened to meanwhile */
    r->code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    if (r->rank == 0) {
        r->end = true;
        send_all(r, RANK_END, NULL, 0);
        return;
    }
    char text[SAID + 100];
    ssize_t n = pread(r->o->said, text, SAID, 0);
    n = n > 0 ? n : 0;
    if (!n)
        n = snprintf(text, sizeof text, "the simulator ended with %s %d\n",
                     WIFSIGNALED(how) ? "signal" : "exit code",
                     WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    if (!r->end)
        send_to(r, 0, RANK_GONE, text, (size_t)n);
}

static void read_in(relay *r)
{
    const size_t at = vec_len(r->in);
    vec_reserve(r->in, RANK_PIECE);
    const ssize_t k = recv(r->fd, r->in + at, RANK_PIECE, MSG_DONTWAIT);
    if (k > 0) {
        vec_head_of(r->in)->len += (size_t)k;
        pass_frames(r);
        r->idle = 0;
    } else if (k == 0 || (errno != EINTR && errno != EAGAIN)) {
        simulator_ended(r);
    }
}

/* -- from other ranks -- */

static void take(relay *r, const rank_frame *f, const char *data)
{
    r->heard[f->rank] = vs_seconds();
    switch ((rank_kind)f->kind) {
    case RANK_ALIVE: break;
    case RANK_END:
        r->end = true;
        if (r->fd >= 0)
            simulator_ended(r);
        send_to(r, 0, RANK_BYE, NULL, 0);
        break;
    case RANK_BYE: r->bye[f->rank] = true; break;
    case RANK_FINAL: r->final = true; break;
    case RANK_ABANDON: r->abandon = true; break;
    default: to_simulator(r, f->rank, (rank_kind)f->kind, data, (size_t)f->n); break;
    }
}

/* Passes over messages of a rank that is gone. Their buffers stay: MPI may still write there. */
static void begin_receives(relay *r)
{
    int there = 0;
    MPI_Message message;
    MPI_Status st;
    while (vec_len(r->recv) < RECEIVES && vec_len(r->out) < HELD &&
           MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &message, &st) == MPI_SUCCESS &&
           there) {
        receiving x = {.from = st.MPI_SOURCE};
        MPI_Get_count(&st, MPI_BYTE, &x.n);
        x.bytes = malloc((size_t)x.n + 1);
        if (!x.bytes)
            no_memory();
        if (MPI_Imrecv(x.bytes, x.n, MPI_BYTE, &message, &x.request) != MPI_SUCCESS) {
            free(x.bytes);
            lose(r, x.from, lost_message);
        } else if (r->gone[x.from])
            MPI_Request_free(&x.request);
        else
            vec_push(r->recv, x);
    }
}

static void take_bytes(relay *r, const receiving *x)
{
    rank_frame f;
    if (x->n < (int)sizeof f)
        return;
    memcpy(&f, x->bytes, sizeof f);
    f.rank = x->from;
    f.n = x->n - (int)sizeof f;
    take(r, &f, x->bytes + sizeof f);
}

/* Takes the messages that are whole, of each rank in the order in which it sent them. */
static bool is_behind(const relay *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (r->recv[k].from == r->recv[i].from)
            return true;
    return false;
}

static void receive(relay *r)
{
    begin_receives(r);
    for (size_t i = 0; i < vec_len(r->recv);) {
        receiving *x = &r->recv[i];
        int done = 0;
        const bool behind = is_behind(r, i),
                   ok = behind || MPI_Test(&x->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        if (!ok) {
            lose(r, x->from, lost_message);
            return; /* the list is another */
        }
        if (!done) {
            i++;
            continue;
        }
        const receiving whole = *x;
        drop(r, i);
        take_bytes(r, &whole);
        free(whole.bytes);
        r->idle = 0;
    }
}

/* Signs of life wait behind results: as long as those wait for the simulator, nobody is silent. */
static void look_for_signs(relay *r)
{
    const double now = vs_seconds();
    const bool deaf = vec_len(r->out) >= HELD;
    char why[100];
    send_sign(r);
    snprintf(why, sizeof why, "nothing was heard of it for %g s\n", r->o->silence);
    for (int i = 0; i < (r->rank ? 1 : r->size); i++) {
        if (deaf)
            r->heard[i] = now;
        if (i != r->rank && now - r->heard[i] > r->o->silence)
            lose(r, i, why);
    }
}

/* -- the end -- */

static bool all_left(const relay *r)
{
    for (int i = 1; i < r->size; i++)
        if (!r->bye[i] && !r->gone[i])
            return false;
    return true;
}

static bool any_gone(const relay *r)
{
    for (int i = 0; i < r->size; i++)
        if (r->gone[i])
            return true;
    return false;
}

static bool is_over(relay *r)
{
    if (r->rank == 0 && r->end && !r->final && !r->abandon && all_left(r)) {
        *(any_gone(r) ? &r->abandon : &r->final) = true;
        send_all(r, r->final ? RANK_FINAL : RANK_ABANDON, NULL, 0);
    }
    if (r->rank && r->gone[0])
        r->abandon = r->lost = true;
    return (r->final && (r->rank || !vec_len(r->send))) || r->abandon;
}

static void leave(relay *r)
{
    const double t0 = vs_seconds();
    while (vec_len(r->send) && vs_seconds() - t0 < (r->abandon ? 0.5 : r->o->silence)) {
        finish_sends(r);
        usleep(1000);
    }
    fflush(NULL);
    if (!r->abandon)
        MPI_Finalize();
}

static void work(relay *r)
{
    while (!is_over(r)) {
        struct pollfd p = {.fd = r->fd};
        const bool busy = r->rank && vec_len(r->send) >= SENDS;
        p.events = (short)((busy ? 0 : POLLIN) | (vec_len(r->out) ? POLLOUT : 0));
        const struct timespec t = {0, r->idle < BRISK || vec_len(r->send) ? BRISK_NS : CALM_NS};
        r->idle += r->idle < BRISK;
        if (ppoll(&p, 1, &t, NULL) < 0)
            p.revents = 0;
        write_out(r);
        if (p.revents & (POLLIN | POLLHUP | POLLERR))
            read_in(r);
        receive(r);
        finish_sends(r);
        look_for_signs(r);
    }
    r->end = true;
    if (r->fd >= 0) /* the simulator still runs, because rank 0 is lost */
        simulator_ended(r);
    leave(r);
}

static void set_up(relay *r)
{
    const rank_relay_opt *o = r->o;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    if (o->rank >= 0 && (o->rank != r->rank || o->size != r->size)) {
        fprintf(stderr,
                "vsim: the launcher started rank %d of %d, MPI says %d of %d: is libvsim-mpi.so "
                "built for another MPI?\n",
                o->rank, o->size, r->rank, r->size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    r->heard = calloc((size_t)r->size, sizeof *r->heard);
    r->gone = calloc((size_t)r->size, sizeof *r->gone);
    r->bye = calloc((size_t)r->size, sizeof *r->bye);
    if (!r->heard || !r->gone || !r->bye)
        no_memory();
    for (int i = 0; i < r->size; i++)
        r->heard[i] = vs_seconds();
}

/* Messages under way keep their buffers. */
static void free_lists(relay *r)
{
    vec_free(r->in);
    vec_free(r->out);
    vec_free(r->send);
    vec_free(r->recv);
    free(r->heard);
    free(r->gone);
    free(r->bye);
}

int rank_relay_run(const rank_relay_opt *o, bool *at_once)
{
    relay r = {.o = o, .fd = o->fd};
    struct sigaction sa = {.sa_handler = hand_on};
    simulator = o->pid;
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    start_mpi(o);
    set_up(&r);
    if (o->rank < 0)
        to_simulator(&r, 0, RANK_PLACE, (int32_t[]){r.rank, r.size}, 2 * sizeof(int32_t));
    work(&r);
    if (r.lost)
        fprintf(stderr,
                "vsim: rank %d of %d lost rank 0, which writes: the results are not complete "
                "(--resume goes on)\n",
                r.rank, r.size);
    *at_once = r.abandon;
    free_lists(&r);
    return r.lost ? EXIT_LOST : r.rank ? 0 : r.code;
}

__attribute__((visibility("default"))) const char vsim_rank_version[] = RANK_VERSION;
__attribute__((visibility("default"))) rank_relay vsim_rank_relay;

int vsim_rank_relay(const rank_relay_opt *o)
{
    bool at_once;
    const int code = rank_relay_run(o, &at_once);
    if (at_once)
        _exit(code);
    return code;
}
