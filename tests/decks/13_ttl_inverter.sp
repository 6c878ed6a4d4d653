TTL inverter: switching levels and delays
.options reltol=1e-5
VCC vcc 0 5
VIN in 0 pulse(0 3.5 20n 1n 1n 80n 200n)
RS in 1 50
Q1 3 2 1 qnd
RB1 vcc 2 4k
Q2 5 3 6 qnd
RC2 vcc 5 1.6k
RE2 6 0 1k
Q3 7 5 8 qnd
RC3 vcc 7 130
D1 8 out dd
Q4 out 6 0 qnd
CL out 0 15p
RL out 0 10k
.model qnd npn bf=50 br=0.3 rb=70 rc=40 ccs=2p tf=0.1n tr=10n vaf=50 cje=0.9p cjc=1.5p pc=0.85 is=1e-15
.model dd d rs=40 tt=0.1n cjo=0.9p is=1e-15
.control
dc vin 0 3.5 0.02
meas dc switch when v(out)=1.5
meas dc high max v(out)
meas dc low find v(out) at=3.5
tran 0.1n 200n 0 0.05n
meas tran tphl trig v(in) val=1.5 rise=1 targ v(out) val=1.5 fall=1
meas tran tplh trig v(in) val=1.5 fall=1 targ v(out) val=1.5 rise=1
.endc
.end
