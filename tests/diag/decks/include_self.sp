bad deck: include self
v1 a 0 1
r1 a 0 1k
.include "include_self.sp"
.op
