/* carry.c - functions of a whole curve over its pieces. See carry.h. */
#include "carry.h"

#include <math.h>
#include <string.h>

#include "post_priv.h"

typedef struct call {
    post_env *e;
    post_carry *c;
    post_site *s;
    const post_val *y;
    post_val *out;
} call;

void post_carry_init(post_carry *c, int64_t all) { *c = (post_carry){.all = all}; }

void post_carry_fini(post_carry *c)
{
    vec_free(c->site);
    *c = (post_carry){0};
}

void post_carry_piece(post_carry *c, int64_t from, int64_t to, int64_t lo, int64_t n)
{
    c->from = from;
    c->to = to;
    c->lo = lo;
    c->n = n;
    c->at = c->inner = 0;
}

void post_carry_copy(post_carry *c, const post_site *from, size_t n)
{
    vec_clear(c->site);
    for (size_t k = 0; k < n; k++)
        vec_push(c->site, from[k]);
}

/* -- neighbours: func.c does it -- */

static void leave(call *k) { (void)k; }

/* -- running: the state of a site is that at the piece's first point -- */

static post_val like(const call *k, bool complex)
{
    post_val r = post_new_val(k->e, k->y->n, complex);
    r.plot = k->y->plot;
    r.type = k->y->type;
    r.derived = k->y->derived;
    return r;
}

static cplx sum_of(const post_site *s) { return s->sum[0] + I * s->sum[1]; }

static void set_sum(post_site *s, cplx x)
{
    s->sum[0] = creal(x);
    s->sum[1] = cimag(x);
}

/* Runs from the piece's first point forth, then from there back. step(k, i) is what point i adds to
 * the sum in front of it. *next: the sum at the first point of the next piece. */
static void run(call *k, cplx first, cplx (*step)(const call *, int64_t), cplx *at)
{
    const int64_t i0 = k->c->from - k->c->lo, n = k->y->n;
    at[i0] = first;
    for (int64_t i = i0 + 1; i < n; i++)
        at[i] = at[i - 1] + step(k, i);
    for (int64_t i = i0; i > 0; i--)
        at[i - 1] = at[i] - step(k, i);
    if (k->c->to - k->c->lo < n)
        set_sum(k->s, at[k->c->to - k->c->lo]);
}

static cplx *room(const call *k)
{
    return arena_alloc(k->e->mem, (size_t)(k->y->n + 1) * sizeof(cplx));
}

static cplx trapezoid(const call *k, int64_t i)
{
    const double h = post_axis_at(k->y, i) - post_axis_at(k->y, i - 1);
    return (post_at(k->y, i) + post_at(k->y, i - 1)) * h / 2;
}

static void integ(call *k)
{
    cplx *at = room(k);
    run(k, k->c->from ? sum_of(k->s) : 0, trapezoid, at);
    *k->out = like(k, k->y->complex);
    for (int64_t i = 0; i < k->y->n; i++)
        post_put(k->out, i, at[i]);
    k->out->type = "notype";
}

static cplx value(const call *k, int64_t i) { return post_at(k->y, i); }

static void avg(call *k)
{
    cplx *at = room(k);
    run(k, k->c->from ? sum_of(k->s) : post_at(k->y, 0), value, at);
    *k->out = like(k, k->y->complex);
    for (int64_t i = 0; i < k->y->n; i++)
        post_put(k->out, i, at[i] / (double)(k->c->lo + i + 1));
}

static cplx turn(const call *k, int64_t i)
{
    return -2 * M_PI * round((carg(post_at(k->y, i)) - carg(post_at(k->y, i - 1))) / (2 * M_PI));
}

static void cph(call *k)
{
    cplx *at = room(k);
    run(k, k->c->from ? sum_of(k->s) : 0, turn, at);
    *k->out = like(k, false);
    for (int64_t i = 0; i < k->y->n; i++) {
        const double p = carg(post_at(k->y, i)) + creal(at[i]);
        k->out->v[i] = k->e->degrees ? p * 180 / M_PI : p;
    }
    k->out->type = "phase";
}

