single equal sign in brackets
.param a=2
v1 x 0 1
.if (a = 1)
r1 x 0 nosuch
.elseif ( a=2 )
r1 x 0 1k
.endif
.op
