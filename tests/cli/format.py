#!/usr/bin/env python3
"""Sources stand as .clang-format says; no line of source or prose is longer than 100 columns, no row
of a table in prose longer than 110; a function of more than 60 lines says why (tools/long.py)."""
import glob
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
FORMATTER = os.path.join(os.environ.get('VSIM_PEERS', ''), 'bin', 'clang-format')
WIDTH = 100
TABLE = 110
SKIPPED = 77


sys.path.insert(0, os.path.join(ROOT, 'tools'))
import long as functions  # noqa: E402


def sources():
    found = []
    for pattern in ('src/*/*.[ch]', 'include/**/*.h', 'examples/*.c', 'examples/*.cc',
                    'tests/**/*.[ch]', 'bench/*.c'):
        found += glob.glob(os.path.join(ROOT, pattern), recursive=True)
    return sorted(os.path.relpath(f, ROOT) for f in found
                  if os.path.basename(f) != 'jit_ln_table.h')


def prose():
    found = glob.glob(os.path.join(ROOT, 'docs', '**', '*.md'), recursive=True)
    found += glob.glob(os.path.join(ROOT, '*.md')) + glob.glob(os.path.join(ROOT, 'bench', '*.md'))
    return sorted(os.path.relpath(f, ROOT) for f in found)


def too_long(files):
    """In prose a row of a table may have 110 columns; text that is shown as it is (output, formulas)
    may have any width."""
    for f in files:
        with open(os.path.join(ROOT, f), encoding='utf-8') as text:
            for n, line in enumerate(text, 1):
                row = f.endswith('.md') and line.startswith('|')
                shown = f.endswith('.md') and line.startswith('    ')
                if len(line.rstrip('\n')) > (TABLE if row else WIDTH) and not shown:
                    yield '%s:%d: %d columns' % (f, n, len(line) - 1)


def main():
    files = sources()
    assert len(files) > 200, 'the sources were not found'
    wrong = list(too_long(files + prose()))
    wrong += ['%s: %s has %d lines and gives no reason ("Long: ..." in its comment)' % (place, name, n)
              for f in functions.sources() for n, place, name, reason in functions.long_functions(f)
              if not reason]
    print('\n'.join(wrong))
    if not os.access(FORMATTER, os.X_OK):
        print('clang-format (tests/peers.txt) is not installed: only widths were checked')
        return 1 if wrong else SKIPPED
    done = subprocess.run([FORMATTER, '--dry-run', '--Werror', '--ferror-limit=1', *files],
                          cwd=ROOT, capture_output=True, text=True)
    print(done.stderr)
    if done.returncode:
        print('mend with: build/peers/bin/clang-format -i FILE')
    return 1 if wrong or done.returncode else 0


sys.exit(main())
