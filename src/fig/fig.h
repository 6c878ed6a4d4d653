/* fig.h - results as pictures: makes curves, axes and panels from a list of vectors.
 * Use:    fig_request with what the user asked for (fig_nothing: nothing); fig_eval for each plot
 *         of a family, or fig_add for vectors that are there; fig_draw; fig_fini.
 * Vectors of different units go to panels of their own, one below the other. Complex ones are drawn
 * by their magnitude, as Bode pairs (dB above degrees), or in the complex plane. */
#ifndef FIG_H
#define FIG_H

#include "chart.h"
#include "expr.h"

typedef enum fig_kind { FIG_XY, FIG_BODE, FIG_SMITH, FIG_POLAR } fig_kind;

typedef struct fig_request {
    fig_kind kind;
    const char *title, *xlabel, *ylabel; /* NULL: from the vectors */
    double xlo, xhi, ylo, yhi;           /* NAN: from the data */
    bool xlog, ylog;                     /* x is also where a sweep goes by equal ratios */
    bool stack;                          /* a panel for each expression */
    bool dark;
    chart_style style;
    int width, height;       /* as in chart; 0: its default */
    const char *plugins;     /* as in chart */
    const char *const *note; /* [n_note] sentences for a page: what of the files was not read */
    size_t n_note;
} fig_request;
fig_request fig_nothing(void);

/* The values of one curve. */
typedef struct fig_value {
    post_val v;
    const post_vec *axis; /* NULL: the index */
    post_val over;        /* behind "vs"; over.name NULL: `axis` */
    const char *family;   /* "r=1000 temp=27", NULL: it is in none */
    int32_t expression;   /* place in the list */
    int32_t member;       /* of the family */
} fig_value;
typedef struct fig {
    fig_value *value; /* vec */
    int32_t n_expression, n_member;
} fig;

/* Adds the values v[n] of one plot, which must stay until fig_draw.
 *   over    axis for all, NULL: each value's own
 *   family  what tells this plot from the others of its family, NULL: it is in none */
void fig_add(fig *f, const post_val *v, size_t n, const post_val *over, const char *family);
/* Adds the values of a list of expressions in the current plot, except its axis. over: an
 * expression, else as fig_add. false: a message was given. */
bool fig_eval(fig *f, post_env *e, const char *list, const char *over, const char *family);
void fig_fini(fig *f);
/* The values that tell a plot of a family from the others: "r=1000" of "Transient Analysis,
 * r=1000"; NULL: it is in no family. */
const char *fig_family(const post_plot *p);

/* The unit of a type: "V" of "voltage", "" if it has none. fig_axis_unit: also by an axis' name. */
const char *fig_unit(const char *type);
const char *fig_axis_unit(const char *name, const char *type);

/* Draws the curves. CHART_HTML is the viewer's page with these curves in it (page.h).
 * Status: as chart_write; *why is a static sentence for VS_EIO, too. */
VS_MUST_USE vs_status fig_draw(const fig *f, post_env *e, const fig_request *r, chart_format format,
                               FILE *out, const char **why);

#endif
