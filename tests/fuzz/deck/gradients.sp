gradients of measures
.param w=2u r=1k c=10f
V1 in 0 0.8 ac 1 pulse(0.7 0.9 1n 0.1n 0.1n 3n 8n)
R1 in g {r}
M1 o g 0 0 nm w={w} l=1u
M2 o o vdd vdd pm w=4u l=1u
.model nm nmos level=1 vto=0.4 kp=1e-4 lambda=0.1 cgso=1e-10
.model pm pmos level=1 vto=-0.4 kp=4e-5
Vd vdd 0 1.5
C1 o 0 {c}
.op
.dc V1 0 1 0.25
.ac dec 1 1meg 1g
.noise v(o) V1 dec 1 1meg 10meg
.tran 0.2n 6n
.meas op vo find v(o)
.meas dc trip when v(o)=0.7
.meas ac gain max vdb(o)
.meas noise n find onoise_spectrum at=1meg
.meas tran avo avg v(o) from=1n to=4n
.meas tran t trig v(in) val=0.8 rise=1 targ v(o) val=0.7 fall=1
.sens op vo param=w r nm(vto) temp
.sens dc trip param=w @m2[l] V1
.sens ac gain param=w r c v1[acmag]
.sens noise n param=r w
.sens tran avo t param=w r c nm(vto) temp
.sens v(o)
.sens v(o) ac dec 1 1meg 10meg
.meas sens s find avo.r at=0
.end
