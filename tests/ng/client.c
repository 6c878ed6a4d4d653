/* A program as users of libngspice write them.        client LIBRARY SCENE [ARGUMENTS]
 * It loads the library by its name and prints what it sees, so that two libraries can be compared:
 * lines "cb NAME ..." are callbacks in their order, others what calls returned. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/ng/ng_abi.h"

/* clang-format off */
#define FUNCTIONS(X) \
    X(ngSpice_Init) X(ngSpice_Init_Sync) X(ngSpice_Command) X(ngSpice_Circ) X(ngGet_Vec_Info) \
    X(ngSpice_CurPlot) X(ngSpice_AllPlots) X(ngSpice_AllVecs) X(ngSpice_running) \
    X(ngSpice_SetBkpt) X(ngSpice_Init_Evt) X(ngGet_Evt_NodeInfo) X(ngSpice_AllEvtNodes)
#define NEWER(X) /* which ngspice 39 lacks, but for the last */ \
    X(ngSpice_LockRealloc) X(ngSpice_UnlockRealloc) X(ngSpice_nospinit) X(ngSpice_nospiceinit) \
    X(ngSpice_Reset) X(ngCM_Input_Path)
/* clang-format on */
static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
    NEWER(X)
#undef X
} ng;

enum { PATIENCE = 30000 }; /* times 10 ms */

static bool quiet;   /* callbacks are not printed */
static bool verbose; /* print lines of text too */
static long n_data, n_stat, n_source, n_sync;
static volatile bool thread_ended;
static double sync_limit;
static double break_at;             /* in s, 0: none; the host asks for it when a step begins */
static double redo_at = INFINITY;   /* the first attempt that reaches it is to be shorter */
static double redone_at = INFINITY; /* where that one ended: the source jumps there */
static double last_accepted = -1;
static long n_accepted, n_wrong_place;

static int on_char(char *s, int id, void *user)
{
    (void)id;
    (void)user;
    if (verbose)
        printf("cb char %s\n", s);
    return 0;
}

static int on_stat(char *s, int id, void *user)
{
    (void)id;
    (void)user;
    n_stat++;
    if (verbose)
        printf("cb stat %s\n", s);
    return 0;
}

static int on_exit_(int status, bool now, bool quit, int id, void *user)
{
    (void)id;
    (void)user;
    printf("cb exit %d %d %d\n", status, now, quit);
    return 0;
}

static int on_data(ng_values *v, int n, int id, void *user)
{
    (void)id;
    (void)user;
    if (!n_data++ && !quiet) {
        printf("cb data %d %d first index %d\n", v->n, n, v->index);
        for (int i = 0; i < v->n; i++)
            printf("  %s scale %d complex %d %.3g\n", v->value[i]->name, v->value[i]->is_scale,
                   v->value[i]->is_complex, v->value[i]->re);
    }
    return 0;
}

static int on_init(ng_columns *c, int id, void *user)
{
    (void)id;
    (void)user;
    n_data = 0;
    if (quiet)
        return 0;
    printf("cb init %s | %s | %s | %d\n", c->name, c->title, c->type, c->n);
    for (int i = 0; i < c->n; i++)
        printf("  %d %s real %d\n", c->column[i]->number, c->column[i]->name,
               c->column[i]->is_real);
    return 0;
}

static int on_thread(bool not_running, int id, void *user)
{
    (void)id;
    (void)user;
    printf("cb thread %d\n", not_running);
    if (not_running)
        thread_ended = true;
    return 0;
}

static int on_source(double *v, double t, char *name, int id, void *user)
{
    (void)id;
    (void)user;
    if (!n_source++)
        printf("cb source %s\n", name);
    *v = isinf(redo_at) ? 1 + sin(2 * M_PI * 1e3 * t) : t >= redone_at ? 3 : 1;
    return 0;
}

