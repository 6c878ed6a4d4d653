/* ckt_pattern.c - the Jacobian's pattern from the stamps, and the place of every stamp in it. */
#include "ckt_priv.h"

#include <stdlib.h>
#include <string.h>

static bool is_matrix(uint8_t kind)
{
    return kind == IR_OUT_G || kind == IR_OUT_C || kind == IR_OUT_J;
}

/* still: those that vanish at rest too */
static void device_entries(const ckt *c, mdl_form_kind form, bool still, csc_entry **e)
{
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        const dev_form *f = &g->form[form];
        for (int32_t k = 0; f->variant && k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (!is_matrix(o->kind) || (o->still && !still))
                continue;
            vec_reserve(*e, g->nb);
            for (int32_t i = 0; i < g->nb; i++) {
                const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
                vec_push(*e, csc_entry_of(to[o->a], to[o->b]));
            }
        }
    }
}

void ckt_device_entries(const ckt *c, mdl_form_kind form, csc_entry **e)
{
    device_entries(c, form, true, e);
}

void ckt_rest_entries(const ckt *c, csc_entry **e) { device_entries(c, MDL_DC, false, e); }

static int compare_entries(const void *va, const void *vb)
{
    const csc_entry a = *(const csc_entry *)va, b = *(const csc_entry *)vb;
    return a < b ? -1 : a > b;
}

/* Stable counting sort by column or row: from -> to, keys below n. */
static void sort_by(const csc_entry *from, csc_entry *to, size_t len, bool row, int32_t *start,
                    size_t n)
{
    memset(start, 0, (n + 1) * sizeof *start);
    for (size_t i = 0; i < len; i++)
        start[(row ? csc_entry_row(from[i]) : csc_entry_col(from[i])) + 1]++;
    for (size_t k = 0; k < n; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < len; i++)
        to[start[row ? csc_entry_row(from[i]) : csc_entry_col(from[i])]++] = from[i];
}

void ckt_sort_entries(const ckt *c, csc_entry *e)
{
    const size_t len = vec_len(e), n = vec_len(c->unknown);
    if (!len)
        return;
    csc_entry *other = NULL;
    int32_t *start = NULL;
    vec_extend(other, len);
    vec_extend(start, n + 1);
    sort_by(e, other, len, false, start, n);
    sort_by(other, e, len, true, start, n);
    vec_free(other);
    vec_free(start);
    size_t k = 1;
    for (size_t i = 1; i < len; i++)
        if (e[i] != e[k - 1])
            e[k++] = e[i];
    vec_head_of(e)->len = k;
}

bool ckt_has_entry(const csc_entry *e, int32_t row, int32_t col)
{
    const csc_entry key = csc_entry_of(row, col);
    return vec_len(e) && bsearch(&key, e, vec_len(e), sizeof *e, compare_entries);
}

/* Entries come sorted by rows, so that filling the columns in order leaves rows ascending. */
static void make_csc(ckt *c, const csc_entry *e)
{
    csc *a = &c->a;
    a->n = ckt_n(c);
    a->colptr = arena_array(&c->mem, int32_t, a->n + 1);
    for (size_t i = 0; i < vec_len(e); i++)
        if (csc_entry_row(e[i]) && csc_entry_col(e[i]))
            a->colptr[csc_entry_col(e[i])]++;
    for (int32_t j = 0; j < a->n; j++)
        a->colptr[j + 1] += a->colptr[j];
    a->row = arena_array(&c->mem, int32_t, csc_nnz(a));
    a->val = arena_array(&c->mem, double, csc_nnz(a) + 1);
    int32_t *next = NULL;
    vec_extend(next, a->n + 1);
    memcpy(next, a->colptr, (size_t)(a->n + 1) * sizeof *next);
    for (size_t i = 0; i < vec_len(e); i++)
        if (csc_entry_row(e[i]) && csc_entry_col(e[i]))
            a->row[next[csc_entry_col(e[i]) - 1]++] = csc_entry_row(e[i]) - 1;
    vec_free(next);
}

static void find_diagonal(ckt *c)
{
    c->diag_slot = arena_array(&c->mem, int32_t, c->a.n + 1);
    c->diag_slot[0] = -1;
    for (int32_t j = 0; j < c->a.n; j++) {
        c->diag_slot[j + 1] = -1;
        for (int32_t p = c->a.colptr[j]; p < c->a.colptr[j + 1]; p++)
            if (c->a.row[p] == j)
                c->diag_slot[j + 1] = p;
    }
}

static void place_form(ckt *c, const dev_group *g, dev_form *f)
{
    f->slot = arena_array(&c->mem, int32_t, (size_t)g->nb *(size_t)f->n_out);
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        int32_t *slot = &f->slot[(size_t)i * (size_t)f->n_out];
        for (int32_t k = 0; k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT)
                slot[k] = to[o->a];
            else if (is_matrix(o->kind))
                slot[k] = csc_slot(&c->a, csc_entry_of(to[o->a], to[o->b]));
        }
    }
}

void ckt_make_pattern(ckt *c, const csc_entry *e)
{
    make_csc(c, e);
    find_diagonal(c);
    for (size_t g = 0; g < vec_len(c->group); g++)
        for (int f = 0; f < MDL_N_FORM; f++)
            if (c->group[g].form[f].variant)
                place_form(c, &c->group[g], &c->group[g].form[f]);
    nat_place(&c->nat, &c->a, ckt_is_reactive(c));
    for (size_t i = 0; i < vec_len(c->fix); i++)
        c->fix[i].slot = c->diag_slot[c->fix[i].unknown];
}
