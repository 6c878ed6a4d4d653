/* tran_tape.c - a transient that is recorded, and the discrete adjoint of its accepted steps.
 * A node is a point at which the equations were solved: the end of a step, or the stage of SDIRK2.
 * With the coefficients that the integration had there (integ.h), s one of the nodes before it,
 *     F_k = f(x_k) + d_k = 0,    d_k = alpha_k q(x_k) + sum_j a_j q(x_{k-j}) + b_k d_s.
 * For a measure M(x_0 ... x_N) the multipliers lambda of F, mu of d solve, from the last node on,
 *     (G_k + alpha_k C_k)' lambda_k = -dM/dx_k + C_k' (alpha_k B_k + S_k),   mu_k = B_k - lambda_k,
 * where S_k sums a_j mu and B_k sums b mu over the later nodes that use q_k and d_k. Then
 *     dM/dp = sum_k lambda_k' df/dp - (alpha_k mu_k + S_k)' dq/dp,
 * and the operating point at the start adds G_0' lambda_0 = -dM/dx_0 + C_0' S_0 with its own
 * equations. Times are held. Where a corner of a source moves, derivatives of what follows it at
 * once jump, and currents through capacitors have a pulse in theirs: there the node is followed by
 * another one at the same time, a step of backward Euler of nearly no length behind it.
 * Lines and delays: f(x_k) also depends on x of accepted points before it. nat_back.h adds up what
 * that gives to -dM/dx there; what their numbers give to df/dp, their past included, is noted as
 * the run goes on (ckt_note).
 * A run that does not fit into memory is cut into parts, of which one is there at a time. States of
 * the run, as checkpoints have them, stand at the beginning of some parts.
 * Source: Cao, Li, Petzold & Serban, SIAM J. Sci. Comput. 24(3), 2003; Griewank & Walther,
 *         "Algorithm 799: Revolve", ACM TOMS 26(1), 2000 (which states); docs/analyses.md. */
#include <math.h>
#include <string.h>

#include "nat_back.h"
#include "small.h"
#include "tran_priv.h"

enum {
    N_AHEAD = 3,      /* a node, and those before it that its step used */
    LEAST_PART = 256, /* nodes */
    LEAST_STATES = 16
};
/* Of the step behind the corner, which is the error; rounding grows faster than it falls, in a
 * regulator with Meyer's capacitances to several times the result at 1e-7. */
static const double jump_length = 3e-6;

typedef struct tape_node {
    double t;        /* s */
    double alpha, b; /* of d at this node */
    double a[2];     /* of q at the last one and two ends of steps before */
    bool stage, final, corner;
} tape_node;

typedef struct tape_row {
    int64_t node;
    int64_t jump; /* a row just behind a corner: place in ana_tape.jump; -1: the node itself */
} tape_row;

typedef struct tape_edge { /* a row beside a part */
    bool any, corner;
    double t, axis; /* of its node; its own */
    double *x;      /* [n+1] */
} tape_edge;

typedef struct tape_state {  /* from which a part is computed again */
    int64_t part, node, row; /* as many are before it */
    bool shown;              /* part 0, in which node 0 is already: it has a row */
    tape_edge before;        /* the last row before it */
    uint8_t *bytes;          /* vec */
} tape_state;

struct ana_tape {
    ana *a;
    ana_tran_opt o;
    const ana_sink *sink; /* the client's */
    const ana_tape_rows *rows;
    ana_sink own;
    /* the part that is in memory: */
    int64_t part, first, first_row; /* its number, those of its first node and row */
    tape_node *node;                /* vec */
    tape_row *row;                  /* vec */
    uint8_t *jump;                  /* vec, [n+1] for each corner: 1 where the row shows a jump */
    double *x;                      /* vec: [n+1] of each node */
    double *noted;                  /* vec: [n_note] of each node */
    tape_edge head, tail;           /* its first row; its last so far */
    tape_edge before, behind;       /* the rows beside it */
    tape_node next[2];              /* nodes behind it, two if the first is a stage */
    size_t room;                    /* bytes for a part */
    /* of lines and delays: */
    double *note; /* vec: [2][n_note] of the stage and the end of the step under way */
    size_t n_note;
    nat_time *point; /* vec: all accepted points of the run */
    /* states, of ascending parts; the first is that of part 0: */
    tape_state *state; /* vec */
    size_t memory;     /* bytes for them, */
    size_t largest;    /* and of the largest one so far: the past of lines grows */
    int64_t every;     /* in the run one is kept each time as many parts have passed */
    bool again;        /* a part is computed again: */
    int64_t end;       /* behind its last node */
    int32_t fed;       /* of ana_tape_back: a node of the part whose level matters most; 0: none */
};

/* -- the run -- */

static size_t stride(const ana_tape *t) { return (size_t)t->a->n + 1; }

static void set_edge(const ana_tape *t, tape_edge *to, const tape_edge *from)
{
    double *x = to->x ? to->x : vs_calloc(stride(t), sizeof *x);
    *to = *from;
    to->x = x;
    if (from->any)
        memcpy(x, from->x, stride(t) * sizeof *x);
}

/* noted: NULL: nothing */
static void add_node(ana_tape *t, tape_node k, const double *x, const double *noted)
{
    const size_t n = vec_len(t->x), n_noted = vec_len(t->noted);
    vec_push(t->node, k);
    vec_extend(t->x, stride(t));
    memcpy(t->x + n, x, stride(t) * sizeof *x);
    if (t->n_note)
        vec_extend(t->noted, t->n_note);
    if (t->n_note && noted)
        memcpy(t->noted + n_noted, noted, t->n_note * sizeof *noted);
    if (!k.stage && !t->again && ckt_has_delays(t->a->c))
        vec_push(t->point, ((nat_time){k.t, k.corner}));
}

static double stage_time(const tran *t) { return t->t + INTEG_SDIRK_GAMMA * t->h; }

void tran_tape_before(const tran *t)
{
    ana_tape *tape = t->tape;
    if (!tape->n_note)
        return;
    if (t->kind == TRAN_SDIRK)
        ckt_note(t->a->c, stage_time(t), t->stage, tape->note);
    ckt_note(t->a->c, t->t_new, t->x[0], tape->note + tape->n_note);
}

