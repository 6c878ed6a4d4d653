bad deck: pss node
v1 a 0 1
r1 a 0 1k
.pss 1k 1m 3 10 5 50
