#!/usr/bin/env python3
"""Measures and .control blocks in vsim and ngspice: every number that both print agrees to 0.1 %.

    peer_control.py VSIM [NAME...]        exit code 77 if ngspice is not installed

A deck runs once in each program. Compared are lines "name = value ..." (print, meas, echo), with all
numbers on them, and the files that wrdata and write leave behind. A number that ngspice cannot give
(a form that version 39 does not know) stands in KNOWN with the exact value."""
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TOLERANCE = 1e-3
NUMBER = r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?'
LINE = re.compile(r'^\s*([A-Za-z_@][^\s=]*|[^=]{1,60}?)\s*=\s+(%s.*)$' % NUMBER)

RC = """
V1 in 0 dc 0.25 ac 1 PULSE(0 1 1u 0.1u 0.1u 2u 5u)
R1 in out 1k
C1 out 0 0.3n
"""
TRAN = '.options reltol=1e-5\n.tran 5n 12u 0 5n\n'
CMOS = """
.model nm NMOS level=1 vto=0.7 kp=100u gamma=0.4 phi=0.65 lambda=0.02 tox=20n cgso=0.2n cgdo=0.2n
.model pm PMOS level=1 vto=-0.8 kp=40u gamma=0.5 phi=0.65 lambda=0.03 tox=20n cgso=0.2n cgdo=0.2n
VDD vdd 0 3.3
VIN in 0 PULSE(0 3.3 1n 1n 1n 8n 20n)
MP out in vdd vdd pm w=5u l=1u
MN out in 0 0 nm w=2u l=1u
CL out 0 100f
"""


def control(*lines):
    return '.control\n' + '\n'.join(lines) + '\n.endc\n'


