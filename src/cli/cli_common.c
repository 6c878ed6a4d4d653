/* cli_common.c - exit codes, settings of the library, the report's stream. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

int cli_exit_code(vsim_status st)
{
    switch (st) {
    case VSIM_OK:
    case VSIM_STOP: return CLI_OK;
    case VSIM_EINPUT:
    case VSIM_EUNSUPPORTED: return CLI_INPUT;
    case VSIM_EIO: return CLI_IO;
    case VSIM_ENOMEM: return CLI_MEMORY;
    case VSIM_EDIED: return CLI_DIED;
    default: return CLI_NUMERIC;
    }
}

vsim_settings cli_settings(const cli_opt *o)
{
    return (vsim_settings){.size = sizeof(vsim_settings),
                           .models = o->models,
                           .plugins = o->plugins,
                           .cache = o->no_cache ? NULL : o->cache_dir,
                           .include = o->include,
                           .n_include = o->n_include,
                           .macro = o->macro,
                           .n_macro = o->n_macro,
                           .threads = o->threads,
                           .lanes = o->lanes,
                           .cpu = o->cpu,
                           .interpret = o->interpret,
                           .no_specialize = o->no_specialize,
                           .start_files = !o->no_init,
                           .memory = o->memory,
                           .parallel_min = o->parallel_min,
                           .variable = cli_variable};
}

/* -- a report to a file: it is kept until the inputs are read -- */

static ssize_t put_report(void *cookie, const char *p, size_t n)
{
    cli_report *r = cookie;
    if (r->fd < 0) {
        char *more = realloc(r->text, r->n + n);
        if (!more)
            return 0;
        memcpy(more + r->n, p, n);
        r->text = more;
        r->n += n;
        return (ssize_t)n;
    }
    for (size_t done = 0; done < n;) {
        const ssize_t k = write(r->fd, p + done, n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return 0;
        done += (size_t)k;
    }
    return (ssize_t)n;
}

/* Of vsim_inside_streams. */
static void begin_report(void *user)
{
    cli_report *r = user;
    if (r->begun)
        return;
    r->begun = true;
    r->fd = open(r->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (r->fd < 0 || put_report(r, r->text, r->n) != (ssize_t)r->n)
        r->why = errno;
}

static int end_report(void *cookie)
{
    cli_report *r = cookie;
    free(r->text);
    r->text = NULL;
    if (r->fd >= 0 && close(r->fd) && !r->why)
        r->why = errno;
    errno = r->why;
    return r->why ? -1 : 0;
}

/* NULL: errno. */
static FILE *open_report(cli_report *r, const char *path)
{
    struct stat sb;
    const cookie_io_functions_t io = {.write = put_report, .close = end_report};
    const char *slash = strrchr(path, '/');
    const bool there = !stat(path, &sb);
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const bool may = folder && !access(there ? path : folder, W_OK);
    free(folder);
    *r = (cli_report){.path = path, .fd = -1};
    if (there && !S_ISREG(sb.st_mode))
        return fopen(path, "we"); /* a pipe: nothing is lost */
    r->waits = true;
    return may ? fopencookie(r, "w", io) : NULL;
}

bool cli_out_open(cli_out *out, const cli_opt *o)
{
    const bool results_on_stdout = o->server || (o->raw && !strcmp(o->raw, "-"));
    FILE *log = results_on_stdout ? stderr : stdout;
    out->report = (cli_report){.fd = -1};
    if (o->log && !(log = open_report(&out->report, o->log))) {
        fprintf(stderr, "vsim: log file '%s' cannot be written: %s\n", o->log, strerror(errno));
        return false;
    }
    out->streams = (vsim_inside_streams){.log = log,
                                         .say = stderr,
                                         .color = isatty(STDERR_FILENO),
                                         .say_in_log = o->log != NULL,
                                         .quiet = o->quiet,
                                         .notes = o->verbose > 0,
                                         .ngspice = o->ngspice || o->server,
                                         .begin = out->report.waits ? begin_report : NULL,
                                         .user = &out->report,
                                         .log_path = o->log};
    return true;
}

/* Whether a failed write matters: a full disk loses the report, but a reader that went away
 * (`vsim ... | head`) has what it wanted. */
bool cli_out_close(cli_out *out)
{
    FILE *log = out->streams.log;
    errno = 0;
    bool bad = ferror(log);
    bad |= (log == stdout || log == stderr ? fflush(log) : fclose(log)) != 0;
    if (!bad || (log == stdout && errno == EPIPE))
        return true;
    fprintf(stderr, "vsim: the report could not be written: %s\n",
            errno ? strerror(errno) : "write failed");
    return false;
}
