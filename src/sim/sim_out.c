/* sim_out.c - results of the analysis under way: to the result file, to a plot in memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out_name.h"
#include "sim_priv.h"
#include "vec.h"

#include "hot.h"

double sim_value(const sim *s, const elab_out *o, const double *x)
{
    return o->is_detail ? s->detail_value[o->hi] : o->factor * (x[o->hi] - x[o->lo]);
}

static double imaginary(const sim *s, const elab_out *o, const double *xi)
{
    return o->is_detail ? s->detail_imag[o->hi] : xi ? o->factor * (xi[o->hi] - xi[o->lo]) : 0;
}

/* -- values inside devices: evaluated at the points that are written, once for each device -- */

static void number_details(sim *s, elab_out *v)
{
    for (size_t i = 0; i < vec_len(v); i++)
        if (v[i].is_detail) {
            v[i].hi = (int32_t)vec_len(s->detail);
            vec_push(s->detail, v[i].detail);
        }
}

static void find_details(sim *s)
{
    ckt_kept_free(&s->kept);
    vec_clear(s->detail);
    vec_clear(s->detail_value);
    vec_clear(s->detail_imag);
    number_details(s, s->vec);
    number_details(s, s->mem_vec);
    vec_extend(s->detail_value, vec_len(s->detail));
    vec_extend(s->detail_imag, vec_len(s->detail));
}

ckt_env sim_env(const sim *s, double time)
{
    return (ckt_env){.mode = s->transient ? CKT_TRAN : CKT_STATIC,
                     .time = s->transient ? time : 0,
                     .srcfact = 1,
                     .iter = 1,
                     .gmin = s->option.gmin};
}

/* As many values are worth kernels, which may have to be compiled. */
static const double MANY = 4096;

vs_status sim_details_at(sim *s, ckt_kept **kept, double axis, const double *x, const ckt_detail *d,
                         size_t n, double *value)
{
    const ckt_env env = sim_env(s, axis);
    if (!*kept && s->n_same * (double)n >= MANY)
        *kept = ckt_kept_new(s->ckt, s->transient, d, n);
    return *kept ? ckt_kept_values(*kept, &env, x, value)
                 : ckt_details(s->ckt, &env, x, d, n, value);
}

static vs_status update_details(sim *s, double time, const double *x)
{
    const size_t n = vec_len(s->detail);
    if (!n)
        return VS_OK;
    const ckt_env env = sim_env(s, time);
    vs_status st =
        sim_details_at(s, &s->kept, time, s->op_x ? s->op_x : x, s->detail, n, s->detail_value);
    for (size_t i = 0; i < n && !st; i++) {
        s->detail_imag[i] = 0;
        if (s->omega > 0)
            st = ckt_detail_phasor(s->ckt, &env, s->op_x, s->z, s->omega, &s->detail[i],
                                   &s->detail_value[i], &s->detail_imag[i]);
    }
    return st;
}

/* Keeps a vector, if none of its name is: `kept` has their names. */
static void keep(sim *s, map *kept, const elab_out *o)
{
    if (map_get(kept, map_key(o->name), 0))
        return;
    map_set(kept, map_key(o->name), 1);
    vec_push(s->mem_vec, *o);
}

/* The numbers of those of all that `name` means, ascending; a vec. */
static int32_t *meant(const elab_out *all, const post_index *x, const char *name)
{
    char own[OUT_NAME];
    const char *form[2] = {name, out_own_name(own, name)};
    int32_t *v = NULL;
    for (size_t k = 0; k < VS_COUNT(form); k++)
        for (int32_t i = post_index_last(x, form[k]); i >= 0; i = x->before[i])
            if (post_name_matches(all[i].name, name))
                vec_push(v, i);
    if (v)
        qsort(v, vec_len(v), sizeof *v, vec_by_number);
    return v;
}

/* Keeps the vectors of each name; the deck's .save does not matter to them. */
static void keep_named(sim *s, map *kept, const char *const *name, const elab_out *all)
{
    post_index x = {0};
    for (size_t i = 0; i < vec_len(all) && vec_len(name); i++)
        post_index_add(&x, all[i].name);
    for (size_t k = 0; k < vec_len(name); k++) {
        int32_t *v = meant(all, &x, name[k]);
        for (size_t i = 0; i < vec_len(v); i++)
            keep(s, kept, &all[v[i]]);
        for (size_t i = 0; i < vec_len(all) && !strcmp(name[k], "all"); i++)
            keep(s, kept, &all[i]);
        vec_free(v);
    }
    post_index_clear(&x);
}

