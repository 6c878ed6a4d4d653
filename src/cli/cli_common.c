#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "vec.h"

double cli_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *cli_si(char buf[16], double x, const char *unit)
{
    static const char prefix[] = "afpnum kMGT";
    int e = x != 0 && isfinite(x) ? (int)floor(log10(fabs(x)) / 3 + 1e-12) : 0;
    e = e < -6 ? -6 : e > 4 ? 4 : e;
    double m = x / pow(10, 3 * e);
    int digits = fabs(m) >= 100 ? 0 : fabs(m) >= 10 ? 1 : 2;
    if (e)
        snprintf(buf, 16, "%.*f %c%s", digits, m, prefix[e + 6], unit);
    else
        snprintf(buf, 16, "%.*f %s", digits, m, unit);
    return buf;
}

static void print_note(void *user, const char *text)
{
    fprintf(user, "note: %s\n", text);
}

vs_status cli_base_init(cli_base *b, const cli_opt *o)
{
    *b = (cli_base){.log = stdout};
    diag_init(&b->d);
    str_pool_init(&b->names);
    if (!o->log)
        return VS_OK;
    b->log = fopen(o->log, "w");
    if (b->log)
        return VS_OK;
    fprintf(stderr, "vsim: log file '%s' cannot be written: %s\n", o->log, strerror(errno));
    b->log = stdout;
    return VS_EIO;
}

void cli_base_fini(cli_base *b)
{
    mdl_lib_free(&b->lib);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
    if (b->log != stdout)
        fclose(b->log);
}

vs_status cli_open_models(cli_base *b, const cli_opt *o)
{
    mdl_opt mo = {.include = o->include,
                  .n_include = vec_len(o->include),
                  .interpret = o->interpret,
                  .no_specialize = o->no_specialize,
                  .jit = {.cache_dir = o->cache_dir,
                          .no_cache = o->no_cache,
                          .opt_level = 2,
                          .verbose = o->verbose > 0,
                          .note = o->verbose ? print_note : NULL,
                          .user = b->log}};
    return mdl_lib_new(&b->lib, &b->d, &b->names, &mo);
}

void cli_flush_messages(cli_base *b)
{
    fflush(b->log);
    diag_render(&b->d, stderr, isatty(STDERR_FILENO));
    if (b->log != stdout)
        diag_render(&b->d, b->log, false);
    vec_clear(b->d.msg);
    b->d.n_dropped = 0;
}
