/* elab_type.c - type and level of a model card to a module.
 * Three sources, in this order: a module that the deck loaded (.hdl) and that the table of levels
 * names; a module that comes with vsim; for other types the module whose name is the type. */
#include "elab_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#include "io.h"
#include "stream.h"

/* VBIC of three terminals and Shockley's JFET, which no deck can ask for by these numbers; above
 * all that one can. */
enum { MOST_LEVEL = 1000, LEVEL_VBIC_3T, LEVEL_SHOCKLEY };

enum { MEXTRAM_HEAT = 505 }; /* MEXTRAM that heats itself */

static const elab_type types[] = {
    {"r", 0, "resistor", 0, 2},
    {"res", 0, "resistor", 0, 2},
    {"c", 0, "capacitor", 0, 2},
    {"cap", 0, "capacitor", 0, 2},
    {"l", 0, "inductor", 0, 2},
    {"ind", 0, "inductor", 0, 2},
    {"d", 0, "diode", 0, 2},
    {"nmos", 1, "mos1", 1, 4},
    {"pmos", 1, "mos1", -1, 4},
    {"nmos", 2, "mos2", 1, 4},
    {"pmos", 2, "mos2", -1, 4},
    {"nmos", 3, "mos3", 1, 4},
    {"pmos", 3, "mos3", -1, 4},
    {"nmos", 6, "mos6", 1, 4},
    {"pmos", 6, "mos6", -1, 4},
    {"nmos", 18, "mos18", 1, 4},
    {"pmos", 18, "mos18", -1, 4},
    {"vdmos", 0, "vdmos", 1, 3},
    {"vdmosn", 0, "vdmos", 1, 3},
    {"vdmosp", 0, "vdmos", -1, 3},
    {"npn", 1, "bjt", 1, 3},
    {"pnp", 1, "bjt", -1, 3},
    {"njf", 1, "jfet", 1, 3},
    {"pjf", 1, "jfet", -1, 3},
    {"njf", 2, "jfet2", 1, 3},
    {"pjf", 2, "jfet2", -1, 3},
    {"njf", LEVEL_SHOCKLEY, "jfet_shockley", 1, 3},
    {"pjf", LEVEL_SHOCKLEY, "jfet_shockley", -1, 3},
    {"nmf", 1, "mesfet", 1, 3},
    {"pmf", 1, "mesfet", -1, 3},
    {"nmf", 2, "mesa", 1, 3},
    {"pmf", 2, "mesa", -1, 3},
    {"nmf", 3, "mesa", 1, 3},
    {"pmf", 3, "mesa", -1, 3},
    {"nmf", 4, "mesa", 1, 3},
    {"pmf", 4, "mesa", -1, 3},
    {"nmf", 5, "hfet1", 1, 3},
    {"pmf", 5, "hfet1", -1, 3},
    {"nmf", 6, "hfet2", 1, 3},
    {"pmf", 6, "hfet2", -1, 3},
    {"nhfet", 1, "mesfet", 1, 3},
    {"phfet", 1, "mesfet", -1, 3},
    {"nhfet", 2, "mesa", 1, 3},
    {"phfet", 2, "mesa", -1, 3},
    {"nhfet", 3, "mesa", 1, 3},
    {"phfet", 3, "mesa", -1, 3},
    {"nhfet", 4, "mesa", 1, 3},
    {"phfet", 4, "mesa", -1, 3},
    {"nhfet", 5, "hfet1", 1, 3},
    {"phfet", 5, "hfet1", -1, 3},
    {"nhfet", 6, "hfet2", 1, 3},
    {"phfet", 6, "hfet2", -1, 3},
    {"sw", 0, "sw", 0, 4},
    {"csw", 0, "csw", 0, 2},
    {"vswitch", 0, "vswitch", 0, 4},
    {"iswitch", 0, "iswitch", 0, 2},
};

/* Levels by which programs know a model. `own` comes with vsim if models/ has it; the other names
 * are those of published Verilog-A sources and compiled libraries, which the user loads. */
