/* nat_osdi.c - see nat_osdi.h: gathers unknowns, evaluates, stamps. */
#include "nat_osdi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

typedef struct odev { /* one device */
    osdi_inst *in;
    const char *name;
    diag_span span;
    int32_t unk, slot, state; /* where its pieces of the vecs below begin */
} odev;

typedef struct message { /* of a model, in the last load */
    const char *who;
    int level;   /* OSDI_LOG_* */
    size_t text; /* where it begins in `said` */
} message;

enum { ACC, OLD, NEW, N_HISTORY }; /* limited voltages: of the last accepted point, read, written */

typedef struct osdis {
    nat_set set;
    odev *dev; /* vec */
    osdi_lib *lib;
    int32_t *unk;             /* vec; per device [n_node] unknowns of the circuit */
    int32_t *slot;            /* vec; per device [n_jacobian] places in the matrix */
    double *state[N_HISTORY]; /* vecs; per device [n_state] */
    double *x, *r;            /* vecs [most nodes]; work of one device */
    double *density;          /* vec; noise of one device at one frequency */
    double density_f;
    int32_t density_of; /* -1: none yet */
    map by_name;        /* made at the first question */
    bool fresh;         /* limiting starts anew with the next evaluation */
    message *message;   /* vec; told when the point of the load is accepted */
    char *said;         /* vec */
} osdis;

static osdis *of(const nat_set *set) { return (osdis *)(uintptr_t)set; }

static const osdi_abi_descriptor *abi_of(const odev *o) { return o->in->module->abi; }

static void free_osdis(nat_set *set)
{
    osdis *s = of(set);
    vec_free(s->dev);
    vec_free(s->unk);
    vec_free(s->slot);
    vec_free(s->x);
    vec_free(s->r);
    vec_free(s->density);
    vec_free(s->message);
    vec_free(s->said);
    map_free(&s->by_name);
    for (int k = 0; k < N_HISTORY; k++)
        vec_free(s->state[k]);
}

static const double *simparam_of(const osdis *s)
{
    return s->set.host->simparam ? s->set.host->simparam : ir_simparam_default;
}

/* -- building -- */

static osdis *need(nat_list *l, osdi_inst *in)
{
    osdis *s = (osdis *)nat_need(l, NAT_OSDI, sizeof *s);
    if (!vec_len(s->dev)) {
        s->lib = in->module->lib;
        s->fresh = true;
        s->density_of = -1;
    }
    return s;
}

void nat_osdi_add(nat_list *l, osdi_inst *in, const char *name, diag_span span, const int32_t *unk)
{
    osdis *s = need(l, in);
    const osdi_module *m = in->module;
    const odev o = {.in = in,
                    .name = name,
                    .span = span,
                    .unk = (int32_t)vec_len(s->unk),
                    .slot = (int32_t)vec_len(s->slot),
                    .state = (int32_t)vec_len(s->state[OLD])};
    vec_push(s->dev, o);
    vec_extend(s->unk, m->n_node);
    vec_extend(s->slot, m->abi->n_jacobian);
    for (int k = 0; k < N_HISTORY; k++)
        vec_extend(s->state[k], m->abi->n_state);
    if (vec_len(s->x) < (size_t)m->n_node) {
        vec_extend(s->r, (size_t)m->n_node - vec_len(s->r));
        vec_extend(s->x, (size_t)m->n_node - vec_len(s->x));
    }
    if (m->n_node)
        memcpy(&s->unk[o.unk], unk, (size_t)m->n_node * sizeof *unk);
}

static int32_t count(const nat_set *set) { return (int32_t)vec_len(of(set)->dev); }

static nat_device at(const nat_set *set, int32_t i)
{
    const odev *o = &of(set)->dev[i];
    return (nat_device){.name = o->name,
                        .span = o->span,
                        .node = &of(set)->unk[o->unk],
                        .n_node = o->in->n_terminal,
                        .told = true};
}

osdi_inst *nat_osdi_inst(const nat_list *l, int32_t i) { return of(l->set[NAT_OSDI])->dev[i].in; }

