/* noise.c - noise at an output from every source of every device.
 * One adjoint solution per frequency, (G + j omega C)' y = c with c the output's unit vector, gives
 * the gain from every row at once: a source with density S and gains a_k into rows k has the output
 * density S |sum_k a_k y_k|^2 (of a charge: j omega a_k). Rohrer, Nagel, Meyer, Weber, IEEE J.
 * Solid-State Circuits 6(4), 1971. Integrals assume a power law between two frequencies, for each
 * source: exact for white and 1/f noise. */
#include <math.h>
#include <string.h>

#include "small.h"

typedef struct noise {
    small s;
    const ana_noise_opt *o;
    const ana_table *t;
    noise_origin *origin;                /* vec; a device's sources stand before it */
    int32_t *origin_of;                  /* vec; of each noise source */
    double *y, *drive;                   /* [2 (n+1)] */
    double f, f_last, gain2, gain2_last; /* |output / input|^2 */
    double total, out, in;
    size_t n_done; /* frequencies */
    double *row;   /* vec */
    small_feeds feeds;
} noise;

/* -- names -- */

static int32_t origin_named(noise_origin **list, size_t from, const char *name)
{
    for (size_t i = from; i < vec_len(*list); i++)
        if (!strcmp((*list)[i].name, name))
            return (int32_t)i;
    vec_push(*list, ((noise_origin){.name = name, .owner = -1}));
    return (int32_t)vec_len(*list) - 1;
}

/* Sources of a device that have one name are one origin, as the LRM (4.6.4) has it. */
void noise_origins(ana *a, noise_origin **list, int32_t **origin_of)
{
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *s = ckt_noises(a->c, &n, &gain);
    for (size_t i = 0, end; i < n; i = end) {
        const char *device = ckt_device_name(a->c, s[i].device);
        const size_t first = vec_len(*list);
        for (end = i; end < n && s[end].device == s[i].device; end++) {
            const char *name = ckt_noise_name(a->c, &s[end]);
            const char *full =
                *name ? arena_printf(&a->mem, "%s_%s", device, name)
                      : arena_printf(&a->mem, "%s_noise%d", device, (int)s[end].source + 1);
            vec_push(*origin_of, origin_named(list, first, full));
        }
        vec_push(*list, ((noise_origin){.name = device, .owner = -1}));
        for (size_t k = first; k + 1 < vec_len(*list); k++)
            (*list)[k].owner = (int32_t)vec_len(*list) - 1;
    }
}

/* -- one frequency -- */

/* What of the noise, and of the gain from the input, gmin alone carries. */
static vs_status judge(noise *w)
{
    small_feeds_tell_level(&w->feeds, &w->s, &w->o->out, w->y);
    if (!small_feeds_of(&w->feeds, &w->s, w->y))
        return VS_OK;
    const small_answer all = {
        .f = w->f, .value = sqrt(w->total), .what = "the noise at the output"};
    vs_status st = small_feeds_judge_noise(&w->feeds, &w->s, &all, w->y);
    const double share = small_feeds_share_of(&w->feeds, &w->s, w->drive);
    if (st == VS_OK && share > 0)
        st = small_feeds_judge(&w->feeds, &w->s,
                               &(small_answer){.f = w->f,
                                               .value = sqrt(w->gain2),
                                               .share = share,
                                               .b = w->drive,
                                               .what = "the gain from the input to the output"});
    return st;
}

static double density(const noise *w, const ckt_noise *s, const ckt_noise_gain *gain, double omega)
{
    double re = 0, im = 0;
    for (int32_t k = s->first; k < s->end; k++) {
        const double *y = &w->y[2 * gain[k].row], a = gain[k].gain;
        re += gain[k].rate ? -omega * a * y[1] : a * y[0];
        im += gain[k].rate ? omega * a * y[0] : a * y[1];
    }
    return ckt_noise_density(w->s.a->c, s, w->f) * (re * re + im * im);
}

static vs_status solve(noise *w)
{
    const double omega = 2 * acos(-1) * w->f;
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *s = ckt_noises(w->s.a->c, &n, &gain);
    const vs_status st = small_factor(&w->s, omega);
    if (st != VS_OK)
        return st;
    small_adjoint(&w->s, &w->o->out, w->y);
    small_solve_t(&w->s, w->y);
    double re = 0, im = 0;
    for (int32_t i = 1; i <= w->s.a->n; i++) {
        re += w->drive[2 * i] * w->y[2 * i];
        im += w->drive[2 * i] * w->y[2 * i + 1];
    }
    w->gain2 = re * re + im * im;
    for (size_t i = 0; i < vec_len(w->origin); i++)
        w->origin[i].now = 0;
    w->total = 0;
    for (size_t i = 0; i < n; i++) {
        noise_origin *p = &w->origin[w->origin_of[i]];
        const double d = density(w, &s[i], gain, omega);
        p->now += d;
        w->origin[p->owner].now += d;
        w->total += d;
    }
    return judge(w);
}

/* -- integrals -- */

