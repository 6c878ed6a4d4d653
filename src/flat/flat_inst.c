/* flat_inst.c - expansion: scopes of subcircuit instances, nodes, flat elements. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"
#include "heap.h"

enum { MAX_DEPTH = 200 };
static const double max_weight = 1e7; /* instances, terminals counted in; about 6 GB */

/* -- names -- */

const char *flat_join_path(flat_ctx *c, const char *path, size_t path_len, const char *name)
{
    char buf[256], *p = buf;
    size_t n = strlen(name), all = path_len + n;
    arena_pos mark = arena_mark(&c->scratch);
    if (all > sizeof buf)
        p = arena_alloc(&c->scratch, all);
    memcpy(p, path, path_len);
    memcpy(p + path_len, name, n);
    const char *r = str_intern(c->names, p, all);
    arena_release(&c->scratch, mark);
    return r;
}

const char *flat_join(flat_ctx *c, const scope *s, const char *name)
{
    return s->path_len ? flat_join_path(c, s->path, s->path_len, name) : name;
}

static int32_t new_node(flat_ctx *c, const char *name)
{
    if (c->redoing) { /* an expression reads a node that was not there */
        c->structural = true;
        return 0;
    }
    vec_push(c->f->node, name);
    return (int32_t)vec_len(c->f->node) - 1;
}

static bool is_ground(const char *name) { return !strcmp(name, "0") || !strcmp(name, "gnd"); }

static int32_t find_top_node(flat_ctx *c, const char *name)
{
    if (is_ground(name))
        return 0;
    int32_t n = map_get(&c->top_node, map_key(name), -1);
    /* a whole expansion would make this node of the top level at this point */
    c->structural |= c->first_new && (n < 0 || n >= c->first_new);
    if (n < 0) {
        n = new_node(c, name);
        map_set(&c->top_node, map_key(name), n);
        if (c->plan)
            vec_push(c->top, name);
    }
    return n;
}

/* PSpice's nodes $g_..., in a deck of Xyce's $g..., are global without a card. */
bool flat_is_global(const flat_ctx *c, const char *name)
{
    return (name[0] == '$' && name[1] == 'g' && (name[2] == '_' || c->deck->xyce)) ||
           map_get(&c->is_global, map_key(name), 0);
}

int32_t flat_node(flat_ctx *c, scope *s, int32_t slot)
{
    if (s->node[slot] >= 0)
        return s->node[slot];
    const char *name = s->b->slot_name[slot];
    int32_t n;
    for (size_t i = 0; i < vec_len(s->b->optional); i++)
        if (s->b->optional[i].slot == slot) {
            c->n_apart++;
            return s->node[slot] = find_top_node(c, s->b->optional[i].node);
        }
    if (s == c->root || is_ground(name) || flat_is_global(c, name))
        n = find_top_node(c, name);
    else
        n = new_node(c, flat_join(c, s, name));
    return s->node[slot] = n;
}

/* -- scopes -- */

static scope *new_scope(flat_ctx *c, body *b, scope *lex, scope *caller)
{
    scope *s = arena_new(&c->scratch, scope);
    *s = (scope){.lex = lex, .caller = caller, .b = b, .path = "", .m = 1};
    size_t n_slot = vec_len(b->slot_name);
    s->depth = caller ? caller->depth + 1 : 0;
    s->param = arena_array(&c->scratch, pval, vec_len(b->param_name));
    s->model = arena_array(&c->scratch, flat_model *, vec_len(b->model));
    s->on = arena_array(&c->scratch, uint8_t, vec_len(b->branch));
    s->node = arena_array(&c->scratch, int32_t, n_slot);
    memset(s->node, 0xff, n_slot * sizeof *s->node);
    return s;
}

static void give_params(flat_ctx *c, scope *s)
{
    for (size_t i = 0; i < c->n_over; i++) {
        const char *name = str_intern_lower(c->names, c->over[i].name, strlen(c->over[i].name));
        int32_t k = map_get(&s->b->param_slot, map_key(name), -1);
        if (k < 0)
            continue;
        rhs *v = arena_new(c->mem, rhs);
        *v = flat_number(c, c->over[i].value, DIAG_NOWHERE);
        s->param[k] = (pval){.v = v,
                             .where = s,
                             .fixed = true,
                             .path = "",
                             .span = DIAG_NOWHERE,
                             .knob = knob_bit(i)};
    }
    flat_watch_params(c, s);
}

/* Defines the parameters from outside that the deck does not define. */
static void declare_over(flat_ctx *c, body *b)
{
    for (size_t i = 0; i < c->n_over; i++) {
        const char *name = str_intern_lower(c->names, c->over[i].name, strlen(c->over[i].name));
        if (map_get(&b->param_slot, map_key(name), -1) >= 0)
            continue;
        map_set(&b->param_slot, map_key(name), (int32_t)vec_len(b->param_name));
        vec_push(b->param_name, name);
        vec_push(b->param_last, -1);
    }
}

/* Copies the names "sub.name" of `over`: a plan needs them when the caller's list is gone. */
static void note_altered(flat_ctx *c)
{
    c->altered = arena_array(c->mem, const char *, c->n_over);
    c->n_altered = 0;
    for (size_t i = 0; i < c->n_over; i++)
        if (strchr(c->over[i].name, '.'))
            c->altered[c->n_altered++] =
                str_intern_lower(c->names, c->over[i].name, strlen(c->over[i].name));
}

scope *flat_root(flat_ctx *c)
{
    body *b = flat_body(c, c->deck->top);
    declare_over(c, b);
    note_altered(c);
    static const flat_kin top = {0};
    c->root = new_scope(c, b, NULL, NULL);
    c->root->kin = &top;
    give_params(c, c->root);
    flat_decide_guards(c, c->root);
    flat_correlate_cards(c);
    flat_eval_all(c, c->root);
    return c->root;
}

/* -- parameters of an element -- */

static bool take_param(flat_ctx *c, scope *s, flat_param *p, const char *key, const rhs *v)
{
    p->name = key;
    p->span = v->span;
    const busy before = flat_slot_begin(c);
    const bool ok = flat_value(c, s, v, &p->value, &p->str);
    if (!ok)
        p->value = NAN;
    flat_slot_end(c, s, v, before, (flat_slot_at){.kind = SLOT_PARAM, .param = p});
    return ok;
}

