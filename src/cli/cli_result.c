/* cli_result.c - commands on result files: plot, convert, compare. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* "2.5u", "1meg"; NULL: there is no number. */
static const char *number(const char *text, double *x)
{
    static const struct {
        const char *suffix;
        double factor;
    } unit[] = {{"meg", 1e6}, {"T", 1e12}, {"G", 1e9},  {"M", 1e6},   {"k", 1e3},
                {"m", 1e-3},  {"u", 1e-6}, {"n", 1e-9}, {"p", 1e-12}, {"f", 1e-15}};
    char *end;
    *x = strtod(text, &end);
    if (end == text)
        return NULL;
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (!strncmp(end, unit[i].suffix, strlen(unit[i].suffix))) {
            *x *= unit[i].factor;
            return end + strlen(unit[i].suffix);
        }
    return end;
}

bool cli_numbers(const char *text, double *a, double *b)
{
    const char *end = number(text, a);
    end = end && *end == ',' ? number(end + 1, b) : NULL;
    return end && !*end;
}

/* Gives the picture the size of the terminal. */
static void fit_terminal(vsim_inside_picture *p)
{
    struct winsize w;
    if (p->output || p->width || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || w.ws_col < 20 ||
        w.ws_row < 8)
        return;
    p->width = w.ws_col;
    p->height = w.ws_row - 1;
}

enum { LETTER_WIDTH = 8, LETTER_HEIGHT = 16 }; /* pixels (vsim_inside_picture) */

static bool says(const char *variable, const char *part)
{
    const char *text = cli_variable(NULL, variable);
    return text && strstr(text, part);
}

/* The graphics that the terminal shows, as the environment says; NULL: unknown. The terminal is not
 * asked: its answer would arrive as typed input. */
static const char *pixels_of_terminal(void)
{
    static const char *const kitty[] = {"kitty", "ghostty", "WezTerm"}, *const sixel[] = {
                                                                            "sixel", "foot",
                                                                            "mlterm", "contour",
                                                                            "yaft"};
    if (!isatty(STDOUT_FILENO) || says("TERM", "screen") || says("TERM", "tmux"))
        return NULL; /* tmux and screen pass no graphics on */
    bool yes = cli_variable(NULL, "KITTY_WINDOW_ID") != NULL;
    for (size_t i = 0; i < sizeof kitty / sizeof *kitty; i++)
        yes |= says("TERM", kitty[i]) || says("TERM_PROGRAM", kitty[i]);
    if (yes)
        return "kitty";
    for (size_t i = 0; i < sizeof sixel / sizeof *sixel; i++)
        if (says("TERM", sixel[i]) || says("TERM_PROGRAM", sixel[i]))
            return "sixel";
    return NULL;
}

/* Turns the size in letters into pixels; for sixels into the terminal's own, if it tells them. */
static void choose_pixels(vsim_inside_picture *p, const char *graphics, bool own_size)
{
    struct winsize w;
    const bool any = !graphics || !strcmp(graphics, "auto");
    if (p->output || (graphics && !strcmp(graphics, "braille")))
        return;
    p->pixels = any ? pixels_of_terminal() : graphics;
    p->or_letters = any;
    if (!p->pixels)
        return;
    p->width = (p->width ? p->width : 80) * LETTER_WIDTH;
    p->height = (p->height ? p->height : 24) * LETTER_HEIGHT;
    if (!strcmp(p->pixels, "sixel") && !own_size && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) &&
        w.ws_xpixel >= 80 && w.ws_ypixel >= 80 && w.ws_row > 1) {
        p->width = w.ws_xpixel;
        p->height = w.ws_ypixel / w.ws_row * (w.ws_row - 1);
    }
}

bool cli_list(const char *text, double **x, size_t *n)
{
    *x = calloc(strlen(text) / 2 + 1, sizeof **x);
    *n = 0;
    for (const char *at = text; *x; at++) {
        at = number(at, &(*x)[(*n)++]);
        if (!at || (*at && *at != ','))
            return false;
        if (!*at)
            return true;
    }
    return false;
}

