/* flat_probe.c - currents into terminals, voltages between terminals and powers of elements: of
 * .probe, of .save, and those that other cards and commands name (metered of net_deck). A current
 * is that of a source of 0 V, put between the terminal and its node; a power, the sum of v i over
 * the terminals, is an unknown of its own. Names of the vectors are those of ngspice: i(r1),
 * i(q1:c), i(x1:out), v(vd_m1:d:s), r1:power. Instances of subcircuits get their sources when they
 * are expanded (flat_put_pins), for afterwards they have no terminals.
 * Source: ngspice manual 39, section 15.6.6. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "flat_priv.h"

/* Terminals in the order of their nodes; NULL: two, without names. */
static const char *terminals(char letter)
{
    return letter == 'm'                    ? "dgsb"
           : letter == 'q'                  ? "cbes"
           : letter == 'j' || letter == 'z' ? "dgs"
                                            : NULL;
}

/* Without the nodes that control it. */
static int32_t n_terminal(const flat_inst *in)
{
    return strchr("eghsw", in->letter) ? 2 : in->n_node;
}

/* item = ("i" | "p" | "vd") "(" element [(":" | ",") (element | terminal) ...] ")"; the cursor is
 * behind its ")". false: the item is another one, the cursor is where it was. */
static bool read_item(cur *q, probe_item *p)
{
    enum { MOST = sizeof p->word / sizeof *p->word };
    const int32_t from = q->i;
    *p = (probe_item){.kind = cur_is_word(q, "i")    ? 'i'
                              : cur_is_word(q, "p")  ? 'p'
                              : cur_is_word(q, "vd") ? 'v'
                                                     : 0};
    const diag_span at = cur_span(q);
    q->i++;
    bool ok = p->kind && cur_is(q, '('), comma = false;
    for (q->i++; ok && cur_more(q) && !cur_is(q, ')'); q->i++) {
        if (cur_is(q, ',')) {
            comma = true;
            continue;
        }
        const diag_span t = cur_span(q);
        const char *s = q->c->d->file[t.file].text + t.off, *end = s + t.len;
        while (s < end) {
            const char *colon = memchr(s, ':', (size_t)(end - s));
            const size_t n = (size_t)((colon ? colon : end) - s);
            ok = ok && p->n < MOST;
            if (ok && n) { /* a colon may stand between blanks */
                p->comma[p->n] = comma;
                p->word[p->n++] = str_intern_lower(q->c->names, s, n);
            }
            comma = false;
            s += n + 1;
        }
    }
    if (!ok || !cur_is(q, ')') || !p->n || (p->kind == 'p' && p->n > 1) ||
        (p->kind == 'i' && p->n > 2)) {
        q->i = from;
        return false;
    }
    p->span = diag_join(at, cur_span(q));
    q->i++;
    return true;
}

bool flat_read_probe(cur *q, const scope *s)
{
    probe_item p = {.kind = 'a', .span = cur_span(q)};
    const bool all = s == q->c->root && cur_is_word(q, "alli") &&
                     !(q->i + 1 < q->card->n_tok && q->card->tok[q->i + 1].punct == '(');
    if (all)
        q->i++;
    else if (!read_item(q, &p))
        return false;
    p.path = s->path;
    vec_push(q->c->probe, p);
    return true;
}

/* Of a card inside a subcircuit one instance tells; what no card has is told each time. */
static bool tells(flat_ctx *c, const probe_item *p)
{
    return p->span.file < 0 || flat_first(c, p->span);
}

static void refuse(flat_ctx *c, const probe_item *p, const char *what, const char *name)
{
    if (tells(c, p))
        diag_warning(c->d, p->span, "%s '%s'; nothing is saved for it", what, name);
}

static const char *path_of(const probe_item *p) { return p->path ? p->path : ""; }

static int32_t element(flat_ctx *c, const probe_item *p, const char *name)
{
    const int32_t k = flat_find_element(c, path_of(p), name);
    if (k < 0 && tells(c, p)) {
        diag_warning(c->d, p->span, "no element '%s'; nothing is saved for it", name);
        flat_suggest_element(c, arena_printf(&c->scratch, "%s%s", path_of(p), name));
    }
    return k;
}

enum { MOST_NAMED = 4096, MOST_LISTED = 16 };
/* What modules and code models know of their terminals, [n_node]; NULL: of other elements. */
static const flat_terminal *module_terminals(flat_ctx *c, const flat_inst *in)
{
    const flat_terminals *t = c->f->terminals;
    if (!t || !strchr("nau", in->letter) || !in->n_node || in->n_node > MOST_NAMED)
        return NULL;
    flat_terminal *of = arena_array(&c->scratch, flat_terminal, in->n_node);
    memset(of, 0, in->n_node * sizeof *of);
    t->names(t->of, in, of);
    return of;
}

/* Whether an expression reads the voltage of a node. */
static bool reads(const net_expr *e, int32_t node)
{
    bool found = e->op == NET_VNODE && (e->node[0] == node || e->node[1] == node);
    for (int32_t i = 0; i < e->n_arg && !found; i++)
        found = reads(e->arg[i], node);
    return found;
}

