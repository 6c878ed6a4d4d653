/* Tests of src/elab: decks as text, through the models, to solved circuits and to messages.
 * Operating points come from a plain dense Newton iteration below. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "elab.h"

enum { MAX_N = 64 };

static diag d;
static str_pool names;
static arena mem;
static mdl_lib *lib;
static flat fl;
static ckt *c;
static double x[MAX_N], f[MAX_N], q[MAX_N], fmx[MAX_N], qmx[MAX_N];

static void show_messages(void) { diag_render(&d, stderr, false); }

static void begin(void)
{
    diag_init(&d);
    str_pool_init(&names);
    arena_init(&mem);
    const char *root = getenv("VSIM_SOURCE_ROOT");
    char dir[512];
    snprintf(dir, sizeof dir, "%s/models", root ? root : ".");
    const mdl_opt opt = {.model_dir = arena_strndup(&mem, dir, strlen(dir)), .interpret = true};
    ck_assert_int_eq(mdl_lib_new(&lib, &d, &names, &opt), VS_OK);
    memset(x, 0, sizeof x);
}

static void end(void)
{
    ckt_free(&c);
    mdl_lib_free(&lib);
    arena_fini(&mem);
    str_pool_fini(&names);
    diag_fini(&d);
}

static vs_status read_deck(const char *text)
{
    net_deck deck;
    const char *whole = arena_printf(&mem, "title\n%s.end\n", text);
    vs_status st = net_read_text(&deck, &d, &names, &mem, "test.cir", whole, strlen(whole), NULL);
    return st == VS_OK ? flat_build(&fl, &deck, &d, &names, &mem, 27, NULL, 0, NULL, NULL) : st;
}

static vs_status elaborate(const char *text)
{
    if (read_deck(text) != VS_OK) {
        show_messages();
        ck_abort_msg("the deck could not be read");
    }
    const elab_opt opt = {.temp = 27, .forms = 1 << MDL_DC | 1 << MDL_TRAN};
    return elab_circuit(&c, &d, &names, lib, &fl, &opt);
}

static void must(const char *text)
{
    if (elaborate(text) != VS_OK) {
        show_messages();
        ck_abort_msg("elaboration failed");
    }
}

static bool said(const char *text)
{
    for (size_t i = 0; i < vec_len(d.msg); i++)
        if (strstr(d.msg[i].text, text))
            return true;
    show_messages();
    return false;
}

static void fails_with(const char *text, const char *message)
{
    const elab_opt opt = {.temp = 27, .forms = 1 << MDL_DC};
    vs_status st = read_deck(text);
    if (st == VS_OK)
        st = elab_circuit(&c, &d, &names, lib, &fl, &opt);
    ck_assert_int_eq(st, VS_EINPUT);
    ck_assert_ptr_null(c);
    ck_assert_msg(said(message), "no message '%s'", message);
}

/* -- a dense Newton iteration -- */

