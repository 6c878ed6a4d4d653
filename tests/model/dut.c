#include "dut.h"
#include "../unit/text.h"

#include <check.h>
#include <complex.h>
#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *source_path(char buf[512], const char *relative)
{
    const char *root = getenv("VSIM_SOURCE_ROOT");
    snprintf(buf, 512, "%s/%s", root ? root : ".", relative);
    return buf;
}

bool dut_kit(char folder[512])
{
    char pattern[600];
    const char *peers = getenv("VSIM_PEERS");
    glob_t g;
    *folder = 0;
    snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/ihp/models/ngspice/va",
             peers ? peers : "build/peers");
    if (glob(pattern, 0, NULL, &g) == 0)
        snprintf(folder, 512, "%s", g.gl_pathv[0]);
    globfree(&g);
    return *folder != 0;
}

static void fail_with_messages(dut *t, const char *what)
{
    diag_render(&t->d, stderr, false);
    ck_abort_msg("%s", what);
}

void dut_open(dut *t, bool interpret, bool no_specialize)
{
    static char models[512];
    *t = (dut){0};
    diag_init(&t->d);
    str_pool_init(&t->names);
    mdl_opt o = {.interpret = interpret,
                 .no_specialize = no_specialize,
                 .model_dir = source_path(models, "models"),
                 .jit = {.opt_level = 2, .lanes = 1}};
    if (mdl_lib_new(&t->lib, &t->d, &t->names, &o))
        fail_with_messages(t, "no model library");
#define X(name, type, dflt, ...) t->simparam[IR_SIMPARAM_##name] = dflt;
    IR_SIMPARAM_LIST(X)
#undef X
    t->dyn[IR_DYN_SRCFACT] = t->dyn[IR_DYN_ITER] = 1;
    t->dyn[IR_DYN_IS_DC] = t->dyn[IR_DYN_IS_STATIC] = 1;
}

void dut_file(dut *t, const char *path)
{
    if (mdl_load(t->lib, path))
        fail_with_messages(t, path);
}

void dut_model(dut *t, const char *name)
{
    t->m = mdl_find(t->lib, name);
    if (!t->m)
        fail_with_messages(t, name);
    t->n_u = mdl_n_unknown(t->m);
    t->n_port = mdl_module(t->m)->n_port;
    ck_assert_int_le(t->n_u, DUT_MAX);
}

size_t dut_given(const va_module *m, const char *text, mdl_given *given, size_t n)
{
    while (*(text += strspn(text, " \t\n()+"))) {
        char name[64];
        size_t len = strcspn(text, "= ");
        snprintf(name, sizeof name, "%.*s", (int)len, text);
        text += len + strspn(text + len, "= ");
        double x;
        const char *end;
        ck_assert_msg(str_spice_number(text, &end, &x), "number of %s at '%.20s'", name, text);
        text = end;
        int32_t p = va_find_param(m, name);
        if (!strcasecmp(name, "level"))
            continue;
        ck_assert_msg(p >= 0, "%s has no parameter %s", m->name, name);
        given[n++] = (mdl_given){p, x, DIAG_NOWHERE};
    }
    return n;
}

/* Module unknowns to bench unknowns: what is one after node collapse gets one number. */
static void number_unknowns(dut *t)
{
    const int32_t *topo = mdl_row_topology(t->m, t->row);
    t->n_x = 0;
    for (int32_t u = 0; u < t->n_u; u++)
        if (topo[u] == u)
            t->map[u] = ++t->n_x;
    for (int32_t u = 0; u < t->n_u; u++)
        if (topo[u] != u)
            t->map[u] = topo[u] < 0 ? 0 : t->map[topo[u]];
    for (int32_t p = 0; p < t->n_port; p++)
        ck_assert_int_eq(t->map[p], p + 1);
}

void dut_set(dut *t, const char *card, const char *instance, double temp_c, double gmin)
{
    static mdl_given given[4096];
    size_t n = dut_given(mdl_module(t->m), card, given, 0);
    n = dut_given(mdl_module(t->m), instance, given, n);
    t->dyn[IR_DYN_GMIN] = gmin;
    mdl_env env = {.temp = temp_c + 273.15, .mfactor = 1, .simparam = t->simparam};
    if (mdl_row(t->m, given, n, &env, DIAG_NOWHERE, "dut", &t->row))
        fail_with_messages(t, "parameters refused");
    number_unknowns(t);
    memset(t->x, 0, sizeof t->x);
}

