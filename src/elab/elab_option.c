/* elab_option.c - .option and .temp: an option takes effect, or is known to have none, or a message
 * says that it is unknown.
 * The list of options is in base/option.h. */
#include <math.h>
#include <string.h>

#include "elab.h"
#include "lu.h"

static_assert((int)CKT_BYPASS_AUTO == 0 && CKT_BYPASS_OFF == 1 && CKT_BYPASS_ALL == 2,
              "words of option bypass");

static void unknown_option(const flat_option *o, diag *d)
{
    const char *const *cand;
    const size_t n = option_names(&cand);
    diag_warning(d, o->span, "unknown option '%s' has no effect", o->name);
    diag_suggest(d, o->name, cand, n);
}

static bool bad_value(diag *d, const flat_option *o, const char *wanted)
{
    diag_error(d, o->span, "option %s=%s: %s is needed", o->name, o->str, wanted);
    return false;
}

/* gshunt is 1/rshunt. */
static bool set_gshunt(option_set *s, const flat_option *o, diag *d)
{
    if (!isfinite(o->value) || o->value < 0)
        return bad_value(d, o, option_wanted(OPTION_IS_NOT_NEGATIVE));
    s->rshunt = o->value > 0 ? 1 / o->value : 0;
    s->given[OPTION_rshunt] = true;
    return true;
}

static bool set_option(option_set *s, const flat_option *o, diag *d)
{
    option_id id;
    if (!strcmp(o->name, "gshunt"))
        return set_gshunt(s, o, d);
    switch (option_find(o->name, &id)) {
    case OPTION_SET: {
        const char *wanted = option_set_word(s, id, o->str, o->value);
        return !wanted || bad_value(d, o, wanted);
    }
    case OPTION_IGNORED:
        diag_warning(d, o->span, "option '%s' is not supported and has no effect", o->name);
        return true;
    case OPTION_UNKNOWN: unknown_option(o, d); return true;
    case OPTION_SILENT: return true;
    }
    return true;
}

vs_status elab_options(option_set *o, const flat *f, diag *d)
{
    option_default(o);
    return elab_set_options(o, f, d);
}

vs_status elab_set_options(option_set *o, const flat *f, diag *d)
{
    bool ok = true;
    for (size_t i = 0; i < vec_len(f->option); i++)
        ok &= set_option(o, &f->option[i], d);
    if (vec_len(f->temp)) {
        o->temp = f->temp[0];
        if (!(o->temp > -273.15)) {
            diag_error(d, DIAG_NOWHERE,
                       ".temp %g: a temperature above -273.15 degrees Celsius is needed", o->temp);
            ok = false;
        }
        o->given[OPTION_temp] = true;
    }
    return ok ? VS_OK : VS_EINPUT;
}

void elab_simparam(double *simparam, const option_set *o)
{
    memcpy(simparam, ir_simparam_default, IR_N_SIMPARAM * sizeof *simparam);
#define X(name, ...) simparam[IR_SIMPARAM_##name] = o->name;
    OPTION_MODEL_LIST(X)
#undef X
}
