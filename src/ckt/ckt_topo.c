/* ckt_topo.c - is there exactly one dc solution, as far as the structure tells?
 *
 * Two unknowns are joined if each appears in the other's static equation: resistors and junctions
 * join nodes, voltage-defined branches join their nodes through the branch current, a controlled
 * source does not join its output to its control. A set that does not contain ground has no dc
 * path: its level is not determined. A device whose current in a node returns through ground shows
 * as a diagonal entry without a partner and joins the node to ground. (If no branch of the device
 * ends at ground, the current returns through its other terminals, and joins nothing.) Temperatures
 * follow voltages and these follow them, which holds no level: branches tell what flows between. In
 * time charges join nodes, too: what neither they nor conductances join to ground, as the isolated
 * side of a transformer with its capacitors, has no level there either. Voltage-defined branches in
 * a loop: their currents are not determined (or their voltages disagree). */
#include "ckt_priv.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NAMED = 4, MAX_WARNINGS = 10 };

/* up[0] = APART: nothing joins ground. */
enum { APART = -1 };

static int32_t find(int32_t *up, int32_t i)
{
    while (up[i] != i && up[i] != APART)
        i = up[i] = up[up[i]];
    return i;
}

static bool join(int32_t *up, int32_t a, int32_t b)
{
    a = find(up, a);
    b = find(up, b);
    if (a == b || up[a] == APART || up[b] == APART)
        return false;
    if (a < b) /* the smallest is the root: ground stays 0 */
        up[b] = a;
    else
        up[a] = b;
    return true;
}

static int32_t *new_sets(const ckt *c)
{
    int32_t *up = NULL;
    vec_extend(up, vec_len(c->unknown));
    for (size_t i = 0; i < vec_len(up); i++)
        up[i] = (int32_t)i;
    return up;
}

/* -- who is connected to a node -- */

typedef struct touch {
    const char *name;
    diag_span span;
} touch;

/* Terminals at each unknown; the last of them, when somebody asks: most circuits have nothing to
 * tell of. */
typedef struct touches {
    const ckt *c;
    int32_t *count; /* vec */
    touch *last;    /* vec; NULL: nobody has asked */
} touches;

static void count_native(void *user, const nat_device *d)
{
    for (int32_t j = 0; j < d->n_node; j++)
        ((int32_t *)user)[d->node[j]]++;
}

/* What a port counts: a temperature may be left to itself. */
static int32_t weight_of(const va_unknown *port)
{
    return port->discipline && strcmp(port->discipline, "electrical") != 0 ? 2 : 1;
}

static touches count_touches(const ckt *c)
{
    touches t = {.c = c};
    int32_t *weight = NULL; /* vec, of the ports of `last` */
    const mdl_model *last = NULL;
    vec_extend(t.count, vec_len(c->unknown));
    for (size_t i = 0; i < vec_len(c->inst); i++) {
        const ckt_inst *in = &c->inst[i];
        if (in->model != last) {
            const va_module *m = mdl_module(last = in->model);
            vec_clear(weight);
            for (int32_t u = 0; u < m->n_port; u++)
                vec_push(weight, weight_of(&m->unknown[u]));
        }
        for (size_t u = 0; u < vec_len(weight); u++)
            t.count[c->unk[in->first + (int32_t)u]] += weight[u];
    }
    vec_free(weight);
    nat_each(&c->nat, false, count_native, t.count);
    nat_each(&c->nat, true, count_native, t.count);
    return t;
}

static void free_touches(touches *t)
{
    vec_free(t->count);
    vec_free(t->last);
}

static void touch_native(void *user, const nat_device *d)
{
    for (int32_t j = 0; j < d->n_node; j++)
        ((touch *)user)[d->node[j]] = (touch){d->name, d->span};
}

static const touch *last_touch(touches *t, int32_t unknown)
{
    const ckt *c = t->c;
    if (t->last)
        return &t->last[unknown];
    vec_extend(t->last, vec_len(c->unknown));
    for (size_t i = 0; i < vec_len(c->inst); i++) {
        const ckt_inst *in = &c->inst[i];
        for (int32_t u = 0; u < mdl_module(in->model)->n_port; u++)
            t->last[c->unk[in->first + u]] = (touch){in->name, ckt_inst_span(in)};
    }
    nat_each(&c->nat, false, touch_native, t->last);
    nat_each(&c->nat, true, touch_native, t->last);
    return &t->last[unknown];
}

/* -- paths to ground -- */

/* Static matrix entries, sorted, each once: a vec that is made when somebody asks. Most circuits
 * are known to be whole without it. */
typedef struct entries {
    const ckt *c;
    bool have;
    csc_entry *dc;
    csc_entry
        *rest; /* those of them that are not 0 at rest (a capacitance that follows a voltage has
                        static entries times a rate of change); NULL: all */
    csc_entry *own; /* those of rest that are not gmin's; NULL: not made */
} entries;

static csc_entry *list_entries(const ckt *c, void (*of_devices)(const ckt *, csc_entry **))
{
    csc_entry *e = NULL;
    of_devices(c, &e);
    nat_joins(&c->nat, false, &e);
    ckt_sort_entries(c, e);
    return e;
}

static void static_entries(const ckt *c, csc_entry **e) { ckt_device_entries(c, MDL_DC, e); }

static const csc_entry *all_entries(entries *s)
{
    if (!s->have) {
        s->dc = list_entries(s->c, static_entries);
        s->rest = ckt_has_still(s->c) ? list_entries(s->c, ckt_rest_entries) : NULL;
    }
    s->have = true;
    return s->dc;
}

static const csc_entry *rest_entries(entries *s)
{
    const csc_entry *dc = all_entries(s);
    return s->rest ? s->rest : dc;
}

static const csc_entry *own_entries(entries *s)
{
    if (!s->own)
        s->own = list_entries(s->c, ckt_own_entries);
    return s->own;
}

/* What the branches of a module join: [unknowns of the model]. Currents within a net sum to zero if
 * no branch of it ends at ground, and depend on differences of its voltages alone if no probe does.
 * An unknown that is the current of a branch is in the branch's net. */
typedef struct nets {
    int32_t *of;    /* its net */
    bool *grounded; /* of each net: a branch ends at ground */
} nets;

static nets find_nets(const mdl_model *model)
{
    const va_module *m = mdl_module(model);
    nets s = {0};
    vec_extend(s.of, mdl_n_unknown(model));
    vec_extend(s.grounded, mdl_n_unknown(model));
    for (size_t i = 0; i < vec_len(s.of); i++)
        s.of[i] = (int32_t)i;
    for (size_t b = 0; b < vec_len(m->branch); b++) {
        const va_branch *br = &m->branch[b];
        const int32_t end = br->hi < 0 ? br->lo : br->hi;
        if (br->hi >= 0 && br->lo >= 0)
            join(s.of, br->hi, br->lo);
        if (end >= 0 && br->current >= 0)
            join(s.of, end, br->current);
    }
    for (size_t i = 0; i < vec_len(s.of); i++)
        s.of[i] = find(s.of, (int32_t)i);
    for (size_t b = 0; b < vec_len(m->branch); b++) {
        const va_branch *br = &m->branch[b];
        if ((br->hi < 0) != (br->lo < 0))
            s.grounded[s.of[br->hi < 0 ? br->lo : br->hi]] = true;
    }
    return s;
}

