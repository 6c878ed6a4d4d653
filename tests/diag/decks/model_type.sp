bad deck: model type
v1 a 0 1
r1 a 0 1k
d1 a 0 dm
.model dm dd is=1f
.op
