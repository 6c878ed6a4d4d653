/* Messages of net_*.c: wrong decks, each with line, column and text of everything that is said. */
#include "flat_test.h"
#include "stream.h"

START_TEST(wrong_decks_say_what_and_where)
{
    /* the title is line 1 */
    static const struct {
        const char *deck, *messages;
    } t[] = {
        {".parm a=1", "2:1: error: unknown card '.parm'\n"
                      "note: did you mean '.param'?\n"},
        {".tram 1n 2n", "2:1: error: unknown card '.tram'\n"
                        "note: did you mean '.tran'?\n"},
        {"R1 a", "2:5: error: a resistor has two nodes and a value or model: Rname a b value\n"},
        {"R1 a b", "2:7: error: a resistor has two nodes and a value or model: Rname a b value\n"},
        {"C1 a", "2:5: error: a capacitor has two nodes and a value or model: Cname a b value\n"},
        {"R1 a b 1x5", "2:8: error: bad number '1x5'\n"},
        {"R1 a b {1+", "2:8: error: no closing brace '}'\n"},
        {"R1 a b 'k", "2:8: error: no closing quote (')\n"},
        {".include \"x.inc", "2:10: error: no closing quote '\"'\n"},
        {".include \"missing.inc\"", "2:10: error: file 'missing.inc' does not exist\n"},
        {".include", "2:1: error: .include needs a file name\n"},
        {".include \".\"", "2:10: error: file '.' is a directory\n"},
        {".lib \"missing.lib\" tt", "2:6: error: file 'missing.lib' does not exist\n"},
        {"M1 d g s", "2:9: error: a MOS transistor has four or more nodes and a model: Mname d g s "
                     "b model (3 words given)\n"},
        {"V1 a", "2:5: error: a voltage source has two nodes: Vname plus minus value\n"},
        {"V1 a 0 pulse(0 1 0 0 0 0 0 0 9)",
         "2:30: error: too many values: pulse takes at most 8\n"},
        {"V1 a 0 pulse(0 1", "2:17: error: ')' is expected at the end of the waveform\n"},
        {"V1 a 0 pwl(0 0 1)",
         "2:16: warning: PWL takes pairs of time and value; this time has no value and is left "
         "out\n"},
        {"V1 a 0 pwl(0 0 2 1 1 0)", "2:20: error: PWL times do not go back: 1 after 2\n"},
        {"V1 a 0 sin(0 1 1k) pulse(0 1)",
         "2:20: error: a second waveform; the source has one already\n"},
        {"V1 a 0 1 2", "2:10: error: a waveform, dc or ac is expected, not '2'\n"},
        {"E1 a b c d", "2:11: error: a voltage-controlled source has four nodes and a gain: Ename "
                       "a b c d gain\n"},
        {"E1 a b c",
         "2:9: error: a voltage-controlled source has four nodes and a gain: Ename a b c d gain\n"},
        {"F1 a b vx 2\nV1 a b 1\nVy c 0 1", "2:8: error: no element 'vx' here\n"
                                            "note: did you mean 'v1'?\n"},
        {"F1 a b", "2:7: error: a current-controlled source has two nodes, a source and a gain: "
                   "Fname a b vname gain\n"},
        {"K1 L1 0.5",
         "2:7: error: a coupling names inductors and a factor: Kname L1 L2 value, not '0.5'\n"},
        {"B1 a b 3", "2:8: error: a behavioural source has two nodes and v= or i=: Bname a b "
                     "v={...}, not '3'\n"},
        {"B1 a 0 v={v(q)}\nR1 qq 0 1", "2:11: error: no node 'q'\n"},
        {"B1 a 0 v={i(vq)}\nVqq a 0 1", "2:11: error: no element 'vq'\n"
                                        "note: did you mean 'vqq'?\n"},
        {"X1 a b nosub\n.subckt mysub a b\n.ends", "2:8: error: unknown subcircuit 'nosub'\n"
                                                   "note: did you mean 'mysub'?\n"},
        {"X1 a b inw\n.subckt inv a b\nR1 a b 1\n.ends", "2:8: error: unknown subcircuit 'inw'\n"
                                                         "note: did you mean 'inv'?\n"},
        {"X1 a inv\n.subckt inv a b\nR1 a b 1\n.ends",
         "2:1: error: 'x1' connects 1 node, subcircuit 'inv' has 2\n"
         "3:9: note: 'inv' is defined here\n"},
        {"X1 a b inv q=1\n.subckt inv a b qq=2\nR1 a b 1\n.ends",
         "2:12: warning: subcircuit 'inv' has no parameter 'q': it has no effect\n"
         "3:9: note: 'inv' is defined here\n"},
        {"X1", "2:3: error: an instance has nodes and a subcircuit: Xname node ... subcircuit\n"},
        {".subckt s a\nR1 a 0 {1/z}\n.ends\nX1 p s\n.param z=0",
         "3:9: error: division of 1 by zero\n"
         "5:1: note: in instance x1\n"},
        {".subckt s a z=0\nR1 a 0 {1/z}\n.ends\n.subckt t a\nX2 a s\n.ends\nX1 p t",
         "3:9: error: division of 1 by zero\n"
         "8:1: note: in instance x1.x2\n"},
        {".subckt a p\nX1 p b\n.ends\n.subckt b p\nX1 p a\n.ends\nX1 n a",
         "6:6: error: subcircuit 'a' contains itself: a -> b -> a\n"
         "8:1: note: in instance x1.x1\n"},
        {".subckt a p\nR1 p 0 1", "2:9: error: .subckt 'a' without .ends\n"},
        {".subckt a p\n.ends b", "3:7: warning: .ends names 'b', but the open subcircuit is 'a'\n"
                                 "2:9: note: 'a' is opened here\n"},
        {".ends", "2:1: error: .ends without .subckt\n"},
        {".subckt a p p\n.ends\nX1 1 2 a", "2:13: error: terminal 'p' is listed twice\n"},
        {".param a={b} b={c} c={a}\nR1 x 0 {a}",
         "2:8: error: parameter 'a' depends on itself: a -> b -> c -> a\n"},
        {".param a=1\n.param a=2",
         "3:8: warning: parameter 'a' is defined twice, the last one counts\n"
         "2:8: note: first defined here\n"},
        {".param a", "2:8: error: name=value is expected, not 'a'\n"},
        {".param a=", "2:10: error: an expression is expected\n"},
        {".param a={1/0}", "2:11: error: division of 1 by zero\n"},
        {".param a={b+1}", "2:11: error: unknown parameter 'b'\n"},
        {".model m1", "2:10: error: the model's type is expected\n"},
        {".model", "2:7: error: .model needs a name and a type\n"},
        {".model m d is=1\n.model m d is=2",
         "3:8: warning: model 'm' is defined twice, the last one counts\n"
         "2:8: note: first defined here\n"},
        {".model m d is={1/0}\nD1 a 0 m", "2:16: error: division of 1 by zero\n"},
        {".model m d (is=1 n)\nD1 a 0 m", "2:18: error: name=value is expected, not 'n'\n"},
        {"R1 a 0 1\nr1 b 0 1", "3:1: error: element 'r1' is defined twice\n"
                               "2:1: note: first defined here\n"},
        {"R1 a 0 1 tc1=1 tc1=2", "2:16: warning: 'tc1' is given twice, the last one counts\n"
                                 "2:10: note: first given here\n"},
        {".if 1\nR1 a 0 1", "2:1: error: .if without .endif\n"},
        {".else", "2:1: error: .else without .if\n"},
        {".endif", "2:1: error: .endif without .if\n"},
        {".if 1\n.else\n.elseif 1\n.endif", "4:1: error: .elseif after .else\n"
                                            "2:1: note: of the .if here\n"},
        {".if", "2:1: error: .if needs a condition\n"
                "2:1: error: .if without .endif\n"},
        {".if x>1\n.endif", "2:5: error: unknown parameter 'x'\n"},
        {".tran",
         "2:6: error: .tran needs a step and an end: .tran tstep tstop [tstart [tmax]] [uic]\n"},
        {".tran 1n",
         "2:9: error: .tran needs a step and an end: .tran tstep tstop [tstart [tmax]] [uic]\n"},
        {".tran -1n 1u", "2:7: error: the step tstep must be positive or 0, not -1e-09\n"},
        {".tran 1n 0", "2:10: error: the end tstop must be positive, not 0\n"},
        {".tran 1n 1u -1", "2:13: error: the start tstart must be positive or 0, not -1\n"},
        {".tran 1n 1u 2u", "2:1: error: tstart (2e-06) is not before tstop (1e-06)\n"},
        {".tran 1n 1u 0 -1n",
         "2:15: error: the largest step tmax must be positive or 0, not -1e-09\n"},
        {".tran 1n 1u 0 1n 5", "2:18: error: .tran takes tstep tstop tstart tmax and uic; nothing "
                               "more is expected, not '5'\n"},
        {".tran 1n {1/0}", "2:11: error: division of 1 by zero\n"},
        {".dc", "2:4: error: .dc needs a source and its range: .dc name start end step\n"},
        {".dc v1 0 1 0.1", "2:5: error: no source, parameter or element 'v1' to sweep\n"},
        {"V1 a 0 1\nV2 b 0 1\n.dc v3 0 1 0.1",
         "4:5: error: no source, parameter or element 'v3' to sweep\n"
         "note: did you mean 'v1'?\n"},
        {"V1 a 0 1\n.dc v1 0 1 0", "3:12: error: the step is 0\n"},
        {"V1 a 0 1\n.dc v1 0 1 -1", "3:12: error: the step -1 leads away from the end\n"},
        {"V1 a 0 1\n.dc v1 0 1 1e-9", "3:12: error: 1e+09 points, more than 10000000\n"},
        {"V1 a 0 1\n.dc v1 0 1", "3:11: error: a sweep needs start, end and step\n"},
        {"V1 a 0 1\n.dc v1 dec 10 0 1",
         "3:17: error: dec goes from a positive number to a larger one, not from 0 to 1\n"},
        {"V1 a 0 1\n.dc v1 lin 2.5 0 1",
         "3:18: error: lin needs a whole number of points, at least 1, not 2.5\n"},
        {"V1 a 0 1\n.dc v1 list", "3:12: error: LIST needs values\n"},
        {".dc temp 0 1 1 temp 0 1 1 temp 0 1 1 temp 0 1 1 temp 0 1 1",
         "2:49: error: .dc takes at most four sweeps, not 'temp'\n"},
        {".pss 1k 1m 3 10 5 50", "2:12: error: no node '3'\n"},
        {".disto dec 1 1", "2:15: error: the last frequency is missing\n"},
        {".disto dec 1 1 2 0.5 3", "2:22: error: nothing more is expected, not '3'\n"},
        {".control\nrun", "2:1: warning: .control without .endc: it ends with the file\n"},
        {".endc", "2:1: warning: .endc without .control has no effect\n"},
        {".ic a", "2:5: error: v(node)=value is expected, not 'a'\n"},
        {".ic v(zz)=1\nR1 z 0 1", "2:7: warning: no node 'zz'; the card goes on without it\n"
                                  "note: did you mean 'z'?\n"},
        {".save v(zz)\nR1 z 0 1", "2:7: warning: no node 'zz'; nothing is saved for it\n"
                                  "note: did you mean 'z'?\n"},
        {".save i(r2)\nR1 z 0 1", "2:7: warning: no element 'r2'; nothing is saved for it\n"
                                  "note: did you mean 'r1'?\n"},
        {".save vdb(zz)\nR1 z 0 1", "2:7: warning: no node 'zz'; nothing is saved for it\n"
                                    "note: did you mean 'z'?\n"},
        {".options reltol=", "2:17: error: a value is expected\n"},
        {"R1 a 0 1\n.end\nR2 a 0 1",
         "4:1: warning: text after .end is ignored, but for .control blocks\n"},
        {"+ R1 a 0 1", "2:1: error: continuation line with no card before it\n"},
        {"=3", "2:1: warning: no card starts with '=': the line is taken as a comment; '*' would "
               "begin one\n"},
        {"{1} a 3", "2:1: error: a card starts with a name or a dot word\n"},
        {"P1 a b 1", "2:9: error: coupled lines have nodes at one end, those at the other, and a "
                     "model: Pname a1 a2 0 b1 b2 0 model (3 words given)\n"},
        {"A1 mod", "2:7: error: a code model has connections and a model: Aname in [in1 in2] %vd(p "
                   "n) out model\n"},
        {"A1 [a b mod", "2:9: error: no closing bracket ']' before the model\n"},
        {"A1 a] b mod", "2:5: error: ']' without '[': a vector of connections is [a b c]\n"},
        {"A1 [[a b] c mod", "2:5: error: a vector of connections within another one\n"},
        {"A1 a gain=2 mod", "2:10: error: parameters of a code model stand on its .model card\n"},
        {"A1 a \"b\" mod", "2:6: error: a node, '[', ']' or '%' and a type is expected\n"},
        {".model m pwl(x_array=[1 2\n+ y_array=[3 4])\nR1 a 0 m",
         "2:22: error: no closing bracket ']'\n"},
        {".model m pwl(x_array=[])\nR1 a 0 m", "2:22: error: a list has values: x_array=[1 2 3]\n"},
        {"T1 a b", "2:7: error: a transmission line has four nodes: Tname a b c d z0=...\n"},
        {"S1 a b c",
         "2:9: error: a switch has four nodes and a model: Sname a b c d model (3 words given)\n"},
        {"Q1 a b", "2:7: error: a bipolar transistor has three to five nodes and a model: Qname c "
                   "b e model (2 words given)\n"},
        {"W1 a b", "2:7: error: a current-controlled switch has two nodes, a source and a model: "
                   "Wname a b vname model\n"},
        {"N1", "2:3: error: a Verilog-A instance has nodes and a model: Nname node ... model (0 "
               "words given)\n"},
        {"D1", "2:3: error: a diode has two nodes and a model: Dname anode cathode model (0 words "
               "given)\n"},
        {".subckt s a\nM1 a\n.ends\nX1 p s\nX2 p s",
         "3:5: error: a MOS transistor has four or more nodes and a model: Mname d g s b model (1 "
         "word given)\n"},
        {".func f", "2:8: error: '(' is expected after the function name\n"},
        {".func f(x)", "2:11: error: an expression is expected\n"},
        {".func f(x)={x+y}\nR1 a 0 {f(1)}", "2:15: error: unknown parameter 'y'\n"},
        {"R1 a 0 1 m=-1", "2:12: error: m=-1: a multiplicity is not negative\n"},
        {"R1 a 0 1 foo bar=", "2:10: error: name=value is expected, not 'foo'\n"},
        {"R1 a 0 )",
         "2:9: error: a resistor has two nodes and a value or model: Rname a b value\n"},
        {"m1 d g s b nch l=5u w=1u\n.model nch.1 nmos lmin=0 lmax=1u",
         "2:12: error: no bin of model 'nch' holds l = 5u, w = 1u\n"
         "3:8: note: 'nch.1' holds l = 0u ... 1u, w = 0u ... any\n"},
        {"m1 d g s b nch l=0.5u\n.model nch.1 nmos lmin=0 lmax=1u",
         "2:12: error: the bins of model 'nch' are chosen by l and w; w is not given\n"},
        {".option scale=1u\nm1 d g s b nch l=1 w=8 nf=2\n"
         ".model nch.1 nmos lmin=0 lmax=1u wmax=1u\n.model nch.2 nmos lmin=0 lmax=1u wmin=1u "
         "wmax=3u\n.model nch.3 nmos lmin=0 lmax=1u wmin=5u wmax=6u",
         "3:12: error: no bin of model 'nch' holds l = 1u, w = 4u of one finger\n"
         "note: l and w were multiplied by .option scale=1e-06\n"
         "6:8: note: 'nch.3' holds l = 0u ... 1u, w = 5u ... 6u\n"
         "5:8: note: 'nch.2' holds l = 0u ... 1u, w = 1u ... 3u\n"},
        {".endl", "2:1: error: .endl without .lib\n"},
        {".lib tt", "2:1: error: .lib section without .endl\n"},
        {".lib", "2:1: error: .lib needs a file and a section\n"},
        {"E1 a 0 freq {v(1)} = (1,0)",
         "2:8: error: FREQ needs groups of three numbers, frequency, gain in dB and degrees: "
         "FREQ {v(a)} = (1k,0,0) (10k,-3,-45)\n"},
        {"E1 a 0 nor(2) b 0 c 0 (1,2)",
         "2:8: error: a gate has a number of inputs, two nodes for each, and a table: AND(2) a 0 "
         "b 0 (0.5,0) (1,5)\n"},
        {"E1 a 0 foster (1)", "2:8: error: the form 'foster' of a controlled source is not "
                              "supported\n"},
        {"E1 a 0 laplace b 0 1 2",
         "2:8: error: LAPLACE needs coefficients of 1, s, s^2 ... of numerator and denominator: "
         "LAPLACE a 0 1 / 1 1u\n"},
        {"E1 a 0 TABLE {v(a)} = (1)",
         "2:8: error: TABLE needs pairs of numbers: TABLE {expr} = (x,y) (x,y)\n"},
        {"E1 a 0 POLY(0) 1", "2:13: error: POLY needs a dimension from 1 to 100: POLY(2)\n"},
        {"V1 a 0 trnoise(1 2 3 4 5 6 7 8)",
         "2:30: error: too many values: trnoise takes at most 7\n"},
        {"V1 a 0 pwl file=\"not there.csv\"", "2:17: error: file 'not there.csv' does not exist\n"},
        {"V1 a 0 pwl(0 1 file=x.csv)", "2:16: error: this PWL has its pairs already\n"},
        {".subckt s a\n.tran 1n 1u\n.ends\nX1 1 s",
         "3:1: warning: .tran inside a subcircuit is ignored\n"},
        {".temp x", "2:7: error: unknown parameter 'x'\n"},
        {".hdl", "2:1: error: .hdl needs a file name\n"},
        {"C1 a 0 1p ic=1,2,3,4,5", "2:22: error: ic= takes at most 4 values\n"},
        {".nodeset v(a) v(b)=", "2:12: warning: v(a) has no value and is left out: v(a)=value is "
                                "expected\n2:20: error: a value is expected\n"},
        {".nodeset a", "2:10: error: v(node)=value is expected, not 'a'\n"},
        {".subckt", "2:1: error: .subckt needs a name\n"
                    "2:1: error: .subckt '?' without .ends\n"},
        {"R1 a 0 {v(a}", "2:13: error: ')' expected\n"},
        {"L1 a 0 {v()}", "2:11: error: node name expected\n"},
        {".param x={v(a)}", "2:11: error: 'v()' depends on the circuit, a number is needed here\n"},
    };
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        char deck[2000];
        ck_assert_int_lt(snprintf(deck, sizeof deck, "title\n%s", t[i].deck), (int)sizeof deck);
        fixture f;
        deck_from(&f, deck, strlen(deck));
        char *msg = deck_messages(&f);
        ck_assert_msg(!strcmp(msg, t[i].messages), "%s\ngives\n%sexpected:\n%s", t[i].deck, msg,
                      t[i].messages);
        bool failed = f.read != VS_OK || f.build != VS_OK;
        ck_assert_int_eq(failed, strstr(msg, "error: ") != NULL);
        vs_free(msg);
        deck_fini(&f);
    }
}
END_TEST

