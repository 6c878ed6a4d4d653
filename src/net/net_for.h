/* net_for.h - loops and indices of the netlist, expanded as text before cards are made of it.
 *     .for i = a to b [step s] ... .endfor     its lines once for each value, nested as one likes
 *     x[{i},{j+1}]  name_{i}                   indices: numbers known now
 *     sum(k, a, b, expression of k)            in any expression
 * Within braces, quotes and brackets, and on .for, .if, .elseif, .var and .param lines, the name of
 * a loop variable stands for its value. Indices, bounds and steps may also use parameters that
 * .param cards of the top level set before, or that are set from outside. */
#ifndef NET_FOR_H
#define NET_FOR_H

#include "map.h"
#include "net.h"

enum { NET_FOR_NAME = 200 }; /* longest name of a variable */

typedef struct net_for {
    diag *d;
    str_pool *names;
    const net_opt *opt;
    map param_of;     /* name -> index of param */
    diag_span *param; /* vec; right sides of the .param cards so far */
    int depth;        /* of parameters being evaluated */
    int nested;       /* loops whose turns are being read */
    int64_t n_turn;   /* turns of loops so far */
    size_t n_byte;    /* of text made so far */
    bool failed;      /* a message was given */
} net_for;

void net_for_init(net_for *l, diag *d, str_pool *names, const net_opt *opt);
void net_for_fini(net_for *l);
/* Notes the parameters of a .param card of the top level, for bounds and indices. */
void net_for_param(net_for *l, const net_card *c);
/* Does the text of a card need net_for_card? */
bool net_for_wanted(const char *s, size_t n);
/* A card's text with indices replaced by numbers and sums written out: [*len] bytes that the caller
 * frees with vs_free. NULL after a message. */
char *net_for_card(net_for *l, diag_span at, size_t *len);
/* A loop whose turns are read piece by piece, so that an error in every one of a million turns is
 * said after the first piece. */
typedef struct net_turns {
    char name[NET_FOR_NAME + 1];
    double from, to, step;
    diag_span at, body; /* its head; the lines up to its .endfor */
    int64_t next;       /* turn */
} net_turns;
/* The loop whose .for card has the bounds at `head`, its lines being `body`. false after a message.
 */
bool net_for_start(net_for *l, net_turns *t, diag_span head, diag_span body);
/* The expanded text of the next turns: as many turns as make about 1 MiB. The caller frees it. NULL
 * at the end and after a message. Inner loops of many turns stay unexpanded in it. */
char *net_for_next(net_for *l, net_turns *t, size_t *len);
/* Length of an index list "[1,2]" at s[0..n), 0: none. Also in names of tokens and expressions. */
size_t net_index_len(const char *s, size_t n);

#endif
