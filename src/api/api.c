/* api.c - simulators: settings, the models that decks share (base.h). */
#define _GNU_SOURCE
#include <string.h>

#include "api_build.h"
#include "api_models.h"
#include "api_priv.h"

const char *vsim_version(void) { return API_VERSION; }

const char *vsim_status_text(vsim_status st) { return vs_status_text((vs_status)st); }

void vsim_settings_init_size(vsim_settings *s, size_t size)
{
    memset(s, 0, size);
    s->size = size;
}

/* -- settings -- */

bool vsim_cache_folder(const char *xdg_cache_home, const char *home, char *path, size_t size)
{
    const bool own = xdg_cache_home && xdg_cache_home[0] == '/';
    if (size)
        path[0] = 0;
    if (!own && !(home && home[0] == '/'))
        return false;
    const char *base = own ? xdg_cache_home : home, *behind = own ? "/vsim" : "/.cache/vsim";
    const size_t n = strlen(base), m = strlen(behind) + 1;
    if (n >= size || m > size - n)
        return false;
    memcpy(path, base, n);
    memcpy(path + n, behind, m);
    return true;
}

static const char *copy(vsim *s, const char *text)
{
    return text ? arena_strndup(&s->mem, text, strlen(text)) : NULL;
}

static const char *const *copy_list(vsim *s, const char *const *from, size_t n)
{
    const char **to = arena_array(&s->mem, const char *, n);
    for (size_t i = 0; i < n; i++)
        to[i] = copy(s, from[i]);
    return to;
}

/* A program that was built with an older header knows fewer of them. */
static void copy_settings(vsim *s, const vsim_settings *from)
{
    vsim_settings_init(&s->set);
    if (!from)
        return;
    const size_t size = from->size < sizeof s->set ? from->size : sizeof s->set;
    memcpy(&s->set, from, size);
    s->set.size = sizeof s->set;
    s->set.models = copy(s, s->set.models);
    s->set.plugins = copy(s, s->set.plugins);
    s->set.cache = copy(s, s->set.cache);
    s->set.cpu = copy(s, s->set.cpu);
    s->set.include = copy_list(s, s->set.include, s->set.n_include);
    s->set.macro = copy_list(s, s->set.macro, s->set.n_macro);
}

static vs_status check_settings(vsim *s)
{
    const int lanes = s->set.lanes;
    if (lanes < 0 || lanes > 8 || (lanes & (lanes - 1))) {
        diag_error(&s->d, DIAG_NOWHERE, "vsim_settings.lanes is %d; 0, 1, 2, 4 and 8 are possible",
                   lanes);
        return VS_EINPUT;
    }
    if (s->set.threads < 0 || !(s->set.parallel_min >= 0)) {
        diag_error(&s->d, DIAG_NOWHERE, "vsim_settings.%s is negative",
                   s->set.threads < 0 ? "threads" : "parallel_min");
        return VS_EINPUT;
    }
    return VS_OK;
}

static vs_status open_models(vsim *s)
{
    const mdl_opt o = api_model_options(&s->set);
    return mdl_lib_new(&s->lib, &s->d, &s->names, &o);
}

static const char *ask_variable(void *user, const char *name)
{
    vsim *s = user;
    api_leave_to_host(s);
    const char *text = s->set.variable(s->set.user, name);
    api_back_from_host(s);
    return text;
}

/* -- begin, end -- */

typedef struct beginning {
    vsim *s;
    const vsim_settings *settings;
} beginning;

static vs_status begin(void *arg)
{
    const beginning *b = arg;
    vsim *s = b->s;
    if (b->settings && b->settings->size < offsetof(vsim_settings, models)) {
        diag_error(&s->d, DIAG_NOWHERE,
                   "vsim_settings.size is not set: vsim_settings_init does it");
        return VS_EINPUT;
    }
    copy_settings(s, b->settings);
    s->d.variable = s->set.variable ? ask_variable : NULL;
    s->d.variable_user = s;
    const vs_status st = check_settings(s);
    return st ? st : open_models(s);
}

/* Bytes that the simulator may use: a program built with an older header sets no limit. */
static size_t limit_of(const vsim_settings *settings)
{
    const size_t end = offsetof(vsim_settings, memory) + sizeof settings->memory;
    return settings && settings->size >= end ? settings->memory : 0;
}

/* In the memory of the process: it is there until the host frees it. */
static vsim *new_simulator(const vsim_settings *settings)
{
    static const char text[] = "out of memory; the simulator can only be freed";
    heap *before = heap_use(NULL);
    vsim *s = vs_try_realloc(NULL, sizeof *s);
    if (s) {
        *s = (vsim){.heap = heap_new(limit_of(settings)),
                    .numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0),
                    .no_memory = {.severity = VSIM_ERROR,
                                  .code = (uint32_t)str_hash(text, strlen(text)),
                                  .text = text}};
        s->dead = !s->heap || !s->numbers;
    }
    heap_use(before);
    return s;
}

vsim_status vsim_new(vsim **out, const vsim_settings *settings)
{
    vsim *s = *out = new_simulator(settings);
    if (!s)
        return VSIM_ENOMEM;
    arena_init(&s->mem);
    arena_init(&s->message_mem);
    diag_init(&s->d);
    str_pool_init(&s->names);
    beginning b = {s, settings};
    const vsim_status st = api_enter(s, begin, &b);
    if (st == VSIM_ENOMEM)
        vsim_free(out);
    return st;
}

static vs_status free_objects(void *arg)
{
    vsim *s = arg;
    while (s->session)
        api_drop_session(s->session);
    while (s->deck)
        api_free_deck(s->deck);
    mdl_lib_free(&s->lib);
    vec_free(s->message);
    arena_fini(&s->message_mem);
    str_pool_fini(&s->names);
    diag_fini(&s->d);
    arena_fini(&s->mem);
    files_forget();
#ifdef __SANITIZE_ADDRESS__
    assert(!heap_bytes(s->heap)); /* else nobody would hear of a leak */
#endif
    return VS_OK;
}

/* What is not freed one by one goes with the heap. */
void vsim_free(vsim **ps)
{
    vsim *s = *ps;
    *ps = NULL;
    if (!s)
        return;
    api_release(s, free_objects, s);
    heap_free(&s->heap);
    if (s->numbers)
        freelocale(s->numbers);
    vs_free(s);
}
