/* main.c - dispatch of the vsim command. */
#include "cli.h"
#include "vec.h"

int main(int argc, char **argv)
{
    cli_opt o;
    if (!cli_opt_parse(&o, argc, argv))
        return CLI_USAGE;
    int code = CLI_OK;
    switch (o.command) {
    case CMD_HELP: cli_help(vec_len(o.arg) ? o.arg[0] : NULL, stdout); break;
    case CMD_VERSION: printf("vsim %s\n", VSIM_VERSION); break;
    case CMD_MODELS: code = cli_models(&o); break;
    case CMD_COMPILE: code = cli_compile(&o); break;
    case CMD_CACHE: code = cli_cache(&o); break;
    case CMD_RUN:
    case CMD_CHECK:
    case CMD_EXPLAIN: code = cli_run(&o); break;
    }
    vec_free(o.arg);
    vec_free(o.include);
    vec_free(o.define);
    return code;
}
