/* elab_meter.c - code models cmeter and lmeter: the sum of the capacitors (inductors) at a node, as
 * a constant voltage or current.
 * Counted are elements with a fixed value that have the node, or one across a voltage source of
 * 0 V, as a terminal; where their other terminal goes does not matter. Capacitances add,
 * inductances are in parallel with NO_INDUCTANCE.
 * Source: ngspice manual, chapter "Mixed-mode and behavioral modeling with XSPICE": capacitance and
 *         inductance meter. */
#include "elab_priv.h"

#include <string.h>

static const double NO_INDUCTANCE = 1e12; /* henry; as ngspice has it */

char elab_meter_letter(const flat_inst *in)
{
    const char *type = in->letter == 'a' && in->rare->model ? in->rare->model->type : "";
    return !strcmp(type, "cmeter") ? 'c' : !strcmp(type, "lmeter") ? 'l' : 0;
}

static bool touches(const flat_inst *in, int32_t node)
{
    return in->n_node >= 2 && (in->node[0] == node || in->node[1] == node);
}

/* Capacitance in farad or inductance in henry of all parallel ones, at tnom. */
static bool element_value(elab *e, const flat_inst *meter, const flat_inst *in, double *value)
{
    mdl_model *m = mdl_find(e->lib, in->letter == 'c' ? "capacitor" : "inductor");
    const int32_t row = map_get(&e->row_of_inst, map_key(in->name), -1);
    double x = 0;
    if (m && row >= 0) {
        const char letter[2] = {in->letter, 0};
        const int32_t scale = elab_param(e, m, "scale");
        x = mdl_row_param(m, row, elab_param(e, m, letter)) *
            (scale >= 0 ? mdl_row_param(m, row, scale) : 1);
    }
    if (row < 0 || (x == 0 && in->rare->model)) {
        diag_error(e->d, in->span, "%s: '%s' measures fixed values only, not that of '%s'",
                   meter->name, meter->rare->model->type, in->name);
        return false;
    }
    *value = in->letter == 'c' ? x * in->m : x / in->m;
    return true;
}

typedef struct meter_sum {
    elab *e;
    const flat_inst *meter;
    double total; /* farad, or 1/henry */
} meter_sum;

static bool add_elements_at(meter_sum *s, char letter, int32_t node)
{
    for (size_t i = 0; i < vec_len(s->e->f->inst); i++) {
        const flat_inst *in = &s->e->f->inst[i];
        double x = 0;
        if (in->letter != letter || !touches(in, node))
            continue;
        if (!element_value(s->e, s->meter, in, &x))
            return false;
        s->total += letter == 'c' ? x : 1 / x;
    }
    return true;
}

static bool is_ammeter(const flat_inst *in)
{
    return in->letter == 'v' && in->rare->source && in->rare->source->wave == FLAT_DC &&
           in->rare->source->dc == 0;
}

bool elab_meter(elab *e, const flat_inst *in, double *value)
{
    const char letter = elab_meter_letter(in);
    meter_sum s = {e, in, letter == 'c' ? 0 : 1 / NO_INDUCTANCE};
    const int32_t node = in->node[0];
    bool ok = add_elements_at(&s, letter, node);
    for (size_t i = 0; ok && i < vec_len(e->f->inst); i++) {
        const flat_inst *v = &e->f->inst[i];
        if (is_ammeter(v) && touches(v, node))
            ok = add_elements_at(&s, letter, v->node[v->node[0] == node]);
    }
    *value = letter == 'c' ? s.total : 1 / s.total;
    return ok;
}
