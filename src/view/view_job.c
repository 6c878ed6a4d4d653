/* view_job.c - expressions that take several answers: what is done of them until the next one. */
#include <string.h>

#include "vec.h"
#include "view_priv.h"

static void drop(view_job *j)
{
    vs_free(j->expr);
    vec_free(j->site);
    vec_free(j->x);
    vec_free(j->y);
    vec_free(j->im);
    *j = (view_job){0};
}

void view_forget_jobs(view_file *f)
{
    for (int k = 0; k < VIEW_JOBS; k++)
        drop(&f->job[k]);
}

/* Whether two ends of a window are the same; NaN: that of the axis. */
static bool same(double a, double b) { return a == b || (a != a && b != b); }

view_job *view_job_of(view_file *f, size_t plot, int64_t all, const view_question *q)
{
    for (int k = 0; k < VIEW_JOBS; k++) {
        view_job *j = &f->job[k];
        if (j->expr && j->plot == plot && j->all == all && j->columns == q->columns &&
            same(j->x0, q->x0) && same(j->x1, q->x1) && !strcmp(j->expr, q->expr))
            return j;
    }
    return NULL;
}

view_job *view_job_new(view_file *f, size_t plot, int64_t all, const view_question *q)
{
    view_job *j = &f->job[f->next_job];
    f->next_job = (f->next_job + 1) % VIEW_JOBS;
    drop(j);
    *j = (view_job){.expr = vs_strdup(q->expr),
                    .plot = plot,
                    .all = all,
                    .columns = q->columns,
                    .x0 = q->x0,
                    .x1 = q->x1};
    return j;
}

static void keep(double **to, const double *from, int64_t n)
{
    vec_clear(*to);
    for (int64_t k = 0; k < n && from; k++)
        vec_push(*to, from[k]);
}

void view_job_keep(view_job *j, const view_progress *at, const post_carry *c, const view_thin *t)
{
    j->at = *at;
    vec_clear(j->site);
    for (size_t k = 0; k < vec_len(c->site); k++)
        vec_push(j->site, c->site[k]);
    keep(&j->x, t->x, t->n);
    keep(&j->y, t->y, t->n);
    keep(&j->im, t->complex ? t->im : NULL, t->n);
    j->type = t->type;
    j->complex = t->complex;
}

static void put(double *to, const double *from)
{
    if (vec_len(from))
        memcpy(to, from, vec_len(from) * sizeof *from);
}

void view_job_take(const view_job *j, view_progress *at, post_carry *c, view_thin *t)
{
    *at = j->at;
    post_carry_copy(c, j->site, vec_len(j->site));
    put(t->x, j->x);
    put(t->y, j->y);
    put(t->im, j->im);
    t->n = (int64_t)vec_len(j->x);
    t->type = j->type;
    t->complex = j->complex;
}

void view_job_end(view_job *j) { drop(j); }
