/* ng_plot.c - plots and vectors: what ngGet_Vec_Info and the lists give, and what callbacks hear of
 * points. Vectors are listed the newest first, as ngspice does: the axis is the last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ng_priv.h"

static void list_free(ng_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->text[i]);
    free(l->text);
    *l = (ng_list){NULL, 0};
}

/* An empty list with room for n texts. */
static bool list_begin(ng_list *l, size_t n)
{
    list_free(l);
    l->text = calloc(n + 1, sizeof *l->text);
    return l->text;
}

static void list_add(ng_list *l, char *text)
{
    if (text)
        l->text[l->n++] = text;
}

/* -- lists -- */

char *ngSpice_CurPlot(void)
{
    ng_enter();
    free(ng.current_plot);
    const vsim_plot *p = ng.session ? vsim_session_current(ng.session) : NULL;
    ng.current_plot = strdup(p ? vsim_plot_id(p) : "const");
    ng_leave();
    return ng.current_plot;
}

char **ngSpice_AllPlots(void)
{
    ng_enter();
    const size_t n = ng.session ? vsim_session_plot_count(ng.session) : 0;
    if (list_begin(&ng.plots, n))
        for (size_t i = 0; i < n; i++)
            list_add(&ng.plots, strdup(vsim_plot_id(vsim_session_plot(ng.session, i))));
    ng_leave();
    return ng.plots.text;
}

char **ngSpice_AllVecs(char *plot)
{
    ng_enter();
    const vsim_plot *p = ng.session && plot ? vsim_session_find(ng.session, plot) : NULL;
    const size_t n = p ? vsim_plot_vector_count(p) : 0;
    vsim_vector v;
    if (list_begin(&ng.vectors, n))
        for (size_t i = n; i-- > 0;)
            if (vsim_plot_vector(p, i, &v))
                list_add(&ng.vectors, ng_name_of(v.name));
    ng_leave();
    return p ? ng.vectors.text : NULL;
}

/* -- one vector -- */

/* ngspice has the axis of complex vectors complex too. */
static bool is_complex_axis(const vsim_plot *p, const vsim_vector *v)
{
    vsim_vector axis, other;
    return !v->complex_values && vsim_plot_axis(p, &axis) && axis.v == v->v &&
           vsim_plot_vector(p, 1, &other) && other.complex_values;
}

static bool give_axis(const vsim_vector *v)
{
    free(ng.axis);
    ng.axis = malloc((v->n + 1) * sizeof *ng.axis);
    for (size_t i = 0; i < v->n && ng.axis; i++)
        ng.axis[i] = (ng_complex){v->v[i], 0};
    return ng.axis;
}

static ng_vector *give(const vsim_plot *p, const vsim_vector *v)
{
    const bool axis = is_complex_axis(p, v), complex = v->complex_values || axis;
    if (axis && !give_axis(v))
        return NULL;
    free(ng.vector.name);
    ng.vector = (ng_vector){.name = ng_name_of(v->name),
                            .type = ng_type_of(v->kind),
                            .flags = (short)((complex ? NG_COMPLEX : NG_REAL) | NG_PERMANENT),
                            .length = (int)v->n};
    /* clients only read: the interface is older than const */
    ng_complex *z;
    memcpy(&z, &v->v, sizeof z);
    if (complex)
        ng.vector.complex = axis ? ng.axis : z;
    else
        memcpy(&ng.vector.real, &v->v, sizeof ng.vector.real);
    return ng.vector.name ? &ng.vector : NULL;
}

/* Values inside devices, and constants. */
static ng_vector *give_number(const char *asked)
{
    const char *name = strncmp(asked, "const.", 6) ? asked : asked + 6;
    if (*asked != '@' && name == asked)
        return NULL;
    if (!vsim_session_number(ng.session, name, &ng.number))
        return NULL;
    free(ng.vector.name);
    ng.vector = (ng_vector){
        .name = strdup(name), .flags = NG_REAL | NG_PERMANENT, .real = &ng.number, .length = 1};
    return ng.vector.name ? &ng.vector : NULL;
}

/* "tran1.out": the plot and the name behind it; without a plot's name in front the current one. */
static const vsim_plot *plot_of(const char **name)
{
    const char *dot = strchr(*name, '.');
    char plot[100];
    if (dot && (size_t)(dot - *name) < sizeof plot) {
        snprintf(plot, sizeof plot, "%.*s", (int)(dot - *name), *name);
        const vsim_plot *p = vsim_session_find(ng.session, plot);
        if (p) {
            *name = dot + 1;
            return p;
        }
    }
    return vsim_session_current(ng.session);
}

ng_vector *ngGet_Vec_Info(char *asked)
{
    ng_vector *found = NULL;
    vsim_vector v;
    if (!asked || !ng.session)
        return NULL;
    ng_enter();
    const char *name = asked;
    const vsim_plot *p = plot_of(&name);
    char *own = ng_name_asked(name);
    const vsim_plot *constants = vsim_session_find(ng.session, "const");
    if (own && p && vsim_plot_find(p, own, &v))
        found = give(p, &v);
    else if (own && constants && vsim_plot_find(constants, own, &v))
        found = give(constants, &v);
    else if (!(found = give_number(asked)))
        ng_sayf("stderr", "Error: vector %s not found!", asked);
    free(own);
    ng_leave();
    return found;
}

