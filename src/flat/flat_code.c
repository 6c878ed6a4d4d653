/* flat_code.c - A elements (XSPICE code models) and lists in square brackets.
 * Source: ngspice manual, chapter "Mixed-mode and behavioral modeling with XSPICE", sections on the
 * A element and on the .model card. A bracket that closes one of the same word belongs to a name:
 * "bus[3]" is a node. */
#include <stdio.h>
#include <string.h>

#include "flat_priv.h"

/* -- tokens -- */

typedef struct splitter {
    flat_ctx *c;
    const net_card *card;
    net_tok *tok; /* vec */
    bool element;
    int depth; /* of brackets */
} splitter;

static const char *text_at(const splitter *x, uint32_t off)
{
    return x->c->d->file[x->card->file].text + off;
}

static void push_part(splitter *x, net_tok_kind kind, uint32_t from, uint32_t to, bool glued)
{
    net_tok t = {.off = from, .len = to - from, .kind = (uint8_t)kind, .glued = glued};
    if (kind == NET_T_WORD)
        t.text = str_intern_lower(x->c->names, text_at(x, from), to - from);
    else
        t.punct = *text_at(x, from);
    if (kind == NET_T_PUNCT)
        x->depth += t.punct == '[' ? 1 : t.punct == ']' ? -1 : 0;
    vec_push(x->tok, t);
}

/* The end of a word that begins at `from`: the first bracket that closes none of the word's own; of
 * a %type any bracket. */
static uint32_t part_end(const splitter *x, uint32_t from, uint32_t end)
{
    const bool type = x->element && *text_at(x, from) == '%';
    int depth = 0;
    for (uint32_t i = from; i < end; i++) {
        const char ch = *text_at(x, i);
        if ((type && ch == '[') || (ch == ']' && !depth--))
            return i;
        depth += ch == '[';
    }
    return end;
}

static void split(splitter *x, const net_tok *t)
{
    const uint32_t end = t->off + t->len;
    for (uint32_t i = t->off; i < end;) {
        const char ch = *text_at(x, i);
        const bool mark = ch == '[' || ch == ']' || (x->element && ch == '~');
        const uint32_t to = mark ? i + 1 : part_end(x, i, end);
        push_part(x, mark ? NET_T_PUNCT : NET_T_WORD, i, to, i > t->off || t->glued);
        i = to;
    }
}

static bool has_bracket(const net_card *card, bool element)
{
    for (int32_t i = 1; i < card->n_tok; i++) {
        const net_tok *t = &card->tok[i];
        if (t->kind == NET_T_WORD &&
            (element || (t->text[0] == '[' && card->tok[i - 1].punct == '=')))
            return true;
    }
    return false;
}

const net_card *flat_split_brackets(flat_ctx *c, const net_card *card, bool element)
{
    if (!has_bracket(card, element))
        return card;
    splitter x = {.c = c, .card = card, .element = element};
    vec_push(x.tok, card->tok[0]);
    for (int32_t i = 1; i < card->n_tok; i++) {
        const net_tok *t = &card->tok[i];
        const bool starts =
            t->kind == NET_T_WORD && t->text[0] == '[' && card->tok[i - 1].punct == '=';
        if (t->kind == NET_T_WORD && (element || starts || x.depth > 0))
            split(&x, t);
        else
            vec_push(x.tok, *t);
    }
    net_card *copy = arena_new(c->mem, net_card);
    *copy = *card;
    copy->n_tok = (int32_t)vec_len(x.tok);
    copy->tok = vec_freeze(c->mem, x.tok);
    return copy;
}

/* -- lists -- */

bool flat_read_list(cur *q, const char *name, keyval **kv)
{
    const diag_span open = cur_span(q);
    q->i++;
    for (int n = 0;; n++) {
        while (cur_is(q, ','))
            q->i++;
        if (!cur_more(q) || cur_at_key(q) || cur_is(q, ')')) {
            diag_error(q->c->d, open, "no closing bracket ']'");
            return false;
        }
        if (cur_is(q, ']')) {
            q->i++;
            if (!n)
                diag_error(q->c->d, open, "a list has values: %s=[1 2 3]", name);
            return n > 0;
        }
        keyval k = {str_intern0(q->c->names, arena_printf(&q->c->scratch, "%s[%d]", name, n)),
                    cur_span(q),
                    {0}};
        k.v = cur_value(q);
        if (!k.v.e)
            return false;
        vec_push(*kv, k);
    }
}

