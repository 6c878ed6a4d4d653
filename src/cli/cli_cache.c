/* cli_cache.c - `vsim cache`: the compiled models that are kept on disk. */
#include "cli.h"
#include "jit_cache.h"
#include "vec.h"

#include <string.h>

/* "12 s", "3 min", "7 h", "2 d" into buf[16] */
static const char *age(char buf[16], double s)
{
    static const struct {
        double unit, below;
        const char *name;
    } scale[] = {{1, 100, "s"}, {60, 100 * 60, "min"}, {3600, 48 * 3600, "h"}, {86400, 1e30, "d"}};
    size_t i = 0;
    while (s >= scale[i].below && i + 1 < VS_COUNT(scale))
        i++;
    snprintf(buf, 16, "%.0f %s", s > 0 ? s / scale[i].unit : 0, scale[i].name);
    return buf;
}

static void list(const jit_cache_view *v)
{
    char a[16], b[16];
    printf("%s\n", v->dir);
    if (vec_len(v->file))
        printf("  %-36s %9s %10s\n", "file", "bytes", "last used");
    for (size_t i = 0; i < vec_len(v->file); i++)
        printf("  %-36s %9llu %6s ago\n", v->file[i].name, (unsigned long long)v->file[i].size,
               age(a, v->file[i].idle));
    printf("%zu files, %s of at most %s\n", vec_len(v->file), cli_si(a, (double)v->total, "B"),
           cli_si(b, (double)v->limit, "B"));
}

static vs_status clear(const char *dir, const char **why)
{
    size_t n;
    uint64_t bytes;
    char buf[16];
    vs_status st = jit_cache_clear(dir, &n, &bytes, why);
    printf("%zu files removed, %s\n", n, cli_si(buf, (double)bytes, "B"));
    return st;
}

int cli_cache(const cli_opt *o)
{
    const char *what = vec_len(o->arg) ? o->arg[0] : "list", *why;
    jit_cache_view v;
    if (!o->cache_dir) {
        fprintf(stderr, "vsim: no folder for compiled models: neither XDG_CACHE_HOME nor HOME is "
                        "set; --cache-dir DIR names one\n");
        return CLI_IO;
    }
    vs_status st = jit_cache_look(&v, o->cache_dir, &why);
    if (!strcmp(what, "path") && v.dir)
        printf("%s\n", v.dir), st = VS_OK;
    else if (!st && !strcmp(what, "clear"))
        st = clear(o->cache_dir, &why);
    else if (!st)
        list(&v);
    if (st)
        fprintf(stderr, "vsim: kernel cache '%s': %s\n", v.dir ? v.dir : "", why);
    jit_cache_look_fini(&v);
    return st ? CLI_IO : CLI_OK;
}
