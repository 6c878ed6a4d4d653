/* The code that simulations run against the meaning of the model: specialised kernels with
 * reciprocals, own mathematical functions, fused operations and straightened branches, against the
 * unspecialised function with its divisions, branches and the C library's functions, at random
 * biases of random valid parameter sets. They agree to 1e-12 of the sum's terms, and where the
 * model is not that well conditioned within ten times what an ulp of each input does (biases, and
 * the setup values that parameters become). Where terms cancel inside the model that can be nothing
 * (a*b - a*b is 0 whatever a is, and 1e-17 in fused arithmetic): then within ten times what an ulp
 * in the result of each operation does. What is below 1e-30 of the largest of its kind does not
 * count. Every number of lanes, both forms of parameter rows and any order of the instances in a
 * batch give the same bits. Pairs of sets share code of what is known in both (mdl_variant_meet),
 * their instances in turn in each batch, and are held to the same.
 *
 * VSIM_SWEEP=SETS,BIASES sets the size, for each module (standard: 2,32; the full size is 200,64,
 * which is 12,800 biases of each module in each of its four forms). VSIM_MODEL=NAME takes that
 * module only. VSIM_SHARE=K/N takes the sets K, K+N, ... only. Modules: all of models/, and those
 * of the IHP SG13G2 kit where build/peers has it. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/suite.h"
#include "dut.h"
#include "ir_priv.h"

enum { BLOCK = 32, MAX_GIVEN = 4096, N_WIDTH = 4, ALL_WIDTHS = 20 };
static const int width[N_WIDTH] = {8, 4, 2, 1};
static const mdl_form_kind forms[] = {MDL_DC, MDL_TRAN, MDL_APART, MDL_AC};

typedef struct subject {      /* a module, and where it comes from */
    char name[32], file[700]; /* file "": of the standard folder */
} subject;
static subject *subjects; /* vec */
static int n_set = 2, n_bias = 32, share = 0, n_share = 1;
static char cache_folder[] = "/tmp/vsim-agree-XXXXXX";

/* -- random numbers: xorshift64*, so that a failure can be repeated -- */

static uint64_t seed;
static double random01(void)
{
    seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
    return (double)((seed * 2685821657736338717u) >> 11) * 0x1p-53;
}

static double random_sign(void) { return 2 * random01() - 1; }
static int random_int(int n) { return (int)(random01() * n); }

/* -- libraries: one per number of lanes, and the unspecialised one -- */

typedef struct library {
    diag d;
    str_pool names;
    mdl_lib *lib;
    mdl_model *m;
} library;

static void open_library(library *l, const subject *s, const mdl_opt *opt)
{
    char models[512];
    mdl_opt o = *opt;
    *l = (library){0};
    diag_init(&l->d);
    str_pool_init(&l->names);
    o.model_dir = source_path(models, "models");
    o.jit.opt_level = 2;
    o.jit.cache_dir = cache_folder;
    bool ok = mdl_lib_new(&l->lib, &l->d, &l->names, &o) == VS_OK;
    ok = ok && (!*s->file || mdl_load(l->lib, s->file) == VS_OK);
    l->m = ok ? mdl_find(l->lib, s->name) : NULL;
    if (!l->m)
        diag_render(&l->d, stderr, false);
    ck_assert_msg(l->m != NULL, "module %s", s->name);
}

static void close_library(library *l)
{
    mdl_lib_free(&l->lib);
    str_pool_fini(&l->names);
    diag_fini(&l->d);
}

/* -- parameter sets -- */

typedef struct param_set {
    mdl_given given[MAX_GIVEN];
    size_t n;
    mdl_env env;
} param_set;

static double random_param(const va_param *p, double dflt)
{
    static const double some[] = {0, 1, -1, 2, 3};
    if (p->type == VA_INTEGER)
        return random01() < 0.5 ? dflt : some[random_int(VS_COUNT(some))];
    if (dflt != 0)
        return dflt * (random01() < 0.8 ? 0.8 + 0.4 * random01() : 0.3 + 2 * random01());
    return pow(10, -9 * random01()) * (random01() < 0.2 ? -1 : 1);
}

/* Runs the module's params function for a set.
 *   value  out  [n_param] after defaults      ok  out  [n_param] inside the range */
static void eval_params(const va_module *m, const param_set *ps, double *value, uint8_t *ok)
{
    const ir_fn *fn = &m->params;
    ir_num *val = vs_calloc(vec_len(fn->inst) + 1, sizeof *val);
    ir_num *in = vs_calloc(vec_len(fn->in) + 1, sizeof *in);
    double *given = vs_calloc(vec_len(m->param) + 1, sizeof *given);
    uint8_t *is_given = vs_calloc(vec_len(m->param) + 1, 1);
    for (size_t i = 0; i < ps->n; i++) {
        given[ps->given[i].param] = ps->given[i].value;
        is_given[ps->given[i].param] = 1;
    }
    for (size_t i = 0; i < vec_len(fn->in); i++) {
        const ir_input *w = &fn->in[i];
        double x = w->kind == IR_IN_PARAM      ? given[w->k]
                   : w->kind == IR_IN_GIVEN    ? is_given[w->k]
                   : w->kind == IR_IN_TEMP     ? ps->env.temp
                   : w->kind == IR_IN_MFACTOR  ? ps->env.mfactor
                   : w->kind == IR_IN_SIMPARAM ? ps->env.simparam[w->k]
                                               : 1;
        if (w->type == IR_F64)
            in[i].f = x;
        else
            in[i].i = (int32_t)x;
    }
    ck_assert_int_eq(ir_interp(fn, in, val, NULL, NULL), VS_OK);
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        const ir_out *w = &fn->out[o];
        if (w->kind == IR_OUT_PARAM)
            value[w->a] = fn->inst[w->v].type == IR_F64 ? val[w->v].f : val[w->v].i;
        else if (w->kind == IR_OUT_PARAM_OK)
            ok[w->a] = (uint8_t)val[w->v].i;
    }
    vs_free(val), vs_free(in), vs_free(given), vs_free(is_given);
}

