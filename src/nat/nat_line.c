/* nat_line.c - see nat_line.h. */
#include "nat_line.h"
#include "nat_complex.h"
#include "nat_past.h"

#include <math.h>
#include <string.h>

#define LEAST_GAIN 1e-6 /* an edge that arrives smaller needs no breakpoint */
#define SHORT 1e-9 /* resistance in dc, part of z: a line from a port to itself has a solution */

typedef struct line {
    const char *name;
    diag_span span;
    int32_t node[4]; /* p1 n1 p2 n2 */
    int32_t k[2];    /* current unknowns */
    double z, td, m;
    lossy *loss;      /* NULL: ideal */
    bool limited;     /* steps are shorter than td, so that corners arrive as corners */
    bool ic;          /* initial conditions are given: they hold in a start with uic */
    int32_t slot[16]; /* (p1,k1) (n1,k1) (p2,k2) (n2,k2); row k1: p1 n1 k1 p2 n2 k2; row k2
                       * likewise */
    past past;
    double t_last; /* NAN: none yet */
    nat_now eq;    /* at t_last, or the one that is held */
    nat_line_numbers numbers;
} line;

typedef struct side { /* of a derivative */
    int32_t line;
    line at[2]; /* with numbers below and above */
    double distance;
} side;

typedef struct lines {
    nat_set set;
    line *all;      /* vec */
    side *side;     /* vec */
    arena side_mem; /* initialised while there is one */
    bool uic;       /* nothing was solved before the start: lossy lines are empty */
    double leak;    /* S, across the first end, at rest; 0: none */
} lines;

static line *lines_of(const nat_set *s) { return ((const lines *)s)->all; }

static void free_sides(lines *o)
{
    for (size_t i = 0; i < vec_len(o->side); i++)
        for (int k = 0; k < 2; k++)
            past_free(&o->side[i].at[k].past);
    if (o->side)
        arena_fini(&o->side_mem);
    vec_free(o->side);
}

static void free_lines(nat_set *set)
{
    line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        past_free(&all[i].past);
    vec_free(((lines *)set)->all);
    free_sides((lines *)set);
}

static line *add_line(nat_list *l, const nat_line_opt *o)
{
    lines *to = (lines *)nat_need(l, NAT_LINE, sizeof *to);
    line n = {.name = o->name, .m = o->m, .span = o->span, .t_last = NAN};
    memcpy(n.node, o->node, sizeof n.node);
    memcpy(n.k, o->k, sizeof n.k);
    vec_push(to->all, n);
    return &vec_last(to->all);
}

void nat_line_add(nat_list *l, const nat_line_opt *o, double z, double td)
{
    assert(z > 0 && td > 0);
    line *n = add_line(l, o);
    n->numbers = (nat_line_numbers){.z = z, .td = td, .m = o->m};
    n->z = z;
    n->td = td;
    n->limited = true;
}

static void make_lossy(line *n, const nat_lossy_opt *w, arena *mem)
{
    rlgc r;
    rlgc_make(&r, w->r, w->l, w->g, w->c, w->t_end, mem);
    n->loss = lossy_new(&r, mem);
    n->z = r.z;
    n->td = r.delay;
    n->limited = w->limited && r.gain >= LEAST_GAIN && r.delay > 0;
    n->ic = w->ic;
}

void nat_lossy_add(nat_list *l, const nat_line_opt *o, const nat_lossy_opt *w)
{
    line *n = add_line(l, o);
    n->numbers = (nat_line_numbers){.m = o->m, .lossy = *w};
    make_lossy(n, w, l->host.mem);
}

static int32_t count(const nat_set *set) { return (int32_t)vec_len(lines_of(set)); }

static nat_device at(const nat_set *set, int32_t i)
{
    const line *l = &lines_of(set)[i];
    return (nat_device){l->name, l->span, l->node, 4, true, false};
}

/* The rows of ports of lines, which have memory. */
static void charges(const nat_set *set, int32_t **row)
{
    const line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        const line *l = &all[i];
        if (!l->loss || lossy_rlgc(l->loss)->n == 0)
            continue;
        const bool on_current = lossy_rlgc(l->loss)->on_current;
        for (int j = 0; j < 4; j++)
            vec_push(*row, on_current ? l->k[j / 2] : l->node[j]);
    }
}