typedef struct elab_level {
    const char *n, *p; /* types of the card for n and p */
    int level[4];
    const char *model; /* its name in messages */
    const char *own;   /* NULL: none */
    const char *loaded[6];
    const char *file;     /* its usual source */
    const char *polarity; /* the parameter that tells n from p */
    int value[2];         /* of that parameter, for n and p */
} elab_level;

static const elab_level levels[] = {
    {"nmos",
     "pmos",
     {14, 54},
     "BSIM4",
     "bsim4",
     {"sp_bsim4v8", "bsim4v8", "bsim4va"},
     "bsim4.va",
     "type",
     {1, -1}},
    {"nmos",
     "pmos",
     {8, 49},
     "BSIM3",
     "bsim3",
     {"sp_bsim3v3", "bsim3v3", "bsim3va"},
     "bsim3.va",
     "type",
     {1, -1}},
    {"nmos", "pmos", {9}, "MOS 9", "mos3", {"sp_mos9", "mos9"}, "mos9.va", "type", {1, -1}},
    {"nmos", "pmos", {4}, "BSIM1", "bsim1", {"sp_bsim1"}, "bsim1.va", "type", {1, -1}},
    {"nmos", "pmos", {5}, "BSIM2", "bsim2", {"sp_bsim2"}, "bsim2.va", "type", {1, -1}},
    {"nmos",
     "pmos",
     {69, 103},
     "PSP",
     "psp103",
     {"psp103va", "psp103", "psp102va"},
     "psp103.va",
     "type",
     {1, -1}},
    {"nmos",
     "pmos",
     {57},
     "BSIM3SOI PD",
     "bsim3soipd",
     {"bsimsoi", "bsimsoi4", "bsimsoi_va"},
     "bsimsoi.va",
     "type",
     {1, -1}},
    {"nmos", "pmos", {56}, "BSIM3SOI DD", "bsim3soidd", {NULL}, "bsim3soidd.va", "type", {1, -1}},
    /* level 55 of HSPICE is EKV: for decks that load it */
    {"nmos",
     "pmos",
     {55},
     "BSIM3SOI FD",
     "bsim3soifd",
     {"ekv_va", "ekv", "ekv26"},
     "bsim3soifd.va",
     "type",
     {1, -1}},
    {"nmos",
     "pmos",
     {10, 58, 70},
     "BSIMSOI 4",
     "bsim4soi",
     {"bsimsoi", "bsimsoi4", "bsimsoi_va"},
     "bsim4soi.va",
     "type",
     {1, -1}},
    {"nmos",
     "pmos",
     {72},
     "BSIM-CMG",
     NULL,
     {"bsimcmg", "bsimcmg_va", "bsimcmg107"},
     "bsimcmg.va",
     "devtype",
     {1, 0}},
    {"nmos",
     "pmos",
     {77},
     "BSIM-BULK",
     NULL,
     {"bsimbulk", "bsimbulk107", "bsimbulk106", "bsim6"},
     "bsimbulk.va",
     "type",
     {1, -1}},
    {"nmos", "pmos", {68}, "HiSIM2", NULL, {"hisim2", "hisim2_va"}, "hisim2.va", "type", {1, -1}},
    {"nmos",
     "pmos",
     {73},
     "HiSIM-HV",
     NULL,
     {"hisimhv_va", "hisimhv", "hisim_hv"},
     "hisimhv.va",
     "type",
     {1, -1}},
    {"nmos", "pmos", {44}, "EKV", NULL, {"ekv_va", "ekv", "ekv26"}, "ekv.va", "type", {1, -1}},
    {"npn",
     "pnp",
     {4, 9},
     "VBIC",
     "vbic",
     {"vbic13_4t", "vbic_1p3", "vbic_4t_et_cf"},
     "vbic.va",
     "type",
     {1, -1}},
    {"npn",
     "pnp",
     {LEVEL_VBIC_3T},
     "VBIC of three terminals",
     "vbic",
     {"vbic13_3t", "vbic_3t_et_cf"},
     "vbic.va",
     "type",
     {1, -1}},
    {"npn",
     "pnp",
     {6, 504},
     "MEXTRAM",
     "mextram",
     {"bjt504va", "bjt504tva", "bjt505va", "bjt505tva"},
     "bjt504.va",
     "type",
     {1, -1}},
    {"npn",
     "pnp",
     {MEXTRAM_HEAT},
     "MEXTRAM with self-heating",
     "mextram_t",
     {"bjt504tva", "bjt505tva", "bjt505va"},
     "bjt504t.va",
     "type",
     {1, -1}},
    {"npn",
     "pnp",
     {8, 234},
     "HICUM/L2",
     "hicum2",
     {"hicuml2va", "hicuml2", "hic2_full"},
     "hicumL2.va",
     "type",
     {1, -1}},
    {"npn",
     "pnp",
     {13},
     "HICUM/L0",
     NULL,
     {"hicuml0va", "hicuml0", "hic0_full"},
     "hicumL0.va",
     "type",
     {1, -1}},
};
static const flat_param *level_given(const flat_model *c)
{
    const flat_param *p = NULL;
    for (size_t i = 0; i < vec_len(c->param); i++)
        if (!strcmp(c->param[i].name, "level"))
            p = &c->param[i];
    return p;
}