void tran_tape_step(const tran *t)
{
    ana_tape *tape = t->tape;
    const integ_coef *c = &t->cc;
    tape_node k = {.t = t->t_new,
                   .alpha = c->alpha,
                   .b = c->b,
                   .a = {c->a[0], c->n_past > 1 ? c->a[1] : 0},
                   .final = t->t_new == t->o.tstop,
                   .corner = ckt_is_break(t->a->c, t->t_new)};
    if (t->kind == TRAN_SDIRK) {
        tape_node stage = k;
        stage.t = stage_time(t);
        stage.b = 0;
        stage.stage = true;
        stage.final = false;
        add_node(tape, stage, t->stage, tape->note);
    }
    add_node(tape, k, t->x[0], tape->note + tape->n_note);
}

void tran_tape_row(const tran *t, const double *x, bool corner)
{
    ana_tape *tape = t->tape;
    const size_t n1 = stride(tape);
    tape_row r = {tape->first + (int64_t)vec_len(tape->node) - 1, -1};
    if (corner) {
        r.jump = (int64_t)vec_len(tape->jump);
        vec_extend(tape->jump, n1);
        for (size_t i = 1; i < n1; i++)
            tape->jump[(size_t)r.jump + i] =
                x[i] != t->x[2][i] + TRAN_BEHIND * (t->x[1][i] - t->x[2][i]);
    }
    vec_push(tape->row, r);
}

static vs_status pass_point(void *user, double axis, const double *x)
{
    ana_tape *t = user;
    const bool corner = vec_last(t->row).jump >= 0;
    const tape_edge here = {true, corner, vec_last(t->node).t, axis, (double *)x};
    set_edge(t, &t->tail, &here);
    if (vec_len(t->row) == 1)
        set_edge(t, &t->head, &here);
    return t->again ? t->rows->row(t->rows->user, axis, x) : t->sink->point(t->sink->user, axis, x);
}

static void pass_progress(void *user, double fraction, double axis, const ana_stat *st)
{
    const ana_tape *t = user;
    if (t->sink->progress && !t->again)
        t->sink->progress(t->sink->user, fraction, axis, st);
}

static bool pass_stop(void *user)
{
    const ana_tape *t = user;
    return t->sink->stop && t->sink->stop(t->sink->user);
}

static int64_t end_of(const ana_tape *t) { return t->first + (int64_t)vec_len(t->node); }

/* The run pauses where a part ends: when there is no room for more. A part that is computed again
 * ends at the same node. */
static bool is_full(void *user)
{
    const ana_tape *t = user;
    const size_t n_row = vec_len(t->row), n_node = vec_len(t->node);
    const size_t used = n_node * (sizeof *t->node + (stride(t) + t->n_note) * sizeof *t->x) +
                        n_row * (sizeof *t->row + t->rows->bytes) + vec_len(t->jump);
    return (n_node >= LEAST_PART && used >= t->room) || (t->again && end_of(t) >= t->end);
}

static void begin_part(ana_tape *t)
{
    t->part++;
    t->first = end_of(t);
    t->first_row += (int64_t)vec_len(t->row);
    set_edge(t, &t->before, &t->tail);
    t->head.any = false;
    vec_clear(t->node);
    vec_clear(t->row);
    vec_clear(t->jump);
    vec_clear(t->x);
    vec_clear(t->noted);
}

/* Of the part that begins. */
static vs_status take_state(ana_tape *t)
{
    image im = image_take();
    tape_state s = {
        .part = t->part, .node = t->first, .row = t->first_row, .shown = vec_len(t->row) > 0};
    const vs_status st = ana_tran_image(t->a, &im);
    set_edge(t, &s.before, &t->before);
    s.bytes = im.bytes;
    vec_push(t->state, s);
    t->largest = vec_len(s.bytes) > t->largest ? vec_len(s.bytes) : t->largest;
    return st;
}

static void free_state(tape_state *s)
{
    vs_free(s->before.x);
    vec_free(s->bytes);
}

/* How many states there is room for, beside that of part 0. */
static int64_t most_states(const ana_tape *t)
{
    const size_t bytes = t->largest + stride(t) * sizeof(double);
    return (int64_t)(t->memory / bytes > LEAST_STATES ? t->memory / bytes : LEAST_STATES);
}

static int64_t free_states(const ana_tape *t)
{
    return most_states(t) - (int64_t)vec_len(t->state) + 1;
}

/* Where there are too many, every second one goes. Some room is left for those that the way back
 * makes in between. */
static vs_status keep_state(ana_tape *t)
{
    size_t n = 0;
    vs_status st = t->part % t->every == 0 ? take_state(t) : VS_OK;
    if (free_states(t) >= LEAST_STATES / 4)
        return st;
    t->every *= 2;
    for (size_t i = 0; i < vec_len(t->state); i++)
        if (t->state[i].part % t->every == 0)
            t->state[n++] = t->state[i];
        else
            free_state(&t->state[i]);
    while (vec_len(t->state) > n)
        (void)vec_pop(t->state);
    return st;
}

static vs_status march(ana_tape *t)
{
    vs_status st;
    while ((st = ana_tran_go(t->a, INFINITY)) == VS_PAUSED) {
        st = t->rows->full(t->rows->user);
        begin_part(t);
        if (st == VS_OK)
            st = keep_state(t);
        if (st != VS_OK)
            return st;
    }
    return st;
}

/* Given values as they were before the sources were switched on: the charges are theirs. */
static void keep_given(ana_tape *t)
{
    ana *a = t->a;
    double *x = t->x;
    ckt_uic(a->c, x);
    for (size_t k = 0; k < vec_len(a->ic); k++)
        x[a->ic[k].unknown] = a->ic[k].value;
    x[0] = 0;
}

static void add_start(ana_tape *t)
{
    add_node(t, (tape_node){.corner = true}, t->a->tran->x[1], NULL);
    if (t->o.uic)
        keep_given(t);
}

