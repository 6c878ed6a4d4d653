/* flat_redo.c - evaluates values of a flat netlist again, after something that they depend on
 * changed. Knobs are parameters from outside, the temperature that expressions see, the sample of
 * statistical functions: a bit each. While the deck is expanded each value that depends on one
 * becomes a *slot*: its expression, the scope it is evaluated in, its place. Slots of one instance
 * or model card form an owner. The evaluation is that of the expansion, in the same scopes, so that
 * numbers are the same to the last bit. Numbers may also decide what is no value: an .if, a bin,
 * which nodes an expression reads. If such a decision changes, the deck is expanded anew. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flat_redo.h"

flat_plan *flat_plan_new(void)
{
    flat_plan *p = vs_calloc(1, sizeof *p);
    arena_init(&p->trees);
    return p;
}

void flat_plan_free(flat_plan **pp)
{
    flat_plan *p = *pp;
    if (!p)
        return;
    if (p->own) {
        flat *f = p->c.f;
        vec_free(f->node);
        vec_free(f->inst);
        vec_free(f->model);
        vec_free(f->ic);
        vec_free(f->nodeset);
    }
    if (p->kept)
        flat_ctx_free(&p->c);
    vec_free(p->extent);
    vec_free(p->aim);
    vec_free(p->dirty);
    vec_free(p->again);
    vec_free(p->fact);
    vec_free(p->slot);
    vec_free(p->param);
    vec_free(p->mask);
    vec_free(p->anew);
    vec_free(p->owner);
    vec_free(p->knob);
    map_free(&p->knob_of);
    vec_free(p->watch);
    arena_fini(&p->trees);
    vs_free(p);
    *pp = NULL;
}

/* -- writing down -- */

busy flat_slot_begin(flat_ctx *c)
{
    c->mask = 0;
    return c->drawing;
}

void flat_structural(flat_ctx *c)
{
    if (c->plan)
        c->plan->structure |= c->mask;
}

void flat_guards_fact(flat_ctx *c, scope *s, uint64_t mask)
{
    if (c->redoing)
        s->guard_mask |= mask;
    if (!c->plan || c->redoing || !mask)
        return;
    s->guard_mask = mask;
    flat_choose_params(s); /* the branches decide which definitions count */
    vec_push(c->plan->fact, (fact){FACT_GUARDS, mask, s, NULL});
}

void flat_m_fact(flat_ctx *c, scope *s, const rhs *m, uint64_t mask)
{
    s->m_mask = mask;
    if (c->plan && !c->redoing && mask)
        vec_push(c->plan->fact, (fact){FACT_M, mask, s, m});
}

size_t flat_n_slot(const flat_ctx *c) { return c->plan ? vec_len(c->plan->slot) : 0; }

/* A bin depends on the sizes that the instance's slots give. */
static uint64_t bin_mask(const flat_plan *p, int32_t inst)
{
    static const char *const name[] = {"l", "w", "nf", "wnflag"};
    uint64_t mask = 0;
    for (size_t i = vec_len(p->slot); i-- > 0 && (p->slot[i].inst == inst || p->slot[i].at.model);)
        for (size_t k = 0; k < VS_COUNT(name) && p->slot[i].at.kind == SLOT_PARAM &&
                           !p->slot[i].at.model && p->slot[i].at.param;
             k++)
            if (!strcmp(p->slot[i].at.param->name, name[k]))
                mask |= p->slot[i].mask;
    return mask;
}

void flat_slot_end(flat_ctx *c, scope *s, const rhs *v, busy before, flat_slot_at at)
{
    flat_plan *p = c->plan;
    if (!p || c->redoing)
        return;
    const bool card = at.kind == SLOT_NODE_IC || at.kind == SLOT_NODESET;
    const int32_t inst =
        at.model || card || at.kind == SLOT_ANA ? -1 : (int32_t)vec_len(c->f->inst);
    const uint64_t mask = at.kind == SLOT_BIN ? bin_mask(p, inst) : c->mask;
    if (!mask)
        return;
    const rhs *keep = v;
    if (card) {
        rhs *copy = arena_new(c->mem, rhs);
        *copy = *v;
        keep = copy;
    }
    vec_push(p->slot, (slot){.at = at,
                             .mask = mask,
                             .s = s,
                             .v = keep,
                             .inst = inst,
                             .before = before,
                             .n_draw = c->drawing.n_draw});
}