static void free_nets(nets *s)
{
    vec_free(s->of);
    vec_free(s->grounded);
}

/* Two unknowns of which one is in a net that floats, and the other in one that ends at ground, as
 * those of a device and its temperature. */
static bool are_apart(const nets *s, int32_t a, int32_t b)
{
    return s->of[a] != s->of[b] && s->grounded[s->of[a]] != s->grounded[s->of[b]];
}

/* An entry that joins: at rest, a conductance. */
static bool holds(const mdl_out *o, mdl_form_kind form)
{
    if (form == MDL_DC)
        return o->kind == IR_OUT_G && !o->still;
    return o->kind == IR_OUT_G || o->kind == IR_OUT_C || o->kind == IR_OUT_J;
}

/* An output of a form that holds something: G(a,a); G(a,b) with a pair, with one that is apart, or
 * with one where one of the two is gmin's alone, which joins nothing. Others join nothing. */
typedef struct hold {
    enum { OWN, PAIR, PAIR_APART, PAIR_BY_GMIN } kind;
    int32_t a, b;
} hold;

/* by_gmin [n_out]. */
static void list_holds(const dev_form *f, const nets *net, mdl_form_kind form, const bool *by_gmin,
                       hold **list)
{
    vec_clear(*list);
    for (int32_t k = 0; k < f->n_out; k++) {
        const mdl_out *o = &f->variant->out[k];
        bool paired = o->a == o->b && !by_gmin[k], weak = by_gmin[k];
        for (int32_t j = 0; j < f->n_out && !paired && o->a != o->b; j++) {
            const mdl_out *p = &f->variant->out[j];
            paired = holds(p, form) && p->a == o->b && p->b == o->a;
            weak |= paired && by_gmin[j];
        }
        if (holds(o, form) && paired)
            vec_push(*list, ((hold){o->a == o->b                 ? OWN
                                    : are_apart(net, o->a, o->b) ? PAIR_APART
                                    : weak                       ? PAIR_BY_GMIN
                                                                 : PAIR,
                                    o->a, o->b}));
    }
}

/* Currents of two branches, as those of coupled windings: they say nothing of voltages. */
static bool are_currents(const ckt *c, int32_t a, int32_t b)
{
    return a && b && !c->unknown[a].node && !c->unknown[b].node;
}

/* Where the current of unknown u of an instance can return: pairs (of u, of that) to the end of
 * *e; of u and ground if a branch of the module ends there. */
static void add_returns(const mdl_model *model, const nets *net, const int32_t *to, int32_t u,
                        csc_entry **e)
{
    if (net->grounded[net->of[u]] || mdl_unknown(model, u)->kind > VA_NODE)
        vec_push(*e, csc_entry_of(to[u], 0));
    for (int32_t k = 0; k < mdl_module(model)->n_port; k++)
        if (to[k] != to[u] && net->of[k] == net->of[u])
            vec_push(*e, csc_entry_of(to[u], to[k]));
}

/* Joins pairs G(a,b), G(b,a) of a device, and with ground the nodes where a device has G(a,a) but
 * no pair, and where its current returns is in another set. *apart, if not NULL, gets pairs that
 * join nothing. gmin: what it brings counts. */
static void join_devices(const ckt *c, mdl_form_kind form, bool gmin, int32_t *up,
                         csc_entry **apart)
{
    bool *has_diag = NULL, *has_pair = NULL, *by_gmin = NULL;
    hold *list = NULL;
    csc_entry *returns = NULL;
    vec_extend(has_diag, vec_len(c->unknown));
    vec_extend(has_pair, vec_len(c->unknown));
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        const dev_form *f = &g->form[form];
        if (!f->variant)
            continue;
        nets net = find_nets(g->model);
        vec_clear(by_gmin);
        vec_extend(by_gmin, f->n_out);
        for (int32_t i = 0; i < g->nb; i++) {
            const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
            const bool own = !gmin && ckt_has_own_row(g, i);
            if (own)
                ckt_outputs_by_gmin(g, form, i, by_gmin);
            if (i == 0 || own)
                list_holds(f, &net, form, by_gmin, &list);
            for (size_t k = 0; k < vec_len(list); k++) {
                const int32_t a = to[list[k].a], b = to[list[k].b];
                if (list[k].kind == OWN)
                    has_diag[a] = true;
                if (list[k].kind == PAIR_APART && apart)
                    vec_push(*apart, csc_entry_of(a, b));
                const bool pair = list[k].kind == PAIR || list[k].kind == PAIR_BY_GMIN;
                if (pair && (form == MDL_DC || !are_currents(c, a, b))) {
                    has_pair[a] = true;
                    if (list[k].kind == PAIR)
                        join(up, a, b);
                }
            }
            for (int32_t u = 0; u < f->n_u; u++) {
                if (has_diag[to[u]] && !has_pair[to[u]])
                    add_returns(g->model, &net, to, u, &returns);
            }
            for (int32_t u = 0; u < f->n_u; u++)
                has_diag[to[u]] = has_pair[to[u]] = false;
        }
        free_nets(&net);
    }
    vec_free(list);
    vec_free(by_gmin);
    for (size_t i = 0; i < vec_len(returns); i++)
        if (find(up, csc_entry_row(returns[i])) != find(up, csc_entry_col(returns[i])))
            join(up, csc_entry_row(returns[i]), 0);
    vec_free(has_diag);
    vec_free(has_pair);
    vec_free(returns);
}

/* A branch current that only one node has: V(a) <+ ... with the other end at ground, which is no
 * unknown. */
static void join_branches(const ckt *c, int32_t *up)
{
    int32_t *pairs = NULL;
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        const dev_form *f = &g->form[MDL_DC];
        vec_clear(pairs);
        vec_extend(pairs, f->n_u);
        memset(pairs, 0, (size_t)f->n_u * sizeof *pairs);
        for (int32_t k = 0; k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (o->kind != IR_OUT_G || o->still || mdl_unknown(g->model, o->a)->kind != VA_CURRENT)
                continue;
            for (int32_t j = 0; j < f->n_out; j++) {
                const mdl_out *p = &f->variant->out[j];
                if (p->kind == IR_OUT_G && !p->still && p->a == o->b && p->b == o->a)
                    pairs[o->a] += o->a == o->b ? 2 : 1;
            }
        }
        for (int32_t u = 0; u < f->n_u; u++)
            for (int32_t i = 0; i < g->nb && pairs[u] == 1; i++)
                join(up, f->map[(size_t)i * (size_t)f->n_u + (size_t)u], 0);
    }
    vec_free(pairs);
}

static void warn_floating(const ckt *c, int32_t *up, int32_t root, diag_span at)
{
    char text[256];
    size_t len = 0;
    int more = 0, named = 0;
    for (int32_t k = root; k < (int32_t)vec_len(up); k++) {
        if (find(up, k) != root || !c->unknown[k].node || c->unknown[k].closed)
            continue;
        const size_t need = strlen(c->unknown[k].name) + 5;
        if (named == MAX_NAMED || len + need >= sizeof text) {
            more++;
            continue;
        }
        len += (size_t)snprintf(text + len, sizeof text - len, "%s'%s'", named ? ", " : "",
                                c->unknown[k].name);
        named++;
    }
    if (!named)
        diag_warning(c->d, at, "%d nodes without a dc path to ground", more);
    else if (more)
        diag_warning(c->d, at,
                     "no dc path to ground from nodes %s and %d more; "
                     "gmin to ground is added",
                     text, more);
    else
        diag_warning(c->d, at, "no dc path to ground from node%s %s; gmin to ground is added",
                     named > 1 ? "s" : "", text);
}

