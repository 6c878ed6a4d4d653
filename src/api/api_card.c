/* api_card.c - turns an analysis given as a struct into the text of its card, which is then checked
 * and read like every card. */
#include <math.h>
#include <stdlib.h>
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

static const char *noise_card(arena *mem, const vsim_analysis *a)
{
    return arena_printf(mem, "noise %s %s %s %lld", a->out, a->source, grid_of(mem, a),
                        (long long)a->summary);
}

static double tone_of(const vsim_analysis *a, size_t i)
{
    return (a->tones ? a->tones : a->tone)[i];
}

/* 0: as usual */
static int64_t harmonics_of(const vsim_analysis *a, size_t i, int64_t usual)
{
    const int64_t *of = a->tones ? a->tone_harmonics : a->harmonics, n = of ? of[i] : 0;
    return n ? n : usual;
}

/* .pss by shooting */
static const char *shooting_card(arena *mem, const vsim_analysis *a)
{
    static const char *const rule[] = {[VSIM_SDIRK4] = "sdirk4",
                                       [VSIM_TRAP] = "trap",
                                       [VSIM_GEAR] = "gear",
                                       [VSIM_EULER] = "euler"};
    const int64_t n = harmonics_of(a, 0, 10), points = a->points;
    const char *card =
        arena_printf(mem, "pss %.17g %.17g %s %lld %lld%s method=shooting integration=%s start=%s",
                     tone_of(a, 0), a->tstab, a->oscillator ? a->probe[0] : "0",
                     (long long)(points ? points : 20 * n + 101), (long long)n,
                     a->uic ? " uic" : "", rule[a->integration], a->start_hb ? "hb" : "tran");
    if (!a->halvings)
        return card;
    return arena_printf(mem, "%s halvings=%lld", card,
                        a->halvings == -1 ? 0LL : (long long)a->halvings);
}

/* .hb or .hbosc */
static const char *hb_card(arena *mem, const vsim_analysis *a)
{
    const char *card = a->oscillator ? "hbosc tone=" : "hb tones=", *harmonics = "";
    for (size_t i = 0; i < a->n_tone; i++) {
        const int64_t n = harmonics_of(a, i, a->n_tone > 1 ? 7 : 10);
        card = arena_printf(mem, "%s %.17g", card, tone_of(a, i));
        harmonics = arena_printf(mem, "%s %lld", harmonics, (long long)n);
    }
    card = arena_printf(mem, "%s nharms=%s tstab=%.17g", card, harmonics, a->tstab);
    if (a->intmodmax)
        card = arena_printf(mem, "%s intmodmax=%lld", card, (long long)a->intmodmax);
    if (a->points)
        card = arena_printf(mem, "%s points=%lld", card, (long long)a->points);
    if (a->oscillator)
        card = arena_printf(mem, "%s probenode=%s%s%s", card, a->probe[0], a->probe[1] ? "," : "",
                            a->probe[1] ? a->probe[1] : "");
    return a->uic ? arena_printf(mem, "%s uic", card) : card;
}

static const char *hbnoise_card(arena *mem, const vsim_analysis *a)
{
    if (a->phase)
        return arena_printf(mem, "phasenoise %s %s %lld sideband=%lld", a->out, grid_of(mem, a),
                            (long long)a->summary, a->sideband > 0 ? (long long)a->sideband : 1LL);
    const char *card =
        arena_printf(mem, "hb%s sideband=%lld", noise_card(mem, a), (long long)a->sideband);
    switch (a->noise_form) {
    case VSIM_NOISE_MODULATED: return arena_printf(mem, "%s modulated", card);
    case VSIM_NOISE_STROBE: return arena_printf(mem, "%s strobe=%.17g", card, a->noise_at);
    case VSIM_NOISE_CROSS:
        return arena_printf(mem, "%s cross=%.17g %s=%lld", card, a->noise_at,
                            a->noise_edge < 0 ? "fall" : "rise",
                            a->noise_edge ? llabs((long long)a->noise_edge) : 1LL);
    default: return card;
    }
}

static const char *hbsp_card(arena *mem, const vsim_analysis *a)
{
    const char *card = arena_printf(mem, "hbsp %s", grid_of(mem, a));
    const int64_t *of = a->harmonic_port;
    for (size_t i = 0; i < a->n_port_harmonic; i++) {
        const bool more = i && of && of[i] == of[i - 1];
        card = arena_printf(mem, "%s%s%lld", card,
                            !i     ? " harms=("
                            : more ? " "
                                   : ") (",
                            (long long)a->port_harmonic[i]);
    }
    card = a->n_port_harmonic ? arena_printf(mem, "%s)", card) : card;
    return a->noise ? arena_printf(mem, "%s donoise", card) : card;
}

static const char *lstb_card(arena *mem, const vsim_analysis *a)
{
    static const char *const mode[] = {
        [VSIM_LOOP_SINGLE] = "single", [VSIM_LOOP_DIFF] = "diff", [VSIM_LOOP_COMM] = "comm"};
    const bool two = a->loop != VSIM_LOOP_SINGLE;
    return arena_printf(mem, "lstb mode=%s vsource=%s%s%s %s", mode[a->loop], a->probe[0],
                        two ? "," : "", two ? a->probe[1] : "",
                        a->n_freq > 0 ? grid_of(mem, a) : "");
}

