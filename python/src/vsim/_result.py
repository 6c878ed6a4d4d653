"""What a run computed: vectors as NumPy arrays, measures, tables for pandas and xarray."""
from __future__ import annotations

import ctypes
from collections import namedtuple
from collections.abc import Mapping

from . import _lib
from ._handle import Memory, Run
from ._si import si

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Union

    import numpy as np
    import pandas
    import xarray

_byref = ctypes.byref


class Stats(namedtuple('Stats', 'accepted rejected iterations evaluations bypasses op_method '
                       'seconds')):
    """Counts of a run.

    accepted, rejected      points, and steps that were tried again with a smaller one
    iterations              of Newton's method
    evaluations, bypasses   of device models, and those that were not needed
    op_method               how the operating point was found, "" if none was looked for
    seconds                 of the clock"""
    __slots__ = ()


class Gradient(namedtuple('Gradient', 'value by')):
    """A measure and its derivatives: `by[parameter]` in units of the measure per unit of it."""
    __slots__ = ()


class Plot(Mapping):
    """Vectors that belong together, by name: a mapping of names to NumPy arrays.

    The arrays are the run's own memory, not copies, and can only be read (`.copy()` is yours). They
    stay valid for as long as you have them, whatever becomes of the circuit. Names are found
    without regard to case, also in the short forms "out" for "v(out)" and "v1#branch" for
    "i(v1)"."""

    def __init__(self, run: Run, index: int):
        self._run, self._index = run, index

    def _at(self):
        at = self._run.sim.lib.run_plot(self._run.ptr, self._index)
        if not at:
            raise KeyError('the run has no points')
        return at

    def _array(self, v) -> np.ndarray:
        import numpy
        kind = '<c16' if v.complex_values else '<f8'
        if not v.n:
            return numpy.empty(0, kind)
        a = numpy.asarray(Memory(self._run, v.v, v.n, kind))
        return a if self._run.ended else a.copy()

    def _find(self, name: str):
        v = _lib.Vector()
        with self._run.sim as lib:
            if not lib.plot_find(self._at(), _lib.raw(name), _byref(v)):
                return None
        return v

    def _list(self):
        out, v = [], _lib.Vector()
        with self._run.sim as lib:
            at = lib.run_plot(self._run.ptr, self._index)
            n = lib.plot_vector_count(at) if at else 0
            for i in range(n):
                lib.plot_vector(at, i, _byref(v))
                out.append((_lib.text(v.name), _lib.text(v.unit)))
        return out

    def __getitem__(self, name: str) -> np.ndarray:
        v = self._find(name)
        if v is None:
            raise KeyError(_no_vector(name, self))
        return self._array(v)

    def __contains__(self, name) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._list())

    def __len__(self) -> int:
        return len(self._list())

    @property
    def title(self) -> str:
        """ "Transient Analysis" """
        with self._run.sim as lib:
            return _lib.text(lib.plot_name(self._at()))

    @property
    def axis_name(self) -> Optional[str]:
        """Of the vector that the others are plotted over: "time"; None: there is none."""
        v = _lib.Vector()
        with self._run.sim as lib:
            at = lib.run_plot(self._run.ptr, self._index)
            if at and lib.plot_axis(at, _byref(v)):
                return _lib.text(v.name)
        return None

    @property
    def units(self) -> Dict[str, str]:
        """name: unit, "V", "A", "s", "Hz" or ""."""
        return dict(self._list())


def _no_vector(name, plot):
    import difflib
    near = difflib.get_close_matches(name.lower(), [n.lower() for n in plot], 3)
    return 'the run has no vector %r%s' % (
        name, '; is it %s?' % ' or '.join(map(repr, near)) if near else '')


