/* io.h - whole reads and writes on pipes and sockets, and plug-in libraries of this program.
 * Use:    io_write, io_read for messages of known length; plugin_open for libvsim-llvm.so,
 * libvsim-mpi.so. */
#ifndef IO_H
#define IO_H

#include "vs.h"

/* All n bytes, over interruptions. false: an error (errno), or for io_read the end of the file
 * (errno 0). */
bool io_write(int fd, const void *p, size_t n);
bool io_read(int fd, void *p, size_t n);

/* dlopen of `file`. Searched: `only` and nothing else unless it is NULL; otherwise beside the
 * program or library that contains this code, ../lib/vsim from there, src/`folder` of a build tree,
 * and `installed`. global: its symbols are seen by libraries that are loaded later. NULL: not
 * found, or not loadable. */
void *plugin_open(const char *file, const char *only, const char *folder, const char *installed,
                  bool global);

#endif
