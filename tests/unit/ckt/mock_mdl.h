/* mock_mdl.h - hand-built models behind the interface of mdl.h, so that the tests of src/ckt and
 * src/dev see known numbers. Include once per test program. */
#ifndef MOCK_MDL_H
#define MOCK_MDL_H

#include <math.h>
#include <string.h>

#include "mdl_compare.h"

enum { MOCK_MAX_U = 4, MOCK_MAX_OUT = 32, MOCK_MAX_ROW = 8 };

typedef void (*mock_eval)(const double *cache, const double *dyn, const double *u,
                          const double *state, const double *limold, double *out, double *state_new,
                          double *limnew);
struct mdl_model {
    va_module mod;
    double param[MOCK_MAX_ROW]; /* row -> its one setup value */
    int32_t topology[MOCK_MAX_ROW][MOCK_MAX_U];
    mdl_variant variant[MDL_N_FORM];
    mdl_out out[MDL_N_FORM][MOCK_MAX_OUT];
    mock_eval eval[MDL_N_FORM];
    int n_setup;
};

static void mock_unknown(mdl_model *m, const char *name, va_unknown_kind kind, const char *unit)
{
    vec_push(m->mod.unknown,
             (va_unknown){.name = name, .kind = kind, .unit = unit, .discipline = "electrical"});
    m->mod.n_port += kind == VA_PORT;
    const int u = (int)vec_len(m->mod.unknown) - 1;
    for (int r = 0; r < MOCK_MAX_ROW; r++)
        m->topology[r][u] = u;
}

static int32_t mock_lanes = 1;

static void mock_out(mdl_model *m, mdl_form_kind f, ir_out_kind kind, int32_t a, int32_t b)
{
    mdl_variant *v = &m->variant[f];
    v->model = m;
    v->form = f;
    v->out = m->out[f];
    m->out[f][v->lay.n_out++] = (mdl_out){.kind = (uint8_t)kind, .a = a, .b = b};
    v->lay.n_u = (int32_t)vec_len(m->mod.unknown);
    v->lay.n_cache = 1;
    v->lay.lanes = mock_lanes;
}

static void mock_fini(mdl_model *m)
{
    vec_free(m->mod.unknown);
    vec_free(m->mod.branch);
    vec_free(m->mod.probe);
    vec_free(m->mod.lim_probe);
}

const va_module *mdl_module(const mdl_model *m) { return &m->mod; }
int32_t mdl_n_unknown(const mdl_model *m) { return (int32_t)vec_len(m->mod.unknown); }
const va_unknown *mdl_unknown(const mdl_model *m, int32_t u) { return &m->mod.unknown[u]; }
const int32_t *mdl_row_topology(mdl_model *m, int32_t row) { return m->topology[row]; }
void mdl_row_release(mdl_model *m, int32_t row) { (void)m, (void)row; }
int32_t mdl_n_row(const mdl_model *m) { return (void)m, MOCK_MAX_ROW; }

double mdl_row_param(const mdl_model *m, int32_t row, int32_t param)
{
    return (void)m, (void)row, (double)param;
}
vs_status mdl_point(mdl_model *m, int32_t row, int32_t param, double param_value, const mdl_at *at,
                    double **value, mdl_out **what)
{
    (void)m, (void)row, (void)param, (void)param_value, (void)at, (void)value, (void)what;
    return VS_OK; /* no outputs: the mock devices have no details */
}

vs_status mdl_curves(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t i,
                     mdl_curve **to)
{
    (void)v, (void)row_per_lane, (void)b, (void)i, (void)to;
    return VS_OK; /* the mock devices are linear */
}

vs_status mdl_variant_get(mdl_model *m, int32_t row, mdl_form_kind form, mdl_variant **v)
{
    (void)row;
    *v = &m->variant[form];
    m->variant[form].model = m;
    m->variant[form].form = form;
    m->variant[form].out = m->out[form];
    m->variant[form].lay.n_u = mdl_n_unknown(m);
    m->variant[form].lay.n_cache = 1;
    m->variant[form].lay.lanes = mock_lanes;
    return VS_OK;
}

