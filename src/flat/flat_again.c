/* flat_again.c - subcircuit instances, expanded again. The plan knows which nodes, elements and
 * models each instance made: its extent. If a change decides an .if of an instance otherwise, that
 * instance alone is expanded again, and what it makes replaces what it made; numbers of nodes and
 * elements behind it move. The result is that of a whole expansion, in the same order. In some
 * cases this is not certain: the instance was or would be the first user of a node of the top
 * level, it is no longer the first user of a model card, or others look names up in it. Then the
 * deck is expanded as a whole. */
#include <string.h>

#include "flat_redo.h"

enum { MOST_INSTANCES = 16 }; /* at a time; each costs a copy of the lists */

static void ends(const flat *f, int32_t *at)
{
    const size_t n[MADE_N_LIST] = {vec_len(f->node), vec_len(f->inst),    vec_len(f->model),
                                   vec_len(f->ic),   vec_len(f->nodeset), vec_len(f->save)};
    for (int k = 0; k < MADE_N_LIST; k++)
        at[k] = (int32_t)n[k];
}

int32_t flat_extent_begin(flat_ctx *c, scope *s, const elem *e)
{
    if (!c->plan)
        return -1;
    extent o = {.s = s, .e = e};
    ends(c->f, o.from);
    vec_push(c->plan->extent, o);
    return (int32_t)vec_len(c->plan->extent) - 1;
}

void flat_extent_end(flat_ctx *c, int32_t k)
{
    if (k < 0)
        return;
    extent *o = &c->plan->extent[k];
    o->n_extent = (int32_t)vec_len(c->plan->extent) - k;
    ends(c->f, o->to);
}

bool flat_is_dirty(const flat_plan *p, const scope *s)
{
    for (; vec_len(p->dirty) && s; s = s->caller)
        for (size_t i = 0; i < vec_len(p->dirty); i++)
            if (p->dirty[i] == s)
                return true;
    return false;
}

/* -- names -- */

void flat_note_aims(flat_plan *p, const flat_ctx *c)
{
    for (size_t i = 0; i < vec_len(c->pend); i++)
        vec_push(p->aim,
                 (aim){c->pend[i].path, c->pend[i].k ? c->pend[i].e->name2 : c->pend[i].e->name});
    for (size_t i = 0; i < vec_len(c->pend_node); i++)
        vec_push(p->aim, (aim){c->pend_node[i].path, c->pend_node[i].name});
}

static bool begins_with(const char *s, const char *path) { return !strncmp(s, path, strlen(path)); }

/* May the name be one inside the instance with this path? Also in the form "v.x1.v1". */
static bool aims_at(const aim *a, const char *path)
{
    const size_t n = strlen(a->path);
    if (begins_with(a->name, path) ||
        (a->name[0] && a->name[1] == '.' && begins_with(a->name + 2, path)))
        return true;
    return strchr(a->name, '.') && !strncmp(a->path, path, n) && begins_with(a->name, path + n);
}

/* -- what stands in the way -- */

/* A model card that only instances in the extent use. */
static bool is_own_model(const flat_model *m, const scope *home)
{
    for (size_t i = 0; i < vec_len(home->b->model); i++)
        if (home->b->model[i].constant == m)
            return false;
    return home->life != SCOPE_HERE;
}

static bool asked_by_analyses(const flat *f, const extent *o)
{
    const int32_t from = o->from[MADE_NODE], to = o->to[MADE_NODE];
    bool any = false;
    for (size_t i = 0; i < vec_len(f->ana); i++)
        for (int k = 0; k < 2; k++)
            any |= (f->ana[i].out[k] >= from && f->ana[i].out[k] < to) ||
                   (f->ana[i].in[k] >= from && f->ana[i].in[k] < to);
    return any;
}

static bool may_go(const flat_plan *p, const extent *o)
{
    const flat_ctx *c = &p->c;
    bool may = o->from[MADE_SAVE] == o->to[MADE_SAVE] && !asked_by_analyses(c->f, o);
    for (int32_t i = o->from[MADE_NODE]; i < o->to[MADE_NODE]; i++)
        may &= map_get(&c->top_node, map_key(c->f->node[i]), -1) != i;
    for (size_t i = 0; i < vec_len(p->aim); i++)
        may &= begins_with(p->aim[i].path, o->s->path) || !aims_at(&p->aim[i], o->s->path);
    return may;
}

/* -- numbers of nodes that move -- */

