/* spa_svg.c - picture of a pattern: as given, and permuted. A matrix of more than GRID rows is
 * drawn as a grid of shades, dark where many entries are, so that the file stays small whatever the
 * size. */
#include "spa.h"

#include <math.h>
#include <string.h>

#include "vec.h"

enum { GRID = 160, PANEL = 480, MARGIN = 24, SHADES = 6 };

typedef struct panel {
    int32_t n, m; /* rows, cells in a row */
    double *cell; /* [m*m] entries in each */
} panel;

static int32_t cell_of(const panel *p, int32_t k) { return (int32_t)((int64_t)k * p->m / p->n); }

static void count_cells(panel *p, const csc *a, const int32_t *row_at, const int32_t *col_at)
{
    memset(p->cell, 0, sizeof *p->cell * (size_t)p->m * (size_t)p->m);
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            const int32_t r = cell_of(p, row_at ? row_at[a->row[k]] : a->row[k]);
            p->cell[(size_t)r * (size_t)p->m + (size_t)cell_of(p, col_at ? col_at[j] : j)]++;
        }
}

/* 0: empty; a single entry is visible, a full cell black: logarithmic in between. */
static int shade_of(double entries, double most)
{
    if (entries <= 0)
        return 0;
    if (most <= 1)
        return SHADES;
    return 1 + (int)floor((SHADES - 1) * log(entries) / log(most) + 0.5);
}

/* One path per shade; neighbours in a row become one rectangle. */
static void draw_cells(const panel *p, FILE *fp)
{
    double most = 1;
    for (size_t i = 0; i < (size_t)p->m * (size_t)p->m; i++)
        most = fmax(most, p->cell[i]);
    for (int s = 1; s <= SHADES; s++) {
        bool open = false;
        for (int32_t r = 0; r < p->m; r++)
            for (int32_t c = 0; c < p->m; c++) {
                const double *row = &p->cell[(size_t)r * (size_t)p->m];
                if (shade_of(row[c], most) != s)
                    continue;
                int32_t e = c + 1;
                while (e < p->m && shade_of(row[e], most) == s)
                    e++;
                if (!open)
                    fprintf(fp, "<path fill=\"#123\" fill-opacity=\"%.2f\" d=\"",
                            0.25 + 0.75 * (s - 1) / (SHADES - 1));
                open = true;
                fprintf(fp, "M%d %dh%dv1h-%dz", c, r, e - c, e - c);
                c = e - 1;
            }
        if (open)
            fputs("\"/>\n", fp);
    }
}

/* Outlines of the blocks that are wide enough to be seen. */
static void draw_blocks(const panel *p, const spa_report *r, FILE *fp)
{
    const double scale = (double)p->m / p->n;
    for (int32_t b = 0; r->n_block > 1 && b < r->n_block; b++) {
        const int32_t lo = r->block[b], width = r->block[b + 1] - lo;
        if (width > 1 && width * scale >= 1)
            fprintf(fp,
                    "<rect x=\"%.3g\" y=\"%.3g\" width=\"%.3g\" height=\"%.3g\" fill=\"none\" "
                    "stroke=\"#c30\" "
                    "stroke-width=\"%.2g\"/>\n",
                    lo * scale, lo * scale, width * scale, width * scale, p->m / 400.0);
    }
}

static void put_text(FILE *fp, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<': fputs("&lt;", fp); break;
        case '>': fputs("&gt;", fp); break;
        case '&': fputs("&amp;", fp); break;
        default: fputc((unsigned char)*s < 32 ? '?' : *s, fp);
        }
}

static void draw_panel(const panel *p, int x, const spa_report *blocks, FILE *fp)
{
    fprintf(fp,
            "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            x, 2 * MARGIN, PANEL, PANEL, p->m, p->m, p->m, p->m);
    draw_cells(p, fp);
    if (blocks)
        draw_blocks(p, blocks, fp);
    fprintf(fp,
            "</svg>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
            "stroke=\"#888\"/>\n",
            x, 2 * MARGIN, PANEL, PANEL);
}

void spa_svg(const spa_report *r, const spa_fill *f, const char *title, FILE *fp)
{
    const int right = 2 * MARGIN + PANEL, width = right + PANEL + MARGIN,
              height = PANEL + 3 * MARGIN + MARGIN / 2;
    panel p = {.n = r->n, .m = r->n < GRID ? r->n : GRID};
    int32_t *row_at = NULL, *col_at = NULL;
    vec_extend(p.cell, (size_t)p.m * (size_t)p.m);
    vec_extend(row_at, r->n);
    vec_extend(col_at, r->n);
    for (int32_t k = 0; k < r->n; k++) {
        row_at[r->p[f->perm[k]]] = k;
        col_at[r->q[f->perm[k]]] = k;
    }
    fprintf(fp,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" "
            "font-family=\"sans-serif\" font-size=\"14\" shape-rendering=\"crispEdges\">\n<title>",
            width, height, width, height);
    put_text(fp, title);
    fprintf(fp,
            "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#f4f4f2\"/>\n<text x=\"%d\" "
            "y=\"%d\">",
            MARGIN, MARGIN);
    put_text(fp, title);
    fprintf(fp, "</text>\n<text x=\"%d\" y=\"%d\">as given: %d x %d, %d entries</text>\n", MARGIN,
            2 * MARGIN - 6, r->n, r->n, r->nnz);
    fprintf(fp, "<text x=\"%d\" y=\"%d\">%d block%s, each ordered by %s</text>\n", right,
            2 * MARGIN - 6, r->n_block, r->n_block == 1 ? "" : "s", spa_order_name(f->order));
    count_cells(&p, r->a, NULL, NULL);
    draw_panel(&p, MARGIN, NULL, fp);
    count_cells(&p, r->a, row_at, col_at);
    draw_panel(&p, right, r, fp);
    if (p.m < p.n)
        fprintf(fp, "<text x=\"%d\" y=\"%d\" fill=\"#666\">one cell: %.4g x %.4g entries</text>\n",
                MARGIN, height - 8, (double)p.n / p.m, (double)p.n / p.m);
    fputs("</svg>\n", fp);
    vec_free(p.cell);
    vec_free(row_at);
    vec_free(col_at);
}
