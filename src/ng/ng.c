/* ng.c - libngspice.so.0: ngspice's interface for programs, on a session of libvsim. Begin,
 * commands, circuits, the thread of bg_ commands (docs/libngspice.md). */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ng_priv.h"

/* The interface has no handle. */
ng_state ng = {.gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER}};

/* -- what the session asks -- */

static const char *variable(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

static bool asked_to_stop(void *user)
{
    (void)user;
    return atomic_load(&ng.halt);
}

static int start_program(void *user, const char *command)
{
    (void)user;
    fflush(NULL);
    return system(command);
}

static int enter_folder(void *user, const char *path)
{
    (void)user;
    const char *home = getenv("HOME");
    return chdir(*path ? path : home ? home : "/");
}

static char *read_text(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, cap = 0;
    *len = 0;
    while (f && !feof(f) && !ferror(f)) {
        if (n + 4096 > cap) {
            char *more = realloc(text, cap = 2 * cap + 8192);
            if (!more)
                break;
            text = more;
        }
        n += fread(text + n, 1, cap - n - 1, f);
    }
    if (f)
        fclose(f);
    *len = n;
    return text;
}

/* Finds files that decks name also in the folder of ngCM_Input_Path. */
static const char *find_file(void *user, const char *name, size_t *len)
{
    (void)user;
    *len = 0;
    if (!ng.folder || name[0] == '/' || !access(name, R_OK))
        return NULL;
    const size_t n = strlen(ng.folder) + strlen(name) + 2;
    char *path = malloc(n);
    if (!path)
        return NULL;
    snprintf(path, n, "%s/%s", ng.folder, name);
    free(ng.file_text);
    ng.file_text = read_text(path, len);
    free(path);
    return ng.file_text;
}

char *ngCM_Input_Path(const char *path)
{
    ng_enter();
    if (path) {
        free(ng.folder);
        ng.folder = strdup(path);
    }
    ng_leave();
    return ng.folder;
}

/* -- begin -- */

static const char *given(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static void make_version(char *text, size_t size)
{
    snprintf(text, size,
             "******\n** ngspice-46 : vsim %s\n** Circuit level simulation program, devices in "
             "Verilog-A\n** XSPICE extensions included (analog code models)\n"
             "** ngspice shared library.\n******",
             vsim_version());
}

static bool open_session(void)
{
    vsim_settings set;
    vsim_session_options o;
    char version[400];
    char cache[4096];
    vsim_settings_init(&set);
    set.models = given("VSIM_MODELS");
    set.plugins = given("VSIM_LIBDIR");
    set.cpu = given("VSIM_CPU");
    if (vsim_cache_folder(given("XDG_CACHE_HOME"), given("HOME"), cache, sizeof cache))
        set.cache = cache;
    set.start_files = !ng.no_start_files;
    set.variable = variable;
    vsim_status st = vsim_new(&ng.s, &set);
    vsim_session_options_init(&o);
    make_version(version, sizeof version);
    o.version = version;
    o.ngspice = true;
    o.line = ng_take_line;
    o.message = ng_take_message;
    o.begin = ng_begin_plot;
    o.point = ng_take_point;
    o.end = ng_end_plot;
    o.progress = ng_take_progress;
    o.stop = asked_to_stop;
    o.source = ng_source_value;
    o.sync = ng_take_step;
    o.shell = start_program;
    o.folder = enter_folder;
    if (!st)
        st = vsim_session_new(ng.s, &o, &ng.session);
    if (!st)
        return true;
    size_t n = 0;
    const vsim_message *m = ng.s ? vsim_messages(ng.s, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        ng_take_message(NULL, &m[i]);
    vsim_free(&ng.s);
    return false;
}

static void close_session(void)
{
    ng.session = NULL;
    vsim_free(&ng.s);
    ng_forget_values();
}

int ngSpice_Init(ng_send_char *line, ng_send_stat *stat, ng_controlled_exit *ended,
                 ng_send_data *data, ng_send_init_data *init_data, ng_thread *thread, void *user)
{
    ng_enter();
    ng.line = line;
    ng.stat = stat;
    ng.ended = ended;
    ng.data = init_data ? data : NULL; /* as ngspice: points of columns that were told */
    ng.init_data = init_data;
    ng.on_thread = thread;
    ng.user = user;
    if (!ng.sync_user)
        ng.sync_user = user;
    const bool good = ng.session || open_session();
    ng_leave();
    return !good;
}

int ngSpice_nospiceinit(void)
{
    ng.no_start_files = true;
    return 0;
}

int ngSpice_nospinit(void) { return 0; } /* there is no spinit */

int ngSpice_Init_Evt(ng_send_event *event, ng_send_init_event *init, void *user)
{
    (void)event;
    (void)init;
    (void)user;
    return 1; /* ngspice's answer */
}

/* -- one command -- */

static const char *title_now(void)
{
    const vsim_deck *d = vsim_session_deck(ng.session);
    return d ? vsim_deck_title(d) : NULL;
}

/* Carries out `quit`: frees everything and tells the host, which may unload the library. */
static int leave(void)
{
    int code = 0;
    (void)vsim_session_quit(ng.session, &code);
    close_session();
    const int depth = ng_out();
    if (ng.ended)
        (void)ng.ended(code, false, true, ng.ident, ng.user);
    ng_back(depth);
    return 1;
}

static bool is_quit(void)
{
    int code;
    return vsim_session_quit(ng.session, &code);
}

/* Whether a command goes from one circuit to another, without reading one. */
static bool is_switch(const char *text)
{
    return !strncasecmp(text, "setcirc", 7) || !strncasecmp(text, "remcirc", 7);
}

static int run_command(const char *text)
{
    ng_enter();
    if (!ng.session && !open_session()) { /* quit closed it */
        ng_leave();
        return 1;
    }
    const vsim_deck *before = vsim_session_deck(ng.session);
    const vsim_status st = vsim_session_command(ng.session, text);
    (void)st; /* ngspice answers 0 for a failed command, too, and tells by lines on stderr */
    int rc = 0;
    if (is_quit())
        rc = leave();
    else if (before != vsim_session_deck(ng.session) && title_now() && !is_switch(text))
        ng_sayf("stdout", "Circuit: %s", title_now());
    ng_leave();
    return rc;
}

/* -- the thread -- */

static void tell_thread(bool not_running)
{
    if (ng.on_thread)
        (void)ng.on_thread(not_running, ng.ident, ng.user);
}

static void *run_thread(void *arg)
{
    (void)arg;
    tell_thread(false);
    (void)run_command(ng.bg_command);
    atomic_store(&ng.running, false);
    tell_thread(true);
    return NULL;
}

static void join(void)
{
    if (!ng.has_thread || pthread_equal(ng.thread, pthread_self()))
        return;
    pthread_join(ng.thread, NULL);
    ng.has_thread = false;
    atomic_store(&ng.halt, false);
}

/* Lets the run pause at its next point, which ends its thread. */
static int halt(void)
{
    if (!ng.has_thread || !atomic_load(&ng.running)) {
        join();
        ng_say("stderr", "Warning: spice is not running");
        return 0;
    }
    atomic_store(&ng.halt, true);
    join();
    return 0;
}

static int start_thread(const char *command)
{
    join();
    free(ng.bg_command);
    ng.bg_command = strdup(command);
    atomic_store(&ng.halt, false);
    atomic_store(&ng.running, true);
    ng.has_thread = ng.bg_command && !pthread_create(&ng.thread, NULL, run_thread, NULL);
    if (!ng.has_thread) {
        atomic_store(&ng.running, false);
        ng_say("stderr", "Error: the thread could not be started");
        return 1;
    }
    return 0;
}

bool ngSpice_running(void) { return atomic_load(&ng.running); }

static bool is_free(const char *what)
{
    if (!atomic_load(&ng.running))
        return true;
    ng_sayf("stderr", "Warning: cannot execute \"%s\", type \"bg_halt\" first", what);
    return false;
}

/* -- commands and circuits -- */

int ngSpice_Command(char *command)
{
    if (!command) /* ngspice frees memory of earlier commands here; vsim keeps none */
        return 0;
    const char *text = command + strspn(command, " \t");
    if (!strncasecmp(text, "bg_", 3)) {
        if (!strcasecmp(text, "bg_halt") || !strcasecmp(text, "bg_pstop"))
            return halt();
        return is_free(text) ? start_thread(text + 3) : 0;
    }
    if (!is_free(text))
        return 1;
    join();
    return run_command(text);
}

static char *joined(char **line, size_t *n)
{
    size_t size = 1, at = 0;
    for (size_t i = 0; line[i]; i++)
        size += strlen(line[i]) + 1;
    char *text = malloc(size);
    for (size_t i = 0; line[i] && text; i++) {
        const size_t len = strlen(line[i]);
        memcpy(text + at, line[i], len);
        at += len;
        if (!len || line[i][len - 1] != '\n')
            text[at++] = '\n';
    }
    if (text)
        text[at] = 0;
    *n = at;
    return text;
}

int ngSpice_Circ(char **line)
{
    size_t n;
    if (!line || !is_free("circuit"))
        return 1;
    join();
    ng_enter();
    char *text = ng.session || open_session() ? joined(line, &n) : NULL;
    if (!text) {
        ng_leave();
        return 1;
    }
    vsim_read how;
    vsim_read_init(&how);
    how.file = find_file;
    const vsim_deck *before = vsim_session_deck(ng.session);
    ng_status("Source Deck");
    const vsim_status st = vsim_session_text(ng.session, "circuit", text, n, &how);
    (void)st;
    free(text);
    int rc = 0;
    if (is_quit())
        rc = leave();
    else if (before != vsim_session_deck(ng.session) && title_now())
        ng_sayf("stdout", "Circuit: %s", title_now());
    else
        ng_say("stderr", "Error: circuit not parsed.");
    ng_leave();
    return rc;
}

int ngSpice_Reset(void)
{
    if (!is_free("reset"))
        return 1;
    join();
    ng_enter();
    close_session();
    const bool good = open_session();
    ng_leave();
    return !good;
}

/* Locks vectors: a run in the background waits at its next point until they are unlocked. */
int ngSpice_LockRealloc(void)
{
    ng_enter();
    return 1;
}

int ngSpice_UnlockRealloc(void)
{
    ng_leave();
    return 1;
}
