/* elab_code.c - A elements: XSPICE's analog code models (the digital ones: elab_digital.c).
 *
 * A code model is a module of models/xs_*.va. Each of its ports is a pair of terminals NAME_p,
 * NAME_n (vectors of them if the port is a vector): an input is the voltage between them, whatever
 * the type of the port, because a terminal may be bound to the unknown of a current. An output has
 * a parameter NAME_i if it may be a current (%i, %id) as well as a voltage. Where the number of
 * connections or of values in a list differs from what the file has, the file is compiled with
 * other macros (XS_IN, XS_N, ...), under the name XS_NAME: once per shape.
 * Source: ngspice manual, chapter "Mixed-mode and behavioral modeling with XSPICE": the A element,
 *         analog models. */
#include "elab_priv.h"

#include "wave.h"

#include <stdio.h>
#include <string.h>

/* -- what there is -- */

#define TYPE_LIST(X) \
    X(V, "v")        \
    X(VD, "vd") X(I, "i") X(ID, "id") X(VNAM, "vnam") X(G, "g") X(GD, "gd") X(H, "h") X(HD, "hd")
enum {
#define X(id, text) T_##id,
    TYPE_LIST(X)
#undef X
        N_TYPE
};
static const char *const type_text[] = {
#define X(id, text) text,
    TYPE_LIST(X)
#undef X
};
enum {
    INPUTS = 1 << T_V | 1 << T_VD | 1 << T_I | 1 << T_ID | 1 << T_VNAM,
    OUTPUTS = 1 << T_V | 1 << T_VD | 1 << T_I | 1 << T_ID,
    CURRENTS = 1 << T_I | 1 << T_ID,
    CONDUCT = 1 << T_G | 1 << T_GD,
    RESIST = 1 << T_H | 1 << T_HD,
    PAIRS = 1 << T_VD | 1 << T_ID | 1 << T_GD | 1 << T_HD /* two nodes */
};

typedef enum code_dir { IN, OUT, INOUT } code_dir;
typedef struct code_port {
    const char *name;
    code_dir dir;
    int type;    /* without % */
    int allowed; /* bits 1 << type */
    bool null_ok;
    int least;         /* of a vector; 0: a scalar */
    const char *macro; /* that tells the number of connections of a vector */
} code_port;
typedef struct code_list { /* a parameter that is a list */
    const char *name, *macro;
    const char *like;  /* the list or vector with as many values; then there is no macro */
    int least, absent; /* number of values: at least; of the default list, 0: it must be given */
    unsigned rule;
    const char *most; /* a list that must have at least as many values as this one */
} code_list;
enum { RISING = 1, LEADS = 2 /* the first is not 0 */ };
enum { MOST_PORT = 5, MOST_LIST = 3 };
typedef struct code_model {
    const char *type, *module;
    code_port port[MOST_PORT];
    code_list list[MOST_LIST];
    const char *need[2]; /* parameters without a default */
    const char *idle;    /* a parameter that cards may have, but that has no effect here */
} code_model;

#define PORT_IN(text) {.name = text, .dir = IN, .type = T_V, .allowed = INPUTS}
#define PORT_VECTOR(text) \
    {.name = text, .dir = IN, .type = T_V, .allowed = INPUTS, .least = 2, .macro = "XS_IN"}
#define PORT_METER {.name = "in", .dir = IN, .type = T_V, .allowed = 1 << T_V | 1 << T_VD}
#define PORT_OPTION(text) {.name = text, .dir = IN, .type = T_V, .allowed = INPUTS, .null_ok = true}
#define PORT_OUT {.name = "out", .dir = OUT, .type = T_V, .allowed = OUTPUTS}
#define PORT_TABLE {.name = "out", .dir = OUT, .type = T_I, .allowed = OUTPUTS}
#define PORT_G(text) {.name = text, .dir = INOUT, .type = T_G, .allowed = CONDUCT}
#define PORT_GD(text) {.name = text, .dir = INOUT, .type = T_GD, .allowed = CONDUCT}
#define PORT_HD(text) {.name = text, .dir = INOUT, .type = T_HD, .allowed = RESIST}
#define PORT_SUPPLY(text) \
    {.name = text, .dir = INOUT, .type = T_G, .allowed = CONDUCT, .null_ok = true}
