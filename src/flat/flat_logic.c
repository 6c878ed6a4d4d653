/* flat_logic.c - PSpice's digital U elements: gates, flip-flops, latches, to the parts that they
 * stand for.
 * Source: ngspice manual, section on digital U devices and their translation to code models; the
 * order of the connections is that of the PSpice A/D reference guide. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flat_logic.h"

/* -- devices by name -- */

typedef enum shape {           /* of the connections, behind the two of the power */
                     GATE,     /* inputs output */
                     ARRAY,    /* inputs of all gates, outputs */
                     TRISTATE, /* inputs enable output */
                     TRISTATE_ARRAY,
                     COMPOUND, /* inputs of all gates, one output */
                     FLIP,
                     PULL,
                     DELAY_LINE,
                     EXPRESSIONS,
                     PIN_DELAYS,
                     CONSTRAINT
} shape;
typedef struct device {
    const char *name, *type; /* "nand", "d_nand" */
    int32_t width;           /* inputs of a gate; 0: the first number */
    shape shape;
    int32_t n_number; /* that stand behind the name */
    const char *timing;
    const char *inner; /* COMPOUND: type of the gates in front */
} device;

static const device gates[] = {
    {"inv", "d_inverter", .width = 1}, {"buf", "d_buffer", .width = 1},
    {"and", "d_and", .width = 0},      {"nand", "d_nand", .width = 0},
    {"or", "d_or", .width = 0},        {"nor", "d_nor", .width = 0},
    {"xor", "d_xor", .width = 2},      {"nxor", "d_xnor", .width = 2},
};
static const device others[] = {
    {"ao", "d_or", 0, COMPOUND, 2, "ugate", "d_and"},
    {"aoi", "d_nor", 0, COMPOUND, 2, "ugate", "d_and"},
    {"oa", "d_and", 0, COMPOUND, 2, "ugate", "d_or"},
    {"oai", "d_nand", 0, COMPOUND, 2, "ugate", "d_or"},
    {"dff", "d_dff", 1, FLIP, 1, "ueff", NULL},
    {"jkff", "d_jkff", 2, FLIP, 1, "ueff", NULL},
    {"dltch", "d_dlatch", 1, FLIP, 1, "ugff", NULL},
    {"srff", "d_srlatch", 2, FLIP, 1, "ugff", NULL},
    {"pullup", "d_pullup", 0, PULL, 1, NULL, NULL},
    {"pulldn", "d_pulldown", 0, PULL, 1, NULL, NULL},
    {"dlyline", "d_buffer", 0, DELAY_LINE, 0, "udly", NULL},
    {"logicexp", NULL, 0, EXPRESSIONS, 2, "ugate", NULL},
    {"pindly", NULL, 0, PIN_DELAYS, 3, NULL, NULL},
    {"constraint", NULL, 0, CONSTRAINT, 1, NULL, NULL},
};
/* Others of PSpice's, for which there is nothing here. */
static const char *const missing[] = {"stim",    "fstim", "ram",    "rom",     "pland",
                                      "plor",    "plxor", "plnand", "plnor",   "plnxor",
                                      "plandc",  "plorc", "plxorc", "plnandc", "plnorc",
                                      "plnxorc", "adc",   "dac",    "dinput",  "doutput"};

/* The gate whose name is that of one of `gates` and nothing, "a", "3" or "3a". */
static bool find_gate(const char *name, device *d)
{
    static const struct {
        const char *tail;
        shape shape;
        const char *timing;
    } form[] = {{"", GATE, "ugate"},
                {"a", ARRAY, "ugate"},
                {"3", TRISTATE, "utgate"},
                {"3a", TRISTATE_ARRAY, "utgate"}};
    for (size_t i = 0; i < VS_COUNT(gates); i++) {
        const size_t n = strlen(gates[i].name);
        if (strncmp(name, gates[i].name, n) != 0)
            continue;
        for (size_t k = 0; k < VS_COUNT(form); k++) {
            if (strcmp(name + n, form[k].tail) != 0)
                continue;
            *d = gates[i];
            d->shape = form[k].shape;
            d->timing = form[k].timing;
            d->n_number = (d->width == 0) + (d->shape == ARRAY || d->shape == TRISTATE_ARRAY);
            return true;
        }
    }
    return false;
}

