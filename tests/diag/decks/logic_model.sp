bad deck: timing models of digital U elements
u0 pullup(2) $g_dpwr $g_dgnd a b io_std
u1 nand(2) $g_dpwr $g_dgnd a b y1 dly io_std
u2 nand(2) $g_dpwr $g_dgnd a b y2 absent io_std
u3 dff(1) $g_dpwr $g_dgnd
+ $d_hi $d_hi a b q $d_nc dly io_std
u4 inv $g_dpwr $g_dgnd a y4 flip io_std m=2
u5 inv $g_dpwr $g_dgnd a y5 odd io_std
.model dly ugate (tplhty=3n tphlty=4n)
.model flip ueff (tpclkqlhty=3n)
.model odd ugate (tplhty=3n tplh=2n tphlmx="slow")
.tran 1n 100n
.end
