/* stream.h - stdio streams that belong to the thread's heap: freeing it closes them.
 * Use:    f = stream_open(path); ... stream_close(f);
 *         f = stream_create(path, FILES_PICTURE); fprintf(f, ...); if (stream_close(f)) ...
 *         f = stream_text(&text, &n); fprintf(f, ...); stream_close(f); use text; vs_free(text) */
#ifndef STREAM_H
#define STREAM_H

#include <stdio.h>

#include "files.h"

/* To read; the file is an input of the run. NULL: errno, for files_why. */
FILE *stream_open(const char *path);
/* To write a new file, which gets its name when it is closed (file_begin): if anything could not be
 * written, or the heap is freed before, the old one stays. To write behind what is there. NULL:
 * errno, for files_why. */
FILE *stream_create(const char *path, files_role role);
FILE *stream_append(const char *path, files_role role);
/* To write to an open file, which stays open and is the caller's; the stream can go back where the
 * file can. NULL: errno. */
FILE *stream_to(int fd);
/* A stream into memory, never NULL. *text, terminated, and its length *n (NULL allowed) are set
 * when it is closed; text is for vs_free. fflush sets them too, if something was written: that text
 * is the stream's, until more is written. Where memory is missing the stream takes no more, and
 * closing it ends the work. */
FILE *stream_text(char **text, size_t *n);
/* As fclose, for streams of these and under the heap that they were opened under. */
int stream_close(FILE *f);
/* As getline, with a line for vs_free. */
ptrdiff_t stream_line(char **line, size_t *cap, FILE *f);

#endif
