* adder - 32 bits, mirror adders and inverters, wires of three pieces between them; the carry runs through all
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
vdd vdd 0 1.2
.global vdd
.subckt inv a y wn=1u wp=2u
xn y a 0 0 sg13_lv_nmos w=wn l=0.13u ng=1
xp y a vdd vdd sg13_lv_pmos w=wp l=0.13u ng=1
.ends
.subckt wire a b r=40 c=1.5f
r1 a m {r}
r2 m n {r}
r3 n b {r}
c1 m 0 {c}
c2 n 0 {c}
c3 b 0 {c}
.ends
* both outputs are inverted
.subckt full a b c cob sb
* carry
xn1 k1 a 0 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn2 k1 b 0 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn3 cob c k1 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn4 k2 a 0 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn5 cob b k2 0 sg13_lv_nmos w=2u l=0.13u ng=1
xp1 k3 a vdd vdd sg13_lv_pmos w=4u l=0.13u ng=1
xp2 k3 b vdd vdd sg13_lv_pmos w=4u l=0.13u ng=1
xp3 cob c k3 vdd sg13_lv_pmos w=4u l=0.13u ng=1
xp4 k4 a vdd vdd sg13_lv_pmos w=4u l=0.13u ng=1
xp5 cob b k4 vdd sg13_lv_pmos w=4u l=0.13u ng=1
* sum
xn6 k5 a 0 0 sg13_lv_nmos w=1u l=0.13u ng=1
xn7 k5 b 0 0 sg13_lv_nmos w=1u l=0.13u ng=1
xn8 k5 c 0 0 sg13_lv_nmos w=1u l=0.13u ng=1
xn9 sb cob k5 0 sg13_lv_nmos w=1u l=0.13u ng=1
xn10 sb a k6 0 sg13_lv_nmos w=1.5u l=0.13u ng=1
xn11 k6 b k7 0 sg13_lv_nmos w=1.5u l=0.13u ng=1
xn12 k7 c 0 0 sg13_lv_nmos w=1.5u l=0.13u ng=1
xp6 k8 a vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
xp7 k8 b vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
xp8 k8 c vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
xp9 sb cob k8 vdd sg13_lv_pmos w=2u l=0.13u ng=1
xp10 sb a k9 vdd sg13_lv_pmos w=3u l=0.13u ng=1
xp11 k9 b k10 vdd sg13_lv_pmos w=3u l=0.13u ng=1
xp12 k10 c vdd vdd sg13_lv_pmos w=3u l=0.13u ng=1
.ends
.subckt bit a b ci co s
xa a al wire
xb b bl wire
x1 al bl ci cob sb full
x2 cob cw inv wn=2u wp=4u
xw cw co wire r=60 c=2f
x3 sb sw inv
xs sw s wire
cs s 0 3f
.ends
* a = 2^32 - 1, b = 0 or 1; then a alternates
va1 a1 0 pulse(1.2 0 5n 50p 50p 10n 20n)
va2 a2 0 pulse(1.2 0 7n 50p 50p 10n 20n)
vb b 0 pulse(0 1.2 0.2n 50p 50p 4.3n 9n)
v0 z 0 0
vc c0 0 0
.for k = 0 to 31
xd{k} a{k%2+1} aa{k} buf
xx{k} aa{k} bb{k} c{k} c{k+1} s{k} bit
.endfor
.subckt buf a y
x1 a m inv
x2 m y inv wn=2u wp=4u
.ends
xb0 b bb0 buf
.for k = 1 to 31
xb{k} z bb{k} buf
.endfor
cc c32 0 5f
.save v(b) v(c1) v(c8) v(c16) v(c32) v(s0) v(s15) v(s31)
.tran 10p 10n 0 50p
.meas tran carry trig v(b) val=0.6 rise=1 targ v(c32) val=0.6 rise=1
.meas tran half trig v(b) val=0.6 rise=1 targ v(c16) val=0.6 rise=1
.meas tran back trig v(b) val=0.6 fall=1 targ v(c32) val=0.6 fall=1
.end
