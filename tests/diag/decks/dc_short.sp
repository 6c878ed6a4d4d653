bad deck: dc short
v1 a 0 1
r1 a 0 1k
.dc v1 0 1