/* Up to the first point, and its state. */
static vs_status begin_run(ana_tape *t)
{
    ana *a = t->a;
    vs_status st = ana_tran_begin(a, &t->o, &t->own);
    if (st != VS_OK)
        return st;
    a->tran->tape = t;
    add_start(t);
    st = ana_tran_go(a, 0);
    return st == VS_PAUSED ? take_state(t) : st;
}

vs_status ana_tape_run(ana_tape **tape, ana *a, const ana_tran_opt *opt, const ana_sink *sink,
                       const ana_tape_rows *rows, size_t memory)
{
    ana_tape *t = vs_calloc(1, sizeof *t);
    *t = (ana_tape){.a = a, .o = *opt, .sink = sink, .rows = rows, .every = 1};
    t->own = (ana_sink){.point = pass_point,
                        .progress = pass_progress,
                        .stop = pass_stop,
                        .pause = is_full,
                        .kept = true,
                        .user = t};
    t->memory = memory / 4;
    t->room = memory - t->memory;
    t->n_note = ckt_n_note(a->c);
    vec_extend(t->note, 2 * t->n_note + 1);
    vs_status st = begin_run(t);
    if (st == VS_OK)
        st = march(t);
    ana_tran_end(a, st);
    *tape = t;
    if (st != VS_OK)
        ana_tape_free(tape);
    return st;
}

void ana_tape_free(ana_tape **tape)
{
    ana_tape *t = *tape;
    *tape = NULL;
    if (!t)
        return;
    if (t->a->tran)
        t->a->tran->tape = NULL;
    for (size_t i = 0; i < vec_len(t->state); i++)
        free_state(&t->state[i]);
    vs_free(t->head.x);
    vs_free(t->tail.x);
    vs_free(t->before.x);
    vs_free(t->behind.x);
    vec_free(t->state);
    vec_free(t->node);
    vec_free(t->row);
    vec_free(t->jump);
    vec_free(t->x);
    vec_free(t->noted);
    vec_free(t->note);
    vec_free(t->point);
    vs_free(t);
}

/* -- a part once more -- */

/* r parts after another that each state makes within reach: binomial coefficients. */
static double reach_of(int64_t states, int64_t r)
{
    double y = 1;
    for (int64_t i = 1; i <= r; i++)
        y *= (double)(states + i) / (double)i;
    return y;
}

/* Of `parts` parts, the last of which is wanted first, how many go by before the next state is
 * kept, if there is room for `states` more. */
static int64_t parts_to_pass(int64_t parts, int64_t states)
{
    int64_t r = 1;
    if (states <= 0 || parts <= 1)
        return parts;
    while (reach_of(states + 1, r) < (double)parts)
        r++;
    const double rest = (double)parts - reach_of(states, r);
    return rest > 1 ? (int64_t)rest : 1;
}

static vs_status not_again(const ana_tape *t, const char *why)
{
    diag_error(t->a->d, DIAG_NOWHERE, "a part of the transient could not be computed again: %s",
               why);
    return VS_EINPUT;
}

/* The run stands where the state was taken, and nothing is recorded of its part. */
static vs_status go_back_to(ana_tape *t, const tape_state *s)
{
    ana *a = t->a;
    image im = image_give(s->bytes, vec_len(s->bytes));
    vs_status st = ana_tran_ready(a, &t->o, &t->own);
    if (st == VS_OK && !lu_forget(&a->lu))
        st = lu_analyze(&a->lu, a->jac);
    if (st == VS_OK)
        st = ana_tran_image(a, &im);
    if (im.wrong)
        return not_again(t, im.wrong);
    vec_clear(t->node);
    vec_clear(t->row);
    vec_clear(t->jump);
    vec_clear(t->x);
    vec_clear(t->noted);
    t->head.any = false;
    t->part = s->part;
    t->first = s->node;
    t->first_row = s->row;
    set_edge(t, &t->before, &s->before);
    set_edge(t, &t->tail, &s->before);
    t->rows->begin(t->rows->user);
    a->tran->tape = t;
    if (st != VS_OK || s->part)
        return st;
    add_start(t);
    if (!s->shown)
        return VS_OK;
    tran_tape_row(a->tran, a->tran->x[1], false);
    return pass_point(t, 0, a->tran->x[1]);
}

/* Runs to the end of part `last`; where states are kept on the way. */
static vs_status run_again(ana_tape *t, int64_t last)
{
    int64_t next = t->part + parts_to_pass(last - t->part + 1, free_states(t));
    for (;;) {
        vs_status st = ana_tran_go(t->a, INFINITY);
        if (st != VS_PAUSED && st != VS_OK)
            return st;
        if (st == VS_OK || (t->part == last) != (end_of(t) == t->end))
            return not_again(t, "its steps are others");
        if (t->part == last)
            return VS_OK;
        begin_part(t);
        t->rows->begin(t->rows->user);
        if (t->part != next)
            continue;
        st = take_state(t);
        if (st != VS_OK)
            return st;
        next += parts_to_pass(last - next + 1, free_states(t));
    }
}

/* The part before that in memory. Status: VS_OK; VS_STOP; VS_EINPUT (message). */
static vs_status part_before(ana_tape *t)
{
    const int64_t part = t->part - 1;
    t->end = t->first;
    memcpy(t->next, t->node, (vec_len(t->node) > 1 ? 2 : 1) * sizeof *t->next);
    if (t->head.any)
        set_edge(t, &t->behind, &t->head);
    while (vec_last(t->state).part > part) {
        free_state(&vec_last(t->state));
        (void)vec_pop(t->state);
    }
    t->again = true;
    vs_status st = go_back_to(t, &vec_last(t->state));
    if (st == VS_OK)
        st = run_again(t, part);
    t->again = false;
    t->a->tran->tape = NULL;
    return st;
}

/* -- backwards -- */

typedef struct ahead { /* of one measure at one node */
    double *s, *b, *m; /* [n+1] S, B, dM/dx */
    double *r;         /* [n+1] what of dM/dx belongs to the piece behind the node */
    double *p;         /* [n+1] dM/d(pulse of x), 1/s */
} ahead;

