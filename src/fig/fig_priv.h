/* fig_priv.h - between the files of src/fig:
 *     fig.c       curves, axes and panels
 *     fig_page.c  the curves for the viewer's page */
#ifndef FIG_PRIV_H
#define FIG_PRIV_H

#include "fig.h"

/* Writes the viewer's page with the curves of f in it. Status and why: as fig_draw. */
vs_status fig_page(const fig *f, post_env *e, const fig_request *r, FILE *out, const char **why);

#endif
