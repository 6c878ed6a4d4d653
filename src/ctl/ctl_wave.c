/* ctl_wave.c - curves as a whole: spectra, measures, pictures. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl_priv.h"
#include "eye.h"
#include "fig.h"
#include "four.h"
#include "stream.h"

/* -- spectra -- */

static post_window window_of(const ctl *c)
{
    return (post_window){ctl_value(c, "specwindow"), ctl_number_value(c, "specwindoworder", 2)};
}

vs_status ctl_linearize(ctl *c, const char *text)
{
    post_val *v;
    if (!ctl_values(c, *text ? text : "all", &v))
        return VS_EINPUT;
    double x[3] = {NAN, NAN, NAN};
    static const char *const name[] = {"lin-tstep", "lin-tstart", "lin-tstop"};
    for (int i = 0; i < 3; i++) { /* vectors of the plot, as ngspice has them */
        const post_vec *w = post_plot_find(sim_plots(c->s)->current, name[i]);
        x[i] = w && w->n ? w->v[0] : NAN;
    }
    size_t n = 0; /* vectors so far; single numbers (let) are left out */
    for (size_t i = 0; i < vec_len(v); i++)
        if (post_axis(&v[i]) || *text)
            v[n++] = v[i];
    bool ok = post_linearize(&c->e, v, n, isnan(x[0]) ? c->tran[0] : x[0], x[1], x[2]);
    vec_free(v);
    return ok ? VS_OK : VS_EINPUT;
}

/* cutout: a new plot with the part of the current one between its vectors cut-tstart and cut-tstop.
 */
vs_status ctl_cutout(ctl *c, const char *text)
{
    post_plot *from = sim_plots(c->s)->current;
    if (*text)
        return ctl_fail(c, "cutout takes no words: let cut-tstart and cut-tstop, then cutout");
    if (!from || !from->scale || from->scale->complex)
        return ctl_fail(c, "cutout needs a plot with a real axis");
    const post_vec *scale = from->scale, *a = post_plot_find(from, "cut-tstart"),
                   *b = post_plot_find(from, "cut-tstop");
    int64_t lo = 0, hi = scale->n;
    while (a && a->n && lo < hi && scale->v[lo] < a->v[0])
        lo++;
    while (b && b->n && hi > lo && scale->v[hi - 1] > b->v[0])
        hi--;
    if (lo == hi)
        return ctl_fail(c, "no point lies between cut-tstart and cut-tstop");
    const size_t type = strcspn(from->name, "0123456789");
    post_plot *to = post_plot_new(sim_plots(c->s), arena_strndup(&c->scratch, from->name, type),
                                  from->title, from->what);
    for (size_t i = 0; i < vec_len(from->vec); i++) {
        const post_vec *v = from->vec[i];
        if (v->n != scale->n)
            continue;
        post_vec *part = post_plot_add(sim_plots(c->s), to, v->name, v->type, v->complex);
        post_vec_set(part, v->v + lo * (1 + v->complex), hi - lo, v->complex);
        to->scale = v == scale ? part : to->scale;
    }
    return VS_OK;
}

static vs_status spectrum(ctl *c, const char *text, bool psd, int average)
{
    post_val *v;
    if (!*text)
        return ctl_fail(c, "the vectors to transform are expected");
    if (!ctl_values(c, text, &v))
        return VS_EINPUT;
    bool ok = post_fft(&c->e, v, vec_len(v), window_of(c), psd, average);
    vec_free(v);
    return ok ? VS_OK : VS_EINPUT;
}

vs_status ctl_fft(ctl *c, const char *text) { return spectrum(c, text, false, 0); }

/* psd lines vectors: powers, averaged over so many lines to each side */
vs_status ctl_psd(ctl *c, const char *text)
{
    size_t n = strcspn(text, " \t");
    const char *end;
    double x;
    if (!str_spice_number(arena_strndup(&c->scratch, text, n), &end, &x) || *end ||
        !(x >= 0 && x < 1e6))
        return ctl_fail(
            c, "psd takes the number of lines to average over, then vectors: psd 4 v(out)");
    if (x != floor(x))
        diag_warning(c->d, c->at, "psd averages over whole lines: %g of %g", floor(x), x);
    return spectrum(c, text + n + strspn(text + n, " \t"), true, (int)x);
}

vs_status ctl_make_eye(ctl *c, const char *text, diag_span at)
{
    post_eye_card card;
    post_plot *made;
    if (!post_eye_read(&c->e, text, at, &card) || !post_eye_make(&c->e, &card, &made))
        return VS_EINPUT;
    post_eye_print(made, c->out);
    return VS_OK;
}

vs_status ctl_eye(ctl *c, const char *text)
{
    return ctl_make_eye(c, text, ctl_place(c, text, strlen(text)));
}