/* For each root: has its set a row with a charge? */
static bool *charged_sets(const ckt *c, int32_t *up)
{
    bool *charged = NULL;
    vec_extend(charged, vec_len(up));
    for (int32_t k = 1; k < (int32_t)vec_len(up); k++)
        charged[find(up, k)] |= c->unknown[k].has_q;
    return charged;
}

/* For each root: has its set a node that is not inside a device of an OSDI library? Sets without
 * one get their shunt without a word. */
static bool *open_sets(const ckt *c, int32_t *up)
{
    bool *open = NULL;
    vec_extend(open, vec_len(up));
    for (int32_t k = 1; k < (int32_t)vec_len(up); k++)
        open[find(up, k)] |= c->unknown[k].node && !c->unknown[k].closed;
    return open;
}

/* Pairs of which one entry is of a device and the other of another. The currents of the two ends of
 * a line do not join its ports. */
static void join_entries(const ckt *c, const csc_entry *e, const csc_entry *apart, int32_t *up)
{
    for (size_t i = 0; i < vec_len(e); i++) {
        const int32_t a = csc_entry_row(e[i]), b = csc_entry_col(e[i]);
        if (a < b && find(up, a) != find(up, b) && !are_currents(c, a, b) &&
            ckt_has_entry(e, b, a) && !ckt_has_entry(apart, a, b))
            join(up, a, b);
    }
}

static bool has_flow(const osdi_abi_descriptor *abi, osdi_abi_pair p, uint32_t wanted)
{
    bool has = false;
    for (uint32_t k = 0; k < abi->n_jacobian && !has; k++)
        has = abi->jacobian[k].nodes.a == p.a && abi->jacobian[k].nodes.b == p.b &&
              (abi->jacobian[k].flags & wanted);
    return has;
}

/* What stands aside in devices of OSDI libraries, and would be joined to others, has its level
 * from its own device: a temperature, to ground. */
static void join_aside(const ckt *c, bool reactive, int32_t *up)
{
    const uint32_t wanted = OSDI_JAC_RESIST | (reactive ? (uint32_t)OSDI_JAC_REACT : 0);
    for (int32_t i = 0; i < ckt_n_osdi(c); i++) {
        const ckt_osdi_facts d = ckt_osdi_at(c, i);
        const osdi_abi_descriptor *abi = d.in->module->abi;
        for (uint32_t k = 0; k < abi->n_jacobian; k++) {
            const osdi_abi_pair p = abi->jacobian[k].nodes;
            if (d.in->module->node[p.a].aside && !d.in->module->node[p.b].aside &&
                (abi->jacobian[k].flags & wanted) &&
                has_flow(abi, (osdi_abi_pair){p.b, p.a}, wanted))
                join(up, d.unknown[p.a], 0);
        }
    }
}

static void join_natives(const ckt *c, bool reactive, int32_t *up)
{
    csc_entry *e = NULL;
    nat_joins(&c->nat, reactive, &e);
    ckt_sort_entries(c, e);
    join_entries(c, e, NULL, up);
    join_aside(c, reactive, up);
    vec_free(e);
}

static bool are_joined(int32_t *up)
{
    size_t k = 0;
    while (k < vec_len(up) && !find(up, (int32_t)k))
        k++;
    return k == vec_len(up);
}

/* Sets of which a device takes current and gives it to another: fed[root]; where that current
 * depends on an unknown, driven[root], too. sensed[root]: a device looks at the voltage from the
 * set to another. */
typedef struct feeds {
    const ckt *c;
    int32_t *up;
    bool *fed, *by_devices, *driven, *sensed;
} feeds;

static bool note_feed(feeds *s, int32_t a, int32_t b)
{
    const int32_t x = find(s->up, a), y = find(s->up, b);
    if (x != y)
        s->fed[x] = s->fed[y] = true;
    return x != y;
}

/* The same by a device; a charge that it gives is not among the currents of a point. */
static void note_drive(feeds *s, int32_t a, int32_t b, bool driven, bool charge)
{
    if (!note_feed(s, a, b))
        return;
    const int32_t at[2] = {find(s->up, a), find(s->up, b)};
    for (int k = 0; k < 2; k++) {
        s->by_devices[at[k]] = true;
        s->driven[at[k]] |= driven || charge;
        s->sensed[at[k]] |= charge;
    }
}

/* A source's current is given; between the ports of a line none flows. */
static void note_native(void *user, const nat_device *d)
{
    feeds *s = user;
    for (int32_t k = 1; k < d->n_node; k++)
        if (!d->ports && !d->told)
            note_drive(s, d->node[0], d->node[k], true, true);
        else if (k % 2)
            note_feed(s, d->node[k - 1], d->node[k]);
    bool within = true; /* its nodes are of one set: it looks at differences */
    for (int32_t k = 1; k < d->n_node; k++)
        within &= find(s->up, d->node[k]) == find(s->up, d->node[0]);
    for (int32_t k = 0; k < d->n_node && !d->ports && !d->told && !within; k++)
        s->sensed[find(s->up, d->node[k])] = true;
}

enum { FLOWS = 1, STORES = 2, DEPENDS = 4 };

/* Rows [n] to which the form adds a current or a charge that is not gmin's, by_gmin [n_out], and
 * whether that depends on an unknown. */
static void mark_rows(const dev_form *f, const bool *by_gmin, uint8_t *row, int32_t n)
{
    memset(row, 0, (size_t)n);
    for (int32_t k = 0; k < f->n_out; k++) {
        const mdl_out *o = &f->variant->out[k];
        if (by_gmin[k])
            continue;
        if (o->kind == IR_OUT_RES)
            row[o->a] |= FLOWS;
        if (o->kind == IR_OUT_REACT || (o->kind == IR_OUT_C && f->variant->form == MDL_AC))
            row[o->a] |= STORES;
        if (o->kind == IR_OUT_G || o->kind == IR_OUT_C || o->kind == IR_OUT_J)
            row[o->a] |= DEPENDS;
    }
}

/* Currents within a net flow between its nodes, and to ground if a branch ends there. */
static void note_devices(const dev_group *g, const dev_form *f, const nets *net, feeds *s)
{
    const int32_t n = mdl_n_unknown(g->model);
    uint8_t *row = NULL;
    int32_t *first = NULL;
    bool *by_gmin = NULL;
    vec_extend(row, n);
    vec_extend(first, n);
    vec_extend(by_gmin, f->n_out);
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        if (ckt_has_own_row(g, i)) {
            ckt_outputs_by_gmin(g, f->variant->form, i, by_gmin);
            mark_rows(f, by_gmin, row, n);
        }
        for (int32_t u = 0; u < n; u++)
            first[u] = -1;
        for (int32_t u = 0; u < f->n_u; u++) {
            const int32_t own = net->of[u];
            if (!(row[u] & (FLOWS | STORES)) || (to[u] && !s->c->unknown[to[u]].node))
                continue;
            const uint8_t both = row[u] | (first[own] < 0 ? 0 : row[first[own]]);
            if (net->grounded[own])
                note_drive(s, to[u], 0, row[u] & DEPENDS, row[u] & STORES);
            if (first[own] >= 0)
                note_drive(s, to[first[own]], to[u], both & DEPENDS, both & STORES);
            first[own] = u;
        }
    }
    vec_free(row);
    vec_free(first);
    vec_free(by_gmin);
}

