/* inside.h - openly unstable: what the command needs besides vsim.h: the run of a deck as a whole,
 * reports (explain, analyze, profile, models, tune), dumps, processes. Names and meanings change
 * with the inside of the library, without notice; a program that includes this file is built
 * together with one version of it. */
#ifndef VSIM_INSIDE_H
#define VSIM_INSIDE_H

#include <stdio.h>

#include "vsim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Receives text, [n] bytes, not terminated. */
typedef void vsim_text_fn(void *user, const char *text, size_t n);

/* What a stage made, as text: "cards", "circuit", "pattern", "groups", "ir". Status: VSIM_OK;
 * VSIM_EINPUT: no such stage; those of building the circuit. */
VSIM_MUST_USE vsim_status vsim_inside_dump(vsim_deck *d, const char *stage, vsim_text_fn *text,
                                           void *user);

/* The version of ngspice that files, log and command line are like. */
#define VSIM_INSIDE_NGSPICE "ngspice-46"

/* -- streams of the command: opened and closed by the caller -- */
typedef struct vsim_inside_streams {
    FILE *log;       /* reports; never NULL */
    FILE *say;       /* errors and warnings with their source lines; NULL: nowhere */
    bool color;      /* say is a terminal */
    bool say_in_log; /* errors and warnings also go to log */
    bool quiet;      /* errors only, no reports */
    bool warnings;   /* and these */
    bool notes;      /* about caches, in log */
    bool ngspice;    /* names, log and messages in ngspice's form, for programs that read them */
    /* Called when the inputs were read. What goes to log before that must not replace a file yet,
     * since an input may be that very file; in that case `begin` is not called. Only the first call
     * counts. NULL: log is no file. */
    void (*begin)(void *user);
    void *user;
    const char *log_path; /* of log, so that nothing else is written there; NULL: no file */
} vsim_inside_streams;

/* -- a look into the model compiler -- */
typedef struct vsim_inside_debug {
    const char *dump_ir; /* a pass, whose functions are printed in the log before and after it; "":
                          * after the last pass; "all": after each; NULL: none */
    int check_kernels;   /* K > 0: each K-th call of a kernel is compared with the interpreter, and
                          * the log says at the end how far they were apart */
} vsim_inside_debug;
/* Names of passes in their order; NULL: there is no i-th. */
VSIM_API const char *vsim_inside_pass(size_t i);

/* -- the run of a deck: everything that its cards, blocks and sweeps ask for -- */
typedef enum vsim_inside_task {
    VSIM_TASK_RUN,
    VSIM_TASK_CHECK,   /* read and build it, no more */
    VSIM_TASK_EXPLAIN, /* and tell what became of its models */
    VSIM_TASK_DOCTOR,  /* and tell what makes it hard; finds its operating point */
    VSIM_TASK_ANALYZE, /* run it and tell what its matrix promises; the deck may be a matrix file */
    VSIM_TASK_PROFILE  /* run it and tell where time goes */
} vsim_inside_task;
typedef enum vsim_inside_format { VSIM_RAW, VSIM_ASCII, VSIM_CSV } vsim_inside_format;
typedef struct vsim_inside_ranks vsim_inside_ranks; /* processes of an MPI launcher, below */

/* Callbacks that a run calls for a report; each may be NULL. */
typedef struct vsim_inside_witness {
    void (*plot_card)(void *user, const char *analysis, const char *list); /* "": any analysis */
    void (*measure)(void *user, const char *name);
    void (*picture)(void *user, const char *path); /* a block has drawn it */
    /* A file that the deck includes, perhaps several times. */
    void (*file)(void *user, const char *name, const char *text, size_t n);
    /* A value that a device computed at the first operating point of .op; value NAN: it computes
     * none. */
    void (*device)(void *user, const char *device, const char *model, const char *name,
                   const char *unit, double value);
    void *user;
} vsim_inside_witness;

