/* net_parse.c - logical lines to cards: includes, library sections, subcircuit bodies, .if nesting.
 * Cards keep the order of the text. What a card means is decided when the deck is expanded. */
#include <string.h>

#include "net_for.h"
#include "net_priv.h"
#include "net_spef.h"
#include "vec.h"

enum { MAX_INCLUDE_DEPTH = 100, MAX_FILES = 20000, MAX_TOTAL_BYTES = 1 << 29, MAX_NESTING = 200 };

typedef struct open_file {
    const char *path, *section; /* interned; section NULL: the whole file */
} open_file;
typedef struct open_if {
    diag_span span;
    net_sub *sub;
    bool has_else;
} open_if;

/* The logical lines of an included file, kept so that a library that many files include is read
 * once. */
typedef struct known_file {
    int32_t file;   /* its text */
    net_line *line; /* vec; an element as it stands in the deck, others with their tokens, which
                       cards of the same line share */
} known_file;

typedef struct spef_card {
    net_card card;
    net_sub *in; /* definition that it stands in */
} spef_card;

typedef struct reader {
    net_deck *deck;
    diag *d;
    str_pool *names;
    arena *mem;
    const net_opt *opt;
    net_sub *cur; /* definition that cards go to */
    int nesting;
    open_file *chain; /* vec: files being read, outermost first */
    open_if *open;    /* vec: .if without .endif so far */
    size_t n_file, n_byte, n_card;
    int n_error; /* before the deck was read */
    bool too_much;
    size_t n_step_lib; /* .step lib cards so far */
    int32_t n_alter;   /* .alter cards so far */
    bool skip;         /* in an .alter block that is not applied */
    size_t block;      /* first card of the .alter block */
    net_range *range;  /* vec: what files at top level gave */
    spef_card *spef;   /* vec: .spef cards, read when all other cards are */
    bool expanded;     /* this text has no loops, indices and sums left */
    net_for loop;
    known_file *known; /* vec: included files without messages, whose cards do not move the place of
                          reading */
} reader;

static const struct card_word {
    net_card_kind kind;
    const char *word;
} card_words[] = {
#define X(id, text) {NET_CARD_##id, text},
    NET_CARD_LIST(X)
#undef X
};

diag_span net_tok_span(const net_card *c, const net_tok *t)
{
    return (diag_span){c->file, t->off, t->len};
}

diag_span net_card_span(const net_card *c) { return net_tok_span(c, &c->tok[0]); }

diag_span net_line_span(const net_line *l)
{
    return l->is_element ? (diag_span){l->file, l->off, (uint32_t)strlen(l->name)}
                         : net_card_span(l->card);
}

net_card net_line_full(const net_line *line, diag *d, str_pool *names, net_tok **tok)
{
    if (!line->is_element)
        return *line->card;
    const diag_file *f = &d->file[line->file];
    net_lex l = {.d = d,
                 .names = names,
                 .s = f->text,
                 .len = (uint32_t)f->len,
                 .pos = line->off,
                 .file = line->file,
                 .quiet = true, /* messages were given */
                 .tok = *tok};
    (void)net_lex_card(&l);
    *tok = l.tok;
    return (net_card){.file = line->file,
                      .kind = NET_ELEMENT,
                      .n_tok = (int32_t)vec_len(l.tok),
                      .tok = l.tok,
                      .name = line->name};
}

/* -- file names -- */

net_tok net_file_tok(const net_card *c, int32_t k, char stop, int32_t *next)
{
    net_tok t = c->tok[k++];
    for (; t.kind == NET_T_WORD && k < c->n_tok && c->tok[k].glued &&
           !(stop && c->tok[k].punct == stop);
         k++)
        t.len = c->tok[k].off + c->tok[k].len - t.off;
    *next = k;
    return t;
}

const char *net_file_text(const diag *d, arena *mem, const net_card *c, const net_tok *t)
{
    const bool quoted = (t->kind == NET_T_STR || t->kind == NET_T_EXPR) && t->len >= 2;
    return arena_strndup(mem, d->file[c->file].text + t->off + quoted, t->len - (quoted ? 2 : 0));
}

