"""Cards of a netlist from Python's values."""
from __future__ import annotations

import math
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Optional, Sequence, Union
    Value = Union[int, float, str]


class Wave(namedtuple('Wave', 'kind arguments')):
    """A waveform of a source: its word, `kind`, and its `arguments` as a card has them."""
    __slots__ = ()

    def card(self) -> str:
        """As a card has it: "pulse(0 1 0 1e-09 1e-09)"."""
        return '%s(%s)' % (self.kind, ' '.join(map(number, self.arguments)))


def _wave(kind, *arguments):
    """What is not given is left out from the end on."""
    given = list(arguments)
    while given and given[-1] is None:
        given.pop()
    if any(a is None for a in given):
        raise ValueError('%s: an argument is missing before one that is given' % kind)
    return Wave(kind, tuple(float(a) for a in given))


def pulse(low: float, high: float, delay: float = 0.0, rise: float = 0.0, fall: float = 0.0,
          width: Optional[float] = None, period: Optional[float] = None) -> Wave:
    """A pulse between two levels (V or A); times in s. Without a width it stays high.

    >>> pulse(0, 1, rise=1e-9).card()
    'pulse(0 1 0 1e-09 0)'
    """
    return _wave('pulse', low, high, delay, rise, fall, width, period)


def sin(offset: float, amplitude: float, frequency: float, delay: float = 0.0,
        damping: float = 0.0, phase: float = 0.0) -> Wave:
    """A sine: V or A, Hz, s, 1/s, degrees."""
    return _wave('sin', offset, amplitude, frequency, delay, damping, phase)


def exp(low: float, high: float, rise_delay: float = 0.0, rise_time: Optional[float] = None,
        fall_delay: Optional[float] = None, fall_time: Optional[float] = None) -> Wave:
    """Exponential edges; times in s."""
    return _wave('exp', low, high, rise_delay, rise_time, fall_delay, fall_time)


def pwl(times: Sequence[float], values: Sequence[float]) -> Wave:
    """Straight lines between points.

    >>> pwl([0, 1e-3], [0, 5]).card()
    'pwl(0 0 0.001 5)'
    """
    if len(times) != len(values) or not len(times):
        raise ValueError('pwl needs as many values as times, and at least one')
    return Wave('pwl', tuple(float(a) for pair in zip(times, values) for a in pair))


def sffm(offset: float, amplitude: float, carrier: float, index: float, signal: float) -> Wave:
    """Frequency modulation: carrier and signal in Hz."""
    return _wave('sffm', offset, amplitude, carrier, index, signal)


def number(x: Value) -> str:
    """A number so that it is read back to the last bit; texts ("1k", "{r}") stay as they are.

    >>> number(1000), number(0.1), number("4.7k"), number("{r}")
    ('1000', '0.1', '4.7k', '{r}')
    """
    if isinstance(x, str):
        return word(x, 'a value')
    x = float(x)
    if not math.isfinite(x):
        raise ValueError('%r is no value for an element' % x)
    return '%d' % x if x == int(x) and abs(x) < 1e15 else repr(x)


def word(text: str, what: str) -> str:
    """A text that is one word of a card, or an expression in braces or quotes."""
    text = str(text).strip()
    inside = text[:1] in '{\'"'
    if not text or '\n' in text or '\r' in text or (not inside and any(c in text for c in ' \t;')):
        raise ValueError('%r is no text for %s of a card' % (text, what))
    return text


def node(name) -> str:
    text = str(name)
    if not text or any(c in text for c in ' \t\r\n=(),{}\'";'):
        raise ValueError('%r is no name of a node' % (name,))
    return text


def element(letter: str, name: str, words, params: Dict[str, Value]) -> str:
    """A card; the name must begin with the letter of its kind."""
    if str(name)[:1].lower() != letter:
        raise ValueError('the name %r must begin with %r: the first letter says what an element is'
                         % (name, letter))
    return ' '.join([word(name, 'the name'), *words, *pairs(params)])


def pairs(params: Dict[str, Value]):
    return ['%s=%s' % (word(k, 'a parameter'), number(v)) for k, v in params.items()]


def source_words(dc, ac, phase, wave) -> list:
    words = []
    if dc is not None:
        words += ['dc', number(dc)]
    if ac is not None:
        words += ['ac', number(ac)] + ([number(phase)] if phase else [])
    if wave is not None:
        words.append(wave.card() if isinstance(wave, Wave) else str(wave))
    return words
