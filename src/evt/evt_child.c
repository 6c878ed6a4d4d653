/* evt_child.c - see evt_child.h. Nothing here waits longer than PATIENCE for the other end. */
#include "evt_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vec.h"

enum {
    VERSION = 1,
    PATIENCE = 60,      /* s without an answer */
    MOST_KEPT = 1 << 26 /* bytes of packets; of more those are forgotten that cannot be undone */
};

struct evt_child {
    const char *const *program;
    int32_t n_in, n_out;
    size_t in, out, size; /* bytes of inputs, of outputs, of both with the time */
    bool runs;            /* and has been greeted */
    const child_host *host;
    child_process at;      /* without a process: named pipes */
    uint8_t *kept;         /* vec: packets and their answers */
    size_t first, n, said; /* number of the first that is kept; of all; how many it has answered */
    const char *wrong;
    char text[160];
};

evt_child *evt_child_new(const child_host *host, const char *const *program, int32_t n_in,
                         int32_t n_out)
{
    evt_child *c = vs_calloc(1, sizeof *c);
    *c = (evt_child){.program = program,
                     .host = host,
                     .n_in = n_in,
                     .n_out = n_out,
                     .in = ((size_t)n_in + 7) / 8,
                     .out = ((size_t)n_out + 7) / 8,
                     .at = {.to = -1, .from = -1}};
    c->size = sizeof(double) + c->in + c->out;
    return c;
}

static bool fail(evt_child *c, const char *what)
{
    c->wrong = what;
    return false;
}

static bool fail_by(evt_child *c, const char *what)
{
    snprintf(c->text, sizeof c->text, "%s: %s", what, strerror(errno));
    return fail(c, c->text);
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); }

/* The program sees the end of its input and ends. */
static void stop(evt_child *c)
{
    c->host->stop(&c->at);
    c->runs = false;
    c->said = 0;
}

void evt_child_free(evt_child **pc)
{
    evt_child *c = *pc;
    *pc = NULL;
    if (!c)
        return;
    stop(c);
    vec_free(c->kept);
    vs_free(c);
}

void evt_child_begin(evt_child *c)
{
    stop(c);
    vec_clear(c->kept);
    c->first = c->n = 0;
    c->wrong = NULL;
}

/* -- bytes to and fro -- */

static bool await(evt_child *c, int fd, short what)
{
    struct pollfd p = {.fd = fd, .events = what};
    const time_t end = time(NULL) + PATIENCE;
    for (;;) {
        const int n = poll(&p, 1, 1000);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return fail_by(c, "cannot be waited for");
        if (time(NULL) > end)
            return fail(c, "does not answer");
    }
}

