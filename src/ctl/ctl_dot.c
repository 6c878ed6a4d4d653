/* ctl_dot.c - the deck's cards for results: .meas .four .fft .eye .print .plot; the table of
 * measures. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl_priv.h"
#include "eye.h"
#include "four.h"
#include "spectrum.h"
#include "table.h"
#include "stream.h"

/* -- measures -- */

/* The plot of that analysis on which a measure or, with `list`, a list of expressions works; of
 * several spectra the newest that has one of its vectors. NULL: none. */
static post_plot *plot_of(ctl *c, const char *word, const char *text, bool list)
{
    const char **name = NULL;
    (list ? post_names_of_plots : post_measure_names)(c->names, text, &name);
    const char *plots = sim_result_plots(word);
    post_plot *found = post_set_of(sim_plots(c->s), plots, name, vec_len(name));
    vec_free(name);
    return found;
}

static void keep_result(ctl *c, const char *analysis, const post_plot *p, const post_meas *m)
{
    ctl_result r = {str_intern0(c->names, analysis), p->name, *m};
    for (size_t i = 0; c->o.session && i < vec_len(c->result); i++)
        if (c->result[i].m.name == m->name) { /* a session measures the same again and again */
            r.m.why = NULL;
            c->result[i] = r;
            return;
        }
    if (m->why)
        r.m.why = arena_printf(&c->mem, "%s", m->why);
    vec_push(c->result, r);
}

static bool is_word(const char *word, const char *text, size_t n)
{
    return strlen(word) == n && !str_ncasecmp(word, text, n);
}

/* Cards that make a plot of a transient's, which other cards take by their word. */
static const char *const maker[] = {"fft", "eye"};

static bool is_maker(const char *word)
{
    for (size_t i = 0; i < VS_COUNT(maker); i++)
        if (!strcmp(word, maker[i]))
            return true;
    return false;
}

/* The word i of an analysis for cards of results, NULL: there are no more. */
static const char *result_word(size_t i)
{
    size_t n = 0;
    while (sim_result_word(n))
        n++;
    return i < n ? sim_result_word(i) : i - n < VS_COUNT(maker) ? maker[i - n] : NULL;
}

static bool is_analysis(const char *text, size_t n)
{
    const char *word;
    for (size_t i = 0; (word = result_word(i)); i++)
        if (is_word(word, text, n))
            return true;
    return false;
}

static bool known_analysis(ctl *c, const char *analysis, diag_span at)
{
    if (is_analysis(analysis, strlen(analysis)))
        return true;
    const char **word = NULL, *list = "", *one;
    for (size_t i = 0; (one = result_word(i)); i++)
        vec_push(word, one);
    for (size_t i = 0; i < vec_len(word); i++)
        list = arena_printf(&c->scratch, "%s%s%s", list,
                            !i                       ? ""
                            : i + 1 == vec_len(word) ? " or "
                                                     : ", ",
                            word[i]);
    diag_error(c->d, at, "a measure begins with its analysis: %s, not '%s'", list, analysis);
    diag_suggest(c->d, analysis, word, vec_len(word));
    vec_free(word);
    return false;
}

/* A line as LTspice writes it, "vmax: max v(out)=0.44 FROM 0 TO 4e-06", which spicelib's reader of
 * logs takes; the programs that read it set ngbehavior to a list with "lt". */
static void tell_as_ltspice(ctl *c, const char *text, const post_meas *m)
{
    const size_t name = strcspn(text, " \t");
    const char *expr = text + name + strspn(text + name, " \t");
    double from = NAN, to = NAN, at = NAN;
    for (int i = 0; i < m->n_part; i++) {
        from = !strcmp(m->part[i], "from") || !strcmp(m->part[i], "trig") ? m->part_value[i] : from;
        to = !strcmp(m->part[i], "to") || !strcmp(m->part[i], "targ") ? m->part_value[i] : to;
        at = !strcmp(m->part[i], "at") ? m->part_value[i] : at;
    }
    if (!m->ok) {
        fprintf(c->out, "Measurement \"%s\" FAIL'ed\n", m->name);
        return;
    }
    fprintf(c->out, "%s: %s=%.9g", m->name, expr, m->value);
    if (!isnan(from) && !isnan(to))
        fprintf(c->out, " FROM %.9g TO %.9g", from, to);
    else if (!isnan(at))
        fprintf(c->out, " at %.9g", at);
    fputc('\n', c->out);
}

