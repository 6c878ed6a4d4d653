/* mdl_compare.c - kernels against the interpreter during a run. See mdl_compare.h. */
#include "mdl_compare.h"
#include "mdl_pass.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BEYOND = 20 }; /* outputs beyond their bound that a report lists */

typedef struct worst { /* one output of a module: the difference that is largest for its bound */
    const mdl_model *m;
    int form;
    ir_out what;
    int64_t n_beyond;
    double kernel, interpreter, bound, share; /* share: of the bound; infinite without one */
    char instance[64];
} worst;

typedef struct found { /* the same as text, of any process */
    char module[64], output[80], instance[64];
    int form, kind;
    int64_t n_beyond;
    double kernel, interpreter, bound, share;
} found;

struct mdl_compare {
    pthread_mutex_t lock;
    mdl_compared all;
    found *found; /* vec: what was folded, and of other processes */
    worst *worst; /* vec */
    map worst_of; /* of the key of an output: the last one with it, see next */
    int32_t *next;
    /* room for one evaluation */
    ir_num *input, *val, *val_bound; /* vecs */
    double *err;                     /* vec */
};

mdl_compare *mdl_compare_new(void)
{
    mdl_compare *c = vs_calloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void mdl_compare_free(mdl_compare *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    map_free(&c->worst_of);
    vec_free(c->worst);
    vec_free(c->found);
    vec_free(c->next);
    vec_free(c->input);
    vec_free(c->val);
    vec_free(c->val_bound);
    vec_free(c->err);
    vs_free(c);
}

bool mdl_compare_wanted(const mdl_model *m) { return m->lib->compare != NULL; }

/* -- one number -- */

static worst *worst_at(mdl_compare *c, const mdl_variant *v, const ir_out *w)
{
    const uint64_t key =
        (map_key(v->model) * 31 + w->kind) * 1000003 + (uint64_t)w->a * 4099 + (uint64_t)w->b;
    const int32_t first = map_get(&c->worst_of, key, -1);
    for (int32_t k = first; k >= 0; k = c->next[k]) {
        const worst *o = &c->worst[k];
        if (o->m == v->model && o->form == (int)v->form && o->what.kind == w->kind &&
            o->what.a == w->a && o->what.b == w->b)
            return &c->worst[k];
    }
    map_set(&c->worst_of, key, (int32_t)vec_len(c->worst));
    vec_push(c->next, first);
    vec_push(c->worst, (worst){.m = v->model, .form = (int)v->form, .what = *w, .share = -1});
    return &vec_last(c->worst);
}

static double share_of(double kernel, double interpreter, double bound)
{
    if (kernel == interpreter || (isnan(kernel) && isnan(interpreter)) || bound == INFINITY)
        return 0;
    const double diff = fabs(kernel - interpreter);
    return isnan(diff) || bound == 0 ? INFINITY : diff / bound;
}

static void compare_number(mdl_compare *c, worst *w, double kernel, double interpreter,
                           double bound, const char *who)
{
    const double share = share_of(kernel, interpreter, bound);
    c->all.n_value++;
    c->all.n_loose += bound == INFINITY;
    c->all.n_beyond += share > 1;
    w->n_beyond += share > 1;
    if (share <= w->share)
        return;
    w->share = share;
    w->kernel = kernel;
    w->interpreter = interpreter;
    w->bound = bound;
    snprintf(w->instance, sizeof w->instance, "%s", who ? who : "");
}

/* -- one instance -- */

static double as_double(ir_num v, int type) { return type == IR_F64 ? v.f : (double)v.i; }

static double written(const mdl_variant *v, const jit_batch *b, int64_t i, size_t o)
{
    const jit_layout *l = &v->lay;
    const int kind = v->eval.out[o].kind;
    const int32_t k = l->out_slot[o], n = kind == IR_OUT_STATE    ? l->n_state
                                          : kind == IR_OUT_LIMNEW ? l->n_lim
                                                                  : l->n_out;
    const double *from = kind == IR_OUT_STATE    ? b->state_new
                         : kind == IR_OUT_LIMNEW ? b->limnew
                                                 : b->out;
    return from[(i / l->lanes * n + k) * l->lanes + i % l->lanes];
}

#define make_room(v, n) (vec_len(v) < (n) ? (void)vec_extend(v, (n) - vec_len(v)) : (void)0)

/* The values of the evaluation, and the bounds that the kernel's code allows; false: a loop does
 * not end. */
static bool evaluate(mdl_compare *c, const mdl_variant *v, const jit_layout *lay,
                     const jit_batch *b, int64_t i)
{
    const ir_fn *kernel = mdl_kernel_fn(v), *eval = &v->eval;
    make_room(c->input, vec_len(eval->in) + vec_len(kernel->in) + 1);
    make_room(c->val, vec_len(eval->inst) + 1);
    make_room(c->val_bound, vec_len(kernel->inst) + 1);
    make_room(c->err, vec_len(kernel->inst) + 1);
    jit_inputs(eval, lay, b, i, c->input);
    if (ir_interp(eval, c->input, c->val, NULL, NULL) != VS_OK)
        return false;
    jit_inputs(kernel, lay, b, i, c->input);
    return ir_bound(kernel, c->input, NULL, c->val_bound, c->err) == VS_OK;
}

static void compare_instance(mdl_compare *c, const mdl_variant *v, const jit_layout *lay,
                             const jit_batch *b, int64_t i, const char *who)
{
    const ir_fn *kernel = mdl_kernel_fn(v);
    if (!evaluate(c, v, lay, b, i)) {
        c->all.n_loose += (int64_t)vec_len(v->eval.out);
        return;
    }
    for (size_t o = 0; o < vec_len(v->eval.out); o++) {
        const ir_out *w = &v->eval.out[o];
        const int type = v->eval.inst[w->v].type;
        compare_number(c, worst_at(c, v, w), written(v, b, i, o), as_double(c->val[w->v], type),
                       c->err[kernel->out[o].v], who);
    }
}

void mdl_compare_batch(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t begin,
                       int64_t end, const int32_t *inst, mdl_who_fn *who, const void *user)
{
    mdl_compare *c = v->model->lib->compare;
    variant_data *d = (variant_data *)(uintptr_t)v;
    jit_layout lay = v->lay;
    if (!c || !v->kernel[row_per_lane])
        return;
    lay.row_per_lane = row_per_lane;
    pthread_mutex_lock(&c->lock);
    if (d->n_call++ % v->model->lib->opt.check_kernels == 0) {
        c->all.n_call++;
        for (int64_t i = begin * lay.lanes; i < end * lay.lanes; i++)
            compare_instance(c, v, &lay, b, i, who(user, inst[i - begin * lay.lanes]));
    }
    pthread_mutex_unlock(&c->lock);
}

/* -- the report -- */

static const char *unknown_name(const mdl_model *m, int32_t u)
{
    return u >= 0 && u < mdl_n_unknown(m) ? mdl_unknown(m, u)->name : "?";
}

static void output_name(const worst *w, char *buf, size_t size)
{
    const mdl_model *m = w->m;
    const ir_out *o = &w->what;
    const char *row = unknown_name(m, o->a), *column = unknown_name(m, o->b), *noise = "";
    if (o->a >= 0 && (size_t)o->a < vec_len(m->mod->noise))
        noise = m->mod->noise[o->a].name;
    switch (o->kind) {
    case IR_OUT_RES: snprintf(buf, size, "residual(%s)", row); break;
    case IR_OUT_REACT: snprintf(buf, size, "charge(%s)", row); break;
    case IR_OUT_G: snprintf(buf, size, "G(%s,%s)", row, column); break;
    case IR_OUT_C: snprintf(buf, size, "C(%s,%s)", row, column); break;
    case IR_OUT_J: snprintf(buf, size, "jacobian(%s,%s)", row, column); break;
    case IR_OUT_NOISE_PSD: snprintf(buf, size, "noise power(%s)", noise); break;
    case IR_OUT_NOISE_EXP: snprintf(buf, size, "noise exponent(%s)", noise); break;
    case IR_OUT_NOISE_GAIN: snprintf(buf, size, "noise gain(%s,%s)", noise, column); break;
    case IR_OUT_NOISE_GAINC: snprintf(buf, size, "noise d/dt gain(%s,%s)", noise, column); break;
    case IR_OUT_STATE: snprintf(buf, size, "state %d", (int)o->a); break;
    case IR_OUT_LIMNEW: snprintf(buf, size, "limited probe %d", (int)o->a); break;
    case IR_OUT_LIMITED: snprintf(buf, size, "limiting"); break;
    case IR_OUT_BOUND_STEP: snprintf(buf, size, "bound_step"); break;
    case IR_OUT_OPVAR: snprintf(buf, size, "%s", m->mod->opvar[o->a].name); break;
    case IR_OUT_BY: snprintf(buf, size, "derivative by setup value %d", (int)o->a); break;
    default: snprintf(buf, size, "output %d", (int)o->kind);
    }
}

/* -- several processes -- */

static void add_found(mdl_compare *c, const found *f)
{
    size_t i = 0;
    while (i < vec_len(c->found) &&
           (c->found[i].form != f->form || strcmp(c->found[i].output, f->output) != 0 ||
            strcmp(c->found[i].module, f->module) != 0))
        i++;
    if (i == vec_len(c->found)) {
        vec_push(c->found, *f);
        return;
    }
    const int64_t n_beyond = c->found[i].n_beyond + f->n_beyond;
    if (f->share > c->found[i].share)
        c->found[i] = *f;
    c->found[i].n_beyond = n_beyond;
}

/* Turns the table of differences to text and empties it. */
static void fold(mdl_compare *c)
{
    for (size_t i = 0; i < vec_len(c->worst); i++) {
        const worst *w = &c->worst[i];
        found f;
        memset(&f, 0, sizeof f);
        f.form = w->form;
        f.kind = w->what.kind;
        f.n_beyond = w->n_beyond;
        f.kernel = w->kernel;
        f.interpreter = w->interpreter;
        f.bound = w->bound;
        f.share = w->share;
        snprintf(f.module, sizeof f.module, "%s", w->m->mod->name);
        snprintf(f.instance, sizeof f.instance, "%s", w->instance);
        output_name(w, f.output, sizeof f.output);
        add_found(c, &f);
    }
    vec_clear(c->worst);
    vec_clear(c->next);
    map_free(&c->worst_of);
    c->worst_of = (map){0};
}

char *mdl_compare_take(const mdl_lib *lib, size_t *n)
{
    mdl_compare *c = lib->compare;
    *n = 0;
    if (!c)
        return NULL;
    fold(c);
    const size_t bytes = vec_len(c->found) * sizeof *c->found;
    char *to = vs_malloc(sizeof c->all + bytes);
    memcpy(to, &c->all, sizeof c->all);
    if (bytes)
        memcpy(to + sizeof c->all, c->found, bytes);
    *n = sizeof c->all + bytes;
    vec_clear(c->found);
    c->all = (mdl_compared){0};
    return to;
}

void mdl_compare_add(const mdl_lib *lib, const char *from, size_t n)
{
    mdl_compare *c = lib->compare;
    mdl_compared all;
    if (!c || n < sizeof all)
        return;
    memcpy(&all, from, sizeof all);
    c->all.n_call += all.n_call;
    c->all.n_value += all.n_value;
    c->all.n_beyond += all.n_beyond;
    c->all.n_loose += all.n_loose;
    for (size_t at = sizeof all; at + sizeof(found) <= n; at += sizeof(found)) {
        found f;
        memcpy(&f, from + at, sizeof f);
        add_found(c, &f);
    }
}

/* -- the table -- */

static void print_found(const found *f, FILE *out)
{
    const double diff = f->kernel == f->interpreter ? 0 : fabs(f->kernel - f->interpreter),
                 relative = diff == 0 ? 0 : diff / fabs(f->interpreter);
    fprintf(out, "  %-12s %-5s %-20s %9.2g %9.2g %9.2g  %-12s %24.17g %24.17g%s\n", f->module,
            mdl_form_name(f->form), f->output, diff, relative, f->share, f->instance, f->kernel,
            f->interpreter, f->share > 1 ? "  BEYOND" : "");
}

/* The difference that takes the largest part of its bound comes first; equal ones in the order of
 * finding. */
static int by_share(const void *a, const void *b)
{
    const found *const *x = a, *const *y = b;
    return (*x)->share != (*y)->share ? ((*x)->share > (*y)->share ? -1 : 1) : *x < *y ? -1 : 1;
}

static bool told(const found *const *list, size_t n, const found *f)
{
    for (size_t i = 0; i < n; i++)
        if (list[i]->kind == f->kind && !strcmp(list[i]->module, f->module))
            return true;
    return false;
}

static void print_table(const mdl_compare *c, FILE *out)
{
    const found **list = NULL, **shown = NULL;
    for (size_t i = 0; i < vec_len(c->found); i++)
        vec_push(list, &c->found[i]);
    qsort(list, vec_len(list), sizeof(const found *), by_share);
    fprintf(out, "  %-12s %-5s %-20s %9s %9s %9s  %-12s %24s %24s\n", "module", "form", "output",
            "absolute", "relative", "of bound", "instance", "kernel", "interpreter");
    for (size_t i = 0, n = 0; i < vec_len(list); i++) {
        const bool beyond = list[i]->share > 1 && n < MOST_BEYOND;
        n += beyond;
        if (!beyond && told(shown, vec_len(shown), list[i]))
            continue;
        print_found(list[i], out);
        vec_push(shown, list[i]);
    }
    vec_free(list);
    vec_free(shown);
}

mdl_compared mdl_compare_report(const mdl_lib *lib, FILE *out)
{
    mdl_compare *c = lib->compare;
    if (!c)
        return (mdl_compared){0};
    fold(c);
    if (out)
        fprintf(out,
                "kernels against the interpreter: %lld calls, %lld numbers compared, %lld of them "
                "without a bound, %lld beyond it\n",
                (long long)c->all.n_call, (long long)c->all.n_value, (long long)c->all.n_loose,
                (long long)c->all.n_beyond);
    if (out && vec_len(c->found))
        print_table(c, out);
    return c->all;
}
