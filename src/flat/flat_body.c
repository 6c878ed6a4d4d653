/* flat_body.c - a body is read once: its parameters, functions, models, subcircuits, elements,
 * each with the .if branch it stands in. Also the values behind keys, and models on demand. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flat_priv.h"
#include "pool.h"

enum { MAX_BINS = 1000 }; /* each element of such a model looks through them */

/* -- cursor -- */

diag_span cur_span(const cur *q)
{
    if (cur_more(q))
        return net_tok_span(q->card, cur_tok(q));
    const net_tok *t = &q->card->tok[q->card->n_tok - 1];
    return (diag_span){q->card->file, t->off + t->len, 1};
}

bool cur_is(const cur *q, char punct) { return cur_more(q) && cur_tok(q)->punct == punct; }

bool cur_is_word(const cur *q, const char *word)
{
    return cur_more(q) && cur_tok(q)->kind == NET_T_WORD && !strcmp(cur_tok(q)->text, word);
}

bool cur_at_key(const cur *q)
{
    return q->i + 1 < q->card->n_tok && q->card->tok[q->i].kind == NET_T_WORD &&
           q->card->tok[q->i + 1].punct == '=';
}

void cur_skip_punct(cur *q)
{
    while (cur_is(q, ',') || cur_is(q, '(') || cur_is(q, ')'))
        q->i++;
}

void cur_unexpected(const cur *q, const char *what)
{
    if (!cur_more(q)) {
        diag_error(q->c->d, cur_span(q), "%s", what);
        return;
    }
    diag_span at = cur_span(q);
    int n = at.len > 40 ? 40 : (int)at.len;
    diag_error(q->c->d, at, "%s, not '%.*s'", what, n, q->c->d->file[at.file].text + at.off);
}

/* -- values -- */

rhs flat_number(flat_ctx *c, double x, diag_span span)
{
    net_expr *e = arena_alloc(c->mem, sizeof *e);
    e->op = NET_NUM;
    e->num = x;
    e->span = span;
    return (rhs){.e = e, .span = span, .given = true};
}

net_expr *flat_call(flat_ctx *c, net_fn fn, const char *name, int32_t n, diag_span span)
{
    net_expr *e = arena_alloc(c->mem, sizeof *e + (size_t)n * sizeof e->arg[0]);
    *e = (net_expr){
        .op = NET_CALL, .fn = fn, .n_arg = n, .span = span, .name = str_intern0(c->names, name)};
    return e;
}

const net_expr *flat_operation(flat_ctx *c, net_op op, const net_expr *a, const net_expr *b)
{
    net_expr *e = arena_alloc(c->mem, sizeof *e + 2 * sizeof e->arg[0]);
    *e = (net_expr){.op = op, .n_arg = 2, .span = a->span};
    e->arg[0] = a;
    e->arg[1] = b;
    return e;
}

const net_expr *flat_voltage(flat_ctx *c, const char *plus, const char *minus, diag_span span)
{
    net_expr *v = arena_alloc(c->mem, sizeof *v);
    *v = (net_expr){.op = NET_VNODE, .name = plus, .name2 = minus, .span = span};
    return v;
}

static bool is_dynamic(const net_expr *e)
{
    if (e->op == NET_VNODE || e->op == NET_IBRANCH || e->op == NET_TIME || e->op == NET_HERTZ ||
        e->op == NET_S || (e->op == NET_CALL && e->fn >= NET_FN_DDT))
        return true;
    for (int32_t i = 0; i < e->n_arg; i++)
        if (is_dynamic(e->arg[i]))
            return true;
    return false;
}

