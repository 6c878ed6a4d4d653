/* run_checkpoint.c - checkpoints of a deck's transients, and runs that go on from one.
 * A checkpoint has, in this order: how far the result file is, the results of the analyses before,
 * the transient itself (sim_tran_image). A run that goes on reads each part when it has made the
 * object that the part belongs to. docs/checkpoint.md tells what users see. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "run_priv.h"
#include "vec.h"

static const double MINUTE = 60; /* s */

static bool has_results(const run *r) { return sim_opts(r->sim)->out != NULL; }

/* Path of the checkpoint: beside the results, or in the current folder if there are none. */
const char *run_checkpoint_path(run *r)
{
    return arena_printf(&r->mem, "%s.checkpoint", r->results ? r->results : run_deck_name(r));
}

/* -- keeping -- */

static bool is_due(void *user, bool ending)
{
    run *r = user;
    if (ending)
        return r->j->checkpoint;
    if (r->j->keep && r->j->keep(r->j->user))
        return true;
    return r->j->checkpoint && r->j->minutes > 0 &&
           vs_coarse_seconds() - r->kept_at >= MINUTE * r->j->minutes;
}

/* The first error of the run: the exit code at the end may be that of a failure before the
 * checkpoint, whose message another process gave, so a run that goes on says it again. */
static void error_image(run *r, image *im)
{
    diag_span at = r->d.first_at;
    char *text = image_text(im, r->d.first);
    IMAGE_ONE(im, at);
    if (!im->giving)
        return;
    if (text && !im->wrong) {
        diag_error(&r->d, diag_is_place(&r->d, at) ? at : DIAG_NOWHERE, "%s", text);
        diag_note(&r->d, DIAG_NOWHERE, "this was before the checkpoint");
    }
    vs_free(text);
}

static const char *put_together(run *r, image *im)
{
    bool results = has_results(r);
    int number = r->n_kept + 1;
    const char *why = ctl_unkept(r->ctl);
    if (why)
        return why;
    IMAGE_ONE(im, number);
    IMAGE_ONE(im, results);
    if (results && out_image(sim_opts(r->sim)->out, im))
        return errno == ESPIPE ? "the results go to a pipe" : strerror(errno);
    error_image(r, im);
    ctl_image(r->ctl, im);
    if (im->wrong)
        return im->wrong;
    return sim_tran_image(r->sim, im) ? im->wrong : NULL;
}

/* Writes a checkpoint. If that fails, the run goes on and tries again when the next one is due. */
static void keep(void *user)
{
    run *r = user;
    image im = image_take();
    const double t0 = vs_seconds();
    run_say(r); /* an error that is not told yet is in the checkpoint, too */
    const char *path = run_checkpoint_path(r), *why = put_together(r, &im);
    if (!why)
        run_undo_first(r);
    if (!why && sim_checkpoint_write(&im, path))
        why = files_why(errno);
    r->kept_at = vs_coarse_seconds();
    if (why)
        diag_warning(&r->d, DIAG_NOWHERE, "no checkpoint could be written to '%s': %s", path, why);
    else
        run_undo_kept(r);
    if (!why && r->j->streams.notes)
        fprintf(r->log, "checkpoint '%s': %zu bytes, %.3f s\n", path, image_size(&im),
                vs_seconds() - t0);
    vec_free(im.bytes);
    run_say(r);
}

static vs_status refuse(run *r, const char *what)
{
    diag_error(&r->d, DIAG_NOWHERE, "--restart: %s", what);
    return VS_EINPUT;
}

vs_status run_checkpoint_begin(run *r, bool family)
{
    const bool wanted = r->j->checkpoint || r->j->restart;
    if (family && r->j->restart)
        return refuse(r, "the deck has a sweep, which --resume goes on with");
    if (family)
        return VS_OK; /* src/swp keeps its points */
    sim_opt *o = sim_opts(r->sim);
    o->hook.due = is_due;
    o->hook.keep = keep;
    o->hook.kept = wanted;
    r->kept_at = vs_coarse_seconds();
    return VS_OK;
}

void run_checkpoint_end(run *r, vs_status st)
{
    const char *path = run_checkpoint_path(r);
    if (st == VS_OK && (r->kept || r->j->restart))
        run_undo_end(r); /* all is done */
    else if (st == VS_STOP && r->kept && !r->j->streams.quiet)
        fprintf(r->log, "stopped; to go on: the same command with --restart %s\n", path);
}

/* -- going on -- */

vs_status run_restart_read(run *r)
{
    const char *why;
    if (!r->j->restart)
        return VS_OK;
    const vs_status st = sim_checkpoint_read(&r->image, &r->checkpoint, r->j->restart, &why);
    if (st)
        diag_error(&r->d, DIAG_NOWHERE, "checkpoint '%s': %s", r->j->restart, why);
    return st;
}

static vs_status no_fit(run *r, const char *why)
{
    diag_error(&r->d, DIAG_NOWHERE, "checkpoint '%s' does not fit: %s", r->j->restart, why);
    return VS_EINPUT;
}

vs_status run_restart_results(run *r)
{
    bool results = has_results(r);
    if (!r->j->restart)
        return VS_OK;
    IMAGE_ONE(&r->image, r->n_kept);
    IMAGE_SAME(&r->image, results,
               results ? "the run that wrote it had no results" : "it goes on with results");
    vs_status st = VS_OK;
    if (!r->image.wrong && results)
        st = out_image(sim_opts(r->sim)->out, &r->image);
    if (st == VS_EIO)
        diag_error(&r->d, DIAG_NOWHERE, "the results '%s' cannot be gone on with: %s", r->results,
                   strerror(errno));
    return r->image.wrong ? no_fit(r, r->image.wrong) : st;
}

vs_status run_restart_deck(run *r)
{
    if (!r->j->restart)
        return VS_OK;
    error_image(r, &r->image);
    ctl_image(r->ctl, &r->image);
    if (r->image.wrong)
        return no_fit(r, r->image.wrong);
    sim_opts(r->sim)->take_up = &r->image;
    return run_undo(r);
}

vs_status run_restart_end(run *r)
{
    if (!sim_opts(r->sim)->take_up)
        return VS_OK;
    sim_opts(r->sim)->take_up = NULL;
    return no_fit(r, "the run does not come to its transient");
}