/* Whether terminal t of an element, and all that its node connects, is digital. */
static bool is_digital(flat_ctx *c, const flat_inst *in, int32_t t)
{
    const flat_terminal *of = module_terminals(c, in);
    bool digital = of && of[t].is_digital;
    for (size_t i = 0; i < vec_len(c->f->inst) && digital; i++) {
        const flat_inst *x = &c->f->inst[i];
        bool here = false;
        for (uint32_t k = 0; k < x->n_node && !here; k++)
            here = x->node[k] == in->node[t];
        const flat_terminal *o = here ? module_terminals(c, x) : NULL;
        for (uint32_t k = 0; k < x->n_node && here && digital; k++)
            digital = x->node[k] != in->node[t] || (o && o[k].is_digital);
        digital = digital && !(x->rare->expr && reads(x->rare->expr, in->node[t]));
    }
    return digital;
}

/* Names of terminals that only modules and code models know: [n_node], "in[0]", "in[1]" where
 * several have one. NULL: nobody knows any. */
static const char **module_names(flat_ctx *c, const flat_inst *in)
{
    const flat_terminal *port = module_terminals(c, in);
    const char **name = port ? arena_array(&c->scratch, const char *, in->n_node) : NULL;
    for (uint32_t i = 0; port && i < in->n_node; i++) {
        int32_t same = 0, before = 0;
        for (uint32_t k = 0; k < in->n_node && port[i].name; k++)
            if (port[k].name && !str_casecmp(port[k].name, port[i].name)) {
                same++;
                before += k < i;
            }
        if (!port[i].name)
            return NULL;
        name[i] = same > 1 ? arena_printf(&c->scratch, "%s[%d]", port[i].name, (int)before)
                           : arena_printf(&c->scratch, "%s", port[i].name);
        for (char *s = (char *)name[i]; *s; s++)
            *s = (char)tolower((unsigned char)*s);
    }
    return name;
}

static int32_t module_terminal(flat_ctx *c, const flat_inst *in, const char *name)
{
    const char **of = module_names(c, in);
    for (uint32_t i = 0; of && i < in->n_node; i++)
        if (!strcmp(of[i], name))
            return (int32_t)i;
    return -1;
}

/* A terminal by its name or number; -1: there is none. */
static int32_t terminal_of(flat_ctx *c, const flat_inst *in, const char *name)
{
    const char *all = terminals(in->letter), *at = all && !name[1] ? strchr(all, *name) : NULL;
    const bool digits = name[strspn(name, "0123456789")] == 0 && strlen(name) < 4;
    const int32_t t = at       ? (int32_t)(at - all)
                      : digits ? atoi(name) - 1
                               : module_terminal(c, in, name);
    return t >= 0 && t < n_terminal(in) ? t : -1;
}

/* "d, g, s, b, or 1 to 4" */
static const char *list_terminals(flat_ctx *c, const char *const *name, size_t n)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&c->scratch, "%s%s, ", text, name[i]);
    return n == 1 ? arena_printf(&c->scratch, "%sor 1", text)
                  : arena_printf(&c->scratch, "%s%s1 to %zu", text, *text ? "or " : "", n);
}

/* wrong: what is none of them, of which many have a near one */
static const char *terminals_of(flat_ctx *c, const flat_inst *in, const char *wrong)
{
    const char *all = terminals(in->letter), *name[4], **of = module_names(c, in);
    const int32_t n = n_terminal(in), named = all ? (int32_t)strlen(all) : 0;
    for (int32_t i = 0; i < n && n <= named; i++)
        name[i] = arena_printf(&c->scratch, "%c", all[i]);
    if (of && n <= MOST_LISTED)
        return list_terminals(c, of, (size_t)n);
    if (of) {
        const char *near = flat_near(c, wrong, of, (size_t)n);
        return arena_printf(&c->scratch, "%s, ... %s, or 1 to %d", of[0], near ? near : of[n - 1],
                            (int)n);
    }
    if (n <= named)
        return list_terminals(c, name, (size_t)n);
    return all ? arena_printf(&c->scratch, "the letters of '%s', or 1 to %d", all, (int)n)
               : arena_printf(&c->scratch, "1 to %d", (int)n);
}

/* -1 after a message. */
static int32_t terminal(flat_ctx *c, const probe_item *p, int32_t k, const char *name)
{
    const flat_inst *in = &c->f->inst[k];
    const int32_t t = terminal_of(c, in, name);
    const bool unknown = c->f->terminals && in->letter == 'n' && !module_names(c, in);
    if (t >= 0 || unknown || !tells(c, p)) /* of an unknown module there will be an error */
        return t;
    diag_warning(c->d, p->span, "'%s' has no terminal '%s'; nothing is saved for it", in->name,
                 name);
    diag_note(c->d, DIAG_NOWHERE, "its terminals are %s", terminals_of(c, in, name));
    return -1;
}

/* -- subcircuits -- */

/* What pin_of says of an instance: its terminals are asked for by a card of .save or .probe, by
 * another card or command, or are those of an instance within it. */
enum { PIN_CARD = 1, PIN_METER = 2, PIN_WITHIN = 4 };

