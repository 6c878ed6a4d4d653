/* lu_klu.c - pivots by KLU's rule; most matrices are then refactored and solved by lists of
 * operations (lu_tiny.h) or by supernodes (lu_super.h) with these pivots. See lu.h.
 *
 * KLU takes a pivot on the diagonal where it is at least `tol` of its column after elimination,
 * and finds the pattern of L and U on the way, column by column. Where supernodes are to be used
 * they factor with all pivots on the diagonal at once; if each passes KLU's rule, KLU would have
 * chosen the same ones, and pattern and factors are the same. Only if one fails KLU chooses. */
#include <math.h>
#include <string.h>
#include <suitesparse/klu.h>

#include "heap.h"
#include "lu_priv.h"
#include "lu_super.h"
#include "lu_tiny.h"
#include "pool.h"

/* Below so many unknowns KLU's own loops are as fast as those over supernodes. */
enum { SUPER_MIN_N = 500 };

/* From so many unknowns on an ordering takes 1 ms and more, and a matching of rows and columns a
 * small part of it. */
enum { ORDER_LATER_N = 1000 };

/* With so many multiplications per entry of L and U KLU's choice costs some two or three times
 * the plan of supernodes. */
enum { REST_WORK = 32 };

/* A list is planned at once for so few unknowns and products; a longer one when pivots have served
 * so often: planning takes what some 60 factorisations and solutions save. */
enum { LIST_SOON_N = 64, LIST_SOON_PAIRS = 4096, LIST_AFTER = 64 };

/* Pivots whose lists of operations are kept: those of operating points, of steps and of the first
 * steps behind a corner differ, and each run chooses the same ones again. */
enum { N_PLAN = 4 };

typedef struct klu {
    lu_fac head;
    klu_common common;
    pool *pool;            /* NULL: one thread */
    const csc_cut *rows;   /* of its threads */
    klu_symbolic *sym;     /* NULL: the ordering waits until factors, or a plan, ask for it */
    klu_numeric *num;      /* KLU's pivots; NULL: supernodes have them */
    lu_tiny *plan[N_PLAN]; /* the one used last first; NULL: none */
    lu_tiny *tiny;         /* not NULL: plan[0], its factors are the present ones */
    lu_super *super;       /* the plan for the last pivots; NULL: none */
    bool super_on;         /* its factors are the present ones */
    const csc *planned_of; /* another thread orders this, and plans for pivots on the diagonal;
                            * NULL: none does, */
    lu_super *planned;     /* and its plan; NULL: there is none */
    double plan_from;      /* its opt.share_from */
    bool later;            /* supernodes take over when pivots of KLU's serve again */
    bool off;              /* a pivot on the diagonal failed: KLU chooses from now on */
    lu_ordering ordering;  /* its work: with pivots on the diagonal */
    int32_t served;        /* refactorisations with these pivots */
    heap_owned own;        /* sym, num */
    double rcond_pivot;    /* rcond when the pivots were chosen, or last found good */
    /* where the factors come from, for k_image */
    double *pivot_val;  /* [nnz] values that the pivots were chosen for */
    double *scale_val;  /* [nnz] values that gave the rows' sizes after that, if `scaled` */
    bool scaled, again; /* again: there were other values since the pivots were chosen */
} klu;

/* Plans stay: the next pivots are mostly those of one of them. */
static void free_numeric(klu *f)
{
    f->tiny = NULL;
    f->super_on = f->later = false;
    f->served = 0;
    if (f->num)
        klu_free_numeric(&f->num, &f->common);
}

/* Frees what KLU allocated, which is the process' memory, not the simulator's heap. */
static void drop(void *what, size_t n)
{
    klu *f = what;
    (void)n;
    if (f->planned_of)
        pool_aside_quietly(f->pool);
    if (f->num)
        klu_free_numeric(&f->num, &f->common);
    if (f->sym)
        klu_free_symbolic(&f->sym, &f->common);
}