typedef struct vsim_inside_job {
    vsim_settings set; /* but not `message` and `line`: see streams */
    vsim_inside_streams streams;
    vsim_inside_task task;
    const char *deck;
    const char *version;       /* of the client, for .control blocks that ask */
    const char *const *define; /* [n_define] "name=value" */
    size_t n_define;
    const char *lu;   /* vsim_inside_is_lu; NULL: as the deck says */
    const char *dump; /* "cards", "circuit", "pattern", "groups", "ir": printed in log; or NULL */
    vsim_inside_debug debug;
    int64_t fail_at; /* tests: the allocation from which on there is no memory; 0: none */
    bool strict;     /* warnings are errors */
    /* What the author of the deck may do. permissive: all but what allow_shell lets. Else blocks
     * write below the folders of deck and results, the current one unless it is that of HOME or
     * above it, and `writable` [n_writable]; libraries and start-up files are loaded below `trust`
     * [n_trust] alone. */
    bool permissive, allow_native;
    bool sandbox; /* the process gives up all rights but these, for the rest of its life (Linux) */
    const char *const *writable, *const *trust;
    size_t n_writable, n_trust;
    bool json;                   /* explain, analyze, profile */
    bool allow_shell;            /* .control blocks may start programs */
    const char *const *variable; /* [n_variable] "name=text": set before a .control block runs */
    size_t n_variable;
    uint64_t seed; /* of statistical functions, where the deck gives none; 0: they are nominal */

    /* files to write; NULL: none */
    const char *raw; /* NULL: the deck's name with the format's ending; "-": standard output */
    vsim_inside_format format;
    bool server; /* results to standard output in the form of `ngspice -s` */
    bool no_output;
    bool fsync; /* results wait for the disk at each flush */
    const char *touchstone, *stats, *measures;
    const char *limit_log; /* what option warn tells, as ngspice's --soa-log; not of sweeps */
    /* The run writes transients of cards to a file beside the results, so that another run can go
     * on with them (docs/checkpoint.md): whenever `keep` returns true; with `checkpoint` also when
     * `stop` ends the run, and each `minutes` of them if that is not 0. */
    bool checkpoint;
    double minutes;
    bool verify;         /* a second look at transients: docs/numerics.md, "A second opinion" */
    const char *restart; /* such a file, with which this run begins; NULL: none */

    /* families of runs. jobs other than 1 fork worker processes, in this call. */
    int jobs;           /* 0: one for each processor */
    int shard, n_shard; /* points shard, shard + n_shard, ... alone; 0, 1: all */
    bool resume;
    bool redo;                /* tell what each point made anew */
    vsim_inside_ranks *ranks; /* NULL: alone */

    const char *order, *svg, *mtx, *at; /* analyze (docs/analyze.md); NULL: defaults, none */
    const char *trace, *steps;          /* profile (docs/profile.md); NULL: none */
    bool as_if;                         /* profile: threads are modelled */

    /* Callbacks of the client; each may be NULL. */
    const vsim_inside_witness *witness;
    bool pages;   /* `plot` of blocks draws pages of the viewer, .html, in place of .svg */
    bool no_date; /* tables that are printed tell no date */
    void (*begin)(void *user, const char *what); /* a longer analysis begins: "tran", "dc" */
    void (*progress)(void *user, const vsim_progress *p);
    void (*end)(void *user);
    bool (*stop)(void *user); /* true: end in order */
    /* Work of perhaps seconds begins that nothing can interrupt, or is done; the points that there
     * are were written before. NULL: nobody is told. From the thread of the call. */
    void (*long_work)(void *user, bool begins);
    bool (*keep)(void *user); /* true: a checkpoint is wanted now; asked between points */
    void *user;
} vsim_inside_job;
/* Does all of it, as `vsim DECK` does. Strings of the job stay the caller's and must live as long
 * as the call.
 *   quit  out  the exit code that a .control block gave to `quit`, else 0; VSIM_KERNELS_DIFFER if
 *              kernels were compared with the interpreter and were not within rounding of it;
 *              VSIM_NOT_VERIFIED if `verify` found something wrong
 * Status: VSIM_OK, VSIM_STOP; else of the first thing that failed, messages were written. */
enum { VSIM_KERNELS_DIFFER = 6, VSIM_NOT_VERIFIED = 9 };
VSIM_MUST_USE vsim_status vsim_inside_run(const vsim_inside_job *j, int *quit);