static const char *interned_key(flat_ctx *c, const char *key) { return str_intern0(c->names, key); }

/* Reads R47 as 0.47 ohm, as printed on parts (IEC 60062), unless a model has that name. */
static bool coded_ohms(flat_ctx *c, const scope *s, const flat_param *p, double *ohms)
{
    const char *digits = p->str + 1;
    const size_t n = strlen(digits);
    if ((p->str[0] != 'r' && p->str[0] != 'R') || !n || n > 40 ||
        strspn(digits, "0123456789") < n ||
        flat_names_model(s->b, str_intern_lower(c->names, p->str, n + 1)))
        return false;
    return str_spice_number(arena_printf(&c->scratch, "0.%s", digits), NULL, ohms);
}

const flat_rare flat_no_rare = {.model_span = {-1, 0, 0}, .shared = true};

flat_param *flat_copy_params(arena *mem, const flat_param *p)
{
    flat_param *own = vec_fixed(mem, flat_param, vec_len(p));
    if (own)
        memcpy(own, p, vec_len(p) * sizeof *p);
    return own;
}

const flat_param *flat_params(const flat_inst *x, flat_room *room)
{
    if (!x->rare->plain)
        return x->param;
    const flat_plain *n = x->plain;
    room->head = (vec_head){1, 1};
    room->param = (flat_param){
        .name = x->rare->plain, .value = n->value, .span = {x->span.file, n->off, n->len}};
    return &room->param;
}

flat_rare *flat_own_rare(arena *mem, flat_inst *x)
{
    if (x->rare->shared) {
        flat_rare *own = arena_new(mem, flat_rare);
        flat_room room;
        *own = *x->rare;
        own->shared = false;
        own->plain = NULL;
        if (x->rare->plain)
            x->param = flat_copy_params(mem, flat_params(x, &room));
        else if (x->rare != &flat_no_rare)
            x->param = flat_copy_params(mem, x->param);
        x->rare = own;
    }
    return (flat_rare *)(uintptr_t)x->rare;
}

/* Of an element that is being made. */
static flat_rare *rare_of(flat_inst *x) { return (flat_rare *)(uintptr_t)x->rare; }

/* R, C, L: a number, or an expression that depends on the circuit; a bare word that is neither is
 * kept for the message. */
static bool take_rcl(flat_ctx *c, scope *s, const elem *e, flat_inst *x, flat_param *p)
{
    p->name = interned_key(c, e->value_key);
    p->span = e->expr.span;
    const busy before = flat_slot_begin(c);
    if (e->expr.e && e->expr.maybe_dynamic && e->expr.e->op != NET_PARAM) {
        rare_of(x)->expr = flat_fold(c, s, &e->expr);
        flat_slot_end(c, s, &e->expr, before, (flat_slot_at){.kind = SLOT_RCL, .param = p});
        if (!x->rare->expr)
            return false;
        p->value = x->rare->expr->op == NET_NUM ? x->rare->expr->num : NAN;
        if (x->rare->expr->op == NET_NUM)
            rare_of(x)->expr = NULL;
        return true;
    }
    if (!flat_value(c, s, &e->expr, &p->value, &p->str))
        return false;
    flat_slot_end(c, s, &e->expr, before, (flat_slot_at){.kind = SLOT_PARAM, .param = p});
    if (p->str && e->letter == 'r' && !isfinite(p->value) && coded_ohms(c, s, p, &p->value))
        p->str = NULL;
    if (p->str && !strcmp(e->value_key, "value") && !x->rare->word && !isfinite(p->value)) {
        rare_of(x)->word = p->str;
        rare_of(x)->model_span = p->span;
    }
    return true;
}

/* A list of few parameters, before it is known whether the element needs one of its own. */
enum { FEW_PARAMS = 12 };
typedef struct few_params {
    vec_head head;
    flat_param param[FEW_PARAMS];
} few_params;

/* Elements may have the list of the one before. With a plan values are changed in place. */
static bool may_share(const flat_ctx *c, const elem *e)
{
    return e->made && !c->plan && !e->logic && !e->src && !e->expr.given && !e->ref && !e->poly &&
           !e->n_ic;
}

static flat_param *params_for(flat_ctx *c, const elem *e, size_t n, few_params *few)
{
    if (!n || n > FEW_PARAMS || !may_share(c, e))
        return vec_fixed(c->mem, flat_param, n);
    few->head = (vec_head){n, n};
    memset(few->param, 0, n * sizeof *few->param);
    return few->param;
}

/* x->param is `few` or in c->mem. */
static bool take_params(flat_ctx *c, scope *s, const elem *e, flat_inst *x, few_params *few)
{
    bool rcl = e->letter == 'r' || e->letter == 'c' || e->letter == 'l';
    size_t n = vec_len(e->kv),
           extra = (size_t)e->value.given + (size_t)(rcl && e->expr.given) + (e->poly_dim > 0);
    bool ok = true;
    x->param = params_for(c, e, n + extra, few);
    flat_param *p = x->param;
    if (e->value.given)
        ok &= take_param(c, s, p++, interned_key(c, e->value_key), &e->value);
    if (rcl && e->expr.given)
        ok &= take_rcl(c, s, e, x, p++);
    if (e->poly_dim)
        *p++ = (flat_param){interned_key(c, "poly"), e->poly_dim, NULL, e->poly[0].span};
    for (size_t i = 0; i < n; i++)
        ok &= take_param(c, s, p++, e->kv[i].key, &e->kv[i].v);
    size_t used = (size_t)(p - x->param);
    if (x->rare->word && !x->rare->model && rcl && used) { /* the word is no value: drop it */
        for (size_t i = 0; i < used; i++)
            if (x->param[i].str == x->rare->word) {
                memmove(&x->param[i], &x->param[i + 1], (used - i - 1) * sizeof *p);
                flat_slots_shift(c, x->param, i);
                vec_head_of(x->param)->len--;
                if (!--used)
                    x->param = NULL;
                break;
            }
    }
    return ok;
}

