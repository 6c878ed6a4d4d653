/* cli_opt.c - the command line: vsim's own options and ngspice's batch ones. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum {
    OPT_ASCII = 256,
    OPT_CSV,
    OPT_STATS,
    OPT_DUMP,
    OPT_DEFINE,
    OPT_DUMP_IR,
    OPT_CHECK_KERNELS,
    OPT_THREADS,
    OPT_STRICT,
    OPT_INTERPRET,
    OPT_NO_SPECIALIZE,
    OPT_NO_CACHE,
    OPT_CACHE_DIR,
    OPT_NO_OUTPUT,
    OPT_FSYNC,
    OPT_CHECKPOINT,
    OPT_VERIFY,
    OPT_RESTART,
    OPT_VERSION,
    OPT_BRANCHES,
    OPT_JSON,
    OPT_ORDER,
    OPT_SVG,
    OPT_MTX,
    OPT_AT,
    OPT_TRACE,
    OPT_MEASURES,
    OPT_ALLOW_SHELL,
    OPT_ALLOW_NATIVE,
    OPT_ALLOW_WRITE,
    OPT_SANDBOX,
    OPT_JOBS,
    OPT_SHARD,
    OPT_RESUME,
    OPT_REDO,
    OPT_LU,
    OPT_TOUCHSTONE,
    OPT_MPI,
    OPT_NGSPICE,
    OPT_SEED,
    OPT_SOA_LOG,
    OPT_VARIABLE,
    OPT_IGNORED,
    OPT_NO_MPI,
    OPT_THRESHOLD,
    OPT_Z0,
    OPT_COMPRESS,
    OPT_RELTOL,
    OPT_ABSTOL,
    OPT_TIME_SHIFT,
    OPT_COMMON,
    OPT_STEPS,
    OPT_AS_IF,
    OPT_INDEX,
    OPT_VIEW,
    OPT_NO_OPEN,
    OPT_NO_TIMES,
    OPT_PICTURE /* those of plot begin here, in the order of picture_options */
};

static const struct option options[] = {
    {"batch", no_argument, NULL, 'b'},
    {"rawfile", required_argument, NULL, 'r'},
    {"output", required_argument, NULL, 'o'},
    {"include", required_argument, NULL, 'I'},
    {"define", required_argument, NULL, OPT_DEFINE},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {"ascii", no_argument, NULL, OPT_ASCII},
    {"csv", no_argument, NULL, OPT_CSV},
    {"no-output", no_argument, NULL, OPT_NO_OUTPUT},
    {"fsync", no_argument, NULL, OPT_FSYNC},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
    {"restart", required_argument, NULL, OPT_RESTART},
    {"stats", required_argument, NULL, OPT_STATS},
    {"dump", required_argument, NULL, OPT_DUMP},
    {"dump-ir", optional_argument, NULL, OPT_DUMP_IR},
    {"check-kernels", optional_argument, NULL, OPT_CHECK_KERNELS},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"lu", required_argument, NULL, OPT_LU},
    {"strict", no_argument, NULL, OPT_STRICT},
    {"interpret", no_argument, NULL, OPT_INTERPRET},
    {"no-specialize", no_argument, NULL, OPT_NO_SPECIALIZE},
    {"no-cache", no_argument, NULL, OPT_NO_CACHE},
    {"cache-dir", required_argument, NULL, OPT_CACHE_DIR},
    {"branches", no_argument, NULL, OPT_BRANCHES},
    {"json", no_argument, NULL, OPT_JSON},
    {"order", required_argument, NULL, OPT_ORDER},
    {"svg", required_argument, NULL, OPT_SVG},
    {"mtx", required_argument, NULL, OPT_MTX},
    {"at", required_argument, NULL, OPT_AT},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"steps", required_argument, NULL, OPT_STEPS},
    {"as-if", no_argument, NULL, OPT_AS_IF},
    {"measures", required_argument, NULL, OPT_MEASURES},
    {"allow-shell", no_argument, NULL, OPT_ALLOW_SHELL},
    {"allow-native", no_argument, NULL, OPT_ALLOW_NATIVE},
    {"allow-write", required_argument, NULL, OPT_ALLOW_WRITE},
    {"sandbox", no_argument, NULL, OPT_SANDBOX},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"shard", required_argument, NULL, OPT_SHARD},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"mpi", no_argument, NULL, OPT_MPI},
    {"no-mpi", no_argument, NULL, OPT_NO_MPI},
    {"redo", no_argument, NULL, OPT_REDO},
    {"touchstone", required_argument, NULL, OPT_TOUCHSTONE},
    {"autorun", no_argument, NULL, 'a'},
    {"circuitfile", required_argument, NULL, 'c'},
    {"completion", no_argument, NULL, OPT_IGNORED},
    {"interactive", no_argument, NULL, 'i'},
    {"ngspice", no_argument, NULL, OPT_NGSPICE},
    {"pipe", no_argument, NULL, 'p'},
    {"seed", required_argument, NULL, OPT_SEED},
    {"server", no_argument, NULL, 's'},
    {"soa-log", required_argument, NULL, OPT_SOA_LOG},
    {"term", required_argument, NULL, 't'},
    {"threshold", required_argument, NULL, OPT_THRESHOLD},
    {"reference", required_argument, NULL, OPT_Z0},
    {"compress", required_argument, NULL, OPT_COMPRESS},
    {"reltol", required_argument, NULL, OPT_RELTOL},
    {"abstol", required_argument, NULL, OPT_ABSTOL},
    {"time-shift", required_argument, NULL, OPT_TIME_SHIFT},
    {"common", no_argument, NULL, OPT_COMMON},
    {"view", no_argument, NULL, OPT_VIEW},
    {"index", no_argument, NULL, OPT_INDEX},
    {"no-open", no_argument, NULL, OPT_NO_OPEN},
    {"no-times", no_argument, NULL, OPT_NO_TIMES},
    {"vs", required_argument, NULL, OPT_PICTURE},
    {"plot", required_argument, NULL, OPT_PICTURE + 1},
    {"title", required_argument, NULL, OPT_PICTURE + 2},
    {"xlabel", required_argument, NULL, OPT_PICTURE + 3},
    {"ylabel", required_argument, NULL, OPT_PICTURE + 4},
    {"xlimit", required_argument, NULL, OPT_PICTURE + 5},
    {"ylimit", required_argument, NULL, OPT_PICTURE + 6},
    {"xlog", no_argument, NULL, OPT_PICTURE + 7},
    {"ylog", no_argument, NULL, OPT_PICTURE + 8},
    {"loglog", no_argument, NULL, OPT_PICTURE + 9},
    {"bode", no_argument, NULL, OPT_PICTURE + 10},
    {"smith", no_argument, NULL, OPT_PICTURE + 11},
    {"polar", no_argument, NULL, OPT_PICTURE + 12},
    {"style", required_argument, NULL, OPT_PICTURE + 13},
    {"stack", no_argument, NULL, OPT_PICTURE + 14},
    {"dark", no_argument, NULL, OPT_PICTURE + 15},
    {"size", required_argument, NULL, OPT_PICTURE + 16},
    {"graphics", required_argument, NULL, OPT_PICTURE + 17},
    {"no-spiceinit", no_argument, NULL, 'n'},
    {"no-init", no_argument, NULL, 'n'},
    {0},
};

