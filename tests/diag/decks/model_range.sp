bad deck: model range
v1 a 0 1
r1 a 0 1k
d1 a 0 dm
.model dm d n=-1
.op
