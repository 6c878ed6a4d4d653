print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    parameter real x[0:3] = ' + "'{2" + '{2' * 100 + '{0}' + '}' * 101 + ';\nendmodule')
