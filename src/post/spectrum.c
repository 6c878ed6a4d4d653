/* spectrum.c - .fft and the figures of a tone. See spectrum.h. */
#include "spectrum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "fft.h"
#include "post_priv.h"

enum { LEAST_POINTS = 4, MOST_POINTS = 1 << 24 };

/* -- the card -- */

static bool read_format(post_env *e, diag_span at, const post_word *w, post_fft_card *c)
{
    c->as_they_are = !str_casecmp(w->value, "unorm");
    return c->as_they_are || !str_casecmp(w->value, "norm") ||
           post_wrong_word(e, at, w, "'%s' is NORM (parts of the largest line) or UNORM, not '%s'",
                           w->text);
}

static bool read_key(post_env *e, diag_span at, const post_word *w, post_fft_card *c)
{
    static const char *const keys[] = {"start", "from", "stop", "to",     "np",    "freq",
                                       "fmin",  "fmax", "alfa", "window", "format"};
    double points = 0, *const number[] = {&c->from, &c->from, &c->to,   &c->to,  &points,
                                          &c->freq, &c->fmin, &c->fmax, &c->alfa};
    size_t k = 0;
    while (k < VS_COUNT(keys) && str_casecmp(w->text, keys[k]))
        k++;
    if (k == VS_COUNT(keys)) {
        post_wrong_word(e, at, w, "'%s' is no word of .fft", w->text);
        diag_suggest(e->d, w->text, keys, VS_COUNT(keys));
        return false;
    }
    if (!w->value || !*w->value)
        return post_wrong_word(e, at, w, "'%1$s' needs a value: %1$s=...", w->text);
    if (k == 10)
        return read_format(e, at, w, c);
    if (k == 9) {
        double one;
        c->window = w->value;
        return post_window_values(e, w->value, c->alfa, 1, &one);
    }
    if (!post_eval_number(e, w->value, number[k]))
        return false;
    if (k == 4) {
        if (!(points >= LEAST_POINTS && points <= MOST_POINTS))
            return post_wrong_word(
                e, at, w, "'%s' is a number of samples from 4 to 16777216, not '%s'", w->text);
        for (c->n = LEAST_POINTS; (double)c->n < points;)
            c->n *= 2;
    }
    if (k >= 5 && k <= 7 && !(*number[k] >= 0))
        return post_wrong_word(e, at, w, "'%s' is a frequency, not '%s'", w->text);
    return k != 8 || (c->alfa >= 1 && c->alfa <= 20) ||
           post_wrong_word(e, at, w, "'%s' goes from 1 to 20, not '%s'", w->text);
}

static const char *usual_key(const char *word)
{
    return !str_casecmp(word, "from") ? "start" : !str_casecmp(word, "to") ? "stop" : word;
}

/* Warns once, when cards are checked. w: words of the card alone. */
static void check_keys(post_env *e, diag_span at, const post_word *w)
{
    for (size_t i = 1; i < vec_len(w); i++)
        for (size_t k = i; k-- > 1;)
            if (!str_casecmp(usual_key(w[k].text), usual_key(w[i].text))) {
                diag_warning(e->d, (diag_span){at.file, at.off + w[i].off, w[i].len},
                             "'%s' is given twice, the last one counts", w[i].text);
                break;
            }
}

bool post_fft_read(post_env *e, const char *text, diag_span at, post_fft_card *c)
{
    *c = (post_fft_card){.window = "rectangular",
                         .from = NAN,
                         .to = NAN,
                         .fmin = NAN,
                         .fmax = NAN,
                         .alfa = 3,
                         .n = 1024};
    post_word *w = post_words(e, text);
    const size_t n = vec_len(w);
    bool ok = n > 0 && !w[0].value;
    if (!ok)
        diag_error(e->d, at, "a vector is expected first: .fft v(out) np=1024 window=hann");
    else
        c->expr = w[0].text;
    for (size_t i = 1; i < n && ok; i++)
        ok = read_key(e, at, &w[i], c);
    if (ok && e->check)
        check_keys(e, at, w);
    if (ok && c->from >= c->to) {
        diag_error(e->d, at, "start=%g is not before stop=%g", c->from, c->to);
        ok = false;
    }
    vec_free(w);
    return ok;
}

void post_first_names(str_pool *names, const char *text, const char ***list)
{
    arena mem;
    arena_init(&mem);
    post_env e = {.mem = &mem};
    post_word *w = post_words(&e, text);
    if (vec_len(w))
        post_names(names, w[0].text, list);
    vec_free(w);
    arena_fini(&mem);
}

/* -- samples -- */

