/* flat_logic.h - between the files that read PSpice's digital U elements: flat_logic.c,
 * flat_logicexp.c. */
#ifndef FLAT_LOGIC_H
#define FLAT_LOGIC_H

#include "flat_priv.h"

enum { LOGIC_NUMBERS = 3 };
typedef struct logic_reader {
    cur *q;
    logic_card *a;
    const char *device; /* "nand" */
    diag_span device_span;
    flat_gate *gate;               /* vec, its pins in the arena */
    const char **inner;            /* vec: names of nodes within the element */
    int32_t number[LOGIC_NUMBERS]; /* behind the device: nand(2) */
    int32_t n_number;
    int32_t fixed[3]; /* nodes within: that of $d_lo, $d_hi, $d_nc; -1: not needed so far */
} logic_reader;

enum { LOGIC_LOW, LOGIC_HIGH, LOGIC_OPEN };
/* The node of a constant; a node within the element. */
int32_t logic_constant(logic_reader *r, int which);
int32_t logic_inner(logic_reader *r, const char *name);
/* The pin that the word at the cursor names, as an input or an output; false: a message was given.
 */
bool logic_pin(logic_reader *r, bool out, flat_gate_pin *to);
/* n of them, to the end of a vec. */
bool logic_pins(logic_reader *r, int32_t n, bool out, flat_gate_pin **to);
/* Adds a part; takes the vec of pins over. vector: that many pins are one port in front. */
void logic_gate(logic_reader *r, const char *type, flat_gate_pin *pin, int32_t vector,
                flat_gate_delay timing, double delay);
/* The word of the timing model; the rest of a card up to a word that ends with a colon. */
bool logic_timing(logic_reader *r);
bool logic_rest(logic_reader *r);

/* flat_logicexp.c: what stands behind the type and the power of the cards LOGICEXP and PINDLY. */
bool logic_read_expressions(logic_reader *r);
bool logic_read_delays(logic_reader *r);

#endif
