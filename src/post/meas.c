/* meas.c - .measure. See meas.h.
 *   measure = name (trig targ | find | when | range expr limits | "param" "=" expr)
 *   trig = "trig" (expr key* | "at" "=" t)    targ likewise
 *   find = ("find" | "deriv") expr (when | "at" "=" t)    when = "when" expr "=" expr key*
 *   measure = name ("on_time" | "off_time" | "duty" | "freq") expr "on" "=" v ["off" "=" v] limits
 *   measure = name ("err" | "err1" | "err2") expr expr limits
 *   key = ("val" "td" "rise" "fall" "cross" "from" "to") "=" value */
#include "meas.h"

#include <math.h>
#include <string.h>

#include "eye.h"
#include "meas_priv.h"
#include "post_priv.h"
#include "spectrum.h"

typedef struct job {
    post_env *e;
    diag_span at;
    size_t text_len;
    post_word *w; /* vec */
    size_t i;
    post_meas *m;
    meas_plan *plan; /* NULL: evaluate */
    bool of_part;    /* a form of a part of the curve, where keys but td, from, to do nothing */
} job;

/* Keys of some forms. */
typedef struct extra {
    double on, off; /* NAN: not given */
    double minval, ymin, ymax;
} extra;

typedef struct curve {
    double *x, *y;
    int64_t n;
} curve;

/* -- words -- */

static bool wrong(job *j, const post_word *w, const char *fmt, const char *a, const char *b)
{
    diag_span at = j->at;
    if (w && at.len == j->text_len)
        at = (diag_span){at.file, at.off + w->off, w->len};
    char text[400];
    size_t n = 0;
    for (const char *s = fmt; *s && n + 1 < sizeof text; s++) { /* %1, %2 */
        const char *with = *s != '%' ? NULL : s[1] == '1' ? a : b;
        if (!with) {
            text[n++] = *s;
            continue;
        }
        s++;
        for (; *with && n + 1 < sizeof text; with++)
            text[n++] = *with;
    }
    text[n] = 0;
    diag_error(j->e->d, at, "%s", text);
    return false;
}

/* End of a word from s: blanks end it outside brackets and quotes, unless an '=' is beside them. */
static const char *word_end(const char *s, const char **equals)
{
    const char *begin = s;
    int depth = 0;
    char quote = 0;
    *equals = NULL;
    for (; *s; s++) {
        if (quote) {
            quote = *s == quote ? 0 : quote;
            continue;
        }
        if (*s == '\'' || *s == '"') {
            quote = *s;
        } else if (strchr("([{", *s)) {
            depth++;
        } else if (strchr(")]}", *s)) {
            depth--;
        } else if (*s == '=' && depth <= 0 && !*equals && s[1] != '=' &&
                   (s == begin || !strchr("<>!=", s[-1]))) {
            *equals = s;
            s += strspn(s + 1, " \t");
        } else if (depth <= 0 && strchr(" \t,", *s)) {
            const char *next = s + strspn(s, " \t");
            if (*next != '=' || next[1] == '=' || *equals)
                return s;
            s = next - 1;
        }
    }
    return s;
}

static const char *trimmed(post_env *e, const char *a, const char *b)
{
    while (a < b && strchr(" \t", *a))
        a++;
    while (b > a && strchr(" \t", b[-1]))
        b--;
    return arena_strndup(e->mem, a, (size_t)(b - a));
}

post_word *post_words(post_env *e, const char *text)
{
    post_word *list = NULL;
    for (const char *s = text; *(s += strspn(s, " \t,\r\n"));) {
        const char *eq, *end = word_end(s, &eq);
        post_word w = {.off = (uint32_t)(s - text), .len = (uint32_t)(end - s)};
        w.text = trimmed(e, s, eq ? eq : end);
        w.value = eq ? trimmed(e, eq + 1, end) : NULL;
        vec_push(list, w);
        s = end;
    }
    return list;
}

bool post_wrong_word(post_env *e, diag_span at, const post_word *w, const char *fmt,
                     const char *what)
{
    diag_span span = {at.file, at.off + w->off, w->len};
    diag_error(e->d, at.len ? span : at, fmt, what, w->value ? w->value : "");
    return false;
}

static const post_word *peek(const job *j) { return j->i < vec_len(j->w) ? &j->w[j->i] : NULL; }

static bool is(const post_word *w, const char *name) { return w && !str_casecmp(w->text, name); }

/* -- reading clauses -- */