vs_status ctl_spec(ctl *c, const char *text)
{
    double x[3];
    for (int i = 0; i < 3; i++) {
        size_t n = strcspn(text, " \t");
        if (!n)
            return ctl_fail(c, "spec takes start, stop and step of the frequency, then vectors");
        if (!post_eval_number(&c->e, arena_strndup(&c->scratch, text, n), &x[i]))
            return VS_EINPUT;
        text += n + strspn(text + n, " \t");
    }
    post_val *v;
    if (!ctl_values(c, text, &v))
        return VS_EINPUT;
    bool ok = vec_len(v) ? post_spec(&c->e, v, vec_len(v), window_of(c), x[0], x[1], x[2])
                         : (ctl_fail(c, "the vectors to transform are expected"), false);
    vec_free(v);
    return ok ? VS_OK : VS_EINPUT;
}

vs_status ctl_fourier(ctl *c, const char *text)
{
    size_t n = strcspn(text, " \t");
    double freq;
    post_val *v;
    if (!n)
        return ctl_fail(c, "a fundamental frequency and vectors are expected: fourier 1meg v(out)");
    int n_freq, grid;
    if (!ctl_whole_value(c, "nfreqs", 10, 1, 1000, &n_freq) ||
        !ctl_whole_value(c, "fourgridsize", 200, 1, 100000, &grid))
        return VS_EINPUT;
    if (!post_eval_number(&c->e, arena_strndup(&c->scratch, text, n), &freq) ||
        !ctl_values(c, text + n, &v))
        return VS_EINPUT;
    vs_status st = vec_len(v) ? VS_OK
                              : ctl_fail(c, "there are no vectors behind the frequency: a "
                                            "frequency and vectors are expected, 1meg v(out)");
    for (size_t i = 0; i < vec_len(v) && !st; i++) {
        post_four f;
        if (!post_fourier(&c->e, &v[i], freq, n_freq, grid, &f)) {
            st = VS_EINPUT;
            break;
        }
        post_fourier_print(&f, v[i].name, c->out);
        for (int k = 1;; k++) { /* fourier11, fourier12, ...: frequencies, amplitudes, phases */
            const char *name = arena_printf(&c->scratch, "fourier1%d", k);
            if (post_plot_find(sim_plots(c->s)->current, name))
                continue;
            post_vec *w =
                post_plot_add(sim_plots(c->s), sim_plots(c->s)->current, name, "notype", false);
            for (int row = 0; row < 3; row++)
                for (int j = 0; j < f.n; j++)
                    post_vec_push(w, row == 0 ? j * freq : row == 1 ? f.mag[j] : f.phase[j], 0);
            break;
        }
    }
    vec_free(v);
    return st;
}

/* meas tran name ... */
vs_status ctl_meas(ctl *c, const char *text)
{
    size_t n = strcspn(text, " \t");
    const char *word = arena_strndup(&c->scratch, text, n),
               *rest = text + n + strspn(text + n, " \t");
    return ctl_measure(c, word, rest, ctl_place(c, rest, strlen(rest)));
}

/* -- pictures -- */

typedef struct request {
    fig_request p;
    const char *axis; /* behind vs */
    char *list;       /* vec: the expressions */
} request;

/* Takes "xlimit a b", "title text" and the like out of the words of a plot command. */
static vs_status read_request(ctl *c, const char *text, request *r)
{
    char **w = ctl_words(c, text);
    vs_status st = VS_OK;
    *r = (request){.p = fig_nothing()};
    for (size_t i = 0; i < vec_len(w) && !st; i++) {
        double *lim[2] = {NULL, NULL};
        const char **label = NULL;
        if (!str_casecmp(w[i], "xlimit") || !str_casecmp(w[i], "xl"))
            lim[0] = &r->p.xlo, lim[1] = &r->p.xhi;
        else if (!str_casecmp(w[i], "ylimit") || !str_casecmp(w[i], "yl"))
            lim[0] = &r->p.ylo, lim[1] = &r->p.yhi;
        else if (!str_casecmp(w[i], "title"))
            label = &r->p.title;
        else if (!str_casecmp(w[i], "xlabel"))
            label = &r->p.xlabel;
        else if (!str_casecmp(w[i], "ylabel"))
            label = &r->p.ylabel;
        else if (!str_casecmp(w[i], "vs"))
            label = &r->axis;
        else if (!str_casecmp(w[i], "xlog") || !str_casecmp(w[i], "loglog"))
            r->p.xlog = true, r->p.ylog |= str_lower_char(*w[i]) == 'l';
        else if (!str_casecmp(w[i], "ylog"))
            r->p.ylog = true;
        else if (!str_casecmp(w[i], "pointplot"))
            r->p.style = CHART_POINTS;
        else if (!str_casecmp(w[i], "combplot"))
            r->p.style = CHART_COMB;
        else if (!str_casecmp(w[i], "smith") || !str_casecmp(w[i], "polar"))
            r->p.kind = str_lower_char(*w[i]) == 's' ? FIG_SMITH : FIG_POLAR;
        else if (!str_casecmp(w[i], "smithgrid") || !str_casecmp(w[i], "polargrid"))
            r->p.kind = str_lower_char(*w[i]) == 's' ? FIG_SMITH : FIG_POLAR;
        else if (!str_casecmp(w[i], "xdelta") || !str_casecmp(w[i], "ydelta"))
            i++;                                 /* the grid's steps are chosen here */
        else if (str_casecmp(w[i], "digitop") && /* digital nodes have no place of their own */
                 str_casecmp(w[i], "linear") && str_casecmp(w[i], "linplot") &&
                 str_casecmp(w[i], "lingrid") && str_casecmp(w[i], "nointerp") &&
                 str_casecmp(w[i], "plainplot") &&   /* names are found without */
                 str_casecmp(w[i], "retraceplot")) { /* lines go back with their axis anyway */
            for (const char *s = w[i]; *s; s++)
                vec_push(r->list, *s);
            vec_push(r->list, ' ');
        }
        for (int k = 0; lim[0] && k < 2 && !st; k++)
            if (++i >= vec_len(w))
                st = ctl_fail(c, "two limits are expected");
            else if (!post_eval_number(&c->e, w[i], lim[k]))
                st = VS_EINPUT;
        if (label && ++i < vec_len(w))
            *label = w[i];
        else if (label)
            st = ctl_fail(c, "'%s' needs something behind it", w[i - 1]);
    }
    vec_push(r->list, 0);
    vec_free(w);
    return st;
}