static const char *const dumps[] = {"cards", "circuit", "ir", "groups", "pattern"};

static const struct {
    const char *name;
    cli_command command;
} commands[] = {{"run", CMD_RUN},         {"check", CMD_CHECK},     {"explain", CMD_EXPLAIN},
                {"analyze", CMD_ANALYZE}, {"profile", CMD_PROFILE}, {"models", CMD_MODELS},
                {"compile", CMD_COMPILE}, {"merge", CMD_MERGE},     {"plot", CMD_PLOT},
                {"convert", CMD_CONVERT}, {"compare", CMD_COMPARE}, {"tune", CMD_TUNE},
                {"view", CMD_VIEW},       {"report", CMD_REPORT},   {"doctor", CMD_DOCTOR},
                {"cache", CMD_CACHE},     {"help", CMD_HELP}};

static bool usage(const char *what, const char *arg)
{
    fprintf(stderr, "vsim: %s%s%s%s\nTry 'vsim --help'.\n", what, arg ? " '" : "", arg ? arg : "",
            arg ? "'" : "");
    return false;
}

static bool parse_threads(cli_opt *o, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 0 || n > 1024)
        return usage("--threads takes a number from 0 (automatic) to 1024, not", text);
    o->threads = (int)n;
    return true;
}

static bool parse_checkpoint(cli_opt *o, const char *text)
{
    char *end;
    o->checkpoint = true;
    o->minutes = strtod(text, &end);
    if (end != text && !*end && o->minutes >= 0 && o->minutes <= 1e6)
        return true;
    return usage("--checkpoint takes minutes, from 0 (only on signals), not", text);
}

static bool parse_jobs(cli_opt *o, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 0 || n > 256)
        return usage("--jobs takes a number from 0 (one for each processor) to 256, not", text);
    o->jobs = (int)n;
    return true;
}

static bool parse_shard(cli_opt *o, const char *text)
{
    char *end, *last;
    long i = strtol(text, &end, 10), n = *end == '/' ? strtol(end + 1, &last, 10) : 0;
    if (end == text || *end != '/' || last == end + 1 || *last || i < 1 || n < i || n > 1000000)
        return usage("--shard takes I/N with I from 1 to N, not", text);
    o->shard = (int)i - 1;
    o->n_shard = (int)n;
    return true;
}

/* A seed that no other process gets, nor this one a moment later. */
static uint64_t any_seed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const uint64_t mix = ((uint64_t)t.tv_sec * 1000000007u + (uint64_t)t.tv_nsec) * 2654435761u +
                         (uint64_t)getpid() * 40503u;
    return (mix >> 16) % 2147483647u + 1;
}

static bool parse_seed(cli_opt *o, const char *text)
{
    char *end;
    const long long n = strtoll(text, &end, 10);
    o->seed = !strcmp(text, "random") ? any_seed() : n > 0 ? (uint64_t)n : 0;
    if (o->seed && (!*end || o->seed != (uint64_t)n))
        return true;
    return usage("--seed takes a whole number from 1, or random, not", text);
}

static bool parse_lu(cli_opt *o, const char *text)
{
    o->lu = text;
    return vsim_inside_is_lu(text)
               ? true
               : usage("--lu takes auto, klu, tiny, umfpack, dense or cholesky, not", text);
}

static bool parse_dump(cli_opt *o, const char *text)
{
    for (size_t i = 0; i < COUNT(dumps); i++)
        if (!strcmp(text, dumps[i])) {
            o->dump = dumps[i];
            return true;
        }
    return usage("--dump takes cards, circuit, ir, groups or pattern, not", text);
}

/* Checks the name of a pass against the compiler's list. For an unknown name the message has all.
 */
static bool parse_dump_ir(cli_opt *o, const char *text)
{
    const char *pass[64];
    size_t n = 0;
    o->debug.dump_ir = text ? text : "";
    bool known = !text || !strcmp(text, "all");
    for (; n < COUNT(pass) && (pass[n] = vsim_inside_pass(n)); n++)
        known |= text && !strcmp(text, pass[n]);
    if (known)
        return true;
    const char *near = vsim_inside_nearest(text, pass, n);
    fprintf(stderr, "vsim: --dump-ir: no pass '%s'", text);
    if (near)
        fprintf(stderr, "; did you mean '%s'?", near);
    fputs("\nPasses in their order:", stderr);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, " %s", pass[i]);
    fputs("; all\nTry 'vsim --help'.\n", stderr);
    return false;
}

