/* ctl_ana.c - analyses, changes of the circuit, values inside of devices. */
#include <math.h>
#include <string.h>

#include "ctl_priv.h"

/* -- analyses -- */

/* Whether the circuit may be changed. false, with a message: a paused run needs it as it is, or
 * there is none. */
static bool may_change(ctl *c)
{
    if (!c->run.paused && !c->none)
        return true;
    ctl_fail(c, c->removed ? "there is no circuit any more: the block has removed it"
                : c->none  ? "there is no circuit: 'source FILE' reads one"
                           : "a run is paused; 'resume' goes on with it, 'reset' ends it");
    return false;
}

/* Whether there is a circuit, for changes that a paused run allows; false: a message was given. */
static bool has_circuit(ctl *c) { return !c->none || may_change(c); }

bool ctl_paused(const ctl *c) { return c->run.paused; }
bool ctl_in_transient(const ctl *c) { return c->run.going; }

static vs_status end_analysis(ctl *c, vs_status st)
{
    const flat_ana *a = &c->run.a;
    c->n_analysis++;
    c->run.step = 0;
    if (a->kind == FLAT_TRAN) {
        c->tran[0] = a->tstep;
        c->tran[1] = a->tstop;
        c->tran[2] = a->tstart;
    }
    if (c->o.analysed)
        c->o.analysed(c->o.user, a, &c->run.before, c->run.t0, st);
    sim_end_analysis(c->s);
    return st;
}

void ctl_end_run(ctl *c)
{
    if (!c->run.paused)
        return;
    c->run.paused = false;
    (void)end_analysis(c, sim_tran_end(c->s, VS_STOP));
}

/* Runs a transient to its end, or until it pauses. */
static vs_status go(ctl *c)
{
    c->run.going = true;
    const vs_status st = sim_tran_go(c->s, INFINITY);
    c->run.going = false;
    c->run.paused = st == VS_PAUSED;
    c->n_pause += c->run.paused;
    if (c->run.paused && c->o.analysed)
        c->o.analysed(c->o.user, &c->run.a, &c->run.before, c->run.t0, st);
    return c->run.paused ? st : end_analysis(c, sim_tran_end(c->s, st));
}

/* The values as they were; nothing that is said of them is new. */
static void put_back(ctl *c, const sim_saved *before)
{
    const diag_mark m = diag_try(c->d);
    sim_restore(c->s, before);
    (void)!sim_build(c->s);
    diag_take_back(c->d, m);
}

/* Puts a change into effect, in the paused run or by building the circuit, which finds wrong names.
 * A wrong change is taken back.
 *   alter  the change was made by sim_alter */
static vs_status take_effect(ctl *c, const sim_saved *before, bool alter)
{
    vs_status st;
    if (!c->run.paused) {
        st = alter ? sim_build(c->s) : VS_OK;
        if (st < 0)
            put_back(c, before);
        return st;
    }
    st = sim_tran_change(c->s, before, c->at);
    if (st != VS_STOP)
        return st;
    c->run.paused = false;
    (void)end_analysis(c, sim_tran_end(c->s, VS_STOP));
    return VS_EINPUT;
}

/* Whether `dots` is `name` with dots for some of its colons: `save x1:m1:d` wants any of them. */
static bool is_with_dots(const char *dots, const char *name)
{
    const bool other = strcmp(dots, name) != 0;
    for (; *name && (*dots == *name || (*name == ':' && *dots == '.')); name++)
        dots++;
    return other && !*name && !*dots;
}

/* Whether `call`, as id(m1), is another way to write `name`, as i(m1:d). */
static bool is_call_of(const char *call, const char *name)
{
    const size_t open = strcspn(call, "("), n = strlen(call);
    if ((open != 1 && open != 2) || call[n - 1] != ')')
        return false;
    const int len = (int)(n - open - 2);
    char *own = open == 1 ? vs_text("%.*s:power", len, call + 2)
                          : vs_text("i(%.*s:%c)", len, call + 3, call[1]);
    const bool same = !strcmp(own, name);
    vs_free(own);
    return same;
}

void ctl_tell_lack(ctl *c, const char *text, ctl_names_of *names_of)
{
    const char **name = NULL, *note = NULL;
    names_of(c->names, text, &name);
    for (size_t i = 0; i < vec_len(name) && !note; i++)
        note = sim_lack(c->s, name[i]);
    if (note)
        diag_note(c->d, DIAG_NOWHERE, "%s", note);
    vec_free(name);
}

