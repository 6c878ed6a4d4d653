/* ctl_event.c - eprint, edisplay, eprvcd: what digital nodes did in the last analysis, at the times
 * of their events; esave: of which nodes these three tell.
 * Source: ngspice manual, sections on these commands; IEEE Std 1364-2005, clause 18 (VCD). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_priv.h"
#include "evt.h"

/* The digital part of the circuit, NULL after a message. */
static evt *digital_of(ctl *c, const char *command)
{
    ckt *k = c->none ? NULL : sim_ckt(c->s);
    evt *e = k ? ckt_digital(k, false) : NULL;
    if (!e)
        (void)ctl_fail(c,
                       k ? "%s: the circuit has no digital nodes"
                         : "%s: there are no digital data; run an analysis first",
                       command);
    return e;
}

static int32_t find_node(const evt *e, const char *name)
{
    char lower[600];
    size_t n = strlen(name);
    if (n > 3 && !str_ncasecmp(name, "v(", 2) && name[n - 1] == ')') {
        name += 2;
        n -= 3;
    }
    if (n >= sizeof lower)
        return -1;
    for (size_t i = 0; i < n; i++)
        lower[i] = str_lower_char(name[i]);
    lower[n] = 0;
    return evt_find_node(e, lower);
}

static vs_status no_such_node(ctl *c, const evt *e, const char *command, const char *name)
{
    const char **cand = NULL;
    for (int32_t i = 0; i < evt_n_node(e); i++)
        vec_push(cand, evt_node_name(e, i));
    const vs_status st = ctl_fail(c, "%s: '%s' is no digital node", command, name);
    diag_suggest(c->d, name, cand, vec_len(cand));
    vec_free(cand);
    return st;
}

static void say_dropped(ctl *c, const evt *e)
{
    if (evt_dropped(e) > 0)
        diag_warning(c->d, c->at, "events before %.9g s are not in the record, which was too long",
                     evt_dropped(e));
}

/* The nodes of the words [n], vec; NULL after a message. */
static int32_t *find_nodes(ctl *c, const evt *e, char **w, const char *command)
{
    int32_t *node = NULL;
    for (size_t i = 0; i < vec_len(w); i++) {
        const int32_t k = find_node(e, w[i]);
        if (k < 0) {
            (void)no_such_node(c, e, command, w[i]);
            vec_free(node);
            return NULL;
        }
        vec_push(node, k);
    }
    return node;
}

/* -- esave -- */

/* Events of all nodes are recorded, since results need them: esave chooses what is shown. */
static bool is_kept(const ctl *c, const char *name)
{
    for (size_t i = 0; i < vec_len(c->esave); i++)
        if (!strcmp(c->esave[i], name))
            return true;
    return !c->esaves;
}

static vs_status not_kept(ctl *c, const char *command, const char *name)
{
    return ctl_fail(c, "%s: events of '%s' are not kept: esave chose others", command, name);
}

/* esave all | none | node ... */
vs_status ctl_esave(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    const bool alone = vec_len(w) == 1;
    if (!vec_len(w)) {
        vec_free(w);
        return ctl_fail(c, "esave takes all, none, or names of digital nodes");
    }
    const bool all = alone && !str_casecmp(w[0], "all"), none = alone && !str_casecmp(w[0], "none");
    const bool builds = !all && !none && !c->none && !sim_ckt(c->s);
    const bool ready = !builds || sim_build(c->s) >= 0;
    evt *e = all || none || !ready ? NULL : digital_of(c, "esave");
    int32_t *node = e ? find_nodes(c, e, w, "esave") : NULL;
    const vs_status st = all || none || node ? VS_OK : VS_EINPUT;
    if (st == VS_OK) {
        vec_clear(c->esave);
        c->esaves = !all;
        for (size_t i = 0; i < vec_len(node); i++) {
            const char *name = evt_node_name(e, node[i]);
            vec_push(c->esave, str_intern(c->names, name, strlen(name)));
        }
    }
    vec_free(node);
    vec_free(w);
    return st;
}

/* -- eprint -- */

static void print_row(ctl *c, const evt *e, double t, int digits, const int32_t *node,
                      const double *now)
{
    fprintf(c->out, "%.*e", digits, t);
    for (size_t i = 0; i < vec_len(node); i++)
        if (evt_node_kind(e, node[i]) == EVT_NUMBER)
            fprintf(c->out, "    %15.6e", now[node[i]]);
        else
            fprintf(c->out, "    %s", evt_text((evt_value)now[node[i]]));
    fputc('\n', c->out);
}

static void print_rows(ctl *c, const evt *e, int digits, const int32_t *node)
{
    const int32_t n_node = evt_n_node(e);
    size_t n;
    const evt_change *r = evt_record(e, &n);
    double *now = arena_array(&c->scratch, double, n_node);
    bool *wanted = arena_array(&c->scratch, bool, n_node), any = false;
    memcpy(now, evt_initial(e), (size_t)n_node * sizeof *now);
    memset(wanted, 0, (size_t)n_node * sizeof *wanted);
    for (size_t i = 0; i < vec_len(node); i++)
        wanted[node[i]] = true;
    print_row(c, e, 0, digits, node, now);
    for (size_t i = 0; i < n; i++) {
        now[r[i].node] = r[i].value;
        any |= wanted[r[i].node];
        if (any && (i + 1 == n || r[i + 1].t != r[i].t)) {
            print_row(c, e, r[i].t, digits, node, now);
            any = false;
        }
    }
}