static void want(flat_ctx *c, const char *name, int32_t how)
{
    map_set(&c->pin_of, map_key(name), how | map_get(&c->pin_of, map_key(name), 0));
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        const char *above = str_intern(c->names, name, (size_t)(dot - name));
        map_set(&c->pin_of, map_key(above), PIN_WITHIN | map_get(&c->pin_of, map_key(above), 0));
    }
}

/* Whether a path begins with an instance of the body; else it begins at the top. */
static bool stands_in(const body *b, const char *name)
{
    const size_t n = strcspn(name, ".");
    for (size_t i = 0; i < vec_len(b->elem); i++)
        if (!strncmp(b->elem[i].name, name, n) && !b->elem[i].name[n])
            return true;
    return false;
}

/* The instances behind "(", as in i(x1:a), ix(u1:a), p(x1), of a card in a body: those that stand
 * in the scope s; s NULL: those that are named from the top. */
static void want_of_card(flat_ctx *c, const body *b, const scope *s, const net_card *card)
{
    for (int32_t i = 0; i + 2 < card->n_tok; i++) {
        const net_tok *t = &card->tok[i];
        if (!t[0].text || t[1].punct != '(' || !t[2].text)
            continue;
        const char *prefix = !strcmp(t[0].text, "ix") ? "x" : "", *colon = strrchr(t[2].text, ':');
        const int n = colon ? (int)(colon - t[2].text) : (int)strlen(t[2].text);
        const char *name = flat_with_dots(
            c, str_intern0(c->names, arena_printf(&c->scratch, "%s%.*s", prefix, n, t[2].text)));
        const char *dot = strrchr(name, '.');
        if ((dot ? dot[1] : name[0]) == 'x' && stands_in(b, name) == (s != NULL))
            want(c, s ? flat_join(c, s, name) : name, PIN_CARD);
    }
}

/* What cards of all bodies that may be expanded name from the top may be expanded before they are.
 * Cards and instances under a condition count: it is not known yet, and a source of 0 V too many
 * changes nothing. */
static void want_from_top(flat_ctx *c)
{
    for (int32_t k = 0; k < c->deck->n_sub; k++) {
        const body *b = c->body[k];
        for (size_t i = 0; b && b->count >= 0 && i < vec_len(b->other); i++)
            if (b->other[i].card->kind == NET_CARD_SAVE)
                want_of_card(c, b, NULL, b->other[i].card);
    }
}

void flat_want_pins(flat_ctx *c, const scope *s)
{
    const card_ref *r = s->b->other;
    if (s == c->root)
        want_from_top(c);
    for (size_t i = 0; i < vec_len(r); i++) {
        const net_card *card = r[i].card;
        if (card->kind != NET_CARD_SAVE || !flat_on(s, r[i].guard))
            continue;
        want_of_card(c, s->b, s, card);
        for (int32_t k = 0; s == c->root && !strcmp(card->name, "probe") && k < card->n_tok; k++)
            c->all_pins |= card->tok[k].text && !strcmp(card->tok[k].text, "alli");
    }
    for (size_t i = 0; s == c->root && i + 1 < vec_len(c->deck->metered); i += 2)
        if (*c->deck->metered[i + 1] == ':')
            want(c, c->deck->metered[i], PIN_METER);
}

/* Bits PIN_* of an instance that stands in a scope. */
static int32_t pins_of(flat_ctx *c, const scope *s, const char *name)
{
    const int32_t all = c->all_pins && s == c->root ? PIN_CARD : 0;
    return c->pin_of.n ? all | map_get(&c->pin_of, map_key(flat_join(c, s, name)), 0) : all;
}

bool flat_has_pins(flat_ctx *c, const scope *s, const elem *e)
{
    return pins_of(c, s, e->name) != 0;
}

static flat_inst zero_volts(flat_ctx *c, const char *name, int32_t a, int32_t b, diag_span span)
{
    flat_source *zero = arena_new(c->mem, flat_source);
    *zero = (flat_source){.dc_given = true, .pwl_repeat = -1, .span = span};
    flat_inst v = {.name = name,
                   .letter = 'v',
                   .n_node = 2,
                   .m = 1,
                   .rare = &flat_no_rare,
                   .span = span,
                   .node = arena_array(c->mem, int32_t, 2)};
    flat_rare *rare = flat_own_rare(c->mem, &v);
    v.node[0] = a;
    v.node[1] = b;
    rare->source = zero;
    rare->node_span = arena_array(c->mem, diag_span, 2);
    rare->node_span[0] = rare->node_span[1] = span;
    return v;
}

static void lack(flat_ctx *c, const char *device, const char *param, const char *note)
{
    vec_push(c->f->lack, ((flat_lack){device, param, arena_printf(c->mem, "%s", note)}));
}

/* Whether a card other than .save and .probe asks for a current into a port of b, an instance of
 * which is called `name`, or for its power. */