static bool parse_check_kernels(cli_opt *o, const char *text)
{
    char *end;
    const long n = text ? strtol(text, &end, 10) : 1;
    if (text && (end == text || *end || n < 1 || n > 1000000000))
        return usage("--check-kernels takes K, from 1, to compare each K-th call, not", text);
    o->debug.check_kernels = (int)n;
    return true;
}

/* ngspice's letters where ours differ. */
static int letter_of(const cli_opt *o, int c)
{
    if (o->ngspice)
        switch (c) {
        case 'v': return OPT_VERSION;
        case 'D':
        case OPT_DEFINE: return OPT_VARIABLE;
        case 'q': return OPT_IGNORED; /* ngspice: completes words */
        default: break;
        }
    return c;
}

/* Sets a variable of ngspice, as `set` does; filetype also decides the format of the result file.
 */
static void set_variable(cli_opt *o, const char *text)
{
    o->variable[o->n_variable++] = text;
    if (!strcasecmp(text, "filetype=ascii"))
        o->format = VSIM_ASCII;
}

/* Whether a name of -D is a variable that programs set for an ngspice; others are parameters. */
static bool is_variable(const char *text)
{
    static const char *const name[] = {"ngbehavior",  "filetype",       "numdgt",  "num_threads",
                                       "appendwrite", "wr_singlescale", "rawfile", "units",
                                       "wr_vecnames", "rndseed"};
    const size_t n = strcspn(text, "=");
    for (size_t i = 0; i < COUNT(name); i++)
        if (strlen(name[i]) == n && !strncasecmp(text, name[i], n))
            return true;
    return false;
}

/* -- options of plot: cli_result.c -- */

static bool parse_limits(const char *option, const char *text, double *lo, double *hi)
{
    char why[160];
    if (cli_numbers(text, lo, hi) && *lo < *hi)
        return true;
    snprintf(why, sizeof why, "%s takes two numbers A,B with A < B (1n,2.5u), not", option);
    return usage(why, text);
}

/* One level, or a lower and an upper one. */
static bool parse_threshold(cli_opt *o, const char *text)
{
    double *x;
    size_t n;
    const bool ok = cli_list(text, &x, &n) && n <= 2 && x[0] <= x[n - 1];
    o->low = ok ? x[0] : NAN;
    o->high = ok ? x[n - 1] : NAN;
    free(x);
    return ok || usage("--threshold takes volts, V or LOW,HIGH, not", text);
}

/* A number as in decks, not below 0: "1m". */
static bool parse_tolerance(const char *option, const char *text, double *to)
{
    char why[160];
    double *x;
    size_t n;
    const bool ok = cli_list(text, &x, &n) && n == 1 && x[0] >= 0;
    if (ok)
        *to = x[0];
    free(x);
    snprintf(why, sizeof why, "%s takes a number from 0 on, not", option);
    return ok || usage(why, text);
}

static bool parse_z0(cli_opt *o, const char *text)
{
    free(o->z0);
    bool ok = cli_list(text, &o->z0, &o->n_z0);
    for (size_t i = 0; i < o->n_z0 && ok; i++)
        ok = o->z0[i] > 0;
    return ok || usage("--reference takes ohms above 0, R or R1,R2,..., not", text);
}

static bool parse_compress(cli_opt *o, const char *text)
{
    o->compress = text;
    return !strcmp(text, "zstd") || !strcmp(text, "none") ||
           usage("--compress takes zstd or none, not", text);
}

static bool parse_size(vsim_inside_picture *p, const char *text)
{
    char rest;
    if (sscanf(text, "%dx%d%c", &p->width, &p->height, &rest) == 2 && p->width >= 10 &&
        p->height >= 10 && p->width <= 20000 && p->height <= 20000)
        return true;
    return usage("--size takes WIDTHxHEIGHT from 10x10 to 20000x20000, not", text);
}

static bool parse_style(vsim_inside_picture *p, const char *text)
{
    static const char *const style[] = {"lines", "points", "both", "steps", "comb"};
    for (size_t i = 0; i < COUNT(style); i++)
        if (!strcmp(text, style[i])) {
            p->style = style[i];
            return true;
        }
    return usage("--style takes lines, points, both, steps or comb, not", text);
}

static bool parse_graphics(cli_opt *o, const char *text)
{
    static const char *const known[] = {"auto", "kitty", "sixel", "braille"};
    for (size_t i = 0; i < COUNT(known); i++)
        if (!strcmp(known[i], text)) {
            o->graphics = known[i];
            return true;
        }
    return usage("--graphics takes auto, kitty, sixel or braille, not", text);
}

static bool apply_picture(cli_opt *o, int k, const char *text)
{
    vsim_inside_picture *p = &o->picture;
    static const char *const kind[] = {"bode", "smith", "polar"};
    if (k != 1) /* convert and compare choose a plot too */
        o->picture_only = k == 0   ? "--vs"
                          : k < 5  ? "--title, --xlabel, --ylabel"
                          : k < 10 ? "--xlimit, --ylimit, --xlog, --ylog, --loglog"
                                   : "--bode, --smith, --polar, --style, --stack, --dark, --size, "
                                     "--graphics";
    switch (k) {
    case 0: p->over = text; return true;
    case 1: p->plot = text; return true;
    case 2: p->title = text; return true;
    case 3: p->xlabel = text; return true;
    case 4: p->ylabel = text; return true;
    case 5: return parse_limits("--xlimit", text, &p->xlo, &p->xhi);
    case 6: return parse_limits("--ylimit", text, &p->ylo, &p->yhi);
    case 7: p->xlog = true; return true;
    case 8: p->ylog = true; return true;
    case 9: p->xlog = p->ylog = true; return true;
    case 10:
    case 11:
    case 12:
        if (p->kind && strcmp(p->kind, kind[k - 10]))
            return usage("one of --bode, --smith and --polar at a time", NULL);
        p->kind = kind[k - 10];
        return true;
    case 13: return parse_style(p, text);
    case 14: p->stack = true; return true;
    case 15: p->dark = true; return true;
    case 17: return parse_graphics(o, text);
    default: return parse_size(p, text);
    }
}

