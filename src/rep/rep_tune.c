/* rep_tune.c - `vsim tune`: measures from what size on threads pay here, and stores that for later
 * runs. Threads change no result, only who computes; so a file that is wrong costs time, not
 * digits. It is text, in the folder of compiled models, and counts only on the processor and the
 * number of processors that it names. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "jit.h"
#include "store.h"
#include "pool.h"
#include "rep.h"
#include "stream.h"
#include "vec.h"

enum { ROUNDS = 201, WIDTH = 512, OPS = 64, PARTS = 16 };
static const double GAP = 20e-6; /* s between parallel parts: the rest of a Newton iteration */
static const double LEAST = 1e5, MOST = 1e9;            /* operations */
static const double LEAST_START = 1e-5, MOST_START = 1; /* s */
static const char HEAD[] = "vsim-tune 1";

typedef struct tune {
    char cpu[256];
    int processors;
    double parallel_min; /* operations of a group's evaluation */
    double worker;       /* s, its start; 0: not in the file */
} tune;

/* -- the file -- */

/* The path of the file of figures.  make  make the folder if it does not exist
 * Returns NULL or what is wrong. */
static const char *tune_path(const char *dir, bool make, char *path, size_t size)
{
    const char *why = dir && *dir ? NULL : "no cache folder is set";
    if (make && !why) {
        store c;
        store_open(&c, dir, &why);
        store_close(&c);
    }
    if (!why && snprintf(path, size, "%s/tune", dir) >= (int)size)
        why = "the path of the cache folder is too long";
    return why;
}

static void this_machine(tune *t)
{
    jit_cpu_text(t->cpu, sizeof t->cpu);
    for (char *p = t->cpu; *p; p++)
        *p = *p < ' ' || *p > '~' ? '_' : *p;
    t->processors = pool_processors();
}

/* Reads the file. NULL, or what is wrong with it. */
static const char *parse(FILE *fp, tune *t)
{
    char line[400];
    tune here = {0};
    bool cpu = false, same = false;
    this_machine(&here);
    if (!fgets(line, sizeof line, fp) || strncmp(line, HEAD, sizeof HEAD - 1))
        return "it is not a file of this version's vsim tune";
    while (fgets(line, sizeof line, fp)) {
        line[strcspn(line, "\n")] = 0;
        cpu |= !strncmp(line, "cpu ", 4) && !strcmp(line + 4, here.cpu);
        same |= !strncmp(line, "processors ", 11) && atoi(line + 11) == here.processors;
        if (!strncmp(line, "parallel_min ", 13))
            t->parallel_min = strtod(line + 13, NULL);
        if (!strncmp(line, "worker ", 7))
            t->worker = strtod(line + 7, NULL);
    }
    if (!cpu || !same)
        return "it was measured on another machine";
    const bool sense = t->parallel_min >= LEAST && t->parallel_min <= MOST &&
                       (t->worker == 0 || (t->worker >= LEAST_START && t->worker <= MOST_START));
    return sense ? NULL : "its numbers make no sense";
}

double rep_tuned(const char *dir, FILE *notes, double *worker)
{
    char path[4096];
    *worker = 0;
    tune t = {0};
    FILE *fp = tune_path(dir, false, path, sizeof path) ? NULL : stream_open(path);
    if (!fp)
        return 0;
    const char *wrong = parse(fp, &t);
    stream_close(fp);
    if (notes && wrong)
        fprintf(notes, "note: '%s' is not used: %s\n", path, wrong);
    else if (notes)
        fprintf(notes, "note: threads from %.3g operations on ('%s')\n", t.parallel_min, path);
    *worker = wrong ? 0 : t.worker;
    return wrong ? 0 : t.parallel_min;
}

/* -- measuring -- */

static void nothing(void *user, int32_t i, int worker) { (void)user, (void)i, (void)worker; }

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, vec_by_value);
    return x[n / 2];
}

static void busy(void *user, int32_t i, int worker)
{
    const double end = vs_seconds() + *(const double *)user;
    (void)i, (void)worker;
    while (vs_seconds() < end)
        ;
}

