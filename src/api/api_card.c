/* api_card.c - an analysis given as a struct, as the text of its card: it is then checked and read
 * as every card is. */
#include <string.h>

#include "api_priv.h"

static const char *grid_of(arena *mem, const vsim_analysis *a)
{
    static const char *const word[] = {[VSIM_DEC] = "dec", [VSIM_OCT] = "oct", [VSIM_LIN] = "lin"};
    return arena_printf(mem, "%s %lld %.17g %.17g", word[a->grid], (long long)a->n_freq, a->f_from,
                        a->f_to);
}

/* The range stands for values that are put in its place when the card was read. */
static const char *dc_card(arena *mem, const vsim_analysis *a)
{
    const char *card = "dc";
    for (size_t i = 0; i < a->n_sweep; i++)
        card = arena_printf(mem, "%s %s 0 1 1", card, a->sweep[i].name);
    return card;
}

/* "v(p,n)" without the brackets and the comma. */
static const char *two_nodes(arena *mem, const char *out)
{
    char *text = arena_strndup(mem, out, strlen(out));
    for (char *p = text; *p; p++)
        if (*p == '(' || *p == ')' || *p == ',')
            *p = ' ';
    const size_t skip = strspn(text, " \t");
    return text + skip + (str_lower_char(text[skip]) == 'v' && text[skip + 1] == ' ');
}

static const char *pz_card(arena *mem, const vsim_analysis *a)
{
    const char *what = a->no_zeros ? "pol" : a->no_poles ? "zer" : "pz";
    return arena_printf(mem, "pz %s %s %s %s %s", a->in[0], a->in[1], two_nodes(mem, a->out),
                        a->current_input ? "cur" : "vol", what);
}

/* What the struct lacks; NULL: nothing. */
static const char *missing(const vsim_analysis *a)
{
    const bool out =
        a->kind == VSIM_NOISE || a->kind == VSIM_TF || a->kind == VSIM_SENS || a->kind == VSIM_PZ;
    const bool source = a->kind == VSIM_NOISE || a->kind == VSIM_TF;
    if (a->kind == VSIM_DC && (!a->n_sweep || a->n_sweep > VS_COUNT(a->sweep)))
        return "a dc analysis has 1 to 4 sweeps";
    for (size_t i = 0; a->kind == VSIM_DC && i < a->n_sweep; i++)
        if (!a->sweep[i].name || !a->sweep[i].n || !a->sweep[i].value)
            return "a sweep has no name or no values";
    if (out && !a->out)
        return "the output is missing";
    if (source && !a->source)
        return "the input source is missing";
    if (a->kind == VSIM_PZ && (!a->in[0] || !a->in[1]))
        return "the input nodes are missing";
    return a->kind == VSIM_PZ && a->no_poles && a->no_zeros ? "neither poles nor zeros are wanted"
                                                            : NULL;
}

const char *api_card_of(vsim_deck *d, arena *mem, const vsim_analysis *from)
{
    vsim_analysis own;
    vsim_analysis_init(&own, from->kind);
    memcpy(&own, from, from->size < sizeof own ? from->size : sizeof own);
    const vsim_analysis *a = &own;
    const char *why = missing(a);
    if (why) {
        diag_error(&d->s->d, DIAG_NOWHERE, "vsim_analysis: %s", why);
        return NULL;
    }
    switch (a->kind) {
    case VSIM_OP: return "op";
    case VSIM_DC: return dc_card(mem, a);
    case VSIM_TRAN:
        return arena_printf(mem, "tran %.17g %.17g %.17g%s", a->tstep, a->tstop, a->tstart,
                            a->tmax > 0
                                ? arena_printf(mem, " %.17g%s", a->tmax, a->uic ? " uic" : "")
                            : a->uic ? " uic"
                                     : "");
    case VSIM_AC: return arena_printf(mem, "ac %s", grid_of(mem, a));
    case VSIM_NOISE:
        return arena_printf(mem, "noise %s %s %s %lld", a->out, a->source, grid_of(mem, a),
                            (long long)a->summary);
    case VSIM_TF: return arena_printf(mem, "tf %s %s", a->out, a->source);
    case VSIM_SENS:
        return a->n_freq > 0 ? arena_printf(mem, "sens %s ac %s", a->out, grid_of(mem, a))
                             : arena_printf(mem, "sens %s", a->out);
    case VSIM_PZ: return pz_card(mem, a);
    case VSIM_HB:
    case VSIM_HBAC:
    case VSIM_HBNOISE:
    case VSIM_LSTB: break; /* cards have their many words */
    case VSIM_SP: return arena_printf(mem, "sp %s%s", grid_of(mem, a), a->noise ? " donoise" : "");
    }
    diag_error(&d->s->d, DIAG_NOWHERE, "vsim_analysis.kind is %d, which is no analysis",
               (int)a->kind);
    return NULL;
}

void vsim_analysis_init_size(vsim_analysis *a, vsim_kind kind, size_t size)
{
    memset(a, 0, size);
    a->size = size;
    if (size >= sizeof *a)
        a->kind = kind;
}
