#!/usr/bin/env python3
"""Coefficients of src/jit/jit_math.c, printed as C: interpolation at Chebyshev nodes in 60 digits,
which is within a factor of 2 of the minimax error. Needs mpmath.  docs/math.md says what each is."""
import mpmath as mp

mp.mp.dps = 60


def fit(f, a, b, n):
    xs = [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    m, y = mp.matrix(n, n), mp.matrix(n, 1)
    for i, x in enumerate(xs):
        y[i] = f(x)
        for j in range(n):
            m[i, j] = x**j
    return list(mp.lu_solve(m, y))


def near0(f, c0, c1):
    """f, and its series where f cancels."""
    return lambda z: f(z) if abs(z) > mp.mpf('1e-12') else c0 + c1 * z


def show(name, c):
    text = ', '.join(float(x).hex() for x in c)
    print('static const double %s[%d] = {%s};' % (name, len(c), text))


def split(x, bits):
    """x as a number of so many bits, and the rest."""
    e = mp.floor(mp.log(abs(x), 2)) + 1
    hi = mp.nint(x * mp.mpf(2)**(bits - e)) * mp.mpf(2)**(e - bits)
    return hi, x - hi


one = mp.mpf(1)
half_ln2 = mp.log(2) / 2 * mp.mpf('1.0001')
z_ln = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1))**2 * mp.mpf('1.001')
z_trig = (mp.pi / 4 * mp.mpf('1.0001'))**2
atanh2 = lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z)

show('EXP', fit(near0(lambda r: (mp.exp(r) - 1 - r) / r**2, one / 2, one / 6), -half_ln2, half_ln2, 11))
show('LN', fit(near0(lambda z: (atanh2(z) - 2) / z, 2 * one / 3, 2 * one / 5), 0 * one, z_ln, 7))
show('LN_TAIL', fit(near0(lambda z: (atanh2(z) - 2 - 2 * z / 3) / z**2, 2 * one / 5, 2 * one / 7), 0 * one, z_ln, 8))
show('SINH', fit(near0(lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, one / 6, one / 120), 0 * one, one, 7))
show('ATAN', fit(near0(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -one / 3, one / 5), 0 * one, one / 4, 13))
show('SIN', fit(near0(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -one / 6, one / 120), 0 * one, z_trig, 6))
show('COS', fit(near0(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, one / 24, -one / 720), 0 * one, z_trig, 6))
a, b = split(mp.log(2), 42)
show('LN2', [a, b])
a, b = split(mp.pi / 2, 33)
b, c = split(b, 33)
show('PI_2', [a, b, c])
show('PI_2_DD', [mp.mpf(float(mp.pi / 2)), mp.pi / 2 - mp.mpf(float(mp.pi / 2))])
show('TWO_3', [mp.mpf(float(2 * one / 3)), 2 * one / 3 - mp.mpf(float(2 * one / 3))])