static bool find_device(const char *name, device *d)
{
    for (size_t i = 0; i < VS_COUNT(others); i++)
        if (!strcmp(name, others[i].name)) {
            *d = others[i];
            return true;
        }
    return find_gate(name, d);
}

static bool is_missing(const char *name)
{
    for (size_t i = 0; i < VS_COUNT(missing); i++)
        if (!strcmp(name, missing[i]))
            return true;
    return false;
}

static bool is_number(const net_tok *t)
{
    return t->kind == NET_T_WORD && t->text[0] && !t->text[strspn(t->text, "0123456789")];
}

/* A type and numbers in brackets; or a type and at least five more words. An RC line has four. */
bool flat_is_logic(const cur *q)
{
    const net_card *card = q->card;
    const int32_t left = card->n_tok - q->i;
    device d;
    if (left < 2 || cur_tok(q)->kind != NET_T_WORD)
        return false;
    if (left > 3 && card->tok[q->i + 1].punct == '(' && is_number(&card->tok[q->i + 2]) &&
        (card->tok[q->i + 3].punct == ')' || card->tok[q->i + 3].punct == ','))
        return true;
    int32_t n = 0;
    while (n < left && card->tok[q->i + n].kind == NET_T_WORD)
        n++;
    if (n < left && card->tok[q->i + n].punct == '=')
        n--;
    return n >= 6 && (find_device(cur_tok(q)->text, &d) || is_missing(cur_tok(q)->text));
}

/* -- nodes and parts -- */

int32_t logic_inner(logic_reader *r, const char *name)
{
    vec_push(r->inner, name);
    return -1 - (int32_t)vec_len(r->inner);
}

static void push_pin(flat_gate_pin **to, int32_t at, bool invert, diag_span span)
{
    vec_push(*to, (flat_gate_pin){at, invert, span});
}

int32_t logic_constant(logic_reader *r, int which)
{
    static const char *const name[] = {"$d_lo", "$d_hi", "$d_nc"};
    if (r->fixed[which] != FLAT_PIN_OPEN)
        return r->fixed[which];
    r->fixed[which] = logic_inner(r, name[which]);
    if (which != LOGIC_OPEN) {
        flat_gate_pin *wire = NULL;
        push_pin(&wire, r->fixed[which], false, r->device_span);
        logic_gate(r, which == LOGIC_HIGH ? "d_pullup" : "d_pulldown", wire, 0, FLAT_DELAY_NONE, 0);
    }
    return r->fixed[which];
}

void logic_gate(logic_reader *r, const char *type, flat_gate_pin *wire, int32_t vector,
                flat_gate_delay timing, double delay)
{
    const flat_gate g = {.type = type, .n_vector = vector, .timing = timing, .delay = delay};
    vec_push(r->gate, g);
    vec_last(r->gate).pin = vec_freeze(r->q->c->mem, wire);
}

static bool more_words(const logic_reader *r)
{
    while (cur_is(r->q, ','))
        r->q->i++;
    return cur_more(r->q) && cur_tok(r->q)->kind == NET_T_WORD && !cur_at_key(r->q);
}

bool logic_pin(logic_reader *r, bool out, flat_gate_pin *to)
{
    if (!more_words(r)) {
        diag_error(r->q->c->d, cur_span(r->q), "'%s' needs more connections: %s is expected",
                   r->device, out ? "an output" : "an input");
        return false;
    }
    const char *name = cur_tok(r->q)->text;
    *to = (flat_gate_pin){.span = cur_span(r->q)};
    if (!strcmp(name, "$d_nc") || !strcmp(name, "$d_x")) {
        to->at = out ? FLAT_PIN_OPEN : logic_constant(r, LOGIC_OPEN);
    } else if (!strcmp(name, "$d_hi") || !strcmp(name, "$d_lo")) {
        if (out) {
            diag_error(r->q->c->d, to->span, "the constant '%s' cannot be an output", name);
            return false;
        }
        to->at = logic_constant(r, name[3] == 'h' ? LOGIC_HIGH : LOGIC_LOW);
    } else {
        vec_push(r->a->slot, flat_slot(r->q->c, r->q->b, name));
        vec_push(r->a->span, to->span);
        to->at = (int32_t)vec_len(r->a->slot) - 1;
    }
    r->q->i++;
    return true;
}

bool logic_pins(logic_reader *r, int32_t n, bool out, flat_gate_pin **to)
{
    for (int32_t i = 0; i < n; i++) {
        flat_gate_pin wire;
        if (!logic_pin(r, out, &wire))
            return false;
        vec_push(*to, wire);
    }
    return true;
}