/* The product of all m along the path; not below 0. */
static bool take_m(flat_ctx *c, scope *s, const rhs *m, double *out)
{
    double y = 1;
    c->mask |= s->m_mask;
    if (m && m->given && !flat_eval(c, s, m, &y))
        return false;
    if (y < 0 && flat_first(c, m->span)) {
        diag_error(c->d, m->span, "m=%g: a multiplicity is not negative", y);
        flat_where(c, s);
    }
    *out = s->m * y;
    return y >= 0;
}

/* -- models -- */

static bool has_bins(const body *b, const char *name)
{
    for (; b; b = b->parent)
        if (map_get(&b->bin_of, map_key(name), -1) >= 0)
            return true;
    return false;
}

/* Whether the sizes that choose a bin have values; a size without one got a message. */
static bool is_sized(const flat_inst *x)
{
    for (size_t i = 0; i < vec_len(x->param); i++) {
        const char *name = x->param[i].name;
        if (isnan(x->param[i].value) &&
            (!strcmp(name, "l") || !strcmp(name, "w") || !strcmp(name, "nf")))
            return false;
    }
    return true;
}

static bool take_model(flat_ctx *c, scope *s, const elem *e, flat_inst *x)
{
    const char *name = e->word ? e->word : x->rare->word; /* x: text in the place of the value */
    bool bad = false;
    if (!name)
        return true;
    if (e->word)
        rare_of(x)->model_span = e->word_span;
    else
        name = str_intern_lower(c->names, name, strlen(name));
    rare_of(x)->model = flat_find_model(c, s, name, &bad);
    if (!x->rare->model) { /* a parameter may hold the name */
        pval *p = flat_find_param(c, s, name);
        double y;
        const char *str = NULL;
        rhs v = {.e = NULL};
        if (p) {
            v = flat_number(c, 0, e->word_span);
            ((net_expr *)v.e)->op = NET_PARAM;
            ((net_expr *)v.e)->name = name;
        }
        c->mask = 0;
        const bool text = p && flat_value(c, s, &v, &y, &str) && str;
        flat_structural(c);
        if (text)
            rare_of(x)->model =
                flat_find_model(c, s, name = str_intern_lower(c->names, str, strlen(str)), &bad);
    }
    if (!x->rare->model && has_bins(s->b, name)) {
        rare_of(x)->model = flat_find_bin(c, s, name, x, &bad);
        if (!x->rare->model && !bad && is_sized(x))
            flat_no_bin(c, s, e, x, name);
        if (!x->rare->model)
            return false;
        const size_t n_slot = flat_n_slot(c);
        flat_slot_end(c, s, NULL, c->drawing, (flat_slot_at){.kind = SLOT_BIN, .name = name});
        if (flat_n_slot(c) > n_slot) /* it may be another one later */
            rare_of(x)->bin = flat_bins(c, s, name);
    }
    if (!x->rare->model)
        rare_of(x)->word = name;
    return !bad;
}

/* -- references to other elements -- */

static void unknown_ref(flat_ctx *c, scope *s, const keyval *k)
{
    if (!flat_first(c, k->key_span))
        return;
    const char **cand = NULL;
    for (size_t i = 0; i < vec_len(s->b->item); i++)
        vec_push(cand, s->b->item[i].line->name);
    diag_error(c->d, k->key_span, "no element '%s' here", k->key);
    flat_suggest(c, k->key, cand, vec_len(cand));
    flat_where(c, s);
    vec_free(cand);
}

static bool take_refs(flat_ctx *c, scope *s, const elem *e, flat_inst *x)
{
    size_t n = vec_len(e->ref);
    rare_of(x)->ref = vec_fixed(c->mem, const char *, n);
    for (size_t i = 0; i < n; i++) {
        const char *name = e->ref[i].key;
        if (flat_item(s->b, name) >= 0 || strchr(name, '.'))
            rare_of(x)->ref[i] = flat_join(c, s, name);
        else if (flat_item(c->root->b, name) >= 0)
            rare_of(x)->ref[i] = name;
        else {
            unknown_ref(c, s, &e->ref[i]);
            return false;
        }
    }
    return true;
}

/* The wave of a port of power `pwr`: a cosine about the dc value, its amplitude sqrt(4 pwr z0), as
 * in ngspice. */
static bool take_power(flat_ctx *c, scope *s, const source_def *d, flat_source *o)
{
    double power = 0, frequency = 1e9;
    if (!d->power.given && !d->frequency.given)
        return true;
    const diag_span at = d->power.given ? d->power.span : d->frequency.span;
    if (!d->port.given || !d->power.given || d->wave != FLAT_DC) {
        diag_error(c->d, at, "%s",
                   !d->port.given    ? "pwr and freq belong to a port: portnum 1"
                   : !d->power.given ? "freq belongs to the power of a port: pwr"
                                     : "a port has pwr or a waveform, not both");
        return false;
    }
    if (!flat_eval(c, s, &d->power, &power) ||
        (d->frequency.given && !flat_eval(c, s, &d->frequency, &frequency)))
        return false;
    if (!(power >= 0 && frequency > 0)) {
        diag_error(c->d, at, "a port's pwr is not negative and its freq positive, not %g and %g",
                   power, frequency);
        return false;
    }
    const double arg[] = {o->dc, sqrt(4 * power * o->z0), frequency, 0, 0, 90};
    o->wave = FLAT_SIN;
    o->arg = vec_fixed(c->mem, double, VS_COUNT(arg));
    memcpy(o->arg, arg, sizeof arg);
    return true;
}

static bool take_port(flat_ctx *c, scope *s, const source_def *d, flat_source *o)
{
    double number = 0;
    o->z0 = 50;
    if (!d->port.given)
        return true;
    if (!flat_eval(c, s, &d->port, &number) || (d->z0.given && !flat_eval(c, s, &d->z0, &o->z0)))
        return false;
    if (!(number >= 1 && number <= 1000 && number == (int32_t)number)) {
        diag_error(c->d, d->port.span, "portnum is a whole number from 1 on, not %g", number);
        return false;
    }
    if (!(o->z0 > 0)) {
        diag_error(c->d, d->z0.span, "z0 must be positive, not %g", o->z0);
        return false;
    }
    o->port = (int32_t)number;
    return true;
}

