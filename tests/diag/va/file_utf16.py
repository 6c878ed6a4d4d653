import sys
sys.stdout.buffer.write('module m(a, c);\n    inout a, c;\nendmodule\n'.encode('utf-16'))
