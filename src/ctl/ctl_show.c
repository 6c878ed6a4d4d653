/* ctl_show.c - commands that show elements, models and figures: show, showmod, devhelp, rusage. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "ctl_priv.h"

/* -- elements and models -- */

static bool as_ngspice(const ctl *c) { return sim_opts(c->s)->manner.ngspice; }

/* The name of a parameter as show prints it: the main value of an element gets its usual name. */
static const char *shown_name(const ctl *c, const flat_param *p, char letter)
{
    static const char *const name[] = {"resistance", "capacitance", "inductance"};
    const char *at = letter ? strchr("rcl", letter) : NULL;
    const bool main_value = at && as_ngspice(c) && !strcmp(p->name, "value");
    return main_value ? name[at - "rcl"] : p->name;
}

/* Prints a line of the table, with ngspice's column widths, which ngspice-json-cli relies on. */
static void show_text(ctl *c, const char *name, const char *text)
{
    fprintf(c->out, as_ngspice(c) ? "%11s %21s\n" : " %12s  %s\n", name, text);
}

static void show_value(ctl *c, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, as_ngspice(c) ? "%.6g" : "%.12g", value == 0 ? 0 : value);
    show_text(c, name, text);
}

/* letter: of an element; 0: of a model. */
static void show_params(ctl *c, const flat_param *p, char letter)
{
    for (size_t i = 0; i < vec_len(p); i++)
        if (p[i].str)
            show_text(c, p[i].name, p[i].str);
        else if (!isnan(p[i].value)) /* NaN: the value is an expression */
            show_value(c, shown_name(c, &p[i], letter), p[i].value);
}

/* The line that ngspice prints above devices of a letter; PySpice reads it as their description. */
static const char *kind_of(char letter)
{
    static const char *const kind[26] = {
        ['b' - 'a'] = "ASRC: Arbitrary Source",
        ['c' - 'a'] = "Capacitor: Fixed capacitor",
        ['d' - 'a'] = "Diode: Junction Diode model",
        ['e' - 'a'] = "VCVS: Voltage controlled voltage source",
        ['f' - 'a'] = "CCCS: Current controlled current source",
        ['g' - 'a'] = "VCCS: Voltage controlled current source",
        ['h' - 'a'] = "CCVS: Current controlled voltage source",
        ['i' - 'a'] = "Isource: Independent current source",
        ['j' - 'a'] = "JFET: Junction Field effect transistor",
        ['k' - 'a'] = "mutual: Mutual inductors",
        ['l' - 'a'] = "Inductor: Inductors",
        ['m' - 'a'] = "Mos: MOSfet",
        ['q' - 'a'] = "BJT: Bipolar Junction Transistor",
        ['r' - 'a'] = "Resistor: Simple linear resistor",
        ['s' - 'a'] = "Switch: Ideal voltage controlled switch",
        ['t' - 'a'] = "Tranline: Lossless transmission line",
        ['v' - 'a'] = "Vsource: Independent voltage source",
        ['w' - 'a'] = "CSwitch: Current controlled ideal switch",
    };
    const bool known = letter >= 'a' && letter <= 'z' && kind[letter - 'a'];
    return known ? kind[letter - 'a'] : "Device: Model in Verilog-A";
}

static void show_head(ctl *c, const flat_inst *in)
{
    const char letter[] = {(char)(in->letter - 'a' + 'A'), 0};
    if (as_ngspice(c))
        fprintf(c->out, " %s\n", kind_of(in->letter));
    show_text(c, "device", in->name);
    if (in->rare->model)
        show_text(c, "model", in->rare->model->name);
    else if (as_ngspice(c) && strchr("rcl", in->letter))
        show_text(c, "model", letter);
}

/* Prints the values that the device computed at the last operating point. */
static void show_computed(ctl *c, const flat_inst *in)
{
    sim_detail *v = sim_device_computed(c->s, in->name);
    for (size_t i = 0; i < vec_len(v); i++)
        if (!isnan(v[i].value))
            show_value(c, v[i].name, v[i].value);
    vec_free(v);
}

