/* conv_vcd_read.c - value change dumps of logic simulators as curves that step.
 * Source: IEEE Std 1364-2005, clause 18: words between blanks; a declaration ends with $end; #TIME,
 *         then changes: 0id, 1id, xid, zid; bBITS id; rNUMBER id. Bits of a vector are a whole
 *         number without sign; x and z are no numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv_priv.h"
#include "map.h"

typedef struct wire {
    double now;
    post_vec *v;
    int32_t next; /* of the same code; -1: none */
} wire;

typedef struct dump {
    conv_job *j;
    char *at;       /* the text not yet read; words get a 0 behind them */
    str_pool words; /* codes, and names of scopes */
    const char **scope;
    wire *wire;  /* vec */
    map first;   /* code -> wire */
    double unit; /* s */
    double time; /* s, of the changes that are read; NAN: none yet */
    double *old; /* vec: values of the point before */
    post_plot *p;
    post_vec *axis;
} dump;

static char *next_word(dump *d)
{
    d->at += strspn(d->at, " \t\r\n\f\v");
    char *w = d->at;
    const size_t n = strcspn(w, " \t\r\n\f\v");
    d->at += n;
    if (*d->at)
        *d->at++ = 0;
    return n ? w : NULL;
}

static void skip_to_end(dump *d)
{
    char *w;
    while ((w = next_word(d)) && strcmp(w, "$end"))
        continue;
}

/* "10ps", "1 ns" */
static vs_status read_unit(dump *d)
{
    static const char *const unit[] = {"s", "ms", "us", "ns", "ps", "fs"};
    char *end = NULL, *w = next_word(d);
    const double n = w ? strtod(w, &end) : 0;
    if (end && !*end)
        end = next_word(d);
    for (size_t k = 0; k < VS_COUNT(unit) && end; k++)
        if (!strcmp(end, unit[k])) {
            d->unit = n * pow(1e-3, (double)k);
            skip_to_end(d);
            return n > 0 ? VS_OK : conv_fail(d->j, "has a time scale that is not above 0");
        }
    return conv_fail(d->j, "has a time scale that is none");
}

/* "top.x1.name", without the outermost scope that vsim writes. */
static const char *full_name(dump *d, const char *name, arena *mem)
{
    const char *path = "";
    for (size_t k = 0; k < vec_len(d->scope); k++)
        if (k || strcmp(d->scope[k], "top"))
            path = arena_printf(mem, "%s%s.", path, d->scope[k]);
    return arena_printf(mem, "%s%s", path, name);
}

/* type size code name [range] $end */
static vs_status read_var(dump *d, arena *mem)
{
    char *type = next_word(d), *size = next_word(d), *code = next_word(d), *name = next_word(d);
    if (!isnan(d->time))
        return conv_fail(d->j, "declares signals behind the first time");
    if (!type || !size || !code || !name || !strcmp(name, "$end"))
        return conv_fail(d->j, "has a $var that is not whole");
    code = (char *)(uintptr_t)str_intern0(&d->words, code);
    const int32_t k = (int32_t)vec_len(d->wire), first = map_get(&d->first, map_key(code), -1);
    if (!d->p) {
        d->p = post_plot_new(d->j->set, "tran", d->j->path, "Transient Analysis");
        d->p->scale = d->axis = post_plot_append(d->j->set, d->p, "time", "time", false);
    }
    vec_push(d->wire, ((wire){.now = NAN,
                              .v = post_plot_append(d->j->set, d->p, full_name(d, name, mem),
                                                    "notype", false),
                              .next = first}));
    map_set(&d->first, map_key(code), k);
    skip_to_end(d);
    return VS_OK;
}

static void push_point(dump *d)
{
    const size_t n = vec_len(d->wire);
    bool same = vec_len(d->old) == n;
    for (size_t k = 0; k < n && same; k++)
        same = !memcmp(&d->old[k], &d->wire[k].now, sizeof *d->old);
    for (int step = vec_len(d->old) == n && !same ? 0 : 1; step < 2; step++) {
        post_vec_push(d->axis, d->time, 0);
        for (size_t k = 0; k < n; k++)
            post_vec_push(d->wire[k].v, step ? d->wire[k].now : d->old[k], 0);
    }
    vec_clear(d->old);
    for (size_t k = 0; k < n; k++)
        vec_push(d->old, d->wire[k].now);
}

