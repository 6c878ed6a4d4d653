bad deck
v1 a 0 1
r1 a b 1k
r2 b 0 1k
.tran 1n 10n
.meas tran a find v(b) when v(b)=1 rise=1.5
.meas tran b maxx v(b)
.meas tran c trig v(b) rise=1 targ v(b) val=1
.meas tran d when v(b)
.meas foo e max v(b)
.meas tran f avg v(b) form=1n
.meas tran
