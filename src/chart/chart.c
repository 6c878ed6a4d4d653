/* chart.c - formats, panels, labels, legends. See chart.h. */
#include "chart.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "chart_build.h"
#include "chart_priv.h"
#include "io.h"
#include "str.h"

#define CAIRO_FILE "libvsim-cairo.so"

/* -- words -- */

bool chart_format_of(const char *path, chart_format *f)
{
    static const char *const ending[] = {".svg", ".png", ".pdf", ".html", ".txt"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < VS_COUNT(ending); i++)
        if (!str_casecmp(dot, ending[i])) {
            *f = (chart_format)i;
            return true;
        }
    return false;
}

bool chart_style_of(const char *name, chart_style *s)
{
    static const char *const style[] = {"lines", "points", "both", "steps", "comb"};
    for (size_t i = 0; i < VS_COUNT(style); i++)
        if (!str_casecmp(name, style[i])) {
            *s = (chart_style)i;
            return true;
        }
    return false;
}

/* Bytes of the letter at s in UTF-8 (RFC 3629); 0: it is none. */
static size_t letter_bytes(const unsigned char *s)
{
    const size_t n = s[0] < 0x80                   ? 1
                     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                     : (s[0] & 0xf0) == 0xe0       ? 3
                     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                   : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool wrong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                       (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return wrong ? 0 : n;
}

static void clean(char *buf, size_t size, const char *text, size_t most)
{
    size_t at = 0, letters = 0;
    const unsigned char *s = (const unsigned char *)text;
    for (; *s && at + 8 < size; letters++) {
        if (letters + 1 >= most && s[1]) {
            memcpy(buf + at, "…", 3);
            at += 3;
            break;
        }
        const size_t n = letter_bytes(s);
        if (!n || *s < 32 || *s == 127) {
            memcpy(buf + at, "\xef\xbf\xbd", 3);
            at += 3;
            s++;
            continue;
        }
        memcpy(buf + at, s, n);
        at += n;
        s += n;
    }
    buf[at] = 0;
}

size_t chart_letters(const char *utf8)
{
    size_t n = 0;
    for (; *utf8; utf8++)
        n += (*utf8 & 0xc0) != 0x80;
    return n;
}

/* -- colours -- */

static const chart_theme light = {0xffffff, 0x202020, 0x404040, 0xcccccc, 0xeeeeee};
static const chart_theme dark = {0x15181c, 0xe0e0e0, 0xa0a0a0, 0x3a3f45, 0x25292e};

static uint32_t between(uint32_t a, uint32_t b, double u)
{
    uint32_t rgb = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const double x = (a >> shift) & 255, y = (b >> shift) & 255;
        rgb |= (uint32_t)(x + u * (y - x) + 0.5) << shift;
    }
    return rgb;
}

uint32_t chart_colour(const chart_curve *c, bool is_dark)
{
    static const uint32_t on_light[] = {0x1f5fbf, 0xd1372c, 0x23883a, 0x8a3fb0, 0xc77a00,
                                        0x00838f, 0x5d4037, 0x7a7a00, 0xad1457, 0x455a64};
    static const uint32_t on_dark[] = {0x6fa8ff, 0xff7b72, 0x66d17a, 0xcf9bff, 0xffb454,
                                       0x4dd0e1, 0xbc9a8b, 0xd4d46a, 0xff80b5, 0xa5b9c4};
    /* a family of one expression: from blue over green to red, with even brightness */
    static const uint32_t range[] = {0x3b4cc0, 0x2a9d8f, 0x8ab17d, 0xe9a23b, 0xb40426};
    const size_t n = VS_COUNT(on_light), k = (size_t)(c->colour < 0 ? 0 : c->colour);
    if (isnan(c->shade))
        return is_dark ? on_dark[k % n] : on_light[k % n];
    const double u = fmin(fmax(c->shade, 0), 1) * (VS_COUNT(range) - 1);
    const size_t i = u >= VS_COUNT(range) - 1 ? VS_COUNT(range) - 2 : (size_t)u;
    const uint32_t by_value = between(range[i], range[i + 1], u - (double)i);
    if (!k)
        return by_value;
    return between(is_dark ? on_dark[k % n] : on_light[k % n], is_dark ? 0 : 0xffffff,
                   0.6 * (1 - c->shade));
}

/* -- a panel of x and y -- */

typedef struct frame {
    chart_surface *s;
    const chart *c;
    const chart_theme *t;
    const chart_panel *p;
    chart_scale x, y;
    bool last; /* the lowest panel of those that share x: it has the numbers */
} frame;