/* Long: one line an option. */
static bool apply(cli_opt *o, int c, const char *text)
{
    switch (letter_of(o, c)) {
    case 'b': o->batch = true; return true;
    case 'a': o->autorun = true; return true;
    case 'i': o->typed = true; return true;
    case 'p': o->pipe = true; return true;
    case 'n': o->no_init = true; return true;
    case 'r': o->raw = text; return true;
    case 'o': o->log = text; return true;
    case 'I': o->include[o->n_include++] = text; return true;
    case 'D':
        if (is_variable(text))
            set_variable(o, text);
        else
            o->define[o->n_define++] = text;
        return true;
    case OPT_VARIABLE: set_variable(o, text); return true;
    case OPT_SEED: return parse_seed(o, text);
    case OPT_SOA_LOG: o->soa_log = text; return true;
    case OPT_NGSPICE: o->ngspice = true; return true;
    case OPT_IGNORED:
    case 't': return true; /* ngspice: kind of terminal; vsim draws on none */
    case 'c': o->arg[o->n_arg++] = text; return true;
    case 's': o->server = true; return true;
    case OPT_DEFINE: o->macro[o->n_macro++] = text; return true;
    case 'v':
    case 'V': o->verbose++; return true;
    case 'q': o->quiet = true; return true;
    case 'h': o->command = CMD_HELP; return true;
    case OPT_VERSION: o->command = CMD_VERSION; return true;
    case OPT_ASCII: o->format = VSIM_ASCII; return true;
    case OPT_CSV: o->format = VSIM_CSV; return true;
    case OPT_NO_OUTPUT: o->no_output = true; return true;
    case OPT_FSYNC: o->fsync = true; return true;
    case OPT_VERIFY: o->verify = true; return true;
    case OPT_CHECKPOINT: return parse_checkpoint(o, text);
    case OPT_RESTART: o->restart = text; return true;
    case OPT_STATS: o->stats = text; return true;
    case OPT_DUMP: return parse_dump(o, text);
    case OPT_CHECK_KERNELS: return parse_check_kernels(o, text);
    case OPT_DUMP_IR: return parse_dump_ir(o, text);
    case OPT_THREADS: return parse_threads(o, text);
    case OPT_LU: return parse_lu(o, text);
    case OPT_STRICT: o->strict = true; return true;
    case OPT_INTERPRET: o->interpret = true; return true;
    case OPT_NO_SPECIALIZE: o->no_specialize = true; return true;
    case OPT_NO_CACHE: o->no_cache = true; return true;
    case OPT_CACHE_DIR: o->cache_dir = text; return true;
    case OPT_BRANCHES: o->branches = true; return true;
    case OPT_JSON: o->json = true; return true;
    case OPT_ORDER: o->order = text; return true;
    case OPT_SVG: o->svg = text; return true;
    case OPT_MTX: o->mtx = text; return true;
    case OPT_AT: o->at = text; return true;
    case OPT_TRACE: o->trace = text; return true;
    case OPT_STEPS: o->steps = text; return true;
    case OPT_AS_IF: o->as_if = true; return true;
    case OPT_MEASURES: o->measures = text; return true;
    case OPT_ALLOW_SHELL: o->allow_shell = true; return true;
    case OPT_ALLOW_NATIVE: o->allow_native = true; return true;
    case OPT_ALLOW_WRITE: o->writable[o->n_writable++] = text; return true;
    case OPT_SANDBOX: o->sandbox = true; return true;
    case OPT_JOBS: return parse_jobs(o, text);
    case OPT_SHARD: return parse_shard(o, text);
    case OPT_MPI: o->mpi = 1; return true;
    case OPT_NO_MPI: o->mpi = -1; return true;
    case OPT_RESUME: o->resume = true; return true;
    case OPT_REDO: o->redo = true; return true;
    case OPT_TOUCHSTONE: o->touchstone = text; return true;
    case OPT_THRESHOLD: return parse_threshold(o, text);
    case OPT_Z0: return parse_z0(o, text);
    case OPT_COMPRESS: return parse_compress(o, text);
    case OPT_RELTOL: return parse_tolerance("--reltol", text, &o->reltol);
    case OPT_ABSTOL: return parse_tolerance("--abstol", text, &o->abstol);
    case OPT_COMMON: o->common = true; return true;
    case OPT_VIEW: o->view = true; return true;
    case OPT_INDEX: o->index = true; return true;
    case OPT_NO_OPEN: o->no_open = true; return true;
    case OPT_NO_TIMES: o->no_times = true; return true;
    case OPT_TIME_SHIFT: return parse_tolerance("--time-shift", text, &o->time_shift);
    default: return apply_picture(o, c - OPT_PICTURE, text);
    }
}

/* Sorts the words of -D: parameters of the deck; of compile, which has no deck, macros as for other
 * Verilog-A compilers. */
static bool sort_defines(cli_opt *o)
{
    for (size_t i = 0; i < o->n_define; i++)
        if (o->command == CMD_COMPILE)
            o->macro[o->n_macro++] = o->define[i];
        else if (strchr(o->define[i], '=') <= o->define[i])
            return usage("-D takes NAME=VALUE (--define NAME[=TEXT] is for Verilog-A), not",
                         o->define[i]);
    if (o->command == CMD_COMPILE)
        o->n_define = 0;
    for (size_t i = 0; i < o->n_macro; i++)
        if (!*o->macro[i] || *o->macro[i] == '=')
            return usage("a macro needs a name: --define NAME[=TEXT], not", o->macro[i]);
    return true;
}

