/* swp_priv.h - between the files of a sweep:
 *     swp.c        points: values, what they change, the run of one
 *     swp_jobs.c   which process computes which point: this one, workers, other ranks
 *     swp_keep.c   checkpoints of unfinished points
 *     swp_ranks.c  ranks of MPI: rank 0 gives points out, the others compute them
 *     swp_book.c   results in order: files, table, journal
 *     swp_again.c  points that a finished run lost, computed again
 *     swp_stat.c   statistics of samples
 *     swp_merge.c  results of all shards as one file */
#ifndef SWP_PRIV_H
#define SWP_PRIV_H

#include <sys/types.h>

#include "fam.h"
#include "swp.h"
#include "vec.h"

/* The outcome of a point. */
typedef struct swp_rec {
    int64_t point;
    int32_t status;
    uint32_t n_text, n_msg, n_limit, n_compare;
    int64_t n_bytes;     /* of results */
    bool went_on;        /* from a checkpoint, which nobody has said yet */
    double seconds;      /* that it took */
    char why[160];       /* what the engine made anew for it (redo) */
    sim_figures own;     /* of the point alone */
    sim_figures figures; /* of all that its process did since it sent the record before */
    double *value;       /* [n_meas], NaN: failed */
    char *text, *msg;    /* what cards print; messages */
    char *limit;         /* lines of the log of limits */
    char *compare;       /* [n_compare] of --check-kernels (mdl_compare_take), from workers */
} swp_rec;
void swp_rec_fini(swp_rec *r);

typedef struct swp_sample {
    int64_t number;
    bool failed;
} swp_sample;

/* A journal, line by line: swp_journal_open. */
typedef struct swp_journal {
    FILE *fp;
    int64_t total, mc;
    int shard, n_shard, format;
    uint64_t id;
    const char **step, **meas;
    double *min, *max;
    off_t start, mstart; /* where the present point begins in the result file and in the table */
    off_t end, mend;     /* where it ends */
    uint64_t sum, msum;  /* checksums of the bytes between */
    uint64_t chain;      /* checksum of the lines so far */
    int64_t n_point;
    char *label;
    const char *header; /* CSV header that was written last */
    const char *elided; /* earlier header that the present point shares, NULL: it has its own */
    off_t good;         /* bytes of the journal up to the last whole line */
    const char *before; /* header, good and chain of the point before */
    off_t good_before;
    uint64_t chain_before;
    swp_rec rec;
    char *line;
    size_t cap;
} swp_journal;
/* Opens a journal and reads its head. false: the file is none. */

/* What a finished run wrote of which points are computed again (swp_again.c). */
typedef struct swp_old {
    bool there;
    swp_journal j;  /* is read along with the points that are copied */
    int fd;         /* of its results, -1: none */
    int64_t n;      /* turns that it has, whole, */
    int64_t *again; /* vec: and those of them that are to be computed again, ascending */
    FILE *limits;   /* its log of limits, NULL: none */
    char *line;     /* of that, the present one: */
    size_t cap;
    ssize_t n_line; /* 0: to be read */
    int64_t of;     /* the point that it is about */
} swp_old;

/* Results in order. */
typedef struct swp_book {
    /* set by the owner */
    const char *path, *measures, *limits; /* NULL: none */
    bool csv, quiet, table, redo, fsync;
    int format;
    int64_t total, n_mine, mc; /* points of the family, of this shard; samples (0: no .mc) */
    int shard, n_shard;
    uint64_t id;               /* of deck and options */
    const char **step, **meas; /* vecs: names of columns */
    double *min, *max;         /* vecs [n_meas] limits */
    FILE *log, *say;           /* say NULL: messages go nowhere */

    int fd, mfd, lfd, jfd;
    off_t end, mend, lend;
    uint64_t sum, msum, chain;  /* checksums: of the present point's bytes in the result file and in
                                   the table, of the journal's lines */
    const char *journal;        /* file; NULL: none */
    char *header, *last_header; /* vecs: of CSV */
    int csv_state;
    bool any_header, elided; /* of the present point: it had a header; its first header equals the
                                last one and was left out */
    int64_t n_done, n_failed;
    int64_t n_beyond; /* points in the log of limits */
    vs_status worst;
    double *sample; /* [mc][n_meas] of the present combination of steps */
    swp_sample *who;
    int64_t n_sample;
    swp_old old;
    int64_t n_again; /* points whose results are written that another run may compute */
    map told; /* kinds of messages (diag_kind) that were told; texts that were before the sweep */
    arena mem;
    char why[300];
} swp_book;

