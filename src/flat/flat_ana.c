/* flat_ana.c - the cards of small-signal analyses: .ac .noise .tf .sens .pz .sp.
 * Source: ngspice manual, ch. "Analyses". */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

enum { MAX_POINTS = 10000000 };

static bool number(cur *q, double *y)
{
    rhs v = cur_value(q);
    return v.e && flat_eval(q->c, q->c->root, &v, y);
}

static diag_span last_span(const cur *q) { return net_tok_span(q->card, &q->card->tok[q->i - 1]); }

/* What stands at the cursor is none of the words that may stand there. */
static bool no_such_word(cur *q, const char *what, const char *const *word, size_t n)
{
    cur_unexpected(q, what);
    if (cur_more(q) && cur_tok(q)->kind == NET_T_WORD)
        flat_suggest(q->c, cur_tok(q)->text, word, n);
    return false;
}

/* Whether a word stands at the cursor, and no number or parameter. */
static bool at_word(const cur *q)
{
    const net_tok *t = cur_more(q) ? cur_tok(q) : NULL;
    return t && t->kind == NET_T_WORD && str_lower_char(t->text[0]) >= 'a' &&
           str_lower_char(t->text[0]) <= 'z' && !flat_find_param(q->c, q->c->root, t->text);
}

/* grid = ("dec" | "oct" | "lin") n from to */
static bool read_grid(cur *q, flat_ana *a)
{
    static const char *const word[] = {"dec", "oct", "lin"};
    size_t k = 0;
    double n;
    while (k < VS_COUNT(word) && !cur_is_word(q, word[k]))
        k++;
    if (k == VS_COUNT(word)) {
        cur_unexpected(q, "dec, oct or lin is expected, then points, first and last frequency");
        return false;
    }
    q->i++;
    if (!cur_more(q)) {
        cur_unexpected(q, "the number of points, the first and the last frequency are missing");
        return false;
    }
    if (!number(q, &n))
        return false;
    const diag_span n_span = last_span(q);
    if (!cur_more(q)) {
        cur_unexpected(q, "the first and the last frequency are missing");
        return false;
    }
    if (!number(q, &a->f_from))
        return false;
    if (!cur_more(q)) {
        cur_unexpected(q, "the last frequency is missing");
        return false;
    }
    if (!number(q, &a->f_to))
        return false;
    if (!(n >= 1 && n <= MAX_POINTS)) {
        diag_error(q->c->d, n_span, "%g points; from 1 to %d are possible", n, MAX_POINTS);
        return false;
    }
    const double least = k == 2 ? 0 : 1e-300;
    if (!(a->f_from >= least && a->f_to >= a->f_from) || isinf(a->f_to)) {
        diag_error(q->c->d, last_span(q), "frequencies from %g to %g: they must be %s and ascend",
                   a->f_from, a->f_to, k == 2 ? "0 or more" : "positive");
        return false;
    }
    a->grid = (flat_grid)k;
    a->n_freq = (int64_t)n;
    a->has_freq = true;
    const double points = k == 2 ? n : n * log(a->f_to / a->f_from) / log(k ? 2 : 10);
    if (!(points < MAX_POINTS)) {
        diag_error(q->c->d, last_span(q), "%g points, more than %d", points, MAX_POINTS);
        return false;
    }
    return true;
}

/* grid | "data" "=" name */
static bool read_grid_or_table(cur *q, flat_ana *a)
{
    if (!cur_more(q) || !cur_is_word(q, "data") || !cur_at_key(q))
        return read_grid(q, a);
    q->i += 2;
    return flat_read_rows(q, a);
}

/* The node whose name is at the cursor. The form "v.x1.out", which ngspice has for elements and
 * vlsirtools writes for nodes, means x1.out; if out is a port of x1, no node has that name. */
static bool read_node(cur *q, int32_t *node, const char **name)
{
    flat_ctx *c = q->c;
    if (!cur_more(q) || cur_tok(q)->kind != NET_T_WORD) {
        cur_unexpected(q, "a node is expected");
        return false;
    }
    *name = cur_tok(q)->text;
    flat_fill_maps(c);
    *node =
        !strcmp(*name, "0") || !strcmp(*name, "gnd") ? 0 : map_get(&c->node_of, map_key(*name), -1);
    if (*node < 0)
        *node = map_get(&c->node_of, map_key(flat_with_dots(c, *name)), -1);
    const bool as_element = *node < 0 && !strncmp(*name, "v.x", 3);
    if (as_element)
        *node = map_get(&c->node_of, map_key(str_intern0(c->names, *name + 2)), -1);
    if (*node < 0 && as_element) {
        diag_warning(c->d, cur_span(q), "no node '%s': ground is taken, as ngspice has 0 V there",
                     *name + 2);
        *node = 0;
    }
    if (*node < 0) {
        diag_error(c->d, cur_span(q), "no node '%s'", *name);
        flat_suggest(c, *name, c->f->node, vec_len(c->f->node));
        return false;
    }
    q->i++;
    return true;
}

/* An element whose letter is among `letters`; also in ngspice's form "v.x1.v1". */
static bool read_element(cur *q, const char *letters, const char *what, const char **name)
{
    flat_ctx *c = q->c;
    if (!cur_more(q) || cur_tok(q)->kind != NET_T_WORD) {
        cur_unexpected(q, what);
        return false;
    }
    const char *text = cur_tok(q)->text;
    flat_fill_maps(c);
    int32_t k = map_get(&c->inst_of, map_key(text), -1);
    if (k < 0 && text[0] && text[1] == '.')
        k = map_get(&c->inst_of, map_key(str_intern0(c->names, text + 2)), -1);
    if (k >= 0 && strchr(letters, c->f->inst[k].letter)) {
        *name = c->f->inst[k].name;
        q->i++;
        return true;
    }
    diag_error(c->d, cur_span(q), k < 0 ? "no element '%s'; %s" : "'%s' cannot stand here; %s",
               text, what);
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(c->f->inst); i++)
        if (strchr(letters, c->f->inst[i].letter))
            vec_push(cand, c->f->inst[i].name);
    flat_suggest(c, text, cand, vec_len(cand));
    vec_free(cand);
    return false;
}

