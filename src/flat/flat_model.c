/* flat_model.c - values of model cards, and bins.
 * A card is evaluated when an element asks for it. One that reads nothing of the instance that it
 * stands in is evaluated once. One that reads parameters of the instance (l and w, say) is
 * evaluated once for each set of values of these: instances in which they are equal share it,
 * unless a statistical function in it draws. Bins: cards name.0, name.1 ... with lmin lmax wmin
 * wmax. The first one that holds length and width of the element counts; of the others only the
 * four limits are evaluated. Length and width are those of one finger, times .option scale (HSPICE;
 * ngspice with ngbehavior=hsa). */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

/* -- what a card reads -- */

typedef struct reader {
    flat_ctx *c;
    const char **name; /* vec */
    bool more;         /* it reads things that are no parameters of the instance */
} reader;

static void read_names(reader *r, const net_expr *e)
{
    if (e->op == NET_PARAM) {
        bool seen = !map_get(&r->c->sub_param, map_key(e->name), 0);
        for (size_t i = 0; i < vec_len(r->name) && !seen; i++)
            seen = r->name[i] == e->name;
        if (!seen)
            vec_push(r->name, e->name);
        return;
    }
    r->more |= e->op == NET_CALL && e->fn == NET_FN_USER;
    for (int32_t i = 0; i < e->n_arg && !r->more; i++)
        read_names(r, e->arg[i]);
}

/* The names that the values of a card contain and that subcircuits define. */
static void find_reads(flat_ctx *c, model_def *m)
{
    enum { MOST = 32 };
    reader r = {c, NULL, m->like != NULL};
    for (size_t i = 0; i < vec_len(m->kv) && !r.more; i++)
        if (m->kv[i].v.e)
            read_names(&r, m->kv[i].v.e);
    m->reads_state = r.more || vec_len(r.name) > MOST ? READS_MORE : READS_KNOWN;
    m->reads = vec_freeze(c->mem, r.name);
}

/* Reads the values of these names in this instance. false: some value is no number, or depends on a
 * knob. */
static bool read_values(flat_ctx *c, scope *s, const model_def *m, double *value)
{
    const uint64_t mask = c->mask;
    c->mask = 0;
    bool ok = true;
    for (size_t i = 0; i < vec_len(m->reads) && ok; i++) {
        const pval *p = flat_number_of(c, s, m->reads[i]);
        ok = p != NULL;
        value[i] = p ? p->value : 0;
    }
    ok = ok && !c->mask;
    c->mask = mask;
    return ok;
}

static uint64_t share_key(const model_def *m, const double *value)
{
    return str_hash(value, vec_len(m->reads) * sizeof *value) ^ map_key(m);
}

static flat_model *find_shared(const flat_ctx *c, const model_def *m, const double *value)
{
    const size_t size = vec_len(m->reads) * sizeof *value;
    for (int32_t k = map_get(&c->shared, share_key(m, value), 0); k > 0; k = c->share[k].next)
        if (c->share[k].def == m && !memcmp(c->share[k].value, value, size))
            return c->share[k].m;
    return NULL;
}

static void keep_shared(flat_ctx *c, const model_def *m, const double *value, flat_model *fm)
{
    const size_t n = vec_len(m->reads);
    const uint64_t key = share_key(m, value);
    double *copy = arena_array(c->mem, double, n);
    memcpy(copy, value, n * sizeof *copy);
    if (!c->share)
        vec_push(c->share, (struct share){NULL});
    vec_push(c->share, (struct share){m, copy, fm, map_get(&c->shared, key, 0)});
    map_set(&c->shared, key, (int32_t)vec_len(c->share) - 1);
}

/* -- values -- */

/* Evaluates the card in scope s.
 *   same  out  all instances have these values
 *   ours  out  instances in which m->reads have equal values have these values */
