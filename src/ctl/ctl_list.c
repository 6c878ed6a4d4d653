/* ctl_list.c - listing: the deck as it was read, as it is written, and without hierarchy.
 * Source: ngspice manual 39, section 17.5.36, and what its command prints. */
#include <string.h>

#include "ctl_priv.h"

typedef struct listing {
    ctl *c;
    bool numbered;
} listing;

/* Prints a line of a listing.  number  0: the line has none, it is in no file */
static void print_line(const listing *l, int number, const char *text)
{
    if (l->numbered && !number)
        fprintf(l->c->out, "%6s : %s\n", "", text);
    else if (l->numbered)
        fprintf(l->c->out, "%6d : %s\n", number, text);
    else
        fprintf(l->c->out, "%s\n", text);
}

static int line_of(const ctl *c, diag_span at)
{
    int line = 0, col;
    if (at.file >= 0)
        diag_where(c->d, at, &line, &col);
    return line;
}

/* -- logical: cards, continued lines joined, files that were included in their places -- */

static void print_cards(const listing *l, const net_sub *sub)
{
    diag_span at;
    for (size_t i = 0; i < vec_len(sub->line); i++) {
        const net_line *card = &sub->line[i];
        if (card->kind == NET_CARD_END || card->kind == NET_CARD_TITLE)
            continue;
        const char *text = sim_line_text(l->c->s, &l->c->scratch, card, &at);
        print_line(l, line_of(l->c, at), text);
        if (net_line_sub(card)) {
            print_cards(l, net_line_sub(card));
            print_line(l, 0, ".ends");
        }
    }
}

static void list_cards(const listing *l)
{
    const net_deck *d = sim_deck(l->c->s);
    print_line(l, 1, d->title);
    print_cards(l, d->top);
    print_line(l, 0, ".end");
}

/* -- physical, deck: the lines of the deck's own file -- */

/* The first file of the circuit that no other one includes. */
int32_t ctl_own_file(const ctl *c)
{
    const net_sub *top = sim_deck(c->s)->top;
    int32_t file = vec_len(top->line) ? top->line[0].file : -1;
    while (file >= 0 && c->d->file[file].from.file >= 0)
        file = c->d->file[file].from.file;
    return file;
}

static void list_lines(const listing *l)
{
    const int32_t file = ctl_own_file(l->c);
    const diag_file *f = file < 0 ? NULL : &l->c->d->file[file];
    int number = 0;
    for (const char *p = f ? f->text : NULL, *end = p ? p + f->len : NULL; p && p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        const size_t n = (size_t)((stop ? stop : end) - p);
        print_line(l, ++number, arena_strndup(&l->c->scratch, p, n));
        p = stop ? stop + 1 : NULL;
    }
}

/* -- param -- */

static void list_params(const listing *l)
{
    const net_sub *top = sim_deck(l->c->s)->top;
    fputs(" global symbol definitions:\n", l->c->out);
    for (size_t i = 0; i < vec_len(top->line); i++) {
        const net_card *card = net_line_param(&top->line[i]);
        for (int32_t k = 1; card && k + 1 < card->n_tok; k++) {
            double value;
            const net_tok *t = &card->tok[k];
            if (t->kind == NET_T_WORD && t[1].punct == '=' && sim_param(l->c->s, t->text, &value))
                fprintf(l->c->out, "       ---> %s = %.12g\n", t->text, value);
        }
    }
}

/* listing [logical | physical | deck | expand | param | runnable] */
vs_status ctl_listing(ctl *c, const char *text)
{
    enum { LOGICAL, PHYSICAL, DECK, EXPAND, PARAM, RUNNABLE, N_FORM };
    static const char *const form[N_FORM] = {"logical", "physical", "deck",
                                             "expand",  "param",    "runnable"};
    char **w = ctl_words(c, text);
    int which = vec_len(w) ? -1 : LOGICAL;
    for (int k = 0; k < N_FORM && vec_len(w); k++)
        if (!str_ncasecmp(form[k], w[0], strlen(w[0]))) /* words may be abbreviated */
            which = which < 0 ? k : which;
    if (which < 0 || vec_len(w) > 1) {
        vec_free(w);
        return ctl_fail(c, "listing takes one of logical, physical, deck, expand, param, runnable");
    }
    vec_free(w);
    const listing l = {c, which == LOGICAL || which == PHYSICAL};
    vs_status st = VS_OK;
    switch (which) {
    case PHYSICAL:
    case DECK: list_lines(&l); break;
    case PARAM: list_params(&l); break;
    case EXPAND:
        st = sim_build(c->s);
        if (!st)
            flat_print(sim_flat(c->s), c->out);
        break;
    default: list_cards(&l);
    }
    return st;
}