static bool gauss(int n, double a[MAX_N][MAX_N], double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i][k]) > fabs(a[p][k]))
                p = i;
        if (a[p][k] == 0)
            return false;
        for (int j = 0; j < n; j++) {
            const double t = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = t;
        }
        const double t = b[k];
        b[k] = b[p];
        b[p] = t;
        for (int i = k + 1; i < n; i++) {
            const double l = a[i][k] / a[k][k];
            for (int j = k; j < n; j++)
                a[i][j] -= l * a[k][j];
            b[i] -= l * b[k];
        }
    }
    for (int k = n; k-- > 0;) {
        for (int j = k + 1; j < n; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return true;
}

/* One iteration; q0: charges that are held (backward Euler), or NULL. Returns the largest move. */
static double iterate(const ckt_env *e, const double *q0)
{
    static double a[MAX_N][MAX_N];
    double r[MAX_N], move = 0;
    bool limited;
    const int n = ckt_n(c);
    ck_assert_int_lt(n, MAX_N);
    ck_assert_int_eq(ckt_load(c, e, x, f, q, fmx, qmx, &limited), VS_OK);
    memset(a, 0, sizeof a);
    const csc *m = ckt_pattern(c);
    for (int32_t j = 0; j < n; j++)
        for (int32_t p = m->colptr[j]; p < m->colptr[j + 1]; p++)
            a[m->row[p]][j] = m->val[p];
    for (int i = 0; i < n; i++)
        r[i] = f[i + 1] + (q0 ? e->alpha * (q[i + 1] - q0[i + 1]) : 0);
    ck_assert_msg(gauss(n, a, r), "singular matrix");
    for (int i = 0; i < n; i++) {
        x[i + 1] -= r[i];
        move = fmax(move, fabs(r[i]) / (1 + fabs(x[i + 1])));
    }
    return limited ? 1 : move;
}

static void solve_op(void)
{
    ckt_env e = {.mode = CKT_STATIC, .srcfact = 1, .gmin = 1e-12, .limit = true};
    for (e.iter = 1; e.iter < 200; e.iter++)
        if (iterate(&e, NULL) < 1e-12)
            return;
    ck_abort_msg("no convergence");
}

/* n steps of backward Euler. */
static void solve_tran(double h, int n)
{
    double q0[MAX_N];
    bool limited;
    ckt_env e = {
        .mode = CKT_TRAN, .srcfact = 1, .gmin = 1e-12, .limit = true, .alpha = 1 / h, .iter = 1};
    ck_assert_int_eq(ckt_load(c, &e, x, f, q, fmx, qmx, &limited), VS_OK);
    for (int k = 1; k <= n; k++) {
        memcpy(q0, q, sizeof q0);
        e.time = k * h;
        for (e.iter = 1; e.iter < 100; e.iter++)
            if (iterate(&e, q0) < 1e-12)
                break;
        ck_assert_int_lt(e.iter, 100);
        ck_assert_int_eq(ckt_load(c, &e, x, f, q, fmx, qmx, &limited), VS_OK);
    }
}

static double v(const char *node)
{
    const int32_t k = ckt_find(c, node);
    ck_assert_msg(k >= 0, "no unknown %s", node);
    return x[k];
}

static void near(double got, double want, double rel)
{
    ck_assert_msg(fabs(got - want) <= rel * fabs(want) + 1e-12, "got %.12g, want %.12g", got, want);
}

/* -- elements -- */

START_TEST(divider)
{
    must("v1 in 0 3\nr1 in out 1k\nr2 out 0 2k\n");
    solve_op();
    near(v("out"), 2, 1e-9);
    near(v("v1#branch"), -1e-3, 1e-9);
    ck_assert_int_eq(d.n_warning, 0);
}
END_TEST

START_TEST(multiplicity_scales_currents)
{
    must("v1 in 0 3\nr1 in out 1k m=4\nr2 out 0 2k\ni1 0 in 1m m=2\n");
    solve_op();
    near(v("out"), 3 * 2000 / 2250., 1e-9);
    near(v("v1#branch"), -3 / 2250. + 2e-3, 1e-9);
}
END_TEST

START_TEST(diode_follows_its_law)
{
    must("v1 in 0 5\nr1 in a 1k\nd1 a 0 dm\n.model dm d is=1e-14 n=1\n");
    solve_op();
    const double vt = 1.38064852e-23 / 1.6021766208e-19 * 300.15;
    const double i = (5 - v("a")) / 1000;
    near(1e-14 * (exp(v("a") / vt) - 1), i, 1e-6);
}
END_TEST

START_TEST(mos_polarity_comes_from_the_type)
{
    must("vd d 0 2\nvg g 0 2\nm1 d g 0 0 nm w=10u l=1u\nvd2 d2 0 -2\nvg2 g2 0 -2\nm2 d2 g2 0 0 pm "
         "w=10u l=1u\n"
         ".model nm nmos level=1 vto=0.5 kp=100u\n.model pm pmos level=1 vto=-0.5 kp=100u\n");
    solve_op();
    near(v("vd#branch"), -0.5 * 100e-6 * 10 * 1.5 * 1.5, 1e-6);
    near(v("vd2#branch"), +0.5 * 100e-6 * 10 * 1.5 * 1.5, 1e-6);
}
END_TEST

START_TEST(linear_controlled_sources)
{
    must("v1 in 0 2\nvs in x 0\nr1 x 0 1k\n"
         "e1 a 0 in 0 10\nra a 0 1k\ng1 0 b in 0 1m\nrb b 0 1k\n"
         "f1 0 p vs 3\nrp p 0 1k\nh1 h 0 vs 500\nrh h 0 1k\nh2 k 0 h1 100\nrk k 0 1k\n");
    solve_op();
    near(v("a"), 20, 1e-9);
    near(v("b"), 2, 1e-9);
    near(v("p"), 6, 1e-9);
    near(v("h"), 1, 1e-9);
    near(v("h1#branch"), -1e-3, 1e-9);
    near(v("k"), -0.1, 1e-9);
}
END_TEST

START_TEST(reference_before_definition)
{
    must("f1 0 p h1 2\nrp p 0 1k\nh1 h 0 vs 500\nrh h 0 1k\nv1 in 0 2\nvs in x 0\nr1 x 0 1k\n");
    solve_op();
    near(v("p"), -2, 1e-9);
}
END_TEST

START_TEST(polynomials_follow_the_order_of_spice)
{
    must("v1 a 0 2\nv2 b 0 3\nr1 a 0 1\nr2 b 0 1\n"
         "e1 y 0 poly(2) a 0 b 0 1 10 100 1000 10000 100000\nry y 0 1k\n"
         "e2 z 0 poly(1) a 0 5\nrz z 0 1k\ng3 0 w poly(1) a b 1 2 3\nrw w 0 1\n");
    solve_op();
    near(v("y"), 1 + 10 * 2 + 100 * 3 + 1000 * 4 + 10000 * 6 + 100000 * 9, 1e-9);
    near(v("z"), 10, 1e-9);
    near(v("w"), 1 - 2 + 3, 1e-9);
}
END_TEST

START_TEST(behavioural_expressions)
{
    static const struct {
        const char *expr;
        double want;
    } t[] = {
        {"v(a)*v(b)", 6},
        {"v(a,b)", -1},
        {"v(a)**2+v(b)**3", 31},
        {"i(vs)*1000", 2},
        {"v(a)>v(b) ? 5 : 7", 7},
        {"(v(a)<v(b)) + 2*(v(a)==2)", 3},
        {"limit(v(b),0,2.5)", 2.5},
        {"min(v(a),v(b))+max(v(a),v(b))", 5},
        {"sgn(-v(a))", -1},
        {"u(v(a)-1)", 1},
        {"u(v(a)-2)", 0.5},
        {"uramp(v(a)-5)", 0},
        {"pwr(-v(a),0.5)", -1.4142135623730951},
        {"sqrt(v(a)*8)", 4},
        {"exp(v(a)-2)", 1},
        {"ln(v(b))", 1.0986122886681098},
        {"log10(v(a)*50)", 2},
        {"abs(-v(b))", 3},
        {"int(-v(b)/2)", -1},
        {"floor(-v(b)/2)", -2},
        {"nint(v(a)+0.5)", 2},
        {"nint(v(b)+0.5)", 4},
        {"pwl(v(a), 0,0, 1,10, 3,20, 4,0)", 15},
        {"pwl(v(a), 5,1, 6,2)", -2},
        {"table(v(a), 5,1, 6,2)", 1},
        {"pwl(v(b), 0,4, 1,5)", 7},
        {"time+1", 1},
        {"temper", 27},
        {"!(v(a)>5)", 1},
        {"(v(a)>1 && v(b)<2) || v(a)==2", 1},
        {"atan2(v(a),v(a))", 0.78539816339744828},
        {"hypot(v(b),4)", 5},
        {"-v(a)", -2},
        {"v(a)^2", 4},
    };
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        char deck[512];
        snprintf(deck, sizeof deck,
                 "v1 a 0 2\nr1 a m 1k\nvs m 0 0\nv2 b 0 3\nr2 b 0 1k\nb1 y 0 v={%s}\n"
                 "ry y 0 1k\nb2 0 z i={%s}\nrz z 0 1\n",
                 t[i].expr, t[i].expr);
        memset(x, 0, sizeof x);
        must(deck);
        solve_op();
        ck_assert_msg(fabs(v("y") - t[i].want) < 1e-9 && fabs(v("z") - t[i].want) < 1e-9,
                      "%s: got %.12g and %.12g, want %g", t[i].expr, v("y"), v("z"), t[i].want);
        ckt_free(&c);
    }
}
END_TEST

