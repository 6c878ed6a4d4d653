/* flat_elem.c - element cards by letter.
 * Source: ngspice manual, chapters 3 to 11; SPICE3 user's guide. The grammar of each letter stands
 * above its function; "key=value ..." may follow everywhere. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

typedef struct ereader {
    cur q;
    elem *e;
    int32_t *slot;    /* vec */
    diag_span *span;  /* vec */
    keyval *kv, *ref; /* vec */
    rhs *poly;        /* vec */
} ereader;

static bool failed(ereader *r, const char *what)
{
    cur_unexpected(&r->q, what);
    return false;
}

static bool is_word(const ereader *r)
{
    return cur_more(&r->q) && cur_tok(&r->q)->kind == NET_T_WORD && !cur_at_key(&r->q);
}

/* The name in {name}, interned: a parameter that may hold the name of a model. NULL: another kind
 * of token. */
static const char *braced_name(const ereader *r, const net_tok *t)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const diag_span at = net_tok_span(r->q.card, t);
    if (t->kind != NET_T_EXPR || at.len < 3)
        return NULL;
    const char *s = r->q.c->d->file[at.file].text + at.off + 1, *end = s + at.len - 2;
    while (s < end && *s == ' ')
        s++;
    while (end > s && end[-1] == ' ')
        end--;
    if (s == end || strspn(s, letters) < (size_t)(end - s))
        return NULL;
    return str_intern_lower(r->q.c->names, s, (size_t)(end - s));
}

static bool take_node(ereader *r)
{
    vec_push(r->slot, flat_slot(r->q.c, r->q.b, cur_tok(&r->q)->text));
    vec_push(r->span, cur_span(&r->q));
    r->q.i++;
    return true;
}

/* Exactly n more nodes; `what` says the whole form. */
static bool take_nodes(ereader *r, int32_t n, const char *what)
{
    for (int32_t i = 0; i < n; i++) {
        cur_skip_punct(&r->q);
        if (!is_word(r))
            return failed(r, what);
        take_node(r);
    }
    cur_skip_punct(&r->q);
    return true;
}

static bool take_word(ereader *r, const char *what)
{
    const char *braced = cur_more(&r->q) ? braced_name(r, cur_tok(&r->q)) : NULL;
    if (!braced && !is_word(r))
        return failed(r, what);
    r->e->word = braced ? braced : cur_tok(&r->q)->text;
    r->e->word_span = cur_span(&r->q);
    r->q.i++;
    return true;
}

static bool take_value(ereader *r, const char *key)
{
    r->e->value = cur_value(&r->q);
    r->e->value_key = key;
    return r->e->value.e != NULL;
}

/* ic = value ("," value)* */
static bool take_ic(ereader *r)
{
    for (;;) {
        rhs v = cur_value(&r->q);
        if (!v.e)
            return false;
        if (r->e->n_ic == 4) {
            diag_error(r->q.c->d, v.span, "ic= takes at most 4 values");
            return false;
        }
        r->e->ic[r->e->n_ic++] = v;
        if (!cur_is(&r->q, ','))
            return true;
        r->q.i++;
    }
}

/* tc = value ["," value], which are tc1 and tc2 */
static bool take_tc(ereader *r)
{
    keyval k = {str_intern0(r->q.c->names, "tc1"), cur_span(&r->q), {0}};
    r->q.i += 2;
    k.v = cur_value(&r->q);
    vec_push(r->kv, k);
    if (!k.v.e || !cur_is(&r->q, ','))
        return k.v.e != NULL;
    r->q.i++;
    k.key = str_intern0(r->q.c->names, "tc2");
    k.v = cur_value(&r->q);
    vec_push(r->kv, k);
    return k.v.e != NULL;
}

/* One key=value; m= and ic= have their own places. */
static bool take_key(ereader *r)
{
    const char *key = cur_tok(&r->q)->text;
    keyval k;
    if (!strcmp(key, "ic")) {
        r->q.i += 2;
        return take_ic(r);
    }
    if (!strcmp(key, "tc"))
        return take_tc(r);
    if (!cur_keyval(&r->q, &k))
        return false;
    if (!strcmp(key, "m") && r->e->letter != 'x')
        r->e->m = k.v;
    else
        vec_push(r->kv, k);
    if (r->e->letter == 'x') /* also where the subcircuit does not declare it */
        map_set(&r->q.c->sub_param, map_key(key), 1);
    return true;
}

/* The rest of a card: keys, flags, and up to `n_name` bare values under these names. */
static bool take_rest(ereader *r, const char *const *name, int32_t n_name)
{
    int32_t used = 0;
    bool ok = true;
    while (cur_skip_punct(&r->q), cur_more(&r->q)) {
        if (cur_at_key(&r->q)) {
            ok &= take_key(r);
        } else if (cur_is_word(&r->q, "off")) {
            r->e->off = true;
            r->q.i++;
        } else if (cur_is_word(&r->q, "params:")) {
            r->q.i++;
        } else if (cur_is_word(&r->q, "thermal") || cur_is_word(&r->q, "tnodeout")) {
            vec_push(r->kv, (keyval){cur_tok(&r->q)->text, cur_span(&r->q),
                                     flat_number(r->q.c, 1, cur_span(&r->q))});
            r->q.i++;
        } else if (used < n_name && cur_tok(&r->q)->kind != NET_T_PUNCT) {
            keyval k = {str_intern0(r->q.c->names, name[used++]), cur_span(&r->q), {0}};
            k.v = cur_value(&r->q);
            vec_push(r->kv, k);
            ok &= k.v.e != NULL;
        } else if (r->e->letter != 'x' || !vec_len(r->kv) ||
                   !flat_take_unit(&r->q, &vec_last(r->kv).v)) {
            return failed(r, "name=value is expected");
        }
    }
    return ok;
}

/* -- R C L K -- */

static bool is_key(const ereader *r, const char *a, const char *b)
{
    return cur_at_key(&r->q) && (cur_is_word(&r->q, a) || (b && cur_is_word(&r->q, b)));
}

/* Whether a resistor has its value in words, as resistance=1k. */
static bool gives_resistance(const ereader *r)
{
    for (size_t i = 0; i < vec_len(r->kv); i++)
        if (!strcmp(r->kv[i].key, "resistance") || !strcmp(r->kv[i].key, "value"))
            return true;
    return false;
}