/* The form whose outputs are all currents that are known of: charges are not, without a transient.
 */
static const dev_form *flows_of(const dev_group *g)
{
    return &g->form[g->form[MDL_TRAN].variant ? MDL_TRAN : MDL_DC];
}

static void note_probes(const dev_group *g, const dev_form *f, feeds *s)
{
    const va_module *m = mdl_module(g->model);
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        for (size_t k = 0; k < vec_len(m->probe); k++) {
            const va_probe *p = &m->probe[k];
            if (!ckt_looks_at(g, f->variant->form, i, (int32_t)k))
                continue;
            const int32_t hi = p->hi < 0 ? 0 : to[p->hi], lo = p->lo < 0 ? 0 : to[p->lo];
            const bool volts = (!hi || s->c->unknown[hi].node) && (!lo || s->c->unknown[lo].node);
            if (volts && find(s->up, hi) != find(s->up, lo))
                s->sensed[find(s->up, hi)] = s->sensed[find(s->up, lo)] = true;
        }
    }
}

/* What a device of an OSDI library looks at: pairs of unknowns, 0 the reference; to the vec. Its
 * library tells pairs of nodes (from 0.4 on); those that are in none are read to ground. */
static void list_seen(const ckt_osdi_facts *d, csc_entry **pair)
{
    const osdi_module *m = d->in->module;
    vec_clear(*pair);
    for (int32_t k = 0; k < osdi_n_input(m); k++) {
        int32_t hi, lo;
        osdi_input(m, k, &hi, &lo);
        if ((hi < 0 || !m->node[hi].flow) && (lo < 0 || !m->node[lo].flow))
            vec_push(*pair, csc_entry_of(hi < 0 ? 0 : d->unknown[hi], lo < 0 ? 0 : d->unknown[lo]));
    }
    const size_t n_told = vec_len(*pair);
    for (int32_t k = 0; k < m->n_node; k++) {
        const int32_t u = d->unknown[k];
        bool told = !u || m->node[k].flow;
        for (size_t i = 0; i < n_told && !told; i++)
            told = csc_entry_row((*pair)[i]) == u || csc_entry_col((*pair)[i]) == u;
        if (!told)
            vec_push(*pair, csc_entry_of(u, 0));
    }
}

/* Does a charge in the row follow what is in another set? It may come from there. */
static bool is_charged_across(const ckt_osdi_facts *d, int32_t *up, int32_t node)
{
    const osdi_abi_descriptor *abi = d->in->module->abi;
    bool across = false;
    for (uint32_t k = 0; k < abi->n_jacobian; k++) {
        const osdi_abi_jacobian *j = &abi->jacobian[k];
        if ((int32_t)j->nodes.a == node && (j->flags & OSDI_JAC_REACT))
            across |= !d->in->module->node[j->nodes.b].aside &&
                      find(up, d->unknown[j->nodes.b]) != find(up, d->unknown[node]);
    }
    return across;
}

/* Nothing is known of the branches of OSDI libraries: currents may flow to ground. What they look
 * at is. */
static void note_osdi(const ckt *c, feeds *s)
{
    csc_entry *pair = NULL;
    for (int32_t i = 0; i < ckt_n_osdi(c); i++) {
        const ckt_osdi_facts d = ckt_osdi_at(c, i);
        list_seen(&d, &pair);
        for (int32_t k = 0; k < d.in->module->n_node; k++)
            if (c->unknown[d.unknown[k]].node && find(s->up, d.unknown[k]))
                note_drive(s, d.unknown[k], 0, true, is_charged_across(&d, s->up, k));
        for (size_t k = 0; k < vec_len(pair); k++) {
            const int32_t hi = find(s->up, csc_entry_row(pair[k])),
                          lo = find(s->up, csc_entry_col(pair[k]));
            if (hi != lo)
                s->sensed[hi] = s->sensed[lo] = true;
        }
    }
    vec_free(pair);
}

static void note_all(const ckt *c, feeds *s)
{
    nat_each(&c->nat, false, note_native, s);
    nat_each(&c->nat, true, note_native, s);
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        nets net = find_nets(g->model);
        if (g->form[MDL_DC].variant)
            note_devices(g, &g->form[MDL_DC], &net, s);
        const dev_form *moving = &g->form[g->form[MDL_TRAN].variant ? MDL_TRAN : MDL_AC];
        if (moving->variant)
            note_devices(g, moving, &net, s);
        note_probes(g, flows_of(g), s);
        free_nets(&net);
    }
    note_osdi(c, s);
}

/* -- loops of gain through parts -- */

/* Cells are sets that no path through ground joins, 0 that of all that is digital. An edge leads
 * from a cell to one with a row that depends on it: entries (from, to), sorted. */
typedef struct cells {
    const ckt *c;
    int32_t *of; /* a union-find */
    csc_entry *edge;
} cells;

static int32_t cell_of(const cells *s, int32_t unknown)
{
    return unknown ? find(s->of, unknown) : 0;
}

static void add_edge(cells *s, int32_t from, int32_t to)
{
    const int32_t a = cell_of(s, from), b = cell_of(s, to);
    if (a != b)
        vec_push(s->edge, csc_entry_of(a, b));
}

/* A native device of which not all is known couples with everything digital. */
static void add_native(void *user, const nat_device *d)
{
    cells *s = user;
    for (int32_t k = 0; k < d->n_node && !d->ports && !d->told; k++) {
        if (!d->node[k])
            continue;
        add_edge(s, d->node[k], 0);
        add_edge(s, 0, d->node[k]);
    }
}

static void add_entries(cells *s, const csc_entry *e)
{
    for (size_t i = 0; i < vec_len(e); i++)
        if (csc_entry_row(e[i]) && csc_entry_col(e[i]))
            add_edge(s, csc_entry_col(e[i]), csc_entry_row(e[i]));
}

/* up: parts, each of which is in one cell. */
static cells find_cells(const ckt *c, int32_t *up)
{
    cells s = {.c = c, .of = new_sets(c)};
    csc_entry *e = NULL;
    s.of[0] = APART;
    join_natives(c, true, s.of);
    for (int form = MDL_DC; form < MDL_N_FORM; form++)
        join_devices(c, (mdl_form_kind)form, false, s.of, NULL);
    for (int32_t k = 1; k < (int32_t)vec_len(s.of); k++)
        if (find(up, k))
            join(s.of, k, find(up, k));
    nat_entries(&c->nat, true, &e);
    for (int form = MDL_DC; form < MDL_N_FORM; form++)
        ckt_device_entries(c, (mdl_form_kind)form, &e);
    add_entries(&s, e);
    nat_each(&c->nat, false, add_native, &s);
    nat_each(&c->nat, true, add_native, &s);
    vec_free(e);
    return s;
}

static void free_cells(cells *s)
{
    vec_free(s->of);
    vec_free(s->edge);
}

