bad deck: digital U elements of PSpice
u0 pullup(2) $g_dpwr $g_dgnd a b io_std
u1 nand(2) $g_dpwr $g_dgnd a b y1 dly io_std
u2 stim(1,1) $g_dpwr $g_dgnd a io_std
u4 logicexp(2,1) $g_dpwr $g_dgnd a b y4 dly io_std
+ logic:
+   one = {a & ~b}
+   y4 = {one | tow}
u5 pindly(1,0,0) $g_dpwr $g_dgnd a y5 io_std
+ pindly: y5 = {delay(-1,-1,-1)}
u7 nadn(2) $g_dpwr $g_dgnd a b y7 dly io_std
u8 constraint(1) $g_dpwr $g_dgnd a io_std width: node=a min_hi=5n
.model dly ugate (tplhty=3n tphlty=4n)
.tran 1n 100n
.end