DECKS = {
    'csparam': ('.param r1v=2k k=2\n.csparam k={3*k}\n.csparam z={2*3+k}\n.csparam r1v={r1v}\nV1 a 0 5\nR1 a 0 {r1v}\n.op\n' + control(
        'op', 'print v(a)*k', 'print z r1v', 'let y = k + z', 'print y')),
    'meas_tran': ('.param vth=0.5\n' + RC + TRAN + """
.meas tran trig_targ trig v(in) val=0.5 rise=1 targ v(out) val='vth' rise=1
.meas tran fall_last trig v(in) val=0.5 rise=1 targ v(out) val=0.5 fall=last
.meas tran trig_at trig at=1u targ v(out) val=0.5 cross=2
.meas tran with_td trig v(in) val=0.5 td=4u rise=1 targ v(out) val=0.5 td=4u fall=1
.meas tran find_at find v(out) at=2u
.meas tran find_when find v(out) when v(in)=0.5 fall=1
.meas tran when_rise when v(out)=0.5 rise=2
.meas tran when_fall when v(out)=0.25 fall=1
.meas tran when_cross when v(out)=0.75 cross=3
.meas tran avg_part avg v(out) from=1u to=6u
.meas tran avg_all avg v(out)
.meas tran rms_part rms v(out) from=1u to=6u
.meas tran min_all min v(out) from=3u to=6u
.meas tran max_all max v(out)
.meas tran pp_part pp v(out) from=3u to=6u
.meas tran min_place min_at v(out) from=3u to=6u
.meas tran max_place max_at v(out) from=3u to=6u
.meas tran area integ v(out) from=1u to=6u
.meas tran charge integ i(v1) from=1u to=2.9u
.meas tran sum param='trig_targ*2+vth'
.meas tran choice param='avg_part < rms_part ? 1 : 2'
"""),
    'meas_tran_more': ('.param half=0.5\n' + RC + 'E1 twice 0 out 0 2\n' + TRAN + """
.meas tran cross_last when v(out)=0.5 cross=last
.meas tran rise_last when v(out)=0.5 rise=last
.meas tran fall_last when v(out)=0.5 fall=last
.meas tran when_td when v(out)=0.5 rise=1 td=5u
.meas tran when_from when v(out)=0.5 fall=1 from=5u to=11u
.meas tran find_cross find v(twice) when v(out)=0.5 cross=3
.meas tran find_td find v(in) when v(out)=0.5 fall=1 td=4u
.meas tran find_expr find par('v(in)*2+1') at=2u
.meas tran find_current find i(v1) at=1.3u
.meas tran trig_rise_last trig v(in) val=0.5 rise=last targ v(out) val=0.5 rise=last
.meas tran trig_cross trig v(in) val=0.5 cross=1 targ v(in) val=0.5 cross=4
.meas tran trig_fall trig v(in) val='half' fall=1 targ v(out) val='half/2' fall=1
.meas tran trig_two_td trig v(in) val=0.5 td=2u fall=1 targ v(out) val=0.5 td=6u rise=1
.meas tran rms_all rms v(out)
.meas tran pp_all pp v(out)
.meas tran integ_all integ v(out)
.meas tran min_current min i(v1)
.meas tran avg_expr avg par('v(in)*v(in)') from=1.1u to=3.1u
.meas tran max_at_all max_at v(out)
.meas tran p1 param='half*3'
.meas tran p2 param='p1+integ_all*1meg'
.meas tran p3 param='sqrt(p1*p1)+max(p1,p2)-min(p1,p2)'
"""),
    'meas_ac_more': (RC + control(
        'ac dec 50 10k 100meg', 'meas ac m_min min vm(out)', 'meas ac m_pp pp vdb(out)', 'meas ac m_rms rms vm(out)',
        'meas ac m_integ integ vm(out)', 'meas ac m_avg avg vm(out)', 'meas ac m_max max vdb(out) from=1meg to=10meg',
        'meas ac at_min min_at vdb(out)', 'meas ac at_max max_at vm(out)', 'meas ac cross when vm(out)=0.5 cross=1',
        'meas ac fall when vp(out)=-0.7 fall=1', 'meas ac last when vdb(out)=-20 cross=last',
        'meas ac find_at find vp(out) at=531k', 'meas ac find_when find vdb(out) when vp(out)=-0.785398 fall=1',
        'meas ac curves find vm(out) when vr(out)=vi(in) cross=1', 'meas ac part_i find vi(out) when vm(out)=0.9 cross=1',
        'meas ac range trig vdb(out) val=-6 fall=1 targ vdb(out) val=-20 fall=1', 'meas ac from_at trig at=1meg targ vdb(out) val=-20 fall=1',
        'let both = m_min + m_avg', 'print both')),
    'meas_dc_more': ('V1 in 0 1\nR1 in out 1k\nD1 out 0 dm\n.model dm d is=1e-14 n=1.1 rs=5\nE1 line 0 in 0 0.4\n' + control(
        'dc v1 0 2 0.005', 'meas dc d_min min v(out) from=0.5 to=2', 'meas dc d_rms rms v(out) from=0.5 to=1.5', 'meas dc d_pp pp i(v1)',
        'meas dc at_min min_at i(v1)', 'meas dc at_max max_at v(out)', 'meas dc d_max max v(out) from=0.1 to=0.4002',
        'meas dc rise when v(out)=0.3 rise=1', 'meas dc cross when v(out)=0.6 cross=1', 'meas dc last when v(out)=0.6 cross=last',
        'meas dc curves when v(out)=v(line) fall=1', 'meas dc find_curves find i(v1) when v(out)=v(line) fall=1',
        'meas dc span trig v(out) val=0.2 rise=1 targ v(out) val=0.6 rise=1', 'meas dc d_avg avg i(v1)', 'meas dc d_integ integ i(v1)',
        'meas dc diff find v(in,out) at=1.2', 'dc v1 2 0 -0.01', 'meas dc down when v(out)=0.6 cross=1', 'meas dc find_down find v(out) at=0.4',
        'meas dc down_max max v(out)')),
    'meas_ac': (RC + control(
        'ac dec 20 1k 100meg', 'meas ac db_at find vdb(out) at=1meg', 'meas ac corner when vdb(out)=-3',
        'meas ac phase find vp(out) when vm(out)=0.5', 'meas ac re find vr(out) at=1meg',
        'meas ac im find vi(out) at=1meg', 'meas ac span trig vdb(out) val=-1 fall=1 targ vdb(out) val=-10 fall=1',
        'meas ac most max vm(out)', 'meas ac part find v(out) at=1meg',
        'meas ac level avg vm(out)')),
    'meas_dc': ('V1 in 0 1\nR1 in out 1k\nD1 out 0 dm\n.model dm d is=1e-14 n=1.1 rs=5\n' + control(
        'dc v1 0 2 0.01', 'meas dc at find v(out) at=1.055', 'meas dc through when v(out)=0.5',
        'meas dc mean avg v(out) from=0.2 to=2', 'meas dc area integ v(out) from=0.5 to=2', 'meas dc most max v(out)',
        'meas dc swing pp v(out)', 'meas dc current find i(v1) when v(out)=0.6')),
    'functions': (RC + control(
        'let x = vector(7)', 'let y = x^2 - 3*x + 0.5', 'print y[3] y[0] length(y) mean(y) vecmax(y) vecmin(y)',
        'print sqrt(2) ln(10) log(10) log10(1000) exp(1.5) sin(1) cos(1) tan(1) atan(1) abs(-3)',
        'print sinh(1) cosh(1) tanh(1) floor(2.7) ceil(2.2) 7%4 -2^2 2^-1 (1+2)*3',
        'let c = (3,4)', 'print mag(c) ph(c) re(c) im(c) db(c) conj(c) c*c c/(1,1) abs(c) j(c)',
        'print 3 gt 2 3 lt 2 3 ge 3 2 le 1 3 eq 3 3 ne 3', 'let t = 3 gt 2 & 1 lt 2', 'let u = 1 gt 2 | 0', 'print t u',
        'let d = ~t', 'print d', 'let e = t ? 5 : 7', 'print e', 'print norm(x)[3] unitvec(4)[2] pi const.e boltz*1e23',
        'let s = stddev(y)', 'print s', 'define par(a,b) a*b/(a+b)', 'print par(1k,2k)', 'print nint(2.6) cph(c)',
        'print 1meg 2.5k 3u 1.5e-3')),
    'functions_more': (RC + control(
        'let x = (vector(9)-4)/5', 'let y = asin(x)', 'print y[1] y[8]', 'let y = acos(x)', 'print y[0] y[8]', 'let y = tan(x)', 'print y[2]',
        'print ln(2) sgn(-3) sgn(2) floor(-1.5) ceil(-1.5) nint(-2.6)', 'let p = pos(x)', 'print p[2] p[7]', 'print vecmin(x) vecmax(x) mean(abs(x))',
        'let g = x^2', 'let n = norm(g)', 'print n[0] n[4] n[8]', 'let i = mag((3,4)*x)', 'print i[0] i[8]', 'print im((1,2)*(3,-1)) real((1,2)*(3,-1)) imag((1,2)/(0,2))',
        'print ph((1,1)) cph((1,1))[0] db(0.1) abs((3,4)) mag(-2) log10(0.01) exp(-1)', 'let z = sqrt((-4,0))', 'print re(z) im(z)',
        'print 5 % 3 2 ^ 10 7 / 2 1 <> 2 3 >= 3 2 <= 1 5 > 4 5 < 4', 'print x[2,4]',
        'print e c pi kelvin planck/1e-34 TRUE FALSE yes no', 'print 3k 2m 5meg 1e3 2.5u*1meg 4n*1g 7p*1t 3mil/1u')),
    'functions_tran': (RC + TRAN + control(
        'run', 'let i = integ(v(out))', 'meas tran i_end find i at=11u', 'let d = deriv(v(out))', 'meas tran d_at find d at=2u',
        'linearize v(out) v(in)', 'let a = avg(v(out))', 'print a[1000] a[2000]', 'let l = length(v(out))', 'print l mean(v(out)) vecmax(v(out)) vecmin(v(out)) stddev(v(out))',
        'let w = v(out)[100,200]', 'print length(w) w[0] w[100]')),
    'functions_netlist': ('.param a=0.7 b=-1.3 big=3.7\n.func sq(x) {x*x}\n.func two(x,y) {sq(x)+y}\n' + '\n'.join(
        'R%d n%d 0 {%s}\nI%d 0 n%d 1' % (k, k, f, k, k) for k, f in enumerate((
            '3+sin(a)', '3+cos(a)', '3+tan(a)', '3+asin(a)', '3+acos(a)', '3+atan(b)', '3+sinh(a)', '3+cosh(a)', '3+tanh(b)', '3+asinh(b)', '3+acosh(big)',
            '3+atanh(a)', 'exp(a)', '3+ln(a)', '3+log(a)', '3+log10(a)', 'sqrt(big)', 'abs(b)', '5+min(a,b)', 'max(a,big)', 'pow(big,2)', 'pwr(big,3)', '3+sgn(b)',
            'int(big)', 'floor(big)', 'ceil(a)', 'nint(big)', 'ternary_fcn(a>b,2,3)', 'a>b ? 4 : 5', 'a<b ? 4 : 5', 'big**2', 'two(a,big)',
            '1+(a>b && b<0)', '1+(a<b || big>1)', '1+(a==0.7)', '1+(a!=0.7)', '1+(a>=0.7)', '1+(a<=0.6)', 'big*2/3+1-0.5', '3+arctan(b)', '1k+1meg*1u', 'sqr(big)',
            '2+!(a>b)', '10+(-a)*b', '7-2**2', 'temper', '3+var'))) + '\n.param var=1\n' + control(
                'op', 'print ' + ' '.join('v(n%d)' % k for k in range(47)))),
    'functions_behavioural': ('V1 x 0 0.7\nV2 y 0 -1.3\nV3 z 0 3.7\n' + '\n'.join('B%d n%d 0 v=%s' % (k, k, f) for k, f in enumerate((
        'sin(v(x))', 'cos(v(x))', 'tan(v(x))', 'asin(v(x))', 'acos(v(x))', 'atan(v(y))', 'sinh(v(x))', 'cosh(v(x))', 'tanh(v(y))', 'asinh(v(y))', 'acosh(v(z)+2)',
        'atanh(v(x))', 'exp(v(x))', 'ln(v(x))', 'log(v(x))', 'log10(v(x))', 'sqrt(v(z))', 'abs(v(y))', 'min(v(x),v(y))', 'max(v(x),v(z))', 'pow(v(z),2)',
        'pwr(v(y),3)', 'sgn(v(y))', 'floor(v(z))', 'ceil(v(y))', 'nint(v(z))', 'u(v(x))', 'u2(v(x))', 'uramp(v(z))', 'uramp(v(y))', 'eq0(v(x))', 'ne0(v(x))',
        'gt0(v(x))', 'lt0(v(x))', 'ge0(v(y))', 'le0(v(y))', 'v(x)>v(y) ? 1 : 2', 'ternary_fcn(v(x)<v(y),1,2)', 'pwl(v(x), 0,1, 1,3, 2,4)', 'v(x)^2', 'v(z)**1.5',
        'v(x)*v(y)/v(z)+1-2', 'v(x,y)', '-i(v3)*1k+1', 'v(x)>0 && v(y)>0', 'v(x)>0 || v(y)>0', '!(v(x)>0)', 'pi+e', 'temper', 'v(x)==v(x)', 'v(x)!=v(y)', 'v(x)>=0.7', 'v(x)<=0.6'))) + '\nR9 z 0 1k\n' + control(
            'op', 'print ' + ' '.join('v(n%d)' % k for k in range(53)))),
    'vectors': (RC + TRAN + control(
        'run', 'let p = v(in)*i(v1)', 'let d = deriv(v(out))', 'meas tran slope find d at=1.5u',
        'let q = integ(i(v1))', 'meas tran charge find q at=2.5u', 'meas tran power avg p',
        'meas tran top max v(out)', 'let k = top*2', 'print k', 'let dif = v(in,out)', 'meas tran gap max dif',
        'linearize v(out)', 'let n = length(v(out))', 'print n v(out)[400] v(out)[1200]',
        'setplot tran1', 'meas tran again max v(out)')),
    'complex': (RC + control(
        'ac dec 5 10k 10meg', 'print v(out)[0] v(out)[7] v(out)[15]', 'let h = v(out)/v(in)',
        'print mag(h)[10] ph(h)[10] db(h)[10] real(h)[10] imag(h)[10] cph(h)[14]',
        'let g = group_delay(h)', 'print vm(out)[3] vdb(out)[3] vp(out)[3] vr(out)[3] vi(out)[3]',
        'set units=degrees', 'print ph(h)[10]')),
    'loops': (RC + control(
        'let k = 0', 'let total = 0', 'while k < 5', 'let k = k + 1', 'if k = 2', 'continue', 'end', 'if k > 4', 'break',
        'else', 'let total = total + k', 'end', 'end', 'print k total',
        'let n = 0', 'repeat 4', 'let n = n + 2', 'end', 'print n', 'let m = 0', 'dowhile m < 3', 'let m = m + 1', 'end',
        'print m', 'foreach r 1k 2k 5k', 'alter r1 = $r', 'ac lin 1 500k 500k', 'let a$r = vm(out)[0]',
        'print a$r', 'echo res = $r', 'end')),
    'alter': (RC + 'I2 0 out dc 1m\n.param k=3\nR3 out 0 {k*1k}\n' + control(
        'op', 'let v1 = v(out)[0]', 'print v1', 'alter i2 = 2m', 'op', 'let v2 = v(out)[0]', 'print v2',
        'alter v1 dc = 1', 'op', 'print v(out)', 'alter r1 = 5k', 'op', 'print v(out) @r1[resistance]',
        'alter @r3[resistance] = 7k', 'op', 'print v(out)', 'alter c1 = 1n', 'ac lin 1 100k 100k', 'print vm(out)',
        'alterparam k = 10', 'reset', 'op', 'print v(out)')),
    'alterparam': ('.param rr=2k\nV1 in 0 dc 2 sin(2 1 100k)\nX1 in a sub rv=1k\nX2 in b sub\nRa a 0 1k\nRb b 0 {rr}\n'
                   '.subckt sub p n rv=5k\nX9 p n deep\n.subckt deep p n g=1\nR1 p n {rv*g}\n.ends\n.ends\n' + control(
                       'op', 'print v(a) v(b)', 'alterparam sub rv=7k', 'reset', 'op', 'let a2 = v(a)', 'let b2 = v(b)', 'print a2 b2',
                       'alterparam sub rv=9k', 'reset', 'op', 'let a3 = v(a)', 'let b3 = v(b)', 'print a3 b3',
                       'alterparam rr=4k', 'reset', 'op', 'let b4 = v(b)', 'print b4',
                       'alter @v1[sin] [ 2 3 100k ]', 'tran 20n 10u', 'meas tran top find v(in) at=2.5u')),
    'altermod': (CMOS + control(
        'dc vin 0 3.3 0.05', 'meas dc switch when v(out)=1.65', 'altermod nm vto = 0.5', 'dc vin 0 3.3 0.05',
        'meas dc switch2 when v(out)=1.65', 'altermod @pm[kp] = 80u', 'dc vin 0 3.3 0.05',
        'meas dc switch3 when v(out)=1.65', 'alter @mn[w] = 4u', 'dc vin 0 3.3 0.05', 'meas dc switch4 when v(out)=1.65')),
    'temperature': ('V1 in 0 1\nR1 in out 1k tc1=2m\nD1 out 0 dm\n.model dm d is=1e-14\n' + control(
        'foreach t -40 27 125', 'set temp = $t', 'op', 'let vd = v(out)[0]', 'print vd', 'end',
        'option temp = 60', 'op', 'print v(out)')),
    'fourier': ('V1 in 0 SIN(0.1 1 1MEG)\nR1 in out 1k\nD1 out 0 dm\n.model dm d is=1e-12\n'
                '.options reltol=1e-5\n.tran 2n 5u 0 2n\n' + control(
                    'run', 'fourier 1meg v(out) v(in)', 'let f1 = fourier11[10+1]',
                    'linearize v(out)', 'set specwindow=none', 'spec 0 5meg 0.5meg v(out)',
                    'print mag(v(out))[2] mag(v(out))[4] mag(v(out))[6]')),
    'plots': (RC + TRAN + control(
        'op', 'tran 10n 2u', 'ac dec 1 1k 1meg', 'print op1.v(out) length(tran1.time) > /dev/null', 'setplot op1',
        'print v(out)', 'setplot ac1', 'print mag(v(out))[1] mag(ac1.v(out))[2]', 'let tran1.mine = 5', 'print tran1.mine',
        'destroy ac1', 'setplot op1', 'print v(in)', 'echo plot = 1 $curplot')),
    'variables': (RC + control(
        'set a = 5', 'set b = ( 1 2.5 4 )', 'echo a = $a', 'echo second = $b[2]', 'echo count = $#b', 'echo has = $?a $?zz',
        'let q = 2.5', 'echo q = $&q', 'let z = $a * 3 + $b[3]', 'print z', 'unset a', 'echo has2 = $?a',
        'set c = "12"', 'echo c = {$c}34', 'strcmp r abc abc', 'echo same = $r')),
    'files': (RC + TRAN + control(
        'tran 20n 3u 0 20n', 'linearize v(in) v(out)', 'wrdata data.txt v(out) v(in)', 'write data.raw v(out) v(in)',
        'set filetype=ascii', 'write ascii.raw v(out)', 'set wr_singlescale', 'set wr_vecnames', 'wrdata single.txt v(out) v(in)',
        'ac dec 3 10k 10meg', 'wrdata ac.txt v(out)', 'write ac.raw v(out)', 'echo text > note.txt', 'echo done = 1')),
    'mosfet': (CMOS + '.options reltol=1e-5\n.tran 0.02n 40n 0 0.02n\n.meas tran tphl trig v(in) val=1.65 rise=1 targ v(out) '
               'val=1.65 fall=1\n.meas tran tplh trig v(in) val=1.65 fall=1 targ v(out) val=1.65 rise=1\n'
               '.meas tran delay param=\'(tphl+tplh)/2\'\n.meas tran charge integ i(vdd) from=0 to=20n\n'
               '.meas tran low min v(out) from=5n to=8n\n'),
    'small_signal': ('V1 in 0 dc 1 ac 1\nR1 in out 1k\nC1 out 0 1n\nR2 out 0 10k\n' + control(
        'noise v(out) v1 dec 5 1k 10meg', 'print onoise_total', 'setplot noise1',
        'print onoise_spectrum[3] inoise_spectrum[3]', 'meas noise at find onoise_spectrum at=10k',
        'let density = onoise_spectrum^2', 'meas noise sum integ density', 'tf v(out) v1', 'print transfer_function',
        'pz in 0 out 0 vol pz', 'print pole(1)', 'sens v(out)', 'print r1 r2 v1')),
    'sources': (RC + control(
        'alter @v1[pulse] = [ 0 2 0.5u 0.1u 0.1u 1u 4u ]', 'tran 5n 6u 0 5n', 'meas tran top avg v(in)',
        'meas tran when_up when v(in)=1 rise=2', 'alter v1 acmag = 3', 'ac lin 1 1k 1k', 'print vm(in)',
        'tf v(out) v1', 'print transfer_function')),
}

