/* cli_talk.c - commands one at a time: typed (-i) or from a pipe (-p), on a session of the library
 * (vsim/session.h). libedit, where meson found it, edits lines, remembers and completes them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#ifdef VSIM_LIBEDIT
#include <editline/readline.h>
#endif

#include "cli.h"
#include "vsim/session.h"

typedef struct talk {
    const cli_opt *o;
    cli_out out;
    vsim_session *session;
    bool typed; /* by a person at a terminal */
    int n;      /* of the line, in the prompt */
} talk;

static volatile sig_atomic_t interrupted;
static int wake[2] = {-1, -1}; /* a pipe: a byte for each Ctrl-C */

static void on_interrupt(int sig)
{
    const int before = errno;
    (void)sig;
    interrupted = 1;
    (void)!write(wake[1], "", 1);
    errno = before;
}

static bool asked_to_stop(void *user)
{
    (void)user;
    return interrupted != 0;
}

/* -- what the session says -- */

static void print_line(void *user, vsim_output to, const char *text)
{
    const talk *t = user;
    fprintf(to == VSIM_TO_OUT ? t->out.streams.log : stderr, "%s\n", text);
}

/* Prints a message as ngspice does: first the word, then the place, as clients look for it. */
static void tell_as_ngspice(const vsim_message *m, FILE *fp)
{
    static const char *const level[] = {"Error", "Warning", "Note"};
    fprintf(fp, "%s: ", level[m->severity]);
    if (m->file)
        fprintf(fp, "%s:%d:%d: ", m->file, m->line, m->column);
    fprintf(fp, "%s\n", m->text);
    vsim_message place = *m; /* alone: a short line, then the line of the deck and the caret */
    place.file = place.text = "";
    place.n_note = 0;
    char text[4000];
    const char *rest = vsim_message_format(&place, text, sizeof text) ? strchr(text, '\n') : NULL;
    fputs(rest ? rest + 1 : "", fp);
    for (size_t i = 0; i < m->n_note; i++)
        tell_as_ngspice(&m->note[i], fp);
}

static void tell(const talk *t, const vsim_message *m, FILE *fp)
{
    if (t->o->ngspice) {
        tell_as_ngspice(m, fp);
        return;
    }
    const size_t n = vsim_message_format(m, NULL, 0) + 1;
    char *text = malloc(n);
    if (!text)
        return;
    (void)vsim_message_format(m, text, n);
    fprintf(fp, "%s\n", text);
    free(text);
}

static void take_message(void *user, const vsim_message *m)
{
    talk *t = user;
    fflush(t->out.streams.log);
    if (t->o->quiet && m->severity != VSIM_ERROR)
        return;
    tell(t, m, stderr);
    if (t->o->log)
        tell(t, m, t->out.streams.log);
}

/* Prints ngspice's line behind each analysis. */
static void count_points(void *user, const vsim_plot *p, bool paused)
{
    const talk *t = user;
    vsim_vector v;
    if (p && !paused && vsim_plot_vector(p, 0, &v))
        fprintf(t->out.streams.log, "\nNo. of Data Rows : %zu\n", v.n);
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
    return chdir(path);
}

/* -- lines -- */

static void prompt_of(const talk *t, char *buf, size_t size)
{
    if (vsim_session_open_blocks(t->session))
        snprintf(buf, size, "> ");
    else
        snprintf(buf, size, "%s %d -> ", t->o->ngspice ? "ngspice" : "vsim", t->n);
}

/* Waits for a key. false: Ctrl-C came first, also between the last look and this one, and whichever
 * thread took the signal. */
static bool await_key(void)
{
    struct pollfd from[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = wake[0], .events = POLLIN}};
    char old[64]; /* those of Ctrl-C while a command ran */
    while (!interrupted) {
        if (poll(from, 2, -1) < 0 && errno != EINTR)
            return true; /* reading says why */
        while (from[1].revents && read(wake[0], old, sizeof old) > 0)
            ;
        if (!interrupted && from[0].revents)
            return true;
    }
    return false;
}

