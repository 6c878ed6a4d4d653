/* swp_ranks.c - the processes of an MPI launcher: rank 0 gives points out and writes, the others
 * compute. Every rank reads the deck itself, while MPI starts. It compiles kernels only after rank
 * 0 has built the deck, so that a cold cache is filled once. It has --jobs workers. A rank holds as
 * many points as it has workers and one more for each, so that no worker waits for a message; many
 * more if points are shorter than a message's way, none towards the end. Points of a rank that
 * ended are given to others. With checkpoints each rank writes those of its points beside the
 * results of rank 0, if it sees them (swp_keep.c). */
#include "swp_priv.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "stream.h"

static const double WAY = 5e-3; /* s, upper estimate for an answer and the next point to arrive */
enum { MOST_SPARE = 7 };        /* points per worker beyond the one it computes */
enum { ROUNDS = 3 };            /* with fewer points left a worker, ranks hold no spare ones */

/* What rank 0 sends first: each rank checks that it has read the same sweep. */
typedef struct go {
    uint64_t id;
    int64_t total;
    uint32_t n_meas, rec_size;
    char version[32];
    uint64_t file; /* number of rank 0's result file (st_ino); 0: no file, or no checkpoints */
} go;

/* And a rank's answer. */
typedef struct hello {
    int32_t workers;
    int32_t sees; /* the file */
} hello;

typedef struct peer {
    bool gone;
    int32_t workers; /* 0: it has not reported yet */
    int64_t *has;    /* vec: turns that it was given */
    swp_early part;  /* a record whose results are arriving */
    int64_t n_part;  /* bytes of them so far */
} peer;

struct swp_ranks {
    const rank_link *link;
    peer *one; /* [size] */
};

static go agreement(const swp *w)
{
    go g;
    memset(&g, 0, sizeof g);
    g.id = w->book.id;
    g.total = w->fam.total;
    g.n_meas = (uint32_t)vec_len(w->meas);
    g.rec_size = sizeof(swp_rec);
    snprintf(g.version, sizeof g.version, "%s", w->o->version);
    return g;
}

/* 0: there is none that other ranks could see. */
static uint64_t file_number(const swp *w)
{
    struct stat sb;
    const bool there = (w->o->checkpoint || w->o->resume) && w->o->out &&
                       strcmp(w->o->out, "-") != 0 && !stat(w->o->out, &sb) && S_ISREG(sb.st_mode);
    return there ? (uint64_t)sb.st_ino : 0;
}

/* -- rank 0 -- */

swp_ranks *swp_ranks_new(swp *w)
{
    swp_ranks *p = vs_calloc(1, sizeof *p);
    go g = agreement(w);
    g.file = file_number(w);
    p->one = vs_calloc((size_t)w->o->link->size, sizeof *p->one);
    p->link = w->o->link;
    (void)rank_send(p->link, -1, RANK_GO, &g, sizeof g);
    return p;
}

static void drop_part(peer *p)
{
    swp_rec_fini(&p->part.r);
    vs_free(p->part.bytes);
    p->part = (swp_early){0};
}

void swp_ranks_free(swp_ranks *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->link->size; i++) {
        drop_part(&p->one[i]);
        vec_free(p->one[i].has);
    }
    vs_free(p->one);
    vs_free(p);
}

static vs_status no_link(swp_crew *c)
{
    snprintf(c->w->book.why, sizeof c->w->book.why, "the process that MPI started is gone");
    return VS_EIO;
}

vs_status swp_ranks_give(swp_crew *c)
{
    double spare = fmin(WAY / fmax(c->seconds, 1e-6), MOST_SPARE);
    int64_t crowd = c->n;
    for (int i = 1; i < c->ranks->link->size; i++)
        crowd += c->ranks->one[i].gone ? 0 : c->ranks->one[i].workers;
    if (swp_again_left(&c->w->book, c->next) > ROUNDS * crowd)
        spare = fmax(spare, 1);
    for (int i = 1; i < c->ranks->link->size; i++) {
        peer *p = &c->ranks->one[i];
        const size_t most = (size_t)(p->workers * (1 + spare)), had = vec_len(p->has);
        if (p->gone)
            continue;
        for (int64_t k; vec_len(p->has) < most && (k = swp_next(c)) >= 0;)
            vec_push(p->has, k);
        const size_t n = vec_len(p->has) - had;
        if (n && !rank_send(c->ranks->link, i, RANK_POINT, p->has + had, n * sizeof *p->has))
            return no_link(c);
    }
    return VS_OK;
}