static int32_t row_of(library *l, const param_set *ps)
{
    int32_t row = -1;
    vs_status st = mdl_row(l->m, ps->given, ps->n, &ps->env, DIAG_NOWHERE, "x1", &row);
    return st == VS_OK ? row : -1;
}

static void drop(param_set *ps, size_t k)
{
    ps->n--;
    ps->given[k] = ps->given[ps->n];
}

/* Drops what is outside its range, until nothing is; a dependent default may be: then any one. */
static void drop_invalid(const va_module *m, param_set *ps, size_t n_base, double *value,
                         uint8_t *ok)
{
    for (bool again = true; again && ps->n > n_base;) {
        bool bad = false;
        size_t before = ps->n;
        again = false;
        eval_params(m, ps, value, ok);
        for (size_t p = 0; p < vec_len(m->param); p++)
            bad |= !ok[p];
        for (size_t k = n_base; k < ps->n;)
            if (!ok[ps->given[k].param])
                drop(ps, k), again = true;
            else
                k++;
        if (bad && before == ps->n)
            drop(ps, n_base + (size_t)random_int((int)(ps->n - n_base))), again = true;
    }
}

/* Set 0: the base alone (a card, if `base` is one; else the defaults); others move some parameters.
 */
static void choose_params(library *l, const char *base, int which, param_set *ps)
{
    static double simparam[IR_N_SIMPARAM] = {
#define X(name, type, dflt, ...) dflt,
        IR_SIMPARAM_LIST(X)
#undef X
    };
    static const double multiple[] = {1, 1, 1, 2, 2.5};
    const va_module *m = mdl_module(l->m);
    size_t n = vec_len(m->param);
    double *dflt = vs_calloc(n + 1, sizeof *dflt), *value = vs_calloc(n + 1, sizeof *value);
    uint8_t *ok = vs_calloc(n + 1, 1);
    ps->env = (mdl_env){.temp = 300.15, .mfactor = 1, .simparam = simparam};
    ps->n = base ? dut_given(m, base, ps->given, 0) : 0;
    size_t n_base = ps->n;
    eval_params(m, ps, dflt, ok);
    if (which) {
        static const double often[] = {0.02, 0.1, 0.3, 0.8};
        double share_moved = often[random_int(VS_COUNT(often))];
        ps->env.temp = 230 + 190 * random01();
        ps->env.mfactor = multiple[random_int(VS_COUNT(multiple))];
        for (size_t p = 0; p < n; p++)
            if (m->param[p].type != VA_STRING && !m->param[p].local &&
                random01() < (n < 20 ? 0.8 : share_moved))
                ps->given[ps->n++] =
                    (mdl_given){(int32_t)p, random_param(&m->param[p], dflt[p]), DIAG_NOWHERE};
        drop_invalid(m, ps, n_base, value, ok);
    }
    while (row_of(l, ps) < 0 && ps->n > n_base) /* refused by the model itself ($fatal) */
        ps->n--;
    vs_free(dflt), vs_free(value), vs_free(ok);
}

/* The set with up to three more parameters moved, so that nodes are one in the same way; false:
 * none was found. */
static bool choose_partner(library *l, const param_set *ps, param_set *partner)
{
    enum { TRIES = 20, MOVED = 3 };
    const va_module *m = mdl_module(l->m);
    size_t n = vec_len(m->param);
    double *dflt = vs_calloc(n + 1, sizeof *dflt), *value = vs_calloc(n + 1, sizeof *value);
    uint8_t *ok = vs_calloc(n + 1, 1);
    bool found = false;
    for (int t = 0; t < TRIES && n && !found; t++) {
        *partner = *ps;
        eval_params(m, ps, dflt, ok);
        for (int k = 0; k < MOVED; k++) {
            int32_t p = random_int((int)n);
            if (m->param[p].type != VA_STRING && !m->param[p].local)
                partner->given[partner->n++] =
                    (mdl_given){p, random_param(&m->param[p], dflt[p]), DIAG_NOWHERE};
        }
        drop_invalid(m, partner, ps->n, value, ok);
        const int32_t a = row_of(l, ps), b = row_of(l, partner);
        found = b >= 0 && b != a &&
                !memcmp(mdl_row_topology(l->m, a), mdl_row_topology(l->m, b),
                        sizeof(int32_t) * (size_t)mdl_n_unknown(l->m));
    }
    vs_free(dflt), vs_free(value), vs_free(ok);
    return found;
}

/* -- a block of instances at random biases -- */

