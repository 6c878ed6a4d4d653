/* net_spef.h - `.spef FILE [SUBCKT]`: wires of a layout in place of a body's nets (net_spef.c).
 * Use: net_spef_text when all cards were read; what it returns is read into the body. */
#ifndef NET_SPEF_H
#define NET_SPEF_H

#include "net.h"

typedef struct net_spef_in {
    diag *d;
    str_pool *names;
    arena *mem;
    net_sub *body;  /* whose nets they are */
    int32_t number; /* of the .spef card, from 1: names of what is made have it */
} net_spef_in;

/* The cards that file `file` of d makes: wires, and elements of the body with nodes of their own,
 * whose old cards are dropped. Text of *len bytes that the caller frees with vs_free; NULL after a
 * message, with the body as it was. */
char *net_spef_text(const net_spef_in *in, int32_t file, size_t *len);
/* The subcircuit that the file names by *DESIGN, interned in lower case; NULL: none. */
const char *net_spef_design(diag *d, str_pool *names, int32_t file);

#endif
