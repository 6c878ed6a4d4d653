/* swp_jobs.c - who computes which point: this process, workers that it forks, or other ranks
 * (swp_ranks.c). A worker reads numbers of points from a pipe and answers each with a record on
 * another; the results of the point stand in its spool file, which both have open. The parent
 * computes nothing: it stays as it was after reading the deck, so that a worker that died can be
 * replaced by a new one at any time. */
#include "swp_priv.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "heap.h"
#include "io.h"
#include "mdl_compare.h"

enum { AHEAD = 8, TRIES = 2 };
enum { NO_MEMORY = 7, ENDED = 130 }; /* exit codes of a worker */
static const double KEEPING = 30;    /* s, until workers that do not end are killed */
static const double FORK = 2e-3;     /* s, to start a process, if vsim tune has not measured it */

/* Computes turn k, and writes it.  half  out  a signal stopped the point */
static vs_status compute(swp *w, int64_t k, bool *half)
{
    swp_rec r;
    swp_point(w, swp_mine(w, k), &r);
    *half = r.status == VS_STOP && swp_stopped(w);
    vs_status st = *half ? VS_STOP : VS_OK;
    char *label = fam_values(&w->fam, r.point);
    if (!st)
        st = swp_book_add(&w->book, &r, label, w->spool, 0, NULL);
    if (!st)
        swp_keep_done(w, r.point);
    vs_free(label);
    swp_rec_fini(&r);
    return st;
}

vs_status swp_alone(swp *w, int64_t k)
{
    vs_status st = VS_OK;
    if (w->o->out && (w->spool = swp_spool(w, 0)) < 0) {
        snprintf(w->book.why, sizeof w->book.why, "no file for results of points: %s",
                 strerror(errno));
        return VS_EIO;
    }
    bool half = false;
    for (; k < w->book.n_mine && !st; k++) {
        st = swp_again_has(&w->book, k) ? swp_again_copy(&w->book, k) : compute(w, k, &half);
        if (!st && k + 1 < w->book.n_mine && swp_stopped(w))
            st = VS_STOP;
    }
    swp_end_spool(w, 0, w->spool, half);
    return st;
}

/* -- records -- */

static bool send_record(int fd, const swp_rec *r, size_t n_meas)
{
    return io_write(fd, r, sizeof *r) && io_write(fd, r->value, n_meas * sizeof *r->value) &&
           io_write(fd, r->text, r->n_text) && io_write(fd, r->msg, r->n_msg) &&
           io_write(fd, r->limit, r->n_limit) && io_write(fd, r->compare, r->n_compare);
}

bool swp_receive(int fd, swp_rec *r, size_t n_meas)
{
    if (!io_read(fd, r, sizeof *r)) {
        *r = (swp_rec){0};
        return false;
    }
    r->value = vs_calloc(n_meas + 1, sizeof *r->value);
    r->text = vs_malloc(r->n_text + 1);
    r->msg = vs_malloc(r->n_msg + 1);
    r->limit = vs_malloc(r->n_limit + 1);
    r->compare = vs_malloc(r->n_compare + 1);
    if (io_read(fd, r->value, n_meas * sizeof *r->value) && io_read(fd, r->text, r->n_text) &&
        io_read(fd, r->msg, r->n_msg) && io_read(fd, r->limit, r->n_limit) &&
        io_read(fd, r->compare, r->n_compare))
        return true;
    swp_rec_fini(r);
    return false;
}

char *swp_results_of(const swp_rec *r, int spool)
{
    char *bytes = vs_malloc((size_t)r->n_bytes + 1);
    for (int64_t i = 0; i < r->n_bytes;) {
        const ssize_t n = pread(spool, bytes + i, (size_t)(r->n_bytes - i), i);
        if (n <= 0) {
            vs_free(bytes);
            return NULL;
        }
        i += n;
    }
    return bytes;
}

/* -- workers -- */

typedef struct desk {
    swp *w;
    int ask, answer;
} desk;

static vs_status serve(void *arg)
{
    const desk *d = arg;
    const mdl_lib *lib = sim_opts(d->w->s)->lib;
    int64_t point;
    size_t n;
    vs_free(lib ? mdl_compare_take(lib, &n) : NULL); /* the parent reports what it found itself */
    while (io_read(d->ask, &point, sizeof point)) {
        swp_rec r;
        swp_point(d->w, point, &r);
        r.compare = lib ? mdl_compare_take(lib, &n) : NULL;
        r.n_compare = r.compare ? (uint32_t)n : 0;
        /* A signal stopped the point, so it has no result. If the parent has the signal too, it
         * stops; else it gives the point to another worker. */
        if (r.status == VS_STOP && swp_stopped(d->w))
            return VS_STOP;
        if (!send_record(d->answer, &r, vec_len(d->w->meas)))
            break;
        swp_rec_fini(&r);
    }
    return VS_OK;
}

