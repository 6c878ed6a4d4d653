/* elab_option.c - .option and .temp: each value is honoured, known to be without effect, or named.
 */
#include "elab.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "lu.h"

/* POSITIVE, NOT_NEGATIVE: a double of elab_sim; INT: an int of it, 1 or more; SIMPARAM: read by
 * models; SPECIAL: set_special; SILENT: read elsewhere (savecurrents: elab_output.c; seed: net), or
 * asks for what is always or never done here (listings, the solver); NAMED: has a meaning
 * elsewhere, a warning says that it has no effect. */
typedef enum option_kind {
    POSITIVE,
    NOT_NEGATIVE,
    INT,
    SIMPARAM,
    SPECIAL,
    SILENT,
    NAMED
} option_kind;

typedef struct option_entry {
    const char *name;
    option_kind kind;
    size_t field; /* offset in elab_sim, or ir_simparam */
} option_entry;

#define FIELD(f) offsetof(elab_sim, f)
static const option_entry options[] = {
    {"reltol", POSITIVE, FIELD(reltol)},
    {"vntol", POSITIVE, FIELD(vntol)},
    {"abstol", POSITIVE, FIELD(abstol)},
    {"chgtol", POSITIVE, FIELD(chgtol)},
    {"trtol", POSITIVE, FIELD(trtol)},
    {"gmin", NOT_NEGATIVE, FIELD(gmin)},
    {"rshunt", NOT_NEGATIVE, FIELD(rshunt)},
    {"maxgrowth", POSITIVE, FIELD(max_growth)},
    {"minstep", NOT_NEGATIVE, FIELD(min_step)},
    {"maxord", INT, FIELD(maxord)},
    {"itl1", INT, FIELD(itl1)},
    {"itl2", INT, FIELD(itl2)},
    {"itl4", INT, FIELD(itl4)},
    {"scale", SIMPARAM, IR_SIMPARAM_SCALE},
    {"shrink", SIMPARAM, IR_SIMPARAM_SHRINK},
    {"imax", SIMPARAM, IR_SIMPARAM_IMAX},
    {"imelt", SIMPARAM, IR_SIMPARAM_IMELT},
    {"minr", SIMPARAM, IR_SIMPARAM_MINR},
    {"rthresh", SIMPARAM, IR_SIMPARAM_RTHRESH},
    {"epsmin", SIMPARAM, IR_SIMPARAM_EPSMIN},
    {"defl", SIMPARAM, IR_SIMPARAM_DEFL},
    {"defw", SIMPARAM, IR_SIMPARAM_DEFW},
    {"defad", SIMPARAM, IR_SIMPARAM_DEFAD},
    {"defas", SIMPARAM, IR_SIMPARAM_DEFAS},
    {"temp", SPECIAL, 0},
    {"tnom", SPECIAL, 0},
    {"method", SPECIAL, 0},
    {"residual", SPECIAL, 0},
    {"lu", SPECIAL, 0},
    {"threads", SPECIAL, 0},
    {"bypass", SPECIAL, 0},
    {"stepstart", SPECIAL, 0},
    {"parser", SILENT, 0}, /* .option parser scale=1u of the SKY130 libraries */
    {"wnflag", SILENT, 0}, /* flat_model.c */
    {"acct", SILENT, 0},
    {"noacct", SILENT, 0},
    {"list", SILENT, 0},
    {"nomod", SILENT, 0},
    {"nopage", SILENT, 0},
    {"node", SILENT, 0},
    {"opts", SILENT, 0},
    {"brief", SILENT, 0},
    {"post", SILENT, 0},
    {"probe", SILENT, 0},
    {"klu", SILENT, 0},
    {"share", SILENT, 0},
    {"noshare", SILENT, 0},
    {"itl3", NAMED, 0},
    {"itl5", NAMED, 0},
    {"itl6", NAMED, 0},
    {"pivtol", NAMED, 0},
    {"pivrel", NAMED, 0},
    {"gminsteps", NAMED, 0},
    {"srcsteps", NAMED, 0},
    {"gshunt", SPECIAL, 0},
    {"cshunt", NAMED, 0},
    {"ramptime", NAMED, 0},
    {"defm", NAMED, 0},
    {"trytocompact", NAMED, 0},
    {"keepopinfo", NAMED, 0},
    {"savecurrents", SILENT, 0},
    {"autostop", NAMED, 0},
    {"interp", SPECIAL, 0},
    {"xmu", NAMED, 0},
    {"noinit", NAMED, 0},
    {"badmos3", NAMED, 0},
    {"oldlimit", NAMED, 0},
    {"rseries", NAMED, 0},
    {"seed", SPECIAL, 0},
    {"seedinfo", NAMED, 0},
    {"warn", NAMED, 0},
    {"maxwarns", NAMED, 0},
    {"minbreak", NAMED, 0},
    {"parhier", NAMED, 0},
    {"absdv", NAMED, 0},
    {"reldv", NAMED, 0},
    {"dcap", NAMED, 0},
    {"noopiter", NAMED, 0},
    {"ingold", NAMED, 0},
    {"numdgt", NAMED, 0},
    {"cptime", NAMED, 0},
    {"limtim", NAMED, 0},
    {"limpts", NAMED, 0},
    {"lvlcod", NAMED, 0},
    {"lvltim", NAMED, 0},
    {"nowarn", NAMED, 0},
    {"filetype", NAMED, 0},
    {"rawfile", NAMED, 0},
    {"sparse", NAMED, 0},
    {"xtrtol", NAMED, 0},
    {"noopac", NAMED, 0},
    {"noopalter", NAMED, 0},
    {"maxopalter", NAMED, 0},
    {"maxeviter", NAMED, 0},
    {"convlimit", NAMED, 0},
    {"convstep", NAMED, 0},
    {"convabsstep", NAMED, 0},
    {"ltrreltol", NAMED, 0},
    {"ltrabstol", NAMED, 0},
    {"indverbosity", NAMED, 0},
    {"digits", NAMED, 0},
    {"norefvalue", NAMED, 0},
    {"ngbehavior", NAMED, 0},
    {"wnflag", NAMED, 0},
    {"altinit", NAMED, 0},
    {"nosubckt", NAMED, 0},
    {"noprintscale", NAMED, 0},
    {"width", NAMED, 0},
    {"klu_memgrow_factor", NAMED, 0},
    {"savecurrents_bsim3", NAMED, 0},
    {"savecurrents_bsim4", NAMED, 0},
    {"savecurrents_mos1", NAMED, 0},
};

