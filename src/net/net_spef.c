/* net_spef.c - `.spef FILE`: wires that an extractor measured take the place of a body's nets.
 * In:     the cards of a deck or subcircuit, a file in IEEE 1481's format SPEF
 * Out:    text of cards: the elements whose pins have nodes of their own now, resistors, capacitors
 * Source: IEEE Std 1481-2009, clause 9 (syntax of SPEF), facts only.
 *
 * A net is a graph of nodes that *RES and *CAP name: ports, pins INSTANCE:PIN, inner nodes NET:K.
 * Its first port, else its first driving pin, else its first pin, keeps the net's name, so that the
 * deck's .save and elements that the file does not know still mean this net. A node that no
 * resistor joins to it is the same node: a net without *RES is its capacitors. A coupling capacitor
 * stands in the sections of both of its nets and is taken from the first.
 * Phases: 1. words to nets, nodes, pins and values; 2. which nodes are one with their net; 3. pins
 * to words of element cards; 4. text. */
#include <stdlib.h>
#include <string.h>

#include "net_spef.h"
#include "stream.h"
#include "vec.h"

enum { MOST_WORDS = 64 };         /* of a pin's line that are looked at */
enum { PIN, DRIVER, PORT, SAME }; /* nodes for the name of a net; SAME: it has this name */

typedef struct node {
    const char *text; /* interned: name in the deck if it is a node of its own, */
    const char *base; /* the same without its pin or number */
    int32_t net, to;  /* net: -1 not yet known. to: the node that it is one with, itself if none */
    diag_span at;
} node;

typedef struct pin { /* of an element of the deck */
    int32_t card;    /* of the body */
    int32_t node;
    const char *name; /* of the pin */
    diag_span at;
} pin;

typedef struct net {
    const char *name;
    int32_t root; /* node that has its name, -1: none yet */
    int rank;     /* how good it is: PIN, DRIVER, PORT, SAME */
} net;

typedef struct part { /* a resistor or capacitor; b -1: ground */
    int32_t a, b, net;
    double value; /* ohm, farad */
    bool dropped; /* the same capacitor stands in another net's section */
} part;

typedef struct word {
    const char *s;
    uint32_t off, len; /* len 0: the end */
} word;

typedef struct spef {
    const net_spef_in *in;
    const char *s;
    uint32_t pos, len;
    int32_t file;
    word now;                   /* the word under way */
    char delimiter;             /* between a name and its pin */
    double ohm, farad;          /* units of the file */
    map index, net_of, node_of; /* interned "*12" -> mapped name's id; names */
    map card_of;                /* element name -> card of the body */
    map coupled;                /* pair of nodes -> part */
    node *node;                 /* vec */
    net *net;                   /* vec */
    pin *pin;                   /* vec */
    part *res, *cap;            /* vec */
    int32_t cur;                /* net of the section under way */
    int n_other;                /* nets, elements that the body does not have */
    const char *other;
    diag_span other_at;
    bool failed;
} spef;

/* -- words -- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(spef *f)
{
    while (f->pos < f->len) {
        const char *s = f->s + f->pos;
        if (is_blank(*s)) {
            f->pos++;
        } else if (f->pos + 1 < f->len && s[0] == '/' && s[1] == '/') {
            while (f->pos < f->len && f->s[f->pos] != '\n')
                f->pos++;
        } else if (f->pos + 1 < f->len && s[0] == '/' && s[1] == '*') {
            for (f->pos += 2; f->pos < f->len && (f->s[f->pos - 1] != '*' || f->s[f->pos] != '/');)
                f->pos++;
            f->pos += f->pos < f->len;
        } else {
            return;
        }
    }
}

/* The next word: what is in quotes, or up to the next blank. */
static void advance(spef *f)
{
    skip_blanks(f);
    const uint32_t from = f->pos;
    if (f->pos < f->len && f->s[f->pos] == '"') {
        f->pos++;
        while (f->pos < f->len && f->s[f->pos] != '"')
            f->pos++;
        f->pos += f->pos < f->len;
    } else {
        while (f->pos < f->len && !is_blank(f->s[f->pos]))
            f->pos += f->s[f->pos] == '\\' && f->pos + 1 < f->len ? 2 : 1;
    }
    f->now = (word){f->s + from, from, f->pos - from};
}

