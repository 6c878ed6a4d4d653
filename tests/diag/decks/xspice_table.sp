a table whose axis falls, one that ends early, one with an unknown parameter
v1 a 0 1
r1 a b 1k
a1 a b %i(b) t1
a2 a b a %i(b) t2
a3 a b %i(b) t3
.model t1 table2d(file="xspice_table.txt")
.model t2 table3d(file="xspice_table_short.txt")
.model t3 table2d(file="nowhere.txt" ordr=2)
.op
.end
