bad deck: sens branch
v1 a 0 ac 1
r1 a b 1k
r2 b 0 1k
.sens i(r1)
