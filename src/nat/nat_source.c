/* nat_source.c - see nat_source.h. */
#include "nat_source.h"

#include <string.h>

#include "hot.h"

/* -- building -- */

nat_sources *nat_sources_of(nat_list *l)
{
    return (nat_sources *)nat_need(l, NAT_SOURCE, sizeof(nat_sources));
}

void nat_source_forget(nat_sources *s, wave *w)
{
    if (w->kind != WAVE_TRNOISE)
        return;
    if (!w->memo)
        w->memo = arena_array(s->set.host->mem, double, 3);
    w->memo[0] = NAN;
}

void nat_source_add(nat_list *l, const nat_source *from)
{
    nat_sources *all = nat_sources_of(l);
    nat_source s = *from;
    s.brk_from = s.brk = 0;
    s.t_last = NAN;
    double *arg = arena_array(l->host.mem, double, s.w.n_arg);
    if (s.w.n_arg)
        memcpy(arg, s.w.arg, (size_t)s.w.n_arg * sizeof(double));
    s.w.arg = arg;
    nat_source_forget(all, &s.w);
    vec_push(all->all, s);
}

static void free_sources(nat_set *set) { vec_free(((nat_sources *)set)->all); }

static int32_t count(const nat_set *set)
{
    return (int32_t)vec_len(((const nat_sources *)set)->all);
}

static nat_device at(const nat_set *set, int32_t i)
{
    const nat_source *s = &((const nat_sources *)set)->all[i];
    return (nat_device){s->name, s->span, s->node, 2, true, false};
}

/* -- pattern -- */

static csc_entry entry(const nat_source *s, int i)
{
    return i < 2 ? csc_entry_of(s->node[i], s->k) : csc_entry_of(s->k, s->node[i - 2]);
}

static void entries(const nat_set *set, bool reactive, csc_entry **e)
{
    const nat_source *all = ((const nat_sources *)set)->all;
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++)
        for (int k = 0; all[i].is_v && k < 4; k++)
            vec_push(*e, entry(&all[i], k));
}

static void place(nat_set *set, const csc *a, bool reactive)
{
    nat_source *all = ((nat_sources *)set)->all;
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++)
        for (int k = 0; k < 4; k++)
            all[i].slot[k] = all[i].is_v ? csc_slot(a, entry(&all[i], k)) : csc_nnz(a);
}

/* -- loads -- */

double nat_source_at(const nat_source *s, double t)
{
    return s->own.value ? s->own.value(s->own.user, t) : wave_value(&s->w, t);
}

static double own_value(nat_source *s, const nat_env *env)
{
    const double t = env->mode == NAT_STATIC ? 0 : env->time;
    if (s->t_last != t) {
        s->v_last = s->own.value(s->own.user, t);
        s->t_last = t;
    }
    return env->srcfact * s->v_last;
}

double nat_source_find(nat_source *s, const nat_env *env)
{
    if (s->own.value)
        return own_value(s, env);
    if (env->mode == NAT_STATIC && !env->tran_op)
        return env->srcfact * wave_dc(&s->w);
    if (s->w.kind == WAVE_DC)
        return env->srcfact * s->w.dc;
    if (s->t_last != env->time) {
        s->v_last = wave_value(&s->w, env->time);
        s->t_last = env->time;
    }
    return env->srcfact * s->v_last;
}

void nat_source_stamp(const nat_source *s, double *val)
{
    val[s->slot[0]] += s->m;
    val[s->slot[1]] -= s->m;
    val[s->slot[2]] += 1;
    val[s->slot[3]] -= 1;
}

static double larger(double a, double b) { return a > b ? a : b; } /* fmax is a call */

static void load_one(nat_source *s, const nat_env *env, const double *x, nat_sums *to)
{
    const double e = nat_source_value(s, env);
    if (!s->is_v) {
        nat_add(to->f, to->fmax, s->p, s->m * e);
        nat_add(to->f, to->fmax, s->n, -s->m * e);
        return;
    }
    const double i = s->m * x[s->k];
    nat_add(to->f, to->fmax, s->p, i);
    nat_add(to->f, to->fmax, s->n, -i);
    to->f[s->k] += x[s->p] - x[s->n] - e;
    to->fmax[s->k] = larger(fabs(x[s->p]), larger(fabs(x[s->n]), fabs(e)));
    nat_source_stamp(s, to->val);
}

static void load(nat_set *set, const nat_env *env, const double *x, nat_sums *to)
{
    nat_source *all = ((nat_sources *)set)->all;
    for (size_t i = 0; i < vec_len(all); i++)
        load_one(&all[i], env, x, to);
}