static bool is_metered_sub(flat_ctx *c, const char *name, const body *b)
{
    const char **port = NULL;
    bool metered = false;
    for (size_t i = 0; i < vec_len(b->port); i++)
        vec_push(port, b->slot_name[b->port[i]]);
    for (size_t i = 0; i + 1 < vec_len(c->deck->metered); i += 2) {
        const char *part = c->deck->metered[i + 1];
        if (c->deck->metered[i] != name || *part != ':')
            continue;
        bool there = !strcmp(part, ":power");
        for (size_t k = 0; k < vec_len(port); k++)
            there |= !strcmp(port[k], part + 1);
        char *end;
        const long number = strtol(part + 1, &end, 10);
        there |= part[1] && !*end && number >= 1 && (size_t)number <= vec_len(port);
        if (!there)
            lack(c, name, part,
                 arena_printf(&c->scratch, "the terminals of '%s' are %s", name,
                              list_terminals(c, port, vec_len(port))));
        metered |= there;
    }
    vec_free(port);
    return metered;
}

void flat_put_pins(flat_ctx *c, const scope *s, const elem *e, const body *b, int32_t *node)
{
    const int32_t pins = pins_of(c, s, e->name);
    const char *name = pins ? flat_join(c, s, e->name) : NULL;
    if (!(pins & PIN_CARD) && !(pins & PIN_METER && is_metered_sub(c, name, b)))
        return;
    for (size_t i = 0; i < vec_len(b->port); i++) {
        const int32_t slot = b->port[i], inner = (int32_t)vec_len(c->f->node);
        if (node[slot] < 0) /* an optional port that the instance leaves out */
            continue;
        const pin p = {name, b->slot_name[slot], (int32_t)i + 1, node[slot],
                       str_intern0(c->names, arena_printf(&c->scratch, "%s:%s#probe", name,
                                                          b->slot_name[slot]))};
        vec_push(c->f->node, p.source);
        node[slot] = inner;
        vec_push(c->f->inst, zero_volts(c, p.source, p.node, inner, net_line_span(e->line)));
        vec_push(c->pin, p);
    }
}

static const pin *find_pin(const flat_ctx *c, const char *inst, const char *port)
{
    char *end;
    const long number = strtol(port, &end, 10);
    for (size_t i = 0; i < vec_len(c->pin); i++)
        if (!strcmp(c->pin[i].inst, inst) &&
            (!strcmp(c->pin[i].port, port) || (!*end && c->pin[i].number == number)))
            return &c->pin[i];
    return NULL;
}

/* As seen from a scope. */
static const pin *pin_from(flat_ctx *c, const char *path, const char *inst, const char *port)
{
    const char *dots = flat_with_dots(c, inst),
               *full = arena_printf(&c->scratch, "%s%s", path, dots);
    const pin *at = find_pin(c, full, port);
    return at || !*path ? at : find_pin(c, dots, port);
}

/* The first terminal of an instance of a subcircuit; NULL: it is none. */
static const pin *first_pin(flat_ctx *c, const char *path, const char *inst)
{
    return pin_from(c, path, inst, "1");
}

static int32_t new_node(flat_ctx *c, const char *name)
{
    const int32_t n = (int32_t)vec_len(c->f->node);
    vec_push(c->f->node, name);
    map_set(&c->node_of, map_key(name), n);
    return n;
}

static const char *terminal_name(flat_ctx *c, const flat_inst *in, int32_t t)
{
    const char *all = terminals(in->letter);
    if (all && t < (int32_t)strlen(all))
        return arena_printf(&c->scratch, "%s:%c", in->name, all[t]);
    return n_terminal(in) == 2 && t == 0 ? in->name
                                         : arena_printf(&c->scratch, "%s:%d", in->name, (int)t + 1);
}

/* Name of the element whose branch current is the current into terminal t: the element itself, or a
 * source of 0 V that is put there. */
static const char *into(flat_ctx *c, const probe_item *p, int32_t k, int32_t t)
{
    flat_inst *in = &c->f->inst[k];
    if (t == 0 && (in->letter == 'v' || in->letter == 'l'))
        return in->name;
    const char *name =
        str_intern0(c->names, arena_printf(&c->scratch, "%s#probe", terminal_name(c, in, t)));
    if (map_get(&c->inst_of, map_key(name), -1) >= 0)
        return name;
    const int32_t outside = in->node[t], inside = in->node[t] = new_node(c, name);
    map_set(&c->inst_of, map_key(name), (int32_t)vec_len(c->f->inst));
    vec_push(c->f->inst, zero_volts(c, name, outside, inside, p->span)); /* moves `in` */
    return name;
}

static void save_as(flat_ctx *c, const probe_item *p, flat_save s, const char *name)
{
    s.as = s.text = str_intern0(c->names, name);
    s.span = p->span;
    vec_push(c->f->save, s);
}

static void save_pin(flat_ctx *c, const probe_item *p, const pin *at)
{
    save_as(c, p, (flat_save){.what = FLAT_SAVE_I, .node = {-1, -1}, .device = at->source},
            p->as ? p->as : arena_printf(&c->scratch, "i(%s:%s)", at->inst, at->port));
}

/* A terminal that an item names. */
typedef struct place {
    const pin *pin; /* of an instance of a subcircuit; NULL: */
    int32_t k, t;   /* of this element */
} place;

