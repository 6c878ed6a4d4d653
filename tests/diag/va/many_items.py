print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    parameter integer k = 1;\n    analog case (k)')
for i in range(5000):
    print('        %d: I(a, c) <+ %d;' % (i, i))
print('    endcase\nendmodule')
