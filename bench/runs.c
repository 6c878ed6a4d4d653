/* runs.c - runs a second in one process, against starting the command for each.
 *
 *     build/tests/bench_runs build/vsim netlists/ring.sp [ROUNDS]
 *
 * A run alters the width of a transistor of the ring oscillator, finds the operating point and
 * simulates the first ns. The library does that in one simulator, with widths that come back and
 * with widths that never were before; the command reads a deck with the width in it, an .op and a
 * .tran card, and writes no results. Rounds of both stand one after the other; what is printed are
 * medians of the clock and of processor time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vsim/vsim.h>

enum { LIB_RUNS = 100, STARTS = 10, MOST_ROUNDS = 1000 };
extern char **environ;

typedef struct cost { /* of one run, s */
    double clock, processor;
} cost;

static double now(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

/* -- the library -- */

static vsim_status analysis(vsim_deck *d, const char *card)
{
    vsim_run *r = NULL;
    double v;
    vsim_status st = vsim_run_card(d, card, NULL, &r);
    if (!st)
        st = vsim_run_go(r);
    if (!st)
        st = vsim_run_value(r, "v(1)", &v);
    vsim_run_free(&r);
    return st;
}

static vsim_status run_in_process(vsim_deck *d, double width)
{
    vsim_status st = vsim_set_device(d, "xu1.xmn.nm", "w", width);
    if (!st)
        st = analysis(d, "op");
    return st ? st : analysis(d, "tran 0.05n 1n");
}

/* Widths: `back` different ones that come back; 0: all are new. */
static vsim_status in_process(vsim_deck *d, int back, cost *c)
{
    static int n_new;
    const double clock = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
    vsim_status st = VSIM_OK;
    for (int i = 0; i < LIB_RUNS && !st; i++)
        st = run_in_process(d, back ? (10 + i % back) * 1e-6 : 9e-6 + 1e-11 * ++n_new);
    *c = (cost){(now(CLOCK_MONOTONIC) - clock) / LIB_RUNS,
                (now(CLOCK_PROCESS_CPUTIME_ID) - processor) / LIB_RUNS};
    return st;
}

/* -- the command -- */

/* The deck with one transistor's width, .op and the first ns. */
static bool write_deck(const char *path, const char *ring)
{
    FILE *in = fopen(ring, "r"), *out = fopen(path, "w");
    char line[400];
    while (in && out && fgets(line, sizeof line, in)) {
        if (!strncmp(line, ".tran", 5))
            fputs(".op\n.tran 0.05n 1n\n", out);
        else if (!strncmp(line, "xu1 ", 4))
            fputs("xp1 2 1 vdd vdd pmos w=20u l=1u\nxn1 2 1 0 0 nmos w=11u l=1u\n", out);
        else
            fputs(line, out);
    }
    const bool ok = in && out && !ferror(out);
    if (in)
        fclose(in);
    return out && !fclose(out) && ok;
}

static bool start(const char *program, const char *deck)
{
    char *const argv[] = {(char *)program, (char *)deck, "--no-output", "-q", NULL};
    posix_spawn_file_actions_t to;
    pid_t pid;
    int status = 1;
    posix_spawn_file_actions_init(&to);
    posix_spawn_file_actions_addopen(&to, 1, "/dev/null", O_WRONLY, 0);
    const bool started = posix_spawn(&pid, program, &to, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&to);
    return started && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool by_command(const char *program, const char *deck, cost *c)
{
    struct rusage before, after;
    bool ok = true;
    getrusage(RUSAGE_CHILDREN, &before);
    const double clock = now(CLOCK_MONOTONIC);
    for (int i = 0; i < STARTS && ok; i++)
        ok = start(program, deck);
    c->clock = (now(CLOCK_MONOTONIC) - clock) / STARTS;
    getrusage(RUSAGE_CHILDREN, &after);
    c->processor = (seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) -
                    seconds(before.ru_stime)) /
                   STARTS;
    return ok;
}

/* -- the table -- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cost median(const cost *c, int n)
{
    double clock[MOST_ROUNDS], processor[MOST_ROUNDS];
    for (int i = 0; i < n; i++) {
        clock[i] = c[i].clock;
        processor[i] = c[i].processor;
    }
    qsort(clock, (size_t)n, sizeof *clock, compare);
    qsort(processor, (size_t)n, sizeof *processor, compare);
    return (cost){clock[n / 2], processor[n / 2]};
}

static void print_row(const char *what, cost c, cost command)
{
    printf("| %s | %.3f | %.3f | %.1f | %.1f |\n", what, 1e3 * c.clock, 1e3 * c.processor,
           command.clock / c.clock, command.processor / c.processor);
}

int main(int argc, char **argv)
{
    static cost c[3][MOST_ROUNDS];
    const char deck[] = "bench_runs.sp";
    const int rounds = argc > 3 ? atoi(argv[3]) : 15;
    char path[4096];
    vsim *s;
    vsim_deck *d;
    if (argc < 3 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_runs VSIM RING.sp [ROUNDS]\n");
        return 2;
    }
    /* Beside the ring, whose includes it has. */
    const char *slash = strrchr(argv[2], '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - argv[2] + 1) : 0, argv[2], deck);
    if (!write_deck(path, argv[2]) || vsim_new(&s, NULL) || vsim_deck_file(s, argv[2], NULL, &d)) {
        fprintf(stderr, "bench_runs: the deck cannot be read or copied\n");
        return 1;
    }
    bool ok = start(argv[1], path) && !in_process(d, 7, &c[0][0]);
    for (int i = 0; i < rounds && ok; i++)
        ok = by_command(argv[1], path, &c[0][i]) && !in_process(d, 7, &c[1][i]) &&
             !in_process(d, 0, &c[2][i]);
    remove(path);
    vsim_free(&s);
    if (!ok) {
        fprintf(stderr, "bench_runs: a run failed\n");
        return 1;
    }
    const cost command = median(c[0], rounds);
    printf("| a run | clock, ms | processor, ms | ratio, clock | ratio, processor |\n"
           "|---|---|---|---|---|\n");
    print_row("command started for it", command, command);
    print_row("library, 7 widths in turn", median(c[1], rounds), command);
    print_row("library, new widths", median(c[2], rounds), command);
    return 0;
}
