/* ckt_stamps.c - see ckt_stamps.h. */
#include "ckt_stamps.h"

#include <string.h>

#include "ckt_priv.h"

typedef struct walk {
    void (*stamp)(void *user, int32_t device, int32_t row, int32_t col);
    void *user;
} walk;

static void one(const walk *w, int32_t device, int32_t row, int32_t col)
{
    if (row && col)
        w->stamp(w->user, device, row, col);
}

static void walk_group(const walk *w, const dev_group *g, const dev_form *f)
{
    for (int32_t i = 0; f->variant && i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        for (int32_t k = 0; k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (o->kind == IR_OUT_G || o->kind == IR_OUT_J)
                one(w, g->inst[i], to[o->a], to[o->b]);
        }
    }
}

/* Calls `stamp` for every matrix entry that a load in `mode` adds to, device after device; entries
 * of the reference node are left out.
 *   device    number of the device, then of the independent sources, from 0
 *   row, col  unknowns, from 1 */
static void each_stamp(const ckt *c, ckt_mode mode,
                       void (*stamp)(void *user, int32_t device, int32_t row, int32_t col),
                       void *user)
{
    const walk w = {stamp, user};
    const int32_t n_inst = (int32_t)vec_len(c->inst), n_source = (int32_t)vec_len(c->sources->all);
    for (size_t i = 0; i < vec_len(c->group); i++)
        walk_group(&w, &c->group[i], &c->group[i].form[ckt_form_of(c, mode)]);
    for (int32_t i = 0; i < n_source; i++) {
        const nat_source *s = &c->sources->all[i];
        if (!s->is_v)
            continue;
        one(&w, n_inst + i, s->p, s->k);
        one(&w, n_inst + i, s->n, s->k);
        one(&w, n_inst + i, s->k, s->p);
        one(&w, n_inst + i, s->k, s->n);
    }
}

/* -- conflicts -- */

typedef struct counter {
    const csc *a;
    ckt_conflicts *f;
    int32_t *devices, *last;    /* [nnz] devices of an entry; the last one + 1 */
    int32_t *on_row, *row_last; /* [n+1] the same of a row */
    int32_t device;             /* whose rows are gathered, -1: none yet */
    int32_t *rows;              /* vec: the rows of that device */
    uint64_t **used;            /* [n+1] vecs: colours taken at a row, bit by bit */
} counter;

static void count_stamp(void *user, int32_t device, int32_t row, int32_t col)
{
    counter *k = user;
    const int32_t e = csc_slot(k->a, csc_entry_of(row, col));
    k->f->n_stamp++;
    if (k->last[e] != device + 1) {
        k->last[e] = device + 1;
        k->devices[e]++;
    }
    if (k->row_last[row] != device + 1) {
        k->row_last[row] = device + 1;
        k->on_row[row]++;
    }
    if (k->device != device)
        k->f->n_device++;
    k->device = device;
}

/* The smallest colour that no row of the device has yet. */
static void color_device(counter *k)
{
    size_t word = 0;
    uint64_t taken;
    for (;; word++) {
        taken = 0;
        for (size_t i = 0; i < vec_len(k->rows); i++) {
            const uint64_t *u = k->used[k->rows[i]];
            taken |= word < vec_len(u) ? u[word] : 0;
        }
        if (~taken)
            break;
    }
    const int bit = __builtin_ctzll(~taken), color = (int)word * 64 + bit;
    for (size_t i = 0; i < vec_len(k->rows); i++) {
        uint64_t **u = &k->used[k->rows[i]];
        while (vec_len(*u) <= word)
            vec_push(*u, (uint64_t)0);
        (*u)[word] |= (uint64_t)1 << bit;
    }
    if (vec_len(k->rows) && color >= k->f->n_color)
        k->f->n_color = color + 1;
    vec_clear(k->rows);
}

static void gather_row(void *user, int32_t device, int32_t row, int32_t col)
{
    counter *k = user;
    (void)col;
    if (k->device != device)
        color_device(k);
    k->device = device;
    if (k->row_last[row] == device + 1 || k->on_row[row] > CKT_HUB)
        return;
    k->row_last[row] = device + 1;
    vec_push(k->rows, row);
}

static int bin_of(int32_t devices)
{
    int b = 0;
    while (b < CKT_CONFLICT_BINS - 1 && devices > 1 << b)
        b++;
    return b;
}

static void summarize(const counter *k)
{
    ckt_conflicts *f = k->f;
    for (int32_t j = 0; j < k->a->n; j++)
        for (int32_t e = k->a->colptr[j]; e < k->a->colptr[j + 1]; e++) {
            if (!k->devices[e])
                continue;
            f->n_entry++;
            f->bin[bin_of(k->devices[e])]++;
            if (k->devices[e] > f->most) {
                f->most = k->devices[e];
                f->most_row = k->a->row[e] + 1;
                f->most_col = j + 1;
            }
        }
    for (int32_t i = 1; i <= k->a->n; i++) {
        f->n_hub += k->on_row[i] > CKT_HUB;
        if (k->on_row[i] > f->on_row) {
            f->on_row = k->on_row[i];
            f->full_row = i;
        }
    }
}

void ckt_find_conflicts(const ckt *c, ckt_mode mode, ckt_conflicts *f)
{
    const csc *a = ckt_pattern(c);
    counter k = {.a = a, .f = f, .device = -1};
    *f = (ckt_conflicts){0};
    vec_extend(k.devices, csc_nnz(a));
    vec_extend(k.last, csc_nnz(a));
    vec_extend(k.on_row, a->n + 1);
    vec_extend(k.row_last, a->n + 1);
    vec_extend(k.used, a->n + 1);
    each_stamp(c, mode, count_stamp, &k);
    summarize(&k);
    memset(k.row_last, 0, sizeof *k.row_last * (size_t)(a->n + 1));
    k.device = -1;
    each_stamp(c, mode, gather_row, &k);
    color_device(&k);
    for (int32_t i = 0; i <= a->n; i++)
        vec_free(k.used[i]);
    vec_free(k.devices);
    vec_free(k.last);
    vec_free(k.on_row);
    vec_free(k.row_last);
    vec_free(k.used);
    vec_free(k.rows);
}
