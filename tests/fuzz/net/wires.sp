wires of a layout; what a start-up file sets
V1 in 0 1
X1 in n[1] inv
X2 n[1] out inv
.subckt inv a y
R1 a y 1k
.ends
.spef other
.op
.save v(in) v(out)
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
// the wires
*D_NET *1 2.0
*CONN
*P *1 I *C 0.0 0.0
*I *2:a I *C 1.0 2.0 *L 0.5 *D inv
*CAP
1 *1 1.0
2 *2:A 1.0
*RES
1 *1 *2:A 100
*END
*D_NET *3 12.0 *V 1
*CONN
*I *2:Y O *D inv
*I *4:A I *D inv
*N *3:1 *C 5 5
*CAP
1 *2:Y 2.0
3 *4:A 0.1:2.0:7 /* middle */
4 *3:1 *5:1 3.0
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
*---
* a start-up file
set ngbehavior=hsa num_threads=2 list = ( a 'b c' "d" )
set sourcepath = ( . $sourcepath )
setcs X = y
unset list
osdi other.osdi
echo hello
set ngdebug