vs_status mdl_variant_meet(mdl_model *m, const int32_t *row, size_t n, mdl_form_kind form,
                           mdl_variant **v)
{
    (void)m, (void)row, (void)n, (void)form;
    *v = NULL;
    return VS_OK;
}

vs_status mdl_plan_get(mdl_model *m, int32_t row, mdl_form_kind form, mdl_variant **v)
{
    return mdl_variant_get(m, row, form, v);
}

vs_status mdl_plan_meet(mdl_model *m, const int32_t *row, size_t n, mdl_form_kind form,
                        mdl_variant **v)
{
    return mdl_variant_meet(m, row, n, form, v);
}

size_t mdl_variant_values(const mdl_variant *v) { return vec_len(v->eval.inst); }
void mdl_variant_use(mdl_variant *v) { (void)v; }

void mdl_setup(const mdl_variant *v, int32_t row, double *cache)
{
    cache[0] = v->model->param[row];
    ((mdl_model *)(uintptr_t)v->model)->n_setup++;
}

void mdl_largest_group(const mdl_model *m, int32_t n) { (void)m, (void)n; }
void mdl_want(mdl_variant *v, bool row_per_lane) { (void)v, (void)row_per_lane; }
void mdl_compile_wanted(const mdl_model *m) { (void)m; }

/* The n values of lane l of a pack, to or from a row of their own. */
static void mock_lane(double *row, double *packs, int64_t p, int32_t n, int32_t w, int32_t l,
                      bool back)
{
    for (int32_t k = 0; packs && k < n; k++) {
        double *at = &packs[(p * n + k) * w + l];
        if (back)
            *at = row[k];
        else
            row[k] = *at;
    }
}

bool mdl_compare_wanted(const mdl_model *m)
{
    (void)m;
    return false;
}

void mdl_compare_batch(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t begin,
                       int64_t end, const int32_t *which, mdl_who_fn *who, const void *user)
{
    (void)v, (void)row_per_lane, (void)b, (void)begin, (void)end, (void)which, (void)who;
    (void)user;
    ck_abort_msg("nobody asked for a comparison");
}

vs_status mdl_eval(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t begin,
                   int64_t end)
{
    const jit_layout *l = &v->lay;
    const int32_t w = l->lanes;
    for (int64_t i = begin * w; i < end * w; i++) {
        const int64_t p = i / w;
        const int32_t lane = (int32_t)(i % w);
        double u[MOCK_MAX_U], cache[4], state[4] = {0}, lim[4] = {0}, state_new[4] = {0},
                                        limnew[4] = {0};
        double out[MOCK_MAX_OUT] = {0};
        for (int32_t k = 0; k < l->n_u; k++)
            u[k] = b->x[b->map[(p * l->n_u + k) * w + lane]];
        mock_lane(state, (double *)(uintptr_t)b->state, p, l->n_state, w, lane, false);
        mock_lane(lim, (double *)(uintptr_t)b->limold, p, l->n_lim, w, lane, false);
        if (row_per_lane)
            mock_lane(cache, (double *)(uintptr_t)b->cache, p, l->n_cache, w, lane, false);
        else
            memcpy(cache, &b->cache[b->row_of[p] * l->n_cache], (size_t)l->n_cache * sizeof *cache);
        if (v->model->eval[v->form])
            v->model->eval[v->form](cache, b->dyn, u, state, lim, out, state_new, limnew);
        mock_lane(out, b->out, p, l->n_out, w, lane, true);
        mock_lane(state_new, b->state_new, p, l->n_state, w, lane, true);
        mock_lane(limnew, b->limnew, p, l->n_lim, w, lane, true);
    }
    return VS_OK;
}

static int mock_what;
bool mdl_flagged(const mdl_variant *v, bool row_per_lane, const jit_batch *b, double *flag)
{
    (void)v, (void)row_per_lane, (void)b, (void)flag;
    return false;
}