/* For a book whose owner has set what it sets: no file is open yet. From here on swp_book_close is
 * due, whatever comes of swp_book_open. */
void swp_book_init(swp_book *b);
/* Opens the files.
 *   resume  go on behind the last point that the journal has
 *   next    out  how many points are done
 * Status: VS_OK; VS_EIO, VS_EINPUT with b->why. */
VS_MUST_USE vs_status swp_book_open(swp_book *b, bool resume, int64_t *next);
/* Writes the next point in order.
 *   label    its values as CSV
 *   src, at  file and offset of its results
 *   header   header of its results that the file does not repeat, NULL: it has all of them */
VS_MUST_USE vs_status swp_book_add(swp_book *b, const swp_rec *r, const char *label, int src,
                                   off_t at, const char *header);
/* Writes the next point in order from a journal that has just been read, and its results.
 *   fd         of the results, -1: none
 *   limit [n]  its lines of the log of limits
 *   news       whether a failed point is told */
VS_MUST_USE vs_status swp_book_copy(swp_book *b, const swp_journal *j, int fd, const char *limit,
                                    size_t n, bool news);
/* Closes the files that are open and frees what the book holds; b->why stays. finished: all points
 * were added; then the journal is removed, unless this run is a shard. */
vs_status swp_book_close(swp_book *b, bool finished);
#define SWP_POINT_LINE "Point " /* begins a point's lines in the log of limits */
/* "r=1000 temp=27" */
char *swp_label(const swp_book *b, const char *csv); /* for vs_free */

/* -- journals -- */
bool swp_is_journal(const char *path); /* or the beginning of one, or empty, or not there */
bool swp_journal_open(swp_journal *j, const char *path, arena *mem);
bool swp_journal_next(swp_journal *j, arena *mem); /* false: no further whole line */
void swp_journal_close(swp_journal *j);
/* Whether it is of the book's sweep. */
bool swp_is_journal_of(const swp_journal *j, const swp_book *b);
/* Whether bytes [from, to) of a file have this checksum. true for what is no regular file, such as
 * a pipe. */
bool swp_sum_is(int fd, off_t from, off_t to, uint64_t sum);

/* -- swp_again.c -- */
/* Whether --resume computes a point of this status again: for what the machine did, not the
 * circuit. */
bool swp_is_again(int status);
/* Before the files are opened: takes up what an interrupted run had put aside; removes it, if the
 * sweep begins anew. Status: VS_OK; VS_EIO with b->why: a file of somebody else has such a name. */
VS_MUST_USE vs_status swp_again_find(swp_book *b, bool resume);
/* Whether this journal, if it is of the book's sweep, has points to be computed again. */
bool swp_again_wanted(const swp_book *b, const char *path);
/* Puts results, journal and log of limits aside. Status: VS_OK; VS_EIO with b->why. */
VS_MUST_USE vs_status swp_again_begin(swp_book *b);
/* Reads what was put aside. Status: VS_OK; VS_EIO with b->why. */
VS_MUST_USE vs_status swp_again_open(swp_book *b);
/* Whether the results of turn k are there. */
bool swp_again_has(const swp_book *b, int64_t k);
/* How many turns from the k-th on are to be computed. */
int64_t swp_again_left(const swp_book *b, int64_t k);
/* Writes those of turn k, whose turn it is, which has them. Status: VS_OK; VS_EIO with b->why. */
VS_MUST_USE vs_status swp_again_copy(swp_book *b, int64_t k);
void swp_again_close(swp_book *b, bool finished);

/* swp_stat.c: the statistics of the samples of one combination of steps. */
void swp_statistics(const swp_book *b, const char *label, FILE *log);

