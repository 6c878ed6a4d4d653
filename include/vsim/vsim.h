/* vsim.h - the analog circuit simulator vsim as a library; docs/library.md teaches it.
 *
 *     vsim *s;  vsim_deck *d;  vsim_run *r;  double v;
 *     vsim_new(&s, NULL);
 *     vsim_deck_file(s, "divider.sp", NULL, &d);
 *     vsim_run_card(d, "op", NULL, &r);
 *     vsim_run_go(r);
 *     vsim_run_value(r, "v(out)", &v);
 *     vsim_free(&s);
 *
 * base.h    statuses, messages, the simulator
 * deck.h    a deck, what is in its circuit, parameters, host sources, families
 * run.h     analyses, whole or in pieces
 * result.h  plots, vectors, measures
 * session.h commands one at a time, as .control blocks have them
 * linear.h  Jacobian and residual
 * inside.h, which is not included here, is for tools of this project and may change at any time. */
#ifndef VSIM_VSIM_H
#define VSIM_VSIM_H

#include "base.h"
#include "deck.h"
#include "linear.h"
#include "result.h"
#include "run.h"
#include "session.h"

#define VSIM_VERSION_MAJOR 0
#define VSIM_VERSION_MINOR 1

#endif
