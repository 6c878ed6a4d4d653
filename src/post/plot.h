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

typedef struct post_plot {
    const char *name;  /* "tran1" */
    const char *title; /* of the deck */
    const char *what;  /* "Transient Analysis" */
    char date[32];
    post_vec **vec;    /* vec */
    post_vec *scale;   /* the axis, one of them; NULL: none */
    post_source *from; /* of post_load_late: vectors have values after post_fetch; NULL */
    int32_t place;     /* the plot's number there */
    /* vectors [0, n_indexed) by name, all ways to write it: by post_plot_add; used if complete */
    map index;     /* hash of a name -> number of the last vector that has it */
    int32_t *same; /* vec: [n_indexed], number of the one before that has it; -1 */
    size_t n_indexed;
    /* of a spectrum: */
    int lobe;       /* lines on each side that the window spreads a tone over */
    double tone;    /* Hz, the fundamental that the deck names; 0: none */
    double band[2]; /* Hz, the lines that count for figures; NAN: all but the constant */
} post_plot;

typedef struct post_set {
    str_pool *names;
    post_plot **plot;     /* vec, oldest first */
    post_plot *current;   /* NULL: none */
    int number;           /* of the newest plot */
    bool no_date;         /* plots from now on have none */
    int highest;          /* no plot has a higher one in its name */
    post_source **source; /* vec */
} post_set;

void post_set_init(post_set *s, str_pool *names);
void post_set_fini(post_set *s);
/* An empty plot "<type><number>", the current one from now on. */
post_plot *post_plot_new(post_set *s, const char *type, const char *title, const char *what);
void post_plot_destroy(post_set *s, post_plot *p); /* the newest one left becomes current */
post_plot *post_set_find(const post_set *s, const char *name); /* NULL: none */

/* An empty vector at the end; one of the same name is replaced. */
post_vec *post_plot_add(post_set *s, post_plot *p, const char *name, const char *type,
                        bool complex);
/* The same without a look at the names that are there: of two that are alike the first is found. */
post_vec *post_plot_append(post_set *s, post_plot *p, const char *name, const char *type,
                           bool complex);
void post_plot_remove(post_plot *p, const post_vec *v);
/* Is `name` a way to write the vector's name? "out" or "V(Out)" for "v(out)", "v1#branch" for
 * "i(v1)". */
bool post_name_matches(const char *vector, const char *name);
/* Ignores case; NULL: none. */
post_vec *post_plot_find(const post_plot *p, const char *name);
/* One more value. */
void post_vec_push(post_vec *v, double re, double im);
/* All plots with their values, as an image. */
void post_image(post_set *s, image *im);
/* All values at once, in place of those that are there. It is a list then. */
void post_vec_set(post_vec *v, const double *x, int64_t n, bool complex);
/* An array of dim[n_dim], whose product is v->n (asserted); a list if n_dim is below 2. */
void post_vec_shape(post_vec *v, const int64_t *dim, size_t n_dim);

/* Each plot of a raw file, and of a CSV file if `tables`, becomes one of the set; the last is the
 * current one. Status: VS_OK; VS_EIO; VS_EINPUT; *why says what is wrong, as the end of a sentence:
 * plots in front of the damage are there. */
VS_MUST_USE vs_status post_load(post_set *s, const char *path, bool tables, const char **why);
/* The same of raw files and CSV, but only axes have values until post_fetch: v NULL, n as the file
 * says. `small`: bytes, up to which a file is read as by post_load. */
VS_MUST_USE vs_status post_load_late(post_set *s, const char *path, int64_t small,
                                     const char **why);
/* Values for those of v[n], vectors of p, that have none yet; one pass through the file.
 * Expressions do so themselves. Where it fails they are NaN, and post_trouble tells it. */
void post_fetch(const post_plot *p, post_vec *const *v, size_t n);
void post_fetch_all(const post_plot *p);
/* They are not needed any more; nothing for vectors that were not fetched. */
void post_let_go(const post_plot *p, post_vec *const *v, size_t n);
/* Points [from, from + n) of a plot of post_load_late, of all its vectors, point by point; complex
 * plots: two numbers for each vector, the axis too. false: as post_fetch. */
VS_MUST_USE bool post_rows(const post_plot *p, int64_t from, int64_t n, double *row);
/* What went wrong since, as the end of a sentence about the file *path; NULL: nothing. */
const char *post_trouble(const post_set *s, const char **path);
/* The word in a plot's name, by what it is: "tran" of "Transient Analysis". */
const char *post_word_of(const char *what);

#endif
