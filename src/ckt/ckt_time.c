/* ckt_time.c - what sources are at a time, breakpoints, start values for uic, altering sources. */
#include "ckt_delay.h"
#include "ckt_line.h"

#include <math.h>
#include <string.h>

double ckt_next_break(ckt *c, double t)
{
    double best = INFINITY;
    for (size_t i = 0; i < vec_len(c->source); i++) {
        ckt_source *s = &c->source[i];
        if (s->w.kind == WAVE_DC)
            continue;
        if (!(s->brk_from <= t && t < s->brk)) {
            s->brk = wave_next_break(&s->w, t);
            s->brk_from = t;
        }
        if (s->brk < best)
            best = s->brk;
    }
    best = fmin(best, ckt_delay_next_break(c, t));
    c->last_break = fmin(best, ckt_line_next_break(c, t));
    return c->last_break;
}

double ckt_bound_step(const ckt *c) { return c->loaded ? c->bound : INFINITY; }

double ckt_asked_step(const ckt *c) { return c->loaded ? c->asked : INFINITY; }

double ckt_source_value(ckt_source *s, const ckt_env *env)
{
    if (env->mode == CKT_STATIC && !env->tran_op)
        return env->srcfact * wave_dc(&s->w);
    if (s->w.kind == WAVE_DC)
        return env->srcfact * s->w.dc;
    if (s->t_last != env->time) {
        s->v_last = wave_value(&s->w, env->time);
        s->t_last = env->time;
    }
    return env->srcfact * s->v_last;
}

void ckt_source_terms(ckt *c, const ckt_env *env, double *s)
{
    memset(s, 0, vec_len(c->unknown) * sizeof *s);
    for (size_t i = 0; i < vec_len(c->source); i++) {
        ckt_source *v = &c->source[i];
        const double e = ckt_source_value(v, env);
        if (v->is_v) {
            s[v->k] -= e;
        } else {
            s[v->p] += v->m * e;
            s[v->n] -= v->m * e;
        }
    }
    ckt_line_source_terms(c, env, s);
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

/* Node conditions first, then voltages spread from known nodes through instances; all else is 0,
 * the nodes of sources too: with uic a source is switched on just after t = 0, and its jump from 0
 * reaches the circuit through the capacitances (ngspice and VACASK start the same way). An
 * instance between nodes of which nothing is known starts from its second node at 0. */
void ckt_uic(ckt *c, double *x)
{
    bool *known = NULL;
    ckt_line_uic(c);
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
        for (size_t i = 0; i < vec_len(c->source); i++) {
            const ckt_source *s = &c->source[i];
            if (s->is_v)
                again |= spread(x, known, s->p, s->n, wave_value(&s->w, 0));
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

double ckt_source_dc(const ckt *c, int32_t src) { return wave_dc(&c->source[src].w); }

void ckt_set_source_dc(ckt *c, int32_t src, double value)
{
    c->source[src].w.dc = value;
    c->source[src].w.dc_given = true;
}