static void tell_measure(ctl *c, const char *text, const post_meas *m)
{
    const char *dialect = ctl_value(c, "ngbehavior");
    if (m->ok)
        post_measure_print(m, c->out);
    else if (!sim_opts(c->s)->manner.ngspice)
        fprintf(c->out, "%-20s=  failed\n", m->name);
    if (dialect && strstr(dialect, "lt"))
        tell_as_ltspice(c, text, m);
}

vs_status ctl_measure(ctl *c, const char *analysis, const char *text, diag_span at)
{
    if (!known_analysis(c, analysis, at))
        return VS_EINPUT;
    post_plot *p = plot_of(c, analysis, text, false);
    post_plot *was = sim_plots(c->s)->current;
    if (!p) {
        diag_error(c->d, at, "there is no %s analysis whose results could be measured", analysis);
        return VS_EINPUT;
    }
    post_meas m;
    sim_plots(c->s)->current = p;
    const bool came =
        c->flow && !str_casecmp(analysis, "tran") && post_flow_result(c->flow, at, &c->scratch, &m);
    vs_status st = came ? VS_OK : post_measure(&c->e, text, at, &m);
    sim_plots(c->s)->current = was;
    if (st)
        return st;
    keep_result(c, analysis, p, &m);
    if (!c->o.no_measures)
        tell_measure(c, text, &m);
    if (!m.ok) {
        diag_warning(c->d, at, "the measure '%s' failed: %s", m.name,
                     m.why ? m.why : "no such value");
        ctl_tell_lack(c, text, post_measure_names);
        return VS_OK;
    }
    post_vec *v = post_plot_add(sim_plots(c->s), p, m.name, "notype", false);
    post_vec_push(v, m.value, 0);
    return VS_OK;
}

/* -- cards -- */

typedef struct dot_card {
    const char *word;     /* "meas", "four", "fft", "eye", "print", "plot", "width" */
    const char *analysis; /* "tran", ...; "": none given */
    const char *text;     /* behind the analysis */
    bool each;            /* at each crossing, Xyce's tran_cont */
    diag_span at;
} dot_card;

/* The analysis of a measure that names none, "NAME FORM ..." as LTspice writes it: the deck's
 * first. */
static const char *first_analysis(const sim *s, const char *form)
{
    size_t n;
    const flat_ana *a = sim_todo(s, &n);
    return n && post_measure_form(form, strcspn(form, " \t=")) ? sim_analysis_word(a->kind) : "";
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        *from = ' ';
}

/* In Xyce's cards of expressions braces are brackets, and words like format=csv say how its files
 * are written. Places of what is left do not move. */
static const char *without_words(arena *mem, const char *text)
{
    char *own = arena_strndup(mem, text, strlen(text));
    for (char *p = own; *p; p++)
        *p = *p == '{' ? '(' : *p == '}' ? ')' : *p;
    for (char *p = own; *(p += strspn(p, " \t")); p += strcspn(p, " \t")) {
        const size_t n = strcspn(p, " \t=(");
        char *const eq = p + n + strspn(p + n, " \t");
        char word[16] = "";
        for (size_t i = 0; i < n && n < sizeof word; i++)
            word[i] = str_lower_char(p[i]);
        if (*eq == '=' && net_xyce_print(word)) {
            const char *value = eq + 1 + strspn(eq + 1, " \t");
            blank(p, value + strcspn(value, " \t"));
        }
    }
    return own;
}

/* Behind limits of an axis, "(0,5)", that begin here; NULL: there are none. */
static const char *limits_end(const char *p)
{
    double x;
    if (*p++ != '(')
        return NULL;
    for (int i = 0; i < 2; i++) {
        const size_t gap = strspn(p, i ? " \t," : " \t");
        if ((i && !gap) || !str_spice_number(p + gap, &p, &x))
            return NULL;
    }
    p += strspn(p, " \t");
    return *p == ')' ? p + 1 : NULL;
}

