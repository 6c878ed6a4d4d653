/* page.h - the viewer's page: one HTML file of style, script and, if it stands alone, data.
 * Use:    page_served for a server; page_begin, the data as JSON, page_end for a page that needs
 *         none. page_string for texts in JSON, page_bytes back.
 * The page is put together from src/page/ by bundle.py when vsim is built; its script and style are
 * named by their hashes in page_policy, so that a browser runs no other. */
#ifndef PAGE_H
#define PAGE_H

#include <stdio.h>

#include "vs.h"

/* A Content-Security-Policy for the page from a server. */
extern const char page_policy[];
/* The page as a server sends it: [*n] bytes, static. */
const char *page_served(size_t *n);

/* Writes a page that needs no server. Between the two calls the caller writes JSON to `out`, the
 * data that the script reads (src/page/source.js). It may not contain "</", which page_string
 * escapes. */
void page_begin(FILE *out, const char *title);
void page_end(FILE *out);

/* Writes a text in quotes. JSON is UTF-8, so bytes that are not become U+F700 + byte. */
void page_string(FILE *out, const char *s);
/* Turns U+F700 + byte in a text from the page back into the byte, in place. */
void page_bytes(char *s);
/* Writes a number by its shortest text that reads back as the same; "null" if it is not finite. */
void page_number(FILE *out, double x);
/* Writes n doubles, in quotes, as base64 of their bytes, the lowest byte first. */
void page_numbers(FILE *out, const double *x, int64_t n);

#endif
