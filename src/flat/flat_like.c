/* flat_like.c - instances of a subcircuit that are like one before them are copies of its elements.
 *
 * Instances of one kind (flat_kin) have elements with the same values and multiplicities; only
 * names and nodes differ. So what the first of them was expanded to says what the others have:
 * which of an element's nodes are ports of the instance, which are inside it, and which are of the
 * top level. Their scopes, and those of the instances in them, are not made. A kind whose
 * expansion does anything else, a message among it, is not copied. */
#include <string.h>

#include "flat_priv.h"

/* Larger ones have copies inside them. */
enum { MOST_ELEMENTS = 1024, MOST_PORTS = 64, TRIES = 4 };

/* An instance that others are like. */
struct flat_like {
    int32_t inst, n_inst;   /* its elements in flat->inst */
    int32_t inner, n_inner; /* and the nodes inside it, in flat->node */
    size_t path_len;        /* of names */
    int64_t n_made;
    int32_t n_port;
    struct port {
        int32_t node;
        int32_t like;  /* the first port at that node */
        bool is_fixed; /* of the top level, where elements inside may name it themselves */
    } port[MOST_PORTS];
    size_t n_at; /* nodes of elements that are not plain */
    int32_t *at; /* of all nodes of all elements, one after the other: port k is k, node k inside
                    it MOST_PORTS + k, node k of the top level -1 - k */
};

/* How much there is of all that an expansion may add to, besides elements and nodes. */
static size_t others(const flat_ctx *c)
{
    return vec_len(c->pend) + vec_len(c->pend_node) + vec_len(c->pin) + vec_len(c->f->model) +
           c->said.n + (size_t)(c->d->n_error + c->d->n_warning + c->d->n_dropped) +
           (size_t)c->n_apart;
}

flat_before flat_like_begin(const flat_ctx *c)
{
    return (flat_before){(int32_t)vec_len(c->f->inst), (int32_t)vec_len(c->f->node), c->n_made,
                         others(c)};
}

/* A port of an instance that was expanded. */
static struct port port_at(const flat_ctx *c, const struct flat_like *l, int32_t node)
{
    int32_t k = 0;
    while (k < l->n_port && l->port[k].node != node)
        k++;
    return (struct port){node, k, node == 0 || flat_is_global(c, c->f->node[node])};
}

/* What `at` says of a node. */
static int32_t code_of(const struct flat_like *l, int32_t node)
{
    if (node >= l->inner)
        return MOST_PORTS + node - l->inner;
    for (int32_t k = 0; k < l->n_port; k++)
        if (l->port[k].node == node && !l->port[k].is_fixed)
            return k;
    return -1 - node;
}

/* Whether all that an element has beside nodes are a model and numbers. */
static bool is_simple(const flat_rare *r)
{
    return r->shared || (!r->source && !r->expr && !r->ref && !r->conn && !r->logic && !r->poly);
}

/* Whether all elements and nodes have names on the path of the instance and values that others
 * have, too. */
static bool are_alike(const flat_ctx *c, const scope *in, const struct flat_like *l)
{
    bool alike = true;
    for (int32_t k = 0; k < l->n_inner && alike; k++)
        alike = !strncmp(c->f->node[l->inner + k], in->path, in->path_len);
    for (int32_t k = 0; k < l->n_inst && alike; k++)
        alike = is_simple(c->f->inst[l->inst + k].rare) &&
                !strncmp(c->f->inst[l->inst + k].name, in->path, in->path_len);
    return alike;
}

static void take_places(flat_ctx *c, struct flat_like *l)
{
    const flat_inst *x = c->f->inst + l->inst;
    size_t n = 0, at = 0;
    for (int32_t k = 0; k < l->n_inst; k++) {
        n += x[k].n_node;
        l->n_at += x[k].rare->plain ? 0 : x[k].n_node;
    }
    l->at = arena_array(c->mem, int32_t, n);
    for (int32_t k = 0; k < l->n_inst; k++)
        for (uint32_t i = 0; i < x[k].n_node; i++)
            l->at[at++] = code_of(l, x[k].node[i]);
}

