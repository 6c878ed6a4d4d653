print('`include "disciplines.vams"')
print('module m(a, c); inout a, c; electrical a, c; analog I(a, c) <+ ' + 'x' * 1000000 + '; endmodule')