static void k_free(lu_fac *fac)
{
    klu *f = (klu *)fac;
    if (f->planned_of)
        pool_aside_quietly(f->pool);
    f->planned_of = NULL;
    lu_super_free(&f->planned);
    free_numeric(f);
    for (int k = 0; k < N_PLAN; k++)
        lu_tiny_free(&f->plan[k]);
    lu_super_free(&f->super);
    heap_disown(&f->own);
    drop(f, 0);
    vs_free(f->pivot_val);
    vs_free(f->scale_val);
    vs_free(f);
}

static void k_forget(lu_fac *fac)
{
    klu *f = (klu *)fac;
    free_numeric(f);
    f->off = false;
    if (f->super)
        lu_super_forget(f->super);
}

/* Room for a matrix's values, from the first factors on: many a solver makes none, and most have no
 * use for scale_val. */
static void make_values(klu *f, const csc *a)
{
    const size_t n = (size_t)csc_nnz(a) + 1;
    if (f->pivot_val)
        return;
    f->pivot_val = vs_malloc(n * sizeof *f->pivot_val);
    f->scale_val = vs_sparse(n, sizeof *f->scale_val);
}

/* KLU's ordering, by the threads of `by`. */
static void order(klu *f, const csc *a, pool *by)
{
    f->ordering = (lu_ordering){.pool = by};
    f->common.user_data = &f->ordering;
    f->sym = klu_analyze(a->n, a->colptr, a->row, &f->common);
}

/* Whether the ordering waits: a large matrix may get factors by Cholesky, or at rest, before these
 * are asked for, and another thread may have time for it (lu_plan). */
static bool may_wait(const lu_solver *lu, const csc *a)
{
    return lu->opt.kind == LU_AUTO && !lu->opt.at_rest && a->n >= ORDER_LATER_N &&
           lu_unmatched_column(a) < 0;
}

static vs_status k_analyze(lu_solver *lu, const csc *a, lu_fac **fac)
{
    klu *f = vs_calloc(1, sizeof *f);
    *fac = &f->head;
    heap_own(&f->own, drop, f);
    klu_defaults(&f->common);
    f->common.tol = lu->opt.pivot_tol;
    f->common.ordering = 3; /* user_order's */
    f->common.user_order = lu_order;
    f->common.scale = 2; /* rows by their largest entry: currents and voltages differ by decades */
    f->pool = lu->opt.pool;
    f->rows = lu->opt.rows;
    if (may_wait(lu, a))
        return VS_OK;
    order(f, a, f->pool);
    if (!f->sym)
        return f->common.status == KLU_SINGULAR ? VS_ESINGULAR : VS_ENOMEM;
    const int rank = f->sym->structural_rank;
    return rank >= 0 && rank < a->n ? VS_ESINGULAR : VS_OK;
}

/* The ordering, at last; another thread may have made it. */
static void need_order(klu *f, const csc *a)
{
    if (f->planned_of)
        pool_aside_end(f->pool);
    if (!f->sym)
        order(f, a, f->pool);
    if (!f->sym)
        vs_no_memory();
}

static const int32_t *pivot_rows(const klu *f)
{
    return f->num ? f->num->Pnum : lu_super_rows(f->super);
}

static const double *row_sizes(const klu *f)
{
    return f->num ? f->num->Rs : lu_super_scale(f->super);
}

/* The list of operations for the present pivots; NULL: too long. */
static lu_tiny *plan_of(klu *f, const csc *a, int32_t max_pairs)
{
    int k = 0;
    while (k < N_PLAN && f->plan[k] && !lu_tiny_fits(f->plan[k], pivot_rows(f), f->sym->Q))
        k++;
    const int at = k < N_PLAN ? k : N_PLAN - 1;
    lu_tiny *t = f->plan[at];
    if (t && k < N_PLAN && lu_tiny_pairs(t) > max_pairs)
        return NULL; /* what a run does must not depend on those before it */
    if (t && k < N_PLAN) {
        lu_tiny_set_scale(t, row_sizes(f));
    } else {
        lu_tiny_free(&f->plan[at]);
        t = lu_tiny_new(a, pivot_rows(f), f->sym->Q, row_sizes(f), max_pairs);
    }
    for (k = at; t && k > 0; k--)
        f->plan[k] = f->plan[k - 1];
    f->plan[0] = t ? t : f->plan[0];
    return t;
}

