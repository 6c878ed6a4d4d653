/* sim_reduce.c - option rcreduce: wires as extracted, of resistors and capacitors, lose nodes that
 * nobody looks at (num/rcnet.h). A node stays if anything else than a plain resistor or capacitor
 * is connected to it, or if a card, a command or the client names it; so does an element that is
 * named, with its nodes. Values are numbers here: after a change of a parameter the netlist is
 * expanded and reduced again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rcnet.h"
#include "sim_priv.h"
#include "vec.h"

typedef struct work {
    sim *s;
    flat *f;
    map named;     /* interned words of cards and commands */
    bool *keep;    /* [nodes] */
    int32_t *edge; /* [instances] of net; -1: it is no part of it */
    rcnet *net;
} work;

static const char separators[] = " \t\r\n()=,'\"{}[]@", operators[] = "+-*/^<>&|!?;~%";

static void take_word(work *w, const char *at, size_t len)
{
    if (len)
        map_set(&w->named, map_key(str_intern_lower(w->s->names, at, len)), 1);
}

/* The words of a text: as names may have them, and between operators. */
static void take_text(work *w, const char *text, size_t len)
{
    for (size_t i = 0, word = 0, part = 0; i <= len; i++) {
        const bool end = i == len || !text[i] || strchr(separators, text[i]);
        if (!end && !strchr(operators, text[i]))
            continue;
        take_word(w, text + part, i - part);
        part = i + 1;
        if (end) {
            take_word(w, text + word, i - word);
            word = i + 1;
        }
    }
}

/* Cards that say what there is, not what is looked at. */
static bool is_of_netlist(net_card_kind k)
{
    switch (k) {
    case NET_CARD_PARAM:
    case NET_CARD_FUNC:
    case NET_CARD_CSPARAM:
    case NET_CARD_FOR:
    case NET_CARD_SUBCKT:
    case NET_CARD_ENDS:
    case NET_CARD_MODEL:
    case NET_CARD_INCLUDE:
    case NET_CARD_LIB:
    case NET_CARD_GLOBAL:
    case NET_CARD_OPTION:
    case NET_CARD_HDL:
    case NET_CARD_SPEF:
    case NET_CARD_TITLE: return true;
    default: return false;
    }
}

static bool is_of_interest(const net_line *l) { return !l->is_element && !is_of_netlist(l->kind); }

static void take_card(work *w, const net_card *c)
{
    if (c->n_tok < 2)
        return;
    const net_tok *last = &c->tok[c->n_tok - 1];
    const uint32_t from = c->tok[1].off;
    const char *text = diag_text(w->s->d, c->file);
    if (text && last->off >= from)
        take_text(w, text + from, last->off + last->len - from);
}

static void take_list(work *w, const char *const *list)
{
    for (size_t i = 0; i < vec_len(list); i++)
        take_text(w, list[i], strlen(list[i]));
}

static void take_expr(work *w, const net_expr *e)
{
    if (e->op == NET_VNODE)
        for (int k = 0; k < 2; k++)
            w->keep[e->node[k]] = true;
    if (e->op == NET_IBRANCH)
        map_set(&w->named, map_key(e->name), 1);
    for (int32_t i = 0; i < e->n_arg; i++)
        take_expr(w, e->arg[i]);
}

static void find_names(work *w)
{
    sim *s = w->s;
    for (size_t i = 0; i < vec_len(s->deck.top->line); i++)
        if (is_of_interest(&s->deck.top->line[i]))
            take_card(w, s->deck.top->line[i].card);
    for (size_t i = 0; i < vec_len(s->deck.control); i++) {
        const diag_span at = s->deck.control[i];
        const char *text = diag_text(s->d, at.file);
        if (text)
            take_text(w, text + at.off, at.len);
    }
    take_list(w, s->opt.save);
    take_list(w, s->opt.keep_name);
    take_list(w, s->deck.metered);
    for (size_t i = 0; i < vec_len(s->change); i++)
        map_set(&w->named, map_key(s->change[i].name), 1);
    for (size_t i = 0; i < vec_len(w->f->inst); i++) {
        const flat_inst *in = &w->f->inst[i];
        for (size_t k = 0; k < vec_len(in->rare->ref); k++)
            map_set(&w->named, map_key(in->rare->ref[k]), 1);
        if (in->rare->expr)
            take_expr(w, in->rare->expr);
    }
}

static void keep_node(work *w, int32_t node)
{
    if (node > 0)
        w->keep[node] = true;
}

/* Nodes of cards, whose names may be those of a subcircuit's inside. */
static void keep_nodes_of_cards(work *w)
{
    const flat *f = w->f;
    for (size_t i = 0; i < vec_len(f->ic); i++)
        keep_node(w, f->ic[i].node);
    for (size_t i = 0; i < vec_len(f->nodeset); i++)
        keep_node(w, f->nodeset[i].node);
    for (size_t i = 0; i < vec_len(f->save); i++) {
        if (f->save[i].expr)
            take_expr(w, f->save[i].expr);
        for (int k = 0; k < 2; k++)
            keep_node(w, f->save[i].node[k]);
    }
    for (size_t i = 0; i < vec_len(f->ana); i++)
        for (int k = 0; k < 2; k++) {
            keep_node(w, f->ana[i].out[k]);
            keep_node(w, f->ana[i].in[k]);
        }
    for (size_t i = 1; i < vec_len(f->node); i++)
        w->keep[i] |= map_get(&w->named, map_key(f->node[i]), 0) != 0;
}

