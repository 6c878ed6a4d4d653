Sallen-Key low-pass with an ideal amplifier, Butterworth
.param r=10k c=1n q=0.7071 k={3-1/q}
V1 in 0 ac 1 pulse(0 1 10u 0.1u 0.1u 200u 500u)
R1 in a {r}
R2 a b {r}
C1 a out {c}
C2 b 0 {c}
E1 out 0 b 0 {k}
.options reltol=1e-5
.save all
.ac dec 40 100 1meg
.tran 0.2u 200u 0 0.2u
.meas ac gain_dc find vdb(out) at=100
.meas ac corner when vdb(out)='20*log10(k)-3.0103'
.meas ac slope_lo find vdb(out) at=100k
.meas ac slope_hi find vdb(out) at=1meg
.meas ac order param='(slope_lo-slope_hi)/20'
.meas ac phase find vp(out) at=15.9155k
.meas tran overshoot pp v(out)
.meas tran settle find v(out) at=60u
.meas tran rise trig v(out) val='0.1*k' rise=1 targ v(out) val='0.9*k' rise=1
.end
