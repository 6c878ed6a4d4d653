print('`define ID(x) (x)')
print('module m; parameter real r = ' + '`ID(' * 3000 + '1' + ')' * 3000 + '; endmodule')