/* Refuses options that the sandbox would make fail later. */
static bool check_sandbox(const cli_opt *o, bool deck)
{
    if (!deck || o->typed || o->pipe)
        return usage("--sandbox is for decks", NULL);
    if (o->allow_shell)
        return usage("a sandbox starts no programs: --sandbox and --allow-shell exclude each other",
                     NULL);
    return o->mpi <= 0 || usage("a sandbox has no connections: --sandbox and --mpi exclude each "
                                "other",
                                NULL);
}

static bool check_talk(const cli_opt *o)
{
    if (o->command != CMD_RUN)
        return usage("-i and -p are for running decks", NULL);
    if (o->n_define)
        return usage(
            "-D of parameters is for runs without -i and -p; the command alterparam is for "
            "them",
            NULL);
    return o->n_arg <= 1 || usage("one deck at a time; not expected:", o->arg[1]);
}

static bool check_view(const cli_opt *o)
{
    if (o->command == CMD_VIEW && !o->n_arg)
        return usage("view takes result files: vsim view ring.raw", NULL);
    const bool steps = o->command == CMD_PROFILE && o->steps;
    if (o->view && o->command == CMD_PROFILE && !steps)
        return usage("profile --view shows the file of --steps, which is missing", NULL);
    if (o->view && o->command != CMD_RUN && !steps)
        return usage("only running a deck and profile take", "--view");
    if (o->index && o->command != CMD_RUN)
        return usage("only running a deck takes", "--index");
    if (o->index &&
        (o->format != VSIM_RAW || o->no_output || o->server || (o->raw && !strcmp(o->raw, "-"))))
        return usage("--index is of a binary raw file; this run writes none", NULL);
    if (o->no_open && o->command != CMD_VIEW && !o->view)
        return usage("only view and --view take", "--no-open");
    if (o->view && !steps && (o->no_output || o->server || (o->raw && !strcmp(o->raw, "-"))))
        return usage("--view shows a result file; this run writes none", NULL);
    return true;
}

/* Checks options of the commands on result files. */
static bool check_results(const cli_opt *o)
{
    const size_t n = o->n_arg;
    if (o->picture_only && o->command != CMD_PLOT)
        return usage("only plot takes", o->picture_only);
    if (o->picture.plot && o->command != CMD_PLOT && o->command != CMD_CONVERT &&
        o->command != CMD_COMPARE)
        return usage("only plot, convert and compare take", "--plot");
    if ((!isnan(o->low) || o->n_z0 || o->compress) && o->command != CMD_CONVERT)
        return usage("only convert takes", o->n_z0       ? "--reference"
                                           : o->compress ? "--compress"
                                                         : "--threshold");
    if (!(isnan(o->reltol) && isnan(o->abstol) && isnan(o->time_shift) && !o->common) &&
        o->command != CMD_COMPARE)
        return usage("only compare takes", "--reltol, --abstol, --time-shift, --common");
    if (o->command == CMD_COMPARE && n != 2)
        return usage("compare takes two files: vsim compare old.raw new.raw", NULL);
    if (o->command == CMD_CONVERT && n != 2)
        return usage("convert takes two files: vsim convert ring.raw ring.h5", NULL);
    if (o->command == CMD_PLOT && !n)
        return usage("plot takes result files, then expressions: vsim plot ring.raw 'v(1)'", NULL);
    return true;
}

static bool check_report(const cli_opt *o)
{
    if (o->command == CMD_REPORT && !o->log)
        return usage("report writes a page: vsim report ring.sp -o ring.html", NULL);
    if (o->command == CMD_REPORT && (o->no_output || (o->raw && !strcmp(o->raw, "-"))))
        return usage("report needs the results in a file", NULL);
    if (o->no_times && o->command != CMD_REPORT)
        return usage("only report takes", "--no-times");
    return true;
}

static bool check_json(const cli_opt *o)
{
    if (o->json && o->command != CMD_EXPLAIN && o->command != CMD_ANALYZE &&
        o->command != CMD_PROFILE && o->command != CMD_COMPARE && o->command != CMD_DOCTOR &&
        !(o->command == CMD_MODELS && o->branches))
        return usage("--json is for explain, analyze, profile, doctor, compare and models "
                     "--branches; run writes --stats FILE.json",
                     NULL);
    return true;
}

enum { VERIFY_CALLS = 997 }; /* prime: not in step with groups and iterations */

static bool check_profile(const cli_opt *o)
{
    if (o->trace && o->command != CMD_PROFILE)
        return usage("only profile takes", "--trace");
    if (o->svg && o->command != CMD_ANALYZE && o->command != CMD_PROFILE)
        return usage("only analyze and profile take", "--svg");
    if (o->steps && o->command != CMD_PROFILE)
        return usage("only profile takes", "--steps");
    if (o->as_if && o->command != CMD_PROFILE)
        return usage("only profile takes", "--as-if");
    if (o->as_if && o->threads < 2)
        return usage("--as-if models the threads of --threads N, at least 2", NULL);
    return true;
}

