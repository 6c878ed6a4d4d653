#!/usr/bin/env python3
"""The command is a client of the library, and the library a guest of its host.   rooms.py BUILD

The files of src/cli and src/ng include vsim/*.h and their own headers alone, and are compiled without any other
folder of this tree. Nothing but the command reads the environment or writes to standard streams. Where a private
header lists the files of its room, it lists them all."""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
BUILD = os.path.abspath(sys.argv.pop(1))

# Programs and libraries on top of libvsim: they see include/ alone, and have an environment.
CLIENTS = ('cli/', 'ng/')

# What may name a standard stream outside of the command, and why.
STREAMS = {
    'run/run_apart.c': 'a child of the command, which is silent',
    'rank/rank.c': 'the first process of a rank, which ends with its simulator',
    'rank/rank_mpi.c': 'the first process of a rank, which ends with its simulator',
    'sandbox/sandbox_files.c': 'files behind them stay open to be written',
    'out/out.c': 'a result file called -',
    'swp/swp_book.c': 'a result file called -',
}

# What may take memory or streams from the C library itself, and why.
MEMORY = {
    'base/heap.c': 'where all memory comes from',
    'base/io.c': 'folders, registered with the heap',
    'base/stream.c': 'streams, registered with the heap',
    'osdi/osdi.c': 'frees a text that a library made',
    'osdi/osdi_inst.c': 'frees what a library made',
    'rank/rank_mpi.c': 'the first process of a rank, which has no simulator',
}

# What may open files to write, and why: the others ask base/files.h through these.
WRITING = {
    'base/files.c': 'new files',
    'out/out.c': 'results, locked in place',
    'idx/idx_store.c': 'indexes beside results, and copies without a name',
    'swp/swp_book.c': 'results of sweeps, likewise',
    'swp/swp.c': 'results of points under way, beside them',
    'swp/swp_keep.c': 'locks of such files',
    'run/run_apart.c': '/dev/null of a child',
    'rank/rank.c': 'closed streams of a rank',
    'evt/evt_child.c': 'named pipes to a program',
}

# What a library does not do to its host: end it, print, start programs, change what all threads
# share, read the environment. __assert_fail is allowed: a broken invariant is a mistake of ours.
FORBIDDEN = set("""
    exit _exit _Exit quick_exit abort raise kill pthread_kill atexit on_exit
    printf vprintf puts putchar perror stdout stderr stdin __printf_chk __vprintf_chk
    fork vfork system popen posix_spawn posix_spawnp execv execve execvp execl execlp execle
    signal sigaction sigprocmask pthread_sigmask sigaltstack alarm setitimer
    getenv secure_getenv setenv unsetenv putenv clearenv environ
    setlocale fesetround feenableexcept fedisableexcept chdir umask srand srandom tzset
""".split())


def code_of(path):
    """The text without comments and strings."""
    with open(path, encoding='utf-8') as f:
        return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', ' ', f.read(), flags=re.S)


def rooms():
    for path in sorted(glob.glob(os.path.join(ROOT, 'src', '*', '*.[ch]'))):
        name = os.path.relpath(path, os.path.join(ROOT, 'src'))
        if not name.startswith(CLIENTS):
            yield name, path


class Rooms(unittest.TestCase):
    def test_a_list_of_the_files_of_a_room_is_complete(self):
        lists = 0
        for path in sorted(glob.glob(os.path.join(ROOT, 'src', '*', '*_priv.h'))):
            with open(path, encoding='utf-8') as f:
                head = f.read().split('*/', 1)[0]
            listed = re.findall(r'^ \*     (\w+\*?\.c)\s', head, re.M)
            if not listed:
                continue
            lists += 1
            named = re.findall(r'\b\w+\*?\.c\b', head)
            for file in glob.glob(os.path.join(os.path.dirname(path), '*.c')):
                name = os.path.basename(file)
                self.assertTrue(any(fnmatch.fnmatch(name, n) for n in named), '%s does not list %s' % (path, name))
            for n in listed:
                self.assertTrue(glob.glob(os.path.join(os.path.dirname(path), n)), '%s lists %s' % (path, n))
        self.assertGreater(lists, 10)

    def test_the_command_includes_public_headers_only(self):
        for room in CLIENTS:
            files = glob.glob(os.path.join(ROOT, 'src', room, '*.[ch]'))
            self.assertGreater(len(files), 5)
            for path in files:
                with open(path, encoding='utf-8') as f:
                    for name in re.findall(r'^\s*#\s*include\s*"([^"]*)"', f.read(), re.M):
                        own = name.startswith(room[:-1]) and '/' not in name
                        self.assertTrue(own or name.startswith('vsim/'), (path, name))

    def test_the_command_is_compiled_with_include_alone(self):
        with open(os.path.join(BUILD, 'compile_commands.json'), encoding='utf-8') as f:
            made = [c for c in json.load(f) if re.search('/src/(cli|ng)/', c['file'].replace('..', '/'))]
        self.assertGreater(len(made), 4)
        public = os.path.realpath(os.path.join(ROOT, 'include'))
        for c in made:
            folders = [os.path.realpath(os.path.join(c['directory'], d))
                       for d in re.findall(r'(?:^|\s)(?:-I|-isystem|-iquote)\s*(\S+)', c['command'])]
            self.assertIn(public, folders)
            for d in folders:
                own = d.startswith(os.path.realpath(BUILD)) or d == public
                self.assertTrue(own, '%s is compiled with %s' % (c['file'], d))

    def test_only_the_command_reads_the_environment(self):
        for name, path in rooms():
            self.assertIsNone(re.search(r'\b(secure_)?getenv\b|\benviron\b', code_of(path)), name)

    def test_only_the_command_prints(self):
        for name, path in rooms():
            found = re.search(r'\b(printf|puts|putchar|perror)\s*\(|'
                              r'\b(stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b', code_of(path))
            self.assertTrue(not found or name in STREAMS, (name, found))

    def test_memory_comes_from_the_heap(self):
        for name, path in rooms():
            found = re.search(r'(?<![\w.>])(malloc|calloc|realloc|free|strn?dup|v?asprintf|getline|'
                              r'open_memstream|fopen|fdopen|fclose|opendir|scandir)\s*\(',
                              code_of(path))
            self.assertTrue(not found or name in MEMORY, (name, found))

    def test_files_to_write_are_in_the_registry(self):
        for name, path in rooms():
            found = re.search(r'\b(O_WRONLY|O_RDWR|O_CREAT)\b', code_of(path))
            self.assertTrue(not found or name in WRITING, (name, found))

    def test_the_library_calls_nothing_that_a_guest_may_not(self):
        out = subprocess.run(['nm', '-u', '-D', os.path.join(BUILD, 'libvsim.so')], check=True,
                             capture_output=True, text=True).stdout
        called = set(re.findall(r'\sU\s+(\w+)', out))
        self.assertIn('klu_factor', called)
        self.assertEqual(called & FORBIDDEN, set())


if __name__ == '__main__':
    unittest.main()