static bool put(evt_child *c, const uint8_t *p, size_t n)
{
    while (n) {
        if (!await(c, c->at.to, POLLOUT))
            return false;
        const ssize_t k = write(c->at.to, p, n);
        if (k < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (k < 0 && errno == EPIPE)
            return fail(c, "has ended");
        if (k < 0)
            return fail_by(c, "cannot be written to");
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static bool get(evt_child *c, uint8_t *p, size_t n)
{
    while (n) {
        if (!await(c, c->at.from, POLLIN))
            return false;
        const ssize_t k = read(c->at.from, p, n);
        if (k < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (k < 0)
            return fail_by(c, "cannot be read from");
        if (k == 0)
            return fail(c, "has ended");
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* -- beginning -- */

static int open_pipe(const evt_child *c, const char *ending, int how)
{
    char path[4096];
    struct stat s;
    const char *name = c->program[0];
    snprintf(path, sizeof path, "%.*s%s", (int)strcspn(name, "|"), name, ending);
    const int fd = open(path, how | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || (!fstat(fd, &s) && S_ISFIFO(s.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL; /* no named pipe */
    return -1;
}

/* Nobody may read yet. */
static bool open_pipes(evt_child *c)
{
    const time_t end = time(NULL) + PATIENCE;
    while ((c->at.to = open_pipe(c, "_in", O_WRONLY)) < 0 && errno == ENXIO && time(NULL) <= end)
        nap();
    if (c->at.to >= 0)
        c->at.from = open_pipe(c, "_out", O_RDONLY);
    return c->at.from >= 0 || fail_by(c, "has no named pipes that can be opened");
}

/* Behind named pipes nobody may write yet: an end of file is no end until the first byte. */
static bool get_greeting(evt_child *c, uint8_t *p, size_t n)
{
    const time_t end = time(NULL) + PATIENCE;
    while (!c->at.pid && time(NULL) <= end) {
        const ssize_t k = read(c->at.from, p, 1);
        if (k == 1)
            return get(c, p + 1, n - 1);
        if (k < 0 && errno != EAGAIN && errno != EINTR)
            return fail_by(c, "cannot be read from");
        nap();
    }
    return c->at.pid ? get(c, p, n) : fail(c, "does not answer");
}

static bool start(evt_child *c)
{
    return c->host->start(&c->at, c->program) || fail_by(c, "cannot be started");
}

static bool greet(evt_child *c)
{
    const uint8_t hello[3] = {VERSION, (uint8_t)c->n_in, (uint8_t)c->n_out};
    uint8_t answer[3];
    const bool pipes = strchr(c->program[0], '|') != NULL;
    if (!(pipes ? open_pipes(c) : start(c)) || !put(c, hello, sizeof hello) ||
        !get_greeting(c, answer, sizeof answer))
        return false;
    c->runs = true;
    if (answer[0] != VERSION)
        snprintf(c->text, sizeof c->text, "speaks version %d of the protocol, not %d", answer[0],
                 VERSION);
    else if (answer[1] != hello[1] || answer[2] != hello[2])
        snprintf(c->text, sizeof c->text,
                 "has %d inputs and %d outputs, and the element connects %d and %d", answer[1],
                 answer[2], hello[1], hello[2]);
    else
        return true;
    return fail(c, c->text);
}

/* -- packets -- */

static uint8_t *packet(const evt_child *c, size_t i) { return c->kept + (i - c->first) * c->size; }

static bool exchange(evt_child *c, uint8_t *p, uint8_t *answer)
{
    return put(c, p, c->size - c->out) && get(c, answer, c->out);
}

/* The program is where all packets that are kept have been answered. */
static bool catch_up(evt_child *c)
{
    uint8_t answer[32];
    if (c->said > c->n && (c->first > 0 || !c->at.pid))
        return fail(c, c->at.pid ? "would have to go back further than is remembered"
                                 : "would have to go back, which behind named pipes it cannot");
    if (c->said > c->n)
        stop(c);
    if (!c->runs && c->first > 0)
        return fail(c, "would have to begin anew, and what it was asked first is forgotten");
    if (!c->runs && !greet(c))
        return false;
    for (; c->said < c->n; c->said++) {
        uint8_t *p = packet(c, c->said);
        if (!exchange(c, p, answer))
            return false;
        if (memcmp(answer, p + c->size - c->out, c->out) != 0)
            return fail(c, "does not give the same answers again");
    }
    return true;
}

const uint8_t *evt_child_ask(evt_child *c, size_t at, double time, const uint8_t *in)
{
    uint8_t p[sizeof(double) + 64];
    memcpy(p, &time, sizeof time);
    memcpy(p + sizeof time, in, c->in);
    if (at < c->n && at >= c->first && !memcmp(packet(c, at), p, c->size - c->out))
        return packet(c, at) + c->size - c->out;
    if (c->wrong)
        return NULL;
    if (at < c->first || at > c->n) {
        (void)fail(c, "is asked for what is no longer remembered");
        return NULL;
    }
    c->n = at;
    if (c->kept)
        vec_head_of(c->kept)->len = (at - c->first) * c->size;
    if (!catch_up(c) || !exchange(c, p, p + c->size - c->out))
        return NULL;
    vec_extend(c->kept, c->size);
    memcpy(packet(c, at), p, c->size);
    c->said = ++c->n;
    return packet(c, at) + c->size - c->out;
}

const char *evt_child_wrong(const evt_child *c) { return c->wrong; }

const char *evt_child_file(const evt_child *c) { return c->program[0]; }

size_t evt_child_n(const evt_child *c) { return c->n; }

void evt_child_settle(evt_child *c, size_t at)
{
    if (vec_len(c->kept) < MOST_KEPT || at <= c->first)
        return;
    const size_t gone = (at - c->first) * c->size, left = vec_len(c->kept) - gone;
    memmove(c->kept, c->kept + gone, left);
    vec_head_of(c->kept)->len = left;
    c->first = at;
}

void evt_child_identity(const evt_child *c, image *im, const char *what)
{
    for (size_t i = 0; c->program[i] && !im->wrong; i++) {
        const hash128 h = hash128_of(c->program[i], strlen(c->program[i]));
        IMAGE_SAME(im, h, what);
    }
}

void evt_child_image(evt_child *c, image *im)
{
    if (!c->program[0][0] || strchr(c->program[0], '|'))
        im->wrong = "what stands behind named pipes cannot go on elsewhere";
    else if (c->first > 0)
        im->wrong = "a program was asked more than is remembered";
    if (im->wrong)
        return;
    IMAGE_VEC(im, c->kept);
    if (!im->giving)
        return;
    stop(c);
    c->first = 0;
    c->n = vec_len(c->kept) / c->size;
    c->wrong = NULL;
    if (vec_len(c->kept) % c->size)
        image_refuse(im);
}
