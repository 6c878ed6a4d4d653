/* ckt_osdi.c - devices of OSDI libraries in the circuit: unknowns, pattern, evaluation, stamps.
 * They are evaluated one by one in the order in which they were added, after the groups of src/dev.
 */
#include "ckt_osdi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

struct ckt_osdi {
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
};

static const osdi_abi_descriptor *abi_of(const odev *o) { return o->in->module->abi; }

void ckt_osdi_free(ckt *c)
{
    struct ckt_osdi *s = c->osdi;
    if (!s)
        return;
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
    free(s);
    c->osdi = NULL;
}

static const double *simparam_of(const ckt *c)
{
    return c->opt.simparam ? c->opt.simparam : ir_simparam_default;
}

/* -- building -- */

static int32_t new_unknown(ckt *c, const odev *o, const osdi_node *n)
{
    const char *name = arena_printf(&c->mem, "%s#%s", o->name, n->name);
    const ckt_kind kind = n->flow   ? (n->ampere ? CKT_CURRENT : CKT_OTHER)
                          : n->volt ? CKT_VOLTAGE
                                    : CKT_OTHER;
    const int32_t k = ckt_new_unknown(c, name, kind, true, !n->flow);
    c->unknown[k].closed = true;
    c->unknown[k].abstol = n->abstol;
    c->unknown[k].res_abstol = n->res_abstol;
    return k;
}

