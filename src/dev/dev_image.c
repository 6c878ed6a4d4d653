/* dev_image.c - what a group remembers, as an image: limits, hidden state, held linearisations.
 * Values of lanes stand by instances, one after the other, so that a group of the same instances
 * takes them whatever its lanes are. Lanes without an instance are copies of the last one. */
#include "dev_lin_priv.h"

/* [n_pack][n][stride], of which the group's lanes have instances. */
static void lanes_image(const dev_group *g, double *v, int32_t n, int32_t stride, image *im)
{
    for (int32_t p = 0; p < g->n_pack; p++) {
        const int32_t used = g->first[p + 1] - g->first[p];
        double *pack = v + (size_t)p * (size_t)n * (size_t)stride;
        for (int32_t i = 0; i < used; i++)
            for (int32_t k = 0; k < n; k++)
                IMAGE_ONE(im, pack[k * stride + i]);
        for (int32_t i = used; im->giving && i < g->lanes; i++)
            for (int32_t k = 0; k < n; k++)
                pack[k * stride + i] = pack[k * stride + used - 1];
    }
}

/* The evaluation, its voltages and bounds; all else is made from them by the next load. */
static void whole_image(dev_group *g, image *im)
{
    struct dev_lin *l = g->lin;
    const int32_t s = dev_whole_stride(g);
    double *now, *v0;
    dev_whole_arrays(g, &now, &v0);
    lanes_image(g, now, l->apart->n_out, s, im);
    lanes_image(g, v0, l->n_col, s, im);
    lanes_image(g, l->bound, 2, s, im);
    IMAGE_ONE(im, l->dyn_at);
}

static void lin_image(dev_group *g, image *im)
{
    struct dev_lin *l = g->lin;
    lanes_image(g, l->v0, l->n_col, g->lanes, im);
    lanes_image(g, l->bound, 2, g->lanes, im);
    IMAGE_ARRAY(im, l->held, (size_t)g->nb * (size_t)l->apart->n_out);
    IMAGE_ONE(im, l->dyn_at);
    l->n_recent = (int32_t)image_count(im, (size_t)l->n_recent, sizeof *l->recent);
    if (l->n_recent > g->nb) {
        l->n_recent = 0;
        im->wrong = "it has other devices";
    }
    IMAGE_ARRAY(im, l->recent, l->n_recent);
    memset(l->is_worn, 1, (size_t)g->nb); /* the sums may be of any age */
    if (!im->giving)
        return;
    memset(l->is_recent, 0, (size_t)g->nb);
    for (int32_t i = 0; i < l->n_recent; i++) {
        const int32_t k = l->recent[i];
        if (k < 0 || k >= g->nb || l->is_recent[k]) {
            l->n_recent = i;
            image_refuse(im);
        } else {
            l->is_recent[k] = 1;
        }
    }
}

void dev_image(dev_group *g, image *im)
{
    static const char other[] = "it has other devices";
    IMAGE_SAME(im, g->nb, other);
    IMAGE_SAME(im, g->n_lim, other);
    IMAGE_SAME(im, g->n_state, other);
    if (im->wrong)
        return;
    for (int k = 0; k < DEV_N_LIM; k++)
        lanes_image(g, g->lim[k], g->n_lim, g->lanes, im);
    if (g->lin)
        g->lin->all_limits = true;
    lanes_image(g, g->state, g->n_state, g->lanes, im);
    lanes_image(g, g->state_new, g->n_state, g->lanes, im);
    IMAGE_ONE(im, g->lim_fresh);
    IMAGE_COUNTED(im, g->n_eval);
    IMAGE_COUNTED(im, g->n_bypass);
    const bool lin = g->lin != NULL, whole = lin && g->lin->whole;
    IMAGE_SAME(im, lin, other);
    IMAGE_SAME(im, whole, other);
    if (whole)
        whole_image(g, im);
    else if (lin)
        lin_image(g, im);
}

static const char other_devices[] = "it is of a circuit with other devices";
static const char other_models[] = "it is of other models, or of other values of their parameters";

/* The sums of a form's code, unknowns and setup values. */
static void sums_of(const dev_group *g, const dev_form *f, hash128 sum[3])
{
    sum[0] = mdl_variant_code(f->variant);
    sum[1] = hash128_of(f->map, (size_t)g->nb * (size_t)f->n_u * sizeof *f->map);
    const size_t n = (size_t)f->n_cache;
    double *rows = f->rows ? f->rows : vs_malloc(((size_t)g->n_row * n + 1) * sizeof *rows);
    for (int32_t r = 0; r < g->n_row && !f->rows; r++)
        dev_row_of_form(g, f, r, &rows[(size_t)r * n]);
    sum[2] = hash128_of(rows, (size_t)g->n_row * n * sizeof *rows);
    if (!f->rows)
        vs_free(rows);
}

/* A transient asks the form AC for the noise of devices alone. A circuit may also have it for other
 * analyses, so it is compared where both have it. */
static void ac_identity(const dev_group *g, image *im)
{
    const dev_form *f = &g->form[MDL_AC];
    const bool used = f->variant && f->evaluated;
    uint8_t there = used;
    hash128 own[3] = {{{0}}}, sum[3];
    if (used)
        sums_of(g, f, own);
    memcpy(sum, own, sizeof sum);
    IMAGE_ONE(im, there);
    IMAGE_ONE(im, sum);
    if (!im->wrong && used && there && memcmp(sum, own, sizeof sum) != 0)
        im->wrong = other_models;
}

/* What decides on the equations of the instances: code, setup values, unknowns. */
void dev_identity(const dev_group *g, image *im)
{
    IMAGE_SAME(im, g->nb, other_devices);
    IMAGE_SAME(im, g->n_row, other_models);
    if (im->wrong)
        return;
    const hash128 row_of = hash128_of(g->row_of, (size_t)g->nb * sizeof *g->row_of);
    IMAGE_SAME(im, row_of, other_models);
    ac_identity(g, im);
    for (int k = 0; k < MDL_N_FORM; k++) {
        const dev_form *f = &g->form[k];
        const bool used = f->variant && f->evaluated;
        if (k == MDL_AC)
            continue;
        IMAGE_SAME(im, used, other_models);
        if (!used || im->wrong)
            continue;
        hash128 sum[3];
        sums_of(g, f, sum);
        IMAGE_SAME(im, sum[0], other_models);
        IMAGE_SAME(im, sum[1], other_devices);
        IMAGE_SAME(im, sum[2], other_models);
    }
}
