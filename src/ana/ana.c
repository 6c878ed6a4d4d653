/* ana.c - the analysis object: work vectors, tolerances, options. See ana.h. */
#include <math.h>
#include <string.h>

#include "ana_priv.h"
#include "ckt_latent.h"

static_assert(ANA_TRAP == 0 && ANA_GEAR == 1, "words of option method");
static_assert(LU_AUTO == 0 && LU_KLU == 1 && LU_TINY == 2 && LU_UMFPACK == 3 && LU_DENSE == 4,
              "words of option lu");

#define PROGRESS_EVERY 0.05 /* s */
bool ana_tick(const ana *a, double *next, double fraction, double axis,
              void (*progress)(void *, double, double, const ana_stat *), bool (*stop)(void *),
              void *user)
{
    const double now = progress ? vs_seconds() : 0;
    if (progress && now >= *next) {
        *next = now + PROGRESS_EVERY;
        progress(user, fraction, axis, &a->st);
    }
    return stop && stop(user);
}

double ana_since(const ana *a, double t0)
{
    double dt = vs_seconds() - t0 - a->clock_cost;
    return dt > 0 ? dt : 0;
}

static double measure_clock(void)
{
    double least = 1;
    for (int i = 0; i < 16; i++) {
        double t0 = vs_seconds(), dt = vs_seconds() - t0;
        least = dt < least ? dt : least;
    }
    return least;
}

/* Vectors have a seat for each place of each cell: tran_latent.c permutes unknowns to cells. Those
 * of a large circuit are one block. Each begins at a line of the cache, STEP lines further in a
 * page than the one before: loops go through ten vectors at the same index, whose lines would share
 * the same few places of a near cache if all began alike. Very large ones are memory of their own,
 * of which latent parts of a circuit may use little. */
void ana_vectors(ana *a, double **const *v, size_t n)
{
    enum { STEP = 5, STEPS = 16, BLOCK = 1 << 10, LARGE = 1 << 20 };
    const size_t one = (size_t)CKT_SEATS(a->n), bytes = one * sizeof(double);
    if (bytes < BLOCK) {
        for (size_t i = 0; i < n; i++)
            *v[i] = arena_array(&a->mem, double, one);
        return;
    }
    size_t lines = (bytes + VS_LINE - 1) / VS_LINE;
    lines += (STEPS + STEP - lines % STEPS) % STEPS;
    const size_t all = n * lines * VS_LINE;
    double *at = NULL;
    if (bytes < LARGE) {
        at = arena_lines(&a->mem, all);
    } else {
        void *block = vs_sparse(all + VS_LINE, 1);
        arena_adopt(&a->mem, block, all + VS_LINE);
        at = vs_at_line(block);
    }
    for (size_t i = 0; i < n; i++)
        *v[i] = at + i * lines * (VS_LINE / sizeof(double));
}

double *ana_vector(ana *a)
{
    double *v;
    ana_vectors(a, (double **[]){&v}, 1);
    return v;
}

/* Voltages and currents obey the options; other natures (temperature, ...) their own tolerance. */
static void set_tolerances(ana *a)
{
    const option_set *o = &a->opt;
    for (int32_t i = 1; i <= a->n; i++) {
        const ckt_unknown *u = &a->u[i];
        bool other = u->kind == CKT_OTHER;
        a->tol_x[i] = u->kind == CKT_CURRENT ? o->abstol : o->vntol;
        a->tol_r[i] = u->node ? o->abstol : o->vntol;
        const ckt_tolerance t = other ? ckt_tolerance_of(a->c, i) : (ckt_tolerance){0, 0};
        if (t.x > 0)
            a->tol_x[i] = t.x;
        if (t.row > 0)
            a->tol_r[i] = t.row;
        a->gdiag[i] = u->node ? ckt_diag(a->c, i) : NULL;
    }
}

static void allocate(ana *a)
{
    double **v[] = {&a->f,      &a->q,      &a->fmax,    &a->qmax,    &a->r,     &a->ref,
                    &a->size,   &a->dx,     &a->dx_prev, &a->tol_x,   &a->tol_r, &a->f_prev,
                    &a->q_prev, &a->x_good, &a->x_try,   &a->x_start, &a->x_dc,  &a->x_doubtful};
    ana_vectors(a, v, VS_COUNT(v));
    a->gdiag = arena_array(&a->mem, double *, a->n + 1);
}