static int on_sync(double t, double *delta, double old, int redo, int id, int place, void *user)
{
    (void)id;
    (void)user;
    n_sync++;
    if (break_at > 0 && t > 0) {
        printf("asked by the host %d\n", ng.ngSpice_SetBkpt(break_at));
        break_at = 0;
    }
    if (sync_limit > 0 && *delta > sync_limit)
        *delta = sync_limit;
    if (place == 0) { /* a point was accepted, the next step is planned */
        n_wrong_place += old != 0 || redo || t <= last_accepted;
        last_accepted = t;
        n_accepted++;
        return 0;
    }
    /* an attempt; one that is refused has been undone */
    n_wrong_place +=
        place != 1 || old <= 0 || (redo ? fabs(t - last_accepted) > 1e-15 : t <= last_accepted);
    if (redo || t < redo_at || t - old >= redo_at || !isinf(redone_at))
        return 0;
    *delta = old - (t - redo_at);
    redone_at = redo_at * (1 - 1e-12);
    return 1;
}

static void command(const char *text)
{
    char copy[400];
    snprintf(copy, sizeof copy, "%s", text);
    fflush(stdout);
    const int rc = ng.ngSpice_Command(copy);
    printf("command %s: %d\n", text, rc);
}

static void circuit(const char *text)
{
    char *line[200], *copy = strdup(text);
    size_t n = 0;
    for (char *s = strtok(copy, "\n"); s; s = strtok(NULL, "\n"))
        line[n++] = s;
    line[n] = NULL;
    printf("circuit: %d\n", ng.ngSpice_Circ(line));
    free(copy);
}

static void vector(const char *name)
{
    char copy[200];
    snprintf(copy, sizeof copy, "%s", name);
    const ng_vector *v = ng.ngGet_Vec_Info(copy);
    if (!v) {
        printf("vector %s: none\n", name);
        return;
    }
    const int k = v->length - 1;
    printf("vector %s: %s type %d flags %d real %d complex %d last %.6g", name, v->name, v->type,
           v->flags & 3, v->real != NULL, v->complex != NULL,
           !v->length ? NAN
           : v->real  ? v->real[k]
                      : v->complex[k].re);
    if (v->complex && v->length)
        printf(" %.6g", v->complex[k].im);
    printf(v->length == 1 ? " alone\n" : "\n");
}