bool logic_timing(logic_reader *r)
{
    if (!more_words(r)) {
        diag_error(r->q->c->d, cur_span(r->q), "'%s' needs a timing model behind its connections",
                   r->device);
        return false;
    }
    r->a->model = cur_tok(r->q)->text;
    r->a->model_span = cur_span(r->q);
    r->q->i++;
    return true;
}

/* rest = [io] (key "=" value)* */
bool logic_rest(logic_reader *r)
{
    static const char *const known[] = {"mntymxdly", "io_level"};
    keyval k;
    bool io = false;
    for (; cur_more(r->q);) {
        const net_tok *t = cur_tok(r->q);
        const size_t len = t->kind == NET_T_WORD ? strlen(t->text) : 0;
        if (len && t->text[len - 1] == ':')
            return true;
        if (t->punct == ',') {
            r->q->i++;
        } else if (cur_at_key(r->q)) {
            if (!cur_keyval(r->q, &k))
                return false;
            if (strcmp(k.key, known[0]) != 0 && strcmp(k.key, known[1]) != 0)
                diag_warning(r->q->c->d, k.key_span, "'%s' has no parameter '%s'; it has no effect",
                             r->device, k.key);
        } else if (len && !io) {
            io = true;
            r->q->i++;
        } else {
            diag_error(r->q->c->d, cur_span(r->q),
                       "behind the models of '%s' the end of the card or name=value is expected",
                       r->device);
            return false;
        }
    }
    return true;
}

/* -- cards -- */

static flat_gate_pin *one_pin(int32_t at, bool invert, diag_span span)
{
    flat_gate_pin *wire = NULL;
    push_pin(&wire, at, invert, span);
    return wire;
}

/* One gate, its output and the enable of a tristate one. An inverter with three states is a buffer
 * of an inverted input; in front of others stands the gate without delay, as in ngspice. */
static void add_gate(logic_reader *r, const device *d, const flat_gate_pin *in, int32_t width,
                     const flat_gate_pin *enable, flat_gate_pin out)
{
    flat_gate_pin *wire = NULL;
    for (int32_t i = 0; i < width; i++)
        vec_push(wire, in[i]);
    if (enable && width > 1) {
        const int32_t middle =
            logic_inner(r, arena_printf(r->q->c->mem, "%d", (int)vec_len(r->inner)));
        push_pin(&wire, middle, false, out.span);
        logic_gate(r, d->type, wire, width, FLAT_DELAY_LEAST, 0);
        wire = one_pin(middle, false, out.span);
    } else if (enable) {
        wire[0].invert = !strcmp(d->type, "d_inverter");
    }
    if (enable)
        vec_push(wire, *enable);
    vec_push(wire, out);
    logic_gate(r, enable ? "d_tristate" : d->type, wire, enable || width == 1 ? 0 : width,
               FLAT_DELAY_MODEL, 0);
}

/* gates = inputs of each [enable] outputs timing */
static bool read_gates(logic_reader *r, const device *d)
{
    const bool tristate = d->shape == TRISTATE || d->shape == TRISTATE_ARRAY,
               array = d->shape == ARRAY || d->shape == TRISTATE_ARRAY;
    const int32_t width = d->width ? d->width : r->number[0],
                  n = array ? r->number[d->width == 0] : 1;
    flat_gate_pin *wire = NULL, enable;
    const bool ok = logic_pins(r, width * n, false, &wire) &&
                    (!tristate || logic_pin(r, false, &enable)) && logic_pins(r, n, true, &wire) &&
                    logic_timing(r) && logic_rest(r);
    for (int32_t i = 0; i < n && ok; i++)
        add_gate(r, d, wire + i * width, width, tristate ? &enable : NULL, wire[width * n + i]);
    vec_free(wire);
    return ok;
}

