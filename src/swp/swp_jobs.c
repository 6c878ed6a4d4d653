/* swp_jobs.c - who computes which point: this process, or workers that it forks.
 * A worker reads numbers of points from a pipe and answers each with a record on another; the results of the
 * point stand in its spool file, which both have open. The parent computes nothing: it stays as it was after
 * reading the deck, so that a worker that died can be replaced by a new one at any time. */
#include "swp_priv.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LABEL = 2000, AHEAD = 8, MOST_JOBS = 256, TRIES = 2 };

vs_status swp_alone(swp *w, int64_t k)
{
    vs_status st = VS_OK;
    char label[LABEL];
    if (w->o->out && (w->spool = swp_spool(w)) < 0) {
        snprintf(w->book.why, sizeof w->book.why, "no file for results of points: %s", strerror(errno));
        return VS_EIO;
    }
    for (; k < w->book.n_mine && !st; k++) {
        swp_rec r;
        swp_point(w, swp_mine(w, k), &r);
        if (r.status == VS_STOP && swp_stopped(w))
            st = VS_STOP;
        swp_values(w, r.point, label, sizeof label);
        if (!st)
            st = swp_book_add(&w->book, &r, label, w->spool, 0, NULL);
        swp_rec_fini(&r);
        if (!st && k + 1 < w->book.n_mine && swp_stopped(w))
            st = VS_STOP;
    }
    if (w->spool >= 0)
        close(w->spool);
    return st;
}

/* -- pipes -- */

