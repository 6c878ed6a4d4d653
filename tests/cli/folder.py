"""A test case with an empty folder of its own, which goes with it."""
import os
import tempfile
import unittest


def sanitized(program):
    """Whether it was built with the address sanitizer, which takes memory of its own."""
    with open(program, 'rb') as f:
        return b'__asan_init' in f.read()


class Folder(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.umask, os.umask(0o022))  # files that others may write are not trusted
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)

    def needs_plain(self, program):
        """Skips a test of memory, or with a library that is preloaded, where a sanitizer has both for itself."""
        if sanitized(program):
            self.skipTest('a sanitizer takes memory of its own, and lets nothing be loaded before it')

    def path(self, name):
        return os.path.join(self.tmp.name, name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def write(self, name, text):
        with open(self.path(name), 'w') as f:
            f.write(text)
        return name