/* -- one value of all -- */

/* Calls add for each point of the piece, unless the value is known or waits for another one.
 * Returns whether the value is known. */
static bool collect(call *k, void (*add)(const call *, post_site *, cplx))
{
    post_site *s = k->s;
    bool ready = !s->known;
    for (size_t i = k->c->inner; i < k->c->at - 1; i++)
        ready &= k->c->site[i].known;
    s->fed |= ready;
    for (int64_t i = k->c->from; i < k->c->to && ready; i++)
        add(k, s, post_at(k->y, i - k->c->lo));
    return s->known;
}

static void one(call *k, cplx x, bool complex)
{
    *k->out = post_new_val(k->e, 1, complex);
    post_put(k->out, 0, x);
    k->out->type = k->y->type;
}

static void add_sum(const call *k, post_site *s, cplx x)
{
    (void)k;
    set_sum(s, sum_of(s) + x);
}

static void sum(call *k) { one(k, collect(k, add_sum) ? sum_of(k->s) : NAN, k->y->complex); }

static void mean(call *k)
{
    one(k, collect(k, add_sum) ? sum_of(k->s) / (double)k->c->all : NAN, k->y->complex);
}

static void add_square(const call *k, post_site *s, cplx x)
{
    if (s->phase)
        s->sum[0] += pow(creal(x) - s->mean, 2);
    else
        s->mean += creal(x) / (double)k->c->all;
}

static void stddev(call *k)
{
    const bool known = collect(k, add_square);
    *k->out = post_number(k->e, known ? sqrt(k->s->sum[0] / (double)(k->c->all - 1)) : NAN);
}

static void add_max(const call *k, post_site *s, cplx x)
{
    (void)k;
    s->sum[0] = isnan(s->sum[0]) || creal(x) > s->sum[0] ? creal(x) : s->sum[0];
}

static void add_min(const call *k, post_site *s, cplx x)
{
    (void)k;
    s->sum[0] = isnan(s->sum[0]) || creal(x) < s->sum[0] ? creal(x) : s->sum[0];
}

static void most(call *k) { one(k, collect(k, add_max) ? k->s->sum[0] : NAN, false); }
static void least(call *k) { one(k, collect(k, add_min) ? k->s->sum[0] : NAN, false); }

static void add_size(const call *k, post_site *s, cplx x)
{
    (void)k;
    s->sum[0] = fmax(s->sum[0], cabs(x));
}

static void norm(call *k)
{
    const double m = collect(k, add_size) ? k->s->sum[0] : 0;
    *k->out = like(k, k->y->complex);
    for (int64_t i = 0; i < k->y->n; i++)
        post_put(k->out, i, m > 0 ? post_at(k->y, i) / m : 0);
}

static void length(call *k) { *k->out = post_number(k->e, (double)k->c->all); }

/* -- sites -- */

typedef enum kind { NEIGHBOUR, RUNNING, ONE, DELAY } kind;

static const struct {
    const char *name;
    kind what;
    void (*run)(call *);
    double first; /* of the sum */
} table[] = {{"deriv", NEIGHBOUR, leave, 0}, {"group_delay", NEIGHBOUR, leave, 0},
             {"integ", RUNNING, integ, 0},   {"avg", RUNNING, avg, 0},
             {"cph", RUNNING, cph, 0},       {"cphase", RUNNING, cph, 0},
             {"unwrap", RUNNING, cph, 0},    {"length", NEIGHBOUR, length, 0},
             {"mean", ONE, mean, 0},         {"sum", ONE, sum, 0},
             {"stddev", ONE, stddev, 0},     {"max", ONE, most, NAN},
             {"maximum", ONE, most, NAN},    {"vecmax", ONE, most, NAN},
             {"min", ONE, least, NAN},       {"minimum", ONE, least, NAN},
             {"vecmin", ONE, least, NAN},    {"norm", ONE, norm, 0},
             {"delay", DELAY, leave, 0}};

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < VS_COUNT(table) && strcmp(table[i].name, name))
        i++;
    return i;
}

