/* ng_text.c - what clients read: each line with the stream it is for, "stdout ..." or
 * "stderr ...". PySpice takes every line of stderr for a failure unless it begins with "Warning:",
 * and every line of stdout with the word error. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ng_priv.h"

void ng_say(const char *stream, const char *text)
{
    if (!ng.line || ng.silent)
        return;
    const size_t n = strlen(stream) + strlen(text) + 2;
    char *line = malloc(n);
    if (!line)
        return;
    snprintf(line, n, "%s %s", stream, text);
    const int depth = ng_out();
    (void)ng.line(line, ng.ident, ng.user);
    ng_back(depth);
    free(line);
}

void ng_sayf(const char *stream, const char *format, ...)
{
    char text[1000];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    ng_say(stream, text);
}

void ng_take_line(void *user, vsim_output to, const char *text)
{
    (void)user;
    const char *begin = text + strspn(text, " \t");
    if (*begin) /* ngspice sends no empty lines, and none with blanks in front */
        ng_say(to == VSIM_TO_OUT ? "stdout" : "stderr", begin);
}

/* "deck:3:5: error: text" is "Error: deck:3:5: text"; the lines with the place follow. All lines of
 * a warning say so. */
void ng_take_message(void *user, const vsim_message *m)
{
    (void)user;
    const bool warning = m->severity != VSIM_ERROR;
    const char *const begin = warning ? "Warning: " : "Error: ";
    const char *const word = warning ? "warning: " : "error: ";
    const size_t n = vsim_message_format(m, NULL, 0) + 1;
    char *text = malloc(n);
    if (!text)
        return;
    (void)vsim_message_format(m, text, n);
    char *save = NULL;
    bool first = true;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *said = first ? strstr(line, word) : NULL;
        if (said)
            memmove(said, said + strlen(word), strlen(said + strlen(word)) + 1);
        ng_sayf("stderr", "%s%s", first || warning ? begin : "", line);
        first = false;
    }
    free(text);
}

void ng_status(const char *text)
{
    char copy[100];
    if (!ng.stat)
        return;
    snprintf(copy, sizeof copy, "%s", text);
    const int depth = ng_out();
    (void)ng.stat(copy, ng.ident, ng.user);
    ng_back(depth);
}

void ng_take_progress(void *user, const vsim_progress *p)
{
    (void)user;
    char text[100], word[40];
    const double percent = 100 * p->fraction;
    if (percent < ng.last_percent + 0.1 && percent > 0)
        return;
    ng.last_percent = percent;
    const char *id = vsim_plot_id(vsim_session_current(ng.session));
    snprintf(word, sizeof word, "%.*s", (int)strcspn(id, "0123456789"), id);
    snprintf(text, sizeof text, "%s: %.1f%%", word, percent);
    ng_status(text);
}
