/* nat.h - native devices: parts of a circuit whose equations are C code, not a compiled model.
 * Use:    the circuit embeds a nat_list; nat_<kind>_add (nat_source.h, nat_line.h, ...) puts a
 *         device into it; the circuit then calls the functions below and never a kind by name.
 *
 * A kind is a table of operations, nat_kind. An operation that a kind does not need is NULL. The
 * devices of a kind stand together in a nat_set, which the kind extends by its own data. To add a
 * kind: write its table in a file of its own and name it in `kinds` of nat.c; the suite
 * tests/unit/nat/test_nat.c runs on every kind.
 *
 * Unknowns, rows and entries are numbered as in ckt.h: 0 is the reference node. The circuit makes
 * the unknowns and passes their numbers. */
#ifndef NAT_H
#define NAT_H

#include <math.h>

#include "arena.h"
#include "csc.h"
#include "diag.h"
#include "image.h"
#include "vec.h"

typedef enum nat_mode { NAT_STATIC, NAT_TRAN } nat_mode;
typedef struct nat_env { /* what a load sees besides x */
    nat_mode mode;       /* STATIC: no q, J = G; TRAN: J = G + alpha C */
    double time;
    double alpha;   /* 1/s */
    double gmin;    /* across junctions ($simparam) */
    double srcfact; /* independent sources are scaled by it, 0..1 */
    int iter;       /* Newton iteration, from 1 */
    bool limit;     /* $limit acts; false: plain evaluation */
    bool initial_step, final_step;
    double freq;          /* Hz, of ckt_load_ac for devices that ask ($simparam("hertz")) */
    const double *weight; /* TRAN: [n+1] 1 / what bypassed instances may leave out in a row, 0 for
                           * the reference; NULL: all instances are evaluated */
    double blur;          /* TRAN: what a voltage of such an instance that is off by this explains
                           * may be left out too, V */
    bool finite;          /* STATIC: parts that are not finite count as nothing, see ckt_load */
    bool matrix;          /* TRAN, of a linear circuit: f, q and their sizes may be anything */
    bool rough;           /* TRAN: another load follows before a point can be accepted */
    double reltol; /* TRAN, of an accepted point: corners of waves below this relative size get no
                    * breakpoint; 0: every corner does */
    bool tran_op;  /* STATIC: the operating point of a transient (sources at t = 0) */
    /* TRAN: of a periodic state: devices that remember add only what load_ac gives as G; at_omega
     * adds their other terms, harmonic by harmonic */
    bool steady;
    /* TRAN: devices that remember have the equations that nat_hold gave, and look at no past */
    bool held;
} nat_env;

typedef struct nat_host { /* what the circuit lends; it outlives the devices */
    arena *mem;
    diag *d;
    const double *simparam;                    /* [IR_N_SIMPARAM]; NULL: the defaults */
    void (*say)(void *user, const char *text); /* a line that a model prints */
    void *user;
} nat_host;

typedef struct nat_kind nat_kind;
typedef struct nat_set { /* the devices of one kind; its first member in the kind's own struct */
    const nat_kind *kind;
    const nat_host *host;
} nat_set;

typedef struct nat_sums {   /* where a load adds; as the arguments of ckt_load */
    double *f, *fmax;       /* [n+1] */
    double *q, *qlo, *qmax; /* [n+1] TRAN only; qlo: what rounding takes from q */
    double *val;            /* [nnz+1] G, or G + alpha C */
    bool corner;            /* in: env->time is a breakpoint */
    bool limited;           /* in/out: a device moved a voltage by limiting */
    double bound;           /* in/out: longest step that devices allow, s */
    double asked;           /* in/out: length that this step should have had; infinite: this one */
    int64_t n_eval;         /* in/out: evaluations counted, and their seconds */
    double s_eval;
} nat_sums;

typedef struct nat_ac { /* where the linearised devices add */
    double *g, *cap;    /* [nnz+1] */
    bool noise;         /* the analysis is one of noise: `source` is called for each source */
    /* Noise source k of a device drives rows end[0] with gain 1 and end[1] with -1. */
    void (*source)(void *user, int32_t device, int32_t k, const int32_t end[2]);
    void *user;
} nat_ac;

typedef struct nat_curve { /* d G_row,col / dx_by */
    int32_t row, col, by;
    double g;
} nat_curve;

/* What a device that remembers does at a time, its past being known. With u = v, zi = z i of a
 * port, q the other one,
 *   line    0 = cv v_p - ci zi_p - k (cv v_q + ci zi_q) + s_p
 *   delay   0 = y - k u + cv d + s_0, cv being 0 except in an adjoint (nat_back.h) */