static bool take_number(flat_ctx *c, scope *s, const rhs *v, double *to)
{
    const busy before = flat_slot_begin(c);
    const bool ok = flat_eval(c, s, v, to);
    flat_slot_end(c, s, v, before, (flat_slot_at){.kind = SLOT_NUMBER, .number = to});
    return ok;
}

bool flat_pwl_goes_back(const flat_source *o, size_t *at)
{
    for (size_t i = 2; o->wave == FLAT_PWL && i < vec_len(o->arg); i += 2)
        if (o->arg[i] < o->arg[i - 2]) {
            *at = i;
            return true;
        }
    return false;
}

static bool take_source(flat_ctx *c, scope *s, const source_def *d, flat_inst *x)
{
    flat_source *o = rare_of(x)->source = arena_new(c->mem, flat_source);
    size_t n = vec_len(d->arg);
    bool ok = true;
    *o = (flat_source){.dc_given = d->dc.given,
                       .wave = d->wave,
                       .pwl_repeat = -1,
                       .external = d->external,
                       .span = d->span,
                       .arg = vec_fixed(c->mem, double, n)};
    c->f->n_external += d->external;
    if (d->dc.given)
        ok &= take_number(c, s, &d->dc, &o->dc);
    if (d->ac_mag.given)
        ok &= take_number(c, s, &d->ac_mag, &o->ac_mag);
    if (d->ac_phase.given)
        ok &= take_number(c, s, &d->ac_phase, &o->ac_phase);
    for (int k = 0; k < 2; k++) {
        if (d->disto_mag[k].given)
            ok &= take_number(c, s, &d->disto_mag[k], &o->disto_mag[k]);
        if (d->disto_phase[k].given)
            ok &= take_number(c, s, &d->disto_phase[k], &o->disto_phase[k]);
    }
    if (d->repeat.given)
        ok &= take_number(c, s, &d->repeat, &o->pwl_repeat);
    if (d->delay.given)
        ok &= take_number(c, s, &d->delay, &o->pwl_delay);
    c->mask = 0;
    ok = take_port(c, s, d, o) && take_power(c, s, d, o) && ok;
    flat_structural(c);
    for (size_t i = 0; i < n; i++)
        ok &= take_number(c, s, &d->arg[i], &o->arg[i]);
    if (d->draw.given)
        ok &= take_number(c, s, &d->draw, &o->draw);
    if (vec_len(d->table)) {
        o->arg = vec_fixed(c->mem, double, vec_len(d->table));
        memcpy(o->arg, d->table, vec_len(d->table) * sizeof *o->arg);
    }
    size_t at;
    if (ok && flat_pwl_goes_back(o, &at) && flat_first(c, d->arg[at].span)) {
        diag_error(c->d, d->arg[at].span, "PWL times do not go back: %g after %g", o->arg[at],
                   o->arg[at - 2]);
        ok = false;
    }
    return ok;
}

/* -- elements -- */

static void take_nodes(flat_ctx *c, scope *s, const elem *e, flat_inst *x)
{
    x->n_node = e->n_node;
    x->node = arena_array(c->mem, int32_t, e->n_node);
    for (int32_t i = 0; i < e->n_node; i++)
        x->node[i] = flat_node(c, s, e->slot[i]);
}

static bool take_rest(flat_ctx *c, scope *s, const elem *e, flat_inst *x)
{
    bool ok = true;
    rare_of(x)->poly = vec_fixed(c->mem, double, vec_len(e->poly));
    for (size_t i = 0; i < vec_len(e->poly); i++)
        ok &= take_number(c, s, &e->poly[i], &rare_of(x)->poly[i]);
    rare_of(x)->ic_given = e->n_ic > 0;
    rare_of(x)->n_ic = e->n_ic;
    for (int32_t i = 0; i < e->n_ic; i++) {
        const busy before = flat_slot_begin(c);
        ok &= flat_eval(c, s, &e->ic[i], &rare_of(x)->ic[i]);
        flat_slot_end(c, s, &e->ic[i], before, (flat_slot_at){.kind = SLOT_IC, .k = i});
    }
    if (e->src)
        ok &= take_source(c, s, e->src, x);
    bool behavioural = strchr("begfh", e->letter) && e->expr.given;
    if (behavioural) {
        const busy before = flat_slot_begin(c);
        rare_of(x)->expr = flat_fold(c, s, &e->expr);
        flat_slot_end(c, s, &e->expr, before, (flat_slot_at){.kind = SLOT_EXPR});
        x->expr_is_v = e->expr_is_v;
        ok &= x->rare->expr != NULL;
    }
    return ok;
}

static bool same_span(diag_span a, diag_span b)
{
    return a.file == b.file && a.off == b.off && a.len == b.len;
}

static bool same_params(const flat_param *a, const flat_param *b)
{
    bool same = vec_len(a) == vec_len(b);
    for (size_t i = 0; same && i < vec_len(a); i++)
        same = a[i].name == b[i].name && a[i].str == b[i].str &&
               !memcmp(&a[i].value, &b[i].value, sizeof a[i].value) &&
               same_span(a[i].span, b[i].span);
    return same;
}

/* Of elements that may_share. */
static bool same_rare(const flat_rare *a, const flat_rare *b)
{
    return a->model == b->model && a->bin == b->bin && a->word == b->word && !a->expr && !b->expr &&
           same_span(a->model_span, b->model_span);
}

/* What the instance before had, if this one has the same; else its own. */
static void store_inst(flat_ctx *c, const elem *e, flat_inst *x, const few_params *few)
{
    elem_made *last = e->made;
    const bool may = may_share(c, e);
    if (may && last->rare && same_rare(last->rare, x->rare) && same_params(last->param, x->param)) {
        last->rare->shared = true;
        x->rare = last->rare;
        x->param = last->param;
        return;
    }
    flat_rare *own = arena_new(c->mem, flat_rare);
    *own = *x->rare;
    x->rare = own;
    if (x->param == few->param)
        x->param = flat_copy_params(c->mem, x->param);
    if (may)
        *last = (elem_made){own, x->param};
}

/* What this element had in an instance of the same kind, to be read or written; NULL: that is not
 * kept. */
