memory, state machine, bridges of several kinds
v1 c 0 pulse(0 1 1n 1n 1n 4n 10n)
a1 [c] [clk] ad
.model ad adc_bridge(in_low=0.3 in_high=0.7)
a2 [clk clk] [o0 o1] [clk clk] clk [clk] ram
.model ram d_ram(select_value=1 ic=2 read_delay=1n)
a3 [clk] clk r0 [s0 s1] st
.model st d_state(clk_delay=1n reset_delay=1n state_file="other" reset_state=2)
a4 [s0 s1] y mux
.model mux d_nand
a5 y clk null null t nt tff
.model tff d_tff
a6 s0 clk null null l nl dl
.model dl d_dlatch
a7 y clk clk null null z nz sr
.model sr d_srff
a8 r0 pd
.model pd d_pulldown
a9 t gg oc
.model oc d_open_c
a10 gg w jk
.model jk d_buffer(rise_delay=2n inertial_delay=true)
a11 [w y] [d0 d1] da
.model da dac_bridge(out_low=0 out_high=1 out_undef=0.5)
r1 d0 0 1k
r2 d1 0 1k
.tran 1n 60n
.end
*---
0 0s 0s 0 -> 1
    1 -> 2
1 0s 1s 0 -> 1
    1 -> 0
2 1z 0s 0 -> 2
    1 -> 1
