print('`define D(x) x x')
print('module m; parameter real r = ' + '`D(' * 60 + '1' + ')' * 60 + '; endmodule')
