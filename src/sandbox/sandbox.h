/* sandbox.h - a process gives up the rights that a simulation does not need. From then on the
 * kernel refuses them to this process and to all that it starts, whatever code runs in it.
 * Use:    sandbox_enter once, before threads start.
 * What is left: reading what the user may read; writing, making, renaming and removing files below
 *         the given folders; memory, also of code that is made at run time; threads and processes
 *         of the program itself. Not left: starting programs, connections of any kind, changing
 *         rights, owners and times of files, looking into other processes, signals to them (where
 *         Landlock has them), name spaces, devices.
 * How:    files by Landlock (sandbox_files.c), all else by a list of system calls that a filter
 *         lets pass (sandbox_calls.c). Others return EPERM; the program goes on.
 * Source: Linux, Documentation/userspace-api/landlock.rst and seccomp_filter.rst. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include "vs.h"

enum { SANDBOX_WHY = 300 };

/*   folder  in   [n] that exist; links are followed now, not later
 *   why     out  a sentence if the sandbox cannot be had
 * Status: VS_OK; VS_EUNSUPPORTED: the kernel, the processor or the system has no such thing;
 * VS_EIO: a folder cannot be opened. Where it fails, some rights may already be gone: the caller
 * ends. Allocates nothing. */
VS_MUST_USE vs_status sandbox_enter(const char *const *folder, size_t n, char why[SANDBOX_WHY]);

#endif
