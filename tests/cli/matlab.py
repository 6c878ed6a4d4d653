"""Makes MATLAB files of level 5, of either byte order.
Source: MathWorks, "MAT-File Format", version 5."""
import struct

DOUBLE, INT16, SINGLE = 9, 3, 7
FORMAT = {1: 'b', 2: 'B', 3: 'h', 4: 'H', 5: 'i', 6: 'I', 7: 'f', 9: 'd', 12: 'q', 13: 'Q'}


class Level5:
    def __init__(self, order='<'):
        self.order = order

    def head(self):
        return b'MATLAB 5.0 MAT-file'.ljust(124) + struct.pack(self.order + 'HH', 0x0100, 0x4d49)

    def element(self, kind, data):
        return struct.pack(self.order + 'II', kind, len(data)) + data + bytes(-len(data) % 8)

    def small(self, kind, data):
        """Up to four bytes in the tag."""
        tag = struct.pack('<HH', kind, len(data)) if self.order == '<' else struct.pack('>HH', len(data), kind)
        return tag + data.ljust(4, b'\0')

    def matrix(self, name, kind, dims, data, flags=0):
        head = self.element(6, struct.pack(self.order + 'II', kind | flags, 0))
        head += self.element(5, struct.pack('%s%di' % (self.order, len(dims)), *dims)) if dims else b''
        return self.element(14, head + self.element(1, name.encode()) + data)

    def numbers(self, kind, *values):
        return self.element(kind, struct.pack('%s%d%s' % (self.order, len(values), FORMAT[kind]), *values))

    def doubles(self, name, dims, *values):
        return self.matrix(name, 6, dims, self.numbers(DOUBLE, *values))

    def text(self, name, words):
        code = 'utf-16-le' if self.order == '<' else 'utf-16-be'
        return self.matrix(name, 4, (1, len(words)), self.element(4, words.encode(code)))

    def cell(self, name, *matrices):
        return self.matrix(name, 1, (len(matrices), 1), b''.join(matrices))

    def record(self, name, dims, fields):
        """A struct; fields: their matrices, in the order of its elements."""
        names = b''.join(f.encode().ljust(8, b'\0') for f in fields)
        return self.matrix(name, 2, dims, self.small(5, struct.pack(self.order + 'I', 8)) + self.element(1, names)
                           + b''.join(fields.values()))