/* eprint node ... */
vs_status ctl_eprint(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    evt *e = vec_len(w) ? digital_of(c, "eprint") : NULL;
    int32_t *node = e ? find_nodes(c, e, w, "eprint") : NULL;
    int digits = 0;
    bool kept = node && ctl_whole_value(c, "numdgt", 9, 1, 17, &digits);
    for (size_t i = 0; i < vec_len(node) && kept; i++)
        if (!(kept = is_kept(c, evt_node_name(e, node[i]))))
            (void)not_kept(c, "eprint", w[i]);
    if (kept) {
        fputs("\n**** Results Data ****\n\nTime or Step\n", c->out);
        for (size_t i = 0; i < vec_len(w); i++)
            fprintf(c->out, "%s\n", w[i]);
        fputs("\n\n", c->out);
        print_rows(c, e, digits, node);
        fputs("\n\n", c->out);
        say_dropped(c, e);
    }
    const vs_status st = kept         ? VS_OK
                         : vec_len(w) ? VS_EINPUT
                                      : ctl_fail(c, "eprint takes the names of digital nodes");
    vec_free(node);
    vec_free(w);
    return st;
}

/* edisplay */
vs_status ctl_edisplay(ctl *c, const char *text)
{
    evt *e = digital_of(c, "edisplay");
    size_t n;
    (void)text;
    if (!e)
        return VS_EINPUT;
    const evt_change *r = evt_record(e, &n);
    int64_t *count = arena_array(&c->scratch, int64_t, evt_n_node(e));
    for (int32_t i = 0; i < evt_n_node(e); i++)
        count[i] = 1; /* the value at time 0 */
    for (size_t i = 0; i < n; i++)
        count[r[i].node]++;
    const post_plot *p = sim_plots(c->s)->current;
    fprintf(c->out, "\nList of event nodes in plot %s\n    %-20s: %-5s, %s\n\n", p->name,
            "node name", "type", "number of events");
    for (int32_t i = 0; i < evt_n_node(e); i++)
        if (is_kept(c, evt_node_name(e, i)))
            fprintf(c->out, "    %-20s: %-5s, %5lld\n", evt_node_name(e, i),
                    evt_node_kind(e, i) == EVT_NUMBER ? "real" : "d", (long long)count[i]);
    say_dropped(c, e);
    return VS_OK;
}

/* -- eprvcd -- */

typedef struct signal { /* of a VCD file */
    const char *name;
    int32_t node;    /* -1: a vector of the plot */
    const double *v; /* [n] over */
    const double *t; /* [n] */
    int64_t n, at;   /* at: the last point before the time under way */
    double now;      /* as written last: of a node its value, else the vector's */
} signal;
typedef struct vcd {
    ctl *c;
    const evt *e;
    signal *s; /* vec */
    double unit;
    int power; /* of ten times 1 fs */
    bool all;
} vcd;

static const char *id_of(char buf[8], size_t k)
{
    int n = 0;
    do
        buf[n++] = (char)('!' + k % 94);
    while ((k /= 94) && n < 7);
    buf[n] = 0;
    return buf;
}

static char bit_of(evt_value v)
{
    static const char bit[EVT_N_VALUE + 1] = "01x01xzzz01x";
    return bit[v];
}

static bool is_digital(const vcd *x, const signal *s)
{
    return s->node >= 0 && evt_node_kind(x->e, s->node) == EVT_DIGITAL;
}

static void put_signal(const vcd *x, size_t i)
{
    char id[8];
    if (is_digital(x, &x->s[i]))
        fprintf(x->c->out, "%c%s\n", bit_of((evt_value)x->s[i].now), id_of(id, i));
    else
        fprintf(x->c->out, "r%.16g %s\n", x->s[i].now, id_of(id, i));
}

/* The value of a vector at a time, times rising from call to call. */
static double real_at(signal *s, double t)
{
    while (s->at + 1 < s->n && s->t[s->at + 1] <= t)
        s->at++;
    if (s->at + 1 >= s->n || t <= s->t[s->at])
        return s->v[s->at];
    const double part = (t - s->t[s->at]) / (s->t[s->at + 1] - s->t[s->at]);
    return s->v[s->at] + part * (s->v[s->at + 1] - s->v[s->at]);
}

