#!/usr/bin/env python3
"""Bad input: every file in a folder must give the messages and the exit code that stand beside it.

    run.py VSIM decks|va [NAME...]     with --write: print what the program says, to write a new .expect

NAME.expect: the exit code on the first line, then lines that must appear in the messages in this order
(a line must be contained in a line of the output). For `decks` vsim runs the deck, for `va` it compiles
the file. No case may take more than the limits of time and processor time, or end by a signal."""
import concurrent.futures
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 120
PROCESSOR_SECONDS = 20 # a reader that goes on after its last message reaches them


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


def command(vsim, kind, path, raw):
    if kind == 'va':
        return [vsim, 'compile', path]
    return [vsim, '--allow-native', '-r', raw, path]


def run(vsim, kind, name):
    folder = os.path.join(HERE, kind)
    with tempfile.TemporaryDirectory() as tmp:
        make = os.path.join(folder, os.path.splitext(name)[0] + '.py')
        path = name
        if os.path.exists(make):  # the input is too large or too odd to be kept: a script prints it
            path = os.path.join(tmp, name)
            with open(path, 'wb') as f:
                subprocess.run([sys.executable, make], stdout=f, check=True)
        try:
            done = subprocess.run(command(vsim, kind, path, os.path.join(tmp, 'out.raw')), cwd=folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=SECONDS, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return None, 'no end within %d s' % SECONDS
        return done.returncode, done.stderr.decode('utf-8', 'replace').replace(tmp + os.sep, '')


def judge(vsim, kind, name):
    code, text = run(vsim, kind, name)
    expect = os.path.join(HERE, kind, os.path.splitext(name)[0] + '.expect')
    with open(expect, encoding='utf-8') as f:
        want = f.read().split('\n')
    trouble = []
    if code != int(want[0]):
        trouble.append('exit code %s, expected %s' % (code, want[0]))
    lines = text.split('\n')
    at = 0
    for line in want[1:]:
        if not line.strip():
            continue
        while at < len(lines) and line.rstrip() not in lines[at]:
            at += 1
        if at == len(lines):
            trouble.append('missing: ' + line)
            break
        at += 1
    return name, trouble, text


def main():
    args = [a for a in sys.argv[1:] if a != '--write']
    vsim, kind, chosen = os.path.abspath(args[0]), args[1], args[2:]
    ending = '.va' if kind == 'va' else '.sp'
    names = sorted(os.path.splitext(n)[0] + ending for n in os.listdir(os.path.join(HERE, kind))
                   if n.endswith('.expect'))
    if chosen:
        names = chosen
    if '--write' in sys.argv:
        for name in names:
            print('== %s\n%s\n%s' % ((name,) + run(vsim, kind, name)))
        return
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, trouble, text in pool.map(lambda n: judge(vsim, kind, n), names):
            if trouble:
                failed += 1
                print('FAILED %s\n  %s\n  the program said:\n    %s' %
                      (name, '\n  '.join(trouble), text.replace('\n', '\n    ')[:3000]))
    print('%d of %d cases as expected' % (len(names) - failed, len(names)))
    sys.exit(1 if failed or not names else 0)


main()