static void warn_idle(job *j, const post_word *w)
{
    const diag_span at =
        j->at.len == j->text_len ? (diag_span){j->at.file, j->at.off + w->off, w->len} : j->at;
    if (!j->e->told && !j->plan)
        diag_warning(j->e->d, at, "'%s' has no effect here", w->text);
}

/* Words of Xyce's and HSPICE's that have no effect here; a warning each. */
static bool has_no_effect(job *j, const post_word *w)
{
    static const char *const idle[] = {"default_val", "precision", "print",     "goal",
                                       "weight",      "minval",    "rfc_level", "ymin",
                                       "ymax",        "ignore",    "output"};
    size_t k = 0;
    while (k < VS_COUNT(idle) && str_casecmp(w->text, idle[k]))
        k++;
    if (k == VS_COUNT(idle) || !w->value)
        return false;
    warn_idle(j, w);
    return true;
}

/* "AT 1u" for "AT=1u": the word behind, if it is a number. */
static const char *value_behind(job *j)
{
    const post_word *next = j->i + 1 < vec_len(j->w) ? &j->w[j->i + 1] : NULL;
    const char *end;
    double x;
    if (!next || next->value || !str_spice_number(next->text, &end, &x) || *end)
        return NULL;
    j->i++;
    return next->text;
}

static bool read_key(job *j, clause *c, const post_word *w)
{
    enum { TD = 1, FROM = 3, TO };
    static const char *const keys[] = {"val", "td", "at", "from", "to", "rise", "fall", "cross"};
    double *number[] = {NULL, &c->td, &c->at, &c->from, &c->to};
    size_t k = 0;
    while (k < VS_COUNT(keys) && str_casecmp(w->text, keys[k]))
        k++;
    if (k == VS_COUNT(keys) && has_no_effect(j, w))
        return true;
    if (k == VS_COUNT(keys)) {
        wrong(j, w, "'%1' is not known here; val, td, at, from, to, rise, fall and cross are",
              w->text, "");
        diag_suggest(j->e->d, w->text, keys, VS_COUNT(keys));
        return false;
    }
    const char *value = w->value ? w->value : value_behind(j);
    if (!value)
        return wrong(j, w, "'%1' needs a value: %1=...", w->text, "");
    if (j->of_part && k != TD && k != FROM && k != TO)
        warn_idle(j, w);
    if (k == 0) {
        c->val = value;
        return true;
    }
    if (k < VS_COUNT(number))
        return post_eval_number(j->e, value, number[k]);
    c->edge = k == 5 ? EDGE_RISE : k == 6 ? EDGE_FALL : EDGE_CROSS;
    c->edge_given = true;
    double n = -1;
    if (str_casecmp(value, "last") && !post_eval_number(j->e, value, &n))
        return false;
    if (n != -1 && !(n >= 1 && n < 1e9 && n == floor(n)))
        return wrong(j, w, "%1 takes a whole number from 1 on, or LAST, not '%2'", w->text, value);
    c->number = (int)n;
    return true;
}

static clause no_clause(void)
{
    return (clause){.at = NAN, .td = NAN, .from = NAN, .to = NAN, .edge = EDGE_CROSS, .number = 1};
}

static bool is_part(const post_word *w)
{
    return is(w, "trig") || is(w, "targ") || is(w, "when") || is(w, "find");
}

static bool read_keys(job *j, clause *c)
{
    for (const post_word *w; (w = peek(j)) && !is_part(w); j->i++)
        if (!read_key(j, c, w))
            return false;
    return true;
}

/* Behind trig, targ: a curve with val=, or at=. */
static bool read_place(job *j, clause *c, const char *what)
{
    const post_word *w = peek(j);
    *c = no_clause();
    if (!w)
        return wrong(j, NULL, "%1 needs a vector with VAL=, or AT=", what, "");
    if (!is(w, "at")) {
        c->expr = w->text;
        c->val = w->value;
        j->i++;
    }
    if (!read_keys(j, c))
        return false;
    if (!c->expr && isnan(c->at))
        return wrong(j, w, "%1 needs a vector with VAL=, or AT=", what, "");
    return !c->expr || c->val ||
           wrong(j, w, "%1 needs VAL=, the value that '%2' crosses", what, c->expr);
}

static bool read_when(job *j, clause *c)
{
    const post_word *w = peek(j);
    *c = no_clause();
    if (!w)
        return wrong(j, NULL, "WHEN needs a condition: WHEN v(out)=0.5", "", "");
    c->expr = w->text;
    c->val = w->value;
    j->i++;
    if (!read_keys(j, c))
        return false;
    return c->val || wrong(j, w, "WHEN needs a value for '%1': WHEN %1=...", w->text, "");
}

