/* fuzz.h - between the files of the fuzzer: fuzz.c has the loop and the readers, fuzz_run.c two
 * targets, each other file one. A target gets bytes, reads or refuses them, and aborts where what
 * it sees cannot be. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { MOST_ASKED = 2000 };

void write_file(const char *name, const char *text, size_t n);
/* Where nobody reads. */
FILE *nowhere(void);
/* Lines, each with the sum of a journal behind it, whatever sum it had. */
void write_sealed(const char *name, const char *s, size_t n);
typedef struct kept_file {
    const char *name;
    char *bytes; /* malloc [n]; NULL: no such file */
    size_t n;
} kept_file;
/* What the file has now. */
void read_back(kept_file *f);
/* The next line "*---" of s [n] from its line at `from`; n: there is none. */
size_t next_mark(const char *s, size_t n, size_t from);
/* Of a simulator: the home is the folder of the run. */
const char *variable(void *user, const char *name);
/* Whether a run shall stop: from the MOST_ASKED-th question since `ask_anew` on. */
bool enough(void *user);
void ask_anew(void);
bool was_stopped(void);
/* Tells what is wrong on standard error, and ends the process. */
void finding(const char *what, ...) __attribute__((format(printf, 1, 2), noreturn));

void fuzz_change(const char *text, size_t n);
void fuzz_checkpoint(const char *text, size_t n);
void fuzz_sweep(const char *text, size_t n);
void fuzz_results(const char *text, size_t n);
void fuzz_reports(const char *text, size_t n);
void fuzz_rank(const char *text, size_t n);
void fuzz_relay(const char *text, size_t n);
void fuzz_memory(const char *text, size_t n);
void fuzz_module(const char *text, size_t n);
void fuzz_matrix(const char *text, size_t n);
void fuzz_hdf5(const char *text, size_t n);

#endif