RC_HALF = 1.1 + 0.3 * math.log(2 * 3 * (1 - math.exp(-1 / 3)))  # us: v(out) of RC is 0.5 after a ramp of 0.1 us


def noise_of(f):
    """Density of 1k and 10k in parallel with 1 nF, its integral from 0, that of its square."""
    r = 1e4 / 11
    f0, white = 1 / (2 * math.pi * r * 1e-9), math.sqrt(4 * 1.38064852e-23 * 300.15 * r)
    return white / math.hypot(1, f / f0), white * f0 * math.asinh(f / f0), white * white * f0 * math.atan(f / f0)


def ladder(f):
    """S11, S21 in 50 ohm of 20 ohm, 20 pF to ground, 100 nH."""
    y, z = 2j * math.pi * f * 20e-12, 2j * math.pi * f * 100e-9
    a, b, c, d = 1 + 20 * y, 20 + (1 + 20 * y) * z, y, 1 + y * z
    n = a + b / 50 + c * 50 + d
    return abs((a + b / 50 - c * 50 - d) / n), abs(2 / n)


def frequency_of(s21):
    lo, hi = 1e8, 1e9
    for _ in range(60):
        lo, hi = ((lo + hi) / 2, hi) if ladder((lo + hi) / 2)[1] > s21 else (lo, (lo + hi) / 2)
    return lo


