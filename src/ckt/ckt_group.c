/* ckt_group.c - the groups of a circuit: which instances are evaluated together, and reports about
 * it. Instances with one parameter row are a class; classes with the same variants in all forms are
 * a group. Then small groups of one module become one, on a variant of what is known in all of
 * them, where that saves packs (docs/design.md, 3.7). The rule counts packs of eight and
 * operations: the same groups for any lanes, threads and order of points. */
#include "ckt_priv.h"

#include <string.h>

/* When bypass=auto holds linearisations of a model: from this many operations per output on.
 * Circuits of at most BYPASS_SMALL instances mostly have the loads of ckt_small.c, which cost less:
 * there bypass pays from more operations on. If such a small circuit has lines or the like, it pays
 * only if the model has so few instances that all of them often rest at once, or if there are many
 * that are as heavy. */
enum { BYPASS_PER_OUT = 30, BYPASS_SMALL = 64, BYPASS_SMALL_OPERATIONS = 2000, BYPASS_FEW = 8 };

typedef struct row_class { /* instances with the same model and row */
    int32_t row;           /* of the model */
    int32_t group;         /* of the plan */
} row_class;

typedef struct row_look { /* what a row is evaluated with */
    mdl_model *model;
    int32_t row;                      /* one of those that look so */
    mdl_variant *variant[MDL_N_FORM]; /* NULL: forms that nobody asked for; APART also where nothing
                                         is held */
} row_look;

static vs_status get_variants(row_look *cl, unsigned forms)
{
    for (int f = 0; f < MDL_N_FORM; f++)
        if (forms >> f & 1 && mdl_plan_get(cl->model, cl->row, f, &cl->variant[f]) != VS_OK)
            return VS_EINPUT;
    return VS_OK;
}

static bool small_pays(const ckt *c, const row_look *cl)
{
    int32_t n = 0;
    for (size_t i = 0; i < vec_len(c->inst); i++)
        n += c->inst[i].model == cl->model;
    return mdl_variant_values(cl->variant[MDL_TRAN]) >= BYPASS_SMALL_OPERATIONS &&
           (ckt_small_suits(c) || n <= BYPASS_FEW || c->n_heavy > BYPASS_FEW);
}

/* Of a circuit of few devices those that bypass spares most. */
static int32_t count_heavy(const ckt *c)
{
    int32_t n = 0;
    if (vec_len(c->inst) > BYPASS_SMALL || !(c->forms >> MDL_TRAN & 1))
        return 0;
    for (size_t i = 0; i < vec_len(c->inst); i++) {
        mdl_variant *v;
        if (mdl_plan_get(c->inst[i].model, c->inst[i].row, MDL_TRAN, &v) == VS_OK)
            n += mdl_variant_values(v) >= BYPASS_SMALL_OPERATIONS;
    }
    return n;
}

/* Asks for charges and derivatives apart where bypass pays. */
static vs_status choose_bypass(const ckt *c, row_look *cl)
{
    const mdl_variant *v = cl->variant[MDL_TRAN];
    mdl_variant *apart;
    if (c->opt.bypass == CKT_BYPASS_OFF)
        return VS_OK;
    if (c->opt.bypass == CKT_BYPASS_AUTO &&
        (mdl_variant_values(v) < BYPASS_PER_OUT * (size_t)v->lay.n_out ||
         (vec_len(c->inst) <= BYPASS_SMALL && !small_pays(c, cl))))
        return VS_OK;
    const vs_status st = mdl_plan_get(cl->model, cl->row, MDL_APART, &apart);
    if (st == VS_OK && dev_lin_suits(cl->model, v, apart))
        cl->variant[MDL_APART] = apart;
    return st;
}

/* How many batches may be evaluated and wait for being stamped. */
int ckt_buffers_of(const ckt *c)
{
    const int n = c->pool ? 2 * pool_size(c->pool) + 2 : 1;
    return n < POOL_MAX_SLOTS ? n : POOL_MAX_SLOTS;
}

