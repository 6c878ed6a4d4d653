/* cli_env.c - what the command takes from the environment (vsim.1, ENVIRONMENT). The library reads
 * none of it: it gets settings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

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

/* Reads vsim/trust in the user's folder of configurations: one folder a line, # begins a comment. A
 * file that others can write does not count. */
static void read_trust(cli_opt *o)
{
    const char *xdg = given("XDG_CONFIG_HOME"), *home = given("HOME");
    const bool own = xdg && xdg[0] == '/';
    char path[4096];
    struct stat sb;
    if ((!own && !home) ||
        snprintf(path, sizeof path, "%s%s", own ? xdg : home,
                 own ? "/vsim/trust" : "/.config/vsim/trust") >= (int)sizeof path)
        return;
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (!fstat(fileno(f), &sb) && S_ISREG(sb.st_mode) && sb.st_size < 1 << 20 &&
        !(sb.st_mode & 022) && (sb.st_uid == geteuid() || !sb.st_uid) &&
        (o->trust_text = calloc(1, (size_t)sb.st_size + 1)) &&
        (o->trust = calloc((size_t)sb.st_size + 1, sizeof *o->trust))) {
        o->trust_text[fread(o->trust_text, 1, (size_t)sb.st_size, f)] = 0;
        for (char *s = strtok(o->trust_text, "\n"); s; s = strtok(NULL, "\n"))
            if (*s == '/')
                o->trust[o->n_trust++] = s;
    }
    fclose(f);
}

/* The bytes that this process can have, by the machine's memory and its control group's. The kernel
 * would kill a process that takes more, and lose what it has not written yet. */
static size_t machine_memory(void)
{
    struct sysinfo now;
    double all = sysinfo(&now) ? 0 : ((double)now.totalram + (double)now.totalswap) * now.mem_unit;
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
    double group;
    if (f && fscanf(f, "%lf", &group) == 1 && group > 0 && (group < all || !all))
        all = group; /* "max": no limit */
    if (f)
        fclose(f);
    return (size_t)(0.9 * all);
}

void cli_env_read(cli_opt *o)
{
    o->memory = machine_memory();
    read_trust(o);
    const double silence = number("VSIM_RANK_TIMEOUT");
    char path[4096];
    o->models = given("VSIM_MODELS");
    o->plugins = given("VSIM_LIBDIR");
    o->cpu = given("VSIM_CPU");
    o->lanes = (int)number("VSIM_LANES");
    o->parallel_min = given("VSIM_PARALLEL_MIN") ? fmax(number("VSIM_PARALLEL_MIN"), 1) : 0;
    o->rank_silence = silence >= 1 && silence < 1e6 ? silence : 0;
    if (!o->cache_dir &&
        vsim_cache_folder(given("XDG_CACHE_HOME"), given("HOME"), path, sizeof path))
        o->user_cache = strdup(path);
    if (!o->cache_dir)
        o->cache_dir = o->user_cache;
}
