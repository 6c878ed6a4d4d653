U elements of PSpice, a bus, numbers
.subckt part a b c y z
+ optional: dpwr=$g_dpwr dgnd=$g_dgnd
+ params: mntymxdly=0 io_level=0
u1 nand(2) dpwr dgnd a b y dly io mntymxdly={mntymxdly} io_level={io_level}
u2 dff(1) dpwr dgnd $d_hi $d_hi c y z $d_nc ff io
u3 inv3a(2) dpwr dgnd a b c w z tri io
u4 logicexp(3,1) dpwr dgnd a b c v d0_gate io
+ logic: t = { a & ~(b | c) ^ b }
+ v = { t | '0 }
u5 pindly(1,1,1) dpwr dgnd v c a o
+ tristate: enable hi=c o = { case(change(a, 0), delay(-1, 2n, 3n), 4n) }
u6 aoi(2,2) dpwr dgnd a b c w x dly io
u7 pullup(2) dpwr dgnd z w io
u8 jkff(1) dpwr dgnd $d_hi $d_hi c a b q $d_nc ff io
u9 dlyline dpwr dgnd o p dl io
.model dly ugate (tplhty=1.4n tplhmx=3n tphlty=1n)
.model tri utgate (tplhty=2n tpzhty=3n tplzmn=1n)
.model ff ueff (tpclkqlhty=2n)
.model dl udly (dlyty=2n)
.ends
v1 in 0 pulse(0 3.3 5n 1n 1n 9n 20n)
r1 in line 200
c1 line 0 1p
asrc [a b] src
.model src d_source(input_file="other")
x1 a b line y z part
at y b bus tr
arec bus ~rec buf
rbus bus in 500
.model tr d_tristate(delay=1n)
.model buf d_buffer
an z null num tonum
ad num rec held del
aout held out tov
rout out 0 1k
.model tonum d_to_real
.model del real_delay
.model tov real_to_v
.option digital_delay_type=1 auto_bridge=2
.tran 1n 60n
.control
esave y z num
run
eprint y num
.endc
.end
*---
0n 0s 1s
7n 1s 1s
7.5n 0s 1s
20n Us 0z
