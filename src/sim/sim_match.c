/* sim_match.c - .dcmatch, .acmatch: what the random numbers of the deck's statistics do to an
 * output, to first order.
 *  1. An expansion notes the random numbers that matter. Each is moved to both sides of what it is;
 *     which devices and sources differ then is noted. Numbers of one name in instances beside each
 *     other are moved at once: what lies in an instance differs by the number of that instance.
 *  2. The deck is as it was; ana_match gives the derivatives by all numbers.
 *  3. Their squares times the variances add up, and the products of each two that are correlated:
 *     sigma^2 = sum_ij R_ij (s_i dv/dp_i) (s_j dv/dp_j). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_draw.h"
#include "sim_vary.h"
#include "vec.h"

/* Of a number of variance 1: a parameter with a spread of 1 % moves by 1e-4 of its value. */
static const double step = 1e-2;

typedef struct one { /* a random number */
    const char *name;
    double sigma;
    sim_vary_side side[2];
    double value[2];
    double weight; /* the larger, the earlier it stands */
} one;

typedef struct pair { /* of numbers with a correlation; their weight in a sum over all pairs */
    size_t i, j;
    double w;
} pair;

typedef struct match {
    sim *s;
    const flat_ana *a;
    arena mem;
    net_draws draws;
    sim_vary now;
    one *one;   /* vec */
    pair *pair; /* vec: each two that are correlated, once; a number itself has weight 1 */
    ckt_vary *vary;
    ana_push *push;         /* vec */
    ana_variance *variance; /* vec: of the pairs */
    const char **name;      /* vec: of the numbers */
    bool *none;             /* vec: of each number */
    ana_freq freq;
    ana_output out;
    double *row; /* vec: of each point f and [2 (1 + numbers)] of ana_match */
    sim_table t;
} match;

static bool is_ac(const match *m) { return m->a->kind == FLAT_ACMATCH; }
static size_t width(const match *m) { return 1 + 2 * (1 + vec_len(m->one)); }

/* -- what each number moves -- */

/* The number that belongs to an element: that of the instance it lies in. */
static int32_t owner_of(const match *m, const map *of_path, const net_draw *like,
                        const char *element)
{
    const char *end = element;
    for (int n = net_draw_depth(like); n > 0 && (end = strchr(end, '.')); n--)
        end++;
    return end ? map_get(of_path,
                         map_key(str_intern(m->s->names, element, (size_t)(end - element))), -1)
               : -1;
}

/* Hands what differs to the numbers that it belongs to. */
static void share_out(match *m, const map *of_path, const net_draw *like, int k, sim_vary_side *all)
{
    for (size_t i = 0; i < vec_len(all->device); i++) {
        const ckt_device_facts f = ckt_device(m->s->ckt, all->device[i].device);
        const int32_t j = owner_of(m, of_path, like, f.name);
        if (j >= 0)
            vec_push(m->one[j].side[k].device, all->device[i]);
        else
            vec_free(all->device[i].entry);
    }
    for (size_t i = 0; i < vec_len(all->wave); i++) {
        const ckt_source_facts f = ckt_source_at(m->s->ckt, all->wave[i].source);
        const int32_t j = owner_of(m, of_path, like, f.name);
        if (j >= 0)
            vec_push(m->one[j].side[k].wave, all->wave[i]);
    }
    vec_free(all->device);
    vec_free(all->wave);
}

/* All numbers like this one to side k. */
static vs_status move(match *m, const net_draw *like, int k, const map *of_path)
{
    sim *s = m->s;
    sim_vary_side all = {0};
    const diag_mark before = diag_try(s->d);
    m->draws.like = like;
    m->draws.by = k ? step : -step;
    sim_knob_changed(s, FLAT_KNOB_DRAW, "a random number");
    const vs_status st = sim_build(s);
    diag_take_back(s->d, before);
    const bool same = st == VS_OK && sim_vary_same(&m->now);
    if (same) {
        sim_vary_take(&m->now, &all);
        share_out(m, of_path, like, k, &all);
    }
    for (size_t j = 0; j < vec_len(m->one) && same; j++)
        if (net_draw_alike(like, &m->draws.seen[j]))
            m->one[j].value[k] = m->draws.by;
    return st == VS_EINPUT ? VS_OK : st;
}

