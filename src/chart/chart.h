/* chart.h - curves as a picture: panels with axes, units and engineering ticks, legends, families
 * of curves, Smith and polar charts; as SVG, PNG, PDF, or letters for a terminal.
 * Use:    fill a chart (all that it points to stays the caller's), then chart_write.
 * Curves of more points than the picture can show keep the extremes of each column, so that no peak
 * is lost. The same chart gives the same bytes on every machine (SVG, letters).
 * PNG, PDF and pixels for terminals are drawn by cairo, in a plug-in (libvsim-cairo.so) that a
 * build without it lacks. */
#ifndef CHART_H
#define CHART_H

#include <stdio.h>

#include "vs.h"

typedef enum chart_format {
    CHART_SVG,
    CHART_PNG,
    CHART_PDF,
    CHART_HTML,  /* one page that needs no other file; fig_draw makes it, not chart_write */
    CHART_TXT,   /* Unicode braille */
    CHART_ANSI,  /* the same with a terminal's colours */
    CHART_KITTY, /* pixels for a terminal, as kitty takes them */
    CHART_SIXEL  /* the same as sixels */
} chart_format;
/* The format that the ending of a file's name means (".svg"); false: none. */
bool chart_format_of(const char *path, chart_format *f);

typedef enum chart_style {
    CHART_LINES,
    CHART_POINTS,
    CHART_BOTH,
    CHART_STEPS, /* each value up to the next point */
    CHART_COMB   /* from 0, or the lower end, to the point */
} chart_style;
/* The style of this name, "lines" to "comb", in any case; false: none. */
bool chart_style_of(const char *name, chart_style *s);

typedef struct chart_axis {
    const char *label, *unit; /* "" or NULL: none */
    double lo, hi;            /* NAN: from the data */
    bool log;
} chart_axis;

/* Points that are not finite, or not above 0 on a logarithmic axis, are gaps. */
typedef struct chart_curve {
    const char *name;
    const double *x, *y; /* [n] */
    int64_t n;
    int32_t colour; /* index; the curves of a family share one */
    double shade;   /* 0 to 1: place in its family; NAN: it is in none */
} chart_curve;

/* A point with words beside it. */
typedef struct chart_mark {
    double x, y;
    const char *text;
} chart_mark;

typedef enum chart_kind {
    CHART_XY,
    CHART_SMITH, /* x + j y is a reflection: circles of equal resistance and reactance */
    CHART_POLAR
} chart_kind;

typedef struct chart_panel {
    chart_kind kind;
    chart_axis x, y;
    const chart_curve *curve;
    size_t n_curve;
    const chart_mark *mark;
    size_t n_mark;
    chart_style style;
} chart_panel;

/* Panels stand below each other; those with equal labels and limits of x share one x axis. */
typedef struct chart {
    const char *title; /* NULL: none */
    const chart_panel *panel;
    size_t n_panel;
    int width, height; /* pixels (PNG: two each), PDF: points; letters for CHART_TXT, _ANSI; 0:
                        * 800 x 500, more for many panels; 80 x 24 letters */
    bool dark;
    const char *plugins; /* folder of libvsim-cairo.so alone; NULL: where it is installed */
} chart;

/* Higher pictures are cut to it. */
enum { CHART_MOST = 20000 };

/* Draws a chart to a stream.
 *   why  out  a static sentence for VS_EINPUT and VS_EUNSUPPORTED
 * Status: VS_OK; VS_EINPUT: no curve can be drawn; VS_EIO: writing failed (errno); VS_EUNSUPPORTED:
 * this build has no cairo. */
VS_MUST_USE vs_status chart_write(const chart *c, chart_format f, FILE *out, const char **why);

#endif