/* Limits of axes do not count. Places of what is left do not move. */
static const char *without_limits(arena *mem, const char *text)
{
    char *own = arena_strndup(mem, text, strlen(text));
    for (char *p = own; *p; p++) {
        const char *end = p == own || strchr(" \t,", p[-1]) ? limits_end(p) : NULL;
        if (end)
            blank(p, end);
    }
    return own;
}

/* The next item of a list, from *p on, which moves behind it: up to a blank or comma outside of
 * brackets. NULL: there is none. */
static const char *next_item(const char **p)
{
    const char *item = *p + strspn(*p, " \t,"), *end = item;
    for (int depth = 0; *end && (depth > 0 || !strchr(" \t,", *end)); end++)
        depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
    *p = end;
    return end > item ? item : NULL;
}

/* What a card lists. */
static const char *list_of(const dot_card *d)
{
    return d->text[strspn(d->text, " \t,")] ? d->text : "all";
}

/* The vectors that a list names: of the whole, and item by item, since not all need be known. */
static void names_of(sim *s, arena *mem, const char *text)
{
    const char ***list = &sim_opts(s)->keep_name, **wild = NULL;
    if (!sim_deck(s)->xyce)
        post_names(sim_names(s), text, list);
    for (const char *item; (item = next_item(&text));)
        if (!ctl_wild_items(s, mem, item, (size_t)(text - item), &wild))
            post_names(sim_names(s), arena_strndup(mem, item, (size_t)(text - item)), list);
    for (size_t i = 0; i < vec_len(wild); i++)
        post_names(sim_names(s), wild[i], list);
    vec_free(wild);
}

/* The length of the analysis in Xyce's "tran_cont", a measure at each crossing; 0: it is another
 * word. */
static size_t of_each(const char *text, size_t n)
{
    return n > 5 && !str_ncasecmp(text + n - 5, "_cont", 5) && is_analysis(text, n - 5) ? n - 5 : 0;
}

/* ".print homotopy": a word of Xyce's for which there is no analysis here. */
static bool names_other(const char *text, size_t n)
{
    return n && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == n &&
           str_ncasecmp(text, "all", n) != 0;
}

static dot_card read_card(const sim *s, arena *mem, const net_card *card)
{
    const bool xyce = sim_deck(s)->xyce;
    dot_card d = {.word = card->name, .analysis = ""};
    if (!strcmp(d.word, "measure"))
        d.word = "meas";
    d.text = sim_card_text(s, mem, card, 1, &d.at);
    if (xyce && strcmp(d.word, "meas") != 0)
        d.text = without_words(mem, d.text);
    if (!strcmp(d.word, "plot"))
        d.text = without_limits(mem, d.text);
    size_t n = strcspn(d.text, " \t");
    const size_t each = strcmp(d.word, "meas") ? 0 : of_each(d.text, n);
    d.each = each > 0;
    bool named = each || is_analysis(d.text, n) ||
                 (xyce && !strcmp(d.word, "print") && names_other(d.text, n));
    if (!named && !strcmp(d.word, "meas")) {
        d.analysis = first_analysis(s, d.text + n + strspn(d.text + n, " \t"));
        if (*d.analysis)
            return d;
        named = true; /* the word will be refused */
    }
    if (!named || !strcmp(d.word, "four") || is_maker(d.word))
        return d;
    size_t skip = n + strspn(d.text + n, " \t");
    char *analysis = arena_strndup(mem, d.text, each ? each : n);
    for (char *p = analysis; *p; p++)
        *p = str_lower_char(*p);
    d.analysis = analysis;
    d.text += skip;
    d.at.off += (uint32_t)skip;
    d.at.len -= (uint32_t)skip;
    return d;
}

