/* cli.h - the vsim command, a client of the library: it includes vsim/ headers and the system's,
 * nothing else of this tree. It has the options, the environment, signals, the progress line and
 * exit codes, which are part of its interface (vsim.1). */
#ifndef CLI_H
#define CLI_H

#include <stdio.h>

#include "vsim/inside.h"

typedef enum cli_exit {
    CLI_OK = 0,
    CLI_INPUT = 1,      /* error in the deck or a model file */
    CLI_USAGE = 2,      /* wrong command line */
    CLI_NUMERIC = 3,    /* no convergence, time step too small, singular matrix */
    CLI_IO = 4,         /* a file could not be read or written */
    CLI_MEMORY = 7,     /* out of memory (5, 6: `quit` codes of the run) */
    CLI_DIFFER = 8,     /* compare: they do not agree */
    CLI_DIED = 10,      /* a process that computed a part died (9: VSIM_NOT_VERIFIED) */
    CLI_INTERRUPT = 130 /* Ctrl-C; results so far are kept */
} cli_exit;

typedef enum cli_command {
    CMD_RUN,
    CMD_CHECK,
    CMD_EXPLAIN,
    CMD_DOCTOR,
    CMD_ANALYZE,
    CMD_PROFILE,
    CMD_MODELS,
    CMD_COMPILE,
    CMD_CACHE,
    CMD_MERGE,
    CMD_PLOT,
    CMD_CONVERT,
    CMD_COMPARE,
    CMD_REPORT,
    CMD_VIEW,
    CMD_TUNE,
    CMD_HELP,
    CMD_VERSION
} cli_command;

/* Lists have room for every word of the command line. */
typedef struct cli_opt {
    cli_command command;
    const char **arg; /* [n_arg] files, model names */
    size_t n_arg;
    const char *raw; /* -r; NULL: deck name with the format's ending */
    const char *log; /* -o */
    vsim_inside_format format;
    bool no_output;         /* --no-output: nothing is written */
    const char *stats;      /* --stats */
    bool fsync;             /* --fsync */
    bool verify;            /* --verify */
    bool checkpoint;        /* --checkpoint, */
    double minutes;         /* and each so many; 0: on signals alone */
    const char *restart;    /* --restart */
    const char *touchstone; /* --touchstone */
    const char *dump;       /* --dump=... or NULL */
    vsim_inside_debug debug;
    const char **include; /* [n_include] -I */
    size_t n_include;
    const char **define; /* [n_define] -D name=value: .param from outside */
    size_t n_define;
    const char **macro; /* [n_macro] --define NAME[=TEXT], and -D of compile: of Verilog-A */
    size_t n_macro;
    const char *cache_dir;              /* --cache-dir, or the user's; NULL: there is none */
    const char *order, *svg, *mtx, *at; /* analyze */
    const char *trace, *steps;          /* profile */
    bool as_if;                         /* profile --as-if */
    const char *measures;               /* --measures: the table of .meas results */
    const char *soa_log;                /* --soa-log: what .option warn tells */
    uint64_t seed;                      /* --seed; 0: statistical functions are nominal */
    const char **variable;              /* [n_variable] -D of ngspice's variables, "name=text" */
    size_t n_variable;
    bool typed, pipe; /* -i, -p: commands one at a time */
    bool autorun;     /* -a: with these the deck's analyses run first */
    bool server;      /* -s: the deck from standard input, results to standard output */
    bool ngspice;     /* called as ngspice, or --ngspice: its options, names and log */
    bool no_init;
    bool allow_shell;      /* .control may start programs */
    bool allow_native;     /* decks load .osdi files and start-up files */
    bool sandbox;          /* --sandbox: the kernel holds the process to that */
    const char **writable; /* [n_writable] --allow-write */
    size_t n_writable;
    char *trust_text;   /* the user's list of trusted folders, as lines that became strings */
    const char **trust; /* [n_trust] in it */
    size_t n_trust;
    int jobs;           /* workers of a sweep; 0: one for each processor */
    int shard, n_shard; /* from 0 */
    bool resume, redo;
    int mpi;                  /* 1, -1: --mpi, --no-mpi; 0: as the environment says */
    vsim_inside_ranks *ranks; /* of several, one; NULL: alone */
    int threads;              /* 0: automatic, or as the deck says */
    const char *lu;           /* NULL: as the deck says */
    int verbose;
    vsim_inside_picture picture; /* plot, but for its words */
    const char *graphics;        /* plot: "auto", "kitty", "sixel", "braille"; NULL: auto */
    const char *picture_only;    /* an option that only plot takes, as it was written; NULL */
    double low, high;            /* --threshold, V; NAN */
    double *z0;                  /* [n_z0] --reference, ohm */
    size_t n_z0;
    const char *compress;              /* --compress: "zstd", "none"; NULL */
    double reltol, abstol, time_shift; /* compare; NAN: not given */
    bool no_times;                     /* report */
    bool common;                       /* --common */
    bool view, no_open;                /* --view, --no-open */
    bool index;                        /* --index */
    /* of the environment: cli_env.c */
    const char *models, *plugins, *cpu;
    size_t memory;    /* bytes that the machine has for us; 0: not known */
    char *user_cache; /* behind cache_dir, or NULL */
    int lanes;
    double parallel_min, rank_silence;
    bool quiet, batch, strict, interpret, no_specialize, no_cache, branches, json;
} cli_opt;

