import sys
sys.stdout.buffer.write(b"title\nr1 a 0 1\n" + bytes(range(256)) * 1000)