typedef struct factors { /* of the transposed matrix of a step */
    lu_solver lu;
    bool any, factored;
} factors;

typedef struct back {
    ana_tape *t;
    int32_t n_measure; /* the client's, and as many feeds of theirs, if there are isolated parts */
    int32_t n_given;
    small moving, still;   /* shunts in time, at the start */
    ckt_env env;           /* of the former */
    small_feeds of_points; /* of all of them */
    double *pair;          /* [2 (n+1)] f as a complex vector */
    bool *inside;          /* [n] scratch: of a part */
    ahead *sum[N_AHEAD],
        *stage;       /* [n_measure] of the node, one and two ends before it; its stage */
    double **f, **q;  /* [n_measure] [n+1] lambda, alpha mu + S */
    double *rhs, *mu; /* [n+1] */
    double *g, *c;    /* [nnz+1] G + alpha C; C */
    csc at;           /* the transposed matrix, */
    int32_t *place;   /* [nnz] where an entry stands in it */
    factors step, jump;
    ana_seed *seed; /* vec: of the rows of the part; the last is the next */
    vs_status (*visit)(void *user, const ana_adjoint *at);
    bool (*jumps)(void *user, double t);
    void *user;
    double next_progress;
    nat_back *past;             /* of lines and delays; NULL: there are none */
    int64_t point;              /* the last accepted point that was not taken yet */
    double **rhs_of, **jump_of; /* [n_measure] [n+1] what it gives */
    arena mem;
} back;

static ahead *make_ahead(back *w)
{
    ahead *k = arena_array(&w->mem, ahead, w->n_measure);
    for (int32_t i = 0; i < w->n_measure; i++) {
        k[i].s = arena_array(&w->mem, double, stride(w->t));
        k[i].b = arena_array(&w->mem, double, stride(w->t));
        k[i].m = arena_array(&w->mem, double, stride(w->t));
        k[i].r = arena_array(&w->mem, double, stride(w->t));
        k[i].p = arena_array(&w->mem, double, stride(w->t));
    }
    return k;
}

static void clear_ahead(const back *w, ahead *k)
{
    const size_t bytes = stride(w->t) * sizeof(double);
    for (int32_t i = 0; i < w->n_measure; i++) {
        memset(k[i].s, 0, bytes);
        memset(k[i].b, 0, bytes);
        memset(k[i].m, 0, bytes);
        memset(k[i].r, 0, bytes);
        memset(k[i].p, 0, bytes);
    }
}

static void make_transposed(back *w)
{
    const csc *j = w->t->a->jac;
    const int32_t n = j->n, nnz = csc_nnz(j);
    int32_t *next = arena_array(&w->mem, int32_t, n + 1);
    w->at = (csc){.n = n,
                  .colptr = arena_array(&w->mem, int32_t, n + 1),
                  .row = arena_array(&w->mem, int32_t, nnz + 1),
                  .val = arena_array(&w->mem, double, nnz + 1)};
    w->place = arena_array(&w->mem, int32_t, nnz + 1);
    for (int32_t k = 0; k < nnz; k++)
        w->at.colptr[j->row[k] + 1]++;
    for (int32_t c = 0; c < n; c++) {
        w->at.colptr[c + 1] += w->at.colptr[c];
        next[c] = w->at.colptr[c];
    }
    for (int32_t c = 0; c < n; c++)
        for (int32_t k = j->colptr[c]; k < j->colptr[c + 1]; k++) {
            const int32_t to = w->place[k] = next[j->row[k]]++;
            w->at.row[to] = c;
        }
}

static vs_status singular(const back *w, const factors *of, double t)
{
    ana *a = w->t->a;
    const int32_t k = of->lu.stat.singular;
    diag_error(a->d, DIAG_NOWHERE, "the matrix of the adjoint is singular at %s, t = %.9g s",
               k >= 0 ? ana_unknown_text(a, k + 1) : "some node", t);
    return VS_ESINGULAR;
}

static vs_status make_factors(const back *w, factors *of)
{
    const lu_opt o = w->t->a->lu.opt;
    lu_init(&of->lu, &o);
    of->any = true;
    return lu_analyze(&of->lu, &w->at) == VS_OK ? VS_OK : singular(w, of, w->t->o.tstop);
}

static void begin_past(back *w)
{
    ana_tape *t = w->t;
    if (!ckt_has_delays(t->a->c))
        return;
    w->point = (int64_t)vec_len(t->point) - 1;
    w->past = ckt_back_of_past(t->a->c, t->point, vec_len(t->point), w->n_measure);
    vec_free(t->point);
}

/* That of shunts in time. */
static ckt_env env_of_shunts(const ana_tape *t)
{
    return (ckt_env){.mode = CKT_TRAN, .gmin = t->a->opt.gmin};
}

static vs_status begin(back *w, ana_tape *t, int32_t n_measure)
{
    const size_t n1 = stride(t), nnz = (size_t)csc_nnz(t->a->jac) + 1;
    arena_init(&w->mem);
    w->t = t;
    w->n_given = n_measure;
    if (ana_tape_feeds(t))
        n_measure *= 2;
    w->n_measure = n_measure;
    w->env = env_of_shunts(t);
    w->moving = (small){.a = t->a, .env = &w->env};
    w->still = (small){.a = t->a, .still = true};
    w->pair = arena_array(&w->mem, double, 2 * n1);
    w->inside = arena_array(&w->mem, bool, n1);
    for (int i = 0; i < N_AHEAD; i++)
        w->sum[i] = make_ahead(w);
    w->stage = make_ahead(w);
    w->rhs_of = arena_array(&w->mem, double *, n_measure);
    w->jump_of = arena_array(&w->mem, double *, n_measure);
    w->f = arena_array(&w->mem, double *, n_measure);
    w->q = arena_array(&w->mem, double *, n_measure);
    for (int32_t i = 0; i < n_measure; i++) {
        w->f[i] = arena_array(&w->mem, double, n1);
        w->q[i] = arena_array(&w->mem, double, n1);
        w->rhs_of[i] = arena_array(&w->mem, double, n1);
        w->jump_of[i] = arena_array(&w->mem, double, n1);
    }
    begin_past(w);
    w->rhs = arena_array(&w->mem, double, n1);
    w->mu = arena_array(&w->mem, double, n1);
    w->g = arena_array(&w->mem, double, nnz);
    w->c = arena_array(&w->mem, double, nnz);
    make_transposed(w);
    return make_factors(w, &w->step);
}