GRID = [1e6 * 10 ** (k / 20) for k in range(61)]

# what ngspice 39 does not know: name -> (deck, value)
KNOWN = {
    'inverse_hyperbolic': ('V1 a 0 1\nR1 a 0 1\n' + control(
        'op', 'let x = atanh(0.5)', 'let y = asinh(0.5*v(a))', 'let z = acosh(2)', 'let u = re(acosh(0.5))', 'let w = im(acosh(0.5))',
        'print x y z u w'),
        {'x': (math.atanh(0.5), 1e-6), 'y': (math.asinh(0.5), 1e-6), 'z': (math.acosh(2), 1e-6), 'u': (0, 1e-9), 'w': (math.acos(0.5), 1e-6)}),
    'meas_curves': (RC + 'E1 twice 0 out 0 2\n' + TRAN + '.meas tran c1 when v(twice)=v(in) cross=1\n.meas tran c2r when v(twice)=v(in) rise=2\n'
                    '.meas tran c3 when v(twice)=v(in) cross=3\n.meas tran cf find v(out) when v(in)=v(twice) cross=1\n'
                    '.meas tran diff find v(in,out) at=1.3u\n.meas tran least min v(out,in)\n.meas tran least_at min_at v(out,in)\n'
                    '.meas tran targ_at trig v(out) val=0.5 rise=1 targ at=4u\n.meas tran word integral v(in) from=2u to=3u\n',
                    {'c1': (RC_HALF * 1e-6, 1e-5), 'c2r': ((RC_HALF + 5) * 1e-6, 1e-4), 'c3': ((RC_HALF + 5) * 1e-6, 1e-4), 'cf': (0.5, 1e-4),
                     'diff': (3 * (1 - math.exp(-1 / 3)) * math.exp(-0.2 / 0.3), 1e-3), 'least': (-3 * (1 - math.exp(-1 / 3)), 1e-3),
                     'least_at': (1.1e-6, 1e-3), 'targ_at': ((4 - RC_HALF) * 1e-6, 1e-5), 'word': (1e-6, 1e-6)}),
    'meas_noise': ('V1 in 0 dc 1 ac 1\nR1 in out 1k\nC1 out 0 1n\nR2 out 0 10k\n' + control(
        'noise v(out) v1 dec 100 1k 10meg', 'setplot noise1', 'meas noise n_at find onoise_spectrum at=10k',
        'meas noise n_when when onoise_spectrum=2e-9 fall=1', 'meas noise n_max max onoise_spectrum', 'meas noise n_min min onoise_spectrum',
        'meas noise n_avg avg onoise_spectrum from=10k to=1meg', 'meas noise n_integ integ onoise_spectrum', 'meas noise n_rms rms onoise_spectrum',
        'meas noise n_pp pp onoise_spectrum', 'meas noise n_at_min min_at onoise_spectrum'),
        {'n_at': (noise_of(1e4)[0], 1e-4), 'n_when': (math.sqrt((noise_of(0)[0] / 2e-9) ** 2 - 1) / (2 * math.pi * 1e4 / 11 * 1e-9), 1e-3),
         'n_max': (noise_of(1e3)[0], 1e-4), 'n_min': (noise_of(1e7)[0], 1e-4), 'n_at_min': (1e7, 1e-6),
         'n_avg': ((noise_of(1e6)[1] - noise_of(1e4)[1]) / 9.9e5, 1e-3), 'n_integ': (noise_of(1e7)[1] - noise_of(1e3)[1], 1e-3),
         'n_rms': (math.sqrt((noise_of(1e7)[2] - noise_of(1e3)[2]) / (1e7 - 1e3)), 1e-3), 'n_pp': (noise_of(1e3)[0] - noise_of(1e7)[0], 1e-4)}),
    'meas_sp': ('V1 a 0 dc 0 ac 1 portnum 1 z0 50\nV2 b 0 dc 0 ac 1 portnum 2 z0 50\nR1 a m 20\nL1 m b 100n\nC1 m 0 20p\n' + control(
        'sp dec 20 1meg 1g', 'let s21 = mag(S_2_1)', 'let s11 = mag(S_1_1)', 'meas sp q_at find s21 at=100meg', 'meas sp q_when when s21=0.5 fall=1',
        'meas sp q_max max s11', 'meas sp q_min min s21', 'meas sp q_pp pp s21', 'meas sp q_at_max max_at s11'),
        {'q_at': (ladder(1e8)[1], 1e-6), 'q_when': (frequency_of(0.5), 5e-3), 'q_max': (max(ladder(f)[0] for f in GRID), 1e-6), 'q_min': (min(ladder(f)[1] for f in GRID), 1e-6),
         'q_at_max': (max(GRID, key=lambda f: ladder(f)[0]), 1e-6),
         'q_pp': (max(ladder(f)[1] for f in GRID) - min(ladder(f)[1] for f in GRID), 1e-6)}),
    'meas_deriv': (RC + TRAN + '.meas tran slope deriv v(out) at=1.5u\n.meas tran up deriv v(out) when v(out)=0.5 rise=1\n',
                   # the capacitor's current over its capacitance
                   {'slope': (math.exp(-(0.5 - 0.1) / 0.3) * 3 * (1 - math.exp(-1 / 3)) / 0.3e-6, 1e-3)}),
    'fft': ('V1 in 0 SIN(0.1 1 1MEG)\nR1 in 0 1k\n.options reltol=1e-6\n' + control(
        'tran 2n 4u 0 2n', 'linearize v(in)', 'set specwindow=none', 'fft v(in)', 'let f = frequency[4]',
        'print f mag(v(in))[4] mag(v(in))[0]'), {'f': (1e6, 1e-9), 'mag(v(in))[4]': (1, 1e-3), 'mag(v(in))[0]': (0.1, 1e-3)}),
}


