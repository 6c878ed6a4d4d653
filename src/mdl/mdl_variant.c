/* mdl_variant.c - the function of one form, specialised for the decisions that a row takes.
 * Key:    for each static value on the border to dynamic code: the branch it decides, or whether it
 *         is exactly 0, -0, 1, -1 or another number; then the topology. Rows that agree in all that
 *         share a variant, and so do those whose decisions lead to the same code; the numbers
 *         themselves stay loads from the row's cache. A vector of what is known in several rows,
 * made of theirs, is a key like any other (mdl_variant_meet). Method: ir_sccp with the decisions
 * known; rows and columns of collapsed nodes added up, those of unknowns not in use left out;
 * reciprocals; ir_split; ir_ifconv; jit_compile. */
#include "mdl_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_RUN = 1, ZERO, MINUS_ZERO, ONE, MINUS_ONE, OTHER };

/* A real number computed from size or temperature is 1 by accident: a sweep that passes there, or
 * through the nominal temperature, compiles nothing. A parameter itself is 1 on purpose (m, area),
 * and 0 is a term that is switched off. */
static uint8_t code_of(ir_num v, const ir_inst *in, uint8_t cls)
{
    const bool accident = cls & (IR_CLASS_INST | IR_CLASS_TEMP) && in->op != IR_IN;
    if (in->type == IR_F64)
        return v.f == 0    ? (signbit(v.f) ? MINUS_ZERO : ZERO)
               : accident  ? OTHER
               : v.f == 1  ? ONE
               : v.f == -1 ? MINUS_ONE
                           : OTHER;
    return v.i == 0 ? ZERO : v.i == 1 ? ONE : v.i == -1 ? MINUS_ONE : OTHER;
}

/* -- decisions -- */

/* A value from its code; false: the code does not tell it. */
static bool value_of(uint8_t code, int type, ir_num *v)
{
    const double x = code == ONE ? 1 : code == MINUS_ONE ? -1 : code == MINUS_ZERO ? -0.0 : 0;
    if (type == IR_F64)
        *v = (ir_num){.f = x};
    else
        *v = (ir_num){.i = (int32_t)x};
    return code != NOT_RUN && code != OTHER;
}

/* Appends a code for each of f->decide, then the topology. Without specialisation nothing is
 * decided. */
static vs_status take_decisions(const mdl_model *m, const row_data *r, const form_fn *f,
                                uint8_t **key)
{
    const size_t n = vec_len(f->fn.inst) + 1;
    if (m->lib->opt.no_specialize)
        return VS_OK;
    uint8_t *ran = vs_calloc(n, 1);
    ir_num *val = vs_calloc(n, sizeof *val),
           *input = vs_calloc(vec_len(f->fn.in) + 1, sizeof *input);
    mdl_row_inputs(m, r, &f->fn, input);
    const vs_status st = ir_interp_static(&f->fn, f->cls, input, val, ran, NULL);
    for (size_t i = 0; i < vec_len(f->decide); i++) {
        const ir_val k = f->decide[i];
        vec_push(*key, ran[k] ? code_of(val[k], &f->fn.inst[k], f->cls[k]) : NOT_RUN);
    }
    const size_t bytes = vec_len(m->unknown) * sizeof *r->topology, at = vec_len(*key);
    vec_extend(*key, bytes);
    if (bytes)
        memcpy(*key + at, r->topology, bytes);
    free(ran);
    free(val);
    free(input);
    return st;
}

/* What ir_sccp takes: which values are known [n_inst], and their values. */
typedef struct facts {
    uint8_t *known;
    ir_num *val;
} facts;

/* A probe between nodes that are one, or of unknowns that are not in use, reads exactly 0. */
static void decide_probes(const mdl_model *m, const form_fn *f, const int32_t *topology, facts *to)
{
    for (size_t k = 0; k < vec_len(f->fn.inst); k++) {
        const ir_inst *in = &f->fn.inst[k];
        if (in->op != IR_IN || f->fn.in[in->a].kind != IR_IN_PROBE)
            continue;
        const va_probe *p = &m->probe[f->fn.in[in->a].k];
        int32_t hi = p->hi < 0 ? -1 : topology[p->hi], lo = p->lo < 0 ? -1 : topology[p->lo];
        if (hi == lo || (hi < 0 && lo < 0)) {
            to->known[k] = 1;
            to->val[k] = (ir_num){.f = 0.0};
        }
    }
}

