/* tran_noise.c - the noise of every noise source of every device, in time (.trannoise).
 * A source of power S (and f^-e) that drives row r with gain g adds g sqrt(S) xi(t) to it. S and g
 * are those of the last accepted point, so that noise follows the bias. xi is a random waveform of
 * density 1 (and f^-e): samples 1 / (2 fmax) apart with straight lines between (wave_noise.h),
 * whose corners are breakpoints. A sample depends on seed, device, source and its number alone:
 * runs repeat, whatever the steps.
 *
 * A noise current is a term of the equations like `hist`; it is taken out again before dq/dt is. */
#include <math.h>
#include <string.h>

#include "draw.h"
#include "tran_priv.h"
#include "wave.h"

typedef struct source {
    wave w;
    double arg[WAVE_ARGS];
    double value[2]; /* xi at both ends of the interval */
    double root;     /* sqrt(S) */
} source;

struct tran_noise {
    double dt, scale;
    double k;       /* number of the interval that value[] belongs to */
    source *source; /* vec */
};

/* The waveform of a source: white of deviation 1 / sqrt(2 dt), or 1/f^e of that at 1 Hz. */
static void make_wave(const tran *t, source *s, const ckt_noise *n)
{
    enum { NA, NT, NALPHA, NAMP };
    const double dt = t->noise->dt, e = fmin(fmax(n->exponent, 0), 1.99);
    const char *name = ckt_device_name(t->a->c, n->device);
    s->w = (wave){.kind = WAVE_TRNOISE,
                  .key = draw_add(draw_text(t->o.noise_key, name), (uint64_t)n->source),
                  .n_arg = 4};
    const double white = 1 / sqrt(2 * dt);
    s->arg[NT] = dt;
    s->arg[NALPHA] = e;
    s->arg[e > 0 ? NAMP : NA] = white * pow(2 * M_PI * dt, e / 2);
    s->w.arg = s->arg;
}

/* OSDI libraries tell densities: the exponent is their fall from 1 to 10 Hz. */
static double exponent_of(const tran *t, const ckt_noise *n)
{
    const double d1 = ckt_noise_density(t->a->c, n, 1), d10 = ckt_noise_density(t->a->c, n, 10);
    return d1 > 0 && d10 > 0 ? -log10(d10 / d1) : 0;
}

static double power_of(const tran *t, const ckt_noise *n)
{
    return n->device >= ckt_n_device(t->a->c) ? ckt_noise_density(t->a->c, n, 1) : fabs(n->psd);
}

/* The devices at the last accepted point. */
static vs_status evaluate(tran *t)
{
    ana *a = t->a;
    const ckt_env env = {
        .mode = CKT_TRAN, .time = t->t, .gmin = a->opt.gmin, .srcfact = 1, .iter = 1};
    const vs_status st = ckt_load_ac(a->c, &env, t->x[1], true, t->noise_g, t->noise_c);
    if (st != VS_OK)
        diag_error(a->d, DIAG_NOWHERE, "transient noise: a device is not finite at %.6g s", t->t);
    return st;
}

static void take_powers(tran *t)
{
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *s = ckt_noises(t->a->c, &n, &gain);
    for (size_t i = 0; i < n; i++)
        t->noise->source[i].root = sqrt(power_of(t, &s[i]));
}

/* The work of a run with noise, without its sources. */
static tran_noise *make_noise(tran *t)
{
    ana *a = t->a;
    if (!t->noise_g) {
        const size_t nnz = (size_t)csc_nnz(a->jac) + 1;
        t->noise_g = arena_array(&a->mem, double, nnz);
        t->noise_c = arena_array(&a->mem, double, nnz);
    }
    tran_noise *w = arena_new(&a->mem, struct tran_noise);
    w->dt = 1 / (2 * t->o.noise_fmax);
    w->scale = t->o.noise_scale;
    w->k = -1;
    return w;
}