void swp_stay(void)
{
    static const int sig[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < VS_COUNT(sig); i++) {
        struct sigaction sa;
        if (sigaction(sig[i], NULL, &sa))
            continue;
        sa.sa_flags &= ~(int)SA_RESETHAND;
        (void)sigaction(sig[i], &sa, NULL);
    }
}

static void work(swp *w, const swp_worker *all, int n, int ask, int answer, const swp_worker *v)
{
    for (int i = 0; i < n; i++)
        if (all[i].pid) {
            close(all[i].ask);
            close(all[i].answer);
        }
    if (w->o->link)
        close(w->o->link->fd);
    if (sim_opts(w->s)->lib && !mdl_own_code(sim_opts(w->s)->lib))
        _exit(1);
    swp_stay();
    w->spool = v->spool;
    w->station = (int)(v - all);
    sim_opts(w->s)->threads = sim_opts(w->s)->threads ? sim_opts(w->s)->threads : 1;
    if (!w->tell_all)
        sim_figures_now(w->s, &w->told);
    desk d = {w, ask, answer};
    const vs_status st = guard_run(heap_now(), serve, &d);
    _exit(st == VS_STOP ? ENDED : st ? NO_MEMORY : 0);
}

bool swp_hire(swp *w, swp_worker *all, int n, swp_worker *v)
{
    int ask[2], answer[2];
    if (w->o->out && v->spool < 0 && (v->spool = swp_spool(w, (int)(v - all))) < 0)
        return false;
    if (pipe(ask))
        return false;
    if (pipe(answer)) {
        close(ask[0]);
        close(ask[1]);
        return false;
    }
    fflush(NULL);
    const pid_t self = getpid(), pid = fork();
    if (pid == 0) {
#ifdef __linux__
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (getppid() != self)
            _exit(0);
        close(ask[1]);
        close(answer[0]);
        swp_let_go(all);
        work(w, all, n, ask[0], answer[1], v);
    }
    close(ask[0]);
    close(answer[1]);
    if (pid < 0) {
        close(ask[1]);
        close(answer[0]);
        return false;
    }
    *v = (swp_worker){pid, ask[1], answer[0], v->spool, -1};
    sim_figures_hired(w->s);
    return true;
}

int swp_dismiss(swp_worker *v, int sig)
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

static void kill_all(void *all, size_t n)
{
    swp_worker *v = all;
    for (size_t i = 0; i < n; i++)
        (void)swp_dismiss(&v[i], SIGKILL);
}

swp_worker *swp_room(arena *mem, int n)
{
    swp_worker *all = arena_array(mem, swp_worker, n);
    for (int i = 0; i < n; i++)
        all[i] = (swp_worker){.spool = -1, .k = -1};
    heap_hold(kill_all, all, (size_t)n);
    return all;
}

void swp_let_go(swp_worker *all) { heap_unhold(kill_all, all); }

/* -- points -- */

int64_t swp_next(swp_crew *c)
{
    if (vec_len(c->again))
        return vec_pop(c->again);
    const swp_book *b = &c->w->book;
    while (c->next < b->n_mine && c->next < c->due + c->window && swp_again_has(b, c->next))
        c->next++;
    return c->next < b->n_mine && c->next < c->due + c->window ? c->next++ : -1;
}

static bool give_out(swp_crew *c, swp_worker *v)
{
    v->k = swp_next(c);
    const int64_t point = swp_mine(c->w, v->k);
    return v->k < 0 || io_write(v->ask, &point, sizeof point);
}

static swp_early *slot(swp_crew *c, int64_t k) { return &c->wait[k % c->window]; }

static vs_status no_room(swp_crew *c)
{
    snprintf(c->w->book.why, sizeof c->w->book.why, "no room for results that came early: %s",
             strerror(errno));
    return VS_EIO;
}

void swp_came(swp_crew *c, int64_t k, const swp_rec *r, char *bytes)
{
    *slot(c, k) = (swp_early){.there = true, .r = *r, .bytes = bytes};
    c->seconds += 0.1 * (r->seconds - c->seconds);
}

