/* elab_bind.c - instance and model card to module, parameter set and terminals. */
#include "elab_priv.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

/* -- modules -- */

typedef struct builtin { /* model types of SPICE */
    const char *type;
    int level; /* 0: any */
    const char *module;
    int polarity; /* value of parameter `type`; 0: it has none */
    int min_node; /* terminals that must be given */
} builtin;

static const builtin builtins[] = {
    {"r", 0, "resistor", 0, 2},    {"res", 0, "resistor", 0, 2}, {"c", 0, "capacitor", 0, 2},
    {"cap", 0, "capacitor", 0, 2}, {"l", 0, "inductor", 0, 2},   {"ind", 0, "inductor", 0, 2},
    {"d", 0, "diode", 0, 2},       {"nmos", 1, "mos1", 1, 4},    {"pmos", 1, "mos1", -1, 4},
    {"nmos", 2, "mos2", 1, 4},     {"pmos", 2, "mos2", -1, 4},   {"nmos", 3, "mos3", 1, 4},
    {"pmos", 3, "mos3", -1, 4},    {"nmos", 6, "mos6", 1, 4},    {"pmos", 6, "mos6", -1, 4},
    {"vdmos", 0, "vdmos", 1, 3},   {"vdmosn", 0, "vdmos", 1, 3}, {"vdmosp", 0, "vdmos", -1, 3},
    {"npn", 1, "bjt", 1, 3},       {"pnp", 1, "bjt", -1, 3},     {"npn", 4, "vbic", 1, 3},
    {"pnp", 4, "vbic", -1, 3},     {"npn", 9, "vbic", 1, 3},     {"pnp", 9, "vbic", -1, 3},
    {"njf", 1, "jfet", 1, 3},      {"pjf", 1, "jfet", -1, 3},    {"njf", 2, "jfet2", 1, 3},
    {"pjf", 2, "jfet2", -1, 3},    {"nmf", 1, "mesfet", 1, 3},   {"pmf", 1, "mesfet", -1, 3},
    {"sw", 0, "sw", 0, 4},         {"csw", 0, "csw", 0, 2},
};

static const char *plain_module(char letter)
{
    return letter == 'r'   ? "resistor"
           : letter == 'c' ? "capacitor"
           : letter == 'l' ? "inductor"
                           : NULL;
}