START_TEST(equal_expressions_share_one_module)
{
    must("v1 a 0 2\nr1 a 0 1k\nb1 y 0 v={3*v(a)+1.5}\nb2 z 0 v={5*v(y)+2.5}\nry y 0 1\nrz z 0 1\n");
    solve_op();
    near(v("y"), 7.5, 1e-9);
    near(v("z"), 40, 1e-9);
    int n = 0;
    const char **all = mdl_names(lib);
    for (size_t i = 0; i < vec_len(all); i++)
        n += !strncmp(all[i], "behav_", 6);
    ck_assert_int_eq(n, 1);
}
END_TEST

START_TEST(rc_step_by_backward_euler)
{
    must("v1 in 0 pwl(0 0 1u 1)\nr1 in out 1k\nc1 out 0 1u\n");
    solve_tran(1e-5, 100);
    near(v("out"), 1 - pow(1 / 1.01, 100), 1e-9);
}
END_TEST

START_TEST(capacitance_may_be_an_expression)
{
    must("v1 in 0 pwl(0 0 1u 1)\nr1 in out 1k\nc1 out 0 c={1u+0*v(out)}\n");
    solve_tran(1e-5, 100);
    near(v("out"), 1 - pow(1 / 1.01, 100), 1e-9);
}
END_TEST

