/* nat.c - see nat.h: the list of kinds, and each operation for all kinds in use. */
#include "nat.h"

static const nat_kind *const kinds[NAT_N_KIND] = {
    [NAT_SOURCE] = &nat_source_kind, [NAT_OSDI] = &nat_osdi_kind,   [NAT_LINE] = &nat_line_kind,
    [NAT_DELAY] = &nat_delay_kind,   [NAT_TABLE] = &nat_table_kind, [NAT_EVENT] = &nat_event_kind};

nat_set *nat_need(nat_list *l, nat_kind_id id, size_t size)
{
    if (!l->set[id]) {
        l->set[id] = arena_alloc(l->host.mem, size);
        l->set[id]->kind = kinds[id];
        l->set[id]->host = &l->host;
    }
    return l->set[id];
}

void nat_free(nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++) {
        if (l->set[k])
            kinds[k]->free(l->set[k]);
        l->set[k] = NULL;
    }
}

/* -- facts -- */

bool nat_only_sources(const nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && k != NAT_SOURCE)
            return false;
    return true;
}

static bool kind_remembers(const nat_list *l, int k) { return l->set[k] && kinds[k]->remembers; }

bool nat_remembers(const nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (kind_remembers(l, k))
            return true;
    return false;
}

int32_t nat_n_memory(const nat_list *l)
{
    int32_t n = 0;
    for (int k = 0; k < NAT_N_KIND; k++)
        n += kind_remembers(l, k) ? kinds[k]->count(l->set[k]) : 0;
    return n;
}

/* The kind of device *i of those that remember; *i becomes its number in the kind. */
static int kind_of_memory(const nat_list *l, int32_t *i)
{
    int k = 0;
    while (!kind_remembers(l, k) || *i >= kinds[k]->count(l->set[k])) {
        *i -= kind_remembers(l, k) ? kinds[k]->count(l->set[k]) : 0;
        k++;
    }
    return k;
}

nat_memory nat_memory_of(const nat_list *l, int32_t i)
{
    const int k = kind_of_memory(l, &i);
    return kinds[k]->memory(l->set[k], i);
}

void nat_hold(nat_list *l, int32_t i, const nat_now *now)
{
    const int k = kind_of_memory(l, &i);
    kinds[k]->hold(l->set[k], i, now);
}

size_t nat_n_note(const nat_list *l)
{
    size_t n = 0;
    for (int k = 0; k < NAT_N_KIND; k++)
        n += kind_remembers(l, k) ? kinds[k]->n_note(l->set[k]) : 0;
    return n;
}

void nat_note(nat_list *l, double t, const double *x, double *to)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (kind_remembers(l, k)) {
            kinds[k]->note(l->set[k], t, x, to);
            to += kinds[k]->n_note(l->set[k]);
        }
}

bool nat_accepts(const nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->accept)
            return true;
    return false;
}

const char *nat_no_redo(const nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->no_redo)
            return kinds[k]->no_redo;
    return NULL;
}

static int32_t count_of(const nat_list *l, nat_kind_id id)
{
    return l->set[id] ? kinds[id]->count(l->set[id]) : 0;
}

static bool takes_part(const nat_list *l, int k, bool first)
{
    return l->set[k] && kinds[k]->first == first;
}

void nat_each(const nat_list *l, bool first, void (*take)(void *user, const nat_device *d),
              void *user)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        for (int32_t i = 0; takes_part(l, k, first) && kinds[k]->at && i < count_of(l, k); i++) {
            const nat_device d = kinds[k]->at(l->set[k], i);
            take(user, &d);
        }
}

/* -- pattern -- */

void nat_entries(const nat_list *l, bool reactive, csc_entry **e)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k])
            kinds[k]->entries(l->set[k], reactive, e);
}

void nat_joins(const nat_list *l, bool reactive, csc_entry **e)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k])
            (kinds[k]->joins ? kinds[k]->joins : kinds[k]->entries)(l->set[k], reactive, e);
}

void nat_place(nat_list *l, const csc *a, bool reactive)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k])
            kinds[k]->place(l->set[k], a, reactive);
}

void nat_charges(const nat_list *l, int32_t **row)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->charges)
            kinds[k]->charges(l->set[k], row);
}

/* -- loads -- */

void nat_load(nat_list *l, bool first, const nat_env *env, const double *x, nat_sums *to)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (takes_part(l, k, first))
            kinds[k]->load(l->set[k], env, x, to);
}