#define LIKE(text, other, n) {.name = text, .like = other, .least = n}
#define POINTS(xs, ys) {{.name = xs, .macro = "XS_N", .least = 2, .rule = RISING}, LIKE(ys, xs, 2)}
#define CONTROL(ys)                                                                    \
    {{.name = "cntl_array", .macro = "XS_N", .least = 2, .absent = 2, .rule = RISING}, \
     LIKE(ys, "cntl_array", 2)}

static const code_model models[] = {
    {.type = "gain", .module = "xs_gain", .port = {PORT_IN("in"), PORT_OUT}},
    {.type = "cmeter", .module = "xs_gain", .port = {PORT_METER, PORT_OUT}},
    {.type = "lmeter", .module = "xs_gain", .port = {PORT_METER, PORT_OUT}},
    {.type = "summer",
     .module = "xs_summer",
     .port = {PORT_VECTOR("in"), PORT_OUT},
     .list = {LIKE("in_offset", "in", 0), LIKE("in_gain", "in", 0)}},
    {.type = "mult",
     .module = "xs_mult",
     .port = {PORT_VECTOR("in"), PORT_OUT},
     .list = {LIKE("in_offset", "in", 0), LIKE("in_gain", "in", 0)}},
    {.type = "divide", .module = "xs_divide", .port = {PORT_IN("num"), PORT_IN("den"), PORT_OUT}},
    {.type = "limit", .module = "xs_limit", .port = {PORT_IN("in"), PORT_OUT}},
    {.type = "climit",
     .module = "xs_climit",
     .port = {PORT_IN("in"), PORT_IN("cntl_upper"), PORT_IN("cntl_lower"), PORT_OUT}},
    {.type = "ilimit",
     .module = "xs_ilimit",
     .port = {PORT_IN("in"), PORT_SUPPLY("pos_pwr"), PORT_SUPPLY("neg_pwr"), PORT_G("out")}},
    {.type = "hyst", .module = "xs_hyst", .port = {PORT_IN("in"), PORT_OUT}},
    {.type = "int", .module = "xs_int", .port = {PORT_IN("in"), PORT_OUT}},
    {.type = "d_dt", .module = "xs_d_dt", .port = {PORT_IN("in"), PORT_OUT}},
    {.type = "slew", .module = "xs_slew", .port = {PORT_IN("in"), PORT_OUT}},
    {.type = "s_xfer",
     .module = "xs_s_xfer",
     .port = {PORT_IN("in"), PORT_OUT},
     .list = {{.name = "num_coeff", .macro = "XS_NUM", .least = 1, .most = "den_coeff"},
              {.name = "den_coeff", .macro = "XS_DEN", .least = 1, .rule = LEADS},
              {.name = "int_ic", .macro = "XS_IC", .least = 1, .absent = 1}}},
    {.type = "pwl",
     .module = "xs_pwl",
     .port = {PORT_IN("in"), PORT_OUT},
     .list = POINTS("x_array", "y_array")},
    {.type = "pwlts",
     .module = "xs_pwlts",
     .port = {PORT_OUT},
     .list = POINTS("x_array", "y_array")},
    {.type = "multi_input_pwl",
     .module = "xs_multi_input_pwl",
     .port = {{.name = "in",
               .dir = IN,
               .type = T_VD,
               .allowed = 1 << T_VD | 1 << T_ID,
               .least = 2,
               .macro = "XS_IN"},
              {.name = "out", .dir = OUT, .type = T_VD, .allowed = 1 << T_VD | 1 << T_ID}},
     .list = POINTS("x", "y")},
    {.type = "table2d", .port = {PORT_IN("inx"), PORT_IN("iny"), PORT_TABLE}},
    {.type = "table3d", .port = {PORT_IN("inx"), PORT_IN("iny"), PORT_IN("inz"), PORT_TABLE}},
    {.type = "filesource",
     .port = {{.name = "out", .dir = OUT, .type = T_V, .allowed = OUTPUTS, .least = 1}}},
    {.type = "aswitch", .module = "xs_aswitch", .port = {PORT_IN("cntl_in"), PORT_GD("out")}},
    {.type = "pswitch", .module = "xs_pswitch", .port = {PORT_GD("cntl_in"), PORT_GD("out")}},
    {.type = "zener",
     .module = "xs_zener",
     .port = {PORT_GD("z")},
     .need = {"v_breakdown"},
     .idle = "limit_switch"},
    {.type = "sidiode", .module = "xs_sidiode", .port = {PORT_GD("ds")}},
    {.type = "capacitoric", .module = "xs_capacitoric", .port = {PORT_HD("cap")}, .need = {"c"}},
    {.type = "inductoric", .module = "xs_inductoric", .port = {PORT_GD("ind")}, .need = {"l"}},
    {.type = "core",
     .module = "xs_core",
     .port = {PORT_GD("mc")},
     .list = POINTS("h_array", "b_array"),
     .need = {"area", "length"}},
    {.type = "lcouple", .module = "xs_lcouple", .port = {PORT_HD("l"), PORT_HD("mmf_out")}},
    {.type = "potentiometer",
     .module = "xs_potentiometer",
     .port = {PORT_G("r0"), PORT_G("wiper"), PORT_G("r1")}},
    {.type = "memristor", .module = "xs_memristor", .port = {PORT_GD("memris")}},
    {.type = "delay",
     .module = "xs_delay",
     .port = {{.name = "in", .dir = IN, .type = T_V, .allowed = 1 << T_V | 1 << T_VD | 1 << T_VNAM},
              {.name = "out", .dir = OUT, .type = T_V, .allowed = 1 << T_V | 1 << T_VD},
              PORT_OPTION("cntrl")},
     .idle = "buffer_size"},
    {.type = "sine",
     .module = "xs_sine",
     .port = {PORT_IN("cntl_in"), PORT_OUT},
     .list = CONTROL("freq_array")},
    {.type = "square",
     .module = "xs_square",
     .port = {PORT_IN("cntl_in"), PORT_OUT},
     .list = CONTROL("freq_array")},
    {.type = "triangle",
     .module = "xs_triangle",
     .port = {PORT_IN("cntl_in"), PORT_OUT},
     .list = CONTROL("freq_array")},
    {.type = "oneshot",
     .module = "xs_oneshot",
     .port = {PORT_IN("clk"), PORT_OPTION("cntl_in"), PORT_OPTION("clear"), PORT_OUT},
     .list = CONTROL("pw_array")},
};

