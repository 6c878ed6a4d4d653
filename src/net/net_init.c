/* net_init.c - ngspice's start-up file: the models that it loads, the folders that it names, and
 * the variables that it sets for .control blocks. Its other commands have no meaning here.
 * Source: ngspice manual, "Initialization files"; docs/pdk-ihp.md shows one. */
#include <string.h>
#include <sys/stat.h>

#include "io.h"
#include "files.h"
#include "net_priv.h"
#include "option.h"
#include "vec.h"

typedef struct init {
    net_deck *deck;
    diag *d;
    arena *mem;
    const net_opt *opt;
    const char ***folder; /* vec */
    int32_t file;
    const char *s;
    uint32_t pos, end; /* of the line */
} init;

/* The next character that is not blank, which stays; 0: the line ends. */
static char peek(init *r)
{
    while (r->pos < r->end && strchr(" \t\r", r->s[r->pos]))
        r->pos++;
    return r->pos < r->end ? r->s[r->pos] : 0;
}

/* The next word between `gaps`, without its quotes. false: none. */
static bool word_between(init *r, const char *gaps, diag_span *at, const char **word)
{
    while (r->pos < r->end && strchr(gaps, r->s[r->pos]))
        r->pos++;
    if (r->pos >= r->end)
        return false;
    const char quote = strchr("\"'", r->s[r->pos]) ? r->s[r->pos] : 0;
    const uint32_t from = r->pos += quote != 0;
    while (r->pos < r->end && (quote ? r->s[r->pos] != quote : !strchr(gaps, r->s[r->pos])))
        r->pos++;
    *at = (diag_span){r->file, from, r->pos - from};
    *word = arena_strndup(r->mem, r->s + from, r->pos - from);
    r->pos += quote != 0 && r->pos < r->end;
    return true;
}

static bool next_word(init *r, diag_span *at, const char **word)
{
    return word_between(r, " \t\r=(),", at, word);
}

static bool is_file(const char *path)
{
    struct stat sb;
    return !stat(path, &sb) && S_ISREG(sb.st_mode);
}

/* The file `name` in a folder or one below it, some levels deep; NULL: there is none. */
static const char *find_below(arena *mem, const char *folder, const char *name, int levels)
{
    bool found;
    const char *path = arena_printf(mem, "%s/%s", folder, name), *hit = NULL;
    if (is_file(path))
        return path;
    const char **inside = levels ? io_names(mem, folder, &found) : NULL;
    for (size_t i = 0; i < vec_len(inside) && !hit; i++) {
        struct stat sb;
        path = arena_printf(mem, "%s/%s", folder, inside[i]);
        if (!stat(path, &sb) && S_ISDIR(sb.st_mode))
            hit = find_below(mem, path, name, levels - 1);
    }
    vec_free(inside);
    return hit;
}

/* Kits compile their models at installation; a plain clone has only the sources: beside
 * ngspice/osdi/psp103.osdi, or in verilog-a/psp103/psp103.va of a folder above it. */
static const char *find_source(arena *mem, const char *path, size_t n)
{
    const char *source = arena_printf(mem, "%.*s.va", (int)(n - 5), path);
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
    if (is_file(source) || !slash)
        return is_file(source) ? source : NULL;
    size_t end = (size_t)(slash - source);
    const char *hit = NULL;
    for (int up = 0; up < 3 && !hit; up++) {
        while (end && source[--end] != '/')
            ;
        if (end)
            hit = find_below(mem, arena_printf(mem, "%.*s/verilog-a", (int)end, source), name, 3);
    }
    return hit;
}

void net_add_osdi(net_deck *deck, diag *d, arena *mem, const char *path, diag_span at)
{
    const size_t n = strlen(path);
    if (!is_file(path) && n > 5 && !strcmp(path + n - 5, ".osdi")) {
        const char *source = find_source(mem, path, n);
        if (!source) { /* the deck may not need it: then this is all */
            diag_warning(d, at, "'%s' does not exist, and neither does its Verilog-A source", path);
            return;
        }
        path = source;
    }
    vec_push(deck->hdl, path);
    vec_push(deck->hdl_span, at);
}

static void add_osdi(init *r)
{
    diag_span at;
    const char *word;
    while (next_word(r, &at, &word))
        net_add_osdi(r->deck, r->d, r->mem, net_find_file(r->d, r->mem, word, r->file, r->opt), at);
}

static void add_folders(init *r)
{
    diag_span at;
    const char *word;
    while (next_word(r, &at, &word))
        if (strcmp(word, "$sourcepath") != 0)
            vec_push(*r->folder, net_find_file(r->d, r->mem, word, r->file, NULL));
}