typedef struct biases {
    int32_t n_u, n_lim;
    double *x;   /* [1 + BLOCK * n_u] */
    double *lim; /* [BLOCK][n_lim] */
    double dyn[IR_N_DYN];
    const int32_t *topology;
} biases;

static double random_unknown(const va_unknown *u, double terminal, bool near)
{
    double r = random_sign();
    if (u->kind == VA_CURRENT)
        return 1e-3 * r * r * r;
    if (u->discipline && !strcmp(u->discipline, "thermal"))
        return 20 * fabs(r);
    return near && u->kind == VA_NODE ? terminal + 0.02 * r : 1.5 * r;
}

static void choose_biases(biases *b, mdl_model *m, mdl_form_kind form)
{
    for (int i = 0; i < BLOCK; i++) {
        bool near = random01() < 0.5;
        double *x = b->x + 1 + i * b->n_u, scale = random01() < 0.05 ? 4 : 1;
        for (int32_t u = 0; u < b->n_u; u++) {
            double terminal = u ? x[random_int(mdl_module(m)->n_port) % u] : 0;
            x[u] = scale * random_unknown(mdl_unknown(m, u), terminal, near);
        }
        for (int32_t k = 0; k < b->n_lim; k++)
            b->lim[i * b->n_lim + k] = random_sign();
    }
    memset(b->dyn, 0, sizeof b->dyn);
    b->dyn[IR_DYN_GMIN] = 1e-12;
    b->dyn[IR_DYN_SRCFACT] = b->dyn[IR_DYN_LIMIT] = 1;
    b->dyn[IR_DYN_ITER] = 2;
    b->dyn[IR_DYN_ALPHA] = form == MDL_TRAN ? pow(10, 8 + 4 * random01()) : 0;
    b->dyn[IR_DYN_IS_TRAN] = form == MDL_TRAN || form == MDL_APART;
    b->dyn[IR_DYN_IS_AC] = b->dyn[IR_DYN_IS_NOISE] = form == MDL_AC;
    b->dyn[IR_DYN_IS_DC] = b->dyn[IR_DYN_IS_STATIC] = form == MDL_DC;
}

/* -- evaluation of a block -- */

typedef struct evaluator {
    mdl_variant *v;
    double *cache; /* [n_cache] */
    double *odd;   /* [n_cache] of odd instances, if theirs is another row; else NULL */
    double *out;   /* [BLOCK][n_out] of the last evaluation */
    double *lim;   /* [BLOCK][n_lim] */
} evaluator;

/* other: the set of odd instances, NULL: that of the even ones */
static void open_evaluator(evaluator *e, library *l, const param_set *ps, const param_set *other,
                           mdl_form_kind form)
{
    const int32_t row = row_of(l, ps), both[2] = {row, other ? row_of(l, other) : -1};
    *e = (evaluator){0};
    ck_assert_int_ge(row, 0);
    if (other)
        ck_assert_int_eq(mdl_variant_meet(l->m, both, 2, form, &e->v), VS_OK);
    else
        ck_assert_int_eq(mdl_variant_get(l->m, row, form, &e->v), VS_OK);
    ck_assert_ptr_nonnull(e->v);
    if (other) {
        e->odd = vs_calloc((size_t)e->v->lay.n_cache + 1, sizeof(double));
        mdl_setup(e->v, both[1], e->odd);
    }
    e->cache = vs_calloc((size_t)e->v->lay.n_cache + 1, sizeof(double));
    e->out = vs_calloc((size_t)(BLOCK * e->v->lay.n_out) + 1, sizeof(double));
    e->lim = vs_calloc((size_t)(BLOCK * e->v->lay.n_lim) + 1, sizeof(double));
    mdl_setup(e->v, row, e->cache);
}

static void close_evaluator(evaluator *e)
{
    vs_free(e->cache), vs_free(e->odd), vs_free(e->out), vs_free(e->lim);
}

/* The arrays of a kernel for n instances (a multiple of the lanes): lane arrays of the layout. */
typedef struct packs {
    int w, n;
    int32_t *map, *row;
    double *cache, *state, *limold, *out, *state_new, *limnew;
} packs;

static packs new_packs(const jit_layout *l, int n)
{
    size_t per = (size_t)n;
    return (packs){.w = l->lanes,
                   .n = n,
                   .map = vs_calloc(per * (size_t)l->n_u + 1, sizeof(int32_t)),
                   .row = vs_calloc(per + 1, sizeof(int32_t)),
                   .cache = vs_calloc(per * (size_t)l->n_cache + 1, sizeof(double)),
                   .state = vs_calloc(per * (size_t)l->n_state + 1, sizeof(double)),
                   .limold = vs_calloc(per * (size_t)l->n_lim + 1, sizeof(double)),
                   .out = vs_calloc(per * (size_t)l->n_out + 1, sizeof(double)),
                   .state_new = vs_calloc(per * (size_t)l->n_state + 1, sizeof(double)),
                   .limnew = vs_calloc(per * (size_t)l->n_lim + 1, sizeof(double))};
}

static void free_packs(packs *p)
{
    vs_free(p->map), vs_free(p->row), vs_free(p->cache), vs_free(p->state), vs_free(p->limold);
    vs_free(p->out), vs_free(p->state_new), vs_free(p->limnew);
}

static size_t at(const packs *p, int i, int32_t k, int32_t n)
{
    return ((size_t)(i / p->w) * (size_t)n + (size_t)k) * (size_t)p->w + (size_t)(i % p->w);
}

