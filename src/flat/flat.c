/* flat.c - a deck of cards to a flat netlist: the driver. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

static flat_ctx begin(flat *f, const net_deck *deck, diag *d, str_pool *names, arena *mem,
                      double temper)
{
    *f = (flat){.mem = mem, .title = deck->title, .xyce = deck->xyce};
    flat_ctx c = {.f = f,
                  .deck = deck,
                  .d = d,
                  .names = names,
                  .mem = mem,
                  .temper = temper,
                  .nominal = DIAG_NOWHERE,
                  .n_error = d->n_error};
    arena_init(&c.scratch);
    c.body = arena_array(mem, body *, deck->n_sub);
    vec_push(f->node, str_intern0(names, "0"));
    map_set(&c.top_node, map_key(f->node[0]), 0);
    flat_start_eval(&c);
    return c;
}

static void freeze(flat_ctx *c)
{
    flat *f = c->f;
    vec_freeze(c->mem, f->node);
    vec_freeze(c->mem, f->inst);
    vec_freeze(c->mem, f->model);
    vec_freeze(c->mem, f->model_name);
    vec_freeze(c->mem, f->ic);
    vec_freeze(c->mem, f->nodeset);
    vec_freeze(c->mem, f->ana);
    vec_freeze(c->mem, f->option);
    vec_freeze(c->mem, f->save);
    vec_freeze(c->mem, f->lack);
    vec_freeze(c->mem, f->step);
    vec_freeze(c->mem, f->limit);
    vec_freeze(c->mem, f->correlate);
    vec_freeze(c->mem, f->used);
    vec_freeze(c->mem, f->post);
    vec_freeze(c->mem, f->temp);
    vec_freeze(c->mem, f->hdl);
    vec_freeze(c->mem, f->hdl_span);
}

void flat_ctx_free(flat_ctx *c)
{
    for (int32_t i = 0; i < c->deck->n_sub; i++)
        flat_body_free(c->body[i]);
    map *m[] = {&c->top_node, &c->is_global, &c->sub_param, &c->said,
                &c->inst_of,  &c->node_of,   &c->shared,    &c->pin_of};
    for (size_t i = 0; i < VS_COUNT(m); i++)
        map_free(m[i]);
    vec_free(c->busy);
    vec_free(c->pend);
    vec_free(c->pend_node);
    vec_free(c->top);
    vec_free(c->model_home);
    vec_free(c->lent);
    vec_free(c->share);
    vec_free(c->alter);
    vec_free(c->probe);
    vec_free(c->pin);
    arena_fini(&c->scratch);
}

static void finish(flat_ctx *c)
{
    freeze(c);
    flat_ctx_free(c);
}

/* Ends the reading of a card: notes what its analysis depends on. When a knob changes, its numbers
 * can be read again, but neither can the values of .dc, nor can it come or go: these are structure.
 */
static void end_card(flat_ctx *c, const net_card *card, size_t n_ana, busy before)
{
    const size_t n = vec_len(c->f->ana);
    if (n == n_ana + 1 && card->kind != NET_CARD_DC)
        flat_slot_end(c, c->root, NULL, before,
                      (flat_slot_at){.kind = SLOT_ANA, .k = (int32_t)n_ana, .card = card});
    else
        flat_structural(c);
}

static void take_top_cards(flat_ctx *c)
{
    const card_ref *r = c->root->b->other;
    for (size_t i = 0; i < vec_len(r); i++)
        if (flat_on(c->root, r[i].guard)) {
            const busy before = flat_slot_begin(c);
            const size_t n_ana = vec_len(c->f->ana);
            flat_top_card(c, r[i].card);
            end_card(c, r[i].card, n_ana, before);
        }
    if (!c->deck->stepping)
        flat_step_finish(c);
    for (size_t i = 0; i < vec_len(c->deck->hdl); i++) {
        vec_push(c->f->hdl, c->deck->hdl[i]);
        vec_push(c->f->hdl_span, c->deck->hdl_span[i]);
    }
    for (size_t i = 0; i < vec_len(c->root->b->model); i++)
        vec_push(c->f->model_name, c->root->b->model[i].name);
}

static bool used_by_loops(const flat_ctx *c, const char *name)
{
    for (size_t i = 0; i < c->n_over; i++)
        if (c->over[i].used && !str_casecmp(c->over[i].name, name))
            return true;
    return false;
}

/* Automatic bridges between analog and digital nodes have the levels of a parameter vcc. */
static void take_supply(flat_ctx *c)
{
    bool codes = false;
    for (size_t i = 0; i < vec_len(c->f->inst) && !codes; i++)
        codes = strchr("au", c->f->inst[i].letter) != NULL;
    c->f->vcc = NAN;
    c->mask = 0;
    const pval *p = codes ? flat_number_of(c, c->root, str_intern0(c->names, "vcc")) : NULL;
    if (p)
        c->f->vcc = p->value;
    flat_structural(c);
}

