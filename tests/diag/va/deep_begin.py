print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    analog ' + 'begin ' * 3000 + 'I(a, c) <+ 1; ' + 'end ' * 3000 + '\nendmodule')