static flat_model *eval_model(flat_ctx *c, scope *s, model_def *m, bool *bad, bool *same,
                              bool *ours)
{
    int before = c->d->n_error;
    model_value *v = NULL;
    const char *type;
    if (!flat_model_values(c, s, m, &v, &type))
        vec_clear(v);
    const size_t n = vec_len(v), n_slot = flat_n_slot(c);
    flat_model *fm = arena_new(c->mem, flat_model);
    *fm = (flat_model){m->name, type ? type : "", vec_fixed(c->mem, flat_param, n),
                       net_tok_span(m->card, &m->card->tok[1])};
    const busy outer = c->drawing;
    c->drawing = (busy){m->name, s->path, fm->span, 0};
    c->touched_local = c->drew = false;
    for (size_t i = 0; i < n; i++) {
        flat_param *p = &fm->param[i];
        const rhs *from = &v[i].kv->v;
        p->name = v[i].kv->key;
        p->span = from->span;
        const busy start = flat_slot_begin(c);
        if (!flat_value(c, v[i].where, from, &p->value, &p->str))
            *bad = true;
        flat_slot_end(c, v[i].where, from, start,
                      (flat_slot_at){.kind = SLOT_PARAM, .model = fm, .param = p});
    }
    vec_free(v);
    c->drawing = outer;
    *bad |= c->d->n_error > before;
    vec_push(c->f->model, fm);
    if (c->plan)
        vec_push(c->model_home, s);
    *same = !c->touched_local && (!m->like || s == c->root);
    *ours = !*bad && !c->drew && flat_n_slot(c) == n_slot;
    return fm;
}

/* Is it among the cards of the netlist, or of the instance that is expanded again? */
static bool is_listed(const flat_ctx *c, const flat_model *m)
{
    for (size_t i = vec_len(c->f->model); i-- > 0;)
        if (c->f->model[i] == m)
            return true;
    for (size_t i = 0; i < vec_len(c->lent); i++)
        if (c->lent[i].m == m)
            return true;
    return false;
}

/* The card in this scope, from an equal instance or evaluated. */
static flat_model *make_model(flat_ctx *c, scope *s, model_def *m, bool *bad)
{
    double value[32];
    bool same, ours;
    const bool can_share = m->reads_state == READS_KNOWN && read_values(c, s, m, value);
    flat_model *fm = can_share ? find_shared(c, m, value) : NULL;
    if (fm && (!c->first_new || is_listed(c, fm)))
        return fm;
    if (c->redoing) {
        c->structural = *bad = true;
        return NULL;
    }
    fm = eval_model(c, s, m, bad, &same, &ours);
    if (same)
        m->constant = fm;
    else if (can_share && ours)
        keep_shared(c, m, value, fm);
    else if (m->reads_state == READS_UNKNOWN) {
        find_reads(c, m);
        if (ours && m->reads_state == READS_KNOWN && read_values(c, s, m, value))
            keep_shared(c, m, value, fm);
    }
    return fm;
}

/* Notes that the scope asks for m. An instance that is expanded again must be the first to ask for
 * the same shared models as before and for no others, else the order of models would change. */
static flat_model *seen_model(flat_ctx *c, flat_model *m)
{
    bool seen = !c->first_new || !m;
    for (size_t i = vec_len(c->f->model); i-- > 0 && !seen;)
        seen = c->f->model[i] == m;
    for (size_t i = 0; i < vec_len(c->lent) && !seen; i++)
        if (c->lent[i].m == m) {
            vec_push(c->f->model, m);
            vec_push(c->model_home, c->lent[i].home);
            c->lent[i].m = NULL;
            seen = true;
        }
    c->structural |= !seen;
    return m;
}

flat_model *flat_find_model(flat_ctx *c, scope *s, const char *name, bool *bad)
{
    model_def *m = flat_find_def(&s, name, NULL);
    if (!m)
        return NULL;
    if (m->constant)
        return seen_model(c, m->constant);
    const size_t i = (size_t)(m - s->b->model);
    if (!s->model[i])
        s->model[i] = make_model(c, s, m, bad);
    return seen_model(c, s->model[i]);
}

/* -- bins -- */

static const char *const limit_name[] = {"lmin", "lmax", "wmin", "wmax"};