static int end(cli_out *out, vsim_status st)
{
    const bool told = cli_out_close(out);
    const int code = st == VSIM_EUNSUPPORTED ? CLI_IO : cli_exit_code(st);
    return code == CLI_OK && !told ? CLI_IO : code;
}

/* HDF5 and MATLAB 7.3 are known by their first bytes, whatever the file is called. */
static bool is_hdf5(const char *path)
{
    struct stat st;
    char head[10] = "";
    FILE *fp = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    const size_t n = fp ? fread(head, 1, sizeof head, fp) : 0;
    if (fp)
        fclose(fp);
    return n == sizeof head &&
           (!memcmp(head, "\x89HDF\r\n\x1a\n", 8) || !memcmp(head, "MATLAB 7.3", 10));
}

/* A damaged file can crash libhdf5, so it is read in a process of its own. */
int cli_guarded(const cli_opt *o, size_t n_read, int (*work)(const cli_opt *o))
{
    const char *file = NULL;
    for (size_t k = 0; k < n_read && !file; k++)
        file = is_hdf5(o->arg[k]) ? o->arg[k] : NULL;
    fflush(NULL);
    const pid_t child = file ? fork() : -1;
    if (child < 0)
        return work(o);
    if (!child) {
        const int code = work(o);
        fflush(NULL);
        _exit(code);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return CLI_IO;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    const int sig = WTERMSIG(status);
    if (sig == SIGINT || sig == SIGTERM)
        return CLI_INTERRUPT;
    fprintf(stderr, "vsim: '%s' is damaged: the HDF5 library ended with '%s'\n", file,
            strsignal(sig));
    return CLI_INPUT;
}

static int convert(const cli_opt *o)
{
    cli_out out;
    const vsim_settings set = cli_settings(o);
    const vsim_inside_conversion c = {.from = o->arg[0],
                                      .to = o->arg[1],
                                      .ascii = o->format == VSIM_ASCII,
                                      .plot = o->picture.plot,
                                      .low = o->low,
                                      .high = o->high,
                                      .z0 = o->z0,
                                      .n_z0 = o->n_z0,
                                      .compress = o->compress};
    if (!cli_out_open(&out, o))
        return CLI_IO;
    return end(&out, vsim_inside_convert(&set, &out.streams, &c));
}

int cli_convert(const cli_opt *o) { return cli_guarded(o, 1, convert); }

static int compare(const cli_opt *o)
{
    cli_out out;
    cli_opt here = *o;
    int64_t differ = 0;
    const vsim_settings set = cli_settings(o);
    const vsim_inside_comparison c = {.a = o->arg[0],
                                      .b = o->arg[1],
                                      .plot = o->picture.plot,
                                      .output = o->log,
                                      .common = o->common,
                                      .json = o->json,
                                      .reltol = o->reltol,
                                      .abstol = o->abstol,
                                      .time_shift = isnan(o->time_shift) ? 0 : o->time_shift};
    here.log = NULL; /* -o is the picture */
    if (!cli_out_open(&out, &here))
        return CLI_IO;
    const int code = end(&out, vsim_inside_compare(&set, &out.streams, &c, &differ));
    return code == CLI_OK && differ ? CLI_DIFFER : code;
}

int cli_compare(const cli_opt *o) { return cli_guarded(o, o->n_arg, compare); }

static int plot(const cli_opt *o)
{
    cli_out out;
    cli_opt here = *o;
    const vsim_settings set = cli_settings(o);
    vsim_inside_picture p = o->picture;
    p.word = o->arg;
    p.n_word = o->n_arg;
    p.output = o->log;
    p.colour = isatty(STDOUT_FILENO);
    fit_terminal(&p);
    choose_pixels(&p, o->graphics, o->picture.width != 0);
    here.log = NULL; /* -o is the picture */
    if (!cli_out_open(&out, &here))
        return CLI_IO;
    return end(&out, vsim_inside_draw(&set, &out.streams, &p));
}

int cli_plot(const cli_opt *o) { return cli_guarded(o, o->n_arg, plot); }
