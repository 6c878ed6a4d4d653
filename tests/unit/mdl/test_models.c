/* Every module in models/ at random biases: kernel = interpreter bit for bit, specialised =
 * unspecialised, Jacobian = differences of the residual. */
#include "mdl_check.h"

enum { N_BIAS = 1000, N_DIFF = 150 }; /* biases; those of parameter sets beside the defaults */

static char folder[600];
static bench with_jit, with_interp, plain; /* specialised twice; unspecialised */
static char **module_name;                 /* vec */

/* xorshift64*, so that a failure can be repeated. The draws of a module follow from its name: they
 * stay when other modules come and go. */
static uint64_t seed;
static void seed_by(const char *name, int set)
{
    seed = (str_hash(name, strlen(name)) + (uint64_t)set) | (uint64_t)1 << 63; /* 0 would stay 0 */
}

static double random01(void)
{
    seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
    return (double)((seed * 2685821657736338717u) >> 11) * 0x1p-53;
}

static double random_unknown(const va_unknown *u)
{
    double r = 2 * random01() - 1;
    if (u->kind == VA_CURRENT)
        return 1e-3 * r * r * r;
    if (u->discipline && !strcmp(u->discipline, "thermal"))
        return 20 * random01();
    return 1.5 * r;
}

/* Collapsed unknowns share a value. */
static void set_nodes(inst *s, const int32_t *topology)
{
    for (int32_t u = 0; u < s->v->lay.n_u; u++)
        s->nodes[u] = topology[u] < 0 ? 0 : topology[u] + 1;
}

static void set_bias(inst *s, mdl_model *m)
{
    for (int32_t u = 0; u < s->v->lay.n_u; u++)
        s->x[u + 1] = random_unknown(mdl_unknown(m, u));
    for (int32_t k = 0; k < s->v->lay.n_lim; k++)
        s->limold[k] = 0.3;
    s->dyn[IR_DYN_ALPHA] = s->v->form == MDL_TRAN ? 1e9 : 0;
}

static void copy_bias(inst *to, const inst *from)
{
    memcpy(to->x, from->x, sizeof(double) * (size_t)(from->v->lay.n_u + 1));
    memcpy(to->limold, from->limold, sizeof(double) * (size_t)from->v->lay.n_lim);
    memcpy(to->dyn, from->dyn, sizeof to->dyn);
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || a == b; }

static const char *place(const inst *s, mdl_model *m, int k)
{
    static char buf[200];
    const mdl_out *w = &s->v->out[k];
    snprintf(buf, sizeof buf, "%s form %d out %d kind %d (%d,%d)", mdl_module(m)->name, s->v->form,
             k, w->kind, w->a, w->b);
    return buf;
}

/* The outputs of an unspecialised instance, moved to where the specialised one has them. */
static double gathered(const inst *s, const int32_t *topology, const mdl_out *w, double *size)
{
    double sum = 0;
    bool row = w->kind == IR_OUT_RES || w->kind == IR_OUT_REACT || w->kind == IR_OUT_G ||
               w->kind == IR_OUT_C || w->kind == IR_OUT_J;
    bool gain = w->kind == IR_OUT_NOISE_GAIN || w->kind == IR_OUT_NOISE_GAINC;
    bool col = gain || (row && w->kind != IR_OUT_RES && w->kind != IR_OUT_REACT);
    for (int32_t k = 0; k < s->v->lay.n_out; k++) {
        const mdl_out *o = &s->v->out[k];
        if (o->kind != w->kind || (row ? topology[o->a] : o->a) != w->a ||
            (col ? topology[o->b] : o->b) != w->b)
            continue;
        sum += s->out[k];
        *size += fabs(s->out[k]);
    }
    return sum;
}

/* How much output k moves when *x moves by an ulp: the largest of what some ulps do, each by
 * itself. */
static double ulp_of(inst *s, int k, double at, double *x)
{
    double old = *x, max = 0;
    for (int up = 0; up < 2; up++) {
        double last = at;
        for (int n = 0; n < 4; n++) {
            *x = nextafter(*x, up ? INFINITY : -INFINITY);
            inst_eval(s);
            max = fmax(max, fabs(s->out[k] - last));
            last = s->out[k];
        }
        *x = old;
    }
    return max;
}

/* The largest output of a kind. */
static double largest(const inst *s, int kind)
{
    double max = 0;
    for (int32_t k = 0; k < s->v->lay.n_out; k++)
        if (s->v->out[k].kind == kind && fabs(s->out[k]) > max)
            max = fabs(s->out[k]);
    return max;
}

/* How much output k moves when the unknowns and the setup values move by an ulp. */
static double ulp_effect(inst *s, int k, double at)
{
    double sum = 0;
    for (int32_t c = 0; c < s->v->lay.n_cache; c++)
        if (s->cache[c] != floor(s->cache[c])) /* an integer may be one */
            sum += ulp_of(s, k, at, &s->cache[c]);
    for (int32_t u = 0; u < s->v->lay.n_u; u++)
        sum += ulp_of(s, k, at, &s->x[u + 1]);
    inst_eval(s);
    return sum;
}