/* Parameters that tell a model which has its level in Xyce only. */
typedef struct tell_tale {
    const char *model, *name[6]; /* NULL behind the last one */
} tell_tale;

static const tell_tale bsim3 = {"BSIM3", {"vth0", "nch", "dvt0", "nlx"}}, /* and not MOS 9 */
    vbic = {"VBIC", {"ibei", "rcx", "rci", "rbx", "rbi"}};

/* Levels that Xyce counts otherwise than the table above. */
typedef struct xyce_level {
    char letter; /* of nmos and pmos, npn and pnp, njf and pjf: the second one */
    int xyce, level;
    const tell_tale *told; /* a card with one of these means it in any deck; NULL: none does */
    bool heats;            /* itself, without a thermal node */
} xyce_level;

static const xyce_level by_xyce[] = {{'m', 9, 49, &bsim3, false},
                                     {'m', 107, 72, NULL, false},
                                     {'m', 108, 72, NULL, false},
                                     {'m', 110, 72, NULL, false},
                                     {'m', 111, 72, NULL, false},
                                     {'m', 301, 44, NULL, false},
                                     {'j', 2, LEVEL_SHOCKLEY, NULL, false},
                                     {'p', 10, LEVEL_VBIC_3T, &vbic, true},
                                     {'p', 11, LEVEL_VBIC_3T, &vbic, true},
                                     {'p', 12, 9, &vbic, true},
                                     {'p', 230, 13, NULL, false}};

static bool has_one_of(const flat_model *c, const tell_tale *t)
{
    for (size_t i = 0; i < vec_len(c->param); i++)
        for (size_t k = 0; t->name[k]; k++)
            if (!strcmp(c->param[i].name, t->name[k]))
                return true;
    return false;
}

/* The level that a card gives, 1 if it gives none; -1: the value can be no level. */
static int card_level(const flat_model *c)
{
    const flat_param *p = level_given(c);
    const double given = !p ? 1 : p->str ? -1 : p->value;
    return given == floor(given) && fabs(given) < MOST_LEVEL ? (int)given : -1;
}

/* What a card's level is in Xyce, if the card means that; NULL: it has the level that it gives. */
static const xyce_level *level_of_xyce(const elab *e, const flat_model *c)
{
    const char letter = !strcmp(c->type, "nmos") || !strcmp(c->type, "pmos") ? 'm'
                        : !strcmp(c->type, "npn") || !strcmp(c->type, "pnp") ? 'p'
                        : !strcmp(c->type, "njf") || !strcmp(c->type, "pjf") ? 'j'
                                                                             : 0;
    const int level = card_level(c);
    for (size_t i = 0; i < VS_COUNT(by_xyce); i++) {
        const xyce_level *x = &by_xyce[i];
        if (x->letter == letter && x->xyce == level)
            return e->f->xyce || (x->told && has_one_of(c, x->told)) ? x : NULL;
    }
    return NULL;
}

static int model_level(const elab *e, const flat_model *c)
{
    const xyce_level *x = level_of_xyce(e, c);
    return x ? x->level : card_level(c);
}

static bool has_level(const elab_level *v, int level)
{
    for (size_t i = 0; i < VS_COUNT(v->level); i++)
        if (v->level[i] == level)
            return level > 0;
    return false;
}

