Behavioural operational amplifier: slew, gain-bandwidth, limits
.options reltol=1e-5
.subckt opamp p n out vcc vee gbw=1meg a0=1e5 sr=1e6
.param c1=10n imax={sr*c1} gm={6.283185307*gbw*c1}
rin p n 2meg
b1 0 x i={imax*tanh(gm/imax*(v(p)-v(n)))}
r1 x 0 {a0/gm}
c1 x 0 {c1}
e1 y 0 value={min(max(v(x),v(vee)+1),v(vcc)-1)}
ro y out 75
.ends
VP vcc 0 15
VM vee 0 -15
VIN in 0 dc 0 ac 1 pulse(-1 1 10u 10n 10n 100u 300u)
X1 in fb out vcc vee opamp gbw=3meg
R1 out fb 9k
R2 fb 0 1k
RL out 0 2k
CL out 0 100p
.control
ac dec 20 100 10meg
meas ac gain find vm(out) at=100
meas ac bandwidth when vdb(out)=17
tran 0.2u 200u 0 0.1u
meas tran high find v(out) at=105u
meas tran slew trig v(out) val=-5 rise=1 targ v(out) val=5 rise=1
meas tran swing pp v(out)
op
print v(out) v(fb)
.endc
.end