/* Instance i of the packs is instance `of` of the biases. */
static void put_instance(packs *p, const evaluator *e, const biases *b, int i, int of)
{
    const jit_layout *l = &e->v->lay;
    for (int32_t u = 0; u < l->n_u; u++)
        p->map[at(p, i, u, l->n_u)] = b->topology[u] < 0 ? 0 : 1 + of * l->n_u + b->topology[u];
    for (int32_t k = 0; k < l->n_lim; k++)
        p->limold[at(p, i, k, l->n_lim)] = b->lim[of * l->n_lim + k];
    for (int32_t k = 0; k < l->n_cache; k++)
        p->cache[at(p, i, k, l->n_cache)] = e->odd && of % 2 ? e->odd[k] : e->cache[k];
}

static jit_batch batch_of(const packs *p, const biases *b)
{
    return (jit_batch){.x = b->x,
                       .map = p->map,
                       .cache = p->cache,
                       .row_of = p->row,
                       .dyn = b->dyn,
                       .state = p->state,
                       .limold = p->limold,
                       .out = p->out,
                       .state_new = p->state_new,
                       .limnew = p->limnew};
}

/* Evaluates the block, instance order[i] in place i (NULL: in order). */
static void evaluate(evaluator *e, const biases *b, bool row_per_lane, bool interpret,
                     const int *order)
{
    jit_layout l = e->v->lay;
    packs p = new_packs(&l, BLOCK);
    l.row_per_lane = row_per_lane;
    for (int i = 0; i < BLOCK; i++)
        put_instance(&p, e, b, i, order ? order[i] : i);
    jit_batch batch = batch_of(&p, b);
    if (!row_per_lane)
        batch.cache = e->cache;
    if (interpret) {
        ck_assert_int_eq(jit_interpret(&e->v->eval, &l, &batch, 0, BLOCK / p.w), VS_OK);
    } else {
        mdl_prepare(e->v, row_per_lane);
        ck_assert_ptr_nonnull(e->v->kernel[row_per_lane]);
        ck_assert_int_eq(mdl_eval(e->v, row_per_lane, &batch, 0, BLOCK / p.w), VS_OK);
    }
    for (int i = 0; i < BLOCK; i++) {
        int of = order ? order[i] : i;
        for (int32_t k = 0; k < l.n_out; k++)
            e->out[of * l.n_out + k] = p.out[at(&p, i, k, l.n_out)];
        for (int32_t k = 0; k < l.n_lim; k++)
            e->lim[of * l.n_lim + k] = p.limnew[at(&p, i, k, l.n_lim)];
    }
    free_packs(&p);
}

/* -- places: what both functions compute -- */

typedef struct place {
    uint8_t kind;
    int32_t a, b, special; /* output of the specialised function, -1: none, its value is 0 */
    int32_t *plain;        /* vec; outputs of the unspecialised one that add up to it */
} place;

static bool on_row(int kind)
{
    return kind == IR_OUT_RES || kind == IR_OUT_REACT || kind == IR_OUT_G || kind == IR_OUT_C ||
           kind == IR_OUT_J;
}

static bool is_gain(int kind) { return kind == IR_OUT_NOISE_GAIN || kind == IR_OUT_NOISE_GAINC; }

static place *find_place(place *p, int kind, int32_t a, int32_t b)
{
    for (size_t i = 0; i < vec_len(p); i++)
        if (p[i].kind == kind && p[i].a == a && p[i].b == b)
            return &p[i];
    return NULL;
}

static place *find_places(const mdl_variant *special, const mdl_variant *plain,
                          const int32_t *topology)
{
    place *places = NULL;
    for (int32_t k = 0; k < special->lay.n_out; k++) {
        const mdl_out *o = &special->out[k];
        vec_push(places, (place){o->kind, o->a, o->b, k, NULL});
    }
    for (int32_t k = 0; k < plain->lay.n_out; k++) {
        mdl_out o = plain->out[k];
        bool column = o.kind == IR_OUT_G || o.kind == IR_OUT_C || o.kind == IR_OUT_J;
        if (on_row(o.kind))
            o.a = topology[o.a];
        if (column || is_gain(o.kind))
            o.b = topology[o.b];
        if ((on_row(o.kind) && o.a < 0) || ((column || is_gain(o.kind)) && o.b < 0))
            continue;
        place *p = find_place(places, o.kind, o.a, o.b);
        if (!p && !on_row(o.kind) && !is_gain(o.kind))
            continue; /* the power of a noise source that reaches nothing */
        if (!p) {
            vec_push(places, (place){o.kind, o.a, o.b, -1, NULL});
            p = &vec_last(places);
        }
        vec_push(p->plain, k);
    }
    return places;
}

static void free_places(place *p)
{
    for (size_t i = 0; i < vec_len(p); i++)
        vec_free(p[i].plain);
    vec_free(p);
}

static double sum_at(const place *p, const double *out, double *size)
{
    double sum = 0;
    *size = 0;
    for (size_t k = 0; k < vec_len(p->plain); k++) {
        sum += out[p->plain[k]];
        *size += fabs(out[p->plain[k]]);
    }
    return sum;
}

/* -- what an ulp of the inputs does: the unspecialised function, eight neighbours in eight lanes --
 */

