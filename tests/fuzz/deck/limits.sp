limits in sweeps
.param r=1k
V1 1 0 1 pulse(0 3 1u 1u 1u 5u 10u)
R1 1 2 rm {r} bv_max=0.5
D1 2 0 dm m=2
Q1 1 2 3 qm
R3 3 0 100
M1 1 2 0 0 nm w=1u l=1u
M2 1 2 0 vm
X1 2 s
.subckt s a
D9 a 0 dm
.ends
.model rm r r=1k
.model dm d is=1e-14 fv_max=0.3 bv_max=1 id_max=1u pd_max=1u rth0=100 tnom=25
.model qm npn vbe_max=0.2 vce_max=0.5 ic_max=1u ib_max=1n pd_max=1u
.model nm nmos level=1 vgs_max=0.4 vgsr_max=0.2 vds_max=0.3 vbd_max=0.3
.model vm vdmos vto=0.5 vgs_max=0.3 id_max=1m idr_max=1m pd_max=1m te_max=100 derating=0.1 tnom=25
.option warn=1 maxwarns=2
.op
.dc temp 0 50 25
.dc r 500 1500 500
.dc V1 0 1 0.5 temp 0 50 50
.tran 0.1u 20u
.ac dec 1 1 10
.step param r 1k 2k 1k
.end