static csc_entry entry(const osdis *s, const odev *o, uint32_t k)
{
    const int32_t *unk = &s->unk[o->unk];
    const osdi_abi_descriptor *d = abi_of(o);
    return csc_entry_of(unk[d->jacobian[k].nodes.a], unk[d->jacobian[k].nodes.b]);
}

static bool is_wanted(const odev *o, uint32_t k, bool reactive)
{
    const uint32_t wanted = OSDI_JAC_RESIST | (reactive ? (uint32_t)OSDI_JAC_REACT : 0);
    return abi_of(o)->jacobian[k].flags & wanted;
}

/* A current that setup has made 0 is no voltage. */
static bool joins_nothing(const osdis *s, const odev *o, uint32_t k)
{
    const osdi_abi_pair p = abi_of(o)->jacobian[k].nodes;
    bool nothing = o->in->module->node[p.a].aside != o->in->module->node[p.b].aside;
    for (int side = 0; side < 2; side++) {
        const uint32_t node = side ? p.b : p.a;
        nothing |= abi_of(o)->node[node].is_flow && !s->unk[o->unk + (int32_t)node];
    }
    return nothing;
}

static void list(const nat_set *set, bool reactive, bool joining, csc_entry **e)
{
    const osdis *s = of(set);
    for (size_t i = 0; i < vec_len(s->dev); i++)
        for (uint32_t k = 0; k < abi_of(&s->dev[i])->n_jacobian; k++)
            if (is_wanted(&s->dev[i], k, reactive) && !(joining && joins_nothing(s, &s->dev[i], k)))
                vec_push(*e, entry(s, &s->dev[i], k));
}

static void entries(const nat_set *set, bool reactive, csc_entry **e)
{
    list(set, reactive, false, e);
}

static void joins(const nat_set *set, bool reactive, csc_entry **e)
{
    list(set, reactive, true, e);
}

static void place(nat_set *set, const csc *a, bool reactive)
{
    osdis *s = of(set);
    for (size_t i = 0; i < vec_len(s->dev); i++)
        for (uint32_t k = 0; k < abi_of(&s->dev[i])->n_jacobian; k++)
            s->slot[s->dev[i].slot + (int32_t)k] = is_wanted(&s->dev[i], k, reactive)
                                                       ? csc_slot(a, entry(s, &s->dev[i], k))
                                                       : csc_nnz(a);
}

static void charges(const nat_set *set, int32_t **row)
{
    const osdis *s = of(set);
    for (size_t i = 0; i < vec_len(s->dev); i++) {
        const odev *o = &s->dev[i];
        const osdi_abi_descriptor *d = abi_of(o);
        for (uint32_t n = 0; n < d->n_node; n++)
            if (d->node[n].react_off != UINT32_MAX)
                vec_push(*row, s->unk[o->unk + (int32_t)n]);
    }
}

/* -- evaluation -- */

static uint32_t analysis_flags(const nat_env *env)
{
    if (env->mode == NAT_TRAN)
        return OSDI_ANALYSIS_TRAN;
    return OSDI_ANALYSIS_STATIC |
           (env->tran_op ? OSDI_ANALYSIS_TRAN | OSDI_ANALYSIS_IC : OSDI_ANALYSIS_DC);
}

static osdi_dyn dyn_of(const osdis *s, const nat_env *env)
{
    osdi_dyn y = {
        .time = env->time, .gmin = env->gmin, .srcfact = env->srcfact, .iteration = env->iter};
    y.flags =
        analysis_flags(env) | OSDI_CALC_RESIST_RES | OSDI_CALC_RESIST_JAC | OSDI_CALC_RESIST_LIM;
    if (env->mode == NAT_TRAN)
        y.flags |= OSDI_CALC_REACT_RES | OSDI_CALC_REACT_JAC | OSDI_CALC_REACT_LIM;
    if (env->limit)
        y.flags |= OSDI_ENABLE_LIM;
    /* Start values of junctions help Newton from nothing, but not from a solution nearby. */
    if (env->limit && s->fresh && env->mode == NAT_STATIC)
        y.flags |= OSDI_INIT_LIM;
    return y;
}

static void gather(const osdis *s, const odev *o, const double *x)
{
    const int32_t *unk = &s->unk[o->unk];
    for (int32_t i = 0; i < o->in->module->n_node; i++)
        s->x[i] = x[unk[i]];
}

