/* tran_image.c - a transient between two points as an image (image.h): history, step control,
 * noise, and what Newton's method and the factors bring along. What each step computes from the
 * rest is left out, except coefficients, which steps of equal length reuse. */
#include <math.h>
#include <string.h>

#include "tran_priv.h"

static void vector_image(const ana *a, double *v, image *im)
{
    IMAGE_ARRAY(im, v, (size_t)a->n + 1);
}

static void history_image(tran *t, image *im)
{
    const ana *a = t->a;
    for (int i = 0; i <= TRAN_KEEP; i++) {
        vector_image(a, t->x[i], im);
        vector_image(a, t->q[i], im);
        vector_image(a, t->qlo[i], im);
        vector_image(a, t->f[i], im);
    }
    for (int i = 0; i < TRAN_FLOW; i++)
        vector_image(a, t->y[i], im);
    double *const v[] = {t->dq[0], t->dq[1], t->hist, t->fix,  t->pred,   t->stage,
                         t->k1,    t->src,   t->xmax, t->rmax, t->weight, t->lte_tol};
    for (size_t i = 0; i < VS_COUNT(v); i++)
        vector_image(a, v[i], im);
}

/* Times that a run can have: it goes on from t by steps that end. At tstop, where a row's callback
 * may have made it pause, no step follows. */
static void check_times(const tran *t, image *im)
{
    const bool step = isfinite(t->h) && t->h > 0 && t->brk >= t->t && t->brk_prev >= 0 &&
                      t->brk_prev <= t->t && t->brk_prev < t->brk && t->most > 0;
    bool ok = isfinite(t->t) && t->t >= 0 && t->t <= t->o.tstop && t->t_new >= 0 &&
              (step || t->t == t->o.tstop);
    for (int i = 0; i < TRAN_KEEP; i++)
        ok &= isfinite(t->past[i]) && t->past[i] >= 0;
    if (im->giving && !ok)
        image_refuse(im);
}

static void orders_image(tran *t, image *im)
{
    IMAGE_ONE(im, t->pc);
    IMAGE_ONE(im, t->cc);
    IMAGE_ONE(im, t->lte);
    const bool ok = t->pc.order >= 0 && t->pc.order <= INTEG_MAX_ORDER && t->cc.order >= 0 &&
                    t->cc.order <= INTEG_MAX_ORDER && t->cc.n_past >= 0 &&
                    t->cc.n_past <= INTEG_MAX_ORDER && t->lte.order >= 0 &&
                    t->lte.order <= INTEG_MAX_ORDER && t->lte.worst >= 0 && t->lte.worst <= t->a->n;
    if (im->giving && !ok)
        image_refuse(im);
}

static void steps_image(tran *t, image *im)
{
    IMAGE_ONE(im, t->t);
    IMAGE_ONE(im, t->t_new);
    IMAGE_ONE(im, t->h);
    IMAGE_ONE(im, t->brk);
    IMAGE_ONE(im, t->brk_prev);
    IMAGE_COUNTED(im, t->n_piece);
    IMAGE_COUNTED(im, t->n_before);
    IMAGE_COUNTED(im, t->euler_left);
    IMAGE_WITHIN(im, t->kind, 0, TRAN_MAIN);
    IMAGE_ONE(im, t->past);
    orders_image(t, im);
    IMAGE_ONE(im, t->have_pred);
    IMAGE_WITHIN(im, t->start_order, 0, TRAN_KEEP - 1);
    IMAGE_COUNTED(im, t->n_widened);
    IMAGE_COUNTED(im, t->n_told);
    IMAGE_ONE(im, t->grid);
    IMAGE_WITHIN(im, t->last_kind, 0, TRAN_MAIN);
    IMAGE_COUNTED(im, t->newton_fails);
    IMAGE_COUNTED(im, t->lte_fails);
    IMAGE_WITHIN(im, t->jumped, 0, 1);
    IMAGE_COUNTED(im, t->n_jump);
    IMAGE_ONE(im, t->most);
    IMAGE_COUNTED(im, t->n_bound);
    IMAGE_COUNTED(im, t->n_shorter);
    IMAGE_ONE(im, t->first_h);
    IMAGE_ONE(im, t->first_size);
    IMAGE_ONE(im, t->jump_h);
    IMAGE_ONE(im, t->jump_size);
    IMAGE_ONE(im, t->jump_end);
    IMAGE_ONE(im, t->bare_h);
    IMAGE_ONE(im, t->bare_end);
    check_times(t, im);
}

