gradients of all kinds
.param w=2u r=1k
V1 in 0 0.8 ac 1 pulse(0.7 0.9 1n 0.1n 0.1n 3n 8n)
R1 in g {r}
M1 o g 0 0 nm w={w} l=0.2u
M2 o o vdd vdd pm w=4u l=0.2u
.model nm nmos level=14 version=4.8 vth0=0.4
.model pm pmos level=14 version=4.8 vth0=-0.4
Vd vdd 0 1.5
C1 o 0 10f
K1 L1 L2 0.5
L1 in x 1n
L2 o y 1n
R3 x 0 1k
R4 y 0 1k
.op
.dc V1 0 1 0.25
.ac dec 2 1meg 1g
.noise v(o) V1 dec 1 1meg 10meg
.tran 0.2n 6n
.meas op vo find v(o)
.meas dc vm max v(o)
.meas ac gain max vdb(o)
.meas noise n find onoise_spectrum at=1meg
.meas tran avo avg v(o)
.meas tran t trig v(in) val=0.8 rise=1 targ v(o) val=1 fall=1
.sens op vo param=w r nm(vth0) temp
.sens dc vm param=w @m2[l] V1
.sens ac gain param=w r k1 temp
.sens noise n param=r w
.sens tran avo t param=w r @m1[l] pm(vth0) temp memory=1meg
.sens v(o)
.end
