/* ckt_small.c - loads of small circuits in transients: one list of contributions, summed row by
 * row.
 *
 * In a circuit of a few dozen devices the general load (ckt_stamp.c) spends more time on indices
 * than on arithmetic. Here every current and charge has a fixed place in one vector v: the outputs
 * of the kernels, one group behind the other, then those of conductances, capacitances and sources.
 * A row of f is the sum of v at known places, in the order in which the general load adds them: f,
 * q and their maxima are the same bit by bit. The matrix entries of conductances, capacitances and
 * sources are computed once for each alpha: a base to which the devices' entries are added
 * (rounding differs from the general load).
 *
 * A group is pairs if its instances have two terminals and a current g v or a charge c v and
 * nothing else: found in its function (ckt_linear.c) and confirmed by its numbers. The kernel of
 * such a group does not run.
 *
 * Groups that hold linearisations are held as a whole (dev_whole.c): the contributions of their
 * instances, evaluated or not, have places in v like all others.
 *
 * Where straight.h knows the machine the sums are code without loops: the same operations, the same
 * bits. */
#include "ckt_priv.h"

#include <math.h>
#include <string.h>

#include "hot.h"
#include "straight.h"
#include "norm.h"

/* Of so many devices the general load's cost still shows. Where all is linear it is the cheaper one
 * from fewer on. */
enum { MAX_INSTANCES = 128, MAX_UNKNOWNS = 512, LINEAR_INSTANCES = 64, LINEAR_UNKNOWNS = 256 };
enum { CALLS_COST = 32 }; /* numbers that a look at one array takes less for than one at three */
enum { MAX_CODE_TERMS = 4096 }; /* more would not stay in the processor's instruction cache */

typedef struct active { /* a group whose kernel runs */
    dev_group *g;       /* with linearisations: held as a whole */
    int32_t at;         /* v[at ..]: [n_pack][n_out][lanes, or dev_whole_stride] */
    jit_kernel kernel;  /* NULL: no machine code */
    jit_batch batch;    /* for kernel; x, limits and state change from load to load */
} active;

typedef struct anchor { /* v[at] = conductance of c->fix[fix] times its unknown */
    int32_t fix, at;
} anchor;

typedef struct gather { /* sums: target k gets v[from[begin..end)] */
    int32_t target, begin, end;
} gather;

struct ckt_small {
    size_t n_v, n_val;
    bool looks_at_v; /* ckt_small_is_finite */
    double *v;
    ckt_pair *g, *c;          /* vec */
    active *active;           /* vec */
    int32_t *source;          /* vec: where in v the contributions of each begin */
    anchor *fix;              /* vec */
    gather *f, *q, *j;        /* vec */
    int32_t *from;            /* vec */
    int32_t *limited, *bound; /* vec: places in v */
    double *base;             /* [n_val] */
    double base_alpha, base_gmin;
    double dyn[IR_N_DYN];
    ckt_env env; /* what dyn was filled from, its time, alpha and iteration apart */
    straight *pair_line, *f_line, *q_line, *j_line;
    straight_fn pair_fn, f_fn, q_fn, j_fn; /* NULL: loops */
    double *value;                         /* [pairs] for pair_fn: those of g, then of c */
};

/* -- which groups are pairs -- */

/* The outputs of a two-terminal element: a current or charge into a and the opposite into b. */
typedef struct two {
    bool charge;
    int32_t a, b; /* local unknowns */
    int32_t aa;   /* the output that is the Jacobian's entry (a,a) */
} two;

