/* fam.c - points of a family of runs. See fam.h. */
#include "fam.h"

#include <stdio.h>
#include <string.h>

#include "vec.h"
#include "stream.h"

/* -- begin, end -- */

bool fam_wanted(const sim *s) { return vec_len(sim_flat(s)->step) || sim_flat(s)->mc; }

void fam_init(fam *w, sim *s, const char *path, const net_opt *read, int32_t file)
{
    const flat *f = sim_flat(s);
    *w = (fam){.s = s,
               .path = path,
               .file = file,
               .step = f->step,
               .n_step = vec_len(f->step),
               .mc = f->mc,
               .seed = f->mc_seed};
    if (read)
        w->read = *read;
    arena_init(&w->mem);
    for (int i = 0; i < 2; i++)
        arena_init(&w->loop_mem[i]);
    w->start_first = sim_option(s)->stepstart;
    w->at = arena_array(&w->mem, int64_t, w->n_step + 1);
    fam_forget(w);
}

void fam_fini(fam *w)
{
    vec_free(w->deck);
    vec_free(w->loops);
    for (int i = 0; i < 2; i++)
        arena_fini(&w->loop_mem[i]);
    arena_fini(&w->mem);
}

void fam_forget(fam *w)
{
    for (size_t i = 0; i < w->n_step; i++)
        w->at[i] = -1;
}

/* -- numbers of points -- */

/* The index in step `i`; the sample is the first digit. */
static int64_t digit(const fam *w, int64_t point, size_t i)
{
    point /= w->mc ? w->mc : 1;
    for (size_t k = 0; k < i; k++)
        point /= w->step[k].n;
    return point % w->step[i].n;
}

char *fam_values(const fam *w, int64_t point)
{
    char *text = NULL;
    FILE *f = stream_text(&text, NULL);
    const char *comma = "";
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++) {
            const int64_t k = digit(w, point, i);
            if (w->step[i].form == FLAT_STEP_WORDS)
                fprintf(f, "%s%s", comma, w->step[i].word[k]);
            else
                fprintf(f, "%s%.12g", comma, flat_step_value(&w->step[i], k, c));
            comma = ",";
        }
    if (w->mc)
        fprintf(f, "%s%lld", comma, (long long)(point % w->mc + 1));
    stream_close(f);
    return text;
}

char *fam_label(const char *const *column, size_t n_column, const char *csv)
{
    char *text = NULL;
    FILE *f = stream_text(&text, NULL);
    for (size_t i = 0; i < n_column; i++) {
        const size_t len = strcspn(csv, ",");
        fprintf(f, "%s%s=%.*s", i ? " " : "", column[i], (int)len, csv);
        csv += len + (csv[len] == ',');
    }
    stream_close(f);
    return text;
}

size_t fam_columns(const fam *w, const char ***name)
{
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            vec_push(*name, w->step[i].target[c].text);
    if (w->mc)
        vec_push(*name, "sample");
    return vec_len(*name);
}

double fam_value(const fam *w, int64_t point, size_t column)
{
    for (size_t i = 0; i < w->n_step; i++) {
        const size_t n = vec_len(w->step[i].target);
        const int64_t k = digit(w, point, i);
        if (column < n)
            return w->step[i].form == FLAT_STEP_WORDS ? (double)k
                                                      : flat_step_value(&w->step[i], k, column);
        column -= n;
    }
    return (double)(point % w->mc + 1);
}

/* -- changes -- */

/* The deck once more, with other options. */
static vs_status read_again(const fam *w, net_deck *deck, diag *d, arena *mem, net_opt no)
{
    if (!no.define) {
        no.define = sim_params(w->s);
        no.n_define = vec_len(sim_params(w->s));
    }
    no.threads = sim_opts(w->s)->threads;
    if (w->file < 0)
        return net_read(deck, d, sim_names(w->s), mem, w->path, &no);
    const diag_file *f = &sim_diag(w->s)->file[w->file];
    return net_read_text(deck, d, sim_names(w->s), mem, f->name, f->text, f->len, &no);
}

