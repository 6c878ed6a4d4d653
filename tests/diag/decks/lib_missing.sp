bad deck: lib missing
v1 a 0 1
r1 a 0 1k
.lib "not_there.lib" tt
.op
