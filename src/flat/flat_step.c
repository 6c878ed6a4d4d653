/* flat_step.c - the cards of families of runs: .step .mc .limits, several values on .temp, .alter
 * (docs/sweeps.md). Points are computed on demand, so memory does not grow with
 * their number. */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

#define MAX_POINTS 0x1p53 /* of one step: the index is exact as a double */
enum { MAX_DEPTH = 64 };

double flat_step_value(const flat_step *w, int64_t k, size_t col)
{
    switch (w->form) {
    case FLAT_STEP_LINEAR: return w->from + (double)k * w->step;
    case FLAT_STEP_LOG: return w->from * pow(w->step, (double)k / w->per);
    case FLAT_STEP_VALUES: return w->value[(size_t)k * vec_len(w->target) + col];
    default: return (double)k;
    }
}

static diag_span last_span(const cur *q) { return net_tok_span(q->card, &q->card->tok[q->i - 1]); }

/* -- what a step changes -- */

static int32_t find_element(flat_ctx *c, const char *name)
{
    flat_fill_maps(c);
    int32_t k = map_get(&c->inst_of, map_key(name), -1);
    if (k < 0 && name[0] && name[1] == '.')
        k = map_get(&c->inst_of, map_key(str_intern0(c->names, name + 2)), -1);
    const char *dots = k < 0 ? flat_with_dots(c, name) : name;
    return dots == name ? k : map_get(&c->inst_of, map_key(dots), -1);
}

static bool is_model(const flat_ctx *c, const char *name)
{
    for (size_t i = 0; i < vec_len(c->f->model); i++)
        if (c->f->model[i]->name == name)
            return true;
    return false;
}

static bool is_param(const flat_ctx *c, const char *name)
{
    return map_get(&c->root->b->param_slot, map_key(name), -1) >= 0;
}

/* The message of an unknown name.  kinds  bits 1 << flat_target_kind of the names to suggest */
static bool unknown(flat_ctx *c, const char *name, diag_span at, unsigned kinds, const char *what)
{
    const char **cand = NULL;
    if (kinds & 1u << FLAT_SET_PARAM)
        for (size_t i = 0; i < vec_len(c->root->b->param_name); i++)
            vec_push(cand, c->root->b->param_name[i]);
    if (kinds & 1u << FLAT_SET_INST)
        for (size_t i = 0; i < vec_len(c->f->inst); i++)
            vec_push(cand, c->f->inst[i].name);
    if (kinds & 1u << FLAT_SET_MODEL)
        for (size_t i = 0; i < vec_len(c->f->model); i++)
            vec_push(cand, c->f->model[i]->name);
    diag_error(c->d, at, "no %s '%s' to step", what, name);
    flat_suggest(c, name, cand, vec_len(cand));
    vec_free(cand);
    return false;
}

static bool set_param(flat_ctx *c, const char *name, diag_span at, flat_target *t)
{
    *t = (flat_target){FLAT_SET_PARAM, name, "", name, at};
    return is_param(c, name) || unknown(c, name, at, 1u << FLAT_SET_PARAM, "parameter");
}

static bool set_model(flat_ctx *c, const char *name, const char *param, diag_span at,
                      flat_target *t)
{
    *t = (flat_target){FLAT_SET_MODEL, name, param,
                       str_intern0(c->names, arena_printf(&c->scratch, "%s(%s)", name, param)), at};
    return is_model(c, name) || unknown(c, name, at, 1u << FLAT_SET_MODEL, "model in use");
}

/* target = "temp" | parameter | element [":" name] | ["@"] element "[" name "]" |
 *          model ("[" name "]" | "(" name ")" | ":" name) */