/* Warns of a value from outside for a parameter that the deck neither defines nor reads. */
static void report_unused(flat_ctx *c)
{
    const body *b = c->root->b;
    for (size_t i = 0; i < vec_len(b->param_name); i++) {
        const pval *p = &c->root->param[i];
        if (b->param_last[i] >= 0 || !p->fixed || p->used || used_by_loops(c, b->param_name[i]))
            continue;
        diag_warning(c->d, DIAG_NOWHERE,
                     "the deck has no parameter '%s' for the value given from outside",
                     b->param_name[i]);
        const char **near = NULL;
        for (size_t k = 0; k < vec_len(b->param_name); k++)
            if (b->param_last[k] >= 0)
                vec_push(near, b->param_name[k]);
        diag_suggest(c->d, b->param_name[i], near, vec_len(near));
        vec_free(near);
    }
}

static void list_used(flat_ctx *c)
{
    const body *b = c->root->b;
    for (size_t i = 0; i < vec_len(b->param_name); i++)
        if (c->root->param[i].used)
            vec_push(c->f->used, b->param_name[i]);
}

vs_status flat_build(flat *f, const net_deck *deck, diag *d, str_pool *names, arena *mem,
                     double temper, const flat_override *over, size_t n_over, flat_plan *plan,
                     const flat_terminals *t)
{
    int before = d->n_error;
    bool shares = false;
    flat_ctx c = begin(f, deck, d, names, mem, temper);
    f->terminals = t;
    c.over = over;
    c.n_over = n_over;
    c.plan = plan;
    flat_root(&c);
    flat_expand(&c, c.root);
    if (!c.stop) {
        take_top_cards(&c);
        flat_resolve_pending(&c);
        take_supply(&c);
        report_unused(&c);
        if (!deck->taken)
            flat_correlate_report(&c);
        if (d->n_error == before)
            shares = flat_probes(&c);
        if (d->n_error == before)
            shares |= flat_share(&c, false);
        list_used(&c);
    }
    f->drew = c.ever_drew;
    f->nominal = c.nominal.file >= 0;
    if (f->nominal && !deck->taken && !f->mc && d->n_error == before)
        diag_note(d, c.nominal,
                  "statistical functions have their nominal values here; .option seed=1 or .mc "
                  "makes them draw");
    str_drop_notes(names); /* of flat_slot_of: all bodies are read */
    if (plan && d->n_error == before) {
        freeze(&c);
        flat_plan_keep(plan, &c, shares);
    } else {
        finish(&c);
    }
    return d->n_error > before ? VS_EINPUT : VS_OK;
}

/* The state in which more cards of a deck can be read: its parameters, with the elements and nodes
 * of f, an earlier expansion. Warnings are off: that expansion gave them. */
static flat_ctx resume(flat *out, const flat *f, const net_deck *deck, diag *d, str_pool *names,
                       arena *mem, double temper, const flat_override *over, size_t n_over)
{
    flat_ctx c = begin(out, deck, d, names, mem, temper);
    vec_free(out->node);
    out->node = f->node;
    out->inst = f->inst;
    out->model = f->model;
    out->terminals = f->terminals;
    for (size_t i = 1; i < vec_len(f->node); i++)
        map_set(&c.top_node, map_key(f->node[i]), (int32_t)i);
    c.over = over;
    c.n_over = n_over;
    c.declarations = true;
    const diag_mark said = diag_try(d);
    flat_body(&c, deck->top);
    flat_root(&c);
    if (d->n_error == said.n_error)
        diag_take_back(d, said);
    return c;
}

static void leave(flat_ctx *c)
{
    c->f->node = NULL; /* these belong to the other netlist */
    c->f->inst = NULL;
    c->f->model = NULL;
    finish(c);
}

vs_status flat_card(flat *out, const flat *f, const net_deck *deck, diag *d, str_pool *names,
                    arena *mem, double temper, const flat_override *over, size_t n_over,
                    const net_card *card)
{
    int before = d->n_error;
    flat_ctx c = resume(out, f, deck, d, names, mem, temper, over, n_over);
    flat_top_card(&c, card);
    flat_resolve_pending(&c);
    leave(&c);
    return d->n_error > before ? VS_EINPUT : VS_OK;
}

bool flat_param_value(const flat *f, const net_deck *deck, diag *d, str_pool *names, arena *mem,
                      double temper, const flat_override *over, size_t n_over, const char *name,
                      double *value)
{
    flat out;
    flat_ctx c = resume(&out, f, deck, d, names, mem, temper, over, n_over);
    const pval *p = flat_find_param(&c, c.root, flat_csparam_name(&c, name));
    p = p ? p : flat_find_param(&c, c.root, name);
    bool ok = p && !p->str;
    if (ok)
        *value = p->value;
    leave(&c);
    return ok;
}

/* Messages are left to flat_build, which reads the same cards again. */
void flat_options(flat *f, const net_deck *deck, diag *d, str_pool *names, arena *mem)
{
    diag quiet;
    diag_quiet_init(&quiet, d);
    flat_ctx c = begin(f, deck, &quiet, names, mem, 27);
    c.declarations = true;
    body *b = flat_body(&c, deck->top);
    flat_root(&c);
    for (size_t i = 0; i < vec_len(b->other); i++) {
        net_card_kind kind = b->other[i].card->kind;
        if (flat_on(c.root, b->other[i].guard) &&
            (kind == NET_CARD_OPTION || kind == NET_CARD_TEMP))
            flat_option_card(&c, b->other[i].card);
    }
    finish(&c);
    diag_quiet_fini(&quiet);
}