static bool expect(cur *q, char punct, const char *what)
{
    if (cur_more(q) && cur_is(q, punct)) {
        q->i++;
        return true;
    }
    cur_unexpected(q, what);
    return false;
}

/* output = "v" "(" node ["," node] ")" | "i" "(" element ")" */
static bool read_output(cur *q, flat_ana *a)
{
    static const char *const form = "v(node), v(node,node) or i(source) is expected";
    const char *n1, *n2 = NULL;
    const bool v = cur_more(q) && cur_is_word(q, "v"), i = cur_more(q) && cur_is_word(q, "i");
    if (!v && !i) {
        cur_unexpected(q, form);
        return false;
    }
    q->i++;
    if (!expect(q, '(', form))
        return false;
    if (i) {
        if (!read_element(q, "vehl", "a voltage source or an inductor is expected", &a->out_branch))
            return false;
        a->out_name = arena_printf(q->c->mem, "i(%s)", a->out_branch);
        return expect(q, ')', form);
    }
    if (!read_node(q, &a->out[0], &n1))
        return false;
    if (cur_more(q) && cur_is(q, ','))
        q->i++;
    if (cur_more(q) && !cur_is(q, ')') && !read_node(q, &a->out[1], &n2))
        return false;
    a->out_name =
        n2 ? arena_printf(q->c->mem, "v(%s,%s)", n1, n2) : arena_printf(q->c->mem, "v(%s)", n1);
    return expect(q, ')', form);
}

static bool read_input(cur *q, flat_ana *a)
{
    return read_element(q, "vi", "an independent source is expected", &a->source);
}

/* noise = ".noise" output source grid [points] */
static bool read_noise(cur *q, flat_ana *a)
{
    double n = 0;
    if (!read_output(q, a) || !read_input(q, a) || !read_grid_or_table(q, a))
        return false;
    if (cur_more(q) && !at_word(q) && !number(q, &n))
        return false;
    if (!(n >= 0 && n <= MAX_POINTS)) {
        diag_error(q->c->d, last_span(q), "%g points per summary; from 1 to %d are possible", n,
                   MAX_POINTS);
        return false;
    }
    a->summary = (int64_t)n;
    if (a->grid != FLAT_LIST && a->f_from <= 0) {
        diag_error(q->c->d, a->span, "noise starts above 0 Hz");
        return false;
    }
    return true;
}

/* Passes over `word =` if it is at the cursor. */
static bool key(cur *q, const char *word)
{
    if (!cur_at_key(q) || !cur_is_word(q, word))
        return false;
    q->i += 2;
    return true;
}

/* Warns about keywords that a card has twice, under any of their names. Parameters of .sens are a
 * list, which goes on. */
static void check_keys(flat_ctx *c, const net_card *card)
{
    cur q = {c, c->root->b, card, 1}, old = q;
    map seen = {0};
    for (; cur_more(&q); q.i++) {
        const char *word = cur_at_key(&q) ? cur_tok(&q)->text : NULL;
        if (!word || (card->kind == NET_CARD_SENS && !strcmp(word, "param")))
            continue;
        const char *usual = !strcmp(word, "tone")    ? "tones"
                            : !strcmp(word, "nharm") ? "nharms"
                                                     : word;
        const uint64_t name = map_key(str_intern0(c->names, usual));
        old.i = map_get(&seen, name, 0);
        if (old.i)
            flat_warn_twice(c, word, cur_span(&q), cur_span(&old));
        map_set(&seen, name, q.i);
    }
    map_free(&seen);
}

/* Measures up to a keyword. */
static bool read_measures(cur *q, flat_gradient *g)
{
    g->meas = arena_array(q->c->mem, const char *, q->card->n_tok);
    for (; cur_more(q) && !cur_at_key(q); q->i++) {
        if (cur_is(q, ','))
            continue;
        if (cur_tok(q)->kind != NET_T_WORD) {
            cur_unexpected(q, "the name of a measure is expected");
            return false;
        }
        g->meas[g->n_meas++] = cur_tok(q)->text;
    }
    if (!g->n_meas)
        cur_unexpected(q, "the names of measures are expected");
    return g->n_meas > 0;
}

static bool read_parameter(cur *q, flat_gradient *g, map *seen)
{
    flat_target *t = &g->by[g->n_by];
    const diag_span at = cur_span(q);
    if (!flat_read_target(q, t))
        return false;
    const bool twice = map_get(seen, map_key(t->text), 0);
    map_set(seen, map_key(t->text), 1);
    if (twice || t->kind == FLAT_SET_OPTION) {
        diag_error(q->c->d, at,
                   twice ? "'%s' stands here twice" : "there is no derivative by option '%s'",
                   t->text);
        return false;
    }
    g->n_by++;
    return true;
}

static bool read_parameters(cur *q, flat_gradient *g)
{
    map seen = {0};
    bool ok = true;
    while (ok && cur_more(q) && !cur_at_key(q)) {
        if (cur_is(q, ','))
            q->i++;
        else
            ok = read_parameter(q, g, &seen);
    }
    map_free(&seen);
    return ok;
}

/* gradient = ("tran" ["memory" "=" bytes] | "ac" | "noise" | "op" | "dc") measure*
 *            "param" "=" target* */
