/* net_priv.h - between the files of the netlist reader: logical lines as tokens. */
#ifndef NET_PRIV_H
#define NET_PRIV_H

#include "net.h"

/* A line with nothing but words and '=' that no line continues; all places are offsets. */
typedef struct net_plain_line {
    uint32_t from;           /* where the lexer stood: comments may follow */
    uint32_t word, word_end; /* its first word */
    uint32_t rest,
        rest_end;  /* what follows without blanks at its ends; rest >= rest_end: nothing */
    uint32_t end;  /* the next line */
    uint32_t hash; /* of the first word (str_hash_folded) */
} net_plain_line;
typedef struct net_ahead net_ahead; /* net_lex.c */

typedef struct net_lex {
    diag *d;
    str_pool *names;
    const char *s; /* the file's text */
    uint32_t len, pos;
    int32_t file;
    bool quiet; /* no messages: text that is skipped */
    bool brief; /* of a card without a dot only the first word has a text; the others may be one */
    bool plain; /* the line read last has nothing but words and '=' */
    bool first; /* its first word was never read before */
    bool bad;   /* the line read last has a quote or brace that is not closed */
    net_ahead *ahead; /* plain lines that another thread finds; NULL: none does */
    net_tok *tok;     /* vec: the logical line read last */
} net_lex;

void net_lex_init(net_lex *l, diag *d, str_pool *names, int32_t file);
/* From now on plain lines of a large text are found by another thread, ahead of what is read; the
 * tokens are the same. */
void net_lex_share(net_lex *l, int threads);
void net_lex_fini(net_lex *l);
/* Next logical line with at least one token into l->tok. false: end of the text. */
bool net_lex_card(net_lex *l);
/* As net_lex_card, for the next card that starts with a dot; others are passed over without a look
 * at their tokens. */
bool net_lex_dot_card(net_lex *l);
/* The rest of the physical line at pos, without its end. */
diag_span net_lex_raw_line(net_lex *l);
/* If a continuation follows the line end at `nl`: the offset after its '+', else 0. */
uint32_t net_lex_join(const char *s, uint32_t len, uint32_t nl);

/* The start-up file of the deck at `path`, if there is one: models to deck->hdl, variables
 * to deck->start, folders for includes (vec). */
void net_init_file(net_deck *deck, diag *d, arena *mem, const char *path, const net_opt *opt,
                   const char ***folder);

/* Adds a model library to deck->hdl. If the library does not exist, its Verilog-A source is added
 * instead; without a source either, a warning is given. */
void net_add_osdi(net_deck *deck, diag *d, arena *mem, const char *path, diag_span at);

/* -- net_alter.c -- */
typedef struct net_range { /* cards [from, to) of the top level that a file or a section of it gave
                            */
    const char *path, *section; /* interned; section NULL: the whole file */
    size_t from, to;
} net_range;
/* Applies an .alter block, the cards of the top level from `from` on: each replaces the earlier
 * card that says what the same thing is, or is added. */
void net_alter_merge(net_sub *top, size_t from);
/* Applies `.del lib`: takes out the cards that a file, or a section of it, gave.
 *   range  [n] what files gave; path, section as in net_range */
void net_alter_delete(net_sub *top, const net_range *range, size_t n, const char *path,
                      const char *section);

#endif
