tables of files, code models with arrays
V1 x 0 0.5 pulse(0 2 0 1n 1n 4n 10n)
V2 y 0 0.3
B2 o 0 i=v(x)*1m
R1 o 0 1k
a2 %v([s1 s2]) fs
.model fs filesource(file="other" amploffset=[0 0] amplscale=[1 1])
R2 s1 s2 1k
a3 x p pw
.model pw pwl(x_array=[-1 0 1 2] y_array=[0 0.5 1 1.5] input_domain=0.1 fraction=true)
a4 x q sx
.model sx s_xfer(num_coeff=[1] den_coeff=[1 1 1] int_ic=[0 0] denormalized_freq=1e9)
a5 x r hy
.model hy hyst(in_low=0.2 in_high=0.8 hyst=0.1 out_upper_limit=1)
a6 x q null s oneshot1
.model oneshot1 oneshot(cntl_array=[0 2] pw_array=[1n 5n] clk_trig=0.5)
a7 x u sw
.model sw sine(cntl_array=[0 2] freq_array=[1meg 100meg])
a8 c1 c2 mem
.model mem memristor(rmin=1k rmax=10k rinit=7k)
R3 p q 1k
R4 r s 1k
R5 u c1 1k
R6 c2 0 1k
B1 z 0 v=table(v(x),0,0,1,2)+pwl(v(y),0,1,2,3)+idt(v(x),0)*1e6+ddt(v(y))
R7 z 0 1k
.op
.tran 0.5n 20n
.end
*---
0 1 2
1 2 3
2 3 5