def numbers(output):
    """name -> lists of numbers, in the order of the output."""
    found = {}
    for line in output.split('\n'):
        m = LINE.match(line)
        if m:  # what ngspice calls from and to is the first and last point inside, or nothing
            text = re.sub(r'from=.*', '', m.group(2))
            found.setdefault(m.group(1).strip().lower(), []).append([float(x) for x in re.findall(NUMBER, text)])
    for line in output.split('\n'):  # tables of fourier: harmonic, frequency, amplitude, phase
        f = line.split()
        if len(f) == 6 and re.fullmatch(r'\d+', f[0]) and all(re.fullmatch(NUMBER, x) for x in f):
            found.setdefault('harmonic ' + f[0], []).append([float(x) for x in f[1:4]])
    return found


def near(a, b, floor=1e-12):
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) + floor


def compare_numbers(ours, theirs):
    trouble = []
    a, b = numbers(ours), numbers(theirs)
    skip = {'cpu time', 'total analysis time (seconds)', 'stack', 'doing analysis at temp', 'total dram available'}
    names = [n for n in b if n not in skip and not n.startswith(('total', 'dram', 'maximum', 'current ngspice', 'shared', 'text (', 'library'))]
    if not names:
        return ['ngspice printed no numbers:\n' + theirs[-2000:]]
    for n in names:
        if n not in a:
            trouble.append('%s is missing, ngspice has %s' % (n, b[n]))
            continue
        if len(a[n]) != len(b[n]):
            trouble.append('%s comes %d times, with ngspice %d times' % (n, len(a[n]), len(b[n])))
        for x, y in zip(a[n], b[n]):
            if n.startswith('harmonic'):  # amplitudes below 1e-5 V and phases below a millidegree are rounding
                same = near(x[0], y[0]) and near(x[1], y[1], 1e-5) and (y[1] < 1e-5 or near(math.remainder(x[2] - y[2], 360), 0, 1e-2))
            else:
                same = len(x) == len(y) and all(near(p, q) for p, q in zip(x, y))
            if not same:
                trouble.append('%s = %s, ngspice %s' % (n, x, y))
    return trouble