static void set_default(elab_sim *s)
{
    *s = (elab_sim){.temp = 27,
                    .reltol = NAN,
                    .vntol = NAN,
                    .abstol = NAN,
                    .chgtol = NAN,
                    .trtol = NAN,
                    .gmin = NAN,
                    .rshunt = NAN,
                    .max_growth = NAN,
                    .min_step = NAN,
                    .method = -1,
                    .maxord = -1,
                    .itl1 = -1,
                    .itl2 = -1,
                    .itl4 = -1,
                    .residual_check = -1,
                    .lu = -1,
                    .threads = -1};
    memcpy(s->simparam, ir_simparam_default, sizeof s->simparam);
}

static bool bad_value(diag *d, const flat_option *o, const char *wanted)
{
    diag_error(d, o->span, "option %s=%s: %s is needed", o->name, o->str, wanted);
    return false;
}

static bool set_real(elab_sim *s, const flat_option *o, const option_entry *e, diag *d)
{
    if (!isfinite(o->value) || o->value < 0 || (e->kind == POSITIVE && o->value == 0))
        return bad_value(d, o, e->kind == POSITIVE ? "a positive number" : "a number, 0 or more");
    memcpy((char *)s + e->field, &o->value, sizeof(double));
    return true;
}

static bool set_int(elab_sim *s, const flat_option *o, const option_entry *e, diag *d)
{
    if (!(o->value >= 1 && o->value <= 1e9) || o->value != floor(o->value))
        return bad_value(d, o, "a whole number, 1 or more");
    const int v = (int)o->value;
    memcpy((char *)s + e->field, &v, sizeof v);
    return true;
}