void flat_slots_shift(flat_ctx *c, const flat_param *list, size_t i)
{
    if (!c->plan)
        return;
    const int32_t inst = (int32_t)vec_len(c->f->inst);
    for (size_t k = vec_len(c->plan->slot); k-- > 0 && c->plan->slot[k].inst == inst;) {
        slot *o = &c->plan->slot[k];
        if (!o->at.param || o->at.param < list + i)
            continue;
        if (o->at.param == list + i)
            c->plan->structure |= o->mask; /* the word of a model */
        else
            o->at.param--;
    }
}

flat_outer flat_param_begin(flat_ctx *c, const pval *p)
{
    const flat_outer outer = {c->mask, c->giving};
    c->mask = p->knob;
    c->giving = p->in ? p : NULL;
    return outer;
}

void flat_param_end(flat_ctx *c, pval *p, flat_outer outer)
{
    if ((c->redoing || (c->first_new && p->listed)) && c->mask & ~p->mask)
        c->structural = true; /* the value depends on knobs that the plan does not know of */
    if (c->plan && c->mask && !p->listed) {
        vec_push(c->plan->param, p);
        p->listed = true;
    }
    if (c->plan && c->mask & ~p->mask)
        c->plan->masked = false;
    p->mask |= c->mask;
    c->mask = outer.mask | p->mask;
    c->giving = outer.giving;
}

/* -- owners -- */

static flat_owner_kind kind_of(const slot *o)
{
    return o->at.kind == SLOT_ANA ? FLAT_OWNER_ANA
           : o->at.model          ? FLAT_OWNER_MODEL
           : o->inst >= 0         ? FLAT_OWNER_INST
                                  : FLAT_OWNER_IC;
}

typedef struct key {
    int32_t kind, order, at; /* order: of the owner; at: place in the list before */
} key;

static int compare_keys(const void *va, const void *vb)
{
    const key *a = va, *b = vb;
    return a->kind != b->kind     ? a->kind - b->kind
           : a->order != b->order ? a->order - b->order
                                  : a->at - b->at;
}

/* Slots of model cards stand among those of the instance that needed the card first. */
void flat_sort_slots(flat_plan *p)
{
    map number = {0};
    key *k = NULL;
    slot *sorted = NULL;
    for (size_t i = 0; i < vec_len(p->slot); i++) {
        const slot *o = &p->slot[i];
        int32_t order = o->inst;
        if (o->at.model) {
            order = map_get(&number, map_key(o->at.model), -1);
            if (order < 0)
                map_set(&number, map_key(o->at.model), order = (int32_t)number.n);
        }
        vec_push(k, (key){kind_of(o), order, (int32_t)i});
    }
    if (k)
        qsort(k, vec_len(k), sizeof *k, compare_keys);
    for (size_t i = 0; i < vec_len(k); i++) {
        const slot *o = &p->slot[k[i].at];
        const bool same = i && k[i].kind == k[i - 1].kind && k[i].order == k[i - 1].order;
        vec_push(sorted, *o);
        if (!same)
            vec_push(p->owner, (flat_owner){.kind = kind_of(o),
                                            .inst = o->inst,
                                            .model = o->at.model,
                                            .begin = (int32_t)i});
        vec_last(p->owner).end = (int32_t)i + 1;
        vec_last(p->owner).mask |= o->mask;
    }
    vec_free(p->slot);
    p->slot = sorted;
    vec_free(k);
    map_free(&number);
}

