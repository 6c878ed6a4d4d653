/* ana_fail.c - what to tell when Newton fails: its iterations one by one, and what may help.
 * Runs do not record their iterations. A run that failed is repeated from the same start while an
 * ana_watch records it (ana_trace.h). */
#include <math.h>
#include <string.h>

#include "ana_priv.h"
#include "vec.h"

#define SHOWN_FIRST 3
#define SHOWN_LAST 8
#define WEAK 1e-8   /* S: a node held by less hangs in the air */
#define FAR 1e4     /* V or A: nothing a circuit should come to */
#define SHRINKS 0.5 /* of the update of SPAN iterations before: it was still on its way */
#define SPAN 4
#define LIMIT_RUNS 5     /* runs at the iteration limit that are worth a warning, */
#define LIMIT_SHARE 0.2  /* and their share of all; */
#define LIMIT_FAILED 0.5 /* of an analysis that failed, whose last runs are explained already */

static void see_iteration(void *user, const ana_iteration *it)
{
    ana_log *l = user;
    const char *name[1] = {""};
    double amount[1];
    if (it->iter == 1) { /* another run began */
        vec_clear(l->it);
        vec_clear(l->device);
    }
    if (it->worst_r || it->nonfinite)
        if (!ckt_blame(l->a->c, it->nonfinite ? 0 : it->worst_r, name, amount, 1))
            name[0] = "";
    vec_push(l->it, *it);
    vec_push(l->device, name[0]);
}

void ana_log_begin(ana_log *l, ana *a)
{
    *l = (ana_log){.a = a, .before = a->watch, .st = a->st};
    memcpy(l->runs, a->n_run, sizeof l->runs);
    memcpy(l->limits, a->n_limit, sizeof l->limits);
    l->watch = (ana_watch){.iteration = see_iteration, .user = l};
    a->watch = &l->watch;
}

void ana_log_end(ana_log *l)
{
    ana *a = l->a;
    a->watch = l->before;
    a->st = l->st;
    memcpy(a->n_run, l->runs, sizeof l->runs);
    memcpy(a->n_limit, l->limits, sizeof l->limits);
    vec_free(l->it);
    vec_free(l->device);
}

/* -- the table -- */

static const char *name_of(const ana *a, int32_t i)
{
    return i && a->u[i].name ? a->u[i].name : "-";
}

static const char *times(char buf[16], double x, double tol)
{
    snprintf(buf, 16, "%.2g", tol > 0 ? fabs(x) / tol : 0);
    return buf;
}

static void note_iteration(ana *a, const ana_iteration *it, const char *device)
{
    char b[2][16];
    if (it->nonfinite) {
        diag_note(a->d, DIAG_NOWHERE, "%4d  not finite%s%s", it->iter, *device ? ": " : "", device);
        return;
    }
    diag_note(a->d, DIAG_NOWHERE, "%4d  %10.3g %-16.40s %8s  %10.3g %-16.40s %8s  %-7.3g %s%s%s",
              it->iter, it->worst_dx ? -it->dx : 0, name_of(a, it->worst_dx),
              it->worst_dx ? times(b[0], it->dx, it->dx_tol) : "-", it->worst_r ? it->r : 0,
              name_of(a, it->worst_r), it->worst_r ? times(b[1], it->r, it->r_tol) : "-",
              it->damping, device, it->limited ? " (limiting)" : "",
              it->singular ? " (singular)" : "");
}

void ana_note_iterations(const ana_log *l)
{
    ana *a = l->a;
    const size_t n = vec_len(l->it);
    if (!n)
        return;
    diag_note(a->d, DIAG_NOWHERE, "iter  %10s %-16s %8s  %10s %-16s %8s  %-7s %s", "update", "of",
              "x limit", "residual", "of", "x limit", "damping", "most from");
    for (size_t i = 0; i < n; i++) {
        if (n > SHOWN_FIRST + SHOWN_LAST + 1 && i == SHOWN_FIRST) {
            i = n - SHOWN_LAST;
            diag_note(a->d, DIAG_NOWHERE, " ...  (%zu more)", i - SHOWN_FIRST);
        }
        note_iteration(a, &l->it[i], l->device[i]);
    }
}

/* -- hints -- */

/* Updates of one unknown that change their sign all the time. */
static bool swings(const ana_log *l, int32_t *who)
{
    const size_t n = vec_len(l->it);
    int turns = 0;
    if (n < 8)
        return false;
    for (size_t i = n - 6; i < n; i++) {
        const ana_iteration *it = &l->it[i], *last = &l->it[i - 1];
        if (!it->worst_dx || it->worst_dx != last->worst_dx)
            return false;
        turns += it->dx * last->dx < 0;
    }
    *who = l->it[n - 1].worst_dx;
    return turns >= 5;
}

static double excess(const ana_iteration *it)
{
    const double dx = it->worst_dx ? fabs(it->dx) / it->dx_tol : 0,
                 r = it->worst_r ? fabs(it->r) / it->r_tol : 0;
    return norm_max(dx, r);
}

static bool shrinks(const ana_log *l)
{
    const size_t n = vec_len(l->it);
    if (n && n <= SPAN) /* too few to tell */
        return !l->it[n - 1].nonfinite && !l->it[n - 1].singular;
    return n > SPAN && excess(&l->it[n - 1]) < SHRINKS * excess(&l->it[n - 1 - SPAN]);
}

