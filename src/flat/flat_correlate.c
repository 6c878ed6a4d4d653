/* flat_correlate.c - .correlate: normal random numbers of which each two have a given correlation.
 * Numbers that cards connect are a group. With the matrix R of its correlations and independent
 * z, y = L z, L L' = R (Cholesky), has these correlations and variances of 1. Each z is a function
 * of the seed, the sample and its name, as other draws are (flat_random.c), so a group is known as
 * a whole when the first of its numbers is drawn, in whatever order they are evaluated.
 * Source: Golub & Van Loan, Matrix Computations, 4th ed., 4.2.5. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "flat_priv.h"

enum { MOST = 256 }; /* of a group: each draw takes MOST^3/3 operations then */

/* -- the card -- */

/* names = number number {number} */
static bool read_names(cur *q, flat_correlate *w)
{
    flat_ctx *c = q->c;
    for (; cur_more(q) && !cur_at_key(q); q->i++) {
        const net_tok *t = cur_tok(q);
        if (t->kind == NET_T_PUNCT && t->punct == ',')
            continue;
        if (t->kind != NET_T_WORD) {
            cur_unexpected(q, "the name of a random number is expected, as .dcmatch gives it");
            return false;
        }
        for (size_t i = 0; i < vec_len(w->name); i++)
            if (w->name[i] == t->text) {
                diag_error(c->d, cur_span(q), "'%s' is named twice", t->text);
                return false;
            }
        vec_push(w->name, t->text);
        vec_push(w->at, cur_span(q));
        vec_push(w->met, false);
    }
    if (vec_len(w->name) >= 2)
        return true;
    cur_unexpected(q, "two or more random numbers are expected: .correlate dvt dbeta cc=0.3");
    return false;
}

/* correlate = ".correlate" names "cc" "=" value */
static void read_card(cur *q)
{
    flat_ctx *c = q->c;
    flat_correlate w = {.span = net_card_span(q->card)};
    bool ok = read_names(q, &w);
    if (ok && !(cur_more(q) && cur_is_word(q, "cc") && cur_at_key(q))) {
        cur_unexpected(q, "cc= is expected, the correlation of each two of them");
        ok = false;
    }
    q->i += 2;
    if (ok) {
        const rhs v = cur_value(q);
        ok = v.e && flat_eval(c, c->root, &v, &w.cc);
        if (ok && !(fabs(w.cc) <= 1)) {
            diag_error(c->d, v.span, "a correlation is from -1 to 1, not %g", w.cc);
            ok = false;
        }
    }
    if (ok && cur_more(q)) {
        cur_unexpected(q, "nothing more is expected");
        ok = false;
    }
    vec_freeze(c->mem, w.name);
    vec_freeze(c->mem, w.at);
    vec_freeze(c->mem, w.met);
    if (ok)
        vec_push(c->f->correlate, w);
}

void flat_correlate_cards(flat_ctx *c)
{
    const card_ref *r = c->root->b->other;
    bool any = false;
    for (size_t i = 0; i < vec_len(r); i++) {
        if (r[i].card->kind != NET_CARD_CORRELATE || !flat_on(c->root, r[i].guard))
            continue;
        any = true;
        (void)flat_slot_begin(c);
        read_card(&(cur){c, c->root->b, r[i].card, 1});
        flat_structural(c);
    }
    if (any)
        flat_choose_params(c->root); /* what was drawn for them and for .if is drawn again */
}

/* -- which numbers belong together -- */

const char *flat_draw_name(str_pool *names, const char *path, const char *name, int32_t k)
{
    char small[200], *s = small;
    const size_t n = strlen(path) + strlen(name) + 16;
    if (n > sizeof small)
        s = vs_calloc(n, 1);
    const int len =
        k ? snprintf(s, n, "%s%s#%d", path, name, (int)k + 1) : snprintf(s, n, "%s%s", path, name);
    const char *text = str_intern(names, s, (size_t)len);
    if (s != small)
        vs_free(s);
    return text;
}

/* How long the path of the instance is in which `name` is the number that a card calls `called`;
 * -1: it is another number. */
static int64_t prefix_of(const char *name, const char *called)
{
    const size_t n = strlen(name), m = strlen(called);
    if (n < m || strcmp(name + n - m, called) != 0 || (n > m && name[n - m - 1] != '.'))
        return -1;
    return (int64_t)(n - m);
}

static void add_partner(flat_partner **to, flat_partner p)
{
    for (size_t i = 0; i < vec_len(*to); i++)
        if ((*to)[i].name == p.name) {
            (*to)[i].cc = p.cc;
            return;
        }
    vec_push(*to, p);
}

void flat_partners(const flat *f, str_pool *names, const char *name, flat_partner **to)
{
    for (size_t i = 0; i < vec_len(f->correlate); i++) {
        const flat_correlate *w = &f->correlate[i];
        for (size_t k = 0; k < vec_len(w->name); k++) {
            const int64_t n = prefix_of(name, w->name[k]);
            for (size_t j = 0; j < vec_len(w->name) && n >= 0; j++) {
                char *s = j == k ? NULL : vs_calloc((size_t)n + strlen(w->name[j]) + 1, 1);
                if (!s)
                    continue;
                memcpy(s, name, (size_t)n);
                memcpy(s + n, w->name[j], strlen(w->name[j]));
                add_partner(to, (flat_partner){str_intern0(names, s), w->cc});
                vs_free(s);
            }
        }
    }
}

