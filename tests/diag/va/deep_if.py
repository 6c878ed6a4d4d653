print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    analog ' + 'if (V(a, c) > 0) ' * 300000 + 'I(a, c) <+ 1;\nendmodule')