/* Its conductance or capacitance, if it is a plain resistor or capacitor that nobody names. */
static bool is_plain(const work *w, const flat_inst *in, double *g, double *c)
{
    flat_room room;
    const flat_param *p = flat_params(in, &room);
    *g = *c = 0;
    if ((in->letter != 'r' && in->letter != 'c') || in->n_node != 2 || in->node[0] == in->node[1] ||
        in->rare->model || in->rare->expr || in->rare->word || in->rare->ic_given ||
        vec_len(p) != 1 || p[0].str || !(in->m > 0 && in->m < INFINITY) ||
        map_get(&w->named, map_key(in->name), 0))
        return false;
    const char *key = p[0].name;
    const double value = p[0].value;
    if (strcmp(key, "value") && (key[0] != in->letter || key[1]))
        return false;
    if (in->letter == 'r')
        *g = in->m / value;
    else
        *c = in->m * value;
    return value > 0 && isfinite(*g) && isfinite(*c) && *g + *c > 0;
}

static void make_net(work *w)
{
    const int32_t n = (int32_t)vec_len(w->f->node);
    double g, c;
    for (size_t i = 0; i < vec_len(w->f->inst); i++) {
        const flat_inst *in = &w->f->inst[i];
        for (int32_t k = 0; !is_plain(w, in, &g, &c) && k < in->n_node; k++)
            keep_node(w, in->node[k]);
    }
    w->net = rcnet_new(n, w->keep);
    for (size_t i = 0; i < vec_len(w->f->inst); i++) {
        const flat_inst *in = &w->f->inst[i];
        w->edge[i] =
            is_plain(w, in, &g, &c) ? rcnet_add(w->net, in->node[0], in->node[1], g, c) : -1;
    }
}

/* A plain element of the value between the nodes of an edge. */
static flat_inst made(work *w, char letter, int32_t number, const rcnet_edge *e, double value)
{
    arena *mem = w->f->mem;
    char name[32];
    snprintf(name, sizeof name, "%c#rc%d", letter, (int)number);
    flat_inst in = {.name = str_intern0(w->s->names, name),
                    .letter = letter,
                    .n_node = 2,
                    .node = arena_array(mem, int32_t, 2),
                    .rare = &flat_no_rare,
                    .param = vec_fixed(mem, flat_param, 1),
                    .m = 1,
                    .span = DIAG_NOWHERE};
    in.node[0] = e->a;
    in.node[1] = e->b;
    in.param[0] = (flat_param){str_intern0(w->s->names, "value"), value, NULL, DIAG_NOWHERE};
    return in;
}

static bool stays(const work *w, const rcnet_edge *edge, size_t inst)
{
    const int32_t k = w->edge[inst];
    return k < 0 || !(edge[k].made || edge[k].gone);
}

/* The instances that there are now: those whose edge is as it was, then what edges became. */
static void rewrite(work *w)
{
    int32_t n_edge;
    const rcnet_edge *edge = rcnet_edges(w->net, &n_edge);
    sim_reduced *r = &w->s->reduced;
    flat_inst *now = NULL;
    for (size_t i = 0; i < vec_len(w->f->inst); i++)
        if (stays(w, edge, i))
            vec_push(now, w->f->inst[i]);
    r->elements_before = (int64_t)vec_len(w->f->inst);
    r->made = -(int64_t)vec_len(now);
    for (int32_t k = 0; k < n_edge; k++) {
        if (!edge[k].made || edge[k].gone)
            continue;
        if (edge[k].g > 0)
            vec_push(now, made(w, 'r', k, &edge[k], 1 / edge[k].g));
        if (edge[k].c != 0)
            vec_push(now, made(w, 'c', k, &edge[k], edge[k].c));
    }
    r->elements = (int64_t)vec_len(now);
    r->made += r->elements;
    vec_freeze(w->f->mem, now);
    w->f->inst = now;
}

void sim_reduce(sim *s)
{
    static const double turn = 6.283185307179586;
    s->reduced = (sim_reduced){.tolerance = s->option.rcreduce, .freq = s->option.rcfreq};
    s->flat.gone = NULL;
    if (!(s->option.rcreduce > 0))
        return;
    const size_t n = vec_len(s->flat.node);
    work w = {.s = s,
              .f = &s->flat,
              .keep = vs_calloc(n + 1, sizeof *w.keep),
              .edge = vs_calloc(vec_len(s->flat.inst) + 1, sizeof *w.edge)};
    find_names(&w);
    keep_nodes_of_cards(&w);
    make_net(&w);
    s->flat.gone = arena_array(s->flat.mem, bool, n + 1);
    s->reduced.bound =
        rcnet_reduce(w.net, s->option.rcreduce, turn * s->option.rcfreq, s->flat.gone);
    rewrite(&w);
    for (size_t i = 0; i < n; i++)
        s->reduced.nodes += s->flat.gone[i];
    s->reduced.nodes_before = (int64_t)n - 1;
    map_free(&w.named);
    rcnet_free(&w.net);
    vs_free(w.keep);
    vs_free(w.edge);
}

const sim_reduced *sim_reduction(const sim *s) { return &s->reduced; }