/* Takes turn k off the peer's list. false: it is not on it. */
static bool take_from(peer *p, int64_t k)
{
    for (size_t i = 0; i < vec_len(p->has); i++)
        if (p->has[i] == k) {
            memmove(p->has + i, p->has + i + 1, (vec_len(p->has) - i - 1) * sizeof *p->has);
            (void)vec_pop(p->has);
            return true;
        }
    return false;
}

static void lose(swp_crew *c, int rank, const char *why)
{
    peer *p = &c->ranks->one[rank];
    if (p->gone)
        return;
    p->gone = true;
    drop_part(p);
    if (c->w->book.say)
        fprintf(c->w->book.say, "vsim: rank %d of %d is lost%s: %s%s", rank, c->ranks->link->size,
                vec_len(p->has) ? ", others compute its points" : "", why,
                *why && why[strlen(why) - 1] == '\n' ? "" : "\n");
    for (size_t i = 0; i < vec_len(p->has); i++)
        vec_push(c->again, p->has[i]);
    vec_clear(p->has);
}

/* To call when a record has arrived with all its results. */
static bool complete(swp_crew *c, peer *p)
{
    if (p->n_part < p->part.r.n_bytes)
        return true;
    const int64_t k = swp_turn(c->w, p->part.r.point);
    if (!take_from(p, k))
        return false;
    if (p->part.r.went_on && c->w->o->say && !c->w->o->quiet)
        fprintf(c->w->o->say, "vsim: point %lld went on from its checkpoint\n",
                (long long)p->part.r.point + 1);
    swp_came(c, k, &p->part.r, p->part.bytes);
    p->part = (swp_early){0};
    return true;
}

/* A record of another process is not to be used before this: a byte that is no bool, a text without
 * an end, counts whose sum has no room. */
static bool sane(const swp_rec *r)
{
    const unsigned char went_on = *(const unsigned char *)&r->went_on;
    return r->n_bytes >= 0 && went_on <= 1 && isfinite(r->seconds) &&
           memchr(r->why, 0, sizeof r->why) && sim_figures_sane(&r->own) &&
           sim_figures_sane(&r->figures);
}

static bool take_result(swp_crew *c, peer *p, const char *data, size_t n)
{
    const size_t n_meas = vec_len(c->w->meas);
    swp_rec *r = &p->part.r;
    if (p->part.there || n < sizeof *r)
        return false;
    memcpy(r, data, sizeof *r);
    const size_t values = n_meas * sizeof *r->value;
    const size_t texts = (size_t)r->n_text + r->n_msg + r->n_limit + r->n_compare;
    if (n != sizeof *r + values + texts || !sane(r)) {
        *r = (swp_rec){0};
        return false;
    }
    p->part.there = true;
    p->n_part = 0;
    r->value = vs_calloc(n_meas + 1, sizeof *r->value);
    r->text = vs_malloc(r->n_text + 1);
    r->msg = vs_malloc(r->n_msg + 1);
    r->limit = vs_malloc(r->n_limit + 1);
    r->compare = vs_malloc(r->n_compare + 1);
    p->part.bytes = vs_malloc((size_t)r->n_bytes + 1);
    data += sizeof *r;
    memcpy(r->value, data, values);
    data += values;
    memcpy(r->text, data, r->n_text);
    data += r->n_text;
    memcpy(r->msg, data, r->n_msg);
    data += r->n_msg;
    memcpy(r->limit, data, r->n_limit);
    data += r->n_limit;
    memcpy(r->compare, data, r->n_compare);
    return complete(c, p);
}

static bool take_data(swp_crew *c, peer *p, const char *data, size_t n)
{
    if (!p->part.there || (int64_t)n > p->part.r.n_bytes - p->n_part)
        return false;
    memcpy(p->part.bytes + p->n_part, data, n);
    p->n_part += (int64_t)n;
    return complete(c, p);
}

static bool take_death(swp_crew *c, peer *p, const char *data, size_t n)
{
    int64_t death[2];
    if (n != sizeof death)
        return false;
    memcpy(death, data, sizeof death);
    if (!take_from(p, death[0]))
        return false;
    swp_died(c, death[0], (int)death[1]);
    return true;
}

