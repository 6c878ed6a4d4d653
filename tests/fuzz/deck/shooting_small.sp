sampler on an orbit of shooting
v1 in 0 dc 1 ac 1
vc c 0 pulse(0 5 0 5n 5n 400n 1u)
m1 in c out 0 n1 w=10u l=1u
m2 in c x 0 n2 w=1u l=0.2u
.model n1 nmos vto=1 kf=1e-25
.model n2 nmos level=2
c1 out 0 1p
r1 x 0 1k
.pss 1meg 5u out 64 8 method=shooting halvings=1
.hbac dec 1 1k 100k sidebands=1
.hbxf v(out) dec 1 1k 100k sidebands=2 sideband=-1
.hbnoise v(out) v1 dec 1 1k 100k strobe=0.3u
.op
.sens op op1 param=r1
.meas op op1 param='v(x)'
.end