static void uic(nat_set *set) { ((lines *)set)->uic = true; }

static bool leak(nat_set *set, double gmin)
{
    double *g = &((lines *)set)->leak;
    const bool is_new = *g == 0;
    *g = gmin;
    return is_new;
}

/* -- pattern -- */

/* Entry k of a line in the order of line.slot. */
static csc_entry entry(const line *l, int k)
{
    if (k < 4)
        return csc_entry_of(l->node[k], l->k[k / 2]);
    const int row = (k - 4) / 6, j = (k - 4) % 6;
    const int port = j < 3 ? row : 1 - row;
    const int32_t col = j % 3 == 2 ? l->k[port] : l->node[2 * port + j % 3];
    return csc_entry_of(l->k[row], col);
}

static void entries(const nat_set *set, bool reactive, csc_entry **e)
{
    const line *all = lines_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++)
        for (int k = 0; k < 16; k++)
            vec_push(*e, entry(&all[i], k));
}

static void place(nat_set *set, const csc *a, bool reactive)
{
    line *all = lines_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++)
        for (int k = 0; k < 16; k++)
            all[i].slot[k] = csc_slot(a, entry(&all[i], k));
}

/* -- history -- */

/* The equation at a time; the same time as in the last call costs nothing. */
static const nat_now *equation_at(line *l, double t)
{
    if (l->t_last == t)
        return &l->eq;
    const double a[2] = {past_at(&l->past, 0, t - l->td), past_at(&l->past, 1, t - l->td)};
    if (l->loss)
        l->eq = lossy_equation(l->loss, t, l->past.point, a);
    else
        l->eq = (nat_now){.cv = 1, .ci = 1, .s = {-a[1], -a[0]}};
    l->t_last = t;
    return &l->eq;
}

/* -- loads -- */

/* Coefficients of a port's row: its own v and i, those of the other port. */
typedef struct row {
    double v, i, v_other, i_other;
} row;

static void load_row(const line *l, int p, const row *w, const double *x, double *f, double *fmax,
                     double *val)
{
    const int32_t *own = &l->node[2 * p], *other = &l->node[2 - 2 * p], *slot = &l->slot[4 + 6 * p];
    const int32_t column[6] = {own[0], own[1], l->k[p], other[0], other[1], l->k[1 - p]};
    const double value[6] = {w->v, -w->v, w->i, w->v_other, -w->v_other, w->i_other};
    for (int j = 0; j < 6; j++) {
        if (value[j] == 0)
            continue;
        nat_add(f, fmax, l->k[p], value[j] * x[column[j]]);
        val[slot[j]] += value[j];
    }
}

/* leak: S, across the first end. */
static void static_rows(const line *l, double leak, row w[2])
{
    const rlgc *o = l->loss ? lossy_rlgc(l->loss) : NULL;
    w[0] = (row){1, -SHORT * l->z, -1, 0}; /* v_1 = v_2, i_1 + i_2 = 0 */
    w[1] = (row){0, l->z, -leak * l->z, l->z};
    if (o) {
        double complex a, b;
        rlgc_hyperbolic(rlgc_lambda(o, 0), &a, &b);
        w[0] =
            o->r > 0 ? (row){creal(a), -o->r, -creal(b), 0} : (row){o->g, -creal(a), 0, -creal(b)};
        w[1] = w[0];
        w[0].v -= o->r > 0 ? -leak * o->r : 0;
    }
}

static void load_static(const line *l, double leak, const double *x, double *f, double *fmax,
                        double *val)
{
    row w[2];
    static_rows(l, leak, w);
    for (int p = 0; p < 2; p++)
        load_row(l, p, &w[p], x, f, fmax, val);
}

static row row_of(const line *l, const nat_now *e)
{
    return (row){e->cv, -e->ci * l->z, -e->k * e->cv, -e->k * e->ci * l->z};
}