void flat_like_end(flat_ctx *c, const scope *in, const elem *e, flat_kin *kin, flat_before before)
{
    const size_t n_port = vec_len(in->b->port);
    const size_t n_inst = vec_len(c->f->inst) - (size_t)before.inst,
                 n_inner = vec_len(c->f->node) - (size_t)before.node;
    if (kin->like || kin->n_try++ >= TRIES || n_inst > MOST_ELEMENTS || n_inner > MOST_ELEMENTS ||
        n_port > MOST_PORTS || (size_t)e->n_node != n_port || in->n_extra || c->stop ||
        others(c) != before.others)
        return;
    struct flat_like *l = arena_new(&c->scratch, struct flat_like);
    *l = (struct flat_like){.inst = before.inst,
                            .n_inst = (int32_t)n_inst,
                            .inner = before.node,
                            .n_inner = (int32_t)n_inner,
                            .path_len = in->path_len,
                            .n_made = c->n_made - before.n_made};
    if (!are_alike(c, in, l))
        return;
    for (size_t i = 0; i < n_port; i++, l->n_port++)
        l->port[i] = port_at(c, l, in->node[in->b->port[i]]);
    take_places(c, l);
    struct flat_like *own = arena_new(c->mem, struct flat_like);
    *own = *l;
    kin->like = own;
}

/* Whether nodes of ports say of all elements' nodes where they are. */
static bool has_ports(const struct flat_like *l, const int32_t *node)
{
    bool same = true;
    for (int32_t k = 0; k < l->n_port; k++)
        same &= node[k] == (l->port[k].is_fixed ? l->port[k].node : node[l->port[k].like]);
    return same;
}

typedef struct copy {
    const struct flat_like *like;
    char *path;
    size_t path_len;
    int32_t inner; /* its first node */
} copy;

static const char *name_of(flat_ctx *c, const copy *o, const char *like)
{
    return flat_join_path(c, o->path, o->path_len, like + o->like->path_len);
}

static void copy_nodes(const copy *o, const int32_t *port, const int32_t *at, flat_inst *x)
{
    for (uint32_t i = 0; i < x->n_node; i++)
        x->node[i] = at[i] < 0            ? -1 - at[i]
                     : at[i] < MOST_PORTS ? port[at[i]]
                                          : o->inner + at[i] - MOST_PORTS;
}

/* What elements have for themselves, which a change of one element changes in place. */
static void copy_rare(flat_ctx *c, flat_inst *x)
{
    flat_rare *own = arena_new(c->mem, flat_rare);
    *own = *x->rare;
    x->rare = own;
    x->param = flat_copy_params(c->mem, x->param);
}

static void copy_elements(flat_ctx *c, const copy *o, const int32_t *port)
{
    const struct flat_like *l = o->like;
    int32_t *node = arena_array(c->mem, int32_t, l->n_at);
    const int32_t *at = l->at;
    vec_reserve(c->f->inst, l->n_inst);
    for (int32_t k = 0; k < l->n_inst; k++) {
        flat_inst x = c->f->inst[l->inst + k];
        x.name = name_of(c, o, x.name);
        if (x.rare->plain) {
            flat_plain *own = flat_new_plain(c);
            *own = *x.plain;
            x.plain = own;
            x.node = own->node;
        } else {
            x.node = node;
            node += x.n_node;
            if (!x.rare->shared)
                copy_rare(c, &x);
        }
        copy_nodes(o, port, at, &x);
        at += x.n_node;
        vec_push(c->f->inst, x);
    }
}

bool flat_like_copy(flat_ctx *c, scope *s, const elem *e, const struct flat_like *l)
{
    if (e->n_node != l->n_port || !flat_may_make(c, l->n_made))
        return false;
    int32_t port[MOST_PORTS];
    for (int32_t i = 0; i < e->n_node; i++)
        port[i] = flat_node(c, s, e->slot[i]);
    if (!has_ports(l, port))
        return false;
    const size_t n = strlen(e->name);
    arena_pos mark = arena_mark(&c->scratch);
    copy o = {l, arena_alloc(&c->scratch, s->path_len + n + 1), s->path_len + n + 1,
              (int32_t)vec_len(c->f->node)};
    memcpy(o.path, s->path, s->path_len);
    memcpy(o.path + s->path_len, e->name, n);
    o.path[o.path_len - 1] = '.';
    c->n_made += l->n_made;
    for (int32_t k = 0; k < l->n_inner; k++)
        vec_push(c->f->node, name_of(c, &o, c->f->node[l->inner + k]));
    copy_elements(c, &o, port);
    arena_release(&c->scratch, mark);
    return true;
}