vs_status ckt_add_osdi(ckt *c, osdi_inst *in, const int32_t *terminal, diag_span span)
{
    assert(!c->finished);
    if (!c->osdi) {
        c->osdi = calloc(1, sizeof *c->osdi);
        if (!c->osdi)
            return VS_ENOMEM;
        c->osdi->lib = in->module->lib;
        c->osdi->fresh = true;
        c->osdi->density_of = -1;
    }
    struct ckt_osdi *s = c->osdi;
    const osdi_module *m = in->module;
    const odev o = {.in = in,
                    .name = ckt_own_name(c, in->name),
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
    int32_t *unk = &s->unk[o.unk];
    for (int32_t i = 0; i < in->n_terminal; i++)
        unk[i] = terminal[i];
    for (int32_t i = in->n_terminal; i < m->n_node; i++)
        if (in->one_with[i] == i)
            unk[i] = new_unknown(c, &o, &m->node[i]);
    for (int32_t i = in->n_terminal; i < m->n_node; i++)
        if (in->one_with[i] != i)
            unk[i] = in->one_with[i] < 0 ? 0 : unk[in->one_with[i]];
    return VS_OK;
}

int32_t ckt_n_osdi(const ckt *c) { return c->osdi ? (int32_t)vec_len(c->osdi->dev) : 0; }

ckt_osdi_facts ckt_osdi_at(const ckt *c, int32_t i)
{
    const odev *o = &c->osdi->dev[i];
    return (ckt_osdi_facts){o->name, o->in, &c->osdi->unk[o->unk], o->in->n_terminal, o->span};
}

void ckt_osdi_entries(const ckt *c, bool reactive, ckt_entry **e)
{
    for (int32_t i = 0; i < ckt_n_osdi(c); i++) {
        const odev *o = &c->osdi->dev[i];
        const osdi_abi_descriptor *d = abi_of(o);
        const uint32_t wanted = OSDI_JAC_RESIST | (reactive ? (uint32_t)OSDI_JAC_REACT : 0);
        const int32_t *unk = &c->osdi->unk[o->unk];
        for (uint32_t k = 0; k < d->n_jacobian; k++)
            if (d->jacobian[k].flags & wanted)
                vec_push(*e,
                         ckt_entry_of(unk[d->jacobian[k].nodes.a], unk[d->jacobian[k].nodes.b]));
    }
}

void ckt_osdi_place(ckt *c)
{
    for (int32_t i = 0; i < ckt_n_osdi(c); i++) {
        const odev *o = &c->osdi->dev[i];
        const osdi_abi_descriptor *d = abi_of(o);
        const int32_t *unk = &c->osdi->unk[o->unk];
        for (uint32_t k = 0; k < d->n_jacobian; k++) {
            const bool used = (c->forms & (1u << MDL_TRAN | 1u << MDL_AC)) ||
                              d->jacobian[k].flags & OSDI_JAC_RESIST;
            c->osdi->slot[o->slot + (int32_t)k] =
                used ? ckt_slot_of(&c->a, unk[d->jacobian[k].nodes.a], unk[d->jacobian[k].nodes.b])
                     : csc_nnz(&c->a);
        }
    }
}

void ckt_osdi_mark_charges(ckt *c)
{
    for (int32_t i = 0; i < ckt_n_osdi(c); i++) {
        const odev *o = &c->osdi->dev[i];
        const osdi_abi_descriptor *d = abi_of(o);
        for (uint32_t n = 0; n < d->n_node; n++)
            if (d->node[n].react_off != UINT32_MAX)
                c->unknown[c->osdi->unk[o->unk + (int32_t)n]].has_q = true;
    }
}

/* -- evaluation -- */

static uint32_t analysis_flags(const ckt_env *env)
{
    if (env->mode == CKT_TRAN)
        return OSDI_ANALYSIS_TRAN;
    return OSDI_ANALYSIS_STATIC |
           (env->tran_op ? OSDI_ANALYSIS_TRAN | OSDI_ANALYSIS_IC : OSDI_ANALYSIS_DC);
}

static osdi_dyn dyn_of(const ckt *c, const ckt_env *env)
{
    osdi_dyn y = {
        .time = env->time, .gmin = env->gmin, .srcfact = env->srcfact, .iteration = env->iter};
    y.flags =
        analysis_flags(env) | OSDI_CALC_RESIST_RES | OSDI_CALC_RESIST_JAC | OSDI_CALC_RESIST_LIM;
    if (env->mode == CKT_TRAN)
        y.flags |= OSDI_CALC_REACT_RES | OSDI_CALC_REACT_JAC | OSDI_CALC_REACT_LIM;
    if (env->limit)
        y.flags |= OSDI_ENABLE_LIM;
    /* Start values of junctions help Newton from nothing, but not from a solution nearby. */
    if (env->limit && c->osdi->fresh && env->mode == CKT_STATIC)
        y.flags |= OSDI_INIT_LIM;
    return y;
}

static void gather(const struct ckt_osdi *s, const odev *o, const double *x)
{
    const int32_t *unk = &s->unk[o->unk];
    for (int32_t i = 0; i < o->in->module->n_node; i++)
        s->x[i] = x[unk[i]];
}

static void evaluate(struct ckt_osdi *s, const odev *o, const osdi_dyn *y, const double *x)
{
    gather(s, o, x);
    osdi_eval(o->in, y, s->x, &s->state[OLD][o->state], &s->state[NEW][o->state]);
}

static double *local_sums(struct ckt_osdi *s, const odev *o, void (*take)(osdi_inst *, double *))
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

/* The same with what rounding takes kept in `low` (two-sum). */
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
    struct ckt_osdi *s = user;
    vec_push(s->message, (message){who, level, vec_len(s->said)});
    do
        vec_push(s->said, *text);
    while (*text++);
}

static void listen(struct ckt_osdi *s, bool on)
{
    if (on) {
        vec_clear(s->message);
        vec_clear(s->said);
    }
    osdi_set_line_sink(s->lib, on ? hear : NULL, s);
}

