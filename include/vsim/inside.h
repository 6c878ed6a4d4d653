/* inside.h - openly unstable: what analyze, explain, profile, tune and the dumps of the command
 * need. Names and meanings change with the inside of the library, without notice; a program that
 * includes this file is built together with one version of it. */
#ifndef VSIM_INSIDE_H
#define VSIM_INSIDE_H

#include "vsim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Receives text, [n] bytes, not terminated. */
typedef void vsim_text_fn(void *user, const char *text, size_t n);

/* What a stage made, as text: "cards", "circuit", "pattern", "groups", "ir". Status: VSIM_OK;
 * VSIM_EINPUT: no such stage; those of building the circuit. */
VSIM_MUST_USE vsim_status vsim_inside_dump(vsim_deck *d, const char *stage, vsim_text_fn *text,
                                           void *user);

#ifdef __cplusplus
}
#endif
#endif
