ECL gate: levels, transfer, delay
.options reltol=1e-5
VEE vee 0 -5.2
VIN a 0 pulse(-1.8 -0.8 2n 0.2n 0.2n 5n 12n)
VREF r 0 -1.3
Q1 c1 a e qe
Q2 c2 r e qe
RE e vee 780
RC1 0 c1 220
RC2 0 c2 245
Q3 0 c1 nor qe
Q4 0 c2 or qe
RN nor vee 2k
RO or vee 2k
CL nor 0 1p
.model qe npn is=1e-16 bf=90 rb=60 rc=15 re=2 cje=0.3p cjc=0.25p cjs=0.4p tf=40p tr=1n vaf=40
.control
op
print v(nor) v(or) v(e)
dc vin -2 -0.6 0.02
meas dc nor_hi max v(nor)
meas dc nor_lo find v(nor) at=-0.8
meas dc cross when v(nor)=-1.3
tran 10p 12n 0 5p
meas tran tphl trig v(a) val=-1.3 rise=1 targ v(nor) val=-1.3 fall=1
meas tran tplh trig v(a) val=-1.3 fall=1 targ v(nor) val=-1.3 rise=1
.endc
.end
