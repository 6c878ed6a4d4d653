/* plot.h - results in memory: plots of vectors, as measures, .four and .control work on them.
 * Use:    post_set_init; per analysis post_plot_new and post_plot_add; post_vec_push for each
 *         point; post_set_fini.
 * Names: voltages are called "v(out)", currents "i(v1)", the axis "time", "frequency", "v-sweep",
 * ... post_plot_find also knows them as ngspice's "out" and "v1#branch". */
#ifndef POST_PLOT_H
#define POST_PLOT_H

#include "image.h"
#include "map.h"
#include "str.h"

typedef struct post_vec {
    const char *name; /* interned */
    const char *type; /* interned: "voltage", "current", "time", "frequency", "notype", ... */
    bool complex;
    int64_t n, cap; /* values */
    double *v;      /* [n], complex: [2 n] real and imaginary part in turn */
    int64_t *dim;   /* vec; sizes of an array, the last index runs fastest; NULL: a list */
} post_vec;

typedef struct post_source
    post_source; /* a result file whose values are read when they are needed */

/* Names of vectors, numbered from 0, by all ways to write them. Those that may mean the same are a
 * chain: post_index_last, then before[i] of each; post_name_matches tells which of them do. */
typedef struct post_index {
    map last;        /* hash of a name -> number of the last one with this hash */
    int32_t *before; /* vec: number of the name before it with this hash; -1 */
} post_index;

void post_index_add(post_index *x, const char *name);
int32_t post_index_last(const post_index *x, const char *name); /* -1: none */
void post_index_clear(post_index *x);                           /* frees it, too */

typedef struct post_plot {
    const char *name;  /* "tran1" */
    const char *title; /* of the deck */
    const char *what;  /* "Transient Analysis" */
    char date[32];
    post_vec **vec;    /* vec */
    post_vec *scale;   /* the axis, one of them; NULL: none */
    post_source *from; /* of post_load_late: the file to read values from (post_fetch); NULL: none
                          */
    int32_t place;     /* number of the plot in that file */
    post_index index;  /* of the first vectors; used if it has all */
    double *z0; /* vec; ohm, of each port, that S-parameters of a file refer to; NULL: unknown */
    /* of a spectrum: */
    int lobe;       /* lines on each side that the window spreads a tone over */
    double tone;    /* Hz, the fundamental that the deck names; 0: none */
    double band[2]; /* Hz, the lines that count for figures; NAN: all but the constant */
    double *eye;    /* vec; figures of an eye diagram (eye.h), NAN: there is none; NULL: no eye */
} post_plot;

typedef struct post_set {
    str_pool *names;
    post_plot **plot;     /* vec, oldest first */
    post_plot *current;   /* NULL: none */
    int number;           /* of the newest plot */
    bool no_date;         /* new plots get no date */
    int highest;          /* highest number in the name of any plot so far */
    post_source **source; /* vec */
} post_set;

void post_set_init(post_set *s, str_pool *names);
void post_set_fini(post_set *s);
/* Adds an empty plot "<type><number>", which becomes the current one. */
post_plot *post_plot_new(post_set *s, const char *type, const char *title, const char *what);
void post_plot_destroy(post_set *s, post_plot *p); /* the newest one left becomes current */
post_plot *post_set_find(const post_set *s, const char *name); /* NULL: none */
/* The newest plot of a gradient (.sens) of that measure; NULL: none. */
post_plot *post_set_gradient(const post_set *s, const char *measure);
/* The plot that a card looks at which names an analysis, and vectors name[n]: one whose name is
 * `type` and a number. That is the current plot or the newest one if it has an axis, else the
 * newest that has one, else the newest; if it has none of the vectors, another plot of the newest
 * analysis that has one (noise has a plot of spectra and one of totals). "fft" and "eye": the
 * newest plot that has the first vector that any has. NULL: there is no such plot. */
post_plot *post_set_of(const post_set *s, const char *type, const char *const *name, size_t n);

/* Adds an empty vector at the end, or empties the one with this name. The plot owns it. */
post_vec *post_plot_add(post_set *s, post_plot *p, const char *name, const char *type,
                        bool complex);
/* Like post_plot_add, but never looks for the name: of two vectors with one name post_plot_find
 * finds the first. */
post_vec *post_plot_append(post_set *s, post_plot *p, const char *name, const char *type,
                           bool complex);
/* Until post_plot_append adds another one, post_plot_find takes an index of what it has added. */
void post_plot_index(post_plot *p);
void post_plot_remove(post_plot *p, post_vec *v);
/* Is `name` a way to write the vector's name? "out" or "V(Out)" for "v(out)", "v1#branch" for
 * "i(v1)". */
bool post_name_matches(const char *vector, const char *name);
/* The vector that a name means, case ignored; NULL: none. */
post_vec *post_plot_find(const post_plot *p, const char *name);
/* Appends a value. */
void post_vec_push(post_vec *v, double re, double im);
/* Copies all plots with their values to or from an image. */
void post_image(post_set *s, image *im);
/* Replaces all values by copies of x, n or, if complex, 2 n numbers. The vector becomes a list. */
void post_vec_set(post_vec *v, const double *x, int64_t n, bool complex);
/* Makes an array of a vector: dim[n_dim], whose product is v->n (asserted); a list if n_dim < 2. */
void post_vec_shape(post_vec *v, const int64_t *dim, size_t n_dim);

/* Adds each plot of a raw file, or of a CSV file if `tables`, to the set; the last one becomes
 * current. Of a damaged file it adds the plots in front of the damage.
 *   why  out  what is wrong, as the end of a sentence
 * Status: VS_OK, VS_EIO, VS_EINPUT. */
VS_MUST_USE vs_status post_load(post_set *s, const char *path, bool tables, const char **why);
/* Like post_load with tables, but reads the values of the axes only, or none. Vectors without have
 * v NULL, and n as the file says, until post_fetch.
 *   small  bytes; a file up to this size is read as a whole
 *   axes   read those of the axes */
VS_MUST_USE vs_status post_load_late(post_set *s, const char *path, int64_t small, bool axes,
                                     const char **why);
/* Reads the values of those of v[n], vectors of p, that have none yet, in one pass through the
 * file. Expressions call it for the vectors that they need. If it fails, the values are NaN and
 * post_trouble says why. */
void post_fetch(const post_plot *p, post_vec *const *v, size_t n);
void post_fetch_all(const post_plot *p);
/* Frees the values that post_fetch read; other vectors keep theirs. */
void post_let_go(const post_plot *p, post_vec *const *v, size_t n);
/* Reads points [from, from + n) of all vectors of a plot of post_load_late.
 *   row  out  point by point; in complex plots two numbers for each vector, the axis too
 * false: it failed, as with post_fetch. */
VS_MUST_USE bool post_rows(const post_plot *p, int64_t from, int64_t n, double *row);
/* Reads points [from, from + n) of vectors [first, first + n_vec) of a plot of post_load_late.
 *   out  out  vector after vector: n real parts, then, of a complex one, n imaginary parts
 * false: it failed, as with post_fetch. */
VS_MUST_USE bool post_part(const post_plot *p, size_t first, size_t n_vec, int64_t from, int64_t n,
                           double *out);
/* Why a post_fetch, post_rows or post_part failed, as the end of a sentence about the file *path;
 * NULL: none did. */
const char *post_trouble(const post_set *s, const char **path);
/* The word in a plot's name for its kind: "tran" of "Transient Analysis". */
const char *post_word_of(const char *what);

#endif
