bad deck: xspice_digital
v1 a 0 1
r1 a 0 1k
a1 [da] [dq] prog
a2 [da dx] dq gate1
a3 [da] dq gate1
a4 da dk null null dq dn gone ff1
a5 [a] [da] adc1
a6 %vd(a 0) dosc osc1
a7 [%i dq] [a] dac1
a8 [dq dn] [oa ob oc] dac1
a9 da [dq] inv1
a10 da num1 gain1
a11 num1 ~da gain1
a12 %int num1 num2 gain1
a13 num1 %d a tov1
a14 [a] [da dq] null both2
a15 [%v a] [da] null both1
a16 [a] [~da] null both2
.model prog d_cosim(simulation="prog")
.model gate1 d_and(rise_delay=-1n inertal_delay=true)
.model ff1 d_dff(ic=3)
.model adc1 adc_bridge(in_low=1 in_hihg=2)
.model osc1 d_osc(cntl_array=[0 1 2] freq_array=[1k 2k])
.model dac1 dac_bridge(t_rise=-1n)
.model inv1 d_inverter
.model gain1 real_gain(delay=0)
.model tov1 real_to_v(gian=2)
.model both1 bidi_bridge(r_low=0 strength=1)
.model both2 bidi_bridge
.op
.end
