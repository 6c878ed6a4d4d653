print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    analog I(a, c) <+ ' + 'V(a, c) > 0 ? 1 : ' * 100000 + 'V(a, c);\nendmodule')