static bool find_target(flat_ctx *c, const char *name, diag_span at, flat_target *t)
{
    const char *open = strpbrk(name, "[(");
    const unsigned all = 1u << FLAT_SET_PARAM | 1u << FLAT_SET_INST;
    if (!strcmp(name, "temp") || !strcmp(name, "temper")) {
        *t = (flat_target){FLAT_SET_TEMP, "temp", "", str_intern0(c->names, "temp"), at};
        return true;
    }
    if (open) {
        const char *from = name + (*name == '@'),
                   *param = str_intern(c->names, open + 1, strcspn(open + 1, "])"));
        const char *who = str_intern(c->names, from, (size_t)(open - from));
        const int32_t k = *open == '[' ? find_element(c, who) : -1;
        if (k < 0 && (*open == '(' || is_model(c, who)))
            return set_model(c, who, param, at, t);
        *t = (flat_target){FLAT_SET_INST, k < 0 ? who : c->f->inst[k].name, param, name, at};
        return k >= 0 ||
               unknown(c, who, at, 1u << FLAT_SET_INST | 1u << FLAT_SET_MODEL, "element or model");
    }
    const int32_t k = find_element(c, name);
    if (k < 0 && is_param(c, name))
        return set_param(c, name, at, t);
    const char *colon = k < 0 ? strrchr(name, ':') : NULL; /* of Xyce: element:parameter */
    if (colon && colon > name && colon[1]) {
        const char *who = str_intern(c->names, name, (size_t)(colon - name));
        const int32_t e = find_element(c, who);
        if (e >= 0) {
            *t = (flat_target){FLAT_SET_INST, c->f->inst[e].name, str_intern0(c->names, colon + 1),
                               name, at};
            return true;
        }
        if (is_model(c, who))
            return set_model(c, who, str_intern0(c->names, colon + 1), at, t);
    }
    if (k >= 0 && !strchr("virlcefghbk", c->f->inst[k].letter)) {
        diag_error(c->d, at, "'%s' has no main value; a parameter of it is @%s[name]", name, name);
        return false;
    }
    *t = (flat_target){FLAT_SET_INST, k < 0 ? name : c->f->inst[k].name, str_intern0(c->names, ""),
                       name, at};
    return k >= 0 || unknown(c, name, at, all, "source, element or parameter");
}

/* -- ranges -- */

/* Does the expression use the parameter, itself or through others? */
static bool depends(flat_ctx *c, const net_expr *e, const char *name, int depth)
{
    if (e->op == NET_PARAM) {
        if (e->name == name)
            return true;
        const pval *p = depth < MAX_DEPTH ? flat_find_param(c, c->root, e->name) : NULL;
        return p && p->v && p->v->e && depends(c, p->v->e, name, depth + 1);
    }
    for (int32_t i = 0; i < e->n_arg && depth < MAX_DEPTH; i++)
        if (depends(c, e->arg[i], name, depth + 1))
            return true;
    return false;
}

static bool independent(flat_ctx *c, const flat_step *w, const rhs *v, const flat_step *of)
{
    for (size_t i = 0; i < vec_len(of->target); i++)
        if (of->target[i].kind == FLAT_SET_PARAM && depends(c, v->e, of->target[i].name, 0)) {
            diag_error(
                c->d, v->span,
                of == w ? "the range of a step cannot depend on '%s', which it changes"
                        : "the range of a step cannot depend on '%s', which another step changes",
                of->target[i].name);
            return false;
        }
    return true;
}

static bool number(cur *q, const flat_step *w, double *y)
{
    flat_ctx *c = q->c;
    rhs v = cur_value(q);
    if (!v.e || !flat_eval(c, c->root, &v, y))
        return false;
    bool ok = independent(c, w, &v, w);
    for (size_t i = 0; ok && i < vec_len(c->f->step); i++)
        ok = independent(c, w, &v, &c->f->step[i]);
    if (ok && !isfinite(*y)) {
        diag_error(c->d, v.span, "a step needs finite numbers");
        ok = false;
    }
    return ok;
}

static bool count(cur *q, flat_step *w, double n)
{
    if (!(n < MAX_POINTS)) {
        diag_error(q->c->d, last_span(q), "%g points, more than %g", n, MAX_POINTS);
        return false;
    }
    w->n = (int64_t)n;
    return true;
}

static bool linear(cur *q, flat_step *w, double from, double to, double step)
{
    if (from != to && (step == 0 || (to - from) / step < 0)) {
        diag_error(q->c->d, last_span(q),
                   step == 0 ? "the step is 0" : "the step %g leads away from the end", step);
        return false;
    }
    w->form = FLAT_STEP_LINEAR;
    w->from = from;
    w->step = step;
    return count(q, w, from == to ? 1 : floor((to - from) / step * (1 + 1e-12) + 1e-9) + 1);
}