START_TEST(coupled_inductors_transform)
{
    must("v1 in 0 pwl(0 0 1u 1)\nr1 in a 1\nl1 a 0 1m\nl2 b 0 4m\nr2 b 0 1g\nk1 l1 l2 1\n");
    solve_tran(1e-5, 10);
    near(v("b"), 2 * v("a"), 1e-6);
}
END_TEST

START_TEST(open_ports_are_told_to_the_module)
{
    ck_assert_int_eq(mdl_load_text(lib, "opt.va",
                                   "`include \"disciplines.vams\"\n"
                                   "module optport(a, b, c);\ninout a, b, c;\nelectrical a, b, c;\n"
                                   "parameter real g = 1e-3;\nanalog begin\n"
                                   "I(a, b) <+ ($port_connected(c) ? 1.0 : 2.0) * g * V(a, b);\n"
                                   "I(c, b) <+ g * V(c, b);\nend\nendmodule\n"),
                     VS_OK);
    must("v1 a 0 1\nn1 a 0 mm\nv2 b 0 1\nn2 b 0 0 mm\n.model mm optport g=2m\n");
    solve_op();
    near(v("v1#branch"), -4e-3, 1e-9);
    near(v("v2#branch"), -2e-3, 1e-9);
    ck_assert_int_ge(ckt_find(c, "n1#c"), 0);
    ck_assert_int_eq(ckt_find(c, "n2#c"), -1);
}
END_TEST

/* The current of x by its temperature: 0 where the node of the temperature is its own, and where
 * something else of the deck is there an entry. */