static vs_status add(swp_crew *c, const swp_rec *r, int src)
{
    char *label = fam_values(&c->w->fam, r->point);
    vs_status st = swp_book_add(&c->w->book, r, label, src, 0, NULL);
    if (!st)
        swp_keep_done(c->w, r->point);
    vs_free(label);
    sim_figures_add(c->w->s, &r->figures);
    if (r->n_compare)
        mdl_compare_add(sim_opts(c->w->s)->lib, r->compare, r->n_compare);
    c->spent += r->own.st.built ? fmax(r->seconds - c->start, 0) : r->seconds;
    c->n_spent++;
    c->tries[c->due % c->window] = 0;
    c->due++;
    return st;
}

/* Writes the results whose turn has come: those of an earlier run, and records. */
static vs_status write_due(swp_crew *c)
{
    swp_book *b = &c->w->book;
    vs_status st = VS_OK;
    while (!st && c->due < b->n_mine) {
        if (swp_again_has(b, c->due)) {
            st = swp_again_copy(b, c->due++);
            continue;
        }
        if (!slot(c, c->due)->there)
            break;
        swp_early e = *slot(c, c->due);
        *slot(c, c->due) = (swp_early){0};
        if (e.r.n_bytes && (ftruncate(c->copy, 0) || lseek(c->copy, 0, SEEK_SET) ||
                            !io_write(c->copy, e.bytes, (size_t)e.r.n_bytes)))
            st = no_room(c);
        if (!st)
            st = add(c, &e.r, c->copy);
        swp_rec_fini(&e.r);
        vs_free(e.bytes);
    }
    return st;
}

/* Gives the point of a worker that died to another one, once; if that dies too, the point has
 * failed: for want of memory if the last one said so. */
