probes: currents, voltages and powers by the names of ngspice
v1 in 0 dc 5 ac 1
r1 in c 1k
r2 in b 100k
q1 c b 0 qn
m1 d in s 0 nm l=1u w=10u
rd in d 1k
rs s 0 100
c1 c 0 1n
x1 in sub
.subckt sub a
rx a 0 2k
.ends
.model qn npn
.model nm nmos
.probe i(q1,c) i(q1:b) i(r1) vd(r1) vd(m1:d:s) vd(m1:d,q1:c) vd(m1:d:0) p(r1) p(q1) p(m1) i(m1,4) i(c1) i(x1.rx)
+ i(q1) i(q1:x) p(r99) vd(m1:d)
.probe tran v(b) isub(q1)
.control
op
let wrong = 0
if abs(i(r1) - i(q1:c)) > 1n
  let wrong = 1
end
if abs(i(x1.rx) - 2.5m) > 1n
  let wrong = 2
end
if abs(v(r1:power) - v(vd_r1)^2/1k) > 1n
  let wrong = 3
end
if abs(v(q1:power) - v(c)*i(q1:c) - v(b)*i(q1:b)) > 1n
  let wrong = 4
end
if abs(v(vd_m1:d:s) - v(d) + v(s)) + abs(v(vd_m1:d_q1:c) - v(d) + v(c)) > 1n
  let wrong = 5
end
if abs(v(m1:power) - (v(d)-v(s))*v(s)/100) > 1n
  let wrong = 6
end
ac lin 1 100k 100k
if mag(i(c1) - v(c)*(0,1)*2*pi*100k*1n) > 1n
  echo wrong i(c1)
  quit 3
end
setplot op1
if wrong > 0
  print wrong
  quit 3
end
.endc
.end