static bool put(int fd, const void *p, size_t n)
{
    for (const char *s = p; n;) {
        const ssize_t k = write(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

static bool get(int fd, void *p, size_t n)
{
    for (char *s = p; n;) {
        const ssize_t k = read(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

static bool send_record(int fd, const swp_rec *r, size_t n_meas)
{
    return put(fd, r, sizeof *r) && put(fd, r->value, n_meas * sizeof *r->value) && put(fd, r->text, r->n_text) &&
           put(fd, r->msg, r->n_msg);
}

static bool receive(int fd, swp_rec *r, size_t n_meas)
{
    if (!get(fd, r, sizeof *r)) {
        *r = (swp_rec){0};
        return false;
    }
    r->value = calloc(n_meas + 1, sizeof *r->value);
    r->text = malloc(r->n_text + 1);
    r->msg = malloc(r->n_msg + 1);
    if (r->value && r->text && r->msg && get(fd, r->value, n_meas * sizeof *r->value) && get(fd, r->text, r->n_text) &&
        get(fd, r->msg, r->n_msg))
        return true;
    swp_rec_fini(r);
    return false;
}

/* -- workers -- */

typedef struct worker {
    pid_t pid;            /* 0: none */
    int ask, answer;      /* ends of this process */
    int spool;
    int64_t k;            /* what it computes, -1: nothing */
} worker;

/* A record that came before its turn; the results are a copy. */
typedef struct early {
    bool there;
    swp_rec r;
    char *bytes;
} early;

typedef struct crew {
    swp *w;
    worker *one;          /* [n] */
    int n;
    int64_t next;         /* given out next */
    int64_t due;          /* written next */
    int64_t *again;       /* vec: points that a worker took with it when it died */
    int *tries;           /* [AHEAD * n] by k modulo: deaths at this point */
    early *wait;          /* [AHEAD * n] by k modulo */
    int copy;             /* file for the results of a record that waited */
} crew;

static void work(crew *c, int ask, int answer, int spool)
{
    swp *w = c->w;
    int64_t point;
    for (int i = 0; i < c->n; i++)
        if (c->one[i].pid) {
            close(c->one[i].ask);
            close(c->one[i].answer);
        }
    w->spool = spool;
    w->s->threads = w->s->threads ? w->s->threads : 1;
    while (get(ask, &point, sizeof point)) {
        swp_rec r;
        swp_point(w, point, &r);
        if (!send_record(answer, &r, vec_len(w->meas)))
            break;
        swp_rec_fini(&r);
    }
    _exit(0);
}

static bool hire(crew *c, worker *v)
{
    int ask[2], answer[2];
    if (c->w->o->out && v->spool < 0 && (v->spool = swp_spool(c->w)) < 0)
        return false;
    if (pipe(ask))
        return false;
    if (pipe(answer)) {
        close(ask[0]);
        close(ask[1]);
        return false;
    }
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ask[1]);
        close(answer[0]);
        work(c, ask[0], answer[1], v->spool);
    }
    close(ask[0]);
    close(answer[1]);
    if (pid < 0) {
        close(ask[1]);
        close(answer[0]);
        return false;
    }
    *v = (worker){pid, ask[1], answer[0], v->spool, -1};
    return true;
}

static int dismiss(worker *v, int sig)
{
    int how = 0;
    if (!v->pid)
        return 0;
    close(v->ask);
    close(v->answer);
    if (sig)
        kill(v->pid, sig);
    while (waitpid(v->pid, &how, 0) < 0 && errno == EINTR)
        ;
    v->pid = 0;
    return how;
}

static bool give_out(crew *c, worker *v)
{
    const int64_t ahead = (int64_t)AHEAD * c->n;
    if (vec_len(c->again))
        v->k = vec_pop(c->again);
    else if (c->next < c->w->book.n_mine && c->next < c->due + ahead)
        v->k = c->next++;
    else
        return true;
    const int64_t point = swp_mine(c->w, v->k);
    return put(v->ask, &point, sizeof point);
}

static early *slot(crew *c, int64_t k)
{
    return &c->wait[k % ((int64_t)AHEAD * c->n)];
}

static vs_status no_room(crew *c)
{
    snprintf(c->w->book.why, sizeof c->w->book.why, "no room for results that came early: %s", strerror(errno));
    return VS_EIO;
}

static vs_status put_early(crew *c, worker *v, swp_rec *r)
{
    early *e = slot(c, v->k);
    *e = (early){.there = true, .r = *r, .bytes = malloc((size_t)r->n_bytes + 1)};
    for (int64_t i = 0; e->bytes && i < r->n_bytes;) {
        const ssize_t n = pread(v->spool, e->bytes + i, (size_t)(r->n_bytes - i), i);
        if (n <= 0)
            return no_room(c);
        i += n;
    }
    return e->bytes ? VS_OK : VS_ENOMEM;
}

static vs_status add(crew *c, const swp_rec *r, int src)
{
    char label[LABEL];
    swp_values(c->w, r->point, label, sizeof label);
    vs_status st = swp_book_add(&c->w->book, r, label, src, 0, NULL);
    c->tries[c->due % ((int64_t)AHEAD * c->n)] = 0;
    c->due++;
    return st;
}

/* Records whose turn has come. */
static vs_status write_due(crew *c)
{
    vs_status st = VS_OK;
    while (!st && c->due < c->w->book.n_mine && slot(c, c->due)->there) {
        early e = *slot(c, c->due);
        *slot(c, c->due) = (early){0};
        if (e.r.n_bytes && (ftruncate(c->copy, 0) || pwrite(c->copy, e.bytes, (size_t)e.r.n_bytes, 0) != e.r.n_bytes))
            st = no_room(c);
        if (!st)
            st = add(c, &e.r, c->copy);
        swp_rec_fini(&e.r);
        free(e.bytes);
    }
    return st;
}

/* The point of a worker that ended goes to another one, once; then it has failed. */
static vs_status replace(crew *c, worker *v)
{
    const int64_t k = v->k;
    const int how = dismiss(v, 0);
    v->k = -1;
    if (k >= 0 && ++c->tries[k % ((int64_t)AHEAD * c->n)] < TRIES) {
        vec_push(c->again, k);
    } else if (k >= 0) {
        const size_t n = vec_len(c->w->meas);
        early *e = slot(c, k);
        *e = (early){.there = true, .r = {.point = swp_mine(c->w, k), .status = VS_ENOMEM, .value = calloc(n + 1, sizeof(double)),
                                          .text = strdup(""), .msg = malloc(100)}};
        if (e->r.msg)
            e->r.n_msg = (uint32_t)snprintf(e->r.msg, 100, "error: the process that computed it ended by %s %d, twice\n",
                                            WIFSIGNALED(how) ? "signal" : "exit code",
                                            WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        for (size_t i = 0; e->r.value && i < n; i++)
            e->r.value[i] = NAN;
    }
    if (hire(c, v))
        return VS_OK;
    snprintf(c->w->book.why, sizeof c->w->book.why, "no further worker could be started: %s", strerror(errno));
    return VS_ENOMEM;
}

static vs_status take_answer(crew *c, worker *v)
{
    swp_rec r;
    if (!receive(v->answer, &r, vec_len(c->w->meas)))
        return swp_stopped(c->w) ? VS_STOP : replace(c, v);
    if (r.status == VS_STOP && swp_stopped(c->w)) {
        swp_rec_fini(&r);
        return VS_STOP;
    }
    vs_status st;
    if (v->k == c->due) {
        st = add(c, &r, v->spool);
        swp_rec_fini(&r);
    } else {
        st = put_early(c, v, &r);
    }
    v->k = -1;
    return st;
}

static vs_status manage(crew *c)
{
    struct pollfd p[MOST_JOBS];
    vs_status st = VS_OK;
    while (!st && c->due < c->w->book.n_mine) {
        for (int i = 0; i < c->n && !st; i++)
            if (c->one[i].k < 0 && !give_out(c, &c->one[i]))
                st = replace(c, &c->one[i]);
        for (int i = 0; i < c->n; i++)
            p[i] = (struct pollfd){.fd = c->one[i].answer, .events = POLLIN};
        const int ready = st ? 0 : poll(p, (nfds_t)c->n, 1000);
        if (swp_stopped(c->w))
            return VS_STOP;
        for (int i = 0; i < c->n && ready > 0 && !st; i++)
            if (p[i].revents)
                st = take_answer(c, &c->one[i]);
        if (!st)
            st = write_due(c);
    }
    return st;
}

vs_status swp_workers(swp *w, int64_t k, int jobs)
{
    jobs = jobs > MOST_JOBS ? MOST_JOBS : jobs;
    if (jobs > w->book.n_mine - k)
        jobs = w->book.n_mine - k > 1 ? (int)(w->book.n_mine - k) : 1;
    /* threads do not survive a fork: workers make circuits of their own */
    ana_free(&w->s->ana);
    ckt_free(&w->s->ckt);
    arena mem;
    arena_init(&mem);
    crew c = {.w = w, .n = jobs, .next = k, .due = k, .copy = -1};
    c.one = arena_array(&mem, worker, jobs);
    c.tries = arena_array(&mem, int, AHEAD * jobs);
    c.wait = arena_array(&mem, early, AHEAD * jobs);
    for (int i = 0; i < jobs; i++)
        c.one[i].spool = c.one[i].k = -1;
    vs_status st = VS_OK;
    if (w->o->out && (c.copy = swp_spool(w)) < 0)
        st = no_room(&c);
    for (int i = 0; i < jobs && !st; i++)
        if (!hire(&c, &c.one[i])) {
            snprintf(w->book.why, sizeof w->book.why, "no worker could be started: %s", strerror(errno));
            st = VS_ENOMEM;
        }
    if (!st)
        st = manage(&c);
    for (int i = 0; i < jobs; i++) {
        (void)dismiss(&c.one[i], st ? SIGKILL : 0);
        if (c.one[i].spool >= 0)
            close(c.one[i].spool);
    }
    for (int i = 0; i < AHEAD * jobs; i++) {
        swp_rec_fini(&c.wait[i].r);
        free(c.wait[i].bytes);
    }
    if (c.copy >= 0)
        close(c.copy);
    vec_free(c.again);
    arena_fini(&mem);
    return st;
}