static void show_instance(ctl *c, const flat_inst *in)
{
    show_head(c, in);
    for (int32_t i = 0; i < in->n_node && !as_ngspice(c); i++) /* PySpice reads pairs of words */
        fprintf(c->out, " %12s  %s\n", i ? "" : "nodes", sim_flat(c->s)->node[in->node[i]]);
    if (in->rare->source && in->rare->source->dc_given)
        show_value(c, "dc", in->rare->source->dc);
    if (in->rare->source && in->rare->source->ac_mag != 0) {
        show_value(c, "acmag", in->rare->source->ac_mag);
        show_value(c, "acphase", in->rare->source->ac_phase);
    }
    if (in->m != 1)
        show_value(c, "m", in->m);
    flat_room room;
    show_params(c, flat_params(in, &room), in->letter);
    show_computed(c, in);
    fputc('\n', c->out);
}

/* Prints the values named behind ':' that a device has, and notes in had[] which it has: each must
 * be one of some device.  from  the device's name in "@name[value]" */
static void show_named(ctl *c, const char *from, char *const *name, bool *had)
{
    for (size_t i = 0; i < vec_len(name); i++) {
        double x;
        if (!ctl_device_value(c, arena_printf(&c->scratch, "@%s[%s]", from, name[i]), &x))
            continue;
        show_value(c, name[i], x);
        had[i] = true;
    }
    fputc('\n', c->out);
}

/* "a b : x y": the words behind ':' are taken off. vec. */
static char **take_names(char **w)
{
    char **name = NULL;
    size_t n = 0;
    while (n < vec_len(w) && strcmp(w[n], ":"))
        n++;
    for (size_t i = n + 1; i < vec_len(w); i++)
        vec_push(name, w[i]);
    while (vec_len(w) > n)
        (void)vec_pop(w);
    return name;
}

/* What show or showmod should print: names of elements or models, and of values. */
typedef struct request {
    char **what, **name; /* vec; both empty: all */
    bool *had;           /* vec, for each of `name`: some element or model has it */
} request;

static request read_request(ctl *c, const char *text)
{
    request r = {.what = ctl_words(c, text)};
    r.name = take_names(r.what);
    vec_extend(r.had, vec_len(r.name));
    if (!vec_len(r.what))
        vec_push(r.what, (char *)"all");
    return r;
}

static bool wants_all_values(const request *r)
{
    return !vec_len(r->name) || !str_casecmp(r->name[0], "all");
}

static vs_status end_request(ctl *c, request *r, vs_status st)
{
    for (size_t i = 0; i < vec_len(r->name) && !st; i++)
        if (!r->had[i] && str_casecmp(r->name[i], "all"))
            st = ctl_fail(c, "none of them has a value '%s'", r->name[i]);
    vec_free(r->had);
    vec_free(r->name);
    vec_free(r->what);
    return st;
}

/* show [element | letter | all]... [: value...] */
vs_status ctl_show(ctl *c, const char *text)
{
    request r = read_request(c, text);
    vs_status st = sim_build(c->s);
    for (size_t k = 0; !st && k < vec_len(r.what); k++) {
        const char *what = r.what[k];
        bool any = false, all = !str_casecmp(what, "all");
        for (size_t i = 0; i < vec_len(sim_flat(c->s)->inst); i++) {
            const flat_inst *in = &sim_flat(c->s)->inst[i];
            bool letter = strlen(what) == 1 && str_lower_char(*what) == in->letter;
            if (!all && !letter && str_casecmp(what, in->name))
                continue;
            any = true;
            if (wants_all_values(&r)) {
                show_instance(c, in);
                continue;
            }
            show_head(c, in);
            show_named(c, in->name, r.name, r.had);
        }
        if (!any)
            st = ctl_fail(c, "there is no element '%s'", what);
    }
    return end_request(c, &r, st);
}

/* showmod [model | element | #element | all]... [: parameter...] */
vs_status ctl_showmod(ctl *c, const char *text)
{
    request r = read_request(c, text);
    vs_status st = sim_build(c->s);
    for (size_t k = 0; !st && k < vec_len(r.what); k++) {
        const char *what = r.what[k];
        bool any = false, all = !str_casecmp(what, "all");
        const flat_inst *in = *what == '#' ? ctl_find_instance(c, what + 1, strlen(what + 1))
                                           : ctl_find_instance(c, what, strlen(what));
        for (size_t i = 0; i < vec_len(sim_flat(c->s)->model); i++) {
            const flat_model *m = sim_flat(c->s)->model[i];
            if (!all && str_casecmp(what + (*what == '#'), m->name) &&
                !(in && in->rare->model == m))
                continue;
            show_text(c, "model", m->name);
            show_text(c, "type", m->type);
            any = true;
            if (!wants_all_values(&r)) {
                show_named(c, m->name, r.name, r.had);
                continue;
            }
            show_params(c, m->param, 0);
            fputc('\n', c->out);
        }
        if (!any && in && as_ngspice(c))
            fprintf(c->out, "%11s %21c\n\n", "model", in->letter);
        else if (!any && !all)
            st = ctl_fail(c, "there is no model '%s'", what);
    }
    return end_request(c, &r, st);
}

