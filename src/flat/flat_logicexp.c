/* flat_logicexp.c - PSpice's LOGICEXP and PINDLY: gates from expressions, delays of pins.
 * Source: ngspice manual, section on digital U devices: an expression becomes gates without delay,
 * of the conditional delays of a pin the longest counts. */
#include <math.h>
#include <string.h>

#include "flat_logic.h"

/* -- text in braces -- */

typedef struct lexer {
    logic_reader *r;
    const char *s; /* of the file */
    int32_t file;
    uint32_t i, end;
    char kind; /* 'n': a name; 0: the end; '\'': a constant; else the character itself */
    diag_span at;
} lexer;

/* Blanks, comments at the end of a line, the sign of a continuation. */
static void skip_blank(lexer *x)
{
    bool start = false;
    for (; x->i < x->end; x->i++) {
        const char c = x->s[x->i], next = x->i + 1 < x->end ? x->s[x->i + 1] : ' ';
        const bool comment =
            c == ';' || (c == '$' && (next == ' ' || next == '\t')) || (start && c == '*');
        if (comment)
            while (x->i < x->end && x->s[x->i] != '\n')
                x->i++;
        if (x->i >= x->end)
            return;
        if (x->s[x->i] == '\n')
            start = true;
        else if (start && c == '+')
            start = false;
        else if (c != ' ' && c != '\t' && c != '\r')
            return;
    }
}

static void next_token(lexer *x)
{
    static const char marks[] = "~&^|(){},=<>!' \t\r\n;";
    skip_blank(x);
    const uint32_t from = x->i;
    x->kind = 0;
    if (x->i < x->end) {
        x->kind = strchr(marks, x->s[x->i]) ? x->s[x->i] : 'n';
        x->i += x->kind == '\'' && x->i + 1 < x->end ? 2 : 1;
        while (x->kind == 'n' && x->i < x->end && !strchr(marks, x->s[x->i]))
            x->i++;
    }
    x->at = (diag_span){x->file, from, x->i > from ? x->i - from : 1};
}

static lexer text_in(logic_reader *r)
{
    const diag_span at = cur_span(r->q);
    lexer x = {.r = r,
               .s = r->q->c->d->file[at.file].text,
               .file = at.file,
               .i = at.off + 1,
               .end = at.off + at.len - 1};
    next_token(&x);
    return x;
}

static const char *name_at(const lexer *x)
{
    return str_intern_lower(x->r->q->c->names, x->s + x->at.off, x->at.len);
}

/* -- names -- */

typedef struct name {
    const char *text;
    flat_gate_pin wire;
    bool out, local; /* of the card's outputs; a node within it */
    bool set;
} name;
typedef struct names {
    name *all; /* vec */
    map at;    /* text -> index + 1 */
} names;

static name *find(const names *n, const char *text)
{
    const int32_t i = map_get(&n->at, map_key(text), 0);
    return i ? &n->all[i - 1] : NULL;
}

static name *add_name(names *n, const char *text, flat_gate_pin wire)
{
    vec_push(n->all, (name){.text = text, .wire = wire});
    map_set(&n->at, map_key(text), (int32_t)vec_len(n->all));
    return &vec_last(n->all);
}

static void free_names(names *n)
{
    vec_free(n->all);
    map_free(&n->at);
}

/* Words of the card at the cursor as pins, to the end of a vec; their names too. */
static bool take_names(logic_reader *r, int32_t n, bool out, names *to, flat_gate_pin **pins)
{
    for (int32_t i = 0; i < n; i++) {
        flat_gate_pin wire;
        const int32_t at = r->q->i;
        if (!logic_pin(r, out, &wire))
            return false;
        const net_tok *t = &r->q->card->tok[at];
        for (int32_t k = at; t->kind != NET_T_WORD && k < r->q->i; k++)
            t = &r->q->card->tok[k];
        name *v = find(to, t->text);
        if (!v)
            v = add_name(to, t->text, wire);
        v->out |= out;
        vec_push(*pins, wire);
    }
    return true;
}