static vs_status not_finite(const back *w, const ckt_env *env, vs_status st)
{
    diag_error(w->t->a->d, DIAG_NOWHERE, "a device gives a value that is not finite at t = %.9g s",
               env->time);
    return st < 0 ? st : VS_NOCONV;
}

/* The Jacobian of a load at x into val [nnz+1]. */
static vs_status load(back *w, const ckt_env *env, const double *x, double *val)
{
    ana *a = w->t->a;
    bool limited;
    const vs_status st = ckt_load(a->c, env, x, a->f, a->q, a->fmax, a->qmax, &limited);
    if (st != VS_OK)
        return not_finite(w, env, st);
    memcpy(val, a->jac->val, (size_t)csc_nnz(a->jac) * sizeof *val);
    return VS_OK;
}

/* w->g = G + alpha C, w->c = C. */
static vs_status linearise(back *w, const ckt_env *env, const double *x)
{
    ana *a = w->t->a;
    const vs_status st = ckt_load_apart(a->c, env, x, w->g, w->c);
    for (int32_t k = 0; k < csc_nnz(a->jac); k++)
        w->g[k] += env->alpha * w->c[k];
    return st == VS_OK ? VS_OK : not_finite(w, env, st);
}

static void add_diagonal(back *w, int32_t unknown, double g)
{
    const ana *a = w->t->a;
    if (a->gdiag[unknown])
        w->g[a->gdiag[unknown] - a->jac->val] += g;
}

static vs_status factor(back *w, factors *of, double t)
{
    const ana *a = w->t->a;
    vs_status st = VS_REPIVOT;
    if (a->opt.rshunt > 0)
        for (int32_t i = 1; i <= a->n; i++)
            add_diagonal(w, i, 1 / a->opt.rshunt);
    for (int32_t k = 0; k < csc_nnz(a->jac); k++)
        w->at.val[w->place[k]] = w->g[k];
    if (of->factored)
        st = lu_refactor(&of->lu, &w->at);
    if (st == VS_REPIVOT)
        st = lu_factor(&of->lu, &w->at);
    of->factored = st == VS_OK;
    return st == VS_OK ? VS_OK : singular(w, of, t);
}

/* to += C' v */
static void add_charge(const back *w, const double *v, double *to)
{
    const csc *j = w->t->a->jac;
    for (int32_t c = 0; c < j->n; c++)
        for (int32_t k = j->colptr[c]; k < j->colptr[c + 1]; k++)
            to[c + 1] += w->c[k] * v[j->row[k] + 1];
}

/* -- what gmin alone carries (feeds.c) --
 * The feeds of measure i are measure n_given + i: its weights at each point are g s_p of f. With
 * gmin in place of 1 S that is 1e12 times what is there, whose rounding would be too; a level that
 * matters is seen at 1e6 as well. */

static const double most_scale = 1e6;

/* Adds the seeds of f to the right side of its feeds; own * by: what f was solved for. */
static void add_seeds(back *w, const small *levels, const double *f, const double *own, double by,
                      double *rhs)
{
    const double gmin = ckt_shunt(w->t->a->opt.gmin);
    const small_columns col = {.jac = w->t->a->jac, .g = w->g, .v = own + 1, .scale = by};
    ckt_level l;
    for (size_t j = 1; j < stride(w->t); j++)
        w->pair[2 * j] = f[j];
    for (size_t i = 0; small_next_level(levels, &i, &l);) {
        const double scale = fmin(1, most_scale * gmin / l.siemens);
        const double level[2] = {scale * small_feeds_level(&l, &col, w->inside, f + 1, 1), 0};
        double seed[2];
        (void)small_feeds_seed(&w->of_points, levels, &l, w->pair + 2, 2, level, seed);
        rhs[l.node] += seed[0];
    }
}

/* The feeds' f is the same at all nodes of a part, but for rounding: balance is 0 then. */
static void level_out(const small *levels, double *f)
{
    static const double rounding = 1e-6;
    ckt_level l;
    for (size_t i = 0; small_next_level(levels, &i, &l);)
        for (int32_t k = 0; k < l.n; k++)
            if (fabs(f[l.of[k]] - f[l.node]) <= rounding * fabs(f[l.node]))
                f[l.of[k]] = f[l.node];
}

static bool is_feeds(const back *w, int32_t i) { return i >= w->n_given; }

bool ana_tape_feeds(const ana_tape *t)
{
    const ckt_env env = env_of_shunts(t);
    const small moving = {.a = t->a, .env = &env};
    return small_has_levels(&moving);
}

void ana_tape_judge(const ana_tape *t, size_t n, const char *const *name, const double *at,
                    const double *share, double *value)
{
    static const double nothing = 1e-9; /* of the largest of all, per part of a parameter's value */
    const small s = {.a = t->a};
    double most = 0;
    small_shares all;
    small_shares_begin(&all, n);
    for (size_t p = 0; p < n; p++)
        most = fmax(most, fmax(fabs(value[p]), fabs(share[p])) * fabs(at[p]));
    for (size_t p = 0; p < n; p++) {
        all.node[p] = t->fed;
        if (fabs(share[p] * at[p]) > nothing * most || at[p] == 0)
            small_shares_add_value(&all, p, share[p]);
    }
    small_shares_judge(&all, &s, name, value);
    small_shares_end(&all);
}