static bool is_identifier(const char *s)
{
    if (!((*s >= 'a' && *s <= 'z') || *s == '_'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_' || *s == '.'))
            return false;
    return true;
}

/* 4.8.2: a version, a text whose value is its leading number */
static bool is_version(const char *s, const char *rest)
{
    return rest > s && *rest == '.' && strspn(rest, ".0123456789") == strlen(rest);
}

/* 1A and 2Amp: the suffix 'a' means 1e-18, but who writes so means amperes, as older ngspice took
 * them. Where a current is expected they are amperes; elsewhere a message tells of it once. */
static void look_for_atto(flat_ctx *c, const char *text, diag_span at, double *value)
{
    static const diag_span once = {-1, 1, 0};
    const double x = *value;
    const size_t digits = strspn(text, "+-.0123456789");
    if (text[digits] != 'a' || at.file < 0 || x == 0)
        return;
    const bool capital = c->d->file[at.file].text[at.off + digits] == 'A' && !text[digits + 1];
    const bool unit = capital || !strncmp(text + digits, "amp", 3);
    if (unit && c->amperes) {
        *value = strtod(text, NULL);
        if (flat_first(c, once))
            diag_warning(c->d, at, "this is %g A: the current of a source, not the suffix a, 1e-18",
                         *value);
        return;
    }
    if (unit && flat_first(c, once))
        diag_warning(c->d, at,
                     "this is %g: the suffix a is 1e-18, as in newer ngspice; ngspice 39 reads a "
                     "unit (write it without the A)",
                     x);
}

/* One token, the common case: number, name, quoted text. false: it needs the expression parser. */
static bool simple_value(flat_ctx *c, const net_tok *t, diag_span span, rhs *v)
{
    const char *end;
    double x;
    *v = (rhs){.span = span, .given = true};
    if (t->kind == NET_T_STR) {
        *v = flat_number(c, NAN, span);
        ((net_expr *)v->e)->op = NET_STR;
        ((net_expr *)v->e)->name = t->text;
        v->word = t->text;
        v->text = true;
        return true;
    }
    if (t->kind != NET_T_WORD)
        return false;
    if (str_spice_number(t->text, &end, &x) && isfinite(x) && (!*end || is_version(t->text, end))) {
        const char *word = *end ? t->text : NULL;
        look_for_atto(c, t->text, span, &x);
        *v = flat_number(c, x, span);
        v->word = word;
        return true;
    }
    if (!is_identifier(t->text) || !strcmp(t->text, "time") || !strcmp(t->text, "temper") ||
        !strcmp(t->text, "hertz"))
        return false;
    *v = flat_number(c, 0, span);
    ((net_expr *)v->e)->op = NET_PARAM;
    ((net_expr *)v->e)->name = t->text;
    v->word = t->text;
    v->maybe_dynamic = true;
    return true;
}

static rhs parse_value(cur *q, diag_span span, uint32_t *end)
{
    rhs v = {.span = span, .given = true};
    v.e = net_expr_parse(q->c->d, q->c->names, q->c->mem, span, end);
    if (v.e && q->c->deck->xyce)
        net_expr_as_xyce(v.e);
    v.maybe_dynamic = v.e && (v.e->op == NET_PARAM || is_dynamic(v.e));
    if (v.e)
        v.span = v.e->span;
    return v;
}

/* value = number | name | "text" | {expr} | 'expr' | (expr) | tokens without blanks between them */
rhs cur_value(cur *q)
{
    if (!cur_more(q) || cur_is(q, ',') || cur_is(q, '=') || cur_is(q, ')') || cur_is(q, ']')) {
        cur_unexpected(q, "a value is expected");
        return (rhs){.given = true, .span = cur_span(q)};
    }
    const net_card *card = q->card;
    int32_t from = q->i, k = from, depth = 0;
    for (; k < card->n_tok; k++) {
        const net_tok *t = &card->tok[k];
        if (k > from && !depth &&
            (!t->glued || t->punct == ',' || t->punct == '=' || t->punct == ')' || t->punct == ']'))
            break;
        depth += t->punct == '(' ? 1 : t->punct == ')' ? -1 : 0;
        if (depth < 0)
            break;
    }
    q->i = k;
    diag_span span = net_tok_span(card, &card->tok[from]);
    rhs v;
    if (k == from + 1 && simple_value(q->c, &card->tok[from], span, &v))
        return v;
    return parse_value(q, diag_join(span, net_tok_span(card, &card->tok[k - 1])), NULL);
}

enum { MOST_AHEAD = 64 }; /* tokens; lists of 100,000 words are read word by word */

/* In "a='1' + b=2" a line break before the plus was lost. The token before such a plus, among the
 * next MOST_AHEAD; NULL: there is none. */
static const net_tok *before_lost_break(const cur *q)
{
    const net_tok *t = q->card->tok;
    const int32_t most = q->card->n_tok - 2, near = q->i + MOST_AHEAD,
                  end = near < most ? near : most;
    for (int32_t k = q->i + 1; k < end && t[k].punct != '='; k++)
        if (t[k].kind == NET_T_WORD && !strcmp(t[k].text, "+") && t[k + 1].kind == NET_T_WORD &&
            t[k + 2].punct == '=' && t[k - 1].kind == NET_T_EXPR)
            return &t[k - 1];
    return NULL;
}

/* Like cur_value, but blanks may stand inside: the value is as long an expression as can be read.
 */
rhs cur_expr(cur *q)
{
    if (!cur_more(q)) {
        cur_unexpected(q, "an expression is expected");
        return (rhs){.given = true, .span = cur_span(q)};
    }
    const net_card *card = q->card;
    const net_tok *last = &card->tok[card->n_tok - 1];
    bool alone =
        q->i + 1 >= card->n_tok ||
        (q->i + 2 < card->n_tok && card->tok[q->i + 2].punct == '=' && !card->tok[q->i + 1].glued);
    rhs v;
    if (alone && simple_value(q->c, cur_tok(q), cur_span(q), &v)) {
        q->i++;
        return v;
    }
    const net_tok *stop = before_lost_break(q);
    last = stop ? stop : last;
    uint32_t end = last->off + last->len;
    v = parse_value(q, diag_join(cur_span(q), net_tok_span(card, last)), &end);
    if (v.e && v.e->op == NET_PARAM && is_identifier(v.e->name))
        v.word = v.e->name;
    if (v.e && v.e->op == NET_STR) {
        v.word = v.e->name;
        v.text = true;
    }
    if (!v.e) /* to the next key */
        for (q->i++; cur_more(q) && !cur_at_key(q);)
            q->i++;
    while (v.e && cur_more(q) && cur_tok(q)->off < end)
        q->i++;
    if (stop && cur_is_word(q, "+")) {
        diag_warning(q->c->d, cur_span(q), "a line break is missing before '+'");
        q->i++;
    }
    return v;
}

bool cur_keyval(cur *q, keyval *kv)
{
    kv->key = cur_tok(q)->text;
    kv->key_span = cur_span(q);
    q->i += 2;
    kv->v = cur_value(q);
    return kv->v.e != NULL;
}

void flat_warn_twice(flat_ctx *c, const char *key, diag_span at, diag_span first)
{
    diag_warning(c->d, at, "'%s' is given twice, the last one counts", key);
    if (c->d->n_warning < c->d->max_error)
        diag_note(c->d, first, "first given here");
}

void flat_unique_keys(flat_ctx *c, keyval *kv)
{
    map seen = {0};
    size_t n = vec_len(kv), k = 0;
    for (size_t i = 0; i < n; i++) {
        bool quadratic = n < 12;
        int32_t old = quadratic ? -1 : map_get(&seen, map_key(kv[i].key), -1);
        for (size_t j = 0; quadratic && j < k; j++)
            if (kv[j].key == kv[i].key)
                old = (int32_t)j;
        if (old >= 0) {
            flat_warn_twice(c, kv[i].key, kv[i].key_span, kv[old].key_span);
            kv[old] = kv[i];
            continue;
        }
        if (!quadratic)
            map_set(&seen, map_key(kv[i].key), (int32_t)k);
        kv[k++] = kv[i];
    }
    if (n)
        vec_head_of(kv)->len = k;
    map_free(&seen);
}

/* -- declarations -- */

int32_t flat_slot(flat_ctx *c, body *b, const char *name)
{
    (void)c;
    int32_t k = map_get(&b->slot, map_key(name), -1);
    if (k < 0) {
        k = (int32_t)vec_len(b->slot_name);
        vec_push(b->slot_name, name);
        map_set(&b->slot, map_key(name), k);
    }
    return k;
}

int32_t flat_slot_of(flat_ctx *c, body *b, const char *text, size_t n, uint32_t hash)
{
    int32_t *note;
    const char *name = str_intern_hashed(c->names, text, n, hash, &note);
    const int32_t known = *note - 1;
    if (known >= 0 && (size_t)known < vec_len(b->slot_name) && b->slot_name[known] == name)
        return known;
    return (*note = flat_slot(c, b, name) + 1) - 1;
}

static void warn_twice(flat_ctx *c, const char *what, const char *name, diag_span at, diag_span old)
{
    diag_warning(c->d, at, "%s '%s' is defined twice, the last one counts", what, name);
    if (c->d->n_warning < c->d->max_error) /* a note of a dropped warning would stand alone */
        diag_note(c->d, old, "first defined here");
}

/* Two definitions with one text are one. */
static bool same_text(const flat_ctx *c, diag_span a, diag_span b)
{
    return a.len && a.len == b.len &&
           !memcmp(c->d->file[a.file].text + a.off, c->d->file[b.file].text + b.off, a.len);
}

static void add_param(flat_ctx *c, body *b, param_def p)
{
    int32_t slot = map_get(&b->param_slot, map_key(p.name), -1);
    if (slot < 0) {
        slot = (int32_t)vec_len(b->param_name);
        vec_push(b->param_name, p.name);
        vec_push(b->param_last, -1);
        map_set(&b->param_slot, map_key(p.name), slot);
    }
    p.slot = slot;
    if (p.guard >= 0)
        b->branch[p.guard].has_param = true;
    p.prev = b->param_last[slot];
    if (p.prev >= 0 && b->param[p.prev].guard == p.guard &&
        !same_text(c, p.v.span, b->param[p.prev].v.span))
        warn_twice(c, "parameter", p.name, p.span, b->param[p.prev].span);
    b->param_last[slot] = (int32_t)vec_len(b->param);
    vec_push(b->param, p);
    if (b->sub->name)
        map_set(&c->sub_param, map_key(p.name), 1);
}

static void read_func(cur *q, int32_t guard);

/* The scale of a unit behind a number and a blank: 1e-12 for the ps of "200 ps". 0: no unit. */
static double unit_scale(const char *word)
{
    static const char *const unit[] = {"s", "v", "a", "f", "h", "hz", "ohm", "ohms"};
    static const struct {
        const char *prefix;
        double scale;
    } by[] = {{"", 1},     {"f", 1e-15}, {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6},
              {"m", 1e-3}, {"k", 1e3},   {"meg", 1e6}, {"g", 1e9},  {"t", 1e12}};
    for (size_t i = 0; i < VS_COUNT(by); i++)
        for (size_t k = 0; k < VS_COUNT(unit); k++) {
            const size_t n = strlen(by[i].prefix);
            if (!strncmp(word, by[i].prefix, n) && !strcmp(word + n, unit[k]))
                return by[i].scale;
        }
    return 0;
}

bool flat_take_unit(cur *q, rhs *v)
{
    const double scale =
        v && v->e && v->e->op == NET_NUM && cur_tok(q)->kind == NET_T_WORD && !cur_at_key(q)
            ? unit_scale(cur_tok(q)->text)
            : 0;
    const diag_span at = cur_span(q);
    if (scale == 0 || at.file != v->span.file || at.off <= v->span.off + v->span.len)
        return false;
    *v = flat_number(q->c, v->e->num * scale, v->span);
    if (flat_first(q->c, net_card_span(q->card)))
        diag_warning(q->c->d, at, "a unit belongs to its number, without a blank: %g is taken",
                     v->e->num);
    q->i++;
    return true;
}

/* The parameter that the token names, as a bare word or in braces; NULL: it is none of both. */
static const char *name_in(const cur *q, const net_tok *t)
{
    const char *text = t->text;
    if (t->kind == NET_T_EXPR) {
        const char *s = q->c->d->file[cur_span(q).file].text + t->off;
        text = *s == '{' ? str_intern_lower(q->c->names, s + 1, t->len - 2) : NULL;
    }
    return text && t->kind != NET_T_STR && is_identifier(text) ? text : NULL;
}

/* texts = (name | "text" | "{" name "}")+ without blanks: more than one are joined to one text.
 * Not a number's factors: an operator would stand between. */
static bool take_texts(cur *q, rhs *v)
{
    const net_card *card = q->card;
    const net_tok *t = &card->tok[q->i];
    int32_t n = 0;
    bool words = true; /* nothing but words, which are glued to nothing */
    for (; q->i + n < card->n_tok; n++) {
        const bool key = q->i + n + 1 < card->n_tok && t[n + 1].punct == '=';
        if ((n && (!t[n].glued || key)) || (t[n].kind != NET_T_STR && !name_in(q, &t[n])))
            break;
        words &= t[n].kind == NET_T_WORD;
    }
    if (n < 2 || words)
        return false;
    const diag_span span = diag_join(net_tok_span(card, t), net_tok_span(card, &t[n - 1]));
    net_expr *e = flat_call(q->c, NET_FN_USER, "", n, span);
    e->op = NET_STR;
    for (int32_t i = 0; i < n; i++) {
        net_expr *part = (net_expr *)flat_number(q->c, NAN, net_tok_span(card, &t[i])).e;
        part->op = t[i].kind == NET_T_STR ? NET_STR : NET_PARAM;
        part->name = t[i].kind == NET_T_STR ? t[i].text : name_in(q, &t[i]);
        e->arg[i] = part;
    }
    *v = (rhs){.e = e, .word = "", .span = span, .text = true, .given = true};
    q->i += n;
    return true;
}

/* param = ".param" (name "=" (texts | expr))* ; also name(args) = expr, a function */
static void read_params(cur *q, int32_t guard, bool port, net_card_kind kind)
{
    const bool var = kind == NET_CARD_VAR;
    rhs *last = NULL;
    while (cur_more(q)) {
        cur_skip_punct(q);
        if (!cur_more(q))
            break;
        if (flat_take_unit(q, last))
            continue;
        if (kind != NET_CARD_CSPARAM && cur_tok(q)->kind == NET_T_WORD &&
            q->i + 1 < q->card->n_tok && q->card->tok[q->i + 1].punct == '(') {
            read_func(q, guard);
            continue;
        }
        if (!cur_at_key(q)) {
            cur_unexpected(q, "name=value is expected");
            return;
        }
        param_def p = {.name = cur_tok(q)->text,
                       .span = cur_span(q),
                       .guard = guard,
                       .port = port,
                       .var = var};
        if (kind == NET_CARD_CSPARAM)
            p.name = flat_csparam_name(q->c, p.name);
        q->i += 2;
        if (!cur_more(q) || !take_texts(q, &p.v))
            p.v = cur_expr(q);
        p.v.maybe_dynamic |= var;
        add_param(q->c, q->b, p);
        last = &vec_last(q->b->param).v;
    }
}

/* func = ".func" name "(" [name ("," name)*] ")" ["="] expr */
static void read_func(cur *q, int32_t guard)
{
    func_def fn = {.guard = guard, .span = cur_span(q)};
    if (!cur_more(q) || cur_tok(q)->kind != NET_T_WORD) {
        cur_unexpected(q, "a function name is expected");
        q->i = q->card->n_tok;
        return;
    }
    fn.name = cur_tok(q)->text;
    q->i++;
    if (!cur_is(q, '(')) {
        cur_unexpected(q, "'(' is expected after the function name");
        q->i = q->card->n_tok;
        return;
    }
    const char **arg = NULL;
    for (q->i++; cur_more(q) && !cur_is(q, ')'); q->i++)
        if (cur_tok(q)->kind == NET_T_WORD)
            vec_push(arg, cur_tok(q)->text);
    q->i++;
    if (cur_is(q, '='))
        q->i++;
    fn.n_arg = (int32_t)vec_len(arg);
    fn.arg = vec_freeze(q->c->mem, arg);
    fn.e = cur_expr(q).e;
    fn.prev = map_get(&q->b->func_of, map_key(fn.name), -1);
    if (fn.prev >= 0 && q->b->func[fn.prev].guard == guard)
        warn_twice(q->c, "function", fn.name, fn.span, q->b->func[fn.prev].span);
    map_set(&q->b->func_of, map_key(fn.name), (int32_t)vec_len(q->b->func));
    vec_push(q->b->func, fn);
}

/* The name before ".3" of a binned model, interned; NULL if it has no such ending. */
static const char *bin_name(flat_ctx *c, const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1))
        return NULL;
    return str_intern(c->names, name, (size_t)(dot - name));
}

