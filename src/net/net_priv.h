/* net_priv.h - between the files of the netlist reader: logical lines as tokens. */
#ifndef NET_PRIV_H
#define NET_PRIV_H

#include "net.h"

typedef struct net_lex {
    diag *d;
    str_pool *names;
    const char *s; /* the file's text */
    uint32_t len, pos;
    int32_t file;
    bool quiet;   /* no messages: text that is skipped */
    bool bad;     /* the line read last has a quote or brace that is not closed */
    net_tok *tok; /* vec: the logical line read last */
} net_lex;

void net_lex_init(net_lex *l, diag *d, str_pool *names, int32_t file);
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

/* The file name that token k of a card begins, as one token: what is quoted, or else all up to the
 * next blank or the punctuation `stop` (0: none), for the name may contain what splits words.
 * *next: the token behind it. */
net_tok net_file_tok(const net_card *c, int32_t k, char stop, int32_t *next);
/* Its text without quotes or braces, in mem. */
const char *net_file_text(const diag *d, arena *mem, const net_card *c, const net_tok *t);

/* The start-up file of the deck at `path`, if there is one: models to deck->hdl, folders for
 * includes (vec). */
void net_init_file(net_deck *deck, diag *d, arena *mem, const char *path, const net_opt *opt,
                   const char ***folder);

/* A growing array copied into the arena; vec_len works on the result. The original is freed. */
void *net_freeze_(arena *mem, void *v, size_t elem);
#define net_freeze(mem, v) ((v) = net_freeze_((mem), (v), sizeof *(v)))
/* An array of n zeroed elements in the arena on which vec_len works; NULL for n = 0. */
void *net_fixed_(arena *mem, size_t n, size_t elem);
#define net_fixed(mem, type, n) ((type *)net_fixed_((mem), (n), sizeof(type)))

/* -- net_alter.c -- */
typedef struct net_range { /* cards [from, to) of the top level that a file or a section of it gave
                            */
    const char *path, *section; /* interned; section NULL: the whole file */
    size_t from, to;
} net_range;
/* The cards of the top level from `from` on are an .alter block: they replace those before them. */
void net_alter_merge(net_sub *top, size_t from);
/* .del lib: the cards of a file or section are no longer there. */
void net_alter_delete(net_sub *top, const net_range *range, size_t n, const char *path,
                      const char *section);

#endif