void ctl_want(sim *s)
{
    arena mem;
    arena_init(&mem);
    if (ctl_has_block(s))
        sim_opts(s)->keep = SIM_KEEP_ALL;
    for (size_t i = 0; i < vec_len(sim_flat(s)->post); i++) {
        dot_card d = read_card(s, &mem, sim_flat(s)->post[i]);
        if (!strcmp(d.word, "width"))
            continue;
        if (sim_opts(s)->keep == SIM_KEEP_NOTHING)
            sim_opts(s)->keep = SIM_KEEP_NAMED;
        if (!strcmp(d.word, "meas"))
            post_measure_names(sim_names(s), d.text, &sim_opts(s)->keep_name);
        else if (is_maker(d.word))
            post_first_names(sim_names(s), d.text, &sim_opts(s)->keep_name);
        else
            names_of(s, &mem, list_of(&d));
    }
    const char *const *keep = sim_opts(s)->keep_name;
    for (size_t i = 0; i < vec_len(keep); i++)
        (void)sim_meter(s, keep[i]);
    arena_fini(&mem);
}

void ctl_plot_cards(const sim *s, arena *mem, ctl_plot_card **list)
{
    for (size_t i = 0; i < vec_len(sim_flat(s)->post); i++) {
        const dot_card d = read_card(s, mem, sim_flat(s)->post[i]);
        if (!strcmp(d.word, "plot"))
            vec_push(*list, (ctl_plot_card){d.analysis, list_of(&d)});
    }
}

/* A list of items, which need not all be there. In ngspice's manner a card is done whole or not. */
static bool is_open(const ctl *c, const dot_card *d)
{
    return (sim_deck(c->s)->xyce || !sim_opts(c->s)->manner.ngspice) &&
           (!strcmp(d->word, "print") || !strcmp(d->word, "plot"));
}

/* Appends the values of an expression to the vec *v. false: it has none; its messages are gone. */
static bool take_item(ctl *c, const char *text, post_val **v)
{
    const diag_mark since = diag_try(c->d);
    post_val *of = NULL;
    const bool ok = ctl_values(c, text, &of);
    for (size_t i = 0; ok && i < vec_len(of); i++)
        vec_push(*v, of[i]);
    vec_free(of);
    if (!ok)
        diag_take_back(c->d, since);
    return ok;
}

/* Those that an item with wildcards stands for. false: it has none, or none of them is there. */
static bool take_wild(ctl *c, const char *item, size_t n, post_val **v)
{
    const char **wild = NULL;
    size_t taken = 0;
    (void)ctl_wild_items(c->s, &c->scratch, item, n, &wild);
    for (size_t i = 0; i < vec_len(wild); i++)
        taken += take_item(c, wild[i], v);
    vec_free(wild);
    return taken > 0;
}

/* Values of the items that are there, to the end of the vec *v; one warning of each of the others.
 */
static void known_items(ctl *c, const dot_card *d, post_val **v)
{
    const char *at = list_of(d);
    for (const char *item; (item = next_item(&at));) {
        const size_t n = (size_t)(at - item);
        if (take_item(c, arena_strndup(&c->scratch, item, n), v) || take_wild(c, item, n, v))
            continue;
        const diag_span place = ctl_place(c, item, n);
        if (diag_said(c->d, place))
            continue;
        diag_warning(c->d, place, "'%.*s' is not known here and left out", (int)n, item);
        ctl_tell_lack(c, arena_strndup(&c->scratch, item, n), post_names);
    }
}

/* The values of a list, of Xyce's lists item by item: blanks always end an item there. */
static void list_values(ctl *c, const dot_card *d, post_val **v)
{
    if (sim_deck(c->s)->xyce || !take_item(c, list_of(d), v))
        known_items(c, d, v);
}

static vs_status print_card(ctl *c, const dot_card *d)
{
    post_table t = {.as_columns = true};
    post_val *v = NULL;
    if (!ctl_table_form(c, &t))
        return VS_EINPUT;
    if (is_open(c, d))
        list_values(c, d, &v);
    else if (!ctl_values(c, list_of(d), &v))
        return VS_EINPUT;
    const post_plot *p = sim_plots(c->s)->current;
    t.as_columns = p->scale != NULL;
    if (vec_len(v))
        post_print(v, vec_len(v), p, &t, c->out);
    vec_free(v);
    return VS_OK;
}

