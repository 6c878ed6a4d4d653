Elliptic LC low-pass between 50 Ohm, seven elements
.param fc=1meg rr=50 l0={rr/(6.283185307*fc)} c0={1/(6.283185307*fc*rr)}
VS s 0 ac 2
RS s 1 {rr}
C1 1 0 {1.1*c0}
L2 1 2 {1.2*l0}
C2 1 2 {0.15*c0}
C3 2 0 {1.9*c0}
L4 2 3 {1.1*l0}
C4 2 3 {0.3*c0}
C5 3 0 {1.1*c0}
RL 3 0 {rr}
.save all
.ac lin 2000 10k 5meg
.meas ac pass min vdb(3) from=10k to=900k
.meas ac edge when vdb(3)=-3 fall=1
.meas ac at_2m find vdb(3) at=2meg
.meas ac phase find vp(3) at=500k
.meas ac area integ vm(3) from=10k to=1meg
.end