/* -- expressions -- */

enum { MOST_DEEP = 200 };
typedef struct term { /* a pin, or a gate that has no output yet */
    char op;          /* 0: the pin; '&', '^', '|' */
    bool invert;      /* of a gate */
    flat_gate_pin wire;
    flat_gate_pin *in; /* vec */
} term;
typedef struct parser {
    lexer x;
    names *names;
    int depth;
} parser;

static void add_term(logic_reader *r, term *t, flat_gate_pin out, bool timed)
{
    static const struct {
        char op;
        const char *type[2];
    } gate[] = {{'&', {"d_and", "d_nand"}}, {'|', {"d_or", "d_nor"}}, {'^', {"d_xor", "d_xnor"}}};
    const flat_gate_delay timing = timed ? FLAT_DELAY_MODEL : FLAT_DELAY_LEAST;
    const char *type = t->wire.invert ? "d_inverter" : "d_buffer";
    const int32_t n = (int32_t)vec_len(t->in);
    for (size_t i = 0; i < VS_COUNT(gate); i++)
        if (t->op == gate[i].op)
            type = gate[i].type[t->invert];
    if (!t->op) {
        t->wire.invert = false;
        vec_push(t->in, t->wire);
    }
    vec_push(t->in, out);
    logic_gate(r, type, t->in, n, timing, 0);
    t->in = NULL;
}

/* The output of a term, which becomes a gate if it is none yet. */
static flat_gate_pin pin_of(parser *p, term *t)
{
    logic_reader *r = p->x.r;
    if (!t->op)
        return t->wire;
    const char *text = arena_printf(r->q->c->mem, "%d", (int)vec_len(r->inner));
    const flat_gate_pin out = {.at = logic_inner(r, text), .span = p->x.at};
    add_term(r, t, out, false);
    return out;
}

/* *a = *a op *b. A chain of one operator is one gate. */
static void join(parser *p, char op, term *a, term *b)
{
    const flat_gate_pin second = pin_of(p, b);
    if (a->op != op || a->invert) {
        const flat_gate_pin first = pin_of(p, a);
        *a = (term){.op = op};
        vec_push(a->in, first);
    }
    vec_push(a->in, second);
}

static bool read_constant(parser *p, term *to)
{
    const char c = p->x.at.len == 2 ? p->x.s[p->x.at.off + 1] : ' ';
    if (!strchr("01xX", c)) {
        diag_error(p->x.r->q->c->d, p->x.at, "a constant is '0, '1 or 'X");
        return false;
    }
    to->wire.at = logic_constant(p->x.r, c == '0' ? LOGIC_LOW : c == '1' ? LOGIC_HIGH : LOGIC_OPEN);
    return true;
}

static bool read_name(parser *p, term *to)
{
    flat_ctx *c = p->x.r->q->c;
    const char *text = name_at(&p->x);
    const name *v = find(p->names, text);
    if (!v && !strcmp(text, "$d_hi")) {
        to->wire.at = logic_constant(p->x.r, LOGIC_HIGH);
    } else if (!v && !strcmp(text, "$d_lo")) {
        to->wire.at = logic_constant(p->x.r, LOGIC_LOW);
    } else if (!v) {
        const char **cand = NULL;
        for (size_t i = 0; i < vec_len(p->names->all); i++)
            vec_push(cand, p->names->all[i].text);
        diag_error(c->d, p->x.at, "'%s' is no connection of the card and nothing is assigned to it",
                   text);
        flat_suggest(c, text, cand, vec_len(cand));
        vec_free(cand);
        return false;
    } else {
        to->wire.at = v->wire.at;
    }
    return true;
}

static bool parse(parser *p, int level, term *to);