static bool find_two(const mdl_variant *v, two *t)
{
    int32_t row[2], n_row = 0, n_j = 0;
    *t = (two){.aa = -1};
    for (int32_t k = 0; k < v->lay.n_out; k++) {
        const mdl_out *o = &v->out[k];
        if (o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT) {
            if (n_row == 2 || (n_row == 1 && t->charge != (o->kind == IR_OUT_REACT)))
                return false;
            t->charge = o->kind == IR_OUT_REACT;
            row[n_row++] = o->a;
        } else {
            n_j++;
        }
    }
    if (n_row != 2 || n_j != 4 || row[0] == row[1])
        return false;
    t->a = row[0];
    t->b = row[1];
    for (int32_t k = 0; k < v->lay.n_out; k++)
        if (v->out[k].kind == IR_OUT_J && v->out[k].a == t->a && v->out[k].b == t->a)
            t->aa = k;
    return t->aa >= 0;
}

/* Jacobian entries of lane-interleaved outputs: y (a,a), -y (a,b), -y (b,a), y (b,b)? */
static bool is_pair(const mdl_variant *v, const two *t, const double *out, int32_t lanes)
{
    const double y = out[t->aa * lanes];
    for (int32_t k = 0; k < v->lay.n_out; k++) {
        const mdl_out *o = &v->out[k];
        if (o->kind != IR_OUT_J)
            continue;
        if ((o->a != t->a && o->a != t->b) || (o->b != t->a && o->b != t->b) ||
            out[k * lanes] != (o->a == o->b ? y : -y))
            return false;
    }
    return isfinite(y);
}

static void find_slots(const dev_form *fm, const two *t, int32_t i, ckt_pair *p)
{
    const int32_t *slot = fm->slot + (size_t)i * (size_t)fm->n_out;
    for (int32_t k = 0; k < fm->n_out; k++) {
        const mdl_out *o = &fm->variant->out[k];
        if (o->kind == IR_OUT_J)
            p->slot[2 * (o->a == t->b) + (o->b == t->b)] = slot[k];
    }
}

/* The Jacobian at alpha = 0 tells conductances, at alpha = 1 capacitances. */
bool ckt_take_pairs(ckt *c, dev_group *g, ckt_pair **to, bool *charge)
{
    const dev_form *fm = &g->form[MDL_TRAN];
    two t;
    if (!ckt_fn_is_linear(&fm->variant->eval) || g->n_lim || g->n_state ||
        !find_two(fm->variant, &t))
        return false;
    double dyn[IR_N_DYN] = {0};
    const size_t keep = vec_len(*to);
    int32_t now = -1; /* the pack that was evaluated last */
    dyn[IR_DYN_ALPHA] = t.charge;
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t p = dev_pack_of(g, i);
        const double *out = c->out + (i - g->first[p]);
        const int32_t *unk = &fm->map[(size_t)i * (size_t)fm->n_u];
        const bool ok =
            p == now || dev_eval(g, MDL_TRAN, dyn, c->x, p, p + 1, false, c->out) == VS_OK;
        now = p;
        if (!ok || !is_pair(fm->variant, &t, out, g->lanes)) {
            if (*to)
                vec_head_of(*to)->len = keep;
            return false;
        }
        ckt_pair e = {.p = unk[t.a], .n = unk[t.b], .value = out[t.aa * g->lanes]};
        find_slots(fm, &t, i, &e);
        vec_push(*to, e);
    }
    *charge = t.charge;
    return true;
}

/* -- the list -- */

typedef struct term { /* v[at] goes to a target */
    int32_t target, at;
} term;

typedef struct maker {
    ckt *c;
    ckt_small *sm;
    term *f, *q, *j; /* vec */
} maker;

static void push(term **to, int32_t target, int32_t at) { vec_push(*to, (term){target, at}); }

/* Room for n contributions. */
static int32_t take(maker *m, int32_t n)
{
    const int32_t at = (int32_t)m->sm->n_v;
    m->sm->n_v += (size_t)n;
    return at;
}

