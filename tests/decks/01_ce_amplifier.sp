Common-emitter amplifier: bias, gain, bandwidth, noise
VCC vcc 0 12
VIN in 0 dc 0 ac 1
CIN in b 10u
R1 vcc b 47k
R2 b 0 10k
RC vcc c 3.9k
RE e 0 1k
CE e 0 100u
COUT c out 10u
RL out 0 10k
Q1 c b e qn
.model qn NPN (is=2e-15 bf=180 vaf=80 ikf=60m ise=5e-14 ne=1.7 rb=40 rc=2 re=0.4 cje=12p cjc=4p mjc=0.33 tf=0.4n tr=40n)
.control
op
print v(b) v(c) v(e) i(vcc)
ac dec 20 10 100meg
meas ac peak max vdb(out)
let half = peak - 3
meas ac gain_1k find vdb(out) at=1k
meas ac f_low when vdb(out)=half rise=1
meas ac f_high when vdb(out)=half fall=1
noise v(out) vin dec 10 100 1meg
setplot noise1
meas noise en_1k find onoise_spectrum at=1k
meas noise ein_10k find inoise_spectrum at=10k
.endc
.end