/* Second divided difference of the points k - 1, k, k + 1; 0 at the ends. */
static double bend(const double *x, const double *y, int64_t n, int64_t k)
{
    if (k < 1 || k + 1 >= n || !(x[k] > x[k - 1] && x[k + 1] > x[k]))
        return 0;
    return ((y[k + 1] - y[k]) / (x[k + 1] - x[k]) - (y[k] - y[k - 1]) / (x[k] - x[k - 1])) /
           (x[k + 1] - x[k - 1]);
}

/* The cubic through four points where the curve bends alike on both sides of the interval
 * [k, k + 1]; the parabola of the side that bends less where they differ more than threefold; the
 * straight line where they bend apart: beside an edge nothing overshoots (Harten & Osher, SIAM J.
 * Numer. Anal. 24(2), 1987). */
static double smooth_at(const double *x, const double *y, int64_t n, int64_t k, double t)
{
    const double h = x[k + 1] - x[k], u = t - x[k];
    if (!(h > 0))
        return y[k + 1];
    const double line = y[k] + (y[k + 1] - y[k]) * (u / h), square = u * (u - h);
    const double a = bend(x, y, n, k), b = bend(x, y, n, k + 1);
    if (!(a * b > 0))
        return line;
    if (fabs(a) > 3 * fabs(b) || fabs(b) > 3 * fabs(a))
        return line + square * (fabs(a) < fabs(b) ? a : b);
    const double third = (b - a) / (x[k + 2] - x[k - 1]);
    return line + square * (a + third * (t - x[k - 1]));
}

bool post_sampler_begin(post_env *e, const post_fft_card *c, double first, double last,
                        post_sampler *s)
{
    const double slack = 1e-9 * (last - first), a = isnan(c->from) ? first : c->from,
                 b = isnan(c->to) ? last : c->to;
    *s = (post_sampler){.first = first, .last = last, .from = a, .span = b - a, .n = c->n};
    if (!(b > a) || a < first - slack || b > last + slack)
        return post_fail(e, "%g .. %g s is outside the transient, which goes from %g to %g s", a, b,
                         first, last);
    s->out = arena_array(e->mem, double, c->n);
    return true;
}

void post_sampler_end(post_sampler *s)
{
    vec_free(s->x);
    vec_free(s->y);
}

/* Takes the samples between points whose neighbours are known. */
static void take_samples(post_sampler *s, const double *x, const double *y, int64_t m, bool final)
{
    for (; s->i < s->n; s->i++) {
        const double t =
            fmin(fmax(s->from + s->span * ((double)s->i / (double)s->n), s->first), s->last);
        while (s->k + 2 < m && x[s->k + 1] <= t)
            s->k++;
        if (!final && s->k + 2 >= m)
            return;
        s->out[s->i] = smooth_at(x, y, m, s->k, t);
    }
}

/* Drops the points in front of the one before s->k. */
static void drop_points(post_sampler *s)
{
    const int64_t drop = s->k > 1 ? s->k - 1 : 0;
    if (!drop)
        return;
    const size_t left = vec_len(s->x) - (size_t)drop;
    memmove(s->x, s->x + drop, left * sizeof *s->x);
    memmove(s->y, s->y + drop, left * sizeof *s->y);
    for (int64_t k = 0; k < drop; k++) {
        (void)vec_pop(s->x);
        (void)vec_pop(s->y);
    }
    s->k -= drop;
}

void post_sampler_feed(post_sampler *s, const double *x, const double *y, int64_t n, bool final)
{
    if (final && !vec_len(s->x)) {
        take_samples(s, x, y, n, true);
        return;
    }
    for (int64_t k = 0; k < n && s->i < s->n; k++) {
        vec_push(s->x, x[k]);
        vec_push(s->y, y[k]);
    }
    if (s->i < s->n) {
        take_samples(s, s->x, s->y, (int64_t)vec_len(s->x), final);
        drop_points(s);
    }
}

/* v(a, b) as it is looked for, v(a,b); other names stay. */
static const char *name_of(const post_env *e, const char *name)
{
    const size_t n = strlen(name);
    if (str_ncasecmp(name, "v(", 2) || strchr(name, ')') != name + n - 1)
        return name;
    char *own = arena_strndup(e->mem, name, n), *to = own;
    for (; *name; name++)
        if (*name != ' ' && *name != '\t')
            *to++ = *name;
    *to = 0;
    return own;
}