static void load_tran(const line *l, const nat_now *e, const double *x, double *f, double *fmax,
                      double *val)
{
    const row w = row_of(l, e);
    for (int p = 0; p < 2; p++) {
        load_row(l, p, &w, x, f, fmax, val);
        nat_add(f, fmax, l->k[p], e->s[p]);
    }
}

/* Load for a periodic state: the part of the equations that is the same at all frequencies, as in
 * load_ac. */
static void load_steady(const line *l, const double *x, double *f, double *fmax, double *val)
{
    const row w = {1, -l->z, 0, 0};
    for (int p = 0; p < 2 && !l->loss; p++)
        load_row(l, p, &w, x, f, fmax, val);
}

static void load_currents(const line *l, const double *x, double *f, double *fmax, double *val)
{
    for (int j = 0; j < 4; j++) {
        const double sign = j % 2 ? -l->m : l->m;
        nat_add(f, fmax, l->node[j], sign * x[l->k[j / 2]]);
        val[l->slot[j]] += sign;
    }
}

/* As made: what an earlier run left is no past of the next one. */
static void fresh_line(line *l)
{
    past_clear(&l->past);
    if (l->loss)
        lossy_fresh(l->loss);
    l->t_last = NAN;
}

static void load(nat_set *set, const nat_env *env, const double *x, nat_sums *to)
{
    line *all = lines_of(set);
    double leak = ((lines *)set)->leak;
    if (leak > 0 && env->gmin > 0)
        leak = env->gmin;
    if (env->mode == NAT_STATIC)
        ((lines *)set)->uic = false;
    for (size_t i = 0; i < vec_len(all); i++) {
        line *l = &all[i];
        load_currents(l, x, to->f, to->fmax, to->val);
        if (env->initial_step && env->mode == NAT_TRAN && !env->held)
            fresh_line(l);
        if (env->mode == NAT_STATIC)
            load_static(l, leak, x, to->f, to->fmax, to->val);
        else if (env->steady)
            load_steady(l, x, to->f, to->fmax, to->val);
        else
            load_tran(l, env->held ? &l->eq : equation_at(l, env->time), x, to->f, to->fmax,
                      to->val);
        /* a corner is seen one point later, which must not be td later */
        if (l->limited && l->td / 2 < to->bound)
            to->bound = l->td / 2;
    }
}

static void terms(nat_set *set, const nat_env *env, double *to)
{
    line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all) && env->mode == NAT_TRAN && !env->steady; i++) {
        const nat_now *e = env->held ? &all[i].eq : equation_at(&all[i], env->time);
        to[all[i].k[0]] += e->s[0];
        to[all[i].k[1]] += e->s[1];
    }
}

/* Load for .ac: the part of the equations that is the same at all frequencies. For a held equation
 * all of it. */
static void load_ac(nat_set *set, const nat_env *env, const double *x, nat_ac *to)
{
    const line *all = lines_of(set);
    (void)x;
    for (size_t i = 0; i < vec_len(all); i++) {
        const line *l = &all[i];
        for (int j = 0; j < 4; j++)
            to->g[l->slot[j]] += j % 2 ? -l->m : l->m;
        const row w = env->held ? row_of(l, &l->eq) : (row){1, -l->z, 0, 0};
        for (int p = 0; p < 2 && (env->held || !l->loss); p++) {
            const double value[6] = {w.v, -w.v, w.i, w.v_other, -w.v_other, w.i_other};
            for (int j = 0; j < 6; j++)
                to->g[l->slot[4 + 6 * p + j]] += value[j];
        }
    }
}

static nat_memory memory(const nat_set *set, int32_t i)
{
    const line *l = &lines_of(set)[i];
    nat_memory m = {
        .name = l->name, .z = l->z, .delay = l->td, .loss = l->loss ? lossy_rlgc(l->loss) : NULL};
    memcpy(m.node, l->node, sizeof m.node);
    memcpy(m.k, l->k, sizeof m.k);
    return m;
}

static void hold(nat_set *set, int32_t i, const nat_now *now)
{
    line *l = &lines_of(set)[i];
    l->eq = *now;
    l->t_last = NAN;
}

