/* flat_file.c - tables of numbers in files that cards name: points of .step, pairs of PWL. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

bool cur_file(cur *q, const char *what, diag_span *at, int32_t *file)
{
    flat_ctx *c = q->c;
    if (!cur_more(q) || cur_tok(q)->kind == NET_T_PUNCT) {
        cur_unexpected(q, what);
        return false;
    }
    const net_tok t = net_file_tok(q->card, q->i, ')', &q->i);
    const char *name = net_file_text(c->d, c->mem, q->card, &t), *why;
    *at = net_tok_span(q->card, &t);
    if (!diag_read_file(c->d, net_find_file(c->d, c->mem, name, q->card->file, NULL), *at, file,
                        &why))
        return true;
    diag_error(c->d, *at, "file '%s' %s", name, why);
    return false;
}

size_t flat_table_line_end(const diag_file *f, size_t i)
{
    while (i < f->len && f->text[i] != '\n')
        i++;
    return i;
}

static size_t skip_blanks(const char *s, size_t i, size_t end, bool comma)
{
    while (i < end && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || (comma && s[i] == ',')))
        i++;
    return i;
}

bool flat_table_line_blank(const char *s, size_t i, size_t end)
{
    i = skip_blanks(s, i, end, false);
    return i >= end || s[i] == '#';
}

/* line = time [","] value ; "*", ";" and "#" begin comments */
static bool read_pair(flat_ctx *c, int32_t file, size_t from, size_t end, double y[2])
{
    const char *s = c->d->file[file].text;
    size_t i = from;
    for (int k = 0; k < 2; k++) {
        const char *stop;
        i = skip_blanks(s, i, end, k == 1);
        if (i >= end || !str_spice_number(s + i, &stop, &y[k]) || stop > s + end ||
            !isfinite(y[k])) {
            diag_error(c->d, (diag_span){file, (uint32_t)from, (uint32_t)(end - from)},
                       "a time and a value are expected");
            return false;
        }
        i = (size_t)(stop - s);
    }
    i = skip_blanks(s, i, end, true);
    if (i >= end || memchr("#;*", s[i], 3))
        return true;
    diag_error(c->d, (diag_span){file, (uint32_t)i, (uint32_t)(end - i)},
               "text behind time and value; a line of the file of a PWL has no more");
    return false;
}

bool flat_pwl_file(cur *q, double **pairs)
{
    flat_ctx *c = q->c;
    diag_span at;
    int32_t file;
    if (!cur_file(q, "the file of the pairs is expected", &at, &file))
        return false;
    double *pair = NULL;
    bool ok = true;
    const diag_file f = c->d->file[file];
    for (size_t i = 0, end; i < f.len; i = end + 1) {
        double y[2];
        end = flat_table_line_end(&f, i);
        const size_t first = skip_blanks(f.text, i, end, false);
        if (first >= end || memchr("#;*", f.text[first], 3))
            continue;
        ok = read_pair(c, file, i, end, y);
        if (ok && vec_len(pair) && y[0] < pair[vec_len(pair) - 2]) {
            diag_error(c->d, (diag_span){file, (uint32_t)i, (uint32_t)(end - i)},
                       "PWL times do not go back: %g after %g", y[0], pair[vec_len(pair) - 2]);
            ok = false;
        }
        if (!ok)
            break;
        vec_push(pair, y[0]);
        vec_push(pair, y[1]);
    }
    if (ok && !vec_len(pair)) {
        diag_error(c->d, at, "file '%s' has no pairs of time and value", f.name);
        ok = false;
    }
    *pairs = vec_freeze(c->mem, pair);
    return ok;
}
