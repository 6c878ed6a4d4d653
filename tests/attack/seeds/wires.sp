extracted wires with noise and reduction
V1 in 0 1 ac 1
X1 in n[1] inv
X2 n[1] out inv
.subckt inv a y
M1 y a 0 0 nm w=1u l=0.1u
R1 y a 10k
.ends
.model nm nmos level=14 vth0=0.4
.spef other
.option rcreduce=0.01 rcfreq=1g
.op
.ac dec 1 1meg 1g
.tran 1n 10n
.end
*---
*SPEF "IEEE 1481-2009"
*DESIGN "top"
*DIVIDER /
*DELIMITER :
*T_UNIT 1 PS
*C_UNIT 1 FF
*R_UNIT 1 OHM
*L_UNIT 1 HENRY
*NAME_MAP
*1 in
*2 x1
*3 n\[1\]
*4 x2
*5 out
*PORTS
*1 I
*5 O
*D_NET *3 12.0
*CONN
*I *2:Y O *D inv
*I *4:A I *D inv
*N *3:1 *C 5 5
*CAP
1 *2:Y 2.0
2 *4:A 0.1:2.0:7
3 *3:1 *5:1 3.0
*RES
1 *2:Y *3:1 1000
2 *3:1 *4:A 2000
*END
*D_NET *5 5
*CONN
*I *4:Y O
*P *5 O
*CAP
1 *5:1 *3:1 3.0
*END
