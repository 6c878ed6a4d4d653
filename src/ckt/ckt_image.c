/* ckt_image.c - what a circuit remembers between two points of a transient, as an image (image.h).
 * Left out is what the next load makes from the rest: matrices, outputs, dynamic inputs.
 * Nothing in it depends on threads or lanes. */
#include "ckt_priv.h"

#include <string.h>

/* Shunts that were added while the operating point was looked for (ckt_anchor) are part of it. */
static void fixes_image(ckt *c, image *im)
{
    const size_t n = image_count(im, vec_len(c->fix), 3 * sizeof(int32_t));
    if (n < vec_len(c->fix) || (c->small && n != vec_len(c->fix))) {
        im->wrong = im->wrong ? im->wrong : "it is of a circuit with other nodes";
        return;
    }
    if (n > vec_len(c->fix))
        vec_extend(c->fix, n - vec_len(c->fix));
    for (size_t i = 0; i < n; i++) {
        ckt_fix *k = &c->fix[i];
        int32_t what[] = {(int32_t)k->kind, k->unknown, k->always, k->slot};
        IMAGE_ONE(im, what);
        *k = (ckt_fix){.unknown = what[1], .always = what[2], .slot = what[3]};
        k->kind = what[0];
        if (what[1] < 0 || what[1] > ckt_n(c) || what[3] < 0 || what[3] > csc_nnz(&c->a))
            im->wrong = "it is of a circuit with other nodes";
    }
}

static void noise_image(ckt *c, image *im)
{
    IMAGE_VEC(im, c->noise);
    IMAGE_VEC(im, c->noise_gain);
    for (size_t i = 0; im->giving && i < vec_len(c->noise); i++)
        if (c->noise[i].first < 0 || c->noise[i].end > (int32_t)vec_len(c->noise_gain))
            im->wrong = "its sources of noise are damaged";
    for (size_t i = 0; im->giving && i < vec_len(c->noise_gain); i++)
        if (c->noise_gain[i].row < 0 || c->noise_gain[i].row > ckt_n(c))
            im->wrong = "its sources of noise are damaged";
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
    IMAGE_ONE(im, c->stat.n_load);
    IMAGE_ONE(im, c->stat.n_eval);
    IMAGE_ONE(im, c->stat.n_bypass);
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