/* i(x1:a), i(x1:2); sub: of x1. false after a message. */
static bool place_in_sub(flat_ctx *c, const probe_item *p, const pin *sub, place *at)
{
    at->pin = p->n > 1 ? find_pin(c, sub->inst, p->word[1]) : NULL;
    if (at->pin || !tells(c, p))
        return at->pin != NULL;
    if (p->n == 1)
        diag_warning(c->d, p->span,
                     "a terminal is needed, as in i(x1:out), for the current of '%s'; nothing is "
                     "saved for it",
                     p->word[0]);
    else
        diag_warning(c->d, p->span, "'%s' has no terminal '%s'; nothing is saved for it",
                     p->word[0], p->word[1]);
    const char **name = NULL;
    for (size_t i = 0; i < vec_len(c->pin); i++)
        if (!strcmp(c->pin[i].inst, sub->inst))
            vec_push(name, c->pin[i].port);
    diag_note(c->d, DIAG_NOWHERE, "its terminals are %s", list_terminals(c, name, vec_len(name)));
    vec_free(name);
    return false;
}

/* i(r1), i(q1:c), i(q1,c), as seen from a scope. false after a message. */
static bool find_place(flat_ctx *c, const char *path, const probe_item *p, place *at)
{
    const pin *sub = first_pin(c, path, p->word[0]);
    *at = (place){.k = -1};
    if (sub)
        return place_in_sub(c, p, sub, at);
    at->k = flat_find_element(c, path, p->word[0]);
    if (at->k < 0)
        return element(c, p, p->word[0]) >= 0;
    if (p->n == 1 && n_terminal(&c->f->inst[at->k]) != 2) {
        refuse(c, p, "a terminal is needed, as in i(q1:c), for the current of", p->word[0]);
        return false;
    }
    at->t = p->n == 1 ? 0 : terminal(c, p, at->k, p->word[1]);
    if (at->t < 0 || !is_digital(c, &c->f->inst[at->k], at->t))
        return at->t >= 0;
    if (tells(c, p))
        diag_warning(c->d, p->span,
                     "terminal %d of '%s' is at a digital node, where no current flows; nothing is "
                     "saved for it",
                     (int)at->t + 1, c->f->inst[at->k].name);
    return false;
}

static void probe_current(flat_ctx *c, const probe_item *p)
{
    place at;
    if (!find_place(c, path_of(p), p, &at))
        return;
    if (at.pin) {
        save_pin(c, p, at.pin);
        return;
    }
    const flat_inst *in = &c->f->inst[at.k];
    const bool by_name = p->n > 1 && !isdigit((unsigned char)*p->word[1]) && !terminals(in->letter);
    const char *name = p->as     ? p->as
                       : by_name ? arena_printf(&c->scratch, "i(%s:%s)", in->name, p->word[1])
                                 : arena_printf(&c->scratch, "i(%s)", terminal_name(c, in, at.t));
    save_as(c, p,
            (flat_save){.what = FLAT_SAVE_I, .node = {-1, -1}, .device = into(c, p, at.k, at.t)},
            name);
}

/* The current into terminal t of instance k, by the terminal's name, or by its own. */
static void probe_terminal(flat_ctx *c, const probe_item *p, int32_t k, int32_t t, const char *own)
{
    const flat_inst *in = &c->f->inst[k];
    const char *name = own ? arena_printf(&c->scratch, "i(%s:%s)", in->name, own)
                           : arena_printf(&c->scratch, "i(%s)", terminal_name(c, in, t));
    save_as(c, p, (flat_save){.what = FLAT_SAVE_I, .node = {-1, -1}, .device = into(c, p, k, t)},
            name);
}

/* Terminals of modules and code models, by name. Those that are digital are left out: a source
 * would put bridges there. */
static void probe_module(flat_ctx *c, const probe_item *p, int32_t k)
{
    const int32_t n = n_terminal(&c->f->inst[k]);
    const flat_terminal *of = module_terminals(c, &c->f->inst[k]);
    const char **name = module_names(c, &c->f->inst[k]);
    for (int32_t t = 0; t < n; t++)
        if (!of || !of[t].is_digital)
            probe_terminal(c, p, k, t, name ? name[t] : NULL);
}

/* alli: adds sources for the currents into all terminals of the top level's elements, and saves
 * those of its subcircuits; voltage sources and inductors need none. */
static void probe_all(flat_ctx *c, const probe_item *p, size_t n)
{
    for (size_t i = 0; i < vec_len(c->pin); i++)
        if (!strchr(c->pin[i].inst, '.'))
            save_pin(c, p, &c->pin[i]);
    for (size_t k = 0; k < n; k++) {
        const flat_inst *in = &c->f->inst[k];
        const int32_t terms = n_terminal(in);
        if (strchr(in->name, '.') || in->is_row)
            continue;
        if (strchr("na", in->letter))
            probe_module(c, p, (int32_t)k);
        else if (strchr("rcdefghswbqmjz", in->letter))
            for (int32_t t = 0; t < (terms == 2 ? 1 : terms); t++)
                probe_terminal(c, p, (int32_t)k, t, NULL);
    }
}

