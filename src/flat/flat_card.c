/* flat_card.c - dot cards that ask for something: analyses, options, saved values, initial
 * conditions. Cards of subcircuit bodies are read once per instance. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

enum { MAX_POINTS = 10000000 };

static bool number(cur *q, scope *s, double *y)
{
    rhs v = cur_value(q);
    return v.e && flat_eval(q->c, s, &v, y);
}

static const char *text_of(flat_ctx *c, diag_span at)
{
    return str_intern_lower(c->names, c->d->file[at.file].text + at.off, at.len);
}

/* -- .option .temp -- */

void flat_read_option(cur *q)
{
    flat_option o = {.name = cur_tok(q)->text, .str = "", .value = 1, .span = cur_span(q)};
    if (!cur_at_key(q)) {
        q->i++;
        vec_push(q->c->f->option, o);
        return;
    }
    q->i += 2;
    int32_t first = q->i;
    rhs v = cur_value(q);
    const char *str = NULL;
    if (!v.e || !flat_value(q->c, q->c->root, &v, &o.value, &str))
        return;
    const net_tok *t = &q->card->tok[first];
    o.str = str ? str
                : text_of(q->c, diag_join(net_tok_span(q->card, t),
                                          net_tok_span(q->card, &q->card->tok[q->i - 1])));
    o.span = diag_join(o.span, v.span);
    vec_push(q->c->f->option, o);
}

void flat_option_card(flat_ctx *c, const net_card *card)
{
    cur q = {c, c->root->b, card, 1};
    if (flat_xyce_options(&q))
        return;
    while (cur_skip_punct(&q), cur_more(&q)) {
        if (card->kind == NET_CARD_TEMP) {
            double y;
            if (!number(&q, c->root, &y))
                return;
            vec_push(c->f->temp, y);
            c->temp_at = net_card_span(card);
        } else if (cur_tok(&q)->kind == NET_T_WORD) {
            flat_read_option(&q);
        } else {
            cur_unexpected(&q, "an option is expected: name or name=value");
            return;
        }
    }
}

/* -- .ic .nodeset -- */

static int32_t find_node(flat_ctx *c, scope *s, const char *name)
{
    int32_t slot = map_get(&s->b->slot, map_key(name), -1);
    return slot >= 0 ? flat_node(c, s, slot) : !strcmp(name, "0") || !strcmp(name, "gnd") ? 0 : -1;
}

/* "v(a)" without a value in .nodeset, which only says where to look: it is left out. */
static bool skip_hint(cur *q)
{
    const net_tok *t = cur_tok(q);
    if (!cur_is_word(q, "v") || q->i + 3 >= q->card->n_tok || t[1].punct != '(' ||
        t[2].kind != NET_T_WORD || t[3].punct != ')' ||
        (q->i + 4 < q->card->n_tok && t[4].punct == '='))
        return false;
    diag_warning(q->c->d, net_tok_span(q->card, &t[2]),
                 "v(%s) has no value and is left out: v(%s)=value is expected", t[2].text,
                 t[2].text);
    q->i += 4;
    cur_skip_punct(q);
    return true;
}

/* ic = ("v" "(" node ")" "=" value)* */
static void read_ic(flat_ctx *c, scope *s, const net_card *card)
{
    cur q = {c, s->b, card, 1};
    bool is_ic = card->kind == NET_CARD_IC;
    while (cur_more(&q)) {
        if (!is_ic && skip_hint(&q))
            continue;
        const net_tok *t = cur_tok(&q);
        bool probe = cur_is_word(&q, "v") && q.i + 4 < card->n_tok && t[1].punct == '(' &&
                     t[3].punct == ')' && t[4].punct == '=' && t[2].kind == NET_T_WORD;
        if (!probe && !cur_at_key(&q)) {
            cur_unexpected(&q, "v(node)=value is expected");
            return;
        }
        const net_tok *name = probe ? &t[2] : t;
        flat_ic ic = {.span = net_tok_span(card, name)};
        q.i += probe ? 5 : 2;
        const rhs v = cur_value(&q);
        const busy before = flat_slot_begin(c);
        if (!v.e || !flat_eval(c, s, &v, &ic.value))
            return;
        int32_t index = (int32_t)vec_len(is_ic ? c->f->ic : c->f->nodeset);
        flat_slot_end(c, s, &v, before,
                      (flat_slot_at){.kind = is_ic ? SLOT_NODE_IC : SLOT_NODESET, .k = index});
        c->mask = 0;
        ic.node = find_node(c, s, name->text);
        if (is_ic)
            vec_push(c->f->ic, ic);
        else
            vec_push(c->f->nodeset, ic);
        if (ic.node < 0)
            vec_push(c->pend_node, (pending_node){is_ic ? PEND_IC : PEND_NODESET, index, 0, s->path,
                                                  name->text, ic.span});
        cur_skip_punct(&q);
    }
}