static bool follows_heat(const char *a, const char *t)
{
    const csc *m = ckt_pattern(c);
    const int32_t row = ckt_find(c, a) - 1, col = ckt_find(c, t) - 1;
    for (int32_t k = m->colptr[col]; k < m->colptr[col + 1]; k++)
        if (m->row[k] == row)
            return true;
    return false;
}

START_TEST(temperature_that_nothing_heats_is_a_constant)
{
    ck_assert_int_eq(mdl_load_text(lib, "warm.va",
                                   "`include \"disciplines.vams\"\n"
                                   "module warm(a, t);\ninout a, t;\nelectrical a;\nthermal t;\n"
                                   "parameter real rth = 0;\nreal g;\nanalog begin\n"
                                   "g = 1m*(1 + 0.1*Temp(t));\nI(a) <+ g*V(a);\n"
                                   "if (rth > 0) Pwr(t) <+ Temp(t)/rth - g*V(a)*V(a);\n"
                                   "else Pwr(t) <+ 2*Temp(t);\nend\nendmodule\n"),
                     VS_OK);
    must("v1 a 0 1\n.model w warm\n.subckt s a\nn1 a dt w\n.ends\nx1 a s\nx2 a s\n"
         "n1 a own w\nn2 a both w\nn3 a both w\nn4 a fed w\ni4 0 fed 4\n"
         "n5 a named w\n.nodeset v(named)=3\nn6 a hot w rth=10\n");
    solve_op();
    ck_assert(!follows_heat("a", "x1.dt") && !follows_heat("a", "x2.dt"));
    ck_assert(!follows_heat("a", "own"));
    ck_assert(follows_heat("a", "both") && follows_heat("a", "fed"));
    ck_assert(follows_heat("a", "named") && follows_heat("a", "hot"));
    near(v("fed"), 2, 1e-12);
    near(v("own"), 0, 1e-12);
    const double hot = v("hot"); /* hot/rth = g: 0.1 hot = 1m (1 + 0.1 hot) */
    near(hot, 1e-3 / (0.1 - 1e-4), 1e-9);
    near(v("v1#branch"), -1e-3 * (8 + 0.1 * (2 + hot)), 1e-12);
}
END_TEST

START_TEST(currents_and_charges_of_devices_sum_to_zero)
{
    must("m1 d g s b nm w=10u l=1u\nd1 d s dm\nq1 d g s qn\nr1 g s 1k\nc1 g b 1p\nj1 d g b jm\n"
         "c2 s b q={1p*v(g,s)*v(g,s)}\nb1 d b i={1m*v(g,s)}\n"
         ".model nm nmos level=1 vto=0.5 cgso=1n cgdo=1n tox=10n cbd=1p\n.model dm d cjo=1p rs=1\n"
         ".model qn npn cje=1p tf=1n rb=10\n.model jm njf cgs=1p\n");
    for (int i = 1; i <= ckt_n(c); i++)
        x[i] = ckt_unknowns(c)[i].node ? 0.1 * i : 1e-3;
    bool limited;
    const ckt_env e = {.mode = CKT_TRAN, .alpha = 1e9, .gmin = 1e-12, .srcfact = 1, .iter = 1};
    ck_assert_int_eq(ckt_load(c, &e, x, f, q, fmx, qmx, &limited), VS_OK);
    double sf = 0, sq = 0, mf = 0, mq = 0;
    for (int i = 1; i <= ckt_n(c); i++)
        if (ckt_unknowns(c)[i].node) {
            sf += f[i];
            sq += q[i];
            mf = fmax(mf, fmx[i]);
            mq = fmax(mq, qmx[i]);
        }
    ck_assert(mf > 0 && mq > 0);
    ck_assert_msg(fabs(sf) <= 1e-12 * mf, "currents sum to %g of %g", sf, mf);
    ck_assert_msg(fabs(sq) <= 1e-12 * mq, "charges sum to %g of %g", sq, mq);
}
END_TEST

