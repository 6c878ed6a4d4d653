asks for vectors of 1e18 values
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
let a = vector(1e18)
let b = unitvec(1e12)
let c = vector(-1)
let d = vector(1e308)
print length(a)
let e = v(in)[0,1e18]
fft v(in)
set specwindow=none
linearize
.endc
.end
