"""Objects of the library and their lifetimes.

A simulator owns decks, a deck owns runs. Here the owned holds its owner, so that an array that
stands in a run's memory keeps the run, its deck and its simulator. Python may drop objects on any
thread, and inside a callback, where the library must not free: what is dropped is put on a list,
which the next one who has the simulator for himself works off."""
from __future__ import annotations

import atexit
import ctypes
import os
import time
import weakref
from _thread import RLock, get_ident  # threading without what else is there

from . import _guard, _lib
from ._errors import error_of, messages_of, warn

_byref = ctypes.byref


def cache_folder(lib):
    """That of the command, as bytes; None: there is none."""
    path = ctypes.create_string_buffer(4096)
    variables = [os.environ.get(name) for name in ('XDG_CACHE_HOME', 'HOME')]
    known = lib.cache_folder(*[os.fsencode(v) if v else None for v in variables], path, len(path))
    return path.value if known else None


def _strings(words):
    return (ctypes.c_char_p * len(words))(*[_lib.raw(w) for w in words])


_sims: weakref.WeakSet[Sim] = weakref.WeakSet()
_PATIENCE = 30.0  # seconds


@atexit.register
def _leave():
    """Python ends while its daemon threads run on, and LLVM's data end with it: a thread that
    compiles would crash. Runs are ended, and the simulators kept for the rest of the process."""
    _guard.last = get_ident()
    until = time.monotonic() + _PATIENCE
    for sim in list(_sims):
        sim.lock.acquire(timeout=max(0.0, until - time.monotonic()))


class Sim:
    """A simulator; `with sim:` has it for this thread alone."""

    def __init__(self, include=(), define=(), models=None, cache=True, threads=0, interpret=False,
                 start_files=False, memory=0, say=None):
        self.ptr = None
        self.lib = lib = _lib.load()
        self.lock, self.depth, self.trash = RLock(), 0, []
        s = _lib.Settings()
        lib.settings_init_size(_byref(s), ctypes.sizeof(s))
        if cache:
            folder = cache_folder(lib) if cache is True else cache
            s.cache = _lib.raw(folder) if folder else None
        s.models = _lib.raw(models) if models else None
        include, define = list(map(os.fspath, include)), list(define)
        s.include, s.n_include = _strings(include), len(include)
        s.macro, s.n_macro = _strings(define), len(define)
        s.threads, s.interpret, s.start_files, s.memory = threads, interpret, start_files, memory
        self._kept = []
        s.variable = self._variable = _lib.VARIABLE_FN(self._look_up)
        if say is not None:
            s.line = self._line = _lib.LINE_FN(lambda user, text: say(_lib.text(text)))
        ptr = ctypes.c_void_p()
        status = lib.new(_byref(ptr), _byref(s))
        self.ptr = ptr.value
        _sims.add(self)
        self.check(status)

    def _look_up(self, user, name):
        """$NAME in a file name of a deck. The text lives until the next question."""
        text = os.environb.get(name)
        self._kept = [text and ctypes.create_string_buffer(text)]
        return ctypes.addressof(self._kept[0]) if text is not None else None

    def __enter__(self):
        self.lock.acquire()
        self.depth += 1
        return self.lib

    def __exit__(self, *what):
        self.depth -= 1
        if self.trash and not self.depth:
            self._sweep()
        self.lock.release()

    def _sweep(self):
        while self.trash:
            free, ptr = self.trash.pop()
            free(_byref(ctypes.c_void_p(ptr)))

    def drop(self, free, ptr):
        self.trash.append((free, ptr))
        if self.lock.acquire(blocking=False):
            if not self.depth and self.ptr:
                self._sweep()
            self.lock.release()

    def check(self, status, result=None):
        """Warnings of the last call are given; a status that is an error is raised."""
        messages = messages_of(self.lib, self.ptr) if self.ptr else []
        if status < 0 or status == _lib.NOCONV:
            raise error_of(self.lib, status, messages, result)
        if messages:
            warn(messages)

    def __del__(self):
        if getattr(self, 'ptr', None):
            ptr, self.ptr = self.ptr, None
            self.lib.free(_byref(ctypes.c_void_p(ptr)))


class Deck:
    """A deck; `stands` is false once its simulator is gone, and with it the deck."""

    def __init__(self, sim, read):
        """read: a function (lib, sim pointer, deck) -> status"""
        self.ptr, self.sim = None, sim
        with sim as lib:
            ptr = ctypes.c_void_p()
            status = read(lib, sim.ptr, _byref(ptr))
            self.ptr = ptr.value
            sim.check(status)

    def __del__(self):
        if self.ptr and self.sim.ptr:
            ptr, self.ptr = self.ptr, None
            self.sim.drop(self.sim.lib.deck_free, ptr)


class Run:
    """A run of a deck. `watch`: its options and callbacks, which live as long."""

    def __init__(self, deck, ptr, watch=None):
        self.deck, self.sim, self.ptr, self.watch = deck, deck.sim, ptr, watch
        self.ended = True  # else its arrays may move

    def __del__(self):
        # a garbage collection of all three may begin anywhere: who frees the owner frees the owned
        if self.ptr and self.deck.ptr and self.sim.ptr:
            ptr, self.ptr = self.ptr, None
            self.sim.drop(self.sim.lib.run_free, ptr)


class Memory:
    """Numbers of a run as NumPy takes them without a copy; the array holds this, this the run."""
    __slots__ = ('run', '__array_interface__')

    def __init__(self, run, address, n, kind):
        self.run = run
        self.__array_interface__ = {'shape': (n,), 'typestr': kind, 'data': (address, True),
                                    'version': 3}