void flat_plan_keep(flat_plan *p, const flat_ctx *c, bool shares)
{
    p->c = *c;
    p->kept = true;
    p->shares = shares;
    p->c.mem = &p->trees;
    flat_note_aims(p, c);
    vec_clear(p->c.pend);
    vec_clear(p->c.pend_node);
    for (size_t i = 0; i < c->n_over; i++)
        vec_push(p->knob, str_intern_lower(c->names, c->over[i].name, strlen(c->over[i].name)));
    for (size_t i = 0; i < vec_len(p->watch); i++)
        vec_push(p->knob, p->watch[i]);
    for (size_t i = vec_len(p->knob); i-- > 0;)
        map_set(&p->knob_of, map_key(p->knob[i]), (int32_t)i); /* the first of equal names stays */
    p->c.over = NULL;
    flat_sort_slots(p);
}

void flat_plan_watch(flat_plan *p, const char *name) { vec_push(p->watch, name); }

size_t flat_plan_most_watched(size_t n_over) { return n_over < KNOB_MANY ? KNOB_MANY - n_over : 0; }

/* Where there are more watched ones than knobs, several have one. */
static size_t knob_of_watched(size_t n_over, size_t i)
{
    const size_t most = flat_plan_most_watched(n_over);
    return most ? n_over + i % most : KNOB_MANY;
}

void flat_watch_params(const flat_ctx *c, scope *s)
{
    for (size_t i = 0; c->plan && i < vec_len(c->plan->watch); i++) {
        const int32_t k = map_get(&s->b->param_slot, map_key(c->plan->watch[i]), -1);
        if (k >= 0 && !s->param[k].fixed)
            s->param[k].watch = knob_bit(knob_of_watched(c->n_over, i));
    }
}

const flat_owner *flat_plan_owners(const flat_plan *p, size_t *n)
{
    *n = vec_len(p->owner);
    return p->owner;
}

uint64_t flat_plan_structure(const flat_plan *p) { return p->structure | UINT64_C(1) << KNOB_MANY; }

int flat_plan_knob(const flat_plan *p, const char *name)
{
    const size_t n_over = vec_len(p->knob) - vec_len(p->watch);
    const int32_t at = map_get(&p->knob_of, map_key(name), -1);
    if (at < 0)
        return -1;
    const size_t i = (size_t)at, knob = i < n_over ? i : knob_of_watched(n_over, i - n_over);
    return knob < KNOB_MANY ? (int)knob : KNOB_MANY;
}

void flat_plan_moved(flat_plan *p, const flat_param *old, flat_param *list, const char *gone)
{
    for (size_t i = 0; i < vec_len(p->slot); i++) {
        flat_slot_at *at = &p->slot[i].at;
        if (!at->param || at->param < old || at->param >= old + vec_len(old))
            continue;
        const char *name = at->param->name;
        flat_param *to = NULL;
        for (size_t k = 0; k < vec_len(list) && name != gone; k++)
            if (list[k].name == name)
                to = &list[k];
        at->param = to;
    }
}

bool flat_plan_param(flat_plan *p, const char *name, double *value)
{
    const scope *root = p->c.root;
    int32_t k = map_get(&root->b->param_slot, map_key(flat_csparam_name(&p->c, name)), -1);
    if (k < 0)
        k = map_get(&root->b->param_slot, map_key(name), -1);
    if (k < 0 || !root->param[k].v || root->param[k].state != P_DONE || root->param[k].str)
        return false;
    *value = root->param[k].value;
    return true;
}

/* -- again -- */

/* A watched parameter has its own definition unless it has a value from outside. */
static void set_watched(flat_plan *p, pval *v, const flat_override *o)
{
    if (!o && v->own) {
        v->v = v->own;
        v->own = NULL;
        v->fixed = false;
    } else if (o && !v->own) {
        rhs *number = arena_new(&p->trees, rhs);
        *number = flat_number(&p->c, o->value, DIAG_NOWHERE);
        v->own = v->v;
        v->v = number;
        v->fixed = true;
    } else if (o) {
        ((net_expr *)(uintptr_t)v->v->e)->num = o->value;
    }
}