/* Warns of what `save` asked for and the plot of the analysis, the first since then, has not. */
static void check_saved(ctl *c)
{
    const char *const *save = sim_opts(c->s)->save;
    const flat_ana_kind kind = c->run.a.kind;
    const post_plot *p = sim_plots(c->s)->current;
    if (kind != FLAT_OP && kind != FLAT_DCSWEEP && kind != FLAT_AC && kind != FLAT_TRAN)
        return;
    while (c->n_saved < vec_len(save)) {
        const char *name = save[c->n_saved++];
        bool there = !str_casecmp(name, "all") || post_plot_find(p, name);
        while (c->n_saved < vec_len(save) &&
               (is_with_dots(save[c->n_saved], name) || is_call_of(save[c->n_saved], name)))
            there |= post_plot_find(p, save[c->n_saved++]) != NULL;
        if (there)
            continue;
        diag_warning(c->d, c->at, "save: there is no '%s'; nothing is saved for it", name);
        ctl_tell_lack(c, name, post_names);
    }
}

static vs_status run_one(ctl *c, const flat_ana *a)
{
    ctl_end_run(c);
    c->run = (ctl_under_way){
        .a = *a, .before = *sim_stats(c->s), .t0 = vs_seconds(), .step = c->run.step};
    c->run.a.span = DIAG_NOWHERE; /* the command's text may be freed before the run goes on */
    vs_status st = VS_OK;
    if (a->kind != FLAT_TRAN) {
        st = sim_run(c->s, a);
        if (!st)
            check_saved(c);
        return end_analysis(c, st);
    }
    st = sim_tran_begin(c->s, a);
    c->run.plot = sim_plots(c->s)->current;
    if (!st)
        check_saved(c);
    return st ? end_analysis(c, st) : go(c);
}

/* A copy of an analysis that does not point into the flat netlist. */
static flat_ana own_analysis(const flat_ana *a)
{
    flat_ana k = *a;
    for (int32_t i = 0; i < k.n_sweep; i++) {
        k.sweep[i].value = NULL;
        for (size_t j = 0; j < vec_len(a->sweep[i].value); j++)
            vec_push(k.sweep[i].value, a->sweep[i].value[j]);
    }
    return k;
}

static const flat_ana *analyses(sim *s, bool again, size_t *n)
{
    if (!again)
        return sim_todo(s, n);
    *n = vec_len(sim_flat(s)->ana);
    return sim_flat(s)->ana;
}

/* Runs the deck's analyses from the i-th on. */
static vs_status run_from(ctl *c, size_t i, bool again)
{
    static const flat_ana op = {.kind = FLAT_OP};
    sim *s = c->s;
    vs_status st = VS_OK;
    size_t n = 0;
    if (!i)
        c->cards = VS_OK;
    do {
        if (again) {
            sim_retake_analyses(s);
            st = sim_build(s);
        }
        if (st)
            break;
        const flat_ana *todo = analyses(s, again, &n);
        if (i && i >= n)
            break;
        flat_ana a = own_analysis(i < n ? &todo[i] : &op);
        c->first = i;
        ctl_flow_begin(c, &a);
        st = run_one(c, &a);
        ctl_flow_end(c);
        c->run.of_deck = true;
        c->run.number = i;
        /* a wrong card does not keep the other analyses from running */
        const vs_status one = st ? VS_OK : ctl_dot(c, &a);
        c->cards = c->cards ? c->cards : one;
        for (int32_t k = 0; k < a.n_sweep; k++)
            vec_free(a.sweep[k].value);
    } while (++i < n && !st);
    c->first = 0;
    return st ? st : c->cards;
}

vs_status ctl_deck(ctl *c, bool again) { return run_from(c, c->first, again); }

vs_status ctl_go_on(ctl *c)
{
    vs_status st = go(c);
    if (st || !c->run.of_deck)
        return st;
    st = ctl_dot(c, &c->run.a);
    const vs_status others = run_from(c, c->run.number + 1, false);
    return others ? others : st;
}

vs_status ctl_analysis(ctl *c, const char *text)
{
    flat_ana a;
    ctl_end_run(c);
    vs_status st = may_change(c) ? sim_build(c->s) : VS_EINPUT;
    if (!st && !ckt_n(sim_ckt(c->s)))
        return ctl_fail(c, "there is nothing to compute: no element has a node besides ground");
    if (!st)
        st = sim_parse(c->s, &a, text, c->at);
    return st ? st : run_one(c, &a);
}

