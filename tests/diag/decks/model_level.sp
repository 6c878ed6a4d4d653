levels whose modules are not loaded, parameters that a model does not know
v1 d 0 1
m1 d d 0 0 cmg
q1 d d 0 mx
m2 d d 0 0 n6
m3 d d 0 0 odd
.model cmg nmos level=72
.model mx pnp level=13
.model n6 nmos level=6 xj=1u zz=1 ngate=1 zq=3
.model odd nmos level=333
.op
.end