static void set_knob(flat_plan *p, size_t i, const flat_override *o)
{
    scope *root = p->c.root;
    const int32_t k = map_get(&root->b->param_slot, map_key(p->knob[i]), -1);
    if (k < 0 || !root->param[k].v)
        return;
    pval *v = &root->param[k];
    if (v->watch)
        set_watched(p, v, o);
    else if (o)
        ((net_expr *)(uintptr_t)v->v->e)->num = o->value;
    if (o) /* also of knobs without slots: values evaluated from now on may read them */
        v->value = o->value;
}

/* Of watched ones, which may be thousands, those that a changed knob stands for. */
static void set_knobs(flat_plan *p, const flat_override *over, size_t n_over)
{
    const size_t n = vec_len(p->knob) - vec_len(p->watch), most = flat_plan_most_watched(n);
    for (size_t i = 0; i < n; i++)
        set_knob(p, i, i < n_over ? &over[i] : NULL);
    for (size_t k = 0; k < most; k++)
        for (size_t i = n + k; p->changed >> (n + k) & 1 && i < vec_len(p->knob); i += most) {
            const flat_override *o = NULL;
            for (size_t j = 0; j < n_over; j++)
                o = over[j].name == p->knob[i] ? &over[j] : o;
            set_knob(p, i, o);
        }
}

/* Has the branch nothing but parameters? */
static bool only_params(const body *b, int32_t guard)
{
    bool more = false;
    for (size_t i = 0; i < vec_len(b->item); i++)
        more |= b->item[i].guard == guard;
    for (size_t i = 0; i < vec_len(b->func); i++)
        more |= b->func[i].guard == guard;
    for (size_t i = 0; i < vec_len(b->model); i++)
        more |= b->model[i].guard == guard;
    for (size_t i = 0; i < vec_len(b->subs); i++)
        more |= b->subs[i].guard == guard;
    for (size_t i = 0; i < vec_len(b->other); i++)
        more |= b->other[i].guard == guard;
    return !more;
}

/* Decides the branches of a scope again. false: the elements or names that there are change. */
static bool redo_guards(flat_plan *p, scope *s)
{
    const body *b = s->b;
    const size_t n = vec_len(b->branch), n_param = vec_len(b->param_name);
    uint8_t *on = arena_array(&p->c.scratch, uint8_t, n);
    bool *defined = arena_array(&p->c.scratch, bool, n_param);
    memcpy(on, s->on, n);
    for (size_t i = 0; i < n_param; i++)
        defined[i] = s->param[i].v != NULL;
    const uint64_t guard_mask = s->guard_mask;
    p->masked = false;
    bool same = flat_decide_guards(&p->c, s) && s->guard_mask == guard_mask;
    for (size_t i = 0; i < n; i++)
        same &= (on[i] & 1) == (s->on[i] & 1) || only_params(b, (int32_t)i);
    for (size_t i = 0; i < n_param; i++)
        same &= defined[i] == (s->param[i].v != NULL);
    flat_choose_params(s); /* values that conditions asked for are forgotten, as in the extent */
    if (s == p->c.root)
        flat_eval_all(&p->c, s);
    for (size_t i = 0; i < n_param; i++)
        same &= s->param[i].state != P_BAD;
    return same;
}

/* Facts in the order of the expansion: what one depends on stands before it. */
static void redo_facts(flat_plan *p)
{
    for (size_t i = 0; i < vec_len(p->fact) && !p->c.structural; i++) {
        const fact *o = &p->fact[i];
        if (!(o->mask & p->changed) || flat_is_dirty(p, o->s))
            continue;
        p->c.mask = 0;
        if (o->what == FACT_M ? flat_take_m(&p->c, o->s, o->m) && !(p->c.mask & ~o->mask)
                              : redo_guards(p, o->s))
            continue;
        if (o->what == FACT_GUARDS && o->s != p->c.root)
            vec_push(p->dirty, o->s);
        else
            p->c.structural = true;
    }
}