static bool by_points(cur *q, flat_step *w, char form, double n, double from, double to)
{
    if (!(n >= 1) || n != floor(n)) {
        diag_error(q->c->d, last_span(q), "a whole number of points, at least 1, is needed, not %g",
                   n);
        return false;
    }
    if (form == 'l') {
        w->form = FLAT_STEP_LINEAR;
        w->from = from;
        w->step = n > 1 ? (to - from) / (n - 1) : 0;
        return count(q, w, n);
    }
    if (!(from > 0 && to >= from)) {
        diag_error(q->c->d, last_span(q),
                   "%s goes from a positive number to a larger one, not from %g to %g",
                   form == 'd' ? "dec" : "oct", from, to);
        return false;
    }
    w->form = FLAT_STEP_LOG;
    w->from = from;
    w->step = form == 'd' ? 10 : 2;
    w->per = n;
    return count(q, w, floor(n * log(to / from) / log(w->step) + 1e-9) + 1);
}

static bool list(cur *q, flat_step *w)
{
    double y;
    w->form = FLAT_STEP_VALUES;
    while (cur_skip_punct(q), cur_more(q)) {
        if (!number(q, w, &y))
            return false;
        vec_push(w->value, y);
    }
    if (!vec_len(w->value))
        cur_unexpected(q, "list needs values");
    w->n = (int64_t)vec_len(w->value);
    return w->n > 0;
}

/* range = "list" value* | from to step | ("dec" | "oct") n from to | "lin" n from to
 *   front  the form stood before the name: then dec, oct: from to n; lin: from to step */
static bool range(cur *q, flat_step *w, char front)
{
    static const char *const word[] = {"dec", "oct", "lin"};
    char form = 0;
    double y[3];
    if (!front && cur_more(q) && cur_is_word(q, "list")) {
        q->i++;
        return list(q, w);
    }
    for (size_t i = 0; i < VS_COUNT(word) && !front && cur_more(q); i++)
        if (cur_is_word(q, word[i]))
            form = word[i][0];
    q->i += form != 0;
    for (int i = 0; i < 3; i++) {
        if (!cur_more(q)) {
            cur_unexpected(q, form ? "a number of points, start and end are expected"
                              : front && front != 'l'
                                  ? "start, end and points per decade or octave are expected"
                                  : "start, end and step are expected, or list and values");
            return false;
        }
        if (!number(q, w, &y[i]))
            return false;
    }
    if (form)
        return by_points(q, w, form, y[0], y[1], y[2]);
    return front && front != 'l' ? by_points(q, w, front, y[2], y[0], y[1])
                                 : linear(q, w, y[0], y[1], y[2]);
}

/* -- files of points -- */

/* One field at *pos, blanks and quotes off; false: the line is at its end. */
static bool field(const char *s, size_t end, size_t *pos, diag_span *at)
{
    size_t i = *pos;
    if (i > end)
        return false;
    size_t stop = i;
    while (stop < end && s[stop] != ',' && s[stop] != ';' && s[stop] != '\t')
        stop++;
    *pos = stop + 1;
    while (i < stop && strchr(" \"\r", s[i]))
        i++;
    while (stop > i && strchr(" \"\r", s[stop - 1]))
        stop--;
    at->off = (uint32_t)i;
    at->len = (uint32_t)(stop - i);
    return true;
}

/* The numbers of one line for the columns that are wanted. */
static bool take_row(flat_ctx *c, flat_step *w, const int32_t *column, int32_t n_column,
                     size_t from, size_t end, int32_t file)
{
    const char *s = c->d->file[file].text;
    diag_span at = {file, 0, 0};
    int32_t k = 0;
    size_t pos = from, base = vec_len(w->value);
    vec_extend(w->value, vec_len(w->target));
    for (; k < n_column && field(s, end, &pos, &at); k++) {
        if (column[k] < 0)
            continue;
        const char *stop;
        double *y = &w->value[base + (size_t)column[k]];
        if (!at.len || !str_spice_number(s + at.off, &stop, y) || stop > s + at.off + at.len) {
            diag_error(c->d, at, "a number is expected for column '%s'", w->target[column[k]].text);
            return false;
        }
    }
    if (k == n_column)
        return true;
    diag_error(c->d, (diag_span){file, (uint32_t)from, (uint32_t)(end - from)},
               "%d columns are needed, this line has %d", (int)n_column, (int)k);
    return false;
}