/* -- events: none -- */

ng_events *ngGet_Evt_NodeInfo(char *node)
{
    (void)node;
    return NULL;
}

char **ngSpice_AllEvtNodes(void) { return NULL; }

/* -- points -- */

/* The temperature that parameters hold for, degrees Celsius. */
static double tnom_now(void)
{
    double tnom;
    const vsim_status st = vsim_get_option(vsim_session_deck(ng.session), "tnom", &tnom);
    return st ? 27 : tnom;
}

void ng_forget_values(void)
{
    for (int i = 0; i < ng.values.n; i++)
        free(ng.values.value[i]);
    free(ng.values.value);
    ng.values = (ng_values){0, 0, NULL};
    list_free(&ng.value_name);
}

/* Index in the plot of the k-th vector that callbacks see. */
static bool vector_at(const vsim_plot *p, int n, int k, vsim_vector *v)
{
    return vsim_plot_vector(p, (size_t)(n - 1 - k), v);
}

static bool make_values(const vsim_plot *p, int n)
{
    vsim_vector v, axis;
    const bool has_axis = vsim_plot_axis(p, &axis);
    ng_forget_values();
    ng.values.value = calloc((size_t)n + 1, sizeof *ng.values.value);
    bool good = ng.values.value && list_begin(&ng.value_name, (size_t)n);
    for (int k = 0; k < n && good; k++) {
        (void)vector_at(p, n, k, &v);
        char *name = ng_name_of(v.name);
        list_add(&ng.value_name, name);
        ng.values.value[k] = calloc(1, sizeof(ng_value));
        good = name && ng.values.value[k];
        if (!good)
            break;
        ng.values.n = k + 1;
        *ng.values.value[k] = (ng_value){.name = name,
                                         .is_scale = has_axis ? axis.v == v.v : k == n - 1,
                                         .is_complex = v.complex_values || is_complex_axis(p, &v)};
    }
    return good;
}

static void tell_columns(const vsim_plot *p, int n)
{
    ng_column *c = calloc((size_t)n + 1, sizeof *c);
    ng_column **list = calloc((size_t)n + 1, sizeof *list);
    char *head[] = {strdup(vsim_plot_name(p)), strdup(vsim_plot_title(p)),
                    strdup(vsim_plot_date(p)), strdup(vsim_plot_id(p))};
    for (int k = 0; k < n && c && list; k++) {
        c[k] = (ng_column){.number = k,
                           .name = ng.values.value[k]->name,
                           .is_real = !ng.values.value[k]->is_complex,
                           .vector = ng.values.value[k],
                           .scale = ng.values.value[n - 1]};
        list[k] = &c[k];
    }
    ng_columns all = {head[0], head[1], head[2], head[3], n, list};
    if (c && list && head[0] && head[1] && head[2] && head[3]) {
        const int depth = ng_out();
        (void)ng.init_data(&all, ng.ident, ng.user);
        ng_back(depth);
    }
    for (size_t i = 0; i < 4; i++)
        free(head[i]);
    free(c);
    free(list);
}

void ng_begin_plot(void *user, const vsim_plot *p)
{
    (void)user;
    vsim_vector v;
    const int n = (int)vsim_plot_vector_count(p);
    const vsim_deck *d = vsim_session_deck(ng.session);
    ng.last_percent = -1;
    if (d && vsim_plot_vector(p, 0, &v) && v.n <= 1) /* not again for a run that goes on */
        ng_sayf("stdout", "Doing analysis at TEMP = %f and TNOM = %f", vsim_get_temp(d),
                tnom_now());
    if (make_values(p, n) && ng.init_data)
        tell_columns(p, n);
}

void ng_end_plot(void *user, const vsim_plot *p, bool paused)
{
    (void)user;
    vsim_vector v;
    if (!p || !vsim_plot_vector(p, 0, &v))
        return;
    const bool tran = !strncmp(vsim_plot_id(p), "tran", 4);
    if (tran)
        ng_status("--ready--");
    if (tran && !paused)
        (void)vsim_session_break(ng.session, -1); /* those of one run, as in ngspice */
    if (!paused)
        ng_sayf("stdout", "No. of Data Rows : %zu", v.n);
}

void ng_take_point(void *user, const vsim_plot *p)
{
    (void)user;
    const int n = ng.values.n;
    vsim_vector v = {.n = 0};
    for (int k = 0; k < n && ng.data; k++) {
        ng_value *to = ng.values.value[k];
        if (!vector_at(p, n, k, &v) || !v.n)
            continue;
        const double *x = v.v + (v.n - 1) * (v.complex_values ? 2 : 1);
        to->re = x[0];
        to->im = v.complex_values ? x[1] : 0;
    }
    ng.values.index = (int)v.n - 1;
    if (n && ng.data) {
        const int depth = ng_out();
        (void)ng.data(&ng.values, n, ng.ident, ng.user);
        ng_back(depth);
    }
    ng_window();
}
