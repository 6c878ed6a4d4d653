bad deck: xspice_digital
v1 a 0 1
r1 a 0 1k
a1 [a] [b] adc
.model adc adc_bridge(in_low=0.3 in_high=0.7)
.op
