/* post_priv.h - between the files of src/post. */
#ifndef POST_PRIV_H
#define POST_PRIV_H

#include <complex.h>
#include <math.h>
#undef complex /* plots and values have a member of that name */

#include "expr.h"
#include "vec.h"

typedef double _Complex cplx;

/* A value with room for n values (complex: 2 n doubles) in e->mem. */
post_val post_new_val(post_env *e, int64_t n, bool complex);
post_val post_number(post_env *e, double x);
/* Value k, the last one if there are fewer; NAN if there are none. */
static inline cplx post_at(const post_val *v, int64_t k)
{
    if (!v->n)
        return NAN;
    k = k < v->n ? k : v->n - 1;
    return v->complex ? v->v[2 * k] + I * v->v[2 * k + 1] : v->v[k];
}
/* 20 log10 |x|. Magnitudes below 1e-50, which no circuit has, and 0 are the floor, so that what is
 * written is finite. */
#define POST_DB_FLOOR (-1000.0)
static inline double post_decibel(cplx x)
{
    const double db = 20 * log10(cabs(x));
    return db < POST_DB_FLOOR ? POST_DB_FLOOR : db;
}
/* Value k of the axis that v has, k itself without one; k < v->n, since an axis is as long as its
 * vector. */
static inline double post_axis_at(const post_val *v, int64_t k)
{
    const post_vec *a = post_axis(v);
    return a ? a->complex ? a->v[2 * k] : a->v[k] : (double)k;
}
static inline void post_put(post_val *v, int64_t k, cplx x)
{
    if (v->complex) {
        v->v[2 * k] = creal(x);
        v->v[2 * k + 1] = cimag(x);
    } else {
        v->v[k] = creal(x);
    }
}
void post_close_sources(post_set *s); /* of post_load_late */
bool post_fail(post_env *e, const char *fmt, ...) VS_PRINTF(2, 3);

/* -- func.c -- */
/* Calls a function of vectors. false: a message was given, or *known is false: there is none of
 * that name. */
bool post_call(post_env *e, const char *name, post_val *arg, int n_arg, post_val *out, bool *known);
extern const char *const post_function_names[];
extern const size_t post_n_function;

/* -- meas.c -- */
typedef struct post_word { /* of a card: text, or text=value */
    const char *text;      /* the whole, or what is left of "=" */
    const char *value;     /* right of "=", NULL: none */
    uint32_t off, len;     /* place in the card */
} post_word;
/* vec; texts in e->mem. Blanks end a word outside brackets and quotes, unless an '=' is beside. */
post_word *post_words(post_env *e, const char *text);
/* Says what is wrong with a word of a card at `at`: fmt has the word and its value. false. */
bool post_wrong_word(post_env *e, diag_span at, const post_word *w, const char *fmt,
                     const char *what);

/* -- four.c -- */
/* The points x, y [v->n] of a real curve over its axis, in e->mem. false: a message was given, in
 * which `what` is the operation that needs them. */
bool post_over_time(post_env *e, const post_val *v, double **x, double **y, const char *what);
/* The values of a window, out [n], scaled to the mean 1. false: a message was given (no such
 * window). */
bool post_window_values(post_env *e, const char *name, double order, int64_t n, double *out);
/* Lines on each side of a tone up to the first zero of the window's spectrum, or to where it is
 * below 1e-6 (gauss, kaiser). */
int post_window_lobe(const char *name, double order);

/* y at t, linear between the points of the axis x[n], which rises or falls; NAN outside. */
double post_interpolate(const double *x, const double *y, int64_t n, double t);

#endif