vs_status tran_noise_begin(tran *t)
{
    ana *a = t->a;
    size_t n;
    const ckt_noise_gain *gain;
    t->noise = NULL;
    if (!(t->o.noise_fmax > 0))
        return VS_OK;
    t->noise = make_noise(t);
    const vs_status st = evaluate(t);
    if (st != VS_OK)
        return st;
    const ckt_noise *s = ckt_noises(a->c, &n, &gain);
    t->noise->source = arena_array(&a->mem, source, n);
    for (size_t i = 0; i < n; i++) {
        ckt_noise one = s[i];
        if (one.device >= ckt_n_device(a->c))
            one.exponent = exponent_of(t, &one);
        make_wave(t, &t->noise->source[i], &one);
        wave_defaults(&t->noise->source[i].w, t->noise->source[i].arg, t->noise->dt, t->o.tstop);
    }
    take_powers(t);
    return VS_OK;
}

/* Of the arguments the slope of the spectrum and the amplitudes were measured (make_wave); all
 * others follow from the options. */
static bool is_wave_of(const double *arg, const double *own)
{
    enum { NA, NT, NALPHA, NAMP, N_MEASURED };
    return !memcmp(&arg[NT], &own[NT], sizeof *arg) && arg[NALPHA] >= 0 && arg[NALPHA] < 2 &&
           !memcmp(arg + N_MEASURED, own + N_MEASURED, (WAVE_ARGS - N_MEASURED) * sizeof *arg);
}

/* Arguments of the waves were made at the start of the run; samples are functions of their number.
 */
void tran_noise_image(tran *t, image *im)
{
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *s = ckt_noises(t->a->c, &n, &gain);
    if (!(t->o.noise_fmax > 0))
        return;
    if (im->giving) {
        t->noise = make_noise(t);
        t->noise->source = arena_array(&t->a->mem, source, n);
    }
    for (size_t i = 0; i < n; i++) {
        source *c = &t->noise->source[i];
        if (im->giving && (s[i].device < 0 || s[i].source < 0)) {
            im->wrong = "its sources of noise are damaged";
            return;
        }
        double own[WAVE_ARGS];
        if (im->giving) {
            make_wave(t, c, &s[i]);
            wave_defaults(&c->w, c->arg, t->noise->dt, t->o.tstop);
        }
        memcpy(own, c->arg, sizeof own);
        IMAGE_ONE(im, c->arg);
        if (!is_wave_of(c->arg, own)) {
            im->wrong = "its sources of noise are damaged";
            return;
        }
        IMAGE_ONE(im, c->root);
        c->w.n_arg = WAVE_ARGS;
    }
}

vs_status tran_noise_accept(tran *t)
{
    const vs_status st = evaluate(t);
    if (st == VS_OK)
        take_powers(t);
    return st;
}

double tran_noise_break(const tran *t, double after)
{
    const double dt = t->noise->dt, k = floor(after / dt * (1 + 1e-12)) + 1;
    return k * dt;
}

/* The samples at both ends of the interval that `time` lies in. */
static void go_to(tran_noise *w, double time, size_t n)
{
    const double k = fmax(ceil(time / w->dt * (1 - 1e-12)) - 1, 0);
    if (k == w->k)
        return;
    for (size_t i = 0; i < n; i++)
        for (int end = 0; end < 2; end++)
            w->source[i].value[end] = wave_value(&w->source[i].w, (k + end) * w->dt);
    w->k = k;
}

void tran_noise_add(tran *t, double time, double sign)
{
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *s = ckt_noises(t->a->c, &n, &gain);
    tran_noise *w = t->noise;
    go_to(w, time, n);
    const double part = time / w->dt - w->k;
    for (size_t i = 0; i < n; i++) {
        const source *c = &w->source[i];
        const double size = sign * w->scale * c->root, rise = (c->value[1] - c->value[0]);
        const double now = size * (c->value[0] + part * rise), slope = size * rise / w->dt;
        for (int32_t k = s[i].first; k < s[i].end; k++)
            t->hist[gain[k].row] += gain[k].gain * (gain[k].rate ? slope : now);
    }
    t->hist[0] = 0;
}