START_TEST(carets_stand_under_the_place)
{
    fixture f;
    deck_from(&f, "only a title", 12);
    ck_assert_int_eq(f.read, VS_EINPUT);
    deck_fini(&f);
    const char *deck = "title\nR1 a 0 1\nM1 d g 0 0 {tow*\n+ tpw}\n.subckt s a\nR1 a 0 "
                       "{1/z}\n.ends\nx1 q s\n.param z=0\n";
    deck_from(&f, deck, strlen(deck));
    char *buf = NULL;
    size_t n = 0;
    FILE *out = stream_text(&buf, &n);
    diag_render(&f.d, out, false);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(buf, "t.sp:6:9: error: division of 1 by zero\n"
                                      "    6 | R1 a 0 {1/z}\n"
                                      "      |         ^~~\n"
                                      "t.sp:8:1: note: in instance x1\n"));
    vs_free(buf);
    deck_fini(&f);
}
END_TEST

START_TEST(a_mistake_in_a_subcircuit_is_told_once)
{
    fixture f;
    char deck[20000] = "title\n.subckt s a\nR1 a 0 {1/0}\nF1 a 0 vq 1\n.ends\n";
    for (int i = 0; i < 500; i++)
        sprintf(deck + strlen(deck), "x%d a s\n", i);
    deck_from(&f, deck, strlen(deck));
    ck_assert_int_eq(f.d.n_error, 2);
    deck_fini(&f);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {wrong_decks_say_what_and_where, carets_stand_under_the_place,
                                  a_mistake_in_a_subcircuit_is_told_once};
    return run_tests("flat/message", tests, VS_COUNT(tests));
}