static const int step[8] = {-4, -3, -2, -1, 1, 2, 3, 4};

static double move_ulps(double x, int n)
{
    for (; n > 0; n--)
        x = nextafter(x, INFINITY);
    for (; n < 0; n++)
        x = nextafter(x, -INFINITY);
    return x;
}

/* effect[i] += the largest change of places[i] between neighbouring lanes, over an ulp of step */
static void add_effect(const place *places, const packs *p, int32_t n_out, const double *base,
                       double *effect)
{
    for (size_t i = 0; i < vec_len(places); i++) {
        double v[8], size, largest = 0, own;
        own = sum_at(&places[i], base, &size);
        for (int lane = 0; lane < 8; lane++) {
            v[lane] = 0;
            for (size_t k = 0; k < vec_len(places[i].plain); k++)
                v[lane] += p->out[at(p, lane, places[i].plain[k], n_out)];
        }
        for (int lane = 0; lane < 8; lane++) {
            double next = lane == 3 || lane == 4 ? own : lane < 3 ? v[lane + 1] : v[lane - 1];
            largest = fmax(largest, fabs(v[lane] - next));
        }
        effect[i] += largest;
    }
}

/* effect [places] of instance i of the block, at whose values `base` it stands. The unspecialised
 * function is compiled (bit by bit what the interpreter computes), or interpreted. */
static void ulp_effects(evaluator *e, biases *b, int inst, bool interpret, const place *places,
                        double *effect)
{
    jit_layout l = e->v->lay;
    packs p = new_packs(&l, 8);
    biases moved = *b;
    moved.x = vs_calloc((size_t)(8 * l.n_u) + 1, sizeof(double));
    moved.lim = vs_calloc((size_t)(8 * l.n_lim) + 1, sizeof(double));
    memset(effect, 0, vec_len(places) * sizeof *effect);
    l.row_per_lane = true;
    for (int lane = 0; lane < 8; lane++) {
        memcpy(moved.x + 1 + lane * l.n_u, b->x + 1 + inst * l.n_u, sizeof(double) * (size_t)l.n_u);
        memcpy(moved.lim + lane * l.n_lim, b->lim + inst * l.n_lim,
               sizeof(double) * (size_t)l.n_lim);
        put_instance(&p, e, &moved, lane, lane);
    }
    jit_batch batch = batch_of(&p, &moved);
    const double *base = e->out + inst * l.n_out;
    for (int32_t in = 0; in < (int32_t)vec_len(e->v->eval.in) + l.n_u + l.n_lim; in++) {
        double *slot[8], old;
        const ir_input *w = in < (int32_t)vec_len(e->v->eval.in) ? &e->v->eval.in[in] : NULL;
        int32_t u = in - (int32_t)vec_len(e->v->eval.in);
        if (w && (w->kind != IR_IN_CACHE || w->type != IR_F64))
            continue;
        for (int lane = 0; lane < 8; lane++)
            slot[lane] = w           ? &p.cache[at(&p, lane, w->k, l.n_cache)]
                         : u < l.n_u ? &moved.x[1 + lane * l.n_u + u]
                                     : &p.limold[at(&p, lane, u - l.n_u, l.n_lim)];
        old = *slot[0];
        if (old == 0 || (!w && u < l.n_u && b->topology[u] != u))
            continue;
        for (int lane = 0; lane < 8; lane++)
            *slot[lane] = move_ulps(old, step[lane]);
        if (interpret)
            ck_assert_int_eq(jit_interpret(&e->v->eval, &l, &batch, 0, 8 / p.w), VS_OK);
        else
            e->v->kernel[1](&batch, 0, 8 / p.w);
        add_effect(places, &p, l.n_out, base, effect);
        for (int lane = 0; lane < 8; lane++)
            *slot[lane] = old;
    }
    vs_free(moved.x), vs_free(moved.lim);
    free_packs(&p);
}

/* -- what an ulp in the result of each operation does -- */

typedef struct shaken { /* the unspecialised function with a factor 1 + 2^-52, 1 or 1 - 2^-53 on
                           each result */
    ir_fn fn;
    size_t n_in; /* inputs of the function itself; the factors stand behind them */
    ir_num *input, *val;
} shaken;

static bool rounds(int op)
{
    return op == IR_ADD || op == IR_SUB || op == IR_MUL || op == IR_DIV || op == IR_FMOD ||
           (op >= IR_SQRT && op <= IR_LOG1P);
}

static void open_shaken(shaken *s, const ir_fn *from)
{
    size_t n = vec_len(from->inst);
    ir_val *new_of = vs_calloc(n + 1, sizeof *new_of);
    ir_fn_init(&s->fn, "shaken");
    ir_copy_tables(&s->fn, from);
    s->n_in = vec_len(from->in);
    for (size_t i = 0; i < n; i++) {
        ir_copy_inst(&s->fn, from, (ir_val)i, new_of);
        if (rounds(from->inst[i].op)) {
            ir_val factor = ir_in(&s->fn, IR_IN_CACHE, 1000000 + (int32_t)i, IR_F64, false);
            new_of[i] = ir_bin(&s->fn, IR_MUL, new_of[i], factor);
        }
    }
    for (size_t o = 0; o < vec_len(from->out); o++)
        ir_out_add(&s->fn, from->out[o].kind, from->out[o].a, from->out[o].b,
                   new_of[from->out[o].v]);
    s->input = vs_calloc(vec_len(s->fn.in) + 1, sizeof *s->input);
    s->val = vs_calloc(vec_len(s->fn.inst) + 1, sizeof *s->val);
    vs_free(new_of);
}

