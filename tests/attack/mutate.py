"""Mutations: of text (decks, blocks, Verilog-A), of bytes (raw files, caches), of journals."""
import re

ODD = ['{', '}', '(', ')', "'", '"', '\n', '\n+', '=', ',', '*', '-', '1e999', '-1', '0', 'nan', 'inf',
       '1e-320', '1e300', '-1e300', '2147483648', '9999999999999999999', '\\', '$', ';', '[', ']', '.',
       '**', '?', ':', '\xff', '\t', '`', '@', '#', '<', 'm=0', 'm=-1', '1e-15', '1t', '0.0', '\0', '.end\n']
LETTER = 'rclvidqmjxbegftswa'


def _words(text):
    return [(m.start(), m.end()) for m in re.finditer(r'[A-Za-z_0-9.$@#+-]+', text)]


def number(draw):
    """A number that someone could write, or should not."""
    kind = draw.randrange(6)
    if kind == 0:
        return draw.choice(['0', '-0', '1', '-1', '1e-300', '1e300', '1e308', '5e-324', 'nan', 'inf'])
    if kind == 1:
        return repr(draw.uniform(-10, 10))
    return '%.3g%s' % (draw.uniform(0.1, 999), draw.choice(['', 'k', 'meg', 'u', 'n', 'p', 'm', 'f', 'g']))


def text(draw, seeds, n=None):
    """One of the seeds, changed in 1 to 8 places; parts of the others join it."""
    s = draw.choice(seeds)
    for _ in range(n or draw.choice([1, 1, 2, 3, 5, 8])):
        words = _words(s)
        lines = s.split('\n')
        kind = draw.randrange(10)
        at = draw.randrange(len(s) + 1)
        if kind <= 1 and words:                         # a number elsewhere
            a, b = draw.choice(words)
            s = s[:a] + number(draw) + s[b:]
        elif kind == 2 and words:                       # a word for another
            a, b = draw.choice(words)
            c, d = draw.choice(words)
            s = s[:a] + s[c:d] + s[b:]
        elif kind == 3:                                 # a line twice, elsewhere
            lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
            s = '\n'.join(lines)
        elif kind == 4 and len(lines) > 1:              # a line less
            del lines[draw.randrange(len(lines))]
            s = '\n'.join(lines)
        elif kind == 5:                                 # a line of another seed
            lines.insert(draw.randrange(len(lines) + 1), draw.choice(draw.choice(seeds).split('\n')))
            s = '\n'.join(lines)
        elif kind == 6:
            s = s[:at] + draw.choice(ODD) + s[at:]
        elif kind == 7:
            s = s[:at] + s[at + draw.choice([1, 1, 2, 10, 100]):]
        elif kind == 8 and at < len(s):
            s = s[:at] + chr(ord(s[at]) ^ 1 << draw.randrange(7)) + s[at + 1:]
        else:                                           # two lines change places
            i, k = draw.randrange(len(lines)), draw.randrange(len(lines))
            lines[i], lines[k] = lines[k], lines[i]
            s = '\n'.join(lines)
    return s[:20000]


def tame(s):
    """Names that lead out of the folder are made harmless, as in tests/fuzz/fuzz.c."""
    s = re.sub(r'(?<![A-Za-z0-9)/])/', '*', s)
    return s.replace('~', '*').replace('..', '.*')


def data(draw, s, n=None):
    """Bytes: flipped, set, cut out, doubled, cut off."""
    s = bytearray(s)
    for _ in range(n or draw.choice([1, 1, 2, 4])):
        if not s:
            break
        at = draw.randrange(len(s))
        kind = draw.randrange(6)
        if kind == 0:
            s[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            s[at] = draw.randrange(256)
        elif kind == 2:
            del s[at:at + draw.choice([1, 8, 100, 5000])]
        elif kind == 3:
            s[at:at] = s[at:at + draw.choice([1, 8, 100])]
        elif kind == 4:
            del s[at:]
        else:
            s[at:at + 8] = bytes(draw.choice([0, 255, 127]) for _ in range(8))
    return bytes(s)


def seal(lines):
    """Lines of a journal, each with the sum of all lines up to it (FNV-1a)."""
    chain, out = 0xcbf29ce484222325, []
    for line in lines:
        for c in line:
            chain = (chain ^ c) * 0x100000001b3 % 2**64
        out.append(line + b'\t#%016x\n' % chain)
    return b''.join(out)


def journal(draw, s):
    """Damage that the sums of lines show, or, one time in two, a change with sums that fit."""
    if draw.randrange(2):
        return data(draw, s)
    lines = [re.sub(rb'\t#[0-9a-f]{16}$', b'', line) for line in s.split(b'\n')[:-1]]
    changed = text(draw, [b'\n'.join(lines).decode('latin-1')], draw.choice([1, 2]))
    return seal(changed.encode('latin-1', 'replace').split(b'\n'))