START_TEST(roots_and_quotients_start_at_zero)
{
    must("v1 a 0 4\nr1 a m 1k\nr2 m 0 1k\nb1 y 0 v={sqrt(v(m))+1/v(m)+ln(v(m))+v(m)**-2}\nry y 0 "
         "1\n");
    solve_op();
    near(v("y"), sqrt(2) + 0.5 + log(2) + 0.25, 1e-9);
}
END_TEST

START_TEST(inductor_loop_is_seen_without_the_transient_form)
{
    ck_assert_int_eq(read_deck("v1 a 0 1\nl1 a 0 1m\nr1 a 0 1\n"), VS_OK);
    const elab_opt opt = {.temp = 27, .forms = 1 << MDL_DC};
    ck_assert_int_eq(elab_circuit(&c, &d, &names, lib, &fl, &opt), VS_OK);
    ck_assert(said("loop of inductors"));
    solve_op();
}
END_TEST

START_TEST(temperature_of_circuit_and_instance)
{
    ck_assert_int_eq(
        read_deck("v1 a 0 1\nr1 a 0 1k tc1=0.01\nv2 b 0 1\nr2 b 0 1k tc1=0.01 temp=127\n"), VS_OK);
    const elab_opt opt = {.temp = 77, .forms = 1 << MDL_DC};
    ck_assert_int_eq(elab_circuit(&c, &d, &names, lib, &fl, &opt), VS_OK);
    solve_op();
    near(v("v1#branch"), -1e-3 / 1.5, 1e-9);
    near(v("v2#branch"), -1e-3 / 2, 1e-9);
}
END_TEST

/* -- messages -- */

START_TEST(unknown_model_suggests_a_near_one)
{
    fails_with("v1 a 0 1\nd1 a 0 dmx\nd2 a 0 dm\n.model dm d\n", "unknown model 'dmx'");
    ck_assert(said("did you mean 'dm'"));
}
END_TEST

START_TEST(unknown_type_is_named)
{
    fails_with("v1 a 0 1\nm1 a a 0 0 x\n.model x nmosx vto=1\n", "unknown type 'nmosx'");
    ck_assert(said("did you mean"));
}
END_TEST

START_TEST(unsupported_level_is_named)
{
    fails_with("v1 a 0 1\nm1 a a 0 0 x\n.model x nmos level=77\n", "level 77 of type 'nmos'");
}
END_TEST

START_TEST(unknown_parameter_names_module_and_neighbour)
{
    ck_assert_int_eq(elaborate("v1 a 0 1\nd1 a 0 dm\n.model dm d iss=1e-15\n"), VS_OK);
    ck_assert(said("model 'dm': module 'diode' has no parameter 'iss': no effect"));
    ck_assert(said("did you mean 'is'"));
    ck_assert(said("module 'diode' is defined here"));
}
END_TEST

START_TEST(unknown_instance_parameter_is_an_error)
{
    fails_with("v1 a 0 1\nr1 a 0 1k tcx=3\n", "has no parameter 'tcx'");
}
END_TEST

START_TEST(missing_control_is_named)
{
    fails_with("v1 a 0 1\nr1 a 0 1\nf1 a 0 vx 2\n", "no element 'vx'");
    fails_with("v1 a 0 1\nr1 a 0 1\nf1 a 0 r1 2\n", "the current of 'r1' is not an unknown");
}
END_TEST

START_TEST(coupling_is_checked)
{
    fails_with("v1 a 0 1\nr1 a b 1\nl1 b 0 1m\nk1 l1 l3 0.5\n", "no element 'l3'");
}
END_TEST

/* Three equal couplings k make a matrix with the eigenvalues 1 - k, 1 - k, 1 + 2 k, a chain of two
 * one with 1 - k sqrt 2, 1, 1 + k sqrt 2: -1/2 and 1 are the limits, and 1 / sqrt 2. */
