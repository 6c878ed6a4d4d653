/* ckt_vary.c - see ckt_vary.h. */
#include "ckt_vary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckt_aside.h"
#include "ckt_back.h"

typedef struct varied { /* one instance */
    int32_t device, param, row;
    double weight;
    mdl_model *model;
    mdl_variant *variant;   /* of a transient */
    size_t order;           /* in which it was added */
    size_t of_row, of_code; /* of the first one with its row, with its variant */
} varied;

typedef struct group {
    ckt_aside of;
    size_t first; /* of varied */
} group;

struct ckt_vary {
    ckt *c;
    arena mem;
    varied *all;  /* vec; after ckt_vary_ready what `back` did not take, sorted by group */
    varied *each; /* vec, made ready where parts may be isolated: all as they were added */
    ckt_back *back;
    group *group; /* vec */
    double *out;  /* [packs of a batch][outputs][lanes] */
};

ckt_vary *ckt_vary_new(ckt *c)
{
    ckt_vary *v = vs_calloc(1, sizeof *v);
    v->c = c;
    v->back = ckt_back_new(c);
    arena_init(&v->mem);
    return v;
}

void ckt_vary_free(ckt_vary **pv)
{
    ckt_vary *v = *pv;
    *pv = NULL;
    if (!v)
        return;
    for (size_t i = 0; i < vec_len(v->group); i++)
        dev_group_fini(&v->group[i].of.dev);
    vec_free(v->group);
    vec_free(v->all);
    vec_free(v->each);
    ckt_back_free(&v->back);
    arena_fini(&v->mem);
    vs_free(v);
}

vs_status ckt_vary_add_row(ckt_vary *v, int32_t device, int32_t row, int32_t param, double weight)
{
    const ckt_inst *in = &v->c->inst[device];
    if (memcmp(mdl_row_topology(in->model, row), mdl_row_topology(in->model, in->row),
               (size_t)mdl_n_unknown(in->model) * sizeof(int32_t))) {
        diag_error(v->c->d, ckt_inst_span(in),
                   "%s: a small change of a parameter makes other nodes of it one; there is no "
                   "derivative",
                   in->name);
        return VS_EINPUT;
    }
    vec_push(v->all, ((varied){.device = device,
                               .row = row,
                               .param = param,
                               .weight = weight,
                               .model = in->model,
                               .order = vec_len(v->all)}));
    return VS_OK;
}

vs_status ckt_vary_add(ckt_vary *v, int32_t device, const double *key, int32_t param, double weight)
{
    int32_t row;
    const vs_status st = mdl_row_of_key(v->c->inst[device].model, key, &row);
    return st == VS_OK ? ckt_vary_add_row(v, device, row, param, weight) : st;
}