/* Lets messages point into the card from now on. */
static void stand_at(ctl *c, const dot_card *d)
{
    c->at = c->e.span = d->at;
    c->line = c->e.line = d->text;
    c->line_at = c->e.line_at = d->at;
    c->same_text = true;
    c->e.log10 = sim_deck(c->s)->xyce;
}

static bool make_fft(ctl *c, const dot_card *d)
{
    post_fft_card card;
    post_plot *made;
    const bool ok =
        post_fft_read(&c->e, d->text, d->at, &card) && post_fft_make(&c->e, &card, &made);
    if (ok)
        post_fft_print(&c->e, &card, made, c->out);
    return ok;
}

/* Runs a card that makes a plot. These come before all others, since measures use the plots. */
static vs_status maker_card(ctl *c, const dot_card *d)
{
    post_plot *was = sim_plots(c->s)->current, *p = plot_of(c, "tran", "", true);
    stand_at(c, d);
    if (!p)
        return VS_OK;
    sim_plots(c->s)->current = p;
    const bool ok =
        strcmp(d->word, "eye") ? make_fft(c, d) : ctl_make_eye(c, d->text, d->at) == VS_OK;
    sim_plots(c->s)->current = was;
    return ok ? VS_OK : VS_EINPUT;
}

/* Whether the analysis gives what the card looks at. */
static bool is_of(const dot_card *d, const flat_ana *a)
{
    return sim_result_of(a, is_maker(d->analysis) ? "tran" : d->analysis);
}

/* Whether each parenthesis of a list has its other one. */
static bool is_closed(const char *text)
{
    int depth = 0;
    for (; *text && depth >= 0; text++)
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    return depth == 0;
}

/* Form, analysis and names of a card that runs behind an analysis. */
static vs_status check_card(ctl *c, const dot_card *d)
{
    post_val *v = NULL;
    post_fft_card fft;
    post_eye_card eye;
    post_meas m;
    bool ok = true;
    stand_at(c, d);
    if (!strcmp(d->word, "fft"))
        ok = post_fft_read(&c->e, d->text, d->at, &fft) && ctl_values(c, fft.expr, &v);
    else if (!strcmp(d->word, "eye"))
        ok = post_eye_read(&c->e, d->text, d->at, &eye) && ctl_values(c, eye.expr, &v);
    else if (!strcmp(d->word, "meas"))
        ok = known_analysis(c, d->analysis, d->at) && !post_measure(&c->e, d->text, d->at, &m);
    else if (is_open(c, d) && (sim_deck(c->s)->xyce || is_closed(d->text)))
        list_values(c, d, &v);
    else if (is_open(c, d) || !strcmp(d->word, "print") || !strcmp(d->word, "four"))
        ok = ctl_values(c, d->text, &v);
    vec_free(v);
    return ok ? VS_OK : VS_EINPUT;
}

/* Whether decks run without the cards of results that cannot be done, as with the program that they
 * are for. */
static bool is_lenient(const ctl *c)
{
    return sim_opts(c->s)->manner.ngspice || sim_deck(c->s)->xyce;
}

/* A card that cannot be done does not keep such a deck from running; what was said of it since then
 * are warnings. */
static bool goes_without(ctl *c, const dot_card *d, vs_status st, diag_mark since)
{
    if (st != VS_EINPUT || !is_lenient(c) || is_maker(d->word))
        return false;
    diag_soften(c->d, since);
    diag_note(c->d, DIAG_NOWHERE, "as with %s, the run goes on without this card",
              sim_deck(c->s)->xyce ? "Xyce" : "ngspice");
    return true;
}

/* Whether ctl_check_cards found that the run goes on without it. */
static bool is_left_out(ctl *c, const dot_card *d)
{
    const diag_mark since = diag_try(c->d);
    const bool checks = c->e.check;
    if (!is_lenient(c) || is_open(c, d))
        return false;
    c->e.check = true;
    const bool out = goes_without(c, d, check_card(c, d), since);
    c->e.check = checks;
    diag_take_back(c->d, since);
    return out;
}