static vs_status move_alike(match *m, const net_draw *like)
{
    map of_path = {0};
    vs_status st = VS_OK;
    for (size_t j = 0; j < vec_len(m->one); j++) {
        const char *path = m->draws.seen[j].path;
        if (net_draw_alike(like, &m->draws.seen[j]))
            map_set(&of_path, map_key(str_intern(m->s->names, path, strlen(path))), (int32_t)j);
    }
    ckt_redo_note(m->s->ckt, true);
    for (int k = 0; k < 2 && st == VS_OK; k++)
        st = move(m, like, k, &of_path);
    map_free(&of_path);
    return st;
}

static void name_all(match *m)
{
    for (size_t i = 0; i < vec_len(m->draws.seen); i++) {
        const net_draw *d = &m->draws.seen[i];
        const char *name = flat_draw_name(m->s->names, d->path, d->name, d->k);
        vec_push(m->one, ((one){.name = name, .sigma = d->sigma}));
    }
}

static void pair_up(match *m)
{
    map of_name = {0};
    flat_partner *with = NULL;
    for (size_t i = 0; i < vec_len(m->one); i++) {
        vec_push(m->pair, ((pair){i, i, 1}));
        vec_clear(with);
        flat_partners(&m->s->flat, m->s->names, m->one[i].name, &with);
        for (size_t k = 0; k < vec_len(with); k++) {
            const int32_t j = map_get(&of_name, map_key(with[k].name), -1);
            if (j >= 0 && with[k].cc != 0)
                vec_push(m->pair, ((pair){i, (size_t)j, 2 * with[k].cc}));
        }
        map_set(&of_name, map_key(m->one[i].name), (int32_t)i);
    }
    map_free(&of_name);
    vec_free(with);
}

static vs_status move_all(match *m)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(m->one) && st == VS_OK; i++) {
        const net_draw like = m->draws.seen[i];
        bool done = false;
        for (size_t j = 0; j < i; j++)
            done |= net_draw_alike(&like, &m->draws.seen[j]);
        if (!done)
            st = move_alike(m, &like);
    }
    for (size_t i = 0; i < vec_len(m->one) && st == VS_OK; i++)
        if (m->one[i].value[0] == m->one[i].value[1]) {
            diag_error(m->s->d, m->a->span,
                       ".%s: the random number of '%s' can be moved to neither side: the circuit "
                       "has other nodes or invalid parameters then",
                       sim_analysis_word(m->a->kind), m->one[i].name);
            st = VS_EINPUT;
        }
    return st;
}

static vs_status find_numbers(match *m)
{
    sim *s = m->s;
    sim_saved *was = sim_save(s);
    s->deck.draws = &m->draws;
    sim_deep(s, "random numbers");
    sim_many(s);
    vs_status st = sim_ready(s, m->a);
    if (st == VS_OK && !vec_len(m->draws.seen)) {
        diag_error(s->d, m->a->span,
                   ".%s: the deck has no random number: agauss(nominal, variation, sigmas) in a "
                   "parameter, an element or a model card is expected",
                   sim_analysis_word(m->a->kind));
        st = VS_EINPUT;
    }
    name_all(m);
    pair_up(m);
    if (st == VS_OK) {
        sim_vary_begin(&m->now, s, &m->mem);
        st = move_all(m);
    }
    s->deck.draws = NULL;
    sim_restore(s, was);
    sim_saved_free(&was);
    return st;
}

/* -- the analysis -- */

static double value_of(const match *m, const sim_vary_side *k, int32_t source)
{
    const sim_vary_wave *w = sim_vary_wave_of(&m->now, k, source);
    return (ckt_source_at(m->s->ckt, source).is_v ? 1 : w->m) * wave_dc(&w->w);
}

static void push_source(match *m, int32_t j, int32_t source)
{
    const one *r = &m->one[j];
    const double by = (value_of(m, &r->side[1], source) - value_of(m, &r->side[0], source)) /
                      (r->value[1] - r->value[0]);
    vec_push(m->push, ((ana_push){source, j, by}));
}

static void push_sources(match *m, int32_t j)
{
    int32_t *source = NULL;
    sim_vary_sources(&m->one[j].side[0], &m->one[j].side[1], &source);
    for (size_t i = 0; i < vec_len(source); i++)
        push_source(m, j, source[i]);
    vec_free(source);
}

static vs_status keep_row(void *user, double f, const double *v)
{
    match *m = user;
    vec_push(m->row, f);
    for (size_t i = 0; i + 1 < width(m); i++)
        vec_push(m->row, v[i]);
    return VS_OK;
}

