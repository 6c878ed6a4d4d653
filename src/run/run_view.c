/* run_view.c - the viewer: the page, and what it asks for, from a server on this machine. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "http.h"
#include "page.h"
#include "run_priv.h"
#include "stream.h"
#include "view.h"

/* In s: how soon a page that is loaded again comes back; how often the viewer looks at files; how
 * often the page hears of a run. Reading files takes no more than LOOK_PART of the time. */
#define COME_BACK_SECONDS 4.0
#define LOOK_SECONDS 0.3
#define LOOK_PART 0.25
#define TELL_SECONDS 0.25

enum { TEXT = 4096, MOST_COLUMNS = 500000, MOST_SAMPLES = 1 << 22 };

typedef struct viewer {
    const vsim_settings *set;
    const vsim_inside_streams *s;
    const vsim_inside_viewer *q;
    diag d;
    view *data;
    http_server *server;
    double look_next, told, alone; /* s of the clock; alone: since when no page listens */
    bool had_page;
} viewer;

/* -- what the page asks for -- */

static double number_of(const char *query, const char *name)
{
    char text[64], *end;
    if (!http_value(query, name, text, sizeof text))
        return NAN;
    const double x = strtod(text, &end);
    return end == text || *end ? NAN : x;
}

/* A whole number of the query, brought between lo and hi; `other` if it is not given. */
static int64_t whole_of(const char *query, const char *name, int64_t other, int64_t lo, int64_t hi)
{
    const double x = number_of(query, name);
    return isnan(x) ? other : x <= (double)lo ? lo : x >= (double)hi ? hi : (int64_t)x;
}

/* An expression of the query, in text [TEXT]; NULL: there is none. */
static const char *text_of(const char *query, const char *name, char *text)
{
    if (!http_value(query, name, text, TEXT))
        return NULL;
    page_bytes(text);
    return text;
}

static view_question question_of(const char *query, char expr[TEXT], char over[TEXT])
{
    return (view_question){.group = whole_of(query, "g", -1, -1, INT32_MAX),
                           .expr = text_of(query, "e", expr),
                           .over = text_of(query, "o", over),
                           .x0 = number_of(query, "x0"),
                           .x1 = number_of(query, "x1"),
                           .columns = whole_of(query, "w", 2000, 0, MOST_COLUMNS),
                           .member = whole_of(query, "m", -1, -1, INT32_MAX),
                           .soon = whole_of(query, "soon", 0, 0, 1) == 1};
}

static bool put_curve(viewer *w, const char *query, FILE *out)
{
    char expr[TEXT], over[TEXT];
    const view_question q = question_of(query, expr, over);
    return q.expr && view_curve(w->data, &q, out);
}

static bool put_measures(viewer *w, const char *query, FILE *out)
{
    char expr[TEXT], over[TEXT];
    const view_question q = question_of(query, expr, over);
    return q.expr && view_measure(w->data, &q, out);
}

static bool put_spectrum(viewer *w, const char *query, FILE *out)
{
    char expr[TEXT], window[32] = "hann";
    (void)http_value(query, "window", window, sizeof window);
    int64_t n = 16;
    const int64_t wanted = whole_of(query, "n", 8192, 16, MOST_SAMPLES);
    while (n < wanted)
        n *= 2;
    const view_fft q = {.group = whole_of(query, "g", -1, -1, INT32_MAX),
                        .member = whole_of(query, "m", 0, 0, INT32_MAX),
                        .expr = text_of(query, "e", expr),
                        .from = number_of(query, "x0"),
                        .to = number_of(query, "x1"),
                        .n = n,
                        .window = window};
    return q.expr && view_spectrum(w->data, &q, out);
}

static bool put_eye(viewer *w, const char *query, FILE *out)
{
    char expr[TEXT];
    const view_eye q = {.group = whole_of(query, "g", -1, -1, INT32_MAX),
                        .member = whole_of(query, "m", 0, 0, INT32_MAX),
                        .expr = text_of(query, "e", expr),
                        .from = number_of(query, "x0"),
                        .to = number_of(query, "x1"),
                        .ui = number_of(query, "ui"),
                        .offset = number_of(query, "offset")};
    return q.expr && view_eye_of(w->data, &q, out);
}

static bool put_point(viewer *w, const char *query, FILE *out)
{
    return view_point(w->data, whole_of(query, "g", -1, -1, INT32_MAX),
                      whole_of(query, "m", 0, 0, INT32_MAX),
                      whole_of(query, "k", -1, -1, INT64_MAX / 2), number_of(query, "x"), out);
}

static void put_list(viewer *w, FILE *out)
{
    char program[64];
    snprintf(program, sizeof program, "vsim %s", w->q->version);
    view_index(w->data, program, out);
}

/* Answers with data: JSON, or binary numbers. */
static void answer_data(viewer *w, const http_request *q, http_reply *r)
{
    static const struct {
        const char *path;
        bool (*put)(viewer *w, const char *query, FILE *out);
        bool json; /* no bytes of numbers */
    } numbers_of[] = {{"curve", put_curve, false},
                      {"measure", put_measures, true},
                      {"spectrum", put_spectrum, false},
                      {"eye", put_eye, false},
                      {"point", put_point, false}};
    const bool list = !strcmp(q->path, "index");
    size_t k = 0;
    while (k < VS_COUNT(numbers_of) && strcmp(q->path, numbers_of[k].path))
        k++;
    if (!list && k == VS_COUNT(numbers_of))
        return;
    FILE *out = stream_text(&r->body, &r->n);
    bool good = true;
    if (list)
        put_list(w, out);
    else
        good = numbers_of[k].put(w, q->query, out);
    stream_close(out);
    r->status = good ? 200 : 400;
    r->type =
        good && !list && !numbers_of[k].json ? "application/octet-stream" : "application/json";
}

