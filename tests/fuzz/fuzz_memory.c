/* fuzz_memory.c - the target `memory`: a whole run of a deck in which an allocation fails, and all
 * after it. The run must end with its message, leave no file open, and what it wrote must be
 * readable; a sweep that ended so and goes on must give the results of one that did not.
 * Input: 2 bytes, of which 14 bits say which allocation, one asks for CSV, one for two workers;
 * then a deck. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "out.h"
#include "vsim/inside.h"

static char said[1 << 14];

#define RESULT "m.raw"
#define JOURNAL "m.raw.journal"
#define TABLE "m.csv"

static void remove_results(void)
{
    DIR *dir = opendir(".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!strncmp(e->d_name, "m.", 2))
            unlink(e->d_name);
    if (dir)
        closedir(dir);
}

static int files_open(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static bool csv, two; /* asked for by the input */

static vsim_status run(int64_t fail_at, bool resume)
{
    FILE *say = fmemopen(said, sizeof said, "w");
    memset(said, 0, sizeof said);
    if (!say)
        finding("no stream can be opened");
    vsim_inside_job j = {.deck = "input",
                         .version = "fuzz",
                         .raw = RESULT,
                         .measures = TABLE,
                         .format = csv ? VSIM_CSV : VSIM_RAW,
                         .jobs = two ? 2 : 1,
                         .n_shard = 1,
                         .streams = {.log = nowhere(), .say = say, .warnings = true},
                         .resume = resume,
                         .no_date = true,
                         .fail_at = fail_at,
                         .stop = enough};
    vsim_settings_init(&j.set);
    j.set.interpret = true;
    j.set.threads = 1;
    j.set.plugins = "none";
    j.set.variable = variable;
    const int before = files_open();
    ask_anew();
    int quit = 0;
    const vsim_status st = vsim_inside_run(&j, &quit);
    if (files_open() > before)
        finding("allocation %lld: %d files stay open", (long long)fail_at, files_open() - before);
    fclose(say);
    return st;
}

/* What a run without memory left must be plots, whole or none yet. */
static void check_results(int64_t fail_at)
{
    const char *why = NULL;
    struct stat sb;
    out_plot p;
    if (!strstr(said, "out of memory"))
        finding("allocation %lld: no message", (long long)fail_at);
    if (stat(RESULT, &sb) || !sb.st_size)
        return;
    if (out_read(&p, RESULT, 0, &why))
        finding("allocation %lld: the results cannot be read: %s", (long long)fail_at, why);
    out_plot_free(&p);
}

/* Both workers that tried a point found no memory: it has failed, and stays so. */
static bool has_lost_point(void)
{
    FILE *fp = fopen(JOURNAL, "r");
    char line[4096];
    bool any = false;
    long long point;
    for (int st; fp && !any && fgets(line, sizeof line, fp);)
        any = sscanf(line, "p %lld %d", &point, &st) == 2 && st == VSIM_ENOMEM;
    if (fp)
        fclose(fp);
    return any;
}

/* A sweep that ended without memory goes on; then all of it in one run. */
static void go_on(int64_t fail_at)
{
    kept_file first[] = {{RESULT, NULL, 0}, {TABLE, NULL, 0}}, then[VS_COUNT(first)];
    memcpy(then, first, sizeof first);
    const vsim_status st = run(0, true);
    bool stopped = was_stopped();
    for (size_t i = 0; i < VS_COUNT(first); i++)
        read_back(&first[i]);
    remove_results();
    const vsim_status at_once = run(0, false);
    stopped |= was_stopped();
    for (size_t i = 0; i < VS_COUNT(first); i++) {
        read_back(&then[i]);
        if (!stopped && (st != at_once || first[i].n != then[i].n ||
                         (then[i].n && memcmp(first[i].bytes, then[i].bytes, then[i].n) != 0)))
            finding("allocation %lld: '%s' of a sweep that goes on is another (%d, %d)",
                    (long long)fail_at, then[i].name, (int)st, (int)at_once);
        free(first[i].bytes);
        free(then[i].bytes);
    }
}

void fuzz_memory(const char *text, size_t n)
{
    if (n < 2)
        return;
    const unsigned head = (unsigned char)text[0] + 256u * (unsigned char)text[1];
    const int64_t fail_at = 1 + head % 16384;
    csv = head >> 14 & 1;
    two = head >> 15;
    write_file("input", text + 2, n - 2);
    remove_results();
    const vsim_status st = run(fail_at, false);
    if (st == VSIM_ENOMEM)
        check_results(fail_at);
    else if (st && !was_stopped() && !*said)
        finding("status %d without a message", (int)st);
    if (st == VSIM_ENOMEM && !access(JOURNAL, F_OK) && !has_lost_point())
        go_on(fail_at);
}