static const char *device_of(const ana_log *l)
{
    const size_t n = vec_len(l->device);
    return n && *l->device[n - 1] ? l->device[n - 1] : NULL;
}

/* Whatever the kind of analysis: what the last iterations look like. option: of the limit. */
static bool hint_iterations(const ana_log *l, const newton_report *rep, const char *option,
                            int limit, const double *x)
{
    ana *a = l->a;
    int32_t who = rep->worst_dx ? rep->worst_dx : rep->worst_r;
    const char *device = device_of(l);
    if (rep->nonfinite) {
        diag_note(a->d, DIAG_NOWHERE,
                  "hint: a value outside the domain of a function (ln, sqrt, division by 0) in %s: "
                  "limit its argument; or a start value that is too far off (.nodeset)",
                  device ? device : "a device");
        return true;
    }
    if (rep->singular && rep->iter > 1) { /* it was regular at the start */
        diag_note(
            a->d, DIAG_NOWHERE,
            "hint: at this point %s does not depend on anything any more: perhaps there is no "
            "solution, or .nodeset can start nearer to it; look at %s",
            ana_unknown_text(a, rep->singular), device ? device : "the devices there");
        return true;
    }
    if (rep->singular) {
        const char *text = ana_unknown_text(a, rep->singular);
        diag_note(a->d, DIAG_NOWHERE,
                  a->u[rep->singular].node ? "hint: %s seems to float: a resistor to ground there, "
                                             "or .options rshunt=1e12 for all nodes"
                                           : "hint: nothing determines %s: a loop of voltage "
                                             "sources or a controlled source without a load?",
                  text);
        return true;
    }
    if (swings(l, &who)) {
        diag_note(
            a->d, DIAG_NOWHERE,
            "hint: the updates of %s swing to and fro: %s%s has a jump or a kink there; smooth its "
            "expression or characteristic, or start nearer with .nodeset",
            ana_unknown_text(a, who), device ? "perhaps " : "a device", device ? device : "");
        return true;
    }
    if (shrinks(l)) {
        diag_note(
            a->d, DIAG_NOWHERE,
            "hint: Newton was still on its way when its %d iterations were over: .options %s=%d",
            limit, option, limit < 10 ? 10 : 4 * limit);
        return true;
    }
    if (who && fabs(x[who]) > FAR && a->u[who].kind != CKT_OTHER) {
        diag_note(a->d, DIAG_NOWHERE,
                  "hint: %s ran away to %.3g: is a model without its series resistance there, or a "
                  "gain without a limit?",
                  ana_unknown_text(a, who), x[who]);
        return true;
    }
    if (who && a->gdiag[who] && fabs(*a->gdiag[who]) < WEAK) {
        diag_note(a->d, DIAG_NOWHERE,
                  "hint: only %.2g S hold %s: give it a path to ground, or .options rshunt=1e12",
                  fabs(*a->gdiag[who]), ana_unknown_text(a, who));
        return true;
    }
    return false;
}

void ana_hint_static(const ana_log *l, const newton_report *rep, const double *x,
                     double gmin_reached)
{
    ana *a = l->a;
    if (hint_iterations(l, rep, "itl1", a->opt.itl1, x))
        return;
    if (gmin_reached > 0)
        diag_note(a->d, DIAG_NOWHERE,
                  "hint: with %.3g S from every node to ground there is a solution; is one node "
                  "held by a "
                  "device that is off, or does the circuit have no stable state?",
                  gmin_reached);
    else
        diag_note(
            a->d, DIAG_NOWHERE,
            "hint: perhaps these equations have no solution; look at %s, at signs of controlled "
            "sources and at units",
            device_of(l) ? device_of(l) : "the devices named above");
}

void ana_hint_step(const ana_log *l, const newton_report *rep, const double *x, double t)
{
    ana *a = l->a;
    const char *device = device_of(l);
    if (rep->nonfinite || rep->singular || shrinks(l)) {
        (void)hint_iterations(l, rep, "itl4", a->opt.itl4, x);
        return;
    }
    diag_note(
        a->d, DIAG_NOWHERE,
        "hint: however short the step, there is no solution just after %.9g s: something in %s "
        "seems to jump there; give its expression or source a finite slope, or a capacitance to "
        "the node",
        t, device ? device : "the devices named above");
}

void ana_warn_limit(ana *a, vs_status st, bool tran, const char *option, int limit)
{
    const int64_t runs = a->n_run[tran], at_limit = a->n_limit[tran];
    const double least = st < 0 || st == VS_NOCONV ? LIMIT_FAILED : LIMIT_SHARE;
    if (at_limit < LIMIT_RUNS || (double)at_limit < least * (double)runs)
        return;
    diag_warning(a->d, DIAG_NOWHERE,
                 "in %lld of %lld solutions Newton stopped at its limit of %d iterations%s; "
                 ".options %s=%d gives it more",
                 (long long)at_limit, (long long)runs, limit,
                 tran ? " and the time step was cut" : "", option, limit < 10 ? 10 : 4 * limit);
}

bool ana_refuses_digital(const ana *a, const char *method)
{
    if (!ckt_is_digital(a->c))
        return false;
    diag_error(a->d, DIAG_NOWHERE,
               "%s is not possible with digital parts: what they remember is no periodic state of "
               "the equations; a transient (.tran) shows it",
               method);
    return true;
}