/* What a gate in front of a compound one gives: of one input that input, of none a constant. */
static flat_gate_pin add_front(logic_reader *r, const device *d, const flat_gate_pin *in,
                               int32_t width)
{
    const int neutral = strcmp(d->inner, "d_and") != 0 ? LOGIC_LOW : LOGIC_HIGH;
    flat_gate_pin *wire = NULL;
    for (int32_t i = 0; i < width; i++)
        if (in[i].at != r->fixed[neutral] || in[i].at == FLAT_PIN_OPEN)
            vec_push(wire, in[i]);
    flat_gate_pin out = {.span = in[0].span};
    const int32_t n = (int32_t)vec_len(wire);
    if (n >= 2) {
        out.at = logic_inner(r, arena_printf(r->q->c->mem, "%d", (int)vec_len(r->inner)));
        vec_push(wire, out);
        logic_gate(r, d->inner, wire, n, FLAT_DELAY_LEAST, 0);
        return out;
    }
    if (n == 1)
        out = wire[0];
    else
        out.at = logic_constant(r, neutral);
    vec_free(wire);
    return out;
}

/* compound = inputs of each output timing */
static bool read_compound(logic_reader *r, const device *d)
{
    const int32_t width = r->number[0], n = r->number[1];
    flat_gate_pin *in = NULL, *wire = NULL, out;
    const bool ok = logic_pins(r, width * n, false, &in) && logic_pin(r, true, &out) &&
                    logic_timing(r) && logic_rest(r);
    for (int32_t i = 0; i < n && ok; i++) {
        const flat_gate_pin front = add_front(r, d, in + i * width, width);
        vec_push(wire, front);
    }
    if (ok && n == 1) { /* such a gate has two inputs or more: that of one is the same twice */
        const flat_gate_pin front = wire[0];
        vec_push(wire, front);
    }
    if (ok) {
        const int32_t vector = (int32_t)vec_len(wire);
        vec_push(wire, out);
        logic_gate(r, d->type, wire, vector, FLAT_DELAY_MODEL, 0);
    }
    vec_free(in);
    return ok;
}

/* An input that sets or resets with 0; at 1, or not connected, it is left out. */
static flat_gate_pin inverted(const logic_reader *r, flat_gate_pin wire)
{
    if (wire.at != FLAT_PIN_OPEN &&
        (wire.at == r->fixed[LOGIC_HIGH] || wire.at == r->fixed[LOGIC_OPEN]))
        wire.at = FLAT_PIN_OPEN;
    wire.invert = true;
    return wire;
}

/* flip = preset clear clock (data of each) (j, s of each, k, r of each) q of each, nq of each */
static bool read_flips(logic_reader *r, const device *d)
{
    const int32_t n = r->number[0], w = d->width;
    flat_gate_pin *wire = NULL;
    const bool ok = logic_pins(r, 3 + w * n, false, &wire) && logic_pins(r, 2 * n, true, &wire) &&
                    logic_timing(r) && logic_rest(r);
    for (int32_t i = 0; i < n && ok; i++) {
        flat_gate_pin *one = NULL, clock = wire[2];
        clock.invert = !strcmp(d->name, "jkff");
        for (int32_t k = 0; k < w; k++)
            vec_push(one, wire[3 + k * n + i]);
        vec_push(one, clock);
        for (int32_t k = 0; k < 2; k++) {
            const flat_gate_pin set = inverted(r, wire[k]);
            vec_push(one, set);
        }
        for (int32_t k = 0; k < 2; k++)
            vec_push(one, wire[3 + (w + k) * n + i]);
        logic_gate(r, d->type, one, 0, FLAT_DELAY_MODEL, 0);
    }
    vec_free(wire);
    return ok;
}

static bool read_pulls(logic_reader *r, const device *d)
{
    flat_gate_pin *wire = NULL;
    const bool ok = logic_pins(r, r->number[0], true, &wire) && logic_rest(r);
    for (size_t i = 0; i < vec_len(wire) && ok; i++)
        logic_gate(r, d->type, one_pin(wire[i].at, false, wire[i].span), 0, FLAT_DELAY_NONE, 0);
    vec_free(wire);
    return ok;
}

static bool read_line(logic_reader *r, const device *d)
{
    flat_gate_pin in, out;
    if (!logic_pin(r, false, &in) || !logic_pin(r, true, &out) || !logic_timing(r) ||
        !logic_rest(r))
        return false;
    flat_gate_pin *wire = one_pin(in.at, false, in.span);
    vec_push(wire, out);
    logic_gate(r, d->type, wire, 0, FLAT_DELAY_MODEL, 0);
    return true;
}

static bool read_constraint(logic_reader *r)
{
    diag_note(r->q->c->d, r->device_span,
              "times that a CONSTRAINT asks for are not checked: it has no effect");
    r->q->i = r->q->card->n_tok;
    return true;
}