/* Runs the deck and writes one page about it: messages, operating point, measures, pictures that
 * the deck asks for, statistics of sweeps, the deck (docs/results.md). j->raw and j->measures are
 * files; j->streams.log hears nothing. */
typedef struct vsim_inside_page {
    const char *output;
    bool no_times;      /* no date, no times: the same results give the same bytes */
    bool keep_measures; /* the file of j->measures stays */
} vsim_inside_page;
/* Status: of the run; of a run that was well: VSIM_EIO if the page could not be written. */
VSIM_MUST_USE vsim_status vsim_inside_report(const vsim_inside_job *j, const vsim_inside_page *o);

/* -- without a deck -- */
/* The names of all models; of one its parameters; what the branches of each depend on. */
VSIM_MUST_USE vsim_status vsim_inside_models(const vsim_settings *set, const vsim_inside_streams *s,
                                             const char *name);
VSIM_MUST_USE vsim_status vsim_inside_branches(const vsim_settings *set,
                                               const vsim_inside_streams *s, bool json);
/* Compiles a Verilog-A file and tells of its modules; passes of variants are shown for an instance
 * whose parameters have their defaults, in the forms dc, tran and ac. */
VSIM_MUST_USE vsim_status vsim_inside_compile(const vsim_settings *set,
                                              const vsim_inside_streams *s, const char *path,
                                              bool strict, const vsim_inside_debug *debug);
/* The compiled models kept in folder `dir`; what: "list", "clear", "path". *why: a static sentence.
 */
VSIM_MUST_USE vsim_status vsim_inside_cache(const char *dir, const char *what, FILE *out,
                                            const char **why);
/* Measures from what size on threads and processes pay here (it starts some) and keeps that in
 * cache folder `dir` for later runs. why [size]: a sentence if it fails. */
VSIM_MUST_USE vsim_status vsim_inside_tune(const char *dir, FILE *out, char *why, size_t size);
/* Result files of all shards of a sweep to one. *worst: of the first point that failed. */
VSIM_MUST_USE vsim_status vsim_inside_merge(const char *out, const char *measures,
                                            const char *const *part, size_t n, FILE *log, FILE *say,
                                            vsim_status *worst, char why[300]);

/* -- result files (docs/results.md) -- */
typedef struct vsim_inside_picture {
    const char *const *word; /* [n_word] files, then expressions; without expressions the vectors of
                              * the files are listed in the log */
    size_t n_word;
    const char *output; /* .svg .png .pdf .html .txt; NULL: letters in the log */
    bool colour;        /* the log is a terminal */
    const char *pixels; /* "kitty", "sixel": the log is a terminal that shows pixels in this way; of
                         * width and height a letter is then 8 by 16. NULL: letters */
    bool or_letters;    /* where pixels cannot be drawn */
    const char *plot;   /* "ac", "2": which plots of the files; NULL: those like the first */
    const char *over, *title, *xlabel, *ylabel; /* NULL: the axis, from the results */
    double xlo, xhi, ylo, yhi;                  /* NAN: from the data */
    bool xlog, ylog, stack, dark;
    const char *kind, *style; /* "bode", "smith", "polar", NULL; "lines", "points", "both", "steps",
                               * "comb", NULL */
    int width, height;        /* 0: as it comes */
} vsim_inside_picture;
/* Messages go to the streams. Status: VSIM_OK, VSIM_EINPUT, VSIM_EIO, VSIM_EUNSUPPORTED. */
VSIM_MUST_USE vsim_status vsim_inside_draw(const vsim_settings *set, const vsim_inside_streams *s,
                                           const vsim_inside_picture *p);

typedef struct vsim_inside_conversion {
    const char *from, *to; /* the ending of `to` decides */
    bool ascii;            /* a raw file of text */
    const char *plot;      /* as in vsim_inside_picture */
    double low, high;      /* V, for VCD; NAN: the middle of all voltages */
    const double *z0;      /* [n_z0] ohm, for Touchstone; n_z0 0: 50 */
    size_t n_z0;
    const char *compress; /* Parquet: "zstd", "none"; NULL: none */
} vsim_inside_conversion;
/* As vsim_inside_draw. */
VSIM_MUST_USE vsim_status vsim_inside_convert(const vsim_settings *set,
                                              const vsim_inside_streams *s,
                                              const vsim_inside_conversion *c);