vs_status ctl_run_all(ctl *c, const char *text)
{
    if (*text)
        return ctl_fail(c, "run takes nothing behind it; results go to files by write");
    ctl_end_run(c);
    if (!may_change(c))
        return VS_EINPUT;
    size_t n;
    const vs_status st = sim_build(c->s);
    (void)sim_todo(c->s, &n);
    if (st || n)
        return st ? st : ctl_deck(c, false);
    diag_warning(c->d, c->at, "the deck has no analysis to run");
    return VS_OK;
}

/* -- alter -- */

/* Numbers of "[ 1 2u ]" or an expression. vec; false: a message was given. */
static bool read_values(ctl *c, const char *text, double **out)
{
    *out = NULL;
    text += strspn(text, " \t");
    if (*text != '[') {
        double x;
        bool ok = post_eval_number(&c->e, text, &x);
        if (ok)
            vec_push(*out, x);
        return ok;
    }
    const char *close = strchr(text, ']');
    if (!close || close[1 + strspn(close + 1, " \t")]) {
        ctl_fail(c, close ? "nothing is expected behind ']'" : "']' is expected at the end");
        return false;
    }
    char *inside = arena_strndup(&c->scratch, text + 1, (size_t)(close - text) - 1);
    char **w = ctl_words(c, inside);
    bool ok = vec_len(w) > 0 || (ctl_fail(c, "there are no numbers in [ ]"), false);
    for (size_t i = 0; i < vec_len(w) && ok; i++) {
        double x;
        ok = post_eval_number(&c->e, w[i], &x);
        vec_push(*out, x);
    }
    vec_free(w);
    return ok;
}

/* Gives messages without a place that of the present command. Changes carry no place themselves:
 * they outlive the text of a session's command. */
static void place_messages(ctl *c, size_t from)
{
    for (size_t i = from; i < vec_len(c->d->msg); i++)
        if (c->d->msg[i].span.file < 0 && c->d->msg[i].level != DIAG_NOTE)
            c->d->msg[i].span = c->at;
}

/* The model that a name of altermod means: if it is an element, its model, as in ngspice. */
static const char *model_meant(ctl *c, const char *name)
{
    if (!c->altered && sim_build(c->s) < 0)
        return name;
    if (sim_has_card(c->s, name))
        return name;
    const flat_inst *in = ctl_find_instance(c, name, strlen(name));
    return in && in->rare->model ? in->rare->model->name : name;
}

/* Start of the value where the text has no '=': its list in brackets, else its last word. */
static const char *value_of_change(const char *text)
{
    const char *end = text + strlen(text);
    for (const char *s = text; *s; s++)
        if (*s == '[' && (s == text || strchr(" \t", s[-1])))
            return s;
    while (end > text && !strchr(" \t", end[-1]))
        end--;
    return end;
}

static vs_status make_change(ctl *c, const sim_change *x)
{
    const size_t told = vec_len(c->d->msg);
    sim_saved *before = sim_save(c->s);
    sim_alter(c->s, x);
    const vs_status st = take_effect(c, before, true);
    if (st < 0)
        place_messages(c, told);
    sim_saved_free(&before);
    return st;
}

/* -- changes that wait: of many in a row the circuit is built once, when a command needs it -- */

/* Whether a change may wait: the circuit is right without it, and has the element or model. */
static bool may_wait(ctl *c, const sim_change *x)
{
    if (c->run.paused || c->o.session || c->no_wait)
        return false;
    const diag_mark before = diag_try(c->d);
    const bool ok = c->altered || sim_build(c->s) >= 0;
    if (!ok)
        diag_take_back(c->d, before);
    return ok && (x->model ? sim_has_card(c->s, x->name) : sim_instance(c->s, x->name) >= 0);
}

/* *value, a vec, goes to the list. */
static void let_wait(ctl *c, const sim_change *x, double **value)
{
    enum { FIRST = 1000 }; /* a loop whose changes are all wrong is to end */
    if (vec_len(c->altered) >= FIRST && vec_len(c->altered) >= c->n_right)
        ctl_settle(c);
    if (!c->altered)
        c->unaltered = sim_save(c->s);
    vec_push(c->altered, ((ctl_altered){x->name, x->param, x->model, *value, x->span}));
    *value = NULL;
    sim_alter(c->s, x);
}