void ckt_osdi_load(ckt *c, const ckt_env *env, const double *x, const ckt_osdi_sums *to)
{
    struct ckt_osdi *s = c->osdi;
    if (!s)
        return;
    const double t0 = vs_seconds();
    const osdi_dyn y = dyn_of(c, env);
    osdi_begin(s->lib, simparam_of(c), &y);
    listen(s, true);
    for (size_t i = 0; i < vec_len(s->dev); i++) {
        const odev *o = &s->dev[i];
        const int32_t *unk = &s->unk[o->unk], *slot = &s->slot[o->slot];
        evaluate(s, o, &y, x);
        add_rows(o, unk, local_sums(s, o, osdi_residual), to->f, to->fmax);
        if (env->mode == CKT_TRAN) {
            add_charges(o, unk, local_sums(s, o, osdi_charge), to->q, to->qlo, to->qmax);
            add_matrix(o, slot, osdi_jacobian_tran(o->in, env->alpha), to->val);
        } else {
            add_matrix(o, slot, osdi_jacobian_g(o->in), to->val);
        }
        *to->limited |= (o->in->ret & OSDI_RET_LIM) != 0;
        const double b = osdi_bound_step(o->in);
        if (b < *to->bound)
            *to->bound = b;
    }
    listen(s, false);
    s->fresh = false;
    double *old = s->state[OLD];
    s->state[OLD] = s->state[NEW];
    s->state[NEW] = old;
    c->stat.n_eval += (int64_t)vec_len(s->dev);
    c->stat.s_eval += vs_seconds() - t0;
}

/* What the models said in the last load, each once. fatal: to this text, "" if there is none. */
static void tell(ckt *c, const char **fatal)
{
    static const char *const prefix[] = {
        [OSDI_LOG_INFO] = "info: ", [OSDI_LOG_WARN] = "warning: ", [OSDI_LOG_ERR] = "error: "};
    struct ckt_osdi *s = c->osdi;
    *fatal = "";
    for (size_t i = 0; i < vec_len(s->message); i++) {
        const message *m = &s->message[i];
        const char *text = s->said + m->text;
        const char *before = m->level < (int)VS_COUNT(prefix) ? prefix[m->level] : NULL;
        const arena_pos mark = arena_mark(&c->mem);
        if (m->level == OSDI_LOG_FATAL)
            *fatal = text;
        else if (c->line)
            c->line(c->line_user, before ? arena_printf(&c->mem, "%s%s", before, text) : text);
        arena_release(&c->mem, mark);
    }
    vec_clear(s->message);
}

vs_status ckt_osdi_accept(ckt *c)
{
    struct ckt_osdi *s = c->osdi;
    vs_status st = VS_OK;
    const char *fatal;
    if (!s)
        return st;
    if (vec_len(s->state[OLD]))
        memcpy(s->state[ACC], s->state[OLD], vec_len(s->state[OLD]) * sizeof(double));
    tell(c, &fatal);
    for (size_t i = 0; i < vec_len(s->dev); i++) {
        const odev *o = &s->dev[i];
        if (o->in->ret & OSDI_RET_FATAL) {
            diag_error(c->d, o->span, "instance '%s' ended the analysis%s%s", o->name,
                       *fatal ? ": " : "", fatal);
            return VS_EINPUT;
        }
        if (o->in->ret & (OSDI_RET_FINISH | OSDI_RET_STOP))
            st = VS_STOP;
    }
    return st;
}

void ckt_osdi_reset(ckt *c)
{
    if (c->osdi)
        c->osdi->fresh = true;
}

void ckt_osdi_restore(ckt *c)
{
    struct ckt_osdi *s = c->osdi;
    if (s && vec_len(s->state[OLD]))
        memcpy(s->state[OLD], s->state[ACC], vec_len(s->state[OLD]) * sizeof(double));
}

/* |i| + alpha |q| of a device in a row at the last load's point; row 0: infinite if not finite. */
double ckt_osdi_share(ckt *c, int32_t device, int32_t row)
{
    struct ckt_osdi *s = c->osdi;
    const odev *o = &s->dev[device];
    const int32_t *unk = &s->unk[o->unk];
    osdi_dyn y = dyn_of(c, &c->env);
    y.flags &= ~((uint32_t)OSDI_ENABLE_LIM | OSDI_INIT_LIM);
    osdi_begin(s->lib, simparam_of(c), &y);
    evaluate(s, o, &y, c->x);
    double sum = 0;
    for (int part = 0; part < (c->env.mode == CKT_TRAN ? 2 : 1); part++) {
        const double *r = local_sums(s, o, part ? osdi_charge : osdi_residual);
        for (int32_t i = 0; i < o->in->module->n_node; i++) {
            if (!row && !isfinite(r[i]))
                return INFINITY;
            if (row && unk[i] == row)
                sum += fabs(r[i]) * (part ? c->env.alpha : 1);
        }
    }
    return sum;
}

