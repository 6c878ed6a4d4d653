/* run_guard.c - each call of a client works in a heap of its own (heap.h). Where memory is missing
 * the call ends with a message; what was written to results until then is in their files. It ends
 * in the same way when the client stops a call that has no results yet. */
#include "files.h"
#include "heap.h"
#include "run_priv.h"

typedef struct task {
    const run_guard *g;
    void *arg;
} task;

static vs_status do_body(void *user)
{
    const task *t = user;
    const char *path = t->g->streams ? t->g->streams->log_path : NULL;
    if (path)
        (void)files_claim(path, FILES_REPORT);
    const vs_status st = t->g->body(t->arg);
    files_forget();
    return st;
}

static vs_status do_last(void *user)
{
    const task *t = user;
    t->g->last(t->arg);
    return VS_OK;
}

static void say(const vsim_inside_streams *s, const char *text)
{
    if (s->say)
        fputs(text, s->say);
    if (s->say_in_log)
        fputs(text, s->log);
}

vs_status run_guarded(const run_guard *g, void *arg)
{
    task t = {g, arg};
    heap *h = heap_new(g->memory);
    if (h)
        heap_fail_at(h, g->fail_at, true);
    vs_status st = h ? guard_run(h, do_body, &t) : VS_ENOMEM;
    if (h && heap_left(h)) {
        if (g->last && guard_run(h, do_last, &t))
            st = VS_ENOMEM;
        if (g->streams)
            say(g->streams, "vsim: stopped before anything was computed\n");
    } else if (st == VS_ENOMEM) {
        if (h)
            heap_relax(h);
        if (h && g->last && guard_run(h, do_last, &t))
            st = VS_ENOMEM; /* even `last` found none: its messages are lost */
        if (g->streams)
            say(g->streams, "vsim: error: out of memory; what was computed before is kept\n");
    }
#ifdef __SANITIZE_ADDRESS__
    assert(st == VS_ENOMEM || heap_left(h) ||
           !heap_bytes(h)); /* body has freed all: heap_free would hide a leak */
#endif
    heap_free(&h);
    return st;
}
