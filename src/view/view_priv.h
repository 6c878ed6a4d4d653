/* view_priv.h - between the files of src/view:
 *     view.c         groups of plots, the list of signals
 *     view_file.c    files, values that are read when they are asked for
 *     view_pieces.c  expressions over large plots
 *     view_job.c     what is done of those that take several answers
 *     view_curve.c   curves, measures and spectra of expressions
 *     view_measure.c the figures of measures */
#ifndef VIEW_PRIV_H
#define VIEW_PRIV_H

#include <sys/stat.h>

#include "carry.h"
#include "idx.h"
#include "spectrum.h"
#include "view.h"

/* Plots of one file that are alike but for the values of a sweep. */
typedef struct view_group {
    size_t file;
    const char *what; /* "Transient Analysis", in the file's pool */
    size_t *member;   /* vec: places in the file's set */
} view_group;

/* What functions of whole curves in an expression have found (carry.h). */
typedef struct view_known {
    char *expr; /* NULL: nothing */
    size_t plot, n_site;
    int64_t all; /* points that the plot had */
    post_site
        *site; /* vec [pieces][n_site] in front of each piece, as far as these were computed */
} view_known;
enum { VIEW_KNOWN = 8 };

/* How far an expression over a large plot is. */
typedef struct view_progress {
    enum { VIEW_BEGIN, VIEW_PASS, VIEW_SHOW, VIEW_DONE } phase;
    int64_t at;  /* the next point of a pass over all, or of those that are shown */
    bool runs;   /* running functions: those in front of the window are computed too */
    bool passed; /* there were passes */
} view_progress;

typedef struct view_job {
    char *expr; /* NULL: nothing. With the next ones, the question. */
    size_t plot;
    int64_t all, columns;
    double x0, x1;
    view_progress at;
    post_site *site;    /* vec */
    double *x, *y, *im; /* vec: as in view_thin */
    const char *type;
    bool complex;
} view_job;
enum { VIEW_JOBS = 16 };

typedef struct view_file {
    const char *path; /* the caller's */
    bool live, open;  /* open: names and set exist */
    struct stat seen; /* state of the file when it was read */
    char why[CONV_WHY];
    conv_notes *notes; /* what of the file was not read; NULL: nothing */
    str_pool names;
    post_set set;
    idx *x; /* raw and CSV files: index whose plot k is plot k of the set; vectors of the set get
             * their values when a request needs them. NULL: all values are in memory */
    int64_t loaded; /* bytes of values that requests needed */
    view_known known[VIEW_KNOWN];
    int next_known; /* the one to be replaced */
    view_job job[VIEW_JOBS];
    int next_job;
} view_file;

struct view {
    const char *plugins;
    view_file *file;   /* vec */
    view_group *group; /* vec */
    int64_t generation;
};

/* -- view_file.c -- */
/* Reads the file as it is now. Status: as conv_read. */
VS_MUST_USE vs_status view_file_open(view_file *f, const char *plugins);
void view_file_close(view_file *f);
/* true: the file was replaced or has grown, and was read again. */
bool view_file_refresh(view_file *f, const char *plugins);
int64_t view_n_point(const view_file *f, size_t plot);
/* Load the values of a vector, or of all vectors that an expression over a plot names, and of the
 * axis. false: *why says what is wrong with the file. */
bool view_need(view_file *f, size_t plot, post_vec *v, const char **why);
bool view_need_all(view_file *f, size_t plot, const char *expr, const char **why);
/* Reads points [from, from + n) of the vectors at place [n_place] of a plot, and lets the vectors
 * have these alone until view_forget_plot. false: *why says what is wrong with the file. */
bool view_load_part(view_file *f, size_t plot, const size_t *place, size_t n_place, int64_t from,
                    int64_t n, const char **why);
/* Called before an answer: frees values that earlier answers needed, if they take much memory. */
void view_forget_values(view_file *f);
/* Frees the values of one plot. */
void view_forget_plot(view_file *f, size_t plot);

/* -- view_pieces.c -- */
/* The points of a curve that a picture shows. */
typedef struct view_thin {
    double *x, *y, *im; /* [n] in the arena of post_env */
    int64_t n, part;    /* points that are shown, of how many in the range */
    bool complex;       /* else im says nothing */
    bool single;        /* it is one number, without an axis */
    double done;        /* 0 to 1; below 1 there are some points of the curve at best */
    const char *type;
} view_thin;
/* Frees what earlier expressions found. */
void view_forget_known(view_file *f);
/* Lets vectors at n_place places of a plot have n values, all[n_place][n] (of a complex plot
 * [2 n_place][n]), until view_forget_plot. */
void view_set_part(view_file *f, size_t plot, const size_t *place, size_t n_place,
                   const double *all, int64_t n);
/* Points that an answer has without a picture's columns (view_question), of one member. */
enum { VIEW_WHOLE = 1 << 20 };
/* Whether n of them are not too many. false: a message was given. */
bool view_may_be_whole(diag *d, diag_span at, int64_t n);
/* Evaluates q->expr (a vector of that name, or an expression) over a plot of many points, of which
 * it has one piece in memory at a time. Where the expression has functions of the whole curve, it
 * first goes over all points, or, of running ones, over those in front of the window; what it found
 * is kept for the windows that follow. *thin: false if the expression needs all points at once;
 * nothing was computed then. Where q->soon says so and there is much to compute, the first answer
 * has one point of each column, if each value depends on the values of its point alone, else none;
 * each one that follows goes on for VIEW_SOON seconds or a piece, and the last one has the curve.
 * Returns false with a message, or with *why (the end of a sentence
 * about the file). */
bool view_pieces(view_file *f, size_t plot, post_env *e, const view_question *q, view_thin *to,
                 bool *thin, const char **why);

/* The same for the samples of a spectrum, from q->x0 to q->x1. *done: false if the expression needs
 * all points at once; *to is to be fed from its beginning on then.
 *   type  out  the expression's */
bool view_samples(view_file *f, size_t plot, post_env *e, const view_question *q, post_sampler *to,
                  const char **type, bool *done, const char **why);

#define VIEW_SOON 0.02

/* -- view_job.c -- */
/* What is done for this question; NULL: nothing. A new one, in place of the oldest. */
view_job *view_job_of(view_file *f, size_t plot, int64_t all, const view_question *q);
view_job *view_job_new(view_file *f, size_t plot, int64_t all, const view_question *q);
/* Keep the state of a question, and give it back. t has room for the points. */
void view_job_keep(view_job *j, const view_progress *at, const post_carry *c, const view_thin *t);
void view_job_take(const view_job *j, view_progress *at, post_carry *c, view_thin *t);
void view_job_end(view_job *j);
void view_forget_jobs(view_file *f);

/* -- view_measure.c -- */
typedef struct view_measures {
    double a, b;       /* values at both cursors */
    double min, max;   /* of the part between them */
    double mean, rms;  /* over x */
    double period;     /* mean distance of crossings of the middle between min and max */
    double duty;       /* %, above the middle, from the first rise to the last one */
    double rise, fall; /* from 10 to 90 % between min and max and back: the first one each */
} view_measures;
/* Of x[n], which rises, and y[n]; what is not there is NAN. b NAN: of the point a alone. */
view_measures view_measure_of(const double *x, const double *y, int64_t n, double a, double b);

/* -- view.c -- */
/* "r=1000" or "#2", which tells a member from the others; the text is in buf or the plot's. */
const char *view_member_name(const view *v, const view_group *g, size_t k, char buf[24]);

#endif