static const elab_level *find_level(const elab *e, const flat_model *c)
{
    for (size_t i = 0; i < VS_COUNT(levels); i++)
        if ((!strcmp(levels[i].n, c->type) || !strcmp(levels[i].p, c->type)) &&
            has_level(&levels[i], model_level(e, c)))
            return &levels[i];
    return NULL;
}

static bool is_spice_type(const char *type)
{
    for (size_t i = 0; i < VS_COUNT(types); i++)
        if (!strcmp(types[i].type, type))
            return true;
    return false;
}

/* The module of a level: one that the deck loaded, else our own. */
static void find_loaded(elab *e, const elab_level *v, elab_binding *b)
{
    for (size_t i = 0; i < VS_COUNT(v->loaded) && v->loaded[i] && !b->osdi && !b->mdl; i++) {
        b->osdi = mdl_find_osdi(e->lib, v->loaded[i]);
        b->mdl = b->osdi ? NULL : mdl_find(e->lib, v->loaded[i]);
    }
    b->scales = !b->osdi && !b->mdl;
    if (b->scales && v->own) {
        b->osdi = mdl_find_osdi(e->lib, v->own);
        b->mdl = b->osdi ? NULL : mdl_find(e->lib, v->own);
    }
}

/* A card with a thermal resistance has the diode with a thermal node. */
static const char *module_of(const elab_type *t, const flat_model *c)
{
    bool heats = false;
    for (size_t i = 0; i < vec_len(c->param); i++)
        heats |= !strcmp(c->param[i].name, "rth0");
    return heats && !strcmp(t->type, "d") ? "diode_heat" : t->module;
}

/* Levels 1 to 3 of diodes are one module; others are other models elsewhere (JUNCAP and so on). */
static void warn_diode_level(elab *e, const flat_model *c)
{
    const flat_param *p = level_given(c);
    const int level = model_level(e, c);
    if (p && (level < 1 || level > 3))
        diag_warning(e->d, p->span,
                     "model '%s': level %g of type 'd' is not supported; it is taken as level 1",
                     c->name, p->value);
}

static void warn_known(elab *e, const flat_model *c, const tell_tale *t, const char *taken)
{
    const flat_param *p = level_given(c);
    diag_warning(e->d, p->span,
                 "model '%s' has parameters of %s, which is level %g in Xyce only: it is taken as "
                 "%s",
                 c->name, t->model, p->value, taken);
}

elab_binding elab_find_binding(elab *e, const flat_model *c)
{
    elab_binding b = {.min_node = 1};
    const elab_level *v = find_level(e, c);
    const xyce_level *x = level_of_xyce(e, c);
    if (v && x && !e->f->xyce)
        warn_known(e, c, x->told, v->model);
    if (v) {
        const bool is_p = !strcmp(c->type, v->p);
        find_loaded(e, v, &b);
        b.polarity = v->polarity;
        b.value = v->value[is_p];
        b.min_node = v->n[1] == 'm' ? 4 : 3; /* nmos, npn */
        b.three = v->level[0] == LEVEL_VBIC_3T && b.scales;
        b.heats = b.scales && (v->level[0] == MEXTRAM_HEAT || (x && x->heats));
        b.spice = true;
        return b;
    }
    b.osdi = mdl_find_osdi(e->lib, c->type);
    for (size_t i = 0; i < VS_COUNT(types) && !b.osdi; i++) {
        const elab_type *t = &types[i];
        if (strcmp(t->type, c->type) || (t->level && t->level != model_level(e, c)))
            continue;
        b.mdl = mdl_find(e->lib, module_of(t, c));
        if (!strcmp(t->type, "d"))
            warn_diode_level(e, c);
        b.polarity = t->polarity ? "type" : NULL;
        b.value = t->polarity;
        b.min_node = t->min_node;
        b.spice = b.scales = true;
        return b;
    }
    if (!b.osdi && !is_spice_type(c->type))
        b.mdl = mdl_find(e->lib, c->type);
    return b;
}

const elab_binding *elab_binding_of(elab *e, const flat_model *c)
{
    int32_t at = map_get(&e->bound_of, map_key(c), -1);
    if (at < 0) {
        at = (int32_t)vec_len(e->bound);
        vec_push(e->bound, elab_find_binding(e, c));
        map_set(&e->bound_of, map_key(c), at);
    }
    return &e->bound[at];
}

