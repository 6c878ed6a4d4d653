/* run_witness.c - what a run tells whoever looks on (vsim_inside_witness): cards, pictures, and the
 * devices at the operating point. */
#include "run_priv.h"
#include "vec.h"

void run_tell_picture(void *user, const char *path)
{
    const vsim_inside_witness *w = ((run *)user)->j->witness;
    if (w->picture)
        w->picture(w->user, path);
}

void run_tell_cards(run *r)
{
    const vsim_inside_witness *w = r->j->witness;
    ctl_plot_card *card = NULL;
    const char **name = NULL;
    ctl_plot_cards(r->sim, &r->mem, &card);
    ctl_measure_names(r->sim, &name, NULL);
    for (size_t i = 0; i < vec_len(card) && w->plot_card; i++)
        w->plot_card(w->user, card[i].analysis, card[i].list);
    for (size_t i = 0; i < vec_len(name) && w->measure; i++)
        w->measure(w->user, name[i]);
    for (size_t i = 0; i < vec_len(r->d.file) && w->file; i++)
        if (r->d.file[i].from.file >= 0 && !r->d.file[i].gone)
            w->file(w->user, r->d.file[i].name, diag_text(&r->d, (int32_t)i), r->d.file[i].len);
    vec_free(card);
    vec_free(name);
}

/* Tells of the devices at the first operating point, except sources and elements whose models
 * compute nothing. */
void run_tell_devices(run *r)
{
    const vsim_inside_witness *w = r->j->witness;
    const flat *f = sim_flat(r->sim);
    const bool again = r->told_devices;
    r->told_devices = true;
    for (size_t i = 0; i < vec_len(f->inst) && w->device && !again; i++) {
        const flat_inst *in = &f->inst[i];
        sim_detail *v = sim_device_computed(r->sim, in->name);
        for (size_t k = 0; k < vec_len(v); k++)
            w->device(w->user, in->name, in->rare->model ? in->rare->model->name : "", v[k].name,
                      v[k].unit, v[k].value);
        vec_free(v);
    }
}