static bool wants_super(const lu_solver *lu, const csc *a)
{
    return lu->opt.kind == LU_AUTO && a->n >= SUPER_MIN_N;
}

static void plan_diagonal(void *user, int32_t i, int worker)
{
    klu *f = user;
    (void)i;
    (void)worker;
    if (!f->sym)
        order(f, f->planned_of, NULL); /* where there is no memory, need_order tells */
    if (f->sym)
        f->planned = lu_super_new(f->planned_of, f->sym, f->sym->P, (csc_team){f->pool, f->rows},
                                  f->plan_from, true);
}

void lu_klu_plan(lu_solver *lu, lu_fac *fac, const csc *a)
{
    klu *f = (klu *)fac;
    if (f->off || f->super || f->planned || !wants_super(lu, a))
        return;
    pool_aside_end(f->pool);
    f->planned_of = a;
    f->plan_from = lu->opt.share_from;
    pool_aside(f->pool, plan_diagonal, f);
}

/* A plan that another thread was to make, if it is one for pivots in these rows. */
static void take_planned(klu *f, const int32_t *rows)
{
    if (f->planned_of)
        pool_aside_end(f->pool);
    f->planned_of = NULL;
    if (f->planned && !f->super && lu_super_fits(f->planned, rows)) {
        f->super = f->planned;
        f->planned = NULL;
    }
    lu_super_free(&f->planned);
}

/* A plan of supernodes with pivots in these rows, sizes of rows from a; false: there is none. */
static bool plan_super(const lu_solver *lu, klu *f, const csc *a, const int32_t *rows)
{
    if (f->super && !lu_super_fits(f->super, rows))
        lu_super_free(&f->super);
    take_planned(f, rows);
    if (!f->super)
        f->super = lu_super_new(a, f->sym, rows, (csc_team){lu->opt.pool, lu->opt.rows},
                                lu->opt.share_from, !lu->opt.at_rest);
    if (f->super)
        lu_super_set_scale(f->super, a);
    return f->super;
}

/* Supernodes have the factors from now on, with KLU's pivots; on false: they do not. */
static void give_to_super(lu_solver *lu, klu *f, bool on)
{
    f->super_on = on;
    if (!on)
        return;
    lu->stat.method = "klu/supernodes";
    klu_free_numeric(&f->num, &f->common);
}

/* Faster factors with KLU's pivots, if the size is one for them. A search for an operating point
 * goes to other patterns and pivots: there a plan of supernodes waits until pivots serve again. */
static void specialise(lu_solver *lu, klu *f, const csc *a)
{
    const lu_kind kind = lu->opt.kind;
    lu->stat.method = "klu";
    if ((kind == LU_AUTO && a->n <= LIST_SOON_N) || kind == LU_TINY)
        f->tiny = plan_of(f, a, kind == LU_AUTO ? LIST_SOON_PAIRS : LU_TINY_MAX_PAIRS);
    if (f->tiny && !(lu_tiny_factor(f->tiny, a) > 0))
        f->tiny = NULL;
    if (f->tiny)
        lu->stat.method = "klu/tiny";
    if (!wants_super(lu, a))
        return;
    f->later = lu->opt.at_rest;
    give_to_super(
        lu, f, !f->later && plan_super(lu, f, a, f->num->Pnum) && lu_super_factor(f->super, a) > 0);
}

/* Supernodes take over from KLU's factors, which pivot_val had. */
static void specialise_now(lu_solver *lu, klu *f, const csc *a)
{
    csc then = *a;
    then.val = f->pivot_val;
    f->later = false;
    give_to_super(lu, f, plan_super(lu, f, &then, f->num->Pnum));
}

/* If the solver refuses fill: KLU gets memory for the entries that pivots on the diagonal need (and
 * two for each unknown), once. Where others fill the factors it asks for a multiple of it, which no
 * integer holds: KLU_TOO_LARGE. */