/* Equal rows of equal variants together, each in the order in which they were added. */
static int by_address(const void *va, const void *vb)
{
    const varied *a = va, *b = vb;
    if (a->variant != b->variant)
        return (uintptr_t)a->variant < (uintptr_t)b->variant ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* The same, and the groups and rows in that order too: it decides on sums, and neither addresses
 * nor numbers of rows may. */
static int by_order(const void *va, const void *vb)
{
    const varied *a = va, *b = vb;
    if (a->of_code != b->of_code)
        return a->of_code < b->of_code ? -1 : 1;
    if (a->of_row != b->of_row)
        return a->of_row < b->of_row ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void sort(varied *all, size_t n)
{
    qsort(all, n, sizeof *all, by_address);
    for (size_t i = 0, j; i < n; i = j) {
        size_t least = all[i].order;
        for (j = i; j < n && all[j].variant == all[i].variant; j++) {
            const bool same = j > i && all[j].row == all[j - 1].row;
            all[j].of_row = same ? all[j - 1].of_row : all[j].order;
            least = all[j].order < least ? all[j].order : least;
        }
        for (size_t k = i; k < j; k++)
            all[k].of_code = least;
    }
    qsort(all, n, sizeof *all, by_order);
}

static void make_group(ckt_vary *v, size_t first, size_t end)
{
    const int32_t n = (int32_t)(end - first);
    int32_t *inst = arena_array(&v->mem, int32_t, n), *row = arena_array(&v->mem, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        inst[i] = v->all[first + (size_t)i].device;
        row[i] = v->all[first + (size_t)i].row;
    }
    vec_push(v->group, ((group){.first = first}));
    ckt_aside_init(&vec_last(v->group).of, v->c, &v->mem, MDL_TRAN, v->all[first].variant, inst,
                   row, NULL, n);
}

static int by_device(const void *va, const void *vb)
{
    const varied *a = va, *b = vb;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->param != b->param)
        return a->param < b->param ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Gives what it can to the reverse sweep; the others stay, to be evaluated each. */
static vs_status give_back(ckt_vary *v)
{
    const size_t n = vec_len(v->all);
    ckt_back_part *part = NULL;
    vs_status st = VS_OK;
    size_t left = 0;
    if (n)
        qsort(v->all, n, sizeof *v->all, by_device);
    for (size_t i = 0, j; i < n && st == VS_OK; i = j) {
        vec_clear(part);
        for (j = i; j < n && v->all[j].device == v->all[i].device; j++)
            vec_push(part,
                     ((ckt_back_part){v->all[j].param, v->all[j].row, v->all[j].weight, false}));
        st = ckt_back_take(v->back, v->all[i].device, part, j - i);
        for (size_t k = i; k < j; k++)
            if (!part[k - i].taken)
                v->all[left++] = v->all[k];
    }
    vec_free(part);
    while (vec_len(v->all) > left)
        (void)vec_pop(v->all);
    return st;
}

static void make_groups(ckt_vary *v)
{
    const size_t n = vec_len(v->all);
    size_t most = 0;
    if (n)
        sort(v->all, n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && v->all[j].variant == v->all[i].variant;)
            j++;
        make_group(v, i, j);
    }
    for (size_t i = 0; i < vec_len(v->group); i++) {
        const size_t room = ckt_aside_room(&v->group[i].of);
        most = room > most ? room : most;
    }
    v->out = arena_vectors(&v->mem, most + 1);
}

vs_status ckt_vary_ready(ckt_vary *v, size_t n_pairing)
{
    const mdl_model *any = vec_len(v->all) ? v->all[0].model : NULL;
    for (size_t i = 0; i < vec_len(v->all) && vec_len(v->c->fix); i++)
        vec_push(v->each, v->all[i]);
    vs_status st = give_back(v);
    for (size_t i = 0; i < vec_len(v->all) && st == VS_OK; i++)
        st = mdl_variant_get(v->all[i].model, v->all[i].row, MDL_TRAN, &v->all[i].variant);
    if (st != VS_OK || !any)
        return st;
    ckt_back_ready(v->back, n_pairing);
    make_groups(v);
    mdl_compile_wanted(any);
    return VS_OK;
}

/* One output of an instance for all pairings. */
static void add_output(const varied *k, uint8_t kind, int32_t row, double value,
                       const ckt_pairing *with, size_t n, size_t n_param, double *to)
{
    const bool charge = kind == IR_OUT_REACT;
    for (size_t p = 0; p < n && row > 0; p++)
        to[p * n_param + (size_t)k->param] +=
            k->weight * value * (charge ? -with[p].q[row] : with[p].f[row]);
}

static void add_instance(const dev_group *g, int32_t i, const varied *k, const double *out,
                         const ckt_pairing *with, size_t n, size_t n_param, double *to)
{
    const dev_form *fm = &g->form[MDL_TRAN];
    const int32_t *to_unknown = &fm->map[(size_t)i * (size_t)fm->n_u];
    for (int32_t o = 0; o < fm->n_out; o++) {
        const mdl_out *w = &fm->variant->out[o];
        if (w->kind == IR_OUT_RES || w->kind == IR_OUT_REACT)
            add_output(k, w->kind, to_unknown[w->a], out[o * g->lanes], with, n, n_param, to);
    }
}

typedef struct summed { /* a group's part of the sums */
    const ckt_vary *v;
    const group *of;
    const ckt_pairing *with;
    size_t n, n_param;
    double *to;
} summed;

static vs_status add_pack(void *user, int32_t p, const double *out)
{
    const summed *s = user;
    const dev_group *g = &s->of->of.dev;
    for (int32_t i = g->first[p]; i < g->first[p + 1]; i++)
        add_instance(g, i, &s->v->all[s->of->first + (size_t)i], out + (i - g->first[p]), s->with,
                     s->n, s->n_param, s->to);
    return VS_OK;
}

/* By size: a value and its opposite stand side by side, and go when they are added. */
static int by_size(double a, double b)
{
    if (fabs(a) != fabs(b))
        return fabs(a) < fabs(b) ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int by_place(const void *va, const void *vb)
{
    const ckt_vary_entry *a = va, *b = vb;
    if (a->param != b->param)
        return a->param < b->param ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    const int g = by_size(a->g, b->g);
    return g ? g : by_size(a->c, b->c);
}

/* Both sides of a parameter are large beside their difference: entries of one place become one
 * before anything else is added to them, and those that do not change go.
 * Status: VS_OK; VS_NOCONV: a value is not finite. */
static vs_status join_entries(ckt_vary_entry *e)
{
    const size_t n = vec_len(e);
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(e[i].g) || !isfinite(e[i].c))
            return VS_NOCONV;
    if (n)
        qsort(e, n, sizeof *e, by_place);
    for (size_t i = 0, j; i < n; i = j) {
        ckt_vary_entry sum = e[i];
        for (j = i + 1;
             j < n && e[j].param == sum.param && e[j].row == sum.row && e[j].col == sum.col; j++) {
            sum.g += e[j].g;
            sum.c += e[j].c;
        }
        if (sum.g != 0 || sum.c != 0)
            e[left++] = sum;
    }
    while (vec_len(e) > left)
        (void)vec_pop(e);
    return VS_OK;
}

/* Currents of both sides as entries of column 0. */
static vs_status static_entries(const ckt_vary *v, const varied *all, const double *dyn,
                                const double *x, ckt_vary_entry **to)
{
    double *out = NULL;
    mdl_out *what = NULL;
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(all) && st == VS_OK; i++) {
        const varied *k = &all[i];
        const int32_t *unknown = &v->c->unk[v->c->inst[k->device].first];
        const mdl_at at = {.x = x, .map = unknown, .dyn = dyn};
        vec_clear(out);
        vec_clear(what);
        st = mdl_point(k->model, k->row, -1, 0, &at, &out, &what);
        for (size_t o = 0; o < vec_len(what) && st == VS_OK; o++)
            if (what[o].kind == IR_OUT_RES && unknown[what[o].a] > 0)
                vec_push(*to, ((ckt_vary_entry){k->param, unknown[what[o].a], 0, k->weight * out[o],
                                                0}));
    }
    vec_free(out);
    vec_free(what);
    return st;
}