vs_status mdl_effects(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t i,
                      const char *who, void (*line)(void *user, ir_eff_kind kind, const char *text),
                      void *user, int *what)
{
    char text[128];
    snprintf(text, sizeof text, "%s at %g", who, b->x[b->map[i]]); /* unknown 0 */
    (void)v, (void)row_per_lane;
    line(user, IR_EFF_STROBE, text);
    *what = mock_what;
    return VS_OK;
}

/* -- resistor: i = g v -- */

static void mock_eval_g(const double *c, const double *dyn, const double *u, const double *state,
                        const double *limold, double *out, double *state_new, double *limnew)
{
    (void)dyn, (void)state, (void)limold, (void)state_new, (void)limnew;
    const double i = c[0] * (u[0] - u[1]);
    const double o[] = {i, -i, c[0], -c[0], -c[0], c[0]};
    memcpy(out, o, sizeof o);
}

static void mock_two_ports(mdl_model *m, const char *name)
{
    *m = (mdl_model){.mod.name = name};
    mock_unknown(m, "p", VA_PORT, "V");
    mock_unknown(m, "n", VA_PORT, "V");
}

static void mock_pair(mdl_model *m, mdl_form_kind f, ir_out_kind res, ir_out_kind jac)
{
    mock_out(m, f, res, 0, 0);
    mock_out(m, f, res, 1, 0);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            mock_out(m, f, jac, a, b);
}

__attribute__((unused)) static void mock_resistor(mdl_model *m)
{
    mock_two_ports(m, "resistor");
    mock_pair(m, MDL_DC, IR_OUT_RES, IR_OUT_G);
    mock_pair(m, MDL_TRAN, IR_OUT_RES, IR_OUT_J);
    m->eval[MDL_DC] = m->eval[MDL_TRAN] = mock_eval_g;
}

/* -- capacitor: q = c v -- */

static void mock_eval_c(const double *c, const double *dyn, const double *u, const double *state,
                        const double *limold, double *out, double *state_new, double *limnew)
{
    (void)state, (void)limold, (void)state_new, (void)limnew;
    const double q = c[0] * (u[0] - u[1]), j = c[0] * dyn[IR_DYN_ALPHA];
    const double o[] = {q, -q, j, -j, -j, j};
    memcpy(out, o, sizeof o);
}

__attribute__((unused)) static void mock_capacitor(mdl_model *m)
{
    mock_two_ports(m, "capacitor");
    mock_pair(m, MDL_TRAN, IR_OUT_REACT, IR_OUT_J);
    m->eval[MDL_TRAN] = mock_eval_c;
}

/* -- inductor: branch current k, v - d(l k)/dt = 0 -- */

static void mock_eval_l(const double *c, const double *dyn, const double *u, const double *state,
                        const double *limold, double *out, double *state_new, double *limnew)
{
    (void)state, (void)limold, (void)state_new, (void)limnew;
    const double o[] = {
        u[2], -u[2], u[0] - u[1], 1, -1, 1, -1, -c[0] * u[2], -c[0] * dyn[IR_DYN_ALPHA]};
    memcpy(out, o, (dyn[IR_DYN_ALPHA] > 0 ? 9 : 7) * sizeof *o);
}

__attribute__((unused)) static void mock_inductor(mdl_model *m)
{
    mock_two_ports(m, "inductor");
    mock_unknown(m, "flow(coil)", VA_CURRENT, "A");
    vec_push(m->mod.branch, (va_branch){"coil", 0, 1, 2});
    for (int f = MDL_DC; f <= MDL_TRAN; f++) {
        const ir_out_kind jac = f == MDL_DC ? IR_OUT_G : IR_OUT_J;
        for (int r = 0; r < 3; r++)
            mock_out(m, f, IR_OUT_RES, r, 0);
        mock_out(m, f, jac, 0, 2);
        mock_out(m, f, jac, 1, 2);
        mock_out(m, f, jac, 2, 0);
        mock_out(m, f, jac, 2, 1);
        m->eval[f] = mock_eval_l;
    }
    mock_out(m, MDL_TRAN, IR_OUT_REACT, 2, 0);
    mock_out(m, MDL_TRAN, IR_OUT_J, 2, 2);
}

#endif