double noise_integral(double d0, double d1, double f0, double f1)
{
    if (!(d0 > 0 && d1 > 0 && f0 > 0))
        return 0.5 * (d0 + d1) * (f1 - f0);
    const double u = log(f1 / f0), a1 = log(d1 / d0) / u + 1, z = a1 * u;
    return d0 * f0 * u * (fabs(z) < 1e-9 ? 1 + z / 2 : expm1(z) / z);
}

static void integrate(noise *w)
{
    for (size_t i = 0; i < vec_len(w->origin); i++) {
        noise_origin *p = &w->origin[i];
        if (p->owner < 0)
            continue;
        const double out = noise_integral(p->last, p->now, w->f_last, w->f);
        const double in =
            w->gain2 > 0 && w->gain2_last > 0
                ? noise_integral(p->last / w->gain2_last, p->now / w->gain2, w->f_last, w->f)
                : 0;
        p->out += out;
        p->in += in;
        w->origin[p->owner].out += out;
        w->origin[p->owner].in += in;
        w->out += out;
        w->in += in;
    }
}

static void remember(noise *w)
{
    for (size_t i = 0; i < vec_len(w->origin); i++)
        w->origin[i].last = w->origin[i].now;
    w->f_last = w->f;
    w->gain2_last = w->gain2;
}

/* -- plots -- */

static vs_status begin_spectrum(noise *w)
{
    ana_column *col = NULL;
    const char *type = w->o->out.current ? "current-density" : "voltage-density";
    vec_push(col, ((ana_column){"frequency", "frequency"}));
    for (size_t i = 0; w->o->summary && i < vec_len(w->origin); i++)
        vec_push(col,
                 ((ana_column){arena_printf(&w->s.a->mem, "onoise_%s", w->origin[i].name), type}));
    vec_push(col, ((ana_column){"onoise_spectrum", type}));
    const bool v = ckt_source_at(w->s.a->c, w->o->source).is_v;
    vec_push(col, ((ana_column){"inoise_spectrum", v ? "voltage-density" : "current-density"}));
    const vs_status st =
        w->t->begin(w->t->user, "Noise Spectral Density Curves", col, (int32_t)vec_len(col), false);
    vec_free(col);
    return st;
}

static vs_status put_spectrum(noise *w)
{
    vec_clear(w->row);
    vec_push(w->row, w->f);
    for (size_t i = 0; w->o->summary && i < vec_len(w->origin); i++)
        vec_push(w->row, sqrt(w->origin[i].now));
    vec_push(w->row, sqrt(w->total));
    vec_push(w->row, w->gain2 > 0 ? sqrt(w->total / w->gain2) : 0);
    return w->t->row(w->t->user, w->row);
}

static vs_status put_totals(noise *w)
{
    ana_column *col = NULL;
    arena *mem = &w->s.a->mem;
    const char *type = w->o->out.current ? "current" : "voltage";
    const char *in = ckt_source_at(w->s.a->c, w->o->source).is_v ? "voltage" : "current";
    vec_clear(w->row);
    for (size_t i = 0; w->o->summary && i < vec_len(w->origin); i++) {
        const noise_origin *p = &w->origin[i];
        vec_push(col, ((ana_column){arena_printf(mem, "onoise_total_%s", p->name), type}));
        vec_push(col, ((ana_column){arena_printf(mem, "inoise_total_%s", p->name), in}));
        vec_push(w->row, sqrt(p->out));
        vec_push(w->row, sqrt(p->in));
    }
    vec_push(col, ((ana_column){"onoise_total", type}));
    vec_push(col, ((ana_column){"inoise_total", in}));
    vec_push(w->row, sqrt(w->out));
    vec_push(w->row, sqrt(w->in));
    vs_status st = w->t->begin(w->t->user, "Integrated Noise", col, (int32_t)vec_len(col), false);
    if (st == VS_OK)
        st = w->t->row(w->t->user, w->row);
    if (st == VS_OK)
        st = w->t->end(w->t->user);
    vec_free(col);
    return st;
}

static vs_status at_frequency(void *work, double f)
{
    noise *w = work;
    w->f = f;
    const vs_status st = solve(w);
    if (st != VS_OK)
        return st;
    if (w->n_done > 0)
        integrate(w);
    remember(w);
    const bool listed = w->o->summary <= 1 || w->n_done % (size_t)w->o->summary == 0;
    w->n_done++;
    return listed ? put_spectrum(w) : VS_OK;
}

vs_status ana_noise(ana *a, const ana_noise_opt *o, const ana_table *t)
{
    noise w = {.o = o, .t = t};
    double *f = ana_frequencies(&o->freq);
    vs_status st = small_begin(&w.s, a, true);
    w.y = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.y);
    w.drive = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.drive);
    if (st == VS_OK) {
        noise_origins(a, &w.origin, &w.origin_of);
        small_drive(&w.s, o->source, w.drive);
        st = begin_spectrum(&w);
        if (st == VS_OK)
            st = freq_plot(a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    }
    if (st == VS_OK)
        st = put_totals(&w);
    small_fini(&w.s);
    vs_free(w.y);
    vs_free(w.drive);
    small_feeds_fini(&w.feeds);
    vec_free(w.origin);
    vec_free(w.origin_of);
    vec_free(w.row);
    vec_free(f);
    return st;
}