static elem_made *kept_of(const flat_ctx *c, const scope *s, const elem *e)
{
    return s->kin && s != c->root && may_share(c, e) ? &s->kin->made[e - s->b->elem] : NULL;
}

/* All but nodes and m. */
static bool take_values(flat_ctx *c, scope *s, const elem *e, flat_inst *x, few_params *few)
{
    rare_of(x)->node_span = e->node_span;
    bool ok = take_params(c, s, e, x, few);
    return take_model(c, s, e, x) && ok;
}

static bool take_own_m(flat_ctx *c, scope *s, const rhs *m, double *to)
{
    const busy before = flat_slot_begin(c);
    const bool ok = take_m(c, s, m, to);
    flat_slot_end(c, s, m, before, (flat_slot_at){.kind = SLOT_M});
    return ok;
}

static void make_inst(flat_ctx *c, scope *s, const elem *e, char letter)
{
    few_params few;
    flat_rare rare = {.model_span = DIAG_NOWHERE, .conn = e->conn, .logic = e->logic};
    flat_inst x = {.name = flat_join(c, s, e->name),
                   .letter = letter,
                   .off = e->off,
                   .span = net_line_span(e->line),
                   .rare = &rare};
    elem_made *kept = kept_of(c, s, e);
    take_nodes(c, s, e, &x);
    if (kept && kept->rare) {
        x.rare = kept->rare;
        x.param = kept->param;
        if (take_own_m(c, s, &e->m, &x.m))
            vec_push(c->f->inst, x);
        return;
    }
    bool ok = take_values(c, s, e, &x, &few);
    ok &= take_own_m(c, s, &e->m, &x.m);
    ok &= take_refs(c, s, e, &x);
    ok &= take_rest(c, s, e, &x);
    store_inst(c, e, &x, &few);
    if (!ok)
        return;
    vec_push(c->f->inst, x);
    if (kept) {
        rare_of(&x)->shared = true;
        *kept = (elem_made){rare_of(&x), x.param};
    }
}

/* Many come one after the other: they have no use for the alignment of arena_alloc. */
flat_plain *flat_new_plain(flat_ctx *c)
{
    enum { FIRST = 8, MOST = 512 };
    if (!c->plain_rare) {
        flat_rare *r = arena_new(c->mem, flat_rare);
        *r = flat_no_rare;
        r->plain = interned_key(c, "value");
        c->plain_rare = r;
    }
    if (!c->n_plain) {
        c->plain_room = !c->plain_room ? FIRST : c->plain_room < MOST ? 2 * c->plain_room : MOST;
        c->n_plain = c->plain_room;
        c->plain = arena_array(c->mem, flat_plain, c->n_plain);
    }
    c->n_plain--;
    return c->plain++;
}

static void make_plain(flat_ctx *c, scope *s, const item *i)
{
    static const rhs no_m = {0};
    flat_plain *own = flat_new_plain(c);
    flat_inst x = {.name = flat_join(c, s, i->line->name),
                   .letter = i->line->name[0],
                   .span = net_line_span(i->line),
                   .rare = c->plain_rare,
                   .n_node = 2,
                   .node = own->node,
                   .plain = own};
    for (int k = 0; k < 2; k++)
        x.node[k] = flat_node(c, s, i->slot[k]);
    own->value = i->value;
    own->off = i->at;
    own->len = i->n_digit;
    if (take_own_m(c, s, &no_m, &x.m))
        vec_push(c->f->inst, x);
}

/* -- subcircuit instances -- */

static void unknown_sub(flat_ctx *c, scope *s, const elem *e)
{
    if (!flat_first(c, e->word_span))
        return;
    const char **cand = NULL;
    for (scope *l = s; l; l = l->lex)
        for (size_t i = 0; i < vec_len(l->b->subs); i++)
            vec_push(cand, l->b->subs[i].sub->name);
    diag_error(c->d, e->word_span, "unknown subcircuit '%s'", e->word);
    flat_suggest(c, e->word, cand, vec_len(cand));
    flat_where(c, s);
    vec_free(cand);
}

static bool check_recursion(flat_ctx *c, scope *s, const elem *e, body *b)
{
    bool again = b->in_progress && !vec_len(b->branch);
    if (!again && s->depth < MAX_DEPTH)
        return true;
    c->stop |= !again; /* with two instances a level there would be 2^MAX_DEPTH in all */
    if (b->recursive_said || !flat_first(c, e->word_span))
        return false;
    b->recursive_said = true;
    if (!again) {
        diag_error(c->d, e->word_span, "subcircuits are nested more than %d deep", MAX_DEPTH);
        flat_where(c, s);
        return false;
    }
    const char *chain = b->sub->name;
    for (scope *l = s; l; l = l->caller) {
        chain = arena_printf(&c->scratch, "%s -> %s", l->b->sub->name, chain);
        if (l->b == b)
            break;
    }
    diag_error(c->d, e->word_span, "subcircuit '%s' contains itself: %s", b->sub->name, chain);
    flat_where(c, s);
    return false;
}

static bool check_ports(flat_ctx *c, scope *s, const elem *e, body *b)
{
    size_t n = vec_len(b->port);
    const size_t n_given = (size_t)e->n_node;
    if (n_given <= n && n_given + vec_len(b->optional) >= n)
        return true;
    if (!flat_first(c, net_line_span(e->line)))
        return false;
    diag_error(c->d, net_line_span(e->line), "'%s' connects %d node%s, subcircuit '%s' has %zu",
               e->name, e->n_node, e->n_node == 1 ? "" : "s", b->sub->name, n);
    diag_note(c->d, b->sub->span, "'%s' is defined here", b->sub->name);
    flat_where(c, s);
    return false;
}

/* Warns of a parameter that the subcircuit neither declares nor reads. */
static void unknown_key(flat_ctx *c, scope *s, const keyval *k, body *b)
{
    if (!flat_first(c, k->key_span))
        return;
    diag_warning(c->d, k->key_span, "subcircuit '%s' has no parameter '%s': it has no effect",
                 b->sub->name, k->key);
    flat_suggest(c, k->key, b->param_name, vec_len(b->param_name));
    diag_note(c->d, b->sub->span, "'%s' is defined here", b->sub->name);
    flat_where(c, s);
}

