/* sim_vary.c - see sim_vary.h. */
#include "sim_vary.h"

#include <string.h>

#include "vec.h"

static double *copy_key(const ckt_device_facts *f)
{
    double *key = vs_malloc((mdl_key_len(f->model) + 1) * sizeof *key);
    mdl_row_key(f->model, f->row, key);
    return key;
}

static wave copy_wave(arena *mem, const wave *w)
{
    wave c = *w;
    double *arg = arena_array(mem, double, w->n_arg + 1);
    if (w->n_arg)
        memcpy(arg, w->arg, (size_t)w->n_arg * sizeof *arg);
    c.arg = arg;
    c.memo = NULL;
    return c;
}

void sim_vary_begin(sim_vary *v, sim *s, arena *mem)
{
    *v = (sim_vary){.s = s, .mem = mem};
    for (int32_t i = 0; i < ckt_n_device(s->ckt); i++) {
        const ckt_device_facts f = ckt_device(s->ckt, i);
        vec_push(v->key, copy_key(&f));
        vec_push(v->module, mdl_module(f.model)->name);
    }
    for (int32_t i = 0; i < ckt_n_source(s->ckt); i++) {
        const nat_source *k = ckt_source_all(s->ckt, i);
        vec_push(v->wave, ((sim_vary_wave){i, copy_wave(mem, &k->w), k->m}));
    }
    for (int32_t i = 0; i < ckt_n_line(s->ckt); i++)
        vec_push(v->line, ((sim_vary_line){i, ckt_line_numbers(s->ckt, i)}));
}

void sim_vary_end(sim_vary *v)
{
    for (size_t i = 0; i < vec_len(v->key); i++)
        vs_free(v->key[i]);
    vec_free(v->key);
    vec_free(v->module);
    vec_free(v->wave);
    vec_free(v->line);
    vec_free(v->some);
}

bool sim_vary_same(const sim_vary *v)
{
    const ckt *c = v->s->ckt;
    bool same = (size_t)ckt_n_device(c) == vec_len(v->key) &&
                (size_t)ckt_n_source(c) == vec_len(v->wave) &&
                (size_t)ckt_n_line(c) == vec_len(v->line);
    for (int32_t i = 0; i < ckt_n_device(c) && same && !ckt_redo_notes(c); i++)
        same = !strcmp(mdl_module(ckt_device(c, i).model)->name, v->module[i]);
    return same;
}

static bool same_wave(const sim_vary_wave *a, const nat_source *b)
{
    return a->m == b->m && a->w.kind == b->w.kind && a->w.n_arg == b->w.n_arg &&
           a->w.dc == b->w.dc && a->w.ac_mag == b->w.ac_mag && a->w.ac_phase == b->w.ac_phase &&
           a->w.pwl_delay == b->w.pwl_delay && a->w.pwl_repeat == b->w.pwl_repeat &&
           (!a->w.n_arg || !memcmp(a->w.arg, b->w.arg, (size_t)a->w.n_arg * sizeof *a->w.arg));
}

static bool same_line(const nat_line_numbers *a, const nat_line_numbers *b)
{
    return a->z == b->z && a->td == b->td && a->m == b->m && a->lossy.r == b->lossy.r &&
           a->lossy.l == b->lossy.l && a->lossy.g == b->lossy.g && a->lossy.c == b->lossy.c;
}

static double *room(sim_vary *v, size_t n)
{
    if (vec_len(v->some) < n)
        vec_extend(v->some, n - vec_len(v->some));
    return v->some;
}

static void take_device(sim_vary *v, sim_vary_side *k, ckt_device_facts f, int32_t i)
{
    const double *was = v->key[i];
    const size_t n = mdl_key_len(f.model);
    if (mdl_row_has_key(f.model, f.row, was))
        return;
    double *key = room(v, n + 1);
    sim_vary_device d = {.device = i, .row = f.row, .built = v->s->st.built};
    mdl_row_key(f.model, f.row, key);
    for (size_t from = 0, end; from < n; from = end) { /* few of a thousand differ */
        end = from + 16 < n ? from + 16 : n;
        if (!memcmp(key + from, was + from, (end - from) * sizeof *key))
            continue;
        for (size_t p = from; p < end; p++)
            if (memcmp(&key[p], &was[p], sizeof *key) != 0)
                vec_push(d.entry, ((sim_vary_entry){(int32_t)p, key[p]}));
    }
    vec_push(k->device, d);
}

/* Mostly the devices stay, and which ones would have other rows is noted; where nodes or sources
 * change the circuit was built anew. */