static void see_curves(frame *f)
{
    const chart_panel *p = f->p;
    for (size_t i = 0; i < p->n_curve; i++)
        for (int64_t k = 0; k < p->curve[i].n; k++) {
            const double x = p->curve[i].x[k], y = p->curve[i].y[k];
            if (!chart_usable(x, p->x.log) || !chart_usable(y, p->y.log) || x < p->x.lo ||
                x > p->x.hi)
                continue;
            chart_widen(&f->x, x);
            chart_widen(&f->y, y);
        }
}

static void draw_tick(void *user, double x, const char *text, bool is_x)
{
    frame *f = user;
    const chart_scale *s = is_x ? &f->x : &f->y, *other = is_x ? &f->y : &f->x;
    const double p = chart_place(s, x), from = other->at, to = other->at + other->len;
    const chart_pen pen = {.rgb = text ? f->t->grid : f->t->faint, .width = 1};
    if (f->s->grid)
        f->s->path(f->s, is_x ? (double[]){p, from, p, to} : (double[]){from, p, to, p}, 2, &pen);
    if (text && is_x && f->last)
        f->s->text(f->s, p, from + 1.3 * f->s->line, 0.5, false, 1, f->t->text, text);
    else if (text && !is_x)
        f->s->text(f->s, from - 0.8 * f->s->em, p + 0.3 * f->s->line, 1, false, 1, f->t->text,
                   text);
}

static void draw_x_tick(void *user, double x, const char *text) { draw_tick(user, x, text, true); }
static void draw_y_tick(void *user, double x, const char *text) { draw_tick(user, x, text, false); }

static void widest(void *user, double x, const char *text)
{
    size_t *n = user;
    (void)x;
    const size_t letters = text ? chart_letters(text) : 0;
    *n = letters > *n ? letters : *n;
}

/* -- legends -- */

typedef struct legend {
    chart_surface *s;
    const chart_theme *t;
    double x, y, width; /* y: the first line's middle */
    double at;          /* place in the present line */
    int row, rows;      /* rows: at most */
    bool draw;
} legend;

/* Adds an entry. false: there is no more room. */
static bool add_entry(legend *l, uint32_t rgb, const char *name)
{
    char text[256];
    const size_t most = (size_t)fmax(4, l->width / l->s->em - 4);
    clean(text, sizeof text, name, most > 60 ? 60 : most);
    const double width = ((double)chart_letters(text) + 5) * l->s->em;
    if (l->at > 0 && l->at + width > l->width) {
        l->row++;
        l->at = 0;
    }
    if (l->row >= l->rows)
        return false;
    const double x = l->x + l->at, y = l->y + l->row * l->s->line;
    if (l->draw) {
        l->s->path(l->s, (double[]){x, y, x + 2.5 * l->s->em, y}, 2,
                   &(chart_pen){.rgb = rgb, .width = 2});
        l->s->text(l->s, x + 3 * l->s->em, y + 0.3 * l->s->line, 0, false, 1, l->t->text, text);
    }
    l->at += width;
    return true;
}

/* The rows that the legend takes. A large family shows only its first and last member. */
static int draw_legend(const frame *f, double x, double y, double width, bool draw)
{
    const chart_panel *p = f->p;
    legend l = {f->s, f->t, x, y, width, 0, 0, 4, draw};
    char more[64];
    bool family = p->n_curve > 12;
    for (size_t i = 0; i < p->n_curve && family; i++)
        family = !isnan(p->curve[i].shade);
    if (family) {
        const chart_curve *a = &p->curve[0], *b = &p->curve[p->n_curve - 1];
        (void)add_entry(&l, chart_colour(a, f->c->dark), a->name);
        snprintf(more, sizeof more, "… %zu curves …", p->n_curve);
        (void)add_entry(&l, f->t->back, more);
        (void)add_entry(&l, chart_colour(b, f->c->dark), b->name);
        return l.row + 1;
    }
    for (size_t i = 0; i < p->n_curve; i++) {
        const bool room = l.row + 1 < l.rows || l.at < 0.6 * width || i + 1 == p->n_curve;
        if (room && add_entry(&l, chart_colour(&p->curve[i], f->c->dark), p->curve[i].name))
            continue;
        snprintf(more, sizeof more, "and %zu more", p->n_curve - i);
        l.width += 30 * f->s->em; /* the entry gets a line of its own */
        (void)add_entry(&l, f->t->back, more);
        break;
    }
    return l.row + 1 < l.rows ? l.row + 1 : l.rows;
}

static void draw_marks(const frame *f)
{
    for (size_t i = 0; i < f->p->n_mark; i++) {
        const chart_mark *m = &f->p->mark[i];
        if (!chart_usable(m->x, f->x.log) || !chart_usable(m->y, f->y.log))
            continue;
        const double x = chart_place(&f->x, m->x), y = chart_place(&f->y, m->y);
        const bool left = x > f->x.at + 0.7 * f->x.len;
        f->s->dot(f->s, x, y, 3, f->t->text);
        f->s->text(f->s, x + (left ? -1 : 1) * f->s->em, y - 0.3 * f->s->line, left ? 1 : 0, false,
                   1, f->t->text, m->text);
    }
}

