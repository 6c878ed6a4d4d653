/* hot.h - functions of every step of a transient. The linker puts them beside each other, each from
 * the beginning of a line of the cache: what a step of a small circuit takes is mostly the fetching
 * of its code, and where functions come to lie else changes with every other file (by 5 to 14 %).
 *   VS_HOT         before such a function
 *   VS_HOT_CLONES  in the place of VS_CLONES: the attribute alone would move one of the copies
 * A load waits if it needs more than one of the stores that are on their way to the cache. So what
 * such functions just stored is read in the same widths. */
#ifndef HOT_H
#define HOT_H

#include <string.h>

#include "vs.h"

#define VS_HOT __attribute__((hot, aligned(64)))
#if defined(__x86_64__) && defined(__gnu_linux__)
#define VS_HOT_CLONES VS_CLONES __attribute__((section(".text.hot"), aligned(64)))
#else
#define VS_HOT_CLONES VS_HOT VS_CLONES
#endif

/* n zeros. Of less than a line of the cache memset makes one masked store, for which a load behind
 * it waits until it is in the cache: at every step of a small circuit. */
static inline void hot_clear(double *v, size_t n)
{
    enum { FEW = 16 };
    if (n > FEW) {
        memset(v, 0, n * sizeof *v);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        v[i] = 0;
        __asm__("" : "+m"(v[i])); /* no call of memset for the loop */
    }
}

#endif
