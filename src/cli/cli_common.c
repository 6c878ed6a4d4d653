#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "rank.h"
#include "vec.h"

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

void cli_json_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 32 || c == 127)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

FILE *cli_create(const cli_opt *o, const char *path)
{
    for (size_t i = 0; i < vec_len(o->arg); i++)
        if (cli_same_file(path, o->arg[i])) {
            fprintf(stderr, "vsim: '%s' would overwrite the input\n", path);
            return NULL;
        }
    FILE *fp = fopen(path, "w");
    if (!fp)
        fprintf(stderr, "vsim: '%s' cannot be written: %s\n", path, strerror(errno));
    return fp;
}

vs_status cli_close(FILE *fp, const char *path)
{
    errno = 0;
    const bool bad = ferror(fp);
    if (!fclose(fp) && !bad)
        return VS_OK;
    fprintf(stderr, "vsim: '%s' could not be written: %s\n", path,
            errno ? strerror(errno) : "write failed");
    return VS_EIO;
}

static void print_note(void *user, const char *text) { fprintf(user, "note: %s\n", text); }

int cli_exit_code(vs_status st)
{
    switch (st) {
    case VS_OK:
    case VS_STOP: return CLI_OK;
    case VS_EINPUT:
    case VS_EUNSUPPORTED: return CLI_INPUT;
    case VS_EIO: return CLI_IO;
    default: return CLI_NUMERIC;
    }
}

vs_status cli_base_init(cli_base *b, const cli_opt *o)
{
    bool results_on_stdout = o->raw && !strcmp(o->raw, "-");
    *b = (cli_base){.log = results_on_stdout ? stderr : stdout};
    diag_init(&b->d);
    b->d.variable = cli_variable;
    str_pool_init(&b->names);
    b->quiet = o->quiet;
    if (!o->log)
        return VS_OK;
    for (size_t i = 0; i < vec_len(o->arg); i++)
        if (cli_same_file(o->log, o->arg[i])) {
            fprintf(stderr, "vsim: the report would overwrite '%s'\n", o->arg[i]);
            return VS_EIO;
        }
    b->log = fopen(o->log, "w");
    if (b->log)
        return VS_OK;
    fprintf(stderr, "vsim: log file '%s' cannot be written: %s\n", o->log, strerror(errno));
    b->log = stdout;
    return VS_EIO;
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return !stat(a, &sa) && !stat(b, &sb) && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/* A reader that went away (`vsim ... | head`) has what it wanted; a full disk has lost the report.
 */
static vs_status close_log(FILE *log)
{
    errno = 0;
    bool bad = ferror(log);
    bad |= (log == stdout || log == stderr ? fflush(log) : fclose(log)) != 0;
    if (!bad || (log == stdout && errno == EPIPE))
        return VS_OK;
    fprintf(stderr, "vsim: the report could not be written: %s\n",
            errno ? strerror(errno) : "write failed");
    return VS_EIO;
}

vs_status cli_base_fini(cli_base *b)
{
    mdl_lib_free(&b->lib);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
    return close_log(b->log);
}

vs_status cli_open_models(cli_base *b, const cli_opt *o)
{
    mdl_opt mo = {.include = o->include,
                  .n_include = vec_len(o->include),
                  .model_dir = o->models,
                  .interpret = o->interpret,
                  .no_specialize = o->no_specialize,
                  .jit = {.cache_dir = o->cache_dir,
                          .plugin_dir = o->plugins,
                          .lanes = o->lanes,
                          .cpu = o->cpu,
                          .no_cache = o->no_cache,
                          .opt_level = 2,
                          .verbose = o->verbose > 0,
                          .note = o->verbose ? print_note : NULL,
                          .user = b->log}};
    if (o->link && o->link->rank > 0) { /* what is not on disk rank 0 makes */
        mo.jit.missing = cli_wait_for_go;
        mo.jit.missing_user = o->link;
    }
    return mdl_lib_new(&b->lib, &b->d, &b->names, &mo);
}

void cli_flush_messages(cli_base *b)
{
    fflush(b->log);
    if (b->quiet)
        diag_keep_errors(&b->d);
    diag_render(&b->d, stderr, isatty(STDERR_FILENO));
    if (b->log != stdout && b->log != stderr)
        diag_render(&b->d, b->log, false);
    diag_clear(&b->d);
}
