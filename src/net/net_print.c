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

typedef struct printer {
    diag *d;
    str_pool *names;
    net_tok *tok; /* vec */
    FILE *out;
} printer;

static void print_card(printer *p, const net_line *line, int indent)
{
    const net_card card = net_line_full(line, p->d, p->names, &p->tok), *c = &card;
    FILE *out = p->out;
    fprintf(out, "%*s", indent, "");
    for (int32_t i = 0; i < c->n_tok; i++) {
        if (i)
            fputc(' ', out);
        print_tok(p->d, c, &c->tok[i], out);
    }
    fputc('\n', out);
}

static void print_sub(printer *p, const net_sub *s, int indent)
{
    for (size_t i = 0; i < vec_len(s->line); i++) {
        print_card(p, &s->line[i], indent);
        const net_sub *below = net_line_sub(&s->line[i]);
        if (!below)
            continue;
        print_sub(p, below, indent + 2);
        fprintf(p->out, "%*s.ends %s\n", indent, "", below->name);
    }
}

void net_print(const net_deck *deck, diag *d, str_pool *names, FILE *out)
{
    printer p = {.d = d, .names = names, .out = out};
    fprintf(out, "* %s\n", deck->title);
    print_sub(&p, deck->top, 0);
    vec_free(p.tok);
}
