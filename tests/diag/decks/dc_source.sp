bad deck: dc source
v1 a 0 1
r1 a 0 1k
.dc v2 0 1 0.1