/* ~ at the start, $NAME and ${NAME} anywhere; an unknown variable stays as written */
static const char *expand_name(const diag *d, arena *mem, const char *name)
{
    const char *out = "";
    const bool tilde = name[0] == '~' && (name[1] == '/' || !name[1]);
    const char *home = tilde ? diag_variable(d, "HOME") : NULL;
    if (home) {
        out = arena_strndup(mem, home, strlen(home));
        name++;
    }
    while (*name) {
        size_t n = strcspn(name, "$");
        out = arena_printf(mem, "%s%.*s", out, (int)n, name);
        name += n;
        if (!*name)
            break;
        bool braced = name[1] == '{';
        const char *var = name + 1 + braced;
        size_t k = strspn(var, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        const char *value = k ? diag_variable(d, arena_strndup(mem, var, k)) : NULL;
        const char *end = var + k + (braced && var[k] == '}');
        out = value ? arena_printf(mem, "%s%s", out, value)
                    : arena_printf(mem, "%s%.*s", out, (int)(end - name), name);
        name = end;
    }
    return out;
}

const char *net_find_file(const diag *d, arena *mem, const char *name, int32_t from,
                          const net_opt *opt)
{
    name = expand_name(d, mem, name);
    if (name[0] == '/' || !name[0])
        return name;
    const char *base = from >= 0 ? d->file[from].name : "";
    const char *slash = strrchr(base, '/');
    const char *beside =
        slash ? arena_printf(mem, "%.*s/%s", (int)(slash - base), base, name) : name;
    if (diag_has_file(d, beside))
        return beside;
    for (size_t i = 0; opt && i < opt->n_include; i++) {
        const char *path = arena_printf(mem, "%s/%s", opt->include[i], name);
        if (diag_has_file(d, path))
            return path;
    }
    return name;
}

/* -- cards -- */

static net_line line_of(reader *r, const net_card *c)
{
    net_card *own = arena_new(r->mem, net_card);
    *own = *c;
    return (net_line){.file = c->file, .kind = (uint32_t)c->kind & 127, .card = own};
}

static void add_card(reader *r, const net_card *c) { vec_push(r->cur->line, line_of(r, c)); }

static void add_element(reader *r, int32_t file, uint32_t off, const char *name, bool first)
{
    vec_push(r->cur->line, ((net_line){.kind = NET_ELEMENT,
                                       .is_element = true,
                                       .is_first = first,
                                       .file = file,
                                       .off = off,
                                       .name = name}));
}

/* The card of the line just read. Its tokens belong to the lexer, which overwrites them with the
 * next line. */
static net_card card_of(const net_lex *l)
{
    return (net_card){.file = l->file, .n_tok = (int32_t)vec_len(l->tok), .tok = l->tok};
}

static void own_tokens(reader *r, net_card *c)
{
    net_tok *own = arena_array(r->mem, net_tok, c->n_tok);
    memcpy(own, c->tok, (size_t)c->n_tok * sizeof *own);
    c->tok = own;
}

static net_card_kind kind_of_word(const char *word)
{
    for (size_t i = 0; i < VS_COUNT(card_words); i++)
        if (!strcmp(card_words[i].word, word))
            return card_words[i].kind;
    return NET_CARD_UNKNOWN;
}

/* -- Xyce -- */

static bool is_listed(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, list[i]))
            return true;
    return false;
}

#define X(word) word,
static const char *const xyce_card[] = {NET_XYCE_CARD_LIST(X)};
static const char *const xyce_package[] = {NET_XYCE_PACKAGE_LIST(X)};
static const char *const xyce_print[] = {NET_XYCE_PRINT_LIST(X)};
#undef X

bool net_xyce_package(const char *word)
{
    return is_listed(word, xyce_package, VS_COUNT(xyce_package));
}

bool net_xyce_print(const char *word) { return is_listed(word, xyce_print, VS_COUNT(xyce_print)); }

/* .sens objfunc={...} param=...: an analysis of its own only here. */
static bool is_xyce_sens(const net_card *c)
{
    static const char *const first[] = {"objfunc", "objvars", "acobjfunc", "param"};
    return c->kind == NET_CARD_SENS && c->n_tok > 2 && c->tok[1].text && c->tok[2].punct == '=' &&
           is_listed(c->tok[1].text, first, VS_COUNT(first));
}

static bool is_xyce(const net_lex *l, const net_card *c)
{
    const char *first = c->n_tok > 1 && c->tok[1].text ? c->tok[1].text : "";
    if (c->kind == NET_CARD_OPTION)
        return net_xyce_package(first) && c->n_tok > 2 && !c->tok[2].punct;
    if (is_xyce_sens(c))
        return true;
    if (strcmp(c->name, "print") != 0)
        return is_listed(c->name, xyce_card, VS_COUNT(xyce_card));
    int depth = 0;
    for (int32_t i = 1; i < c->n_tok; i++) {
        const net_tok *t = &c->tok[i];
        depth += t->punct == '(' ? 1 : t->punct == ')' ? -1 : 0;
        const bool key = i + 1 < c->n_tok && c->tok[i + 1].punct == '=';
        if (!depth && t->kind == NET_T_WORD &&
            (key ? net_xyce_print(t->text) : strchr(t->text, ':') != NULL)) /* r1:temp */
            return true;
        if (!depth && t->kind == NET_T_EXPR && l->s[t->off] == '{')
            return true;
    }
    return false;
}

/* A card that no other simulator has tells whose words the deck uses. Included files do not: models
 * are written for several simulators. */
static void note_dialect(reader *r, const net_lex *l, const net_card *c)
{
    if (r->deck->xyce || vec_len(r->chain) > 1 || (r->opt && r->opt->ngspice) || !is_xyce(l, c))
        return;
    r->deck->xyce = true;
    diag_note(r->d, net_card_span(c),
              "this card is Xyce's: log() is to base 10, and levels of models count as there");
}

static void unknown_card(reader *r, const net_card *c)
{
    const char *cand[VS_COUNT(card_words)];
    for (size_t i = 0; i < VS_COUNT(card_words); i++)
        cand[i] = card_words[i].word;
    diag_error(r->d, net_card_span(c), "unknown card '.%s'", c->name);
    const char *near = str_nearest(c->name, cand, VS_COUNT(cand));
    if (near)
        diag_note(r->d, DIAG_NOWHERE, "did you mean '.%s'?", near);
}

/* -- files -- */

static void read_text(reader *r, int32_t file, const char *section, diag_span section_span);

static void show_chain(reader *r, size_t from)
{
    const char *text = "";
    for (size_t i = from; i < vec_len(r->chain) && i < from + 10; i++)
        text = arena_printf(r->mem, "%s'%s' includes ", text, r->chain[i].path);
    diag_note(r->d, DIAG_NOWHERE, "%s'%s'%s", text, r->chain[from].path,
              vec_len(r->chain) > from + 10 ? " (chain shortened)" : "");
}

