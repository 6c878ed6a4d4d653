print('`include "disciplines.vams"')
print('module m(a, c); inout a, c; electrical a, c; analog I(a, c) <+ 1' + ' + V(a, c)' * 100000 + ' + nothere; endmodule')