static bool is(const spef *f, const char *text)
{
    const size_t n = strlen(text);
    return f->now.len == n && !str_ncasecmp(f->now.s, text, n);
}

/* "*12", "*12:A": a reference to the map of names, not a keyword. */
static bool is_index(const word *w)
{
    return w->len > 1 && w->s[0] == '*' && w->s[1] >= '0' && w->s[1] <= '9';
}

/* Whether the present word is a keyword, which begins the next part of the file. */
static bool at_keyword(const spef *f)
{
    return f->now.len == 0 || (f->now.s[0] == '*' && !is_index(&f->now));
}

static diag_span here(const spef *f) { return (diag_span){f->file, f->now.off, f->now.len}; }

static void fail(spef *f, const char *what)
{
    if (!f->failed)
        diag_error(f->in->d, here(f), "%s", what);
    f->failed = true;
}

/* value = number [":" number ":" number], of which the middle one (typical) counts */
static double value(spef *f)
{
    const word w = f->now;
    const char *s = w.s, *end = w.s + w.len, *colon = memchr(s, ':', w.len);
    char text[64], *stop;
    if (colon) {
        s = colon + 1;
        const char *second = memchr(s, ':', (size_t)(end - s));
        end = second ? second : end;
    }
    const size_t n = (size_t)(end - s);
    if (!n || n >= sizeof text) {
        fail(f, "a number is expected here");
        return 0;
    }
    memcpy(text, s, n);
    text[n] = 0;
    const double y = strtod(text, &stop);
    if (*stop || !(y - y == 0))
        fail(f, "a number is expected here");
    advance(f);
    return y;
}

/* -- names -- */

/* Without the backslashes before special characters, in lower case. */
static const char *plain_name(const spef *f, const char *s, size_t n)
{
    char small[256] = "", *text = n < sizeof small ? small : vs_malloc(n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i] != '\\' || i + 1 == n)
            text[k++] = s[i];
    const char *name = str_intern_lower(f->in->names, text, k);
    if (text != small)
        vs_free(text);
    return name;
}

/* The last delimiter of a word that no backslash stands before, NULL: none. */
static const char *last_delimiter(const spef *f, const word *w)
{
    for (uint32_t i = w->len; i-- > 1;)
        if (w->s[i] == f->delimiter && w->s[i - 1] != '\\')
            return w->s + i;
    return NULL;
}

static const char *mapped(spef *f, const char *s, size_t n)
{
    const word w = {s, 0, (uint32_t)n};
    if (!is_index(&w))
        return plain_name(f, s, n);
    const int32_t id = map_get(&f->index, map_key(str_intern(f->in->names, s, n)), -1);
    if (id >= 0)
        return str_of_id(f->in->names, id);
    fail(f, "*NAME_MAP has no name for this index");
    return "?";
}

typedef struct place { /* name, or name:pin */
    const char *name, *pin;
} place;

static place place_of(spef *f)
{
    const word *w = &f->now;
    const char *colon = last_delimiter(f, w);
    if (!colon)
        return (place){mapped(f, w->s, w->len), NULL};
    return (place){mapped(f, w->s, (size_t)(colon - w->s)),
                   plain_name(f, colon + 1, (size_t)(w->s + w->len - colon - 1))};
}

