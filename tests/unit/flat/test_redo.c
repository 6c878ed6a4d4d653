/* Tests of flat_redo.c and flat_again.c: after a change the netlist that is there is that of a
 * whole expansion. */
#include "flat_test.h"
#include "stream.h"

typedef struct redo_case {
    const char *deck; /* p is changed from 1 to 3 and back */
    int n_again; /* instances that are expanded again at each change; -1: the deck as a whole */
} redo_case;

/* All of it: nodes in their order, then the text form. */
static char *dump(const flat *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = stream_text(&text, &n);
    for (size_t i = 0; i < vec_len(f->node); i++)
        fprintf(out, "%s\n", f->node[i]);
    flat_print(f, out);
    fclose(out);
    return text;
}

static void expand(fixture *t, const char *deck, flat_override *over, flat_plan *plan)
{
    deck_init(t);
    ck_assert_int_eq(
        net_read_text(&t->deck, &t->d, &t->names, &t->mem, "t.sp", deck, strlen(deck), NULL),
        VS_OK);
    ck_assert_int_eq(
        flat_build(&t->f, &t->deck, &t->d, &t->names, &t->mem, 27, over, 1, plan, NULL), VS_OK);
}

static char *expanded_text(const char *deck, const char *name, double p)
{
    fixture t;
    flat_override over = {name, p, false};
    expand(&t, deck, &over, NULL);
    char *text = dump(&t.f);
    deck_fini(&t);
    return text;
}

static int redo(flat_plan *plan, double p)
{
    const flat_override over = {"p", p, false};
    size_t n, n_owner;
    bool moved;
    vs_status st = VS_OK;
    flat_redo_begin(plan, &over, 1, 27, 1);
    const flat_owner *owner = flat_plan_owners(plan, &n_owner);
    for (size_t i = 0; i < n_owner && !st; i++)
        if (owner[i].mask & 1)
            st = flat_redo_owner(plan, i, &moved);
    const vs_status end = flat_redo_end(plan);
    if (st || end)
        return -1;
    flat_plan_again(plan, &n);
    return (int)n;
}

static void check_knob(const redo_case *c, size_t n, const char *knob)
{
    for (size_t i = 0; i < n; i++) {
        fixture t;
        flat_override over = {knob, 1, false};
        flat_plan *plan = flat_plan_new();
        expand(&t, c[i].deck, &over, plan);
        static const double value[] = {3, 1, 4, 3.5, 1, 3};
        bool high = false;
        for (size_t k = 0; k < VS_COUNT(value); k++) {
            const int want = (value[k] > 2) == high && c[i].n_again >= 0 ? 0 : c[i].n_again;
            const int got = redo(plan, value[k]);
            ck_assert_msg(got == want, "%s\n%s=%g: %d instances, not %d", c[i].deck, knob, value[k],
                          got, want);
            high = value[k] > 2;
            if (got < 0)
                break;
            char *text = dump(&t.f), *whole = expanded_text(c[i].deck, knob, value[k]);
            ck_assert_msg(!strcmp(text, whole), "%s\n%s=%g gives\n%s\nexpected:\n%s", c[i].deck,
                          knob, value[k], text, whole);
            vs_free(text);
            vs_free(whole);
        }
        flat_plan_free(&plan);
        deck_fini(&t);
    }
}

static void check_cases(const redo_case *c, size_t n) { check_knob(c, n, "p"); }

#define CELL                                                                                   \
    ".subckt cell a b k=0\nR1 a m {1+k}\n.if (k>2)\nR2 m q 1\nC2 q r 2 ic={k}\n.else\nR3 m b " \
    "3\n.endif\nR4 m b {2*k}\n.ends\n"