/* -- curves -- */

static bool fail(job *j, const char *why)
{
    if (!j->m->why)
        j->m->why = why;
    return false;
}

/* The reason of a failed evaluation is that of the measure; its message is not an error of the
 * deck. */
static bool evaluate(job *j, const char *text, post_val *v)
{
    diag *d = j->e->d, quiet;
    diag_quiet_init(&quiet, NULL);
    j->e->d = &quiet;
    bool ok = post_eval(j->e, text, v);
    j->e->d = d;
    if (!ok)
        fail(j, vec_len(quiet.msg) ? arena_printf(j->e->mem, "%s", quiet.msg[0].text)
                                   : "it cannot be computed");
    diag_quiet_fini(&quiet);
    return ok;
}

static bool curve_of(job *j, const char *text, const char *minus, curve *c)
{
    post_val v, w;
    const post_plot *p = j->e->set->current;
    if (!evaluate(j, text, &v) || (minus && !evaluate(j, minus, &w)))
        return false;
    const post_vec *x = p ? p->scale : NULL;
    int64_t n = x ? x->n : 0;
    if (!x || (v.n != n && v.n != 1) || (minus && w.n != n && w.n != 1))
        return fail(j, arena_printf(j->e->mem, "'%s' has no axis to measure along%s", text,
                                    x ? "" : "; FIND gives its value"));
    c->n = n;
    c->x = arena_array(j->e->mem, double, n + 1);
    c->y = arena_array(j->e->mem, double, n + 1);
    for (int64_t k = 0; k < n; k++) {
        c->x[k] = x->complex ? x->v[2 * k] : x->v[k];
        c->y[k] = creal(post_at(&v, k)) - (minus ? creal(post_at(&w, k)) : 0);
    }
    return n > 0 || fail(j, "the plot has no points");
}

const char *meas_no_part(arena *mem, double from, double to, double first, double last)
{
    const double a = isnan(from) ? first : from, b = isnan(to) ? last : to;
    const double slack = 1e-9 * (last - first);
    if (a > b)
        return arena_printf(mem, "FROM=%g is behind TO=%g", a, b);
    if (b < first - slack || a > last + slack)
        return arena_printf(mem, "%g .. %g is outside the curve, which goes from %g to %g", a, b,
                            first, last);
    return NULL;
}

const char *meas_outside(arena *mem, double t, double first, double last)
{
    return arena_printf(mem, "%g is outside the curve, which goes from %g to %g", t, first, last);
}

/* The part between from and to, with points at both ends. */
static bool cut(job *j, const curve *c, double from, double to, curve *out)
{
    double first = fmin(c->x[0], c->x[c->n - 1]), last = fmax(c->x[0], c->x[c->n - 1]);
    double a = isnan(from) ? first : from, b = isnan(to) ? last : to;
    const char *why = meas_no_part(j->e->mem, from, to, first, last);
    if (why)
        return fail(j, why);
    a = fmax(a, first);
    b = fmin(b, last);
    bool up = c->x[c->n - 1] >= c->x[0];
    out->x = arena_array(j->e->mem, double, c->n + 2);
    out->y = arena_array(j->e->mem, double, c->n + 2);
    out->n = 0;
    for (int64_t i = -1; i <= c->n; i++) {
        int64_t k = up ? i : c->n - 1 - i;
        double t = i < 0 ? a : i == c->n ? b : c->x[k];
        if (i >= 0 && i < c->n && !(t > a && t < b))
            continue;
        if (i == c->n && b == a)
            continue;
        out->x[out->n] = t;
        out->y[out->n++] = i < 0 || i == c->n ? post_interpolate(c->x, c->y, c->n, t) : c->y[k];
    }
    return true;
}

bool meas_crossing_add(meas_crossing *s, const clause *c, double x, double y)
{
    const double a = s->y, b = y, from = s->x, step = x - s->x;
    const bool any = s->any;
    s->any = true;
    s->x = x;
    s->y = y;
    const bool rise = a < 0 && b >= 0, fall = a > 0 && b <= 0;
    if (!any || s->n == c->number ||
        !(c->edge == EDGE_RISE   ? rise
          : c->edge == EDGE_FALL ? fall
                                 : rise || fall))
        return false;
    const double t = from + step * (a / (a - b));
    const double lo = fmax(isnan(c->td) ? -INFINITY : c->td, isnan(c->from) ? -INFINITY : c->from);
    const double hi = isnan(c->to) ? INFINITY : c->to;
    if (t < lo || t > hi)
        return false;
    s->t = t;
    s->n++;
    return true;
}