/* The node that the word under way names. */
static int32_t take_node(spef *f)
{
    if (at_keyword(f)) {
        fail(f, "a node is expected here");
        return 0;
    }
    const place p = place_of(f);
    const char *text = p.name;
    if (p.pin) {
        const arena_pos mark = arena_mark(f->in->mem);
        text = str_intern0(f->in->names, arena_printf(f->in->mem, "%s:%s", p.name, p.pin));
        arena_release(f->in->mem, mark);
    }
    int32_t k = map_get(&f->node_of, map_key(text), -1);
    if (k < 0) {
        k = (int32_t)vec_len(f->node);
        map_set(&f->node_of, map_key(text), k);
        vec_push(f->node, (node){text, p.name, -1, k, here(f)});
    }
    advance(f);
    return k;
}

static int32_t root_of(spef *f, int32_t k)
{
    while (f->node[k].to != k)
        k = f->node[k].to = f->node[f->node[k].to].to;
    return k;
}

/* -- sections of a net -- */

/* Gives node k to the present net, and the net's name to it if its rank is the best so far. */
static void own(spef *f, int32_t k, int rank)
{
    net *n = &f->net[f->cur];
    const int32_t other = f->node[k].net;
    if (other >= 0 && other != f->cur && !f->failed) {
        diag_error(f->in->d, f->node[k].at, "node '%s' is of two nets, '%s' and '%s'",
                   f->node[k].text, f->net[other].name, n->name);
        f->failed = true;
    }
    f->node[k].net = f->cur;
    rank = f->node[k].text == n->name ? SAME : rank;
    if (n->root >= 0 && n->rank >= rank)
        return;
    n->root = k;
    n->rank = rank;
}

static int32_t card_named(const spef *f, const char *name)
{
    const int32_t k = map_get(&f->card_of, map_key(name), -1);
    if (k >= 0)
        return k;
    const char *with_x = arena_printf(f->in->mem, "x%s", name);
    const char *known = str_known(f->in->names, with_x, strlen(with_x));
    return known ? map_get(&f->card_of, map_key(known), -1) : -1;
}

static void note_other(spef *f, const char *what, diag_span at)
{
    if (f->n_other++)
        return;
    f->other = what;
    f->other_at = at;
}

/* conn = ("*P" | "*I") node direction { attribute } ; "*N" node { attribute } */
static void read_conn(spef *f)
{
    while (!f->failed && (is(f, "*P") || is(f, "*I") || is(f, "*N"))) {
        const bool port = is(f, "*P"), inner = is(f, "*N");
        advance(f);
        const diag_span at = here(f);
        const place p = at_keyword(f) ? (place){0} : place_of(f);
        const int32_t k = take_node(f);
        if (f->failed)
            return;
        own(f, k, port ? PORT : !inner && (is(f, "O") || is(f, "B")) ? DRIVER : PIN);
        if (!inner) {
            const int32_t card = port || !p.pin ? -1 : card_named(f, p.name);
            if (card >= 0)
                vec_push(f->pin, (pin){card, k, p.pin, at});
            else if (!port)
                note_other(f, p.name, at);
        }
        for (int i = 0;
             i < MOST_WORDS && f->now.len && !is(f, "*P") && !is(f, "*I") && !is(f, "*N") &&
             !is(f, "*CAP") && !is(f, "*RES") && !is(f, "*INDUC") && !is(f, "*END");
             i++)
            advance(f); /* *C *L *S *D and what follows them */
    }
}

static uint64_t pair_of(int32_t a, int32_t b)
{
    const uint32_t lo = (uint32_t)(a < b ? a : b), hi = (uint32_t)(a < b ? b : a);
    return (uint64_t)hi << 32 | lo;
}

