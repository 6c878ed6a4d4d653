/* api_guard.c - the way into the library and out of it. The host's thread has a locale and a
 * floating-point environment of its own: a call puts ours in their place, a callback and the end of
 * the call the host's. Both belong to the thread, so that nobody else sees it. */
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
void api_back_from_host(vsim *s) { to_ours(s); }

/* Statuses of steps and pivots do not leave the analyses. */
static vsim_status public_status(vs_status st)
{
    return st == VS_REJECT || st == VS_REPIVOT ? VSIM_NOCONV : (vsim_status)st;
}

/* A call from within a callback is a part of the call that is under way. */
static vsim_status enter_inside(vsim *s, vs_status (*body)(void *arg), void *arg)
{
    s->depth++;
    to_ours(s);
    const vs_status st = body(arg);
    to_host(s);
    s->depth--;
    return public_status(st);
}

vsim_status api_enter(vsim *s, vs_status (*body)(void *arg), void *arg)
{
    if (s->depth) {
        const fenv_t env = s->host_env;
        const locale_t locale = s->host_locale;
        const vsim_status st = enter_inside(s, body, arg);
        s->host_env = env;
        s->host_locale = locale;
        return st;
    }
    s->depth = 1;
    to_ours(s);
    api_forget_messages(s);
    const size_t n_file = vec_len(s->d.file);
    const arena_pos mark = arena_mark(&s->d.mem);
    const vs_status st = body(arg);
    api_take_messages(s);
    if (s->own_file && s->own_file == vec_len(s->d.file))
        diag_forget_files(&s->d, s->own_file - 1);
    s->own_file = 0;
    if (vec_len(s->d.file) == n_file) /* names of files stand there too */
        arena_release(&s->d.mem, mark);
    to_host(s);
    s->depth = 0;
    return public_status(st);
}

bool api_may_change(vsim *s, const char *what)
{
    if (s->depth == 1)
        return true;
    diag_error(&s->d, DIAG_NOWHERE, "%s may not be called from a callback", what);
    return false;
}
