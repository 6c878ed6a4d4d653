Operational amplifier of twenty transistors as a follower
.options reltol=1e-5
.subckt amp p n out vcc vee
q1 c1 p e1 qn
q2 c1 n e2 qn
q3 b5 b3 e1 qp
q4 o1 b3 e2 qp
q5 b5 b7 e5 qn
q6 o1 b7 e6 qn
q7 vcc b5 b7 qn
r1 e5 vee 1k
r2 e6 vee 1k
r3 b7 vee 50k
q8 c1 c1 vcc qp
q9 b3 c1 vcc qp
q10 b3 b11 e10 qn
r4 e10 vee 5k
q11 b11 b11 vee qn
r5 b12 b11 39k
q12 b12 b12 vcc qp
q13 b14 b12 vcc qp
q16 vcc o1 e16 qn
r6 e16 vee 50k
q17 b20 e16 e17 qn
r7 e17 vee 100
cc o1 b20 30p
q18 b14 b18 b20 qn
rb1 b14 b18 4.5k
rb2 b18 b20 7.5k
q14 vcc b14 eo1 qn
q20 vee b20 eo2 qp
r9 eo1 out 27
r10 eo2 out 22
.ends
.model qn npn is=1e-15 bf=200 vaf=130 rb=200 cje=1p cjc=0.3p tf=0.5n cjs=2p
.model qp pnp is=1e-15 bf=50 vaf=50 rb=300 cje=0.5p cjc=1p tf=30n cjs=3p
VP vcc 0 15
VM vee 0 -15
VIN in 0 dc 0 ac 1 pulse(-5 5 10u 0.1u 0.1u 50u 120u)
X1 in out out vcc vee amp
RL out 0 2k
.control
op
print v(out) i(vp) i(vm)
ac dec 10 100 10meg
meas ac gain find vm(out) at=100
meas ac edge when vdb(out)=-3
dc vin -14 14 0.5
meas dc error find par('v(out)-v(in)') at=5
tran 0.1u 120u 0 0.1u
meas tran up trig v(out) val=-3 rise=1 targ v(out) val=3 rise=1
meas tran down trig v(out) val=3 fall=1 targ v(out) val=-3 fall=1
meas tran top find v(out) at=55u
.endc
.end
