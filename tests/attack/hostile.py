#!/usr/bin/env python3
"""Decks of a stranger, tests/attack/hostile/*.sp, run with default switches (SECURITY.md).

    hostile.py VSIM [--sandbox] [NAME...]

Each stands in a folder of its own in somebody's home, with pipes, links that lead out and a library whose code would
run as soon as it is opened. None may change a file outside of that folder, nor in it what it came with or one whose
name begins with a dot; start a program, or run native code; wait for a pipe; take more processor time, memory or disk
than its limits; end by a signal or a report of a sanitizer, or fail without a message."""
import argparse
import glob
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile

import attack

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'hostile')
SANITIZED = bool(os.environ.get('ASAN_OPTIONS') or os.environ.get('VSIM_SANITIZED'))
CPU, WALL, MEMORY, FILE = (200, 900, 0, 64 << 20) if SANITIZED else (20, 300, 4 << 30, 64 << 20)
EVIL = '#include <stdio.h>\n__attribute__((constructor)) static void run(void)\n' \
       '{ FILE *f = fopen("../victim/NATIVE", "w"); if (f) fclose(f); }\n'
PROGRAMS = 'touch', 'sh', 'bash', 'gnuplot', 'cat', 'mail', 'xdg-open'


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    if MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)


def compiled(folder):
    """The library, or None where no compiler is."""
    put(os.path.join(folder, 'evil.c'), EVIL)
    made = os.path.join(folder, 'evil.osdi')
    try:
        subprocess.run([*os.environ.get('CC', 'cc').split(), '-shared', '-fPIC', '-o', made,
                        os.path.join(folder, 'evil.c')], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return made


class Home:
    """home/got/deck.sp is the stranger's, with all of home/got; the rest is the user's."""

    def __init__(self, top, deck, library):
        self.top, self.got = top, os.path.join(top, 'home/got')
        for name in 'home/.rc', 'home/victim/file', 'home/.bashrc':
            put(os.path.join(top, name), 'precious\n')
        for name in PROGRAMS:  # whoever starts one leaves a trace
            put(os.path.join(top, 'bin', name), '#!/bin/sh\necho %s >> "%s/STARTED"\n' % (name, top), 0o755)
        os.makedirs(os.path.join(self.got, 'sub'))
        for path in glob.glob(os.path.join(HERE, '*.va')):
            shutil.copy(path, self.got)
        shutil.copy(deck, os.path.join(self.got, 'deck.sp'))
        put(os.path.join(self.got, 'part.inc'), '.param part=1\n')
        put(os.path.join(self.got, 'evil.sp'), 'evil\n.control\necho x > ../OWNED\n.endc\n.end\n')
        put(os.path.join(self.got, '.spiceinit'), 'osdi evil.osdi\necho x > ../OWNED\n')
        if library:
            for name in 'evil.osdi', 'evil.va', 'evil.so':
                shutil.copy(library, os.path.join(self.got, name))
        os.mkfifo(os.path.join(self.got, 'pipe'))
        os.symlink('../victim', os.path.join(self.got, 'link'))
        os.symlink('../victim/file', os.path.join(self.got, 'filelink'))
        os.symlink('../victim/none', os.path.join(self.got, 'nolink'))

    def state(self):
        """What may not change: path, kind, bytes."""
        found = {}
        for folder, _, files in os.walk(self.top):
            for f in files:
                path = os.path.join(folder, f)
                name = os.path.relpath(path, self.top)
                inside = name.startswith('home/got/')
                if name.startswith('cache/') or (inside and not f.startswith('.') and name not in self.came):
                    continue
                if os.path.islink(path) or not os.path.isfile(path):
                    found[name] = os.readlink(path) if os.path.islink(path) else 'special'
                else:
                    with open(path, 'rb') as opened:
                        found[name] = opened.read()
        return found

    came = set()

    def remember(self):
        self.came = {'home/got/' + os.path.relpath(os.path.join(d, f), self.got)
                     for d, _, files in os.walk(self.got) for f in files}
        self.before = self.state()

    def changed(self):
        now = self.state()
        return sorted(k for k in set(now) | set(self.before) if now.get(k) != self.before.get(k))


def run(vsim, home, options):
    """(exit code, what it said); None: it did not end."""
    env = dict(os.environ, HOME=os.path.join(home.top, 'home'), XDG_CACHE_HOME=os.path.join(home.top, 'cache'),
               XDG_CONFIG_HOME=os.path.join(home.top, 'config'),
               PATH=os.path.join(home.top, 'bin') + ':' + os.environ.get('PATH', ''))
    mine, other = socket.socketpair()  # standard input that never ends: who reads it hangs
    with mine, other:
        p = subprocess.Popen([vsim, *options, 'deck.sp'], cwd=home.got, env=env, stdin=other.fileno(), text=True,
                             errors='replace', stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limits)
        try:
            said = p.communicate(timeout=WALL)[0]
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            return None, ''
    return p.returncode, said


def check(vsim, deck, library, options):
    """What is wrong, or None."""
    with tempfile.TemporaryDirectory(prefix='vsim-hostile-') as top:
        home = Home(top, deck, library)
        home.remember()
        wrong = attack.fault(*run(vsim, home, options))
        changed = home.changed()
        return 'changed ' + ', '.join(changed) if changed else wrong


def blind(vsim, library):
    """With a word of the user these decks do what they want, which must be seen: how many are not."""
    lost = 0
    for name, options in (('start_programs', ['--allow-shell']), ('native_by_card', ['--allow-native']),
                          ('program_as_part', ['--allow-native']),
                          ('append_to_start_files', ['--ngspice']), ('write_outside', ['--allow-write', '..'])):
        if 'changed' not in (check(vsim, os.path.join(HERE, name + '.sp'), library, ['-q', *options]) or ''):
            print('%s does nothing with %s, or it was not seen' % (name, options[0]))
            lost += 1
    return lost


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument('vsim')
    arg.add_argument('--sandbox', action='store_true')
    arg.add_argument('name', nargs='*')
    o = arg.parse_args()
    vsim = os.path.abspath(o.vsim)
    decks = sorted(glob.glob(os.path.join(HERE, '*.sp')))
    decks = [d for d in decks if not o.name or os.path.basename(d)[:-3] in o.name]
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        if not library:
            print('no compiler: decks with native code find none')
        for deck in decks:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            wrong = check(vsim, deck, library, ['-q'] + ['--sandbox'] * o.sandbox)
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
            print('%-28s %6.2f s  %s' % (os.path.basename(deck)[:-3], seconds, wrong or 'held'))
            found += wrong is not None
        if library and not o.name and not o.sandbox:
            found += blind(vsim, library)
    print('%d decks, %d findings' % (len(decks), found))
    return 1 if found or not decks else 0


if __name__ == '__main__':
    sys.exit(main())