/* Sources of a device: a current between two nodes, or, at a branch equation, a voltage. */
static void take_noise(ckt *c, int32_t device)
{
    const odev *o = &c->osdi->dev[device];
    const osdi_abi_descriptor *d = abi_of(o);
    const int32_t *unk = &c->osdi->unk[o->unk];
    for (uint32_t k = 0; k < d->n_noise; k++) {
        ckt_noise n = {.device = ckt_n_device(c) + device,
                       .source = (int32_t)k,
                       .first = (int32_t)vec_len(c->noise_gain)};
        const uint32_t end[2] = {d->noise[k].nodes.a, d->noise[k].nodes.b};
        for (int side = 0; side < 2; side++)
            if (end[side] < d->n_node && unk[end[side]] > 0)
                vec_push(c->noise_gain, ((ckt_noise_gain){unk[end[side]], false, side ? -1 : 1}));
        n.end = (int32_t)vec_len(c->noise_gain);
        if (n.end > n.first)
            vec_push(c->noise, n);
    }
}

double ckt_osdi_noise_density(const ckt *c, int32_t device, int32_t source, double f)
{
    struct ckt_osdi *s = c->osdi;
    const osdi_inst *in = s->dev[device].in;
    if (s->density_of != device || s->density_f != f) {
        if (vec_len(s->density) < in->module->abi->n_noise)
            vec_extend(s->density, in->module->abi->n_noise - vec_len(s->density));
        osdi_noise(s->dev[device].in, f, s->density);
        s->density_of = device;
        s->density_f = f;
    }
    return s->density[source];
}

const char *ckt_osdi_noise_name(const ckt *c, int32_t device, int32_t source)
{
    const char *name = abi_of(&c->osdi->dev[device])->noise[source].name;
    return name ? name : "";
}

int32_t ckt_osdi_find(const ckt *c, const char *name)
{
    struct ckt_osdi *s = c->osdi;
    if (!s)
        return -1;
    for (size_t i = s->by_name.n; i < vec_len(s->dev); i++)
        map_set(&s->by_name, map_key(s->dev[i].name), (int32_t)i);
    return map_get(&s->by_name, map_key(ckt_own_name(c, name)), -1);
}

/* Small-signal flags: everything that depends on x, no limiting. */
static void at_point(ckt *c, const ckt_env *env, osdi_dyn *y, uint32_t flags)
{
    *y = dyn_of(c, env);
    y->flags = OSDI_CALC_RESIST_RES | OSDI_CALC_REACT_RES | OSDI_CALC_RESIST_JAC |
               OSDI_CALC_REACT_JAC | OSDI_CALC_OP | flags;
    osdi_begin(c->osdi->lib, simparam_of(c), y);
    c->osdi->density_of = -1;
}

double ckt_osdi_value(ckt *c, const ckt_env *env, const double *x, int32_t device, int32_t id)
{
    struct ckt_osdi *s = c->osdi;
    const odev *o = &s->dev[device];
    osdi_dyn y;
    at_point(c, env, &y, analysis_flags(env));
    evaluate(s, o, &y, x);
    return osdi_value(o->in, id);
}

void ckt_osdi_load_ac(ckt *c, const ckt_env *env, const double *x, bool noise, double *g,
                      double *cap)
{
    struct ckt_osdi *s = c->osdi;
    if (!s)
        return;
    osdi_dyn y;
    at_point(c, env, &y, OSDI_ANALYSIS_AC | (noise ? OSDI_ANALYSIS_NOISE | OSDI_CALC_NOISE : 0));
    for (size_t i = 0; i < vec_len(s->dev); i++) {
        const odev *o = &s->dev[i];
        evaluate(s, o, &y, x);
        add_matrix(o, &s->slot[o->slot], osdi_jacobian_g(o->in), g);
        add_matrix(o, &s->slot[o->slot], osdi_jacobian_c(o->in), cap);
        if (noise)
            take_noise(c, (int32_t)i);
    }
}
