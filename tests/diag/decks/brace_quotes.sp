quotes inside braces hold an expression
.param a=0.2
v1 d 0 1
.model rq r rsh=100 dw={"-a-0.1/2"}
r1 d 0 rq w=1 l={"a+1}
r2 d 0 rq w=1 l={"a 1"}
.op
