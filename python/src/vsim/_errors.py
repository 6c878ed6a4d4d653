"""What is wrong with a deck, a model or a run: exceptions, warnings, and messages as records."""
from __future__ import annotations

import ctypes
import sys
import warnings
from collections import namedtuple

from . import _lib

TYPE_CHECKING = False  # `typing` takes as long to import as all of this
if TYPE_CHECKING:
    from typing import List, Optional, Tuple

    from ._result import Result


class Message(namedtuple('Message', 'severity text file line column length source code notes '
                         'formatted')):
    """One message of the simulator.

    severity        "error", "warning" or "note"
    text            one sentence
    file            as the deck names it; "" if the message has no place
    line, column    from 1; 0 without a place
    length          of the place on its line
    source          the whole line of the file; ""
    code            of this kind of message, whatever names and numbers are in it
    notes           messages that belong to it: hints, origins
    formatted       as the command prints it: with the line, a caret below it, the notes; str()"""
    __slots__ = ()

    def __str__(self) -> str:
        return self.formatted


_SEVERITY = ('error', 'warning', 'note')


def _message(lib, m) -> Message:
    size = lib.message_format(m, None, 0)
    buf = ctypes.create_string_buffer(size + 1)
    lib.message_format(m, ctypes.cast(buf, ctypes.c_void_p), size + 1)
    notes = tuple(_message(lib, m.note[i]) for i in range(m.n_note))
    return Message(_SEVERITY[m.severity], _lib.text(m.text), _lib.text(m.file), m.line, m.column,
                   m.length, _lib.text(m.source), m.code, notes,
                   _lib.text(buf.value).rstrip('\n'))


def messages_of(lib, sim) -> List[Message]:
    """Those of the last call on a simulator."""
    n = ctypes.c_size_t()
    at = lib.messages(sim, ctypes.byref(n))
    if not n.value:
        return []
    array = ctypes.cast(at, ctypes.POINTER(_lib.Message))
    return [_message(lib, array[i]) for i in range(n.value)]


class Warning(UserWarning):  # noqa: A001 - vsim.Warning is what one looks for
    """A warning of the simulator, given by Python's `warnings`; `message` is its record."""

    def __init__(self, message: Message):
        super().__init__('\n' + str(message) if message.file else message.text)
        self.message = message


class Error(Exception):
    """What the simulator could not do, with the messages that say why.

    `messages` has all records; `file`, `line`, `column` and `source` are those of the first error
    that has a place. `result` has what a run computed before it failed, else None. The text is that
    of the command: with the line of the deck and a caret under the place."""

    def __init__(self, status: str, messages: Tuple[Message, ...] = (),
                 result: Optional[Result] = None):
        errors = [m for m in messages if m.severity == 'error']
        text = '\n'.join(str(m) for m in messages)
        # a traceback indents nothing: the caret must stand under its place
        super().__init__('\n' + text if '\n' in text else text or status)
        self.status, self.messages, self.result = status, tuple(messages), result
        place = next((m for m in errors if m.file), None)
        self.file = place.file if place else ''
        self.line = place.line if place else 0
        self.column = place.column if place else 0
        self.source = place.source if place else ''


class InputError(Error, ValueError):
    """A deck, a model, a name or a value is wrong."""


class ConvergenceError(Error, ArithmeticError):
    """No operating point was found."""


class SingularError(Error, ArithmeticError):
    """The matrix is singular: nodes without a path, loops of sources."""


class StepError(Error, ArithmeticError):
    """The time step became too small."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class UnsupportedError(Error, NotImplementedError):
    """Known, but not done by this build or machine."""


class OutOfMemory(Error, MemoryError):
    """The simulator found no memory and can only be freed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; `result` has the points that were accepted until then."""

    def __init__(self, result=None):
        super().__init__('the run was interrupted; its points are in .result')
        self.result = result


_CLASS = {_lib.NOCONV: ConvergenceError, _lib.EINPUT: InputError, _lib.ENOMEM: OutOfMemory,
          _lib.ESINGULAR: SingularError, _lib.ESTEP: StepError, _lib.EIO: FileError,
          _lib.EUNSUPPORTED: UnsupportedError}


def warn(messages) -> None:
    """Gives warnings to Python's `warnings`, at the line of the caller outside this package."""
    level, frame = 2, sys._getframe(0).f_back
    while frame is not None and frame.f_globals.get('__package__') == __package__:
        frame, level = frame.f_back, level + 1
    for m in messages:
        if m.severity == 'warning':
            warnings.warn(Warning(m), stacklevel=level)


def error_of(lib, status, messages, result=None) -> Error:
    return _CLASS.get(status, Error)(_lib.text(lib.status_text(status)), tuple(messages), result)
