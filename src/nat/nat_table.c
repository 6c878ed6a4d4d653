/* nat_table.c - see nat_table.h. */
#include "nat_table.h"

#include <math.h>

enum { MOST_SLOT = 4 * NAT_TABLE_AXES };

typedef struct table {
    nat_table_opt o;
    int32_t node[2 * NAT_TABLE_AXES + 2];
    int32_t slot[MOST_SLOT]; /* (out[r], in[k][c]) at 4 k + 2 r + c */
} table;

typedef struct tables {
    nat_set set;
    table *all; /* vec */
} tables;

static table *tables_of(const nat_set *s) { return ((const tables *)s)->all; }

void nat_table_add(nat_list *l, const nat_table_opt *o)
{
    tables *to = (tables *)nat_need(l, NAT_TABLE, sizeof *to);
    table t = {.o = *o, .node = {o->out[0], o->out[1]}};
    for (int32_t k = 0; k < o->table->n_axis; k++)
        for (int c = 0; c < 2; c++)
            t.node[2 + 2 * k + c] = o->in[k][c];
    vec_push(to->all, t);
}

static void free_tables(nat_set *set) { vec_free(((tables *)set)->all); }

static int32_t count(const nat_set *set) { return (int32_t)vec_len(tables_of(set)); }

static nat_device at(const nat_set *set, int32_t i)
{
    const table *t = &tables_of(set)[i];
    return (nat_device){t->o.name, t->o.span, t->node, 2 + 2 * t->o.table->n_axis, false, false};
}

/* -- pattern -- */

static csc_entry entry_of(const table *t, int32_t k, int r, int c)
{
    return csc_entry_of(t->o.out[r], t->o.in[k][c]);
}

static void entries(const nat_set *set, bool reactive, csc_entry **e)
{
    const table *all = tables_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++)
        for (int32_t s = 0; s < 4 * all[i].o.table->n_axis; s++)
            vec_push(*e, entry_of(&all[i], s / 4, s / 2 % 2, s % 2));
}

static void place(nat_set *set, const csc *a, bool reactive)
{
    table *all = tables_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++)
        for (int32_t s = 0; s < 4 * all[i].o.table->n_axis; s++)
            all[i].slot[s] = csc_slot(a, entry_of(&all[i], s / 4, s / 2 % 2, s % 2));
}

/* -- values -- */

/* The interval of an axis in which u lies, as a part of it from 0 to 1; beyond the axis its end. */
typedef struct place_on_axis {
    int32_t i;
    double part, length;
    bool outside;
} place_on_axis;

static place_on_axis find(const double *axis, int32_t n, double u)
{
    int32_t lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (axis[mid] <= u)
            lo = mid;
        else
            hi = mid;
    }
    const double length = axis[hi] - axis[lo], part = (u - axis[lo]) / length;
    return (place_on_axis){lo, fmin(fmax(part, 0), 1), length, !(part >= 0 && part <= 1)};
}

/* The value at u [n_axis], and its slopes by each of them. */
static double value_at(const nat_table *t, const double *u, double *slope)
{
    place_on_axis p[NAT_TABLE_AXES];
    double y = 0;
    for (int32_t k = 0; k < t->n_axis; k++) {
        p[k] = find(t->axis[k], t->n[k], u[k]);
        slope[k] = 0;
    }
    for (int corner = 0; corner < 1 << t->n_axis; corner++) {
        int64_t index = 0;
        for (int32_t k = t->n_axis; k-- > 0;)
            index = index * t->n[k] + p[k].i + (corner >> k & 1);
        double weight = t->value[index], by[NAT_TABLE_AXES];
        for (int32_t k = 0; k < t->n_axis; k++)
            by[k] = weight;
        for (int32_t k = 0; k < t->n_axis; k++) {
            const bool upper = corner >> k & 1;
            const double part = upper ? p[k].part : 1 - p[k].part;
            weight *= part;
            for (int32_t j = 0; j < t->n_axis; j++)
                by[j] *= j == k ? (upper ? 1 : -1) / p[k].length : part;
        }
        y += weight;
        for (int32_t k = 0; k < t->n_axis; k++)
            slope[k] += p[k].outside ? 0 : by[k];
    }
    return y;
}