/* If not all of them can be, one after the other, with its messages. */
void ctl_settle(ctl *c)
{
    ctl_altered *all = c->altered;
    if (!all)
        return;
    const diag_span at = c->at;
    const diag_mark before = diag_try(c->d);
    c->altered = NULL;
    if (sim_build(c->s) >= 0) {
        c->n_right += vec_len(all);
    } else {
        diag_take_back(c->d, before);
        sim_restore(c->s, c->unaltered);
        c->no_wait = true;
        for (size_t i = 0; i < vec_len(all); i++) {
            const sim_change x = {.name = all[i].name,
                                  .param = all[i].param,
                                  .model = all[i].model,
                                  .value = all[i].value,
                                  .n = (int32_t)vec_len(all[i].value),
                                  .span = all[i].at};
            c->at = all[i].at;
            const vs_status st = make_change(c, &x);
            c->worst = c->worst ? c->worst : st;
        }
        if (c->o.flush)
            c->o.flush(c->o.user);
    }
    c->at = at;
    sim_saved_free(&c->unaltered);
    for (size_t i = 0; i < vec_len(all); i++)
        vec_free(all[i].value);
    vec_free(all);
}

/* -- the commands -- */

/* Of several values all but waveforms and `ac` take the first, as in ngspice. */
static void warn_of_more(ctl *c, const sim_change *x)
{
    static const char *const many[] = {"pulse", "sin", "exp",     "pwl",      "sffm",
                                       "am",    "ac",  "trnoise", "trrandom", "acmag"};
    bool takes = x->n < 2;
    for (size_t i = 0; i < VS_COUNT(many); i++)
        takes |= !x->model && !strcmp(x->param, many[i]);
    if (!takes)
        diag_warning(c->d, c->at, "one value is taken, the first of these %d", x->n);
}

/* "r1 = 2k", "m1 w = 2u", "@m1[w] = 2u", "@v1[sin] = [ 0 1 1k ]", also without '='. */
static vs_status read_change(ctl *c, const char *text, bool model)
{
    const char *eq = strchr(text, '='), *value = eq ? eq + 1 : NULL;
    if (!eq)
        value = eq = value_of_change(text);
    char **w = ctl_words(c, arena_strndup(&c->scratch, text, (size_t)(eq - text)));
    sim_change x = {.model = model, .span = c->o.session ? DIAG_NOWHERE : c->at};
    if (!has_circuit(c)) {
        vec_free(w);
        return VS_EINPUT;
    }
    const char *name = vec_len(w) ? w[0] : "", *param = vec_len(w) > 1 ? w[1] : "";
    const char *open = *name == '@' ? strchr(name, '[') : NULL;
    vs_status st = VS_OK;
    if (!*name || vec_len(w) > 2 || (model && vec_len(w) < 2 && !open))
        st = ctl_fail(
            c, model ? "altermod takes a model, a parameter and a value: altermod nch vth0 = 0.4"
                     : "alter takes an element, a parameter and a value: alter r1 = 2k, alter m1 w "
                       "= 2u");
    if (!st && open) {
        param = arena_strndup(&c->scratch, open + 1, strcspn(open + 1, "]"));
        name = arena_strndup(&c->scratch, name + 1, (size_t)(open - name) - 1);
    }
    double *v = NULL;
    if (!st && !read_values(c, value, &v))
        st = VS_EINPUT;
    if (!st) {
        x.name = str_intern_lower(c->names, name, strlen(name));
        if (model)
            x.name = model_meant(c, x.name);
        if (!model && x.name[0] && x.name[1] == '.' && (c->altered || sim_build(c->s) >= 0))
            x.name = sim_element_name(c->s, x.name);
        x.param = str_intern_lower(c->names, param, strlen(param));
        x.value = v;
        x.n = (int32_t)vec_len(v);
        warn_of_more(c, &x);
        if (may_wait(c, &x)) {
            let_wait(c, &x, &v);
        } else {
            ctl_settle(c);
            st = make_change(c, &x);
        }
    }
    vec_free(v);
    vec_free(w);
    return st;
}

vs_status ctl_alter(ctl *c, const char *text) { return read_change(c, text, false); }
vs_status ctl_altermod(ctl *c, const char *text) { return read_change(c, text, true); }

static const net_sub *find_subcircuit(const net_sub *in, const char *name)
{
    for (size_t i = 0; i < vec_len(in->line); i++) {
        const net_sub *sub = net_line_sub(&in->line[i]);
        const net_sub *below = !sub || sub->name == name ? sub : find_subcircuit(sub, name);
        if (below)
            return below;
    }
    return NULL;
}