const char *meas_no_crossing(arena *mem, const clause *c, int n)
{
    static const char *const name[] = {"crosses", "rises through", "falls through"};
    return arena_printf(mem,
                        n == 1 ? "'%s' %s %s only once"
                        : n    ? "'%s' %s %s only %d times"
                               : "'%s' never %s %s",
                        c->expr,
                        n                       ? name[c->edge]
                        : c->edge == EDGE_CROSS ? "crosses"
                        : c->edge == EDGE_RISE  ? "rises through"
                                                : "falls through",
                        c->val, n);
}

/* Where the curve, which is expr - val, crosses 0 as the clause says. */
static bool crossing(job *j, const clause *c, double *t)
{
    curve d;
    meas_crossing s = {0};
    if (!isnan(c->at) && !c->expr) {
        *t = c->at;
        return true;
    }
    if (!curve_of(j, c->expr, c->val, &d))
        return false;
    for (int64_t k = 0; k < d.n; k++)
        (void)meas_crossing_add(&s, c, d.x[k], d.y[k]);
    *t = s.t;
    return meas_crossing_found(&s, c) || fail(j, meas_no_crossing(j->e->mem, c, s.n));
}

/* -- the forms -- */

void meas_part(post_meas *m, const char *name, double value)
{
    m->part[m->n_part] = name;
    m->part_value[m->n_part++] = value;
}

static vs_status trig_targ(job *j)
{
    clause trig = no_clause(), targ = no_clause();
    bool have_trig = false, have_targ = false;
    for (const post_word *w; (w = peek(j));) {
        bool is_trig = is(w, "trig");
        if (!is_trig && !is(w, "targ"))
            return wrong(j, w, "TRIG or TARG is expected, not '%1'", w->text, "") ? VS_OK
                                                                                  : VS_EINPUT;
        j->i++;
        if (!read_place(j, is_trig ? &trig : &targ, is_trig ? "TRIG" : "TARG"))
            return VS_EINPUT;
        have_trig |= is_trig;
        have_targ |= !is_trig;
    }
    if (!have_trig || !have_targ)
        return wrong(j, NULL, "%1 is missing", have_trig ? "TARG" : "TRIG", "") ? VS_OK : VS_EINPUT;
    if (j->plan) {
        *j->plan = (meas_plan){.kind = MEAS_DELAY, .a = trig, .b = targ};
        return VS_OK;
    }
    double t0, t1;
    if (!crossing(j, &trig, &t0) || !crossing(j, &targ, &t1))
        return VS_OK;
    j->m->value = t1 - t0;
    j->m->ok = true;
    meas_part(j->m, "targ", t1);
    meas_part(j->m, "trig", t0);
    return VS_OK;
}

/* Slope at t of the parabola through the three nearest points. */
static double slope_at(const curve *c, double t)
{
    int64_t m = 1;
    if (c->n < 3)
        return c->n == 2 ? (c->y[1] - c->y[0]) / (c->x[1] - c->x[0]) : NAN;
    while (m < c->n - 2 && fabs(c->x[m + 1] - t) < fabs(c->x[m] - t))
        m++;
    double x0 = c->x[m - 1], x1 = c->x[m], x2 = c->x[m + 1];
    double d01 = (c->y[m] - c->y[m - 1]) / (x1 - x0), d12 = (c->y[m + 1] - c->y[m]) / (x2 - x1);
    if (x1 == x0 || x2 == x1)
        return x1 == x0 ? d12 : d01;
    return d01 + (d12 - d01) / (x2 - x0) * (2 * t - x0 - x1);
}

/* The value in a plot of one point. */
static vs_status find_point(job *j, const char *expr)
{
    post_val v;
    if (!evaluate(j, expr, &v))
        return VS_OK;
    if (v.n != 1) {
        fail(j, arena_printf(j->e->mem, "'%s' has more than one value", expr));
        return VS_OK;
    }
    j->m->value = creal(post_at(&v, 0));
    j->m->ok = true;
    return VS_OK;
}

