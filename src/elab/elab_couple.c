/* elab_couple.c - coupled inductors, and whether couplings can be together.
 * Method: inductances of coupled coils are a matrix that must not be indefinite, or some currents
 *         store negative energy: the coils give energy, and a transient grows without end. Each
 *         |k| <= 1 is not enough from three coils on. Cholesky factors of the matrix of
 *         coefficients (1 on the diagonal), coils ordered by breadth first, rows kept from their
 *         first entry on: a chain of coils takes linear time. A pivot that is negative gives the
 *         currents.
 * Source: Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 10.7. */
#include "elab_priv.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* -- cards -- */

/* In henry at tnom, of a row of the model of inductors. */
static double row_inductance(elab *e, int32_t row)
{
    mdl_model *m = mdl_find(e->lib, "inductor");
    const int32_t p = elab_param(e, m, "l"), scale = elab_param(e, m, "scale");
    return mdl_row_param(m, row, p) * (scale >= 0 ? mdl_row_param(m, row, scale) : 1);
}

/* Inductance of the inductor `name` at tnom in henry; 0: it is no inductor, or has no fixed value.
 */
static double inductance(elab *e, const flat_inst *in, const char *name, int32_t *unknown)
{
    const int32_t row = map_get(&e->row_of_inst, map_key(name), -1);
    if (row < 0) {
        diag_error(e->d, in->span,
                   elab_find(e, name) < 0 ? "%s: there is no inductor '%s'"
                                          : "%s: '%s' is not an inductor with a fixed value",
                   in->name, name);
        return 0;
    }
    if (!elab_control_branch(e, in, name, unknown))
        return 0;
    const double l = row_inductance(e, row);
    if (l == 0)
        diag_error(e->d, in->span, "%s: the inductance of '%s' is 0: nothing can be coupled",
                   in->name, name);
    if (l < 0)
        diag_warning(e->d, in->span,
                     "%s: the inductance of '%s' is negative: such inductors give energy", in->name,
                     name);
    return l;
}

static vs_status couple(elab *e, const flat_inst *in, const char *a, const char *b, double k)
{
    int32_t terminal[2];
    const double la = inductance(e, in, a, &terminal[0]);
    const double lb = la != 0 ? inductance(e, in, b, &terminal[1]) : 0;
    mdl_model *m = lb != 0 ? elab_module(e, "mutual", in->span) : NULL;
    if (!m)
        return VS_EINPUT;
    const mdl_given given = {elab_param(e, m, "m"), k * sqrt(fabs(la * lb)), DIAG_NOWHERE};
    return elab_add(e, in, m, &given, 1, terminal, NULL, elab_kelvin(e), 1);
}

static double coefficient(const flat_inst *in)
{
    static const char *const name[] = {"value", "k", "coupling", "coef"};
    double k = NAN;
    for (size_t i = 0; i < VS_COUNT(name) && isnan(k); i++)
        k = elab_card_number(in->param, name[i], NAN);
    return k;
}

/* Any number of inductors: each pair is coupled. */
vs_status elab_mutual(elab *e, const flat_inst *in)
{
    const double k = coefficient(in);
    if (vec_len(in->rare->ref) < 2 || isnan(k)) {
        diag_error(e->d, in->span, "%s: two inductors and a coefficient are needed", in->name);
        return VS_EINPUT;
    }
    if (!(fabs(k) <= 1))
        diag_warning(e->d, in->span,
                     "%s: the coupling coefficient %g is outside -1 .. 1: such inductors give "
                     "energy",
                     in->name, k);
    vs_status st = VS_OK;
    e->check_couplings = true;
    for (size_t i = 0; i < vec_len(in->rare->ref) && st == VS_OK; i++)
        for (size_t j = i + 1; j < vec_len(in->rare->ref) && st == VS_OK; j++) {
            if (in->rare->ref[i] == in->rare->ref[j]) {
                diag_error(e->d, in->span, "%s: '%s' is named twice", in->name, in->rare->ref[i]);
                st = VS_EINPUT;
            } else {
                st = couple(e, in, in->rare->ref[i], in->rare->ref[j], k);
            }
        }
    return st;
}

/* -- all together -- */

typedef struct pair {
    int32_t a, b, card; /* coils, an instance */
    double k;
} pair;

