/* main.c - dispatch of the vsim command. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Opens standard streams that the caller closed: a result file must not get their descriptors. */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            _exit(CLI_IO);
}

static int flush_standard_output(int code)
{
    const bool lost = ferror(stdout) != 0; /* a longer text fails before its end */
    if ((!fflush(stdout) && !lost) || errno == EPIPE || code != CLI_OK)
        return code;
    fprintf(stderr, "vsim: standard output: %s\n", errno ? strerror(errno) : "write failed");
    return CLI_IO;
}

/* Prints the version as ngspice does: programs that start an ngspice look for its name and number.
 */
static void tell_version(bool ngspice, FILE *out)
{
    fprintf(out,
            "%s******\n"
            "** " VSIM_INSIDE_NGSPICE " : Circuit level simulation program\n"
            "** Its command line, files and log; the program is vsim %s.\n"
            "******\n",
            ngspice ? "" : "vsim " VSIM_VERSION "\n", VSIM_VERSION);
}

/* Blocks of a megabyte go back to the system when they are freed. By itself malloc keeps blocks of
 * up to 32 MB once it has seen one freed, and tables that grow leave holes of that size. Smaller
 * blocks do not: to get pages again costs more than to fill them. */
static void set_allocator(void)
{
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 24);
    (void)mallopt(M_TOP_PAD, 1 << 22);
#endif
}

/* vsim never uses more than one thread of OpenBLAS, but each that the library starts when it is
 * loaded yields for 0.1 s before it sleeps. The library reads this variable then, which nobody may
 * set any more once there are other threads. */
static void set_blas(void) { (void)setenv("OPENBLAS_NUM_THREADS", "1", 0); }

int main(int argc, char **argv)
{
    set_allocator();
    set_blas();
    open_standard_streams();
    cli_opt o;
    int code = CLI_OK;
    const bool understood = cli_opt_parse(&o, argc, argv);
    cli_env_read(&o);
    if (!understood)
        code = CLI_USAGE;
    else if (cli_join(&o, &code))
        switch (o.command) {
        case CMD_HELP: cli_help(o.n_arg ? o.arg[0] : NULL, stdout); break;
        case CMD_VERSION: tell_version(o.ngspice, stdout); break;
        case CMD_MODELS: code = cli_models(&o); break;
        case CMD_COMPILE: code = cli_compile(&o); break;
        case CMD_MERGE: code = cli_merge(&o); break;
        case CMD_PLOT: code = cli_plot(&o); break;
        case CMD_CONVERT: code = cli_convert(&o); break;
        case CMD_COMPARE: code = cli_compare(&o); break;
        case CMD_VIEW: code = cli_view(&o); break;
        case CMD_REPORT: code = cli_run_report(&o); break;
        case CMD_TUNE: code = cli_tune(&o); break;
        case CMD_CACHE: code = cli_cache(&o); break;
        case CMD_ANALYZE:
        case CMD_RUN: code = o.typed || o.pipe ? cli_talk(&o) : cli_run(&o); break;
        case CMD_PROFILE:
        case CMD_CHECK:
        case CMD_DOCTOR:
        case CMD_EXPLAIN: code = cli_run(&o); break;
        }
    vsim_inside_leave(&o.ranks);
    free(o.user_cache);
    free(o.z0);
    free(o.arg);
    free(o.include);
    free(o.writable);
    free(o.trust_text);
    free(o.trust);
    free(o.define);
    free(o.macro);
    free(o.variable);
    code = flush_standard_output(code);
    if (code != CLI_MEMORY)
        return code;
    fflush(NULL); /* destructors of libraries may need memory, or may not have been finished */
    _exit(code);
}
