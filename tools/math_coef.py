#!/usr/bin/env python3
"""Coefficients of src/jit/jit_math.c, printed as C: interpolation at Chebyshev nodes in 60 digits,
which is within a factor of 2 of the minimax error; with `table`, src/jit/jit_ln_table.h.
Needs mpmath.  docs/math.md says what each is."""
import struct
import sys

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


def bits_of(x):
    return struct.unpack('<Q', struct.pack('<d', x))[0]


def of_bits(w):
    return struct.unpack('<d', struct.pack('<Q', w))[0]


def ln_table():
    """128 intervals of the mantissa, 1 within one of them. f near 1/z with so few bits that z f - 1 is a double, not above
    2^-7; -ln f in two parts, the first a multiple of 2^-42, so that k LN2[0] can be added to it exactly."""
    first = bits_of(1.0) - 74 * 2**45 - 2**44
    print('/* jit_ln_table.h - ln of 128 parts of a mantissa, for pow: made by tools/math_coef.py table. docs/math.md. */')
    print('#ifndef JIT_LN_TABLE_H\n#define JIT_LN_TABLE_H\n')
    print('static const uint64_t LN_FROM = 0x%xu; /* the bits of the first of them */' % first)
    print('static const double LN_TABLE[128][4] = { /* f near 1/z; -ln f in two parts; 0 */')
    for i in range(128):
        a, b = of_bits(first + (i << 45)), of_bits(first + ((i + 1) << 45) - 1)
        unit = 128 if b < 1 else 256
        f = mp.nint(unit * 2 / (mp.mpf(a) + mp.mpf(b))) / unit
        if a <= 1 <= b:
            f = mp.mpf(1)
        assert max(abs(a * f - 1), abs(b * f - 1)) <= mp.mpf(2)**-7
        hi = mp.nint(-mp.log(f) * 2**42) / 2**42
        print('    {%s, %s, %s, 0},' % (float(f).hex(), float(hi).hex(), float(-mp.log(f) - hi).hex()))
    print('};\n\n#endif')


if sys.argv[1:] == ['table']:
    ln_table()
    sys.exit()

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