static facts facts_of(const mdl_model *m, const form_fn *f, const uint8_t *key,
                      const int32_t *topology)
{
    const size_t n_key = vec_len(key);
    const size_t n = vec_len(f->fn.inst) + 1;
    facts to = {vs_calloc(n, 1), vs_calloc(n, sizeof *to.val)};
    for (size_t i = 0; i < vec_len(f->decide) && i < n_key; i++) {
        const ir_val k = f->decide[i];
        if (value_of(key[i], f->fn.inst[k].type, &to.val[k]))
            to.known[k] = f->how[i];
    }
    decide_probes(m, f, topology, &to);
    return to;
}

/* -- outputs -- */

static bool has_row(int kind)
{
    return kind == IR_OUT_RES || kind == IR_OUT_REACT || kind == IR_OUT_G || kind == IR_OUT_C ||
           kind == IR_OUT_J;
}

static bool has_column(int kind)
{
    return kind == IR_OUT_G || kind == IR_OUT_C || kind == IR_OUT_J;
}

static bool is_gain(int kind) { return kind == IR_OUT_NOISE_GAIN || kind == IR_OUT_NOISE_GAINC; }

static bool is_zero(const ir_fn *fn, ir_val v)
{
    return fn->inst[v].op == IR_CONST && fn->con[fn->inst[v].a] == 0;
}

/* Moves an output to the rows and columns that its unknowns are one with; false: it has none. */
static bool move_output(const int32_t *topology, ir_out *w)
{
    if (has_row(w->kind))
        w->a = topology[w->a];
    if (has_column(w->kind) || is_gain(w->kind))
        w->b = topology[w->b];
    return !(has_row(w->kind) && w->a < 0) &&
           !((has_column(w->kind) || is_gain(w->kind)) && w->b < 0);
}

static int64_t place_key(const ir_out *w)
{
    return (int64_t)w->kind << 56 | (int64_t)w->a << 28 | w->b;
}

/* Outputs on the same place are added up, certain zeros left out. The noise power of a source that
 * reaches no row is left out too. */
static void merge_outputs(ir_fn *fn, const int32_t *topology, size_t n_noise)
{
    ir_out *out = NULL;
    map at = {0};
    uint8_t *heard = vs_calloc(n_noise + 1, 1);
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        ir_out w = fn->out[o];
        bool placed = has_row(w.kind) || is_gain(w.kind);
        if (placed && (is_zero(fn, w.v) || (topology && !move_output(topology, &w))))
            continue;
        int32_t k = placed ? map_get(&at, (uint64_t)place_key(&w), -1) : -1;
        if (is_gain(w.kind))
            heard[w.a] = 1;
        if (k >= 0) {
            out[k].v = ir_bin(fn, IR_ADD, out[k].v, w.v);
            continue;
        }
        if (placed)
            map_set(&at, (uint64_t)place_key(&w), (int32_t)vec_len(out));
        vec_push(out, w);
    }
    vec_free(fn->out);
    for (size_t o = 0; o < vec_len(out); o++)
        if ((out[o].kind != IR_OUT_NOISE_PSD && out[o].kind != IR_OUT_NOISE_EXP) || heard[out[o].a])
            vec_push(fn->out, out[o]);
    vec_free(out);
    free(heard);
    map_free(&at);
}

static int lanes_of(const mdl_lib *lib, mdl_form_kind form)
{
    return !lib->jit || form == MDL_FULL ? 1 : lib->lanes ? lib->lanes : jit_lanes(lib->jit);
}

/* -- building -- */