/* lambda and alpha mu + S of measure i; mu [n+1] out. */
static void solve(back *w, const tape_node *k, const ahead *h, int32_t i)
{
    const size_t n1 = stride(w->t);
    for (size_t j = 1; j < n1; j++) {
        w->mu[j] = k->alpha * h[i].b[j] + h[i].s[j];
        w->rhs[j] = -h[i].m[j];
    }
    add_charge(w, w->mu, w->rhs);
    if (is_feeds(w, i))
        add_seeds(w, &w->moving, w->f[i - w->n_given], h[i - w->n_given].m, -1, w->rhs);
    lu_solve(&w->step.lu, w->rhs + 1, w->f[i] + 1);
    if (is_feeds(w, i))
        level_out(&w->moving, w->f[i]);
    for (size_t j = 1; j < n1; j++) {
        w->mu[j] = h[i].b[j] - w->f[i][j];
        w->q[i][j] = k->alpha * w->mu[j] + h[i].s[j];
    }
}

/* What later rows say of the accepted point of now, the one before w->point. */
static void take_point(back *w)
{
    if (!w->past)
        return;
    for (int32_t i = 0; i < w->n_measure; i++) {
        memset(w->rhs_of[i], 0, stride(w->t) * sizeof(double));
        memset(w->jump_of[i], 0, stride(w->t) * sizeof(double));
    }
    nat_back_point(w->past, (size_t)w->point--, w->rhs_of, w->jump_of);
    for (int32_t i = 0; i < w->n_measure; i++)
        for (size_t j = 1; j < stride(w->t); j++) {
            w->sum[0][i].m[j] -= w->rhs_of[i][j];
            w->sum[0][i].r[j] -= w->jump_of[i][j];
        }
}

static const double *noted_at(const back *w, int64_t node)
{
    const size_t n = w->t->n_note;
    return n ? w->t->noted + (size_t)(node - w->t->first) * n : NULL;
}

static void add_scaled(double *to, double by, const double *v, size_t n1)
{
    for (size_t j = 1; j < n1 && by != 0; j++)
        to[j] += by * v[j];
}

static const tape_node *node_at(const ana_tape *t, int64_t node)
{
    return &t->node[node - t->first];
}

static const double *solution(const ana_tape *t, int64_t node)
{
    return t->x + (size_t)(node - t->first) * stride(t);
}

static ckt_env env_of(const back *w, const tape_node *k)
{
    return (ckt_env){.mode = CKT_TRAN,
                     .time = k->t,
                     .alpha = k->alpha,
                     .gmin = w->t->a->opt.gmin,
                     .srcfact = 1,
                     .iter = 1,
                     .final_step = k->final,
                     .held = w->past != NULL,
                     .reltol = w->t->a->opt.reltol};
}

typedef enum shown { POINT, BEHIND, AFTER, GIVEN } shown;

static vs_status show(back *w, const ckt_env *env, const double *x, const double *noted, shown what)
{
    const ana_adjoint at = {.env = *env,
                            .force = ana_static_eq(w->t->a, true).gforce,
                            .behind = what == BEHIND,
                            .after = what == AFTER,
                            .given = what == GIVEN,
                            .x = x,
                            .noted = noted,
                            .f = (const double *const *)w->f,
                            .q = (const double *const *)w->q};
    return w->visit(w->user, &at);
}

/* Goes back over one node. The sums [n_measure] that it fills: h, of this node; before and two,
 * of the ends of steps one and two before it; flow, of the node whose dq/dt its coefficient b
 * takes. */
static vs_status step_back(back *w, int64_t node, ahead *h, ahead *before, ahead *two, ahead *flow)
{
    const tape_node *k = node_at(w->t, node);
    const ckt_env env = env_of(w, k);
    const double *x = solution(w->t, node);
    if (w->past)
        nat_back_hold(w->past, (size_t)w->point, k->t, x, noted_at(w, node), false);
    vs_status st = linearise(w, &env, x);
    if (st == VS_OK)
        st = factor(w, &w->step, k->t);
    for (int32_t i = 0; i < w->n_measure && st == VS_OK; i++) {
        solve(w, k, h, i);
        add_scaled(before[i].s, k->a[0], w->mu, stride(w->t));
        add_scaled(two[i].s, k->a[1], w->mu, stride(w->t));
        add_scaled(flow[i].b, k->b, w->mu, stride(w->t));
    }
    if (st == VS_OK && w->past)
        nat_back_rows(w->past, (size_t)w->point, k->t, x, (const double *const *)w->f);
    return st == VS_OK ? show(w, &env, x, noted_at(w, node), POINT) : st;
}

/* -- what rows say of nodes -- */

/* The next row is the one just behind the corner. */
static bool is_followed(const back *w, const tape_row *r)
{
    const ana_tape *t = w->t;
    const bool last = r + 1 >= t->row + vec_len(t->row);
    return last ? t->behind.any && t->behind.corner : r[1].jump >= 0;
}

/* How much of the row's part in a sum of trapezia lies behind it: that of a corner has there the
 * derivatives of the piece behind. */
static double share_behind(const back *w, const tape_row *r)
{
    const ana_tape *t = w->t;
    const bool last = r + 1 >= t->row + vec_len(t->row), first = r == t->row;
    if (last && !t->behind.any)
        return 0;
    const double here = node_at(t, r->node)->t;
    const double next = last ? t->behind.t : node_at(t, r[1].node)->t;
    const bool corner = last ? t->behind.corner : r[1].jump >= 0;
    const double later = (corner ? TRAN_BEHIND : 1) * (next - here);
    const double before = !first ? node_at(t, r[-1].node)->t : t->before.any ? t->before.t : here;
    return later / (later + (here - before));
}

/* A pulse at a corner is weighed with the mean of both sides: squares have this derivative. */
static void seed_row(back *w, const ana_seed *s, const tape_row *r)
{
    const int32_t m = s->measure, i = s->unknown;
    ahead *here = &w->sum[0][m], *before = &w->sum[1][m], *stage = &w->stage[m];
    if (r->jump >= 0)
        before->p[i] += 0.5 * s->pulse;
    else
        here->p[i] += (is_followed(w, r) ? 0.5 : 1) * s->pulse;
    if (r->jump < 0) {
        here->m[i] += s->weight;
        here->r[i] += isnan(s->behind) ? s->weight * share_behind(w, r) : s->behind;
    } else if (w->t->jump[r->jump + i]) {
        const double part = 2 * (1 - INTEG_SDIRK_GAMMA);
        here->m[i] += s->weight * (1 - part);
        stage->m[i] += s->weight * part;
    } else {
        here->m[i] += s->weight * TRAN_BEHIND;
        before->m[i] += s->weight * (1 - TRAN_BEHIND);
        before->r[i] += s->weight * (1 - TRAN_BEHIND);
    }
}