static void close_shaken(shaken *s)
{
    ir_fn_fini(&s->fn);
    vs_free(s->input), vs_free(s->val);
}

/* effect [places]: the largest of N_SHAKE changes, all operations at once. */
static void shake(shaken *s, evaluator *e, biases *b, int inst, const place *places, double *effect)
{
    enum { N_SHAKE = 16 };
    static const double factor[] = {1 - 0x1p-53, 1, 1 + 0x1p-52};
    jit_layout l = e->v->lay;
    packs p = new_packs(&l, l.lanes);
    l.row_per_lane = true;
    for (int i = 0; i < l.lanes; i++)
        put_instance(&p, e, b, i, inst);
    jit_batch batch = batch_of(&p, b);
    jit_inputs(&e->v->eval, &l, &batch, 0, s->input);
    memset(effect, 0, vec_len(places) * sizeof *effect);
    double *out = vs_calloc((size_t)l.n_out + 1, sizeof *out);
    for (int n = 0; n < N_SHAKE; n++) {
        for (size_t i = s->n_in; i < vec_len(s->fn.in); i++)
            s->input[i].f = factor[random_int(3)];
        ck_assert_int_eq(ir_interp(&s->fn, s->input, s->val, NULL, NULL), VS_OK);
        for (size_t o = 0; o < vec_len(s->fn.out); o++) {
            const ir_out *w = &s->fn.out[o];
            if (w->kind != IR_OUT_STATE && w->kind != IR_OUT_LIMNEW &&
                s->fn.inst[w->v].type == IR_F64)
                out[l.out_slot[o]] = s->val[w->v].f;
        }
        for (size_t i = 0; i < vec_len(places); i++) {
            double size, own = sum_at(&places[i], e->out + inst * l.n_out, &size);
            effect[i] = fmax(effect[i], fabs(sum_at(&places[i], out, &size) - own));
        }
    }
    vs_free(out);
    free_packs(&p);
}

/* -- comparison -- */

typedef struct tally {
    int64_t n_value, n_not_finite,
        n_folded; /* compared; unspecialised is NaN or infinite; and specialised is not,
                   * because a factor that is 0 folds (0 times infinity) */
    int64_t n_loose, n_cancel; /* beyond 1e-12; of these beyond ten times an ulp of the inputs */
    double worst, worst_loose, worst_cancel; /* error in 1e-12 of the terms; in effects of an ulp */
    int n_bad;
    char first_bad[400];
} tally;

static const char *place_name(const mdl_model *m, mdl_form_kind form, const place *p, int set)
{
    static const char *const kind_name[] = {
#define X(kind, name) name,
        IR_OUT_LIST(X)
#undef X
    };
    static char buf[120];
    snprintf(buf, sizeof buf, "%.60s set %d form %d %s(%d,%d)", mdl_module(m)->name, set, form,
             kind_name[p->kind], p->a, p->b);
    return buf;
}

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static bool same_arrays(const double *a, const double *b, int n)
{
    for (int k = 0; k < n; k++)
        if (!same_bits(a[k], b[k]))
            return false;
    return true;
}

typedef struct trial { /* one parameter set in one form */
    library *plain_lib;
    mdl_form_kind form;
    int set;
    evaluator plain;
    place *places; /* vec */
    biases b;
    shaken shaken;
    bool interpret; /* the unspecialised function is interpreted, not compiled */
} trial;

static void report_bad(tally *t, const trial *r, const place *p, double got, double want,
                       double allowed)
{
    if (!t->n_bad++)
        snprintf(t->first_bad, sizeof t->first_bad,
                 "%s: specialised %.17g, unspecialised %.17g, allowed %g",
                 place_name(r->plain_lib->m, r->form, p, r->set), got, want, allowed);
    if (getenv("VSIM_AGREE_ALL"))
        fprintf(stderr, "%s: specialised %.17g, unspecialised %.17g, allowed %g\n",
                place_name(r->plain_lib->m, r->form, p, r->set), got, want, allowed);
}

static double largest(const double *out, const mdl_variant *v, int kind)
{
    double max = 0;
    for (int32_t k = 0; k < v->lay.n_out; k++)
        if (v->out[k].kind == kind && isfinite(out[k]))
            max = fmax(max, fabs(out[k]));
    return max;
}

