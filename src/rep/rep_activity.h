/* rep_activity.h - the share of a circuit that a transient works on: devices that it evaluates,
 * unknowns that are not latent, columns of factors that it makes anew. The whole is what every
 * iteration would do without bypass, latency and held factors.
 * Use: rep_activity_new, _see for each attempt of a step, then the reports; _free. */
#ifndef REP_ACTIVITY_H
#define REP_ACTIVITY_H

#include <stdio.h>

#include "ana_trace.h"

enum { REP_N_ACTIVITY = 3 }; /* devices, unknowns, factor columns */

typedef struct rep_activity rep_activity;
rep_activity *rep_activity_new(void);
void rep_activity_free(rep_activity **a);
/* To call for each attempt of a step in circuit c. A static one begins a new history. */
void rep_activity_see(rep_activity *a, ckt *c, const ana_step *step);
double rep_activity_last(const rep_activity *a, int what); /* 0 to 1, about the last step */
const char *rep_activity_name(int what);
void rep_activity_text(const rep_activity *a, FILE *out); /* a line; none without a transient */
/* Writes a member of a JSON object, with its comma: totals, and the last transient over time. */
void rep_activity_json(const rep_activity *a, FILE *out);
/* Draws the last transient as SVG. Status and *why: as chart_write. */
VS_MUST_USE vs_status rep_activity_picture(const rep_activity *a, const char *title, FILE *out,
                                           const char **why);

#endif
