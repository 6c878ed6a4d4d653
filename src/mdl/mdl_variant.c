/* mdl_variant.c - the function of one form, specialised for the decisions that a row takes.
 * Key:    the decisions (mdl_decide.c). Rows that agree in all of them share a variant, and so do
 *         those whose decisions lead to the same code; the numbers themselves stay loads from the
 *         row's cache. A vector of what is known in several rows, made of theirs, is a key like any
 *         other (mdl_variant_meet).
 * Method: the passes of a variant (mdl_pass.c), then jit_compile. */
#include "mdl_pass.h"

#include <string.h>

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
            vec_push(out, (mdl_out){w->kind, w->still, w->by_gmin, w->a, w->b});
        v->has_state |= w->kind == IR_OUT_STATE;
    }
    v->out = out;
    v->lay = (jit_layout){.lanes = lanes_of(m->lib, v->form),
                          .n_u = (int32_t)vec_len(m->unknown),
                          .n_cache = n_cache,
                          .n_state = v->form == MDL_BACK ? 2 * (int32_t)vec_len(m->unknown)
                                                         : m->mod->n_state,
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
static int build_functions(variant_data *d, mdl_model *m, const form_fn *f, const uint8_t *key,
                           const int32_t *topology)
{
    mdl_pipe p = mdl_pipe_of(m, (int)d->v.form, &f->fn);
    p.topology = topology;
    p.stats = &d->v.stats;
    p.ifconv = &d->v.ifconv;
    if (!m->lib->opt.no_specialize)
        p.facts = mdl_decided(m, f, key, topology);
    mdl_pass_variant(&p);
    vs_free(p.facts.known);
    vs_free(p.facts.val);
    d->v.setup = p.setup;
    d->v.eval = p.fn;
    d->kernel_fn = p.kernel;
    if (d->v.form == MDL_DC)
        mdl_mark_still(m, &d->v.eval);
    mdl_mark_gmin(&d->v.eval);
    return p.n_cache;
}

static void add_bytes(char **to, const void *from, size_t n)
{
    const size_t at = vec_len(*to);
    vec_extend(*to, n);
    if (n)
        memcpy(*to + at, from, n);
}

/* Appends a function's code to the key: equal code is one variant. */
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

static hash128 code_id(const variant_data *d)
{
    char *code = NULL;
    add_code(&code, &d->v.setup);
    add_code(&code, &d->v.eval);
    const hash128 id = hash128_of(code, vec_len(code));
    vec_free(code);
    return id;
}

static void drop_fn(variant_data *d, int k)
{
    ir_fn *const fn = k == FN_SETUP ? &d->v.setup : k == FN_EVAL ? &d->v.eval : &d->kernel_fn;
    (d->fn[k] == FN_MADE ? ir_fn_fini : mdl_store_drop_fn)(fn);
}

/* Functions on disk that turn out to be damaged: made from the form, as they were. */
static void remake(variant_data *d)
{
    const mdl_variant *v = &d->v;
    mdl_model *m = (mdl_model *)(uintptr_t)v->model;
    const size_t bytes = vec_len(m->unknown) * sizeof(int32_t);
    int32_t *topology = vs_calloc(vec_len(m->unknown) + 1, sizeof *topology);
    variant_data new = {.v = {.model = m, .form = v->form}};
    mdl_store_note_damage(m->lib);
    memcpy(topology, d->key[0] + vec_len(d->key[0]) - bytes, bytes);
    (void)build_functions(&new, m, mdl_form_get(m, (int)v->form), d->key[0], topology);
    for (int k = 0; k < N_FN; k++)
        drop_fn(d, k);
    memset(d->fn, 0, sizeof d->fn);
    d->v.setup = new.v.setup;
    d->v.eval = new.v.eval;
    d->kernel_fn = new.kernel_fn;
    mdl_store_variant(m, d->key[0], d);
    vs_free(topology);
}

static void need(variant_data *d, int k)
{
    if (d->fn[k] == FN_ON_DISK && !mdl_store_load_fn(d, k))
        remake(d);
}

static variant_data *build_variant(mdl_model *m, mdl_form_kind form, const uint8_t *key,
                                   const int32_t *topology)
{
    variant_data *d = vs_calloc(1, sizeof *d);
    int n_cache;
    d->v.model = m;
    d->v.form = form;
    const bool kept = mdl_store_load_variant(m, key, d, &n_cache);
    if (!kept) {
        n_cache = build_functions(d, m, mdl_form_get(m, (int)form), key, topology);
        d->v.has_effects = has_effects(&d->v.eval);
        d->n_eval = vec_len(d->v.eval.inst);
        d->id = code_id(d);
        d->kernel_key = jit_fn_key(&d->kernel_fn);
    }
    make_layout(m, d, n_cache);
    if (!kept)
        mdl_store_variant(m, key, d);
    return d;
}

const uint8_t *mdl_known_key(mdl_model *m, uint8_t *key)
{
    const size_t n = vec_len(key);
    for (size_t i = 0; i < vec_len(m->key) && n; i++)
        if (vec_len(m->key[i]) == n && !memcmp(m->key[i], key, n)) {
            vec_free(key);
            return m->key[i];
        }
    if (n)
        vec_push(m->key, key);
    else
        vec_free(key);
    return n ? key : NULL;
}

static variant_data *find_variant(const mdl_model *m, mdl_form_kind form, const uint8_t *key)
{
    for (size_t i = 0; i < vec_len(m->variant); i++) {
        variant_data *d = m->variant[i];
        for (size_t k = 0; d->v.form == form && k < vec_len(d->key); k++)
            if (d->key[k] == key)
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

/* The variant for a vector of decisions, one of m->key. */
static variant_data *variant_of(mdl_model *m, mdl_form_kind form, const uint8_t *key,
                                const int32_t *topology)
{
    variant_data *d = find_variant(m, form, key);
    if (d)
        return d;
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

/* Computes the row's decisions of a form into r->decisions. */
static vs_status decisions_of(mdl_model *m, row_data *r, mdl_form_kind form)
{
    uint8_t *key = NULL;
    if (r->decisions[form])
        return VS_OK;
    const vs_status st = mdl_decide(m, r, mdl_form_get(m, (int)form), &key);
    if (st == VS_OK) {
        r->decisions[form] = mdl_known_key(m, key);
        return VS_OK;
    }
    vec_free(key);
    diag_error(m->lib->d, m->mod->span, "a loop in module '%s' does not end", m->mod->name);
    return VS_EUNSUPPORTED;
}

vs_status mdl_variant_of_row(mdl_model *m, row_data *r, mdl_form_kind form, mdl_variant **variant)
{
    if (!r->variant[form]) {
        const vs_status st = decisions_of(m, r, form);
        if (st != VS_OK)
            return st;
        r->variant[form] = &variant_of(m, form, r->decisions[form], r->topology)->v;
    }
    *variant = r->variant[form];
    return VS_OK;
}

/* Of a row that is only a number; *variant NULL: it needs more than that. */
static vs_status plan_of_number(mdl_model *m, int32_t row, mdl_form_kind form,
                                mdl_variant **variant)
{
    const vs_status st = mdl_kin_variant(m, row, form, variant);
    if (st == VS_OK && *variant) {
        (*variant)->n_row += !(m->row[row].asked >> form & 1);
        m->row[row].asked |= (uint8_t)(1u << form);
    }
    return st;
}

vs_status mdl_plan_get(mdl_model *m, int32_t row, mdl_form_kind form, mdl_variant **variant)
{
    *variant = NULL;
    if (m->row[row].is_number) {
        const vs_status st = plan_of_number(m, row, form, variant);
        if (st != VS_OK || *variant)
            return st;
    }
    row_data *r = mdl_row_data(m, row);
    const bool first = !r->variant[form];
    const vs_status st = mdl_variant_of_row(m, r, form, variant);
    if (st == VS_OK && first)
        (*variant)->n_row++;
    return st;
}

vs_status mdl_variant_get(mdl_model *m, int32_t row, mdl_form_kind form, mdl_variant **variant)
{
    const vs_status st = mdl_plan_get(m, row, form, variant);
    if (st == VS_OK)
        mdl_variant_use(*variant);
    return st;
}

hash128 mdl_variant_code(const mdl_variant *v) { return ((const variant_data *)v)->kernel_key; }

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

vs_status mdl_plan_meet(mdl_model *m, const int32_t *row, size_t n, mdl_form_kind form,
                        mdl_variant **variant)
{
    const int32_t *topology = mdl_row_topology(m, row[0]);
    uint8_t *key = NULL;
    vs_status st = VS_OK;
    *variant = NULL;
    if (m->lib->opt.no_specialize)
        return VS_OK;
    for (size_t i = 0; i < n && st == VS_OK; i++) {
        row_data *r = mdl_row_data(m, row[i]);
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
            key[k] = mdl_decide_meet(key[k], r->decisions[form][k]);
        if (i + 1 == n) {
            *variant = &variant_of(m, form, mdl_known_key(m, key), topology)->v;
            return VS_OK;
        }
    }
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
    ir_fn_fini(&d->effects);
    ir_fn_fini(&d->flag);
    ir_fn_fini(&d->curve);
    vec_free(d->curve_by);
    vec_free(d->v.out);
    vec_free(d->key);
    vec_free(d->hi);
    vec_free(d->lo);
    vec_free(d->slot);
    vs_free(d);
}

/* -- use -- */

typedef struct setup_run {
    mdl_model *m;
    row_data *r;
    int32_t row;
} setup_run;

/* The forms of a model have the same messages: a row has each once. */
static void note_late(void *user, const ir_fn *fn, const ir_effect *eff, const ir_num *val)
{
    const setup_run *s = user;
    char *text = NULL;
    if (eff->kind == IR_EFF_DISCONTINUITY)
        return;
    mdl_effect_text(s->m->lib->names, fn, eff, val, s->m->mod->name, &text);
    vec_push(text, 0);
    bool known = false;
    for (size_t i = 0; i < vec_len(s->r->message); i++)
        known |= !strcmp(s->r->message[i].text, text);
    if (!known) {
        const mdl_message say = {(ir_eff_kind)eff->kind,
                                 arena_strndup(&s->m->mem, text, strlen(text))};
        vec_push(s->r->message, say);
        s->m->lib->any_message = true;
        vec_push(s->m->lib->late, ((struct late){s->m, s->row, say}));
    }
    vec_free(text);
}

bool mdl_next_message(mdl_lib *lib, mdl_model **m, int32_t *row, mdl_message *say)
{
    if (lib->n_told == vec_len(lib->late)) {
        vec_clear(lib->late);
        lib->n_told = 0;
        return false;
    }
    const struct late *l = &lib->late[lib->n_told++];
    *m = l->m;
    *row = l->row;
    *say = l->say;
    return true;
}

void mdl_setup(const mdl_variant *v, int32_t row, double *cache)
{
    const ir_fn *fn = &v->setup;
    mdl_model *m = (mdl_model *)(uintptr_t)v->model;
    if (m->row[row].is_number && mdl_kin_setup(m, v, row, cache))
        return;
    row_data *r = mdl_row_data(m, row);
    setup_run run = {m, r, row};
    const ir_host host = {note_late, &run};
    const arena_pos mark = mdl_work(m);
    ir_num *val = arena_array(&m->work, ir_num, vec_len(fn->inst) + 1);
    ir_num *input = arena_array(&m->work, ir_num, vec_len(fn->in) + 1);
    memset(cache, 0, (size_t)v->lay.n_cache * sizeof *cache);
    mdl_row_inputs(m, r, fn, input);
    /* static code ended when the variant was made: the same loops end here */
    const vs_status st = ir_interp(fn, input, val, NULL, &host);
    for (size_t o = 0; o < vec_len(fn->out) && st == VS_OK; o++) {
        const ir_out *w = &fn->out[o];
        const int type = fn->inst[w->v].type;
        if (w->kind == IR_OUT_CACHE)
            cache[w->a] = type == IR_F64 ? val[w->v].f : (double)val[w->v].i;
    }
    arena_release(&m->work, mark);
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

/* Asks for one of the two kernels, the one that a group needs. */
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
    mdl_store_rows(lib);
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
