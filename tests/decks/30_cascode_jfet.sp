JFET cascode with a bipolar transistor
VDD vdd 0 15
VIN in 0 dc 0 ac 1
J1 d g s jn
CIN in g 100n
RG g 0 1meg
RS s 0 330
CS s 0 10u
Q1 c b d qn
RB1 vdd b 100k
RB2 b 0 47k
CB b 0 1u
RC vdd c 2.2k
CO c out 1u
RL out 0 100k
.model jn njf vto=-2 beta=1.2m lambda=8m rd=8 rs=8 cgs=4p cgd=1.5p pb=0.8 is=1e-14 kf=0
.model qn npn is=5e-15 bf=220 vaf=90 cje=4p cjc=2.5p tf=0.3n rb=40
.control
op
print v(c) v(d) v(s) i(vdd)
ac dec 20 10 1g
meas ac mid find vdb(out) at=100k
meas ac edge when vdb(out)=0 fall=1
noise v(out) vin dec 10 100 1meg
setplot noise1
meas noise at_10k find inoise_spectrum at=10k
.endc
.end