/* false: a message was given */
static bool check_chain(reader *r, const open_file *next, diag_span at)
{
    for (size_t i = 0; i < vec_len(r->chain); i++) {
        const open_file *f = &r->chain[i];
        if (f->path != next->path || f->section != next->section)
            continue;
        diag_error(r->d, at, "'%s' includes itself", next->path);
        show_chain(r, i);
        return false;
    }
    if (vec_len(r->chain) >= MAX_INCLUDE_DEPTH) {
        diag_error(r->d, at, "includes are nested more than %d deep", MAX_INCLUDE_DEPTH);
        return false;
    }
    if (r->n_file >= MAX_FILES || r->n_byte >= MAX_TOTAL_BYTES) {
        if (!r->too_much)
            diag_error(r->d, at,
                       r->n_file >= MAX_FILES ? "more than 20000 included files"
                                              : "included text of more than 512 MiB");
        r->too_much = true;
        return false;
    }
    return true;
}

static void add_missing(reader *r, net_card *c, const net_tok *t, const char *text)
{
    c->kind = NET_CARD_MISSING;
    c->name = text;
    c->tok[0] = *t;
    add_card(r, c);
}

/* include = ".include" file ;  lib = ".lib" file section */
static void include_file(reader *r, net_card *c, const net_tok *t, const net_tok *section)
{
    diag_span at = net_tok_span(c, t), sec_at = section ? net_tok_span(c, section) : at;
    const char *name = net_file_text(r->d, r->mem, c, t);
    const char *path = net_find_file(r->d, r->mem, name, c->file, r->opt);
    open_file next = {str_intern0(r->names, path), section ? section->text : NULL};
    if (!check_chain(r, &next, at))
        return;
    int32_t file;
    const char *why;
    if (diag_read_file(r->d, path, at, &file, &why)) {
        const char *msg = arena_printf(r->mem, "file '%s' %s", name, why);
        if (vec_len(r->open))
            add_missing(r, c, t, msg);
        else
            diag_error(r->d, at, "%s", msg);
        return;
    }
    r->n_file++;
    r->n_byte += r->d->file[file].len;
    const bool top = !r->cur->name && vec_len(r->chain) == 1;
    net_range range = {next.path, next.section, vec_len(r->cur->line), 0};
    vec_push(r->chain, next);
    read_text(r, file, next.section, sec_at);
    (void)vec_pop(r->chain);
    range.to = vec_len(r->cur->line);
    if (top && !r->cur->name)
        vec_push(r->range, range);
}

/* -- .alter -- */

static void end_alter(reader *r)
{
    if (r->n_alter && !r->skip)
        net_alter_merge(r->deck->top, r->block);
}

static void begin_alter(reader *r, net_card *c)
{
    if (r->cur->name || vec_len(r->open) || vec_len(r->chain) > 1) {
        diag_error(r->d, net_card_span(c),
                   ".alter stands in the deck itself, not inside .subckt, .if or an included file");
        return;
    }
    end_alter(r);
    r->n_alter++;
    add_card(r, c);
    r->block = vec_len(r->cur->line);
    r->skip = !r->opt || r->n_alter > r->opt->alter;
}

/* del = ".del" "lib" file [section] */
static void delete_lib(reader *r, net_card *c)
{
    if (!r->n_alter || c->n_tok < 3 || !c->tok[1].text || strcmp(c->tok[1].text, "lib")) {
        diag_error(r->d, net_card_span(c), ".del lib FILE [section] stands in an .alter block");
        return;
    }
    int32_t k;
    const net_tok t = net_file_tok(c, 2, 0, &k);
    const char *name = net_file_text(r->d, r->mem, c, &t);
    const char *path = str_intern0(r->names, net_find_file(r->d, r->mem, name, c->file, r->opt));
    const char *section = k < c->n_tok ? c->tok[k].text : NULL;
    bool found = false;
    for (size_t i = 0; i < vec_len(r->range); i++)
        found |= r->range[i].path == path && r->range[i].section == section;
    if (!found)
        diag_error(r->d, net_tok_span(c, &t), "the deck has no .lib or .include of '%s'%s%s", name,
                   section ? " with section " : "", section ? section : "");
    net_alter_delete(r->deck->top, r->range, vec_len(r->range), path, section);
}

static void read_include(reader *r, net_card *c)
{
    if (c->n_tok < 2) {
        diag_error(r->d, net_card_span(c), ".%s needs a file name", c->name);
        return;
    }
    int32_t k;
    const net_tok t = net_file_tok(c, 1, 0, &k);
    if (k < c->n_tok)
        diag_warning(r->d, net_tok_span(c, &c->tok[k]), "text after the file name is ignored");
    include_file(r, c, &t, NULL);
}

static void resolve_hdl(reader *r, net_card *c)
{
    if (c->n_tok < 2)
        diag_error(r->d, net_card_span(c), ".%s needs a file name", c->name);
    for (int32_t i = 1; i < c->n_tok; i++) {
        net_tok *t = &c->tok[i];
        t->text =
            str_intern0(r->names, net_find_file(r->d, r->mem, net_file_text(r->d, r->mem, c, t),
                                                c->file, r->opt));
    }
    add_card(r, c);
}

/* -- subcircuits -- */

static void begin_sub(reader *r, net_card *c)
{
    if (c->n_tok < 2 || c->tok[1].kind != NET_T_WORD) {
        diag_error(r->d, net_card_span(c), ".%s needs a name", c->name);
    }
    if (++r->nesting > MAX_NESTING) {
        diag_error(r->d, net_card_span(c), "subcircuit definitions are nested more than %d deep",
                   MAX_NESTING);
        r->too_much = true;
        return;
    }
    net_sub *s = arena_new(r->mem, net_sub);
    s->name = c->n_tok > 1 && c->tok[1].text ? c->tok[1].text : str_intern0(r->names, "?");
    s->parent = r->cur;
    s->span = c->n_tok > 1 ? net_tok_span(c, &c->tok[1]) : net_card_span(c);
    s->index = r->deck->n_sub++;
    c->sub = s;
    net_card *head = arena_new(r->mem, net_card);
    *head = *c;
    s->head = head;
    add_card(r, c);
    r->cur = s;
}