/* cap = number node value | number node node value */
static void read_caps(spef *f)
{
    while (!f->failed && !at_keyword(f)) {
        advance(f);
        part c = {.a = take_node(f), .b = -1, .net = f->cur};
        const word was = f->now;
        const uint32_t pos = f->pos;
        advance(f); /* a number ends the line, or a node and a number */
        const bool two = f->now.len && !at_keyword(f) &&
                         !memchr(was.s, '\n', (size_t)(f->now.s - was.s)) && !f->failed;
        f->now = was;
        f->pos = pos;
        if (two)
            c.b = take_node(f);
        if (f->failed)
            return;
        c.value = value(f) * f->farad;
        if (two) {
            const int32_t other = map_get(&f->coupled, pair_of(c.a, c.b), -1);
            c.dropped = other >= 0 && f->cap[other].net != f->cur;
            if (other < 0)
                map_set(&f->coupled, pair_of(c.a, c.b), (int32_t)vec_len(f->cap));
        } else {
            own(f, c.a, PIN);
        }
        vec_push(f->cap, c);
    }
}

/* res = number node node value */
static void read_res(spef *f)
{
    while (!f->failed && !at_keyword(f)) {
        advance(f);
        part r = {.a = take_node(f), .net = f->cur};
        r.b = f->failed ? 0 : take_node(f);
        if (f->failed)
            return;
        r.value = value(f) * f->ohm;
        own(f, r.a, PIN);
        own(f, r.b, PIN);
        const int32_t a = root_of(f, r.a), b = root_of(f, r.b);
        f->node[a].to = b;
        vec_push(f->res, r);
    }
}

static void skip_net(spef *f)
{
    while (f->now.len && !is(f, "*END"))
        advance(f);
}

/* The net that *D_NET names, -1 after a message. */
static int32_t begin_net(spef *f)
{
    advance(f);
    if (at_keyword(f)) {
        fail(f, "*D_NET needs a net and its capacitance");
        return -1;
    }
    const char *name = place_of(f).name;
    if (map_get(&f->net_of, map_key(name), -1) >= 0)
        fail(f, "there is already a *D_NET of this net");
    advance(f);
    (void)value(f);
    if (f->failed)
        return -1;
    map_set(&f->net_of, map_key(name), (int32_t)vec_len(f->net));
    vec_push(f->net, (net){name, -1, PIN});
    return (int32_t)vec_len(f->net) - 1;
}

static void skip_section(spef *f)
{
    diag_warning(f->in->d, here(f), "inductances of wires are not taken");
    advance(f);
    while (!at_keyword(f))
        advance(f);
}

/* d_net = "*D_NET" net total [ "*V" n ] [ "*CONN" .. ] [ "*CAP" .. ] [ "*RES" .. ] "*END" */
static void read_net(spef *f)
{
    const diag_span at = here(f);
    f->cur = begin_net(f);
    while (!f->failed && f->now.len && !is(f, "*END")) {
        if (is(f, "*INDUC")) {
            skip_section(f);
            continue;
        }
        const bool conn = is(f, "*CONN"), cap = is(f, "*CAP"), res = is(f, "*RES");
        if (!conn && !cap && !res && !is(f, "*V")) {
            fail(f, "*CONN, *CAP, *RES or *END is expected here");
            return;
        }
        advance(f);
        if (conn)
            read_conn(f);
        else if (cap)
            read_caps(f);
        else if (res)
            read_res(f);
        else
            advance(f); /* the number behind *V */
    }
    if (!f->now.len && !f->failed) {
        diag_error(f->in->d, at, "*D_NET without *END");
        f->failed = true;
    }
    advance(f);
}

/* -- the file -- */

/* unit = number name, as 1 PF */
static double unit(spef *f, char letter)
{
    static const struct {
        const char *prefix;
        double factor;
    } known[] = {{"", 1},     {"f", 1e-15}, {"p", 1e-12}, {"n", 1e-9},
                 {"u", 1e-6}, {"m", 1e-3},  {"k", 1e3}};
    advance(f);
    const double y = value(f);
    for (size_t i = 0; i < VS_COUNT(known) && !f->failed; i++) {
        const size_t n = strlen(known[i].prefix);
        const char *rest = f->now.s + n;
        if (f->now.len > n && !str_ncasecmp(f->now.s, known[i].prefix, n) &&
            str_lower_char(*rest) == letter && (letter == 'o' || f->now.len == n + 1)) {
            advance(f);
            return y * known[i].factor;
        }
    }
    fail(f, letter == 'o' ? "OHM or KOHM is expected here" : "PF or FF is expected here");
    return 1;
}

