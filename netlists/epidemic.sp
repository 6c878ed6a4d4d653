Epidemic as a circuit: susceptible cells X flow into exposed pools E, driven by a force of infection
* Age 4 x vaccination 2 x location 51 x immunity 11 = 4,488 cells. People are charge on 1 F capacitors, so a
* node's voltage is the number of people in it, a second is a day, and Kirchhoff's law keeps the sum.
* foi[age] contracts over all ages, vaccinations and locations; every cell uses foi[age] * theta[immunity].
* It is written once per age and evaluated once per age: `vsim explain netlists/epidemic.sp` shows the four rows.
* With `.options noshare` each cell evaluates the whole sum for itself.
.param na=4 nv=2 nl=51 ni=11
.param people=1000 beta=1.8 tau=6
.param everybody={na*nv*nl*ni*people}

* mixing between ages falls with their distance, contagiousness with vaccination, contacts with the place
.for age = 0 to na-1
.var foi[{age}] = {beta/everybody*sum(ap, 0, na-1, sum(vac, 0, nv-1, sum(loc, 0, nl-1,
+ {exp(-abs(age-ap)/2)*(1-vac/2)*(1+loc/100)/2.2} * v(e[{ap},{vac},{loc}]) )))}
.endfor

.for age = 0 to na-1
.for vac = 0 to nv-1
.for loc = 0 to nl-1
CE[{age},{vac},{loc}] e[{age},{vac},{loc}] 0 1 ic={age == 1 && loc == 7 ? 50 : 0}
RE[{age},{vac},{loc}] e[{age},{vac},{loc}] 0 {tau}
.for imm = 0 to ni-1
CX[{age},{vac},{loc},{imm}] x[{age},{vac},{loc},{imm}] 0 1 ic={people}
B[{age},{vac},{loc},{imm}] x[{age},{vac},{loc},{imm}] e[{age},{vac},{loc}]
+ i={foi[{age}]*{1-imm/12}*v(x[{age},{vac},{loc},{imm}])}
.endfor
.endfor
.endfor
.endfor

.save v(e[0,0,0]) v(e[1,0,7]) v(e[3,1,50]) v(x[0,0,0,0]) v(x[3,1,50,10])
.tran 0.5 120 uic
.end
