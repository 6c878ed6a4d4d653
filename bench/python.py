#!/usr/bin/env python3
"""What Python's package adds: run it in an environment with the wheel.   python bench/python.py

Import, an operating point of RC (nothing changed; a resistor changed) beside the library's own part
of it, reading arrays, a sweep by one and two threads. Least of several blocks of calls: what others
did on the machine in the meantime is not in it."""
import ctypes
import os
import subprocess
import sys
import time

import vsim


def least(f, calls=20, blocks=600):
    """Microseconds a call."""
    best = float('inf')
    for _ in range(blocks):
        t0 = time.perf_counter()
        for _ in range(calls):
            f()
        best = min(best, time.perf_counter() - t0)
    return best / calls * 1e6


def import_time():
    code = ('import time; t = time.perf_counter(), time.process_time(); import vsim; '
            'print(time.perf_counter() - t[0], time.process_time() - t[1])')
    runs = [tuple(map(float, subprocess.run([sys.executable, '-c', code], check=True, text=True,
                                            capture_output=True).stdout.split()))
            for _ in range(15)]
    return tuple(min(r[k] for r in runs) * 1e3 for k in (0, 1))


def main():
    print('import vsim: %.1f ms of the clock, %.1f ms of the processor' % import_time())
    rc = vsim.Circuit('rc\nv1 in 0 1\nr1 in out 1k\nc1 out 0 1n')
    rc.op()
    lib, deck, ptr = rc._sim.lib, rc._ready().ptr, ctypes.c_void_p()
    step = [0]

    def library_op():
        lib.run_card(deck, b'op', None, ctypes.byref(ptr))
        lib.run_go(ptr)
        lib.run_free(ctypes.byref(ptr))

    def library_changed():
        step[0] += 1
        lib.set_device(deck, b'r1', b'', 1e3 + step[0])
        library_op()

    def changed():
        step[0] += 1
        rc.r1.resistance = 1e3 + step[0]
        return rc.op()['v(out)']
    for what, ours, theirs in (('op', lambda: rc.op()['v(out)'], library_op),
                               ('a change and op', changed, library_changed)):
        a, b = least(ours), least(theirs)
        print('%s: %.1f us, of which the library %.1f us' % (what, a, b))
    run = rc.tran(1e-3, 1e-8)
    print('an array of %d values: %.1f us' % (len(run['out']), least(lambda: run['out'])))
    values = {'r1.resistance': [1e3 + k for k in range(40)]}
    for jobs in (1, 2):
        t0 = time.perf_counter()
        rc.sweep(values, lambda c: c.tran(1e-3, 1e-8)['out'][-1], jobs=jobs)
        print('40 transients by %d thread%s: %.2f s' % (jobs, 's'[:jobs - 1],
                                                       time.perf_counter() - t0))
    package = os.path.dirname(vsim.__file__)
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(package)
               for f in names if '__pycache__' not in d)
    print('installed: %.1f MB' % (size / 1e6))


if __name__ == '__main__':
    main()
