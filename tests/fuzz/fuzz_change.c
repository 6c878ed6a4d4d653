/* fuzz_change.c - the target `change`: changes of a circuit that is there, against a circuit that
 * is made anew.
 * Input:  a deck; a line "*---"; changes, one a line; perhaps a line "*---" and the file `other`.
 *     set NAME VALUE          a parameter of the top level
 *     dev NAME PARAM VALUE    of a device; PARAM "-": its main value
 *     mod NAME PARAM VALUE    of a model card
 *     wave NAME FORM VALUE... of a source
 *     temp VALUE    opt TEXT    sample SEED K    point K    reset
 *     run CARD                an analysis, whose results are compared
 * After each change the operating point must be, bit by bit, that of a deck which is read anew,
 * gets the changes that were accepted, and is expanded and built with the last values only. The
 * last point is also that of another simulator, which has no models of the points before. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_priv.h"
#include "fuzz.h"

enum { MOST_WORDS = 24, MOST_CHANGES = 24, MOST_BYTES = 300 << 20 };

/* -- one change -- */

typedef struct words {
    char *w[MOST_WORDS];
    int n;
    char *rest; /* behind the first word */
} words;

static words split(char *line)
{
    words s = {.rest = line + strcspn(line, " \t")};
    s.rest += strspn(s.rest, " \t");
    char *copy = vs_text("%s", line); /* `rest` stays whole */
    for (char *p = copy; s.n < MOST_WORDS;) {
        p += strspn(p, " \t\r");
        if (!*p)
            break;
        const size_t len = strcspn(p, " \t\r");
        s.w[s.n++] = vs_strndup(p, len);
        p += len;
    }
    vs_free(copy);
    return s;
}

static void free_words(words *s)
{
    for (int i = 0; i < s->n; i++)
        vs_free(s->w[i]);
}

static double number(const words *s, int i) { return i < s->n ? strtod(s->w[i], NULL) : 0; }

static vsim_status set_wave(vsim_deck *d, const words *s)
{
    double arg[MOST_WORDS];
    for (int i = 3; i < s->n; i++)
        arg[i - 3] = number(s, i);
    return s->n < 4 ? VSIM_EINPUT : vsim_set_wave(d, s->w[1], s->w[2], arg, (size_t)(s->n - 3));
}

static int64_t whole(double x) { return fabs(x) < 1e15 ? (int64_t)x : 0; }

static vsim_status change(vsim_deck *d, const words *s)
{
    const char *what = s->n ? s->w[0] : "", *name = s->n > 1 ? s->w[1] : "";
    const char *part = s->n > 2 && strcmp(s->w[2], "-") != 0 ? s->w[2] : "";
    if (!strcmp(what, "set"))
        return vsim_set_param(d, name, number(s, 2));
    if (!strcmp(what, "dev"))
        return vsim_set_device(d, name, part, number(s, 3));
    if (!strcmp(what, "mod"))
        return vsim_set_model(d, name, part, number(s, 3));
    if (!strcmp(what, "wave"))
        return set_wave(d, s);
    if (!strcmp(what, "temp"))
        return vsim_set_temp(d, number(s, 1));
    if (!strcmp(what, "opt"))
        return vsim_set_options(d, s->rest);
    if (!strcmp(what, "sample"))
        return vsim_set_sample(d, (uint64_t)whole(number(s, 1)), whole(number(s, 2)));
    if (!strcmp(what, "point"))
        return vsim_family_set(d, whole(number(s, 1)), NULL);
    if (!strcmp(what, "reset"))
        return vsim_reset(d);
    return VSIM_EINPUT;
}

/* -- two simulators -- */

static char told[2000]; /* the last messages, for findings */

static void hear(void *user, const vsim_message *m)
{
    (void)user;
    const size_t n = strlen(m->text) + 1, has = strlen(told);
    if (n >= sizeof told)
        return;
    const size_t keep = has + n < sizeof told ? has : 0;
    snprintf(told + keep, sizeof told - keep, "%s\n", m->text);
}

