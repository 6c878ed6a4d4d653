bad deck: control block
v1 a 0 1
r1 a 0 1k
.op
.control
run
plot v(a)
.endc
