/* lookups.c - what it costs to ask whether something is up to date (src/base/gen.h).
 *
 *     build/tests/bench_lookups [LOOKUPS]
 *
 * A graph as that of a circuit of 20,000 devices: knobs, values of instances, devices, and what is
 * computed from all of them. 58 million questions (a count published for another system) without a
 * change between them: none may find anything out of date. Then one of 1,000 values changes again
 * and again: only what depends on it may. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gen.h"
#include "vec.h"

enum { DEVICES = 20000, KNOBS = 1000, CHANGES = 1000 };

/* Processor time, s: other programs do not count. */
static double processor(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int64_t out_of_date(const gen *g)
{
    int64_t n = 0;
    for (int k = 0; k < GEN_N_KIND; k++)
        n += g->count[k].invalid;
    return n;
}

static int64_t lookups(const gen *g)
{
    int64_t n = 0;
    for (int k = 0; k < GEN_N_KIND; k++)
        n += g->count[k].lookups;
    return n;
}

/* Devices are 0 .. DEVICES-1; knob k has the values of every KNOBS-th device. Returns the first
 * knob. */
static int32_t make_graph(gen *g)
{
    for (int32_t i = 0; i < DEVICES; i++)
        gen_node(g, GEN_DEVICE);
    const int32_t factors = gen_node(g, GEN_FACTORS), first = gen_node(g, GEN_INPUT);
    for (int32_t k = 1; k < KNOBS; k++)
        gen_node(g, GEN_INPUT);
    for (int32_t i = 0; i < DEVICES; i++) {
        const int32_t value = gen_node(g, GEN_VALUE);
        gen_edge(g, first + i % KNOBS, value);
        gen_edge(g, value, i);
        gen_edge(g, i, factors);
    }
    gen_seal(g);
    return first;
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : INT64_C(58000000);
    gen g;
    int64_t stale = 0;
    gen_init(&g);
    const int32_t knob = make_graph(&g);
    double t0 = processor();
    for (int64_t i = 0, k = 0; i < n; i++, k = k + 1 < DEVICES ? k + 1 : 0)
        stale += !gen_current(&g, (int32_t)k);
    const double asked = processor() - t0;
    printf("%lld lookups without a change: %lld out of date, %lld invalidations, %.2f ns each\n",
           (long long)lookups(&g), (long long)stale, (long long)out_of_date(&g),
           1e9 * asked / (double)(n > 0 ? n : 1));
    bool ok = !stale && !out_of_date(&g) && lookups(&g) == n;
    int64_t reached = 0;
    t0 = processor();
    for (int i = 0; i < CHANGES; i++) {
        gen_change(&g, knob + i % KNOBS);
        for (int32_t k; (k = gen_next(&g)) >= 0; reached++)
            gen_rebuilt(&g, k);
    }
    const double changed = processor() - t0;
    const int64_t each = 2 * (DEVICES / KNOBS) + 1; /* values, devices, the factors */
    printf("%d changes: %lld objects out of date each, %.2f us each\n", CHANGES,
           (long long)(reached / CHANGES), 1e6 * changed / CHANGES);
    ok &= reached == CHANGES * each;
    gen_fini(&g);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
