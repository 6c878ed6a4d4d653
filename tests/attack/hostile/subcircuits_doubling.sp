is 2^30 resistors
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.subckt s0 a
R1 a 0 1
.ends
.subckt s1 a
X1 a s0
X2 a s0
.ends
.subckt s2 a
X1 a s1
X2 a s1
.ends
.subckt s3 a
X1 a s2
X2 a s2
.ends
.subckt s4 a
X1 a s3
X2 a s3
.ends
.subckt s5 a
X1 a s4
X2 a s4
.ends
.subckt s6 a
X1 a s5
X2 a s5
.ends
.subckt s7 a
X1 a s6
X2 a s6
.ends
.subckt s8 a
X1 a s7
X2 a s7
.ends
.subckt s9 a
X1 a s8
X2 a s8
.ends
.subckt s10 a
X1 a s9
X2 a s9
.ends
.subckt s11 a
X1 a s10
X2 a s10
.ends
.subckt s12 a
X1 a s11
X2 a s11
.ends
.subckt s13 a
X1 a s12
X2 a s12
.ends
.subckt s14 a
X1 a s13
X2 a s13
.ends
.subckt s15 a
X1 a s14
X2 a s14
.ends
.subckt s16 a
X1 a s15
X2 a s15
.ends
.subckt s17 a
X1 a s16
X2 a s16
.ends
.subckt s18 a
X1 a s17
X2 a s17
.ends
.subckt s19 a
X1 a s18
X2 a s18
.ends
.subckt s20 a
X1 a s19
X2 a s19
.ends
.subckt s21 a
X1 a s20
X2 a s20
.ends
.subckt s22 a
X1 a s21
X2 a s21
.ends
.subckt s23 a
X1 a s22
X2 a s22
.ends
.subckt s24 a
X1 a s23
X2 a s23
.ends
.subckt s25 a
X1 a s24
X2 a s24
.ends
.subckt s26 a
X1 a s25
X2 a s25
.ends
.subckt s27 a
X1 a s26
X2 a s26
.ends
.subckt s28 a
X1 a s27
X2 a s27
.ends
.subckt s29 a
X1 a s28
X2 a s28
.ends
.subckt s30 a
X1 a s29
X2 a s29
.ends
X1 in s30
.op
.end