/* The sweep of a deck. */
typedef struct swp {
    sim *s;
    const swp_opt *o;
    fam fam;          /* its points */
    sim_figures told; /* figures of this process that its records have reported */
    bool tell_all;    /* of a rank: its next worker also reports what the rank itself did */
    sim_hook client;
    const char *touchstone; /* of the client */
    arena mem;
    const char **meas, **meas_of; /* vecs: names, and words of their analyses */
    swp_book book;
    out_stamp stamp;
    bool stopped;
    bool sees;      /* of a rank other than 0: the result file of rank 0 is there under its name */
    int spool;      /* file for the results of the present point */
    int station;    /* number of this worker in its name (swp_spool_name) */
    double kept_at; /* s of vs_coarse_seconds: the last checkpoint, or the begin */
} swp;

/* What a point writes, to memory. */
typedef struct swp_text {
    FILE *to;
    char **said;   /* the bytes, valid after fflush */
    size_t n;      /* their number */
    char *earlier; /* NULL, or what there was before the checkpoint; for vs_free */
} swp_text;

/* The point that this process computes at present. */
typedef struct swp_now {
    swp *w;
    int64_t point;
    swp_text text;   /* what its cards print */
    swp_text limits; /* its lines of the log of limits */
    ctl *c;
    sim_figures before; /* of this process, when the point began */
    sim_stat then;      /* of the process that wrote the checkpoint, when it began with the point */
} swp_now;

/* Computes a point; its results are in w->spool. */
void swp_point(swp *w, int64_t point, swp_rec *r);
bool swp_stopped(swp *w);
static inline int64_t swp_mine(const swp *w, int64_t k) { return w->o->shard + k * w->o->n_shard; }
static inline int64_t swp_turn(const swp *w, int64_t point)
{
    return (point - w->o->shard) / w->o->n_shard;
}
/* Opens a file for the results of points: that of worker i is RESULTS.point-i, of rank R
 * RESULTS.point-R.i where checkpoints are wanted; i < 0: a file without a name. Returns its
 * descriptor, -1: errno. swp_end_spool closes it and, unless `keep`, removes it. */
int swp_spool(const swp *w, int i);
void swp_end_spool(swp *w, int i, int fd, bool keep);

bool swp_is_far(const swp *w); /* this process is of a rank other than 0 */
/* The results of this sweep are a file, and other files may stand beside it. */
bool swp_has_name(const swp *w);
char *swp_spool_name(const swp *w, int i); /* for vs_free */

/* -- swp_keep.c -- */
/* Sets what makes the point's transient write checkpoints, if they are wanted; the hook's user is a
 * swp_now. */
void swp_keep_hook(const swp *w, sim_hook *h);
/* For rank 0, before any point is computed. With resume, it names the checkpoints that a stopped
 * run left after their points, and removes those of points that have results; without, it removes
 * all.
 *   next  turn of the first point without results
 * Status: VS_OK; VS_EIO with w->book.why: a rank of that run still computes. */
VS_MUST_USE vs_status swp_keep_find(swp *w, int64_t next);
/* For rank 0 when all points are written: removes what lost ranks left. */
void swp_keep_over(const swp *w);
/* Reads the checkpoint of the point, if there is one, and copies its results to the spool. *bytes,
 * for vec_free, must live as long as the image. */
bool swp_keep_read(swp_now *now, image *im, uint8_t **bytes);
/* With the spool open and now->c new: makes the next transient go on from the image. Status: VS_OK;
 * VS_EINPUT: im->wrong. */
VS_MUST_USE vs_status swp_keep_give(swp_now *now, image *im);
/* Removes the checkpoint of a point whose results are written, or that is not to go on. */
void swp_keep_done(const swp *w, int64_t point);
/* Removes the checkpoint of the point that worker i computed last. */
void swp_keep_drop(const swp *w, int i);

/* -- swp_jobs.c -- */

/* A process that computes points. */
typedef struct swp_worker {
    pid_t pid;       /* 0: none */
    int ask, answer; /* this process' ends of the two pipes */
    int spool;
    int64_t k; /* turn of the point that it computes, -1: none */
} swp_worker;

