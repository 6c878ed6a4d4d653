import sys
sys.stdout.buffer.write(b'`include "disciplines.vams"\nmodule m(a, c);\n    inout a, c;\n    electrical a, c;\n'
                        b'    parameter real r = 1\0;\n    analog I(a, c) <+ V(a, c) / r;\nendmodule\n')
