bad deck: a loop of gates without delay
v1 a 0 1
r1 a 0 1k
aadc [a] [go] adc
a1 [go ring] ring gate
adac [ring] [out] dac
.model adc adc_bridge(in_low=0.5 in_high=0.5)
.model gate d_nand
.model dac dac_bridge
.op
.end