static void list_subcircuits(const net_sub *in, const char ***name)
{
    for (size_t i = 0; i < vec_len(in->line); i++)
        if (in->line[i].kind == NET_CARD_SUBCKT) {
            vec_push(*name, net_line_sub(&in->line[i])->name);
            list_subcircuits(net_line_sub(&in->line[i]), name);
        }
}

static void list_names(const net_card *card, const char ***name)
{
    const net_tok *t = card->tok;
    for (int32_t k = 0; k + 1 < card->n_tok; k++)
        if (t[k].kind == NET_T_WORD && t[k + 1].punct == '=')
            vec_push(*name, t[k].text);
}

/* Appends the names of the parameters on a subcircuit's line and of its .param cards. */
static void list_parameters(const net_sub *sub, const char ***name)
{
    list_names(sub->head, name);
    for (size_t i = 0; i < vec_len(sub->line); i++)
        if (net_line_param(&sub->line[i]))
            list_names(sub->line[i].card, name);
}

/* false: a message with the nearest of the names. */
static bool is_listed(ctl *c, const char *what, const char *word, const char **name)
{
    for (size_t i = 0; i < vec_len(name); i++)
        if (!str_casecmp(name[i], word))
            return true;
    ctl_fail(c, "%s '%s'", what, word);
    diag_suggest(c->d, word, name, vec_len(name));
    return false;
}

/* The name of an override: "name" of the top level, "sub.name" of a subcircuit; NULL: a message. */
static const char *altered_name(ctl *c, char **w)
{
    const char *first = str_intern_lower(c->names, w[0], strlen(w[0]));
    double old;
    if (vec_len(w) == 1) {
        if (sim_param(c->s, first, &old))
            return first;
        ctl_fail(c, "the deck has no parameter '%s'", first);
        return NULL;
    }
    const char **name = NULL;
    list_subcircuits(sim_deck(c->s)->top, &name);
    bool ok = is_listed(c, "the deck has no subcircuit", first, name);
    vec_clear(name);
    if (ok)
        list_parameters(find_subcircuit(sim_deck(c->s)->top, first), &name);
    ok = ok && is_listed(c, "the subcircuit has no parameter", w[1], name);
    vec_free(name);
    const size_t n = strlen(first) + 1 + strlen(w[1]);
    return ok ? str_intern_lower(c->names, arena_printf(&c->scratch, "%s.%s", first, w[1]), n)
              : NULL;
}

/* "wn = 2u", "SUBCKT wn = 2u" */
vs_status ctl_alterparam(ctl *c, const char *text)
{
    const char *eq = strchr(text, '='), *name = NULL;
    char **w = ctl_words(c, eq ? arena_strndup(&c->scratch, text, (size_t)(eq - text)) : "");
    double x;
    if (has_circuit(c)) {
        if (vec_len(w) == 1 || vec_len(w) == 2)
            name = altered_name(c, w);
        else
            ctl_fail(c, "alterparam takes a parameter of the deck, or a subcircuit and a parameter "
                        "of it, and a value: alterparam wn = 2u");
    }
    vec_free(w);
    if (!name || !post_eval_number(&c->e, eq + 1, &x))
        return VS_EINPUT;
    sim_saved *before = sim_save(c->s);
    sim_set_param(c->s, name, x);
    const vs_status st = take_effect(c, before, false);
    sim_saved_free(&before);
    return st;
}

/* Parameters that were set stay, as in ngspice; alter is undone. */
/* Lets statistical functions draw the next sample when the deck is expanded anew. Samples are
 * numbered as .mc with this seed numbers them. */
static void draw_again(sim *s, uint64_t seed, diag_span at)
{
    const bool given = sim_option(s)->given[OPTION_seed];
    if (!given && !sim_flat(s)->nominal)
        return;
    if (given)
        seed = sim_option(s)->seed;
    else if (sim_flat(s)->mc)
        seed = sim_flat(s)->mc_seed;
    if (!given)
        diag_note(sim_diag(s), at,
                  "statistical functions draw from here on, with seed %llu; so far they had their "
                  "nominal values",
                  (unsigned long long)seed);
    sim_set_sample(s, seed, sim_deck(s)->sample + 1);
}

