writes to devices and pipes
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
echo x > pipe
write pipe
wrdata /dev/tty v(in)
echo x > /dev/tcp/127.0.0.1/9
.endc
.end