/* -- what models have -- */

static void print_help(const va_module *m, bool csv, FILE *out)
{
    const char *form = csv ? "%d, %s, %s, %s\n" : "%d\t %s\t %s\t %s\n";
    int k = 0;
    fprintf(out, "%s - %s\n\n%s\n", m->name, m->desc,
            csv ? "id#, Name, Dir, Description" : "id#\t Name\t Dir\t Description");
    for (size_t i = 0; i < vec_len(m->param); i++)
        if (!m->param[i].local)
            fprintf(out, form, ++k, m->param[i].name, "inout", m->param[i].desc);
    for (size_t i = 0; i < vec_len(m->opvar); i++)
        fprintf(out, form, ++k, m->opvar[i].name, "out", m->opvar[i].desc);
}

/* devhelp [-csv] [model]: the names of models; parameters and computed values of one. */
vs_status ctl_devhelp(ctl *c, const char *text)
{
    mdl_lib *lib = sim_opts(c->s)->lib;
    char **w = ctl_words(c, text);
    const char **known = mdl_names(lib);
    const bool csv = vec_len(w) && !strcmp(w[0], "-csv");
    const char *name = csv < vec_len(w) ? w[csv] : NULL;
    mdl_model *m = name ? mdl_find(lib, name) : NULL;
    vs_status st = VS_OK;
    for (size_t i = 0; !name && i < vec_len(known); i++)
        fprintf(c->out, "%s\n", known[i]);
    if (m) {
        print_help(mdl_module(m), csv, c->out);
    } else if (name) {
        st = ctl_fail(c, "there is no model '%s'", name);
        diag_suggest(c->d, name, known, vec_len(known));
    }
    vec_free(w);
    return st;
}

/* -- what the run has taken -- */

/* One line of rusage; false: there is no such word. */
static bool usage_line(ctl *c, const char *word)
{
    const sim_stat *st = sim_stats(c->s);
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    const double cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    if (!str_casecmp(word, "time"))
        fprintf(c->out, "CPU time = %.3f s\n", cpu);
    else if (!str_casecmp(word, "tottime"))
        fprintf(c->out, "Total analysis time = %.3f s\n", sim_analysing(st));
    else if (!str_casecmp(word, "space"))
        fprintf(c->out, "Maximum program size = %.3f MB\n", (double)u.ru_maxrss / 1024);
    else if (!str_casecmp(word, "equations"))
        fprintf(c->out, "Circuit equations = %d\n", st->unknowns);
    else if (!str_casecmp(word, "accept"))
        fprintf(c->out, "Transient timepoints: accepted = %lld, rejected = %lld\n",
                (long long)st->accepted, (long long)st->rejected);
    else if (!str_casecmp(word, "totiter"))
        fprintf(c->out, "Total iterations = %lld\n", (long long)st->iterations);
    else
        return false;
    return true;
}

/* rusage [everything | all | word...] */
vs_status ctl_rusage(ctl *c, const char *text)
{
    static const char *const known[] = {"time",      "tottime", "space",
                                        "equations", "accept",  "totiter"};
    char **w = ctl_words(c, text);
    vs_status st = VS_OK;
    const bool all = !vec_len(w) || !str_casecmp(w[0], "everything") || !str_casecmp(w[0], "all");
    for (size_t i = 0; all && i < VS_COUNT(known); i++)
        (void)usage_line(c, known[i]);
    for (size_t i = 0; !all && i < vec_len(w) && !st; i++)
        if (!usage_line(c, w[i])) {
            st = ctl_fail(c,
                          "rusage has no '%s': everything, or some of time, tottime, space, "
                          "equations, accept, totiter",
                          w[i]);
            diag_suggest(c->d, w[i], known, VS_COUNT(known));
        }
    vec_free(w);
    return st;
}