static vs_status do_card(ctl *c, const dot_card *d, const flat_ana *a)
{
    stand_at(c, d);
    if (!strcmp(d->word, "meas")) {
        c->e.told = true;
        const vs_status st = is_of(d, a) ? ctl_measure(c, d->analysis, d->text, d->at) : VS_OK;
        c->e.told = false;
        return st;
    }
    if (!strcmp(d->word, "four"))
        return a->kind != FLAT_TRAN ? VS_OK : ctl_fourier(c, d->text);
    if (strcmp(d->word, "print") && strcmp(d->word, "plot"))
        return VS_OK;
    if (*d->analysis && !is_of(d, a))
        return VS_OK;
    const char *word = *d->analysis ? d->analysis : sim_analysis_word(a->kind);
    post_plot *was = sim_plots(c->s)->current, *p = plot_of(c, word, d->text, true);
    if (!p)
        return VS_OK;
    sim_plots(c->s)->current = p;
    vs_status st = print_card(c, d);
    sim_plots(c->s)->current = was;
    return st;
}

static vs_status run_card(ctl *c, const dot_card *d, const flat_ana *a)
{
    if (is_left_out(c, d))
        return VS_OK;
    const diag_mark since = diag_try(c->d);
    const vs_status st = do_card(c, d, a);
    return goes_without(c, d, st, since) ? VS_OK : st;
}

static bool over_time(const dot_card *d)
{
    return !strcmp(d->word, "four") || is_maker(d->word) || is_maker(d->analysis);
}

/* Warns of a card about an analysis that the deck does not have; a block may still run one. */
static void warn_idle(ctl *c, const dot_card *d)
{
    const char *word = over_time(d) ? "tran" : strcmp(d->word, "width") ? d->analysis : "";
    bool runs = !*word || ctl_has_block(c->s);
    for (size_t i = 0; i < vec_len(sim_flat(c->s)->ana) && !runs; i++)
        runs = sim_result_of(&sim_flat(c->s)->ana[i], word);
    if (!runs)
        diag_warning(c->d, d->at, "this card does nothing: the deck has no .%s analysis", word);
}

/* .trannoise is about transients. */
static void warn_no_transient(ctl *c)
{
    const flat *f = sim_flat(c->s);
    bool runs = ctl_has_block(c->s);
    for (size_t i = 0; i < vec_len(f->ana) && !runs; i++)
        runs = f->ana[i].kind == FLAT_TRAN;
    if (f->trannoise.on && !runs)
        diag_warning(c->d, f->trannoise.span,
                     "this card does nothing: the deck has no .tran analysis");
}

/* An error of form should be said before an analysis has run for an hour. */
vs_status ctl_check_cards(ctl *c)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(sim_flat(c->s)->post); i++) {
        const dot_card d = read_card(c->s, &c->scratch, sim_flat(c->s)->post[i]);
        const diag_mark since = diag_try(c->d);
        vs_status one = check_card(c, &d);
        if (goes_without(c, &d, one, since))
            continue;
        st = st ? st : one;
        if (!one)
            warn_idle(c, &d);
        if (!one && d.each)
            diag_warning(c->d, d.at,
                         "measures at each crossing, '%s_cont', are not supported: this one is of "
                         "the first",
                         d.analysis);
    }
    warn_no_transient(c);
    return st;
}

/* .width out=132 */
static void take_width(ctl *c, const dot_card *d)
{
    const char *eq = strchr(d->text, '=');
    const char *value = eq ? eq + 1 + strspn(eq + 1, " \t") : "";
    if (*value && !str_ncasecmp(d->text, "out", 3))
        ctl_put(c, "width", &value, 1);
}

/* cicsim looks for measures behind this line. */
static void tell_heading(ctl *c, const flat_ana *a)
{
    const post_plot *p = plot_of(c, sim_analysis_word(a->kind), "", true);
    bool any = false;
    for (size_t i = 0; i < vec_len(sim_flat(c->s)->post) && !any; i++) {
        const dot_card d = read_card(c->s, &c->scratch, sim_flat(c->s)->post[i]);
        any = !strcmp(d.word, "meas") && sim_result_of(a, d.analysis);
    }
    if (any && p)
        fprintf(c->out, "\n  Measurements for %s\n\n", p->what);
}