static void evaluate(osdis *s, const odev *o, const osdi_dyn *y, const double *x)
{
    gather(s, o, x);
    osdi_eval(o->in, y, s->x, &s->state[OLD][o->state], &s->state[NEW][o->state]);
}

static double *local_sums(osdis *s, const odev *o, void (*take)(osdi_inst *, double *))
{
    memset(s->r, 0, (size_t)o->in->module->n_node * sizeof *s->r);
    take(o->in, s->r);
    return s->r;
}

static void add_rows(const odev *o, const int32_t *unk, const double *r, double *sum, double *max)
{
    for (int32_t i = 0; i < o->in->module->n_node; i++) {
        const double v = r[i], a = fabs(v);
        sum[unk[i]] += v;
        max[unk[i]] = a > max[unk[i]] ? a : max[unk[i]];
    }
}

/* Adds charges; what rounding takes from the sums is kept in `low` (two-sum). */
static void add_charges(const odev *o, const int32_t *unk, const double *r, double *sum,
                        double *low, double *max)
{
    for (int32_t i = 0; i < o->in->module->n_node; i++) {
        const double v = r[i], a = fabs(v), s = sum[unk[i]], t = s + v, w = t - s;
        sum[unk[i]] = t;
        low[unk[i]] += (s - (t - w)) + (v - w);
        max[unk[i]] = a > max[unk[i]] ? a : max[unk[i]];
    }
}

static void add_matrix(const odev *o, const int32_t *slot, const double *j, double *val)
{
    const uint32_t n = abi_of(o)->n_jacobian;
    for (uint32_t k = 0; k < n; k++)
        val[slot[k]] += j[k];
}

/* Models talk in every iteration; what they say at the accepted point is kept. */
static void hear(void *user, const char *who, const char *text, int level)
{
    osdis *s = user;
    vec_push(s->message, (message){who, level, vec_len(s->said)});
    do
        vec_push(s->said, *text);
    while (*text++);
}

static void listen(osdis *s, bool on)
{
    if (on) {
        vec_clear(s->message);
        vec_clear(s->said);
    }
    osdi_set_line_sink(s->lib, on ? hear : NULL, s);
}

static void load(nat_set *set, const nat_env *env, const double *x, nat_sums *to)
{
    osdis *s = of(set);
    const double t0 = vs_seconds();
    const osdi_dyn y = dyn_of(s, env);
    osdi_begin(s->lib, simparam_of(s), &y);
    listen(s, true);
    for (size_t i = 0; i < vec_len(s->dev); i++) {
        const odev *o = &s->dev[i];
        const int32_t *unk = &s->unk[o->unk], *slot = &s->slot[o->slot];
        evaluate(s, o, &y, x);
        add_rows(o, unk, local_sums(s, o, osdi_residual), to->f, to->fmax);
        if (env->mode == NAT_TRAN) {
            add_charges(o, unk, local_sums(s, o, osdi_charge), to->q, to->qlo, to->qmax);
            add_matrix(o, slot, osdi_jacobian_tran(o->in, env->alpha), to->val);
        } else {
            add_matrix(o, slot, osdi_jacobian_g(o->in), to->val);
        }
        to->limited |= (o->in->ret & OSDI_RET_LIM) != 0;
        const double b = osdi_bound_step(o->in);
        if (b < to->bound)
            to->bound = b;
    }
    listen(s, false);
    s->fresh = false;
    double *old = s->state[OLD];
    s->state[OLD] = s->state[NEW];
    s->state[NEW] = old;
    to->n_eval += (int64_t)vec_len(s->dev);
    to->s_eval += vs_seconds() - t0;
}