/* Once for a run: the interpreter serves, and no kernel of the static form is made. */
static vs_status sum_static(ckt_vary *v, const double *dyn, const double *x,
                            const ckt_pairing *with, size_t n, size_t n_param, double *to)
{
    ckt_vary_entry *e = NULL;
    vs_status st = static_entries(v, v->all, dyn, x, &e);
    if (st == VS_OK)
        st = join_entries(e);
    for (size_t i = 0; i < vec_len(e) && st == VS_OK; i++)
        for (size_t p = 0; p < n; p++)
            to[p * n_param + (size_t)e[i].param] += e[i].g * with[p].f[e[i].row];
    vec_free(e);
    return st;
}

vs_status ckt_vary_currents(ckt_vary *v, const ckt_env *env, const double *x, ckt_vary_entry **to)
{
    double dyn[IR_N_DYN];
    ckt_fill_dyn(dyn, env);
    dyn[IR_DYN_LIMIT] = 0;
    const vs_status st = static_entries(v, v->each ? v->each : v->all, dyn, x, to);
    return st == VS_OK ? join_entries(*to) : st;
}

static vs_status check(const double *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(to[i]))
            return VS_NOCONV;
    return VS_OK;
}

vs_status ckt_vary_sum(ckt_vary *v, const ckt_env *env, const double *x, const ckt_pairing *with,
                       size_t n, size_t n_param, double *to)
{
    double dyn[IR_N_DYN];
    vs_status st = VS_OK;
    ckt_fill_dyn(dyn, env);
    dyn[IR_DYN_LIMIT] = 0;
    st = ckt_back_add(v->back, dyn, env->mode != CKT_STATIC, x, with, n);
    if (env->mode == CKT_STATIC && st == VS_OK)
        st = sum_static(v, dyn, x, with, n, n_param, to);
    for (size_t i = 0; i < vec_len(v->group) && env->mode != CKT_STATIC && st == VS_OK; i++) {
        summed s = {v, &v->group[i], with, n, n_param, to};
        st = ckt_aside_eval(&v->group[i].of, dyn, x, NULL, v->out, add_pack, &s);
    }
    return st == VS_OK && (env->mode == CKT_STATIC || vec_len(v->group)) ? check(to, n * n_param)
                                                                         : st;
}