/* Keeps i(r1) and its like of commands `save`, which are among the vectors as those of .probe. */
static void keep_probes(sim *s, map *kept)
{
    const char **name = NULL;
    for (size_t k = 0; k < vec_len(s->opt.save); k++)
        if (strcmp(s->opt.save[k], "all") != 0)
            vec_push(name, s->opt.save[k]);
    keep_named(s, kept, name, s->vec);
    vec_free(name);
}

/* Messages of what is only tried are not shown. */
static elab_out *try_outputs(sim *s, flat_save *save)
{
    flat f = s->flat;
    elab_out *v = NULL;
    diag quiet;
    diag_quiet_init(&quiet, s->d);
    f.save = save;
    elab_outputs(&v, s->ckt, &f, &quiet, s->names, true);
    diag_quiet_fini(&quiet);
    return v;
}

/* "@m1[gm]" as .save has it; false: the name is of another kind. */
static bool detail_name(sim *s, const char *name, flat_save *o)
{
    const char *open = name[0] == '@' ? strchr(name, '[') : NULL;
    if (!open)
        return false;
    *o = (flat_save){.what = FLAT_SAVE_PARAM,
                     .node = {-1, -1},
                     .text = name,
                     .span = DIAG_NOWHERE,
                     .device = str_intern_lower(s->names, name + 1, (size_t)(open - name) - 1),
                     .param = str_intern_lower(s->names, open + 1, strcspn(open + 1, "]"))};
    o->device = sim_element_name(s, o->device);
    return true;
}

/* What .probe gives: "i(r1)", where the element has no current of its own among the unknowns,
 * "i(m1:d)", "m1:power". The parameter is what begins with the colon. */
static bool probe_name(sim *s, const char *name, flat_save *o)
{
    const char *colon = strrchr(name, ':');
    const size_t n = strlen(name), at = colon ? (size_t)(colon - name) : n;
    const bool current = !str_ncasecmp(name, "i(", 2) && name[n - 1] == ')',
               power = !current && colon && !str_casecmp(colon, ":power");
    if (!current && !power)
        return false;
    const size_t from = current ? 2 : 0, to = n - current, end = at < to ? at : to;
    *o = (flat_save){.device = str_intern_lower(s->names, name + from, end - from),
                     .param = str_intern_lower(s->names, name + end, to - end)};
    o->device = sim_element_name(s, o->device);
    return true;
}

bool sim_meter(sim *s, const char *name)
{
    flat_save o;
    if (!detail_name(s, name, &o) && !probe_name(s, name, &o))
        return false;
    for (size_t i = 0; i + 1 < vec_len(s->deck.metered); i += 2)
        if (s->deck.metered[i] == o.device && s->deck.metered[i + 1] == o.param)
            return false;
    const char *dot = strrchr(o.device, '.');
    const char letter = dot ? dot[1] : *o.device;
    if (!*o.param ? !flat_has_no_branch(letter)
                  : *o.param != ':' && !flat_is_metered(letter, o.param))
        return false;
    vec_push(s->deck.metered, o.device);
    vec_push(s->deck.metered, o.param);
    sim_deep(s, "save");
    return true;
}

const char *sim_lack(sim *s, const char *name)
{
    flat_save o;
    if (!probe_name(s, name, &o))
        return NULL;
    for (size_t i = 0; i < vec_len(s->flat.lack); i++)
        if (s->flat.lack[i].device == o.device && s->flat.lack[i].param == o.param)
            return s->flat.lack[i].note;
    return NULL;
}

/* Keeps what of `name` are values inside devices. */
static void keep_details(sim *s, map *kept, const char *const *name)
{
    flat_save *save = NULL, o;
    for (size_t k = 0; k < vec_len(name); k++)
        if (detail_name(s, name[k], &o))
            vec_push(save, o);
    elab_out *v = save ? try_outputs(s, save) : NULL;
    for (size_t i = 0; i < vec_len(v); i++)
        if (v[i].is_detail)
            keep(s, kept, &v[i]);
    vec_free(v);
    vec_free(save);
}