static void forget_param(flat_plan *p, pval *v)
{
    v->folded = NULL;
    v->again = v->state == P_DONE;
    if (v->again)
        v->state = P_NEW;
    vec_push(p->anew, v);
}

/* Forgets the values of parameters that depend on what changed. Many may be watched of which few
 * change: their masks stand side by side. */
static void forget_params(flat_plan *p)
{
    enum { N = 8 };
    if (!p->masked) {
        vec_clear(p->mask);
        for (size_t i = 0; i < vec_len(p->param); i++)
            vec_push(p->mask, p->param[i]->mask);
        while (vec_len(p->mask) % N)
            vec_push(p->mask, 0);
        p->masked = true;
    }
    vec_clear(p->anew);
    for (size_t i = 0; i < vec_len(p->mask); i += N) {
        uint64_t any = 0;
        for (size_t k = i; k < i + N; k++)
            any |= p->mask[k];
        for (size_t k = i; k < i + N && any & p->changed; k++)
            if (p->mask[k] & p->changed)
                forget_param(p, p->param[k]);
    }
}

/* Parameters of the top level are evaluated whether a slot asks for them or not, as the expansion
 * does. */
static void eval_params(flat_plan *p)
{
    const body *b = p->c.root->b;
    for (size_t i = 0; i < vec_len(p->anew) && !p->c.structural; i++) {
        const pval *v = p->anew[i], *first = p->c.root->param;
        if (!v->again || v->state != P_NEW || v < first || v >= first + vec_len(b->param_name))
            continue;
        const net_expr e = {
            .op = NET_PARAM, .name = b->param_name[v - first], .span = DIAG_NOWHERE};
        const rhs name = {.e = &e, .span = DIAG_NOWHERE, .given = true};
        const char *str;
        double y;
        p->c.structural |= !flat_value(&p->c, p->c.root, &name, &y, &str);
    }
}

void flat_redo_begin(flat_plan *p, const flat_override *over, size_t n_over, double temper,
                     uint64_t changed)
{
    flat_ctx *c = &p->c;
    p->changed = changed;
    p->any_tree = false;
    p->scratch = arena_mark(&c->scratch);
    c->redoing = true;
    vec_clear(p->dirty);
    vec_clear(p->again);
    map_free(&c->said);
    c->structural = (changed & flat_plan_structure(p)) != 0;
    c->temper = temper;
    set_knobs(p, over, n_over);
    forget_params(p);
    redo_facts(p);
    eval_params(p);
}

/* A value, and whether it is another one: -0 and 0 are two. */
static void put(flat_plan *p, double *to, double value)
{
    p->moved |= memcmp(to, &value, sizeof value) != 0;
    *to = value;
}

static bool redo_number(flat_plan *p, const slot *o, double *to)
{
    double y;
    if (!flat_eval(&p->c, o->s, o->v, &y))
        return false;
    put(p, to, y);
    return true;
}

static bool redo_param(flat_plan *p, const slot *o)
{
    double y;
    const char *str, *before = o->at.param->str;
    if (!flat_value(&p->c, o->s, o->v, &y, &str) || str || before)
        return false;
    put(p, &o->at.param->value, y);
    return true;
}

static bool redo_m(flat_plan *p, const slot *o, flat_inst *x)
{
    double y = 1;
    if (o->v->given && !flat_eval(&p->c, o->s, o->v, &y))
        return false;
    put(p, &x->m, o->s->m * y);
    return y >= 0;
}

static bool redo_bin(flat_plan *p, const slot *o, flat_inst *x)
{
    bool bad = false;
    const flat_model *was = x->rare->model;
    flat_own_rare(p->c.mem, x)->model = flat_find_bin(&p->c, o->s, o->at.name, x, &bad);
    p->moved |= x->rare->model != was;
    return x->rare->model && !bad;
}