static void add_endif(reader *r, diag_span at)
{
    net_card c = {.kind = NET_CARD_ENDIF, .file = at.file, .n_tok = 1, .name = "endif"};
    c.tok = arena_new(r->mem, net_tok);
    *c.tok = (net_tok){.off = at.off, .len = at.len, .text = ".endif", .kind = NET_T_WORD};
    add_card(r, &c);
}

static void close_ifs(reader *r)
{
    while (vec_len(r->open) && vec_last(r->open).sub == r->cur) {
        diag_error(r->d, vec_last(r->open).span, ".if without .endif");
        add_endif(r, vec_last(r->open).span);
        (void)vec_pop(r->open);
    }
}

static void close_sub(reader *r)
{
    close_ifs(r);
    r->cur = r->cur->parent;
    r->nesting--;
}

static bool is_open(const reader *r, const char *name)
{
    for (const net_sub *s = r->cur; s->name; s = s->parent)
        if (s->name == name)
            return true;
    return false;
}

static void end_sub(reader *r, const net_card *c)
{
    const char *name = c->n_tok > 1 ? c->tok[1].text : NULL;
    if (!r->cur->name) {
        diag_error(r->d, net_card_span(c), ".%s without .subckt", c->name);
        return;
    }
    if (name && name != r->cur->name) {
        /* the name of an outer one: this one has no .ends; any other name is a slip without harm */
        const char *text = arena_printf(r->mem, ".%s names '%s', but the open subcircuit is '%s'",
                                        c->name, name, r->cur->name);
        if (is_open(r, name))
            diag_error(r->d, net_tok_span(c, &c->tok[1]), "%s", text);
        else
            diag_warning(r->d, net_tok_span(c, &c->tok[1]), "%s", text);
        diag_note(r->d, r->cur->span, "'%s' is opened here", r->cur->name);
        while (is_open(r, name) && r->cur->name != name)
            close_sub(r);
    }
    close_sub(r);
}

/* -- .if -- */

static void conditional(reader *r, const net_card *c)
{
    diag_span at = net_card_span(c);
    bool inside = vec_len(r->open) && vec_last(r->open).sub == r->cur;
    if (c->kind == NET_CARD_IF) {
        vec_push(r->open, (open_if){at, r->cur, false});
    } else if (!inside) {
        diag_error(r->d, at, ".%s without .if", c->name);
        return;
    } else if (c->kind == NET_CARD_ENDIF) {
        (void)vec_pop(r->open);
    } else {
        open_if *o = &vec_last(r->open);
        if (o->has_else) {
            diag_error(r->d, at, ".%s after .else", c->name);
            diag_note(r->d, o->span, "of the .if here");
            return;
        }
        o->has_else = c->kind == NET_CARD_ELSE;
    }
    if ((c->kind == NET_CARD_IF || c->kind == NET_CARD_ELSEIF) && c->n_tok < 2)
        diag_error(r->d, at, ".%s needs a condition", c->name);
    add_card(r, c);
}

/* -- .control -- */

static bool line_is(const char *s, uint32_t len, const char *word)
{
    size_t n = strlen(word);
    return len >= n && !str_ncasecmp(s, word, n) && (len == n || s[n] == ' ' || s[n] == '\t');
}

/* Model libraries are loaded before the circuit is built, wherever the command stands. */
static void add_pre_osdi(reader *r, diag_span line, const char *s)
{
    for (uint32_t i = 0; i < line.len;) {
        while (i < line.len && strchr(" \t", s[i]))
            i++;
        char quote = i < line.len && strchr("\"'", s[i]) ? s[i] : 0;
        uint32_t from = i += quote != 0;
        while (i < line.len && (quote ? s[i] != quote : !strchr(" \t", s[i])))
            i++;
        if (i == from)
            continue;
        const char *name = arena_strndup(r->mem, s + from, i - from);
        net_add_osdi(r->deck, r->d, r->mem, net_find_file(r->d, r->mem, name, line.file, r->opt),
                     (diag_span){line.file, line.off + from, i - from});
        i += quote != 0;
    }
}

/* The lines up to .endc, with those that continue them; they are run by src/ctl. */
static void read_control(reader *r, net_lex *l, const net_card *c)
{
    bool closed = false;
    if (r->deck->control_at.file < 0)
        r->deck->control_at = net_card_span(c);
    while (!closed && l->pos < l->len) {
        uint32_t start = l->pos;
        diag_span at = net_lex_raw_line(l);
        while (at.len && strchr(" \t", l->s[at.off])) {
            at.off++;
            at.len--;
        }
        const char *s = l->s + at.off;
        closed = at.len >= 5 && !str_ncasecmp(s, ".endc", 5); /* .endcontrol ends it too */
        if (line_is(s, at.len, ".end")) {
            l->pos = start;
            break;
        }
        if (!at.len || *s == '*' || closed)
            continue;
        if (*s == '+' && vec_len(r->deck->control)) {
            diag_span *last = &vec_last(r->deck->control);
            last->len = at.off + at.len - last->off;
            continue;
        }
        uint32_t word = line_is(s, at.len, "pre_osdi") ? 8 : line_is(s, at.len, "osdi") ? 4 : 0;
        if (word)
            add_pre_osdi(r, (diag_span){at.file, at.off + word, at.len - word}, s + word);
        else
            vec_push(r->deck->control, at);
    }
    if (!closed)
        diag_warning(r->d, net_card_span(c), ".control without .endc: it ends with the file");
}