/* Values of n details at the last point of the last analysis; false: it has none. */
static bool values_now(sim *s, const ckt_detail *d, size_t n, double *value)
{
    if (!s->ckt || s->stale)
        return false;
    const bool in_time = vec_len(s->last) == (size_t)ckt_n(s->ckt) + 1;
    if (!in_time && (!s->x_valid || s->n_x != ckt_n(s->ckt)))
        return false;
    const bool transient = s->transient;
    s->transient = in_time;
    const ckt_env env = sim_env(s, s->last_time);
    s->transient = transient;
    return ckt_details(s->ckt, &env, in_time ? s->last : s->x, d, n, value) == VS_OK;
}

bool sim_device_value(sim *s, const char *name, double *value)
{
    flat_save *save = NULL, o;
    if (!s->ckt || s->stale || !detail_name(s, name, &o))
        return false;
    vec_push(save, o);
    elab_out *v = try_outputs(s, save);
    const bool ok =
        vec_len(v) && v[0].is_detail && values_now(s, &v[0].detail, 1, value) && !isnan(*value);
    vec_free(v);
    vec_free(save);
    return ok;
}

sim_detail *sim_device_computed(sim *s, const char *device)
{
    const char **name = s->ckt ? ckt_detail_names(s->ckt, device) : NULL;
    ckt_detail *d = NULL, one;
    sim_detail *v = NULL;
    for (size_t i = 0; i < vec_len(name); i++)
        if (ckt_find_detail(s->ckt, device, name[i], &one) == CKT_FOUND &&
            elab_is_computed(name[i], &one)) {
            vec_push(d, one);
            vec_push(v, ((sim_detail){.name = name[i], .unit = one.unit}));
        }
    double *value = vs_calloc(vec_len(d) + 1, sizeof *value);
    if (!d || !values_now(s, d, vec_len(d), value))
        vec_clear(v);
    for (size_t i = 0; i < vec_len(v); i++)
        v[i].value = value[i];
    vs_free(value);
    vec_free(d);
    vec_free(name);
    return v;
}

static void choose_kept(sim *s)
{
    vec_free(s->mem_vec);
    if (s->opt.keep == SIM_KEEP_NOTHING)
        return;
    flat all_saved = s->flat;
    all_saved.save = NULL;
    elab_out *all = NULL;
    elab_outputs(&all, s->ckt, &all_saved, s->d, s->names, true);
    /* commands `save` are instead of the deck's cards; in ngspice's manner they add to them */
    const bool cards = !vec_len(s->opt.save) || (s->opt.manner.ngspice && vec_len(s->flat.save));
    map kept = {0};
    for (size_t i = 0; i < vec_len(s->vec) && s->opt.keep == SIM_KEEP_ALL && cards; i++) {
        vec_push(s->mem_vec, s->vec[i]);
        map_set(&kept, map_key(s->vec[i].name), 1);
    }
    if (s->opt.keep == SIM_KEEP_ALL) {
        keep_named(s, &kept, s->opt.save, all);
        keep_probes(s, &kept);
    }
    keep_named(s, &kept, s->opt.keep_name, all);
    keep_named(s, &kept, s->opt.keep_name, s->vec); /* also those of .probe */
    keep_details(s, &kept, s->opt.keep_name);
    if (s->opt.keep == SIM_KEEP_ALL)
        keep_details(s, &kept, s->opt.save);
    map_free(&kept);
    vec_free(all);
}

/* A transient that another process began has its plot already, which came with the checkpoint. */
static vs_status fits_plot(sim *s, const out_vector *kept, int32_t n)
{
    const post_plot *p = s->plot;
    bool same = s->opt.keep == SIM_KEEP_NOTHING || (p && vec_len(p->vec) == (size_t)n);
    for (int32_t i = 0; p && same && i < n; i++)
        same = !strcmp(p->vec[i]->name, kept[i].name);
    if (!same)
        diag_error(s->d, DIAG_NOWHERE, "the checkpoint does not fit: it keeps other vectors");
    return same ? VS_OK : VS_EINPUT;
}

