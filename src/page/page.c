/* page.c - see page.h. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page_text.h"

const char page_policy[] = "default-src 'none'; script-src " PAGE_SCRIPT_HASH
                           "; style-src " PAGE_STYLE_HASH "; connect-src 'self'; "
                           "img-src data: blob:; base-uri 'none'; form-action 'none'; "
                           "frame-ancestors 'none'";

const char *page_served(size_t *n)
{
    *n = page_n_text;
    return page_text;
}

static void put_escaped(FILE *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<': fputs("&lt;", out); break;
        case '&': fputs("&amp;", out); break;
        default: fputc((unsigned char)*s < 32 ? ' ' : *s, out);
        }
}

void page_begin(FILE *out, const char *title)
{
    fwrite(page_text, 1, page_title, out);
    put_escaped(out, title);
    fwrite(page_text + page_title_end, 1, page_data - page_title_end, out);
}

void page_end(FILE *out) { fwrite(page_text + page_data_end, 1, page_n_text - page_data_end, out); }

/* -- JSON -- */

/* Bytes of the UTF-8 character at s; 0: it is none. Neither surrogates nor what stands for bytes
 * (U+F700 to U+F7FF) is taken for a character. */
static int length_at(const unsigned char *s)
{
    const int n = *s < 0x80                 ? 1
                  : *s >= 0xc2 && *s < 0xe0 ? 2
                  : *s >= 0xe0 && *s < 0xf0 ? 3
                  : *s >= 0xf0 && *s < 0xf5 ? 4
                                            : 0;
    for (int k = 1; k < n; k++)
        if ((s[k] & 0xc0) != 0x80)
            return 0;
    const bool longer = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xf0 && s[1] < 0x90),
               surrogate = *s == 0xed && s[1] >= 0xa0, above = *s == 0xf4 && s[1] >= 0x90,
               ours = *s == 0xef && s[1] >= 0x9c && s[1] <= 0x9f;
    return longer || surrogate || above || ours ? 0 : n;
}

void page_string(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', out);
    while (*s) {
        const int n = length_at(s);
        if (!n)
            fprintf(out, "\\uf7%02x", *s);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 32 || *s == 127 || *s == '<')
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)n, out);
        s += n ? n : 1;
    }
    fputc('"', out);
}

void page_bytes(char *text)
{
    unsigned char *s = (unsigned char *)text, *to = s;
    for (; *s; s++)
        if (s[0] == 0xef && s[1] >= 0x9c && s[1] <= 0x9f && (s[2] & 0xc0) == 0x80) {
            *to++ = (unsigned char)((s[1] & 3) << 6 | (s[2] & 0x3f));
            s += 2;
        } else {
            *to++ = *s;
        }
    *to = 0;
}

void page_number(FILE *out, double x)
{
    char text[40];
    if (!isfinite(x)) {
        fputs("null", out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        const double back = strtod(text, NULL);
        if (!memcmp(&back, &x, sizeof x))
            break;
    }
    fputs(text, out);
}

void page_numbers(FILE *out, const double *x, int64_t n)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)x;
    const size_t bytes = (size_t)n * sizeof *x;
    fputc('"', out);
    for (size_t k = 0; k < bytes; k += 3) {
        const size_t left = bytes - k;
        const unsigned w = (unsigned)b[k] << 16 | (left > 1 ? (unsigned)b[k + 1] << 8 : 0) |
                           (left > 2 ? (unsigned)b[k + 2] : 0);
        fputc(letter[w >> 18], out);
        fputc(letter[w >> 12 & 63], out);
        fputc(left > 1 ? letter[w >> 6 & 63] : '=', out);
        fputc(left > 2 ? letter[w & 63] : '=', out);
    }
    fputc('"', out);
}