void flat_correlate_met(flat_ctx *c, const busy *of, int32_t k)
{
    const char *name =
        flat_draw_name(c->names, of->path ? of->path : "", of->name ? of->name : "", k);
    for (size_t i = 0; i < vec_len(c->f->correlate); i++) {
        const flat_correlate *w = &c->f->correlate[i];
        for (size_t j = 0; j < vec_len(w->name); j++)
            w->met[j] |= prefix_of(name, w->name[j]) >= 0;
    }
}

void flat_correlate_report(flat_ctx *c)
{
    for (size_t i = 0; i < vec_len(c->f->correlate); i++) {
        const flat_correlate *w = &c->f->correlate[i];
        for (size_t j = 0; j < vec_len(w->name); j++)
            if (!w->met[j])
                diag_warning(c->d, w->at[j],
                             ".correlate: no random number has the name '%s': that of a parameter, "
                             "an element or a model card, with the path of its instance, is "
                             "expected; .dcmatch lists them",
                             w->name[j]);
    }
}

/* -- draws -- */

/* The last card that names this number. */
static diag_span card_of(const flat_ctx *c, const char *name)
{
    for (size_t i = vec_len(c->f->correlate); i-- > 0;)
        for (size_t j = 0; j < vec_len(c->f->correlate[i].name); j++)
            if (prefix_of(name, c->f->correlate[i].name[j]) >= 0)
                return c->f->correlate[i].span;
    return DIAG_NOWHERE;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All numbers that cards connect with this one, in the order of their names: vec. NULL: a message
 * was given, or it is alone. */
static const char **group_of(flat_ctx *c, const char *name)
{
    const char **group = NULL;
    flat_partner *with = NULL;
    vec_push(group, name);
    for (size_t i = 0; i < vec_len(group) && vec_len(group) <= MOST; i++) {
        vec_clear(with);
        flat_partners(c->f, c->names, group[i], &with);
        for (size_t k = 0; k < vec_len(with); k++) {
            bool in = false;
            for (size_t j = 0; j < vec_len(group) && !in; j++)
                in = group[j] == with[k].name;
            if (!in)
                vec_push(group, with[k].name);
        }
    }
    vec_free(with);
    const diag_span at = card_of(c, name);
    if (vec_len(group) > MOST && flat_first(c, at))
        diag_error(c->d, at,
                   ".correlate: more than %d random numbers depend on each other, among them '%s'",
                   MOST, name);
    if (vec_len(group) < 2 || vec_len(group) > MOST)
        vec_free(group);
    else
        qsort(group, vec_len(group), sizeof *group, by_name);
    return group;
}

/* Rows 0 to k of the lower triangle of R. */
static void fill(flat_ctx *c, const char *const *group, size_t k, double (*r)[MOST])
{
    flat_partner *with = NULL;
    for (size_t i = 0; i <= k; i++) {
        vec_clear(with);
        flat_partners(c->f, c->names, group[i], &with);
        r[i][i] = 1;
        for (size_t p = 0; p < vec_len(with); p++)
            for (size_t j = 0; j < i; j++)
                if (group[j] == with[p].name)
                    r[i][j] = with[p].cc;
    }
    vec_free(with);
}

/* Rows 0 to k of L in place of those of R. false: R has a negative eigenvalue. A number that others
 * determine has a pivot of 0, but for the rounding of R's decimals; what is left beside it, which
 * the root of the pivot bounds, is 0 too. */
static bool factor(double (*r)[MOST], size_t k)
{
    const double slack = 1e-10;
    for (size_t i = 0; i <= k; i++)
        for (size_t j = 0; j <= i; j++) {
            double x = r[i][j];
            for (size_t m = 0; m < j; m++)
                x -= r[i][m] * r[j][m];
            if (i == j && x < -slack)
                return false;
            if (i == j)
                r[i][i] = x > slack ? sqrt(x) : 0;
            else if (r[j][j] == 0 && fabs(x) > sqrt(slack))
                return false;
            else
                r[i][j] = r[j][j] == 0 ? 0 : x / r[j][j];
        }
    return true;
}

static void say_impossible(flat_ctx *c, const char *const *group, const char *name)
{
    const diag_span at = card_of(c, name);
    if (flat_first_of(c, at, 1))
        diag_error(
            c->d, at,
            ".correlate: no random numbers have these correlations: the matrix of '%s', '%s' "
            "and %zu more is not positive semidefinite; those between n numbers may all be "
            "as low as -1/(n-1)",
            group[0], group[1], vec_len(group) - 2);
}

bool flat_correlated(flat_ctx *c, const net_draw *w, flat_dist kind, double *y)
{
    if (!vec_len(c->f->correlate))
        return false;
    const char *name = flat_draw_name(c->names, w->path, w->name, w->k), **group;
    size_t k = 0;
    *y = 0;
    if (!(group = group_of(c, name)))
        return false;
    if (kind != FLAT_NORMAL && flat_first_of(c, card_of(c, name), 2))
        diag_error(c->d, card_of(c, name),
                   ".correlate: '%s' is not normal: gauss or agauss is expected", name);
    while (group[k] != name)
        k++;
    double(*r)[MOST] = vs_calloc((k + 1) * MOST, sizeof(double));
    fill(c, group, k, r);
    if (!factor(r, k))
        say_impossible(c, group, name);
    const uint64_t key = draw_text(draw_seed(c->deck->seed, c->deck->sample), ".correlate");
    for (size_t j = 0; j <= k && c->deck->vary; j++)
        *y += r[k][j] * draw_normal(draw_text(key, group[j]));
    vs_free(r);
    vec_free(group);
    return true;
}