/* vd(r1), vd(m1:d:s), vd(m1:d,q1:c); 0 is ground */
static void probe_voltage(flat_ctx *c, const probe_item *p)
{
    flat_save s = {.what = FLAT_SAVE_V, .node = {-1, -1}};
    const char *name = "v(vd_", *sep = "";
    int32_t k = -1, side = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const bool is_element = i == 0 || (p->comma[i] && side == 1 && i + 1 < p->n);
        k = is_element ? element(c, p, p->word[i]) : k;
        if (k < 0)
            return;
        name = arena_printf(&c->scratch, "%s%s%s", name, i && p->comma[i] ? "_" : sep,
                            is_element ? c->f->inst[k].name : p->word[i]);
        sep = ":";
        if (is_element)
            continue;
        const bool ground = !strcmp(p->word[i], "0");
        const int32_t t = ground ? 0 : terminal(c, p, k, p->word[i]);
        if (t < 0)
            return;
        if (side < 2)
            s.node[side] = ground ? 0 : c->f->inst[k].node[t];
        side++;
    }
    if (side == 0 && n_terminal(&c->f->inst[k]) == 2)
        for (; side < 2; side++)
            s.node[side] = c->f->inst[k].node[side];
    if (side != 2) {
        refuse(c, p, "two terminals are needed, as in vd(m1:d:s), for a voltage of", p->word[0]);
        return;
    }
    save_as(c, p, s, arena_printf(&c->scratch, "%s)", name));
}

static const net_expr *combine(flat_ctx *c, const probe_item *p, net_op op, const net_expr *a,
                               const net_expr *b)
{
    net_expr *e = arena_alloc(c->mem, sizeof *e + 2 * sizeof e->arg[0]);
    *e = (net_expr){.op = op, .n_arg = 2, .span = p->span};
    e->arg[0] = a;
    e->arg[1] = b;
    return e;
}

static const net_expr *leaf(flat_ctx *c, const probe_item *p, net_op op, const char *name,
                            int32_t node, int32_t to)
{
    net_expr *e = arena_alloc(c->mem, sizeof *e);
    *e = (net_expr){.op = op, .name = name, .node = {node, to}, .span = p->span};
    return e;
}

/* v i: the voltage from a node to `ref` times the current of a source. */
static const net_expr *power_at(flat_ctx *c, const probe_item *p, const char *source, int32_t node,
                                int32_t ref)
{
    const net_expr *v = leaf(c, p, NET_VNODE, c->f->node[node], node, ref);
    return combine(c, p, NET_MUL, v, leaf(c, p, NET_IBRANCH, source, 0, 0));
}

/* The sum over the terminals; v is measured to the last one, which needs no source then. */
static const net_expr *power_of_element(flat_ctx *c, const probe_item *p, int32_t k)
{
    const int32_t last = n_terminal(&c->f->inst[k]) - 1;
    const int32_t ref = last > 0 ? c->f->inst[k].node[last] : 0;
    const net_expr *sum = NULL;
    for (int32_t t = 0; t < last; t++) {
        const int32_t node = c->f->inst[k].node[t];
        if (is_digital(c, &c->f->inst[k], t))
            continue;
        const net_expr *vi = power_at(c, p, into(c, p, k, t), node, ref);
        sum = sum ? combine(c, p, NET_ADD, sum, vi) : vi;
    }
    return sum;
}

/* v is measured to ground, through which current may go as well. */
static const net_expr *power_of_pins(flat_ctx *c, const probe_item *p, const char *inst)
{
    const net_expr *sum = NULL;
    for (size_t i = 0; i < vec_len(c->pin); i++) {
        const pin *at = &c->pin[i];
        if (strcmp(at->inst, inst) != 0 || at->node == 0)
            continue;
        const net_expr *vi = power_at(c, p, at->source, at->node, 0);
        sum = sum ? combine(c, p, NET_ADD, sum, vi) : vi;
    }
    return sum;
}

/* The node whose voltage is the power of an instance of a subcircuit (sub: one of its terminals),
 * or of element k; -1 after a message. vector: its name */
static int32_t power_node(flat_ctx *c, const probe_item *p, const pin *sub, int32_t k,
                          const char *vector)
{
    const char *name = str_intern0(c->names, arena_printf(&c->scratch, "%s#probe", vector));
    const int32_t known = map_get(&c->node_of, map_key(name), -1);
    if (known >= 0)
        return known;
    const net_expr *sum = sub ? power_of_pins(c, p, sub->inst) : power_of_element(c, p, k);
    if (!sum) {
        refuse(c, p, "there is no power of", p->word[0]);
        return -1;
    }
    flat_inst row = {.name = str_intern0(c->names, arena_printf(&c->scratch, "row#%s", name)),
                     .letter = 'b',
                     .n_node = 2,
                     .m = 1,
                     .node = arena_array(c->mem, int32_t, 2),
                     .rare = &flat_no_rare,
                     .expr_is_v = true,
                     .is_row = true,
                     .span = p->span};
    flat_own_rare(c->mem, &row)->expr = sum;
    row.node[0] = new_node(c, name);
    row.node[1] = 0;
    vec_push(c->f->inst, row);
    return row.node[0];
}

