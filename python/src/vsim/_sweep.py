"""Many runs: grids of values, Monte Carlo, the families of decks.

Each of `jobs` threads has a copy of the circuit with a simulator of its own, and the library works
without Python's lock: the points are computed in parallel. A run has the same bits whatever its
simulator computed before, so that results do not depend on `jobs` or on the order."""
from __future__ import annotations

import ctypes
import itertools
import math
import os
import threading
from collections.abc import Mapping

from . import _lib
from ._errors import Error, Interrupted
from ._result import Result
from ._si import scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

    import numpy as np
    import pandas
    import xarray

    from ._circuit import Circuit

_byref = ctypes.byref


class Sweep(Mapping):
    """What a sweep gave: a mapping of names to arrays, with nan where a point failed.

    Of a grid the arrays have a dimension for each swept value, else one. Single numbers that `do`
    gives without a name are called "value"."""

    def __init__(self, points: List[Dict[str, float]], grid: Dict[str, List[float]]):
        #: {name: value} of each point, in order
        self.points = points
        #: values of each dimension
        self.grid = grid
        #: what was computed at each point; None: not yet, failed, or not kept
        self.results: List[Any] = [None] * len(points)
        #: number of a point: why it failed
        self.errors: Dict[int, Error] = {}
        #: points that were computed
        self.done = 0
        self._values: List[Optional[Dict[str, float]]] = [None] * len(points)

    @property
    def shape(self) -> Tuple[int, ...]:
        """Of the arrays: the numbers of swept values, or the number of points."""
        return tuple(map(len, self.grid.values())) if self.grid else (len(self.points),)

    def _names(self):
        return list(dict.fromkeys(n for v in self._values if v for n in v))

    def __getitem__(self, name: str) -> np.ndarray:
        import numpy
        column = [math.nan if v is None else v.get(name, math.nan) for v in self._values]
        if not any(v and name in v for v in self._values):
            raise KeyError('the sweep has no value %r; it has: %s' % (
                name, ', '.join(self._names()) or 'none'))
        return numpy.array(column).reshape(self.shape)

    def __iter__(self):
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each point: its values, then what was computed."""
        import pandas
        names = self._names()
        rows = [{**p, **{n: (v or {}).get(n, math.nan) for n in names}}
                for p, v in zip(self.points, self._values)]
        return pandas.DataFrame(rows)

    def to_xarray(self) -> xarray.Dataset:
        """A Dataset with a dimension for each swept value."""
        import xarray
        if self.grid:
            return xarray.Dataset({n: (tuple(self.grid), self[n]) for n in self}, self.grid)
        columns = list(dict.fromkeys(n for p in self.points for n in p))
        coords = {'point': range(len(self.points)), **{
            n: ('point', [p.get(n, math.nan) for p in self.points]) for n in columns}}
        return xarray.Dataset({n: ('point', self[n]) for n in self}, coords)

    def __repr__(self) -> str:
        return '<sweep: %d of %d points, %d failed; %s>' % (
            self.done, len(self.points), len(self.errors), ', '.join(self) or 'no values')

    def _repr_html_(self) -> str:
        try:
            return self.to_pandas().to_html()
        except ImportError:
            from html import escape
            return escape(repr(self))


# -- what a point gives --

def _extract(result, get):
    if get is None:
        if isinstance(result, Mapping) and not isinstance(result, Result):
            return {str(k): scalar(v) for k, v in result.items()}
        if not isinstance(result, Result):
            return {} if result is None else {'value': scalar(result)}
        return result.measures or {n: result[n] for n in result
                                   if isinstance(result[n], float)}
    return {name: _one(result, what) for name, what in get.items()}


def _one(result, what):
    if callable(what):
        return scalar(what(result))
    if ' ' in what.strip():
        return result.measure(what)
    value = result[what]
    return float(value if isinstance(value, float) else value[-1])


def _action(do):
    if callable(do):
        return do
    return lambda circuit: circuit.run(do)


# -- the work --

class _Work:
    """Points taken one at a time, by any number of threads."""

    def __init__(self, out: Sweep, prepare: Callable[[Circuit, int], None], do, get, keep,
                 progress):
        self.out, self.prepare, self.do, self.get = out, prepare, do, get
        self.keep, self.progress = keep, progress
        self.next, self.lock = itertools.count(), threading.Lock()
        self.over = False                              # no further points
        self.raised: Optional[BaseException] = None    # by the caller's functions

    def ended(self):
        return self.over

    def points(self, circuit):
        circuit._end = self.ended
        while not self.over:
            k = next(self.next)
            if k >= len(self.out.points):
                return
            self.point(circuit, k)

    def point(self, circuit, k):
        try:
            self.prepare(circuit, k)
            result = self.do(circuit)
            if self.over:
                return  # it was cut short
            if isinstance(result, Result):
                result.point = self.out.points[k]
            self.out._values[k] = _extract(result, self.get)
            if self.keep:
                self.out.results[k] = result
        except Error as e:
            self.out.errors[k] = e
        with self.lock:
            self.out.done += 1
            done = self.out.done
            if self.progress:
                self.progress(done / len(self.out.points))

    def thread(self, circuit):
        try:
            self.points(circuit)
        except BaseException as e:
            with self.lock:
                self.raised = self.raised or e
            self.over = True

    def run(self, circuit, jobs):
        if jobs == 1:
            self.points(circuit.copy())
            return
        threads = [threading.Thread(target=self.thread, args=(circuit.copy(),), daemon=True)
                   for _ in range(jobs)]
        try:
            for t in threads:
                t.start()
            for t in threads:
                while t.is_alive():
                    t.join(0.05)  # short: Ctrl-C is seen between two
        finally:
            self.over = True
            for t in threads:
                if t.ident:  # Ctrl-C may come before the last one has begun
                    t.join()
        if self.raised:
            raise self.raised


def _processors():
    """Those that this process may use, or where no system tells, those that there are."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def _sweep_of(circuit, points, grid, prepare, do, get, jobs, keep, progress):
    from ._circuit import _Reporter
    out = Sweep(points, grid)
    jobs = min(jobs or _processors(), max(len(points), 1))
    if jobs < 1:
        raise ValueError('jobs is the number of threads; 0: one for each processor')
    circuit._ready()
    with _Reporter(progress, 'points') as report:
        try:
            _Work(out, prepare, _action(do), get, keep, report).run(circuit, jobs)
        except KeyboardInterrupt:
            raise Interrupted(out) from None
    return out