static bool check_arguments(const cli_opt *o)
{
    const size_t n = o->n_arg;
    bool deck = o->command == CMD_RUN || o->command == CMD_REPORT || o->command == CMD_CHECK ||
                o->command == CMD_DOCTOR || o->command == CMD_EXPLAIN ||
                o->command == CMD_ANALYZE || o->command == CMD_PROFILE;
    if (o->sandbox && !check_sandbox(o, deck))
        return false;
    if (o->typed || o->pipe)
        return check_talk(o);
    const char *analyze_only = o->order ? "--order" : o->mtx ? "--mtx" : o->at ? "--at" : NULL;
    if (analyze_only && o->command != CMD_ANALYZE)
        return usage("only analyze takes", analyze_only);
    if (o->debug.dump_ir && !deck && o->command != CMD_COMPILE)
        return usage("--dump-ir is for decks and compile", NULL);
    if (o->debug.check_kernels && (!deck || o->command == CMD_CHECK || o->command == CMD_EXPLAIN))
        return usage("--check-kernels is for running a deck", NULL);
    if (o->debug.check_kernels && o->interpret)
        return usage(
            "--check-kernels compares kernels with the interpreter; --interpret makes none", NULL);
    if (!check_results(o) || !check_view(o) || !check_profile(o))
        return false;
    if (o->soa_log && o->command != CMD_RUN)
        return usage("only the run of a deck takes", "--soa-log");
    if (deck && n != 1)
        return usage(n ? "one deck at a time; not expected:" : "no deck given",
                     n ? o->arg[1] : NULL);
    if (o->command == CMD_COMPILE && n != 1)
        return usage("compile takes one Verilog-A file", NULL);
    if (o->command == CMD_MERGE && n < 2)
        return usage("merge takes the file to write and the results of all shards", NULL);
    if (o->redo && o->command != CMD_RUN && o->command != CMD_EXPLAIN)
        return usage("only run and explain take", "--redo");
    if (o->verify && o->command != CMD_RUN)
        return usage("only running a deck takes", "--verify");
    if ((o->checkpoint || o->restart) && o->command != CMD_RUN)
        return usage("only running a deck takes", o->restart ? "--restart" : "--checkpoint");
    if (o->restart && o->raw && !strcmp(o->raw, "-"))
        return usage("--restart goes on in a result file, not on standard output", NULL);
    if (o->mpi > 0 && o->command != CMD_RUN)
        return usage("only running a deck takes", "--mpi");
    if (o->mpi > 0 && o->n_shard > 1)
        return usage("--mpi and --shard are two ways to share the points: take one", NULL);
    if ((o->jobs != 1 || o->n_shard > 1 || o->resume) && o->command != CMD_RUN &&
        o->command != CMD_EXPLAIN)
        return usage("--jobs, --shard and --resume are for running a deck", NULL);
    if (o->command == CMD_TUNE && n)
        return usage("tune takes no argument, not", o->arg[0]);
    if (o->command == CMD_CACHE && n > 1)
        return usage("cache takes one of list, clear and path, not also", o->arg[1]);
    if (o->command == CMD_CACHE && n && strcmp(o->arg[0], "list") && strcmp(o->arg[0], "clear") &&
        strcmp(o->arg[0], "path"))
        return usage("cache takes list, clear or path, not", o->arg[0]);
    return check_json(o) && check_report(o);
}

/* The name that the program was started by: ngspice, ngspice_con, ngspice-46. */
static bool called_ngspice(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, "ngspice", 7);
}

bool cli_opt_parse(cli_opt *o, int argc, char **argv)
{
    *o = (cli_opt){.command = CMD_RUN, .jobs = 1, .n_shard = 1};
    o->low = o->high = o->reltol = o->abstol = o->time_shift = NAN;
    o->picture.xlo = o->picture.xhi = o->picture.ylo = o->picture.yhi = NAN;
    const char ***list[] = {&o->arg,    &o->include, &o->writable,
                            &o->define, &o->macro,   &o->variable};
    for (size_t i = 0; i < COUNT(list); i++)
        if (!(*list[i] = calloc((size_t)argc, sizeof **list[i])))
            return usage("out of memory", NULL);
    bool help = false;
    opterr = 0;
    o->ngspice = argc > 0 && called_ngspice(argv[0]);
    for (int c; (c = getopt_long(argc, argv, "+:banipr:o:I:D:vVqhst:c:", options, NULL)) != -1 ||
                optind < argc;) {
        if (c == -1) { /* a word that is no option: a command, or a file */
            const char *word = argv[optind++];
            bool is_command = false;
            for (size_t i = 0; i < COUNT(commands) && !o->n_arg && !o->ngspice; i++)
                if (!strcmp(word, commands[i].name)) {
                    o->command = commands[i].command;
                    is_command = true;
                }
            if (!is_command)
                o->arg[o->n_arg++] = strcmp(word, "-") ? word : "/dev/stdin";
            continue;
        }
        if (c == ':')
            return usage("an argument is missing after", argv[optind - 1]);
        if (c == '?') {
            const char *cand[COUNT(options)];
            size_t n = 0;
            for (; options[n].name; n++)
                cand[n] = options[n].name;
            const char *word = argv[optind - 1],
                       *near = vsim_inside_nearest(word + strspn(word, "-"), cand, n);
            fprintf(stderr, "vsim: unknown option '%s'", word);
            if (near)
                fprintf(stderr, "; did you mean '--%s'?", near);
            fputs("\nTry 'vsim --help'.\n", stderr);
            return false;
        }
        if (!apply(o, c, optarg))
            return false;
        help |= o->command == CMD_HELP || o->command == CMD_VERSION;
    }
    const bool no_deck = o->command == CMD_RUN && !o->n_arg;
    if (no_deck && argc == 2 && o->verbose)
        o->command = CMD_VERSION, help = true;
    else if (no_deck && (o->server || (o->ngspice && o->batch)))
        o->arg[o->n_arg++] = "/dev/stdin";
    if (o->command == CMD_RUN && !o->n_arg && argc == 1 && !o->ngspice)
        return usage("no deck given", NULL);
    if (o->ngspice && !o->seed) /* each process of ngspice draws another sample */
        o->seed = any_seed();
    /* ngspice without a deck, or at a terminal, waits for commands */
    if (o->ngspice && o->command == CMD_RUN && !o->batch && !o->server &&
        (!o->n_arg || isatty(STDIN_FILENO)))
        o->typed = true;
    if (o->verify && !o->debug.check_kernels && !o->interpret)
        o->debug.check_kernels = VERIFY_CALLS;
    return help || (sort_defines(o) && check_arguments(o));
}