typedef struct load {
    const mdl_variant *v;
    double *out, *state, *state_new, *lim, *limnew;
} load;

static load evaluate(dut *t, mdl_form_kind form)
{
    mdl_variant *v = NULL;
    if (mdl_variant_get(t->m, t->row, form, &v))
        fail_with_messages(t, "no variant");
    load l = {.v = v};
    l.out = vs_calloc((size_t)v->lay.n_out + 1, sizeof(double));
    l.state = vs_calloc((size_t)v->lay.n_state + 1, sizeof(double));
    l.state_new = vs_calloc((size_t)v->lay.n_state + 1, sizeof(double));
    l.lim = vs_calloc((size_t)v->lay.n_lim + 1, sizeof(double));
    l.limnew = vs_calloc((size_t)v->lay.n_lim + 1, sizeof(double));
    vs_free(t->cache);
    t->cache = vs_calloc((size_t)v->lay.n_cache + 1, sizeof(double));
    mdl_setup(v, t->row, t->cache);
    int32_t zero = 0;
    jit_batch b = {.x = t->x,
                   .map = t->map,
                   .cache = t->cache,
                   .row_of = &zero,
                   .dyn = t->dyn,
                   .state = l.state,
                   .limold = l.lim,
                   .out = l.out,
                   .state_new = l.state_new,
                   .limnew = l.limnew};
    mdl_prepare(v, false);
    ck_assert_int_eq(mdl_eval(v, false, &b, 0, 1), VS_OK);
    return l;
}

static void free_load(load *l)
{
    vs_free(l->out);
    vs_free(l->state);
    vs_free(l->state_new);
    vs_free(l->lim);
    vs_free(l->limnew);
}

/* Dense complex Gaussian elimination with partial pivoting: a[n*n] b[n*m] -> b = a^-1 b. */
static bool solve_dense(double complex *a, double complex *b, int n, int m)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (cabs(a[i * n + k]) > cabs(a[p * n + k]))
                p = i;
        if (cabs(a[p * n + k]) == 0)
            return false;
        for (int j = 0; j < n; j++) {
            double complex s = a[k * n + j];
            a[k * n + j] = a[p * n + j];
            a[p * n + j] = s;
        }
        for (int j = 0; j < m; j++) {
            double complex s = b[k * m + j];
            b[k * m + j] = b[p * m + j];
            b[p * m + j] = s;
        }
        for (int i = 0; i < n; i++) {
            if (i == k)
                continue;
            double complex f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++)
                a[i * n + j] -= f * a[k * n + j];
            for (int j = 0; j < m; j++)
                b[i * m + j] -= f * b[k * m + j];
        }
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < m; j++)
            b[k * m + j] /= a[k * n + k];
    return true;
}

/* Newton's iteration from the internal unknowns as they are. */
static bool iterate(dut *t, const double *v, double *cur)
{
    int np = t->n_port, ni = t->n_x - np;
    for (int p = 0; p < np; p++)
        t->x[1 + p] = v[p];
    for (int iter = 0; iter < 500; iter++) {
        load l = evaluate(t, MDL_DC);
        double f[DUT_MAX + 1] = {0};
        double complex *a = vs_calloc((size_t)(ni * ni) + 1, sizeof *a);
        double complex *b = vs_calloc((size_t)ni + 1, sizeof *b);
        for (int32_t k = 0; k < l.v->lay.n_out; k++) {
            const mdl_out *o = &l.v->out[k];
            if (o->kind == IR_OUT_RES) {
                f[t->map[o->a]] += l.out[k];
            } else if (o->kind == IR_OUT_G) {
                int r = t->map[o->a] - 1 - np, c = t->map[o->b] - 1 - np;
                if (r >= 0 && c >= 0)
                    a[r * ni + c] += l.out[k];
            }
        }
        free_load(&l);
        for (int r = 0; r < ni; r++) {
            b[r] = -f[1 + np + r];
            double diagonal = 0;
            for (int c = 0; c < ni; c++)
                diagonal = fmax(diagonal, cabs(a[r * ni + c]));
            if (diagonal == 0) /* an unknown that nothing uses in dc */
                a[r * ni + r] = 1;
        }
        bool ok = solve_dense(a, b, ni, 1);
        double worst = 0;
        for (int r = 0; r < ni && ok; r++) {
            double dx = creal(b[r]);
            ok = isfinite(dx);
            dx = dx > 0.1 ? 0.1 : dx < -0.1 ? -0.1 : dx;
            t->x[1 + np + r] += dx;
            worst = fmax(worst, fabs(dx) / (1e-15 + 4e-16 * fabs(t->x[1 + np + r])));
        }
        vs_free(a);
        vs_free(b);
        if (!ok)
            return false;
        if (worst <= 1 || (iter > 60 && worst < 1e4)) {
            for (int p = 0; p < np; p++)
                cur[p] = f[1 + p];
            return true;
        }
    }
    return false;
}

