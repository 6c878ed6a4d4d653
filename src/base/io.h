/* io.h - whole reads and writes on pipes and sockets, and plug-in libraries of this program.
 * Use:    io_write, io_read for messages of known length; plugin_open for libvsim-llvm.so,
 * libvsim-mpi.so. */
#ifndef IO_H
#define IO_H

#include <limits.h>

#include "vs.h"

/* All n bytes, over interruptions. false: an error (errno), or for io_read the end of the file
 * (errno 0). */
bool io_write(int fd, const void *p, size_t n);
bool io_read(int fd, void *p, size_t n);

/* The path that is `relative` to the folder of the program or library that contains this code.
 * false: there is nothing, or nothing that may be read. */
bool io_beside(char path[PATH_MAX], const char *relative);

/* dlopen of `file`. Searched: the folder `only` and nothing else unless it is NULL; otherwise the
 * folders `place`, NULL at the end, those that are not absolute as io_beside does. global: its
 * symbols are seen by libraries that are loaded later. NULL: not found, or not loadable. */
void *plugin_open(const char *file, const char *only, const char *const *place, bool global);

#endif