static void list_sources(maker *m)
{
    for (size_t i = 0; i < vec_len(m->c->sources->all); i++) {
        const nat_source *s = &m->c->sources->all[i];
        const int32_t at = take(m, 5);
        vec_push(m->sm->source, at);
        push(&m->f, s->p, at);
        push(&m->f, s->n, at + 1);
        for (int32_t k = 2; s->is_v && k < 5; k++)
            push(&m->f, s->k, at + k);
    }
    for (size_t i = 0; i < vec_len(m->c->fix); i++) {
        const ckt_fix *k = &m->c->fix[i];
        if (!k->always) /* static loads only */
            continue;
        const anchor a = {.fix = (int32_t)i, .at = take(m, 1)};
        vec_push(m->sm->fix, a);
        push(&m->f, k->unknown, a.at);
    }
}

static void list_pair(maker *m, ckt_pair *p, term **to)
{
    p->at = take(m, 2);
    push(to, p->p, p->at);
    push(to, p->n, p->at + 1);
}

static void list_output(maker *m, uint8_t kind, int32_t slot, int32_t at)
{
    if (kind == IR_OUT_RES)
        push(&m->f, slot, at);
    else if (kind == IR_OUT_REACT)
        push(&m->q, slot, at);
    else if ((kind == IR_OUT_G || kind == IR_OUT_J) && slot < csc_nnz(&m->c->a))
        push(&m->j, slot, at);
    else if (kind == IR_OUT_LIMITED)
        vec_push(m->sm->limited, at);
    else if (kind == IR_OUT_BOUND_STEP)
        vec_push(m->sm->bound, at);
}

static void list_group(maker *m, dev_group *g)
{
    const dev_form *fm = &g->form[MDL_TRAN];
    const int32_t stride = g->lin ? dev_whole_stride(g) : g->lanes;
    (void)take(m, -(int32_t)m->sm->n_v & 7); /* the next whole line of a cache */
    const active a = {.g = g, .at = take(m, g->n_pack * fm->n_out * stride)};
    vec_push(m->sm->active, a);
    for (int32_t p = 0; p < g->n_pack; p++)
        for (int32_t i = g->first[p]; i < g->first[p + 1]; i++)
            for (int32_t k = 0; k < fm->n_out; k++)
                list_output(m, fm->variant->out[k].kind,
                            fm->slot[(size_t)i * (size_t)fm->n_out + (size_t)k],
                            a.at + (p * fm->n_out + k) * stride + i - g->first[p]);
}

static void list_groups(maker *m)
{
    for (size_t i = 0; i < vec_len(m->c->group); i++) {
        dev_group *g = &m->c->group[i];
        ckt_pair *pairs = NULL;
        bool charge;
        if (!g->lin && ckt_take_pairs(m->c, g, &pairs, &charge)) {
            for (size_t k = 0; k < vec_len(pairs); k++) {
                list_pair(m, &pairs[k], charge ? &m->q : &m->f);
                if (charge)
                    vec_push(m->sm->c, pairs[k]);
                else
                    vec_push(m->sm->g, pairs[k]);
            }
        } else {
            list_group(m, g);
        }
        vec_free(pairs);
    }
}

/* Terms of one target behind each other, in their order: a sum each. Targets from `first` on. */
static void make_sums(ckt_small *sm, const term *t, int32_t first, int32_t n, bool empty_too,
                      gather **to)
{
    const int32_t begin = (int32_t)vec_len(sm->from);
    int32_t *end = vs_calloc((size_t)n + 1, sizeof *end), at = begin;
    for (size_t i = 0; i < vec_len(t); i++)
        end[t[i].target] += t[i].target >= first;
    for (int32_t k = first; k < n; k++) {
        const gather s = {.target = k, .begin = at, .end = at + end[k]};
        if (empty_too || s.end > s.begin)
            vec_push(*to, s);
        end[k] = at; /* where its next term goes */
        at = s.end;
    }
    vec_extend(sm->from, at - begin);
    for (size_t i = 0; i < vec_len(t); i++)
        if (t[i].target >= first)
            sm->from[end[t[i].target]++] = t[i].at;
    vs_free(end);
}

/* -- as code -- */

enum { SUM, TERM, MOST, REST, NEXT, PART }; /* registers */

