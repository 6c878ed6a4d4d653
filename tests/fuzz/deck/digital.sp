digital parts, their files and bridges
v1 clk 0 pulse(0 5 0 1n 1n 49n 100n)
a1 [clk] [d] ad
.model ad adc_bridge(in_low=1 in_high=4 rise_delay=1n)
a2 ~q d null null q nq ff
.model ff d_dff(clk_delay=2n ic=1)
a3 [q nq ~d] y g
.model g d_xor(rise_delay=3n fall_delay=2n inertial_delay=true)
a4 [s1 s2] src
.model src d_source(input_file="other")
a6 y s1 t buf3
.model buf3 d_tristate(delay=1n)
a7 t pu
.model pu d_pullup
a8 [s1 s2 y] l lut
.model lut d_lut(table_values="01101001")
a9 clk osc vco
.model vco d_osc(cntl_array=[0 5] freq_array=[1meg 50meg])
a10 osc div dv
.model dv d_fdiv(div_factor=3 high_cycles=2)
a11 [y div] [o1 o2] da
.model da dac_bridge(out_low=0 out_high=3 t_rise=1n t_fall=2n)
r1 o1 0 1k
c1 o2 0 1p
r2 o2 auto 1k
an1 y d num tonum
an2 num ~sum gain
an3 %real sum sum gain
an4 sum q held sample
an5 held o3 tov
r3 o3 0 1k
ab [line %gd(o1 o3)] [dbus q] [t ~y] bi
r4 line o2 300
.model bi bidi_bridge(in_low=0.6 in_high=0.5 strength=1 t_rise=4n direction=2)
.model tonum d_to_real(zero=-1 delay=2n)
.model gain real_gain(gain=0.4 in_offset=0.1 ic=0.3)
.model sample real_delay
.model tov real_to_v(gain=-2 transition_time=3n)
a12 auto w inv
.model inv d_inverter
.tran 1n 200n
.meas tran m1 trig v(q) val=0.5 rise=1 targ v(o1) val=1.5 rise=1
.control
run
eprint q y div sum
eprvcd sum held q
edisplay
.endc
.end
*---
0n 0s 1s
10n 1s Us
30n 0z 1r