typedef struct nat_now {
    double cv, ci, k, s[2]; /* 1, 1, 1, volt */
} nat_now;

/* What such a device remembers: a line the waves v + zi of both ports (of a lossy one see rlgc.h),
 * a delay its input u. */
typedef struct nat_memory {
    const char *name; /* of a line; a delay has none of its own: NULL */
    int32_t node[4];  /* line: p1 n1 p2 n2; delay: u, then y, and what d and its largest value are,
                       * -1: d is constant */
    int32_t k[2];     /* line: its currents */
    double z, delay;  /* line: ohm, s */
    const struct rlgc *loss; /* of a lossy line (rlgc.h), else NULL */
} nat_memory;

typedef struct nat_device { /* facts about one device */
    const char *name;
    diag_span span;
    const int32_t *node; /* [n_node] unknowns of its terminals */
    int32_t n_node;
    bool ports; /* they are pairs: what flows into the first of one leaves through the second, and
                 * depends on their difference, and on what other devices do, alone */
    bool told;  /* the circuit knows what flows between its nodes, and what it looks at */
} nat_device;

struct nat_kind {
    const char *name; /* in lists of kinds: "source", "line", ... */
    bool first; /* loads add the terms of this kind before those of compiled models; false: after */
    bool remembers; /* the equations at a time depend on the accepted points before it */
    /* set if its devices cannot take other values (ckt_redo.c): what the message calls them; NULL:
     * they can */
    const char *no_redo;
    void (*free)(nat_set *s);
    int32_t (*count)(const nat_set *s);
    nat_device (*at)(const nat_set *s, int32_t i); /* NULL: they have no name of their own */

    /* -- pattern -- */
    /* Entries of the Jacobian to the end of *e; reactive: those of C as well. */
    void (*entries)(const nat_set *s, bool reactive, csc_entry **e);
    /* The same without what joins no nodes. NULL: all do. */
    void (*joins)(const nat_set *s, bool reactive, csc_entry **e);
    /* The pattern is made: looks up the slots of the same entries. */
    void (*place)(nat_set *s, const csc *a, bool reactive);
    /* Unknowns in which a device has memory, to the end of *row. */
    void (*charges)(const nat_set *s, int32_t **row);

    /* -- loads -- */
    void (*load)(nat_set *s, const nat_env *env, const double *x, nat_sums *to);
    /* The part of f at env->time that does not depend on x, added to s [n+1]. */
    void (*terms)(nat_set *s, const nat_env *env, double *to);
    /* G and C at x. */
    void (*load_ac)(nat_set *s, const nat_env *env, const double *x, nat_ac *to);
    /* How G changes with x, to the end of *to; NULL: it does not. */
    void (*curves)(const nat_set *s, const double *x, nat_curve **to);
    /* Adds to val [2 nnz], re and im in turn, terms that are neither G nor j omega C. */
    void (*at_omega)(const nat_set *s, double omega, const csc *a, double *val);
    /* The same of their derivatives by ln omega. */
    void (*by_omega)(const nat_set *s, double omega, const csc *a, double *val);
    /* Adds what ac values drive to the right side b [2 (n+1)] of A x = b, re and im in turn. */
    void (*drive)(const nat_set *s, double *b);
    /* Noise density of source k of a device at f hertz after load_ac; its name. */
    double (*density)(nat_set *s, int32_t device, int32_t k, double f);
    const char *(*noise_name)(const nat_set *s, int32_t device, int32_t k);
    /* |i| + alpha |q| of a device in a row at x; row 0: infinite if one of them is not finite.
     * Negative: it has nothing to do with the row. */
    double (*share)(nat_set *s, const nat_env *env, const double *x, int32_t device, int32_t row);

    /* -- of kinds that remember -- */
    nat_memory (*memory)(const nat_set *s, int32_t i);
    void (*hold)(nat_set *s, int32_t i, const nat_now *now);
    /* What gradients of a transient need of the past of a point, or of a stage, at t that is solved
     * but not accepted: n_note numbers to `to`. */
    size_t (*n_note)(const nat_set *s);
    void (*note)(nat_set *s, double t, const double *x, double *to);

    /* -- operating points -- */
    void (*zero)(nat_set *s); /* hidden state as at the start of one without an initial guess */
    /* The static equations are solved at x: other values may follow from them.
     * Status: VS_OK: none; VS_REJECT: the equations are others, and have to be solved from x;
     * VS_EINPUT (message). */
    vs_status (*settle)(nat_set *s, const double *x);

