#!/usr/bin/env python3
"""Operating-point values against differences of the device's own currents, in .dc and, for capacitances, .ac.

    opvar.py VSIM [NAME...]

A device stands between voltage sources of its terminals; its series resistances are 0, so that they are the inner
nodes' voltages. Each case names what a value has to equal: `slope` takes a vector of the sweep ("i(t)": the current into
terminal t), divides its difference over two points around the middle one by that of the voltage; `cap` is the imaginary
part of an admittance over omega. Bounds: second differences of an exponential, (h / vt)^2 / 6 = 3e-5 for h = 0.3 mV at
27 degrees, and the 1e-4 of the difference of currents with 12 digits."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mos_cards  # noqa: E402

STEP, BOUND = 3e-4, 2e-4
VSIM = ''

BJT = {'gm': ('slope', {'@q[ic]': 1}, 'b', {'gmu': 1}), 'go': ('slope', {'@q[ic]': 1}, 'c', {'gmu': -1}),
       'gpi': ('slope', {'@q[ib]': 1}, 'b', {'gmu': -1})}
# VBIC as ngspice: derivatives of the transport current by vbe and vbc, each at constant other
BY_TRANSPORT = dict(BJT, gm=('slope', {'@q[ic]': 1}, 'b', {'gmu': 1, 'go': -1}),
                    go=('slope', {'@q[ic]': -1}, 'c', {'gmu': 1}))
BY_TRANSPORT_BACK = dict(BY_TRANSPORT, gmu=('slope', {'@q[ib]': -1}, 'c', {}))
BJT_BACK = dict(BJT, gmu=('slope', {'@q[ib]': -1}, 'c', {}))
FET = {'gm': ('slope', {'@q[id]': 1}, 'g', {}), 'gds': ('slope', {'@q[id]': 1}, 'd', {})}
GAAS = dict(FET, ggs=('slope', {'@q[igs]': -1}, 's', {}), ggd=('slope', {'@q[igd]': -1}, 'd', {}))
GAAS_P = {k: ('slope', {n: -x for n, x in v[1].items()}, v[2], {}) for k, v in GAAS.items()}
MOS = dict(FET, gmbs=('slope', {'@q[id]': 1}, 'b', {}))
MOS_C = {'capbd': ('cap', 'b', 'd'), 'capbs': ('cap', 'b', 's'), 'cbd': ('cap', 'b', 'd'), 'cbs': ('cap', 'b', 's')}
GUMMEL = ('npn is=0.48f nf=1.008 bf=99.655 vaf=90 ikf=0.19 ise=7.49f ne=1.762 nr=1.01 br=38.4 var=7 ikr=93.2m isc=0.2f '
          'nc=1.042 cje=1.325p cjc=1.05p tf=56.94p tr=1n xtf=68.398 vtf=0.6 itf=0.7')
VBIC = ('npn level=4 is=1e-16 ibei=1e-18 ibci=2e-17 nei=1.02 iben=5e-15 nen=2 ibcn=5e-15 ncn=2 vef=10 ver=5 ikf=5m ikr=1m '
        'rcx=0 rci=0 rbx=0 rbi=0 re=0 rbp=0 rs=0 cje=20f cjc=10f tf=2p tr=0.5n')
HICUM = ('npn level=8 flcomp=2.4 c10=9e-30 qp0=1e-13 ibeis=1e-19 ibcis=1e-20 hjei=2 hjci=0.3 cjei0=1e-22 cjep0=20f vdep=0.9 '
         'zep=0.3 ajep=1.6 cjci0=1e-22 cjcx0=1e-22 tef0=0 fthc=0.7 thcs=5p t0=0.2p rci0=9.5 cbepar=1f')
MEXTRAM = 'npn level=504 re=1m rbc=1m rcc=1m rbv=1m rcv=1m xibi=0.3 deg=0.02 xrec=0.2 exavl=1 exsub=1 mult=1.5 vef=3 mc=0'
EARLY = 'vfb=-0.9 phi=0.75 k1=0.9 k2=0.08 tox=0.025 vdd=5 js=1m cj=1e-4 pb=0.8 mj=0.5 '
# name: line of the device, model card, voltages, what its values equal
CASES = {
    'bjt': ('q c b e m=3', GUMMEL.replace('vtf=0.6', ''), {'c': 2, 'b': 0.75, 'e': 0}, dict(BJT, cpi=('cap', 'b', 'e'))),
    'bjt_depletion': ('q c b e m=3', 'npn is=1e-16 cje=1p cjc=2p', {'c': 2, 'b': 0.2, 'e': 0},
                      {'cpi': ('cap', 'b', 'e'), 'cmu': ('cap', 'b', 'c')}),
    'bjt_outer': ('q c b e m=3', 'npn is=1e-16 cjc=2p xcjc=0', {'c': 2, 'b': 0.2, 'e': 0}, {'cbx': ('cap', 'b', 'c')}),
    'vbic_depletion': ('q c b e', VBIC + ' tf=0 tr=0 is=1e-20', {'c': 1, 'b': 0.2, 'e': 0},
                       {'cbe': ('cap', 'b', 'e'), 'cbc': ('cap', 'b', 'c')}),
    'bjt_phase': ('q c b e', GUMMEL + ' ptf=21', {'c': 2, 'b': 0.75, 'e': 0}, BJT),
    'bjt_phase_saturated': ('q c b e', GUMMEL + ' ptf=21', {'c': 0.1, 'b': 0.75, 'e': 0}, BJT_BACK),
    'pnp_phase': ('q c b e', GUMMEL.replace('npn', 'pnp') + ' ptf=21', {'c': -2, 'b': -0.75, 'e': 0},
                  {k: (a, {n: -x for n, x in b.items()}, c, d) for k, (a, b, c, d) in BJT.items()}),
    'vbic': ('q c b e m=2', VBIC, {'c': 1, 'b': 0.8, 'e': 0}, dict(BY_TRANSPORT, cbe=('cap', 'b', 'e'))),
    'vbic_saturated': ('q c b e', VBIC, {'c': 0.1, 'b': 0.8, 'e': 0}, BY_TRANSPORT_BACK),
    'vbic_phase': ('q c b e', VBIC + ' td=2p', {'c': 1, 'b': 0.8, 'e': 0}, BY_TRANSPORT),
    'hicum2': ('q c b e m=2', HICUM, {'c': 1, 'b': 0.9, 'e': 0},
               {'gmi': ('slope', {'@q[it]': -1}, 'e', {})}),
    'hicum2_depletion': ('q c b e m=2', HICUM + ' t0=0 thcs=0', {'c': 1, 'b': 0.7, 'e': 0}, {'cpix': ('cap', 'b', 'e')}),
    # of nodes between resistances of 1 mohm
    'mextram': ('q c b e s m=2', MEXTRAM, {'c': 1, 'b': 0.7, 'e': 0, 's': 0},
                {'op_gx': ('slope', {'@q[op_in]': -1}, 'e', {}), 'op_sgpi': ('slope', {'@q[op_sib1]': 1}, 'b', {}),
                 'op_gm': ('slope', {'@q[ic]': 1}, 'b', {}), 'op_gout': ('slope', {'@q[ic]': 1}, 'c', {}),
                 'op_gpix': ('slope', {'@q[op_ib1]': -1, '@q[op_ib2]': -1}, 'e', {}),
                 'op_gy': ('slope', {'@q[op_in]': -1}, 'c', {'op_gz': -1}), 'op_gpiy': ('slope', {'@q[op_ib1]': -1}, 'c', {'op_gpiz': -1}),
                 'op_scbe': ('slope', {'@q[op_sqte]': 1}, 'b', {}), 'op_cbey': ('slope', {'@q[op_qbe]': -1}, 'c', {'op_cbez': -1}),
                 'op_cbex': ('slope', {'@q[op_qte]': -1, '@q[op_qbe]': -1, '@q[op_qe]': -1}, 'e', {}),
                 'op_cbcx': ('slope', {'@q[op_qbc]': -1}, 'e', {}),
                 'op_cbcy': ('slope', {'@q[op_qtc]': -1, '@q[op_qbc]': -1, '@q[op_qepi]': -1}, 'c', {'op_cbcz': -1})}),
    'mextram_avalanche': ('q c b e s', MEXTRAM.replace('vef=3', 'vef=20'), {'c': 12, 'b': 0.7, 'e': 0, 's': 0},
                          {'op_gmuy': ('slope', {'@q[op_iavl]': 1}, 'c', {'op_gmuz': -1}),
                           'op_gm': ('slope', {'@q[ic]': 1}, 'b', {}), 'op_gout': ('slope', {'@q[ic]': 1}, 'c', {})}),
    'mextram_reverse': ('q c b e s m=2', MEXTRAM, {'c': 0, 'b': 0.6, 'e': 1, 's': 0.4},
                        {'op_gmuex': ('slope', {'@q[op_iex]': 1, '@q[op_ib3]': 1}, 'b', {}), 'op_xgmuex': ('slope', {'@q[op_xiex]': 1}, 'b', {}),
                         'op_gs': ('slope', {'@q[op_isub]': 1}, 'b', {}), 'op_xgs': ('slope', {'@q[op_xisub]': 1}, 'b', {}),
                         'op_gsf': ('slope', {'@q[op_isf]': 1}, 's', {}), 'op_cts': ('cap', 's', 's'),
                         'op_cbcex': ('slope', {'@q[op_qtex]': 1, '@q[op_qex]': 1}, 'b', {}),
                         'op_xcbcex': ('slope', {'@q[op_xqtex]': 1, '@q[op_xqex]': 1}, 'b', {})}),
    'mextram_pnp': ('q c b e s', MEXTRAM.replace('npn', 'pnp'), {'c': -1, 'b': -0.7, 'e': 0, 's': 0},
                    {'op_gx': ('slope', {'@q[op_in]': 1}, 'e', {}), 'op_gm': ('slope', {'@q[ic]': 1}, 'b', {}),
                     'op_gout': ('slope', {'@q[ic]': 1}, 'c', {}), 'op_scbe': ('slope', {'@q[op_sqte]': -1}, 'b', {}),
                     'op_cbcx': ('slope', {'@q[op_qbc]': 1}, 'e', {})}),
    'diode': ('q a k m=2', 'd is=1e-14 n=1.1 cjo=2p tt=1n ikf=10m isr=1e-12', {'a': 0.6, 'k': 0},
              {'gd': ('slope', {'i(a)': 1}, 'a', {}), 'cd': ('cap', 'a', 'a')}),
    'diode_reverse': ('q a k', 'd is=1e-14 cjo=2p bv=5', {'a': -5.2, 'k': 0},
                      {'gd': ('slope', {'i(a)': 1}, 'a', {}), 'cd': ('cap', 'a', 'a')}),
    'jfet': ('q d g s m=2', 'njf vto=-2 beta=1m lambda=0.02 b=0.3', {'d': 3, 'g': -0.5, 's': 0}, FET),
    'jfet_exchanged': ('q d g s', 'njf vto=-2 beta=1m lambda=0.02', {'d': -1, 'g': -0.5, 's': 0},
                       {'gm': ('slope', {'@q[id]': -1}, 'g', {}), 'gds': ('slope', {'@q[id]': -1}, 's', {})}),
    'jfet2': ('q d g s', 'njf level=2 vto=-2 beta=1m lfgam=0.05 taug=1u delta=0.02 taud=1u', {'d': 3, 'g': -0.5, 's': 0}, FET),
    'mesfet': ('q d g s m=2', 'nmf vto=-1.3 beta=2m b=0.2 alpha=2 lambda=0.05', {'d': 2, 'g': -0.4, 's': 0}, FET),
    'mesa': ('q d g s m=2', 'nmf level=2', {'d': 2, 'g': -0.4, 's': 0}, GAAS),
    'mesa_delta': ('q d g s', 'nmf level=3', {'d': 1, 'g': -0.6, 's': 0}, GAAS),
    'mesa_limited': ('q d g s', 'nmf level=4', {'d': 0.5, 'g': -0.2, 's': 0}, GAAS),
    'mesa_p': ('q d g s', 'pmf level=2 vto=1.26', {'d': -2, 'g': 0.4, 's': 0}, GAAS_P),
    'hfet1': ('q d g s m=2', 'nmf level=5', {'d': 0.5, 'g': 0.4, 's': 0}, GAAS),
    'hfet1_hot': ('q d g s', 'nmf level=5 gatemod=1 a1=0.2 a2=0.1', {'d': 1, 'g': 0.5, 's': 0}, FET),
    'hfet2': ('q d g s m=2', 'nmf level=6 js=1e-3', {'d': 0.5, 'g': 0.4, 's': 0}, GAAS),
    'vdmos': ('q d g s m=2', 'vdmos nchan vto=3 kp=5 lambda=5m ksubthres=0.1', {'d': 10, 'g': 4, 's': 0}, FET),
    'vdmos_depletion': ('q d g s m=2', 'vdmos nchan vto=3 kp=5 cgdmax=2n cgdmin=0.1n cgs=1n cjo=1n', {'d': 0.4, 'g': 1, 's': 0},
                        {'cgd': ('cap', 'g', 'd'), 'cds': ('cap', 's', 'd')}),
    'mos1': ('q d g s b w=10u l=2u m=3', 'nmos kp=50u vto=0.7 gamma=0.5 lambda=0.02 cbd=10f cbs=20f',
             {'d': 2, 'g': 1.5, 's': 0, 'b': -0.5}, dict(MOS, **MOS_C)),
    'mos2': ('q d g s b w=10u l=2u', 'nmos level=2 tox=40n nsub=1e16 vto=0.7 ucrit=1e5 uexp=0.1 vmax=1e5 nfs=1e10',
             {'d': 2, 'g': 1.5, 's': 0, 'b': -0.5}, MOS),
    'mos3': ('q d g s b w=10u l=2u', 'nmos level=3 tox=40n nsub=1e16 vto=0.7 theta=0.05 vmax=1e5 eta=0.5 kappa=0.3 xj=0.2u',
             {'d': 2, 'g': 1.5, 's': 0, 'b': -0.5}, MOS),
    'mos6': ('q d g s b w=10u l=2u', 'nmos level=6 vto=0.7 gamma=0.4 lambda0=0.02', {'d': 2, 'g': 1.5, 's': 0, 'b': -0.5}, MOS),
    'mos18': ('q d g s b w=10m l=2u m=3', 'nmos level=18 vto=1 theta=2n gammal0=0.05 cbd=10p cbs=20p driftparama=1u driftparamb=0',
              {'d': 2, 'g': 2.5, 's': 0, 'b': -0.5}, dict(MOS, capbd=('cap', 'b', 'd'), capbs=('cap', 'b', 's'))),
    'mos18_weak': ('q d g s b w=10m l=2u', 'nmos level=18 vto=1 driftparama=1u driftparamb=0', {'d': 2, 'g': 0.9, 's': 0, 'b': -0.5}, MOS),
    'mos18_isub': ('q d g s b w=10m l=2u', 'nmos level=18 vto=1 isubmod=1 rsub=50 driftparama=1u driftparamb=0',
                   {'d': 8, 'g': 4, 's': 0, 'b': -0.5}, MOS),
    'mos18_p': ('q d g s b w=10m l=2u', 'pmos level=18 vto=-1 isubmod=1 rsub=50 driftparama=1u driftparamb=0',
                {'d': -8, 'g': -4, 's': 0, 'b': 0.5}, {k: (a, {n: -x for n, x in b.items()}, c, d) for k, (a, b, c, d) in MOS.items()}),
    'mos18_charge': ('q d g s b w=10m l=2u m=2', 'nmos level=18 vto=1 cve=2 cgso=0.1n driftparama=1u driftparamb=0',
                     {'d': 0.3, 'g': 2, 's': 0, 'b': -0.5}, {'cgs': ('cap', 'g', 's'), 'cgd': ('cap', 'g', 'd'), 'cgb': ('cap', 'g', 'b')}),
    'mos18_depletion': ('q d g s b w=10m l=2u m=2', 'nmos level=18 vto=1 d1cjo=1n driftparama=1u driftparamb=0',
                        {'d': 0.4, 'g': 0, 's': 0, 'b': 0}, {'cds': ('cap', 's', 'd')}),
    'bsim1': ('q d g s b w=10u l=2u ad=8p as=8p m=3', 'nmos level=4 ' + EARLY + 'muz=550 mus=620 u0=0.08 u1=0.1 n0=1.3 eta=0.02',
              {'d': 1.5, 'g': 1.2, 's': 0, 'b': -0.5}, dict(MOS, gbd=('slope', {'@q[ibd]': 1}, 'b', {}))),
    'bsim1_charge': ('q d g s b w=10u l=2u', 'nmos level=4 vfb=-0.9 phi=0.75 k1=0.9 tox=0.025 muz=550 mus=620 vdd=5',
                     {'d': 0.4, 'g': 1.8, 's': 0, 'b': -0.5},
                     {'c' + x + y: ('slope', {'@q[q%s]' % x: 1}, y, {}) for x in 'gdb' for y in 'gds'}),
    'bsim2': ('q d g s b w=10u l=2u ad=8p as=8p m=3', 'nmos level=5 ' + EARLY + 'ai0=0.5 bi0=10 u1d=0.3 eta0=0.02',
              {'d': 1.5, 'g': 1.2, 's': 0, 'b': -0.5}, dict(MOS, gbd=('slope', {'@q[ibd]': 1}, 'b', {}))),
    'bsim2_charge': ('q d g s b w=10u l=2u', 'nmos level=5 vfb=-0.9 k1=0.9 tox=0.025 u10=0.1 eta0=0.02',
                     {'d': 0.4, 'g': 1.8, 's': 0, 'b': -0.5},
                     {'c' + x + y: ('slope', {'@q[q%s]' % x: 1}, y, {}) for x in 'gdb' for y in 'gds' if x + y != 'bg'}),  # none
    'bsim3': ('q d g s b w=10u l=0.5u ad=8p as=8p pd=20u ps=20u m=3', 'bsim3 rdsw=300 alpha0=1e-7 ngate=5e19',
              {'d': 1.5, 'g': 1.2, 's': 0, 'b': -0.5},
              dict(MOS, gbd=('slope', {'@q[ibd]': 1}, 'b', {}), gbs=('slope', {'@q[ibs]': 1}, 'b', {}))),
    'bsim3_charge': ('q d g s b w=10u l=0.5u m=3', 'bsim3 cj=0 cjsw=0 cgso=0 cgdo=0 cgbo=0 cf=0 ngate=5e19',
                     {'d': 0.4, 'g': 2.2, 's': 0, 'b': -0.5},
                     {'c' + x + y: ('slope', {'@q[q%s]' % x: 1}, y, {}) for x in 'gdb' for y in 'gds'}),
    'bsim3soipd': ('q d g s e p w=10u l=0.3u m=3', 'nmos level=57 rdsw=300 rbody=50 isrec=1e-3 tbox=8e-8',
                   {'d': 1.2, 'g': 1, 's': 0, 'e': -0.5, 'p': -0.2}, {'gm': ('slope', {'@q[ids]': 1}, 'g', {})}),
    'bsim3soidd': ('q d g s e p w=10u l=0.3u m=3', 'nmos level=56 tsi=5e-8 tbox=8e-8 nsub=1e15 alpha1=0',
                   {'d': 0.8, 'g': 0.9, 's': 0, 'e': 0, 'p': 0.1}, {'gm': ('slope', {'@q[ids]': 1}, 'g', {})}),
    'bsim3soifd': ('q d g s e w=10u l=0.3u m=3', 'pmos level=55 tsi=5e-8 tbox=8e-8 nsub=1e15',
                   {'d': -0.8, 'g': -0.9, 's': 0, 'e': 0},
                   {'gm': ('slope', {'@q[ids]': -1}, 'g', {}), 'gds': ('slope', {'@q[ids]': -1}, 'd', {})}),
    'bsim4soi': ('q d g s e p w=10u l=0.3u m=3 nf=2', 'nmos level=58 rdsw=300 rbody=50 isrec=1e-3 tbox=8e-8 igbmod=1 igcmod=1',
                 {'d': 1.2, 'g': 1, 's': 0, 'e': -0.5, 'p': -0.2}, {'gm': ('slope', {'@q[ids]': 1}, 'g', {})}),
    'bsim4soi_fd': ('q d g s e w=10u l=0.3u m=3', 'pmos level=58 soimod=2 tsi=3e-8 tbox=8e-8 nch=1e17',
                    {'d': -0.8, 'g': -0.9, 's': 0, 'e': 0},
                    {'gm': ('slope', {'@q[ids]': -1}, 'g', {}), 'gds': ('slope', {'@q[ids]': -1}, 'd', {})}),
    'bsim3_triode': ('q d g s b w=10u l=0.5u', 'bsim3 rdsw=300', {'d': 0.1, 'g': 2.2, 's': 0, 'b': 0}, MOS),
    'bsim4': ('q d g s b w=10u l=0.2u nf=2 ad=8p as=8p pd=20u ps=20u m=3', 'bsim4 rdsmod=0 rdsw=150 bvs=1.5 xjbvs=1 diomod=2 alpha0=1e-7 beta0=12 ngate=1e20 igcmod=1 igbmod=1',
              {'d': 1.2, 'g': 0.9, 's': 0, 'b': -0.5},
              dict(MOS, gbd=('slope', {'@q[ibd]': 1}, 'b', {}), gbs=('slope', {'@q[ibs]': 1}, 'b', {}))),
    'bsim4_old': ('q d g s b w=10u l=0.2u m=3', 'bsim4 version=4.5 rdsmod=0 vtl=2e5 mobmod=1 ud=2e15 vsat=9e4',
                  {'d': 0.8, 'g': 0.9, 's': 0, 'b': 0.3}, MOS),
    'bsim4_charge': ('q d g s b w=10u l=0.5u m=3', 'bsim4 cjs=0 cjsws=0 cgso=0 cgdo=0 cgbo=0 cf=0 ngate=1e20',
                     {'d': 0.4, 'g': 1.2, 's': 0, 'b': -0.5},
                     {'c' + x + y: ('slope', {'@q[q%s]' % x: 1}, y, {}) for x in 'gdbs' for y in 'gdsb'}),
    'bsim4_charge_old': ('q d g s b w=10u l=0.5u', 'bsim4 version=4.5 capmod=0 cjs=0 cjsws=0 cgso=0 cgdo=0 cgbo=0 cf=0 ngate=1e20',
                         {'d': 0.3, 'g': 1.2, 's': 0, 'b': -0.5},
                         {'c' + x + y: ('slope', {'@q[q%s]' % x: 1}, y, {}) for x in 'gdb' for y in 'gds'}),
    'psp103': ('q d g s b w=10u l=1u', 'psp103va swigate=1', {'d': 1, 'g': 0.8, 's': 0, 'b': -0.5},
               {'gm': ('slope', {'@q[ids]': 1}, 'g', {}), 'gds': ('slope', {'@q[ids]': 1}, 'd', {}),
                'gmb': ('slope', {'@q[ids]': 1}, 'b', {})}),
}


def deck(case, swept=None, excited=None):
    device, model, at, values = case
    name, *rest = device.split()
    letter = {'npn': 'q', 'pnp': 'q', 'd': 'd', 'njf': 'j', 'nmf': 'z', 'nmos': 'm', 'pmos': 'm', 'vdmos': 'm'}.get(model.split()[0], 'n')
    nodes = [w for w in rest if '=' not in w]
    lines = ['* values of the operating point', '.options reltol=1e-9 abstol=1e-18 vntol=1e-12 gmin=1e-15']
    lines += ['V%s %s 0 %.12g%s' % (t.upper(), t, v, ' ac 1' if t == excited else '') for t, v in at.items()]
    lines += ['%s%s %s mod %s' % (letter, name, ' '.join(nodes), ' '.join(w for w in rest if '=' in w)), '.model mod ' + model]
    slopes = [v for v in values.values() if v[0] == 'slope']
    own = sorted({n for v in slopes for n in v[1] if n[0] == '@'} | {'@q[%s]' % n for v in slopes for n in v[3]}
                 | {'@q[%s]' % n for n in values})
    save = ['i(v%s)' % t for t in at] + ['@%s%s' % (letter + name, n[2:]) for n in own]
    lines.append('.save ' + ' '.join(save))
    if swept:
        lines.append('.dc V%s %.12g %.12g %g' % (swept.upper(), at[swept] - STEP, at[swept] + 1.5 * STEP, STEP))
    else:
        lines.append('.ac lin 1 1k 1k')
    return '\n'.join(lines + ['.end', '']), letter + name


def vector(plot, name, device):
    if name.startswith('i('):
        return [-x for x in mos_cards.column(plot, 'i(v%s)' % name[2])]
    return plot['@' + device + name[2:]]


class Values(unittest.TestCase):
    def check(self, name):
        case = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            for value, rule in case[3].items():
                with self.subTest(value=value):
                    if rule[0] == 'slope':
                        text, device = deck(case, swept=rule[2])
                        plot = mos_cards.solve(VSIM, folder, text, True)[0]
                        got = vector(plot, '@q[%s]' % value, device)[1]
                        parts = {n: f * (vector(plot, n, device)[2] - vector(plot, n, device)[0]) / (2 * STEP)
                                 for n, f in rule[1].items()}
                        parts.update({n: f * vector(plot, '@q[%s]' % n, device)[1] for n, f in rule[3].items()})
                        size = max(abs(x) for x in parts.values())
                    else:
                        text, device = deck(case, swept=rule[2])
                        got = vector(mos_cards.solve(VSIM, folder, text, True)[0], '@q[%s]' % value, device)[1]
                        text, device = deck(case, excited=rule[2])
                        plot = mos_cards.solve(VSIM, folder, text, True)[0]
                        y = vector(plot, 'i(%s)' % rule[1], device)[0].imag / (2 * 3.141592653589793 * 1e3)
                        parts = {'': y if rule[1] == rule[2] else -y}
                        size = abs(y)
                    self.assertGreater(size, 0)
                    self.assertLess(abs(got - sum(parts.values())), BOUND * size,
                                    '%s of %s is %r, but %r' % (value, name, got, parts))


for _name in CASES:
    setattr(Values, 'test_' + _name, lambda self, n=_name: self.check(n))

if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    sys.argv[1:] = ['Values.test_' + n for n in sys.argv[1:]]
    unittest.main()
