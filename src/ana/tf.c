/* tf.c - dc small-signal gain, input and output resistance (ngspice manual, ".TF").
 * With A = df/dx at the operating point: gain = c' A^-1 b, c the output's unit vector and b a unit
 * of the input source; the resistances are voltage over current at the source and between the
 * output nodes. What only gmin joins to ground has an infinite one. */
#include <math.h>
#include <string.h>

#include "small.h"

static const double open_ohm = 1e20; /* what ngspice prints for an infinite resistance */

static double input_resistance(const small *s, int32_t source, const double *z)
{
    const ckt_source_facts v = ckt_source_at(s->a->c, source);
    if (!v.is_v)
        return small_is_open(s, z) ? open_ohm : z[2 * v.n] - z[2 * v.p];
    const double i = -v.m * z[2 * v.k];
    return fabs(i) < 1 / open_ohm ? open_ohm : 1 / i;
}

/* Output a voltage: of 1 A into hi and out of lo. Output a current: 1 V in the branch. */
static double output_resistance(small *s, const ana_output *o, double *z)
{
    double re, im;
    small_adjoint(s, o, z);
    small_solve(s, z);
    small_output(o, z, &re, &im);
    if (!o->current)
        return small_is_open(s, z) ? open_ohm : re;
    return fabs(re) < 1 / open_ohm ? open_ohm : fabs(1 / re);
}

/* What of the gain, from the source to output `out`, gmin alone carries. */
static vs_status judge(small *s, const ana_output *out, double gain, int32_t source)
{
    if (!small_has_levels(s))
        return VS_OK;
    const size_t n2 = 2 * ((size_t)s->a->n + 1);
    small_feeds feeds = {0};
    double *y = vs_calloc(n2, sizeof *y), *b = vs_calloc(n2, sizeof *b);
    vs_status st = VS_OK;
    small_drive(s, source, b);
    small_adjoint(s, out, y);
    small_solve_t(s, y);
    small_feeds_tell_level(&feeds, s, out, y);
    if (small_feeds_of(&feeds, s, y)) {
        const small_answer v = {.value = fabs(gain),
                                .share = small_feeds_share_of(&feeds, s, b),
                                .b = b,
                                .what = arena_printf(&s->a->d->mem,
                                                     "the transfer from '%s' to the output",
                                                     ckt_source_at(s->a->c, source).name)};
        if (v.share > 0)
            st = small_feeds_judge(&feeds, s, &v);
    }
    small_feeds_fini(&feeds);
    vs_free(y);
    vs_free(b);
    return st;
}

vs_status ana_tf(ana *a, const ana_output *out, int32_t source, const ana_table *t)
{
    small s;
    double v[3], im, *z = vs_calloc(2 * ((size_t)a->n + 1), sizeof *z);
    const ckt_source_facts src = ckt_source_at(a->c, source);
    vs_status st = small_begin_static(&s, a);
    if (st == VS_OK)
        st = small_factor(&s, 0);
    if (st == VS_OK) {
        small_drive(&s, source, z);
        small_solve(&s, z);
        small_output(out, z, &v[0], &im);
        st = judge(&s, out, v[0], source);
    }
    if (st == VS_OK) {
        v[2] = input_resistance(&s, source, z);
        v[1] = output_resistance(&s, out, z);
        const char *to = out->current ? arena_printf(&a->mem, "%s#Output_impedance", out->name)
                                      : arena_printf(&a->mem, "output_impedance_at_%s", out->name);
        const char *in = arena_printf(&a->mem, "%s#Input_impedance", src.name);
        const ana_column col[] = {
            {"Transfer_function", "voltage"}, {to, "voltage"}, {in, "voltage"}};
        st = t->begin(t->user, "Transfer Function", col, 3, false);
        if (st == VS_OK)
            st = t->row(t->user, v);
        if (st == VS_OK)
            st = t->end(t->user);
        a->st.points_accepted++;
    }
    small_fini(&s);
    vs_free(z);
    return st;
}
