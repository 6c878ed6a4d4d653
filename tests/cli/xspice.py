#!/usr/bin/env python3
"""XSPICE's analog code models, vsim against ngspice: as peers.py and small.py, which do the comparing.

    xspice.py VSIM [NAME...]        exit code 77 if ngspice is not installed

Left out, because ngspice 39 is not right there (docs/ngspice-compatibility.md): aswitch and pswitch in ac, whose conductance
has the wrong sign; oscillators whose control moves, and s_xfer, lcouple and memristor at long steps, which it integrates
with the values of the step before. Those decks have short steps."""
import sys

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
peers.DECKS = {
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
}
small.DECKS = {name: (deck, ['.ac dec 2 10 100k'])
               for name, deck in [('ports', PORTS), ('static', STATIC), ('ilimit', ILIMIT), ('zener', ZENER), ('hyst', HYST),
                                  ('dynamic', DYNAMIC), ('d_dt', DDT)]}

if __name__ == '__main__':
    status = peers.main()
    sys.exit(status or small.main())