static vs_status find(job *j, bool slope)
{
    const post_word *w = peek(j);
    clause c = no_clause();
    curve y;
    if (!w || w->value)
        return wrong(j, w, "%1 needs a vector", slope ? "DERIV" : "FIND", "") ? VS_OK : VS_EINPUT;
    const char *expr = w->text;
    j->i++;
    bool ok = is(peek(j), "when") ? (j->i++, read_when(j, &c)) : read_keys(j, &c);
    if (!ok)
        return VS_EINPUT;
    const post_plot *p = j->e->set->current;
    const bool point = !slope && p && !p->scale; /* an operating point has nothing to be AT */
    if (peek(j) || (!c.expr && isnan(c.at) && !point))
        return wrong(j, peek(j), "%1 needs WHEN or AT=", slope ? "DERIV" : "FIND", "") ? VS_OK
                                                                                       : VS_EINPUT;
    if (j->plan) {
        if (!slope && (!point || !c.expr))
            *j->plan = (meas_plan){.kind = MEAS_FIND, .expr = expr, .a = c};
        return VS_OK;
    }
    if (point && !c.expr)
        return find_point(j, expr);
    double t;
    if (!crossing(j, &c, &t) || !curve_of(j, expr, NULL, &y))
        return VS_OK;
    double v = post_interpolate(y.x, y.y, y.n, t);
    if (isnan(v)) {
        fail(j, meas_outside(j->e->mem, t, y.x[0], y.x[y.n - 1]));
        return VS_OK;
    }
    j->m->value = slope ? slope_at(&y, t) : v;
    j->m->ok = true;
    return VS_OK;
}

static vs_status when(job *j)
{
    clause c;
    if (!read_when(j, &c))
        return VS_EINPUT;
    if (j->plan) {
        *j->plan = (meas_plan){.kind = MEAS_WHEN, .a = c};
        return VS_OK;
    }
    j->m->ok = crossing(j, &c, &j->m->value);
    return VS_OK;
}

void meas_sum_add(meas_sum *s, double x, double y)
{
    if (!s->n++) {
        *s = (meas_sum){1, {x, y}, {x, y}, {x, y}, {x, y}, 0, 0};
        return;
    }
    const double dx = x - s->last[0], a = s->last[1];
    s->area += dx * (a + y) / 2;
    s->square += dx * (a * a + a * y + y * y) / 3;
    double *const better = y < s->lo[1] ? s->lo : y > s->hi[1] ? s->hi : s->last;
    better[0] = s->last[0] = x;
    better[1] = s->last[1] = y;
}

void meas_sum_tell(const meas_sum *s, range_kind kind, post_meas *m)
{
    const double span = s->last[0] - s->first[0];
    m->ok = true;
    switch (kind) {
    case R_AVG: m->value = span > 0 ? s->area / span : s->first[1]; break;
    case R_RMS: m->value = span > 0 ? sqrt(s->square / span) : fabs(s->first[1]); break;
    case R_INTEG: m->value = s->area; break;
    case R_PP: m->value = s->hi[1] - s->lo[1]; break;
    case R_MIN:
    case R_MAX:
        m->value = (kind == R_MIN ? s->lo : s->hi)[1];
        meas_part(m, "at", (kind == R_MIN ? s->lo : s->hi)[0]);
        return;
    case R_MIN_AT:
    case R_MAX_AT:
        m->value = (kind == R_MIN_AT ? s->lo : s->hi)[0];
        meas_part(m, "with", (kind == R_MIN_AT ? s->lo : s->hi)[1]);
        return;
    }
    meas_part(m, "from", s->first[0]);
    meas_part(m, "to", s->last[0]);
}

/* OUTPUT=TIME (FREQ, SV) behind MIN and MAX, as Xyce has it, asks for the place. It is taken out of
 * the words. */
static range_kind output_of(job *j, range_kind kind)
{
    for (size_t i = j->i; i < vec_len(j->w) && (kind == R_MIN || kind == R_MAX); i++)
        if (is(&j->w[i], "output") && j->w[i].value) {
            const bool value = !str_casecmp(j->w[i].value, "value");
            memmove(&j->w[i], &j->w[i + 1], (vec_len(j->w) - i - 1) * sizeof *j->w);
            vec_head_of(j->w)->len--;
            return value ? kind : kind == R_MIN ? R_MIN_AT : R_MAX_AT;
        }
    return kind;
}

static vs_status range(job *j, range_kind kind)
{
    const post_word *w = peek(j);
    clause c = no_clause();
    curve all, y;
    if (!w || w->value)
        return wrong(j, w, "a vector is expected", "", "") ? VS_OK : VS_EINPUT;
    const char *expr = w->text;
    j->i++;
    kind = output_of(j, kind);
    j->of_part = true;
    const bool good = read_keys(j, &c);
    j->of_part = false;
    if (!good)
        return VS_EINPUT;
    if (!isnan(c.td))
        c.from = isnan(c.from) ? c.td : fmax(c.from, c.td);
    if (j->plan) {
        *j->plan = (meas_plan){.kind = MEAS_RANGE, .range = kind, .expr = expr, .a = c};
        return VS_OK;
    }
    if (!curve_of(j, expr, NULL, &all) || !cut(j, &all, c.from, c.to, &y))
        return VS_OK;
    meas_sum sum = {0};
    for (int64_t k = 0; k < y.n; k++)
        meas_sum_add(&sum, y.x[k], y.y[k]);
    meas_sum_tell(&sum, kind, j->m);
    return VS_OK;
}

