bad deck: save node
v1 a 0 1
r1 a 0 1k
.save v(nowhere)
.op