/* Is the form evaluated? Others serve for their pattern only. */
static bool is_evaluated(const ckt *c, const row_look *cl, int form)
{
    return form == MDL_DC     ? ckt_form_of(c, CKT_STATIC) == MDL_DC
           : form == MDL_TRAN ? !cl->variant[MDL_APART]
                              : true;
}

const char *ckt_name_for(const void *c, int32_t inst) { return ((const ckt *)c)->inst[inst].name; }

/* Unknowns of an instance to the end of *unk, which does not move. */
static const int32_t *move_unknowns(ckt *c, ckt_inst *in, int32_t **unk)
{
    const size_t n = (size_t)mdl_n_unknown(in->model), to = vec_len(*unk);
    vec_extend(*unk, n);
    memcpy(&(*unk)[to], &c->unk[in->first], n * sizeof **unk);
    in->first = (int32_t)to;
    return &(*unk)[to];
}

static void make_group(ckt *c, const int32_t *member, int32_t nb, const row_look *cl,
                       int32_t n_variant, bool whole, int32_t **unk)
{
    int32_t *inst = NULL, *row = NULL;
    const int32_t **unknown = NULL;
    vec_reserve(inst, nb);
    vec_reserve(row, nb);
    vec_reserve(unknown, nb);
    for (int32_t i = 0; i < nb; i++) {
        vec_push(inst, member[i]);
        vec_push(row, c->inst[member[i]].row);
        vec_push(unknown, move_unknowns(c, &c->inst[member[i]], unk));
    }
    vec_extend(c->group, 1);
    dev_group *g = &vec_last(c->group);
    dev_group_init(g, &c->mem, cl->model, inst, row, nb);
    g->n_variant = n_variant;
    g->unknown = unknown[0];
    g->gathers = cl->variant[MDL_APART] && (!whole || nb > DEV_WHOLE_PACK);
    g->who = ckt_name_for;
    g->who_user = c;
    for (int f = 0; f < MDL_N_FORM; f++) {
        if (!cl->variant[f])
            continue;
        mdl_variant_use(cl->variant[f]);
        dev_form_add(g, &c->mem, f, cl->variant[f], unknown, is_evaluated(c, cl, f));
    }
    dev_state_init(g, &c->mem);
    if (cl->variant[MDL_APART])
        dev_lin_init(g, &c->mem, whole ? 0 : ckt_buffers_of(c));
    vec_free(inst);
    vec_free(row);
    vec_free(unknown);
}

/* -- who is evaluated together -- */

typedef struct plan_group {
    row_look look;     /* of the first of its classes */
    bool gone;         /* the group was joined to another */
    int32_t n;         /* instances */
    int32_t n_variant; /* that its classes had */
    int32_t before;    /* group of the same model, -1: none */
} plan_group;

typedef struct plan {
    const int32_t *row; /* [instances] */
    const uint8_t *in;  /* [instances] takes part; NULL: all do */
    row_class *all;     /* vec: classes, in the order of their first instances */
    int32_t *of;        /* vec: class of an instance, -1: takes no part */
    plan_group *group;  /* vec */
    map last;           /* model -> its last group */
    int32_t *rows;      /* vec: work */
} plan;

static row_look *look_of(const plan *p, int32_t group) { return &p->group[group].look; }

static void free_plan(plan *p)
{
    vec_free(p->all);
    vec_free(p->of);
    vec_free(p->group);
    map_free(&p->last);
    vec_free(p->rows);
}

/* The group of a row: that of an earlier one with the same variants. */
static int32_t group_of(plan *p, const row_look *cl)
{
    const int32_t last = map_get(&p->last, map_key(cl->model), -1), n = (int32_t)vec_len(p->group);
    for (int32_t g = last; g >= 0; g = p->group[g].before)
        if (!memcmp(look_of(p, g)->variant, cl->variant, sizeof cl->variant))
            return g;
    vec_push(p->group, (plan_group){.look = *cl, .n_variant = 1, .before = last});
    map_set(&p->last, map_key(cl->model), n);
    return n;
}

