#!/usr/bin/env python3
"""Devices in decks, vsim against ngspice: as peers.py, which does the comparing.

    peer_devices.py VSIM [NAME...]        exit code 77 if ngspice is not installed

Left out, because ngspice 39 is not what later versions are: theta of vdmos, VBIC off its nominal temperature
and in ac (fixed later), breakdown of a diode with sidewall current. Switches change within a step of ngspice, so that
their decks have short steps."""
import sys

import peers
import small

peers.DECKS = {
    'switches': ("""
VIN in 0 5
VC c 0 PULSE(0 5 1u 0.5u 0.5u 3u 8u)
R1 in out 1k
C1 out 0 100p
S1 out 0 c 0 swm
.model swm sw vt=2.5 vh=0.5 ron=10 roff=1meg
S2 in o2 c 0 swz
R2 o2 0 1k
.model swz sw vt=1 ron=1 roff=1e9
VS c2 0 PULSE(0 1 1u 0.5u 0.5u 3u 8u)
RS c2 0 1k
W1 in o3 VS cw
R3 o3 0 1k
.model cw csw it=-0.5m ih=0.1m ron=1 roff=1meg
""", ['.op', '.tran 20n 16u 0 0.2n']),
    'switch_hysteresis': ("""
VIN in 0 5
VC c 0 0
R1 in out 1k
S1 out 0 c 0 swm
R2 in o2 1k
S2 o2 0 c 0 swm on
.model swm sw vt=2.5 vh=1 ron=10 roff=1meg
""", ['.op', '.dc VC 0 5 0.26', '.dc VC 5 0 -0.26']),
    'buck': ("""
VIN in 0 12
VG g 0 PULSE(0 5 0 20n 20n 2u 5u)
S1 in sw g 0 swm
.model swm sw vt=2.5 vh=0.2 ron=20m roff=1meg
D1 0 sw dm
.model dm d is=1e-9 n=1.2 rs=10m cjo=100p
L1 sw out 10u ic=0
C1 out 0 47u ic=4
RL out 0 4
""", ['.tran 50n 50u 0 0.5n uic']),
    'mesfet': ("""
VD d 0 3
VG g 0 -0.2
RD d x 100
Z1 x g 0 zm area=1.5
.model zm nmf vto=-1.3 beta=2m b=0.2 alpha=2 lambda=0.05 rd=2 rs=2 cgs=1p cgd=0.2p is=1e-14
VP p 0 -3
Z2 p gp 0 zp
VGP gp 0 0.5
.model zp pmf vto=-1.5 beta=1m b=0.3 lambda=0.01
""", ['.op', '.dc VG -2 0.4 0.1', '.dc VD -1 5 0.25']),
    'vdmos': ("""
VD d 0 10
VG g 0 4
RD d x 0.5
M1 x g 0 irf
.model irf vdmos nchan vto=3 kp=20 rd=0.05 rs=0.02 rg=3 rb=0.01 is=1e-12 cjo=0.5n bv=100 ibv=250u cgs=1.4n
+ cgdmin=20p cgdmax=2n a=0.5 lambda=2m ksubthres=0.08 mtriode=1.2
M2 dp gp 0 irp
VDP dp 0 -8
VGP gp 0 -4
.model irp vdmos pchan vto=-3 kp=8 rd=0.1 rs=0.05 rds=1meg
""", ['.op', '.dc VG 0 8 0.2', '.dc VD -2 12 0.5', '.dc temp -40 125 33']),
    'vdmos_switching': ("""
VD d 0 20
VG g 0 PULSE(0 10 0.1u 20n 20n 1u 3u)
RG g gg 10
RD d x 10
M1 x gg 0 irf
.model irf vdmos nchan vto=3 kp=20 rd=0.05 rs=0.02 rg=3 rb=0.01 is=1e-12 cjo=0.5n bv=100 cgs=1.4n cgdmin=20p
+ cgdmax=1n a=0.5
""", ['.tran 5n 4u 0 2n']),
    'mos6': ("""
VD d 0 3
VG g 0 2
VB b 0 -0.5
M1 d g 0 b nm w=10u l=1u
.model nm nmos level=6 vto=0.7 kv=1.1 nv=0.9 kc=5e-5 nc=1.2 lambda0=0.05 lambda1=0.005 gamma=0.4 gamma1=0.03
+ sigma=0.02 phi=0.65 tox=20n cgso=0.2n cgdo=0.2n
M2 dp gp 0 0 pm w=20u l=1u
VDP dp 0 -3
VGP gp 0 -2
.model pm pmos level=6 vto=-0.8 kv=1.2 nv=0.8 kc=2e-5 nc=1.3 lambda=0.04
""", ['.op', '.dc VD -0.5 4 0.25', '.dc VG 0 3 0.2']),
    'diode_full': ("""
.model d1 d is=1e-14 n=1.1 rs=2 ikf=10m isr=1e-11 nr=2 bv=12 ibv=1u nbv=1.2 tcv=1m eg=1.12 xti=3.2 trs=2m cjo=2p vj=0.8
+ m=0.42 tt=4n tm1=1m tlev=0
.model d2 d is=1e-14 jsw=1e-15 ns=1.3 cjsw=1p php=0.7 mjsw=0.3 cjo=1p tlev=1 tlevc=1 cta=1m ctp=1m tpb=1m
VA a 0 0.5
RA a x 10
D1 x 0 d1
D2 x 0 d2 area=3 pj=12
D3 x 0 d1 2 m=3
""", ['.op', '.dc VA -15 1.2 0.3', '.dc temp -40 125 33']),
    'diode_heat': ("""
.model dh d is=1e-12 n=1.1 rs=0.2 rth0=20 cth0=1u cjo=100p tt=1n trs=1m bv=60 tcv=1m fv_max=1.5 bv_max=20 id_max=1.5
+ pd_max=1 te_max=175
VA a 0 PULSE(0.8 1 1u 1u 1u 30u 60u)
D1 a 0 tj dh thermal
RTJ tj 0 60
D2 a 0 t2 dh thermal area=2 dtemp=20
RT2 t2 0 1k
D3 a 0 dh
""", ['.op', '.dc VA 0.4 1.2 0.05', '.dc temp -40 125 33', '.tran 0.2u 60u 0 0.1u']),
    'hicum': ("""
.model qh npn level=8 tnom=27 flcomp=2.4 flnqs=1 c10=9e-30 qp0=1e-13 hf0=2 hjei=1.5 hjci=0.4 ibeis=1.3e-19 mbei=1.03 ireis=1.5e-15
+ ibeps=1.3e-19 mbep=1.04 ibcis=4.6e-17 mbci=1.15 favl=19 qavl=5e-14 rbi0=4.4 rbx=2.6 re=1.5 rcx=2.5 itss=1e-17 iscs=5e-15 rsu=500
+ csu=60f cjei0=9f vdei=0.75 zei=0.25 ajei=1.6 cjep0=2f cjci0=3.6f vdci=0.8 zci=0.3 cjcx0=6f vdcx=0.8 cjs0=26f cbepar=26f cbcpar=16f
+ fbcpar=0.3 t0=0.21p dt0h=0.08p tbvl=0.08p tef0=0.3p gtfe=3.5 thcs=5p fthc=0.7 ahc=0.05 rci0=9.5 vlim=0.7 vces=0.02 vpt=2 rth=800
+ cth=7e-12 flsh=2 vgb=1.1 zetact=4 zetaci=0.6
VCC 2 0 2.5
VIN 1 0 PULSE(0 0.3 0 5p 5p 4n 8n)
RS 1 in 50
C1 in b 1n
R1 2 c 180
R2 c b 5k
Q1 c b 0 0 tj qh
C2 c out 1p
R3 out 0 1k
""", ['.op', '.dc VCC 1 3 0.1', '.dc temp -40 125 33', '.tran 2p 10n 0 2p']),
    'bjt_full': ("""
.model qn npn is=1e-16 bf=120 nf=1 vaf=60 ikf=0.02 ise=2e-14 ne=1.8 br=3 nr=1 var=12 ikr=0.01 isc=1e-14 nc=1.6 rb=100
+ irb=1e-4 rbm=15 re=1 rc=12 cje=0.2p cjc=0.12p xcjc=0.6 tf=15p xtf=3 vtf=4 itf=0.03 tr=1n cjs=0.1p xtb=1.5 xti=3
VC c 0 2
VB b 0 0.75
VS s 0 -1
Q1 c b 0 s qn
Q2 c b e qn
RE e 0 100
""", ['.op', '.dc VC -0.3 5 0.25 VB 0.6 0.85 0.05', '.dc temp -40 125 33']),
    'vbic': ("""
.model qv npn level=4 is=1e-16 rcx=10 rci=40 vo=2 gamm=2e-11 hrcf=2 rbx=10 rbi=30 re=2 rs=20 rbp=40 ibei=1e-18 iben=5e-15
+ nen=2 ibci=2e-17 ibcn=5e-15 avc1=2 avc2=15 isp=1e-15 wsp=0.8 nfp=1 ibeip=1e-17 vef=50 ver=5 ikf=20m ikr=1m ikp=0.5m
+ cje=0.1p cjc=0.05p tf=5p xtf=20 itf=50m
VC c 0 2
VB b 0 0.8
VS s 0 0
Q1 c b 0 s qv
.model qp pnp level=4 is=1e-16 rci=20 rbi=20 ibei=1e-18
VCP cp 0 -2
VBP bp 0 -0.8
Q2 cp bp 0 0 qp
""", ['.op', '.dc VC -0.2 4 0.2 VB 0.65 0.95 0.1']),
    'vbic_heat': ("""
.model qh npn level=4 is=1e-16 rcx=10 rci=40 vo=2 gamm=2e-11 rbx=10 rbi=30 re=2 ibei=1e-18 vef=50 ikf=20m rth=300
+ cje=0.1p
VC c 0 2
VB b 0 0.8
Q1 c b 0 0 t qh
Q2 c b 0 0 qh
Q3 c b 0 qh
""", ['.op', '.dc VC 0.2 3 0.4 VB 0.7 0.8 0.05']),
    'temperature': ("""
V1 a 0 2
B1 b 0 v=v(a)*2 tc1=1m tc2=10u
R1 b 0 1k
B2 0 c i=1m*v(a) tc1=2m
R2 c 0 1k tc1=-1m
R3 a d r={1k+v(a)} tc1=3m
R4 d 0 1k dtemp=20 tc1=1m
R5 a e rm l=20u w=2u
R6 e 0 rm l=20u w=4u tc1=5m
.model rm r rsh=100 narrow=0.1u tc1=1m
C1 a 0 1p
""", ['.op', '.dc temp -40 125 33', '.dc V1 -1 3 0.5']),
    'line': ("""
V1 in 0 PULSE(0 1 1n 0.5n 0.5n 20n 60n)
R1 in a 25
T1 a 0 b 0 z0=50 td=4n
R2 b 0 200
R3 in c 50
T2 c 0 d 0 z0=75 f=100meg nl=0.3
C2 d 0 10p
""", ['.op', '.tran 0.2n 80n 0 0.05n', '.dc V1 -1 1 0.5']),
    'line_cascade': ("""
V1 in 0 SIN(0 1 100meg)
R1 in a 50
T1 a 0 b 0 z0=50 td=1n
T2 b 0 c 0 z0=100 td=1.7n
R2 c 0 30
L1 b x 20n
R3 x 0 100
""", ['.tran 0.1n 60n 0 0.05n']),
    'line_differential': ("""
V1 in 0 PULSE(0 1 1n 0.5n 0.5n 5n 30n)
R1 in p 50
R2 0 n 50
T1 p n q m z0=100 td=2n
R3 q m 150
R4 m 0 1k
""", ['.tran 0.1n 40n 0 0.01n']),
    'line_lossy': ("""
V1 in 0 PULSE(0 1 1n 1n 1n 20n 60n)
R1 in a 50
O1 a 0 b 0 mo
.model mo ltra r=12.45 l=8.972e-9 g=0 c=0.468e-12 len=4
R2 b 0 100
""", ['.op', '.tran 0.2n 60n 0 0.1n']),
    'line_coupled': ("""
V1 in 0 PULSE(0 1 0.2n 0.2n 0.2n 3n 20n)
R1 in a1 50
R2 a2 0 50
R3 a3 0 50
P1 a1 a2 a3 0 b1 b2 b3 0 pl
.model pl cpl r=0 0 0 0 0 0 l=300n 60n 10n 310n 70n 320n g=0 0 0 0 0 0 c=100p -20p -2p 105p -22p 110p length=0.2
R4 b1 0 50
R5 b2 0 50
R6 b3 0 50
""", ['.tran 10p 8n 0 1p']),
    'jfet2': ("""
.model a njf level=2 vto=-1.5 beta=2m q=2.2 p=2.5 lambda=0.02 xi=3 z=0.8 vst=0.05 mvst=0.1 lfgam=0.03 lfg1=0.002 lfg2=0.001 delta=0.2
+ rd=5 rs=4 n=1.1 ibd=1e-8 vbd=2 cgs=0.3p cgd=0.1p acgam=0.05 xc=0.2 hfgam=0.08 hfeta=0.02 hfe1=0.01 hfe2=0.02 hfg1=0.005 hfg2=0.004
+ taug=1u taud=2u cds=0.05p
.model b pjf level=2 vto=-2 beta=1m
VD d 0 2
VG g 0 dc -0.5 PULSE(-0.5 -0.1 0.5u 10n 10n 2u 10u)
RG g gg 50
RD d dd 100
J1 dd gg 0 a 2
J2 e gg 0 b
RE d e 1k
""", ['.op', '.dc vd 0 4 0.25 vg -2 0.4 0.4', '.tran 5n 6u 0 5n']),
    'line_rc': ("""
V1 in 0 PULSE(0 1 1n 1n 1n 400n 900n)
R1 in a 1k
O1 a 0 b 0 mo
.model mo ltra r=100 c=1p len=20
R2 b 0 10k
R3 in c 1k
U1 c d 0 mu l=50u
.model mu urc rperl=10meg cperl=10n k=1.5 fmax=1g
R4 d 0 10k
""", ['.op', '.tran 2n 1u 0 0.25n']),
}

