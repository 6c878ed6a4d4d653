/* elab_stimulus.c - files of digital parts: what a d_source plays, the states of a d_state.
 * Words stand between blanks, commas, = and brackets; lines that begin with * are comments.
 * Source: ngspice manual, sections "Digital Source", "State Machine". */
#include "elab_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evt.h"
#include "str.h"

typedef struct word {
    const char *text;
    size_t n;
} word;
typedef struct reader {
    elab *e;
    const flat_inst *in;
    int32_t file;
    word *word; /* vec; of the line under way */
    size_t from, end;
    elab_rows *to;
} reader;

void elab_rows_free(elab_rows *r)
{
    vec_free(r->number);
    vec_free(r->value);
}

static const char *text_of(const reader *r) { return r->e->d->file[r->file].text; }

static diag_span span_of(const reader *r, const word *w)
{
    const size_t from = w ? (size_t)(w->text - text_of(r)) : r->from;
    return (diag_span){r->file, (uint32_t)from, (uint32_t)(w ? w->n : r->end - r->from)};
}

static bool is_gap(char c) { return c == '\0' || strchr(" \t\r\f\v=(),", c) != NULL; }

/* The next line with words; false: there is none. */
static bool next_line(reader *r)
{
    const diag_file f = r->e->d->file[r->file];
    vec_clear(r->word);
    while (!vec_len(r->word) && r->end < f.len) {
        r->from = r->end + (r->end > 0 || f.text[0] == '\n');
        if (r->from > f.len)
            return false;
        const char *nl = memchr(f.text + r->from, '\n', f.len - r->from);
        r->end = nl ? (size_t)(nl - f.text) : f.len;
        if (r->from < r->end && f.text[r->from] == '*')
            continue;
        for (size_t i = r->from, n; i < r->end; i += n) {
            for (n = 0; i + n < r->end && !is_gap(f.text[i + n]); n++)
                continue;
            if (n)
                vec_push(r->word, (word){f.text + i, n});
            else
                n = 1;
        }
    }
    return vec_len(r->word) > 0;
}

static bool read_number(const reader *r, const word *w, double *y, const char *what)
{
    const char *end;
    if (str_spice_number(w->text, &end, y) && end <= w->text + w->n && isfinite(*y))
        return true;
    diag_error(r->e->d, span_of(r, w), "%s: %s is expected", r->in->name, what);
    return false;
}

static bool read_value(reader *r, const word *w)
{
    const int v = evt_read(w->text, w->n);
    if (v < 0) {
        diag_error(r->e->d, span_of(r, w),
                   "%s: a digital value is expected: 0, 1 or U, and s, r, z or u (strong, "
                   "resistive, high impedance, undetermined), as in 1s",
                   r->in->name);
        return false;
    }
    vec_push(r->to->value, (uint8_t)v);
    return true;
}

static bool read_bit(reader *r, const word *w)
{
    const char c = w->n == 1 ? w->text[0] : '?';
    if (c != '0' && c != '1' && c != 'x' && c != 'X') {
        diag_error(r->e->d, span_of(r, w), "%s: an input is expected: 0, 1, or x for any",
                   r->in->name);
        return false;
    }
    vec_push(r->to->value, (uint8_t)(c == '0' ? EVT_0 : c == '1' ? EVT_1 : EVT_U));
    return true;
}

/* -- d_source -- */

static bool stimulus_line(reader *r, int32_t n_out)
{
    double t;
    if (vec_len(r->word) != (size_t)n_out + 1) {
        diag_error(r->e->d, span_of(r, NULL), "%s: a time and %d value%s are expected", r->in->name,
                   n_out, n_out == 1 ? "" : "s");
        return false;
    }
    if (!read_number(r, &r->word[0], &t, "a time"))
        return false;
    if (t < 0 || (r->to->n_row && t <= vec_last(r->to->number))) {
        diag_error(r->e->d, span_of(r, &r->word[0]),
                   t < 0 ? "%s: times are not negative" : "%s: times rise from line to line",
                   r->in->name);
        return false;
    }
    vec_push(r->to->number, t);
    for (int32_t k = 0; k < n_out; k++)
        if (!read_value(r, &r->word[k + 1]))
            return false;
    r->to->n_row++;
    return true;
}