typedef struct vsim_inside_comparison {
    const char *a, *b;
    const char *plot;      /* as in vsim_inside_picture */
    const char *output;    /* a picture of the worst signal; NULL: none */
    bool common;           /* signals of one file alone do not count */
    double reltol, abstol; /* NAN: 0.005; by unit */
    double time_shift;     /* s */
    bool json;             /* the log tells the differences for programs */
} vsim_inside_comparison;
/* *differ: signals that do not agree, which the log tells. As vsim_inside_draw otherwise. */
VSIM_MUST_USE vsim_status vsim_inside_compare(const vsim_settings *set,
                                              const vsim_inside_streams *s,
                                              const vsim_inside_comparison *c, int64_t *differ);

/* The viewer (docs/view.md): a page for a browser of this machine, and its server, in this call. */
typedef struct vsim_inside_running {
    char what[16]; /* "tran"; "": nothing runs yet */
    bool ended;
    vsim_progress now;
    char unit[16];  /* now.unit */
    double seconds; /* since the analysis began */
} vsim_inside_running;
typedef struct vsim_inside_viewer {
    const char *const *file; /* [n_file] results; with `running` the first one grows, and need not
                              * be there yet */
    size_t n_file;
    const char *version; /* of the client */
    /* Called after each step of making the index of a large file; done: the part that exists. NULL:
     * not called. */
    void (*indexing)(void *user, const char *path, double done);
    /* The page's address, which whoever knows may read the files, once. */
    void (*opened)(void *user, const char *address);
    bool (*stop)(void *user); /* true: end; asked some ten times a second */
    /* Of the run that writes the first file; NULL: there is none. end_run: the page's button. */
    void (*running)(void *user, vsim_inside_running *r);
    void (*end_run)(void *user);
    void *user;
} vsim_inside_viewer;
/* Returns when the page was closed, or by `stop`. As vsim_inside_draw. */
VSIM_MUST_USE vsim_status vsim_inside_view(const vsim_settings *set, const vsim_inside_streams *s,
                                           const vsim_inside_viewer *v);

/* The index of the results at `path` (PATH.idx), while another process writes them: returns when
 * `ended` does and all is indexed. Status: VSIM_OK; VSIM_EIO, VSIM_EINPUT with a message. */
VSIM_MUST_USE vsim_status vsim_inside_index(const vsim_settings *set, const vsim_inside_streams *s,
                                            const char *path, bool (*ended)(void *user),
                                            void *user);

/* -- processes of an MPI launcher (docs/sweeps.md). Joining forks: call it before there are threads
 * -- */
/* Did a launcher start this process? `variable` looks names of the environment up. */
VSIM_API bool vsim_inside_launched(const char *(*variable)(void *user, const char *name),
                                   void *user, int *rank, int *size);
/* rank, size: of vsim_inside_launched, -1: MPI shall tell. plugins: folder of libvsim-mpi.so, NULL:
 * that of the installation. silence: seconds after which a rank counts as lost, 0: 30. */
VSIM_MUST_USE vsim_status vsim_inside_join(vsim_inside_ranks **r, int rank, int size,
                                           const char *plugins, double silence, char why[300]);
VSIM_API int vsim_inside_rank(const vsim_inside_ranks *r);
VSIM_API void vsim_inside_leave(vsim_inside_ranks **r);

/* -- words -- */
VSIM_API bool vsim_inside_is_matrix(const char *path); /* a file in Matrix Market format */
VSIM_API bool vsim_inside_is_lu(const char *name);     /* "auto", "klu", ... */
/* The candidate that a misspelt word may stand for; NULL: none is near. */
VSIM_API const char *vsim_inside_nearest(const char *word, const char *const *candidate, size_t n);
/* "1.53 k", "26.0 M": three digits with an SI prefix, into buf[16]. */
VSIM_API const char *vsim_inside_si(char buf[16], double x, const char *unit);
VSIM_API double vsim_inside_seconds(void); /* of a clock that only goes forward */

#ifdef __cplusplus
}
#endif
#endif
