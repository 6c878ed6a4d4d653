* sram - slice of 64 rows and 8 columns: cells, row drivers, precharge, write drivers, sense amplifiers
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.param rows=64 cols=8
vdd vdd 0 1.2
.global vdd
* a cycle of 2 ns: write 10100101 to row 1, read row 1, write 01010101 to row 2, read row 1, row 2
vpre pre 0 pulse(0 1.2 0.3n 50p 50p 1.4n 2n)
vw wr 0 pwl(0 0 0.35n 0 0.4n 1.2 1.6n 1.2 1.65n 0 4.35n 0 4.4n 1.2 5.6n 1.2 5.65n 0)
vsa se 0 pwl(0 0 2.9n 0 2.95n 1.2 3.6n 1.2 3.65n 0 6.9n 0 6.95n 1.2 7.6n 1.2 7.65n 0 8.9n 0 8.95n 1.2 9.6n 1.2 9.65n 0)
va1 a1 0 pwl(0 0 0.4n 0 0.45n 1.2 1.5n 1.2 1.55n 0 2.4n 0 2.45n 1.2 3.5n 1.2 3.55n 0 6.4n 0 6.45n 1.2 7.5n 1.2 7.55n 0)
va2 a2 0 pwl(0 0 4.4n 0 4.45n 1.2 5.5n 1.2 5.55n 0 8.4n 0 8.45n 1.2 9.5n 1.2 9.55n 0)
.subckt inv a y wn=0.5u wp=1u
xn y a 0 0 sg13_lv_nmos w=wn l=0.13u ng=1
xp y a vdd vdd sg13_lv_pmos w=wp l=0.13u ng=1
.ends
.subckt cell w b bb
xn1 q qb 0 0 sg13_lv_nmos w=0.3u l=0.13u ng=1
xp1 q qb vdd vdd sg13_lv_pmos w=0.15u l=0.13u ng=1
xn2 qb q 0 0 sg13_lv_nmos w=0.3u l=0.13u ng=1
xp2 qb q vdd vdd sg13_lv_pmos w=0.15u l=0.13u ng=1
xa1 b w q 0 sg13_lv_nmos w=0.2u l=0.13u ng=1
xa2 bb w qb 0 sg13_lv_nmos w=0.2u l=0.13u ng=1
.ends
.subckt column b bb pre wr d se o
xp1 b pre vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
xp2 bb pre vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
xp3 b pre bb vdd sg13_lv_pmos w=2u l=0.13u ng=1
* write drivers: the side of the 0 is pulled down
xi1 d db inv
xw1 b wr k1 0 sg13_lv_nmos w=4u l=0.13u ng=1
xw2 k1 db 0 0 sg13_lv_nmos w=4u l=0.13u ng=1
xw3 bb wr k2 0 sg13_lv_nmos w=4u l=0.13u ng=1
xw4 k2 d 0 0 sg13_lv_nmos w=4u l=0.13u ng=1
* sense amplifier behind pmos gates that separate it from the lines
xs0 se seb inv
xg1 s1 se b vdd sg13_lv_pmos w=1u l=0.13u ng=1
xg2 s2 se bb vdd sg13_lv_pmos w=1u l=0.13u ng=1
xs1 s1 s2 t 0 sg13_lv_nmos w=1u l=0.13u ng=1
xs2 s2 s1 t 0 sg13_lv_nmos w=1u l=0.13u ng=1
xs3 s1 s2 vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xs4 s2 s1 vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xs5 t se 0 0 sg13_lv_nmos w=2u l=0.13u ng=1
xo1 s2 o inv
xo2 s1 on inv
.ends
* rows: two inverters, the word line with 8 cells; bit lines with 64 cells, wires at every eighth
.for i = 3 to rows
va{i} a{i} 0 0
.endfor
.for i = 1 to rows
xd{i} a{i} n{i} inv wn=1u wp=2u
xe{i} n{i} w{i} inv wn=3u wp=6u
.for j = 1 to cols
xm{i}x{j} w{i} b{j}x{int((i-1)/8)} bb{j}x{int((i-1)/8)} cell
.ic v(xm{i}x{j}.q)=0 v(xm{i}x{j}.qb)=1.2
.endfor
.endfor
.for j = 1 to cols
vd{j} d{j} 0 pwl(0 {1.2*(j%2)} 3.9n {1.2*(j%2)} 4n {1.2*(1-j%2)})
xc{j} b{j}x0 bb{j}x0 pre wr d{j} se o{j} column
.for k = 1 to 7
rb{j}x{k} b{j}x{k-1} b{j}x{k} 15
rc{j}x{k} bb{j}x{k-1} bb{j}x{k} 15
cb{j}x{k} b{j}x{k} 0 2f
cc{j}x{k} bb{j}x{k} 0 2f
.endfor
.endfor
.tran 10p 10n 0 50p
.save v(b1x7) v(bb1x7) v(o1) v(o2) v(xc1.s1) v(xc1.s2) v(xm1x1.q) v(xm2x1.q) v(w1) v(xc2.s1)
* read row 1 (0 there is column 2), row 2
.meas tran r1 find v(o1) at=3.5n
.meas tran r2 find v(o2) at=3.5n
.meas tran r3 find v(o1) at=9.5n
.meas tran r4 find v(o2) at=9.5n
.end
