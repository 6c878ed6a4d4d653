dos lines
r1 1 0 1k
+ tc=1
*comment
.param a = 1 $ comment

v1 1 0 1 ; x
r2 1 0 \
 2k
.include "no file"
.end
