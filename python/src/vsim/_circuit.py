"""Circuits: from text, from a file or from objects; their values, and runs of them."""
from __future__ import annotations

import ctypes
import os
from . import _lib
from ._errors import Error, Interrupted
from ._guard import HostSource, Trouble, Watch
from ._handle import Deck, Run, Sim
from ._netlist import Wave, element, node, number, pairs, source_words, word
from ._parts import Device, Model, Options, Params, Scope, alias
from ._result import Gradient, Result
from ._si import scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import (Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple,
                        Union)

    from ._equations import Equations
    from ._netlist import Value
    from ._sweep import Sweep
    Progress = Union[bool, Callable[[float], None], None]
    Node = Union[str, int]

_byref = ctypes.byref


class Circuit:
    """A circuit: a deck as text or file, or elements that are added one by one.

    text      a deck: its first line is the title, as in a file
    title     instead of text: the circuit begins empty
    params    values that win over .param cards of the top level
    include   folders for .include, .lib, .hdl
    define    Verilog-A macros, "NAME" or "NAME=text"
    models    folder of the standard models; None: those of the package
    cache     folder for compiled models; True: that of the command, False: none
    threads   that work for this circuit; 0: as the deck says, or one per processor
    interpret no machine code
    start_files  read .spiceinit
    memory    bytes that it may use; 0: no limit
    say       called with each line that a model prints ($strobe)

    >>> import vsim
    >>> ckt = vsim.Circuit(title="RC")
    >>> ckt.V("v1", "in", 0, 5)
    <v1>
    >>> ckt.R("r1", "in", "out", "1k"); ckt.R("r2", "out", 0, 4e3)
    <r1>
    <r2>
    >>> ckt.op()["v(out)"]
    4.0
    >>> ckt.r1
    <r1: resistor at in out>

    Devices and models are attributes (ckt.r1, ckt.nch) and items (ckt["x1.m2"]), and their
    parameters are attributes of them. Each circuit has a simulator of its own: circuits may be used
    in several threads at the same time, and compute there in parallel; one circuit works for one
    thread at a time. Copies (`copy`, `pickle`) have the present values."""

    def __init__(self, text: Optional[str] = None, *, title: Optional[str] = None,
                 params: Optional[Mapping[str, float]] = None,
                 include: Sequence[Union[str, os.PathLike]] = (), define: Sequence[str] = (),
                 models: Optional[str] = None, cache: Union[bool, str] = True, threads: int = 0,
                 interpret: bool = False, start_files: bool = False, memory: int = 0,
                 say: Optional[Callable[[str], None]] = None, _file: Optional[str] = None):
        if text is not None and title is not None:
            raise TypeError('a deck as text has its title on the first line: give one of the two')
        self._settings = dict(include=include, define=define, models=models, cache=cache,
                              threads=threads, interpret=interpret, start_files=start_files,
                              memory=memory, say=say)
        self._file, self._params = _file, dict(params or {})
        self._title, self._cards = _split(text if text is not None else (title or ''))
        self._sim: Optional[Sim] = None
        self._deck: Optional[Deck] = None
        self._changes: Dict[tuple, Any] = {}   # what was set, by what is set
        self._pending: Dict[tuple, Any] = {}   # since the circuit was built last: the values before
        self._hosts: Dict[str, HostSource] = {}
        self._tables: Dict[str, Any] = {}      # names that there are
        self._stale = True                     # something changed since: there may be others
        self._under_way = None
        self._end: Optional[Callable[[], bool]] = None
        #: the last run's result, also if it failed or was interrupted; None: there was none
        self.result: Optional[Result] = None

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike], **settings) -> Circuit:
        """A deck from a file; settings as of Circuit. Names in it count from its folder."""
        return cls(_file=os.fspath(path), **settings)

    # -- building --

    def text(self) -> str:
        """The deck, of a file its name; without the values that were set since."""
        if self._file:
            return '* %s\n.include "%s"\n.end\n' % (self._file, self._file)
        return '\n'.join([self._title, *self._cards, '.end', ''])

    def add(self, *cards: str) -> None:
        """Cards as text: ckt.add(".include models.lib", "xinv in out vdd 0 inv")."""
        if self._file:
            raise TypeError('a circuit from a file has the cards of the file; a text with '
                            '.include may have more')
        for card in cards:
            self._cards += str(card).splitlines()
        self._deck = None
        self._stale = True

    def _element(self, letter, name, words, params) -> Device:
        self.add(element(letter, name, words, params))
        return Device(self, str(name).lower())

    def R(self, name: str, p: Node, n: Node, value: Optional[Value] = None,
          model: Optional[str] = None, **params: Value) -> Device:
        """A resistor of `value` ohm; or of a model, with its w and l."""
        return self._passive('r', name, p, n, value, model, params)

    def C(self, name: str, p: Node, n: Node, value: Optional[Value] = None,
          model: Optional[str] = None, **params: Value) -> Device:
        """A capacitor of `value` farad; ic: its voltage at the start (uic)."""
        return self._passive('c', name, p, n, value, model, params)

    def L(self, name: str, p: Node, n: Node, value: Optional[Value] = None,
          model: Optional[str] = None, **params: Value) -> Device:
        """An inductor of `value` henry; ic: its current at the start (uic)."""
        return self._passive('l', name, p, n, value, model, params)

    def _passive(self, letter, name, p, n, value, model, params):
        words = [node(p), node(n)]
        words += [number(value)] if value is not None else []
        words += [word(model, 'the model')] if model else []
        return self._element(letter, name, words, params)

    def K(self, name: str, l1: str, l2: str, coupling: Value) -> Device:
        """Couples two inductors."""
        return self._element('k', name, [word(l1, 'a name'), word(l2, 'a name'), number(coupling)],
                             {})

    def V(self, name: str, p: Node, n: Node, dc: Optional[Value] = None, *,
          ac: Optional[Value] = None, phase: Value = 0,
          wave: Union[Wave, str, None] = None) -> Device:
        """A voltage source: dc in volt, ac amplitude in volt and phase in degrees, a waveform
        (vsim.pulse, vsim.sin, vsim.pwl, ..., or a card's text)."""
        return self._element('v', name, [node(p), node(n), *source_words(dc, ac, phase, wave)], {})

    def I(self, name: str, p: Node, n: Node, dc: Optional[Value] = None, *,  # noqa: E743
          ac: Optional[Value] = None, phase: Value = 0,
          wave: Union[Wave, str, None] = None) -> Device:
        """A current source: ampere from p through the source to n; else as V."""
        return self._element('i', name, [node(p), node(n), *source_words(dc, ac, phase, wave)], {})

    def E(self, name: str, p: Node, n: Node, cp: Node, cn: Node, gain: Value) -> Device:
        """A voltage source controlled by the voltage between cp and cn."""
        return self._element('e', name, [*map(node, (p, n, cp, cn)), number(gain)], {})

    def G(self, name: str, p: Node, n: Node, cp: Node, cn: Node, gain: Value) -> Device:
        """A current source controlled by a voltage; gain in siemens."""
        return self._element('g', name, [*map(node, (p, n, cp, cn)), number(gain)], {})

    def F(self, name: str, p: Node, n: Node, source: str, gain: Value) -> Device:
        """A current source controlled by the current of a voltage source."""
        return self._element('f', name, [node(p), node(n), word(source, 'a name'), number(gain)],
                             {})

    def H(self, name: str, p: Node, n: Node, source: str, gain: Value) -> Device:
        """A voltage source controlled by a current; gain in ohm."""
        return self._element('h', name, [node(p), node(n), word(source, 'a name'), number(gain)],
                             {})

    def B(self, name: str, p: Node, n: Node, *, v: Optional[str] = None,
          i: Optional[str] = None) -> Device:
        """A source whose voltage or current is an expression: B("b1", "a", 0, v="v(in)**2")."""
        if (v is None) == (i is None):
            raise TypeError('B needs one of v=... and i=...')
        what = 'v={%s}' % v if v is not None else 'i={%s}' % i
        return self._element('b', name, [node(p), node(n), what], {})

    def D(self, name: str, p: Node, n: Node, model: str, **params: Value) -> Device:
        """A diode."""
        return self._element('d', name, [node(p), node(n), word(model, 'the model')], params)

    def Q(self, name: str, c: Node, b: Node, e: Node, model: str, *more: Node,
          **params: Value) -> Device:
        """A bipolar transistor; `more`: substrate and thermal node."""
        return self._element('q', name, [*map(node, (c, b, e, *more)), word(model, 'the model')],
                             params)

    def M(self, name: str, d: Node, g: Node, s: Node, b: Node, model: str,
          **params: Value) -> Device:
        """A MOS transistor: M("m1", "d", "g", 0, 0, "nch", w=1e-6, l=0.13e-6)."""
        return self._element('m', name, [*map(node, (d, g, s, b)), word(model, 'the model')],
                             params)

    def J(self, name: str, d: Node, g: Node, s: Node, model: str, **params: Value) -> Device:
        """A junction field effect transistor."""
        return self._element('j', name, [*map(node, (d, g, s)), word(model, 'the model')], params)

    def N(self, name: str, nodes: Sequence[Node], model: str, **params: Value) -> Device:
        """An instance of a Verilog-A module."""
        return self._element('n', name, [*map(node, nodes), word(model, 'the model')], params)

    def T(self, name: str, p1: Node, n1: Node, p2: Node, n2: Node, *, z0: Value,
          td: Value) -> Device:
        """An ideal line of z0 ohm and td seconds."""
        return self._element('t', name, [*map(node, (p1, n1, p2, n2))], {'z0': z0, 'td': td})

    def X(self, name: str, nodes: Sequence[Node], subckt: str, **params: Value) -> None:
        """An instance of a subcircuit."""
        self.add(element('x', name, [*map(node, nodes), word(subckt, 'the subcircuit')], params))

    def model(self, name: str, kind: str, **params: Value) -> None:
        """A .model card: model("nch", "nmos", level=1, vto=0.5)."""
        self.add('.model %s %s (%s)' % (word(name, 'the name'), word(kind, 'the type'),
                                        ' '.join(pairs(params))))

    def include(self, path: Union[str, os.PathLike], section: Optional[str] = None) -> None:
        """A file with cards; of a library one section."""
        self.add('.lib "%s" %s' % (os.fspath(path), section) if section
                 else '.include "%s"' % os.fspath(path))

    def hdl(self, path: Union[str, os.PathLike]) -> None:
        """A Verilog-A file or a compiled OSDI library with models."""
        self.add('.hdl "%s"' % os.fspath(path))

    def param(self, **values: Value) -> None:
        """.param cards: param(r=1e3, c="{1/r}")."""
        for pair in pairs(values):
            self.add('.param ' + pair)

    # -- the deck in the simulator --

    def _read(self) -> Deck:
        if self._sim is None:
            self._sim = Sim(**self._settings)
        define = (_lib.Define * len(self._params))(
            *[_lib.Define(_lib.raw(k), float(v)) for k, v in self._params.items()])
        how = _lib.Read(size=ctypes.sizeof(_lib.Read), define=define, n_define=len(define))
        if self._file:
            path = _lib.raw(self._file)
            return Deck(self._sim, lambda lib, s, d: lib.deck_file(s, path, _byref(how), d))
        text = self.text().encode('utf-8', 'surrogateescape')
        return Deck(self._sim, lambda lib, s, d: lib.deck_text(s, b'circuit', text, len(text),
                                                               _byref(how), d))

    def _ready(self) -> Deck:
        """The deck with the present values; wrong ones are taken back and raise."""
        if self._deck is None:
            deck = self._read()
            for key, value in self._changes.items():
                self._tell(deck, key, value)
            for name, host in self._hosts.items():
                self._tell_host(deck, name, host)
            self._deck = deck
        if self._pending:
            pending, self._pending = self._pending, {}
            self._stale = True
            try:
                with self._deck.sim as lib:
                    self._deck.sim.check(lib.deck_build(self._deck.ptr))
            except Error:
                for key, value in pending.items():
                    if value is None:
                        del self._changes[key]
                    else:
                        self._changes[key] = value
                raise
        return self._deck

    def _tell(self, deck, key, value):
        function, *names = key
        with deck.sim as lib:
            if function == 'set_wave':
                array = (ctypes.c_double * len(value.arguments))(*value.arguments)
                st = lib.set_wave(deck.ptr, *names, _lib.raw(value.kind), array, len(array))
            elif function == 'set_options':
                st = lib.set_options(deck.ptr, names[0] + b'=' + _lib.raw(str(value)))
            elif function == 'set_sample':
                st = lib.set_sample(deck.ptr, *value)
            else:
                st = getattr(lib, function)(deck.ptr, *names, value)
            deck.sim.check(st)

    def _change(self, key, value):
        deck = self._deck or self._ready()
        self._tell(deck, key, value)
        self._pending.setdefault(key, self._changes.get(key))
        self._changes[key] = value

    def _tell_host(self, deck, name, host):
        with deck.sim as lib:
            struct = _byref(host.struct) if host else None
            deck.sim.check(lib.set_host_source(deck.ptr, _lib.raw(name), struct))

    def _set_host(self, name, host):
        self._tell_host(self._ready(), name, host)
        if host:
            self._hosts[name] = host
        else:
            self._hosts.pop(name, None)

    # -- what there is --

    def _records(self, kind, struct, of):
        """{name: of(record)} of the deck's records of a kind, "device" or "model"."""
        deck = self._ready()
        if self._stale:
            self._tables, self._stale = {}, False
        if kind not in self._tables:
            n, record, out = ctypes.c_size_t(), struct(), {}
            with deck.sim as lib:
                deck.sim.check(getattr(lib, kind + '_count')(deck.ptr, _byref(n)))
                for i in range(n.value):
                    deck.sim.check(getattr(lib, kind + '_at')(deck.ptr, i, _byref(record)))
                    out[_lib.text(record.name)] = of(record)
            self._tables[kind] = out
        return self._tables[kind]

    def _device_table(self) -> Dict[str, Tuple[str, str, Tuple[str, ...]]]:
        return self._records('device', _lib.Device, lambda d: (
            _lib.text(d.type), _lib.text(d.model),
            tuple(_lib.text(d.node[k]) for k in range(d.n_node))))

    def _model_table(self) -> Dict[str, str]:
        return self._records('model', _lib.Model, lambda m: _lib.text(m.type))

    @property
    def title(self) -> str:
        """The deck's title."""
        deck = self._ready()
        with deck.sim as lib:
            return _lib.text(lib.deck_title(deck.ptr))

    @property
    def devices(self) -> Dict[str, Device]:
        """All devices by their paths."""
        return {name: Device(self, name) for name in self._device_table()}

    @property
    def models(self) -> Dict[str, Model]:
        """The .model cards that are in use."""
        return {name: Model(self, name) for name in self._model_table()}

    @property
    def unknowns(self) -> List[str]:
        """Names of the equations' unknowns: nodes, branch currents, states inside devices."""
        deck = self._ready()
        n, u, out = ctypes.c_size_t(), _lib.Unknown(), []
        with deck.sim as lib:
            deck.sim.check(lib.unknown_count(deck.ptr, _byref(n)))
            for i in range(1, n.value + 1):
                deck.sim.check(lib.unknown_at(deck.ptr, i, _byref(u)))
                out.append(_lib.text(u.name))
        return out

    @property
    def params(self) -> Params:
        """Parameters of the top level: ckt.params.r = 2e3."""
        return Params(self)

    @property
    def options(self) -> Options:
        """Options: ckt.options.reltol = 1e-5."""
        return Options(self)

    @property
    def temp(self) -> float:
        """Temperature in degrees Celsius."""
        deck = self._ready()
        with deck.sim as lib:
            return lib.get_temp(deck.ptr)

    @temp.setter
    def temp(self, celsius: float) -> None:
        self._change(('set_temp',), float(celsius))

    def _look_up(self, name):
        name = name.lower()
        if name in self._tables.get('devices', ()):  # a device of before a change: it will be told
            return Device(self, name)
        devices = self._device_table()
        if name in devices:
            return Device(self, name)
        if name in self._model_table():
            return Model(self, name)
        if any(d.startswith(name + '.') for d in devices):
            return Scope(self, name)
        return None

    def __getattr__(self, name: str):
        if name.startswith('_'):
            raise AttributeError(name)
        found = self._look_up(name)
        if found is None:
            raise AttributeError('the circuit has no device and no model %r' % name)
        return found

    def __getitem__(self, name: str) -> Union[Device, Model, Scope]:
        found = self._look_up(name)
        if found is None:
            raise KeyError('the circuit has no device and no model %r' % name)
        return found

    def __setattr__(self, name, value):
        if name.startswith('_') or name in ('result', 'temp'):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError('values belong to devices, models, .params and .options: '
                                 'ckt.%s.PARAMETER = ...' % name)

    def __dir__(self):
        try:
            names = [*self._device_table(), *self._model_table()]
        except Error:
            names = []
        return [*super().__dir__(), *sorted({n.partition('.')[0] for n in names})]

    def _ipython_key_completions_(self):
        return [*self._device_table(), *self._model_table()]

    def __repr__(self) -> str:
        return '<Circuit %r>' % (self._file or self._title or 'without a title')

    # -- changes by name --

    def set(self, values: Optional[Mapping[str, float]] = None, **params: float) -> None:
        """Values by name, as sweeps have them:

        "r1.resistance", "m1.w", "x1.m2.l"   a parameter of a device
        "nch.vto"                            of a model
        "temp"                               degrees Celsius
        "option.reltol"                      an option
        "r"                                  a .param, else the main value of a device"""
        for name, value in {**(values or {}), **params}.items():
            self._change(self._key(name), value if name.startswith('option.') else float(value))

    def _key(self, name) -> tuple:
        name = name.lower()
        owner, _, part = name.rpartition('.')
        if name == 'temp':
            return ('set_temp',)
        if owner == 'option':
            return ('set_options', _lib.raw(part))
        if owner and owner in self._device_table():
            return ('set_device', _lib.raw(owner), _lib.raw(alias(owner, part)))
        if owner and owner in self._model_table():
            return ('set_model', _lib.raw(owner), _lib.raw(part))
        if not owner and name in self._device_table() and name not in self.params:
            return ('set_device', _lib.raw(name), b'')
        if owner:
            raise KeyError('the circuit has no device and no model %r, of %r' % (owner, name))
        return ('set_param', _lib.raw(name))

    def sample(self, number: int, seed: int = 1) -> None:
        """Statistical functions of the deck (gauss, agauss, ...) draw for this sample: 0, 1, ..."""
        self._change(('set_sample',), (int(seed), int(number)))

    def reset(self) -> None:
        """The values of the deck again. Options and functions of sources stay."""
        deck = self._ready()
        with deck.sim as lib:
            deck.sim.check(lib.reset(deck.ptr))
        self._changes = {k: v for k, v in self._changes.items() if k[0] == 'set_options'}
        self._stale = True

    def copy(self) -> Circuit:
        """Another circuit with the same text and the present values, and a simulator of its own:
        it can be used in another thread."""
        return _restored(*self.__reduce__()[1])

    __copy__ = copy

    def __reduce__(self):
        return _restored, (self._title, self._cards, self._file, self._params, self._settings,
                           self._changes, {n: (h.value, h.events) for n, h in self._hosts.items()})

    # -- runs --

    def _begin(self, make, watch) -> Run:
        deck, ptr = self._ready(), ctypes.c_void_p()
        options = _byref(watch.options) if watch else None
        with deck.sim as lib:
            deck.sim.check(make(lib, deck.ptr, options, _byref(ptr)))
        return Run(deck, ptr.value, watch)

    def _go(self, run, result, trouble, step) -> int:
        """A piece of a run: step(lib, pointer). What was raised in callbacks is raised here."""
        sim = run.sim
        for h in self._hosts.values():
            h.trouble.error = None
        self.result = result
        with sim as lib:
            status = step(lib, run.ptr)
            raised = [t.error for t in (trouble, *(h.trouble for h in self._hosts.values()))
                      if t is not None and t.error is not None]
            if not raised:
                sim.check(status, result)
        if raised:
            result.stopped = True
            if isinstance(raised[0], KeyboardInterrupt):
                raise Interrupted(result) from None
            raise raised[0]
        if status == _lib.STOP:
            result.stopped = True
        return status

    def _run(self, kind, make, keep=None, progress: Progress = None, sweeps=()) -> Result:
        if kind == 'op' and keep is None and self._end is None:  # too short to be interrupted
            run = self._begin(make, None)
            result = Result(run, kind)
            self._go(run, result, None, _whole)
            return result
        trouble = Trouble()
        with _Reporter(progress, kind) as report:
            run = self._begin(make, Watch(trouble, report, self._end, keep))
            result = Result(run, kind, sweeps=sweeps)
            self._go(run, result, trouble, _whole)
        return result

    def _analysis(self, kind, keep=None, progress=None, sweeps=(), **fields) -> Result:
        return self._run(kind, _make(kind, **fields), keep, progress, sweeps)

    def run(self, card: Optional[str] = None, *, keep: Optional[Sequence[str]] = None,
            progress: Progress = None) -> Union[Result, List[Result]]:
        """An analysis as a card has it: run("tran 1n 1u"). Without a card: all analyses of the
        deck, as a list."""
        if card is None:
            return [self._run(kind, lambda lib, d, o, r, i=i: lib.run_deck_card(d, i, o, r), keep,
                              progress) for i, kind in enumerate(self._deck_kinds())]
        text = card.strip().lstrip('.')
        kind = text.split(None, 1)[0].lower() if text else ''
        kind = _lib.CARDS.get(kind, kind)
        if kind not in _lib.KINDS:
            raise ValueError('%r is no analysis; these are: %s'
                             % (kind, ', '.join([*_lib.KINDS, *_lib.CARDS])))
        raw = _lib.raw(text)
        return self._run(kind, lambda lib, d, o, r: lib.run_card(d, raw, o, r), keep, progress)

    def _first_of_deck(self):
        kinds = self._deck_kinds()
        if not kinds:
            raise ValueError('the deck has no analysis: say what to do at each point')
        return self._run(kinds[0], lambda lib, d, o, r: lib.run_deck_card(d, 0, o, r))

    def _deck_kinds(self):
        deck = self._ready()
        with deck.sim as lib:
            return [_lib.KINDS[lib.deck_card_kind(deck.ptr, i)]
                    for i in range(lib.deck_card_count(deck.ptr))]

    def op(self, *, keep: Optional[Sequence[str]] = None) -> Result:
        """The operating point: node voltages and currents as numbers.

        keep   names of vectors: "v(out)", "i(v1)", "@m1[gm]"; None: what the deck saves, without
               .save all voltages and currents of sources. (The same of every analysis.)"""
        return self._run('op', _make_op, keep)

    def dc(self, sweep: Optional[Mapping[str, Iterable[float]]] = None, *,
           keep: Optional[Sequence[str]] = None, progress: Progress = None,
           **more: Iterable[float]) -> Result:
        """Operating points over values: dc(v1=[0, 1, 2]), dc({"m1.w": widths, "temp": [27, 85]}).
        Up to four; the first varies fastest."""
        named = {**(sweep or {}), **more}
        if not 1 <= len(named) <= 4:
            raise ValueError('a dc analysis has 1 to 4 sweeps')
        swept = (_lib.DcSweep * 4)()
        lists = []
        for k, (name, values) in enumerate(named.items()):
            values = [float(v) for v in values]
            lists.append((name, values))
            array = (ctypes.c_double * len(values))(*values)
            swept[k] = _lib.DcSweep(_lib.raw(self._dc_name(name)), array, len(values))
        return self._analysis('dc', keep, progress, lists, sweep=swept, n_sweep=len(named))

    def _dc_name(self, name):
        owner, _, part = name.rpartition('.')
        if owner.lower() in self._device_table():
            part = alias(owner.lower(), part)
            return '%s[%s]' % (owner, part) if part else owner
        return name

    def tran(self, stop: float, step: Optional[float] = None, start: float = 0.0,
             max_step: float = 0.0, uic: bool = False, *, keep: Optional[Sequence[str]] = None,
             progress: Progress = None) -> Result:
        """A transient; times in seconds.

        stop      its end
        step      as .tran has it; None: a 50th of the whole
        start     points before it are computed and not kept
        max_step  the longest step; 0: the smaller of `step` and a 50th of the whole
        uic       no operating point: initial conditions of the elements
        progress  True: a bar (tqdm, if it is installed); a function: called with 0 to 1"""
        return self._analysis('tran', keep, progress,
                              **_tran_fields(stop, step, start, max_step, uic))

    def begin_tran(self, stop: float, step: Optional[float] = None, start: float = 0.0,
                   max_step: float = 0.0, uic: bool = False, *,
                   keep: Optional[Sequence[str]] = None,
                   restart: Union[str, os.PathLike, None] = None) -> Transient:
        """A transient that is run in pieces: see Transient.

        restart  a file that Transient.checkpoint wrote, in any process: the same transient of the
                 same circuit goes on from there, with the points so far"""
        trouble = Trouble()
        run = self._begin(_make('tran', **_tran_fields(stop, step, start, max_step, uic)),
                          Watch(trouble, None, self._end, keep))
        run.ended = False
        tran = Transient(self, run, trouble)
        if restart is not None:
            path = _lib.raw(os.fspath(restart))
            tran._piece(lambda lib, r: lib.run_restart(r, path))
        return tran

    def ac(self, start: float, stop: float, points: int = 20, grid: str = 'dec', *,
           keep: Optional[Sequence[str]] = None, progress: Progress = None) -> Result:
        """Small signals from `start` to `stop` hertz, complex; `points` a decade ("dec"), an octave
        ("oct") or in all ("lin")."""
        return self._analysis('ac', keep, progress, **_grid(start, stop, points, grid))

    def noise(self, output: str, source: str, start: float, stop: float, points: int = 20,
              grid: str = 'dec', summary: int = 0, *, keep: Optional[Sequence[str]] = None,
              progress: Progress = None) -> Result:
        """Noise at `output` ("v(out)", "v(a,b)", "i(v1)") and referred to `source`: densities
        `onoise_spectrum` and `inoise_spectrum` in V/sqrt(Hz), and `onoise_total`, `inoise_total`.
        summary: parts of all devices at each summary-th frequency."""
        return self._analysis('noise', keep, progress, out=_lib.raw(output),
                              source=_lib.raw(source), summary=summary,
                              **_grid(start, stop, points, grid))

    def tf(self, output: str, source: str) -> Result:
        """Gain from a source to an output, and both resistances in ohm."""
        return self._analysis('tf', out=_lib.raw(output), source=_lib.raw(source))

    def sens(self, output: str, start: Optional[float] = None, stop: Optional[float] = None,
             points: int = 10, grid: str = 'dec', *, progress: Progress = None) -> Result:
        """Derivatives of an output by the parameters of all devices; of the operating point, or
        over frequencies."""
        more = {} if start is None else _grid(start, stop, points, grid)
        return self._analysis('sens', None, progress, out=_lib.raw(output), **more)

    def gradient(self, measures: Union[str, Sequence[str]], by: Union[str, Sequence[str]], *,
                 of: str = 'tran', memory: Optional[int] = None, progress: Progress = None
                 ) -> Union[Gradient, Dict[str, Gradient]]:
        """Measures of the deck's transient and their derivatives by parameters, from one run of the
        transient and one way back through it, however many parameters there are; or of its .ac or
        .noise, its operating point or its .dc.

        measures  the name of a .meas card, or several names
        of        'tran', 'ac', 'noise', 'op' or 'dc': what the measures are of
        by        what .step takes: "wn" (a .param), "r1", "@m1[w]", "nch(vto)", "temp"; one or
                  several
        memory    bytes for the steps of the run (256 MB if not given); longer runs are computed
                  again in parts, to the same bits

        A Gradient for a name, {name: Gradient} for several.

        >>> rc = Circuit('''rc
        ... v1 in 0 pulse(0 1 0 1n)
        ... r1 in out 1k
        ... c1 out 0 1n
        ... .tran 10n 5u
        ... .meas tran half when v(out)=0.5
        ... ''')
        >>> g = rc.gradient('half', ['r1', 'c1'])
        >>> '%.2g s, %.2g s/ohm, %.2g s/F' % (g.value, g.by['r1'], g.by['c1'])
        '6.9e-07 s, 6.9e-10 s/ohm, 6.9e+02 s/F'
        """
        names = [measures] if isinstance(measures, str) else list(measures)
        words = [by] if isinstance(by, str) else list(by)
        if of not in ('tran', 'ac', 'noise', 'op', 'dc'):
            raise ValueError("of is 'tran', 'ac', 'noise', 'op' or 'dc', not %r" % (of,))
        card = '%s %s param=%s' % (of, ' '.join(names), ' '.join(words))
        if memory is not None:
            card += ' memory=%d' % memory
        plots = {p.title: p for p in self.sens(card, progress=progress).plots}
        found = {}
        for name in names:
            plot = plots['Gradient of ' + name.lower()]
            found[name] = Gradient(scalar(plot[name.lower()]),
                                   {word: scalar(plot[word.lower()]) for word in words})
        return found[measures] if isinstance(measures, str) else found

    def pz(self, source: Tuple[Node, Node], output: Tuple[Node, Node], *, current: bool = False,
           poles: bool = True, zeros: bool = True) -> Result:
        """Poles and zeros in rad/s, from a pair of nodes to another; current: the transfer
        function is output voltage by input current."""
        into = (ctypes.c_char_p * 2)(*[_lib.raw(node(x)) for x in source])
        return self._analysis('pz', into=into, out=_lib.raw('v(%s,%s)' % tuple(map(node, output))),
                              current_input=current, no_poles=not poles, no_zeros=not zeros)

    def sp(self, start: float, stop: float, points: int = 20, grid: str = 'dec',
           noise: bool = False, *, progress: Progress = None) -> Result:
        """S parameters between the ports of the deck: `S_1_1`, ..."""
        return self._analysis('sp', None, progress, noise=noise,
                              **_grid(start, stop, points, grid))

    def equations(self, x: Optional[Sequence[float]] = None) -> Equations:
        """Residual and Jacobian at x (the values of `unknowns`), or at the operating point."""
        from ._equations import at
        return at(self, x)

    # -- many runs --

    def sweep(self, points, do='op', get=None, *, jobs: int = 1, keep_results: bool = False,
              progress: Progress = None) -> Sweep:
        """Runs at many points, by `jobs` threads (0: one a processor), each with a copy.

        points  {"r1.resistance": [1e3, 2e3], "temp": [27, 85]}: all combinations, the last varies
                fastest; or a list of points, each {name: value}. Names as of `set`.
        do      a card ("tran 1n 1u") or a function of the circuit that runs what it wants, and
                gives a Result, a number or {name: number}
        get     {name: what} of the Result: a vector (its last value), a measure (a text with
                blanks), a function of it; None: the deck's measures, without them its numbers

        The circuit itself stays as it is. A point whose run fails has nan and its exception in
        `errors`."""
        from ._sweep import sweep
        return sweep(self, points, do, get, jobs, keep_results, progress)

    def monte_carlo(self, samples: Union[int, Iterable[int]], do='op', get=None, *, seed: int = 1,
                    jobs: int = 1, keep_results: bool = False,
                    progress: Progress = None) -> Sweep:
        """Samples of the deck's statistical functions (gauss, agauss, unif, ...): their number, or
        which. Sample k of a seed is the same for any number of samples and jobs; else as sweep."""
        from ._sweep import monte_carlo
        return monte_carlo(self, samples, do, get, seed, jobs, keep_results, progress)

    def family(self, do=None, get=None, *, jobs: int = 1, keep_results: bool = False,
               progress: Progress = None) -> Sweep:
        """The points of the deck's .step and .mc cards; do: None: the deck's first analysis."""
        from ._sweep import family
        return family(self, do, get, jobs, keep_results, progress)