vs_status ctl_reset(ctl *c, const char *text)
{
    (void)text;
    ctl_end_run(c);
    draw_again(c->s, c->seed, c->at);
    flat_override *over = NULL;
    for (size_t i = 0; i < vec_len(sim_params(c->s)); i++)
        vec_push(over, sim_params(c->s)[i]);
    sim_reset(c->s, over, vec_len(over));
    vec_free(over);
    return VS_OK;
}

static void save_word(ctl *c, const char *word)
{
    const size_t from = vec_len(sim_opts(c->s)->save);
    post_names(c->names, word, &sim_opts(c->s)->save);
    const char **all = sim_opts(c->s)->save;
    for (size_t i = from; i < vec_len(all) && !c->run.paused; i++)
        (void)sim_meter(c->s, all[i]);
}

vs_status ctl_save(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    for (size_t i = 0; i < vec_len(w); i++)
        if (!str_casecmp(w[i], "all"))
            vec_push(sim_opts(c->s)->save, str_intern0(c->names, "all"));
        else if (str_casecmp(w[i], "none"))
            save_word(c, w[i]);
        else
            vec_clear(sim_opts(c->s)->save);
    if (c->n_saved > vec_len(sim_opts(c->s)->save))
        c->n_saved = 0;
    vec_free(w);
    return VS_OK;
}

/* -- values inside devices -- */

const flat_inst *ctl_find_instance(const ctl *c, const char *name, size_t n)
{
    const int32_t i = sim_instance(c->s, str_intern_lower(c->names, name, n));
    return i < 0 ? NULL : &sim_flat(c->s)->inst[i];
}

static bool source_value(const flat_source *s, const char *param, double *value)
{
    if (!strcmp(param, "dc"))
        *value = s->dc;
    else if (!strcmp(param, "acmag"))
        *value = s->ac_mag;
    else if (!strcmp(param, "acphase"))
        *value = s->ac_phase;
    else
        return false;
    return true;
}

/* Whether the name means the main value of an R, C or L, which its line gives without a name. */
static bool is_main_value(char letter, const char *name)
{
    static const char *const word[][4] = {{"resistance", "r", "value", "res"},
                                          {"capacitance", "c", "value", "cap"},
                                          {"inductance", "l", "value", "ind"}};
    const char *at = strchr("rcl", letter);
    for (size_t k = 0; at && *at && k < VS_COUNT(word[0]); k++)
        if (!strcmp(word[at - "rcl"][k], name))
            return true;
    return false;
}

bool ctl_device_value(ctl *c, const char *name, double *value)
{
    const char *open = strchr(name, '[');
    const bool stands = c->run.paused || c->run.going || c->none || c->e.check;
    if (!open || (!stands && sim_build(c->s) < 0)) /* behind reset, values are the deck's */
        return false;
    const flat_inst *in = ctl_find_instance(c, name + 1, (size_t)(open - name) - 1);
    const char *param = str_intern_lower(c->names, open + 1, strcspn(open + 1, "]"));
    flat_room room;
    const flat_param *p = in ? flat_params(in, &room) : NULL;
    if (!in) { /* @model[param] */
        size_t n = (size_t)(open - name) - 1;
        for (size_t i = 0; i < vec_len(sim_flat(c->s)->model) && !p; i++)
            if (strlen(sim_flat(c->s)->model[i]->name) == n &&
                !str_ncasecmp(sim_flat(c->s)->model[i]->name, name + 1, n))
                p = sim_flat(c->s)->model[i]->param;
    }
    if (in && in->rare->source && source_value(in->rare->source, param, value))
        return true;
    if (in && !strcmp(param, "m") && in->letter != 'k') {
        *value = in->m;
        return true;
    }
    const bool is_main = in && is_main_value(in->letter, param);
    for (size_t i = vec_len(p); i-- > 0;)
        if (!p[i].str &&
            (p[i].name == param || (is_main && is_main_value(in->letter, p[i].name)))) {
            *value = p[i].value;
            if (in && ((is_main && in->letter == 'c') || !strcmp(param, "gain")))
                *value *= in->m; /* as ngspice has it */
            return true;
        }
    return sim_device_value(c->s, name, value);
}

/* -- single values -- */

bool ctl_number(ctl *c, const char *text, double *value)
{
    const diag_mark before = diag_try(c->d);
    c->e.check = false;
    const bool ok = post_eval_number(&c->e, text, value);
    diag_take_back(c->d, before);
    arena_fini(&c->scratch);
    arena_init(&c->scratch);
    return ok;
}
