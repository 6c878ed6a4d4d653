/* flat_xyce.c - .options cards of Xyce, whose first word is a package: what has a meaning here
 * becomes an option of vsim, of the rest one warning tells. */
#include <string.h>

#include "flat_priv.h"

/* Options of a package that vsim has: Xyce's name, ours. */
static const struct xyce_option {
    const char *package, *name, *ours;
} known[] = {
    {"device", "temp", "temp"},      {"device", "tnom", "tnom"},
    {"device", "gmin", "gmin"},      {"device", "defl", "defl"},
    {"device", "defw", "defw"},      {"device", "defad", "defad"},
    {"device", "defas", "defas"},    {"timeint", "reltol", "reltol"},
    {"timeint", "abstol", "vntol"},  {"timeint", "delmax", "delmax"},
    {"timeint", "maxord", "maxord"}, {"timeint", "method", "method"},
};

static const char *ours_of(const char *package, const char *name)
{
    for (size_t i = 0; i < VS_COUNT(known); i++)
        if (!strcmp(known[i].package, package) && !strcmp(known[i].name, name))
            return known[i].ours;
    return NULL;
}

/* Methods of Xyce: 7 or trap, 8 or gear. */
static const char *method_of(const char *word)
{
    static const struct {
        const char *word, *method;
    } t[] = {
        {"7", "trap"}, {"trap", "trap"}, {"trapezoidal", "trap"}, {"8", "gear"}, {"gear", "gear"}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        if (!strcmp(t[i].word, word))
            return t[i].method;
    return NULL;
}

/* Takes "name = value" at the cursor under our name. false: it has no effect here. */
static bool take(cur *q, const char *ours)
{
    flat_option *list = q->c->f->option;
    const size_t before = vec_len(list);
    flat_read_option(q);
    list = q->c->f->option;
    if (vec_len(list) == before)
        return true; /* a message was given */
    flat_option *o = &vec_last(list);
    o->name = str_intern0(q->c->names, ours);
    if (!strcmp(ours, "method")) {
        const char *method = method_of(o->str);
        if (!method) {
            vec_head_of(list)->len = before;
            return false;
        }
        o->str = str_intern0(q->c->names, method);
    }
    return true;
}

bool flat_xyce_options(cur *q)
{
    flat_ctx *c = q->c;
    const char *package = cur_more(q) ? cur_tok(q)->text : NULL, *without = "";
    if (q->card->kind != NET_CARD_OPTION || !package || !net_xyce_package(package) || cur_at_key(q))
        return false;
    const diag_span at = cur_span(q);
    int n = 0;
    for (q->i++; cur_more(q);) {
        if (cur_tok(q)->kind != NET_T_WORD || !cur_at_key(q)) {
            q->i++; /* of a list of values */
            continue;
        }
        const char *name = cur_tok(q)->text, *ours = ours_of(package, name);
        if (ours && take(q, ours))
            continue;
        if (!ours)
            q->i += 2;
        without = arena_printf(&c->scratch, "%s%s%s", without, n++ ? ", " : "", name);
    }
    if (n && flat_first(c, at))
        diag_warning(c->d, at, "of the options of '%s' these have no effect here: %s", package,
                     without);
    return true;
}