/* ako = "ako:" model [type]; "ako" stands in the type's place. false: a message was given. */
static bool take_like(cur *q, model_def *m)
{
    const net_tok *t = cur_tok(q);
    if (cur_is_word(q, "ako") || cur_is_word(q, "ako:")) {
        q->i++;
        if (cur_more(q) && cur_is_word(q, ":"))
            q->i++;
        if (!cur_more(q) || cur_tok(q)->kind != NET_T_WORD) {
            cur_unexpected(q, "the model whose values are taken is expected");
            return false;
        }
        t = cur_tok(q);
    }
    m->like = t->text + strspn(t->text, ":");
    if (!strncmp(m->like, "ako:", 4))
        m->like += 4;
    m->like = str_intern0(q->c->names, m->like);
    m->like_span = net_tok_span(q->card, t);
    q->i++;
    m->type =
        cur_more(q) && cur_tok(q)->kind == NET_T_WORD && !cur_at_key(q) ? cur_tok(q)->text : NULL;
    m->first = q->i + (m->type != NULL);
    return true;
}

static void add_model(flat_ctx *c, body *b, const net_card *card, int32_t guard)
{
    cur q = {c, b, card, 1};
    if (!cur_more(&q) || cur_tok(&q)->kind != NET_T_WORD) {
        cur_unexpected(&q, ".model needs a name and a type");
        return;
    }
    model_def m = {.name = cur_tok(&q)->text, .card = card, .guard = guard};
    if (card->n_tok < 3 || card->tok[2].kind != NET_T_WORD) {
        q.i = 2;
        cur_unexpected(&q, "the model's type is expected");
        return;
    }
    m.type = card->tok[2].text;
    m.first = 3;
    c->number_models |= strchr("0123456789.+-", m.name[0]) != NULL;
    q.i = 2;
    if ((!strcmp(m.type, "ako") || !strncmp(m.type, "ako:", 4)) && !take_like(&q, &m))
        return;
    q.i = 1;
    m.prev = map_get(&b->model_of, map_key(m.name), -1);
    if (m.prev >= 0 && b->model[m.prev].guard == guard)
        warn_twice(c, "model", m.name, cur_span(&q),
                   net_tok_span(b->model[m.prev].card, &b->model[m.prev].card->tok[1]));
    map_set(&b->model_of, map_key(m.name), (int32_t)vec_len(b->model));
    const char *bin = bin_name(c, m.name);
    m.bin_prev = bin ? map_get(&b->bin_of, map_key(bin), -1) : -1;
    m.n_bin = m.bin_prev >= 0 ? b->model[m.bin_prev].n_bin + 1 : 1;
    if (bin && m.n_bin > MAX_BINS) {
        if (m.n_bin == MAX_BINS + 1)
            diag_error(c->d, cur_span(&q), "more than %d bins of model '%s'", MAX_BINS, bin);
        return;
    }
    if (bin)
        map_set(&b->bin_of, map_key(bin), (int32_t)vec_len(b->model));
    vec_push(b->model, m);
}

