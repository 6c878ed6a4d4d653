/* ckt_image.c - what a circuit remembers between two points of a transient, as an image (image.h).
 * Left out is what the next load makes from the rest: matrices, outputs, dynamic inputs.
 * Nothing in it depends on threads or lanes. */
#include "ckt_priv.h"

#include <string.h>

/* Shunts that were added while the operating point was looked for (ckt_anchor) are part of it. */
static void fixes_image(ckt *c, image *im)
{
    const size_t n = image_count(im, vec_len(c->fix), 8 * sizeof(int32_t));
    if (n < vec_len(c->fix) || (c->small && n != vec_len(c->fix))) {
        im->wrong = im->wrong ? im->wrong : "it is of a circuit with other nodes";
        return;
    }
    if (n > vec_len(c->fix))
        vec_extend(c->fix, n - vec_len(c->fix));
    for (size_t i = 0; i < n; i++) {
        ckt_fix *k = &c->fix[i];
        int32_t kind = (int32_t)k->kind, always = k->always, firm = k->firm, fed = k->fed,
                loose = k->loose;
        IMAGE_WITHIN(im, kind, 0, CKT_FIX_UNIT);
        IMAGE_WITHIN(im, k->unknown, 0, ckt_n(c));
        IMAGE_WITHIN(im, always, 0, 1);
        IMAGE_WITHIN(im, firm, 0, 1);
        IMAGE_WITHIN(im, fed, 0, 1);
        IMAGE_WITHIN(im, loose, 0, 1);
        IMAGE_WITHIN(im, k->whole, 0, ckt_n(c));
        IMAGE_WITHIN(im, k->slot, 0, csc_nnz(&c->a));
        k->kind = kind;
        k->always = always;
        k->firm = firm;
        k->fed = fed;
        k->loose = loose;
    }
}

/* How many sources of noise the device's model has; 0: there is no such device. */
static int32_t n_noise_of(const ckt *c, int32_t device)
{
    const int32_t n = ckt_n_device(c);
    if (device >= 0 && device < n)
        return (int32_t)vec_len(mdl_module(c->inst[device].model)->noise);
    return device >= n && device - n < ckt_n_osdi(c)
               ? (int32_t)ckt_osdi_at(c, device - n).in->module->abi->n_noise
               : 0;
}

static void noise_image(ckt *c, image *im)
{
    static const char damaged[] = "its sources of noise are damaged";
    IMAGE_VEC(im, c->noise);
    IMAGE_VEC(im, c->noise_gain);
    for (size_t i = 0; im->giving && i < vec_len(c->noise); i++) {
        const ckt_noise *k = &c->noise[i];
        if (k->first < 0 || k->end < k->first || k->end > (int32_t)vec_len(c->noise_gain) ||
            k->source < 0 || k->source >= n_noise_of(c, k->device))
            im->wrong = damaged;
    }
    for (size_t i = 0; im->giving && i < vec_len(c->noise_gain); i++) {
        image_check_flag(im, &c->noise_gain[i].rate);
        if (c->noise_gain[i].row < 0 || c->noise_gain[i].row > ckt_n(c))
            im->wrong = damaged;
    }
    if (im->wrong) {
        vec_clear(c->noise);
        vec_clear(c->noise_gain);
    }
}

void ckt_image(ckt *c, image *im)
{
    const size_t n1 = vec_len(c->unknown);
    fixes_image(c, im);
    for (size_t i = 0; i < vec_len(c->group) && !im->wrong; i++)
        dev_image(&c->group[i], im);
    if (c->bypass)
        ckt_bypass_image(c, im);
    if (c->small && im->giving)
        ckt_small_fresh(c);
    nat_image(&c->nat, im);
    IMAGE_ARRAY(im, c->x, n1);
    IMAGE_ARRAY(im, c->qlo, n1);
    IMAGE_ONE(im, c->last_break);
    IMAGE_ONE(im, c->loaded);
    IMAGE_ONE(im, c->bound);
    IMAGE_ONE(im, c->asked);
    IMAGE_COUNTED(im, c->stat.n_load);
    IMAGE_COUNTED(im, c->stat.n_eval);
    IMAGE_COUNTED(im, c->stat.n_bypass);
    noise_image(c, im);
}

static hash128 sum_of_names(const ckt *c)
{
    char *all = NULL;
    for (size_t i = 1; i < vec_len(c->unknown); i++)
        for (const char *p = c->unknown[i].name;; p++) {
            vec_push(all, *p);
            if (!*p)
                break;
        }
    const hash128 sum = hash128_of(all, vec_len(all));
    vec_free(all);
    return sum;
}

void ckt_identity(const ckt *c, image *im)
{
    static const char nodes[] = "it is of a circuit with other nodes or elements";
    const uint64_t n = vec_len(c->unknown), n_group = vec_len(c->group);
    IMAGE_SAME(im, n, nodes);
    IMAGE_SAME(im, n_group, nodes);
    IMAGE_SAME(im, c->opt.temp, "it is of a circuit of another temperature");
    const hash128 names = sum_of_names(c);
    IMAGE_SAME(im, names, nodes);
    const int32_t nnz = csc_nnz(&c->a);
    IMAGE_SAME(im, nnz, nodes);
    if (im->wrong)
        return;
    const hash128 rows = hash128_of(c->a.row, (size_t)nnz * sizeof *c->a.row);
    IMAGE_SAME(im, rows, nodes);
    for (size_t i = 0; i < n_group && !im->wrong; i++)
        dev_identity(&c->group[i], im);
    nat_identity(&c->nat, im);
}