/* unary = "~" unary | "(" expression ")" | name | constant */
static bool parse_unary(parser *p, term *to)
{
    flat_ctx *c = p->x.r->q->c;
    bool ok = true, invert = false;
    for (; p->x.kind == '~'; next_token(&p->x))
        invert = !invert;
    to->wire.span = p->x.at;
    if (p->x.kind == '(') {
        next_token(&p->x);
        if (p->depth++ == MOST_DEEP) {
            diag_error(c->d, p->x.at, "brackets are more than %d deep", MOST_DEEP);
            return false;
        }
        if (!parse(p, 0, to))
            return false;
        p->depth--;
        if (p->x.kind != ')') {
            diag_error(c->d, p->x.at, "an operator ~ & ^ | or ')' is expected");
            return false;
        }
    } else if (p->x.kind == 'n') {
        ok = read_name(p, to);
    } else if (p->x.kind == '\'') {
        ok = read_constant(p, to);
    } else {
        diag_error(c->d, p->x.at, "a name, '~' or '(' is expected");
        return false;
    }
    next_token(&p->x);
    if (to->op)
        to->invert ^= invert;
    else
        to->wire.invert ^= invert;
    return ok;
}

/* expression = and-terms joined by "^", these joined by "|" */
static bool parse(parser *p, int level, term *to)
{
    static const char op[] = "|^&";
    if (level == 3)
        return parse_unary(p, to);
    if (!parse(p, level + 1, to))
        return false;
    while (p->x.kind == op[level]) {
        term second = {0};
        next_token(&p->x);
        if (!parse(p, level + 1, &second)) {
            vec_free(second.in);
            return false;
        }
        join(p, op[level], to, &second);
    }
    return true;
}

/* statement = name "=" "{" expression "}" ; the cursor is at the name. timed: outputs have the
 * delays of the timing model */
static bool read_statement(logic_reader *r, names *n, bool timed)
{
    name *v = find(n, cur_tok(r->q)->text);
    flat_ctx *c = r->q->c;
    if (v->set || (!v->out && !v->local)) {
        diag_error(c->d, cur_span(r->q),
                   v->set ? "'%s' has an expression already"
                          : "'%s' is an input: it cannot have an expression",
                   v->text);
        return false;
    }
    v->set = true;
    const flat_gate_pin out = {.at = v->wire.at, .span = cur_span(r->q)};
    timed = timed && v->out;
    r->q->i += 2;
    if (!cur_more(r->q) || cur_tok(r->q)->kind != NET_T_EXPR) {
        cur_unexpected(r->q, "an expression in braces is expected: name = {a & ~b}");
        return false;
    }
    parser p = {.x = text_in(r), .names = n};
    term t = {0};
    bool ok = parse(&p, 0, &t);
    if (ok && p.x.kind) {
        diag_error(c->d, p.x.at, "an operator & ^ | or the end of the expression is expected");
        ok = false;
    }
    if (ok)
        add_term(r, &t, out, timed);
    vec_free(t.in);
    r->q->i++;
    return ok;
}

/* Names on the left that are no connections are nodes of the element. */
static void take_locals(logic_reader *r, names *n)
{
    const net_card *card = r->q->card;
    for (int32_t i = r->q->i; i + 1 < card->n_tok; i++) {
        const net_tok *t = &card->tok[i];
        if (t->kind != NET_T_WORD || card->tok[i + 1].punct != '=' || find(n, t->text))
            continue;
        const flat_gate_pin wire = {.at = logic_inner(r, t->text), .span = net_tok_span(card, t)};
        add_name(n, t->text, wire)->local = true;
    }
}

static void report_unset(const logic_reader *r, const names *n)
{
    for (size_t i = 0; i < vec_len(n->all); i++)
        if (n->all[i].out && !n->all[i].set)
            diag_warning(r->q->c->d, n->all[i].wire.span, "the output '%s' has no expression",
                         n->all[i].text);
}

