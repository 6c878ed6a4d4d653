/* gen.c - see gen.h. */
#include "gen.h"

#include "vec.h"

const char *gen_kind_name(gen_kind k)
{
    static const char *const name[] = {
#define X(id, text) text,
        GEN_KIND_LIST(X)
#undef X
    };
    return name[k];
}

void gen_init(gen *g) { *g = (gen){.tick = 1}; }

void gen_clear(gen *g)
{
    vec_free(g->node);
    vec_free(g->to);
    vec_free(g->edge);
    vec_free(g->reached);
    g->next = 0;
    g->sealed = false;
}

void gen_fini(gen *g) { gen_clear(g); }

int32_t gen_node(gen *g, gen_kind kind)
{
    assert(!g->sealed);
    vec_push(g->node, (gen_node_data){.due = g->tick, .made = g->tick, .kind = (int32_t)kind});
    return (int32_t)vec_len(g->node) - 1;
}

void gen_edge(gen *g, int32_t from, int32_t to)
{
    assert(!g->sealed);
    vec_push(g->edge, from);
    vec_push(g->edge, to);
}

void gen_seal(gen *g)
{
    const size_t n = vec_len(g->node), n_edge = vec_len(g->edge) / 2;
    int32_t *at = NULL;
    vec_extend(g->node, 1);
    vec_extend(g->to, n_edge);
    vec_extend(at, n + 1);
    for (size_t i = 0; i < n_edge; i++)
        g->node[g->edge[2 * i] + 1].first++;
    for (size_t i = 0; i < n; i++)
        g->node[i + 1].first += g->node[i].first;
    for (size_t i = 0; i < n; i++)
        at[i] = g->node[i].first;
    for (size_t i = 0; i < n_edge; i++)
        g->to[at[g->edge[2 * i]]++] = g->edge[2 * i + 1];
    vec_free(at);
    vec_free(g->edge);
    g->sealed = true;
}

/* Marks a node as reached at this tick; those that were out of date before are in the queue
 * already. */
static void reach(gen *g, int32_t k)
{
    gen_node_data *n = &g->node[k];
    if (n->due == g->tick)
        return;
    if (n->made >= n->due) {
        g->count[n->kind].invalid++;
        vec_push(g->reached, k);
    }
    n->due = g->tick;
}

/* Reaches what depends on a node. */
static void spread(gen *g, int32_t node)
{
    int32_t *work = NULL;
    vec_push(work, node);
    while (vec_len(work)) {
        const int32_t k = vec_pop(work);
        for (int32_t e = g->node[k].first; e < g->node[k + 1].first; e++) {
            const int32_t to = g->to[e];
            if (g->node[to].due == g->tick)
                continue;
            reach(g, to);
            if (g->node[to].first < g->node[to + 1].first)
                vec_push(work, to);
        }
    }
    vec_free(work);
}

void gen_change(gen *g, int32_t node)
{
    assert(g->sealed);
    g->tick++;
    g->node[node].due = g->node[node].made = g->tick;
    g->count[g->node[node].kind].invalid++;
    spread(g, node);
}

void gen_outdate(gen *g, int32_t node)
{
    assert(g->sealed);
    g->tick++;
    reach(g, node);
    spread(g, node);
}

int32_t gen_next(gen *g)
{
    if (g->next < vec_len(g->reached))
        return g->reached[g->next++];
    vec_clear(g->reached);
    g->next = 0;
    return -1;
}

void gen_rebuilt(gen *g, int32_t node)
{
    gen_node_data *n = &g->node[node];
    n->made = g->tick;
    g->count[n->kind].rebuilt++;
}
