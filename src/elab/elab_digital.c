/* elab_digital.c - A elements of XSPICE's digital code models, bridges to and from them.
 *
 * Digital models and their ports are in evt_model.c; bridges, which have analog ports too, here. A
 * node that only digital ports connect is a node of the evt, which an unknown shows; one that
 * analog elements connect as well is both, with a bridge between that is added at the end.
 * Source: ngspice manual, chapter "Mixed-mode and behavioral modeling with XSPICE": digital models,
 *         hybrid models, automatic insertion of bridges. */
#include "elab_priv.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evt.h"
#include "files.h"
#include "nat_event.h"

/* -- bridges -- */

typedef struct bridge {
    evt_model model;
    int analog;       /* the port that is analog */
    const char *type; /* types that it may have, without %, between blanks; the first by default */
} bridge;

enum { ADC, DAC, OSC, PWM, RTOV, BIDI, N_BRIDGE };
enum { RTOV_GAIN, RTOV_TIME };
enum {
    BIDI_DIRECTION,
    BIDI_IN_LOW,
    BIDI_IN_HIGH,
    BIDI_RISE_DELAY,
    BIDI_FALL_DELAY,
    BIDI_STRENGTH,
    BIDI_OUT_LOW,
    BIDI_OUT_HIGH,
    BIDI_LIMIT, /* to low, to high, as the others */
    BIDI_R_STRONG = BIDI_LIMIT + 2,
    BIDI_R_WEAK = BIDI_R_STRONG + 2,
    BIDI_RISE = BIDI_R_WEAK + 2,
    BIDI_FALL
};
enum { ADC_LOW, ADC_HIGH, ADC_RISE, ADC_FALL };
enum { DAC_LOW, DAC_HIGH, DAC_UNDEF, DAC_RISE, DAC_FALL };
enum { OSC_CONTROL, OSC_VALUE, OSC_DUTY, OSC_PHASE };

#define SHORTEST 1e-12 /* s, of a ramp */
#define NUMBER(text, value) {.name = text, .absent = (value)}
#define TIME(text, value, lo) {.name = text, .absent = (value), .min = (lo), .max = 1e30}
#define WHOLE(text, value, most) \
    {.name = text, .kind = EVT_INT, .absent = (value), .min = 0, .max = (most)}
#define CURRENT(text) {.name = text, .absent = 0.02, .min = 0, .max = 1e6}
#define OHM(text, value) {.name = text, .absent = (value), .min = 1e-6, .max = 1e15}
#define IDLE(text) {.name = text, .idle = true}
#define VECTOR(text) {.name = text, .vector = true, .least = 1}
#define LIST(text) {.name = text, .kind = EVT_LIST}
static const bridge bridges[N_BRIDGE] = {
    [ADC] = {{"adc_bridge",
              {VECTOR("in"), {.name = "out", .out = true, .vector = true, .least = 1}},
              {NUMBER("in_low", 0.1),
               NUMBER("in_high", 0.9),
               TIME("rise_delay", 1e-9, 0),
               TIME("fall_delay", 1e-9, 0),
               {.name = "family", .kind = EVT_WORDS, .idle = true}}},
             0,
             "v vd i id vnam"},
    [DAC] = {{"dac_bridge",
              {VECTOR("in"), {.name = "out", .out = true, .vector = true, .least = 1}},
              {NUMBER("out_low", 0),
               NUMBER("out_high", 1),
               NUMBER("out_undef", 0.5),
               TIME("t_rise", 1e-9, 0),
               TIME("t_fall", 1e-9, 0),
               IDLE("input_load"),
               {.name = "family", .kind = EVT_WORDS, .idle = true}}},
             1,
             "v vd i id"},
    [OSC] = {{"d_osc",
              {{.name = "cntl_in"}, {.name = "out", .out = true}},
              {LIST("cntl_array"),
               LIST("freq_array"),
               {.name = "duty_cycle", .absent = 0.5, .min = 1e-6, .max = 0.999999},
               {.name = "init_phase", .min = -180, .max = 360},
               IDLE("rise_delay"),
               IDLE("fall_delay")}},
             0,
             "v vd i id"},
    [PWM] = {{"d_pwm",
              {{.name = "cntl_in"}, {.name = "out", .out = true}},
              {LIST("cntl_array"),
               LIST("dc_array"),
               {.name = "frequency", .absent = 1e6, .min = 1e-6, .max = 1e18},
               {.name = "init_phase", .min = -180, .max = 360},
               IDLE("rise_delay"),
               IDLE("fall_delay")}},
             0,
             "v vd i id"},
    [RTOV] = {{"real_to_v",
               {{.name = "in", .kind = EVT_NUMBER}, {.name = "out", .out = true}},
               {NUMBER("gain", 1), TIME("transition_time", 1e-9, 1e-15)}},
              1,
              "v vd i id"},
    [BIDI] = {{"bidi_bridge",
               {VECTOR("a"),
                {.name = "d", .out = true, .vector = true, .least = 1},
                {.name = "dir", .vector = true, .null_ok = true}},
               {WHOLE("direction", 2, 2), NUMBER("in_low", 0.1), NUMBER("in_high", 0.9),
                TIME("rise_delay", 1e-9, 1e-12), TIME("fall_delay", 1e-9, 1e-12),
                WHOLE("strength", 0, 2), NUMBER("out_low", 0), NUMBER("out_high", 3.3),
                CURRENT("drive_low"), CURRENT("drive_high"), OHM("r_stl", 20), OHM("r_sth", 20),
                OHM("r_low", 1e4), OHM("r_high", 1e4), TIME("t_rise", 1e-9, 1e-12),
                TIME("t_fall", 1e-9, 1e-12), IDLE("input_load"), IDLE("smooth")}},
              0,
              "g gd"},
};

static const struct {
    const char *type, *why, *note;
} refused[] = {{"d_cosim", "it would load another simulator's code",
                "a 'd_process' has digital parts computed by a program, as one that Icarus Verilog "
                "makes of Verilog (docs/models/xspice.md)"}};

