/* elab_line.c - lines: T (ideal), O (lossy), U (lumps of resistors and capacitors).
 * Source: ngspice manual, chapter "Transmission lines", for parameters and defaults; Gertzberg's lumps for
 *         U, which grow by a factor k from both ends to the middle. */
#include "elab_priv.h"
#include "rlgc.h"

#include <math.h>
#include <string.h>

enum { MOST_LUMPS = 1000 };

static const double MOST_STEPS = 1e8;
static const double SHORT_LINE = 1e5; /* a lossy line that is shorter beside the end of time does not limit steps */
static const double LONG_TIME = 1e6;  /* of a lossy line without a transient, in delays */

typedef struct values { /* parameters of an element and of its card; the element's own first */
    elab *e;
    const flat_inst *in;
    const char *const *known;
    size_t n_known;
    bool ok;
} values;

static const flat_param *find(const flat_param *p, const char *name)
{
    for (size_t i = vec_len(p); i-- > 0;)
        if (!strcmp(p[i].name, name))
            return &p[i];
    return NULL;
}

static bool given(const values *v, const char *name)
{
    return find(v->in->param, name) || (v->in->model && find(v->in->model->param, name));
}

static double number(values *v, const char *name, double absent)
{
    const flat_param *p = find(v->in->param, name);
    if (!p && v->in->model)
        p = find(v->in->model->param, name);
    if (!p)
        return absent;
    if (!p->str)
        return p->value;
    diag_error(v->e->d, p->span, "%s: parameter '%s' needs a number, not '%s'", v->in->name, name, p->str);
    v->ok = false;
    return absent;
}

static void check_names(values *v, const flat_param *p, const char *owner)
{
    for (size_t i = 0; i < vec_len(p); i++) {
        size_t k = 0;
        while (k < v->n_known && strcmp(v->known[k], p[i].name))
            k++;
        if (k < v->n_known)
            continue;
        diag_error(v->e->d, p[i].span, "%s: a line has no parameter '%s'", owner, p[i].name);
        diag_suggest(v->e->d, p[i].name, (const char **)v->known, v->n_known);
        v->ok = false;
    }
}

static values begin(elab *e, const flat_inst *in, const char *const *known, size_t n)
{
    values v = {e, in, known, n, true};
    check_names(&v, in->param, in->name);
    if (in->model)
        check_names(&v, in->model->param, elab_printf(e, "model '%s'", in->model->name));
    return v;
}

static bool refuse(values *v, const char *what)
{
    diag_error(v->e->d, v->in->span, "%s: %s", v->in->name, what);
    return false;
}

/* -- parts -- */

static int32_t inner_node(const values *v, const char *what, int k)
{
    return ckt_inner_node(v->e->c, elab_printf(v->e, "%s#%s%d", v->in->name, what, k));
}

/* A resistor, capacitor or conductance (a resistor of 1/x) between two unknowns. */
static vs_status part(values *v, const char *module, const char *param, const char *name, int32_t a, int32_t b,
                      double x)
{
    elab *e = v->e;
    mdl_model *m = elab_module(e, module, v->in->span);
    if (!m)
        return VS_EINPUT;
    flat_inst in = *v->in;
    in.name = elab_printf(e, "%s#%s", v->in->name, name);
    in.letter = 'r';
    const mdl_given given = {elab_param(e, m, param), x};
    return elab_add(e, &in, m, &given, 1, (const int32_t[]){a, b}, NULL, elab_kelvin(e), v->in->m);
}

static vs_status resistor(values *v, const char *name, int32_t a, int32_t b, double r)
{
    return part(v, "resistor", "r", name, a, b, r);
}

static vs_status capacitor(values *v, const char *name, int32_t a, int32_t b, double c)
{
    return c > 0 ? part(v, "capacitor", "c", name, a, b, c) : VS_OK;
}