vs_status ctl_dot(ctl *c, const flat_ana *a)
{
    vs_status st = VS_OK;
    if (sim_opts(c->s)->manner.ngspice && !c->o.no_measures)
        tell_heading(c, a);
    /* cards live in the deck, the list of them in the flat netlist, which an analysis may have
     * renewed */
    for (size_t i = 0; i < vec_len(sim_flat(c->s)->post) && a->kind == FLAT_TRAN; i++) {
        const dot_card d = read_card(c->s, &c->scratch, sim_flat(c->s)->post[i]);
        const vs_status one = is_maker(d.word) ? maker_card(c, &d) : VS_OK;
        st = st ? st : one;
    }
    for (size_t i = 0; i < vec_len(sim_flat(c->s)->post); i++) {
        dot_card d = read_card(c->s, &c->scratch, sim_flat(c->s)->post[i]);
        if (!strcmp(d.word, "width"))
            take_width(c, &d);
        vs_status one = run_card(c, &d, a);
        if (one && !st)
            st = one;
    }
    if (c->o.flush)
        c->o.flush(c->o.user);
    return st;
}

/* -- measures as points come -- */

/* Does the card need the waveforms of a transient, and is it no measure? */
static bool needs_waves(const dot_card *d)
{
    return strcmp(d->word, "width") && strcmp(d->word, "meas") &&
           (!*d->analysis || !str_casecmp(d->analysis, "tran"));
}

static bool read_measures(ctl *c)
{
    const char **later = NULL;
    bool ok = true;
    c->flow = post_flow_new();
    ctl_measure_names(c->s, &later, NULL);
    for (size_t i = 0; ok && i < vec_len(sim_flat(c->s)->post); i++) {
        const dot_card d = read_card(c->s, &c->scratch, sim_flat(c->s)->post[i]);
        if (!strcmp(d.word, "meas") && !str_casecmp(d.analysis, "tran") && !is_left_out(c, &d))
            ok = post_flow_add(c->flow, &c->e, d.text, d.at, later);
    }
    vec_free(later);
    if (ok && vec_len(c->flow_image)) {
        image im = image_give(c->flow_image, vec_len(c->flow_image));
        post_flow_image(c->flow, &im);
        vec_free(c->flow_image);
    }
    return ok;
}

/* sim_opt.piece */
static bool take_piece(void *user, post_plot *plot)
{
    ctl *c = user;
    post_set *s = sim_plots(c->s);
    post_plot *was = s->current;
    s->current = plot;
    const bool first = !c->flow;
    const bool ok = (!first || read_measures(c)) && post_flow_take(c->flow, &c->e);
    s->current = was;
    if (first && !ok)
        post_flow_free(&c->flow);
    return ok || !first;
}

void ctl_flow_begin(ctl *c, const flat_ana *a)
{
    sim_opt *o = sim_opts(c->s);
    bool others = a->kind != FLAT_TRAN || o->keep != SIM_KEEP_NAMED || c->o.session;
    for (size_t i = 0; !others && i < vec_len(sim_flat(c->s)->post); i++) {
        const dot_card d = read_card(c->s, &c->scratch, sim_flat(c->s)->post[i]);
        others = needs_waves(&d) || is_maker(d.analysis);
    }
    post_flow_free(&c->flow);
    o->piece = others ? NULL : take_piece;
    o->piece_user = c;
}

void ctl_flow_end(ctl *c)
{
    if (c->flow || vec_len(c->flow_image))
        (void)take_piece(c, sim_plots(c->s)->current);
    sim_opts(c->s)->piece = NULL;
}

void ctl_measure_names(const sim *s, const char ***list, const char ***analysis)
{
    arena mem;
    arena_init(&mem);
    for (size_t i = 0; i < vec_len(sim_flat(s)->post); i++) {
        dot_card d = read_card(s, &mem, sim_flat(s)->post[i]);
        if (strcmp(d.word, "meas"))
            continue;
        const char *name = str_intern_lower(sim_names(s), d.text, strcspn(d.text, " \t"));
        vec_push(*list, name);
        if (analysis)
            vec_push(*analysis, str_intern0(sim_names(s), d.analysis));
    }
    arena_fini(&mem);
}

