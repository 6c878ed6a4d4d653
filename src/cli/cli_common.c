/* cli_common.c - exit codes, settings of the library, the report's stream. */
#include <errno.h>
#include <string.h>
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
                           .parallel_min = o->parallel_min,
                           .variable = cli_variable};
}

bool cli_out_open(cli_out *out, const cli_opt *o)
{
    const bool results_on_stdout = o->raw && !strcmp(o->raw, "-");
    FILE *log = results_on_stdout ? stderr : stdout;
    for (size_t i = 0; o->log && i < o->n_arg; i++)
        if (vsim_inside_same_file(o->log, o->arg[i])) {
            fprintf(stderr, "vsim: the report would overwrite '%s'\n", o->arg[i]);
            return false;
        }
    if (o->log && !(log = fopen(o->log, "w"))) {
        fprintf(stderr, "vsim: log file '%s' cannot be written: %s\n", o->log, strerror(errno));
        return false;
    }
    out->streams = (vsim_inside_streams){.log = log,
                                         .say = stderr,
                                         .color = isatty(STDERR_FILENO),
                                         .say_in_log = o->log != NULL,
                                         .quiet = o->quiet,
                                         .notes = o->verbose > 0};
    return true;
}

/* A reader that went away (`vsim ... | head`) has what it wanted; a full disk has lost the report.
 */
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
