"""vsim: an analog circuit simulator whose devices are Verilog-A.

    import vsim

    ckt = vsim.Circuit.from_file("amplifier.sp")
    ckt.r1.resistance = 2e3            # ohm; values are in SI units everywhere
    op = ckt.op()
    print(op["v(out)"], ckt.m1.gm)
    tran = ckt.tran(stop=1e-6)
    t, v = tran.time, tran["v(out)"]   # NumPy arrays, not copies

Circuit        a circuit, from text, file or elements; all analyses, sweeps, Monte Carlo
Result         what a run computed
Error          what went wrong, with file, line and caret
pulse, sin, exp, pwl, sffm   waveforms of sources
command, libngspice   paths of the `vsim` program and of a libngspice in this package
"""
from ._circuit import Circuit, Transient
from ._errors import (ConvergenceError, Error, FileError, InputError, Interrupted, Message,
                      OutOfMemory, SingularError, StepError, UnsupportedError, Warning)
from ._netlist import Wave, exp, pulse, pwl, sffm, sin
from ._parts import Device, Model, Parameter
from ._result import Gradient, Plot, Result, Stats
from ._si import si

__all__ = ['Circuit', 'ConvergenceError', 'Device', 'Equations', 'Error', 'FileError',
           'Gradient', 'InputError', 'Interrupted', 'Message', 'Model', 'OutOfMemory', 'Parameter', 'Plot',
           'Result', 'SingularError', 'Stats', 'StepError', 'Sweep', 'Transient',
           'UnsupportedError', 'Warning', 'Wave', 'command', 'exp', 'libngspice', 'pulse', 'pwl',
           'sffm', 'si', 'sin']


def command() -> str:
    """The path of the `vsim` program in this package."""
    from .__main__ import path
    return path()


def libngspice() -> str:
    """The path of a library in this package that has ngspice's interface for programs: for PySpice,
    `NgSpiceShared.LIBRARY_PATH = vsim.libngspice()` (docs/libngspice.md)."""
    import os

    from . import _where
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), _where.NGSPICE)


def __getattr__(name):
    if name == '__version__':
        from . import _lib
        return _lib.text(_lib.load().version())
    if name == 'Sweep':
        from ._sweep import Sweep
        return Sweep
    if name == 'Equations':
        from ._equations import Equations
        return Equations
    raise AttributeError('module vsim has no attribute %r' % name)
