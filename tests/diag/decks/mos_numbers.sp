sizes and parameters of transistors whose expressions are no numbers
.param big=1e308 zero=0
vd d 0 1
m1 d d 0 0 n2 w={big*10} l=1u
m2 d d 0 0 n4 w=1u l=1u
m3 d d 0 0 n2 w={zero/zero} l=1u
m4 d d 0 0 n5 w=1u l=1u
m5 d d 0 0 n2 w=1u l=1u delvto={ln(zero)}
m6 d d 0 0 n3 w=1u l=1e400
.model n2 nmos level=54
.model n3 nmos level=49 u0=-inf
.model n4 nmos level=54 u0={big*10}
.model n5 nmos level=54 toxe={sqrt(zero-2)}
.op
.end
