/* ctl_step.c - transients that pause: stop after, stop when, step, resume. A pause keeps the
 * analysis as it is between two points; the circuit may not change until it goes on or ends. */
#include <math.h>
#include <string.h>

#include "ctl_priv.h"

typedef struct condition {
    char *left, *op, *right; /* of the heap */
} condition;

struct ctl_break {
    int number;
    int64_t after;   /* points; 0: not asked */
    condition *when; /* vec: all of them must hold */
    char *text;      /* as it was written */
};

static void free_stop(ctl_break *b)
{
    for (size_t i = 0; i < vec_len(b->when); i++) {
        vs_free(b->when[i].left);
        vs_free(b->when[i].op);
        vs_free(b->when[i].right);
    }
    vec_free(b->when);
    vs_free(b->text);
}

void ctl_free_stops(ctl *c)
{
    for (size_t i = 0; i < vec_len(c->stop); i++)
        free_stop(&c->stop[i]);
    vec_free(c->stop);
}

/* -- is it time? -- */

/* A number, or the newest value of a vector of the run's plot. NaN: no such vector. */
static double value_now(const post_plot *p, const char *text)
{
    double x;
    const char *end;
    const post_vec *v = post_plot_find(p, text);
    if (v && v->n)
        return v->complex ? hypot(v->v[2 * v->n - 2], v->v[2 * v->n - 1]) : v->v[v->n - 1];
    return str_spice_number(text, &end, &x) && !*end ? x : NAN;
}

static int op_of(const char *text)
{
    static const char *const name[][3] = {{"eq", "=", "=="},  {"ne", "<>", "!="},
                                          {"gt", ">", ">"},   {"lt", "<", "<"},
                                          {"ge", ">=", "=>"}, {"le", "<=", "=<"}};
    for (size_t i = 0; i < VS_COUNT(name); i++)
        for (size_t k = 0; k < VS_COUNT(name[i]); k++)
            if (!str_casecmp(name[i][k], text))
                return (int)i;
    return -1;
}

/* Points seldom meet a value exactly: `=` also holds when it lies between this one and the last. */
static bool holds(const post_plot *p, const condition *w)
{
    const double a = value_now(p, w->left), b = value_now(p, w->right);
    const post_vec *v = post_plot_find(p, w->left);
    switch (op_of(w->op)) {
    case 0:
        if (a == b || !v || v->complex || v->n < 2)
            return a == b;
        return (v->v[v->n - 2] < b) != (a < b) && v->v[v->n - 2] != b;
    case 1: return a != b;
    case 2: return a > b;
    case 3: return a < b;
    case 4: return a >= b;
    default: return a <= b;
    }
}

static bool is_time(const ctl *c, const ctl_break *b)
{
    bool all = !b->after || c->run.n_point == b->after;
    for (size_t i = 0; all && i < vec_len(b->when); i++)
        all = holds(c->run.plot, &b->when[i]);
    return all;
}

/* Warns of a condition that no point can meet. */
static void check_condition(ctl *c, const ctl_break *b, const condition *w)
{
    const char *const side[] = {w->left, w->right}, *end;
    double x;
    for (int i = 0; i < 2; i++)
        if (!post_plot_find(c->run.plot, side[i]) &&
            !(str_spice_number(side[i], &end, &x) && !*end))
            diag_warning(c->d, c->at, "stop %s never holds: there is no vector '%s'", b->text,
                         side[i]);
}

static void check_stops(ctl *c)
{
    for (size_t i = 0; i < vec_len(c->stop); i++)
        for (size_t k = 0; k < vec_len(c->stop[i].when); k++)
            check_condition(c, &c->stop[i], &c->stop[i].when[k]);
}

bool ctl_is_break(ctl *c)
{
    if (c->run.a.kind != FLAT_TRAN)
        return false;
    c->run.plot = c->run.plot ? c->run.plot : sim_plots(c->s)->current;
    if (!c->run.n_point++)
        check_stops(c);
    if (c->run.step > 0 && !--c->run.step)
        return true;
    for (size_t i = 0; i < vec_len(c->stop); i++)
        if (is_time(c, &c->stop[i])) {
            fprintf(c->o.log, "%d: condition met: stop %s\n", c->stop[i].number, c->stop[i].text);
            return true;
        }
    return false;
}

