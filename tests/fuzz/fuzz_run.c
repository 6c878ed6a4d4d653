/* fuzz_run.c - the targets `results` (pictures, conversions and comparisons of result files) and
 * `reports` (whole runs of a deck, their reports and pages), as the command asks for them
 * (vsim/inside.h). What is refused must have a message, what is done its file.
 * Input of results:  a line of words, a result file, "*---", another one. The words:
 *     draw ENDING KIND STYLE PLOT OVER EXPRESSION...    ENDING of svg, html, txt; or none
 *     convert ENDING PLOT LOW HIGH REFERENCE...
 *     compare ENDING PLOT RELTOL ABSTOL SHIFT [json] [common]
 * "-" is no word. Input of reports:  a line of words, a deck, "*---", the figures of `vsim tune`.
 * The words: check, explain, doctor, analyze, profile, page or run, then any of json, svg, steps,
 * mtx, trace, quiet, measures, csv, verify, resume, threads; of analyze at=... and order=.... */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "vsim/inside.h"

enum { MOST_WORDS = 24, MOST_SAID = 1 << 16 };

static char said[MOST_SAID]; /* what the call told the user */

static vsim_inside_streams streams(void)
{
    static FILE *say;
    if (say)
        fclose(say);
    memset(said, 0, sizeof said);
    say = fmemopen(said, sizeof said, "w");
    if (!say)
        finding("no stream can be opened");
    return (vsim_inside_streams){.log = nowhere(), .say = say, .warnings = true, .notes = true};
}

static vsim_settings settings(void)
{
    vsim_settings s;
    vsim_settings_init(&s);
    s.interpret = true;
    s.threads = 1;
    s.plugins = "none";
    s.variable = variable;
    return s;
}

static void check(const vsim_inside_streams *s, vsim_status st, const char *file)
{
    struct stat sb;
    fflush(s->say);
    if (st && st != VSIM_STOP && !was_stopped() && !*said)
        finding("status %d without a message", (int)st);
    if (!st && file && stat(file, &sb))
        finding("'%s' was not written", file);
}

/* The words of the first line of text [n + 1], which is changed; *rest is what follows the line. */
static int words_of(char *text, size_t n, const char **word, size_t *rest)
{
    const char *end = memchr(text, '\n', n);
    const size_t line = end ? (size_t)(end - text) : n;
    int n_word = 0;
    *rest = end ? line + 1 : n;
    text[line] = 0; /* text[n] is 0 */
    for (size_t i = 0; i < line; i++)
        if (text[i] == ' ')
            text[i] = 0;
    for (size_t i = 0; i < line && n_word < MOST_WORDS; i += strlen(text + i) + 1)
        if (text[i])
            word[n_word++] = text + i;
    return n_word;
}

static const char *word_at(const char *const *word, int n, int i)
{
    return i < n && strcmp(word[i], "-") != 0 ? word[i] : NULL;
}

static double number_at(const char *const *word, int n, int i)
{
    const char *w = word_at(word, n, i);
    return w ? strtod(w, NULL) : NAN;
}

static const char *has(const char *const *word, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!strncmp(word[i], what, strlen(what)))
            return word[i] + strlen(what);
    return NULL;
}

/* "o.ENDING" in buf; NULL: no file. */
static const char *output(char buf[24], const char *ending)
{
    if (!ending || strlen(ending) > 12)
        return NULL;
    snprintf(buf, 24, "o.%s", ending);
    unlink(buf);
    return buf;
}

static void draw(const char *const *word, int n)
{
    const vsim_settings set = settings();
    const vsim_inside_streams s = streams();
    char name[24];
    const char *shown[MOST_WORDS + 1] = {"a.raw"};
    vsim_inside_picture p = {.word = shown,
                             .n_word = 1,
                             .output = output(name, word_at(word, n, 1)),
                             .kind = word_at(word, n, 2),
                             .style = word_at(word, n, 3),
                             .plot = word_at(word, n, 4),
                             .over = word_at(word, n, 5),
                             .stack = n % 2,
                             .xlog = n % 5 == 4,
                             .ylog = n % 7 == 6,
                             .xlo = NAN,
                             .xhi = NAN,
                             .ylo = NAN,
                             .yhi = NAN};
    for (int i = 6; i < n; i++)
        shown[p.n_word++] = word[i];
    check(&s, vsim_inside_draw(&set, &s, &p), p.output);
}

static void convert(const char *const *word, int n)
{
    const vsim_settings set = settings();
    const vsim_inside_streams s = streams();
    char name[24];
    double z0[MOST_WORDS];
    vsim_inside_conversion c = {.from = "a.raw",
                                .to = output(name, word_at(word, n, 1)),
                                .plot = word_at(word, n, 2),
                                .low = number_at(word, n, 3),
                                .high = number_at(word, n, 4),
                                .z0 = z0,
                                .ascii = n % 2};
    for (int i = 5; i < n; i++)
        z0[c.n_z0++] = number_at(word, n, i);
    if (c.to)
        check(&s, vsim_inside_convert(&set, &s, &c), c.to);
}

