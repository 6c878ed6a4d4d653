/* Tests of net_lex.c, net_parse.c, flat*.c: decks in, flat text out. */
#include "flat_test.h"
#include "stream.h"

typedef struct deck_case {
    const char *deck, *flat;
} deck_case;

static void check_cases(const deck_case *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fixture f;
        char deck[2000];
        ck_assert_int_lt(snprintf(deck, sizeof deck, "title\n%s", t[i].deck), (int)sizeof deck);
        deck_from(&f, deck, strlen(deck));
        char *text = deck_text(&f), *msg = deck_messages(&f);
        ck_assert_msg(!strcmp(text, t[i].flat) && !*msg, "%s\ngives\n%s%s\nexpected:\n%s",
                      t[i].deck, text, msg, t[i].flat);
        vs_free(text);
        vs_free(msg);
        deck_fini(&f);
    }
}

START_TEST(lines_become_cards)
{
    static const deck_case t[] = {
        {"R1 a 0 1k", "r1 a 0 value=1000\n"},
        {"r1 A 0 1K ; comment", "r1 a 0 value=1000\n"},
        {"r1 a 0 1k $ comment", "r1 a 0 value=1000\n"},
        {"r1 a$b 0 1k", "r1 a$b 0 value=1000\n"},
        {"r1 a 0 1k // comment", "r1 a 0 value=1000\n"},
        {"* comment\n  * indented\nr1 a 0 1k", "r1 a 0 value=1000\n"},
        {"r1 a 0\n+ 1k", "r1 a 0 value=1000\n"},
        {"r1 a 0\n* between\n\n  + 1k", "r1 a 0 value=1000\n"},
        {"r1 a 0 \\\n 1k", "r1 a 0 value=1000\n"},
        {"r1 a 0 \\\\\r\n 1k", "r1 a 0 value=1000\n"},
        {"r1 a 0 1k\r\nr2 a\t0\t2k\r\n", "r1 a 0 value=1000\nr2 a 0 value=2000\n"},
        {"r1 (a,0) 1k", "r1 a 0 value=1000\n"},
        {"r1 a 0 r = 1k", "r1 a 0 r=1000\n"},
        {"r1 n\xc3\xa9 0 1k", "r1 n\xc3\xa9 0 value=1000\n"},
        {"r1 a[0] b<1> 1k", "r1 a[0] b<1> value=1000\n"},
        {"r1 net-a x/y+ 1k", "r1 net-a x/y+ value=1000\n"},
        {"r[1,2] a[3] b[-1] {2k*(1+3)} ; x", "r[1,2] a[3] b[-1] value=8000\n"},
        {"r1 a 0 { 1/4 }", "r1 a 0 value=0.25\n"},
        {"r1 a 0 {2\n+ +3}", "r1 a 0 value=5\n"},
        {"r1 gnd GND 1k", "r1 0 0 value=1000\n"},
        {"$ whole line\nr1 a 0 1k", "r1 a 0 value=1000\n"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(texts_of_parameters_name_models)
{
    static const deck_case t[] = {
        {".param rm=\"low\"\n.model low r r=100\nR1 a b {rm}", ".model low r r=100\nr1 a b low\n"},
        {".param dm=\"Dd\" k=2\n.model dd d is=1\nD1 a b { dm } {k}",
         ".model dd d is=1\nd1 a b dd area=2\n"},
        {".param nm=\"nch\"\n.model nch nmos vto=1\nM1 a b c 0 {nm} w=1\nM2 a b c 0 nm w=1",
         ".model nch nmos vto=1\nm1 a b c 0 nch w=1\nm2 a b c 0 nch w=1\n"},
        {".model hi r r=1\n.model lo r r=2\n.subckt s a mod=\"hi\"\nR1 a 0 {mod}\n.ends\nX1 a "
         "s\nX2 b s mod=\"lo\"",
         ".model hi r r=1\n.model lo r r=2\nx1.r1 a 0 hi\nx2.r1 b 0 lo\n"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(elements_have_nodes_and_values)
{
    static const deck_case t[] = {
        {"R1 a b 10k tc1=1m tc2=1u m=2", "r1 a b value=10000 tc1=0.001 tc2=1e-06 m=2\n"},
        {"R1 a b 1k tc=1m,2m", "r1 a b value=1000 tc1=0.001 tc2=0.002\n"},
        {"R1 a b {2*k} \n.param k=5", "r1 a b value=10\n"},
        {"R1 a b '2*k' \n.param k=5", "r1 a b value=10\n"},
        {"R1 a b 2*k \n.param k=5", "r1 a b value=10\n"},
        {"R1 a b k \n.param k=5", "r1 a b value=5\n"},
        {"R1 a b rmod l=1u w=2u\n.model rmod r(rsh=10)",
         ".model rmod r rsh=10\nr1 a b rmod l=1e-06 w=2e-06\n"},
        {"R1 a b 1k rmod\n.model rmod r rsh=10 tc1=1",
         ".model rmod r rsh=10 tc1=1\nr1 a b rmod value=1000\n"},
        {"R1 a b 10 temp=50 scale=2", "r1 a b value=10 temp=50 scale=2\n"},
        {"R1 a b r='1k+v(a)*2'", "r1 a b r=nan expr=(1000 + (v(a) * 2))\n"},
        {"C1 a b 1p ic=0.5", "c1 a b value=1e-12 ic=0.5\n"},
        {"C1 a b c={1p*v(a,b)}", "c1 a b c=nan expr=(1e-12 * v(a,b))\n"},
        {"L1 a b 1u ic=1m\nL2 c 0 2u\nK1 L1 L2 0.9",
         "l1 a b value=1e-06 ic=0.001\nl2 c 0 value=2e-06\nk1 <l1> <l2> value=0.9\n"},
        {"L1 a b l=1u", "l1 a b l=1e-06\n"},
        {"D1 a b dm 2 off ic=0.6\n.model dm d is=1f",
         ".model dm d is=1e-15\nd1 a b dm area=2 ic=0.6 off\n"},
        {"D1 a b dm area=2 m=3\n.model dm d (is=1f)",
         ".model dm d is=1e-15\nd1 a b dm area=2 m=3\n"},
        {"Q1 c b e qm\n.model qm npn", ".model qm npn\nq1 c b e qm\n"},
        {"Q1 c b e s qm 4\n.model qm npn", ".model qm npn\nq1 c b e s qm area=4\n"},
        {"Q1 c b e s t qm\n.model qm npn level=4", ".model qm npn level=4\nq1 c b e s t qm\n"},
        {"M1 d g s b nm w=1u l=2u ic=1,2,3\n.model nm nmos level=1",
         ".model nm nmos level=1\nm1 d g s b nm w=1e-06 l=2e-06 ic=1,2,3\n"},
        {"M1 d g s b e nm w=1u\n.model nm nmos", ".model nm nmos\nm1 d g s b e nm w=1e-06\n"},
        {"M1 d g s b nope w=1u", "m1 d g s b ?nope w=1e-06\n"},
        {"J1 d g s jm 2\n.model jm njf", ".model jm njf\nj1 d g s jm area=2\n"},
        {"Z1 d g s zm\n.model zm nmf", ".model zm nmf\nz1 d g s zm\n"},
        {"N1 a b c mm w=1u\n.model mm myva g=2", ".model mm myva g=2\nn1 a b c mm w=1e-06\n"},
        {"X1 a b mm w=1u\n.model mm myva g=2", ".model mm myva g=2\nx1 a b mm w=1e-06\n"},
        {"S1 a b c d sm on\n.model sm sw vt=1", ".model sm sw vt=1\ns1 a b c d sm on=1\n"},
        {"S1 a b c d sm OFF\n.model sm sw vt=1", ".model sm sw vt=1\ns1 a b c d sm off\n"},
        {"V1 a 0 0\nW1 a b v1 wm\n.model wm csw", ".model wm csw\nv1 a 0 dc 0\nw1 a b <v1> wm\n"},
        {"T1 a 0 b 0 z0=50 td=1n", "t1 a 0 b 0 z0=50 td=1e-09\n"},
        {"E1 a b c d 10", "e1 a b c d gain=10\n"},
        {"G1 a b c d {1m*2}", "g1 a b c d gain=0.002\n"},
        {"G1 a b VCCS c d 1m", "g1 a b c d gain=0.001\n"},
        {"E1 a 0 (c,d) 2", "e1 a 0 c d gain=2\n"},
        {"E1 a 0 POLY(2) c 0 d 0 1 2 3", "e1 a 0 c 0 d 0 poly=2 poly(1 2 3)\n"},
        {"E1 a 0 poly(1) (c,0) 1 2", "e1 a 0 c 0 poly=1 poly(1 2)\n"},
        {"V1 a 0 1\nF1 a b v1 2", "v1 a 0 dc 1\nf1 a b <v1> gain=2\n"},
        {"V1 a 0 1\nH1 a b v1 {k}\n.param k=3", "v1 a 0 dc 1\nh1 a b <v1> gain=3\n"},
        {"V1 a 0 1\nV2 b 0 1\nF1 a b POLY(2) v1 v2 0 1 2",
         "v1 a 0 dc 1\nv2 b 0 dc 1\nf1 a b <v1> <v2> poly=2 poly(0 1 2)\n"},
        {"E1 a 0 VALUE={v(b)*2}\nR1 b 0 1", "e1 a 0 v=(v(b) * 2)\nr1 b 0 value=1\n"},
        {"E1 a 0 value {v(a)*k}\n.param k=2", "e1 a 0 v=(v(a) * 2)\n"},
        {"E1 a 0 vol='v(a)**2'", "e1 a 0 v=(v(a) ** 2)\n"},
        {"G1 a 0 cur='1m*i(v1)'\nV1 a 0 1", "g1 a 0 i=(0.001 * i(v1))\nv1 a 0 dc 1\n"},
        {"E1 a 0 TABLE {v(b)} = (0,0) (1,2)\nR1 b 0 1",
         "e1 a 0 v=table(v(b), 0, 0, 1, 2)\nr1 b 0 value=1\n"},
        {"E1 a 0 TABLE {v(a)} = (0,0), (1,k)\n.param k=2", "e1 a 0 v=table(v(a), 0, 0, 1, 2)\n"},
        {"B1 a 0 v=v(a)*2 + 3", "b1 a 0 v=((v(a) * 2) + 3)\n"},
        {"B1 a 0 I={time>1u ? sin(2*pi*temper) : hertz} m=2",
         "b1 a 0 i=((time > 1e-06) ? sin((6.28318530717959 * temper)) : hertz) m=2\n"},
        {"B1 a 0 v={if(v(a)>1, ddt(v(a)), f(v(a)))}\n.func f(x)={x*x}",
         "b1 a 0 v=((v(a) > 1) ? ddt(v(a)) : (v(a) * v(a)))\n"},
        {"B1 a 0 v={1+2}", "b1 a 0 v=3\n"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(sources_have_waveforms)
{
    static const deck_case t[] = {
        {"V1 a 0 5", "v1 a 0 dc 5\n"},
        {"V1 a 0 dc 5 ac 1 90", "v1 a 0 dc 5 ac 1 90\n"},
        {"V1 a 0 dc=5 ac=2", "v1 a 0 dc 5 ac 2 0\n"},
        {"V1 a 0 ac", "v1 a 0 ac 1 0\n"},
        {"V1 a 0", "v1 a 0\n"},
        {"V1 a 0 ac 1 dc 2 pulse(0 1 2 3)", "v1 a 0 dc 2 ac 1 0 pulse(0 1 2 3)\n"},
        {"I1 a 0 PULSE 0 1 0 1n 1n 5n 10n dc 1",
         "i1 a 0 dc 1 pulse(0 1 0 1e-09 1e-09 5e-09 1e-08)\n"},
        {"V1 a 0 pulse(0, {v}, 0 , '2*v')\n.param v=3", "v1 a 0 pulse(0 3 0 6)\n"},
        {"V1 a 0 sin(0 1 1k 0 0 90)", "v1 a 0 sin(0 1 1000 0 0 90)\n"},
        {"V1 a 0 SIN ( 0 -1 1k )", "v1 a 0 sin(0 -1 1000)\n"},
        {"V1 a 0 exp(0 1 1n 2n 3n 4n)", "v1 a 0 exp(0 1 1e-09 2e-09 3e-09 4e-09)\n"},
        {"V1 a 0 sffm(0 1 1k 2 10)", "v1 a 0 sffm(0 1 1000 2 10)\n"},
        {"V1 a 0 am(1 0 1 1k)", "v1 a 0 am(1 0 1 1000)\n"},
        {"V1 a 0 pwl(0 0 1n 1 2n {v})\n.param v=3", "v1 a 0 pwl(0 0 1e-09 1 2e-09 3)\n"},
        {"V1 a 0 pwl 0 0 1n 1 r=0 td=1n", "v1 a 0 pwl(0 0 1e-09 1) r=0 td=1e-09\n"},
        {"V1 a 0 pwl(0,0 1n,1) r = 1n", "v1 a 0 pwl(0 0 1e-09 1) r=1e-09\n"},
        {"V1 a 0 pwl((0,0) (1n,1))", "v1 a 0 pwl(0 0 1e-09 1)\n"},
        {"V1 a 0 pulse(0 1 0\n+ 1n 1n\n+ 5n 10n) ac 1",
         "v1 a 0 ac 1 0 pulse(0 1 0 1e-09 1e-09 5e-09 1e-08)\n"},
        {"I1 a 0 1m m=2", "i1 a 0 dc 0.001 m=2\n"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(parameters_are_found_in_scope)
{
    static const deck_case t[] = {
        {".param a={b+1} b={c*2} c=3\nr1 x 0 {a}", "r1 x 0 value=7\n"},
        {".param a = b + 1\n.param b=2\nr1 x 0 a", "r1 x 0 value=3\n"},
        {".param w=2 l='w*3' f(x)={x+1}\nr1 x 0 {f(l)}", "r1 x 0 value=7\n"},
        {".subckt s a b r=1k\nr1 a b {r}\n.ends\nx1 p 0 s\nx2 p 0 s r=2k",
         "x1.r1 p 0 value=1000\nx2.r1 p 0 value=2000\n"},
        {".subckt s a params: r=1k q={r*2}\nr1 a 0 {q}\n.ends s\nx1 p s r=5\nx2 p s params: q=7",
         "x1.r1 p 0 value=10\nx2.r1 p 0 value=7\n"},
        {".subckt s a\n.param r=1k\nr1 a 0 {r}\n.ends\nx1 p s\nx2 p s r=2",
         "x1.r1 p 0 value=1000\nx2.r1 p 0 value=2\n"},
        {".param w=1\n.subckt s a w=2\nr1 a 0 {w}\n.ends\nx1 p s w={w}\nx2 p s w={w+5}",
         "x1.r1 p 0 value=1\nx2.r1 p 0 value=6\n"},
        {".param g=4\n.subckt s a\nr1 a 0 {g}\n.ends\nx1 p s", "x1.r1 p 0 value=4\n"},
        /* an instance's own parameters on its line: in any order, defaults of the head as well, m,
           functions, expressions of the circuit; what is known where it is called comes before */
        {".param f=2\n.param b=20\n.subckt s a params: p1=2 p2=2 p3='p1*p2*2'\nr1 a 0 "
         "{p3}\n.ends\nx1 p s p1='f' p2='b+p1'\nx2 p s p2='b+p1' p1='f+1' p3='p1*p2'\nx3 p s "
         "p2={p1+1} m={p1}",
         "x1.r1 p 0 value=88\nx2.r1 p 0 value=69\nx3.r1 p 0 value=12 m=2\n"},
        {".func g(x) {x*x}\n.subckt t a\nx1 a s k={q+1} q={g(2)}\n.ends\n.subckt s a q=1 k=2\nr1 "
         "a 0 {k}\n.ends\nx1 p t",
         "x1.x1.r1 p 0 value=5\n"},
        {".subckt s a q=1 k=2\nb1 a 0 i={k}\n.ends\nr1 p 0 1\nx1 p s q={3*v(p)} k={q}",
         "r1 p 0 value=1\nx1.b1 p 0 i=(3 * v(p))\n"},
        {".param w=10\n.subckt s a l=7 w=1\nr1 a 0 {w}\nr2 a 0 {l}\n.ends\nx1 p s w={w*2} l={w}",
         "x1.r1 p 0 value=20\nx1.r2 p 0 value=10\n"},
        /* parameters that the subcircuit does not declare */
        {".param top=1\n.subckt div a b\nr1 a b {top}\nr2 b 0 {bot}\n.ends\nx1 p q div top=9k "
         "bot={top+1}\nx2 p q div bot=5",
         "x1.r1 p q value=9000\nx1.r2 q 0 value=2\nx2.r1 p q value=1\nx2.r2 q 0 value=5\n"},
        {".param is=1\n.subckt s a\n.model dm d is={is}\nd1 a 0 dm\n.ends\nx0 p s\nx1 p s is=3\nx2 "
         "p s "
         "is=4",
         ".model dm d is=1\n.model dm#2 d is=3\n.model dm#3 d is=4\nx0.d1 p 0 dm\nx1.d1 p 0 "
         "dm#2\nx2.d1 p 0 dm#3\n"},
        /* a parameter of the calling instance is seen before the top level's */
        {".param g=4\n.subckt in a\nr1 a 0 {g}\n.ends\n.subckt out a g=9\nx1 a in\n.ends\nx1 p out",
         "x1.x1.r1 p 0 value=9\n"},
        /* nested definitions, local models and subcircuits of one name */
        {".subckt o a\n.subckt i a\nr1 a 0 1\n.ends\nx1 a i\n.ends\n.subckt i a\nr1 a 0 "
         "2\n.ends\nx1 p o\nx2 p i",
         "x1.x1.r1 p 0 value=1\nx2.r1 p 0 value=2\n"},
        {".subckt s a v=1\n.model d d is={v}\nd1 a 0 d\n.ends\n.model d d is=9\nx1 p s\nx2 p s "
         "v=2\nd1 p 0 d",
         ".model d d is=1\n.model d#2 d is=2\n.model d#3 d is=9\nx1.d1 p 0 d\nx2.d1 p 0 d#2\n"
         "d1 p 0 d#3\n"},
        {".model bad d is={1/0}\nr1 a 0 1", "r1 a 0 value=1\n"},
        {".model m psp103va (type=1 version=4.8.2 name=\"abc\" mode=fast)\nn1 a m",
         ".model m psp103va type=1 version=\"4.8.2\" name=\"abc\" mode=\"fast\"\nn1 a m\n"},
        {".subckt s a m=5\nr1 a 0 {m}\n.ends\nx1 p s m=3", "x1.r1 p 0 value=3\n"},
        {".subckt s a\nr1 a 0 1 m=2\n.ends\n.subckt t a\nx1 a s m=3\n.ends\nx1 p t m={2+2}",
         "x1.x1.r1 p 0 value=1 m=24\n"},
        {".global vdd\n.subckt s a\nr1 a vdd 1\nr2 b gnd 1\n.ends\nx1 p s",
         "x1.r1 p vdd value=1\nx1.r2 x1.b 0 value=1\n"},
        {".subckt s a\nv1 a b 1\nf1 a 0 v1 2\nb1 a 0 i={i(v1)+v(b)+v(x1.q)}\n.ends\nx1 p s\nr1 "
         "x1.q 0 1",
         "x1.v1 p x1.b dc 1\nx1.f1 p 0 <x1.v1> gain=2\nx1.b1 p 0 i=((i(x1.v1) + v(x1.b)) + "
         "v(x1.q))\nr1 x1.q 0 value=1\n"},
        {".subckt s a\nf1 a 0 vtop 2\n.ends\nx1 p s\nvtop q 0 1",
         "x1.f1 p 0 <vtop> gain=2\nvtop q 0 dc 1\n"},
        {".subckt s d g\nm1 d g 0 0 mod\n.ends\n.model mod nmos\nx1 a b s",
         ".model mod nmos\nx1.m1 a b 0 0 mod\n"},
        {".subckt s a t=\"nn\"\nm1 a a a a t\n.ends\n.model nn nmos\n.model pp pmos\nx1 q s "
         "t=\"pp\"",
         ".model pp pmos\nx1.m1 q q q q pp\n"},
        {"m1 d g s b nch l=0.5u w=1u\nm2 d g s b nch l=3u w=1u\n.model nch.1 nmos lmin=0 lmax=1u "
         "wmin=0 wmax=10u\n"
         ".model nch.2 nmos lmin=1u lmax=9u wmin=0 wmax=10u",
         ".model nch.1 nmos lmin=0 lmax=1e-06 wmin=0 wmax=1e-05\n"
         ".model nch.2 nmos lmin=1e-06 lmax=9e-06 wmin=0 wmax=1e-05\n"
         "m1 d g s b nch.1 l=5e-07 w=1e-06\nm2 d g s b nch.2 l=3e-06 w=1e-06\n"},
        /* a bin is chosen by the width of a finger in metre; what is wrong in others is not seen */
        {".option scale=1u\nm1 d g s b nch l=1 w=8 nf=4\n.model nch.1 nmos wmin=1u wmax=3u\n"
         ".model nch.2 nmos wmin=3u wmax=9u vto={1/0}",
         ".model nch.1 nmos wmin=1e-06 wmax=3e-06\nm1 d g s b nch.1 l=1 w=8 nf=4\n"
         ".option scale=1u\n"},
        {".option wnflag=0\nm1 d g s b nch l=1u w=8u nf=4\n.model nch.1 nmos wmin=1u wmax=3u\n"
         ".model nch.2 nmos wmin=3u wmax=9u",
         ".model nch.2 nmos wmin=3e-06 wmax=9e-06\nm1 d g s b nch.2 l=1e-06 w=8e-06 nf=4\n"
         ".option wnflag=0\n"},
        /* instances with equal values share a card */
        {".subckt s a v=1 u=1\n.model d d is={v} n=2\nd1 a 0 d\n.ends\nx1 p s\nx2 p s v=2\nx3 p "
         "s u=5\nx4 p s v={1+1}",
         ".model d d is=1 n=2\n.model d#2 d is=2 n=2\nx1.d1 p 0 d\nx2.d1 p 0 d#2\nx3.d1 p 0 d\n"
         "x4.d1 p 0 d#2\n"},
        /* what a switch multiplies by 0 does not tell instances apart */
        {".param sw=0\n.subckt s a v=1\n.model d d is={5+sw*agauss(0,1,1)*(1/v)}\nd1 a 0 "
         "d\n.ends\nx1 p s\nx2 p s v=2",
         ".model d d is=5\nx1.d1 p 0 d\nx2.d1 p 0 d\n"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(branches_are_taken_by_condition)
{
    static const deck_case t[] = {
        {".param a=1\n.if (a==1)\nr1 x 0 1\n.else\nr1 x 0 2\n.endif", "r1 x 0 value=1\n"},
        {".param a=2\n.if (a==1)\nr1 x 0 1\n.elseif (a==2)\nr1 x 0 2\n.else\nr1 x 0 3\n.endif",
         "r1 x 0 value=2\n"},
        {".param a=3\n.if (a==1)\nr1 x 0 1\n.elseif a==2\nr1 x 0 2\n.else\nr1 x 0 3\n.endif",
         "r1 x 0 value=3\n"},
        {".if 1\n.if 0\nr1 x 0 1\n.else\nr2 x 0 2\n.endif\nr3 x 0 3\n.endif",
         "r2 x 0 value=2\nr3 x 0 value=3\n"},
        {".if {0}\n.if 1\nr1 x 0 1\n.endif\n.endif\nr2 x 0 2", "r2 x 0 value=2\n"},
        {".param a=1\n.if (a<2)\n.param b=5\n.else\n.param b=6\n.endif\nr1 x 0 {b}",
         "r1 x 0 value=5\n"},
        {".param b=1\n.if (b==1)\n.param b=2\n.endif\nr1 x 0 {b}", "r1 x 0 value=2\n"},
        {".subckt s a n=0\n.if (n>1)\n.model m d is=1\n.else\n.model m d is=2\n.endif\nd1 a 0 "
         "m\n.ends\nx1 p s\nx2 p s n=2",
         ".model m d is=2\n.model m#2 d is=1\nx1.d1 p 0 m\nx2.d1 p 0 m#2\n"},
        {".if 0\n.include \"no/such.file\"\n.endif\nr1 x 0 1", "r1 x 0 value=1\n"},
        {".if 0\n.subckt s a\nr1 a 0 1\n.ends\n.else\n.subckt s a\nr1 a 0 2\n.ends\n.endif\nx1 p s",
         "x1.r1 p 0 value=2\n"},
        /* recursion that a condition ends */
        {".subckt lad a n=3\nr1 a b 1\n.if (n>1)\nx1 b lad n={n-1}\n.endif\n.ends\nx1 p lad",
         "x1.r1 p x1.b value=1\nx1.x1.r1 x1.b x1.x1.b value=1\nx1.x1.x1.r1 x1.x1.b x1.x1.x1.b "
         "value=1\n"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(dot_cards_are_read)
{
    static const deck_case t[] = {
        {".tran 1n 10u", ".tran 1e-09 1e-05 0 0\n"},
        {".tran 1n 10u 1u 2n uic", ".tran 1e-09 1e-05 1e-06 2e-09 uic\n"},
        {".tran {h} {10*h} UIC\n.param h=1n", ".tran 1e-09 1e-08 0 0 uic\n"},
        {".op", ".op\n"},
        {"v1 a 0 0\n.dc v1 0 1 0.25", "v1 a 0 dc 0\n.dc v1 (5 values from 0 to 1)\n"},
        {"v1 a 0 0\n.dc v1 1 0 -0.1", "v1 a 0 dc 0\n.dc v1 (11 values from 1 to 0)\n"},
        {"v1 a 0 0\nv2 b 0 0\n.dc v1 0 1 .5 v2 0 2 1",
         "v1 a 0 dc 0\nv2 b 0 dc 0\n.dc v1 (3 values from 0 to 1) v2 (3 values from 0 to 2)\n"},
        {".dc temp -40 120 40", ".dc temp (5 values from -40 to 120)\n"},
        {".param p=1\n.dc p 0 1 1", ".dc param:p (2 values from 0 to 1)\n"},
        {"r1 a 0 1\n.dc r1:r 1 3 1", "r1 a 0 value=1\n.dc r1[r] (3 values from 1 to 3)\n"},
        {"r1 a 0 1\n.dc r1 1 3 1", "r1 a 0 value=1\n.dc r1[value] (3 values from 1 to 3)\n"},
        {"r1 a 0 1\n.dc @r1[resistance] 1 3 1",
         "r1 a 0 value=1\n.dc r1[resistance] (3 values from 1 to 3)\n"},
        {"v1 a 0 1\n.dc v1 dec 2 1 100", "v1 a 0 dc 1\n.dc v1 (5 values from 1 to 100)\n"},
        {"v1 a 0 1\n.dc v1 oct 1 1 8", "v1 a 0 dc 1\n.dc v1 (4 values from 1 to 8)\n"},
        {"v1 a 0 1\n.dc v1 lin 3 1 2", "v1 a 0 dc 1\n.dc v1 (3 values from 1 to 2)\n"},
        {"v1 a 0 1\n.dc v1 list 1 5 2 temp 0 20 10",
         "v1 a 0 dc 1\n.dc v1 (3 values from 1 to 2) temp (3 values from 0 to 20)\n"},
        {".options method=gear maxord=2 noacct reltol={1e-3*2}\n.option savecurrents",
         ".option method=gear\n.option maxord=2\n.option noacct\n.option reltol={1e-3*2}\n.option "
         "savecurrents\n"},
        {".temp 25 50", ".temp 25\n.temp 50\n"},
        {"r1 a b 1\n.ic v(a)=1 v(b) = {2*2}\n.nodeset v(a)=.5",
         "r1 a b value=1\n.ic v(a)=1\n.ic v(b)=4\n.nodeset v(a)=0.5\n"},
        {".subckt s a\nr1 a b 1\n.ic v(b)=1 v(a)=2\n.ends\nx1 p s",
         "x1.r1 p x1.b value=1\n.ic v(x1.b)=1\n.ic v(p)=2\n"},
        {"v1 a 0 1\nr1 a b 1\n.save v(a) V(a,b) i(v1) v1#branch @r1[i] b all",
         "v1 a 0 dc 1\nr1 a b value=1\n.save v(a)\n.save v(a,b)\n.save i(v1)\n.save i(v1)\n.save "
         "@r1[i]\n.save v(b)\n.save all\n"},
        {"v1 1 0 1\n.save 1 i(r1) {v(1)*2}\nr1 1 0 1",
         "v1 1 0 dc 1\nr1 1 0 value=1\n.save v(1)\n.save i(r1)\n.save v(1)*2\n"},
        {"v1 a 0 1\n.save v(a) par('v(a)*2')\n.print tran vdb(a) (0,5)\n.probe i(v1)\n.probe",
         "v1 a 0 dc 1\n.save v(a)\n.save v(a)*2\n.save all\n.save i(v1)\n"},
        {".subckt s a\nv1 a b 1\nr1 b 0 1\n.ends\nx1 p s\n.save v(x1.b) i(x1.v1) i(v.x1.v1)",
         "x1.v1 p x1.b dc 1\nx1.r1 x1.b 0 value=1\n.save v(x1.b)\n.save i(x1.v1)\n.save "
         "i(v.x1.v1)\n"},
        {".hdl \"x/my.va\" other.va\n.load b.osdi",
         ".hdl \"x/my.va\"\n.hdl \"other.va\"\n.hdl \"b.osdi\"\n"},
        {".title a new one\nr1 a 0 1", "r1 a 0 value=1\n"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(values_from_outside_win)
{
    fixture t;
    const char *deck = "t\n.param a=1 b={a+1}\n.subckt s x a=5\nr1 x 0 {a}\n.ends\nr1 p 0 {b}\nr2 "
                       "p 0 {new}\nx1 p s\n";
    deck_from(&t, deck, strlen(deck));
    deck_fini(&t);
    deck_init(&t);
    ck_assert_int_eq(
        net_read_text(&t.deck, &t.d, &t.names, &t.mem, "t.sp", deck, strlen(deck), NULL), VS_OK);
    flat_override over[] = {{"A", 10, false}, {"new", 3, false}};
    ck_assert_int_eq(flat_build(&t.f, &t.deck, &t.d, &t.names, &t.mem, 27, over, 2, NULL, NULL),
                     VS_OK);
    char *text = deck_text(&t);
    ck_assert_str_eq(text, "r1 p 0 value=11\nr2 p 0 value=3\nx1.r1 p 0 value=5\n");
    vs_free(text);
    deck_fini(&t);
}
END_TEST

START_TEST(options_are_read_alone)
{
    fixture t;
    const char *deck =
        "t\n.param k=50 bad={1/0}\n.options temp={k} method=trap\n.temp 30\nm1 wrong\n";
    deck_init(&t);
    ck_assert_int_eq(
        net_read_text(&t.deck, &t.d, &t.names, &t.mem, "t.sp", deck, strlen(deck), NULL), VS_OK);
    flat_options(&t.f, &t.deck, &t.d, &t.names, &t.mem);
    ck_assert_int_eq(t.d.n_error, 0);
    ck_assert_uint_eq(vec_len(t.f.option), 2);
    ck_assert_double_eq(t.f.option[0].value, 50);
    ck_assert(isnan(t.f.option[1].value));
    ck_assert_str_eq(t.f.option[1].str, "trap");
    ck_assert_double_eq(t.f.temp[0], 30);
    deck_fini(&t);
}
END_TEST

static double value_of(const fixture *t, const char *name)
{
    flat_room room;
    for (size_t i = 0; i < vec_len(t->f.inst); i++)
        if (!strcmp(t->f.inst[i].name, name))
            return flat_params(&t->f.inst[i], &room)[0].value;
    ck_abort_msg("no %s", name);
    return NAN;
}

static void draw_deck(fixture *t, const char *deck, uint64_t seed, int64_t sample)
{
    deck_init(t);
    ck_assert_int_eq(
        net_read_text(&t->deck, &t->d, &t->names, &t->mem, "t.sp", deck, strlen(deck), NULL),
        VS_OK);
    t->deck.vary = true;
    t->deck.seed = seed;
    t->deck.sample = sample;
    ck_assert_int_eq(
        flat_build(&t->f, &t->deck, &t->d, &t->names, &t->mem, 27, NULL, 0, NULL, NULL), VS_OK);
    ck_assert_uint_eq(vec_len(t->d.msg), 0);
}

/* A parameter is one draw, two instances are two; others, and their order, leave a draw as it is.
 */
START_TEST(draws_belong_to_names)
{
    static const char *const body = ".subckt s a\n.param q=agauss(1,0.3,3)\nr1 a 0 q\nr2 a 0 q\n"
                                    "r3 a 0 {agauss(1,.1,0)}\n.ends\n";
    char one[400], two[400];
    snprintf(one, sizeof one,
             "t\n.param p=gauss(2,.1,1)\n%sr0 1 0 p\nx1 1 s\nx2 1 s\nx3 1 s q={agauss(9,1,1)}\n",
             body);
    snprintf(two, sizeof two,
             "t\n%s.param w=unif(3,.5) p=gauss(2,.1,1)\nr9 1 0 w\nx2 1 s\nx1 1 s\nr0 1 0 p\n",
             body);
    fixture a, b, c, d;
    draw_deck(&a, one, 7, 0);
    draw_deck(&b, two, 7, 0);
    draw_deck(&c, one, 8, 0);
    draw_deck(&d, one, 7, 1);
    ck_assert_double_eq(value_of(&a, "x1.r1"), value_of(&a, "x1.r2"));
    ck_assert_double_ne(value_of(&a, "x1.r1"), value_of(&a, "x2.r1"));
    ck_assert_double_eq(value_of(&a, "x1.r3"), 1);
    ck_assert(fabs(value_of(&a, "x3.r1") - 9) < 6 && value_of(&a, "x3.r1") != 9);
    static const char *const both[] = {"r0", "x1.r1", "x2.r1"};
    for (size_t i = 0; i < VS_COUNT(both); i++) {
        ck_assert_double_eq(value_of(&a, both[i]), value_of(&b, both[i]));
        ck_assert_double_ne(value_of(&a, both[i]), value_of(&c, both[i]));
        ck_assert_double_ne(value_of(&a, both[i]), value_of(&d, both[i]));
    }
    ck_assert(value_of(&b, "r9") > 1.5 && value_of(&b, "r9") < 4.5);
    fixture *const all[] = {&a, &b, &c, &d};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        deck_fini(all[i]);
}
END_TEST

START_TEST(draws_are_distributed)
{
    enum { N = 100000 };
    double m[3][5] = {{0}};
    for (int64_t i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            const double x = flat_random(1, i, "x1.", "vth", 0, (flat_dist)k);
            for (int p = 1; p < 5; p++)
                m[k][p] += pow(x, p) / N;
        }
    static const double wanted[3][5] = {{1, 0, 1, 0, 3}, {1, 0, 1.0 / 3, 0, 0.2}, {1, 0, 1, 0, 1}};
    for (int k = 0; k < 3; k++)
        for (int p = 1; p < 5; p++)
            ck_assert_double_eq_tol(m[k][p], wanted[k][p], (p < 3 ? 0.015 : 0.06));
    /* these bits are the same on every machine */
    ck_assert_double_eq(flat_random(1, 2, "x1.", "vth", 3, FLAT_NORMAL), 0x1.070f023c7540ap-3);
    ck_assert_double_eq(flat_random(1, 2, "x1.", "vth", 3, FLAT_UNIFORM), 0x1.9f9121c69dd4p-1);
}
END_TEST

START_TEST(title_and_cards_are_kept)
{
    fixture t;
    const char *deck = "My title\n.subckt s a\nr1 a 0 {1 + 2}\n.ends\nX1 p s\n.end\n";
    deck_from(&t, deck, strlen(deck));
    ck_assert_str_eq(t.f.title, "My title");
    char *buf = NULL;
    size_t n = 0;
    FILE *out = stream_text(&buf, &n);
    net_print(&t.deck, &t.d, &t.names, out);
    fclose(out);
    ck_assert_str_eq(buf, "* My title\n.subckt s a\n  r1 a 0 {1 + 2}\n.ends s\nx1 p s\n");
    vs_free(buf);
    deck_fini(&t);
}
END_TEST

/* Values that the model does not give itself are those of the other one, evaluated where that
 * stands. */
START_TEST(models_are_like_others)
{
    fixture t;
    const char *deck = "t\n.param a=3\n.model x ako: y d (n=2 is=1e-12)\n.model z ako:x "
                       "(rs=1)\n.model y d (is=1e-14 n={a} cjo=1p)\n"
                       "d1 1 0 x\nd2 1 0 z\nx1 1 s\n.subckt s p\n.param a=7\n.model y ako:y "
                       "(rs=2)\nd1 p 0 y\n.ends\n.end\n";
    deck_from(&t, deck, strlen(deck));
    ck_assert_int_eq(t.d.n_error, 0);
    char *buf = NULL;
    size_t n = 0;
    FILE *out = stream_text(&buf, &n);
    flat_print(&t.f, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(buf, ".model x d n=2 is=1e-12 cjo=1e-12\n"));
    ck_assert_ptr_nonnull(strstr(buf, ".model z d rs=1 n=2 is=1e-12 cjo=1e-12\n"));
    ck_assert_ptr_nonnull(strstr(buf, ".model y d rs=2 is=1e-14 n=3 cjo=1e-12\n"));
    vs_free(buf);
    deck_fini(&t);
}
END_TEST

static void assert_same_circuit(const char *a, const char *b)
{
    fixture s, t;
    deck_from(&s, a, strlen(a));
    deck_from(&t, b, strlen(b));
    char *one = deck_text(&s), *other = deck_text(&t);
    ck_assert_msg(s.build == VS_OK && t.build == VS_OK, "%s", a);
    ck_assert_str_eq(one, other);
    vs_free(one);
    vs_free(other);
    deck_fini(&s);
    deck_fini(&t);
}

/* SPICE2's cards have blanks where others have "="; n is a name here, and no unit of 3e-12. */
START_TEST(models_need_no_equal_signs)
{
    assert_same_circuit("t\n.model m d (is 3e-12 n -1.5 cjo=.1p rs\n+ 2 vj .9)\nd1 1 0 m\n.end\n",
                        "t\n.model m d is=3e-12 n=-1.5 cjo=.1p rs=2 vj=.9\nd1 1 0 m\n.end\n");
    assert_same_circuit("t\n.model q npn(bf 100)\nq1 1 2 0 q\n.end\n",
                        "t\n.model q npn bf=100\nq1 1 2 0 q\n.end\n");
}
END_TEST

/* Most elements are read as three words, the others as tokens: the same circuit comes out. */
START_TEST(elements_are_the_same_with_and_without_tokens)
{
    static const char *const pair[][2] = {{"r1 a b 1k", "r1 a b {1k}"},
                                          {"R1 A B 1K", "r1 a b {1k}"},
                                          {"c1 a\tb  2.5pF  ", "c1 (a b) 2.5p"},
                                          {"l1 a b 1e-9", "l1 a b 1n ; coil"},
                                          {"r1 a b 1k\n* note\n\n", "r1 a b\n+ 1k"},
                                          {"r1 a b -5", "r1 a,b {-5}"},
                                          {"r1 x.y n#1 1meg", "r1 x.y n#1 '1meg'"},
                                          {"r1 a b 1k\n+ m=2", "r1 a b {1k} m=2"},
                                          {"r1 a b 1k\n* note\n+ m=2", "r1 a b {1k} m=2"},
                                          {"r1 a b 1k $ twice", "r1 a b {1k}"},
                                          {"r1 a gnd 0.001mil", "r1 a 0 {25.4n}"}};
    char a[200], b[200];
    for (size_t i = 0; i < VS_COUNT(pair); i++) {
        snprintf(a, sizeof a, "t\n%s\nv1 a 0 1\n.end\n", pair[i][0]);
        snprintf(b, sizeof b, "t\n%s\nv1 a 0 1\n.end\n", pair[i][1]);
        assert_same_circuit(a, b);
    }
    /* a name of a model that looks like a number; the last line of a text without an end */
    assert_same_circuit("t\nr1 a 0 2k\n.model 2k r r=5\n", "t\nr1 a 0 2K\n.model 2k r (r=5)\n");
    assert_same_circuit("t\nr1 a 0 5", "t\nr1 a 0 {5}\n.end\n");
    fixture t;
    const char *deck = "t\nr1 a 0 1k\nR1 b 0 2k\nc1 a 0 1A\n.end\n";
    deck_from(&t, deck, strlen(deck));
    char *said = deck_messages(&t);
    ck_assert(strstr(said, "3:1: error: element 'r1' is defined twice\n"
                           "2:1: note: first defined here\n"));
    ck_assert(strstr(said, "4:8: warning: this is 1e-18"));
    vs_free(said);
    deck_fini(&t);
}
END_TEST

START_TEST(equal_instances_share_what_they_have_until_one_is_changed)
{
    const char *deck = "t\n.model n nmos vto=1\n.subckt s a w=1\nM1 a a 0 0 n w={w} l=2\nR1 a 0 n2 "
                       "l={w}\n.model n2 r rsh=1\n.ends\nX1 a s\nX2 b s\nX3 c s w=3\nX4 d s w=3\n";
    fixture t;
    deck_from(&t, deck, strlen(deck));
    char *text = deck_text(&t);
    ck_assert_int_eq(t.build, VS_OK);
    ck_assert_int_eq(vec_len(t.f.inst), 8);
    flat_inst *in = t.f.inst; /* m1, r1 of each */
    for (int k = 0; k < 2; k++) {
        ck_assert_ptr_eq(in[k].param, in[2 + k].param);
        ck_assert_ptr_eq(in[k].rare, in[2 + k].rare);
        ck_assert_ptr_eq(in[4 + k].param, in[6 + k].param);
        ck_assert_ptr_ne(in[2 + k].param, in[4 + k].param);
        ck_assert_ptr_ne(in[k].param, in[k + 4].param);
    }
    flat_rare *own = flat_own_rare(&t.mem, &in[2]);
    ck_assert_ptr_eq(own, in[2].rare);
    ck_assert_ptr_eq(own, flat_own_rare(&t.mem, &in[2]));
    ck_assert_ptr_ne(in[0].rare, own);
    ck_assert_ptr_ne(in[0].param, in[2].param);
    ck_assert_ptr_eq(own->model, in[0].rare->model);
    char *again = deck_text(&t); /* copies say the same */
    ck_assert_str_eq(text, again);
    in[2].param[0].value = 7;
    ck_assert_double_eq(in[0].param[0].value, 1);
    vs_free(text);
    vs_free(again);
    deck_fini(&t);
}
END_TEST

START_TEST(a_plain_element_has_its_parameter_when_somebody_changes_it)
{
    const char *deck = "t\n.subckt s a\nR1 a 0 2k\n.ends\nX1 a s m=3\nC1 a 0  5p\nL1 a 0 l=1u\n";
    fixture t;
    flat_room room;
    deck_from(&t, deck, strlen(deck));
    char *text = deck_text(&t);
    ck_assert_str_eq(text, "x1.r1 a 0 value=2000 m=3\nc1 a 0 value=5e-12\nl1 a 0 l=1e-06\n");
    flat_inst *in = t.f.inst;
    const flat_param *p = flat_params(&in[1], &room);
    ck_assert_ptr_eq(p, &room.param);
    ck_assert_uint_eq(vec_len(p), 1);
    ck_assert_ptr_eq(p[0].name, str_intern0(&t.names, "value"));
    ck_assert_int_eq(p[0].span.file, in[1].span.file);
    ck_assert_mem_eq(diag_text(&t.d, p[0].span.file) + p[0].span.off, "5p\n", 3);
    ck_assert_uint_eq(p[0].span.len, 2);
    ck_assert_ptr_eq(flat_params(&in[2], &room), in[2].param);
    (void)flat_own_rare(&t.mem, &in[0]);
    ck_assert_ptr_eq(flat_params(&in[0], &room), in[0].param);
    char *again = deck_text(&t);
    ck_assert_str_eq(text, again);
    in[0].param[0].value = 7;
    ck_assert_double_eq(flat_params(&in[1], &room)[0].value, 5e-12);
    vs_free(text);
    vs_free(again);
    deck_fini(&t);
}
END_TEST

/* Lists of parameters are those of the first instance of a kind, which is another one where a
 * parameter differs, or one of a caller, which is seen within. There may be any number of kinds. */
START_TEST(kinds_of_instances_differ_by_all_that_parameters_see)
{
    static const deck_case t[] = {
        {".model d1 d is=1\n.subckt in a f=1\nD1 a 0 d1 area={f*k}\n.ends\n.subckt out a k=2\nX1 a "
         "in f=3\nX2 a in f=3\nX3 a in f=4\n.ends\nX1 p out\nX2 p out k=5\nX3 p out",
         ".model d1 d is=1\n"
         "x1.x1.d1 p 0 d1 area=6\nx1.x2.d1 p 0 d1 area=6\nx1.x3.d1 p 0 d1 area=8\n"
         "x2.x1.d1 p 0 d1 area=15\nx2.x2.d1 p 0 d1 area=15\nx2.x3.d1 p 0 d1 area=20\n"
         "x3.x1.d1 p 0 d1 area=6\nx3.x2.d1 p 0 d1 area=6\nx3.x3.d1 p 0 d1 area=8\n"},
        {".model d1 d is=1\n.subckt s a f=1\nD1 a 0 d1 area={f}\n.ends\nX1 a s f={q}\nX2 a s "
         "f={q*2}\nX3 a s f=7\nX4 a s m=3 f=7\n.param q=2",
         ".model d1 d is=1\nx1.d1 a 0 d1 area=2\nx2.d1 a 0 d1 area=4\nx3.d1 a 0 d1 area=7\n"
         "x4.d1 a 0 d1 area=7 m=3\n"},
        {".model d1 d is=1\n.subckt s a f=1\nD1 a 0 d1 area={f}\n.ends\nX1 a s f=1\nX2 a s f=2\nX3 "
         "a s f=3\nX4 a s f=4\nX5 a s f=5\nX6 a s f=6\nX7 a s f=7\nX8 a s f=8\nX9 a s f=9\nX10 a s "
         "f=9\nX11 a s f=8",
         ".model d1 d is=1\nx1.d1 a 0 d1 area=1\nx2.d1 a 0 d1 area=2\nx3.d1 a 0 d1 area=3\n"
         "x4.d1 a 0 d1 area=4\nx5.d1 a 0 d1 area=5\nx6.d1 a 0 d1 area=6\nx7.d1 a 0 d1 area=7\n"
         "x8.d1 a 0 d1 area=8\nx9.d1 a 0 d1 area=9\nx10.d1 a 0 d1 area=9\nx11.d1 a 0 d1 area=8\n"},
    };
    check_cases(t, VS_COUNT(t));
    const char *deck = "t\n.model d1 d is=1\n.subckt in a\nD1 a 0 d1 area=2\n.ends\n.subckt out "
                       "a\nX1 a in\nX2 a in\n.ends\nX1 a out\nX2 b out\n";
    fixture f;
    deck_from(&f, deck, strlen(deck));
    ck_assert_int_eq(f.build, VS_OK);
    for (int k = 1; k < 4; k++) {
        ck_assert_ptr_eq(f.f.inst[0].param, f.f.inst[k].param);
        ck_assert_ptr_eq(f.f.inst[0].rare, f.f.inst[k].rare);
    }
    deck_fini(&f);
}
END_TEST

/* The same deck with a plan, where each instance is expanded for itself. */
static void check_copies(const char *deck)
{
    fixture a, b;
    flat_plan *plan = flat_plan_new();
    deck_init(&a);
    deck_init(&b);
    for (int k = 0; k < 2; k++) {
        fixture *t = k ? &b : &a;
        ck_assert_int_eq(
            net_read_text(&t->deck, &t->d, &t->names, &t->mem, "t.sp", deck, strlen(deck), NULL),
            VS_OK);
        t->build = flat_build(&t->f, &t->deck, &t->d, &t->names, &t->mem, 27, NULL, 0,
                              k ? plan : NULL, NULL);
    }
    char *one = deck_text(&a), *each = deck_text(&b), *say = deck_messages(&a),
         *says = deck_messages(&b);
    ck_assert_msg(!strcmp(one, each), "%s\ngives\n%s\nbut with a plan\n%s", deck, one, each);
    ck_assert_str_eq(say, says);
    ck_assert_int_eq(a.build, b.build);
    ck_assert_uint_eq(vec_len(a.f.node), vec_len(b.f.node));
    for (size_t i = 0; i < vec_len(a.f.node); i++)
        ck_assert_str_eq(a.f.node[i], b.f.node[i]);
    for (size_t i = 0; i < vec_len(a.f.inst); i++) {
        const flat_inst *x = &a.f.inst[i], *y = &b.f.inst[i];
        ck_assert_ptr_eq(x->name, str_intern0(&a.names, y->name));
        ck_assert_uint_eq(x->n_node, y->n_node);
        ck_assert_mem_eq(x->node, y->node, x->n_node * sizeof *x->node);
    }
    char *const text[] = {one, each, say, says};
    for (size_t k = 0; k < VS_COUNT(text); k++)
        vs_free(text[k]);
    flat_plan_free(&plan);
    deck_fini(&a);
    deck_fini(&b);
}

/* Whatever the ports of the first instance of a kind are connected to: to each other, to ground, to
 * a node that elements inside name themselves; and where an expansion says more than elements. */
START_TEST(instances_are_copied_as_they_would_be_expanded)
{
    static const char *const gates =
        ".subckt d a b w=1\nR1 a b 1k\nC1 a n {w}\nD1 n b d1 area={w}\n.ends\n"
        ".subckt nand p q r\nX1 p mid d w=2\nX2 mid r d w=2\nX3 q vdd d\nR1 r 0 5\nR2 Out% mid "
        "7\n.ends\n.subckt pair a b c\nX1 a b in nand\nX2 in b c nand m=2\nX3 b b c nand\n"
        "X4 a in b nand m=2\n.ends\n.model d1 d is=1\n.global vdd\nV1 vdd 0 1\nD0 vdd 0 d1\n";
    static const char *const tops[] = {
        "X1 1 2 3 pair\nX2 2 3 4 pair\nX3 3 3 4 pair\nX4 4 0 5 pair\nX5 vdd 5 0 pair\n",
        "X1 1 1 2 pair\nX2 1 2 3 pair\nX3 2 2 2 pair\nX4 7 8 9 nand\nX5 8 8 9 nand\n",
        "X1 0 1 2 pair\nX2 1 0 2 pair\nX3 0 0 0 pair\nX4 0 5 6 pair\n",
        "X1 vdd 1 2 nand\nX2 1 vdd 2 nand\nX3 vdd vdd x3.mid nand\nX4 x5.mid 1 2 nand\nX5 1 2 3 "
        "nand\nX6 1 gnd GND nand\n",
        ".param w=3\nX1 1 2 d\nX2 2 3 d w={w}\nX3 3 4 d w={w}\nX4 4 5 d w=3\nX5 5 6 d m={w}\n",
        ".subckt s a\nV1 a 0 pulse(0 1 1n)\nR1 a 0 1\n.ends\nX1 1 s\nX2 2 s\nX3 3 s\n",
        ".subckt s a\nR1 a n 1\nC1 n 0 1p\n.ic v(n)=2\n.ends\nX1 1 s\nX2 2 s\nX3 3 s\n",
        ".subckt s a\nL1 a n 1\nL2 n 0 1\nK1 l1 l2 .5\nB1 a 0 I=v(n)\nE1 n 0 a 0 2\n.ends\n"
        "X1 1 s\nX2 2 s\nX3 3 s\n",
        ".subckt s a\nR1 a n q\nD1 n 0 d1 area={k}\n.ends\n.param k=2\nX1 1 s\nX2 2 s\nX3 3 s\n",
        ".subckt s a b\nX1 a b t\n.subckt t a b\nR1 a b 1\nD1 a c d1\n.ends\n.ends\nX1 1 2 s\n"
        "X2 2 3 s\nX3 3 4 s\n",
        ".subckt s a f=1\n.if (f>1)\nR1 a b 1\n.else\nC1 b 0 1\n.endif\nD1 b 0 d1\n.ends\n"
        "X1 1 s\nX2 2 s f=2\nX3 3 s\nX4 4 s f=2\nX5 5 s f=2\n",
        "X1 1 2 pair\nX2 1 2 3 pair\nX3 3 4 pair\nX4 1 2 3 pair z=1\n"};
    for (size_t i = 0; i < VS_COUNT(tops); i++) {
        char deck[2000];
        ck_assert_int_lt(snprintf(deck, sizeof deck, "title\n%s%s", gates, tops[i]),
                         (int)sizeof deck);
        check_copies(deck);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {lines_become_cards,
                                  texts_of_parameters_name_models,
                                  elements_have_nodes_and_values,
                                  sources_have_waveforms,
                                  parameters_are_found_in_scope,
                                  branches_are_taken_by_condition,
                                  dot_cards_are_read,
                                  values_from_outside_win,
                                  options_are_read_alone,
                                  draws_belong_to_names,
                                  draws_are_distributed,
                                  title_and_cards_are_kept,
                                  models_are_like_others,
                                  models_need_no_equal_signs,
                                  elements_are_the_same_with_and_without_tokens,
                                  equal_instances_share_what_they_have_until_one_is_changed,
                                  a_plain_element_has_its_parameter_when_somebody_changes_it,
                                  kinds_of_instances_differ_by_all_that_parameters_see,
                                  instances_are_copied_as_they_would_be_expanded};
    return run_tests("flat/flat", tests, VS_COUNT(tests));
}