static void add_sub(flat_ctx *c, body *b, const net_card *card, int32_t guard)
{
    sub_def s = {.sub = card->sub, .guard = guard};
    s.prev = map_get(&b->sub_of, map_key(s.sub->name), -1);
    if (s.prev >= 0 && b->subs[s.prev].guard == guard)
        warn_twice(c, "subcircuit", s.sub->name, s.sub->span, b->subs[s.prev].sub->span);
    map_set(&b->sub_of, map_key(s.sub->name), (int32_t)vec_len(b->subs));
    vec_push(b->subs, s);
}

/* -- the body -- */

static int32_t open_branch(flat_ctx *c, body *b, const net_card *card, int32_t parent,
                           int32_t before)
{
    branch g = {.parent = parent, .before = before};
    if (card->kind != NET_CARD_ELSE && card->n_tok > 1) {
        cur q = {c, b, card, 1};
        g.cond = cur_expr(&q);
        if (g.cond.e && cur_more(&q))
            cur_unexpected(&q, "the condition ends here, nothing is expected");
        g.cond.given = true;
    } else {
        g.cond.given = card->kind != NET_CARD_ELSE;
    }
    vec_push(b->branch, g);
    return (int32_t)vec_len(b->branch) - 1;
}

static void declare_global(flat_ctx *c, const net_card *card)
{
    for (int32_t i = 1; i < card->n_tok; i++)
        if (card->tok[i].kind == NET_T_WORD)
            map_set(&c->is_global, map_key(card->tok[i].text), 1);
}