static vs_status add_class(const ckt *c, plan *p, mdl_model *m, int32_t row)
{
    row_look look = {.model = m, .row = row};
    vs_status st = get_variants(&look, c->forms);
    if (st == VS_OK && c->forms >> MDL_TRAN & 1)
        st = choose_bypass(c, &look);
    if (st == VS_OK)
        vec_push(p->all, (row_class){row, group_of(p, &look)});
    return st;
}

/* Classes of each row of each model, by the order in which models come. */
typedef struct class_table {
    map model;
    int32_t **of; /* vec of vecs: class + 1 of a row; 0: none yet */
} class_table;

static int32_t *entry_of(class_table *t, const mdl_model *m, int32_t row)
{
    int32_t mi = map_get(&t->model, map_key(m), -1);
    if (mi < 0) {
        map_set(&t->model, map_key(m), mi = (int32_t)vec_len(t->of));
        vec_push(t->of, NULL);
        vec_extend(t->of[mi], mdl_n_row(m));
    }
    return &t->of[mi][row];
}

static void free_table(class_table *t)
{
    for (size_t i = 0; i < vec_len(t->of); i++)
        vec_free(t->of[i]);
    vec_free(t->of);
    map_free(&t->model);
}

/* Classes, a group number each, with variants of their own. */
static vs_status classify(const ckt *c, plan *p)
{
    class_table table = {0};
    vs_status st = VS_OK;
    vec_reserve(p->of, vec_len(c->inst));
    for (size_t i = 0; i < vec_len(c->inst) && st == VS_OK; i++) {
        const ckt_inst *in = &c->inst[i];
        if (p->in && !p->in[i]) {
            vec_push(p->of, -1);
            continue;
        }
        int32_t *k = entry_of(&table, in->model, p->row[i]);
        if (!*k) {
            *k = (int32_t)vec_len(p->all) + 1;
            st = add_class(c, p, in->model, p->row[i]);
            if (st != VS_OK)
                diag_note(c->d, ckt_inst_span(in), "in instance '%s'", in->name);
        }
        if (st == VS_OK)
            p->group[p->all[*k - 1].group].n++;
        vec_push(p->of, *k - 1);
    }
    free_table(&table);
    return st;
}

/* -- small groups of one module on one variant -- */

/* When small groups of a model become one. The model has few instances and groups, an evaluation is
 * long enough (operations), and the shared code is not much longer than the longest of the variants
 * (percent). Setup values of a row per lane are read eight at a time, so joining must save
 * JOIN_COST percent. Of a group that holds linearisations by instance a load evaluates a part, one
 * of JOIN_REST mostly: its packs count, and there may be more instances. */
enum {
    JOIN_MOST = 64,
    JOIN_MOST_HELD = 256,
    JOIN_REST = 4,
    JOIN_GROUPS = 6,
    JOIN_LEAST = 64,
    JOIN_PACK = 8,
    JOIN_LONGER = 125,
    JOIN_COST = 110
};

/* Operations of packs of eight: of two groups, and of one in their place. */
typedef struct join_cost {
    double apart, joined;
} join_cost;

/* Packs that a load evaluates of n instances. How many of those that are held moved changes from
 * load to load: half of the last pack is empty in the mean. */
static double packs(int32_t n, bool held)
{
    const double moved = (double)n / JOIN_REST / JOIN_PACK + 0.5;
    return !held ? (n + JOIN_PACK - 1) / JOIN_PACK : moved > 1 ? moved : 1;
}

/* Are linearisations of the class held by instance? */
static bool is_held(const row_look *cl) { return cl->variant[MDL_APART] != NULL; }

