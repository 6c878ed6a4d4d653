/* cli_progress.c - one line on a terminal that is renewed in place; nothing in a pipe. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

enum { BAR = 24 };
#define REDRAW_SECONDS 0.1

void cli_progress_begin(cli_progress *p, const char *what)
{
    cli_watch_new(p->watch, what);
    *p = (cli_progress){.quiet = p->quiet,
                        .watch = p->watch,
                        .on = !p->quiet && isatty(STDERR_FILENO),
                        .t0 = vsim_inside_seconds(),
                        .what = what};
}

static void clock_text(char *buf, size_t n, double s)
{
    if (s < 60)
        snprintf(buf, n, "%.1f s", s);
    else if (s < 3600)
        snprintf(buf, n, "%d:%02d", (int)s / 60, (int)s % 60);
    else if (s < 360000)
        snprintf(buf, n, "%d:%02d:%02d", (int)s / 3600, (int)s / 60 % 60, (int)s % 60);
    else
        snprintf(buf, n, "--");
}

void cli_progress_show(cli_progress *p, const vsim_progress *now)
{
    const double t = vsim_inside_seconds();
    cli_watch_tell(p->watch, now);
    double fraction = now->fraction;
    if (!p->on || t - p->last < REDRAW_SECONDS)
        return;
    p->last = t;
    if (!(fraction > 0))
        fraction = 0;
    if (fraction > 1)
        fraction = 1;
    char bar[BAR + 1], at[16], eta[24], line[256];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(fraction * BAR) ? '#' : '.';
    bar[BAR] = 0;
    double spent = t - p->t0;
    clock_text(eta, sizeof eta, fraction > 1e-6 ? spent * (1 - fraction) / fraction : 1e9);
    int n = snprintf(line, sizeof line, "%s [%s] %5.1f %%  %s  %lld points  %.2f it/point  ETA %s",
                     p->what, bar, 100 * fraction, vsim_inside_si(at, now->axis, now->unit),
                     (long long)now->points,
                     now->points ? (double)now->iterations / (double)now->points : 0.0, eta);
    struct winsize w;
    int width = !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 20 ? w.ws_col - 1 : 79;
    fprintf(stderr, "\r%.*s\033[K", n < width ? n : width, line);
    fflush(stderr);
}

void cli_progress_end(cli_progress *p)
{
    if (p->on && p->last > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->on = false;
}
