/* elab_table.c - the code models table2d and table3d: a current or a voltage whose values over two
 * or three inputs stand in a file.
 *
 * file = number of points of each axis, x first; the points of each axis; the values, x running
 * fastest, z slowest. Numbers end at blanks or line ends; lines that begin with * are comments.
 * Source: ngspice manual, section "2D table model", "3D table model". Its slopes come from another
 * interpolation (of higher `order`) than its values; here the values count. */
#include "elab_priv.h"

#include <math.h>
#include <string.h>

#include "str.h"

enum { MOST_VALUE = 10 * 1000 * 1000 };

typedef struct table_file {
    elab *e;
    const flat_inst *in;
    int32_t file;
    size_t at;
    bool ok;
} table_file;

static bool check_params(elab *e, const flat_inst *in)
{
    static const char *const known[] = {"file", "order", "verbose", "offset", "gain"};
    bool ok = true;
    for (size_t i = 0; i < vec_len(in->rare->model->param); i++) {
        const flat_param *p = &in->rare->model->param[i];
        bool found = false;
        for (size_t k = 0; k < VS_COUNT(known); k++)
            found |= !strcmp(known[k], p->name);
        if (!found) {
            diag_error(e->d, p->span, "model '%s': code model '%s' has no parameter '%s'",
                       in->rare->model->name, in->rare->model->type, p->name);
            diag_suggest(e->d, p->name, known, VS_COUNT(known));
        } else if (!strcmp(p->name, "file") != (p->str != NULL)) {
            diag_error(e->d, p->span, "model '%s': parameter '%s' needs a %s",
                       in->rare->model->name, p->name, p->str ? "number" : "file in quotes");
            found = false;
        }
        ok &= found;
    }
    return ok;
}

/* -- numbers of the file -- */

static void skip(table_file *t, const diag_file *f)
{
    while (t->at < f->len) {
        const bool begins = !t->at || f->text[t->at - 1] == '\n';
        if (begins && f->text[t->at] == '*')
            while (t->at < f->len && f->text[t->at] != '\n')
                t->at++;
        else if (strchr(" \t\r\n,", f->text[t->at]))
            t->at++;
        else
            return;
    }
}

static double next_number(table_file *t, const char *what)
{
    const diag_file *f = &t->e->d->file[t->file];
    const char *stop = NULL;
    double y = 0;
    if (!t->ok)
        return 0;
    skip(t, f);
    t->ok = t->at < f->len && str_spice_number(f->text + t->at, &stop, &y) &&
            stop <= f->text + f->len && isfinite(y);
    if (!t->ok) {
        const uint32_t end = t->at < f->len;
        diag_error(t->e->d, (diag_span){t->file, (uint32_t)(end ? t->at : f->len - 1), 1},
                   "%s: %s is expected in the table%s", t->in->name, what,
                   end ? "" : ", not its end");
        return 0;
    }
    t->at = (size_t)(stop - f->text);
    return y;
}

static void read_sizes(table_file *t, nat_table *to, int64_t *total)
{
    static const char *const what[] = {"the number of points in x", "the number of points in y",
                                       "the number of points in z"};
    *total = 1;
    for (int32_t k = 0; k < to->n_axis; k++) {
        const double n = next_number(t, what[k]);
        if (t->ok && !(n >= 2 && n == floor(n) && n * (double)*total <= MOST_VALUE)) {
            diag_error(t->e->d, (diag_span){t->file, (uint32_t)t->at - 1, 1},
                       "%s: %s is a whole number from 2 on, and a table has at most %d values",
                       t->in->name, what[k], MOST_VALUE);
            t->ok = false;
        }
        to->n[k] = t->ok ? (int32_t)n : 0;
        *total *= to->n[k];
    }
}

/* The axes, one behind the other, then the values. */
static double *read_numbers(table_file *t, const nat_table *to, int64_t total)
{
    double *y = NULL;
    for (int32_t k = 0; k < to->n_axis; k++)
        for (int32_t i = 0; i < to->n[k] && t->ok; i++) {
            vec_push(y, next_number(t, "a point of an axis"));
            if (t->ok && i && !(y[vec_len(y) - 1] > y[vec_len(y) - 2])) {
                diag_error(t->e->d, (diag_span){t->file, (uint32_t)t->at - 1, 1},
                           "%s: the points of an axis rise: %g after %g", t->in->name,
                           y[vec_len(y) - 1], y[vec_len(y) - 2]);
                t->ok = false;
            }
        }
    for (int64_t i = 0; i < total && t->ok; i++)
        vec_push(y, next_number(t, "a value"));
    return y;
}

/* *absent: the file cannot be read, which a warning tells. false: it could not be used otherwise
 * (message). */
