#include "vs.h"

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

double vs_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double vs_coarse_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