class Result(Mapping):
    """What a run computed, by name.

    >>> import vsim
    >>> op = vsim.Circuit("divider\\nv1 in 0 10\\nr1 in out 1k\\nr2 out 0 3k").op()
    >>> op["v(out)"], op["out"], op.v("out")
    (7.5, 7.5, 7.5)
    >>> list(op)
    ['v(in)', 'v(out)', 'i(v1)']

    Where there is an axis (time, frequency, a swept value) the values are NumPy arrays without a
    copy (see Plot), else numbers. Analyses with several plots (noise: spectra, integrals) are
    looked through in order; `plots` has them one by one."""

    def __init__(self, run: Run, kind: str, stopped: bool = False, sweeps=()):
        self._run, self._sweeps = run, tuple(sweeps)
        #: the word of its card: "op", "dc", "tran", "ac", "noise", ...
        self.kind = kind
        #: ended before its end, because someone asked for it
        self.stopped = stopped
        #: values of the sweep that this run is a point of
        self.point: Dict[str, float] = {}

    # -- vectors --

    @property
    def plots(self) -> List[Plot]:
        """The plots; the first is the result's own."""
        with self._run.sim as lib:
            return [Plot(self._run, i) for i in range(lib.run_plot_count(self._run.ptr))]

    def __getitem__(self, name: str) -> Union[np.ndarray, float, complex]:
        v, run = _lib.Vector(), self._run
        key = _lib.raw(name)
        with run.sim as lib:
            for i in range(lib.run_plot_count(run.ptr)):
                if not lib.plot_find(lib.run_plot(run.ptr, i), key, _byref(v)):
                    continue
                if self.kind == 'op' and v.n == 1:  # the quick way
                    return ctypes.c_double.from_address(v.v).value
                plot = Plot(run, i)
                a = plot._array(v)
                return a[0].item() if len(a) == 1 and plot.axis_name is None else a
        raise KeyError(_no_vector(name, self))

    def __iter__(self) -> Iterator[str]:
        return (name for plot in self.plots for name in plot)

    def __len__(self) -> int:
        return sum(map(len, self.plots))

    def _of(self, form, names):
        try:
            return self[form % ','.join(map(str, names))]
        except KeyError:
            if len(names) == 2 and form == 'v(%s)':
                p, n = (0.0 if str(x) in ('0', 'gnd') else self[form % x] for x in names)
                return p - n
            raise

    def v(self, node, minus=None) -> Union[np.ndarray, float, complex]:
        """Voltage of a node, or between two, in volt."""
        return self._of('v(%s)', (node,) if minus is None else (node, minus))

    def i(self, device) -> Union[np.ndarray, float, complex]:
        """Current into a device's first node, in ampere."""
        return self._of('i(%s)', (device,))

    @property
    def axis(self) -> Optional[np.ndarray]:
        """Time in s, frequency in Hz, or the values of the innermost sweep; None: no axis."""
        plots = self.plots
        name = plots[0].axis_name if plots else None
        if name is None:
            return None
        a = plots[0][name]
        return a.real if a.dtype.kind == 'c' else a

    @property
    def time(self) -> np.ndarray:
        """The axis of a transient, in seconds."""
        return self._axis()

    @property
    def frequency(self) -> np.ndarray:
        """The axis of small-signal analyses, in hertz."""
        return self._axis()

    def _axis(self) -> np.ndarray:
        axis = self.axis
        if axis is None:
            raise AttributeError('%s has no axis' % self.title)
        return axis

    @property
    def units(self) -> Dict[str, str]:
        """name: unit"""
        return {name: unit for plot in self.plots for name, unit in plot._list()}

    @property
    def title(self) -> str:
        """ "Transient Analysis" """
        plots = self.plots
        return plots[0].title if plots else self.kind

    # -- measures, counts --

    def measure(self, text: str) -> float:
        """A measure as a .meas card has it behind the analysis.

        >>> import vsim
        >>> tran = vsim.Circuit("rc\\nv1 in 0 1\\nr1 in out 1k\\nc1 out 0 1n ic=0").tran(
        ...     stop=5e-6, uic=True)
        >>> round(tran.measure("half WHEN v(out)=0.5 RISE=1"), 8)
        6.9e-07

        nan (and a warning that says why) if the curve has no such value."""
        value = ctypes.c_double()
        with self._run.sim as lib:
            self._run.sim.check(lib.run_measure(self._run.ptr, _lib.raw(text), _byref(value)))
        return value.value

    @property
    def measures(self) -> Dict[str, float]:
        """Those of the deck's .meas cards; nan: failed."""
        m, out = _lib.Measured(), {}
        with self._run.sim as lib:
            for i in range(lib.run_measured_count(self._run.ptr)):
                lib.run_measured(self._run.ptr, i, _byref(m))
                out[_lib.text(m.name)] = m.value
        return out

    @property
    def stats(self) -> Stats:
        """Counts of the run."""
        s = _lib.RunStat()
        with self._run.sim as lib:
            lib.run_stats(self._run.ptr, _byref(s))
        return Stats(s.accepted, s.rejected, s.iterations, s.evaluations, s.bypasses,
                     _lib.text(s.op_method), s.seconds)

    # -- tables --

    def to_pandas(self) -> Union[pandas.DataFrame, pandas.Series]:
        """A DataFrame over the axis, or without an axis a Series. Units are in `.attrs`."""
        import pandas
        plots = self.plots
        axis = plots[0].axis_name if plots else None
        table: Union[pandas.DataFrame, pandas.Series]
        if axis is None:
            table = pandas.Series(dict(self), name=self.title)
        else:
            index = pandas.Index(self._axis(), name=axis)
            table = pandas.DataFrame({n: plots[0][n] for n in plots[0] if n != axis}, index=index)
        table.attrs.update(title=self.title, units=self.units, **self.point)
        return table

    def to_xarray(self) -> xarray.Dataset:
        """A Dataset over the axis; a .dc over several sweeps has a dimension for each. Units are
        the variables' attributes."""
        import xarray
        plots = self.plots
        units = self.units
        axis = plots[0].axis_name if plots else None
        if axis is None:
            return xarray.Dataset({n: ((), self[n], {'units': units[n]}) for n in self},
                                  attrs={'title': self.title})
        values = self._axis()
        coords: Dict[str, Any] = {axis: values}
        if len(self._sweeps) > 1 and len(values) == _product(len(v) for _, v in self._sweeps):
            coords = dict(self._sweeps[::-1])  # the first varies fastest
        shape = tuple(len(v) for v in coords.values())
        data = {name: (tuple(coords), plots[0][name].reshape(shape), {'units': units[name]})
                for name in plots[0] if name != axis}
        return xarray.Dataset(data, coords=coords, attrs={'title': self.title, **self.point})

    # -- what one sees --

    def __repr__(self) -> str:
        plots = self.plots
        if plots and plots[0].axis_name is not None:
            return '<%s: %d points of %s>' % (self.title, len(self._axis()), ', '.join(self))
        if not plots:
            return '<%s without points>' % self.kind
        units = self.units
        return '<%s: %s>' % (self.title, ', '.join(
            '%s = %s' % (n, _number(self[n], units[n])) for n in self))

    def svg(self, *names: str, width: int = 640, height: int = 320) -> str:
        """A picture as SVG text: all voltages, or the named vectors. Complex ones as magnitude in
        dB; frequencies, and sweeps that look like it, on a logarithmic axis."""
        from ._svg import picture
        return picture(self, names, width, height)

    def _repr_html_(self) -> str:
        from ._svg import table_html
        plots = self.plots
        if not plots or plots[0].axis_name is None or len(self._axis()) < 2:
            return table_html(self)
        return self.svg()


def _product(numbers):
    out = 1
    for n in numbers:
        out *= n
    return out


def _number(x, unit):
    return '%.6g%+.6gj %s' % (x.real, x.imag, unit) if isinstance(x, complex) else si(x, unit)
