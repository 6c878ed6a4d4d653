/* ctl_image.c - what the interpreter has, as an image (image.h): results and plots, and of a block
 * also its variables and the statement that is under way. A block that goes on begins with that
 * statement: nothing in front of it runs again. */
#include <string.h>

#include "ctl_priv.h"

static const double MOST_TURNS = 1e300;

static void result_image(ctl *c, ctl_result *r, image *im)
{
    r->analysis = image_word(im, c->names, r->analysis);
    r->plot = image_word(im, c->names, r->plot);
    r->m.name = image_word(im, c->names, r->m.name);
    r->m.why = image_name(im, c->names, r->m.why);
    IMAGE_ONE(im, r->m.ok);
    IMAGE_ONE(im, r->m.value);
    IMAGE_WITHIN(im, r->m.n_part, 0, VS_COUNT(r->m.part));
    for (int k = 0; k < r->m.n_part; k++)
        r->m.part[k] = image_word(im, c->names, r->m.part[k]);
    IMAGE_ONE(im, r->m.part_value);
}

static void var_image(ctl *c, ctl_var *v, image *im)
{
    v->name = image_word(im, c->names, v->name);
    const size_t n = image_count(im, vec_len(v->word), 1);
    if (im->giving)
        vec_extend(v->word, n);
    for (size_t i = 0; i < n; i++) {
        char *text = image_text(im, im->giving ? NULL : v->word[i]);
        if (!im->giving)
            continue;
        v->word[i] = text ? text : vs_strdup("");
        if (!text)
            image_refuse(im);
    }
}

static void names_image(ctl *c, const char ***list, image *im)
{
    const size_t n = image_count(im, vec_len(*list), 1);
    if (im->giving)
        vec_extend(*list, n);
    for (size_t i = 0; i < n; i++)
        (*list)[i] = image_word(im, c->names, im->giving ? NULL : (*list)[i]);
}

static void vars_image(ctl *c, image *im)
{
    const size_t n = image_count(im, vec_len(c->var), 1);
    if (im->giving) {
        ctl_free_vars(c);
        c->var = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (im->giving)
            vec_push(c->var, (ctl_var){0});
        var_image(c, &c->var[i], im);
    }
}

static void functions_image(ctl *c, image *im)
{
    const size_t n = image_count(im, vec_len(c->def), 1);
    for (size_t i = 0; i < n; i++) {
        if (im->giving)
            vec_push(c->def, (post_def){0});
        c->def[i].name = image_word(im, c->names, c->def[i].name);
        c->def[i].text = image_word(im, c->names, c->def[i].text);
        names_image(c, &c->def[i].arg, im);
    }
    c->e.def = c->def;
}

/* The number of errors before something: the image has how many came since. */
static void errors_image(const ctl *c, int *before, image *im)
{
    int since = c->d->n_error - *before;
    IMAGE_COUNTED(im, since);
    *before = c->d->n_error - since;
}

/* Copies the present statements to the image, or from it those that the block begins with. */
static void place_image(ctl *c, image *im)
{
    const size_t n = image_count(im, vec_len(c->where), sizeof(ctl_frame) / 2);
    for (size_t i = 0; i < n; i++) {
        ctl_frame none = {0}, *f = im->giving ? &none : &c->where[i];
        IMAGE_ONE(im, f->at);
        IMAGE_ONE(im, f->other);
        IMAGE_WITHIN(im, f->turn, 0, MOST_TURNS);
        IMAGE_WITHIN(im, f->most, -MOST_TURNS, MOST_TURNS);
        IMAGE_COUNTED(im, f->n_failed);
        errors_image(c, &f->n_error, im);
        names_image(c, &f->word, im);
        if (im->giving)
            vec_push(c->back, none);
    }
}

static void block_image(ctl *c, image *im)
{
    sim_changes_image(c->s, im);
    if (im->wrong)
        return;
    vars_image(c, im);
    functions_image(c, im);
    place_image(c, im);
    IMAGE_WITHIN(im, c->worst, VS_EUNSUPPORTED, VS_PAUSED);
    IMAGE_ONE(im, c->seed);
    IMAGE_ONE(im, c->e.degrees);
    IMAGE_COUNTED(im, c->n_picture);
    IMAGE_COUNTED(im, c->n_source);
    IMAGE_ONE(im, c->n_turn);
    IMAGE_ONE(im, c->spent);
    errors_image(c, &c->jump_errors, im);
    IMAGE_COUNTED(im, c->n_jump_failed);
}

/* The plot of constants is one of the set, and commands may add to it. */
static void plots_image(ctl *c, image *im)
{
    post_set *set = sim_plots(c->s);
    if (im->giving)
        post_plot_destroy(set, c->constants);
    else
        for (size_t i = 0; i < vec_len(set->plot); i++)
            post_fetch_all(set->plot[i]);
    post_image(set, im);
    c->constants = im->giving ? post_set_find(set, "const") : c->constants;
    if (!c->constants && !im->wrong)
        im->wrong = "its plots are not those of a run";
}

void ctl_image(ctl *c, image *im)
{
    const size_t n = image_count(im, vec_len(c->result), 1);
    if (im->giving)
        for (size_t i = 0; i < n; i++)
            vec_push(c->result, (ctl_result){0});
    for (size_t i = 0; i < vec_len(c->result); i++)
        result_image(c, &c->result[i], im);
    if (!im->giving && c->flow) {
        image flow = image_take();
        post_flow_image(c->flow, &flow);
        vec_free(c->flow_image); /* of a run that was kept before its first points: empty */
        c->flow_image = flow.bytes;
    }
    IMAGE_VEC(im, c->flow_image);
    if (!im->giving && c->flow) /* a copy from the image waits for the first points of this process
                                   */
        vec_free(c->flow_image);
    IMAGE_ONE(im, c->first);
    IMAGE_WITHIN(im, c->cards, VS_EUNSUPPORTED, VS_PAUSED);
    IMAGE_ONE(im, c->n_analysis);
    IMAGE_ONE(im, c->tran);
    plots_image(c, im);
    if (ctl_has_block(c->s) && !im->wrong)
        block_image(c, im);
}

const char *ctl_unkept(const ctl *c)
{
    if (c->n_pause || vec_len(c->stop) || c->run.step)
        return "the block may make its transient pause (stop, step)";
    return NULL;
}

bool ctl_goes_back(const ctl *c) { return c->n_back < vec_len(c->back); }

void ctl_free_place(ctl *c)
{
    for (size_t i = 0; i < vec_len(c->back); i++)
        vec_free(c->back[i].word);
    vec_free(c->back);
    vec_free(c->where);
}