#define NO_MORE 1e12
static void factor_within(const lu_solver *lu, klu *f, const csc *a)
{
    klu_common *c = &f->common;
    const double begins = c->initmem_amd, grows = c->memgrow;
    if (lu->opt.refuse_fill && f->sym->lnz + f->sym->unz >= LU_REFUSE_FROM) {
        c->initmem_amd = 1;
        c->memgrow = NO_MORE;
    }
    f->num = klu_factor(a->colptr, a->row, a->val, f->sym, c);
    c->initmem_amd = begins;
    c->memgrow = grows;
}

static bool grows(const lu_solver *lu, klu *f, const csc *a)
{
    return klu_rgrowth(a->colptr, a->row, a->val, f->sym, f->num, &f->common) &&
           !(f->common.rgrowth >= lu->opt.growth_min);
}

/* Pivots on the diagonal keep fill small, and grow where gains stand in a row: the loop of a ring
 * of 51 inverters by 10 a stage. There the largest entry of each column is taken.
 * grown: this is known already. */
static void choose_pivots(const lu_solver *lu, klu *f, const csc *a, bool grown)
{
    if (!grown) {
        factor_within(lu, f, a);
        if (!f->num || !(f->common.tol < 1) || !grows(lu, f, a))
            return;
    }
    free_numeric(f);
    f->common.tol = 1;
    factor_within(lu, f, a);
    f->common.tol = lu->opt.pivot_tol;
}

/* Whether to factor with pivots on the diagonal before KLU is asked. At rest one may fail in a gate
 * at its threshold, and no other time: with a plan that is there trying costs little. */
static bool tries_diagonal(const lu_solver *lu, const klu *f, const csc *a)
{
    if (!wants_super(lu, a))
        return false;
    if (!lu->opt.at_rest)
        return !f->off;
    return f->off ? f->super && lu_super_fits(f->super, f->sym->P)
                  : f->ordering.work >= REST_WORK * (f->sym->lnz + f->sym->unz);
}

/* All pivots on the diagonal of the ordering; false: KLU has to choose. *grown: because these grow
 * too much. */
static bool take_diagonal(lu_solver *lu, klu *f, const csc *a, bool *grown)
{
    if (!tries_diagonal(lu, f, a) || !plan_super(lu, f, a, f->sym->P))
        return false;
    const double rcond = lu_super_factor_with(f->super, a, f->common.tol);
    *grown = rcond > 0 && f->common.tol < 1 && lu_super_grows_beyond(f->super, lu->opt.growth_min);
    f->super_on = rcond > 0 && !*grown;
    f->off = !f->super_on;
    if (f->off)
        return false;
    lu->stat.rcond = f->rcond_pivot = rcond;
    lu->stat.nnz_lu = (int32_t)lu_super_entries(f->super);
    lu->stat.work = lu_super_work(f->super);
    lu->stat.method = "klu/supernodes";
    return true;
}

static vs_status k_factor(lu_solver *lu, lu_fac *fac, const csc *a)
{
    klu *f = (klu *)fac;
    bool grown = false;
    need_order(f, a);
    make_values(f, a);
    memcpy(f->pivot_val, a->val, sizeof(double) * (size_t)csc_nnz(a));
    f->scaled = f->again = false;
    free_numeric(f);
    if (take_diagonal(lu, f, a, &grown))
        return VS_OK;
    choose_pivots(lu, f, a, grown);
    if (!f->num && lu->opt.refuse_fill && f->common.status == KLU_TOO_LARGE)
        return VS_NOCONV;
    if (!f->num && f->common.status != KLU_SINGULAR)
        return VS_ENOMEM;
    if (f->num)
        klu_rcond(f->sym, f->num, &f->common);
    if (!f->num || !(f->common.rcond > 0)) {
        const int col = f->num ? -1 : f->common.singular_col;
        lu->stat.singular = col >= 0 && col < a->n ? col : -1;
        free_numeric(f);
        return VS_ESINGULAR;
    }
    lu->stat.rcond = f->rcond_pivot = f->common.rcond;
    lu->stat.nnz_lu = f->num->lnz + f->num->unz;
    klu_flops(f->sym, f->num, &f->common);
    lu->stat.work = f->common.flops / 2;
    specialise(lu, f, a);
    return VS_OK;
}