static void plots(void)
{
    char **p = ng.ngSpice_AllPlots();
    printf("current %s, plots", ng.ngSpice_CurPlot());
    for (; *p; p++)
        printf(" %s", *p);
    printf("\n");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Their order is the library's own: it is sorted here. */
static void vectors(const char *plot)
{
    char copy[100], *sorted[200];
    int n = 0;
    snprintf(copy, sizeof copy, "%s", plot);
    for (char **v = ng.ngSpice_AllVecs(copy); v && *v; v++)
        sorted[n++] = *v;
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    printf("vectors of %s:", plot);
    for (int i = 0; i < n; i++)
        printf(" %s", sorted[i]);
    printf("\n");
}

/* -- scenes -- */

static const char filter[] = "a filter\n"
                             "v1 in 0 dc 1 ac 1 sin(0 1 1k)\n"
                             "r1 in mid 1k\n"
                             "l1 mid out 10m\n"
                             "x1 out load\n"
                             ".subckt load a\n"
                             "r1 a n 2k\n"
                             "c1 n 0 100n\n"
                             "vm n 5 0\n"
                             "r2 5 0 3k\n"
                             ".ends\n"
                             ".end\n";

static void scene_plots(void)
{
    circuit(filter);
    command("op");
    plots();
    vectors("op1");
    vector("out");
    vector("v1#branch");
    vector("l1#branch");
    vector("v.x1.vm#branch");
    vector("x1.n");
    vector("op1.x1.5");
    vector("v(mid)");
    vector("nothing");
    command("ac dec 2 10 1k");
    vectors("ac1");
    vector("frequency");
    vector("out");
    command("tran 10u 2m");
    plots();
    vectors("tran1");
    vector("time");
    vector("tran1.out");
    vector("ac1.out");
    command("dc v1 0 2 0.5");
    vectors("dc1");
    vector("v-sweep");
    vector("out");
    command("setplot tran1");
    command("let twice = 2*out");
    vector("twice");
    vector("const.pi");
    command("destroy all");
    plots();
}

static void scene_changes(void)
{
    circuit(filter);
    command("alter r1 = 4k");
    command("op");
    vector("out");
    command("set temp = 50");
    command("set myvar = 3");
    command("let x = $myvar * 2");
    vector("x");
    circuit("divider\nv1 a 0 3\nr1 a b 1k\nr2 b 0 2k\n.op\n.end\n");
    command("run");
    vector("b");
    command("setcirc 1");
    command("remcirc");
    command("reset");
    command("run");
    vector("b");
    command("stop when time > 1m");
    command("tran 10u 2m");
    command("resume");
    vector("time");
    command("quit");
}

static void wait_for_thread(void)
{
    for (int i = 0; i < PATIENCE && !thread_ended; i++)
        usleep(10000);
}

/* The last time of the transient that runs. Vectors can be read while they grow, under a lock. */
static double time_so_far(void)
{
    char name[] = "time";
    if (ng.ngSpice_LockRealloc)
        ng.ngSpice_LockRealloc();
    const ng_vector *v = ng.ngGet_Vec_Info(name);
    const double t = v && v->length ? v->real[v->length - 1] : -1;
    if (ng.ngSpice_UnlockRealloc)
        ng.ngSpice_UnlockRealloc();
    return t;
}

static bool comes_beyond(double t)
{
    for (int i = 0; i < PATIENCE && !(time_so_far() > t); i++)
        usleep(10000);
    return time_so_far() > t;
}

static void scene_background(void)
{
    circuit("pulse\nv1 in 0 pulse(0 1 0 1u 1u 50u 100u)\nr1 in out 1k\nc1 out 0 10n\n"
            ".tran 1u 2m\n.end\n");
    printf("running %d\n", ng.ngSpice_running());
    command("bg_run");
    wait_for_thread();
    printf("running %d\n", ng.ngSpice_running());
    plots();
    vector("time");
    thread_ended = false;
}

static void scene_halt(void)
{
    circuit("pulse\nv1 in 0 pulse(0 1 0 1u 1u 50u 100u)\nr1 in out 1k\nc1 out 0 10n\n"
            ".tran 1u 20\n.end\n");
    command("bg_run");
    comes_beyond(0);
    printf("running %d\n", ng.ngSpice_running());
    command("bg_halt");
    printf("running %d\n", ng.ngSpice_running());
    const double t1 = time_so_far();
    printf("halted on the way %d\n", t1 > 0 && t1 < 20);
    thread_ended = false;
    command("bg_resume");
    printf("went on %d\n", comes_beyond(t1));
    command("bg_halt");
    printf("ended %d\n", thread_ended);
}

/* What is altered between bg_halt and bg_resume counts from there on. */
static void scene_alter(void)
{
    circuit("divider\nv1 in 0 1\nr1 in out 1k\nr2 out 0 1k\nc1 out 0 1u\n.tran 10u 20m\n.end\n");
    command("stop when time > 1m");
    command("run");
    vector("out");
    command("delete all");
    command("alter r2 = 3k");
    command("altermod nothing is = 1");
    thread_ended = false;
    command("bg_resume");
    wait_for_thread();
    vector("time");
    vector("out");
}

static int on_event(int a, double b, double c, char *d, void *e, int f, int g, int h, int i,
                    void *user)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)user;
    printf("cb event\n");
    return 0;
}

static int on_init_event(int a, int b, char *c, char *d, int e, void *user)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)user;
    printf("cb init event\n");
    return 0;
}

/* A circuit without event nodes. */
static void scene_events(void)
{
    char out[] = "out";
    printf("init events %d\n", ng.ngSpice_Init_Evt(on_event, on_init_event, NULL));
    circuit(filter);
    command("op");
    char **all = ng.ngSpice_AllEvtNodes();
    printf("event nodes %d, out is one %d\n", all && *all, ng.ngGet_Evt_NodeInfo(out) != NULL);
}

