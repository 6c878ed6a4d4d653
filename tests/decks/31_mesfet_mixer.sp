MESFET amplifier driven hard: harmonics
.options reltol=1e-6
VDD vdd 0 5
VG g1 0 dc -0.5 sin(-0.5 0.4 100meg)
RG g1 g 50
Z1 d g 0 mf
RD vdd d 100
C1 d out 10n
RL out 0 1k
.model mf nmf vto=-1.3 alpha=2.3 b=0.3 lambda=0.03 beta=3.5m rd=20 rs=20 cgs=0.3p cgd=0.05p pb=0.6
.tran 50p 60n 0 20p
.four 100meg v(d)
.meas tran mean avg v(d) from=40n to=60n
.meas tran swing pp v(d) from=40n to=60n
.meas tran current rms i(vdd) from=40n to=60n
.end
