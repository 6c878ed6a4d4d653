/* chart_cairo.c - PNG, PDF and pixels for terminals by cairo. The plug-in: nothing else of vsim
 * knows of cairo. */
#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <string.h>

#include "chart_build.h"
#include "chart_priv.h"

extern const char chart_cairo_version[];
chart_cairo_fn chart_cairo_begin;
chart_drop_fn chart_cairo_drop;

#define EXPORT __attribute__((visibility("default")))
EXPORT const char chart_cairo_version[] = CHART_VERSION;

typedef struct sheet {
    cairo_surface_t *surface;
    cairo_t *cr;
    chart_format format;
    double width, height;
} sheet;

static void use(cairo_t *cr, uint32_t rgb)
{
    cairo_set_source_rgb(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
}

static cairo_t *of(chart_surface *s) { return ((sheet *)s->user)->cr; }

static void path(chart_surface *s, const double *xy, size_t n, const chart_pen *p)
{
    cairo_t *cr = of(s);
    /* cairo takes time by the square of a stroke's points: draw pieces that overlap by a point */
    enum { PIECE = 2000 };
    use(cr, p->rgb);
    cairo_set_line_width(cr, p->width);
    cairo_set_dash(cr, (double[]){5, 3}, p->dashed ? 2 : 0, 0);
    for (size_t from = 0; from + 1 < n; from += PIECE) {
        const size_t to = from + PIECE + 1 < n ? from + PIECE + 1 : n;
        cairo_move_to(cr, xy[2 * from], xy[2 * from + 1]);
        for (size_t i = from + 1; i < to; i++)
            cairo_line_to(cr, xy[2 * i], xy[2 * i + 1]);
        cairo_stroke(cr);
    }
}

static void dot(chart_surface *s, double x, double y, double r, uint32_t rgb)
{
    use(of(s), rgb);
    cairo_arc(of(s), x, y, r, 0, 6.283185307179586);
    cairo_fill(of(s));
}

static void box(chart_surface *s, double x, double y, double w, double h, uint32_t rgb)
{
    use(of(s), rgb);
    cairo_rectangle(of(s), x, y, w, h);
    cairo_fill(of(s));
}

static void text(chart_surface *s, double x, double y, double at, bool turned, double size,
                 uint32_t rgb, const char *words)
{
    cairo_t *cr = of(s);
    cairo_text_extents_t e;
    cairo_save(cr);
    cairo_set_font_size(cr, 12 * size);
    cairo_text_extents(cr, words, &e);
    cairo_translate(cr, x, y);
    if (turned)
        cairo_rotate(cr, -1.5707963267948966);
    use(cr, rgb);
    cairo_move_to(cr, -at * e.x_advance, 0);
    cairo_show_text(cr, words);
    cairo_restore(cr);
}

static void clip(chart_surface *s, double x, double y, double w, double h)
{
    if (w > 0) {
        cairo_rectangle(of(s), x, y, w, h);
        cairo_clip(of(s));
    } else {
        cairo_reset_clip(of(s));
    }
}

static cairo_status_t put(void *user, const unsigned char *data, unsigned n)
{
    return fwrite(data, 1, n, user) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

EXPORT void chart_cairo_drop(void *surface, size_t n)
{
    const chart_surface *s = surface;
    sheet *h = s->user;
    (void)n;
    cairo_destroy(h->cr);
    cairo_surface_destroy(h->surface);
    h->cr = NULL;
    h->surface = NULL;
}

typedef struct bytes {
    unsigned char *s;
    size_t n, cap;
} bytes;

static cairo_status_t keep(void *user, const unsigned char *data, unsigned n)
{
    bytes *b = user;
    if (b->cap < b->n + n)
        b->s = vs_realloc(b->s, b->cap = 2 * b->cap + n);
    memcpy(b->s + b->n, data, n);
    b->n += n;
    return CAIRO_STATUS_SUCCESS;
}

/* Shows the picture on letters of a terminal, 8 by 16 units each. */
static bool put_kitty(const sheet *h, FILE *out)
{
    bytes png = {0};
    const bool ok =
        cairo_surface_write_to_png_stream(h->surface, keep, &png) == CAIRO_STATUS_SUCCESS &&
        chart_put_kitty(out, png.s, png.n, (int)(h->width / 8), (int)(h->height / 16));
    vs_free(png.s);
    return ok;
}

/* Rows of cairo may have something behind them. */
static bool put_sixel(const sheet *h, FILE *out)
{
    const int width = cairo_image_surface_get_width(h->surface),
              height = cairo_image_surface_get_height(h->surface);
    const size_t row = (size_t)width * sizeof(uint32_t);
    uint32_t *pixel = vs_malloc(row * (size_t)height + 1);
    cairo_surface_flush(h->surface);
    for (int y = 0; y < height; y++)
        memcpy(pixel + (size_t)y * (size_t)width,
               cairo_image_surface_get_data(h->surface) +
                   (ptrdiff_t)y * cairo_image_surface_get_stride(h->surface),
               row);
    const bool ok = chart_put_sixel(out, pixel, width, height);
    vs_free(pixel);
    return ok;
}

static bool end(chart_surface *s)
{
    sheet *h = s->user;
    bool ok = cairo_status(h->cr) == CAIRO_STATUS_SUCCESS;
    if (h->format == CHART_PDF)
        cairo_surface_finish(h->surface);
    else if (h->format == CHART_KITTY)
        ok &= put_kitty(h, s->out);
    else if (h->format == CHART_SIXEL)
        ok &= put_sixel(h, s->out);
    else
        ok &= cairo_surface_write_to_png_stream(h->surface, put, s->out) == CAIRO_STATUS_SUCCESS;
    ok &= cairo_surface_status(h->surface) == CAIRO_STATUS_SUCCESS && !ferror(s->out);
    chart_cairo_drop(s, 0);
    vs_free(h);
    return ok;
}

EXPORT bool chart_cairo_begin(chart_surface *s, FILE *out, double width, double height,
                              chart_format f)
{
    sheet *h = vs_calloc(1, sizeof *h);
    const bool pdf = f == CHART_PDF;
    const int scale = f == CHART_SIXEL ? 1 : 2; /* a terminal does not scale sixels */
    *h = (sheet){.format = f, .width = width, .height = height};
    h->surface = pdf ? cairo_pdf_surface_create_for_stream(put, out, width, height)
                     : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(scale * width),
                                                  (int)(scale * height));
    h->cr = cairo_create(h->surface);
    if (cairo_status(h->cr) != CAIRO_STATUS_SUCCESS) {
        cairo_destroy(h->cr);
        cairo_surface_destroy(h->surface);
        vs_free(h);
        return false;
    }
    if (!pdf)
        cairo_scale(h->cr, scale, scale);
    cairo_select_font_face(h->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(h->cr, 12);
    cairo_set_line_join(h->cr, CAIRO_LINE_JOIN_ROUND);
    *s = (chart_surface){.width = width,
                         .height = height,
                         .em = 6.6,
                         .line = 14,
                         .fine = 0.2,
                         .grid = true,
                         .path = path,
                         .dot = dot,
                         .box = box,
                         .text = text,
                         .clip = clip,
                         .end = end,
                         .out = out,
                         .user = h};
    return true;
}
