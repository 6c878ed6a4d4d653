bad deck: ic node
v1 a 0 1
r1 a 0 1k
.ic v(nowhere)=1
.tran 1n 1u
