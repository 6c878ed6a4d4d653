/* rep_doctor.c - `vsim doctor DECK`: what makes a deck hard, card by card, and what to change.
 * Each finding is a warning at its card with a note of advice; docs/doctor.md lists them. What the
 * structure alone tells (parts without a path to ground, loops of sources and inductors) is told
 * where circuits are built (ckt_topo.c); here are values, sources, expressions, tolerances, and how
 * the operating point is found. Bounds follow from the 53 bits of a double. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "rep.h"
#include "rep_condition.h"
#include "rep_jump.h"
#include "vec.h"

#define LOST 1e-6        /* A; what rounding may take from the current of a resistor */
#define SHORTEST 1e-9    /* of the stop time: shorter edges are findings */
#define LOOSE 0.05       /* reltol: above, curves have errors that one sees */
#define MOST_GAIN 1e9    /* of a controlled source */
#define MOST_SOURCE 1e6  /* V, A */
#define LARGEST_R 1e15   /* ohm; a thousand times less than what gmin conducts */
#define SMALLEST_C 1e-21 /* F; a hundredth of an electron at 1 V is 1.6e-21 */
#define LARGEST_C 1e4    /* F */
#define SMALLEST_L 1e-18 /* H; a picometre of wire has 1e-18 */
#define LARGEST_L 1e5    /* H */

typedef struct doctor {
    sim *s;
    const flat *f;
    const option_set *o;
    diag *d;
    double supply; /* V, the largest voltage of a source */
    double tstop;  /* s, of the longest transient; 0: none */
    int n_found;
    const char **jumps; /* vec: names of elements whose expressions jump */
    const char *method; /* that found the operating point; NULL: none did, or none was looked for */
} doctor;

/* -- what the cards say -- */

static bool is_word(const char *a, const char *b) { return !strcmp(a, b); }

/* The value of a parameter; NAN: the card gives none, or an expression. */
static double value_of(const flat_inst *in, const char *own)
{
    flat_room room;
    const flat_param *p = flat_params(in, &room);
    for (size_t k = 0; k < vec_len(p); k++)
        if (!p[k].str && (is_word(p[k].name, "value") || (own && is_word(p[k].name, own))))
            return p[k].value;
    return NAN;
}

static double resistance(const flat_inst *in)
{
    return in->letter == 'r' && !in->rare->expr ? value_of(in, "r") : NAN;
}

/* The largest value that a source takes: of its dc value and the numbers that are levels. */
static double level_of(const flat_source *s)
{
    double most = fabs(s->dc);
    const size_t n = vec_len(s->arg);
    if (s->wave == FLAT_PWL)
        for (size_t k = 1; k < n; k += 2)
            most = fmax(most, fabs(s->arg[k]));
    else if (s->wave == FLAT_PULSE || s->wave == FLAT_EXP)
        for (size_t k = 0; k < n && k < 2; k++)
            most = fmax(most, fabs(s->arg[k]));
    else if (s->wave == FLAT_SIN || s->wave == FLAT_SFFM)
        most = fmax(most, n > 1 ? fabs(s->arg[0]) + fabs(s->arg[1]) : 0);
    return most;
}

static void survey(doctor *w)
{
    for (size_t i = 0; i < vec_len(w->f->inst); i++) {
        const flat_inst *in = &w->f->inst[i];
        if (in->letter == 'v' && in->rare->source)
            w->supply = fmax(w->supply, level_of(in->rare->source));
    }
    for (size_t i = 0; i < vec_len(w->f->ana); i++)
        if (w->f->ana[i].kind == FLAT_TRAN)
            w->tstop = fmax(w->tstop, w->f->ana[i].tstop);
}

/* -- values -- */

