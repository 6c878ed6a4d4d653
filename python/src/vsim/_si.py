"""Numbers as people write them."""
from __future__ import annotations

import math

_PREFIX = {-18: 'a', -15: 'f', -12: 'p', -9: 'n', -6: 'µ', -3: 'm', 0: '', 3: 'k', 6: 'M', 9: 'G',
           12: 'T'}


def scalar(x) -> float:
    """Of a number, or of an array of one, which float() of NumPy 2.4 takes no more.

    >>> import numpy
    >>> scalar(2), scalar(numpy.array([3.5]))
    (2.0, 3.5)
    """
    return float(x.item() if hasattr(x, 'item') else x)


def si(x: float, unit: str = '', digits: int = 4) -> str:
    """With the prefix of its magnitude.

    >>> si(0.0025, "V"), si(-1.5e6, "Hz"), si(0), si(7.5, "V")
    ('2.5 mV', '-1.5 MHz', '0', '7.5 V')
    """
    if x == 0 or not math.isfinite(x):
        return ('%g %s' % (x, unit)).rstrip()
    e = min(max(3 * math.floor(math.log10(abs(x) * (1 + 1e-12)) / 3), -18), 12)
    return ('%.*g %s%s' % (digits, x / 10.0**e, _PREFIX[e], unit)).rstrip()
