/* option.c - defaults, checks and texts of options. See option.h. */
#include "option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const option_info option_table[OPTION_N] = {
#define X(name, type, dflt, range, text) {#name, text, OPTION_IS_##range, (double)(dflt)},
    OPTION_LIST(X)
#undef X
};

static const char *const wanted[OPTION_N_RANGE] = {
#define X(name, text) text,
    OPTION_RANGE_LIST(X)
#undef X
};

const char *option_wanted(option_range r) { return wanted[r]; }

/* Words of choices: the first of each is its text, "" separates them; the order is that of
 * ana_method, lu_kind, ckt_bypass (asserted where they are used). */
static const char *const *words_of(option_range r)
{
    static const char *const method[] = {"trap", "gear", NULL};
    static const char *const lu[] = {"auto", "klu", "tiny", "umfpack", "dense", "cholesky", NULL};
    static const char *const bypass[] = {"auto", "0", "1", NULL};
    static const char *const stepstart[] = {"none", "first", NULL};
    static const char *const errpreset[] = {"moderate", "liberal", "conservative", NULL};
    static const char *const delays[] = {"0", "1", "2", "3", NULL};
    static const char *const bridges[] = {"0", "1", "2", NULL};
    switch (r) {
    case OPTION_IS_METHOD: return method;
    case OPTION_IS_LU: return lu;
    case OPTION_IS_BYPASS: return bypass;
    case OPTION_IS_STEPSTART: return stepstart;
    case OPTION_IS_ERRPRESET: return errpreset;
    case OPTION_IS_DELAYS: return delays;
    case OPTION_IS_BRIDGES: return bridges;
    default: return NULL;
    }
}

void option_default(option_set *o)
{
    *o = (option_set){
#define X(name, type, dflt, ...) .name = dflt,
        OPTION_LIST(X)
#undef X
    };
}

option_class option_find(const char *name, option_id *id)
{
    static const char *const silent[] = {
#define X(name) #name,
        OPTION_SILENT_LIST(X)
#undef X
    };
    static const char *const ignored[] = {
#define X(name) #name,
        OPTION_IGNORED_LIST(X)
#undef X
    };
    for (size_t i = 0; i < OPTION_N; i++)
        if (!strcmp(option_table[i].name, name)) {
            *id = (option_id)i;
            return OPTION_SET;
        }
    for (size_t i = 0; i < VS_COUNT(silent); i++)
        if (!strcmp(silent[i], name))
            return OPTION_SILENT;
    for (size_t i = 0; i < VS_COUNT(ignored); i++)
        if (!strcmp(ignored[i], name))
            return OPTION_IGNORED;
    return OPTION_UNKNOWN;
}

size_t option_names(const char *const **name)
{
    static const char *const all[] = {
#define X(name, ...) #name,
        OPTION_LIST(X) OPTION_SILENT_LIST(X) OPTION_IGNORED_LIST(X)
#undef X
    };
    *name = all;
    return VS_COUNT(all);
}

static bool is_whole(double v, double least, double most)
{
    return v >= least && v <= most && v == floor(v);
}

static bool is_right(option_range r, double v)
{
    switch (r) {
    case OPTION_IS_POSITIVE: return isfinite(v) && v > 0;
    case OPTION_IS_NOT_NEGATIVE: return isfinite(v) && v >= 0;
    case OPTION_IS_COUNT: return is_whole(v, 1, 1e9);
    case OPTION_IS_FRACTION: return v >= 0 && v < 1;
    case OPTION_IS_SEED: return is_whole(v, 0, 9e15);
    case OPTION_IS_THREADS: return is_whole(v, 0, 1024);
    case OPTION_IS_CELSIUS: return isfinite(v) && v > -273.15;
    default: return isfinite(v);
    }
}

/* The word's place, -1: none. A number that is written another way (1.0) is its word too. */
static int find_word(const char *const *word, const char *text, double value)
{
    for (int i = 0; word[i]; i++) {
        char buf[32];
        snprintf(buf, sizeof buf, "%g", value);
        if (!strcmp(word[i], text) || !strcmp(word[i], buf))
            return i;
    }
    return -1;
}

static void put(option_set *o, option_id id, double v)
{
    switch (id) {
#define X(name, type, ...) \
    case OPTION_##name: o->name = (type)v; break;
        OPTION_LIST(X)
#undef X
    case OPTION_N: return;
    }
    if (id < OPTION_N)
        o->given[id] = true;
}

/* What errpreset sets, where no card says it; moderate is what the list has. A step grows with the
 * cube root of trtol. */
static void take_preset(option_set *o)
{
    static const struct {
        double reltol, trtol;
    } of[] = {{1e-3, 3.5}, {1e-3, 35}, {1e-4, 3.5}};
    if (!o->given[OPTION_reltol])
        o->reltol = of[o->errpreset].reltol;
    if (!o->given[OPTION_trtol])
        o->trtol = of[o->errpreset].trtol;
}

const char *option_set_word(option_set *o, option_id id, const char *text, double value)
{
    const option_range r = option_table[id].range;
    const char *const *word = words_of(r);
    if (word) {
        const bool spelled = r == OPTION_IS_METHOD && !strcmp(text, "trapezoidal");
        value = find_word(word, spelled ? "trap" : text, value);
        if (value < 0)
            return wanted[r];
    } else if (!is_right(r, value)) {
        return wanted[r];
    } else if (r == OPTION_IS_SWITCH) {
        value = value != 0;
    }
    put(o, id, value);
    if (id == OPTION_errpreset)
        take_preset(o);
    return NULL;
}

static bool is_possible(const option_set *o, option_id id)
{
    const option_range r = option_table[id].range;
    const char *const *word = words_of(r);
    const double v = option_number(o, id);
    int n = 0;
    while (word && word[n])
        n++;
    return word ? is_whole(v, 0, n - 1) : is_right(r, v);
}

void option_image(option_set *o, image *im)
{
#define X(name, ...) IMAGE_ONE(im, o->name);
    OPTION_LIST(X)
#undef X
    for (int i = 0; i < OPTION_N; i++)
        IMAGE_ONE(im, o->given[i]);
    for (int i = 0; i < OPTION_N && im->giving && !im->wrong; i++)
        if (!is_possible(o, (option_id)i))
            image_refuse(im);
}

double option_number(const option_set *o, option_id id)
{
    switch (id) {
#define X(name, ...) \
    case OPTION_##name: return (double)o->name;
        OPTION_LIST(X)
#undef X
    case OPTION_N: break;
    }
    return NAN;
}

const char *option_text(const option_set *o, option_id id, char *buf, size_t size)
{
    const char *const *word = words_of(option_table[id].range);
    const double v = option_number(o, id);
    if (word)
        return word[(int)v];
    snprintf(buf, size, "%.12g", v);
    return buf;
}