/* Values from outside for a parameter of all instances of a subcircuit, "sub.name": it stands for
 * the parameter of that name of the top level (declare_over), so that plans follow it. */
static void bind_altered(flat_ctx *c, scope *in)
{
    const size_t n = strlen(in->b->sub->name);
    for (size_t i = 0; i < c->n_altered; i++) {
        const char *name = c->altered[i];
        if (str_ncasecmp(name, in->b->sub->name, n) || name[n] != '.')
            continue;
        const char *own = str_intern(c->names, name + n + 1, strlen(name + n + 1));
        const int32_t slot = map_get(&in->b->param_slot, map_key(own), -1);
        if (slot < 0)
            continue;
        rhs *v = arena_new(c->mem, rhs);
        *v = flat_number(c, 0, DIAG_NOWHERE);
        ((net_expr *)v->e)->op = NET_PARAM;
        ((net_expr *)v->e)->name = name;
        in->param[slot] =
            (pval){.v = v, .where = c->root, .fixed = true, .path = in->path, .span = DIAG_NOWHERE};
    }
}

/* LTspice, HSPICE and Xyce hand on what the subcircuit does not declare. */
static void add_extra(flat_ctx *c, scope *in, const elem *e, struct extra x)
{
    if (!in->extra)
        in->extra = arena_array(&c->scratch, struct extra, vec_len(e->kv));
    in->extra[in->n_extra++] = x;
}

/* Gives the values of e to its parameters. Returns what it has for m, NULL: nothing. */
static const rhs *bind_params(flat_ctx *c, scope *s, const elem *e, scope *in)
{
    const rhs *m = NULL;
    for (size_t i = 0; i < vec_len(e->kv); i++) {
        const keyval *k = &e->kv[i];
        int32_t slot = map_get(&in->b->param_slot, map_key(k->key), -1);
        const pval given = {
            .v = &k->v, .where = s, .in = in, .fixed = true, .path = in->path, .span = k->key_span};
        if (slot >= 0)
            in->param[slot] = given;
        else if (!strcmp(k->key, "m"))
            m = &k->v;
        else
            add_extra(c, in, e, (struct extra){k, given});
    }
    bind_altered(c, in);
    return m;
}

bool flat_take_m(flat_ctx *c, scope *in, const rhs *m)
{
    const pval given = {.where = in->caller, .in = in};
    c->giving = &given;
    const bool ok = take_m(c, in->caller, m, &in->m);
    c->giving = NULL;
    return ok;
}

/* Values, branches and the multiplicity of the instance e of s. */
static bool begin_instance(flat_ctx *c, scope *s, const elem *e, scope *in)
{
    const rhs *m = bind_params(c, s, e, in);
    if (!flat_decide_guards(c, in))
        return false;
    c->mask = 0;
    if (!flat_take_m(c, in, m))
        return false;
    flat_m_fact(c, in, m, c->mask);
    return true;
}

/* Warns of names in p, a value that the line of an instance gives, which are parameters both of the
 * instance and where it is called, with other values. Here the latter counts; ngspice evaluates the
 * values one by one, in the order of the head, where those before count. */
static void tell_hidden(flat_ctx *c, scope *in, const pval *p, const net_expr *e)
{
    for (int32_t i = 0; i < e->n_arg; i++)
        tell_hidden(c, in, p, e->arg[i]);
    const int32_t slot =
        e->op == NET_PARAM ? map_get(&in->b->param_slot, map_key(e->name), -1) : -1;
    const pval *own = slot >= 0 ? &in->param[slot] : NULL;
    if (!own || own >= p || own->state != P_DONE || own->str)
        return;
    const pval *outer = flat_find_param(c, p->where, e->name);
    if (!outer || outer->state != P_DONE || outer->str || outer->value == own->value ||
        !flat_first(c, e->span))
        return;
    diag_warning(c->d, e->span,
                 "'%s' is %g here, where the instance is called; ngspice takes the %g that the "
                 "instance has itself",
                 e->name, outer->value, own->value);
    flat_where(c, in);
}

static void tell_all_hidden(flat_ctx *c, scope *in)
{
    for (size_t k = 0; k < vec_len(in->b->param_name); k++) {
        const pval *p = &in->param[k];
        if (p->in && p->state == P_DONE && p->v->e)
            tell_hidden(c, in, p, p->v->e);
    }
}

/* -- instances with the same parameters -- */

static bool is_number(const keyval *k) { return k->v.e && k->v.e->op == NET_NUM; }

static bool gives_numbers(const elem *e)
{
    bool numbers = true;
    for (size_t i = 0; i < vec_len(e->kv); i++)
        numbers &= is_number(&e->kv[i]);
    return numbers;
}

static bool same_given(const keyval *a, const keyval *b)
{
    bool same = vec_len(a) == vec_len(b);
    for (size_t i = 0; same && i < vec_len(a); i++)
        same = a[i].key == b[i].key && is_number(&b[i]) &&
               !memcmp(&a[i].v.e->num, &b[i].v.e->num, sizeof a[i].v.e->num);
    return same;
}

/* The kind of an instance of e in s: names are found in it, in those that called it, and at the top
 * level. Where values are random, or instances are expanded again, each is evaluated for itself.
 * Returns its number in b->kin, where there may be none yet; FLAT_N_KIN: none. */
static int find_kin(const flat_ctx *c, const scope *s, const elem *e, const body *b,
                    const scope *lex)
{
    int k = 0;
    if (!s->kin || lex != c->root || vec_len(b->model) || c->plan || c->n_altered ||
        c->deck->vary || c->deck->draws || vec_len(c->f->correlate))
        return FLAT_N_KIN;
    const bool numbers = gives_numbers(e);
    for (; k < FLAT_N_KIN && b->kin[k]; k++)
        if (b->kin[k]->caller == s->kin &&
            (numbers ? !b->kin[k]->e && same_given(b->kin[k]->given, e->kv) : b->kin[k]->e == e))
            break;
    return k;
}

