/* elab_control.c - independent sources, linear controlled sources. */
#include "elab_priv.h"

#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- references between elements -- */

int32_t elab_branch(const elab *e, const char *element)
{
    char buf[512];
    if (snprintf(buf, sizeof buf, "%s#branch", element) >= (int)sizeof buf)
        return -1;
    return ckt_find(e->c, buf);
}

static bool ref_ready(elab *e, const char *name)
{
    return elab_branch(e, name) >= 0 || elab_find(e, name) < 0;
}

/* `self`: the element itself, whose current its own voltage may depend on. */
static bool expr_ready(elab *e, const char *self, const net_expr *x)
{
    if (x->op == NET_IBRANCH)
        return x->name == self || ref_ready(e, x->name);
    for (int32_t i = 0; i < x->n_arg; i++)
        if (!expr_ready(e, self, x->arg[i]))
            return false;
    return true;
}

bool elab_ready(elab *e, const flat_inst *in)
{
    if (elab_meter_letter(in)) /* meters come last, behind all that they measure */
        return false;
    for (size_t i = 0; i < vec_len(in->rare->ref); i++)
        if (!ref_ready(e, in->rare->ref[i]))
            return false;
    return !in->rare->expr || expr_ready(e, in->name, in->rare->expr);
}

/* -- independent sources -- */

/* Each corner of a waveform is at least one step: a transient with more would never end. */
static const double MOST_CORNERS = 1e12;

/* TRNOISE with an amplitude of telegraph noise, its fifth number, whose two times are missing or 0:
 * it has no states then. */
static bool lacks_telegraph_times(const wave *w)
{
    if (w->kind != WAVE_TRNOISE || w->n_arg < 5 || w->n_arg > 7)
        return false;
    for (int32_t k = 5; k < w->n_arg; k++)
        if (w->arg[k] != 0)
            return false;
    return w->arg[4] != 0;
}

static bool make_wave(elab *e, const flat_inst *in, wave *w, double *arg)
{
    static const wave_kind kind[] = {
        [FLAT_DC] = WAVE_DC,   [FLAT_PULSE] = WAVE_PULSE,     [FLAT_SIN] = WAVE_SIN,
        [FLAT_EXP] = WAVE_EXP, [FLAT_PWL] = WAVE_PWL,         [FLAT_SFFM] = WAVE_SFFM,
        [FLAT_AM] = WAVE_AM,   [FLAT_TRNOISE] = WAVE_TRNOISE, [FLAT_TRRANDOM] = WAVE_TRRANDOM};
    const flat_source *s = in->rare->source;
    const bool all = vec_len(s->arg) == 8;
    *w = (wave){.kind = all && s->wave == FLAT_AM     ? WAVE_AM_OFFSET
                        : all && s->wave == FLAT_SFFM ? WAVE_SFFM_DELAY
                                                      : kind[s->wave],
                .dc = s->dc,
                .dc_given = s->dc_given,
                .ac_mag = s->ac_mag,
                .ac_phase = s->ac_phase,
                .disto_mag = {s->disto_mag[0], s->disto_mag[1]},
                .disto_phase = {s->disto_phase[0], s->disto_phase[1]},
                .arg = s->arg,
                .n_arg = (int32_t)vec_len(s->arg),
                .pwl_repeat = s->pwl_repeat,
                .pwl_delay = s->pwl_delay,
                .key = draw_text(draw_number(draw_seed(0, 0), s->draw), in->name)};
    if (w->kind == WAVE_DC)
        w->n_arg = 0;
    if (lacks_telegraph_times(w)) {
        diag_warning(e->d, s->span,
                     "%s: telegraph noise without times of capture and emission, rtscapt and "
                     "rtsemt, is left out",
                     in->name);
        w->n_arg = 4;
    }
    const char *why = wave_check(w);
    if (why) {
        diag_error(e->d, s->span, "%s: %s", in->name, why);
        return false;
    }
    wave_defaults(w, arg, e->tstep, e->tstop);
    const double interval = wave_interval(w);
    if (e->tstop > MOST_CORNERS * interval)
        diag_error(e->d, s->span, "%s: corners %.3g s apart are more than %.0e until %.3g s",
                   in->name, interval, MOST_CORNERS, e->tstop);
    return !(e->tstop > MOST_CORNERS * interval);
}

static void refuse_params(elab *e, const flat_inst *in, bool gain)
{
    for (size_t i = 0; i < vec_len(in->param); i++) {
        const char *name = in->param[i].name;
        if (!strcmp(name, "m") || !strcmp(name, "poly") || (gain && !strcmp(name, "gain")) ||
            (gain && !strcmp(name, "value")))
            continue;
        diag_warning(e->d, in->param[i].span, "%s: parameter '%s' has no effect here", in->name,
                     name);
    }
}

