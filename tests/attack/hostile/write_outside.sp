writes results beside its folder
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
write ../victim/file
wrdata ../victim/new v(in)
print v(in) > ../victim/new
hardcopy ../victim/new.svg v(in)
set appendwrite
write ../victim/file
write sub/../../victim/new
.endc
.end
