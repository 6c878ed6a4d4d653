/* elab_line.c - lines: T (ideal), O and Y (lossy), P (coupled), U (lumps of resistors and
 * capacitors). Coupled lines are the lines of their modes (modes.h) between two transformers,
 * modules written for their number.
 * Source: ngspice manual, chapter "Transmission lines", for parameters and defaults; Gertzberg's
 *         lumps for U, which grow by a factor k from both ends to the middle. */
#include "elab_priv.h"
#include "modes.h"
#include "rlgc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

enum { MOST_LUMPS = 1000 };

static const double MOST_STEPS = 1e8;
static const double SHORT_LINE =
    1e5; /* a lossy line limits steps to its delay unless the run is more delays long than this */
static const double LONG_TIME = 1e6; /* of a lossy line without a transient, in delays */

typedef struct values { /* parameters of an element and of its card; the element's own first */
    elab *e;
    const flat_inst *in;
    const char *const *known;
    size_t n_known;
    bool ok;
} values;

static bool given(const values *v, const char *name)
{
    return elab_card_param(v->in->param, name) ||
           (v->in->rare->model && elab_card_param(v->in->rare->model->param, name));
}

static double number(values *v, const char *name, double absent)
{
    const flat_param *p = elab_card_param(v->in->param, name);
    if (!p && v->in->rare->model)
        p = elab_card_param(v->in->rare->model->param, name);
    if (!p)
        return absent;
    if (!p->str)
        return p->value;
    diag_error(v->e->d, p->span, "%s: parameter '%s' needs a number, not '%s'", v->in->name, name,
               p->str);
    v->ok = false;
    return absent;
}

