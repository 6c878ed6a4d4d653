bad deck
v1 a 0 1
r1 a b 1k
r2 b 0 1k
.control
shell touch /tmp/x
!ls
source other.sp
codemodel analog.cm
.endc
