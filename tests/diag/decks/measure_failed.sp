bad deck
v1 a 0 1
r1 a b 1k
r2 b 0 1k
.tran 1n 10n
.meas tran a find v(b) at=1u
.meas tran b when v(b)=7
.meas tran c avg v(b) from=5n to=1n
.meas tran d max v(zz)