def read_table(path):
    with open(path, 'rb') as f:
        text = f.read()
    if not text.startswith(b'Title:'):
        rows = [line.split() for line in text.decode().split('\n')]
        return [[float(x) for x in r] for r in rows if r and all(re.fullmatch(NUMBER, x) for x in r)]
    head, kind, body = re.split(rb'(Binary:\n|Values:\n)', text, maxsplit=1)
    n_var = int(re.search(rb'No. Variables: *(\d+)', head).group(1))
    n_point = int(re.search(rb'No. Points: *(\d+)', head).group(1))
    width = n_var * (2 if b'Flags: complex' in head else 1)
    if kind.startswith(b'Binary'):
        v = struct.unpack('<%dd' % (n_point * width), body[:8 * n_point * width])
    else:
        flat = [float(x) for x in re.findall(NUMBER, body.decode())]
        v = [x for k in range(n_point) for x in flat[k * (width + 1) + 1:(k + 1) * (width + 1)]]
    return [list(v[k * width:(k + 1) * width]) for k in range(n_point)]


def compare_files(ours, theirs):
    trouble = []
    for name in sorted(os.listdir(theirs)):
        if name == 'deck.sp':
            continue
        if not os.path.exists(os.path.join(ours, name)):
            trouble.append('no file ' + name)
            continue
        if name == 'note.txt':
            continue
        a, b = (read_table(os.path.join(d, name)) for d in (ours, theirs))
        if len(a) != len(b) or not b or len(a[0]) != len(b[0]):
            trouble.append('%s: %d rows, with ngspice %d' % (name, len(a), len(b)))
            continue
        scale = [max(abs(r[k]) for r in b) for k in range(len(b[0]))]
        for r, s in zip(a, b):
            if any(abs(x - y) > TOLERANCE * m + 1e-12 for x, y, m in zip(r, s, scale)):
                trouble.append('%s: %s, ngspice %s' % (name, r, s))
                break
    return trouble


