#include "vs.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const char *vs_status_text(vs_status st)
{
    switch (st) {
#define X(name, value, text) \
    case name: return text;
        VS_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

void vs_no_memory(size_t bytes)
{
    fprintf(stderr, "vsim: out of memory (%zu bytes)\n", bytes);
    abort();
}

void *vs_malloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        vs_no_memory(bytes);
    return p;
}

void *vs_calloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        vs_no_memory(n * size);
    return p;
}

double vs_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
