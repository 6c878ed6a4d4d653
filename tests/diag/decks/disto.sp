bad deck: disto
v1 a 0 ac 1
r1 a b 1k
r2 b 0 1k
.disto dec 10 1k 1meg 2