static vsim *new_simulator(void)
{
    vsim_settings set;
    vsim *s;
    vsim_settings_init(&set);
    set.interpret = true;
    set.variable = variable;
    set.message = hear;
    set.memory = MOST_BYTES;
    set.threads = 1;
    if (vsim_new(&s, &set))
        finding("no simulator");
    return s;
}

static vs_status drop_netlist(void *arg)
{
    sim_drop_netlist(((vsim_deck *)arg)->sim);
    return VS_OK;
}

/* A deck that was changed only by what `line` [n] says, and whose circuit is made with the values
 * that it has then. NULL: there is no memory. */
static vsim_deck *deck_anew(vsim *s, char *const *line, size_t n)
{
    vsim_deck *d;
    vsim_status st = vsim_deck_file(s, "input", NULL, &d);
    if (st == VSIM_ENOMEM)
        return NULL;
    if (st)
        finding("the deck is refused when it is read again (%d)", st);
    for (size_t i = 0; i < n; i++) {
        words w = split(line[i]);
        st = change(d, &w);
        free_words(&w);
        if (st == VSIM_ENOMEM)
            return NULL;
        if (st)
            finding("'%s' is refused (%d) by a deck that is read anew", line[i], st);
    }
    (void)api_enter(s, drop_netlist, d);
    return d;
}

/* -- comparing -- */

/* A run of the card; NULL: there is none. */
static vsim_run *run_of(vsim_deck *d, const char *card, vsim_status *st)
{
    vsim_run *r = NULL;
    vsim_run_options o;
    vsim_run_options_init(&o);
    o.stop = enough;
    ask_anew();
    *st = vsim_run_card(d, card, &o, &r);
    if (!*st)
        *st = vsim_run_go(r);
    return r;
}

static bool same_bits(const double *a, const double *b, size_t n)
{
    return !n || !memcmp(a, b, n * sizeof *a);
}

static void compare_unknowns(vsim_deck *a, vsim_deck *b, const vsim_run *ra, const vsim_run *rb,
                             const char *after)
{
    size_t n = 0, m = 0;
    const vsim_status st = vsim_unknown_count(a, &n), anew = vsim_unknown_count(b, &m);
    if (st != anew || n != m)
        finding("%zu unknowns after '%s' (%d), %zu anew (%d)", n, after, st, m, anew);
    const double *x = vsim_run_point(ra), *y = vsim_run_point(rb);
    if (!x != !y)
        finding("a point after '%s' that there is not anew", after);
    for (size_t i = 1; i <= n && x; i++) {
        vsim_unknown u, v;
        if (vsim_unknown_at(a, i, &u) || vsim_unknown_at(b, i, &v) || strcmp(u.name, v.name) != 0)
            finding("unknown %zu has another name after '%s'", i, after);
        if (!same_bits(&x[i], &y[i], 1))
            finding("%s is %.17g after '%s', %.17g anew", u.name, x[i], after, y[i]);
    }
}

static void compare_plots(const vsim_run *ra, const vsim_run *rb, const char *after)
{
    if (vsim_run_plot_count(ra) != vsim_run_plot_count(rb))
        finding("another number of plots after '%s'", after);
    for (size_t k = 0; k < vsim_run_plot_count(ra); k++) {
        const vsim_plot *p = vsim_run_plot(ra, k), *q = vsim_run_plot(rb, k);
        vsim_vector v, w;
        if (vsim_plot_vector_count(p) != vsim_plot_vector_count(q))
            finding("another number of vectors after '%s'", after);
        for (size_t i = 0; vsim_plot_vector(p, i, &v) && vsim_plot_vector(q, i, &w); i++)
            if (strcmp(v.name, w.name) != 0 || v.n != w.n || v.complex_values != w.complex_values)
                finding("%s (%zu) is %s (%zu) anew, after '%s'", v.name, v.n, w.name, w.n, after);
            else if (!same_bits(v.v, w.v, v.complex_values ? 2 * v.n : v.n))
                finding("%s differs from that of a deck anew, after '%s'", v.name, after);
    }
}