static const char help_main[] =
    "vsim - analog circuit simulator\n"
    "\n"
    "  vsim DECK.sp                 run every analysis of a SPICE deck, write DECK.raw\n"
    "  vsim check DECK.sp           read, elaborate and compile it, without simulating\n"
    "  vsim doctor DECK.sp          what makes a deck hard to solve, and what to change\n"
    "  vsim explain DECK.sp         what the model compiler made of each group of devices\n"
    "  vsim analyze DECK.sp|M.mtx   what the matrix promises a solver: fill, blocks, parallelism\n"
    "  vsim profile DECK.sp         where the time of a run goes, step and iteration histories\n"
    "  vsim models [NAME]           device models; with a name: its parameters\n"
    "  vsim models --branches       how much of each model's code parameters decide\n"
    "  vsim compile FILE.va         compile a Verilog-A file and report on its modules\n"
    "  vsim plot FILE.raw EXPR...   a picture of results: in the terminal, or -o FILE.svg|png|pdf|"
    "html|txt\n"
    "  vsim view FILE.raw...        look at results in a browser (docs/view.md)\n"
    "  vsim convert FROM TO         results in another format, by the ending: .raw .csv .h5 "
    ".parquet "
    ".mat\n"
    "                               .s2p .ts .psf .vcd\n"
    "  vsim report DECK -o X.html   run it, and one page of what came of it\n"
    "  vsim compare A B             do two results agree? exit code 8 if they do not\n"
    "  vsim merge OUT PART...       results of all shards of a sweep to one file\n"
    "  vsim tune                    measure from what size on threads pay here, for later runs\n"
    "  vsim cache [list|clear|path] compiled models that are kept on disk\n"
    "  vsim help [TOPIC]            topics: deck, results, exit\n"
    "\n"
    "Results\n"
    "  -r FILE                      write results there (- is standard output)\n"
    "  --ascii, --csv               text raw file; comma separated values\n"
    "  --no-output                  write no results (for timing)\n"
    "  --fsync                      wait for the disk at each flush: results survive a power cut\n"
    "  --checkpoint MIN             keep a transient each MIN minutes and on SIGTERM and SIGUSR1,\n"
    "  --restart FILE               and go on with it later (docs/checkpoint.md)\n"
    "  -o FILE                      write the report there instead of on standard output\n"
    "  --touchstone FILE            S-parameters of .sp also as FILE.s2p (.s1p, ...),\n"
    "                               of .hbsp as FILE.hbsp.s2p, of points as FILE.point-1.s2p\n"
    "  --stats FILE.json            figures of the run for programs\n"
    "  --measures FILE              results of .meas as a table (FILE.json: JSON, else CSV)\n"
    "  --soa-log FILE               what .option warn tells of limits, as lines of FILE\n"
    "  --json                       explain, analyze, profile, doctor, compare, models --branches: "
    "for "
    "programs\n"
    "\n"
    "Analyze (docs/analyze.md), profile (docs/profile.md)\n"
    "  --order amd|colamd|natural|rcm|nd   ordering whose forest is shown and drawn\n"
    "  --csv                        the level sets of the forest as comma separated values\n"
    "  --svg FILE                   picture of the pattern; profile: of what is worked on, over "
    "time\n"
    "  --mtx FILE                   the matrix as Matrix Market\n"
    "  --at op|TIME                 the Jacobian of the operating point, or at a time\n"
    "  --trace FILE                 profile: events for ui.perfetto.dev and chrome://tracing\n"
    "  --steps FILE.raw             profile: steps, errors and iterations over time; with --view "
    "in\n"
    "                               a browser\n"
    "  --as-if                      profile: one thread works, and what --threads N would take is\n"
    "                               modelled from what it took\n"
    "\n"
    "Plot (docs/results.md): without expressions the vectors are listed\n"
    "  -o FILE.svg|png|pdf|html|txt the picture; its ending decides\n"
    "  --plot KIND|N                of a file with several plots: ac, tran, ..., or the N-th\n"
    "  --vs EXPR                    over an expression instead of the axis\n"
    "  --bode, --smith, --polar     dB and degrees; charts of the complex plane\n"
    "  --xlimit A,B, --ylimit A,B   what is shown; --xlog, --ylog, --loglog\n"
    "  --style lines|points|both|steps|comb\n"
    "  --graphics auto|kitty|sixel|braille   in the terminal: pixels where it says that it has "
    "them\n"
    "  --stack                      each expression below the other; else by units\n"
    "  --title, --xlabel, --ylabel TEXT; --size WxH; --dark\n"
    "\n"
    "View (docs/view.md)\n"
    "  --view                       look at a run's results in a browser while it goes on\n"
    "  --index                      make the index of large results while they are written\n"
    "  --no-times                   report: without date and times: the same results, the same "
    "bytes\n"
    "  --no-open                    print the page's address only\n"
    "\n"
    "Convert (docs/results.md)\n"
    "  --plot KIND|N                of a file with several plots\n"
    "  --threshold V|LOW,HIGH       .vcd: from what voltage on a signal is 1, below which 0\n"
    "  --reference R,...            .s2p, .ts: reference resistances of ports (50)\n"
    "  --compress zstd|none         .parquet (none)\n"
    "\n"
    "Compare (docs/results.md)\n"
    "  --reltol X, --abstol X       of values (0.005; 1u V, 1n A)\n"
    "  --time-shift S               edges may be so much apart (0)\n"
    "  --common                     signals of one file alone do not count\n"
    "  -o FILE.svg|png|pdf|html|txt a picture of the worst signal; --plot KIND|N\n"
    "\n"
    "Input\n"
    "  -I DIR                       search includes and Verilog-A files there too\n"
    "  -D NAME=VALUE                set a .param from outside\n"
    "  --define NAME[=TEXT]         define a macro for Verilog-A (compile: -D does so too)\n"
    "  --seed N|random              statistical functions draw, where the deck has no .option "
    "seed\n"
    "  --strict                     warnings are errors\n"
    "  -n, --no-init                do not read .spiceinit (beside the deck, here, at home)\n"
    "  -i, -p                       commands one at a time, typed or from a pipe\n"
    "  --allow-shell                .control blocks may start programs (shell, system, !)\n"
    "  --allow-write DIR            .control blocks may write there too (SECURITY.md)\n"
    "  --allow-native               decks may load .osdi libraries, a .spiceinit beside them, and\n"
    "                               start programs as digital parts (d_process)\n"
    "  --sandbox                    the kernel refuses all else: programs, connections, writing\n"
    "                               to other folders (Linux; SECURITY.md)\n"
    "\n"
    "Sweeps: .step .mc .alter, several values of .temp (docs/sweeps.md)\n"
    "  --jobs N                     worker processes (0: one for each processor)\n"
    "  --resume                     go on where an interrupted sweep was\n"
    "  --shard I/N                  only points I, I+N, I+2N ...: for machines that share no "
    "memory\n"
    "  mpirun -n N vsim DECK.sp     points by N processes, on any number of machines; --no-mpi: "
    "each\n"
    "                               process works on its own; --mpi: where the launcher is not "
    "seen\n"
    "  --redo                       run, explain: what each point made anew and why\n"
    "\n"
    "How it runs\n"
    "  --threads N                  threads for large circuits (0: automatic, the default)\n"
    "  --lu auto|klu|tiny|umfpack|dense|cholesky\n"
    "                               how linear systems are solved\n"
    "  --no-cache, --cache-dir DIR  compiled models are kept in ~/.cache/vsim otherwise\n"
    "  --interpret, --no-specialize the plain paths through the model compiler, as oracles\n"
    "  --dump=cards|circuit|ir|groups|pattern\n"
    "                               print that stage of the way from text to equations\n"
    "  --dump-ir[=PASS]             print what a pass of the model compiler makes of each "
    "function\n"
    "                               (docs/ir.md; without PASS: the code of kernels)\n"
    "  --check-kernels[=K]          compare each K-th call of a kernel with the interpreter\n"
    "  --verify                     look at points of transients once more, by other means; also\n"
    "                               compares each 997th call of a kernel\n"
    "  -v                           more about what is done; -q: errors only\n"
    "\n"
    "  vsim -b -r OUT.raw -o LOG DECK.sp works as with ngspice. Under the name ngspice, or with\n"
    "  --ngspice, options, names of vectors and the log are ngspice's too (docs/clients.md).\n"
    "\n"
    "Try:  vsim netlists/ring.sp\n";