static void look_at_resistor(doctor *w, const flat_inst *in)
{
    const double r = resistance(in), lost = DBL_EPSILON * w->supply / fabs(r);
    if (r < 0) {
        w->n_found++;
        diag_warning(w->d, in->span, "%s is negative (%.3g ohm): there may be no solution, or many",
                     in->name, r);
        diag_note(w->d, in->span,
                  "advice: .nodeset near the one that is meant; in a transient a "
                  "capacitor across it");
    } else if (fabs(r) > LARGEST_R) {
        w->n_found++;
        diag_warning(w->d, in->span, "%s has %.3g ohm, which gmin (%.3g S) beside it hides",
                     in->name, r, w->o->gmin);
        diag_note(w->d, in->span, "advice: leave it out, or a smaller gmin in .options");
    } else if (r != 0 && lost > LOST) {
        w->n_found++;
        diag_warning(w->d, in->span,
                     "%s has %.3g ohm: voltages of %.3g V round by %.2g V, and its current by "
                     "%.2g A",
                     in->name, r, w->supply, DBL_EPSILON * w->supply, lost);
        diag_note(w->d, in->span,
                  "advice: a voltage source of 0 V, or join its nodes; at least %.2g ohm",
                  DBL_EPSILON * w->supply / LOST);
    }
}

static void look_at_range(doctor *w, const flat_inst *in, const char *own, double low, double high,
                          const char *unit)
{
    const double x = value_of(in, own);
    if (!(x != 0 && (x < low || x > high)))
        return;
    w->n_found++;
    if (x < 0)
        diag_warning(w->d, in->span, "%s is negative (%.3g %s): its energy has no lower bound",
                     in->name, x, unit);
    else
        diag_warning(w->d, in->span, "%s has %.3g %s", in->name, x, unit);
    diag_note(w->d, in->span, "advice: look at its unit (1M is 1e-3, 1MEG is 1e6; 1F is 1e-15)");
}

static void look_at_coupling(doctor *w, const flat_inst *in)
{
    const double k = value_of(in, "k");
    if (!(fabs(k) >= 1))
        return;
    w->n_found++;
    diag_warning(w->d, in->span, "%s couples completely (k = %.9g): currents have no unique value",
                 in->name, k);
    diag_note(w->d, in->span, "advice: k=0.9999, or an ideal transformer of controlled sources");
}

static void look_at_gain(doctor *w, const flat_inst *in)
{
    const double gain = value_of(in, "gain");
    if (!(fabs(gain) > MOST_GAIN) || in->rare->expr)
        return;
    w->n_found++;
    diag_warning(w->d, in->span,
                 "%s has a gain of %.3g: an input of %.2g moves its output by its tolerance",
                 in->name, gain, w->o->vntol / fabs(gain));
    diag_note(w->d, in->span,
              "advice: 1e6 gives the same circuit to 1e-6; limit() or tanh() bounds the output");
}

/* -- sources -- */

static void jump(doctor *w, const flat_inst *in, const char *what, double t)
{
    w->n_found++;
    diag_warning(w->d, in->rare->source->span, "%s %s within %.3g s, of %.3g s in all", in->name,
                 what, t, w->tstop);
    diag_note(w->d, in->rare->source->span, "advice: a slope of at least %.1g s",
              SHORTEST * w->tstop);
}

static void look_at_source(doctor *w, const flat_inst *in)
{
    const flat_source *s = in->rare->source;
    const size_t n = vec_len(s->arg);
    if (level_of(s) > MOST_SOURCE) {
        w->n_found++;
        diag_warning(w->d, s->span, "%s has %.3g %s", in->name, level_of(s),
                     in->letter == 'v' ? "V" : "A");
        diag_note(w->d, s->span, "advice: look at its unit (1M is 1e-3, 1MEG is 1e6)");
    }
    if (!(w->tstop > 0))
        return;
    const double least = SHORTEST * w->tstop;
    if (s->wave == FLAT_PULSE && n > 1 && s->arg[0] != s->arg[1])
        for (size_t k = 3; k < 5 && k < n; k++)
            if (s->arg[k] > 0 && s->arg[k] < least) {
                jump(w, in, k == 3 ? "rises" : "falls", s->arg[k]);
                break;
            }
    for (size_t k = 0; s->wave == FLAT_PWL && k + 3 < n; k += 2)
        if (s->arg[k + 1] != s->arg[k + 3] && s->arg[k + 2] - s->arg[k] < least) {
            jump(w, in, "jumps", s->arg[k + 2] - s->arg[k]);
            break;
        }
}