static void make_layout(const mdl_model *m, variant_data *d, int n_cache)
{
    mdl_variant *v = &d->v;
    mdl_out *out = NULL;
    for (size_t p = 0; p < vec_len(m->probe); p++) {
        vec_push(d->hi, m->probe[p].hi);
        vec_push(d->lo, m->probe[p].lo);
    }
    for (size_t o = 0; o < vec_len(v->eval.out); o++) {
        const ir_out *w = &v->eval.out[o];
        bool own = w->kind == IR_OUT_STATE || w->kind == IR_OUT_LIMNEW;
        vec_push(d->slot, own ? w->a : (int32_t)vec_len(out));
        if (!own)
            vec_push(out, (mdl_out){w->kind, w->a, w->b});
        v->has_state |= w->kind == IR_OUT_STATE;
    }
    v->out = out;
    v->lay = (jit_layout){.lanes = lanes_of(m->lib, v->form),
                          .n_u = (int32_t)vec_len(m->unknown),
                          .n_cache = n_cache,
                          .n_state = m->mod->n_state,
                          .n_lim = (int32_t)vec_len(m->mod->lim_probe),
                          .n_out = (int32_t)vec_len(out),
                          .probe_hi = d->hi,
                          .probe_lo = d->lo,
                          .n_probe = (int32_t)vec_len(m->probe),
                          .out_slot = d->slot};
}

static bool has_effects(const ir_fn *fn)
{
    for (size_t k = 0; k < vec_len(fn->inst); k++)
        if (fn->inst[k].op == IR_EFFECT)
            return true;
    return false;
}

/* setup, eval, kernel_fn; returns the number of setup values. */
static int build_functions(variant_data *d, const mdl_model *m, const form_fn *f,
                           const uint8_t *key, const int32_t *topology)
{
    const bool special = !m->lib->opt.no_specialize;
    ir_fn part, clean, quick;
    facts is = {0};
    if (special)
        is = facts_of(m, f, key, topology);
    ir_sccp(&part, &f->fn, is.known, is.val, (ir_opt_flags){.fold_zero = special}, &d->v.stats);
    free(is.known);
    free(is.val);
    merge_outputs(&part, special ? topology : NULL, vec_len(m->mod->noise));
    ir_opt(&clean, &part, (ir_opt_flags){.fold_zero = special});
    if (special && !m->lib->opt.exact_division) {
        ir_recip(&quick, &clean);
        ir_fn_fini(&clean);
        clean = quick;
    }
    int n_cache = ir_split(&d->v.setup, &d->v.eval, &clean);
    ir_fn_fini(&part);
    ir_fn_fini(&clean);
    ir_ifconv(&d->kernel_fn, &d->v.eval, &d->v.ifconv);
    return n_cache;
}

static void add_bytes(char **to, const void *from, size_t n)
{
    const size_t at = vec_len(*to);
    vec_extend(*to, n);
    if (n)
        memcpy(*to + at, from, n);
}

/* Of a function's code: equal code is one variant. */
static void add_code(char **to, const ir_fn *fn)
{
    const int64_t n[4] = {(int64_t)vec_len(fn->inst), (int64_t)vec_len(fn->con),
                          (int64_t)vec_len(fn->in), (int64_t)vec_len(fn->out)};
    add_bytes(to, n, sizeof n);
    add_bytes(to, fn->inst, vec_len(fn->inst) * sizeof *fn->inst);
    add_bytes(to, fn->con, vec_len(fn->con) * sizeof *fn->con);
    for (size_t i = 0; i < vec_len(fn->in); i++) {
        const int32_t w[2] = {fn->in[i].kind, fn->in[i].k};
        add_bytes(to, w, sizeof w);
    }
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        const int32_t w[4] = {fn->out[o].kind, fn->out[o].a, fn->out[o].b, fn->out[o].v};
        add_bytes(to, w, sizeof w);
    }
}

static jit_hash code_id(const variant_data *d)
{
    char *code = NULL;
    add_code(&code, &d->v.setup);
    add_code(&code, &d->v.eval);
    const jit_hash id = jit_hash_bytes(code, vec_len(code));
    vec_free(code);
    return id;
}

static void drop_fn(variant_data *d, int k)
{
    ir_fn *const fn = k == FN_SETUP ? &d->v.setup : k == FN_EVAL ? &d->v.eval : &d->kernel_fn;
    (d->fn[k] == FN_MADE ? ir_fn_fini : mdl_keep_drop_fn)(fn);
}

