step
.param r=1k
V1 in 0 dc 1
R1 in out {r}
R2 out 0 1k
.dc V1 0 2 1
.meas dc vo find v(out) at=1
.step file step_column.csv r temp
.end
