print('`include "disciplines.vams"')
print('`define M0 V(a, c)')
for i in range(40):
    print('`define M%d (`M%d + `M%d)' % (i + 1, i, i))
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    analog I(a, c) <+ `M40;\nendmodule')