#ifdef VSIM_LIBEDIT
/* For libedit: the next character typed; -1: none. */
static int next_key(FILE *in)
{
    mbstate_t part = {0};
    wchar_t key;
    char byte;
    (void)in;
    while (await_key()) {
        const ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        switch (mbrtowc(&key, &byte, 1, &part)) {
        case (size_t)-1: part = (mbstate_t){0}; break; /* no character of this locale */
        case (size_t)-2: break;
        case 0: return 0;
        default: return (int)key;
        }
    }
    return -1;
}

/* State for libedit's callbacks, which take no argument of the caller; set while a line is read. */
static const vsim_session *completing;

/* What libedit takes for a word of a vector's name: `out` of v(out), `m1[gm]` of @m1[gm]. */
static const char *word_of(const char *name, size_t *size)
{
    const char *open = strchr(name, '('), *word = open ? open + 1 : name + (name[0] == '@');
    *size = strlen(word);
    if (open && *size && word[*size - 1] == ')')
        --*size;
    return word;
}

static char *next_word(const char *begin, int state)
{
    static const char *const command[] = {
        "ac",   "alter",  "altermod", "dc",        "define",  "destroy", "display", "echo",
        "eye",  "fft",    "let",      "linearize", "listing", "load",    "meas",    "noise",
        "op",   "option", "plot",     "print",     "quit",    "remcirc", "reset",   "resume",
        "run",  "save",   "set",      "setcirc",   "setplot", "show",    "showmod", "source",
        "step", "stop",   "tran",     "unset",     "wrdata",  "write"};
    static size_t at; /* the protocol of libedit: state 0 begins anew */
    const size_t n = sizeof command / sizeof command[0], len = strlen(begin);
    const vsim_plot *p = vsim_session_current(completing);
    vsim_vector v;
    at = state ? at : 0;
    for (; at < n; at++)
        if (!strncmp(command[at], begin, len))
            return strdup(command[at++]);
    while (p && at - n < vsim_plot_vector_count(p)) {
        size_t size;
        const char *word =
            vsim_plot_vector(p, at++ - n, &v) ? word_of(v.name, &size) : word_of("", &size);
        if (size >= len && !strncmp(word, begin, len))
            return strndup(word, size);
    }
    return NULL;
}

static char **complete(const char *text, int from, int to)
{
    (void)to;
    rl_completion_append_character = from && rl_line_buffer[from - 1] == '(' ? 0 : ' ';
    return rl_completion_matches(text, next_word);
}
#endif

/* The next line, to be freed; NULL: there is none. */
static char *read_line(talk *t)
{
    char prompt[40];
    prompt_of(t, prompt, sizeof prompt);
#ifdef VSIM_LIBEDIT
    if (t->typed) {
        completing = t->session;
        rl_attempted_completion_function = complete;
        rl_getc_function = next_key;
        char *line = readline(prompt);
        if (line && *line)
            add_history(line);
        return line;
    }
#endif
    if (t->typed) {
        fputs(prompt, stdout);
        fflush(stdout);
        if (!await_key())
            return NULL;
    }
    char *line = NULL;
    size_t size = 0;
    const ssize_t n = getline(&line, &size, stdin);
    if (n < 0) {
        free(line);
        return NULL;
    }
    if (n && line[n - 1] == '\n')
        line[n - 1] = 0;
    return line;
}

static vsim_status command(talk *t, const char *line)
{
    const vsim_status st = vsim_session_command(t->session, line);
    fflush(t->out.streams.log);
    return st;
}

/* Runs a line. After `run` with -r, writes the results to that file. */
static vsim_status obey(talk *t, const char *line)
{
    const char *word = line + strspn(line, " \t");
    const bool run = !strncmp(word, "run", 3) && !word[3 + strspn(word + 3, " \t\r")];
    const vsim_status st = command(t, line);
    if (st != VSIM_OK || !run || !t->o->raw)
        return st;
    char write[4200];
    snprintf(write, sizeof write, "write %s", t->o->raw);
    return command(t, write);
}