static bool take_hello(const swp_crew *c, int rank, const char *data, size_t n)
{
    hello h;
    if (n != sizeof h)
        return false;
    memcpy(&h, data, n);
    c->ranks->one[rank].workers = h.workers < 1               ? 1
                                  : h.workers > SWP_MOST_JOBS ? SWP_MOST_JOBS
                                                              : h.workers;
    if (c->w->o->checkpoint && !h.sees && c->w->o->say)
        fprintf(c->w->o->say,
                "vsim: warning: rank %d of %d does not see '%s': no checkpoints of its points are "
                "written or read\n",
                rank, c->ranks->link->size, c->w->o->out);
    if (c->w->touchstone && swp_has_name(c->w) && !h.sees && c->w->o->say)
        fprintf(c->w->o->say,
                "vsim: warning: rank %d of %d does not see '%s': the Touchstone files of its "
                "points are on its machine\n",
                rank, c->ranks->link->size, c->w->o->out);
    return true;
}

vs_status swp_ranks_take(swp_crew *c)
{
    rank_link *l = c->w->o->link;
    if (!rank_receive(l))
        return swp_stopped(c->w) ? VS_STOP : no_link(c);
    const int rank = l->head.rank;
    const size_t n = (size_t)l->head.n;
    if (rank < 1 || rank >= l->size || c->ranks->one[rank].gone)
        return VS_OK;
    peer *p = &c->ranks->one[rank];
    bool ok = true;
    switch ((rank_kind)l->head.kind) {
    case RANK_HELLO: ok = take_hello(c, rank, l->data, n); break;
    case RANK_RESULT: ok = take_result(c, p, l->data, n); break;
    case RANK_DATA: ok = take_data(c, p, l->data, n); break;
    case RANK_DIED: ok = take_death(c, p, l->data, n); break;
    case RANK_GONE: lose(c, rank, l->data); break;
    default: ok = false;
    }
    if (!ok)
        lose(c, rank, "it answers what was not asked, or there is no memory for its answer");
    return VS_OK;
}

/* -- the others -- */

vs_status swp_ranks_check(swp *w)
{
    const rank_link *l = w->o->link;
    go mine = agreement(w), first;
    if (l->head.kind != RANK_GO || l->head.n != sizeof first) {
        diag_error(sim_diag(w->s), DIAG_NOWHERE, "rank 0 runs another version of vsim");
        return VS_EINPUT;
    }
    memcpy(&first, l->data, sizeof first);
    mine.file = first.file;
    w->sees = first.file && first.file == file_number(w);
    if (!memcmp(&first, &mine, sizeof first))
        return VS_OK;
    diag_error(sim_diag(w->s), DIAG_NOWHERE, "%s",
               strcmp(first.version, mine.version) || first.rec_size != mine.rec_size
                   ? "rank 0 runs another version of vsim"
                   : "the deck or the options here are not those of rank 0");
    return VS_EINPUT;
}

typedef struct server {
    swp *w;
    const rank_link *link;
    swp_worker *one; /* [n] */
    int n;
    int64_t *queue; /* vec */
} server;

static bool send_result(const server *s, const swp_rec *r, int spool)
{
    char *text = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&text, &n);
    if (!fp)
        return false;
    fwrite(r, sizeof *r, 1, fp);
    fwrite(r->value, sizeof *r->value, vec_len(s->w->meas), fp);
    fwrite(r->text, 1, r->n_text, fp);
    fwrite(r->msg, 1, r->n_msg, fp);
    fwrite(r->limit, 1, r->n_limit, fp);
    if (r->n_compare)
        fwrite(r->compare, 1, r->n_compare, fp);
    char *bytes = r->n_bytes ? swp_results_of(r, spool) : NULL;
    bool ok =
        !stream_close(fp) && (bytes || !r->n_bytes) && rank_send(s->link, 0, RANK_RESULT, text, n);
    for (int64_t i = 0; i < r->n_bytes && ok; i += RANK_PIECE)
        ok = rank_send(s->link, 0, RANK_DATA, bytes + i,
                       (size_t)(r->n_bytes - i < RANK_PIECE ? r->n_bytes - i : RANK_PIECE));
    vs_free(text);
    vs_free(bytes);
    return ok;
}