static bool redo_tree(flat_plan *p, const slot *o, flat_inst *x)
{
    const net_expr *e = flat_fold(&p->c, o->s, o->v);
    p->any_tree = true;
    if (!e || (o->at.kind == SLOT_RCL && (e->op == NET_NUM) != (x->rare->expr == NULL)))
        return false;
    if (o->at.kind == SLOT_RCL && e->op == NET_NUM) {
        put(p, &o->at.param->value, e->num);
    } else {
        flat_own_rare(p->c.mem, x)->expr = e;
        p->moved = true;
    }
    return true;
}

/* The card is read again; its analysis takes the place of the one that it gave. */
static bool redo_ana(flat_plan *p, const slot *o)
{
    flat_ctx *c = &p->c;
    flat_ana *all = c->f->ana;
    c->f->ana = NULL;
    flat_top_card(c, o->at.card);
    const bool ok = vec_len(c->f->ana) == 1;
    if (ok)
        all[o->at.k] = c->f->ana[0];
    vec_free(c->f->ana);
    c->f->ana = all;
    p->moved = true;
    return ok;
}

static bool redo_slot(flat_plan *p, const slot *o)
{
    flat_ctx *c = &p->c;
    flat_inst *x = o->inst >= 0 ? &c->f->inst[o->inst] : NULL;
    switch (o->at.kind) {
    case SLOT_NUMBER: return redo_number(p, o, o->at.number);
    case SLOT_PARAM: return !o->at.param || redo_param(p, o);
    case SLOT_M: return redo_m(p, o, x);
    case SLOT_IC: return redo_number(p, o, &flat_own_rare(c->mem, x)->ic[o->at.k]);
    case SLOT_EXPR: return redo_tree(p, o, x);
    case SLOT_RCL: return !o->at.param || redo_tree(p, o, x);
    case SLOT_BIN: return redo_bin(p, o, x);
    case SLOT_NODE_IC: return redo_number(p, o, &c->f->ic[o->at.k].value);
    case SLOT_NODESET: return redo_number(p, o, &c->f->nodeset[o->at.k].value);
    case SLOT_ANA: return redo_ana(p, o);
    }
    return false;
}

vs_status flat_redo_owner(flat_plan *p, size_t owner, bool *moved)
{
    const flat_owner *w = &p->owner[owner];
    flat_ctx *c = &p->c;
    p->moved = false;
    for (int32_t i = w->begin; i < w->end && !c->structural; i++) {
        const slot *o = &p->slot[i];
        if (!(o->mask & p->changed) ||
            (!o->at.model && flat_is_dirty(p, o->s))) /* others may use a model card of it */
            continue;
        c->drawing = o->before;
        c->mask = 0;
        const bool ok = redo_slot(p, o);
        c->structural |=
            !ok || c->mask & ~o->mask || (o->at.kind != SLOT_BIN && c->drawing.n_draw != o->n_draw);
    }
    size_t at;
    if (w->kind == FLAT_OWNER_INST && c->f->inst[w->inst].rare->source)
        c->structural |= flat_pwl_goes_back(c->f->inst[w->inst].rare->source, &at);
    *moved = p->moved;
    return c->structural ? VS_REJECT : VS_OK;
}

vs_status flat_redo_end(flat_plan *p)
{
    flat_ctx *c = &p->c;
    if (!c->structural && vec_len(c->pend)) {
        const int before = c->d->n_error;
        flat_resolve_pending(c);
        c->structural |= c->d->n_error > before;
    }
    vec_clear(c->pend);
    if (!c->structural && vec_len(p->dirty)) {
        p->masked = false;
        c->structural = !flat_redo_instances(p);
    }
    if (!c->structural && p->any_tree)
        c->structural |= p->shares || flat_share(c, true);
    c->structural |= p->trees.total + c->scratch.total > MAX_TREES;
    if (!vec_len(p->again)) /* whose scopes are there */
        arena_release(&c->scratch, p->scratch);
    return c->structural ? VS_REJECT : VS_OK;
}