double ctl_next_stop(const ctl *c, double t)
{
    double next = INFINITY, at;
    const char *end;
    for (size_t i = 0; i < vec_len(c->stop); i++)
        for (size_t k = 0; k < vec_len(c->stop[i].when); k++) {
            const condition *w = &c->stop[i].when[k];
            if (!str_casecmp(w->left, "time") && str_spice_number(w->right, &end, &at) && !*end &&
                at > t)
                next = fmin(next, at);
        }
    return next;
}

/* -- commands -- */

static vs_status bad_stop(ctl *c)
{
    return ctl_fail(c, "stop takes conditions: stop when v(out) > 0.5, stop when time = 1u, "
                       "stop after 100");
}

/* The words of a text in which "time=1u" counts as three, like "time = 1u". */
static char **spaced_words(ctl *c, const char *text)
{
    char *s = arena_alloc(&c->scratch, 3 * strlen(text) + 1), *to = s;
    for (const char *p = text; *p; p++) {
        const bool sign = strchr("=<>!", *p) != NULL;
        if (sign && p > text && !strchr("=<>! ", p[-1]))
            *to++ = ' ';
        *to++ = *p;
        if (sign && p[1] && !strchr("=<>! ", p[1]))
            *to++ = ' ';
    }
    *to = 0;
    return ctl_words(c, s);
}

/* stop [after n] [when value op value]... */
vs_status ctl_stop(ctl *c, const char *text)
{
    ctl_break b = {.text = vs_strdup(text)};
    char **w = spaced_words(c, text);
    bool good = vec_len(w) > 0;
    for (size_t i = 0; good && i < vec_len(w);) {
        const size_t left = vec_len(w) - i;
        double n;
        const char *end;
        if (!str_casecmp(w[i], "after") && left > 1) {
            good = str_spice_number(w[i + 1], &end, &n) && !*end && n >= 1 && n < 1e15;
            b.after = good ? (int64_t)n : 0;
            i += 2;
        } else if (!str_casecmp(w[i], "when") && left > 3) {
            const condition one = {vs_strdup(w[i + 1]), vs_strdup(w[i + 2]), vs_strdup(w[i + 3])};
            vec_push(b.when, one);
            good = op_of(one.op) >= 0;
            i += 4;
        } else {
            good = false;
        }
    }
    vec_free(w);
    if (!good) {
        free_stop(&b);
        return bad_stop(c);
    }
    b.number = ++c->n_stop;
    vec_push(c->stop, b);
    for (size_t k = 0; c->run.paused && k < vec_len(b.when); k++)
        check_condition(c, &b, &b.when[k]);
    return VS_OK;
}

vs_status ctl_status(ctl *c, const char *text)
{
    (void)text;
    for (size_t i = 0; i < vec_len(c->stop); i++)
        fprintf(c->out, "%d   stop %s\n", c->stop[i].number, c->stop[i].text);
    const char *const *save = sim_opts(c->s)->save;
    for (size_t i = 0; i < vec_len(save); i++)
        fprintf(c->out, "    save %s\n", save[i]);
    return VS_OK;
}

/* delete n ... | all */
vs_status ctl_delete(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    vs_status st =
        vec_len(w) ? VS_OK : ctl_fail(c, "delete takes numbers that status shows, or all");
    for (size_t i = 0; i < vec_len(w) && !st; i++) {
        const bool all = !str_casecmp(w[i], "all");
        bool any = all;
        size_t n = 0;
        for (size_t k = 0; k < vec_len(c->stop); k++) {
            char number[16];
            snprintf(number, sizeof number, "%d", c->stop[k].number);
            const bool this = all || !strcmp(number, w[i]);
            any |= this;
            if (this)
                free_stop(&c->stop[k]);
            else
                c->stop[n++] = c->stop[k];
        }
        if (c->stop)
            vec_head_of(c->stop)->len = n;
        if (!any)
            st = ctl_fail(c, "status shows no number '%s'", w[i]);
    }
    vec_free(w);
    return st;
}

vs_status ctl_resume(ctl *c, const char *text)
{
    if (*text)
        return ctl_fail(c, "resume takes nothing behind it");
    if (c->run.paused)
        return ctl_go_on(c);
    return ctl_run_all(c, "");
}

/* step [n]: that many points, of the paused run or of the deck's analyses. */
vs_status ctl_step(ctl *c, const char *text)
{
    double n = 1;
    const char *end = "";
    if (*text && (!str_spice_number(text, &end, &n) || *end || !(n >= 1 && n < 1e15)))
        return ctl_fail(c, "step takes a number of points, not '%s'", text);
    c->run.step = (int64_t)n;
    const vs_status st = ctl_resume(c, "");
    return st;
}
