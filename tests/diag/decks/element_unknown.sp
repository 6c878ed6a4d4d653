bad deck: element unknown
v1 a 0 1
r1 a 0 1k
!1 a 0 5
.op