static const bridge *find_bridge(const char *type)
{
    for (int i = 0; i < N_BRIDGE; i++)
        if (!strcmp(bridges[i].model.type, type))
            return &bridges[i];
    return NULL;
}

/* The number of its row; -1: it is not refused. */
static int find_refused(const char *type)
{
    for (size_t i = 0; i < VS_COUNT(refused); i++)
        if (!strcmp(refused[i].type, type))
            return (int)i;
    return -1;
}

bool elab_is_digital(const char *type)
{
    return evt_find_model(type) || find_bridge(type) || find_refused(type) >= 0;
}

void elab_digital_types(const char ***to)
{
    for (size_t i = 0; i < evt_n_model(); i++)
        vec_push(*to, evt_model_at(i)->type);
    for (int i = 0; i < N_BRIDGE; i++)
        vec_push(*to, bridges[i].model.type);
}

elab_port elab_digital_port(const char *type, int i)
{
    const bridge *b = find_bridge(type);
    const evt_model *m = b ? &b->model : evt_find_model(type);
    return (elab_port){.name = m && i < EVT_MOST_PORTS ? m->port[i].name : NULL,
                       .is_digital = !b || b->analog != i};
}

/* -- connections -- */

typedef struct elab_event { /* of a flat node */
    int32_t node;           /* of the evt, -1: no digital port connects it */
    bool analog;            /* something else does */
    int32_t reads, drives;  /* digital inputs and outputs there */
    bool lets_go;           /* one of the outputs is not always strong */
    diag_span span;         /* of the first digital port */
} elab_event;

typedef struct wire { /* one connection of a port */
    int port;
    int32_t node[2];  /* flat; [1]: of an analog pair, -1: none. [0] -1: null, or `ref` */
    const char *ref;  /* %vnam */
    const char *type; /* of an analog one, without % */
    bool invert;
    diag_span span;
} wire;
typedef struct digital {
    elab *e; /* NULL: no messages */
    const flat_inst *in;
    const evt_model *model;
    const bridge *bridge; /* NULL: all ports are digital */
    size_t at;            /* in the list of connections */
    wire *wire;           /* vec */
} digital;

static int n_ports(const evt_model *m)
{
    int n = 0;
    while (n < EVT_MOST_PORTS && m->port[n].name)
        n++;
    return n;
}

/* "data clk set reset out" */
static const char *form(const digital *x)
{
    const char *s = "";
    for (int i = 0; i < n_ports(x->model); i++)
        s = elab_printf(x->e, x->model->port[i].vector ? "%s%s[%s ...]" : "%s%s%s", s, i ? " " : "",
                        x->model->port[i].name);
    return s;
}

static bool refuse(const digital *x, const char *what)
{
    if (x->e)
        diag_error(x->e->d, elab_conn_span(x->in, x->at), "%s: %s; the connections of '%s' are: %s",
                   x->in->name, what, x->model->type, form(x));
    return false;
}

static bool is_analog(const digital *x, int port) { return x->bridge && x->bridge->analog == port; }

static bool may_be(const char *types, const char *type)
{
    const size_t n = strlen(type);
    for (const char *s = types; *s; s += *s == ' ') {
        const size_t len = strcspn(s, " ");
        if (len == n && !strncmp(s, type, n))
            return true;
        s += len;
    }
    return false;
}

/* type = "%" word, for the connections behind it */
static bool take_type(digital *x, int port, const char **type)
{
    const flat_conn *c = elab_conn_at(x->in, x->at);
    if (!c || c->kind != FLAT_CONN_TYPE)
        return true;
    const char *types = is_analog(x, port)                        ? x->bridge->type
                        : x->model->port[port].kind == EVT_NUMBER ? "real"
                                                                  : "d";
    if (!may_be(types, c->type)) {
        if (x->e)
            diag_error(x->e->d, c->span,
                       "%s: port '%s' of '%s' is not of type '%%%s'; it may be: %s", x->in->name,
                       x->model->port[port].name, x->model->type, c->type, types);
        return false;
    }
    *type = c->type;
    x->at++;
    return true;
}

/* Whether flat node i carries what the port takes; false: a message was given. */
static bool is_of_kind(const digital *x, int port, int32_t i)
{
    static const char *const word[] = {
        [EVT_DIGITAL] = "a digital value", [EVT_NUMBER] = "a number"};
    const evt_port *p = &x->model->port[port];
    const elab_event *v = x->e ? &x->e->event[i] : NULL;
    const evt_kind is = v ? evt_node_kind(ckt_digital(x->e->c, true), v->node) : p->kind;
    if (is == p->kind)
        return true;
    diag_error(x->e->d, elab_conn_span(x->in, x->at),
               "%s: port '%s' of '%s' takes %s, and node '%s' has %s", x->in->name, p->name,
               x->model->type, word[p->kind], x->e->f->node[i], word[is]);
    diag_note(x->e->d, v->span, "that is so because of this connection%s",
              p->kind == EVT_NUMBER && !p->out ? "; a 'd_to_real' makes numbers of digital values"
                                               : "");
    return false;
}

/* connection = ["~"] node | node node | source | "null" */
static bool take_wire(digital *x, int port, const char *type)
{
    const char *name = x->model->port[port].name;
    wire w = {.port = port, .node = {-1, -1}, .type = type, .span = elab_conn_span(x->in, x->at)};
    const flat_conn *c = elab_conn_at(x->in, x->at);
    if (c && c->kind == FLAT_CONN_INVERT) {
        if (is_analog(x, port))
            return refuse(x, "'~' inverts digital nodes and numbers only");
        w.invert = true;
        x->at++;
        c = elab_conn_at(x->in, x->at);
    }
    const bool by_name = !strcmp(type, "vnam"), pair = type[0] && type[1] == 'd';
    if (c && c->kind == FLAT_CONN_NULL &&
        (x->model->port[port].null_ok || x->model->port[port].out)) {
        x->at++;
        vec_push(x->wire, w);
        return true;
    }
    if (!c || c->kind != (by_name ? FLAT_CONN_REF : FLAT_CONN_NODE))
        return refuse(x, !x->e     ? ""
                         : by_name ? "the name of a voltage source is expected"
                                   : elab_printf(x->e, "a node is expected for port '%s'", name));
    if (by_name)
        w.ref = x->in->rare->ref[c->index];
    else
        w.node[0] = x->in->node[c->index];
    if (!is_analog(x, port) && !is_of_kind(x, port, w.node[0]))
        return false;
    x->at++;
    if (pair) {
        c = elab_conn_at(x->in, x->at);
        if (!c || c->kind != FLAT_CONN_NODE)
            return refuse(x, "a port of type %vd, %id or %gd has two nodes");
        w.node[1] = x->in->node[c->index];
        x->at++;
    }
    vec_push(x->wire, w);
    return true;
}