typedef struct move {
    int32_t **place; /* vec */
    map seen;        /* trees */
    int32_t from;    /* nodes from here on move */
} move;

static void note_place(move *m, int32_t *node)
{
    if (*node >= m->from)
        vec_push(m->place, node);
}

static void note_tree(move *m, const net_expr *e)
{
    if (!e || map_get(&m->seen, map_key(e), 0))
        return;
    map_set(&m->seen, map_key(e), 1);
    net_expr *own = (net_expr *)(uintptr_t)e; /* a folded tree is the netlist's own */
    for (int k = 0; k < 2 && e->op == NET_VNODE; k++)
        note_place(m, &own->node[k]);
    for (int32_t i = 0; i < e->n_arg; i++)
        note_tree(m, e->arg[i]);
}

static void note_scope(move *m, scope *s)
{
    for (size_t i = 0; i < vec_len(s->b->slot_name); i++)
        note_place(m, &s->node[i]);
    for (size_t i = 0; i < vec_len(s->b->param_name); i++)
        note_tree(m, s->param[i].folded);
}

/* Notes all places that hold the number of a node, outside of the extent and of the lists that move
 * as a whole. */
static void note_places(move *m, flat_plan *p, const extent *o)
{
    flat *f = p->c.f;
    m->from = o->to[MADE_NODE];
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const flat_inst *x = &f->inst[i];
        if ((int32_t)i >= o->from[MADE_INST] && (int32_t)i < o->to[MADE_INST])
            continue;
        for (int32_t k = 0; k < x->n_node; k++)
            note_place(m, &x->node[k]);
        note_tree(m, x->rare->expr);
    }
    for (size_t i = 0; i < vec_len(f->save); i++) {
        for (int k = 0; k < 2; k++)
            note_place(m, &f->save[i].node[k]);
        note_tree(m, f->save[i].expr);
    }
    for (size_t i = 0; i < vec_len(f->ana); i++)
        for (int k = 0; k < 2; k++) {
            note_place(m, &f->ana[i].out[k]);
            note_place(m, &f->ana[i].in[k]);
        }
    note_scope(m, p->c.root);
    for (size_t i = 0; i < vec_len(p->extent); i++)
        if (p->extent[i].s->life == SCOPE_HERE)
            note_scope(m, p->extent[i].s);
}

static void move_nodes(flat_ctx *c, move *m, int32_t by)
{
    for (size_t i = 0; i < vec_len(m->place) && by; i++)
        *m->place[i] += by;
    for (size_t i = 0; i < vec_len(c->top) && by; i++) {
        const int32_t n = map_get(&c->top_node, map_key(c->top[i]), -1);
        if (n >= m->from)
            map_set(&c->top_node, map_key(c->top[i]), n + by);
    }
    vec_free(m->place);
    map_free(&m->seen);
}

static void move_ics(flat_ic *list, int32_t begin, int32_t end, int32_t from, int32_t by)
{
    for (int32_t i = 0; i < (int32_t)vec_len(list); i++)
        if ((i < begin || i >= end) && list[i].node >= from)
            list[i].node += by;
}

/* -- lists -- */

#define COPY(v)                                    \
    do {                                           \
        __typeof__(v) copy_ = NULL;                \
        for (size_t i_ = 0; i_ < vec_len(v); i_++) \
            vec_push(copy_, (v)[i_]);              \
        (v) = copy_;                               \
    } while (0)
/* Cuts a list: its entries behind `to` go to the vec `tail`, those from `from` on are dropped. */
#define CUT(v, from, to, tail)                                \
    do {                                                      \
        for (size_t i_ = (size_t)(to); i_ < vec_len(v); i_++) \
            vec_push(tail, (v)[i_]);                          \
        if (v)                                                \
            vec_head_of(v)->len = (size_t)(from);             \
    } while (0)
#define APPEND(v, tail)                               \
    do {                                              \
        for (size_t i_ = 0; i_ < vec_len(tail); i_++) \
            vec_push(v, (tail)[i_]);                  \
        vec_free(tail);                               \
    } while (0)

/* Copies the lists of the netlist, which are in its arena, to vecs that can grow and shrink. */
static void own_lists(flat_plan *p)
{
    flat *f = p->c.f;
    if (p->own)
        return;
    COPY(f->node);
    COPY(f->inst);
    COPY(f->model);
    COPY(f->ic);
    COPY(f->nodeset);
    p->own = true;
}