/* a0: x, a1: value, a2: v */
static void write_pairs(straight *l, const ckt_pair *p, int32_t first)
{
    for (int32_t k = 0; k < (int32_t)vec_len(p); k++) {
        straight_load(l, TERM, 0, p[k].p);
        straight_mem(l, STRAIGHT_SUB, TERM, 0, p[k].n);
        straight_mem(l, STRAIGHT_MUL, TERM, 1, first + k);
        straight_store(l, TERM, 2, p[k].at);
        straight_neg(l, TERM);
        straight_store(l, TERM, 2, p[k].at + 1);
    }
}

static void write_most(straight *l)
{
    straight_abs(l, TERM);
    straight_from(l, STRAIGHT_MAX, MOST, TERM, MOST); /* |t| > most ? |t| : most */
}

/* a0: v, a2: f, a3: fmax */
static void write_currents(straight *l, const gather *s, const int32_t *from)
{
    for (const gather *end = s + vec_len(s); s < end; s++) {
        straight_zero(l, SUM);
        straight_zero(l, MOST);
        for (int32_t k = s->begin; k < s->end; k++) {
            straight_load(l, TERM, 0, from[k]);
            straight_reg(l, STRAIGHT_ADD, SUM, TERM);
            write_most(l);
        }
        straight_store(l, SUM, 2, s->target);
        straight_store(l, MOST, 3, s->target);
    }
}

/* a0: v, a2: q, a3: low, a4: qmax; see sum_charges */
static void write_charges(straight *l, const gather *s, const int32_t *from)
{
    for (const gather *end = s + vec_len(s); s < end; s++) {
        straight_zero(l, SUM);
        straight_zero(l, REST);
        straight_zero(l, MOST);
        for (int32_t k = s->begin; k < s->end; k++) {
            straight_load(l, TERM, 0, from[k]);
            if (k == s->begin) { /* exact */
                straight_reg(l, STRAIGHT_ADD, SUM, TERM);
                write_most(l);
                continue;
            }
            straight_from(l, STRAIGHT_ADD, NEXT, SUM, TERM);      /* u */
            straight_from(l, STRAIGHT_SUB, PART, NEXT, SUM);      /* w = u - sum */
            straight_from(l, STRAIGHT_SUB, PART + 1, NEXT, PART); /* u - w */
            straight_reg(l, STRAIGHT_SUB, SUM, PART + 1);         /* sum - (u - w) */
            straight_from(l, STRAIGHT_SUB, PART + 1, TERM, PART); /* t - w */
            straight_reg(l, STRAIGHT_ADD, SUM, PART + 1);
            straight_reg(l, STRAIGHT_ADD, REST, SUM);
            straight_copy(l, SUM, NEXT);
            write_most(l);
        }
        straight_store(l, SUM, 2, s->target);
        straight_store(l, REST, 3, s->target);
        straight_store(l, MOST, 4, s->target);
    }
}

/* a0: v, a1: base, a2: values of the matrix */
static void write_jacobian(straight *l, const gather *s, const int32_t *from, int32_t n_val)
{
    const gather *end = s + vec_len(s);
    for (int32_t slot = 0; slot < n_val; slot++) {
        straight_load(l, SUM, 1, slot);
        for (int32_t k = s < end && s->target == slot ? s->begin : 0;
             s < end && s->target == slot && k < s->end; k++)
            straight_mem(l, STRAIGHT_ADD, SUM, 0, from[k]);
        straight_store(l, SUM, 2, slot);
        s += s < end && s->target == slot;
    }
}

static straight_fn finish_line(straight **l)
{
    straight_fn fn = straight_done(*l);
    if (!fn)
        straight_free(l);
    return fn;
}