static bool read_gradient(cur *q, flat_ana *a, flat_ana_kind of)
{
    flat_gradient *g = &a->gradient;
    bool ok;
    g->of = of;
    q->i++;
    g->by = arena_array(q->c->mem, flat_target, q->card->n_tok);
    ok = read_measures(q, g);
    while (ok && cur_more(q)) {
        if (of == FLAT_TRAN && key(q, "memory")) {
            ok = number(q, &g->memory);
            if (ok && !(g->memory > 0 && g->memory < 1e15)) {
                diag_error(q->c->d, last_span(q), "memory=%g: bytes are expected", g->memory);
                return false;
            }
        } else if (key(q, "param")) {
            ok = read_parameters(q, g);
        } else {
            static const char *const word[] = {"param", "memory"};
            const bool tran = of == FLAT_TRAN;
            return no_such_word(q, tran ? "param= or memory= is expected" : "param= is expected",
                                word, 1 + tran);
        }
    }
    if (ok && !g->n_by)
        cur_unexpected(q, "param= and parameters are expected: param=r1 @m1[w] temp");
    return ok && g->n_by > 0;
}

/* sens = ".sens" (output ["dc" | "ac" grid] | gradient) */
static bool read_sens(cur *q, flat_ana *a)
{
    static const struct {
        const char *word;
        flat_ana_kind of;
    } run[] = {{"tran", FLAT_TRAN},
               {"ac", FLAT_AC},
               {"noise", FLAT_NOISE},
               {"op", FLAT_OP},
               {"dc", FLAT_DCSWEEP}};
    for (size_t i = 0; i < VS_COUNT(run); i++)
        if (cur_more(q) && cur_is_word(q, run[i].word))
            return read_gradient(q, a, run[i].of);
    if (at_word(q) && !cur_is_word(q, "v") && !cur_is_word(q, "i")) {
        cur_unexpected(q, "v(node), v(node,node), i(source), or tran, ac, noise, op, dc and the "
                          "names of measures are expected");
        return false;
    }
    if (!read_output(q, a))
        return false;
    if (cur_more(q) && cur_is_word(q, "dc")) {
        q->i++;
    } else if (cur_more(q) && cur_is_word(q, "ac")) {
        q->i++;
        return read_grid(q, a);
    }
    return true;
}

/* pz = ".pz" node node node node ("cur" | "vol") ("pol" | "zer" | "pz") */
static bool read_pz(cur *q, flat_ana *a)
{
    const char *name;
    for (int k = 0; k < 4; k++)
        if (!read_node(q, k < 2 ? &a->in[k] : &a->out[k - 2], &name))
            return false;
    a->voltage = cur_more(q) && cur_is_word(q, "vol");
    if (!a->voltage && !(cur_more(q) && cur_is_word(q, "cur"))) {
        cur_unexpected(
            q, "vol (output voltage per input voltage) or cur (per input current) is expected");
        return false;
    }
    q->i++;
    if (cur_more(q)) {
        a->poles = cur_is_word(q, "pol") || cur_is_word(q, "pz");
        a->zeros = cur_is_word(q, "zer") || cur_is_word(q, "pz");
    }
    if (!a->poles && !a->zeros) {
        cur_unexpected(q, "pol (poles), zer (zeros) or pz (both) is expected");
        return false;
    }
    q->i++;
    if (a->in[0] == a->in[1] || (a->zeros && a->out[0] == a->out[1])) {
        diag_error(q->c->d, a->span, "the %s of .pz is between a node and itself",
                   a->in[0] == a->in[1] ? "input" : "output");
        return false;
    }
    return true;
}

/* sp = ".sp" grid [donoise] */
static bool read_sp(cur *q, flat_ana *a)
{
    static const char *const word[] = {"donoise"};
    double y = 0;
    if (!read_grid(q, a))
        return false;
    if (cur_more(q) && cur_is_word(q, "donoise")) {
        q->i++;
        a->donoise = true;
        if (!cur_more(q) || !cur_is(q, '='))
            return true;
        q->i++;
    } else if (at_word(q)) {
        return no_such_word(q, "donoise is expected", word, 1);
    }
    if (cur_more(q)) {
        if (!number(q, &y))
            return false;
        a->donoise = y != 0;
    }
    return true;
}

/* disto = ".disto" grid [f2 over f1] */
static bool read_disto(cur *q, flat_ana *a)
{
    if (!read_grid(q, a))
        return false;
    if (!cur_more(q))
        return true;
    if (!number(q, &a->ratio))
        return false;
    if (a->ratio > 0 && a->ratio <= 1)
        return true;
    diag_error(q->c->d, last_span(q), "f2 over f1 is %g: a ratio above 0, up to 1 is expected",
               a->ratio);
    return false;
}

/* dcmatch = ".dcmatch" output ["threshold" "=" share]
 * acmatch = ".acmatch" output [grid] ["threshold" "=" share] */
static bool read_match(cur *q, flat_ana *a)
{
    a->threshold = 0.01;
    if (!read_output(q, a))
        return false;
    static const char *const word[] = {"threshold"};
    if (a->kind == FLAT_ACMATCH && cur_more(q) && !cur_at_key(q) && !read_grid(q, a))
        return false;
    while (cur_more(q)) {
        if (!key(q, "threshold"))
            return no_such_word(q, "threshold= is expected", word, 1);
        if (!number(q, &a->threshold))
            return false;
        if (!(a->threshold >= 0 && a->threshold <= 1)) {
            diag_error(q->c->d, last_span(q),
                       "threshold=%g: a share from 0 to 1 of the variance is expected",
                       a->threshold);
            return false;
        }
    }
    return true;
}