def _points_of(points):
    if not isinstance(points, Mapping):
        return [dict(p) for p in points], {}
    grid = {name: list(values) for name, values in points.items()}
    return [dict(zip(grid, values)) for values in itertools.product(*grid.values())], grid


def sweep(circuit, points, do, get, jobs, keep, progress):
    points, grid = _points_of(points)
    keys = {name: circuit._key(name) for p in points for name in p}

    def prepare(c, k):
        for name, value in points[k].items():
            c._change(keys[name], value)
    return _sweep_of(circuit, points, grid, prepare, do, get, jobs, keep, progress)


def monte_carlo(circuit, samples, do, get, seed, jobs, keep, progress):
    numbers = list(range(samples) if isinstance(samples, int) else samples)
    points = [{'sample': k} for k in numbers]

    def prepare(c, k):
        c.sample(numbers[k], seed)
    return _sweep_of(circuit, points, {}, prepare, do, get, jobs, keep, progress)


def family(circuit, do, get, jobs, keep, progress):
    deck, f, value = circuit._ready(), _lib.Family(), ctypes.c_double()
    points = []
    with deck.sim as lib:
        deck.sim.check(lib.family_of(deck.ptr, _byref(f)))
        columns = [_lib.text(f.column[c]) for c in range(f.n_column)]
        for k in range(f.n_point):
            points.append({})
            for c, name in enumerate(columns):
                deck.sim.check(lib.family_value(deck.ptr, k, c, _byref(value)))
                points[-1][name] = value.value
    if not points:
        raise ValueError('the deck has no .step and no .mc')

    def prepare(c, k):
        own = c._ready()
        with own.sim as lib:
            own.sim.check(lib.family_set(own.ptr, k, None))
        c._stale = True

    def first(c):
        return c._first_of_deck()
    return _sweep_of(circuit, points, {}, prepare, do or first, get, jobs, keep, progress)