class Transient:
    """A transient in pieces: `until` and `finish` go on with it, `result` has its points.

    >>> import vsim
    >>> ckt = vsim.Circuit("rc\\nv1 in 0 1\\nr1 in out 1k\\nc1 out 0 1n ic=0")
    >>> tran = ckt.begin_tran(5e-6, uic=True)
    >>> tran.until(1e-6), tran.time >= 1e-6, len(tran.result["v(out)"]) > 2
    (True, True, True)
    >>> tran.finish()
    >>> tran.time
    5e-06

    The points are those of the whole run to the last bit. While it is under way the circuit's
    values stay those of its beginning, and arrays of `result` are copies."""

    def __init__(self, circuit, run, trouble):
        self._circuit, self._run, self._trouble = circuit, run, trouble
        self.result = Result(run, 'tran')

    def _piece(self, step):
        try:
            status = self._circuit._go(self._run, self.result, self._trouble, step)
        except BaseException:
            self._run.ended = True
            raise
        self._run.ended = status != _lib.PAUSED
        return not self._run.ended

    def until(self, time: float) -> bool:
        """To the first point at or behind `time` (s). False: the transient's end came first."""
        return self._piece(lambda lib, r: lib.run_until(r, float(time)))

    def finish(self) -> None:
        """To the end."""
        self._piece(_whole)

    def checkpoint(self, path: Union[str, os.PathLike]) -> None:
        """Writes a file from which `begin_tran(..., restart=path)` goes on to the same points, bit
        by bit, in any process. The transient stays where it is: go on with it, or not."""
        path = _lib.raw(os.fspath(path))
        with self._run.sim as lib:
            self._run.sim.check(lib.run_checkpoint(self._run.ptr, path))

    def stop(self) -> None:
        """Ends it here; the points stay."""
        with self._run.sim as lib:
            self._run.sim.check(lib.run_stop(self._run.ptr))
        self._run.ended = self.result.stopped = True

    @property
    def time(self) -> float:
        """Of the last point, in seconds."""
        with self._run.sim as lib:
            return lib.run_axis(self._run.ptr)