/* -- periodic analyses and loop gain: keyword = values -- */

/* One number after a keyword, a whole one from lo to hi. */
static bool whole(cur *q, const char *what, double lo, double hi, double *y)
{
    if (!cur_more(q)) {
        cur_unexpected(q,
                       arena_printf(q->c->mem, "%s from %.9g to %.9g is expected", what, lo, hi));
        return false;
    }
    if (!number(q, y))
        return false;
    if (*y >= lo && *y <= hi && *y == floor(*y))
        return true;
    diag_error(q->c->d, last_span(q), "%g: %s from %.9g to %.9g is expected", *y, what, lo, hi);
    return false;
}

enum { MAX_HARMONICS = 2000 };

/* Numbers up to the next keyword or the end, with their places. */
typedef struct list {
    double v[FLAT_TONES];
    diag_span at[FLAT_TONES];
    int32_t n;
} list;

/* what: of which at least one is expected; NULL: there may be none */
static bool numbers(cur *q, const char *what, list *l)
{
    l->n = 0;
    while (cur_more(q) && !cur_at_key(q)) {
        if (cur_is(q, ',')) {
            q->i++;
            continue;
        }
        if (cur_is_word(q, "uic"))
            break;
        if (l->n == FLAT_TONES) {
            diag_error(q->c->d, cur_span(q), "more than %d values", FLAT_TONES);
            return false;
        }
        if (!number(q, &l->v[l->n]))
            return false;
        l->at[l->n++] = last_span(q);
    }
    if (what && !l->n)
        cur_unexpected(q, what);
    return !what || l->n > 0;
}

static bool check_tone(cur *q, const list *tone, int32_t t)
{
    const double f = tone->v[t];
    if (!(f > 0 && f < 1e18)) {
        diag_error(q->c->d, tone->at[t], "%.9g Hz: a frequency above 0 is expected", f);
        return false;
    }
    for (int32_t k = 0; k < t; k++)
        if (tone->v[k] == f) {
            diag_error(q->c->d, tone->at[t],
                       "%.9g Hz is a tone already: tones are the frequencies that combine, each "
                       "stands here once",
                       f);
            return false;
        }
    return true;
}

/* Harmonics (k_1, k_2, ...), both signs, of the box that h has, and of products up to intmod. */
static double count_harmonics(const flat_hb *h)
{
    double of[MAX_HARMONICS + 1] = {1}, all = 1; /* of each order, of the tones so far */
    for (int32_t t = 0; t < h->n_tone; t++) {
        double sum[MAX_HARMONICS + 2] = {0}; /* of those below */
        all *= 2.0 * h->harm[t] + 1;
        for (int32_t s = 0; s <= h->intmod; s++)
            sum[s + 1] = sum[s] + of[s];
        for (int32_t s = 0; s <= h->intmod; s++)
            of[s] += 2 * (sum[s] - sum[s > h->harm[t] ? s - h->harm[t] : 0]);
    }
    double kept = 0;
    for (int32_t s = 0; s <= h->intmod; s++)
        kept += of[s];
    return h->intmod > 0 ? kept : all;
}

static bool check_tones(cur *q, flat_ana *a, const list *tone, const list *harm)
{
    flat_hb *h = &a->hb;
    h->n_tone = tone->n;
    memcpy(h->tone, tone->v, sizeof h->tone);
    if (!h->n_tone) {
        diag_error(q->c->d, a->span, "the frequency is missing: .%s tone%s=1e9 nharms=10",
                   a->hb.word, strcmp(a->hb.word, "hb") ? "" : "s");
        return false;
    }
    if (harm->n > 1 && harm->n != h->n_tone) {
        diag_error(q->c->d, harm->at[harm->n - 1], "%d numbers of harmonics for %d tone%s",
                   (int)harm->n, (int)h->n_tone, h->n_tone > 1 ? "s" : "");
        return false;
    }
    for (int32_t t = 0; t < h->n_tone; t++) {
        const int32_t own = harm->n > t ? t : 0;
        const double k = harm->n ? harm->v[own] : h->n_tone > 1 ? 7 : 10;
        if (!check_tone(q, tone, t))
            return false;
        if (!(k >= 1 && k <= MAX_HARMONICS && k == floor(k))) {
            diag_error(q->c->d, harm->at[own],
                       "%g harmonics: a whole number from 1 to %d is expected", k, MAX_HARMONICS);
            return false;
        }
        h->harm[t] = (int32_t)k;
    }
    const double all = count_harmonics(h);
    if (all <= 50000)
        return true;
    diag_error(q->c->d, a->span,
               "%.0f harmonics in all, more than 50000: smaller nharms= leave fewer, and so does "
               "%s intmodmax=",
               all, h->intmod > 0 ? "a smaller" : "an");
    return false;
}

/* probenode = node ["," node] ["," start] */
static bool read_probe(cur *q, flat_ana *a)
{
    const char *n1, *n2 = NULL;
    double skipped;
    a->out[1] = 0;
    if (!read_node(q, &a->out[0], &n1))
        return false;
    const diag_span at = last_span(q);
    if (cur_more(q) && cur_is(q, ',')) {
        q->i++;
        if (!read_node(q, &a->out[1], &n2))
            return false;
    }
    if (a->out[0] == a->out[1]) {
        diag_error(q->c->d, at, "the voltage from '%s' to %s does not move: %s", n1,
                   n2 ? "itself" : "ground", "a node that oscillates is expected");
        return false;
    }
    if (cur_more(q) && cur_is(q, ',')) { /* HSPICE's first guess of the amplitude */
        q->i++;
        if (!number(q, &skipped))
            return false;
    }
    a->out_name = n1;
    return true;
}

