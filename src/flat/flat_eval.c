/* flat_eval.c - parameters on demand, numbers of expressions, folding of behavioural ones.
 * A name is looked for in the instance, in the definitions around it, in the instances that call
 * it, at top level, and last among the constants: the order of ngspice and HSPICE. On the line of
 * an instance of a subcircuit, which is evaluated where it is called, the other parameters of that
 * instance come before the constants. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "flat_priv.h"
#include "net_draw.h"

enum { MAX_EVAL_DEPTH = 8000, MAX_STEPS = 20000000, MAX_FOLDED = 1000000 };

/* Arguments of the .func being evaluated: numbers, or trees when folding. */
typedef struct frame {
    const func_def *fn;
    const double *value;
    const net_expr **tree;
} frame;

static bool eval(flat_ctx *c, scope *s, const net_expr *e, const frame *fr, double *y);

bool flat_first(flat_ctx *c, diag_span at) { return flat_first_of(c, at, 0); }

bool flat_first_of(flat_ctx *c, diag_span at, uint64_t what)
{
    const uint64_t key = ((uint64_t)(uint32_t)(at.file + 1) << 32 | at.off) ^ what;
    if (map_get(&c->said, key, 0))
        return false;
    map_set(&c->said, key, 1);
    if (c->d->n_error < c->d->max_error)
        return true;
    c->d->n_error++; /* nothing more is kept: spare the search for near names */
    c->d->n_dropped++;
    return false;
}

const char *flat_near(flat_ctx *c, const char *name, const char *const *cand, size_t n)
{
    enum { MOST = 2000 };
    size_t k = 0, len = strlen(name), slip = 1 + len / 4;
    if (c->d->n_warning > c->d->max_error || len > 60)
        return NULL;
    arena_pos mark = arena_mark(&c->scratch);
    const char **near = arena_array(&c->scratch, const char *, MOST);
    for (size_t i = 0; i < n && k < MOST; i++) {
        size_t m = strlen(cand[i]);
        if (m + slip >= len && m <= len + slip)
            near[k++] = cand[i];
    }
    const char *nearest = str_nearest(name, near, k);
    arena_release(&c->scratch, mark);
    return nearest;
}

void flat_suggest(flat_ctx *c, const char *name, const char *const *cand, size_t n)
{
    const char *near = c->d->drop_notes ? NULL : flat_near(c, name, cand, n);
    if (near)
        diag_note(c->d, DIAG_NOWHERE, "did you mean '%s'?", near);
}

/* Place of the card of the top level whose subcircuit s is in. */
static diag_span call_of(const scope *s)
{
    while (s->caller && s->caller->path_len)
        s = s->caller;
    const body *b = s->caller ? s->caller->b : NULL;
    for (size_t i = 0; b && i < vec_len(b->elem); i++) { /* plain elements call nothing */
        const char *name = b->elem[i].name;
        if (strlen(name) + 1 == s->path_len && !memcmp(name, s->path, s->path_len - 1))
            return net_line_span(b->elem[i].line);
    }
    return DIAG_NOWHERE;
}

void flat_where(flat_ctx *c, const scope *s)
{
    if (s->path_len)
        diag_note(c->d, call_of(s), "in instance %.*s",
                  (int)(s->path_len > 200 ? 200 : s->path_len - 1), s->path);
}

void flat_start_eval(flat_ctx *c)
{
    c->depth = 0;
    c->steps = MAX_STEPS;
    vec_clear(c->busy);
}

static bool too_deep(flat_ctx *c, const net_expr *e)
{
    if (c->steps > 0 && c->depth < MAX_EVAL_DEPTH)
        return false;
    if (flat_first(c, e->span))
        diag_error(c->d, e->span,
                   c->steps > 0 ? "expressions depend on each other too deeply"
                                : "expression takes too long to evaluate");
    return true;
}

static bool constant(const char *name, double *y)
{
    static const struct {
        const char *name;
        double value;
    } table[] = {{"pi", M_PI},
                 {"e", M_E},
                 {"kelvin", -273.15},
                 {"echarge", 1.602176634e-19},
                 {"boltz", 1.380649e-23},
                 {"c", 299792458.0},
                 {"planck", 6.62607015e-34},
                 {"true", 1},
                 {"false", 0},
                 {"yes", 1},
                 {"no", 0}};
    for (size_t i = 0; i < VS_COUNT(table); i++)
        if (!strcmp(table[i].name, name)) {
            *y = table[i].value;
            return true;
        }
    return false;
}