typedef struct geometry { /* of one finger, in metre; NaN: not given */
    double l, w;
} geometry;

/* What .option cards say of sizes; the last one counts. */
static void read_scale(flat_ctx *c)
{
    const card_ref *r = c->root->b->other;
    const size_t n = vec_len(c->f->option);
    c->scale = 1;
    c->per_finger = true;
    for (size_t i = 0; i < vec_len(r); i++) {
        const net_card *card = r[i].card;
        bool asks = false;
        for (int32_t k = 0; k < card->n_tok && card->kind == NET_CARD_OPTION && !asks; k++)
            asks = card->tok[k].kind == NET_T_WORD &&
                   (!strcmp(card->tok[k].text, "scale") || !strcmp(card->tok[k].text, "wnflag"));
        if (!asks || !flat_on(c->root, r[i].guard))
            continue;
        c->mask = 0;
        flat_option_card(c, card);
        flat_structural(c);
    }
    for (size_t i = n; i < vec_len(c->f->option); i++) {
        const flat_option *o = &c->f->option[i];
        if (!strcmp(o->name, "scale") && o->value > 0)
            c->scale = o->value;
        else if (!strcmp(o->name, "wnflag"))
            c->per_finger = o->value != 0;
    }
    if (c->f->option)
        vec_head_of(c->f->option)->len = n;
}

static double given(const flat_inst *x, const char *key, double absent)
{
    for (size_t i = 0; i < vec_len(x->param); i++)
        if (!strcmp(x->param[i].name, key))
            return x->param[i].value;
    return absent;
}

static geometry geometry_of(flat_ctx *c, const flat_inst *x)
{
    if (c->scale == 0) {
        const uint64_t mask = c->mask;
        read_scale(c);
        c->mask = mask;
    }
    const double nf = given(x, "nf", 1);
    const bool per_finger = given(x, "wnflag", c->per_finger) != 0;
    return (geometry){given(x, "l", NAN) * c->scale,
                      given(x, "w", NAN) * c->scale / (per_finger && nf > 0 ? nf : 1)};
}

/* The limits of a bin, absent ones as wide as can be. false: one is no number. */
static bool find_limits(flat_ctx *c, scope *s, model_def *m, double limit[4])
{
    if (m->has_limits) {
        memcpy(limit, m->limit, sizeof m->limit);
        return true;
    }
    model_value *v = NULL;
    const char *type;
    bool ok = flat_model_values(c, s, m, &v, &type);
    const busy outer = c->drawing;
    c->drawing = (busy){m->name, s->path, net_card_span(m->card), 0};
    const uint64_t mask = c->mask;
    c->mask = 0;
    c->touched_local = false;
    for (int k = 0; k < 4; k++) {
        limit[k] = k % 2 ? INFINITY : 0;
        for (size_t i = 0; i < vec_len(v) && ok; i++)
            if (!strcmp(v[i].kv->key, limit_name[k]))
                ok = flat_eval(c, v[i].where, &v[i].kv->v, &limit[k]);
    }
    vec_free(v);
    flat_structural(c); /* other limits: other bins */
    c->mask = mask;
    c->drawing = outer;
    m->has_limits = ok && !c->touched_local;
    memcpy(m->limit, limit, sizeof m->limit);
    return ok;
}

/* ngspice counts what is within 1 nm of a limit as inside. */
static bool within(double x, double min, double max)
{
    const double near = 1e-9;
    return x >= min - near && x <= max + near;
}

static scope *bins_of(scope *s, const char *name, int32_t *last)
{
    for (; s; s = s->lex)
        if ((*last = map_get(&s->b->bin_of, map_key(name), -1)) >= 0)
            return s;
    return NULL;
}