/* -- state -- */

typedef struct code_size { /* what a macro stands for */
    const char *macro;
    int n;
    bool
        given; /* the card decides it. If none of a module's sizes is given, the file's own serve */
} code_size;
typedef struct binder {
    elab *e;
    const flat_inst *in;
    const code_model *k;
    size_t at;          /* in in->rare->conn */
    int32_t *hi, *lo;   /* vec; unknowns of the connections of the port under way */
    bool *current;      /* vec; are they of type %i, %id */
    int32_t *terminal;  /* vec */
    uint8_t *connected; /* vec; per terminal */
    const char **flag;  /* vec; parameters that are 1: outputs that are currents */
    int port_n[MOST_PORT];
    int n_meter;
} binder;

elab_port elab_code_port(const char *type, int i)
{
    for (size_t k = 0; k < VS_COUNT(models) && i < MOST_PORT; k++)
        if (!strcmp(models[k].type, type))
            return (elab_port){.name = models[k].port[i].name,
                               .pair = PAIRS >> models[k].port[i].type & 1};
    return (elab_port){0};
}

const flat_conn *elab_conn_at(const flat_inst *in, size_t at)
{
    return at < vec_len(in->rare->conn) ? &in->rare->conn[at] : NULL;
}

diag_span elab_conn_span(const flat_inst *in, size_t at)
{
    const flat_conn *c = elab_conn_at(in, at);
    return c ? c->span : in->rare->model_span;
}

