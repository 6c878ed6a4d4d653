/* child.h - programs beside a run. A library starts none; the command says how (run_child.c), and
 * ignores SIGPIPE, since a program may end while it is written to. */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>

#include "vs.h"

typedef struct child_process {
    pid_t pid;    /* 0: there is none */
    int to, from; /* its standard input and output; -1: not open */
} child_process;
typedef struct child_host {
    /* argv: file, arguments, NULL. false, and errno: it cannot be started. */
    bool (*start)(child_process *c, const char *const *argv);
    /* Closes its input and output; if it does not end then, ends it. */
    void (*stop)(child_process *c);
} child_host;

#endif