static void read_card(flat_ctx *c, body *b, const net_line *line, int32_t *guard)
{
    if (line->is_element || line->kind == NET_CARD_UNKNOWN)
        return;
    const net_card *card = line->card;
    cur q = {c, b, card, 1};
    switch (card->kind) {
    case NET_CARD_PARAM:
    case NET_CARD_VAR: read_params(&q, *guard, false, card->kind); break;
    case NET_CARD_CSPARAM:
        if (b->sub->name)
            diag_warning(c->d, net_card_span(card), "'.csparam' has no effect inside a subcircuit");
        else
            read_params(&q, *guard, false, card->kind);
        break;
    case NET_CARD_FUNC: read_func(&q, *guard); break;
    case NET_CARD_MODEL: add_model(c, b, card, *guard); break;
    case NET_CARD_SUBCKT: add_sub(c, b, card, *guard); break;
    case NET_CARD_IF: *guard = open_branch(c, b, card, *guard, -1); break;
    case NET_CARD_ELSEIF:
    case NET_CARD_ELSE: *guard = open_branch(c, b, card, b->branch[*guard].parent, *guard); break;
    case NET_CARD_ENDIF: *guard = b->branch[*guard].parent; break;
    case NET_CARD_GLOBAL: declare_global(c, card); break;
    default: vec_push(b->other, (card_ref){card, *guard}); break;
    }
}