typedef struct coils {
    elab *e;
    const flat_inst **coil; /* vec */
    double *l;              /* vec; inductances */
    pair *pair;             /* vec */
    map at;                 /* name -> coil */
    int32_t *start, *next;  /* [coils + 2], [2 pairs] the pairs of each coil */
    int32_t *order, *place; /* [coils] by breadth first, and back */
} coils;

static int32_t coil_number(coils *c, const char *name)
{
    int32_t k = map_get(&c->at, map_key(name), -1);
    if (k >= 0)
        return k;
    k = (int32_t)vec_len(c->coil);
    vec_push(c->coil, &c->e->f->inst[elab_find(c->e, name)]);
    vec_push(c->l, row_inductance(c->e, map_get(&c->e->row_of_inst, map_key(name), -1)));
    map_set(&c->at, map_key(name), k);
    return k;
}

static void list_pairs(coils *c)
{
    for (size_t n = 0; n < vec_len(c->e->mutual); n++) {
        const flat_inst *in = &c->e->f->inst[c->e->mutual[n]];
        const double k = coefficient(in);
        for (size_t i = 0; i < vec_len(in->rare->ref) && k != 0; i++)
            for (size_t j = i + 1; j < vec_len(in->rare->ref); j++) {
                const int32_t a = coil_number(c, in->rare->ref[i]);
                const int32_t b = coil_number(c, in->rare->ref[j]);
                vec_push(c->pair, (pair){a, b, c->e->mutual[n], k});
            }
    }
}

static void list_neighbours(coils *c)
{
    const size_t n = vec_len(c->coil), n_pair = vec_len(c->pair);
    c->start = vs_calloc(n + 2, sizeof *c->start);
    c->next = vs_malloc((2 * n_pair + 1) * sizeof *c->next);
    c->order = vs_malloc((n + 1) * sizeof *c->order);
    c->place = vs_malloc((n + 1) * sizeof *c->place);
    for (size_t p = 0; p < n_pair; p++) {
        c->start[c->pair[p].a + 2]++;
        c->start[c->pair[p].b + 2]++;
    }
    for (size_t i = 0; i < n; i++)
        c->start[i + 2] += c->start[i + 1];
    for (size_t p = 0; p < n_pair; p++) {
        c->next[c->start[c->pair[p].a + 1]++] = (int32_t)p;
        c->next[c->start[c->pair[p].b + 1]++] = (int32_t)p;
    }
    for (size_t i = 0; i < n; i++)
        c->place[i] = -1;
}

static int32_t other_end(const pair *p, int32_t coil) { return p->a == coil ? p->b : p->a; }

/* The coils that hang together with `first`, from place `begin` of the order on; returns its end.
 */
static int32_t gather(coils *c, int32_t first, int32_t begin)
{
    int32_t end = begin;
    c->order[end] = first;
    c->place[first] = end++;
    for (int32_t at = begin; at < end; at++)
        for (int32_t q = c->start[c->order[at]]; q < c->start[c->order[at] + 1]; q++) {
            const int32_t o = other_end(&c->pair[c->next[q]], c->order[at]);
            if (c->place[o] >= 0)
                continue;
            c->order[end] = o;
            c->place[o] = end++;
        }
    return end;
}

/* Whether a message of one card has told already that these coils give energy. */
static bool is_told(const coils *c, int32_t begin, int32_t end)
{
    for (int32_t at = begin; at < end; at++) {
        const int32_t i = c->order[at];
        if (!(c->l[i] > 0))
            return true;
        for (int32_t q = c->start[i]; q < c->start[i + 1]; q++)
            if (!(fabs(c->pair[c->next[q]].k) <= 1))
                return true;
    }
    return false;
}

/* The lower half of a matrix, each row from its first entry to the diagonal. */
typedef struct rows {
    int32_t n;
    int32_t *first;
    size_t *from; /* [n + 1] where rows begin in v */
    double *v, work;
} rows;

static void make_rows(rows *r, const coils *c, int32_t begin, int32_t end)
{
    const size_t n = (size_t)(end - begin);
    *r = (rows){.n = end - begin};
    r->first = vs_malloc(n * sizeof *r->first);
    r->from = vs_calloc(n + 1, sizeof *r->from);
    for (int32_t i = 0; i < r->n; i++) {
        const int32_t coil = c->order[begin + i];
        r->first[i] = i;
        for (int32_t q = c->start[coil]; q < c->start[coil + 1]; q++) {
            const int32_t j = c->place[other_end(&c->pair[c->next[q]], coil)] - begin;
            r->first[i] = j < r->first[i] ? j : r->first[i];
        }
        const size_t width = (size_t)(i - r->first[i]) + 1;
        r->from[i + 1] = r->from[i] + width;
        r->work += 0.5 * (double)width * (double)width;
    }
}

