* 4-bit adder of full-adder cells: 1111 + 000a + 0, the carry runs through
vp vp 0 {vdd}
va a 0 pulse(0 {vdd} {1*ts} {0.1*ts} {0.1*ts} {8*ts} {30*ts})
vb b 0 {vdd}
x0 a b 0 c1 s0 vp fa
x1 0 b c1 c2 s1 vp fa
x2 0 b c2 c3 s2 vp fa
x3 0 b c3 c4 s3 vp fa
c0 s0 0 2f
c1 s1 0 2f
c2 s2 0 2f
c3 s3 0 2f
c4 c4 0 2f
.tran {0.002*ts} {18*ts} 0 {0.002*ts}
.meas tran t_carry trig v(a) val={vdd/2} rise=1 targ v(c4) val={vdd/2} rise=1
.meas tran t_carry_f trig v(a) val={vdd/2} fall=1 targ v(c4) val={vdd/2} fall=1
.meas tran t_sum trig v(a) val={vdd/2} rise=1 targ v(s3) val={vdd/2} fall=1
.meas tran v_low find v(s3) at={7*ts}
.meas tran v_high find v(c4) at={7*ts}
.meas tran q_supply integ i(vp) from={0.5*ts} to={8*ts}
.end