void nat_terms(nat_list *l, const nat_env *env, double *to)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->terms)
            kinds[k]->terms(l->set[k], env, to);
}

void nat_load_ac(nat_list *l, bool first, const nat_env *env, const double *x, nat_ac *to)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (takes_part(l, k, first))
            kinds[k]->load_ac(l->set[k], env, x, to);
}

void nat_curves(const nat_list *l, const double *x, nat_curve **to)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->curves)
            kinds[k]->curves(l->set[k], x, to);
}

void nat_at_omega(const nat_list *l, double omega, const csc *a, double *val)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->at_omega)
            kinds[k]->at_omega(l->set[k], omega, a, val);
}

void nat_by_omega(const nat_list *l, double omega, const csc *a, double *val)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->by_omega)
            kinds[k]->by_omega(l->set[k], omega, a, val);
}

void nat_drive(const nat_list *l, double *b)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->drive)
            kinds[k]->drive(l->set[k], b);
}

void nat_share(nat_list *l, bool first, const nat_env *env, const double *x, int32_t row,
               void (*take)(void *user, const char *name, double share), void *user)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        for (int32_t i = 0; takes_part(l, k, first) && kinds[k]->share && i < count_of(l, k); i++) {
            const double s = kinds[k]->share(l->set[k], env, x, i, row);
            if (!(s < 0))
                take(user, kinds[k]->at(l->set[k], i).name, s);
        }
}

/* -- operating points -- */

void nat_zero(nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->zero)
            kinds[k]->zero(l->set[k]);
}

vs_status nat_settle(nat_list *l, const double *x)
{
    vs_status st = VS_OK;
    for (int k = 0; k < NAT_N_KIND; k++) {
        const vs_status one =
            l->set[k] && kinds[k]->settle ? kinds[k]->settle(l->set[k], x) : VS_OK;
        if (one != VS_OK && st >= 0)
            st = one;
    }
    return st;
}

/* -- time -- */

vs_status nat_accept(nat_list *l, const nat_env *env, const double *x, bool corner)
{
    vs_status st = VS_OK;
    for (int k = 0; k < NAT_N_KIND; k++) {
        const vs_status one =
            l->set[k] && kinds[k]->accept ? kinds[k]->accept(l->set[k], env, x, corner) : VS_OK;
        if (one != VS_OK && st >= 0)
            st = one;
    }
    return st;
}

double nat_next_break(nat_list *l, double t)
{
    double best = INFINITY;
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->next_break)
            best = fmin(best, kinds[k]->next_break(l->set[k], t));
    return best;
}

void nat_reset(nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->reset)
            kinds[k]->reset(l->set[k]);
}

void nat_restore(nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->restore)
            kinds[k]->restore(l->set[k]);
}

void nat_fresh(nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->fresh)
            kinds[k]->fresh(l->set[k]);
}

void nat_uic(nat_list *l)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->uic)
            kinds[k]->uic(l->set[k]);
}

bool nat_leak(nat_list *l, double gmin)
{
    bool any = false;
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->leak)
            any |= kinds[k]->leak(l->set[k], gmin);
    return any;
}

void nat_image(nat_list *l, image *im)
{
    for (int k = 0; k < NAT_N_KIND; k++)
        if (l->set[k] && kinds[k]->image)
            kinds[k]->image(l->set[k], im);
}

void nat_carry(nat_list *l, image *im)
{
    static const char other[] =
        "transmission lines, delays, digital parts or devices of libraries would be others";
    for (int k = 0; k < NAT_N_KIND && !im->wrong; k++) {
        const int32_t n = count_of(l, (nat_kind_id)k);
        IMAGE_SAME(im, n, other);
        if (!n || k == NAT_SOURCE || !kinds[k]->image)
            continue;
        if (kinds[k]->identity)
            kinds[k]->identity(l->set[k], im);
        if (!im->wrong)
            kinds[k]->image(l->set[k], im);
        else
            im->wrong = other;
    }
}

void nat_identity(const nat_list *l, image *im)
{
    static const char other[] = "it is of a circuit with other sources, lines or libraries";
    for (int k = 0; k < NAT_N_KIND; k++) {
        const int32_t n = count_of(l, (nat_kind_id)k);
        IMAGE_SAME(im, n, other);
        if (n && kinds[k]->identity && !im->wrong)
            kinds[k]->identity(l->set[k], im);
    }
}