/* Entry j of row i is row_of(r, i)[j - r->first[i]]. */
static double *row_of(const rows *r, int32_t i) { return r->v + r->from[i]; }

/* Coefficients; on the diagonal 1 and what rounding may take off that sum: with it the factors of
 * a matrix that is not indefinite exist. */
static void fill_rows(rows *r, const coils *c, int32_t begin)
{
    r->v = vs_calloc(r->from[r->n], sizeof *r->v);
    for (int32_t i = 0; i < r->n; i++) {
        const int32_t coil = c->order[begin + i];
        for (int32_t q = c->start[coil]; q < c->start[coil + 1]; q++) {
            const pair *p = &c->pair[c->next[q]];
            const int32_t j = c->place[other_end(p, coil)] - begin;
            if (j < i)
                row_of(r, i)[j - r->first[i]] += p->k;
        }
        row_of(r, i)[i - r->first[i]] = 1 + 4 * DBL_EPSILON * (r->n + 1.0) * r->n;
    }
}

/* Of entries `from` to `to` - 1 of two rows. */
static double dot(const rows *r, int32_t i, int32_t j, int32_t from, int32_t to)
{
    const double *a = row_of(r, i) + (from - r->first[i]), *b = row_of(r, j) + (from - r->first[j]);
    double s[4] = {0};
    int32_t k = 0;
    for (; k + 4 <= to - from; k += 4)
        for (int u = 0; u < 4; u++)
            s[u] += a[k + u] * b[k + u];
    for (; k < to - from; k++)
        s[0] += a[k] * b[k];
    return s[0] + s[1] + s[2] + s[3];
}

/* Factors in place, up to the first row whose pivot is not positive; n: there is none. */
static int32_t factor_rows(rows *r)
{
    for (int32_t i = 0; i < r->n; i++) {
        double *a = row_of(r, i);
        const int32_t first = r->first[i];
        for (int32_t j = first; j < i; j++) {
            const int32_t from = first > r->first[j] ? first : r->first[j];
            a[j - first] = (a[j - first] - dot(r, i, j, from, j)) / row_of(r, j)[j - r->first[j]];
        }
        const double pivot = a[i - first] - dot(r, i, i, first, i);
        if (!(pivot > 0))
            return i;
        a[i - first] = sqrt(pivot);
    }
    return r->n;
}

/* x [n] with x' K x < 0, from the row whose pivot is not positive. */
static void find_currents(const rows *r, int32_t bad, double *x)
{
    memset(x, 0, (size_t)r->n * sizeof *x);
    for (int32_t j = r->first[bad]; j < bad; j++)
        x[j] = -row_of(r, bad)[j - r->first[bad]];
    for (int32_t j = bad - 1; j >= 0; j--) {
        const double *b = row_of(r, j);
        x[j] /= b[j - r->first[j]];
        for (int32_t k = r->first[j]; k < j; k++)
            x[k] -= b[k - r->first[j]] * x[j];
    }
    x[bad] = 1;
}

enum { MOST_NAMES = 6 };

/* "a", "a and b", "a, b and c": item k of n behind the others */
static const char *join(const char *text, const char *more, int k, int n, elab *e)
{
    return k == 0 ? more : elab_printf(e, k + 1 < n ? "%s, %s" : "%s and %s", text, more);
}

/* Which coils the currents flow in, by the energy that each stores alone; *largest: the largest
 * current before it is made 1 A. */
static const char *currents_text(const coils *c, int32_t begin, int32_t n, const double *x,
                                 double *largest)
{
    const char *text = "";
    int32_t shown[MOST_NAMES];
    int n_shown = 0;
    for (int32_t i = 0; i < n; i++) {
        int at = n_shown < MOST_NAMES ? n_shown++ : MOST_NAMES;
        for (; at > 0 && fabs(x[i]) > fabs(x[shown[at - 1]]); at--)
            if (at < MOST_NAMES)
                shown[at] = shown[at - 1];
        if (at < MOST_NAMES)
            shown[at] = i;
    }
    *largest = 0;
    for (int32_t i = 0; i < n; i++)
        *largest = fmax(*largest, fabs(x[i]) / sqrt(c->l[c->order[begin + i]]));
    while (n_shown > 1 && !(fabs(x[shown[n_shown - 1]]) > 1e-6 * fabs(x[shown[0]])))
        n_shown--;
    for (int k = 0; k < n_shown; k++) {
        const int32_t coil = c->order[begin + shown[k]];
        const double current = x[shown[k]] / sqrt(c->l[coil]) / *largest;
        text = join(text, elab_printf(c->e, "%.3g A in %s", current, c->coil[coil]->name), k,
                    n_shown, c->e);
    }
    return text;
}