START_TEST(couplings_together_are_told_beyond_their_limits)
{
    static const struct {
        const char *cards;
        int told;
    } of[] = {{"k1 l1 l2 l3 1\n", 0},
              {"k1 l1 l2 l3 -0.5\n", 0},
              {"k1 l1 l2 l3 -0.500001\n", 1},
              {"k1 l1 l2 0.7071067\nk2 l2 l3 0.7071067\n", 0},
              {"k1 l1 l2 0.7071068\nk2 l2 l3 0.7071068\n", 1},
              {"k1 l1 l2 1\nk2 l2 l3 1\nk3 l1 l3 1\n", 0},
              {"k1 l1 l2 1\nk2 l2 l3 1\nk3 l1 l3 -1\n", 1},
              {"k1 l1 l2 0.5\nk2 l1 l2 0.5\n", 0},
              {"k1 l1 l2 0.5\nk2 l2 l1 0.501\n", 1}};
    for (size_t i = 0; i < VS_COUNT(of); i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "v1 a 0 1\nr1 a b 1\nr2 a c 1\nr3 a d 1\nl1 b 0 1m\nl2 c 0 1u\nl3 d 0 7m\n%s",
                 of[i].cards);
        const int before = d.n_warning;
        must(text);
        ck_assert_msg(d.n_warning - before == of[i].told, "%s: %d warnings", of[i].cards,
                      d.n_warning - before);
    }
}
END_TEST

START_TEST(loop_of_sources_fails)
{
    fails_with("v1 a 0 1\nv2 a 0 2\nr1 a 0 1\n", "closes a loop of voltage sources");
}
END_TEST

/* -- options, outputs -- */

START_TEST(options_are_honoured_or_named)
{
    ck_assert_int_eq(read_deck(".option reltol=1e-4 method=gear temp=50 tnom=25 itl1=200 acct\n"
                               ".option relttol=3 pivtol=1e-9 scale=1u\nr1 a 0 1\n"),
                     VS_OK);
    option_set s;
    ck_assert_int_eq(elab_options(&s, &fl, &d), VS_OK);
    near(s.reltol, 1e-4, 1e-12);
    double simparam[IR_N_SIMPARAM];
    elab_simparam(simparam, &s);
    near(simparam[IR_SIMPARAM_reltol], 1e-4, 1e-12);
    near(simparam[IR_SIMPARAM_scale], 1e-6, 1e-12);
    near(simparam[IR_SIMPARAM_tnom], 25, 1e-12);
    near(s.temp, 50, 1e-12);
    ck_assert_int_eq(s.method, 1);
    ck_assert_int_eq(s.itl1, 200);
    ck_assert(s.given[OPTION_itl1] && !s.given[OPTION_itl2] && !s.given[OPTION_vntol]);
    ck_assert_int_eq(s.itl2, 50);
    ck_assert(said("unknown option 'relttol'"));
    ck_assert(said("did you mean 'reltol'"));
    ck_assert(said("'pivtol' is not supported"));
    ck_assert_int_eq(d.n_warning, 2);
}
END_TEST

START_TEST(bad_option_values_are_errors)
{
    ck_assert_int_eq(read_deck(".option reltol=-1 method=euler itl1=0.5\nr1 a 0 1\n"), VS_OK);
    option_set s;
    ck_assert_int_eq(elab_options(&s, &fl, &d), VS_EINPUT);
    ck_assert(said("option reltol"));
    ck_assert(said("trap or gear"));
    ck_assert(said("itl1"));
}
END_TEST