static void check_names(values *v, const flat_param *p, const char *owner)
{
    for (size_t i = 0; i < vec_len(p); i++) {
        size_t k = 0;
        const size_t len = strcspn(p[i].name, "["); /* entries of matrices are c[1], c[2], ... */
        while (k < v->n_known && (strncmp(v->known[k], p[i].name, len) || v->known[k][len]))
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
    if (in->rare->model)
        check_names(&v, in->rare->model->param,
                    elab_printf(e, "model '%s'", in->rare->model->name));
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
static vs_status part(values *v, const char *module, const char *param, const char *name, int32_t a,
                      int32_t b, double x)
{
    elab *e = v->e;
    mdl_model *m = elab_module(e, module, v->in->span);
    if (!m)
        return VS_EINPUT;
    flat_inst in = *v->in;
    in.name = str_intern0(e->names, elab_printf(e, "%s#%s", v->in->name, name));
    in.letter = 'r';
    const mdl_given given = {elab_param(e, m, param), x, DIAG_NOWHERE};
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

/* Refuses a delay that is tiny beside the time to be simulated: steps are shorter than the delay,
 * so that the run would not end. */
static bool refuse_short(values *v, double td)
{
    if (!v->ok || v->e->tstop <= MOST_STEPS * td)
        return v->ok;
    return refuse(
        v, elab_printf(
               v->e,
               "a delay of %.3g s needs more than %.0e steps to reach %.3g s; leave the line out",
               td, MOST_STEPS, v->e->tstop));
}

/* -- T -- */

static void line_ic(elab *e, const flat_inst *in, const int32_t *node) /* v1, i1, v2, i2 */
{
    for (int32_t k = 0; in->rare->ic_given && k < in->rare->n_ic; k++) {
        const char *i = elab_printf(e, "%s#i%d", in->name, k / 2 + 1);
        if (k % 2)
            ckt_add_ic(e->c, ckt_find(e->c, i), 0, in->rare->ic[k]);
        else
            ckt_add_ic(e->c, node[k], node[k + 1], in->rare->ic[k]);
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
        v.ok = refuse(&v,
                      "an ideal line needs its delay: td above 0, or f and nl (wave lengths at f)");
    v.ok = refuse_short(&v, td);
    if (!v.ok)
        return VS_EINPUT;
    ckt_add_line(e->c, in->name, node, z, td, in->m, in->span);
    line_ic(e, in, node);
    return VS_OK;
}

/* -- O -- */

/* Between the ports of a line: r, l, g, c of the whole length. */
static vs_status add_lossy(values *v, const char *name, const int32_t node[4], nat_lossy_opt o)
{
    elab *e = v->e;
    const rlgc_kind kind = rlgc_kind_of(o.r, o.l, o.g, o.c);
    if (v->ok && kind == RLGC_NONE)
        v->ok = refuse(v, "a lossy line needs r or l, and g or c, above 0");
    const double td = sqrt(o.l * o.c);
    if (v->ok && kind == RLGC_IDEAL)
        v->ok = refuse_short(v, td);
    if (!v->ok)
        return VS_EINPUT;
    o.t_end = e->tstop > 0 ? e->tstop : LONG_TIME * (td + o.r * o.c + o.l * o.g);
    o.t_end = o.t_end > 0 ? o.t_end : 1; /* a line of r and g alone has no delay: any end will do */
    o.limited = !given(v, "nosteplimit") && e->tstop <= SHORT_LINE * td;
    if (kind == RLGC_IDEAL)
        ckt_add_line(e->c, name, node, sqrt(o.l / o.c), td, v->in->m, v->in->span);
    else
        ckt_add_lossy_line(e->c, name, node, &o, v->in->m, v->in->span);
    return VS_OK;
}

static double length_of(values *v)
{
    const double len = number(v, "len", number(v, "length", NAN));
    if (v->ok && !(len > 0))
        v->ok = refuse(v, "a lossy line needs its length: len above 0");
    return len;
}

static vs_status lossy_line(elab *e, const flat_inst *in)
{
    static const char *const known[] = {
        "r",          "l",          "g",           "c",         "len",          "length",
        "rel",        "abs",        "nocontrol",   "steplimit", "ltra",         "nosteplimit",
        "lininterp",  "quadinterp", "mixedinterp", "truncnr",   "truncdontcut", "compactrel",
        "compactabs", "level"};
    values v = begin(e, in, known, VS_COUNT(known));
    const double len = length_of(&v);
    nat_lossy_opt o = {.r = number(&v, "r", 0) * len,
                       .l = number(&v, "l", 0) * len,
                       .g = number(&v, "g", 0) * len,
                       .c = number(&v, "c", 0) * len,
                       .ic = in->rare->ic_given};
    int32_t node[4];
    for (int k = 0; k < 4; k++)
        node[k] = e->node[in->node[k]];
    if (v.ok && !(o.r >= 0 && o.l >= 0 && o.g >= 0 && o.c >= 0 && isfinite(o.r + o.l + o.g + o.c)))
        v.ok = refuse(&v, "r, l, g and c of a lossy line must not be negative");
    const vs_status st = add_lossy(&v, in->name, node, o);
    if (st == VS_OK)
        line_ic(e, in, node);
    return st;
}

/* -- P -- */

/* Reads a symmetric matrix, given row by row from the diagonal on: 11 12 13 22 23 33, times the
 * length. A matrix that is not given is 0. */
static void read_matrix(values *v, const char *name, int n, double len, modes_matrix a)
{
    const int want = n * (n + 1) / 2;
    int k = 0, have = 0;
    while (given(v, have ? elab_printf(v->e, "%s[%d]", name, have) : name))
        have++;
    if (have && have != want)
        v->ok = refuse(
            v, elab_printf(v->e, "%s of %d coupled lines has %d values (11 12 ... 22 ...), not %d",
                           name, n, want, have));
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++, k++)
            a[i][j] = a[j][i] =
                have == want ? len * number(v, k ? elab_printf(v->e, "%s[%d]", name, k) : name, 0)
                             : 0;
}

typedef struct coupled { /* coupled lines, values of the whole length */
    values v;
    int n; /* conductors */
    modes_matrix r, l, g, c;
    modes m;
    int section; /* 1 and lossy modes; or sections whose modes have no losses */
    bool lumped; /* the losses stand at the ends of sections */
} coupled;

/* The module between n conductors, over the reference r, and n modes, over ground: v = T v_m and
 * i_m = T^T i, so that it takes no power.
 *   lumped  before it stand a conductance matrix, from the conductors to r, and resistances */
static char *transformer_text(const char *name, int n, bool lumped)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = stream_text(&text, &len);
    fprintf(f, "`include \"disciplines.vams\"\nmodule %s(r", name);
    for (int k = 1; k <= n; k++)
        fprintf(f, ", i%d, m%d", k, k);
    fprintf(f, ");\n    inout r;\n    electrical r;\n");
    for (int k = 1; k <= n; k++)
        fprintf(f, "    inout i%d, m%d;\n    electrical i%d, m%d;\n    branch (i%d, r) b%d;\n", k,
                k, k, k, k, k);
    for (int k = 1; k <= n; k++)
        for (int j = 1; j <= n; j++) {
            fprintf(f, "    parameter real t%d_%d = 0;\n", k, j);
            if (lumped)
                fprintf(f, "    parameter real r%d_%d = 0, g%d_%d = 0;\n", k, j, k, j);
        }
    fprintf(f, "    analog begin\n");
    for (int k = 1; k <= n; k++)
        for (int j = 1; j <= n; j++) {
            fprintf(f, "        V(b%d) <+ t%d_%d * V(m%d);\n        I(m%d) <+ -t%d_%d * I(b%d);\n",
                    k, k, j, j, j, k, j, k);
            if (lumped)
                fprintf(f,
                        "        V(b%d) <+ r%d_%d * I(b%d);\n"
                        "        I(i%d, r) <+ g%d_%d * V(i%d, r);\n",
                        k, k, j, j, k, k, j, j);
        }
    fprintf(f, "    end\nendmodule\n");
    stream_close(f);
    return text;
}

static mdl_model *transformer(elab *e, int n, bool lumped)
{
    const char *name = elab_printf(e, lumped ? "coupled_lumped_%d" : "coupled_%d", n);
    mdl_model *m = mdl_find(e->lib, name);
    if (m)
        return m;
    char *text = transformer_text(name, n, lumped);
    const vs_status st = mdl_load_text(e->lib, name, text);
    vs_free(text);
    return st == VS_OK ? mdl_find(e->lib, name) : NULL;
}

static mdl_given entry(elab *e, mdl_model *m, char what, int k, int j, double x)
{
    return (mdl_given){elab_param(e, m, elab_printf(e, "%c%d_%d", what, k + 1, j + 1)), x,
                       DIAG_NOWHERE};
}

static vs_status add_transformer(coupled *p, const char *what, const int32_t *conductor,
                                 int32_t ref, const int32_t *mode)
{
    elab *e = p->v.e;
    const int n = p->n;
    mdl_model *module = transformer(e, n, p->lumped);
    if (!module)
        return VS_EINPUT;
    const double half = 0.5 / p->section;
    mdl_given *given = NULL;
    int32_t to[1 + 2 * MODES_MOST] = {ref};
    for (int k = 0; k < n; k++) {
        to[1 + 2 * k] = conductor[k];
        to[2 + 2 * k] = mode[k];
        for (int j = 0; j < n; j++) {
            vec_push(given, entry(e, module, 't', k, j, p->m.t[k][j]));
            if (p->lumped && p->r[k][j] != 0)
                vec_push(given, entry(e, module, 'r', k, j, half * p->r[k][j]));
            if (p->lumped && p->g[k][j] != 0)
                vec_push(given, entry(e, module, 'g', k, j, half * p->g[k][j]));
        }
    }
    flat_inst in = *p->v.in;
    in.name = str_intern0(e->names, elab_printf(e, "%s#%s", p->v.in->name, what));
    in.letter = 'n';
    const vs_status st =
        elab_add(e, &in, module, given, vec_len(given), to, NULL, elab_kelvin(e), 1);
    vec_free(given);
    return st;
}

/* A wave that meets half the loss of a section at once is reflected by a quarter of what it is
 * beside the line's impedance; this much, of reltol's default size, is allowed. */
static const double REFLECTED = 1e-3;
enum { MOST_SECTIONS = 12 };

/* The modes, of lossy lines or of sections of lines without losses. */
static bool find_modes(coupled *p)
{
    elab *e = p->v.e;
    double loss;
    p->section = 1;
    const char *why = modes_find(&p->m, p->n, p->r, p->l, p->g, p->c);
    if (!why)
        return true;
    p->lumped = true;
    if (modes_without_loss(&p->m, p->n, p->r, p->l, p->g, p->c, &loss))
        return refuse(&p->v,
                      elab_printf(e, "these coupled lines have no modes of their own: %s", why));
    const double want = ceil(loss / (4 * REFLECTED));
    if (!(want <= MOST_SECTIONS))
        return refuse(
            &p->v,
            elab_printf(e,
                        "these coupled lines have no modes of their own: %s; their losses are "
                        "%.2g of the impedance of the modes, more than the %.2g that sections "
                        "can have",
                        why, loss, 4 * REFLECTED * MOST_SECTIONS));
    p->section = want < 1 ? 1 : (int)want;
    return true;
}

/* Section s between conductors a and b. */
static vs_status add_section(coupled *p, int s, const int32_t *a, int32_t ref_a, const int32_t *b,
                             int32_t ref_b)
{
    elab *e = p->v.e;
    const char *in_section = p->section > 1 ? elab_printf(e, "%d#", s + 1) : "",
               *near = elab_printf(e, "%snear", in_section),
               *far = elab_printf(e, "%sfar", in_section);
    int32_t mode[2][MODES_MOST];
    for (int k = 0; k < p->n; k++) {
        mode[0][k] = inner_node(&p->v, near, k + 1);
        mode[1][k] = inner_node(&p->v, far, k + 1);
    }
    vs_status st = add_transformer(p, near, a, ref_a, mode[0]);
    if (st == VS_OK)
        st = add_transformer(p, far, b, ref_b, mode[1]);
    for (int k = 0; k < p->n && st == VS_OK; k++) {
        const int32_t node[4] = {mode[0][k], 0, mode[1][k], 0};
        const nat_lossy_opt o = {.r = p->m.r[k],
                                 .l = p->m.l[k] / p->section,
                                 .g = p->m.g[k],
                                 .c = p->m.c[k] / p->section};
        st = add_lossy(&p->v, elab_printf(e, "%s#%smode%d", p->v.in->name, in_section, k + 1), node,
                       o);
    }
    return st;
}

static vs_status add_sections(coupled *p)
{
    const int32_t *node = p->v.in->node, *of = p->v.e->node;
    const int n = p->n;
    int32_t a[MODES_MOST], b[MODES_MOST];
    vs_status st = VS_OK;
    for (int s = 0; s < p->section && st == VS_OK; s++) {
        const bool first = s == 0, last = s + 1 == p->section;
        for (int k = 0; k < n; k++) {
            a[k] = first ? of[node[k]] : b[k];
            b[k] = last ? of[node[n + 1 + k]]
                        : inner_node(&p->v, elab_printf(p->v.e, "%d#end", s + 1), k + 1);
        }
        st = add_section(p, s, a, first ? of[node[n]] : 0, b, last ? of[node[2 * n + 1]] : 0);
    }
    return st;
}

static vs_status coupled_lines(elab *e, const flat_inst *in)
{
    static const char *const known[] = {"r", "l", "g", "c", "len", "length"};
    coupled p = {.v = begin(e, in, known, VS_COUNT(known)), .n = in->n_node / 2 - 1};
    if (p.v.ok && (in->n_node % 2 || p.n < 1 || p.n > MODES_MOST))
        p.v.ok = refuse(&p.v, "coupled lines have as many nodes at both ends, the reference last: "
                              "Pname a1 a2 0 b1 b2 0 model");
    const double len = length_of(&p.v);
    if (p.v.ok) {
        read_matrix(&p.v, "r", p.n, len, p.r);
        read_matrix(&p.v, "l", p.n, len, p.l);
        read_matrix(&p.v, "g", p.n, len, p.g);
        read_matrix(&p.v, "c", p.n, len, p.c);
    }
    p.v.ok = p.v.ok && find_modes(&p);
    return p.v.ok ? add_sections(&p) : VS_EINPUT;
}

/* -- U -- */

/* Lumps r1 k^i and c1 k^i from each end; the largest capacitance is the one in the middle. */
static vs_status rc_line(elab *e, const flat_inst *in)
{
    static const char *const known[] = {"l",     "n",      "k",      "fmax", "rperl",
                                        "cperl", "isperl", "rsperl", "level"};
    values v = begin(e, in, known, VS_COUNT(known));
    const double len = number(&v, "l", NAN), k = number(&v, "k", 1.5),
                 fmax_ = number(&v, "fmax", 1e9);
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
        refuse(&v, elab_printf(e, "the number of lumps n must be a whole number from 1 to %d",
                               MOST_LUMPS));
        return VS_EINPUT;
    }
    double r = r0 * (k - 1) / (2 * pow(k, n) - 2), c = c0 * (k - 1) / (pow(k, n - 1) * (k + 1) - 2);
    int32_t lo = e->node[in->node[0]], hi = e->node[in->node[1]];
    const int32_t ref = e->node[in->node[2]];
    vs_status st = VS_OK;
    for (int i = 1; i <= (int)n && st == VS_OK; i++, r *= k, c *= k) {
        const int32_t new_hi = inner_node(&v, "hi", i),
                      new_lo = i == (int)n ? new_hi : inner_node(&v, "lo", i);
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
    const char *type = in->letter == 'o'   ? "ltra"
                       : in->letter == 'u' ? "urc"
                       : in->letter == 'p' ? "cpl"
                       : in->letter == 'y' ? "txl"
                                           : NULL;
    if (type && (!in->rare->model || strcmp(in->rare->model->type, type))) {
        diag_error(e->d, in->rare->model ? in->rare->model_span : in->span,
                   "%s: %s '%s'; this element needs a model of type '%s'", in->name,
                   in->rare->model ? "unsuitable model" : "unknown model",
                   in->rare->model  ? in->rare->model->name
                   : in->rare->word ? in->rare->word
                                    : "",
                   type);
        return VS_EINPUT;
    }
    switch (in->letter) {
    case 't': return ideal(e, in);
    case 'u': return rc_line(e, in);
    case 'p': return coupled_lines(e, in);
    default: return lossy_line(e, in);
    }
}
