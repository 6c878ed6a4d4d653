/* ckt_aside.c - see ckt_aside.h. */
#include "ckt_aside.h"

void ckt_aside_init(ckt_aside *g, const ckt *c, arena *mem, mdl_form_kind form, mdl_variant *v,
                    const int32_t *device, const int32_t *row, const int32_t *const *unknown,
                    int32_t n)
{
    const int32_t **own = unknown ? NULL : arena_array(mem, const int32_t *, n);
    for (int32_t i = 0; i < n && own; i++)
        own[i] = &c->unk[c->inst[device[i]].first];
    g->form = form;
    dev_group_init(&g->dev, mem, c->inst[device[0]].model, device, row, n);
    g->dev.who = ckt_name_for;
    g->dev.who_user = c;
    dev_form_add(&g->dev, mem, form, v, unknown ? unknown : own, true);
    dev_state_init(&g->dev, mem);
}

static size_t pack_size(const ckt_aside *g)
{
    return (size_t)g->dev.form[g->form].n_out * (size_t)g->dev.lanes;
}

size_t ckt_aside_room(const ckt_aside *g) { return pack_size(g) * DEV_BATCH; }

vs_status ckt_aside_eval(ckt_aside *g, const double *dyn, const double *x, const uint8_t *wanted,
                         double *out, vs_status (*pack)(void *user, int32_t p, const double *out),
                         void *user)
{
    const int32_t batch = DEV_BATCH / g->dev.lanes;
    vs_status st = VS_OK;
    for (int32_t b = 0, e; b < g->dev.n_pack && st == VS_OK; b = e) {
        while (b < g->dev.n_pack && wanted && !wanted[b])
            b++;
        for (e = b; e < g->dev.n_pack && e < b + batch && (!wanted || wanted[e]);)
            e++;
        if (e > b && g->dev.n_lim)
            dev_limits_at(&g->dev, g->form, x, b, e);
        if (e > b)
            st = dev_eval(&g->dev, g->form, dyn, x, b, e, false, out);
        for (int32_t p = b; p < e && st == VS_OK; p++)
            st = pack(user, p, out + (size_t)(p - b) * pack_size(g));
    }
    return st;
}
