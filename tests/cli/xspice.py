#!/usr/bin/env python3
"""XSPICE's analog code models, vsim against ngspice: as peers.py and small.py, which do the comparing.

    xspice.py VSIM [NAME...]        exit code 77 if ngspice is not installed

Left out, because ngspice 39 is not right there (docs/models/xspice.md): ac of aswitch, pswitch, potentiometer, inductoric and
lcouple, whose gains have the wrong sign or are not of the same element; oscillators whose control moves; nand and nor of
multi_input_pwl. What it takes from the step before or finds at the next point (s_xfer, oneshot, delay ...) has short steps."""
import sys
import tempfile

import peers
import small

TWO = """
v1 in 0 dc 0.5 ac 1 sin(0.2 2 1k)
v2 b 0 dc 0.7 ac 0.5
r1 in 0 1k
r2 b 0 1k
"""
PORTS = TWO + """
vm m 0 0
rm in m 1k
a1 in o1 amp
r11 o1 0 1k
a2 %v(in) %i(o2) amp
ro2 o2 0 100
a3 %vnam(vm) %vd(o3 b) amp
ro3 o3 0 100
a4 %vd(in b) %id(o4 b) amp
ro4 o4 0 100
a5 [in b %vnam vm] o5 sum
r5 o5 0 1k
a6 %i(i6) o6 amp
r6 in i6 1k
r66 o6 0 1k
a7 %id [i7 in i8 b] %v o7 sum2
r7 in i7 1k
r77 b i8 1k
r78 o7 0 1k
.model amp gain(gain=2 in_offset=0.1 out_offset=0.3)
.model sum summer(in_offset=[0.1 -0.2 1m] in_gain=[1 2 3]
+ out_gain=2 out_offset=0.5)
.model sum2 summer(in_gain=[1k 2k])
"""
STATIC = TWO + """
v3 c 0 dc 1.2
v4 d 0 dc -1.1
am [in b] o1 mm
ad b in o2 dd
al in o3 ll
ac in c d o4 cc
ap in o6 pp
ap2 in o62 pp2
ap3 in o63 pp3
ro1 o1 0 1k
ro2 o2 0 1k
ro3 o3 0 1k
ro4 o4 0 1k
ro6 o6 0 1k
ro7 o62 0 1k
ro8 o63 0 1k
.model mm mult(in_offset=[0.1 0.2] in_gain=[2 3] out_gain=1.5 out_offset=0.1)
.model dd divide(num_offset=0.1 num_gain=2 den_offset=3 den_gain=3 den_lower_limit=2 den_domain=0.5 out_gain=2 out_offset=0.3)
.model ll limit(in_offset=0.1 gain=2 out_lower_limit=-1 out_upper_limit=2 limit_range=0.1 fraction=FALSE)
.model cc climit(in_offset=0.1 gain=2 upper_delta=0.1 lower_delta=0.2 limit_range=0.10 fraction=FALSE)
.model pp pwl(x_array=[-2.0 -1.0 0.5 2.0 4.0 5.0] y_array=[0.2 -0.2 0.1 2.0 1.0 0.1] input_domain=0.05 fraction=TRUE)
.model pp2 pwl(x_array=[-1.0 0.5 1.0] y_array=[-0.2 0.1 2.0] input_domain=0.1 fraction=FALSE limit=TRUE)
.model pp3 pwl(x_array=[-1.0 1.0] y_array=[-0.2 2.0])
"""
SWITCH = """
v1 in 0 dc 0.5 ac 1 sin(0.4 0.3 1k)
v3 c 0 dc 1.2
as in %gd(c o7) sw
rs o7 0 10k
as2 in (c o8) sw2
rs2 o8 0 1k
.model sw aswitch(cntl_off=0.2 cntl_on=0.6 r_off=100k r_on=1k log=TRUE limit=TRUE)
.model sw2 aswitch(cntl_off=0.0 cntl_on=1 r_off=100k r_on=10 log=FALSE)
"""
ZENER = """
v1 in 0 dc 0.5 ac 1
r1 in z1 1k
az (z1 0) zz
r2 in z2 1k
az2 z2 0 zz2
.model zz zener(v_breakdown=1 i_breakdown=2m r_breakdown=10 i_rev=1u i_sat=1e-12)
.model zz2 zener(v_breakdown=0.2 i_breakdown=20m r_breakdown=100 i_rev=1u i_sat=1e-12)
"""
ILIMIT = """
v1 in 0 dc 0.1 ac 1
v3 c 0 dc 1.2
v4 d 0 dc -1.1
ai in c d o1 il
r1 o1 0 50
ai2 in null null o2 il2
r2 o2 0 50
.model il ilimit(in_offset=0.1 gain=3 r_out_source=20 r_out_sink=40 i_limit_source=10m i_limit_sink=15m
+ v_pwr_range=0.2 i_source_range=1u i_sink_range=1u r_out_domain=1u)
.model il2 ilimit(gain=1 r_out_source=20 r_out_sink=20 i_limit_source=12m i_limit_sink=20m)
"""
HYST = """
v1 in 0 dc 0.5 ac 1 sin(0.4 1 1k)
ah in o5 hh
r1 o5 0 1k
.model hh hyst(in_low=0.3 in_high=0.8 hyst=0.2 out_lower_limit=-1 out_upper_limit=3 input_domain=0.05 fraction=TRUE)
"""
DYNAMIC = """
v1 in 0 dc 0.5 ac 1 pulse(0.5 2 0.1m 0.05m 0.05m 0.3m 1m)
vs sn 0 dc 0.3 ac 1 sin(0.3 1 1k)
aint sn o1 i1
asl in o3 sl
ax1 in o4 x1
ax2 sn o5 x2
ax3 in o6 x3
ax4 sn o7 x4
r1 o1 0 1k
r3 o3 0 1k
r4 o4 0 1k
r5 o5 0 1k
r6 o6 0 1k
r7 o7 0 1k
.model i1 int(in_offset=0.1 gain=1k out_ic=0.2 out_lower_limit=-1e3 out_upper_limit=1e3)
.model sl slew(rise_slope=10k fall_slope=5k)
.model x1 s_xfer(num_coeff=[1] den_coeff=[1e-4 1] int_ic=[0] in_offset=0.1 gain=2)
.model x2 s_xfer(num_coeff=[1 0 2] den_coeff=[1 1.4 2] int_ic=[0 0] denormalized_freq=6283)
.model x3 s_xfer(num_coeff=[1] den_coeff=[1 0.5 1] int_ic=[0 0.3] denormalized_freq=10k)
.model x4 s_xfer(num_coeff=[1 2] den_coeff=[1 0] int_ic=[0])
"""
LIMITED = """
vs sn 0 dc 0.3 ac 1 sin(0.3 1 1k)
aint sn o1 i2
r1 o1 0 1k
.model i2 int(in_offset=0 gain=10k out_ic=0.2 out_lower_limit=-1 out_upper_limit=1.5 limit_range=1e-3)
"""
DDT = """
vs sn 0 dc 0 ac 1 sin(0 1 1k 0 0 90)
adt sn o2 d1
r2 o2 0 1k
.model d1 d_dt(gain=1m out_lower_limit=-100 out_upper_limit=100)
"""
OSCILLATORS = """
v2 c2 0 dc 0.5
r1 c2 0 1
a2 c2 o2 s2
a3 c2 o3 q1
a5 c2 o5 t1
r2 o2 0 1k
r3 o3 0 1k
r5 o5 0 1k
.model s2 sine(cntl_array=[0 1] freq_array=[1k 2k])
.model q1 square(cntl_array=[0 1] freq_array=[1k 2k] out_low=0 out_high=4.5 duty_cycle=0.2 rise_time=10u fall_time=20u)
.model t1 triangle(cntl_array=[0 1 2] freq_array=[1k 2k 3k] out_low=-1 duty_cycle=0.3)
"""
PSWITCH = """
v1 in 0 dc 0.5 ac 1 sin(0.35 0.3 1k)
v3 c 0 dc 1.2
as in 0 %gd(c o7) sw
rs o7 0 10k
as2 (in 0) (c o8) sw2
rs2 o8 0 1k
.model sw pswitch(cntl_off=0.2 cntl_on=0.6 r_off=100k r_on=1k log=TRUE)
.model sw2 pswitch(cntl_off=0.8 cntl_on=0 r_off=100k r_on=10 log=FALSE r_cntl_in=10k)
"""
SIDIODE = """
v1 in 0 dc 0.5 ac 1
r1 in d1 100
ad1 (d1 0) s1
r2 in d2 100
ad2 d2 0 s2
.model s1 sidiode(ron=10 roff=100k vfwd=0.7 vrev=2 rrev=20 epsilon=0.2 revepsilon=0.3)
.model s2 sidiode(ron=10 roff=100k vfwd=0.7 vrev=2 rrev=20 epsilon=0.2 revepsilon=0.3 ilimit=10m revilimit=20m)
"""
RESISTORS = """
v1 in 0 dc 0.5 sin(0 4 1k)
ap in w 0 pot
rw w 0 100k
ap2 in w2 0 pot2
rw2 w2 0 100k
am in 0 mem
.model pot potentiometer(position=0.3 r=10k)
.model pot2 potentiometer(position=0.3 r=10k log=TRUE log_multiplier=2)
.model mem memristor(rmin=1k rmax=10k rinit=7k alpha=0 beta=2e6 vt=1.6)
"""
CIC = """
v1 in 0 dc 0.5 ac 1 pulse(0 1 0.1m 1u 1u 0.3m 1m)
r1 in c1 1k
ac (c1 0) cic
.model cic capacitoric(c=100n ic=0.3)
"""
LIC = """
v1 in 0 dc 0.5 pulse(0 1 0.1m 1u 1u 0.3m 1m)
r2 in l1 1k
al l1 0 lic
.model lic inductoric(l=100m ic=0.2m)
"""
CORE = """
v1 in 0 dc 0 sin(0 10 100)
r1 in p 10
a1 (p 0) (m1 0) prim
a2 (s 0) (m2 0) sec
r2 s 0 1k
a3 (m1 m2) core1
.model prim lcouple(num_turns=155)
.model sec lcouple(num_turns=310)
.model core1 core(h_array=[-1000 -500 -375 -250 -188 -125 -63 0 63 125 188 250 375 500 1000]
+ b_array=[-3.13e-3 -2.63e-3 -2.33e-3 -1.93e-3 -1.5e-3 -6.25e-4 -2.5e-4 0 2.5e-4 6.25e-4 1.5e-3 1.93e-3 2.33e-3 2.63e-3 3.13e-3]
+ area=0.01 length=0.01)
"""
HYST_CORE = """
v1 m 0 sin(0 3 1k)
a3 m 0 core1
.model core1 core(h_array=[0 1] b_array=[0 1] area=1 length=1 mode=2 in_low=-0.5 in_high=0.5 hyst=0.4
+ out_lower_limit=-2m out_upper_limit=2m)
"""
GATES = """
v1 in 0 dc 0.5 sin(0.1 0.8 1k)
v5 b 0 0.3
a6 [in 0 b 0] (o6 0) mi
a7 [in 0 b 0] (o7 0) mo
r6 o6 0 1k
r7 o7 0 1k
.model mi multi_input_pwl(x=[-2 -1 1 2] y=[0 0.2 1 1.1] model="and")
.model mo multi_input_pwl(x=[-2 -1 1 2] y=[0 0.2 1 1.1] model="or")
"""
PULSES = """
v1 in 0 sin(0.1 0.8 1k)
v2 clk 0 pulse(0 1 0.1m 0.01u 0.01u 0.2m 0.5m)
v3 ct 0 0.5
v4 clr 0 pulse(0 1 1.35m 1u 1u 0.05m 5m)
a2 in o2 ct del2
a3 clk ct clr o3 os
a4 clk null null o4 os2
a5 o5 ts
a8 o8 ts2
a10 clk ct null o10 os3
r2 o2 0 1k
r3 o3 0 1k
r4 o4 0 1k
r5 o5 0 1k
r8 o8 0 1k
r10 o10 0 1k
.model del2 delay(has_delay_cnt=TRUE delmin=50u delmax=250u)
.model os oneshot(cntl_array=[-1 0 10 11] pw_array=[1e-6 1e-4 2e-4 3e-4] clk_trig=0.5 pos_edge_trig=TRUE out_low=0
+ out_high=2 rise_delay=20u rise_time=10u fall_delay=5u fall_time=20u retrig=FALSE)
.model os2 oneshot(cntl_array=[0 1] pw_array=[5e-5 5e-5] clk_trig=0.5 pos_edge_trig=FALSE out_low=-1 out_high=2
+ rise_delay=20u rise_time=10u fall_delay=5u fall_time=20u)
.model os3 oneshot(cntl_array=[0 1] pw_array=[6e-4 6e-4] clk_trig=0.5 pos_edge_trig=TRUE retrig=TRUE out_low=-1 out_high=2
+ rise_delay=20u rise_time=10u fall_delay=5u fall_time=20u)
.model ts pwlts(x_array=[0 0.5m 1m 1.5m] y_array=[0 1 -1 0.5])
.model ts2 pwlts(x_array=[0.1m 0.5m 1m 1.5m] y_array=[0 1 -1 0.5] limit=TRUE input_domain=0.1)
"""
TABLE = '0 0 1\n0.5 1.0 2\n# a comment\n1.0, 0.5, 0.5\n3.0 -1 -1\n'
FILE = """
a9 %%v([o91 o92]) fs
r1 o91 0 1k
r2 o92 0 1k
.model fs filesource(file="%s" amploffset=[0 1] amplscale=[1 2] timeoffset=0 timescale=1m timerelative=false amplstep=false)
"""
# Values that no polynomial gives, on axes that are not even; the inputs leave both.
TABLE_2D = """* two axes
4
3
-1 0 0.5 2
0 1 3
1m 2m -1m 4m
2m 5m 3m 1m
-1m 0 7m 2m
"""
TABLE_3D = """2
3
2
0 1
-1 0 2
0 4
1m 2m
3m 5m
2m -1m
4m 1m
-2m 3m
1m 6m
"""
TABLES = """
v1 a 0 dc 0.3 sin(0.3 1.5 1k)
v2 b 0 dc 0.7
v3 c 0 dc 1.3 sin(1.3 1 2k)
a1 a b %%i(o1) t2
r1 o1 0 200
a2 %%vd(a b) b %%id(o2 o3) t2
r2 o2 0 500
r3 o3 0 300
a3 a b %%vd(o4 o1) t2
r4 o4 0 1k
a4 a b c %%i(o5) t3
r5 o5 0 100
a5 a b c %%v(o6) t3
r6 o6 0 1k
a6 o8 b %%i(o8) t2
r8 a o8 10
.model t2 table2d(file="%s" offset=0.1m gain=2 order=2)
.model t3 table3d(file="%s" order=2)
"""
# what a table without its file gives
ABSENT = TWO + """
a1 in b %i(o1) t
ro1 o1 in 1k
a2 in b %v(o2) t
ro2 o2 in 1k
.model t table2d(file="nowhere.table" offset=0.1 gain=2 order=2)
"""
peers.DECKS = {
    'absent': (ABSENT, ['.op', '.dc v1 -1 1 0.5']),
    'ports': (PORTS, ['.op', '.dc v1 -1 1 0.5', '.tran 1u 1m 0 1u']),
    'static': (STATIC, ['.op', '.dc v1 -3 6 0.0501', '.tran 1u 1m 0 1u']),
    'switch': (SWITCH, ['.op', '.dc v1 0 0.9 0.03', '.tran 1u 1m 0 1u']),
    'zener': (ZENER, ['.op', '.dc v1 -5 5 0.1']),
    'ilimit': (ILIMIT, ['.op', '.dc v1 -1 1 0.05']),
    'hyst': (HYST, ['.op', '.dc v1 -1 2 0.05', '.dc v1 2 -1 -0.05', '.tran 1u 3m 0 1u']),
    'dynamic': (DYNAMIC, ['.op', '.tran 1u 2m 0 0.1u']),
    'limited': (LIMITED, ['.op', '.tran 1u 2m 0 0.1u']),
    'd_dt': (DDT, ['.tran 1u 2m 1u 0.2u']),
    'oscillators': (OSCILLATORS, ['.op', '.tran 2u 20m 0 1u']),
    'pswitch': (PSWITCH, ['.op', '.dc v1 -0.2 0.9 0.02', '.tran 1u 1m 0 0.5u']),
    'sidiode': (SIDIODE, ['.op', '.dc v1 -1 1.5 0.05']),
    'resistors': (RESISTORS, ['.op', '.tran 1u 2m 0 0.2u']),
    'capacitoric': (CIC, ['.op', '.tran 1u 2m 0 0.1u']),
    'inductoric': (LIC, ['.op', '.tran 1u 2m 0 0.1u']),
    'core': (CORE, ['.op', '.tran 10u 20m 0 1u']),
    'hysteresis_core': (HYST_CORE, ['.op', '.tran 1u 3m 0 1u']),
    'gates': (GATES, ['.op', '.dc v1 -3 3 0.25', '.tran 1u 1m 0 1u']),
    'pulses': (PULSES, ['.tran 0.05u 2m 0 0.05u']),
}
small.DECKS = {name: (deck, ['.ac dec 2 10 100k'])
               for name, deck in [('ports', PORTS), ('static', STATIC), ('ilimit', ILIMIT), ('zener', ZENER), ('hyst', HYST),
                                  ('dynamic', DYNAMIC), ('d_dt', DDT), ('sidiode', SIDIODE), ('capacitoric', CIC)]}

if __name__ == '__main__':
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as table:
        table.write(TABLE)
        table.flush()
        peers.DECKS['filesource'] = (FILE % table.name, ['.tran 10u 2.5m 0 5u'])
        with tempfile.NamedTemporaryFile('w', suffix='.2d') as two, tempfile.NamedTemporaryFile('w', suffix='.3d') as three:
            two.write(TABLE_2D)
            two.flush()
            three.write(TABLE_3D)
            three.flush()
            names = (two.name, three.name)
            peers.DECKS['tables'] = (TABLES % names, ['.op', '.dc v1 -1.3 2.4 0.05', '.dc v2 -0.3 3.3 0.09', '.tran 1u 2m 0 1u'])
            status = peers.main()
    sys.exit(status or small.main())