/* Width of the numbers of y: the widest of all panels, so that their frames align. */
static double number_width(frame *f, double height)
{
    size_t letters = 0;
    f->y.len = -height;
    chart_ticks(&f->y, &f->p->y, (int)(height / f->s->line / 2.5), isnan(f->p->y.lo),
                isnan(f->p->y.hi));
    chart_each_tick(&f->y, widest, &letters);
    return (double)letters * f->s->em;
}

static void draw_frame(frame *f, double top, double bottom, double left, double right)
{
    chart_surface *s = f->s;
    char label[400], text[440];
    f->x.at = left;
    f->x.len = right - left;
    f->y.at = bottom;
    f->y.len = top - bottom;
    chart_ticks(&f->x, &f->p->x, (int)(f->x.len / s->em / 9), false, false);
    chart_each_tick(&f->x, draw_x_tick, f);
    chart_each_tick(&f->y, draw_y_tick, f);
    s->path(s, (double[]){left, top, right, top, right, bottom, left, bottom, left, top}, 5,
            &(chart_pen){.rgb = f->t->frame, .width = 1});
    s->clip(s, left, top, right - left, bottom - top);
    for (size_t i = 0; i < f->p->n_curve; i++)
        chart_draw_curve(s, &f->p->curve[i], &f->x, &f->y, f->p->style,
                         chart_colour(&f->p->curve[i], f->c->dark));
    s->clip(s, 0, 0, 0, 0);
    draw_marks(f);
    if (f->last) {
        chart_axis_label(label, sizeof label, &f->p->x, &f->x);
        clean(text, sizeof text, label, (size_t)(f->x.len / s->em));
        s->text(s, (left + right) / 2, bottom + 2.5 * s->line, 0.5, false, 1, f->t->text, text);
    }
    chart_axis_label(label, sizeof label, &f->p->y, &f->y);
    clean(text, sizeof text, label, (size_t)fmax(3, (bottom - top) / s->em));
    s->text(s, 1.1 * s->line, (top + bottom) / 2, 0.5, true, 1, f->t->text, text);
}

/* -- the whole -- */

static bool share_x(const chart_panel *a, const chart_panel *b)
{
    return a->kind == CHART_XY && b->kind == CHART_XY && a->x.log == b->x.log &&
           !strcmp(a->x.label ? a->x.label : "", b->x.label ? b->x.label : "");
}

/* Gives panels that share x the same range. */
static void share_ranges(frame *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        f[i].last = i + 1 == n || !share_x(f[i].p, f[i + 1].p);
        for (size_t k = 0; k < n; k++) {
            if (!share_x(f[i].p, f[k].p) || isnan(f[k].x.lo))
                continue;
            f[i].x.lo = fmin(isnan(f[i].x.lo) ? f[k].x.lo : f[i].x.lo, f[k].x.lo);
            f[i].x.hi = fmax(isnan(f[i].x.hi) ? f[k].x.hi : f[i].x.hi, f[k].x.hi);
        }
    }
}

static double title_of(chart_surface *s, const chart *c, const chart_theme *t)
{
    char text[400];
    if (!c->title || !*c->title)
        return 0.4 * s->line;
    clean(text, sizeof text, c->title, (size_t)(s->width / s->em / 1.3));
    s->text(s, s->width / 2, 1.3 * s->line, 0.5, false, 1.25, t->text, text);
    return 1.7 * s->line;
}

static void draw_panel(frame *f, double top, double bottom, double left)
{
    chart_surface *s = f->s;
    const double right = s->width - 3 * s->em, middle = s->width / 2;
    const int rows = draw_legend(f, left, 0, right - left, false);
    draw_legend(f, left, top + 0.7 * s->line, right - left, true);
    top += (rows + 0.5) * s->line;
    if (f->p->kind == CHART_XY) {
        draw_frame(f, top, bottom - (f->last ? 3 : 0.4) * s->line, left, right);
        return;
    }
    const double r = fmin(bottom - top, s->width) / 2;
    chart_draw_round(s, f->p, f->t, f->c->dark, middle, (top + bottom) / 2, r);
}