static void read_map(spef *f)
{
    advance(f);
    while (!f->failed && is_index(&f->now)) {
        const char *key = str_intern(f->in->names, f->now.s, f->now.len);
        advance(f);
        if (at_keyword(f)) {
            fail(f, "a name is expected here");
            return;
        }
        const char *name = plain_name(f, f->now.s, f->now.len);
        map_set(&f->index, map_key(key), str_id(f->in->names, name));
        advance(f);
    }
}

static void read_file(spef *f)
{
    advance(f);
    if (!is(f, "*SPEF"))
        fail(f, "this is no SPEF file: it begins with *SPEF");
    while (!f->failed && f->now.len) {
        if (is(f, "*D_NET")) {
            read_net(f);
        } else if (is(f, "*NAME_MAP")) {
            read_map(f);
        } else if (is(f, "*R_UNIT")) {
            f->ohm = unit(f, 'o');
        } else if (is(f, "*C_UNIT")) {
            f->farad = unit(f, 'f');
        } else if (is(f, "*DELIMITER")) {
            advance(f);
            f->delimiter = f->now.len == 1 ? f->now.s[0] : ':';
        } else if (is(f, "*R_NET") || is(f, "*DEFINE")) {
            diag_warning(f->in->d, here(f), "%.*s is not taken: its nets stay ideal",
                         (int)f->now.len, f->now.s);
            if (is(f, "*R_NET"))
                skip_net(f);
            advance(f);
        } else {
            advance(f);
        }
    }
}

/* Settles nodes that only coupling capacitors name: those that their own net's section leaves out,
 * and nets without a section, which are nodes of the deck. */
static void settle_nodes(spef *f)
{
    for (size_t k = 0; k < vec_len(f->node) && !f->failed; k++) {
        node *n = &f->node[k];
        if (n->net >= 0)
            continue;
        n->net = map_get(&f->net_of, map_key(n->base), -1);
        if (n->net < 0 && n->text != n->base) {
            diag_error(f->in->d, n->at, "node '%s' is of no net of this file", n->text);
            f->failed = true;
        }
    }
}

/* -- pins -- */

/* Pins of elements that are no instances, in the order of their nodes. */
static const struct {
    char letter;
    const char *pin[4][4];
} own_pins[] = {
    {'m', {{"d", "drain"}, {"g", "gate"}, {"s", "source"}, {"b", "bulk", "body"}}},
    {'q', {{"c", "collector"}, {"b", "base"}, {"e", "emitter"}, {"s", "substrate"}}},
    {'j', {{"d", "drain"}, {"g", "gate"}, {"s", "source"}}},
    {'z', {{"d", "drain"}, {"g", "gate"}, {"s", "source"}}},
    {'d', {{"a", "anode", "plus", "pos"}, {"c", "k", "cathode", "minus"}}},
    {'r', {{"1", "a", "plus", "pos"}, {"2", "b", "minus", "neg"}}},
    {'c', {{"1", "a", "plus", "pos"}, {"2", "b", "minus", "neg"}}},
};

static int32_t own_pin(char letter, const char *name)
{
    for (size_t i = 0; i < VS_COUNT(own_pins); i++)
        for (int32_t k = 0; own_pins[i].letter == letter && k < 4; k++)
            for (int j = 0; j < 4; j++)
                if (own_pins[i].pin[k][j] && !strcmp(own_pins[i].pin[k][j], name))
                    return k;
    return -1;
}

/* How many words of a card come before its first NAME=VALUE. */
static int32_t n_plain(const net_card *c)
{
    for (int32_t k = 0; k < c->n_tok; k++)
        if (c->tok[k].punct == '=' || (c->tok[k].text && !strcmp(c->tok[k].text, "params:")))
            return c->tok[k].punct == '=' ? k - 1 : k;
    return c->n_tok;
}