/* The next site; NULL: it is another function's than in the first piece. */
static post_site *next_site(post_carry *c, size_t i)
{
    if (c->at == vec_len(c->site)) {
        const post_site s = {
            .name = table[i].name, .known = table[i].what != ONE, .sum = {table[i].first, 0}};
        vec_push(c->site, s);
    }
    post_site *s = &c->site[c->at++];
    return !strcmp(s->name, table[i].name) ? s : NULL;
}

/* Whether there is a running function inside of the argument: in front of a piece its sums go back
 * from there, with other roundings than those of the whole. */
static bool is_over_running(const post_carry *c)
{
    for (size_t k = c->inner; k < c->at; k++)
        if (table[find(c->site[k].name)].what == RUNNING)
            return true;
    return false;
}

/* Whether the function takes these arguments over a piece. */
static bool takes(const post_carry *c, size_t i, const post_val *arg, int n_arg)
{
    const bool is_delay = table[i].what == DELAY,
               needs_axis = !strcmp(table[i].name, "integ") || table[i].run == leave;
    return n_arg == 1 + is_delay && arg->n == c->n && (!needs_axis || post_axis(arg)) &&
           (!is_delay ||
            (arg[1].n == 1 && !arg[1].complex && isfinite(arg[1].v[0]) && !is_over_running(c)));
}

/* Notes the delay of a site; false: it was another one in the first piece. */
static bool note_delay(post_site *s, double by)
{
    const bool same = !s->fed || s->sum[0] == by;
    s->sum[0] = by;
    s->fed = true;
    return same;
}

post_carried post_carry_call(post_env *e, const char *name, const post_val *arg, int n_arg,
                             post_val *out)
{
    post_carry *c = e->carry;
    const size_t i = find(name);
    if (i == VS_COUNT(table) || !takes(c, i, arg, n_arg))
        return POST_CARRY_NOT;
    call k = {.e = e, .c = c, .s = next_site(c, i), .y = arg, .out = out};
    c->lost |= !k.s || (table[i].what == DELAY && !note_delay(k.s, arg[1].v[0]));
    if (!k.s)
        return POST_CARRY_NOT;
    table[i].run(&k);
    return table[i].run == leave ? POST_CARRY_RUN : POST_CARRY_DONE;
}

int64_t post_carry_margin(const post_carry *c)
{
    return vec_len(c->site) ? (int64_t)vec_len(c->site) + 2 : 0;
}

int post_carry_delays(const post_carry *c, double *back, double *ahead)
{
    int n = 0;
    *back = *ahead = 0;
    for (size_t k = 0; k < vec_len(c->site); k++)
        if (table[find(c->site[k].name)].what == DELAY) {
            *back = fmax(*back, c->site[k].sum[0]);
            *ahead = fmax(*ahead, -c->site[k].sum[0]);
            n++;
        }
    return n;
}

bool post_carry_runs(const post_carry *c)
{
    for (size_t k = 0; k < vec_len(c->site); k++)
        if (table[find(c->site[k].name)].what == RUNNING)
            return true;
    return false;
}

/* A value of all begins anew, or is known, or goes on to its second pass. */
static void settle(post_site *s, bool none)
{
    const bool first = !none && s->fed && !s->phase && !strcmp(s->name, "stddev");
    if (none) {
        s->sum[0] = table[find(s->name)].first;
        s->sum[1] = s->mean = 0;
    } else if (s->fed && !first) {
        s->known = true;
    }
    s->phase += first;
    s->fed = false;
}

bool post_carry_pass(post_carry *c, bool none)
{
    bool again = false;
    for (size_t k = 0; k < vec_len(c->site); k++) {
        if (!c->site[k].known)
            settle(&c->site[k], none);
        again |= !c->site[k].known;
    }
    return again;
}
