/* elab_bind.c - instance and model card to module, parameter set and terminals. */
#include "elab_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"

/* -- modules -- */

static const char *plain_module(char letter)
{
    return letter == 'r'   ? "resistor"
           : letter == 'c' ? "capacitor"
           : letter == 'l' ? "inductor"
                           : NULL;
}

/* The parameter that a bare value on the line of an element sets. */
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

/* -- parameters -- */

int32_t elab_param(elab *e, mdl_model *m, const char *name)
{
    return mdl_find_param(m, str_intern0(e->names, name));
}

static void unknown_param(elab *e, mdl_model *m, const flat_param *p, const char *owner)
{
    const va_module *mod = mdl_module(m);
    diag_error(e->d, p->span, "%s: module '%s' has no parameter '%s'", owner, mod->name, p->name);
    elab_suggest_param(e, m, p->name);
    const char *source = e->d->n_error == 1 ? elab_find_source(e, p->span, mod->name) : NULL;
    if (source)
        diag_note(e->d, DIAG_NOWHERE, "the libraries may mean the one of .hdl \"%s\"", source);
}

/* Converts the value of a parameter to the type that the module declares. */
static bool convert(elab *e, const va_param *vp, const flat_param *p, const char *owner,
                    double *value)
{
    if (p->str && vp->type != VA_STRING && !strcmp(p->name, "version") &&
        !isnan(elab_version(p->str))) {
        *value = elab_version(p->str);
        return true;
    }
    if (vp->type == VA_STRING) {
        if (!p->str && !strcmp(p->name, "version")) {
            *value = str_id(e->names, str_intern0(e->names, elab_printf(e, "%g", p->value)));
            return true;
        }
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
bool elab_is_accepted(elab *e, const char *module, const flat_param *p, const char *owner)
{
    static const char *const named[] = {
        "version", "mfg", "icrating", "vceo", "iave", "vpk", "binunit",
        /* limits of safe operation, of other devices than theirs */
        "bv_max", "fv_max", "id_max", "idr_max", "pd_max", "te_max", "ic_max", "ib_max", "vbe_max",
        "vbc_max", "vce_max", "vcs_max", "vsub_max", "vgs_max", "vgd_max", "vgb_max", "vds_max",
        "vbs_max", "vbd_max", "vdb_max", "vsb_max", "vgsr_max", "vgdr_max", "vgbr_max", "vbsr_max",
        "vbdr_max", "rth_ext", "derating",
        /* soft recovery of a diode, self-heating of a Gummel-Poon transistor */
        "vp", "rth0", "cth0"};
    static const char *const silent[] = {"level", "lmin", "lmax", "wmin", "wmax"};
    /* what Xyce reads of cards of level 18 and does not use */
    static const char *const idle[] = {"m", "xj",  "fpe", "xqc", "mcv",   "ts",
                                       "k", "kvs", "tvs", "mth", "d1tnom"};
    if (module && !p->str && elab_is_limit(module, p->name))
        return true;
    for (size_t i = 0; i < VS_COUNT(silent); i++)
        if (!strcmp(p->name, silent[i]))
            return true;
    for (size_t i = 0; module && !strcmp(module, "mos18") && i < VS_COUNT(idle); i++)
        if (!strcmp(p->name, idle[i])) {
            diag_warning(e->d, p->span, "%s: parameter '%s' has no effect, nor has it in Xyce",
                         owner, p->name);
            return true;
        }
    for (size_t i = 0; i < VS_COUNT(named); i++)
        if (!strcmp(p->name, named[i])) {
            diag_warning(e->d, p->span, "%s: parameter '%s' has no effect here", owner, p->name);
            return true;
        }
    return false;
}

static bool add_polarity(elab *e, elab_card *k, const elab_binding *b)
{
    const int32_t p = elab_param(e, k->mdl, b->polarity);
    if (p < 0) {
        diag_error(e->d, k->model->span, "module '%s' has no parameter '%s'",
                   mdl_module(k->mdl)->name, b->polarity);
        return false;
    }
    vec_push(k->given, (mdl_given){p, b->value, DIAG_NOWHERE});
    return true;
}

/* Whether a parameter only repeats the type of its card (".model q npn (npn ...)"). The flag pchan
 * of a vdmos card is more than that: it sets *polarity to -1. */
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

/* A parameter by the name that modules give it: PSpice's cards write t_abs and t_rel_global for the
 * temperature of all devices of a model. */
static const char *usual_name(const elab_card *k, const char *name)
{
    if (k->spice && !strcmp(name, "t_abs"))
        return "temp";
    return k->spice && !strcmp(name, "t_rel_global") ? "dtemp" : name;
}

static bool resolve_params(elab *e, elab_card *k)
{
    bool ok = true;
    const flat_param **unknown = NULL;
    const char *owner = elab_printf(e, "model '%s'", k->model->name);
    for (size_t i = 0; i < vec_len(k->model->param); i++) {
        const flat_param *p = &k->model->param[i];
        const int32_t at = mdl_find_param(k->mdl, usual_name(k, p->name));
        double value;
        int polarity = 0;
        if (at >= 0) {
            if (convert(e, &mdl_module(k->mdl)->param[at], p, owner, &value))
                vec_push(k->given, (mdl_given){at, value, p->span});
            else
                ok = false;
        } else if (k->spice && is_flag_of_type(p, &polarity)) {
            if (polarity)
                vec_push(k->given, (mdl_given){elab_param(e, k->mdl, "type"), polarity, p->span});
        } else if (elab_is_accepted(e, mdl_module(k->mdl)->name, p, owner)) {
            continue;
        } else if (k->spice || e->opt.lenient) {
            vec_push(unknown, p);
        } else {
            unknown_param(e, k->mdl, p, owner);
            ok = false;
        }
    }
    elab_say_unknown(e, k->model, mdl_module(k->mdl)->name, unknown, k->mdl);
    vec_free(unknown);
    return ok;
}

bool elab_given(elab *e, const flat_model *c, mdl_model *m, mdl_given **given)
{
    elab_card k = {.model = c, .mdl = m, .spice = true};
    const bool ok = resolve_params(e, &k);
    *given = k.given;
    return ok;
}

/* Release 1.3 of VBIC, which is Xyce's, has no resistance below 1 mohm. One of 1e-9 ohm would leave
 * 6e-8 S of rounding to ground behind the elimination of its node (half a unit in the last place of
 * 1e9), which lies over the junctions of a transistor that is off. */
static void bound_resistances(elab *e, elab_card *k)
{
    static const char *const name[] = {"rcx", "rci", "rbx", "rbi", "re", "rs", "rbp"};
    static const double least = 1e-3;
    const int32_t rmin = elab_param(e, k->mdl, "rmin");
    if (rmin < 0) /* it is not VBIC that heats itself */
        return;
    vec_push(k->given, (mdl_given){rmin, least, DIAG_NOWHERE});
    for (size_t i = 0; i < vec_len(k->model->param); i++) {
        const flat_param *p = &k->model->param[i];
        for (size_t j = 0; j < VS_COUNT(name); j++)
            if (!strcmp(p->name, name[j]) && !p->str && p->value > 0 && p->value < least)
                diag_warning(
                    e->d, p->span,
                    "model '%s': %s=%g ohm is taken as %g ohm, the least that VBIC 1.3 has",
                    k->model->name, p->name, p->value, least);
    }
}

static void resolve_card(elab *e, elab_card *k)
{
    const elab_binding b = *elab_binding_of(e, k->model);
    vec_clear(k->given);
    k->resolved = true;
    k->ok = b.mdl != NULL;
    k->mdl = b.mdl;
    k->min_node = b.min_node;
    k->spice = b.spice;
    k->scales = b.scales;
    k->three = b.three;
    k->heats = b.heats;
    if (!k->ok)
        elab_unknown_type(e, k->model);
    k->ok = k->ok && (!b.polarity || add_polarity(e, k, &b));
    if (k->ok && k->three)
        vec_push(k->given, (mdl_given){elab_param(e, k->mdl, "subs"), 0, DIAG_NOWHERE});
    if (k->ok && k->heats)
        bound_resistances(e, k);
    k->ok = k->ok && resolve_params(e, k);
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
    const int32_t bound = map_get(&e->bound_of, map_key(m), -1);
    if (at >= 0)
        e->card[at].resolved = false;
    if (bound >= 0) /* the card's level may have changed, and with it the module */
        e->bound[bound] = elab_find_binding(e, m);
}

/* Appends (or replaces) one parameter; e->position holds index + 1 of those present. */
static void put(elab *e, mdl_given **v, mdl_given one)
{
    if (e->position[one.param]) {
        (*v)[e->position[one.param] - 1] = one;
        return;
    }
    vec_push(*v, one);
    e->position[one.param] = (int32_t)vec_len(*v);
}

static void clear_positions(elab *e, const mdl_given *v)
{
    for (size_t i = 0; i < vec_len(v); i++)
        e->position[v[i].param] = 0;
}

/* False, with a message: the parameter is temp or dtemp, and the device would be at or below 0 K.
 */
static bool warm(elab *e, const flat_param *p, const char *owner)
{
    const bool rise = !strcmp(p->name, "dtemp");
    if (p->str || (!rise && strcmp(p->name, "temp")))
        return true;
    const double kelvin = p->value + (rise ? elab_kelvin(e) : 273.15);
    if (!(kelvin > 0))
        diag_error(e->d, p->span, "%s: %s=%g is %g degC, not above -273.15 degC", owner, p->name,
                   p->value, kelvin - 273.15);
    return kelvin > 0;
}

static bool add_instance_param(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card,
                               const flat_param *p, mdl_given **v, double *kelvin)
{
    const bool bare = !strcmp(p->name, "value");
    const char *name = bare ? positional(in->letter) : p->name;
    const char *owner = in->name;
    if (!bare && !strcmp(name, "m"))
        return true; /* multiplicity, in flat_inst.m */
    if (!warm(e, p, owner))
        return false;
    const int32_t at = !name ? -1 : bare ? elab_param(e, m, name) : mdl_find_param(m, name);
    double value;
    if (at >= 0) {
        flat_param scaled = *p;
        if (card && card->spice && !card->scales)
            scaled.value = elab_scaled(e, in, p);
        if (!convert(e, &mdl_module(m)->param[at], &scaled, owner, &value))
            return false;
        put(e, v, (mdl_given){at, value, p->span});
        return true;
    }
    if (!bare && !p->str && (in->letter == 'r' || in->letter == 'c') &&
        elab_is_limit(mdl_module(m)->name, name))
        return true;
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
static bool classic_bipolar(const flat_inst *in, const elab_card *card)
{
    return in->letter == 'q' && card && card->spice;
}

static bool is_news(elab *e, const flat_inst *in, const char *text);

/* A third node of a diode whose card gives no rth0, so that its module is without a thermal node.
 * As in ngspice such a node is the user's, and the diode does nothing to it. */
static bool has_idle_node(elab *e, const flat_inst *in, const elab_card *card, const va_module *mod)
{
    if (in->letter != 'd' || !card || !card->spice || mod->n_port != 2 || in->n_node != 3)
        return false;
    const char *text = elab_printf(
        e,
        "a third node is a diode's thermal node where its card gives rth0; '%s' does not, so "
        "the junction does not heat itself, and the node is left alone",
        card->model->name);
    if (is_news(e, in, text))
        diag_warning(e->d, in->rare->node_span ? in->rare->node_span[2] : in->span, "%s: %s",
                     in->name, text);
    return true;
}

/* Whether the last of the nodes given is the thermal one, the module's last terminal: a SOI
 * transistor whose line says tnodeout. */
static bool ends_thermal(const flat_inst *in, const va_module *mod)
{
    flat_room room;
    const flat_param *p = flat_params(in, &room);
    for (size_t i = 0; in->n_node < mod->n_port && i < vec_len(p); i++)
        if (!strcmp(p[i].name, "tnodeout"))
            return in->n_node > 4 && p[i].value != 0;
    return false;
}

static bool bind_terminals(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card,
                           int min_node, int32_t *terminal, uint8_t *portconn)
{
    const va_module *mod = mdl_module(m);
    if (in->n_node > mod->n_port && !has_idle_node(e, in, card, mod)) {
        diag_error(e->d, in->rare->node_span ? in->rare->node_span[mod->n_port] : in->span,
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
    if (ends_thermal(in, mod)) {
        terminal[mod->n_port - 1] = terminal[in->n_node - 1];
        portconn[mod->n_port - 1] = true;
        terminal[in->n_node - 1] = -1;
        portconn[in->n_node - 1] = false;
    }
    /* Absent terminals of a classic one are ground, but HICUM's thermal node is its own, as is
     * VBIC's of Xyce; of others the substrate alone is, and the thermal node of a diode. */
    const bool classic = classic_bipolar(in, card) && elab_param(e, m, "flsh") < 0 && !card->heats;
    const bool diode = in->letter == 'd' && elab_param(e, m, "thermal") >= 0;
    for (int32_t i = in->n_node; i < mod->n_port; i++)
        if (diode || (in->letter == 'q' && (classic || (i == 3 && in->n_node == 3))))
            terminal[i] = 0;
    if (card && card->three) { /* c b e t; the substrate leads nowhere */
        terminal[4] = in->n_node > 3 ? terminal[3] : -1;
        portconn[4] = portconn[3];
        terminal[3] = 0;
        portconn[3] = false;
    }
    for (size_t i = 0; i < vec_len(in->rare->ref) && in->n_node + (int32_t)i < mod->n_port; i++) {
        const int32_t t = in->n_node + (int32_t)i;
        portconn[t] = true;
        if (!elab_control_branch(e, in, in->rare->ref[i], &terminal[t]))
            return false;
    }
    return true;
}

/* -- instances -- */

/* Whether no instance of this card has given this text before: each warning of a module is shown
 * once for a card, not once for each of its instances. */
static bool is_news(elab *e, const flat_inst *in, const char *text)
{
    const uint64_t key = str_hash(text, strlen(text)) ^ (map_key(in->rare->model) << 20);
    if (!in->rare->model || map_get(&e->said, key, 0))
        return !in->rare->model;
    map_set(&e->said, key, 1);
    return true;
}

static bool is_warning(const mdl_message *say)
{
    return say->kind == IR_EFF_WARNING || say->kind == IR_EFF_ERROR;
}

/* Of a card, or an element without one, and the words of the text: its numbers vary from point to
 * point of a sweep. */
static uint64_t kind_of(const flat_inst *in, const char *text)
{
    const char *of = in->rare->model ? in->rare->model->name : in->name;
    char *words = NULL;
    for (const char *p = text; *p; p++)
        if (!strchr("0123456789.+-", *p))
            vec_push(words, *p);
    const uint64_t kind = str_hash(words, vec_len(words)) ^ str_hash(of, strlen(of)) * 31;
    vec_free(words);
    return kind ? kind : 1;
}

static void warn(elab *e, const flat_inst *in, const mdl_message *say)
{
    static const char prefix[] = "warning: ";
    const bool warning = say->kind == IR_EFF_WARNING;
    diag_warning(e->d, in->span, "%s: %s", in->name, say->text + (warning ? sizeof prefix - 1 : 0));
    diag_kind(e->d, kind_of(in, say->text));
    if (in->rare->model)
        diag_note(e->d, in->rare->model->span, "the model card is here");
}

/* $warning and $error are warnings of the card, $strobe and the others lines of the run. */
static void tell(elab *e, const flat_inst *in, const mdl_message *say)
{
    if (!is_warning(say))
        ckt_say(e->c, say->text);
    else if (is_news(e, in, say->text))
        warn(e, in, say);
}

/* What the static code of a module prints, once per parameter set. */
static void report_row(elab *e, const flat_inst *in, const mdl_model *m, int32_t row)
{
    size_t n;
    const mdl_message *say = mdl_row_messages(m, row, &n);
    for (size_t i = 0; i < n; i++)
        tell(e, in, &say[i]);
}

static uint64_t row_key(const mdl_model *m, int32_t row)
{
    return (map_key(m) << 20) ^ (uint32_t)row;
}

/* The first device of each row, counted from 1. */
static void list_rows(const elab *e, map *first)
{
    for (int32_t i = ckt_n_device(e->c); i > 0; i--) {
        const ckt_device_facts d = ckt_device(e->c, i - 1);
        map_set(first, row_key(d.model, d.row), i);
    }
}

void elab_tell_setup(elab *e)
{
    map first = {0}, told = {0};
    const bool any = mdl_any_message(e->lib);
    if (any)
        list_rows(e, &first);
    for (int32_t i = 0; any && i < ckt_n_device(e->c); i++) {
        const ckt_device_facts d = ckt_device(e->c, i);
        size_t n;
        const mdl_message *say = mdl_row_messages(d.model, d.row, &n);
        const int32_t k =
            n && map_get(&first, row_key(d.model, d.row), 0) == i + 1 ? elab_find(e, d.name) : -1;
        for (size_t j = 0; k >= 0 && j < n; j++) {
            const flat_inst *in = &e->f->inst[k];
            const uint64_t kind = kind_of(in, say[j].text);
            if (is_warning(&say[j]) && !map_get(&told, kind, 0))
                warn(e, in, &say[j]);
            map_set(&told, kind, 1);
        }
    }
    map_free(&first);
    map_free(&told);
}

vs_status elab_report_setup(elab *e)
{
    map first = {0};
    mdl_model *m;
    int32_t row;
    mdl_message say;
    vs_status st = VS_OK;
    while (mdl_next_message(e->lib, &m, &row, &say)) {
        if (!first.n)
            list_rows(e, &first);
        const int32_t device = map_get(&first, row_key(m, row), 0);
        const int32_t k = device ? elab_find(e, ckt_device_name(e->c, device - 1)) : -1;
        if (k < 0)
            continue; /* of a parameter that was tried, or a device that the netlist has not */
        if (say.kind == IR_EFF_FATAL) {
            diag_error(e->d, e->f->inst[k].span, "%s: %s", e->f->inst[k].name, say.text);
            st = VS_EINPUT;
        } else {
            tell(e, &e->f->inst[k], &say);
        }
    }
    map_free(&first);
    return st;
}

static vs_status row_of(elab *e, const flat_inst *in, mdl_model *m, const mdl_given *given,
                        size_t n_given, const uint8_t *portconn, double temp, double mfactor,
                        int32_t *row)
{
    const mdl_env env = {.temp = temp,
                         .mfactor = mfactor,
                         .simparam = e->simparam,
                         .portconn = portconn,
                         .card = in->rare->model ? &in->rare->model->span : NULL,
                         .no_noise = !(e->opt.forms & ELAB_NOISE)};
    if (mdl_row(m, given, n_given, &env, in->span, in->name, row) != VS_OK)
        return VS_EINPUT;
    if (mdl_row_is_new(m, *row))
        report_row(e, in, m, *row);
    return VS_OK;
}

static vs_status add_with_row(elab *e, const flat_inst *in, mdl_model *m, int32_t row,
                              const int32_t *terminal)
{
    const char *fixed = in->letter == 'l'                 ? "inductor"
                        : in->letter == 'c' && e->metered ? "capacitor"
                                                          : NULL;
    if (fixed && m == mdl_find(e->lib, fixed)) /* not one by an expression, or a module's */
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
    if (!in->rare->word) {
        diag_error(e->d, in->span, "%s: a model is missing", in->name);
        return;
    }
    diag_error(e->d, in->rare->model_span, "%s: unknown model '%s'", in->name, in->rare->word);
    const char **cand = NULL, **all = mdl_names(e->lib);
    for (size_t i = 0; i < vec_len(e->f->model_name); i++)
        vec_push(cand, e->f->model_name[i]);
    for (size_t i = 0; i < vec_len(all); i++)
        vec_push(cand, all[i]);
    const char *near = str_nearest(in->rare->word, cand, vec_len(cand));
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
    if (in->rare->model) {
        *card = card_of(e, in->rare->model);
        *min_node = *card ? (*card)->min_node : 1;
        return *card ? (*card)->mdl : NULL;
    }
    mdl_model *m = NULL;
    if (in->rare->word) {
        m = mdl_find(e->lib, in->rare->word);
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
    if (!plain_module(in->letter) || card || in->rare->plain || vec_len(in->param))
        return true;
    diag_error(e->d, in->span, "%s: the value is missing", in->name);
    return false;
}

/* Adds the initial conditions of an element: its k-th value of ic= is the voltage between the k-th
 * pair of terminals of its letter. */
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
    if (!in->rare->ic_given)
        return;
    if (in->letter == 'l' && in->rare->n_ic > 0 && elab_branch(e, in->name) > 0) {
        ckt_add_ic(e->c, elab_branch(e, in->name), 0, in->rare->ic[0]);
        return;
    }
    for (size_t k = 0; k < VS_COUNT(t); k++)
        if (t[k].letter == in->letter) {
            for (int32_t i = 0; i < in->rare->n_ic && i < t[k].n; i++)
                ckt_add_ic(e->c, terminal[t[k].pair[i][0]], terminal[t[k].pair[i][1]],
                           in->rare->ic[i]);
            return;
        }
    diag_warning(e->d, in->span, "%s: ic= is not supported for this element", in->name);
}

/* -- rows that are known -- */

static void touch(elab *e, int32_t node) { e->n_touch[node] += e->n_touch[node] < 2; }

/* Whether one terminal of one element is all that the deck says of a node. Its .ic and .nodeset
 * count, as they would move it. */
static bool is_alone(elab *e, int32_t node)
{
    const flat *f = e->f;
    if (!vec_len(e->n_touch)) {
        vec_extend(e->n_touch, vec_len(f->node) + 1);
        for (size_t i = 0; i < vec_len(f->inst); i++)
            for (uint32_t k = 0; k < f->inst[i].n_node; k++)
                touch(e, f->inst[i].node[k]);
        for (size_t i = 0; i < vec_len(f->ic); i++)
            touch(e, f->ic[i].node), touch(e, f->ic[i].node);
        for (size_t i = 0; i < vec_len(f->nodeset); i++)
            touch(e, f->nodeset[i].node), touch(e, f->nodeset[i].node);
    }
    return e->node[node] > 0 && e->n_touch[node] == 1;
}

/* Marks ports of an element that nothing else touches, if its model may hold them at 0. */
static void find_alone(elab *e, const flat_inst *in, mdl_model *m, const int32_t *terminal,
                       uint8_t *portconn)
{
    const int32_t n_port = mdl_module(m)->n_port;
    e->alone = 0;
    for (int32_t i = 0; i < n_port && i < in->n_node && i < 32; i++)
        if (portconn[i] && terminal[i] == e->node[in->node[i]] && mdl_may_hold(m, i) &&
            is_alone(e, in->node[i])) {
            portconn[i] = MDL_ALONE;
            e->alone |= 1u << i;
        }
}

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Writes all numbers that decide the parameter row of an instance to e->sign. false: the row also
 * depends on a text, which no number stands for. */
static bool sign(elab *e, const flat_inst *in, const flat_param *line, const mdl_model *m,
                 const elab_card *card)
{
    vec_clear(e->sign);
    vec_push(e->sign, (uint64_t)(uintptr_t)m);
    vec_push(e->sign, (uint64_t)(uintptr_t)(card ? card->model : NULL));
    vec_push(e->sign,
             (uint64_t)e->alone << 32 | (uint64_t)in->n_node << 8 | (unsigned char)in->letter);
    vec_push(e->sign, bits_of(in->m));
    for (size_t i = 0; i < vec_len(line); i++) {
        if (line[i].str)
            return false;
        vec_push(e->sign, (uint64_t)(uintptr_t)line[i].name);
        vec_push(e->sign, bits_of(line[i].value));
    }
    return true;
}

static uint64_t hash_of_sign(const elab *e)
{
    return hash128_of(e->sign, vec_len(e->sign) * sizeof *e->sign).w[0];
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

/* -- rows that differ in one number -- */

/* From so many rows of a shape on they are a kin. */
enum { KIN_FROM = 16 };
enum { SIGN_NUMBER = 5 }; /* the first number in e->sign */

/* The parameter that the first number of an instance's line sets; -1: it is none that a module
 * takes as it is. */
static int32_t first_param(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card)
{
    flat_room room;
    const flat_param *p = flat_params(in, &room);
    const bool bare = !strcmp(p->name, "value");
    const char *name = bare ? positional(in->letter) : p->name;
    if (!name || (card && card->spice && !card->scales) || in->letter == 'q' || !strcmp(name, "m"))
        return -1;
    const int32_t at = elab_param(e, m, name);
    return at >= 0 && mdl_module(m)->param[at].type == VA_REAL && strcmp(name, "temp") != 0 &&
                   strcmp(name, "dtemp") != 0
               ? at
               : -1;
}

/* The shape of the instance whose numbers stand in e->sign, made if it is new; NULL: it has no
 * number. */
static elab_shape *shape_of(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card)
{
    const size_t n = vec_len(e->sign);
    if (n <= SIGN_NUMBER)
        return NULL;
    const uint64_t number = e->sign[SIGN_NUMBER];
    e->sign[SIGN_NUMBER] = 0;
    const uint64_t hash = hash_of_sign(e);
    const int32_t first = map_get(&e->shape_at, hash, -1);
    int32_t k = first;
    while (k >= 0 &&
           (e->shape[k].n != n || memcmp(e->shape[k].sign, e->sign, n * sizeof *e->sign) != 0))
        k = e->shape[k].next;
    if (k < 0) {
        uint64_t *copy = arena_array(&e->mem, uint64_t, n);
        memcpy(copy, e->sign, n * sizeof *copy);
        k = (int32_t)vec_len(e->shape);
        vec_push(e->shape, (elab_shape){.sign = copy,
                                        .n = (uint32_t)n,
                                        .next = first,
                                        .param = first_param(e, in, m, card),
                                        .kin = -1});
        map_set(&e->shape_at, hash, k);
    }
    e->sign[SIGN_NUMBER] = number;
    return &e->shape[k];
}

/* To call when an instance of a shape has got a row of its own. */
static void count_in_shape(elab_shape *s, mdl_model *m, int32_t row)
{
    if (s->param < 0 || s->kin >= 0)
        return;
    if (s->n_row++ == 0)
        s->row = row;
    if (s->n_row < KIN_FROM)
        return;
    s->kin = mdl_kin(m, s->row, s->param);
    if (s->kin < 0)
        s->param = -1;
}

/* Gives a MOS transistor the sizes of .option defl, defw, defad, defas that nothing else gives.
 * Level 18 looks at defl and defw itself: l0 and w0 of its card come before them. */
static void default_geometry(elab *e, const flat_inst *in, mdl_model *m, mdl_given **v)
{
    static const struct {
        const char *name;
        ir_simparam of;
    } t[] = {{"l", IR_SIMPARAM_defl},
             {"w", IR_SIMPARAM_defw},
             {"ad", IR_SIMPARAM_defad},
             {"as", IR_SIMPARAM_defas}};
    const bool nominal = !strcmp(mdl_module(m)->name, "mos18");
    for (size_t i = nominal ? 2 : 0; in->letter == 'm' && i < VS_COUNT(t); i++) {
        const int32_t at = e->simparam[t[i].of] > 0 ? mdl_find_param(m, t[i].name) : -1;
        if (at >= 0)
            put(e, v, (mdl_given){at, e->simparam[t[i].of], DIAG_NOWHERE});
    }
}

/* Switches self-heating off where the element's line names no thermal node, as ngspice does (Xyce
 * does not): the row then has no code for it. */
static void without_heat(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card,
                         mdl_given **v)
{
    const int32_t rth = elab_param(e, m, "rth"), selft = elab_param(e, m, "selft");
    if ((card && card->heats) || in->n_node == mdl_module(m)->n_port ||
        !classic_bipolar(in, card) || rth < 0 || selft < 0 || !e->position[rth] ||
        (*v)[e->position[rth] - 1].value == 0 ||
        (e->position[selft] && (*v)[e->position[selft] - 1].value == 0))
        return;
    diag_warning(
        e->d, in->span,
        "%s: rth has no effect: no thermal node (the fifth) is given, which is ground then",
        in->name);
    put(e, v, (mdl_given){selft, 0, DIAG_NOWHERE});
}

/* Instances that share their list of parameters (copies of a subcircuit) have the row of the one
 * before, if all else is the same. */
static elab_shared *shared_of(elab *e, const flat_inst *in)
{
    const bool shared = in->rare->shared && !in->rare->plain && in->param;
    const uintptr_t at = shared ? (uintptr_t)in->param >> 5 : 0;
    return shared ? &e->shared[(at ^ at >> 5) % ELAB_N_SHARED] : NULL;
}

static bool is_same(const elab *e, const elab_shared *s, const flat_inst *in, const mdl_model *m)
{
    return s->param == in->param && s->rare == in->rare && s->model == m &&
           s->n_node == in->n_node && s->letter == in->letter && s->m == in->m &&
           s->alone == e->alone;
}

/* The row of an instance from its card and parameters. */
static vs_status find_own_row(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card,
                              const uint8_t *portconn, int32_t *row)
{
    flat_room room;
    const flat_param *line = flat_params(in, &room);
    const bool known = sign(e, in, line, m, card);
    elab_shape *shape = known ? shape_of(e, in, m, card) : NULL;
    if (shape && shape->kin >= 0 && (*row = mdl_kin_row(m, shape->kin, line[0].value)) >= 0)
        return VS_OK;
    const uint64_t hash = known ? hash_of_sign(e) : 0;
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
        put(e, &given, card->given[i]);
    for (size_t i = 0; i < vec_len(line); i++)
        ok &= add_instance_param(e, in, m, card, &line[i], &given, &kelvin);
    without_heat(e, in, m, card, &given);
    clear_positions(e, given);
    const vs_status st =
        ok ? row_of(e, in, m, given, vec_len(given), portconn, kelvin, in->m, row) : VS_EINPUT;
    if (known && st == VS_OK)
        remember_row(e, hash, *row);
    if (shape && st == VS_OK)
        count_in_shape(shape, m, *row);
    vec_free(given);
    return st;
}

static vs_status find_row(elab *e, const flat_inst *in, mdl_model *m, const elab_card *card,
                          const uint8_t *portconn, int32_t *row)
{
    elab_shared *s = shared_of(e, in);
    if (s && is_same(e, s, in, m)) {
        *row = s->row;
        return VS_OK;
    }
    const vs_status st = find_own_row(e, in, m, card, portconn, row);
    if (s && st == VS_OK)
        *s = (elab_shared){in->param, in->rare, m, in->n_node, in->letter, in->m, e->alone, *row};
    return st;
}

/* Puts the resistor of flat_dampers between a capacitor and its second terminal. */
static vs_status damp(elab *e, const flat_inst *in, int32_t *terminal)
{
    const int32_t k = e->damper ? map_get(&e->damper_of, map_key(in->name), 0) : 0;
    if (!k)
        return VS_OK;
    mdl_model *m = elab_module(e, "resistor", in->span);
    if (!m)
        return VS_EINPUT;
    flat_inst part = *in;
    part.name = str_intern0(e->names, elab_printf(e, "%s#damper", in->name));
    part.letter = 'r';
    const mdl_given given = {elab_param(e, m, "r"), e->damper[k - 1].ohm, DIAG_NOWHERE};
    const int32_t end = terminal[1];
    terminal[1] = ckt_inner_node(e->c, elab_printf(e, "%s#damped", in->name));
    return elab_add(e, &part, m, &given, 1, (const int32_t[]){terminal[1], end}, NULL,
                    elab_kelvin(e), in->m);
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
    int32_t *terminal = e->terminal;
    uint8_t *portconn = e->portconn;
    vec_clear(terminal);
    vec_clear(portconn);
    e->terminal = vec_extend(terminal, mod->n_port);
    e->portconn = vec_extend(portconn, mod->n_port);
    vs_status st = bind_terminals(e, in, m, card, min_node, terminal, portconn) ? VS_OK : VS_EINPUT;
    int32_t row;
    if (st == VS_OK)
        st = damp(e, in, terminal);
    if (st == VS_OK) {
        find_alone(e, in, m, terminal, portconn);
        st = find_row(e, in, m, card, portconn, &row);
    }
    if (st == VS_OK)
        st = add_with_row(e, in, m, row, terminal);
    if (st == VS_OK)
        add_instance_ic(e, in, terminal);
    return st;
}
