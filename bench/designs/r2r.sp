* r2r - 8-bit R-2R converter: resistors rppd, switches and drivers of the kit, codes by a counter's bits
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/r3_cmc/r3_cmc.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
vdd vdd 0 1.2
vref ref 0 0.6
.global vdd ref
.subckt inv a y wn=1u wp=2u
xn y a 0 0 sg13_lv_nmos w=wn l=0.13u ng=1
xp y a vdd vdd sg13_lv_pmos w=wp l=0.13u ng=1
.ends
.subckt gate a b on off
xn a on b 0 sg13_lv_nmos w=10u l=0.13u ng=2
xp a off b vdd sg13_lv_pmos w=20u l=0.13u ng=4
.ends
* a bit: buffers, a switch to the reference and one to ground, 2R
.subckt bit d n
x1 d db inv
x2 db dt inv
x3 dt dc inv wn=2u wp=4u
x4 db de inv wn=2u wp=4u
x5 ref s de dc gate
x6 0 s dc de gate
xr s n 0 rppd w=2u l=160u
.ends
.for k = 0 to 7
vb{k} d{k} 0 pulse(0 1.2 {20n*2**k} 0.2n 0.2n {20n*2**k-0.2n} {40n*2**k})
xb{k} d{k} n{k} bit
.endfor
.for k = 1 to 7
xr{k} n{k-1} n{k} 0 rppd w=2u l=80u
.endfor
xr0 n0 0 0 rppd w=2u l=160u
cn n7 0 50f
.save v(n7) v(n0) v(n3)
.tran 0.1n 1.5u 0 1n
* Codes 1 and 74; an LSB is 0.6 V / 256.
.meas tran v1 find v(n7) at=39n
.meas tran v74 find v(n7) at=1.499u
.end