/* -- .save .print .plot .probe -- */

static void save_node(flat_ctx *c, scope *s, flat_save *o, const net_expr *e, const char *a,
                      const char *b)
{
    const char *name[2] = {a, b};
    const char *full[2] = {"", ""};
    o->what = FLAT_SAVE_V;
    o->node[1] = -1;
    for (int32_t k = 0; k < 2 && name[k]; k++) {
        o->node[k] = find_node(c, s, name[k]);
        full[k] = flat_join(c, s, name[k]);
        if (o->node[k] < 0)
            vec_push(c->pend_node, (pending_node){PEND_SAVE, (int32_t)vec_len(c->f->save), k,
                                                  s->path, name[k], e->span});
        else if (map_get(&s->b->slot, map_key(name[k]), -1) >= 0)
            full[k] = c->f->node[o->node[k]];
    }
    o->text = str_intern0(c->names, b ? arena_printf(&c->scratch, "v(%s,%s)", full[0], full[1])
                                      : arena_printf(&c->scratch, "v(%s)", full[0]));
}

static void save_device(flat_ctx *c, scope *s, flat_save *o, const net_expr *e, const char *name,
                        const char *param)
{
    o->what = param ? FLAT_SAVE_PARAM : FLAT_SAVE_I;
    o->device = flat_join(c, s, name);
    o->param = param;
    o->text = str_intern0(c->names, param ? arena_printf(&c->scratch, "@%s[%s]", o->device, param)
                                          : arena_printf(&c->scratch, "i(%s)", o->device));
    vec_push(c->pend_node,
             (pending_node){PEND_DEVICE, (int32_t)vec_len(c->f->save), 0, s->path, name, e->span});
}

/* A bare word: all, a node, v1#branch, @device[parameter] */
static void save_word(flat_ctx *c, scope *s, flat_save *o, const net_expr *e, const char *name)
{
    const char *hash = strchr(name, '#'), *open = strchr(name, '[');
    const bool currents = !strcmp(name, "alli") || !strcmp(name, "allcurrents");
    if (currents || !strcmp(name, "all") || !strcmp(name, "allv")) {
        o->what = currents ? FLAT_SAVE_ALLI : FLAT_SAVE_ALL;
        o->text = name;
    } else if (hash && !strcmp(hash, "#branch")) {
        save_device(c, s, o, e, str_intern(c->names, name, (size_t)(hash - name)), NULL);
    } else if (name[0] == '@' && open) {
        const char *param = str_intern(c->names, open + 1, strcspn(open + 1, "]"));
        save_device(c, s, o, e, str_intern(c->names, name + 1, (size_t)(open - name - 1)), param);
    } else {
        save_node(c, s, o, e, name, NULL);
    }
}

static bool is_ac_output(const char *name)
{
    static const char *const word[] = {"vdb", "vm", "vp", "vr", "vi",
                                       "idb", "im", "ip", "ir", "ii"};
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (!strcmp(word[i], name))
            return true;
    return false;
}

/* "m1:d" for id(m1), "m1:power" for p(m1); NULL: it is none of these. */
static const char *terminal_call(flat_ctx *c, scope *s, const net_expr *e)
{
    if (e->op != NET_CALL || e->fn != NET_FN_USER || e->n_arg != 1 || flat_find_func(s, e->name))
        return NULL;
    const net_expr *a = e->arg[0];
    const char *of = a->op == NET_PARAM ? a->name : text_of(c, a->span);
    return of[strcspn(of, " \t()+*/,'{}=<>")] ? NULL : flat_terminal_call(c, e->name, of);
}

/* Whether it is a current in the words of other simulators: isub(x1.a). */
static bool is_foreign(flat_ctx *c, scope *s, const net_expr *e)
{
    if (e->op != NET_CALL || e->fn != NET_FN_USER || is_ac_output(e->name) ||
        flat_find_func(s, e->name))
        return false;
    diag_warning(c->d, e->span, "unknown function '%s'; nothing is saved for it", e->name);
    return true;
}