static void write_code(ckt *c, ckt_small *sm)
{
    const size_t n_g = vec_len(sm->g), n_pair = n_g + vec_len(sm->c);
    straight **l[] = {&sm->pair_line, &sm->f_line, &sm->q_line, &sm->j_line};
    if (vec_len(sm->from) > MAX_CODE_TERMS)
        return;
    for (size_t i = 0; i < VS_COUNT(l); i++)
        if (!(*l[i] = straight_new()))
            return;
    sm->value = arena_array(&c->mem, double, n_pair);
    for (size_t i = 0; i < n_pair; i++)
        sm->value[i] = i < n_g ? sm->g[i].value : sm->c[i - n_g].value;
    write_pairs(sm->pair_line, sm->g, 0);
    write_pairs(sm->pair_line, sm->c, (int32_t)n_g);
    write_currents(sm->f_line, sm->f, sm->from);
    write_charges(sm->q_line, sm->q, sm->from);
    write_jacobian(sm->j_line, sm->j, sm->from, (int32_t)sm->n_val);
    sm->pair_fn = finish_line(&sm->pair_line);
    sm->f_fn = finish_line(&sm->f_line);
    sm->q_fn = finish_line(&sm->q_line);
    sm->j_fn = finish_line(&sm->j_line);
}

static void place_outputs(ckt_small *sm)
{
    static const double no_x[1];
    for (active *a = sm->active, *end = a + vec_len(a); a < end; a++) {
        if (a->g->lin)
            continue;
        a->kernel = a->g->form[MDL_TRAN].variant->kernel[a->g->row_per_lane];
        a->batch = dev_batch(a->g, MDL_TRAN, sm->dyn, no_x, 0, false, sm->v + a->at);
    }
}

static bool suits(const ckt *c, size_t instances, size_t unknowns)
{
    return vec_len(c->inst) <= instances && vec_len(c->unknown) <= unknowns &&
           !c->opt.general_load && nat_only_sources(&c->nat) && c->forms >> MDL_TRAN & 1;
}

bool ckt_small_suits(const ckt *c) { return suits(c, MAX_INSTANCES, MAX_UNKNOWNS); }

bool ckt_small_pays(const ckt *c)
{
    return !c->bypass && (suits(c, LINEAR_INSTANCES, LINEAR_UNKNOWNS) ||
                          (ckt_small_suits(c) && !ckt_is_linear(c)));
}

void ckt_small_make(ckt *c)
{
    ckt_small *sm = c->small = arena_new(&c->mem, ckt_small);
    maker m = {.c = c, .sm = sm};
    const int32_t n1 = (int32_t)vec_len(c->unknown);
    list_sources(&m);
    list_groups(&m);
    make_sums(sm, m.f, 1, n1, true, &sm->f);
    make_sums(sm, m.q, 1, n1, true, &sm->q);
    sm->n_val = (size_t)csc_nnz(&c->a) + 1;
    make_sums(sm, m.j, 0, csc_nnz(&c->a), false, &sm->j);
    sm->v = arena_vectors(&c->mem, sm->n_v);
    sm->base = arena_array(&c->mem, double, sm->n_val);
    sm->base_alpha = NAN;
    sm->env.mode = CKT_STATIC;
    sm->looks_at_v = !vec_len(sm->bound) && /* which may be infinite */
                     sm->n_v <= 2 * (size_t)n1 + sm->n_val + CALLS_COST;
    place_outputs(sm);
    write_code(c, sm);
    vec_free(m.f);
    vec_free(m.q);
    vec_free(m.j);
}

static bool runs_as_it_is(const ckt_small *sm, const dev_group *g)
{
    for (size_t i = 0; i < vec_len(sm->active); i++)
        if (sm->active[i].g == g)
            return true;
    return false;
}

bool ckt_small_has_pairs(const ckt *c, int32_t group)
{
    return !runs_as_it_is(c->small, &c->group[group]);
}

/* The pairs of a group again, in their places. */
static bool refresh_pairs(ckt *c, ckt_small *sm, dev_group *g, size_t *n_g, size_t *n_c)
{
    ckt_pair *pairs = NULL;
    bool charge;
    bool ok = ckt_take_pairs(c, g, &pairs, &charge);
    for (size_t k = 0; ok && k < vec_len(pairs); k++) {
        ckt_pair *to = charge ? &sm->c[(*n_c)++] : &sm->g[(*n_g)++];
        to->value = pairs[k].value;
    }
    vec_free(pairs);
    return ok;
}

