eye and spectra
V1 a 0 pwl(0 0 9n 0 10n 1 29n 1 30n 0 39n 0 40n 1 49n 1 50n 0 80n 0 81n 1)
V2 a n 0 trnoise(5m 1n 0 0)
R1 n b 1k
C1 b 0 3p
.tran 0.5n 200n
.eye v(b) ui=10n start=10n threshold=0.5
.eye v(a,b) rate=100meg offset=2n threshold=0.05
.meas eye h height v(b)
.meas eye w width v(b)
.meas eye j jitterpp v(b)
.fft v(a,b) start=20n stop=180n np=64 window=hann
.meas fft d thd v(a,b) nbharm=3
.four 5meg v(b)
.end