/* Pointers of ana_stat are names of methods; the image has their text. */
static void stat_image(ana *a, image *im)
{
    static const char *const known[] = {"none",
                                        "Newton",
                                        "gmin stepping",
                                        "source stepping",
                                        "pseudo-transient",
                                        "limited Newton",
                                        "finite Newton",
                                        "levels",
                                        "uic"};
    ana_stat st = a->st;
    char *name = image_text(im, st.op_method);
    st.op_method = NULL;
    int64_t *const count[] = {
        &st.points_accepted, &st.points_rejected, &st.iterations, &st.n_factor,  &st.n_refactor,
        &st.n_reuse,         &st.n_solve,         &st.n_op,       &st.n_op_taken};
    double *const second[] = {&st.s_op, &st.s_tran, &st.s_factor, &st.s_solve, &st.s_output};
    for (size_t i = 0; i < VS_COUNT(count); i++)
        IMAGE_COUNTED(im, *count[i]);
    for (size_t i = 0; i < VS_COUNT(second); i++)
        IMAGE_ONE(im, *second[i]);
    if (!im->giving)
        return;
    st.op_method = a->st.op_method;
    st.n_symbolic = a->st.n_symbolic;
    for (size_t i = 0; name && i < VS_COUNT(known); i++)
        if (!strcmp(known[i], name))
            st.op_method = known[i];
    vs_free(name);
    a->st = st;
}

/* Older factors are corrected by the matrix of the last load. */
static void near_image(ana *a, image *im)
{
    near_state *s = &a->near;
    IMAGE_ONE(im, s->stale);
    IMAGE_ONE(im, s->spent);
    IMAGE_ONE(im, s->first);
    IMAGE_ONE(im, s->alpha);
    IMAGE_COUNTED(im, s->steps);
    IMAGE_COUNTED(im, s->updates);
    if (s->stale)
        IMAGE_ARRAY(im, a->jac->val, csc_nnz(a->jac) + 1);
}

static void newton_image(ana *a, image *im)
{
    stat_image(a, im);
    near_image(a, im);
    IMAGE_ONE(im, a->alpha_lu);
    IMAGE_ONE(im, a->repivot);
    IMAGE_ONE(im, a->dx_size);
    for (int i = 0; i < 2; i++) {
        IMAGE_COUNTED(im, a->n_run[i]);
        IMAGE_COUNTED(im, a->n_limit[i]);
    }
    double *const v[] = {a->f, a->q, a->fmax, a->qmax, a->dx, a->f_prev, a->q_prev};
    for (size_t i = 0; i < VS_COUNT(v); i++)
        vector_image(a, v[i], im);
}

vs_status ana_tran_image(ana *a, image *im)
{
    tran *t = a->tran;
    newton_image(a, im);
    steps_image(t, im);
    history_image(t, im);
    ckt_image(a->c, im);
    if (!im->wrong)
        tran_noise_image(t, im);
    const vs_status st = im->wrong ? VS_EINPUT : lu_image(&a->lu, a->jac, im);
    if (im->giving && st == VS_OK)
        t->begun = true;
    t->imaged = true;
    if (im->giving && st == VS_OK)
        tran_verify_begin(t, a->verify);
    return st;
}

void ana_tran_identity(const ana *a, image *im)
{
    static const char other[] = "it is of a transient with other options";
    const tran *t = a->tran;
    const int32_t method[] = {a->opt.method, a->opt.maxord, a->opt.itl4,   a->opt.residual,
                              a->opt.lu,     a->opt.bypass, a->opt.interp, t->o.uic};
    const double number[] = {t->o.tstep,       t->o.tstop,       t->o.tstart,   t->o.tmax,
                             t->o.noise_fmax,  t->o.noise_scale, a->opt.reltol, a->opt.vntol,
                             a->opt.abstol,    a->opt.trtol,     a->opt.gmin,   a->opt.rshunt,
                             a->opt.maxgrowth, a->opt.minstep};
    IMAGE_SAME(im, method, other);
    IMAGE_SAME(im, number, other);
    IMAGE_SAME(im, t->o.noise_key, "its noise is of another seed");
    ckt_identity(a->c, im);
}