static bool wanted(cur *q, const char ***want)
{
    for (; cur_skip_punct(q), cur_more(q); q->i++)
        if (cur_tok(q)->text)
            vec_push(*want, cur_tok(q)->text);
    return vec_len(*want) > 0;
}

/* The header: which columns count, and what they change. */
static bool header(flat_ctx *c, flat_step *w, const char **want, diag_span card, int32_t file,
                   size_t end, int32_t **column)
{
    const char *s = c->d->file[file].text;
    const char **have = NULL;
    diag_span at = {file, 0, 0};
    size_t pos = 0;
    bool ok = true, all = !want;
    while (ok && field(s, end, &pos, &at)) {
        const char *name = str_intern_lower(c->names, s + at.off, at.len);
        bool use = all;
        for (size_t i = 0; i < vec_len(want); i++)
            use |= want[i] == name;
        vec_push(have, name);
        vec_push(*column, use ? (int32_t)vec_len(w->target) : -1);
        flat_target t;
        if (!use)
            continue;
        ok = find_target(c, name, at, &t);
        vec_push(w->target, t);
    }
    for (size_t i = 0; ok && i < vec_len(want); i++) {
        bool found = false;
        for (size_t k = 0; k < vec_len(have); k++)
            found |= have[k] == want[i];
        if (!found) {
            diag_error(c->d, card, "'%s' has no column '%s'", c->d->file[file].name, want[i]);
            diag_suggest(c->d, want[i], have, vec_len(have));
            ok = false;
        }
    }
    vec_free(have);
    return ok;
}

/* file = "file" FILE column* */
static bool points_file(cur *q, flat_step *w)
{
    flat_ctx *c = q->c;
    diag_span at;
    int32_t file;
    if (!cur_file(q, "a file of points is expected", &at, &file))
        return false;
    const char **want = NULL;
    int32_t *column = NULL;
    (void)wanted(q, &want);
    const diag_file *f = &c->d->file[file];
    size_t end = flat_table_line_end(f, 0);
    w->form = FLAT_STEP_VALUES;
    bool ok = header(c, w, want, at, file, end, &column);
    for (size_t i = end + 1; ok && i < f->len; i = end + 1) {
        end = flat_table_line_end(f, i);
        if (!flat_table_line_blank(f->text, i, end))
            ok = take_row(c, w, column, (int32_t)vec_len(column), i, end, file);
    }
    w->n = vec_len(w->target) ? (int64_t)(vec_len(w->value) / vec_len(w->target)) : 0;
    if (ok && !w->n) {
        diag_error(c->d, at, "file '%s' has no points", f->name);
        ok = false;
    }
    vec_free(want);
    vec_free(column);
    return ok;
}

/* -- tables of points -- */

/* The table at the cursor, behind "data=". */
static bool table(cur *q, flat_step *w)
{
    cur at;
    flat_target t;
    double y;
    if (!flat_open_table(q, &at))
        return false;
    while (flat_at_column(&at)) {
        if (!flat_read_target(&at, &t))
            return false;
        vec_push(w->target, t);
    }
    w->form = FLAT_STEP_VALUES;
    while (cur_skip_punct(&at), cur_more(&at)) {
        if (!number(&at, w, &y))
            return false;
        vec_push(w->value, y);
    }
    w->n = flat_table_rows(&at, vec_len(w->value), vec_len(w->target));
    return w->n > 0;
}

/* -- cards -- */

/* Sections of a library; the reader has checked the file. */
static bool sections(cur *q, flat_step *w)
{
    flat_ctx *c = q->c;
    if (!cur_more(q)) {
        cur_unexpected(q, "a library and its sections are expected");
        return false;
    }
    const net_tok t = net_file_tok(q->card, q->i, 0, &q->i);
    const diag_span at = net_tok_span(q->card, &t);
    w->form = FLAT_STEP_WORDS;
    vec_push(w->target,
             ((flat_target){FLAT_SET_LIB,
                            str_intern(c->names, c->d->file[at.file].text + at.off, at.len), "",
                            str_intern0(c->names, "lib"), at}));
    for (; cur_more(q); q->i++)
        if (cur_tok(q)->text)
            vec_push(w->word, cur_tok(q)->text);
    w->n = (int64_t)vec_len(w->word);
    return w->n > 0;
}