bool ckt_small_refresh(ckt *c)
{
    ckt_small *sm = c->small;
    size_t n_g = 0, n_c = 0;
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (!runs_as_it_is(sm, &c->group[i]) && !refresh_pairs(c, sm, &c->group[i], &n_g, &n_c))
            return false;
    for (size_t i = 0; sm->value && i < vec_len(sm->g) + vec_len(sm->c); i++)
        sm->value[i] = i < vec_len(sm->g) ? sm->g[i].value : sm->c[i - vec_len(sm->g)].value;
    return true;
}

void ckt_small_fresh(ckt *c)
{
    c->small->base_alpha = NAN;
    c->small->env = (ckt_env){.mode = CKT_STATIC};
}

void ckt_small_drop(ckt *c)
{
    ckt_small *sm = c->small;
    if (!sm)
        return;
    if (c->small_has_env)
        c->env = ckt_small_env(c);
    c->small_has_env = false;
    vec_free(sm->g);
    vec_free(sm->c);
    vec_free(sm->active);
    vec_free(sm->source);
    vec_free(sm->fix);
    vec_free(sm->f);
    vec_free(sm->q);
    vec_free(sm->j);
    vec_free(sm->from);
    vec_free(sm->limited);
    vec_free(sm->bound);
    straight_free(&sm->pair_line);
    straight_free(&sm->f_line);
    straight_free(&sm->q_line);
    straight_free(&sm->j_line);
    c->small = NULL;
}

/* -- a load -- */

static void add_pair(double *val, const ckt_pair *p, double y)
{
    val[p->slot[0]] += y;
    val[p->slot[1]] -= y;
    val[p->slot[2]] -= y;
    val[p->slot[3]] += y;
}

static void make_base(const ckt *c, ckt_small *sm, const ckt_env *env)
{
    double *val = sm->base;
    hot_clear(val, sm->n_val);
    for (size_t i = 0; i < vec_len(c->sources->all); i++) {
        const nat_source *s = &c->sources->all[i];
        if (s->is_v)
            nat_source_stamp(s, val);
    }
    for (size_t i = 0; i < vec_len(sm->fix); i++) {
        const ckt_fix *k = &c->fix[sm->fix[i].fix];
        val[k->slot] += ckt_fix_value(k, env);
    }
    for (size_t i = 0; i < vec_len(sm->g); i++)
        add_pair(val, &sm->g[i], sm->g[i].value);
    for (size_t i = 0; i < vec_len(sm->c); i++)
        add_pair(val, &sm->c[i], env->alpha * sm->c[i].value);
    val[sm->n_val - 1] = 0;
    sm->base_alpha = env->alpha;
    sm->base_gmin = env->gmin;
}

static void eval_pairs_of(const ckt_pair *p, const double *x, double *restrict v)
{
    for (const ckt_pair *end = p + vec_len(p); p < end; p++) {
        const double i = p->value * (x[p->p] - x[p->n]);
        v[p->at] = i;
        v[p->at + 1] = -i;
    }
}

static void eval_pairs(const ckt_small *sm, const double *x)
{
    if (sm->pair_fn) {
        sm->pair_fn(x, sm->value, sm->v, NULL, NULL, NULL);
        return;
    }
    eval_pairs_of(sm->g, x, sm->v);
    eval_pairs_of(sm->c, x, sm->v);
}