/* -- .lib -- */

static bool looks_like_file(const net_tok *t)
{
    return t->kind != NET_T_WORD || strchr(t->text, '.') || strchr(t->text, '/') ||
           t->text[0] == '~';
}

/* Skips a section that no .lib card asked for, up to its .endl. */
static void skip_section(reader *r, net_lex *l, diag_span from)
{
    l->quiet = true;
    while (net_lex_dot_card(l))
        if (l->tok[0].text && !strcmp(l->tok[0].text, ".endl")) {
            l->quiet = false;
            return;
        }
    l->quiet = false;
    diag_error(r->d, from, ".lib section without .endl");
}

/* Goes to the cards of a section. false: it is not there, a message was given. */
static bool seek_section(reader *r, net_lex *l, const char *section, diag_span at)
{
    const char **seen = NULL;
    bool found = false;
    l->quiet = true;
    while (!found && net_lex_dot_card(l)) {
        const net_tok *t = l->tok;
        if (vec_len(t) != 2 || !t[0].text || strcmp(t[0].text, ".lib") || !t[1].text)
            continue;
        vec_push(seen, t[1].text);
        found = !str_casecmp(t[1].text, section);
    }
    l->quiet = false;
    if (!found) {
        diag_error(r->d, at, "no section '%s' in '%s'", section, r->d->file[l->file].name);
        diag_suggest(r->d, section, seen, vec_len(seen));
    }
    vec_free(seen);
    return found;
}

/* ".step lib FILE a b ..": in its place stands the section of the present step. The card itself
 * stays. */
static void read_step_lib(reader *r, net_card *c)
{
    if (c->n_tok < 2 || c->tok[1].kind != NET_T_WORD || strcmp(c->tok[1].text, "lib"))
        return;
    int32_t k;
    const net_tok t = net_file_tok(c, c->n_tok > 2 ? 2 : 1, 0, &k);
    const size_t which = r->n_step_lib++;
    const int32_t at = r->opt && which < r->opt->n_section ? r->opt->section[which] : 0;
    if (k + at >= c->n_tok || !c->tok[k + at].text) {
        diag_error(r->d, net_card_span(c), ".step lib needs a file and its sections");
        return;
    }
    include_file(r, c, &t, &c->tok[k + at]);
}

static void read_lib(reader *r, net_lex *l, net_card *c)
{
    if (c->n_tok < 2) {
        diag_error(r->d, net_card_span(c), ".lib needs a file and a section");
        return;
    }
    int32_t k;
    const net_tok t = net_file_tok(c, 1, 0, &k);
    if (k < c->n_tok && c->tok[k].text)
        include_file(r, c, &t, &c->tok[k]);
    else if (looks_like_file(&t))
        include_file(r, c, &t, NULL);
    else
        skip_section(r, l, net_card_span(c));
}

/* -- the loop -- */

/* Whether a card opens or closes a body, an .if or a block. Such a card counts even if it has an
 * error, because the cards that follow belong to it. */
static bool shapes_deck(net_card_kind kind)
{
    return kind == NET_CARD_SUBCKT || kind == NET_CARD_IF || kind == NET_CARD_ELSEIF ||
           kind == NET_CARD_CONTROL;
}

/* -- loops and indices -- */

/* Reads cards from a text that vsim wrote itself (turns of a loop, wires of a layout); frees it. */
static void read_made(reader *r, char *text, size_t len, diag_span from, const char *what)
{
    if (!text)
        return;
    const char *name = arena_printf(r->mem, "%s (%s)", r->d->file[from.file].name, what);
    const int32_t file = diag_add_file(r->d, name, text, len, from);
    const bool before = r->expanded;
    vs_free(text);
    r->expanded = true;
    vec_push(r->chain, (open_file){str_intern0(r->names, name), NULL});
    read_text(r, file, NULL, DIAG_NOWHERE);
    (void)vec_pop(r->chain);
    r->expanded = before;
}

/* -- wires -- */

static void note_spef(reader *r, const net_card *c)
{
    if (vec_len(r->open))
        diag_error(r->d, net_card_span(c), ".spef cannot stand inside .if");
    else if (c->n_tok < 2)
        diag_error(r->d, net_card_span(c), ".spef needs a file name");
    else
        vec_push(r->spef, ((spef_card){*c, r->cur}));
}

/* spef = ".spef" file [subckt]: the body that the file's nets are of; NULL after a message. */
static net_sub *spef_body(reader *r, const spef_card *s, const net_tok *sub, int32_t file)
{
    const char *name = sub ? sub->text : NULL, **known = NULL;
    net_sub *found = s->in;
    if (!sub && !s->in->name)
        name = net_spef_design(r->d, r->names, file);
    for (size_t i = 0; name && i < vec_len(s->in->line); i++) {
        net_sub *one = net_line_sub(&s->in->line[i]);
        if (one)
            vec_push(known, one->name);
        if (one && one->name == name)
            found = one;
    }
    if (sub && found == s->in) {
        diag_error(r->d, net_tok_span(&s->card, sub), "there is no subcircuit '%s'", name);
        diag_suggest(r->d, name, known, vec_len(known));
        found = NULL;
    }
    vec_free(known);
    return found;
}