/* Draws a picture in memory, then writes the file, so that a picture that fails replaces no file.
 */
static vs_status write_picture(ctl *c, const fig *f, const fig_request *p, const char *path)
{
    const char *why = "";
    char *text = NULL;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    chart_format format = CHART_SVG;
    (void)chart_format_of(path, &format);
    vs_status st = fig_draw(f, &c->e, p, format, fp, &why);
    if (stream_close(fp) && !st) {
        st = VS_EIO;
        why = files_why(errno);
    }
    if (st)
        ctl_fail(c, "%s", why);
    else
        st = ctl_open(c, path, false, FILES_BLOCK, &fp);
    if (!st) {
        errno = 0;
        const bool lost = fwrite(text, 1, n, fp) != n;
        if (stream_close(fp) != 0 || lost) {
            ctl_fail(c, "'%s' could not be written: %s", path, strerror(errno));
            st = VS_EIO;
        } else if (!c->o.quiet) {
            fprintf(c->out, "picture: %s\n", path);
        }
        if (!lost && c->o.picture)
            c->o.picture(c->o.user, path);
    }
    vs_free(text);
    return st;
}

static vs_status draw(ctl *c, const char *path, const char *text)
{
    request r;
    post_val *v = NULL, axis;
    fig f = {0};
    vs_status st = read_request(c, text, &r);
    if (!st && !ctl_values(c, r.list, &v))
        st = VS_EINPUT;
    if (!st && !vec_len(v))
        st = ctl_fail(c, "there is nothing to draw: vectors are expected");
    if (!st && r.axis && !post_eval(&c->e, r.axis, &axis))
        st = VS_EINPUT;
    if (!st) {
        fig_add(&f, v, vec_len(v), r.axis ? &axis : NULL, NULL);
        st = write_picture(c, &f, &r.p, path);
    }
    fig_fini(&f);
    vec_free(v);
    vec_free(r.list);
    return st;
}

/* plot: DECK_plot1.svg (or .html), DECK_plot2.svg, ... in the current folder */
vs_status ctl_plot(ctl *c, const char *text)
{
    const int32_t file = ctl_own_file(c);
    const char *deck = file < 0 ? "vsim" : c->d->file[file].name, *base = strrchr(deck, '/');
    base = base ? base + 1 : deck;
    const char *dot = strrchr(base, '.');
    int n = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
    return draw(c,
                arena_printf(&c->scratch, "%.*s_plot%d.%s", n, base, ++c->n_picture,
                             c->o.pages ? "html" : "svg"),
                text);
}

vs_status ctl_gnuplot(ctl *c, const char *text)
{
    size_t n = strcspn(text, " \t");
    char **w = ctl_words(c, arena_strndup(&c->scratch, text, n));
    const char *name = vec_len(w) ? w[0] : NULL;
    vec_free(w);
    if (!name)
        return ctl_fail(c, "a file and vectors are expected");
    chart_format format;
    if (chart_format_of(name, &format))
        return draw(c, name, text + n);
    const char *base = strrchr(name, '/'), *dot = strrchr(base ? base : name, '.');
    const bool other = dot && (!str_casecmp(dot, ".ps") || !str_casecmp(dot, ".eps"));
    const size_t keep = other ? (size_t)(dot - name) : strlen(name);
    return draw(c, arena_printf(&c->scratch, "%.*s.svg", (int)keep, name), text + n);
}
