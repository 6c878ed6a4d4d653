bad deck: card unknown
v1 a 0 1
r1 a 0 1k
.trann 1n 1u