static void read_spef(reader *r, const spef_card *s, int32_t number)
{
    const net_card *c = &s->card;
    int32_t k, file;
    const net_tok t = net_file_tok(c, 1, 0, &k);
    const net_tok *sub = k < c->n_tok && c->tok[k].text ? &c->tok[k] : NULL;
    const char *name = net_file_text(r->d, r->mem, c, &t), *why;
    const char *path = net_find_file(r->d, r->mem, name, c->file, r->opt);
    const size_t n_msg = vec_len(r->d->msg);
    if (diag_read_file(r->d, path, net_tok_span(c, &t), &file, &why)) {
        diag_error(r->d, net_tok_span(c, &t), "file '%s' %s", name, why);
        return;
    }
    net_sub *const body = spef_body(r, s, sub, file), *const cur = r->cur;
    size_t len = 0;
    if (!body)
        return;
    const net_spef_in in = {
        .d = r->d, .names = r->names, .mem = r->mem, .body = body, .number = number};
    char *const text = net_spef_text(&in, file, &len);
    if (vec_len(r->d->msg) == n_msg) /* nothing points to it */
        diag_drop_files(r->d, (size_t)file, (size_t)file + 1);
    r->cur = body;
    read_made(r, text, len, net_card_span(c), "wires");
    r->cur = cur;
}

/* A .for card: everything up to its .endfor. */
static void read_loop(reader *r, net_lex *l, const net_card *c)
{
    const diag_span head = diag_join(net_card_span(c), net_tok_span(c, &c->tok[c->n_tok - 1]));
    const uint32_t from = l->pos;
    int level = 1;
    uint32_t end = from;
    l->quiet = true;
    while (level > 0 && net_lex_dot_card(l)) {
        const char *word = l->tok[0].text ? l->tok[0].text : "";
        level += !strcmp(word, ".for");
        level -= !strcmp(word, ".endfor");
        end = l->tok[0].off;
    }
    l->quiet = false;
    if (level > 0) {
        diag_error(r->d, net_card_span(c), ".for without .endfor");
        return;
    }
    while (end > from && l->s[end - 1] != '\n')
        end--; /* blanks before .endfor */
    diag_span bounds = head;
    bounds.off += c->tok[0].len;
    bounds.len -= c->tok[0].len;
    net_turns t;
    const char *what = ".for";
    char *text;
    size_t len;
    if (!net_for_start(&r->loop, &t, bounds, (diag_span){c->file, from, end - from}))
        return;
    r->loop.nested++;
    while (!r->too_much && (text = net_for_next(&r->loop, &t, &len))) {
        read_made(r, text, len, net_card_span(c), what);
        what = arena_printf(r->mem, ".for, from turn %lld", (long long)t.next + 1);
    }
    r->loop.nested--;
}

/* The text of a card, from its first word to its last. */
static diag_span card_text(const net_card *c)
{
    return diag_join(net_card_span(c), net_tok_span(c, &c->tok[c->n_tok - 1]));
}

/* Whether a line begins with a character that begins no card. It is taken for a comment, as ngspice
 * does. */
static bool is_foreign(const reader *r, const net_lex *l, const net_tok *t)
{
    if (l->s[t->off] == '\x1a') /* DOS ended files with it */
        return true;
    if (!strchr("=[]?()&%\"!:,", l->s[t->off]))
        return false;
    if (!r->skip)
        diag_warning(
            r->d, (diag_span){l->file, t->off, 1},
            "no card starts with '%c': the line is taken as a comment; '*' would begin one",
            l->s[t->off]);
    return true;
}

/* The rest of the line is the deck's title. */
static void read_title(reader *r, const net_lex *l, const net_tok *t)
{
    uint32_t from = t->off + t->len, to = from;
    while (to < l->len && l->s[to] != '\n' && l->s[to] != '\r')
        to++;
    from += from < to;
    r->deck->title = arena_strndup(r->mem, l->s + from, to - from);
}

/* A card whose word begins with a dot, by its kind. false: this was .end, or .endl of the section
 * being read. */
static bool dot_card(reader *r, net_lex *l, net_card c, const char *section)
{
    note_dialect(r, l, &c);
    if (is_xyce_sens(&c))
        c.kind = NET_CARD_IGNORED;
    switch (c.kind) {
    case NET_CARD_INCLUDE: read_include(r, &c); break;
    case NET_CARD_LIB: read_lib(r, l, &c); break;
    case NET_CARD_HDL: resolve_hdl(r, &c); break;
    case NET_CARD_STEP:
        add_card(r, &c);
        read_step_lib(r, &c);
        break;
    case NET_CARD_ALTER: begin_alter(r, &c); break;
    case NET_CARD_DEL: delete_lib(r, &c); break;
    case NET_CARD_FOR: read_loop(r, l, &c); break;
    case NET_CARD_SPEF: note_spef(r, &c); break;
    case NET_CARD_ENDFOR: diag_error(r->d, net_card_span(&c), ".endfor without .for"); break;
    case NET_CARD_PARAM:
        if (!r->cur->name)
            net_for_param(&r->loop, &c);
        add_card(r, &c);
        break;
    case NET_CARD_SUBCKT: begin_sub(r, &c); break;
    case NET_CARD_ENDS: end_sub(r, &c); break;
    case NET_CARD_IF:
    case NET_CARD_ELSEIF:
    case NET_CARD_ELSE:
    case NET_CARD_ENDIF: conditional(r, &c); break;
    case NET_CARD_CONTROL: read_control(r, l, &c); break;
    case NET_CARD_ENDC:
        diag_warning(r->d, net_card_span(&c), ".endc without .control has no effect");
        break;
    case NET_CARD_ENDL:
        if (section)
            return false;
        diag_error(r->d, net_card_span(&c), ".endl without .lib");
        break;
    case NET_CARD_END: return false;
    case NET_CARD_TITLE: read_title(r, l, &c.tok[0]); break;
    case NET_CARD_UNKNOWN: unknown_card(r, &c); break;
    default: add_card(r, &c); break;
    }
    return true;
}

