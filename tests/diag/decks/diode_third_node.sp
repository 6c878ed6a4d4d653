a third node of diodes whose card gives no thermal resistance
.model dm d is=1e-14 rs=1
.model dh d is=1e-14 rs=1 rth0=100
V1 a 0 0.7
D1 a 0 t dm
D2 a 0 u dm thermal
D3 a 0 tj dh thermal
R1 t 0 1k
.op
.meas op heat find v(tj)
.end
