#!/usr/bin/env python3
"""Each row of the tables of docs/ngspice-compatibility.md that shows a message: vsim gives it, with its place.

    compat.py VSIM

Each row of the table of sections that says "refused" names a card or command of those tables. A row is a card of a small deck, or a command of its .control block if its table has that head."""
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
.model prog d_cosim(simulation="prog")
.model own d_process(process_file="/bin/true")
.model nogm gian(gain=2)
.model j3 njf level=3
.model z7 nmf level=7
.model m44 nmos level=44
.model m68 nmos level=68
.model numd1 numd level=1
.model rsoa r r=1k vgs_max=5
.model orl ltra r=1 l=1n len=1
.model pline cpl r=10 0 10 l=300n 60n 310n c=100p -20p 105p len=1
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


def sections_without_proof(text, cases):
    shown = {line for _, line, _ in cases}
    bad = []
    for line in text.split('\n'):
        cells = line.split(' | ')
        if len(cells) == 4 and cells[2] == 'refused' and not shown & set(re.findall('`(.+?)`', cells[3])):
            bad.append(line)
    return bad


def main():
    vsim = os.path.abspath(sys.argv[1])
    doc = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'ngspice-compatibility.md')
    with open(doc, encoding='utf-8') as f:
        text = f.read()
    cases = list(rows(text))
    failed = 0
    for line in sections_without_proof(text, cases):
        failed += 1
        print('no card shows that this is refused: ' + line)
    with tempfile.TemporaryDirectory() as folder:
        for kind, line, message in cases:
            with open(os.path.join(folder, 'deck.sp'), 'w') as f:
                f.write(DECK + (line if kind == 'card' else '.control\nop\n%s\n.endc' % line) + '\n.end\n')
            done = subprocess.run([vsim, '--no-output', 'deck.sp'], cwd=folder, timeout=300, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace')
            if message not in done.stderr or done.returncode < 0:
                failed += 1
                print('%s: exit code %d, "%s" is not in\n%s' % (line, done.returncode, message, done.stderr))
    print('%d of %d messages are as the documentation says' % (len(cases) - failed, len(cases)))
    return 1 if failed or len(cases) < 80 else 0


if __name__ == '__main__':
    sys.exit(main())
