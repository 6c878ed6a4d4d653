"""Devices, models, parameters and options of a circuit, with their values as attributes."""
from __future__ import annotations

import ctypes
from collections import namedtuple
from collections.abc import MutableMapping

from . import _lib
from ._guard import HostSource
from ._netlist import Wave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Iterable, Iterator, Tuple, Union

    from ._circuit import Circuit

_byref = ctypes.byref

# The main value of an element, and what sources have, by names that say what they are.
_ALIAS = {'r': {'resistance': ''}, 'c': {'capacitance': ''}, 'l': {'inductance': ''},
          'v': {'voltage': 'dc', 'ac': 'acmag', 'phase': 'acphase'},
          'i': {'current': 'dc', 'ac': 'acmag', 'phase': 'acphase'}}


def alias(device: str, name: str) -> str:
    """The library's name of a device's parameter."""
    if name == 'value':
        return ''
    return _ALIAS.get(device.rpartition('.')[2][:1], {}).get(name, name)


class Parameter(namedtuple('Parameter', 'name unit description computed')):
    """A parameter of a device or model.

    name, unit, description   texts: "w", "m", ...; "" if none is declared
    computed                  a value at the operating point: can be read, not set"""
    __slots__ = ()


class _Values:
    """What devices and models have in common: values by attribute and by index."""
    _fixed: Tuple[str, ...] = ()
    _circuit: Circuit
    name: str  #: with its path, in lower case

    def __init__(self, circuit: Circuit, name: str):
        object.__setattr__(self, '_circuit', circuit)
        object.__setattr__(self, 'name', name)

    def __getattr__(self, name: str) -> float:
        if name.startswith('_'):
            raise AttributeError(name)
        return self._get(name, AttributeError)

    def __getitem__(self, name: str) -> float:
        return self._get(name, KeyError)

    def __setattr__(self, name: str, value: float) -> None:
        if name in self._fixed:
            object.__setattr__(self, name, value)
        elif hasattr(type(self), name) or name == 'name':
            raise AttributeError('%s of %s cannot be set' % (name, self.name))
        else:
            self[name] = value

    def set(self, **values: float) -> None:
        """Several values at once: set(w=1e-6, l=0.13e-6)"""
        for name, value in values.items():
            self[name] = value

    def _get(self, name: str, kind) -> float:
        raise NotImplementedError

    def __setitem__(self, name: str, value: float) -> None:
        raise NotImplementedError

    @property
    def parameters(self) -> Tuple[Parameter, ...]:
        raise NotImplementedError

    def __dir__(self):
        return [*super().__dir__(), *(p.name for p in self.parameters if p.name.isidentifier())]

    def _ipython_key_completions_(self):
        return [p.name for p in self.parameters]

    def _list(self, count, at) -> Tuple[Parameter, ...]:
        deck, key = self._circuit._ready(), _lib.raw(self.name)
        n, p, out = ctypes.c_size_t(), _lib.Parameter(), []
        with deck.sim as lib:
            deck.sim.check(getattr(lib, count)(deck.ptr, key, _byref(n)))
            for i in range(n.value):
                deck.sim.check(getattr(lib, at)(deck.ptr, key, i, _byref(p)))
                out.append(Parameter(_lib.text(p.name), _lib.text(p.unit),
                                     _lib.text(p.description), p.computed))
        return tuple(out)

    def _value(self, function, name, kind):
        from ._errors import InputError
        deck, value = self._circuit._ready(), ctypes.c_double()
        try:
            with deck.sim as lib:
                deck.sim.check(getattr(lib, function)(deck.ptr, _lib.raw(self.name),
                                                      _lib.raw(name), _byref(value)))
        except InputError as e:
            raise kind(str(e)) from e
        return value.value


class Device(_Values):
    """A device of a circuit, by its path: ckt.r1, ckt["x1.m2"].

    Parameters and values at the operating point (after a run) are attributes, in the units that
    `parameters` tells:

    >>> import vsim
    >>> ckt = vsim.Circuit("divider\\nv1 in 0 10\\nr1 in out 1k\\nr2 out 0 3k")
    >>> ckt.r1.resistance
    1000.0
    >>> ckt.r1.resistance = 9e3
    >>> ckt.op()["v(out)"], ckt.r1.i
    (2.5, 0.0008333333333333334)

    Elements have their main value as `resistance` (ohm), `capacitance` (farad), `inductance`
    (henry), sources as `voltage` or `current`, with `ac` and `phase` (degrees); `value` is the main
    value of any."""
    _fixed = ('wave', 'function')

    def _get(self, name, kind):
        return self._value('get_device', alias(self.name, name), kind)

    def __setitem__(self, name: str, value: float) -> None:
        self._circuit._change(('set_device', _lib.raw(self.name),
                               _lib.raw(alias(self.name, name))), float(value))

    @property
    def parameters(self) -> Tuple[Parameter, ...]:
        """All parameters and computed values, with units and descriptions."""
        return self._list('device_parameter_count', 'device_parameter_at')

    @property
    def type(self) -> str:
        """The Verilog-A module: "resistor", "psp103va"; of sources and lines their letter."""
        return self._circuit._device_table()[self.name][0]

    @property
    def model(self) -> str:
        """The name of its .model card, "" without one."""
        return self._circuit._device_table()[self.name][1]

    @property
    def nodes(self) -> Tuple[str, ...]:
        """In the order of its card."""
        return self._circuit._device_table()[self.name][2]

    @property
    def wave(self):
        """Set a source's waveform: ckt.v1.wave = vsim.pulse(0, 1, rise=1e-9)."""
        raise AttributeError('the waveform of a source can only be set')

    @wave.setter
    def wave(self, wave: Wave) -> None:
        self._circuit._change(('set_wave', _lib.raw(self.name)), wave)

    @property
    def function(self):
        """A source's value as a Python function of time (s), or None.

        ckt.v1.function = lambda t: math.sin(t * 1e6)

        With `set_function` corners are told too."""
        host = self._circuit._hosts.get(self.name)
        return host.value if host else None

    @function.setter
    def function(self, value: Union[Callable[[float], float], None]) -> None:
        self.set_function(value)

    def set_function(self, value: Union[Callable[[float], float], None],
                     events: Union[Callable[[float], float], Iterable[float], None] = None):
        """A source's value as a function of time.

        value   value(t) in volt or ampere at t seconds; None: the waveform of the deck again. It is
                asked for earlier times too, when a step is rejected.
        events  times at which the value or its slope jumps, or a function that gives the first
                after t (math.inf: none); time steps end there"""
        self._circuit._set_host(self.name, HostSource(value, events) if value else None)

    def __repr__(self) -> str:
        if self._circuit._deck is None:  # a circuit in the making
            return '<%s>' % self.name
        kind, model, nodes = self._circuit._device_table()[self.name]
        return '<%s: %s%s at %s>' % (self.name, kind, ' ' + model if model else '',
                                     ' '.join(nodes))