/* "1, 2, 3": the levels of a type that need nothing loaded. */
static const char *level_list(elab *e, const char *type)
{
    int32_t known[64];
    size_t n = 0;
    for (size_t i = 0; i < VS_COUNT(types); i++)
        if (!strcmp(types[i].type, type) && types[i].level < MOST_LEVEL && n < VS_COUNT(known))
            known[n++] = types[i].level;
    for (size_t i = 0; i < VS_COUNT(levels); i++)
        for (size_t k = 0; k < VS_COUNT(levels[i].level) && levels[i].own; k++)
            if ((!strcmp(levels[i].n, type) || !strcmp(levels[i].p, type)) &&
                levels[i].level[k] > 0 && levels[i].level[k] < MOST_LEVEL && n < VS_COUNT(known) &&
                mdl_find(e->lib, levels[i].own))
                known[n++] = levels[i].level[k];
    qsort(known, n, sizeof *known, vec_by_number);
    const char *s = "";
    for (size_t i = 0; i < n; i++)
        s = elab_printf(e, "%s%s%d", s, *s ? ", " : "", known[i]);
    return s;
}

static const char **known_types(elab *e)
{
    const char **v = NULL;
    for (size_t i = 0; i < VS_COUNT(types); i++)
        vec_push(v, types[i].type);
    const char **all = mdl_names(e->lib);
    for (size_t i = 0; i < vec_len(all); i++)
        vec_push(v, all[i]);
    return v;
}

/* Does this file define the module? */
static bool defines(const char *path, const char *module)
{
    enum { MOST = 1 << 22 };
    FILE *f = stream_open(path);
    char *line = NULL;
    size_t cap = 0, read = 0;
    bool found = false;
    for (ssize_t n; f && !found && read < MOST && (n = stream_line(&line, &cap, f)) > 0;
         read += (size_t)n) {
        const char *s = line + strspn(line, " \t");
        if (strncmp(s, "module", 6) != 0 || !strchr(" \t", s[6]))
            continue;
        s += 6 + strspn(s + 6, " \t");
        const size_t len = strcspn(s, " \t(;\r\n");
        found = len == strlen(module) && !strncasecmp(s, module, len);
    }
    vs_free(line);
    if (f)
        stream_close(f);
    return found;
}

/* A .va file in this folder, or in one below it, that defines the module; NULL: none. */
static const char *source_in(elab *e, const char *folder, const char *module, int below)
{
    const char *found = NULL;
    int seen = 0;
    bool there;
    arena mem;
    arena_init(&mem);
    const char **name = io_names(&mem, folder, &there);
    for (size_t i = 0; i < vec_len(name) && !found && seen < 200; i++) {
        const size_t n = strlen(name[i]);
        if (name[i][0] == '.')
            continue;
        seen++;
        const char *path = elab_printf(e, "%s/%s", folder, name[i]);
        if (n > 3 && !strcmp(name[i] + n - 3, ".va"))
            found = defines(path, module) ? path : NULL;
        else if (below > 0 && !strchr(name[i], '.'))
            found = source_in(e, path, module, below - 1);
    }
    vec_free(name);
    arena_fini(&mem);
    return found;
}

/* Kits have their Verilog-A beside the libraries: a folder va or verilog-a there or one or two up.
 */
const char *elab_find_source(elab *e, diag_span at, const char *module)
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

/* A level of a model that does not come with vsim: which module to load, from what file. */
static void level_not_loaded(elab *e, const flat_model *c, const elab_level *v)
{
    const char *names = "";
    for (size_t i = 0; i < VS_COUNT(v->loaded) && v->loaded[i]; i++)
        names = elab_printf(e, "%s%s'%s'", names, *names ? " or " : "", v->loaded[i]);
    diag_error(e->d, level_given(c)->span,
               "model '%s': level %d of type '%s' is %s, which does not come with vsim: load its "
               "Verilog-A module %s",
               c->name, model_level(e, c), c->type, v->model, names);
    const char *source = NULL;
    for (size_t i = 0; i < VS_COUNT(v->loaded) && v->loaded[i] && !source; i++)
        source = elab_find_source(e, c->span, v->loaded[i]);
    diag_note(e->d, DIAG_NOWHERE,
              "a card .hdl \"%s\" loads %s; a compiled library (.osdi) does as well",
              source ? source : v->file, source ? "it" : "its usual source, where you have it");
}