static const char help_deck[] =
    "A deck is a SPICE netlist; its first line is the title.\n"
    "\n"
    "  RC low-pass\n"
    "  V1 in 0 PULSE(0 1 0 1n 1n 1u 2u)\n"
    "  R1 in out 1k\n"
    "  C1 out 0 {tau/1k}\n"
    "  .param tau=1n\n"
    "  .tran 1n 10u\n"
    "  .end\n"
    "\n"
    "Verilog-A models:  .hdl \"mymodel.va\"\n"
    "                   .model my1 mymodule (a=1 b=2)\n"
    "                   N1 in out my1 w=1u\n"
    "Measures and tables:  .meas tran rise TRIG v(out) VAL=0.1 RISE=1 TARG v(out) VAL=0.9 RISE=1\n"
    "                      .four 1meg v(out)   .fft v(out) np=1024   .print tran v(out)\n"
    "                      .eye v(out) ui=1n\n"
    "                                                          (docs/measure.md)\n"
    "Scripts:              .control ... .endc as in ngspice           (docs/control.md)\n"
    "The language is described in docs/netlist.md, the Verilog-A subset in docs/verilog-a.md.\n";

static const char help_results[] = "Results go to a SPICE raw file (binary), which ngspice, gwave, "
                                   "gaw, spicelib, PyLTSpice, xschem\n"
                                   "and others open. While vsim runs, and after a kill, the file "
                                   "holds every point written so far.\n"
                                   "Vectors: time (or the sweep variable), v(node) of every node, "
                                   "i(source) of every voltage source\n"
                                   "and inductor; `.save` narrows them.\n";

static const char help_exit[] =
    "Exit codes\n"
    "  0    done\n"
    "  1    error in the deck or a model file (messages on standard error)\n"
    "  2    wrong command line\n"
    "  3    no convergence, time step too small, or singular matrix\n"
    "  4    a file could not be read or written\n"
    "  5    a model stopped the run ($fatal, $error)\n"
    "  6    --check-kernels: kernels and interpreter differ by more than rounding\n"
    "  7    out of memory; results up to then are kept\n"
    "  8    compare: the results differ\n"
    "  9    --verify: currents or charges do not add up\n"
    "  10   a process that computed a point of a sweep died, and so did the next\n"
    "  130  interrupted; results up to then are kept\n";

void cli_help(const char *topic, FILE *out)
{
    static const struct {
        const char *name, *text;
    } topics[] = {{"deck", help_deck}, {"results", help_results}, {"exit", help_exit}};
    for (size_t i = 0; topic && i < COUNT(topics); i++)
        if (!strcmp(topic, topics[i].name)) {
            fputs(topics[i].text, out);
            return;
        }
    fputs(help_main, out);
}