START_TEST(one_instance_is_expanded_again)
{
    static const redo_case t[] = {
        {"t\n.param p=1\n" CELL
         "R0 a 0 1\nX1 a b cell\nX2 b c cell k={p}\nX3 c d cell\nR9 d e {p}\n",
         1},
        {"t\n" CELL "X1 a b cell k={p}\nX2 b c cell k=5\nX3 c d cell k={p}\n", 2},
        {"t\n" CELL
         ".subckt two a b q=1 k=1\nX1 a b cell k={k}\n.ends\nX1 a b two k={q} q={p} m={q+1}\n"
         "X2 b c two k={q}\n",
         1},
        {"t\n" CELL ".subckt two a b k=1\nX1 a m cell k={k}\nX2 m b cell k=1\nR1 a b "
         "{k}\n.ends\nX1 a b two k={p}\nX2 b c two\n",
         1},
        {"t\n" CELL ".subckt two a b k=1\n.if (k>2)\nX1 a m cell k=7\n.endif\nX2 m b cell "
         "k={k}\n.ends\nX1 a b two k={p}\nX2 b c two k=1\n",
         1},
        /* numbers of nodes elsewhere: analyses, .ic, .save, expressions, variables */
        {"t\n" CELL "V1 z 0 1\nX1 a b cell k={p}\n.var w={v(z)*v(y)}\nB1 y 0 v={w+v(z,y)}\nB2 x 0 "
         "i={w*p}\n.ic v(y)=2\n.nodeset v(x)=1\n"
         ".save v(y) v(x,z)\n.noise v(y) V1 lin 2 1 2\n.tf v(x,y) V1\n.pz z 0 y 0 vol pz\nX2 y x "
         "cell k={p+1}\n",
         2},
        /* model cards of the instance, values of .ic in it, multiplicity, what its expressions read
         */
        {"t\n.model d1 d is=1\n.subckt s a b k=0\n.model dk d is={k}\n.ic v(m)={k}\n.if (k>2)\nD1 "
         "a m dk\nB1 a b i={v(m)*k}\n.nodeset v(m)=1\n"
         ".else\nD2 a b d1\nD3 m b dk\n.endif\nR1 m b {k}\n.ends\nD0 a 0 d1\nX0 a b s k=1\nX1 a b "
         "s k={p} m={p}\nX2 b c s k=4 m={p}\n.ic v(c)={p}\n",
         1},
        /* model cards that it is the first to ask for, one of its own that all instances share,
           bins */
        {"t\n.param r=2\n.model d1 d is={p}\n.model n.1 nmos vto={p} lmin=0 lmax=1 wmin=0 "
         "wmax=2\n.model n.2 nmos vto=2 lmin=0 lmax=1 wmin=2 wmax=9\n"
         ".subckt s a k=0\n.model dl d is={r}\nD0 a 0 dl\nM1 a 0 0 0 n l=0.5 w=1\n.if (k>2)\nD1 a "
         "b d1\nR1 b 0 {k}\n.else\nD1 a 0 d1\n.endif\n.ends\n"
         "X1 a s k={p}\nX2 b s k=5\nX3 c s k=1\nD9 a b d1\nM9 a 0 0 0 n l=0.5 w={p}\n",
         1},
        {"t\n.param r={p*2}\n.subckt s a k=0\n.model dl d is={r}\nD0 a 0 dl\n.if (k>2)\nR1 a b "
         "1\n.endif\n.ends\nX1 a s k={p}\nX2 b s k={p/9}\n",
         1},
        /* nodes that later changes look up again: of the top level, of other instances */
        {"t\n.global g\n" CELL ".subckt late a k=1\nR1 a q 1\nB1 q 0 v={v(q)*k+v(a)}\n.if "
         "(k>2)\nR2 q g 1\n.endif\n.ends\n"
         "X1 a b cell k={p}\nR0 g 0 1\nX2 a late k={p}\nX3 c late k={p/9}\nX4 d late k=5\n",
         2},
        {"t\n.subckt s a k=0\n.ic v(a)={k}\n.if (k>2)\n.ic v(m)={k}\n.nodeset v(a)=1 "
         "v(m)={k}\n.endif\nR1 a m 1\n.ends\n"
         "X1 a s k={p}\nX2 b s k={p/9}\n.ic v(b)={p}\n.nodeset v(a)={p}\n",
         1},
        {"t\n.global g\nR0 g 0 1\n.subckt s a k=0\n.if (k>2)\nR1 a g 1\n.else\nR2 a n {k}\nR3 n g "
         "1\n.endif\n.ends\nX1 a s k={p}\nX2 b s k={2*p}\nR9 g b 1\n",
         2},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(what_reaches_further_is_expanded_as_a_whole)
{
    static const redo_case t[] = {
        {"t\n.if (p>2)\nR1 a 0 1\n.else\nR2 a b 1\n.endif\nR3 b 0 1\n", -1},
        {"t\n.global g\n.subckt s a k=0\n.if (k>2)\nR1 a g 1\n.else\nR2 a 0 1\n.endif\n.ends\nX1 a "
         "s k={p}\nR9 g b 1\n",
         -1},
        {"t\n.global g\n.subckt s a k=0\n.if (k>2)\nR1 a 0 1\n.else\nR2 a g 1\n.endif\n.ends\nX1 a "
         "s k={p}\nR9 g b 1\n",
         -1},
        {"t\n.model d1 d is=1\n.model d2 d is=2\n.subckt s a k=0\n.if (k>2)\nD1 a 0 d1\nD2 a 0 "
         "d2\n.else\nD2 a 0 d2\n.endif\n.ends\n"
         "X1 a s k={p}\nD9 a b d1\n",
         -1},
        {"t\n.subckt s a k=0\n.model d1 d is=1\n.if (k>2)\nR1 a 0 1\n.else\nD1 a 0 "
         "d1\n.endif\n.ends\nX1 a s k={p}\nX2 a s\n",
         -1},
        {"t\n.model d1 d is=1\n.subckt s a k=0\n.if (k>2)\nD1 a 0 d1\n.else\nR2 a 0 "
         "1\n.endif\n.ends\nX1 a s k={p}\nD9 a b d1\n",
         -1},
        {"t\n" CELL "X1 a b cell k={p}\nB1 c 0 v={v(x1.m)}\n", -1},
        {"t\n" CELL "X1 a b cell k={p}\n.save v(x1.m)\n", -1},
        {"t\n.subckt s a k=0\n.if (k>2)\nR1 a q 1\n.else\nR2 a q 1\n.endif\n.save v(q)\n.ends\nX1 "
         "a s k={p}\n",
         -1},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

/* q is told of only when something depends on it. */
START_TEST(a_value_that_nothing_depended_on)
{
    static const char deck[] = "t\n.subckt s a k=0\n.if (k>2)\nR1 a 0 {q}\n.else\nR2 a 0 "
                               "1\n.endif\n.ends\nX1 a s k={p}\nR3 a 0 {p}\n";
    fixture t;
    flat_override over[] = {{"p", 1, false}, {"q", 5, false}};
    flat_plan *plan = flat_plan_new();
    size_t n;
    bool moved;
    deck_init(&t);
    ck_assert_int_eq(
        net_read_text(&t.deck, &t.d, &t.names, &t.mem, "t.sp", deck, strlen(deck), NULL), VS_OK);
    ck_assert_int_eq(flat_build(&t.f, &t.deck, &t.d, &t.names, &t.mem, 27, over, 2, plan, NULL),
                     VS_OK);
    over[0].value = 3;
    over[1].value = 7;
    flat_redo_begin(plan, over, 2, 27, 1);
    const flat_owner *owner = flat_plan_owners(plan, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(owner[0].kind, FLAT_OWNER_INST);
    ck_assert_int_eq(flat_redo_owner(plan, 0, &moved), VS_OK);
    ck_assert_int_eq(flat_redo_end(plan), VS_OK);
    ck_assert_str_eq(t.f.inst[0].name, "x1.r1");
    ck_assert_double_eq(t.f.inst[0].param[0].value, 7);
    ck_assert_double_eq(t.f.inst[1].param[0].value, 3);
    flat_plan_free(&plan);
    deck_fini(&t);
}
END_TEST

START_TEST(a_decision_that_stays_is_a_change_of_values)
{
    static const redo_case t[] = {
        {"t\n" CELL
         "X1 a b cell k={p/10}\nX2 a b cell k={p+9}\nR1 a b {p}\n.if (p>0)\nR2 a b {2*p}\n.endif\n",
         0},
        {"t\n.param r=1\n.if (p>2)\n.param r={5*p}\n.elseif (p>1.5)\n.param r=9\n.endif\n.subckt s "
         "a k=1\n.param g=2\n.if (k>3)\n.param g={k}\n.endif\n"
         "R1 a 0 {g*r}\n.ends\nR1 a b {r+1}\nX1 a s k={r}\nX2 b s k=1 m={p}\n",
         0},
        {"t\n.model n.1 nmos vto=1 lmin=0 lmax=1 wmin=0 wmax=2\n.model n.2 nmos vto=2 lmin=0 "
         "lmax=1 wmin=2 wmax=9\n"
         "M1 a b c d n l=0.5 w={p}\nM2 a b c d n l=0.5 w={4-p/2}\n",
         0},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(a_parameter_of_a_subcircuit_counts_in_all_its_instances)
{
    static const redo_case t[] = {
        {"t\n" CELL "X1 a b cell k=7\nX2 b c cell\nR9 d e 1\n", 2},
        {"t\n.param k=9\n" CELL ".subckt two a b k=1\nX1 a m cell k={k}\nR1 m b "
         "{k}\n.ends\nX1 a b two\nX2 b c two k=5\nR1 c 0 {k}\n",
         2},
    };
    check_knob(t, VS_COUNT(t), "cell.k");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        one_instance_is_expanded_again, what_reaches_further_is_expanded_as_a_whole,
        a_value_that_nothing_depended_on, a_decision_that_stays_is_a_change_of_values,
        a_parameter_of_a_subcircuit_counts_in_all_its_instances};
    return run_tests("flat/redo", tests, VS_COUNT(tests));
}