static void scene_source(void)
{
    int ident = 1;
    ng.ngSpice_Init_Sync(on_source, on_source, on_sync, &ident, NULL);
    circuit("outside\nv1 in 0 dc 0 external\nr1 in out 1k\nc1 out 0 10n\n.tran 10u 1m\n.end\n");
    command("run");
    vector("in");
    vector("out");
    printf("sources asked %d, sync asked %d\n", n_source > 100, n_sync > 100);
    char name[] = "time";
    const int usual = ng.ngGet_Vec_Info(name)->length;
    sync_limit = 2e-6;
    command("run");
    const ng_vector *v = ng.ngGet_Vec_Info(name);
    double most = 0;
    for (int i = 1; i < v->length; i++)
        most = fmax(most, v->real[i] - v->real[i - 1]);
    printf("more points %d, longest step %d\n", v->length > usual, most <= 2.001e-6);
}

/* A step that was good is done again, shorter, because the host has other values. */
static void scene_redo(void)
{
    int ident = 1;
    ng.ngSpice_Init_Sync(on_source, on_source, on_sync, &ident, NULL);
    circuit("outside\nvtb.u0.a in 0 dc 0 external\nr1 in out 1k\nc1 out 0 10n\n"
            ".tran 10u 1m\n.end\n");
    redo_at = 333.3e-6;
    command("run");
    char name[] = "time", in[] = "in", out[] = "out";
    const ng_vector *v = ng.ngGet_Vec_Info(name);
    const int n = v->length;
    int at = 0;
    while (at < n - 1 && v->real[at] < redo_at * (1 - 1e-9))
        at++;
    const double there = v->real[at], before = v->real[at - 1];
    v = ng.ngGet_Vec_Info(in);
    printf("a point at the jump %d, values %g %g\n",
           fabs(there / redo_at - 1) < 1e-9 && before < there, v->real[at - 1], v->real[at]);
    v = ng.ngGet_Vec_Info(out);
    printf("points %d, places wrong %ld, last %.3f\n", n_accepted == n, n_wrong_place,
           v->real[n - 1]);
}

static bool a_point_at(double t)
{
    char name[] = "time";
    const ng_vector *v = ng.ngGet_Vec_Info(name);
    for (int i = 0; v && i < v->length; i++)
        if (fabs(v->real[i] / t - 1) < 1e-9)
            return true;
    return false;
}

static void print_points(void)
{
    printf("points at 0.12345 ms %d, 0.54321 ms %d, 0.76543 ms %d\n", a_point_at(1.2345e-4),
           a_point_at(5.4321e-4), a_point_at(7.6543e-4));
}

/* Breakpoints: without a circuit, before a run, in a pause, from the host's callback; each for one
 * run. */
static void scene_breakpoint(void)
{
    int ident = 1;
    printf("without a circuit %d\n", ng.ngSpice_SetBkpt(1e-3));
    circuit("slow\nv1 in 0 sin(0 1 1k)\nr1 in out 1k\nc1 out 0 10n\n.tran 50u 1m\n.end\n");
    printf("before a run %d\n", ng.ngSpice_SetBkpt(1.2345e-4));
    command("stop when time > 0.3m");
    command("run");
    printf("in a pause %d\n", ng.ngSpice_SetBkpt(5.4321e-4));
    command("delete all");
    command("resume");
    print_points();
    ng.ngSpice_Init_Sync(NULL, NULL, on_sync, &ident, NULL);
    break_at = 7.6543e-4;
    command("run");
    print_points();
}

/* What no other scene asks; circbyline takes a deck line by line. */
static void scene_commands(const char *path)
{
    char source[300];
    command("circbyline a divider");
    command("circbyline v1 a 0 dc 3");
    command("circbyline r1 a b 1k");
    command("circbyline r2 b 0 rm");
    command("circbyline .model rm r r=2k");
    command("circbyline .op");
    command("circbyline .end");
    command("esave none");
    command("run");
    vector("b");
    command("show r1");
    command("showmod r2");
    command("listing logical");
    command("stop when time > 1m");
    command("status");
    command("delete all");
    command("rusage time");
    command("devhelp resistor");
    command("set mine = 4");
    command("let x = $mine");
    vector("x");
    command("unset mine");
    command("altermod rm r = 1k");
    command("op");
    vector("b");
    snprintf(source, sizeof source, "source %s", path);
    command(source);
    command("op");
    vector("b");
    command("remcirc");
    command("op");
    vector("b");
    command("destroy");
    plots();
}