/* Steps are shorter than the delay: one that is tiny beside the time to be simulated never ends. */
static bool refuse_short(values *v, double td)
{
    if (!v->ok || v->e->tstop <= MOST_STEPS * td)
        return v->ok;
    return refuse(v, elab_printf(v->e, "a delay of %.3g s needs more than %.0e steps to reach %.3g s; leave the line out",
                                 td, MOST_STEPS, v->e->tstop));
}

/* -- T -- */

static void line_ic(elab *e, const flat_inst *in, const int32_t *node) /* v1, i1, v2, i2 */
{
    for (int32_t k = 0; in->ic_given && k < in->n_ic; k++) {
        const char *i = elab_printf(e, "%s#i%d", in->name, k / 2 + 1);
        if (k % 2)
            ckt_add_ic(e->c, ckt_find(e->c, i), 0, in->ic[k]);
        else
            ckt_add_ic(e->c, node[k], node[k + 1], in->ic[k]);
    }
}

static vs_status ideal(elab *e, const flat_inst *in)
{
    static const char *const known[] = {"z0", "zo", "td", "f", "nl", "rel", "abs"};
    values v = begin(e, in, known, VS_COUNT(known));
    int32_t node[4];
    for (int k = 0; k < 4; k++)
        node[k] = e->node[in->node[k]];
    const double z = number(&v, "z0", number(&v, "zo", NAN));
    const double td = number(&v, "td", number(&v, "nl", 0.25) / number(&v, "f", 1e9));
    if (v.ok && !(z > 0))
        v.ok = refuse(&v, "an ideal line needs its impedance: z0 above 0");
    if (v.ok && !(td > 0 && isfinite(td)))
        v.ok = refuse(&v, "an ideal line needs its delay: td above 0, or f and nl (wave lengths at f)");
    v.ok = refuse_short(&v, td);
    if (!v.ok)
        return VS_EINPUT;
    const vs_status st = ckt_add_line(e->c, in->name, node, z, td, in->m, in->span);
    line_ic(e, in, node);
    return st;
}

/* -- O -- */

static vs_status lossy_line(elab *e, const flat_inst *in)
{
    static const char *const known[] = {"r", "l", "g", "c", "len", "rel", "abs", "nocontrol", "steplimit", "ltra",
                                        "nosteplimit", "lininterp", "quadinterp", "mixedinterp", "truncnr",
                                        "truncdontcut", "compactrel", "compactabs", "level"};
    values v = begin(e, in, known, VS_COUNT(known));
    const double len = number(&v, "len", NAN);
    if (v.ok && !(len > 0))
        v.ok = refuse(&v, "a lossy line needs its length: len above 0");
    ckt_lossy_opt o = {.r = number(&v, "r", 0) * len, .l = number(&v, "l", 0) * len, .g = number(&v, "g", 0) * len,
                       .c = number(&v, "c", 0) * len, .ic = in->ic_given};
    int32_t node[4];
    for (int k = 0; k < 4; k++)
        node[k] = e->node[in->node[k]];
    if (v.ok && !(o.r >= 0 && o.l >= 0 && o.g >= 0 && o.c >= 0 && isfinite(o.r + o.l + o.g + o.c)))
        v.ok = refuse(&v, "r, l, g and c of a lossy line must not be negative");
    const rlgc_kind kind = rlgc_kind_of(o.r, o.l, o.g, o.c);
    if (v.ok && kind == RLGC_NONE)
        v.ok = refuse(&v, "a lossy line needs r or l, and g or c, above 0");
    const double td = sqrt(o.l * o.c);
    if (v.ok && kind == RLGC_IDEAL)
        v.ok = refuse_short(&v, td);
    if (!v.ok)
        return VS_EINPUT;
    o.t_end = e->tstop > 0 ? e->tstop : LONG_TIME * (td + o.r * o.c + o.l * o.g);
    o.t_end = o.t_end > 0 ? o.t_end : 1; /* r and g alone: no time in them */
    o.limited = !given(&v, "nosteplimit") && e->tstop <= SHORT_LINE * td;
    const vs_status st = kind == RLGC_IDEAL ? ckt_add_line(e->c, in->name, node, sqrt(o.l / o.c), td, in->m, in->span)
                                            : ckt_add_lossy_line(e->c, in->name, node, &o, in->m, in->span);
    line_ic(e, in, node);
    return st;
}

