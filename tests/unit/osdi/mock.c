/* mock.c - an OSDI 0.4 library written by hand, for tests: module mock_diode(a, c), internal node
 * i. i = m is (exp(v(i,c) / vt) - 1), limited by pnjlim; r from a to i, or a and i are one if r =
 * 0; q = m cj v(i,c); shot noise 2 q i; operating-point variable gd. kind "open" conducts nothing,
 * "wild" has derivatives that do not fit its current, "leaky" carries up to 1 uA and beyond it by a
 * gmin of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osdi_abi.h"

typedef struct model {
    double is, r, cj;
    bool is_given, r_given, cj_given;
    char *kind;
} model;
typedef struct inst {
    uint32_t node[3];
    double *jac[9];
    double *react[4];
    bool collapsed[1];
    uint32_t state[1];
    double m, vt, bound;
    bool m_given;
    double i, gd, ir, gr, q, cap, lim_i, lim_q, v[3];
} inst;

enum { P_M, P_IS, P_R, P_CJ, P_KIND, P_GD };
enum { A, C, I };

uint32_t OSDI_VERSION_MAJOR = 0, OSDI_VERSION_MINOR = MOCK_MINOR, OSDI_NUM_DESCRIPTORS = 1;
uint32_t OSDI_DESCRIPTOR_SIZE = offsetof(osdi_abi_descriptor, noise_type);
uint32_t OSDI_LIM_TABLE_LEN = 1;
osdi_abi_limiter OSDI_LIM_TABLE[1] = {{MOCK_LIMITER, 2, NULL}};
void (*osdi_log)(void *handle, char *text, uint32_t level);

static void *access(void *vi, void *vm, uint32_t id, uint32_t flags)
{
    inst *in = vi;
    model *m = vm;
    const bool set = flags & OSDI_ACCESS_SET;
    switch (id) {
    case P_M:
        if (!in)
            return NULL;
        in->m_given |= set;
        return &in->m;
    case P_IS: m->is_given |= set; return &m->is;
    case P_R: m->r_given |= set; return &m->r;
    case P_CJ: m->cj_given |= set; return &m->cj;
    case P_KIND: return &m->kind;
    case P_GD: return &in->gd;
    default: return NULL;
    }
}

static void setup_model(void *handle, void *vm, osdi_abi_simparam *sim, osdi_abi_init *res)
{
    model *m = vm;
    (void)sim;
    if (!m->is_given)
        m->is = 1e-14;
    if (!m->r_given)
        m->r = 0;
    if (!m->cj_given)
        m->cj = 0;
    if (m->kind && !strcmp(m->kind, "loud"))
        osdi_log(handle, strdup("made loud\n"), OSDI_LOG_WARN);
    if (m->is <= 0) {
        res->n_error = 1;
        res->error = malloc(sizeof *res->error);
        res->error[0] = (osdi_abi_init_error){OSDI_INIT_OUT_OF_BOUNDS, P_IS};
    }
}

static void setup_inst(void *handle, void *vi, void *vm, double kelvin, uint32_t n_terminal,
                       osdi_abi_simparam *sim, osdi_abi_init *res)
{
    inst *in = vi;
    (void)handle, (void)sim, (void)res, (void)n_terminal;
    if (!in->m_given)
        in->m = 1;
    in->vt = kelvin / 11604.518;
    in->collapsed[0] = ((model *)vm)->r == 0;
    in->bound = 1e-3;
}

static uint32_t eval(void *handle, void *vi, void *vm, osdi_abi_info *info)
{
    inst *in = vi;
    const model *m = vm;
    uint32_t ret = 0;
    (void)handle;
    for (int k = 0; k < 3; k++)
        in->v[k] = info->prev_solve[in->node[k]];
    const double v = in->v[I] - in->v[C];
    double vl = v;
    if (info->flags & OSDI_ENABLE_LIM) {
        bool limited = false;
        double (*pnjlim)(bool, bool *, double, double, double, double) =
            (double (*)(bool, bool *, double, double, double, double))OSDI_LIM_TABLE[0].fn;
        vl = pnjlim((info->flags & OSDI_INIT_LIM) != 0, &limited, v, info->prev_state[in->state[0]],
                    in->vt, in->vt * log(in->vt / (1.4142135623730951 * m->is)));
        ret = limited ? OSDI_RET_LIM : 0;
    }
    info->next_state[in->state[0]] = vl;
    in->i = in->m * m->is * (exp(vl / in->vt) - 1);
    in->gd = in->m * m->is * exp(vl / in->vt) / in->vt;
    if (m->kind && !strcmp(m->kind, "open"))
        in->i = in->gd = 0;
    if (m->kind && !strcmp(m->kind, "wild")) { /* up to 1 mA; beyond 1e11 V its conductance lies */
        in->i = 1e-3 * v / (1 + fabs(v));
        in->gd = fabs(v) > 1e11 ? 1e-3 : v == 0 ? 1e-15 : 1e-3 / ((1 + fabs(v)) * (1 + fabs(v)));
        vl = v;
        ret = 0;
        info->next_state[in->state[0]] = v;
    }
    if (m->kind && !strcmp(m->kind, "leaky")) {
        in->i = 1e-6 * v / (1 + fabs(v)) + 1e-12 * v;
        in->gd = 1e-6 / ((1 + fabs(v)) * (1 + fabs(v))) + 1e-12;
        vl = v;
        ret = 0;
        info->next_state[in->state[0]] = v;
    }
    in->gr = m->r > 0 ? in->m / m->r : 0;
    in->ir = in->gr * (in->v[A] - in->v[I]);
    in->cap = in->m * m->cj;
    in->q = in->cap * vl;
    in->lim_i = in->gd * (vl - v);
    in->lim_q = in->cap * (vl - v);
    return ret;
}

