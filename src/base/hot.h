/* hot.h - functions of every step of a transient. The linker puts them beside each other, each from
 * the beginning of a line of the cache: what a step of a small circuit takes is mostly the fetching
 * of its code, and where functions come to lie else changes with every other file (by 5 to 14 %).
 *   VS_HOT         before such a function
 *   VS_HOT_CLONES  in the place of VS_CLONES: the attribute alone would move one of the copies */
#ifndef HOT_H
#define HOT_H

#include "vs.h"

#define VS_HOT __attribute__((hot, aligned(64)))
#if defined(__x86_64__) && defined(__gnu_linux__)
#define VS_HOT_CLONES VS_CLONES __attribute__((section(".text.hot"), aligned(64)))
#else
#define VS_HOT_CLONES VS_HOT VS_CLONES
#endif

#endif