/* r = "R" a b [value] [model] [value] ("r=" expr | key=value)* */
static bool read_rcl(ereader *r)
{
    char letter[2] = {r->e->letter, 0};
    static const char *const what[] = {
        "a resistor has two nodes and a value or model: Rname a b value",
        "a capacitor has two nodes and a value or model: Cname a b value",
        "an inductor has two nodes and a value or model: Lname a b value"};
    if (!take_nodes(r, 2, what[r->e->letter == 'r' ? 0 : r->e->letter == 'c' ? 1 : 2]))
        return false;
    bool ok = true;
    while (ok && cur_more(&r->q)) {
        cur_skip_punct(&r->q);
        if (!cur_more(&r->q))
            break;
        if (is_key(r, letter, r->e->letter == 'c' ? "q" : NULL)) {
            bool charge = !cur_is_word(&r->q, letter);
            r->q.i += 2;
            r->e->expr = cur_value(&r->q);
            r->e->value_key = charge ? "q" : letter[0] == 'r' ? "r" : letter[0] == 'c' ? "c" : "l";
            ok = r->e->expr.e != NULL;
        } else if (cur_at_key(&r->q)) {
            ok = take_key(r);
        } else if (is_word(r) && !r->e->word && flat_names_model(r->q.b, cur_tok(&r->q)->text)) {
            ok = take_word(r, "");
        } else if (!r->e->expr.given && !cur_is(&r->q, '=')) {
            r->e->expr = cur_value(&r->q);
            r->e->value_key = "value";
            ok = r->e->expr.e != NULL;
        } else {
            return failed(r, "name=value is expected");
        }
    }
    if (ok && !r->e->expr.given && !r->e->word && !vec_len(r->kv))
        return failed(r, what[r->e->letter == 'r' ? 0 : r->e->letter == 'c' ? 1 : 2]);
    if (ok && r->e->letter == 'r' && !r->e->expr.given && !r->e->word && !gives_resistance(r))
        diag_warning(r->q.c->d, net_card_span(r->q.card),
                     "'%s' has no value: it is 1 mOhm, as in ngspice", r->e->name);
    return ok;
}

static bool take_ref(ereader *r, const char *what)
{
    cur_skip_punct(&r->q);
    if (!is_word(r))
        return failed(r, what);
    vec_push(r->ref, (keyval){cur_tok(&r->q)->text, cur_span(&r->q), {0}});
    r->q.i++;
    return true;
}

/* k = "K" inductor inductor+ value */
static bool read_k(ereader *r)
{
    static const char what[] = "a coupling names inductors and a factor: Kname L1 L2 value";
    while (is_word(r) && r->q.i + 1 < r->q.card->n_tok && cur_tok(&r->q)->text[0] == 'l')
        take_ref(r, what);
    if (vec_len(r->ref) < 2)
        return failed(r, what);
    if (!cur_more(&r->q))
        return failed(r, what);
    if (cur_at_key(&r->q))
        return take_rest(r, NULL, 0);
    if (!take_value(r, "value"))
        return false;
    if (is_word(r) && !cur_at_key(&r->q)) {
        diag_error(r->q.c->d, cur_span(&r->q),
                   "the inductors have a magnetic core, '%s': models of cores are not there",
                   cur_tok(&r->q)->text);
        return false;
    }
    return take_rest(r, NULL, 0);
}

/* -- V I -- */

static const struct wave_word {
    const char *name;
    flat_wave_kind kind;
} wave_words[] = {{"pulse", FLAT_PULSE}, {"sin", FLAT_SIN},         {"sine", FLAT_SIN},
                  {"exp", FLAT_EXP},     {"pwl", FLAT_PWL},         {"sffm", FLAT_SFFM},
                  {"am", FLAT_AM},       {"trnoise", FLAT_TRNOISE}, {"trrandom", FLAT_TRRANDOM}};

static const struct wave_word *find_wave(const ereader *r)
{
    for (size_t i = 0; i < VS_COUNT(wave_words); i++)
        if (cur_is_word(&r->q, wave_words[i].name))
            return &wave_words[i];
    return NULL;
}

static bool is_source_word(const ereader *r)
{
    static const char *const word[] = {"dc", "ac",  "distof1", "distof2", "external", "portnum",
                                       "z0", "pwr", "freq",    "r",       "td",       "m"};
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (cur_is_word(&r->q, word[i]))
            return true;
    return find_wave(r) != NULL || cur_at_key(&r->q);
}

static bool at_number(const ereader *r)
{
    return cur_more(&r->q) && !is_source_word(r) && !cur_is(&r->q, ')') && !cur_is(&r->q, '=');
}

/* The expression aunif(0, 1), drawn anew for each sample if there is a seed. It has no place in the
 * deck, so that no message tells the user of a nominal value. */
static rhs own_draw(ereader *r)
{
    net_expr *e = flat_call(r->q.c, NET_FN_AUNIF, "aunif", 2, DIAG_NOWHERE);
    for (int32_t i = 0; i < 2; i++)
        e->arg[i] = flat_number(r->q.c, i, DIAG_NOWHERE).e;
    return (rhs){.e = e, .span = DIAG_NOWHERE, .given = true};
}

