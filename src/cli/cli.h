/* cli.h - the vsim command. Exit codes are part of the interface (vsim.1). */
#ifndef CLI_H
#define CLI_H

#include <stdio.h>

#include "ckt.h"
#include "diag.h"
#include "mdl.h"
#include "out.h"

typedef enum cli_exit {
    CLI_OK = 0,
    CLI_INPUT = 1,      /* error in the deck or a model file */
    CLI_USAGE = 2,      /* wrong command line */
    CLI_NUMERIC = 3,    /* no convergence, time step too small, singular matrix */
    CLI_IO = 4,         /* a file could not be read or written */
    CLI_FATAL = 5,      /* a model stopped the run with $fatal or $error */
    CLI_INTERRUPT = 130 /* Ctrl-C; results so far are kept */
} cli_exit;

typedef enum cli_command {
    CMD_RUN,
    CMD_CHECK,
    CMD_EXPLAIN,
    CMD_ANALYZE,
    CMD_PROFILE,
    CMD_MODELS,
    CMD_COMPILE,
    CMD_CACHE,
    CMD_MERGE,
    CMD_TUNE,
    CMD_HELP,
    CMD_VERSION
} cli_command;

typedef struct cli_opt {
    cli_command command;
    const char **arg; /* vec: files, model names */
    const char *raw;  /* -r; NULL: deck name with the format's ending */
    const char *log;  /* -o */
    out_format format;
    bool no_output;         /* --no-output: nothing is written */
    const char *stats;      /* --stats */
    const char *touchstone; /* --touchstone */
    const char *dump;       /* --dump=... or NULL */
    const char **include;   /* vec: -I */
    const char **define;    /* vec: -D name=value: .param from outside */
    const char *cache_dir;
    const char *order, *svg, *mtx, *at; /* analyze */
    const char *trace;                  /* profile */
    const char *measures;               /* --measures: the table of .meas results */
    bool no_init;
    bool allow_shell;   /* .control may start programs */
    int jobs;           /* workers of a sweep; 0: one for each processor */
    int shard, n_shard; /* from 0 */
    bool resume, redo;
    int mpi;                /* 1, -1: --mpi, --no-mpi; 0: as the environment says */
    struct rank_link *link; /* one rank of several, NULL: alone */
    int threads;            /* 0: automatic, or as the deck says */
    int lu;                 /* lu_kind + 1; 0: as the deck says */
    int verbose;
    /* of the environment: cli_env.c */
    const char *models, *plugins, *cpu;
    char *user_cache; /* behind cache_dir, or NULL */
    int lanes;
    double parallel_min, rank_silence;
    bool quiet, batch, strict, interpret, no_specialize, no_cache, branches, json;
} cli_opt;

int cli_exit_code(vs_status st); /* VS_STOP: 0 */
/* Reads the command line. false: a message was printed, exit with CLI_USAGE. */
bool cli_opt_parse(cli_opt *o, int argc, char **argv);
/* The rest of *o from the environment. The other: what $NAME in names of files stands for. */
void cli_env_read(cli_opt *o);
const char *cli_variable(void *user, const char *name);
void cli_help(const char *topic, FILE *out);

struct sim;
int cli_run(const cli_opt *o);     /* run, check, explain, profile, analyze of a deck */
int cli_analyze(const cli_opt *o); /* of a deck or a matrix */
int cli_models(const cli_opt *o);
int cli_compile(const cli_opt *o);
int cli_cache(const cli_opt *o);
int cli_tune(const cli_opt *o);
/* What `vsim tune` found on this machine: operations from which on threads evaluate; seconds to
 * start a worker. 0: nothing. -v: told in log. */
double cli_tuned(const cli_opt *o, FILE *log, double *worker);
int cli_merge(const cli_opt *o); /* parts of a sweep (cli_sweep.c) */
/* Sets o->link if an MPI launcher started this process to run a deck; l is kept. false: it has
 * nothing to do, or a message was printed; exit with *code. */
bool cli_join(cli_opt *o, struct rank_link *l, int *code);
/* Of a rank other than 0: waits until rank 0 has built the deck. false: there is no sweep. The
 * other: for a jit_opt. */
bool cli_go(struct rank_link *l);
void cli_wait_for_go(void *link);
/* The sweep of a deck that was read and built. */
VS_MUST_USE vs_status cli_sweep(const cli_opt *o, struct sim *s, const char *out,
                                double worker_start, FILE *log);
/* What became of the model of each group of devices (cli_explain.c). */
void cli_explain(const struct sim *s, bool json, FILE *out);
/* Names of the deck's model cards that the instances of a group have, each once, in their order; a
 * vec. */
const char **cli_group_models(const struct sim *s, const ckt_group_facts *g);

/* `analyze` around the run of a deck (cli_analyze.c); NULL: a message in the diag of s, or no
 * memory. After the report the circuit is no longer needed. */
struct sim;
typedef struct cli_survey cli_survey;
cli_survey *cli_survey_begin(const cli_opt *o, struct sim *s);
bool cli_survey_done(const cli_survey *v); /* what --at asks for is there: the run may end */
VS_MUST_USE vs_status cli_survey_report(cli_survey *v, FILE *out);
void cli_survey_free(cli_survey *v);
/* `profile` around it (cli_profile.c); NULL: a message was printed, or no memory. _end frees it and
 * prints the report unless out is NULL; the circuit must still be there. */
typedef struct cli_profile cli_profile;
cli_profile *cli_profile_begin(const cli_opt *o, struct sim *s);
VS_MUST_USE vs_status cli_profile_end(cli_profile *p, FILE *out);

/* -- what run, models and compile share (cli_common.c) -- */
typedef struct cli_base {
    diag d;
    str_pool names;
    mdl_lib *lib;
    FILE *log;  /* reports: stdout or the -o file */
    bool quiet; /* errors only */
} cli_base;
/* Status: VS_OK, or VS_EIO with the message printed. */
VS_MUST_USE vs_status cli_base_init(cli_base *b, const cli_opt *o);
/* Status: VS_OK, or VS_EIO if the report could not be written (a message was printed). */
vs_status cli_base_fini(cli_base *b);
/* Both paths lead to one regular file. */
bool cli_same_file(const char *a, const char *b);
VS_MUST_USE vs_status cli_open_models(cli_base *b, const cli_opt *o);
/* Prints messages that are new since the last call on stderr (and in the log); quiet: only errors.
 */
void cli_flush_messages(cli_base *b);
void cli_json_string(FILE *out, const char *s); /* quoted */
/* A file to write; not one that was read. NULL: a message was printed. cli_close: VS_EIO likewise.
 */
FILE *cli_create(const cli_opt *o, const char *path);
VS_MUST_USE vs_status cli_close(FILE *fp, const char *path);
/* "1.53 k", "26.0 M": three digits with an SI prefix, into buf[16]. */
const char *cli_si(char buf[16], double x, const char *unit);

/* -- progress on a terminal (cli_progress.c) -- */
typedef struct cli_progress {
    bool on;
    double t0, last;
    const char *what;
} cli_progress;
void cli_progress_begin(cli_progress *p, const char *what, bool quiet);
/* axis with unit: simulated time or sweep value */
void cli_progress_show(cli_progress *p, double fraction, double axis, const char *unit,
                       int64_t points, int64_t iterations);
void cli_progress_end(cli_progress *p);

#endif
