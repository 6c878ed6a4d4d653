sources
.option seed=3 interp defl=1u
v1 a 0 dc 1 trnoise(1m 1n 1 1m 5m 20n 30n)
v2 b 0 trrandom(4 2n 1n 3 {1+1})
v3 c 0 pwl(0 0 1n 0 1n 1) r=0 td=1n
v4 d 0 pwl file="t.txt"
r1 a b 1k
r2 c d 1k
m1 a b c 0 nm
.model nm nmos level=1
.tran 1n 9n
.end