    /* -- time -- */
    /* The point of the last load is accepted. corner: it is a breakpoint.
     * Status: VS_OK; VS_STOP: a device ends the run; VS_EINPUT (message). */
    vs_status (*accept)(nat_set *s, const nat_env *env, const double *x, bool corner);
    /* The first breakpoint after t (strictly), +inf if none. */
    double (*next_break)(nat_set *s, double t);
    void (*reset)(nat_set *s);   /* Newton starts afresh: limiting begins anew */
    void (*restore)(nat_set *s); /* a step is rejected: as at the last accepted point */
    void (*fresh)(nat_set *s);   /* as if there had been no load */
    void (*uic)(nat_set *s);     /* the start to come is one with uic */
    /* At rest devices have gmin (this one at 0 Hz) across one end from now on, where nothing may
     * decide their voltage. false: they have it already. */
    bool (*leak)(nat_set *s, double gmin);
    /* image: copies what the devices remember of accepted points to or from the image. identity:
     * compares what their equations are made of. */
    void (*image)(nat_set *s, image *im);
    void (*identity)(const nat_set *s, image *im);
};

typedef enum nat_kind_id { /* in the order of loads, which decides the last bits of sums */
                           NAT_SOURCE,
                           NAT_OSDI,
                           NAT_LINE,
                           NAT_DELAY,
                           NAT_TABLE,
                           NAT_EVENT,
                           NAT_N_KIND
} nat_kind_id;
extern const nat_kind nat_source_kind, nat_osdi_kind, nat_line_kind, nat_delay_kind, nat_table_kind,
    nat_event_kind;

typedef struct nat_list {
    nat_host host;
    nat_set *set[NAT_N_KIND]; /* NULL: no device of that kind */
} nat_list;

void nat_free(nat_list *l);
/* Makes the set of a kind if there is none: size bytes from the host's arena, zero. */
nat_set *nat_need(nat_list *l, nat_kind_id id, size_t size);
/* Whether there is no device other than independent sources. */
bool nat_only_sources(const nat_list *l);
bool nat_remembers(const nat_list *l); /* some kind in use does */
/* Devices that remember, 0 .. nat_n_memory - 1; the equation that device i has in loads with
 * env->held from now on. */
int32_t nat_n_memory(const nat_list *l);
nat_memory nat_memory_of(const nat_list *l, int32_t i);
void nat_hold(nat_list *l, int32_t i, const nat_now *now);
/* n_note and note of lines, then of delays. */
size_t nat_n_note(const nat_list *l);
void nat_note(nat_list *l, double t, const double *x, double *to);
bool nat_accepts(const nat_list *l);        /* nat_accept has something to do */
const char *nat_no_redo(const nat_list *l); /* devices that cannot take other values, NULL: none */

/* The operations for all kinds; first: of those before (true) or after the compiled models. */
void nat_entries(const nat_list *l, bool reactive, csc_entry **e);
void nat_joins(const nat_list *l, bool reactive, csc_entry **e);
void nat_place(nat_list *l, const csc *a, bool reactive);
void nat_charges(const nat_list *l, int32_t **row);
void nat_each(const nat_list *l, bool first, void (*take)(void *user, const nat_device *d),
              void *user);
void nat_load(nat_list *l, bool first, const nat_env *env, const double *x, nat_sums *to);
void nat_terms(nat_list *l, const nat_env *env, double *to);
void nat_load_ac(nat_list *l, bool first, const nat_env *env, const double *x, nat_ac *to);
void nat_curves(const nat_list *l, const double *x, nat_curve **to);
void nat_at_omega(const nat_list *l, double omega, const csc *a, double *val);
void nat_by_omega(const nat_list *l, double omega, const csc *a, double *val);
void nat_drive(const nat_list *l, double *b);
/* `take` is called for every device with a share in the row. */
void nat_share(nat_list *l, bool first, const nat_env *env, const double *x, int32_t row,
               void (*take)(void *user, const char *name, double share), void *user);
void nat_zero(nat_list *l);
vs_status nat_settle(nat_list *l, const double *x);
vs_status nat_accept(nat_list *l, const nat_env *env, const double *x, bool corner);
double nat_next_break(nat_list *l, double t);
void nat_reset(nat_list *l);
void nat_restore(nat_list *l);
void nat_fresh(nat_list *l);
void nat_uic(nat_list *l);
bool nat_leak(nat_list *l, double gmin); /* false: no device has not what it asks for */
void nat_image(nat_list *l, image *im);
/* nat_identity and nat_image of all kinds but sources, whose values may differ. */
void nat_carry(nat_list *l, image *im);
void nat_identity(const nat_list *l, image *im);

/* -- for kinds -- */
/* A term v of row `row`: to the sum, and to the largest term. */
static inline void nat_add(double *sum, double *max, int32_t row, double v)
{
    sum[row] += v;
    if (fabs(v) > max[row])
        max[row] = fabs(v);
}

#endif