typedef struct tails {
    const char **node;
    flat_inst *inst;
    flat_model **model;
    const scope **home;
    flat_ic *ic, *nodeset;
    flat_save *save;
    extent *extent;
} tails;

static void cut(flat_plan *p, size_t k, const extent *o, tails *t)
{
    flat *f = p->c.f;
    CUT(f->node, o->from[MADE_NODE], o->to[MADE_NODE], t->node);
    CUT(f->inst, o->from[MADE_INST], o->to[MADE_INST], t->inst);
    CUT(f->model, o->from[MADE_MODEL], o->to[MADE_MODEL], t->model);
    CUT(p->c.model_home, o->from[MADE_MODEL], o->to[MADE_MODEL], t->home);
    CUT(f->ic, o->from[MADE_IC], o->to[MADE_IC], t->ic);
    CUT(f->nodeset, o->from[MADE_NODESET], o->to[MADE_NODESET], t->nodeset);
    CUT(p->extent, k, k + (size_t)o->n_extent, t->extent);
    t->save = f->save; /* not of the plan */
    f->save = NULL;
}

/* false: the instance has .save cards of its own. */
static bool append(flat_plan *p, tails *t)
{
    flat *f = p->c.f;
    const bool saves = f->save != NULL;
    APPEND(f->node, t->node);
    APPEND(f->inst, t->inst);
    APPEND(f->model, t->model);
    APPEND(p->c.model_home, t->home);
    APPEND(f->ic, t->ic);
    APPEND(f->nodeset, t->nodeset);
    vec_free(f->save);
    f->save = t->save;
    return !saves;
}

/* -- the plan -- */

static void lend_models(flat_plan *p, const extent *o)
{
    flat_ctx *c = &p->c;
    vec_clear(c->lent);
    for (int32_t i = o->from[MADE_MODEL]; i < o->to[MADE_MODEL]; i++)
        if (!is_own_model(c->f->model[i], c->model_home[i]))
            vec_push(c->lent, (struct lent){c->f->model[i], c->model_home[i]});
}

static bool is_lent(const flat_ctx *c, const flat_model *m)
{
    bool any = false;
    for (size_t i = 0; i < vec_len(c->lent); i++)
        any |= m && c->lent[i].m == m;
    return any;
}

static void forget(flat_plan *p, const extent *o)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(p->slot); i++)
        if (p->slot[i].s->life != SCOPE_GOES || is_lent(&p->c, p->slot[i].at.model))
            p->slot[n++] = p->slot[i];
    if (p->slot)
        vec_head_of(p->slot)->len = n;
    n = 0;
    for (size_t i = 0; i < vec_len(p->fact); i++)
        if (p->fact[i].s->life == SCOPE_HERE)
            p->fact[n++] = p->fact[i];
    if (p->fact)
        vec_head_of(p->fact)->len = n;
    n = 0;
    for (size_t i = 0; i < vec_len(p->param); i++)
        if (!begins_with(p->param[i]->path, o->s->path))
            p->param[n++] = p->param[i];
    if (p->param)
        vec_head_of(p->param)->len = n;
    n = 0;
    for (size_t i = 0; i < vec_len(p->aim); i++)
        if (!begins_with(p->aim[i].path, o->s->path))
            p->aim[n++] = p->aim[i];
    if (p->aim)
        vec_head_of(p->aim)->len = n;
}

/* Moves the numbers that slots hold. The first n slots are those outside of the extent. */
static void move_slots(flat_plan *p, size_t n, const extent *o, const int32_t *by)
{
    for (size_t i = 0; i < n; i++) {
        slot *q = &p->slot[i];
        if (q->inst >= o->to[MADE_INST])
            q->inst += by[MADE_INST];
        if (q->at.kind == SLOT_NODE_IC && q->at.k >= o->to[MADE_IC])
            q->at.k += by[MADE_IC];
        if (q->at.kind == SLOT_NODESET && q->at.k >= o->to[MADE_NODESET])
            q->at.k += by[MADE_NODESET];
    }
}

/* Parts before the k-th that reach behind it contain it; those of `tail` come later. */
static void move_extents(flat_plan *p, size_t k, const extent *o, const int32_t *by, extent **tail)
{
    const int32_t more = (int32_t)(vec_len(p->extent) - k) - o->n_extent;
    for (size_t i = 0; i < k; i++) {
        extent *q = &p->extent[i];
        if (i + (size_t)q->n_extent <= k)
            continue;
        q->n_extent += more;
        for (int l = 0; l < MADE_N_LIST; l++)
            q->to[l] += by[l];
    }
    for (size_t i = 0; i < vec_len(*tail); i++)
        for (int l = 0; l < MADE_N_LIST; l++) {
            (*tail)[i].from[l] += by[l];
            (*tail)[i].to[l] += by[l];
        }
    APPEND(p->extent, *tail);
}