static void load_noise(void *vi, void *vm, double f, double *d)
{
    (void)vm, (void)f;
    d[0] = 2 * 1.602176634e-19 * fabs(((inst *)vi)->i);
}

static void residual_resist(void *vi, void *vm, double *dst)
{
    const inst *in = vi;
    (void)vm;
    dst[in->node[A]] += in->ir;
    dst[in->node[I]] += in->i - in->ir;
    dst[in->node[C]] -= in->i;
}

static void pair(const inst *in, double v, double *dst)
{
    dst[in->node[I]] += v;
    dst[in->node[C]] -= v;
}

static void residual_react(void *vi, void *vm, double *dst)
{
    (void)vm;
    pair(vi, ((inst *)vi)->q, dst);
}
static void limit_resist(void *vi, void *vm, double *dst)
{
    (void)vm;
    pair(vi, ((inst *)vi)->lim_i, dst);
}
static void limit_react(void *vi, void *vm, double *dst)
{
    (void)vm;
    pair(vi, ((inst *)vi)->lim_q, dst);
}

static osdi_abi_jacobian jacobian[] = {
    {{I, I}, offsetof(inst, react[0]), OSDI_JAC_RESIST | OSDI_JAC_REACT},
    {{I, C}, offsetof(inst, react[1]), OSDI_JAC_RESIST | OSDI_JAC_REACT},
    {{C, I}, offsetof(inst, react[2]), OSDI_JAC_RESIST | OSDI_JAC_REACT},
    {{C, C}, offsetof(inst, react[3]), OSDI_JAC_RESIST | OSDI_JAC_REACT},
    {{A, A}, UINT32_MAX, OSDI_JAC_RESIST},
    {{A, I}, UINT32_MAX, OSDI_JAC_RESIST},
    {{I, A}, UINT32_MAX, OSDI_JAC_RESIST},
    {{I, I}, UINT32_MAX, OSDI_JAC_RESIST},
};

static void add(const inst *in, double g, double scale_r)
{
    for (int k = 0; k < 4; k++)
        *in->jac[k] += k == 0 || k == 3 ? g : -g;
    for (int k = 4; k < 8; k++)
        *in->jac[k] += (k == 4 || k == 7 ? 1 : -1) * scale_r * in->gr;
}

static void jacobian_resist(void *vi, void *vm)
{
    (void)vm;
    add(vi, ((inst *)vi)->gd, 1);
}
static void jacobian_tran(void *vi, void *vm, double alpha)
{
    (void)vm;
    add(vi, ((inst *)vi)->gd + alpha * ((inst *)vi)->cap, 1);
}
static void jacobian_react(void *vi, void *vm, double alpha)
{
    const inst *in = vi;
    (void)vm;
    for (int k = 0; k < 4; k++)
        *in->react[k] += (k == 0 || k == 3 ? 1 : -1) * alpha * in->cap;
}

static osdi_abi_node nodes[] = {
    {"A", "V", "A", 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, false},
    {"C", "V", "A", 0, 0, 0, 0, false},
    {"I", "V", "A", 0, 0, 0, 0, false},
};
static osdi_abi_pair collapsible[] = {{I, A}};
static osdi_abi_noise noise[] = {{"shot", {I, C}}};
static char *n_m[] = {"$mfactor"}, *n_is[] = {"IS", "js"}, *n_r[] = {"r"}, *n_cj[] = {"cj"},
            *n_kind[] = {"kind"}, *n_gd[] = {"gd"};
static osdi_abi_param params[] = {
    {n_m, 0, "multiplicity", "", OSDI_TYPE_REAL | OSDI_KIND_INST, 0},
    {n_is, 1, "saturation current", "A", OSDI_TYPE_REAL | OSDI_KIND_MODEL, 0},
    {n_r, 0, "series resistance", "ohm", OSDI_TYPE_REAL | OSDI_KIND_MODEL, 0},
    {n_cj, 0, "capacitance", "F", OSDI_TYPE_REAL | OSDI_KIND_MODEL, 0},
    {n_kind, 0, "a word", "", OSDI_TYPE_STRING | OSDI_KIND_MODEL, 0},
    {n_gd, 0, "conductance", "S", OSDI_TYPE_REAL | OSDI_KIND_OPVAR, 0},
};

osdi_abi_descriptor OSDI_DESCRIPTORS[1] = {{
    .name = "mock_diode",
    .n_node = 3,
    .n_terminal = 2,
    .node = nodes,
    .n_jacobian = 8,
    .jacobian = jacobian,
    .n_collapsible = 1,
    .collapsible = collapsible,
    .collapsed_off = offsetof(inst, collapsed),
    .noise = noise,
    .n_noise = 1,
    .n_param = 5,
    .n_inst_param = 1,
    .n_opvar = 1,
    .param = params,
    .node_map_off = offsetof(inst, node),
    .jac_ptr_off = offsetof(inst, jac),
    .n_state = 1,
    .state_off = offsetof(inst, state),
    .bound_step_off = offsetof(inst, bound),
    .inst_size = sizeof(inst),
    .model_size = sizeof(model),
    .access = access,
    .setup_model = setup_model,
    .setup_inst = setup_inst,
    .eval = eval,
    .load_noise = load_noise,
    .load_residual_resist = residual_resist,
    .load_residual_react = residual_react,
    .load_limit_resist = limit_resist,
    .load_limit_react = limit_react,
    .load_jacobian_resist = jacobian_resist,
    .load_jacobian_react = jacobian_react,
    .load_jacobian_tran = jacobian_tran,
}};
