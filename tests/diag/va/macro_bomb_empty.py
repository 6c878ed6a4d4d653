print('`define M0')
for i in range(40):
    print('`define M%d `M%d `M%d' % (i + 1, i, i))
print('`M40\nmodule m; endmodule')
