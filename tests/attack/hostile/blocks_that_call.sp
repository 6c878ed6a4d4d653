has labels, jumps and calls that lead nowhere
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
goto top
label top
goto top
dowhile 1
break 1000000000
end
while nosuch
end
foreach
end
if
end
.endc
.end