void elab_unknown_type(elab *e, const flat_model *c)
{
    const elab_level *v = find_level(e, c);
    if (v) {
        level_not_loaded(e, c, v);
        return;
    }
    if (is_spice_type(c->type)) {
        const flat_param *given = level_given(c);
        const char *text = !given       ? "1"
                           : given->str ? given->str
                                        : elab_printf(e, "%g", given->value);
        diag_error(e->d, given ? given->span : c->span,
                   "model '%s': level %s of type '%s' is not supported; %s %s, and any "
                   "Verilog-A module by its name as the type",
                   c->name, text, c->type, level_list(e, c->type),
                   strchr(level_list(e, c->type), ' ') ? "are" : "is");
        diag_note(e->d, DIAG_NOWHERE,
                  "a card .hdl \"FILE\" loads a Verilog-A source or a compiled library (.osdi); "
                  "the type of "
                  "a model card is then the name of its module");
        return;
    }
    diag_error(e->d, c->span, "model '%s' has the unknown type '%s'", c->name, c->type);
    const char *source = elab_find_source(e, c->span, c->type);
    if (source) {
        diag_note(e->d, DIAG_NOWHERE,
                  "a card .hdl \"%s\" in the deck, or a line osdi \"%s\" in .spiceinit, loads it",
                  source, source);
        return;
    }
    const char **cand = known_types(e);
    diag_suggest(e->d, c->type, cand, vec_len(cand));
    diag_note(
        e->d, DIAG_NOWHERE,
        "types are r c l d sw csw vswitch iswitch npn pnp njf pjf nmf pmf nmos pmos vdmos and "
        "the names of Verilog-A modules (vsim models lists them)");
    vec_free(cand);
}

/* -- parameters -- */

void elab_suggest_param(elab *e, mdl_model *m, const char *name)
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
    diag_suggest(e->d, name, cand, vec_len(cand));
    diag_note(e->d, mod->span, "module '%s' is defined here", mod->name);
    vec_free(cand);
}

void elab_say_unknown(elab *e, const flat_model *c, const char *module, const flat_param **p,
                      mdl_model *m)
{
    enum { MOST = 8 };
    const size_t n = vec_len(p);
    const char *s = "";
    if (!n || diag_said(e->d, p[0]->span)) /* another element with this card had the message */
        return;
    for (size_t i = 0; i < n && i < MOST; i++)
        s = elab_printf(e, "%s%s'%s'", s, *s ? ", " : "", p[i]->name);
    if (n > MOST)
        s = elab_printf(e, "%s and %zu more", s, n - MOST);
    diag_warning(e->d, p[0]->span, "model '%s': module '%s' has no parameter%s %s: no effect",
                 c->name, module, n > 1 ? "s" : "", s);
    if (n == 1 && m)
        elab_suggest_param(e, m, p[0]->name);
}

double elab_scaled(const elab *e, const flat_inst *in, const flat_param *p)
{
    static const struct {
        const char *name;
        int power;
    } t[] = {{"l", 1}, {"w", 1}, {"ps", 1}, {"pd", 1}, {"as", 2}, {"ad", 2}};
    const double scale = e->simparam[IR_SIMPARAM_scale];
    for (size_t i = 0; i < VS_COUNT(t) && scale != 1 && in->letter == 'm'; i++)
        if (!strcmp(p->name, t[i].name))
            return p->value * (t[i].power == 2 ? scale * scale : scale);
    return p->value;
}

double elab_version(const char *text)
{
    int a, b = 0, c = 0, n = 0;
    char tail;
    if (sscanf(text, "%d.%1d.%1d%c", &a, &b, &c, &tail) == 3)
        return a + b / 10.0 + c / 100.0;
    double y;
    return sscanf(text, "%lf%n", &y, &n) == 1 && !text[n] ? y : NAN;
}