static bool read_device(logic_reader *r, const device *d)
{
    switch (d->shape) {
    case COMPOUND: return read_compound(r, d);
    case FLIP: return read_flips(r, d);
    case PULL: return read_pulls(r, d);
    case DELAY_LINE: return read_line(r, d);
    case EXPRESSIONS: return logic_read_expressions(r);
    case PIN_DELAYS: return logic_read_delays(r);
    case CONSTRAINT: return read_constraint(r);
    default: return read_gates(r, d);
    }
}

/* numbers = "(" n ("," n)* ")" */
static bool read_numbers(logic_reader *r)
{
    enum { MOST = 10000 };
    cur *q = r->q;
    if (!cur_is(q, '('))
        return true;
    for (q->i++; cur_more(q) && !cur_is(q, ')'); q->i++) {
        if (cur_is(q, ','))
            continue;
        const long n = is_number(cur_tok(q)) ? strtol(cur_tok(q)->text, NULL, 10) : -1;
        if (n < 0 || n > MOST || r->n_number == LOGIC_NUMBERS) {
            diag_error(q->c->d, cur_span(q), "in brackets '%s' has whole numbers up to %d",
                       r->device, MOST);
            return false;
        }
        r->number[r->n_number++] = (int32_t)n;
    }
    q->i++;
    return true;
}

static bool check_numbers(const logic_reader *r, const device *d)
{
    bool ok = r->n_number >= d->n_number;
    if (d->shape != PIN_DELAYS && d->shape != EXPRESSIONS && d->shape != CONSTRAINT)
        for (int32_t i = 0; i < d->n_number; i++)
            ok &=
                r->number[i] >=
                (i == 0 && (d->shape == COMPOUND || (d->shape <= TRISTATE_ARRAY && !d->width)) ? 2
                                                                                               : 1);
    if (ok)
        return true;
    diag_error(r->q->c->d, r->device_span,
               d->n_number == 1   ? "'%s' needs its number of inputs, or of devices: %s(4)"
               : d->n_number == 2 ? "'%s' needs two numbers, of inputs and of gates: %s(2,4)"
                                  : "'%s' needs three numbers, of inputs, enables and references: "
                                    "%s(4,1,2)",
               d->name, d->name);
    return false;
}

static void unknown_device(const logic_reader *r)
{
    const char *cand[VS_COUNT(gates) + VS_COUNT(others)];
    size_t n = 0;
    if (is_missing(r->device)) {
        diag_error(r->q->c->d, r->device_span, "digital devices of type '%s' are not supported%s",
                   r->device, strstr(r->device, "stim") ? ": a d_source has a file of values" : "");
        return;
    }
    for (size_t i = 0; i < VS_COUNT(gates); i++)
        cand[n++] = gates[i].name;
    for (size_t i = 0; i < VS_COUNT(others); i++)
        cand[n++] = others[i].name;
    diag_error(r->q->c->d, r->device_span, "there is no digital device '%s'", r->device);
    diag_suggest(r->q->c->d, r->device, cand, n);
}

/* u = "U" type ["(" n ("," n)* ")"] power ground connections [timing] [io] (key "=" value)* */
bool flat_read_logic(cur *q, logic_card *a)
{
    logic_reader r = {.q = q,
                      .a = a,
                      .device = cur_tok(q)->text,
                      .device_span = cur_span(q),
                      .fixed = {FLAT_PIN_OPEN, FLAT_PIN_OPEN, FLAT_PIN_OPEN}};
    device d;
    if (!find_device(r.device, &d)) {
        unknown_device(&r);
        return false;
    }
    q->i++;
    bool ok = read_numbers(&r) && check_numbers(&r, &d);
    for (int i = 0; i < 2 && ok; i++) { /* the supplies say what the levels are: not here */
        ok = more_words(&r);
        if (!ok)
            diag_error(q->c->d, cur_span(q), "'%s' has two nodes of its supply in front", r.device);
        q->i++;
    }
    ok = ok && read_device(&r, &d);
    flat_logic *l = arena_new(q->c->mem, flat_logic);
    *l = (flat_logic){.device = d.name,
                      .timing = d.timing,
                      .gate = vec_freeze(q->c->mem, r.gate),
                      .inner = vec_freeze(q->c->mem, r.inner)};
    a->logic = l;
    return ok;
}