static bool set_special(elab_sim *s, const flat_option *o, diag *d)
{
    if (!strcmp(o->name, "method")) {
        const bool trap = !strcmp(o->str, "trap") || !strcmp(o->str, "trapezoidal");
        if (!trap && strcmp(o->str, "gear"))
            return bad_value(d, o, "trap or gear");
        s->method = !trap;
        return true;
    }
    if (!strcmp(o->name, "lu")) {
        s->lu = lu_kind_of(o->str);
        return s->lu >= 0 || bad_value(d, o, "auto, klu, tiny, umfpack or dense");
    }
    if (!strcmp(o->name, "bypass")) {
        const bool automatic = !strcmp(o->str, "auto"), off = o->value == 0, all = o->value == 1;
        s->bypass = automatic ? CKT_BYPASS_AUTO : off ? CKT_BYPASS_OFF : CKT_BYPASS_ALL;
        return automatic || off || all || bad_value(d, o, "0, 1 or auto");
    }
    if (!strcmp(o->name, "stepstart")) {
        s->start_first = !strcmp(o->str, "first");
        return s->start_first || !strcmp(o->str, "none") || bad_value(d, o, "first or none");
    }
    if (!strcmp(o->name, "seed")) {
        if (!(o->value >= 0 && o->value < 9e15) || o->value != floor(o->value))
            return bad_value(d, o, "a whole number, 0 or more");
        s->seed = (uint64_t)o->value;
        s->seed_given = true;
        return true;
    }
    if (!isfinite(o->value))
        return bad_value(d, o, "a number");
    if (!strcmp(o->name, "threads")) {
        if (!(o->value >= 0 && o->value <= 1024) || o->value != floor(o->value))
            return bad_value(d, o, "a whole number from 0 (automatic) to 1024");
        s->threads = (int)o->value;
        return true;
    }
    if (!strcmp(o->name, "residual")) {
        s->residual_check = o->value != 0;
        return true;
    }
    if (!strcmp(o->name, "interp")) {
        s->interp = o->value != 0;
        return true;
    }
    if (!strcmp(o->name, "gshunt")) {
        if (o->value < 0)
            return bad_value(d, o, "a number, 0 or more");
        s->rshunt = o->value > 0 ? 1 / o->value : 0;
        return true;
    }
    if (o->value <= -273.15)
        return bad_value(d, o, "a temperature above -273.15 degrees Celsius");
    if (!strcmp(o->name, "tnom")) {
        s->simparam[IR_SIMPARAM_TNOM] = o->value;
    } else {
        s->temp = o->value;
        s->temp_given = true;
    }
    return true;
}

static void unknown_option(const flat_option *o, diag *d)
{
    const char *cand[VS_COUNT(options)];
    for (size_t i = 0; i < VS_COUNT(options); i++)
        cand[i] = options[i].name;
    diag_warning(d, o->span, "unknown option '%s' has no effect", o->name);
    diag_suggest(d, o->name, cand, VS_COUNT(cand));
}

static bool set_option(elab_sim *s, const flat_option *o, diag *d)
{
    const option_entry *e = NULL;
    for (size_t i = 0; i < VS_COUNT(options) && !e; i++)
        if (!strcmp(options[i].name, o->name))
            e = &options[i];
    if (!e) {
        unknown_option(o, d);
        return true;
    }
    switch (e->kind) {
    case POSITIVE:
    case NOT_NEGATIVE: return set_real(s, o, e, d);
    case INT: return set_int(s, o, e, d);
    case SIMPARAM:
        if (!isfinite(o->value))
            return bad_value(d, o, "a number");
        s->simparam[e->field] = o->value;
        return true;
    case SPECIAL: return set_special(s, o, d);
    case NAMED:
        diag_warning(d, o->span, "option '%s' is not supported and has no effect", o->name);
        return true;
    case SILENT: break;
    }
    return true;
}

vs_status elab_options(elab_sim *sim, const flat *f, diag *d)
{
    set_default(sim);
    return elab_set_options(sim, f, d);
}

vs_status elab_set_options(elab_sim *sim, const flat *f, diag *d)
{
    bool ok = true;
    for (size_t i = 0; i < vec_len(f->option); i++)
        ok &= set_option(sim, &f->option[i], d);
    if (vec_len(f->temp)) {
        sim->temp = f->temp[0];
        if (!(sim->temp > -273.15)) {
            diag_error(d, DIAG_NOWHERE,
                       ".temp %g: a temperature above -273.15 degrees Celsius is needed",
                       sim->temp);
            ok = false;
        }
        sim->temp_given = true;
    }
    const struct {
        double value;
        ir_simparam to;
    } shown[] = {{sim->reltol, IR_SIMPARAM_RELTOL},
                 {sim->vntol, IR_SIMPARAM_VNTOL},
                 {sim->abstol, IR_SIMPARAM_ABSTOL},
                 {sim->chgtol, IR_SIMPARAM_CHGTOL}};
    for (size_t i = 0; i < VS_COUNT(shown); i++)
        if (!isnan(shown[i].value))
            sim->simparam[shown[i].to] = shown[i].value;
    return ok ? VS_OK : VS_EINPUT;
}
