limits and regions
Vc c 0 0.2
Vb b 0 0.9
Vs s 0 0.1
Q1 c b 0 s qv
Q2 c b 0 s qp m=2
.model qv npn level=4 is=1e-16 vbefwd=0.3 vbcfwd=0.1 vsubfwd=0.05 vbe_max=0.5
.model qp pnp level=9 is=1e-16 rth=100 vce_max=0.1
D1 b c k dt thermal
.model dt d is=1e-12 rth0=100 cth0=1u te_max=30 pd_max=1m tnom=27
R1 k 0 1k
M1 c b 0 0 n1 w=1u l=1u
.model n1 nmos level=8 version=3.3 vgs_max=0.5 vgsr_max=0.2 vbd_max=0.1 vgb_max=0.1
.option warn=2 maxwarns=3
.op
.dc Vb -1 1 0.25 Vs 0 1 0.5
.tran 1n 20n
.end