static int32_t n_wire(const digital *x, int port)
{
    int32_t n = 0;
    for (size_t i = 0; i < vec_len(x->wire); i++)
        n += x->wire[i].port == port;
    return n;
}

static bool take_vector(digital *x, int port, const char *type)
{
    const evt_port *p = &x->model->port[port];
    const flat_conn *c = elab_conn_at(x->in, x->at);
    if (!c || c->kind != FLAT_CONN_OPEN)
        return refuse(x, x->e ? elab_printf(x->e, "port '%s' is a vector: [a b]", p->name) : "");
    const diag_span open = c->span;
    for (x->at++; (c = elab_conn_at(x->in, x->at)) && c->kind != FLAT_CONN_CLOSE;)
        if (!take_type(x, port, &type) || !take_wire(x, port, type))
            return false;
    x->at++;
    const int32_t n = n_wire(x, port);
    if (n >= p->least && (!p->most || n <= p->most))
        return true;
    if (x->e && n < p->least)
        diag_error(x->e->d, open, "%s: port '%s' of '%s' has %d connections or more, %d given",
                   x->in->name, p->name, x->model->type, p->least, n);
    else if (x->e)
        diag_error(x->e->d, open, "%s: port '%s' of '%s' has %d connections at most, %d given",
                   x->in->name, p->name, x->model->type, p->most, n);
    return false;
}

static bool take_port(digital *x, int port)
{
    const evt_port *p = &x->model->port[port];
    const char *type = !is_analog(x, port) ? "d" : x->bridge == &bridges[BIDI] ? "g" : "v";
    const flat_conn *c = elab_conn_at(x->in, x->at);
    if (!take_type(x, port, &type))
        return false;
    c = elab_conn_at(x->in, x->at);
    if (p->null_ok && (!c || c->kind == FLAT_CONN_NULL)) {
        x->at += c != NULL;
        return true;
    }
    if (!c)
        return refuse(x, x->e ? elab_printf(x->e, "port '%s' must be connected", p->name) : "");
    return p->vector ? take_vector(x, port, type) : take_wire(x, port, type);
}

/* Reads the connections of an element; e NULL: without messages. */
static bool take_ports(digital *x)
{
    for (int i = 0; i < n_ports(x->model); i++)
        if (!take_port(x, i))
            return false;
    return !elab_conn_at(x->in, x->at) || refuse(x, "there are more connections than ports");
}

static digital begin(elab *e, const flat_inst *in)
{
    const char *type = in->rare->model->type;
    const bridge *b = find_bridge(type);
    return (digital){.e = e, .in = in, .model = b ? &b->model : evt_find_model(type), .bridge = b};
}

/* -- nodes -- */

static bool is_part(const flat_inst *in)
{
    const char *type = in->letter == 'a' && in->rare->model ? in->rare->model->type : NULL;
    return type && (evt_find_model(type) || find_bridge(type));
}

static bool is_logic(const flat_inst *in) { return in->letter == 'u' && in->rare->logic; }

static void mark_expr(elab *e, const net_expr *x)
{
    if (x->op == NET_VNODE)
        for (int k = 0; k < 2; k++)
            if (x->node[k] >= 0)
                e->event[x->node[k]].analog = true;
    for (int32_t i = 0; i < x->n_arg; i++)
        mark_expr(e, x->arg[i]);
}

static void mark_analog(elab *e, const flat_inst *in)
{
    for (uint32_t i = 0; i < in->n_node; i++)
        e->event[in->node[i]].analog = true;
    if (in->rare->expr)
        mark_expr(e, in->rare->expr);
}

/* A digital port connects flat node i. */
static void mark_port(elab *e, int32_t i, const evt_model *m, int port, diag_span span)
{
    const evt_port *p = &m->port[port];
    elab_event *v = &e->event[i];
    if (v->node < 0) {
        v->node =
            evt_add_node(ckt_digital(e->c, true), ckt_keep_name(e->c, e->f->node[i]), p->kind);
        v->span = span;
    }
    v->drives += p->out;
    v->lets_go |= p->out && evt_lets_go(m);
    v->reads += !p->out;
}

/* The port of a gate that its pin k belongs to. */
static int port_of(const flat_gate *g, size_t k)
{
    return (int)k < g->n_vector ? 0 : (int)k - g->n_vector + (g->n_vector > 0);
}

const char *elab_logic_port(const flat_gate *g, size_t k)
{
    return evt_find_model(g->type)->port[port_of(g, k)].name;
}

static void mark_logic(elab *e, const flat_inst *in)
{
    const flat_gate *gate = in->rare->logic->gate;
    for (size_t i = 0; i < vec_len(gate); i++) {
        const evt_model *m = evt_find_model(gate[i].type);
        for (size_t k = 0; k < vec_len(gate[i].pin); k++)
            if (gate[i].pin[k].at >= 0)
                mark_port(e, in->node[gate[i].pin[k].at], m, port_of(&gate[i], k),
                          gate[i].pin[k].span);
    }
}

static void mark_digital(elab *e, const flat_inst *in)
{
    digital x = begin(NULL, in);
    (void)take_ports(&x); /* what is wrong is told later */
    for (size_t i = 0; i < vec_len(x.wire); i++) {
        const wire *w = &x.wire[i];
        for (int k = 0; k < 2; k++) {
            if (w->node[k] < 0)
                continue;
            if (is_analog(&x, w->port))
                e->event[w->node[k]].analog = true;
            else
                mark_port(e, w->node[k], x.model, w->port, w->span);
        }
    }
    vec_free(x.wire);
}

