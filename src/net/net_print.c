/* net_print.c - the cards of a deck as text, one a line, bodies indented. */
#include "net_priv.h"
#include "vec.h"

static void print_tok(const diag *d, const net_card *c, const net_tok *t, FILE *out)
{
    if (t->kind == NET_T_WORD)
        fputs(t->text, out);
    else
        fprintf(out, "%.*s", (int)t->len, d->file[c->file].text + t->off);
}

static void print_card(const diag *d, const net_card *c, int indent, FILE *out)
{
    fprintf(out, "%*s", indent, "");
    for (int32_t i = 0; i < c->n_tok; i++) {
        if (i)
            fputc(' ', out);
        print_tok(d, c, &c->tok[i], out);
    }
    fputc('\n', out);
}

static void print_sub(const net_sub *s, const diag *d, int indent, FILE *out)
{
    for (size_t i = 0; i < vec_len(s->card); i++) {
        print_card(d, &s->card[i], indent, out);
        if (!s->card[i].sub)
            continue;
        print_sub(s->card[i].sub, d, indent + 2, out);
        fprintf(out, "%*s.ends %s\n", indent, "", s->card[i].sub->name);
    }
}

void net_print(const net_deck *deck, const diag *d, FILE *out)
{
    fprintf(out, "* %s\n", deck->title);
    print_sub(deck->top, d, 0, out);
}
