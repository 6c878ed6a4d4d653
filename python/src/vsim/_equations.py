"""The equations of a circuit at a point."""
from __future__ import annotations

import ctypes
from collections import namedtuple

from . import _lib

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse


class Equations(namedtuple('Equations', 'names x f q colptr row g c')):
    """r(x) = f(x) + d/dt q(x) = 0, row i the equation of unknown i: for a node the sum of currents
    that leave it into devices (ampere). Jacobians are columns in CSC form over one pattern; `G` and
    `C` are scipy.sparse matrices of them. Arrays are copies.

    names         of the unknowns
    x             the point
    f, q          resistive residual; charge (coulomb) or flux (weber)
    colptr, row   column j: entries colptr[j] to colptr[j+1], and their rows
    g, c          df/dx (siemens between nodes), dq/dx (farad between nodes)"""
    __slots__ = ()

    def _matrix(self, values):
        import scipy.sparse
        n = len(self.x)
        return scipy.sparse.csc_matrix((values, self.row, self.colptr), shape=(n, n))

    @property
    def G(self) -> scipy.sparse.csc_matrix:
        """df/dx; needs scipy."""
        return self._matrix(self.g)

    @property
    def C(self) -> scipy.sparse.csc_matrix:
        """dq/dx; needs scipy."""
        return self._matrix(self.c)


def at(circuit, x) -> Equations:
    import numpy
    names = circuit.unknowns
    deck, e, point = circuit._ready(), _lib.Equations(), None
    if x is not None:
        values = numpy.asarray(x, float)
        if values.shape != (len(names),):
            raise ValueError('the circuit has %d unknowns, x has the shape %r'
                             % (len(names), values.shape))
        point = numpy.concatenate([[0.0], values])

    def copy(address, n, kind):
        size = n * numpy.dtype(kind).itemsize
        return numpy.frombuffer(ctypes.string_at(address, size), kind).copy()
    with deck.sim as lib:
        deck.sim.check(lib.equations_at(deck.ptr, None if point is None else point.ctypes.data,
                                        ctypes.byref(e)))
        n = e.n
        colptr = copy(e.colptr, n + 1, numpy.int32)
        nnz = int(colptr[-1])
        return Equations(names, copy(e.x, n, float), copy(e.f, n, float), copy(e.q, n, float),
                         colptr, copy(e.row, nnz, numpy.int32), copy(e.g, nnz, float),
                         copy(e.c, nnz, float))
