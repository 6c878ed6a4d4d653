bad deck: element unknown
v1 a 0 1
r1 a 0 1k
_1 a 0 5
! a comment of another simulator
.op
