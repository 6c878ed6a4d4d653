print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    parameter real x[0:3] = ' + "'{" + '1{' * 400000 + '0' + '}' * 400001 + ';\nendmodule')