void ana_say_refused(const ana *a, const lu_solver *lu)
{
    const char *name = lu_kind_name(lu->opt.kind), *why = lu->stat.why;
    const char *which = lu->opt.kind == LU_CHOLESKY
                            ? " (it is for resistors and capacitors, with sources to ground)"
                            : "";
    if (why)
        diag_error(a->d, DIAG_NOWHERE,
                   "option lu=%s cannot solve this matrix of %d unknowns: %s%s; without the option "
                   "a method is chosen, and lu=klu solves all",
                   name, a->n, why, which);
    else
        diag_error(a->d, DIAG_NOWHERE,
                   "option lu=%s: the library for it is not installed; without the option a method "
                   "is chosen",
                   name);
}

vs_status ana_new(ana **out, ckt *c, const option_set *opt, diag *d)
{
    ana *a = *out = vs_calloc(1, sizeof *a);
    a->c = c;
    a->opt = *opt;
    a->d = d;
    a->n_all = ckt_n(c);
    ana_set_size(a, a->n_all, VOP_PADDED(a->n_all));
    a->u = ckt_unknowns(c);
    a->jac = ckt_pattern(c);
    a->st.op_method = "none";
    a->alpha_lu = NAN;
    a->inside = INFINITY;
    a->clock_cost = measure_clock();
    arena_init(&a->mem);
    allocate(a);
    set_tolerances(a);
    ckt_osdi_nodes(c, &a->far);
    ckt_soften(c, opt->rshunt > 0);
    lu_init(&a->lu, NULL);
    a->lu.opt.kind = (lu_kind)opt->lu;
    a->lu.opt.pool = ckt_pool(c);
    a->lu.opt.rows = ckt_cut(c);
    a->lu.opt.lopsided = ckt_has_gain(c);
    a->lu.opt.share_from = ckt_parallel_min(c) / 10; /* an entry takes as long as ten operations */
    vs_status st = VS_OK;
    if (!ckt_take_lu(c, (lu_kind)opt->lu, &a->lu)) {
        st = lu_analyze(&a->lu, a->jac);
        a->st.n_symbolic = 1;
    }
    if (st == VS_ESINGULAR && a->lu.stat.singular >= 0)
        diag_error(d, DIAG_NOWHERE, "the equations do not determine %s, whatever the values",
                   ana_unknown_text(a, a->lu.stat.singular + 1));
    else if (st == VS_ESINGULAR)
        diag_error(d, DIAG_NOWHERE, "the equations do not determine all unknowns");
    else if (st == VS_EUNSUPPORTED)
        ana_say_refused(a, &a->lu);
    if (st != VS_OK)
        ana_free(out);
    return st;
}

void ana_only_newton(ana *a) { a->only_newton = true; }

void ana_free(ana **p)
{
    ana *a = *p;
    if (!a)
        return;
    lu_near_free(&a->near.work);
    ckt_give_lu(a->c, &a->lu);
    vec_free(a->nodeset);
    vec_free(a->far);
    vec_free(a->ic);
    arena_fini(&a->mem);
    vs_free(a);
    *p = NULL;
}

const ana_stat *ana_stats(const ana *a) { return &a->st; }
bool ana_asked(ana *a)
{
    a->stopped = a->stopped || (a->stop && a->stop(a->stop_user));
    return a->stopped;
}

void ana_set_long_work(ana *a, void (*long_work)(void *user, bool begins), void *user)
{
    a->lu.opt.long_work = long_work;
    a->lu.opt.long_user = user;
}

void ana_lu_z_init(const ana *a, lu_z *lu)
{
    lu_z_init(lu);
    lu->long_work = a->lu.opt.long_work;
    lu->long_user = a->lu.opt.long_user;
}

void ana_set_stop(ana *a, bool (*stop)(void *user), void *user)
{
    a->stop = stop;
    a->stop_user = user;
}

void ana_set_verify(ana *a, ana_verified *v) { a->verify = v; }
void ana_set_watch(ana *a, const ana_watch *w) { a->watch = w; }

const char *ana_phase_name(ana_phase p)
{
    static const char *const name[] = {
#define X(name, text) text,
        ANA_PHASE_LIST(X)
#undef X
    };
    return name[p];
}

static ana_node_value *copy_values(ana_node_value *old, const ana_node_value *v, size_t n)
{
    vec_free(old);
    for (size_t i = 0; i < n; i++)
        vec_push(old, v[i]);
    return old;
}

void ana_set_nodeset(ana *a, const ana_node_value *v, size_t n)
{
    a->nodeset = copy_values(a->nodeset, v, n);
}

void ana_set_ic(ana *a, const ana_node_value *v, size_t n) { a->ic = copy_values(a->ic, v, n); }