static bool same_places(const mdl_variant *a, const mdl_variant *b)
{
    bool same = a->lay.n_out == b->lay.n_out;
    for (int32_t k = 0; same && k < a->lay.n_out; k++)
        same = a->out[k].kind == b->out[k].kind && a->out[k].a == b->out[k].a &&
               a->out[k].b == b->out[k].b;
    return same;
}

static bool is_small(const plan *p, int32_t last)
{
    int32_t n = 0, groups = 0;
    for (int32_t g = last; g >= 0 && groups <= JOIN_GROUPS; g = p->group[g].before) {
        n += p->group[g].n;
        groups++;
    }
    return groups > 1 && groups <= JOIN_GROUPS && n <= JOIN_MOST_HELD;
}

static bool may_join(const plan *p, int32_t g, int32_t h)
{
    const row_look *a = look_of(p, g), *b = look_of(p, h);
    const int32_t na = p->group[g].n, nb = p->group[h].n;
    for (int f = 0; f < MDL_N_FORM; f++) {
        const mdl_variant *va = a->variant[f], *vb = b->variant[f];
        if (!va != !vb ||
            (va && (mdl_variant_values(va) < JOIN_LEAST || mdl_variant_values(vb) < JOIN_LEAST ||
                    va->has_effects || vb->has_effects || !same_places(va, vb))))
            return false;
    }
    const bool held = is_held(a);
    return (held || na + nb <= JOIN_MOST) &&
           packs(na + nb, held) < packs(na, held) + packs(nb, held);
}

/* One form of groups g and h on one variant; *v NULL: not to be done. p->rows: the rows of both. */
static vs_status join_form(const ckt *c, const plan *p, int32_t g, int32_t h, int form,
                           mdl_variant **v, join_cost *cost)
{
    const row_look *a = look_of(p, g);
    const int32_t na = p->group[g].n, nb = p->group[h].n;
    const mdl_variant *va = a->variant[form], *vb = look_of(p, h)->variant[form];
    const vs_status st = mdl_plan_meet(a->model, p->rows, vec_len(p->rows), (mdl_form_kind)form, v);
    if (st != VS_OK || !*v)
        return st;
    if (is_evaluated(c, a, form)) {
        const bool held = is_held(a);
        cost->apart += packs(na, held) * (double)mdl_variant_values(va) +
                       packs(nb, held) * (double)mdl_variant_values(vb);
        cost->joined += packs(na + nb, held) * (double)mdl_variant_values(*v);
    }
    const size_t na_values = mdl_variant_values(va), nb_values = mdl_variant_values(vb);
    const size_t longest = na_values > nb_values ? na_values : nb_values;
    if (!same_places(*v, va) || (*v)->has_effects ||
        100 * mdl_variant_values(*v) > JOIN_LONGER * longest ||
        100 * cost->apart < JOIN_COST * cost->joined)
        *v = NULL;
    return VS_OK;
}

/* Variants of g and h together; all NULL: not to be done. */
static vs_status join_forms(const ckt *c, const plan *p, int32_t g, int32_t h, mdl_variant **v)
{
    const row_look *a = look_of(p, g);
    join_cost cost = {0};
    bool ok = true;
    for (int f = MDL_N_FORM; f-- > 0 && ok;) {
        const vs_status st = a->variant[f] ? join_form(c, p, g, h, f, &v[f], &cost) : VS_OK;
        if (st != VS_OK)
            return st;
        ok = !a->variant[f] || v[f];
    }
    if (ok && v[MDL_APART])
        ok = dev_lin_suits(a->model, v[MDL_TRAN], v[MDL_APART]);
    for (int f = 0; f < MDL_N_FORM && !ok; f++)
        v[f] = NULL;
    return VS_OK;
}