vs_status ckt_vary_total(ckt_vary *v, size_t n, size_t n_param, double *to)
{
    const vs_status st = ckt_back_total(v->back, n, n_param, to);
    return st == VS_OK ? check(to, n * n_param) : st;
}

static void add_entry(const varied *k, const mdl_out *w, const int32_t *unknown, double value,
                      ckt_vary_entry **to)
{
    if ((w->kind != IR_OUT_G && w->kind != IR_OUT_C) || value == 0)
        return;
    const int32_t row = unknown[w->a], col = unknown[w->b];
    const double by = k->weight * value;
    const bool cap = w->kind == IR_OUT_C;
    if (row > 0 && col > 0)
        vec_push(*to, ((ckt_vary_entry){k->param, row, col, cap ? 0 : by, cap ? by : 0}));
}

vs_status ckt_vary_entries(ckt_vary *v, const ckt_env *env, const double *x, bool noise,
                           ckt_vary_entry **to)
{
    double dyn[IR_N_DYN], *out = NULL;
    mdl_out *what = NULL;
    vs_status st = VS_OK;
    ckt_fill_dyn_ac(dyn, env, noise);
    for (size_t i = 0; i < vec_len(v->all) && st == VS_OK; i++) {
        const varied *k = &v->all[i];
        const int32_t *unknown = &v->c->unk[v->c->inst[k->device].first];
        const mdl_at at = {.x = x, .map = unknown, .dyn = dyn};
        vec_clear(out);
        vec_clear(what);
        st = mdl_point(k->model, k->row, -1, 0, &at, &out, &what);
        for (size_t o = 0; o < vec_len(what) && st == VS_OK; o++)
            add_entry(k, &what[o], unknown, out[o], to);
    }
    if (st == VS_OK)
        st = join_entries(*to);
    vec_free(out);
    vec_free(what);
    return st;
}

void ckt_vary_add_noise(int32_t of, int32_t device, const mdl_out *w, const int32_t *unknown,
                        double by, ckt_vary_noise **to)
{
    const bool gain = w->kind == IR_OUT_NOISE_GAIN || w->kind == IR_OUT_NOISE_GAINC;
    const int32_t row = gain ? unknown[w->b] : 0;
    if (by == 0 || (gain && row <= 0))
        return;
    const ckt_vary_noise n = {.of = of,
                              .device = device,
                              .source = w->a,
                              .row = row,
                              .rate = w->kind == IR_OUT_NOISE_GAINC,
                              .psd = w->kind == IR_OUT_NOISE_PSD ? by : 0,
                              .exponent = w->kind == IR_OUT_NOISE_EXP ? by : 0,
                              .gain = gain ? by : 0};
    if (gain || w->kind == IR_OUT_NOISE_PSD || w->kind == IR_OUT_NOISE_EXP)
        vec_push(*to, n);
}