void elab_digital_nodes(elab *e)
{
    bool any = false;
    for (size_t i = 0; i < vec_len(e->f->inst) && !any; i++)
        any = is_part(&e->f->inst[i]) || is_logic(&e->f->inst[i]);
    if (!any)
        return;
    vec_extend(e->event, vec_len(e->f->node));
    for (size_t i = 0; i < vec_len(e->event); i++)
        e->event[i].node = -1;
    for (size_t i = 0; i < vec_len(e->f->inst); i++)
        if (is_logic(&e->f->inst[i]))
            mark_logic(e, &e->f->inst[i]);
        else if (is_part(&e->f->inst[i]))
            mark_digital(e, &e->f->inst[i]);
        else
            mark_analog(e, &e->f->inst[i]);
    e->event[0].analog = true;
}

int32_t elab_digital_unknown(elab *e, size_t i)
{
    const elab_event *v = e->event ? &e->event[i] : NULL;
    return v && v->node >= 0 && !v->analog ? ckt_show(e->c, v->node) : -1;
}

/* -- parameters -- */

typedef struct numbers {
    double par[EVT_MOST_PARAMS];
    double *list[EVT_MOST_PARAMS]; /* vecs */
    const flat_param *given[EVT_MOST_PARAMS];
} numbers;

static int find_param(const evt_model *m, const char *name)
{
    const size_t n = strcspn(name, "[");
    for (int i = 0; i < EVT_MOST_PARAMS && m->param[i].name; i++)
        if (strlen(m->param[i].name) == n && !strncmp(m->param[i].name, name, n))
            return i;
    return -1;
}

static void unknown_param(const digital *x, const flat_param *p)
{
    const char *cand[EVT_MOST_PARAMS];
    size_t n = 0;
    if (diag_said(x->e->d, p->span))
        return;
    while (n < EVT_MOST_PARAMS && x->model->param[n].name) {
        cand[n] = x->model->param[n].name;
        n++;
    }
    diag_warning(x->e->d, p->span, "model '%s': '%s' has no parameter '%s'; it has no effect",
                 x->in->rare->model->name, x->model->type, p->name);
    diag_suggest(x->e->d, p->name, cand, n);
}

static bool take_param(const digital *x, const flat_param *p, const evt_param *spec, double *to)
{
    const bool text = spec->kind == EVT_FILE || spec->kind == EVT_WORDS;
    const char *model = x->in->rare->model->name;
    if (spec->idle || (text && p->str))
        return true;
    const bool said = diag_said(x->e->d, p->span); /* for another element of the card */
    if (text && spec->kind == EVT_WORDS) { /* table_values=1010 without quotes is a number */
        if (!said)
            diag_error(x->e->d, p->span, "model '%s': '%s' is a text in quotes", model, spec->name);
        return false;
    }
    if (text || p->str || !isfinite(p->value)) {
        if (!said)
            diag_error(x->e->d, p->span, "model '%s': parameter '%s' needs a %s", model, spec->name,
                       text ? "file in quotes" : "number");
        return false;
    }
    if ((spec->min != 0 || spec->max != 0) && !(p->value >= spec->min && p->value <= spec->max)) {
        if (!said)
            diag_error(x->e->d, p->span, "model '%s': '%s' is %g; it may be from %g to %g", model,
                       spec->name, p->value, spec->min, spec->max);
        return false;
    }
    *to = spec->kind == EVT_INT ? trunc(p->value) : p->value;
    return true;
}

static bool take_params(const digital *x, numbers *to)
{
    const flat_model *m = x->in->rare->model;
    bool ok = true;
    for (int i = 0; i < EVT_MOST_PARAMS && x->model->param[i].name; i++)
        to->par[i] = x->model->param[i].absent;
    for (size_t i = 0; i < vec_len(m->param); i++) {
        const flat_param *p = &m->param[i];
        const int k = find_param(x->model, p->name);
        double y = 0;
        if (k < 0) {
            unknown_param(x, p);
            continue;
        }
        if (!take_param(x, p, &x->model->param[k], &y)) {
            ok = false;
            continue;
        }
        to->given[k] = p;
        if (x->model->param[k].kind == EVT_LIST)
            vec_push(to->list[k], y);
        else
            to->par[k] = y;
    }
    return ok;
}

static void free_numbers(numbers *n)
{
    for (int i = 0; i < EVT_MOST_PARAMS; i++)
        vec_free(n->list[i]);
}

/* -- parts -- */

static evt_pin pin_of(const digital *x, const wire *w)
{
    const int32_t node = w->node[0] < 0 ? -1 : x->e->event[w->node[0]].node;
    return (evt_pin){node, w->invert};
}

/* What each character of a text in quotes stands for; what is missing is unknown. */
static void read_words(const digital *x, const flat_param *p, size_t n, bool open, elab_rows *to)
{
    const size_t len = p ? strlen(p->str) : 0;
    for (size_t i = 0; i < n; i++) {
        const char c = i < len ? p->str[i] : '?';
        const evt_value other = evt_of(EVT_U, open ? EVT_UNDETERMINED : EVT_STRONG);
        vec_push(to->value, c == '0'           ? evt_of(EVT_0, EVT_STRONG)
                            : c == '1'         ? evt_of(EVT_1, EVT_STRONG)
                            : c == 'z' && open ? evt_of(EVT_U, EVT_HIZ)
                                               : other);
    }
    if (len < n && !diag_said(x->e->d, p ? p->span : x->in->rare->model->span))
        diag_warning(x->e->d, p ? p->span : x->in->rare->model->span,
                     "model '%s': table_values has %zu of %zu values; the others are unknown",
                     x->in->rare->model->name, len, n);
}

static const flat_param *param_of(const digital *x, const numbers *n, const char *name)
{
    const int k = find_param(x->model, name);
    return k < 0 ? NULL : n->given[k];
}

