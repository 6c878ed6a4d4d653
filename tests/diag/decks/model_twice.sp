bad deck: model twice
v1 a 0 1
r1 a 0 1k
d1 a 0 dm
.model dm d is=1f
.model dm d is=2f
.op