/* Most decks never ask: their elements have new names, and nothing refers to them. */
int32_t flat_item(body *b, const char *name)
{
    for (; b->n_item_of < vec_len(b->item); b->n_item_of++)
        map_set(&b->item_of, map_key(b->item[b->n_item_of].line->name), (int32_t)b->n_item_of);
    return map_get(&b->item_of, map_key(name), -1);
}

static void read_element(flat_ctx *c, body *b, const net_line *line, const plain_text *text,
                         int32_t guard, net_tok **tok)
{
    item x;
    elem e;
    const int before = c->d->n_error;
    if (!flat_read_plain(c, b, line, text, &x)) {
        if (c->d->n_error > before)
            return;
        const net_card full = net_line_full(line, c->d, c->names, tok);
        if (!flat_read_elem(c, b, &full, &e))
            return;
        e.guard = guard;
        e.line = line;
        x = (item){.elem = (int32_t)vec_len(b->elem)};
    }
    x.line = line;
    x.guard = guard;
    const int32_t old = line->is_first ? -1 : flat_item(b, line->name);
    if (old >= 0 && b->item[old].guard == guard) {
        diag_error(c->d, net_line_span(line), "element '%s' is defined twice", line->name);
        diag_note(c->d, net_line_span(b->item[old].line), "first defined here");
        return;
    }
    vec_push(b->item, x);
    if (x.elem >= 0)
        vec_push(b->elem, e);
}

/* -- ahead -- */

enum { AHEAD_LINES = 4096 };

/* What the texts of some lines tell. */
typedef struct texts {
    const net_line *line; /* vec */
    size_t from, to;
    diag_file file; /* of the first; lines of others are left out */
    plain_text text[AHEAD_LINES];
} texts;
/* The texts of lines in turn. */
typedef struct ahead {
    flat_ctx *c;
    const net_line *line; /* vec */
    bool shared;          /* by another thread, before they are asked for */
    pool_ahead by;        /* buffers: texts */
} ahead;

static void find_texts(void *user, int32_t i, int worker)
{
    texts *t = user;
    (void)i;
    (void)worker;
    for (size_t k = t->from; k < t->to; k++) {
        const net_line *l = &t->line[k];
        if (l->kind == NET_ELEMENT && l->file == t->line[t->from].file)
            flat_find_plain(l, t->file.text, (uint32_t)t->file.len, &t->text[k - t->from]);
    }
}

static void begin_next(ahead *a, size_t from)
{
    const size_t n = vec_len(a->line) - from;
    texts *t = a->by.next;
    t->line = a->line;
    t->from = from;
    t->to = from + (n < AHEAD_LINES ? n : AHEAD_LINES);
    if (n)
        t->file = a->c->d->file[a->line[from].file];
    pool_ahead_fill(&a->by);
}

static ahead ahead_begin(flat_ctx *c, const net_line *line)
{
    enum { BYTES = 32 }; /* of most lines */
    ahead a = {.c = c, .line = line};
    a.shared = net_is_shared(vec_len(line) * BYTES, c->deck->threads);
    if (!a.shared)
        return a;
    pool_ahead_init(&a.by, sizeof(texts), find_texts);
    begin_next(&a, 0);
    return a;
}

/* Of line k; each is asked for once, in turn. */
static const plain_text *text_of(ahead *a, size_t k, plain_text *own)
{
    const net_line *l = &a->line[k];
    const texts *t = a->by.now;
    while (a->shared && k >= t->to) {
        pool_ahead_turn(&a->by);
        t = a->by.now;
        begin_next(a, t->to);
    }
    if (a->shared && l->file == a->line[t->from].file)
        return &t->text[k - t->from];
    const diag_file *f = &a->c->d->file[l->file];
    flat_find_plain(l, f->text, (uint32_t)f->len, own);
    return own;
}

/* Reads the elements of a body after its declarations, which tell which words are models. */
static void read_elements(flat_ctx *c, body *b)
{
    int32_t guard = -1, next = 0;
    const net_line *line = b->sub->line;
    net_tok *tok = NULL;
    ahead a = ahead_begin(c, line);
    plain_text own;
    for (size_t i = 0; i < vec_len(line) && !diag_full(c->d, c->n_error); i++) {
        if (line[i].kind == NET_CARD_IF || line[i].kind == NET_CARD_ELSEIF ||
            line[i].kind == NET_CARD_ELSE)
            guard = next++; /* branches are numbered in the order of the text */
        else if (line[i].kind == NET_CARD_ENDIF)
            guard = b->branch[guard].parent;
        if (line[i].kind == NET_ELEMENT)
            read_element(c, b, &line[i], text_of(&a, i, &own), guard, &tok);
    }
    pool_ahead_fini(&a.by);
    vec_free(tok);
}

