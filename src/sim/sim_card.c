/* sim_card.c - cards that come after the deck: analyses and options of .control, parameters by
 * name. */
#include <string.h>

#include "sim_priv.h"
#include "vec.h"

/* The card of a text; NULL after a message. */
static const net_card *read_card(sim *s, const char *text, diag_span from)
{
    net_deck *one = arena_new(&s->card_mem, net_deck);
    net_opt opt = {.no_title = true};
    size_t file = vec_len(s->d->file);
    vs_status st =
        net_read_text(one, s->d, s->names, &s->card_mem, "command", text, strlen(text), &opt);
    if (vec_len(s->d->file) > file)
        s->d->file[file].from = from;
    const net_line *line = one->top->line;
    return !st && vec_len(line) && !line[0].is_element ? line[0].card : NULL;
}

static vs_status read_into(sim *s, flat *out, const char *text, diag_span from)
{
    vs_status st = s->flat.mem ? VS_OK : sim_flatten(s);
    arena_fini(&s->card_mem); /* a loop over analyses needs the memory of one */
    arena_init(&s->card_mem);
    const net_card *card = st ? NULL : read_card(s, arena_printf(&s->card_mem, ".%s", text), from);
    if (!card)
        return VS_EINPUT;
    return flat_card(out, &s->flat, &s->deck, s->d, s->names, &s->card_mem, s->temp, s->over,
                     vec_len(s->over), card);
}

vs_status sim_parse(sim *s, flat_ana *a, const char *text, diag_span from)
{
    flat out;
    int warnings = s->d->n_warning;
    vs_status st = read_into(s, &out, text, from);
    if (st)
        return st;
    if (!vec_len(out.ana)) { /* known, but only a warning came: it cannot be run */
        if (s->d->n_warning == warnings)
            diag_error(s->d, from, "'%s' is no analysis", text);
        return VS_EINPUT;
    }
    *a = out.ana[0];
    return VS_OK;
}

vs_status sim_set_option(sim *s, const char *text, diag_span from)
{
    flat out;
    vs_status st = read_into(s, &out, arena_printf(&s->mem, "option %s", text), from);
    const int n_error = s->d->n_error;
    if (!st)
        st = elab_set_options(&s->option, &out, s->d);
    if (!st && s->d->n_error == n_error)
        vec_push(s->option_text, arena_printf(&s->mem, "%s", text));
    elab_simparam(s->simparam, &s->option);
    if (!st && s->option.given[OPTION_temp] && vec_len(out.option))
        for (size_t i = 0; i < vec_len(out.option); i++)
            if (!strcmp(out.option[i].name, "temp"))
                s->temp = s->option.temp;
    sim_deep(s, "options");
    return st;
}

bool sim_param(sim *s, const char *name, double *value)
{
    arena mem;
    if (s->plan && !s->stale)
        return flat_plan_param(s->plan, name, value);
    arena_init(&mem);
    bool ok = s->flat.mem && flat_param_value(&s->flat, &s->deck, s->d, s->names, &mem, s->temp,
                                              s->over, vec_len(s->over), name, value);
    arena_fini(&mem);
    return ok;
}

/* -- text -- */

/* Blanks for line ends and the marks of continuation lines. */
static void join_lines(char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\n' && s[i] != '\r')
            continue;
        bool end = s[i] == '\n';
        s[i] = ' ';
        size_t k = i + 1;
        while (end && k < n && (s[k] == ' ' || s[k] == '\t' || s[k] == '\r'))
            k++;
        if (end && k < n && s[k] == '+')
            s[k] = ' ';
    }
}

/* From token `first` on; there is one. */
static const char *text_from(const sim *s, arena *mem, const net_card *c, int32_t first,
                             diag_span *at)
{
    const net_tok *last = &c->tok[c->n_tok - 1];
    uint32_t from = c->tok[first].off, n = last->off + last->len - from;
    char *text = arena_alloc(mem, n + 1);
    memset(text, ' ', n);
    for (int32_t i = first; i < c->n_tok; i++)
        memcpy(text + (c->tok[i].off - from), s->d->file[c->file].text + c->tok[i].off,
               c->tok[i].len);
    join_lines(text, n);
    *at = (diag_span){c->file, from, n};
    return text;
}

const char *sim_card_text(const sim *s, arena *mem, const net_card *c, int32_t first, diag_span *at)
{
    *at = net_card_span(c);
    return first < c->n_tok ? text_from(s, mem, c, first, at) : "";
}

const char *sim_line_text(const sim *s, arena *mem, const net_line *l, diag_span *at)
{
    net_tok *tok = NULL;
    const net_card full = net_line_full(l, s->d, s->names, &tok);
    const char *text = sim_card_text(s, mem, &full, 0, at);
    vec_free(tok);
    return text;
}

const char *sim_span_text(const sim *s, arena *mem, diag_span at)
{
    char *text = arena_strndup(mem, s->d->file[at.file].text + at.off, at.len);
    join_lines(text, at.len);
    return text;
}
