bad deck
v1 a 0 1
r1 a b 1k
r2 b 0 1k
.control
alter rr1 = 2k
altermod dd is = 1
alterparam pp = 1
op


set filetype=binery
write control_alter.sp v(a)
print v(b)
setplot op7
quit 777
.endc
