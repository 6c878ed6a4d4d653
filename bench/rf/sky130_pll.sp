* sky130_pll - loop gain of a phase-locked loop: phases (rad) are voltages; the filter has parts of SKY130
* KVCO in Hz/V is that of sky130_ring.sp by its supply, and given by rf.py. Divider by 64.
.lib "$PDK/sky130_fd_pr/combined_models/sky130.lib.spice" tt
.param kvco=4g n=64 icp=20u pi={4*atan(1)}
vref ref 0 0
* phase detector and charge pump: ICP / 2 pi
gcp 0 c ref fb {icp/(2*pi)}
xr c z 0 sky130_fd_pr__res_high_po w=1 l=8
xcz z 0 sky130_fd_pr__cap_mim_m3_1 w=30 l=30 m=72
xcp c 0 sky130_fd_pr__cap_mim_m3_1 w=30 l=30 m=8
vp c d 0
* the oscillator's phase is 2 pi KVCO times the integral of its control voltage, in us
gv 0 ph d 0 {2*pi*kvco*1u}
cv ph 0 1u
ediv fb 0 ph 0 {1/n}
.lstb vsource=vp dec 50 10k 100meg
.end