/* wave = word ["="] "(" value* ")" | word value* */
static bool read_wave(ereader *r, const struct wave_word *w)
{
    source_def *s = r->e->src;
    rhs *arg = NULL;
    int depth = 0;
    bool ok = true;
    if (s->wave != FLAT_DC) {
        diag_error(r->q.c->d, cur_span(&r->q), "a second waveform; the source has one already");
        return false;
    }
    s->wave = w->kind;
    s->span = cur_span(&r->q);
    r->q.i++;
    if (cur_is(&r->q, '='))
        r->q.i++;
    while (ok && cur_more(&r->q)) {
        if (cur_is(&r->q, '(') && (!depth || w->kind == FLAT_PWL)) {
            depth++;
        } else if (cur_is(&r->q, ')')) {
            depth--;
        } else if (!cur_is(&r->q, ',')) {
            if (!depth && is_source_word(r))
                break;
            if (cur_at_key(&r->q))
                break;
            rhs v = cur_value(&r->q);
            ok = v.e != NULL;
            vec_push(arg, v);
            continue;
        }
        r->q.i++;
        if (depth <= 0 && r->q.card->tok[r->q.i - 1].punct == ')')
            break;
    }
    if (ok && depth > 0 && !cur_more(&r->q))
        ok = failed(r, "')' is expected at the end of the waveform");
    if (ok && w->kind == FLAT_PWL && vec_len(arg) % 2) {
        diag_warning(r->q.c->d, vec_last(arg).span,
                     "PWL takes pairs of time and value; this time has no value and is left out");
        (void)vec_pop(arg);
    }
    static const size_t most[] = {
        [FLAT_PULSE] = 8, [FLAT_SIN] = 6,     [FLAT_EXP] = 6,     [FLAT_SFFM] = 8,
        [FLAT_AM] = 8,    [FLAT_TRNOISE] = 7, [FLAT_TRRANDOM] = 5};
    if (ok && w->kind != FLAT_PWL && vec_len(arg) > most[w->kind]) {
        diag_error(r->q.c->d, arg[most[w->kind]].span, "too many values: %s takes at most %zu",
                   w->name, most[w->kind]);
        ok = false;
    }
    if (w->kind == FLAT_TRNOISE || w->kind == FLAT_TRRANDOM)
        s->draw = own_draw(r);
    s->arg = vec_freeze(r->q.c->mem, arg);
    return ok;
}

/* word ["="] [magnitude [phase]]; the magnitude is 1 if it is not given */
static bool read_phasor(ereader *r, rhs *mag, rhs *phase)
{
    r->q.i++;
    if (cur_is(&r->q, '='))
        r->q.i++;
    cur_skip_punct(&r->q);
    *mag = flat_number(r->q.c, 1, cur_span(&r->q));
    if (at_number(r))
        *mag = cur_value(&r->q);
    cur_skip_punct(&r->q);
    if (mag->e && at_number(r)) {
        *phase = cur_value(&r->q);
        return phase->e != NULL;
    }
    return mag->e != NULL;
}

static bool is_port_word(const ereader *r)
{
    return r->e->letter == 'v' && (cur_is_word(&r->q, "portnum") || cur_is_word(&r->q, "z0") ||
                                   cur_is_word(&r->q, "pwr") || cur_is_word(&r->q, "freq"));
}

/* port = ("portnum" | "z0" | "pwr" | "freq") ["="] value */
static bool read_port(ereader *r)
{
    source_def *s = r->e->src;
    rhs *v = cur_is_word(&r->q, "z0")     ? &s->z0
             : cur_is_word(&r->q, "pwr")  ? &s->power
             : cur_is_word(&r->q, "freq") ? &s->frequency
                                          : &s->port;
    r->q.i++;
    if (cur_is(&r->q, '='))
        r->q.i++;
    *v = cur_value(&r->q);
    return v->e != NULL;
}

static bool read_source_key(ereader *r)
{
    source_def *s = r->e->src;
    if (s->wave == FLAT_PWL && (cur_is_word(&r->q, "r") || cur_is_word(&r->q, "td"))) {
        rhs *v = cur_is_word(&r->q, "r") ? &s->repeat : &s->delay;
        r->q.i += 2;
        *v = cur_value(&r->q);
        return v->e != NULL;
    }
    if (s->wave == FLAT_PWL && cur_is_word(&r->q, "file")) {
        if (vec_len(s->arg) || s->table) {
            diag_error(r->q.c->d, cur_span(&r->q), "this PWL has its pairs already");
            return false;
        }
        r->q.i += 2;
        return flat_pwl_file(&r->q, &s->table);
    }
    return take_key(r);
}

/* What stands behind the nodes of a source. */
static bool read_source_words(ereader *r, source_def *s)
{
    bool ok = true;
    while (ok && cur_more(&r->q)) {
        const struct wave_word *w = find_wave(r);
        if (cur_is(&r->q, ',') || cur_is(&r->q, ')')) {
            r->q.i++;
        } else if (w) {
            ok = read_wave(r, w);
        } else if (cur_is_word(&r->q, "dc")) {
            r->q.i++;
            if (cur_is(&r->q, '='))
                r->q.i++;
            if (find_wave(r)) /* "dc pwl(...)": the waveform's start */
                continue;
            s->dc = cur_value(&r->q);
            ok = s->dc.e != NULL;
        } else if (cur_is_word(&r->q, "ac")) {
            ok = read_phasor(r, &s->ac_mag, &s->ac_phase);
        } else if (cur_is_word(&r->q, "distof1") || cur_is_word(&r->q, "distof2")) {
            const int k = cur_is_word(&r->q, "distof2");
            ok = read_phasor(r, &s->disto_mag[k], &s->disto_phase[k]);
        } else if (cur_is_word(&r->q, "external")) {
            s->external = true;
            r->q.i++;
        } else if (cur_at_key(&r->q) && !is_port_word(r)) {
            ok = read_source_key(r);
        } else if (is_port_word(r)) {
            ok = read_port(r);
        } else if (!s->dc.given) {
            s->dc = cur_value(&r->q);
            ok = s->dc.e != NULL;
        } else {
            return failed(r, "a waveform, dc or ac is expected");
        }
    }
    return ok;
}

/* source = ("V" | "I") a b ("dc" | ["dc"] value | "ac" [mag [phase]] | wave | key=value)* */
static bool read_source(ereader *r)
{
    if (!take_nodes(r, 2,
                    r->e->letter == 'v' ? "a voltage source has two nodes: Vname plus minus value"
                                        : "a current source has two nodes: Iname plus minus value"))
        return false;
    source_def *s = r->e->src = arena_new(r->q.c->mem, source_def);
    s->span = net_card_span(r->q.card);
    r->q.c->amperes = r->e->letter == 'i';
    const bool ok = read_source_words(r, s);
    r->q.c->amperes = false;
    return ok;
}

/* -- E G F H B -- */

/* expr behind value=, vol=, cur=; the equals sign may be missing */
static bool take_expr(ereader *r)
{
    r->q.i++;
    if (cur_is(&r->q, '='))
        r->q.i++;
    r->e->expr = cur_expr(&r->q);
    return r->e->expr.e != NULL;
}