/* What looks at the levels of parts that are asked for: edges from the part to the rows of a device
 * that does, (part, cell). A row in the part itself may feed it: that is a loop. */
typedef struct looks {
    cells *s;
    int32_t *up;
    bool *asked, *loop; /* [unknowns], of each part */
    int32_t *at;        /* vec: parts that the device at hand looks at */
    csc_entry *edge;    /* vec */
    csc_entry *pair;    /* vec: of list_seen */
} looks;

static void look_at(looks *w, int32_t part)
{
    bool known = !w->asked[part];
    for (size_t i = 0; i < vec_len(w->at) && !known; i++)
        known = w->at[i] == part;
    if (!known)
        vec_push(w->at, part);
}

static void look_across(looks *w, int32_t hi, int32_t lo)
{
    const int32_t a = find(w->up, hi), b = find(w->up, lo);
    if (a == b)
        return;
    look_at(w, a);
    look_at(w, b);
}

/* The device at hand has a row there. */
static void reach_row(looks *w, int32_t row)
{
    for (size_t i = 0; i < vec_len(w->at) && row; i++) {
        const int32_t part = w->at[i];
        if (find(w->up, row) == part)
            w->loop[part] = true;
        else
            vec_push(w->edge, csc_entry_of(cell_of(w->s, part), cell_of(w->s, row)));
    }
}

/* Without a transient, small signals tell what charges follow. */
static void look_by_charges(looks *w, const dev_group *g, int32_t i)
{
    const dev_form *f = &g->form[MDL_AC];
    if (g->form[MDL_TRAN].variant || !f->variant)
        return;
    const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
    for (int32_t k = 0; k < f->n_out; k++) {
        const mdl_out *o = &f->variant->out[k];
        const bool nodes = (!to[o->a] || w->s->c->unknown[to[o->a]].node) &&
                           (!to[o->b] || w->s->c->unknown[to[o->b]].node);
        if (o->kind == IR_OUT_C && nodes)
            look_across(w, to[o->a], to[o->b]);
    }
}

static void look_through_group(looks *w, const dev_group *g)
{
    const va_module *m = mdl_module(g->model);
    const dev_form *f = flows_of(g);
    for (int32_t i = 0; f->variant && i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        vec_clear(w->at);
        look_by_charges(w, g, i);
        for (size_t k = 0; k < vec_len(m->probe); k++) {
            const va_probe *p = &m->probe[k];
            const int32_t hi = p->hi < 0 ? 0 : to[p->hi], lo = p->lo < 0 ? 0 : to[p->lo];
            if ((w->asked[find(w->up, hi)] || w->asked[find(w->up, lo)]) &&
                find(w->up, hi) != find(w->up, lo) &&
                ckt_looks_at(g, f->variant->form, i, (int32_t)k))
                look_across(w, hi, lo);
        }
        for (int32_t k = 0; k < f->n_out && vec_len(w->at); k++) {
            const mdl_out *o = &f->variant->out[k];
            if (o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT)
                reach_row(w, to[o->a]);
        }
    }
}

static void look_through_native(void *user, const nat_device *d)
{
    looks *w = user;
    vec_clear(w->at);
    for (int32_t k = 1; k < d->n_node && !d->ports && !d->told; k++)
        look_across(w, d->node[0], d->node[k]);
    for (size_t i = 0; i < vec_len(w->at); i++)
        vec_push(w->edge, csc_entry_of(cell_of(w->s, w->at[i]), 0));
}

/* One from which a charge may flow into a part counts as one that looks at it. */
static void look_through_osdi(looks *w, const ckt_osdi_facts *d)
{
    vec_clear(w->at);
    list_seen(d, &w->pair);
    for (size_t k = 0; k < vec_len(w->pair); k++)
        look_across(w, csc_entry_row(w->pair[k]), csc_entry_col(w->pair[k]));
    for (int32_t k = 0; k < d->in->module->n_node; k++)
        if (w->asked[find(w->up, d->unknown[k])] && is_charged_across(d, w->up, k))
            look_at(w, find(w->up, d->unknown[k]));
    for (int32_t k = 0; k < d->in->module->n_node; k++)
        reach_row(w, d->unknown[k]);
}

/* The first entry of a row, or of one behind it, of those that are sorted. */
static size_t begin_of_row(const csc_entry *e, int32_t row)
{
    size_t a = 0, b = vec_len(e);
    while (a < b) {
        const size_t mid = a + (b - a) / 2;
        if (csc_entry_row(e[mid]) < row)
            a = mid + 1;
        else
            b = mid;
    }
    return a;
}

/* Cells that lead to one another have the same number. Source: Tarjan, SIAM J. Comput. 1(2), 1972;
 * what he calls from itself is on the stack `path` here. */
typedef struct rings {
    const csc_entry *edge; /* vec, sorted */
    int32_t *of;           /* vec, [cells] 0: not seen yet */
    int32_t *low, *seen;   /* vecs, [cells] order of the visits; `seen` 0: none */
    size_t *next;          /* vec, [cells] the next edge to follow */
    int32_t *path, *open;  /* vecs: cells on the way here; those without a number yet */
    int32_t n, n_seen;
} rings;

static void enter(rings *r, int32_t cell)
{
    r->low[cell] = r->seen[cell] = ++r->n_seen;
    r->next[cell] = begin_of_row(r->edge, cell);
    vec_push(r->path, cell);
    vec_push(r->open, cell);
}

/* All that was opened behind a cell which leads to none before it. */
static void close_ring(rings *r, int32_t cell)
{
    int32_t k;
    r->n++;
    do {
        k = vec_pop(r->open);
        r->of[k] = r->n;
    } while (k != cell);
}

static void leave(rings *r)
{
    const int32_t cell = vec_pop(r->path);
    if (r->low[cell] == r->seen[cell])
        close_ring(r, cell);
    if (vec_len(r->path) && r->low[cell] < r->low[vec_last(r->path)])
        r->low[vec_last(r->path)] = r->low[cell];
}

static void visit(rings *r, int32_t from)
{
    enter(r, from);
    while (vec_len(r->path)) {
        const int32_t at = vec_last(r->path);
        const size_t k = r->next[at]++;
        if (k >= vec_len(r->edge) || csc_entry_row(r->edge[k]) != at) {
            leave(r);
            continue;
        }
        const int32_t to = csc_entry_col(r->edge[k]);
        if (!r->seen[to])
            enter(r, to);
        else if (!r->of[to] && r->seen[to] < r->low[at])
            r->low[at] = r->seen[to];
    }
}

/* edge: sorted. The vec is the caller's. */
static int32_t *find_rings(const csc_entry *edge, size_t n)
{
    rings r = {.edge = edge};
    vec_extend(r.of, n);
    vec_extend(r.low, n);
    vec_extend(r.seen, n);
    vec_extend(r.next, n);
    for (size_t i = 0; i < vec_len(edge); i++)
        if (!r.seen[csc_entry_row(edge[i])])
            visit(&r, csc_entry_row(edge[i]));
    vec_free(r.low);
    vec_free(r.seen);
    vec_free(r.next);
    vec_free(r.path);
    vec_free(r.open);
    return r.of;
}