static void draw_all(chart_surface *s, const chart *c, frame *f)
{
    const chart_theme *t = c->dark ? &dark : &light;
    const size_t n = c->n_panel;
    s->box(s, 0, 0, s->width, s->height, t->back);
    const double top = title_of(s, c, t);
    size_t axes = 0;
    share_ranges(f, n);
    for (size_t i = 0; i < n; i++)
        axes += f[i].p->kind == CHART_XY && f[i].last;
    /* frames of equal height; those with numbers below are higher by them */
    const double extra = 2.6 * s->line;
    const double each = (s->height - top - extra * (double)axes) / (double)n;
    double numbers = 0;
    for (size_t i = 0; i < n; i++) {
        f[i].s = s;
        f[i].t = t;
        chart_close(&f[i].x, &f[i].p->x);
        chart_close(&f[i].y, &f[i].p->y);
        if (f[i].p->kind == CHART_XY)
            numbers = fmax(numbers, number_width(&f[i], each - 2 * s->line));
    }
    double y = top;
    for (size_t i = 0; i < n; i++) {
        const double h = each + (f[i].p->kind == CHART_XY && f[i].last ? extra : 0);
        draw_panel(&f[i], y, y + h, 1.6 * s->line + numbers + 1.5 * s->em);
        y += h;
    }
}

/* false: no point can be seen. */
static bool begin_frames(const chart *c, frame *f)
{
    bool any = false;
    for (size_t i = 0; i < c->n_panel; i++) {
        const chart_panel *p = &c->panel[i];
        f[i] = (frame){.c = c, .p = p};
        f[i].x = (chart_scale){.lo = NAN, .hi = NAN, .log = p->x.log};
        f[i].y = (chart_scale){.lo = NAN, .hi = NAN, .log = p->y.log};
        see_curves(&f[i]);
        any |= !isnan(f[i].x.lo);
    }
    return any;
}

static vs_status begin_cairo(const chart *c, chart_surface *s, FILE *out, chart_format f,
                             const char **why)
{
    static const char *const place[] = {
        ".", "vsim", CHART_FROM_BIN, "src/chart", "../src/chart", CHART_LIBDIR, NULL};
    *why = "this vsim was built without cairo, which draws PNG, PDF and pixels: .svg, .html and "
           ".txt need nothing";
    if (!CHART_HAVE_CAIRO)
        return VS_EUNSUPPORTED;
    void *lib = plugin_open(CAIRO_FILE, c->plugins, place, false);
    const char *version = lib ? dlsym(lib, CHART_CAIRO_VERSION_SYMBOL) : NULL;
    chart_cairo_fn *begin = NULL;
    chart_drop_fn *drop = NULL;
    *why = lib ? CAIRO_FILE " is of another version"
               : CAIRO_FILE ", which draws PNG and PDF, cannot be loaded: it, or cairo, is missing";
    if (!version || strcmp(version, CHART_VERSION))
        return VS_EUNSUPPORTED;
    *(void **)&begin = dlsym(lib, CHART_CAIRO_SYMBOL);
    *(void **)&drop = dlsym(lib, CHART_CAIRO_DROP_SYMBOL);
    const double width = c->width ? c->width : 800, height = c->height;
    *why = "the picture does not fit into memory";
    if (!begin || !drop || !begin(s, out, width, height, f))
        return VS_EUNSUPPORTED;
    heap_own(&s->owned, drop, s);
    return VS_OK;
}

vs_status chart_write(const chart *given, chart_format f, FILE *out, const char **why)
{
    chart c = *given;
    const bool letters = f == CHART_TXT || f == CHART_ANSI;
    frame *frames = vs_calloc(c.n_panel + 1, sizeof *frames);
    chart_surface *s = vs_calloc(1, sizeof *s); /* where freeing the heap finds it */
    vs_status st = VS_OK;
    if (!begin_frames(&c, frames)) {
        *why = "there is nothing to draw: no finite values in the limits (on a logarithmic axis: "
               "above 0)";
        st = VS_EINPUT;
    }
    if (!c.height)
        c.height = letters ? (c.n_panel > 1 ? 14 * (int)c.n_panel : 24)
                           : (c.n_panel > 1 ? 300 * (int)c.n_panel : 500);
    c.height = c.height > CHART_MOST ? CHART_MOST : c.height;
    if (!st && (f == CHART_PNG || f == CHART_PDF || f == CHART_KITTY || f == CHART_SIXEL))
        st = begin_cairo(&c, s, out, f, why);
    else if (!st && letters)
        chart_text_begin(s, out, c.width ? c.width : 80, c.height, f == CHART_ANSI);
    else if (!st)
        chart_svg_begin(s, out, c.width ? c.width : 800, c.height);
    if (!st) {
        errno = 0;
        draw_all(s, &c, frames);
        const bool owned = s->owned.drop != NULL;
        if (!s->end(s))
            st = VS_EIO;
        if (owned)
            heap_disown(&s->owned);
        if (fflush(out) || ferror(out))
            st = VS_EIO;
    }
    vs_free(frames);
    vs_free(s);
    return st;
}