/* As load_one in nat_source.c: two currents; three terms of the row of a voltage source. */
static void eval_sources(ckt *c, const ckt_small *sm, const ckt_env *env, const double *x)
{
    nat_source *s = c->sources->all;
    const int32_t *at = sm->source;
    for (nat_source *end = s + vec_len(s); s < end; s++, at++) {
        double *v = sm->v + *at;
        const double e = nat_source_value(s, env), i = s->m * (s->is_v ? x[s->k] : e);
        v[0] = i;
        v[1] = -i;
        v[2] = x[s->p];
        v[3] = -x[s->n];
        v[4] = -e;
    }
    for (size_t i = 0; i < vec_len(sm->fix); i++) {
        const ckt_fix *k = &c->fix[sm->fix[i].fix];
        sm->v[sm->fix[i].at] = ckt_fix_value(k, env) * x[k->unknown];
    }
}

static bool same_but_iteration(const ckt_env *a, const ckt_env *b)
{
    return a->mode == b->mode && a->gmin == b->gmin && a->srcfact == b->srcfact &&
           a->limit == b->limit && a->initial_step == b->initial_step &&
           a->final_step == b->final_step;
}

static void fill_dyn(ckt_small *sm, const ckt_env *env)
{
    if (!same_but_iteration(env, &sm->env)) {
        ckt_fill_dyn(sm->dyn, env);
        sm->env = *env;
    }
    sm->dyn[IR_DYN_ALPHA] = env->alpha;
    sm->dyn[IR_DYN_ITER] = env->iter;
    sm->dyn[IR_DYN_ABSTIME] = env->time;
}

ckt_env ckt_small_env(const ckt *c)
{
    const ckt_small *sm = c->small;
    ckt_env env = sm->env;
    env.alpha = sm->dyn[IR_DYN_ALPHA];
    env.iter = (int)sm->dyn[IR_DYN_ITER];
    env.time = sm->dyn[IR_DYN_ABSTIME];
    return env;
}

static vs_status load_whole(ckt *c, dev_group *g, const ckt_env *env, const double *x, double *v)
{
    const dev_lin_at at = {.x = x,
                           .dyn = c->small->dyn,
                           .weight = env->weight,
                           .alpha = env->alpha,
                           .blur = env->blur,
                           .rough = env->rough};
    const vs_status st = dev_whole_load(g, &at, v);
    const int32_t bypassed = g->nb - g->lin->n_item;
    g->n_eval -= bypassed;
    g->n_bypass += bypassed;
    c->stat.n_eval -= bypassed;
    c->stat.n_bypass += bypassed;
    return st;
}

static vs_status eval_groups(ckt *c, const ckt_env *env, const double *x)
{
    ckt_small *sm = c->small;
    for (active *a = sm->active, *end = a + vec_len(a); a < end; a++) {
        dev_group *g = a->g;
        g->n_eval += g->nb;
        if (g->lin) {
            const vs_status st = load_whole(c, g, env, x, sm->v + a->at);
            if (st != VS_OK)
                return st;
            continue;
        }
        if (g->lim_fresh)
            dev_begin(g, MDL_TRAN, x);
        if (a->kernel) {
            a->batch.x = x;
            a->batch.limold = g->lim[DEV_LIM_OLD];
            a->batch.limnew = g->lim[DEV_LIM_NEW];
            a->batch.state = g->state;
            a->batch.state_new = g->state_new;
            a->kernel(&a->batch, 0, g->n_pack);
            if (mdl_compare_wanted(g->model))
                dev_compare(g, MDL_TRAN, &a->batch, 0, g->n_pack, NULL);
            dev_advance(g);
            continue;
        }
        const vs_status st = dev_eval(g, MDL_TRAN, sm->dyn, x, 0, g->n_pack, false, sm->v + a->at);
        dev_advance(g);
        if (st != VS_OK)
            return st;
    }
    return VS_OK;
}

static void sum_currents(const ckt_small *sm, double *restrict f, double *restrict max)
{
    const double *v = sm->v;
    const int32_t *from = sm->from;
    if (sm->f_fn) {
        sm->f_fn(v, NULL, f, max, NULL, NULL);
        return;
    }
    for (const gather *s = sm->f, *end = s + vec_len(s); s < end; s++) {
        double sum = 0, most = 0;
        for (int32_t k = s->begin; k < s->end; k++) {
            const double t = v[from[k]];
            sum += t;
            most = norm_max(fabs(t), most);
        }
        f[s->target] = sum;
        max[s->target] = most;
    }
}

