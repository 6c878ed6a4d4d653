NMOS inverter with depletion load, level 2
.model ne nmos level=2 vto=0.9 nsub=1e15 tox=60n uo=600 ld=0.3u xj=0.8u
.model nd nmos level=2 vto=-2.5 nsub=1e15 tox=60n uo=600 ld=0.3u xj=0.8u
VDD vdd 0 5
VIN in 0 0
MD vdd out out 0 nd w=5u l=10u
ME out in 0 0 ne w=10u l=5u
CL out 0 0.1p
.dc VIN 0 5 0.05
.meas dc vtc find v(out) at=2.05
.meas dc threshold when v(out)=2.5
.meas dc low find v(out) at=5
.meas dc steep min par('v(out)-v(in)')
.meas dc supply avg i(vdd)
.end