void sim_vary_take(sim_vary *v, sim_vary_side *to)
{
    const ckt *c = v->s->ckt;
    size_t n = 0;
    const bool noted = ckt_redo_notes(c);
    const ckt_other_row *other = noted ? ckt_redo_noted(c, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        ckt_device_facts f = ckt_device(c, other[i].device);
        f.row = other[i].row;
        take_device(v, to, f, other[i].device);
    }
    for (int32_t i = 0; i < ckt_n_device(c) && !noted; i++)
        take_device(v, to, ckt_device(c, i), i);
    for (int32_t i = 0; i < ckt_n_source(c); i++) {
        const nat_source *w = ckt_source_all(c, i);
        if (!same_wave(&v->wave[i], w))
            vec_push(to->wave, ((sim_vary_wave){i, copy_wave(v->mem, &w->w), w->m}));
    }
    for (int32_t i = 0; i < ckt_n_line(c); i++) {
        const nat_line_numbers now = ckt_line_numbers(c, i);
        if (!same_line(&v->line[i].numbers, &now))
            vec_push(to->line, ((sim_vary_line){i, now}));
    }
}

void sim_vary_side_free(sim_vary_side *k)
{
    for (size_t i = 0; i < vec_len(k->device); i++)
        vec_free(k->device[i].entry);
    vec_free(k->device);
    vec_free(k->wave);
    vec_free(k->line);
}

static vs_status add_device(sim_vary *v, const sim_vary_device *d, int32_t number, double weight,
                            ckt_vary *to)
{
    if (d->built == v->s->st.built)
        return ckt_vary_add_row(to, d->device, d->row, number, weight);
    const size_t n = mdl_key_len(ckt_device(v->s->ckt, d->device).model);
    double *key = room(v, n + 1);
    memcpy(key, v->key[d->device], n * sizeof *key);
    for (size_t p = 0; p < vec_len(d->entry); p++)
        key[d->entry[p].at] = d->entry[p].value;
    return ckt_vary_add(to, d->device, key, number, weight);
}

/* Side k, and what the other side has and this one has not. */
static vs_status add_side(sim_vary *v, const sim_vary_side side[2], int k, double distance,
                          int32_t number, ckt_vary *to)
{
    const sim_vary_side *mine = &side[k], *other = &side[!k];
    const double weight = (k ? 1 : -1) / distance;
    vs_status st = VS_OK;
    size_t j = 0;
    for (size_t i = 0; i < vec_len(mine->device) && st == VS_OK; i++) {
        const sim_vary_device *d = &mine->device[i];
        st = add_device(v, d, number, weight, to);
        while (j < vec_len(other->device) && other->device[j].device < d->device)
            j++;
        const bool both = j < vec_len(other->device) && other->device[j].device == d->device;
        if (st == VS_OK && !both)
            st = ckt_vary_add_row(to, d->device, ckt_device(v->s->ckt, d->device).row, number,
                                  -weight);
    }
    return st;
}

vs_status sim_vary_add(sim_vary *v, const sim_vary_side side[2], double distance, int32_t number,
                       ckt_vary *to)
{
    const vs_status st = add_side(v, side, 0, distance, number, to);
    return st == VS_OK ? add_side(v, side, 1, distance, number, to) : st;
}

const sim_vary_wave *sim_vary_wave_of(const sim_vary *v, const sim_vary_side *k, int32_t source)
{
    for (size_t i = 0; i < vec_len(k->wave); i++)
        if (k->wave[i].source == source)
            return &k->wave[i];
    return &v->wave[source];
}

void sim_vary_sources(const sim_vary_side *lo, const sim_vary_side *hi, int32_t **source)
{
    for (size_t i = 0; i < vec_len(hi->wave); i++)
        vec_push(*source, hi->wave[i].source);
    for (size_t i = 0; i < vec_len(lo->wave); i++) {
        bool both = false;
        for (size_t k = 0; k < vec_len(hi->wave); k++)
            both |= hi->wave[k].source == lo->wave[i].source;
        if (!both)
            vec_push(*source, lo->wave[i].source);
    }
}

nat_line_numbers sim_vary_line_of(const sim_vary *v, const sim_vary_side *k, int32_t line)
{
    for (size_t i = 0; i < vec_len(k->line); i++)
        if (k->line[i].line == line)
            return k->line[i].numbers;
    return v->line[line].numbers;
}

void sim_vary_lines(const sim_vary_side *lo, const sim_vary_side *hi, int32_t **line)
{
    for (size_t i = 0; i < vec_len(hi->line); i++)
        vec_push(*line, hi->line[i].line);
    for (size_t i = 0; i < vec_len(lo->line); i++) {
        bool both = false;
        for (size_t k = 0; k < vec_len(hi->line); k++)
            both |= hi->line[k].line == lo->line[i].line;
        if (!both)
            vec_push(*line, lo->line[i].line);
    }
}

double sim_vary_wave_value(const sim_vary_wave *w, double t)
{
    return w->w.kind == WAVE_DC ? wave_dc(&w->w) : wave_value(&w->w, t);
}