static pval *own_param(scope *s, const char *name)
{
    int32_t k = map_get(&s->b->param_slot, map_key(name), -1);
    pval *p = k >= 0 && s->param[k].v ? &s->param[k] : NULL;
    for (size_t i = 0; i < s->n_extra && !p; i++)
        if (s->extra[i].kv->key == name)
            p = &s->extra[i].p;
    if (p)
        p->used = true;
    return p;
}

const char *flat_csparam_name(const flat_ctx *c, const char *name)
{
    char text[256];
    const int n = snprintf(text, sizeof text, "csparam %s", name);
    return str_intern(c->names, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

pval *flat_find_param(flat_ctx *c, scope *s, const char *name)
{
    for (scope *at = s; at != c->root; at = at->caller)
        for (scope *l = at; l != c->root; l = l->lex) {
            pval *p = own_param(l, name);
            if (p)
                return p;
        }
    pval *p = own_param(c->root, name);
    if (p || !c->giving || c->giving->where != s)
        return p;
    p = own_param(c->giving->in, name);
    return p != c->giving ? p : NULL;
}

/* Gives the message of a parameter that depends on itself, with the chain of parameters between. */
static void report_cycle(flat_ctx *c, const char *name, diag_span at)
{
    const char *text = "";
    size_t n = vec_len(c->busy), k = n;
    while (k > 0 && c->busy[k - 1].name != name)
        k--;
    k = k ? k - 1 : 0;
    for (size_t i = k; i < n; i++) {
        if (i == k + 8 && n - k > 10) {
            text = arena_printf(&c->scratch, "%s... -> ", text);
            i = n - 1;
        }
        text = arena_printf(&c->scratch, "%s%s -> ", text, c->busy[i].name);
    }
    if (flat_first(c, at))
        diag_error(c->d, at, "parameter '%s' depends on itself: %s%s", name, text, name);
}

static bool force(flat_ctx *c, pval *p, const char *name)
{
    if (p->state == P_DONE) {
        c->mask |= p->mask;
        return true;
    }
    if (p->state == P_BAD)
        return false;
    if (p->state == P_BUSY) {
        report_cycle(c, name, p->span);
        return false;
    }
    p->state = P_BUSY;
    vec_push(c->busy, (busy){name, p->path, p->span, 0});
    bool ok = false;
    const int muted = c->muted;
    const flat_outer outer = flat_param_begin(c, p);
    c->muted = 0; /* not only the muted expression may read this parameter */
    c->depth += 2;
    if (p->v->e && !too_deep(c, p->v->e))
        ok = flat_value(c, p->where, p->v, &p->value, &p->str);
    c->depth -= 2;
    c->muted = muted;
    flat_param_end(c, p, outer);
    if (vec_len(c->busy))
        (void)vec_pop(c->busy);
    p->state = ok ? P_DONE : P_BAD;
    return ok;
}

const pval *flat_number_of(flat_ctx *c, scope *s, const char *name)
{
    pval *p = flat_find_param(c, s, name);
    return p && force(c, p, name) && !p->str ? p : NULL;
}

static void unknown_param(flat_ctx *c, scope *s, const net_expr *e)
{
    if (!flat_first(c, e->span))
        return;
    const char **cand = NULL;
    const body *called = c->giving && c->giving->where == s ? c->giving->in->b : NULL;
    for (size_t i = 0; called && i < vec_len(called->param_name); i++)
        vec_push(cand, called->param_name[i]);
    for (scope *l = s; l; l = l->lex)
        for (size_t i = 0; i < vec_len(l->b->param_name); i++)
            vec_push(cand, l->b->param_name[i]);
    diag_error(c->d, e->span, "unknown parameter '%s'", e->name);
    flat_suggest(c, e->name, cand, vec_len(cand));
    flat_where(c, s);
    vec_free(cand);
}

static int32_t frame_arg(const frame *fr, const char *name)
{
    for (int32_t i = 0; fr && i < fr->fn->n_arg; i++)
        if (fr->fn->arg[i] == name)
            return i;
    return -1;
}

/* PSpice's names of the temperature and of k T / q, where the deck has no parameter so called. */
static bool eval_pspice(flat_ctx *c, const net_expr *e, double *y)
{
    const double volt_per_kelvin = 1.380649e-23 / 1.602176634e-19;
    const bool temp = !strcmp(e->name, "temp"), vt = !strcmp(e->name, "vt");
    if (!temp && !vt)
        return false;
    c->mask |= UINT64_C(1) << KNOB_TEMPER;
    *y = temp ? c->temper : (c->temper + 273.15) * volt_per_kelvin;
    if (flat_first(c, e->span))
        diag_warning(c->d, e->span, "no parameter '%s': it is %s, as in PSpice", e->name,
                     temp ? "the temperature in Celsius" : "the thermal voltage k T / q");
    return true;
}

static bool eval_param(flat_ctx *c, scope *s, const net_expr *e, const frame *fr, double *y)
{
    int32_t k = frame_arg(fr, e->name);
    if (k >= 0) {
        *y = fr->value[k];
        return true;
    }
    if (!c->muted && map_get(&c->sub_param, map_key(e->name), 0))
        c->touched_local = true;
    pval *p = flat_find_param(c, s, e->name);
    if (!p) {
        if (constant(e->name, y) || eval_pspice(c, e, y))
            return true;
        unknown_param(c, s, e);
        return false;
    }
    if (!force(c, p, e->name))
        return false;
    if (p->str) {
        if (flat_first(c, e->span)) {
            diag_error(c->d, e->span, "parameter '%s' is the text \"%s\", a number is needed",
                       e->name, p->str);
            flat_where(c, s);
        }
        return false;
    }
    *y = p->value;
    return true;
}

static const func_def *user_func(flat_ctx *c, scope *s, const net_expr *e)
{
    const func_def *fn = flat_find_func(s, e->name);
    if (fn && fn->n_arg == e->n_arg)
        return fn->e ? fn : NULL;
    if (!flat_first(c, e->span))
        return NULL;
    if (fn) {
        diag_error(c->d, e->span, "function '%s' takes %d argument%s, not %d", e->name, fn->n_arg,
                   fn->n_arg == 1 ? "" : "s", e->n_arg);
        diag_note(c->d, fn->span, "defined here");
        return NULL;
    }
    const char **cand = NULL;
    for (scope *l = s; l; l = l->lex)
        for (size_t i = 0; i < vec_len(l->b->func); i++)
            vec_push(cand, l->b->func[i].name);
    for (int i = 0; i < NET_FN_USER; i++)
        vec_push(cand, net_fn_text((net_fn)i));
    diag_span word = e->span;
    word.len = (uint32_t)strlen(e->name);
    diag_error(c->d, word, "unknown function '%s'", e->name);
    flat_suggest(c, e->name, cand, vec_len(cand));
    vec_free(cand);
    return NULL;
}

/* gauss, agauss, unif, aunif, limit(a,b): nominal value, variation, and how many sigmas it stands
 * for. */
static bool is_random(const net_expr *e)
{
    return e->op == NET_CALL && ((e->fn >= NET_FN_GAUSS && e->fn <= NET_FN_AUNIF) ||
                                 (e->fn == NET_FN_LIMIT && e->n_arg == 2));
}

/* Notes a random number in d. Returns how far it is moved. */
static double moved(net_draws *d, net_draw w)
{
    const uint64_t key = draw_add(draw_text(draw_text(0, w.path), w.name), (uint64_t)w.k);
    if (map_get(&d->known, key, -1) < 0) {
        map_set(&d->known, key, (int32_t)vec_len(d->seen));
        vec_push(d->seen, w);
    }
    return d->like && net_draw_alike(d->like, &w) ? d->by : 0;
}

static double draw(flat_ctx *c, const net_expr *e, const double *x)
{
    const bool relative = e->fn == NET_FN_GAUSS || e->fn == NET_FN_UNIF;
    const bool normal = e->fn == NET_FN_GAUSS || e->fn == NET_FN_AGAUSS;
    double spread = (relative ? x[0] : 1) * x[1];
    if (normal)
        spread = x[2] == 0 ? 0 : spread / x[2];
    busy *of = vec_len(c->busy) ? &c->busy[vec_len(c->busy) - 1] : &c->drawing;
    const int32_t k = of->n_draw++;
    if (vec_len(c->f->correlate))
        flat_correlate_met(c, of, k);
    if (c->muted)
        return x[0];
    if (!c->deck->vary && !c->deck->draws && spread != 0 && c->nominal.file < 0)
        c->nominal = e->span;
    if (spread != 0)
        c->mask |= UINT64_C(1) << KNOB_DRAW;
    if (of->path && *of->path)
        c->touched_local = true;
    if ((!c->deck->vary && !c->deck->draws) || spread == 0)
        return x[0];
    c->drew = c->ever_drew = true;
    const flat_dist kind = normal ? FLAT_NORMAL : e->fn == NET_FN_LIMIT ? FLAT_SIGN : FLAT_UNIFORM;
    const net_draw w = {of->path ? of->path : "", of->name ? of->name : "", k,
                        kind == FLAT_UNIFORM ? sqrt(1. / 3) : 1};
    double y = 0;
    if (!flat_correlated(c, &w, kind, &y) && c->deck->vary)
        y = flat_random(c->deck->seed, c->deck->sample, w.path, w.name, k, kind);
    if (c->deck->draws)
        y += moved(c->deck->draws, w);
    return x[0] + spread * y;
}

static bool apply(flat_ctx *c, scope *s, const net_expr *e, const double *x, double *y)
{
    char why[200];
    if (is_random(e)) {
        *y = draw(c, e, x);
        return true;
    }
    if (net_apply(e->op, e->fn, x, e->n_arg, y, why, sizeof why))
        return true;
    if (flat_first(c, e->span)) {
        diag_error(c->d, e->span, "%s", why);
        flat_where(c, s);
    }
    return false;
}

/* A product. If its left factor is 0, the right one has no effect: the value neither depends on
 * what that reads nor on what it draws (kits switch mismatch off by a factor 0). */
static bool eval_product(flat_ctx *c, scope *s, const net_expr *e, const frame *fr, double *y)
{
    double x[2];
    if (!eval(c, s, e->arg[0], fr, &x[0]))
        return false;
    const uint64_t mask = c->mask;
    c->muted += x[0] == 0;
    const bool ok = eval(c, s, e->arg[1], fr, &x[1]);
    c->muted -= x[0] == 0;
    if (x[0] == 0)
        c->mask = mask;
    return ok && apply(c, s, e, x, y);
}

static bool eval_call(flat_ctx *c, scope *s, const net_expr *e, const frame *fr, double *y)
{
    double few[8], *x = e->n_arg <= 8 ? few : arena_array(&c->scratch, double, e->n_arg);
    for (int32_t i = 0; i < e->n_arg; i++)
        if (!eval(c, s, e->arg[i], fr, &x[i]))
            return false;
    if (e->op != NET_CALL || e->fn != NET_FN_USER)
        return apply(c, s, e, x, y);
    const func_def *fn = user_func(c, s, e);
    if (!fn)
        return false;
    frame inner = {.fn = fn, .value = x};
    return eval(c, s, fn->e, &inner, y);
}

static bool eval_lazy(flat_ctx *c, scope *s, const net_expr *e, const frame *fr, double *y)
{
    double a;
    if (!eval(c, s, e->arg[0], fr, &a))
        return false;
    if (e->op == NET_COND)
        return eval(c, s, e->arg[a != 0 ? 1 : 2], fr, y);
    if ((a != 0) == (e->op == NET_OR)) {
        *y = a != 0;
        return true;
    }
    if (!eval(c, s, e->arg[1], fr, y))
        return false;
    *y = *y != 0;
    return true;
}

static bool eval_deep(flat_ctx *c, scope *s, const net_expr *e, const frame *fr, double *y)
{
    c->steps--;
    if (too_deep(c, e))
        return false;
    switch (e->op) {
    case NET_NUM: *y = e->num; return true;
    case NET_TEMPER:
        c->mask |= UINT64_C(1) << KNOB_TEMPER;
        *y = c->temper;
        return true;
    case NET_PARAM: return eval_param(c, s, e, fr, y);
    case NET_AND:
    case NET_OR:
    case NET_COND: return eval_lazy(c, s, e, fr, y);
    case NET_STR:
    case NET_VNODE:
    case NET_IBRANCH:
    case NET_TIME:
    case NET_HERTZ:
    case NET_S:
        if (flat_first(c, e->span)) {
            if (e->op == NET_STR)
                diag_error(c->d, e->span, "a number is needed, not a text");
            else
                diag_error(c->d, e->span, "'%s' depends on the circuit, a number is needed here",
                           e->op == NET_VNODE     ? "v()"
                           : e->op == NET_IBRANCH ? "i()"
                                                  : e->name);
            flat_where(c, s);
        }
        return false;
    case NET_MUL: return eval_product(c, s, e, fr, y);
    default: return eval_call(c, s, e, fr, y);
    }
}

static bool eval(flat_ctx *c, scope *s, const net_expr *e, const frame *fr, double *y)
{
    if (e->op == NET_NUM) {
        *y = e->num;
        return true;
    }
    c->depth++;
    bool ok = eval_deep(c, s, e, fr, y);
    c->depth--;
    return ok;
}

bool flat_eval(flat_ctx *c, scope *s, const rhs *v, double *y)
{
    if (!v->e)
        return false;
    if (v->e->op == NET_NUM) {
        *y = v->e->num;
        return true;
    }
    if (!vec_len(c->busy))
        flat_start_eval(c);
    return eval(c, s, v->e, NULL, y);
}

enum { MOST_JOINED = 1 << 16 }; /* characters: a few cards could double a text without end */

/* The text that the parts of e are together (texts of .param). */
static bool join_texts(flat_ctx *c, scope *s, const net_expr *e, const char **str)
{
    const char *all = "";
    for (int32_t i = 0; i < e->n_arg; i++) {
        const rhs part = {.e = e->arg[i], .span = e->arg[i]->span, .given = true};
        const char *text;
        double y;
        if (!flat_value(c, s, &part, &y, &text))
            return false;
        if (!text) {
            if (flat_first(c, part.span))
                diag_error(c->d, part.span, "'%s' is a number, and only texts are joined",
                           part.e->name);
            return false;
        }
        if (strlen(all) + strlen(text) > MOST_JOINED) {
            if (flat_first(c, e->span))
                diag_error(c->d, e->span, "this text has more than %d characters", MOST_JOINED);
            return false;
        }
        all = arena_printf(c->mem, "%s%s", all, text);
    }
    *str = str_intern0(c->names, all);
    return true;
}

bool flat_value(flat_ctx *c, scope *s, const rhs *v, double *y, const char **str)
{
    *str = NULL;
    if (!v->e)
        return false;
    if (v->e->op == NET_NUM) {
        *y = v->e->num;
        *str = v->word;
        return true;
    }
    if (v->e->op == NET_STR && v->e->n_arg) {
        *y = NAN;
        return join_texts(c, s, v->e, str);
    }
    if (v->e->op == NET_STR || v->text) {
        *str = v->e->op == NET_STR ? v->e->name : v->word;
        *y = NAN;
        return true;
    }
    if (v->e->op == NET_PARAM) {
        pval *p = flat_find_param(c, s, v->e->name);
        if (map_get(&c->sub_param, map_key(v->e->name), 0))
            c->touched_local = true;
        if (p) {
            if (!vec_len(c->busy))
                flat_start_eval(c);
            if (!force(c, p, v->e->name))
                return false;
            *y = p->value;
            *str = p->str;
            return true;
        }
        double k;
        if (v->word && !constant(v->e->name, &k)) {
            *str = v->word;
            *y = NAN;
            return true;
        }
    }
    return flat_eval(c, s, v, y);
}

/* All parameters of a scope in the order of the text: messages come in that order, and long chains
 * of definitions need no deep recursion. */
void flat_eval_all(flat_ctx *c, scope *s)
{
    for (size_t i = 0; i < vec_len(s->b->param); i++) {
        pval *p = &s->param[s->b->param[i].slot];
        if (!p->v || s->b->param[i].var)
            continue;
        flat_start_eval(c);
        force(c, p, s->b->param[i].name);
    }
    flat_start_eval(c);
}

/* -- .if -- */

/* Whether a definition of the parameter stands in an .if branch. */
static bool is_guarded(const body *b, int32_t slot)
{
    for (int32_t i = b->param_last[slot]; i >= 0; i = b->param[i].prev)
        if (b->param[i].guard >= 0)
            return true;
    return false;
}

/* Keeps values that the instance or the caller of flat_build gave. */
void flat_choose_params(scope *s)
{
    body *b = s->b;
    for (size_t k = 0; k < vec_len(b->param_name); k++) {
        pval *p = &s->param[k];
        if (p->fixed)
            continue;
        p->v = NULL;
        for (int32_t i = b->param_last[k]; i >= 0; i = b->param[i].prev)
            if (flat_on(s, b->param[i].guard)) {
                *p = (pval){.v = &b->param[i].v,
                            .where = s,
                            .path = s->path,
                            .used = p->used,
                            .span = b->param[i].span,
                            .listed = p->listed,
                            .mask = p->mask,
                            .watch = p->watch};
                break;
            }
        p->knob = p->watch | (s->guard_mask && is_guarded(b, (int32_t)k) ? s->guard_mask : 0);
        p->mask |= p->knob;
    }
}

bool flat_decide_guards(flat_ctx *c, scope *s)
{
    bool ok = true;
    uint64_t mask = 0;
    s->n_on = 0;
    flat_choose_params(s);
    for (size_t i = 0; i < vec_len(s->b->branch); i++) {
        const branch *g = &s->b->branch[i];
        bool on = flat_on(s, g->parent);
        bool done = g->before >= 0 && (s->on[g->before] & 2);
        on = on && !done;
        double y = 1;
        c->mask = 0;
        if (on && g->cond.given && !flat_eval(c, s, &g->cond, &y)) {
            ok = false;
            y = 0;
        }
        mask |= c->mask;
        on = on && y != 0;
        s->on[i] = (uint8_t)((on ? 1 : 0) | (on || done ? 2 : 0));
        s->n_on = (int32_t)i + 1;
        if (on && g->has_param)
            flat_choose_params(s); /* also forgets values that the branch redefines */
    }
    flat_guards_fact(c, s, mask);
    return ok;
}

/* -- folding -- */

typedef struct folder {
    flat_ctx *c;
    scope *s;
    int64_t made;
    bool failed;
} folder;

static const net_expr *fold(folder *f, const net_expr *e, const frame *fr);

static net_expr *fold_node(folder *f, const net_expr *e, net_op op, int32_t n_arg)
{
    if (++f->made > MAX_FOLDED && !f->failed) {
        diag_error(f->c->d, e->span, "expression is too large when its functions are put in");
        f->failed = true;
    }
    net_expr *r = arena_alloc(f->c->mem, sizeof *r + (size_t)n_arg * sizeof r->arg[0]);
    *r = *e;
    r->op = op;
    r->n_arg = n_arg;
    return r;
}

static const net_expr *fold_number(folder *f, const net_expr *e, double x)
{
    net_expr *r = fold_node(f, e, NET_NUM, 0);
    r->num = x;
    return r;
}

static void fold_node_name(folder *f, net_expr *r, int32_t k, const char *name)
{
    int32_t slot = map_get(&f->s->b->slot, map_key(name), -1);
    r->node[k] =
        slot >= 0 ? flat_node(f->c, f->s, slot) : map_get(&f->c->top_node, map_key(name), -1);
    if (slot < 0 && f->c->first_new && r->node[k] >= f->c->first_new)
        r->node[k] = -1; /* it came later */
    if (slot < 0 &&
        (r->node[k] < 0 || (f->s != f->c->root && r->node[k] > 0 && !flat_is_global(f->c, name)))) {
        r->node[k] = 0;
        vec_push(f->c->pend, (pending){r, k, f->s->path});
    }
}

static const net_expr *fold_probe(folder *f, const net_expr *e)
{
    net_expr *r = fold_node(f, e, e->op, 0);
    if (e->op == NET_VNODE) {
        fold_node_name(f, r, 0, e->name);
        r->node[1] = 0;
        if (e->name2)
            fold_node_name(f, r, 1, e->name2);
    } else {
        vec_push(f->c->pend, (pending){r, 0, f->s->path});
    }
    return r;
}

static const net_expr *fold_user(folder *f, const net_expr *e, const frame *fr)
{
    const func_def *fn = user_func(f->c, f->s, e);
    if (!fn) {
        f->failed = true;
        return e;
    }
    const net_expr **tree = arena_array(f->c->mem, const net_expr *, e->n_arg);
    for (int32_t i = 0; i < e->n_arg && !f->failed; i++)
        tree[i] = fold(f, e->arg[i], fr);
    if (f->failed)
        return e;
    frame inner = {.fn = fn, .tree = tree};
    return fold(f, fn->e, &inner);
}

static const net_expr *fold_args(folder *f, const net_expr *e, const frame *fr)
{
    net_expr *r = fold_node(f, e, e->op, e->n_arg);
    bool all = e->op != NET_CALL || e->fn < NET_FN_DDT;
    double few[8], *x = e->n_arg <= 8 ? few : arena_array(&f->c->scratch, double, e->n_arg);
    for (int32_t i = 0; i < e->n_arg && !f->failed; i++) {
        r->arg[i] = fold(f, e->arg[i], fr);
        all = all && r->arg[i]->op == NET_NUM;
        x[i] = r->arg[i]->num;
        if (e->op == NET_COND && i == 0 && r->arg[0]->op == NET_NUM)
            return fold(f, e->arg[x[0] != 0 ? 1 : 2], fr);
    }
    if (!all || f->failed)
        return r;
    double y;
    f->failed |= !apply(f->c, f->s, e, x, &y);
    return f->failed ? r : fold_number(f, e, y);
}

/* Nodes of the tree, shared parts counted each time: a function that uses its argument twice
 * doubles the text. Stops at `most`. */
static int64_t tree_size(const net_expr *e, int64_t most)
{
    int64_t n = 1;
    for (int32_t i = 0; i < e->n_arg && n < most; i++)
        n += tree_size(e->arg[i], most - n);
    return n;
}

/* Stores the folded tree for later uses of the parameter, with its name as label unless it already
 * carries that of another .var. */
static void keep_folded(folder *f, pval *p, const char *name, const net_expr *r)
{
    p->folded = r;
    if (r->n_arg && !r->label)
        ((net_expr *)(uintptr_t)r)->label = flat_join(f->c, p->where, name);
}

static const net_expr *fold_deep(folder *f, const net_expr *e, const frame *fr)
{
    double y;
    f->c->steps--;
    if (f->failed || too_deep(f->c, e)) {
        f->failed = true;
        return e;
    }
    switch (e->op) {
    case NET_NUM:
    case NET_TIME:
    case NET_TEMPER:
    case NET_HERTZ:
    case NET_S:
    case NET_STR: return e;
    case NET_VNODE:
    case NET_IBRANCH: return fold_probe(f, e);
    case NET_PARAM: {
        int32_t k = frame_arg(fr, e->name);
        if (k >= 0) {
            f->made += tree_size(fr->tree[k], MAX_FOLDED);
            return fr->tree[k];
        }
        pval *p = flat_find_param(f->c, f->s, e->name);
        if (p && p->folded) {
            f->c->mask |= p->mask;
            return p->folded;
        }
        if (p && p->v && p->v->maybe_dynamic && p->state == P_NEW) {
            p->state = P_BUSY; /* a parameter that stands for a behavioural expression */
            folder inner = *f;
            inner.s = p->where;
            const flat_outer outer = flat_param_begin(f->c, p);
            const net_expr *r = p->v->e ? fold(&inner, p->v->e, NULL) : NULL;
            flat_param_end(f->c, p, outer);
            p->state = P_NEW;
            f->failed |= inner.failed || !r;
            if (!f->failed)
                keep_folded(f, p, e->name, r);
            return r ? r : e;
        }
        if (!eval_param(f->c, f->s, e, NULL, &y)) {
            f->failed = true;
            return e;
        }
        return fold_number(f, e, y);
    }
    default:
        return e->op == NET_CALL && e->fn == NET_FN_USER ? fold_user(f, e, fr)
                                                         : fold_args(f, e, fr);
    }
}

static const net_expr *fold(folder *f, const net_expr *e, const frame *fr)
{
    f->c->depth++;
    e = fold_deep(f, e, fr);
    f->c->depth--;
    return e;
}

const net_expr *flat_fold(flat_ctx *c, scope *s, const rhs *v)
{
    if (!v->e)
        return NULL;
    flat_start_eval(c);
    folder f = {.c = c, .s = s};
    const net_expr *e = fold(&f, v->e, NULL);
    return f.failed ? NULL : e;
}