/* The table of a part that has one. False: a message was given. */
static bool read_table(const digital *x, const numbers *n, const evt_part *p, elab_rows *to)
{
    const char *type = x->model->type;
    if (!strcmp(type, "d_source"))
        return elab_stimulus(x->e, x->in, param_of(x, n, "input_file"), "source.txt", p->n[0], to);
    if (!strcmp(type, "d_state"))
        return elab_states(x->e, x->in, param_of(x, n, "state_file"), "state.txt", p->n[0], p->n[3],
                           to);
    if (!strcmp(type, "d_lut"))
        read_words(x, param_of(x, n, "table_values"), (size_t)1 << p->n[0], false, to);
    else if (!strcmp(type, "d_genlut"))
        read_words(x, param_of(x, n, "table_values"), (size_t)p->n[1] << p->n[0], true, to);
    return true;
}

static bool check_part(const digital *x, const evt_part *p)
{
    enum { MOST_BITS = 1 << 24 };
    const bool ram = !strcmp(x->model->type, "d_ram");
    if (ram && p->n[0] != p->n[1]) {
        diag_error(x->e->d, x->in->span,
                   "%s: %d data inputs and %d data outputs: there are as many", x->in->name,
                   p->n[0], p->n[1]);
        return false;
    }
    if ((ram && (double)p->n[0] * (double)(1 << p->n[2]) > MOST_BITS) ||
        (!strcmp(x->model->type, "d_genlut") &&
         (double)p->n[1] * (double)(1 << p->n[0]) > MOST_BITS)) {
        diag_error(x->e->d, x->in->span, "%s: it would have more than %d bits", x->in->name,
                   MOST_BITS);
        return false;
    }
    return true;
}

/* What the option digital_delay_type makes of the parameters [EVT_MOST_PARAMS] of a part. */
static void choose_delays(const elab *e, const evt_model *m, bool given, double *par)
{
    const elab_delays d = e->opt.delays;
    const int k = find_param(m, "inertial_delay");
    if (k >= 0 && (d >= ELAB_ALL_TRANSPORT || !given))
        par[k] = d == ELAB_INERTIAL || d == ELAB_ALL_INERTIAL;
}

/* The text of a parameter, or of entry k of a list. */
static const flat_param *text_of(const digital *x, const char *name)
{
    const flat_model *m = x->in->rare->model;
    for (size_t i = 0; i < vec_len(m->param); i++)
        if (m->param[i].str && !strcmp(m->param[i].name, name))
            return &m->param[i];
    return NULL;
}

/* Whether a deck may use the program, or what stands behind the named pipe; false: a message was
 * given. */
static bool may_use(const digital *x, const char *path, int how, diag_span at)
{
    char full[PATH_MAX];
    diag *d = x->e->d;
    if (!realpath(path, full) || access(full, how)) {
        diag_error(d, at, "%s: '%s' cannot be %s: %s", x->in->name, path,
                   how == X_OK ? "run" : "opened", strerror(errno));
        return false;
    }
    if (files_trusted(full))
        return true;
    diag_error(d, at, "%s: '%s' is %s, which a deck does not %s by itself", x->in->name, path,
               how == X_OK ? "a program" : "a pipe to a program", how == X_OK ? "start" : "use");
    diag_note(d, DIAG_NOWHERE, FILES_TRUST_HOW);
    return false;
}

/* File and arguments of a d_process; NULL: a message was given. */
static const char *const *read_program(const digital *x)
{
    elab *e = x->e;
    const flat_param *file = text_of(x, "process_file"), *p;
    const diag_span at = file ? file->span : x->in->rare->model->span;
    const char **program = NULL;
    if (!file || !file->str[0] || !strcmp(file->str, "|")) {
        diag_error(e->d, at, "model '%s': process_file=\"PROGRAM\" is needed",
                   x->in->rare->model->name);
        return NULL;
    }
    const size_t n = strcspn(file->str, "|");
    const bool pipes = file->str[n] != 0;
    const char *name = elab_printf(e, "%.*s%s", (int)n, file->str, pipes ? "_in" : "");
    const char *path = net_find_file(e->d, &e->mem, name, at.file, NULL);
    if (!e->opt.programs) {
        diag_error(e->d, at, "%s: a library does not start programs", x->in->name);
        return NULL;
    }
    if (!may_use(x, path, pipes ? W_OK : X_OK, at))
        return NULL;
    if (pipes)
        path = elab_printf(e, "%.*s|", (int)strlen(path) - 3, path);
    vec_push(program, path);
    p = text_of(x, "process_params"); /* one, or the first of a list */
    for (size_t k = 0; p || (p = text_of(x, elab_printf(e, "process_params[%zu]", k))); k++) {
        vec_push(program, p->str);
        p = NULL;
    }
    vec_push(program, NULL);
    const char **own = arena_array(&e->mem, const char *, vec_len(program));
    memcpy(own, program, vec_len(program) * sizeof *own);
    vec_free(program);
    return own;
}

static vs_status add_part(const digital *x, const numbers *n)
{
    evt_part p = {.name = ckt_keep_name(x->e->c, x->in->name), .model = x->model};
    elab_rows rows = {0};
    evt_pin *pin = NULL;
    for (size_t i = 0; i < vec_len(x->wire); i++) {
        p.n[x->wire[i].port]++;
        vec_push(pin, pin_of(x, &x->wire[i]));
    }
    p.pin = pin;
    memcpy(p.par, n->par, sizeof p.par);
    choose_delays(x->e, x->model, param_of(x, n, "inertial_delay") != NULL, p.par);
    for (int i = 0; i < EVT_MOST_PARAMS; i++) {
        p.list[i] = n->list[i];
        p.n_list[i] = (int32_t)vec_len(n->list[i]);
    }
    bool ok = check_part(x, &p) && read_table(x, n, &p, &rows);
    if (ok && !strcmp(x->model->type, "d_process"))
        ok = (p.program = read_program(x)) != NULL;
    p.host = x->e->opt.programs;
    p.table = (evt_table){.number = rows.number,
                          .value = rows.value,
                          .n_number = vec_len(rows.number),
                          .n_value = vec_len(rows.value),
                          .n_row = rows.n_row};
    if (ok)
        evt_add_part(ckt_digital(x->e->c, true), &p);
    elab_rows_free(&rows);
    vec_free(pin);
    return ok ? VS_OK : VS_EINPUT;
}