flat_model *flat_find_bin(flat_ctx *c, scope *s, const char *name, const flat_inst *x, bool *bad)
{
    const geometry g = geometry_of(c, x);
    int32_t i;
    const char *found =
        NULL; /* the first bin that fits: the walk is backwards, the last one wins */
    s = bins_of(s, name, &i);
    for (; s && i >= 0; i = s->b->model[i].bin_prev) {
        model_def *m = &s->b->model[i];
        double lim[4];
        if (!flat_on(s, m->guard))
            continue;
        if (!find_limits(c, s, m, lim))
            *bad = true;
        else if (within(g.l, lim[0], lim[1]) && within(g.w, lim[2], lim[3]))
            found = m->name;
    }
    return found ? flat_find_model(c, s, found, bad) : NULL;
}

/* How far a size is outside of a bin, as a factor. */
static double outside(double x, double min, double max)
{
    return x < min ? min / fmax(x, 1e-30) : x > max ? x / fmax(max, 1e-30) : 1;
}

static const char *metres(flat_ctx *c, double x)
{
    return isfinite(x) ? arena_printf(&c->scratch, "%gu", x * 1e6) : "any";
}

/* The bins that are nearest, in two notes at most. */
static void show_nearest(flat_ctx *c, scope *s, const char *name, geometry g)
{
    enum { MOST = 2 };
    int32_t last, best[MOST] = {-1, -1};
    double far[MOST] = {INFINITY, INFINITY}, lim[4];
    s = bins_of(s, name, &last);
    for (int32_t i = last; s && i >= 0; i = s->b->model[i].bin_prev) {
        if (!flat_on(s, s->b->model[i].guard) || !find_limits(c, s, &s->b->model[i], lim))
            continue;
        const double d = outside(g.l, lim[0], lim[1]) * outside(g.w, lim[2], lim[3]);
        const int at = d < far[0] ? 0 : 1;
        if (d >= far[at])
            continue;
        if (at == 0) {
            far[1] = far[0];
            best[1] = best[0];
        }
        far[at] = d;
        best[at] = i;
    }
    for (int k = 0; k < MOST && best[k] >= 0; k++) {
        model_def *m = &s->b->model[best[k]];
        if (!find_limits(c, s, m, lim))
            continue;
        diag_note(c->d, net_tok_span(m->card, &m->card->tok[1]),
                  "'%s' holds l = %s ... %s, w = %s ... %s", m->name, metres(c, lim[0]),
                  metres(c, lim[1]), metres(c, lim[2]), metres(c, lim[3]));
    }
}

#define LARGE 1e-2 /* metres: no transistor, but a forgotten unit */

void flat_no_bin(flat_ctx *c, scope *s, const elem *e, const flat_inst *x, const char *name)
{
    const geometry g = geometry_of(c, x);
    if (!flat_first_of(c, e->word_span, str_hash(&g, sizeof g)))
        return;
    if (isnan(g.l) || isnan(g.w)) {
        diag_error(c->d, e->word_span, "the bins of model '%s' are chosen by l and w; %s not given",
                   name,
                   isnan(g.l) && isnan(g.w) ? "both are"
                   : isnan(g.l)             ? "l is"
                                            : "w is");
    } else {
        diag_error(c->d, e->word_span, "no bin of model '%s' holds l = %s, w = %s%s", name,
                   metres(c, g.l), metres(c, g.w), given(x, "nf", 1) > 1 ? " of one finger" : "");
        if (c->scale != 1)
            diag_note(c->d, DIAG_NOWHERE, "l and w were multiplied by .option scale=%g", c->scale);
        else if (g.l > LARGE || g.w > LARGE)
            diag_note(c->d, DIAG_NOWHERE, "sizes are in metres: 1u is a micrometre");
        show_nearest(c, s, name, g);
    }
    flat_where(c, s);
}

const flat_model **flat_bins(flat_ctx *c, scope *s, const char *name)
{
    const flat_model **bin = NULL;
    bool bad = false;
    int32_t i;
    s = bins_of(s, name, &i);
    for (; s && i >= 0; i = s->b->model[i].bin_prev) {
        const flat_model *m = flat_find_model(c, s, s->b->model[i].name, &bad);
        if (m)
            vec_push(bin, m);
    }
    return vec_freeze(c->mem, bin);
}