static int n_ports(const code_model *k)
{
    int n = 0;
    while (n < MOST_PORT && k->port[n].name)
        n++;
    return n;
}

/* "in [in ...] out" */
static const char *form(const binder *b)
{
    const char *s = "";
    for (int i = 0; i < n_ports(b->k); i++)
        s = elab_printf(b->e, b->k->port[i].least ? "%s%s[%s ...]" : "%s%s%s", s, i ? " " : "",
                        b->k->port[i].name);
    return s;
}

static const char *types_of(const binder *b, int allowed)
{
    const char *s = "";
    for (int i = 0; i < N_TYPE; i++)
        if (allowed >> i & 1)
            s = elab_printf(b->e, "%s%s%%%s", s, *s ? " " : "", type_text[i]);
    return s;
}

/* -- connections -- */

static bool refuse(binder *b, const char *what)
{
    diag_error(b->e->d, elab_conn_span(b->in, b->at), "%s: %s; the connections of '%s' are: %s",
               b->in->name, what, b->k->type, form(b));
    return false;
}

static bool take_type(binder *b, const code_port *p, int *type)
{
    const flat_conn *c = elab_conn_at(b->in, b->at);
    if (!c || c->kind != FLAT_CONN_TYPE)
        return true;
    for (int i = 0; i < N_TYPE; i++)
        if (!strcmp(c->type, type_text[i]) && p->allowed >> i & 1) {
            *type = i;
            b->at++;
            return true;
        }
    diag_error(b->e->d, c->span, "%s: port '%s' of '%s' is not of type '%%%s'; it may be %s",
               b->in->name, p->name, b->k->type, c->type, types_of(b, p->allowed));
    return false;
}

static bool take_node(binder *b, int32_t *node)
{
    const flat_conn *c = elab_conn_at(b->in, b->at);
    if (!c || c->kind != FLAT_CONN_NODE)
        return false;
    *node = b->e->node[b->in->node[c->index]];
    b->at++;
    return true;
}

/* A source of 0 V between the nodes, whose current is the input. */
static bool add_meter(binder *b, const code_port *p, int32_t *hi, int32_t *lo)
{
    const wave w = {.kind = WAVE_DC, .dc_given = true, .pwl_repeat = -1};
    const char *name = elab_printf(b->e, "%s#%s%d", b->in->name, p->name, b->n_meter++);
    name = str_intern0(b->e->names, name);
    if (ckt_add_vsource(b->e->c, name, *hi, *lo, &w, b->in->m, b->in->span) != VS_OK)
        return false;
    *hi = elab_branch(b->e, name);
    *lo = 0;
    return true;
}

/* connection = node | node node | source */
static bool take_connection(binder *b, const code_port *p, int type)
{
    int32_t hi, lo = 0;
    const flat_conn *c = elab_conn_at(b->in, b->at);
    if (c && c->kind == FLAT_CONN_INVERT)
        return refuse(b, "'~' inverts digital nodes only");
    if (type == T_VNAM) {
        if (!c || c->kind != FLAT_CONN_REF)
            return refuse(b, "the name of a voltage source is expected");
        b->at++;
        if (!elab_control_branch(b->e, b->in, b->in->rare->ref[c->index], &hi))
            return false;
    } else if (!take_node(b, &hi)) {
        return refuse(b, elab_printf(b->e, "a node is expected for port '%s'", p->name));
    } else if ((1 << type & PAIRS) && !take_node(b, &lo)) {
        return refuse(b, elab_printf(b->e, "port '%s' of type '%%%s' has two nodes", p->name,
                                     type_text[type]));
    }
    if (p->dir == IN && (1 << type & CURRENTS) && !add_meter(b, p, &hi, &lo))
        return false;
    vec_push(b->hi, hi);
    vec_push(b->lo, lo);
    vec_push(b->current, (1 << type & CURRENTS) != 0);
    return true;
}