/* effect [2][places], of inputs and of operations */
static void compare_instance(tally *t, trial *r, const evaluator *special, int inst, double *effect)
{
    const double *got_of = special->out + inst * special->v->lay.n_out;
    const double *want_of = r->plain.out + inst * r->plain.v->lay.n_out;
    double *of_ops = effect + vec_len(r->places);
    bool have_effect = false, have_ops = false;
    for (size_t i = 0; i < vec_len(r->places); i++) {
        const place *p = &r->places[i];
        double size, want = sum_at(p, want_of, &size),
                     got = p->special < 0 ? 0 : got_of[p->special];
        double error = fabs(got - want);
        t->n_value++;
        if (!isfinite(want)) {
            t->n_not_finite++;
            t->n_folded += isfinite(got);
            if (isfinite(got) && getenv("VSIM_AGREE_ALL"))
                fprintf(stderr, "%s: specialised %.17g, unspecialised %g: a factor folds\n",
                        place_name(r->plain_lib->m, r->form, p, r->set), got, want);
            continue;
        }
        if (error <= 1e-12 * size || error <= 1e-30 * largest(want_of, r->plain.v, p->kind)) {
            t->worst =
                fmax(t->worst, error <= 1e-12 * size && size > 0 ? error / (1e-12 * size) : 0);
            continue;
        }
        if (!have_effect)
            ulp_effects(&r->plain, &r->b, inst, r->interpret, r->places, effect);
        have_effect = true;
        t->n_loose++;
        if (error <= 10 * effect[i]) {
            t->worst_loose = fmax(t->worst_loose, error / effect[i]);
            continue;
        }
        const uint64_t old_seed = seed; /* biases do not depend on how many values need this */
        if (!have_ops)
            shake(&r->shaken, &r->plain, &r->b, inst, r->places, of_ops);
        seed = old_seed;
        have_ops = true;
        t->n_cancel++;
        t->worst_cancel = fmax(t->worst_cancel, error / of_ops[i]);
        if (!(error <= 10 * of_ops[i]))
            report_bad(t, r, p, got, want, 10 * of_ops[i]);
    }
}

static void shuffle(int *order)
{
    for (int i = 0; i < BLOCK; i++)
        order[i] = i;
    for (int i = BLOCK - 1; i > 0; i--) {
        int k = random_int(i + 1), old = order[i];
        order[i] = order[k], order[k] = old;
    }
}

/* Other orders, rows per lane, other widths: the same bits. */
static void check_lanes(library *lib, const param_set *ps, const param_set *other, trial *r,
                        const evaluator *first)
{
    int order[BLOCK], n = BLOCK * first->v->lay.n_out, n_lim = BLOCK * first->v->lay.n_lim;
    for (int w = 0; w < N_WIDTH; w++)
        for (int per_lane = other != NULL; per_lane < 2; per_lane++) {
            evaluator e;
            open_evaluator(&e, &lib[w], ps, other, r->form);
            ck_assert_int_eq(e.v->lay.lanes, width[w]);
            shuffle(order);
            evaluate(&e, &r->b, per_lane, false, order);
            ck_assert_msg(same_arrays(e.out, first->out, n) &&
                              same_arrays(e.lim, first->lim, n_lim),
                          "%s set %d form %d: %d lanes, row per lane %d differ",
                          mdl_module(lib[w].m)->name, r->set, r->form, width[w], per_lane);
            close_evaluator(&e);
        }
}

/* other: NULL, or the set of odd instances, of which only the company counts. Its code is compiled
 * for transients. */
static void run_trial(tally *t, library *lib, library *plain, const param_set *ps,
                      const param_set *other, int set, mdl_form_kind form, bool interpret)
{
    trial r = {.plain_lib = plain, .form = form, .set = set, .interpret = interpret};
    int32_t row = row_of(plain, ps);
    evaluator special;
    open_evaluator(&r.plain, plain, ps, NULL, form);
    open_evaluator(&special, &lib[0], ps, other, form);
    r.b = (biases){.n_u = special.v->lay.n_u,
                   .n_lim = special.v->lay.n_lim,
                   .topology = mdl_row_topology(plain->m, row)};
    ck_assert_int_eq(r.plain.v->lay.n_u, r.b.n_u);
    r.b.x = vs_calloc((size_t)(BLOCK * r.b.n_u) + 1, sizeof(double));
    r.b.lim = vs_calloc((size_t)(BLOCK * r.b.n_lim) + 1, sizeof(double));
    r.places = find_places(special.v, r.plain.v, r.b.topology);
    double *effect = vs_calloc(2 * vec_len(r.places) + 1, sizeof *effect);
    open_shaken(&r.shaken, &r.plain.v->eval);
    mdl_prepare(r.plain.v, true);
    for (int n = 0; n < n_bias; n += BLOCK) {
        choose_biases(&r.b, plain->m, form);
        evaluate(&special, &r.b, other != NULL, other && form != MDL_TRAN, NULL);
        evaluate(&r.plain, &r.b, true, interpret, NULL);
        for (int i = 0; i < BLOCK && n + i < n_bias; i += other ? 2 : 1)
            compare_instance(t, &r, &special, i, effect);
        if (n == 0 && !interpret && !other) { /* the compiled oracle is the interpreter */
            double *compiled = r.plain.out;
            size_t size = sizeof(double) * (size_t)(BLOCK * r.plain.v->lay.n_out);
            r.plain.out = vs_calloc(1, size + 1);
            evaluate(&r.plain, &r.b, true, true, NULL);
            ck_assert(same_arrays(compiled, r.plain.out, BLOCK * r.plain.v->lay.n_out));
            vs_free(compiled);
        }
        if (n == 0 && set / n_share % ALL_WIDTHS == 0 &&
            (form == MDL_TRAN || (!interpret && !other)))
            check_lanes(lib, ps, other, &r, &special);
    }
    vs_free(effect), vs_free(r.b.x), vs_free(r.b.lim);
    free_places(r.places);
    close_shaken(&r.shaken);
    close_evaluator(&special);
    close_evaluator(&r.plain);
}

