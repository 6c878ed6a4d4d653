/* report.c - sentences about unknowns, rows and devices for the user. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ana_priv.h"

const char *ana_unknown_text(ana *a, int32_t i)
{
    const ckt_unknown *u = &a->u[i];
    const char *what = u->kind == CKT_CURRENT ? "current" : u->internal ? "internal node" : "node";
    return arena_printf(&a->d->mem, "%s '%s'", what, u->name ? u->name : "?");
}

static const char *unit_of(const ckt_unknown *u)
{
    return u->kind == CKT_CURRENT ? " A" : u->kind == CKT_VOLTAGE ? " V" : "";
}

const char *ana_blame_text(ana *a, int32_t row)
{
    const char *name[3], *text = "";
    double amount[3];
    int n = ckt_blame(a->c, row, name, amount, 3);
    const char *unit = a->u[row].node ? " A" : "";
    for (int i = 0; i < n; i++)
        text = arena_printf(&a->d->mem, "%s%s%s (%.3g%s)", text, i ? ", " : "", name[i], amount[i],
                            unit);
    return text;
}

static void note_blame(ana *a, int32_t row)
{
    const char *devices = ana_blame_text(a, row);
    if (*devices)
        diag_note(a->d, DIAG_NOWHERE, "the largest contributions there come from %s", devices);
}

void ana_note_newton(ana *a, const newton_report *rep)
{
    if (rep->nonfinite) {
        const char *devices = ana_blame_text(a, 0);
        diag_note(a->d, DIAG_NOWHERE,
                  "a device gave a value that is not finite in iteration %d%s%s", rep->iter,
                  *devices ? ": " : "", devices);
        return;
    }
    if (rep->beyond)
        diag_note(a->d, DIAG_NOWHERE,
                  "%s went beyond %.3g V, where rounding is more than vntol: no solution there is "
                  "accepted",
                  ana_unknown_text(a, rep->beyond), a->tol_x[rep->beyond] / DBL_EPSILON);
    if (rep->singular)
        diag_note(a->d, DIAG_NOWHERE,
                  "the matrix is singular at %s: is it connected, does a "
                  "conducting path lead to ground?",
                  ana_unknown_text(a, rep->singular));
    if (rep->worst_dx) {
        diag_note(a->d, DIAG_NOWHERE, "%s still moves by %.3g%s per iteration, %.3g allowed",
                  ana_unknown_text(a, rep->worst_dx), fabs(rep->dx), unit_of(&a->u[rep->worst_dx]),
                  rep->dx_tol);
        note_blame(a, rep->worst_dx);
    }
    if (rep->worst_r) {
        diag_note(a->d, DIAG_NOWHERE, "the equation of %s is off by %.3g%s, %.3g allowed",
                  ana_unknown_text(a, rep->worst_r), fabs(rep->r),
                  a->u[rep->worst_r].node ? " A" : "", rep->r_tol);
        if (rep->worst_r != rep->worst_dx)
            note_blame(a, rep->worst_r);
    }
    if (!rep->worst_dx && !rep->worst_r && rep->limited)
        diag_note(a->d, DIAG_NOWHERE, "devices were still limiting their voltages");
}
