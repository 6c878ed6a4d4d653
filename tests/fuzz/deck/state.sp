a state machine
v1 clk 0 pulse(0 5 0 1n 1n 49n 100n)
a1 [clk] [d] ad
.model ad adc_bridge(in_low=1 in_high=4)
a2 [d ~z1] d null [z1 z2] st
.model st d_state(state_file="other" reset_state=1 clk_delay=1n)
a3 z1 z2 c
.model c d_pwm(cntl_array=[0 5] dc_array=[0.1 0.9] frequency=1meg)
a4 [z1] [n] da
.model da dac_bridge(out_low=0 out_high=3)
r1 n 0 1k
.tran 1n 300n
.end
*---
0 0s 0s 0 x -> 1
  1 x -> 0
1 1s 0s x 1 -> 0
  x 0 -> 1
