* sky130_vco - 10 GHz: a cross-coupled pair and an LC tank, SKY130; phase noise from 1 kHz to 100 MHz
.lib "$PDK/sky130_fd_pr/combined_models/sky130.lib.spice" tt
vdd vdd 0 1.8
* coils of 0.3 nH with a Q of 10
l1 vdd x 0.3n
rl1 x op 1.9
l2 vdd y 0.3n
rl2 y on 1.9
xc1 op 0 sky130_fd_pr__cap_mim_m3_1 w=19 l=19
xc2 on 0 sky130_fd_pr__cap_mim_m3_1 w=19 l=19
xm1 op on t 0 sky130_fd_pr__nfet_01v8 w=5 l=0.15 ad=1.5 as=1.5 pd=10.6 ps=10.6 m=8
xm2 on op t 0 sky130_fd_pr__nfet_01v8 w=5 l=0.15 ad=1.5 as=1.5 pd=10.6 ps=10.6 m=8
xm3 t nb 0 0 sky130_fd_pr__nfet_01v8 w=5 l=0.5 ad=1.5 as=1.5 pd=10.6 ps=10.6 m=15
xm4 nb nb 0 0 sky130_fd_pr__nfet_01v8 w=5 l=0.5 ad=1.5 as=1.5 pd=10.6 ps=10.6 m=5
ib vdd nb 1m
ik on op pulse(0 2m 0 5p 5p 40p)
.hbosc tone=10g nharms=15 probenode=op,on tstab=10n
.phasenoise v(op,on) dec 4 1k 100meg
.end
