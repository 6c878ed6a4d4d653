/* rep_steps.c - the steps of a run as a result file, for `vsim view` (docs/profile.md). */
#include <errno.h>
#include <math.h>

#include "out.h"
#include "rep.h"

struct rep_steps {
    diag *d;
    const char *path, *title;
    out_file *f;
    bool plot;                           /* a plot is open */
    double last;                         /* s, of its last point */
    double rejected, newton, iterations; /* since that point */
    vs_status st;
};

rep_steps *rep_steps_open(diag *d, const char *path, const char *title)
{
    rep_steps *s = vs_calloc(1, sizeof *s);
    *s = (rep_steps){.d = d, .path = path, .title = title};
    if (!out_open(&s->f, path, OUT_RAW))
        return s;
    diag_error(d, DIAG_NOWHERE, "the steps cannot be written to '%s': %s", path, files_why(errno));
    vs_free(s);
    return NULL;
}

/* Begins a plot for a transient that begins, perhaps anew. */
static void begin_plot(rep_steps *s)
{
    static const out_vector vec[] = {{"time", "time"},         {"step", "time"},
                                     {"iterations", "notype"}, {"error", "notype"},
                                     {"rejected", "notype"},   {"not_converged", "notype"}};
    if (s->plot && !s->st)
        s->st = out_plot_end(s->f);
    if (!s->st)
        s->st = out_plot_begin(s->f, s->title, "Step History", vec, VS_COUNT(vec), false);
    s->plot = true;
}

void rep_steps_see(rep_steps *s, const ana_step *step, int iterations)
{
    if (step->is_static)
        return;
    s->iterations += iterations;
    if (step->verdict >= ANA_STEP_LTE) {
        s->rejected++;
        s->newton += step->verdict == ANA_STEP_NEWTON;
        return;
    }
    /* a step goes on from the last point, or is the first one of another transient */
    if (!s->plot || step->t <= s->last || step->t - step->h < s->last - 1e-6 * step->h)
        begin_plot(s);
    const double row[] = {step->t, step->h, s->iterations, step->ratio, s->rejected, s->newton};
    if (!s->st)
        s->st = out_point(s->f, row);
    s->last = step->t;
    s->rejected = s->newton = s->iterations = 0;
}

vs_status rep_steps_close(rep_steps **own)
{
    rep_steps *s = *own;
    int why = 0;
    if (s->plot && !s->st)
        s->st = out_plot_end(s->f);
    const vs_status st = out_close(&s->f, &why);
    const bool bad = st || s->st;
    if (bad)
        diag_error(s->d, DIAG_NOWHERE, "the steps could not be written to '%s': %s", s->path,
                   files_why(why));
    vs_free(s);
    *own = NULL;
    return bad ? VS_EIO : VS_OK;
}
