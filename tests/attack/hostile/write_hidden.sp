leaves start-up files in its own folder, for the next run
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
echo "shell touch OWNED" > .spiceinit
echo x > sub/.profile
write .hidden.raw
.endc
.end