static void take_seeds(back *w, int64_t node)
{
    while (vec_len(w->seed)) {
        const ana_seed s = vec_last(w->seed);
        const tape_row *r = &w->t->row[s.row - w->t->first_row];
        if (r->node != node)
            break;
        seed_row(w, &s, r);
        (void)vec_pop(w->seed);
    }
}

/* What of f is of lines and delays. */
static void past_behind(back *w, int64_t node, const double *x)
{
    const size_t n1 = stride(w->t);
    for (int32_t i = 0; i < w->n_measure; i++)
        memset(w->rhs_of[i], 0, n1 * sizeof(double));
    nat_back_behind(w->past, (size_t)w->point, node_at(w->t, node)->t, x, noted_at(w, node),
                    (const double *const *)w->f, w->rhs_of);
    for (int32_t i = 0; i < w->n_measure; i++)
        add_scaled(w->sum[0][i].m, -1, w->rhs_of[i], n1);
}

/* Shows f of what belongs to the piece behind, by these factors, times `by`. */
static vs_status show_part(back *w, int64_t node, const double *x, factors *of, double by)
{
    const tape_node *k = node_at(w->t, node);
    const ckt_env env = env_of(w, k);
    bool any = false;
    for (int32_t i = 0; i < w->n_measure; i++) {
        const double *r = w->sum[0][i].r;
        bool some = false;
        for (size_t j = 1; j < stride(w->t); j++) {
            w->rhs[j] = -by * r[j];
            some |= r[j] != 0;
        }
        memset(w->q[i], 0, stride(w->t) * sizeof(double));
        memset(w->f[i], 0, stride(w->t) * sizeof(double));
        if (is_feeds(w, i) && any) {
            add_seeds(w, &w->moving, w->f[i - w->n_given], w->sum[0][i - w->n_given].r, -by,
                      w->rhs);
            some = true;
        }
        if (some)
            lu_solve(&of->lu, w->rhs + 1, w->f[i] + 1);
        if (is_feeds(w, i))
            level_out(&w->moving, w->f[i]);
        any |= some;
    }
    if (any && w->past && node > 0)
        past_behind(w, node, x);
    return any ? show(w, &env, x, node > 0 ? noted_at(w, node) : NULL, BEHIND) : VS_OK;
}

/* Just behind a node, charges are those at the node, and what has none follows the sources: to the
 * order of the step, as the step behind it has it, whose factors are still there. Where a corner
 * moves, derivatives of sources jump, and this is what the measures see of it.
 *   step     in  the stage and the end of the step behind the node
 *   jumping  in  jump_back was there: a pulse is taken for a current that stays, as large as alpha.
 *                What is found is linear in alpha, and wanted at 0 */
static vs_status show_behind(back *w, int64_t node, const double *x, const tape_node *step,
                             bool jumping)
{
    const double length = jump_length * (step[1].t - node_at(w->t, node)->t);
    const double ratio = jumping ? step[0].alpha * length : 0;
    vs_status st = show_part(w, node, x, &w->step, 1 / (1 - ratio));
    if (st == VS_OK && jumping)
        st = show_part(w, node, x, &w->jump, -ratio / (1 - ratio));
    return st;
}

/* Goes back over the step of nearly no length behind a corner, from the charges that the step
 * behind it began with to those of the node. Charges of nodes that nothing forces stay; those of
 * the others jump, by a pulse of current. Lines and delays have the node in their past. */
static vs_status jump_back(back *w, int64_t node, const double *x, const tape_node *step)
{
    const tape_node *k = node_at(w->t, node);
    ckt_env env = env_of(w, k);
    const double length = jump_length * (step[1].t - k->t);
    const double t = fmax(nat_back_beyond(k->t, step[1].t), k->t + length);
    env.alpha = 1 / length;
    vs_status st = w->jump.any ? VS_OK : make_factors(w, &w->jump);
    if (st == VS_OK && w->past)
        nat_back_hold(w->past, (size_t)w->point, t, x, noted_at(w, node), true);
    if (st == VS_OK)
        st = linearise(w, &env, x);
    if (st == VS_OK)
        st = factor(w, &w->jump, k->t);
    for (int32_t i = 0; i < w->n_measure && st == VS_OK; i++) {
        ahead *h = &w->sum[0][i];
        for (size_t j = 1; j < stride(w->t); j++)
            w->rhs[j] = -h->p[j] * length;
        add_charge(w, h->s, w->rhs);
        if (is_feeds(w, i))
            add_seeds(w, &w->moving, w->f[i - w->n_given], w->sum[0][i - w->n_given].p, -length,
                      w->rhs);
        lu_solve(&w->jump.lu, w->rhs + 1, w->f[i] + 1);
        if (is_feeds(w, i))
            level_out(&w->moving, w->f[i]);
        for (size_t j = 1; j < stride(w->t); j++) {
            w->q[i][j] = h->s[j] - env.alpha * w->f[i][j];
            h->s[j] = env.alpha * w->f[i][j];
        }
    }
    if (st == VS_OK && w->past)
        nat_back_rows(w->past, (size_t)w->point, t, x, (const double *const *)w->f);
    return st == VS_OK ? show(w, &env, x, noted_at(w, node), AFTER) : st;
}

/* The stage and the end of the step that begins a piece behind a node, both its end where it is one
 * of backward Euler; false: none does. */
static bool step_behind(const ana_tape *t, int64_t node, tape_node step[2])
{
    const int64_t n = end_of(t);
    const tape_node *here = node_at(t, node);
    step[0] = node + 1 < n ? here[1] : t->next[0];
    step[1] = !step[0].stage ? step[0] : node + 2 < n ? here[2] : t->next[node + 2 - n];
    return step[0].stage || (here->corner && step[0].t > here->t);
}