static vs_status open_plots(sim *s, const char *word, const char *what, const out_vector *v,
                            int32_t n, const out_vector *kept, int32_t n_kept, const sim_axis *axis)
{
    vs_free(s->row);
    s->row = vs_calloc(2 * ((size_t)n + 1), sizeof *s->row);
    s->unit = axis ? axis->unit : NULL;
    s->own_axis = false;
    s->plot = NULL;
    if (s->opt.take_up) {
        s->plot = s->opt.keep != SIM_KEEP_NOTHING ? sim_plots(s)->current : NULL;
        sim_part_begin(s);
        return fits_plot(s, kept, n_kept);
    }
    if (s->opt.keep != SIM_KEEP_NOTHING) {
        s->plot = post_plot_new(sim_plots(s), word, s->flat.title, what);
        for (int32_t i = 0; i < n_kept; i++) {
            bool is_axis = axis && !i;
            post_vec *p = post_plot_add(sim_plots(s), s->plot, kept[i].name, kept[i].type,
                                        s->complex && !is_axis);
            if (is_axis)
                s->plot->scale = p;
        }
    }
    sim_part_begin(s);
    if (!s->opt.out)
        return VS_OK;
    char *name =
        s->opt.label && *s->opt.label ? vs_text("%s, %s", what, s->opt.label) : vs_strdup(what);
    const vs_status st = out_plot_begin(s->opt.out, s->flat.title, name, v, n, s->complex);
    vs_free(name);
    return st;
}

static out_vector *columns_of(const elab_out *v, const sim_axis *axis)
{
    out_vector *c = NULL;
    if (axis)
        vec_push(c, (out_vector){axis->name, axis->type});
    for (size_t i = 0; i < vec_len(v); i++)
        vec_push(c, (out_vector){v[i].name, elab_out_type(&v[i])});
    return c;
}

vs_status sim_plot_begin(sim *s, const char *word, const char *what, const sim_axis *axis,
                         bool complex)
{
    vec_free(s->vec);
    s->complex = complex;
    elab_outputs(&s->vec, s->ckt, &s->flat, s->d, s->names, true);
    choose_kept(s);
    find_details(s);
    s->transient = !strcmp(word, "tran");
    s->n_same = s->transient ? INFINITY : 1;
    s->op_x = s->z = NULL;
    s->omega = 0;
    out_vector *file = columns_of(s->vec, axis), *kept = columns_of(s->mem_vec, axis);
    const vs_status st =
        open_plots(s, word, what, file, (int32_t)vec_len(file), kept, (int32_t)vec_len(kept), axis);
    sim_limits_begin(s, word, axis ? axis->name : NULL);
    vec_free(file);
    vec_free(kept);
    return st;
}

/* Option interp: the row at multiples of tstep from tstart on, on the straight line from the point
 * before. */
static vs_status write_row(sim *s, double time, size_t n)
{
    sim_grid *g = &s->grid;
    if (!(g->step > 0))
        return out_point(s->opt.out, s->row);
    if (!g->before)
        g->before = vs_malloc(2 * n * sizeof *g->before);
    double *line = g->before + n;
    vs_status st = VS_OK;
    for (double t; !st && (t = fma((double)g->next, g->step, g->start)) <= time + 1e-9 * g->step;
         g->next++) {
        const bool here = fabs(t - time) <= 1e-9 * g->step;
        const double part = here ? 1 : (t - g->before[0]) / (time - g->before[0]);
        for (size_t i = 0; i < n; i++)
            line[i] = here ? s->row[i] : g->before[i] + part * (s->row[i] - g->before[i]);
        line[0] = here ? time : t;
        st = out_point(s->opt.out, line);
    }
    memcpy(g->before, s->row, n * sizeof *s->row);
    return st;
}

void sim_grid_begin(sim *s, const flat_ana *a)
{
    sim_grid_end(s);
    if (s->option.interp)
        s->grid = (sim_grid){.start = a->tstart, .step = a->tstep};
}

void sim_grid_end(sim *s)
{
    vs_free(s->grid.before);
    s->grid = (sim_grid){0};
}