/* number* up to the next key or the end of the card, at the end of *to. */
static bool take_numbers(ereader *r, rhs **to)
{
    while (cur_skip_punct(&r->q), cur_more(&r->q) && !cur_at_key(&r->q)) {
        const rhs v = cur_value(&r->q);
        if (!v.e)
            return false;
        vec_push(*to, v);
    }
    return true;
}

static void becomes(ereader *r, const net_expr *e, diag_span at)
{
    r->e->expr = (rhs){.e = e, .span = at, .given = true, .maybe_dynamic = true};
}

/* table(x, point[0], point[1], ...) */
static void becomes_table(ereader *r, const net_expr *x, const rhs *point, diag_span at)
{
    const int32_t n = (int32_t)vec_len(point);
    net_expr *e = flat_call(r->q.c, NET_FN_TABLE, "table", n + 1, at);
    e->arg[0] = x;
    for (int32_t i = 0; i < n; i++)
        e->arg[i + 1] = point[i].e;
    becomes(r, e, at);
}

/* table = "table" ["="] expr "=" ("(" x "," y ")")* ; becomes table(expr, x, y, ...) */
static bool read_table(ereader *r)
{
    diag_span at = cur_span(&r->q);
    r->q.i++;
    if (cur_is(&r->q, '='))
        r->q.i++;
    rhs x = cur_value(&r->q), *point = NULL;
    if (cur_is(&r->q, '='))
        r->q.i++;
    bool ok = x.e && take_numbers(r, &point);
    const size_t n = vec_len(point);
    if (ok && (n < 2 || n % 2)) {
        diag_error(r->q.c->d, at, "TABLE needs pairs of numbers: TABLE {expr} = (x,y) (x,y)");
        ok = false;
    }
    if (ok)
        becomes_table(r, x.e, point, at);
    vec_free(point);
    return ok;
}

static const struct gate_word {
    const char *name;
    net_fn fn;
    bool is_switch; /* between the element's own nodes */
} gate_words[] = {{"and", NET_FN_MIN, false}, {"nand", NET_FN_MIN, false},
                  {"or", NET_FN_MAX, false},  {"nor", NET_FN_MAX, false},
                  {"pwl", NET_FN_MAX, false}, {"npwl", NET_FN_MAX, true},
                  {"ppwl", NET_FN_MIN, true}};

static const struct gate_word *find_gate(const ereader *r)
{
    for (size_t i = 0; i < VS_COUNT(gate_words); i++)
        if (cur_is_word(&r->q, gate_words[i].name) && r->q.i + 1 < r->q.card->n_tok &&
            r->q.card->tok[r->q.i + 1].punct == '(')
            return &gate_words[i];
    return NULL;
}

/* The voltage between the next two nodes. */
static const net_expr *take_voltage(ereader *r, const char *what)
{
    const char *name[2];
    const diag_span at = cur_span(&r->q);
    for (int k = 0; k < 2; k++) {
        cur_skip_punct(&r->q);
        if (!is_word(r)) {
            failed(r, what);
            return NULL;
        }
        name[k] = cur_tok(&r->q)->text;
        r->q.i++;
    }
    return flat_voltage(r->q.c, name[0], name[1], at);
}

/* The two nodes of the element itself. */
static void own_nodes(const ereader *r, const char *node[2])
{
    const net_tok *t = r->q.card->tok;
    for (int k = 0, i = 1; k < 2; i++) /* behind the name */
        if (t[i].kind == NET_T_WORD)
            node[k++] = t[i].text;
}

static const net_expr *own_voltage(const ereader *r, diag_span at)
{
    const char *node[2];
    own_nodes(r, node);
    return flat_voltage(r->q.c, node[0], node[1], at);
}

/* The controls of a switch between the element's nodes, n-channel or p-channel: the voltages of its
 * gate above both nodes, of which the larger one counts (npwl) or the smaller one. */
static bool take_controls(ereader *r, net_expr *x)
{
    static const char what[] = "NPWL and PPWL have a gate and one of the element's own nodes: "
                               "Gname a b VCR NPWL(1) g b (1,1meg) (3,1k)";
    const char *node[2], *at[2];
    own_nodes(r, node);
    for (int k = 0; k < 2; k++) {
        cur_skip_punct(&r->q);
        if (!is_word(r))
            return failed(r, what);
        at[k] = cur_tok(&r->q)->text;
        r->q.i++;
    }
    for (int k = 0; k < 2; k++)
        x->arg[k] = flat_voltage(r->q.c, at[0], node[k], x->span);
    return !str_casecmp(at[1], node[0]) || !str_casecmp(at[1], node[1]) || failed(r, what);
}

/* gate = ("and" | "nand" | "or" | "nor" | "pwl" | "npwl" | "ppwl") "(" n ")" (node node)^n
 *        ("(" x "," y ")")+
 * HSPICE's: the output of the smallest input (and, nand) or of the largest one, by a table, which
 * says whether it inverts; becomes pwl(min(v(a,b), ...), x, y, ...). */
static bool read_gate(ereader *r, const struct gate_word *w)
{
    static const char what[] = "a gate has a number of inputs, two nodes for each, and a table: "
                               "AND(2) a 0 b 0 (0.5,0) (1,5)";
    const diag_span at = cur_span(&r->q);
    r->q.i += 2;
    const rhs n = cur_value(&r->q);
    if (!n.e)
        return false;
    if (n.e->op != NET_NUM || !(n.e->num >= 1 && n.e->num <= 99 && n.e->num == floor(n.e->num))) {
        diag_error(r->q.c->d, n.span, "a gate has 1 to 99 inputs: AND(2)");
        return false;
    }
    if (w->is_switch && n.e->num != 1) {
        diag_error(r->q.c->d, n.span, "NPWL and PPWL have one input: NPWL(1)");
        return false;
    }
    net_expr *x = flat_call(r->q.c, w->fn, w->fn == NET_FN_MIN ? "min" : "max",
                            w->is_switch ? 2 : (int32_t)n.e->num, at);
    if (w->is_switch && !take_controls(r, x))
        return false;
    for (int32_t i = 0; i < x->n_arg && !w->is_switch; i++)
        if (!(x->arg[i] = take_voltage(r, what)))
            return false;
    rhs *point = NULL;
    bool ok = take_numbers(r, &point);
    if (ok && (vec_len(point) < 4 || vec_len(point) % 2)) {
        diag_error(r->q.c->d, at, "%s", what);
        ok = false;
    }
    if (ok)
        becomes_table(r, x, point, at);
    vec_free(point);
    return ok;
}