/* -- bridges: adding -- */

/* What an analog input reads: a voltage, or the current of a source of 0 V between its nodes. */
static bool read_unknowns(const digital *x, const wire *w, int32_t in[2])
{
    elab *e = x->e;
    in[1] = 0;
    if (w->ref)
        return elab_control_branch(e, x->in, w->ref, &in[0]);
    in[0] = e->node[w->node[0]];
    in[1] = w->node[1] < 0 ? 0 : e->node[w->node[1]];
    if (w->type[0] != 'i')
        return true;
    const wave zero = {.kind = WAVE_DC, .dc_given = true, .pwl_repeat = -1};
    const char *name = elab_printf(e, "%s#in%d", x->in->name, (int)(w - x->wire));
    name = str_intern0(e->names, name);
    if (ckt_add_vsource(e->c, name, in[0], in[1], &zero, x->in->m, x->in->span) != VS_OK)
        return false;
    in[0] = elab_branch(e, name);
    in[1] = 0;
    return true;
}

/* Wire k of a port. */
static const wire *wire_at(const digital *x, int port, int32_t k)
{
    for (size_t i = 0; i < vec_len(x->wire); i++)
        if (x->wire[i].port == port && k-- == 0)
            return &x->wire[i];
    return NULL;
}

static bool sizes_differ(const digital *x, int32_t n_in, int32_t n_out)
{
    diag_error(x->e->d, x->in->span, "%s: %d inputs and %d outputs: there are as many, or one %s",
               x->in->name, n_in, n_out, x->bridge == &bridges[ADC] ? "input" : "output");
    return false;
}

static bool add_adc(const digital *x, const numbers *n)
{
    enum { MOST_BITS = 24 };
    evt *e = ckt_digital(x->e->c, true);
    const int32_t n_in = n_wire(x, 0), n_out = n_wire(x, 1);
    const char *name = ckt_keep_name(x->e->c, x->in->name);
    int32_t driver[MOST_BITS];
    if ((n_in != n_out && n_in != 1) || (n_in == 1 && n_out > MOST_BITS))
        return sizes_differ(x, n_in, n_out);
    if (n_in != n_out && n->par[ADC_LOW] >= n->par[ADC_HIGH]) {
        diag_error(x->e->d, x->in->rare->model->span,
                   "model '%s': with several bits in_low is less than in_high",
                   x->in->rare->model->name);
        return false;
    }
    for (int32_t i = 0; i < n_in; i++) {
        nat_adc a = {.name = x->in->name,
                     .span = x->in->span,
                     .low = n->par[ADC_LOW],
                     .high = n->par[ADC_HIGH],
                     .delay = {n->par[ADC_FALL], n->par[ADC_RISE]},
                     .driver = driver,
                     .n_bit = n_in == n_out ? 1 : n_out};
        for (int32_t k = 0; k < a.n_bit; k++)
            driver[k] = evt_add_driver(e, name, pin_of(x, wire_at(x, 1, i + k)));
        if (!read_unknowns(x, wire_at(x, 0, i), a.in))
            return false;
        ckt_add_adc(x->e->c, &a);
    }
    return true;
}

/* Name of part i of a bridge with several. */
static const char *part_name(const digital *x, int32_t i, int32_t n)
{
    return n == 1 ? x->in->name : elab_printf(x->e, "%s#%d", x->in->name, i);
}

static bool add_dac(const digital *x, const numbers *n)
{
    const int32_t n_in = n_wire(x, 0), n_out = n_wire(x, 1);
    evt_pin *pin = NULL;
    if (n_in != n_out && n_out != 1)
        return sizes_differ(x, n_in, n_out);
    const bool mean = n->given[DAC_LOW] && n->given[DAC_HIGH] && !n->given[DAC_UNDEF];
    for (int32_t i = 0; i < n_in; i++) {
        const wire *w = wire_at(x, 0, i);
        if (w->node[0] < 0) {
            vec_free(pin);
            return refuse(x, "an input of a bridge must be connected");
        }
        vec_push(pin, pin_of(x, w));
    }
    for (int32_t i = 0; i < n_out; i++) {
        const wire *w = wire_at(x, 1, i);
        if (w->node[0] < 0)
            continue;
        const nat_dac d = {
            .name = part_name(x, i, n_out),
            .span = x->in->span,
            .out = {x->e->node[w->node[0]], w->node[1] < 0 ? 0 : x->e->node[w->node[1]]},
            .low = n->par[DAC_LOW],
            .high = n->par[DAC_HIGH],
            .undef = mean ? (n->par[DAC_LOW] + n->par[DAC_HIGH]) / 2 : n->par[DAC_UNDEF],
            .ramp = {fmax(n->par[DAC_FALL], SHORTEST), fmax(n->par[DAC_RISE], SHORTEST)},
            .pin = pin + (n_in == n_out ? i : 0),
            .n_bit = n_in == n_out ? 1 : n_in,
            .m = x->in->m};
        ckt_add_dac(x->e->c, &d, w->type[0] == 'i');
    }
    vec_free(pin);
    return true;
}

static bool add_osc(const digital *x, numbers *n)
{
    const bool pwm = x->bridge == &bridges[PWM];
    static const double volt[2][2] = {{0, 1}, {-1, 1}}, value[2][2] = {{1e6, 2e6}, {0, 1}};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2 && !n->given[k]; i++)
            vec_push(n->list[k], k ? value[pwm][i] : volt[pwm][i]);
    const size_t n_point = vec_len(n->list[OSC_CONTROL]);
    bool ok = n_point >= 2 && n_point == vec_len(n->list[OSC_VALUE]);
    for (size_t i = 1; i < n_point && ok; i++)
        ok = n->list[OSC_CONTROL][i] > n->list[OSC_CONTROL][i - 1];
    if (!ok) {
        diag_error(x->e->d, x->in->rare->model->span,
                   "model '%s': cntl_array and %s have as many values, two or more; those of "
                   "cntl_array rise",
                   x->in->rare->model->name, x->model->param[OSC_VALUE].name);
        return false;
    }
    const double phase = n->par[OSC_PHASE] / 360;
    nat_osc o = {.name = x->in->name,
                 .span = x->in->span,
                 .driver =
                     evt_add_driver(ckt_digital(x->e->c, true), ckt_keep_name(x->e->c, x->in->name),
                                    pin_of(x, wire_at(x, 1, 0))),
                 .control = n->list[OSC_CONTROL],
                 .value = n->list[OSC_VALUE],
                 .n = (int32_t)n_point,
                 .pwm = pwm,
                 .frequency = n->par[OSC_DUTY],
                 .duty = n->par[OSC_DUTY],
                 .phase = phase < 0 ? phase + 1 : phase};
    if (!read_unknowns(x, wire_at(x, 0, 0), o.in))
        return false;
    ckt_add_osc(x->e->c, &o);
    return true;
}

