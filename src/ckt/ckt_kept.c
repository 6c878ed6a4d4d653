/* ckt_kept.c - see ckt_kept.h. */
#include "ckt_kept.h"

#include <stdlib.h>

#include "ckt_aside.h"

typedef struct asked { /* a detail that the outputs of a device give */
    int32_t device, row;
    mdl_model *model;
    mdl_variant *variant;
    size_t at; /* its number */
} asked;

typedef struct metered { /* a detail that a source in series tells */
    int32_t source;
    size_t at;
} metered;

typedef struct group {
    ckt_aside of;
    size_t *first; /* [devices + 1]; into `all` */
    ckt_kept *k;
} group;

struct ckt_kept {
    ckt *c;
    arena mem;
    ckt_detail *d;    /* [n] */
    asked *all;       /* vec; those of a device stand together, and devices of a group */
    metered *metered; /* vec */
    group *group;     /* vec */
    ckt_detail *rest; /* vec: for ckt_details, */
    size_t *rest_at;  /* vec: their numbers, */
    double *rest_value;
    double *out, *one;  /* [packs of a batch][outputs][lanes], [outputs] of one device */
    const ckt_env *env; /* of the point under way */
    const double *x;
    double *value;
};

static void leave(ckt_kept *k, size_t i)
{
    vec_push(k->rest, k->d[i]);
    vec_push(k->rest_at, i);
}

static void take(ckt_kept *k, bool transient, size_t i)
{
    const ckt_detail *d = &k->d[i];
    const int32_t meter = ckt_asked_meter(k->c, transient, d);
    const ckt_inst *in = ckt_asked_of_outputs(d) ? &k->c->inst[d->device] : NULL;
    if (meter >= 0)
        vec_push(k->metered, ((metered){meter, i}));
    else if (!in || mdl_module(in->model)->n_state)
        leave(k, i);
    else
        vec_push(k->all, ((asked){d->device, in->row, in->model, NULL, i}));
}

/* -- groups -- */

/* By model, then in their own order. */
static int by_model(const void *va, const void *vb)
{
    const asked *a = va, *b = vb;
    const uintptr_t p = (uintptr_t)a->model, q = (uintptr_t)b->model;
    return p != q ? (p > q) - (p < q) : (a->at > b->at) - (a->at < b->at);
}

static int by_variant(const void *va, const void *vb)
{
    const asked *a = va, *b = vb;
    const uintptr_t p = (uintptr_t)a->variant, q = (uintptr_t)b->variant;
    if (p != q)
        return (p > q) - (p < q);
    if (a->row != b->row)
        return (a->row > b->row) - (a->row < b->row);
    if (a->device != b->device)
        return (a->device > b->device) - (a->device < b->device);
    return (a->at > b->at) - (a->at < b->at);
}

/* The variants of a model's devices: one for all rows if there is such a one. */
static vs_status find_variants(asked *a, size_t n)
{
    int32_t *row = NULL;
    mdl_variant *v;
    for (size_t i = 0; i < n; i++)
        if (!i || a[i].row != a[i - 1].row)
            vec_push(row, a[i].row);
    vs_status st = mdl_variant_meet(a->model, row, vec_len(row), MDL_ASKED, &v);
    for (size_t i = 0; i < n && !st; i++) {
        a[i].variant = v;
        if (!v)
            st = mdl_variant_get(a[i].model, a[i].row, MDL_ASKED, &a[i].variant);
    }
    vec_free(row);
    return st;
}

static void make_group(ckt_kept *k, size_t from, size_t end)
{
    const int32_t most = (int32_t)(end - from);
    int32_t *device = arena_array(&k->mem, int32_t, most),
            *row = arena_array(&k->mem, int32_t, most);
    group g = {.first = arena_array(&k->mem, size_t, most + 1), .k = k};
    int32_t n = 0;
    for (size_t i = from; i < end; i++) {
        if (i > from && k->all[i].device == k->all[i - 1].device)
            continue;
        g.first[n] = i;
        row[n] = k->all[i].row;
        device[n++] = k->all[i].device;
    }
    g.first[n] = end;
    ckt_aside_init(&g.of, k->c, &k->mem, MDL_ASKED, k->all[from].variant, device, row, NULL, n);
    vec_push(k->group, g);
}