/* -- begin, end -- */

static void set_variables(talk *t)
{
    char line[4200];
    for (size_t i = 0; i < t->o->n_variable; i++) {
        const char *text = t->o->variable[i], *eq = strchr(text, '=');
        snprintf(line, sizeof line, eq ? "set %.*s = \"%s\"" : "set %.*s",
                 eq ? (int)(eq - text) : (int)strlen(text), text, eq ? eq + 1 : "");
        (void)command(t, line);
    }
    if (t->o->raw) {
        snprintf(line, sizeof line, "set rawfile = \"%s\"", t->o->raw);
        (void)command(t, line);
    }
}

/* Prints the name of the circuit, as ngspice does first. */
static void name_circuit(const talk *t, const char *path)
{
    char title[400];
    FILE *fp = t->o->ngspice ? fopen(path, "r") : NULL;
    if (fp && fgets(title, sizeof title, fp)) {
        title[strcspn(title, "\r\n")] = 0;
        fprintf(t->out.streams.log, "\nCircuit: %s\n\n", title);
    }
    if (fp)
        fclose(fp);
}

static vsim_status load_deck(talk *t)
{
    if (!t->o->n_arg)
        return VSIM_OK;
    name_circuit(t, t->o->arg[0]);
    vsim_status st = vsim_session_file(t->session, t->o->arg[0], NULL);
    int code;
    if (st == VSIM_OK && t->o->autorun && !vsim_session_quit(t->session, &code))
        st = obey(t, "run");
    return st;
}

static void begin_listening(void)
{
    struct sigaction sa = {.sa_handler = on_interrupt, .sa_flags = 0};
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        wake[0] = wake[1] = -1; /* a poll passes over it */
    sigaction(SIGINT, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int converse(talk *t)
{
    int code = 0;
    const vsim_status loaded = load_deck(t);
    while (!vsim_session_quit(t->session, &code)) {
        t->n++;
        char *line = read_line(t);
        if (!line && interrupted && t->typed) { /* Ctrl-C at the prompt */
            interrupted = 0;
            vsim_session_forget(t->session);
            clearerr(stdin);
            continue;
        }
        if (!line)
            break;
        (void)obey(t, line);
        interrupted = 0;
        free(line);
    }
    if (t->typed)
        fputs("\n", stdout);
    if (t->o->ngspice)
        fprintf(t->out.streams.log, VSIM_INSIDE_NGSPICE " done\n");
    const bool quit = vsim_session_quit(t->session, &code);
    return quit || loaded == VSIM_OK || loaded == VSIM_STOP ? code : cli_exit_code(loaded);
}

int cli_talk(const cli_opt *o)
{
    talk t = {.o = o, .typed = isatty(STDIN_FILENO) && !o->pipe};
    const vsim_settings set = cli_settings(o);
    vsim *s = NULL;
    vsim_session_options so;
    if (!cli_out_open(&t.out, o))
        return CLI_IO;
    begin_listening();
    if (t.typed) {
        (void)setlocale(LC_CTYPE, "");   /* of typed letters; numbers keep their point */
        setvbuf(stdin, NULL, _IONBF, 0); /* what await_key waits for stands in no buffer */
    }
    vsim_session_options_init(&so);
    so.line = print_line;
    so.message = take_message;
    so.stop = asked_to_stop;
    so.end = o->ngspice ? count_points : NULL;
    so.shell = o->allow_shell ? start_program : NULL;
    so.folder = enter_folder;
    so.ngspice = o->ngspice;
    so.user = &t;
    vsim_status st = vsim_new(&s, &set);
    if (st == VSIM_OK)
        st = vsim_session_new(s, &so, &t.session);
    int code = cli_exit_code(st);
    if (st == VSIM_OK) {
        set_variables(&t);
        code = converse(&t);
    } else {
        fprintf(stderr, "vsim: %s\n", vsim_status_text(st));
    }
    vsim_free(&s);
    return cli_out_close(&t.out) || code ? code : CLI_IO;
}
