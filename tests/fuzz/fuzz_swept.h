/* fuzz_swept.h - a sweep of a deck, for targets that edit what it writes or sends: fuzz_sweep.c. */
#ifndef FUZZ_SWEPT_H
#define FUZZ_SWEPT_H

#include "swp.h"

/* Runs the sweep of a deck that is called `input` and always has the same date, which stands in its
 * results. o: names of files, part and link; the rest is set here. hook: of the simulator.
 *   n_error  out  messages of errors; NULL: not asked */
vs_status run_swept(const char *deck, size_t n, const swp_opt *o, const sim_hook *hook,
                    int *n_error);

#endif
