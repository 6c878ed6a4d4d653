print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    analog I(a, c) <+ ' + '-' * 1000000 + 'V(a, c);\nendmodule')
