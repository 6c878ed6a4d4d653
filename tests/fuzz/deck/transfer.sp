transfer functions and tables
.param k=2 t=10u
V1 a 0 dc 2 ac 1 pulse(0 1 0.1m 10u 10u 0.5m 2m)
E1 1 0 laplace a 0 1 2m / 1,3m,1u
E2 2 0 pole a 0 3 0,0 500,2k / 1.0 1k,0 2k,1k 5k,0
G3 0 3 vccs foster a 0 0.25 1u (0.5,0)/(-1k,0) (10, -6)/(-1k,18k)
R3 3 0 1
E4 4 0 delay a 0 td={t} scale={-k}
E5 5 0 laplace {v(a)} {1k*s/((s+500)*(s+500)+1meg)*exp(-s*20u)}
E6 6 0 and(2) a 0 1 0 (0,0) (1,5) (2,5)
E7 7 0 pwl(1) a 0 -1,0 0,0.5 1,3
E8 8 0 opamp a 8
.tran 50u 1m
.ac dec 3 10 10k
.tf v(5) v1
.end
