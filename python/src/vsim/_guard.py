"""Python's functions as callbacks of the library.

Signals are handled by Python where its own code begins to run, which here is the first instruction
of a callback: an exception there (KeyboardInterrupt by Ctrl-C) is outside any `try` of the callback
and would be lost. A generator is the way out: it waits at a `yield` inside its `try`, and what the
library calls is the generator's `send`, which is no Python code. Where the library passes two
arguments, it calls `Context.run`: the `user` pointer is `send`, and run(send, x) is send(x). What
was raised is kept, and raised again when the library has returned."""
from __future__ import annotations

import contextvars
import ctypes
import math
from _thread import get_ident

from . import _lib

_EVENT = contextvars.ContextVar('vsim_event', default=False)  # what a host source is asked for


last = None  # the one thread whose runs go on while the process ends


class Trouble:
    """The first exception that callbacks of a run raised."""
    __slots__ = ('error',)

    def __init__(self):
        self.error = None

    def keep(self, error):
        if self.error is None:
            self.error = error


def _started(generator):
    next(generator)
    return generator.send


def _poll(trouble, end):
    """Shall the run end? Asked some 20 times a second."""
    while True:
        try:
            yield (last not in (None, get_ident()) or trouble.error is not None or
                   (end is not None and end()))
        except GeneratorExit:
            return
        except BaseException as e:  # Ctrl-C too
            trouble.keep(e)


def _progress(trouble, report):
    while True:
        try:
            p = yield
            report(p.contents.fraction)
        except GeneratorExit:
            return
        except BaseException as e:
            trouble.keep(e)


class Watch:
    """Options of a run that looks for signals.

    report  called with the fraction that is done, 0 to 1
    end     called without arguments: true ends the run
    keep    names of vectors; None: what the deck saves"""

    def __init__(self, trouble, report=None, end=None, keep=None):
        o = self.options = _lib.RunOptions(size=ctypes.sizeof(_lib.RunOptions))
        o.poll = self._poll = _lib.POLL_FN(_started(_poll(trouble, end)))
        if report is not None:
            self._send = _started(_progress(trouble, report))
            o.progress = self._progress = _lib.PROGRESS_FN(contextvars.copy_context().run)
            o.user = id(self._send)
        if keep is not None:
            names = [_lib.raw(n) for n in keep]
            o.keep, o.n_name = _lib.KEEP_NAMED, len(names)
            o.name = self._name = (ctypes.c_char_p * len(names))(*names)


def _values(trouble, value, events):
    """Of a source: its value at a time, or the first corner after it."""
    answer = 0.0
    while True:
        try:
            t = yield answer
            answer = math.nan  # which ends the run
            if trouble.error is None:
                answer = float(events(t) if _EVENT.get() else value(t))
        except GeneratorExit:
            return
        except BaseException as e:
            trouble.keep(e)


def _next_of(times):
    """The first of these times after t; infinity: none."""
    import bisect
    times = sorted(float(t) for t in times)

    def after(t):
        i = bisect.bisect_right(times, t)
        return times[i] if i < len(times) else math.inf
    return after


class HostSource:
    """A function of time in place of a source's waveform.

    value   value(t), t in seconds: volt or ampere
    events  times at which it or its slope jumps, or a function: the first such time after t"""

    def __init__(self, value, events=None):
        self.value = value
        self.events = events if events is None or callable(events) else _next_of(events)
        self.trouble = Trouble()
        self._send = _started(_values(self.trouble, value, self.events))
        for_value, for_event = contextvars.copy_context(), contextvars.copy_context()
        for_event.run(_EVENT.set, True)
        self._value = _lib.VALUE_FN(for_value.run)
        self.struct = _lib.HostSource(value=self._value, user=id(self._send))
        if events is not None:
            self._event = _lib.VALUE_FN(for_event.run)
            self.struct.next_event = self._event