/* Adds z0 of a port, a resistor without noise between its node p and the new node "<name>#res", at
 * which the source then stands.  inner  out  that node's unknown */
static vs_status add_port(elab *e, const flat_inst *in, int32_t p, int32_t *inner)
{
    mdl_model *m = elab_module(e, "vccs", in->span);
    if (!m)
        return VS_EINPUT;
    *inner = ckt_node(e->c, str_intern0(e->names, elab_printf(e, "%s#res", in->name)));
    flat_inst z0 = *in;
    z0.name = str_intern0(e->names, elab_printf(e, "%s#z0", in->name));
    const int32_t terminal[] = {p, *inner, p, *inner};
    const mdl_given given = {elab_param(e, m, "gain"), 1 / in->rare->source->z0, DIAG_NOWHERE};
    return elab_add(e, &z0, m, &given, 1, terminal, NULL, elab_kelvin(e), 1);
}

vs_status elab_source(elab *e, const flat_inst *in)
{
    wave w;
    double arg[WAVE_ARGS];
    if (!in->rare->source || in->n_node < 2) {
        diag_error(e->d, in->span, "%s: a source needs two nodes and a value", in->name);
        return VS_EINPUT;
    }
    if (!make_wave(e, in, &w, arg))
        return VS_EINPUT;
    refuse_params(e, in, false);
    int32_t p = e->node[in->node[0]];
    const int32_t n = e->node[in->node[1]];
    if (in->rare->source->port && add_port(e, in, p, &p) != VS_OK)
        return VS_EINPUT;
    if (in->letter == 'v')
        return ckt_add_vsource(e->c, in->name, p, n, &w, in->m, in->span);
    return ckt_add_isource(e->c, in->name, p, n, &w, in->m, in->span);
}

/* -- controlled sources -- */

static double param_value(const flat_inst *in, const char *a, const char *b, double absent)
{
    for (size_t i = vec_len(in->param); i-- > 0;)
        if (!strcmp(in->param[i].name, a) || !strcmp(in->param[i].name, b))
            return in->param[i].value;
    return absent;
}

bool elab_control_branch(elab *e, const flat_inst *in, const char *name, int32_t *unknown)
{
    *unknown = elab_branch(e, name);
    if (*unknown >= 0)
        return true;
    if (elab_find(e, name) < 0)
        diag_error(e->d, in->span, "%s: there is no element '%s'", in->name, name);
    else
        diag_error(e->d, in->span,
                   "%s: the current of '%s' is not an unknown of the circuit; put a "
                   "voltage source of 0 V in series and refer to that",
                   in->name, name);
    return false;
}

vs_status elab_controlled(elab *e, const flat_inst *in)
{
    static const struct {
        char letter;
        const char *module;
    } t[] = {{'e', "vcvs"}, {'g', "vccs"}, {'f', "cccs"}, {'h', "ccvs"}};
    const int dim = (int)param_value(in, "poly", "poly", 0);
    if (vec_len(in->rare->poly))
        return elab_poly(e, in, dim > 0 ? dim : 1);
    const char *name = NULL;
    for (size_t i = 0; i < VS_COUNT(t); i++)
        if (t[i].letter == in->letter)
            name = t[i].module;
    const bool by_current = in->letter == 'f' || in->letter == 'h';
    const double gain = param_value(in, "gain", "value", NAN);
    if (in->n_node < (by_current ? 2 : 4) || (by_current && !vec_len(in->rare->ref)) ||
        isnan(gain)) {
        diag_error(e->d, in->span,
                   by_current ? "%s: two nodes, a controlling source and a gain are needed"
                              : "%s: four nodes and a gain are needed",
                   in->name);
        return VS_EINPUT;
    }
    refuse_params(e, in, true);
    int32_t terminal[4] = {0};
    for (int32_t i = 0; i < in->n_node && i < 4; i++)
        terminal[i] = e->node[in->node[i]];
    if (by_current && !elab_control_branch(e, in, in->rare->ref[0], &terminal[2]))
        return VS_EINPUT;
    mdl_model *m = elab_module(e, name, in->span);
    if (!m)
        return VS_EINPUT;
    const mdl_given given = {elab_param(e, m, "gain"), gain, DIAG_NOWHERE};
    return elab_add(e, in, m, &given, 1, terminal, NULL, elab_kelvin(e), in->m);
}