/* ngCM_Input_Path and ngSpice_Reset. main called ngSpice_nospinit and, where an argument says so,
 * ngSpice_nospiceinit before ngSpice_Init. */
static void scene_begin(const char *folder)
{
    circuit("with a file\nv1 a 0 3\nr1 a b 1k\n.include \"parts.inc\"\n.end\n");
    command("op");
    vector("b");
    printf("folder %s\n", strcmp(ng.ngCM_Input_Path(folder), folder) ? "another" : "ours");
    circuit("with a file\nv1 a 0 3\nr1 a b 1k\n.include \"parts.inc\"\n.end\n");
    command("set mine = 4");
    command("op");
    vector("b");
    command("let x = $mine");
    vector("x");
    printf("reset %d\n", ng.ngSpice_Reset());
    plots();
    vector("b");
    command("op");
    circuit("with a file\nv1 a 0 6\nr1 a b 1k\n.include \"parts.inc\"\n.end\n");
    command("op");
    vector("b");
}

/* The name of a file alone is `source`. */
static void scene_file(const char *path)
{
    verbose = true;
    command(path);
    command("op");
    vector("b");
    command("nothing.cir");
}

static void scene_wrong(void)
{
    verbose = true;
    circuit("broken\nr1 a 0 1k\nq1 a b 0 nomodel\n.end\n");
    command("run");
    command("nonsense 1");
    circuit("good\nv1 a 0 1\nr1 a 0 1k\n.op\n.end\n");
    command("print v(nowhere)");
    command("run");
}

static void scene_text(void)
{
    verbose = true;
    circuit(filter);
    command("echo hello");
    command("version -f");
    command("tran 10u 1m");
    command("print v1#branch[0]");
    command("display");
    command("listing");
}

/* What KiCad's simulator does for one run, with what its netlists save. */
static void scene_kicad(void)
{
    command("unset interactive");
    command("set noaskquit");
    command("set nomoremode");
    command("reset");
    circuit(".title KiCad schematic\n"
            ".save all\n"
            ".probe alli\n"
            ".probe p(R1)\n"
            "V1 Net-_R1-Pad1_ 0 DC 5 SIN(0 1 1k)\n"
            "R1 /out Net-_R1-Pad1_ 1k\n"
            "Q1 /out Net-_R1-Pad1_ 0 QN\n"
            "D1 0 /out DM\n"
            ".model QN NPN\n"
            ".model DM D\n"
            ".tran 10u 1.75m\n"
            ".end\n");
    thread_ended = false;
    command("bg_run");
    wait_for_thread();
    plots();
    vectors(ng.ngSpice_CurPlot());
    vector("time");
    vector("V(/out)");
    vector("I(R1)");
    vector("r1#branch");
    vector("q1:c#branch");
    vector("r1:power");
    command("bg_halt");
    command("destroy all");
    command("remcirc");
}

/* Calls of ngspyce, which wants points and no list of columns. */
static void scene_script(void)
{
    command("set nomoremode");
    command("destroy all");
    command("version -f");
    circuit("* made by a script\nva a 0 dc 1 ac 1\nr a b {rs}\nc b 0 1\n.param rs=2\n.end\n");
    command("op");
    plots();
    vectors("op1");
    vector("va#branch");
    vector("@r[resistance]");
    command("ac lin 1 1 1");
    vector("frequency");
    vector("va#branch");
    command("dc va 0 3 1 r 1 2 1");
    vectors("dc1");
    vector("va#branch");
    vector("I(va)");
    command("save b");
    command("tran 10m 100m");
    vectors("tran1");
    vector("tran1.time");
    vector("dc1.a");
    command("alterparam rs = 5");
    command("reset");
    command("op");
    vector("@r[resistance]");
    command("alter r resistance = 4");
    command("alter r temp = 3");
    command("op");
    vector("@r[resistance]");
    vector("@r[temp]");
    command("destroy all");
    command("set curplot = new");
    command("let a = 0");
    command("let b = 2");
    vectors(ng.ngSpice_CurPlot());
    command("let x = unitvec(4)");
    vector("x");
    circuit("* a model\nr n 0 rmodel\n.model rmodel r res = 3\n.end\n");
    command("showmod r");
    command("altermod r res = 4.000000e+00");
    command("op");
    vector("@r[resistance]");
    command("destroy op5");
    plots();
    printf("points told %ld\n", n_data);
}