/* expressions = inputs outputs timing [io] keys "logic:" statement* */
bool logic_read_expressions(logic_reader *r)
{
    names n = {0};
    flat_gate_pin *wire = NULL;
    bool ok = take_names(r, r->number[0], false, &n, &wire) &&
              take_names(r, r->number[1], true, &n, &wire) && logic_timing(r) && logic_rest(r);
    vec_free(wire);
    if (ok && !cur_is_word(r->q, "logic:")) {
        cur_unexpected(r->q, "LOGIC: and expressions name = {...} are expected");
        ok = false;
    }
    r->q->i++;
    if (ok)
        take_locals(r, &n);
    while (ok && cur_more(r->q))
        if (cur_at_key(r->q)) {
            ok = read_statement(r, &n, strcmp(r->a->model, "d0_gate") != 0);
        } else {
            cur_unexpected(r->q, "name = {...} is expected");
            ok = false;
        }
    if (ok)
        report_unset(r, &n);
    free_names(&n);
    return ok;
}

/* -- delays of pins -- */

double flat_typical(double least, double typical, double most)
{
    return typical >= 0              ? typical
           : least >= 0 && most >= 0 ? (least + most) / 2
           : most >= 0               ? most
                                     : least;
}

/* times = "(" least "," typical "," most ")"; negative: not given */
static bool read_times(lexer *x, double *to)
{
    flat_ctx *c = x->r->q->c;
    double t[3] = {-1, -1, -1};
    const diag_span at = x->at;
    next_token(x);
    for (int i = 0; i < 3; i++) {
        char text[64] = "";
        const char *end;
        if (x->kind != (i ? ',' : '('))
            break;
        next_token(x);
        if (x->kind == 'n' && x->at.len < sizeof text)
            memcpy(text, x->s + x->at.off, x->at.len);
        for (char *s = text; *s; s++)
            *s = str_lower_char(*s);
        if (!str_spice_number(text, &end, &t[i]) || !isfinite(t[i])) {
            diag_error(c->d, x->at, "a time is expected: DELAY(min,typ,max), -1: not given");
            return false;
        }
        next_token(x);
    }
    *to = flat_typical(t[0], t[1], t[2]);
    if (x->kind == ')' && *to >= 0)
        return true;
    diag_error(c->d, at, "a delay has three times of which one is given: DELAY(min,typ,max)");
    return false;
}

/* The longest of the delays in the braces at the cursor. */
static bool longest(logic_reader *r, double *to)
{
    lexer x = text_in(r);
    bool any = false;
    *to = 0;
    for (; x.kind; next_token(&x)) {
        double t;
        if (x.kind != 'n' || strcmp(name_at(&x), "delay") != 0)
            continue;
        if (!read_times(&x, &t))
            return false;
        *to = fmax(*to, t);
        any = true;
    }
    if (!any)
        diag_error(r->q->c->d, cur_span(r->q), "DELAY(min,typ,max) is expected in the braces");
    r->q->i++;
    return any;
}

typedef struct pin_delay {
    bool given, tristate;
    double delay;
    flat_gate_pin enable;
} pin_delay;

static bool at_section(const cur *q)
{
    static const char *const word[] = {
        "boolean:", "pindly:", "tristate:", "setup_hold:", "width:", "freq:", "general:"};
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (cur_is_word(q, word[i]))
            return true;
    return false;
}

/* enable = "enable" ("hi" | "lo") ["="] node */
static bool read_enable(logic_reader *r, flat_gate_pin *to)
{
    cur *q = r->q;
    q->i++;
    const bool low = cur_more(q) && cur_is_word(q, "lo");
    if (!cur_more(q) || (!low && !cur_is_word(q, "hi"))) {
        cur_unexpected(q, "HI or LO is expected: ENABLE HI = node");
        return false;
    }
    q->i++;
    if (cur_is(q, '='))
        q->i++;
    if (!logic_pin(r, false, to))
        return false;
    to->invert = low;
    return true;
}

