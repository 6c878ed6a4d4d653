texts that are joined
.param a="nm" b={a}"os" c="x"{b}a{a} d={d}{c} k=3 e={k}"s" f="a"g=2
.param h="{a}" i='a'"b"
.subckt s 1 t="q"
.param u={t}"w"{t}
.model p d_lut table_values=u
.model nmos nmos vto=1
m1 1 1 0 0 {b}
.ends
x1 1 s t=c
.model nmos nmos
v1 1 0 1
.end