/* The energy of a pair; 0: it is of other coils. */
static double pair_energy(const coils *c, const pair *p, int32_t begin, const rows *r,
                          const double *x)
{
    const int32_t a = c->place[p->a] - begin, b = c->place[p->b] - begin;
    return a < 0 || a >= r->n ? 0 : p->k * x[a] * x[b];
}

/* "with k2 and k3 ": the cards of pairs that the currents flow in, but the worst. */
static const char *cards_text(const coils *c, int32_t begin, const rows *r, const double *x,
                              int32_t worst)
{
    const char *text = "";
    int32_t card[MOST_NAMES];
    int n = 0;
    bool more = false;
    for (size_t q = 0; q < vec_len(c->pair) && !more; q++) {
        const pair *p = &c->pair[q];
        const bool last = n && card[n - 1] == p->card; /* pairs of one card are neighbours */
        if (last || p->card == worst || pair_energy(c, p, begin, r, x) == 0)
            continue;
        more = n == MOST_NAMES;
        if (!more)
            card[n++] = p->card;
    }
    for (int k = 0; k < n; k++)
        text = join(text, c->e->f->inst[card[k]].name, k, n + more, c->e);
    return n ? elab_printf(c->e, "with %s%s ", text, more ? " and others" : "") : "";
}

static void warn_energy(coils *c, int32_t begin, const rows *r, int32_t bad)
{
    double *x = vs_malloc((size_t)r->n * sizeof *x), energy = 0, least = INFINITY, largest;
    int32_t worst = 0;
    find_currents(r, bad, x);
    for (int32_t i = 0; i < r->n; i++)
        energy += 0.5 * x[i] * x[i];
    for (size_t q = 0; q < vec_len(c->pair); q++) {
        const double of_pair = pair_energy(c, &c->pair[q], begin, r, x);
        energy += of_pair;
        if (of_pair < least) {
            least = of_pair;
            worst = c->pair[q].card;
        }
    }
    const flat_inst *in = &c->e->f->inst[worst];
    const char *cards = cards_text(c, begin, r, x, worst);
    const char *currents = currents_text(c, begin, r->n, x, &largest);
    diag_warning(c->e->d, in->span,
                 "%s: %sthis coupling makes a matrix of inductances that is not positive definite: "
                 "%s would store %.3g J; such inductors give energy, and a transient may grow "
                 "without end",
                 in->name, cards, currents, energy / (largest * largest));
    vs_free(x);
}

/* A dense block of 4,000 coils: its factors in every step of a transient take longer. */
static const double MOST_WORK = 1e10;

static void check_group(coils *c, int32_t begin, int32_t end)
{
    rows r;
    if (is_told(c, begin, end))
        return;
    make_rows(&r, c, begin, end);
    if (r.work > MOST_WORK) {
        diag_note(c->e->d, DIAG_NOWHERE,
                  "%d inductors from '%s' on are coupled, too many to check whether they give "
                  "energy",
                  r.n, c->coil[c->order[begin]]->name);
    } else {
        fill_rows(&r, c, begin);
        const int32_t bad = factor_rows(&r);
        if (bad < r.n)
            warn_energy(c, begin, &r, bad);
    }
    vs_free(r.first);
    vs_free(r.from);
    vs_free(r.v);
}

void elab_check_couplings(elab *e)
{
    if (!e->check_couplings)
        return;
    coils c = {.e = e};
    e->check_couplings = false;
    list_pairs(&c);
    list_neighbours(&c);
    int32_t begin = 0;
    for (int32_t i = 0; i < (int32_t)vec_len(c.coil); i++)
        if (c.place[i] < 0) {
            const int32_t end = gather(&c, i, begin);
            check_group(&c, begin, end);
            begin = end;
        }
    map_free(&c.at);
    vec_free(c.coil);
    vec_free(c.l);
    vec_free(c.pair);
    vs_free(c.start);
    vs_free(c.next);
    vs_free(c.order);
    vs_free(c.place);
}