/* Waves lose digits where lambda is small, hyperbolic functions have poles where it is near a
 * multiple of j pi. */
static bool is_short(const rlgc *o, double complex s) { return cabs(rlgc_lambda(o, s)) < 0.5; }

/* Coefficients of a lossy line's row: v, i of its own port, of the other one. */
static void lossy_row(const rlgc *o, double complex s, bool as_short, double complex w[4])
{
    const double complex lambda = rlgc_lambda(o, s), y = rlgc_y(o, s), e = cexp(-lambda);
    double complex a, b;
    if (as_short) {
        rlgc_hyperbolic(lambda, &a, &b);
        w[0] = o->on_current ? o->g + s * o->c : a;
        w[1] = o->on_current ? -a : -(o->r + s * o->l);
        w[2] = o->on_current ? 0 : -b;
        w[3] = o->on_current ? -b : 0;
        return;
    }
    w[0] = o->on_current ? 1 : y;
    w[1] = o->on_current ? -y * o->z : -o->z;
    w[2] = -e * w[0];
    w[3] = e * w[1];
}

/* Derivatives of these coefficients by ln s; s is not 0. With `turn` that of ln lambda, those of
 * lambda coth(lambda) = a and lambda/sinh(lambda) = b are (a - b^2) turn and b (1 - a) turn. */
static void lossy_slope(const rlgc *o, double complex s, double complex w[4])
{
    const double complex lambda = rlgc_lambda(o, s), e = cexp(-lambda);
    const double complex series = s * o->l / (o->r + s * o->l),
                         across = s * o->c / (o->g + s * o->c);
    const double complex turn = 0.5 * (series + across);
    if (is_short(o, s)) {
        double complex a, b;
        rlgc_hyperbolic(lambda, &a, &b);
        const double complex da = (a - b * b) * turn, db = b * (1 - a) * turn;
        w[0] = o->on_current ? s * o->c : da;
        w[1] = o->on_current ? -da : -s * o->l;
        w[2] = o->on_current ? 0 : -db;
        w[3] = o->on_current ? -db : 0;
        return;
    }
    double complex now[4];
    lossy_row(o, s, false, now);
    const double complex dy =
        rlgc_y(o, s) * 0.5 * (o->on_current ? series - across : across - series);
    w[0] = o->on_current ? 0 : dy;
    w[1] = o->on_current ? -dy * o->z : 0;
    w[2] = -lambda * turn * now[2] - e * w[0];
    w[3] = -lambda * turn * now[3] + e * w[1];
}

/* Adds the coefficients w of both rows, each with its own port first. */
static void add_rows(const line *l, const double complex w[4], const csc *a, double *val)
{
    for (int p = 0; p < 2; p++)
        for (int j = 0; j < 6; j++) {
            const int32_t k = j % 3 == 2 ? 1 : 0;
            nat_add_complex(a, val, l->slot[4 + 6 * p + j],
                            (j % 3 == 1 ? -1 : 1) * w[j / 3 * 2 + k]);
        }
}

/* At 0 Hz: the rows' sum becomes -2 z (i_1 + i_2 - leak v_1), or -r (...) of a lossy line. */
static void add_leak(const line *l, double leak, const csc *a, double *val)
{
    const double r = l->loss ? lossy_rlgc(l->loss)->r : l->z;
    const int32_t *own = &l->slot[4], *other = &l->slot[13]; /* columns p1, n1 */
    for (int j = 0; j < 2; j++) {
        nat_add_complex(a, val, own[j], j ? -leak * r : leak * r);
        if (!l->loss)
            nat_add_complex(a, val, other[j], j ? -leak * r : leak * r);
    }
}

static void at_omega(const nat_set *set, double omega, const csc *a, double *val)
{
    const line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        const line *l = &all[i];
        const double complex e = cexp(-I * omega * l->td);
        double complex w[4] = {0, 0, -e, -e * l->z};
        if (l->loss)
            lossy_row(lossy_rlgc(l->loss), I * omega, is_short(lossy_rlgc(l->loss), I * omega), w);
        add_rows(l, w, a, val);
        if (omega == 0)
            add_leak(l, ((const lines *)set)->leak, a, val);
    }
}

