/* ckt_redo.c - other values in a circuit that is built: rows of devices, waveforms, initial
 * conditions. The elements concerned are added a second time; instead of making unknowns and
 * devices, ckt_add_... compares with what is there. Only numbers may change. Whatever else would
 * differ in a circuit built from the new values is refused: terminals, collapsed nodes, variants,
 * and which instances share a parameter row, because that decides the order in which devices are
 * stamped. Of a group only the setup of the rows that changed runs again. */
#include "ckt_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ckt_redo {
    ckt_place at;
    const char *why;        /* NULL: nothing was refused */
    int32_t *row;           /* [devices] its new row, -1: as it was */
    int32_t *group, *place; /* [devices] its group and slot (dev_group.row) there */
    int32_t *begin;         /* [devices] first instance of the slot in the group */
    uint8_t *small;         /* [devices] its model's groups may be on one variant, or come to be */
    int32_t *changed;       /* vec: devices */
    map slot_of;            /* group << 32 | row -> slot */
    int32_t *which;         /* vec: slots of one group */
    ckt_redone n;
    bool note;            /* rows are noted, and not taken */
    ckt_other_row *noted; /* vec */
} ckt_redo;

static uint64_t slot_key(int32_t group, int32_t row)
{
    return (uint64_t)(uint32_t)group << 32 | (uint32_t)row;
}

static ckt_redo *make_redo(ckt *c)
{
    ckt_redo *r = c->redo = arena_new(&c->mem, ckt_redo);
    const size_t n = vec_len(c->inst);
    r->row = arena_array(&c->mem, int32_t, n);
    r->group = arena_array(&c->mem, int32_t, n);
    r->place = arena_array(&c->mem, int32_t, n);
    r->begin = arena_array(&c->mem, int32_t, n);
    r->small = arena_array(&c->mem, uint8_t, n);
    ckt_mark_small(c, r->small);
    for (size_t i = 0; i < n; i++)
        r->row[i] = -1;
    for (size_t k = 0; k < vec_len(c->group); k++) {
        const dev_group *g = &c->group[k];
        for (int32_t i = 0, begin = 0; i < g->nb; i++) {
            begin = i && g->row_of[i] == g->row_of[i - 1] ? begin : i;
            r->group[g->inst[i]] = (int32_t)k;
            r->place[g->inst[i]] = g->row_of[i];
            r->begin[g->inst[i]] = begin;
        }
        for (int32_t s = 0; s < g->n_row; s++)
            map_set(&r->slot_of, slot_key((int32_t)k, g->row[s]), s);
    }
    return r;
}

void ckt_redo_free(ckt *c)
{
    if (!c->redo)
        return;
    vec_free(c->redo->changed);
    vec_free(c->redo->noted);
    vec_free(c->redo->which);
    map_free(&c->redo->slot_of);
    c->redo = NULL;
}

ckt_place ckt_here(const ckt *c)
{
    return (ckt_place){(int32_t)vec_len(c->inst), (int32_t)vec_len(c->sources->all),
                       (int32_t)vec_len(c->ic)};
}

bool ckt_redo_begin(ckt *c)
{
    ckt_redo *r = c->redo ? c->redo : make_redo(c);
    c->redoing = true;
    r->why = nat_no_redo(&c->nat);
    r->n = (ckt_redone){0};
    return !r->why;
}

void ckt_redo_at(ckt *c, ckt_place at) { c->redo->at = at; }

void ckt_redo_fails(ckt *c, const char *why) { c->redo->why = c->redo->why ? c->redo->why : why; }

/* -- the same again -- */

static bool same_terminals(const ckt *c, const ckt_inst *in, const int32_t *terminal)
{
    const int32_t n = mdl_module(in->model)->n_port;
    for (int32_t u = 0; u < n; u++)
        if (terminal[u] >= 0 && c->unk[in->first + u] != terminal[u])
            return false;
    return true;
}

vs_status ckt_redo_device(ckt *c, const mdl_model *m, int32_t row, const int32_t *terminal)
{
    ckt_redo *r = c->redo;
    const int32_t i = r->at.device++;
    if (r->why || i >= (int32_t)vec_len(c->inst) || c->inst[i].model != m ||
        !same_terminals(c, &c->inst[i], terminal)) {
        ckt_redo_fails(c, "other models or terminals");
        return VS_REJECT;
    }
    ckt_inst *in = &c->inst[i];
    if (in->row == row)
        return VS_OK;
    if (memcmp(mdl_row_topology(in->model, row), mdl_row_topology(in->model, in->row),
               (size_t)mdl_n_unknown(m) * sizeof(int32_t))) {
        ckt_redo_fails(c, "nodes of devices that are one");
        return VS_REJECT;
    }
    if (r->row[i] < 0)
        vec_push(r->changed, i);
    r->row[i] = row;
    return VS_OK;
}

