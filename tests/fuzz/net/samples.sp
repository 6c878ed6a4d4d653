samples of a deck that reads itself
.param x=1 y={gauss(x,0.1,3)}
.option seed=3
.mc 10 seed=3
.limits x min=0.5 max=2
.lib input a
.lib a
r1 1 0 {y}
.endl
.lib b
r2 1 0 2
.endl
.step lib input a b
v1 1 0 1
.end