static void by_omega(const nat_set *set, double omega, const csc *a, double *val)
{
    const line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all) && omega != 0; i++) {
        const line *l = &all[i];
        const double complex turn = I * omega * l->td, e = turn * cexp(-turn);
        double complex w[4] = {0, 0, e, e * l->z};
        if (l->loss)
            lossy_slope(lossy_rlgc(l->loss), I * omega, w);
        add_rows(l, w, a, val);
    }
}

/* -- accepted points -- */

/* Voltage and z times the current of each port. */
static void port_state(const line *l, const double *x, double v[2], double zi[2])
{
    for (int p = 0; p < 2; p++) {
        v[p] = x[l->node[2 * p]] - x[l->node[2 * p + 1]];
        zi[p] = l->z * x[l->k[p]];
    }
}

static void start_line(line *l, double t, const double *x, bool uic)
{
    const double zero[2] = {0, 0};
    double v[2], zi[2];
    past_clear(&l->past);
    port_state(l, x, v, zi);
    const bool empty = uic && !l->ic;
    if (l->loss)
        lossy_start(l->loss, t, v, zi, empty ? zero : v, empty ? zero : zi);
}

static void accept_line(line *l, const nat_env *env, const double *x, bool corner, bool uic)
{
    if (env->initial_step)
        start_line(l, env->time, x, uic);
    line_point p = {.t = env->time, .corner = corner || env->initial_step};
    double v[2], zi[2];
    port_state(l, x, v, zi);
    if (l->loss && !env->initial_step)
        lossy_accept(l->loss, env->time, l->past.point, v, zi, p.a);
    else if (l->loss)
        lossy_wave(l->loss, p.a);
    for (int j = 0; j < 2 && !l->loss; j++)
        p.a[j] = v[j] + zi[j];
    past_add(&l->past, &p, l->limited ? l->td : 0, env->reltol);
    l->t_last = NAN;
    past_forget(&l->past, env->time - l->td, env->time);
}

static vs_status accept(nat_set *set, const nat_env *env, const double *x, bool corner)
{
    lines *o = (lines *)set;
    for (size_t i = 0; i < vec_len(o->all) && env->mode == NAT_TRAN; i++)
        accept_line(&o->all[i], env, x, corner, o->uic);
    for (size_t i = 0; i < vec_len(o->side) && env->mode == NAT_TRAN; i++)
        for (int k = 0; k < 2; k++)
            accept_line(&o->side[i].at[k], env, x, corner, o->uic);
    return VS_OK;
}

static double next_break(nat_set *set, double t)
{
    double best = INFINITY;
    const line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        best = fmin(best, past_next_break(&all[i].past, t));
    return best;
}

static void fresh(nat_set *set)
{
    line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        fresh_line(&all[i]);
    for (size_t i = 0; i < vec_len(((lines *)set)->side); i++)
        for (int k = 0; k < 2; k++)
            fresh_line(&((lines *)set)->side[i].at[k]);
    ((lines *)set)->uic = false;
}

static void line_image(line *l, image *im)
{
    past_image(&l->past, im);
    if (l->loss)
        lossy_image(l->loss, im);
    l->t_last = NAN;
}

/* The equation of the last time asked for is made again from the rest. */
static void take_image(nat_set *set, image *im)
{
    line *all = lines_of(set);
    IMAGE_ONE(im, ((lines *)set)->uic);
    for (size_t i = 0; i < vec_len(all); i++)
        line_image(&all[i], im);
    for (size_t i = 0; i < vec_len(((lines *)set)->side); i++)
        for (int k = 0; k < 2; k++)
            line_image(&((lines *)set)->side[i].at[k], im);
}

static void identity(const nat_set *set, image *im)
{
    static const char other[] = "it is of a circuit with other lines";
    const line *all = lines_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        const line *l = &all[i];
        const rlgc *r = l->loss ? lossy_rlgc(l->loss) : NULL;
        const double what[] = {l->z,         l->td,        l->m,         r ? r->r : 0,
                               r ? r->l : 0, r ? r->g : 0, r ? r->c : 0, r ? r->n : 0};
        IMAGE_SAME(im, what, other);
        IMAGE_SAME(im, l->node, other);
    }
}