/* The run of a card on the deck that was changed, and on one that is made anew in `s`. Without
 * memory, or stopped, there is nothing to compare. false: no memory. */
static bool compare(vsim_deck *d, vsim *s, char *const *line, size_t n, const char *card,
                    const char *after)
{
    vsim_status st, anew;
    vsim_run *r = run_of(d, card, &st);
    bool stopped = was_stopped();
    vsim_deck *e = st == VSIM_ENOMEM ? NULL : deck_anew(s, line, n);
    if (!e)
        return false;
    vsim_run *q = run_of(e, card, &anew);
    stopped |= was_stopped();
    if (anew == VSIM_ENOMEM)
        return false;
    if (!stopped && st != anew) {
        fputs(told, stderr);
        finding("'%s' after '%s' ends with %d, anew with %d", card, after, st, anew);
    }
    if (!stopped && r && q) {
        compare_unknowns(d, e, r, q, after);
        compare_plots(r, q, after);
    }
    vsim_run_free(&r);
    vsim_deck_free(&e);
    return true;
}

/* -- the target -- */

static void forget_all(char ***line, bool but_options)
{
    char **kept = NULL;
    for (size_t i = 0; i < vec_len(*line); i++)
        if (but_options && !strncmp((*line)[i], "opt", 3))
            vec_push(kept, (*line)[i]);
        else
            vs_free((*line)[i]);
    vec_free(*line);
    *line = kept;
}

/* What a change leaves behind: the lines that a new deck needs to become the same. false: no
 * memory. */
static bool take_change(vsim_deck *d, char ***line, const char *text)
{
    words w = split((char *)text);
    const vsim_status st = change(d, &w), built = st ? st : vsim_deck_build(d);
    const bool reset = w.n && !strcmp(w.w[0], "reset"), option = w.n && !strcmp(w.w[0], "opt");
    free_words(&w);
    if (st == VSIM_ENOMEM || built == VSIM_ENOMEM)
        return false;
    if (!built && reset)
        forget_all(line, true);
    else if (!st && (!built || option))
        vec_push(*line, vs_text("%s", text));
    return true;
}

/* s: the lines of the changes, which are cut apart. */
static void change_all(vsim *s, vsim_deck *d, char *text)
{
    char **line = NULL;
    bool ok = compare(d, s, line, 0, "op", "nothing");
    int n = 0;
    for (char *at = text; ok && at && n < MOST_CHANGES; n++) {
        char *now = strsep(&at, "\n");
        if (!strncmp(now, "run ", 4)) {
            ok = compare(d, s, line, vec_len(line), now + 4, now);
            continue;
        }
        ok = take_change(d, &line, now) && compare(d, s, line, vec_len(line), "op", now);
    }
    if (ok) {
        vsim *other = new_simulator();
        (void)compare(d, other, line, vec_len(line), "op", "all changes");
        vsim_free(&other);
    }
    forget_all(&line, false);
}

void fuzz_change(const char *text, size_t n)
{
    const size_t deck = next_mark(text, n, 0), list = deck < n ? deck + 6 : n;
    const size_t end = next_mark(text, n, list), other = end < n ? end + 6 : n;
    write_file("input", text, deck);
    write_file("other", text + other, n - other);
    char *changes = vs_strndup(text + list, end - list);
    vsim *s = new_simulator();
    vsim_deck *d;
    const vsim_status st = vsim_deck_file(s, "input", NULL, &d);
    size_t n_message;
    (void)vsim_messages(s, &n_message);
    if (st && !n_message)
        finding("the deck is refused without a message");
    if (!st)
        change_all(s, d, changes);
    vsim_free(&s);
    vs_free(changes);
}