/* Cards of ring.sp for PSP103 and its kin, every other set. */
static char *base_card(const char *name)
{
    char path[512], type[32];
    if (strncasecmp(name, "psp", 3))
        return NULL;
    char *card = card_of(source_path(path, "netlists/psp103_models.inc"), "psp103n", type);
    char *all = vs_malloc(strlen(card) + 64);
    sprintf(all, "%s w=10u l=1u ad=5p as=5p pd=11u ps=11u", card);
    vs_free(card);
    return all;
}

START_TEST(specialised_code_means_what_the_model_says)
{
    static param_set ps, partner;
    const subject *s = &subjects[_i];
    library lib[N_WIDTH], plain;
    tally t = {0};
    int n_pair = 0;
    for (int w = 0; w < N_WIDTH; w++)
        open_library(&lib[w], s, &(mdl_opt){.jit.lanes = width[w]});
    open_library(&plain, s,
                 &(mdl_opt){.no_specialize = true,
                            .exact_division = true,
                            .jit = {.lanes = 8, .exact = true}});
    bool interpret = n_set * n_bias < 5000;
    char *card = base_card(s->name);
    for (int set = share; set < n_set; set += n_share) {
        seed = 88172645463325252u + (uint64_t)set * 7919;
        choose_params(&plain, set % 2 ? NULL : card, set, &ps);
        for (size_t f = 0; f < VS_COUNT(forms); f++)
            run_trial(&t, lib, &plain, &ps, NULL, set, forms[f], interpret);
        if (!choose_partner(&plain, &ps, &partner))
            continue;
        n_pair++;
        for (size_t f = 0; f < VS_COUNT(forms); f++) {
            run_trial(&t, lib, &plain, &ps, &partner, set, forms[f], interpret);
            run_trial(&t, lib, &plain, &partner, &ps, set, forms[f], interpret);
        }
    }
    printf(
        "%-14s %d sets, %d pairs, %d biases: %lld values, error up to %.2g of 1e-12; %lld beyond "
        "it, up to %.2g ulp effects "
        "of the inputs; %lld beyond ten, up to %.2g of operations; %lld not finite, %lld of them "
        "without specialisation only; %d bad\n",
        s->name, n_set, n_pair, n_bias, (long long)t.n_value, t.worst, (long long)t.n_loose,
        t.worst_loose, (long long)t.n_cancel, t.worst_cancel, (long long)t.n_not_finite,
        (long long)t.n_folded, t.n_bad);
    fflush(stdout);
    ck_assert_msg(n_pair > 0 || !vec_len(mdl_module(plain.m)->param), "%s: no pair", s->name);
    ck_assert_msg(t.n_bad == 0, "%d values differ; first: %s", t.n_bad, t.first_bad);
    vs_free(card);
    for (int w = 0; w < N_WIDTH; w++)
        close_library(&lib[w]);
    close_library(&plain);
}
END_TEST

static void add_subject(const char *name, const char *file)
{
    const char *only = getenv("VSIM_MODEL");
    subject s = {.file = ""};
    snprintf(s.name, sizeof s.name, "%s", name);
    snprintf(s.file, sizeof s.file, "%s", file);
    if (!only || !strcmp(only, s.name))
        vec_push(subjects, s);
}

/* The modules of a file of the standard folder. */
static void add_modules(const char *path)
{
    char line[1000], name[32];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "module %31[A-Za-z0-9_]", name) == 1)
            add_subject(name, "");
    if (f)
        fclose(f);
}

/* Before any test: without assertions of Check. The kit's PSP103VA hides ours only where it is
 * loaded. */
static void list_subjects(void)
{
    static const char *const kit[][2] = {{"psp103/psp103.va", "PSP103VA"},
                                         {"psp103/psp103_nqs.va", "PSPNQS103VA"},
                                         {"r3_cmc/r3_cmc.va", "r3_cmc"},
                                         {"mosvar/mosvar.va", "mosvar"}};
    char path[700], folder[512];
    glob_t g;
    if (!glob(source_path(path, "models/*.va"), 0, NULL, &g))
        for (size_t k = 0; k < g.gl_pathc; k++)
            add_modules(g.gl_pathv[k]);
    globfree(&g);
    for (size_t k = 0; dut_kit(folder) && k < VS_COUNT(kit); k++) {
        snprintf(path, sizeof path, "%s/%s", folder, kit[k][0]);
        add_subject(kit[k][1], path);
    }
}

int main(void)
{
    const char *size = getenv("VSIM_SWEEP"), *part = getenv("VSIM_SHARE");
    if ((size && sscanf(size, "%d,%d", &n_set, &n_bias) != 2) ||
        (part && (sscanf(part, "%d/%d", &share, &n_share) != 2 || n_share < 1)) ||
        !mkdtemp(cache_folder))
        return 2;
    list_subjects();
    if (!vec_len(subjects))
        return 2;
    Suite *s = suite_create("agree");
    TCase *t = tcase_create("agree");
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, specialised_code_means_what_the_model_says, 0, (int)vec_len(subjects));
    suite_add_tcase(s, t);
    const int failed = run_suite(s);
    vec_free(subjects);
    char cmd[80];
    snprintf(cmd, sizeof cmd, "rm -rf %s", cache_folder);
    return failed || system(cmd) ? 1 : 0;
}