static bool open_file(table_file *t, int32_t n_axis, bool *absent)
{
    elab *e = t->e;
    const flat_param *p = elab_card_param(t->in->rare->model->param, "file");
    const diag_span at = p ? p->span : t->in->rare->model->span;
    const char *name = p ? p->str : n_axis == 2 ? "2D-table-model.txt" : "3D-table-model.txt", *why;
    const vs_status st =
        diag_read_file(e->d, net_find_file(e->d, &e->mem, name, at.file, NULL), at, &t->file, &why);
    *absent = st == VS_EIO;
    if (*absent)
        diag_warning(e->d, at, "%s: file '%s' %s: the output of its card's elements is 0",
                     t->in->name, name, why);
    else if (st != VS_OK)
        diag_error(e->d, at, "%s: file '%s' %s", t->in->name, name, why);
    return st == VS_OK;
}

/* A copy of the table that the circuit owns; NULL with a message. */
static const nat_table *read_table(table_file *t, int32_t n_axis)
{
    nat_table to = {.n_axis = n_axis};
    int64_t total = 0;
    t->ok = true;
    read_sizes(t, &to, &total);
    double *y = t->ok ? read_numbers(t, &to, total) : NULL;
    const nat_table *own = NULL;
    if (t->ok) {
        to.axis[0] = y;
        for (int32_t k = 1; k < n_axis; k++)
            to.axis[k] = to.axis[k - 1] + to.n[k - 1];
        to.value = to.axis[n_axis - 1] + to.n[n_axis - 1];
        own = ckt_own_table(t->e->c, &to);
    }
    vec_free(y);
    return own;
}

/* The table of a model card, read at its first use: *table, NULL if its file cannot be read. false:
 * a message was given. */
static bool table_of(elab *e, const flat_inst *in, int32_t n_axis, const nat_table **table)
{
    const int32_t known = map_get(&e->table_of, map_key(in->rare->model), -1);
    table_file t = {.e = e, .in = in};
    bool absent = false;
    *table = known >= 0 ? e->table[known] : NULL;
    if (known >= 0)
        return true;
    if (check_params(e, in) && open_file(&t, n_axis, &absent))
        *table = read_table(&t, n_axis);
    if (!*table && !absent)
        return false;
    map_set(&e->table_of, map_key(in->rare->model), (int32_t)vec_len(e->table));
    vec_push(e->table, *table);
    return true;
}

/* -- the output -- */

static vs_status part(elab *e, const flat_inst *in, const char *module, const char *name,
                      const int32_t terminal[4], double factor)
{
    mdl_model *m = elab_module(e, module, in->span);
    if (!m)
        return VS_EINPUT;
    flat_inst one = *in;
    one.name = str_intern0(e->names, name);
    const mdl_given gain = {elab_param(e, m, "gain"), factor, DIAG_NOWHERE};
    return elab_add(e, &one, m, &gain, 1, terminal, NULL, elab_kelvin(e), 1);
}

/* Adds a table whose output is a voltage: its current flows through 1 ohm without noise, whose
 * voltage a source repeats at the output. */
static vs_status add_voltage(elab *e, const flat_inst *in, const int32_t out[2], int32_t *inner)
{
    *inner = ckt_inner_node(e->c, elab_printf(e, "%s#table", in->name));
    const int32_t load[] = {*inner, 0, *inner, 0}, follower[] = {out[0], out[1], *inner, 0};
    vs_status st = part(e, in, "vccs", elab_printf(e, "%s#load", in->name), load, 1);
    return st == VS_OK ? part(e, in, "vcvs", in->name, follower, 1) : st;
}

/* The output 0 of a table whose file cannot be read: of a current nothing. */
static vs_status add_zero(elab *e, const flat_inst *in, const int32_t out[2], bool current)
{
    const int32_t terminal[] = {out[0], out[1], 0, 0};
    return current ? VS_OK : part(e, in, "vcvs", in->name, terminal, 0);
}

vs_status elab_table(elab *e, const flat_inst *in, int32_t n_axis, const int32_t *terminal,
                     bool current)
{
    const nat_table *t;
    if (!table_of(e, in, n_axis, &t))
        return VS_EINPUT;
    if (!t)
        return add_zero(e, in, terminal + 2 * n_axis, current);
    nat_table_opt o = {.name = in->name,
                       .span = in->span,
                       .gain = elab_card_number(in->rare->model->param, "gain", 1),
                       .offset = elab_card_number(in->rare->model->param, "offset", 0),
                       .table = t};
    memcpy(o.in, terminal, (size_t)(2 * n_axis) * sizeof *terminal);
    memcpy(o.out, terminal + 2 * n_axis, sizeof o.out);
    if (!current) {
        int32_t inner;
        const vs_status st = add_voltage(e, in, o.out, &inner);
        if (st != VS_OK)
            return st;
        o.out[0] = 0;
        o.out[1] = inner;
    }
    o.gain *= current ? in->m : 1;
    o.offset *= current ? in->m : 1;
    ckt_add_table(e->c, &o);
    return VS_OK;
}
