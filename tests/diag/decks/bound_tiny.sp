a model that asks for steps with which no run ends
.hdl "bound_tiny.va"
v1 a 0 sin(0 1 1meg)
n1 a 0 m
.model m impatient
.tran 1n 1u
.end
