/* trace.c - stands between a program and libngspice: passes each call on to the library that
 * NG_TRACE_REAL names, and writes it to the file NG_TRACE_LOG. For clients/eeschema.py. It asks for
 * nothing by itself: vectors in the log are those of the client. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*print_fn)(char *, int, void *);
typedef int (*thread_fn)(bool, int, void *);
typedef struct vector {
    char *name;
    int type;
    short flags;
    double *re;
    void *complex;
    int n;
} vector;

static void *lib; /* opened by the first call, ngSpice_Init */
static FILE *out;
static print_fn print_to;
static thread_fn tell_to;

static void say(const char *fmt, ...)
{
    va_list a;
    va_start(a, fmt);
    vfprintf(out, fmt, a);
    va_end(a);
    fflush(out);
}

static void *real(const char *name)
{
    void *f = lib ? dlsym(lib, name) : NULL;
    if (!f)
        abort(); /* the test sees that its log ends */
    return f;
}

static int on_print(char *line, int id, void *user)
{
    say("print %s\n", line);
    return print_to(line, id, user);
}

static int on_thread(bool ended, int id, void *user)
{
    say("thread %d\n", ended);
    return tell_to(ended, id, user);
}

int ngSpice_Init(print_fn print, void *status, void *end, void *data, void *init, thread_fn thread,
                 void *user)
{
    const char *path = getenv("NG_TRACE_REAL"), *log = getenv("NG_TRACE_LOG");
    lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    out = log ? fopen(log, "w") : NULL;
    if (!lib || !out)
        abort();
    print_to = print;
    tell_to = thread;
    say("init\n");
    int (*f)(print_fn, void *, void *, void *, void *, thread_fn, void *) = real("ngSpice_Init");
    return f(print ? on_print : NULL, status, end, data, init, thread ? on_thread : NULL, user);
}

int ngSpice_Command(char *line)
{
    int (*f)(char *) = real("ngSpice_Command");
    say("command %s\n", line ? line : "");
    return f(line);
}

int ngSpice_Circ(char **line)
{
    int (*f)(char **) = real("ngSpice_Circ");
    for (char **s = line; *s; s++)
        say("circ %s\n", *s);
    return f(line);
}

vector *ngGet_Vec_Info(char *name)
{
    vector *(*f)(char *) = real("ngGet_Vec_Info");
    vector *v = f(name);
    if (v && v->re && v->n)
        say("vector %s %d %.17g\n", name, v->n, v->re[v->n - 1]);
    else
        say("vector %s 0 0\n", name);
    return v;
}

char *ngSpice_CurPlot(void)
{
    char *(*f)(void) = real("ngSpice_CurPlot");
    return f();
}

char **ngSpice_AllPlots(void)
{
    char **(*f)(void) = real("ngSpice_AllPlots");
    return f();
}

char **ngSpice_AllVecs(char *plot)
{
    char **(*f)(char *) = real("ngSpice_AllVecs");
    return f(plot);
}

bool ngSpice_running(void)
{
    bool (*f)(void) = real("ngSpice_running");
    return f();
}
