import sys
sys.stdout.buffer.write(b'`include "disciplines.vams"\r\nmodule m(a, c);\r\n    inout a, c;\r\n    electrical a, c;\r\n'
                        b'    analog I(a, c) <+ V(a, c) / r;\r\nendmodule\r\n')
