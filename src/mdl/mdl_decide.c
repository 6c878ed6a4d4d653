/* mdl_decide.c - the decisions that a row takes in one form, as bytes: the key of its variant. For
 * each static value on the border to dynamic code (mdl_border.c): the branch it decides, or whether
 * it is exactly 0, -0, 1, -1 or another number; then the topology. A vector of what is known in
 * several rows, made of theirs, is a key like any other. */
#include "mdl_pass.h"

#include <math.h>
#include <string.h>

enum { NOT_RUN = 1, ZERO, MINUS_ZERO, ONE, MINUS_ONE, OTHER };

/* A real number computed from size or temperature is 1 by accident: a sweep that passes there, or
 * through the nominal temperature, compiles nothing. A parameter itself is 1 on purpose (m, area),
 * and 0 is a term that is switched off. */
uint8_t mdl_decide_code(ir_num v, const ir_inst *in, uint8_t cls)
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

/* The value that a code stands for; false: for none (NOT_RUN, OTHER). */
static bool value_of(uint8_t code, int type, ir_num *v)
{
    const double x = code == ONE ? 1 : code == MINUS_ONE ? -1 : code == MINUS_ZERO ? -0.0 : 0;
    if (type == IR_F64)
        *v = (ir_num){.f = x};
    else
        *v = (ir_num){.i = (int32_t)x};
    return code != NOT_RUN && code != OTHER;
}

/* The list of static code is made for functions that are asked again, when they are. */
static bool use_list(form_fn *f)
{
    if (!f->row.inst && f->decided)
        ir_static_init(&f->row, &f->fn, f->cls, f->decide, vec_len(f->decide));
    f->decided = true;
    return f->row.inst;
}

vs_status mdl_decide(mdl_model *m, const row_data *r, form_fn *f, uint8_t **key)
{
    if (m->lib->opt.no_specialize)
        return VS_OK;
    const bool list = use_list(f);
    const ir_inst *inst = list ? f->row.inst : f->fn.inst;
    const uint8_t *cls = list ? f->row.cls : f->cls;
    const ir_val *at = list ? f->row.want : f->decide;
    const size_t n = vec_len(inst) + 1;
    const arena_pos mark = mdl_work(m);
    uint8_t *ran = arena_array(&m->work, uint8_t, n);
    ir_num *val = arena_array(&m->work, ir_num, n),
           *input = arena_array(&m->work, ir_num, vec_len(f->fn.in) + 1);
    mdl_row_inputs(m, r, &f->fn, input);
    const vs_status st = list ? ir_static_run(&f->row, &f->fn, input, val, ran)
                              : ir_interp_static(&f->fn, f->cls, input, val, ran, NULL);
    for (size_t i = 0; i < vec_len(f->decide); i++)
        vec_push(*key,
                 ran[at[i]] ? mdl_decide_code(val[at[i]], &inst[at[i]], cls[at[i]]) : NOT_RUN);
    const size_t bytes = vec_len(m->unknown) * sizeof *r->topology, end = vec_len(*key);
    vec_extend(*key, bytes);
    if (bytes)
        memcpy(*key + end, r->topology, bytes);
    arena_release(&m->work, mark);
    return st;
}

/* A probe between nodes that are one, or of unknowns that are not in use, reads exactly 0. */
static void decide_probes(const mdl_model *m, const form_fn *f, const int32_t *topology,
                          mdl_facts *to)
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

mdl_facts mdl_decided(const mdl_model *m, const form_fn *f, const uint8_t *key,
                      const int32_t *topology)
{
    const size_t n_key = vec_len(key);
    const size_t n = vec_len(f->fn.inst) + 1;
    mdl_facts to = {vs_calloc(n, 1), vs_calloc(n, sizeof *to.val)};
    for (size_t i = 0; i < vec_len(f->decide) && i < n_key; i++) {
        const ir_val k = f->decide[i];
        if (value_of(key[i], f->fn.inst[k].type, &to.val[k]))
            to.known[k] = f->how[i];
    }
    decide_probes(m, f, topology, &to);
    return to;
}

uint8_t mdl_decide_meet(uint8_t a, uint8_t b)
{
    const bool zeros = (a == ZERO || a == MINUS_ZERO) && (b == ZERO || b == MINUS_ZERO);
    return a == b || b == NOT_RUN ? a : a == NOT_RUN ? b : zeros ? ZERO : OTHER;
}