static void describe(match *m)
{
    for (size_t k = 0; k < vec_len(m->pair); k++) {
        const pair p = m->pair[k];
        vec_push(m->variance,
                 ((ana_variance){p.i, p.j, p.w * m->one[p.i].sigma * m->one[p.j].sigma}));
    }
    for (size_t j = 0; j < vec_len(m->one); j++) {
        vec_push(m->name, m->one[j].name);
        vec_push(m->none, false);
    }
}

static vs_status analyse(match *m)
{
    sim *s = m->s;
    ana_match_opt o = {.row = keep_row, .user = m};
    vs_status st = VS_OK;
    m->vary = ckt_vary_new(s->ckt);
    for (size_t j = 0; j < vec_len(m->one) && st == VS_OK; j++) {
        const one *r = &m->one[j];
        st = sim_vary_add(&m->now, r->side, r->value[1] - r->value[0], (int32_t)j, m->vary);
        push_sources(m, (int32_t)j);
    }
    o.out = m->out;
    o.freq = is_ac(m) ? &m->freq : NULL;
    o.vary = m->vary;
    o.n_param = vec_len(m->one);
    o.push = m->push;
    o.n_push = vec_len(m->push);
    describe(m);
    o.variance = m->variance;
    o.n_variance = vec_len(m->variance);
    o.name = m->name;
    o.none = m->none;
    if (st == VS_OK)
        st = ana_match(s->ana, &o, sim_sink(s, &s->sink));
    ckt_vary_free(&m->vary);
    sim_count(s);
    return st;
}

/* -- results -- */

/* sigma_j dv/dp_j at a point: of dc with its sign, of ac its amount. */
static double part_of(const match *m, const double *row, size_t j)
{
    const double *d = row + 1 + 2 * (1 + j);
    return m->one[j].sigma * (is_ac(m) ? hypot(d[0], d[1]) : d[0]);
}