class Model(_Values):
    """A .model card: ckt.nch.vto = 0.45."""

    def _get(self, name, kind):
        return self._value('get_model', name, kind)

    def __setitem__(self, name: str, value: float) -> None:
        self._circuit._change(('set_model', _lib.raw(self.name), _lib.raw(name)), float(value))

    @property
    def parameters(self) -> Tuple[Parameter, ...]:
        """What the card may say, with units and descriptions."""
        return self._list('model_parameter_count', 'model_parameter_at')

    @property
    def type(self) -> str:
        """The word of the card: "nmos", "d"."""
        return self._circuit._model_table()[self.name]

    def __repr__(self) -> str:
        return '<model %s: %s>' % (self.name, self.type)


class Scope:
    """An instance of a subcircuit: ckt.x1.m2 is ckt["x1.m2"]."""

    def __init__(self, circuit: Circuit, path: str):
        self._circuit, self._path = circuit, path

    def __getattr__(self, name: str):
        if name.startswith('_'):
            raise AttributeError(name)
        found = self._circuit._look_up(self._path + '.' + name)
        if found is None:
            raise AttributeError('%s has no device %r' % (self._path, name))
        return found

    def __setattr__(self, name, value):
        if not name.startswith('_'):
            raise AttributeError('values belong to devices: %s.%s.PARAMETER = ...'
                                 % (self._path, name))
        object.__setattr__(self, name, value)

    def __dir__(self):
        skip = len(self._path) + 1
        return sorted({n[skip:].partition('.')[0] for n in self._circuit._device_table()
                       if n.startswith(self._path + '.')})

    def __repr__(self) -> str:
        return '<%s: %s>' % (self._path, ', '.join(dir(self)))


class _Named(MutableMapping):
    """Numbers by name, by index and as attributes."""

    def __init__(self, circuit: Circuit):
        object.__setattr__(self, '_circuit', circuit)

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(e.args[0]) from e

    def __setattr__(self, name, value):
        self[name] = value

    def __delitem__(self, name):
        raise TypeError('it can be set, not taken away')

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _number(self, function, name):
        from ._errors import InputError
        deck, value = self._circuit._ready(), ctypes.c_double()
        try:
            with deck.sim as lib:
                deck.sim.check(getattr(lib, function)(deck.ptr, _lib.raw(name), _byref(value)))
        except InputError as e:
            raise KeyError(str(e)) from e
        return value.value

    def __repr__(self) -> str:
        return repr(dict(self))


class Params(_Named):
    """Parameters of the deck's top level (.param): ckt.params.r = 2e3."""

    def __getitem__(self, name: str) -> float:
        return self._number('get_param', name)

    def __setitem__(self, name: str, value: float) -> None:
        self._circuit._change(('set_param', _lib.raw(name)), float(value))

    def __iter__(self) -> Iterator[str]:
        deck = self._circuit._ready()
        n, name, out = ctypes.c_size_t(), ctypes.c_char_p(), []
        with deck.sim as lib:
            deck.sim.check(lib.param_count(deck.ptr, _byref(n)))
            for i in range(n.value):
                deck.sim.check(lib.param_at(deck.ptr, i, _byref(name)))
                out.append(_lib.text(name.value))
        return iter(out)

    def __dir__(self):
        return [*super().__dir__(), *self]


class Options(_Named):
    """Options: ckt.options.reltol = 1e-5, ckt.options["method"] = "gear"."""

    def __getitem__(self, name: str) -> float:
        return self._number('get_option', name)

    def __setitem__(self, name: str, value) -> None:
        self._circuit._change(('set_options', _lib.raw(name)), value)

    def __iter__(self) -> Iterator[str]:
        """Those that were set here."""
        return iter([_lib.text(k[1]) for k in self._circuit._changes if k[0] == 'set_options'])
