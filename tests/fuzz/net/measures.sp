measures and scripts
r1 1 0 1k
v1 1 0 sin(0 1 1k 1n 10 90)
.meas tran a find v(1) at=1m
.meas tran b find v(1) when v(1)=0.5 cross=last td=1u
.meas tran c when v(1)=par('0.5*2') rise=2
.meas tran d trig v(1) val=0.1 rise=1 td=1n targ v(1) val='a+1' fall=last
.meas tran e avg v(1) from=1u to=2u
.meas tran f rms v(1)
.meas tran g pp v(1)
.meas tran h deriv v(1) at=1u
.meas tran i integ i(v1) from=0 to=1m
.meas tran j param='a+b*2'
.meas ac k max vdb(1) from=1 to=1k
.measure dc l min_at v(1)
.meas tran m trig at=1u targ at=2u
.csparam q={r*2}
.param r=2 u={r}
.control
foreach v 1 2 3
alter v1 $v
run
end
.endc
.tran 1u 1m uic
.ac lin 10 1 1k
.end