/* -- forms of Xyce and HSPICE -- */

/* Keys of these forms into *x, others as always. */
static bool read_extra(job *j, clause *c, extra *x)
{
    static const char *const keys[] = {"on", "off", "minval", "ymin", "ymax", "ignore"};
    double *const to[] = {&x->on, &x->off, &x->minval, &x->ymin, &x->ymax, &x->ymin};
    *c = no_clause();
    *x = (extra){.on = NAN, .off = NAN, .minval = 1e-12, .ymin = 1e-15, .ymax = 1e15};
    for (const post_word *w; (w = peek(j)); j->i++) {
        size_t k = 0;
        while (k < VS_COUNT(keys) && !is(w, keys[k]))
            k++;
        if (k < VS_COUNT(keys) && w->value ? !post_eval_number(j->e, w->value, to[k])
                                           : !read_key(j, c, w))
            return false;
    }
    if (!isnan(c->td))
        c->from = isnan(c->from) ? c->td : fmax(c->from, c->td);
    return true;
}

/* The next word, an expression; NULL after a message. */
static const char *read_curve(job *j)
{
    const post_word *w = peek(j);
    if (!w || w->value) {
        wrong(j, w, "a vector is expected", "", "");
        return NULL;
    }
    j->i++;
    return w->text;
}

static vs_status cycles(job *j, cycle_kind kind)
{
    const char *expr = read_curve(j);
    clause c;
    extra x;
    curve all, y;
    if (!expr || !read_extra(j, &c, &x))
        return VS_EINPUT;
    if (isnan(x.on))
        return wrong(j, NULL, "ON= is missing, the value from which '%1' is on", expr, "")
                   ? VS_OK
                   : VS_EINPUT;
    x.off = isnan(x.off) ? x.on : x.off;
    if (x.off > x.on)
        return wrong(j, NULL, "OFF= is above ON=", "", "") ? VS_OK : VS_EINPUT;
    if (j->plan || j->e->check || !curve_of(j, expr, NULL, &all) || !cut(j, &all, c.from, c.to, &y))
        return VS_OK;
    meas_cycle s = {0};
    for (int64_t k = 0; k < y.n; k++)
        meas_cycle_add(&s, x.on, x.off, y.x[k], y.y[k]);
    const char *why = meas_cycle_tell(&s, kind, &j->m->value);
    if (why)
        fail(j, arena_printf(j->e->mem, "'%s': %s", expr, why));
    else
        j->m->ok = true;
    return VS_OK;
}

/* Errors of a curve against a measured one, over points from `from` to `to` where that is from ymin
 * to ymax in size: ERR, ERR1 the root of the mean square of (measured - curve) / max(minval,
 * |measured|), ERR2 the mean of its size. Source: HSPICE manual, "Error Functions"; Xyce Reference
 * Guide, ".MEASURE", ERR1, ERR2. */
static vs_status deviation(job *j, bool square)
{
    const char *measured = read_curve(j), *expr = measured ? read_curve(j) : NULL;
    clause c;
    extra x;
    curve a, b;
    if (!expr || !read_extra(j, &c, &x))
        return VS_EINPUT;
    if (j->plan || j->e->check || !curve_of(j, measured, NULL, &a) || !curve_of(j, expr, NULL, &b))
        return VS_OK;
    double sum = 0;
    int64_t n = 0;
    for (int64_t k = 0; k < a.n; k++) {
        const double size = fabs(a.y[k]);
        if (a.x[k] < c.from || a.x[k] > c.to || size < x.ymin || size > x.ymax)
            continue;
        const double r = (a.y[k] - b.y[k]) / fmax(x.minval, size);
        sum += square ? r * r : fabs(r);
        n++;
    }
    if (!n) {
        fail(j, "no point counts");
        return VS_OK;
    }
    j->m->value = square ? sqrt(sum / (double)n) : sum / (double)n;
    j->m->ok = true;
    return VS_OK;
}

/* Forms that are elsewhere here: the measure fails. */
static vs_status refer(job *j, const post_word *w)
{
    fail(j, is(w, "error") ? "ERROR compares with a file; 'vsim compare' does it here"
                           : "FOUR is a card of its own here: .four FREQUENCY vector");
    return VS_OK;
}