static void save_item(flat_ctx *c, scope *s, const rhs *v)
{
    const net_expr *e = v->e;
    if (e->op == NET_CALL && e->fn == NET_FN_USER && !strcmp(e->name, "par") && e->n_arg == 1)
        e = e->arg[0];
    const char *terminal = terminal_call(c, s, e);
    if (!terminal && is_foreign(c, s, e))
        return;
    flat_save o = {.node = {-1, -1}, .span = e->span};
    o.text = text_of(c, e->span);
    if (terminal) {
        save_device(c, s, &o, e, terminal, NULL);
    } else if (e->op == NET_CALL && e->fn == NET_FN_USER && is_ac_output(e->name)) {
        const char *name[2] = {NULL, NULL}; /* vdb(a,b): saved is what it is computed from */
        for (int32_t i = 0; i < 2 && i < e->n_arg; i++)
            name[i] = e->arg[i]->op == NET_PARAM ? e->arg[i]->name : text_of(c, e->arg[i]->span);
        if (name[0] && e->name[0] == 'v')
            save_node(c, s, &o, e, name[0], name[1]);
        else if (name[0])
            save_device(c, s, &o, e, name[0], NULL);
    } else if (e->op == NET_VNODE) {
        save_node(c, s, &o, e, e->name, e->name2);
    } else if (e->op == NET_IBRANCH) {
        save_device(c, s, &o, e, e->name, NULL);
    } else if (e->op == NET_PARAM || e->op == NET_NUM || e->op == NET_STR) {
        save_word(c, s, &o, e, e->op == NET_NUM ? o.text : e->name);
    } else if (e->op == NET_TIME) {
        return; /* the axis is always saved */
    } else {
        rhs w = *v;
        w.e = e;
        o.what = FLAT_SAVE_EXPR;
        o.expr = flat_fold(c, s, &w);
        if (!o.expr)
            return;
    }
    vec_push(c->f->save, o);
}

/* .probe tran v(a): the analysis, as in .print */
static bool is_analysis(cur *q)
{
    static const char *const word[] = {"op", "dc", "ac", "tran", "noise"};
    for (size_t i = 0; i < VS_COUNT(word) && q->i == 1; i++)
        if (cur_is_word(q, word[i]))
            return q->i + 1 < q->card->n_tok && !q->card->tok[q->i + 1].punct;
    return false;
}

static void skip_group(cur *q)
{
    int depth = 0;
    for (; cur_more(q); q->i++) {
        depth += cur_is(q, '(') ? 1 : cur_is(q, ')') ? -1 : 0;
        if (depth <= 0 && cur_is(q, ')')) {
            q->i++;
            return;
        }
    }
}

static void read_save(flat_ctx *c, scope *s, const net_card *card)
{
    cur q = {c, s->b, card, 1};
    c->has_save |= !strcmp(card->name, "save");
    if (!cur_more(&q))
        vec_push(c->f->save, (flat_save){.what = FLAT_SAVE_ALL,
                                         .node = {-1, -1},
                                         .text = "all",
                                         .span = net_card_span(card)});
    if (!strcmp(card->name, "probe") && is_analysis(&q))
        q.i++;
    while (cur_more(&q)) {
        if (cur_is(&q, '(')) { /* limits of .probe */
            skip_group(&q);
            continue;
        }
        if (cur_tok(&q)->punct) {
            q.i++;
            continue;
        }
        if (!c->declarations && !strcmp(card->name, "probe") && flat_read_probe(&q, s))
            continue;
        /* a single word may contain what is an operator in an expression */
        bool plain = cur_tok(&q)->kind == NET_T_WORD && strpbrk(cur_tok(&q)->text, "#@") &&
                     (q.i + 1 >= card->n_tok || !card->tok[q.i + 1].glued);
        if (plain) {
            net_expr *e = arena_alloc(c->mem, sizeof *e);
            *e = (net_expr){.op = NET_PARAM, .name = cur_tok(&q)->text, .span = cur_span(&q)};
            rhs w = {.e = e, .span = e->span, .given = true};
            q.i++;
            save_item(c, s, &w);
            continue;
        }
        rhs v = cur_expr(&q);
        if (!v.e)
            return;
        save_item(c, s, &v);
    }
}

void flat_local_card(flat_ctx *c, scope *s, const net_card *card)
{
    switch (card->kind) {
    case NET_CARD_IC:
    case NET_CARD_NODESET: read_ic(c, s, card); break;
    case NET_CARD_SAVE: read_save(c, s, card); break;
    case NET_CARD_MISSING: {
        diag_span at = net_card_span(card);
        if (flat_first(c, at))
            diag_error(c->d, at, "%s", card->name);
        break;
    }
    default:
        if (flat_first(c, net_card_span(card)))
            diag_warning(c->d, net_card_span(card), ".%s inside a subcircuit is ignored",
                         card->name);
    }
}

