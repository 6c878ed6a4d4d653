print('`include "disciplines.vams"')
print('`define BIG 1' + ' + 1 \\\n' * 1000000)
print('module m(a, c);\n    inout a, c;\n    electrical a, c;\n    analog I(a, c) <+ `BIG;\nendmodule')
