A first-order sigma-delta modulator with a counter: analog and digital parts in one loop
* The integrator r1 c1 adds the input and the bit that is fed back; a comparator (adc_bridge) and a
* flip-flop make the next bit; six flip-flops count its ones. The mean of v(fb) follows 1 - v(in).
vin in 0 sin(0.5 0.4 10k)
r1 in x 10k
r2 fb x 10k
c1 x 0 100p

vclk ck 0 pulse(0 1 5n 1n 1n 49n 100n)
vres rs 0 pwl(0 1 20n 1 21n 0)
abits [x ck rs] [cmp clk reset] adc
abit cmp clk null null q nq ff
afb [nq] [fb] dac

aone [q clk] one and
ac0 n0 one null reset b0 n0 ff
ac1 n1 n0 null reset b1 n1 ff
ac2 n2 n1 null reset b2 n2 ff
ac3 n3 n2 null reset b3 n3 ff
ac4 n4 n3 null reset b4 n4 ff
ac5 n5 n4 null reset b5 n5 ff
aout [b5 b4 b3 b2 b1 b0] [count] number
rout count 0 1k

.model adc adc_bridge(in_low=0.5 in_high=0.5)
.model dac dac_bridge(out_low=0 out_high=1)
.model number dac_bridge(out_low=0 out_high=64)
.model ff d_dff(clk_delay=1n)
.model and d_and(rise_delay=1n fall_delay=1n)
.tran 10n 100u
.meas tran fb avg v(fb) from=0 to=100u
.meas tran x avg v(x) from=0 to=100u
.end