/* p(r1), p(x1) */
static void probe_power(flat_ctx *c, const probe_item *p)
{
    const pin *sub = first_pin(c, path_of(p), p->word[0]);
    const int32_t k = sub ? -1 : element(c, p, p->word[0]);
    if (!sub && k < 0)
        return;
    const char *vector =
        arena_printf(&c->scratch, "%s:power", sub ? sub->inst : c->f->inst[k].name);
    const int32_t node = power_node(c, p, sub, k, vector);
    if (node >= 0)
        save_as(c, p, (flat_save){.what = FLAT_SAVE_V, .node = {node, -1}}, vector);
}

/* -- .save i(m1:d), p(m1) -- */

const char *flat_terminal_call(flat_ctx *c, const char *fn, const char *arg)
{
    const bool power = !strcmp(fn, "p") || !strcmp(fn, "w");
    if (!power && (fn[0] != 'i' || !fn[1] || fn[2] || !strchr("dgsbce123456789", fn[1])))
        return NULL;
    return str_intern0(c->names, power ? arena_printf(&c->scratch, "%s:power", arg)
                                       : arena_printf(&c->scratch, "%s:%c", arg, fn[1]));
}

bool flat_take_terminal(flat_ctx *c, const pending_node *p, flat_save *s)
{
    const char *colon = strrchr(p->name, ':'),
               *device = str_intern(c->names, p->name, (size_t)(colon - p->name));
    const bool power = !strcmp(colon, ":power");
    const probe_item q = {.kind = power ? 'p' : 'i',
                          .n = power ? 1 : 2,
                          .word = {device, str_intern0(c->names, colon + 1)},
                          .path = p->path,
                          .span = p->span};
    const pin *sub = first_pin(c, p->path, device);
    place at;
    if (power) {
        const int32_t k = sub ? -1 : flat_find_element(c, p->path, device);
        if (!sub && k < 0)
            return element(c, &q, device) >= 0;
        s->device = sub ? sub->inst : c->f->inst[k].name;
    } else if (find_place(c, p->path, &q, &at)) {
        s->device = at.pin ? at.pin->inst : c->f->inst[at.k].name;
    } else {
        return false;
    }
    s->param = q.n == 1 ? "power" : q.word[1];
    s->as = s->text =
        str_intern0(c->names, power ? arena_printf(&c->scratch, "%s:power", s->device)
                                    : arena_printf(&c->scratch, "i(%s:%s)", s->device, s->param));
    return true;
}

/* Puts the source or row of an item that flat_take_terminal has taken. */
static void put_saved(flat_ctx *c, flat_save *s)
{
    const bool power = !strcmp(s->param, "power");
    const probe_item q = {.n = 2, .word = {s->device, s->param}, .span = s->span};
    const pin *sub = first_pin(c, "", s->device);
    place at;
    if (power) {
        const int32_t k = sub ? -1 : flat_find_element(c, "", s->device);
        s->what = FLAT_SAVE_V;
        s->node[0] = power_node(c, &q, sub, k, s->as);
        s->text = s->node[0] < 0 ? NULL : s->text;
    } else if (find_place(c, "", &q, &at)) {
        s->device = at.pin ? at.pin->source : into(c, &q, at.k, at.t);
    }
    s->param = NULL;
}

static bool is_taken(const flat_save *s) { return s->what == FLAT_SAVE_I && s->param; }

static void put_all_saved(flat_ctx *c)
{
    for (size_t i = 0; i < vec_len(c->f->save); i++)
        if (is_taken(&c->f->save[i]))
            put_saved(c, &c->f->save[i]);
    flat_drop_saves(c->f);
}

/* Values that are currents into terminals which charge something: no model computes them. */
static const struct charging {
    const char *letters, *param;
    int32_t terminal;
} charging[] = {{"c", "i", 0},  {"c", "p", 0},   {"d", "id", 0}, {"d", "c", 0},    {"q", "ic", 0},
                {"q", "ib", 1}, {"q", "ie", 2},  {"q", "is", 3}, {"mjz", "ig", 1}, {"mjz", "is", 2},
                {"m", "ib", 3}, {"jz", "id", 0}, {"z", "cg", 1}, {"z", "cs", 2},   {"z", "cd", 0}};

/* -1: another value. */
static int32_t charging_terminal(char letter, const char *param)
{
    for (size_t i = 0; i < VS_COUNT(charging); i++)
        if (strchr(charging[i].letters, letter) && !strcmp(charging[i].param, param))
            return charging[i].terminal;
    return -1;
}

bool flat_is_metered(char letter, const char *param)
{
    return charging_terminal(letter, param) >= 0;
}

/* With a source in series, whose current ckt_asked.c gives, the current into terminal t of instance
 * k is right in transients too. */
static void meter_terminal(flat_ctx *c, int32_t k, int32_t t, diag_span span)
{
    if (t >= 0 && t < n_terminal(&c->f->inst[k]))
        (void)into(c, &(probe_item){.span = span}, k, t);
}

/* @c1[i], @q1[ie] ... of saved vectors */
static void meter(flat_ctx *c, const char *device, const char *param, diag_span span)
{
    flat_fill_maps(c);
    const int32_t k = map_get(&c->inst_of, map_key(device), -1);
    if (k >= 0)
        meter_terminal(c, k, charging_terminal(c->f->inst[k].letter, param), span);
}