FLICKER = 'tox=20n ld=0.1u rd=10 rs=10 kf=1e-26 af=1\n'

small.DECKS = {
    'jfet2': ("""
.model a njf level=2 vto=-1.5 beta=2m q=2.2 p=2.5 lambda=0.02 xi=3 z=0.8 vst=0.05 mvst=0.1 lfgam=0.03 delta=0.2 rd=5 rs=4 ibd=1e-8 vbd=2
+ cgs=0.3p cgd=0.1p acgam=0.05 xc=0.2 hfgam=0.08 hfeta=0.02 hfe1=0.01 hfe2=0.02 hfg1=0.005 hfg2=0.004 taug=1u taud=2u cds=0.05p
VD d 0 2
VG g 0 dc -0.5 ac 1
RG g gg 50
RD d dd 100
J1 dd gg 0 a 2
RE d e 500
J2 0 g e b
.model b pjf level=2 vto=-2 beta=1m lfgam=0.05 hfgam=0.1 taug=1u delta=0.1 taud=1u kf=1e-14
""", ['.ac dec 5 1k 10g', '.noise v(dd) VG dec 5 1k 1g', '.noise v(e) VG dec 5 1 1meg']),
    'line': ("""
V1 in 0 ac 1
R1 in a 25
T1 a 0 b 0 z0=50 td=4n
R2 b 0 200
C2 b 0 2p
R3 in c 1k
U1 c d 0 mu l=50u
.model mu urc rperl=10meg cperl=10n k=1.5 fmax=1g
R4 d 0 10k
""", ['.ac lin 40 1meg 500meg', '.tf v(b) V1', '.noise v(d) V1 dec 100 1k 1g']),
    'mesfet': ("""
VD d 0 3
RD d x 500
VG g 0 dc -0.3 ac 1
RG g gg 100
Z1 x gg 0 zm
.model zm nmf vto=-1.3 beta=2m b=0.2 alpha=2 lambda=0.05 rd=20 rs=20 cgs=1p cgd=0.2p kf=1e-14
""", ['.ac dec 5 1k 10g', '.noise v(x) VG dec 5 1 1meg', '.tf v(x) VG']),
    'vdmos': ("""
VD d 0 10
RD d x 2
VG g 0 dc 3.5 ac 1
M1 x g 0 mm
.model mm vdmos vto=3 kp=5 rd=0.1 rs=0.05 rg=2 cgs=1n cgdmin=20p cgdmax=1n a=0.5 cjo=0.5n kf=1e-10
""", ['.ac dec 5 1k 1g', '.noise v(x) VG dec 5 1 1meg', '.tf v(x) VG']),
    'mos_flicker': ('.model n1 nmos level=1 kp=50u gamma=0.4 ' + FLICKER + '.model n2 nmos level=2 kp=50u delta=0.5 ' +
                    FLICKER + '.model n3 nmos level=3 kp=50u theta=0.1 ' + FLICKER + '.model p1 pmos level=1 ' + FLICKER + """
VD d 0 3
VG g 0 dc 1.5 ac 1
R1 d x1 1k
M1 x1 g 0 0 n1 w=20u l=2u
R2 d x2 1k
M2 x2 g 0 0 n2 w=10u l=1u
R3 d x3 2k
M3 x3 g 0 0 n3 w=10u l=2u m=2
R4 x4 0 5k
M4 x4 g d d p1 w=30u l=1u
""", ['.noise v(x%d) VG dec 5 1 1meg 1' % k for k in (1, 2, 3, 4)]),
    'mos6': ("""
VD d 0 5
RD d x 5k
VG g 0 dc 1.5 ac 1
M1 x g 0 0 nm w=10u l=1u
.model nm nmos level=6 vto=0.7 kv=1.1 nv=0.9 kc=5e-5 nc=1.2 lambda=0.02 tox=20n cgso=0.2n cgdo=0.2n
""", ['.tf v(x) VG']),  # its ac analysis gives 0 in ngspice
    'vbic': ("""
VC c 0 2
RC c x 200
VB b 0 dc 0.8 ac 1
RB b bb 50
Q1 x bb 0 0 qv
.model qv npn level=4 is=1e-16 rcx=10 rci=20 vo=1 gamm=1e-12 rbx=20 rbi=30 re=2 rs=20 ibei=1e-18 vef=60 ver=6 ikf=10m
+ cje=50f cjc=30f cjep=20f cjcp=40f cbeo=10f cbco=5f tf=3p xtf=10 itf=20m qco=1f kfn=1e-10
""", ['.tf v(x) VB']),
    'diode': ("""
V1 a 0 dc 1 ac 1
R1 a x 1k
D1 x 0 dm
.model dm d is=1e-14 rs=10 cjo=1p tt=1n kf=1e-14 af=1
""", ['.ac dec 5 1k 10g', '.noise v(x) V1 dec 5 1 1meg']),
}

if __name__ == '__main__':
    status = peers.main()
    sys.exit(status or small.main())