/* -- derivatives by numbers -- */

static const lines *set_of(const nat_list *l) { return (const lines *)l->set[NAT_LINE]; }

int32_t nat_n_line(const nat_list *l)
{
    return l->set[NAT_LINE] ? (int32_t)vec_len(set_of(l)->all) : 0;
}

nat_line_numbers nat_line_numbers_of(const nat_list *l, int32_t i)
{
    return set_of(l)->all[i].numbers;
}

const char *nat_line_name(const nat_list *l, int32_t i) { return set_of(l)->all[i].name; }

/* Rows of lossy lines are on voltages or currents, whichever has the smaller filter. */
static bool same_form(const line *a, const line *b)
{
    return !a->loss == !b->loss &&
           (!a->loss || lossy_rlgc(a->loss)->on_current == lossy_rlgc(b->loss)->on_current);
}

static line make_side(const line *of, const nat_line_numbers *n, arena *mem)
{
    line s = *of;
    s.past = (past){0};
    s.loss = NULL;
    s.t_last = NAN;
    s.numbers = *n;
    s.m = n->m;
    s.z = n->z;
    s.td = n->td;
    if (!(n->z > 0))
        make_lossy(&s, &n->lossy, mem);
    s.limited = false; /* its corners make no breakpoints */
    return s;
}

const char *nat_line_side(nat_list *l, int32_t i, const nat_line_numbers n[2], double distance)
{
    lines *o = (lines *)l->set[NAT_LINE];
    const line *of = &o->all[i];
    if (!o->side)
        arena_init(&o->side_mem);
    side s = {.line = i, .distance = distance};
    for (int k = 0; k < 2; k++)
        s.at[k] = make_side(of, &n[k], &o->side_mem);
    vec_push(o->side, s);
    if (!same_form(&s.at[0], of) || !same_form(&s.at[1], of))
        return of->loss ? "its equations have another form beside r/l = g/c"
                        : "it has no losses, and lines with losses have equations of another form";
    return NULL;
}

void nat_line_no_sides(nat_list *l)
{
    if (l->set[NAT_LINE])
        free_sides((lines *)l->set[NAT_LINE]);
}

/* The wave of a port one delay before t, in the piece in which the line `of` looks for it, before
 * (-1) or behind (1) a corner that stands at just that time. */
static double delayed(const line *l, const line *of, int port, double t, int which)
{
    const line_point *p = l->past.point;
    size_t first;
    double w[3], sum = 0;
    if (!vec_len(p))
        return 0;
    const int count = past_points(p, vec_len(p), t - of->td + which * PAST_SAME * fabs(t), &first);
    past_weights(p + first, count, t - l->td, w);
    for (int k = 0; k < count; k++)
        sum += w[k] * p[first + (size_t)k].a[port];
    return sum;
}

/* Sums of the rows of a side at t and, to jump, what they have more behind a corner. */
static void side_rows(line *l, const line *of, double t, const double *x, double rows[2],
                      double jump[2])
{
    double v[2], zi[2], a[2], behind[2];
    port_state(l, x, v, zi);
    for (int p = 0; p < 2; p++) {
        a[p] = delayed(l, of, p, t, -1);
        behind[p] = delayed(l, of, p, t, 1) - a[p];
    }
    const nat_now e = l->loss ? lossy_equation(l->loss, t, l->past.point, a)
                              : (nat_now){.cv = 1, .ci = 1, .s = {-a[1], -a[0]}};
    const double gain = l->loss ? lossy_rlgc(l->loss)->gain : 1;
    for (int p = 0; p < 2; p++) {
        const int q = 1 - p;
        rows[p] = e.cv * v[p] - e.ci * zi[p] - e.k * (e.cv * v[q] + e.ci * zi[q]) + e.s[p];
        jump[p] = -gain * behind[q];
    }
}

static size_t n_note(const nat_set *set)
{
    return NAT_LINE_NOTE * vec_len(((const lines *)set)->side);
}

