/* cli_env.c - what the command takes from the environment (vsim.1, ENVIRONMENT). The library reads
 * none of it: it gets settings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const char *cli_variable(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

static const char *given(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static double number(const char *name)
{
    const char *text = given(name);
    return text ? strtod(text, NULL) : 0;
}

/* The user's folder for what can be computed again; NULL: there is none. */
static char *cache_folder(void)
{
    const char *xdg = given("XDG_CACHE_HOME"), *home = given("HOME");
    const bool own = xdg && xdg[0] == '/';
    if (!own && !(home && home[0] == '/'))
        return NULL;
    const char *base = own ? xdg : home, *behind = own ? "/vsim" : "/.cache/vsim";
    const size_t n = strlen(base) + strlen(behind) + 1;
    char *dir = malloc(n);
    if (dir)
        snprintf(dir, n, "%s%s", base, behind);
    return dir;
}

void cli_env_read(cli_opt *o)
{
    const double silence = number("VSIM_RANK_TIMEOUT");
    o->models = given("VSIM_MODELS");
    o->plugins = given("VSIM_LIBDIR");
    o->cpu = given("VSIM_CPU");
    o->lanes = (int)number("VSIM_LANES");
    o->parallel_min = given("VSIM_PARALLEL_MIN") ? fmax(number("VSIM_PARALLEL_MIN"), 1) : 0;
    o->rank_silence = silence >= 1 && silence < 1e6 ? silence : 0;
    o->user_cache = o->cache_dir ? NULL : cache_folder();
    if (!o->cache_dir)
        o->cache_dir = o->user_cache;
}