/* hb = ".hb" f1 [f2 ...] | tones = f1 ... | nharms = n1 ... | intmodmax = n | tstab = t | uic
 * hbosc = the same with one tone and probenode =  */
static bool read_hb(cur *q, flat_ana *a, bool osc)
{
    static const char *const word[] = {"tones", "tone",   "nharms", "intmodmax",
                                       "tstab", "points", "uic",    "probenode"};
    const size_t n_word = VS_COUNT(word) - !osc;
    list tone = {.n = 0}, harm = {.n = 0};
    double y;
    diag_span tstab = a->span;
    bool ok = numbers(q, NULL, &tone);
    const bool first = tone.n > 0;
    const diag_span first_at = tone.at[0];
    while (ok && cur_more(q)) {
        const diag_span at = cur_span(q);
        if (key(q, "tones") || key(q, "tone")) {
            if (first)
                flat_warn_twice(q->c, "tones", at, first_at);
            ok = numbers(q, "a frequency is expected", &tone);
        } else if (key(q, "nharms") || key(q, "nharm"))
            ok = numbers(q, "a number of harmonics is expected", &harm);
        else if (key(q, "intmodmax"))
            ok = whole(q, "an order of intermodulation", 1, MAX_HARMONICS, &y) &&
                 (a->hb.intmod = (int32_t)y, true);
        else if (key(q, "tstab"))
            ok = number(q, &a->hb.tstab), tstab = last_span(q);
        else if (key(q, "points"))
            ok = whole(q, "a number of points", 2, 1e7, &y) && (a->hb.points = (int64_t)y, true);
        else if (osc && key(q, "probenode"))
            ok = read_probe(q, a);
        else if (cur_is_word(q, "uic"))
            a->uic = true, q->i++;
        else
            return no_such_word(q,
                                osc ? "tone=, nharms=, probenode=, tstab=, points= or uic is "
                                      "expected"
                                    : "tones=, nharms=, intmodmax=, tstab=, points= or uic is "
                                      "expected",
                                word, n_word);
    }
    if (ok && osc && !a->out_name) {
        diag_error(q->c->d, a->span, "the oscillating node is missing: probenode=NODE");
        return false;
    }
    if (ok && osc && tone.n > 1) {
        diag_error(q->c->d, tone.at[1], "an oscillator has one tone");
        return false;
    }
    if (ok && !(a->hb.tstab >= 0 && a->hb.tstab < 1e18)) {
        diag_error(q->c->d, tstab, "tstab=%g: a time of 0 or more is expected", a->hb.tstab);
        return false;
    }
    ok = ok && check_tones(q, a, &tone, &harm);
    if (ok && osc && a->hb.tstab == 0)
        a->hb.tstab = 100 / a->hb.tone[0];
    return ok;
}

/* One of n words; its number, -1 with a message. */
static int one_of(cur *q, const char *const *word, size_t n, const char *what)
{
    size_t k = 0;
    while (k < n && cur_more(q) && !cur_is_word(q, word[k]))
        k++;
    if (!cur_more(q) || k == n) {
        (void)no_such_word(q, what, word, n);
        return -1;
    }
    q->i++;
    return (int)k;
}

/* What may follow the numbers of .pss. */
static bool read_pss_words(cur *q, flat_ana *a)
{
    static const char *const method[] = {"hb", "shooting"},
                             *const rule[] = {"sdirk4", "trap", "gear", "euler"},
                             *const start[] = {"tran", "hb"};
    while (cur_more(q)) {
        int k = 0;
        if (key(q, "method")) {
            k = one_of(q, method, VS_COUNT(method), "hb or shooting is expected");
            a->hb.shooting = k == 1;
        } else if (key(q, "integration")) {
            k = one_of(q, rule, VS_COUNT(rule), "sdirk4, trap, gear or euler is expected");
            a->hb.rule = k < 0 ? 0 : (unsigned)k;
        } else if (key(q, "start")) {
            k = one_of(q, start, VS_COUNT(start), "tran or hb is expected");
            a->hb.after_hb = k == 1;
        } else if (key(q, "halvings")) {
            double n = 0;
            k = whole(q, "a number of halvings", 0, 10, &n) ? 0 : -1;
            a->hb.halvings = (int32_t)n;
        } else if (cur_is_word(q, "uic")) {
            a->uic = true;
            q->i++;
        } else {
            static const char *const word[] = {"method", "integration", "start", "halvings", "uic"};
            return no_such_word(q, "method=, integration=, start=, halvings= or uic is expected",
                                word, VS_COUNT(word));
        }
        if (k < 0)
            return false;
    }
    return true;
}

/* A node that takes part in an oscillation: of the first inductor, else of the first transistor
 * (a gate or base last: others drive them). 0: none. */
static int32_t oscillating_node(const flat_ctx *c)
{
    static const char *const letters[] = {"l", "mjz", "q"};
    for (size_t w = 0; w < VS_COUNT(letters); w++)
        for (size_t i = 0; i < vec_len(c->f->inst); i++) {
            const flat_inst *in = &c->f->inst[i];
            for (int32_t k = 0; strchr(letters[w], in->letter) && k < 2 && k < in->n_node; k++)
                if (in->node[k] > 0)
                    return in->node[k];
        }
    return 0;
}

/* The node of .pss. In ngspice a number that names no node makes one that nothing is connected to,
 * without effect; decks of its distribution do so. */
