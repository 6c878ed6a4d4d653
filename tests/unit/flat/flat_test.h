/* flat_test.h - a deck given as text, read and expanded; its messages and its flat form as text. */
#ifndef FLAT_TEST_H
#define FLAT_TEST_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flat.h"
#include "vec.h"
#include "stream.h"
#include "../suite.h"

typedef struct fixture {
    diag d;
    str_pool names;
    arena mem;
    net_deck deck;
    flat f;
    vs_status read, build;
} fixture;

static inline const char *variable(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

static inline void deck_init(fixture *t)
{
    diag_init(&t->d);
    t->d.variable = variable;
    str_pool_init(&t->names);
    arena_init(&t->mem);
}

static inline void deck_fini(fixture *t)
{
    arena_fini(&t->mem);
    str_pool_fini(&t->names);
    diag_fini(&t->d);
}

static inline void deck_from(fixture *t, const char *text, size_t len)
{
    deck_init(t);
    t->read = net_read_text(&t->deck, &t->d, &t->names, &t->mem, "t.sp", text, len, NULL);
    t->build = flat_build(&t->f, &t->deck, &t->d, &t->names, &t->mem, 27, NULL, 0, NULL, NULL);
}

/* All messages as "line:col: error: text", one a line; the caller frees. Files other than the deck
 * show their name. */
static inline char *deck_messages(const fixture *t)
{
    static const char *const level[] = {"error", "warning", "note"};
    char *buf = NULL;
    size_t n = 0;
    FILE *out = stream_text(&buf, &n);
    for (size_t i = 0; i < vec_len(t->d.msg); i++) {
        const diag_msg *m = &t->d.msg[i];
        int line, col;
        diag_where(&t->d, m->span, &line, &col);
        if (m->span.file > 0)
            fprintf(out, "%s:", t->d.file[m->span.file].name);
        if (m->span.file >= 0)
            fprintf(out, "%d:%d: ", line, col);
        fprintf(out, "%s: %s\n", level[m->level], m->text);
    }
    fclose(out);
    return buf;
}

/* flat_print without its two heading lines; the caller frees. */
static inline char *deck_text(const fixture *t)
{
    char *buf = NULL;
    size_t n = 0;
    FILE *out = stream_text(&buf, &n);
    flat_print(&t->f, out);
    fclose(out);
    char *p = strchr(strchr(buf, '\n') + 1, '\n') + 1;
    memmove(buf, p, strlen(p) + 1);
    return buf;
}

static inline int run_tests(const char *name, const TTest *const *tests, size_t n)
{
    TCase *t = tcase_create(name);
    tcase_set_timeout(t, TEST_PATIENCE);
    return run_case(name, t, tests, n);
}

#endif
