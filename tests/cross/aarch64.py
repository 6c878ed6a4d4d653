#!/usr/bin/env python3
"""What depends on the processor, compiled for AArch64; the sandbox's list of system calls run there (qemu).

    aarch64.py SOURCE BUILD     exit code 77, and what is missing, without aarch64-linux-gnu-gcc or qemu-aarch64"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SOURCE, BUILD = (os.path.abspath(p) for p in sys.argv[1:])
CC = shutil.which('aarch64-linux-gnu-gcc')
QEMU = shutil.which('qemu-aarch64-static') or shutil.which('qemu-aarch64')
FLAGS = ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror']


def dependent():
    """Sources with a part for a processor, and the folders whose headers they may include."""
    found, folders = [], set()
    for folder, _, names in os.walk(os.path.join(SOURCE, 'src')):
        folders.add(folder)
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith('.c'):
                with open(path, encoding='utf-8') as f:
                    if re.search('__x86_64__|__aarch64__', f.read()):
                        found.append(path)
    for folder, _, names in os.walk(os.path.join(BUILD, 'src')):
        if any(name.endswith('.h') for name in names):
            folders.add(folder)
    return sorted(found), ['-I' + folder for folder in sorted(folders)]


def main():
    missing = [name for name, path in (('aarch64-linux-gnu-gcc', CC), ('qemu-aarch64-static', QEMU)) if not path]
    if missing:
        print('not here: ' + ', '.join(missing))
        return SKIPPED
    sources, include = dependent()
    bad = [] if len(sources) >= 5 else ['only %d sources have a part for a processor' % len(sources)]
    with tempfile.TemporaryDirectory() as tmp:
        for path in sources:
            done = subprocess.run([CC, *FLAGS, *include, '-I/usr/include/suitesparse', '-c', path, '-o', os.path.join(tmp, 'one.o')],
                                  capture_output=True, text=True)
            if done.returncode:
                bad.append(done.stderr)
        program = os.path.join(tmp, 'filter')
        done = subprocess.run([CC, *FLAGS, *include, '-static', os.path.join(SOURCE, 'tests/cross/filter.c'), '-o', program],
                              capture_output=True, text=True)
        if not done.returncode:
            done = subprocess.run([QEMU, program], capture_output=True, text=True, timeout=100)
            if '0xc00000b7' not in done.stdout:
                bad.append('not of AArch64: ' + done.stdout)
        if done.returncode:
            bad.append(done.stderr)
    print('%d sources for AArch64, %s' % (len(sources), done.stdout.strip()))
    print(*bad, sep='\n')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
