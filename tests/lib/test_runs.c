/* Many runs in one process: memory does not grow, and results do not depend on what ran before.
 *      test_runs RING [RUNS]
 * Each run alters a transistor, finds the operating point and simulates the ring's first ns. Values
 * of the width come back after N_WIDTH runs; one run in FRESH has a width that never was before. */
#include <unistd.h>

#include <stdint.h>
#include "deck.h"

enum { N_WIDTH = 7, FRESH = 3 };

/* Pages that are in memory. */
static long resident(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &size, &pages) != 2)
        pages = -1;
    if (f)
        fclose(f);
    return pages;
}

static double width(long k) { return (10 + (double)k) * 1e-6; }

static vsim_status begin(const char *ring, vsim **s, vsim_deck **d)
{
    vsim_settings set;
    vsim_settings_init(&set);
    set.models = getenv("VSIM_TEST_MODELS");
    set.cache = getenv("VSIM_TEST_CACHE");
    const vsim_status st = vsim_new(s, &set);
    return st ? st : vsim_deck_file(*s, ring, NULL, d);
}

static vsim_status analysis(vsim_deck *d, const char *card, uint64_t *bits)
{
    vsim_run *r = NULL;
    vsim_status st = vsim_run_card(d, card, NULL, &r);
    if (!st)
        st = vsim_run_go(r);
    if (!st)
        *bits = *bits * 31 + bits_of(r);
    vsim_run_free(&r);
    return st;
}

static vsim_status one_run(vsim_deck *d, double w, uint64_t *bits)
{
    *bits = 0;
    vsim_status st = vsim_set_device(d, "xu1.xmn.nm", "w", w);
    if (!st)
        st = analysis(d, "op", bits);
    return st ? st : analysis(d, "tran 0.05n 1n", bits);
}

/* In a simulator of its own. */
static vsim_status alone(const char *ring, double w, uint64_t *bits)
{
    vsim *s = NULL;
    vsim_deck *d;
    vsim_status st = begin(ring, &s, &d);
    if (!st)
        st = one_run(d, w, bits);
    if (st)
        printf("%s\n%s\n", vsim_status_text(st), said(s));
    vsim_free(&s);
    return st;
}

int main(int argc, char **argv)
{
    const long n = argc > 2 ? atol(argv[2]) : 400, settled = n / 4 > 100 ? 100 : n / 4;
    vsim *s = NULL;
    vsim_deck *d;
    long before = 0, differ = 0;
    uint64_t expected[N_WIDTH], bits;
    vsim_status st = begin(argv[1], &s, &d);
    for (long k = 0; k < N_WIDTH && !st; k++)
        st = alone(argv[1], width(k), &expected[k]);
    for (long i = 0; i < n && !st; i++) {
        const bool fresh = i % FRESH == 0;
        st = one_run(d, fresh ? width(0) + (double)i * 1e-11 : width(i % N_WIDTH), &bits);
        differ += !st && !fresh && bits != expected[i % N_WIDTH];
        if (i == settled)
            before = resident();
    }
    if (st)
        printf("%s\n%s\n", vsim_status_text(st), said(s));
    const long after = resident();
    vsim_free(&s);
    printf("%ld runs, %ld with other results than alone; %ld pages behind the first %ld, %ld at "
           "the end\n",
           n, differ, before, settled, after);
    /* The allocator takes and gives back 128 KiB at a time: four times that, however many runs. */
    return st || differ || before <= 0 || after > before + 4 * (128 << 10) / sysconf(_SC_PAGESIZE);
}
