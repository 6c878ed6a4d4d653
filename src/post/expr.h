/* expr.h - vector expressions, as ngspice's front end has them (manual, ch. "Expressions,
 * functions, and constants"): v(out)-v(in), db(v(out)), @m1[gm]*2, vec[3,7], a > 0 ? b : c, (1,2)
 * complex.
 * Use:    post_env with the plots; post_eval for one expression, post_eval_next for a list of them.
 * Operands of different length: the shorter one goes on with its last value. Real until a complex
 * number takes part. Values live in env->mem. */
#ifndef POST_EXPR_H
#define POST_EXPR_H

#include "diag.h"
#include "plot.h"

typedef struct post_val {
    bool complex;
    int64_t n;
    double *v;             /* [n], complex: [2 n]; never written again */
    const int64_t *dim;    /* [n_dim] sizes of an array */
    size_t n_dim;          /* 0: a list */
    const post_plot *plot; /* where its axis is, NULL: a number */
    const char *type;      /* "voltage", ..., "notype" */
    bool derived;          /* type is ours, of a sum or a multiple; ngspice's would be "notype" */
    const char *name;      /* the text, as tables show it */
} post_val;

typedef struct post_def { /* define f(x,y) text */
    const char *name;
    const char **arg; /* vec */
    const char *text;
} post_def;

typedef struct post_env {
    post_set *set; /* set->current is where names are looked up first */
    diag *d;
    diag_span span; /* where messages point */
    const char
        *line; /* text that stands in a file at line_at, letter by letter: messages point to the */
    diag_span line_at; /* part that is wrong; NULL: they point to `span` */
    arena *mem;
    post_def *def;  /* vec, the owner's */
    bool check;     /* only the form is looked at: every vector is there and is the number 1 */
    bool degrees;   /* angles */
    uint64_t *seed; /* of sunif, sgauss, rnd; the owner's */
    /* set to true by an operation that needs whole vectors: from a part of its vectors it does not
     * give that part of the value. NULL: not wanted */
    bool *whole;
    /* called for names that are no vectors: parameters, results of measures, device values. NULL:
     * there are none */
    bool (*number)(void *user, const char *name, double *value);
    void *user;
    int depth;  /* of user functions */
    int n_call; /* of user functions, in the outermost one */
} post_env;

/* The whole text. false: a message was given. */
bool post_eval(post_env *e, const char *text, post_val *out);
/* The expression at the start of *text, which is moved behind it; NULL at the end of the list. */
bool post_eval_next(post_env *e, const char **text, post_val *out);
/* The expressions of a list; "all", "allv", "alli" and "PLOT.all" stand for many. vec, the caller
 * frees it, also NULL. */
bool post_eval_list(post_env *e, const char *text, post_val **out);
/* A single real number; false with a message if it is none. */
bool post_eval_number(post_env *e, const char *text, double *x);
/* The vectors that a text names, for saving what will be needed: each is interned and pushed. */
void post_names(str_pool *names, const char *text, const char ***list);

/* The axis of a value; NULL: none, or of another length. */
const post_vec *post_axis(const post_val *v);

#endif