/* -- A elements -- */

typedef struct areader {
    cur *q;
    code_card *a;
    bool vector, by_name; /* within brackets; %vnam: names of sources follow */
} areader;

static void push_conn(areader *r, flat_conn_kind kind, int32_t index, const char *type)
{
    vec_push(r->a->conn, (flat_conn){kind, index, type, cur_span(r->q)});
    r->q->i++;
}

static bool take_bracket(areader *r, char bracket)
{
    const bool open = bracket == '[';
    if (open == r->vector) {
        diag_error(r->q->c->d, cur_span(r->q),
                   open ? "a vector of connections within another one"
                        : "']' without '[': a vector of connections is [a b c]");
        return false;
    }
    r->vector = open;
    r->by_name &= open;
    push_conn(r, open ? FLAT_CONN_OPEN : FLAT_CONN_CLOSE, 0, NULL);
    return true;
}

/* "%vd", or "%" and "vd" */
static bool take_type(areader *r)
{
    const char *type = cur_tok(r->q)->text + 1;
    if (!*type) {
        if (r->q->i + 2 >= r->q->card->n_tok || r->q->card->tok[r->q->i + 1].kind != NET_T_WORD) {
            diag_error(r->q->c->d, cur_span(r->q),
                       "the type of a port stands behind '%%': %%v %%vd %%i %%id %%vnam %%g %%gd "
                       "%%h %%hd");
            return false;
        }
        r->q->i++;
        type = cur_tok(r->q)->text;
    }
    r->by_name = !strcmp(type, "vnam");
    push_conn(r, FLAT_CONN_TYPE, 0, type);
    return true;
}

static void take_name(areader *r)
{
    const net_tok *t = cur_tok(r->q);
    if (!strcmp(t->text, "null")) {
        push_conn(r, FLAT_CONN_NULL, 0, NULL);
    } else if (r->by_name) {
        vec_push(r->a->ref, (keyval){t->text, cur_span(r->q), {0}});
        push_conn(r, FLAT_CONN_REF, (int32_t)vec_len(r->a->ref) - 1, NULL);
    } else {
        vec_push(r->a->slot, flat_slot(r->q->c, r->q->b, t->text));
        vec_push(r->a->span, cur_span(r->q));
        push_conn(r, FLAT_CONN_NODE, (int32_t)vec_len(r->a->slot) - 1, NULL);
    }
    r->by_name &= r->vector;
}

/* connection = ["%" type] (["~"] name | "[" (["%" type] ["~"] name)* "]" | "null") */
static bool take_connection(areader *r)
{
    const net_tok *t = cur_tok(r->q);
    if (t->punct == '[' || t->punct == ']')
        return take_bracket(r, t->punct);
    if (t->punct == '~') {
        push_conn(r, FLAT_CONN_INVERT, 0, NULL);
    } else if (t->punct && t->punct != '=') {
        r->q->i++;
    } else if (t->kind != NET_T_WORD || t->punct == '=') {
        diag_error(r->q->c->d, cur_span(r->q),
                   t->punct == '=' ? "parameters of a code model stand on its .model card"
                                   : "a node, '[', ']' or '%%' and a type is expected");
        return false;
    } else if (t->text[0] == '%') {
        return take_type(r);
    } else {
        take_name(r);
    }
    return true;
}

bool flat_read_code(cur *q, code_card *a)
{
    static const char what[] =
        "a code model has connections and a model: Aname in [in1 in2] %%vd(p n) out model";
    areader r = {.q = q, .a = a};
    q->card = flat_split_brackets(q->c, q->card, true);
    int32_t last = q->card->n_tok - 1;
    while (last > q->i && q->card->tok[last].punct == ')')
        last--;
    if (last <= q->i || q->card->tok[last].kind != NET_T_WORD) {
        q->i = last > q->i ? last : q->card->n_tok;
        diag_error(q->c->d, cur_span(q), what);
        return false;
    }
    while (q->i < last)
        if (!take_connection(&r))
            return false;
    if (r.vector) {
        diag_error(q->c->d, cur_span(q), "no closing bracket ']' before the model");
        return false;
    }
    a->model = cur_tok(q)->text;
    a->model_span = cur_span(q);
    return true;
}