static void remove_variable(init *r, const char *name)
{
    for (size_t i = 0; i < vec_len(r->deck->start); i++)
        if (!str_casecmp(r->deck->start[i].name, name)) {
            r->deck->start[i] = vec_last(r->deck->start);
            (void)vec_pop(r->deck->start);
            return;
        }
}

const char *net_start_value(const net_deck *deck, const char *name)
{
    for (size_t i = 0; i < vec_len(deck->start); i++)
        if (!str_casecmp(deck->start[i].name, name))
            return vec_len(deck->start[i].word) ? deck->start[i].word[0] : "";
    return NULL;
}

/* What follows a name: nothing, = value, = ( value ... ). In mem. */
static net_var read_values(init *r, const char *name, diag_span of_name)
{
    const char **word = NULL, *one;
    diag_span at;
    if (peek(r) == '=') {
        r->pos++;
        const bool list = peek(r) == '(';
        r->pos += list;
        while ((list ? peek(r) != ')' : !vec_len(word)) && word_between(r, " \t\r()", &at, &one)) {
            if (*one == '$')
                diag_warning(r->d, at, "'%s' is taken as it stands in a start-up file", one);
            vec_push(word, one);
        }
        r->pos += list && peek(r) == ')';
    }
    vec_freeze(r->mem, word);
    return (net_var){name, word, of_name};
}

/* Options, and the present plot, are of a circuit: ngspice has none yet. */
static bool is_of_circuit(const char *name)
{
    bool is = !str_casecmp(name, "curplot");
    for (int i = 0; i < OPTION_N && !is; i++)
        is = !str_casecmp(name, option_table[i].name) && str_casecmp(name, "seed") != 0;
    return is;
}

/* name | name = value | name = ( value ... ), several in a row */
static void set_variables(init *r)
{
    diag_span at;
    const char *name;
    while (next_word(r, &at, &name)) {
        if (!str_casecmp(name, "sourcepath")) {
            add_folders(r);
            return;
        }
        const net_var v = read_values(r, name, at);
        if (is_of_circuit(name)) {
            diag_warning(r->d, at, "the variable '%s' has no effect in a start-up file", name);
            continue;
        }
        remove_variable(r, name);
        vec_push(r->deck->start, v);
    }
}

static void read_line(init *r)
{
    diag_span at;
    const char *word;
    if (!next_word(r, &at, &word) || strchr("*#$;", word[0]) || !strcmp(word, "echo"))
        return;
    if (!strcmp(word, "osdi") || !strcmp(word, "pre_osdi"))
        add_osdi(r);
    else if (!strcmp(word, "set") || !strcmp(word, "setcs"))
        set_variables(r);
    else if (!strcmp(word, "unset"))
        while (next_word(r, &at, &word))
            remove_variable(r, word);
    else
        diag_warning(r->d, at,
                     "'%s' has no effect in a start-up file; osdi FILE, set NAME = VALUE, "
                     "set sourcepath = ( FOLDER ... ) have",
                     word);
}

static bool may_read(diag *d, const char *path)
{
    if (!is_file(path))
        return false;
    if (files_trusted(path))
        return true;
    diag_warning(d, DIAG_NOWHERE,
                 "the start-up file '%s' is not read: its folder is not one that the user trusts "
                 "(--allow-native, ~/.config/vsim/trust)",
                 path);
    return false;
}

/* The first of: beside the deck, here, at home. */
static const char *find_init(diag *d, arena *mem, const char *deck)
{
    const char *slash = strrchr(deck, '/'), *home = diag_variable(d, "HOME");
    const char *path =
        slash ? arena_printf(mem, "%.*s/.spiceinit", (int)(slash - deck), deck) : ".spiceinit";
    const char *own = home ? arena_printf(mem, "%s/.spiceinit", home) : "";
    if (files_same(path, own) || may_read(d, path))
        return path;
    if (slash && (files_same(".spiceinit", own) || may_read(d, ".spiceinit")))
        return ".spiceinit";
    return is_file(own) ? own : NULL;
}

void net_init_file(net_deck *deck, diag *d, arena *mem, const char *path, const net_opt *opt,
                   const char ***folder)
{
    const char *why, *name = find_init(d, mem, path);
    init r = {.deck = deck, .d = d, .mem = mem, .opt = opt, .folder = folder};
    if (!name)
        return;
    if (diag_read_file(d, name, DIAG_NOWHERE, &r.file, &why)) {
        diag_warning(d, DIAG_NOWHERE, "start-up file '%s' %s", name, why);
        return;
    }
    r.s = d->file[r.file].text;
    const uint32_t len = (uint32_t)d->file[r.file].len;
    for (uint32_t from = 0; from < len; from = r.end + 1) {
        const char *nl = memchr(r.s + from, '\n', len - from);
        r.pos = from;
        r.end = nl ? (uint32_t)(nl - r.s) : len;
        read_line(&r);
    }
}
