transistors that no bin holds, or that do not say which
vd d 0 1
m1 d d 0 0 nb w=1u
m2 d d 0 0 nb
m3 d d 0 0 nb w=1u l=30u
m4 d d 0 0 nb w=1n l=1u
x1 d nmos2 w=2 l=0.5u
.subckt nmos2 a w=1u l=1u
m1 a a 0 0 nb w={w} l={l}
.ends
.model nb.0 nmos level=54 version=4.5 lmin=0.1u lmax=1u wmin=0.1u wmax=1u
.model nb.1 nmos level=54 version=4.5 lmin=1u lmax=10u wmin=0.1u wmax=1u
.op
.end
