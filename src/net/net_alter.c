/* net_alter.c - .alter blocks: cards that replace those of the deck before them.
 * A block goes from its .alter to the next one or to .end. Run k has the changes of blocks 1 to k.
 * A card of a block takes the place of the card with the same name: element, model, subcircuit,
 * measure; analyses and .temp replace all of their kind; all other cards are added (the last .param
 * and .option count). */
#include <string.h>

#include "net_priv.h"
#include "vec.h"

static bool is_measure(const net_card *c)
{
    return c->kind == NET_CARD_POST && c->n_tok > 2 && !strncmp(c->name, "meas", 4);
}

static bool replaces_kind(net_card_kind k)
{
    static const net_card_kind kind[] = {
        NET_CARD_OP,   NET_CARD_DC,      NET_CARD_TRAN,  NET_CARD_AC,      NET_CARD_NOISE,
        NET_CARD_TF,   NET_CARD_SENS,    NET_CARD_PZ,    NET_CARD_SP,      NET_CARD_HB,
        NET_CARD_HBAC, NET_CARD_HBNOISE, NET_CARD_HBSP,  NET_CARD_HBXF,    NET_CARD_LSTB,
        NET_CARD_ACXF, NET_CARD_DCXF,    NET_CARD_DISTO, NET_CARD_DCMATCH, NET_CARD_ACMATCH,
        NET_CARD_TEMP};
    for (size_t i = 0; i < VS_COUNT(kind); i++)
        if (kind[i] == k)
            return true;
    return false;
}

static bool same_card(const net_card *a, const net_card *b)
{
    switch (a->kind) {
    case NET_CARD_MODEL: return a->n_tok > 1 && b->n_tok > 1 && a->tok[1].text == b->tok[1].text;
    case NET_CARD_SUBCKT: return a->sub && b->sub && a->sub->name == b->sub->name;
    case NET_CARD_POST:
        return is_measure(a) && is_measure(b) && a->tok[1].text == b->tok[1].text &&
               a->tok[2].text == b->tok[2].text;
    default: return false;
    }
}

/* Do both cards say what the same thing is? */
static bool same_thing(const net_line *a, const net_line *b)
{
    if (a->kind != b->kind || a->is_element != b->is_element)
        return false;
    return a->is_element ? a->kind == NET_ELEMENT && a->name == b->name
                         : same_card(a->card, b->card);
}

static void drop(net_line *l) { l->kind = NET_CARD_UNKNOWN; }

void net_alter_merge(net_sub *top, size_t from)
{
    int depth = 0;
    net_line *all = top->line;
    for (size_t i = from; i < vec_len(all); i++) {
        const net_line c = all[i];
        depth += (c.kind == NET_CARD_IF) - (c.kind == NET_CARD_ENDIF);
        bool placed = false;
        for (size_t k = 0; k < from; k++) {
            if (replaces_kind(c.kind) && all[k].kind == c.kind)
                drop(&all[k]);
            if (depth || !same_thing(&all[k], &c)) /* in an .if the card is one of several */
                continue;
            if (placed)
                drop(&all[k]);
            else
                all[k] = c;
            placed = true;
        }
        if (placed)
            drop(&all[i]);
    }
}

void net_alter_delete(net_sub *top, const net_range *range, size_t n, const char *path,
                      const char *section)
{
    for (size_t i = 0; i < n; i++)
        if (range[i].path == path && range[i].section == section)
            for (size_t k = range[i].from; k < range[i].to; k++)
                drop(&top->line[k]);
}