/* Of a waveform an operating point sees one value. */
static unsigned other_values(const wave *a, double ma, const wave *b, double mb)
{
    const double dc[2] = {wave_dc(a), wave_dc(b)};
    const double start[2] = {a->kind == WAVE_DC ? a->dc : wave_value(a, 0),
                             b->kind == WAVE_DC ? b->dc : wave_value(b, 0)};
    if (memcmp(&ma, &mb, sizeof ma))
        return CKT_OTHER_DC | CKT_OTHER_START;
    return (memcmp(&dc[0], &dc[1], sizeof *dc) ? CKT_OTHER_DC : 0) |
           (memcmp(&start[0], &start[1], sizeof *start) ? CKT_OTHER_START : 0);
}

vs_status ckt_redo_source(ckt *c, bool is_v, int32_t p, int32_t n, const wave *w, double m)
{
    ckt_redo *r = c->redo;
    const int32_t i = r->at.source++;
    if (r->why || i >= (int32_t)vec_len(c->sources->all) || c->sources->all[i].is_v != is_v ||
        c->sources->all[i].p != p || c->sources->all[i].n != n) {
        ckt_redo_fails(c, "other sources");
        return VS_REJECT;
    }
    nat_source *s = &c->sources->all[i];
    r->n.other |= other_values(&s->w, s->m, w, m);
    double *arg = (double *)(uintptr_t)s->w.arg;
    if (w->n_arg > s->w.n_arg)
        arg = arena_array(&c->mem, double, w->n_arg);
    if (w->n_arg)
        memcpy(arg, w->arg, (size_t)w->n_arg * sizeof *arg);
    double *memo = s->w.memo;
    s->w = *w;
    s->w.arg = arg;
    s->w.memo = memo;
    nat_source_forget(c->sources, &s->w);
    s->m = m;
    r->n.sources++;
    return VS_OK;
}

void ckt_redo_ic(ckt *c, int32_t p, int32_t n, double value)
{
    ckt_redo *r = c->redo;
    const int32_t i = r->at.ic++;
    if (r->why || i >= (int32_t)vec_len(c->ic) || c->ic[i].p != p || c->ic[i].n != n) {
        ckt_redo_fails(c, "other initial conditions");
        return;
    }
    c->ic[i].value = value;
    r->n.ics++;
}

/* -- rows -- */

/* All instances of a slot have the same new row? */
static bool moves_together(const ckt_redo *r, const dev_group *g, int32_t device)
{
    const int32_t slot = r->place[device], row = r->row[device];
    for (int32_t i = r->begin[device]; i < g->nb && g->row_of[i] == slot; i++)
        if (r->row[g->inst[i]] != row)
            return false;
    return true;
}

static bool same_variants(const dev_group *g, int32_t row)
{
    for (int f = 0; f < MDL_N_FORM; f++) {
        mdl_variant *v;
        if (!g->form[f].variant)
            continue;
        if (mdl_plan_get(g->model, row, (mdl_form_kind)f, &v) != VS_OK || v != g->form[f].variant)
            return false;
    }
    return true;
}

/* Is this the first instance of its slot, the one that stands for it? */
static bool stands_for_slot(const ckt_redo *r, const dev_group *g, int32_t device)
{
    return g->inst[r->begin[device]] == device;
}

/* Are small groups of one module still on one variant, or on several, and the same ones? */
static bool same_joins(const ckt *c, const ckt_redo *r)
{
    int32_t *row = NULL;
    for (size_t i = 0; i < vec_len(c->inst); i++)
        vec_push(row, r->row[i] >= 0 ? r->row[i] : c->inst[i].row);
    const bool same = ckt_same_groups(c, row, r->small, r->group);
    vec_free(row);
    return same;
}