/* Expands the instance again, as the expansion of the scope that it is in does. false: a message
 * was given, or more than this instance would change. */
static bool expand_again(flat_ctx *c, const extent *o)
{
    const int n_error = c->n_error = c->d->n_error;
    for (scope *s = o->s->caller; s; s = s->caller)
        s->b->in_progress = true;
    c->redoing = false;
    c->first_new = o->from[MADE_NODE];
    flat_expand_elem(c, o->s->caller, o->e);
    c->first_new = 0;
    c->redoing = true;
    for (size_t i = 0; i < vec_len(c->lent); i++)
        c->structural |=
            c->lent[i].m != NULL; /* another instance would now be the first to ask for it */
    for (scope *s = o->s->caller; s; s = s->caller)
        s->b->in_progress = false;
    return !c->stop && !c->structural && c->d->n_error == n_error;
}

static bool look_up_names(flat_plan *p)
{
    flat_ctx *c = &p->c;
    const int n_error = c->d->n_error;
    map_free(&c->inst_of);
    map_free(&c->node_of);
    flat_note_aims(p, c);
    if (vec_len(c->pend) || vec_len(c->pend_node))
        flat_resolve_pending(c);
    vec_clear(c->pend);
    vec_clear(c->pend_node);
    return c->d->n_error == n_error;
}

static bool redo_one(flat_plan *p, const scope *s)
{
    flat_ctx *c = &p->c;
    size_t k = 0;
    while (k < vec_len(p->extent) && p->extent[k].s != s)
        k++;
    if (k == vec_len(p->extent))
        return false;
    const extent o = p->extent[k];
    for (int32_t i = 0; i < o.n_extent; i++)
        p->extent[k + (size_t)i].s->life = SCOPE_GOES;
    if (!may_go(p, &o))
        return false;
    tails t = {0};
    move m = {0};
    note_places(&m, p, &o);
    lend_models(p, &o);
    forget(p, &o);
    for (int32_t i = 0; i < o.n_extent; i++)
        p->extent[k + (size_t)i].s->life = SCOPE_GONE;
    cut(p, k, &o, &t);
    const size_t n_slot = vec_len(p->slot);
    bool ok = expand_again(c, &o) && vec_len(p->extent) > k;
    int32_t by[MADE_N_LIST] = {0}, end[MADE_N_LIST];
    ends(c->f, end);
    for (int l = 0; l < MADE_SAVE; l++)
        by[l] = end[l] - o.to[l];
    ok &= append(p, &t);
    move_nodes(c, &m, by[MADE_NODE]);
    move_ics(c->f->ic, o.from[MADE_IC], end[MADE_IC], o.to[MADE_NODE], by[MADE_NODE]);
    move_ics(c->f->nodeset, o.from[MADE_NODESET], end[MADE_NODESET], o.to[MADE_NODE],
             by[MADE_NODE]);
    move_slots(p, n_slot, &o, by);
    move_extents(p, k, &o, by, &t.extent);
    return look_up_names(p) && ok;
}

static void list_used(flat_plan *p)
{
    const body *b = p->c.root->b;
    const char **used = NULL;
    for (size_t i = 0; i < vec_len(b->param_name); i++)
        if (p->c.root->param[i].used)
            vec_push(used, b->param_name[i]);
    p->c.f->used = vec_freeze(p->c.mem, used);
}

bool flat_redo_instances(flat_plan *p)
{
    flat_ctx *c = &p->c;
    bool ok = true;
    if (p->shares || vec_len(p->dirty) > MOST_INSTANCES)
        return false;
    own_lists(p);
    for (size_t i = 0; i < vec_len(p->dirty) && ok; i++) {
        vec_push(p->again, p->dirty[i]->path);
        ok = redo_one(p, p->dirty[i]);
    }
    for (size_t i = 0; i < vec_len(c->f->inst); i++)
        p->any_tree |= c->f->inst[i].rare->expr != NULL;
    list_used(p);
    vec_clear(p->owner);
    flat_sort_slots(p);
    return ok;
}

const char *const *flat_plan_again(const flat_plan *p, size_t *n)
{
    *n = vec_len(p->again);
    return p->again;
}
