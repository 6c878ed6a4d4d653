has loops of 1e18 cards
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.for i in 0 to 999999999
.for j in 0 to 999999999
R{i}_{j} in 0 1
.endfor
.endfor
.op
.end
