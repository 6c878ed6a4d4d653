/* ckt_time.c - values of sources at a time, breakpoints, start values for uic, altering sources. */
#include "ckt_priv.h"
#include "nat_delay.h"

#include <math.h>
#include <string.h>

#include "hot.h"

double ckt_next_break(ckt *c, double t)
{
    c->last_break = nat_next_break(&c->nat, t);
    return c->last_break;
}

/* A wave of straight lines has at t the value before a jump; in a part of the piece behind it, of
 * length h, it moves by that part of what it does in all of it. The end of a ramp is rounded. */
#define ROUNDED 1e-9
static bool is_continuous(const wave *w, double t, double h)
{
    enum { PART = 1024 };
    const double v = wave_value(w, t), soon = fabs(wave_value(w, t + h / PART) - v);
    return soon <= fabs(wave_value(w, t + h) - v) * 2 / PART + ROUNDED * wave_most(w);
}

bool ckt_slopes_alone(const ckt *c, double t, double same, double next)
{
    for (size_t i = 0; i < vec_len(c->sources->all); i++) {
        const nat_source *s = &c->sources->all[i];
        if (s->own.value)
            return false;
        if (s->w.kind == WAVE_DC || wave_next_break(&s->w, t - same) > t + same)
            continue;
        if (s->is_v || (s->w.kind != WAVE_PULSE && s->w.kind != WAVE_PWL))
            return false;
        for (int k = 0; k < 2; k++)
            if (s->node[k] && !c->unknown[s->node[k]].has_q)
                return false;
        if (!is_continuous(&s->w, t, next - t))
            return false;
    }
    return true;
}

bool ckt_has_delays(const ckt *c) { return nat_remembers(&c->nat); }

int32_t ckt_n_memory(const ckt *c) { return nat_n_memory(&c->nat); }

nat_memory ckt_memory(const ckt *c, int32_t i) { return nat_memory_of(&c->nat, i); }

void ckt_hold(ckt *c, int32_t i, const nat_now *now) { nat_hold(&c->nat, i, now); }

size_t ckt_n_note(const ckt *c) { return nat_n_note(&c->nat); }

void ckt_note(ckt *c, double t, const double *x, double *to) { nat_note(&c->nat, t, x, to); }

nat_back *ckt_back_of_past(ckt *c, const nat_time *point, size_t n_point, int32_t n_measure)
{
    return nat_back_new(&c->nat, point, n_point, n_measure);
}

int32_t ckt_n_line(const ckt *c) { return nat_n_line(&c->nat); }

nat_line_numbers ckt_line_numbers(const ckt *c, int32_t i)
{
    return nat_line_numbers_of(&c->nat, i);
}

const char *ckt_line_name(const ckt *c, int32_t i) { return nat_line_name(&c->nat, i); }

const char *ckt_line_side(ckt *c, int32_t i, const nat_line_numbers side[2], double distance)
{
    return nat_line_side(&c->nat, i, side, distance);
}

void ckt_line_no_sides(ckt *c) { nat_line_no_sides(&c->nat); }

double ckt_line_side_sum(const ckt *c, int32_t i, const double *x, const double *noted, bool behind,
                         const double *lambda)
{
    return nat_line_side_sum(&c->nat, i, x, noted, behind, lambda);
}

double _Complex ckt_line_side_phasor(const ckt *c, int32_t i, double omega,
                                     const double _Complex *y, const double _Complex *z)
{
    return nat_line_side_phasor(&c->nat, i, omega, y, z);
}

void ckt_delay_phasors(const ckt *c, double omega, const double _Complex *y,
                       const double _Complex *z, double *to)
{
    nat_delay_phasors(&c->nat, omega, y, z, to);
}

bool ckt_is_break(const ckt *c, double t) { return t == c->last_break; }

bool ckt_gets_breaks(const ckt *c)
{
    bool own = false;
    for (size_t i = 0; i < vec_len(c->sources->all) && c->has_own; i++)
        own |= c->sources->all[i].own.next != NULL;
    return own || ckt_has_delays(c) || ckt_is_digital(c);
}