/* first  out  none of its kind was expanded before */
static flat_kin *take_kin(flat_ctx *c, const scope *s, const elem *e, body *b, int k, bool *first)
{
    *first = k == FLAT_N_KIN || !b->kin[k];
    if (k == FLAT_N_KIN || b->kin[k])
        return k == FLAT_N_KIN ? NULL : b->kin[k];
    b->kin[k] = arena_new(c->mem, flat_kin);
    *b->kin[k] = (flat_kin){.caller = s->kin,
                            .e = gives_numbers(e) ? NULL : e,
                            .given = e->kv,
                            .made = arena_array(c->mem, elem_made, vec_len(b->elem))};
    return b->kin[k];
}

/* With a plan instances are expanded again and again, and find their paths. */
static void set_path(flat_ctx *c, scope *s, const elem *e, scope *in)
{
    size_t n = strlen(e->name), all = s->path_len + n + 1;
    char *p = arena_alloc(c->plan ? &c->scratch : c->mem, all + 1);
    memcpy(p, s->path, s->path_len);
    memcpy(p + s->path_len, e->name, n);
    p[all - 1] = '.';
    in->path = c->plan ? str_intern(c->names, p, all) : p;
    in->path_len = all;
}

static void expand_x(flat_ctx *c, scope *s, const elem *e)
{
    scope *lex = NULL;
    net_sub *sub = flat_find_sub(s, e->word, &lex);
    if (!sub && flat_names_model(s->b, e->word)) {
        make_inst(c, s, e, 'n');
        return;
    }
    if (!sub) { /* a parameter may hold the name */
        unknown_sub(c, s, e);
        return;
    }
    body *b = flat_body(c, sub);
    if (!check_recursion(c, s, e, b) || !check_ports(c, s, e, b))
        return;
    const int k = find_kin(c, s, e, b, lex);
    if (k < FLAT_N_KIN && b->kin[k] && b->kin[k]->like && !flat_has_pins(c, s, e) &&
        flat_like_copy(c, s, e, b->kin[k]->like))
        return;
    arena_pos mark = arena_mark(&c->scratch);
    scope *in = new_scope(c, b, lex, s);
    set_path(c, s, e, in);
    bool was = b->in_progress;
    if (begin_instance(c, s, e, in)) {
        for (int32_t i = 0; i < e->n_node; i++)
            in->node[b->port[i]] = flat_node(c, s, e->slot[i]);
        flat_put_pins(c, s, e, b, in->node);
        bool first;
        flat_kin *kin = take_kin(c, s, e, b, k, &first);
        in->kin = kin;
        b->in_progress = true;
        const flat_before before = flat_like_begin(c);
        const int32_t made = flat_extent_begin(c, in, e);
        flat_expand(c, in);
        flat_extent_end(c, made);
        tell_all_hidden(c, in);
        for (size_t i = 0; first && i < in->n_extra; i++)
            if (!in->extra[i].p.used)
                unknown_key(c, s, in->extra[i].kv, b);
        if (kin)
            flat_like_end(c, in, e, kin, before);
        b->in_progress = was;
    }
    if (!c->plan) /* whose slots evaluate in these scopes again */
        arena_release(&c->scratch, mark);
}

bool flat_may_make(const flat_ctx *c, int64_t n) { return c->n_made + n <= (int64_t)max_weight; }

static void begin_elem(flat_ctx *c, const scope *s, const net_line *line)
{
    if (++c->n_made > (int64_t)max_weight && !c->stop) {
        diag_error(c->d, net_line_span(line), "more than %g elements", max_weight);
        c->stop = true;
    }
    c->drawing = (busy){line->name, s->path, DIAG_NOWHERE, 0};
}

static void expand_item(flat_ctx *c, scope *s, const item *i)
{
    if (i->elem >= 0) {
        flat_expand_elem(c, s, &s->b->elem[i->elem]);
        return;
    }
    begin_elem(c, s, i->line);
    make_plain(c, s, i);
}

void flat_expand_elem(flat_ctx *c, scope *s, const elem *e)
{
    begin_elem(c, s, e->line);
    if (e->letter == 'x')
        expand_x(c, s, e);
    else
        make_inst(c, s, e, e->letter);
}

/* Counts the elements of a body with those of its subcircuits before any is made, since a few lines
 * may stand for 2^40 of them. */
static double count_body(flat_ctx *c, body *b, int depth)
{
    if (b->count >= 0)
        return b->count;
    if (b->in_progress || depth > MAX_DEPTH)
        return 0;
    b->in_progress = true;
    double n = (double)(vec_len(b->item) - vec_len(b->elem)) * (1 + 2.0 / 16); /* plain ones */
    for (size_t i = 0; i < vec_len(b->elem); i++) {
        const elem *e = &b->elem[i];
        n += 1 + (double)(e->n_node + (int32_t)vec_len(e->kv)) / 16;
        for (body *l = e->letter == 'x' ? b : NULL; l; l = l->parent) {
            int32_t k = map_get(&l->sub_of, map_key(e->word), -1);
            if (k < 0)
                continue;
            n += count_body(c, flat_body(c, l->subs[k].sub), depth + 1);
            break;
        }
    }
    b->in_progress = false;
    return b->count = n;
}

void flat_expand(flat_ctx *c, scope *s)
{
    if (s == c->root && count_body(c, s->b, 0) > max_weight) {
        diag_error(c->d, s->b->sub->span,
                   "the circuit has %.3g elements when subcircuits are expanded, more than %g",
                   s->b->count, max_weight);
        c->stop = true;
    }
    flat_want_pins(c, s);
    for (size_t i = 0; i < vec_len(s->b->item) && !c->stop; i++) {
        heap_poll();
        if (flat_on(s, s->b->item[i].guard))
            expand_item(c, s, &s->b->item[i]);
        c->stop |= diag_full(c->d, c->n_error);
    }
    for (size_t i = 0; i < vec_len(s->b->other) && s != c->root && !c->stop; i++)
        if (flat_on(s, s->b->other[i].guard)) {
            c->mask = 0;
            c->n_apart++;
            flat_local_card(c, s, s->b->other[i].card);
            flat_structural(c);
        }
}

/* -- names that are known at the end -- */

void flat_fill_maps(flat_ctx *c)
{
    if (c->node_of.n) /* there is always the ground */
        return;
    for (size_t i = 0; i < vec_len(c->f->node); i++)
        map_set(&c->node_of, map_key(c->f->node[i]), (int32_t)i);
    for (size_t i = 0; i < vec_len(c->f->inst); i++)
        map_set(&c->inst_of, map_key(c->f->inst[i].name), (int32_t)i);
}