bool elab_stimulus(elab *e, const flat_inst *in, const flat_param *p, const char *absent,
                   int32_t n_out, elab_rows *to)
{
    reader r = {.e = e, .in = in, .to = to};
    bool ok = elab_open_file(e, in, p, absent, &r.file);
    while (ok && next_line(&r))
        ok = stimulus_line(&r, n_out);
    vec_free(r.word);
    return ok;
}

/* -- d_state -- */

/* Word k begins inputs, ->, the next state. */
static bool state_tail(reader *r, size_t k, int32_t n_in)
{
    double next;
    for (int32_t i = 0; i < n_in; i++)
        if (!read_bit(r, &r->word[k++]))
            return false;
    if (!read_number(r, &r->word[k + 1], &next, "the number of the next state"))
        return false;
    vec_push(r->to->number, trunc(next));
    r->to->n_row++;
    return true;
}

static bool state_line(reader *r, int32_t n_in, int32_t n_out)
{
    const size_t n = vec_len(r->word), tail = (size_t)n_in + 2, whole = tail + 1 + (size_t)n_out;
    double state;
    if (n == tail && r->to->n_row) { /* more of the state before */
        vec_push(r->to->number, r->to->number[2 * r->to->n_row - 2]);
        for (int32_t k = 0; k < n_out; k++)
            vec_push(r->to->value,
                     r->to->value[(size_t)(r->to->n_row - 1) * (size_t)(n_in + n_out) + (size_t)k]);
        return state_tail(r, 0, n_in);
    }
    if (n != whole) {
        diag_error(r->e->d, span_of(r, NULL),
                   "%s: a state, %d output%s, %d input%s, -> and the next state are expected",
                   r->in->name, n_out, n_out == 1 ? "" : "s", n_in, n_in == 1 ? "" : "s");
        return false;
    }
    if (!read_number(r, &r->word[0], &state, "the number of a state"))
        return false;
    vec_push(r->to->number, trunc(state));
    for (int32_t k = 0; k < n_out; k++)
        if (!read_value(r, &r->word[k + 1]))
            return false;
    return state_tail(r, (size_t)n_out + 1, n_in);
}

typedef struct begin { /* of rows of one state */
    double state;
    int32_t row;
} begin;

static int by_state(const void *a, const void *b)
{
    const begin *x = a, *y = b;
    return x->state != y->state ? (x->state > y->state) - (x->state < y->state)
                                : (x->row > y->row) - (x->row < y->row);
}

/* The first row of a state that others separate from earlier ones of it; n: there is none. */
static int32_t first_apart(const double *row, int32_t n)
{
    begin *list = NULL;
    for (int32_t i = 0; i < n; i++)
        if (!i || row[2 * i] != row[2 * i - 2])
            vec_push(list, ((begin){row[2 * i], i}));
    qsort(list, vec_len(list), sizeof *list, by_state);
    int32_t first = n;
    for (size_t k = 1; k < vec_len(list); k++)
        if (list[k].state == list[k - 1].state && list[k].row < first)
            first = list[k].row;
    vec_free(list);
    return first;
}

/* Rows of a state stand together. */
static bool states_are_whole(const reader *r, const flat_param *p)
{
    const double *row = r->to->number;
    const int32_t n = r->to->n_row;
    const diag_span at = p ? p->span : r->in->rare->model->span;
    if (!n) {
        diag_error(r->e->d, at, "%s: the file has no states", r->in->name);
        return false;
    }
    const int32_t apart = first_apart(row, n);
    if (apart < n)
        diag_error(r->e->d, at, "%s: the lines of state %g do not stand together", r->in->name,
                   row[2 * apart]);
    return apart == n;
}

bool elab_states(elab *e, const flat_inst *in, const flat_param *p, const char *absent,
                 int32_t n_in, int32_t n_out, elab_rows *to)
{
    reader r = {.e = e, .in = in, .to = to};
    bool ok = elab_open_file(e, in, p, absent, &r.file);
    while (ok && next_line(&r))
        ok = state_line(&r, n_in, n_out);
    ok = ok && states_are_whole(&r, p);
    vec_free(r.word);
    return ok;
}
