bad deck: model expression
v1 a 0 1
r1 a 0 1k
d1 a 0 dm
.model dm d is={1/0}
.op
