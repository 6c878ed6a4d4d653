print('`include "disciplines.vams"')
print('module m(a, c); inout a, c; electrical a, c;' + ' ' * 1000000 + 'analog I(a, c) <+ V(a, c) + nothere; endmodule')