static void look_through_all(looks *w, const ckt *c)
{
    for (size_t gi = 0; gi < vec_len(c->group); gi++)
        look_through_group(w, &c->group[gi]);
    nat_each(&c->nat, false, look_through_native, w);
    nat_each(&c->nat, true, look_through_native, w);
    for (int32_t i = 0; i < ckt_n_osdi(c); i++) {
        const ckt_osdi_facts d = ckt_osdi_at(c, i);
        look_through_osdi(w, &d);
    }
}

/* Parts whose level matters to what feeds them: does what looks at it lead back to the part, the
 * loop is what holds the level. */
static void find_loops(const ckt *c, feeds *in, bool *loop)
{
    const size_t n = vec_len(c->unknown);
    looks w = {.up = in->up, .loop = loop};
    bool any = false;
    vec_extend(w.asked, n);
    for (size_t k = 1; k < n; k++)
        any |= w.asked[k] = in->driven[k] && in->sensed[k];
    if (any) {
        cells s = find_cells(c, in->up);
        w.s = &s;
        look_through_all(&w, c);
        for (size_t i = 0; i < vec_len(w.edge); i++)
            vec_push(s.edge, w.edge[i]);
        ckt_sort_entries(c, s.edge);
        int32_t *ring = find_rings(s.edge, n);
        bool *in_ring = NULL; /* [cells] one of its looks leads back */
        vec_extend(in_ring, n);
        for (size_t i = 0; i < vec_len(w.edge); i++) {
            const int32_t from = csc_entry_row(w.edge[i]), to = csc_entry_col(w.edge[i]);
            in_ring[from] |= ring[from] == ring[to];
        }
        for (size_t k = 1; k < n; k++)
            loop[k] |= w.asked[k] && in_ring[cell_of(&s, (int32_t)k)];
        vec_free(ring);
        vec_free(in_ring);
        free_cells(&s);
    }
    vec_free(w.asked);
    vec_free(w.at);
    vec_free(w.edge);
    vec_free(w.pair);
}

/* What shunts do in time. Sets that charges join are one part there: if these do not reach ground,
 * the first of them keeps its shunt; where charges are not known of (without a transient), others
 * keep gmin. The first may be a firm one where no current comes from outside, or
 * none that the level of the part could change. A part that gmin of devices joins to ground at rest
 * has a firm one, too: what gmin brings holds no level beside charges. */
typedef struct shunts {
    bool *always, *second;         /* [unknowns], of each root of a set */
    int32_t *whole;                /* [unknowns] the part of each; 0: with ground */
    bool *firm, *fed, *by_devices; /* [unknowns], of each part */
    bool *held;                    /* the same: by gmin of devices, at rest */
} shunts;

/* Parts with nodes that a path joins to ground at rest, which is gmin's therefore: held. Of two
 * nodes, or more, that elements reach: where there is but one, gmin is beside nothing. */
static void find_held(const ckt *c, int32_t *up, shunts *s)
{
    int32_t *n_open = NULL;
    vec_extend(n_open, vec_len(up));
    for (int32_t k = 1; k < (int32_t)vec_len(up) && ckt_is_reactive(c); k++) {
        const int32_t whole = s->whole[k];
        n_open[whole] += c->unknown[k].node && !c->unknown[k].internal;
        s->held[whole] |= whole && c->unknown[k].node && find(up, k) == 0;
    }
    for (size_t k = 0; k < vec_len(up); k++)
        s->held[k] &= s->firm[k] && n_open[k] > 1;
    vec_free(n_open);
}

/* up: sets that conductances make; own: those that they do without gmin. */
static shunts find_shunts(const ckt *c, int32_t *up, int32_t *own)
{
    const int32_t n = (int32_t)vec_len(up);
    shunts s = {.always = charged_sets(c, up)};
    feeds in = {.c = c, .up = new_sets(c)};
    bool *kept = NULL, *loop = NULL;
    vec_extend(s.second, n);
    vec_extend(s.firm, n);
    vec_extend(s.held, n);
    vec_extend(s.whole, n);
    vec_extend(in.by_devices, n);
    vec_extend(in.fed, n);
    vec_extend(in.driven, n);
    vec_extend(in.sensed, n);
    for (int32_t k = 1; k < n; k++)
        join(in.up, k, find(own, k));
    join_natives(c, true, in.up);
    for (int form = MDL_DC + 1; form < MDL_N_FORM; form++)
        join_devices(c, (mdl_form_kind)form, false, in.up, NULL);
    note_all(c, &in);
    vec_extend(loop, n);
    find_loops(c, &in, loop);
    for (int32_t k = 1; k < n; k++) {
        s.whole[k] = find(in.up, k);
        s.firm[k] = !loop[k];
    }
    vec_free(loop);
    find_held(c, up, &s);
    vec_extend(kept, n);
    memcpy(kept, s.held, (size_t)n * sizeof *kept);
    for (int32_t k = 1; k < n; k++) {
        const int32_t whole = s.whole[k];
        if (up[k] != k || !c->unknown[k].node)
            continue;
        s.always[k] = !s.always[k] || (whole && !kept[whole]);
        s.second[k] = whole && kept[whole];
        kept[whole] = true;
    }
    s.fed = in.fed;
    s.by_devices = in.by_devices;
    vec_free(in.up);
    vec_free(in.driven);
    vec_free(in.sensed);
    vec_free(kept);
    return s;
}

static void free_shunts(shunts *s)
{
    vec_free(s->always);
    vec_free(s->second);
    vec_free(s->firm);
    vec_free(s->fed);
    vec_free(s->by_devices);
    vec_free(s->held);
    vec_free(s->whole);
}

/* of [unknowns]: the set of each; those of set 0 are not listed. */
static ckt_sets list_nodes(const ckt *c, const int32_t *of)
{
    const int32_t n = (int32_t)vec_len(c->unknown);
    ckt_sets s = {0};
    vec_extend(s.at, n + 1);
    for (int32_t k = 1; k < n; k++)
        s.at[of[k]] += of[k] && c->unknown[k].node;
    vec_extend(s.node, csc_begins(s.at, n));
    for (int32_t k = 1; k < n; k++)
        if (of[k] && c->unknown[k].node)
            s.node[s.at[of[k]]++] = k;
    csc_ends_to_begins(s.at, n);
    return s;
}

/* The node of a set with the most terminals: mostly what the others refer to. Of an isolated side
 * of a converter it is the return of its supply, not the end of a winding, which moves. */
static int32_t most_touched(const ckt_sets *s, int32_t set, const touches *t)
{
    int32_t best = set;
    for (int32_t i = s->at[set]; i < s->at[set + 1]; i++)
        if (t->count[s->node[i]] > t->count[best])
            best = s->node[i];
    return best;
}

static void add_shunt(ckt *c, const shunts *in, int32_t at, bool always, int32_t set, int32_t whole)
{
    vec_push(c->fix, (ckt_fix){.kind = CKT_FIX_SHUNT,
                               .unknown = at,
                               .set = set,
                               .always = always,
                               .firm = whole && in->firm[whole],
                               .second = set && in->second[set],
                               .fed = in->fed[whole],
                               .held = in->held[whole],
                               .whole = whole});
    if (whole && always && !vec_last(c->fix).second && in->firm[whole] && in->fed[whole])
        vec_push(c->firm, (ckt_firm){.node = at,
                                     .part = whole,
                                     .fix = (int32_t)vec_len(c->fix) - 1,
                                     .by_devices = in->by_devices[whole],
                                     .held = in->held[whole]});
}

