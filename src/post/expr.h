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
    bool derived;          /* vsim found the type of a sum or a multiple; ngspice has "notype" */
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
    diag_span span;    /* where messages point */
    const char *line;  /* NULL: messages point to `span`. Else the text that a file has at line_at,
                          */
    diag_span line_at; /* so that they point to the part that is wrong */
    arena *mem;
    post_def *def;  /* vec, the owner's */
    bool check;     /* look at the form only: every vector exists and is the number 1 */
    bool told;      /* the text was checked before: warnings about its words have been given */
    bool degrees;   /* angles */
    bool log10;     /* log() is to base 10, as in Xyce's decks */
    uint64_t *seed; /* of sunif, sgauss, rnd; the owner's */
    /* set to true by an operation whose value at a point depends on other points, so that parts of
     * vectors do not give the parts of its value. NULL: not wanted */
    bool *whole;
    /* with whole: sqrt, ln, a power and their like need whole vectors only if one of the values at
     * hand is out of their range: the caller takes the whole then, and drops parts that it has */
    bool ranges;
    /* with whole: functions of whole vectors that carry on from piece to piece do not set it (see
     * carry.h). NULL: all of them do */
    struct post_carry *carry;
    /* called for names that are no vectors: parameters, results of measures, device values. NULL:
     * there are none */
    bool (*number)(void *user, const char *name, double *value);
    /* called for a vector that is missing: a note about it, NULL: none. NULL: not wanted */
    const char *(*lack)(void *user, const char *name);
    void *user;
    int depth;  /* of user functions */
    int n_call; /* of user functions, in the outermost one */
} post_env;

/* Evaluates an expression, the whole text. false: a message was given. */
bool post_eval(post_env *e, const char *text, post_val *out);
/* Evaluates the expression at the start of *text and moves *text behind it, to NULL at the end of
 * the list. false: a message was given. */
bool post_eval_next(post_env *e, const char **text, post_val *out);
/* The expressions of a list; "all", "allv", "alli" and "PLOT.all" stand for many. vec, the caller
 * frees it, also NULL. */
bool post_eval_list(post_env *e, const char *text, post_val **out);
/* Whether a name stands for a vector, a constant or a number of the deck. No message. */
bool post_is_vector(post_env *e, const char *name);
/* Evaluates an expression that must be a single real number. false: a message was given. */
bool post_eval_number(post_env *e, const char *text, double *x);
/* Appends the names of the vectors that a text needs to the vec *list, interned, so that a run can
 * save them. */
void post_names(str_pool *names, const char *text, const char ***list);
/* The same and, before v(a) and v(b) of a difference, v(a,b), as a spectrum of it is called. */
void post_names_of_plots(str_pool *names, const char *text, const char ***list);

/* The axis of a value; NULL: it has none of its length. */
const post_vec *post_axis(const post_val *v);

#endif