/* false: this was .end or .endl of the section being read */
static bool take_card(reader *r, net_lex *l, net_card c, const char *section)
{
    const net_tok *t = &c.tok[0];
    r->n_card++;
    if (is_foreign(r, l, t))
        return true;
    if (t->kind != NET_T_WORD) {
        if (!r->skip)
            diag_error(r->d, net_card_span(&c), "a card starts with a name or a dot word");
        return true;
    }
    if (r->skip && strcmp(t->text, ".alter") && strcmp(t->text, ".end"))
        return true;
    const diag_span whole = card_text(&c);
    if (!r->expanded && !l->bad && !l->plain && strcmp(t->text, ".for") &&
        net_for_wanted(l->s + whole.off, whole.len)) {
        size_t len;
        char *text = net_for_card(&r->loop, whole, &len);
        read_made(r, text, len, net_card_span(&c), "indices and sums written out");
        return true;
    }
    if (t->text[0] != '.') {
        if (!l->bad)
            add_element(r, c.file, t->off, t->text, l->first);
        return true;
    }
    if (c.tok == l->tok)
        own_tokens(r, &c);
    c.name = c.tok[0].text + 1;
    c.kind = kind_of_word(c.name);
    return l->bad && !shapes_deck(c.kind) ? true : dot_card(r, l, c, section);
}

/* Behind .end only .control blocks are read. */
static void read_rest(reader *r, net_lex *l)
{
    const uint32_t end = l->pos;
    bool warned = false;
    l->quiet = true;
    while (net_lex_card(l)) {
        const net_tok *t = &l->tok[0];
        if (t->text && !strcmp(t->text, ".control")) {
            const net_card c = card_of(l);
            read_control(r, l, &c);
        } else if (!warned) {
            diag_warning(r->d, (diag_span){l->file, t->off, t->len},
                         "text after .end is ignored, but for .control blocks");
            warned = true;
        }
    }
    l->pos = end;
}

/* Whether a card is complete in itself: it neither includes another text nor changes where this one
 * is read on. */
static bool is_plain(const net_card *c)
{
    const char *word = c->tok[0].text;
    if (c->tok[0].kind != NET_T_WORD || word[0] != '.')
        return c->tok[0].kind == NET_T_WORD;
    switch (kind_of_word(word + 1)) {
    case NET_CARD_PARAM:
    case NET_CARD_FUNC:
    case NET_CARD_MODEL:
    case NET_CARD_SUBCKT:
    case NET_CARD_ENDS:
    case NET_CARD_IF:
    case NET_CARD_ELSEIF:
    case NET_CARD_ELSE:
    case NET_CARD_ENDIF:
    case NET_CARD_GLOBAL: return true;
    default: return false;
    }
}

/* Index of a known file with the same text; -1: none was read yet. */
static int64_t find_known(const reader *r, int32_t file)
{
    const diag_file *f = &r->d->file[file];
    for (size_t i = 0; i < vec_len(r->known); i++) {
        const diag_file *k = &r->d->file[r->known[i].file];
        if (k->len == f->len && !memcmp(k->text, f->text, f->len))
            return (int64_t)i;
    }
    return -1;
}

static void take_known_element(reader *r, int32_t file, const net_line *l)
{
    r->n_card++;
    if (!r->skip)
        add_element(r, file, l->off, l->name, false);
}

static void read_known(reader *r, int32_t file, size_t known)
{
    net_lex l;
    net_lex_init(&l, r->d, r->names, file);
    l.pos = l.len;
    for (size_t i = 0; i < vec_len(r->known[known].line) && !r->too_much; i++) {
        const net_line *from = &r->known[known].line[i];
        if (from->is_element)
            take_known_element(r, file, from);
        else
            (void)take_card(
                r, &l, (net_card){.file = file, .tok = from->card->tok, .n_tok = from->card->n_tok},
                NULL);
        r->too_much |= diag_full(r->d, r->n_error);
    }
    net_lex_fini(&l);
}

/* Whether the element at this place gave the last card. If not, it was left out, or .for loops
 * replaced it by others. */
static bool is_last(const reader *r, int32_t file, uint32_t off)
{
    const net_line *l = vec_len(r->cur->line) ? &vec_last(r->cur->line) : NULL;
    return l && l->kind == NET_ELEMENT && l->file == file && l->off == off;
}

/* A file without a section, not the deck itself. */
static void read_whole(reader *r, int32_t file)
{
    const int64_t known = find_known(r, file);
    if (known >= 0) {
        read_known(r, file, (size_t)known);
        return;
    }
    const int messages = r->d->n_error + r->d->n_warning;
    net_line *all = NULL;
    bool plain = true, more = true;
    net_lex l;
    net_lex_init(&l, r->d, r->names, file);
    l.brief = true;
    net_lex_share(&l, r->opt ? r->opt->threads : 1);
    while (more && !r->too_much && net_lex_card(&l)) {
        net_card c = card_of(&l);
        const bool element = c.tok[0].kind == NET_T_WORD && c.tok[0].text[0] != '.';
        const uint32_t off = c.tok[0].off;
        plain = plain && is_plain(&c);
        if (plain && !element) {
            own_tokens(r, &c);
            vec_push(all, line_of(r, &c));
        }
        more = take_card(r, &l, c, NULL);
        if (plain && element) {
            plain = is_last(r, file, off);
            if (plain)
                vec_push(all, vec_last(r->cur->line));
        }
        r->too_much |= diag_full(r->d, r->n_error);
    }
    if (!more)
        read_rest(r, &l);
    if (plain && messages == r->d->n_error + r->d->n_warning)
        vec_push(r->known, ((known_file){file, all}));
    else
        vec_free(all);
    net_lex_fini(&l);
}

