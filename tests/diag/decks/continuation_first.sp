bad deck: continuation first
+ r1 a 0 1k
v1 a 0 1
r1 a 0 1
.op
