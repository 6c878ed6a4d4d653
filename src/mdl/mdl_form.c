/* mdl_form.c - from the lowered module to the equations that analyses solve.
 * Use:    mdl_form_build once per model, mdl_form_get per analysis form.
 * Method: the passes of a module (mdl_pass.c) make the equation form m->full: charges for ddt, m
 *         devices in parallel, Jacobian and noise gains, limiting. Then mdl_idle.c marks unknowns
 *         that may be left out. The pass of a form takes what one analysis needs, and mdl_border.c
 *         finds what variants of it are specialised for. */
#include "mdl_pass.h"

void mdl_form_build(mdl_model *m)
{
    for (size_t u = 0; u < vec_len(m->mod->unknown); u++)
        vec_push(m->unknown, m->mod->unknown[u]);
    for (size_t p = 0; p < vec_len(m->mod->probe); p++)
        vec_push(m->probe, m->mod->probe[p]);
    mdl_pipe p = mdl_pipe_of(m, MDL_NO_FORM, &m->mod->eval);
    mdl_pass_module(&p);
    m->full = p.fn;
    mdl_find_quiet(m);
    mdl_find_may_idle(m);
}

form_fn *mdl_form_get(mdl_model *m, int form)
{
    form_fn *f = &m->form[form];
    if (f->made || mdl_store_load_form(m, form, f))
        return f;
    mdl_need(m, MOD_FULL);
    mdl_pipe p = mdl_pipe_of(m, form, &m->full);
    mdl_pass_form(&p);
    f->fn = p.fn;
    f->cls = vs_calloc(vec_len(f->fn.inst) + 1, 1);
    ir_classes(&f->fn, f->cls);
    mdl_find_border(f);
    f->made = true;
    mdl_store_form(m, form, f);
    return f;
}

void mdl_form_free(form_fn *f)
{
    ir_static_fini(&f->row);
    if (f->kept)
        mdl_store_drop_fn(&f->fn);
    if (!f->made || f->kept)
        return;
    ir_fn_fini(&f->fn);
    vs_free(f->cls);
    vec_free(f->decide);
    vec_free(f->how);
    f->made = false;
}
