/* cores.c - what two threads get from the machine, just now.
 *
 *     build/tests/bench_cores
 *
 * Prints how many processors two threads have (2: they do not slow each other; less where both
 * share a core, or others run), and how long a line of the cache takes from one to the other and
 * back: some 60 ns where both share a cache, 200 to 400 where they do not. A virtual machine moves
 * its processors about, so that both change between runs; threads.py looks before and after. */
#define _GNU_SOURCE /* CPU_SET */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "vs.h"

enum { LOOPS = 20000000, STOP = -1 };
#define LONGEST 0.02 /* s; where others run, a turn may take milliseconds */

static _Alignas(128) _Atomic int turn;

static cpu_set_t usable; /* of the process */

/* The thread stays on the first processor, or on the second one, of the usable ones. */
static void keep_to(int which)
{
    cpu_set_t one;
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&usable) > 1; i++)
        if (CPU_ISSET(i, &usable) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        }
}

/* Odd numbers are answered by the next one. */
static void *answer(void *user)
{
    (void)user;
    keep_to(1);
    for (int now; (now = atomic_load(&turn)) != STOP;)
        if (now & 1)
            (void)atomic_compare_exchange_strong(&turn, &now, now + 1);
    return NULL;
}

/* Keeps the units busy; the sum is looked at, so that the loop stays. */
static void *compute(void *to)
{
    double a = 1, b = 1.1, c = 1.2, d = 1.3;
    for (int i = 0; i < LOOPS; i++) {
        a = a * 0.999 + b;
        b = b * 0.998 + 0.1;
        c = c * 0.997 + d;
        d = d * 0.99 + 0.2;
    }
    *(double *)to = a + c;
    return NULL;
}

static double round_trip(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, answer, NULL))
        return 0;
    const double begin = vs_seconds();
    double end = begin;
    int n = 0;
    for (; end - begin < LONGEST; n++) {
        atomic_store(&turn, 2 * n + 1);
        for (int k = 1; atomic_load(&turn) == 2 * n + 1 && end - begin < LONGEST; k++)
            if (k % 256 == 0)
                end = vs_seconds();
        if (n % 256 == 0)
            end = vs_seconds();
    }
    atomic_store(&turn, STOP);
    pthread_join(t, NULL);
    return (end - begin) / n;
}

/* The least of three times: what came between is not the machine's. */
static double processors(void)
{
    double sum[2], best[2] = {1e9, 1e9};
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        const double begin = vs_seconds();
        compute(&sum[0]);
        const double alone = vs_seconds();
        if (pthread_create(&t, NULL, compute, &sum[1]))
            return 1;
        compute(&sum[0]);
        pthread_join(t, NULL);
        const double both = vs_seconds();
        best[0] = alone - begin < best[0] ? alone - begin : best[0];
        best[1] = both - alone < best[1] ? both - alone : best[1];
    }
    return 2 * best[0] / best[1];
}

int main(void)
{
    const double n = processors();
    if (sched_getaffinity(0, sizeof usable, &usable))
        return 1;
    keep_to(0);
    printf("%.2f processors, round trip %.0f ns\n", n, 1e9 * round_trip());
    return 0;
}