/* Details of a model without such a variant go to the rest. */
static void sort_out(ckt_kept *k)
{
    const size_t n = vec_len(k->all);
    size_t left = 0;
    if (n)
        qsort(k->all, n, sizeof *k->all, by_model);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && k->all[j].model == k->all[i].model;)
            j++;
        const bool good = find_variants(&k->all[i], j - i) == VS_OK;
        for (size_t m = i; m < j; m++)
            if (good)
                k->all[left++] = k->all[m];
            else
                leave(k, k->all[m].at);
    }
    while (vec_len(k->all) > left)
        (void)vec_pop(k->all);
}

ckt_kept *ckt_kept_new(ckt *c, bool transient, const ckt_detail *d, size_t n)
{
    ckt_kept *k = vs_calloc(1, sizeof *k);
    size_t room = 0, n_out = 0;
    k->c = c;
    arena_init(&k->mem);
    k->d = arena_array(&k->mem, ckt_detail, n + 1);
    for (size_t i = 0; i < n; i++) {
        k->d[i] = d[i];
        take(k, transient, i);
    }
    sort_out(k);
    const size_t n_all = vec_len(k->all);
    if (n_all)
        qsort(k->all, n_all, sizeof *k->all, by_variant);
    for (size_t i = 0, j; i < n_all; i = j) {
        for (j = i + 1; j < n_all && k->all[j].variant == k->all[i].variant;)
            j++;
        make_group(k, i, j);
        const size_t own = ckt_aside_room(&vec_last(k->group).of);
        room = own > room ? own : room;
        const size_t outputs = (size_t)k->all[i].variant->lay.n_out;
        n_out = outputs > n_out ? outputs : n_out;
    }
    k->out = arena_vectors(&k->mem, room + 1);
    k->one = arena_array(&k->mem, double, n_out + 1);
    k->rest_value = arena_array(&k->mem, double, vec_len(k->rest) + 1);
    if (n_all)
        mdl_compile_wanted(k->all[0].model);
    return k;
}

void ckt_kept_free(ckt_kept **pk)
{
    ckt_kept *k = *pk;
    *pk = NULL;
    if (!k)
        return;
    for (size_t i = 0; i < vec_len(k->group); i++)
        dev_group_fini(&k->group[i].of.dev);
    vec_free(k->group);
    vec_free(k->all);
    vec_free(k->metered);
    vec_free(k->rest);
    vec_free(k->rest_at);
    arena_fini(&k->mem);
    vs_free(k);
}

/* -- values -- */

static vs_status take_pack(void *user, int32_t p, const double *out)
{
    const group *g = user;
    const dev_group *v = &g->of.dev;
    const dev_form *f = &v->form[MDL_ASKED];
    ckt_kept *k = g->k;
    for (int32_t i = v->first[p]; i < v->first[p + 1]; i++) {
        for (int32_t o = 0; o < f->n_out; o++)
            k->one[o] = out[o * v->lanes + i - v->first[p]];
        const ckt_outputs of = {k->one, f->variant->out, (size_t)f->n_out};
        for (size_t a = g->first[i]; a < g->first[i + 1]; a++)
            k->value[k->all[a].at] = ckt_asked_from(k->c, k->env, k->x, &k->d[k->all[a].at], &of);
    }
    return VS_OK;
}

vs_status ckt_kept_values(ckt_kept *k, const ckt_env *env, const double *x, double *value)
{
    double dyn[IR_N_DYN];
    ckt_fill_dyn(dyn, env);
    dyn[IR_DYN_LIMIT] = 0;
    k->env = env;
    k->x = x;
    k->value = value;
    for (size_t i = 0; i < vec_len(k->metered); i++) {
        const size_t at = k->metered[i].at;
        value[at] = ckt_asked_by_meter(k->c, x, &k->d[at], k->metered[i].source);
    }
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(k->group) && !st; i++) {
        group *g = &k->group[i];
        st = ckt_aside_eval(&g->of, dyn, x, NULL, k->out, take_pack, g);
    }
    const size_t n = vec_len(k->rest);
    if (!st && n)
        st = ckt_details(k->c, env, x, k->rest, n, k->rest_value);
    for (size_t i = 0; i < n && !st; i++)
        value[k->rest_at[i]] = k->rest_value[i];
    return st;
}
