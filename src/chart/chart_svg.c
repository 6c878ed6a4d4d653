/* chart_svg.c - SVG. */
#include <math.h>
#include <string.h>

#include "chart_priv.h"

static void put_text(FILE *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        default: fputc(*s, out);
        }
}

static void path(chart_surface *s, const double *xy, size_t n, const chart_pen *p)
{
    fprintf(s->out, "<path fill='none' stroke='#%06x' stroke-width='%g'%s d='", (unsigned)p->rgb,
            p->width, p->dashed ? " stroke-dasharray='5 3'" : "");
    for (size_t i = 0; i < n; i++)
        fprintf(s->out, "%c%.1f %.1f", i ? 'L' : 'M', xy[2 * i], xy[2 * i + 1]);
    fputs("'/>\n", s->out);
}

static void dot(chart_surface *s, double x, double y, double r, uint32_t rgb)
{
    fprintf(s->out, "<circle cx='%.1f' cy='%.1f' r='%g' fill='#%06x'/>\n", x, y, r, (unsigned)rgb);
}

static void box(chart_surface *s, double x, double y, double w, double h, uint32_t rgb)
{
    fprintf(s->out, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#%06x'/>\n", x, y, w,
            h, (unsigned)rgb);
}

static void text(chart_surface *s, double x, double y, double at, bool turned, double size,
                 uint32_t rgb, const char *words)
{
    static const char *const anchor[] = {"", " text-anchor='middle'", " text-anchor='end'"};
    fprintf(s->out, "<text ");
    if (turned)
        fprintf(s->out, "transform='translate(%.1f %.1f) rotate(-90)'", x, y);
    else
        fprintf(s->out, "x='%.1f' y='%.1f'", x, y);
    fputs(anchor[(int)(2 * at + 0.5)], s->out);
    if (size < 1 || size > 1)
        fprintf(s->out, " font-size='%g'", 12 * size);
    fprintf(s->out, " fill='#%06x'>", (unsigned)rgb);
    put_text(s->out, words);
    fputs("</text>\n", s->out);
}

static void clip(chart_surface *s, double x, double y, double w, double h)
{
    int *n = s->user;
    if (w > 0)
        fprintf(s->out,
                "<clipPath id='c%d'><rect x='%.1f' y='%.1f' width='%.1f' height='%.1f'/></clipPath>"
                "\n<g clip-path='url(#c%d)'>\n",
                *n, x, y, w, h, *n);
    else
        fputs("</g>\n", s->out);
    *n += w > 0;
}

static bool end(chart_surface *s)
{
    vs_free(s->user);
    fputs("</svg>\n", s->out);
    return !ferror(s->out);
}

void chart_svg_begin(chart_surface *s, FILE *out, double width, double height)
{
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
                         .user = vs_calloc(1, sizeof(int))};
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%g' height='%g' viewBox='0 0 %g %g' "
            "font-family='sans-serif' font-size='12'>\n",
            width, height, width, height);
}