static void put_header(const vcd *x)
{
    static const char *const unit[] = {"fs", "ps", "ns", "us", "ms", "s"};
    char id[8];
    fprintf(x->c->out, "$version vsim $end\n$timescale %d %s $end\n",
            x->power % 3 == 0   ? 1
            : x->power % 3 == 1 ? 10
                                : 100,
            unit[x->power / 3]);
    for (size_t i = 0; i < vec_len(x->s); i++)
        fprintf(x->c->out, "$var %s 1 %s %s $end\n", is_digital(x, &x->s[i]) ? "wire" : "real",
                id_of(id, i), x->s[i].name);
    fputs("$enddefinitions $end\n#0\n$dumpvars\n", x->c->out);
    for (size_t i = 0; i < vec_len(x->s); i++)
        put_signal(x, i);
    fputs("$end\n", x->c->out);
}

/* What differs from what was written goes to the file under the time t. */
static void put_time(vcd *x, double t, const double *now)
{
    bool any = false;
    for (size_t i = 0; i < vec_len(x->s); i++) {
        signal *s = &x->s[i];
        const double to = s->node >= 0 ? now[s->node] : real_at(s, t);
        if (is_digital(x, s) ? bit_of((evt_value)to) == bit_of((evt_value)s->now) : to == s->now)
            continue;
        if (!any)
            fprintf(x->c->out, "#%lld\n", llround(t / x->unit));
        any = true;
        s->now = to;
        put_signal(x, i);
    }
}

static void put_changes(vcd *x)
{
    size_t n, k = 0;
    const evt_change *r = evt_record(x->e, &n);
    const int32_t n_node = evt_n_node(x->e);
    double *now = arena_array(&x->c->scratch, double, n_node);
    const signal *axis = NULL;
    memcpy(now, evt_initial(x->e), (size_t)n_node * sizeof *now);
    for (size_t i = 0; i < vec_len(x->s) && x->all && !axis; i++)
        axis = x->s[i].node < 0 ? &x->s[i] : NULL;
    int64_t point = 0;
    while (k < n || (axis && point < axis->n)) {
        const double event = k < n ? r[k].t : INFINITY,
                     t = axis && point < axis->n ? fmin(axis->t[point], event) : event;
        for (; k < n && r[k].t == t; k++)
            now[r[k].node] = r[k].value;
        while (axis && point < axis->n && axis->t[point] <= t)
            point++;
        put_time(x, t, now);
    }
}

/* A word that is no digital node is a vector over time. */
static vs_status add_signal(vcd *x, const char *name)
{
    signal s = {.name = name, .node = find_node(x->e, name)};
    if (s.node >= 0 && !is_kept(x->c, evt_node_name(x->e, s.node)))
        return not_kept(x->c, "eprvcd", name);
    if (s.node >= 0) {
        s.now = evt_initial(x->e)[s.node];
        vec_push(x->s, s);
        return VS_OK;
    }
    post_val *v = NULL;
    const diag_mark before = diag_try(x->c->d);
    const bool ok = ctl_values(x->c, name, &v) && vec_len(v) == 1 && !v[0].complex && v[0].plot &&
                    v[0].plot->scale && !v[0].plot->scale->complex && v[0].n &&
                    v[0].n == v[0].plot->scale->n;
    if (ok) {
        s.v = v[0].v;
        s.t = v[0].plot->scale->v;
        s.n = v[0].n;
        s.now = s.v[0];
        vec_push(x->s, s);
    } else {
        diag_take_back(x->c->d, before);
    }
    vec_free(v);
    return ok ? VS_OK : no_such_node(x->c, x->e, "eprvcd", name);
}

/* The unit that -t gives, or that the step of the transient suggests. */
static int power_of(double step, bool given)
{
    const double s = given ? step : step * 1e-3;
    const int power = (int)floor(log10(s / 1e-15) + 1e-9);
    return power < 0           ? 0
           : given             ? (power < 17 ? power : 17)
           : power / 3 * 3 < 9 ? power / 3 * 3
                               : 9;
}

/* eprvcd [-a] [-t step] name ... */
vs_status ctl_eprvcd(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    size_t i = 0;
    double step = c->tran[0] > 0 ? c->tran[0] : 1e-9;
    bool given = false;
    vcd x = {.c = c};
    for (; i < vec_len(w) && w[i][0] == '-'; i++) {
        const char *end = "";
        if (!strcmp(w[i], "-a"))
            x.all = true;
        else if (!strcmp(w[i], "-t") && i + 1 < vec_len(w) &&
                 str_spice_number(w[i + 1], &end, &step) && step > 0) {
            given = true;
            i++;
        } else {
            break;
        }
    }
    vs_status st = i < vec_len(w)
                       ? VS_OK
                       : ctl_fail(c, "eprvcd takes [-a] [-t step] and the names of digital nodes");
    x.e = st == VS_OK ? digital_of(c, "eprvcd") : NULL;
    st = x.e ? VS_OK : VS_EINPUT;
    for (; i < vec_len(w) && st == VS_OK; i++)
        st = add_signal(&x, w[i]);
    if (st == VS_OK) {
        x.power = power_of(step, given);
        x.unit = 1e-15 * pow(10, x.power);
        put_header(&x);
        put_changes(&x);
        say_dropped(c, x.e);
    }
    vec_free(x.s);
    vec_free(w);
    return st;
}
