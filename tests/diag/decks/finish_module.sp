a model that ends the run at once
.hdl "finish_module.va"
v1 a 0 1
n1 a 0 m
.model m finisher
.op
.end