/* Of the parts that gmin of devices alone holds at rest, by part: the node with the most terminals
 * of those that it joins to ground; 0: none. */
static int32_t *held_nodes(const ckt *c, const shunts *in, int32_t *up, const touches *t)
{
    int32_t *best = NULL;
    vec_extend(best, vec_len(in->whole));
    for (int32_t k = 1; k < (int32_t)vec_len(in->whole); k++) {
        const int32_t w = in->whole[k];
        if (w && in->held[w] && c->unknown[k].node && find(up, k) == 0 &&
            (!best[w] || t->count[k] > t->count[best[w]]))
            best[w] = k;
    }
    return best;
}

static void hold_parts(ckt *c, const shunts *in, int32_t *up, touches *t)
{
    int32_t *at = held_nodes(c, in, up, t), n = 0;
    for (int32_t w = 1; w < (int32_t)vec_len(at); w++) {
        if (!at[w])
            continue;
        add_shunt(c, in, at[w], true, 0, w);
        if (n++ < MAX_WARNINGS)
            diag_warning(c->d, t->count[at[w]] ? last_touch(t, at[w])->span : DIAG_NOWHERE,
                         "no dc path to ground from node '%s' and what is joined to it but gmin of "
                         "devices; 1 S to ground, which is to carry no current, gives it a level",
                         c->unknown[at[w]].name);
    }
    if (n > MAX_WARNINGS)
        diag_warning(c->d, DIAG_NOWHERE, "%d more parts that only gmin of devices joins to ground",
                     n - MAX_WARNINGS);
    vec_free(at);
}

/* Sets that conductances make; gmin: its count, too. */
static int32_t *dc_sets(const ckt *c, entries *s, bool gmin)
{
    int32_t *up = new_sets(c);
    csc_entry *apart = NULL;
    join_natives(c, false, up);
    join_devices(c, MDL_DC, gmin, up, &apart);
    join_branches(c, up);
    ckt_sort_entries(c, apart);
    if (!are_joined(up))
        join_entries(c, gmin ? rest_entries(s) : own_entries(s), apart, up);
    vec_free(apart);
    return up;
}

/* One shunt per floating set; also in the transient, if nothing else holds its level there. */
static void check_floating(ckt *c, entries *s, touches *t, bool *floating)
{
    int32_t *own = dc_sets(c, s, false);
    if (are_joined(own)) {
        vec_free(own);
        return;
    }
    int32_t *up = dc_sets(c, s, true);
    if (are_joined(up) && !ckt_is_reactive(c)) {
        vec_free(own);
        vec_free(up);
        return;
    }
    shunts in_time = find_shunts(c, up, own);
    bool *open = open_sets(c, up);
    int n = 0;
    for (int32_t k = 1; k < (int32_t)vec_len(up); k++)
        (void)find(up, k); /* each knows its root */
    c->still = list_nodes(c, up);
    c->moving = list_nodes(c, in_time.whole);
    for (int32_t k = 1; k < (int32_t)vec_len(up); k++) {
        floating[k] = find(up, k) != 0;
        if (up[k] != k || !c->unknown[k].node)
            continue;
        const int32_t whole = in_time.whole[k];
        const int32_t at = whole && in_time.firm[whole] ? most_touched(&c->still, k, t) : k;
        add_shunt(c, &in_time, at, in_time.always[k], k, whole);
        vec_last(c->fix).held = false;
        if (!open[k])
            continue;
        if (n++ < MAX_WARNINGS)
            warn_floating(c, up, k, t->count[k] ? last_touch(t, k)->span : DIAG_NOWHERE);
    }
    if (n > MAX_WARNINGS)
        diag_warning(c->d, DIAG_NOWHERE, "%d more groups of nodes without a dc path to ground",
                     n - MAX_WARNINGS);
    hold_parts(c, &in_time, up, t);
    free_shunts(&in_time);
    vec_free(open);
    vec_free(own);
    vec_free(up);
}

void ckt_osdi_nodes(const ckt *c, int32_t **node)
{
    bool *seen = NULL;
    vec_extend(seen, vec_len(c->unknown));
    seen[0] = true;
    for (int32_t i = 0; i < ckt_n_osdi(c); i++) {
        const ckt_osdi_facts d = ckt_osdi_at(c, i);
        for (int32_t k = 0; k < d.in->module->n_node; k++) {
            const int32_t u = d.unknown[k];
            if (!seen[u] && c->unknown[u].node)
                vec_push(*node, u);
            seen[u] = true;
        }
    }
    vec_free(seen);
}

bool ckt_anchor(ckt *c, int32_t k)
{
    int32_t *node = NULL;
    bool at_osdi = false;
    ckt_osdi_nodes(c, &node);
    for (size_t i = 0; i < vec_len(node); i++)
        at_osdi |= node[i] == k;
    vec_free(node);
    for (size_t i = 0; i < vec_len(c->fix); i++)
        at_osdi &= c->fix[i].unknown != k;
    if (!at_osdi || c->diag_slot[k] < 0)
        return false;
    diag_warning(
        c->d, DIAG_NOWHERE,
        "no dc path to ground from node '%s': the OSDI devices there conduct nothing; gmin "
        "to ground is added",
        c->unknown[k].name);
    vec_push(c->fix, (ckt_fix){.kind = CKT_FIX_SHUNT,
                               .unknown = k,
                               .always = !c->unknown[k].has_q,
                               .slot = c->diag_slot[k]});
    ckt_small_drop(c);
    return true;
}

bool ckt_leak(ckt *c, double gmin) { return nat_leak(&c->nat, ckt_shunt(gmin)); }

static void mark_entries(const csc_entry *e, bool *in)
{
    for (size_t i = 0; i < vec_len(e); i++)
        in[csc_entry_row(e[i])] = in[csc_entry_col(e[i])] = true;
}

/* The first unknown from k on that is no node and in no entry. */
static int32_t next_unused(const ckt *c, const bool *in, int32_t k)
{
    while (k < (int32_t)vec_len(c->unknown) && (c->unknown[k].node || in[k]))
        k++;
    return k;
}

/* Unknowns that no static equation has (rates of change of a model) are 0 there. */
static void check_unused(ckt *c, entries *s)
{
    const int32_t n = (int32_t)vec_len(c->unknown);
    bool *in = NULL;
    csc_entry *native = NULL;
    vec_extend(in, n);
    nat_entries(&c->nat, false, &native);
    mark_entries(native, in);
    if (next_unused(c, in, 1) < n)
        mark_entries(all_entries(s), in);
    for (int32_t k = next_unused(c, in, 1); k < n; k = next_unused(c, in, k + 1))
        vec_push(c->fix, (ckt_fix){.kind = CKT_FIX_UNIT, .unknown = k});
    vec_free(in);
    vec_free(native);
}

/* -- single connections -- */

/* The length of the element's name in that of its inner part: 5 of "x1.p1#2#near". The card spells
 * the element, without its subcircuits, in as many bytes as the span has. */
static int of_element(const touch *t)
{
    const char *dot = strrchr(t->name, '.'), *own = dot ? dot + 1 : t->name;
    const size_t n = t->span.len;
    const bool is_part = n && n < strlen(own) && own[n] == '#';
    return (int)(is_part ? (size_t)(own - t->name) + n : strlen(t->name));
}