/* From the last solution; if that fails, the sources are raised from 0. */
bool dut_solve(dut *t, const double *v, double *cur)
{
    enum { N_RAMP = 50 };
    if (iterate(t, v, cur))
        return true;
    memset(t->x, 0, sizeof t->x);
    for (int k = 1; k <= N_RAMP; k++) {
        double part[DUT_MAX];
        for (int p = 0; p < t->n_port; p++)
            part[p] = v[p] * k / N_RAMP;
        if (!iterate(t, part, cur))
            return false;
    }
    return true;
}

/* The small-signal matrix at the last solution, split in ports (first np) and the rest. */
static double complex *matrix(dut *t, const load *l, double omega)
{
    int n = t->n_x;
    double complex *y = vs_calloc((size_t)(n * n) + 1, sizeof *y);
    for (int32_t k = 0; k < l->v->lay.n_out; k++) {
        const mdl_out *o = &l->v->out[k];
        if (o->kind != IR_OUT_G && o->kind != IR_OUT_C)
            continue;
        int r = t->map[o->a] - 1, c = t->map[o->b] - 1;
        if (r >= 0 && c >= 0)
            y[r * n + c] += o->kind == IR_OUT_G ? l->out[k] : I * omega * l->out[k];
    }
    return y;
}

/* Solves y_ii z = rhs for the internal unknowns, m right-hand sides [ni*m]. */
static void solve_internal(dut *t, const double complex *y, double complex *rhs, int m)
{
    int n = t->n_x, np = t->n_port, ni = n - np;
    double complex *a = vs_calloc((size_t)(ni * ni) + 1, sizeof *a);
    for (int r = 0; r < ni; r++) {
        bool empty = true;
        for (int c = 0; c < ni; c++) {
            a[r * ni + c] = y[(np + r) * n + np + c];
            empty &= a[r * ni + c] == 0;
        }
        if (empty)
            a[r * ni + r] = 1;
    }
    ck_assert(solve_dense(a, rhs, ni, m));
    vs_free(a);
}

void dut_y(dut *t, double omega, double *g, double *c)
{
    load l = evaluate(t, MDL_AC);
    int n = t->n_x, np = t->n_port, ni = n - np;
    double complex *y = matrix(t, &l, omega), *z = vs_calloc((size_t)(ni * np) + 1, sizeof *z);
    for (int r = 0; r < ni; r++)
        for (int p = 0; p < np; p++)
            z[r * np + p] = y[(np + r) * n + p];
    solve_internal(t, y, z, np);
    for (int p = 0; p < np; p++)
        for (int q = 0; q < np; q++) {
            double complex s = y[p * n + q];
            for (int r = 0; r < ni; r++)
                s -= y[p * n + np + r] * z[r * np + q];
            g[p * np + q] = creal(s);
            c[p * np + q] = cimag(s) / omega;
        }
    vs_free(z);
    vs_free(y);
    free_load(&l);
}

