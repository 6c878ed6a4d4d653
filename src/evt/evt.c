/* evt.c - see evt.h: building, the queue, the journal, the record. */
#include "evt_priv.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "evt_child.h"

enum {
    MOST_PASSES = 1000,       /* at one time: so many calls without delay are a loop */
    MOST_EVENTS = 1 << 22,    /* pending at one time */
    MOST_RECORD = 1 << 23,    /* changes in the record: 256 MB */
    COMPACT_JOURNAL = 1 << 12 /* committed entries, before they are dropped */
};

#define SAME_TIME 1e-14 /* times this far apart, relative, are the same */

/* -- values -- */

static const char *const texts[EVT_N_VALUE] = {"0s", "1s", "Us", "0r", "1r", "Ur",
                                               "0z", "1z", "Uz", "0u", "1u", "Uu"};

const char *evt_text(evt_value v) { return v < EVT_N_VALUE ? texts[v] : "??"; }

int evt_read(const char *text, size_t n)
{
    for (int v = 0; v < EVT_N_VALUE && n == 2; v++)
        if (str_lower_char(texts[v][0]) == str_lower_char(text[0]) && texts[v][1] == text[1])
            return v;
    return -1;
}

evt_value evt_resolve(evt_value a, evt_value b)
{
    const int sa = evt_strength(a), sb = evt_strength(b);
    const int state = evt_state(a) == evt_state(b) ? evt_state(a) : EVT_U;
    if (sa == EVT_UNDETERMINED || sb == EVT_UNDETERMINED)
        return evt_of(state, sa == EVT_STRONG || sb == EVT_STRONG ? EVT_STRONG : EVT_UNDETERMINED);
    return sa < sb ? a : sb < sa ? b : evt_of(state, sa);
}

/* -- models -- */

static const evt_code *find_code(const char *type)
{
    const evt_code *const all[] = {evt_gate_code, evt_flip_code, evt_table_code, evt_number_code,
                                   evt_process_code};
    for (size_t k = 0; k < VS_COUNT(all); k++)
        for (const evt_code *c = all[k]; c->type; c++)
            if (!strcmp(c->type, type))
                return c;
    return NULL;
}

/* -- building -- */

evt *evt_new(void)
{
    evt *e = vs_calloc(1, sizeof *e);
    arena_init(&e->mem);
    return e;
}

void evt_free(evt **pe)
{
    evt *e = *pe;
    *pe = NULL;
    if (!e)
        return;
    for (size_t i = 0; i < vec_len(e->node); i++) {
        vec_free(e->node[i].driver);
        vec_free(e->node[i].reader);
    }
    for (size_t i = 0; i < vec_len(e->part); i++)
        evt_child_free(&e->part[i].child);
    vec_free(e->part);
    vec_free(e->output);
    vec_free(e->node);
    vec_free(e->word);
    vec_free(e->real);
    vec_free(e->event);
    vec_free(e->spare);
    vec_free(e->heap);
    vec_free(e->journal);
    vec_free(e->record);
    vec_free(e->initial);
    vec_free(e->changed);
    vec_free(e->called);
    vec_free(e->is_called);
    vec_free(e->shown);
    arena_fini(&e->mem);
    vs_free(e);
}

int32_t evt_add_node(evt *e, const char *name, evt_kind kind)
{
    assert(!e->finished);
    vec_push(e->node, (node){.name = name, .kind = kind});
    return (int32_t)vec_len(e->node) - 1;
}

static int32_t add_output(evt *e, evt_pin pin, int32_t owner, const char *name)
{
    const int32_t k = (int32_t)vec_len(e->output);
    vec_push(
        e->output,
        (output){
            .node = pin.node, .invert = pin.invert, .part = owner, .name = name, .pending = -1});
    if (pin.node >= 0)
        vec_push(e->node[pin.node].driver, k);
    return k;
}

int32_t evt_add_driver(evt *e, const char *name, evt_pin pin)
{
    assert(!e->finished);
    return add_output(e, pin, -1, name);
}

static void add_reader(evt *e, int32_t at, int32_t owner)
{
    node *n = &e->node[at];
    if (!vec_len(n->reader) || vec_last(n->reader) != owner)
        vec_push(n->reader, owner);
}