static void compare(const char *const *word, int n)
{
    const vsim_settings set = settings();
    const vsim_inside_streams s = streams();
    char name[24];
    const double shift = number_at(word, n, 5);
    const vsim_inside_comparison c = {.a = "a.raw",
                                      .b = "b.raw",
                                      .plot = word_at(word, n, 2),
                                      .output = output(name, word_at(word, n, 1)),
                                      .reltol = number_at(word, n, 3),
                                      .abstol = number_at(word, n, 4),
                                      .time_shift = isnan(shift) ? 0 : shift,
                                      .json = has(word, n, "json"),
                                      .common = has(word, n, "common")};
    int64_t differ = 0;
    check(&s, vsim_inside_compare(&set, &s, &c, &differ), NULL);
    if (differ < 0)
        finding("%lld differences", (long long)differ);
}

/* The words of the first line of an input, to be freed with *all; what follows goes to a file, and
 * from the mark on to another one. */
static int take_input(const char *text, size_t n, const char *first, const char *other,
                      const char **word, char **all)
{
    size_t at;
    *all = malloc(n + 1);
    memcpy(*all, text, n);
    (*all)[n] = 0;
    const int n_word = words_of(*all, n, word, &at);
    const size_t mark = next_mark(text, n, at), second = mark < n ? mark + 6 : n;
    write_file(first, text + at, mark - at);
    write_file(other, text + second, n - second);
    ask_anew();
    return n_word;
}

void fuzz_results(const char *text, size_t n)
{
    const char *word[MOST_WORDS];
    char *all;
    const int n_word = take_input(text, n, "a.raw", "b.raw", word, &all);
    if (n_word && !strcmp(word[0], "draw"))
        draw(word, n_word);
    else if (n_word && !strcmp(word[0], "convert"))
        convert(word, n_word);
    else
        compare(word, n_word);
    free(all);
}

static void run_job(const char *const *word, int n)
{
    static const char *const task[] = {
        [VSIM_TASK_RUN] = "run",         [VSIM_TASK_CHECK] = "check",
        [VSIM_TASK_EXPLAIN] = "explain", [VSIM_TASK_DOCTOR] = "doctor",
        [VSIM_TASK_ANALYZE] = "analyze", [VSIM_TASK_PROFILE] = "profile"};
    enum { N_TASK = sizeof task / sizeof *task };
    static const char *const file[] = {"o.raw",   "o.csv",   "o.svg", "o.mtx",
                                       "o.trace", "o.steps", "o.html"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        unlink(file[i]);
    vsim_inside_job j = {.set = settings(),
                         .streams = streams(),
                         .deck = "input",
                         .version = "fuzz",
                         .raw = "o.raw",
                         .jobs = 1,
                         .n_shard = 1,
                         .json = has(word, n, "json"),
                         .format = has(word, n, "csv") ? VSIM_CSV : VSIM_RAW,
                         .svg = has(word, n, "svg") ? "o.svg" : NULL,
                         .steps = has(word, n, "steps") ? "o.steps" : NULL,
                         .mtx = has(word, n, "mtx") ? "o.mtx" : NULL,
                         .trace = has(word, n, "trace") ? "o.trace" : NULL,
                         .measures = has(word, n, "measures") ? "o.csv" : NULL,
                         .verify = has(word, n, "verify"),
                         .resume = has(word, n, "resume"),
                         .at = has(word, n, "at="),
                         .order = has(word, n, "order="),
                         .no_date = true,
                         .stop = enough};
    j.streams.quiet = has(word, n, "quiet");
    j.set.cache = ".";
    j.set.threads =
        has(word, n, "threads") ? 2 : 1; /* else the figures of `vsim tune` are not read */
    for (int i = 0; i < N_TASK; i++)
        if (n && !strcmp(word[0], task[i]))
            j.task = (vsim_inside_task)i;
    if (n && !strcmp(word[0], "page")) {
        const vsim_inside_page page = {
            .output = "o.html", .no_times = true, .keep_measures = has(word, n, "measures")};
        j.measures = "o.csv";
        check(&j.streams, vsim_inside_report(&j, &page), NULL);
        return;
    }
    int quit = 0;
    const vsim_status st = vsim_inside_run(&j, &quit);
    check(&j.streams, quit ? VSIM_OK : st, NULL);
}

void fuzz_reports(const char *text, size_t n)
{
    const char *word[MOST_WORDS];
    char *all;
    const int n_word = take_input(text, n, "input", "tune", word, &all);
    run_job(word, n_word);
    free(all);
}
