"""Decks in VACASK's language, from what `vsim check --dump=circuit` tells of them: no subcircuits, numbers for expressions.

text(flat, options) is the deck as VACASK reads it, or Untold says what VACASK is not told: elements and analyses that its
libraries do not have, or that are not translated here. `modules` names Verilog-A modules that it has besides."""
import re

# type of a SPICE model: its file, its module, the sign of its type; levels of MOSFETs below
MODELS = {
    'r': ('resistor', 'sp_resistor', None), 'c': ('capacitor', 'sp_capacitor', None), 'd': ('diode', 'sp_diode', None),
    'npn': ('bjt', 'sp_bjt', 1), 'pnp': ('bjt', 'sp_bjt', -1), 'njf': ('jfet1', 'sp_jfet1', 1),
    'pjf': ('jfet1', 'sp_jfet1', -1), 'nmf': ('mes1', 'sp_mes1', 1), 'pmf': ('mes1', 'sp_mes1', -1),
    'nmos': ('mos', 'sp_mos', 1), 'pmos': ('mos', 'sp_mos', -1),
}
LEVELS = {'1': '1', '2': '2', '3': '3', '6': '6', '9': '9'}
TERMINALS = {'d': (2, 2), 'q': (3, 5), 'm': (4, 4), 'j': (3, 3), 'z': (3, 3)}
WAVES = {
    'pulse': ('pulse', ('val0', 'val1', 'delay', 'rise', 'fall', 'width', 'period')),
    'sin': ('sine', ('sinedc', 'ampl', 'freq', 'delay', 'theta', 'sinephase')),
    'exp': ('exp', ('val0', 'val1', 'delay', 'tau1', 'td2', 'tau2')),
}
# Names of SPICE that VACASK's models spell in another way, and values that say nothing to them
SPELLED = {'sp_jfet1': {'vto': 'vt0'}, 'sp_mes1': {'vto': 'vt0'}, 'sp_bjt': {'va': 'vaf', 'vb': 'var', 'ik': 'ikf',
           'pe': 'vje', 'me': 'mje', 'pc': 'vjc', 'mc': 'mjc', 'ps': 'vjs', 'ms': 'mjs', 'c2': 'ise', 'ccs': 'cjs'},
           'sp_diode': {'pb': 'vj', 'm': 'm', 'cj': 'cjo'}}
NUMBER = r'[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?'


class Untold(Exception):
    pass


class Deck:
    def __init__(self, modules=None):
        self.modules = modules or {}  # type of a model: (library, module, names that it does not have)
        self.node = {'0': '0', 'gnd': '0'}
        self.load, self.model, self.body, self.ac = set(), {}, [], {}

    def nodes(self, names):
        """VACASK's names have no dots and brackets."""
        return ' '.join(self.node.setdefault(n, 'n%d' % len(self.node)) for n in names)

    def needs(self, name, module, path=None):
        self.model.setdefault(name, 'model %s %s' % (name, module))
        if path:
            self.load.add(path)


def own(name):
    return 'e_' + re.sub(r'\W', lambda c: '_%02x' % ord(c.group()), name)


def keys(words):
    """name=value pairs, values numbers; ic, off and the like have no part in what is asked here."""
    pairs = [w.split('=', 1) for w in words if '=' in w]
    for key, value in pairs:
        if not re.fullmatch(NUMBER + '(,%s)*' % NUMBER, value):
            raise Untold('an expression')
    return {key: value for key, value in pairs if key not in ('ic', 'off')}


def values(given):
    many = given.pop('m', None)
    text = ' '.join('%s=%s' % pair for pair in given.items())
    return text + (' $mfactor=' + many if many else '')


def model(deck, words):
    name, kind, given = words[1], words[2], keys(words[3:])
    if kind in deck.modules:
        path, module, unknown = deck.modules[kind]
        given = {key: value for key, value in given.items() if key not in unknown}
        deck.needs(own(name), '%s (%s)' % (module, values(given)), path)
        return
    if kind not in MODELS:
        raise Untold('model type ' + kind)
    path, module, sign = MODELS[kind]
    level = given.pop('level', '1')
    if kind in ('nmos', 'pmos'):
        if level not in LEVELS:
            raise Untold('level ' + level)
        path, module = path + LEVELS[level], module + LEVELS[level]
    elif level != '1':
        raise Untold('level ' + level)
    given = {SPELLED.get(module, {}).get(key, key): value for key, value in given.items()}
    deck.needs(own(name), '%s (%s%s)' % (module, 'type=%d ' % sign if sign else '', values(given)),
               'spice/%s.osdi' % path)


def source(deck, words):
    card = ' '.join(words[3:])
    given = []
    for word, key in (('dc', 'dc'), ('ac', 'mag')):
        found = re.search(r'(?:^| )%s (%s)' % (word, NUMBER), card)
        if found:
            given.append('%s=%s' % (key, found.group(1)))
    wave = re.search(r'(\w+)\(([^)]*)\)', card)
    if wave and wave.group(1) == 'pwl':
        given.append('type="pwl" wave=[%s]' % ', '.join(wave.group(2).split()))
    elif wave:
        if wave.group(1) not in WAVES:
            raise Untold('waveform ' + wave.group(1))
        kind, names = WAVES[wave.group(1)]
        wanted = wave.group(2).split()[:len(names)]
        args = dict(zip(names, (w if re.search(r'[.e]', w) else w + '.0' for w in wanted)))  # its integers have 32 bits
        given.append('type="%s" ' % kind + ' '.join('%s=%s' % pair for pair in args.items()))
    kind = 'vsource' if words[0].split('.')[-1][0] == 'v' else 'isource'
    deck.needs(kind, kind)
    deck.body.append('%s (%s) %s %s' % (own(words[0]), deck.nodes(words[1:3]), kind, ' '.join(given)))