static void note(nat_set *set, double t, const double *x, double *to)
{
    lines *o = (lines *)set;
    for (size_t i = 0; i < vec_len(o->side); i++, to += NAT_LINE_NOTE) {
        side *s = &o->side[i];
        double rows[2][2], jump[2][2];
        for (int k = 0; k < 2; k++)
            side_rows(&s->at[k], &o->all[s->line], t, x, rows[k], jump[k]);
        for (int p = 0; p < 2; p++) {
            to[p] = (rows[1][p] - rows[0][p]) / s->distance;
            to[2 + p] = (jump[1][p] - jump[0][p]) / s->distance;
        }
    }
}

static double static_row(const line *l, const row *w, int p, const double *x)
{
    double v[2], zi[2];
    port_state(l, x, v, zi);
    return w->v * v[p] + w->i * x[l->k[p]] + w->v_other * v[1 - p] + w->i_other * x[l->k[1 - p]];
}

double nat_line_side_sum(const nat_list *l, int32_t i, const double *x, const double *noted,
                         bool behind, const double *lambda)
{
    const side *s = &set_of(l)->side[i];
    const line *of = &set_of(l)->all[s->line];
    const double by_m = behind ? 0 : (s->at[1].m - s->at[0].m) / s->distance;
    double sum = 0;
    row w[2][2];
    for (int k = 0; k < 2; k++)
        static_rows(&s->at[k], 0, w[k]);
    for (int p = 0; p < 2; p++) {
        const double d =
            noted ? noted[behind ? 2 + p : p]
                  : (static_row(of, &w[1][p], p, x) - static_row(of, &w[0][p], p, x)) / s->distance;
        sum += lambda[of->k[p]] * d;
        for (int j = 0; j < 2; j++)
            if (of->node[2 * p + j])
                sum += (j ? -1 : 1) * by_m * x[of->k[p]] * lambda[of->node[2 * p + j]];
    }
    return sum;
}

/* The row of port p of a line, in the form that the line `of` has. */
static double complex phasor_row(const line *l, const line *of, int p, double omega,
                                 const double complex *z)
{
    const double complex e = cexp(-I * omega * l->td);
    double complex w[4] = {1, -l->z, -e, -e * l->z}, sum = 0;
    if (l->loss)
        lossy_row(lossy_rlgc(l->loss), I * omega, is_short(lossy_rlgc(of->loss), I * omega), w);
    for (int k = 0; k < 2; k++) {
        const int port = k ? 1 - p : p;
        sum += w[2 * k] * (z[l->node[2 * port]] - z[l->node[2 * port + 1]]) +
               w[2 * k + 1] * z[l->k[port]];
    }
    return sum;
}

double complex nat_line_side_phasor(const nat_list *l, int32_t i, double omega,
                                    const double complex *y, const double complex *z)
{
    const side *s = &set_of(l)->side[i];
    const line *of = &set_of(l)->all[s->line];
    const double by_m = (s->at[1].m - s->at[0].m) / s->distance;
    double complex sum = 0;
    for (int p = 0; p < 2; p++) {
        sum += y[of->k[p]] *
               (phasor_row(&s->at[1], of, p, omega, z) - phasor_row(&s->at[0], of, p, omega, z)) /
               s->distance;
        sum += by_m * z[of->k[p]] * (y[of->node[2 * p]] - y[of->node[2 * p + 1]]);
    }
    return sum;
}

const nat_kind nat_line_kind = {
    .name = "line",
    .remembers = true,
    .no_redo = "transmission lines",
    .free = free_lines,
    .count = count,
    .at = at,
    .entries = entries,
    .place = place,
    .charges = charges,
    .load = load,
    .terms = terms,
    .load_ac = load_ac,
    .at_omega = at_omega,
    .by_omega = by_omega,
    .memory = memory,
    .n_note = n_note,
    .note = note,
    .hold = hold,
    .accept = accept,
    .next_break = next_break,
    .fresh = fresh,
    .uic = uic,
    .leak = leak,
    .image = take_image,
    .identity = identity,
};