/* -- expressions that jump -- */

static bool of_voltages(const net_expr *e)
{
    bool any = e->op == NET_VNODE || e->op == NET_IBRANCH;
    for (int32_t k = 0; k < e->n_arg && !any; k++)
        any = of_voltages(e->arg[k]);
    return any;
}

static bool steps(net_fn fn)
{
    return fn == NET_FN_U || fn == NET_FN_SGN || fn == NET_FN_INT || fn == NET_FN_FLOOR ||
           fn == NET_FN_CEIL || fn == NET_FN_NINT || fn == NET_FN_ROUND || fn == NET_FN_FMOD ||
           (fn >= NET_FN_EQ0 && fn <= NET_FN_LE0);
}

/* A part of e that jumps where a voltage crosses a bound; NULL: none. `a ? x : y` counts only if x
 * and y are different numbers: whether two expressions meet at the bound is not tested. */
static const net_expr *jumping(const net_expr *e)
{
    const net_expr *in = NULL;
    if (e->op == NET_CALL && steps(e->fn) && of_voltages(e))
        return e;
    if (e->op >= NET_LT && e->op <= NET_OR)
        return of_voltages(e) ? e : NULL;
    if (e->op == NET_COND) {
        const net_expr *a = e->arg[1], *b = e->arg[2];
        if (of_voltages(e->arg[0]) && a->op == NET_NUM && b->op == NET_NUM)
            return a->num != b->num ? e : NULL;
        in = jumping(a);
        return in ? in : jumping(b);
    }
    for (int32_t k = 0; k < e->n_arg && !in; k++)
        in = jumping(e->arg[k]);
    return in;
}

static void look_at_expression(doctor *w, const flat_inst *in)
{
    const net_expr *e = in->rare->expr ? jumping(in->rare->expr) : NULL;
    if (!e)
        return;
    w->n_found++;
    vec_push(w->jumps, in->name);
    diag_warning(w->d, in->span,
                 "%s jumps where voltages cross a border (%s): no point on the jump is a solution",
                 in->name, e->op == NET_CALL ? net_fn_text(e->fn) : net_op_text(e->op));
    diag_note(w->d, in->span,
              "advice: a steep slope in place of the jump: 0.5*(1+tanh((v-v0)/10m))");
}

/* -- models that jump -- */

static void tell_jump(doctor *w, int32_t device, const rep_jump *j)
{
    const ckt_device_facts f = ckt_device(sim_ckt(w->s), device);
    const ckt_unknown *u = ckt_unknowns(sim_ckt(w->s));
    const bool current = u[j->row].kind == CKT_VOLTAGE;
    w->n_found++;
    diag_warning(w->d, f.span,
                 "%s: the %s '%s' jumps from %.3g to %.3g %s where v(%s) crosses %.4g V: no point "
                 "on the jump is a solution",
                 f.name,
                 j->of_charge ? "charge of"
                 : current    ? "current into"
                              : "equation of",
                 u[j->row].name, j->from, j->to,
                 j->of_charge ? "C"
                 : current    ? "A"
                              : "V",
                 u[j->crossed].name, j->at);
    diag_note(w->d, f.span,
              "advice: a steep slope in place of the jump in the model: "
              "0.5*(1+tanh((v-v0)/10m))");
}

static bool is_told(const doctor *w, const char *name)
{
    bool told = false;
    for (size_t i = 0; i < vec_len(w->jumps) && !told; i++)
        told = is_word(w->jumps[i], name);
    return told;
}

/* Whether an earlier device has the model and the parameters of this one. */
static bool is_like_another(const ckt_device_facts *seen, const ckt_device_facts *f)
{
    bool like = false;
    for (size_t i = 0; i < vec_len(seen) && !like; i++)
        like = seen[i].model == f->model && seen[i].row == f->row;
    return like;
}