/* -- parameter sets: set 0 is the defaults, others move up to MAX_GIVEN parameters -- */

enum { N_SET = 4, MAX_GIVEN = 48 };
typedef struct param_set {
    mdl_given given[MAX_GIVEN];
    size_t n;
} param_set;

static double random_param(const va_param *p, double dflt)
{
    if (p->type == VA_INTEGER)
        return random01() < 0.5 ? dflt : random01() < 0.5 ? 0 : 1;
    if (dflt == 0)
        return pow(10, -12 * random01()) * (random01() < 0.2 ? -1 : 1);
    return dflt * (0.5 + random01());
}

static int32_t set_row(mdl_model *m, const param_set *ps)
{
    int32_t row = -1;
    mdl_env env = standard_env();
    vs_status st = mdl_row(m, ps->given, ps->n, &env, DIAG_NOWHERE, "x1", &row);
    return st == VS_OK ? row : -1;
}

/* Drops parameters until the ranges hold. */
static void choose_params(mdl_model *m, int which, param_set *ps)
{
    int32_t n = (int32_t)vec_len(mdl_module(m)->param), row = set_row(m, &(param_set){0});
    *ps = (param_set){0};
    for (int k = 0; which && k < MAX_GIVEN && k < n; k++) {
        int32_t p = (int32_t)(random01() * n);
        if (mdl_module(m)->param[p].type == VA_STRING || mdl_module(m)->param[p].local)
            continue;
        double value = random_param(&mdl_module(m)->param[p], mdl_row_param(m, row, p));
        ps->given[ps->n++] = (mdl_given){p, value, DIAG_NOWHERE};
    }
    for (size_t k = 0; k < ps->n;) { /* one at a time, then all together */
        param_set one = {.given = {ps->given[k]}, .n = 1};
        if (set_row(m, &one) >= 0)
            k++;
        else
            ps->given[k] = ps->given[--ps->n];
    }
    while (set_row(m, ps) < 0 && ps->n)
        ps->n--;
}

static void check_biases(mdl_form_kind form, mdl_model *mj, mdl_model *mi, mdl_model *mp,
                         int n_bias, const param_set *ps)
{
    inst j, i, p;
    int32_t row = set_row(mp, ps);
    inst_open(&j, mj, set_row(mj, ps), form);
    inst_open(&i, mi, set_row(mi, ps), form);
    inst_open(&p, mp, row, form);
    const int32_t *topology = mdl_row_topology(mp, row);
    ck_assert_ptr_nonnull(j.v->kernel[0]);
    ck_assert_int_eq(j.v->lay.n_out, i.v->lay.n_out);
    set_nodes(&j, topology), set_nodes(&i, topology), set_nodes(&p, topology);
    for (int n = 0; n < n_bias; n++) {
        set_bias(&j, mj);
        copy_bias(&i, &j), copy_bias(&p, &j);
        inst_eval(&j), inst_eval(&i), inst_eval(&p);
        for (int k = 0; k < j.v->lay.n_out; k++) {
            double size = 0, want = gathered(&p, topology, &j.v->out[k], &size);
            ck_assert_msg(same(j.out[k], i.out[k]), "%s: kernel %.17g, interpreter %.17g",
                          place(&j, mj, k), j.out[k], i.out[k]);
            if (same(j.out[k], want) || fabs(j.out[k] - want) <= 1e-12 * size || !isfinite(want))
                continue;
            double allowed =
                10 * ulp_effect(&j, k, j.out[k]) + 1e-14 * largest(&j, j.v->out[k].kind);
            ck_assert_msg(fabs(j.out[k] - want) <= allowed,
                          "%s: specialised %.17g, unspecialised %.17g, allowed %g",
                          place(&j, mj, k), j.out[k], want, allowed);
        }
    }
    inst_close(&j), inst_close(&i), inst_close(&p);
}

/* -- derivatives -- */

/* d out[k] / dx_u by central differences of step h */
static void differences(inst *s, int32_t u, double h, double *d)
{
    double old = s->x[u + 1];
    int n = s->v->lay.n_out;
    s->x[u + 1] = old + h;
    inst_eval(s);
    memcpy(d, s->out, sizeof(double) * (size_t)n);
    s->x[u + 1] = old - h;
    inst_eval(s);
    for (int k = 0; k < n; k++)
        d[k] = (d[k] - s->out[k]) / (2 * h);
    s->x[u + 1] = old;
}

static bool agrees(double g, double d1, double d2, double f, double h)
{
    double noise = 1e-13 * fabs(f) / h;
    return fabs(g - d2) <= 8 * fabs(d1 - d2) + 1e-4 * fabs(g) + 10 * noise + 1e-18;
}

