/* rep_cache.c - `vsim cache`: the compiled models that are stored on disk. */
#include <string.h>

#include "store.h"
#include "rep.h"
#include "vec.h"

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

static void list(const store_view *v, FILE *out)
{
    char a[16], b[16];
    fprintf(out, "%s\n", v->dir);
    if (vec_len(v->file))
        fprintf(out, "  %-36s %9s %10s\n", "file", "bytes", "last used");
    for (size_t i = 0; i < vec_len(v->file); i++)
        fprintf(out, "  %-36s %9llu %6s ago\n", v->file[i].name,
                (unsigned long long)v->file[i].size, age(a, v->file[i].idle));
    fprintf(out, "%zu files, %s of at most %s\n", vec_len(v->file),
            rep_si(a, (double)v->total, "B"), rep_si(b, (double)v->limit, "B"));
}

static vs_status clear(const char *dir, const char **why, FILE *out)
{
    size_t n;
    uint64_t bytes;
    char buf[16];
    vs_status st = store_clear(dir, &n, &bytes, why);
    fprintf(out, "%zu files removed, %s\n", n, rep_si(buf, (double)bytes, "B"));
    return st;
}

vs_status rep_cache(const char *dir, const char *what, FILE *out, const char **why)
{
    store_view v;
    vs_status st = store_look(&v, dir, why);
    if (!strcmp(what, "path") && v.dir)
        fprintf(out, "%s\n", v.dir), st = VS_OK;
    else if (!st && !strcmp(what, "clear"))
        st = clear(dir, why, out);
    else if (!st)
        list(&v, out);
    store_look_fini(&v);
    return st;
}