/* Devices of the first MOST_KINDS models and parameters, at the operating point; if none was found,
 * where no two voltages are equal. */
static void look_at_models(doctor *w)
{
    enum { MOST_KINDS = 32 };
    if (sim_build(w->s))
        return;
    ckt *c = sim_ckt(w->s);
    const double golden = 0.6180339887498949, *op = sim_last_op(w->s);
    double reach = fmax(w->supply, 1);
    double *x = NULL;
    ckt_device_facts *seen = NULL;
    vec_extend(x, (size_t)ckt_n(c) + 1);
    for (int32_t i = 1; op && i <= ckt_n(c); i++)
        if (ckt_unknowns(c)[i].node)
            reach = fmax(reach, fabs(op[i]));
    for (int32_t i = 1; i <= ckt_n(c); i++)
        x[i] = op ? op[i] : reach * fmod(i * golden, 1);
    for (int32_t i = 0; i < ckt_n_device(c) && vec_len(seen) < MOST_KINDS; i++) {
        const ckt_device_facts f = ckt_device(c, i);
        rep_jump j;
        if (is_told(w, f.name) || is_like_another(seen, &f))
            continue;
        vec_push(seen, f);
        if (rep_jump_find(w->s, i, x, reach, &j))
            tell_jump(w, i, &j);
    }
    vec_free(seen);
    vec_free(x);
}

/* -- nodes -- */

typedef struct node_facts {
    int32_t n_touch, n_cap, n_gate, n_current;
    double least, most; /* ohm, of resistors to other nodes than ground or to ground */
    const flat_inst *small, *large, *gate;
} node_facts;

static void add_touch(node_facts *n, const flat_inst *in, int32_t k)
{
    const double r = fabs(resistance(in));
    n->n_touch++;
    n->n_cap += in->letter == 'c';
    n->n_current += in->letter == 'i';
    if (in->letter == 'm' && k == 1) {
        n->n_gate++;
        n->gate = in;
    }
    if (r > 0 && (!n->small || r < n->least)) {
        n->least = r;
        n->small = in;
    }
    if (r > 0 && r < INFINITY && (!n->large || r > n->most)) {
        n->most = r;
        n->large = in;
    }
}

static void look_at_node(doctor *w, int32_t k, const node_facts *n)
{
    if (n->n_touch && n->n_gate && n->n_gate + n->n_cap == n->n_touch) {
        w->n_found++;
        diag_warning(w->d, n->gate->span,
                     "gate '%s' hangs on capacitors alone: gmin decides its operating point",
                     w->f->node[k]);
        diag_note(w->d, n->gate->span,
                  "advice: a resistor (1G) to where its dc level comes from, "
                  "or .ic v(%s)=...",
                  w->f->node[k]);
    } else if (n->n_current && n->n_current + n->n_cap + n->n_gate == n->n_touch) {
        w->n_found++;
        diag_warning(w->d, DIAG_NOWHERE,
                     "node '%s' has current sources and nothing that conducts: gmin carries their "
                     "current in dc",
                     w->f->node[k]);
        diag_note(w->d, DIAG_NOWHERE, "advice: a resistor that bounds its voltage");
    }
    if (n->small && n->large && n->most * DBL_EPSILON > n->least * w->o->reltol) {
        w->n_found++;
        diag_warning(w->d, n->large->span,
                     "at node '%s' the current of %s (%.3g ohm) is lost in the rounding of that of "
                     "%s (%.3g ohm)",
                     w->f->node[k], n->large->name, n->most, n->small->name, n->least);
        diag_note(w->d, n->small->span, "advice: a larger %s, at least %.1g ohm, or none",
                  n->small->name, n->most * DBL_EPSILON / w->o->reltol);
    }
}

