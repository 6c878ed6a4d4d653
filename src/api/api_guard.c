/* api_guard.c - the way into the library and out of it. The host's thread has a locale and a
 * floating-point environment of its own: a call puts ours in their place, a callback and the end of
 * the call the host's. Both belong to the thread, so that nobody else sees it. Memory comes from
 * the simulator's heap; where it is missing, the call ends here, and the simulator with it. */
#define _GNU_SOURCE
#include "api_priv.h"

static void to_ours(vsim *s)
{
    fegetenv(&s->host_env);
    fesetenv(FE_DFL_ENV);
    s->host_locale = uselocale(s->numbers);
}

static void to_host(const vsim *s)
{
    uselocale(s->host_locale);
    fesetenv(&s->host_env);
}

void api_leave_to_host(vsim *s) { to_host(s); }
void api_back_from_host(vsim *s)
{
    to_ours(s);
    if (s->dead) /* a call from within the callback found no memory */
        vs_no_memory();
}

/* Statuses of steps and pivots do not leave the analyses. */
static vsim_status public_status(vs_status st)
{
    return st == VS_REJECT || st == VS_REPIVOT ? VSIM_NOCONV : (vsim_status)st;
}

typedef struct call {
    vsim *s;
    vs_status (*body)(void *arg);
    void *arg;
} call;

static vs_status whole_call(void *arg)
{
    const call *c = arg;
    vsim *s = c->s;
    api_forget_messages(s);
    const arena_pos mark = arena_mark(&s->d.mem);
    const vs_status st = c->body(c->arg);
    api_take_messages(s);
    if (s->own_file && s->own_file == vec_len(s->d.file))
        diag_forget_files(&s->d, s->own_file - 1);
    s->own_file = 0;
    arena_release(&s->d.mem, mark);
    return st;
}

/* A call from within a callback is a part of the call that is under way. Its guard is its own: the
 * host's frames stand between the two. */
vsim_status api_enter(vsim *s, vs_status (*body)(void *arg), void *arg)
{
    if (s->dead)
        return VSIM_ENOMEM;
    call c = {s, body, arg};
    const fenv_t env = s->host_env;
    const locale_t locale = s->host_locale;
    const char *(*const files)(void *, const char *, size_t *) = s->d.client_file;
    void *const files_user = s->d.client_user;
    const int depth = s->depth++;
    to_ours(s);
    const vs_status st = depth ? guard_run(s->heap, body, arg) : guard_run(s->heap, whole_call, &c);
    to_host(s);
    s->depth = depth;
    s->host_env = env;
    s->host_locale = locale;
    s->d.client_file = depth ? files : NULL;
    s->d.client_user = files_user;
    s->dead |= st == VS_ENOMEM;
    if (s->dead && !depth && s->set.message)
        s->set.message(s->set.user, &s->no_memory);
    return public_status(s->dead ? VS_ENOMEM : st);
}

void api_release(vsim *s, vs_status (*body)(void *arg), void *arg)
{
    if (!s->dead && guard_run(s->heap, body, arg) == VS_ENOMEM)
        s->dead = true;
}

bool api_may_change(vsim *s, const char *what)
{
    if (s->depth == 1)
        return true;
    diag_error(&s->d, DIAG_NOWHERE, "%s may not be called from a callback", what);
    return false;
}
