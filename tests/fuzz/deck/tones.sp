harmonics of several tones
Va a 0 sin(0 0.4 1meg) ac 1
Vb b a sin(0 0.3 1.1meg)
Vc c b sin(0 0.1 170k)
R1 c d 1k
D1 d 0 dm
C1 d 0 10p
.model dm d is=1e-12 rs=1 cjo=1p
.hb tones=1meg 1.1meg 170k nharms=2 2 1 intmodmax=2
.hbac lin 2 1k 20k sidebands=2
.hbnoise v(d) va lin 2 1k 20k 1 sideband=1 modulated
.hbnoise v(d) va lin 2 1k 20k cross=0.1 rise=1
.hbxf v(d) dec 1 1k 10k sidebands=2 sideband=1
.meas hb h1 max v(d)
.print hbac v(d)
.end