static vs_status take_rows(ckt *c, ckt_redo *r)
{
    bool small = false;
    for (size_t k = 0; k < vec_len(r->changed); k++) {
        const int32_t d = r->changed[k];
        const dev_group *g = &c->group[r->group[d]];
        if (!stands_for_slot(r, g, d)) {
            if (r->row[g->inst[r->begin[d]]] != r->row[d]) {
                ckt_redo_fails(c, "which instances share a row");
                return VS_REJECT;
            }
            continue;
        }
        if (!moves_together(r, g, d)) {
            ckt_redo_fails(c, "which instances share a row");
            return VS_REJECT;
        }
        small |= r->small[d];
        if (g->n_variant == 1 && !same_variants(g, r->row[d])) {
            ckt_redo_fails(c, "the variants of models");
            return VS_REJECT;
        }
        map_remove(&r->slot_of, slot_key(r->group[d], g->row[r->place[d]]));
    }
    if (small && !same_joins(c, r)) {
        ckt_redo_fails(c, "the variants of models");
        return VS_REJECT;
    }
    for (size_t k = 0; k < vec_len(r->changed); k++) {
        const int32_t d = r->changed[k];
        const dev_group *g = &c->group[r->group[d]];
        if (!stands_for_slot(r, g, d))
            continue;
        if (map_get(&r->slot_of, slot_key(r->group[d], r->row[d]), -1) >= 0) {
            ckt_redo_fails(c, "which instances share a row");
            return VS_REJECT;
        }
        map_set(&r->slot_of, slot_key(r->group[d], r->row[d]), r->place[d]);
    }
    return VS_OK;
}

/* Setup of the new rows; the old ones are given back when no slot has them any more. */
static void set_rows(ckt *c, ckt_redo *r)
{
    int32_t *old = NULL, *of = NULL; /* vecs: rows, their groups */
    for (size_t k = 0; k < vec_len(r->changed); k++) {
        const int32_t d = r->changed[k];
        dev_group *g = &c->group[r->group[d]];
        if (!stands_for_slot(r, g, d))
            continue;
        vec_push(old, g->row[r->place[d]]);
        vec_push(of, r->group[d]);
        g->row[r->place[d]] = r->row[d];
        r->n.rows++;
    }
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        vec_clear(r->which);
        for (size_t k = 0; k < vec_len(r->changed); k++)
            if (r->group[r->changed[k]] == (int32_t)gi &&
                stands_for_slot(r, &c->group[gi], r->changed[k]))
                vec_push(r->which, r->place[r->changed[k]]);
        const unsigned forms = dev_rows_changed(&c->group[gi], r->which, vec_len(r->which));
        if (forms >> ckt_group_form(c, &c->group[gi], CKT_STATIC) & 1)
            r->n.other |= CKT_OTHER_STATIC;
        if (forms >> MDL_TRAN & 1 && c->small && ckt_small_has_pairs(c, (int32_t)gi))
            r->n.other |= CKT_OTHER_LINEAR;
    }
    for (size_t k = 0; k < vec_len(old); k++)
        if (map_get(&r->slot_of, slot_key(of[k], old[k]), -1) < 0)
            mdl_row_release(c->group[of[k]].model, old[k]);
    for (size_t k = 0; k < vec_len(r->changed); k++)
        c->inst[r->changed[k]].row = r->row[r->changed[k]];
    vec_free(old);
    vec_free(of);
}

void ckt_redo_note(ckt *c, bool on)
{
    ckt_redo *r = c->redo ? c->redo : make_redo(c);
    r->note = on;
}

bool ckt_redo_notes(const ckt *c) { return c->redo && c->redo->note; }

const ckt_other_row *ckt_redo_noted(const ckt *c, size_t *n)
{
    *n = vec_len(c->redo->noted);
    return c->redo->noted;
}

static void note_rows(ckt_redo *r)
{
    vec_clear(r->noted);
    for (size_t k = 0; k < vec_len(r->changed); k++)
        vec_push(r->noted, ((ckt_other_row){r->changed[k], r->row[r->changed[k]]}));
    for (size_t k = 0; k < vec_len(r->changed); k++)
        r->row[r->changed[k]] = -1;
    vec_clear(r->changed);
}