static int by_weight(const void *va, const void *vb)
{
    const one *a = *(one *const *)va, *b = *(one *const *)vb;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Those that have the threshold's share of the sum of squares at some point, the largest first. */
static void choose(match *m, one ***list)
{
    const size_t w = width(m), n_point = vec_len(m->row) / w;
    for (size_t i = 0; i < n_point; i++) {
        const double *row = m->row + i * w;
        double all = 0;
        for (size_t j = 0; j < vec_len(m->one); j++)
            all += part_of(m, row, j) * part_of(m, row, j);
        for (size_t j = 0; j < vec_len(m->one) && all > 0; j++)
            m->one[j].weight =
                fmax(m->one[j].weight, part_of(m, row, j) * part_of(m, row, j) / all);
    }
    for (size_t j = 0; j < vec_len(m->one); j++)
        if (m->one[j].weight >= m->a->threshold)
            vec_push(*list, &m->one[j]);
    if (vec_len(*list))
        qsort(*list, vec_len(*list), sizeof **list, by_weight);
}

typedef struct turned { /* sigma_j dv/dp_j, and its parts along the phasor v and across it */
    double re, im, along, across;
} turned;

static turned turn(const match *m, const double *row, size_t j)
{
    const double re = row[1], im = row[2], size = hypot(re, im), sigma = m->one[j].sigma;
    const double x = sigma * row[3 + 2 * j], y = is_ac(m) ? sigma * row[4 + 2 * j] : 0;
    return (turned){x, y, (re * x + im * y) / size, (re * y - im * x) / size};
}

/* The value, the deviations, the chosen numbers' parts. */
static void row_of(const match *m, const double *row, one *const *list, double **to)
{
    const double re = row[1], im = row[2], size = hypot(re, im), degrees = 180 / acos(-1);
    double all = 0, along = 0, across = 0; /* variances */
    for (size_t k = 0; k < vec_len(m->pair); k++) {
        const pair p = m->pair[k];
        const turned a = turn(m, row, p.i), b = turn(m, row, p.j);
        all += p.w * (a.re * b.re + a.im * b.im);
        along += p.w * a.along * b.along;
        across += p.w * a.across * b.across;
    }
    all = all < 0 ? 0 : all; /* where correlated numbers cancel, roundings may be left */
    along = along < 0 ? 0 : along;
    across = across < 0 ? 0 : across;
    if (is_ac(m)) {
        vec_push(*to, row[0]);
        vec_push(*to, size);
        vec_push(*to, sqrt(all));
        vec_push(*to, sqrt(along));
        vec_push(*to, sqrt(across) / size * degrees);
    } else {
        vec_push(*to, re);
        vec_push(*to, sqrt(all));
    }
    for (size_t i = 0; i < vec_len(list); i++) {
        const size_t j = (size_t)(list[i] - m->one);
        vec_push(*to, m->none[j] ? NAN : part_of(m, row, j));
    }
}

static void columns(const match *m, one *const *list, ana_column **col)
{
    const char *type = m->out.current ? "current" : "voltage";
    if (is_ac(m))
        vec_push(*col, ((ana_column){"frequency", "frequency"}));
    vec_push(*col, ((ana_column){is_ac(m) ? "magnitude" : "value", type}));
    vec_push(*col, ((ana_column){"sigma", type}));
    if (is_ac(m)) {
        vec_push(*col, ((ana_column){"sigma_magnitude", type}));
        vec_push(*col, ((ana_column){"sigma_phase", "phase"}));
    }
    for (size_t i = 0; i < vec_len(list); i++)
        vec_push(*col, ((ana_column){list[i]->name, type}));
}

static vs_status put(match *m)
{
    one **list = NULL;
    ana_column *col = NULL;
    double *row = NULL;
    const size_t w = width(m);
    choose(m, &list);
    columns(m, list, &col);
    const ana_table t = sim_table_of(&m->t, m->s, sim_analysis_word(m->a->kind));
    vs_status st = t.begin(t.user, is_ac(m) ? "AC Mismatch" : "DC Mismatch", col,
                           (int32_t)vec_len(col), false);
    const bool open = st == VS_OK;
    for (size_t i = 0; i < vec_len(m->row) / w && st == VS_OK; i++) {
        vec_clear(row);
        row_of(m, m->row + i * w, list, &row);
        st = t.row(t.user, row);
    }
    const vs_status end = open ? t.end(t.user) : VS_OK;
    vec_free(list);
    vec_free(col);
    vec_free(row);
    return st == VS_OK ? end : st;
}

static vs_status refuse(const match *m)
{
    if (m->s->option.rcreduce > 0) {
        diag_error(m->s->d, m->a->span,
                   ".%s: option rcreduce joins elements that random numbers belong to; leave it "
                   "out",
                   sim_analysis_word(m->a->kind));
        return VS_EUNSUPPORTED;
    }
    if (ckt_has_delays(m->s->ckt))
        diag_warning(m->s->d, m->a->span,
                     ".%s: random numbers in parameters of transmission lines do not count",
                     sim_analysis_word(m->a->kind));
    if (!ckt_n_osdi(m->s->ckt))
        return VS_OK;
    diag_error(m->s->d, m->a->span,
               ".%s: parameters of devices of OSDI libraries ('%s') cannot be moved here; vsim "
               "compiles the Verilog-A source of the model itself",
               sim_analysis_word(m->a->kind), ckt_osdi_at(m->s->ckt, 0).name);
    return VS_EUNSUPPORTED;
}

static vs_status run(match *m)
{
    sim *s = m->s;
    vs_status st = find_numbers(m);
    if (st == VS_OK)
        st = sim_ready(s, m->a);
    if (st == VS_OK)
        st = refuse(m);
    if (st == VS_OK)
        st = sim_start_op(s, false);
    if (st == VS_OK)
        st = sim_output_of(s, m->a, &m->out);
    if (st == VS_OK && is_ac(m))
        st = sim_grid_or_ac(s, m->a, &m->freq);
    if (st != VS_OK)
        return st;
    st = analyse(m);
    const vs_status end = vec_len(m->row) ? put(m) : VS_OK;
    return st == VS_OK ? end : st;
}

vs_status sim_run_match(sim *s, const flat_ana *a)
{
    const flat_ana own = *a; /* the list it stands in is made anew */
    match m = {.s = s, .a = &own};
    arena_init(&m.mem);
    const vs_status st = run(&m);
    for (size_t j = 0; j < vec_len(m.one); j++)
        for (int k = 0; k < 2; k++)
            sim_vary_side_free(&m.one[j].side[k]);
    sim_vary_end(&m.now);
    vec_free(m.draws.seen);
    map_free(&m.draws.known);
    vec_free(m.one);
    vec_free(m.pair);
    vec_free(m.push);
    vec_free(m.variance);
    vec_free(m.name);
    vec_free(m.none);
    vec_free(m.row);
    arena_fini(&m.mem);
    return st;
}