void swp_died(swp_crew *c, int64_t k, int how)
{
    if (++c->tries[k % c->window] < TRIES) {
        vec_push(c->again, k);
        return;
    }
    const size_t n = vec_len(c->w->meas);
    const bool memory = WIFEXITED(how) && WEXITSTATUS(how) == NO_MEMORY;
    swp_rec r = {.point = swp_mine(c->w, k),
                 .status = memory ? VS_ENOMEM : VS_EDIED,
                 .value = vs_calloc(n + 1, sizeof(double)),
                 .text = vs_strdup(""),
                 .msg = vs_malloc(100)};
    const int n_msg =
        memory ? snprintf(r.msg, 100, "error: out of memory\n")
               : snprintf(r.msg, 100, "error: the process that computed it ended by %s %d, twice\n",
                          WIFSIGNALED(how) ? "signal" : "exit code",
                          WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    r.n_msg = (uint32_t)n_msg;
    for (size_t i = 0; i < n; i++)
        r.value[i] = NAN;
    swp_came(c, k, &r, NULL);
}

static vs_status replace(swp_crew *c, swp_worker *v)
{
    const int64_t k = v->k;
    const int how = swp_dismiss(v, 0);
    v->k = -1;
    if (k >= 0)
        swp_died(c, k, how);
    if (swp_hire(c->w, c->one, c->n, v))
        return VS_OK;
    snprintf(c->w->book.why, sizeof c->w->book.why, "no further worker could be started: %s",
             strerror(errno));
    return VS_ENOMEM;
}

static vs_status take_answer(swp_crew *c, swp_worker *v)
{
    swp_rec r;
    if (!swp_receive(v->answer, &r, vec_len(c->w->meas)))
        return swp_stopped(c->w) ? VS_STOP : replace(c, v);
    const int64_t k = v->k;
    v->k = -1;
    if (k == c->due) {
        vs_status st = add(c, &r, v->spool);
        swp_rec_fini(&r);
        return st;
    }
    char *bytes = swp_results_of(&r, v->spool);
    if (!bytes) {
        swp_rec_fini(&r);
        return no_room(c);
    }
    swp_came(c, k, &r, bytes);
    return VS_OK;
}

/* Whether another worker pays. It makes a circuit of its own, so it pays if the workers at hand
 * need more than twice that time for the points that are left. Before the first point is done, the
 * time so far is taken as the time of a point. */
static bool another_pays(const swp_crew *c)
{
    const int64_t left = swp_again_left(&c->w->book, c->due);
    const double now = vs_seconds() - c->t0,
                 point = c->n_spent ? c->spent / (double)c->n_spent : now - c->start;
    return c->n < c->most && c->next < c->w->book.n_mine &&
           (double)left * point / c->n > 2 * c->start;
}

static vs_status hire_more(swp_crew *c)
{
    while (another_pays(c)) {
        swp_worker *v = &c->one[c->n];
        if (!swp_hire(c->w, c->one, c->n, v)) {
            snprintf(c->w->book.why, sizeof c->w->book.why, "no worker could be started: %s",
                     files_why(errno));
            return VS_ENOMEM;
        }
        c->n++;
    }
    return VS_OK;
}

static vs_status manage(swp_crew *c)
{
    struct pollfd p[SWP_MOST_JOBS + 1];
    vs_status st = write_due(c);
    while (!st && c->due < c->w->book.n_mine) {
        st = hire_more(c);
        for (int i = 0; i < c->n && !st; i++)
            if (c->one[i].k < 0 && !give_out(c, &c->one[i]))
                st = replace(c, &c->one[i]);
        if (c->ranks && !st)
            st = swp_ranks_give(c);
        for (int i = 0; i < c->n; i++)
            p[i] = (struct pollfd){.fd = c->one[i].answer, .events = POLLIN};
        p[c->n] = (struct pollfd){.fd = c->ranks ? c->w->o->link->fd : -1, .events = POLLIN};
        const int soon = c->n < c->most ? 1 + (int)fmin(1e3 * c->start, 999) : 1000;
        const int ready = st ? 0 : poll(p, (nfds_t)c->n + 1, soon);
        if (swp_stopped(c->w))
            return VS_STOP;
        for (int i = 0; i < c->n && ready > 0 && !st; i++)
            if (p[i].revents)
                st = take_answer(c, &c->one[i]);
        if (!st && ready > 0 && p[c->n].revents)
            st = swp_ranks_take(c);
        if (!st)
            st = write_due(c);
    }
    return st;
}

void swp_let_keep(const swp_worker *all, int n)
{
    const double until = vs_seconds() + KEEPING;
    for (int i = 0; i < n; i++)
        if (all[i].pid && all[i].k >= 0)
            kill(all[i].pid, SIGTERM);
    for (int i = 0; i < n; i++) {
        /* the end of the pipe, or a record: the point is done */
        struct pollfd end = {.fd = all[i].answer, .events = POLLIN};
        while (all[i].pid && all[i].k >= 0 && vs_seconds() < until && poll(&end, 1, 100) <= 0)
            ;
    }
}

vs_status swp_workers(swp *w, int64_t k, int jobs)
{
    const int others = w->o->link ? w->o->link->size - 1 : 0;
    const int64_t left = swp_again_left(&w->book, k);
    jobs = jobs > SWP_MOST_JOBS ? SWP_MOST_JOBS : jobs;
    if (jobs > left)
        jobs = left > 1 ? (int)left : 1;
    /* threads do not survive a fork: workers make circuits of their own */
    sim_drop_circuit(w->s);
    arena mem;
    arena_init(&mem);
    /* beside other ranks it starts all workers at once */
    swp_crew c = {.w = w,
                  .n = others ? jobs : 1,
                  .most = jobs,
                  .next = k,
                  .due = k,
                  .copy = -1,
                  .seconds = 1,
                  .t0 = vs_seconds(),
                  .start = sim_build_seconds(w->s) +
                           (w->o->worker_start > 0 ? w->o->worker_start : FORK),
                  .window = (int64_t)AHEAD * jobs * (1 + others)};
    c.one = swp_room(&mem, jobs);
    c.tries = arena_array(&mem, int, c.window);
    c.wait = arena_array(&mem, swp_early, c.window);
    vs_status st = VS_OK;
    if (w->o->out && (c.copy = swp_spool(w, -1)) < 0)
        st = no_room(&c);
    if (!st && others)
        c.ranks = swp_ranks_new(w);
    for (int i = 0; i < c.n && !st; i++)
        if (!swp_hire(w, c.one, c.n, &c.one[i])) {
            snprintf(w->book.why, sizeof w->book.why, "no worker could be started: %s",
                     files_why(errno));
            st = VS_ENOMEM;
        }
    if (!st)
        st = manage(&c);
    if (st == VS_STOP && w->o->checkpoint)
        swp_let_keep(c.one, c.n);
    for (int i = 0; i < jobs; i++) {
        (void)swp_dismiss(&c.one[i], st ? SIGKILL : 0);
        swp_end_spool(w, i, c.one[i].spool, st == VS_STOP && c.one[i].k >= 0);
    }
    swp_let_go(c.one);
    for (int64_t i = 0; i < c.window; i++) {
        swp_rec_fini(&c.wait[i].r);
        vs_free(c.wait[i].bytes);
    }
    if (c.copy >= 0)
        (void)io_close(c.copy);
    swp_ranks_free(c.ranks);
    vec_free(c.again);
    arena_fini(&mem);
    return st;
}