static vs_status lost(server *s, const char *what)
{
    snprintf(s->w->book.why, sizeof s->w->book.why, "%s: %s", what, strerror(errno));
    return VS_EIO;
}

/* Reads a worker's answer. Replaces it if it has ended: rank 0 decides who tries its point again.
 */
static vs_status take_answer(server *s, swp_worker *v)
{
    swp_rec r;
    const int64_t k = v->k;
    v->k = -1;
    if (!swp_receive(v->answer, &r, vec_len(s->w->meas))) {
        if (swp_stopped(s->w))
            return VS_STOP;
        const int64_t death[2] = {k, swp_dismiss(v, 0)};
        if (k >= 0 && !rank_send(s->link, 0, RANK_DIED, death, sizeof death))
            return lost(s, "rank 0 cannot be told");
        return swp_hire(s->w, s->one, s->n, v) ? VS_OK
                                               : lost(s, "no further worker could be started");
    }
    const bool ok = send_result(s, &r, v->spool);
    swp_rec_fini(&r);
    return ok ? VS_OK : lost(s, "results cannot be sent");
}

static vs_status take_points(server *s)
{
    rank_link *l = s->w->o->link;
    if (!rank_receive(l) || l->head.kind != RANK_POINT)
        return VS_STOP;
    for (size_t i = 0; i < (size_t)l->head.n / sizeof(int64_t); i++) {
        int64_t k;
        memcpy(&k, l->data + i * sizeof k, sizeof k);
        vec_push(s->queue, k);
    }
    return VS_OK;
}

static vs_status give_out(server *s, swp_worker *v)
{
    const int64_t k = s->queue[0], point = swp_mine(s->w, k);
    memmove(s->queue, s->queue + 1, (vec_len(s->queue) - 1) * sizeof *s->queue);
    (void)vec_pop(s->queue);
    v->k = k;
    return io_write(v->ask, &point, sizeof point) ? VS_OK : take_answer(s, v);
}

static vs_status serve(server *s)
{
    struct pollfd p[SWP_MOST_JOBS + 1];
    vs_status st = VS_OK;
    while (!st) {
        for (int i = 0; i < s->n && !st; i++)
            if (s->one[i].k < 0 && vec_len(s->queue))
                st = give_out(s, &s->one[i]);
        for (int i = 0; i < s->n; i++)
            p[i] = (struct pollfd){.fd = s->one[i].answer, .events = POLLIN};
        p[s->n] = (struct pollfd){.fd = s->link->fd, .events = POLLIN};
        const int ready = st ? 0 : poll(p, (nfds_t)s->n + 1, 1000);
        if (swp_stopped(s->w))
            return VS_STOP;
        for (int i = 0; i < s->n && ready > 0 && !st; i++)
            if (p[i].revents)
                st = take_answer(s, &s->one[i]);
        if (!st && ready > 0 && p[s->n].revents)
            st = take_points(s);
    }
    return st;
}

vs_status swp_serve(swp *w, int jobs)
{
    server s = {.w = w, .link = w->o->link, .n = jobs > SWP_MOST_JOBS ? SWP_MOST_JOBS : jobs};
    const hello h = {.workers = s.n, .sees = w->sees};
    const bool keeps = w->o->checkpoint && w->sees;
    vs_status st = VS_OK;
    arena mem;
    arena_init(&mem);
    swp_worker *one = s.one = swp_room(&mem, s.n);
    sim_drop_circuit(w->s); /* as in swp_workers */
    for (int i = 0; i < s.n && !st; i++) {
        w->tell_all = i == 0;
        if (!swp_hire(w, one, s.n, &one[i]))
            st = lost(&s, "no worker could be started");
    }
    w->tell_all = false;
    if (!st && keeps && !rank_send(s.link, s.link->rank, RANK_KEEPS, NULL, 0))
        st = lost(&s, "the process that MPI started is gone");
    if (!st)
        st = rank_send(s.link, 0, RANK_HELLO, &h, sizeof h) ? serve(&s) : VS_STOP;
    if (keeps)
        swp_let_keep(one, s.n);
    for (int i = 0; i < s.n; i++) {
        (void)swp_dismiss(&one[i], SIGKILL);
        swp_end_spool(w, i, one[i].spool, keeps && one[i].k >= 0);
    }
    swp_let_go(one);
    arena_fini(&mem);
    vec_free(s.queue);
    return st;
}