bool flat_read_target(cur *q, flat_target *t)
{
    flat_ctx *c = q->c;
    bool ok, param = cur_is_word(q, "param"), option = cur_is_word(q, "option");
    q->i += param || option;
    if (!cur_more(q) || cur_tok(q)->kind != NET_T_WORD) {
        cur_unexpected(
            q, "a name is expected: a parameter, source, element, temp, or option and a name");
        return false;
    }
    const net_card *card = q->card;
    const diag_span at = cur_span(q);
    const char *name = cur_tok(q)->text;
    q->i++;
    if (option) {
        *t = (flat_target){FLAT_SET_OPTION, name, "", name, at};
        ok = true;
    } else if (param) {
        ok = set_param(c, name, at, t);
    } else if (name && cur_more(q) && cur_is(q, '(') && q->i + 2 < card->n_tok &&
               card->tok[q->i + 1].text && card->tok[q->i + 2].punct == ')') {
        const char *what = card->tok[q->i + 1].text;
        q->i += 3;
        ok = set_model(c, name, what, diag_join(at, last_span(q)), t);
    } else {
        ok = name && find_target(c, name, at, t);
    }
    return ok;
}

/* step = ".step" ["dec"|"oct"|"lin"] (["param"] name | "temp" | "option" name | [type] model "("
 * name ")") range */
static bool read_target(cur *q, flat_step *w)
{
    flat_target t;
    const net_card *card = q->card;
    const bool plain = !cur_is_word(q, "param") && !cur_is_word(q, "option");
    if (plain && q->i + 2 < card->n_tok && card->tok[q->i + 2].punct == '(')
        q->i++; /* type model(parameter) */
    const bool ok = flat_read_target(q, &t);
    if (ok)
        vec_push(w->target, t);
    return ok;
}

static bool twice(flat_ctx *c, const flat_step *w)
{
    for (size_t i = 0; i < vec_len(c->f->step); i++)
        for (size_t k = 0; k < vec_len(c->f->step[i].target); k++)
            for (size_t j = 0; j < vec_len(w->target); j++)
                if (w->target[j].kind != FLAT_SET_LIB &&
                    c->f->step[i].target[k].text == w->target[j].text) {
                    diag_error(c->d, w->target[j].span, "'%s' is stepped twice", w->target[j].text);
                    return true;
                }
    return false;
}

static void read_step(cur *q)
{
    static const char *const form[] = {"dec", "oct", "lin"};
    flat_ctx *c = q->c;
    flat_step w = {.span = net_card_span(q->card)};
    char front = 0;
    for (size_t i = 0; i < VS_COUNT(form) && cur_more(q); i++)
        if (cur_is_word(q, form[i]))
            front = form[i][0];
    q->i += front != 0;
    if (!cur_more(q)) {
        cur_unexpected(q, "what is stepped is expected: .step [param] name start end step");
        return;
    }
    bool ok;
    if (cur_is_word(q, "data") && cur_at_key(q)) {
        q->i += 2;
        ok = table(q, &w);
    } else if (cur_is_word(q, "file") || cur_is_word(q, "lib")) {
        const bool lib = cur_is_word(q, "lib");
        q->i++;
        ok = lib ? sections(q, &w) : points_file(q, &w);
    } else {
        ok = read_target(q, &w) && range(q, &w, front);
    }
    if (ok && cur_more(q)) {
        cur_unexpected(q, "nothing more is expected");
        ok = false;
    }
    ok = ok && !twice(c, &w);
    vec_freeze(c->mem, w.target);
    vec_freeze(c->mem, w.value);
    vec_freeze(c->mem, w.word);
    if (ok)
        vec_push(c->f->step, w);
}

