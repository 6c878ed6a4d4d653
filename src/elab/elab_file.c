/* elab_file.c - the code model "filesource": sources whose values over time stand in a file, a PWL
 * waveform each.
 * Source: ngspice manual, section "Filesource": lines of a time and a value for each output, blanks
 * or commas between them; lines that begin with * # ; are comments. */
#include "elab_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "str.h"

typedef struct source_file {
    elab *e;
    const flat_inst *in;
    int32_t file;
    size_t n_col;
    double *row; /* vec; time and values, line by line */
    double scale, offset;
    bool relative, steps;
} source_file;

static double entry_of(const flat_inst *in, const char *list, size_t k, double absent)
{
    char key[64];
    snprintf(key, sizeof key, "%s[%zu]", list, k);
    return elab_card_number(in->rare->model->param, key, absent);
}

static bool check_params(const source_file *s)
{
    static const char *const known[] = {"file",     "timeoffset", "timescale", "timerelative",
                                        "amplstep", "amploffset", "amplscale"};
    bool ok = true;
    for (size_t i = 0; i < vec_len(s->in->rare->model->param); i++) {
        const flat_param *p = &s->in->rare->model->param[i];
        const size_t n = strcspn(p->name, "[");
        bool found = false;
        for (size_t k = 0; k < VS_COUNT(known); k++)
            found |= strlen(known[k]) == n && !strncmp(p->name, known[k], n);
        if (!found) {
            diag_error(s->e->d, p->span,
                       "model '%s': code model 'filesource' has no parameter '%s'",
                       s->in->rare->model->name, p->name);
            diag_suggest(s->e->d, p->name, known, VS_COUNT(known));
        } else if (!strcmp(p->name, "file") != (p->str != NULL)) {
            diag_error(s->e->d, p->span, "model '%s': parameter '%s' needs a %s",
                       s->in->rare->model->name, p->name, p->str ? "number" : "file in quotes");
            found = false;
        }
        ok &= found;
    }
    return ok;
}

bool elab_open_file(elab *e, const flat_inst *in, const flat_param *p, const char *absent,
                    int32_t *file)
{
    const diag_span at = p ? p->span : in->rare->model->span;
    const char *name = p && p->str ? p->str : absent, *why;
    const char *path = net_find_file(e->d, &e->mem, name, at.file, NULL);
    for (size_t i = 0; i < vec_len(e->d->file); i++)
        if (!strcmp(e->d->file[i].name, path)) {
            *file = (int32_t)i;
            return true;
        }
    if (diag_read_file(e->d, path, at, file, &why) == VS_OK)
        return true;
    diag_error(e->d, at, "%s: file '%s' %s", in->name, name, why);
    return false;
}

static bool read_line(source_file *s, size_t from, size_t end)
{
    const char *text = s->e->d->file[s->file].text;
    size_t i = from;
    for (size_t k = 0; k <= s->n_col; k++) {
        const char *stop;
        double y;
        while (i < end && (strchr(" \t\r", text[i]) || (k && text[i] == ',')))
            i++;
        if (!k && (i >= end || strchr("*#;", text[i])))
            return true;
        if (i >= end || !str_spice_number(text + i, &stop, &y) || stop > text + end ||
            !isfinite(y)) {
            diag_error(s->e->d, (diag_span){s->file, (uint32_t)from, (uint32_t)(end - from)},
                       "a time and %zu value%s are expected", s->n_col, s->n_col == 1 ? "" : "s");
            return false;
        }
        i = (size_t)(stop - text);
        if (!k) {
            const size_t n = vec_len(s->row);
            y *= s->scale;
            y += s->relative && n ? s->row[n - s->n_col - 1] : s->offset;
            if (n && y < s->row[n - s->n_col - 1]) {
                diag_error(s->e->d, (diag_span){s->file, (uint32_t)from, (uint32_t)(end - from)},
                           "times do not go back");
                return false;
            }
        } else {
            y = y * entry_of(s->in, "amplscale", k - 1, 1) +
                entry_of(s->in, "amploffset", k - 1, 0);
        }
        vec_push(s->row, y);
    }
    return true;
}

static bool read_file(source_file *s)
{
    const diag_file f = s->e->d->file[s->file];
    for (size_t i = 0, end; i < f.len; i = end + 1) {
        const char *nl = memchr(f.text + i, '\n', f.len - i);
        end = nl ? (size_t)(nl - f.text) : f.len;
        if (!read_line(s, i, end))
            return false;
    }
    if (vec_len(s->row))
        return true;
    diag_error(s->e->d, s->in->rare->model->span, "%s: file '%s' has no values", s->in->name,
               f.name);
    return false;
}

/* Column k as pairs of a PWL; with steps a value holds until the next time. */
static double *column(const source_file *s, size_t k)
{
    const size_t width = s->n_col + 1, n = vec_len(s->row) / width;
    double *pair = NULL;
    for (size_t i = 0; i < n; i++) {
        const double *row = &s->row[i * width];
        if (s->steps && i) {
            vec_push(pair, row[0]);
            vec_push(pair, row[k + 1 - width]);
        }
        vec_push(pair, row[0]);
        vec_push(pair, row[k + 1]);
    }
    return pair;
}

static vs_status add_source(const source_file *s, size_t k, int32_t hi, int32_t lo, bool current)
{
    double *pair = column(s, k);
    const wave w = {
        .kind = WAVE_PWL, .arg = pair, .n_arg = (int32_t)vec_len(pair), .pwl_repeat = -1};
    const char *why = wave_check(&w);
    const char *name = s->n_col == 1
                           ? s->in->name
                           : str_intern0(s->e->names, elab_printf(s->e, "%s#%zu", s->in->name, k));
    vs_status st = VS_EINPUT;
    if (why)
        diag_error(s->e->d, s->in->span, "%s: %s", s->in->name, why);
    else
        st = current ? ckt_add_isource(s->e->c, name, hi, lo, &w, s->in->m, s->in->span)
                     : ckt_add_vsource(s->e->c, name, hi, lo, &w, s->in->m, s->in->span);
    vec_free(pair);
    return st;
}

vs_status elab_filesource(elab *e, const flat_inst *in, const int32_t *hi, const int32_t *lo,
                          const bool *current, size_t n)
{
    source_file s = {.e = e,
                     .in = in,
                     .n_col = n,
                     .scale = elab_card_number(in->rare->model->param, "timescale", 1),
                     .offset = elab_card_number(in->rare->model->param, "timeoffset", 0),
                     .relative = elab_card_number(in->rare->model->param, "timerelative", 0) != 0,
                     .steps = elab_card_number(in->rare->model->param, "amplstep", 0) != 0};
    vs_status st = check_params(&s) &&
                           elab_open_file(e, in, elab_card_param(in->rare->model->param, "file"),
                                          "filesource.txt", &s.file) &&
                           read_file(&s)
                       ? VS_OK
                       : VS_EINPUT;
    for (size_t k = 0; k < n && st == VS_OK; k++)
        st = add_source(&s, k, hi[k], lo[k], current[k]);
    vec_free(s.row);
    return st;
}