static void *copy(evt *e, const void *from, size_t bytes)
{
    void *to = arena_alloc(&e->mem, bytes + 1);
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

static const char *const *copy_words(evt *e, const char *const *word)
{
    size_t n = 0;
    while (word[n])
        n++;
    const char **own = arena_array(&e->mem, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        own[i] = copy(e, word[i], strlen(word[i]) + 1);
    own[n] = NULL;
    return own;
}

static void connect(evt *e, part *p, const evt_part *from, int32_t index)
{
    int32_t n_pin = 0;
    for (int i = 0; i < EVT_MOST_PORTS && p->model->port[i].name; i++)
        n_pin += from->n[i];
    p->in = arena_array(&e->mem, evt_pin, n_pin + 1);
    p->out = (int32_t)vec_len(e->output);
    const evt_pin *pin = from->pin;
    for (int i = 0; i < EVT_MOST_PORTS && p->model->port[i].name; i++) {
        const bool out = p->model->port[i].out;
        p->first[i] = out ? p->n_out : p->n_in;
        p->n[i] = from->n[i];
        for (int32_t k = 0; k < from->n[i]; k++, pin++) {
            if (out) {
                (void)add_output(e, *pin, index, NULL);
                p->n_out++;
                continue;
            }
            p->in[p->n_in++] = *pin;
            if (pin->node >= 0)
                add_reader(e, pin->node, index);
        }
    }
}

int32_t evt_add_part(evt *e, const evt_part *from)
{
    assert(!e->finished);
    const int32_t index = (int32_t)vec_len(e->part);
    part p = {.name = from->name, .model = from->model, .code = find_code(from->model->type)};
    assert(p.code);
    memcpy(p.par, from->par, sizeof p.par);
    for (int i = 0; i < EVT_MOST_PARAMS; i++) {
        p.n_list[i] = from->list[i] ? from->n_list[i] : 0;
        p.list[i] = copy(e, from->list[i], (size_t)p.n_list[i] * sizeof(double));
    }
    p.table = from->table;
    p.table.number = copy(e, from->table.number, from->table.n_number * sizeof(double));
    p.table.value = copy(e, from->table.value, from->table.n_value);
    connect(e, &p, from, index);
    e->has_programs |= from->program != NULL;
    if (from->program)
        p.child = evt_child_new(from->host, copy_words(e, from->program), from->n[0], p.n_out);
    p.n_word = 2;
    p.n_real = 1;
    if (p.code->size)
        p.code->size(&p, &p.n_word, &p.n_real);
    p.word = (int32_t)vec_len(e->word);
    p.real = (int32_t)vec_len(e->real);
    if (p.n_word)
        vec_extend(e->word, p.n_word);
    if (p.n_real)
        vec_extend(e->real, p.n_real);
    vec_push(e->part, p);
    return p.out;
}

void evt_watch(evt *e, int32_t at, bool drivers)
{
    e->node[at].watched = true;
    e->node[at].watched_drivers |= drivers;
}

void evt_finish(evt *e)
{
    e->finished = true;
    if (vec_len(e->part))
        vec_extend(e->is_called, vec_len(e->part));
    if (vec_len(e->node)) {
        vec_extend(e->initial, vec_len(e->node));
        vec_extend(e->shown, vec_len(e->node));
    }
    evt_begin(e);
}

int32_t evt_n_node(const evt *e) { return (int32_t)vec_len(e->node); }
const char *evt_node_name(const evt *e, int32_t at) { return e->node[at].name; }
evt_kind evt_node_kind(const evt *e, int32_t at) { return e->node[at].kind; }

int32_t evt_find_node(const evt *e, const char *name)
{
    for (size_t i = 0; i < vec_len(e->node); i++)
        if (!strcmp(e->node[i].name, name))
            return (int32_t)i;
    return -1;
}

/* -- the journal -- */

/* old: slots and words are exact in it too. */
static void note(evt *e, undo_kind kind, int32_t at, double old)
{
    if (!e->is_static)
        vec_push(e->journal, (undo){.t = e->horizon, .old = old, .kind = kind, .at = at});
}

int32_t evt_get_word(const evt *e, const part *p, int32_t k)
{
    assert(k < p->n_word);
    return e->word[p->word + k];
}

void evt_set_word(evt *e, const part *p, int32_t k, int32_t v)
{
    assert(k < p->n_word);
    int32_t *w = &e->word[p->word + k];
    if (*w == v)
        return;
    note(e, UNDO_WORD, p->word + k, *w);
    *w = v;
}

double evt_get_real(const evt *e, const part *p, int32_t k)
{
    assert(k < p->n_real);
    return e->real[p->real + k];
}

void evt_set_real(evt *e, const part *p, int32_t k, double v)
{
    assert(k < p->n_real);
    double *r = &e->real[p->real + k];
    note(e, UNDO_REAL, p->real + k, *r);
    *r = v;
}

/* -- the queue -- */

static bool is_before(const evt *e, int32_t a, int32_t b)
{
    const event *x = &e->event[a], *y = &e->event[b];
    return x->t < y->t || (x->t == y->t && x->seq < y->seq);
}

static void heap_push(evt *e, int32_t slot)
{
    vec_push(e->heap, slot);
    size_t i = vec_len(e->heap) - 1;
    while (i > 0 && is_before(e, slot, e->heap[(i - 1) / 2])) {
        e->heap[i] = e->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    e->heap[i] = slot;
}

static int32_t heap_pop(evt *e)
{
    const int32_t top = e->heap[0], last = vec_pop(e->heap);
    const size_t n = vec_len(e->heap);
    size_t i = 0;
    while (n && 2 * i + 1 < n) {
        size_t child = 2 * i + 1;
        if (child + 1 < n && is_before(e, e->heap[child + 1], e->heap[child]))
            child++;
        if (!is_before(e, e->heap[child], last))
            break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    if (n)
        e->heap[i] = last;
    return top;
}

static int32_t new_event(evt *e, event v)
{
    int32_t slot = -1;
    if (vec_len(e->spare)) {
        slot = vec_pop(e->spare);
    } else {
        if (vec_len(e->event) >= MOST_EVENTS) {
            e->failed = true;
            e->culprit.queue = true;
            return -1;
        }
        slot = (int32_t)vec_len(e->event);
        vec_push(e->event, v);
    }
    v.seq = e->seq++;
    e->event[slot] = v;
    heap_push(e, slot);
    note(e, UNDO_POST, slot, 0);
    return slot;
}

static void set_next(evt *e, int32_t slot, int32_t next)
{
    note(e, UNDO_NEXT, slot, e->event[slot].next);
    e->event[slot].next = next;
}

static void set_pending(evt *e, int32_t o, int32_t slot)
{
    note(e, UNDO_PENDING, o, e->output[o].pending);
    e->output[o].pending = slot;
}

/* Events of an output at or behind the new one are removed: what a part decides later counts. */
static void post(evt *e, int32_t o, double v, double t)
{
    int32_t before = -1, at = e->output[o].pending;
    while (at >= 0 && e->event[at].t < t) {
        before = at;
        at = e->event[at].next;
    }
    for (; at >= 0; at = e->event[at].next) {
        note(e, UNDO_REMOVE, at, 0);
        e->event[at].removed = true;
    }
    const int32_t slot = new_event(e, (event){.t = t, .output = o, .next = -1, .value = v});
    if (slot < 0)
        return;
    if (before >= 0)
        set_next(e, before, slot);
    else
        set_pending(e, o, slot);
}

void evt_wake(evt *e, const part *p, double t)
{
    if (!e->is_static)
        (void)new_event(e, (event){.t = t, .output = (int32_t)(-1 - (p - e->part)), .next = -1});
}

/* -- nodes and parts -- */

static void mark_node(evt *e, int32_t at)
{
    if (at < 0 || e->node[at].marked)
        return;
    e->node[at].marked = true;
    vec_push(e->changed, at);
}

static void mark_part(evt *e, int32_t at)
{
    if (e->is_called[at])
        return;
    e->is_called[at] = 1;
    vec_push(e->called, at);
}

static void set_output(evt *e, int32_t o, double v)
{
    if (e->output[o].value == v)
        return;
    note(e, UNDO_OUTPUT, o, e->output[o].value);
    e->output[o].value = v;
    mark_node(e, e->output[o].node);
}

/* What an output that is connected drives. */
static double driven(const evt *e, const output *o, double v)
{
    if (!o->invert)
        return v;
    if (e->node[o->node].kind == EVT_NUMBER)
        return -v;
    const evt_value d = (evt_value)v;
    return evt_of(evt_not(evt_state(d)), evt_strength(d));
}

int evt_in(const evt *e, const part *p, int port, int32_t i)
{
    if (i >= p->n[port])
        return EVT_0;
    const evt_pin pin = p->in[p->first[port] + i];
    if (pin.node < 0)
        return EVT_0;
    const int s = evt_state((evt_value)e->node[pin.node].value);
    return pin.invert ? evt_not(s) : s;
}

double evt_in_number(const evt *e, const part *p, int port)
{
    const evt_pin pin = p->in[p->first[port]];
    const double v = e->node[pin.node].value;
    return pin.invert ? -v : v;
}

void evt_put_at(evt *e, const part *p, int port, int32_t i, double v, double t)
{
    if (i >= p->n[port])
        return;
    const int32_t o = p->out + p->first[port] + i;
    if (e->output[o].node < 0)
        return;
    if (e->is_static)
        set_output(e, o, driven(e, &e->output[o], v));
    else
        post(e, o, driven(e, &e->output[o], v), t);
}

void evt_put(evt *e, const part *p, int port, int32_t i, double v, double delay)
{
    evt_put_at(e, p, port, i, v, e->horizon + delay);
}

static double resolved(const evt *e, const node *n)
{
    double v = e->output[n->driver[0]].value;
    for (size_t k = 1; k < vec_len(n->driver); k++) {
        const double other = e->output[n->driver[k]].value;
        v = n->kind == EVT_NUMBER ? v + other : evt_resolve((evt_value)v, (evt_value)other);
    }
    return v;
}

static void note_overflow(evt *e, const node *n)
{
    e->culprit = (evt_culprit){.node = n->name, .time = e->horizon, .overflow = true};
    e->failed = true;
}

/* Nodes whose drivers changed, and the parts behind them. Returns whether a watched one changed. */
static bool pass_nodes(evt *e)
{
    bool watched = false;
    for (size_t i = 0; i < vec_len(e->changed); i++) {
        node *n = &e->node[e->changed[i]];
        const double v = resolved(e, n);
        n->marked = false;
        watched |= n->watched_drivers;
        if (v == n->value)
            continue;
        if (!isfinite(v)) {
            note_overflow(e, n);
            continue;
        }
        watched |= n->watched;
        note(e, UNDO_NODE, e->changed[i], n->value);
        if (!e->is_static)
            vec_push(e->record, (evt_change){e->horizon, v, n->value, e->changed[i]});
        n->value = v;
        for (size_t k = 0; k < vec_len(n->reader); k++)
            mark_part(e, n->reader[k]);
    }
    vec_clear(e->changed);
    return watched;
}

static void call_parts(evt *e)
{
    for (size_t i = 0; i < vec_len(e->called); i++) {
        const part *p = &e->part[e->called[i]];
        e->is_called[e->called[i]] = 0;
        p->code->call(e, p);
    }
    vec_clear(e->called);
}

/* Names a part that was to be called once more, or a node that was to change. */
static void note_loop(evt *e)
{
    e->culprit = (evt_culprit){.time = e->horizon};
    for (size_t i = 0; i < vec_len(e->changed) && !e->culprit.node; i++) {
        const node *n = &e->node[e->changed[i]];
        const int32_t from = e->output[n->driver[0]].part;
        e->culprit.node = n->name;
        e->culprit.part = from >= 0 ? e->part[from].name : e->output[n->driver[0]].name;
    }
    for (size_t i = 0; i < vec_len(e->heap) && !e->culprit.node; i++) {
        const event *v = &e->event[e->heap[i]];
        if (v->t > e->horizon || v->removed || v->output < 0)
            continue;
        const output *o = &e->output[v->output];
        e->culprit.node = e->node[o->node].name;
        e->culprit.part = o->part >= 0 ? e->part[o->part].name : o->name;
    }
}

void evt_fail(evt *e, const part *p, const char *why)
{
    e->failed = true;
    e->culprit = (evt_culprit){
        .part = p->name, .time = e->horizon, .program = why, .file = evt_child_file(p->child)};
}

evt_culprit evt_blame(const evt *e) { return e->culprit; }

/* -- static analyses -- */

static void drop_queue(evt *e)
{
    vec_clear(e->event);
    vec_clear(e->spare);
    vec_clear(e->heap);
    vec_clear(e->journal);
    e->n_done = 0;
    e->seq = 0;
    e->failed = false;
    e->culprit = (evt_culprit){0};
    for (size_t i = 0; i < vec_len(e->output); i++)
        e->output[i].pending = -1;
}

static void drop_work(evt *e)
{
    for (size_t i = 0; i < vec_len(e->changed); i++)
        e->node[e->changed[i]].marked = false;
    for (size_t i = 0; i < vec_len(e->called); i++)
        e->is_called[e->called[i]] = 0;
    vec_clear(e->changed);
    vec_clear(e->called);
}

void evt_begin(evt *e)
{
    const evt_value none = evt_of(EVT_0, EVT_UNDETERMINED);
    drop_queue(e);
    drop_work(e);
    e->is_static = e->first = true;
    e->horizon = e->committed = 0;
    for (size_t i = 0; i < vec_len(e->node); i++)
        e->node[i].value = e->initial[i] = e->shown[i] = e->node[i].kind == EVT_NUMBER ? 0 : none;
    for (size_t i = 0; i < vec_len(e->output); i++)
        e->output[i].value =
            e->output[i].node >= 0 ? e->node[e->output[i].node].value : (double)none;
    if (e->word)
        memset(e->word, 0, vec_len(e->word) * sizeof *e->word);
    if (e->real)
        memset(e->real, 0, vec_len(e->real) * sizeof *e->real);
    for (size_t i = 0; i < vec_len(e->part); i++)
        if (e->part[i].code->begin)
            e->part[i].code->begin(e, &e->part[i]);
    vec_clear(e->record);
    e->n_shown = 0;
    e->dropped = 0;
}

static void set_driver(evt *e, int32_t driver, evt_value v)
{
    if (e->output[driver].node >= 0)
        set_output(e, driver, driven(e, &e->output[driver], v));
}

void evt_drive(evt *e, int32_t driver, evt_value v)
{
    assert(e->is_static);
    set_driver(e, driver, v);
}

vs_status evt_settle(evt *e)
{
    assert(e->is_static);
    for (size_t i = 0; e->first && i < vec_len(e->part); i++)
        mark_part(e, (int32_t)i);
    e->first = false;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        (void)pass_nodes(e);
        call_parts(e);
        if (!vec_len(e->changed))
            return VS_OK;
    }
    note_loop(e);
    drop_work(e);
    return VS_NOCONV;
}

double evt_now(const evt *e, int32_t at) { return e->node[at].value; }

evt_value evt_others(const evt *e, int32_t at, int32_t but)
{
    const node *n = &e->node[at];
    int v = -1;
    for (size_t k = 0; k < vec_len(n->driver); k++) {
        const evt_value other = (evt_value)e->output[n->driver[k]].value;
        if (n->driver[k] != but)
            v = v < 0 ? other : evt_resolve((evt_value)v, other);
    }
    return v < 0 ? evt_of(EVT_U, EVT_HIZ) : (evt_value)v;
}

/* -- transients -- */

void evt_start(evt *e)
{
    drop_queue(e);
    drop_work(e);
    e->is_static = false;
    e->horizon = e->committed = e->dropped = 0;
    vec_clear(e->record);
    e->n_shown = 0;
    for (size_t i = 0; i < vec_len(e->node); i++)
        e->initial[i] = e->shown[i] = e->node[i].value;
    for (size_t i = 0; i < vec_len(e->part); i++)
        if (e->part[i].code->start)
            e->part[i].code->start(e, &e->part[i]);
    evt_commit(e, 0);
}

static void take_event(evt *e)
{
    const int32_t slot = heap_pop(e);
    const event v = e->event[slot];
    note(e, UNDO_POP, slot, 0);
    if (v.removed)
        return;
    if (v.output < 0) {
        mark_part(e, -1 - v.output);
        return;
    }
    set_pending(e, v.output, v.next);
    set_output(e, v.output, v.value);
}

static void forget_removed(evt *e)
{
    while (vec_len(e->heap) && e->event[e->heap[0]].removed)
        note(e, UNDO_POP, heap_pop(e), 0);
}

double evt_next(evt *e)
{
    forget_removed(e);
    return vec_len(e->heap) ? e->event[e->heap[0]].t : INFINITY;
}

double evt_horizon(const evt *e) { return e->horizon; }

/* Whether the first event happens at the horizon. Times differ by rounding where sums of delays
 * come to the same time on two ways. */
static bool is_due(const evt *e)
{
    return vec_len(e->heap) && e->event[e->heap[0]].t <= e->horizon * (1 + SAME_TIME);
}

/* All that happens at the time of the first event. */
static vs_status run_time(evt *e, bool *changed)
{
    e->horizon = fmax(e->event[e->heap[0]].t, e->horizon);
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        while (is_due(e))
            take_event(e);
        *changed |= pass_nodes(e);
        call_parts(e);
        *changed |= e->halt;
        e->halt = false;
        if (e->failed)
            break;
        if (!is_due(e))
            return VS_OK;
    }
    if (!e->culprit.overflow && !e->culprit.program) {
        const bool queue = e->failed;
        note_loop(e);
        e->culprit.queue = queue;
    }
    drop_work(e);
    e->failed = true;
    return VS_NOCONV;
}

vs_status evt_run(evt *e, double until, int most, bool *changed)
{
    *changed = false;
    if (e->failed)
        return VS_NOCONV;
    for (int i = 0; i < most; i++) {
        if (evt_next(e) > until || !vec_len(e->heap)) {
            if (until > e->horizon && isfinite(until))
                e->horizon = until;
            return VS_OK;
        }
        const vs_status st = run_time(e, changed);
        if (st != VS_OK || *changed)
            return st;
    }
    return VS_OK;
}

static void take_back(evt *e, const undo *u)
{
    switch (u->kind) {
    case UNDO_NODE: e->node[u->at].value = u->old; break;
    case UNDO_OUTPUT: e->output[u->at].value = u->old; break;
    case UNDO_WORD: e->word[u->at] = (int32_t)u->old; break;
    case UNDO_REAL: e->real[u->at] = u->old; break;
    case UNDO_POP: heap_push(e, u->at); break;
    case UNDO_POST: /* nobody refers to it: it goes when its time has come */
        e->event[u->at].removed = true;
        break;
    case UNDO_REMOVE: e->event[u->at].removed = false; break;
    case UNDO_PENDING: e->output[u->at].pending = (int32_t)u->old; break;
    case UNDO_NEXT: e->event[u->at].next = (int32_t)u->old; break;
    }
}

/* The last change of the record is taken out of it. */
static void forget_change(evt *e)
{
    const evt_change c = vec_pop(e->record);
    if (e->n_shown > vec_len(e->record)) {
        e->shown[c.node] = c.old;
        e->n_shown--;
    }
}

void evt_rollback(evt *e, double t)
{
    assert(t >= e->committed);
    while (vec_len(e->journal) > e->n_done && vec_last(e->journal).t > t) {
        take_back(e, &vec_last(e->journal));
        (void)vec_pop(e->journal);
    }
    while (vec_len(e->record) && vec_last(e->record).t > t)
        forget_change(e);
    e->horizon = fmin(e->horizon, t);
    e->failed = false;
    e->culprit = (evt_culprit){0};
}

void evt_post(evt *e, int32_t driver, evt_value v, double at)
{
    assert(!e->is_static && at >= e->horizon);
    if (e->output[driver].node >= 0)
        post(e, driver, driven(e, &e->output[driver], v), at);
}

/* There is room for so many changes; of more the oldest half goes. */
static void limit_record(evt *e, double t)
{
    const size_t n = vec_len(e->record);
    if (n < MOST_RECORD || e->record[n / 2].t >= t)
        return;
    const size_t half = n / 2;
    for (; e->n_shown < half; e->n_shown++)
        e->shown[e->record[e->n_shown].node] = e->record[e->n_shown].value;
    for (size_t i = 0; i < half; i++)
        e->initial[e->record[i].node] = e->record[i].value;
    e->dropped = e->record[half].t;
    memmove(e->record, e->record + half, (n - half) * sizeof *e->record);
    vec_head_of(e->record)->len = n - half;
    e->n_shown -= half;
}

void evt_commit(evt *e, double t)
{
    assert(t <= e->horizon);
    e->committed = t;
    for (; e->n_done < vec_len(e->journal) && e->journal[e->n_done].t <= t; e->n_done++) {
        const undo *u = &e->journal[e->n_done];
        if (u->kind == UNDO_POP)
            vec_push(e->spare, u->at);
    }
    if (e->n_done == vec_len(e->journal)) {
        vec_clear(e->journal);
        e->n_done = 0;
    } else if (e->n_done > COMPACT_JOURNAL && e->n_done > vec_len(e->journal) / 2) {
        const size_t left = vec_len(e->journal) - e->n_done;
        memmove(e->journal, e->journal + e->n_done, left * sizeof *e->journal);
        vec_head_of(e->journal)->len = left;
        e->n_done = 0;
    }
    limit_record(e, t);
    if (e->has_programs && e->n_done == vec_len(e->journal))
        for (size_t i = 0; i < vec_len(e->part); i++)
            if (e->part[i].child)
                evt_child_settle(e->part[i].child, evt_child_n(e->part[i].child));
}

/* -- the record -- */

const evt_change *evt_record(const evt *e, size_t *n)
{
    *n = vec_len(e->record);
    while (*n && e->record[*n - 1].t > e->committed)
        (*n)--;
    return e->record;
}

double evt_change_from(const evt *e, double t)
{
    size_t lo = 0, hi;
    const evt_change *r = evt_record(e, &hi);
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (r[mid].t < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < vec_len(e->record) && r[lo].t <= e->committed ? r[lo].t : INFINITY;
}

const double *evt_initial(const evt *e) { return e->initial; }

double evt_dropped(const evt *e) { return e->dropped; }

double evt_before(evt *e, int32_t at, double t)
{
    for (; e->n_shown < vec_len(e->record) && e->record[e->n_shown].t < t; e->n_shown++)
        e->shown[e->record[e->n_shown].node] = e->record[e->n_shown].value;
    for (; e->n_shown > 0 && e->record[e->n_shown - 1].t >= t; e->n_shown--)
        e->shown[e->record[e->n_shown - 1].node] = e->record[e->n_shown - 1].old;
    return e->shown[at];
}

/* -- images -- */

static evt_kind kind_of(const evt *e, int32_t o)
{
    return e->output[o].node < 0 ? EVT_DIGITAL : e->node[e->output[o].node].kind;
}

static void value_image(image *im, double *v, evt_kind kind)
{
    const bool number = kind == EVT_NUMBER;
    IMAGE_WITHIN(im, *v, number ? -DBL_MAX : 0, number ? DBL_MAX : EVT_N_VALUE - 1);
    if (im->giving && !number && *v != trunc(*v)) {
        *v = 0;
        image_refuse(im);
    }
}

/* Live events only, in their order; slots are numbered anew on both sides, so that both go on in
 * the same way. */
static void queue_image(evt *e, image *im)
{
    event *live = NULL;
    while (!im->giving && vec_len(e->heap)) {
        const int32_t slot = heap_pop(e);
        if (!e->event[slot].removed)
            vec_push(live, e->event[slot]);
    }
    size_t n = image_count(im, vec_len(live), 2 * sizeof(double) + sizeof(int32_t));
    if (im->giving && n)
        vec_extend(live, n);
    const double horizon = e->horizon;
    const bool was_static = e->is_static;
    drop_queue(e);
    for (size_t i = 0; i < n; i++) {
        IMAGE_WITHIN(im, live[i].t, horizon, INFINITY);
        IMAGE_WITHIN(im, live[i].output, -(int32_t)vec_len(e->part),
                     (int32_t)vec_len(e->output) - 1);
        value_image(im, &live[i].value,
                    live[i].output < 0 ? EVT_DIGITAL : kind_of(e, live[i].output));
    }
    e->is_static = true; /* no journal */
    for (size_t i = 0; i < n && !im->wrong; i++) {
        if (live[i].output >= 0)
            post(e, live[i].output, live[i].value, live[i].t);
        else
            (void)new_event(e, (event){.t = live[i].t, .output = live[i].output, .next = -1});
    }
    e->is_static = was_static;
    vec_free(live);
}

static void values_image(evt *e, image *im)
{
    for (size_t i = 0; i < vec_len(e->node); i++) {
        value_image(im, &e->node[i].value, e->node[i].kind);
        value_image(im, &e->initial[i], e->node[i].kind);
    }
    for (size_t i = 0; i < vec_len(e->output); i++)
        value_image(im, &e->output[i].value, kind_of(e, (int32_t)i));
    IMAGE_ARRAY(im, e->word, vec_len(e->word));
    IMAGE_ARRAY(im, e->real, vec_len(e->real));
}

static void record_image(evt *e, image *im)
{
    const int32_t n_node = (int32_t)vec_len(e->node);
    const size_t n = image_count(im, vec_len(e->record), 3 * sizeof(double) + sizeof(int32_t));
    if (im->giving) {
        vec_clear(e->record);
        if (n)
            vec_extend(e->record, n);
    }
    for (size_t i = 0; i < n; i++) {
        evt_change *c = &e->record[i];
        IMAGE_WITHIN(im, c->t, i ? e->record[i - 1].t : 0, e->horizon);
        IMAGE_WITHIN(im, c->node, 0, n_node - 1);
        if (im->wrong)
            break;
        value_image(im, &c->value, e->node[c->node].kind);
        value_image(im, &c->old, e->node[c->node].kind);
    }
    if (im->wrong)
        vec_clear(e->record);
    e->n_shown = 0;
    for (int32_t i = 0; i < n_node; i++)
        e->shown[i] = e->initial[i];
}

void evt_image(evt *e, image *im)
{
    if (!im->giving && !e->is_static) {
        evt_rollback(e, e->committed);
        evt_commit(e, e->committed);
    }
    IMAGE_ONE(im, e->is_static);
    IMAGE_ONE(im, e->first);
    IMAGE_ONE(im, e->dropped);
    IMAGE_WITHIN(im, e->committed, 0, INFINITY);
    e->horizon = e->committed;
    values_image(e, im);
    record_image(e, im);
    queue_image(e, im);
    for (size_t i = 0; i < vec_len(e->part) && !im->wrong; i++)
        if (e->part[i].child)
            evt_child_image(e->part[i].child, im);
}

void evt_identity(const evt *e, image *im)
{
    static const char other[] = "it is of a circuit with other digital parts";
    const uint64_t n[] = {vec_len(e->part), vec_len(e->output), vec_len(e->node), vec_len(e->word),
                          vec_len(e->real)};
    IMAGE_SAME(im, n, other);
    for (size_t i = 0; i < vec_len(e->node) && !im->wrong; i++)
        IMAGE_SAME(im, e->node[i].kind, other);
    for (size_t i = 0; i < vec_len(e->output) && !im->wrong; i++) {
        const int32_t o[] = {e->output[i].node, e->output[i].invert, e->output[i].part};
        IMAGE_SAME(im, o, other);
    }
    for (size_t i = 0; i < vec_len(e->part) && !im->wrong; i++) {
        const part *p = &e->part[i];
        const hash128 h[] = {
            hash128_of(p->model->type, strlen(p->model->type)), hash128_of(p->par, sizeof p->par),
            hash128_of(p->table.number, p->table.n_number * sizeof *p->table.number),
            hash128_of(p->table.value, p->table.n_value)};
        IMAGE_SAME(im, h, other);
        if (p->child)
            evt_child_identity(p->child, im, other);
        for (int k = 0; k < EVT_MOST_PARAMS && !im->wrong; k++) {
            const hash128 l = hash128_of(p->list[k], (size_t)p->n_list[k] * sizeof(double));
            IMAGE_SAME(im, l, other);
        }
        for (int32_t k = 0; k < p->n_in && !im->wrong; k++) {
            const int32_t pin[] = {p->in[k].node, p->in[k].invert};
            IMAGE_SAME(im, pin, other);
        }
    }
}