def run(command, folder, deck):
    with open(os.path.join(folder, 'deck.sp'), 'w') as f:
        f.write('a deck\n%s.end\n' % deck.lstrip('\n'))
    done = subprocess.run(command + ['deck.sp'], cwd=folder, timeout=300, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    return done.returncode, done.stdout


def main():
    vsim, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    ngspice = shutil.which('ngspice')
    if not ngspice:
        print('ngspice is not installed')
        return 77
    failed = n = 0
    for name, deck in list(DECKS.items()) + list(KNOWN.items()):
        if chosen and name not in chosen:
            continue
        deck, known = deck if isinstance(deck, tuple) else (deck, None)
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            code, ours = run([vsim, '-q', '--no-output'], a, deck)
            trouble = ['exit code %d\n%s' % (code, ours)] if code else []
            if known is None:
                _, theirs = run([ngspice, '-b'], b, deck)
                trouble += compare_numbers(ours, theirs) + compare_files(a, b)
            else:
                have = numbers(ours)
                for key, (value, tolerance) in known.items():
                    x = have.get(key, [[math.nan]])[0][0]
                    if not abs(x - value) <= tolerance * abs(value):
                        trouble.append('%s = %.9g, exact %.9g' % (key, x, value))
        n += 1
        failed += bool(trouble)
        for line in trouble:
            print('%s: %s' % (name, line))
    print('%d of %d decks agree' % (n - failed, n))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