/* What a bare value on the line of an element means. */
static const char *positional(char letter)
{
    static const struct {
        char letter;
        const char *param;
    } t[] = {{'r', "r"},    {'c', "c"},    {'l', "l"},   {'d', "area"},
             {'q', "area"}, {'j', "area"}, {'z', "area"}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        if (t[i].letter == letter)
            return t[i].param;
    return NULL;
}

mdl_model *elab_module(elab *e, const char *name, diag_span at)
{
    mdl_model *m = mdl_find(e->lib, name);
    if (!m)
        diag_error(e->d, at, "the standard model '%s' cannot be loaded", name);
    return m;
}

static int model_level(const flat_model *c)
{
    double level = 1;
    for (size_t i = 0; i < vec_len(c->param); i++)
        if (!strcmp(c->param[i].name, "level"))
            level = c->param[i].value;
    return level == floor(level) && fabs(level) < 1000 ? (int)level : -1;
}

static bool is_builtin_type(const char *type)
{
    for (size_t i = 0; i < VS_COUNT(builtins); i++)
        if (!strcmp(builtins[i].type, type))
            return true;
    return false;
}

static const builtin *find_builtin(const flat_model *c)
{
    for (size_t i = 0; i < VS_COUNT(builtins); i++) {
        const builtin *b = &builtins[i];
        if (!strcmp(b->type, c->type) && (b->level == 0 || b->level == model_level(c)))
            return b;
    }
    return NULL;
}

/* "1, 2, 3": the levels of a type. */
static const char *level_list(elab *e, const char *type)
{
    const char *s = "";
    for (size_t i = 0; i < VS_COUNT(builtins); i++)
        if (!strcmp(builtins[i].type, type))
            s = elab_printf(e, "%s%s%d", s, *s ? ", " : "", builtins[i].level);
    return s;
}

static const char **known_types(elab *e)
{
    const char **v = NULL;
    for (size_t i = 0; i < VS_COUNT(builtins); i++)
        vec_push(v, builtins[i].type);
    const char **all = mdl_names(e->lib);
    for (size_t i = 0; i < vec_len(all); i++)
        vec_push(v, all[i]);
    return v;
}

/* Does this file define the module? */
static bool defines(const char *path, const char *module)
{
    enum { MOST = 1 << 22 };
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0, read = 0;
    bool found = false;
    for (ssize_t n; f && !found && read < MOST && (n = getline(&line, &cap, f)) > 0;
         read += (size_t)n) {
        const char *s = line + strspn(line, " \t");
        if (strncmp(s, "module", 6) != 0 || !strchr(" \t", s[6]))
            continue;
        s += 6 + strspn(s + 6, " \t");
        const size_t len = strcspn(s, " \t(;\r\n");
        found = len == strlen(module) && !strncasecmp(s, module, len);
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

/* A .va file in this folder, or in one below it, that defines the module; NULL: none. */
static const char *source_in(elab *e, const char *folder, const char *module, int below)
{
    DIR *d = opendir(folder);
    const char *found = NULL;
    int seen = 0;
    for (struct dirent *x; d && !found && seen < 200 && (x = readdir(d));) {
        const size_t n = strlen(x->d_name);
        if (x->d_name[0] == '.')
            continue;
        seen++;
        const char *path = elab_printf(e, "%s/%s", folder, x->d_name);
        if (n > 3 && !strcmp(x->d_name + n - 3, ".va"))
            found = defines(path, module) ? path : NULL;
        else if (below > 0 && !strchr(x->d_name, '.'))
            found = source_in(e, path, module, below - 1);
    }
    if (d)
        closedir(d);
    return found;
}

/* Kits have their Verilog-A beside the libraries: a folder va or verilog-a there or one or two up.
 */
static const char *find_source(elab *e, diag_span at, const char *module)
{
    static const char *const folder[] = {"va",           "../va",           "../../va", "verilog-a",
                                         "../verilog-a", "../../verilog-a", "."};
    const char *file = at.file >= 0 ? e->d->file[at.file].name : "", *slash = strrchr(file, '/');
    const char *found = NULL;
    for (size_t i = 0; i < VS_COUNT(folder) && !found; i++)
        found = source_in(
            e, slash ? elab_printf(e, "%.*s/%s", (int)(slash - file), file, folder[i]) : folder[i],
            module, strcmp(folder[i], ".") ? 1 : 0);
    return found;
}

static void unknown_type(elab *e, const flat_model *c)
{
    if (is_builtin_type(c->type)) {
        diag_error(e->d, c->span,
                   "model '%s': level %d of type '%s' is not supported; %s %s, and any "
                   "Verilog-A module by its name as the type",
                   c->name, model_level(c), c->type, level_list(e, c->type),
                   strchr(level_list(e, c->type), ' ') ? "are" : "is");
        diag_note(e->d, DIAG_NOWHERE,
                  "a card .hdl \"FILE\" loads a Verilog-A source or a compiled library (.osdi); "
                  "the type of "
                  "a model card is then the name of its module");
        return;
    }
    diag_error(e->d, c->span, "model '%s' has the unknown type '%s'", c->name, c->type);
    const char *source = find_source(e, c->span, c->type);
    if (source) {
        diag_note(e->d, DIAG_NOWHERE,
                  "a card .hdl \"%s\" in the deck, or a line osdi \"%s\" in .spiceinit, loads it",
                  source, source);
        return;
    }
    const char **v = known_types(e);
    diag_suggest(e->d, c->type, v, vec_len(v));
    diag_note(e->d, DIAG_NOWHERE,
              "types are r c l d sw csw npn pnp njf pjf nmf pmf nmos pmos vdmos and "
              "the names of Verilog-A modules (vsim models lists them)");
    vec_free(v);
}

/* The module of a model card; *b is its builtin entry or NULL. NULL after a message. */
static mdl_model *module_of_card(elab *e, const flat_model *c, const builtin **b)
{
    *b = find_builtin(c);
    mdl_model *m = *b                         ? mdl_find(e->lib, (*b)->module)
                   : is_builtin_type(c->type) ? NULL
                                              : mdl_find(e->lib, c->type);
    if (!m)
        unknown_type(e, c);
    return m;
}

/* -- parameters -- */

int32_t elab_param(elab *e, mdl_model *m, const char *name)
{
    return mdl_find_param(m, str_intern0(e->names, name));
}

static void unknown_param(elab *e, mdl_model *m, const flat_param *p, const char *owner)
{
    const va_module *mod = mdl_module(m);
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(mod->param); i++) {
        if (mod->param[i].local)
            continue;
        vec_push(cand, mod->param[i].name);
        for (size_t a = 0; a < vec_len(mod->param[i].alias); a++)
            vec_push(cand, mod->param[i].alias[a]);
    }
    diag_error(e->d, p->span, "%s: module '%s' has no parameter '%s'", owner, mod->name, p->name);
    diag_suggest(e->d, p->name, cand, vec_len(cand));
    diag_note(e->d, mod->span, "module '%s' is defined here", mod->name);
    const char *source = e->d->n_error == 1 ? find_source(e, p->span, mod->name) : NULL;
    if (source)
        diag_note(e->d, DIAG_NOWHERE, "the libraries may mean the one of .hdl \"%s\"", source);
    vec_free(cand);
}

/* The value of a parameter in the module's type. */
static bool convert(elab *e, const va_param *vp, const flat_param *p, const char *owner,
                    double *value)
{
    if (vp->type == VA_STRING) {
        if (!p->str) {
            diag_error(e->d, p->span, "%s: parameter '%s' needs a string", owner, p->name);
            return false;
        }
        *value = str_id(e->names, str_intern0(e->names, p->str));
        return true;
    }
    if (p->str) {
        diag_error(e->d, p->span, "%s: parameter '%s' needs a number, not '%s'", owner, p->name,
                   p->str);
        return false;
    }
    *value = p->value;
    if (vp->type == VA_INTEGER && p->value != round(p->value)) {
        *value = round(p->value);
        if (!strcmp(p->name, "level")) /* 103.60 tells simulators the version */
            return true;
        diag_warning(e->d, p->span, "%s: parameter '%s' is an integer; %g is rounded to %g", owner,
                     p->name, p->value, *value);
    }
    return true;
}

/* Parameters of other programs' cards that say nothing about the device itself. */
bool elab_is_accepted(elab *e, const flat_param *p, const char *owner)
{
    static const char *const named[] = {
        "version", "lmin", "lmax", "wmin", "wmax", "mfg", "icrating", "vceo", "iave", "vpk",
        "binunit",
        /* limits of safe operation */
        "bv_max", "fv_max", "id_max", "idr_max", "pd_max", "te_max", "ic_max", "ib_max", "vbe_max",
        "vbc_max", "vce_max", "vcs_max", "vgs_max", "vgd_max", "vgb_max", "vds_max", "vbs_max",
        "vbd_max", "vgsr_max", "vgdr_max", "vgbr_max", "vbsr_max", "vbdr_max", "rth_ext",
        "derating",
        /* soft recovery, self-heating of diode and bipolar transistor */
        "vp", "rth0", "cth0"};
    if (!strcmp(p->name, "level"))
        return true;
    for (size_t i = 0; i < VS_COUNT(named); i++)
        if (!strcmp(p->name, named[i])) {
            diag_warning(e->d, p->span, "%s: parameter '%s' has no effect here", owner, p->name);
            return true;
        }
    return false;
}

static bool add_polarity(elab *e, elab_card *k, const builtin *b)
{
    const int32_t p = elab_param(e, k->mdl, "type");
    if (p < 0) {
        diag_error(e->d, k->model->span, "module '%s' has no parameter 'type'",
                   mdl_module(k->mdl)->name);
        return false;
    }
    vec_push(k->given, (mdl_given){p, b->polarity});
    return true;
}

/* SPICE says the kind of a transistor twice: npn as a parameter of a card is such a flag. Only
 * pchan of a vdmos card says more than the type: *polarity -1. */
static bool is_flag_of_type(const flat_param *p, int *polarity)
{
    static const char *const flag[] = {"npn", "pnp", "nmos",  "pmos",   "njf",    "pjf",
                                       "nmf", "pmf", "nchan", "vdmosn", "vdmosp", "pchan"};
    for (size_t i = 0; i < VS_COUNT(flag); i++)
        if (!strcmp(p->name, flag[i])) {
            *polarity = !strcmp(p->name, "pchan") && p->value != 0 ? -1 : 0;
            return true;
        }
    return false;
}

static bool resolve_params(elab *e, elab_card *k, bool is_builtin)
{
    bool ok = true;
    const char *owner = elab_printf(e, "model '%s'", k->model->name);
    for (size_t i = 0; i < vec_len(k->model->param); i++) {
        const flat_param *p = &k->model->param[i];
        const int32_t at = mdl_find_param(k->mdl, p->name);
        double value;
        int polarity = 0;
        if (at < 0) {
            if (is_builtin && is_flag_of_type(p, &polarity)) {
                if (polarity)
                    vec_push(k->given, (mdl_given){elab_param(e, k->mdl, "type"), polarity});
            } else if (!elab_is_accepted(e, p, owner)) {
                unknown_param(e, k->mdl, p, owner);
                ok = false;
            }
        } else if (convert(e, &mdl_module(k->mdl)->param[at], p, owner, &value)) {
            vec_push(k->given, (mdl_given){at, value});
        } else {
            ok = false;
        }
    }
    return ok;
}

bool elab_given(elab *e, const flat_model *c, mdl_model *m, mdl_given **given)
{
    elab_card k = {.model = c, .mdl = m};
    const bool ok = resolve_params(e, &k, false);
    *given = k.given;
    return ok;
}

static void resolve_card(elab *e, elab_card *k)
{
    const builtin *b;
    vec_clear(k->given);
    k->resolved = true;
    k->mdl = module_of_card(e, k->model, &b);
    k->ok = k->mdl && (!b || !b->polarity || add_polarity(e, k, b));
    k->ok = k->ok && resolve_params(e, k, b != NULL);
}

/* The card of a .model, resolved at its first use; its messages come once. */
static const elab_card *card_of(elab *e, const flat_model *c)
{
    int32_t at = map_get(&e->card_of, map_key(c), -1);
    if (at < 0) {
        at = (int32_t)vec_len(e->card);
        vec_push(e->card, (elab_card){.model = c});
        map_set(&e->card_of, map_key(c), at);
    }
    if (!e->card[at].resolved)
        resolve_card(e, &e->card[at]);
    return e->card[at].ok ? &e->card[at] : NULL;
}

void elab_forget_card(elab *e, const flat_model *m)
{
    const int32_t at = map_get(&e->card_of, map_key(m), -1);
    if (at >= 0)
        e->card[at].resolved = false;
}

/* Appends (or replaces) one parameter; e->position holds index + 1 of those present. */
static void put(elab *e, mdl_given **v, int32_t param, double value)
{
    if (e->position[param]) {
        (*v)[e->position[param] - 1].value = value;
        return;
    }
    vec_push(*v, (mdl_given){param, value});
    e->position[param] = (int32_t)vec_len(*v);
}

static void clear_positions(elab *e, const mdl_given *v)
{
    for (size_t i = 0; i < vec_len(v); i++)
        e->position[v[i].param] = 0;
}

static bool add_instance_param(elab *e, const flat_inst *in, mdl_model *m, const flat_param *p,
                               mdl_given **v, double *kelvin)
{
    const bool bare = !strcmp(p->name, "value");
    const char *name = bare ? positional(in->letter) : p->name;
    const char *owner = in->name;
    if (!bare && !strcmp(name, "m"))
        return true; /* multiplicity, in flat_inst.m */
    const int32_t at = !name ? -1 : bare ? elab_param(e, m, name) : mdl_find_param(m, name);
    double value;
    if (at >= 0) {
        if (!convert(e, &mdl_module(m)->param[at], p, owner, &value))
            return false;
        put(e, v, at, value);
        return true;
    }
    if (!bare && !strcmp(name, "temp")) {
        *kelvin = p->value + 273.15;
        return true;
    }
    if (!bare && !strcmp(name, "dtemp")) {
        *kelvin = elab_kelvin(e) + p->value;
        return true;
    }
    if (bare)
        diag_error(e->d, p->span, "%s: a bare value means nothing to module '%s'; write name=value",
                   owner, mdl_module(m)->name);
    else
        unknown_param(e, m, p, owner);
    return false;
}

/* -- terminals -- */

static const char *port_list(elab *e, const va_module *mod)
{
    const char *s = "";
    for (int32_t i = 0; i < mod->n_port; i++)
        s = elab_printf(e, "%s%s%s", s, i ? " " : "", mod->unknown[i].name);
    return s;
}

/* A bipolar transistor of a model type of SPICE, not of a module of the user's. */
static bool classic_bipolar(const flat_inst *in)
{
    return in->letter == 'q' && in->model && find_builtin(in->model);
}

static bool bind_terminals(elab *e, const flat_inst *in, mdl_model *m, int min_node,
                           int32_t *terminal, uint8_t *portconn)
{
    const va_module *mod = mdl_module(m);
    if (in->n_node > mod->n_port) {
        diag_error(e->d, in->node_span ? in->node_span[mod->n_port] : in->span,
                   "%s: %d nodes given, but '%s' has only %d: %s", in->name, (int)in->n_node,
                   mod->name, (int)mod->n_port, port_list(e, mod));
        return false;
    }
    if (in->n_node < min_node) {
        diag_error(e->d, in->span, "%s: %d nodes given, but '%s' needs %d: %s", in->name,
                   (int)in->n_node, mod->name, min_node, port_list(e, mod));
        return false;
    }
    for (int32_t i = 0; i < mod->n_port; i++) {
        terminal[i] = i < in->n_node ? e->node[in->node[i]] : -1;
        portconn[i] = i < in->n_node;
    }
    const bool classic =
        classic_bipolar(in); /* all that its line leaves out is ground; else the substrate is */
    for (int32_t i = in->n_node; in->letter == 'q' && i < mod->n_port; i++)
        if (classic || (i == 3 && in->n_node == 3))
            terminal[i] = 0;
    for (size_t i = 0; i < vec_len(in->ref) && in->n_node + (int32_t)i < mod->n_port; i++) {
        const int32_t t = in->n_node + (int32_t)i;
        portconn[t] = true;
        if (!elab_control_branch(e, in, in->ref[i], &terminal[t]))
            return false;
    }
    return true;
}

/* -- instances -- */

/* What the static code of a module prints, once per parameter set: $warning and $error as warnings
 * of the card, $strobe and the others as lines of the run. */
static void report_row(elab *e, const flat_inst *in, const mdl_model *m, int32_t row)
{
    size_t n;
    const mdl_message *say = mdl_row_messages(m, row, &n);
    static const char prefix[] = "warning: ";
    for (size_t i = 0; i < n; i++) {
        const bool warning = say[i].kind == IR_EFF_WARNING;
        if (warning || say[i].kind == IR_EFF_ERROR)
            diag_warning(e->d, in->span, "%s: %s", in->name,
                         say[i].text + (warning ? sizeof prefix - 1 : 0));
        else
            ckt_say(e->c, say[i].text);
    }
}

static vs_status row_of(elab *e, const flat_inst *in, mdl_model *m, const mdl_given *given,
                        size_t n_given, const uint8_t *portconn, double temp, double mfactor,
                        int32_t *row)
{
    const mdl_env env = {.temp = temp,
                         .mfactor = mfactor,
                         .simparam = e->simparam,
                         .portconn = portconn,
                         .no_noise = !(e->opt.forms >> MDL_AC & 1)};
    const int32_t n_row = mdl_n_row(m);
    if (mdl_row(m, given, n_given, &env, in->span, in->name, row) != VS_OK)
        return VS_EINPUT;
    if (*row >= n_row)
        report_row(e, in, m, *row);
    return VS_OK;
}

static vs_status add_with_row(elab *e, const flat_inst *in, mdl_model *m, int32_t row,
                              const int32_t *terminal)
{
    if (in->letter == 'l')
        map_set(&e->row_of_inst, map_key(in->name), row);
    return ckt_add_device(e->c, in->name, m, row, terminal, in->span);
}

vs_status elab_add(elab *e, const flat_inst *in, mdl_model *m, const mdl_given *given,
                   size_t n_given, const int32_t *terminal, const uint8_t *portconn, double temp,
                   double mfactor)
{
    int32_t row;
    const vs_status st = row_of(e, in, m, given, n_given, portconn, temp, mfactor, &row);
    return st == VS_OK ? add_with_row(e, in, m, row, terminal) : st;
}

void elab_unknown_model(elab *e, const flat_inst *in)
{
    if (!in->word) {
        diag_error(e->d, in->span, "%s: a model is missing", in->name);
        return;
    }
    diag_error(e->d, in->model_span, "%s: unknown model '%s'", in->name, in->word);
    const char **cand = NULL, **all = mdl_names(e->lib);
    for (size_t i = 0; i < vec_len(e->f->model_name); i++)
        vec_push(cand, e->f->model_name[i]);
    for (size_t i = 0; i < vec_len(all); i++)
        vec_push(cand, all[i]);
    const char *near = str_nearest(in->word, cand, vec_len(cand));
    for (size_t i = 0; i < vec_len(e->f->model) && near; i++)
        if (e->f->model[i]->name == near) {
            diag_note(e->d, e->f->model[i]->span, "did you mean '%s', defined here?", near);
            near = NULL;
        }
    if (near)
        diag_note(e->d, DIAG_NOWHERE, "did you mean '%s'?", near);
    vec_free(cand);
}

/* Module of an instance, its card (or NULL) and how many terminals it needs. */
static mdl_model *module_of(elab *e, const flat_inst *in, const elab_card **card, int *min_node)
{
    *card = NULL;
    *min_node = 1;
    if (in->model) {
        const builtin *b = find_builtin(in->model);
        *card = card_of(e, in->model);
        *min_node = b ? b->min_node : 1;
        return *card ? (*card)->mdl : NULL;
    }
    mdl_model *m = NULL;
    if (in->word) {
        m = mdl_find(e->lib, in->word);
        if (!m)
            elab_unknown_model(e, in);
        return m;
    }
    if (plain_module(in->letter)) {
        mdl_model **known = &e->plain[in->letter == 'r' ? 0 : in->letter == 'c' ? 1 : 2];
        *min_node = 2;
        *known = *known ? *known : elab_module(e, plain_module(in->letter), in->span);
        return *known;
    }
    elab_unknown_model(e, in);
    return NULL;
}

/* R, C and L need a value from somewhere. */
static bool check_value(elab *e, const flat_inst *in, const elab_card *card)
{
    if (!plain_module(in->letter) || card || vec_len(in->param))
        return true;
    diag_error(e->d, in->span, "%s: the value is missing", in->name);
    return false;
}

/* Pairs of terminals that ic= of an element names, in its order. */
static void add_instance_ic(elab *e, const flat_inst *in, const int32_t *terminal)
{
    static const struct {
        char letter;
        int32_t n, pair[3][2];
    } t[] = {{'c', 1, {{0, 1}}},
             {'d', 1, {{0, 1}}},
             {'m', 3, {{0, 2}, {1, 2}, {3, 2}}}, /* vds, vgs, vbs */
             {'q', 2, {{1, 2}, {0, 2}}},         /* vbe, vce */
             {'j', 2, {{0, 2}, {1, 2}}},         /* vds, vgs */
             {'z', 2, {{0, 2}, {1, 2}}}};
    if (!in->ic_given)
        return;
    if (in->letter == 'l' && in->n_ic > 0 && elab_branch(e, in->name) > 0) {
        ckt_add_ic(e->c, elab_branch(e, in->name), 0, in->ic[0]);
        return;
    }
    for (size_t k = 0; k < VS_COUNT(t); k++)
        if (t[k].letter == in->letter) {
            for (int32_t i = 0; i < in->n_ic && i < t[k].n; i++)
                ckt_add_ic(e->c, terminal[t[k].pair[i][0]], terminal[t[k].pair[i][1]], in->ic[i]);
            return;
        }
    diag_warning(e->d, in->span, "%s: ic= is not supported for this element", in->name);
}

/* -- rows that are known -- */

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* All that the row of an instance depends on, in e->sign. false: texts, which no number stands for.
 */
static bool sign(elab *e, const flat_inst *in, const mdl_model *m, const elab_card *card)
{
    vec_clear(e->sign);
    vec_push(e->sign, (uint64_t)(uintptr_t)m);
    vec_push(e->sign, (uint64_t)(uintptr_t)(card ? card->model : NULL));
    vec_push(e->sign, (uint64_t)in->n_node << 8 | (unsigned char)in->letter);
    vec_push(e->sign, bits_of(in->m));
    for (size_t i = 0; i < vec_len(in->param); i++) {
        if (in->param[i].str)
            return false;
        vec_push(e->sign, (uint64_t)(uintptr_t)in->param[i].name);
        vec_push(e->sign, bits_of(in->param[i].value));
    }
    return true;
}

/* The row of an earlier instance with the present sign, -1: none. */
static int32_t row_seen(const elab *e, uint64_t hash)
{
    for (int32_t k = map_get(&e->seen_at, hash, -1); k >= 0; k = e->seen[k].next)
        if (e->seen[k].n == vec_len(e->sign) &&
            !memcmp(e->seen[k].sign, e->sign, e->seen[k].n * sizeof(uint64_t)))
            return e->seen[k].row;
    return -1;
}

static void remember_row(elab *e, uint64_t hash, int32_t row)
{
    const size_t n = vec_len(e->sign);
    uint64_t *copy = arena_array(&e->mem, uint64_t, n);
    memcpy(copy, e->sign, n * sizeof *copy);
    vec_push(e->seen, (elab_seen){copy, (uint32_t)n, row, map_get(&e->seen_at, hash, -1)});
    map_set(&e->seen_at, hash, (int32_t)vec_len(e->seen) - 1);
}

/* Geometry of MOS transistors that have none. */
static void default_geometry(elab *e, const flat_inst *in, mdl_model *m, mdl_given **v)
{
    static const struct {
        const char *name;
        ir_simparam of;
    } t[] = {{"l", IR_SIMPARAM_DEFL},
             {"w", IR_SIMPARAM_DEFW},
             {"ad", IR_SIMPARAM_DEFAD},
             {"as", IR_SIMPARAM_DEFAS}};
    for (size_t i = 0; in->letter == 'm' && i < VS_COUNT(t); i++) {
        const int32_t at = e->simparam[t[i].of] > 0 ? mdl_find_param(m, t[i].name) : -1;
        if (at >= 0)
            put(e, v, at, e->simparam[t[i].of]);
    }
}

/* A line without the thermal node has it at ground, as in ngspice: no self-heating, and no code for
 * it either. */
static void without_heat(elab *e, const flat_inst *in, mdl_model *m, mdl_given **v)
{
    const int32_t rth = elab_param(e, m, "rth"), selft = elab_param(e, m, "selft");
    if (in->n_node == mdl_module(m)->n_port || !classic_bipolar(in) || rth < 0 || selft < 0 ||
        !e->position[rth] || (*v)[e->position[rth] - 1].value == 0 ||
        (e->position[selft] && (*v)[e->position[selft] - 1].value == 0))
        return;
    diag_warning(
        e->d, in->span,
        "%s: rth has no effect: no thermal node (the fifth) is given, which is ground then",
        in->name);
    put(e, v, selft, 0);
}

/* The row of an instance from its card and parameters. */
static vs_status find_row(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card,
                          const uint8_t *portconn, int32_t *row)
{
    const bool known = sign(e, in, m, card);
    const uint64_t hash = known ? str_hash(e->sign, vec_len(e->sign) * sizeof *e->sign) : 0;
    if (known && (*row = row_seen(e, hash)) >= 0)
        return VS_OK;
    const va_module *mod = mdl_module(m);
    if (vec_len(e->position) < vec_len(mod->param))
        vec_extend(e->position, vec_len(mod->param) - vec_len(e->position));
    mdl_given *given = NULL;
    double kelvin = elab_kelvin(e);
    bool ok = true;
    default_geometry(e, in, m, &given);
    for (size_t i = 0; card && i < vec_len(card->given); i++)
        put(e, &given, card->given[i].param, card->given[i].value);
    for (size_t i = 0; i < vec_len(in->param); i++)
        ok &= add_instance_param(e, in, m, &in->param[i], &given, &kelvin);
    without_heat(e, in, m, &given);
    clear_positions(e, given);
    const vs_status st =
        ok ? row_of(e, in, m, given, vec_len(given), portconn, kelvin, in->m, row) : VS_EINPUT;
    if (known && st == VS_OK)
        remember_row(e, hash, *row);
    vec_free(given);
    return st;
}

vs_status elab_bind(elab *e, const flat_inst *in)
{
    const osdi_module *compiled = elab_osdi_module(e, in);
    if (compiled)
        return elab_osdi(e, in, compiled);
    const elab_card *card;
    int min_node;
    mdl_model *m = module_of(e, in, &card, &min_node);
    if (!m || !check_value(e, in, card))
        return VS_EINPUT;
    const va_module *mod = mdl_module(m);
    int32_t *terminal = NULL;
    uint8_t *portconn = NULL;
    vec_extend(terminal, mod->n_port);
    vec_extend(portconn, mod->n_port);
    vs_status st = bind_terminals(e, in, m, min_node, terminal, portconn) ? VS_OK : VS_EINPUT;
    int32_t row;
    if (st == VS_OK)
        st = find_row(e, in, m, card, portconn, &row);
    if (st == VS_OK)
        st = add_with_row(e, in, m, row, terminal);
    if (st == VS_OK)
        add_instance_ic(e, in, terminal);
    vec_free(terminal);
    vec_free(portconn);
    return st;
}