/* Many runs in one process: resident pages once it has settled, and at the end. */
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

static void scene_many(long n)
{
    long before = 0;
    char text[300];
    for (long i = 0; i < n; i++) {
        if (i == n / 4)
            before = resident();
        snprintf(text, sizeof text,
                 "round\nv1 in 0 pulse(0 1 0 1u 1u 10u 20u)\nr1 in out %ld\nd1 out 0 dm\n"
                 ".model dm d is=1e-14 cjo=1p\n.tran 1u 20u\n.end\n",
                 1000 + i % 7);
        char *line[10];
        int k = 0;
        for (char *s = strtok(text, "\n"); s; s = strtok(NULL, "\n"))
            line[k++] = s;
        line[k] = NULL;
        int bad = ng.ngSpice_Circ(line);
        char run[] = "run", out[] = "out", destroy[] = "destroy all", remove[] = "remcirc";
        bad |= ng.ngSpice_Command(run);
        const ng_vector *v = ng.ngGet_Vec_Info(out);
        bad |= !v || v->length < 10;
        bad |= ng.ngSpice_Command(destroy);
        if (i % 2)
            bad |= ng.ngSpice_Command(remove);
        if (bad) {
            printf("round %ld failed\n", i);
            return;
        }
    }
    const long grown = resident() - before;
    printf("%ld runs, grown by %ld KiB\n", n, grown * (sysconf(_SC_PAGESIZE) / 1024));
}

static void *load(const char *path)
{
    void *lib = dlopen(path, RTLD_NOW);
    if (!lib) {
        printf("%s\n", dlerror());
        return NULL;
    }
#define X(name) ng.name = (__typeof__(name) *)dlsym(lib, #name);
    FUNCTIONS(X)
    NEWER(X)
#undef X
    return lib;
}

/* 0, or 2: there is no such scene. */
static int play(const char *name, const char *argument)
{
    const struct {
        const char *name;
        void (*play)(void);
    } plain[] = {{"plots", scene_plots},
                 {"changes", scene_changes},
                 {"background", scene_background},
                 {"halt", scene_halt},
                 {"source", scene_source},
                 {"kicad", scene_kicad},
                 {"wrong", scene_wrong},
                 {"text", scene_text},
                 {"redo", scene_redo},
                 {"alter", scene_alter},
                 {"events", scene_events},
                 {"script", scene_script},
                 {"breakpoint", scene_breakpoint}};
    const struct {
        const char *name;
        void (*play)(const char *path);
    } with_path[] = {{"file", scene_file}, {"commands", scene_commands}, {"begin", scene_begin}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(plain[i].name, name)) {
            plain[i].play();
            return 0;
        }
    for (size_t i = 0; argument && i < sizeof with_path / sizeof *with_path; i++)
        if (!strcmp(with_path[i].name, name)) {
            with_path[i].play(argument);
            return 0;
        }
    if (strcmp(name, "many"))
        return 2;
    scene_many(argument ? atol(argument) : 400);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!load(argv[1]))
        return 2;
    verbose = !strcmp(argv[argc - 1], "-v");
    quiet = !strcmp(argv[2], "many");
    const bool script = !strcmp(argv[2], "script"), begin = !strcmp(argv[2], "begin");
    if (begin && !strcmp(argv[argc - 1], "none"))
        printf("start files %d %d\n", ng.ngSpice_nospinit(), ng.ngSpice_nospiceinit());
    const int rc = ng.ngSpice_Init(on_char, on_stat, on_exit_, on_data, script ? NULL : on_init,
                                   script ? NULL : on_thread, NULL);
    printf("init %d\n", rc);
    return play(argv[2], argc > 3 ? argv[3] : NULL);
}