/* Second derivative by axes j and k, two of them; by one of them twice it is 0. */
static double bend_at(const nat_table *t, const double *u, int32_t j, int32_t k)
{
    place_on_axis p[NAT_TABLE_AXES];
    double bend = 0;
    for (int32_t a = 0; a < t->n_axis; a++)
        p[a] = find(t->axis[a], t->n[a], u[a]);
    for (int corner = 0; corner < 1 << t->n_axis; corner++) {
        int64_t index = 0;
        double by = 1;
        for (int32_t a = t->n_axis; a-- > 0;) {
            const bool upper = corner >> a & 1;
            index = index * t->n[a] + p[a].i + upper;
            by *= a == j || a == k ? (upper ? 1 : -1) / p[a].length
                  : upper          ? p[a].part
                                   : 1 - p[a].part;
        }
        bend += by * t->value[index];
    }
    return p[j].outside || p[k].outside ? 0 : bend;
}

static void read_axes(const table *t, const double *x, double *u)
{
    for (int32_t k = 0; k < t->o.table->n_axis; k++)
        u[k] = x[t->o.in[k][0]] - x[t->o.in[k][1]];
}

static double current(const table *t, const double *x, double *slope)
{
    double u[NAT_TABLE_AXES] = {0};
    read_axes(t, x, u);
    const double y = value_at(t->o.table, u, slope);
    for (int32_t k = 0; k < t->o.table->n_axis; k++)
        slope[k] *= t->o.gain;
    return t->o.gain * y + t->o.offset;
}

/* -- loads -- */

static void add_slopes(const table *t, const double *slope, double *val)
{
    for (int32_t s = 0; s < 4 * t->o.table->n_axis; s++)
        val[t->slot[s]] += (s / 2 % 2 == s % 2 ? 1 : -1) * slope[s / 4];
}

static void load(nat_set *set, const nat_env *env, const double *x, nat_sums *to)
{
    const table *all = tables_of(set);
    (void)env;
    for (size_t i = 0; i < vec_len(all); i++) {
        double slope[NAT_TABLE_AXES];
        const double y = current(&all[i], x, slope);
        nat_add(to->f, to->fmax, all[i].o.out[0], y);
        nat_add(to->f, to->fmax, all[i].o.out[1], -y);
        add_slopes(&all[i], slope, to->val);
    }
}

static void load_ac(nat_set *set, const nat_env *env, const double *x, nat_ac *to)
{
    const table *all = tables_of(set);
    (void)env;
    for (size_t i = 0; i < vec_len(all); i++) {
        double slope[NAT_TABLE_AXES];
        (void)current(&all[i], x, slope);
        add_slopes(&all[i], slope, to->g);
    }
}

static void curves(const nat_set *set, const double *x, nat_curve **to)
{
    const table *all = tables_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        const table *t = &all[i];
        const int32_t n = t->o.table->n_axis;
        double u[NAT_TABLE_AXES] = {0};
        read_axes(t, x, u);
        for (int32_t j = 0; j < n; j++)
            for (int32_t k = 0; k < n; k++) {
                const double bend = j == k ? 0 : t->o.gain * bend_at(t->o.table, u, j, k);
                for (int s = 0; s < 8 && bend != 0; s++) {
                    const int r = s & 1, a = s >> 1 & 1, b = s >> 2;
                    vec_push(*to, ((nat_curve){t->o.out[r], t->o.in[j][a], t->o.in[k][b],
                                               (r + a + b) % 2 ? -bend : bend}));
                }
            }
    }
}

static double share(nat_set *set, const nat_env *env, const double *x, int32_t device, int32_t row)
{
    const table *t = &tables_of(set)[device];
    double slope[NAT_TABLE_AXES];
    (void)env;
    const double y = current(t, x, slope);
    return row && (row == t->o.out[0] || row == t->o.out[1]) ? fabs(y) : -1;
}

static void identity(const nat_set *set, image *im)
{
    static const char other[] = "it is of a circuit with other tables";
    const table *all = tables_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        IMAGE_SAME(im, all[i].node, other);
        const double by[] = {all[i].o.gain, all[i].o.offset};
        IMAGE_SAME(im, by, other);
    }
}

const nat_kind nat_table_kind = {
    .name = "table",
    .no_redo = "tables of currents",
    .free = free_tables,
    .count = count,
    .at = at,
    .entries = entries,
    .place = place,
    .load = load,
    .load_ac = load_ac,
    .curves = curves,
    .share = share,
    .identity = identity,
};