/* Group h becomes part of group g if that pays. */
static vs_status join(const ckt *c, plan *p, int32_t g, int32_t h)
{
    mdl_variant *v[MDL_N_FORM] = {NULL};
    bool any = false;
    vec_clear(p->rows);
    for (size_t k = 0; k < vec_len(p->all); k++)
        if (p->all[k].group == g || p->all[k].group == h)
            vec_push(p->rows, p->all[k].row);
    const vs_status st = join_forms(c, p, g, h, v);
    for (int f = 0; f < MDL_N_FORM; f++)
        any |= v[f] != NULL;
    if (st != VS_OK || !any)
        return st;
    for (size_t k = 0; k < vec_len(p->all); k++)
        if (p->all[k].group == h)
            p->all[k].group = g;
    memcpy(look_of(p, g)->variant, v, sizeof v);
    p->group[g].n += p->group[h].n;
    p->group[g].n_variant += p->group[h].n_variant;
    p->group[h].gone = true;
    return VS_OK;
}

/* The groups of one model, of which `last` is the last: each to the first one before it with which
 * that pays. */
static vs_status join_model(const ckt *c, plan *p, int32_t last)
{
    int32_t group[JOIN_GROUPS], n = 0;
    vs_status st = VS_OK;
    if (!is_small(p, last))
        return VS_OK;
    for (int32_t g = last; g >= 0; g = p->group[g].before)
        group[n++] = g;
    for (int32_t h = n - 2; h >= 0; h--)
        for (int32_t g = n - 1; g > h && st == VS_OK && !p->group[group[h]].gone; g--)
            if (!p->group[group[g]].gone && may_join(p, group[g], group[h]))
                st = join(c, p, group[g], group[h]);
    return st;
}

static vs_status make_plan(const ckt *c, plan *p)
{
    vs_status st = classify(c, p);
    for (int32_t g = 0; g < (int32_t)vec_len(p->group) && st == VS_OK; g++)
        if (!p->group[g].gone && map_get(&p->last, map_key(look_of(p, g)->model), -1) == g)
            st = join_model(c, p, g);
    return st;
}

void ckt_mark_small(const ckt *c, uint8_t *in)
{
    map instances = {0}, variants = {0};
    for (size_t i = 0; i < vec_len(c->group); i++) {
        const dev_group *g = &c->group[i];
        const uint64_t key = map_key(g->model);
        map_set(&instances, key, map_get(&instances, key, 0) + g->nb);
        map_set(&variants, key, map_get(&variants, key, 0) + g->n_variant);
    }
    for (size_t i = 0; i < vec_len(c->inst); i++) {
        const uint64_t key = map_key(c->inst[i].model);
        in[i] = map_get(&variants, key, 0) > 1 && map_get(&instances, key, 0) <= JOIN_MOST_HELD;
    }
    map_free(&instances);
    map_free(&variants);
}

bool ckt_same_groups(const ckt *c, const int32_t *row, const uint8_t *in, const int32_t *group)
{
    plan p = {.row = row, .in = in};
    int32_t *to = NULL; /* vec: group of the circuit for one of the plan */
    bool same = make_plan(c, &p) == VS_OK;
    vec_extend(to, vec_len(p.group));
    for (size_t g = 0; g < vec_len(to); g++)
        to[g] = -1;
    for (size_t i = 0; i < vec_len(c->inst) && same; i++) {
        if (p.of[i] < 0)
            continue;
        const int32_t of = p.all[p.of[i]].group;
        const dev_group *g = &c->group[group[i]];
        same = to[of] < 0 || to[of] == group[i];
        to[of] = group[i];
        for (int f = 0; f < MDL_N_FORM; f++)
            same &= g->form[f].variant == look_of(&p, of)->variant[f];
    }
    vec_free(to);
    free_plan(&p);
    return same;
}

/* Instances of the largest group that is not of linear elements or as light as they are; 0: there
 * is none. */
static int32_t largest_group(const ckt *c, const plan *p)
{
    int32_t most = 0;
    for (int32_t g = 0; g < (int32_t)vec_len(p->group); g++) {
        const row_look *cl = p->group[g].gone ? NULL : look_of(p, g);
        bool heavy = false;
        for (int f = 0; f < MDL_N_FORM && cl; f++)
            heavy |= cl->variant[f] && is_evaluated(c, cl, f) &&
                     mdl_variant_values(cl->variant[f]) >= JOIN_LEAST;
        if (heavy && p->group[g].n > most)
            most = p->group[g].n;
    }
    return most;
}

