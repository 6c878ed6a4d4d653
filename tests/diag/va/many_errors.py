print('`include "disciplines.vams"')
print('module m(a, c);\n    inout a, c;\n    electrical a, c;')

print('    analog begin')
for i in range(1000):
    print('        I(a, c) <+ nothere%d;' % i)
print('    end\nendmodule')