/* Functions on disk that turn out to be damaged: made from the form, as they were. */
static void remake(variant_data *d)
{
    const mdl_variant *v = &d->v;
    mdl_model *m = (mdl_model *)(uintptr_t)v->model;
    const size_t bytes = vec_len(m->unknown) * sizeof(int32_t);
    int32_t *topology = vs_calloc(vec_len(m->unknown) + 1, sizeof *topology);
    variant_data new = {.v = {.model = m, .form = v->form}};
    mdl_keep_note_damage(m->lib);
    memcpy(topology, d->key[0] + vec_len(d->key[0]) - bytes, bytes);
    (void)build_functions(&new, m, mdl_form_get(m, (int)v->form), d->key[0], topology);
    for (int k = 0; k < N_FN; k++)
        drop_fn(d, k);
    memset(d->fn, 0, sizeof d->fn);
    d->v.setup = new.v.setup;
    d->v.eval = new.v.eval;
    d->kernel_fn = new.kernel_fn;
    mdl_keep_variant(m, d->key[0], d);
    free(topology);
}

static void need(variant_data *d, int k)
{
    if (d->fn[k] == FN_ON_DISK && !mdl_keep_load_fn(d, k))
        remake(d);
}

static variant_data *build_variant(mdl_model *m, mdl_form_kind form, const uint8_t *key,
                                   const int32_t *topology)
{
    variant_data *d = vs_calloc(1, sizeof *d);
    int n_cache;
    d->v.model = m;
    d->v.form = form;
    const bool kept = mdl_keep_load_variant(m, key, d, &n_cache);
    if (!kept) {
        n_cache = build_functions(d, m, mdl_form_get(m, (int)form), key, topology);
        d->v.has_effects = has_effects(&d->v.eval);
        d->n_eval = vec_len(d->v.eval.inst);
        d->id = code_id(d);
        d->kernel_key = jit_fn_key(&d->kernel_fn);
    }
    make_layout(m, d, n_cache);
    if (!kept)
        mdl_keep_variant(m, key, d);
    return d;
}

static variant_data *find_variant(const mdl_model *m, mdl_form_kind form, const uint8_t *key)
{
    for (size_t i = 0; i < vec_len(m->variant); i++) {
        variant_data *d = m->variant[i];
        for (size_t k = 0; d->v.form == form && k < vec_len(d->key); k++)
            if (vec_len(d->key[k]) == vec_len(key) &&
                (!vec_len(key) || !memcmp(d->key[k], key, vec_len(key))))
                return d;
    }
    return NULL;
}

/* Decisions in code that others have switched off change nothing: the outcome is what counts. */
static variant_data *find_same(const mdl_model *m, const variant_data *d)
{
    for (size_t i = 0; i < vec_len(m->variant) && !d->v.has_effects; i++) {
        variant_data *o = m->variant[i];
        if (o->v.form == d->v.form && !o->v.has_effects && !memcmp(&o->id, &d->id, sizeof d->id))
            return o;
    }
    return NULL;
}

/* The variant for a vector of decisions, which it takes. */
static variant_data *variant_of(mdl_model *m, mdl_form_kind form, uint8_t *key,
                                const int32_t *topology)
{
    variant_data *d = find_variant(m, form, key);
    if (d) {
        vec_free(key);
        return d;
    }
    d = build_variant(m, form, key, topology);
    variant_data *same = find_same(m, d);
    if (same)
        mdl_variant_free(d);
    else
        vec_push(m->variant, d);
    d = same ? same : d;
    vec_push(d->key, key);
    return d;
}

/* Into r->decisions. */
static vs_status decisions_of(mdl_model *m, row_data *r, mdl_form_kind form)
{
    uint8_t **key = &r->decisions[form];
    if (vec_len(*key))
        return VS_OK;
    const vs_status st = take_decisions(m, r, mdl_form_get(m, (int)form), key);
    if (st == VS_OK)
        return VS_OK;
    vec_clear(*key);
    diag_error(m->lib->d, m->mod->span, "a loop in module '%s' does not end", m->mod->name);
    return VS_EUNSUPPORTED;
}