/* What a periodic analysis lacks. */
static const char *missing_of_hb(const vsim_analysis *a)
{
    if (a->kind == VSIM_HB &&
        (!a->n_tone || a->n_tone > (a->tones ? FLAT_TONES : VS_COUNT(a->tone))))
        return a->tones ? "harmonic balance has 1 to 10 tones"
                        : "harmonic balance has 1 to 4 tones in `tone`, to 10 in `tones`";
    if (a->kind == VSIM_HB && a->oscillator && !a->probe[0])
        return "the oscillating node is missing";
    if (a->kind == VSIM_HB && a->shooting && (a->n_tone != 1 || (a->oscillator && a->probe[1])))
        return "shooting has one tone, and of an oscillator one node";
    if (a->kind == VSIM_HB && (a->integration < VSIM_SDIRK4 || a->integration > VSIM_EULER))
        return "the integration is none of vsim_integration";
    if (a->kind == VSIM_HB && a->halvings < -1)
        return "halvings is -1, 0 or a number of them";
    if (a->kind == VSIM_HBNOISE &&
        (a->noise_form < VSIM_NOISE_SIDEBAND || a->noise_form > VSIM_NOISE_CROSS))
        return "the form of noise is none of vsim_noise_form";
    if (a->kind == VSIM_HBSP && a->n_port_harmonic && !a->port_harmonic)
        return "the harmonics of the ports are missing";
    for (size_t i = 0; a->kind == VSIM_HBSP && a->harmonic_port && i < a->n_port_harmonic; i++)
        if (a->harmonic_port[i] != (i ? a->harmonic_port[i - 1] : 1) &&
            (!i || a->harmonic_port[i] != a->harmonic_port[i - 1] + 1))
            return "harmonic_port does not count the ports from 1 on, one after the other";
    if (a->kind == VSIM_LSTB && (a->loop < VSIM_LOOP_SINGLE || a->loop > VSIM_LOOP_COMM))
        return "the loop is none of vsim_loop";
    if (a->kind == VSIM_LSTB && (!a->probe[0] || (a->loop != VSIM_LOOP_SINGLE && !a->probe[1])))
        return "a probe of the loop is missing";
    return NULL;
}

/* What the struct lacks; NULL: nothing. */
static const char *missing(const vsim_analysis *a)
{
    const bool noise = a->kind == VSIM_NOISE || a->kind == VSIM_HBNOISE;
    const bool out = noise || a->kind == VSIM_TF || a->kind == VSIM_SENS || a->kind == VSIM_PZ ||
                     a->kind == VSIM_ACXF || a->kind == VSIM_DCXF || a->kind == VSIM_DCMATCH ||
                     a->kind == VSIM_ACMATCH || a->kind == VSIM_HBXF;
    const bool source = (noise && !(a->kind == VSIM_HBNOISE && a->phase)) || a->kind == VSIM_TF;
    if (a->grid < VSIM_DEC || a->grid > VSIM_LIN)
        return "the grid is none of vsim_grid";
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
    if (a->kind == VSIM_PZ && a->no_poles && a->no_zeros)
        return "neither poles nor zeros are wanted";
    if (a->device_noise &&
        !(a->noise_fmax >= 0 && isfinite(a->noise_fmax) && isfinite(a->noise_scale)))
        return "noise_fmax is no frequency, or noise_scale no number";
    return missing_of_hb(a);
}

const char *api_card_of(vsim_deck *d, arena *mem, const vsim_analysis *from, vsim_analysis *a)
{
    vsim_analysis_init(a, from->kind);
    memcpy(a, from, from->size < sizeof *a ? from->size : sizeof *a);
    if (a->kind != VSIM_TRAN)
        a->device_noise = false;
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
    case VSIM_NOISE: return noise_card(mem, a);
    case VSIM_TF: return arena_printf(mem, "tf %s %s", a->out, a->source);
    case VSIM_SENS:
        return a->n_freq > 0 ? arena_printf(mem, "sens %s ac %s", a->out, grid_of(mem, a))
                             : arena_printf(mem, "sens %s", a->out);
    case VSIM_PZ: return pz_card(mem, a);
    case VSIM_HB: return a->shooting ? shooting_card(mem, a) : hb_card(mem, a);
    case VSIM_HBAC:
        return arena_printf(mem, "hbac %s sidebands=%lld", grid_of(mem, a), (long long)a->sideband);
    case VSIM_HBNOISE: return hbnoise_card(mem, a);
    case VSIM_HBSP: return hbsp_card(mem, a);
    case VSIM_HBXF:
        return arena_printf(mem, "hbxf %s %s sideband=%lld sidebands=%lld", a->out, grid_of(mem, a),
                            (long long)a->sideband, (long long)a->sidebands);
    case VSIM_LSTB: return lstb_card(mem, a);
    case VSIM_ACXF: return arena_printf(mem, "acxf %s %s", a->out, grid_of(mem, a));
    case VSIM_DCXF: return arena_printf(mem, "dcxf %s", a->out);
    case VSIM_DCMATCH: return arena_printf(mem, "dcmatch %s threshold=%.17g", a->out, a->threshold);
    case VSIM_ACMATCH:
        return arena_printf(mem, "acmatch %s %s threshold=%.17g", a->out,
                            a->n_freq > 0 ? grid_of(mem, a) : "", a->threshold);
    case VSIM_DISTO:
        return arena_printf(mem, a->f2_over_f1 != 0 ? "disto %s %.17g" : "disto %s",
                            grid_of(mem, a), a->f2_over_f1);
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