static bool read_oscillating_node(cur *q, int32_t *node, const char **name)
{
    flat_ctx *c = q->c;
    const net_tok *t = cur_more(q) ? cur_tok(q) : NULL;
    flat_fill_maps(c);
    if (!t || t->kind != NET_T_WORD || t->text[strspn(t->text, "0123456789")] ||
        map_get(&c->node_of, map_key(t->text), -1) >= 0 || !oscillating_node(c))
        return read_node(q, node, name);
    *node = oscillating_node(c);
    *name = c->f->node[*node];
    diag_warning(c->d, cur_span(q), "no node '%s': the oscillation is looked for at '%s'", t->text,
                 *name);
    q->i++;
    return true;
}

/* pss = ".pss" frequency tstab node points harmonics [iterations [coefficient]] [uic]
 *       [method = hb | shooting] [integration = sdirk4 | trap | gear | euler] [halvings = n]
 *       [start = tran | hb] */
static bool read_pss(cur *q, flat_ana *a)
{
    static const char *const form =
        ".pss frequency tstab node points harmonics [iterations [coefficient]] [uic] "
        "[method=shooting] is expected";
    double points, skipped;
    const char *name;
    list tone = {.n = 1}, harm = {.n = 1};
    if (!cur_more(q)) {
        diag_error(q->c->d, a->span, "%s", form);
        return false;
    }
    if (!number(q, &tone.v[0]))
        return false;
    tone.at[0] = last_span(q);
    if (!cur_more(q)) {
        diag_error(q->c->d, a->span, "%s", form);
        return false;
    }
    if (!number(q, &a->hb.tstab))
        return false;
    const diag_span tstab = last_span(q);
    if (!read_oscillating_node(q, &a->out[0], &name) ||
        !whole(q, "a number of points", 2, 1e7, &points) ||
        !whole(q, "a number of harmonics", 1, MAX_HARMONICS, &harm.v[0]))
        return false;
    harm.at[0] = last_span(q);
    for (int k = 0; k < 2 && cur_more(q) && !cur_at_key(q) && !at_word(q); k++)
        if (!number(q, &skipped))
            return false;
    a->hb.halvings = -1;
    if (!read_pss_words(q, a))
        return false;
    if (a->hb.after_hb && !a->hb.shooting) {
        diag_error(q->c->d, a->span,
                   "start=hb needs method=shooting, which begins from that orbit");
        return false;
    }
    a->out_name = name;
    a->hb.points = (int64_t)points;
    if (!(a->hb.tstab >= 0 && a->hb.tstab < 1e18)) {
        diag_error(q->c->d, tstab, "tstab is %g: a time of 0 or more is expected", a->hb.tstab);
        return false;
    }
    return check_tones(q, a, &tone, &harm);
}

/* "method" "=" has been read: how small signals are solved. */
static bool read_small_method(cur *q, flat_ana *a)
{
    static const char *const method[] = {"hb", "shooting"};
    const int k = one_of(q, method, VS_COUNT(method), "hb or shooting is expected");
    a->hb.small = k == 1 ? FLAT_BY_SHOOTING : FLAT_BY_HB;
    return k >= 0;
}

/* hbac = ".hbac" grid [sidebands = n] [method = hb | shooting] */
static bool read_hbac(cur *q, flat_ana *a)
{
    static const char *const word[] = {"sidebands", "method"};
    double y = 1;
    if (!read_grid(q, a))
        return false;
    while (cur_more(q)) {
        bool ok;
        if (key(q, "sidebands"))
            ok = whole(q, "a number of sidebands", 0, MAX_HARMONICS, &y);
        else if (key(q, "method"))
            ok = read_small_method(q, a);
        else
            ok = no_such_word(q, "sidebands= or method= is expected", word, VS_COUNT(word));
        if (!ok)
            return false;
    }
    a->hb.most = (int32_t)y;
    return true;
}

/* hbxf = ".hbxf" output grid [sidebands = n] [sideband = k] [method = hb | shooting] */
static bool read_hbxf(cur *q, flat_ana *a)
{
    static const char *const word[] = {"sidebands", "sideband", "method"};
    double most = 1, y = 0;
    if (!read_output(q, a) || !read_grid(q, a))
        return false;
    while (cur_more(q)) {
        bool ok;
        if (key(q, "sidebands"))
            ok = whole(q, "a number of sidebands", 0, MAX_HARMONICS, &most);
        else if (key(q, "sideband"))
            ok = whole(q, "a sideband", -MAX_HARMONICS, MAX_HARMONICS, &y);
        else if (key(q, "method"))
            ok = read_small_method(q, a);
        else
            ok = no_such_word(q, "sidebands=, sideband= or method= is expected", word,
                              VS_COUNT(word));
        if (!ok)
            return false;
    }
    a->hb.most = (int32_t)most;
    a->hb.sideband = (int32_t)y;
    return true;
}

/* ("rise" | "fall") = n behind cross = level */
static bool read_edge(cur *q, flat_ana *a)
{
    double n = 1;
    a->hb.edge = 1;
    if (!cur_more(q))
        return true;
    const int sign = key(q, "rise") ? 1 : key(q, "fall") ? -1 : 0;
    if (sign && !whole(q, "the number of an edge in the period", 1, 1e6, &n))
        return false;
    a->hb.edge = sign < 0 ? -(int32_t)n : (int32_t)n;
    return true;
}