static bool add_real_to_v(const digital *x, const numbers *n)
{
    const wire *in = wire_at(x, 0, 0), *out = wire_at(x, 1, 0);
    const evt_pin pin = pin_of(x, in);
    if (out->node[0] < 0)
        return true;
    const nat_dac d = {
        .name = x->in->name,
        .span = x->in->span,
        .out = {x->e->node[out->node[0]], out->node[1] < 0 ? 0 : x->e->node[out->node[1]]},
        .gain = n->par[RTOV_GAIN],
        .ramp = {fmax(n->par[RTOV_TIME], SHORTEST), fmax(n->par[RTOV_TIME], SHORTEST)},
        .pin = &pin,
        .n_bit = 1,
        .m = x->in->m};
    ckt_add_dac(x->e->c, &d, out->type[0] == 'i');
    return true;
}

/* What the level of a bidirectional bridge drives. par: as bridges[BIDI] has them. */
static void add_sense(elab *e, nat_bidi *b, const double *par)
{
    evt *v = ckt_digital(e->c, true);
    const char *name = ckt_keep_name(e->c, elab_printf(e, "%s#in", b->name));
    const evt_pin inner = {evt_add_node(v, name, EVT_DIGITAL), false}, out = {b->node, false};
    const int32_t driver = evt_add_driver(v, name, inner);
    const nat_adc a = {.name = b->name,
                       .span = b->span,
                       .in = {b->out[0], b->out[1]},
                       .low = par[BIDI_IN_LOW],
                       .high = par[BIDI_IN_HIGH],
                       .behind = fmin(par[BIDI_RISE_DELAY], par[BIDI_FALL_DELAY]),
                       .driver = &driver,
                       .n_bit = 1};
    const bool directed = b->dir.node >= 0;
    const evt_pin pin[] = {inner, directed ? b->dir : out, out};
    const evt_part p = {.name = ckt_keep_name(e->c, b->name),
                        .model = &evt_bidi_model,
                        .pin = pin,
                        .n = {1, directed, 1},
                        .par = {[EVT_BIDI_RISE] = par[BIDI_RISE_DELAY],
                                [EVT_BIDI_FALL] = par[BIDI_FALL_DELAY],
                                [EVT_BIDI_STRENGTH] = par[BIDI_STRENGTH]}};
    ckt_add_adc(e->c, &a);
    b->output = evt_add_part(v, &p);
}

/* A line of a bidirectional bridge. b: name, span, nodes and m are set. */
static void add_line(elab *e, nat_bidi *b, const double *par)
{
    b->output = -1;
    b->senses = par[BIDI_DIRECTION] == 1;
    b->low = par[BIDI_OUT_LOW];
    b->high = par[BIDI_OUT_HIGH];
    b->ramp[0] = par[BIDI_FALL];
    b->ramp[1] = par[BIDI_RISE];
    memcpy(b->limit, par + BIDI_LIMIT, sizeof b->limit);
    memcpy(b->r_strong, par + BIDI_R_STRONG, sizeof b->r_strong);
    memcpy(b->r_weak, par + BIDI_R_WEAK, sizeof b->r_weak);
    if (par[BIDI_DIRECTION] != 0)
        add_sense(e, b, par);
    ckt_add_bidi(e->c, b);
}

static bool add_bidi(const digital *x, const numbers *n)
{
    const int32_t n_line = n_wire(x, 0), n_dir = n_wire(x, 2);
    const bool is_free = n->par[BIDI_DIRECTION] == 2;
    if (n_line != n_wire(x, 1) || n_dir > n_line) {
        diag_error(x->e->d, x->in->span,
                   "%s: 'a' has %d connections, 'd' %d and 'dir' %d: 'a' and 'd' have as many, "
                   "'dir' no more",
                   x->in->name, (int)n_line, (int)n_wire(x, 1), (int)n_dir);
        return false;
    }
    for (int32_t i = 0; i < n_line; i++) {
        const wire *a = wire_at(x, 0, i), *d = wire_at(x, 1, i);
        if (d->node[0] < 0 || d->invert)
            return refuse(x, "its digital nodes are connected, and not inverted");
        nat_bidi b = {.name = part_name(x, i, n_line),
                      .span = x->in->span,
                      .out = {x->e->node[a->node[0]], a->node[1] < 0 ? 0 : x->e->node[a->node[1]]},
                      .node = pin_of(x, d).node,
                      .dir =
                          is_free && i < n_dir ? pin_of(x, wire_at(x, 2, i)) : (evt_pin){-1, false},
                      .m = x->in->m};
        add_line(x->e, &b, n->par);
    }
    return true;
}

static vs_status add_bridge(const digital *x, numbers *n)
{
    const bool ok = x->bridge == &bridges[ADC]    ? add_adc(x, n)
                    : x->bridge == &bridges[DAC]  ? add_dac(x, n)
                    : x->bridge == &bridges[RTOV] ? add_real_to_v(x, n)
                    : x->bridge == &bridges[BIDI] ? add_bidi(x, n)
                                                  : add_osc(x, n);
    return ok ? VS_OK : VS_EINPUT;
}