START_TEST(outputs_are_nodes_and_source_currents)
{
    must("v1 in 0 1\nx1 in out s\nr1 out 0 1k\n.subckt s a b\nr1 a m 1k\nl1 m b 1m\nv2 m k 0\nrk k "
         "0 1k\n"
         ".ends\n");
    elab_out *o;
    elab_outputs(&o, c, &fl, &d, &names, false);
    static const char *const want[] = {"v(in)",   "v(out)", "v(x1.m)",
                                       "v(x1.k)", "i(v1)",  "i(x1.v2)"};
    ck_assert_uint_eq(vec_len(o), VS_COUNT(want));
    for (size_t i = 0; i < VS_COUNT(want); i++) {
        bool found = false;
        for (size_t k = 0; k < vec_len(o); k++)
            found |= !strcmp(o[k].name, want[i]);
        ck_assert_msg(found, "%s is missing", want[i]);
    }
    vec_free(o);
    elab_outputs(&o, c, &fl, &d, &names, true);
    ck_assert_uint_eq(vec_len(o), VS_COUNT(want) + 1);
    vec_free(o);
}
END_TEST

START_TEST(save_narrows_the_outputs)
{
    must("v1 in 0 1\nr1 in out 1k\nr2 out 0 1k\n.save v(out) i(v1)\n.ic v(out)=0.25\n");
    elab_out *o;
    elab_outputs(&o, c, &fl, &d, &names, false);
    ck_assert_uint_eq(vec_len(o), 2);
    ck_assert_str_eq(o[0].name, "v(out)");
    ck_assert_str_eq(o[1].name, "i(v1)");
    vec_free(o);
    elab_node_value *ic, *nodeset;
    elab_ics(&ic, &nodeset, c, &fl);
    ck_assert_uint_eq(vec_len(ic), 1);
    ck_assert_int_eq(ic[0].unknown, ckt_find(c, "out"));
    ck_assert_double_eq(ic[0].value, 0.25);
    vec_free(ic);
    vec_free(nodeset);
    ckt_uic(c, x);
    near(v("out"), 0.25, 1e-12);
    near(v("in"), 0, 1e-12);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("elab");
    TCase *t = tcase_create("elab");
    tcase_set_timeout(t, TEST_PATIENCE);
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, divider);
    tcase_add_test(t, multiplicity_scales_currents);
    tcase_add_test(t, diode_follows_its_law);
    tcase_add_test(t, mos_polarity_comes_from_the_type);
    tcase_add_test(t, linear_controlled_sources);
    tcase_add_test(t, reference_before_definition);
    tcase_add_test(t, polynomials_follow_the_order_of_spice);
    tcase_add_test(t, behavioural_expressions);
    tcase_add_test(t, equal_expressions_share_one_module);
    tcase_add_test(t, rc_step_by_backward_euler);
    tcase_add_test(t, capacitance_may_be_an_expression);
    tcase_add_test(t, coupled_inductors_transform);
    tcase_add_test(t, open_ports_are_told_to_the_module);
    tcase_add_test(t, temperature_that_nothing_heats_is_a_constant);
    tcase_add_test(t, currents_and_charges_of_devices_sum_to_zero);
    tcase_add_test(t, roots_and_quotients_start_at_zero);
    tcase_add_test(t, inductor_loop_is_seen_without_the_transient_form);
    tcase_add_test(t, temperature_of_circuit_and_instance);
    tcase_add_test(t, unknown_model_suggests_a_near_one);
    tcase_add_test(t, unknown_type_is_named);
    tcase_add_test(t, unsupported_level_is_named);
    tcase_add_test(t, unknown_parameter_names_module_and_neighbour);
    tcase_add_test(t, unknown_instance_parameter_is_an_error);
    tcase_add_test(t, missing_control_is_named);
    tcase_add_test(t, coupling_is_checked);
    tcase_add_test(t, couplings_together_are_told_beyond_their_limits);
    tcase_add_test(t, loop_of_sources_fails);
    tcase_add_test(t, options_are_honoured_or_named);
    tcase_add_test(t, bad_option_values_are_errors);
    tcase_add_test(t, outputs_are_nodes_and_source_currents);
    tcase_add_test(t, save_narrows_the_outputs);
    suite_add_tcase(s, t);
    return run_suite(s);
}