/* What may follow the grid of .hbnoise: sideband, method, and one of modulated, strobe, cross. */
static bool read_noise_form(cur *q, flat_ana *a, double *sideband)
{
    while (cur_more(q)) {
        const diag_span at = cur_span(q);
        const bool given = a->hb.modulated || a->hb.sampled != FLAT_UNSAMPLED;
        bool form = true, ok = true;
        if (key(q, "sideband")) {
            form = false;
            ok = whole(q, "a sideband", -MAX_HARMONICS, MAX_HARMONICS, sideband);
        } else if (cur_is_word(q, "modulated")) {
            a->hb.modulated = true;
            q->i++;
        } else if (key(q, "strobe")) {
            a->hb.sampled = FLAT_STROBE;
            ok = number(q, &a->hb.at);
        } else if (key(q, "cross")) {
            a->hb.sampled = FLAT_CROSS;
            ok = number(q, &a->hb.at) && read_edge(q, a);
        } else if (key(q, "method")) {
            form = false;
            ok = read_small_method(q, a);
        } else {
            static const char *const word[] = {"sideband", "modulated", "strobe", "cross",
                                               "method"};
            return no_such_word(q, "sideband=, modulated, strobe=, cross= or method= is expected",
                                word, VS_COUNT(word));
        }
        if (!ok)
            return false;
        if (form && given) {
            diag_error(q->c->d, at, "one of modulated, strobe= and cross= is possible");
            return false;
        }
    }
    return true;
}

/* hbnoise = ".hbnoise" output source grid [points] [sideband = k]
 *           [modulated | strobe = t | cross = level [(rise | fall) = n]] [method = hb | shooting]
 * phasenoise = ".phasenoise" output grid [points] [sideband = k] */
static bool read_hbnoise(cur *q, flat_ana *a, bool phase)
{
    double y = phase ? 1 : 0, n = 0;
    if (!read_output(q, a) || (!phase && !read_input(q, a)) || !read_grid(q, a))
        return false;
    if (cur_more(q) && !cur_at_key(q) && !at_word(q) &&
        !whole(q, "a number of points per summary", 0, MAX_POINTS, &n))
        return false;
    if (!phase && cur_more(q) && !read_noise_form(q, a, &y))
        return false;
    while (phase && cur_more(q)) {
        static const char *const word[] = {"sideband"};
        if (!key(q, "sideband"))
            return no_such_word(q, "sideband= is expected", word, 1);
        if (!whole(q, "a harmonic", 1, MAX_HARMONICS, &y))
            return false;
    }
    a->summary = (int64_t)n;
    a->hb.sideband = (int32_t)y;
    if (a->f_from <= 0) {
        diag_error(q->c->d, a->span, "noise starts above 0 Hz");
        return false;
    }
    return true;
}

/* lstb = ".lstb" [mode = single | diff | comm] vsource = v1 [, v2] [grid]; grid: that of .ac */
static bool read_lstb(cur *q, flat_ana *a)
{
    static const char *const mode[] = {"single", "diff", "comm"},
                             *const what =
                                 "a voltage source of 0 V in the loop is expected: vsource=VPROBE";
    while (cur_more(q)) {
        if (key(q, "mode")) {
            size_t k = 0;
            while (k < VS_COUNT(mode) && cur_more(q) && !cur_is_word(q, mode[k]))
                k++;
            if (!cur_more(q) || k == VS_COUNT(mode))
                return no_such_word(q, "single, diff or comm is expected", mode, VS_COUNT(mode));
            a->hb.mode = k;
            q->i++;
        } else if (key(q, "vsource")) {
            if (!read_element(q, "v", what, &a->hb.source[0]))
                return false;
            if (cur_more(q) && cur_is(q, ','))
                q->i++;
            if (a->hb.mode != FLAT_LSTB_SINGLE &&
                !read_element(q, "v", "the second source of the pair is expected",
                              &a->hb.source[1]))
                return false;
        } else if (cur_at_key(q)) {
            static const char *const word[] = {"mode", "vsource"};
            return no_such_word(q, "vsource= or mode= is expected", word, VS_COUNT(word));
        } else if (a->has_freq) {
            cur_unexpected(q, "frequencies stand here already: nothing more is expected");
            return false;
        } else if (!read_grid(q, a)) {
            return false;
        }
    }
    if (a->hb.source[0] && (a->hb.mode == FLAT_LSTB_SINGLE || a->hb.source[1]))
        return true;
    diag_error(q->c->d, a->span, "%s", what);
    return false;
}

/* The numbers behind harms=, of ports one after the other; in brackets several of one port. */
static bool read_harmonics(cur *q, flat_hb *h, const char *const *word, size_t n_word,
                           const char *what)
{
    int32_t *harm = arena_array(q->c->mem, int32_t, q->card->n_tok),
            *of = arena_array(q->c->mem, int32_t, q->card->n_tok), n_port = 0;
    bool several = false;
    double y;
    h->n_port_harm = 0;
    while (cur_more(q) && !cur_is_word(q, "donoise") && !cur_at_key(q)) {
        if (cur_is(q, ',')) {
            q->i++;
            continue;
        }
        if (cur_is(q, '(') && !several) {
            several = true;
            n_port++;
            q->i++;
            continue;
        }
        if (cur_is(q, ')') && several && h->n_port_harm && of[h->n_port_harm - 1] == n_port) {
            several = false;
            q->i++;
            continue;
        }
        if (h->n_port_harm && at_word(q))
            return no_such_word(q, what, word, n_word);
        if (!whole(q, "the harmonic of a port", -MAX_HARMONICS, MAX_HARMONICS, &y))
            return false;
        n_port += !several;
        for (int32_t i = h->n_port_harm; i-- > 0 && of[i] == n_port;)
            if (harm[i] == (int32_t)y) {
                diag_error(q->c->d, last_span(q), "port %d has harmonic %d already", (int)n_port,
                           (int)y);
                return false;
            }
        of[h->n_port_harm] = n_port;
        harm[h->n_port_harm++] = (int32_t)y;
    }
    if (several)
        cur_unexpected(q, "a bracket that ends the harmonics of a port is expected");
    else if (!h->n_port_harm)
        cur_unexpected(q, "the harmonics of the ports are expected: harms=1 0");
    h->port_harm = harm;
    h->port_of = of;
    return !several && h->n_port_harm;
}