/* -- analyses -- */

/* The last token, for messages about a value that was just read */
static diag_span before(const cur *q) { return net_tok_span(q->card, &q->card->tok[q->i - 1]); }

static bool positive(cur *q, const char *what, double y, bool zero)
{
    if (y > 0 || (zero && y == 0))
        return true;
    diag_error(q->c->d, before(q), "%s must be %s, not %g", what,
               zero ? "positive or 0" : "positive", y);
    return false;
}

/* A step of 0, as LTspice and Xyce take it: largest steps are those that a step at least as long
 * gives, and edges without a length take a thousandth of the run. */
static void choose_step(flat_ana *a)
{
    const double run = a->tstop - a->tstart;
    a->tstep = run / 1000;
    if (!(a->tmax > 0))
        a->tmax = run / 50;
}

/* tran = ".tran" tstep tstop [tstart [tmax]] ["uic"|"noop"] */
static void read_tran(flat_ctx *c, const net_card *card)
{
    static const char *const what[] = {"the step tstep", "the end tstop", "the start tstart",
                                       "the largest step tmax"};
    cur q = {c, c->root->b, card, 1};
    flat_ana a = {.kind = FLAT_TRAN, .span = net_card_span(card)};
    double *y[] = {&a.tstep, &a.tstop, &a.tstart, &a.tmax};
    int n = 0;
    while (cur_more(&q)) {
        if (cur_is_word(&q, "uic") || cur_is_word(&q, "noop")) {
            a.uic = true;
            q.i++;
            continue;
        }
        if (n == 4) {
            cur_unexpected(&q,
                           ".tran takes tstep tstop tstart tmax and uic; nothing more is expected");
            return;
        }
        if (!number(&q, c->root, y[n]) || !positive(&q, what[n], *y[n], n != 1))
            return;
        n++;
    }
    if (n < 2) {
        diag_error(c->d, cur_span(&q),
                   ".tran needs a step and an end: .tran tstep tstop [tstart [tmax]] [uic]");
        return;
    }
    if (a.tstart >= a.tstop) {
        diag_error(c->d, a.span, "tstart (%g) is not before tstop (%g)", a.tstart, a.tstop);
        return;
    }
    if (a.tstep == 0)
        choose_step(&a);
    else if (c->deck->xyce && !(a.tmax > 0)) /* tstep is only the first step there */
        a.tmax = (a.tstop - a.tstart) / 50;
    vec_push(c->f->ana, a);
}

static bool sweep_linear(cur *q, flat_sweep *w, double from, double to, double step)
{
    if (from != to && (step == 0 || (to - from) / step < 0)) {
        diag_error(q->c->d, before(q),
                   step == 0 ? "the step is 0" : "the step %g leads away from the end", step);
        return false;
    }
    double n = from == to ? 0 : floor((to - from) / step * (1 + 1e-12) + 1e-9);
    if (!(n < MAX_POINTS)) {
        diag_error(q->c->d, before(q), "%g points, more than %d", n + 1, MAX_POINTS);
        return false;
    }
    for (int64_t i = 0; i <= (int64_t)n; i++)
        vec_push(w->value, from + (double)i * step);
    return true;
}

/* dec, oct: n points per decade or octave; lin: n points in all */
static bool sweep_points(cur *q, flat_sweep *w, const char *form, double n, double from, double to)
{
    if (!(n >= 1 && n <= MAX_POINTS) || n != floor(n)) {
        diag_error(q->c->d, before(q), "%s needs a whole number of points, at least 1, not %g",
                   form, n);
        return false;
    }
    if (form[0] == 'l') {
        for (int64_t i = 0; i < (int64_t)n; i++)
            vec_push(w->value, n == 1 ? from : from + (to - from) * (double)i / (n - 1));
        return true;
    }
    double base = form[0] == 'd' ? 10 : 2;
    if (!(from > 0 && to > 0 && to >= from)) {
        diag_error(q->c->d, before(q),
                   "%s goes from a positive number to a larger one, not from %g to %g", form, from,
                   to);
        return false;
    }
    double all = floor(n * log(to / from) / log(base) + 1e-9);
    if (!(all < MAX_POINTS)) {
        diag_error(q->c->d, before(q), "%g points, more than %d", all + 1, MAX_POINTS);
        return false;
    }
    for (int64_t i = 0; i <= (int64_t)all; i++)
        vec_push(w->value, from * pow(base, (double)i / n));
    return true;
}