static const net_sub *definition_of(const net_sub *from, const char *name)
{
    for (; from; from = from->parent)
        for (size_t i = 0; i < vec_len(from->line); i++)
            if (net_line_sub(&from->line[i]) && net_line_sub(&from->line[i])->name == name)
                return net_line_sub(&from->line[i]);
    return NULL;
}

/* The definition that an instance is of, NULL: it is none, or of none that is seen from here. */
static const net_sub *instance_of(const spef *f, const net_card *c)
{
    const int32_t n = n_plain(c);
    const char *name = n > 1 && c->name[0] == 'x' ? c->tok[n - 1].text : NULL;
    return name ? definition_of(f->in->body, name) : NULL;
}

/* The token of a card that is the node of a pin, -1: none. */
static int32_t token_of(const spef *f, const net_card *c, const char *pin_name)
{
    if (c->name[0] != 'x') {
        const int32_t k = own_pin(c->name[0], pin_name);
        return k >= 0 && k + 1 < c->n_tok ? k + 1 : -1;
    }
    const int32_t n = n_plain(c);
    const net_sub *s = instance_of(f, c);
    const int32_t n_port = s ? n_plain(s->head) : 0;
    for (int32_t k = 2; k < n_port; k++)
        if (s->head->tok[k].text == pin_name)
            return k - 1 < n - 1 ? k - 1 : -1;
    return -1;
}

/* The name of a node in the deck. */
static const char *name_of(spef *f, int32_t k)
{
    const node *n = &f->node[k];
    if (n->net < 0)
        return n->text;
    const net *of = &f->net[n->net];
    const bool joined = root_of(f, k) == root_of(f, of->root);
    return joined && k != of->root ? n->text : of->name;
}

static int by_card(const void *pa, const void *pb)
{
    const pin *a = pa, *b = pb;
    return a->card != b->card ? (a->card < b->card ? -1 : 1)
                              : (a->node > b->node) - (a->node < b->node);
}

static void no_such_pin(const spef *f, const net_card *c, const pin *p)
{
    const net_sub *s = instance_of(f, c);
    const char **port = NULL;
    diag_error(f->in->d, p->at, "'%s' has no pin '%s'", c->name, p->name);
    for (int32_t k = 2, n = s ? n_plain(s->head) : 0; k < n; k++)
        if (s->head->tok[k].text)
            vec_push(port, s->head->tok[k].text);
    diag_suggest(f->in->d, p->name, port, vec_len(port));
    vec_free(port);
    diag_note(f->in->d, net_card_span(c), "'%s' stands here", c->name);
}

/* The node of a pin goes to its place in to[n_tok of c]. */
static void place_pin(spef *f, const net_card *c, const pin *p, const char **to)
{
    const int32_t k = token_of(f, c, p->name);
    const net *of = &f->net[f->node[p->node].net];
    if (k >= 0 && c->tok[k].text == of->name) {
        to[k] = name_of(f, p->node);
        return;
    }
    f->failed = true;
    if (k < 0) {
        no_such_pin(f, c, p);
        return;
    }
    diag_error(f->in->d, p->at, "this pin is on net '%s' in the file, and on '%s' in the deck",
               of->name, c->tok[k].text ? c->tok[k].text : "?");
    diag_note(f->in->d, net_tok_span(c, &c->tok[k]), "its node is here");
}

/* Writes a card again with other nodes at some of its pins. */
static void write_card(spef *f, FILE *out, const net_card *c, const pin *p, size_t n)
{
    const char *s = f->in->d->file[c->file].text;
    const char **to = vs_calloc((size_t)c->n_tok, sizeof *to);
    for (size_t i = 0; i < n && !f->failed; i++)
        place_pin(f, c, &p[i], to);
    for (int32_t k = 0; k < c->n_tok && !f->failed; k++) {
        const net_tok *t = &c->tok[k];
        fprintf(out, "%s%.*s", k && !t->glued ? " " : "", to[k] ? (int)strlen(to[k]) : (int)t->len,
                to[k] ? to[k] : s + t->off);
    }
    fputc('\n', out);
    vs_free(to);
}