static void look_at_growers(doctor *w)
{
    flat_grower *g = flat_growers(w->f);
    for (size_t i = 0; i < vec_len(g); i++) {
        w->n_found++;
        diag_warning(w->d, g[i].negative->span,
                     "at node '%s' capacitances sum up to %.3g F and conductances to %.3g S: while "
                     "the nodes around it rest, its voltage grows by e each %.3g s",
                     w->f->node[g[i].node], g[i].farad, g[i].siemens, -g[i].farad / g[i].siemens);
        diag_note(w->d, g[i].negative->span,
                  "advice: a model that is meant so works with signals far slower than that only; "
                  "in transients above %.3g s its negative capacitors have negative resistors in "
                  "series, so that it does not grow",
                  -FLAT_GROWTHS * g[i].farad / g[i].siemens);
    }
    vec_free(g);
}

static void look_at_nodes(doctor *w)
{
    node_facts *node = NULL;
    vec_extend(node, vec_len(w->f->node));
    for (size_t i = 0; i < vec_len(w->f->inst); i++)
        for (int32_t k = 0; k < w->f->inst[i].n_node; k++)
            add_touch(&node[w->f->inst[i].node[k]], &w->f->inst[i], k);
    for (size_t k = 1; k < vec_len(node); k++)
        look_at_node(w, (int32_t)k, &node[k]);
    vec_free(node);
}

/* -- tolerances, the operating point -- */

static void look_at_options(doctor *w)
{
    const option_set *o = w->o;
    if (o->reltol < 1e3 * DBL_EPSILON) {
        w->n_found++;
        diag_warning(w->d, DIAG_NOWHERE, "reltol=%.3g is below what sums of doubles have",
                     o->reltol);
        diag_note(w->d, DIAG_NOWHERE, "advice: 1e-3 to 1e-9");
    } else if (o->reltol > LOOSE) {
        w->n_found++;
        diag_warning(w->d, DIAG_NOWHERE, "reltol=%.3g: results have errors of this size",
                     o->reltol);
        diag_note(w->d, DIAG_NOWHERE, "advice: 1e-3; looser tolerances seldom help Newton");
    }
    if (o->vntol < 4 * DBL_EPSILON * w->supply) {
        w->n_found++;
        diag_warning(w->d, DIAG_NOWHERE, "vntol=%.3g V is below the rounding of %.3g V", o->vntol,
                     w->supply);
        diag_note(w->d, DIAG_NOWHERE, "advice: at least %.1g V", 1e3 * DBL_EPSILON * w->supply);
    }
}

/* Whether the deck needs an operating point; transients from given values (uic) do not. */
static bool needs_op(const flat *f)
{
    bool other = !vec_len(f->ana);
    for (size_t i = 0; i < vec_len(f->ana); i++)
        other |= f->ana[i].kind != FLAT_TRAN || !f->ana[i].uic;
    return other;
}

/* Findings about many cards together: sums and gains. */
static void look_at_condition(doctor *w)
{
    rep_condition c;
    const diag_mark before = diag_try(w->d);
    const vs_status st = rep_condition_find(w->s, &c);
    diag_take_back(w->d, before);
    if (st || !c.unknown || !(c.moved > c.tol))
        return;
    const ckt_unknown *u = &ckt_unknowns(sim_ckt(w->s))[c.unknown];
    const char *unit = u->kind == CKT_VOLTAGE ? " V" : u->kind == CKT_CURRENT ? " A" : "";
    w->n_found++;
    diag_warning(w->d, DIAG_NOWHERE,
                 "rounding in the equations of the operating point may move '%s' by %.1e%s; its "
                 "tolerance is %.1e%s",
                 u->name, c.moved, unit, c.tol, unit);
    diag_note(w->d, DIAG_NOWHERE,
              "advice: less gain on the way to it, or no differences of large voltages or "
              "conductances in front of it");
}