static bool sweep_list(cur *q, flat_sweep *w)
{
    double y;
    while (cur_skip_punct(q), cur_more(q)) {
        const char *t = cur_tok(q)->kind == NET_T_WORD ? cur_tok(q)->text : NULL;
        if (t && !str_spice_number(t, NULL, &y))
            break; /* the next variable */
        if (!number(q, q->c->root, &y))
            return false;
        vec_push(w->value, y);
    }
    if (!vec_len(w->value))
        cur_unexpected(q, "LIST needs values");
    return vec_len(w->value) > 0;
}

/* What a name of .dc stands for. */
bool flat_find_sweep(cur *q, flat_sweep *w)
{
    flat_ctx *c = q->c;
    const char *name = cur_tok(q)->text, *open = strchr(name, '[');
    w->span = cur_span(q);
    w->name = name;
    flat_fill_maps(c);
    if (!open && map_get(&c->inst_of, map_key(name), -1) < 0)
        open = strrchr(name, ':'); /* r1:r, as Xyce has it */
    if (!strcmp(name, "temp") || !strcmp(name, "temper")) {
        w->what = FLAT_SWEEP_TEMP;
        w->name = str_intern0(c->names, "temp");
        return true;
    }
    if (open) {
        name += name[0] == '@';
        w->what = FLAT_SWEEP_INST;
        w->name = str_intern(c->names, name, (size_t)(open - name));
        w->param = str_intern(c->names, open + 1, strcspn(open + 1, "]"));
    }
    int32_t k = map_get(&c->inst_of, map_key(w->name), -1);
    if (k < 0 && w->name[0] && w->name[1] == '.')
        k = map_get(&c->inst_of, map_key(str_intern0(c->names, w->name + 2)), -1);
    if (k >= 0) {
        char letter = c->f->inst[k].letter;
        w->name = c->f->inst[k].name;
        if (!open && letter != 'v' && letter != 'i') {
            w->what = FLAT_SWEEP_INST;
            w->param = str_intern0(c->names, "value");
        }
        return true;
    }
    const char *bare = !strncmp(name, "param:", 6) ? str_intern0(c->names, name + 6) : name;
    if (!open && map_get(&c->root->b->param_slot, map_key(bare), -1) >= 0) {
        w->what = FLAT_SWEEP_PARAM;
        w->param = bare;
        w->name = str_intern0(c->names, arena_printf(&c->scratch, "param:%s", bare));
        return true;
    }
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(c->f->inst); i++)
        if (strchr("vi", c->f->inst[i].letter))
            vec_push(cand, c->f->inst[i].name);
    for (size_t i = 0; i < vec_len(c->root->b->param_name); i++)
        vec_push(cand, c->root->b->param_name[i]);
    diag_error(c->d, w->span, "no source, parameter or element '%s' to sweep", w->name);
    flat_suggest(c, w->name, cand, vec_len(cand));
    vec_free(cand);
    return false;
}

/* The form of the values, if it stands at the cursor; NULL: it does not. */
static const char *sweep_form(cur *q)
{
    static const char *const form[] = {"dec", "oct", "lin"};
    for (size_t i = 0; i < VS_COUNT(form); i++)
        if (cur_is_word(q, form[i])) {
            q->i++;
            return form[i];
        }
    return NULL;
}

/* sweep = name (from to step | ("dec"|"oct"|"lin") n from to | "list" value* | from to "..." ) |
 *         "lin" name from to step | ("dec"|"oct") name from to n | "list" name value* */
static bool read_sweep(cur *q, flat_sweep *w)
{
    const char *front = sweep_form(q);
    const bool listed = !front && cur_is_word(q, "list") && q->i + 1 < q->card->n_tok &&
                        q->card->tok[q->i + 1].kind == NET_T_WORD;
    q->i += listed;
    if (!cur_more(q) || cur_tok(q)->kind != NET_T_WORD) {
        cur_unexpected(q, "a source, parameter or 'temp' is expected");
        return false;
    }
    bool ok = flat_find_sweep(q, w);
    q->i++;
    if (listed || cur_is_word(q, "list")) {
        q->i += !listed;
        return sweep_list(q, w) && ok;
    }
    const char *kind = front ? front : sweep_form(q);
    double y[3];
    for (int i = 0; i < 3; i++) {
        if (!cur_more(q)) {
            cur_unexpected(q, kind && !front ? "a sweep needs a number of points, start and end"
                              : front && *front != 'l'
                                  ? "a sweep needs start, end and points per decade or octave"
                                  : "a sweep needs start, end and step");
            return false;
        }
        if (!number(q, q->c->root, &y[i]))
            return false;
    }
    if (front && *front != 'l')
        return sweep_points(q, w, front, y[2], y[0], y[1]) && ok;
    return (kind && !front ? sweep_points(q, w, kind, y[0], y[1], y[2])
                           : sweep_linear(q, w, y[0], y[1], y[2])) &&
           ok;
}

