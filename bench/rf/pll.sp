* pll - loop gain of a phase-locked loop: phases (rad) are voltages; the filter has parts of SG13G2
* KVCO in Hz/V is that of ring.sp by its supply, and given by rf.py. Divider by 64.
.hdl "$PDK/ngspice/va/r3_cmc/r3_cmc.va"
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.param kvco=5g n=64 icp=20u pi={4*atan(1)}
vref ref 0 0
* phase detector and charge pump: ICP / 2 pi
gcp 0 c ref fb {icp/(2*pi)}
xr c z 0 rppd w=1u l=10u
xcz z 0 cap_cmim w=150u l=150u m=4
xcp c 0 cap_cmim w=100u l=100u
vp c d 0
* the oscillator's phase is 2 pi KVCO times the integral of its control voltage, in us
gv 0 ph d 0 {2*pi*kvco*1u}
cv ph 0 1u
ediv fb 0 ph 0 {1/n}
.lstb vsource=vp dec 50 10k 100meg
.end
