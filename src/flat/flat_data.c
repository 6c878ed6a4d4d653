/* flat_data.c - tables of points, as HSPICE and Xyce have them: .data NAME (name |
 * element:parameter)* number* .enddata, for .step data=, .dc data=, .ac data= and .noise data=. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

static const net_card *find_table(flat_ctx *c, const char *name)
{
    const card_ref *r = c->root->b->other;
    for (size_t i = 0; i < vec_len(r); i++)
        if (r[i].card->kind == NET_CARD_DATA && r[i].card->n_tok > 1 &&
            !strcmp(r[i].card->name, "data") && r[i].card->tok[1].text == name)
            return r[i].card;
    return NULL;
}

static bool may_read(const net_card *card)
{
    return card->kind == NET_CARD_STEP || card->kind == NET_CARD_DC || card->kind == NET_CARD_AC ||
           card->kind == NET_CARD_NOISE;
}

void flat_data_card(flat_ctx *c, const net_card *card)
{
    const card_ref *r = c->root->b->other;
    const char *name = card->n_tok > 1 ? card->tok[1].text : NULL;
    bool read = !strcmp(card->name, "enddata");
    for (size_t i = 0; i < vec_len(r) && !read; i++)
        for (int32_t k = 1; may_read(r[i].card) && k + 2 < r[i].card->n_tok; k++)
            read |= r[i].card->tok[k + 1].punct == '=' && r[i].card->tok[k + 2].text == name;
    if (!read)
        diag_warning(c->d, net_card_span(card),
                     "no .step, .dc, .ac or .noise data=%s reads this table", name ? name : "name");
}

bool flat_open_table(cur *q, cur *at)
{
    flat_ctx *c = q->c;
    const net_card *card = cur_more(q) && cur_tok(q)->text ? find_table(c, cur_tok(q)->text) : NULL;
    if (!card) {
        cur_unexpected(q, "the name of a .data card is expected");
        return false;
    }
    q->i++;
    *at = (cur){c, c->root->b, card, 2};
    return true;
}

bool flat_at_column(cur *at)
{
    const char *end;
    double x;
    cur_skip_punct(at);
    return cur_more(at) && cur_tok(at)->kind == NET_T_WORD &&
           !str_spice_number(cur_tok(at)->text, &end, &x);
}

int64_t flat_table_rows(const cur *at, size_t n, size_t width)
{
    if (width && n && n % width == 0)
        return (int64_t)(n / width);
    diag_error(at->c->d, net_card_span(at->card), "%zu numbers are no rows of %zu columns", n,
               width);
    return 0;
}

/* -- tables of analyses -- */

static bool is_frequency(const char *name)
{
    return name && (!strcmp(name, "freq") || !strcmp(name, "hertz") || !strcmp(name, "frequency"));
}

/* Whether a column before the last one sets the same. */
static bool is_twice(const flat_ana *a)
{
    const flat_sweep *last = &a->sweep[a->n_sweep - 1];
    for (const flat_sweep *w = a->sweep; w < last; w++)
        if (w->what == last->what && w->name == last->name && w->param == last->param)
            return true;
    return false;
}

/* The names of the columns; that of the frequencies becomes the first one of a->sweep, and
 * *frequency is where it stands in the table. */
static bool read_columns(cur *at, flat_ana *a, int32_t *frequency)
{
    *frequency = -1;
    for (int32_t i = 0; flat_at_column(at); i++, at->i++) {
        flat_sweep *w = &a->sweep[a->n_sweep];
        if (a->n_sweep == FLAT_COLUMNS) {
            cur_unexpected(at, "a table of an analysis has at most 32 columns");
            return false;
        }
        if (a->kind != FLAT_DCSWEEP && is_frequency(cur_tok(at)->text)) {
            *frequency = i;
            w->what = FLAT_SWEEP_FREQ;
            w->name = "frequency";
            w->span = cur_span(at);
        } else if (!flat_find_sweep(at, w)) {
            return false;
        }
        a->n_sweep++;
        if (is_twice(a)) {
            diag_error(at->c->d, w->span, "the table has two columns of '%s'", w->name);
            return false;
        }
    }
    return true;
}

static bool is_a_frequency(const flat_ana *a, double f)
{
    return isfinite(f) && (a->kind == FLAT_NOISE ? f > 0 : f >= 0);
}

/* The numbers behind the columns, each to the values of its column; how many, -1: a message was
 * given. */
static int64_t read_numbers(cur *at, flat_ana *a, int32_t frequency)
{
    flat_ctx *c = at->c;
    const int32_t width = a->n_sweep;
    int64_t n = 0;
    double y;
    for (; cur_skip_punct(at), cur_more(at); n++) {
        const rhs v = cur_value(at);
        if (!v.e || !flat_eval(c, c->root, &v, &y))
            return -1;
        const int32_t k = width ? (int32_t)(n % width) : -1;
        if (k >= 0 && k == frequency && !is_a_frequency(a, y)) {
            diag_error(c->d, v.span, "%g is no frequency, which is %s", y,
                       a->kind == FLAT_NOISE ? "positive" : "0 or more");
            return -1;
        }
        if (!isfinite(y)) {
            diag_error(c->d, v.span, "a table needs finite numbers");
            return -1;
        }
        if (k >= 0)
            vec_push(a->sweep[k].value, y);
    }
    return n;
}

bool flat_read_rows(cur *q, flat_ana *a)
{
    cur at;
    int32_t frequency;
    if (!flat_open_table(q, &at) || !read_columns(&at, a, &frequency))
        return false;
    if (a->kind != FLAT_DCSWEEP && frequency < 0) {
        diag_error(q->c->d, net_card_span(at.card),
                   "a column freq or hertz with the frequencies is missing");
        return false;
    }
    const int64_t n = read_numbers(&at, a, frequency);
    for (int32_t i = 0; i < a->n_sweep; i++)
        vec_freeze(q->c->mem, a->sweep[i].value);
    if (n < 0)
        return false;
    a->n_freq = flat_table_rows(&at, (size_t)n, (size_t)a->n_sweep);
    if (frequency > 0) {
        const flat_sweep first = a->sweep[0];
        a->sweep[0] = a->sweep[frequency];
        a->sweep[frequency] = first;
    }
    a->rows = a->kind == FLAT_DCSWEEP;
    a->has_freq = !a->rows;
    a->grid = FLAT_LIST;
    return a->n_freq > 0;
}