/* The rounding errors of the sums are kept in `low` (two-sum: Knuth, TAOCP 2, 4.2.2). */
static void sum_charges(const ckt_small *sm, double *restrict q, double *restrict low,
                        double *restrict max)
{
    const double *v = sm->v;
    const int32_t *from = sm->from;
    if (sm->q_fn) {
        sm->q_fn(v, NULL, q, low, max, NULL);
        return;
    }
    for (const gather *s = sm->q, *end = s + vec_len(s); s < end; s++) {
        double sum = 0, rest = 0, most = 0;
        for (int32_t k = s->begin; k < s->end; k++) {
            const double t = v[from[k]], u = sum + t, w = u - sum;
            rest += (sum - (u - w)) + (t - w);
            sum = u;
            most = norm_max(fabs(t), most);
        }
        q[s->target] = sum;
        low[s->target] = rest;
        max[s->target] = most;
    }
}

VS_HOT static void sum_jacobian(const ckt_small *sm, double *restrict val)
{
    const double *v = sm->v;
    const int32_t *from = sm->from;
    if (sm->j_fn) {
        sm->j_fn(v, sm->base, val, NULL, NULL, NULL);
        return;
    }
    memcpy(val, sm->base, sm->n_val * sizeof *val);
    for (const gather *s = sm->j, *end = s + vec_len(s); s < end; s++) {
        double sum = val[s->target];
        for (int32_t k = s->begin; k < s->end; k++)
            sum += v[from[k]];
        val[s->target] = sum;
    }
}

static void read_flags(ckt *c, const ckt_small *sm, bool *limited)
{
    c->bound = c->asked = INFINITY;
    const double *v = sm->v;
    double any = 0; /* 1 of each that was limited */
    for (const int32_t *k = sm->limited, *end = k + vec_len(k); k < end; k++)
        any += v[*k];
    *limited = any != 0;
    for (size_t k = 0; k < vec_len(sm->bound); k++)
        ckt_take_bound(sm->v[sm->bound[k]], &c->bound, &c->asked);
}

bool ckt_small_is_finite(const ckt *c, const double *f, const double *q)
{
    const ckt_small *sm = c->small;
    if (sm->looks_at_v)
        return norm_finite(sm->v, (int32_t)sm->n_v);
    return norm_finite_all(f, q, (int32_t)vec_len(c->unknown), c->a.val, (int32_t)sm->n_val);
}

VS_HOT vs_status ckt_small_load(ckt *c, const ckt_env *env, const double *x, double *f, double *q,
                                double *fmx, double *qmx, bool *limited, int timed)
{
    ckt_small *sm = c->small;
    const double t0 = timed ? vs_seconds() : 0;
    if (env->alpha != sm->base_alpha || env->gmin != sm->base_gmin)
        make_base(c, sm, env);
    if (env->matrix && !vec_len(sm->active)) {
        sum_jacobian(sm, c->a.val);
        return VS_OK;
    }
    eval_sources(c, sm, env, x);
    eval_pairs(sm, x);
    fill_dyn(sm, env);
    const vs_status st = eval_groups(c, env, x);
    const double t1 = timed ? vs_seconds() : 0;
    sum_currents(sm, f, fmx);
    sum_charges(sm, q, c->qlo, qmx);
    sum_jacobian(sm, c->a.val);
    read_flags(c, sm, limited);
    c->stat.n_eval += (int64_t)vec_len(c->inst);
    if (timed) {
        c->stat.s_eval += timed * fmax(t1 - t0 - c->s_clock, 0);
        c->stat.s_stamp += timed * fmax(vs_seconds() - t1 - c->s_clock, 0);
    }
    return st;
}
