/* chart_terminal.c - pictures of pixels for terminals that show them.
 * Source: kitty, "Terminal graphics protocol": ESC _ G keys ; base64 ESC \, in chunks of up to
 *         4096 letters, m=1 while there are more; f=100: PNG; a=T: show it here; q=2: no answer.
 *         DEC, "VT330/VT340 Programmer Reference", ch. 14, sixel: bands of 6 rows, a letter (63 +
 *         bits) for 6 pixels of one colour, !N repeats, $ goes back to the left, - to the next. */
#include <string.h>

#include "chart_priv.h"

bool chart_put_kitty(FILE *out, const unsigned char *png, size_t n, int columns, int rows)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { CHUNK = 3072 }; /* bytes of 4096 letters */
    for (size_t from = 0; from == 0 || from < n; from += CHUNK) {
        const size_t to = n - from < CHUNK ? n : from + CHUNK;
        if (from)
            fprintf(out, "\033_Gm=%d;", to < n);
        else
            fprintf(out, "\033_Ga=T,f=100,q=2,c=%d,r=%d,m=%d;", columns, rows, to < n);
        for (size_t k = from; k < to; k += 3) {
            const size_t left = to - k;
            const unsigned w = (unsigned)png[k] << 16 | (left > 1 ? (unsigned)png[k + 1] << 8 : 0) |
                               (left > 2 ? (unsigned)png[k + 2] : 0);
            fputc(letter[w >> 18], out);
            fputc(letter[w >> 12 & 63], out);
            fputc(left > 1 ? letter[w >> 6 & 63] : '=', out);
            fputc(left > 2 ? letter[w & 63] : '=', out);
        }
        fputs("\033\\", out);
    }
    fputc('\n', out);
    return !ferror(out);
}

/* -- colours: those that a picture has most of, of 4096 that differ by 16 steps in each part -- */

enum { MOST_COLOURS = 255, SHADES = 1 << 12 };

typedef struct palette {
    uint32_t *sum[3]; /* [SHADES] of red, green, blue */
    uint32_t *count;  /* [SHADES] pixels; then */
    int *place;       /* [SHADES] the colour that stands for a shade */
    uint32_t rgb[MOST_COLOURS];
    int n;
} palette;

static int shade_of(uint32_t rgb)
{
    return (int)((rgb >> 12 & 0xf00) | (rgb >> 8 & 0xf0) | (rgb >> 4 & 0xf));
}

static int distance(uint32_t a, uint32_t b)
{
    int sum = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const int d = (int)(a >> shift & 255) - (int)(b >> shift & 255);
        sum += d * d;
    }
    return sum;
}

/* The mean colour of a shade's pixels. */
static uint32_t mean_of(const palette *p, int shade)
{
    uint32_t rgb = 0;
    for (int k = 0; k < 3; k++)
        rgb = rgb << 8 | (p->sum[k][shade] + p->count[shade] / 2) / p->count[shade];
    return rgb;
}

static int nearest(const palette *p, uint32_t rgb)
{
    int best = 0;
    for (int k = 1; k < p->n; k++)
        if (distance(p->rgb[k], rgb) < distance(p->rgb[best], rgb))
            best = k;
    return best;
}

static void choose_colours(palette *p, const uint32_t *pixel, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const int s = shade_of(pixel[k]);
        if (p->count[s] == 1 << 24) /* the sums stay in range */
            continue;
        p->count[s]++;
        for (int part = 0; part < 3; part++)
            p->sum[part][s] += pixel[k] >> (16 - 8 * part) & 255;
    }
    for (int s = 0; s < SHADES; s++)
        p->place[s] = -1;
    while (p->n < MOST_COLOURS) {
        int best = -1;
        for (int s = 0; s < SHADES; s++)
            if (p->place[s] < 0 && p->count[s] && (best < 0 || p->count[s] > p->count[best]))
                best = s;
        if (best < 0)
            break;
        p->place[best] = p->n;
        p->rgb[p->n++] = mean_of(p, best);
    }
    for (int s = 0; s < SHADES; s++)
        if (p->place[s] < 0 && p->count[s])
            p->place[s] = nearest(p, mean_of(p, s));
}

/* -- bands -- */

static void put_run(FILE *out, int bits, int n)
{
    if (n > 3)
        fprintf(out, "!%d%c", n, 63 + bits);
    else
        while (n-- > 0)
            fputc(63 + bits, out);
}

/* Writes one colour's pixels of a band: bits [width]. */
static void put_bits(FILE *out, const unsigned char *bits, int width)
{
    int from = 0, end = width;
    while (end && !bits[end - 1])
        end--;
    for (int x = 1; x <= end; x++)
        if (x == end || bits[x] != bits[from]) {
            put_run(out, bits[from], x - from);
            from = x;
        }
}

static void put_band(FILE *out, const palette *p, const uint32_t *pixel, int width, int rows,
                     unsigned char *bits)
{
    bool first = true;
    for (int colour = 0; colour < p->n; colour++) {
        bool any = false;
        memset(bits, 0, (size_t)width);
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < width; x++)
                if (p->place[shade_of(pixel[y * width + x])] == colour) {
                    bits[x] |= (unsigned char)(1 << y);
                    any = true;
                }
        if (!any)
            continue;
        fprintf(out, "%s#%d", first ? "" : "$", colour);
        put_bits(out, bits, width);
        first = false;
    }
    fputc('-', out);
}

bool chart_put_sixel(FILE *out, const uint32_t *pixel, int width, int height)
{
    palette *p = vs_calloc(1, sizeof *p);
    unsigned char *bits = vs_calloc((size_t)width + 1, 1);
    for (int k = 0; k < 3; k++)
        p->sum[k] = vs_calloc(SHADES, sizeof *p->sum[k]);
    p->count = vs_calloc(SHADES, sizeof *p->count);
    p->place = vs_calloc(SHADES, sizeof *p->place);
    choose_colours(p, pixel, (size_t)width * (size_t)height);
    fprintf(out, "\033P0;1;0q\"1;1;%d;%d", width, height);
    for (int k = 0; k < p->n; k++) {
        fprintf(out, "#%d;2", k);
        for (int shift = 16; shift >= 0; shift -= 8)
            fprintf(out, ";%d", ((int)(p->rgb[k] >> shift & 255) * 100 + 127) / 255);
    }
    for (int y = 0; y < height; y += 6)
        put_band(out, p, pixel + (size_t)y * (size_t)width, width, height - y < 6 ? height - y : 6,
                 bits);
    fputs("\033\\\n", out);
    for (int k = 0; k < 3; k++)
        vs_free(p->sum[k]);
    vs_free(p->count);
    vs_free(p->place);
    vs_free(bits);
    vs_free(p);
    return !ferror(out);
}