VS_HOT int32_t ckt_wrapped(const ckt *c, int32_t i, const double *x, double *by)
{
    *by = 0;
    if (i >= (int32_t)vec_len(c->wrap))
        return -1;
    const ckt_wrap *w = &c->wrap[i];
    const double m = x[w->m];
    if (w->z > 0 && m > 0)
        *by = m * floor(x[w->z] / m);
    return w->z;
}

double ckt_bound_step(const ckt *c) { return c->loaded ? c->bound : INFINITY; }

double ckt_asked_step(const ckt *c) { return c->loaded ? c->asked : INFINITY; }

VS_HOT void ckt_source_terms(ckt *c, const ckt_env *env, double *s)
{
    if (ckt_is_latent(c)) {
        ckt_latent_source_terms(c, env, s);
        return;
    }
    if (c->rows)
        ckt_clear_rows(c, s);
    else
        hot_clear(s, vec_len(c->unknown));
    if (c->small) /* it has no other native devices */
        nat_source_terms(c->sources, env, s);
    else
        nat_terms(&c->nat, env, s);
    s[0] = 0;
}

/* -- uic -- */

void ckt_add_ic(ckt *c, int32_t p, int32_t n, double value)
{
    if (c->redoing)
        ckt_redo_ic(c, p, n, value);
    else
        vec_push(c->ic, (ckt_ic){p, n, value});
}

/* x_p - x_n = value with one side known: sets the other. True if it set something. */
static bool spread(double *x, bool *known, int32_t p, int32_t n, double value)
{
    if (known[p] == known[n])
        return false;
    if (known[n])
        x[p] = x[n] + value;
    else
        x[n] = x[p] - value;
    known[p] = known[n] = true;
    return true;
}

static bool spread_all(const ckt *c, double *x, bool *known)
{
    bool any = false;
    for (size_t i = 0; i < vec_len(c->ic); i++)
        any |= spread(x, known, c->ic[i].p, c->ic[i].n, c->ic[i].value);
    return any;
}

/* Node conditions are set first; then voltages spread from known nodes through instances with a
 * condition. Everything else is 0, also the nodes of sources: with uic a source is switched on just
 * after t = 0, and its jump from 0 reaches the circuit through the capacitances (ngspice and VACASK
 * start the same way). If neither node of an instance is known, its second node is taken as 0. */
void ckt_uic(ckt *c, double *x)
{
    bool *known = NULL;
    nat_uic(&c->nat);
    memset(x, 0, vec_len(c->unknown) * sizeof *x);
    vec_extend(known, vec_len(c->unknown));
    known[0] = true;
    for (size_t i = 0; i < vec_len(c->ic); i++)
        if (!c->ic[i].n)
            spread(x, known, c->ic[i].p, 0, c->ic[i].value);
    while (spread_all(c, x, known))
        continue;
    for (size_t i = 0; i < vec_len(c->ic); i++) {
        if (known[c->ic[i].p] || known[c->ic[i].n])
            continue;
        known[c->ic[i].n] = true;
        while (spread_all(c, x, known))
            continue;
    }
    x[0] = 0;
    vec_free(known);
}

void ckt_switch_on(const ckt *c, double *x)
{
    bool *known = NULL, again = true;
    vec_extend(known, vec_len(c->unknown));
    known[0] = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < vec_len(c->sources->all); i++) {
            const nat_source *s = &c->sources->all[i];
            if (s->is_v)
                again |= spread(x, known, s->p, s->n, nat_source_at(s, 0));
        }
    }
    x[0] = 0;
    vec_free(known);
}

/* -- sources -- */

int32_t ckt_find_source(const ckt *c, const char *name)
{
    return map_get(&c->source_by_name, map_key(ckt_own_name(c, name)), -1);
}

double ckt_source_dc(const ckt *c, int32_t src) { return wave_dc(&c->sources->all[src].w); }

void ckt_set_source_dc(ckt *c, int32_t src, double value)
{
    c->sources->all[src].w.dc = value;
    c->sources->all[src].w.dc_given = true;
}

void ckt_set_source_wave(ckt *c, int32_t src, const nat_wave *w)
{
    nat_source *s = &c->sources->all[src];
    s->own = w ? *w : (nat_wave){0};
    s->t_last = NAN;
    s->brk = s->brk_from = 0;
    c->has_own |= w != NULL;
}
