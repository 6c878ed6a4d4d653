bad deck: include chain
v1 a 0 1
r1 a 0 1k
.include "include_chain_a.inc"
.op