VS_HOT void nat_source_terms(const nat_sources *all, const nat_env *env, double *to)
{
    for (nat_source *s = all->all, *end = s + vec_len(s); s < end; s++) {
        const double e = nat_source_value(s, env);
        if (s->is_v) {
            to[s->k] -= e;
        } else {
            to[s->p] += s->m * e;
            to[s->n] -= s->m * e;
        }
    }
}

static void terms(nat_set *set, const nat_env *env, double *to)
{
    nat_source_terms((const nat_sources *)set, env, to);
}

static void load_ac(nat_set *set, const nat_env *env, const double *x, nat_ac *to)
{
    const nat_source *all = ((nat_sources *)set)->all;
    (void)env;
    (void)x;
    for (size_t i = 0; i < vec_len(all); i++)
        if (all[i].is_v)
            nat_source_stamp(&all[i], to->g);
}

/* A phasor mag at phase degrees. */
static void drive(const nat_set *set, double *b)
{
    const nat_source *all = ((const nat_sources *)set)->all;
    for (size_t i = 0; i < vec_len(all); i++) {
        const nat_source *s = &all[i];
        const double mag = s->w.ac_mag, a = s->w.ac_phase * (acos(-1) / 180);
        const double e[2] = {s->w.ac_phase == 0 ? mag : mag * cos(a),
                             s->w.ac_phase == 0 ? 0 : mag * sin(a)};
        for (int k = 0; k < 2; k++) {
            if (s->is_v) {
                b[2 * s->k + k] += e[k];
            } else {
                b[2 * s->p + k] -= s->m * e[k];
                b[2 * s->n + k] += s->m * e[k];
            }
        }
    }
}

static double share(nat_set *set, const nat_env *env, const double *x, int32_t device, int32_t row)
{
    nat_source *s = &((nat_sources *)set)->all[device];
    if (!row || (s->p != row && s->n != row))
        return -1;
    return fabs(s->is_v ? s->m * x[s->k] : s->m * nat_source_value(s, env));
}

/* -- time -- */

static double next_break(nat_set *set, double t)
{
    nat_source *all = ((nat_sources *)set)->all;
    double best = INFINITY;
    for (size_t i = 0; i < vec_len(all); i++) {
        nat_source *s = &all[i];
        if (s->own.value) { /* asked anew: a corner may have come to be */
            best = s->own.next ? fmin(best, s->own.next(s->own.user, t)) : best;
            continue;
        }
        if (s->w.kind == WAVE_DC)
            continue;
        if (!(s->brk_from <= t && t < s->brk)) {
            s->brk = wave_next_break(&s->w, t);
            s->brk_from = t;
        }
        if (s->brk < best)
            best = s->brk;
    }
    return best;
}

static void fresh(nat_set *set)
{
    nat_source *all = ((nat_sources *)set)->all;
    for (size_t i = 0; i < vec_len(all); i++) {
        all[i].t_last = NAN;
        all[i].brk = all[i].brk_from = 0;
    }
}

/* Values and samples are functions of time alone; the next corner also depends on the time that was
 * asked last, which the image has. */
static void take_image(nat_set *set, image *im)
{
    nat_source *all = ((nat_sources *)set)->all;
    for (size_t i = 0; i < vec_len(all); i++) {
        nat_source *s = &all[i];
        IMAGE_ONE(im, s->brk);
        IMAGE_ONE(im, s->brk_from);
        if (!im->giving)
            continue;
        s->t_last = NAN;
        if (s->w.memo)
            s->w.memo[0] = NAN;
    }
}

static void identity(const nat_set *set, image *im)
{
    static const char other[] = "it is of a circuit with other sources, or of other values of them";
    const nat_source *all = ((const nat_sources *)set)->all;
    for (size_t i = 0; i < vec_len(all); i++) {
        const nat_source *s = &all[i];
        const int32_t place[] = {s->is_v, s->p, s->n, s->k, s->w.kind, s->w.n_arg};
        const double value[] = {s->m, s->w.dc, s->w.pwl_repeat, s->w.pwl_delay};
        IMAGE_SAME(im, place, other);
        IMAGE_SAME(im, value, other);
        IMAGE_SAME(im, s->w.key, other);
        if (im->wrong)
            return;
        const hash128 arg = hash128_of(s->w.arg, (size_t)s->w.n_arg * sizeof *s->w.arg);
        IMAGE_SAME(im, arg, other);
    }
}

const nat_kind nat_source_kind = {
    .name = "source",
    .first = true,
    .free = free_sources,
    .count = count,
    .at = at,
    .entries = entries,
    .place = place,
    .load = load,
    .terms = terms,
    .load_ac = load_ac,
    .drive = drive,
    .share = share,
    .next_break = next_break,
    .fresh = fresh,
    .image = take_image,
    .identity = identity,
};