/* New values in what has the pivots: sizes of rows, and unless supernodes have them already,
 * factors. Returns their rcond, 0: there are none. */
static double renew(klu *f, const csc *a)
{
    if (f->num) {
        const int ok = klu_refactor(a->colptr, a->row, a->val, f->sym, f->num, &f->common);
        if (!ok || f->common.status != KLU_OK)
            return 0;
        klu_rcond(f->sym, f->num, &f->common);
    } else {
        lu_super_set_scale(f->super, a);
        f->common.rcond = lu_super_factor(f->super, a);
        f->super_on = !f->tiny && f->common.rcond > 0;
    }
    if (f->tiny)
        lu_tiny_set_scale(f->tiny, row_sizes(f));
    return f->common.rcond;
}

/* The old pivots are good if the diagonal of U did not become much more uneven, or else if its
 * entries are not much larger than those of A (reciprocal growth). */
static bool pivots_are_good(lu_solver *lu, klu *f, const csc *a)
{
    const double rcond = lu->stat.rcond = renew(f, a);
    if (!(rcond > 0))
        return false;
    if (rcond >= lu->opt.rcond_drop * f->rcond_pivot)
        return true;
    if (f->num ? grows(lu, f, a) : lu_super_grows_beyond(f->super, lu->opt.growth_min))
        return false;
    f->rcond_pivot = rcond;
    return true;
}

/* These pivots will serve for long: by a list from now on, if it is not too long. */
static void use_list(lu_solver *lu, klu *f, const csc *a)
{
    if (lu->opt.kind != LU_AUTO || f->tiny)
        return;
    f->tiny = plan_of(f, a, LU_TINY_MAX_PAIRS);
    f->super_on = f->super_on && !f->tiny;
    if (f->tiny)
        lu->stat.method = "klu/tiny";
}

/* Whether the faster method gave factors whose pivots need no closer look. */
static bool special_is_good(lu_solver *lu, klu *f, const csc *a)
{
    if (!f->tiny && !f->super_on)
        return false;
    const double rcond = lu->stat.rcond =
        f->tiny ? lu_tiny_factor(f->tiny, a) : lu_super_factor(f->super, a);
    if (!(rcond > 0)) {
        f->tiny = NULL;
        f->super_on = false;
    }
    return rcond > 0 && rcond >= lu->opt.rcond_drop * f->rcond_pivot;
}

static vs_status k_refactor(lu_solver *lu, lu_fac *fac, const csc *a)
{
    klu *f = (klu *)fac;
    if (++f->served == LIST_AFTER)
        use_list(lu, f, a);
    if (f->later)
        specialise_now(lu, f, a);
    f->again = true;
    if (special_is_good(lu, f, a))
        return VS_OK;
    memcpy(f->scale_val, a->val, sizeof(double) * (size_t)csc_nnz(a));
    f->scaled = true;
    if (pivots_are_good(lu, f, a))
        return VS_OK;
    free_numeric(f);
    return VS_REPIVOT;
}

/* The last step of making factors again: those of the faster method, or KLU's own. */
static vs_status factor_now(lu_solver *lu, klu *f, const csc *now, bool tiny, bool super)
{
    bool ok = true;
    if (tiny)
        use_list(lu, f, now);
    else
        f->tiny = NULL;
    f->super_on &= super;
    if (tiny && f->tiny)
        (void)lu_tiny_factor(f->tiny, now);
    else if (super && f->super_on)
        (void)lu_super_factor(f->super, now);
    else if (!tiny && !super && f->num)
        ok = !f->again || klu_refactor(now->colptr, now->row, now->val, f->sym, f->num, &f->common);
    else
        ok = false;
    return ok ? VS_OK : VS_ESINGULAR;
}