vs_status ckt_redo_end(ckt *c, double temp, const double *simparam, ckt_redone *what)
{
    ckt_redo *r = c->redo;
    vs_status st = r->why ? VS_REJECT : VS_OK;
    c->redoing = false;
    if (vec_len(r->changed))
        qsort(r->changed, vec_len(r->changed), sizeof *r->changed, vec_by_number);
    if (r->note)
        note_rows(r);
    if (!st)
        st = take_rows(c, r);
    if (!st)
        set_rows(c, r);
    c->opt.temp = temp;
    if (c->opt.simparam && simparam)
        memcpy((double *)(uintptr_t)c->opt.simparam, simparam, IR_N_SIMPARAM * sizeof *simparam);
    for (size_t k = 0; k < vec_len(r->changed); k++)
        r->row[r->changed[k]] = -1;
    vec_clear(r->changed);
    if (!st && !r->note)
        ckt_fresh(c);
    if (!st && r->n.other & CKT_OTHER_LINEAR && !ckt_small_refresh(c)) {
        ckt_redo_fails(c, "linear parts");
        st = VS_REJECT;
    }
    r->n.why = r->why;
    *what = r->n;
    return st;
}

void ckt_fresh(ckt *c)
{
    const size_t n1 = vec_len(c->unknown);
    for (size_t i = 0; i < vec_len(c->group); i++)
        dev_state_fresh(&c->group[i]);
    nat_fresh(&c->nat);
    memset(c->x, 0, n1 * sizeof *c->x);
    memset(c->qlo, 0, (n1 + CKT_PADDING) * sizeof *c->qlo);
    c->last_break = c->bound = 0;
    c->asked = INFINITY;
    c->loaded = false;
    c->env = (ckt_env){0};
    if (c->small)
        ckt_small_fresh(c);
    ckt_pairs_fresh(c);
    if (c->bypass)
        ckt_bypass_fresh(c);
}

/* -- what an operating point leaves behind -- */

bool ckt_state_size(const ckt *c, size_t *n)
{
    *n = 0;
    if (nat_accepts(&c->nat) || vec_len(c->wrap))
        return false;
    for (size_t i = 0; i < vec_len(c->group); i++) {
        for (int f = 0; f < MDL_N_FORM; f++)
            if (c->group[i].form[f].variant && c->group[i].form[f].variant->has_effects)
                return false;
        *n += dev_state_size(&c->group[i]);
    }
    return true;
}

void ckt_state_save(const ckt *c, double *to)
{
    for (size_t i = 0; i < vec_len(c->group); i++) {
        dev_state_save(&c->group[i], to);
        to += dev_state_size(&c->group[i]);
    }
}

void ckt_state_load(ckt *c, const double *from)
{
    for (size_t i = 0; i < vec_len(c->group); i++) {
        dev_state_load(&c->group[i], from);
        from += dev_state_size(&c->group[i]);
    }
}

static bool asks_for_analysis(const ckt *c, const dev_group *g)
{
    const mdl_variant *v = g->form[ckt_group_form(c, g, CKT_STATIC)].variant;
    for (size_t i = 0; i < vec_len(v->eval.in); i++) {
        const ir_input *in = &v->eval.in[i];
        if (in->kind == IR_IN_DYN &&
            (in->k == IR_DYN_IS_DC || in->k == IR_DYN_IS_IC || in->k == IR_DYN_IS_TRAN))
            return true;
    }
    return false;
}

bool ckt_same_start(const ckt *c)
{
    if (!nat_only_sources(&c->nat))
        return false;
    for (size_t i = 0; i < vec_len(c->sources->all); i++) {
        const nat_source *s = &c->sources->all[i];
        const bool random = s->w.kind == WAVE_TRNOISE || s->w.kind == WAVE_TRRANDOM;
        if (s->own.value || random || wave_dc(&s->w) != nat_source_at(s, 0))
            return false;
    }
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (asks_for_analysis(c, &c->group[i]))
            return false;
    return true;
}

void ckt_state_zero(ckt *c)
{
    for (size_t i = 0; i < vec_len(c->group); i++)
        dev_state_zero(&c->group[i]);
    nat_zero(&c->nat);
}

/* -- the ordering -- */

bool ckt_take_lu(ckt *c, lu_kind kind, lu_solver *lu)
{
    if (!c->spare.fac || c->spare.opt.kind != kind)
        return false;
    *lu = c->spare;
    c->spare = (lu_solver){0};
    return true;
}

void ckt_give_lu(ckt *c, lu_solver *lu)
{
    if (lu_forget(lu)) {
        lu_fini(&c->spare);
        c->spare = *lu;
        lu->fac = NULL;
    } else {
        lu_fini(lu);
    }
}