/* Steps of parameters that the reader asked for: an expression may ask for others at other values.
 */
static void note_loops(fam *w, const net_define *with)
{
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            for (size_t k = 0; k < vec_len(with); k++)
                if (with[k].used && w->step[i].target[c].kind == FLAT_SET_PARAM &&
                    with[k].name == w->step[i].target[c].name) {
                    vec_extend(w->loops, vec_len(w->loops) ? 0 : w->n_step);
                    w->loops[i] = true;
                }
}

/* A deck whose loops depend on what is stepped is read for each point that changes that, and not
 * kept. */
static vs_status set_loops(fam *w, int64_t point, const net_opt *no)
{
    sim *s = w->s;
    arena *mem = &w->loop_mem[w->loop_turn];
    net_deck *d = &w->loop_deck[w->loop_turn];
    const size_t told = strlen(sim_why(s));
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            if (w->step[i].target[c].kind == FLAT_SET_PARAM)
                sim_set_param(s, w->step[i].target[c].name,
                              flat_step_value(&w->step[i], digit(w, point, i), c));
    sim_why_cut(s, told);
    for (size_t i = 0; i < w->n_step; i++)
        if (w->loops[i] && w->at[i] != digit(w, point, i))
            sim_deep(s, w->step[i].target[0].text);
    sim_drop_netlist(s); /* it looks into the deck that was there */
    if (vec_len(sim_diag(s)->file) == w->file_to)
        diag_forget_files(sim_diag(s), w->file_from);
    w->file_from = vec_len(sim_diag(s)->file);
    w->files_new = true;
    arena_fini(mem);
    arena_init(mem);
    vs_status st = read_again(w, d, sim_diag(s), mem, *no);
    w->file_to = vec_len(sim_diag(s)->file);
    note_loops(w, sim_params(s));
    d->stepping = true;
    w->loop_turn ^= !st;
    return st ? st : sim_use_deck(s, d);
}

/* The decks with other sections of libraries or .alter blocks are read once and kept. */
static vs_status set_deck(fam *w, int64_t point)
{
    int32_t *section = NULL, alter = 0;
    size_t which = 0, radix = 1;
    vs_status st = VS_OK;
    for (size_t i = 0; i < w->n_step; i++)
        if (w->step[i].form == FLAT_STEP_WORDS) {
            if (w->step[i].target[0].kind == FLAT_SET_ALTER)
                alter = (int32_t)digit(w, point, i);
            else
                vec_push(section, (int32_t)digit(w, point, i));
            which += radix * (size_t)digit(w, point, i);
            radix *= (size_t)w->step[i].n;
        }
    net_opt no = w->read;
    no.section = section;
    no.n_section = vec_len(section);
    no.alter = alter;
    if (!w->loops && which >= vec_len(w->deck))
        vec_extend(w->deck, which + 1 - vec_len(w->deck));
    if (!w->loops && !w->deck[which]) {
        net_deck *d = arena_new(&w->mem, net_deck);
        st = read_again(w, d, sim_diag(w->s), &w->mem, no);
        d->stepping = true;
        if (!st)
            w->deck[which] = d;
    }
    if (w->loops)
        st = set_loops(w, point, &no);
    else if (!st)
        st = sim_use_deck(w->s, w->deck[which]);
    for (size_t i = 0; i < w->n_step; i++)
        if (w->step[i].form != FLAT_STEP_WORDS)
            w->at[i] = -1; /* options are those of the deck again */
    vec_free(section);
    return st;
}

static vs_status set_target(const fam *w, const flat_target *t, double y)
{
    sim *s = w->s;
    switch (t->kind) {
    case FLAT_SET_PARAM: sim_set_param(s, t->name, y); return VS_OK;
    case FLAT_SET_TEMP: return sim_set_temp(s, y, t->span);
    case FLAT_SET_OPTION: return sim_set_option_number(s, t->name, y, t->span);
    case FLAT_SET_INST:
    case FLAT_SET_MODEL: {
        const sim_change c = {.name = t->name,
                              .model = t->kind == FLAT_SET_MODEL,
                              .param = t->param,
                              .value = &y,
                              .n = 1,
                              .span = t->span};
        sim_alter(s, &c);
        return VS_OK;
    }
    case FLAT_SET_LIB:
    case FLAT_SET_ALTER: break;
    }
    return VS_OK;
}

