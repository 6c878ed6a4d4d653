/* mdl_count.c - figures for `vsim explain`, `vsim models --branches` and `vsim compile`. */
#include "mdl_count.h"
#include "mdl_priv.h"

static void add_branch(mdl_branches *b, uint8_t cls)
{
    b->total++;
    if (!ir_class_static(cls))
        b->dynamic++;
    else if (cls & IR_CLASS_TEMP)
        b->temp++;
    else if (cls & IR_CLASS_INST)
        b->inst++;
    else
        b->model++;
}

static mdl_branches count_branches(const ir_fn *fn)
{
    mdl_branches b = {0};
    uint8_t *cls = vs_calloc(vec_len(fn->inst) + 1, 1), *seen = vs_calloc(vec_len(fn->inst) + 1, 1);
    ir_classes(fn, cls);
    for (size_t k = 0; k < vec_len(fn->inst); k++) {
        const ir_inst *in = &fn->inst[k];
        if (in->op == IR_IF) {
            add_branch(&b, cls[in->a]);
        } else if (in->op == IR_LOOP) {
            add_branch(&b, cls[fn->inst[in->a].a]);
            b.loops++;
        } else if (in->op == IR_SELECT && !seen[in->a]) {
            seen[in->a] = 1;
            add_branch(&b, cls[in->a]);
            b.selects++;
        }
    }
    vs_free(cls);
    vs_free(seen);
    return b;
}

static int count_blocks(const mdl_branches *b) { return 1 + 3 * (b->total - b->selects); }

static bool is_value(int op)
{
    return (op >= IR_NEG && op <= IR_LIMIT) || op == IR_PHI || op == IR_LPHI;
}

static bool is_function(int op) { return (op >= IR_EXP && op <= IR_LOG1P) || op == IR_FMOD; }

static int count_values(const ir_fn *fn)
{
    int n = 0;
    for (size_t k = 0; k < vec_len(fn->inst); k++)
        n += is_value(fn->inst[k].op);
    return n;
}

static bool is_entry(int kind) { return kind == IR_OUT_G || kind == IR_OUT_C || kind == IR_OUT_J; }

static int count_entries(const ir_fn *fn)
{
    int n = 0;
    for (size_t o = 0; o < vec_len(fn->out); o++)
        n += is_entry(fn->out[o].kind);
    return n;
}

void mdl_count(mdl_model *m, mdl_counts *c)
{
    ir_fn opt, setup, eval;
    mdl_ready(m);
    mdl_need(m, MOD_EVAL);
    const ir_fn *tran = &mdl_form_get(m, MDL_TRAN)->fn;
    *c = (mdl_counts){.values_lowered = (int)vec_len(m->mod->eval.inst),
                      .derivatives = m->n_derivative,
                      .unknowns = (int)vec_len(m->unknown),
                      .params = (int)vec_len(m->mod->param),
                      .noise_sources = (int)vec_len(m->mod->noise),
                      .branches = count_branches(&m->mod->eval)};
    ir_opt(&opt, &m->mod->eval, (ir_opt_flags){0});
    c->values_opt = (int)vec_len(opt.inst);
    c->setup_values = ir_split(&setup, &eval, tran);
    ir_fn_fini(&opt);
    ir_fn_fini(&setup);
    ir_fn_fini(&eval);
}

/* -- variants -- */

static int32_t number_of(const mdl_model *m, const mdl_variant *v)
{
    int32_t n = 0;
    for (size_t i = 0; i < vec_len(m->variant); i++) {
        n += m->variant[i]->v.form == v->form;
        if (&m->variant[i]->v == v)
            break;
    }
    return n;
}

static int count_in_use(mdl_model *m, int32_t row)
{
    const int32_t *topology = mdl_row_topology(m, row);
    int n = 0;
    for (int32_t u = 0; u < mdl_n_unknown(m); u++)
        n += topology[u] == u;
    return n;
}

