#!/usr/bin/env python3
"""Large decks by the thousand, to measure how time and memory grow with size.

    large.py flat 100000 > flat.sp      N lines, one element each: resistors, capacitors, diodes, transistors
                                        and instances of subcircuits on a grid of nodes
    large.py ladder 1000000 > lad.sp    RC ladder of N nodes, driven by a step
    large.py wires 500000 > wir.sp      the same with a value of its own for each R and C, as extracted
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
        print("r%d n%d n%d %.5f\nc%d n%d 0 %.5ff" % (i, i, i + 1, 0.1 + i * 7919 % 500009 * 1e-4,
                                                    i, i + 1, 0.01 + i * 104729 % 900001 * 1e-5))
    print(".save v(n1) v(n%d)\n.tran 1n 20n\n.end" % n)


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
    kinds = {"flat": flat, "ladder": ladder, "wires": wires, "nested": nested, "words": words, "sum": sum_of, "pwl": pwl}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds or not sys.argv[2].isdigit() or int(sys.argv[2]) < 1:
        sys.exit(__doc__)
    kinds[sys.argv[1]](int(sys.argv[2]))


if __name__ == "__main__":
    main()
