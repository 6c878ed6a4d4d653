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

/* A node by the name that stands here. */
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
    if (!read_output(q, a) || !read_input(q, a) || !read_grid(q, a))
        return false;
    if (cur_more(q) && !number(q, &n))
        return false;
    if (!(n >= 0 && n <= MAX_POINTS)) {
        diag_error(q->c->d, last_span(q), "%g points per summary; from 1 to %d are possible", n,
                   MAX_POINTS);
        return false;
    }
    a->summary = (int64_t)n;
    if (a->f_from <= 0) {
        diag_error(q->c->d, a->span, "noise starts above 0 Hz");
        return false;
    }
    return true;
}

/* sens = ".sens" output ["dc" | "ac" grid] */
static bool read_sens(cur *q, flat_ana *a)
{
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
    double y = 0;
    if (!read_grid(q, a))
        return false;
    if (cur_more(q) && cur_is_word(q, "donoise")) {
        q->i++;
        a->donoise = true;
        if (!cur_more(q) || !cur_is(q, '='))
            return true;
        q->i++;
    }
    if (cur_more(q)) {
        if (!number(q, &y))
            return false;
        a->donoise = y != 0;
    }
    return true;
}

void flat_small_card(flat_ctx *c, const net_card *card)
{
    cur q = {c, c->root->b, card, 1};
    flat_ana a = {.span = net_card_span(card)};
    bool ok = false;
    switch (card->kind) {
    case NET_CARD_AC: a.kind = FLAT_AC, ok = read_grid(&q, &a); break;
    case NET_CARD_NOISE: a.kind = FLAT_NOISE, ok = read_noise(&q, &a); break;
    case NET_CARD_TF: a.kind = FLAT_TF, ok = read_output(&q, &a) && read_input(&q, &a); break;
    case NET_CARD_SENS: a.kind = FLAT_SENS, ok = read_sens(&q, &a); break;
    case NET_CARD_PZ: a.kind = FLAT_PZ, ok = read_pz(&q, &a); break;
    case NET_CARD_SP: a.kind = FLAT_SP, ok = read_sp(&q, &a); break;
    default: break;
    }
    if (ok && cur_more(&q)) {
        cur_unexpected(&q, "nothing more is expected");
        ok = false;
    }
    if (ok)
        vec_push(c->f->ana, a);
}
