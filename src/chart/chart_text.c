/* chart_text.c - pictures of letters: each letter is 2 by 4 dots of braille (Unicode block 2800),
 * or a letter of a text that stands above them. */
#include <math.h>
#include <string.h>

#include "chart_priv.h"

typedef struct cell {
    uint8_t dots;   /* the bits of braille */
    uint32_t rgb;   /* of the dots drawn last */
    char letter[5]; /* UTF-8, "": none */
} cell;

typedef struct canvas {
    int columns, rows;
    bool colours;
    double left, top, right, bottom; /* where dots are drawn */
    cell *cell;                      /* [rows][columns] */
} canvas;

static void set(canvas *c, double x, double y, uint32_t rgb)
{
    /* Unicode 16, ch. 21.1: dots 1-3 and 7 the left column, 4-6 and 8 the right one */
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (!(x >= c->left && y >= c->top && x <= c->right && y <= c->bottom))
        return;
    const int i = (int)x, j = (int)y;
    if (i < 0 || j < 0 || i >= 2 * c->columns || j >= 4 * c->rows)
        return;
    cell *at = &c->cell[(j / 4) * c->columns + i / 2];
    at->dots |= bit[j % 4][i % 2];
    at->rgb = rgb;
}

/* The part of a line that is on the canvas is stepped through in dots. */
static void segment(canvas *c, double x0, double y0, double x1, double y1, uint32_t rgb)
{
    const double dx = x1 - x0, dy = y1 - y0, n = fmax(1, ceil(fmax(fabs(dx), fabs(dy))));
    if (n > 1e6)
        return;
    for (double k = 0; k <= n; k++)
        set(c, x0 + dx * k / n, y0 + dy * k / n, rgb);
}

static void path(chart_surface *s, const double *xy, size_t n, const chart_pen *p)
{
    for (size_t i = 1; i < n; i++)
        segment(s->user, xy[2 * i - 2], xy[2 * i - 1], xy[2 * i], xy[2 * i + 1], p->rgb);
}

static void dot(chart_surface *s, double x, double y, double r, uint32_t rgb)
{
    set(s->user, x, y, rgb);
    if (r > 2)
        for (int k = -1; k <= 1; k += 2) {
            set(s->user, x + k, y, rgb);
            set(s->user, x, y + k, rgb);
        }
}

static void box(chart_surface *s, double x, double y, double w, double h, uint32_t rgb)
{
    (void)s, (void)x, (void)y, (void)w, (void)h, (void)rgb;
}

static void text(chart_surface *s, double x, double y, double at, bool turned, double size,
                 uint32_t rgb, const char *words)
{
    canvas *c = s->user;
    const int n = (int)chart_letters(words);
    int column = (int)floor(x / 2 - (turned ? 0 : at * n) + 0.5);
    int row = (int)floor((y - 1) / 4 - (turned ? at * n : 0));
    (void)size;
    if (turned)
        column = 0;
    for (int i = 0; i < n; i++) {
        size_t bytes = 1;
        while ((words[bytes] & 0xc0) == 0x80)
            bytes++;
        if (row >= 0 && row < c->rows && column >= 0 && column < c->columns && bytes < 5) {
            cell *to = &c->cell[row * c->columns + column];
            memcpy(to->letter, words, bytes);
            to->letter[bytes] = 0;
            to->rgb = rgb;
        }
        words += bytes;
        column += !turned;
        row += turned;
    }
}

static void clip(chart_surface *s, double x, double y, double w, double h)
{
    canvas *c = s->user;
    c->left = w > 0 ? x : 0;
    c->top = w > 0 ? y : 0;
    c->right = w > 0 ? x + w : s->width;
    c->bottom = w > 0 ? y + h : s->height;
}

static void put_cell(FILE *out, const cell *c)
{
    if (*c->letter)
        fputs(c->letter, out);
    else if (c->dots) /* U+2800 + dots in UTF-8 */
        fprintf(out, "\xe2%c%c", 0xa0 + (c->dots >> 6), 0x80 + (c->dots & 0x3f));
    else
        fputc(' ', out);
}

static bool end(chart_surface *s)
{
    canvas *c = s->user;
    for (int j = 0; j < c->rows; j++) {
        const cell *row = &c->cell[j * c->columns];
        int n = c->columns;
        while (n && !row[n - 1].dots && (!*row[n - 1].letter || *row[n - 1].letter == ' '))
            n--;
        uint32_t rgb = 0;
        bool painted = false;
        for (int i = 0; i < n; i++) {
            const bool paint = c->colours && row[i].dots && !*row[i].letter;
            if (paint && (!painted || row[i].rgb != rgb))
                fprintf(s->out, "\033[38;2;%u;%u;%um", (unsigned)(row[i].rgb >> 16),
                        (unsigned)(row[i].rgb >> 8 & 255), (unsigned)(row[i].rgb & 255));
            else if (painted && !paint)
                fputs("\033[0m", s->out);
            painted = paint;
            rgb = row[i].rgb;
            put_cell(s->out, &row[i]);
        }
        fputs(painted ? "\033[0m\n" : "\n", s->out);
    }
    vs_free(c->cell);
    vs_free(c);
    return !ferror(s->out);
}

void chart_text_begin(chart_surface *s, FILE *out, int columns, int rows, bool colours)
{
    canvas *c = vs_calloc(1, sizeof *c);
    *c = (canvas){.columns = columns, .rows = rows, .colours = colours};
    c->cell = vs_calloc((size_t)columns * (size_t)rows, sizeof *c->cell);
    *s = (chart_surface){.width = 2 * columns,
                         .height = 4 * rows,
                         .em = 2,
                         .line = 4,
                         .fine = 0.3,
                         .path = path,
                         .dot = dot,
                         .box = box,
                         .text = text,
                         .clip = clip,
                         .end = end,
                         .out = out,
                         .user = c};
    clip(s, 0, 0, 0, 0);
}