static void read_text(reader *r, int32_t file, const char *section, diag_span section_span)
{
    net_lex l;
    bool top = vec_len(r->chain) == 1;
    if (!top && !section) {
        read_whole(r, file);
        return;
    }
    net_lex_init(&l, r->d, r->names, file);
    l.brief = true;
    net_lex_share(&l, r->opt ? r->opt->threads : 1);
    if (top && !(r->opt && r->opt->no_title)) {
        diag_span t = net_lex_raw_line(&l);
        const bool word = t.len > 7 && !str_ncasecmp(l.s + t.off, ".title ", 7); /* KiCad's */
        const uint32_t skip = word ? 7 : 0;
        r->deck->title = arena_strndup(r->mem, l.s + t.off + skip, t.len - skip);
    }
    bool more = !section || seek_section(r, &l, section, section_span);
    bool ended = !more;
    while (more && !r->too_much) {
        if (!net_lex_card(&l))
            break;
        more = take_card(r, &l, card_of(&l), section);
        ended = !more;
        r->too_much |= diag_full(r->d, r->n_error);
    }
    if (section && !ended && !r->too_much)
        diag_error(r->d, section_span, "section '%s' of '%s' has no .endl", section,
                   r->d->file[file].name);
    if (ended && !section)
        read_rest(r, &l);
    net_lex_fini(&l);
}

static void freeze_sub(reader *r, net_sub *s)
{
    vec_freeze(r->mem, s->line);
    for (size_t i = 0; i < vec_len(s->line); i++)
        if (net_line_sub(&s->line[i]))
            freeze_sub(r, net_line_sub(&s->line[i]));
}

static vs_status read_all(reader *r, int32_t file)
{
    const int before = r->n_error = r->d->n_error;
    net_deck *deck = r->deck;
    net_for_init(&r->loop, r->d, r->names, r->opt);
    *deck = (net_deck){.mem = r->mem, .title = "", .n_sub = 1, .control_at = DIAG_NOWHERE};
    deck->top = r->cur = arena_new(r->mem, net_sub);
    deck->top->span = (diag_span){file, 0, 0};
    vec_push(r->chain, (open_file){str_intern0(r->names, r->d->file[file].name), NULL});
    const char **folder = NULL;
    net_opt with_init = r->opt ? *r->opt : (net_opt){0};
    if (with_init.init) {
        for (size_t i = 0; i < with_init.n_include; i++)
            vec_push(folder, with_init.include[i]);
        net_init_file(deck, r->d, r->mem, r->d->file[file].name, r->opt, &folder);
        with_init.include = folder;
        with_init.n_include = vec_len(folder);
        r->opt = &with_init;
    }
    read_text(r, file, NULL, DIAG_NOWHERE);
    while (r->cur->name) {
        if (!r->too_much)
            diag_error(r->d, r->cur->span, ".subckt '%s' without .ends", r->cur->name);
        close_sub(r);
    }
    close_ifs(r);
    if (!r->n_card && r->d->n_error == before)
        diag_error(r->d, deck->top->span, "the deck has no cards%s",
                   r->opt && r->opt->no_title ? "" : " after its title");
    end_alter(r);
    r->skip = false;
    for (size_t i = 0; i < vec_len(r->spef); i++)
        read_spef(r, &r->spef[i], (int32_t)i + 1);
    freeze_sub(r, deck->top);
    vec_freeze(r->mem, deck->hdl);
    vec_freeze(r->mem, deck->hdl_span);
    vec_freeze(r->mem, deck->start);
    vec_freeze(r->mem, deck->control);
    vec_free(r->chain);
    vec_free(r->open);
    vec_free(r->range);
    vec_free(r->spef);
    for (size_t i = 0; i < vec_len(r->known); i++)
        vec_free(r->known[i].line);
    vec_free(r->known);
    vec_free(folder);
    net_for_fini(&r->loop);
    return r->d->n_error > before ? VS_EINPUT : VS_OK;
}

static net_deck empty_deck(arena *mem)
{
    return (net_deck){.mem = mem,
                      .title = "",
                      .top = arena_new(mem, net_sub),
                      .n_sub = 1,
                      .control_at = DIAG_NOWHERE};
}

vs_status net_read(net_deck *deck, diag *d, str_pool *names, arena *mem, const char *path,
                   const net_opt *opt)
{
    reader r = {.deck = deck, .d = d, .names = names, .mem = mem, .opt = opt};
    int32_t file;
    const char *why;
    *deck = empty_deck(mem);
    const vs_status st = diag_read_first(d, path, &file, &why);
    if (st) {
        diag_error(d, DIAG_NOWHERE, "deck '%s' %s", path, why);
        return st;
    }
    return read_all(&r, file);
}

vs_status net_read_text(net_deck *deck, diag *d, str_pool *names, arena *mem, const char *name,
                        const char *text, size_t len, const net_opt *opt)
{
    reader r = {.deck = deck, .d = d, .names = names, .mem = mem, .opt = opt};
    *deck = empty_deck(mem);
    return read_all(&r, diag_add_file(d, name, text, len, DIAG_NOWHERE));
}