/* -- U -- */

/* Lumps r1 k^i and c1 k^i from each end; the largest capacitance is the one in the middle. */
static vs_status rc_line(elab *e, const flat_inst *in)
{
    static const char *const known[] = {"l", "n", "k", "fmax", "rperl", "cperl", "isperl", "rsperl", "level"};
    values v = begin(e, in, known, VS_COUNT(known));
    const double len = number(&v, "l", NAN), k = number(&v, "k", 1.5), fmax_ = number(&v, "fmax", 1e9);
    const double r0 = len * number(&v, "rperl", 1000), c0 = len * number(&v, "cperl", 1e-12);
    if (v.ok && !(len > 0))
        v.ok = refuse(&v, "an RC line needs its length: l above 0");
    if (v.ok && !(k > 1 && r0 > 0 && c0 > 0))
        v.ok = refuse(&v, "an RC line needs k above 1, rperl and cperl above 0");
    if (v.ok && given(&v, "isperl"))
        v.ok = refuse(&v, "RC lines of diodes (isperl) are not supported");
    if (!v.ok)
        return VS_EINPUT;
    const double wnorm = fmax_ * r0 * c0 * 2 * acos(-1);
    double n = wnorm < 35 ? 3 : floor(fmax(3, log(wnorm * ((k - 1) / k) * ((k - 1) / k)) / log(k)));
    n = number(&v, "n", n);
    if (!(n >= 1 && n <= MOST_LUMPS && n == floor(n))) {
        refuse(&v, elab_printf(e, "the number of lumps n must be a whole number from 1 to %d", MOST_LUMPS));
        return VS_EINPUT;
    }
    double r = r0 * (k - 1) / (2 * pow(k, n) - 2), c = c0 * (k - 1) / (pow(k, n - 1) * (k + 1) - 2);
    int32_t lo = e->node[in->node[0]], hi = e->node[in->node[1]];
    const int32_t ref = e->node[in->node[2]];
    vs_status st = VS_OK;
    for (int i = 1; i <= (int)n && st == VS_OK; i++, r *= k, c *= k) {
        const int32_t new_hi = inner_node(&v, "hi", i), new_lo = i == (int)n ? new_hi : inner_node(&v, "lo", i);
        st = resistor(&v, elab_printf(e, "rlo%d", i), lo, new_lo, r);
        if (st == VS_OK)
            st = resistor(&v, elab_printf(e, "rhi%d", i), new_hi, hi, r);
        if (st == VS_OK)
            st = capacitor(&v, elab_printf(e, "clo%d", i), new_lo, ref, c);
        if (st == VS_OK && i < (int)n)
            st = capacitor(&v, elab_printf(e, "chi%d", i), new_hi, ref, c);
        lo = new_lo;
        hi = new_hi;
    }
    return st;
}

vs_status elab_line(elab *e, const flat_inst *in)
{
    const char *type = in->letter == 'o' ? "ltra" : in->letter == 'u' ? "urc" : NULL;
    if (type && (!in->model || strcmp(in->model->type, type))) {
        diag_error(e->d, in->model ? in->model_span : in->span, "%s: %s '%s'; this element needs a model of type '%s'",
                   in->name, in->model ? "unsuitable model" : "unknown model", in->model ? in->model->name
                   : in->word ? in->word : "", type);
        return VS_EINPUT;
    }
    return in->letter == 't' ? ideal(e, in) : in->letter == 'o' ? lossy_line(e, in) : rc_line(e, in);
}
