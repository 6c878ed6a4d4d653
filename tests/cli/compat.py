#!/usr/bin/env python3
"""Each row of the tables of docs/ngspice-compatibility.md that shows a message: vsim gives it, with its place.

    compat.py VSIM

A row is a card of a small deck, or a command of its .control block if its table has that head."""
import os
import re
import subprocess
import sys
import tempfile

ROW = re.compile(r'^\| `(.+?)` \| `(.+?)` \|$')
DECK = """refused
V9 a 0 1
R9 a b 1k
R8 b c 1k
R7 c 0 1k
.model m14 nmos level=14
.model q6 npn level=6
.model j2 njf level=2
.model z5 nmf level=5
.op
"""


def rows(text):
    kind = None
    for line in text.split('\n'):
        if re.match(r'^\| (card|command) \| message \|$', line):
            kind = line.split()[1]
        elif not line.startswith('|'):
            kind = None
        m = ROW.match(line)
        if kind and m:
            yield kind, m.group(1), m.group(2)


def main():
    vsim = os.path.abspath(sys.argv[1])
    doc = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'ngspice-compatibility.md')
    with open(doc, encoding='utf-8') as f:
        cases = list(rows(f.read()))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, line, message in cases:
            with open(os.path.join(folder, 'deck.sp'), 'w') as f:
                f.write(DECK + (line if kind == 'card' else '.control\nop\n%s\n.endc' % line) + '\n.end\n')
            done = subprocess.run([vsim, '--no-output', 'deck.sp'], cwd=folder, timeout=60, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace')
            if message not in done.stderr or done.returncode < 0:
                failed += 1
                print('%s: exit code %d, "%s" is not in\n%s' % (line, done.returncode, message, done.stderr))
    print('%d of %d messages are as the documentation says' % (len(cases) - failed, len(cases)))
    return 1 if failed or len(cases) < 80 else 0


if __name__ == '__main__':
    sys.exit(main())