/* What the models said in the last load, each once. fatal: to this text, "" if there is none. */
static void tell(osdis *s, const char **fatal)
{
    static const char *const prefix[] = {
        [OSDI_LOG_INFO] = "info: ", [OSDI_LOG_WARN] = "warning: ", [OSDI_LOG_ERR] = "error: "};
    const nat_host *h = s->set.host;
    *fatal = "";
    for (size_t i = 0; i < vec_len(s->message); i++) {
        const message *m = &s->message[i];
        const char *text = s->said + m->text;
        const char *before = m->level < (int)VS_COUNT(prefix) ? prefix[m->level] : NULL;
        const arena_pos mark = arena_mark(h->mem);
        if (m->level == OSDI_LOG_FATAL)
            *fatal = text;
        else
            h->say(h->user, before ? arena_printf(h->mem, "%s%s", before, text) : text);
        arena_release(h->mem, mark);
    }
    vec_clear(s->message);
}

static vs_status accept(nat_set *set, const nat_env *env, const double *x, bool corner)
{
    osdis *s = of(set);
    vs_status st = VS_OK;
    const char *fatal;
    (void)env;
    (void)x;
    (void)corner;
    if (vec_len(s->state[OLD]))
        memcpy(s->state[ACC], s->state[OLD], vec_len(s->state[OLD]) * sizeof(double));
    tell(s, &fatal);
    for (size_t i = 0; i < vec_len(s->dev); i++) {
        const odev *o = &s->dev[i];
        if (o->in->ret & OSDI_RET_FATAL) {
            diag_error(set->host->d, o->span, "instance '%s' ended the analysis%s%s", o->name,
                       *fatal ? ": " : "", fatal);
            return VS_EINPUT;
        }
        if (o->in->ret & (OSDI_RET_FINISH | OSDI_RET_STOP))
            st = VS_STOP;
    }
    return st;
}

static void reset(nat_set *set) { of(set)->fresh = true; }

static void restore(nat_set *set)
{
    osdis *s = of(set);
    if (vec_len(s->state[OLD]))
        memcpy(s->state[OLD], s->state[ACC], vec_len(s->state[OLD]) * sizeof(double));
}

static void fresh(nat_set *set)
{
    osdis *s = of(set);
    for (int k = 0; k < N_HISTORY; k++)
        if (vec_len(s->state[k]))
            memset(s->state[k], 0, vec_len(s->state[k]) * sizeof(double));
    s->fresh = true;
    s->density_of = -1;
}

static double share(nat_set *set, const nat_env *env, const double *x, int32_t device, int32_t row)
{
    osdis *s = of(set);
    const odev *o = &s->dev[device];
    const int32_t *unk = &s->unk[o->unk];
    osdi_dyn y = dyn_of(s, env);
    y.flags &= ~((uint32_t)OSDI_ENABLE_LIM | OSDI_INIT_LIM);
    osdi_begin(s->lib, simparam_of(s), &y);
    evaluate(s, o, &y, x);
    double sum = 0;
    for (int part = 0; part < (env->mode == NAT_TRAN ? 2 : 1); part++) {
        const double *r = local_sums(s, o, part ? osdi_charge : osdi_residual);
        for (int32_t i = 0; i < o->in->module->n_node; i++) {
            if (!row && !isfinite(r[i]))
                return INFINITY;
            if (row && unk[i] == row)
                sum += fabs(r[i]) * (part ? env->alpha : 1);
        }
    }
    return sum > 0 || isnan(sum) ? sum : -1;
}

/* -- small signals -- */

/* Sources of a device: a current between two nodes, or, at a branch equation, a voltage. */
static void take_noise(const osdis *s, int32_t device, nat_ac *to)
{
    const odev *o = &s->dev[device];
    const osdi_abi_descriptor *d = abi_of(o);
    const int32_t *unk = &s->unk[o->unk];
    for (uint32_t k = 0; k < d->n_noise; k++) {
        const uint32_t node[2] = {d->noise[k].nodes.a, d->noise[k].nodes.b};
        int32_t end[2];
        for (int side = 0; side < 2; side++)
            end[side] = node[side] < d->n_node ? unk[node[side]] : 0;
        to->source(to->user, device, (int32_t)k, end);
    }
}

static double density(nat_set *set, int32_t device, int32_t k, double f)
{
    osdis *s = of(set);
    const osdi_inst *in = s->dev[device].in;
    if (s->density_of != device || s->density_f != f) {
        if (vec_len(s->density) < in->module->abi->n_noise)
            vec_extend(s->density, in->module->abi->n_noise - vec_len(s->density));
        osdi_noise(s->dev[device].in, f, s->density);
        s->density_of = device;
        s->density_f = f;
    }
    return s->density[k];
}

