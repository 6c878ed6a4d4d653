#!/usr/bin/env python3
"""Functions of more than 60 lines whose comment gives no reason.   tools/long.py [--all] [FILE...]

Lines are counted from the one after `{` to the one before `}`. A reason is a sentence in the comment
above the function that begins with "Long:".  --all: also those with a reason. As .clang-format has
it, the brace of a function stands alone in the first column. Exit status 1 if there is any."""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
MOST = 60


def functions(text):
    """(line of the name, name, lines of the body, the comment above) of each function."""
    lines = text.split('\n')
    begin = None
    for n, line in enumerate(lines):
        if line == '{':
            begin = n
        elif line == '}' and begin is not None:
            head = begin - 1
            while head > 0 and lines[head - 1] and not lines[head - 1].endswith((';', '}', '*/')) \
                    and not lines[head - 1].startswith('#'):
                head -= 1
            name = re.search(r'(\w+)\s*\(', ' '.join(lines[head:begin]))
            first = head
            if lines[head - 1].endswith('*/'):
                first = head - 1
                while not lines[first].lstrip().startswith('/*'):
                    first -= 1
            yield head + 1, name.group(1) if name else '?', n - begin - 1, '\n'.join(lines[first:head])
            begin = None


def long_functions(path):
    with open(path, encoding='utf-8') as f:
        for line, name, n, comment in functions(f.read()):
            if n > MOST:
                yield n, '%s:%d' % (os.path.relpath(path, ROOT), line), name, 'Long:' in comment


def sources():
    return sorted(glob.glob(os.path.join(ROOT, 'src', '*', '*.[ch]')))


def main(args):
    every = '--all' in args
    files = [a for a in args if a != '--all'] or sources()
    found = [f for path in files for f in long_functions(path) if every or not f[3]]
    for n, place, name, reason in sorted(found, reverse=True):
        print('%s: %s has %d lines%s' % (place, name, n, ', with a reason' if reason else ''))
    return 1 if any(not f[3] for f in found) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