bool post_fft_of(post_env *e, const post_fft_card *c, const post_sampler *s, const char *name,
                 const char *type, post_plot **out)
{
    const post_plot *now = e->set->current;
    cplx *x = arena_alloc(e->mem, (size_t)c->n * sizeof *x);
    double *window = arena_array(e->mem, double, c->n);
    if (!post_window_values(e, c->window, c->alfa, c->n, window))
        return false;
    for (int64_t i = 0; i < c->n; i++)
        x[i] = window[i] * s->out[i];
    if (c->freq > 0 && llround(c->freq * s->span) > c->n / 2)
        return post_fail(e, "freq=%g is above half the rate of the samples, %g Hz", c->freq,
                         (double)c->n / s->span / 2);
    fft((double *)x, c->n, false);
    post_plot *p = post_plot_new(e->set, "fft", now->title, "FFT");
    p->scale = post_plot_add(e->set, p, "frequency", "frequency", false);
    p->lobe = post_window_lobe(c->window, c->alfa);
    p->tone = c->freq;
    p->band[0] = c->fmin;
    p->band[1] = c->fmax;
    post_vec *v = post_plot_add(e->set, p, name_of(e, name), type, true);
    for (int64_t k = 0; k <= c->n / 2; k++) { /* phases count from time 0, not from s->from */
        const bool once = k == 0 || k == c->n / 2;
        const double turns = fmod((double)k * (s->from / s->span), 1);
        const cplx a = x[k] * cexp(-2 * I * M_PI * turns) * ((once ? 1.0 : 2.0) / (double)c->n);
        post_vec_push(p->scale, (double)k / s->span, 0);
        post_vec_push(v, creal(a), cimag(a));
    }
    e->set->current = p;
    *out = p;
    return true;
}

bool post_fft_make(post_env *e, const post_fft_card *c, post_plot **out)
{
    post_val v;
    post_sampler s;
    double *x, *y;
    if (!post_eval(e, c->expr, &v) || !post_over_time(e, &v, &x, &y, ".fft") ||
        !post_sampler_begin(e, c, x[0], x[v.n - 1], &s))
        return false;
    post_sampler_feed(&s, x, y, v.n, true);
    const bool good = post_fft_of(e, c, &s, v.name, v.type, out);
    post_sampler_end(&s);
    return good;
}

/* -- the figures of a tone -- */

typedef struct lines {
    const post_val *v;
    int64_t n, lo, hi; /* lines from lo to hi count */
    double step;       /* Hz */
    int lobe;
} lines;

static double power_of(const lines *l, int64_t k)
{
    const double a = cabs(post_at(l->v, k));
    return k ? a * a / 2 : a * a;
}

/* Power of the lines that belong to a tone at k. */
static double around(const lines *l, int64_t k)
{
    double sum = 0;
    for (int64_t i = k - l->lobe; i <= k + l->lobe; i++)
        sum += i >= l->lo && i <= l->hi ? power_of(l, i) : 0;
    return sum;
}

static const char *lines_of(post_env *e, const post_val *v, const post_tone_opt *o, lines *l)
{
    const post_vec *axis = post_axis(v);
    *l = (lines){.v = v, .n = axis ? axis->n : 0, .lobe = o->lobe};
    if (l->n < 3)
        return arena_printf(e->mem, "'%s' is no spectrum", v->name);
    l->step = post_axis_at(v, 1) - post_axis_at(v, 0);
    for (int64_t k = 0; k < l->n; k++)
        if (!(l->step > 0) || fabs(post_axis_at(v, k) - (double)k * l->step) > 1e-6 * l->step)
            return arena_printf(e->mem,
                                "'%s' is no spectrum: its frequencies are not 0 and equal steps "
                                "from there",
                                v->name);
    const double slack = 1e-6;
    l->lo = isnan(o->fmin) ? 1 : (int64_t)fmin(ceil(o->fmin / l->step - slack), 1e18);
    l->hi = isnan(o->fmax) ? l->n - 1 : (int64_t)fmin(floor(o->fmax / l->step + slack), 1e18);
    l->lo = l->lo < o->lobe + 1 ? o->lobe + 1 : l->lo; /* the constant's own */
    l->hi = l->hi >= l->n ? l->n - 1 : l->hi;
    return l->lo <= l->hi ? NULL : "there are no lines between the least and largest frequency";
}

/* Whether line k belongs to a harmonic of the tone at line `at`, of which `last` is the highest. */
static bool is_harmonic(const lines *l, int64_t at, int64_t last, int64_t k)
{
    const int64_t from = (k - l->lobe + at - 1) / at, to = (k + l->lobe) / at;
    return (from < 2 ? 2 : from) <= (to > last ? last : to);
}

static double decibel(double ratio) { return 10 * log10(ratio); }

