/* elab_logic.c - the delays of PSpice's digital U elements, from their timing models.
 * Source: ngspice manual, section on digital U devices: the typical delay counts, else the mean of
 * the least and the greatest, else the one that is given; of two (rise and fall) of flip-flops and
 * of buffers with three states the longer one. */
#include "elab_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evt.h"

#define LEAST_DELAY 1e-12 /* s, as in ngspice: a delay of 0 */
#define AFTER 1e-9        /* s, which flip-flops have behind the delay of their cause */
enum { MOST_TIMES = 14 };

/* Times that a card may have, without mn, ty or mx. Those that only checks use are behind. */
static const struct {
    const char *type, *time[MOST_TIMES];
} cards[] = {
    {"ugate", {"tplh", "tphl"}},
    {"utgate", {"tplh", "tphl", "tplz", "tphz", "tpzl", "tpzh"}},
    {"ueff",
     {"tpclkqlh", "tpclkqhl", "tppcqlh", "tppcqhl", "twclkl", "twclkh", "twpcl", "tsudclk",
      "tsupcclkh", "thdclk", "tsuceclk", "thceclk"}},
    {"ugff",
     {"tpdqlh", "tpdqhl", "tpgqlh", "tpgqhl", "tppcqlh", "tppcqhl", "twghh", "twgh", "twpcl",
      "tsudg", "tsupcgh", "thdg"}},
    {"udly", {"dly"}},
};

static const flat_param *param_of(const flat_model *m, const char *time, const char *tail)
{
    const size_t n = strlen(time);
    for (size_t i = 0; i < vec_len(m->param); i++)
        if (!strncmp(m->param[i].name, time, n) && !strcmp(m->param[i].name + n, tail))
            return &m->param[i];
    return NULL;
}

/* What the three values of a time come to; negative: none is given. */
static double typical(const flat_model *m, const char *time)
{
    static const char *const tail[] = {"mn", "ty", "mx"};
    double t[3];
    for (int i = 0; i < 3; i++) {
        const flat_param *p = m ? param_of(m, time, tail[i]) : NULL;
        t[i] = p ? p->value : -1;
    }
    const double y = flat_typical(t[0], t[1], t[2]);
    return y < 0 ? -1 : fmax(y, LEAST_DELAY);
}

/* The longer one; the default if none is given. */
static double longer(const flat_model *m, const char *a, const char *b, double absent)
{
    const double y = fmax(typical(m, a), typical(m, b));
    return y < 0 ? absent : y;
}

static double or_other(const flat_model *m, const char *a, const char *b, double absent)
{
    const double x = typical(m, a);
    return x >= 0 ? x : longer(m, b, b, absent);
}

static void set(const evt_model *type, double *par, const char *name, double y)
{
    for (int i = 0; i < EVT_MOST_PARAMS && type->param[i].name; i++)
        if (!strcmp(type->param[i].name, name))
            par[i] = y;
}

static void set_flip(const evt_model *type, const flat_model *m, double *par)
{
    const double absent = m ? AFTER : LEAST_DELAY;
    set(type, par, "clk_delay", longer(m, "tpclkqlh", "tpclkqhl", absent));
    set(type, par, "enable_delay", longer(m, "tpgqlh", "tpgqhl", absent));
    set(type, par, "data_delay", longer(m, "tpdqlh", "tpdqhl", absent));
    set(type, par, "sr_delay", longer(m, "tpdqlh", "tpdqhl", absent));
    set(type, par, "set_delay", or_other(m, "tppcqlh", "tppcqhl", absent));
    set(type, par, "reset_delay", or_other(m, "tppcqhl", "tppcqlh", absent));
    set(type, par, "rise_delay", absent);
    set(type, par, "fall_delay", absent);
}

static void set_both(const evt_model *type, double *par, double rise, double fall)
{
    set(type, par, "inertial_delay", 1);
    set(type, par, "rise_delay", rise);
    set(type, par, "fall_delay", fall);
    set(type, par, "delay", fmax(rise, fall));
}

void elab_logic_delays(const flat_inst *in, const flat_gate *g, const evt_model *type, double *par)
{
    const flat_model *m = in->rare->model;
    const char *timing = in->rare->logic->timing;
    for (int i = 0; i < EVT_MOST_PARAMS && type->param[i].name; i++)
        par[i] = type->param[i].absent;
    if (g->timing == FLAT_DELAY_NONE)
        return;
    if (g->timing == FLAT_DELAY_LEAST) {
        set_both(type, par, LEAST_DELAY, LEAST_DELAY);
    } else if (g->timing == FLAT_DELAY_GIVEN) {
        const double t = fmax(g->delay, LEAST_DELAY);
        set_both(type, par, t, t);
    } else if (!strcmp(timing, "ueff") || !strcmp(timing, "ugff")) {
        set_flip(type, m, par);
    } else if (!strcmp(timing, "udly")) {
        const double t = longer(m, "dly", "dly", LEAST_DELAY);
        set_both(type, par, t, t);
        set(type, par, "inertial_delay", 0);
    } else {
        set_both(type, par, longer(m, "tplh", "tplh", LEAST_DELAY),
                 longer(m, "tphl", "tphl", LEAST_DELAY));
    }
}

/* -- checks -- */

static bool is_time(size_t card, const char *name)
{
    const size_t n = strlen(name);
    for (int i = 0; i < MOST_TIMES && cards[card].time[i]; i++) {
        const size_t len = strlen(cards[card].time[i]);
        const char *tail = name + len;
        if (n == len + 2 && !strncmp(name, cards[card].time[i], len) &&
            (!strcmp(tail, "mn") || !strcmp(tail, "ty") || !strcmp(tail, "mx")))
            return true;
    }
    return false;
}

static bool check_params(elab *e, const flat_model *m, size_t card)
{
    bool ok = true;
    for (size_t i = 0; i < vec_len(m->param); i++) {
        const flat_param *p = &m->param[i];
        const bool known = is_time(card, p->name);
        if (diag_said(e->d, p->span)) {
            ok &= !known || (!p->str && isfinite(p->value));
        } else if (!known) {
            diag_warning(e->d, p->span, "model '%s': '%s' has no parameter '%s'; it has no effect",
                         m->name, m->type, p->name);
        } else if (p->str || !isfinite(p->value)) {
            diag_error(e->d, p->span, "model '%s': parameter '%s' needs a number", m->name,
                       p->name);
            ok = false;
        }
    }
    return ok;
}

bool elab_logic_check(elab *e, const flat_inst *in)
{
    static const char *const zero[] = {"d0_gate", "d0_tgate", "d0_eff", "d0_gff", "d0_dly"};
    const flat_rare *x = in->rare;
    if (!x->logic->timing)
        return true;
    if (!x->model) {
        for (size_t i = 0; x->word && i < VS_COUNT(zero); i++)
            if (!strcmp(x->word, zero[i]) && !strcmp(zero[i] + 3, x->logic->timing + 1))
                return true;
        elab_unknown_model(e, in);
        return false;
    }
    if (strcmp(x->model->type, x->logic->timing) != 0) {
        diag_error(e->d, x->model_span,
                   "%s: model '%s' is of type '%s'; the timing model of '%s' is of type '%s'",
                   in->name, x->model->name, x->model->type, x->logic->device, x->logic->timing);
        return false;
    }
    for (size_t i = 0; i < VS_COUNT(cards); i++)
        if (!strcmp(cards[i].type, x->logic->timing))
            return check_params(e, x->model, i);
    return true;
}