/* assignment = output+ "=" "{" ... "}" ; out [n] names of outputs, in the order of `to` */
static bool read_assignment(logic_reader *r, const char *const *out, pin_delay *to,
                            const flat_gate_pin *enable)
{
    cur *q = r->q;
    size_t *which = NULL;
    bool ok = true;
    for (; ok && cur_more(q) && !cur_is(q, '='); q->i++) {
        size_t i = 0;
        if (cur_is(q, ','))
            continue;
        while (i < vec_len(out) && !cur_is_word(q, out[i]))
            i++;
        ok = i < vec_len(out);
        if (ok)
            vec_push(which, i);
        else
            cur_unexpected(q, "an output of the card is expected");
    }
    q->i += ok;
    if (ok && (!vec_len(which) || !cur_more(q) || cur_tok(q)->kind != NET_T_EXPR)) {
        cur_unexpected(q, "a delay in braces is expected: out = {DELAY(min,typ,max)}");
        ok = false;
    }
    double delay = 0;
    ok = ok && longest(r, &delay);
    for (size_t i = 0; i < vec_len(which) && ok; i++)
        to[which[i]] =
            (pin_delay){true, enable != NULL, delay, enable ? *enable : (flat_gate_pin){0}};
    vec_free(which);
    return ok;
}

static bool read_sections(logic_reader *r, const char *const *out, pin_delay *to)
{
    cur *q = r->q;
    enum { OTHER, PINS, TRISTATE } section = OTHER;
    flat_gate_pin enable = {0};
    bool has_enable = false;
    while (cur_more(q)) {
        if (at_section(q)) {
            section = cur_is_word(q, "pindly:")     ? PINS
                      : cur_is_word(q, "tristate:") ? TRISTATE
                                                    : OTHER;
            q->i++;
        } else if (section == OTHER) {
            q->i++;
        } else if (section == TRISTATE && cur_is_word(q, "enable")) {
            has_enable = true;
            if (!read_enable(r, &enable))
                return false;
        } else if (section == TRISTATE && !has_enable) {
            cur_unexpected(q, "ENABLE HI = node is expected");
            return false;
        } else if (!read_assignment(r, out, to, section == TRISTATE ? &enable : NULL)) {
            return false;
        }
    }
    return true;
}

/* delays = inputs enables references outputs [io] keys section* */
bool logic_read_delays(logic_reader *r)
{
    const int32_t n = r->number[0];
    flat_gate_pin *wire = NULL;
    const char **out = NULL;
    pin_delay *delay = NULL;
    bool ok = logic_pins(r, n, false, &wire);
    for (int32_t i = 0; i < r->number[1] + r->number[2] && ok; i++) {
        ok = cur_more(r->q) && cur_tok(r->q)->kind == NET_T_WORD;
        if (!ok)
            cur_unexpected(r->q, "an enable or a reference is expected");
        r->q->i++;
    }
    for (int32_t i = 0; i < n && ok; i++) {
        while (cur_is(r->q, ','))
            r->q->i++;
        if (cur_more(r->q) && cur_tok(r->q)->kind == NET_T_WORD)
            vec_push(out, cur_tok(r->q)->text);
        ok = logic_pins(r, 1, true, &wire);
    }
    if (ok) {
        vec_extend(delay, (size_t)n);
        memset(delay, 0, (size_t)n * sizeof *delay);
        ok = logic_rest(r) && read_sections(r, out, delay);
    }
    for (int32_t i = 0; i < n && ok; i++) {
        flat_gate_pin *one = NULL;
        vec_push(one, wire[i]);
        if (delay[i].tristate)
            vec_push(one, delay[i].enable);
        vec_push(one, wire[n + i]);
        logic_gate(r, delay[i].tristate ? "d_tristate" : "d_buffer", one, 0,
                   delay[i].given ? FLAT_DELAY_GIVEN : FLAT_DELAY_LEAST, delay[i].delay);
    }
    vec_free(wire);
    vec_free(out);
    vec_free(delay);
    return ok;
}