double dut_noise(dut *t, int32_t port, double f, double *of)
{
    load l = evaluate(t, MDL_AC);
    double omega = 2 * acos(-1) * f, total = 0;
    int n = t->n_x, np = t->n_port, ni = n - np;
    int ns = (int)vec_len(mdl_module(t->m)->noise);
    double complex *y = matrix(t, &l, omega);
    double *psd = vs_calloc((size_t)ns + 1, sizeof *psd),
           *nexp = vs_calloc((size_t)ns + 1, sizeof *nexp);
    double complex *inj = vs_calloc((size_t)(ns * n) + 1, sizeof *inj);
    for (int32_t k = 0; k < l.v->lay.n_out; k++) {
        const mdl_out *o = &l.v->out[k];
        if (o->kind == IR_OUT_NOISE_PSD)
            psd[o->a] = l.out[k];
        else if (o->kind == IR_OUT_NOISE_EXP)
            nexp[o->a] = l.out[k];
        else if ((o->kind == IR_OUT_NOISE_GAIN || o->kind == IR_OUT_NOISE_GAINC) &&
                 t->map[o->b] > 0)
            inj[o->a * n + t->map[o->b] - 1] +=
                o->kind == IR_OUT_NOISE_GAIN ? l.out[k] : I * omega * l.out[k];
    }
    double complex *z = vs_calloc((size_t)(ni * ns) + 1, sizeof *z);
    for (int r = 0; r < ni; r++)
        for (int s = 0; s < ns; s++)
            z[r * ns + s] = inj[s * n + np + r];
    solve_internal(t, y, z, ns);
    for (int s = 0; s < ns; s++) {
        double complex h = inj[s * n + port];
        for (int r = 0; r < ni; r++)
            h -= y[port * n + np + r] * z[r * ns + s];
        double part = creal(h * conj(h)) * psd[s] * pow(f, -nexp[s]);
        total += part;
        if (of)
            of[s] = part;
    }
    vs_free(z);
    vs_free(inj);
    vs_free(psd);
    vs_free(nexp);
    vs_free(y);
    free_load(&l);
    return total;
}

void dut_close(dut *t)
{
    vs_free(t->cache);
    mdl_lib_free(&t->lib);
    str_pool_fini(&t->names);
    diag_fini(&t->d);
}

static char **split_row(char *line, int *n)
{
    char **cell = NULL;
    *n = 0;
    for (char *w; (w = strsep(&line, ","));) {
        cell = vs_realloc(cell, sizeof *cell * (size_t)(*n + 1));
        cell[(*n)++] = w;
    }
    return cell;
}

void table_read(table *t, const char *file)
{
    char rel[128], path[512];
    snprintf(rel, sizeof rel, "tests/data/%s", file);
    *t = (table){.text = text_of(source_path(path, rel))};
    char *rest = t->text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (!*line || *line == '#')
            continue;
        int n;
        char **cell = split_row(line, &n);
        if (!t->name) {
            t->name = cell;
            t->n_col = n;
            continue;
        }
        ck_assert_int_eq(n, t->n_col);
        t->cell = vs_realloc(t->cell, sizeof *t->cell * (size_t)(t->n_row + 1));
        t->cell[t->n_row++] = cell;
    }
}

int table_col(const table *t, const char *name)
{
    for (int i = 0; i < t->n_col; i++)
        if (!strcmp(t->name[i], name))
            return i;
    return -1;
}

const char *table_str(const table *t, int row, const char *name)
{
    int c = table_col(t, name);
    ck_assert_msg(c >= 0, "no column %s", name);
    return t->cell[row][c];
}

double table_num(const table *t, int row, const char *name)
{
    double x = NAN;
    ck_assert(str_spice_number(table_str(t, row, name), NULL, &x));
    return x;
}

void table_free(table *t)
{
    for (int i = 0; i < t->n_row; i++)
        vs_free(t->cell[i]);
    vs_free(t->cell);
    vs_free(t->name);
    vs_free(t->text);
}

char *card_of(const char *path, const char *model, char type[32])
{
    char *text = text_of(path), *found = NULL, *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char name[64];
        int at = 0;
        if (found && *line == '+') {
            found = vs_realloc(found, strlen(found) + strlen(line) + 2);
            strcat(strcat(found, " "), line + 1);
        } else if (found)
            break;
        else if (sscanf(line, ".model %63s %31s %n", name, type, &at) == 2 &&
                 !strcasecmp(name, model))
            found = vs_strdup(line + at);
    }
    vs_free(text);
    ck_assert_msg(found != NULL, "no card %s in %s", model, path);
    return found;
}