static void write_pins(spef *f, FILE *out)
{
    net_tok *tok = NULL;
    if (vec_len(f->pin))
        qsort(f->pin, vec_len(f->pin), sizeof *f->pin, by_card);
    for (size_t i = 0, end; i < vec_len(f->pin) && !f->failed; i = end) {
        net_line *card = &f->in->body->line[f->pin[i].card];
        for (end = i; end < vec_len(f->pin) && f->pin[end].card == f->pin[i].card;)
            end++;
        const net_card full = net_line_full(card, f->in->d, f->in->names, &tok);
        write_card(f, out, &full, &f->pin[i], end - i);
        card->kind = NET_CARD_UNKNOWN; /* what is written takes its place */
    }
    vec_free(tok);
}

static void write_parts(spef *f, FILE *out, char letter, const part *p)
{
    for (size_t i = 0; i < vec_len(p); i++) {
        if (p[i].dropped)
            continue;
        const char *a = name_of(f, p[i].a), *b = p[i].b < 0 ? "0" : name_of(f, p[i].b);
        if (a != b)
            fprintf(out, "%cspef%d_%zu %s %s %.17g\n", letter, f->in->number, i, a, b, p[i].value);
    }
}

static void list_cards(spef *f)
{
    const net_line *c = f->in->body->line;
    for (size_t i = 0; i < vec_len(c); i++)
        if (c[i].kind == NET_ELEMENT && map_get(&f->card_of, map_key(c[i].name), -1) < 0)
            map_set(&f->card_of, map_key(c[i].name), (int32_t)i);
}

static void fini(spef *f)
{
    map *const m[] = {&f->index, &f->net_of, &f->node_of, &f->card_of, &f->coupled};
    for (size_t i = 0; i < VS_COUNT(m); i++)
        map_free(m[i]);
    vec_free(f->node);
    vec_free(f->net);
    vec_free(f->pin);
    vec_free(f->res);
    vec_free(f->cap);
}

char *net_spef_text(const net_spef_in *in, int32_t file, size_t *len)
{
    char *text = NULL;
    spef f = {.in = in,
              .s = in->d->file[file].text,
              .len = (uint32_t)in->d->file[file].len,
              .file = file,
              .delimiter = ':',
              .ohm = 1,
              .farad = 1e-12};
    list_cards(&f);
    read_file(&f);
    settle_nodes(&f);
    FILE *out = stream_text(&text, len);
    if (!f.failed)
        write_pins(&f, out);
    if (!f.failed) {
        write_parts(&f, out, 'r', f.res);
        write_parts(&f, out, 'c', f.cap);
        if (f.n_other)
            diag_warning(
                in->d, f.other_at,
                "%d pins of the file are of elements that the %s does not have; '%s' is the first",
                f.n_other, in->body->name ? "subcircuit" : "deck", f.other);
    }
    stream_close(out);
    fini(&f);
    if (!f.failed)
        return text;
    vs_free(text);
    return NULL;
}

const char *net_spef_design(diag *d, str_pool *names, int32_t file)
{
    const net_spef_in in = {.d = d, .names = names};
    spef f = {.in = &in, .s = d->file[file].text, .len = (uint32_t)d->file[file].len, .file = file};
    do
        advance(&f);
    while (f.now.len && !is(&f, "*DESIGN") && !is(&f, "*D_NET"));
    if (!is(&f, "*DESIGN"))
        return NULL;
    advance(&f);
    const uint32_t quote = f.now.len > 1 && f.now.s[0] == '"';
    return f.now.len ? plain_name(&f, f.now.s + quote, f.now.len - 2 * quote) : NULL;
}