const char *flat_with_dots(flat_ctx *c, const char *name)
{
    const char *dots = str_with_dots(&c->scratch, name);
    return dots ? str_intern0(c->names, dots) : name;
}

/* A name as seen from a scope: below it, else from the top. */
static int32_t find_from(flat_ctx *c, const map *m, const char *path, const char *name)
{
    const char *full = str_intern0(c->names, arena_printf(&c->scratch, "%s%s", path, name));
    int32_t k = map_get(m, map_key(full), -1);
    if (k < 0)
        k = map_get(m, map_key(name), -1);
    const char *dots = k < 0 ? flat_with_dots(c, name) : name;
    return dots == name ? k : find_from(c, m, path, dots);
}

/* what: of a pending_node, -1: a node that an expression needs */
static void unknown_node(flat_ctx *c, diag_span at, const char *name, int what)
{
    if (!flat_first(c, at))
        return;
    if (what == PEND_SAVE)
        diag_warning(c->d, at, "no node '%s'; nothing is saved for it", name);
    else if (what == PEND_IC || what == PEND_NODESET)
        diag_warning(c->d, at, "no node '%s'; the card goes on without it", name);
    else
        diag_error(c->d, at, "no node '%s'", name);
    flat_suggest(c, name, c->f->node, vec_len(c->f->node));
}

static const char *const *inst_names(flat_ctx *c, size_t *n)
{
    *n = vec_len(c->f->inst);
    const char **name = arena_array(&c->scratch, const char *, *n);
    for (size_t i = 0; i < *n; i++)
        name[i] = c->f->inst[i].name;
    return name;
}

/* Paths of elements, as far as they go as deep as `name`: the instances of subcircuits. */
static const char *const *path_names(flat_ctx *c, const char *name, size_t *n)
{
    int32_t depth = 1;
    for (const char *s = name; *s; s++)
        depth += *s == '.';
    *n = 0;
    const char **path = arena_array(&c->scratch, const char *, vec_len(c->f->inst));
    for (size_t i = 0; i < vec_len(c->f->inst); i++) {
        const char *whole = c->f->inst[i].name, *end = whole - 1;
        for (int32_t k = 0; k < depth && end; k++)
            end = strchr(end + 1, '.');
        if (!end)
            continue;
        const char *p = str_intern(c->names, whole, (size_t)(end - whole));
        if (!*n || path[*n - 1] != p)
            path[(*n)++] = p;
    }
    return path;
}

const char *flat_near_element(flat_ctx *c, const char *name)
{
    const char *dot = strrchr(name, '.');
    const bool sub = (dot ? dot[1] : name[0]) == 'x';
    size_t n;
    const char *const *cand = sub ? path_names(c, name, &n) : inst_names(c, &n);
    return flat_near(c, name, cand, n);
}

void flat_suggest_element(flat_ctx *c, const char *name)
{
    const char *near = c->d->drop_notes ? NULL : flat_near_element(c, name);
    if (near)
        diag_note(c->d, DIAG_NOWHERE, "did you mean '%s'?", near);
}

static void resolve_expr(flat_ctx *c, const pending *p)
{
    const char *name = p->k ? p->e->name2 : p->e->name;
    if (p->e->op == NET_VNODE) {
        int32_t n = !strcmp(name, "gnd") ? 0 : find_from(c, &c->node_of, p->path, name);
        if (n < 0)
            unknown_node(c, p->e->span, name, -1);
        p->e->node[p->k] = n < 0 ? 0 : n;
        return;
    }
    int32_t n = find_from(c, &c->inst_of, p->path, name);
    if (n >= 0) {
        p->e->name = c->f->inst[n].name;
    } else if (flat_first(c, p->e->span)) {
        diag_error(c->d, p->e->span, "no element '%s'", name);
        flat_suggest_element(c, name);
    }
}

int32_t flat_find_element(flat_ctx *c, const char *path, const char *name)
{
    const int32_t n = find_from(c, &c->inst_of, path, name);
    return n < 0 && name[0] && name[1] == '.' ? find_from(c, &c->inst_of, path, name + 2) : n;
}

/* An element of .save, .print. */
static void resolve_device(flat_ctx *c, const pending_node *p)
{
    flat_save *s = &c->f->save[p->index];
    const int32_t n = flat_find_element(c, p->path, p->name);
    if (n >= 0) {
        s->device = c->f->inst[n].name;
        return;
    }
    if (s->what == FLAT_SAVE_I && strchr(p->name, ':')) {
        if (!flat_take_terminal(c, p, s))
            s->text = NULL;
        return;
    }
    s->text = NULL;
    if (flat_first(c, p->span)) {
        diag_warning(c->d, p->span, "no element '%s'; nothing is saved for it", p->name);
        flat_suggest_element(c, p->name);
    }
}

void flat_drop_saves(flat *f)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(f->save); i++)
        if (f->save[i].text)
            f->save[n++] = f->save[i];
    if (f->save)
        vec_head_of(f->save)->len = n;
}

void flat_resolve_pending(flat_ctx *c)
{
    if (vec_len(c->pend) || vec_len(c->pend_node))
        flat_fill_maps(c);
    for (size_t i = 0; i < vec_len(c->pend); i++)
        resolve_expr(c, &c->pend[i]);
    for (size_t i = 0; i < vec_len(c->pend_node); i++) {
        pending_node *p = &c->pend_node[i];
        if (p->what == PEND_DEVICE) {
            resolve_device(c, p);
            continue;
        }
        int32_t n = find_from(c, &c->node_of, p->path, p->name);
        if (n < 0)
            unknown_node(c, p->span, p->name, p->what);
        if (n < 0 && p->what == PEND_SAVE)
            c->f->save[p->index].text = NULL;
        if (p->what == PEND_IC)
            c->f->ic[p->index].node = n;
        else if (p->what == PEND_NODESET)
            c->f->nodeset[p->index].node = n;
        else
            c->f->save[p->index].node[p->k] = n;
    }
    flat_drop_saves(c->f);
}
