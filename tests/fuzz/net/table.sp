0 0
1n, 1
* comment
2n 0.5 ; x
3n 1k
r1 1 0 1
v1 1 0 pwl file=input
.step file input
