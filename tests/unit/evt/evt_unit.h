/* evt_unit.h - what the tests of src/evt share. */
#ifndef EVT_UNIT_H
#define EVT_UNIT_H

#include <string.h>

#include "evt.h"

/* A part whose inputs are one vector (or one connection), and one output. par: three numbers. */
static inline void add_gate(evt *e, const char *type, const int32_t *in, int32_t n_in, int32_t out,
                            const double *par)
{
    evt_pin pin[8];
    evt_part p = {.name = type, .model = evt_find_model(type), .pin = pin, .n = {n_in, 1}};
    for (int32_t i = 0; i < n_in; i++)
        pin[i] = (evt_pin){in[i], false};
    pin[n_in] = (evt_pin){out, false};
    memcpy(p.par, par, 3 * sizeof *par);
    evt_add_part(e, &p);
}

#endif