def element(deck, words):
    letter = words[0].split('.')[-1][0]
    nodes = None
    if letter in 'vi':
        source(deck, words)
        return
    if letter in 'rc' and '=' not in words[3] and own(words[3]) in deck.model:
        nodes, master, rest = words[1:3], own(words[3]), values(keys(words[4:]))
    elif letter == 'n':
        plain = [w for w in words[1:] if '=' not in w]
        nodes, master, rest = plain[:-1], own(plain[-1]), values(keys(words[1:]))
    elif letter in 'rcl':
        kind, path = {'r': ('resistor', 'resistor'), 'c': ('capacitor', 'capacitor'), 'l': ('inductor', 'inductor')}[letter]
        given = keys(words[3:])
        if any('=' not in w for w in words[3:]) or set(given) - {'value', 'm', letter}:
            raise Untold('%s with a model or temperature' % letter)
        given[letter] = given.pop('value', given.get(letter))
        deck.needs(kind, 'sp_' + kind, 'spice/%s.osdi' % path)
        nodes, master, rest = words[1:3], kind, values(given)
    elif letter == 'k':
        coils = re.findall(r'<([^>]*)>', ' '.join(words))
        deck.needs('mutual', 'mutual')
        if len(coils) != 2:
            raise Untold('k of more than two')
        deck.body.append('%s () mutual %s ind1="%s" ind2="%s"' % (own(words[0]), values(
            {'k': keys(words)['value']}), own(coils[0]), own(coils[1])))
        return
    elif letter in 'eg':
        kind = {'e': 'vcvs', 'g': 'vccs'}[letter]
        given = keys(words[5:])
        if len(words) < 6 or any('=' in w for w in words[1:5]) or set(given) - {'gain', 'm'}:
            raise Untold('%s with an expression' % letter)
        deck.needs(kind, kind)
        nodes, master, rest = words[1:5], kind, values(given)
    elif letter in TERMINALS:
        plain = [w for w in words[1:] if '=' not in w and w != 'off']
        least, most = TERMINALS[letter]
        if not least <= len(plain) - 1 <= most or own(plain[-1]) not in deck.model:
            raise Untold('terminals of ' + letter)
        nodes, master, rest = plain[:-1], own(plain[-1]), values(keys(words[1:]))
    else:
        raise Untold('element ' + letter)
    deck.body.append('%s (%s) %s %s' % (own(words[0]), deck.nodes(nodes), master, rest))


def analysis(words, k, given):
    """A line of VACASK's control block; None: of another kind."""
    if words[0] == '.op':
        return 'analysis op%d op%s' % (k, given)
    if words[0] == '.tran':
        step, stop, limit = words[1], words[2], words[4]
        limit = ' maxstep=%s' % limit if float(limit) > 0 else ''
        return 'analysis tran%d tran step=%s stop=%s%s%s' % (k, step, stop, limit,
                                                             ' icmode="uic"' if 'uic' in words else '')
    if words[0] == '.ac':
        return 'analysis ac%d ac from=%s to=%s mode="%s" points=%s' % (k, words[3], words[4], words[1], words[2])
    found = re.match(r'\.dc (\S+) \((\d+) values from (\S+) to (\S+)\)$', ' '.join(words))
    if found and found.group(1)[0] in 'vi':
        name, n, first, last = found.groups()
        return ('sweep s%d instance="%s" parameter="dc" from=%s to=%s mode="lin" points=%d\n  analysis dc%d op'
                % (k, own(name), first, last, max(int(n) - 1, 1), k))
    return None


def saves(flat):
    """Nodes whose voltages .save names."""
    return re.findall(r'(?m)^\.save v\(([^)]*)\)$', flat)


def text(flat, options, modules=None, quiet=False, names=None):
    """flat: what `vsim check --dump=circuit` prints; options: of VACASK, as `reltol=1e-3`. quiet: of a transient only what
    .save names is stored. names: a dictionary that gets VACASK's name of each node."""
    deck, runs, hints, starts = Deck(modules), [], [], []
    lines = [line for line in flat.split('\n') if line and line[0] != '*']
    for line in lines:
        if line.startswith('.model '):
            model(deck, line.split())
    for line in lines:
        words = line.split()
        hint = re.match(r'\.(nodeset|ic) v\(([^)]*)\)=(\S+)', line)
        if hint:
            (hints if hint.group(1) == 'nodeset' else starts).append((hint.group(2), hint.group(3)))
        elif words[0] == '.temp':
            options += ' temp=' + words[1]
        elif line[0] not in '.@':
            element(deck, words)
    if names is not None:
        names.update(deck.node)
    given = ''.join(' %s={%s}' % (key, ', '.join('"%s", %s' % (deck.nodes([n]), v) for n, v in pairs))
                    for key, pairs in (('nodeset', hints),) if pairs)
    begin = ' ic={%s}' % ', '.join('"%s", %s' % (deck.nodes([n]), v) for n, v in starts) if starts else ''
    for line in lines:
        if line.startswith(('.op', '.tran ', '.ac ', '.dc ')):
            run = analysis(line.split(), len(runs), given)
            if run:
                runs.append(run + (begin if ' tran ' in run else ''))
    saved = ['save ' + ' '.join('v(%s)' % deck.nodes([n]) for n in saves(flat))] if quiet else []
    if not runs:
        raise Untold('no analysis that it has')
    return '\n'.join(['deck'] + ['load "%s"' % path for path in sorted(deck.load)] + ['ground 0'] +
                     list(deck.model.values()) + deck.body + ['control', 'abort always', 'options ' + options] + saved + runs +
                     ['endc', ''])