const char *post_tone_of(post_env *e, const post_val *v, const post_tone_opt *o, post_tone *t)
{
    lines l;
    const char *why = lines_of(e, v, o, &l);
    if (why)
        return why;
    int64_t at = l.lo;
    if (o->freq > 0)
        at = (int64_t)fmin(round(o->freq / l.step), 1e18);
    else
        for (int64_t k = l.lo; k <= l.hi; k++)
            at = power_of(&l, k) > power_of(&l, at) ? k : at;
    if (at < l.lo || at > l.hi)
        return arena_printf(e->mem, "%g Hz is not among the lines from %g to %g Hz", o->freq,
                            (double)l.lo * l.step, (double)l.hi * l.step);
    const double tone = around(&l, at);
    const int64_t highest = l.hi / at,
                  last = o->n_harm > 0 && o->n_harm < highest ? o->n_harm : highest;
    double harmonics = 0, noise = 0, rest = 0, largest = 0, all = 0;
    int64_t n_noise = 0, n_rest = 0;
    for (int64_t k = 0; k < l.n; k++)
        all += power_of(&l, k);
    for (int64_t k = l.lo; k <= l.hi; k++) {
        if (k >= at - l.lobe && k <= at + l.lobe)
            continue;
        const double p = power_of(&l, k);
        const bool harmonic = k > at && is_harmonic(&l, at, last, k);
        *(harmonic ? &harmonics : &noise) += p;
        n_noise += !harmonic;
        rest += p;
        n_rest++;
        largest = fmax(largest, p);
    }
    const double line = power_of(&l, at);
    *t = (post_tone){.line = at, .freq = (double)at * l.step, .amplitude = cabs(post_at(v, at))};
    t->thd = sqrt(harmonics / tone);
    t->rounding = decibel(tone / all) - 20 * log10(DBL_EPSILON);
    t->snr = n_noise ? fmin(decibel(tone / noise), t->rounding) : NAN;
    t->sndr = n_rest ? fmin(decibel(tone / rest), t->rounding) : NAN;
    t->sfdr = n_rest ? fmin(decibel(line / largest), t->rounding) : NAN;
    t->enob = (t->sndr - 10 * log10(1.5)) / (20 * log10(2));
    return tone > 0 ? NULL : "there is no tone: its lines are 0";
}

/* -- the table -- */

static void print_lines(const post_val *v, const post_fft_card *c, const post_tone *t, int64_t lo,
                        int64_t hi, FILE *out)
{
    double largest = 0;
    for (int64_t k = lo; k <= hi && !c->as_they_are; k++)
        largest = fmax(largest, cabs(post_at(v, k)));
    const double unit = largest > 0 ? largest : 1;
    fprintf(out, "%8s  %-14s %-14s %-14s %-14s\n", "Line", "Frequency", "Magnitude, dB",
            "Magnitude", "Phase, degrees");
    for (int64_t k = lo; k <= hi; k++) {
        if (c->freq > 0 && k % t->line)
            continue;
        const cplx a = post_at(v, k);
        fprintf(out, "%8lld  %-14.7g %-14.7g %-14.7g %-14.7g\n", (long long)k, post_axis_at(v, k),
                post_decibel(a / unit), cabs(a) / unit, carg(a) * 180 / M_PI);
    }
}

static void print_figure(FILE *out, const char *name, double value, const char *unit, bool least)
{
    if (isnan(value))
        fprintf(out, "  %-4s none: no line is left for it\n", name);
    else
        fprintf(out, "  %-4s %s%g %s%s\n", name, least ? "above " : "", value, unit,
                least ? ", the rounding of the data" : "");
}

static void print_figures(const post_tone *t, FILE *out)
{
    fprintf(out, "\n  fundamental: %g Hz, amplitude %g\n  THD  %g %%\n", t->freq, t->amplitude,
            100 * t->thd);
    print_figure(out, "SNR", t->snr, "dB", t->snr >= t->rounding);
    print_figure(out, "SNDR", t->sndr, "dB", t->sndr >= t->rounding);
    print_figure(out, "SFDR", t->sfdr, "dB", t->sfdr >= t->rounding);
    print_figure(out, "ENOB", t->enob, "bits", t->sndr >= t->rounding);
    fputc('\n', out);
}

void post_fft_print(post_env *e, const post_fft_card *c, const post_plot *p, FILE *out)
{
    post_val v;
    post_tone t;
    const post_vec *s = p->vec[vec_len(p->vec) - 1];
    v = (post_val){
        .complex = true, .n = s->n, .v = s->v, .plot = p, .type = s->type, .name = s->name};
    const post_tone_opt o = {c->freq, c->fmin, c->fmax, p->lobe, 0};
    const char *why = post_tone_of(e, &v, &o, &t);
    const double step = p->scale->v[1];
    fprintf(out, "FFT of %s: %lld samples, window %s, a line each %g Hz\n", s->name,
            (long long)c->n, c->window, step);
    fprintf(out, "  constant part: %g\n\n", creal(post_at(&v, 0)));
    lines l;
    if (!why && !lines_of(e, &v, &(post_tone_opt){0, c->fmin, c->fmax, 0, 0}, &l)) {
        print_lines(&v, c, &t, l.lo, l.hi, out);
        print_figures(&t, out);
    } else {
        fprintf(out, "  no figures: %s\n\n", why ? why : "no lines");
    }
}
