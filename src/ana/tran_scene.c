/* tran_scene.c - of a circuit whose parts only pinned unknowns join (sources, supplies; see
 * ckt_latent.h), the parts in which a cell has been awake: the scene. As long as it is small,
 * factors are those of its matrix. The rest of the circuit then needs none: no solution would reach
 * it. Where a cell outside of it wakes the scene becomes wider, and its factors are made anew. */
#include <string.h>

#include "tran_priv.h"

static void list_unknowns(tran_scene *s, const uint8_t *in, int32_t n, int32_t all)
{
    s->a.n = n;
    s->unknown = vs_malloc(sizeof *s->unknown * (size_t)(n + 1));
    s->column = vs_malloc(sizeof *s->column * (size_t)(all + 1));
    for (int32_t i = 0, at = 0; i <= all; i++) {
        s->column[i] = i > 0 && in[i] ? at : -1;
        if (s->column[i] >= 0)
            s->unknown[at++] = i;
    }
}

static void list_entries(tran_scene *s, const csc *whole)
{
    const int32_t n = s->a.n;
    int32_t most = 0, nnz = 0;
    for (int32_t j = 0; j < n; j++)
        most += whole->colptr[s->unknown[j]] - whole->colptr[s->unknown[j] - 1];
    s->a.colptr = vs_malloc(sizeof *s->a.colptr * (size_t)(n + 1));
    s->a.row = vs_malloc(sizeof *s->a.row * (size_t)(most + 1));
    s->a.val = vs_malloc(sizeof *s->a.val * (size_t)(most + 1));
    s->from = vs_malloc(sizeof *s->from * (size_t)(most + 1));
    for (int32_t j = 0; j < n; j++) {
        s->a.colptr[j] = nnz;
        for (int32_t k = whole->colptr[s->unknown[j] - 1]; k < whole->colptr[s->unknown[j]]; k++) {
            const int32_t row = s->column[whole->row[k] + 1];
            if (row < 0)
                continue;
            s->a.row[nnz] = row;
            s->from[nnz++] = k;
        }
    }
    s->a.colptr[n] = nnz;
}

/* Values of entries that no load reached since the last factors are those that it had there. */
static void take_values(tran_scene *s, const csc *whole)
{
    const int32_t nnz = csc_nnz(&s->a);
    for (int32_t k = 0; k < nnz; k++)
        s->a.val[k] = whole->val[s->from[k]];
}

/* What its factors cost counts as the circuit's, and so does what is known of them. */
static void move_counts(tran_scene *s, ana *a)
{
    lu_stat *to = &a->lu.stat, *from = &s->lu.stat;
    tran_move_counts(&s->lu, a);
    to->rcond = from->rcond;
    to->nnz_lu = from->nnz_lu;
    to->work = from->work;
    to->method = from->method;
}

void tran_scene_reset(tran_scene *s)
{
    tran_scene_end(s);
    s->spent = 0;
    s->wanted = false;
}

void tran_scene_end(tran_scene *s)
{
    void *const all[] = {s->a.colptr, s->a.row, s->a.val, s->from,  s->column, s->unknown,
                         s->in,       s->drop,  s->found, s->value, s->work};
    if (!tran_scene_is(s))
        return;
    lu_fini(&s->lu);
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    *s = (tran_scene){.spent = s->spent};
}

/* The unknowns of the last scene stay in the next one. */
bool tran_scene_begin(tran_scene *s, ana *a, int32_t n_all)
{
    uint8_t *in = vs_calloc((size_t)n_all + 1, 1);
    for (int32_t j = 0; j < s->a.n; j++)
        in[s->unknown[j]] = 1;
    tran_scene_end(s);
    const int32_t n = ckt_latent_parts(a->c, in);
    s->spent += n;
    if (n > n_all / 2 || s->spent > n_all) {
        vs_free(in);
        return false;
    }
    list_unknowns(s, in, n, n_all);
    list_entries(s, a->jac);
    vs_free(in);
    const size_t n1 = (size_t)n + 1;
    s->in = vs_calloc(n1, sizeof *s->in);
    s->drop = vs_calloc(n1, sizeof *s->drop);
    s->found = vs_malloc(n1 * sizeof *s->found);
    s->value = vs_malloc(n1 * sizeof *s->value);
    s->work = vs_malloc(n1 * sizeof *s->work);
    lu_init(&s->lu, &a->lu.opt);
    if (lu_analyze(&s->lu, &s->a) == VS_OK && tran_scene_factor(s, a) == VS_OK)
        return true;
    tran_scene_end(s);
    return false;
}

vs_status tran_scene_factor(tran_scene *s, ana *a)
{
    take_values(s, a->jac);
    const vs_status st = lu_factor(&s->lu, &s->a);
    move_counts(s, a);
    return st;
}

vs_status tran_scene_refactor(tran_scene *s, ana *a, const lu_part *p)
{
    take_values(s, a->jac);
    const vs_status st = lu_refactor_part(&s->lu, &s->a, p);
    move_counts(s, a);
    return st;
}

void tran_scene_solve(tran_scene *s, ana *a, lu_part *p, const double *b, double *x)
{
    lu_solve_part(&s->lu, p, b, x);
    move_counts(s, a);
}
