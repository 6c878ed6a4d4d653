bad deck: model parameter
v1 a 0 1
r1 a 0 1k
d1 a 0 dm
.model dm d iss=1f
.op