static vs_status check_noises(const ckt_vary_noise *n)
{
    for (size_t i = 0; i < vec_len(n); i++)
        if (!isfinite(n[i].psd) || !isfinite(n[i].exponent) || !isfinite(n[i].gain))
            return VS_NOCONV;
    return VS_OK;
}

static int by_number(const void *va, const void *vb)
{
    const ckt_vary_noise *a = va, *b = vb;
    const int32_t of[][2] = {{a->of, b->of},         {a->device, b->device},
                             {a->source, b->source}, {a->row, b->row},
                             {a->rate, b->rate},     {a->exponent != 0, b->exponent != 0}};
    for (size_t k = 0; k < VS_COUNT(of); k++)
        if (of[k][0] != of[k][1])
            return of[k][0] < of[k][1] ? -1 : 1;
    return by_size(a->psd + a->exponent + a->gain, b->psd + b->exponent + b->gain);
}

/* As join_entries. */
static void join_noises(ckt_vary_noise *e)
{
    const size_t n = vec_len(e);
    size_t left = 0;
    if (n)
        qsort(e, n, sizeof *e, by_number);
    for (size_t i = 0, j; i < n; i = j) {
        ckt_vary_noise sum = e[i];
        for (j = i + 1; j < n; j++) {
            const ckt_vary_noise *k = &e[j];
            if (k->of != sum.of || k->device != sum.device || k->source != sum.source ||
                k->row != sum.row || k->rate != sum.rate ||
                (k->exponent != 0) != (e[i].exponent != 0))
                break;
            sum.psd += k->psd;
            sum.exponent += k->exponent;
            sum.gain += k->gain;
        }
        if (sum.psd != 0 || sum.exponent != 0 || sum.gain != 0)
            e[left++] = sum;
    }
    while (vec_len(e) > left)
        (void)vec_pop(e);
}

vs_status ckt_vary_noises(ckt_vary *v, const ckt_env *env, const double *x, ckt_vary_noise **to)
{
    double dyn[IR_N_DYN], *out = NULL;
    mdl_out *what = NULL;
    vs_status st = VS_OK;
    ckt_fill_dyn_ac(dyn, env, true);
    for (size_t i = 0; i < vec_len(v->all) && st == VS_OK; i++) {
        const varied *k = &v->all[i];
        const int32_t *unknown = &v->c->unk[v->c->inst[k->device].first];
        const mdl_at at = {.x = x, .map = unknown, .dyn = dyn};
        if (!vec_len(mdl_module(k->model)->noise))
            continue;
        vec_clear(out);
        vec_clear(what);
        st = mdl_point(k->model, k->row, -1, 0, &at, &out, &what);
        for (size_t o = 0; o < vec_len(what) && st == VS_OK; o++)
            ckt_vary_add_noise(k->param, k->device, &what[o], unknown, k->weight * out[o], to);
    }
    vec_free(out);
    vec_free(what);
    st = st == VS_OK ? check_noises(*to) : st;
    if (st == VS_OK)
        join_noises(*to);
    return st;
}

const char *ckt_vary_refuses(const ckt *c)
{
    if (ckt_n_osdi(c))
        return ckt_osdi_at(c, 0).name;
    for (size_t i = 0; i < vec_len(c->group); i++)
        for (int f = 0; f < MDL_N_FORM; f++)
            if (c->group[i].form[f].variant && c->group[i].form[f].variant->has_state)
                return c->inst[c->group[i].inst[0]].name;
    return NULL;
}