/* The plot in memory, if it is only passed on (sim_opt.piece). */
static void pass_piece(sim *s)
{
    if (!s->transient || !s->opt.piece || !s->plot->scale || s->plot->scale->n < SIM_PIECE)
        return;
    if (!s->opt.piece(s->opt.piece_user, s->plot))
        s->opt.piece = NULL;
    for (size_t i = 0; s->opt.piece && i < vec_len(s->plot->vec); i++)
        s->plot->vec[i]->n = 0;
}

VS_HOT static vs_status keep_point(sim *s, double axis, const double *x, const double *xi)
{
    size_t n = 0, k = 0;
    s->st.written += s->opt.out || s->plot;
    vs_status st = update_details(s, axis, x);
    if (st)
        return st;
    if (s->plot) {
        pass_piece(s);
        if (s->unit)
            post_vec_push(s->plot->vec[k++], axis, 0);
        for (size_t i = 0; i < vec_len(s->mem_vec); i++)
            post_vec_push(s->plot->vec[k++], sim_value(s, &s->mem_vec[i], x),
                          imaginary(s, &s->mem_vec[i], xi));
        if (s->part_wait)
            sim_part_point(s);
    }
    if (!s->opt.out)
        return VS_OK;
    if (s->unit) {
        s->row[n++] = axis;
        if (s->complex)
            s->row[n++] = 0;
    }
    double *to = s->row + n;
    for (const elab_out *o = s->vec, *end = o + vec_len(o); o < end; o++) {
        *to++ = sim_value(s, o, x);
        if (s->complex)
            *to++ = imaginary(s, o, xi);
    }
    return write_row(s, axis, (size_t)(to - s->row));
}

void sim_plot_again(sim *s, post_plot *p, double axis, const double *x)
{
    size_t k = 0;
    post_vec_push(p->vec[k++], axis, 0);
    for (size_t i = 0; i < vec_len(s->mem_vec); i++)
        post_vec_push(p->vec[k++], sim_value(s, &s->mem_vec[i], x), 0);
}

vs_status sim_plot_point(sim *s, double axis, const double *x, const double *xi)
{
    const sim_hook *h = &s->opt.hook;
    if (s->own_axis)
        axis = s->axis;
    if (s->solution) {
        const size_t n = vec_len(s->solution->x), n1 = (size_t)ckt_n(s->ckt) + 1;
        vec_extend(s->solution->x, n1);
        memcpy(s->solution->x + n, x, n1 * sizeof *x);
        vec_push(s->solution->at, n);
    }
    vs_status st = keep_point(s, axis, x, xi);
    if (!st)
        st = sim_limits_point(s, axis, x);
    return st || !h->point ? st : h->point(h->user, axis, s->op_x ? s->op_x : x, s->z);
}

vs_status sim_plot_gap(sim *s, double axis)
{
    double *x = vs_malloc(((size_t)ckt_n(s->ckt) + 1) * sizeof *x);
    for (int32_t i = 0; i <= ckt_n(s->ckt); i++)
        x[i] = NAN;
    if (s->own_axis)
        axis = s->axis;
    size_t n = 0, k = 0;
    s->st.written += s->opt.out || s->plot;
    if (s->plot) {
        post_vec_push(s->plot->vec[k++], axis, 0);
        while (k < vec_len(s->plot->vec))
            post_vec_push(s->plot->vec[k++], NAN, NAN);
        if (s->part_wait)
            sim_part_point(s);
    }
    vs_status st = VS_OK;
    if (s->opt.out) {
        s->row[n++] = axis;
        while (n <= vec_len(s->vec))
            s->row[n++] = NAN;
        st = out_point(s->opt.out, s->row);
    }
    const sim_hook *h = &s->opt.hook;
    if (!st && h->point)
        st = h->point(h->user, axis, x, NULL);
    vs_free(x);
    return st;
}

vs_status sim_plot_begin_own(sim *s, const char *word, const char *what, const out_vector *v,
                             int32_t n, const sim_axis *axis, bool complex)
{
    vec_free(s->vec);
    vec_free(s->mem_vec);
    s->complex = complex;
    s->n_own = n;
    return open_plots(s, word, what, v, n, v, n, axis);
}