static void count_after(const ir_fn *fn, mdl_figures *f)
{
    const mdl_branches after = count_branches(fn);
    f->blocks_after = count_blocks(&after);
    f->branches_select = after.selects;
    f->branches_left = after.total - after.selects;
    f->branches_decided = f->before.total - after.total;
    f->values_after = count_values(fn);
    for (size_t k = 0; k < vec_len(fn->inst); k++) {
        f->selects += fn->inst[k].op == IR_SELECT;
        f->divisions += fn->inst[k].op == IR_DIV;
        f->roots += fn->inst[k].op == IR_SQRT;
        f->functions += is_function(fn->inst[k].op);
    }
}

/* Setup values of a row, by their numbers in `setup`. */
static ir_num *setup_values(mdl_model *m, int32_t row, const ir_fn *setup, int n)
{
    ir_num *val = vs_calloc(vec_len(setup->inst) + 1, sizeof *val);
    ir_num *input = vs_calloc(vec_len(setup->in) + 1, sizeof *input);
    ir_num *cache = vs_calloc((size_t)n + 1, sizeof *cache);
    mdl_row_inputs(m, mdl_row_data(m, row), setup, input);
    if (ir_interp(setup, input, val, NULL, NULL) == VS_OK)
        for (size_t o = 0; o < vec_len(setup->out); o++)
            if (setup->out[o].kind == IR_OUT_CACHE)
                cache[setup->out[o].a] = val[setup->out[o].v];
    vs_free(val);
    vs_free(input);
    return cache;
}

static void count_split(mdl_model *m, int32_t row, const ir_fn *form, mdl_figures *f)
{
    ir_fn setup, eval, to;
    ir_sccp_stats st;
    const int n = ir_split(&setup, &eval, form);
    ir_num *cache = setup_values(m, row, &setup, n);
    ir_num *val = vs_calloc(vec_len(eval.inst) + 1, sizeof *val);
    uint8_t *known = vs_calloc(vec_len(eval.inst) + 1, 1);
    for (size_t k = 0; k < vec_len(eval.inst); k++) {
        const ir_inst *in = &eval.inst[k];
        if (in->op == IR_IN && eval.in[in->a].kind == IR_IN_CACHE) {
            known[k] = 1;
            val[k] = cache[eval.in[in->a].k];
        }
    }
    const mdl_branches b = count_branches(&eval);
    ir_sccp(&to, &eval, known, val, (ir_opt_flags){0}, &st);
    f->split.setup_values = n;
    f->split.branches_static = b.total - b.dynamic;
    f->split.blocks = st.n_block;
    f->split.blocks_dead = st.n_block_dead;
    f->split.branches_decided = st.n_branch_decided;
    f->split.constants = st.n_const;
    vs_free(cache);
    vs_free(val);
    vs_free(known);
    ir_fn_fini(&setup);
    ir_fn_fini(&eval);
    ir_fn_fini(&to);
}

void mdl_figure(mdl_model *m, const mdl_variant *v, int32_t row, mdl_figures *f)
{
    const ir_fn *form = &mdl_form_get(m, (int)v->form)->fn;
    *f = (mdl_figures){.number = number_of(m, v),
                       .before = count_branches(form),
                       .blocks_dead = v->stats.n_block_dead,
                       .values_before = count_values(form),
                       .values_setup = count_values(&v->setup),
                       .derivatives_before = count_entries(form),
                       .constants = v->stats.n_const,
                       .setup_values = (int)v->lay.n_cache,
                       .unknowns_before = (int)mdl_n_unknown(m),
                       .unknowns_after = count_in_use(m, row),
                       .code_bytes = v->code_bytes,
                       .compile_seconds = v->compile_seconds,
                       .from_cache = v->from_cache};
    f->blocks_before = count_blocks(&f->before);
    count_split(m, row, form, f);
    for (int32_t k = 0; k < v->lay.n_out; k++)
        f->derivatives_after += is_entry(v->out[k].kind);
    count_after(vec_len(mdl_kernel_fn(v)->inst) ? mdl_kernel_fn(v) : &v->eval, f);
}