vs_status elab_digital(elab *e, const flat_inst *in)
{
    const char *type = in->rare->model->type;
    const int bad = find_refused(type);
    if (bad >= 0) {
        diag_error(e->d, in->rare->model_span, "%s: code model '%s' is not there: %s", in->name,
                   type, refused[bad].why);
        diag_note(e->d, DIAG_NOWHERE, "%s", refused[bad].note);
        return VS_EINPUT;
    }
    digital x = begin(e, in);
    numbers n = {0};
    const bool params = take_params(&x, &n);
    vs_status st = take_ports(&x) && params ? VS_OK : VS_EINPUT;
    if (st == VS_OK)
        st = x.bridge ? add_bridge(&x, &n) : add_part(&x, &n);
    free_numbers(&n);
    vec_free(x.wire);
    return st;
}

/* -- U elements: flat_logic.c has made their parts -- */

/* Pin k of a gate, if its port is not left out. */
static void take_pin(const elab *e, const flat_inst *in, const flat_gate *g, size_t k,
                     const int32_t *inner, evt_part *p, evt_pin **pin)
{
    const flat_gate_pin *x = &g->pin[k];
    const int port = port_of(g, k);
    if (x->at == FLAT_PIN_OPEN && p->model->port[port].null_ok)
        return;
    const int32_t node = x->at >= 0               ? e->event[in->node[x->at]].node
                         : x->at == FLAT_PIN_OPEN ? -1
                                                  : inner[-2 - x->at];
    p->n[port]++;
    vec_push(*pin, (evt_pin){node, x->invert});
}

vs_status elab_logic(elab *e, const flat_inst *in)
{
    const flat_logic *l = in->rare->logic;
    int32_t *inner = NULL;
    if (!elab_logic_check(e, in))
        return VS_EINPUT;
    for (size_t i = 0; i < vec_len(l->inner); i++) {
        const char *name = elab_printf(e, "%s.%s", in->name, l->inner[i]);
        vec_push(inner,
                 evt_add_node(ckt_digital(e->c, true), ckt_keep_name(e->c, name), EVT_DIGITAL));
    }
    for (size_t i = 0; i < vec_len(l->gate); i++) {
        const flat_gate *g = &l->gate[i];
        const char *name = vec_len(l->gate) == 1 ? in->name : elab_printf(e, "%s#%zu", in->name, i);
        evt_part p = {.name = ckt_keep_name(e->c, name), .model = evt_find_model(g->type)};
        evt_pin *pin = NULL;
        for (size_t k = 0; k < vec_len(g->pin); k++)
            take_pin(e, in, g, k, inner, &p, &pin);
        p.pin = pin;
        elab_logic_delays(in, g, p.model, p.par);
        choose_delays(e, p.model, true, p.par);
        evt_add_part(ckt_digital(e->c, true), &p);
        vec_free(pin);
    }
    vec_free(inner);
    return VS_OK;
}

/* -- bridges that the netlist leaves out -- */

/* Levels are those of XSPICE's automatic bridges: half of a supply for inputs, 0 and the supply for
 * outputs. A node that a digital output drives is driven in the analog circuit as well; where it is
 * read too, and not always driven, the analog circuit may drive it. */
static void add_automatic(elab *e, size_t i)
{
    const double vcc = isnan(e->f->vcc) ? 3.3 : e->f->vcc;
    const elab_event *v = &e->event[i];
    const char *name = elab_printf(e, "%s#%s", v->drives ? "auto_dac" : "auto_adc", e->f->node[i]);
    const evt_pin pin = {v->node, false};
    const bool both = v->drives && v->reads && v->lets_go;
    if (e->opt.tell_bridges)
        diag_note(e->d, v->span, "%s of %g V at the node '%s'",
                  both        ? "a bidi_bridge"
                  : v->drives ? "a dac_bridge"
                              : "an adc_bridge",
                  vcc, e->f->node[i]);
    if (both) {
        nat_bidi b = {.name = elab_printf(e, "auto_bidi#%s", e->f->node[i]),
                      .span = v->span,
                      .out = {e->node[i], 0},
                      .node = v->node,
                      .dir = {-1, false},
                      .m = 1};
        double par[EVT_MOST_PARAMS];
        for (int k = 0; k < EVT_MOST_PARAMS; k++)
            par[k] = bridges[BIDI].model.param[k].absent;
        par[BIDI_OUT_HIGH] = vcc;
        par[BIDI_IN_LOW] = par[BIDI_IN_HIGH] = vcc / 2;
        add_line(e, &b, par);
        return;
    }
    if (v->drives) {
        const nat_dac d = {.name = name,
                           .span = v->span,
                           .out = {e->node[i], 0},
                           .high = vcc,
                           .undef = vcc / 2,
                           .ramp = {1e-9, 1e-9},
                           .pin = &pin,
                           .n_bit = 1,
                           .m = 1};
        ckt_add_dac(e->c, &d, false);
        return;
    }
    const int32_t driver = evt_add_driver(ckt_digital(e->c, true), ckt_keep_name(e->c, name), pin);
    const nat_adc a = {.name = name,
                       .span = v->span,
                       .in = {e->node[i], 0},
                       .low = vcc / 2,
                       .high = vcc / 2,
                       .delay = {1e-9, 1e-9},
                       .driver = &driver,
                       .n_bit = 1};
    ckt_add_adc(e->c, &a);
}

vs_status elab_digital_end(elab *e)
{
    vs_status st = VS_OK;
    for (size_t i = 1; i < vec_len(e->event); i++) {
        const elab_event *v = &e->event[i];
        if (v->node < 0 || !v->analog)
            continue;
        const bool bits = evt_node_kind(ckt_digital(e->c, true), v->node) == EVT_DIGITAL;
        if (bits && !e->opt.no_bridge) {
            add_automatic(e, i);
            continue;
        }
        st = VS_EINPUT;
        if (bits)
            diag_error(e->d, v->span,
                       "node '%s' is digital, and analog elements or expressions connect it: a "
                       "bridge belongs between, since auto_bridge is 0",
                       e->f->node[i]);
        else
            diag_error(e->d, v->span,
                       "node '%s' has numbers, and analog elements or expressions connect it: a "
                       "'real_to_v' belongs between",
                       e->f->node[i]);
    }
    return st;
}