/* param = "PARAM" ["="] expr: LTspice writes no "=", Xyce also EQN */
static vs_status param(job *j, const post_word *w)
{
    post_val v;
    const post_word *next = peek(j);
    const char *text = w->value ? w->value : next && !next->value ? next->text : NULL;
    if (!text)
        return wrong(j, w, "PARAM needs an expression: PARAM='...'", "", "") ? VS_OK : VS_EINPUT;
    if (j->plan) {
        if (is(w, "param"))
            *j->plan = (meas_plan){.kind = MEAS_PARAM, .expr = text};
        return VS_OK;
    }
    if (!evaluate(j, text, &v))
        return VS_OK;
    j->i += !w->value;
    j->m->ok = v.n > 0;
    j->m->value = v.n > 0 ? creal(post_at(&v, v.n - 1)) : NAN;
    return VS_OK;
}

/* -- the figures of a tone in a spectrum -- */

static const char *const figures[] = {"thd", "snr", "sndr", "sfdr", "enob"};

static bool read_tone_key(job *j, const post_word *w, post_tone_opt *o)
{
    static const char *const keys[] = {"freq", "minfreq", "maxfreq", "binsiz", "nbharm"};
    double x = NAN;
    size_t k = 0;
    while (k < VS_COUNT(keys) && str_casecmp(w->text, keys[k]))
        k++;
    if (k == VS_COUNT(keys)) {
        wrong(j, w, "'%1' is not known here; freq, minfreq, maxfreq, binsiz and nbharm are",
              w->text, "");
        diag_suggest(j->e->d, w->text, keys, VS_COUNT(keys));
        return false;
    }
    if (!w->value)
        return wrong(j, w, "'%1' needs a value: %1=...", w->text, "");
    if (!post_eval_number(j->e, w->value, &x))
        return false;
    if (k >= 3 && !(x >= 0 && x <= 1e6 && x == floor(x)))
        return wrong(j, w, "%1 takes a whole number from 0 on, not '%2'", w->text, w->value);
    if (k < 3 && !(x >= 0))
        return wrong(j, w, "%1 takes a frequency, not '%2'", w->text, w->value);
    switch (k) {
    case 0: o->freq = x; break;
    case 1: o->fmin = x; break;
    case 2: o->fmax = x; break;
    case 3: o->lobe = (int)x; break;
    default: o->n_harm = (int)x; break;
    }
    return true;
}

static vs_status figure(job *j, size_t kind)
{
    const post_plot *p = j->e->set->current;
    post_tone_opt o = {.fmin = NAN, .fmax = NAN};
    const post_word *w = peek(j);
    post_val v;
    post_tone t;
    if (p)
        o = (post_tone_opt){p->tone, p->band[0], p->band[1], p->lobe, 0};
    if (!w || w->value)
        return wrong(j, w, "a vector is expected", "", "") ? VS_OK : VS_EINPUT;
    const char *expr = w->text;
    for (j->i++; (w = peek(j)); j->i++)
        if (!read_tone_key(j, w, &o))
            return VS_EINPUT;
    if (j->plan || j->e->check || !evaluate(j, expr, &v))
        return VS_OK;
    const char *why = post_tone_of(j->e, &v, &o, &t);
    if (why) {
        fail(j, why);
        return VS_OK;
    }
    const double value[] = {100 * t.thd, t.snr, t.sndr, t.sfdr, t.enob};
    if (isnan(value[kind])) {
        fail(j, "no line is left beside the tone and its harmonics: take more of its periods");
        return VS_OK;
    }
    j->m->value = value[kind];
    j->m->ok = true;
    meas_part(j->m, "at", t.freq);
    return VS_OK;
}

/* -- the figures of an eye -- */

static vs_status eye_figure(job *j, size_t kind)
{
    const post_word *w = peek(j);
    if (!w || w->value)
        return wrong(j, w, "the vector of an eye is expected", "", "") ? VS_OK : VS_EINPUT;
    const char *expr = w->text;
    j->i++;
    if ((w = peek(j)))
        return wrong(j, w, "'%1' is one word too many: the card .eye has the rest", w->text, "")
                   ? VS_OK
                   : VS_EINPUT;
    if (j->plan || j->e->check)
        return VS_OK;
    const char *why = post_eye_figure(j->e, expr, kind, &j->m->value);
    if (why)
        fail(j, why);
    else
        j->m->ok = true;
    return VS_OK;
}

/* -- entry -- */