/* The same pivots from the values that they were chosen for, then what happened to them since. */
static vs_status factor_as_then(lu_solver *lu, klu *f, const csc *now, bool tiny, bool super)
{
    csc then = *now;
    then.val = f->pivot_val;
    const bool scaled = f->scaled, again = f->again;
    const int32_t served = f->served;
    const vs_status st = k_factor(lu, &f->head, &then);
    f->served = served;
    f->scaled = scaled;
    f->again = again;
    if (st != VS_OK)
        return st;
    then.val = f->scale_val;
    if (scaled && !(renew(f, &then) > 0))
        return VS_ESINGULAR;
    return factor_now(lu, f, now, tiny, super);
}

static vs_status k_image(lu_solver *lu, lu_fac *fac, const csc *now, image *im)
{
    klu *f = (klu *)fac;
    bool tiny = f->tiny != NULL, super = f->super_on;
    double rcond = f->rcond_pivot;
    make_values(f, now);
    IMAGE_ARRAY(im, f->pivot_val, csc_nnz(now));
    IMAGE_COUNTED(im, f->served);
    IMAGE_ONE(im, f->again);
    IMAGE_ONE(im, f->scaled);
    if (f->scaled)
        IMAGE_ARRAY(im, f->scale_val, csc_nnz(now));
    IMAGE_ONE(im, tiny);
    IMAGE_ONE(im, super);
    IMAGE_ONE(im, rcond);
    if (!im->giving || im->wrong)
        return VS_OK;
    const vs_status st = factor_as_then(lu, f, now, tiny, super);
    f->rcond_pivot = rcond;
    return st;
}

/* The factors of supernodes stay as they are where nothing changed; if their pivots need a closer
 * look, all is done anew. */
static bool k_refactor_part(lu_solver *lu, lu_fac *fac, const csc *a, const lu_part *p)
{
    klu *f = (klu *)fac;
    if (!f->super_on)
        return false;
    const double rcond = lu_super_factor_part(f->super, a, p);
    if (!(rcond >= lu->opt.rcond_drop * f->rcond_pivot))
        return false;
    lu->stat.rcond = rcond;
    fac->made = lu_super_made(f->super);
    return true;
}

/* Of most unknowns a whole solution is faster: it does not look for what is to be done. */
static bool k_solve_part(lu_fac *fac, lu_part *p, const double *b, double *x)
{
    klu *f = (klu *)fac;
    if (!f->super_on || p->n > p->n_column / 2)
        return false;
    lu_super_solve_part(f->super, p, b, x);
    return true;
}

static void k_solve(lu_fac *fac, const double *b, double *x)
{
    klu *f = (klu *)fac;
    if (f->tiny) {
        lu_tiny_solve(f->tiny, b, x);
        return;
    }
    if (f->super_on) {
        lu_super_solve(f->super, b, x);
        return;
    }
    if (x != b)
        memcpy(x, b, sizeof(double) * (size_t)f->sym->n);
    klu_solve(f->sym, f->num, f->sym->n, 1, x, &f->common);
}

static void k_solve_coarse(lu_fac *fac, const double *b, double *x)
{
    klu *f = (klu *)fac;
    if (!f->tiny && f->super_on)
        lu_super_solve_coarse(f->super, b, x);
    else
        k_solve(fac, b, x);
}

static int32_t k_weakest(const lu_fac *fac)
{
    const klu *f = (const klu *)fac;
    if (f->tiny)
        return lu_tiny_weakest(f->tiny);
    if (f->super_on)
        return lu_super_weakest(f->super);
    const double *u = f->num->Udiag;
    int32_t at = -1;
    for (int32_t k = 0; k < f->sym->n; k++)
        if (at < 0 || fabs(u[k]) < fabs(u[at]))
            at = k;
    return at < 0 ? -1 : f->sym->Q[at];
}

static const double *k_values(const lu_fac *fac)
{
    const klu *f = (const klu *)fac;
    return f->super_on ? lu_super_values(f->super) : NULL;
}

const lu_method lu_method_klu = {
    "klu",    k_analyze, k_factor,        k_refactor,   k_solve,        k_weakest, k_free,
    k_forget, k_image,   k_refactor_part, k_solve_part, k_solve_coarse, k_values};
