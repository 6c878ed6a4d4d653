/* net_loop.h - loops and indices of the netlist, expanded as text before cards are made of it.
 *     .for i = a to b [step s] ... .endfor     its lines once for each value, nested as one likes
 *     x[{i},{j+1}]  name_{i}                   indices: numbers known now
 *     sum(k, a, b, expression of k)            in any expression
 * Within braces, quotes and brackets, and on .for, .if, .elseif, .var and .param lines, the name of a
 * loop variable stands for its value. Indices, bounds and steps may also use parameters that .param cards
 * of the top level set before, or that are set from outside. */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include "map.h"
#include "net.h"

typedef struct net_loop {
    diag *d;
    str_pool *names;
    const net_opt *opt;
    map param_of;          /* name -> index of param */
    diag_span *param;      /* vec; right sides of the .param cards so far */
    int depth;             /* of parameters being evaluated */
    int64_t n_turn;        /* turns of loops so far */
    size_t n_byte;         /* of text made so far */
    bool failed;           /* a message was given */
} net_loop;

void net_loop_init(net_loop *l, diag *d, str_pool *names, const net_opt *opt);
void net_loop_fini(net_loop *l);
/* Takes note of a .param card of the top level. */
void net_loop_param(net_loop *l, const net_card *c);
/* Does the text of a card need net_loop_card? */
bool net_loop_wanted(const char *s, size_t n);
/* A card's text with indices as numbers and sums written out. The caller frees it. NULL after a message. */
char *net_loop_card(net_loop *l, diag_span at, size_t *len);
/* The loop that starts with the .for card at `head`, its body being `body`: the text that it stands for.
 * The caller frees it. NULL after a message. */
char *net_loop_expand(net_loop *l, diag_span head, diag_span body, size_t *len);
/* Length of an index list "[1,2]" at s[0..n), 0: none. Also in names of tokens and expressions. */
size_t net_index_len(const char *s, size_t n);

#endif
