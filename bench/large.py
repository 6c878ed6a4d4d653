#!/usr/bin/env python3
"""Large decks by the thousand, to measure how time and memory grow with size.

    large.py flat 100000 > flat.sp      N lines, one element each: resistors, capacitors, diodes, transistors
                                        and instances of subcircuits on a grid of nodes
    large.py ladder 1000000 > lad.sp    RC ladder of N nodes, driven by a step
    large.py wires 500000 > wir.sp      the same with a value of its own for each R and C, as extracted
    large.py loop 500000 > loop.sp      the ladder by one .for; wireloop: with values of their own
    large.py dspf 500000 > dspf.sp      the wires in a subcircuit with comments of DSPF
    large.py spef 500000 wires.spef > spef.sp
                                        a deck of pins, and the wires in a file of its own for .spef
    large.py nested 1000 > nested.sp    subcircuits in subcircuits, N deep, a resistor at each level
    large.py words 1000000 > words.sp   one line of N words (nodes of .save)
    large.py sum 500 > sum.sp           an expression of N terms
    large.py pwl 100000 > pwl.sp        one source of N points over continuation lines"""
import sys


def flat(n):
    print("* %d lines, one element each" % n)
    print(".model dm d is=1e-14 rs=1 cjo=1p\n.subckt cell a b r=1k\nr1 a m {r}\nr2 m b {2*r}\nc1 m 0 1f\n.ends")
    print("v1 n0 0 pulse(0 1 1n 1n 1n 10n 20n)")
    for i in range(n):
        a, b = "n%d" % (i // 5), "n%d" % (i // 5 + 1)
        print(("r%d %s %s %gk" % (i, a, b, 1 + i % 7),
               "c%d %s 0 %.3gp ; load" % (i, b, 0.1 + i % 11 * 0.1),
               "d%d %s 0 dm area=%d" % (i, b, 1 + i % 3),
               "r%d %s n%d {1k*(1+%d)}" % (i, b, i // 10, i % 13),
               "x%d %s 0 cell r=%dk" % (i, b, 1 + i % 5))[i % 5])
    print(".tran 1n 20n\n.end")


def ladder(n):
    print("* RC ladder of %d nodes\nv1 n0 0 pulse(0 1 0 1n)" % n)
    for i in range(n):
        print("r%d n%d n%d 1\nc%d n%d 0 1p" % (i, i, i + 1, i, i + 1))
    print(".save v(n1) v(n%d)\n.tran 1n 20n\n.end" % n)


def wires(n):
    print("* RC ladder of %d nodes, all values different\nv1 n0 0 pulse(0 1 0 1n)" % n)
    for i in range(n):
        print("r%d n%d n%d %.5f\nc%d n%d 0 %.5ff" % (i, i, i + 1, wire_values(i)[0], i, i + 1, wire_values(i)[1]))
    print(".save v(n1) v(n%d)\n.tran 1n 20n\n.end" % n)


def wire_values(i):
    """Resistance in ohm, capacitance in fF."""
    return 0.1 + i * 7919 % 500009 * 1e-4, 0.01 + i * 104729 % 900001 * 1e-5


def of_loop(n, r, c):
    print("* RC ladder of %d nodes by .for\nv1 n[0] 0 pulse(0 1 0 1n)\n.for i = 0 to %d" % (n, n - 1))
    print("r[{i}] n[{i}] n[{i+1}] %s\nc[{i}] n[{i+1}] 0 %s\n.endfor" % (r, c))
    print(".save v(n[1]) v(n[%d])\n.tran 1n 20n\n.end" % n)


def loop(n):
    of_loop(n, "1", "1p")


def wireloop(n):
    of_loop(n, "{0.1+1e-4*i}", "{1e-17*(1+i)}")


NET = 100  # nodes of a net of dspf and spef


def dspf(n):
    print("* subcircuit of %d nodes, as DSPF\n.subckt block a" % n)
    for i in range(n):
        at, to = "n%d:%d" % (i // NET, i % NET), "n%d:%d" % ((i + 1) // NET, (i + 1) % NET)
        if i % NET == 0:
            print("*|NET n%d 1.0FF\n*|I (%s i%d A I 0 0 0)\n*|S (%s 0 0)" % (i // NET, at, i // NET, to))
        print("R%d %s %s %.5f\nC%d %s 0 %.5fF" % ((i, "a" if i == 0 else at, to, wire_values(i)[0],
                                                   i, to, wire_values(i)[1])))
    print(".ends\nv1 in 0 pulse(0 1 0 1n)\nx1 in block\n.tran 1n 20n\n.end")


def spef(n):
    nets = max(1, n // NET)
    with open(sys.argv[3], "w", encoding="ascii") as f:
        f.write('*SPEF "IEEE 1481-2009"\n*DESIGN "top"\n*DIVIDER /\n*DELIMITER :\n'
                '*T_UNIT 1 PS\n*C_UNIT 1 FF\n*R_UNIT 1 OHM\n*L_UNIT 1 HENRY\n')
        for k in range(nets):
            f.write("*D_NET n%d 1.0\n*CONN\n*I x%d:b I\n*I x%d:a I\n*CAP\n" % (k, k, k + 1))
            node = ["x%d:b" % k] + ["n%d:%d" % (k, j) for j in range(1, NET)] + ["x%d:a" % (k + 1)]
            for j in range(NET):
                f.write("%d %s %.5f\n" % (j + 1, node[j + 1], wire_values(k * NET + j)[1]))
            f.write("*RES\n")
            for j in range(NET):
                f.write("%d %s %s %.5f\n" % (j + 1, node[j], node[j + 1], wire_values(k * NET + j)[0]))
            f.write("*END\n")
    print("* %d pins on %d nets, wires by .spef\n.subckt pin a b\nr1 a b 1\n.ends" % (nets + 1, nets))
    print("v1 in 0 pulse(0 1 0 1n)")
    for k in range(nets + 1):
        print("x%d %s n%d pin" % (k, "in" if k == 0 else "n%d" % (k - 1), k))
    print(".spef %s\n.tran 1n 20n\n.end" % sys.argv[3])


def nested(n):
    print("* %d levels" % n)
    for i in range(n):
        inner = "x1 m b s%d" % (i + 1) if i < n - 1 else "r2 m b 1"
        print(".subckt s%d a b\nr1 a m 1\n%s\n.ends" % (i, inner))
    print("v1 in 0 1\nx1 in 0 s0\n.op\n.end")


def words(n):
    print("* one line\nv1 in 0 1\nr1 in 0 1\n.save %s\n.op\n.end" % " ".join(["v(in)"] * n))


def sum_of(n):
    print("* one expression\nv1 in 0 1\nr1 in 0 {%s}\n.op\n.end" % "+".join(["1"] * n))


def pwl(n):
    print("* one source\nv1 in 0 pwl(")
    for i in range(n):
        print("+ %dn %d" % (i, i % 2))
    print("+ )\nr1 in 0 1\n.tran 1n 20n\n.end")


def main():
    kinds = {"flat": flat, "ladder": ladder, "wires": wires, "loop": loop, "wireloop": wireloop, "dspf": dspf,
             "spef": spef, "nested": nested, "words": words, "sum": sum_of, "pwl": pwl}
    n_word = 4 if sys.argv[1:2] == ["spef"] else 3
    if len(sys.argv) != n_word or sys.argv[1] not in kinds or not sys.argv[2].isdigit() or int(sys.argv[2]) < 1:
        sys.exit(__doc__)
    kinds[sys.argv[1]](int(sys.argv[2]))


if __name__ == "__main__":
    main()