def _make_op(lib, deck, options, run):
    return lib.run_card(deck, b'op', options, run)


def _whole(lib, run):
    return lib.run_go(run)


def _make(kind, **fields):
    a = _lib.Analysis(size=ctypes.sizeof(_lib.Analysis), kind=_lib.KINDS.index(kind))
    for name, value in fields.items():
        setattr(a, name, value)
    return lambda lib, deck, options, run: lib.run_analysis(deck, _byref(a), options, run)


def _tran_fields(stop, step, start, max_step, uic):
    return {'tstop': stop, 'tstart': start, 'tmax': max_step, 'uic': uic,
            'tstep': (stop - start) / 50 if step is None else step}


def _grid(start, stop, points, grid):
    if grid not in _lib.GRIDS:
        raise ValueError('%r is no grid; dec, oct and lin are' % (grid,))
    return {'grid': _lib.GRIDS[grid], 'n_freq': points, 'f_from': start, 'f_to': stop}


def _split(text):
    """Title and cards, up to .end."""
    lines = text.splitlines()
    cards = []
    for line in lines[1:]:
        if line.strip().lower() == '.end':
            break
        cards.append(line)
    return (lines[0] if lines else ''), cards


def _restored(title, cards, file, params, settings, changes, hosts):
    c = Circuit(title=title, params=params, _file=file, **settings)
    c._cards, c._changes = list(cards), dict(changes)
    c._hosts = {name: HostSource(*of) for name, of in hosts.items()}
    return c


class _Reporter:
    """What `progress` of a run means: a bar, a function, nothing."""

    def __init__(self, progress, what):
        self.progress, self.what, self.bar = progress, what, None

    def __enter__(self):
        if self.progress is None or self.progress is False:
            return None
        if self.progress is not True:
            return self.progress
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        self.bar = tqdm(total=1.0, desc=self.what, bar_format='{desc} {percentage:3.0f}%|{bar}| '
                        '{elapsed}<{remaining}')
        return self._move

    def _move(self, fraction):
        self.bar.update(fraction - self.bar.n)

    def __exit__(self, kind, *rest):
        if self.bar is not None:
            if kind is None:
                self._move(1.0)
            self.bar.close()