/* vcr = "vcr" gate: the table gives ohms, G becomes v(a,b) / pwl(...). */
static bool read_resistor(ereader *r, const struct gate_word *w)
{
    const diag_span at = cur_span(&r->q);
    if (!read_gate(r, w))
        return false;
    becomes(r, flat_operation(r->q.c, NET_DIV, own_voltage(r, at), r->e->expr.e), at);
    return true;
}

/* -- FREQ -- */

static const net_expr *constant(ereader *r, double x, diag_span at)
{
    return flat_number(r->q.c, x, at).e;
}

/* How the two numbers behind a frequency are meant. */
typedef struct gain_form {
    bool size, radian, parts; /* not in dB; not in degrees; real and imaginary */
} gain_form;

static bool take_gain_word(ereader *r, gain_form *form)
{
    static const char *const word[] = {"db", "mag", "deg", "rad", "r_i"};
    size_t k = 0;
    while (k < VS_COUNT(word) && !cur_is_word(&r->q, word[k]))
        k++;
    if (k == VS_COUNT(word))
        return false;
    if (k < 2)
        form->size = k == 1;
    else if (k < 4)
        form->radian = k == 3;
    else
        form->parts = true;
    r->q.i++;
    return true;
}

/* re and im of a gain of size a and angle b. */
static void from_polar(ereader *r, gain_form form, const net_expr **a, const net_expr **b)
{
    const diag_span at = (*a)->span;
    const net_expr *size = *a, *angle = *b;
    if (!form.size)
        size = flat_operation(r->q.c, NET_POW, constant(r, 10, at),
                              flat_operation(r->q.c, NET_DIV, size, constant(r, 20, at)));
    if (!form.radian)
        angle = flat_operation(r->q.c, NET_MUL, angle, constant(r, acos(-1) / 180, at));
    net_expr *c = flat_call(r->q.c, NET_FN_COS, "cos", 1, at),
             *s = flat_call(r->q.c, NET_FN_SIN, "sin", 1, at);
    c->arg[0] = s->arg[0] = angle;
    *a = flat_operation(r->q.c, NET_MUL, size, c);
    *b = flat_operation(r->q.c, NET_MUL, size, s);
}

/* freqtable(x, delay, f, re, im, ...) */
static void becomes_freq_table(ereader *r, const net_expr *x, const rhs *delay, gain_form form,
                               const rhs *v, diag_span at)
{
    const int32_t n = (int32_t)vec_len(v);
    net_expr *e = flat_call(r->q.c, NET_FN_FREQTABLE, "freqtable", n + 2, at);
    e->arg[0] = x;
    e->arg[1] = delay->given ? delay->e : constant(r, 0, at);
    for (int32_t i = 0; i < n; i += 3) {
        const net_expr *a = v[i + 1].e, *b = v[i + 2].e;
        if (!form.parts)
            from_polar(r, form, &a, &b);
        e->arg[i + 2] = v[i].e;
        e->arg[i + 3] = a;
        e->arg[i + 4] = b;
    }
    becomes(r, e, at);
}

/* freq = "freq" ["="] expr ["="] ("db" | "mag" | "deg" | "rad" | "r_i" | "=")*
 *        ("(" f "," a "," b ")")+ ["delay" "=" td] */
static bool read_freq(ereader *r)
{
    const diag_span at = cur_span(&r->q);
    gain_form form = {false, false, false};
    r->q.i++;
    if (cur_is(&r->q, '='))
        r->q.i++;
    rhs x = cur_value(&r->q), delay = {0}, *v = NULL;
    while (cur_is(&r->q, '=') || take_gain_word(r, &form))
        if (cur_is(&r->q, '='))
            r->q.i++;
    bool ok = x.e && take_numbers(r, &v);
    if (ok && cur_at_key(&r->q) && cur_is_word(&r->q, "delay")) {
        r->q.i += 2;
        delay = cur_value(&r->q);
        ok = delay.e != NULL;
    }
    if (ok && (!vec_len(v) || vec_len(v) % 3)) {
        diag_error(r->q.c->d, at,
                   "FREQ needs groups of three numbers, frequency, gain in dB and degrees: "
                   "FREQ {v(a)} = (1k,0,0) (10k,-3,-45)");
        ok = false;
    }
    if (ok)
        becomes_freq_table(r, x.e, &delay, form, v, at);
    vec_free(v);
    return ok;
}

/* poly = "poly" "(" n ")" controls coefficients ; controls: n node pairs, or n source names */
static bool read_poly(ereader *r, bool by_current)
{
    r->q.i++;
    cur_skip_punct(&r->q);
    diag_span at = cur_span(&r->q);
    rhs dim = cur_value(&r->q);
    double n = dim.e && dim.e->op == NET_NUM ? dim.e->num : 0;
    if (!dim.e || n < 1 || n > 100 || n != floor(n)) {
        if (dim.e)
            diag_error(r->q.c->d, at, "POLY needs a dimension from 1 to 100: POLY(2)");
        return false;
    }
    r->e->poly_dim = (int32_t)n;
    cur_skip_punct(&r->q);
    for (int32_t i = 0; by_current && i < r->e->poly_dim; i++)
        if (!take_ref(r, "POLY needs as many controlling sources as its dimension"))
            return false;
    if (!by_current &&
        !take_nodes(r, 2 * r->e->poly_dim, "POLY needs two nodes for each dimension"))
        return false;
    while (cur_skip_punct(&r->q), cur_more(&r->q) && !cur_at_key(&r->q)) {
        rhs v = cur_value(&r->q);
        if (!v.e)
            return false;
        vec_push(r->poly, v);
    }
    if (!vec_len(r->poly))
        return failed(r, "POLY needs coefficients");
    return take_rest(r, NULL, 0);
}

