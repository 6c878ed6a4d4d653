Wien bridge oscillator, amplitude held by diodes
.options reltol=1e-5
R1 out a 10k
C1 a p 10n ic=0.1
R2 p 0 10k
C2 p 0 10n
E1 x 0 p n 1e5
RO x out 50
R3 n 0 10k
R4 out m 18k
R5 m n 4.3k
D1 m n dd
D2 n m dd
.model dd d is=4n n=1.8 rs=0.6
.tran 5u 40m 0 2u uic
.meas tran t1 when v(out)=0 rise=40
.meas tran t2 when v(out)=0 rise=50
.meas tran freq param='10/(t2-t1)'
.meas tran amplitude pp v(out) from=30m to=40m
.meas tran effective rms v(out) from=30m to=40m
.end