/* Checks each column; counts the entries and those that disagree (a kink between the points). */
static void check_columns(inst *t, inst *a, int *n, int *n_bad, char *text)
{
    double d1[2000], d2[2000];
    ck_assert_int_le(t->v->lay.n_out, 2000);
    for (int32_t u = 0; u < t->v->lay.n_u; u++) {
        if (t->nodes[u] != u + 1)
            continue;
        double h = t->v->model->unknown[u].kind == VA_CURRENT ? 1e-7 : 2e-5;
        differences(t, u, h, d1);
        differences(t, u, h / 4, d2);
        inst_eval(t);
        for (int k = 0; k < t->v->lay.n_out; k++) {
            const mdl_out *w = &t->v->out[k];
            if (w->kind != IR_OUT_RES && w->kind != IR_OUT_REACT)
                continue;
            double g = inst_out(a, w->kind == IR_OUT_RES ? IR_OUT_G : IR_OUT_C, w->a, u);
            (*n)++;
            if (agrees(g, d1[k], d2[k], t->out[k], h / 4))
                continue;
            (*n_bad)++;
            sprintf(text, "%s row %d unknown %d: %.9g, differences %.9g %.9g",
                    w->kind == IR_OUT_RES ? "G" : "C", w->a, u, g, d1[k], d2[k]);
        }
    }
}

static void check_derivatives(mdl_model *m, const param_set *ps, int n_diff)
{
    inst t, a;
    int n = 0, n_bad = 0;
    char text[200] = "";
    int32_t row = set_row(m, ps);
    inst_open(&t, m, row, MDL_TRAN);
    inst_open(&a, m, row, MDL_AC);
    set_nodes(&t, mdl_row_topology(m, row)), set_nodes(&a, mdl_row_topology(m, row));
    for (int i = 0; i < n_diff; i++) {
        set_bias(&t, m);
        copy_bias(&a, &t);
        a.dyn[IR_DYN_IS_AC] = a.dyn[IR_DYN_IS_NOISE] = 0, a.dyn[IR_DYN_IS_TRAN] = 1;
        inst_eval(&a);
        check_columns(&t, &a, &n, &n_bad, text);
    }
    ck_assert_msg(n_bad * 200 <= n, "%s: %d of %d derivatives differ; last %s", mdl_module(m)->name,
                  n_bad, n, text);
    inst_close(&t), inst_close(&a);
}

/* -- the folder -- */

static mdl_model *find(bench *b, const char *name)
{
    mdl_model *m = mdl_find(b->lib, name);
    if (!m)
        bench_show(b);
    ck_assert_msg(m != NULL, "module %s", name);
    return m;
}

START_TEST(module_agrees_with_itself)
{
    const char *name = module_name[_i];
    mdl_model *j = find(&with_jit, name), *i = find(&with_interp, name), *p = find(&plain, name);
    bool large = vec_len(j->full.inst) > 3000;
    for (int set = 0; set < N_SET; set++) {
        param_set ps;
        int n_bias = set == 0 ? N_BIAS : large ? N_BIAS / 20 : N_BIAS / 4;
        seed_by(name, set);
        choose_params(j, set, &ps);
        check_biases(MDL_DC, j, i, p, n_bias, &ps);
        check_biases(MDL_TRAN, j, i, p, n_bias, &ps);
        check_biases(MDL_AC, j, i, p, n_bias, &ps);
        check_derivatives(j, &ps, set == 0 ? N_BIAS : N_DIFF);
    }
}
END_TEST

static void open_all(void)
{
    const mdl_opt opt[3] = {{.model_dir = folder, .exact_division = true},
                            {.model_dir = folder, .exact_division = true, .interpret = true},
                            {.model_dir = folder, .interpret = true, .no_specialize = true}};
    bench_open_opt(&with_jit, opt[0]);
    bench_open_opt(&with_interp, opt[1]);
    bench_open_opt(&plain, opt[2]);
}

static void close_all(void)
{
    bench_close(&with_jit);
    bench_close(&with_interp);
    bench_close(&plain);
}

/* The names of the files in the folder; before any test, so without assertions of Check. */
static void list_modules(void)
{
    bench b = {0};
    diag_init(&b.d);
    str_pool_init(&b.names);
    if (mdl_lib_new(&b.lib, &b.d, &b.names, &(mdl_opt){.model_dir = folder, .interpret = true}))
        abort();
    mdl_names(b.lib); /* makes the index */
    for (size_t f = 0; f < vec_len(b.lib->file); f++)
        vec_push(module_name, vs_strdup(b.lib->file[f].name[0]));
    mdl_lib_free(&b.lib);
    diag_fini(&b.d);
    str_pool_fini(&b.names);
}

int main(void)
{
    const char *root = getenv("VSIM_SOURCE_ROOT"), *only = getenv("VSIM_MODEL");
    snprintf(folder, sizeof folder, "%s/models", root ? root : ".");
    list_modules();
    Suite *s = suite_create("mdl models");
    TCase *t = tcase_create("models");
    tcase_add_unchecked_fixture(t, open_all, close_all);
    int n = (int)vec_len(module_name), first = 0;
    for (int k = 0; k < n && only; k++)
        if (!strcmp(module_name[k], only))
            first = k, n = k + 1;
    tcase_add_loop_test(t, module_agrees_with_itself, first, n);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    const int failed = run_suite_here(s);
    for (size_t k = 0; k < vec_len(module_name); k++)
        vs_free(module_name[k]);
    vec_free(module_name);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