vs_status mdl_plan_get(mdl_model *m, int32_t row, mdl_form_kind form, mdl_variant **variant)
{
    row_data *r = m->row[row];
    if (!r->variant[form]) {
        uint8_t *key = NULL;
        const vs_status st = decisions_of(m, r, form);
        if (st != VS_OK)
            return st;
        vec_extend(key, vec_len(r->decisions[form]));
        if (vec_len(key))
            memcpy(key, r->decisions[form], vec_len(key));
        if (!r->keep)
            vec_free(r->decisions[form]);
        variant_data *d = variant_of(m, form, key, r->topology);
        d->v.n_row++;
        r->variant[form] = &d->v;
    }
    *variant = r->variant[form];
    return VS_OK;
}

vs_status mdl_variant_get(mdl_model *m, int32_t row, mdl_form_kind form, mdl_variant **variant)
{
    const vs_status st = mdl_plan_get(m, row, form, variant);
    if (st == VS_OK)
        mdl_variant_use(*variant);
    return st;
}

size_t mdl_variant_values(const mdl_variant *v) { return ((const variant_data *)v)->n_eval; }

void mdl_variant_use(mdl_variant *v)
{
    need((variant_data *)v, FN_SETUP);
    need((variant_data *)v, FN_EVAL);
}

const ir_fn *mdl_kernel_fn(const mdl_variant *v)
{
    variant_data *d = (variant_data *)(uintptr_t)v;
    need(d, FN_KERNEL);
    return &d->kernel_fn;
}

/* -- rows of different variants -- */

/* What is known in both: code that one of them does not run is no concern of it, and zeros are
 * zeros. */
static uint8_t meet_code(uint8_t a, uint8_t b)
{
    const bool zeros = (a == ZERO || a == MINUS_ZERO) && (b == ZERO || b == MINUS_ZERO);
    return a == b || b == NOT_RUN ? a : a == NOT_RUN ? b : zeros ? ZERO : OTHER;
}

vs_status mdl_plan_meet(mdl_model *m, const int32_t *row, size_t n, mdl_form_kind form,
                        mdl_variant **variant)
{
    const int32_t *topology = m->row[row[0]]->topology;
    uint8_t *key = NULL;
    vs_status st = VS_OK;
    *variant = NULL;
    if (m->lib->opt.no_specialize)
        return VS_OK;
    for (size_t i = 0; i < n && st == VS_OK; i++) {
        row_data *r = m->row[row[i]];
        st = decisions_of(m, r, form);
        const size_t len = vec_len(r->decisions[form]),
                     n_decide = len - vec_len(m->unknown) * sizeof *topology;
        if (st != VS_OK || (key && len != vec_len(key)) ||
            memcmp(r->topology, topology, vec_len(m->unknown) * sizeof *topology) != 0)
            break;
        if (!key) {
            vec_extend(key, len);
            memcpy(key, r->decisions[form], len);
        }
        for (size_t k = 0; k < n_decide; k++)
            key[k] = meet_code(key[k], r->decisions[form][k]);
        if (i + 1 == n)
            *variant = &variant_of(m, form, key, topology)->v;
    }
    if (!*variant)
        vec_free(key);
    return st;
}

vs_status mdl_variant_meet(mdl_model *m, const int32_t *row, size_t n, mdl_form_kind form,
                           mdl_variant **variant)
{
    const vs_status st = mdl_plan_meet(m, row, n, form, variant);
    if (st == VS_OK && *variant)
        mdl_variant_use(*variant);
    return st;
}

void mdl_variant_free(variant_data *d)
{
    for (int k = 0; k < N_FN; k++)
        drop_fn(d, k);
    vec_free(d->v.out);
    for (size_t k = 0; k < vec_len(d->key); k++)
        vec_free(d->key[k]);
    vec_free(d->key);
    vec_free(d->hi);
    vec_free(d->lo);
    vec_free(d->slot);
    free(d);
}

/* -- use -- */