/* A corner of a source moves there, or one arrives through a delay. */
static bool is_jump(const back *w, int64_t node, const double *x)
{
    const double t = node_at(w->t, node)->t;
    return w->jumps(w->user, t) || (w->past && nat_back_jumps(w->past, (size_t)w->point, t, x));
}

/* What lies between a node and the step behind it. */
static vs_status back_to_node(back *w, int64_t node, const double *x)
{
    tape_node step[2];
    const bool begins = step_behind(w->t, node, step);
    const bool jumping = begins && is_jump(w, node, x);
    if (w->past && node_at(w->t, node)->corner)
        nat_back_turn(w->past);
    const vs_status st = jumping ? jump_back(w, node, x, step) : VS_OK;
    take_point(w);
    return st == VS_OK && begins ? show_behind(w, node, x, step, jumping) : st;
}

/* -- the start -- */

/* The charges at t = 0 are what the first steps began with. */
static vs_status back_to_charge(back *w, const double *x)
{
    const tape_node *k = node_at(w->t, 0);
    ckt_env env = env_of(w, k);
    env.alpha = node_at(w->t, 1)->alpha; /* any: C alone is wanted */
    env.initial_step = true;
    vs_status st = linearise(w, &env, x);
    for (int32_t i = 0; i < w->n_measure && st == VS_OK; i++) {
        memset(w->f[i], 0, stride(w->t) * sizeof(double));
        memcpy(w->q[i], w->sum[0][i].s, stride(w->t) * sizeof(double));
    }
    return st == VS_OK ? show(w, &env, x, NULL, POINT) : st;
}

static vs_status back_to_start(back *w, const double *x)
{
    ana *a = w->t->a;
    const newton_eq eq = ana_static_eq(a, true);
    ckt_env env = eq.env;
    vs_status st = VS_OK;
    env.limit = false;
    env.iter = 1;
    if (!w->t->o.uic) {
        st = load(w, &env, x, w->g);
        for (size_t k = 0; k < eq.n_force; k++)
            add_diagonal(w, eq.force[k].unknown, eq.gforce);
        if (st == VS_OK)
            st = factor(w, &w->step, 0);
    }
    for (int32_t i = 0; i < w->n_measure && st == VS_OK; i++) {
        const double sign = w->t->o.uic ? 1 : -1;
        for (size_t j = 1; j < stride(w->t); j++) {
            w->rhs[j] = sign * w->sum[0][i].m[j];
            w->mu[j] = -sign * w->sum[0][i].s[j];
            w->q[i][j] = 0;
        }
        add_charge(w, w->mu, w->rhs);
        if (w->t->o.uic) {
            memcpy(w->f[i], w->rhs, stride(w->t) * sizeof(double));
            continue;
        }
        if (is_feeds(w, i))
            add_seeds(w, &w->still, w->f[i - w->n_given], w->sum[0][i - w->n_given].m, sign,
                      w->rhs);
        lu_solve(&w->step.lu, w->rhs + 1, w->f[i] + 1);
        if (is_feeds(w, i))
            level_out(&w->still, w->f[i]);
    }
    return st == VS_OK ? show(w, &env, x, NULL, w->t->o.uic ? GIVEN : POINT) : st;
}

static vs_status back_at_start(back *w)
{
    const double *x = solution(w->t, 0);
    take_seeds(w, 0);
    vs_status st = back_to_node(w, 0, x);
    if (st == VS_OK)
        st = back_to_charge(w, x);
    return st == VS_OK ? back_to_start(w, x) : st;
}

static void rotate(back *w)
{
    ahead *was = w->sum[0];
    w->sum[0] = w->sum[1];
    w->sum[1] = w->sum[2];
    w->sum[2] = was;
    clear_ahead(w, was);
    clear_ahead(w, w->stage);
}

static vs_status part_seeds(back *w)
{
    const ana_tape *t = w->t;
    const ana_tape_part part = {.first = t->first_row,
                                .n = (int64_t)vec_len(t->row),
                                .before = t->before.any ? t->before.x : NULL,
                                .behind = t->behind.any ? t->behind.x : NULL,
                                .axis_before = t->before.axis,
                                .axis_behind = t->behind.axis};
    vec_clear(w->seed);
    return part.n ? t->rows->seeds(t->rows->user, &part, &w->seed) : VS_OK;
}

static vs_status run_back(back *w)
{
    vs_status st = VS_OK;
    ana_tape *t = w->t;
    const double n = (double)end_of(t);
    st = part_seeds(w);
    for (int64_t k = end_of(t) - 1; k > 0 && st == VS_OK; k--) {
        if (k < t->first) {
            st = part_before(t);
            if (st == VS_OK)
                st = part_seeds(w);
            if (st != VS_OK)
                return st;
        }
        const bool staged = k > t->first && node_at(t, k - 1)->stage;
        take_seeds(w, k);
        st = back_to_node(w, k, solution(t, k));
        if (st == VS_OK)
            st = step_back(w, k, w->sum[0], w->sum[1], w->sum[2], staged ? w->stage : w->sum[1]);
        if (staged && st == VS_OK)
            st = step_back(w, --k, w->stage, w->sum[1], w->sum[2], w->sum[1]);
        rotate(w);
        if (ana_tick(t->a, &w->next_progress, 1 - (double)k / n, node_at(t, k)->t,
                     t->sink->progress, t->sink->stop, t->sink->user) &&
            st == VS_OK)
            st = VS_STOP;
    }
    return st == VS_OK ? back_at_start(w) : st;
}

vs_status ana_tape_back(ana_tape *t, int32_t n_measure, bool (*jumps)(void *user, double t),
                        vs_status (*visit)(void *user, const ana_adjoint *at), void *user)
{
    back w = {.visit = visit, .jumps = jumps, .user = user};
    t->a->tran->tape = NULL;
    vs_status st = begin(&w, t, n_measure);
    if (st == VS_OK)
        st = run_back(&w);
    t->fed = w.of_points.node;
    lu_fini(&w.step.lu);
    if (w.jump.any)
        lu_fini(&w.jump.lu);
    nat_back_free(&w.past);
    vec_free(w.seed);
    arena_fini(&w.mem);
    return st;
}
