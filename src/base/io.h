/* io.h - file descriptors: whole reads and writes, folders; plug-in libraries of this program.
 * Use:    io_write, io_read for messages of known length; plugin_open for libvsim-llvm.so,
 * libvsim-mpi.so. */
#ifndef IO_H
#define IO_H

#include <limits.h>

#include "vec.h"

/* All n bytes, over interruptions. false: an error (errno), or for io_read the end of the file
 * (errno 0). */
bool io_write(int fd, const void *p, size_t n);
bool io_read(int fd, void *p, size_t n);

/* As open, close-on-exec; freeing the thread's heap closes it. -1: errno. Closing: as close. */
int io_open(const char *path, int flags);
int io_close(int fd);
/* Waits until the file is on disk. false: errno. */
bool io_sync(const char *path);
/* As mkstemp, for reading and writing; the name is gone again. Closed like io_open's. */
int io_nameless(char *name);
/* Pages that freeing the heap gives back: of a file, to read; fd < 0: zeroed, to read and write.
 * NULL: errno. */
void *io_map(int fd, size_t bytes);
void io_unmap(void *p, size_t bytes);
/* Names in a folder, sorted, without . and ..: a vec of texts in mem; *found: it could be read. */
const char **io_names(arena *mem, const char *path, bool *found);

/* The path that is `relative` to the folder of the program or library that contains this code.
 * false: there is nothing, or nothing that may be read. */
bool io_beside(char path[PATH_MAX], const char *relative);

/* dlopen of `file`. Searched: the folder `only` and nothing else unless it is NULL; otherwise the
 * folders `place`, NULL at the end, those that are not absolute as io_beside does. global: its
 * symbols are seen by libraries that are loaded later. NULL: not found, or not loadable. */
void *plugin_open(const char *file, const char *only, const char *const *place, bool global);

#endif