/* A record that came before its turn, with a copy of the point's results. */
typedef struct swp_early {
    bool there;
    swp_rec r;
    char *bytes;
} swp_early;

/* The process that gives points out and writes their results. */
typedef struct swp_crew {
    swp *w;
    swp_worker *one; /* [n] */
    int n;
    int most;                /* most workers; the crew starts with few and adds what pays */
    double t0, start;        /* s: when it began, what a worker's start costs */
    double spent;            /* s that the points took whose results are written */
    int64_t n_spent;         /* number of these points */
    struct swp_ranks *ranks; /* NULL: none */
    int64_t window;          /* most points that are being computed or wait for their turn */
    int64_t next;            /* turn of the point to give out next */
    int64_t due;             /* turn of the point to write next */
    int64_t *again;          /* vec: points that a worker took with it when it died */
    int *tries;              /* [window] of turn k at k % window: workers that died of the point */
    swp_early *wait;         /* [window] of turn k at k % window */
    int copy;                /* file for the results of a record that waited */
    double seconds;          /* of a point, sliding mean */
} swp_crew;

enum { SWP_MOST_JOBS = 256 };
/* Compute the points of this shard from the k-th on: swp_alone in this process, swp_workers by
 * `jobs` workers and, if there are any, other ranks. Status: as swp_run. */
VS_MUST_USE vs_status swp_alone(swp *w, int64_t k);
VS_MUST_USE vs_status swp_workers(swp *w, int64_t k, int jobs);
/* Forks worker v, one of all[n], the workers of this process. false: errno says why it cannot. */
bool swp_hire(swp *w, swp_worker *all, int n, swp_worker *v);
/* Ends a worker and returns its status as of waitpid.  sig  signal to send; 0: close its pipe, upon
 * which it ends by itself */
int swp_dismiss(swp_worker *v, int sig);
/* From now on a second SIGTERM or SIGINT does not end this process at once: launchers and batch
 * systems send them to every process of a job, and those that started this one hand them on. */
void swp_stay(void);
/* Passes a stop on to those of n workers that compute, which write checkpoints of their points, and
 * waits for their end. */
void swp_let_keep(const swp_worker *all, int n);
/* Room for n workers in `mem`, none there yet. They are killed when the heap is freed before
 * swp_let_go: each holds the run's files, and their locks. */
swp_worker *swp_room(arena *mem, int n);
void swp_let_go(swp_worker *all);
/* Reads one record; swp_rec_fini by the caller. false: the worker has ended. */
bool swp_receive(int fd, swp_rec *r, size_t n_meas);
/* All results of a record in the spool, [r->n_bytes], for vs_free. NULL: they cannot be read. */
char *swp_results_of(const swp_rec *r, int spool);
/* Turn of the point to give out next; -1: none now. */
int64_t swp_next(swp_crew *c);
/* To call when the record of turn k has come, with its results; takes over *r and bytes. */
void swp_came(swp_crew *c, int64_t k, const swp_rec *r, char *bytes);
/* To call when the worker that computed turn k has died.  how  its status as of waitpid */
void swp_died(swp_crew *c, int64_t k, int how);

/* -- swp_ranks.c -- */
typedef struct swp_ranks swp_ranks;
/* For rank 0, whose w->o->link leads to the others: sends them RANK_GO. swp_ranks_free by the
 * caller. */
swp_ranks *swp_ranks_new(swp *w);
void swp_ranks_free(swp_ranks *p);
/* Sends points to the ranks that have fewer than they can use. */
VS_MUST_USE vs_status swp_ranks_give(swp_crew *c);
/* Reads the frames that have arrived from ranks and handles them. */
VS_MUST_USE vs_status swp_ranks_take(swp_crew *c);
/* Called by ranks other than 0: checks that this sweep is that of rank 0, and sets w->sees. Status:
 * VS_OK; VS_EINPUT with a message. */
VS_MUST_USE vs_status swp_ranks_check(swp *w);
/* Computes for rank 0 until this process is stopped. Status: VS_STOP, or an error in w->book.why.
 */
VS_MUST_USE vs_status swp_serve(swp *w, int jobs);

#endif