static void take_port_name(const cur *q, map *seen)
{
    const char *name = cur_tok(q)->text;
    if (map_get(seen, map_key(name), 0))
        diag_error(q->c->d, cur_span(q), "terminal '%s' is listed twice", name);
    map_set(seen, map_key(name), 1);
    vec_push(q->b->port, flat_slot(q->c, q->b, name));
}

/* optional = "optional:" (port "=" node)* ; as PSpice has it for supplies of digital parts */
static void read_optional(cur *q, map *seen)
{
    for (q->i++; cur_more(q) && !cur_is_word(q, "params:"); q->i++) {
        if (cur_is(q, ','))
            continue;
        if (!cur_at_key(q) || q->i + 2 >= q->card->n_tok ||
            q->card->tok[q->i + 2].kind != NET_T_WORD) {
            cur_unexpected(q, "a port and its node are expected: OPTIONAL: port=node");
            return;
        }
        const struct optional o = {flat_slot(q->c, q->b, cur_tok(q)->text),
                                   q->card->tok[q->i + 2].text};
        take_port_name(q, seen);
        vec_push(q->b->optional, o);
        q->i += 2;
    }
}

/* subckt = ".subckt" name node* [optional] ["params:"] (name "=" value)* */
static void read_head(flat_ctx *c, body *b)
{
    cur q = {c, b, b->sub->head, 2};
    map seen = {0};
    for (; cur_more(&q) && !cur_at_key(&q) && !cur_is_word(&q, "params:") &&
           !cur_is_word(&q, "optional:");
         q.i++) {
        if (cur_tok(&q)->kind != NET_T_WORD) {
            if (!cur_tok(&q)->punct)
                cur_unexpected(&q, "a node name is expected");
            continue;
        }
        take_port_name(&q, &seen);
    }
    if (cur_is_word(&q, "optional:"))
        read_optional(&q, &seen);
    map_free(&seen);
    if (cur_is_word(&q, "params:"))
        q.i++;
    read_params(&q, -1, true, NET_CARD_PARAM);
}

body *flat_body(flat_ctx *c, const net_sub *sub)
{
    body *b = c->body[sub->index];
    if (b)
        return b;
    b = c->body[sub->index] = arena_new(c->mem, body);
    b->sub = sub;
    b->count = -1;
    b->parent = sub->parent ? flat_body(c, sub->parent) : NULL;
    if (sub->head)
        read_head(c, b);
    int32_t guard = -1;
    for (size_t i = 0; i < vec_len(sub->line); i++)
        read_card(c, b, &sub->line[i], &guard);
    if (!c->declarations)
        read_elements(c, b);
    return b;
}

void flat_body_free(body *b)
{
    if (!b)
        return;
    vec_free(b->port);
    vec_free(b->optional);
    vec_free(b->slot_name);
    vec_free(b->param);
    vec_free(b->param_name);
    vec_free(b->param_last);
    vec_free(b->func);
    vec_free(b->model);
    vec_free(b->subs);
    vec_free(b->branch);
    vec_free(b->elem);
    vec_free(b->item);
    vec_free(b->other);
    map *m[] = {&b->slot,   &b->param_slot, &b->func_of, &b->model_of,
                &b->bin_of, &b->sub_of,     &b->item_of};
    for (size_t i = 0; i < VS_COUNT(m); i++)
        map_free(m[i]);
}

bool flat_names_model(const body *b, const char *name)
{
    for (; b; b = b->parent)
        if (map_get(&b->model_of, map_key(name), -1) >= 0 ||
            map_get(&b->bin_of, map_key(name), -1) >= 0)
            return true;
    return false;
}

/* -- in scope -- */

const func_def *flat_find_func(scope *s, const char *name)
{
    for (; s; s = s->lex)
        for (int32_t i = map_get(&s->b->func_of, map_key(name), -1); i >= 0; i = s->b->func[i].prev)
            if (flat_on(s, s->b->func[i].guard))
                return &s->b->func[i];
    return NULL;
}

net_sub *flat_find_sub(scope *s, const char *name, scope **lex)
{
    for (; s; s = s->lex)
        for (int32_t i = map_get(&s->b->sub_of, map_key(name), -1); i >= 0; i = s->b->subs[i].prev)
            if (flat_on(s, s->b->subs[i].guard)) {
                *lex = s;
                return s->b->subs[i].sub;
            }
    return NULL;
}

/* Words that stand alone on a card are 1: ".model irf540 vdmos nchan". */
static bool at_flag(const cur *q)
{
    static const char *const flag[] = {"nchan", "pchan", "npn", "pnp", "nmos", "pmos", "njf", "pjf",
                                       "nmf", "pmf", "vdmosn", "vdmosp",
                                       /* how ngspice treats lossy lines */
                                       "nocontrol", "steplimit", "nosteplimit", "lininterp",
                                       "quadinterp", "mixedinterp", "truncnr", "truncdontcut"};
    for (size_t i = 0; i < VS_COUNT(flag); i++)
        if (cur_is_word(q, flag[i]))
            return true;
    return false;
}

/* The values of a matrix behind its first one become x[1], x[2], ... */
static void take_entries(cur *q, keyval **kv)
{
    const char *name = vec_last(*kv).key;
    for (int i = 1; cur_skip_punct(q), cur_more(q) && !cur_at_key(q); i++) {
        char key[64];
        snprintf(key, sizeof key, "%.40s[%d]", name, i);
        keyval k = {str_intern0(q->c->names, key), cur_span(q), cur_value(q)};
        if (!k.v.e)
            return;
        vec_push(*kv, k);
    }
}

