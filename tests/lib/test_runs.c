/* Many runs in one process: memory does not grow.      test_runs RING [RUNS]
 * Each run alters a transistor, finds the operating point and simulates the ring's first ns. */
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>

#include <stdint.h>
#include "deck.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

static vsim_status one_run(vsim_deck *d, long i)
{
    vsim_run *r = NULL;
    double v;
    vsim_status st = vsim_set_device(d, "xu1.xmn.nm", "w", (10 + (double)(i % 7)) * 1e-6);
    for (int k = 0; k < 2 && !st; k++) {
        st = vsim_run_card(d, k ? "tran 0.05n 1n" : "op", NULL, &r);
        if (!st)
            st = vsim_run_go(r);
        if (!st)
            st = vsim_run_value(r, "v(1)", &v);
        vsim_run_free(&r);
    }
    return st;
}

int main(int argc, char **argv)
{
    const long n = argc > 2 ? atol(argv[2]) : 400, settled = n / 4 > 100 ? 100 : n / 4;
    vsim *s;
    vsim_deck *d;
    vsim_settings set;
    long before = 0;
    vsim_settings_init(&set);
    set.models = getenv("VSIM_TEST_MODELS");
    set.cache = getenv("VSIM_TEST_CACHE");
    vsim_status st = vsim_new(&s, &set);
    if (!st)
        st = vsim_deck_file(s, argv[1], NULL, &d);
    const double t0 = now();
    for (long i = 0; i < n && !st; i++) {
        st = one_run(d, i);
        if (i == settled)
            before = resident();
    }
    const double t = now() - t0;
    if (st)
        printf("%s\n%s\n", vsim_status_text(st), said(s));
    const long after = resident();
    vsim_free(&s);
    printf("%ld runs, %.2f ms each; %ld pages behind the first %ld, %ld at the end\n", n,
           1e3 * t / (double)n, before, settled, after);
    /* The allocator takes and gives back 128 KiB at a time: four times that, however many runs. */
    return st || before <= 0 || after > before + 4 * (128 << 10) / sysconf(_SC_PAGESIZE);
}
