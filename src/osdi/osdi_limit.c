/* osdi_limit.c - the limiting functions that models call by name through $limit.
 * Source: Nagel, SPICE2 (ERL-M520), section 3.3, and the ngspice manual's chapter on convergence:
 *         pnjlim, fetlim and limvds of SPICE3; limitlog is a logarithmic step beyond a tolerance.
 * `init` asks for a start value of the iteration. */
#include "osdi_priv.h"

#include <math.h>
#include <string.h>

static double pnjlim(bool init, bool *limited, double v, double old, double vt, double vcrit)
{
    if (init) {
        *limited = true;
        return vcrit;
    }
    *limited = v > vcrit && fabs(v - old) > 2 * vt;
    if (!*limited)
        return v;
    if (old <= 0)
        return vt * log(v / vt);
    const double arg = 1 + (v - old) / vt;
    return arg > 0 ? old + vt * log(arg) : vcrit;
}

static double limvds(bool init, bool *limited, double v, double old)
{
    if (init) {
        *limited = true;
        return 0.1;
    }
    double to = v;
    if (old >= 3.5)
        to = v > old ? fmin(v, 3 * old + 2) : v < 3.5 ? fmax(v, 2) : v;
    else
        to = v > old ? fmin(v, 4) : fmax(v, -0.5);
    *limited = to != v;
    return to;
}

/* Gate voltage around the threshold vto: small steps near it, larger ones far in the on or off
 * region. */
static double fet_step(double v, double old, double vto)
{
    const double high = 2 * fabs(old - vto) + 2, low = high / 2 + 2, on = vto + 3.5, step = v - old;
    if (old < vto) { /* off */
        if (step <= 0)
            return -step > high ? old - high : v;
        return v <= vto + 0.5 ? (step > low ? old + low : v) : vto + 0.5;
    }
    if (old < on) /* middle */
        return step <= 0 ? fmax(v, vto - 0.5) : fmin(v, vto + 4);
    if (step > 0) /* on */
        return step >= high ? old + high : v;
    if (v < on)
        return fmax(v, vto + 2);
    return -step >= low ? old - low : v;
}

static double fetlim(bool init, bool *limited, double v, double old, double vto)
{
    if (init) {
        *limited = true;
        return vto + 0.1;
    }
    const double to = fet_step(v, old, vto);
    *limited = to != v;
    return to;
}

static double limitlog(bool init, bool *limited, double v, double old, double tol)
{
    if (init) {
        *limited = true;
        return 0;
    }
    const double step = v - old;
    *limited = tol > 0 && !(fabs(step) <= tol);
    if (!*limited)
        return v;
    return old + copysign(tol + log10(fabs(step) / tol), step);
}

void *osdi_limiter(const char *name, uint32_t n_arg)
{
    static const struct {
        const char *name;
        uint32_t n_arg;
        void *fn;
    } all[] = {{"pnjlim", 2, (void *)pnjlim},
               {"limvds", 0, (void *)limvds},
               {"fetlim", 1, (void *)fetlim},
               {"limitlog", 1, (void *)limitlog}};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        if (!strcmp(name, all[i].name) && n_arg == all[i].n_arg)
            return all[i].fn;
    return NULL;
}
