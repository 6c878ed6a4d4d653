families of runs, files, loops
.param r=1k n=3 s="tt"
.option seed=7 noshare gmin=1e-12
.step param r list 1k 2k {3k}
.step dec param n 1 100 2
.step temp 0 100 50
.step v1 0 1 0.5
.lib a
ra 1 0 {agauss(1k,10,3)+gauss(1,0.1,1)+unif(1,0.1)+aunif(1,2)+limit(1,2)}
.endl
.lib b
rb 1 0 1
.endl a
v1 1 0 1
v2 2 0 2
v3 3 0 trnoise(1m 1n 1 1u 1m 1u 2u) dc 0
v4 4 0 trrandom(2 1n 0 1 0)
i5 5 0 exp(0 1 1n 2n 3n 4n) ac 1
v6 6 0 sffm(0 1 1k 2 100) portnum 1 z0 50
v7 7 0 am(1 0 1k 100 1n) portnum 2
.for i = 0 to n-1
.for j = 2 to 0 step -1
rx[{i},{j}] q[{i},{j+1}] 0 {1k+sum(k,0,3,k*i)}
.endfor
.endfor
.alter second
r1 1 0 2k
.del lib input a
.param r=2
.alter
.end
behind