void ctl_tell_lost_measures(const sim *s)
{
    const flat *f = sim_flat(s);
    arena mem;
    arena_init(&mem);
    map seen = {0};
    for (size_t i = 0; i < vec_len(f->post); i++) {
        const dot_card d = read_card(s, &mem, f->post[i]);
        if (strcmp(d.word, "meas"))
            continue;
        const char *name = str_intern_lower(sim_names(s), d.text, strcspn(d.text, " \t"));
        size_t n = 0;
        for (size_t k = 0; k < vec_len(f->ana); k++)
            n += is_of(&d, &f->ana[k]);
        if (n > 1)
            diag_warning(sim_diag(s), d.at,
                         "%zu analyses have the measure '%s': tables of points have that of the "
                         "last one",
                         n, name);
        if (map_get(&seen, map_key(name), 0))
            diag_warning(
                sim_diag(s), d.at,
                "there is a measure '%s' above: tables of points have several columns of this name",
                name);
        map_set(&seen, map_key(name), 1);
    }
    map_free(&seen);
    arena_fini(&mem);
}

bool ctl_result_at(const ctl *c, size_t k, const char **name, const char **analysis, double *value)
{
    if (k >= vec_len(c->result))
        return false;
    *name = c->result[k].m.name;
    *analysis = c->result[k].analysis;
    *value = c->result[k].m.ok ? c->result[k].m.value : NAN;
    return true;
}

/* -- the table -- */

static void number_or_null(FILE *out, double x, bool json)
{
    if (isfinite(x))
        fprintf(out, "%.17g", x);
    else
        fputs(json ? "null" : "nan", out);
}

static void json_text(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else
            fprintf(out, (unsigned char)*s < 32 ? "\\u%04x" : "%c", (unsigned char)*s);
    fputc('"', out);
}

static void write_json(const ctl *c, FILE *out)
{
    fputs("[\n", out);
    for (size_t i = 0; i < vec_len(c->result); i++) {
        const ctl_result *r = &c->result[i];
        fprintf(out, "  {\"name\": ");
        json_text(out, r->m.name);
        fprintf(out, ", \"analysis\": \"%s\", \"plot\": \"%s\", \"value\": ", r->analysis, r->plot);
        number_or_null(out, r->m.ok ? r->m.value : NAN, true);
        for (int k = 0; k < r->m.n_part; k++) {
            fprintf(out, ", \"%s\": ", r->m.part[k]);
            number_or_null(out, r->m.part_value[k], true);
        }
        if (!r->m.ok) {
            fputs(", \"failed\": ", out);
            json_text(out, r->m.why ? r->m.why : "no such value");
        }
        fprintf(out, "}%s\n", i + 1 < vec_len(c->result) ? "," : "");
    }
    fputs("]\n", out);
}

static void write_csv(const ctl *c, FILE *out)
{
    fputs("name,analysis,plot,value\n", out);
    for (size_t i = 0; i < vec_len(c->result); i++) {
        const ctl_result *r = &c->result[i];
        fprintf(out, "%s,%s,%s,", r->m.name, r->analysis, r->plot);
        number_or_null(out, r->m.ok ? r->m.value : NAN, false);
        fputc('\n', out);
    }
}

vs_status ctl_write_measures(ctl *c)
{
    const char *path = c->o.measures;
    if (!path)
        return VS_OK;
    c->at = DIAG_NOWHERE;
    FILE *fp;
    vs_status st = ctl_open(c, path, false, FILES_MEASURES, &fp);
    if (st)
        return st;
    size_t n = strlen(path);
    if (n > 5 && !str_casecmp(path + n - 5, ".json"))
        write_json(c, fp);
    else
        write_csv(c, fp);
    bool bad = ferror(fp);
    if (!stream_close(fp) && !bad)
        return VS_OK;
    ctl_fail(c, "'%s' could not be written: %s", path, strerror(errno));
    return VS_EIO;
}