vs_status sim_plot_row(sim *s, const double *row)
{
    int w = 1 + s->complex;
    s->st.written += s->opt.out || s->plot;
    for (size_t i = 0; s->plot && i < vec_len(s->plot->vec); i++)
        post_vec_push(s->plot->vec[i], row[i * (size_t)w], s->complex ? row[i * (size_t)w + 1] : 0);
    if (s->part_wait)
        sim_part_point(s);
    const vs_status st = s->opt.out ? out_point(s->opt.out, row) : VS_OK;
    const sim_hook *h = &s->opt.hook;
    return st || !h->row ? st : h->row(h->user, row, (size_t)(s->n_own * w));
}

vs_status sim_plot_end(sim *s, vs_status st)
{
    if (s->opt.hook.end)
        s->opt.hook.end(s->opt.hook.user);
    sim_limits_end(s);
    vs_status closing = s->opt.out ? out_plot_end(s->opt.out) : VS_OK;
    sim_part_flush(s);
    return st ? st : closing;
}

/* -- the sink -- */

static vs_status take_point(void *user, double axis, const double *x)
{
    return sim_plot_point(user, axis, x, NULL);
}

static vs_status take_gap(void *user, double axis) { return sim_plot_gap(user, axis); }

static void show_progress(void *user, double fraction, double axis, const ana_stat *st)
{
    sim *s = user;
    if (s->opt.hook.progress)
        s->opt.hook.progress(s->opt.hook.user, fraction, axis, s->unit ? s->unit : "", st);
}

/* Asked at each try of a step, also while no point is accepted. */
VS_HOT bool sim_asked_to_stop(void *user)
{
    const sim *s = user;
    if (s->opt.out)
        out_tick(s->opt.out);
    return s->opt.hook.stop && s->opt.hook.stop(s->opt.hook.user);
}

static bool ask_step(void *user, double time, double *h, double last, bool refused)
{
    const sim_hook *k = &((sim *)user)->opt.hook;
    return k->sync(k->user, time, h, last, refused);
}

static double ask_next(void *user, double t)
{
    const sim_hook *k = &((sim *)user)->opt.hook;
    return k->next(k->user, t);
}

static double ask_mark(void *user, double t)
{
    const sim_hook *k = &((sim *)user)->opt.hook;
    return k->mark(k->user, t);
}

void sim_sink_points(sim *s)
{
    const bool taken =
        s->opt.out || s->plot || s->solution || s->limits || s->opt.hook.point != NULL;
    s->sink.point = taken ? take_point : NULL;
}

const ana_sink *sim_sink(sim *s, ana_sink *sink)
{
    *sink = (ana_sink){.point = take_point,
                       .gap = take_gap,
                       .progress = show_progress,
                       .stop = sim_asked_to_stop,
                       .pause = s->opt.hook.due ? sim_is_due : NULL,
                       .kept = s->opt.hook.kept,
                       .sync = s->opt.hook.sync ? ask_step : NULL,
                       .next = s->opt.hook.next ? ask_next : NULL,
                       .mark = s->opt.hook.mark ? ask_mark : NULL,
                       .user = s};
    return sink;
}

/* -- sweeps -- */

static bool same_names(const elab_out *a, const elab_out *b)
{
    bool same = vec_len(a) == vec_len(b);
    for (size_t i = 0; same && i < vec_len(a); i++)
        same = !strcmp(a[i].name, b[i].name);
    return same;
}

vs_status sim_plot_follow(sim *s, diag_span span)
{
    elab_out *was = s->vec, *kept = s->mem_vec;
    s->vec = s->mem_vec = NULL;
    const diag_mark before = diag_try(s->d);
    elab_outputs(&s->vec, s->ckt, &s->flat, s->d, s->names, true);
    choose_kept(s);
    diag_take_back(s->d, before); /* the warnings were given with the first point */
    find_details(s);
    sim_limits_follow(s);
    const bool same = same_names(s->vec, was) && same_names(s->mem_vec, kept);
    vec_free(was);
    vec_free(kept);
    if (same)
        return VS_OK;
    diag_error(s->d, span,
               "this sweep changes which nodes the circuit has; run the deck once for "
               "each value, or .save what is always there");
    return VS_EINPUT;
}
