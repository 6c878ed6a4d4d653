joined texts that are none
.param a="x" k=3
.param loop={loop}"a" bad={k}"s" none="a"{nosuch}
.param d0="0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
.param d2={d0}{d0}{d0}{d0} d4={d2}{d2}{d2}{d2} d6={d4}{d4}{d4}{d4} d8={d6}{d6}{d6}{d6} d9={d8}{d8}{d8}{d8}
.param da={d9}"0"
v1 1 0 {a}
r1 1 0 1k
.op
.end