/* dc = ".dc" (sweep+ | "data" "=" name); the first sweep varies fastest */
static void read_dc(flat_ctx *c, const net_card *card)
{
    cur q = {c, c->root->b, card, 1};
    flat_ana a = {.kind = FLAT_DCSWEEP, .span = net_card_span(card)};
    bool ok = true;
    double points = 1;
    if (!cur_more(&q)) {
        cur_unexpected(&q, ".dc needs a source and its range: .dc name start end step");
        return;
    }
    if (cur_is_word(&q, "data") && cur_at_key(&q)) {
        q.i += 2;
        ok = flat_read_rows(&q, &a);
        if (ok && cur_more(&q)) {
            cur_unexpected(&q, "nothing more is expected");
            ok = false;
        }
        if (ok)
            vec_push(c->f->ana, a);
        return;
    }
    while (ok && cur_more(&q)) {
        if (a.n_sweep == FLAT_LOOPS) {
            cur_unexpected(&q, ".dc takes at most four sweeps");
            ok = false;
            break;
        }
        flat_sweep *w = &a.sweep[a.n_sweep++];
        ok = read_sweep(&q, w);
        points *= (double)vec_len(w->value);
    }
    if (ok && points > 1e9) {
        diag_error(c->d, a.span, "the nested sweeps have %g points together", points);
        ok = false;
    }
    for (int32_t i = 0; i < a.n_sweep; i++)
        vec_freeze(c->mem, a.sweep[i].value);
    if (ok)
        vec_push(c->f->ana, a);
}

void flat_top_card(flat_ctx *c, const net_card *card)
{
    switch (card->kind) {
    case NET_CARD_OPTION:
    case NET_CARD_TEMP: flat_option_card(c, card); break;
    case NET_CARD_OP:
        if (card->n_tok > 1)
            diag_warning(c->d, net_tok_span(card, &card->tok[1]), "text after .op is ignored");
        vec_push(c->f->ana, (flat_ana){.kind = FLAT_OP, .span = net_card_span(card)});
        break;
    case NET_CARD_DC:
        if (!c->deck->taken ||
            c->declarations) /* the values of a sweep are not listed for each of them */
            read_dc(c, card);
        break;
    case NET_CARD_TRAN: read_tran(c, card); break;
    case NET_CARD_AC:
    case NET_CARD_NOISE:
    case NET_CARD_TF:
    case NET_CARD_SENS:
    case NET_CARD_PZ:
    case NET_CARD_SP:
    case NET_CARD_HB:
    case NET_CARD_HBAC:
    case NET_CARD_HBNOISE:
    case NET_CARD_HBSP:
    case NET_CARD_HBXF:
    case NET_CARD_LSTB:
    case NET_CARD_ACXF:
    case NET_CARD_DCXF:
    case NET_CARD_DISTO:
    case NET_CARD_DCMATCH:
    case NET_CARD_ACMATCH: flat_small_card(c, card); break;
    case NET_CARD_TRANNOISE: flat_trannoise_card(c, card); break;
    case NET_CARD_HDL:
        for (int32_t i = 1; i < card->n_tok; i++) {
            vec_push(c->f->hdl, card->tok[i].text);
            vec_push(c->f->hdl_span, net_tok_span(card, &card->tok[i]));
        }
        break;
    case NET_CARD_POST: vec_push(c->f->post, card); break;
    case NET_CARD_STEP:
        if (!c->deck->stepping)
            flat_step_card(c, card);
        break;
    case NET_CARD_ALTER: flat_alter_card(c, card); break;
    case NET_CARD_CORRELATE: break; /* read before any parameter: flat_correlate_cards */
    case NET_CARD_DATA: flat_data_card(c, card); break;
    case NET_CARD_IGNORED:
        diag_warning(c->d, net_card_span(card), "'.%s' is not supported yet; ignored", card->name);
        break;
    default: flat_local_card(c, c->root, card);
    }
}