/* mc = ".mc" n ["seed" "=" n] */
static void read_mc(cur *q)
{
    flat_ctx *c = q->c;
    const flat_step none = {0};
    double n, seed = 1;
    c->f->mc_span = net_card_span(q->card);
    if (!cur_more(q)) {
        cur_unexpected(q, "the number of samples is expected: .mc n [seed=k]");
        return;
    }
    if (!number(q, &none, &n))
        return;
    if (!(n >= 1 && n <= 1e9) || n != floor(n)) {
        diag_error(c->d, last_span(q), "a whole number of samples from 1 to 1e9 is needed, not %g",
                   n);
        return;
    }
    if (cur_more(q) && cur_is_word(q, "seed") && cur_at_key(q)) {
        q->i += 2;
        if (!number(q, &none, &seed))
            return;
        if (!(seed >= 0 && seed < MAX_POINTS) || seed != floor(seed)) {
            diag_error(c->d, last_span(q), "the seed is a whole number, 0 or more, not %g", seed);
            return;
        }
    }
    if (cur_more(q)) {
        cur_unexpected(q, "only seed= may follow the number of samples");
        return;
    }
    if (c->f->mc)
        diag_error(c->d, c->f->mc_span, "there is more than one .mc");
    c->f->mc = (int64_t)n;
    c->f->mc_seed = (uint64_t)seed;
}

/* limits = ".limits" measure ["min" "=" value] ["max" "=" value] */
static void read_limits(cur *q)
{
    flat_ctx *c = q->c;
    const flat_step none = {0};
    if (!cur_more(q) || !cur_tok(q)->text) {
        cur_unexpected(q, "a measure is expected: .limits measure min=.. max=..");
        return;
    }
    flat_limit l = {cur_tok(q)->text, -INFINITY, INFINITY, cur_span(q)};
    q->i++;
    while (cur_skip_punct(q), cur_more(q)) {
        const bool min = cur_is_word(q, "min"), max = cur_is_word(q, "max");
        if (!(min || max) || !cur_at_key(q)) {
            cur_unexpected(q, "min= or max= is expected");
            return;
        }
        q->i += 2;
        if (!number(q, &none, min ? &l.min : &l.max))
            return;
    }
    if (l.min > l.max)
        diag_error(c->d, l.span, "the limits of '%s' exclude everything: %g is above %g", l.name,
                   l.min, l.max);
    vec_push(c->f->limit, l);
}

void flat_step_card(flat_ctx *c, const net_card *card)
{
    cur q = {c, c->root->b, card, 1};
    if (!strcmp(card->name, "mc"))
        read_mc(&q);
    else if (!strcmp(card->name, "limits"))
        read_limits(&q);
    else
        read_step(&q);
}

/* -- families of other cards -- */

/* alter = ".alter" [title]; blanks of the title become '_', for it is a value in tables */
void flat_alter_card(flat_ctx *c, const net_card *card)
{
    const char *name = NULL;
    for (int32_t i = 1; i < card->n_tok; i++) {
        const net_tok *t = &card->tok[i];
        if (t->kind == NET_T_WORD || t->kind == NET_T_STR)
            name = name ? arena_printf(c->mem, "%s_%s", name, t->text) : t->text;
    }
    if (!vec_len(c->alter))
        vec_push(c->alter, "main");
    if (!name)
        name = arena_printf(c->mem, "%zu", vec_len(c->alter));
    vec_push(c->alter, str_intern0(c->names, name));
    c->alter_at = net_card_span(card);
}

void flat_step_finish(flat_ctx *c)
{
    flat *f = c->f;
    if (vec_len(f->temp) > 1) {
        flat_step w = {
            .form = FLAT_STEP_VALUES, .n = (int64_t)vec_len(f->temp), .span = c->temp_at};
        const char *temp = str_intern0(c->names, "temp");
        vec_push(w.target, ((flat_target){FLAT_SET_TEMP, temp, "", temp, c->temp_at}));
        for (size_t i = 0; i < vec_len(f->temp); i++)
            vec_push(w.value, f->temp[i]);
        const bool ok = !twice(c, &w);
        vec_freeze(c->mem, w.target);
        vec_freeze(c->mem, w.value);
        if (ok)
            vec_push(f->step, w);
    }
    if (vec_len(c->alter)) {
        flat_step w = {
            .form = FLAT_STEP_WORDS, .n = (int64_t)vec_len(c->alter), .span = c->alter_at};
        const char *alter = str_intern0(c->names, "alter");
        vec_push(w.target, ((flat_target){FLAT_SET_ALTER, alter, "", alter, c->alter_at}));
        for (size_t i = 0; i < vec_len(c->alter); i++)
            vec_push(w.word, c->alter[i]);
        vec_freeze(c->mem, w.target);
        vec_freeze(c->mem, w.word);
        vec_push(f->step, w);
    }
}
