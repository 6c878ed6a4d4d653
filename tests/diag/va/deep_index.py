print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    integer k[0:3];\n    analog I(a, c) <+ ' + 'k[' * 100000 + '0' + ']' * 100000 + ';\nendmodule')
