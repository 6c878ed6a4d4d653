writes through links that came with it
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
write link/file
echo x > filelink
echo x >> nolink
wrdata link/new v(in)
.endc
.end