static vs_status look_at_op(doctor *w)
{
    const flat_ana op = {.kind = FLAT_OP};
    const int before = w->d->n_error + w->d->n_warning;
    const vs_status st = sim_run(w->s, &op);
    if (st == VS_OK && w->d->n_error + w->d->n_warning == before) {
        w->method = sim_stats(w->s)->op_method;
        if (is_word(w->method, "Newton"))
            return VS_OK;
        w->n_found++;
        diag_warning(w->d, DIAG_NOWHERE, "plain Newton finds no operating point; %s does",
                     w->method);
        diag_note(w->d, DIAG_NOWHERE, "advice: .nodeset of what is known, or .tran with uic");
    } else {
        w->n_found++; /* the engine's message is the finding */
    }
    return st;
}

/* -- the report -- */

static void text_report(const doctor *w, FILE *out)
{
    if (w->n_found)
        fprintf(out, "doctor: %d finding%s, each with its card above or below\n", w->n_found,
                w->n_found == 1 ? "" : "s");
    else
        fputs("doctor: nothing found that makes this deck hard\n", out);
}

static void json_place(const diag_record *r, FILE *out)
{
    if (!r->file)
        return;
    fputs("\"file\": ", out);
    rep_json_string(out, r->file);
    fprintf(out, ", \"line\": %d, \"column\": %d, ", r->line, r->column);
}

/* Errors and warnings, each with the notes behind it; notes in front of the first are left out. */
static void json_report(const doctor *w, vs_status st, FILE *out)
{
    static const char *const level[] = {
        [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_NOTE] = "note"};
    arena mem;
    arena_init(&mem);
    fputs("{\n  \"findings\": [", out);
    bool any = false;
    for (size_t i = 0; i < vec_len(w->d->msg); i++) {
        const diag_record r = diag_record_of(w->d, i, &mem);
        if (r.level == DIAG_NOTE) {
            fputs(any && w->d->msg[i - 1].level == DIAG_NOTE ? ", " : "", out);
        } else {
            fputs(any ? "]},\n    {" : "\n    {", out);
            any = true;
        }
        if (r.level != DIAG_NOTE) {
            fprintf(out, "\"level\": \"%s\", ", level[r.level]);
            json_place(&r, out);
            fputs("\"message\": ", out);
        }
        if (r.level != DIAG_NOTE || any)
            rep_json_string(out, r.text);
        if (r.level != DIAG_NOTE)
            fputs(", \"notes\": [", out);
    }
    fputs(any ? "]}\n  ],\n" : "],\n", out);
    fputs("  \"operating_point\": ", out);
    if (st)
        fputs("false", out);
    else if (w->method)
        rep_json_string(out, w->method);
    else
        fputs("null", out);
    fputs("\n}\n", out);
    arena_fini(&mem);
}

vs_status rep_doctor(sim *s, bool json, FILE *out)
{
    doctor w = {.s = s, .f = sim_flat(s), .o = sim_option(s), .d = sim_diag(s)};
    w.n_found = w.d->n_warning; /* warnings about the structure */
    survey(&w);
    for (size_t i = 0; i < vec_len(w.f->inst); i++) {
        const flat_inst *in = &w.f->inst[i];
        switch (in->letter) {
        case 'r': look_at_resistor(&w, in); break;
        case 'c': look_at_range(&w, in, "c", SMALLEST_C, LARGEST_C, "F"); break;
        case 'l': look_at_range(&w, in, "l", SMALLEST_L, LARGEST_L, "H"); break;
        case 'k': look_at_coupling(&w, in); break;
        case 'e':
        case 'f':
        case 'g':
        case 'h': look_at_gain(&w, in); break;
        case 'v':
        case 'i': look_at_source(&w, in); break;
        default: break;
        }
        look_at_expression(&w, in);
    }
    look_at_growers(&w);
    look_at_nodes(&w);
    look_at_options(&w);
    const vs_status st = needs_op(w.f) ? look_at_op(&w) : VS_OK;
    if (!st && needs_op(w.f) && w.n_found == 0)
        look_at_condition(&w);
    look_at_models(&w);
    vec_free(w.jumps);
    if (json)
        json_report(&w, st, out);
    else
        text_report(&w, out);
    return st;
}