/* laplace = "laplace" ["="] expr ["="] expr ; becomes laplace(expr, expr) */
static bool read_laplace(ereader *r)
{
    const diag_span at = cur_span(&r->q);
    static const char what[] =
        "a signal and a transfer function are expected: LAPLACE {v(a)} {1/(1+s*1u)}";
    rhs part[2] = {{0}, {0}};
    r->q.i++;
    for (int i = 0; i < 2; i++) {
        if (cur_is(&r->q, '='))
            r->q.i++;
        cur_skip_punct(&r->q);
        if (!cur_more(&r->q))
            return failed(r, what);
        part[i] = cur_value(&r->q);
        if (!part[i].e)
            return false;
    }
    if (cur_skip_punct(&r->q), cur_more(&r->q) && !cur_at_key(&r->q))
        return failed(r, what);
    net_expr *e = flat_call(r->q.c, NET_FN_LAPLACE, "laplace", 2, at);
    e->arg[0] = part[0].e;
    e->arg[1] = part[1].e;
    net_expr_in_s(e->arg[1]);
    becomes(r, e, at);
    return true;
}

static bool unsupported_form(ereader *r)
{
    static const char *const word[] = {"transformer", "delay", "foster", "pole", "opamp"};
    const int32_t left = r->q.card->n_tok - r->q.i;
    size_t i = 0;
    while (i < VS_COUNT(word) && !cur_is_word(&r->q, word[i]))
        i++;
    if (i == VS_COUNT(word) || left < 2)
        return false;
    const net_tok *next = cur_tok(&r->q) + 1;
    if (!next->punct && next->kind != NET_T_EXPR && !(i == 0 && left > 3))
        return false;
    diag_error(r->q.c->d, cur_span(&r->q), "the form '%s' of a controlled source is not supported",
               word[i]);
    return true;
}

/* HSPICE's transfer functions, flat_gain.c. */
static bool read_gain(ereader *r)
{
    const diag_span at = cur_span(&r->q);
    const char *node[2];
    own_nodes(r, node);
    const net_expr *e = flat_gain(&r->q, node[0], node[1]);
    if (e)
        becomes(r, e, at);
    return e != NULL;
}

/* e = ("E" | "G") a b ( c d gain | poly | ("value" | "vol" | "cur") ["="] expr | table | laplace |
 *     freq | gate | gain ) */
static bool read_eg(ereader *r)
{
    bool is_v = r->e->letter == 'e';
    const char *what =
        is_v ? "a voltage-controlled source has four nodes and a gain: Ename a b c d gain"
             : "a voltage-controlled source has four nodes and a gain: Gname a b c d gain";
    if (!take_nodes(r, 2, what))
        return false;
    if (cur_is_word(&r->q, "vcvs") || cur_is_word(&r->q, "vccs"))
        r->q.i++;
    r->e->expr_is_v = is_v;
    if (flat_at_gain(&r->q))
        return read_gain(r) && take_rest(r, NULL, 0);
    if (unsupported_form(r))
        return false;
    if (cur_is_word(&r->q, "poly"))
        return read_poly(r, false);
    if (cur_is_word(&r->q, "table"))
        return read_table(r) && take_rest(r, NULL, 0);
    if (cur_is_word(&r->q, "laplace"))
        return read_laplace(r) && take_rest(r, NULL, 0);
    if (cur_is_word(&r->q, "freq") && r->q.i + 1 < r->q.card->n_tok &&
        (r->q.card->tok[r->q.i + 1].punct || r->q.card->tok[r->q.i + 1].kind == NET_T_EXPR))
        return read_freq(r) && take_rest(r, NULL, 0);
    const bool resistor = r->e->letter == 'g' && cur_is_word(&r->q, "vcr");
    r->q.i += resistor;
    const struct gate_word *gate = find_gate(r);
    if (gate && gate->is_switch && !resistor)
        return failed(r,
                      "NPWL and PPWL make a resistor of G: Gname a b VCR NPWL(1) g b (x,ohm) ...");
    if (gate)
        return (resistor ? read_resistor : read_gate)(r, gate) && take_rest(r, NULL, 0);
    r->q.i -= resistor; /* a node may be called so */
    if (cur_is_word(&r->q, "value") || cur_is_word(&r->q, "vol") || cur_is_word(&r->q, "cur"))
        return take_expr(r) && take_rest(r, NULL, 0);
    if (!take_nodes(r, 2, what))
        return false;
    if (cur_at_key(&r->q) && cur_is_word(&r->q, "gain"))
        r->q.i += 2;
    if (!cur_more(&r->q))
        return failed(r, what);
    return take_value(r, "gain") && take_rest(r, NULL, 0);
}

/* f = ("F" | "H") a b ( source gain | poly ) */
static bool read_fh(ereader *r)
{
    const char *what =
        r->e->letter == 'f'
            ? "a current-controlled source has two nodes, a source and a gain: Fname a b vname gain"
            : "a current-controlled source has two nodes, a source and a gain: Hname a b vname "
              "gain";
    if (!take_nodes(r, 2, what))
        return false;
    if (cur_is_word(&r->q, "cccs") || cur_is_word(&r->q, "ccvs"))
        r->q.i++;
    if (unsupported_form(r))
        return false;
    if (cur_is_word(&r->q, "poly"))
        return read_poly(r, true);
    if (!take_ref(r, what))
        return false;
    cur_skip_punct(&r->q);
    if (cur_at_key(&r->q) && cur_is_word(&r->q, "gain"))
        r->q.i += 2;
    if (!cur_more(&r->q))
        return failed(r, what);
    return take_value(r, "gain") && take_rest(r, NULL, 0);
}

/* b = "B" a b ("v" | "i") "=" expr */
static bool read_b(ereader *r)
{
    static const char what[] = "a behavioural source has two nodes and v= or i=: Bname a b v={...}";
    if (!take_nodes(r, 2, what))
        return false;
    while (cur_more(&r->q)) {
        bool is_v = cur_is_word(&r->q, "v");
        if (cur_at_key(&r->q) && (is_v || cur_is_word(&r->q, "i"))) {
            if (r->e->expr.given) {
                diag_error(r->q.c->d, cur_span(&r->q), "a behavioural source has one of v= and i=");
                return false;
            }
            r->e->expr_is_v = is_v;
            if (!take_expr(r))
                return false;
        } else if (cur_at_key(&r->q)) {
            if (!take_key(r))
                return false;
        } else {
            return failed(r, what);
        }
    }
    return r->e->expr.given || failed(r, what);
}

