/* page.h - the viewer's page: one HTML file of style, script and, if it stands alone, data.
 * Use:    page_put(out, title, NULL) for a server; page_begin, the data as JSON, page_end for a
 *         page that needs none. page_string for texts in JSON, page_bytes back.
 * The page is put together from src/page/ by bundle.py when vsim is built; its script and style are
 * named by their hashes in page_policy, so that a browser runs no other. */
#ifndef PAGE_H
#define PAGE_H

#include <stdio.h>

#include "vs.h"

/* A Content-Security-Policy for the page from a server. */
extern const char page_policy[];
/* The page as a server sends it, [n] bytes that last. */
const char *page_served(size_t *n);

/* A page that stands alone: between the two calls JSON is written to `out`, what the script calls
 * the data (src/page/source.js), in which no "</" may stand: page_string sees to that. */
void page_begin(FILE *out, const char *title);
void page_end(FILE *out);

/* A text in quotes. Bytes that are no UTF-8 become U+F700 + byte, so that JSON can have them. */
void page_string(FILE *out, const char *s);
/* The way back, in place: of text in UTF-8 that came from the page. */
void page_bytes(char *s);
/* A number, "null" if it is not finite; its shortest text that reads back as the same. */
void page_number(FILE *out, double x);
/* n doubles, in quotes, as base64 of their bytes from the lowest. */
void page_numbers(FILE *out, const double *x, int64_t n);

#endif
