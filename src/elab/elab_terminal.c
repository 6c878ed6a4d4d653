/* elab_terminal.c - names of terminals that only a module or a code model tells: of N elements the
 * module's, of A and digital U elements those of their ports (flat_terminals). */
#include "elab_priv.h"

#include <stdio.h>
#include <string.h>

/* -- A and U elements -- */

typedef struct reader {
    str_pool *names;
    const flat_inst *in;
    size_t at; /* in the list of connections */
    elab_port port;
    bool pair; /* two nodes a connection */
    flat_terminal *terminal;
} reader;

static const flat_conn *next(const reader *r) { return elab_conn_at(r->in, r->at); }

static bool is_next(const reader *r, flat_conn_kind kind)
{
    return next(r) && next(r)->kind == kind;
}

static void take_type(reader *r)
{
    if (!is_next(r, FLAT_CONN_TYPE))
        return;
    const char *type = next(r)->type;
    r->pair = strlen(type) == 2 && type[1] == 'd';
    r->at++;
}

static void take_node(reader *r, const char *name)
{
    if (is_next(r, FLAT_CONN_NODE))
        r->terminal[next(r)->index] = (flat_terminal){name, r->port.is_digital};
    r->at++;
}

/* connection = ["%" type] ["~"] (node [node] | source | "null") */
static void take_connection(reader *r)
{
    take_type(r);
    if (is_next(r, FLAT_CONN_INVERT))
        r->at++;
    const bool node = is_next(r, FLAT_CONN_NODE);
    take_node(r, r->port.name);
    if (node && r->pair) {
        char text[64];
        snprintf(text, sizeof text, "%s_n", r->port.name);
        take_node(r, str_intern0(r->names, text));
    }
}

static void take_ports(reader *r)
{
    const char *type = r->in->rare->model->type;
    for (int i = 0; next(r); i++) {
        r->port = elab_is_digital(type) ? elab_digital_port(type, i) : elab_code_port(type, i);
        if (!r->port.name)
            return;
        r->pair = r->port.pair;
        take_type(r);
        if (!is_next(r, FLAT_CONN_OPEN)) {
            take_connection(r);
            continue;
        }
        for (r->at++; next(r) && !is_next(r, FLAT_CONN_CLOSE);)
            take_connection(r);
        r->at++;
    }
}

static void name_pins(const flat_inst *in, flat_terminal *t)
{
    const flat_gate *gate = in->rare->logic->gate;
    for (size_t i = 0; i < vec_len(gate); i++)
        for (size_t k = 0; k < vec_len(gate[i].pin); k++) {
            const int32_t at = gate[i].pin[k].at;
            if (at >= 0 && at < (int32_t)in->n_node && !t[at].name)
                t[at] = (flat_terminal){elab_logic_port(&gate[i], k), true};
        }
}

/* -- N elements -- */

static void name_osdi(const osdi_module *m, const flat_inst *in, flat_terminal *t)
{
    for (int32_t i = 0; i < (int32_t)in->n_node && i < m->n_terminal; i++)
        t[i].name = m->node[i].name;
}

static void name_module(mdl_model *m, const flat_inst *in, flat_terminal *t)
{
    const va_module *v = mdl_module(m);
    for (int32_t i = 0; i < (int32_t)in->n_node && i < v->n_port; i++)
        t[i].name = v->unknown[i].name;
}

static void find_module(const elab_names *who, const flat_inst *in, flat_terminal *t)
{
    const diag_mark mark = diag_try(who->d); /* elab_circuit says it */
    elab e = {.d = who->d, .names = who->names, .lib = who->lib, .f = who->f};
    arena_init(&e.mem);
    elab_binding b = {0};
    if (elab_load_models(&e) == VS_OK) {
        if (in->rare->model)
            b = elab_find_binding(&e, in->rare->model);
        else if (in->rare->word && !(b.osdi = mdl_find_osdi(e.lib, in->rare->word)))
            b.mdl = mdl_find(e.lib, in->rare->word);
    }
    if (b.osdi)
        name_osdi(b.osdi, in, t);
    else if (b.mdl)
        name_module(b.mdl, in, t);
    elab_fini(&e);
    diag_take_back(who->d, mark);
}

void elab_terminal_names(void *names, const flat_inst *in, flat_terminal *t)
{
    elab_names *who = names;
    reader r = {.names = who->names, .in = in, .terminal = t};
    if (in->letter == 'n' && who->lib)
        find_module(who, in, t);
    else if (in->letter == 'u' && in->rare->logic)
        name_pins(in, t);
    else if (in->letter == 'a' && in->rare->model)
        take_ports(&r);
}
