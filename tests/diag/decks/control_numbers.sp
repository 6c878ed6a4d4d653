variables with numbers that nobody can mean
v1 1 0 sin(0 1 1g)
.control
tran 10p 5n
set nfreqs=1e18
fourier 1g v(1)
unset nfreqs
set fourgridsize=0.5
fourier 1g v(1)
unset fourgridsize
set numdgt=1e9
wrdata out v(1)
print v(1)
unset numdgt
set width=-1e300
print v(1)
setseed 1e300
set rndseed = 0.5
.endc