static bool take_vector(binder *b, const code_port *p, int type)
{
    const flat_conn *c = elab_conn_at(b->in, b->at);
    if (!c || c->kind != FLAT_CONN_OPEN)
        return refuse(b, elab_printf(b->e, "port '%s' is a vector: [a b]", p->name));
    const diag_span open = c->span;
    for (b->at++; (c = elab_conn_at(b->in, b->at)) && c->kind != FLAT_CONN_CLOSE;)
        if (!take_type(b, p, &type) || !take_connection(b, p, type))
            return false;
    b->at++;
    if (vec_len(b->hi) >= (size_t)p->least)
        return true;
    diag_error(b->e->d, open, "%s: port '%s' of '%s' has %d connections or more, %zu given",
               b->in->name, p->name, b->k->type, p->least, vec_len(b->hi));
    return false;
}

static void push_terminals(binder *b, const int32_t *unknown, bool connected)
{
    for (size_t i = 0; i < vec_len(unknown); i++) {
        vec_push(b->terminal, connected ? unknown[i] : -1);
        vec_push(b->connected, connected);
    }
}

static bool take_port(binder *b, int i)
{
    const code_port *p = &b->k->port[i];
    int type = p->type;
    vec_clear(b->hi);
    vec_clear(b->lo);
    vec_clear(b->current);
    if (!take_type(b, p, &type))
        return false;
    const flat_conn *c = elab_conn_at(b->in, b->at);
    const bool null = p->null_ok && (!c || c->kind == FLAT_CONN_NULL);
    if (null) {
        b->at += c != NULL;
        vec_push(b->hi, 0);
        vec_push(b->lo, 0);
    } else if (!c || c->kind == FLAT_CONN_NULL) {
        return refuse(b, elab_printf(b->e, "port '%s' must be connected", p->name));
    } else if (!(p->least ? take_vector(b, p, type) : take_connection(b, p, type))) {
        return false;
    }
    b->port_n[i] = (int)vec_len(b->hi);
    push_terminals(b, b->hi, !null);
    push_terminals(b, b->lo, !null);
    if (p->dir == OUT && !null && vec_last(b->current))
        vec_push(b->flag, elab_printf(b->e, "%s_i", p->name));
    return true;
}

static bool take_ports(binder *b)
{
    for (int i = 0; i < n_ports(b->k); i++)
        if (!take_port(b, i))
            return false;
    return !elab_conn_at(b->in, b->at) || refuse(b, "there are more connections than ports");
}

/* -- lists, and the module -- */

/* Values of the list `name` on the card. */
static int list_length(const flat_model *m, const char *name)
{
    const size_t n = strlen(name);
    int count = 0;
    for (size_t i = 0; i < vec_len(m->param); i++)
        count += !strncmp(m->param[i].name, name, n) && m->param[i].name[n] == '[';
    return count;
}

static bool wrong_list(binder *b, const char *name, int have, const char *want)
{
    diag_error(b->e->d, b->in->rare->model->span, "model '%s': the list '%s' has %d value%s; %s",
               b->in->rare->model->name, name, have, have == 1 ? "" : "s", want);
    return false;
}

static const flat_param *list_entry(const flat_model *m, const char *name, int k)
{
    char key[64];
    snprintf(key, sizeof key, "%.40s[%d]", name, k);
    return elab_card_param(m->param, key);
}

static bool check_values(binder *b, const code_list *l, int n)
{
    const flat_model *m = b->in->rare->model;
    const flat_param *last = NULL;
    for (int k = 0; k < n && l->rule; k++) {
        const flat_param *p = list_entry(m, l->name, k);
        if (!p)
            continue;
        if (l->rule == RISING && last && !(p->value > last->value)) {
            diag_error(b->e->d, p->span, "model '%s': the values of '%s' do not rise: %g after %g",
                       m->name, l->name, p->value, last->value);
            return false;
        }
        if (l->rule == LEADS && !k && p->value == 0) {
            diag_error(b->e->d, p->span, "model '%s': the first value of '%s' is 0", m->name,
                       l->name);
            return false;
        }
        last = p;
    }
    return true;
}

