bad deck: sub explodes
v1 a 0 1
r1 a 0 1k
.subckt s0 p
r1 p 0 1
.ends
.subckt s1 p
x1 p s0
x2 p s0
.ends
.subckt s2 p
x1 p s1
x2 p s1
.ends
.subckt s3 p
x1 p s2
x2 p s2
.ends
.subckt s4 p
x1 p s3
x2 p s3
.ends
.subckt s5 p
x1 p s4
x2 p s4
.ends
.subckt s6 p
x1 p s5
x2 p s5
.ends
.subckt s7 p
x1 p s6
x2 p s6
.ends
.subckt s8 p
x1 p s7
x2 p s7
.ends
.subckt s9 p
x1 p s8
x2 p s8
.ends
.subckt s10 p
x1 p s9
x2 p s9
.ends
.subckt s11 p
x1 p s10
x2 p s10
.ends
.subckt s12 p
x1 p s11
x2 p s11
.ends
.subckt s13 p
x1 p s12
x2 p s12
.ends
.subckt s14 p
x1 p s13
x2 p s13
.ends
.subckt s15 p
x1 p s14
x2 p s14
.ends
.subckt s16 p
x1 p s15
x2 p s15
.ends
.subckt s17 p
x1 p s16
x2 p s16
.ends
.subckt s18 p
x1 p s17
x2 p s17
.ends
.subckt s19 p
x1 p s18
x2 p s18
.ends
.subckt s20 p
x1 p s19
x2 p s19
.ends
.subckt s21 p
x1 p s20
x2 p s20
.ends
.subckt s22 p
x1 p s21
x2 p s21
.ends
.subckt s23 p
x1 p s22
x2 p s22
.ends
.subckt s24 p
x1 p s23
x2 p s23
.ends
.subckt s25 p
x1 p s24
x2 p s24
.ends
.subckt s26 p
x1 p s25
x2 p s25
.ends
.subckt s27 p
x1 p s26
x2 p s26
.ends
.subckt s28 p
x1 p s27
x2 p s27
.ends
.subckt s29 p
x1 p s28
x2 p s28
.ends
.subckt s30 p
x1 p s29
x2 p s29
.ends
.subckt s31 p
x1 p s30
x2 p s30
.ends
.subckt s32 p
x1 p s31
x2 p s31
.ends
.subckt s33 p
x1 p s32
x2 p s32
.ends
.subckt s34 p
x1 p s33
x2 p s33
.ends
.subckt s35 p
x1 p s34
x2 p s34
.ends
.subckt s36 p
x1 p s35
x2 p s35
.ends
.subckt s37 p
x1 p s36
x2 p s36
.ends
.subckt s38 p
x1 p s37
x2 p s37
.ends
.subckt s39 p
x1 p s38
x2 p s38
.ends
.subckt s40 p
x1 p s39
x2 p s39
.ends
.subckt s41 p
x1 p s40
x2 p s40
.ends
.subckt s42 p
x1 p s41
x2 p s41
.ends
.subckt s43 p
x1 p s42
x2 p s42
.ends
.subckt s44 p
x1 p s43
x2 p s43
.ends
.subckt s45 p
x1 p s44
x2 p s44
.ends
.subckt s46 p
x1 p s45
x2 p s45
.ends
.subckt s47 p
x1 p s46
x2 p s46
.ends
.subckt s48 p
x1 p s47
x2 p s47
.ends
.subckt s49 p
x1 p s48
x2 p s48
.ends
x1 a s49
.op
