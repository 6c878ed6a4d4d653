/* chart_priv.h - between the files of src/chart:
 *     chart.c           formats, panels, labels, legends
 *     chart_scale.c     ranges, ticks and their numbers
 *     chart_curve.c     curves to paths of no more points than the picture shows
 *     chart_round.c     Smith and polar charts
 *     chart_svg.c       SVG
 *     chart_text.c      letters
 *     chart_terminal.c  pixels as kitty and sixel terminals take them
 *     chart_cairo.c     PNG and PDF; the plug-in */
#ifndef CHART_PRIV_H
#define CHART_PRIV_H

#include "chart.h"
#include "heap.h"
#include "vec.h"

/* -- surfaces, which draw in their format. y grows downwards. -- */
typedef struct chart_pen {
    uint32_t rgb;
    double width; /* 0: filled */
    bool dashed;
} chart_pen;

typedef struct chart_surface chart_surface;
struct chart_surface {
    double width, height;
    double em, line; /* width of a letter on average, height of a line of text */
    double fine;     /* the least distance that the eye sees */
    bool grid;       /* draw grid lines behind the curves; letters have no room for them */
    void (*path)(chart_surface *s, const double *xy, size_t n, const chart_pen *p); /* [2 n] */
    void (*dot)(chart_surface *s, double x, double y, double r, uint32_t rgb);
    void (*box)(chart_surface *s, double x, double y, double w, double h, uint32_t rgb);
    /* Writes a text in UTF-8. (x, y) is the begin (at: 0), the middle (0.5) or the end (1) of its
     * baseline. turned: it runs upwards. */
    void (*text)(chart_surface *s, double x, double y, double at, bool turned, double size,
                 uint32_t rgb, const char *text);
    void (*clip)(chart_surface *s, double x, double y, double w, double h); /* w 0: no more */
    bool (*end)(chart_surface *s);                                          /* false: errno */
    FILE *out;
    void *user;
    heap_owned owned;
};

/* Make *s a surface of SVG of that size, or of columns x rows letters; s->end completes `out`. */
void chart_svg_begin(chart_surface *s, FILE *out, double width, double height);
void chart_text_begin(chart_surface *s, FILE *out, int columns, int rows, bool colours);
/* false: Cairo has no memory for the picture. */
typedef bool chart_cairo_fn(chart_surface *s, FILE *out, double width, double height,
                            chart_format f);
#define CHART_CAIRO_SYMBOL "chart_cairo_begin"
#define CHART_CAIRO_VERSION_SYMBOL "chart_cairo_version"
typedef void chart_drop_fn(void *surface, size_t n);
#define CHART_CAIRO_DROP_SYMBOL "chart_cairo_drop"

/* -- chart_terminal.c: false: the stream has an error -- */
/* Shows a PNG file of n bytes on columns x rows letters. */
bool chart_put_kitty(FILE *out, const unsigned char *png, size_t n, int columns, int rows);
/* Shows pixel [height][width], 0xrrggbb; the highest byte has no meaning. */
bool chart_put_sixel(FILE *out, const uint32_t *pixel, int width, int height);

/* -- colours -- */
typedef struct chart_theme {
    uint32_t back, text, frame, grid, faint;
} chart_theme;
/* 0xrrggbb of a curve: by its number, or by its place in its family. */
uint32_t chart_colour(const chart_curve *c, bool dark);

/* -- chart_scale.c -- */
typedef struct chart_scale {
    double lo, hi; /* in the data's unit; log: their decimal logarithms */
    bool log;
    double at, len; /* place of lo on the surface, distance to hi; len < 0: upwards */
    double step;    /* of ticks; log: decades */
    int exponent;   /* of the prefix in the label: ticks show x / 10^exponent */
    double offset;  /* ticks show the distance from it */
    int digits;     /* behind the point */
    bool plain;     /* no unit: each tick has its own prefix */
} chart_scale;

/* Whether a value can be drawn: it is finite, and on a logarithmic axis above 0. */
bool chart_usable(double x, bool log);
/* Extends the range to x; lo and hi are NAN before the first value. */
void chart_widen(chart_scale *s, double x);
/* Ends the collection of values: limits that the axis states replace those of the data, and a range
 * of one value gets room around it. */
void chart_close(chart_scale *s, const chart_axis *a);
/* Chooses steps for at most n ticks; round_lo, round_hi: moves that end of the range to a tick. */
void chart_ticks(chart_scale *s, const chart_axis *a, int n, bool round_lo, bool round_hi);
/* Where a value lies on the surface; at most ten lengths of the axis outside of it. */
double chart_place(const chart_scale *s, double x);
/* Calls f for each tick with its text, for minor ticks with NULL. */
typedef void chart_tick_fn(void *user, double x, const char *text);
void chart_each_tick(const chart_scale *s, chart_tick_fn *f, void *user);
/* "time [ns]", "v(out) - 1.2 [mV]", into buf. */
void chart_axis_label(char *buf, size_t size, const chart_axis *a, const chart_scale *s);
/* "1.5u", "200k". */
void chart_engineering(char *s, size_t size, double x);

/* -- chart_curve.c -- */
void chart_draw_curve(chart_surface *s, const chart_curve *c, const chart_scale *x,
                      const chart_scale *y, chart_style style, uint32_t rgb);

/* -- chart_round.c -- */
/* Draws a Smith or polar chart in the square of half side r around (x, y). */
void chart_draw_round(chart_surface *s, const chart_panel *p, const chart_theme *t, bool dark,
                      double x, double y, double r);

/* How many letters a text in UTF-8 has. */
size_t chart_letters(const char *utf8);

#endif