/* Only what differs from the point before is set. */
vs_status fam_set(fam *w, int64_t point)
{
    vs_status st = VS_OK;
    bool lib = false;
    for (size_t i = 0; i < w->n_step && !st; i++)
        lib |= (w->step[i].form == FLAT_STEP_WORDS || (w->loops && w->loops[i])) &&
               w->at[i] != digit(w, point, i);
    if (lib)
        st = set_deck(w, point);
    for (size_t i = 0; i < w->n_step && !st; i++) {
        const flat_step *a = &w->step[i];
        const int64_t k = digit(w, point, i);
        if (k == w->at[i])
            continue;
        w->at[i] = k;
        for (size_t c = 0; c < vec_len(a->target) && !st && a->form != FLAT_STEP_WORDS; c++)
            st = set_target(w, &a->target[c], flat_step_value(a, k, c));
        if (st)
            w->at[i] = -1;
    }
    if (w->mc)
        sim_set_sample(w->s, w->seed, point % w->mc + 1);
    w->any = true;
    return st;
}

vs_status fam_build(sim *s)
{
    sim_retake_analyses(s);
    return sim_build(s);
}

/* Every process finds it by itself, so that no point's results depend on which ones it computes. */
void fam_find_first(fam *w)
{
    sim *s = w->s;
    bool needed[2] = {false, false};
    const diag_mark before = diag_try(sim_diag(s));
    w->have_first = true;
    if (fam_set(w, 0) == VS_OK && fam_build(s) == VS_OK) {
        for (size_t i = 0; i < vec_len(sim_flat(s)->ana); i++)
            if (sim_flat(s)->ana[i].kind != FLAT_TRAN || !sim_flat(s)->ana[i].uic)
                needed[sim_flat(s)->ana[i].kind == FLAT_TRAN] = true;
        needed[0] |= !vec_len(sim_flat(s)->ana);
        for (int tran = 0; tran < 2; tran++)
            if (needed[tran])
                sim_find_first(s, tran);
    }
    diag_take_back(sim_diag(s), before);
}

bool fam_count(fam *w)
{
    const int64_t most = INT64_C(1) << 62;
    w->total = w->mc ? w->mc : 1;
    for (size_t i = 0; i < w->n_step; i++) {
        if (w->step[i].n > most / w->total) {
            diag_error(sim_diag(w->s), w->step[i].span,
                       "the nested steps have more than 4.6e18 points together");
            return false;
        }
        w->total *= w->step[i].n;
    }
    return true;
}

/* Loops and indices are written out when the deck is read. Which steps decide them at the first
 * point? */
void fam_find_loops(fam *w)
{
    net_define *with = NULL;
    net_opt no = w->read;
    for (size_t i = 0; i < w->n_step; i++)
        for (size_t c = 0; c < vec_len(w->step[i].target); c++)
            if (w->step[i].target[c].kind == FLAT_SET_PARAM)
                vec_push(with, ((net_define){.name = w->step[i].target[c].name,
                                             .value = flat_step_value(&w->step[i], 0, c)}));
    if (!with)
        return;
    for (size_t i = 0; i < vec_len(sim_params(w->s)); i++)
        vec_push(with, sim_params(w->s)[i]);
    diag quiet;
    arena mem;
    net_deck deck;
    diag_init(&quiet);
    quiet.variable = sim_diag(w->s)->variable;
    quiet.variable_user = sim_diag(w->s)->variable_user;
    arena_init(&mem);
    no.define = with;
    no.n_define = vec_len(with);
    (void)!read_again(w, &deck, &quiet, &mem, no);
    note_loops(w, with);
    arena_fini(&mem);
    diag_fini(&quiet);
    vec_free(with);
}
