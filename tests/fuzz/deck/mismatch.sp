mismatch, loop gain
Vp p 0 1 ac 1
V1 l x 0
V2 c k 0
R1 p a {1k*gauss(1,0.01,3)}
R2 a 0 {agauss(1k,10,3)}
E1 b 0 a x 1000
R3 b c 1k
C3 c 0 1n
R4 k l 1k
R5 l 0 1meg
.dcmatch v(a)
.acmatch v(c) dec 1 1k 100k
.lstb vsource=v1 dec 2 1 1meg
.lstb mode=diff vsource=v1,v2 lin 2 1 1k
.options seed=3
.mc 2
.end