static void check_single(const ckt *c, touches *t, const bool *floating)
{
    int n = 0;
    for (int32_t k = 1; k < (int32_t)vec_len(c->unknown); k++) {
        const ckt_unknown *u = &c->unknown[k];
        if (t->count[k] != 1 || !u->node || u->internal || floating[k])
            continue;
        const touch *by = last_touch(t, k);
        if (!strncmp(by->name, "row#", 4))
            continue; /* the row of an expression is all that its unknown needs */
        if (n++ < MAX_WARNINGS)
            diag_warning(c->d, by->span, "node '%s' is connected to one terminal only, of '%.*s'",
                         u->name, of_element(by), by->name);
    }
    if (n > MAX_WARNINGS)
        diag_warning(c->d, DIAG_NOWHERE, "%d more nodes are connected to one terminal only",
                     n - MAX_WARNINGS);
}

/* -- loops of voltage-defined branches -- */

typedef struct edge {
    int32_t p, n, k; /* k: current unknown */
    bool is_source;
    bool is_short; /* of a device, v_p - v_n = const as the static equation: an inductor */
    const char *name;
    diag_span span;
} edge;

/* Has row k entries in columns hi and lo only? */
static bool only_columns(const csc_entry *dc, int32_t k, int32_t hi, int32_t lo)
{
    for (size_t a = begin_of_row(dc, k); a < vec_len(dc) && csc_entry_row(dc[a]) == k; a++)
        if (csc_entry_col(dc[a]) != hi && csc_entry_col(dc[a]) != lo)
            return false;
    return true;
}

/* Branches of a model whose current is an unknown. */
static void list_currents(const mdl_model *model, const va_branch ***list)
{
    const va_module *m = mdl_module(model);
    vec_clear(*list);
    for (size_t b = 0; b < vec_len(m->branch); b++)
        if (m->branch[b].current >= 0)
            vec_push(*list, &m->branch[b]);
}

static edge *voltage_edges(const ckt *c, entries *all)
{
    edge *e = NULL;
    const va_branch **branch = NULL; /* vec, of `last` */
    const mdl_model *last = NULL;
    for (size_t i = 0; i < vec_len(c->sources->all); i++) {
        const nat_source *s = &c->sources->all[i];
        if (s->is_v)
            vec_push(e, (edge){s->p, s->n, s->k, true, false, s->name, s->span});
    }
    for (size_t i = 0; i < vec_len(c->inst); i++) {
        const ckt_inst *in = &c->inst[i];
        const int32_t *unk = &c->unk[in->first];
        if (in->model != last)
            list_currents(last = in->model, &branch);
        for (size_t b = 0; b < vec_len(branch); b++) {
            const va_branch *br = branch[b];
            const int32_t k = unk[br->current];
            const int32_t hi = br->hi >= 0 ? unk[br->hi] : 0, lo = br->lo >= 0 ? unk[br->lo] : 0;
            if (k && !ckt_has_entry(all_entries(all), k, k))
                vec_push(e, (edge){hi, lo, k, false, only_columns(all_entries(all), k, hi, lo),
                                   in->name, ckt_inst_span(in)});
        }
    }
    vec_free(branch);
    return e;
}

/* Edges of the path from `from` to `to` among e[0..n): breadth first; *path gets them. */
static void find_path(const ckt *c, const edge *e, size_t n, int32_t from, int32_t to,
                      const edge ***path)
{
    int32_t *via = NULL; /* edge + 1 by which a node was reached */
    vec_extend(via, vec_len(c->unknown));
    via[from] = -1;
    for (bool any = true; any && !via[to];) {
        any = false;
        for (size_t i = 0; i < n; i++) {
            const bool p = via[e[i].p] != 0, q = via[e[i].n] != 0;
            if (p == q)
                continue;
            via[p ? e[i].n : e[i].p] = (int32_t)i + 1;
            any = true;
        }
    }
    for (int32_t at = to; at != from && via[at] > 0;) {
        const edge *k = &e[via[at] - 1];
        vec_push(*path, k);
        at = k->p == at ? k->n : k->p;
    }
    vec_free(via);
}

static bool all_sources(const edge *e, const edge *const *path)
{
    bool all = e->is_source;
    for (size_t i = 0; i < vec_len(path); i++)
        all &= path[i]->is_source;
    return all;
}

/* The inductor of a loop gets a resistance: the last edge, else one on the path; NULL if none. */
static const edge *inductor_of(const edge *e, const edge *const *path)
{
    if (e->is_short)
        return e;
    for (size_t i = 0; i < vec_len(path); i++)
        if (path[i]->is_short)
            return path[i];
    return NULL;
}

static void name_members(const ckt *c, const edge *const *path)
{
    for (size_t i = 0; i < vec_len(path) && i < 8; i++)
        diag_note(c->d, path[i]->span, "'%s' is part of the loop", path[i]->name);
    if (vec_len(path) > 8)
        diag_note(c->d, DIAG_NOWHERE, "and %zu more", vec_len(path) - 8);
}

static vs_status report_loop(ckt *c, const edge *e, const edge *const *path)
{
    vs_status st = VS_OK;
    const edge *coil = inductor_of(e, path);
    if (all_sources(e, path)) {
        if (vec_len(path))
            diag_error(c->d, e->span, "voltage source '%s' closes a loop of voltage sources",
                       e->name);
        else
            diag_error(c->d, e->span, "both terminals of voltage source '%s' are at the same node",
                       e->name);
        st = VS_EINPUT;
    } else if (coil) {
        diag_warning(c->d, e->span,
                     "'%s' closes a loop of inductors and voltage sources, whose dc current is not "
                     "determined; '%s' gets 1 micro-ohm in dc",
                     e->name, coil->name);
        vec_push(c->fix, (ckt_fix){.kind = CKT_FIX_SERIES, .unknown = coil->k});
    } else {
        diag_warning(c->d, e->span,
                     "'%s' closes a loop of voltage-defined branches; "
                     "its current may not be determined",
                     e->name);
    }
    name_members(c, path);
    return st;
}

static vs_status check_loops(ckt *c, entries *all)
{
    vs_status st = VS_OK;
    edge *e = voltage_edges(c, all);
    int32_t *up = new_sets(c);
    for (size_t i = 0; i < vec_len(e); i++) {
        if (join(up, e[i].p, e[i].n))
            continue;
        const edge **path = NULL;
        find_path(c, e, i, e[i].p, e[i].n, &path);
        if (report_loop(c, &e[i], path) != VS_OK)
            st = VS_EINPUT;
        vec_free(path);
    }
    vec_free(up);
    vec_free(e);
    return st;
}

vs_status ckt_check_topology(ckt *c)
{
    entries all = {.c = c};
    bool *floating = NULL;
    touches t = count_touches(c);
    vec_extend(floating, vec_len(c->unknown));
    check_floating(c, &all, &t, floating);
    check_unused(c, &all);
    check_single(c, &t, floating);
    vec_free(floating);
    free_touches(&t);
    const vs_status st = check_loops(c, &all);
    vec_free(all.dc);
    vec_free(all.rest);
    vec_free(all.own);
    return st;
}