void mdl_setup(const mdl_variant *v, int32_t row, double *cache)
{
    const ir_fn *fn = &v->setup;
    ir_num *val = vs_calloc(vec_len(fn->inst) + 1, sizeof *val);
    ir_num *input = vs_calloc(vec_len(fn->in) + 1, sizeof *input);
    memset(cache, 0, (size_t)v->lay.n_cache * sizeof *cache);
    if (val && input) {
        mdl_row_inputs(v->model, v->model->row[row], fn, input);
        /* static code ended when the variant was made: the same loops end here */
        vs_status st = ir_interp(fn, input, val, NULL, NULL);
        for (size_t o = 0; o < vec_len(fn->out) && st == VS_OK; o++) {
            const ir_out *w = &fn->out[o];
            int type = fn->inst[w->v].type;
            if (w->kind == IR_OUT_CACHE)
                cache[w->a] = type == IR_F64 ? val[w->v].f : (double)val[w->v].i;
        }
    }
    free(val);
    free(input);
}

/* -- kernels -- */

/* Lanes beyond 4 cost as much as they are: no more for circuits whose groups would leave them
 * empty. */
void mdl_largest_group(const mdl_model *m, int32_t n)
{
    mdl_lib *lib = m->lib;
    if (!lib->jit || lib->lanes || n <= 0)
        return;
    lib->lanes = jit_lanes(lib->jit) > 4 && n <= 4 ? 4 : jit_lanes(lib->jit);
    for (size_t i = 0; i < vec_len(lib->model); i++)
        for (size_t k = 0; k < vec_len(lib->model[i]->variant); k++) {
            mdl_variant *v = &lib->model[i]->variant[k]->v;
            v->lay.lanes = lanes_of(lib, v->form);
        }
}

/* Only those that are asked for: a group needs one of the two. */
void mdl_want(mdl_variant *v, bool row_per_lane)
{
    variant_data *d = (variant_data *)v;
    mdl_lib *lib = v->model->lib;
    if (d->asked[row_per_lane])
        return;
    d->asked[row_per_lane] = true;
    mdl_largest_group(v->model, INT32_MAX);
    if (lib->jit && v->form != MDL_FULL)
        vec_push(lib->want, (struct want){d, row_per_lane});
}

static void take_kernel(mdl_lib *lib, const struct want *w, const jit_job *job, const char *why)
{
    mdl_variant *v = &w->d->v;
    if (job->st == VS_OK) {
        v->kernel[w->row_per_lane] = job->kernel;
        v->code_bytes += job->code_bytes;
        v->compile_seconds += job->seconds;
        v->from_cache |= job->from_cache;
        return;
    }
    if (!lib->noted_interpret)
        diag_warning(lib->d, DIAG_NOWHERE, "models run in the interpreter, which is slow: %s", why);
    lib->noted_interpret = true;
}

static const ir_fn *kernel_fn_of(void *user) { return mdl_kernel_fn(&((variant_data *)user)->v); }

void mdl_compile_wanted(const mdl_model *m)
{
    mdl_lib *lib = m->lib;
    mdl_keep_rows(lib);
    const size_t n = vec_len(lib->want);
    jit_layout *lay = NULL;
    jit_job *job = NULL;
    const char *why = NULL;
    vec_extend(lay, n);
    vec_extend(job, n);
    for (size_t i = 0; i < n; i++) {
        lay[i] = lib->want[i].d->v.lay;
        lay[i].row_per_lane = lib->want[i].row_per_lane;
        variant_data *d = lib->want[i].d;
        job[i] = (jit_job){.get = kernel_fn_of,
                           .user = d,
                           .fn_key = d->kernel_key,
                           .n_out = vec_len(d->slot),
                           .lay = &lay[i]};
    }
    if (n)
        jit_compile_all(lib->jit, job, n, &why);
    for (size_t i = 0; i < n; i++)
        take_kernel(lib, &lib->want[i], &job[i], why);
    vec_clear(lib->want);
    vec_free(lay);
    vec_free(job);
}

void mdl_prepare(mdl_variant *v, bool row_per_lane)
{
    mdl_want(v, row_per_lane);
    mdl_compile_wanted(v->model);
}

vs_status mdl_eval(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t begin,
                   int64_t end)
{
    jit_layout lay = v->lay;
    if (v->kernel[row_per_lane]) {
        v->kernel[row_per_lane](b, begin, end);
        return VS_OK;
    }
    lay.row_per_lane = row_per_lane;
    return jit_interpret(&v->eval, &lay, b, begin, end);
}