/* -- elements with a model -- */

typedef struct model_form {
    char letter;
    int32_t least, most, usual; /* nodes; usual: where the model is expected if no word is one */
    const char *what;
    const char *bare[2]; /* names of bare values after the model */
} model_form;

static const model_form forms[] = {
    {'d', 2, 3, 2, "a diode has two nodes and a model: Dname anode cathode model", {"area", "pj"}},
    {'q',
     3,
     5,
     3,
     "a bipolar transistor has three to five nodes and a model: Qname c b e model",
     {"area", NULL}},
    {'m',
     3,
     8,
     4,
     "a MOS transistor has four or more nodes and a model: Mname d g s b model",
     {NULL, NULL}},
    {'j', 3, 4, 3, "a JFET has three nodes and a model: Jname d g s model", {"area", NULL}},
    {'z', 3, 4, 3, "a MESFET has three nodes and a model: Zname d g s model", {"area", NULL}},
    {'n',
     1,
     1000,
     0,
     "a Verilog-A instance has nodes and a model: Nname node ... model",
     {NULL, NULL}},
    {'s', 4, 4, 4, "a switch has four nodes and a model: Sname a b c d model", {NULL, NULL}},
    {'o', 4, 4, 4, "a lossy line has four nodes and a model: Oname a b c d model", {NULL, NULL}},
    {'y',
     4,
     4,
     4,
     "a lossy line has four nodes and a model: Yname a 0 b 0 model; Xyce's own Y devices are not "
     "known",
     {NULL, NULL}},
    {'p',
     4,
     34,
     0,
     "coupled lines have nodes at one end, those at the other, and a model: Pname a1 a2 0 b1 b2 0 "
     "model",
     {NULL, NULL}},
    {'u', 3, 3, 3, "an RC line has three nodes and a model: Uname a b c model", {NULL, NULL}},
};

/* The position of the model name: the first word after the least number of nodes that names a
 * model, else the usual place, else the last word. 0: there is none. */
static int32_t model_place(const ereader *r, const model_form *f)
{
    const net_card *card = r->q.card;
    int32_t n = 0, last = 0, usual = 0;
    for (int32_t i = r->q.i; i < card->n_tok; i++) {
        const net_tok *t = &card->tok[i];
        if (t->punct == '(' || t->punct == ')' || t->punct == ',')
            continue;
        if (n >= f->least && n <= f->most && braced_name(r, t))
            return i;
        if (t->kind != NET_T_WORD || (i + 1 < card->n_tok && card->tok[i + 1].punct == '='))
            break;
        if (n >= f->least && n <= f->most && flat_names_model(r->q.b, t->text))
            return i;
        if (n == f->usual)
            usual = i;
        if (n >= f->least)
            last = i;
        n++;
    }
    return f->usual ? usual : last;
}

static bool read_with_model(ereader *r, const model_form *f)
{
    int32_t place = model_place(r, f);
    if (!place) {
        int32_t n = 0;
        while (cur_skip_punct(&r->q), is_word(r))
            n++, r->q.i++;
        diag_error(r->q.c->d, cur_span(&r->q), "%s (%d word%s given)", f->what, n,
                   n == 1 ? "" : "s");
        return false;
    }
    for (cur_skip_punct(&r->q); r->q.i < place; cur_skip_punct(&r->q))
        take_node(r);
    take_word(r, f->what);
    if (f->letter == 's' && (cur_is_word(&r->q, "on") || cur_is_word(&r->q, "off"))) {
        r->e->off = cur_is_word(&r->q, "off");
        if (!r->e->off)
            vec_push(r->kv, (keyval){cur_tok(&r->q)->text, cur_span(&r->q),
                                     flat_number(r->q.c, 1, cur_span(&r->q))});
        r->q.i++;
    }
    return take_rest(r, f->bare, f->bare[0] ? f->bare[1] ? 2 : 1 : 0);
}

/* w = "W" a b source model ["on" | "off"] */
static bool read_w(ereader *r)
{
    static const char what[] =
        "a current-controlled switch has two nodes, a source and a model: Wname a b vname model";
    if (!take_nodes(r, 2, what) || !take_ref(r, what) || !take_word(r, what))
        return false;
    if (cur_is_word(&r->q, "on")) {
        vec_push(r->kv, (keyval){cur_tok(&r->q)->text, cur_span(&r->q),
                                 flat_number(r->q.c, 1, cur_span(&r->q))});
        r->q.i++;
    }
    return take_rest(r, NULL, 0);
}

/* x = "X" node* subcircuit ["params:"] (name=value)* */
static bool read_x(ereader *r)
{
    const net_card *card = r->q.card;
    int32_t last = 0;
    for (int32_t i = r->q.i; i < card->n_tok; i++) {
        const net_tok *t = &card->tok[i];
        if (t->punct == '(' || t->punct == ')' || t->punct == ',')
            continue;
        if (t->kind != NET_T_WORD || !strcmp(t->text, "params:") ||
            (i + 1 < card->n_tok && card->tok[i + 1].punct == '='))
            break;
        last = i;
    }
    if (!last) {
        diag_error(r->q.c->d, cur_span(&r->q),
                   "an instance has nodes and a subcircuit: Xname node ... subcircuit");
        return false;
    }
    for (cur_skip_punct(&r->q); r->q.i < last; cur_skip_punct(&r->q))
        take_node(r);
    take_word(r, "");
    return take_rest(r, NULL, 0);
}

/* a = "A" connection* model */
static bool read_a(ereader *r)
{
    code_card a = {0};
    const bool ok = flat_read_code(&r->q, &a);
    r->slot = a.slot;
    r->span = a.span;
    r->ref = a.ref;
    r->e->conn = vec_freeze(r->q.c->mem, a.conn);
    r->e->word = a.model;
    r->e->word_span = a.model_span;
    return ok;
}