/* Classes by group, in it in the order of their first instances: place[class]. */
static int32_t *places_of(const plan *p)
{
    const size_t n_class = vec_len(p->all);
    int32_t *start = NULL, *place = NULL;
    vec_extend(start, vec_len(p->group) + 1);
    vec_extend(place, n_class);
    for (size_t k = 0; k < n_class; k++)
        start[p->all[k].group + 1]++;
    for (size_t g = 0; g < vec_len(p->group); g++)
        start[g + 1] += start[g];
    for (size_t k = 0; k < n_class; k++)
        place[k] = start[p->all[k].group]++;
    vec_free(start);
    return place;
}

/* Instances by place of their class, in it in their order. */
static int32_t *members_of(const plan *p, const int32_t *place)
{
    const size_t n = vec_len(p->of), n_class = vec_len(p->all);
    int32_t *start = NULL, *member = NULL;
    vec_extend(start, n_class + 1);
    vec_extend(member, n);
    for (size_t i = 0; i < n; i++)
        start[place[p->of[i]] + 1]++;
    for (size_t k = 0; k < n_class; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < n; i++)
        member[start[place[p->of[i]]]++] = (int32_t)i;
    vec_free(start);
    return member;
}

/* By group, in it by class; classes come in the order of their first instances. */
static void make_sorted(ckt *c, const plan *p)
{
    const size_t n = vec_len(c->inst);
    const bool whole = ckt_small_suits(c);
    int32_t *place = places_of(p);
    int32_t *member = members_of(p, place);
    vec_free(place);
    int32_t *unk = NULL;
    vec_reserve(unk, vec_len(c->unk) + 1);
    vec_reserve(c->group, vec_len(p->group)); /* dev_lin_init keeps an address in its group */
    for (size_t i = 0, j; i < n; i = j) {
        const int32_t g = p->all[p->of[member[i]]].group;
        for (j = i + 1; j < n && p->all[p->of[member[j]]].group == g;)
            j++;
        make_group(c, &member[i], (int32_t)(j - i), look_of(p, g), p->group[g].n_variant, whole,
                   &unk);
    }
    vec_free(c->unk);
    c->unk = unk;
    vec_free(member);
}

vs_status ckt_make_groups(ckt *c)
{
    plan p = {0};
    int32_t *row = NULL;
    vec_reserve(row, vec_len(c->inst));
    for (size_t i = 0; i < vec_len(c->inst); i++)
        vec_push(row, c->inst[i].row);
    p.row = row;
    c->n_heavy = count_heavy(c);
    const vs_status st = make_plan(c, &p);
    if (st == VS_OK && vec_len(c->inst)) {
        mdl_largest_group(p.group[0].look.model, largest_group(c, &p));
        make_sorted(c, &p);
        mdl_compile_wanted(c->group[0].model);
    }
    vec_free(row);
    free_plan(&p);
    return st;
}

/* -- facts -- */

int32_t ckt_n_group(const ckt *c) { return (int32_t)vec_len(c->group); }

const char *ckt_instance_name(const ckt *c, int32_t inst) { return c->inst[inst].name; }

ckt_group_facts ckt_group(const ckt *c, int32_t i)
{
    const dev_group *g = &c->group[i];
    ckt_group_facts f = {.model = g->model,
                         .n_instance = g->nb,
                         .n_row = g->n_row,
                         .row = g->row[0],
                         .n_variant = g->n_variant,
                         .inst = g->inst,
                         .n_eval = g->n_eval,
                         .n_bypass = g->n_bypass,
                         .s_eval = g->s_eval};
    for (int k = 0; k < MDL_N_FORM; k++)
        f.variant[k] = g->form[k].evaluated ? g->form[k].variant : NULL;
    return f;
}
