* d
v1 a 0 1
v2 c 0 0.5
a1 a b c dd
r1 b 0 1k
a2 %gd(a 0) zz
.model zz zener(v_breakdown=5 limit_switch=true)
.model dd delay(has_delay_cnt=TRUE delmin=1u buffer_size=2048)
.tran 1u 10u
.end
