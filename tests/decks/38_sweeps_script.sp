Control language: component sweep, arrays, temperature loop
.param rl=1k
V1 in 0 dc 5 ac 1
R1 in out 1k
R2 out 0 {rl}
C1 out 0 10n
D1 out k dd
VK k 0 3
.model dd d is=1e-13 n=1.2
.control
let n = 0
foreach r 500 1k 2k 5k
alter r2 = $r
op
print v(out) i(vk)
let n = const.n
end
foreach t -25 27 90
set temp = $t
op
print v(out)
end
set temp = 27
alter r2 = 1k
let i = 0
repeat 3
alter c1 = 10n*(const.i+1)
ac dec 20 1k 1meg
meas ac f3 when vdb(out)=-9.0309
let const.i = const.i+1
end
altermod dd n = 2
op
print v(out)
.endc
.end