static vs_status read_time(dump *d, const char *w)
{
    char *end;
    const double t = strtod(w, &end) * d->unit;
    if (end == w || *end || !d->p || t < d->time)
        return conv_fail(d->j, d->p ? "has times that go back, or are none" : "has no signals");
    if (!isnan(d->time) && t > d->time)
        push_point(d);
    d->time = t;
    return VS_OK;
}

static double value_of(const char *bits)
{
    double x = 0;
    for (; *bits; bits++)
        x = *bits == '0' || *bits == '1' ? 2 * x + (*bits - '0') : NAN;
    return x;
}

/* Reads a change: the value is in front of the code, or a word of its own. */
static vs_status read_change(dump *d, char *w)
{
    const char kind = (char)(*w | 0x20);
    const bool word = kind == 'b' || kind == 'r';
    char bit[2] = {*w, 0}, *code = word ? next_word(d) : w + 1;
    if (!strchr("01xzbr", kind) || !code || !*code)
        return conv_fail(d->j, "has a change that is none: '%.40s'", w);
    char *end = w + 1;
    const double x = !word ? value_of(bit) : kind == 'b' ? value_of(w + 1) : strtod(w + 1, &end);
    if (kind == 'r' && (end == w + 1 || *end))
        return conv_fail(d->j, "has a real number that is none: '%.40s'", w);
    code = (char *)(uintptr_t)str_intern0(&d->words, code);
    if (map_get(&d->first, map_key(code), -1) < 0)
        return conv_fail(d->j, "changes '%.40s', which is not declared", code);
    for (int32_t k = map_get(&d->first, map_key(code), -1); k >= 0; k = d->wire[k].next)
        d->wire[k].now = x;
    return VS_OK;
}

static vs_status read_word(dump *d, char *w, arena *mem)
{
    if (*w == '#')
        return read_time(d, w + 1);
    if (*w != '$')
        return read_change(d, w);
    if (!strcmp(w, "$timescale"))
        return read_unit(d);
    if (!strcmp(w, "$var"))
        return read_var(d, mem);
    if (!strcmp(w, "$scope")) {
        const char *name = next_word(d) ? next_word(d) : NULL;
        if (!name)
            return conv_fail(d->j, "ends in a $scope");
        vec_push(d->scope, str_intern0(&d->words, name));
        skip_to_end(d);
    } else if (!strcmp(w, "$upscope")) {
        if (vec_len(d->scope))
            (void)vec_pop(d->scope);
        skip_to_end(d);
    } else if (strncmp(w, "$dump", 5) != 0 && strcmp(w, "$end") != 0) {
        skip_to_end(d); /* $date, $version, $comment, $enddefinitions */
    }
    return VS_OK;
}

vs_status conv_read_vcd(conv_job *j)
{
    size_t n;
    char *text = conv_bytes(j->path, &n), *w;
    if (!text)
        return conv_fail(j, "cannot be read");
    dump d = {.j = j, .at = text, .unit = 1, .time = NAN};
    vs_status st = VS_OK;
    arena mem;
    arena_init(&mem);
    str_pool_init(&d.words);
    while (!st && (w = next_word(&d)))
        st = read_word(&d, w, &mem);
    if (!st && d.p && !isnan(d.time))
        push_point(&d);
    if (!st && !d.p)
        st = conv_fail(j, "is a value change dump without signals");
    if (!st && isnan(d.time))
        st = conv_fail(j, "is a value change dump without times");
    vec_free(d.scope);
    vec_free(d.wire);
    vec_free(d.old);
    map_free(&d.first);
    str_pool_fini(&d.words);
    arena_fini(&mem);
    vs_free(text);
    return st;
}
