/* main.c - dispatch of the vsim command. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* A caller may have closed standard streams; a result file must not come to stand in their place.
 */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            _exit(CLI_IO);
}

static int flush_standard_output(int code)
{
    if (!fflush(stdout) || errno == EPIPE || code != CLI_OK)
        return code;
    fprintf(stderr, "vsim: standard output: %s\n", strerror(errno));
    return CLI_IO;
}

int main(int argc, char **argv)
{
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
        case CMD_VERSION: printf("vsim %s\n", VSIM_VERSION); break;
        case CMD_MODELS: code = cli_models(&o); break;
        case CMD_COMPILE: code = cli_compile(&o); break;
        case CMD_MERGE: code = cli_merge(&o); break;
        case CMD_TUNE: code = cli_tune(&o); break;
        case CMD_CACHE: code = cli_cache(&o); break;
        case CMD_ANALYZE:
        case CMD_RUN:
        case CMD_PROFILE:
        case CMD_CHECK:
        case CMD_EXPLAIN: code = cli_run(&o); break;
        }
    vsim_inside_leave(&o.ranks);
    free(o.user_cache);
    free(o.arg);
    free(o.include);
    free(o.define);
    return flush_standard_output(code);
}
