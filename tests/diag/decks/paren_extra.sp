a ')' that closes nothing
v1 d 0 {1 + 0.0)}
r1 d 0 '(2*3))'
.op
.end
