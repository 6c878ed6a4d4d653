loops of commands that fail
v1 1 0 1
r1 1 0 1k
.control
repeat 1000000000
  let j = 1
  repeat 1000000000
    print nothing
  end
end
op
let k = 0
while k < 1e12
  print nothing
end
foreach v 1 2
  print nothing
end
op
print v(1)
.endc