/* Reads the command line. false: a message was printed, exit with CLI_USAGE. */
bool cli_opt_parse(cli_opt *o, int argc, char **argv);
/* cli_env_read sets the rest of *o from the environment. cli_variable: the value of $NAME in names
 * of files, NULL: none. */
void cli_env_read(cli_opt *o);
const char *cli_variable(void *user, const char *name);
/* Writes the help of a command; NULL: the overview. */
void cli_help(const char *topic, FILE *out);

/* -- commands: each runs the command of its name with the options and files of o, gives its
 * messages and returns the exit code (CLI_...) -- */
int cli_run(const cli_opt *o); /* run, check, explain, analyze, profile of a deck */
int cli_run_report(const cli_opt *o);
int cli_talk(const cli_opt *o); /* -i, -p: commands one at a time */
int cli_models(const cli_opt *o);
int cli_compile(const cli_opt *o);
int cli_cache(const cli_opt *o);
int cli_tune(const cli_opt *o);
int cli_merge(const cli_opt *o);
int cli_plot(const cli_opt *o);
int cli_convert(const cli_opt *o);
int cli_compare(const cli_opt *o);
int cli_view(const cli_opt *o);
/* May a browser be opened: is there a display, and no option against it? */
bool cli_opens(const cli_opt *o);
/* Starts the user's browser (xdg-open) with a file or address, and does not wait for it. */
void cli_open(const char *file);
/* Sets o->ranks if an MPI launcher started this process to run a deck. false: a message was
 * printed; exit with *code. */
bool cli_join(cli_opt *o, int *code);

/* -- what they share (cli_common.c) -- */
int cli_exit_code(vsim_status st); /* VSIM_STOP: 0 */
vsim_settings cli_settings(const cli_opt *o);
/* The -o file. */
typedef struct cli_report {
    const char *path;
    bool waits, begun; /* waits: not before inputs are read; begun: they are, it may be written */
    int fd;            /* -1: not yet */
    char *text;        /* [n] until then */
    size_t n;
    int why; /* errno, 0 */
} cli_report;
/* The streams of a command; must not move between opening and closing. */
typedef struct cli_out {
    vsim_inside_streams streams; /* log: stdout, stderr or the -o file */
    cli_report report;
} cli_out;
/* Open the streams, and close them. false: a message was printed; of cli_out_close: the report
 * could not be written. */
bool cli_out_open(cli_out *out, const cli_opt *o);
bool cli_out_close(cli_out *out);

/* Calls `work`, in a process of its own if one of the first n_read words, the inputs, is an HDF5
 * file (cli_result.c). Returns its exit code. */
int cli_guarded(const cli_opt *o, size_t n_read, int (*work)(const cli_opt *o));
/* "1n,2.5u": two numbers as in decks (cli_result.c). */
bool cli_numbers(const char *text, double *a, double *b);
/* "50,75": any number of numbers, as in decks. The caller frees *x. */
bool cli_list(const char *text, double **x, size_t *n);

/* -- the index of results beside a run (cli_index.c): NULL, which the other takes, if none is
 * wanted -- */
typedef struct cli_index cli_index;
cli_index *cli_index_begin(const cli_opt *o);
/* To call when the run is over: waits until the index is whole. false: it could not be made, a
 * message was printed. */
bool cli_index_end(cli_index *x);
/* Where a run writes its results (cli_view.c). false: the name is too long. */
bool cli_results_of(const cli_opt *o, char path[4096]);

/* -- the viewer beside a run (cli_view.c): NULL, which all take, if there is none -- */
typedef struct cli_watch cli_watch;
/* Starts it if it is asked for. */
cli_watch *cli_watch_begin(const cli_opt *o);
void cli_watch_new(cli_watch *w, const char *what); /* an analysis begins */
void cli_watch_tell(cli_watch *w, const vsim_progress *p);
bool cli_watch_stopped(const cli_watch *w); /* by the page's button */
/* To call when the run is over: waits until the user closes the viewer. */
void cli_watch_end(cli_watch *w);

/* -- progress on a terminal (cli_progress.c) -- */
typedef struct cli_progress {
    bool quiet, on;
    double t0, last;
    const char *what;
    cli_watch *watch;
} cli_progress;
void cli_progress_begin(cli_progress *p, const char *what);
void cli_progress_show(cli_progress *p, const vsim_progress *now);
void cli_progress_end(cli_progress *p);

#endif
