/* sim_part.c - files with the points of plots in memory. An analysis that takes longer than a
 * second writes its plot to a raw file of its own too, so that a kill loses as little as with a
 * result file. The file is removed with its plot, or at the end of the run. */
#include <string.h>
#include <unistd.h>

#include "sim_priv.h"
#include "vec.h"

enum { LOOK = 16 };               /* points between looks at the clock */
static const double PATIENCE = 1; /* s: shorter analyses are as soon done again */

static void drop(sim_part *p)
{
    (void)out_close(&p->file, NULL);
    unlink(p->path);
    vs_free(p->path);
}

static bool has_plot(const sim *s, const post_plot *plot)
{
    const post_set *set = s->opt.plots ? s->opt.plots : &s->plots;
    for (size_t i = 0; i < vec_len(set->plot); i++)
        if (set->plot[i] == plot)
            return true;
    return false;
}

/* Removes the files of plots that were destroyed. */
static void drop_old(sim *s)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(s->part); i++)
        if (has_plot(s, s->part[i].plot))
            s->part[n++] = s->part[i];
        else
            drop(&s->part[i]);
    if (s->part)
        vec_head_of(s->part)->len = n;
}

void sim_part_begin(sim *s)
{
    s->part_file = NULL;
    s->part_wait = s->plot && s->opt.part && !s->opt.out ? LOOK : 0;
    s->part_begun = vs_seconds();
}

/* Writes point k of the plot. */
static vs_status put_point(sim *s, int64_t k)
{
    const post_plot *p = s->plot;
    double *row = s->part_row;
    size_t n = 0;
    for (size_t i = 0; i < vec_len(p->vec); i++) {
        const post_vec *v = p->vec[i];
        const bool two = v->complex;
        row[n++] = v->v[two ? 2 * k : k];
        if (s->complex)
            row[n++] = two ? v->v[2 * k + 1] : 0;
    }
    return out_point(s->part_file, row);
}

/* Closes the file after an error; the analysis goes on without it. */
static void give_up(sim *s)
{
    s->part_file = NULL;
    s->part_wait = 0;
}

static void begin_file(sim *s)
{
    const post_plot *p = s->plot;
    const size_t n = vec_len(p->vec);
    sim_part part = {.plot = p};
    char *stem = vs_text("%s.%s", s->opt.part, p->name);
    give_up(s);
    drop_old(s);
    const vs_status none = n ? out_unique(&part.file, stem, &part.path) : VS_EIO;
    vs_free(stem);
    if (none)
        return;
    out_vector *col = NULL;
    for (size_t i = 0; i < n; i++)
        vec_push(col, (out_vector){p->vec[i]->name, p->vec[i]->type});
    vec_push(s->part, part);
    s->part_file = part.file;
    vs_free(s->part_row);
    s->part_row = vs_calloc(2 * n, sizeof *s->part_row);
    vs_status st = out_plot_begin(part.file, p->title, p->what, col, (int32_t)n, s->complex);
    vec_free(col);
    for (int64_t k = 0; k < p->vec[0]->n && !st; k++)
        st = put_point(s, k);
    s->part_wait = LOOK;
    if (st)
        give_up(s);
}

void sim_part_point(sim *s)
{
    if (s->part_file) {
        if (put_point(s, s->plot->vec[0]->n - 1))
            give_up(s); /* the disk is full: the run says so when it writes results */
        return;
    }
    if (--s->part_wait)
        return;
    s->part_wait = LOOK;
    if (vs_seconds() - s->part_begun > PATIENCE)
        begin_file(s);
}

void sim_part_flush(sim *s)
{
    if (s->part_file && out_plot_end(s->part_file))
        give_up(s);
}

void sim_long_work(void *user, bool begins)
{
    sim *s = user;
    if (begins && s->opt.out)
        out_flush(s->opt.out);
    if (begins && s->part_file)
        out_flush(s->part_file);
    s->opt.hook.long_work(s->opt.hook.user, begins);
}

void sim_part_end(sim *s, bool keep)
{
    for (size_t i = 0; i < vec_len(s->part); i++) {
        sim_part *p = &s->part[i];
        if (!keep) {
            drop(p);
            continue;
        }
        (void)out_close(&p->file, NULL);
        diag_warning(s->d, DIAG_NOWHERE,
                     "nothing wrote the results that there were; they are in '%s'", p->path);
        vs_free(p->path);
    }
    vec_free(s->part);
    vs_free(s->part_row);
    s->part_row = NULL;
    give_up(s);
}