static int port_size(const binder *b, const char *name)
{
    for (int i = 0; i < n_ports(b->k); i++)
        if (!strcmp(b->k->port[i].name, name))
            return b->port_n[i];
    return -1;
}

static bool check_list(binder *b, const code_list *l, code_size **size)
{
    const int n = list_length(b->in->rare->model, l->name);
    const flat_param *bare =
        elab_card_param(b->in->rare->model->param, l->name); /* without brackets */
    if (bare) {
        diag_error(b->e->d, bare->span, "model '%s': parameter '%s' is a list: %s=[1 2]",
                   b->in->rare->model->name, l->name, l->name);
        return false;
    }
    if (l->like) {
        const int port = port_size(b, l->like),
                  other = port >= 0 ? port : list_length(b->in->rare->model, l->like);
        if (n != other && (n || port < 0))
            return wrong_list(
                b, l->name, n,
                elab_printf(b->e, port >= 0 ? "port '%s' has %d connections" : "list '%s' has %d",
                            l->like, other));
        return true;
    }
    if (l->most && n > list_length(b->in->rare->model, l->most))
        return wrong_list(b, l->name, n,
                          elab_printf(b->e, "'%s' has only %d", l->most,
                                      list_length(b->in->rare->model, l->most)));
    if (n < l->least && (n || !l->absent))
        return wrong_list(b, l->name, n, elab_printf(b->e, "%d or more are needed", l->least));
    if (!check_values(b, l, n))
        return false;
    vec_push(*size, (code_size){l->macro, n ? n : l->absent, n > 0});
    return true;
}

/* The module for these sizes. */
static mdl_model *module_for(binder *b, const code_size *size)
{
    elab *e = b->e;
    const char *name = b->k->module, *macros = "";
    bool given = false;
    for (size_t i = 0; i < vec_len(size); i++)
        given |= size[i].given;
    for (size_t i = 0; given && i < vec_len(size); i++) {
        name = elab_printf(e, "%s_%d", name, size[i].n);
        macros = elab_printf(e, "%s`define %s %d\n", macros, size[i].macro, size[i].n);
    }
    if (!given)
        return elab_module(e, name, b->in->span);
    mdl_model *m = mdl_find(e->lib, name);
    if (m)
        return m;
    const char *text =
        elab_printf(e, "`define XS_NAME %s\n%s`include \"%s.va\"\n", name, macros, b->k->module);
    if (mdl_load_text(e->lib, name, text) != VS_OK) {
        diag_note(e->d, b->in->span, "in the module made for '%s'", b->in->name);
        return NULL;
    }
    return mdl_find(e->lib, name);
}

static mdl_model *find_module(binder *b)
{
    code_size *size = NULL;
    bool ok = true;
    for (int i = 0; i < n_ports(b->k); i++)
        if (b->k->port[i].macro)
            vec_push(size, (code_size){b->k->port[i].macro, b->port_n[i], true});
    for (int i = 0; i < MOST_LIST && b->k->list[i].name; i++)
        ok &= check_list(b, &b->k->list[i], &size);
    mdl_model *m = ok ? module_for(b, size) : NULL;
    vec_free(size);
    return m;
}

/* Makes a cmeter or lmeter: a gain whose constant is the measured sum and whose input is ground. */
static bool measure(binder *b, mdl_model *m, mdl_given **given)
{
    double value = 0;
    if (!elab_meter_letter(b->in))
        return true;
    if (!elab_meter(b->e, b->in, &value))
        return false;
    b->terminal[0] = b->terminal[1] = 0;
    vec_push(*given, (mdl_given){elab_param(b->e, m, "in_offset"), value, DIAG_NOWHERE});
    return true;
}