static bool is_number(const net_tok *t)
{
    if (t->kind != NET_T_WORD)
        return false;
    const char *number = t->text;
    number += *number == '+' || *number == '-';
    number += *number == '.';
    return isdigit((unsigned char)*number);
}

/* "pb 0.9": SPICE2 reads a blank where others have "=". */
static bool at_pair(const cur *q)
{
    const net_tok *t = cur_tok(q);
    return q->i + 1 < q->card->n_tok && t->kind == NET_T_WORD &&
           isalpha((unsigned char)t->text[0]) && (is_number(&t[1]) || t[1].kind == NET_T_STR);
}

static keyval take_pair(cur *q)
{
    keyval k = {cur_tok(q)->text, cur_span(q), {0}};
    q->i++;
    k.v = cur_value(q);
    return k;
}

/* At "= number" after a value: cards of ngspice's own decks have "rth0 94 = .006", of which it
 * takes the first. */
static bool at_second_value(const cur *q)
{
    return cur_tok(q)->punct == '=' && q->i + 1 < q->card->n_tok &&
           is_number(&q->card->tok[q->i + 1]);
}

/* model = ".model" name (type | ako) ["("] (key ["="] value+ | flag)* [")"]; more than one value:
 * matrices of coupled lines; without "=": numbers and texts in quotes alone */
static void parse_model(flat_ctx *c, body *b, model_def *m)
{
    cur q = {c, b, flat_split_brackets(c, m->card, false), m->first};
    keyval *kv = NULL;
    m->parsed = true;
    while (cur_skip_punct(&q), cur_more(&q)) {
        keyval k;
        if (cur_at_key(&q) && q.i + 2 < q.card->n_tok && q.card->tok[q.i + 2].punct == '[') {
            const char *name = cur_tok(&q)->text;
            q.i += 2;
            flat_read_list(&q, name, &kv);
        } else if (cur_at_key(&q)) {
            cur_keyval(&q, &k);
            vec_push(kv, k);
            if (m->type && !strcmp(m->type, "cpl"))
                take_entries(&q, &kv);
        } else if (!at_flag(&q) && at_pair(&q)) {
            vec_push(kv, take_pair(&q));
        } else if (flat_take_unit(&q, vec_len(kv) ? &vec_last(kv).v : NULL)) {
            continue;
        } else if (at_flag(&q)) {
            vec_push(kv,
                     (keyval){cur_tok(&q)->text, cur_span(&q), flat_number(c, 1, cur_span(&q))});
            q.i++;
        } else if (at_second_value(&q) && vec_len(kv)) {
            diag_warning(c->d, cur_span(&q), "'%s' has a value already; this one has no effect",
                         vec_last(kv).key);
            q.i += 2;
        } else {
            diag_span at = cur_span(&q);
            diag_error(c->d, at, "name=value is expected, not '%.*s'",
                       at.len > 40 ? 40 : (int)at.len, c->d->file[at.file].text + at.off);
            q.i++;
        }
    }
    flat_unique_keys(c, kv);
    m->kv = vec_freeze(c->mem, kv);
}

/* The model card of this name that is seen from *s, other than `but`; *s: its scope. */
model_def *flat_find_def(scope **s, const char *name, const model_def *but)
{
    for (; *s; *s = (*s)->lex)
        for (int32_t i = map_get(&(*s)->b->model_of, map_key(name), -1); i >= 0;
             i = (*s)->b->model[i].prev) {
            model_def *m = &(*s)->b->model[i];
            if (m != but && flat_on(*s, m->guard))
                return m;
        }
    return NULL;
}

static void add_values(flat_ctx *c, scope *s, model_def *m, model_value **v)
{
    if (!m->parsed)
        parse_model(c, s->b, m);
    const size_t own = vec_len(*v);
    for (size_t i = 0; i < vec_len(m->kv); i++) {
        bool given = false;
        for (size_t k = 0; k < own && !given; k++)
            given = (*v)[k].kv->key == m->kv[i].key;
        if (!given)
            vec_push(*v, ((model_value){&m->kv[i], s}));
    }
}

/* The values of m, and those of the models that it is like which it does not give itself; its type.
 * false: a message was given. */
bool flat_model_values(flat_ctx *c, scope *s, model_def *m, model_value **v, const char **type)
{
    enum { MOST_LIKE = 64 };
    const model_def *from = m;
    *type = m->type;
    add_values(c, s, m, v);
    for (int depth = 0; from->like; depth++) {
        model_def *base = flat_find_def(&s, from->like, from);
        if (!base || base == m || depth == MOST_LIKE) {
            diag_error(c->d, from->like_span,
                       base ? "model '%s' takes its values from itself" : "there is no model '%s'",
                       from->like);
            return false;
        }
        if (*type && base->type && strcmp(*type, base->type)) {
            diag_error(c->d, from->like_span, "model '%s' is of type '%s', '%s' of type '%s'",
                       from->like, base->type, m->name, *type);
            return false;
        }
        *type = *type ? *type : base->type;
        add_values(c, s, base, v);
        from = base;
    }
    return true;
}