static void answer(void *user, const http_request *q, http_reply *r)
{
    viewer *w = user;
    if (q->post) { /* the one request that changes something */
        if (strcmp(q->path, "stop") || !w->q->end_run)
            return;
        w->q->end_run(w->q->user);
        r->status = 200;
        r->lasting = "{}";
        r->n = 2;
    } else if (!*q->path) {
        r->status = 200;
        r->type = "text/html; charset=utf-8";
        r->policy = page_policy;
        r->lasting = page_served(&r->n);
    } else if (!strcmp(q->path, "events")) {
        r->status = 200;
        r->events = true;
        w->told = 0;
        w->had_page = true; /* though it may be gone behind this turn */
        w->alone = vsim_inside_seconds();
    } else {
        answer_data(w, q, r);
    }
}

/* -- what the page hears of -- */

static void put_run(const vsim_inside_running *r, FILE *out)
{
    const double rate = r->seconds > 0 ? (double)r->now.points / r->seconds : NAN,
                 left = r->now.fraction > 1e-6
                            ? r->seconds * (1 - r->now.fraction) / r->now.fraction
                            : NAN;
    fputs(",\"run\":{\"what\":", out);
    page_string(out, r->what);
    fprintf(out, ",\"ended\":%s,\"points\":%lld,\"fraction\":", r->ended ? "true" : "false",
            (long long)r->now.points);
    page_number(out, r->now.fraction);
    fputs(",\"at\":", out);
    page_number(out, r->now.axis);
    fputs(",\"unit\":", out);
    page_string(out, r->unit);
    fputs(",\"rate\":", out);
    page_number(out, rate);
    fputs(",\"left\":", out);
    page_number(out, r->ended ? 0 : left);
    fputs("}", out);
}

static void tell(viewer *w)
{
    char *text;
    size_t n;
    FILE *out = stream_text(&text, &n);
    fprintf(out, "{\"generation\":%lld", (long long)view_generation(w->data));
    if (w->q->running) {
        vsim_inside_running r = {0};
        w->q->running(w->q->user, &r);
        put_run(&r, out);
    }
    fputs("}", out);
    stream_close(out);
    http_tell(w->server, text);
    vs_free(text);
}

/* Reads files again that grew, more often the less time that takes. */
static bool look(viewer *w)
{
    const double begin = vsim_inside_seconds();
    if (begin < w->look_next)
        return false;
    const bool changed = view_refresh(w->data);
    const double end = vsim_inside_seconds();
    w->look_next = end + fmax(LOOK_SECONDS, (end - begin) / LOOK_PART);
    return changed;
}

/* Whether the last page was closed and did not come back. */
static bool left_alone(viewer *w)
{
    const double now = vsim_inside_seconds();
    if (http_listeners(w->server))
        w->alone = now;
    return w->had_page && now - w->alone > COME_BACK_SECONDS;
}

static vs_status serve(viewer *w)
{
    vs_status st = http_open(&w->server, answer, w);
    if (!st)
        w->q->opened(w->q->user, http_address(w->server));
    while (!st && !w->q->stop(w->q->user) && !left_alone(w)) {
        st = http_turn(w->server, 100);
        const bool changed = look(w);
        const double now = vsim_inside_seconds();
        if (changed || (now - w->told > (w->q->running ? TELL_SECONDS : 15))) {
            tell(w);
            w->told = now;
        }
    }
    if (st)
        diag_error(&w->d, DIAG_NOWHERE, "the viewer cannot be reached: %s", files_why(errno));
    return st;
}

static vs_status add_files(viewer *w)
{
    vs_status st = VS_OK;
    for (size_t k = 0; k < w->q->n_file && !st; k++) {
        char why[CONV_WHY] = "";
        const char *path = w->q->file[k];
        const bool live = !k && w->q->running;
        st = view_add(w->data, path, live, why);
        if (st)
            diag_error(&w->d, DIAG_NOWHERE, st == VS_EIO ? "'%s': %s" : "'%s' %s", path, why);
        else if (*why && !live)
            diag_warning(&w->d, DIAG_NOWHERE, "'%s' %s: what stands in front of that is shown",
                         path, why);
        const conv_notes *notes = view_notes(w->data, k);
        if (notes)
            run_tell_notes(&w->d, path, notes);
    }
    return st;
}

static bool go_on(void *user, const char *path, double done)
{
    const viewer *w = user;
    if (w->q->indexing)
        w->q->indexing(w->q->user, path, done);
    return !w->q->stop(w->q->user);
}

static vs_status make_indices(viewer *w)
{
    const char *why = "";
    const vs_status st = view_build(w->data, go_on, w, &why);
    if (st)
        diag_error(&w->d, DIAG_NOWHERE, "the index of the results %s", why);
    return st;
}

static vs_status show(void *arg)
{
    viewer *w = arg;
    diag_init(&w->d);
    w->data = view_new(w->set->plugins);
    vs_status st = add_files(w);
    if (!st)
        st = make_indices(w);
    run_tell(&w->d, w->s);
    if (!st)
        st = serve(w);
    run_tell(&w->d, w->s);
    http_close(&w->server);
    view_free(&w->data);
    diag_fini(&w->d);
    return st;
}

vsim_status vsim_inside_view(const vsim_settings *set, const vsim_inside_streams *s,
                             const vsim_inside_viewer *v)
{
    viewer w = {.set = set, .s = s, .q = v};
    const run_guard g = {.memory = set->memory, .streams = s, .body = show};
    return (vsim_status)run_guarded(&g, &w);
}