/* Measures a job of so much work by all threads, after the gap of an iteration: s. */
static double shared(pool *p, double work)
{
    double s[ROUNDS], piece = work / PARTS;
    for (int i = 0; i < ROUNDS; i++) {
        busy(&(double){GAP}, 0, 0);
        const double t0 = vs_seconds();
        pool_run(p, POOL_OTHER, PARTS, busy, &piece);
        s[i] = vs_seconds() - t0;
    }
    return median(s, ROUNDS);
}

/* The least work, doubled from 2 us on, whose time threads cut by a quarter. */
static double worth_sharing(pool *p)
{
    double work = 2e-6;
    while (work < 1e-3 && shared(p, work) > 0.75 * work)
        work *= 2;
    return work;
}

VS_CLONES static double operations(double *x)
{
    for (int k = 0; k < OPS; k++)
        for (int i = 0; i < WIDTH; i++)
            x[i] = x[i] * 0.999 + 1e-3;
    return x[0];
}

/* Seconds of one operation of one instance, in lanes; a kernel's mixture with divisions and
 * elementary functions takes several times that of a multiplication and an addition. */
static double operation(void)
{
    enum { MIXTURE = 3 };
    double x[WIDTH] = {0}, s[ROUNDS], sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const double t0 = vs_seconds();
        sum += operations(x);
        s[i] = (vs_seconds() - t0) / (OPS * WIDTH);
    }
    return MIXTURE * median(s, ROUNDS) * (sum > 0 ? 1 : 2);
}

/* Measures the start of a worker, one answer and its end: s. */
static double worker(void)
{
    double s[21];
    for (size_t i = 0; i < VS_COUNT(s); i++) {
        int fd[2];
        char c = 0;
        const double t0 = vs_seconds();
        if (pipe(fd))
            return NAN;
        const pid_t pid = fork();
        if (pid == 0)
            _exit(!io_write(fd[1], &c, 1));
        close(fd[1]); /* so that read ends if the worker ends without an answer */
        const bool came = pid > 0 && io_read(fd[0], &c, 1);
        if (pid > 0)
            waitpid(pid, NULL, 0);
        close(fd[0]);
        if (!came)
            return NAN;
        s[i] = vs_seconds() - t0;
    }
    return median(s, VS_COUNT(s));
}

static vs_status write_file(const char *path, const tune *t)
{
    FILE *fp = stream_create(path, FILES_FIGURES);
    bool ok = fp && fprintf(fp, "%s\ncpu %s\nprocessors %d\nparallel_min %.4g\nworker %.4g\n", HEAD,
                            t->cpu, t->processors, t->parallel_min, t->worker) > 0;
    ok = fp && !stream_close(fp) && ok;
    return ok ? VS_OK : VS_EIO;
}

vs_status rep_tune(const char *dir, FILE *out, char *why, size_t size)
{
    char path[4096];
    tune t = {0};
    this_machine(&t);
    const char *wrong = tune_path(dir, true, path, sizeof path);
    if (wrong) {
        snprintf(why, size, "%s", wrong);
        return VS_EIO;
    }
    if (t.processors < 2) {
        fputs("one processor: threads are not used, and there is nothing to measure\n", out);
        return VS_OK;
    }
    const double w = worker();
    t.worker = w > 0 ? fmin(fmax(w, LEAST_START), MOST_START) : 0;
    double t0 = vs_seconds();
    pool *p = pool_new(t.processors < 8 ? t.processors : 8);
    pool_run(p, POOL_OTHER, PARTS, nothing, NULL);
    const double start = vs_seconds() - t0, least = worth_sharing(p), op = operation();
    pool_free(&p);
    t.parallel_min = fmin(fmax(least / op, LEAST), MOST);
    fprintf(out,
            "processors                  %d\n"
            "start of threads            %.3g us (compiling a kernel takes 1000 us and more: "
            "threads from 2 kernels on)\n"
            "threads save a quarter of   %.3g us and more (1000: of nothing; were the processors "
            "idle?)\n"
            "an operation of a kernel    %.3g ns\n"
            "evaluation by threads       from %.3g operations on (without this file: %.3g)\n"
            "start of a worker           %.3g us (--jobs: a further one is started when the points "
            "left take twice that and its circuit)\n"
            "written to %s\n",
            t.processors, 1e6 * start, 1e6 * least, 1e9 * op, t.parallel_min, 2e6, 1e6 * w, path);
    const vs_status st = write_file(path, &t);
    if (st)
        snprintf(why, size, "'%s' could not be written", path);
    return st;
}
