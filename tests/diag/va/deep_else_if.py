print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    analog begin\n        if (V(a, c) > 0) I(a, c) <+ 0;')
for i in range(5000):
    print('        else if (V(a, c) > %d) I(a, c) <+ %d;' % (i, i))
print('    end\nendmodule')