static const char *noise_name(const nat_set *set, int32_t device, int32_t k)
{
    const char *name = abi_of(&of(set)->dev[device])->noise[k].name;
    return name ? name : "";
}

int32_t nat_osdi_find(const nat_list *l, const char *name)
{
    if (!l->set[NAT_OSDI])
        return -1;
    osdis *s = of(l->set[NAT_OSDI]);
    for (size_t i = s->by_name.n; i < vec_len(s->dev); i++)
        map_set(&s->by_name, map_key(s->dev[i].name), (int32_t)i);
    return map_get(&s->by_name, map_key(name), -1);
}

/* Small-signal flags: everything that depends on x, no limiting. */
static void at_point(osdis *s, const nat_env *env, osdi_dyn *y, uint32_t flags)
{
    *y = dyn_of(s, env);
    y->flags = OSDI_CALC_RESIST_RES | OSDI_CALC_REACT_RES | OSDI_CALC_RESIST_JAC |
               OSDI_CALC_REACT_JAC | OSDI_CALC_OP | flags;
    osdi_begin(s->lib, simparam_of(s), y);
    s->density_of = -1;
}

double nat_osdi_value(nat_list *l, const nat_env *env, const double *x, int32_t device, int32_t id)
{
    osdis *s = of(l->set[NAT_OSDI]);
    const odev *o = &s->dev[device];
    osdi_dyn y;
    at_point(s, env, &y, analysis_flags(env));
    evaluate(s, o, &y, x);
    return osdi_value(o->in, id);
}

static void load_ac(nat_set *set, const nat_env *env, const double *x, nat_ac *to)
{
    osdis *s = of(set);
    osdi_dyn y;
    at_point(s, env, &y,
             OSDI_ANALYSIS_AC | (to->noise ? OSDI_ANALYSIS_NOISE | OSDI_CALC_NOISE : 0));
    for (size_t i = 0; i < vec_len(s->dev); i++) {
        const odev *o = &s->dev[i];
        evaluate(s, o, &y, x);
        add_matrix(o, &s->slot[o->slot], osdi_jacobian_g(o->in), to->g);
        add_matrix(o, &s->slot[o->slot], osdi_jacobian_c(o->in), to->cap);
        if (to->noise)
            take_noise(s, (int32_t)i, to);
    }
}

static void take_image(nat_set *set, image *im)
{
    osdis *s = of(set);
    for (int k = 0; k < N_HISTORY; k++)
        IMAGE_ARRAY(im, s->state[k], vec_len(s->state[k]));
    IMAGE_ONE(im, s->fresh);
}

/* Only the library knows what parameters made of a device, so the text of its card has to be the
 * same. */
static void identity(const nat_set *set, image *im)
{
    static const char other[] = "it is of a circuit with other devices of OSDI libraries";
    const osdis *s = (const osdis *)set;
    for (size_t i = 0; i < vec_len(s->dev) && !im->wrong; i++) {
        const osdi_module *m = s->dev[i].in->module;
        const uint32_t shape[] = {(uint32_t)m->n_node, m->abi->n_state, m->abi->n_jacobian};
        const hash128 name = hash128_of(m->name, strlen(m->name));
        const hash128 unk = hash128_of(&s->unk[s->dev[i].unk], (size_t)m->n_node * sizeof *s->unk);
        IMAGE_SAME(im, shape, other);
        IMAGE_SAME(im, name, other);
        IMAGE_SAME(im, unk, other);
    }
}

const nat_kind nat_osdi_kind = {
    .name = "osdi",
    .no_redo = "devices of OSDI libraries",
    .free = free_osdis,
    .count = count,
    .at = at,
    .entries = entries,
    .joins = joins,
    .place = place,
    .charges = charges,
    .load = load,
    .load_ac = load_ac,
    .density = density,
    .noise_name = noise_name,
    .share = share,
    .accept = accept,
    .reset = reset,
    .restore = restore,
    .fresh = fresh,
    .image = take_image,
    .identity = identity,
};