#define X(id, name, words, unit) name,
static const char *const forms[] = {
    "avg",    "rms",     "integ",      "min",   "max",  "pp",
    "min_at", "max_at",  "integral",   "trig",  "targ", "find",
    "when",   "deriv",   "derivative", "param", "thd",  "snr",
    "sndr",   "sfdr",    "enob",       "eqn",   "err",  "err1",
    "err2",   "on_time", "off_time",   "duty",  "freq", POST_EYE_FIGURES(X)};
#undef X

static const char *const cycle_word[] = {"on_time", "off_time", "duty", "freq"};

bool post_measure_form(const char *text, size_t n)
{
    for (size_t i = 0; i < VS_COUNT(forms); i++)
        if (strlen(forms[i]) == n && !str_ncasecmp(forms[i], text, n))
            return true;
    return false;
}

static vs_status dispatch(job *j)
{
    const post_word *w = peek(j);
    if (!w)
        return wrong(j, NULL, "a measure needs a name and what to measure: NAME FIND v(out) AT=1u",
                     "", "")
                   ? VS_OK
                   : VS_EINPUT;
    if (is(w, "trig") || is(w, "targ"))
        return trig_targ(j);
    j->i++;
    if (is(w, "find") || is(w, "deriv") || is(w, "derivative"))
        return find(j, !is(w, "find"));
    if (is(w, "when"))
        return when(j);
    if (is(w, "param") || is(w, "eqn"))
        return param(j, w);
    if (is(w, "error") || is(w, "four"))
        return refer(j, w);
    if (is(w, "err") || is(w, "err1") || is(w, "err2"))
        return deviation(j, !is(w, "err2"));
    for (size_t k = 0; k < VS_COUNT(cycle_word); k++)
        if (is(w, cycle_word[k]))
            return cycles(j, (cycle_kind)k);
    for (size_t k = 0; k < 9; k++)
        if (is(w, forms[k]))
            return range(j, k == 8 ? R_INTEG : (range_kind)k);
    for (size_t k = 0; k < VS_COUNT(figures); k++)
        if (is(w, figures[k]))
            return figure(j, k);
    for (size_t k = 0; k < POST_N_EYE; k++)
        if (is(w, post_eye_word[k]))
            return eye_figure(j, k);
    wrong(j, w, "'%1' is no form of a measure", w->text, "");
    diag_suggest(j->e->d, w->text, forms, VS_COUNT(forms));
    return VS_EINPUT;
}

void meas_check(post_meas *m)
{
    if (m->ok && !isfinite(m->value)) {
        m->ok = false;
        m->why = "the result is not a finite number";
    }
}

/* plan NULL: evaluates. */
static vs_status measure(post_env *e, const char *text, diag_span at, post_meas *m, meas_plan *plan)
{
    job j = {.e = e, .at = at, .text_len = strlen(text), .m = m, .plan = plan};
    *m = (post_meas){0};
    j.w = post_words(e, text);
    vs_status st = VS_EINPUT;
    if (!vec_len(j.w) || j.w[0].value) {
        wrong(&j, NULL, "a measure needs a name and what to measure: NAME FIND v(out) AT=1u", "",
              "");
    } else {
        m->name = str_intern_lower(e->set->names, j.w[0].text, strlen(j.w[0].text));
        j.i = 1;
        st = dispatch(&j);
    }
    if (!st)
        meas_check(m);
    vec_free(j.w);
    return st;
}

vs_status post_measure(post_env *e, const char *text, diag_span at, post_meas *m)
{
    return measure(e, text, at, m, NULL);
}

vs_status meas_read(post_env *e, const char *text, diag_span at, post_meas *m, meas_plan *plan)
{
    *plan = (meas_plan){.kind = MEAS_OTHER};
    return measure(e, text, at, m, plan);
}

void post_measure_names(str_pool *names, const char *text, const char ***list)
{
    arena mem;
    arena_init(&mem);
    post_env e = {.mem = &mem};
    job j = {.e = &e};
    j.w = post_words(&e, text);
    for (size_t i = 1; i < vec_len(j.w); i++) {
        post_names_of_plots(names, j.w[i].text, list);
        if (j.w[i].value)
            post_names_of_plots(names, j.w[i].value, list);
    }
    vec_free(j.w);
    arena_fini(&mem);
}

void post_measure_print(const post_meas *m, FILE *out)
{
    if (!m->ok)
        return;
    fprintf(out, "%-20s=  %e", m->name, m->value);
    for (int i = 0; i < m->n_part; i++)
        fprintf(out, " %s=  %e", m->part[i], m->part_value[i]);
    fputc('\n', out);
}