/* Of all elements. */
static void meter_all(flat_ctx *c, size_t n)
{
    flat_fill_maps(c);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < VS_COUNT(charging); i++)
            if (strchr(charging[i].letters, c->f->inst[k].letter) && !c->f->inst[k].is_row)
                meter_terminal(c, (int32_t)k, charging[i].terminal, c->f->inst[k].span);
}

/* .options savecurrents, .save alli */
static bool saves_currents(const flat_ctx *c)
{
    bool asks = false;
    for (size_t i = 0; i < vec_len(c->f->save); i++)
        if (c->f->save[i].what == FLAT_SAVE_ALLI)
            return true;
    for (size_t i = 0; i < vec_len(c->f->option); i++)
        if (!strcmp(c->f->option[i].name, "savecurrents"))
            asks = c->f->option[i].value != 0;
    return asks;
}

bool flat_has_no_branch(char letter) { return letter && strchr("rcdiswgfb", letter); }

/* A current that a card of results names, of an element which has none among its unknowns: as that
 * of .probe i(r1). What is no such element the card tells. */
static void probe_named(flat_ctx *c, const char *device)
{
    const probe_item p = {.kind = 'i', .n = 1, .word = {device}, .span = DIAG_NOWHERE};
    flat_fill_maps(c);
    const int32_t k = map_get(&c->inst_of, map_key(device), -1);
    const char *near = k < 0 ? flat_near_element(c, device) : NULL;
    if (near)
        lack(c, device, str_intern0(c->names, ""),
             arena_printf(&c->scratch, "did you mean '%s'?", near));
    if (k >= 0 && flat_has_no_branch(c->f->inst[k].letter) && !c->f->inst[k].expr_is_v &&
        n_terminal(&c->f->inst[k]) == 2)
        vec_push(c->probe, p);
}

/* The current into a terminal, ":d", or the ":power" of an element, which a card of results names.
 * That it is not there the card tells, with what is there. */
static void probe_part(flat_ctx *c, const char *device, const char *part)
{
    const bool power = !strcmp(part, ":power");
    const probe_item p = {
        .kind = power ? 'p' : 'i',
        .n = power ? 1 : 2,
        .word = {device, part + 1},
        .as = str_intern0(c->names, arena_printf(&c->scratch, "i(%s%s)", device, part)),
        .span = DIAG_NOWHERE};
    flat_fill_maps(c);
    if (first_pin(c, "", device)) {
        if (power || find_pin(c, device, part + 1))
            vec_push(c->probe, p);
        return;
    }
    const int32_t k = map_get(&c->inst_of, map_key(device), -1);
    const int32_t t = k < 0 || power ? 0 : terminal_of(c, &c->f->inst[k], part + 1);
    const char *near = k < 0 ? flat_near_element(c, device) : NULL;
    if (k >= 0 && !c->f->inst[k].is_row && t >= 0)
        vec_push(c->probe, p);
    else if (k >= 0)
        lack(c, device, part,
             arena_printf(&c->scratch, "the terminals of '%s' are %s", device,
                          terminals_of(c, &c->f->inst[k], part + 1)));
    else if (near)
        lack(c, device, part, arena_printf(&c->scratch, "did you mean '%s'?", near));
}

static void put_meters(flat_ctx *c)
{
    const size_t n = vec_len(c->f->inst);
    for (size_t i = 0; i < vec_len(c->f->save); i++)
        if (c->f->save[i].what == FLAT_SAVE_PARAM)
            meter(c, c->f->save[i].device, c->f->save[i].param, c->f->save[i].span);
    for (size_t i = 0; i + 1 < vec_len(c->deck->metered); i += 2)
        if (*c->deck->metered[i + 1] == ':')
            probe_part(c, c->deck->metered[i], c->deck->metered[i + 1]);
        else if (*c->deck->metered[i + 1])
            meter(c, c->deck->metered[i], c->deck->metered[i + 1], DIAG_NOWHERE);
        else
            probe_named(c, c->deck->metered[i]);
    if (saves_currents(c))
        meter_all(c, n);
}

bool flat_probes(flat_ctx *c)
{
    const size_t n = vec_len(c->f->inst);
    put_meters(c);
    if (vec_len(c->probe) || vec_len(c->f->save))
        flat_fill_maps(c);
    if (vec_len(c->probe) && !c->has_save) /* as in ngspice, .probe takes nothing away */
        vec_push(
            c->f->save,
            ((flat_save){
                .what = FLAT_SAVE_ALL, .node = {-1, -1}, .text = "all", .span = c->probe[0].span}));
    for (size_t i = 0; i < vec_len(c->probe); i++) {
        const probe_item *p = &c->probe[i];
        if (p->kind == 'v')
            probe_voltage(c, p);
    }
    for (size_t i = 0; i < vec_len(c->probe);
         i++) { /* sources come between the nodes that voltages were read at */
        const probe_item *p = &c->probe[i];
        if (p->kind == 'a')
            probe_all(c, p, n);
        else if (p->kind == 'i')
            probe_current(c, p);
        else if (p->kind == 'p')
            probe_power(c, p);
    }
    put_all_saved(c);
    return vec_len(c->f->inst) > n || vec_len(c->pin) > 0 || vec_len(c->probe) > 0;
}