/* hbsp = ".hbsp" grid ["harms" "=" (h | "(" h+ ")")+] ["donoise"] ["method" "=" (hb | shooting)] */
static bool read_hbsp(cur *q, flat_ana *a)
{
    static const char *const word[] = {"harms", "donoise", "method"},
                             *const what = "harms=, donoise or method= is expected";
    bool ok = read_grid(q, a);
    while (ok && cur_more(q)) {
        if (key(q, "harms")) {
            ok = read_harmonics(q, &a->hb, word, VS_COUNT(word), what);
        } else if (key(q, "method")) {
            ok = read_small_method(q, a);
        } else if (cur_is_word(q, "donoise")) {
            a->donoise = true;
            q->i++;
        } else {
            ok = no_such_word(q, what, word, VS_COUNT(word));
        }
    }
    return ok;
}

static bool read_periodic(cur *q, flat_ana *a)
{
    const char *word = q->card->name;
    a->hb.word = word;
    switch (a->kind) {
    case FLAT_HB:
        return !strcmp(word, "pss") ? read_pss(q, a) : read_hb(q, a, !strcmp(word, "hbosc"));
    case FLAT_HBAC: return read_hbac(q, a);
    case FLAT_HBNOISE: return read_hbnoise(q, a, !strcmp(word, "phasenoise"));
    case FLAT_HBSP: return read_hbsp(q, a);
    case FLAT_HBXF: return read_hbxf(q, a);
    default: return read_lstb(q, a);
    }
}

void flat_small_card(flat_ctx *c, const net_card *card)
{
    cur q = {c, c->root->b, card, 1};
    flat_ana a = {.span = net_card_span(card)};
    bool ok = false;
    check_keys(c, card);
    switch (card->kind) {
    case NET_CARD_AC: a.kind = FLAT_AC, ok = read_grid_or_table(&q, &a); break;
    case NET_CARD_NOISE: a.kind = FLAT_NOISE, ok = read_noise(&q, &a); break;
    case NET_CARD_TF: a.kind = FLAT_TF, ok = read_output(&q, &a) && read_input(&q, &a); break;
    case NET_CARD_SENS: a.kind = FLAT_SENS, ok = read_sens(&q, &a); break;
    case NET_CARD_PZ: a.kind = FLAT_PZ, ok = read_pz(&q, &a); break;
    case NET_CARD_SP: a.kind = FLAT_SP, ok = read_sp(&q, &a); break;
    case NET_CARD_HB: a.kind = FLAT_HB, ok = read_periodic(&q, &a); break;
    case NET_CARD_HBAC: a.kind = FLAT_HBAC, ok = read_periodic(&q, &a); break;
    case NET_CARD_HBNOISE: a.kind = FLAT_HBNOISE, ok = read_periodic(&q, &a); break;
    case NET_CARD_HBSP: a.kind = FLAT_HBSP, ok = read_periodic(&q, &a); break;
    case NET_CARD_HBXF: a.kind = FLAT_HBXF, ok = read_periodic(&q, &a); break;
    case NET_CARD_LSTB: a.kind = FLAT_LSTB, ok = read_periodic(&q, &a); break;
    case NET_CARD_ACXF: a.kind = FLAT_ACXF, ok = read_output(&q, &a) && read_grid(&q, &a); break;
    case NET_CARD_DCXF: a.kind = FLAT_DCXF, ok = read_output(&q, &a); break;
    case NET_CARD_DISTO: a.kind = FLAT_DISTO, ok = read_disto(&q, &a); break;
    case NET_CARD_DCMATCH: a.kind = FLAT_DCMATCH, ok = read_match(&q, &a); break;
    case NET_CARD_ACMATCH: a.kind = FLAT_ACMATCH, ok = read_match(&q, &a); break;
    default: break;
    }
    if (ok && cur_more(&q)) {
        cur_unexpected(&q, "nothing more is expected");
        ok = false;
    }
    if (ok)
        vec_push(c->f->ana, a);
}

#define MAX_NOISE 1e9 /* thermal noise of a resistor would be kilovolts */

/* trannoise = ".trannoise" [fmax = f] [scale = x] [seed = n] [method = mc] */
void flat_trannoise_card(flat_ctx *c, const net_card *card)
{
    cur q = {c, c->root->b, card, 1};
    flat_trannoise n = {.on = true, .scale = 1, .span = net_card_span(card)};
    double seed = 0;
    bool ok = true;
    check_keys(c, card);
    while (ok && cur_more(&q)) {
        if (key(&q, "fmax")) {
            ok = number(&q, &n.fmax);
            if (ok && !(n.fmax > 0 && n.fmax < 1e18)) {
                diag_error(c->d, last_span(&q), "fmax=%g: a frequency above 0 is expected", n.fmax);
                ok = false;
            }
        } else if (key(&q, "scale")) {
            ok = number(&q, &n.scale);
            if (ok && !(n.scale >= 0 && n.scale <= MAX_NOISE)) {
                diag_error(c->d, last_span(&q), "scale=%g: a factor from 0 to %g is expected",
                           n.scale, MAX_NOISE);
                ok = false;
            }
        } else if (key(&q, "seed")) {
            ok = whole(&q, "a seed", 0, 9e15, &seed);
            n.seed_given = true;
            n.seed = ok ? (uint64_t)seed : 0;
        } else if (key(&q, "method") && cur_is_word(&q, "mc")) {
            q.i++;
        } else {
            static const char *const word[] = {"fmax", "scale", "seed", "method"};
            ok = no_such_word(&q, "fmax=, scale=, seed= or method=mc is expected", word,
                              VS_COUNT(word));
        }
    }
    if (ok)
        c->f->trannoise = n;
}
