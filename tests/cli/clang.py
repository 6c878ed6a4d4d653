#!/usr/bin/env python3
"""clang reads every source of the program as gcc does: the fuzzers of docs/fuzzing.md are built by it.

    clang.py BUILD

BUILD has compile_commands.json. Exit code 77 where no clang is installed."""
import json
import os
import shlex
import shutil
import subprocess
import sys

SKIPPED = 77
SOURCES = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..', 'src')) + os.sep
AT_ONCE = 60    # sources in one call


def kept(arguments):
    """Where headers stand and what is defined; clang has names of its own for the rest."""
    out = []
    for i, a in enumerate(arguments):
        if a.startswith(('-I', '-D')) or (a.startswith('-isystem') and a != '-isystem'):
            out.append(a)
        elif i and arguments[i - 1] == '-isystem':
            out += ['-isystem', a]
    return tuple(out)


def main():
    clang = shutil.which('clang')
    if not clang:
        print('skipped: no clang (apt-get install clang)')
        return SKIPPED
    build = sys.argv[1]
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        commands = json.load(f)
    groups = {}
    for c in commands:
        path = os.path.realpath(os.path.join(build, c['file']))
        if path.startswith(SOURCES) and path.endswith('.c'):
            groups.setdefault(kept(shlex.split(c['command'])), set()).add(c['file'])
    total, failed = 0, 0
    for flags, files in groups.items():
        files = sorted(files)
        total += len(files)
        for at in range(0, len(files), AT_ONCE):
            run = subprocess.run([clang, '-fsyntax-only', '-Wno-everything', '-std=gnu11',
                                  '-Werror=implicit-function-declaration', *flags,
                                  *files[at:at + AT_ONCE]], cwd=build, capture_output=True, text=True)
            if run.returncode:
                failed += 1
                print(run.stderr)
    print(f'{total} sources read by {clang}, {failed} calls failed')
    return 1 if failed or not total else 0


sys.exit(main())