/* u = "U" digital device | "U" a b c model */
static bool read_u(ereader *r, const model_form *f)
{
    if (!flat_is_logic(&r->q))
        return read_with_model(r, f);
    logic_card a = {0};
    const bool ok = flat_read_logic(&r->q, &a);
    r->slot = a.slot;
    r->span = a.span;
    r->e->logic = a.logic;
    r->e->word = a.model;
    r->e->word_span = a.model_span;
    return ok;
}

static bool read_by_letter(ereader *r)
{
    switch (r->e->letter) {
    case 'r':
    case 'c':
    case 'l': return read_rcl(r);
    case 'k': return read_k(r);
    case 'v':
    case 'i': return read_source(r);
    case 'e':
    case 'g': return read_eg(r);
    case 'f':
    case 'h': return read_fh(r);
    case 'b': return read_b(r);
    case 'w': return read_w(r);
    case 'x': return read_x(r);
    case 't':
        return take_nodes(r, 4, "a transmission line has four nodes: Tname a b c d z0=...") &&
               take_rest(r, NULL, 0);
    case 'a': return read_a(r);
    default:
        for (size_t i = 0; i < VS_COUNT(forms); i++)
            if (forms[i].letter == r->e->letter)
                return r->e->letter == 'u' ? read_u(r, &forms[i]) : read_with_model(r, &forms[i]);
        diag_error(r->q.c->d, net_card_span(r->q.card), "unknown element letter '%c'",
                   r->e->name[0]);
        return false;
    }
}

enum { MOST_DIGITS = 63 };

static void lower(char *to, const char *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = str_lower_char(s[i]);
    to[n] = 0;
}

/* Reads a plain number. false: the text must be looked at more closely, as 1A and 2amp, for which
 * there is a message. */
static bool plain_number(const char *s, uint32_t n, double *x)
{
    char text[MOST_DIGITS + 1];
    const char *end;
    if (n > MOST_DIGITS)
        return false;
    lower(text, s, n);
    return text[strspn(text, "+-.0123456789")] != 'a' && str_spice_number(text, &end, x) && !*end &&
           isfinite(*x);
}

void flat_find_plain(const net_line *line, const char *text, uint32_t len, plain_text *out)
{
    const char letter = line->name[0];
    const diag_span *word = out->word;
    out->three = (letter == 'r' || letter == 'c' || letter == 'l') &&
                 net_three_words(line, text, len, out->word);
    if (!out->three)
        return;
    out->number = plain_number(text + word[2].off, word[2].len, &out->value);
    for (int i = 0; i < 2; i++)
        out->hash[i] = str_hash_folded(text + word[i].off, word[i].len);
}

/* Whether a plain number is the name of a model that b sees. */
static bool is_model(const flat_ctx *c, const body *b, diag_span at)
{
    char text[MOST_DIGITS + 1];
    if (!c->number_models)
        return false;
    lower(text, c->d->file[at.file].text + at.off, at.len);
    const char *name = str_known(c->names, text, at.len);
    return name && flat_names_model(b, name);
}

/* Numbers with their suffixes, operators and brackets: no name. */
static bool is_arithmetic(const char *s, uint32_t n)
{
    bool number = false; /* a letter would belong to one */
    for (uint32_t i = 0; i < n; i++) {
        const char c = str_lower_char(s[i]);
        if (!strchr("0123456789.+-*/() ", c) && !(number && c >= 'a' && c <= 'z'))
            return false;
        number = (c >= '0' && c <= '9') || c == '.' || (c >= 'a' && c <= 'z');
    }
    return true;
}

static bool arithmetic_value(const net_expr *e, double *x)
{
    double arg[2];
    char why[128];
    if (e->op == NET_NUM) {
        *x = e->num;
        return true;
    }
    for (int32_t i = 0; i < e->n_arg; i++)
        if (i == 2 || !arithmetic_value(e->arg[i], &arg[i]))
            return false;
    return net_apply(e->op, e->fn, arg, e->n_arg, x, why, sizeof why);
}

/* As plain_number, of "{0.1+1e-4*5}", which loops leave. *at becomes the place of what is inside. A
 * message may have been given. */
static bool plain_arithmetic(flat_ctx *c, diag_span *at, double *x)
{
    const char *s = c->d->file[at->file].text + at->off;
    if (at->len < 2 || s[0] != '{' || !is_arithmetic(s + 1, at->len - 2))
        return false;
    const arena_pos mark = arena_mark(&c->scratch);
    const net_expr *e = net_expr_parse(c->d, c->names, &c->scratch, *at, NULL);
    const bool ok = e && arithmetic_value(e, x) && isfinite(*x);
    if (ok)
        *at = e->span;
    arena_release(&c->scratch, mark);
    return ok;
}

bool flat_read_plain(flat_ctx *c, body *b, const net_line *line, const plain_text *t, item *x)
{
    double value = t->value;
    diag_span at = t->word[2];
    if (!t->three || !((t->number && !is_model(c, b, at)) || plain_arithmetic(c, &at, &value)))
        return false;
    *x = (item){.elem = -1, .value = value, .at = at.off, .n_digit = at.len};
    for (int i = 0; i < 2; i++) {
        const char *node = c->d->file[line->file].text + t->word[i].off;
        x->slot[i] = flat_slot_of(c, b, node, t->word[i].len, t->hash[i]);
    }
    return true;
}

bool flat_read_elem(flat_ctx *c, body *b, const net_card *card, elem *e)
{
    *e = (elem){.letter = card->name[0], .name = card->name, .guard = -1};
    if (b->parent)
        e->made = arena_new(c->mem, elem_made);
    ereader r = {.q = {c, b, card, 1}, .e = e};
    bool ok = read_by_letter(&r);
    e->n_node = (int32_t)vec_len(r.slot);
    if (e->letter != 'x' && e->n_node > FLAT_MOST_NODES) {
        diag_error(c->d, net_card_span(card), "'%s' has %d nodes, an element may have up to %d",
                   e->name, e->n_node, FLAT_MOST_NODES);
        ok = false;
    }
    e->slot = vec_freeze(c->mem, r.slot);
    e->node_span = vec_freeze(c->mem, r.span);
    flat_unique_keys(c, r.kv);
    e->kv = vec_freeze(c->mem, r.kv);
    e->ref = vec_freeze(c->mem, r.ref);
    e->poly = vec_freeze(c->mem, r.poly);
    return ok;
}