static vs_status add_module(binder *b)
{
    mdl_model *m = find_module(b);
    if (!m)
        return VS_EINPUT;
    mdl_given *given = NULL;
    vs_status st = elab_given(b->e, b->in->rare->model, m, &given) ? VS_OK : VS_EINPUT;
    for (size_t i = 0; i < vec_len(b->flag); i++)
        vec_push(given, (mdl_given){elab_param(b->e, m, b->flag[i]), 1, DIAG_NOWHERE});
    if (st == VS_OK && !measure(b, m, &given))
        st = VS_EINPUT;
    if (st == VS_OK)
        st = elab_add(b->e, b->in, m, given, vec_len(given), b->terminal, b->connected,
                      elab_kelvin(b->e), b->in->m);
    vec_free(given);
    return st;
}

static bool has_needed(binder *b)
{
    for (size_t i = 0; i < VS_COUNT(b->k->need) && b->k->need[i]; i++)
        if (!elab_card_param(b->in->rare->model->param, b->k->need[i])) {
            diag_error(b->e->d, b->in->rare->model->span, "model '%s': '%s' needs a value for '%s'",
                       b->in->rare->model->name, b->k->type, b->k->need[i]);
            return false;
        }
    return true;
}

/* Warns of a parameter without effect, once for each model card. */
static void report_idle(binder *b)
{
    const flat_model *m = b->in->rare->model;
    const flat_param *p = b->k->idle ? elab_card_param(m->param, b->k->idle) : NULL;
    if (p && !diag_said(b->e->d, p->span))
        diag_warning(b->e->d, p->span, "model '%s': parameter '%s' of '%s' has no effect here",
                     m->name, p->name, b->k->type);
}

/* -- code models by name -- */

static const code_model *find_code(elab *e, const flat_inst *in)
{
    const char *type = in->rare->model->type, **cand = NULL;
    for (size_t i = 0; i < VS_COUNT(models); i++)
        if (!strcmp(models[i].type, type))
            return &models[i];
    if (mdl_find(e->lib, type)) {
        diag_error(
            e->d, in->rare->model_span,
            "%s: '%s' is a device or a Verilog-A module, not a code model; its elements have "
            "another letter (N for a module)",
            in->name, type);
        return NULL;
    }
    for (size_t i = 0; i < VS_COUNT(models); i++)
        vec_push(cand, models[i].type);
    elab_digital_types(&cand);
    diag_error(e->d, in->rare->model->span, "model '%s': there is no code model '%s'",
               in->rare->model->name, type);
    diag_suggest(e->d, type, cand, vec_len(cand));
    vec_free(cand);
    return NULL;
}

vs_status elab_code(elab *e, const flat_inst *in)
{
    if (!in->rare->model) {
        elab_unknown_model(e, in);
        for (size_t i = 0; in->rare->word && i < VS_COUNT(models); i++)
            if (!strcmp(in->rare->word, models[i].type))
                diag_note(e->d, DIAG_NOWHERE, "a code model has a card: .model NAME %s(...)",
                          in->rare->word);
        return VS_EINPUT;
    }
    if (elab_is_digital(in->rare->model->type))
        return elab_digital(e, in);
    binder b = {.e = e, .in = in, .k = find_code(e, in)};
    vs_status st = b.k && has_needed(&b) && take_ports(&b) ? VS_OK : VS_EINPUT;
    if (st == VS_OK)
        report_idle(&b);
    if (st == VS_OK && b.k->module)
        st = add_module(&b);
    else if (st == VS_OK && !strncmp(b.k->type, "table", 5))
        st = elab_table(e, in, n_ports(b.k) - 1, b.terminal, vec_last(b.current));
    else if (st == VS_OK)
        st = elab_filesource(e, in, b.hi, b.lo, b.current, vec_len(b.hi));
    vec_free(b.hi);
    vec_free(b.lo);
    vec_free(b.terminal);
    vec_free(b.connected);
    vec_free(b.current);
    vec_free(b.flag);
    return st;
}
