/* ckt_carry.c - copies what a circuit remembers between two points of a transient to another
 * circuit that was built from the same elements with other values. Limits are not copied: the first
 * load in the new circuit starts without them. Devices are found by their numbers, which follow the
 * netlist, unknowns by their names. */
#include "ckt_priv.h"

#include <string.h>

struct ckt_carried {
    str_pool names;
    const char **unknown; /* vec: [0] is the reference; of the pool */
    int32_t *n_state;     /* vec: hidden state of each device */
    double *state;        /* vec: theirs, one after the other */
    image native;         /* that of nat_carry */
    double last_break;
};

/* Copies the hidden state of instance i of a group to its place among those of all devices, or
 * back. */
static void copy_state(dev_group *g, int32_t i, double *of_all, bool back)
{
    const int32_t p = dev_pack_of(g, i), lane = i - g->first[p];
    const bool last = i + 1 == g->first[p + 1];
    for (int32_t k = 0; k < g->n_state; k++) {
        double *s = g->state + ((size_t)p * (size_t)g->n_state + (size_t)k) * (size_t)g->lanes;
        if (!back)
            of_all[k] = s[lane];
        for (int32_t j = lane; back && j < (last ? g->lanes : lane + 1); j++)
            s[j] = of_all[k]; /* lanes without an instance are copies of the last one */
    }
}

/* All devices' state out, or back in. offset [devices]: where each one's begins. */
static void copy_states(const ckt *c, const int32_t *offset, double *state, bool back)
{
    for (size_t k = 0; k < vec_len(c->group); k++)
        for (int32_t i = 0; i < c->group[k].nb; i++)
            copy_state(&c->group[k], i, state + offset[c->group[k].inst[i]], back);
}

/* vec: how many numbers each device's state has. */
static int32_t *count_states(const ckt *c)
{
    int32_t *n = NULL;
    vec_extend(n, vec_len(c->inst));
    memset(n, 0, vec_len(n) * sizeof *n);
    for (size_t k = 0; k < vec_len(c->group); k++)
        for (int32_t i = 0; i < c->group[k].nb; i++)
            n[c->group[k].inst[i]] = c->group[k].n_state;
    return n;
}

static int32_t *offsets(const int32_t *n, int32_t *total)
{
    int32_t *at = NULL;
    *total = 0;
    for (size_t i = 0; i < vec_len(n); i++) {
        vec_push(at, *total);
        *total += n[i];
    }
    return at;
}

ckt_carried *ckt_carry_take(ckt *c)
{
    ckt_carried *k = vs_calloc(1, sizeof *k);
    int32_t total;
    str_pool_init(&k->names);
    vec_push(k->unknown, (const char *)NULL);
    for (size_t i = 1; i < vec_len(c->unknown); i++)
        vec_push(k->unknown, str_intern0(&k->names, c->unknown[i].name));
    k->n_state = count_states(c);
    int32_t *at = offsets(k->n_state, &total);
    vec_extend(k->state, total);
    copy_states(c, at, k->state, false);
    vec_free(at);
    k->native = image_take();
    nat_carry(&c->nat, &k->native);
    k->last_break = c->last_break;
    return k;
}

void ckt_carry_free(ckt_carried **carried)
{
    ckt_carried *k = *carried;
    *carried = NULL;
    if (!k)
        return;
    str_pool_fini(&k->names);
    vec_free(k->unknown);
    vec_free(k->n_state);
    vec_free(k->state);
    vec_free(k->native.bytes);
    vs_free(k);
}

/* Finds for each unknown its number in the old circuit; most have the same one. */
static bool find_unknowns(const ckt *c, ckt_carried *k, int32_t *from)
{
    map at = {0};
    bool all = vec_len(c->unknown) == vec_len(k->unknown);
    for (size_t i = 1; i < vec_len(k->unknown); i++)
        map_set(&at, map_key(k->unknown[i]), (int32_t)i);
    from[0] = 0;
    for (size_t i = 1; i < vec_len(c->unknown) && all; i++) {
        const char *name = str_intern0(&k->names, c->unknown[i].name);
        from[i] = name == k->unknown[i] ? (int32_t)i : map_get(&at, map_key(name), -1);
        all = from[i] > 0;
    }
    map_free(&at);
    return all;
}

static const char *put_states(ckt *c, const ckt_carried *k)
{
    int32_t *n = count_states(c), total;
    int32_t *at = offsets(n, &total);
    const bool same =
        vec_len(n) == vec_len(k->n_state) && !memcmp(n, k->n_state, vec_len(n) * sizeof *n);
    if (same)
        copy_states(c, at, k->state, true);
    vec_free(n);
    vec_free(at);
    return same ? NULL : "devices would remember other things";
}

const char *ckt_carry_put(ckt *c, ckt_carried *k, int32_t *from)
{
    if (!find_unknowns(c, k, from))
        return "there would be other nodes or branches";
    const char *why = put_states(c, k);
    image native = image_give(k->native.bytes, image_size(&k->native));
    if (!why)
        nat_carry(&c->nat, &native);
    c->last_break = k->last_break;
    return why ? why : native.wrong;
}
